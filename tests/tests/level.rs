//! Equal branches without state that look ahead, as one filter whose turns go side by side: the same bytes for every length of input; and what may not go so stays as it is.

#![allow(clippy::disallowed_methods)] // folders for what programs write

use sluice_driver::as_c::side_by_side;
use sluice_driver::options::{CodeOptions, Inner};
use sluice_driver::pipeline::Checked;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_tests::generate::random::Random;
use sluice_tests::run::{self, Make, check, output as bytes};

const FILTERS: &str = "
float->float filter Fir(int n, int down) {
    work peek n pop down push 1 {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += (i % 5 - 1.75) * peek(i);
        push(sum);
        for (int i = 0; i < down; i++) pop();
    }
}
int->int filter Mix(int n, int down) {
    work peek n pop down push 1 {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum = sum * 31 + peek(i);
        push(sum);
        for (int i = 0; i < down; i++) pop();
    }
}
complex->complex filter Turn(int n, int down) {
    work peek n pop down push 1 {
        complex sum = 0;
        for (int i = 0; i < n; i++)
            sum += peek(i) * complex(0.25 * i, 1 - i);
        push(sum);
        for (int i = 0; i < down; i++) pop();
    }
}
float->float filter Gain(float g, int up) { work pop 1 push up { float x = pop(); for (int i = 0; i < up; i++) push(g * x + i); } }
float->float filter Scale(float g, int n) { work pop n push 1 { float x = 0; for (int i = 0; i < n; i++) x += g * pop(); push(x); } }
float->float filter Decay(float a) { float y; work pop 1 push 1 { y = a * y + pop(); push(y); } }
float->float filter Square(float d) { work pop 1 push 1 { float x = pop(); push(x * x - d); } }
complex->float filter Power(float g) { work pop 1 push 1 { complex z = pop(); push(g * (z.real * z.real + z.imag * z.imag)); } }
";

const NATIVE: Make =
    Make { level: 0, small_buffers: false, unchecked: false, channel_limit: None, inner: Inner::Auto, plain: false };

/// Words with all that is odd of floats among them.
fn words(n: usize, seed: u64) -> Vec<u8> {
    let mut r = Random::new(seed);
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, f32::MAX, f32::MIN_POSITIVE / 8.0];
    let mut item = || if r.chance(4) { odd[r.index(odd.len())] } else { r.below(2001) as f32 / 1000.0 - 1.0 };
    (0..n).flat_map(|_| item().to_le_bytes()).collect()
}

fn program(io: &str, body: &str) -> Checked {
    let source = format!("{FILTERS}{io} pipeline Main {{ {body} }}");
    check(&source).unwrap_or_else(|why| panic!("{why}\n{source}"))
}

fn made(program: &Checked) -> Option<Checked> {
    let new = side_by_side(&program.program, &CodeOptions { fold: true, privatise: true, ..CodeOptions::default() })?;
    Some(Checked { sources: program.sources.clone(), program: new })
}

/// Both programs give the same bytes, interpreted for many lengths of input and numbers of steady states, and compiled.
fn agree(program: &Checked, new: &Checked, what: &str) {
    let all = words(800, 3);
    for n in (0..40).chain([63, 64, 65, 200, 501, 800]) {
        let (a, b) = (bytes(program, &all[..4 * n], None, None), bytes(new, &all[..4 * n], None, None));
        assert!(a == b, "{n} words: {what}");
    }
    for j in [0, 1, 3] {
        let (a, b) = (bytes(program, &all, Some(j), None), bytes(new, &all, Some(j), None));
        assert!(a == b, "{j} steady states: {what}");
    }
    let (ran, code) = run::compile(program, NATIVE).unwrap();
    for n in [0, 1, 77, 800, 6000, 40_000] {
        let input = words(n, 9);
        let (a, b) = (bytes(program, &input, None, None), bytes(&ran, &input, None, Some(&code)));
        assert!(a == b, "compiled, {n} words: {what}");
    }
}

/// The names of the filters.
fn filters(graph: &SdfGraph) -> Vec<&str> {
    let filter = |n: &&sluice_frontend::graph::Node| matches!(n.kind, NodeKind::Filter { .. });
    graph.nodes.iter().filter(filter).map(|n| n.name.as_str()).collect()
}

