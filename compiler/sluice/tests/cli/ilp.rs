//! `sluice schedule --method ilp`: what it finds and proves, and what it says where it does not.

use crate::support::*;
use serde_json::Value;

/// Two processors on which operations cost a cycle.
const MACHINE: &str = "\
name = \"tiny\"
kind = \"cpu\"
processors = 2
lanes = 1
threads = 1
clock_mhz = 1000
registers = 64
shared_bytes = 65536
memory_bytes = 268435456
launch_cycles = 0
instance_cycles = 0
alone = 1
cycles = { float = 1, int = 1, divide = 2, library = 6, load = 1, store = 1, branch = 1, call = 1 }
";

/// A filter that counts for so many turns before it pushes; rates are push, pop and peek.
fn filter(name: &str, ends: &str, rates: [usize; 3], start: u32, turns: usize) -> String {
    let [push, pop, peek] = rates;
    let look = if peek > 0 { format!("a += peek({});\n", peek - 1) } else { String::new() };
    let give = if push > 0 { format!("for (int i = 0; i < {push}; i++) push(a + i);\n") } else { String::new() };
    let take = if pop > 0 { format!("for (int i = 0; i < {pop}; i++) pop();\n") } else { String::new() };
    let count = count(start, turns);
    format!("{ends} filter {name} {{\nwork push {push} pop {pop} peek {peek} {{\n{count}{look}{give}{take}}}\n}}\n")
}

fn count(start: u32, turns: usize) -> String {
    format!("int a = {start};\nfor (int i = 0; i < {turns}; i++) a = a * 3 + i;\n")
}

/// A source, streams between, a sink.
fn pipeline(streams: [&str; 3]) -> String {
    format!("void->void pipeline Main {{\n{}}}\n", streams.map(|s| format!("add {s}\n")).concat())
}

/// A feedback loop with so many items in it at first. Without a name for `back` they go back as they are.
fn feedback(join: &str, body: &str, back: Option<&str>, split: &str, items: usize) -> String {
    let back = back.map_or(String::new(), |name| format!("loop {name}();\n"));
    let enqueue = format!("for (int i = 0; i < {items}; i++) enqueue i;");
    format!(
        "feedbackloop {{\njoin roundrobin({join});\nbody {body}();\n{back}split roundrobin({split});\n{enqueue}\n}};"
    )
}

/// A feedback loop, of whose program CBC dies by an assertion of its own.
fn crash() -> String {
    let stateful = format!(
        "void->int filter F3 {{\nint s;\nwork push 2 {{\n{}s = s + a;\na = s;\nfor (int i = 0; i < 2; i++) push(a + i);\n}}\n}}\n",
        count(1, 6)
    );
    [
        filter("F1", "int->int", [3, 4, 4], 7, 8),
        filter("F2", "int->int", [2, 1, 1], 1, 26),
        stateful,
        filter("F4", "int->void", [0, 1, 1], 2, 9),
        pipeline(["F3();", &feedback("2,2", "F1", Some("F2"), "2,1", 6), "F4();"]),
    ]
    .concat()
}

/// A step of half a percent from the lower bound goes past what the heuristics find.
fn steps() -> String {
    let late = format!(
        "void->int filter F2 {{\nprework push 0 {{\n{}}}\nwork push 1 {{\n{}for (int i = 0; i < 1; i++) push(a + i);\n}}\n}}\n",
        count(2, 639),
        count(3, 639)
    );
    [
        filter("F1", "int->int", [2, 3, 3], 7, 452),
        late,
        filter("F3", "int->void", [0, 2, 2], 4, 430),
        pipeline(["F2();", &feedback("2,1", "F1", None, "1,1", 4), "F3();"]),
    ]
    .concat()
}

/// Nothing is shorter than 722, and the bounds say 719.
fn proven() -> String {
    [
        filter("F1", "int->int", [3, 3, 3], 2, 35),
        filter("F2", "int->int", [4, 2, 2], 2, 10),
        filter("F3", "void->int", [2, 0, 0], 6, 40),
        filter("F4", "int->void", [0, 2, 4], 4, 38),
        pipeline(["F3();", "F1();\nadd F2();", "F4();"]),
    ]
    .concat()
}

/// Of the heuristics, the slack-based one is the best here.
fn slack() -> String {
    [
        filter("F1", "int->int", [4, 3, 3], 4, 2),
        filter("F2", "int->int", [1, 2, 2], 0, 19),
        filter("F3", "void->int", [3, 0, 0], 1, 20),
        filter("F4", "int->void", [0, 3, 8], 3, 9),
        pipeline(["F3();", &feedback("2,1", "F1", Some("F2"), "2,2", 5), "F4();"]),
    ]
    .concat()
}

fn run(program: &str, arguments: &str) -> Done {
    let place = Place::new().with("a.str", program).with("m.toml", MACHINE);
    let fixed = ["schedule", "--top", "Main", "a.str", "--machine", "m.toml", "--firings"];
    place.run(&fixed.into_iter().chain(arguments.split(' ')).collect::<Vec<_>>())
}

