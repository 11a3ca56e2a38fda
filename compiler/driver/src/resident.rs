//! # resident
//!
//! Purpose: a process that runs a stream program for days should hold the program's memory, not that of the compiler that made it. The front end, code generation and the solvers are some twenty
//! megabytes of machine code, of which the system keeps in the process what has been used once, and what lies around it. What a phase has left behind is let go: the pages are the files' own,
//! unchanged, so whoever needs one again gets it back from the file (or, as a rule, from the system's cache of it).
//!
//! This is one of the driver's modules with `unsafe`.

#![allow(unsafe_code)]

use rustix::mm::{Advice, madvise};
use std::ops::Range;

/// Lets go of the machine code of this process, and of the tables that were needed to load it. Does nothing where the system does not say where they are.
pub fn let_go() {
    let Ok(text) = std::fs::read_to_string("/proc/self/maps") else { return };
    for range in text.lines().filter_map(unchanged) {
        // SAFETY: the pages are a file's, in a mapping of its own that nobody can write to, of a part of the file that is not written to while it is loaded ([`unchanged`]). Taken away, they come back as they
        // were when they are touched. A range that is no longer mapped as it was is refused by the system, or is such a file's again.
        let _ = unsafe { madvise(range.start as *mut _, range.len(), Advice::LinuxDontNeed) };
    }
}

/// The range of a line of the table of mappings, if it is a part of a file that nobody changes: machine code, or its first part, which has headers and tables of symbols. What is only to be read may
/// have been relocated before, and is not the file's any more.
fn unchanged(line: &str) -> Option<Range<usize>> {
    let mut words = line.split_whitespace();
    let (range, may, offset, _, _, file) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let range = number(start)?..number(end)?;
    let code = may == "r-xp";
    let headers = may == "r--p" && number(offset)? == 0;
    (file.starts_with('/') && (code || headers) && !range.is_empty()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_changes() {
        let line = |rest: &str| unchanged(&format!("7f0010-7f0030 {rest}"));
        assert_eq!(line("r-xp 00a00000 fe:00 123    /usr/bin/sluice"), Some(0x7f0010..0x7f0030));
        assert_eq!(line("r--p 00000000 fe:00 123    /usr/bin/sluice"), Some(0x7f0010..0x7f0030));
        for other in [
            "r--p 00a00000 fe:00 123    /usr/bin/sluice", // constants, perhaps relocated
            "rw-p 00000000 fe:00 123    /usr/bin/sluice",
            "rwxp 00000000 fe:00 123    /usr/bin/sluice",
            "r-xs 00000000 fe:00 123    /usr/bin/sluice",
            "r-xp 00000000 00:00 0",
            "r-xp 00000000 00:00 0      [vdso]",
            "r--p 00000000 00:00 0      [vvar]",
        ] {
            assert_eq!(line(other), None, "{other}");
        }
        assert_eq!(unchanged(""), None);
        assert_eq!(unchanged("x-y r-xp 0 0 0 /a"), None);
    }

    /// Kilobytes that are in the process of files.
    fn of_files() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("RssFile:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse().unwrap()
    }

    #[test]
    fn what_is_let_go_comes_back() {
        let before = of_files();
        let_go();
        let after = of_files();
        assert!(after < before, "{after} KiB of {before}");
        // and all goes on
        assert_eq!((0..100).map(|i| format!("{i}")).collect::<String>().len(), 190);
    }
}
