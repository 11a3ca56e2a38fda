//! `sluice makespan PROGRAM`: strings from machine code, PTX and the kernel IR, bounds, deadlines.

use crate::support::*;
use serde_json::Value;
use sluice_driver::cuda::check;
use std::path::Path;

/// Sums N items, one firing for each output; the loop is too long to be unrolled as a whole.
pub fn sum(n: u32) -> String {
    format!(
        "float->float filter Sum {{ work pop {n} push 1 {{ float s = 0; for (int i = 0; i < {n}; i++) s += peek(i); for (int i = 0; i < {n}; i++) pop(); push(s); }} }}\n"
    )
}

/// Computes for N turns of a loop that is too long to be unrolled.
fn turns(n: u32) -> String {
    format!(
        "float->float filter Turns {{ work pop 1 push 1 {{ float s = pop(); for (int i = 0; i < {n}; i++) s = s * 0.5 + 1; push(s); }} }}\n"
    )
}

pub const HALVE: &str = "float->float filter Halve { work pop 1 push 1 { push(pop() * 0.5); } }\n";
/// Each firing changes what the next one sees.
pub const COUNT: &str = "float->float filter Count { float n; work pop 1 push 1 { n = n * 0.5 + pop(); push(n); } }\n";
/// How long it goes on, the item says.
pub const UNTIL: &str =
    "float->float filter Until { work pop 1 push 1 { float x = pop(); while (x > 1) { x = x * 0.5; } push(x); } }\n";

/// The document about a program, with the CUDA compiler of the tests, or without any.
pub fn about(program: &str, arguments: &str, home: Option<&Path>) -> Value {
    let place = Place::new().with("p.str", program);
    let arguments = format!("makespan p.str --format json {arguments}");
    let mut command = place.command(&arguments.split_whitespace().collect::<Vec<_>>());
    match home {
        Some(home) => command.env("SLUICE_CUDA_HOME", home),
        None => command.env("SLUICE_NVRTC", "/nowhere/libnvrtc.so"),
    };
    serde_json::from_str(finish(command, b"").ends(0).text()).unwrap()
}

pub fn home(test: &str) -> Option<std::path::PathBuf> {
    let home = check::home();
    if home.is_none() {
        check::skipped(test, "there is no CUDA compiler (scripts/install-cuda installs one)");
    }
    home
}

/// The kernel of a stream.
pub fn kernel<'d>(document: &'d Value, name: &str) -> &'d Value {
    let all = document["kernels"].as_array().unwrap();
    all.iter().find(|k| k["name"] == name).unwrap_or_else(|| panic!("no {name} in {document:#}"))
}

pub fn number(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap_or_else(|| panic!("no {key} in {of:#}"))
}

#[test]
fn loops_of_machine_code_are_written_out() {
    let Some(home) = home("loops_of_machine_code_are_written_out") else { return };
    for arch in ["sm_75", "sm_80", "sm_90", "sm_100"] {
        let of = |n: u32| {
            let d = about(&turns(n), &format!("--arch {arch} --steady-states 128 --method pessimistic"), Some(&home));
            assert_eq!((&d["origin"], &d["sound"]), (&"sass".into(), &true.into()), "{arch}: {d:#}");
            let k = kernel(&d, "Turns");
            assert_eq!((number(k, "firings"), number(k, "blocks"), number(k, "warps")), (128, 1, 4));
            assert!(!k["varies"].as_bool().unwrap(), "{k:#}");
            (number(k, "ls_cycles"), number(k, "core_cycles"))
        };
        let all = [1024, 2048, 4096].map(of);
        let growth = |a: (u64, u64), b: (u64, u64)| (b.0 - a.0, b.1 - a.1);
        let (first, second) = (growth(all[0], all[1]), growth(all[1], all[2]));
        // twice as many turns more are twice as much more of everything; a product and a sum for each
        assert_eq!((2 * first.0, 2 * first.1), second, "{arch}: {all:?}");
        assert!(first.0 == 0 && first.1 >= 2 * 1024 && first.1 < 6 * 1024, "{arch}: {all:?}");
    }
}

