//! C compilers that make nothing, are ended, or are for another processor; what they leave behind.

use crate::support::*;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// A place with a program, and a command named `cc` that does what `script` says.
fn with_compiler(script: &str) -> (Place, String) {
    let place = Place::new().with("a.str", TWICE).with("cc", format!("#!/bin/sh\n{script}\n"));
    let path = place.path("cc");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let name = path.display().to_string();
    (place, name)
}

#[test]
fn what_makes_nothing_is_no_compiler() {
    // nothing at all; what is no program
    for script in
        ["exit 0", "for last; do :; done; while [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo text > \"$2\"; shift; done"]
    {
        let (place, cc) = with_compiler(script);
        std::fs::write(place.path("old"), "old").unwrap();
        for line in [&["build", "a.str", "-o", "old"][..], &["build", "a.str", "--lib", "-o", "old"]] {
            let mut command = place.command(line);
            command.env("CC", &cc).env("SLUICE_CACHE", place.path("cache"));
            finish(command, b"").ends(3).says("cannot compile a trivial program").says("it says that it is done, but");
            assert_eq!(std::fs::read(place.path("old")).unwrap(), b"old", "{script}");
        }
    }
}

#[test]
fn one_that_is_ended_is_not_at_fault() {
    let (place, cc) = with_compiler("case \"$*\" in *-o*partial*) kill -KILL $$;; *) exec cc \"$@\";; esac");
    let mut command = place.command(&["run", "a.str", "--back-end", "cc"]);
    command.env("CC", &cc).env("SLUICE_CACHE", place.path("cache"));
    finish(command, b"").ends(3).says("was ended before it was done").says("where memory is short");
}

/// Of one that breaks down where it does its utmost less is asked.
#[test]
fn one_that_breaks_down_is_asked_for_less() {
    let breaks = |levels: &str| {
        format!(
            "for a; do case \"$a\" in -O*) level=$a;; esac; done
case \"$level\" in {levels}) echo 'x.c:1: internal compiler error: in nobody_knows, at tree.c:1' >&2; exit 1;; esac\nexec cc \"$@\""
        )
    };
    for (levels, works) in [("-O3", true), ("-O[123]", true), ("-O*", false)] {
        let (place, cc) = with_compiler(&breaks(levels));
        let mut command = place.command(&["run", "a.str", "--back-end", "cc"]);
        command.env("CC", &cc).env("SLUICE_CACHE", place.path("cache"));
        let done = finish(command, &floats(&[1.0, 2.5]));
        if works {
            assert_eq!(done.ends(0).stdout, floats(&[2.0, 5.0]), "{levels}");
        } else {
            done.ends(4).says("internal compiler error");
        }
    }
}

/// The processor that is named in CC is compiled for, not this one.
#[test]
fn a_processor_is_named_with_the_compiler() {
    let (place, cc) = with_compiler("echo \"$*\" >> \"$(dirname \"$0\")/said\"\nexec cc \"$@\"");
    for (more, native) in [("", true), (" -march=x86-64", false)] {
        let _ = std::fs::remove_file(place.path("said"));
        let mut command = place.command(&["build", "a.str", "-o", "a"]);
        command.env("CC", format!("{cc}{more}")).env("SLUICE_CACHE", place.path("cache"));
        finish(command, b"").ends(0);
        let said = std::fs::read_to_string(place.path("said")).unwrap();
        assert_eq!(said.contains("-march=native"), native, "{said}");
    }
}

/// A compiler gets the flags of ours that it knows, and is not asked beforehand.
#[test]
fn flags_that_a_compiler_does_not_know_are_left_out() {
    let unknown = |flags: &str| {
        format!(
            "for a; do case \"$a\" in {flags}) echo \"cc: error: unrecognized command-line option '$a'\" >&2; exit 1;; esac; done\n"
        )
    };
    let ours = ["-mstore-max=128", "-fno-ipa-ra"];
    for (script, known) in [
        (String::new(), &ours[..]),
        (unknown("-mstore-max=*"), &ours[1..]),
        (unknown("-mstore-max=*|-fno-ipa-ra"), &[]),
    ] {
        // the compiler behind it is given none of them, and so may be any
        let (place, cc) = with_compiler(&format!(
            "{script}echo \"$*\" >> \"$(dirname \"$0\")/said\"\nfor a; do shift; case \"$a\" in -mstore-max=*|-fno-ipa-ra);; *) set -- \"$@\" \"$a\";; esac; done\nexec cc \"$@\""
        ));
        let mut command = place.command(&["run", "a.str", "--back-end", "cc"]);
        command.env("CC", &cc).env("SLUICE_CACHE", place.path("cache"));
        finish(command, b"").ends(0);
        let said = std::fs::read_to_string(place.path("said")).unwrap();
        let compiled: Vec<&str> = said.lines().filter(|l| l.contains("partial")).collect();
        assert_eq!(compiled.len(), 2, "the engine and the program: {said}");
        for line in &compiled {
            let has: Vec<&str> = ours.into_iter().filter(|f| line.contains(f)).collect();
            assert_eq!(has, known, "{line}");
        }
        assert!(said.lines().all(|l| !l.contains(" -E ")), "{said}");
    }
}

