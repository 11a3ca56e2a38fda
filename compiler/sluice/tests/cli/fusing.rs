//! Parts of a program as one filter: which parts, and that nothing else can be told of it.

use crate::support::*;

const SORT: &str = "int->int filter Order(boolean up) { work pop 2 push 2 {
    int a = pop(); int b = pop();
    push(up ? min(a, b) : max(a, b)); push(up ? max(a, b) : min(a, b));
} }
int->int splitjoin Step(int width, boolean up) { split roundrobin(width); add Order(true); add Order(up); join roundrobin(width); }
int->int pipeline Main { add Step(2, false); add Step(1, true); add Step(2, true); }
";

/// A window behind duplicate splitters, of several lengths, one behind another splitter.
const WINDOWS: &str = "float->float filter Fir(int n, float first) { work pop 1 peek n push 1 {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += (first + i) * peek(i);
    pop(); push(sum);
} }
float->float splitjoin Pair(int n) { split duplicate; add Fir(n, 1); add Fir(n + 3, 1); join roundrobin(1); }
float->float filter Difference { work pop 2 push 1 { float a = pop(); push(pop() - a); } }
float->float pipeline Band(int n) { add Pair(n); add Difference; }
float->float filter Sum(int n) { work pop n push 1 { float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }
float->float pipeline Main {
    add splitjoin { split duplicate; for (int i = 1; i < 6; i++) add Band(3 * i); add Identity<float>; join roundrobin(1); }
    add Sum(6);
}
";

/// Unequal weights on both sides, loops over what comes from several branches, items dropped and made.
const WEIGHTS: &str = "int->int filter Turn(int n) { work pop n push n { for (int i = n - 1; i >= 0; i--) push(peek(i)); for (int i = 0; i < n; i++) pop(); } }
int->int filter Half { work pop 2 push 1 { push(pop()); pop(); } }
int->int filter Twice { work pop 1 push 2 { int x = pop(); push(x); push(-x); } }
void->int filter Five { work push 1 { push(5); } }
int->int filter Mix(int n) { work pop n push 1 { int s = 1; for (int i = 0; i < n; i++) s = s * 31 + pop(); push(s); } }
int->int pipeline Main {
    add splitjoin {
        split roundrobin(2, 3, 1, 0);
        add pipeline { add Half; add Turn(3); }
        add splitjoin { split roundrobin(1, 2); add Twice; add Turn(2); join roundrobin(2, 2); }
        add Identity<int>;
        add Five;
        join roundrobin(1, 4, 1, 2);
    }
    add splitjoin { split roundrobin(3, 5); add Turn(6); add Identity<int>; join roundrobin(3, 5); }
    add Mix(4);
}
";

/// States that depend on each other through the stream, of several types.
const STATES: &str = "float->float filter Section(float a, float b) { float s; float[3] last; int n;
    work pop 1 push 1 {
        float x = pop();
        float y = a * x + s + last[n % 3];
        s = b * y - x;
        last[n % 3] = 0.25 * y;
        n++;
        push(y);
    }
}
float->float filter Sum(int n) { work pop n push 1 { float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }
float->float pipeline Main {
    add splitjoin { split duplicate;
        for (int i = 0; i < 4; i++) add pipeline { add Section(0.5, 0.125 * i); add Section(0.25 * i, 0.5); }
        join roundrobin(1);
    }
    add Sum(4);
}
";

/// Branches that differ in numbers, some of them in tables.
const BANK: &str =
    "float->float filter Section(float a, float b) { float s; float u; float[2] w; init { w[0] = a * b; w[1] = b; }
    work pop 1 push 1 { float x = pop(); float y = a * x + s; s = w[1] * u - b * y; u = x - w[0] * u; push(y); }
}
float->float filter Sum(int n) { work pop n push 1 { float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }
float->float pipeline Main {
    add splitjoin { split duplicate;
        for (int i = 1; i < 6; i++) add pipeline { add Section(0.5 * i, 0.125); add Section(0.25, 0.0625 * i); }
        join roundrobin(1);
    }
    add Sum(5);
}
";

/// Positions that the data decides, behind duplicate splitters whose branches wait for different items; what goes straight to the joiner waits, too.
const PICKS: &str = "int->int filter Pick(int n, int skip) { int last;
    prework pop skip { for (int i = 0; i < skip; i++) last += pop(); }
    work pop 1 peek n push 1 { last = last * 3 + peek(peek(0) & (n - 1)); push(last); pop(); }
}
int->int filter Last { int x; work pop 4 push 1 { for (int i = 0; i < 4; i++) x = x * 31 + pop(); push(x); } }
int->int pipeline Main {
    add splitjoin { split duplicate; add Pick(16, 2); add Pick(4, 5); add pipeline { } add Pick(8, 1); join roundrobin(1); }
    add Last;
}
";

