//! # folding
//!
//! Purpose: equal stateful branches as one filter ([`sluice_frontend::slow::fold_branches`]), before native code is made. Only where no
//! firing can fail: a fault would name another stream than the interpreter does. Where firings are counted, nothing is folded: each
//! stream has its own numbers then.

use crate::kernels::lower_one;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::slow::{Folded, fold_branches};
use sluice_frontend::typed::{FilterCode, Globals};
use sluice_frontend::{Elaborated, graph_text};
use sluice_kernel::ir::{Kernel, StmtKind};
use sluice_kernel::{passes, walk};

/// The program with equal branches folded; `None` where there are none, or nobody wants it.
pub fn folded(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    if !code.fold || code.stats {
        return Ok(None);
    }
    let found = session.pass("fold-branches", || fold(&checked.program, code));
    let program = found.map(|(program, _)| program);
    dump(session, "fold-branches", || graph_text::print(&program.as_ref().unwrap_or(&checked.program).graph))?;
    Ok(program.map(|program| Checked { sources: checked.sources.clone(), program }))
}

/// The program with equal branches folded, and which these were.
pub fn fold(program: &Elaborated, code: &CodeOptions) -> Option<(Elaborated, Vec<Folded>)> {
    // turns are made of filters as they are written
    let may = |f: &FilterCode| f.behind == 0 && f.part.is_none() && cannot_fail(f, &program.globals, code);
    fold_branches(program, &[], &mut |f| may(f))
}

/// Is there nothing left to check when the filter is compiled? (Whatever is not inlined could recurse too deep.)
pub fn cannot_fail(filter: &FilterCode, globals: &Globals, code: &CodeOptions) -> bool {
    let Ok(kernel) = lower_one(filter, globals, code) else { return false };
    let kernel: Kernel = passes::prepare(kernel);
    let mut fails = false;
    for f in &kernel.functions {
        walk::each_stmt(&f.body, &mut |s| fails |= matches!(s.kind, StmtKind::Check(_) | StmtKind::Call { .. }));
    }
    !fails
}
