//! Which firings have their arrays in registers.

use super::*;
use crate::text::parse;

/// A kernel of costs of 32 states; `;` ends a statement. `$0` and `$1` count, `$2` is an array of 32 ints, `$3` another, `$4` to `$6` are ints.
fn kernel(body: &str) -> Kernel {
    let zeroes = vec!["0"; 32].join(", ");
    let text = format!(
        "kernel \"K\" \"K\"; int -> int work func0 peek 32 pop 32 push 32
state0 \"cost\" int[32] = [{zeroes}]
func0 \"work\" (0) -> void; {{
local0 \"i\" int local1 \"j\" int local2 \"next\" int[32] local3 \"odd\" int[32] local4 \"w\" int local5 \"x\" int local6 \"y\" int
{body} }}
"
    );
    let kernel = parse(&text.replace(';', " @0:0-1")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    crate::verify::verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel
}

const STEP: &str = "for $0 = 0 < 16 step 1; { $5 = (state0[(2 * $0)] + in($0)); $2[$0] = ($5 * $6); $2[($0 + 16)] = (state0[((2 * $0) + 1)] - $0); \
    $3[$0] = select(($5 > 3), 1, 0); $3[($0 + 16)] = as<int>(($5 != 3)); }";
const KEEP: &str = "state0 = $2;";
const PACK: &str =
    "$4 = 0; for $1 = 0 < 16 step 1; { $4 = ($4 | (as<int>(($3[($1 + 16)] != 0)) << $1)); } out(0) = $4;";

#[test]
fn costs_bits_and_what_is_the_same_for_all() {
    let k = kernel(&format!("$6 = (in(3) + 1); {STEP} {KEEP} {PACK}"));
    let held = held(&k).unwrap();
    let lengths: Vec<(Array, u32)> = held.lengths.into_iter().collect();
    assert_eq!(lengths, [(Array::Local(LocalId(2)), 32), (Array::State(StateId(0)), 32)]);
    assert_eq!(held.bits.into_iter().collect::<Vec<_>>(), [(LocalId(3), 32)]);
    assert_eq!(held.uniform.into_iter().collect::<Vec<_>>(), [LocalId(4), LocalId(6)]);
}

#[test]
fn others_stay_in_memory() {
    let not = |body: &str| assert_eq!(held(&kernel(body)), None, "{body}");
    let with = |from: &str, to: &str| {
        let body = format!("$6 = (in(3) + 1); {STEP} {KEEP} {PACK}");
        let other = body.replacen(from, to, 1);
        assert_ne!(body, other);
        not(&other);
    };
    // the same for all lanes, and not: written by turns, or counted
    with("$6 = (in(3) + 1);", "");
    with("$6 = (in(3) + 1);", "$6 = (in(3) / 5);");
    with("$6 = (in(3) + 1);", "$0 = 3; $6 = ($0 + 1);");
    with("out(0) = $4;", "out(0) = $5;");
    with("out(0) = $4;", "$5 = 3; out(0) = $5;");
    with("out(0) = $4;", "out(0) = $1;");
    // bits that are no truths, are wanted as ints, or packed before they are there
    with("as<int>(($5 != 3))", "($5 & 1)");
    with("out(0) = $4;", "out(0) = ($4 + $3[0]);");
    with(STEP, "");
    // nothing stays from firing to firing
    with(KEEP, "");
    // turns that are no whole vectors, or step otherwise
    with("$0 = 0 < 16 step 1", "$0 = 0 < 15 step 1");
    with("$0 = 0 < 16 step 1", "$0 = 15 >= 0 step -1");
}
