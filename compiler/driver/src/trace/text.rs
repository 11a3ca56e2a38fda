//! A trace as text: a line for each firing, message and fault; long lists shortened.

use super::Names;
use super::value::{self, Typed};
use crate::streams::Place;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_interpret::RunError;
use sluice_interpret::observe::{Delivered, Effects, Fired, Outcome, Sent};

/// Letters up to which the first columns are made equally long.
const WIDEST: usize = 80;
/// Ports, receivers, fields that a line shows.
const MOST: usize = 8;
/// Letters of printed text that a line shows.
const PRINTED: usize = 120;

/// How wide the first column is.
pub(super) struct Layout {
    width: usize,
}

/// `file:line: path`
fn name(names: &Names<'_>, node: NodeId) -> String {
    format!("{}: {}", names.streams[node.index()].place, names.path(node))
}

/// What comes before the firings of a steady state.
pub(super) fn heading(steady_state: u64) -> String {
    match steady_state {
        0 => "-- initialisation\n".into(),
        n => format!("-- steady state {n}\n"),
    }
}

/// What comes at the end.
pub(super) fn last(shown: u64, cut: bool) -> String {
    if cut {
        return format!("-- {shown} firings shown, and no more: --trace-limit sets how many (0: all)\n");
    }
    if shown == 0 { "-- none of the firings chosen took place\n".into() } else { String::new() }
}

impl Layout {
    pub(super) fn of(names: &Names<'_>, chosen: &[bool]) -> Layout {
        let all = names.program.graph.node_ids().filter(|id| chosen[id.index()]);
        let widths = all.map(|id| name(names, id).chars().count()).filter(|w| *w <= WIDEST);
        Layout { width: widths.max().unwrap_or(0) }
    }

    /// A line: what the columns hold, with two spaces between them.
    fn line(&self, name: &str, what: &str, parts: &[String]) -> String {
        let pad = " ".repeat(self.width.saturating_sub(name.chars().count()));
        let mut line = format!("{name}{pad}  {what:<10}");
        for part in parts {
            line.push_str("  ");
            line.push_str(part);
        }
        format!("{}\n", line.trim_end())
    }

    pub(super) fn initialised(&self, names: &Names<'_>, node: NodeId, printed: &str) -> String {
        self.line(&name(names, node), "init", &[print(printed)])
    }

    pub(super) fn fired(&self, names: &Names<'_>, firing: &Fired, outcome: Outcome<'_>) -> String {
        let graph = &names.program.graph;
        let items = |c: ChannelId, items: &[sluice_frontend::eval::Value]| {
            value::list(items, &graph.channel(c).ty, &names.program.globals)
        };
        let mut parts = Vec::new();
        if firing.prework {
            parts.push("prework".to_string());
        }
        let several = firing.inputs.len() > 1;
        let taking = firing.inputs.iter().filter(|t| !t.items.is_empty());
        shortened(taking.collect(), "channels", &mut parts, |t, parts| {
            let from =
                if several { format!(" from {}", names.path(graph.channel(t.channel).from.0)) } else { String::new() };
            let (popped, rest) = t.items.split_at(t.popped.min(t.items.len()));
            let (dropped, peeked) = rest.split_at(t.gone.saturating_sub(t.popped).min(rest.len()));
            for (what, list) in [("pop", popped), ("drop", dropped), ("peek", peeked)] {
                if !list.is_empty() {
                    parts.push(format!("{what} {}{from}", items(t.channel, list)));
                }
            }
        });
        let several = firing.outputs.len() > 1;
        let giving = firing.outputs.iter().filter(|g| !g.items.is_empty());
        shortened(giving.collect(), "channels", &mut parts, |g, parts| {
            let to = if several { format!(" to {}", names.path(graph.channel(g.channel).to.0)) } else { String::new() };
            let dropped = if g.dropped { " (nobody takes them)" } else { "" };
            parts.push(format!("push {}{to}{dropped}", items(g.channel, &g.items)));
        });
        effects(names, firing.node, &firing.effects, &mut parts);
        ending(names, outcome, &mut parts);
        self.line(&name(names, firing.node), &format!("firing {}", firing.firing), &parts)
    }

