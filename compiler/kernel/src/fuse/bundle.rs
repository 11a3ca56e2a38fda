//! Filters of several branches that differ in constants only, fired side by side.
//!
//! ```text
//! 8 × (s = b · x + s)   →   for $l = 0 < 8 { $s[$l] = table[$l] · x + $s[$l] }
//! ```
//!
//! A *bundle* is a set of filters with state whose kernels are equal but for floats in them, at one depth of a region: none needs an item of another. Their states become arrays with an
//! element for each, their constants tables; the C compiler makes vectors of the loop. What passes from bundle to bundle has the members' items side by side.

use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use std::collections::BTreeMap;

/// Members of the smallest bundle.
const FEWEST: usize = 4;

/// Finds the bundles of a region's members (in topological order), and brings the members into an order in which those of a bundle follow one another.
pub(super) fn find(graph: &SdfGraph, kernels: &[Kernel], members: &mut [(NodeId, u64)]) -> Vec<Vec<NodeId>> {
    let kernel_of = |v: NodeId| match &graph.node(v).kind {
        NodeKind::Filter { code, stateful: true, .. } => kernels.get(code.index()),
        _ => None,
    };
    if members.iter().filter(|(v, _)| kernel_of(*v).is_some()).count() < FEWEST {
        return Vec::new();
    }
    let mut depth: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (v, _) in members.iter() {
        let before = graph.node(*v).inputs.iter().filter_map(|c| depth.get(&graph.channel(*c).from.0)).max();
        depth.insert(*v, before.map_or(0, |d| d + 1));
    }
    let mut groups: Vec<(usize, u64, Kernel, Vec<NodeId>)> = Vec::new();
    for (v, n) in members.iter() {
        let Some(kernel) = kernel_of(*v).filter(|k| bundles(k)) else { continue };
        let (at, shape) = (depth[v], shape(kernel));
        match groups.iter_mut().find(|(d, times, s, _)| (*d, *times) == (at, *n) && *s == shape) {
            Some((.., group)) => group.push(*v),
            None => groups.push((at, *n, shape, vec![*v])),
        }
    }
    let found: Vec<Vec<NodeId>> = groups.into_iter().map(|(.., g)| g).filter(|g| g.len() >= FEWEST).collect();
    if !found.is_empty() {
        let group = |v: NodeId| found.iter().position(|g| g.contains(&v)).map_or(usize::MAX, |g| g);
        members.sort_by_key(|(v, _)| (depth[v], group(*v), *v));
    }
    found
}

/// Can the filter be a member of a bundle?
fn bundles(kernel: &Kernel) -> bool {
    let mut plain = kernel.input != sluice_frontend::ty::Ty::Void && kernel.tables.iter().all(|t| t.shared.is_none());
    walk::each_stmt(&kernel.function(kernel.work.function).body, &mut |s| {
        plain &= matches!(s.kind, StmtKind::Assign(..) | StmtKind::For(_) | StmtKind::If(..));
    });
    plain
}

/// The kernel without what members of a bundle may differ in.
fn shape(kernel: &Kernel) -> Kernel {
    let mut shape = kernel.clone();
    shape.name.clear();
    shape.display.clear();
    (shape.prework, shape.lanes) = (None, None);
    let work = shape.work.function;
    shape.functions = vec![shape.functions.swap_remove(work.index())];
    shape.work.function = FuncId(0);
    shape.state.iter_mut().for_each(|s| s.initial = Const::Int(0));
    shape.tables.iter_mut().for_each(|t| t.value = Const::Int(0));
    walk::each_expr_mut(&mut shape.functions[0].body, &mut |e| {
        if let ExprKind::Const(c @ (Const::Float(_) | Const::Double(_))) = &mut e.kind {
            *c = Const::Int(0);
        }
    });
    shape
}

/// The floats in a kernel's work function, in the order of evaluation.
pub(super) fn constants(kernel: &Kernel) -> Vec<Const> {
    let mut out = Vec::new();
    walk::each_expr(&kernel.function(kernel.work.function).body, &mut |e| {
        if let ExprKind::Const(c @ (Const::Float(_) | Const::Double(_))) = &e.kind {
            out.push(c.clone());
        }
    });
    out
}
