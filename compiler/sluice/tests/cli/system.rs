//! Where the system gives too little: a full disk, no thread.

use crate::support::*;
use std::process::{Command, Stdio};

/// Help and version are output like any other: where they cannot be written, that is told, and it is the system's fault.
#[test]
fn help_on_a_full_disk() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        sluice_skipped::skipped("help on a full disk: there is no /dev/full");
        return;
    };
    let place = Place::new().with("a.str", TWICE);
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    let to_full = |mut command: Command| {
        let done = command.stdout(Stdio::from(full.try_clone().unwrap())).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for line in [&["--help"][..], &["run", "--help"], &["help"], &["--version"], &["help", "run"]] {
        let (code, said) = to_full(place.command(line));
        assert_eq!(code, Some(3), "{line:?}");
        assert_eq!(said, "error: cannot write to standard output: no space left on device\n");
    }
    // what is wrong with the command line goes to standard error
    assert_eq!(to_full(place.command(&["--nonsense"])).0, Some(2));
    let mut own = Command::new(place.path("a"));
    own.arg("--help");
    let (code, said) = to_full(own);
    assert_eq!(code, Some(3));
    assert!(said.contains("cannot write standard output: No space left on device"), "{said}");
}

/// A limit that leaves room for the process, but not for the stacks of its threads: the system is at fault, not the program.
#[test]
fn no_thread() {
    let place = Place::new().with("a.str", COUNT);
    let limited = |kibibytes: u32, line: &str| {
        let mut command = Command::new("sh");
        let sluice = env!("CARGO_BIN_EXE_sluice");
        command.args(["-c", &format!("ulimit -v {kibibytes} && exec {sluice} {line}")]);
        command.current_dir(place.path(".")).env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command, b"")
    };
    for line in ["check a.str", "run a.str -n 1", "rates a.str", "check a.str --fix"] {
        // room for one stack of 512 MiB, and for none
        for (most, says) in [(1_000_000, "[E0998]"), (480_000, "error: cannot start a thread")] {
            let done = limited(most, line).ends(3).says(says);
            assert!(done.stderr.contains("ulimit -v") && !done.stderr.contains("E0999"), "{}", done.stderr);
        }
    }
    limited(8_000_000, "check a.str").ends(0);
}
