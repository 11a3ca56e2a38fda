//! Firings before and after the pass.

use crate::passes::firing_after;

/// The body of a firing after the pass; `;` ends a statement. `$0`, `$1` and `$4` are ints, `$2` and `$3` arrays of 8 ints; `state0` is one of 8.
fn after(body: &str) -> String {
    let text = format!(
        "kernel \"K\" \"K\"; int -> int work func0 peek 8 pop 8 push 8
state0 \"s\" int[8] = [0, 0, 0, 0, 0, 0, 0, 0]
func0 \"work\" (0) -> void; {{
local0 \"i\" int local1 \"j\" int local2 \"x\" int[8] local3 \"y\" int[8] local4 \"k\" int
{body} }}
"
    );
    firing_after(&text, super::run)
}

const FILL: &str = "for $0 = 0 < 8 step 1; { $2[$0] = (in($0) + 1); }";
const USE: &str = "for $1 = 0 < 8 step 1; { out($1) = ($2[$1] * $2[$1]); }";

#[test]
fn an_array_between_two_loops_is_a_variable_of_one() {
    let got = after(&format!("{FILL} $4 = 3; {USE}"));
    assert_eq!(got, "$0 = 8; $4 = 3; for $1 = 0 < 8 step 1; { $5 = (in($1) + 1); out($1) = ($5 * $5);");
    // three loops, two arrays
    let more =
        "for $1 = 0 < 8 step 1; { $3[$1] = ($2[$1] + state0[$1]); } for $4 = 0 < 8 step 1; { out($4) = $3[$4]; }";
    let got = after(&format!("{FILL} {more}"));
    assert_eq!(got.matches("for ").count(), 1, "{got}");
    assert!(!got.contains("$2[") && !got.contains("$3["), "{got}");
}

#[test]
fn what_the_loops_need_of_each_other_keeps_them_apart() {
    let kept = |fill: &str, between: &str, user: &str| {
        let got = after(&format!("{fill} {between} {user}"));
        assert_eq!(got.matches("for ").count(), format!("{fill}{between}{user}").matches("for ").count(), "{got}");
        assert!(got.contains("$2["), "{got}");
    };
    let state = FILL.replace("in($0)", "state0[$0]");
    // another element, another number of turns, counted otherwise
    kept(FILL, "", &USE.replace("$2[$1])", "$2[(7 - $1)])"));
    kept(FILL, "", &USE.replace("< 8", "< 7"));
    kept(FILL, "", "for $1 = 7 >= 0 step -1; { out($1) = $2[$1]; }");
    // read or written elsewhere, too
    kept(FILL, "", &format!("{USE} out(0) = $2[3];"));
    kept(&format!("$2 = zero<int[8]>; {FILL}"), "", USE);
    kept(FILL, "$2[4] = 1;", USE);
    // read in its own loop, whose turns would have it from the variable
    kept("for $0 = 0 < 8 step 1; { $2[$0] = in($0); $4 = $2[$0]; }", "", USE);
    // what the first loop reads is written before the second, or in it
    kept(&state, "state0[2] = 5;", USE);
    kept(&state, "", "for $1 = 0 < 8 step 1; { state0[$1] = $2[$1]; }");
    // what it writes is wanted before
    kept("for $0 = 0 < 8 step 1; { $2[$0] = in($0); $4 = in($0); }", "state0[0] = $4;", USE);
    // both give items
    kept("for $0 = 0 < 8 step 1; { $2[$0] = in($0); out($0) = 1; }", "", USE);
    // a turn that is not always there
    kept("for $0 = 0 < 8 step 1; { if (in($0) > 0); { $2[$0] = 1; } }", "", USE);
}
