//! What kernels of regions are made of: filters that are rewritten for them, loops that several groups of filters share, firings that several threads make.

use crate::cuda::input;
use crate::support::*;

/// Three FIRs of the same items, of whose results one in eight is kept; what is kept gets seven zeroes each, and is smoothed.
const BANK: &str = "\
float->float filter Fir(int n, float by) {
    work peek n pop 1 push 1 {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += (by + i % 5) * peek(i);
        push(sum);
        pop();
    }
}
float->float filter Down(int n) { work pop n push 1 { push(peek(0)); for (int i = 0; i < n; i++) pop(); } }
float->float filter Up(int n) { work pop 1 push n { push(pop()); for (int i = 1; i < n; i++) push(0); } }
float->float splitjoin Bands {
    split duplicate;
    for (int i = 0; i < 3; i++)
        add pipeline { add Fir(16, i - 1.5); add Down(8); add Up(8); add Fir(16, 0.5 * i); };
    join roundrobin;
}
float->float filter Add(int n) { work pop n push 1 { float sum = 0; for (int i = 0; i < n; i++) sum += pop(); push(sum); } }
float->float pipeline Main { add Bands; add Add(3); }
";

/// Matrices of 12 x 9 numbers turned round, dealt out in blocks, and given three times.
const MATRICES: &str = "\
float->float filter Transpose(int rows, int columns) {
    work pop rows * columns push rows * columns {
        for (int c = 0; c < columns; c++)
            for (int r = 0; r < rows; r++) push(peek(r * columns + c));
        for (int i = 0; i < rows * columns; i++) pop();
    }
}
float->float filter Repeat(int n, int times) {
    work pop n push n * times {
        for (int t = 0; t < times; t++)
            for (int i = 0; i < n; i++) push(peek(i));
        for (int i = 0; i < n; i++) pop();
    }
}
float->float splitjoin Blocks(int a, int b) {
    split roundrobin(a);
    for (int i = 0; i < 3; i++) add Identity<float>;
    join roundrobin(b);
}
float->float splitjoin Scaled {
    split roundrobin(36);
    for (int i = 0; i < 3; i++) add float->float filter { work pop 12 push 12 { for (int j = 0; j < 12; j++) push((i + 2) * pop()); } };
    join roundrobin(36);
}
float->float pipeline Main { add Transpose(12, 9); add Blocks(3, 12); add Repeat(36, 3); add Scaled; add Blocks(12, 3); add Repeat(48, 2); }
";

const FUSED: [&str; 7] = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme"];

fn same_bytes(place: &Place, sizes: &[usize]) {
    for items in sizes {
        let want = place.run_with(&["run", "a.str", "--interpret"], &input(*items)).ends(0).stdout;
        for (scheme, threads, sms) in [("fused", "128", "2"), ("fused", "32", "3"), ("fused-warps", "64", "1")] {
            let more = [scheme, "--sms", sms, "--block-threads", threads];
            let got = place.run_with(&[&FUSED[..], &more].concat(), &input(*items)).ends(0);
            assert!(got.stdout == want, "{scheme}, {threads} threads, {items} items");
        }
    }
}

/// The device's text.
fn text(place: &Place, more: &[&str]) -> String {
    let said = place.run_with(&[&FUSED[..], more, &["--dump-after", "emit-cuda"]].concat(), &input(90)).ends(0);
    said.text().split("---- the program ----").nth(1).unwrap().to_string()
}

/// The loops over a tile's firings in which each thread makes one.
fn loops(text: &str) -> Vec<&str> {
    text.split("sl_each_of(").skip(1).map(|l| l.split("\n    });").next().unwrap()).collect()
}

#[test]
fn groups_over_the_same_firings_are_one_loop() {
    let place = Place::new().with("a.str", BANK);
    same_bytes(&place, &[0, 7, 40, 1000, 9001]);
    let text = text(&place, &["fused"]);
    // the three FIRs, each with its decimation, and what they give when all have read
    let three: Vec<&str> = loops(&text).into_iter().filter(|l| l.matches("Fir: a.str").count() == 3).collect();
    let [l] = three[..] else { panic!("{text}") };
    assert!(l.matches("Down: a.str").count() == 3 && l.matches("[k] = kept").count() == 3, "{l}");
    assert!(l.rfind("sl_fire_") < l.find("[k] = kept"), "{l}");
}

/// After a fault a thread makes no more firings of its loop: what can fail has one of its own.
#[test]
fn filters_that_can_fail_share_no_loop() {
    let picks = "work pop n push 1 { int[4] at; at[2] = 1; push(peek(at[(int)abs(peek(0)) % 5 - 1])); for";
    let place = Place::new().with("a.str", BANK.replace("work pop n push 1 { push(peek(0)); for", picks));
    let text = text(&place, &["fused"]);
    let all = loops(&text).iter().map(|l| l.matches("Down: a.str").count()).collect::<Vec<_>>();
    assert_eq!(all.iter().filter(|n| **n > 0).collect::<Vec<_>>(), [&1; 3], "{text}");
}

