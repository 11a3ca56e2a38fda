//! # linear
//!
//! Purpose: delays that become items which wait, products with zeroes that are not taken and, where other bytes are allowed (`--fast-math`), linear filters combined
//! ([`sluice_kernel::linear`]), before C code is made, where nobody has said otherwise (`--linear`). Where firings are counted, nothing is combined: each filter has its own numbers then.

use crate::kernels::device_kernel;
use crate::options::{CodeOptions, Linear};
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::{Elaborated, graph_text};
use sluice_kernel::linear::{Rewritten, delays, rewrite, zeros};

/// The program with delays and linear parts combined: to the last bit where nothing else is allowed; `None` where there are none, or nobody wants it.
pub fn combined(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    if code.linear == Linear::Off || code.stats {
        return Ok(None);
    }
    let mut out: Option<Checked> = None;
    for (name, pass) in EXACT {
        let program = &out.as_ref().unwrap_or(checked).program;
        let made = session.pass(name, || pass(program, code));
        dump(session, name, || graph_text::print(&made.as_ref().unwrap_or(program).graph))?;
        out = made.map(|program| Checked { sources: checked.sources.clone(), program }).or(out);
    }
    if !code.cc.fast_math {
        return Ok(out);
    }
    let before = out.as_ref().unwrap_or(checked);
    let Rewritten { program, report } = session.pass("linear", || combine(&before.program, code));
    dump(session, "linear", || {
        format!("{report}\n{}", graph_text::print(&program.as_ref().unwrap_or(&before.program).graph))
    })?;
    Ok(program.map(|program| Checked { sources: checked.sources.clone(), program }).or(out))
}

/// A pass after which a program gives the same bytes; `None` where it stays as it is.
pub type Exact = fn(&Elaborated, &CodeOptions) -> Option<Elaborated>;

/// These passes, in order.
pub const EXACT: [(&str, Exact); 2] = [
    ("delays", |program, code| delays::without(program, &mut |f| device_kernel(f, &program.globals, code))),
    ("skip-zeros", |program, code| zeros::skipped(program, &mut |f| device_kernel(f, &program.globals, code))),
];

/// The same, with what was found.
pub fn combine(program: &Elaborated, code: &CodeOptions) -> Rewritten {
    rewrite(program, code.linear, &mut |filter| device_kernel(filter, &program.globals, code))
}
