//! Delays that become items which wait, and products with zeroes that are not taken: the same bytes for every length of input, whatever the items are; and what would change a bit
//! stays as it is.

#![allow(clippy::disallowed_methods)] // folders for what programs write

use sluice_driver::linear::EXACT;
use sluice_driver::options::{CodeOptions, Inner};
use sluice_driver::pipeline::Checked;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_tests::generate::random::Random;
use sluice_tests::run::{self, Make, check, output as bytes};
use std::fmt::Write;

const FILTERS: &str = "
float->float filter Fir(int n, int down) {
    float[n] h;
    init {
        for (int i = 0; i < n; i++)
            h[i] = i % 5 == 4 ? 0 : sin(0.3 * i + 1) / (i + 1);
    }
    work peek n pop down push 1 {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += h[i] * peek(n - 1 - i);
        push(sum);
        for (int i = 0; i < down; i++) pop();
    }
}
float->float filter Up(int m) { work pop 1 push m { push(pop()); for (int i = 1; i < m; i++) push(0); } }
float->float filter Delay(int n) { prework push n { for (int i = 0; i < n; i++) push(0); } work pop 1 push 1 { push(pop()); } }
float->float filter Ones(int n) { prework push n { for (int i = 0; i < n; i++) push(1); } work pop 1 push 1 { push(pop()); } }
";

/// After each of the passes: the program, and which of them changed it.
fn after(program: &Checked) -> (Checked, Vec<&'static str>) {
    let code = CodeOptions { privatise: true, ..CodeOptions::default() };
    let mut now = Checked { sources: program.sources.clone(), program: program.program.clone() };
    let mut did = Vec::new();
    for (name, pass) in EXACT {
        if let Some(program) = pass(&now.program, &code) {
            now.program = program;
            did.push(name);
        }
    }
    (now, did)
}

/// Floats with all that is odd among them.
fn floats(n: usize, seed: u64) -> Vec<u8> {
    let mut r = Random::new(seed);
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, f32::MAX, f32::MIN_POSITIVE / 8.0];
    let mut item = || if r.chance(8) { odd[r.index(odd.len())] } else { r.below(2001) as f32 / 1000.0 - 1.0 };
    (0..n).flat_map(|_| item().to_le_bytes()).collect()
}

const NATIVE: Make =
    Make { level: 2, small_buffers: false, unchecked: false, channel_limit: None, inner: Inner::Auto, plain: false };

/// The program gives the same bytes as it is and after the passes, which are these: interpreted for many lengths of input and numbers of steady states, and compiled.
fn same(body: &str, passes: &[&str]) -> Checked {
    let source = format!("{FILTERS}{body}");
    let program = check(&source).unwrap_or_else(|why| panic!("{why}\n{source}"));
    let (new, did) = after(&program);
    assert_eq!(did, passes, "{body}");
    agree(&program, &new, body);
    let (ran, code) = run::compile(&program, NATIVE).unwrap();
    for n in [0, 1, 77, 3000] {
        let input = floats(n, 9);
        let (a, b) = (bytes(&program, &input, None, None), bytes(&ran, &input, None, Some(&code)));
        assert!(a == b, "compiled, {n} items: {body}");
    }
    new
}

fn agree(program: &Checked, new: &Checked, what: &str) {
    let all = floats(96, 3);
    for n in (0..24).chain([31, 96]) {
        let (a, b) = (bytes(program, &all[..4 * n], None, None), bytes(new, &all[..4 * n], None, None));
        assert!(a == b, "{n} items: {what}");
    }
    for j in [0, 1, 3] {
        let (a, b) = (bytes(program, &all, Some(j), None), bytes(new, &all, Some(j), None));
        assert!(a == b, "{j} steady states: {what}");
    }
}

fn filters(graph: &SdfGraph) -> usize {
    graph.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Filter { .. })).count()
}

