//! # as-run
//!
//! Purpose: the program that native code is made of, where it is another one than was written: filters whose state is private have none
//! ([`sluice_kernel::passes::privatise`]), so that their firings may go side by side, and equal branches with state are one filter ([`folding`]). What a person is told of
//! a program is told of the one that was written.

use crate::folding;
use crate::kernels::{self, device_kernel, privatises};
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::typed::FilterCode;
use sluice_frontend::{Elaborated, graph_text};
use sluice_kernel::linear::streams::plain;

/// The program as native code has it; `None` where that is the program as it is.
pub fn as_run(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    let without = session.pass("private-state", || without_private_state(&checked.program, code));
    let without = without.map(|program| Checked { sources: checked.sources.clone(), program });
    dump(session, "private-state", || graph_text::print(&without.as_ref().unwrap_or(checked).program.graph))?;
    let before = &without.as_ref().unwrap_or(checked).program;
    let lines = session.pass("past-items", || without_delay_lines(before, code));
    dump(session, "past-items", || graph_text::print(&lines.as_ref().unwrap_or(before).graph))?;
    let without = lines.map(|program| Checked { sources: checked.sources.clone(), program }).or(without);
    let folded = folding::folded(session, without.as_ref().unwrap_or(checked), code)?;
    Ok(folded.or(without))
}

/// The program in which filters whose fields hold the last items have none, and these items wait before them; `None` where that is as it was. Not where there are messages, whose places go by what filters look
/// at, and not where firings are counted.
fn without_delay_lines(program: &Elaborated, code: &CodeOptions) -> Option<Elaborated> {
    if !code.delay_lines || code.stats || !plain(program) {
        return None;
    }
    let may = |f: &FilterCode| {
        let seen = f.prints || f.uses_iter || f.calls_native.is_some() || f.sends.is_some();
        f.stateful.is_some() && f.prework.is_none() && f.turns.is_none() && !seen
    };
    let of = |f: &FilterCode| kernels::waiting(f, &program.globals, code);
    let waiting: Vec<Option<Vec<Const>>> =
        program.codes.iter().map(|f| if may(f) { of(f) } else { None }.filter(|w| !w.is_empty())).collect();
    if waiting.iter().all(Option::is_none) {
        return None;
    }
    let mut out = program.clone();
    for (f, waiting) in out.codes.iter_mut().zip(&waiting) {
        if let Some(waiting) = waiting {
            f.behind = waiting.len() as u32;
            f.work.rates.peek += f.behind;
            f.stateful = None;
        }
    }
    for node in &mut out.graph.nodes {
        if let NodeKind::Filter { code, rates, stateful, .. } = &mut node.kind
            && let Some(waiting) = &waiting[code.index()]
            && let Some(input) = node.inputs.first()
        {
            *rates = out.codes[code.index()].work.rates;
            *stateful = false;
            let c = &mut out.graph.channels[input.index()];
            c.peek = rates.peek;
            c.initial.splice(0..0, waiting.iter().cloned());
        }
    }
    sluice_frontend::graph_verify::debug_verify(&out.graph, "delay-lines");
    out.steady = steady_state(&out.graph).ok()?;
    // as many firings as before
    let same = out.steady.init == program.steady.init && out.steady.repetitions == program.steady.repetitions;
    same.then_some(out)
}

/// The program in which filters that keep nothing from one firing to the next have no state; `None` where that is as it was.
fn without_private_state(program: &Elaborated, code: &CodeOptions) -> Option<Elaborated> {
    if !code.privatise {
        return None;
    }
    // a native function may keep what nobody sees
    let may = |f: &FilterCode| f.stateful.is_some() && f.calls_native.is_none() && privatises(f, code);
    let of = |f: &FilterCode| device_kernel(f, &program.globals, code);
    let gone: Vec<bool> = program.codes.iter().map(|f| may(f) && of(f).is_some_and(|k| k.state.is_empty())).collect();
    if !gone.contains(&true) {
        return None;
    }
    let mut out = program.clone();
    out.codes.iter_mut().zip(&gone).filter(|(_, gone)| **gone).for_each(|(f, _)| f.stateful = None);
    for node in &mut out.graph.nodes {
        if let NodeKind::Filter { code, stateful, .. } = &mut node.kind {
            *stateful &= !gone[code.index()];
        }
    }
    sluice_frontend::graph_verify::debug_verify(&out.graph, "private-state");
    Some(out)
}
