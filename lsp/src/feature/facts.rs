//! What is known of streams, in words: shared by hints, hovers and lenses.

use crate::world::view::{Flow, Known, View};
use sluice_frontend::Elaborated;
use sluice_frontend::graph::{HierNode, NodeKind};
use sluice_frontend::ids::{ChannelId, HierId, NodeId};
use sluice_frontend::lints::tree;
use sluice_frontend::typed::DynamicRate;
use sluice_grammar::ast::{Program, Stmt, StmtKind, StreamDecl, StreamRef};
use sluice_grammar::span::Span;

/// An `add`, `body` or `loop` of a tree.
pub struct Adding<'t> {
    /// The statement.
    pub stmt: &'t Stmt,
    /// What is added.
    pub stream: &'t StreamRef,
}

impl Adding<'_> {
    /// Where a hint about it stands: behind what is written of a stream with a name, behind the header of one without.
    pub fn hint_at(&self) -> u32 {
        match self.stream {
            StreamRef::Named { at, .. } => at.0.end,
            StreamRef::Anonymous(s) => s.header.0.end,
        }
    }
}

/// All `add`s of a tree, in order.
pub fn addings(tree: &Program) -> Vec<Adding<'_>> {
    let mut all = Vec::new();
    tree::statements(tree, &mut |stmt| {
        if let StmtKind::Add { stream, .. } | StmtKind::Body { stream, .. } | StmtKind::Loop { stream, .. } = &stmt.kind
        {
            all.push(Adding { stmt, stream });
        }
    });
    all.sort_by_key(|a| a.stmt.at.0.start);
    all
}

/// All streams of a tree, those without names included.
pub fn streams(tree: &Program) -> Vec<&StreamDecl> {
    let mut all = Vec::new();
    tree::streams(tree, &mut |s| all.push(s));
    all.sort_by_key(|s| s.at.0.start);
    all
}

/// The instances that the statement at a place (of now) has made.
pub fn instances(known: &Known, stmt: Span) -> &[HierId] {
    known.then(stmt).and_then(|span| known.of.facts().added.get(&span)).map_or(&[], |i| i)
}

/// The instances of the declaration whose header is at a place (of now).
pub fn declared(known: &Known, header: Span) -> &[HierId] {
    known.then(header).and_then(|span| known.of.facts().declared.get(&span)).map_or(&[], |i| i)
}

/// An instance.
pub fn hier(program: &Elaborated, id: HierId) -> &HierNode {
    &program.graph.hierarchy[id.index()]
}

/// The node of an instance that is a filter, an identity, a reader or a writer.
pub fn leaf(program: &Elaborated, id: HierId) -> Option<NodeId> {
    let h = hier(program, id);
    match (h.children.is_empty(), &h.nodes[..]) {
        (true, nodes) => nodes.iter().copied().find(|n| !is_open(program, *n) && !is_deal(program, *n)),
        _ => None,
    }
}

fn is_open(program: &Elaborated, n: NodeId) -> bool {
    use sluice_frontend::graph::Endpoint::Open;
    matches!(program.graph.node(n).kind, NodeKind::Reader(Open) | NodeKind::Writer(Open))
}

fn is_deal(program: &Elaborated, n: NodeId) -> bool {
    matches!(
        program.graph.node(n).kind,
        NodeKind::Duplicate | NodeKind::SplitRoundRobin(_) | NodeKind::JoinRoundRobin(_)
    )
}

/// `5→1 peek 64`: what a firing takes, gives and looks at.
pub fn rates(program: &Elaborated, n: NodeId) -> String {
    let node = program.graph.node(n);
    match &node.kind {
        NodeKind::Filter { code, rates, .. } => {
            let d = program.codes[code.index()].work.dynamic.unwrap_or_default();
            let pop = rate(rates.pop, d.pop);
            let push = rate(rates.push, d.push);
            let look = match d.peek {
                Some(_) => format!(" peek {}", rate(rates.peek, d.peek)),
                None if rates.peek > rates.pop && d.pop.is_none() => format!(" peek {}", rates.peek),
                None => String::new(),
            };
            format!("{pop}→{push}{look}")
        }
        NodeKind::Identity => "1→1".into(),
        NodeKind::Reader(_) => "0→1".into(),
        NodeKind::Writer(_) => "1→0".into(),
        NodeKind::Duplicate => format!("1→{} copies", node.outputs.len()),
        NodeKind::SplitRoundRobin(w) => {
            format!("{}→{}", sum(w), w.iter().map(u32::to_string).collect::<Vec<_>>().join("+"))
        }
        NodeKind::JoinRoundRobin(w) => {
            format!("{}→{}", w.iter().map(u32::to_string).collect::<Vec<_>>().join("+"), sum(w))
        }
    }
}

