//! # needed
//!
//! Purpose: the operations on floats that no way to compute a program can leave out, as far as the compiler knows. Input: a program of the suite. Output: [`Needed`], for a steady state.
//!
//! - Zeroes that were put between items are not multiplied, and with other bytes allowed linear filters are combined where that takes fewer operations ([`as_device`]).
//! - Filters that are equal and have the same input are one.
//! - What a filter gives to one that drops it is not computed: seven of eight results of a FIR before a decimation by eight.

use super::Benchmark;
use sluice_driver::as_device::as_device;
use sluice_driver::kernels::device_kernels;
use sluice_driver::options::{CodeChoices, ProgramOptions, Scheme};
use sluice_driver::pipeline::{self, Checked, Halt};
use sluice_driver::scheduling;
use sluice_driver::session::Session;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, CodeId, NodeId};
use sluice_kernel::cost::Cost;
use sluice_kernel::linear::extract;
use sluice_kernel::linear::streams::plain_code;
use std::collections::HashMap;
use std::path::Path;

/// Operations on floats of a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Where every bit counts.
    pub exact: u64,
    /// With `--fast-math`.
    pub free: u64,
}

/// Those of the program in the repository at `root`.
pub fn of(b: &Benchmark, root: &Path) -> Result<Needed, Halt> {
    let files = vec![b.program(root, None).display().to_string()];
    let options = ProgramOptions { files, ..ProgramOptions::default() };
    let mut session = Session::new(&options, false)?;
    let checked = pipeline::check(&mut session, &options)?;
    let mut with = |fast_math| {
        let code = CodeChoices { fast_math: Some(fast_math), ..CodeChoices::default() }.options(&options);
        let own = as_device(&mut session, &checked, &code, Scheme::Fused)?;
        let checked = own.as_ref().unwrap_or(&checked);
        // the model counts divisions of both kinds as one
        let of_ints = |c: &Cost| c.float == 0 && c.function == 0;
        let floats = |c: &Cost| if of_ints(c) { 0 } else { c.on_floats() };
        let costs: Vec<u64> = scheduling::weights(&mut session, checked)?.costs.iter().map(floats).collect();
        let used = device_kernels(&mut session, checked, &code)?.iter().map(columns).collect();
        Ok::<_, Halt>(operations(checked, &costs, used))
    };
    let (exact, free) = (with(false)?, with(true)?);
    Ok(Needed { exact, free: free.min(exact) })
}

/// Which of the items that a firing takes it looks at; `None` where it looks further, or nobody knows.
fn columns(kernel: &sluice_kernel::ir::Kernel) -> Option<Vec<bool>> {
    let rates = kernel.work.rates;
    let rows = (rates.peek <= rates.pop).then(|| extract::rows(kernel).ok()).flatten()?;
    let mut used = vec![false; rates.pop as usize];
    for r in &rows {
        let taps = (r.start as usize..).zip(&r.taps).filter(|(_, tap)| **tap != 0.0);
        taps.for_each(|(at, _)| used[at] = true);
    }
    Some(used)
}

/// Operations of a steady state; `costs`: of a firing of each node; `used`: by code, what [`columns`] says.
fn operations(checked: &Checked, costs: &[u64], used: Vec<Option<Vec<bool>>>) -> u64 {
    let (graph, steady) = (&checked.program.graph, &checked.program.steady);
    let firsts = firsts(graph);
    let nodes = graph.node_ids().filter(|v| firsts[v.index()] == *v);
    nodes
        .map(|v| {
            let all = costs[v.index()].saturating_mul(steady.repetitions[v.index()]);
            let (needed, of) = share(graph, v, &used);
            all / of * needed + all % of * needed / of
        })
        .sum()
}

/// How many firings of a node are needed, of how many: where all that it gives goes to one filter.
fn share(graph: &SdfGraph, v: NodeId, used: &[Option<Vec<bool>>]) -> (u64, u64) {
    let [only] = graph.node(v).outputs[..] else { return (1, 1) };
    let channel = graph.channel(only);
    let used = plain_code(&graph.node(channel.to.0).kind).and_then(|code| used[code.index()].as_ref());
    let Some(used) = used.filter(|_| plain_code(&graph.node(v).kind).is_some() && channel.initial.is_empty()) else {
        return (1, 1);
    };
    let gives = channel.produce as usize;
    if gives == 0 || !used.len().is_multiple_of(gives) {
        return (1, 1);
    }
    let firings = used.chunks(gives);
    (firings.clone().filter(|f| f.contains(&true)).count() as u64, firings.len() as u64)
}

/// By node, the first one that gives the same items.
fn firsts(graph: &SdfGraph) -> Vec<NodeId> {
    let mut firsts: Vec<NodeId> = graph.node_ids().collect();
    let mut known: HashMap<(CodeId, (NodeId, u32), usize), NodeId> = HashMap::new();
    for v in graph.node_ids() {
        let node = graph.node(v);
        if let (Some(code), [input]) = (plain_code(&node.kind), &node.inputs[..]) {
            let waiting = graph.channel(*input).initial.len();
            firsts[v.index()] = *known.entry((code, source(graph, &firsts, *input), waiting)).or_insert(v);
        }
    }
    firsts
}

/// Whose items are on a channel: what copies them does not count.
fn source(graph: &SdfGraph, firsts: &[NodeId], c: ChannelId) -> (NodeId, u32) {
    let (v, port) = graph.channel(c).from;
    match &graph.node(v).kind {
        NodeKind::Duplicate if graph.channel(graph.node(v).inputs[0]).initial.is_empty() => {
            source(graph, firsts, graph.node(v).inputs[0])
        }
        _ => (firsts[v.index()], port),
    }
}
