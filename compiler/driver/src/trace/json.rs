//! A trace as JSON lines; docs/json.md describes them, field by field.

use super::Names;
use super::value::{Row, Typed};
use crate::streams::{Place, Stream};
use serde::Serialize;
use sluice_frontend::eval::Value;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Function;
use sluice_interpret::observe::{self, Delivered, Effects, Fired, Outcome};

/// The version of these lines.
const SCHEMA: &str = "sluice-trace-1";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Trace {
        schema: &'static str,
        program: &'a str,
        streams: &'a [Stream],
        channels: Vec<Channel<'a>>,
    },
    Init {
        #[serde(flatten)]
        stream: Named<'a>,
        printed: &'a str,
    },
    Message {
        #[serde(flatten)]
        stream: Named<'a>,
        before_firing: u64,
        handler: &'a str,
        args: Vec<Typed<'a>>,
        from: &'a str,
        from_id: String,
        from_firing: u64,
        #[serde(flatten)]
        effects: EffectsJson<'a>,
        #[serde(flatten)]
        ending: Ending,
    },
    Firing {
        #[serde(flatten)]
        stream: Named<'a>,
        firing: u64,
        steady_state: u64,
        prework: bool,
        inputs: Vec<Taken<'a>>,
        outputs: Vec<Given<'a>>,
        #[serde(flatten)]
        effects: EffectsJson<'a>,
        #[serde(flatten)]
        ending: Ending,
    },
    End {
        shown: u64,
        cut: bool,
        steady_states: u64,
    },
}

#[derive(Serialize)]
struct Channel<'a> {
    id: String,
    from: &'a str,
    to: &'a str,
    item: String,
    initial: Vec<OwnedTyped<'a>>,
}

/// An item that is enqueued before the start.
struct OwnedTyped<'a>(Value, &'a Ty, &'a sluice_frontend::typed::Globals);

impl Serialize for OwnedTyped<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        Typed { value: &self.0, ty: self.1, globals: self.2 }.serialize(s)
    }
}

/// Of which stream a line tells, and where in the program.
#[derive(Serialize)]
struct Named<'a> {
    id: &'a str,
    stream: &'a str,
    file: String,
    line: u32,
}

#[derive(Serialize)]
struct Taken<'a> {
    channel: String,
    popped: Row<'a>,
    dropped: Row<'a>,
    peeked: Row<'a>,
}

#[derive(Serialize)]
struct Given<'a> {
    channel: String,
    pushed: Row<'a>,
    taken: bool,
}

#[derive(Serialize)]
struct EffectsJson<'a> {
    printed: &'a str,
    sent: Vec<Sent<'a>>,
    changed: Vec<Changed<'a>>,
}

#[derive(Serialize)]
struct Sent<'a> {
    handler: &'a str,
    args: Vec<Typed<'a>>,
    to: Vec<Receiver<'a>>,
}

#[derive(Serialize)]
struct Receiver<'a> {
    id: String,
    stream: &'a str,
    before_firing: u64,
}

#[derive(Serialize)]
struct Changed<'a> {
    field: String,
    before: Typed<'a>,
    after: Typed<'a>,
}

#[derive(Serialize)]
struct Ending {
    outcome: &'static str,
    waits_for: Option<u64>,
    failure: Option<Failure>,
}

