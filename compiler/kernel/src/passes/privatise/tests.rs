//! Firings before and after the pass: what becomes a variable, what stays, each reason by itself.

use super::{MOST_SCALARS, run};
use crate::ir::Kernel;
use crate::passes::passed;
use crate::text::{parse, print};
use crate::verify::verify;

/// After the pass. In the text `;` ends a statement or the head of one; in functions `$0` and `$1` are ints, `$2` is a float, `$3` an array of 4 floats; the fields are
/// `s`, a float, `t`, 4 floats, `u`, 2 times 3 floats, `z`, a complex number, and `p`, 2 structs of an int and a float. `head` is more of the kernel's first line, `more`
/// what else there is: handlers, functions.
fn after(work: &str, head: &str, more: &str) -> Kernel {
    let locals = "local0 \"i\" int local1 \"j\" int local2 \"x\" float local3 \"a\" float[4]";
    let (handlers, functions) = more.split_once('|').unwrap_or(("", ""));
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek 8 pop 8 push 8{head}
struct0 \"P\" {{\"n\" int, \"x\" float}}
state0 \"s\" float = 0.0f
state1 \"t\" float[4] = [0.0f, 0.0f, 0.0f, 0.0f]
state2 \"u\" float[3][2] = [[0.0f, 0.0f, 0.0f], [0.0f, 0.0f, 0.0f]]
state3 \"z\" complex = c(0.0f, 0.0f)
state4 \"p\" struct0[2] = [{{0, 0.0f}}, {{0, 0.0f}}]
table0 \"order\" int[4] = [2, 0, 3, 1]
{handlers}
func0 \"work\" (0) -> void; {{ {locals} {work} }}
{}",
        functions.replace("LOCALS", locals)
    );
    let text = text.replace(';', " @0:0-1");
    passed(&text, run)
}

/// The fields that a kernel still has.
fn fields(kernel: &Kernel) -> String {
    kernel.state.iter().map(|s| s.name.as_str()).collect()
}

/// Of the fields that some statements name, those that stay.
fn left(work: &str) -> String {
    let named = |i: usize| work.contains(&format!("state{i}"));
    let all = fields(&after(work, "", ""));
    "stuzp".chars().enumerate().filter(|(i, c)| named(*i) && all.contains(*c)).map(|(_, c)| c).collect()
}

#[test]
fn a_private_field_is_a_variable() {
    let work = "for $0 = 0 < 4 step 1; { pop state1[$0]; } state0 = state1[2]; push state0; push state3'0;";
    let kernel = after(work, "", "");
    // nobody names the others: they go with the rest, where that is done
    assert_eq!(fields(&kernel), "uzp");
    let text = print(&kernel).replace(" @0:0-1", "");
    let (_, body) = text.split_once("func0 \"work\"").unwrap().1.split_once('{').unwrap();
    let want = [
        "local0 \"i\" int",
        "local1 \"j\" int",
        "local2 \"x\" float",
        "local3 \"a\" float[4]",
        "local4 \"t\" float[4]",
        "local5 \"s\" float",
        "$5 = zero<float>",
        "for $0 = 0 < 4 step 1 {",
        "pop $4[$0]",
        "}",
        "$5 = $4[2]",
        "push $5",
        // of those that stay the numbers are others
        "push state1'0",
        "}",
    ];
    assert_eq!(body.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>(), want);
}

