//! What the commands of scripts/bench have in common: their arguments, and how they end.

#![allow(clippy::disallowed_methods)] // it reads the command line

use std::path::Path;
use std::process::exit;

/// Says how a command is called, and ends it.
pub fn usage(text: &str) -> ! {
    eprintln!("usage: {text} (scripts/bench calls it)");
    exit(2)
}

/// Ends a command that failed.
pub fn ended(done: Result<(), String>) {
    if let Err(why) = done {
        eprintln!("error: {why}");
        exit(1);
    }
}

/// A command `NAME SLUICE WORK RESULTS`: the sluice command, a folder for what is built, and the start of the names of the files to write.
pub fn three(name: &str, run: impl FnOnce(&str, &Path, &str) -> Result<(), String>) {
    let args: Vec<String> = std::env::args().collect();
    let [_, sluice, work, results] = &args[..] else { usage(&format!("{name} SLUICE WORK RESULTS")) };
    ended(run(sluice, Path::new(work), results));
}
