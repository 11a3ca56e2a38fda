//! Filters with a state that are taken apart: what their state needs stays by itself, and all give the bytes of the program as it is written.

use crate::support::*;
use crate::windows::at_all_widths;

/// Filters `F` of floats, and how many filters native code makes of each.
const SHAPES: [(&str, &str, usize); 14] = [
    (
        "an oscillator",
        "float->float filter F { float p; work pop 1 push 2 { p += 0.3 * pop(); if (p > pi) p -= 2 * pi; if (p < -pi) p += 2 * pi; push(cos(p)); push(sin(p)); } }",
        2,
    ),
    (
        "an oscillator that is heard before it moves on",
        "float->float filter F { float p = 0.5; work pop 1 push 1 { push(sin(p) * cos(p * 3)); p += pop(); } }",
        2,
    ),
    (
        "between two steps",
        "float->float filter F { float p; work pop 1 push 1 { p += pop(); float q = p; p *= 0.5; push(sin(q) - cos(p)); } }",
        2,
    ),
    (
        "a mixer that counts",
        "float->float filter F { int n = 5; work pop 2 push 2 { n = (n + 1) % 48; push(pop() * cos(n * 0.13)); push(pop() * sin(n * 0.13)); } }",
        2,
    ),
    (
        "an average of what is costly",
        "float->float filter F { float z = 1; work pop 1 peek 3 push 1 { float e = atan(peek(0)) * cos(peek(2)); z = z * 0.75 + e; push(z); pop(); } }",
        2,
    ),
    (
        "before and behind",
        "float->float filter F { float z; work pop 2 push 3 { float a = atan2(pop(), pop()); z = z * 0.9 + a; push(sin(z) * a); push(a); push(cos(z) - a); } }",
        3,
    ),
    (
        "a condition passes",
        "float->float filter F { float z; work pop 1 push 1 { float x = pop(); boolean up = x > 0.25; if (up) z += x; else z *= 0.5; push(up ? sin(z) : cos(z) + tan(z)); } }",
        2,
    ),
    (
        "a lifting step",
        "float->float filter F { float last = 3; work peek 3 pop 2 push 2 { float d = peek(1) - (peek(0) + peek(2)) * 0.5; push(peek(0) + (last + d) * 0.25); push(d); last = d; pop(); pop(); } }",
        2,
    ),
    (
        "what is in an array stays in its part",
        "float->float filter F { float z; work pop 4 push 1 { float[4] a; for (int i = 0; i < 4; i++) a[i] = sin(pop()); float s = 0; for (int i = 0; i < 4; i++) s += a[i] * a[3 - i]; z = z * 0.5 + s; push(z); } }",
        2,
    ),
    (
        "names that are used again",
        "float->float filter F { float z; work pop 2 push 2 { float t = sin(pop()); z += t; t = cos(pop()); z *= 0.5; push(z); t = t * sin(z); push(t); } }",
        3,
    ),
    (
        "a table that the state looks at",
        "float->float filter F { float[8] t; int n; init { for (int i = 0; i < 8; i++) t[i] = 0.3 * i; } work pop 1 push 1 { if (pop() > 0) n = (n + 3) & 7; push(sin(t[n]) + cos(t[n] * 2)); } }",
        2,
    ),
    (
        "hardly more than its state",
        "float->float filter F { float z; work pop 1 push 1 { z = z * 0.5 + pop(); push(z * 2); } }",
        1,
    ),
    (
        "all of it in a circle",
        "float->float filter F { float z; work pop 1 push 1 { z = sin(z + pop()); push(z); } }",
        1,
    ),
    (
        "a ring: arrays do not pass",
        "float->float filter F { float[5] x; int p; work pop 1 push 1 { x[p] = sin(pop()) * 2; p = (p + 2) % 5; push(x[p] + cos(x[p])); } }",
        1,
    ),
];

/// The parts are those of the loops as they are, which other filters' may not stay.
#[test]
fn loops_of_parts_are_not_split() {
    let program = "int->int filter F { float z; work push 2 pop 1 { for (int i = 0; i < 3; i++) z = z || true; switch (peek(0)) { default: int v; case 0: z = 0; } push(peek(0)); push(0); } }
        int->int pipeline Main { add F; }";
    let bytes: Vec<u8> = (0..100i32).flat_map(i32::to_le_bytes).collect();
    let done =
        Place::new().with("a.str", program).as_interpreted(&bytes, &[&["--back-end", "cc", "--take-apart=always"]]);
    assert_eq!(done.code, 0);
}

