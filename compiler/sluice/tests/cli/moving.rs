//! Items that are only moved: filters that do nothing else, duplicates that are not copied, buffers in the same memory, tables looked up in registers. Nothing of it can be told.

use super::fusing::{ints, nodes, same};
use crate::support::*;
use crate::windows::at_all_widths;

/// Transpositions, repetitions and permutations before, between and behind what computes, and joiners of what has only been moved.
const MOVERS: &str = "static { int[12] Mixed = {7, 3, 3, 11, 0, 1, 5, 2, 8, 10, 6, 4}; }
int->int filter Turn(int rows, int columns) { work pop rows * columns push rows * columns {
    for (int c = 0; c < columns; c++) for (int r = 0; r < rows; r++) push(peek(r * columns + c));
    for (int i = 0; i < rows * columns; i++) pop();
} }
int->int filter Times(int n, int times) { work pop n push n * times {
    for (int t = 0; t < times; t++) for (int i = 0; i < n; i++) push(peek(i));
    for (int i = 0; i < n; i++) pop();
} }
int->int filter Order { work pop 12 push 12 { for (int i = 0; i < 12; i++) push(peek(Mixed[i])); for (int i = 0; i < 12; i++) pop(); } }
int->int filter Back(int n) { work pop n push n { int[n] all; for (int i = 0; i < n; i++) all[n - 1 - i] = pop(); for (int i = 0; i < n; i++) push(all[i]); } }
int->int filter Weigh(int n) { work pop n push 2 { int s = 1; int d = 0;
    for (int i = 0; i < n; i++) { s = s * 5 + (i + 1) * pop(); d = d * 3 - s; }
    push(s); push(d);
} }
int->int splitjoin Blocks(int n) { split roundrobin(n); for (int i = 0; i < 3; i++) add Identity<int>; join roundrobin(2 * n); }
int->int pipeline Main {
    add Turn(4, 6);
    add Blocks(2);
    add Times(12, 3);
    add splitjoin { split roundrobin(12);
        add pipeline { add Turn(3, 4); add Weigh(12); }
        add pipeline { add Weigh(6); add Back(2); }
        add Order;
        join roundrobin(2, 4, 12);
    }
    add Back(18);
    add splitjoin { split roundrobin(9, 27); add Turn(3, 3); add pipeline { add Weigh(3); add Turn(9, 2); } join roundrobin(1, 2); }
    add Turn(3, 9);
}
";

/// Positions that the data decides behind what moves; more items than are seen through.
const FAR: &str = "int->int filter Turn(int rows, int columns) { work pop rows * columns push rows * columns {
    for (int c = 0; c < columns; c++) for (int r = 0; r < rows; r++) push(peek(r * columns + c));
    for (int i = 0; i < rows * columns; i++) pop();
} }
int->int filter At(int n) { work pop n push 1 { int s = 0; for (int i = 0; i < 3; i++) s = 3 * s + peek(peek(i) & (n - 1)); push(s); for (int i = 0; i < n; i++) pop(); } }
int->int filter Sum(int n) { work pop n push 1 { int s = 0; for (int i = 0; i < n; i++) s = 3 * s + pop(); push(s); } }
int->int pipeline Main {
    add Turn(2, 4);
    add At(8);
    add Turn(64, 48);
    add Sum(6);
    add Turn(32, 64);
    add Sum(2);
    add Turn(2, 2);
}
";

/// Tables of all lengths, of bytes and of more, by rows.
const TABLES: &str = "int->int filter Bytes(int n) { int[n] t; init { for (int i = 0; i < n; i++) t[i] = (i * 37 + n) & 255; }
    work pop 1 push 1 { int x = pop(); push(x + t[x & (n - 1)]); } }
int->int filter Words(int n) { int[n] t; init { for (int i = 0; i < n; i++) t[i] = i * 77773 - 99999; }
    work pop 1 push 1 { int x = pop(); push(x ^ t[(x >> 1) & (n - 1)]); } }
