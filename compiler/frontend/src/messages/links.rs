//! From the sends in the code to links between nodes, with their timing.
//!
//! Takes the live graph and who is registered where; gives [`Messages`] and [`Precedence`]s; best-effort links are still without timing
//! ([`timed`] gives it to them, once the initialisation schedule is known).

use super::counts::Counts;
use super::sdep::{LONGEST, TooLong, sdep};
use super::{Direction, Link, Messages, Precedence};
use crate::analyses::walk;
use crate::check::show_type;
use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use crate::steady_state::SteadyState;
use crate::ty::Ty;
use crate::typed::{FilterCode, Function, Globals, Name, StmtKind};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;
use std::collections::HashMap;

/// Diagnostics of one kind after which no more are given.
const ENOUGH: usize = 10;

/// A send in a filter's code.
struct Site<'a> {
    portal: PortalId,
    handler: &'a Name,
    latency: Option<(i32, i32)>,
    args: Vec<&'a Ty>,
    span: Span,
}

/// SDEP, remembered.
struct Dependence<'a> {
    graph: &'a SdfGraph,
    repetitions: &'a [u64],
    known: HashMap<(NodeId, NodeId), Counts>,
}

impl Dependence<'_> {
    /// SDEP(m; u→v).
    fn get(&mut self, from: NodeId, to: NodeId) -> Result<Counts, TooLong> {
        if let Some(c) = self.known.get(&(from, to)) {
            return Ok(c.clone());
        }
        let counts = sdep(self.graph, self.repetitions, &[from], to)?.pop().ok_or(TooLong)?;
        self.known.insert((from, to), counts.clone());
        Ok(counts)
    }
}

/// Finds all links and their timing. Warnings come along with the result.
pub fn bind(
    graph: &SdfGraph,
    codes: &[FilterCode],
    repetitions: &[u64],
    portals: &[(PortalId, NodeId)],
    globals: &Globals,
) -> (Messages, Vec<Precedence>, Vec<Diagnostic>) {
    let mut registered: HashMap<PortalId, Vec<NodeId>> = HashMap::new();
    for (portal, node) in portals {
        registered.entry(*portal).or_default().push(*node);
    }
    let sites: Vec<Vec<Site<'_>>> = codes.iter().map(sends).collect();
    let mut dependence = Dependence { graph, repetitions, known: HashMap::new() };
    let (mut messages, mut precedences, mut diagnostics) = (Messages::default(), Vec::new(), Vec::new());
    let mut deserted: Vec<Span> = Vec::new();
    for sender in graph.node_ids() {
        let NodeKind::Filter { code, .. } = graph.node(sender).kind else { continue };
        for site in &sites[code.index()] {
            let Site { portal, handler: name, latency, span, .. } = site;
            let receivers = registered.get(portal).map_or(&[][..], Vec::as_slice);
            if receivers.is_empty() && !deserted.contains(span) {
                deserted.push(*span);
                diagnostics.push(
                    Diagnostic::warning("W0310", "nobody receives this message", *span, "sent to an empty portal")
                        .help("register a filter with the portal: `add F() to p;`"),
                );
            }
            for receiver in receivers {
                let Some((handler, function)) = handler(graph, codes, *receiver, name) else { continue };
                if let Some(d) = misfit(graph, site, *receiver, function, globals) {
                    if diagnostics.len() < ENOUGH && !diagnostics.contains(&d) {
                        diagnostics.push(d);
                    }
                    continue;
                }
                let link = Link {
                    sender,
                    receiver: *receiver,
                    portal: *portal,
                    handler,
                    name: (*name).clone(),
                    latency: *latency,
                    direction: Direction::Unbound,
                    due: Counts::constant(1),
                    span: *span,
                };
                match time(&mut dependence, link) {
                    Ok((link, precedence)) => {
                        messages.links.push(link);
                        if let Some(p) = precedence
                            && !precedences.contains(&p)
                        {
                            precedences.push(p);
                        }
                    }
                    Err(d) if diagnostics.len() < ENOUGH => diagnostics.push(*d),
                    Err(_) => {}
                }
            }
        }
    }
    (messages, precedences, diagnostics)
}

