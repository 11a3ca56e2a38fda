//! # fuse
//!
//! Purpose: parts of a program as one filter each, so that what passes within them needs no buffers. Input: graph, steady state, the kernel of each filter after
//! all passes. Output: [`Fused`], the same program with regions in place of their members, and a kernel for each region. Only steady states are run so, from
//! boundary to boundary: the graph of the program, its states and what its channels hold there stay what they are.
//!
//! ```text
//! reader → A → split → (B, C) → join → D → writer   →   reader → A_to_D → writer
//! ```
//!
//! A region's firing is the firings of its members, each all of its own at once, in topological order ([`Region::members`]); that order is for a judge to check.
//! In a feedback loop, what waits on channels is a part of the region's state ([`carried`]). Splitters and joiners vanish into positions ([`view`]); what passes between filters is in arrays, and where all their indices are known, in variables.

mod body;
mod bundle;
mod carried;
mod copies;
mod movers;
mod pad;
mod regions;
mod view;

use crate::ir::*;
use crate::passes::unroll::{self, Rule};
use crate::passes::{
    clean, contract_arrays, direct_outputs, fold, held, jam, lanes, pack_bits, prove_checks, roll, scalars,
};
use crate::verify::debug_verify;
use body::Refused;
use movers::Mover;
use regions::{Group, Lost};
use sluice_frontend::graph::{Channel, Node, NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, CodeId, HierId, NodeId};
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::steady_state::gcd;
use std::collections::BTreeSet;

/// Loops of a region are written out where so much becomes of them: their indices are known then.
const WRITTEN_OUT: Rule = Rule { turns: 256, size: 16384, recurrences: false, arrays: true, around: 256, factor: 1 };
/// Firings of a member that are written out beside arrays in registers.
const FEW_FIRINGS: u64 = 16;
/// Statements and operations of all regions' kernels, at most.
const MOST: usize = 60_000;

/// A program with regions.
#[derive(Clone, Debug)]
pub struct Fused {
    /// Its graph: regions are filters.
    pub graph: SdfGraph,
    /// Its steady state. There is no initialisation: it begins at a boundary.
    pub steady: SteadyState,
    /// The kernels of the regions; that of region code k is number k minus the kernels of the program.
    pub kernels: Vec<Kernel>,
    /// The regions.
    pub regions: Vec<Region>,
    /// By node: the one it is in the program, where it is one.
    pub nodes: Vec<Option<NodeId>>,
    /// By channel: the one it is in the program.
    pub channels: Vec<ChannelId>,
    /// Inputs of regions that hold older items than their channels in the program do.
    pub histories: Vec<History>,
}

/// What an input of a region holds at a boundary: what waits in several channels of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The input.
    pub channel: ChannelId,
    /// Channels of the program, each with the place of its first item among the items of the input; the oldest is at 0.
    pub parts: Vec<(ChannelId, u64)>,
}

/// A region.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its node.
    pub node: NodeId,
    /// Its code.
    pub code: CodeId,
    /// Its members in the program, in the order in which they fire, and how often each does in a firing of the region.
    pub members: Vec<(NodeId, u64)>,
    /// By state field of the region's kernel: whose field it is.
    pub states: Vec<StateOf>,
    /// By own number of the kernel's tables ([`Table::own`]): whose table it is, and its number there.
    pub tables: Vec<(NodeId, u32)>,
}

/// Where a state field of a region comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateOf {
    /// A field of a member.
    Field(NodeId, StateId),
    /// By element: a field of a member ([`bundle`]).
    Elements(Vec<(NodeId, StateId)>),
    /// By the last index: an array of a member, whose elements are at the indices before it.
    Columns(Vec<(NodeId, StateId)>),
    /// What waits on a channel of the program, from the first element on ([`carried`]).
    Waiting(ChannelId),
}

/// What regions may be.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// May they hold filters in which something can fail: is such a steady state done again by the program as it was?
    pub may_fail: bool,
    /// By node: regions hold nodes of one part only, and none of those without.
    pub parts: Option<&'a [Option<usize>]>,
    /// May inputs hold older items than their channels do ([`History`])?
    pub histories: bool,
    /// May feedback loops be parts of regions, which have what waits on channels within as state?
    pub loops: bool,
}

