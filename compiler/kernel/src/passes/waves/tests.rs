//! Which sections are lanes.

use super::*;
use crate::text::parse;

/// A kernel whose body has `;` at the ends of statements, with so many int and float locals and fields.
fn kernel(body: &str) -> Kernel {
    verified(&text(body))
}

fn text(body: &str) -> String {
    let state: String = (0..24).map(|i| format!("state{i} \"s{i}\" float = 0.0f\n")).collect();
    let locals: String = (0..24).map(|i| format!("local{i} \"x{i}\" float ")).collect();
    format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek 1 pop 1 push 1\n{state}func0 \"work\" (0) -> void; {{\n{locals}local24 \"i\" int\n{body} }}\n"
    )
}

fn verified(text: &str) -> Kernel {
    let kernel = parse(&text.replace(';', " @0:0-1")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    crate::verify::verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel
}

/// A section of second order, from local k to the next one, in fields 2k and 2k + 1.
fn section(k: usize) -> String {
    let (x, y, p, q) = (k, k + 1, 2 * k, 2 * k + 1);
    format!(
        "${y} = ((0.{k}5f * ${x}) + state{p}); state{p} = (((0.{k}6f * ${x}) - (0.{k}7f * ${y})) + state{q}); state{q} = ((0.5f * ${x}) - (0.{k}8f * ${y}));\n"
    )
}

/// What a section that passes on its field is given.
fn given(k: usize) -> String {
    if k == 0 { "in(0)".into() } else { format!("state{}", k - 1) }
}

/// A low-pass of first order as one.
fn low(k: usize) -> String {
    format!("state{k} = (state{k} + (0.{k}5f * ({} - state{k})));\n", given(k))
}

fn sections(n: usize) -> String {
    (0..n).map(section).collect()
}

#[test]
fn sections_that_follow_one_another() {
    let w = wave(&kernel(&format!("$0 = in(0); {} out(0) = $8;", sections(8)))).unwrap();
    assert_eq!((w.first, w.length, w.sections), (1, 3, 8));
    let fields: Vec<&Vec<Field>> =
        w.vars.iter().filter_map(|v| if let Var::Field(_, f) = v { Some(f) } else { None }).collect();
    let ids = |odd: u32| (0..8).map(|k| Field { state: StateId(2 * k + odd), element: None }).collect::<Vec<_>>();
    assert_eq!(fields, [&ids(0), &ids(1)]);
    // y goes on; the first section takes x
    let y = w.steps[0].0;
    let passed = w
        .vars
        .iter()
        .find_map(|v| if let Var::Passed(_, from, first) = v { Some((*from, first.clone())) } else { None });
    assert_eq!(passed, Some((y, Expr::local(LocalId(0), Ty::Float))));
    assert_eq!(w.outcome, [(Base::Local(LocalId(8)), y)]);
    let numbers = w.vars.iter().filter_map(|v| if let Var::Number(_, n) = v { Some(n.len()) } else { None });
    assert_eq!(numbers.collect::<Vec<_>>(), [8; 5]);
}

#[test]
fn what_comes_before_and_behind_has_fields_of_its_own() {
    let around = |before: &str, behind: &str| {
        wave(&kernel(&format!("{before} {} {behind}", sections(6)))).map(|w| (w.first, w.sections, w.outcome.len()))
    };
    assert_eq!(
        around("state20 = (state20 + in(0)); $0 = state20;", "state21 = @max(state21, $6); out(0) = state21;"),
        Some((2, 6, 1))
    );
    // a field of the last section, read behind it
    assert_eq!(around("$0 = in(0);", "out(0) = ($6 + state10);"), Some((1, 6, 2)));
    // of an earlier one, its firing is another
    assert_eq!(around("$0 = in(0);", "out(0) = ($6 + state8);"), None);
    assert_eq!(around("$0 = in(0);", "out(0) = ($6 + $3);"), None);
    // both sides of the sections know the firing
    assert_eq!(around("$0 = in(0);", "out(0) = ($6 + $0);"), None);
    assert_eq!(around("$0 = in(0);", "out(0) = ($6 + in(0));"), None);
    assert_eq!(around("out(0) = in(0); $0 = in(0);", "state20 = $6;"), None);
    // a field that is written on one side and read on the other, or by both
    assert_eq!(around("state20 = in(0); $0 = state20;", "out(0) = ($6 + state20);"), None);
    assert_eq!(around("$0 = (in(0) + state20);", "state20 = $6; out(0) = $6;"), None);
    assert_eq!(around("$0 = (in(0) + state20);", "out(0) = ($6 + state20);"), Some((1, 6, 1)));
    assert_eq!(around("$0 = (in(0) + state5);", "out(0) = $6;"), None);
    assert_eq!(around("$0 = in(0);", "state5 = 1.0f; out(0) = $6;"), None);
}

#[test]
fn one_that_is_another_ends_the_wave() {
    let all = |n: usize| format!("$0 = in(0); {} out(0) = ${n};", sections(n));
    let with = |n: usize, from: &str, to: &str| {
        let other = all(n).replacen(from, to, 1);
        assert_ne!(other, all(n), "{from}");
        wave(&kernel(&other)).map(|w| (w.first, w.sections))
    };
    assert_eq!(wave(&kernel(&all(3))), None);
    assert_eq!(with(9, "(0.05f * $0) + state0", "(0.05f * $0) - state0"), Some((4, 8)));
    // the last one has something else behind it
    assert_eq!(with(9, "((0.85f * $8) + state16)", "((0.85f * $8) * state16)"), Some((1, 8)));
    // in the middle: four before it, four behind
    assert_eq!(with(9, "((0.45f * $4) + state8)", "((0.45f * $4) / state8)").map(|w| w.1), Some(4));
    // a section that takes from the one before the one before it
    assert_eq!(with(9, "state6 = (((0.36f * $3)", "state6 = (((0.36f * $2)").map(|w| w.0), Some(13));
    // or has another's field
    assert_eq!(with(9, "state7 = ((0.5f * $3)", "state1 = ((0.5f * $3)").map(|w| w.0), Some(13));
}

#[test]
fn what_is_passed_on_may_be_a_field() {
    // a low-pass gives what it keeps
    let body: String = (0..16).map(low).collect();
    let w = wave(&kernel(&format!("{body} out(0) = state15;"))).unwrap();
    assert_eq!((w.first, w.sections, w.outcome.len()), (0, 16, 1));
    assert!(matches!(&w.vars[w.outcome[0].1], Var::Field(..)));
}

#[test]
fn what_would_not_pay_stays() {
    // four low-passes: what is passed on takes longer than all of them
    let low = |k: usize| format!("${} = ((0.{k}5f * ${k}) + state{k}); state{k} = ${};\n", k + 1, k + 1);
    let all = |n: usize| format!("$0 = in(0); {} out(0) = ${n};", (0..n).map(low).collect::<String>());
    assert_eq!(wave(&kernel(&all(4))), None);
    assert!(wave(&kernel(&all(16))).is_some());
    // a lane whose firing is none could divide by 0; text comes in order
    let ints = |op: &str| {
        let one = |k: usize| format!("state{k} = as<float>((as<int>(state{k}) {op} as<int>((state{k} + {k}.5f))));\n");
        wave(&kernel(&((0..16).map(one).collect::<String>() + "out(0) = state15;")))
    };
    assert_eq!(ints("/"), None);
    assert_eq!(wave(&kernel(&format!("$0 = in(0); {} print $8; out(0) = $8;", sections(8)))), None);
}

#[test]
fn sections_are_as_far_apart_as_pays() {
    let all = |n: usize, one: &dyn Fn(usize) -> String| {
        let body: String = (0..n).map(one).collect();
        wave(&kernel(&format!("{body} out(0) = state{};", n - 1)))
    };
    // what a low-pass makes of an item is soon there, and late what it makes of the one before it: so what it is given must not be late, too
    assert_eq!(all(10, &low).map(|w| (w.sections, w.apart)), Some((10, 2)));
    // a pole takes what it is given last
    let pole = |k: usize| format!("state{k} = ((0.{k}5f * state{k}) + {});\n", given(k));
    assert_eq!(all(16, &pole).map(|w| (w.sections, w.apart)), Some((16, 1)));
}

#[test]
fn products_that_are_shifts() {
    let hashes = |by: &dyn Fn(usize) -> String| {
        let one = |k: usize| format!("state{k} = ((state{k} * {}) + ({} ^ {k}));\n", by(k), given(k));
        let body = (0..10).map(one).collect::<String>() + "out(0) = state9;";
        wave(&verified(&text(&body).replace("float", "int").replace("0.0f", "0"))).map(|w| w.sections)
    };
    assert_eq!(hashes(&|_| "5".into()), Some(10));
    assert_eq!(hashes(&|_| "8".into()), Some(10));
    // as lanes, a product takes longer than ten sections do that wait for no product but their own
    assert_eq!(hashes(&|_| "7".into()), None);
    assert_eq!(hashes(&|k| (k + 3).to_string()), None);
}

#[test]
fn firings_overlap_as_far_as_a_processor_sees() {
    let sections = |n: usize| {
        let kernel = kernel(&format!("{} out(0) = state{};", (0..n).map(low).collect::<String>(), n - 1));
        let f = kernel.function(kernel.work.function);
        let look = Look { kernel: &kernel, f, first: 0, length: 1, counter: None };
        ahead::time(&look.wave(n).unwrap())
    };
    // of few sections the next firings are seen: one waits for its own last one, for three operations on floats
    assert!((120..=130).contains(&sections(4)), "{}", sections(4));
    // of many they are not: it takes more than half of the time that an item takes from section to section
    let many = sections(24);
    assert!((60 * 24..=120 * 24).contains(&many), "{many}");
}

#[test]
fn a_filter_may_be_a_section() {
    let one = |body: &str| may_be(&kernel(body), 8);
    assert!(one(
        "$0 = in(0); $1 = ((0.5f * $0) + state0); state0 = (((0.2f * $0) - (0.3f * $1)) + state1); state1 = ((0.1f * $0) - (0.4f * $1)); out(0) = $1;"
    ));
    // two items, none of the state, a loop
    assert!(!one("out(0) = (0.5f * in(0));"));
    assert!(!one("for $24 = 0 < 3 step 1; { state0 = ((state0 * 0.5f) + in(0)); } out(0) = state0;"));
    assert!(!one("state0 = @sin((state0 + in(0))); out(0) = state0;"));
}

/// Sections of two branches, section k of arrays 2k and 2k + 1; `$0` counts, what goes on is in locals from 8.
fn branches(n: usize, of: usize, tail: &str) -> Kernel {
    let zeroes = vec!["0.0f"; of].join(", ");
    let state: String = (0..2 * n).map(|i| format!("state{i} \"s{i}\" float[{of}] = [{zeroes}]\n")).collect();
    let numbers: Vec<String> = (0..of).map(|i| format!("0.{i}f")).collect();
    let tables: String = (0..n).map(|i| format!("table{i} \"t\" float[{of}] = [{}]\n", numbers.join(", "))).collect();
    let locals: String =
        (0..8).map(|i| format!("local{i} \"x{i}\" {} ", if i < 4 { "int" } else { "float" })).collect();
    let arrays: String = (8..8 + n).map(|i| format!("local{i} \"items\" float[{of}] ")).collect();
    let one = |k: usize| {
        let (x, y, p, q) = (if k == 0 { "in(0)".into() } else { format!("${}[$0]", 7 + k) }, 8 + k, 2 * k, 2 * k + 1);
        format!(
            "for $0 = 0 < {of} step 1 abreast; {{ $4 = {x}; $5 = ((table{k}[$0] * $4) + state{p}[$0]); state{p}[$0] = (((0.{k}6f * $4) - (0.7f * $5)) + state{q}[$0]); state{q}[$0] = ((0.5f * $4) - (0.8f * $5)); ${y}[$0] = $5; }}\n"
        )
    };
    let body: String = (0..n).map(one).collect();
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek 1 pop 1 push {of}\n{state}{tables}func0 \"work\" (0) -> void; {{\n{locals}{arrays}\n{body}{tail} }}\n"
    );
    verified(&text)
}

