//! The back end for devices, in the order of the flow: `refuse` says what cannot run there, `codes` finds what filters share, `layout` places the channels, `parts` are firings of a node by
//! a block, `groups` orders those of loops, `tasks` are instances of the schedule, `swp` and `serial` the kernels of the schemes; `host` is what the
//! host needs, `program` puts all together.

mod codes;
mod groups;
mod host;
pub mod layout;
mod parts;
pub mod program;
mod refuse;
pub mod rts;
mod serial;
mod swp;
mod tasks;

pub use program::{CudaInput, CudaOptions, CudaProgram, KernelInfo, Scheme, emit};
