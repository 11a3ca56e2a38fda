//! # emit
//!
//! Purpose: a checked program as texts for host and GPU. Input: the program, the options, what the code is for. Output: [`Texts`], or the file of a
//! stand-alone program.

use super::run::{Target, Texts};
use super::stand_alone;
use crate::exit::Fault;
use crate::options::{CodeOptions, CudaBuildOptions, CudaOptions};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;

/// The texts of a program that is run now.
pub fn texts(
    _session: &mut Session,
    _checked: &Checked,
    _code: &CodeOptions,
    options: &CudaOptions,
    _target: &Target,
) -> Result<Texts, Halt> {
    Err(not_yet(options))
}

/// The file of a program of its own.
pub fn stand_alone(
    _session: &mut Session,
    _checked: &Checked,
    _code: &CodeOptions,
    options: &CudaBuildOptions,
    _name: &str,
) -> Result<String, Halt> {
    let _archs = stand_alone::archs(&options.archs);
    Err(not_yet(&options.code))
}

/// Code generation for GPUs is not connected.
fn not_yet(options: &CudaOptions) -> Halt {
    Fault::internal(format!("the scheme `{}` is not connected", options.scheme.name())).into()
}
