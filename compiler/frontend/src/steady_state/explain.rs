//! What does not balance or cannot start, in the words of streams.

use super::repetitions::{Clash, Fraction, gcd};
use super::startup::{Stuck, startup};
use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use sluice_grammar::ast::StreamKind;
use sluice_grammar::diagnostic::Diagnostic;
use std::collections::HashMap;

fn show(f: Fraction) -> String {
    if f.den == 1 { f.num.to_string() } else { format!("{}/{}", f.num, f.den) }
}

/// Rates relative to a node, along channels that `follow` allows.
fn relative(graph: &SdfGraph, from: NodeId, follow: impl Fn(ChannelId) -> bool) -> HashMap<NodeId, Fraction> {
    let mut rate = HashMap::from([(from, Fraction::ONE)]);
    let mut queue = vec![from];
    while let Some(n) = queue.pop() {
        let r = rate[&n];
        let node = graph.node(n);
        for id in node.outputs.iter().chain(&node.inputs) {
            let c = graph.channel(*id);
            if !follow(*id) || c.produce == 0 || c.consume == 0 {
                continue;
            }
            let (other, a, b) =
                if c.from.0 == n { (c.to.0, c.produce, c.consume) } else { (c.from.0, c.consume, c.produce) };
            if rate.contains_key(&other) {
                continue;
            }
            if let Some(f) = r.times(a.into(), b.into()) {
                rate.insert(other, f);
                queue.push(other);
            }
        }
    }
    rate
}

/// A rate clash.
pub fn clash(graph: &SdfGraph, clash: &Clash) -> Diagnostic {
    match clash {
        Clash::Overflow(n) => {
            let node = graph.node(*n);
            Diagnostic::error(
                "E0304",
                "the rates of this program are too large",
                node.span,
                format!("`{}` would fire more than 2^48 times in one steady state", node.path),
            )
            .help("rates that share factors keep the steady state small: 48 to 44 rather than 48000 to 44099")
        }
        Clash::Nothing(id) => {
            let c = graph.channel(*id);
            let (from, to) = (graph.node(c.from.0), graph.node(c.to.0));
            Diagnostic::error(
                "E0302",
                format!("nothing can flow from `{}` to `{}`", from.name, to.name),
                to.span,
                format!("`{}` takes {} per firing", to.name, items(c.consume.into())),
            )
            .label(from.span, format!("`{}` gives {} per firing", from.name, items(c.produce.into())))
            .help("one of the two needs a rate (or weight) that is not 0")
        }
        Clash::Channel(id) => channel_clash(graph, *id),
    }
}

fn items(n: u64) -> String {
    if n == 1 { "1 item".into() } else { format!("{n} items") }
}

fn channel_clash(graph: &SdfGraph, id: ChannelId) -> Diagnostic {
    // the innermost splitjoin or loop around the clash whose joiner does not balance
    let mut at = Some(graph.node(graph.channel(id).to.0).hier);
    let mut around = Vec::new();
    while let Some(h) = at {
        around.push(h);
        at = graph.hierarchy[h.index()].parent;
    }
    let mut candidates: Vec<HierId> = around;
    candidates.extend((0..graph.hierarchy.len()).map(HierId::from));
    for h in candidates {
        let found = match graph.hierarchy[h.index()].kind {
            StreamKind::SplitJoin => splitjoin(graph, h),
            StreamKind::FeedbackLoop => feedback(graph, h),
            _ => None,
        };
        if let Some(d) = found {
            return d;
        }
    }
    let c = graph.channel(id);
    let (from, to) = (graph.node(c.from.0), graph.node(c.to.0));
    Diagnostic::error(
        "E0301",
        "the rates do not balance",
        to.span,
        format!("`{}` takes {}", to.name, items(c.consume.into())),
    )
    .label(from.span, format!("`{}` gives {}", from.name, items(c.produce.into())))
}

/// Is a node inside a stream instance (not merely its splitter or joiner)?
fn inside(graph: &SdfGraph, n: NodeId, h: HierId) -> bool {
    let mut at = Some(graph.node(n).hier);
    while let Some(x) = at {
        if x == h {
            return true;
        }
        at = graph.hierarchy[x.index()].parent;
    }
    false
}

fn ends(graph: &SdfGraph, h: HierId) -> (Option<NodeId>, Option<NodeId>) {
    let nodes = &graph.hierarchy[h.index()].nodes;
    let split = nodes
        .iter()
        .copied()
        .find(|n| matches!(graph.node(*n).kind, NodeKind::Duplicate | NodeKind::SplitRoundRobin(_)));
    let join = nodes.iter().copied().find(|n| matches!(graph.node(*n).kind, NodeKind::JoinRoundRobin(_)));
    (split, join)
}

