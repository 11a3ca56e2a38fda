//! Files that commands write: where they go, what they replace, and what must not be replaced.

use crate::support::*;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
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
        symlink("sub/new.f32", place.path("soon")).unwrap();
        for (link, file) in [("old", "sub/old.f32"), ("soon", "sub/new.f32")] {
            place.run(&[line, &[link]].concat()).ends(0);
            assert!(place.path(link).is_symlink(), "{line:?}");
            assert_ne!(std::fs::read(place.path(file)).unwrap(), b"old", "{line:?}");
        }
        symlink("circle", place.path("circle")).unwrap();
        place.run(&[line, &["circle"]].concat()).ends(3).says("cannot write circle");
    }
}

/// What a program is made of is never overwritten, by whatever name; and nothing is written then.
#[test]
fn sources_are_not_overwritten() {
    let place = Place::new()
        .with("h.str", "import \"sub/i.str\";\nfloat->float pipeline Main { add Twice; }\n")
        .with("sub/i.str", TWICE)
        .with("n.c", "int zero(void) { return 0; }\n");
    symlink("h.str", place.path("link")).unwrap();
    std::fs::hard_link(place.path("h.str"), place.path("hard")).unwrap();
    let whole = place.path("sub/i.str").display().to_string();
    let before = place.files();
    let lines: [&[&str]; 11] = [
        &["build", "-o"],
        &["build", "--emit", "c", "-o"],
        &["build", "--emit", "native-header", "-o"],
        &["build", "--lib", "-o"],
        &["graph", "-o"],
        &["report", "-o"],
        &["schedule", "-o"],
        &["profile", "-n", "1", "-o"],
        &["run", "-n", "0", "-o"],
        &["run", "-n", "0", "--trace", "--trace-output"],
        &["run", "-n", "0", "--stats", "--stats-output"],
    ];
    for line in lines {
        for (path, source) in
            [("h.str", "h.str"), ("./h.str", "h.str"), ("link", "h.str"), ("hard", "h.str"), (&whole[..], "sub/i.str")]
        {
            let done = place.run(&[&[line[0], "h.str"], &line[1..], &[path]].concat());
            done.ends(2).says(&format!("{path} would overwrite {source}, of which the program is made"));
        }
    }
    place.run(&["build", "h.str", "--native", "n.c", "--emit", "c", "-o", "./n.c"]).ends(2).says("would overwrite n.c");
    assert!(place.read("h.str").starts_with("import") && place.read("sub/i.str") == TWICE);
    assert_eq!(place.files(), before);
    // the header of a library, too
    let place = Place::new().with("h.h", TWICE);
    place.run(&["build", "h.h", "--lib", "-o", "libh.so"]).ends(2).says("h.h would overwrite h.h");
    // a project's manifest
    let place = Place::new().with("sluice.toml", "[program]\nname = \"p\"\n").with("p.str", TWICE);
    place.run(&["graph", "-o", "sluice.toml"]).ends(2).says("would overwrite sluice.toml");
    // files that the program names are its own fault
    let program = "void->void pipeline Main { add FileReader<int>(\"in.bin\"); add FileWriter<int>(\"./a.str\"); }";
    let place = Place::new().with("a.str", program).with("in.bin", [1, 2, 3, 4]);
    place.run(&["run", "a.str"]).ends(1).says("./a.str would overwrite a.str");
    assert_eq!(place.read("a.str"), program);
}

/// Outputs of one run are different files, whatever they are called.
#[test]
fn outputs_are_different_files() {
    let program = |first: &str, second: &str| {
        format!("void->void pipeline Main {{ add FileReader<int>(\"in\"); add splitjoin {{ split duplicate; add Identity<int>; add Identity<int>; join roundrobin(1, 1); }};
add Out; }}
int->void splitjoin Out {{ split roundrobin(1, 1); add FileWriter<int>(\"{first}\"); add FileWriter<int>(\"{second}\"); join roundrobin(0, 0); }}")
    };
    let place = Place::new().with("in", [1, 2, 3, 4]).with("twice.str", TWICE).with("there.bin", "x");
    symlink("o.bin", place.path("link")).unwrap();
    let whole = place.path("o.bin").display().to_string();
    for (first, second) in [
        ("o.bin", "./o.bin"),
        ("o.bin", &whole[..]),
        ("link", "o.bin"),
        ("there.bin", "./there.bin"),
        ("o.bin", "o.bin"),
    ] {
        std::fs::write(place.path("a.str"), program(first, second)).unwrap();
        let says = format!("two ends of the program would write {second}");
        place.run(&["run", "a.str"]).ends(1).says(&says);
        place.run(&["build", "a.str", "-o", "a"]).ends(0);
        let built = Command::new(place.path("a")).current_dir(place.path(".")).output().unwrap();
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.code() == Some(1) && said.contains(&says), "{said}");
        assert!(!place.path("o.bin").exists() && place.read("there.bin") == "x");
    }
    std::fs::write(place.path("a.str"), program("o.bin", "p.bin")).unwrap();
    place.run(&["run", "a.str"]).ends(0);
    for (option, what) in [("--trace", "--trace-output"), ("--stats", "--stats-output")] {
        let line = ["run", "twice.str", "-o", "q.f32", option, what, "./q.f32"];
        place.run(&line).ends(2).says(&format!("{what} would write ./q.f32, and so would another output"));
    }
    let both = ["run", "twice.str", "--trace", "--trace-output", "t", "--stats", "--stats-output", "./t"];
    place.run(&both).ends(2).says("--stats-output would write ./t");
}

/// Who may use a file may use what replaces it; programs can be run.
#[test]
fn permissions_stay() {
    let place = Place::new().with("a.str", TWICE);
    let set = |name: &str, mode: u32| {
        std::fs::write(place.path(name), "old").unwrap();
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    for line in WRITERS {
        set("out", 0o640);
        place.run(&[line, &["out"]].concat()).ends(0);
        assert_ne!(std::fs::read(place.path("out")).unwrap(), b"old", "{line:?}");
        assert_eq!(mode("out"), if line.len() == 3 && line[0] == "build" { 0o750 } else { 0o640 }, "{line:?}");
    }
    set("a", 0o604);
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    assert_eq!(mode("a"), 0o705);
    set("out", 0o620);
    let mut built = Command::new(place.path("a"));
    built.args(["-o", "out"]).stdin(std::process::Stdio::null()).current_dir(place.path("."));
    assert!(built.status().unwrap().success());
    assert_eq!((mode("out"), place.read("out")), (0o620, String::new()));
    // what a program writes goes through links, too
    symlink("later", place.path("link")).unwrap();
    built.args(["-o", "link"]);
    assert!(built.status().unwrap().success());
    assert!(place.path("link").is_symlink() && place.path("later").exists());
}

/// Standard output has a path, too; where it is a pipe, the path leads to nothing that has a name.
#[test]
fn standard_output_by_its_path() {
    // a library would have the name of it, which is C's
    for line in WRITERS.iter().filter(|line| !line.contains(&"--lib")) {
        let place = Place::new().with("a.str", TWICE);
        let done = place.run(&[*line, &["/dev/stdout"]].concat()).ends(0);
        assert_eq!(done.stdout.is_empty(), line[0] == "run", "{line:?}");
    }
}
