//! What becomes of look-ups, as text.

use crate::text;
use crate::verify::verify;
use sluice_frontend::constant::Const;

/// Logarithms and powers of 3 modulo 17, as a field of 16 elements has them: `table1[0]` is no logarithm.
const TABLES: &str = "table0 \"POW\" int[32] = [1, 3, 9, 10, 13, 5, 15, 11, 16, 14, 8, 7, 4, 12, 2, 6, 1, 3, 9, 10, 13, 5, 15, 11, 16, 14, 8, 7, 4, 12, 2, 6]
table1 \"LOG\" int[17] = [0, 0, 14, 1, 12, 5, 15, 11, 10, 2, 3, 7, 13, 4, 9, 6, 8]
";

fn kernel(body: &str) -> String {
    format!(
        "kernel \"K\" \"K\" @0:0-1 int -> int work func0 peek 16 pop 16 push 16
{TABLES}func0 \"work\" (0) -> void @0:0-1 {{
local0 \"x\" int
local1 \"r\" int
local2 \"j\" int
local3 \"t\" int
{}
}}
",
        body.replace(" @", " @0:0-1")
    )
}

/// The statements after the pass, one a line, and the tables that it has made.
fn after(body: &str) -> (String, Vec<String>) {
    let text = kernel(body);
    let mut k = text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    super::run(&mut k);
    verify(&k).unwrap();
    let made = k.tables.iter().skip(2).map(|t| ints(&t.value)).collect();
    let text = text::print(&k);
    let body = text.lines().skip_while(|l| !l.starts_with("func0")).skip(1);
    let lines: Vec<&str> = body.map(str::trim).filter(|l| !l.starts_with("local")).collect();
    (lines.join("\n").replace(" @0:0-1", "").trim_end_matches('}').trim().to_string(), made)
}

fn ints(c: &Const) -> String {
    match c {
        Const::Int(i) => i.to_string(),
        Const::Array(all) => format!("{{{}}}", all.iter().map(ints).collect::<Vec<_>>().join(", ")),
        _ => String::new(),
    }
}

/// Nothing becomes of it.
fn stays(body: &str) {
    let (_, made) = after(body);
    assert!(made.is_empty(), "{body}\n{made:?}");
}

/// Powers of 3 by the value of `x` below 17: 3 x modulo 17.
fn times_three(values: std::ops::Range<u32>) -> String {
    let all: Vec<String> = values.map(|x| (3 * x % 17).to_string()).collect();
    format!("{{{}}}", all.join(", "))
}

#[test]
fn look_ups_one_behind_the_other_are_one() {
    let (body, made) = after("out(0) = table0[(table1[((in(0) & 7) + 1)] + 1)] @");
    assert_eq!(made.len(), 1);
    assert_eq!(body, "out(0) = table2[(in(0) & 7)]");
    // one look-up is none the faster for it
    stays("out(0) = table1[((in(0) & 7) + 1)] @");
    stays("out(0) = ((((in(0) & 7) * 13) ^ 5) + 1) @");
    // of loops alone
    stays("for $2 = 0 < 7 step 1 @ { out($2) = table0[(table1[($2 + 1)] + 1)] @ }");
    // of two ints
    stays("out(0) = table0[(table1[(in(0) & 7)] + table1[(in(1) & 7)])] @");
}

#[test]
fn a_question_before_a_look_up_is_in_the_table() {
    let asks = "$0 = (in(0) & 15) @ if ($0 != 0) @ { $0 = table0[(table1[$0] + 1)] @ } out(0) = $0 @";
    let (body, made) = after(asks);
    assert_eq!(body, "$0 = (in(0) & 15)\n$0 = table2[$0]\nout(0) = $0");
    assert_eq!(made, [times_three(0..16)]);
    let selects = "out(0) = select(((in(0) & 15) == 0), 0, table0[(table1[(in(0) & 15)] + 1)]) @";
    assert_eq!(after(selects), ("out(0) = table2[(in(0) & 15)]".to_string(), vec![times_three(0..16)]));
}