#[test]
fn delays_are_items_that_wait() {
    for (body, left) in [
        ("float->float pipeline Main { add Delay(3); add Fir(5, 1); }", 1),
        ("float->float pipeline Main { add Ones(2); add Delay(40); add Fir(5, 2); add Ones(1); add Fir(1, 1); }", 2),
        (
            "float->float pipeline Main { add splitjoin { split duplicate; add pipeline { add Ones(7); add Fir(3, 1); }; \
             add Fir(4, 1); join roundrobin; }; }",
            2,
        ),
    ] {
        assert_eq!(filters(&same(body, &["delays"]).program.graph), left, "{body}");
    }
    // the last delay's items come out first
    let new = same("float->float pipeline Main { add Ones(2); add Delay(1); add Fir(1, 1); }", &["delays"]);
    let waiting = new.program.graph.channels.iter().find(|c| !c.initial.is_empty()).unwrap();
    assert_eq!(waiting.initial, [0.0, 1.0, 1.0].map(Const::Float));
    // ints, and what keeps something, as well
    same(
        "float->float pipeline Main { add float->int filter { work pop 1 push 1 { push(pop() > 0.5 ? 7 : 3); } }; \
         add int->int filter { prework push 2 { push(5); push(6); } work pop 1 push 1 { int a = pop(); push(a); } }; \
         add int->float filter { int all; work pop 1 push 1 { all += pop(); push(all); } }; }",
        &["delays"],
    );
}

#[test]
fn what_is_no_delay_stays() {
    for body in [
        // it changes an item, their order, or their number
        "add float->float filter { prework push 1 { push(0); } work pop 1 push 1 { push(pop() + 0.0f); } }; add Fir(2, 1);",
        "add float->float filter { prework push 1 { push(0); } work pop 2 push 2 { push(peek(1)); push(peek(0)); pop(); pop(); } }; add Fir(2, 1);",
        "add float->float filter { prework push 1 { push(0); } work pop 1 push 2 { push(peek(0)); push(pop()); } }; add Fir(2, 1);",
        // two at a time: one is kept back
        "add float->float filter { prework push 1 { push(0); } work pop 2 push 2 { push(pop()); push(pop()); } }; add float->float filter { work pop 2 push 1 { push(pop()); pop(); } };",
        // the first firing takes items
        "add float->float filter { prework pop 1 push 1 { push(pop()); } work pop 1 push 1 { push(pop()); } }; add Fir(2, 1);",
        // it says something
        "add float->float filter { prework push 1 { push(0); } work pop 1 push 1 { println(1); push(pop()); } }; add Fir(2, 1);",
        // nothing to wait before
        "add Fir(2, 1); add Delay(3);",
        "add Delay(3); add splitjoin { split duplicate; add Fir(2, 1); add Fir(3, 1); join roundrobin; };",
    ] {
        same(&format!("float->float pipeline Main {{ {body} }}"), &[]);
    }
}

#[test]
fn zeroes_between_items_are_passed_over() {
    for (body, pop, peek, push) in [
        ("add Up(4); add Fir(16, 1);", 1, 5, 4),
        ("add Up(8); add Delay(31); add Fir(32, 1);", 1, 4, 8),
        ("add Up(3); add Delay(5); add Fir(17, 1);", 1, 6, 3),
        ("add Up(4); add Fir(16, 2);", 1, 5, 2),
        // more phases than are written one by one, and terms
        ("add Up(20); add Fir(200, 1);", 1, 11, 20),
        ("add Up(20); add Delay(60); add Fir(130, 1);", 1, 8, 20),
    ] {
        let passes: &[&str] = if body.contains("Delay") { &["delays", "skip-zeros"] } else { &["skip-zeros"] };
        let new = same(&format!("float->float pipeline Main {{ {body} }}"), passes);
        let made = new.program.codes.last().unwrap();
        let rates = made.work.rates;
        assert_eq!((rates.pop, rates.peek, rates.push), (pop, peek, push), "{body}");
        assert_eq!(filters(&new.program.graph), 1, "{body}");
    }
}