int->int filter Odd(int n) { int[n] t; init { for (int i = 0; i < n; i++) t[i] = i * i; }
    work pop 1 push 1 { int x = pop(); push(x - t[(x & 255) * n / 256]); } }
int->int filter Rows { int[4][64] t; init { for (int r = 0; r < 4; r++) for (int i = 0; i < 64; i++) t[r][i] = (r * 64 + i * 3) % 256; }
    work pop 1 push 1 { int x = pop(); for (int r = 0; r < 4; r++) x = 5 * x + t[r][x & 63]; push(x); } }
int->int filter Reals(int n) { float[n] t; init { for (int i = 0; i < n; i++) t[i] = i * 0.25 - 3; }
    work pop 1 push 1 { int x = pop(); push(x + (int)(8 * t[x & (n - 1)])); } }
int->int pipeline Main {
    for (int n = 8; n <= 512; n = n * 2) { add Bytes(n); add Words(n); add Reals(n); }
    add Odd(100); add Odd(129); add Odd(200);
    add Rows;
}
";

/// Divisions by numbers that are known, of all ints; the first of them are the ends.
const PARTS: &str = "int->int filter Part(int n) { work pop 1 push 2 { int x = pop(); push(x / n); push(x % n); } }
int->int filter Wide { work pop 1 push 3 { int x = pop(); push(x * 8589937); push(-2147483647 - 1 + x); push(2147483647 - x); } }
int->int pipeline Main {
    add Wide;
    add splitjoin { split duplicate; add Part(1); add Part(2); add Part(7); add Part(8); add Part(1000); add Part(2147483647); add Part(-1); add Part(-6); join roundrobin(2); }
}
";

/// Loops that a delay lets turn several times at once, one of them seldom enough to be asked after each turn.
const DELAYS: &str = "int->int filter Add { work pop 2 push 1 { push(pop() + pop()); } }
int->int filter Half { int s; work pop 1 push 1 { s = s / 2 + pop(); push(s / 3); } }
int->int feedbackloop Echo(int n) {
    join roundrobin(1);
    body Add;
    loop Half;
    split duplicate;
    for (int i = 0; i < n; i++) enqueue i;
}
int->int pipeline Main { add Echo(100); add Echo(3); add Echo(700); }
";

/// Feedback loops whose filters stand between joiners and splitters: whole rounds of several items and several rounds, with state, the one without the other, too few items waiting, and two
/// of a shape side by side.
const WOVEN: &str = "int->int filter Mix { int s; work pop 3 push 3 { int x = pop(); int a = pop(); int b = pop(); s = s / 2 + x; push(a - 3 * x); push(s ^ b); push(x + b); } }
int->int filter Twice { work pop 4 push 4 { int x = pop(); int a = pop(); int y = pop(); int b = pop(); push(y - b); push(x + a / 2); push(a); push(x + y); } }
int->int filter Add { work pop 2 push 1 { push(pop() + pop()); } }
int->int filter Half(int k) { int s; work pop 1 push 1 { s = s / 2 + pop(); push(s / k); } }
int->int filter Pair { work pop 1 push 2 { int x = pop(); push(x / 3); push(2 * x); } }
int->int feedbackloop Three(int n) { join roundrobin(1, 2); body Mix; split roundrobin(1, 2); for (int i = 0; i < 2 * n; i++) enqueue i; }
int->int feedbackloop Rounds(int n) { join roundrobin(1, 1); body Twice; loop Half(2); split roundrobin(1, 1); for (int i = 0; i < n; i++) enqueue i; }
int->int feedbackloop Echo(int n, int k) { join roundrobin(1); body Add; loop Half(k); split duplicate; for (int i = 0; i < n; i++) enqueue i; }
int->int feedbackloop Split(int n) { join roundrobin(1); body pipeline { add Add; add Half(3); add Pair; } split roundrobin(1); for (int i = 0; i < n; i++) enqueue i; }
int->int pipeline Main {
    add Three(40); add Three(3); add Rounds(300); add Split(90);
    add splitjoin { split duplicate; add Echo(100, 3); add Echo(170, 5); join roundrobin(1); }
    add Add;
}
";