fn splitjoin(graph: &SdfGraph, h: HierId) -> Option<Diagnostic> {
    let hier = &graph.hierarchy[h.index()];
    let (split, join) = ends(graph, h);
    let (split, join) = (split?, join?);
    let NodeKind::JoinRoundRobin(weights) = &graph.node(join).kind else { return None };
    let NodeKind::JoinRoundRobin(_) = &graph.node(join).kind else { return None };
    // items that arrive at each port of the joiner per firing of the splitter
    let mut arrive = Vec::new();
    for (port, id) in graph.node(join).inputs.iter().enumerate() {
        let child = branch_of(graph, h, graph.channel(*id).from.0)?;
        let rates = relative(graph, split, |c| {
            let c = graph.channel(c);
            let within = |n: NodeId| n == split || inside(graph, n, child);
            within(c.from.0) && within(c.to.0)
        });
        let c = graph.channel(*id);
        let r = rates.get(&c.from.0).copied().and_then(|r| r.times(c.produce.into(), 1));
        arrive.push((child, weights[port], r));
    }
    let per_round: Vec<Option<Fraction>> =
        arrive.iter().map(|(_, w, r)| if *w == 0 { None } else { r.and_then(|r| r.times(1, (*w).into())) }).collect();
    let known: Vec<Fraction> = per_round.iter().flatten().copied().collect();
    if known.windows(2).all(|w| w[0] == w[1]) {
        return None;
    }
    let split_node = graph.node(split);
    let join_node = graph.node(join);
    let mut d = Diagnostic::error(
        "E0300",
        format!("the branches of `{}` do not balance", hier.display),
        join_node.span,
        format!("takes {} in each round", list(&arrive.iter().map(|(_, w, _)| w.to_string()).collect::<Vec<_>>())),
    )
    .label(split_node.span, "each firing of this splitter");
    for (child, w, r) in arrive.iter().take(8) {
        let c = &graph.hierarchy[child.index()];
        if let Some(r) = r {
            let text = format!("`{}` gives {} for it, the joiner takes {w} at a time", c.display, count(*r));
            d = d.label(c.added, text);
        }
    }
    // the smallest weights in proportion to what arrives
    let proportional: Option<Vec<u128>> = (|| {
        let mut lcm: u128 = 1;
        for (_, _, r) in &arrive {
            let r = (*r)?;
            lcm = (lcm / gcd(lcm, r.den)).checked_mul(r.den)?;
        }
        let all: Vec<u128> =
            arrive.iter().map(|(_, _, r)| r.and_then(|r| r.num.checked_mul(lcm / r.den))).collect::<Option<_>>()?;
        let g = all.iter().fold(0, |g, x| gcd(g, *x)).max(1);
        Some(all.into_iter().map(|x| x / g).collect())
    })();
    if let Some(ws) = proportional {
        let ws: Vec<String> = ws.iter().map(u128::to_string).collect();
        let text = format!("join roundrobin({});", ws.join(", "));
        d = d.help(format!("`{text}` would balance it")).fix(join_node.span, text);
    }
    Some(d)
}

fn count(r: Fraction) -> String {
    if r == Fraction::ONE { "1 item".into() } else { format!("{} items", show(r)) }
}

fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}

fn branch_of(graph: &SdfGraph, h: HierId, n: NodeId) -> Option<HierId> {
    let mut at = graph.node(n).hier;
    loop {
        let parent = graph.hierarchy[at.index()].parent?;
        if parent == h {
            return Some(at);
        }
        at = parent;
    }
}

fn feedback(graph: &SdfGraph, h: HierId) -> Option<Diagnostic> {
    let hier = &graph.hierarchy[h.index()];
    let (split, join) = ends(graph, h);
    let (split, join) = (split?, join?);
    let back = graph.node(join).inputs.iter().copied().find(|c| graph.channel(*c).feedback)?;
    let rates = relative(graph, join, |c| {
        let ch = graph.channel(c);
        c != back && inside(graph, ch.from.0, h) && inside(graph, ch.to.0, h)
    });
    let c = graph.channel(back);
    let returned = rates.get(&c.from.0)?.times(c.produce.into(), 1)?;
    let taken = Fraction { num: c.consume.into(), den: 1 };
    if returned == taken {
        return None;
    }
    let d = Diagnostic::error(
        "E0301",
        format!("the feedback of `{}` does not balance", hier.display),
        graph.node(join).span,
        format!("takes {} from the feedback in each firing", count(taken)),
    )
    .label(graph.node(split).span, format!("for each of them the loop returns {}", count(returned)));
    let help = if returned.den == 1 {
        format!("a feedback weight of {} in `join` would balance it", returned.num)
    } else {
        format!("multiply the weights of `join` by {} and give the feedback the weight {}", returned.den, returned.num)
    };
    Some(d.help(help))
}