#[test]
fn what_would_change_a_bit_stays() {
    let sum = |body: &str| format!("add float->float filter {{ work peek 4 pop 1 push 1 {{ {body} pop(); }} }};");
    let up = |body: &str| format!("add float->float filter {{ work pop 1 push 2 {{ {body} }} }}; add Fir(6, 1);");
    for body in [
        // the sum of a -0 and nothing is -0
        format!("add Up(2); {}", sum("push(0.5f * peek(0) + 2 * peek(3));")),
        format!("add Up(2); {}", sum("float s = -0.0f; for (int i = 0; i < 4; i++) s += peek(i); push(s);")),
        format!("add Up(2); {}", sum("float s = 0; for (int i = 0; i < 4; i++) s -= peek(i); push(s);")),
        // zero times infinity is none
        format!("add Up(2); {}", sum("float s = 0; for (int i = 0; i < 4; i++) s += peek(i) / 0.1f; push(s);")),
        format!("add Up(2); {}", sum("float s = 0; for (int i = 0; i < 4; i++) s += 1e38f * 10 * peek(i); push(s);")),
        // sums of other types and shapes
        format!("add Up(2); {}", sum("double s = 0; for (int i = 0; i < 4; i++) s += peek(i); push((float)s);")),
        format!("add Up(2); {}", sum("float s = 0; for (int i = 0; i < 4; i++) s += peek(i) * peek(1); push(s);")),
        // no zeroes, zeroes of the other sign, an item twice, something computed
        up("push(peek(0)); push(pop());"),
        up("push(pop()); push(-0.0f);"),
        up("float x = pop(); push(x + 1); push(0);"),
        "add Up(2); add Ones(3); add splitjoin { split duplicate; add Fir(3, 1); join roundrobin; };".into(),
    ] {
        same(&format!("float->float pipeline Main {{ {body} }}"), &[]);
    }
    // of three items for two, the second comes before the third
    same("float->float pipeline Main { add Up(3); add Fir(30, 2); }", &[]);
    // ones wait between the two
    same("float->float pipeline Main { add Up(2); add Ones(3); add Fir(4, 1); }", &["delays"]);
}

/// A pipeline that stretches, delays and sums, at random.
fn random(r: &mut Random) -> String {
    let (pop, each) = (r.range(1, 2), r.range(2, 9));
    let push = pop * each;
    let mut out = format!("add float->float filter {{ work pop {pop} push {push} {{ ");
    let mut items: Vec<u32> = (0..pop).collect();
    let scale = ["", "0.75f * ", "-2 * "][r.index(3)];
    for place in 0..push {
        let left = push - place;
        if !items.is_empty() && r.chance(100 * items.len() as u32 / left) {
            let _ = write!(out, "push({scale}peek({})); ", items.remove(r.index(items.len())));
        } else {
            out.push_str("push(0); ");
        }
    }
    let _ = writeln!(out, "for (int i = 0; i < {pop}; i++) pop(); }} }};");
    for _ in 0..r.below(3) {
        let _ = writeln!(out, "add {}({});", if r.chance(90) { "Delay" } else { "Ones" }, r.range(1, 30));
    }
    let (peek, pop) = (r.range(1, 60), r.range(1, 4));
    let (peek, push) = (peek.max(pop), r.range(1, 3));
    let _ = writeln!(out, "add float->float filter {{ work peek {peek} pop {pop} push {push} {{ float s;");
    for k in 0..push {
        let at = ["i", "n - 1 - i", "(7 * i) % n"][r.index(3)].replace('n', &peek.to_string());
        let at = if peek % 7 == 0 { "i".into() } else { at };
        let _ = writeln!(
            out,
            "s = 0; for (int i = 0; i < {peek}; i++) s = s + {}.5f * (i % 3 - {k}) * peek({at}); push(s);",
            r.below(3)
        );
    }
    let _ = writeln!(out, "for (int i = 0; i < {pop}; i++) pop(); }} }};");
    out
}

#[test]
fn random_interpolators() {
    let (mut passed, mut seen) = (0, 0);
    for seed in 0..40 {
        let mut r = Random::new(seed);
        let mut source = format!("{FILTERS}float->float pipeline Main {{\n");
        if r.chance(30) {
            source.push_str("add Fir(3, 1);\n");
        }
        source.push_str(&random(&mut r));
        if r.chance(30) {
            source.push_str("add Fir(2, 1);\n");
        }
        source.push_str("}\n");
        let Ok(program) = check(&source) else { continue };
        let (new, did) = after(&program);
        seen += 1;
        if did.contains(&"skip-zeros") {
            passed += 1;
        }
        agree(&program, &new, &format!("seed {seed}\n{source}"));
    }
    assert!(passed > 16, "zeroes were passed over in {passed} programs of {seen}");
}
