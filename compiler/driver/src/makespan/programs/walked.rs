//! # walked
//!
//! Purpose: what the warps of a block issue. Input: compiled kernels, what a launch tells a kernel. Output: the traces of the warps of a block; or why there are none, in words.

use super::WARP;
use super::compiled::{Compiled, Text};
use crate::cuda::arch::Arch;
use crate::cuda::instructions::flow::Meetings;
use crate::cuda::instructions::walk::{NoTrace, Trace, walk};
use crate::cuda::instructions::{BLOCK, Code, image, ptx, sass};

/// Traces of the warps of a block.
pub(super) type Warps = Vec<Trace>;

/// Where the stack is taken to begin.
const STACK: u32 = 1 << 24;

/// A number of the argument of all kernels (`sl_job` in generated text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// How often; of a batch, its tiles.
    Rounds = 32,
    /// The iteration, or the first tile.
    Iteration = 36,
    /// Firings, or tiles.
    Count = 40,
    /// Whose turn it is.
    Parity = 44,
}

/// Addresses in that argument: the arena's; those of what readers and writers have, from here on.
const ARENA: u64 = 0;
const ENDS: u64 = 48;

/// A kernel that can be walked.
pub(super) struct Kernel {
    code: Code,
    meetings: Meetings,
    /// Where its argument is.
    at: u64,
    /// Where the number of blocks is.
    blocks: u64,
    warps: u32,
}

impl Kernel {
    /// Of this name, in blocks of so many threads; nothing where there is no compiled code, or no such kernel.
    pub(super) fn of(from: &Compiled, name: &str, threads: u32, arch: Arch) -> Option<Kernel> {
        let (code, at, blocks) = match &from.text {
            Text::Sass(text) => {
                let (mut code, image) = sass::read(text, name, arch).zip(from.image.as_ref())?;
                code.constants = image::constants(&image.bytes, name);
                code.constants.word(0, image::threads(arch.major), threads);
                // any address will do: the stack is nobody else's
                code.constants.word(0, image::stack(arch.major), STACK);
                (code, image::arguments(&image.bytes, name)?, image::blocks(arch.major))
            }
            Text::Ptx(text) => {
                let mut code = ptx::read(text, name, arch)?;
                code.constants.word(ptx::THREADS.0, ptx::THREADS.1, threads);
                (code, ptx::ARGUMENTS, ptx::BLOCKS.1)
            }
            Text::Ir(_) => return None,
        };
        let meetings = Meetings::of(&code);
        Some(Kernel { code, meetings, at, blocks, warps: threads / WARP })
    }

    /// What a launch tells; nothing: nobody knows.
    pub(super) fn told(&mut self, what: Told, value: Option<u32>) {
        let at = self.at + what as u64;
        match value {
            Some(value) => self.code.constants.word(0, at, value),
            None => self.code.constants.forget(0, at),
        }
    }

    /// The device's memory, of so many ends, is that of the driver: it begins at aligned places.
    pub(super) fn has_memory(&mut self, ends: usize) {
        let places = (0..ends as u64).map(|e| ENDS + 8 * e).chain([ARENA]);
        places.for_each(|offset| self.code.constants.address(0, self.at + offset));
    }

    /// Blocks of the launch.
    pub(super) fn blocks(&mut self, count: u32) {
        self.code.constants.word(0, self.blocks, count);
    }

    /// The number of the block.
    pub(super) fn block(&mut self, number: Option<u32>) {
        match number {
            Some(number) => self.code.constants.word(BLOCK, 0, number),
            None => self.code.constants.forget(BLOCK, 0),
        }
    }

    /// The traces of a block's warps.
    pub(super) fn walk(&self) -> Result<Warps, NoTrace> {
        (0..self.warps).map(|warp| walk(&self.code, &self.meetings, warp, WARP)).collect()
    }
}

/// In words.
pub(super) fn described(block: Result<Warps, NoTrace>) -> Result<Warps, String> {
    let all = block.map_err(|why| match why {
        NoTrace::Endless(_) => "a loop of it goes on as long as data says".to_string(),
        NoTrace::TooLong => "a warp of it has more than four million instructions".to_string(),
        NoTrace::Beyond(_, what) => format!("it has {what}"),
    })?;
    if all.iter().any(|t| t.phases.len() != all[0].phases.len()) {
        return Err("its warps come to different numbers of barriers".into());
    }
    Ok(all)
}
