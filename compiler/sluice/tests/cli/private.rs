//! Fields in which nothing goes from one firing to the next: native code has none, and nothing else can be told of it.

use crate::fusing::{ints, same};
use crate::support::*;

/// Scratch arrays, scalars, structs and complex numbers; a first firing that fills them in another way; a function that does; what is written at places that the data say.
const SCRATCH: &str = "struct Pair { int least; int most; }
int->int filter Reverse(int n) { int[n] window; work pop n push n {
    for (int i = 0; i < n; i++) window[i] = pop();
    for (int i = 0; i < n; i++) push(window[n - 1 - i]);
} }
int->int filter Spread { Pair p; int x; work pop 4 push 2 {
    p.least = peek(0); p.most = peek(0);
    for (int i = 0; i < 4; i++) { x = pop(); if (x < p.least) p.least = x; if (x > p.most) p.most = x; }
    push(p.least); push(p.most - p.least);
} }
int->int filter Count { int[8] seen; int[2][4] table; work pop 8 push 8 {
    for (int i = 0; i < 8; i++) seen[i] = 0;
    for (int i = 0; i < 8; i++) seen[pop() & 7] += i + 1;
    for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++) table[i][j] = seen[4 * i + j];
    for (int j = 0; j < 4; j++) for (int i = 0; i < 2; i++) push(table[i][j]);
} }
int->int filter Turned { complex z; int[3] last;
    void fill() { for (int i = 0; i < 3; i++) last[i] = peek(i) % 100; }
    prework pop 1 push 1 peek 3 { fill(); push(last[0] - last[2]); pop(); }
    work pop 1 push 1 peek 3 { fill(); z = last[0] + last[1] * 2; z = z * z; push((int) z.real + last[2]); pop(); }
}
int->int pipeline Main { add Reverse(5); add Spread; add Count; add Turned; add Reverse(3); }
";

/// Nodes with state of what native code is made of.
fn stateful(place: &Place, arguments: &[&str]) -> usize {
    let done = place.run(&[&["run", "a.str", "--dump-after", "private-state"], arguments].concat()).ends(0);
    done.text().lines().filter(|l| l.starts_with('n') && l.split(' ').any(|w| w == "stateful")).count()
}

#[test]
fn nothing_else_can_be_told() {
    same(SCRATCH, ints, &[0, 7, 8, 63, 1000, 20_011]);
    let place = Place::new().with("a.str", SCRATCH);
    let bytes = ints(5000);
    let by = |arguments: &[&str]| place.run_with(&[&["run", "a.str"], arguments].concat(), &bytes).ends(0).stdout;
    let reference = by(&["--interpret"]);
    for way in [
        &["--back-end", "jit"][..],
        &["-O0", "--privatise=false", "--back-end", "cc"],
        &["--privatise=false", "--back-end", "jit"],
        &["-O0", "--threads", "3", "--threads-batch", "2"],
        &["-O0", "--schedule", "minimum-latency", "--back-end", "cc"],
        &["-O1", "--unchecked", "--back-end", "cc"],
    ] {
        assert!(by(way) == reference, "{way:?}");
    }
    let emulated = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--sms", "2"];
    assert!(place.run_with(&emulated, &bytes).ends(0).stdout == reference);
    // streams in turn know the fields by number
    let three: Vec<u8> = bytes.chunks(4).flat_map(|x| [x, x, x].concat()).collect();
    let slow =
        |more: &[&str]| place.run_with(&[&["run", "a.str", "--streams", "3"], more].concat(), &three).ends(0).stdout;
    let turned = slow(&["--interpret"]);
    assert!(!turned.is_empty() && slow(&["--back-end", "cc"]) == turned);
}

#[test]
fn native_code_has_no_such_state() {
    let place = Place::new().with("a.str", SCRATCH);
    assert_eq!((stateful(&place, &[]), stateful(&place, &["--privatise=false"])), (0, 5));
    // what a person sees is the program as it is written
    let rates = place.run(&["rates", "a.str"]).ends(0);
    assert_eq!(
        rates.text().lines().filter(|l| l.contains(" filter ") && l.contains(" state ")).count(),
        5,
        "{}",
        rates.text()
    );
    // several threads take turns at such filters, lanes run them
    let said = |arguments: &[&str]| {
        let all = ["run", "a.str", "--threads", "4", "--threads-report", "--back-end", "cc"];
        place.run_with(&[&all, arguments].concat(), &ints(4000)).ends(0).stderr
    };
    let (with, without) = (said(&[]), said(&["--privatise=false"]));
    assert!(with.contains(": threads ") && !without.contains(": threads "), "{with}{without}");
    let one = "int->int filter Scan { int[8] s; work pop 8 push 8 {
        for (int i = 0; i < 8; i++) s[i] = pop() * 3 + 1;
        for (int i = 1; i < 8; i++) s[i] += s[i - 1] * 5;
        for (int i = 0; i < 8; i++) push(s[i]);
    } }";
    let place = Place::new().with("a.str", one);
    let lanes = |arguments: &[&str]| {
        let all = ["run", "a.str", "--back-end", "cc", "--dump-after", "emit-c"];
        place.run(&[&all, arguments].concat()).ends(0).text().contains("while (n >= SL_LANES)")
    };
    assert!(lanes(&[]) && !lanes(&["--privatise=false"]));
    // a project says so, too
    let place = Place::new()
        .with("a.str", one)
        .with("sluice.toml", "[program]\nname = \"scan\"\nsources = [\"a.str\"]\n[build]\nprivatise = false\n");
    let dump = |more: &[&str]| {
        let done = place.run(&[&["run", "--dump-after", "private-state"], more].concat()).ends(0);
        done.text().contains(" stateful")
    };
    assert!(dump(&[]) && !dump(&["--privatise"]));
}