#[test]
fn signals_leave_nothing_behind() {
    let (place, cc) = with_compiler(
        "case \"$*\" in *partial*) echo begun > \"$(dirname \"$0\")/begun\"; sleep 60;; *) exec cc \"$@\";; esac",
    );
    for (line, signal) in
        [(&["build", "a.str", "-o", "out"][..], "INT"), (&["run", "a.str", "--back-end", "cc"], "TERM")]
    {
        let _ = std::fs::remove_file(place.path("begun"));
        let mut command = place.command(line);
        command.env("CC", &cc).env("SLUICE_CACHE", place.path("cache")).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        while !place.path("begun").exists() {
            assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap().success());
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(if signal == "INT" { 130 } else { 143 }), "{line:?}");
        let left = |folder: &str| {
            let names =
                std::fs::read_dir(place.path(folder)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
            names.filter(|n| n.contains("partial")).collect::<Vec<_>>()
        };
        assert!(left(".").is_empty() && left("cache").is_empty(), "{line:?}: {:?} {:?}", left("."), left("cache"));
        assert!(!place.path("out").exists());
    }
}

/// What a cache holds may have been cut off, or changed.
#[test]
fn a_damaged_cache_is_mended() {
    let place = Place::new().with("a.str", TWICE);
    let run = || {
        let mut command = place.command(&["run", "a.str", "--back-end", "cc"]);
        command.env("SLUICE_CACHE", place.path("cache"));
        finish(command, &1.5f32.to_le_bytes()).ends(0).stdout
    };
    let wanted = run();
    for extension in ["o", "so"] {
        for keep in [0, 100, 3000] {
            for e in std::fs::read_dir(place.path("cache")).unwrap() {
                let path = e.unwrap().path();
                // the program itself is made again where its object is wanted
                if path.extension().is_some_and(|e| e == extension || e == "so") {
                    let bytes = std::fs::read(&path).unwrap();
                    std::fs::write(&path, &bytes[..bytes.len().min(keep)]).unwrap();
                }
            }
            assert_eq!(run(), wanted, "{extension} {keep}");
        }
    }
}

/// Names whose headers would be taken for others, or whose functions the text has already.
#[test]
fn names_of_libraries_that_cannot_be() {
    let place = Place::new().with("a.str", TWICE);
    for (file, why) in [
        ("libsl.so", "names that begin with it"),
        ("libstddef.so", "the system's stddef.h"),
        ("stdint.so", "the system's stdint.h"),
    ] {
        place.run(&["build", "a.str", "--lib", "-o", file]).ends(2).says(why);
        assert_eq!(place.files().len(), 1, "{:?}", place.files());
    }
    // a long name, to which no more fits
    let long = "n".repeat(250);
    place.run(&["build", "a.str", "-o", &long]).ends(0);
    assert!(place.path(&long).exists());
}

/// A file that is written has no number of the standard ones, whoever has closed those.
#[test]
fn closed_ends_are_not_files() {
    let text = "int->int filter Main { work pop 1 push 1 { int x = pop(); println(\"p\" + x); push(x + 1); } }";
    let place = Place::new().with("a.str", text).with("in", "12345678");
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    for closed in ["<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"] {
        let line = format!("./a -i in -o out {closed}");
        let done = Command::new("sh").args(["-c", &line]).current_dir(place.path(".")).status().unwrap();
        assert!(!done.success(), "what is printed goes nowhere: {closed}");
        let written = std::fs::read(place.path("out")).unwrap_or_default();
        assert!(!written.starts_with(b"p"), "{closed}");
    }
    let done =
        Command::new("sh").args(["-c", "./a -i in -o out > said"]).current_dir(place.path(".")).status().unwrap();
    assert!(done.success());
    assert_eq!(std::fs::read(place.path("out")).unwrap(), b"22346678");
}
