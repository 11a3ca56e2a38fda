//! Tables, pictures, executables, libraries.

use super::threads::CHAIN;
use crate::support::*;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn rates_as_a_table_and_as_json() {
    let program = "float->float filter Down { work peek 5 pop 2 push 1 { push(peek(4)); pop(); pop(); } }
        float->float pipeline Main { add Down; add Down; }";
    let place = Place::new().with("a.str", program);
    let table = place.run(&["rates", "a.str"]).ends(0);
    assert!(table.text().starts_with("stream") && table.text().contains("streams, "), "{}", table.text());
    let json = place.run(&["rates", "a.str", "--format", "json"]).ends(0);
    let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!(json["schema"], "sluice-rates-1");
    let down: Vec<_> = json["streams"].as_array().unwrap().iter().filter(|s| s["kind"] == "filter").collect();
    assert_eq!(down.len(), 2);
    assert_eq!((&down[0]["peek"], &down[0]["pop"], &down[0]["push"]), (&5.into(), &2.into(), &1.into()));
    assert_eq!((&down[0]["repetitions"], &down[1]["repetitions"]), (&2.into(), &1.into()));
    assert_eq!(down[0]["state"], false);
}

#[test]
fn pictures() {
    let place = Place::new().with("a.str", COUNT);
    place.run(&["graph", "a.str", "-o", "a.svg"]).ends(0);
    assert!(std::fs::read_to_string(place.path("a.svg")).unwrap().contains("<svg"));
    place.run(&["graph", "a.str", "-o", "a.dot"]).ends(0);
    assert!(std::fs::read_to_string(place.path("a.dot")).unwrap().contains("digraph"));
    assert!(place.run(&["graph", "a.str", "-o", "-", "--format", "dot"]).ends(0).text().contains("digraph"));
    place.run(&["graph", "a.str", "-o", "none/a.svg"]).ends(3);
}

#[test]
fn an_executable_of_its_own() {
    let place = Place::new().with("a.str", TWICE);
    place.run(&["build", "a.str", "-o", "twice"]).ends(0);
    let done = finish(
        {
            let mut c = Command::new(place.path("twice"));
            c.stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            c
        },
        &floats(&[1.0, 2.5]),
    );
    assert_eq!(done.ends(0).stdout, floats(&[2.0, 5.0]));
}

#[test]
fn dependence_of_firings() {
    let program = "void->int filter Two { work push 2 { push(1); push(2); } }
int->int filter Three { work pop 3 push 1 { push(pop()); pop(); pop(); } }
int->void filter Sink { work pop 1 { println(pop()); } }
void->void pipeline Main { add Two; add Three; add pipeline { add Sink; }; }";
    let place = Place::new().with("a.str", program);
    let table = place.run(&["sdep", "a.str", "Two", "Sink"]).ends(0);
    let rows: Vec<Vec<&str>> = table.text().lines().skip(3).map(|l| l.split_whitespace().collect()).collect();
    // A pushes 2, B pops 3: the m-th firing needs ⌈3m/2⌉
    assert_eq!(rows[..4], [["1", "2"], ["2", "3"], ["3", "5"], ["4", "6"]]);
    let json = place.run(&["sdep", "a.str", "Main.Two", "Main.Three", "--format", "json"]).ends(0);
    assert!(json.text().contains("\"period\": 2") && json.text().contains("\"step\": 3"), "{}", json.text());
    place.run(&["sdep", "a.str", "Sink", "Two"]).ends(2).says("no items flow");
    place.run(&["sdep", "a.str", "Tow", "Sink"]).ends(2).says("is it `Two`?");
    place.run(&["sdep", "a.str", "Two"]).ends(2).says("two streams");
}

#[test]
fn c_and_a_library() {
    let place = Place::new().with("a.str", TWICE);
    assert!(place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().contains('{'));
    place.run(&["build", "a.str", "--lib", "-o", "libtwice.so"]).ends(0);
    assert_eq!(place.files(), ["a.str", "libtwice.so", "twice.h"]);
    place.run(&["build", "a.str", "--lib", "--emit", "c"]).ends(2);
}

/// The examples of docs/library.md, as it says.
#[test]
fn a_library_is_used_from_c_and_from_python() {
    const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/library");
    let place = Place::new();
    for name in ["smooth.str", "use_library.c", "use_library.py"] {
        std::fs::copy(format!("{EXAMPLES}/{name}"), place.path(name)).unwrap();
    }
    place.run(&["build", "--lib", "smooth.str", "-o", "libsmooth.so"]).ends(0);
    // the average of i, i + 1 and i + 2
    let wanted: String = (1..99).map(|i| format!("{i}\n")).collect();
    let in_place = |program: &str, arguments: &[&str]| {
        let out = Command::new(program).args(arguments).current_dir(place.path(".")).output();
        out.unwrap_or_else(|e| panic!("{program}: {e}"))
    };
    let cc = in_place(
        "cc",
        &["-Wall", "-Wextra", "-Werror", "use_library.c", "-L.", "-lsmooth", "-Wl,-rpath,.", "-o", "use_library"],
    );
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    assert_eq!(String::from_utf8_lossy(&in_place("./use_library", &[]).stdout), wanted);
    if Command::new("python3").arg("--version").output().is_err() {
        sluice_skipped::skipped("there is no python3: the library is not used from it");
        return;
    }
    let python = in_place("python3", &["use_library.py", "./libsmooth.so"]);
    assert_eq!(String::from_utf8_lossy(&python.stdout), wanted, "{}", String::from_utf8_lossy(&python.stderr));
}