#[track_caller]
fn becomes(io: &str, body: &str, want: &[&str]) {
    let program = program(io, body);
    let new = made(&program).unwrap_or_else(|| panic!("nothing is made of {body}"));
    assert_eq!(filters(&new.program.graph), want, "{body}");
    agree(&program, &new, body);
}

#[test]
fn equal_branches_go_side_by_side() {
    for n in [2, 3, 8, 16, 17] {
        let bank = |filter: &str| {
            format!(
                "add splitjoin {{ split roundrobin(1); for (int i = 0; i < {n}; i++) add {filter}; join roundrobin(1); }};"
            )
        };
        becomes("float->float", &bank("Fir(9, 1)"), &[&format!("Fir x{n}")]);
        becomes("int->int", &bank("Mix(7, 1)"), &[&format!("Mix x{n}")]);
        becomes("complex->complex", &bank("Turn(6, 1)"), &[&format!("Turn x{n}")]);
        // the last vectors of a block are whole
        if [2, 8, 16].contains(&n) {
            for down in [2, 3] {
                becomes("float->float", &bank(&format!("Fir(9, {down})")), &[&format!("Fir x{n}")]);
                becomes("int->int", &bank(&format!("Mix(40, {down})")), &[&format!("Mix x{n}")]);
                becomes("complex->complex", &bank(&format!("Turn(7, {down})")), &[&format!("Turn x{n}")]);
            }
        }
    }
}

