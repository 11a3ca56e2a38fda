//! Manifests, commands that use them, and new projects.

use crate::support::*;
use std::process::Command;

/// Adds a gain: `float->float`.
const GAIN: &str = "float->float filter Gain { work pop 1 push 1 { push(pop() * 3); } }\n";

/// The command in a folder of the place.
fn inside(place: &Place, folder: &str, arguments: &[&str]) -> Done {
    let mut c = place.command(arguments);
    c.current_dir(place.path(folder));
    finish(c, b"")
}

#[test]
fn a_new_project_works_at_once() {
    let place = Place::new();
    let made = place.run(&["new", "my-average"]).ends(0);
    assert!(
        made.text().starts_with("made the project my-average: cd my-average, then `sluice run`"),
        "{}",
        made.text()
    );
    assert_eq!(place.files(), ["my-average"]);
    let smooth = "0.0\n0.25\n0.5\n0.75\n1.0\n0.75\n0.5\n0.25\n0.0\n";
    for folder in ["my-average", "my-average/src"] {
        inside(&place, folder, &["check"]).ends(0);
        assert_eq!(inside(&place, folder, &["run"]).ends(0).text(), smooth);
        assert_eq!(inside(&place, folder, &["run", "--interpret"]).ends(0).text(), smooth);
        let tested = inside(&place, folder, &["test"]).ends(0);
        assert_eq!(tested.text(), "steps ... ok\nthird ... ok\n\n2 passed; 0 failed\n");
    }
    assert!(place.run(&["rates", "my-average"]).ends(0).text().contains("Main.MovingAverage"));
    place.run(&["graph", "my-average/sluice.toml", "-o", "g.svg"]).ends(0);
    assert!(inside(&place, "my-average", &["sdep", "input", "MovingAverage"]).ends(0).text().contains("SDEP(m; input"));
    inside(&place, "my-average", &["build"]).ends(0);
    inside(&place, "my-average", &["build", "--lib"]).ends(0);
    inside(&place, "my-average", &["build", "--emit", "c"]).ends(0);
    let mut program = Command::new(place.path("my-average/my-average"));
    program.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    program.stderr(std::process::Stdio::piped());
    assert_eq!(finish(program, &floats(&[4.0, 0.0, 0.0, 0.0])).ends(0).stdout, floats(&[1.0]));
    // what was made is what its .gitignore names
    for made in ["my-average", "my-average.c", "my_average.h", "libmy-average.so"] {
        assert!(place.path(&format!("my-average/{made}")).exists(), "{made}");
        assert!(place.read("my-average/.gitignore").contains(&format!("/{made}\n")), "{made}");
    }
}

#[test]
fn new_refuses_what_is_there_and_names_that_are_none() {
    let place = Place::new().with("full/notes.txt", "mine").with("file", "");
    place.run(&["new", "full"]).ends(2).says("full is not empty: it has notes.txt").says("sluice.toml");
    assert_eq!(place.read("full/notes.txt"), "mine");
    place.run(&["new", "file"]).ends(2).says("is no folder");
    place.run(&["new", "2nd"]).ends(2).says("`2nd` is no name for a project").says("--name");
    place.run(&["new", ""]).ends(2);
    place.run(&["new", "a/b c", "--name", "ünder"]).ends(2);
    place.run(&["new"]).ends(2);
    place.run(&["new", "/proc/radio"]).ends(3).says("cannot make a project in /proc/radio");
    place.run(&["new", "file/radio"]).ends(3);
    assert_eq!(place.files(), ["file", "full"]);
    place.run(&["new", "a/b ü", "--name", "radio"]).ends(0);
    inside(&place, "a/b ü", &["test"]).ends(0);
    // where I am
    std::fs::create_dir_all(place.path("here/.git")).unwrap();
    let made = inside(&place, "here", &["new", "."]).ends(0);
    assert!(made.text().starts_with("made the project here: `sluice run` runs it"), "{}", made.text());
    inside(&place, "here", &["test"]).ends(0);
    inside(&place, "here", &["new", "."]).ends(2).says("this folder is not empty: it has README.md");
}

#[test]
fn without_files_and_without_a_project() {
    let place = Place::new().with("a.str", GAIN).with("empty/x", "");
    for command in ["check", "rates", "run", "build"] {
        place.run(&[command]).ends(2).says("no file is named").says("sluice.toml").says("sluice new");
    }
    place.run(&["graph", "-o", "x.svg"]).ends(2).says("no file is named");
    place.run(&["sdep", "A", "B"]).ends(2).says("no file is named");
    place.run(&["test"]).ends(2).says("no file is named");
    place.run(&["check", "empty"]).ends(2).says("empty is a folder without a sluice.toml");
    place.run(&["check", "none.toml"]).ends(3).says("cannot read none.toml: no such file");
    let place = place.with("p/sluice.toml", "");
    place.run(&["check", "a.str", "p"]).ends(2).says("`p` is a project: it cannot stand beside other files");
}