/// What is behind a condition that never holds is not looked at, though the window is taken by the first part.
#[test]
fn nothing_is_taken_from_beyond_the_window() {
    let program =
        "float->float filter F { float z; work pop 1 push 1 { float x = pop(); float e = atan(x) * sin(x) + cos(x);
            z = z * 0.5 + e; if (z > 1000000) z = peek(1000000000); push(z); } }
        float->float pipeline Main { add F; }";
    let place = Place::new().with("a.str", program);
    let done = place.as_interpreted(&floats(&[1.0, 2.0, 3.0]), &[&["--back-end", "cc"], &["--back-end", "jit"]]);
    assert_eq!((done.code, done.stdout.len()), (0, 12));
}

/// Costs, and code for devices, are of the same parts, whatever becomes of private fields and checks besides.
#[test]
fn all_who_look_find_the_same_parts() {
    for filter in [
        "float->float filter F { float s; int n; work push 2 pop 1 { s = pow(n, peek(0)); n = 0; push(0); push(s + 0); } }",
        "float->float filter F { int n; int[8] t; work push 1 pop 1 { n = n + (int) pop(); for (int i = 0; i < 8; i++) t[i] = i; push(sin(t[n & 7]) / (1 + (n & 3))); } }",
    ] {
        let place = Place::new().with("a.str", format!("{filter} float->float pipeline Main {{ add F; }}"));
        let input = floats(&[0.5, 1.0, -3.0, 2.0, 7.5]);
        let always = ["--take-apart=always"];
        let ways = [&["--back-end", "cc"][..], &["--back-end", "jit"], &["-O0", "--target", "cuda", "--emulate"]];
        for more in [&[][..], &["--unchecked"]] {
            let ways: Vec<Vec<&str>> = ways.iter().map(|w| [w, &always[..], more].concat()).collect();
            let ways: Vec<&[&str]> = ways.iter().map(Vec::as_slice).collect();
            assert_eq!(place.as_interpreted(&input, &ways).code, 0, "{filter}");
        }
        place.run(&["schedule", "a.str"]).ends(0);
    }
}

/// Filters that a graph has of one that the program calls `name`: `n3 Main.F filter …`, or `n3 Main.F.2 as F filter …`.
fn named(graph: &str, name: &str) -> usize {
    let is = |l: &&str| {
        let at = l.split(' ').nth(1).unwrap_or_default();
        let own = at.split(['.', '#']).any(|part| part == name);
        l.starts_with('n') && own && l.contains(" filter ")
    };
    graph.lines().filter(is).count()
}

/// Filters `F` in what native code is made of.
fn filters(place: &Place, arguments: &[&str]) -> usize {
    let done = place.run(&[&["run", "a.str", "--dump-after", "take-apart"], arguments].concat()).ends(0);
    named(done.text(), "F")
}

#[test]
fn the_bytes_are_those_of_the_program() {
    for (what, filter, parts) in SHAPES {
        let program = format!("{filter}\nfloat->float pipeline Main {{ add F; }}");
        let place = Place::new().with("a.str", &program);
        assert_eq!(filters(&place, &[]), parts, "{what}");
        assert_eq!(filters(&place, &["--take-apart=never"]), 1, "{what}");
        at_all_widths(&place, &program, 1, &[0, 37, 3_001]);
    }
}

/// In pipelines, behind splitters, in a loop, next to one another, more of them than are taken apart.
const PLACES: &str = "float->float filter Turn(float f) { float p; work pop 1 push 1 { p += f * pop(); if (p > 3) p -= 6; push(sin(p) + cos(p)); } }
float->float filter Level { float z; work pop 1 push 1 { float e = atan(peek(0)) * pop(); z += 0.1 * (e - z); push(z); } }
float->float filter Lift { float l; work peek 3 pop 2 push 2 { float a = pop(); float d = peek(0) - (a + peek(1)) * 0.5; pop(); push(a + (l + d) * 0.25); push(d); l = d; } }
float->float filter Half { work pop 2 push 1 { push(0.5 * (pop() + pop())); } }
float->float pipeline Main {
    add Turn(0.3);
    add Lift;
    add splitjoin { split duplicate; add Turn(0.2); add Level; add pipeline { add Lift; add Turn(0.7); } join roundrobin; }
    add splitjoin { split roundrobin; for (int i = 0; i < 5; i++) add Turn(0.4); join roundrobin; }
    add feedbackloop { join roundrobin(1, 1); body pipeline { add Half; add Turn(0.9); } split duplicate; enqueue 0; }
    add Level;
}";

