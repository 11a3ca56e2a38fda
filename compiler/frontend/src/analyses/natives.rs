//! # natives called
//!
//! Purpose: which native functions the filters of a program can come to call, and from where.
//! Input: the filters that nodes of the graph have. Output: each native function that a firing or handler of theirs calls (in source
//! order, directly or through other functions), with the first place that does. Conservative: a call that is never reached counts.

use super::state::{entries, function, reachable};
use super::walk;
use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use crate::typed::*;
use sluice_grammar::span::Span;
use std::collections::BTreeMap;

/// The native functions that a program calls, in the order of their declarations, each with a place that calls it.
pub fn called(codes: &[FilterCode], graph: &SdfGraph, globals: &Globals) -> BTreeMap<NativeId, Span> {
    let mut used = vec![false; codes.len()];
    for n in &graph.nodes {
        if let NodeKind::Filter { code, .. } = n.kind
            && let Some(u) = used.get_mut(code.index())
        {
            *u = true;
        }
    }
    let mut out = BTreeMap::new();
    for (code, _) in codes.iter().zip(used).filter(|(c, used)| *used && c.calls_native.is_some()) {
        for callee in reachable(code, globals, &entries(code)) {
            let Some(f) = function(code, globals, callee) else { continue };
            walk::expressions(&f.body, &mut |e| {
                if let ExprKind::Call(Callee::Native(id), _) = e.kind {
                    out.entry(id).or_insert(e.span);
                }
            });
        }
    }
    out
}
