//! How a test says that it, or a part of it, cannot be made here: on standard error, which test runners hide where a test passes; and in a file that
//! `SLUICE_SKIPPED` names, which `scripts/test` shows at its end. `scripts/skipped` does the same for scripts.

#![allow(clippy::disallowed_methods)] // it writes to that file

use std::io::{Error, Write};
use std::path::Path;

/// Names the file.
pub const VARIABLE: &str = "SLUICE_SKIPPED";

/// Says what is skipped and why, in a line.
///
/// # Panics
/// Where the file cannot be written: then nobody would hear of it.
pub fn skipped(what: &str) {
    eprintln!("SKIPPED: {what}");
    if let Some(file) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty())
        && let Err(why) = gather(Path::new(&file), what)
    {
        panic!("{}: {why}", Path::new(&file).display());
    }
}

/// Adds the line. Many tests may do so at once: each line is one write at the end of the file.
fn gather(file: &Path, what: &str) -> Result<(), Error> {
    let line = format!("{}\n", what.split_whitespace().collect::<Vec<_>>().join(" "));
    std::fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_a_line_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gathered");
        gather(&file, "one thing").unwrap();
        gather(&file, "another,\n    in two lines").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one thing\nanother, in two lines\n");
        assert!(gather(folder.path(), "a folder").is_err());
    }
}