/// A program that cannot start.
pub fn stuck(graph: &SdfGraph, r: &[u64], initial: &[u64], stuck: &Stuck) -> Vec<Diagnostic> {
    let one = match stuck {
        Stuck::Overflow(n) => {
            let node = graph.node(*n);
            Diagnostic::error(
                "E0304",
                "the rates of this program are too large",
                node.span,
                format!("`{}` would have to fire too often", node.path),
            )
        }
        Stuck::TooLong => Diagnostic::error(
            "E0306",
            "the steady state is too long to check",
            graph.hierarchy[0].added,
            "too many firings in its feedback loops",
        ),
        Stuck::Never(id) => {
            let c = graph.channel(*id);
            let (from, to) = (graph.node(c.from.0), graph.node(c.to.0));
            Diagnostic::error(
                "E0305",
                format!("`{}` can never see the {} it needs", to.name, items(c.peek.into())),
                to.span,
                "waits for ever",
            )
            .label(from.span, format!("`{}` never gives that many", from.name))
        }
        Stuck::Messages(sender, receiver) => {
            let (s, r) = (graph.node(*sender), graph.node(*receiver));
            let why = format!("`{}` waits for messages that `{}` could only send later", r.path, s.path);
            Diagnostic::error("E0314", "the latencies of these messages cannot all be kept", r.span, why)
                .label(s.span, "this filter sends them")
                .help("give the messages greater latencies, or best effort: `[*]`")
        }
        Stuck::Deadlock(waiting) => return deadlock(graph, r, initial, waiting),
    };
    vec![one]
}

fn deadlock(graph: &SdfGraph, r: &[u64], initial: &[u64], waiting: &[(NodeId, ChannelId, u64)]) -> Vec<Diagnostic> {
    // every loop whose joiner waits for its feedback
    let loops: Vec<(NodeId, ChannelId)> =
        graph.channel_ids().filter(|c| graph.channel(*c).feedback).map(|c| (graph.channel(c).to.0, c)).collect();
    let mut out = Vec::new();
    for (join, back) in &loops {
        let waits = waiting.iter().any(|(n, c, _)| n == join && c == back);
        let named = waiting.iter().any(|(n, ..)| inside(graph, *n, graph.node(*join).hier));
        if !(waits || named && loops.len() == 1) {
            continue;
        }
        let node = graph.node(*join);
        let hier = &graph.hierarchy[node.hier.index()];
        let have = initial[back.index()];
        let enqueued = match have {
            0 => "no item is enqueued".to_string(),
            n => format!("only {} enqueued", if n == 1 { "1 item is".to_string() } else { format!("{n} items are") }),
        };
        let mut d = Diagnostic::error(
            "E0303",
            format!("the feedback loop `{}` cannot start", hier.display),
            node.span,
            format!("the joiner waits for its feedback: {enqueued}"),
        );
        for (n, c, lacks) in waiting.iter().filter(|(n, c, _)| inside(graph, *n, node.hier) && c != back).take(4) {
            let (waiter, from) = (graph.node(*n), graph.node(graph.channel(*c).from.0));
            d = d.note(format!("`{}` lacks {} from `{}`", waiter.path, items(*lacks), from.path));
        }
        d = match more_needed(graph, r, initial, *back) {
            Some(n) => d.help(format!(
                "enqueue {} more: {n} `enqueue` {} missing",
                items(n),
                if n == 1 { "is" } else { "are" }
            )),
            None => d.help(
                "more `enqueue`s alone do not help: another loop waits, too, or the loop needs more than it returns",
            ),
        };
        out.push(d);
    }
    if out.is_empty() {
        let (n, c, lacks) = waiting[0];
        let (waiter, from) = (graph.node(n), graph.node(graph.channel(c).from.0));
        out.push(
            Diagnostic::error(
                "E0303",
                "the program cannot start",
                waiter.span,
                format!("`{}` lacks {}", waiter.path, items(lacks)),
            )
            .label(from.span, "waits for this in turn"),
        );
    }
    out
}

/// The fewest further items on a feedback channel with which everything can start.
fn more_needed(graph: &SdfGraph, r: &[u64], initial: &[u64], back: ChannelId) -> Option<u64> {
    let works = |more: u64| {
        let mut initial = initial.to_vec();
        initial[back.index()] += more;
        startup(graph, r, &initial, &[]).is_ok()
    };
    let mut high = 1;
    while !works(high) {
        high *= 2;
        if high > 1 << 16 {
            return None;
        }
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = (low + high) / 2;
        if works(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
