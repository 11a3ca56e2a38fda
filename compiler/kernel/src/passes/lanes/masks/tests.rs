//! What becomes of firings that go different ways.

use crate::passes::lanes::testing::lanes_of;
use crate::text::print;

/// The lanes' function of a firing that takes and gives so many ints; nothing where there is none. `;` ends a statement. `$0` to `$3` are ints, `$4` a boolean, `$5` ints.
fn of(rates: (u32, u32), body: &str) -> Option<String> {
    let (pop, push) = rates;
    let kernel = lanes_of(&format!(
        "kernel \"K\" \"K\"; int -> int work func0 peek {pop} pop {pop} push {push}
table0 \"t\" int[4] = [3, 1, 4, 1]
func0 \"work\" (0) -> void; {{
local0 \"x\" int local1 \"n\" int local2 \"i\" int local3 \"y\" int local4 \"c\" boolean local5 \"a\" int[4]
{body} }}
"
    ));
    let text = print(&kernel);
    let lanes = &text[text.find("func1")?..];
    // neither names nor places
    let lines = lanes.lines().map(str::trim).filter(|l| !l.starts_with("local") && !l.starts_with("func"));
    let words = lines.flat_map(|l| l.split(' ')).filter(|w| !w.starts_with('@'));
    Some(words.collect::<Vec<_>>().join(" "))
}

const WORK: &str = "$3 = (($0 * 3) + ($0 * 5)); $3 = ($3 ^ ($3 >> 2)); $3 = ($3 + ($3 << 3)); $3 = ($3 * ($3 - 1));";

fn one(body: &str) -> Option<String> {
    of((1, 1), &format!("$0 = in(0); $1 = 0; {body} out(0) = ($0 + $1);"))
}

#[track_caller]
fn has(text: Option<String>, part: &str) {
    let text = text.expect("no lanes");
    assert!(text.contains(part), "{text}\nhas not: {part}");
}

#[test]
fn a_loop_goes_on_as_long_as_a_lane() {
    let text = one(&format!("loop; {{ if ($0 < 9); {{ break 0; }} $0 = ($0 - 4); {WORK} $1 = ($1 + $3); }}"));
    has(
        text.clone(),
        "$6 = true loop { $6 = ($6 && not(($0 < 9))) if not(any($6)) { break 0 } $0 = select($6, ($0 - 4), $0)",
    );
    // what every turn writes before it reads it, and nobody sees behind the loop
    has(text.clone(), "$3 = (($0 * 3) + ($0 * 5))");
    has(text, "$1 = select($6, ($1 + $3), $1)");
}

#[test]
fn lanes_that_go_on_with_the_next_turn_come_again() {
    let text = one("loop; { if ($0 < 9); { break 0; } $0 = ($0 - 4); if ($0 < 50); { continue 0; } $1 = ($1 + $0); }");
    has(
        text.clone(),
        "loop { $7 = $6 $8 = ($7 && ($0 < 9)) $7 = ($7 && not($8)) $6 = ($6 && not($8)) if not(any($6)) { break 0 }",
    );
    has(text, "$9 = ($7 && ($0 < 50)) $7 = ($7 && not($9)) if not(any($6)) { break 0 } $1 = select($7, ($1 + $0), $1)");
}

#[test]
fn counted_loops_count_for_all() {
    // left early, with what it counts seen behind it
    let text = of((8, 1), "$0 = in(7); for $2 = 0 < 7 step 1; { if (in($2) > $0); { break 0; } } out(0) = ($2 + $0);");
    has(
        text,
        "for $7 = 0 < 7 step 1 { $2 = select($6, $7, $2) $6 = ($6 && not((in($7) > $0))) if not(any($6)) { break 0 } } $2 = select($6, $7, $2) out(0) = ($2 + $0)",
    );
    // with a bound for each
    let text =
        of((4, 1), "$0 = in(3); $1 = 0; for $2 = 0 < ($0 & 3) step 1; { $1 = ($1 + in($2)); } out(0) = ($1 + $0);");
    has(text.clone(), "$8 = ($0 & 3) $7 = 0 loop { $6 = ($6 && ($7 < $8)) if not(any($6)) { break 0 }");
    has(text, "$1 = select($6, ($1 + in(select(any($6), $7, 0))), $1) $7 = ($7 + 1) }");
    // of no known beginning
    let text = one("for $2 = $0 < 99 step 7; { $1 = ($1 + ($2 & 5)); }");
    has(
        text,
        "$2 = $0 loop { $6 = ($6 && ($2 < $7)) if not(any($6)) { break 0 } $1 = select($6, ($1 + ($2 & 5)), $1) $2 = select($6, ($2 + 7), $2) }",
    );
}

#[test]
fn steps_are_the_same_in_all_lanes() {
    let text = of(
        (4, 1),
        "$0 = in(3); $1 = 0; loop; { if (in($1) < 5); { break 0; } $1 = ($1 + 1); if ($1 == 3); { break 0; } } out(0) = ($1 * $0);",
    );
    has(text, "in(select(any($7), $6, 0)) < 5");
    // the loop's own counter, and a number
    let text = of(
        (9, 1),
        "$0 = 0; $1 = 1; for $2 = 0 < 8 step 1; { $3 = in($1); $1 = ($1 + 1); if ($3 < 0); { continue 0; } $0 = (($0 * 3) + $3); } out(0) = $0;",
    );
    has(text, "= 0 < 8 step 1");
}