    pub(super) fn delivered(&self, names: &Names<'_>, message: &Delivered, outcome: Outcome<'_>) -> String {
        let handler = names.handler(message.receiver, message.handler);
        let call = call(names, handler, handler.map_or("?", |h| &h.name), &message.args);
        let mut parts = vec![format!("{call} from {}, firing {}", names.path(message.sender), message.sent_in)];
        effects(names, message.receiver, &message.effects, &mut parts);
        ending(names, outcome, &mut parts);
        // the handler's own line
        let place =
            handler.map_or(names.streams[message.receiver.index()].place.clone(), |h| Place::of(names.sources, h.span));
        let name = format!("{place}: {}", names.path(message.receiver));
        self.line(&name, &format!("before {}", message.before), &parts)
    }
}

/// The first few, and how many more there are.
fn shortened<T>(all: Vec<T>, what: &str, parts: &mut Vec<String>, each: impl Fn(&T, &mut Vec<String>)) {
    all.iter().take(MOST).for_each(|x| each(x, parts));
    if all.len() > MOST {
        parts.push(format!("... {} more {what}", all.len() - MOST));
    }
}

/// `set(1.0, [2, 3])`
fn call(
    names: &Names<'_>,
    handler: Option<&sluice_frontend::typed::Function>,
    name: &str,
    args: &[sluice_frontend::eval::Value],
) -> String {
    let ty = |i: usize| handler.and_then(|h| h.locals.get(i)).map_or(&sluice_frontend::ty::Ty::Error, |l| &l.ty);
    let globals = &names.program.globals;
    let shown = args.iter().enumerate().map(|(i, value)| value::one(Typed { value, ty: ty(i), globals }));
    format!("{name}({})", shown.collect::<Vec<_>>().join(", "))
}

/// `print "..."`
fn print(text: &str) -> String {
    let (mut shown, all) = (String::new(), text.chars().count());
    shown.extend(text.chars().take(PRINTED));
    let more = if all > PRINTED { format!(" ... {} more letters", all - PRINTED) } else { String::new() };
    format!("print {shown:?}{more}")
}

fn effects(names: &Names<'_>, node: NodeId, effects: &Effects, parts: &mut Vec<String>) {
    if !effects.printed.is_empty() {
        parts.push(print(&effects.printed));
    }
    effects.sent.iter().for_each(|s| parts.push(sent(names, s)));
    shortened(names.changes(node, &effects.changes).collect(), "changes", parts, |(name, before, after), parts| {
        parts.push(format!("{name}: {} -> {}", value::one(*before), value::one(*after)));
    });
}

fn sent(names: &Names<'_>, sent: &Sent) -> String {
    let handler = sent.to.first().and_then(|(to, _)| names.handler_named(*to, &sent.handler));
    let mut to = Vec::new();
    shortened(sent.to.iter().collect(), "receivers", &mut to, |(node, before), to| {
        to.push(format!("{} before firing {before}", names.path(*node)));
    });
    let to = if to.is_empty() { "nobody".to_string() } else { to.join(", ") };
    format!("send {} to {to}", call(names, handler, &sent.handler, &sent.args))
}

fn ending(names: &Names<'_>, outcome: Outcome<'_>, parts: &mut Vec<String>) {
    match outcome {
        Outcome::Complete => {}
        Outcome::Stopped => parts.push("stopped".into()),
        Outcome::Abandoned { wants } => parts.push(format!("abandoned: lacks item {wants}")),
        Outcome::Failed(e) => parts.push(failed(names, e)),
    }
}

fn failed(names: &Names<'_>, error: &RunError) -> String {
    let at = error.span.map_or(String::new(), |span| format!(" ({})", Place::of(names.sources, span)));
    format!("failed: {}{at}", error.message())
}
