//! What does not balance, in the words of streams, and what would balance it.

use super::explain::{inside, items, path, power};
use super::repetitions::{Clash, FIRINGS, Fraction, gcd};
use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use sluice_grammar::ast::StreamKind;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use std::collections::HashMap;

/// Weights of a joiner that are listed one by one, at most.
const MOST_LISTED: usize = 16;

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
                format!("`{}` would fire {} times or more in one steady state", path(graph, *n), power(FIRINGS)),
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

fn channel_clash(graph: &SdfGraph, id: ChannelId) -> Diagnostic {
    // the innermost splitjoin or loop around the clash whose joiner does not balance; else any, the inner ones first
    let mut at = Some(graph.node(graph.channel(id).to.0).hier);
    let mut candidates = Vec::new();
    while let Some((h, hier)) = at.and_then(|h| Some((h, graph.hierarchy.get(h.index())?))) {
        candidates.push(h);
        at = hier.parent;
    }
    candidates.extend((0..graph.hierarchy.len()).rev().map(HierId::from));
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
    let arrive = arrivals(graph, h)?;
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
        format!("takes {} in each round", taken(&arrive.iter().map(|(_, w, _)| *w).collect::<Vec<_>>())),
    )
    .label(split_node.span, "each firing of this splitter");
    // of very many, those that differ
    let new = |i: &usize| arrive.len() <= MOST_LISTED / 2 || !per_round[..*i].contains(&per_round[*i]);
    for (child, w, r) in (0..arrive.len()).filter(new).take(MOST_LISTED / 2).map(|i| &arrive[i]) {
        let c = &graph.hierarchy[child.index()];
        if let Some(r) = r {
            let text = format!("`{}` gives {} for it, the joiner takes {w} at a time", c.display, count(*r));
            d = d.label(c.added, text);
        }
    }
    if let Some(all) = balancing(graph, h, &arrive) {
        let alike = |o: HierId| arrivals(graph, o).and_then(|a| balancing(graph, o, &a)).as_ref() == Some(&all);
        let text = format!("join roundrobin({});", all.join(", "));
        let said = if all.len() > MOST_LISTED { format!("the weights {}", in_runs(&all)) } else { format!("`{text}`") };
        d = suggest(d, graph, h, join, (text, said), alike);
    }
    Some(d)
}

/// Says what would balance an instance, and offers to write it where that balances the other instances of its declaration, too.
fn suggest(
    d: Diagnostic,
    graph: &SdfGraph,
    h: HierId,
    join: NodeId,
    (text, said): (String, String),
    alike: impl Fn(HierId) -> bool,
) -> Diagnostic {
    let hier = &graph.hierarchy[h.index()];
    let mut others = (0..graph.hierarchy.len())
        .map(HierId::from)
        .filter(|o| *o != h && graph.hierarchy[o.index()].decl == hier.decl);
    if others.all(alike) {
        let fix = Fix::new(format!("write {said}"), graph.node(join).span, text);
        return d.help(format!("{said} would balance it")).fix(fix);
    }
    d.help(format!("{said} would balance `{}`; other instances need other weights", hier.display))
}

/// Items that arrive at each port of a splitjoin's joiner per firing of the splitter, and the port's weight; branches meet nowhere but there.
fn arrivals(graph: &SdfGraph, h: HierId) -> Option<Vec<(HierId, u32, Option<Fraction>)>> {
    let (split, join) = ends(graph, h);
    let (split, join) = (split?, join?);
    let NodeKind::JoinRoundRobin(weights) = &graph.node(join).kind else { return None };
    let rates = relative(graph, split, |c| {
        let c = graph.channel(c);
        let within = |n: NodeId| n != join && inside(graph, n, h);
        within(c.from.0) && within(c.to.0)
    });
    let mut arrive = Vec::new();
    for (port, id) in graph.node(join).inputs.iter().enumerate() {
        let c = graph.channel(*id);
        let child = branch_of(graph, h, c.from.0)?;
        let r = rates.get(&c.from.0).copied().and_then(|r| r.times(c.produce.into(), 1));
        arrive.push((child, weights[port], r));
    }
    Some(arrive)
}

