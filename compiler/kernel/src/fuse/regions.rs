//! Which nodes become one kernel.
//!
//! A *region* is a set of nodes with one channel in and one out, at most: a stream, or children of a pipeline that follow one another. Nothing stays on the
//! channels within it from one steady state to the next, but in a feedback loop that is a part of it ([`carried`]). In another feedback loop, its first node fires once in a firing of it: a region that waited for more could wait for itself. Its filters are of one mind: those whose firings go side by side in lanes, or those whose firings
//! follow one another; what is too light to matter goes with either. Branches that are a bundle ([`bundle`]) count as one of them. A long chain of filters that follow one another is
//! cut into links ([`Finder::links`]).

use super::{Rules, bundle, carried, view};
use crate::cost;
use crate::ir::*;
use crate::passes::{held, lanes, unroll, waves};
use crate::walk;
use sluice_frontend::components::components;
use sluice_frontend::graph::{Node, NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, HierId, NodeId};
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::steady_state::gcd;
use sluice_frontend::ty::Ty;
use sluice_grammar::ast::StreamKind;
use std::collections::{BTreeMap, BTreeSet};

/// Statements and operations of a region's firing with all loops written out, at most.
const WRITTEN_OUT: u64 = 7000;
/// The same with loops as they are, for regions that need not be written out.
const MOST: u64 = 3000;
/// A filter whose firings follow one another and cost more cycles than this is left alone: what it would gain is nothing beside it.
const HEAVY: u64 = 4000;

/// Words that a firing of a region in lanes takes and gives, at most, where it holds several firings of a filter and nothing but filters: beyond that, a vector of firings of
/// the whole has its items farther away than vectors of the filter's own firings. Splitters and joiners that vanish are worth that.
const NEAR: u64 = 256;

/// Items that a splitter deals out at once, from which on branches without state are better off by themselves.
const BLOCK: u32 = 64;

/// Items that may wait behind a duplicate splitter.
const FARTHEST: u64 = 1 << 16;

/// Filters that follow one another in a link of a chain, statements and operations of it, and the filters of its last link, at least ([`Finder::links`]). A processor works at
/// as many recurrences at once as it sees ahead: a firing of 8 to 11 low-passes costs 0.5 ns for each of them, one of 4 costs 0.7, one of 32 costs 1.2, one of 500 costs 2.4.
const LINK: usize = 8;
const LINK_SIZE: u64 = 300;
const LAST: usize = 4;

/// How a node's firings go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Side by side, worth the lanes.
    Lanes,
    /// As one likes.
    Light,
    /// One after the other.
    Serial,
    /// The same, with arrays in vector registers all the time ([`held`]): what comes to them and goes from them may be in the same loops.
    Held,
}

