//! What is known of the ints along channels: checks that it spares, and those that it must not.

use crate::support::*;

const LOOK: &str = "int->int filter Look { int[4] t; init { for (int i = 0; i < 4; i++) t[i] = i * i; }
    work pop 2 push 1 { push(t[2 * pop() + pop()]); } }
void->int filter Bits { int x; work push 1 { x++; push(x & 1); } }
int->void filter Show { work pop 1 { println(pop()); } }
";

/// The checks of an index that are left, and what the program says in native code, which is what it says in the interpreter.
fn checks(main: &str) -> (usize, Done) {
    let place = Place::new().with("a.str", format!("{LOOK}{main}"));
    let kernels = place.run(&["run", "a.str", "-n", "9", "--dump-after", "item-ranges"]).text().to_string();
    let by = |how: &[&str]| place.run(&[&["run", "a.str", "-n", "9"], how].concat());
    let (one, other) = (by(&["--interpret"]), by(&["--back-end", "cc"]));
    assert_eq!((&one.stdout, &one.stderr, one.code), (&other.stdout, &other.stderr, other.code));
    (kernels.matches("check index").count(), other)
}

#[test]
fn bits_need_no_check() {
    let (left, done) = checks("void->void pipeline Main { add Bits; add Look; add Show; }");
    assert_eq!((left, done.code), (0, 0));
}

/// What a prework gives comes once, and counts all the same.
#[test]
fn what_a_prework_gives_needs_one() {
    let (left, done) = checks(
        "int->int filter First { prework push 1 { push(2); } work pop 1 push 1 { push(pop() & 1); } }
void->void pipeline Main { add Bits; add First; add Look; add Show; }",
    );
    assert_eq!((left, done.code), (1, 1));
    assert!(done.stderr.contains("Look"), "{}", done.stderr);
}

/// A loop that only its prework fills: no other item ever comes into it.
#[test]
fn a_ring_that_fills_itself_needs_one() {
    let (left, done) = checks(
        "int->int filter Pass { work pop 1 push 1 { push(pop()); } }
int->int filter Begin { prework push 1 { push(100); } work pop 1 push 1 { push(pop()); } }
void->int feedbackloop Ring { join roundrobin(0, 1); body Pass; loop Begin; split duplicate; }
void->int splitjoin Both { split roundrobin(0); add Bits; add Ring; join roundrobin(1); }
void->void pipeline Main { add Both; add Look; add Show; }",
    );
    assert_eq!((left, done.code), (1, 1));
    assert!(done.stderr.contains("Look"), "{}", done.stderr);
}

#[test]
fn what_waits_at_first_needs_one() {
    let (left, done) = checks(
        "int->int feedbackloop Round { join roundrobin(1, 1); body int->int filter { work pop 2 push 1 { pop(); push(pop()); } }
    loop Mask; split duplicate; enqueue 9; }
int->int filter Mask { work pop 1 push 1 { push(pop() & 1); } }
void->void pipeline Main { add Bits; add Round; add Look; add Show; }",
    );
    assert_eq!((left, done.code), (1, 1));
}