/// Moves whose length depends on where they begin, registers kept in memory, functions of the library, state: programs as they are.
#[test]
fn benchmarks_are_bounded() {
    let Some(home) = home("benchmarks_are_bounded") else { return };
    // each for two architectures: all of them are taken
    for (i, name) in ["bitonic", "fft", "filterbank", "fmradio", "iirbank"].into_iter().enumerate() {
        let file = format!("{}/../../benchmarks/{name}/{name}.str", env!("CARGO_MANIFEST_DIR"));
        let program = std::fs::read_to_string(file).unwrap();
        for arch in [["sm_75", "sm_90"], ["sm_80", "sm_100"]][i % 2] {
            let d = about(&program, &format!("--arch {arch} --steady-states 128 --method pessimistic"), Some(&home));
            assert!(d["sound"].as_bool().unwrap() && number(&d, "bound") > 0, "{name} {arch}");
        }
    }
}

#[test]
fn machine_code_can_be_looked_at() {
    let Some(home) = home("machine_code_can_be_looked_at") else { return };
    let place = Place::new().with("p.str", HALVE);
    let mut command = place.command(&["makespan", "p.str", "--dump-after", "disassemble"]);
    command.env("SLUICE_CUDA_HOME", home);
    assert!(finish(command, b"").ends(0).text().contains("\n.text.sl_profile_0:\n"));
}

#[test]
fn machine_code_ptx_and_ir_tell_alike() {
    let Some(home) = home("machine_code_ptx_and_ir_tell_alike") else { return };
    let of = |d: &Value| {
        let k = kernel(d, "Sum");
        (number(k, "ls_cycles") as f64, number(k, "core_cycles") as f64)
    };
    let sass = about(&sum(64), "--arch sm_90 --steady-states 128 --method pessimistic", Some(&home));
    // a folder without nvdisasm has PTX only
    let folder = tempfile::tempdir().unwrap();
    let lib = folder.path().join("lib");
    std::os::unix::fs::symlink(home.join("nvidia/cu13/lib"), &lib).unwrap();
    let ptx = about(&sum(64), "--arch sm_90 --steady-states 128 --method pessimistic", Some(folder.path()));
    let ir = about(&sum(64), "--arch sm_90 --steady-states 128 --method pessimistic", None);
    let origins = [&sass, &ptx, &ir].map(|d| d["origin"].as_str().unwrap());
    assert_eq!(origins, ["sass", "ptx", "ir"]);
    assert_eq!([&sass, &ptx, &ir].map(|d| d["sound"].as_bool().unwrap()), [true, false, false]);
    assert!(ptx["because"].as_str().unwrap().contains("nvdisasm"));
    let (sass, ptx, ir) = (of(&sass), of(&ptx), of(&ir));
    // a load for each item in all of them
    for other in [ptx, ir] {
        assert!((other.0 / sass.0 - 1.0).abs() < 0.2, "{sass:?} {ptx:?} {ir:?}");
        assert!(other.1 > sass.1 / 5.0 && other.1 < sass.1 * 5.0, "{sass:?} {ptx:?} {ir:?}");
    }
}

#[test]
fn what_runs_in_one_thread_takes_as_long_as_all_its_firings() {
    let Some(home) = home("what_runs_in_one_thread") else { return };
    let of = |states: u32| {
        let d = about(COUNT, &format!("--arch sm_80 --steady-states {states} --method pessimistic"), Some(&home));
        let k = kernel(&d, "Count").clone();
        assert!(k["serial"].as_bool().unwrap() && number(&k, "blocks") == 1);
        number(&k, "core_cycles")
    };
    let all = [256, 512, 1024].map(of);
    assert_eq!(2 * (all[1] - all[0]), all[2] - all[1], "{all:?}");
    assert!(all[1] - all[0] > 256 * 2, "{all:?}");
}

#[test]
fn blocks_are_dealt_out() {
    let Some(home) = home("blocks_are_dealt_out") else { return };
    let of = |more: &str| {
        let d = about(HALVE, &format!("--arch sm_90 --steady-states 1280 --threads 128 {more}"), Some(&home));
        let k = kernel(&d, "Halve").clone();
        (number(&k, "blocks"), number(&k, "bound"), number(&k, "least"))
    };
    let (one, four, together) = (of(""), of("--multiprocessors 4"), of("--resident 10"));
    assert_eq!((one.0, four.0, together.0), (10, 3, 10));
    // three of ten blocks; all ten side by side wait for one another less
    assert!((one.1 * 3).abs_diff(four.1 * 10) < 100, "{one:?} {four:?}");
    assert!(together.1 < one.1 && together.2 <= together.1 && one.2 <= one.1, "{one:?} {together:?}");
}

