//! Which filters' parts go apart, and what one part is.

use super::super::testing;
use crate::ir::Kernel;
use crate::text::print;

/// A kernel with its lanes; `;` ends a statement. `$0` and `$1` are ints, `$2` and `$3` floats, `$4` is a complex number.
fn lanes_of(ends: &str, (peek, pop, push): (u32, u32, u32), body: &str) -> Kernel {
    let text = format!(
        "kernel \"K\" \"K\"; {ends} work func0 peek {peek} pop {pop} push {push}
table0 \"h\" float[8] = [0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f]
table1 \"w\" complex[8] = [c(1.0f, 2.0f), c(1.0f, 2.0f), c(1.0f, 2.0f), c(1.0f, 2.0f), c(1.0f, 2.0f), c(1.0f, 2.0f), c(1.0f, 2.0f), c(1.0f, 2.0f)]
func0 \"work\" (0) -> void; {{
local0 \"s\" int local1 \"i\" int local2 \"x\" float local3 \"y\" float local4 \"z\" complex
{body} }}
"
    );
    testing::lanes_of(&text)
}

/// How many streams the parts of complex numbers are, and the text of their function; `None` where they stay together.
fn parts(rates: (u32, u32, u32), body: &str) -> Option<(u32, String)> {
    let kernel = lanes_of("complex -> complex", rates, body);
    let l = kernel.lanes.as_ref().expect("no lanes");
    let all = print(&kernel);
    let (_, function) = all.split_once("\"lanes\"").unwrap();
    l.parts.then(|| (l.strands, function.to_string()))
}

fn sums(re: &str, im: &str, before: &str, given: &str) -> String {
    format!(
        "$2 = 0.0f; $3 = 0.0f; for $1 = 0 < 8 step 1; {{ $2 = ($2 + {re}); $3 = ($3 + {im}); }} {before} out(0) = {given};"
    )
}

#[test]
fn sums_with_real_weights_go_apart() {
    let both = sums("(table0[$1] * in($1)'0)", "(table0[$1] * in($1)'1)", "", "make<complex>($2, $3)");
    let (strands, text) = parts((8, 1, 1), &both).unwrap();
    assert_eq!(strands, 2);
    assert!(text.contains("in($1)'0") && !text.contains("'1") && text.matches(" float").count() == 2, "{text}");
    // variables that make nothing, though they make themselves, are no part of either
    let counted = format!("$0 = 0; {both} for $1 = 0 < 2 step 1; {{ $0 = ($0 + 1); }}");
    let (_, alike) = parts((8, 1, 1), &counted).unwrap();
    assert_eq!(alike.matches("for $").count(), 1, "{alike}");
    // complex numbers themselves
    let whole =
        "$4 = c(0.0f, 0.0f); for $1 = 0 < 8 step 1; { $4 = ($4 + in($1)); } $4 = ($4 + ($4 + ($4 + $4))); out(0) = $4;";
    assert_eq!(parts((8, 1, 1), whole).unwrap().0, 2);
}

#[test]
fn parts_that_need_each_other_stay_together() {
    let re = "(table0[$1] * in($1)'0)";
    for (re, im, before, given) in [
        // the other part's items, weights, operations, results
        (re, "(table0[$1] * in($1)'0)", "", "make<complex>($2, $3)"),
        (re, "(table0[(7 - $1)] * in($1)'1)", "", "make<complex>($2, $3)"),
        (re, "(table0[$1] - in($1)'1)", "", "make<complex>($2, $3)"),
        (re, "(table0[$1] * in($1)'1)", "", "make<complex>($3, $2)"),
        (re, "(table0[$1] * in($1)'1)", "$3 = ($3 + $2);", "make<complex>($2, $3)"),
        (re, "(table0[$1] * in($1)'1)", "$3 = (0.0f - $3);", "make<complex>($2, $3)"),
        (re, "(table1[$1]'1 * in($1)'1)", "", "make<complex>($2, $3)"),
    ] {
        assert_eq!(parts((8, 1, 1), &sums(re, im, before, given)), None, "{im} {before} {given}");
    }
    let product = "$4 = c(0.0f, 0.0f); for $1 = 0 < 8 step 1; { $4 = ($4 + (table1[$1] * in($1))); } out(0) = $4;";
    assert_eq!(parts((8, 1, 1), product), None);
}

#[test]
fn only_windows_of_one_stream_go_apart_but_any_of_several() {
    let both = sums("(table0[$1] * in($1)'0)", "(table0[$1] * in($1)'1)", "", "make<complex>($2, $3)");
    // several items taken: lanes of firings can share what they load
    assert_eq!(parts((8, 2, 1), &both), None);
    let turns = |n: u32| {
        let at = |part: u32| format!("(table0[$1] * in((($1 * {n}) + $0))'{part})");
        let sums = sums(&at(0), &at(1), "", "make<complex>($2, $3)").replace("out(0)", "out($0)");
        format!("for $0 = 0 < {n} step 1; {{ {sums} }}")
    };
    for n in [2, 4, 8, 16] {
        for taken in [1, 2, 4] {
            let kernel = lanes_of("complex -> complex", (8 * n, taken * n, n), &turns(n));
            let l = kernel.lanes.as_ref().unwrap();
            assert!(l.parts && l.strands == 2 * n, "{n} streams");
            let one = l.rates(kernel.work.rates);
            assert_eq!((one.peek, one.pop, one.push), (8, taken, 1));
            // whole vectors are where they are
            assert_eq!(l.phases, taken > 1 && n < 8, "{n} streams, {taken} taken");
        }
    }
}

#[test]
fn floats_of_whole_vectors_are_where_they_are() {
    let body = |n: u32| {
        format!(
            "for $0 = 0 < {n} step 1; {{ $2 = 0.0f; for $1 = 0 < 8 step 1; {{ $2 = ($2 + (table0[$1] * in((($1 * {n}) + $0)))); }} out($0) = $2; }}"
        )
    };
    for (n, phases) in [(8, true), (16, false), (32, false)] {
        let kernel = lanes_of("float -> float", (8 * n, 2 * n, n), &body(n));
        let l = kernel.lanes.as_ref().unwrap();
        assert_eq!((l.phases, l.parts, l.strands), (phases, false, n));
    }
}