impl Kind {
    fn with(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (Kind::Light, k) | (k, Kind::Light) => Some(k),
            (Kind::Held, Kind::Lanes) | (Kind::Lanes, Kind::Held) => Some(Kind::Held),
            (Kind::Held, Kind::Held) => None,
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// Nodes that may be a region, or a part of one.
#[derive(Clone, Debug)]
struct Part {
    nodes: Vec<NodeId>,
    kind: Kind,
    filters: usize,
    /// The most firings of one of its filters in a steady state.
    most: u64,
    /// Its firings in a steady state.
    rate: u64,
    /// Statements and operations: with loops as they are, and written out in all of a steady state.
    size: u64,
    written_out: u64,
    /// Is there something to prove, which may need all indices to be known?
    checks: bool,
    /// Has one of its filters state?
    stateful: bool,
    /// Do its items come as vectors: from a bundle, through a joiner at most?
    vectors: bool,
    /// Is it a filter whose firings would go in lanes behind such a part?
    lifts: bool,
    /// Has it such a filter, behind such a part?
    lifted: bool,
    /// Where it is nothing but filters that can be in bundles, one after another: their classes, and how often each fires.
    chain: Option<Vec<(usize, u64)>>,
    /// Where it is nothing but branches that are one stream ([`Finder::one_stream`]): these.
    streams: Vec<Part>,
}

impl Part {
    fn with(&self, other: &Part) -> Option<Part> {
        Part::of(&[self, other])
    }

    /// All of them, where they are one part.
    fn of(parts: &[&Part]) -> Option<Part> {
        let kind = parts.iter().try_fold(Kind::Light, |kind, p| kind.with(p.kind))?;
        let chain: Option<Vec<_>> = parts.iter().map(|p| p.chain.as_deref()).collect();
        let all = Part {
            nodes: parts.iter().flat_map(|p| &p.nodes).copied().collect(),
            kind,
            filters: parts.iter().map(|p| p.filters).sum(),
            most: parts.iter().map(|p| p.most).max()?,
            rate: parts.iter().fold(0, |rate, p| gcd(rate, p.rate)),
            size: parts.iter().map(|p| p.size).sum(),
            written_out: parts.iter().fold(0, |sum, p| sum.saturating_add(p.written_out)),
            checks: parts.iter().any(|p| p.checks),
            stateful: parts.iter().any(|p| p.stateful),
            vectors: parts.last()?.vectors,
            lifts: matches!(parts, [one] if one.lifts),
            lifted: parts.iter().any(|p| p.lifted),
            chain: chain.map(|c| c.concat()),
            streams: Vec::new(),
        };
        let fits = all.written_out / all.rate.max(1) <= WRITTEN_OUT || all.size <= MOST && !all.checks;
        fits.then_some(all)
    }
}

/// What is known of a filter.
#[derive(Clone, Copy, Debug)]
struct Filter {
    kind: Kind,
    size: u64,
    written_out: u64,
    checks: bool,
    /// Would its firings go in lanes if its items came as vectors?
    lifts: bool,
}

/// Nodes that become one kernel.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// In program order.
    pub(super) nodes: Vec<NodeId>,
    /// Is it in lanes because its items come as vectors?
    pub(super) lifted: bool,
    /// Has one of its filters its arrays in registers, and should the whole have them there?
    pub(super) held: bool,
    /// Channels within it on which something stays, of feedback loops.
    pub(super) carried: BTreeSet<ChannelId>,
}

/// What was hoped of nodes, and did not come true.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    /// By node: the firings of those with something to prove follow one another.
    pub(super) serial: Vec<bool>,
    /// By node: it is in no bundle.
    pub(super) apart: Vec<bool>,
    /// By node: feedback loops with it are in no region.
    pub(super) looped: Vec<bool>,
    /// By node: no region with it has its arrays in registers.
    pub(super) held: Vec<bool>,
}

/// The regions of a program, each in program order, which is a topological one. `classes`: by code, [`bundle::classes`].
pub(super) fn regions(
    graph: &SdfGraph,
    steady: &SteadyState,
    (kernels, classes): (&[Kernel], &[Option<usize>]),
    rules: Rules<'_>,
    lost: &Lost,
) -> Vec<Group> {
    let kinds = kernels.iter().map(|k| [false, true].map(|serial| kind(k, rules.may_fail, serial))).collect();
    let mut loops = vec![None; graph.nodes.len()];
    let knots: Vec<Vec<NodeId>> = components(graph).into_iter().filter(|c| c.len() > 1).collect();
    for (i, knot) in knots.iter().enumerate() {
        knot.iter().for_each(|v| loops[v.index()] = Some(i));
    }
    let (carried, found) = (BTreeSet::new(), Vec::new());
    let mut finder = Finder {
        graph,
        steady,
        rules,
        kernels,
        kinds,
        classes,
        lost,
        loops,
        knots,
        carried,
        waves: BTreeMap::new(),
        found,
    };
    // children before their parents
    let (mut order, mut open) = (Vec::new(), vec![HierId(0)]);
    if graph.hierarchy.is_empty() {
        return Vec::new();
    }
    while let Some(h) = open.pop() {
        order.push(h);
        open.extend(&graph.hierarchy[h.index()].children);
    }
    let mut parts: Vec<Option<Part>> = vec![None; graph.hierarchy.len()];
    for h in order.into_iter().rev() {
        let whole = finder.stream(h, &mut parts);
        parts[h.index()] = whole;
    }
    if let Some(part) = parts[0].take() {
        finder.keep(part);
    }
    finder.found
}