#[test]
fn what_is_written_first_is_private() {
    for work in [
        // element by element, and all of it read
        "pop state1[0]; pop state1[1]; pop state1[2]; pop state1[3]; $3 = state1;",
        "state1 = $3; push state1[$0];",
        "state1 = zero<float[4]>; $0 = as<int>(in_any); state1[$0] = 1.0f; push state1[$1];",
        // in an order that is known
        "for $0 = 0 < 4 step 1; { pop state1[table0[$0]]; } push state1[$1];",
        "for $0 = 3 >= 0 step -1; { pop state1[(3 - $0)]; } push state1[$1];",
        "$1 = 0; for $0 = 0 < 2 step 1; { state1[$1] = 1.0f; state1[($1 + 1)] = 2.0f; $1 = ($1 + 2); } $3 = state1;",
        // rows and columns, members and components
        "for $0 = 0 < 2 step 1; { for $1 = 0 < 3 step 1; { pop state2[$0][$1]; } } push state2[1][$1];",
        "for $0 = 0 < 3 step 1; { state2[1][$0] = 1.0f; } push state2[1][2]; push state2[1][$1];",
        "state3'0 = 1.0f; state3'1 = 2.0f; push part((state3 * state3), 0);",
        "state4[0].0 = 3; push as<float>(state4[0].0);",
        "state4[1] = zero<struct0>; push state4[1].1;",
        // on both ways, or on the one that goes on
        "if ($2 < 1.0f); { state0 = 1.0f; } else { state0 = 2.0f; } push state0;",
        "block; { if ($2 < 1.0f); { break 0; } state0 = 1.0f; push state0; }",
        "loop; { state0 = 1.0f; if ($2 < 1.0f); { break 0; } state0 = 2.0f; } push state0;",
        // a first turn that is known, and one that is not taken
        "for $0 = 0 < 4 step 1; { if ($0 == 0); { state0 = 1.0f; } push state0; }",
        "for $0 = 0 < 4 step 1; { state1[$0] = select(($0 == 0), 1.0f, state1[($0 - 1)]); }",
        "for $0 = 0 < 4 step 1; { if ($0 < 0); { push state0; } }",
        "for $0 = 0 < 4 step 1; { if ($2 < 1.0f); { state1[$0] = 1.0f; continue 0; } state1[$0] = 2.0f; } $3 = state1;",
        // nobody reads it
        "state0 = 1.0f; if ($2 < 1.0f); { state1[$0] = 2.0f; }",
        // it is not looked at where the index leads out of it
        "check index 7 4; push state1[7];",
    ] {
        let work = work.replace("in_any", "peek(0)");
        assert_eq!(left(&work), "", "{work}");
    }
}

#[test]
fn what_may_be_read_first_stays() {
    for (work, want) in [
        ("push state0; state0 = 1.0f;", "s"),
        ("state0 = (state0 + 1.0f);", "s"),
        ("if ($2 < 1.0f); { state0 = 1.0f; } push state0;", "s"),
        // perhaps no turn, perhaps not to the end
        ("for $0 = 0 < $1 step 1; { state0 = 1.0f; } push state0;", "s"),
        ("for $0 = 0 < 4 step 1; { if ($2 < 1.0f); { break 0; } state1[$0] = 1.0f; } $3 = state1;", "t"),
        ("for $0 = 0 < 4 step 1; { if ($2 < 1.0f); { continue 0; } state1[$0] = 1.0f; } $3 = state1;", "t"),
        ("loop; { if ($2 < 1.0f); { break 0; } state0 = 2.0f; } push state0;", "s"),
        ("block; { if ($2 < 1.0f); { break 0; } state0 = 1.0f; } push state0;", "s"),
        ("loop; { if ($2 < 1.0f); { break 0; } push state0; state0 = 2.0f; }", "s"),
        // all but one; another one
        ("for $0 = 0 < 3 step 1; { pop state1[$0]; } push state1[$1];", "t"),
        ("for $0 = 0 < 3 step 1; { pop state1[$0]; } push state1[3];", "t"),
        ("for $0 = 0 < 4 step 2; { pop state1[$0]; } push state1[1];", "t"),
        ("state1[$1] = 1.0f; push state1[$1];", "t"),
        ("for $0 = 0 < 3 step 1; { state2[1][$0] = 1.0f; } push state2[0][2];", "u"),
        ("for $0 = 0 < 3 step 1; { state2[$1][$0] = 1.0f; } push state2[$1][2];", "u"),
        ("state3'0 = 1.0f; push part((state3 * state3), 0);", "z"),
        ("state4[0].0 = 3; push state4[0].1;", "p"),
        // a turn reads what the one before has written, the first what the firing before has
        ("for $0 = 0 < 4 step 1; { push state0; state0 = 1.0f; }", "s"),
        // an operand that may be evaluated, an index
        ("if (($2 < 1.0f) && (state0 < 1.0f)); { pop; } state0 = 1.0f;", "s"),
        ("push select(($2 < 1.0f), state0, 1.0f); state0 = 1.0f;", "s"),
        ("push table_at[as<int>(state0)]; state0 = 1.0f;", "s"),
        // the one stays, the other goes
        ("state0 = state1[0]; push state0;", "t"),
    ] {
        let work = work.replace("table_at", "$3");
        assert_eq!(left(&work), want, "{work}");
    }
}

