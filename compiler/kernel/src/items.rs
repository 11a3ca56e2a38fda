//! # item-ranges
//!
//! Purpose: what ints pass along each channel of a program, and with it the checks that hold whatever else happens. Input: the graph, the kernel of each filter after its
//! passes. Output: the kernels, with fewer checks, and with lanes where only those stood in the way.
//!
//! ```text
//! filter A pushes ((x >> i) & 1)  →  B: check index ((2 * in(0)) + in(1)) 4   →   B without the check
//! ```
//!
//! Sound whatever order nodes fire in: a channel's range holds its initial items and all that any firing of its producer can give, work or prework.
//! Found round by round along the channels; what still grows after [`ROUNDS`] of them may be any int.

use crate::ir::*;
use crate::passes::intervals::{Facts, Range};
use crate::passes::unroll::{self, Rule};
use crate::passes::{clean, fold, lanes, prove_checks, scalars};
use sluice_frontend::constant::Const;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::ChannelId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// Rounds along all nodes before what grows is given up.
const ROUNDS: usize = 12;

/// Loops that are written out to prove something.
const WRITTEN_OUT: Rule =
    Rule { turns: 64, size: 2048, recurrences: false, arrays: false, around: usize::MAX, factor: 1 };

/// The range of the ints on each channel, by channel: `None` where nothing ever comes.
pub fn ranges(graph: &SdfGraph, kernels: &[Kernel]) -> Vec<Option<Range>> {
    let mut on: Vec<Option<Range>> =
        graph.channels.iter().map(|c| c.initial.iter().map(ints).reduce(Range::hull)).collect();
    let mut known: BTreeMap<(usize, i64, i64), Option<Range>> = BTreeMap::new();
    for round in 0.. {
        let before = on.clone();
        for v in graph.node_ids() {
            let node = graph.node(v);
            let input = node.inputs.iter().filter_map(|c| on[c.index()]).reduce(Range::hull);
            let given = match &node.kind {
                NodeKind::Filter { code, .. } => {
                    let Some(kernel) = kernels.get(code.index()) else { return vec![Some(Range::ALL); on.len()] };
                    // where nothing comes, only what takes nothing fires: a prework, perhaps
                    let takes = kernel.prework.as_ref().map_or(kernel.work.rates, |p| p.rates).peek > 0;
                    match input {
                        None if takes => None,
                        _ => {
                            let input = input.unwrap_or(Range::exactly(0));
                            *known.entry((code.index(), input.lo, input.hi)).or_insert_with(|| given(kernel, input))
                        }
                    }
                }
                NodeKind::Reader(_) => Some(Range::ALL),
                _ => input,
            };
            let Some(given) = given else { continue };
            for c in &node.outputs {
                let all = on[c.index()].map_or(given, |r| r.hull(given));
                on[c.index()] = Some(if round >= ROUNDS && on[c.index()] != Some(all) { Range::ALL } else { all });
            }
        }
        // each channel can be given up once only, so that this ends
        if on == before {
            break;
        }
    }
    on
}

/// Removes the checks that hold for what comes along the channels.
pub fn prove(graph: &SdfGraph, kernels: &mut [Kernel]) {
    if !kernels.iter().any(Kernel::has_checks) {
        return;
    }
    let on = ranges(graph, kernels);
    let mut inputs: Vec<Option<Range>> = vec![None; kernels.len()];
    let of = |c: &ChannelId| on[c.index()];
    for node in &graph.nodes {
        if let NodeKind::Filter { code, .. } = &node.kind
            && let Some(range) = inputs.get_mut(code.index())
        {
            let here = node.inputs.iter().filter_map(of).reduce(Range::hull);
            *range = [*range, here].into_iter().flatten().reduce(Range::hull);
        }
    }
    for (kernel, input) in kernels.iter_mut().zip(inputs) {
        let Some(input) = input.filter(|r| *r != Range::ALL) else { continue };
        if !kernel.has_checks() || kernel.input != Ty::Int {
            continue;
        }
        prove_checks::knowing(kernel, input);
        if kernel.has_checks() {
            // what a loop makes of its last turn is known where its turns stand one after the other
            let mut long = kernel.clone();
            unroll::run(&mut long, WRITTEN_OUT);
            scalars::run(&mut long);
            fold::run(&mut long);
            prove_checks::knowing(&mut long, input);
            if !long.has_checks() {
                *kernel = long;
            }
        }
        fold::run(kernel);
        clean::run(kernel);
        if kernel.lanes.is_none() {
            lanes::run(kernel);
        }
    }
}

/// What a filter gives for what it takes; `None` where it gives nothing.
fn given(kernel: &Kernel, input: Range) -> Option<Range> {
    match kernel.output {
        Ty::Int => Facts::knowing(kernel, input).given(kernel),
        _ => Some(Range::ALL),
    }
}

fn ints(c: &Const) -> Range {
    match c {
        Const::Int(i) => Range::exactly((*i).into()),
        _ => Range::ALL,
    }
}
