//! What becomes of divisions, as text.

use crate::verify::verify;

/// The value that is given after the pass; `$0` and `state0` are ints here, and what is known of them stands before.
fn after(before: &str, value: &str) -> String {
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 int -> int work func0 peek 1 pop 1 push 1
state0 \"s\" int = 0
func0 \"work\" (0) -> void @0:0-1 {{
local0 \"i\" int
local1 \"j\" int
{} out(0) = {value} @0:0-1
}}
",
        before.replace('@', "@0:0-1")
    );
    let mut k = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    super::run(&mut k);
    verify(&k).unwrap();
    let text = crate::text::print(&k);
    let line = text.lines().rev().find(|l| l.contains("out(0) = ")).unwrap();
    line.trim().trim_start_matches("out(0) = ").trim_end_matches(" @0:0-1").to_string()
}

#[test]
fn what_is_never_negative_is_masked_and_shifted() {
    let masked = "$0 = (in(0) & 255) @";
    assert_eq!(after(masked, "($0 % 16)"), "($0 & 15)");
    assert_eq!(after(masked, "($0 / 16)"), "($0 >> 4)");
    assert_eq!(after(masked, "($0 % 1)"), "($0 & 0)");
    assert_eq!(after(masked, "(($0 / 4) % 8)"), "(($0 >> 2) & 7)");
    // less than the divisor
    assert_eq!(after(masked, "($0 % 300)"), "$0");
    assert_eq!(after(masked, "($0 / 300)"), "0");
    // once more than the divisor at most, and more
    assert_eq!(after(masked, "($0 % 200)"), "select(($0 >= 200), ($0 - 200), $0)");
    assert_eq!(after(masked, "($0 % 100)"), "($0 % 100)");
    assert_eq!(after(masked, "($0 / 100)"), "($0 / 100)");
}

#[test]
fn what_may_be_negative_stays() {
    for value in ["(in(0) % 16)", "(in(0) / 16)", "(($0 - 1) % 16)"] {
        assert_eq!(after("$0 = (in(0) & 255) @", value), value);
    }
    // by what is no constant, or negative
    assert_eq!(after("$0 = (in(0) & 255) @ $1 = 8 @", "($0 % -16)"), "($0 % -16)");
}

/// What is known on one way only is not known.
#[test]
fn all_ways_count() {
    assert_eq!(after("$0 = (in(0) & 255) @ if ($0 > 100) @ { $0 = in(0) @ }", "($0 % 16)"), "($0 % 16)");
    let text = after("state0 = ((state0 + 1) % 48) @", "(state0 % 64)");
    assert_eq!(text, "state0");
    assert_eq!(after("state0 = (in(0) % 48) @", "((state0 + 47) % 64)"), "((state0 + 47) & 63)");
}

/// Positions that loops count are known where the loops are written out.
#[test]
fn loop_variables_stay() {
    assert_eq!(after("for $0 = 0 < 1 step 1 @ { $1 = ($0 % 8) @ }", "$1"), "$1");
    let value = "(($0 * 3) % 8)";
    assert_eq!(after("for $0 = 0 < 9 step 1 @ { state0 = 0 @ }", value), value);
}