/// The rates of several leaves, as one: numbers that differ as the least and the most.
pub fn all_rates(program: &Elaborated, leaves: &[NodeId]) -> String {
    let filter = |n: &NodeId| match &program.graph.node(*n).kind {
        NodeKind::Filter { rates, dynamic: false, .. } => Some(*rates),
        _ => None,
    };
    let all: Option<Vec<_>> = leaves.iter().map(filter).collect();
    let Some(all) = all else { return common(leaves.iter().map(|n| rates(program, *n))) };
    let of = |f: fn(&sluice_frontend::typed::Rates) -> u32| spread(all.iter().map(|r| u64::from(f(r))));
    let looks = all.iter().any(|r| r.peek > r.pop);
    let peek = if looks { format!(" peek {}", of(|r| r.peek)) } else { String::new() };
    format!("{}→{}{peek}", of(|r| r.pop), of(|r| r.push))
}

/// Bytes for people: exactly where they are few.
pub fn bytes(n: u64) -> String {
    if n < 10_000 { format!("{n} B") } else { sluice_schedule::wording::bytes(n) }
}

fn sum(weights: &[u32]) -> u64 {
    weights.iter().map(|w| u64::from(*w)).sum()
}

/// A rate, or its bounds where a firing decides.
fn rate(n: u32, dynamic: Option<DynamicRate>) -> String {
    match dynamic {
        None => n.to_string(),
        Some(DynamicRate { min: 0, max: None, .. }) => "*".into(),
        Some(DynamicRate { min, max, .. }) => format!("[{min}, {}]", max.map_or("*".into(), |m| m.to_string())),
    }
}

/// The one value of all, or the least and the most.
pub fn spread(values: impl Iterator<Item = u64>) -> String {
    let all: Vec<u64> = values.collect();
    match (all.iter().min(), all.iter().max()) {
        (Some(a), Some(b)) if a == b => a.to_string(),
        (Some(a), Some(b)) => format!("{a}…{b}"),
        _ => String::new(),
    }
}

/// The one text of all, or the first and how many others there are.
pub fn common(texts: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    match &all[..] {
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one} and {} other{}", rest.len(), if rest.len() > 1 { "s" } else { "" }),
        [] => String::new(),
    }
}

/// The arguments in an instance's name for people, `Fir(6, 2)`; `None` where there are not so many.
pub fn arguments<'d>(display: &'d str, name: &str, count: usize) -> Option<Vec<&'d str>> {
    let inside = display.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
    let (mut all, mut from, mut depth, mut text, mut escaped) = (Vec::new(), 0, 0, false, false);
    for (i, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if text => escaped = true,
            '"' => text = !text,
            _ if text => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(inside[from..i].trim());
                from = i + 1;
            }
            _ => {}
        }
    }
    all.push(inside[from..].trim());
    (all.len() == count).then_some(all)
}

/// Items in and out of instances in a steady state.
pub fn flow(known: &Known, of: &[HierId]) -> String {
    let flow = &known.of.facts().flow;
    let side = |f: fn(&Flow) -> Option<u64>| {
        let all: Option<Vec<u64>> = of.iter().map(|h| f(&flow[h.index()])).collect();
        all.map_or("*".to_string(), |all| spread(all.into_iter()))
    };
    format!("{}→{}", side(|f| f.0), side(|f| f.1))
}

/// Bytes of the items that a channel must be able to hold for one steady state, and the items.
pub fn buffer(program: &Elaborated, channel: ChannelId) -> Option<(u64, u64)> {
    let items = program.steady.capacity(&program.graph, channel, 1)?;
    let each = crate::world::scheduled::bytes(&program.graph.channel(channel).ty, &program.globals)?;
    Some((items, items.checked_mul(each)?))
}

/// `II 132 cyc (MII 130, bound by LowPass) · 16 SMs · 3 stages · 1.2 MB`; `None` where there is no schedule.
pub fn interval(view: &View) -> Option<String> {
    let known = view.schedule.as_ref()?;
    let s = known.of.result.as_ref().ok()?;
    let schedule = s.outcome.verified.schedule();
    let mut used: Vec<u32> = schedule.processor.clone();
    used.sort_unstable();
    used.dedup();
    let unit = match s.machine.kind {
        sluice_schedule::machine::Kind::Gpu => ("SM", "SMs"),
        sluice_schedule::machine::Kind::Cpu => ("core", "cores"),
    };
    let count = sluice_schedule::wording::count;
    let parts = [
        format!("II {} cyc (MII {}, bound by {})", schedule.ii, s.plan.bounds.mii, s.bound),
        count(used.len() as u64, unit.0, unit.1),
        count(u64::from(schedule.stages()), "stage", "stages"),
        bytes(s.outcome.bytes),
    ];
    Some(format!("{}{}", if known.current { "" } else { "(old) " }, parts.join(" · ")))
}
