//! # guard
//!
//! Purpose: what a program is made of is never overwritten by what is made of it. Input: the files that were read, and where a command would
//! write. Output: a fault where the two meet, by whatever names.

use crate::exit::Fault;
use crate::io::place;
use crate::options::{NativeOptions, ProgramOptions};
use crate::pipeline::Checked;

/// Refuses outputs that are files of the program: its sources and what they import, its manifest, its native code.
pub fn outputs<'a>(
    checked: &Checked,
    options: &ProgramOptions,
    natives: &NativeOptions,
    outputs: impl IntoIterator<Item = &'a str>,
) -> Result<(), Fault> {
    let sources = checked.sources.files().map(|(_, file)| file.name.as_str());
    let manifest = options.manifest.iter().map(|m| m.path.as_str());
    let read: Vec<&str> = sources.chain(manifest).chain(natives.files.iter().map(String::as_str)).collect();
    for output in outputs {
        // one that is not there overwrites nothing
        let Some(found @ place::Identity::There(..)) = place::identity(output) else { continue };
        if let Some(source) = read.iter().find(|r| place::identity(r).as_ref() == Some(&found)) {
            return Err(Fault::usage(format!("{output} would overwrite {source}, of which the program is made"))
                .help("write to another file"));
        }
    }
    Ok(())
}