/// Loops through what fires once and through what would have to wait for itself.
const LOOPS: &str =
    "int->int filter Up(int n) { int s; work pop 1 push n { s += pop(); for (int i = 0; i < n; i++) push(s + i); } }
int->int filter Same(int n) { int s; work pop n push n { for (int i = 0; i < n; i++) { s ^= pop(); push(s * 3); } } }
int->int filter Down { work pop 2 push 1 { push(pop() + pop()); } }
int->int filter Even { work pop 2 push 2 { int a = pop(); int b = pop(); push(a + b); push(a - b); } }
int->int feedbackloop Waits {
    join roundrobin(1, 2);
    body pipeline { add Same(3); add Same(1); }
    loop pipeline { add Down; add Up(2); add Same(3); add Up(1); }
    split roundrobin(1, 2);
    enqueue 1; enqueue 2; enqueue 3; enqueue 4; enqueue 5; enqueue 6;
}
int->int feedbackloop Narrow {
    join roundrobin(1, 1);
    body pipeline { add Down; add Up(2); add Even; }
    loop pipeline { add Up(1); add Same(1); }
    split roundrobin(1, 1);
    enqueue 7;
}
int->int pipeline Main { add Waits; add Narrow; }
";

/// Loops of which little waits, with a window, streams and another loop in them; the last one has a filter that can fail.
const FED: &str = "float->float filter Damp { float z; work pop 1 push 1 { z = 0.7 * pop() + 0.3 * z; push(0.8 * z); } }
float->float filter Add { work pop 2 push 1 { push(0.5 * pop() + 0.4 * pop()); } }
float->float feedbackloop Echo(int n) {
    join roundrobin(1, 1);
    body Add;
    loop Damp;
    split duplicate;
    for (int i = 0; i < n; i++) enqueue 0.25 * i;
}
float->float feedbackloop Window(int n) {
    join roundrobin(1, 1);
    body float->float filter { work peek 4 pop 2 push 1 { push(peek(0) + 0.3 * (peek(1) + peek(3))); pop(); pop(); } };
    split duplicate;
    for (int i = 0; i < n; i++) enqueue 0.5;
}
float->float feedbackloop Several {
    join roundrobin(2, 2);
    body pipeline { add Echo(2); add float->float filter { work pop 4 push 6 { for (int i = 0; i < 4; i++) push(pop()); push(0.1); push(0.2); } }; }
    loop splitjoin { split roundrobin(1); add Damp; add Echo(1); join roundrobin(1); }
    split roundrobin(4, 2);
    for (int i = 0; i < 5; i++) enqueue 1;
}
float->float pipeline Main { add Echo(1); add Window(2); add Echo(3); add Window(7); add Echo(8); add Several; add Echo(20); add Echo(50); }
";

pub fn ints(n: usize) -> Vec<u8> {
    (0..n as i32).flat_map(|i| (i.wrapping_mul(7919) % 1000 - 500).to_le_bytes()).collect()
}