#[test]
fn clean_empties_the_cache() {
    let place = Place::new().with("a.str", TWICE);
    let cache = place.path("own cache");
    let own = |arguments: &[&str]| {
        let mut c = place.command(arguments);
        c.env("SLUICE_CACHE", &cache);
        finish(c, b"")
    };
    own(&["run", "a.str"]).ends(0);
    assert!(std::fs::read_dir(&cache).unwrap().count() >= 2);
    assert!(own(&["clean"]).ends(0).text().starts_with("removed 2 files"));
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1, "only CACHEDIR.TAG stays");
}

#[test]
fn the_engine_is_compiled_once() {
    let place = Place::new().with("a.str", TWICE).with("b.str", TWICE.replace("* 2", "* 3"));
    let cache = place.path("own cache");
    let own = |arguments: &[&str]| {
        let mut c = place.command(arguments);
        c.env("SLUICE_CACHE", &cache);
        finish(c, b"").ends(0);
    };
    let kept = |extension: &str| {
        let files = std::fs::read_dir(&cache).unwrap().map(|f| f.unwrap().path());
        files.filter(|p| p.extension().is_some_and(|e| e == extension)).collect::<Vec<_>>()
    };
    own(&["run", "a.str"]);
    own(&["run", "b.str", "-O0"]);
    assert_eq!((kept("o").len(), kept("so").len()), (1, 2));
    // one that looks for no NaNs, one that counts, and one with places for debuggers, are others
    own(&["run", "b.str", "--fast-math"]);
    own(&["run", "a.str", "--stats"]);
    own(&["run", "a.str", "--debug"]);
    assert_eq!((kept("o").len(), kept("so").len()), (4, 5));
    // as is that of programs and of libraries, which all of them share
    own(&["build", "a.str", "-o", "a"]);
    own(&["build", "b.str", "-o", "b"]);
    assert_eq!((kept("o").len(), kept("so").len()), (5, 5));
    own(&["build", "--lib", "a.str", "-o", "liba.so"]);
    own(&["build", "--lib", "b.str", "-o", "libb.so"]);
    assert_eq!((kept("o").len(), kept("so").len()), (6, 5));
    // and that of programs on several threads
    for n in ["7", "8"] {
        std::fs::write(place.path("c.str"), CHAIN.replace('7', n)).unwrap();
        own(&["run", "c.str", "-O0", "-n", "9", "--threads", "2"]);
    }
    assert_eq!((kept("o").len(), kept("so").len()), (7, 7));
    // and the emulator of GPUs, beside what each program is compiled to: its host and its kernels
    let emulators = || {
        let names = |p: &PathBuf| std::fs::read(p).unwrap().windows(17).any(|w| w == b"sl_emulate_memory");
        kept("o").iter().filter(|p| names(p)).count()
    };
    assert_eq!(emulators(), 0);
    own(&["run", "a.str", "--target", "cuda", "--emulate"]);
    let objects = kept("o").len();
    own(&["run", "b.str", "--target", "cuda", "--emulate"]);
    assert_eq!((emulators(), kept("o").len(), kept("so").len()), (1, objects, 11));
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::write(place.path("in"), floats(&[1.0, -2.5])).unwrap();
    let done = Command::new(place.path("b")).args(["-i", "in"]).current_dir(place.path(".")).output().unwrap();
    assert_eq!((done.status.code(), done.stdout), (Some(0), floats(&[3.0, -7.5])));
    // C text that is made has it inside
    own(&["build", "a.str", "--emit", "c", "-o", "a.c"]);
    let text = std::fs::read_to_string(place.path("a.c")).unwrap();
    assert!(
        text.contains("SL_ENGINE int32_t sl_run(sl_ctx *ctx, int64_t until) {") && !text.contains("#define SL_APART")
    );
}

/// What is emitted has nothing to warn of, whoever compiles it.
#[test]
fn emitted_c_has_no_warnings() {
    const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks");
    let place = Place::new();
    for program in ["stereo", "radar"] {
        let path = format!("{PROGRAMS}/{program}/{program}.str");
        place.run(&["build", &path, "--emit", "c", "-o", "a.c"]).ends(0);
        for compiler in ["gcc", "clang"] {
            let flags = ["-std=gnu11", "-march=native", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "a.c"];
            let done = Command::new(compiler).args(flags).current_dir(place.path(".")).output();
            let Ok(done) = done else {
                sluice_skipped::skipped(&format!("there is no {compiler}: it does not look for what to warn of"));
                continue;
            };
            assert!(done.status.success(), "{compiler}, {program}:\n{}", String::from_utf8_lossy(&done.stderr));
        }
    }
}