/// Fuses what can be; `None` where that is nothing.
pub fn fuse(graph: &SdfGraph, steady: &SteadyState, kernels: &[Kernel], rules: Rules<'_>) -> Option<Fused> {
    if steady.islands.is_some() {
        return None;
    }
    let none = vec![false; graph.nodes.len()];
    let mut lost = Lost { serial: none.clone(), apart: none.clone(), looped: none.clone(), held: none };
    let classes = bundle::classes(kernels);
    let movers: Vec<Option<Mover>> = kernels.iter().map(movers::of).collect();
    let made = loop {
        let (mut made, mut left, mut hopes) = (Vec::new(), MOST, false);
        let mut tapes = carried::MOST_ON_TAPES;
        for group in regions::regions(graph, steady, (kernels, &classes), rules, &lost) {
            let nodes = &group.nodes;
            match make(graph, steady, (kernels, &movers), (&classes, &lost.apart), &group) {
                Ok(m) if m.kernel.tapes.iter().map(|t| t.elements()).sum::<u64>() > tapes => {
                    hopes |= lose(&mut lost.looped, nodes);
                }
                Ok(m) => {
                    tapes -= m.kernel.tapes.iter().map(|t| t.elements()).sum::<u64>();
                    let known = made.iter().any(|n: &Made| alike(&n.kernel, &m.kernel));
                    let size: usize = m.kernel.functions.iter().map(|f| unroll::size(&f.body)).sum();
                    if known {
                        made.push(m);
                    } else if size <= left {
                        left -= size;
                        made.push(m);
                    }
                }
                Err(Refused::Never) if group.held => hopes |= lose(&mut lost.held, nodes),
                Err(Refused::Never) if !group.carried.is_empty() => hopes |= lose(&mut lost.looped, nodes),
                // what was hoped to be proved and was not makes its filters serial
                Err(Refused::Never) => {
                    let checks = |v: &&NodeId| body::kernel_of(graph, kernels, **v).is_some_and(Kernel::has_checks);
                    hopes |= lose(&mut lost.serial, nodes.iter().filter(checks));
                }
                Err(Refused::Bundle(members)) => hopes |= lose(&mut lost.apart, &members),
            }
        }
        if !hopes {
            break made;
        }
    };
    (!made.is_empty()).then(|| assemble(graph, steady, kernels.len(), made))
}

/// Notes of nodes what did not come true for them. Is there one of which it was hoped until now?
fn lose<'a>(lost: &mut [bool], nodes: impl IntoIterator<Item = &'a NodeId>) -> bool {
    nodes.into_iter().filter(|v| !std::mem::replace(&mut lost[v.index()], true)).count() > 0
}

struct Made {
    members: Vec<(NodeId, u64)>,
    rate: u64,
    input: Option<ChannelId>,
    output: Option<ChannelId>,
    kernel: Kernel,
    states: Vec<StateOf>,
    tables: Vec<(NodeId, u32)>,
    ahead: u64,
}

/// A region's kernel after its passes.
fn make(
    graph: &SdfGraph,
    steady: &SteadyState,
    (kernels, movers): (&[Kernel], &[Option<Mover>]),
    bundling: (&[Option<usize>], &[bool]),
    group: &Group,
) -> Result<Made, Refused> {
    let nodes = &group.nodes;
    let rate = nodes.iter().map(|v| steady.repetitions[v.index()]).fold(0, gcd);
    let mut members: Vec<(NodeId, u64)> = nodes.iter().map(|v| (*v, steady.repetitions[v.index()] / rate)).collect();
    // what is carried has an order
    let bundles = if group.carried.is_empty() { bundle::find(graph, bundling, &mut members) } else { Vec::new() };
    let set: BTreeSet<NodeId> = nodes.iter().copied().collect();
    let outside = |inward: bool| {
        nodes.iter().find_map(|v| {
            let node = graph.node(*v);
            let (list, end): (_, fn(&Channel) -> NodeId) =
                if inward { (&node.inputs, |c| c.from.0) } else { (&node.outputs, |c| c.to.0) };
            list.iter().copied().find(|c| !set.contains(&end(graph.channel(*c))))
        })
    };
    let (input, output) = (outside(true), outside(false));
    let fill = &steady.boundary_fill;
    let body::Body { mut kernel, states, tables, ahead } =
        body::fused((graph, fill), (kernels, movers), (&members, &bundles), (input, output), &group.carried)?;
    debug_verify(&kernel, "fuse");
    let any =
        |is: fn(&Kernel) -> bool| members.iter().any(|(v, _)| body::kernel_of(graph, kernels, *v).is_some_and(is));
    // vectors that are lost cost more than buffers
    if any(lanes::is_wide) {
        return Err(Refused::Never);
    }
    for (name, pass) in if group.held { HELD } else { PASSES } {
        pass(&mut kernel);
        debug_verify(&kernel, name);
    }
    if group.held {
        held::held(&kernel).ok_or(Refused::Never)?;
    } else {
        if group.lifted && kernel.lanes.is_none() {
            lanes::run_behind_vectors(&mut kernel);
            debug_verify(&kernel, "lanes");
        }
        roll::run(&mut kernel);
        debug_verify(&kernel, "roll");
        if group.carried.is_empty() && any(lanes::fills_vectors) && !lanes::fills_vectors(&kernel) {
            return Err(Refused::Never);
        }
    }
    Ok(Made { members, rate, input, output, kernel, states, tables, ahead })
}

