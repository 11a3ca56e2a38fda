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

/// A feedback loop, of whose program CBC dies by an assertion of its own.
const CRASH: &str = "\
int->int filter F1 {
work push 3 pop 4 peek 4 {
int a = 7;
for (int i = 0; i < 8; i++) a = a * 3 + i;
a += peek(3);
for (int i = 0; i < 3; i++) push(a + i);
for (int i = 0; i < 4; i++) pop();
}
}
int->int filter F2 {
work push 2 pop 1 peek 1 {
int a = 1;
for (int i = 0; i < 26; i++) a = a * 3 + i;
a += peek(0);
for (int i = 0; i < 2; i++) push(a + i);
for (int i = 0; i < 1; i++) pop();
}
}
void->int filter F3 {
int s;
work push 2  {
int a = 1;
for (int i = 0; i < 6; i++) a = a * 3 + i;
s = s + a;
a = s;
for (int i = 0; i < 2; i++) push(a + i);
}
}
int->void filter F4 {
work  pop 1 peek 1 {
int a = 2;
for (int i = 0; i < 9; i++) a = a * 3 + i;
a += peek(0);
for (int i = 0; i < 1; i++) pop();
}
}
void->void pipeline Main {
add F3();
add feedbackloop {
join roundrobin(2,2);
body F1();
loop F2();
split roundrobin(2,1);
for (int i = 0; i < 6; i++) enqueue i;
};
add F4();
}
";

/// A step of half a percent from the lower bound goes past what the heuristics find.
const STEPS: &str = "\
int->int filter F1 {
work push 2 pop 3 peek 3 {
int a = 7;
for (int i = 0; i < 452; i++) a = a * 3 + i;
a += peek(2);
for (int i = 0; i < 2; i++) push(a + i);
for (int i = 0; i < 3; i++) pop();
}
}
void->int filter F2 {
prework push 0  {
int a = 2;
for (int i = 0; i < 639; i++) a = a * 3 + i;
}
work push 1  {
int a = 3;
for (int i = 0; i < 639; i++) a = a * 3 + i;
for (int i = 0; i < 1; i++) push(a + i);
}
}
int->void filter F3 {
work  pop 2 peek 2 {
int a = 4;
for (int i = 0; i < 430; i++) a = a * 3 + i;
a += peek(1);
for (int i = 0; i < 2; i++) pop();
}
}
void->void pipeline Main {
add F2();
add feedbackloop {
join roundrobin(2,1);
body F1();
split roundrobin(1,1);
for (int i = 0; i < 4; i++) enqueue i;
};
add F3();
}
";

/// Nothing is shorter than 722, and the bounds say 719.
const PROVEN: &str = "\
int->int filter F1 {
work push 3 pop 3 peek 3 {
int a = 2;
for (int i = 0; i < 35; i++) a = a * 3 + i;
a += peek(2);
for (int i = 0; i < 3; i++) push(a + i);
for (int i = 0; i < 3; i++) pop();
}
}
int->int filter F2 {
work push 4 pop 2 peek 2 {
int a = 2;
for (int i = 0; i < 10; i++) a = a * 3 + i;
a += peek(1);
for (int i = 0; i < 4; i++) push(a + i);
for (int i = 0; i < 2; i++) pop();
}
}
void->int filter F3 {
work push 2  {
int a = 6;
for (int i = 0; i < 40; i++) a = a * 3 + i;
for (int i = 0; i < 2; i++) push(a + i);
}
}
int->void filter F4 {
work  pop 2 peek 4 {
int a = 4;
for (int i = 0; i < 38; i++) a = a * 3 + i;
a += peek(3);
for (int i = 0; i < 2; i++) pop();
}
}
void->void pipeline Main {
add F3();
add F1();
add F2();
add F4();
}
";

/// Of the heuristics, the slack-based one is the best here.
const SLACK: &str = "\
int->int filter F1 {
work push 4 pop 3 peek 3 {
int a = 4;
for (int i = 0; i < 2; i++) a = a * 3 + i;
a += peek(2);
for (int i = 0; i < 4; i++) push(a + i);
for (int i = 0; i < 3; i++) pop();
}
}
int->int filter F2 {
work push 1 pop 2 peek 2 {
int a = 0;
for (int i = 0; i < 19; i++) a = a * 3 + i;
a += peek(1);
for (int i = 0; i < 1; i++) push(a + i);
for (int i = 0; i < 2; i++) pop();
}
}
void->int filter F3 {
work push 3  {
int a = 1;
for (int i = 0; i < 20; i++) a = a * 3 + i;
for (int i = 0; i < 3; i++) push(a + i);
}
}
int->void filter F4 {
work  pop 3 peek 8 {
int a = 3;
for (int i = 0; i < 9; i++) a = a * 3 + i;
a += peek(7);
for (int i = 0; i < 3; i++) pop();
}
}
void->void pipeline Main {
add F3();
add feedbackloop {
join roundrobin(2,1);
body F1();
loop F2();
split roundrobin(2,2);
for (int i = 0; i < 5; i++) enqueue i;
};
add F4();
}
";

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
    let found = json(STEPS, "-p 3 --method ilp --time-limit 120");
    assert!(found["ii"].as_u64().unwrap() <= 4022, "{}", found["ii"]);
    let found = json(STEPS, "-p 3 --method ilp --time-limit 120 --require-ii 4020");
    assert!(found["ii"].as_u64().unwrap() <= 4020, "{}", found["ii"]);
}

#[test]
fn that_nothing_is_shorter_is_proven_and_said() {
    let found = json(PROVEN, "-p 2 --method ilp --time-limit 120");
    assert_eq!((&found["ii"], &found["lower"], &found["mii"]), (&722.into(), &722.into(), &719.into()));
    assert!(notes(&found).contains(&"no schedule has a shorter II"), "{found}");
    // what binds is what gave the bound, not the processors
    assert_eq!(found["bottleneck"]["kind"], "packing");
    assert!(found["bottleneck"]["text"].as_str().unwrap().contains("below 722"), "{found}");
    // and an II that is proven impossible is not one for which there was no time
    run(PROVEN, "-p 2 --method ilp --time-limit 120 --require-ii 721").ends(1).says("no schedule has an II of 721");
}

#[test]
fn a_solver_that_dies_ends_nothing() {
    for arguments in ["-p 3", "-p 4"] {
        let hms = json(CRASH, &format!("{arguments} --method hms"));
        let ilp = json(CRASH, &format!("{arguments} --method ilp --time-limit 10"));
        assert!(ilp["ii"].as_u64() <= hms["ii"].as_u64(), "{arguments}");
    }
}

#[test]
fn it_is_no_worse_than_any_heuristic() {
    let slack = json(SLACK, "-p 8 --method slack")["ii"].as_u64().unwrap();
    assert!(json(SLACK, "-p 8 --method ilp --time-limit 2")["ii"].as_u64().unwrap() <= slack);
}
