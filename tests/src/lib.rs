//! What the tests of the compiler as a whole share: golden files, running programs, random programs, shrinking.

// tests touch files, processes, clocks and the environment; clippy.toml bans them elsewhere
#![allow(clippy::disallowed_methods)]

pub mod device;
pub mod differ;
pub mod examine;
pub mod files;
pub mod generate;
pub mod mangle;
pub mod message;
pub mod patient;
pub mod pool;
pub mod run;
pub mod seeded;
pub mod seeds;
pub mod shrink;
pub mod simulate;
pub mod turns;
pub mod work;
