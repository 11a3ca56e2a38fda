//! Linear filters: what is found of them is what they compute, what they are combined to gives as many items as they do for every length of input, and the same ones but
//! for rounding; what is not linear, or would come later, stays as it is.

#![allow(clippy::disallowed_methods)] // folders for what programs write

use sluice_driver::linear::combine;
use sluice_driver::options::{CodeOptions, Linear};
use sluice_driver::pipeline::Checked;
use sluice_kernel::linear::Rewritten;
use sluice_kernel::linear::report::Report;
use sluice_tests::generate::random::Random;
use sluice_tests::run::{self, check, output as bytes};
use std::fmt::Write;

const FIR: &str = "
float->float filter Fir(int n) {
    float[n] h;
    init {
        for (int i = 0; i < n; i++)
            h[i] = sin(0.3 * i + 1) / (i + 1);
    }
    work peek n pop 1 push 1 {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += h[i] * peek(i);
        push(sum);
        pop();
    }
}
float->float filter Down(int m) { work pop m push 1 { push(pop()); for (int i = 1; i < m; i++) pop(); } }
float->float filter Up(int m) { work pop 1 push m { push(pop()); for (int i = 1; i < m; i++) push(0); } }
float->float filter Adder(int n) { work pop n push 1 { float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }
float->float filter Abs(float g) { work pop 1 push 1 { push(g * abs(pop())); } }
";

fn checked(source: &str) -> Checked {
    check(source).unwrap_or_else(|why| panic!("{why}\n{source}"))
}

fn rewritten(checked: &Checked, linear: Linear) -> (Option<Checked>, Report) {
    let code = CodeOptions { linear, ..CodeOptions::default() };
    let Rewritten { program, report } = combine(&checked.program, &code);
    (program.map(|program| Checked { sources: checked.sources.clone(), program }), report)
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect()
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn of_doubles(items: &[f64]) -> Vec<u8> {
    items.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn of_floats(items: &[f64]) -> Vec<u8> {
    items.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect()
}

fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut r = Random::new(seed);
    (0..n).map(|_| f64::from(r.below(2001)) / 1000.0 - 1.0).collect()
}

/// As many items, and differences of at most this part of the greatest.
fn close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "items: {what}");
    let most = a.iter().fold(1e-30, |m: f64, x| m.max(x.abs()));
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * most, "item {i}: {x} and {y} of up to {most}: {what}");
    }
}

/// Filters of doubles that are affine in ways of their own: a window's length, items popped, items pushed, the rest of the declaration.
const AFFINE: &[(u32, u32, u32, &str)] = &[
    (1, 1, 1, "work pop 1 push 1 { push(3 * pop() - 2); }"),
    (3, 2, 2, "work peek 3 pop 2 push 2 { double a = peek(2) / 4; push(a - peek(0)); push(-a + 1.5); }"),
    (
        4,
        4,
        3,
        "work pop 4 push 3 { double[4] x; for (int i = 0; i < 4; i++) x[3 - i] = pop(); x[1] += x[2]; \
         for (int i = 0; i < 3; i++) push(x[i] * (i + 1)); }",
    ),
    // branches and loops that constants decide
    (
        5,
        1,
        1,
        "double[5] h; init { for (int i = 0; i < 5; i++) h[i] = i % 2 == 0 ? 0.5 * i : -1; } \
         work peek 5 pop 1 push 1 { double s = 0; int i = 0; while (true) { if (i == 5) break; if (h[i] < 0) s -= peek(i); \
         else s = s + h[i] * peek(i); i++; } pop(); push(s); }",
    ),
    // a function of its own
    (
        2,
        1,
        1,
        "double mix(double a, double b) { return 0.25 * a + b; } work peek 2 pop 1 push 1 { push(mix(peek(1), pop())); }",
    ),
    // a field that no firing finds as an earlier one left it
    (2, 2, 2, "double t; work pop 2 push 2 { t = pop(); push(pop()); push(t); }"),
    // what cancels, and what does not depend on the input
    (2, 2, 2, "work pop 2 push 2 { double a = pop(); double b = pop(); push(a + b - a); push(7); }"),
    // arrays of arrays, parts of which are copied
    (
        6,
        6,
        2,
        "work pop 6 push 2 { double[2][3] m; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) m[i][j] = pop(); \
         double[3] row = m[1]; m[1][0] = 0; push(row[0] + m[0][2]); push(m[1][0] - row[2]); }",
    ),
    (1, 1, 2, "work pop 1 push 2 { float x = 2; double y = pop(); push(y * x); push(x > 1 ? y : -y); }"),
];

