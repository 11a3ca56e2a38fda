//! Between messages, programs run like those without: as many steady states at once as latencies allow, filters as often in a row as no message can come, parts of a program as one filter. Nothing of
//! it can be told.

use super::fusing::{ints, nodes, same, same_quickly};
use crate::support::*;

/// A gain that hears of the level behind it, of so many items, so many firings later; `between` stands before the level.
fn told(block: u32, latency: &str, between: &str) -> String {
    told_before(block, latency, (between, ""))
}

/// The same with what stands behind the level.
fn told_before(block: u32, latency: &str, (between, behind): (&str, &str)) -> String {
    let mut text = format!(
        "int->int filter Gain {{ int g = 3; work pop 1 push 1 {{ push(g * pop()); }} handler set(int v) {{ g = v; }} }}
int->int filter Level(portal<Gain> p) {{ int n; work pop {block} push {block} {{
    int s = 0; for (int i = 0; i < {block}; i++) {{ int x = pop(); s += x; push(x); }}
    n++; if (s > 0 || n % 3 == 0) p.set((n & 7) ^ (s & 3)) {latency}; }} }}
int->int pipeline Main {{ portal<Gain> p; add Gain to p; {between} add Level(p); {behind} }}
"
    );
    for (name, filter) in [
        ("Half", "int->int filter Half { work pop 2 push 1 { push(pop() - pop()); } }\n"),
        ("Far", "int->int filter Far { work pop 1 push 1 peek 900 { push(peek(0) ^ peek(899)); pop(); } }\n"),
        ("Lag", "int->int filter Lag(int k) { int y; work pop 1 push 1 { y += (pop() - y) / k; push(y); } }\n"),
    ] {
        if text.contains(&format!("add {name}")) {
            text.push_str(filter);
        }
    }
    text
}

/// How many steady states are one: what the C text says.
fn at_once(program: &str) -> Option<u64> {
    let place = Place::new().with("a.str", program);
    let done = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0);
    let line = done.text().lines().find(|l| l.contains("const int64_t some = left < "))?;
    line.split(" < ").nth(1)?.split(' ').next()?.parse().ok()
}

#[test]
fn as_many_steady_states_at_once_as_the_latency_allows() {
    for (block, latency, states) in [(64, "[0:0]", 1), (64, "[1:1]", 2), (64, "[2:5]", 6), (8, "[3:3]", 4)] {
        assert_eq!(at_once(&told(block, latency, "")), Some(states), "{block} {latency}");
    }
    // many are as many as lanes have
    assert_eq!(at_once(&told(1, "[40:40]", "")), Some(32));
    // where a steady state is longer than the latency, it is not one
    assert_eq!(at_once(&told_before(4, "[0:0]", ("", "add Half; add Half; add Half; add Half;"))), None);
}

#[test]
fn messages_take_effect_where_they_should() {
    for (block, latency) in [(64, "[0:0]"), (64, "[1:1]"), (5, "[0:7]"), (1, "[100:100]"), (3, "")] {
        for between in ["", "add Lag(3); add Lag(5); add Lag(2);", "add Far;", "add Half; add Far; add Lag(2);"] {
            same_quickly(&told(block, latency, between), ints, &[0, 63, 130, 5001]);
        }
    }
}

/// Within a steady state that is not one, a filter fires as often in a row as no message can come.
#[test]
fn in_runs_within_a_steady_state() {
    let program = told_before(16, "[0:0]", ("", "add Half; add Half; add Half; add Half; add Half; add Half;"));
    same(&program, ints, &[0, 15, 16, 200, 3000]);
    let place = Place::new().with("a.str", &program);
    let done = place.run(&["run", "a.str", "--dump-after", "schedule"]).ends(0);
    assert!(done.text().contains("x16 Main.Gain"), "{}", done.text());
}

/// What neither sends nor receives is one filter as in other programs.
#[test]
fn what_stands_between_is_one_filter() {
    let lags = "add Lag(3); add Lag(5); add Lag(2); add Lag(7);";
    let program = told(64, "[1:1]", lags);
    let place = Place::new().with("a.str", &program);
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 5, "{text}");
    assert_eq!(nodes(&place, &["--fuse=false"]).0.len(), 8);
}

/// A receiver whose firings would go side by side if it had no state does so between two messages.
#[test]
fn receivers_fire_in_lanes() {
    let program = "float->float filter Shape { float a = 1; float b = 0.5; work pop 1 push 1 { float x = pop(); float y = a * x * x - b * x + a * b; float z = y * y * b + x * a;
        push(x > b ? y * z + a * y - b : z * y - b * y + a); } handler set(float v, float w) { a = v; b = w; } }
float->float filter Level(portal<Shape> p) { int n; work pop 32 push 32 { float s = 0; for (int i = 0; i < 32; i++) { float x = pop(); s += x; push(x); } n++; p.set(s / 1000, n / 3.0) [3:3]; } }
float->float pipeline Main { portal<Shape> p; add Shape to p; add Level(p); }";
    let place = Place::new().with("a.str", program);
    let done = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0);
    let text = done.text();
    assert!(text.contains("sl_lanes_0("), "{text}");
    let bytes: Vec<u8> = (0..3001).flat_map(|i| ((i as f32 * 0.37).sin() * 2.0).to_le_bytes()).collect();
    let by = |way: &str| place.run_with(&["run", "a.str", way], &bytes).ends(0).stdout;
    assert!(by("--interpret") == by("--fuse=true"));
}

/// What a first firing has put into fields, and no other writes, is the same for all lanes.
#[test]
fn what_the_first_firing_has_found_is_the_same_in_all_lanes() {
    let program = "float->float filter Level { float m; float d; prework pop 3 push 0 { m = pop() + pop(); d = pop(); }
    work pop 1 push 1 { float x = pop() - m; float y = x * x * d - x * m + d * m; push(x * y * d + y * y * m - x * d + x / 3); } }";
    let place = Place::new().with("a.str", program);
    let done = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0);
    let text = done.text();
    assert!(text.contains("sl_lanes_0("), "{text}");
    let bytes: Vec<u8> = (0..1003).flat_map(|i| ((i as f32 * 0.37).sin() * 2.0).to_le_bytes()).collect();
    let by = |way: &str| place.run_with(&["run", "a.str", way], &bytes).ends(0).stdout;
    assert!(by("--interpret") == by("--fuse=true"));
}

/// With dynamic rates somewhere, all keeps to the reference order.
#[test]
fn beside_dynamic_rates() {
    let some = "add int->int filter { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x); } };";
    for latency in ["[0:0]", "[1:1]", "[2:9]", ""] {
        same(&told_before(4, latency, ("", some)), ints, &[0, 7, 100, 999]);
    }
}