#[test]
fn wherever_they_stand() {
    let place = Place::new().with("a.str", PLACES);
    let all = place.run(&["run", "a.str", "--dump-after", "take-apart"]).ends(0);
    let named = |name: &str| named(all.text(), name);
    // three alone are two each; five side by side, and one in a loop, are as they were
    assert_eq!((named("Turn"), named("Level"), named("Lift")), (3 * 2 + 5 + 1, 2 * 2, 2 * 2));
    for n in [0, 1, 2, 3, 7, 100, 5000] {
        let items: Vec<f32> = (0..n).map(|i: i32| (i.wrapping_mul(7919) % 1000) as f32 / 250.0 - 2.0).collect();
        let ways = [
            &["--back-end", "cc"][..],
            &["--back-end", "jit"],
            &["-O0", "--back-end", "cc", "--take-apart=never"],
            &["-O0", "--back-end", "cc", "--fuse=false", "--fold=false"],
            &["-O0", "--threads", "3", "--threads-batch", "2"],
            &["-O0", "--schedule", "minimum-latency", "--back-end", "cc"],
            &["-O0", "--target", "cuda", "--emulate", "--sms", "2"],
        ];
        assert_eq!(place.as_interpreted(&floats(&items), &ways).code, 0);
    }
}

/// Whatever a fault is in, it is told as the filter's, what was given before it stays, and nothing is done that a check should have prevented.
#[test]
fn faults_are_those_of_the_filter() {
    for work in [
        "n = (n + 1) & 31; push(n + 100 / (pop() - 40));",
        "n = n + 1; int[6] t; t[n % 6] = n; push(t[pop() % 6] * n / 7 % 5);",
        "n = n / (pop() - 40) + 3; push(n % 7 * n % 11 * n % 13);",
        // the second look-up is safe because of the first, which the state needs
        "int i = pop(); n = n * 5 + T[i]; push(n + T[i] * 7 / (T[i] + 1000003) + T[i] % 11 + (i ^ 5) * (i + 9) / 17);",
    ] {
        let program = format!(
            "int->int filter F {{ int n; int[8] T; init {{ for (int i = 0; i < 8; i++) T[i] = 3 * i + 1; }} work pop 1 push 1 {{ {work} }} }}
            int->int pipeline Main {{ add F; }}"
        );
        let place = Place::new().with("a.str", &program);
        let items = (0..65).map(|i| i % 8).chain([40, -1, 2_000_000_000, 1]);
        let bytes: Vec<u8> = items.flat_map(i32::to_le_bytes).collect();
        let ways = ["cc", "jit"].iter().flat_map(|b| ["auto", "always", "never"].map(|t| (*b, t)));
        let ways: Vec<[String; 3]> =
            ways.map(|(b, t)| ["--back-end".into(), b.to_string(), format!("--take-apart={t}")]).collect();
        for way in &ways {
            let way: Vec<&str> = way.iter().map(String::as_str).collect();
            assert_ne!(place.as_interpreted(&bytes, &[&way]).code, 0, "{work}");
        }
    }
}

#[test]
fn a_project_may_say_no() {
    let one = format!("{}\nfloat->float pipeline Main {{ add F; }}", SHAPES[0].1);
    let manifest = "[program]\nname = \"fm\"\nsources = [\"a.str\"]\n[build]\ntake-apart = \"never\"\n";
    let project = Place::new().with("a.str", &one).with("sluice.toml", manifest);
    let parts = |more: &[&str]| {
        let done = project.run(&[&["run", "--dump-after", "take-apart"], more].concat()).ends(0);
        named(done.text(), "F")
    };
    assert_eq!((parts(&[]), parts(&["--take-apart=auto"])), (1, 2));
    // what a person sees is the filter
    assert!(project.run(&["rates"]).ends(0).text().contains(" state "));
}
