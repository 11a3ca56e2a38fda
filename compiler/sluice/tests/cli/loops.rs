//! `--inner` and `sluice schedule --loops`.

use super::fusing::{ints, same};
use crate::support::*;
use serde_json::{Value, json};

/// The loop of the paper's figure 1; a loop through memory; one with a jump; one of a bound that a firing computes.
const PROGRAM: &str = "\
float->float filter Sum {
    work pop 64 push 32 {
        for (int i = 0; i < 32; i++) push(peek(i) + peek(32 + i));
        for (int i = 0; i < 64; i++) pop();
    }
}
float->float filter Odd {
    float[8] y;
    work pop 8 push 8 {
        for (int i = 0; i < 8; i++) y[i] += pop();
        for (int i = 1; i < 8; i++)
            y[i] = y[i] + 0.5 * y[i - 1];
        int n = y[7] > 100 ? 3 : 8;
        float s = 0;
        for (int i = 0; i < n; i++) s += y[i];
        for (int i = 0; i < 8; i++) {
            if (y[i] > 50) break;
            s -= y[i];
        }
        for (int i = 0; i < 8; i++) push(s + y[i]);
    }
}
float->float pipeline Main {
    add Sum();
    add Odd();
}
";

#[test]
fn the_papers_loop_as_json() {
    let place = Place::new().with("a.str", PROGRAM);
    let done = place.run(&["schedule", "a.str", "--loops", "--format", "json"]).ends(0);
    let found: Value = serde_json::from_str(done.text()).unwrap();
    assert_eq!(found["schema"], "sluice-loops-1");
    assert_eq!(found["machine"], json!({"issue": 1, "simple": 1, "memory": 4, "divide": 12, "library": 40}));
    let of = |filter: &str, line: u64| -> Value {
        let all = found["loops"].as_array().unwrap();
        all.iter().find(|l| l["filter"] == filter && l["line"] == line).unwrap_or_else(|| panic!("{found:#}")).clone()
    };
    let sum = of("Sum", 3);
    assert_eq!((&sum["alone"], &sum["ahead"], &sum["modulo"]), (&json!(12), &json!(8), &json!(6)));
    assert_eq!((&sum["trips"], &sum["instructions"], &sum["res_mii"]), (&json!(32), &json!(6), &json!(6)));
    assert_eq!((&sum["file"], &sum["unmodelled"]), (&json!("a.str"), &Value::Null));
    // y[i - 1] comes from the turn before: load 4, multiply, add, store 4
    let odd = of("Odd", 11);
    assert_eq!((&odd["rec_mii"], &odd["modulo"], &odd["trips"]), (&json!(10), &json!(10), &json!(7)));
    assert_eq!(of("Odd", 15)["trips"], Value::Null);
    assert_eq!(of("Odd", 16)["unmodelled"], "a jump in it");
}

#[test]
fn loops_for_people() {
    let place = Place::new()
        .with("a.str", PROGRAM)
        .with("none.str", "float->float filter A { work pop 1 push 1 { push(pop()); } }");
    let text = place.run(&["schedule", "a.str", "--loops"]).ends(0).text().to_string();
    assert!(text.contains("a.str:3 ") && text.contains("not looked at: a jump in it"), "{text}");
    let none = place.run(&["schedule", "none.str", "--loops"]).ends(0);
    assert_eq!(none.text(), "the program's filters have no counted loops\n");
    place.run(&["schedule", "a.str", "--loops", "--format", "svg"]).ends(2).says("loops have no chart");
    place.run(&["schedule", "a.str", "--loops", "--pareto"]).ends(2).says("cannot be used with");
}