#[test]
fn conditions_around_loops_and_within() {
    let text = one(&format!(
        "if ($0 < 7); {{ for $2 = 0 < 3 step 1; {{ $1 = ($1 + ($0 * $2)); }} }} else {{ $1 = 5; {WORK} $1 = ($1 + $3); }}"
    ));
    has(text.clone(), "$6 = ($0 < 7) $7 = not($6)");
    has(text.clone(), "if any($6) { for $2 = 0 < 3 step 1 { $1 = select($6, ($1 + ($0 * $2)), $1) } }");
    has(text, "$1 = select($7, 5, $1)");
    // much that few may need
    let much = WORK.repeat(3);
    let text = of(
        (1, 1),
        &format!(
            "$0 = in(0); $3 = 1; loop; {{ if ($0 < 9); {{ break 0; }} $0 = ($0 - 4); if ($0 == 17); {{ {much} }} }} out(0) = ($0 + $3);"
        ),
    );
    has(text, "if any($7) { $3 = select($7,");
}

#[test]
fn what_is_not_wanted_does_not_go_wrong() {
    let text = of(
        (2, 1),
        "$0 = in(0); $1 = in(1); $3 = 0; if ($1 != 0); { $3 = ($0 / $1); } if ($0 < 4); { $3 = ($3 + table0[$0]); } out(0) = (($3 * 3) + ($0 % 7));",
    );
    has(text.clone(), "($0 / select($6, $1, 1))");
    has(text, "table0[select($7, $0, 0)]");
    // where it cannot
    let text = of(
        (2, 1),
        "$0 = in(0); $1 = in(1); $3 = 0; if ($1 != 0); { $3 = ($0 / (($1 & 7) + 1)); } if ($0 < 4); { $3 = ($3 + table0[($0 & 3)]); } out(0) = (($3 * 3) + ($0 % 7));",
    );
    has(text.clone(), "($0 / (($1 & 7) + 1))");
    has(text, "table0[($0 & 3)]");
}

/// Places that are the same in all lanes, and exist only where one of them comes there.
#[test]
fn what_all_ask_for_exists() {
    let text = of(
        (1, 1),
        "$0 = in(0); $3 = 0; $5 = zero<int[4]>; for $2 = 0 < 9 step 1; { if (($0 > 7) && ($2 < 4)); { if (table0[$2] > 2); { $3 = ($3 + ($0 * $2)); } $5[$2] = ($3 + 1); } } out(0) = ($3 + $5[3]);",
    );
    has(text.clone(), "if select(any($6), (table0[$2] > 2), false) { $3 = select($6,");
    has(text, "$5[select(any($6), $2, 0)] = select($6, ($3 + 1), $5[select(any($6), $2, 0)])");
}

#[test]
fn items_of_both_sides_are_given_behind() {
    let given = |a: &str, b: &str| {
        of(
            (1, 2),
            &format!(
                "$0 = in(0); {WORK} $1 = 0; if ($3 < 9); {{ $1 = ($0 + 1); {a} }} else {{ {b} }} out(1) = ($1 + $3);"
            ),
        )
    };
    has(given("out(0) = ($0 * 3);", "out(0) = $3;"), "out(0) = select($6, $7, $8)");
    assert_eq!(given("out(0) = ($0 * 3);", ""), None);
    assert_eq!(given("out(0) = ($0 * 3);", "out(1) = $3;"), None);
    assert_eq!(given("out($1) = ($0 * 3);", "out($1) = $3;"), None);
}

#[test]
fn an_element_at_a_place_that_differs() {
    has(
        one(
            "$5 = zero<int[4]>; loop; { if ($0 < 9); { break 0; } $0 = ($0 - 4); $5[($0 & 3)] = ($0 + 1); } $1 = $5[0];",
        ),
        "$5[3] = select($8, select(($6 == 3), $7, $5[3]), $5[3])",
    );
}

#[test]
fn what_is_not_converted() {
    // an item in a turn that some lanes do not take
    assert_eq!(one("loop; { if ($0 < 9); { break 0; } $0 = ($0 - 4); out(0) = $0; }"), None);
    assert_eq!(
        one("$5 = zero<int[4]>; loop; { if ($0 < 9); { break 0; } $0 = ($0 - 4); $5 = zero<int[4]>; } $1 = $5[0];"),
        None
    );
    // a counter that is something else before: it counts for nobody
    assert_eq!(
        one(
            "$2 = $0; $1 = ($2 * 3); for $2 = 0 < 3 step 1; { if ($2 < 2); { $1 = ($1 + ($0 * $2)); } loop; { if ($0 < $2); { break 0; } $0 = ($0 - 4); } }"
        ),
        None
    );
}

/// Time does not double with each loop.
#[test]
fn loops_within_loops_within_loops() {
    let mut body = String::from("$0 = ($0 - 4); if ($0 < 9); { break 0; }");
    for _ in 0..40 {
        body = format!("loop; {{ {body} if ($0 < 50); {{ break 0; }} $1 = ($1 + 1); }}");
    }
    has(one(&body), "if not(any(");
}