/// The weights that balance a splitjoin. A branch that gives nothing has no port, but a weight of 0.
fn balancing(graph: &SdfGraph, h: HierId, arrive: &[(HierId, u32, Option<Fraction>)]) -> Option<Vec<String>> {
    let weights = proportional(arrive)?;
    let of =
        |child: &HierId| arrive.iter().position(|(c, ..)| c == child).map_or("0".into(), |i| weights[i].to_string());
    Some(graph.hierarchy[h.index()].children.iter().map(of).collect())
}

/// The smallest weights in proportion to what arrives at a joiner; a branch that the splitter does not feed keeps its own.
fn proportional(arrive: &[(HierId, u32, Option<Fraction>)]) -> Option<Vec<u128>> {
    let known = || arrive.iter().filter_map(|(_, _, r)| *r);
    let lcm = known().try_fold(1u128, |lcm, r| (lcm / gcd(lcm, r.den)).checked_mul(r.den))?;
    let all = |r: Fraction| r.num.checked_mul(lcm / r.den);
    let common = known().try_fold(0, |g, r| Some(gcd(g, all(r)?)))?.max(1);
    (arrive.iter())
        .map(|(_, own, r)| match r {
            Some(r) => all(*r).map(|w| w / common).filter(|w| *w <= i32::MAX as u128),
            None => Some((*own).into()),
        })
        .collect()
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

/// What a joiner takes of its branches in a round; not each of very many.
fn taken(weights: &[u32]) -> String {
    let each = |all: &[u32]| all.iter().map(u32::to_string).collect::<Vec<_>>();
    match weights {
        all if all.len() <= MOST_LISTED => list(&each(all)),
        [first, others @ ..] if others.iter().all(|w| w == first) => {
            format!("{first} from each of {} branches", weights.len())
        }
        all => format!("{}, … from {} branches", each(&all[..MOST_LISTED / 2]).join(", "), all.len()),
    }
}

/// Very many weights, those that follow one another and are equal as one.
fn in_runs(weights: &[String]) -> String {
    let runs: Vec<String> = (weights.chunk_by(|a, b| a == b))
        .map(|run| if run.len() == 1 { run[0].clone() } else { format!("{} ({} times)", run[0], run.len()) })
        .collect();
    match &runs[..] {
        all if all.len() <= MOST_LISTED => list(all),
        all => format!("{}, … ({} in all)", all[..MOST_LISTED / 2].join(", "), weights.len()),
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
    let (returned, taken) = comes_back(graph, h)?;
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
    Some(match balanced_join(graph, join, returned) {
        Some((external, feedback)) => {
            let text = format!("join roundrobin({external}, {feedback});");
            let alike = |o: HierId| {
                let join = ends(graph, o).1.zip(comes_back(graph, o));
                join.and_then(|(join, (returned, _))| balanced_join(graph, join, returned))
                    == Some((external, feedback))
            };
            let said = format!("`{text}`");
            suggest(d, graph, h, join, (text, said), alike)
        }
        None => d.help("fewer items have to go back: a larger first weight in `split`, or lower rates in the loop"),
    })
}

/// Items that a loop's joiner gets back for each of its firings, and those that it takes.
fn comes_back(graph: &SdfGraph, h: HierId) -> Option<(Fraction, Fraction)> {
    let join = ends(graph, h).1?;
    let back = graph.node(join).inputs.iter().copied().find(|c| graph.channel(*c).feedback)?;
    let rates = relative(graph, join, |c| {
        let ch = graph.channel(c);
        c != back && inside(graph, ch.from.0, h) && inside(graph, ch.to.0, h)
    });
    let c = graph.channel(back);
    let returned = rates.get(&c.from.0)?.times(c.produce.into(), 1)?;
    Some((returned, Fraction { num: c.consume.into(), den: 1 }))
}

/// The smallest weights of a loop's joiner that take as much feedback as comes back for what they give. What the joiner gives
/// changes with its weights: of each item that it gives, g come back, so that g is the feedback's share of its weights.
fn balanced_join(graph: &SdfGraph, join: NodeId, returned: Fraction) -> Option<(u128, u128)> {
    let NodeKind::JoinRoundRobin(weights) = &graph.node(join).kind else { return None };
    let [_, _] = weights[..] else { return None };
    let total: u128 = weights.iter().map(|w| u128::from(*w)).sum();
    let share = returned.times(1, total)?;
    (share.num < share.den && share.den <= i32::MAX as u128).then(|| (share.den - share.num, share.num))
}
