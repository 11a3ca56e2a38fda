//! Which streams become one filter: from the leaves of the hierarchy up, the cheapest way to do each stream.
//!
//! A stream's *whole* is its map, where it has one. The children of a pipeline are cut into runs by dynamic programming: best(j) = min over i of best(i) + cost of children i..j
//! as one filter, where a single child may stay as it is. A splitjoin is one filter, or its children each at their best with splitter and joiner between them. Costs are those of
//! a steady state. What is in feedback loops stays as it is: a filter that waits for more items at once than the ones it is made of could wait for itself; and so does what would
//! give its items later than the program does ([`super::map::Map::steps`]).

use super::choose::{self, MOVED, Mode, Way};
use super::extract::Why;
use super::map::{Budget, Map, Row, Steps, TooLarge};
use sluice_frontend::Elaborated;
use sluice_frontend::graph::{HierNode, NodeKind, SdfGraph};
use sluice_frontend::ids::{CodeId, HierId, NodeId};
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::ty::Ty;
use sluice_grammar::ast::StreamKind;
use std::rc::Rc;

/// Children of a pipeline that may become one filter together, at most, unless they are all of it.
const LONGEST: usize = 16;
/// Multiplications and additions that combining may take in a program.
const WORK: u64 = 1 << 26;
/// What replaces streams must cost so much less.
const WORTHWHILE: f64 = 0.95;

/// Streams that become one filter.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The streams: one, or children of a pipeline that follow one another.
    pub streams: Vec<HierId>,
    /// Their nodes: from this one to that, in program order.
    pub nodes: (NodeId, NodeId),
    /// What the filter does.
    pub steps: Rc<Steps>,
    /// How.
    pub way: Way,
    /// Estimated nanoseconds of a steady state, before and after.
    pub costs: (f64, f64),
}

impl Piece {
    /// Streams that become one filter whose items are the same to the last bit: there is no way to choose.
    pub(super) fn exact(streams: Vec<HierId>, nodes: (NodeId, NodeId)) -> Piece {
        let steps = Steps { first: None, rows: Vec::new(), pop: 1, peek: 0 };
        Piece { streams, nodes, steps: Rc::new(steps), way: Way { log2: None, cost: 0.0 }, costs: (0.0, 0.0) }
    }
}

/// Is nothing seen of a program's firings but their items and prints: are there no messages and no dynamic rates?
pub fn plain(program: &Elaborated) -> bool {
    program.messages.links.is_empty()
        && program.portals.is_empty()
        && program.steady.precedences.is_empty()
        && program.steady.islands.is_none()
}

/// The best way to do a stream.
#[derive(Clone, Default)]
struct Best {
    whole: Option<Rc<Map>>,
    cost: f64,
    pieces: Vec<Piece>,
}

/// What is asked of.
pub struct Streams<'a> {
    /// The graph.
    pub graph: &'a SdfGraph,
    /// Its steady state.
    pub steady: &'a SteadyState,
    /// By code.
    pub maps: &'a [Result<Rc<Map>, Why>],
    /// How things are computed.
    pub mode: Mode,
    /// Steady states that run at once, about.
    pub batch: u64,
}

/// Products of a block of items that is computed as a whole, as part of those of its streams: these share sums, which the whole has each for itself.
const FEWER: f64 = 0.75;

/// Products and sums of rows that do more than move an item.
fn products(rows: &[Row]) -> f64 {
    let moves =
        |r: &&Row| r.plus == 0.0 && r.taps.iter().filter(|t| **t != 0.0).all(|t| *t == 1.0) && r.taps.len() <= 1;
    let taps = |r: &Row| r.taps.iter().filter(|t| **t != 0.0).count() as f64;
    rows.iter().filter(|r| !moves(r)).map(taps).sum()
}