/// Two filters have become one before it: the fault is told of the one that it happens in, as by native code.
#[test]
fn faults_are_told_of_the_filters_that_are_left() {
    let program = format!(
        "{}float->float filter Picky {{ float[8] t; work pop 1 push 1 {{ float x = pop(); push(t[x > 40000 ? 9 : 3] + x); }} }}
float->float pipeline Main {{ add Up(8); add Fir(16, 0.5); add Picky; add Fir(3, 1.0); }}\n",
        &BANK[..BANK.find("float->float splitjoin").unwrap()]
    );
    let place = Place::new().with("a.str", program);
    assert!(text(&place, &["fused"]).contains("as one filter"));
    let numbers = floats(&(0..900).map(|i| if i < 700 { 1.0 } else { 90_000.0 }).collect::<Vec<_>>());
    let native = place.run_with(&["run", "a.str"], &numbers).ends(1);
    assert!(native.stderr.contains("Picky"), "{}", native.stderr);
    let device = place.run_with(&[&FUSED[..], &["fused"]].concat(), &numbers).ends(1);
    assert_eq!(device.stderr, native.stderr);
    assert!(device.stdout == native.stdout);
}

#[test]
fn zeroes_are_not_multiplied() {
    let place = Place::new().with("a.str", BANK);
    assert!(text(&place, &["fused"]).contains("Up(8) and Fir(16, 0.5) as one filter"));
    // schedules are of the filters that were written, and so is what nobody wants rewritten
    for as_written in [&["swp"][..], &["fused", "--linear", "off"]] {
        let text = text(&place, as_written);
        assert!(text.contains("Fir(16, 0.5): work") && !text.contains("as one filter"), "{as_written:?}");
    }
}

#[test]
fn linear_filters_are_combined_where_bits_may_change() {
    let combs = "float->float filter Comb(int n) { work peek n pop 1 push 1 { float sum = 0; for (int i = 0; i < n; i++) sum += peek(i) / (i + n); push(sum); pop(); } }
float->float splitjoin All { split duplicate; for (int i = 3; i < 8; i++) add Comb(i); join roundrobin; }
float->float filter Add(int n) { work pop n push 1 { float sum = 0; for (int i = 0; i < n; i++) sum += pop(); push(sum); } }
float->float pipeline Main { add All; add Add(5); }\n";
    let place = Place::new().with("a.str", combs);
    same_bytes(&place, &[3, 500]);
    assert!(!text(&place, &["fused"]).contains("as one linear filter"));
    let numbers = |more: &[&str]| {
        let got = place.run_with(&[&["run", "a.str"], more].concat(), &input(900)).ends(0).stdout;
        got.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect::<Vec<_>>()
    };
    let exact = numbers(&[]);
    for linear in ["auto", "direct", "frequency"] {
        let free = ["-O0", "--target", "cuda", "--emulate", "--scheme", "fused", "--fast-math", "--linear", linear];
        assert!(text(&place, &["fused", "--fast-math", "--linear", linear]).contains("as one linear filter"));
        let free = numbers(&free);
        assert_eq!(free.len(), exact.len());
        let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * b.abs().max(1.0);
        assert!(free.iter().zip(&exact).all(close), "{linear}");
    }
    // a fast transform stays one: as a matrix it would take more operations
    let stages = "float->float filter Pair(float w) { work pop 2 push 2 { float a = pop(); float b = pop(); push(a + w * b); push(a - w * b); } }
float->float splitjoin Stage { split roundrobin; for (int i = 0; i < 4; i++) add Pair(0.5 + i); join roundrobin(2); }
float->float pipeline Main { for (int i = 0; i < 3; i++) add Stage; }\n";
    let place = Place::new().with("a.str", stages);
    let text = text(&place, &["fused", "--fast-math"]);
    assert!(!text.contains("as one linear filter"), "{text}");
}

#[test]
fn places_in_blocks_and_pieces_are_known() {
    let place = Place::new().with("a.str", MATRICES);
    same_bytes(&place, &[0, 107, 108, 500, 4000]);
    let text = text(&place, &["fused"]);
    // four times three items are a block: once for the firings of a group, which are part of one
    assert!(text.contains("(uint32_t)i / 4u * 36u + (uint32_t)i % 4u * 3u + s - base"), "{text}");
    // three times twelve, counted in firings
    assert!(text.contains("(uint32_t)n / 3u * 108u + (uint32_t)n % 3u * 12u - base"), "{text}");
    // whole blocks of three, whose places in rows are constants once the loop is unrolled
    assert!(
        text.contains("36u>{tile23, (i - b * 72), (uint32_t)(3 + (uint32_t)s / 3u * 9u + (uint32_t)s % 3u * 1u)}"),
        "{text}"
    );
    // a loop whose turns are a multiple of the threads that share them
    let firing = |end: &str| {
        let all = text.split("SL_DEVICE void sl_fire_").filter(|f| f.contains(end));
        all.map(|f| f.split("\n}").next().unwrap()).next().unwrap_or_default().to_string()
    };
    let repeat = firing("out[(t_1 * 36) + i_2] = in[i_2]");
    assert!(repeat.contains("piece_0") && !repeat.contains(" / ") && !repeat.contains(" % "), "{repeat}");
    let transpose = firing("out[(c_1 * 12) + r_2] = in[(r_2 * 9) + c_1]");
    assert!(transpose.contains("piece_0") && !transpose.contains(" / ") && !transpose.contains(" if "), "{transpose}");
}
