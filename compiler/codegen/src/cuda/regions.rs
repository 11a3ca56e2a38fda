//! # regions
//!
//! Purpose: which parts of a program become one data-parallel kernel, and which nodes of them one thread. Input: graph, steady state, the tasks that run whole. Output:
//! [`Regions`]: regions of nodes without state, their groups, and levels by which kernels follow one another.
//!
//! A *region* is a connected set of nodes whose firings are independent; what passes within it stays in shared memory. It is convex: nodes on whose way to one another
//! something serial lies have different levels, and regions never cross levels. A *group* is a set of a region's nodes that one thread fires together, since what passes between them is
//! whole in each of its firings (no item is left, none is looked at ahead): that stays in registers. Where streams take turns in firings, a thread makes those of one stream; then a
//! group's members all have the same streams, and on the channels between them the same items are a stream's at both ends.

use super::pieces;
use super::program::Making;
use super::views::may_go;
use sluice_frontend::components::components_of;
use sluice_frontend::graph::{Channel, NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::gcd;
use sluice_schedule::problem::granularity::is_serial;
use std::collections::{BTreeMap, BTreeSet};

/// Words of 4 bytes that may pass within a group in one of its firings: what a thread's registers hold, and some.
const GROUP_WORDS: u64 = 64;
/// The same of groups that are as large as they can be; words that are kept at a time; operations; nodes of a region.
const WHOLE_WORDS: u64 = 16 << 10;
const WHOLE_LIVE: u64 = 160;
const WHOLE_WORK: u64 = 20_000;
const MOST_WHOLE: usize = 300;
/// Nodes of a region beyond which no groups are looked for.
const MOST_GROUPED: usize = 4000;
/// Items that a splitter or joiner moves in a firing of its group from which on it may be better alone.
const MANY: u64 = 16;

/// What runs as one kernel.
#[derive(Clone, Debug)]
pub(super) enum Launch {
    /// A task of its own, by index.
    Task(usize),
    /// A region, by index.
    Region(usize),
}

/// Nodes whose firings are independent.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// Its groups, each after those whose items it takes.
    pub(super) groups: Vec<Group>,
}

/// Nodes that one thread fires together.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// In topological order, with the firings of each in one firing of the group.
    pub(super) members: Vec<(NodeId, u64)>,
    /// Its firings in a steady state.
    pub(super) rate: u64,
    /// Channels between its members.
    pub(super) local: BTreeSet<ChannelId>,
    /// Streams that take turns in each of its firings, which have a thread each; 1 where none do.
    pub(super) lanes: u64,
    /// Words of 4 bytes on channels between its members that a thread keeps at a time, at most: those that it moves only are kept once.
    pub(super) live: u64,
}

impl Group {
    /// How often a member fires in one firing of the group.
    pub(super) fn times(&self, v: NodeId) -> u64 {
        self.members.iter().find(|(u, _)| *u == v).map_or(1, |(_, q)| *q)
    }
}

/// Which nodes are in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// Those between which little passes.
    Small,
    /// The same, but for filters whose firings several threads can make: these are in groups of their own.
    Spread,
    /// As many as a thread's registers allow, most of whose work is to move items: in registers that takes no time.
    Whole,
}

impl Grouping {
    /// Words that may pass within a group in one of its firings.
    fn words(self) -> u64 {
        if self == Grouping::Whole { WHOLE_WORDS } else { GROUP_WORDS }
    }
}

/// Does a node give nothing but what it takes, or constants?
fn only_moves(making: &Making<'_>, v: NodeId) -> bool {
    match &making.input.host.graph.node(v).kind {
        NodeKind::Filter { code, .. } => making.movers[code.index()],
        NodeKind::Reader(_) | NodeKind::Writer(_) => false,
        _ => true,
    }
}