/// The sends of a filter, each portal, handler, latency and shape of arguments once.
fn sends(code: &FilterCode) -> Vec<Site<'_>> {
    let mut out: Vec<Site<'_>> = Vec::new();
    for f in &code.functions {
        walk::statements(&f.body, &mut |s| {
            if let StmtKind::Send(send) = &s.kind {
                let args = send.args.iter().map(|e| &e.ty).collect();
                let new =
                    Site { portal: send.portal, handler: &send.handler, latency: send.latency, args, span: s.span };
                let key = |s: &Site<'_>| (s.portal, s.handler.clone(), s.latency);
                if !out.iter().any(|o| key(o) == key(&new) && o.args == new.args) {
                    out.push(new);
                }
            }
        });
    }
    out
}

fn handler<'a>(graph: &SdfGraph, codes: &'a [FilterCode], node: NodeId, name: &Name) -> Option<(FnId, &'a Function)> {
    let NodeKind::Filter { code, .. } = graph.node(node).kind else { return None };
    let code = &codes[code.index()];
    let handler = code.handlers.iter().find(|h| h.name == *name)?;
    Some((handler.function, code.function(handler.function)))
}

/// Arguments that do not fit this receiver's handler: its arrays may have sizes of its own.
fn misfit(graph: &SdfGraph, site: &Site<'_>, receiver: NodeId, f: &Function, globals: &Globals) -> Option<Diagnostic> {
    let params = f.locals[..f.params as usize].iter();
    let (given, param) = site.args.iter().zip(params).find(|(given, param)| **given != &param.ty)?;
    let r = graph.node(receiver);
    let (given, wanted) = (show_type(globals, given), show_type(globals, &param.ty));
    let why = format!("an argument is {given}, but `{}` of `{}` is {wanted}", param.name, r.path);
    Some(
        Diagnostic::error("E0315", "the message does not fit its handler", site.span, why)
            .label(f.span, "the handler")
            .label(r.span, "this receiver"),
    )
}

/// Is there a way along channels that are not dynamic, over at most those that are not feedback?
fn reaches(graph: &SdfGraph, from: NodeId, to: NodeId, feedback: bool) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut todo = vec![from];
    while let Some(n) = todo.pop() {
        for c in &graph.node(n).outputs {
            let c = graph.channel(*c);
            if (feedback || !c.feedback) && !c.dynamic && !std::mem::replace(&mut seen[c.to.0.index()], true) {
                if c.to.0 == to {
                    return true;
                }
                todo.push(c.to.0);
            }
        }
    }
    false
}

/// Is there any way along the channels?
fn flows(graph: &SdfGraph, from: NodeId, to: NodeId) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut todo = vec![from];
    while let Some(n) = todo.pop() {
        if n == to {
            return true;
        }
        if !std::mem::replace(&mut seen[n.index()], true) {
            todo.extend(graph.node(n).outputs.iter().map(|c| graph.channel(*c).to.0));
        }
    }
    false
}

/// Which way a message goes: along a way without feedback if there is one.
fn direction(graph: &SdfGraph, sender: NodeId, receiver: NodeId) -> Option<Direction> {
    use Direction::*;
    if sender == receiver || reaches(graph, sender, receiver, false) {
        Some(Downstream)
    } else if reaches(graph, receiver, sender, false) {
        Some(Upstream)
    } else if reaches(graph, sender, receiver, true) {
        Some(Downstream)
    } else if reaches(graph, receiver, sender, true) {
        Some(Upstream)
    } else {
        None
    }
}

/// `n + latency`, at least 0.
fn shifted(n: u64, latency: i64) -> u64 {
    (i128::from(n) + i128::from(latency)).clamp(0, i128::from(u64::MAX)) as u64
}

