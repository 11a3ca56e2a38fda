//! Whole numbers in lanes: floats rounded and made ints, ints divided. Even of a filter that does little else, for C compilers take these one by one.

use crate::support::*;
use crate::windows::at_all_widths;

/// Items of an input, from none to several vectors and what is left of them.
const LENGTHS: [usize; 4] = [0, 5, 64, 3001];

/// The one filter's firings go in lanes, or not; and give the interpreter's bytes.
fn same(of: &str, to: &str, work: &str, in_lanes: bool) {
    let program = format!("{of}->{to} filter Main {{ work pop 1 push 1 {{ {work} }} }}");
    let place = Place::new().with("a.str", &program);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    assert_eq!(text.contains("sl_lanes_0("), in_lanes, "{program}");
    at_all_widths(&place, &program, 1, &LENGTHS);
}

#[test]
fn ints_of_floats() {
    same("float", "int", "push((int)(pop() * 32767));", true);
    // beyond all ints on both sides, infinite, and no number at all
    same("float", "int", "push((int)(pop() * 1000000000));", true);
    same("float", "int", "float x = pop(); push((int)(x / (x - x)));", true);
    same("float", "int", "float x = pop(); push((int)(x / abs(x - round(x / 3) * 3)));", true);
    same("float", "int", "push((int)round(pop() * 2));", true);
    // C compilers have this one
    same("float", "float", "push(round(pop() * 2));", false);
}

#[test]
fn quotients() {
    // the items are floats' bits: ints of every size
    same("int", "int", "int x = pop(); push(x / ((x & 1023) - 1024));", true);
    same("int", "int", "int x = pop(); push(x % ((x >> 20 & 63) + 1));", true);
    same("int", "int", "int x = pop(); push((x | 1 << 31) / ((x & 1) - 2));", true);
    same("int", "int", "push(pop() % 10);", false);
}
