//! What does not run on a device. Input: the program. Output: nothing, or the first thing that stands against it, with its place.

use super::program::CudaInput;
use crate::c::layout::size_align;
use crate::c::program::CodegenError;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;
use sluice_kernel::ir::{Callee, Kernel, StmtKind};
use sluice_kernel::walk;
use std::collections::BTreeSet;

/// Looks whether a program can run on a device.
pub(super) fn refuse(input: &CudaInput<'_>) -> Result<(), CodegenError> {
    let host = input.host;
    let no = |what: String, span| Err(CodegenError::NotOnDevice { what, span, instead: None });
    for v in host.graph.node_ids() {
        let node = host.graph.node(v);
        let NodeKind::Filter { code, dynamic, stateful, .. } = &node.kind else { continue };
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
            let (bytes, most) = (frame(*stateful, kernel, host.globals), input.options.frame);
            if bytes > most {
                let what = format!(
                    "`{}` has {bytes} bytes of arrays for each firing, of at most {most} that a thread has",
                    node.path
                );
                return Err(CodegenError::NotOnDevice { what, span: kernel.span, instead: Some(SMALLER) });
            }
            continue;
        };
        return no(format!("`{}` {what}", node.path), kernel.span);
    }
    Ok(())
}

/// What to do about arrays that are too large.
const SMALLER: &str = "a table that is the same in all firings costs nothing there where it is a field that only `init` writes, and fewer items for each firing need smaller arrays";

/// Bytes of the arrays that a thread has while it fires: what a GPU's compiler cannot keep in registers, and the driver sets memory aside for, for all threads that the GPU may
/// have at once.
fn frame(stateful: bool, kernel: &Kernel, globals: &Globals) -> u64 {
    let size = |ty: &Ty| match ty {
        Ty::Array(..) | Ty::Struct(_) => size_align(ty, globals).map_or(u64::MAX, |(size, _)| size),
        _ => 0,
    };
    // functions are parts of those that call them, one after the other
    let locals = kernel.functions.iter().map(|f| {
        let own = f.locals.iter().filter(|l| !l.by_ref);
        own.fold(0, |sum, l| size(&l.ty).saturating_add(sum))
    });
    // what a filter without state writes before it reads it in each firing is the thread's, too
    let fields = kernel.state.iter().filter(|_| !stateful).map(|f| size(&f.ty));
    locals.chain(fields).fold(0, u64::saturating_add)
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
