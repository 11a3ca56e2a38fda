//! Filters with state that follow one another as lanes of a vector: the bytes are those of the program, however long the input is, with each C compiler.

use crate::fusing::{ints, reals, same};
use crate::support::*;
use crate::windows::at_all_widths;

const BIQUAD: &str = "float->float filter Biquad(float b0, float b1, float b2, float a1, float a2) { float s1; float s2;
    work pop 1 push 1 { float x = pop(); float y = b0 * x + s1; s1 = b1 * x - a1 * y + s2; s2 = b2 * x - a2 * y; push(y); } }
float->float filter Section(int k) { float s1; float s2; float b = 0.5 + 0.01 * k; float a = 0.3 - 0.02 * k;
    work pop 1 push 1 { float x = pop(); float y = b * x + s1; s1 = 0.25 * x - a * y + s2; s2 = b * x - 0.1 * y; push(y); } }
";

/// A program in C: has it a wave, and of how many vectors' lanes?
fn waves(program: &str) -> Vec<usize> {
    let place = Place::new().with("a.str", program);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    let lanes = |l: &str| l.split_once("enum { vectors = (")?.1.split_once(" + SL_LANES")?.0.parse().ok();
    text.lines().filter_map(lanes).collect()
}

/// Do so many firings go at once, so that steps in which lanes have none are few?
fn at_once(program: &str) -> bool {
    let place = Place::new().with("a.str", program);
    place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().contains("t < all; t += 1024)")
}

fn cascade(n: usize) -> String {
    format!("{BIQUAD}float->float pipeline Main {{ for (int k = 0; k < {n}; k++) add Section(k % 9); }}\n")
}

#[test]
fn a_cascade_is_one_wave() {
    for n in [4, 11, 16, 17, 32] {
        assert_eq!(waves(&cascade(n)), [n], "{n}");
    }
    // longer ones are several, and none of them is short
    assert_eq!(waves(&cascade(33)), [25, 8]);
    assert_eq!(waves(&cascade(70)), [32, 30, 8]);
    assert!(waves(&cascade(3)).is_empty());
    assert!(at_once(&cascade(16)) && !at_once(&cascade(3)));
    same(&cascade(17), reals, &[0, 1, 16, 33, 34, 35, 1000, 20_011]);
    same(&cascade(33), reals, &[1, 50, 70_003]);
}

#[test]
fn every_compiler_makes_the_same() {
    for n in [5, 10, 30] {
        let program = cascade(n);
        let place = Place::new().with("a.str", &program);
        at_all_widths(&place, &program, 1, &[2 * n - 1, 2 * n, 2 * n + 1, 3001]);
        for items in [2 * n + 1, 3001] {
            place.as_interpreted_by_clang(&reals(items));
        }
    }
}

#[test]
fn lanes_that_wait_are_two_firings_apart() {
    let low = |n: usize| {
        format!(
            "float->float filter Low(float c) {{ float y; work pop 1 push 1 {{ y += c * (pop() - y); push(y); }} }}
float->float pipeline Main {{ for (int k = 0; k < {n}; k++) add Low(0.3 + 0.01 * k); }}
"
        )
    };
    let apart = |program: &str| {
        let place = Place::new().with("a.str", program);
        place
            .run(&["build", "a.str", "--emit", "c", "-o", "-"])
            .ends(0)
            .text()
            .contains("for (long step = 0; step < n + 18;")
    };
    assert_eq!(waves(&low(10)), [10]);
    assert!(apart(&low(10)) && !apart(&cascade(10)));
    let place = Place::new().with("a.str", low(10));
    at_all_widths(&place, &low(10), 1, &[0, 18, 19, 20, 21, 37, 38, 39, 3001]);
    place.as_interpreted_by_clang(&reals(3001));
    same(&low(32), reals, &[63, 64, 65, 126, 4099]);
}

