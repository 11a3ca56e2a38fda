//! Files that commands write: where they go, what they replace, and what must not be replaced.

use crate::support::*;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Command;

/// A device that takes everything, of the test's own; `None` where the system lets nobody make one.
fn device(place: &Place, name: &str) -> Option<()> {
    let made = Command::new("mknod").arg(place.path(name)).args(["c", "1", "3"]).output();
    let writes = made.is_ok_and(|o| o.status.success()) && std::fs::write(place.path(name), "x").is_ok();
    if !writes {
        sluice_skipped::skipped("devices cannot be made: nothing is written into one");
    }
    writes.then_some(())
}

/// Commands that write a file, but for its name.
const WRITERS: [&[&str]; 5] = [
    &["build", "a.str", "-o"],
    &["build", "a.str", "--lib", "-o"],
    &["build", "a.str", "--emit", "c", "-o"],
    &["graph", "a.str", "-o"],
    &["run", "a.str", "-n", "0", "-o"],
];

#[test]
fn devices_and_pipes_are_written_into() {
    for line in WRITERS {
        let place = Place::new().with("a.str", TWICE);
        let made = Command::new("mkfifo").arg(place.path("fifo")).status().unwrap();
        assert!(made.success());
        let path = place.path("fifo");
        let reader = std::thread::spawn(move || std::fs::read(path).unwrap());
        place.run(&[line, &["fifo"]].concat()).ends(0);
        assert!(std::fs::metadata(place.path("fifo")).unwrap().file_type().is_fifo(), "{line:?}");
        assert_eq!(reader.join().unwrap().is_empty(), line[0] == "run", "{line:?}");
        let before = place.files();
        if device(&place, "null").is_some() {
            place.run(&[line, &["null"]].concat()).ends(0);
            assert!(std::fs::metadata(place.path("null")).unwrap().file_type().is_char_device(), "{line:?}");
            assert_eq!(place.files().len(), before.len() + 1, "{:?}", place.files());
        }
    }
}

#[test]
fn links_are_followed() {
    for line in WRITERS {
        let place = Place::new().with("a.str", TWICE).with("sub/old.f32", "old");
        symlink("sub/old.f32", place.path("old")).unwrap();
        symlink("sub/new.f32", place.path("new")).unwrap();
        for (link, file) in [("old", "sub/old.f32"), ("new", "sub/new.f32")] {
            place.run(&[line, &[link]].concat()).ends(0);
            assert!(place.path(link).is_symlink(), "{line:?}");
            assert_ne!(std::fs::read(place.path(file)).unwrap(), b"old", "{line:?}");
        }
        symlink("round", place.path("round")).unwrap();
        place.run(&[line, &["round"]].concat()).ends(3).says("cannot write round");
    }
}