pub fn reals(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| ((i as f32 * 0.37).sin() * 3.0).to_le_bytes()).collect()
}

/// The graph of native code: its nodes, as `--dump-after fuse` shows them.
pub fn nodes(place: &Place, arguments: &[&str]) -> (Vec<String>, String) {
    let done = place.run(&[&["run", "a.str", "--dump-after", "fuse"], arguments].concat()).ends(0);
    let text = done.text().to_string();
    let is_node = |l: &&str| l.starts_with('n') && l[1..].starts_with(|c: char| c.is_ascii_digit());
    (text.lines().filter(is_node).map(String::from).collect(), text)
}

/// The same bytes with regions, without, on two threads, by the JIT, and from the interpreter, for inputs of any length.
///
/// The C compiler does its utmost for the first way only: of large programs it is what takes the time.
pub fn same(program: &str, input: fn(usize) -> Vec<u8>, lengths: &[usize]) {
    same_where_the_compiler_does(3, program, input, lengths);
}

/// The same of large programs, and where they are many: a C compiler that does its utmost would take as long as all else. The text that it gets is the same.
pub fn same_quickly(program: &str, input: fn(usize) -> Vec<u8>, lengths: &[usize]) {
    same_where_the_compiler_does(1, program, input, lengths);
}

/// The compiler does so much for the program as users have it. Of the others it is the text that is tested: it does nothing for them.
fn same_where_the_compiler_does(level: u32, program: &str, input: fn(usize) -> Vec<u8>, lengths: &[usize]) {
    let place = Place::new().with("a.str", program);
    let level = level.to_string();
    for n in lengths {
        let ways = [
            &["-O", &level, "--back-end", "cc"][..],
            &["-O0", "--back-end", "cc", "--fuse=false"],
            &["-O0", "--threads", "2"],
            &["--back-end", "jit"],
        ];
        assert_eq!(place.as_interpreted(&input(*n), &ways).code, 0);
    }
}

#[test]
fn a_sorting_network_is_one_filter() {
    let place = Place::new().with("a.str", SORT);
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 3, "{text}");
    assert!(found[1].contains("push 4 pop 4"), "{text}");
    assert!(text.contains("\nlanes "), "{text}");
    assert!(nodes(&place, &["--fuse=false"]).0.len() > 10);
}

/// The program's ends belong to the split-join then, and to no part of it.
#[test]
fn an_entry_that_is_a_splitjoin_is_one_filter() {
    let entry = "float->float filter Channel(float a) { float z; work pop 1 push 1 { z = a * z + pop(); push(z); } }
float->float splitjoin Main { split roundrobin; for (int i = 0; i < 8; i++) add Channel(0.5 + i / 20.0); join roundrobin; }
";
    let place = Place::new().with("a.str", entry);
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 3, "{text}");
    assert!(found[1].contains("pop 8") && text.contains(" step 1 abreast"), "{text}");
    same(entry, reals, &[0, 7, 8, 9, 1003, 40_000]);
}

#[test]
fn what_waits_behind_duplicates_is_the_input_again() {
    let place = Place::new().with("a.str", WINDOWS);
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 3, "{text}");
    assert!(found[1].contains("peek 18"), "{text}");
    // the shorter and the longer window of neighbours are equal, and come once
    assert!(text.matches("in($").count() <= 12, "{text}");
}

/// A loop is one filter where little waits in it; where much does, its filters fire many times in a row.
#[test]
fn what_waits_in_a_loop_is_state() {
    let loops = |n: usize| {
        FED.replace(
            "{ add Echo(1); add Window(2); add Echo(3);",
            &format!("{{ add Echo({n}); }} float->float pipeline Other {{"),
        )
    };
    for (n, tape) in [(1, false), (3, false), (8, true)] {
        let place = Place::new().with("a.str", loops(n));
        let (found, text) = nodes(&place, &["--top", "Main"]);
        assert_eq!(found.len(), 3, "{text}");
        assert_eq!((text.contains("\nstate0 \"wait\""), text.contains("\ntape 0 ")), (true, tape), "{text}");
    }
    let place = Place::new().with("a.str", loops(500));
    assert!(nodes(&place, &["--top", "Main"]).0.len() > 5);
    same(FED, reals, &[0, 1, 5, 63, 64, 65, 700, 21_003]);
}

