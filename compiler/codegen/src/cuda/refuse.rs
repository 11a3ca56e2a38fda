//! What does not run on a device. Input: the program. Output: nothing, or the first thing that stands against it, with its place.

use super::program::CudaInput;
use crate::c::program::CodegenError;
use sluice_frontend::graph::NodeKind;
use sluice_kernel::ir::{Callee, Kernel, StmtKind};
use sluice_kernel::walk;
use std::collections::BTreeSet;

/// Looks whether a program can run on a device.
pub(super) fn refuse(input: &CudaInput<'_>) -> Result<(), CodegenError> {
    let host = input.host;
    let no = |what: String, span| Err(CodegenError::NotOnDevice { what, span });
    for v in host.graph.node_ids() {
        let node = host.graph.node(v);
        let NodeKind::Filter { code, dynamic, .. } = &node.kind else { continue };
        let (filter, kernel) = (&host.codes[code.index()], &input.kernels[code.index()]);
        let what = if *dynamic {
            "decides in each firing how many items it moves"
        } else if host.messages.links.iter().any(|l| l.sender == v || l.receiver == v) {
            "sends or receives messages"
        } else if filter.calls_native.is_some() {
            "calls a native function"
        } else if recursive(kernel) {
            "calls a function that calls itself"
        } else {
            continue;
        };
        return no(format!("`{}` {what}", node.path), kernel.span);
    }
    Ok(())
}

/// Can a function come to call itself?
fn recursive(kernel: &Kernel) -> bool {
    let calls = |f: usize| {
        let mut found = BTreeSet::new();
        walk::each_stmt(&kernel.functions[f].body, &mut |s| {
            if let StmtKind::Call { callee: Callee::Func(called), .. } = &s.kind {
                found.insert(called.index());
            }
        });
        found
    };
    (0..kernel.functions.len()).any(|first| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![first]);
        while let Some(f) = next.pop() {
            for called in calls(f) {
                if seen.insert(called) {
                    next.push(called);
                }
            }
        }
        seen.contains(&first)
    })
}
