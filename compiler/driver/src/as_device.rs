//! # as-device
//!
//! Purpose: the program that kernels of regions (scheme `fused`) are made of, where it is another one than natively in general ([`crate::as_run`]). Input: a checked program, the scheme. Output: the
//! program in which what branches have in common is done once, zeroes that were put between items are not multiplied and, where other bytes are allowed (`--fast-math`), linear filters are combined
//! ([`crate::linear`]), where that takes fewer operations: item by item, for kernels have no transforms. `None` where that is the program as it is.
//!
//! What must hold: every other node fires as often as before in the initialisation and in a steady state, so that batches and iterations mean the same.
//!
//! Schedules are of the filters that somebody has written: they are what the paper's schemes are compared by, and what a profile has measured.

use crate::as_c::heads_once;
use crate::linear;
use crate::options::{CodeOptions, Linear, Scheme};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;

/// The program as a scheme's kernels have it; `None` where that is the program as it is.
pub fn as_device(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    scheme: Scheme,
) -> Result<Option<Checked>, Halt> {
    if !scheme.is_fused() {
        return Ok(None);
    }
    let once = heads_once(session, checked, code)?;
    let linear = match code.linear {
        Linear::Auto | Linear::Frequency => Linear::ItemByItem,
        said => said,
    };
    let code = &CodeOptions { linear, ..*code };
    Ok(linear::combined(session, once.as_ref().unwrap_or(checked), code)?.or(once))
}
