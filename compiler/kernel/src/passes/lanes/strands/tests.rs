//! Which firings are turns of streams, and what one turn is.

use super::super::testing;
use crate::text::print;

/// The lanes of a firing, and the text of their function; `;` ends a statement. `$0` to `$2` are ints, `$3` a float, `$4` four floats, `$5` a complex number.
fn of(ends: &str, (peek, pop, push): (u32, u32, u32), body: &str) -> Option<(u32, String)> {
    let text = format!(
        "kernel \"K\" \"K\"; {ends} work func0 peek {peek} pop {pop} push {push}
table0 \"h\" float[8] = [0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f]
func0 \"work\" (0) -> void; {{
local0 \"s\" int local1 \"i\" int local2 \"n\" int local3 \"x\" float local4 \"a\" float[4] local5 \"z\" complex
{body} }}
"
    );
    let kernel = testing::lanes_of(&text);
    let l = kernel.lanes.as_ref()?;
    let all = print(&kernel);
    let (_, function) = all.split_once("\"lanes\"").unwrap();
    Some((l.strands, function.to_string()))
}

fn floats(rates: (u32, u32, u32), body: &str) -> Option<(u32, String)> {
    of("float -> float", rates, body)
}

const SUM: &str = "$3 = ($3 + (table0[$1] * in((($1 * 4) + $0)))); ";

fn fir(between: &str) -> String {
    format!("for $0 = 0 < 4 step 1; {{ $3 = 0.0f; for $1 = 0 < 8 step 1; {{ {SUM} }} {between} out($0) = $3; }}")
}

#[test]
fn a_loop_over_streams_is_one_turn() {
    for (rates, pop) in [((32, 4, 4), 1), ((32, 8, 4), 2), ((32, 16, 4), 4)] {
        let (strands, text) = floats(rates, &fir("")).unwrap();
        assert_eq!(strands, 4, "{pop} items each");
        // variables are numbered anew: `$0` is what was `$1`
        assert!(text.contains("in($0)") && text.contains("out(0) = $1") && !text.contains("local2"), "{text}");
    }
    // other ways to say where an item is
    for (position, own) in [
        ("($0 + 12)", "in(3)"),
        ("($0 + ($1 << 2))", "in($0)"),
        ("(($1 * 8) + $0)", "in(($0 * 2))"),
        ("((($1 + 1) * 4) + $0)", "in(($0 + 1))"),
        ("((($1 * 4) + 8) + $0)", "in(($0 + 2))"),
        ("(((($1 * 4) + $0) + 8) - 4)", "in((($0 + 2) - 1))"),
        ("$0", "in(0)"),
    ] {
        let body = format!(
            "for $0 = 0 < 4 step 1; {{ $3 = 0.0f; for $1 = 0 < 3 step 1; {{ $3 = ($3 + in({position})); }} out($0) = $3; }}"
        );
        let (strands, text) = floats((32, 4, 4), &body).unwrap_or_else(|| panic!("{position}"));
        assert!(strands == 4 && text.contains(own), "{position}: {text}");
    }
    // complex numbers, by their parts; what a turn writes before it reads it is its own
    let body = "for $0 = 0 < 4 step 1; { $3 = 0.0f; for $1 = 0 < 8 step 1; { $5 = in((($1 * 4) + $0)); $3 = ($3 + ($5'0 * $5'1)); } out($0) = make<complex>($3, $3); }";
    let (strands, text) = of("complex -> complex", (32, 4, 4), body).unwrap();
    assert!(strands == 4 && text.contains("in($0)'0") && text.contains("out(0)'1"), "{text}");
}

#[test]
fn turns_that_need_others_are_none() {
    // a sum that goes on, and a count
    let strands = |rates, body: &str| floats(rates, body).is_some_and(|(n, _)| n > 1);
    let all = (32, 4, 4);
    assert!(strands(all, &fir("")));
    let carried = format!("$3 = 0.0f; for $0 = 0 < 4 step 1; {{ for $1 = 0 < 8 step 1; {{ {SUM} }} out($0) = $3; }}");
    assert!(!strands(all, &carried));
    let carried = format!("for $0 = 0 < 4 step 1; {{ for $1 = 0 < 8 step 1; {{ {SUM} }} out($0) = $3; }}");
    assert!(!strands(all, &carried));
    assert!(!strands(all, &fir("if ($1 < 3); { $2 = 1; } $3 = ($3 + as<float>($2));")));
    // a part of an array that was not written
    assert!(!strands(all, &fir("$4[0] = 1.0f; $3 = ($3 + $4[1]);")));
    // the stream's number is in what is computed, twice in a place, or in none
    assert!(!strands(all, &fir("$3 = ($3 + as<float>($0));")));
    assert!(!strands(all, &fir("").replace("(($1 * 4) + $0)", "(($1 * 4) + ($0 + $0))")));
    assert!(!strands(all, &fir("").replace("(($1 * 4) + $0)", "($1 * 4)")));
    // items at other distances
    assert!(!strands(all, &fir("").replace("$1 * 4", "$1 * 3")));
    assert!(!strands(all, &fir("$3 = ($3 + in(($0 + 1)));")));
    // several loops, rates of other loops
    assert!(!strands(all, &(fir("") + &fir(""))));
    assert!(!strands((36, 4, 4), &fir("").replace("0 < 4 step", "0 < 3 step")));
    assert!(!strands((32, 4, 8), &fir("")));
    assert!(!strands((33, 4, 4), &fir("")));
    // turns that take several items fill vectors of 16 lanes, or of as many as there are streams
    let of = |n: u32, pop: u32| {
        strands(
            (8 * n, pop * n, n),
            &fir("").replace("< 4 step", &format!("< {n} step")).replace("* 4)", &format!("* {n})")),
        )
    };
    for n in [2, 3, 4, 5, 8, 12, 16, 24, 32, 48, 256, 257] {
        assert_eq!((of(n, 1), of(n, 2)), (n <= 256, [2, 4, 8, 16, 32, 48, 256].contains(&n)), "{n} streams");
    }
}