#[test]
fn the_first_firing_and_handlers_count() {
    let fill = "state0 = 1.0f; push state0;";
    let prework = |body: &str| format!("|func1 \"prework\" (0) -> void; {{ LOCALS {body} }}");
    let head = " prework func1 peek 8 pop 8 push 8";
    let other = |more: &str, head: &str| fields(&after(fill, head, more)).contains('s');
    assert!(!other(&prework("state0 = 2.0f;"), head));
    assert!(!other(&prework("state0 = 2.0f; push state0;"), head));
    assert!(other(&prework("push state0;"), head), "the first firing reads what it had at the beginning");
    let handler = |body: &str| format!("handler \"h\" func1|func1 \"h\" (0) -> void; {{ LOCALS {body} }}");
    assert!(!other(&handler("state3'0 = 1.0f;"), ""));
    assert!(other(&handler("state0 = 1.0f;"), ""), "a handler writes it");
    assert!(other(&handler("$2 = state0;"), ""), "a handler reads it");
}

#[test]
fn what_is_passed_on_stays() {
    let callee = |body: &str, params: u32| {
        format!("|func1 \"f\" ({params}) -> void; {{ local0 \"a\" float[4] ref local1 \"x\" float {body} }}")
    };
    let stays = |work: &str, more: &str, field: char| fields(&after(work, "", more)).contains(field);
    assert!(stays("state1 = zero<float[4]>; call func1(ref state1);", &callee("$0[0] = 1.0f;", 1), 't'));
    // a value is a read like another one
    let values = callee("$0[0] = $1;", 2);
    assert!(!stays("state0 = 1.0f; call func1(ref $3, state0);", &values, 's'));
    assert!(stays("call func1(ref $3, state0); state0 = 1.0f;", &values, 's'));
    // a function that has the field itself
    assert!(stays("state0 = 1.0f; call func1(ref $3);", &callee("$0[0] = state0;", 1), 's'));
}

#[test]
fn what_is_large_or_long_stays() {
    let of = |length: usize, turns: u64, inner: &str| {
        let zeros = vec!["0.0f"; length].join(", ");
        let text = format!(
            "kernel \"K\" \"K\"; float -> float work func0 peek 8 pop 8 push 8
state0 \"small\" float = 0.0f
state1 \"t\" float[{length}] = [{zeros}]
func0 \"work\" (0) -> void; {{ local0 \"i\" int local1 \"j\" int
state0 = 1.0f; push state0; for $0 = 0 < {turns} step 1; {{ {inner} }} push state1[0]; }}"
        );
        let mut kernel = parse(&text.replace(';', " @0:0-1")).unwrap();
        run(&mut kernel);
        verify(&kernel).unwrap();
        fields(&kernel)
    };
    let fill = "state1[$0] = 1.0f;";
    assert_eq!(of(MOST_SCALARS - 1, 1000, fill), "");
    assert_eq!(of(MOST_SCALARS, 1000, fill), "t", "both are too much, the small one is not");
    assert_eq!(of(64, 64, "for $1 = 0 < 64 step 1; { state1[$0] = 1.0f; }"), "");
    // nobody waits for a firing of two thousand million turns
    assert_eq!(of(64, 64, "for $1 = 0 < 2000000000 step 1; { state1[$0] = 1.0f; }"), "smallt");
}
