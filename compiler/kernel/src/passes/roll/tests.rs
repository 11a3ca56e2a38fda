//! Lanes before and after the pass.

use crate::passes::passed;
use crate::text::print;

/// A copy of statements: `own` is its variable, an array of 4 floats; its first item is number `a`, those that it is multiplied with begin at `b`, what it gives at `to`.
fn copy(own: usize, a: usize, b: usize, to: usize) -> String {
    let a = if a == 0 { "$0".to_string() } else { format!("($0 + {a})") };
    let mut text = format!("for $0 = 0 < 4 step 1; {{ ${own}[$0] = (in({a}) * in((($0 * 9) + {b}))); }}");
    for j in 0..32 {
        text += &format!(" out({}) = (${own}[{}] + ${own}[{}]);", to + 9 * j, j % 4, (j + 1) % 4);
    }
    text
}

/// The lanes' function after the pass; `;` ends a statement, `$0` and `$1` are ints, others arrays of 4 floats.
fn after(body: &str) -> String {
    let floats: String = (2..12).map(|i| format!("local{i} \"x\" float[4] ")).collect();
    let function = format!("(0) -> void; {{\nlocal0 \"i\" int local1 \"j\" int {floats}\n{body} }}\n");
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek 400 pop 400 push 800\nlanes func1 \"uuvvvvvvvvvv\" unroll 1 phases\nfunc0 \"work\" {function}func1 \"lanes\" {function}"
    );
    let text = text.replace(';', " @0:0-1");
    let text = print(&passed(&text, super::run)).replace(" @0:0-1", ";");
    let body = text.split("func1 \"lanes\" (0) -> void;").nth(1).unwrap();
    let lines = body.lines().map(str::trim).filter(|l| !l.starts_with("local") && !["{", ""].contains(l));
    lines.collect::<Vec<_>>().join(" ")
}

/// Copies k of `n`, in rows of three.
fn copies(n: usize, of: impl Fn(usize) -> String) -> String {
    (0..n).map(of).collect::<Vec<_>>().join(" ")
}

#[test]
fn copies_in_rows_are_two_loops() {
    let now = after(&copies(9, |k| copy(2 + k, k / 3 * 48, 144 + k % 3 * 3, k / 3 * 36 + k % 3 * 3)));
    assert!(now.starts_with("for $12 = 0 < 3 step 1; { for $13 = 0 < 3 step 1; { for $0 = 0 < 4 step 1; {"), "{now}");
    assert!(now.contains("$2[$0] = (in(($0 + ($12 * 48))) * in((($0 * 9) + (($13 * 3) + 144))));"), "{now}");
    assert!(now.contains("out(((($12 * 36) + ($13 * 3)) + 279)) = ($2[3] + $2[0]);"), "{now}");
    assert_eq!(now.matches("out(").count(), 32, "{now}");
}

#[test]
fn copies_in_a_row_are_one_loop_between_what_is_before_and_behind() {
    let all = copies(9, |k| copy(2, k * 4, 100, k * 2));
    let now = after(&format!("$1 = 7; out(700) = in(1); {all} out($1) = in(2);"));
    assert!(now.starts_with("$1 = 7; out(700) = in(1); for $13 = 0 < 9 step 1; {"), "{now}");
    assert!(now.contains("in(($0 + ($13 * 4)))") && now.ends_with("} out($1) = in(2); }"), "{now}");
    // what is before looks like the end of a copy
    let now = after(&format!("out(799) = ($11[0] + $11[1]); {}", copies(9, |k| copy(2 + k, k * 4, 100, k * 2))));
    assert!(now.starts_with("out(799) = ($11[0] + $11[1]); for $13"), "{now}");
}

#[track_caller]
fn stays(body: &str) {
    let now = after(body);
    assert!(!now.contains("for $12") && !now.contains("for $13"), "{now}");
}

#[test]
fn what_is_no_loop_stays() {
    // no number of turns fits all places
    stays(&copies(9, |k| copy(2 + k, k * k, 144, k * 4)));
    // few copies, and small ones
    stays(&copies(2, |k| copy(2 + k, k * 48, 144, k * 4)));
    stays(&copies(100, |k| format!("out({k}) = (in({k}) * in({}));", 2 * k)));
    // they differ in what they do
    stays(&copies(9, |k| {
        copy(2 + k, k * 4, 144, k * 4).replace("] + $", ["] + $", "] - $"][[0, 0, 1, 0, 1, 1, 0, 0, 1][k]])
    }));
}

#[test]
fn variables_of_copies_are_their_own() {
    let all = |k| copy(2 + k, k * 4, 144, k * 2);
    // what is read behind its copy, or before it
    stays(&format!("{} out(799) = $4[0];", copies(9, all)));
    stays(&format!("out(799) = $9[2]; {}", copies(9, all)));
    // what is written elsewhere is seen by nobody
    let now = after(&format!("$9[2] = in(3); {} $2[0] = in(4);", copies(9, all)));
    assert!(now.starts_with("$9[2] = in(3); for $13 = 0 < 9") && now.ends_with("} $2[0] = in(4); }"), "{now}");
    // and what is read before it is written: of the first turn it would be 0, of the next what the turn before has left
    stays(&copies(9, all).replace("0 < 4", "0 < 3"));
    // one for all may be read before: what is there is there in a loop, too
    let now = after(&copies(9, |k| copy(2, k * 4, 144, k * 2)).replace("0 < 4", "0 < 3"));
    assert!(now.starts_with("for $13 = 0 < 9"), "{now}");
}