#[test]
fn what_is_found_is_what_the_filter_gives_for_each_item_alone() {
    for (peek, pop, push, rest) in AFFINE {
        let source = format!("double->double filter F {{ {rest} }} double->double pipeline Main {{ add F; }}");
        let program = checked(&source);
        let code = &program.program.codes[0];
        let options = CodeOptions::default();
        let kernel = sluice_driver::kernels::lower_one(code, &program.program.globals, &options).unwrap();
        let mut kernel = kernel;
        for (_, pass) in sluice_kernel::passes::DEVICE {
            pass(&mut kernel);
        }
        let rows = sluice_kernel::linear::extract::rows(&kernel).unwrap_or_else(|why| panic!("{why}: {source}"));
        assert_eq!((rows.len(), code.work.rates.peek, code.work.rates.pop), (*push as usize, *peek, *pop));
        let gives = |x: &[f64]| doubles(&bytes(&program, &of_doubles(x), None, None))[..*push as usize].to_vec();
        let zero = gives(&vec![0.0; *peek as usize]);
        for (r, z) in rows.iter().zip(&zero) {
            assert_eq!(r.plus, *z, "{source}");
        }
        for i in 0..*peek as usize {
            let mut unit = vec![0.0; *peek as usize];
            unit[i] = 1.0;
            for ((r, z), y) in rows.iter().zip(&zero).zip(gives(&unit)) {
                let tap = i.checked_sub(r.start as usize).and_then(|t| r.taps.get(t)).copied().unwrap_or(0.0);
                assert!((tap - (y - z)).abs() < 1e-12, "item {i}: {tap} and {}: {source}", y - z);
            }
        }
    }
}

#[test]
fn what_is_not_linear_is_left_alone_and_the_reason_is_told() {
    let cases = [
        ("work pop 1 push 1 { double x = pop(); push(x * x); }", "multiplies"),
        ("work pop 1 push 1 { push(1 / pop()); }", "multiplies"),
        ("work pop 1 push 1 { double x = pop(); push(x > 0 ? x : 0); }", "decide"),
        ("work pop 1 push 1 { double x = pop(); if (x == 0) push(1); else push(2); }", "decide"),
        ("work pop 1 push 1 { push(sin(pop())); }", "to a function"),
        ("work pop 1 push 1 { push((int)pop()); }", "something else than float"),
        ("double s; work pop 1 push 1 { s = 0.5 * s + pop(); push(s); }", "from one firing to the next"),
        ("prework push 1 { push(0); } work pop 1 push 1 { push(pop()); }", "first firing"),
        ("work pop 1 push 1 { push(pop() * iter()); }", "not looked at"),
        ("double[3] h; work pop 1 push 1 { push(h[(int)pop() & 1]); }", "something else than float"),
        ("double[3] h; int k = 5; work pop 1 push 1 { push(h[k] * pop()); }", "can fail"),
        ("work pop 1 push 1 { println(1); push(pop()); }", "prints"),
        ("work pop 1 push 1 { double z = 0; push(pop() / z); }", "not finite"),
        (
            "work pop 1 push 1 { double t = 0; for (int i = 0; i < 100000000; i++) t += 0.5; push(t * pop()); }",
            "too many steps",
        ),
    ];
    for (rest, why) in cases {
        let source = format!("double->double filter F {{ {rest} }} double->double pipeline Main {{ add F; add F; }}");
        let (program, report) = rewritten(&checked(&source), Linear::Auto);
        assert!(program.is_none(), "{source}");
        let told = report.found[0].coefficients.unwrap_err();
        assert!(told.contains(why), "`{told}` for `{why}`: {source}");
    }
    let ints = "int->int filter F { work pop 1 push 1 { push(2 * pop()); } } int->int pipeline Main { add F; add F; }";
    let (program, report) = rewritten(&checked(ints), Linear::Auto);
    assert!(program.is_none() && report.found[0].coefficients.unwrap_err().contains("neither float nor double"));
}

