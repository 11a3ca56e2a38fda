//! Native functions: C that the user supplies, compiled and linked with what sluice makes, and called by the interpreter.
//!
//! - [`sources`]: the files on the command line (or in a manifest), compiled, with a key for the cache.
//! - [`missing`]: what a linker misses, in terms of the program.
//! - [`foreign`]: the interpreter's calls; [`marshal`] brings values into the layout that C has, and back.

pub mod foreign;
pub mod marshal;
pub mod missing;
pub mod sources;

pub use sources::Natives;