/// The same outside of loops: between loops side by side stand filters with a joiner before them, a splitter behind them, or both, by one round or several in a firing. The buffers before and
/// behind them may not be the same memory then.
const WOVEN_BETWEEN: &str = "int->int splitjoin Echoes(int a, int b) { split roundrobin(a, b); add Echo(100, 3); add Echo(170, 5); join roundrobin(a, b); }
int->int filter Long { int s; work pop 40 push 40 { for (int i = 0; i < 40; i++) { s = 3 * s + peek(39 - i); push(s); } for (int i = 0; i < 40; i++) pop(); } }
int->int pipeline Main {
    add Echoes(1, 1); add Twice; add Echoes(1, 1); add Add; add Three(40); add Mix; add Echoes(1, 2); add Long; add Echoes(1, 3); add Twice; add Echoes(2, 2);
}
";

/// What duplicates and identities hand on, to filters, joiners and a writer, at several rates.
const SHARED: &str = "int->int filter Less(int n) { work pop n push 1 { int s = 0; for (int i = 0; i < n; i++) s = 7 * s + pop(); push(s); } }
int->int filter More(int n) { int last; work pop 1 push n { last = 5 * last + pop(); for (int i = 0; i < n; i++) push(last - i); } }
int->int filter Both { work pop 2 push 2 peek 3 { int a = pop(); push(a + peek(1)); push(a - pop()); } }
int->int splitjoin Again { split duplicate; add Identity<int>; add Less(1); add pipeline { add More(2); add Less(2); } join roundrobin(1); }
int->int pipeline Main {
    add More(3);
    add Again;
    add splitjoin { split duplicate;
        add Identity<int>;
        add pipeline { add Less(3); add Again; }
        add splitjoin { split duplicate; add Both; add Identity<int>; add pipeline { add Identity<int>; add Less(1); } join roundrobin(1); }
        join roundrobin(1, 1, 3);
    }
    add Less(2);
}
";

/// Windows of several lengths behind a duplicate splitter, some behind delays: of the same items as wait elsewhere, and of others. Delays of -0 and 0 are not the same.
const WINDOWS: &str = "int->int filter Window(int n, int step) { int s; work peek n pop step push 1 { s = 3 * s + peek(0) - 5 * peek(n - 1); push(s); for (int i = 0; i < step; i++) pop(); } }
int->int filter Wait(int n, int first) { prework push n { for (int i = 0; i < n; i++) push(first); } work pop 1 push 1 { push(pop()); } }
int->int pipeline Late(int n, int first, int window) { add Wait(n, first); add Window(window, 1); }
int->float filter Real { work pop 1 push 1 { push(pop() * 0.5f); } }
float->float filter Zeroes(float zero) { prework push 3 { for (int i = 0; i < 3; i++) push(zero); } work pop 1 push 1 { push(pop()); } }
float->int filter Signs { work peek 4 pop 1 push 1 { int s = 0; for (int i = 0; i < 4; i++) s = 2 * s + (1 / peek(i) < 0 ? 1 : 0); push(s); pop(); } }
float->int pipeline Sign(float zero) { add Zeroes(zero); add Signs; }
int->int splitjoin Main { split duplicate;
    add splitjoin { split duplicate;
        add Window(9, 1); add Window(5, 1); add Window(9, 1); add Window(2, 1); add Window(1, 1); add Identity<int>;
        add Late(8, 7, 9); add Late(8, 7, 3); add Late(8, 6, 9); add Late(3, 7, 4); add Late(20, 6, 2);
        join roundrobin; };
    add splitjoin { split duplicate; add Window(7, 3); add Window(6, 3); join roundrobin; };
    add pipeline { add Real; add splitjoin { split duplicate; add Sign(0); add Sign(-0.0f); add Sign(0); join roundrobin; }; };
    join roundrobin(33, 2, 9);
}
";