#[test]
fn branches_that_end_alike_are_brought_level() {
    let bank = |split: &str, branch: &str, join: &str| {
        format!(
            "add splitjoin {{ split {split}; for (int i = 0; i < 4; i++) add pipeline {{ {branch} }}; join {join}; }};"
        )
    };
    let heads = ["Gain"; 4];
    let with = |more: &[&'static str]| [&heads, more].concat();
    becomes("float->float", &bank("duplicate", "add Gain(i, 1); add Fir(8, 1);", "roundrobin"), &with(&["Fir x4"]));
    becomes(
        "float->float",
        &bank("duplicate", "add Gain(i, 1); add Fir(8, 2); add Square(1);", "roundrobin"),
        &with(&["Fir x4", "Square x4"]),
    );
    becomes(
        "float->float",
        &bank("roundrobin(3)", "add Gain(i, 2); add Square(1); add Fir(8, 1);", "roundrobin"),
        &with(&["Square x4", "Fir x4"]),
    );
    // filters with state before them, and several
    becomes(
        "float->float",
        &bank("duplicate", "add Decay(0.1 * i); add Fir(8, 1);", "roundrobin"),
        &["Decay", "Decay", "Decay", "Decay", "Fir x4"],
    );
    let two = ["Gain", "Scale", "Gain", "Scale", "Gain", "Scale", "Gain", "Scale", "Fir x4"];
    becomes(
        "float->float",
        &bank("duplicate", "add Gain(i, 3); add Scale(0.5 + i, 2); add Fir(5, 1);", "roundrobin"),
        &two,
    );
    // nothing before them: all of the splitjoin is gone; in a splitjoin, and as all of a program
    becomes(
        "complex->float",
        &bank("roundrobin", "add Turn(5, 1); add Power(2);", "roundrobin"),
        &["Turn x4", "Power x4"],
    );
    let inner = bank("roundrobin", "add Fir(5, 1); add Square(1);", "roundrobin").replacen(
        "add splitjoin",
        "add pipeline { add splitjoin",
        1,
    ) + " }; ";
    becomes(
        "float->float",
        &format!("add splitjoin {{ split duplicate; {inner} add Decay(0.5); join roundrobin(4, 4); }};"),
        &["Fir x4", "Square x4", "Decay"],
    );
    let whole = format!(
        "{FILTERS} float->float splitjoin Main {{ split roundrobin; for (int i = 0; i < 4; i++) add Fir(6, 1); join roundrobin; }}"
    );
    let program = check(&whole).unwrap();
    let new = made(&program).unwrap();
    assert_eq!(filters(&new.program.graph), ["Fir x4"]);
    agree(&program, &new, &whole);
}

#[test]
fn what_is_not_so_stays() {
    for (io, body) in [
        // they see no other branch's items as it is, and regions are better
        ("float->float", "split roundrobin; for (int i = 0; i < 4; i++) add Square(1); join roundrobin;"),
        ("float->float", "split roundrobin(4); for (int i = 0; i < 4; i++) add Scale(3, 4); join roundrobin;"),
        // other blocks, weights, numbers, lengths
        ("float->float", "split roundrobin(2); for (int i = 0; i < 4; i++) add Fir(8, 2); join roundrobin;"),
        ("float->float", "split roundrobin; for (int i = 0; i < 4; i++) add Fir(8, 1); join roundrobin(2);"),
        ("float->float", "split roundrobin(1, 2); add Fir(8, 1); add Fir(8, 1); join roundrobin(1, 2);"),
        ("float->float", "split roundrobin; add Fir(8, 1); add Fir(9, 1); join roundrobin;"),
        (
            "float->float",
            "split duplicate; add pipeline { add Square(1); add Fir(8, 1); }; add Fir(8, 1); join roundrobin;",
        ),
        ("float->float", "split roundrobin; for (int i = 0; i < 3; i++) add Fir(8, 2); join roundrobin;"),
        // what stands before them takes or gives other numbers of items
        (
            "float->float",
            "split duplicate; for (int i = 0; i < 4; i++) add pipeline { add Gain(1, i + 1); add Scale(1, i + 1); add Fir(8, 1); }; join roundrobin;",
        ),
        // all the same
        ("float->float", "split duplicate; for (int i = 0; i < 4; i++) add Fir(8, 1); join roundrobin;"),
        // they say something, or count
        (
            "float->float",
            "split roundrobin; for (int i = 0; i < 4; i++) add float->float filter { work peek 9 pop 1 push 1 { println(1); push(peek(8) * peek(1) * peek(2) * peek(3) * peek(4) * peek(5)); pop(); } }; join roundrobin;",
        ),
        (
            "float->float",
            "split roundrobin; for (int i = 0; i < 4; i++) add float->float filter { prework push 1 { push(0); } work peek 9 pop 1 push 1 { float s = 0; for (int i = 0; i < 9; i++) s += 3 * peek(i); push(s); pop(); } }; join roundrobin;",
        ),
    ] {
        let program = program(io, &format!("add splitjoin {{ {body} }};"));
        assert!(made(&program).is_none(), "{body}");
        agree(&program, &program, body);
    }
}

#[test]
fn random_banks() {
    let (mut level, mut seen) = (0, 0);
    for seed in 0..24 {
        let mut r = Random::new(seed);
        let n = [2, 3, 4, 7, 8, 16, 20][r.index(7)];
        let (taps, down) = (r.range(2, 40), if r.chance(50) { 1 } else { r.range(2, 4) });
        let filter = [format!("Fir({}, {down})", taps.max(down)), format!("Fir({}, 1)", taps)][r.index(2)].clone();
        let split = ["duplicate", "roundrobin", "roundrobin", "roundrobin(2)"][r.index(4)];
        let head =
            ["add Gain(0.5 + i, 1); ", "add Gain(2 - i, 2); ", "add Decay(0.25 * i); ", "add Scale(1 + i, 2); ", ""]
                [r.index(5)];
        let tail = ["", "add Square(1); ", "add Scale(2, 3); ", "add Fir(3, 1); "][r.index(4)];
        let before = ["", "add Square(1); ", "add Fir(4, 1); ", "add Scale(0.5, 3); "][r.index(4)];
        let after = ["", "add Square(1); ", "add Fir(4, 1); ", "add Decay(0.5); "][r.index(4)];
        let join = ["roundrobin", "roundrobin", "roundrobin", "roundrobin(2)"][r.index(4)];
        let body = format!(
            "{before}add splitjoin {{ split {split}; for (int i = 0; i < {n}; i++) add pipeline {{ {head}add {filter}; {tail} }}; join {join}; }}; {after}"
        );
        let program = program("float->float", &body);
        seen += 1;
        if let Some(new) = made(&program) {
            level += 1;
            agree(&program, &new, &body);
        }
    }
    assert!(level >= 6, "{level} programs of {seen}");
}