/// The program's ends belong to the loop then, and to no part of it.
#[test]
fn an_entry_that_is_a_loop_is_one_filter() {
    let entry = "float->float feedbackloop Main {
    join roundrobin(1, 1);
    body float->float filter { work pop 2 push 1 { push(0.5 * pop() + 0.4 * pop()); } };
    split duplicate;
    enqueue 1;
}
";
    let place = Place::new().with("a.str", entry);
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 3, "{text}");
    assert!(text.contains("\nstate0 \"wait\""), "{text}");
    same(entry, reals, &[0, 1, 5, 64, 21_003]);
}

/// A fault in a loop comes after what the firings before it gave.
#[test]
fn a_fault_within_a_loop_is_the_filters() {
    let program = "int->int feedbackloop Loop {
    join roundrobin(1, 1);
    body int->int filter { work pop 2 push 1 { int x = pop(); int y = pop(); push(1000 / (x + y % 7 - 9)); } };
    split duplicate;
    enqueue 0; enqueue 1; enqueue 2; enqueue 3; enqueue 4; enqueue 5; enqueue 6; enqueue 7;
}
int->int pipeline Main { add Loop; }
";
    let place = Place::new().with("a.str", program);
    assert!(nodes(&place, &[]).1.contains("\ntape 0 "));
    for at in [0, 5, 600, 3000] {
        let input: Vec<u8> = (0..4000).flat_map(|i: i32| if i < at { 40 } else { 9 - i % 3 }.to_le_bytes()).collect();
        let by = |how: &[&str]| place.run_with(&[&["run", "a.str"], how].concat(), &input).ends(1);
        let (one, other) = (by(&["--interpret"]), by(&["--back-end", "cc"]));
        assert_eq!((one.stdout, one.stderr), (other.stdout, other.stderr), "{at}");
    }
}

#[test]
fn branches_that_differ_in_numbers_go_side_by_side() {
    let place = Place::new().with("a.str", BANK);
    let (found, text) = nodes(&place, &[]);
    // what sums them up goes side by side, too, in firings
    assert_eq!(found.len(), 4, "{text}");
    assert!(text.contains("kernel \"Sum\"") && text.lines().any(|l| l.starts_with("lanes func")), "{text}");
    // two fields for each filter of a branch, and a loop, with lanes that no branch needs
    let wide = |l: &&str| l.starts_with("state") && l.contains("float[8]");
    assert_eq!(text.lines().filter(wide).count(), 4, "{text}");
    // the second loop gives to the region's output, which has no room for more
    let turns = |n: u32| text.matches(&format!(" < {n} step 1 abreast")).count();
    assert_eq!((turns(8), turns(5)), (1, 1), "{text}");
}

/// Filters without state beside those with: before them, behind them, by themselves; and where each branch has items of its own.
fn bank(branches: usize, split: &str, branch: &str, behind: &str) -> String {
    format!(
        "float->float filter Section(float a, float b) {{ float s; float u; work pop 1 push 1 {{ float x = pop(); float y = a * x + s; s = u - b * y; u = x - a * u; push(y); }} }}
float->float filter Gain(float g) {{ work pop 1 push 1 {{ push(g * pop()); }} }}
float->float filter Clip(float g) {{ work pop 1 push 1 {{ float x = pop(); push(x > g ? g : x); }} }}
float->float filter Twice(float g) {{ float s; work pop 1 push 2 {{ float x = pop(); push(s); push(g * s + x); s = x; }} }}
float->float filter Pair(float g) {{ work pop 2 push 1 {{ push(g * pop() - pop()); }} }}
float->float filter Sum(int n) {{ work pop n push 1 {{ float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); }} }}
float->float filter Smooth(float g) {{ float s; work pop 1 push 1 {{ s = g * s + pop(); push(s); }} }}
float->float pipeline Branch(int i) {{ {branch} }}
float->float pipeline Main {{
    add splitjoin {{ split {split}; for (int i = 1; i <= {branches}; i++) add Branch(i); join roundrobin(1); }}
    {behind}
}}
"
    )
}