#[test]
fn what_waits_on_every_branch_is_copied_once() {
    same(WINDOWS, ints, &[0, 1, 8, 9, 10, 100, 6001]);
    let copies = |text: &str| buffers(&Place::new().with("a.str", text)).1;
    let bank = |waits: &str| {
        let filters = "int->int filter Window(int n) { int s; work peek n pop 1 push 1 { s = 3 * s + peek(n - 1); push(s); pop(); } }
int->int filter Wait(int n, int first) { prework push n { for (int i = 0; i < n; i++) push(first); } work pop 1 push 1 { push(pop()); } }\n";
        let branches: String =
            (0..8).map(|i| format!("add pipeline {{ {waits} add Window({}); }}; ", 9 - i % 3)).collect();
        format!("{filters}int->int splitjoin Main {{ split duplicate; {branches} join roundrobin; }}")
    };
    // the reader's items, and once more what they are with what waits
    assert!(copies(&bank("")) <= 2, "{}", copies(&bank("")));
    assert!(copies(&bank("add Wait(5, 1);")) <= 2);
    let others = bank("add Wait(5, 1);").replacen("Wait(5, 1)", "Wait(5, 2)", 1);
    assert_eq!(copies(&others), copies(&bank("add Wait(5, 1);")) + 1);
}

#[test]
fn what_moves_items_is_no_work() {
    let place = Place::new().with("a.str", MOVERS);
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 3, "{text}");
    // all of it reads the input
    assert!(!text.contains("\"items\" int["), "{text}");
    same(MOVERS, ints, &[0, 23, 24, 48, 383, 384, 4801]);
    same(FAR, ints, &[0, 100, 98_304, 200_001]);
}

#[test]
fn tables_in_registers() {
    let place = Place::new().with("a.str", TABLES);
    let text = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0).text().to_string();
    for call in ["sl_vi_lookup_bytes(bytes_", "sl_vi_lookup(sl_", "sl_vf_lookup(sl_"] {
        assert!(text.contains(call), "{call}");
    }
    same(TABLES, ints, &[0, 1, 15, 16, 1000, 20_003]);
}

#[test]
fn parts_of_ints() {
    let place = Place::new().with("a.str", PARTS);
    let text = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0).text().to_string();
    assert!(text.contains(" / 1000)") && text.contains("sl_vi_div("), "by a number above 0, and by others");
    same(PARTS, ints, &[0, 1, 16, 1003]);
}

#[test]
fn delays_let_loops_turn_at_once() {
    let place = Place::new().with("a.str", DELAYS);
    let text = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0).text().to_string();
    let turns = |n: u32| text.matches(&format!("t + {n} <= ")).count();
    assert_eq!((turns(64), turns(256), turns(2)), (1, 1, 0));
    same(DELAYS, ints, &[0, 1, 63, 64, 700, 5003]);
}

/// The beginnings of buffers that steady states use, and the bytes that are copied between them, in C.
fn buffers(place: &Place) -> (usize, usize) {
    let done = place.run(&["build", "--emit", "c", "--fuse=false", "a.str", "-o", "-"]).ends(0);
    let text = done.text();
    let (_, steady) = text.split_once("static void sl_steady_0(").expect("there is one");
    let steady = steady.split_once("\n}\n").expect("it ends").0;
    let places: std::collections::BTreeSet<&str> =
        steady.split("(a + ").skip(1).filter_map(|rest| rest.split_once(')')).map(|(at, _)| at).collect();
    (places.len(), steady.matches("memcpy(").count())
}

#[test]
fn buffers_in_the_same_memory() {
    let chain: String = (0..40).map(|i| format!("add More{i}; ")).collect();
    let filters: String = (0..40)
        .map(|i| format!("int->int filter More{i} {{ work pop 1 push 1 {{ push(pop() + {i}); }} }}\n"))
        .collect();
    let place = Place::new().with("a.str", format!("{filters}int->int pipeline Main {{ {chain} }}"));
    let (places, _) = buffers(&place);
    assert!((2..=3).contains(&places), "{places} buffers for a chain of 40");
    // both duplicates hand on what they have, but what waits for the filter that looks ahead
    let wide = "int->int filter Less { work pop 1 push 1 { push(pop() / 3); } }
int->int splitjoin Main { split duplicate; add Identity<int>; add Less; add splitjoin { split duplicate; add Less; add Less; join roundrobin(1); } join roundrobin(1, 1, 2); }";
    let (_, copies) = buffers(&Place::new().with("a.str", wide));
    assert!(copies <= 1, "{copies} copies, one of the reader's items at most");
    same(SHARED, ints, &[0, 1, 2, 3, 100, 6001]);
}