#[derive(Serialize)]
struct Failure {
    message: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

fn write(line: &Line<'_>) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

/// The first line: the program's streams and channels.
pub(super) fn head(names: &Names<'_>) -> String {
    let program = names.program;
    let channel = |id: ChannelId| {
        let c = program.graph.channel(id);
        let initial = |v| OwnedTyped(Value::from_const(v, &c.ty, &program.globals), &c.ty, &program.globals);
        Channel {
            id: id.to_string(),
            from: names.path(c.from.0),
            to: names.path(c.to.0),
            item: crate::io::item::name(&c.ty, &program.globals),
            initial: c.initial.iter().map(initial).collect(),
        }
    };
    write(&Line::Trace {
        schema: SCHEMA,
        program: program.graph.hierarchy.first().map_or("", |h| &h.display),
        streams: &names.streams,
        channels: program.graph.channel_ids().map(channel).collect(),
    })
}

/// The last line.
pub(super) fn last(shown: u64, cut: bool, steady_states: u64) -> String {
    write(&Line::End { shown, cut, steady_states })
}

fn named<'a>(names: &'a Names<'_>, node: NodeId) -> Named<'a> {
    let Stream { id, path, place, .. } = &names.streams[node.index()];
    Named { id, stream: path, file: place.file.clone(), line: place.line }
}

pub(super) fn initialised(names: &Names<'_>, node: NodeId, printed: &str) -> String {
    write(&Line::Init { stream: named(names, node), printed })
}

pub(super) fn fired(names: &Names<'_>, firing: &Fired, outcome: Outcome<'_>) -> String {
    let row =
        |c: ChannelId, items| Row { items, ty: &names.program.graph.channel(c).ty, globals: &names.program.globals };
    let taken = |t: &'_ observe::Taken| -> (usize, usize) {
        let popped = t.popped.min(t.items.len());
        (popped, t.gone.clamp(popped, t.items.len()))
    };
    let inputs = firing.inputs.iter().map(|t| {
        let (popped, gone) = taken(t);
        Taken {
            channel: t.channel.to_string(),
            popped: row(t.channel, &t.items[..popped]),
            dropped: row(t.channel, &t.items[popped..gone]),
            peeked: row(t.channel, &t.items[gone..]),
        }
    });
    let outputs = firing.outputs.iter().map(|g| Given {
        channel: g.channel.to_string(),
        pushed: row(g.channel, &g.items),
        taken: !g.dropped,
    });
    write(&Line::Firing {
        stream: named(names, firing.node),
        firing: firing.firing,
        steady_state: firing.steady_state,
        prework: firing.prework,
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        effects: effects(names, firing.node, &firing.effects),
        ending: ending(names, outcome),
    })
}

pub(super) fn delivered(names: &Names<'_>, message: &Delivered, outcome: Outcome<'_>) -> String {
    let handler = names.handler(message.receiver, message.handler);
    let mut stream = named(names, message.receiver);
    if let Some(handler) = handler {
        let place = Place::of(names.sources, handler.span);
        (stream.file, stream.line) = (place.file, place.line);
    }
    write(&Line::Message {
        stream,
        before_firing: message.before,
        handler: handler.map_or("?", |h| &h.name),
        args: args(names, handler, &message.args),
        from: names.path(message.sender),
        from_id: message.sender.to_string(),
        from_firing: message.sent_in,
        effects: effects(names, message.receiver, &message.effects),
        ending: ending(names, outcome),
    })
}

fn args<'a>(names: &'a Names<'_>, handler: Option<&'a Function>, values: &'a [Value]) -> Vec<Typed<'a>> {
    let ty = |i: usize| handler.and_then(|h| h.locals.get(i)).map_or(&Ty::Error, |l| &l.ty);
    let globals = &names.program.globals;
    values.iter().enumerate().map(|(i, value)| Typed { value, ty: ty(i), globals }).collect()
}

fn effects<'a>(names: &'a Names<'_>, node: NodeId, effects: &'a Effects) -> EffectsJson<'a> {
    let sent = effects.sent.iter().map(|s| {
        let handler = s.to.first().and_then(|(to, _)| names.handler_named(*to, &s.handler));
        let receiver = |(node, before): &(NodeId, u64)| Receiver {
            id: node.to_string(),
            stream: names.path(*node),
            before_firing: *before,
        };
        Sent { handler: &s.handler, args: args(names, handler, &s.args), to: s.to.iter().map(receiver).collect() }
    });
    let changed = names.changes(node, &effects.changes).map(|(field, before, after)| Changed { field, before, after });
    EffectsJson { printed: &effects.printed, sent: sent.collect(), changed: changed.collect() }
}

fn ending(names: &Names<'_>, outcome: Outcome<'_>) -> Ending {
    match outcome {
        Outcome::Complete => Ending { outcome: "complete", waits_for: None, failure: None },
        Outcome::Stopped => Ending { outcome: "stopped", waits_for: None, failure: None },
        Outcome::Abandoned { wants } => Ending { outcome: "abandoned", waits_for: Some(wants), failure: None },
        Outcome::Failed(e) => {
            let at = e.span.map(|s| (Place::of(names.sources, s), names.sources.line_col(s.file, s.start).column));
            let (file, line) = at.as_ref().map_or((None, None), |(p, _)| (Some(p.file.clone()), Some(p.line)));
            let failure = Failure { message: e.message(), file, line, column: at.map(|(_, column)| column) };
            Ending { outcome: "failed", waits_for: None, failure: Some(failure) }
        }
    }
}