/// Numbers of branches beside the widths of vectors; where lanes without a branch must not read or write: items that a splitter deals out, and the region's output.
#[test]
fn lanes_without_a_branch_tell_nothing() {
    let gains = "add Gain(0.5 * i); add Section(0.25 / i, 0.0625); add Clip(0.75 * i); add Section(0.125, 0.03125 * i); add Gain(i);";
    for n in [2, 3, 5, 7, 8, 11] {
        let compared = if n == 7 { same } else { same_quickly };
        compared(&bank(n, "duplicate", gains, &format!("add Sum({n});")), reals, &[0, 1, 33, 1001]);
    }
    for n in [3, 7] {
        let pairs = "add Twice(0.5 * i); add Pair(0.25 * i); add Section(0.5 / i, 0.125);";
        same_quickly(&bank(n, "roundrobin", gains, "add Smooth(0.5);"), reals, &[0, n, 1000]);
        same_quickly(
            &bank(n, "duplicate", pairs, &format!("add Sum({n}); add Smooth(0.5);")),
            reals,
            &[0, 1, 17, 2000],
        );
        same_quickly(&bank(n, "duplicate", pairs, ""), reals, &[0, 1, 1003]);
    }
}

#[test]
fn filters_without_state_are_beside_those_with() {
    let shown = |program: &str| {
        let (found, text) = nodes(&Place::new().with("a.str", program), &[]);
        (found.len(), text.matches(" step 1 abreast").count(), text.matches(" < 8 step 1 abreast").count(), text)
    };
    // five loops of filters, and of the firings of those that fire twice
    let (nodes, all, filled, text) = shown(&bank(
        7,
        "duplicate",
        "add Gain(0.5 * i); add Section(0.25, 0.5 / i); add Gain(0.25 * i); add Section(0.5, 0.5);",
        "add Sum(7);",
    ));
    assert_eq!((nodes, all, filled), (4, 4, 3), "{text}");
    // without any with state, they are lanes of firings
    let (_, all, _, text) = shown(&bank(7, "duplicate", "add Gain(0.5 * i); add Clip(0.25 * i);", "add Sum(7);"));
    assert_eq!(all, 0, "{text}");
    // where branches have items of their own, no lane without a branch has any: neither in the first loop, nor behind it
    let (_, all, filled, text) =
        shown(&bank(7, "roundrobin", &"add Section(0.25, 0.5 / i);".repeat(3), "add Smooth(0.5);"));
    assert_eq!((all, filled), (3, 0), "{text}");
    // three branches that cannot be filled up are no loop
    let (_, all, _, text) = shown(&bank(3, "roundrobin", "add Section(0.25, 0.5 / i);", "add Sum(3);"));
    assert_eq!(all, 0, "{text}");
    let (_, all, filled, text) =
        shown(&bank(3, "duplicate", "add Section(0.25, 0.5 / i); add Section(0.5 / i, 0.125);", "add Smooth(0.5);"));
    assert_eq!((all, filled, text.matches(" < 4 step 1 abreast").count()), (1, 0, 1), "{text}");
}

