//! Libraries whose items go in and out at once: whatever the pieces, the calls and the places in memory, the same output.

use crate::support::*;
use std::process::Command;

/// All of a library's user: two instances, one of which only pushes and pulls.
const USER: &str = include_str!("process.c");

/// What the user of the library of a program of `taken` to `given` says, of pieces of each size.
pub fn used<const N: usize>(program: &str, taken: &str, given: &str, pieces: [&str; N]) -> [String; N] {
    let place = Place::new().with("p.str", program).with("user.c", USER);
    place.run(&["build", "--lib", "p.str", "-o", "libp.so"]).ends(0);
    let run = |program: &str, arguments: &[&str]| {
        let out = Command::new(program).args(arguments).current_dir(place.path(".")).output();
        let out = out.unwrap_or_else(|e| panic!("{program}: {e}"));
        assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let types = [format!("-DTAKEN={taken}"), format!("-DGIVEN={given}")];
    let flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "user.c", "-L.", "-lp", "-Wl,-rpath,.", "-o", "user"];
    run("cc", &[&types[0], &types[1]].into_iter().map(String::as_str).chain(flags).collect::<Vec<_>>());
    pieces.map(|size| run("./user", &[size]))
}

/// Pieces of steady states are made whole: what comes behind them is not copied.
#[test]
fn few_items_are_copied_whatever_the_pieces() {
    const COUNT: &str = r#"
#include "p.h"
#include <stdio.h>
#include <stdlib.h>
static size_t copied;
static void *copy(void *to, const void *from, size_t n) {
    volatile char *t = to;
    const char *f = from;
    copied += n;
    if ((char *)to < f) for (size_t i = 0; i < n; i++) t[i] = f[i];
    else for (size_t i = n; i-- > 0;) t[i] = f[i];
    return to;
}
void *memcpy(void *to, const void *from, size_t n) { return copy(to, from, n); }
void *memmove(void *to, const void *from, size_t n) { return copy(to, from, n); }
static int32_t in[10000], out[10000];
int main(void) {
    p *one = p_create();
    size_t all = 0;
    for (int turn = 0; turn < 50; turn++) {
        size_t n = 10000;
        p_process(one, in, &n, out, 10000);
        all += n * sizeof *in;
    }
    p_destroy(one);
    printf("%zu %zu\n", copied, all);
    return 0;
}
"#;
    // 10,000 is no multiple of 7, nor of 49
    let sums = "int->int filter Sum { work pop 7 push 1 { int x = 0; for (int i = 0; i < 7; i++) x += pop(); push(x); } } int->int pipeline Main { add Sum; ";
    for program in [format!("{sums} }}"), format!("{sums} add Sum; }}")] {
        let place = Place::new().with("p.str", &program).with("user.c", COUNT);
        place.run(&["build", "--lib", "p.str", "-o", "libp.so"]).ends(0);
        let cc = ["-O1", "-fno-builtin", "user.c", "-L.", "-lp", "-Wl,-rpath,.", "-o", "user"];
        assert!(Command::new("cc").args(cc).current_dir(place.path(".")).status().unwrap().success());
        let out = Command::new("./user").current_dir(place.path(".")).output().unwrap();
        let told = String::from_utf8(out.stdout).unwrap();
        let numbers: Vec<u64> = told.split_whitespace().map(|n| n.parse().expect("a number")).collect();
        let [copied, all] = numbers[..] else { panic!("{told}") };
        assert!(all == 50 * 10_000 * 4 && copied < all / 2, "{copied} bytes of {all} are copied: {program}");
    }
}

/// The library gives the same, whatever the size of the pieces that it is given, and with either way to use it.
pub fn same_in_pieces<const N: usize>(program: &str, taken: &str, given: &str, pieces: [&str; N]) {
    for (told, size) in used(program, taken, given, pieces).iter().zip(pieces) {
        assert_eq!(told, "the same\n", "{program} in pieces of up to {size}");
    }
}

/// Where items are numbers, the program takes them from the user's memory, and asks where its output shall be.
#[test]
fn nothing_is_copied_in_between() {
    let gain =
        "float->float filter Gain { work pop 1 push 1 { push(2 * pop()); } } float->float pipeline Main { add Gain; }";
    let place = Place::new().with("a.str", gain);
    let text = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0).text().to_string();
    let (_, steady) = text.split_once("static void sl_steady_0(").expect("there is one");
    let steady = steady.split_once("\n}\n").expect("it ends").0;
    assert!(steady.contains("sl_take(") && steady.contains("sl_place(") && !steady.contains("memcpy("), "{steady}");
}

