//! # jitted
//!
//! Purpose: from an elaborated program to machine code in memory, without a C compiler. Input: what all code is made of
//! ([`compiled::Front`]). Output: [`Ready`].

use crate::compiled::{self, Front};
use crate::exit::Fault;
use crate::native::Native;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt, dump};
use crate::session::Session;
use sluice_codegen::CProgram;
use sluice_codegen::c::fills::Fills;
use sluice_codegen::c::print::Site;
use sluice_jit::Refusal;
use sluice_kernel::items;

/// A program that can run, and what its numbers mean.
pub struct Ready {
    /// The program.
    pub native: Native,
    /// What the numbers of places mean where it can stop.
    pub sites: Vec<Site>,
    /// How full channels get in a batch, where it counts.
    pub fills: Option<Fills>,
}

impl From<(Native, CProgram)> for Ready {
    fn from((native, c): (Native, CProgram)) -> Ready {
        Ready { native, sites: c.sites, fills: c.fills }
    }
}

/// Schedules and lowers a program, and makes its code.
pub fn make(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Ready, Halt> {
    let front = compiled::front(session, checked, code)?;
    of(session, checked, code, front)
}

/// Makes the code.
pub(crate) fn of(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    mut front: Front,
) -> Result<Ready, Halt> {
    session.pass("item-ranges", || items::prove(&checked.program.graph, &mut front.kernels));
    let options = compiled::code_options(code);
    let input = compiled::input(checked, "program", &front.kernels, &front.verified, &options);
    let show = session.dumps("jit");
    let mut program = session.pass("jit", || sluice_jit::compile(&input, show)).map_err(|e| refused(&e))?;
    dump(session, "jit", || std::mem::take(&mut program.text))?;
    let (sites, fills) = (std::mem::take(&mut program.sites), program.fills.take());
    Ok(Ready { native: Native::made(program), sites, fills })
}

/// What of a program keeps it from having its code made in memory.
pub(crate) fn cannot(checked: &Checked, code: &CodeOptions, front: &Front) -> Option<&'static str> {
    let options = compiled::code_options(code);
    sluice_jit::cannot(&compiled::input(checked, "program", &front.kernels, &front.verified, &options))
}

/// Why there is no code.
fn refused(e: &Refusal) -> Fault {
    match e {
        Refusal::Cannot(why) => no_jit(why),
        Refusal::Codegen(e) => compiled::no_code(e),
        Refusal::Cranelift(_) => Fault::internal(e.to_string()),
    }
}

/// `--back-end jit` is not for this run.
pub(crate) fn no_jit(why: &str) -> Fault {
    Fault::usage(format!("{why}: `--back-end jit` cannot run it")).help("leave the option out, or use `--back-end cc`")
}
