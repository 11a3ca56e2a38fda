//! The command as its users meet it: processes, files, pipes, exit codes.

#![allow(clippy::disallowed_methods)] // tests start processes and write files

mod fmt;
mod hostile;
mod messages;
mod products;
mod running;
mod support;
