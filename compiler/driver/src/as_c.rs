//! # as-c
//!
//! Purpose: the program that C code is made of, where it is another one than natively in general ([`crate::as_run`]): what branches behind a duplicate splitter have in common is done once
//! ([`sluice_frontend::slow::common_heads()`]), linear filters are combined ([`crate::linear`]), and equal branches without
//! state that look ahead are one filter, whose turns go side by side in vectors ([`sluice_frontend::slow::level_branches()`]). Where firings are counted, none of this is done: each filter has
//! its own numbers then.

use crate::folding::cannot_fail;
use crate::kernels::device_kernel;
use crate::linear;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::slow::code::{Turns, slowed};
use sluice_frontend::slow::{common_heads, fold_branches, level_branches};
use sluice_frontend::typed::{FilterCode, Globals};
use sluice_frontend::{Elaborated, graph_text};
use sluice_kernel::passes::lanes;

/// The program as C code has it; `None` where that is the program as it is.
pub fn as_c(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    let once = heads_once(session, checked, code)?;
    let checked = once.as_ref().unwrap_or(checked);
    let combined = linear::combined(session, checked, code)?;
    if !code.fold || code.stats {
        return Ok(combined.or(once));
    }
    let before = &combined.as_ref().unwrap_or(checked).program;
    let made = session.pass("level-branches", || side_by_side(before, code));
    dump(session, "level-branches", || graph_text::print(&made.as_ref().unwrap_or(before).graph))?;
    Ok(made.map(|program| Checked { sources: checked.sources.clone(), program }).or(combined).or(once))
}

/// The program in which what branches behind a duplicate splitter have in common is done once; `None` where there is nothing, or nobody wants it.
pub fn heads_once(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    let once =
        if code.fold && !code.stats { session.pass("common-heads", || once(&checked.program, code)) } else { None };
    dump(session, "common-heads", || graph_text::print(&once.as_ref().unwrap_or(&checked.program).graph))?;
    Ok(once.map(|program| Checked { sources: checked.sources.clone(), program }))
}

/// The program in which filters that branches have in common stand before their splitters; `None` where there are none. A fault would be that of another filter.
fn once(program: &Elaborated, code: &CodeOptions) -> Option<Elaborated> {
    common_heads(program, &mut |f| cannot_fail(f, &program.globals, code))
}

/// The program in which equal branches without state that look ahead are one filter; `None` where there are none.
pub fn side_by_side(program: &Elaborated, code: &CodeOptions) -> Option<Elaborated> {
    let (level, splits) = level_branches(program, &mut |f, turns| worth(f, turns, &program.globals, code))?;
    // with state, there are those left that may not be folded
    let (folded, _) = fold_branches(&level, &splits, &mut |f| f.stateful.is_none())?;
    Some(folded)
}

/// Are the turns of so many branches lanes, and does the filter alone fill vectors? `None` where they are not.
fn worth(filter: &FilterCode, turns: Turns, globals: &Globals, code: &CodeOptions) -> Option<bool> {
    // turns would be made of the filter as it was written
    if filter.behind > 0 || filter.part.is_some() {
        return None;
    }
    let kernel = |f: &FilterCode| {
        let mut kernel = device_kernel(f, globals, code)?;
        lanes::run(&mut kernel);
        Some(kernel)
    };
    let (one, all) = (kernel(filter)?, kernel(&slowed(filter, globals, turns)?)?);
    let looks = filter.work.rates.peek > filter.work.rates.pop;
    let vectors = lanes::has_strands(&all) || !looks && lanes::fills_vectors(&all);
    (!one.has_checks() && vectors).then(|| one.lanes.is_some())
}