#[test]
fn nobody_can_tell() {
    same(BANK, reals, &[0, 1, 7, 1001]);
    same(PICKS, ints, &[0, 5, 21, 22, 23, 24, 2000]);
    same(LOOPS, ints, &[0, 1, 2, 3, 60, 4000]);
    same(SORT, ints, &[0, 1, 3, 4, 63, 64, 257, 5000]);
    same(WINDOWS, reals, &[0, 5, 17, 18, 19, 40, 3000]);
    same(WEIGHTS, ints, &[0, 5, 6, 12, 48, 49, 1000, 4801]);
    same(STATES, reals, &[0, 1, 2, 500, 70_000]);
}

/// What comes before a fault comes out, and the fault is that of the filter.
#[test]
fn a_fault_within_a_region_is_the_filters() {
    let program = "int->int filter Box { int[4] t; init { for (int i = 0; i < 4; i++) t[i] = i * i; } work pop 1 push 1 { push(t[pop()]); } }
int->int filter Next { int last; work pop 1 push 1 { last = last / 2 + pop(); push(last); } }
int->int pipeline Main { add Next; add Box; add Next; }
";
    let place = Place::new().with("a.str", program);
    assert_eq!(nodes(&place, &[]).0.len(), 3);
    let input: Vec<u8> = [1, 1, 2, 0, 1, 2, 3, 1].iter().flat_map(|i: &i32| i.to_le_bytes()).collect();
    let by = |how: &[&str]| place.run_with(&[&["run", "a.str"], how].concat(), &input).ends(1);
    let (one, other) = (by(&["--interpret"]), by(&["--back-end", "cc"]));
    assert_eq!(one.stdout, other.stdout);
    assert_eq!(one.stderr, other.stderr);
    assert!(other.stderr.contains("Box"), "{}", other.stderr);
}

/// What a region is known by in the stages of several threads.
#[test]
fn regions_lie_within_stages() {
    let program = SORT.replace(
        "add Step(2, true);",
        "add Step(2, true); for (int i = 0; i < 60; i++) { add Step(1, true); add Step(2, false); }",
    );
    let place = Place::new().with("a.str", &program);
    let done = place.run(&["run", "a.str", "--threads", "2", "--dump-after", "emit-c"]).ends(0);
    let text = done.text();
    assert!(text.contains("sl_stage_0_regions(") && text.contains("sl_stage_1_regions("), "no regions in stages");
}

/// Windows behind duplicate splitters in stages: all in one that threads share; with filters before and behind it there, of which the one behind looks ahead, so that the region
/// fires again; in a stage of one thread, beside filters with state.
#[test]
fn windows_lie_within_stages() {
    let heavy = "float->float filter Spin(int n) { work pop 1 push 1 { float x = pop(); for (int i = 0; i < n; i++) x = x * 0.5 + i; push(x); } }
float->float filter Mix { work pop 1 peek 7 push 1 { push(peek(6) - 0.5 * peek(0)); pop(); } }
float->float filter Lag(int n) { float y; work pop 1 push 1 { float x = pop(); for (int i = 0; i < n; i++) y = 0.5 * y + x; push(y); } }
";
    let within = |before: &str, behind: &str| {
        let main = format!("float->float pipeline Main {{ {before}\n    add splitjoin {{ split duplicate; for");
        let text = WINDOWS.replace("float->float pipeline Main {\n    add splitjoin { split duplicate; for", &main);
        heavy.to_string() + &text.replace("add Sum(6);\n", &format!("add Sum(6); {behind}\n"))
    };
    // what a replica does once is fetched in its first batch only
    for (program, replicas, single) in [
        (within("", ""), true, false),
        (within("add Spin(20);", "add Mix; add Spin(9);"), true, false),
        (within("add Lag(9);", "add Lag(120);"), false, true),
    ] {
        let place = Place::new().with("a.str", &program);
        let done = place.run(&["run", "a.str", "--top", "Main", "--threads", "2", "--dump-after", "emit-c"]).ends(0);
        let fetches = |first: &str| {
            let start = format!("    {first}memcpy(");
            done.text().lines().any(|l| l.starts_with(&start) && l.contains(", a + ") && !l.contains("(size_t)k"))
        };
        assert_eq!((fetches("if (again == 0) "), fetches("")), (replicas, single), "{}", done.text());
        for n in [0, 17, 18, 40, 41, 3000, 12_000] {
            let bytes = reals(n);
            let by = |arguments: &[&str]| {
                place.run_with(&[&["run", "a.str", "--top", "Main"], arguments].concat(), &bytes).ends(0).stdout
            };
            let reference = by(&["--interpret"]);
            for how in [
                &["2"][..],
                &["2", "--threads-batch", "1"],
                &["3", "--threads-batch", "5"],
                &["5", "--threads-batch", "40"],
            ] {
                assert!(by(&[&["-O0", "--threads"], how].concat()) == reference, "{n} items, {how:?}\n{program}");
            }
        }
    }
}

