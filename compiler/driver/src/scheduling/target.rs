//! The machine that a program is scheduled for: one that comes with Sluice, or a TOML file.

use crate::exit::Fault;
use sluice_schedule::machine::{self, Machine, SHIPPED};
use std::path::Path;

/// What is taken where nothing is said.
pub const DEFAULT: &str = "h200";
/// The name of the computer at hand.
pub const THIS: &str = "cpu";

/// Finds a machine by name, or reads it from a file.
pub fn machine(which: &str) -> Result<Machine, Fault> {
    if let Some(mut found) = machine::shipped(which) {
        if which == THIS {
            found.processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        }
        return Ok(found);
    }
    let path = Path::new(which);
    if !path.exists() && path.extension().is_none() {
        let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
        let near = sluice_grammar::similar::closest(which, names.iter().copied());
        let help = match near {
            Some(near) => format!("is it `{near}`?"),
            None => {
                format!("Sluice knows {}; others are described in a TOML file, see docs/schedule.md", names.join(", "))
            }
        };
        return Err(Fault::usage(format!("there is no machine `{which}`")).help(help));
    }
    let text = std::fs::read_to_string(path).map_err(|e| Fault::file("read", path.display(), &e))?;
    machine::read(&text).map_err(|fault| {
        let line = text[..fault.place.start.min(text.len())].lines().count().max(1);
        Fault::usage(format!("{which}, line {line}: {}", fault.message)).help("docs/schedule.md lists the fields")
    })
}
