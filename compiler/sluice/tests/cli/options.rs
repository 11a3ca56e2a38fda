//! Options that do not go together, and numbers that are out of range.

use crate::support::*;

/// Who makes the code is said once, or twice the same.
#[test]
fn back_ends_that_clash() {
    let place = Place::new().with("a.str", COUNT);
    let run = |options: &[&str]| place.run(&[&["run", "a.str", "-n", "1"], options].concat());
    for kind in ["cc", "jit"] {
        let both = |other: &str| format!("{other} and --back-end {kind} cannot be used together");
        run(&["--interpret", "--back-end", kind]).ends(2).says(&both("--interpret")).says("leave one of the two out");
        run(&["--trace", "--back-end", kind]).ends(2).says(&both("--trace")).says("the interpreter");
        let cuda = ["--target", "cuda", "--emulate", "--back-end", kind];
        run(&cuda).ends(2).says(&format!("--back-end {kind} and --target cuda cannot be used together"));
    }
    run(&["--threads", "2", "--back-end", "interpret"]).ends(2).says("--back-end interpret and --threads cannot");
    for together in [
        &["--interpret", "--back-end", "interpret"][..],
        &["--interpret", "--back-end", "auto"],
        &["--trace", "--back-end", "interpret"],
        &["--stats", "--back-end", "jit"],
    ] {
        assert_eq!(run(together).ends(0).text(), "0\n", "{together:?}");
    }
}

/// Whatever is wrong with a number, the message says which are right; programs of their own do so, too.
#[test]
fn numbers_out_of_range() {
    let place = Place::new().with("a.str", TWICE);
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    let most = i64::MAX.to_string();
    for (option, range) in [
        ("--threads-batch", "1 to 4294967296"),
        ("--threads", "0 to 256"),
        ("--iterations", &format!("0 to {most}")),
        ("--rate", "1 to 4294967295"),
        ("--channels", "1 to 64"),
        ("--channel-limit", "1 to 1099511627776"),
        ("--streams", "1 to 4096"),
        ("--max-filters", "1 to 4294967295"),
        ("--trace-limit", "0 to 18446744073709551615"),
    ] {
        let says = format!("not a whole number from {range}");
        for wrong in ["99999999999999999999", "-1", "x", "1.5", ""] {
            let option = format!("{option}={wrong}");
            place.run(&["run", "a.str", "--threads=1", &option]).ends(2);
            place.run(&["run", "a.str", &option]).ends(2).says(&says);
        }
        if ["--iterations", "--rate", "--channels"].contains(&option) {
            let mut own = std::process::Command::new(place.path("a"));
            let done = own.args([option, "99999999999999999999"]).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.code() == Some(2) && said.contains(&says), "{said}");
        }
    }
}

/// A name that is not UTF-8 is refused with the name, wherever it stands; a test of such a name is not passed over.
#[test]
fn names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"b\xffd.str");
    let place = Place::new().with("a.str", TWICE);
    for line in [&["check"][..], &["fmt"], &["run", "a.str", "--input"], &["build", "a.str", "-o"], &["new"]] {
        let mut command = place.command(line);
        command.arg(name);
        finish(command, b"").ends(2).says("error: `b\u{fffd}d.str` is not UTF-8");
    }
    place.run(&["new", "p"]).ends(0);
    std::fs::write(place.path("p/tests").join(std::ffi::OsStr::from_bytes(b"b\xffd.in.txt")), "1").unwrap();
    place.run(&["test", "--project", "p"]).ends(3).says("its name is not UTF-8");
}