/// Items in many shapes: those that are used where they lie, and those that are copied.
#[test]
fn items_go_in_and_out_at_once() {
    const SUMS: &str = "float->float filter Sums { work pop 2 push 3 peek 5 { float a = pop(); push(a); push(peek(2)); push(a + pop()); } }
float->float pipeline Main { add Sums; }";
    const STATE: &str =
        "int->int filter Total { int t; work pop 3 push 1 { t = 7 * t + pop() - pop() * pop(); push(t); } }
int->int filter Twice { work pop 1 push 2 { int x = pop(); push(x); push(-x); } }
int->int pipeline Main { add Total; add Twice; }";
    const DOUBLES: &str = "double->float filter Half { work pop 1 push 1 { push((float)(pop() / 2)); } }
double->float pipeline Main { add Half; }";
    const BITS: &str = "bit->int filter Byte { work pop 8 push 1 { int x = 0; for (int i = 0; i < 8; i++) x = 2 * x + (int)pop(); push(x); } }
bit->int pipeline Main { add Byte; }";
    const RARE: &str = "int->int filter Last { work pop 1000 push 1 { push(peek(999) + peek(0)); for (int i = 0; i < 1000; i++) pop(); } }
int->int pipeline Main { add Last; }";
    for (program, taken, given) in [
        (SUMS, "float", "float"),
        (STATE, "int32_t", "int32_t"),
        (DOUBLES, "double", "float"),
        (BITS, "uint8_t", "int32_t"),
        (RARE, "int32_t", "int32_t"),
    ] {
        same_in_pieces(program, taken, given, ["7", "3000", "70000"]);
    }
}

/// Filters that look ahead read from the user's memory, but for a batch's first firings: up to its last item, and no further.
#[test]
fn what_looks_ahead_takes_its_items_where_they_lie() {
    let fir = |taps: usize, pop: usize, ty: &str| {
        let body = format!("{ty} s = 0; for (int i = 0; i < {taps}; i++) s += peek(i) * (i % 7 - 2); push(s);");
        format!(
            "{ty}->{ty} filter Fir{taps} {{ work peek {taps} pop {pop} push 1 {{ {body} for (int i = 0; i < {pop}; i++) pop(); }} }}\n"
        )
    };
    let banks = "splitjoin Main { split duplicate; add Fir64; add Fir9; join roundrobin(1, 1); }";
    let sum = "int->int filter Sum { int s; work peek 17 pop 1 push 1 { s = 3 * s + peek(16) - pop(); push(s); } }\n";
    for (program, straight) in [
        (format!("{}float->float pipeline Main {{ add Fir64; }}", fir(64, 1, "float")), true),
        (format!("{}float->float pipeline Main {{ add Fir60; }}", fir(60, 5, "float")), true),
        (format!("{}float->float pipeline Main {{ add Fir512; }}", fir(512, 3, "float")), true),
        (format!("{sum}int->int pipeline Main {{ add Sum; }}"), true),
        (format!("{}{}float->float {banks}", fir(64, 1, "float"), fir(9, 1, "float")), false),
    ] {
        let place = Place::new().with("a.str", &program);
        let taken = |fuse: &str| {
            let text = place.run(&["build", "--emit", "c", fuse, "a.str", "-o", "-"]).ends(0).text().to_string();
            text.contains("k >= ") && text.contains(" = sl_take(")
        };
        assert!(taken("--fuse"), "{program}");
        // two that look at the same items, and are not one filter, have them from a splitter
        assert_eq!(taken("--fuse=false"), straight, "{program}");
        let ty = &program[..program.find("->").expect("a type")].replace("int", "int32_t");
        same_in_pieces(&program, ty, ty, ["7", "3000", "70000"]);
    }
}

/// What comes before a fault comes out, also where the items of the batch that failed lie in the user's memory.
#[test]
fn a_fault_within_what_is_lent() {
    const FAULT: &str = "int->int filter Inverse { work pop 1 push 1 { push(1000000 / (pop() - 20000)); } }
int->int pipeline Main { add Inverse; }";
    const AHEAD: &str =
        "int->int filter Inverse { work peek 9 pop 1 push 1 { push(1000000 / (peek(8) - 20000)); pop(); } }
int->int pipeline Main { add Inverse; }";
    for (program, items) in [(FAULT, 20000), (AHEAD, 19992)] {
        for told in used(program, "int32_t", "int32_t", ["7", "3000", "70000"]) {
            assert!(told.starts_with(&format!("failed after {items} items: Main.Inverse")), "{told}");
            assert!(told.contains(&format!("firing {}: division by zero", items + 1)), "{told}");
        }
    }
}

/// From the table that the code of a program has: steady states of a batch, those of one run of the schedule, those that a run begins with, and with how few items it waits.
fn told(text: &str) -> [u64; 4] {
    let place = Place::new().with("a.str", text);
    let c = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0).text().to_string();
    let (before, _) = c.split_once(", &sl_abi").expect("there is a table");
    let mut numbers = before.rsplit(", ").map(|n| n.parse().expect("a number"));
    let mut last = [(); 4].map(|()| numbers.next().expect("four of them"));
    last.reverse();
    last
}