#[test]
fn branches_go_side_by_side() {
    let gives = "for $1 = 0 < 8 step 1 abreast; { out($1) = (0.5f * $11[$1]); }";
    let w = wave(&branches(4, 8, gives)).unwrap();
    assert_eq!((w.first, w.length, w.sections, w.branches, w.lanes()), (0, 1, 4, 8, 32));
    assert_eq!(w.outcome.len(), 1);
    assert_eq!(w.outcome[0].0, Base::Local(LocalId(11)));
    // an earlier section's
    assert_eq!(wave(&branches(4, 8, &gives.replace("$11", "$10"))), None);
    // more lanes than there are
    assert_eq!(wave(&branches(3, 16, &gives.replace("$11", "$10").replace("< 8", "< 16"))), None);
}

#[test]
fn elements_of_an_array_are_fields() {
    let array = |body: &str| {
        let text = format!(
            "kernel \"K\" \"K\"; float -> float work func0 peek 1 pop 1 push 1\nstate0 \"z\" float[8] = [{}]\nfunc0 \"work\" (0) -> void; {{\nlocal0 \"x\" float\n{body} }}\n",
            ["0.0f"; 8].join(", ")
        );
        parse(&text.replace(';', " @0:0-1")).unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    let pole = |i: usize| {
        format!(
            "state0[{i}] = (state0[{i}] + ((0.3{i}f * ($0 - state0[{i}])) * (1.0f - state0[{i}]))); $0 = state0[{i}];\n"
        )
    };
    let body: String = (0..8).map(pole).collect();
    let w = wave(&array(&format!("$0 = in(0); {body} out(0) = $0;"))).unwrap();
    assert_eq!((w.first, w.length, w.sections), (1, 2, 8));
    let eight: Vec<Field> = (0..8).map(|i| Field { state: StateId(0), element: Some(i) }).collect();
    assert!(w.vars.iter().any(|v| matches!(v, Var::Field(_, f) if *f == eight)));
    // who reads an element behind it might read that of an earlier section
    assert_eq!(wave(&array(&format!("$0 = in(0); {body} out(0) = ($0 + state0[3]);"))), None);
    // nor may one change by itself
    assert_eq!(
        wave(&array(&format!("$0 = in(0); {} out(0) = $0;", body.replacen("state0[5] =", "state0[4] =", 1)))),
        None
    );
}