#[test]
fn what_data_decides_has_no_bound() {
    let Some(home) = home("what_data_decides_has_no_bound") else { return };
    let d =
        about(&format!("{HALVE}{UNTIL}float->float pipeline Main {{ add Halve(); add Until(); }}"), "", Some(&home));
    assert_eq!((&d["bound"], &d["sound"]), (&Value::Null, &false.into()));
    let why = kernel(&d, "Main.Until")["unbounded"].as_str().unwrap();
    assert_eq!(why, "a loop of it goes on as long as data says");
    assert!(number(kernel(&d, "Main.Halve"), "bound") > 0);
    assert_eq!(number(kernel(&d, "Main.Until"), "line"), 3);
}

#[test]
fn strings_are_shown() {
    let Some(home) = home("strings_are_shown") else { return };
    let d = about(HALVE, "--strings --steady-states 128 --time-limit 1", Some(&home));
    let k = kernel(&d, "Halve");
    let string = k["string"].as_str().unwrap();
    let count = |c: char| string.chars().filter(|x| *x == c).count() as u64;
    assert_eq!(
        (count('L'), count('C'), count('|')),
        (number(k, "ls_cycles"), number(k, "core_cycles"), number(k, "barriers"))
    );
    // the same by the other door: a phase of it bounded as a kernel of its own
    let place = Place::new();
    let done = place.run(&[
        "makespan",
        "--kernel",
        string.split('|').next().unwrap(),
        "--warps",
        "4",
        "--cores",
        "128",
        "--format",
        "json",
    ]);
    let of: Value = serde_json::from_str(done.ends(0).text()).unwrap();
    assert!(number(&of, "bound") <= number(k, "bound"));
}

#[test]
fn blocks_are_run_beside_their_bounds() {
    let Some(home) = home("blocks_are_run_beside_their_bounds") else { return };
    let print = "float->void filter Print { work pop 1 { println(pop()); } }\n";
    let program =
        format!("{HALVE}{COUNT}{print}float->void pipeline Main {{ add Halve(); add Count(); add Print(); }}");
    let d = about(&program, "--measure --emulate --steady-states 32 --method pessimistic", Some(&home));
    assert_eq!(d["measured_on"], "emulated");
    for name in ["Main.Halve", "Main.Count"] {
        let k = kernel(&d, name);
        // the emulation's clock says nothing, not even that time passes
        assert!(k["measured"].as_f64().unwrap() >= 0.0 && number(k, "block_bound") > 0, "{k:#}");
        let over = k["measured"].as_f64().unwrap() / number(k, "block_bound") as f64;
        assert!((k["measured_over_bound"].as_f64().unwrap() - over).abs() <= 1e-6 * over);
    }
    assert_eq!(kernel(&d, "Main.Print")["unmeasured"], "it prints");
    // more firings in a row than there is room for
    let d = about(COUNT, "--measure --emulate --steady-states 1000 --method pessimistic", Some(&home));
    assert!(kernel(&d, "Count")["unmeasured"].as_str().unwrap().contains("more than"));
    let place = Place::new().with("p.str", HALVE);
    place.run(&["makespan", "p.str", "--emulate"]).ends(2).says("--measure");
    let said = place.run(&["makespan", "p.str", "--measure", "--gpu", "77"]);
    assert_ne!(said.code, 0, "there is no such GPU");
}

fn project(deadline: u64, more: &str) -> Place {
    let manifest = format!(
        "[program]\nname = \"p\"\n\n[makespan]\narch = \"sm_90\"\nsteady-states = 128\ndeadline = {deadline}\n{more}"
    );
    Place::new().with("sluice.toml", manifest).with("p.str", sum(64))
}

pub fn in_project(place: &Place, arguments: &[&str], home: Option<&Path>) -> Done {
    let mut command = place.command(arguments);
    match home {
        Some(home) => command.env("SLUICE_CUDA_HOME", home),
        None => command.env("SLUICE_NVRTC", "/nowhere/libnvrtc.so"),
    };
    finish(command, b"")
}