/// Echoes side by side, each with a filter that waits for its own last firing; and one behind another, which must wait.
fn echoes(within: &str) -> String {
    format!(
        "int->int feedbackloop Echo(int delay, int gain) {{ join roundrobin(1); body Both; loop Damp(gain); split duplicate; for (int i = 0; i < delay; i++) enqueue i; }}
int->int filter Both {{ work pop 2 push 1 {{ int x = pop(); push(x * 3 + pop()); }} }}
int->int filter Damp(int gain) {{ int y; work pop 1 push 1 {{ y = (y * 5 + pop()) / gain; {within} push(y - gain); }} }}
int->int filter Last {{ work pop 4 push 2 {{ int a = pop(); a = a * 31 + pop(); push(a); a = pop(); push(a - pop()); }} }}
int->int pipeline Main {{
    add splitjoin {{ split duplicate; add Echo(70, 3); add Echo(91, 5); add Echo(300, 7); add Echo(64, 9); join roundrobin(1); }}
    add Last;
    add Echo(40, 2); add Echo(50, 4);
}}
"
    )
}

#[test]
fn feedback_loops_side_by_side() {
    let calls = |text: &str| {
        let place = Place::new().with("a.str", text);
        let count = |more: &[&str]| {
            let done = place.run(&[&["build", "--emit", "c", "a.str", "-o", "-"], more].concat()).ends(0);
            done.text().matches("        sl_beside_").count()
        };
        (count(&[]), count(&["--fuse=false"]))
    };
    let text = echoes("");
    // once for as many turns as may be one, once for what is left of them
    assert_eq!(calls(&text), (2, 0), "four by turns; the two that follow one another not");
    same(&text, ints, &[0, 1, 63, 64, 65, 700, 5003]);
    let seen = echoes("if (y == 12345) println(y);");
    assert_eq!(calls(&seen), (0, 0), "what is printed has an order");
    let stops = echoes("y = y / (gain - 1);");
    assert_eq!(calls(&stops).0, 2, "a divisor that is known to be none fails nobody");
    let stops = echoes("y = y / (y - 123456);");
    assert_eq!(calls(&stops), (0, 0), "who stops first matters");
    same(&seen, ints, &[700]);
    same(&stops, ints, &[700]);
}

#[test]
fn filters_of_loops_do_the_work_of_joiners_and_splitters() {
    let place = Place::new().with("a.str", WOVEN);
    let done = place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0);
    let made = done.text().matches(" void sl_woven_").count();
    assert!(made >= 3, "{made}: {}", done.text());
    assert!(
        done.text().contains("const int32_t in[3] = {in0[i * 1 + 0], in1[i * 2 + 0], in1[i * 2 + 1]};"),
        "{}",
        done.text()
    );
    same(WOVEN, ints, &[0, 1, 2, 7, 130, 1000, 20_001]);
}

#[test]
fn filters_between_loops_do_the_work_of_joiners_and_splitters() {
    let (filters, _) = WOVEN.split_once("int->int pipeline Main").unwrap();
    let program = format!("{filters}{WOVEN_BETWEEN}");
    let place = Place::new().with("a.str", &program);
    let done = place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0);
    // a step of the steady state itself stands four columns in; a firing of 40 items is none of them
    assert_eq!(done.text().matches("\n    sl_woven_").count(), 4, "{}", done.text());
    let twice = "const int32_t in[4] = {in0[i * 2 + 0], in1[i * 2 + 0], in0[i * 2 + 1], in1[i * 2 + 1]};";
    assert!(done.text().contains(twice), "{}", done.text());
    same(&program, ints, &[0, 1, 2, 7, 130, 1000, 20_001]);
    let apart = place.run(&["run", "a.str", "--fuse=false", "--dump-after", "emit-c"]).ends(0);
    assert!(!apart.text().contains("\n    sl_woven_"));
}

