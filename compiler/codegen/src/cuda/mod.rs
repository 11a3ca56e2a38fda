//! The back end for devices, in the order of the flow: `refuse` says what cannot run there, `codes` finds what filters share, `layout` places the channels, `parts` are firings of a node by
//! a block, `moves` those of splitters and joiners, `turns` streams that take turns, `groups` orders those of loops, `tasks` are instances of the schedule, `swp` and `serial` the kernels of the schemes; `regions`, `views`, `tiles` and `fused` those of nodes without state fused, `steps` what a tile's threads do between barriers, `beside` which of it is one loop, `areas` where its channels lie meanwhile, `replay` the judge of both, `lanes` which threads make which firings, `tiled` what these schemes start, `warps` those whose warps have roles; `profile` are kernels that measure nodes; `host` is what the
//! host needs, `program` puts all together.

mod areas;
mod beside;
mod codes;
mod constants;
mod copies;
mod faults;
mod filters;
mod fused;
mod groups;
mod host;
mod lanes;
pub mod layout;
mod moves;
mod options;
mod parts;
mod pieces;
mod profile;
pub mod program;
mod refuse;
mod regions;
mod replay;
pub mod rts;
mod serial;
mod several;
mod stand_alone;
mod steps;
mod swp;
mod tasks;
mod tiled;
mod tiles;
mod turns;
mod views;
mod warps;

#[cfg(test)]
mod tests;

pub use lanes::{StepCounts, TileCounts};
pub use options::{CudaOptions, Scheme};
pub use profile::{ProfileKernel, ProfileText, profile};
pub use program::{CudaInput, CudaProgram, KernelInfo, channel_bytes, emit};
pub use stand_alone::stand_alone;
pub use tiled::{BUSY, Grid, Started, Tiled, When};
pub use turns::has_turn_states;