/// The streams of a program that become one filter each.
pub fn pieces(s: &Streams<'_>) -> Vec<Piece> {
    let all = &s.graph.hierarchy;
    let mut within_loop = vec![false; all.len()];
    let mut ranges: Vec<Option<(NodeId, NodeId)>> = Vec::with_capacity(all.len());
    for (i, h) in all.iter().enumerate() {
        let outer = h.parent.is_some_and(|p| within_loop[p.index()]);
        within_loop[i] = outer || h.kind == StreamKind::FeedbackLoop;
        ranges.push(own_range(s.graph, h));
    }
    // children come after their parents
    for i in (1..all.len()).rev() {
        let Some(parent) = all[i].parent else { continue };
        if let Some((a, b)) = ranges[i] {
            let to = &mut ranges[parent.index()];
            *to = Some(to.map_or((a, b), |(c, d)| (a.min(c), b.max(d))));
        }
    }
    let mut budget = Budget(WORK);
    let mut best: Vec<Best> = vec![Best::default(); all.len()];
    for i in (0..all.len()).rev() {
        if within_loop[i] {
            continue;
        }
        let children = all[i].children.iter().map(|c| std::mem::take(&mut best[c.index()])).collect();
        let at = At { s, ranges: &ranges };
        best[i] = match all[i].kind {
            StreamKind::Filter => at.filter(HierId::from(i)),
            StreamKind::Pipeline => at.pipeline(HierId::from(i), children, &mut budget),
            StreamKind::SplitJoin => at.splitjoin(HierId::from(i), children, &mut budget),
            StreamKind::FeedbackLoop => Best::default(),
        };
    }
    best.into_iter().next().map_or(Vec::new(), |b| b.pieces)
}

/// The nodes of a stream itself, without the program's ends.
fn own_range(graph: &SdfGraph, h: &HierNode) -> Option<(NodeId, NodeId)> {
    let mut own = h.nodes.iter().copied().filter(|v| !is_end(graph, *v));
    let first = own.next()?;
    Some((first, own.next_back().unwrap_or(first)))
}

fn is_end(graph: &SdfGraph, v: NodeId) -> bool {
    matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_))
}

/// The code of a filter that may be looked at: one that does nothing but take and give items.
pub fn plain_code(kind: &NodeKind) -> Option<CodeId> {
    match kind {
        NodeKind::Filter { code, prework: None, stateful: false, prints: false, dynamic: false, .. } => Some(*code),
        _ => None,
    }
}

struct At<'a> {
    s: &'a Streams<'a>,
    ranges: &'a [Option<(NodeId, NodeId)>],
}