#[test]
fn deadlines_are_kept_or_builds_fail() {
    let Some(home) = home("deadlines_are_kept_or_builds_fail") else { return };
    let home = Some(home.as_path());
    let d =
        in_project(&project(1 << 40, ""), &["makespan", "--format", "json", "--method", "pessimistic"], home).ends(0);
    let bound = number(&serde_json::from_str(d.text()).unwrap(), "bound");
    // 128 steady states have 128 deadlines together
    let least = bound.div_ceil(128);
    let kept = project(least, "");
    in_project(&kept, &["makespan", "--time-limit", "1"], home).ends(0);
    in_project(&kept, &["build", "--target", "cuda", "--scheme", "swp", "-o", "p.cu"], home).ends(0);
    assert!(kept.path("p.cu").is_file());
    let missed = project(least - 1, "");
    let said = in_project(&missed, &["makespan", "--method", "pessimistic"], home)
        .ends(1)
        .says("[E0993]")
        .says("the deadline is 128 x")
        .says("sluice.toml:7:")
        .says("p.str:1:");
    assert!(said.text().contains("deadline:"), "the table is shown, too");
    let impossible = project(1, "");
    in_project(&impossible, &["build", "--target", "cuda", "-o", "p.cu"], home).ends(1).says("[E0993]");
    assert!(!impossible.path("p.cu").exists());
    // a build for the CPU has no such deadline
    in_project(&missed, &["build", "--emit", "c", "-o", "p.c"], home).ends(0).says("kernels of a GPU");
    // more multiprocessors, fewer cycles for each
    let wide = project(least - 1, "threads = 32\nmultiprocessors = 4\n");
    in_project(&wide, &["makespan", "--method", "pessimistic"], home).ends(0);
}

#[test]
fn without_machine_code_no_deadline_is_kept() {
    let place = project(1 << 40, "");
    in_project(&place, &["makespan"], None).ends(1).says("[E0993]").says("nothing bounds").says("/nowhere/libnvrtc.so");
    let odd = project(5, "threads = 33\n");
    in_project(&odd, &["makespan"], None).ends(1).says("[E0703]").says("a multiple of 32 threads");
    let old = Place::new().with("sluice.toml", "[makespan]\narch = \"sm_10\"\n").with("p.str", HALVE);
    in_project(&old, &["makespan"], None).ends(1).says("[E0703]").says("too old");
}

#[test]
fn kernels_and_programs_are_not_mixed() {
    let place = Place::new().with("p.str", HALVE);
    place.run(&["makespan", "p.str", "--kernel", "LLC"]).ends(2).says("[E0991]").says("--kernel is about a kernel");
    place.run(&["makespan", "--kernel", "LLC", "--arch", "sm_90"]).ends(2).says("[E0991]");
    place.run(&["makespan", "p.str", "--method", "estimate"]).ends(2).says("no bound");
    place.run(&["makespan", "p.str", "--threads", "31"]).ends(2).says("32 threads");
    place.run(&["makespan"]).ends(2).says("there is no program");
}

#[test]
fn blocks_of_a_kernel() {
    let place = Place::new();
    let of = |arguments: &str| -> Value {
        let all: Vec<&str> =
            ["makespan", "--format", "json", "--kernel", "LLC"].into_iter().chain(arguments.split(' ')).collect();
        serde_json::from_str(place.run(&all).ends(0).text()).unwrap()
    };
    // three blocks at once are one with three times as many warps
    let together = of("--warps 4 --blocks 3");
    assert_eq!(number(&together, "bound"), number(&of("--warps 12"), "bound"));
    let dealt = of("--warps 4 --blocks 12 --multiprocessors 4");
    assert_eq!((number(&dealt, "bound"), number(&dealt, "blocks_on_one")), (number(&together, "bound"), 3));
    // one after the other: three times the formula's 12
    let turns = of("--warps 4 --blocks 3 --resident 1");
    assert_eq!((number(&turns, "bound"), number(&turns, "warps"), turns["sound"].as_bool()), (36, 4, Some(true)));
    assert_eq!(turns["paper_bound_sound"], false, "the paper has no blocks that take turns");
    place
        .run(&["makespan", "--kernel", "LLC", "--warps", "4", "--blocks", "3", "--resident", "1", "--method", "exact"])
        .ends(2)
        .says("[E0991]");
}
