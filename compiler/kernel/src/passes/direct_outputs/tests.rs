//! Firings before and after the pass.

use crate::passes::firing_after;

/// The body of a firing after the pass; `;` ends a statement. `$0` and `$1` are ints, `$2` and `$3` arrays of 4 floats, `$4` one of 8 ints, `$5` an int.
fn after(body: &str) -> String {
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek 8 pop 8 push 8
table0 \"order\" int[4] = [2, 0, 3, 1]
func0 \"work\" (0) -> void; {{
local0 \"i\" int local1 \"j\" int local2 \"x\" float[4] local3 \"y\" float[4] local4 \"n\" int[8] local5 \"k\" int
{body} }}
"
    );
    firing_after(&text, super::run)
}

const PUSHES: &str = "for $1 = 0 < 4 step 1; { out($1) = $2[$1]; }";

#[track_caller]
fn stays(fill: &str, pushes: &str) {
    let now = after(&format!("{fill} {pushes}"));
    assert!(now.contains("= $2["), "{now}");
}

#[test]
fn what_is_filled_and_pushed_is_written_where_it_goes() {
    let fill = "$2 = zero<float[4]>; for $0 = 0 < 4 step 1; { $2[$0] = (in($0) * 2.0f); }";
    assert_eq!(after(&format!("{fill} {PUSHES}")), "for $0 = 0 < 4 step 1; { out($0) = (in($0) * 2.0f);");
}

#[test]
fn by_nests_in_any_order_with_numbers_on_the_way_and_further_on() {
    let fill = "$2 = zero<float[4]>; for $0 = 1 >= 0 step -1; { for $1 = 0 < 2 step 1; { $5 = (($0 * 2) + $1); $2[(3 - $5)] = in($5); } }";
    let pushes =
        "for $1 = 0 < 2 step 1; { out((($1 * 2) + 3)) = $2[($1 * 2)]; out((($1 * 2) + 4)) = $2[(($1 * 2) + 1)]; }";
    let now = after(&format!("out(0) = in(7); out(1) = in(6); out(2) = in(5); {fill} {pushes}"));
    assert!(now.contains("out(((3 - $2) + 3)) = in($2)"), "{now}");
    assert!(!now.contains("zero"), "{now}");
}

#[test]
fn elements_that_are_written_one_by_one_go_in_any_order() {
    let fill = "$2[0] = in(0); $2[1] = in(1); $2[2] = in(2); $2[3] = in(3);";
    let pushes = "for $1 = 0 < 2 step 1; { out(($1 * 2)) = $2[(2 + $1)]; out((($1 * 2) + 1)) = $2[$1]; }";
    assert_eq!(after(&format!("{fill} {pushes}")), "out(1) = in(0); out(3) = in(1); out(0) = in(2); out(2) = in(3);");
    // one of them twice, and one never
    stays(fill, "for $1 = 0 < 4 step 1; { out($1) = $2[($1 & 1)]; }");
    // one is written in a loop
    stays("$2[0] = in(0); for $0 = 1 < 4 step 1; { $2[$0] = in($0); }", pushes);
}

#[test]
fn what_counts_pushes_has_its_value_after_them() {
    let fill = "for $0 = 0 < 4 step 1; { $2[$0] = in($0); }";
    let now = after(&format!("{fill} {PUSHES} out($1) = in(0);"));
    assert!(now.ends_with("out(4) = in(0);"), "{now}");
    assert!(!now.contains("$2"), "{now}");
}

#[test]
fn two_arrays() {
    let fill = "for $0 = 0 < 4 step 1; { $2[$0] = in($0); $3[(3 - $0)] = in(($0 + 4)); }";
    let now = after(&format!("{fill} {PUSHES} for $1 = 0 < 4 step 1; {{ out(($1 + 4)) = $3[$1]; }}"));
    assert_eq!(now, "for $0 = 0 < 4 step 1; { out($0) = in($0); out(((3 - $0) + 4)) = in(($0 + 4));");
}

#[test]
fn what_is_read_or_not_filled_or_elsewhere_stays() {
    let all = "for $0 = 0 < 4 step 1; { $2[$0] = in($0); }";
    // one element is the zero that it was
    stays("$2 = zero<float[4]>; for $0 = 0 < 3 step 1; { $2[$0] = in($0); }", PUSHES);
    stays("$2 = zero<float[4]>; if (in(0) > 0.0f); { for $0 = 0 < 4 step 1; { $2[$0] = in($0); } }", PUSHES);
    // sums
    stays("$2 = zero<float[4]>; for $0 = 0 < 4 step 1; { $2[$0] = ($2[$0] + in($0)); }", PUSHES);
    stays(&format!("{all} $2[0] = ($2[1] * 2.0f);"), PUSHES);
    // written twice
    stays(&format!("{all} $2[0] = in(4);"), PUSHES);
    // the data say where
    stays("for $0 = 0 < 4 step 1; { $2[(as<int>(in($0)) & 3)] = in($0); }", PUSHES);
    stays("for $0 = 0 < 4 step 1; { $2[table0[$0]] = in($0); }", PUSHES);
    // in another order, or twice
    stays(all, "for $1 = 0 < 4 step 1; { out($1) = $2[(3 - $1)]; }");
    stays(all, "for $1 = 0 < 4 step 1; { out($1) = $2[($1 & 1)]; }");
    stays(all, "for $1 = 0 < 4 step 1; { out(($1 * 2)) = $2[$1]; }");
    // changed after it was pushed; zeroed after it was filled
    stays(all, &format!("{PUSHES} $2[0] = in(4); out(4) = $2[0];"));
    stays(&format!("{all} $2 = zero<float[4]>;"), PUSHES);
    // a jump may pass by
    stays(&format!("block; {{ if (in(0) > 0.0f); {{ break 0; }} {all} }}"), PUSHES);
}

#[test]
fn other_types_stay() {
    let now = after("for $0 = 0 < 8 step 1; { $4[$0] = $0; } for $1 = 0 < 8 step 1; { out($1) = as<float>($4[$1]); }");
    assert!(now.contains("as<float>($2[") || now.contains("as<float>($4["), "{now}");
}