/// Ints whose bits are turned round by all numbers, joined in three ways, and what only looks like it; in lanes, and in a filter with state.
#[test]
fn bits_are_turned_round() {
    let text = "int->int filter Turn(int n) { work pop 1 push 3 { int x = pop();
    push((x << n) | ((x >> (32 - n)) & ((1 << n) - 1)));
    push((((1 << n) - 1) & (x >> (32 - n))) ^ (x << n));
    push((x << n) + ((x >> (31 - n)) & ((1 << n) - 1)));
} }
int->int filter Sum(int n) { int s; work pop 3 push 1 { int x = pop() * 1103515245 + pop() * 12345 + pop();
    s = s * 5 + ((x << n) + ((x >> (32 - n)) & ((1 << n) - 1)));
    push(s);
} }
int->int pipeline Main { for (int n = 1; n < 31; n++) { add Turn(n); add Sum(n); } }
";
    let place = Place::new().with("a.str", text);
    let done = place.run(&["run", "a.str", "--fuse=false", "--dump-after", "emit-c"]).ends(0);
    assert!(done.text().contains("sl_vi_rotl(x_0_0, 13)"), "{}", done.text());
    assert!(done.text().contains("sl_rotl(x_"), "{}", done.text());
    same(text, ints, &[0, 1, 15, 16, 17, 700]);
}

/// Words that are put together of bytes, and of bits, of several words.
#[test]
fn words_are_mixed_of_others() {
    let text = "int->int filter Mix { work pop 4 push 4 { int a = pop(); int b = pop(); int c = pop(); int d = pop();
    push((a & 0xFF000000) | (b & 0x00FF0000) | (c & 0x0000FF00) | (d & 0xFF));
    push((a & 0x55555555) + (d & 0xAAAAAAAA));
    push((0xFFFF & c) ^ (b & 0xFFFF0000));
    push((a & 0xFFFF0000) | (c & 0xFFF));
} }
int->int pipeline Main { add Mix; add Mix; }
";
    let place = Place::new().with("a.str", text);
    let done = place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0);
    let lanes = done.text().split_once("void sl_lanes_").expect("lanes").1;
    for call in ["sl_vi_mixed(a_", "16711680), -16777216)", "1431655765)", "-65536)"] {
        assert!(lanes.contains(call), "{call}: {lanes}");
    }
    same(text, ints, &[0, 4, 60, 64, 68, 2800]);
    at_all_widths(&place, text, 1, &[4, 64, 68, 2800]);
}

/// Filters whose operations wait for one another go several vectors at once: as many as a machine has registers for, and what is left over one by one.
#[test]
fn what_waits_goes_side_by_side() {
    let rounds = |words: &[char]| -> String {
        let each = |r: usize| {
            let [a, b, c] = [0, 1, words.len() - 1].map(|i| words[(r + i) % words.len()]);
            // as many variables as make the pass look at what waits, not at how many they are
            format!("int t{r} = {b} + {r}; {a} = {a} ^ t{r}; {c} = {c} + ({a} ^ {}); {a} = {a} + ~{c};\n", r * 7919)
        };
        (0..160).map(each).collect()
    };
    // few words, of which all machines hold four vectors, and some more, of which those with 16 registers hold three
    for (words, parts) in [
        (&['a', 'b'][..], ["f + 4 * SL_LANES <= block", "SL_ANEW(f);\n            for (; f + 1 * SL_LANES"]),
        (
            &['a', 'b', 'c', 'd'],
            [
                "enum { row = SL_LANES == 16 ? 4 * SL_LANES : 3 * SL_LANES };",
                "#if SL_LANES != 16\n            SL_ANEW(f);",
            ],
        ),
    ] {
        let n = words.len();
        let taken: String = words.iter().map(|w| format!("int {w} = pop(); ")).collect();
        let given: String = words.iter().map(|w| format!("push({w}); ")).collect();
        let text = format!(
            "int->int filter Rounds {{ work pop {n} push {n} {{ {taken}{} {given} }} }}\nint->int pipeline Main {{ add Rounds; }}\n",
            rounds(words)
        );
        let place = Place::new().with("a.str", &text);
        let done = place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0);
        for part in parts {
            assert!(done.text().contains(part), "{part}: {}", done.text());
        }
        // of vectors of 4, 8 and 16: none, some, whole blocks and parts of them
        let firings = [0, 1, 4, 8, 12, 15, 16, 17, 31, 32, 33, 47, 48, 64, 65, 96, 500, 10_000];
        same(&text, ints, &firings.map(|f| f * n));
        at_all_widths(&place, &text, 1, &[1, 16, 17, 63, 65, 500].map(|f| f * n));
    }
}