/// What is done to a region's kernel.
const PASSES: &[crate::passes::Pass] = &[
    ("fold", fold::run),
    ("clean", clean::run),
    ("expand", expand),
    ("scalars", scalars::run),
    ("fold", fold::run),
    ("prove-checks", prove_checks::run),
    ("clean", clean::run),
    // once more: what is known now has made room
    ("expand", expand),
    ("scalars", scalars::run),
    ("fold", fold::run),
    ("clean", clean::run),
    // what the last filter only moves is made where it goes
    ("direct-outputs", direct_outputs::run),
    ("jam", jam::run),
    ("clean", clean::run),
    ("lanes", lanes::run),
];

/// What is done to a region's kernel whose arrays should be in registers: its loops over them stay.
const HELD: &[crate::passes::Pass] = &[
    ("fold", fold::run),
    ("clean", clean::run),
    ("expand", expand_firings),
    ("contract-arrays", contract_arrays::run),
    ("clean", clean::run),
    ("pack-bits", pack_bits::own),
    ("clean", clean::run),
];

/// Few firings of a member, one after another; their own loops stay.
fn expand_firings(kernel: &mut Kernel) {
    let f = &mut kernel.functions[kernel.work.function.index()];
    for s in std::mem::take(&mut f.body) {
        match &s.kind {
            StmtKind::For(l) if unroll::turns_with_loops(l).is_some_and(|n| n <= FEW_FIRINGS) => {
                f.body.extend(unroll::written_out(l, s.span));
            }
            _ => f.body.push(s),
        }
    }
    fold::run(kernel);
}

fn expand(kernel: &mut Kernel) {
    unroll::run(kernel, WRITTEN_OUT);
}

/// Do two kernels differ in nothing but what they are called, and what their states are before the first firing and their own tables, which are their members'?
fn alike(a: &Kernel, b: &Kernel) -> bool {
    let sides = |k: &Kernel| (k.input.clone(), k.output.clone(), k.work);
    let fields = |a: &StateField, b: &StateField| a.name == b.name && a.ty == b.ty;
    sides(a) == sides(b)
        && a.functions == b.functions
        && a.state.len() == b.state.len()
        && a.state.iter().zip(&b.state).all(|(a, b)| fields(a, b))
        && a.tables.len() == b.tables.len()
        && a.tables.iter().zip(&b.tables).all(|(a, b)| a.same_to_code(b))
        && a.elsewhere == b.elsewhere
        && a.lanes == b.lanes
        && a.tapes == b.tapes
        && a.structs == b.structs
}

