//! # batch
//!
//! Purpose: how many steady states of a program run at once, and what bounds that. Input: the program. Output: [`Limits`] for [`layout`], and the number for stages, by trying layouts.

use super::fused;
use super::layout::{self, Limits, WIDEST};
use super::program::{CodegenError, ProgramInput};
use super::sharing::Lives;

/// Steady states that stages of a program run at once, where that is not asked for. What lies between the filters of a region takes no room, and what shares takes it once. `longer`: with twice
/// as much room as one thread's buffers take.
pub fn of_stages(input: &ProgramInput<'_>, longer: bool) -> Result<u64, CodegenError> {
    let limits = limits(input);
    let limits = Limits { batch: None, target: limits.target.saturating_mul(1 + u64::from(longer)), ..limits };
    let regions = fused::of(input);
    let lives = if input.steady.islands.is_none() { Lives::of_program(input, regions, None) } else { None };
    let laid_out = |limits: Limits| {
        layout::lay_out(input.graph, input.steady, input.globals, limits, (None, regions, lives.as_ref()))
    };
    let made = laid_out(limits)?;
    // less than a vector of firings costs as much as one, and what replicas do again is done for each batch; stages have the caches of several cores
    let target = limits.target.saturating_mul(4);
    let vectors = [4 * WIDEST, 2 * WIDEST, WIDEST].into_iter().skip(usize::from(!longer));
    let mut vectors =
        vectors.filter(|n| *n > made.batch).filter_map(|n| laid_out(Limits { batch: Some(n), ..limits }).ok());
    Ok(vectors.find(|l| l.channel_bytes <= target).unwrap_or(made).batch)
}

/// What bounds a program's buffers.
pub fn limits(input: &ProgramInput<'_>) -> Limits {
    let options = input.options;
    Limits {
        unit: input.schedule.schedule().batch,
        batch: options.batch,
        target: options.buffer_target,
        limit: options.buffer_limit,
        stages: None,
        turns: options.turns.max(1),
    }
}
