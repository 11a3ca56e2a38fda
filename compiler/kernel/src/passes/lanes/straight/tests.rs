//! Which firings' loops are vectors as they are.

use super::{of_bits, plain, straight};
use crate::text::parse;
use crate::verify::verify;

/// Are the loops of a firing of 64 items, of which it sees so many, vectors: as they are, and without what is within them? `;` ends a statement. `$0` to `$2` are ints, `$3` a float, `$4` floats.
fn of(peek: u32, body: &str) -> (bool, bool) {
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek {peek} pop 64 push 64
table0 \"h\" float[64] = [{}]
func0 \"work\" (0) -> void; {{
local0 \"r\" int local1 \"i\" int local2 \"n\" int local3 \"x\" float local4 \"a\" float[100]
{body} }}
",
        vec!["0.5f"; 64].join(", ")
    );
    let text = text.replace(';', " @0:0-1");
    let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (straight(&kernel), plain(&kernel))
}

/// Neighbours of an array in place of items: it is filled, then looked at.
fn array(sums: &str) -> String {
    format!(
        "$4 = zero<float[100]>; for $0 = 0 < 64 step 1; {{ $4[($0 + 10)] = in($0); }} for $0 = 0 < 64 step 1; {{ $3 = 0.0f; {sums} out($0) = ($3 * table0[$0]); }}"
    )
}

#[test]
fn neighbours_of_items_and_of_arrays() {
    assert_eq!(of(64, "for $0 = 0 < 64 step 1; { out($0) = (2.0f * in($0)); }"), (true, true));
    assert_eq!(of(66, "for $0 = 0 < 64 step 1; { out($0) = (in(($0 + 2)) - in($0)); }"), (true, true));
    for sums in [
        "$3 = ($4[$0] + $4[($0 + 20)]);",
        // a position that the turn has computed
        "$2 = ($0 + 13); $3 = ($4[$0] + $4[($2 + 1)]);",
        // a loop within a turn
        "for $1 = 0 < 8 step 1; { $3 = ($3 + ($4[($0 + $1)] + $4[(($0 + $1) + 13)])); }",
        "for $1 = 0 < 8 step 1; { $2 = (($1 + 3) + $0); $3 = ($3 + (in($0) * $4[$2])); }",
    ] {
        assert_eq!(of(64, &array(sums)), (true, false), "{sums}");
    }
}

#[test]
fn turns_that_are_split_off() {
    let first = |s: &str| {
        of(
            64,
            &format!(
                "$3 = 0.0f; for $1 = 0 < 3 step 1; {{ {s} }} out(0) = $3; for $0 = 1 < 64 step 1; {{ out($0) = (in($0) * in(($0 - 1))); }}"
            ),
        )
    };
    assert_eq!(first("$3 = ($3 + in($1));"), (true, true));
    assert_eq!(first("if ($3 < 1.0f); { $3 = ($3 + in($1)); }"), (false, false));
    // as much as the loop itself
    assert_eq!(first("for $2 = 0 < 40 step 1; { $3 = ($3 + in($2)); }"), (false, false));
}

#[test]
fn what_is_no_vector() {
    for sums in [
        // no neighbours
        "$3 = $4[($0 * 2)];",
        "for $1 = 0 < 8 step 1; { $3 = ($3 + $4[($0 + ($0 + $1))]); }",
        "$2 = ($0 * 2); $3 = $4[$2];",
        // what was a neighbour and is none any more
        "$2 = ($0 + 1); $2 = ($2 * 2); $3 = $4[$2];",
        // positions that items decide
        "$3 = $4[(as<int>(in($0)) & 63)];",
        // an array that the turns write
        "$4[($0 + 1)] = ($4[$0] * 0.5f);",
        "$4[3] = in($0);",
        // what another turn has left
        "$3 = ($3 + as<float>($2)); $2 = ($0 + 1);",
        // a long loop stays one
        "for $1 = 0 < 32 step 1; { $3 = ($3 + $4[($0 + $1)]); }",
        "if ($0 < 3); { $3 = 1.0f; }",
    ] {
        assert_eq!(of(64, &array(sums)), (false, false), "{sums}");
    }
    // a sum that goes on from turn to turn
    assert_eq!(of(64, "for $0 = 0 < 64 step 1; { $3 = ($3 + in($0)); out($0) = $3; }"), (false, false));
    // more beside the loops than in them
    let beside = "$3 = in(0); $3 = ($3 + in(1)); ".repeat(60);
    assert_eq!(of(64, &format!("{beside} for $0 = 0 < 64 step 1; {{ out($0) = in($0); }}")), (false, false));
}

/// Is a firing one of bits that compilers make vectors of themselves? `$0` and `$1` are bits, `$2` an int.
fn bits(ends: &str, rates: (u32, u32), body: &str) -> bool {
    let (pop, push) = rates;
    let text = format!(
        "kernel \"K\" \"K\"; {ends} work func0 peek 8 pop {pop} push {push}
table0 \"h\" int[4] = [1, 2, 3, 4]
func0 \"work\" (0) -> void; {{
local0 \"x\" bit local1 \"y\" bit local2 \"n\" int local3 \"i\" int
{body} }}
"
    );
    let text = text.replace(';', " @0:0-1");
    let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    of_bits(&kernel)
}

#[test]
fn bits_as_they_come() {
    let two = "out(0) = (in(0) ^ in(3)); out(1) = (in(1) ^ in(2));";
    assert!(bits("bit -> bit", (1, 2), two));
    assert!(bits("bit -> bit", (3, 2), two));
    assert!(bits(
        "bit -> int",
        (8, 1),
        "$2 = 0; for $3 = 0 < 8 step 1; { $2 = (($2 << 1) | as<int>(in($3))); } out(0) = $2;"
    ));
    // more of it than is looked for
    let long = "$0 = ($0 ^ in(2)); ".repeat(40);
    assert!(!bits("bit -> bit", (1, 2), &format!("$0 = in(0); {long} out(0) = $0; out(1) = in(1);")));
    // no power of two, and no three
    assert!(!bits("bit -> bit", (5, 2), two));
    assert!(!bits("bit -> bit", (1, 7), two));
    // choices, and places that data say
    assert!(!bits("bit -> int", (1, 1), "out(0) = select((in(0) == in(1)), 3, 4);"));
    assert!(!bits("bit -> int", (1, 1), "out(0) = table0[as<int>(in(0))];"));
    assert!(!bits("bit -> bit", (1, 1), "if (in(0) == in(1)); { $0 = in(2); } out(0) = $0;"));
    // words
    assert!(!bits("int -> int", (1, 1), "out(0) = (in(0) ^ in(3));"));
}
