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

/// A region's firings do not have the first one of a filter that has another. What that leaves in a field is in no function of the region.
#[test]
fn what_a_first_firing_leaves_is_any_int() {
    let filters = |k: i32| {
        format!(
            "int->int filter A {{
    int k;
    prework pop 2 push 2 {{ k = {k}; push(pop()); push(pop()); }}
    work pop 2 push 2 {{ int a = pop(); int b = pop(); int[3] t; t[0] = a; t[1] = b; t[2] = a ^ b; push((a & 1) + t[k]); push(((a ^ b) & 3) + k); }}
}}
int->int filter B {{ work pop 2 push 2 {{ int a = pop(); int b = pop(); push((a > 100 ? 7 : 8) + b * 3); push((b > 100 ? 7 : 8) * a - b); }} }}
"
        )
    };
    let chain = "int->int pipeline Main { add B; add A; add B; add B; add B; }\n";
    // branches that are bundled: what they keep are elements of one field
    let branches = "int->int filter C(int n) {
    int k; int sum;
    prework pop 1 push 1 { k = 5; push(pop()); }
    work pop 1 push 1 { int[4] t; t[0] = n; t[1] = sum; t[2] = 7; t[3] = sum ^ n; sum += pop() * n; push(t[k] + sum); }
}
int->int splitjoin Main { split roundrobin; for (int i = 1; i < 9; i++) add C(i); join roundrobin; }
";
    for (program, code) in [
        (filters(5) + chain, 1),
        (filters(2) + chain, 0),
        (branches.to_string(), 1),
        (branches.replace("k = 5", "k = 3"), 0),
    ] {
        let place = Place::new().with("a.str", &program);
        let input: Vec<u8> = (0..400).flat_map(|i: i32| (i * 7919 % 1000 - 500).to_le_bytes()).collect();
        let ways = [
            &["--back-end", "cc"][..],
            &["--back-end", "jit"],
            &["-O0", "--back-end", "cc", "--fuse=false"],
            &["-O0", "--target", "cuda", "--emulate"],
        ];
        assert_eq!(place.as_interpreted(&input, &ways).code, code, "{program}");
    }
}

/// The checks that are left of a firing, which does in native code what it does in the interpreter.
fn left(body: &str) -> usize {
    let text = format!(
        "int->int filter F {{ int[8] t; int clip(int x) {{ if (x < 0) return 0; if (x > 7) return 7; return x; }}
    work pop 2 push 1 {{ int a = pop(); int b = pop(); int q = 7; {body} push(q); }} }}"
    );
    let place = Place::new().with("a.str", format!("{text} int->int pipeline Main {{ add F; }}"));
    let dumped = place.run(&["run", "a.str", "--dump-after", "prove-checks"]).ends(0).text().to_string();
    let input: Vec<u8> = (0..400).flat_map(|i: i32| (i * 37 % 23 + 1).to_le_bytes()).collect();
    let by = |how: &[&str]| place.run_with(&[&["run", "a.str"], how].concat(), &input);
    let (one, other) = (by(&["--interpret"]), by(&["--back-end", "jit"]));
    assert_eq!((&one.stdout, one.code), (&other.stdout, other.code), "{body}");
    dumped.matches("check ").count()
}

/// Divisors that have been compared with 0, by conditions of all kinds, and indices behind `&&`, need no check; what has been written since does.
#[test]
fn what_has_been_compared_needs_none() {
    for proved in [
        "if (b != 0) q = a / b;",
        "if (b == 0) q = 1; else q = a % b;",
        "q = b == 0 ? 0 : a / b + a % b;",
        "if (b % 5 != 0) q = a / (b % 5) + a % (b % 5);",
        "while (b != 0) { int r = a % b; a = b; b = r; } q = a;",
        "if (b != 0 && a / b > 1) q = a / b;",
        "boolean some = b != 0; if (some) q = a / b;",
        "boolean none = !(b != 0); a++; if (!none) q = a / b;",
        "if (a >= 0 && a < 8 && t[a] > 3) q = t[a];",
        "if (b != 0) for (int i = 0; i < 4; i++) q += a / b + i;",
    ] {
        assert_eq!(left(proved), 0, "{proved}");
    }
    for (open, n) in [
        ("q = a / b;", 1),
        // the second is the first's
        ("q = a / b; q += a % b;", 1),
        ("if (b != 0) { b = a - b; q = a / b; }", 1),
        ("if (b != 0) { b += a & 1; q = a / b; }", 1),
        ("if (b == 0) q = 1; q += a / b;", 1),
        ("if (b != 1) q = a / b;", 1),
        ("boolean some = b != 0; b = a; if (some) q = a / b;", 1),
        ("boolean some = b != 0; some = some || a > 3; if (some) q = a / b;", 1),
        ("boolean some = b != 0; if (a > 5) some = true; if (some) q = a / b;", 1),
        ("boolean some = b != 0; if (some) { b = a; some = a > 3; } if (some) q = a / b;", 1),
        ("if (b != 0) for (int i = 0; i < 4; i++) { q += a / b; b = q & 3; }", 1),
        // of its first turn, which is split off, and of the others
        ("for (int i = 0; i < 4; i++) { if (i != 0) q += a / i; q += a / (i - 2 * b); }", 2),
        ("if (a >= 0 && t[a & 15] > 3) q = 1;", 1),
        ("if (a < 8 && a != 0) q = t[a];", 1),
    ] {
        assert_eq!(left(open), n, "{open}");
    }
}

/// What a loop is left with, by its condition, a `break`, or from the middle of a turn by a `continue`; and what a function returns early.
#[test]
fn what_is_known_behind_jumps() {
    for proved in [
        "int n = 0; while (a > 3 && n < 7) { a = a / 2; n++; } q = t[n];",
        "int i; for (i = 0; i < 7; i++) if (b > i * 3) break; q = t[i];",
        "int n = 0; for (int i = 0; i < 9; i++) { if (i == b) continue; n = i & 7; } q = t[n];",
        "int n = 2; for (int i = 0; i < 3; i++) { for (int k = 0; k < 5; k++) { n = k; if (b == i * k) break; n = k + 2; } } q = t[n];",
        "q = t[clip(a)] + t[clip(a - b)];",
        "int n = 8; do { n--; } while (n > 0 && b > n); q = t[n];",
    ] {
        assert_eq!(left(proved), 0, "{proved}");
    }
    for open in [
        "int n = 0; while (a > 3) { a = a / 2; n++; } q = t[n];",
        "int i; for (i = 0; i < 8; i++) if (b > 30 + i) break; q = t[i];",
        "int n = 9; for (int i = 0; i < 8; i++) { if (b > i + 20) break; n = i; } q = t[n];",
        "int n = 3; while (a > 2) { a--; n = 12; if (b > 4) break; n = 2; } q = t[n];",
        "int n = 1; for (int i = 0; i < 6; i++) { n = 20; if (i == b) continue; n = 2; } q = t[n];",
        "int n = 1; for (int i = 0; i < 3; i++) { int k = 0; while (k < 9) { n = k; if (b == k) break; k++; } } q = t[n];",
    ] {
        assert_eq!(left(open), 1, "{open}");
    }
}