fn json(program: &str, arguments: &str) -> Value {
    serde_json::from_str(run(program, &format!("{arguments} --format json")).ends(0).text()).unwrap()
}

fn notes(report: &Value) -> Vec<&str> {
    report["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

#[test]
fn what_a_step_goes_past_is_tried() {
    // The heuristics find 4028, and 4020 is the first try but one that goes beyond it.
    let found = json(&steps(), "-p 3 --method ilp --time-limit 120");
    assert!(found["ii"].as_u64().unwrap() <= 4022, "{}", found["ii"]);
    let found = json(&steps(), "-p 3 --method ilp --time-limit 120 --require-ii 4020");
    assert!(found["ii"].as_u64().unwrap() <= 4020, "{}", found["ii"]);
}

#[test]
fn that_nothing_is_shorter_is_proven_and_said() {
    let found = json(&proven(), "-p 2 --method ilp --time-limit 120");
    assert_eq!((&found["ii"], &found["lower"], &found["mii"]), (&722.into(), &722.into(), &719.into()));
    assert!(notes(&found).contains(&"no schedule has a shorter II"), "{found}");
    // what binds is what gave the bound, not the processors
    assert_eq!(found["bottleneck"]["kind"], "packing");
    assert!(found["bottleneck"]["text"].as_str().unwrap().contains("below 722"), "{found}");
    // and an II that is proven impossible is not one for which there was no time
    run(&proven(), "-p 2 --method ilp --time-limit 120 --require-ii 721").ends(1).says("no schedule has an II of 721");
}

#[test]
fn a_solver_that_dies_ends_nothing() {
    for arguments in ["-p 3", "-p 4"] {
        let hms = json(&crash(), &format!("{arguments} --method hms"));
        let ilp = json(&crash(), &format!("{arguments} --method ilp --time-limit 10"));
        assert!(ilp["ii"].as_u64() <= hms["ii"].as_u64(), "{arguments}");
    }
}

#[test]
fn it_is_no_worse_than_any_heuristic() {
    let program = slack();
    let slack = json(&program, "-p 8 --method slack")["ii"].as_u64().unwrap();
    assert!(json(&program, "-p 8 --method ilp --time-limit 2")["ii"].as_u64().unwrap() <= slack);
}

/// Nothing loads CBC but what solves integer programs; where there is none, only that fails, and says what to do.
#[test]
fn only_integer_programs_need_cbc() {
    let program = format!("{TWICE}float->float pipeline Main {{ add Twice; add Twice; }}\n");
    let place = Place::new().with("a.str", COUNT).with("tiny.toml", MACHINE).with("c.str", program);
    let schedule = |method| ["schedule", "c.str", "--machine", "tiny.toml", "--method", method];
    let loads = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        // the system's loader tells what it opens
        command.env("LD_DEBUG", "files");
        let done = finish(command, b"");
        assert_eq!(done.code, 0, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains("libc.so"), "{}", done.stderr);
        done.stderr.contains("libCbc")
    };
    assert!(!loads(&["run", "a.str", "-n", "3"]));
    assert!(!loads(&schedule("hms")));
    assert!(loads(&schedule("ilp")));

    let without = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        // in a cache of its own: a schedule that is kept needs no solver
        command.env("SLUICE_CBC", "/no/such/library.so").env("SLUICE_CACHE", place.path("cache"));
        finish(command, b"")
    };
    let done = without(&schedule("ilp")).ends(3).says("E0994").says("/no/such/library.so").says("coinor-libcbc-dev");
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
    without(&["makespan", "--kernel", "LCL", "--warps", "4", "--method", "ilp-short"]).ends(3).says("E0994");
    without(&schedule("hms")).ends(0);
    let compared = without(&["schedule", "c.str", "--machine", "tiny.toml", "--compare"]).ends(0);
    assert!(compared.text().contains("\nilp: CBC"), "{}", compared.text());
    // bounds of makespans are wider where they are not exact, and a warning says so
    let of = ["makespan", "--kernel", "LLCLCCLC", "--warps", "64", "--ls-units", "96", "--cores", "64"];
    let bracket = |seconds| [&of[..], &["--time-limit", seconds]].concat();
    let with = place.run(&bracket("120")).ends(0);
    assert!(with.text().contains("154  the worst case (auto, by potential)"), "{}", with.text());
    assert_eq!(with.stderr, "");
    // what it looks for then, it does not find in any time
    let wider = without(&bracket("1")).ends(0).says("warning: CBC");
    assert!(wider.text().contains("155  a bound"), "{}", wider.text());
    let exact = without(&["makespan", "--kernel", "LCL", "--warps", "4"]).ends(0);
    assert_eq!(exact.stderr, "");
    // a scheme whose schedule the integer program would make goes on with another method's
    without(&["build", "c.str", "--target", "cuda", "--scheme", "swp", "-o", "c.cu"]).ends(0);
    assert!(place.read("c.cu").contains("__global__"));
}