#[test]
fn the_smallest_buffers_have_no_regions() {
    let place = Place::new().with("a.str", SORT);
    assert!(nodes(&place, &["--schedule", "minimum-latency"]).0.len() > 10);
}

/// A filter that receives messages beside others that are one filter: a message takes effect before the firing that its latency says.
#[test]
fn messages_reach_who_stands_beside_a_region() {
    for when in ["", "[0:1]", "[2:2]"] {
        let text = format!(
            "int->int filter Lag(int k) {{ int y; work pop 1 push 1 {{ y += (pop() - y) / k; push(y); }} }}
int->int filter Gain(int k) {{ int g = 1; work pop 1 push 1 {{ push(k * g + pop()); }} handler set(int x) {{ g = x; }} }}
int->int filter Tell(portal<Gain> p) {{ int n; work pop 1 push 1 {{ n++; if (n % 5 == 0) p.set(n){when}; push(pop()); }} }}
int->int pipeline Main {{ portal<Gain> p;
    for (int i = 0; i < 4; i++) add Lag(i + 2);
    add Tell(p);
    for (int i = 0; i < 3; i++) {{ add Gain(i + 7); add Lag(i + 3); }}
    add Gain(5) to p;
}}"
        );
        same(&text, ints, &[0, 4, 5, 100, 3000]);
    }
}

/// Branches of which the first is written out, and the others stay as they are: copies of a loop and of sums of what it made.
const COPIES: &str = "int->int filter Blur { work pop 8 push 8 {
    for (int i = 0; i < 8; i++) {
        int s = 0;
        for (int j = 0; j < 8; j++) s += (i + j + 1) * peek(j);
        push(s ^ peek(i));
    }
    for (int i = 0; i < 8; i++) pop();
} }
int->int filter Hash { work pop 32 push 4 {
    for (int i = 0; i < 4; i++) {
        int s = 7;
        for (int j = 0; j < 8; j++) s = s * 31 + peek(4 * j + i);
        push(s);
    }
    for (int i = 0; i < 32; i++) pop();
} }
int->int pipeline Main {
    add splitjoin {
        split roundrobin(32);
        for (int i = 0; i < 6; i++) add pipeline { add Blur; add Hash; }
        join roundrobin(4);
    }
}
";

#[test]
fn copies_of_branches_are_a_loop() {
    let place = Place::new().with("a.str", COPIES);
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 3, "{text}");
    let lanes = text.split("func1 \"lanes\"").nth(1).unwrap_or_else(|| panic!("no lanes: {text}"));
    assert!(lanes.contains("\"column\" int") && lanes.matches("out(").count() == 8, "{lanes}");
    // three loops count where its items are
    place.run(&["build", "a.str", "--emit", "c", "-o", "a.c"]).ends(0);
    assert!(place.read("a.c").contains("(long)column_"), "{}", place.read("a.c"));
    same(COPIES, ints, &[0, 191, 192, 193, 3001, 40_000]);
}