#[test]
fn statements_that_follow_one_another_are_one_look_up() {
    let body =
        "$0 = (in(0) & 15) @ $1 = 0 @ if ($0 != 0) @ { $3 = table1[$0] @ $1 = table0[($3 + 1)] @ } out(0) = $1 @";
    let (body, made) = after(body);
    assert_eq!(body.lines().last().unwrap(), "out(0) = $1");
    assert!(body.contains("$1 = table2[$0]"), "{body}");
    assert_eq!(made, [times_three(0..16)]);
    // of which two are seen
    stays(
        "$0 = (in(0) & 15) @ if ($0 != 0) @ { $3 = table1[$0] @ $1 = table0[($3 + 1)] @ } else { $3 = 1 @ $1 = 2 @ } out(0) = ($1 + $3) @",
    );
}

#[test]
fn a_loop_around_has_a_row_for_each_turn() {
    let body = "$0 = (in(0) & 15) @ for $2 = 5 > 1 step -1 @ { $1 = select(($0 == 0), 0, table0[(table1[$0] + $2)]) @ out($2) = $1 @ }";
    let (body, made) = after(body);
    assert!(body.contains("$1 = table2[($2 + -2)][$0]"), "{body}");
    assert_eq!(made.len(), 1);
    let first: Vec<String> = (0..16).map(|x| (9 * x % 17).to_string()).collect();
    assert!(made[0].contains(&first.join(", ")), "{}", made[0]);
    // turns that are too many
    stays(
        "$0 = (in(0) & 15) @ for $2 = 0 < 1000 step 1 @ { $1 = select(($0 == 0), 0, table0[(table1[$0] + ($2 & 7))]) @ out(0) = $1 @ }",
    );
}

#[test]
fn what_fails_fails_where_it_did() {
    // whatever is not 0 and no index fails, and nothing else
    let guarded = "$0 = in(0) @ if ($0 == 0) @ { $1 = 0 @ } else { check index $0 17 @ $1 = table0[(table1[$0] + 1)] @ } out(0) = $1 @";
    let (body, made) = after(guarded);
    assert_eq!(body, "$0 = in(0)\ncheck index $0 17\n$1 = table2[$0]\nout(0) = $1");
    assert_eq!(made, [times_three(0..17)]);
    // those below 0 do not fail, and so the question stays, and what it guards
    let below = "$0 = in(0) @ if ($0 <= 0) @ { $1 = 0 @ } else { check index $0 17 @ $1 = table0[(table1[$0] + 1)] @ } out(0) = $1 @";
    let (body, made) = after(below);
    assert!(body.contains("if ($0 <= 0) {\n$1 = 0\n} else {\ncheck index $0 17\n$1 = table2[($0 + -1)]"), "{body}");
    assert_eq!(made, [times_three(1..17)]);
    // one that is an index fails later: at 13 + 20
    stays(
        "$0 = in(0) @ if ($0 == 0) @ { $1 = 0 @ } else { check index $0 17 @ check index (table1[$0] + 20) 32 @ $1 = table0[(table1[$0] + 20)] @ } out(0) = $1 @",
    );
    stays(
        "$0 = (in(0) & 31) @ if ($0 == 0) @ { $1 = 0 @ } else { check divisor ($0 - 3) @ $1 = table0[(5 / ($0 - 3))] @ } out(0) = $1 @",
    );
    // an element that is not there
    stays("out(0) = table0[table1[(in(0) & 31)]] @");
}

#[test]
fn tables_are_few() {
    // 33 rows of 256
    stays(
        "$0 = (in(0) & 255) @ for $2 = 0 < 33 step 1 @ { $1 = select(($0 > 16), 0, table0[(table1[$0] + ($2 & 15))]) @ out(0) = $1 @ }",
    );
    let (_, made) = after(
        "$0 = (in(0) & 255) @ for $2 = 0 < 32 step 1 @ { $1 = select(($0 > 16), 0, table0[(table1[$0] + ($2 & 15))]) @ out(0) = $1 @ }",
    );
    assert_eq!(made.len(), 1);
    // equal ones are one
    let (_, made) = after("out(0) = table0[table1[(in(0) & 15)]] @ out(1) = table0[table1[(in(1) & 15)]] @");
    assert_eq!(made.len(), 1);
}
