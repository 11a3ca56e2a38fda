//! Firings before and after.

use super::arrays;
use crate::passes::firing_after;

/// The statements; `;` ends one. The types of arrays have their last length first: `$0` is an int, `$1` an array of 3 rows of 4 floats, `$2` one of 2 x 3 x 4 ints, `$3` a row of 4 floats,
/// `$4` an array of 65 rows of 64 floats.
fn after(body: &str) -> String {
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek 8 pop 8 push 8
func0 \"work\" (0) -> void; {{
local0 \"i\" int local1 \"a\" float[4][3] local2 \"b\" int[4][3][2] local3 \"r\" float[4] local4 \"c\" float[64][65]
{body} }}
"
    );
    firing_after(&text, |k| arrays(&mut k.functions[0]))
}

const LONG: &str = "$4 = zero<float[64][65]>;";

#[test]
fn rows_follow_one_another() {
    let text = after(
        "$1 = zero<float[4][3]>; $1[2][1] = in(0); for $0 = 0 < 3 step 1; { $1[$0][3] = $1[2][$0]; $2[1][$0][2] = $0; }",
    );
    assert_eq!(
        text,
        "$1 = zero<float[12]>; $1[9] = in(0); for $0 = 0 < 3 step 1; { $1[(($0 * 4) + 3)] = $1[(8 + $0)]; $2[(((3 + $0) * 4) + 2)] = $0;"
    );
}

#[test]
fn copies_are_loops() {
    let text = after("$3 = $1[2]; $1[0] = $3; $1[1] = zero<float[4]>; $2[1] = $2[0];");
    let one = |k: u32, s: &str| format!("for ${k} = 0 < 4 step 1; {{ {s}; }}");
    let want = [
        one(5, "$3[$5] = $1[(8 + $5)]"),
        one(6, "$1[$6] = $3[$6]"),
        one(7, "$1[(4 + $7)] = 0.0f"),
        "for $8 = 0 < 3 step 1; { for $9 = 0 < 4 step 1; { $2[(((3 + $8) * 4) + $9)] = $2[(($8 * 4) + $9)]; } }".into(),
    ];
    let plain = |s: &str| s.replace("} ", "").replace(" }", "").replace("zero<float>", "0.0f");
    assert_eq!(plain(&text), plain(&want.join(" ")));
    // a place that the copy moves
    let text = after("$2[$2[0][0][1]] = $2[1];");
    assert_eq!(text, "$2[$2[0][0][1]] = $2[1];");
}

#[test]
fn what_is_long_stays() {
    let text = after(&format!("{LONG} $4[64][1] = in(0); $1[1][1] = in(1);"));
    assert_eq!(text, format!("{LONG} $4[64][1] = in(0); $1[5] = in(1);"));
}