/// A random linear stream of doubles, as an anonymous one; what a steady state takes is kept small.
fn stream(r: &mut Random, depth: u32, out: &mut String) {
    match r.below(if depth == 0 { 1 } else { 4 }) {
        0 => filter(r, out),
        1 | 2 => {
            out.push_str("pipeline {\n");
            for _ in 0..r.range(1, 3) {
                out.push_str("add ");
                stream(r, depth - 1, out);
            }
            out.push_str("}\n");
        }
        _ => {
            // branches that take and give one item for one
            let n = r.range(2, 3);
            let dealt = r.chance(50);
            out.push_str(if dealt { "splitjoin { split roundrobin;\n" } else { "splitjoin { split duplicate;\n" });
            for _ in 0..n {
                out.push_str("add ");
                let (peek, plus) = (r.range(1, 9), r.below(3));
                window(r, (peek, 1, 1), plus, out);
            }
            out.push_str(if r.chance(30) { "join roundrobin(2); }\n" } else { "join roundrobin; }\n" });
        }
    }
}

fn filter(r: &mut Random, out: &mut String) {
    let (pop, push) = (r.range(1, 3), r.range(1, 3));
    let peek = pop + if r.chance(60) { r.below(9) } else { 0 };
    let plus = r.below(3);
    window(r, (peek, pop, push), plus, out);
}

/// A filter with these rates.
fn window(r: &mut Random, (peek, pop, push): (u32, u32, u32), plus: u32, out: &mut String) {
    let _ = write!(out, "double->double filter {{ work peek {peek} pop {pop} push {push} {{ ");
    for _ in 0..push {
        let _ = write!(out, "push({plus}.0");
        for i in 0..peek {
            if r.chance(70) {
                let _ = write!(out, " + {}.{} * peek({i})", r.below(2), r.range(1, 9));
            }
        }
        out.push_str("); ");
    }
    let _ = writeln!(out, "for (int i = 0; i < {pop}; i++) pop(); }} }}");
}

#[test]
fn random_programs_give_as_many_items_for_every_length_and_the_same_but_for_rounding() {
    let mut combined = 0;
    for seed in 0..30 {
        let mut r = Random::new(seed);
        let mut source = String::from("double->double pipeline Main {\n");
        for _ in 0..r.range(2, 4) {
            source.push_str("add ");
            stream(&mut r, 2, &mut source);
        }
        source.push_str("}\n");
        let Ok(program) = check(&source) else { continue };
        let (Some(new), report) = rewritten(&program, Linear::Direct) else { continue };
        combined += 1;
        let input = noise(57, seed);
        for n in (0..16).chain([31, 41, 57]) {
            let given = of_doubles(&input[..n]);
            let (a, b) = (bytes(&program, &given, None, None), bytes(&new, &given, None, None));
            close(&doubles(&a), &doubles(&b), 1e-12, &format!("seed {seed}, {n} items\n{report}{source}"));
        }
        // and so many steady states
        for j in [0, 2] {
            let (a, b) = (of_doubles(&noise(4000, seed)), Some(j));
            let (a, b) = (bytes(&program, &a, b, None), bytes(&new, &a, b, None));
            close(&doubles(&a), &doubles(&b), 1e-12, &format!("seed {seed}, {j} states\n{report}{source}"));
        }
    }
    assert!(combined > 12, "only {combined} programs were combined");
}