fn time(dependence: &mut Dependence<'_>, mut link: Link) -> Result<(Link, Option<Precedence>), Box<Diagnostic>> {
    let graph = dependence.graph;
    let (s, r) = (link.sender, link.receiver);
    let way = direction(graph, s, r);
    let latency = match (way, link.latency) {
        (Some(_), Some((_, max))) => i64::from(max),
        // best effort downstream costs nothing at all
        (Some(Direction::Downstream), None) if s != r => 0,
        (_, None) => return Ok((link, None)),
        (None, Some(_)) => return Err(Box::new(unrelated(graph, &link))),
    };
    let upstream = way == Some(Direction::Upstream);
    link.direction = if upstream { Direction::Upstream } else { Direction::Downstream };
    if dependence.repetitions[s.index()] == 0 || dependence.repetitions[r.index()] == 0 {
        return Ok((link, None)); // one of them never fires after its first time
    }
    let place = link.clone();
    let too_long = |_: TooLong| Box::new(too_long(graph, &place));
    let forth = if upstream { dependence.get(r, s) } else { dependence.get(s, r) }.map_err(too_long)?;
    let periods = (dependence.repetitions[s.index()], dependence.repetitions[r.index()]);
    let timing = Timing { forth, upstream, periods };
    link.due = timing.due(latency).map_err(too_long)?;
    // can the sender fire before the receiver has gone too far?
    let back = if s == r || reaches(graph, r, s, true) { Some(dependence.get(r, s).map_err(too_long)?) } else { None };
    let need = timing.need(latency).map_err(too_long)?;
    if let Some(back) = &back
        && !timing.possible(&need, back)
    {
        let least = timing.least_possible(latency, back);
        return Err(Box::new(impossible(graph, &link, latency, least)));
    }
    // downstream, and not before the items: nothing to wait for; and a filter's own firings follow one another anyway
    let free = !upstream && latency >= 0 || s == r;
    Ok((link, (!free).then_some(Precedence { before: s, after: r, need })))
}

/// What a link's timing follows from.
struct Timing {
    /// SDEP of the downstream one of the two on the upstream one.
    forth: Counts,
    upstream: bool,
    /// r(sender), r(receiver)
    periods: (u64, u64),
}

impl Timing {
    /// due(n) of [`Link::due`].
    fn due(&self, latency: i64) -> Result<Counts, TooLong> {
        // from here on the argument of SDEP lies where SDEP repeats
        let settled = if self.upstream { self.forth.head.len() as u64 } else { *self.forth.head.last().unwrap_or(&0) };
        let start = bounded(shifted(settled, latency.saturating_neg().saturating_add(1)), self.periods.0)?;
        Ok(Counts::list(start, self.periods.0, self.periods.1, |n| {
            let sent = shifted(n, latency);
            if self.upstream {
                self.forth.at(sent).saturating_add(1)
            } else {
                self.forth.first_reaching(sent).unwrap_or(u64::MAX).max(1)
            }
        }))
    }

    /// need(t) of [`Precedence::need`].
    fn need(&self, latency: i64) -> Result<Counts, TooLong> {
        // need(t) is SDEP(t) - λ, or the last n with SDEP(n + λ) ≤ t - 1
        let settled = if self.upstream { *self.forth.head.last().unwrap_or(&0) } else { self.forth.head.len() as u64 };
        // below zero it is cut off: until it has grown out of that it does not repeat
        let grows = |t: u64| -> u64 {
            if self.upstream {
                let n = t.checked_sub(1).and_then(|t| self.forth.last_within(t)).unwrap_or(0);
                shifted(n, latency.saturating_neg())
            } else {
                shifted(self.forth.at(t), latency.saturating_neg())
            }
        };
        let (s, r) = self.periods;
        let cut = u64::try_from(latency.max(0)).unwrap_or(0).div_ceil(s.max(1)).saturating_add(1).saturating_mul(r);
        let start = bounded(settled.saturating_add(cut).saturating_add(1), r)?;
        Ok(Counts::list(start, r, s, grows))
    }

    /// Is the sender's firing need(t) possible before the receiver's firing t, for every t? `back` is SDEP of the sender on
    /// the receiver.
    fn possible(&self, need: &Counts, back: &Counts) -> bool {
        let settled = need.first_reaching(back.head.len() as u64 + 1).unwrap_or(0);
        let end = settled.max(need.head.len() as u64).saturating_add(self.periods.1).min(4 * LONGEST);
        (1..=end).all(|t| back.at(need.at(t)) < t)
    }