#[test]
fn sources_are_found() {
    let place = Place::new().with("p/sluice.toml", "").with("p/gain.str", GAIN);
    place.run(&["check", "p"]).ends(0);
    // src goes before files beside the manifest
    let place = place.with("p/src/deep/ä.str", GAIN.replace("Gain", "Deep"));
    assert!(place.run(&["rates", "p"]).ends(0).text().contains("\nDeep "));
    // names of files in messages lead there from where I am
    let place = place.with("p/src/deep/ä.str", "float->float filter Deep { work pop 1 push 1 { push(x); } }");
    place.run(&["check", "p"]).ends(1).says("p/src/deep/ä.str:1:");
    inside(&place, "p/src", &["check"]).ends(1).says("../src/deep/ä.str:1:");
    inside(&place, "p", &["check", "."]).ends(1).says("╭─[ src/deep/ä.str:1:");
    // several patterns; a file that two of them name
    let place = place.with("p/sluice.toml", "[program]\nsources = [\"g*.str\", \"gain.str\", \"src/**/n*.str\"]");
    place.run(&["check", "p"]).ends(1).says("no file matches `src/**/n*.str`");
    let place = place.with("p/src/none.str", "").with("p/src/z/n.str", "");
    place.run(&["check", "p"]).ends(0);
    let nothing = Place::new().with("p/sluice.toml", "");
    nothing.run(&["check", "p"]).ends(1).says("[E0704]").says("there is no program");
}

#[test]
fn the_command_line_wins() {
    let manifest = "[program]\nentry = \"Gain\"\n[build]\nunchecked = true\nlevel = 1\nfast-math = true\n\
        schedule = \"minimum-latency\"\n[run]\ninput = \"data/in.txt\"\noutput-format = \"text\"\niterations = 2\n";
    let place = Place::new()
        .with("p/sluice.toml", manifest)
        .with("p/gain.str", format!("{GAIN}{TWICE}"))
        .with("p/data/in.txt", "1 2 3 4")
        .with("other.f32", floats(&[10.0]));
    assert_eq!(place.run(&["run", "p"]).ends(0).text(), "3.0\n6.0\n");
    assert_eq!(place.run(&["run", "p", "-n", "3"]).ends(0).text(), "3.0\n6.0\n9.0\n");
    assert_eq!(place.run(&["run", "p", "--top", "Twice", "-n", "1"]).ends(0).text(), "2.0\n");
    assert_eq!(place.run(&["run", "p", "-i", "other.f32"]).ends(0).text(), "30.0\n");
    // a file that is named has the format of its own name, one without a telling name that of the manifest
    place.run(&["run", "p", "-o", "out.f32"]).ends(0);
    assert_eq!(std::fs::read(place.path("out.f32")).unwrap(), floats(&[3.0, 6.0]));
    place.run(&["run", "p", "-o", "out"]).ends(0);
    assert_eq!(place.read("out"), "3.0\n6.0\n");
    // what the C compiler is told
    let told = |arguments: &[&str]| {
        let all = [&["run", "p", "--dump-after", "compile-c"], arguments].concat();
        place.run(&all).ends(0).text().to_string()
    };
    assert!(told(&[]).contains(" -O1 ") && told(&[]).contains("-fassociative-math"), "{}", told(&[]));
    assert!(told(&["-O2"]).contains(" -O2 ") && !told(&["--fast-math=false"]).contains("-fassociative-math"));
    let indexes = "float->float filter Gain { int[4] a; int i; work pop 1 push 1 { i++; push(a[i] + pop()); } }";
    let place = place.with("p/gain.str", indexes);
    let lowered = |arguments: &[&str]| {
        let all = [&["run", "p", "--dump-after", "lower"], arguments].concat();
        place.run(&all).ends(0).text().to_string()
    };
    assert_ne!(lowered(&[]), lowered(&["--unchecked=false"]));
    assert_eq!(lowered(&[]), lowered(&["--unchecked"]));
    place.run(&["run", "p", "--unchecked=maybe"]).ends(2);
}

#[test]
fn ends_that_another_entry_lacks_are_no_fault() {
    let manifest =
        "[program]\nentry = \"Gain\"\n[run]\ninput = \"in.txt\"\noutput = \"out.txt\"\nrate = 8000\nchannels = 2\n";
    let place = Place::new().with("sluice.toml", manifest).with("p.str", format!("{GAIN}{COUNT}")).with("in.txt", "5");
    place.run(&["run"]).ends(0);
    assert_eq!(place.read("out.txt"), "15.0\n");
    assert_eq!(place.run(&["run", "--top", "Main", "-n", "2"]).ends(0).text(), "0\n1\n");
    let nested = Place::new().with("p/sluice.toml", manifest).with("p/p.str", GAIN).with("p/in.txt", "5");
    nested.run(&["run", "p"]).ends(0);
    assert_eq!(nested.read("p/out.txt"), "15.0\n", "paths are the manifest's");
}

