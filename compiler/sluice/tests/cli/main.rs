//! The command as its users meet it: processes, files, pipes, exit codes.

#![allow(clippy::disallowed_methods)] // tests start processes and write files

mod alike;
mod chains;
mod cslow;
mod cuda;
mod dynamic;
mod fmt;
mod functions;
mod fusing;
mod gpu_profiles;
mod hostile;
mod ilp;
mod jit;
mod known;
mod language;
mod level;
mod libraries;
mod linear;
mod lookup;
mod loops;
mod lsp;
mod makespan;
mod makespan_of_programs;
mod makespan_of_tiles;
mod many;
mod messages;
mod moving;
mod natives;
mod outputs;
mod private;
mod products;
mod profiles;
mod projects;
mod ranges;
mod running;
mod scheduling;
mod sliding;
mod support;
mod testing;
mod threads;
mod tune;
mod watching;
mod windows;
mod within;
