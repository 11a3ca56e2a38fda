//! # kernels
//!
//! Purpose: the kernel of each filter of an elaborated program, after the passes that a way of running wants. Input: the program and the options about code. Output: kernels, one for each code of the program,
//! in its order.

use crate::exit::{Exit, Fault};
use crate::options::{CodeOptions, TakeApart};
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_frontend::Elaborated;
use sluice_frontend::constant::Const;
use sluice_frontend::typed::{FilterCode, Globals, Part};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_kernel::ir::Kernel;
use sluice_kernel::lower::{self, LowerOptions};
use sluice_kernel::passes::inner::Inner;
use sluice_kernel::passes::{DELAY_LINES, PARTS, PRIVATISE, Pass, SPLIT_LOOPS};

/// The kernel of each filter, after all passes.
pub fn kernels(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Vec<Kernel>, Halt> {
    kernels_by(session, checked, code, sluice_kernel::passes::PASSES)
}

/// The kernel of each filter as devices get it.
pub fn device_kernels(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Vec<Kernel>, Halt> {
    kernels_by(session, checked, code, sluice_kernel::passes::DEVICE)
}

/// The kernel of each filter for code of this machine, without what is done for vectors and for the C compiler.
pub(crate) fn host_kernels(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Vec<Kernel>, Halt> {
    passed(session, checked, code, sluice_kernel::passes::DEVICE, &|filter, name| match name {
        // items that wait have been counted, and filters taken apart, with the loops as they are
        SPLIT_LOOPS => code.inner != Inner::None && filter.behind == 0 && filter.part.is_none(),
        _ => does(filter, code, name),
    })
}

/// The items that wait before a filter, where its fields hold nothing but the last ones; its kernel has no fields then.
pub(crate) fn waiting(filter: &FilterCode, globals: &Globals, code: &CodeOptions) -> Option<Vec<Const>> {
    let mut kernel = lower_one(filter, globals, code).ok()?;
    let before = sluice_kernel::passes::before_delay_lines();
    run_passes(std::slice::from_mut(&mut kernel), before, &|_, name| does(filter, code, name));
    sluice_kernel::passes::delay_lines::found(&kernel)
}

/// The parts of a filter that is taken apart, each with its kernel.
pub(crate) fn parts(filter: &FilterCode, globals: &Globals, code: &CodeOptions) -> Option<Vec<(Part, Kernel)>> {
    let mut kernel = lower_one(filter, globals, code).ok()?;
    let before = sluice_kernel::passes::before_parts();
    run_passes(std::slice::from_mut(&mut kernel), before, &|_, name| does(filter, code, name));
    sluice_kernel::passes::take_apart::found(&kernel, code.take_apart == TakeApart::Always)
}

/// The kernel of a filter as devices get it, where it has one.
pub(crate) fn device_kernel(filter: &FilterCode, globals: &Globals, code: &CodeOptions) -> Option<Kernel> {
    let mut kernel = lower_one(filter, globals, code).ok()?;
    run_passes(std::slice::from_mut(&mut kernel), sluice_kernel::passes::DEVICE, &|_, name| does(filter, code, name));
    Some(kernel)
}

fn kernels_by(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    passes: &'static [Pass],
) -> Result<Vec<Kernel>, Halt> {
    passed(session, checked, code, passes, &|filter, name| does(filter, code, name))
}

/// The kernels after the passes that `does` says.
fn passed(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    passes: &'static [Pass],
    does: &dyn Fn(&FilterCode, &str) -> bool,
) -> Result<Vec<Kernel>, Halt> {
    let mut kernels = match session.pass("lower", || lower(&checked.program, code)) {
        Ok(kernels) => kernels,
        Err(diagnostic) => {
            session.report(&checked.sources, &[*diagnostic])?;
            return Err(Halt::Done(Exit::Program));
        }
    };
    dump(session, "lower", || print_kernels(&kernels))?;
    improve(session, &mut kernels, passes, &|i, name| does(&checked.program.codes[i], name))?;
    // the driver has made room for past items before the pass: both must have found the same
    let other = |(kernel, filter): &(&Kernel, &FilterCode)| kernel.work.rates.peek != filter.work.rates.peek;
    if let Some((kernel, filter)) = kernels.iter().zip(&checked.program.codes).find(other) {
        let (has, wanted) = (kernel.work.rates.peek, filter.work.rates.peek);
        return Err(Fault::internal(format!("{}: a window of {has} items, not {wanted}", kernel.name)).into());
    }
    Ok(kernels)
}

/// The same with what is done to loops before they are printed; costs are told of the kernels before.
pub(crate) fn native_kernels(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
) -> Result<Vec<Kernel>, Halt> {
    let mut kernels = kernels(session, checked, code)?;
    improve(session, &mut kernels, code.inner.passes(), &|_, _| true)?;
    Ok(kernels)
}

/// May the filter's private fields become variables? Not where streams take turns: others know its fields by number.
pub(crate) fn privatises(filter: &FilterCode, code: &CodeOptions) -> bool {
    code.privatise && filter.turns.is_none()
}

/// Is a pass for a filter?
fn does(filter: &FilterCode, code: &CodeOptions, pass: &str) -> bool {
    match pass {
        PRIVATISE => filter.part.as_ref().map_or_else(|| privatises(filter, code), |p| p.privatised),
        DELAY_LINES => filter.behind > 0,
        _ if PARTS.contains(&pass) => filter.part.as_ref().is_some_and(|p| PARTS[p.part as usize] == pass),
        // costs are told of the loops as they are, and devices have them so
        SPLIT_LOOPS => false,
        _ => true,
    }
}

/// Runs passes over all kernels that `does` says.
pub(crate) fn improve(
    session: &mut Session,
    kernels: &mut [Kernel],
    passes: &'static [Pass],
    does: &dyn Fn(usize, &str) -> bool,
) -> Result<(), Halt> {
    for (i, (name, _)) in passes.iter().enumerate() {
        session.pass(name, || run_passes(kernels, std::slice::from_ref(&passes[i]), does));
        // A pass that runs several times is shown after the last.
        if !passes[i + 1..].iter().any(|(later, _)| later == name) {
            dump(session, name, || print_kernels(kernels))?;
        }
    }
    Ok(())
}

pub(crate) fn run_passes(kernels: &mut [Kernel], passes: &[Pass], does: &dyn Fn(usize, &str) -> bool) {
    for (name, pass) in passes {
        for (_, kernel) in kernels.iter_mut().enumerate().filter(|(i, _)| does(*i, name)) {
            pass(kernel);
            sluice_kernel::verify::debug_verify(kernel, name);
        }
    }
}

/// All kernels as text.
pub(crate) fn print_kernels(kernels: &[Kernel]) -> String {
    kernels.iter().map(sluice_kernel::text::print).collect::<Vec<_>>().join("\n")
}

/// The kernel of each filter.
fn lower(program: &Elaborated, code: &CodeOptions) -> Result<Vec<Kernel>, Box<Diagnostic>> {
    program.codes.iter().map(|filter| lower_one(filter, &program.globals, code)).collect()
}

/// The kernel of a filter.
pub fn lower_one(filter: &FilterCode, globals: &Globals, code: &CodeOptions) -> Result<Kernel, Box<Diagnostic>> {
    let own = LowerOptions { unchecked: code.unchecked, free: code.cc.fast_math };
    // of a part, all that it is a part of, as it was when that was taken apart: a pass leaves the part
    let (filter, options) = filter
        .part
        .as_ref()
        .map_or((filter, own), |p| (&p.whole, LowerOptions { unchecked: p.unchecked, free: p.free }));
    lower::lower(filter, globals, options).map_err(|u| {
        let title = format!("{} cannot be compiled", u.what);
        let d = Diagnostic::error("E0903", title, u.span, "native code does not have this");
        Box::new(d.help("`sluice run --interpret` runs the program"))
    })
}
