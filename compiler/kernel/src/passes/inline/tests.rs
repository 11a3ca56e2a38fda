//! What becomes of calls, as text: which structs are copied, and which are read where they stand.

use crate::text::{parse, print};
use crate::verify::verify;

/// The work function after the pass; `;` ends a statement or the head of one. In it `$0` is a struct of an int and four ints, `$1` is two of them, `$2` an int, `$3` a struct; so is
/// `state0`. In the function that is called `$0` is the struct, `$1` four ints by reference, `$2` an int.
fn after(work: &str, callee: &str) -> String {
    let text = format!(
        "kernel \"K\" \"K\"; int -> int work func0 peek 1 pop 1 push 1
struct0 \"P\" {{\"a\" int, \"b\" int[4]}}
state0 \"s\" struct0 = {{0, [0, 0, 0, 0]}}
func0 \"work\" (0) -> void; {{ local0 \"x\" struct0 local1 \"y\" struct0[2] local2 \"n\" int local3 \"z\" struct0 {work} }}
func1 \"f\" (2) -> int; {{ local0 \"p\" struct0 local1 \"q\" int[4] ref local2 \"k\" int {callee} }}
func2 \"g\" (0) -> void; {{ state0.0 = 7; }}
"
    );
    let text = text.replace(';', " @0:0-1");
    let mut kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    super::run(&mut kernel);
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{}", print(&kernel)));
    print(&kernel)
}

/// Is there no copy of the struct?
fn in_place(args: &str, callee: &str) -> bool {
    let call = format!("pop $0.0; pop $0.1[2]; $3 = $0; $1[1] = $0; call $2 = func1({args}); push $2;");
    !after(&call, callee).contains("\"p\" struct0")
}

#[test]
fn a_struct_that_nothing_writes_is_read_where_it_stands() {
    let get = "return ($0.1[2] + $1[0]);";
    assert!(in_place("$0, ref $3.1", get));
    assert!(in_place("$1[1], ref $3.1", get));
    assert!(in_place("state0, ref $3.1", get));
    let text = after("$1 = zero<struct0[2]>; pop $2; call $2 = func1($1[($2 & 1)], ref $0.1); push $2;", get);
    // the place is found once, before the body
    assert!(text.contains("= ($2 & 1)") && text.matches("($2 & 1)").count() == 1, "{text}");
}

#[test]
fn a_struct_that_somebody_writes_is_copied() {
    let get = "return ($0.1[2] + $1[0]);";
    // the parameter itself
    assert!(!in_place("$0, ref $3.1", "$0.0 = 5; return ($0.1[2] + $0.0);"));
    // the argument, by reference, or through a field
    assert!(!in_place("$0, ref $0.1", "$1[2] = 5; return $0.1[2];"));
    assert!(!in_place("$1[1], ref $1[0].1", get));
    assert!(!in_place("state0, ref $3.1", "state0.0 = 1; return $0.0;"));
    assert!(!in_place("state0, ref state0.1", "$1[0] = 1; return $0.1[0];"));
    assert!(!in_place("state0, ref $3.1", "call func2(); return $0.0;"));
    // a call that writes fields does nothing to variables
    assert!(in_place("$0, ref $3.1", "call func2(); return $0.0;"));
}