/// Words of the channels between a group's members, which are in topological order, that are there at a time, at most. What a member moves only is where it was.
fn live(making: &Making<'_>, members: &[(NodeId, u64)], local: &BTreeSet<ChannelId>) -> u64 {
    let graph = making.input.host.graph;
    let place: BTreeMap<NodeId, usize> = members.iter().enumerate().map(|(i, (v, _))| (*v, i)).collect();
    // by member, the last one that reads what it gives
    let mut last: Vec<usize> = (0..members.len()).collect();
    for (i, (v, _)) in members.iter().enumerate().rev() {
        for c in graph.node(*v).outputs.iter().filter(|c| local.contains(c)) {
            let Some(to) = place.get(&graph.channel(*c).to.0) else { continue };
            let moved = if only_moves(making, members[*to].0) { last[*to] } else { *to };
            last[i] = last[i].max(moved);
        }
    }
    let mut change = vec![0i64; members.len() + 1];
    for (i, (v, q)) in members.iter().enumerate().filter(|(_, (v, _))| !only_moves(making, *v)) {
        let of = |c: &ChannelId| q * u64::from(graph.channel(*c).produce) * making.item_bytes(*c).div_ceil(4);
        let words: u64 = graph.node(*v).outputs.iter().filter(|c| local.contains(c)).map(of).sum();
        change[i] += words as i64;
        change[last[i] + 1] -= words as i64;
    }
    let mut now = 0i64;
    change.iter().fold(0i64, |most, by| {
        now += by;
        most.max(now)
    }) as u64
}

/// May a thread make the firings of all these nodes?
fn fits(making: &Making<'_>, nodes: &[NodeId], channels: &[ChannelId]) -> bool {
    let (graph, steady) = (making.input.host.graph, making.input.host.steady);
    let rate = nodes.iter().map(|u| steady.repetitions[u.index()]).fold(0, gcd);
    let mut order: Vec<NodeId> = nodes.to_vec();
    order.sort_by_key(|v| making.order[v.index()]);
    let members: Vec<(NodeId, u64)> = order.iter().map(|v| (*v, steady.repetitions[v.index()] / rate.max(1))).collect();
    let work: u64 = members
        .iter()
        .map(|(v, q)| match &graph.node(*v).kind {
            NodeKind::Filter { code, .. } => q.saturating_mul(making.work[code.index()]),
            _ => 0,
        })
        .fold(0, u64::saturating_add);
    work <= WHOLE_WORK && live(making, &members, &channels.iter().copied().collect()) <= WHOLE_LIVE
}

/// A program cut into regions.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    /// The kernels, each after those that it takes items from.
    pub(super) launches: Vec<Launch>,
    /// The regions.
    pub(super) regions: Vec<Region>,
    /// By node, its region.
    pub(super) of: Vec<Option<usize>>,
}

impl Regions {
    /// Does a channel stay within a region?
    pub(super) fn holds(&self, graph: &SdfGraph, c: ChannelId) -> bool {
        let ends = graph.channel(c);
        self.of[ends.from.0.index()].is_some() && self.of[ends.from.0.index()] == self.of[ends.to.0.index()]
    }
}

/// Is a node one whose firings are independent?
fn parallel(making: &Making<'_>, v: NodeId) -> bool {
    making.task_of[v.index()].is_some() && !making.whole(v) && !is_serial(making.input.host.graph, v)
}

