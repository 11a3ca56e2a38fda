//! The pipeline from files to running code: devices, input and output, cache.

// The driver is the room that touches files, processes, clocks and the environment; clippy.toml bans them elsewhere.
#![allow(clippy::disallowed_methods)]

pub mod as_c;
pub mod as_device;
pub mod as_run;
pub mod back_end;
pub mod cache;
pub mod cc;
pub mod commands;
pub mod compiled;
pub mod cslow;
pub mod cuda;
pub mod diff;
pub mod document;
pub mod dumps;
pub mod exit;
pub mod explain;
pub mod fix;
pub mod fmt;
pub mod folding;
pub mod guard;
pub mod interpreted;
pub mod interrupt;
pub mod io;
pub mod jitted;
pub mod kernels;
pub mod library;
pub mod linear;
pub mod makespan;
pub mod native;
pub mod native_stats;
pub mod natives;
pub mod options;
pub mod pipeline;
pub mod profile;
pub mod project;
pub mod rates;
pub mod render;
pub mod render_json;
mod resident;
pub mod runtime;
pub mod scheduling;
pub mod sdep;
pub mod session;
pub mod solver;
pub mod source;
pub mod stats;
pub mod streams;
pub mod testing;
pub mod threads;
pub mod trace;
pub mod tune;
pub mod watched;