/// Programs of floats: what native code makes of them in each way is what the interpreter makes of the program as it is.
fn natively(body: &str, lengths: &[usize], wanted: fn(&Report) -> bool) {
    let source = format!("{FIR}{body}");
    let program = checked(&source);
    let input = noise(lengths.iter().copied().max().unwrap_or(0), 7);
    for mode in [Linear::Direct, Linear::Frequency, Linear::Auto] {
        let (_, report) = rewritten(&program, mode);
        assert!(mode != Linear::Frequency || wanted(&report), "{report}");
        let (new, code) = run::compile_linear(&program, mode).unwrap();
        for n in lengths {
            let given = of_floats(&input[..*n]);
            let (a, b) = (bytes(&program, &given, None, None), bytes(&new, &given, None, Some(&code)));
            close(&floats(&a), &floats(&b), 4e-6, &format!("{mode:?}, {n} items, {report}"));
        }
    }
}

fn in_frequency(report: &Report) -> bool {
    report.made.iter().any(|m| m.points.is_some())
}

#[test]
fn a_filter_in_the_frequency_domain_gives_all_its_items() {
    let lengths: Vec<usize> = (0..4).chain([99, 100, 101, 350, 1200, 4001]).collect();
    natively("float->float pipeline Main { add Fir(100); }", &lengths, in_frequency);
}

#[test]
fn several_items_in_and_out_go_through_one_spectrum() {
    let lengths = [0, 127, 129, 1700];
    natively("float->float pipeline Main { add Fir(128); add Down(3); }", &lengths, in_frequency);
    // the way back is of fewer points, once and twice, and what comes is every item of it or every second
    for m in [4, 8, 16] {
        natively(&format!("float->float pipeline Main {{ add Fir(100); add Down({m}); }}"), &[30_000], in_frequency);
    }
    let lengths = [0, 30, 40, 900];
    // a first firing gives what would else come later
    let earlier = |r: &Report| in_frequency(r) && r.made[0].rates[2] == 4;
    natively("float->float pipeline Main { add Up(4); add Fir(128); }", &lengths, earlier);
    natively("float->float pipeline Main { add Up(4); add Fir(130); }", &lengths, earlier);
    let bank = "float->float pipeline Main { add splitjoin { split duplicate; for (int i = 0; i < 3; i++) add pipeline { \
                add Fir(40 + 9 * i); add Down(3); add Up(3); add Fir(30); } join roundrobin; } add Adder(3); add Abs(2); add Fir(70); }";
    natively(bank, &lengths, in_frequency);
}

#[test]
fn constants_are_added_in_the_frequency_domain_too() {
    let body = "float->float pipeline Main { add Fir(80); add float->float filter { work pop 1 push 1 { push(pop() + 0.75); } }; }";
    natively(body, &[0, 79, 80, 81, 3001], |r| in_frequency(r) && r.made[0].filters == 2);
}

#[test]
fn what_would_come_later_is_not_combined() {
    // three items of two filters come together at 2 and at 3 of the input: no one filter gives them then
    let source = "double->double filter A { work pop 1 push 2 { double x = pop(); push(x); push(2 * x); } } \
                  double->double filter B { work pop 3 push 1 { push(pop() + pop() + pop()); } } \
                  double->double pipeline Main { add A; add B; }";
    let (program, report) = rewritten(&checked(source), Linear::Direct);
    assert!(program.is_none() && report.found.iter().all(|f| f.coefficients.is_ok()), "{report}");
}