#[test]
fn what_is_done_to_loops_can_be_chosen() {
    let place = Place::new().with("a.str", PROGRAM).with("in.f32", [0x40u8; 1 << 12]);
    let mut texts = Vec::new();
    let interpreted = place.run(&["run", "a.str", "-i", "in.f32", "-o", "want.f32", "--interpret"]);
    assert_eq!(interpreted.code, 0, "{}", interpreted.stderr);
    for kind in ["auto", "none", "unroll", "pipeline", "both"] {
        texts
            .push(place.run(&["build", "a.str", "--emit", "c", "-o", "-", "--inner", kind]).ends(0).text().to_string());
        place.run(&["run", "a.str", "-i", "in.f32", "-o", "got.f32", "--inner", kind]).ends(0);
        assert!(
            std::fs::read(place.path("got.f32")).unwrap() == std::fs::read(place.path("want.f32")).unwrap(),
            "{kind}"
        );
    }
    assert!((0..5).all(|i| !texts[..i].contains(&texts[i])), "two kinds make the same");
    place.run(&["build", "a.str", "--emit", "c", "-o", "-", "--inner", "all"]).ends(2).says("auto, none, unroll");
}

#[test]
fn passes_are_shown_where_they_are_run() {
    let place = Place::new().with("a.str", PROGRAM);
    let shown = |more: &[&str]| {
        let all = [&["build", "a.str", "--emit", "c", "-o", "out.c"], more].concat();
        place.run(&all).ends(0).text().to_string()
    };
    let ahead = shown(&["--inner", "pipeline", "--dump-after", "software-pipeline"]);
    assert!(ahead.contains("for $0 = 0 < 31 step 1"), "{ahead}");
    assert!(shown(&["--inner", "unroll", "--dump-after", "unroll"]).contains("out(31) = (in(31) + in(63))"));
    // a pass that is not run ends as usual
    assert_eq!(shown(&["--inner", "none", "--dump-after", "unroll"]), "");
}

#[test]
fn a_project_may_say_what_is_done() {
    let manifest = "[program]\nsources = [\"a.str\"]\n[build]\ninner = \"none\"\n";
    let place = Place::new().with("a.str", PROGRAM).with("sluice.toml", manifest);
    let c = |more: &[&str]| {
        let all = [&["build", "--emit", "c", "-o", "-"], more].concat();
        place.run(&all).ends(0).text().to_string()
    };
    assert_eq!(c(&[]), c(&["--inner", "none"]));
    assert_ne!(c(&[]), c(&["--inner", "auto"]));
    let place = place.with("sluice.toml", manifest.replace("none", "some"));
    place.run(&["build", "--emit", "c", "-o", "-"]).ends(1).says("pipeline");
}

/// Ways through what waits on the channel: each item says where the next one is. With a condition, with a loop of as many turns as a firing finds, with one that it leaves.
const WAYS: &str = "int->int filter Walk { work peek 30 pop 16 push 17 {
    int at = 0;
    int sum = 0;
    for (int i = 15; i >= 0; i--) {
        int x = peek(i + (at & 15));
        at = (5 * at + x) & 63;
        if (at > 40) sum += at * i;
        push(at);
    }
    push(sum);
    for (int i = 0; i < 16; i++) pop();
} }
int->int filter Leave { work pop 17 push 2 {
    int at = 0;
    int n = 0;
    for (int i = 0; i < 12; i++) at = peek(at & 15) + i;
    for (int i = 0; i < (at & 7); i++) n = 3 * n + peek(i);
    for (int i = 0; i < 17; i++) { if (peek(i) == 7) break; n += i; }
    push(at); push(n);
    for (int i = 0; i < 17; i++) pop();
} }
int->int pipeline Main { add Walk; add Leave; }
";

#[test]
fn firings_that_wait_for_their_loads_go_in_step() {
    let place = Place::new().with("a.str", WAYS);
    let done = place.run(&["run", "a.str", "--fuse=false", "--dump-after", "in-step"]).ends(0);
    assert_eq!(done.text().matches("\nsteps func").count(), 2, "{}", done.text());
    let none = place.run(&["run", "a.str", "--inner", "none", "--dump-after", "emit-c"]).ends(0);
    assert!(!none.text().contains("n >= 4; n -= 4"), "{}", none.text());
    same(WAYS, ints, &[0, 31, 32, 100, 16 * 9, 16 * 4 * 50 + 16 * 3, 20_000]);
}