/// Finds the regions; `cut`: channels that are led through memory, `apart`: nodes that are in none.
pub(super) fn regions(
    making: &Making<'_>,
    cut: &BTreeSet<ChannelId>,
    apart: &BTreeSet<NodeId>,
    grouping: Grouping,
) -> Regions {
    let graph = making.input.host.graph;
    let problem = making.input.problem;
    let n = graph.nodes.len();
    // tasks in an order in which each comes after those that give it items: the schedule of one processor is one
    let schedule = making.input.schedule.schedule();
    let mut order: Vec<usize> = (0..problem.instances()).collect();
    order.sort_by_key(|i| (schedule.stage[*i], schedule.start[*i], *i));
    let tasks: Vec<usize> = order.into_iter().map(|i| problem.task_of(i)).collect();
    let nodes: Vec<NodeId> = tasks.iter().flat_map(|t| problem.graph().tasks[*t].nodes.iter().copied()).collect();
    let mut is_parallel: Vec<bool> = graph.node_ids().map(|v| parallel(making, v) && !apart.contains(&v)).collect();
    // a loop whose delay is long enough for its nodes to run one after the other is no region: tiles would wait for each other
    let all: Vec<NodeId> = graph.node_ids().collect();
    let flowing = graph.channel_ids().filter(|c| making.flows(*c)).map(|c| graph.channel(c));
    let edges: Vec<(NodeId, NodeId)> = flowing.map(|c| (c.from.0, c.to.0)).collect();
    for part in components_of(&all, &edges).into_iter().filter(|p| p.len() > 1) {
        part.iter().for_each(|v| is_parallel[v.index()] = false);
    }
    let mut level = vec![0u32; n];
    for t in &tasks {
        let members = &problem.graph().tasks[*t].nodes;
        let mut own = 0;
        for v in members {
            for c in graph.node(*v).inputs.iter().filter(|c| making.flows(**c)) {
                let u = graph.channel(*c).from.0;
                if members.contains(&u) {
                    continue;
                }
                let together = is_parallel[u.index()] && is_parallel[v.index()] && !cut.contains(c);
                own = own.max(level[u.index()] + u32::from(!together));
            }
        }
        members.iter().for_each(|v| level[v.index()] = own);
    }
    // a writer or another node without successors may as well be where its producer is: that is what its level says
    let mut of: Vec<Option<usize>> = vec![None; n];
    let mut found: Vec<Vec<NodeId>> = Vec::new();
    for v in &nodes {
        if !is_parallel[v.index()] || of[v.index()].is_some() {
            continue;
        }
        let mut open = vec![*v];
        of[v.index()] = Some(found.len());
        let mut members = Vec::new();
        while let Some(u) = open.pop() {
            members.push(u);
            let node = graph.node(u);
            for c in node.inputs.iter().chain(&node.outputs).filter(|c| making.flows(**c)) {
                let ends = graph.channel(*c);
                for w in [ends.from.0, ends.to.0] {
                    if is_parallel[w.index()] && of[w.index()].is_none() && level[w.index()] == level[u.index()] {
                        of[w.index()] = Some(found.len());
                        open.push(w);
                    }
                }
            }
        }
        found.push(members);
    }
    let place: BTreeMap<NodeId, usize> = nodes.iter().enumerate().map(|(i, v)| (*v, i)).collect();
    let mut launches: Vec<(u32, usize, Launch)> = Vec::new();
    for t in &tasks {
        let v = problem.graph().tasks[*t].nodes[0];
        if of[v.index()].is_none() {
            launches.push((level[v.index()], place[&v], Launch::Task(*t)));
        }
    }
    let mut regions = Vec::new();
    for (r, mut members) in found.into_iter().enumerate() {
        members.sort_by_key(|v| place[v]);
        let first = members[0];
        launches.push((level[first.index()], place[&first], Launch::Region(r)));
        regions.push(Region { groups: groups(making, members, &of, r, grouping) });
    }
    launches.sort_by_key(|(level, at, _)| (*level, *at));
    Regions { launches: launches.into_iter().map(|(_, _, l)| l).collect(), regions, of }
}

/// The groups of a region's nodes, which are in topological order. Splitters and joiners of many items are in no group that has not all of their items: there one thread would move what others are to
/// take, where alone they move nothing ([`super::views`]).
fn groups(
    making: &Making<'_>,
    members: Vec<NodeId>,
    of: &[Option<usize>],
    region: usize,
    grouping: Grouping,
) -> Vec<Group> {
    let graph = making.input.host.graph;
    let mut alone: BTreeSet<NodeId> = BTreeSet::new();
    if grouping == Grouping::Spread {
        alone.extend(members.iter().filter(|v| pieces::worth(making, **v)));
    }
    loop {
        let groups = grouped(making, &members, (of, region), &alone, grouping);
        let moves = |v: NodeId, q: u64| {
            let node = graph.node(v);
            let all = |cs: &[ChannelId], one: fn(&Channel) -> u32| {
                cs.iter().map(|c| u64::from(one(graph.channel(*c)))).sum::<u64>()
            };
            q * all(&node.inputs, |c| c.consume).max(all(&node.outputs, |c| c.produce))
        };
        let mut more = Vec::new();
        for group in groups.iter().filter(|g| g.members.len() > 1) {
            let leads_out = |v: NodeId| {
                let node = graph.node(v);
                let splits = matches!(node.kind, NodeKind::SplitRoundRobin(_));
                let many = if splits { &node.outputs } else { &node.inputs };
                many.iter().any(|c| !group.local.contains(c))
            };
            let found =
                group.members.iter().filter(|(v, q)| moves(*v, *q) >= MANY && leads_out(*v) && may_go(making, *v));
            more.extend(found.map(|(v, _)| *v));
        }
        if more.is_empty() {
            return groups;
        }
        alone.extend(more);
    }
}