#[test]
fn loops_and_programs_with_messages_stay_as_they_are() {
    let looped = format!(
        "{FIR}float->float feedbackloop Main {{ join roundrobin(1, 1); body pipeline {{ add Adder(2); add Fir(1); add Fir(1); }} \
         loop Fir(1); split duplicate; enqueue 0; }}"
    );
    let (program, report) = rewritten(&checked(&looped), Linear::Frequency);
    assert!(program.is_none() && report.refused.is_none(), "{report}");
    let sends = format!(
        "{FIR}float->float filter Gain {{ float g = 1; handler set(float x) {{ g = x; }} work pop 1 push 1 {{ push(g * pop()); }} }} \
         float->float filter Tells(portal<Gain> p) {{ work pop 1 push 1 {{ float x = pop(); if (x > 100) p.set(x) [1:1]; push(x); }} }} \
         float->float pipeline Main {{ portal<Gain> p; add Fir(9); add Fir(9); add Tells(p); add Gain to p; }}"
    );
    let (program, report) = rewritten(&checked(&sends), Linear::Auto);
    assert!(program.is_none() && report.refused == Some("the program sends messages"), "{report}");
    let off =
        rewritten(&checked(&format!("{FIR}float->float pipeline Main {{ add Fir(9); add Fir(9); }}")), Linear::Off);
    assert!(off.0.is_none());
}

#[test]
fn prints_keep_their_order() {
    let print = |name: &str| {
        format!("float->float filter {{ work pop 1 push 1 {{ float x = pop(); println(\"{name}\"); push(x); }} }};")
    };
    let source = format!(
        "{FIR}float->float pipeline Main {{ add {} add Fir(5); add Fir(4); add Down(2); add {} add Up(3); add Fir(7); add {} }}",
        print("a"),
        print("b"),
        print("c")
    );
    let program = checked(&source);
    let (Some(new), report) = rewritten(&program, Linear::Direct) else { panic!("nothing was combined") };
    assert_eq!(report.made.len(), 2, "{report}");
    let text = |checked: &Checked, n: usize| {
        let out = bytes(checked, &of_floats(&noise(n, 3)), None, None);
        let printed = out.iter().take_while(|b| **b == b'\n' || (b'a'..=b'c').contains(*b)).copied();
        String::from_utf8(printed.collect()).unwrap()
    };
    for n in 0..30 {
        assert_eq!(text(&program, n), text(&new, n), "{n} items");
    }
    assert!(text(&program, 29).contains("c"));
}

#[test]
fn an_item_that_is_no_number_spoils_its_blocks_only() {
    let program = checked(&format!("{FIR}float->float pipeline Main {{ add Fir(64); }}"));
    let (new, code) = run::compile_linear(&program, Linear::Frequency).unwrap();
    let points = 1usize << new.program.codes.iter().find_map(|c| c.convolution.as_ref()).unwrap().log2;
    let mut input = noise(20 * points, 5);
    let clean = floats(&bytes(&program, &of_floats(&input), None, None));
    input[10] = f64::INFINITY;
    let spoilt = floats(&bytes(&new, &of_floats(&input), None, Some(&code)));
    assert_eq!(clean.len(), spoilt.len());
    assert!(!spoilt[10].is_finite());
    close(&clean[4 * points..], &spoilt[4 * points..], 4e-6, "after the blocks");
}

#[test]
fn limits_hold() {
    // windows, rows and chains far beyond what is combined, and many equal parts
    let far = format!("{FIR}float->float pipeline Main {{ add Fir(100000); add Fir(3); }}");
    let many = format!("{FIR}float->float pipeline Main {{ for (int i = 0; i < 300; i++) add Fir(3000); }}");
    let wide = format!(
        "{FIR}float->float splitjoin Main {{ split duplicate; for (int i = 0; i < 5000; i++) add Fir(200 + i % 3); join roundrobin; }}"
    );
    let apart = format!(
        "{FIR}float->float pipeline Main {{ for (int i = 0; i < 200; i++) {{ add Fir(5000 + i); add Abs(2); }} }}"
    );
    for source in [far, many, wide, apart] {
        let (program, report) = rewritten(&checked(&source), Linear::Frequency);
        let program = program.map_or(Vec::new(), |p| p.program.codes);
        let points = |c: &sluice_frontend::typed::FilterCode| {
            c.convolution.as_ref().map_or(0, |c| (c.rows.len() as u64) << c.log2)
        };
        assert!(program.iter().map(points).sum::<u64>() <= 1 << 22, "{report}");
    }
}