/// How a filter's firings go, and how large it is; `None` where it stays alone.
fn kind(kernel: &Kernel, may_fail: bool, serial: bool) -> Option<Filter> {
    let work = kernel.function(kernel.work.function);
    let mut checks = false;
    // as a part of something else, streams side by side would be loops again
    let mut alone = kernel.work.dynamic.is_some()
        || !kernel.handlers.is_empty()
        || kernel.uses_iter()
        || lanes::has_strands(kernel);
    walk::each_stmt(&work.body, &mut |s| {
        alone |= match &s.kind {
            StmtKind::Call { .. } | StmtKind::Print(_) | StmtKind::PrintText(_) | StmtKind::Send(_) => true,
            StmtKind::Check(_) => {
                checks = true;
                !may_fail
            }
            _ => false,
        };
    });
    let items = kernel.work.rates.pop.max(kernel.work.rates.push);
    if alone || items > 1 << 14 {
        return None;
    }
    let cycles = cost::firing(kernel).cycles();
    let kind = match () {
        () if lanes::fills_vectors(kernel) => Kind::Lanes,
        // what has to be proved may be, where it is known whose items they are
        () if lanes::possible(kernel, !serial) => Kind::Light,
        () if cycles > HEAVY => return None,
        () if held::held(kernel).is_some() => Kind::Held,
        () => Kind::Serial,
    };
    Some(Filter {
        kind,
        size: unroll::size(&work.body) as u64,
        written_out: unroll::written_out_size(&work.body),
        checks,
        lifts: kind == Kind::Light && kernel.work.rates.pop > 1 && lanes::pays_behind_vectors(kernel),
    })
}

struct Finder<'a> {
    graph: &'a SdfGraph,
    steady: &'a SteadyState,
    rules: Rules<'a>,
    kernels: &'a [Kernel],
    /// By code: where there is hope to prove what has to be, and where not.
    kinds: Vec<[Option<Filter>; 2]>,
    /// By code: which filters it can be in a bundle with.
    classes: &'a [Option<usize>],
    lost: &'a Lost,
    /// By node: the feedback loops that it is in, of `knots`.
    loops: Vec<Option<usize>>,
    /// Nodes that feedback loops tie together.
    knots: Vec<Vec<NodeId>>,
    /// Channels of feedback loops that are parts.
    carried: BTreeSet<ChannelId>,
    /// By filters that can be in a bundle, and how many of them: would they go in a wave, one after another?
    waves: BTreeMap<(usize, usize), bool>,
    found: Vec<Group>,
}