/// The same, but for nodes that are to be alone.
fn grouped(
    making: &Making<'_>,
    members: &[NodeId],
    (of, region): (&[Option<usize>], usize),
    alone: &BTreeSet<NodeId>,
    grouping: Grouping,
) -> Vec<Group> {
    let (graph, steady) = (making.input.host.graph, making.input.host.steady);
    let mut group_of = vec![0; graph.nodes.len()];
    members.iter().enumerate().for_each(|(i, v)| group_of[v.index()] = i);
    let mut groups: Vec<Vec<NodeId>> = members.iter().map(|v| vec![*v]).collect();
    let ends = |v: NodeId| matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_));
    let whole = |c: ChannelId| {
        let channel = graph.channel(c);
        steady.boundary_fill[c.index()] == 0
            && channel.peek <= channel.consume
            && !ends(channel.from.0)
            && !ends(channel.to.0)
            && !alone.contains(&channel.from.0)
            && !alone.contains(&channel.to.0)
    };
    let inner = |c: &ChannelId| {
        let ends = graph.channel(*c);
        of[ends.from.0.index()] == Some(region) && of[ends.to.0.index()] == Some(region) && making.flows(*c)
    };
    let lanes = |v: NodeId| making.turns_of(v).map_or(1, |t| u64::from(t.streams()));
    // where the items of a stream are the same ones at both ends of a channel
    let in_step = |c: ChannelId| {
        let channel = graph.channel(c);
        match (making.turns_of(channel.from.0), making.turns_of(channel.to.0)) {
            (None, None) => true,
            (Some(a), Some(b)) => channel.produce == channel.consume && a.levels == b.levels && a.output == b.input,
            _ => false,
        }
    };
    let most = if grouping == Grouping::Whole { MOST_WHOLE } else { MOST_GROUPED };
    if members.len() <= most {
        let mut ways = Ways::of(graph, members, &inner);
        // along the channels in topological order of their consumers, so that chains grow from their starts
        for v in members {
            for c in graph.node(*v).inputs.iter().filter(|c| inner(c)) {
                let (a, b) = (group_of[graph.channel(*c).from.0.index()], group_of[v.index()]);
                if a == b || !whole(*c) || !in_step(*c) {
                    continue;
                }
                let both: Vec<NodeId> = groups[a].iter().chain(&groups[b]).copied().collect();
                let is_member = |u: NodeId| both.contains(&u);
                let within = |c: &&ChannelId| {
                    let ends = graph.channel(**c);
                    inner(c) && is_member(ends.from.0) && is_member(ends.to.0)
                };
                let channels: Vec<ChannelId> =
                    both.iter().flat_map(|u| graph.node(*u).outputs.iter()).filter(within).copied().collect();
                let rate = both.iter().map(|u| steady.repetitions[u.index()]).fold(0, gcd);
                let words: u64 = channels
                    .iter()
                    .map(|c| {
                        let from = graph.channel(*c).from.0;
                        let items =
                            steady.repetitions[from.index()] / rate.max(1) * u64::from(graph.channel(*c).produce);
                        items / lanes(from) * making.item_bytes(*c).div_ceil(4)
                    })
                    .sum();
                if !channels.iter().all(|c| whole(*c) && in_step(*c))
                    || words > grouping.words()
                    || grouping == Grouping::Whole && !fits(making, &both, &channels)
                    || ways.leave(&both, (&groups, &group_of))
                {
                    continue;
                }
                let moved = std::mem::take(&mut groups[b]);
                moved.iter().for_each(|u| {
                    group_of[u.index()] = a;
                });
                groups[a].extend(moved);
            }
        }
    }
    let place: BTreeMap<NodeId, usize> = members.iter().enumerate().map(|(i, v)| (*v, i)).collect();
    let finished: Vec<Group> = groups
        .into_iter()
        .filter(|g| !g.is_empty())
        .map(|mut g| {
            g.sort_by_key(|v| place[v]);
            let rate = g.iter().map(|u| steady.repetitions[u.index()]).fold(0, gcd);
            let local = |c: &&ChannelId| inner(c) && g.contains(&graph.channel(**c).to.0);
            let local = g.iter().flat_map(|u| graph.node(*u).outputs.iter()).filter(local).copied().collect();
            let members: Vec<(NodeId, u64)> = g.iter().map(|v| (*v, steady.repetitions[v.index()] / rate)).collect();
            let live = live(making, &members, &local);
            Group { members, rate, local, lanes: lanes(g[0]), live }
        })
        .collect();
    in_order(graph, finished, &inner)
}

