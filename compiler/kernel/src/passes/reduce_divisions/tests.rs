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
    assert_eq!(after(masked, "($0 % 100)"), "($0 - ((($0 * 41) >> 12) * 100))");
    assert_eq!(after(masked, "($0 / 100)"), "(($0 * 41) >> 12)");
}

/// What one product of 32 bits is enough for, and what it is not.
#[test]
fn what_is_bounded_is_multiplied() {
    assert_eq!(after("$0 = (in(0) & 32767) @", "($0 / 255)"), "(($0 * 32897) >> 23)");
    // a product beyond an int
    assert_eq!(after("$0 = (in(0) & 16777215) @", "($0 / 255)"), "($0 / 255)");
    let signed = "$0 = ((in(0) & 1023) - 512) @";
    assert_eq!(after(signed, "($0 / 10)"), "((($0 * 205) >> 11) - ($0 >> 31))");
    assert_eq!(after(signed, "($0 % 600)"), "$0");
    assert_eq!(after(signed, "($0 / 600)"), "0");
    // a long dividend is not written twice
    let long = "(((($0 * 3) + ($0 >> 1)) - ($0 & 5)) % 10)";
    assert_eq!(after(signed, long), long);
    // one inside another: both
    let both = after("", "(((in(0) & 255) / 3) / 5)");
    assert!(!both.contains('/'), "{both}");
}

/// All divisors and bounds that are small, and the greatest dividends of others: what division gives.
#[test]
fn reciprocals_divide() {
    use super::Reciprocal;
    let check = |c: i64, lo: i64, hi: i64, x: i64| {
        let Some(r) = Reciprocal::of(c, lo, hi) else { return };
        let (x, factor) = (x as i32, r.factor);
        let product = x.checked_mul(factor).unwrap_or_else(|| panic!("{x} * {factor} of {c}"));
        let quotient = (product >> r.shift) - if r.signed { x >> 31 } else { 0 };
        assert_eq!(quotient, x / c as i32, "{x} / {c} in [{lo}, {hi}]");
    };
    for c in (3..300).filter(|c: &i64| !(*c as u64).is_power_of_two()) {
        for bound in [c, 2 * c + 1, 255, 1000, 4095, 65_025, 65_535] {
            for (lo, hi) in [(0, bound), (-bound, bound), (-bound, 0), (-bound, -1)] {
                let near = |x: i64| (x - 3 * c..=x + 3 * c).filter(|x| (lo..=hi).contains(x));
                for x in near(lo).chain(near(0)).chain(near(hi)).chain((lo..=hi).step_by(61)) {
                    check(c, lo, hi, x);
                }
            }
        }
    }
    assert!(Reciprocal::of(255, 0, 65_152).is_some() && Reciprocal::of(10, -9999, 9999).is_some());
    assert!(Reciprocal::of(7, i64::from(i32::MIN), i64::from(i32::MAX)).is_none());
}

#[test]
fn what_may_be_negative_stays() {
    for value in ["(in(0) % 16)", "(in(0) / 16)", "(($0 - 1) % 16)", "(in(0) / 10)", "(in(0) % 10)"] {
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