#[test]
fn what_is_around_keeps_its_own_order() {
    // a meter behind it, a drift before it, and both have states
    let around = format!(
        "{BIQUAD}float->float filter Drift {{ float d; work pop 1 push 1 {{ d = d * 0.999 + 0.001; push(pop() + d); }} }}
float->float filter Meter {{ float p; work pop 1 push 2 {{ float x = pop(); p = max(p * 0.99, abs(x)); push(x); push(p); }} }}
float->float pipeline Main {{ add Drift; for (int k = 0; k < 9; k++) add Section(k); add Meter; }}
"
    );
    assert_eq!(waves(&around), [9]);
    same(&around, reals, &[0, 17, 18, 19, 4099]);
    // one among them is another
    let broken = format!(
        "{BIQUAD}float->float pipeline Main {{ for (int k = 0; k < 6; k++) add Section(k); add Biquad(1.5, 0, 0, 0.5, 0); for (int k = 0; k < 5; k++) add Section(k); }}
"
    );
    same(&broken, reals, &[0, 13, 30, 4099]);
    // a loop in one filter
    let inside = "float->float filter Ladder { float[8] z; work pop 1 push 1 {
        float x = pop(); for (int i = 0; i < 8; i++) { z[i] += (0.3 + 0.01 * i) * (x - z[i]) * (1 - 0.1 * z[i] * z[i]); x = z[i]; } push(x); } }
";
    assert_eq!(waves(inside), [8]);
    assert!(at_once(inside));
    same(inside, reals, &[0, 15, 16, 17, 4099]);
}

#[test]
fn fields_and_several_items_are_passed_on() {
    let low =
        "float->float filter Low(float k) { float y = 0.25; work pop 1 push 1 { y += k * (pop() - y); push(y); } }
float->float pipeline Main { for (int i = 0; i < 20; i++) add Low(0.1 + 0.04 * i); }
";
    assert_eq!(waves(low), [20]);
    same(low, reals, &[0, 39, 40, 41, 5003]);
    let lattice = "float->float filter Stage(float k) { float g; work pop 2 push 2 {
        float f = pop(); float b = pop(); float sum = f - k * g; push(sum); push(g + k * sum); g = 0.5 * g + 0.25 * b; } }
float->float pipeline Main { for (int i = 0; i < 12; i++) add Stage(0.9 - 0.15 * i); }
";
    // the last one's items are assigned where they go
    assert_eq!(waves(lattice), [11]);
    same(lattice, reals, &[0, 2, 45, 46, 47, 48, 50, 6001]);
    let hash = "int->int filter Mix(int k) { int h = 7 * k; int n = k; work pop 1 push 1 {
        int x = pop(); h = (h << 3) + (x ^ k) * 31; n = (h > x ? n + 1 : n - k) ^ (h >> 5); push(h + n * 13); } }
int->int pipeline Main { for (int i = 0; i < 14; i++) add Mix(i * 1234567 + 3); }
";
    assert_eq!(waves(hash), [13]);
    same(hash, ints, &[0, 27, 28, 29, 5003]);
}

#[test]
fn branches_are_lanes_beside_each_other() {
    let bank = |split: &str, branches: usize, sections: usize| {
        format!(
            "{BIQUAD}float->float pipeline Band(int b) {{ for (int k = 0; k < {sections}; k++) add Biquad(0.5 + 0.03 * b, 0.25 - 0.02 * k, 0.1 * b, 0.3, 0.01 * k + 0.02 * b); }}
float->float filter Scale(float g) {{ work pop 1 push 1 {{ push(g * pop()); }} }}
float->float splitjoin Main {{ split {split}; for (int b = 0; b < {branches}; b++) add pipeline {{ add Band(b); add Scale(1.5 - 0.1 * b); }}; join roundrobin; }}
"
        )
    };
    // five and three branches have the room of eight and four
    for (split, branches, sections) in
        [("duplicate", 8, 4), ("roundrobin", 8, 4), ("duplicate", 5, 6), ("roundrobin", 4, 8), ("duplicate", 3, 9)]
    {
        let program = bank(split, branches, sections);
        assert_eq!(waves(&program), [32], "{program}");
        same(&program, reals, &[0, 7 * branches, 8 * branches, 18 * branches + 1, 4003]);
        let place = Place::new().with("a.str", &program);
        place.as_interpreted_by_clang(&reals(40 * branches + 3));
        at_all_widths(&place, &program, 1, &[18 * branches + 1, 1003]);
    }
}

#[test]
fn faults_are_those_of_the_program() {
    // an index is wrong, behind the wave, at a firing in the middle
    let fault = format!(
        "{BIQUAD}float->float filter Look {{ float[4] t = {{1, 2, 3, 4}}; int n; work pop 1 push 1 {{ n++; push(pop() * t[n / 1000]); }} }}
float->float pipeline Main {{ for (int k = 0; k < 8; k++) add Section(k); add Look; }}
"
    );
    assert_eq!(waves(&fault), [8]);
    let place = Place::new().with("a.str", &fault);
    assert_ne!(place.as_interpreted(&reals(9000), &[&["--back-end", "cc"], &["--back-end", "jit"]]).code, 0);
}
