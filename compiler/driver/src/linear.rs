//! # linear
//!
//! Purpose: linear filters combined ([`sluice_kernel::linear`]), before C code is made, where other bytes are allowed (`--fast-math`) and nobody has said otherwise
//! (`--linear`). Where firings are counted, nothing is combined: each filter has its own numbers then.

use crate::compiled::device_kernel;
use crate::options::{CodeOptions, Linear};
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::{Elaborated, graph_text};
use sluice_kernel::linear::{Rewritten, rewrite};

/// The program with its linear parts combined; `None` where there are none, or nobody wants it.
pub fn combined(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    if code.linear == Linear::Off || !code.cc.fast_math || code.stats {
        return Ok(None);
    }
    let Rewritten { program, report } = session.pass("linear", || combine(&checked.program, code));
    dump(session, "linear", || {
        format!("{report}\n{}", graph_text::print(&program.as_ref().unwrap_or(&checked.program).graph))
    })?;
    Ok(program.map(|program| Checked { sources: checked.sources.clone(), program }))
}

/// The same, with what was found.
pub fn combine(program: &Elaborated, code: &CodeOptions) -> Rewritten {
    rewrite(program, code.linear, &mut |filter| device_kernel(filter, &program.globals, code))
}
