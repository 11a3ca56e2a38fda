//! # as-run
//!
//! Purpose: the program that native code is made of, where it is another one than was written: filters whose state is private have none
//! ([`sluice_kernel::passes::privatise`]), so that their firings may go side by side, others with a state are several filters ([`sluice_kernel::passes::take_apart`]), and equal branches with state are
//! one ([`folding`]). What a person is told of
//! a program is told of the one that was written.

use crate::folding;
use crate::kernels::{self, device_kernel, privatises};
use crate::options::{CodeOptions, TakeApart};
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::slow::taken_apart::taken_apart;
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::typed::{FilterCode, Part, PartOf};
use sluice_frontend::{Elaborated, graph_text};
use sluice_grammar::ast::StreamKind;
use sluice_kernel::ir::Kernel;
use sluice_kernel::linear::streams::plain;
use std::sync::Arc;

/// Equal filters that are taken apart, at most: more of them are as fast in the lanes of one vector.
const MOST_EQUAL: usize = 3;

/// The program as native code has it; `None` where that is the program as it is.
pub fn as_run(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Option<Checked>, Halt> {
    let without = session.pass("private-state", || without_private_state(&checked.program, code));
    let without = without.map(|program| Checked { sources: checked.sources.clone(), program });
    dump(session, "private-state", || graph_text::print(&without.as_ref().unwrap_or(checked).program.graph))?;
    let before = &without.as_ref().unwrap_or(checked).program;
    let lines = session.pass("past-items", || without_delay_lines(before, code));
    dump(session, "past-items", || graph_text::print(&lines.as_ref().unwrap_or(before).graph))?;
    let without = lines.map(|program| Checked { sources: checked.sources.clone(), program }).or(without);
    let before = &without.as_ref().unwrap_or(checked).program;
    let parts = session.pass("take-apart", || in_parts(before, code));
    dump(session, "take-apart", || graph_text::print(&parts.as_ref().unwrap_or(before).graph))?;
    let without = parts.map(|program| Checked { sources: checked.sources.clone(), program }).or(without);
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

/// The program in which filters with a state are pipelines of what their state needs and of what it does not; `None` where that is as it was. Not where many are equal: these go side by side, each in a lane. In a feedback
/// loop nothing goes side by side with what it waits for.
fn in_parts(program: &Elaborated, code: &CodeOptions) -> Option<Elaborated> {
    if code.take_apart == TakeApart::Never || code.stats || !plain(program) {
        return None;
    }
    let graph = &program.graph;
    let (mut times, mut looped) = (vec![0usize; program.codes.len()], vec![false; program.codes.len()]);
    for node in &graph.nodes {
        if let NodeKind::Filter { code, .. } = node.kind {
            let mut above = std::iter::successors(Some(node.hier), |h| graph.hierarchy[h.index()].parent);
            times[code.index()] += 1;
            looped[code.index()] |= above.any(|h| graph.hierarchy[h.index()].kind == StreamKind::FeedbackLoop);
        }
    }
    let may = |f: &FilterCode| {
        let seen =
            f.prints || f.uses_iter || f.calls_native.is_some() || f.sends.is_some() || !f.init_output.is_empty();
        f.stateful.is_some() && f.prework.is_none() && f.turns.is_none() && f.behind == 0 && !f.dynamic() && !seen
    };
    let of = |(i, f): (usize, &FilterCode)| {
        let wanted = may(f) && (1..=MOST_EQUAL).contains(&times[i]) && !looped[i];
        let parts = wanted.then(|| kernels::parts(f, &program.globals, code)).flatten();
        parts.into_iter().flatten().map(|(part, kernel)| part_of(f, part, &kernel, code)).collect()
    };
    let parts: Vec<Vec<FilterCode>> = program.codes.iter().enumerate().map(of).collect();
    if parts.iter().all(Vec::is_empty) {
        return None;
    }
    let apart = taken_apart(program, parts)?;
    // a part may hold nothing but what the one before has given
    Some(without_delay_lines(&apart, code).unwrap_or(apart))
}

/// A part of a filter, as a filter.
fn part_of(whole: &FilterCode, part: Part, kernel: &Kernel, code: &CodeOptions) -> FilterCode {
    let mut f = whole.clone();
    (f.input, f.output, f.work.rates) = (kernel.input.clone(), kernel.output.clone(), kernel.work.rates);
    if part != Part::State {
        f.stateful = None;
    }
    let which = match part {
        Part::Before => "before its state",
        Part::State => "its state",
        Part::After => "after its state",
    };
    f.display = format!("{}, {which}", whole.display);
    let (privatised, unchecked, free) = (privatises(whole, code), code.unchecked, code.cc.fast_math);
    f.part = Some(Arc::new(PartOf { part, whole: whole.clone(), privatised, unchecked, free }));
    f
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