impl Finder<'_> {
    /// A node as a part.
    fn node(&self, v: NodeId) -> Option<Part> {
        let node = self.graph.node(v);
        let apart = self.rules.parts.is_some_and(|parts| parts[v.index()].is_none());
        if self.steady.repetitions[v.index()] == 0 || apart {
            return None;
        }
        let rate = self.steady.repetitions[v.index()];
        let mover = Filter { kind: Kind::Light, size: 2, written_out: 2, checks: false, lifts: false };
        let (mut chain, mut state) = (None, false);
        let (filter, filters) = match &node.kind {
            NodeKind::Filter { code, prints: false, dynamic: false, stateful, .. } => {
                let class = self.classes[code.index()].filter(|_| !self.lost.apart[v.index()]);
                state = *stateful;
                chain = class.map(|class| vec![(class, rate)]);
                (self.kinds.get(code.index())?[usize::from(self.lost.serial[v.index()])]?, 1)
            }
            NodeKind::Identity | NodeKind::Duplicate => (mover, 0),
            NodeKind::SplitRoundRobin(w) if w.len() == node.outputs.len() && node.inputs.len() == 1 => (mover, 0),
            NodeKind::JoinRoundRobin(w) if w.len() == node.inputs.len() && node.outputs.len() == 1 => (mover, 0),
            _ => return None,
        };
        let Filter { kind, size, written_out, checks, lifts } = filter;
        let kind = if kind == Kind::Held && self.lost.held[v.index()] { Kind::Serial } else { kind };
        let most = if filters > 0 { rate } else { 0 };
        Some(Part {
            nodes: vec![v],
            kind,
            filters,
            most,
            rate,
            size,
            written_out: written_out.saturating_mul(rate),
            checks,
            stateful: state,
            vectors: false,
            // in a loop, few firings follow one another
            lifts: lifts && self.loops[v.index()].is_none(),
            lifted: false,
            chain,
            streams: Vec::new(),
        })
    }

    /// Is a channel empty between steady states, and taken as it is?
    fn passes(&self, c: ChannelId) -> bool {
        let channel = self.graph.channel(c);
        self.steady.boundary_fill[c.index()] == 0
            && channel.peek <= channel.consume
            && !channel.dynamic
            && !channel.feedback
    }

    /// Is what waits on a channel the region's input once more?
    fn repeats(&self, set: &BTreeSet<NodeId>, c: ChannelId) -> bool {
        let channel = self.graph.channel(c);
        let plain = self.rules.histories && !channel.dynamic && !channel.feedback && channel.initial.is_empty();
        plain
            && view::behind(self.graph, &self.steady.boundary_fill, &|v| set.contains(&v), c)
                .is_some_and(|n| n <= FARTHEST)
    }

    /// Is a channel one of a feedback loop that is a part, and can a region that fires so often carry it?
    fn carries(&self, c: ChannelId, rate: u64) -> bool {
        self.carried.contains(&c) && carried::may_be(self.graph, self.steady, c, rate)
    }

    /// Is a node in a feedback loop that goes beyond these nodes?
    fn waits(&self, set: &BTreeSet<NodeId>, v: NodeId) -> bool {
        self.loops[v.index()].is_some_and(|i| !self.knots[i].iter().all(|v| set.contains(v)))
    }

    /// A feedback loop as a part, of its own nodes and its streams.
    fn feedback(&mut self, own: &[Part], children: &[Part]) -> Option<Part> {
        // one firing after another, whatever its filters could do elsewhere
        let parts: Vec<Part> = own.iter().chain(children).map(|p| Part { kind: Kind::Serial, ..p.clone() }).collect();
        let whole = Part::of(&parts.iter().collect::<Vec<_>>())?;
        let whole = Part { chain: None, vectors: false, lifts: false, ..whole };
        let set: BTreeSet<NodeId> = whole.nodes.iter().copied().collect();
        if !self.rules.loops || whole.nodes.iter().any(|v| self.lost.looped[v.index()]) {
            return None;
        }
        let waiting = carried::waiting(self.graph, self.steady, &set);
        let turns = carried::turns(self.graph, self.steady, &waiting, whole.rate);
        let lanes = children.iter().any(|p| p.kind == Kind::Lanes);
        let looks = |c: &ChannelId| self.graph.channel(*c).peek > self.graph.channel(*c).consume;
        if turns >= carried::most_turns(lanes, whole.stateful, waiting.iter().any(looks)) {
            return None;
        }
        let new: Vec<ChannelId> = waiting.into_iter().filter(|c| self.carried.insert(*c)).collect();
        if self.closed(&whole) {
            return Some(whole);
        }
        new.iter().for_each(|c| {
            self.carried.remove(c);
        });
        None
    }

    /// Is this one channel in and one out, at most, and do all others pass?
    fn closed(&self, part: &Part) -> bool {
        let set: BTreeSet<NodeId> = part.nodes.iter().copied().collect();
        let (mut ins, mut outs, mut words) = (0, 0, 0u64);
        let of = |c: ChannelId, v: NodeId, each: u32| {
            let width = if self.graph.channel(c).ty == Ty::Complex { 2 } else { 1 };
            (self.steady.repetitions[v.index()] / part.rate).saturating_mul(each.into()).saturating_mul(width)
        };
        if let Some(parts) = self.rules.parts
            && part.nodes.iter().any(|v| parts[v.index()] != parts[part.nodes[0].index()])
        {
            return false;
        }
        for v in &part.nodes {
            let node = self.graph.node(*v);
            for c in &node.inputs {
                match set.contains(&self.graph.channel(*c).from.0) {
                    true if !self.passes(*c) && !self.repeats(&set, *c) && !self.carries(*c, part.rate) => {
                        return false;
                    }
                    true => {}
                    false if self.waits(&set, *v) && self.steady.repetitions[v.index()] != part.rate => return false,
                    false => {
                        ins += 1;
                        words = words.saturating_add(of(*c, *v, self.graph.channel(*c).consume));
                    }
                }
            }
            for c in node.outputs.iter().filter(|c| !set.contains(&self.graph.channel(**c).to.0)) {
                outs += 1;
                words = words.saturating_add(of(*c, *v, self.graph.channel(*c).produce));
            }
        }
        let chain = part.kind == Kind::Lanes && part.filters == part.nodes.len();
        let far = chain && part.rate < part.most && words > NEAR;
        ins <= 1 && outs <= 1 && !far
    }

    fn keep(&mut self, mut part: Part) {
        // they are better off as firings of one filter (codegen's `alike`), but where others become one with them
        if !part.streams.is_empty() {
            part.streams.into_iter().for_each(|p| self.keep(p));
            return;
        }
        let (lifted, held) = (part.lifted, part.kind == Kind::Held);
        if part.filters > 0 && (part.nodes.len() > 1 || lifted) {
            part.nodes.sort();
            let links = self.links(&part).unwrap_or_else(|| vec![part.nodes]);
            let links = links.into_iter().filter(|l| l.len() > 1 || lifted);
            for nodes in links {
                let set = nodes.iter().copied().collect();
                let waiting = carried::waiting(self.graph, self.steady, &set);
                let carried = waiting.into_iter().filter(|c| self.carried.contains(c)).collect();
                self.found.push(Group { nodes, lifted, held, carried });
            }
        }
    }

    /// A long chain of filters that follow one another, in links: the processor sees a few recurrences at once, and links of equal filters are one function. `None` where it is
    /// no such chain, or short. Equal filters that are lanes of a wave are in links of as many as there can be.
    fn links(&mut self, part: &Part) -> Option<Vec<Vec<NodeId>>> {
        if part.kind != Kind::Serial || part.filters < part.nodes.len() {
            return None;
        }
        let filters: Vec<Part> = part.nodes.iter().map(|v| self.node(*v)).collect::<Option<_>>()?;
        let serial = |link: &[Part]| link.iter().filter(|p| p.kind == Kind::Serial).count();
        let size = |link: &[Part]| link.iter().map(|p| p.size).sum::<u64>();
        let (mut links, mut rest) = (Vec::<&[Part]>::new(), &filters[..]);
        while !rest.is_empty() {
            let full = |n: &usize| serial(&rest[..*n]) > LINK || size(&rest[..*n]) > LINK_SIZE;
            let n = match self.in_a_wave(rest) {
                Some(n) => n,
                None => (2..=rest.len()).find(full).map_or(rest.len(), |n| n - 1),
            };
            let few = serial(rest) < LAST && size(rest) <= LINK_SIZE / 2;
            match links.last_mut() {
                Some(last) if n == rest.len() && few => *last = &filters[filters.len() - n - last.len()..],
                _ => links.push(&rest[..n]),
            }
            rest = &rest[n..];
        }
        let closed = |link: &&[Part]| Part::of(&link.iter().collect::<Vec<_>>()).is_some_and(|p| self.closed(&p));
        let good = links.len() > 1 && links.iter().all(closed);
        good.then(|| links.iter().map(|link| link.iter().flat_map(|p| &p.nodes).copied().collect()).collect())
    }

    /// How many of the next filters are a link that goes in a wave.
    fn in_a_wave(&mut self, rest: &[Part]) -> Option<usize> {
        let first = rest[0].chain.as_ref()?;
        let [(class, _)] = first[..] else { return None };
        let same = rest.iter().take_while(|p| p.chain.as_ref() == Some(first));
        let run = same.take(waves::MOST + LINK).count();
        let NodeKind::Filter { code, .. } = &self.graph.node(rest[0].nodes[0]).kind else { return None };
        let (kernel, most) = (&self.kernels[code.index()], run.min(waves::MOST));
        let pays = || waves::may_be(kernel, most);
        if run <= LINK || !*self.waves.entry((class, most)).or_insert_with(pays) {
            return None;
        }
        // what is left is a wave, too
        let left = run.saturating_sub(waves::MOST);
        Some(if (1..LINK).contains(&left) { run - LINK } else { run - left })
    }

    /// Branches of a splitter as they are in a region: of those that are a bundle, one is written out. And are all of them one?
    fn branches(&self, mut branches: Vec<Part>) -> (Vec<Part>, bool) {
        let mut equal: BTreeMap<Vec<(usize, u64)>, Vec<usize>> = BTreeMap::new();
        for (i, b) in branches.iter().enumerate() {
            if let (Some(chain), true) = (&b.chain, b.stateful) {
                equal.entry(chain.clone()).or_default().push(i);
            }
        }
        for others in equal.values().filter(|all| all.len() >= bundle::FEWEST).flat_map(|all| &all[1..]) {
            (branches[*others].size, branches[*others].written_out) = (0, 0);
        }
        let bundle = branches.len() >= bundle::FEWEST && equal.values().any(|all| all.len() == branches.len());
        (branches, bundle)
    }

    /// Are branches equal, without state, and dealt out blocks by a splitter for a joiner that takes them together again, so that they are one stream, block after block?
    fn one_stream(&self, own: &[NodeId], branches: &[Option<Part>]) -> bool {
        let same = |weights: &[u32], least: u32| weights.iter().all(|w| *w == weights[0] && *w >= least);
        let whole = own.iter().all(|v| match &self.graph.node(*v).kind {
            NodeKind::SplitRoundRobin(weights) => same(weights, BLOCK),
            NodeKind::JoinRoundRobin(weights) => same(weights, 1),
            NodeKind::Reader(_) | NodeKind::Writer(_) => true,
            _ => false,
        });
        let members = |p: &Part| p.nodes.iter().map(|v| self.graph.node(*v)).collect::<Vec<_>>();
        let ahead = |n: &Node| n.inputs.iter().any(|c| self.graph.channel(*c).peek > self.graph.channel(*c).consume);
        let plain = |p: &Part| !p.stateful && !members(p).into_iter().any(ahead);
        let equal = |a: &Node, b: &Node| match (&a.kind, &b.kind) {
            (NodeKind::Filter { code: a, .. }, NodeKind::Filter { code: b, .. }) => a == b,
            (a, b) => a == b,
        };
        let Some(Some(first)) = branches.first() else { return false };
        let alike = |p: &Part| {
            p.nodes.len() == first.nodes.len() && members(first).iter().zip(members(p)).all(|(a, b)| equal(a, b))
        };
        whole && branches.iter().flatten().filter(|p| plain(p) && alike(p)).count() == branches.len()
    }

    /// The part that is all of a stream, where it can be one; else, what can be of it is kept.
    fn stream(&mut self, h: HierId, parts: &mut [Option<Part>]) -> Option<Part> {
        let graph = self.graph;
        let hier = &graph.hierarchy[h.index()];
        let mut children: Vec<Option<Part>> = hier.children.iter().map(|c| parts[c.index()].take()).collect();
        // the program's ends, which the entry has among its nodes, are no part of it
        let end = |v: &&NodeId| matches!(graph.node(**v).kind, NodeKind::Reader(_) | NodeKind::Writer(_));
        let own = || hier.nodes.iter().filter(|v| !end(v));
        match hier.kind {
            StreamKind::Filter => match hier.nodes[..] {
                [v] => self.node(v),
                _ => None,
            },
            StreamKind::SplitJoin => {
                let own: Option<Vec<Part>> = own().map(|v| self.node(*v)).collect();
                let all: Option<Vec<Part>> = children.iter().cloned().collect();
                let whole = own.zip(all).and_then(|(own, all)| {
                    let (branches, vectors) = self.branches(all);
                    let whole = Part::of(&own.iter().chain(&branches).collect::<Vec<_>>())?;
                    let streams = if self.one_stream(&hier.nodes, &children) { branches } else { Vec::new() };
                    Some(Part { chain: None, vectors, streams, ..whole })
                });
                if let Some(whole) = whole.filter(|w| self.closed(w)) {
                    return Some(whole);
                }
                children.into_iter().flatten().for_each(|p| self.keep(p));
                None
            }
            StreamKind::Pipeline => {
                // nodes of its own are the program's ends
                let complete = hier.nodes.is_empty();
                let mut run: Option<Part> = None;
                let mut broken = !complete;
                for child in children.drain(..) {
                    let Some(child) = child else {
                        broken = true;
                        run.take().into_iter().for_each(|r| self.keep(r));
                        continue;
                    };
                    run = Some(match run.take() {
                        None => child,
                        Some(r) => {
                            let child = match r.vectors && child.lifts {
                                true => Part { kind: Kind::Lanes, lifted: true, ..child },
                                false => child,
                            };
                            match r.with(&child).filter(|both| self.closed(both)) {
                                Some(both) => both,
                                None => {
                                    broken = true;
                                    self.keep(r);
                                    child
                                }
                            }
                        }
                    });
                }
                let run = run?;
                if !broken {
                    return Some(run);
                }
                self.keep(run);
                None
            }
            StreamKind::FeedbackLoop => {
                let own: Option<Vec<Part>> = own().map(|v| self.node(*v)).collect();
                let all: Option<Vec<Part>> = children.iter().cloned().collect();
                if let Some(whole) = own.zip(all).and_then(|(own, all)| self.feedback(&own, &all)) {
                    return Some(whole);
                }
                children.into_iter().flatten().for_each(|p| self.keep(p));
                None
            }
        }
    }
}