/// Where a firing takes one complex number, the parts of its window are at distances that are sums; where it takes several, a table has those of the items.
#[test]
fn windows_of_parts_of_items() {
    for (pop, table) in [(1, false), (2, true), (3, true)] {
        let text = format!(
            "complex->complex filter F {{ work pop {pop} peek 24 push 1 {{ complex s = 0; for (int i = 0; i < 24; i++) s += (i - 9) * peek(i) * peek(23 - i);
    push(s); for (int i = 0; i < {pop}; i++) pop(); }} }}\n"
        );
        let place = Place::new().with("a.str", &text);
        let done = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0);
        let lanes = done.text().split_once("void sl_lanes_0(").expect("no lanes").1;
        assert_eq!(lanes.contains("at[(long)"), table, "{pop}");
        assert_eq!(lanes.contains("static const int64_t at[] = {"), table, "{pop}");
        let floats =
            |n: usize| (0..2 * n).flat_map(|i| ((i * 7919 % 997) as f32 / 300.0 - 1.5).to_le_bytes()).collect();
        same(&text, floats, &[0, 23, 24, 3000]);
    }
}

/// Firings of few items, of all numbers of them that are brought side by side in registers, and some more.
#[test]
fn few_items_of_a_firing_are_brought_side_by_side() {
    // with items that are looked at ahead, too
    for (counts, ahead) in [
        ([2, 4, 8], 0),
        ([3, 6, 12], 0),
        ([5, 10, 15], 0),
        ([7, 14, 2], 0),
        ([9, 11, 13], 0),
        ([9, 10, 13], 17),
        ([15, 12, 1], 54),
    ] {
        let add = |(n, m): (i32, i32)| format!("add Mix({n}, {n}, {ahead}); add Mix({n}, {m}, {ahead}); ");
        let [a, b, c] = counts;
        let all: String = [(a, b), (b, c), (c, a)].map(add).concat();
        let text = format!(
            "int->int filter Mix(int n, int m, int ahead) {{ work pop n push m peek n + ahead {{ int[n] x; int s = 1;
    for (int i = 0; i < ahead; i++) s = s * 5 + peek(n + i);
    for (int i = 0; i < n; i++) {{ x[i] = pop() * (i + 3) ^ s; s = s * 7 + (x[i] >> 3); }}
    for (int i = 0; i < m; i++) {{ s = s * 3 + (x[i % n] ^ i); push(s); }}
}} }}
int->int pipeline Main {{ {all}}}
"
        );
        let place = Place::new().with("a.str", &text);
        let done = place.run(&["run", "a.str", "--fuse=false", "--dump-after", "lanes"]).ends(0);
        assert!(done.text().matches("\nlanes func").count() > 2, "{}", done.text());
        let input = ints(30_000);
        let by = |way: &[&str]| {
            let all = [&["run", "a.str", "--fuse=false"], way].concat();
            place.run_with(&all, &input).ends(0).stdout
        };
        assert!(by(&["--back-end", "cc"]) == by(&["--interpret"]), "{counts:?} {ahead}");
    }
}
