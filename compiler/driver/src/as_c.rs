//! # as-c
//!
//! Purpose: the program that C code is made of, where it is another one than natively in general ([`crate::as_run`]): what branches behind a duplicate splitter have in common is done once
//! ([`sluice_frontend::slow::common_heads()`]), linear filters are combined ([`crate::linear`]), and equal branches without
//! state that look ahead are one filter, whose turns go side by side in vectors ([`sluice_frontend::slow::level_branches()`]), and its initialisation leaves no items where
//! nobody asks for them ([`sluice_frontend::steady_state::drained()`]). Where firings are counted, none of this is done: each filter has its own numbers then.

use crate::dumps;
use crate::folding::cannot_fail;
use crate::kernels::device_kernel;
use crate::linear;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::slow::code::{Turns, slowed};
use sluice_frontend::slow::{common_heads, fold_branches, level_branches};
use sluice_frontend::steady_state::drained;
use sluice_frontend::typed::{FilterCode, Globals};
use sluice_frontend::{Elaborated, graph_text};
use sluice_kernel::linear::streams::plain;
use sluice_kernel::passes::lanes;

/// The program as C code has it; `None` where that is the program as it is.
pub fn as_c(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    let sources = &checked.sources;
    let with = |program| Checked { sources: sources.clone(), program };
    let once = heads_once(session, checked, code)?;
    let combined = linear::combined(session, once.as_ref().unwrap_or(checked), code)?.or(once);
    let before = &combined.as_ref().unwrap_or(checked).program;
    let level = code.fold && !code.stats;
    let made = if level { session.pass("level-branches", || side_by_side(before, code)) } else { None };
    dump(session, "level-branches", || graph_text::print(&made.as_ref().unwrap_or(before).graph))?;
    let made = made.map(with).or(combined);
    let before = &made.as_ref().unwrap_or(checked).program;
    let further = session.pass("drain", || drained_first(before, code));
    dump(session, "drain", || dumps::steady_state(further.as_ref().unwrap_or(before)))?;
    Ok(further.map(with).or(made))
}

/// The program whose initialisation goes on until no items wait between filters that could be one; `None` where none do, or regions are not wanted. Only filters go on of whose firings nothing is seen.
fn drained_first(program: &Elaborated, code: &CodeOptions) -> Option<Elaborated> {
    if !code.fuse || code.stats || !plain(program) {
        return None;
    }
    let mut asked = vec![None; program.codes.len()];
    let mut may = |v| match &program.graph.node(v).kind {
        NodeKind::Filter { code: c, .. } => *asked[c.index()].get_or_insert_with(|| {
            let f = &program.codes[c.index()];
            let seen = f.calls_native.is_some() || f.sends.is_some() || f.prework.is_some() || f.convolution.is_some();
            !seen && cannot_fail(f, &program.globals, code)
        }),
        _ => true,
    };
    let steady = drained(&program.graph, &program.steady, &mut may)?;
    Some(Elaborated { steady, ..program.clone() })
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