/// Where items go from a region's nodes, and what a search along these ways has seen.
struct Ways {
    /// By node: those that take its items.
    next: Vec<Vec<NodeId>>,
    /// By node: the last search whose set it was in; by group: the last search that came to it. A region of thousands of nodes asks for thousands of them.
    member: Vec<u32>,
    seen: Vec<u32>,
    search: u32,
}

impl Ways {
    fn of(graph: &SdfGraph, members: &[NodeId], inner: &dyn Fn(&ChannelId) -> bool) -> Ways {
        let mut next = vec![Vec::new(); graph.nodes.len()];
        for v in members {
            let outputs = graph.node(*v).outputs.iter().filter(|c| inner(c));
            next[v.index()] = outputs.map(|c| graph.channel(*c).to.0).collect();
        }
        Ways { next, member: vec![0; graph.nodes.len()], seen: vec![0; members.len()], search: 0 }
    }

    /// Does a way lead out of a set of nodes and back into it? A way that comes to a group goes on from all its members.
    fn leave(&mut self, set: &[NodeId], (groups, group_of): (&[Vec<NodeId>], &[usize])) -> bool {
        let Ways { next, member, seen, search } = self;
        *search += 1;
        set.iter().for_each(|v| member[v.index()] = *search);
        let mut open: Vec<usize> = Vec::new();
        let mut come = |v: &NodeId, open: &mut Vec<usize>| {
            let g = group_of[v.index()];
            if seen[g] != *search {
                seen[g] = *search;
                open.push(g);
            }
        };
        for w in set.iter().flat_map(|v| &next[v.index()]).filter(|w| member[w.index()] != *search) {
            come(w, &mut open);
        }
        while let Some(g) = open.pop() {
            for w in groups[g].iter().flat_map(|v| &next[v.index()]) {
                if member[w.index()] == *search {
                    return true;
                }
                come(w, &mut open);
            }
        }
        false
    }
}

/// By node, its place in an order in which each comes after those that give it items; those of loops come as they are.
pub(super) fn topological(graph: &SdfGraph) -> Vec<usize> {
    let mut waits: Vec<usize> = graph.nodes.iter().map(|n| n.inputs.len()).collect();
    let mut open: Vec<NodeId> = graph.node_ids().filter(|v| waits[v.index()] == 0).collect();
    let mut place = vec![usize::MAX; graph.nodes.len()];
    let mut next = 0;
    while let Some(v) = open.pop() {
        place[v.index()] = next;
        next += 1;
        for c in &graph.node(v).outputs {
            let to = graph.channel(*c).to.0;
            waits[to.index()] -= 1;
            if waits[to.index()] == 0 {
                open.push(to);
            }
        }
    }
    place
}

/// Each group after those that it takes items from.
fn in_order(graph: &SdfGraph, groups: Vec<Group>, inner: &dyn Fn(&ChannelId) -> bool) -> Vec<Group> {
    let of: BTreeMap<NodeId, usize> =
        groups.iter().enumerate().flat_map(|(i, g)| g.members.iter().map(move |(v, _)| (*v, i))).collect();
    let mut waits: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); groups.len()];
    for (i, g) in groups.iter().enumerate() {
        for (v, _) in &g.members {
            for c in graph.node(*v).inputs.iter().filter(|c| inner(c)) {
                let from = of[&graph.channel(*c).from.0];
                if from != i {
                    waits[i].insert(from);
                }
            }
        }
    }
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    waits.iter().enumerate().for_each(|(i, from)| from.iter().for_each(|g| next[*g].push(i)));
    let mut waits: Vec<usize> = waits.iter().map(BTreeSet::len).collect();
    // of those that wait for nothing, the first
    let mut ready: BTreeSet<usize> = (0..groups.len()).filter(|i| waits[*i] == 0).collect();
    let mut order: Vec<usize> = Vec::new();
    while let Some(i) = ready.pop_first() {
        order.push(i);
        for g in &next[i] {
            waits[*g] -= 1;
            if waits[*g] == 0 {
                ready.insert(*g);
            }
        }
    }
    let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    order.into_iter().filter_map(|i| groups[i].take()).collect()
}