/// A run begins with many steady states where these are quick for certain, and with one run of the schedule where they may take as long as they like.
#[test]
fn a_run_begins_in_vectors() {
    let begins = |work: &str| {
        let text = format!(
            "int->int filter F {{ work pop 1 push 1 {{ int x = pop(); {work} push(x); }} }} int->int pipeline Main {{ add F; }}"
        );
        let [batch, unit, begin, _] = told(&text);
        assert!(unit <= begin && begin <= batch && begin % unit == 0, "{batch}, {unit}, {begin}");
        begin
    };
    assert!(begins("x += 3;") >= 256);
    let long = begins("for (int i = 0; i < 5000; i++) x = x * 5 + 3;");
    assert!((1..64).contains(&long), "{long}");
    assert_eq!(begins("while (x > 0) x = x * 5 + 3;"), 1);
    assert_eq!(begins("for (int i = 0; i < x; i++) x -= 3;"), 1);
}

/// Items of which nothing would be seen wait, so that what comes next runs fast; what would be seen of an item is seen at once.
#[test]
fn few_items_wait() {
    let filters = [
        ("More", "pop 1 push 1 { push(pop() + 1); }"),
        ("Fifth", "pop 5 push 1 { push(peek(4)); for (int i = 0; i < 5; i++) pop(); }"),
        ("Tells", "pop 2 push 2 { println(peek(0)); push(pop()); push(pop()); }"),
        ("Looks", "peek 8 pop 1 push 1 { push(pop() + peek(6)); }"),
    ];
    let main = |what: &str| {
        let used = filters.iter().filter(|(name, _)| what.contains(&format!("add {name}")));
        let texts: String = used.map(|(name, body)| format!("int->int filter {name} {{ work {body} }}\n")).collect();
        format!("{texts}int->int {what}")
    };
    for (what, items) in [
        ("pipeline Main { add More; }", 1),
        ("pipeline Main { add Fifth; }", 5),
        ("pipeline Main { add Fifth; add Fifth; }", 25),
        ("pipeline Main { add Fifth; add Looks; }", 5),
        ("pipeline Main { add Tells; add Fifth; }", 2),
        // joiners wait for a whole round
        ("splitjoin Main { split duplicate; add More; add Fifth; join roundrobin(5, 1); }", 5),
        ("splitjoin Main { split roundrobin(3, 10); add More; add Fifth; join roundrobin(3, 2); }", 13),
        // a source of its own goes on by itself
        (
            "splitjoin Main { split roundrobin(1, 0); add More; add void->int filter { work push 1 { push(1); } }; join roundrobin(1); }",
            0,
        ),
    ] {
        assert_eq!(told(&main(what))[3], items, "{what}");
    }
    for what in [
        "pipeline Main { add Fifth; add Looks; }",
        "splitjoin Main { split duplicate; add More; add Fifth; join roundrobin(5, 1); }",
    ] {
        same_in_pieces(&main(what), "int32_t", "int32_t", ["3", "64", "3000"]);
    }
}

/// Names that C, C++ or the system's headers have for something else make no library; others do, in C and in C++, beside those headers.
#[test]
fn names_that_are_taken() {
    let place = Place::new().with("a.str", TWICE);
    let words = ["int", "main", "class", "bool", "true", "complex"];
    let declared = [
        "link", "read", "sin", "log", "time", "exit", "abs", "index", "clock", "signal", "pipe", "gamma", "malloc",
        "free", "errno", "NULL", "FILE", "stdin", "y0", "timer",
    ];
    let all = words.iter().map(|n| (n, "not an identifier of C and C++"));
    for (name, says) in all.chain(declared.iter().map(|n| (n, "the system's own headers have such names"))) {
        place.run(&["build", "a.str", "--lib", "-o", &format!("lib{name}.so")]).ends(2).says(says);
    }
    assert_eq!(place.files(), ["a.str"]);
    let user = "#include <complex.h>\n#include <math.h>\n#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n#include \"amp.h\"\n";
    let place = place.with("user.c", user).with("user.cc", "#include \"amp.h\"\n");
    place.run(&["build", "a.str", "--lib", "-o", "libamp.so"]).ends(0);
    for (compiler, file) in [("cc", "user.c"), ("c++", "user.cc")] {
        let mut command = Command::new(compiler);
        let done = command.args(["-fsyntax-only", "-Wall", "-Werror", file]).current_dir(place.path(".")).output();
        let done = done.unwrap_or_else(|e| panic!("{compiler}: {e}"));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// A library and its header are two files.
#[test]
fn a_library_is_not_its_header() {
    let place = Place::new().with("a.str", TWICE);
    std::os::unix::fs::symlink("amp.h", place.path("libamp.so")).unwrap();
    for output in ["amp.h", "./amp.h", "libamp.so"] {
        place.run(&["build", "a.str", "--lib", "-o", output]).ends(2).says("would be one file");
    }
    assert_eq!(place.files(), ["a.str", "libamp.so"]);
}