/// The program with the regions in place of their members.
fn assemble(graph: &SdfGraph, steady: &SteadyState, codes: usize, made: Vec<Made>) -> Fused {
    let mut region_of = vec![None; graph.nodes.len()];
    for (r, m) in made.iter().enumerate() {
        m.members.iter().for_each(|(v, _)| region_of[v.index()] = Some(r));
    }
    let inner = |c: &Channel| {
        let (a, b) = (region_of[c.from.0.index()], region_of[c.to.0.index()]);
        a.is_some() && a == b
    };
    // equal kernels are one
    let (mut kernels, mut code_of): (Vec<Kernel>, Vec<CodeId>) = (Vec::new(), Vec::new());
    for m in &made {
        let at = kernels.iter().position(|k| alike(k, &m.kernel)).unwrap_or_else(|| {
            kernels.push(m.kernel.clone());
            kernels.len() - 1
        });
        code_of.push(CodeId::from(codes + at));
    }
    let (mut new_nodes, mut nodes, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    let mut place = vec![NodeId(0); graph.nodes.len()];
    let mut regions: Vec<Option<Region>> = made.iter().map(|_| None).collect();
    let channels: Vec<ChannelId> = graph.channel_ids().filter(|c| !inner(graph.channel(*c))).collect();
    let mut number = vec![ChannelId(0); graph.channels.len()];
    channels.iter().enumerate().for_each(|(i, c)| number[c.index()] = ChannelId::from(i));
    for v in graph.node_ids() {
        let id = NodeId::from(new_nodes.len());
        let old = graph.node(v);
        let renumbered = |list: &[ChannelId]| list.iter().map(|c| number[c.index()]).collect();
        match region_of[v.index()] {
            None => {
                place[v.index()] = id;
                nodes.push(Some(v));
                repetitions.push(steady.repetitions[v.index()]);
                let (inputs, outputs) = (renumbered(&old.inputs), renumbered(&old.outputs));
                new_nodes.push(Node { inputs, outputs, hier: HierId(0), ..old.clone() });
            }
            Some(r) if regions[r].is_none() => {
                let m = &made[r];
                m.members.iter().for_each(|(u, _)| place[u.index()] = id);
                nodes.push(None);
                repetitions.push(m.rate);
                let kind = NodeKind::Filter {
                    code: code_of[r],
                    rates: m.kernel.work.rates,
                    prework: None,
                    stateful: !m.kernel.state.is_empty(),
                    prints: false,
                    dynamic: false,
                };
                new_nodes.push(Node {
                    path: old.path.clone(),
                    name: m.kernel.name.clone(),
                    kind,
                    inputs: m.input.iter().map(|c| number[c.index()]).collect(),
                    outputs: m.output.iter().map(|c| number[c.index()]).collect(),
                    span: old.span,
                    hier: HierId(0),
                });
                let (members, states, tables) = (m.members.clone(), m.states.clone(), m.tables.clone());
                regions[r] = Some(Region { node: id, code: code_of[r], members, states, tables });
            }
            Some(_) => {}
        }
    }
    let ends = |c: &ChannelId| {
        let old = graph.channel(*c);
        let mut new = Channel {
            from: (place[old.from.0.index()], old.from.1),
            to: (place[old.to.0.index()], old.to.1),
            initial: Vec::new(),
            ..old.clone()
        };
        if let Some(r) = region_of[old.from.0.index()] {
            (new.produce, new.from.1) = (made[r].kernel.work.rates.push, 0);
        }
        if let Some(r) = region_of[old.to.0.index()] {
            let rates = made[r].kernel.work.rates;
            (new.consume, new.peek, new.to.1) = (rates.pop, rates.peek, 0);
        }
        new
    };
    let fill = channels.iter().map(|c| {
        let to = region_of[graph.channel(*c).to.0.index()];
        steady.boundary_fill[c.index()] + to.map_or(0, |r| if made[r].input == Some(*c) { made[r].ahead } else { 0 })
    });
    let fill: Vec<u64> = fill.collect();
    let histories = made.iter().filter(|m| m.ahead > 0).filter_map(|m| {
        let input = m.input?;
        let set: BTreeSet<NodeId> = m.members.iter().map(|(v, _)| *v).collect();
        let ways =
            m.members.iter().flat_map(|(v, _)| &graph.node(*v).inputs).filter(|c| steady.boundary_fill[c.index()] > 0);
        let part = |c: &ChannelId| {
            let behind = view::behind(graph, &steady.boundary_fill, &|v| set.contains(&v), *c)?;
            Some((*c, m.ahead.checked_sub(behind)?))
        };
        Some(History { channel: number[input.index()], parts: ways.filter_map(part).collect() })
    });
    let histories = histories.collect();
    let mut root = graph.hierarchy.first().cloned();
    if let Some(root) = &mut root {
        root.children.clear();
        root.nodes = (0..new_nodes.len()).map(NodeId::from).collect();
    }
    let fused = SdfGraph {
        channels: channels.iter().map(ends).collect(),
        hierarchy: root.into_iter().collect(),
        nodes: new_nodes,
    };
    let state = SteadyState {
        init: vec![0; repetitions.len()],
        repetitions,
        init_peak: fill.clone(),
        boundary_fill: fill,
        precedences: Vec::new(),
        islands: None,
    };
    let regions = regions.into_iter().flatten().collect();
    Fused { graph: fused, steady: state, kernels, regions, nodes, channels, histories }
}
