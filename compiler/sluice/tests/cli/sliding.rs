//! Long windows and long delays, which slide over their buffers: the same bytes as the interpreter's, in long batches and in short ones, on one thread and on two, and up to a fault.

use super::fusing::{ints, same};
use super::libraries::{same_in_pieces, used};
use crate::support::*;

/// A program by name; what slides in it, as channels of its C.
fn programs() -> Vec<(&'static str, String, usize)> {
    let far = |pop: usize, peek: usize| {
        let taken = "pop(); ".repeat(pop);
        format!(
            "int->int filter Far {{ int n; work pop {pop} push 1 peek {peek} {{ n = 3 * n + peek(0) - peek({peek} - 1); push(n + peek({})); {taken}}} }}\n",
            peek / 3
        )
    };
    let later = "int->int filter Later(int n) { prework push n { for (int i = 0; i < n; i++) push(i * i); } work pop 1 push 1 { push(pop()); } }\n";
    let add = "int->int filter Add(int n) { work pop n push 1 { int s = 0; for (int i = 0; i < n; i++) s = 5 * s + pop(); push(s); } }\n";
    let main = |parts: &str| format!("int->int pipeline Main {{ {parts} }}");
    let comb = |n: usize| {
        let first = format!("for (int i = 0; i < {n}; i++) enqueue i % 7;");
        format!(
            "add int->int feedbackloop {{ join roundrobin(1, 1); body Add(2); loop Identity<int>; split duplicate; {first} }};"
        )
    };
    vec![
        ("one item at a time", far(1, 3000) + &main("add Far;"), 1),
        ("seven items at a time", far(7, 5000) + &main("add Far;"), 1),
        ("two windows", far(1, 700) + &far(2, 900).replace("Far", "Near") + &main("add Far; add Near;"), 2),
        (
            "an echo",
            [later, add, &main("add splitjoin { split duplicate; add Identity<int>; add Later(6000); join roundrobin; }; add Add(2);")].concat(),
            1,
        ),
        ("a comb", [add, &main(&comb(2000))].concat(), 1),
        ("combs side by side", [add, &main(&format!("add splitjoin {{ split duplicate; {}{}join roundrobin; }};", comb(300), comb(1201)))].concat(), 2),
        (
            "windows of one stream are one buffer",
            [&far(1, 3000), &*far(1, 2000).replace("Far", "Near"), &main("add splitjoin { split duplicate; add Far; add Near; join roundrobin; };")].concat(),
            0,
        ),
        ("nothing long", far(1, 200) + &main("add Far;"), 0),
    ]
}

/// How many channels slide in the C text of a program.
fn slide(place: &Place) -> usize {
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    let (_, rows) = text.split_once("sl_channel sl_channels[] = {").expect("the table");
    let rows =
        rows.split_once("\n};").map_or(rows, |(rows, _)| rows).split_once("\nstatic").map_or(rows, |(rows, _)| rows);
    let slides = rows.matches(", 1},").count() + rows.matches(", 1}}").count();
    assert_eq!(text.contains("].head * sizeof("), slides > 0, "{text}");
    slides
}

#[test]
fn the_same_as_without() {
    for (name, program, wanted) in programs() {
        let place = Place::new().with("a.str", &program);
        assert_eq!(slide(&place), wanted, "{name}");
        same(&program, ints, &[0, 100, 6100, 30_000, 150_000]);
        let input = ints(60_000);
        let by = |way: &[&str]| place.run_with(&[&["run", "a.str"], way].concat(), &input).ends(0).stdout;
        assert!(by(&["--back-end", "jit"]) == by(&["--interpret"]), "{name}");
    }
}

/// A library is given a few items at a time: the window slides on from where it was.
#[test]
fn a_few_items_at_a_time() {
    for (_, program, _) in programs() {
        same_in_pieces(&program, "int32_t", "int32_t", ["7", "64", "3000", "70000"]);
    }
}

/// What came before a fault comes out, wherever the windows were when the batch began: not at their buffers' starts, after so many items.
#[test]
fn a_fault_behind_a_window() {
    let program = "int->int filter Far { int n; work pop 1 push 1 peek 3000 { n++; push(1000000 / (n - 112345) + 3 * peek(2999) - peek(0)); pop(); } }
int->int filter More { work pop 1 push 1 peek 400 { push(5 * peek(0) - peek(399)); pop(); } }
int->int pipeline Main { add Far; add More; }";
    for told in used(program, "int32_t", "int32_t", ["7", "64", "3000", "70000"]) {
        assert!(told.starts_with("failed after 111945 items: Main.Far"), "{told}");
    }
    let place = Place::new().with("a.str", program);
    assert_eq!(slide(&place), 2);
    let input = ints(200_000);
    let by = |way: &[&str]| place.run_with(&[&["run", "a.str"], way].concat(), &input).ends(1);
    let wanted = by(&["--interpret"]);
    assert_eq!(wanted.stdout.len(), 4 * 111945);
    for way in [&["--back-end", "cc"][..], &["--back-end", "jit"], &["--back-end", "cc", "--threads", "2"]] {
        assert!(by(way).stdout == wanted.stdout, "{way:?}");
    }
}