#[test]
fn an_entry_that_is_none_points_into_the_manifest() {
    let place = Place::new().with("sluice.toml", "[program]\nentry = \"Gian\"\n").with("gain.str", GAIN);
    place.run(&["check"]).ends(1).says("[E0113]").says("sluice.toml:2:9").says("did you mean `Gain`?");
    place.run(&["check", "--top", "Gain"]).ends(0);
    let done = place.run(&["check", "--top", "Nothing"]).ends(1).says("asked for with --top");
    assert!(!done.stderr.contains("sluice.toml"), "{}", done.stderr);
    let place = place.with("sluice.toml", "").with("more.str", TWICE);
    place.run(&["check"]).ends(1).says("[E0112]").says("`entry` in [program] of sluice.toml");
}

#[test]
fn broken_manifests() {
    let place = Place::new().with("a.str", GAIN).with("sluice.toml", b"[program]\nname = \"\xff\"\n");
    place.run(&["check"]).ends(3).says("not UTF-8 from byte 18");
    let place = place.with("sluice.toml", b"\xef\xbb\xbf[program]\r\nname = \"radio\"\r\n");
    place.run(&["check"]).ends(0);
    let place = place.with("sluice.toml", "x = ".repeat(400_000));
    place.run(&["check"]).ends(3).says("larger than 1 MiB");
    let place = place.with("sluice.toml", format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)));
    place.run(&["check"]).ends(1).says("E0700");
    let place = place.with("sluice.toml", "[run]\nrate = 0\nname = 1\n[run]\n");
    place.run(&["check"]).ends(1).says("E0700").says("1 error");
    let place = place.with("sluice.toml", "[run]\nrate = 0\n");
    let done = place.run(&["check", "--message-format", "json"]).ends(1);
    let first: serde_json::Value = serde_json::from_str(done.text().lines().next().unwrap()).unwrap();
    assert_eq!((&first["code"], &first["labels"][0]["file"]), (&"E0703".into(), &"sluice.toml".into()));
}

/// C functions that the manifest names; those of the command line and of a test go before them.
#[test]
fn native_functions_of_a_project() {
    let program = "native Signal { float change(float x); }
float->float filter Change { work pop 1 push 1 { push(Signal.change(pop())); } }";
    let c = |what: &str| format!("#include \"factor.h\"\nfloat change(float x) {{ return x {what} FACTOR; }}\n");
    let place = Place::new()
        .with("p/sluice.toml", "[native]\nsources = [\"c/*.c\"]\npaths = [\"include\"]\nflags = [\"-DTIMES=4\"]\n[run]\noutput-format = \"text\"")
        .with("p/include/factor.h", "#define FACTOR TIMES\n")
        .with("p/c/change.c", c("*"))
        .with("p/src/change.str", program)
        .with("minus.c", c("-"))
        .with("p/tests/a.in.txt", "1 2")
        .with("p/tests/a.out.txt", "4 8")
        .with("p/tests/plus.in.txt", "1 2")
        .with("p/tests/plus.out.txt", "5 6")
        .with("p/tests/plus.toml", "[native]\nsources = [\"plus.c\"]")
        .with("p/tests/plus.c", c("+"))
        .with("p/tests/hang.in.txt", "1")
        .with("p/tests/hang.toml", "timeout = 0.5\noutput = { text = \"1\" }\n[native]\nsources = [\"hang.c\"]")
        .with("p/tests/hang.c", "float change(float x) { for (;;) x *= x; }")
        .with("in.txt", "10");
    place.run(&["check", "p"]).ends(0);
    assert_eq!(place.run(&["run", "p", "-i", "in.txt"]).ends(0).text(), "40.0\n");
    assert_eq!(place.run(&["run", "p", "-i", "in.txt", "--interpret"]).ends(0).text(), "40.0\n");
    assert_eq!(place.run(&["run", "p", "-i", "in.txt", "--native", "minus.c"]).ends(0).text(), "6.0\n");
    let wanted = "a ... ok
hang ... FAILED
  the run had not ended after 0.5 s; `timeout` sets another limit

plus ... ok

2 passed; 1 failed
";
    assert_eq!(place.run(&["test", "--project", "p"]).ends(1).text(), wanted);
    let place = place.with("p/sluice.toml", "[native]\nsources = [\"c/none.c\"]\npaths = [\"includes\"]");
    place.run(&["check", "p"]).ends(1).says("there is no file `c/none.c`").says("there is no folder `includes`");
}

/// What a project's build makes is in its folder, from wherever it is built.
#[test]
fn products_are_in_the_projects_folder() {
    let place = Place::new();
    place.run(&["new", "radio"]).ends(0);
    place.run(&["build", "radio"]).ends(0);
    assert!(place.path("radio/radio").is_file());
    std::fs::remove_file(place.path("radio/radio")).unwrap();
    place.run(&["build", "radio/sluice.toml", "--lib"]).ends(0);
    assert!(place.path("radio/libradio.so").is_file() && place.path("radio/radio.h").is_file());
    inside(&place, "radio/src", &["build", "--emit", "c"]).ends(0);
    assert!(place.path("radio/radio.c").is_file() && !place.path("radio/src/radio.c").exists());
    place.run(&["build", "radio", "-o", "here"]).ends(0);
    assert_eq!(place.files(), ["here", "radio"]);
}