#[test]
fn state_stays() {
    for (what, filter) in [
        ("read before", "{ int s; work pop 1 push 1 { int x = pop(); push(x + s); s = x; } }"),
        ("perhaps not written", "{ int s; work pop 1 push 1 { int x = pop(); if (x > 3) s = x; push(s); } }"),
        (
            "one element is not",
            "{ int[4] a; work pop 4 push 4 { for (int i = 1; i < 4; i++) a[i] = pop(); push(pop()); for (int i = 0; i < 3; i++) push(a[i]); } }",
        ),
        (
            "the first firing reads it",
            "{ int s = 5; prework pop 1 push 1 { push(pop() + s); } work pop 1 push 1 { s = pop(); push(s * 2); } }",
        ),
        (
            "too large",
            "{ int[5000] a; work pop 1 push 1 { for (int i = 0; i < 5000; i++) a[i] = peek(0); push(a[pop() & 1023]); } }",
        ),
    ] {
        let place = Place::new().with("a.str", format!("int->int filter F {filter}"));
        assert_eq!(stateful(&place, &[]), 1, "{what}");
        let bytes = ints(100);
        let by = |way: &[&str]| place.run_with(&[&["run", "a.str"], way].concat(), &bytes).ends(0).stdout;
        assert!(by(&["--back-end", "cc"]) == by(&["--interpret"]), "{what}");
    }
    // a handler comes between firings: what it leaves there is for the next one, and what it reads is of the last
    let mail = "void->int filter Source(portal<Gain> p) { int n; work push 1 { n++; p.set(n) [1:1]; push(n); } }
int->int filter Gain { int g; int x; handler set(int by) { g = by + x; } work pop 1 push 1 { x = pop(); push(x * g); } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { portal<Gain> p; add Source(p); add Gain() to p; add Show; }
";
    let place = Place::new().with("a.str", mail);
    assert_eq!(stateful(&place, &[]), 2);
    let by = |way: &[&str]| place.run(&[&["run", "a.str", "-n", "50"], way].concat()).ends(0).stdout;
    assert!(by(&["--back-end", "cc"]) == by(&["--interpret"]) && by(&["--back-end", "jit"]) == by(&["--interpret"]));
}

#[test]
fn a_fault_is_the_same() {
    let program = "int->int filter At { int[4] a; int s; work pop 4 push 1 {
        s = 0;
        for (int i = 0; i < 4; i++) { a[i] = pop(); s += a[i]; }
        push(a[s]);
    } }";
    let place = Place::new().with("a.str", program);
    let mut bytes: Vec<u8> = (0..400).flat_map(|_| 0i32.to_le_bytes()).collect();
    bytes.extend((0..8).flat_map(|i: i32| i.to_le_bytes()));
    let fails = |way: &[&str]| place.run_with(&[&["run", "a.str"], way].concat(), &bytes);
    let want = fails(&["--interpret"]);
    assert!(want.code != 0 && want.stderr.contains("6"), "{}", want.stderr);
    for way in [&["--back-end", "cc"][..], &["--back-end", "jit"], &["--threads", "2"], &["--privatise=false"]] {
        let done = fails(way);
        assert_eq!((done.code, &done.stderr, &done.stdout), (want.code, &want.stderr, &want.stdout), "{way:?}");
    }
}

#[test]
fn branches_without_state_need_not_be_one_filter() {
    let program = "int->int filter Pair { int[2] a; work pop 2 push 2 { a[0] = pop(); a[1] = pop(); push(a[1]); push(a[0] - a[1]); } }
int->int splitjoin Main { split roundrobin(2); for (int i = 0; i < 4; i++) add Pair; join roundrobin(2); }";
    let place = Place::new().with("a.str", program);
    let folded = |more: &[&str]| {
        place.run(&[&["run", "a.str", "--dump-after", "fold-branches"], more].concat()).ends(0).text().contains("x4")
    };
    assert!(!folded(&[]) && folded(&["--privatise=false"]));
    same(program, ints, &[9, 1000]);
}