impl At<'_> {
    /// Items that come to a node in a steady state.
    fn items(&self, v: NodeId) -> u64 {
        let input = self.s.graph.node(v).inputs.first();
        let taken = input.map_or(0, |c| u64::from(self.s.graph.channel(*c).consume));
        self.s.steady.repetitions[v.index()].saturating_mul(taken)
    }

    fn ty(&self, v: NodeId, inward: bool) -> Option<&Ty> {
        let node = self.s.graph.node(v);
        let c = if inward { node.inputs.first() } else { node.outputs.first() };
        c.map(|c| &self.s.graph.channel(*c).ty)
    }

    /// A map as one filter in place of streams.
    fn piece(&self, streams: &[HierId], map: &Map, before: f64) -> Option<Piece> {
        let (first, last) = (self.ranges[streams.first()?.index()]?.0, self.ranges[streams.last()?.index()]?.1);
        let (input, output) = (self.ty(first, true)?, self.ty(last, false)?);
        let steps = map.steps()?;
        let items = self.items(first);
        if items == 0 || !items.is_multiple_of(steps.pop) {
            return None;
        }
        let firings = items / steps.pop;
        let float = *input == Ty::Float && *output == Ty::Float;
        let fits = |x: f64| (x as f32).is_finite() || *input == Ty::Double || *output == Ty::Double;
        let all = steps.rows.iter().chain(steps.first.iter().flat_map(|(rows, _)| rows));
        if !all.flat_map(|r| r.taps.iter().chain([&r.plus])).all(|x| fits(*x)) {
            return None;
        }
        let way = choose::choose(&steps, self.s.mode, firings.saturating_mul(self.s.batch), float);
        let after = way.cost * firings as f64;
        Some(Piece {
            streams: streams.to_vec(),
            nodes: (first, last),
            steps: Rc::new(steps),
            way,
            costs: (before, after),
        })
    }

    fn filter(&self, h: HierId) -> Best {
        let Some((v, _)) = self.ranges[h.index()] else { return Best::default() };
        let node = self.s.graph.node(v);
        let whole = match &node.kind {
            NodeKind::Identity if matches!(self.ty(v, true), Some(Ty::Float | Ty::Double)) => {
                return Best {
                    whole: Some(Rc::new(Map::identity())),
                    cost: MOVED * self.items(v) as f64,
                    pieces: Vec::new(),
                };
            }
            kind => plain_code(kind).and_then(|c| self.s.maps[c.index()].clone().ok()),
        };
        let Some(map) = &whole else { return Best::default() };
        // as it stands it costs what its map costs item by item
        let Some(steps) = map.steps() else { return Best { whole, ..Best::default() } };
        let cost = choose::direct(&steps) * self.items(v) as f64 / map.pop as f64;
        let piece = self.piece(&[h], map, cost).filter(|p| p.way.log2.is_some());
        match piece {
            Some(p) if self.better(&p) => Best { whole, cost: p.costs.1, pieces: vec![p] },
            _ => Best { whole, cost, pieces: Vec::new() },
        }
    }

    /// Is a piece worth its while? (Whoever asks for the frequency domain gets it.)
    fn better(&self, p: &Piece) -> bool {
        let fast = p.costs.1 < p.costs.0 * WORTHWHILE;
        let wanted = matches!(self.s.mode, Mode::Direct | Mode::Frequency);
        let fewer = p.way.log2.is_some() || wanted || self.takes_fewer(p);
        self.s.mode == Mode::Frequency && p.way.log2.is_some() || fast && fewer
    }

    /// Has a piece no more products, item by item, than what it is made of? Streams that are left as they are become one loop in other ways, too
    /// ([`crate::fuse`]), and then nothing is gained that items need not be moved: a fast transform stays one. Items that are only moved are no products.
    fn takes_fewer(&self, p: &Piece) -> bool {
        let (first, last) = p.nodes;
        let after = products(&p.steps.rows) * self.items(first) as f64 / p.steps.pop as f64;
        let within = self.s.graph.node_ids().filter(|v| *v >= first && *v <= last);
        let before: f64 = within
            .filter_map(|v| {
                let map = self.s.maps[plain_code(&self.s.graph.node(v).kind)?.index()].as_ref().ok()?;
                Some(products(&map.steps()?.rows) * self.items(v) as f64 / map.pop as f64)
            })
            .sum();
        // what only moves items is no work where it stands
        after > 0.0 && after <= before * if p.steps.rows.len() > 1 { FEWER } else { 1.0 }
    }

    fn pipeline(&self, h: HierId, children: Vec<Best>, budget: &mut Budget) -> Best {
        let hier = &self.s.graph.hierarchy[h.index()];
        let n = children.len();
        // by child: the best way to do all before it, and where its last run begins
        let mut best: Vec<(f64, Option<Piece>, usize)> = vec![(0.0, None, 0)];
        best.extend((0..n).map(|_| (f64::INFINITY, None, 0)));
        let mut whole = None;
        for i in 0..n {
            let so_far = best[i].0;
            if so_far + children[i].cost < best[i + 1].0 {
                best[i + 1] = (so_far + children[i].cost, None, i);
            }
            let Some(mut run) = children[i].whole.clone() else { continue };
            let mut kept = children[i].cost;
            for j in i + 1..n {
                let Some(next) = &children[j].whole else { break };
                // the whole is wanted, too
                if i > 0 && j - i >= LONGEST {
                    break;
                }
                let Ok(both) = run.then(next, budget) else { break };
                run = Rc::new(both);
                kept += children[j].cost;
                if let Some(p) = self.piece(&hier.children[i..=j], &run, kept)
                    && (self.better(&p) && so_far + p.costs.1 < best[j + 1].0)
                {
                    best[j + 1] = (so_far + p.costs.1, Some(p), i);
                }
                if i == 0 && j + 1 == n {
                    whole = Some(run.clone());
                }
            }
            if n == 1 {
                whole = Some(run);
            }
        }
        // ends of the program among the nodes of a pipeline stand around its children
        if hier.nodes.iter().any(|v| !is_end(self.s.graph, *v)) {
            whole = None;
        }
        let (mut pieces, mut at, cost) = (Vec::new(), n, best[n].0);
        while at > 0 {
            let (_, piece, from) = best[at].clone();
            match piece {
                Some(p) => pieces.push(p),
                None => pieces.extend(children[from].pieces.iter().rev().cloned()),
            }
            at = from;
        }
        pieces.reverse();
        Best { whole, cost, pieces }
    }

    fn splitjoin(&self, h: HierId, children: Vec<Best>, budget: &mut Budget) -> Best {
        let mut cost: f64 = children.iter().map(|c| c.cost).sum();
        let all = children.iter().map(|c| c.whole.clone()).collect::<Option<Vec<_>>>();
        let mut whole = None;
        if let Some((split, join)) = self.ranges[h.index()] {
            let graph = self.s.graph;
            let moved = |v: NodeId| {
                let node = graph.node(v);
                let each = node
                    .inputs
                    .iter()
                    .map(|c| u64::from(graph.channel(*c).consume))
                    .sum::<u64>()
                    .max(node.outputs.iter().map(|c| u64::from(graph.channel(*c).produce)).sum());
                each.saturating_mul(self.s.steady.repetitions[v.index()]) as f64 * MOVED
            };
            cost += moved(split) + moved(join);
            if let Some(all) = all {
                whole = self.side_by_side(h, (split, join), &all, budget).and_then(Result::ok).map(Rc::new);
            }
        }
        if let Some(map) = &whole
            && let Some(p) = self.piece(&[h], map, cost).filter(|p| self.better(p))
        {
            return Best { whole, cost: p.costs.1, pieces: vec![p] };
        }
        Best { whole, cost, pieces: children.into_iter().flat_map(|c| c.pieces).collect() }
    }

    /// The map of a splitjoin; `None` where it is not one of maps.
    fn side_by_side(
        &self,
        h: HierId,
        (split, join): (NodeId, NodeId),
        children: &[Rc<Map>],
        budget: &mut Budget,
    ) -> Option<Result<Map, TooLarge>> {
        let graph = self.s.graph;
        let hier = &graph.hierarchy[h.index()];
        let (first, last) = (graph.node(split), graph.node(join));
        let NodeKind::JoinRoundRobin(gathered) = &last.kind else { return None };
        let n = hier.children.len();
        if n == 0 || gathered.len() != n || first.outputs.len() != n || gathered.contains(&0) {
            return None;
        }
        if !matches!(self.ty(split, true)?, Ty::Float | Ty::Double) {
            return None;
        }
        let mut branches = Vec::with_capacity(n);
        for (port, (child, map)) in hier.children.iter().zip(children).enumerate() {
            let (a, b) = self.ranges[child.index()]?;
            let stands = graph.channel(first.outputs[port]).to.0 == a && graph.channel(last.inputs[port]).from.0 == b;
            let whole = match &first.kind {
                NodeKind::Duplicate => Ok(map.clone()),
                NodeKind::SplitRoundRobin(dealt) if dealt[port] > 0 => {
                    Map::port(dealt, port).and_then(|p| p.then(map, budget)).map(Rc::new)
                }
                _ => return None,
            };
            match whole {
                Ok(map) if stands => branches.push(map),
                Ok(_) => return None,
                Err(e) => return Some(Err(e)),
            }
        }
        Some(Map::join(&branches, gathered, budget))
    }
}