    /// The least latency above this one that is possible.
    fn least_possible(&self, latency: i64, back: &Counts) -> Option<i64> {
        let fits = |l: i64| self.need(l).is_ok_and(|need| self.possible(&need, back));
        let mut step = 1;
        while !fits(latency + step) {
            step *= 2;
            if step > LONGEST as i64 {
                return None;
            }
        }
        // step / 2 does not fit, step does
        let (mut low, mut high) = (latency + step / 2, latency + step);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if fits(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

fn bounded(start: u64, period: u64) -> Result<u64, TooLong> {
    if start.saturating_add(period) > 4 * LONGEST { Err(TooLong) } else { Ok(start) }
}

/// Gives best-effort links their timing: a message takes effect when the steady state in which it was sent is over. In a program with
/// dynamic rates there is no such time: it takes effect before the receiver's next firing, in the reference order. An error where the
/// steady state is too long to be listed.
pub fn timed(graph: &SdfGraph, messages: &mut Messages, steady: &mut SteadyState) -> Result<(), Box<Diagnostic>> {
    if steady.islands.is_some() {
        return Ok(());
    }
    for link in &mut messages.links {
        if link.direction != Direction::Unbound {
            continue;
        }
        let (s, r) = (link.sender.index(), link.receiver.index());
        let (before, after) = (steady.init[s], steady.init[r]);
        let (rs, rr) = (steady.repetitions[s], steady.repetitions[r]);
        if before.saturating_add(rs).max(after.saturating_add(rr)) > LONGEST {
            return Err(Box::new(too_long(graph, link)));
        }
        // the steady state that firing n belongs to; 0 is the initialisation
        let epoch = |n: u64, init: u64, each: u64| n.saturating_sub(init).div_ceil(each.max(1));
        link.due = Counts::list(before + 1, rs, rr, |n| after + epoch(n, before, rs) * rr + 1);
        let need = Counts::list(after + 1, rr, rs, |t| match epoch(t, after, rr) {
            0 => 0,
            e => before + (e - 1) * rs,
        });
        let p = Precedence { before: link.sender, after: link.receiver, need };
        if link.sender != link.receiver && !steady.precedences.contains(&p) {
            steady.precedences.push(p);
        }
    }
    Ok(())
}

fn places(graph: &SdfGraph, link: &Link, d: Diagnostic) -> Diagnostic {
    let (s, r) = (graph.node(link.sender), graph.node(link.receiver));
    d.label(s.span, format!("`{}` sends", s.path)).label(r.span, format!("`{}` receives", r.path))
}

fn unrelated(graph: &SdfGraph, link: &Link) -> Diagnostic {
    let (s, r) = (link.sender, link.receiver);
    if flows(graph, s, r) || flows(graph, r, s) {
        let why = "with dynamic rates, no firing of the one says how often the other has fired";
        let d = Diagnostic::error("E0316", "dynamic rates lie between the sender and the receiver", link.span, why);
        return places(graph, link, d).help("send it with best effort: `[*]`");
    }
    let d = Diagnostic::error(
        "E0311",
        "no items flow between the sender and the receiver of this message",
        link.span,
        "a latency counts firings along the items",
    );
    places(graph, link, d)
        .help("send it with best effort: `[*]`; or from a filter upstream or downstream of the receiver")
}

fn too_long(graph: &SdfGraph, link: &Link) -> Diagnostic {
    let d = Diagnostic::error(
        "E0314",
        "the steady state is too long for messages",
        link.span,
        format!("when this arrives depends on more than {LONGEST} firings"),
    );
    places(graph, link, d)
}

fn impossible(graph: &SdfGraph, link: &Link, latency: i64, least: Option<i64>) -> Diagnostic {
    let (s, r) = (&graph.node(link.sender).path, &graph.node(link.receiver).path);
    let why = format!("with latency {latency}, `{r}` has fired too often by the time `{s}` sends");
    let d = Diagnostic::error("E0312", "this message would come too late", link.span, why);
    let d = places(graph, link, d);
    match least {
        Some(l) => d.help(format!("the smallest latency that works is {l}: `[{l}:{l}]`")),
        None => d.help("no latency works here; best effort does: `[*]`"),
    }
}
