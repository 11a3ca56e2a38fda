//! What passes along chains of filters: in strips that the first cache holds, as vectors have it, in registers from firing to firing, bits packed by comparisons. Nothing of it can be told.

use crate::fusing::{ints, same};
use crate::support::*;
use crate::windows::at_all_widths;

/// Costs that a filter keeps, decisions packed into words, and a window behind them, so that items stay within the chain from batch to batch.
const DECISIONS: &str = "int->int filter Spread { work pop 1 push 16 { int a = pop(); for (int j = 0; j < 16; j++) push((a + 3 * j) & 15); } }
int->int filter Keep { int[32] cost;
    work pop 16 push 32 {
        int[32] next;
        int[32] odd;
        for (int j = 0; j < 16; j++) {
            int same = pop();
            int a = cost[2 * j] + same;
            int b = cost[2 * j + 1] + 15 - same;
            int c = max(a, b) ^ (same << 3);
            odd[j] = a - b > 0 ? 1 : 0;
            odd[j + 16] = c != a && b < 3 * a ? 1 : 0;
            next[j] = a - b > 0 ? b : a;
            next[j + 16] = c - abs(b);
        }
        cost = next;
        for (int j = 0; j < 32; j++) push(odd[j]);
    }
}
int->int filter Pack(int n) { work pop n push 1 { int w = 0; for (int i = 0; i < n; i++) w = w | (pop() << i); push(w); } }
int->int filter Window { work peek 7 pop 4 push 1 { push(peek(0) ^ (peek(6) << 1)); for (int i = 0; i < 4; i++) pop(); } }
int->int pipeline Main { add Spread; add Keep; add Pack(BITS); add Window; }
";

/// A program in C.
fn c_text(program: &str, arguments: &[&str]) -> String {
    let place = Place::new().with("a.str", program);
    place.run(&[&["build", "a.str", "--emit", "c", "-o", "-"], arguments].concat()).ends(0).text().to_string()
}

fn decisions(bits: u32) -> String {
    DECISIONS.replace("BITS", &bits.to_string())
}

#[test]
fn a_chain_fires_in_strips_with_its_arrays_in_registers() {
    // eight words of three firings: of what the last ones give, 28 bits stay, which is no number of words. What reads iter() is in no region
    let apart = decisions(12).replace("(a + 3 * j)", "(a + 3 * j + (iter() & 1))").replace("w = 0", "w = iter() & 1");
    let text = c_text(&apart, &[]);
    let at = text.find("all - t < ").expect("no strips");
    let strip = &text[at..at + text[at..].find("\n    }\n").unwrap()];
    assert_eq!(strip.matches("sl_fire_").count(), 3, "{strip}");
    // what stays between them goes to its beginning after each strip: less than one firing takes, so that it cannot overlap
    assert!(strip.contains("memcpy("), "{strip}");
    assert!(text.contains("sl_vi cost_0_state[32 / SL_LANES];"), "no array in registers");
    assert!(text.contains("sl_bits(in + 0, 12) << 0"), "no comparisons");
    same(&apart, ints, &[0, 3, 500, 2001]);
}

/// What comes to the arrays and what is packed of what they say is in the same loop over firings: nothing between the filters is stored.
#[test]
fn what_is_beside_arrays_in_registers_is_in_their_loop() {
    let region = |program: &str, arguments: &[&str]| {
        let text = c_text(program, arguments);
        let at = text.rfind("sl_vi cost_0_state[32 / SL_LANES];").map(|at| &text[at..]);
        at.map(|t| t[..t.find("#endif").unwrap()].to_string())
            .filter(|t| t.contains("SL_COMPARED("))
            .unwrap_or_default()
    };
    for (bits, words) in [(8, 4), (16, 2), (32, 1)] {
        let text = region(&decisions(bits), &[]);
        assert_eq!(text.matches("    out[").count(), words, "{text}");
        assert!(
            text.contains("sl_truths items_") && text.contains("_bits[(32 + SL_TRUTHS - 1) / SL_TRUTHS] = {0};"),
            "{text}"
        );
        at_all_widths(&Place::new().with("a.str", decisions(bits)), &decisions(bits), 1, &[2001]);
        // the only items that are loaded are the first filter's
        assert!(text.contains("= in[0];") && !text.contains("sl_vi_load(in"), "{text}");
    }
    // what the C compiler cannot have in registers has arrays, and words of them by comparisons
    let text = c_text(&decisions(16), &[]);
    assert!(text.contains(".v + 16, 16) << 0"), "{text}");
    for program in [
        // words across firings
        decisions(13),
        // no truths
        decisions(32).replace("a - b > 0 ? 1 : 0", "a - b > 0 ? 2 : 0"),
        // what is packed is wanted besides
        decisions(32).replace("w = 0;", "w = peek(3) << 7;"),
        // a sum of all states
        decisions(32).replace(
            "int w = 0; for (int i = 0; i < n; i++) w = w | (pop() << i);",
            "int w = 0; for (int i = 0; i < n; i++) w += pop();",
        ),
    ] {
        assert_eq!(region(&program, &[]), "", "{program}");
        same(&program, ints, &[0, 3, 500, 2001]);
    }
    assert_eq!(region(&decisions(32), &["--fuse=false"]), "");
}

/// The initialisation goes on until nothing waits between them.
#[test]
fn nothing_waits_where_nobody_asks_for_it() {
    let place = Place::new().with("a.str", decisions(8));
    let after = |more: &[&str]| {
        let all = [&["build", "a.str", "-o", "a", "--dump-after", "drain"], more].concat();
        place.run(&all).ends(0).text().to_string()
    };
    let (with, without) = (after(&[]), after(&["--fuse=false"]));
    // a window of 7 words by 4 wants three, and a firing gives four
    assert!(without.contains("init 3 Main.Pack") && with.contains("init 4 Main.Pack"), "{without}{with}");
    assert!(with.lines().any(|l| l.starts_with("c2 fill 0 ")), "{with}");
    // the program that people are told of has the least
    let told = place.run(&["check", "a.str", "--dump-after", "steady-state"]).ends(0).text().to_string();
    assert!(told.contains("init 3 Main.Pack"), "{told}");
    for n in [0, 1, 2, 3] {
        let many = n.to_string();
        let by =
            |how: &[&str]| place.run_with(&[&["run", "a.str", "-n", &many], how].concat(), &ints(400)).ends(0).stdout;
        assert_eq!(by(&["--interpret"]), by(&["--back-end", "cc"]));
    }
}

#[test]
fn what_is_no_bit_is_packed_as_it_is() {
    let others = decisions(32).replace("a - b > 0 ? 1 : 0", "a - b > 0 ? 2 : 0");
    assert!(!c_text(&others, &[]).contains("= w_0 | (int32_t)((uint32_t)sl_bits("));
    same(&others, ints, &[0, 3, 500]);
}

/// What a turn takes from another turn, or may not find, stays a loop.
#[test]
fn arrays_that_turns_hand_on_stay_in_memory() {
    for (from, to) in [
        ("next[j] = a - b > 0 ? b : a;", "next[j] = a; cost[j] = b;"), // read and written in one loop
        ("next[j + 16] = c - abs(b);", "next[j + 1] = c;"),            // two turns write the same
        ("int same = pop();", "int same = pop() / (j + 1);"),          // no vectors of divisions
    ] {
        let program = decisions(16).replace(from, to);
        assert_ne!(program, decisions(16));
        assert!(!c_text(&program, &[]).contains("cost_0_state"), "{to}");
        same(&program, ints, &[3, 700]);
    }
}

#[test]
fn nobody_can_tell() {
    for bits in [8, 13, 16, 32] {
        same(&decisions(bits), ints, &[0, 1, 7, 8, 60, 64, 65, 129, 2000, 20_001]);
    }
}

/// A fault amid a strip: what comes before it comes out.
#[test]
fn a_fault_within_a_strip_is_the_filters() {
    let program = "int->int filter Twice { work pop 1 push 2 { int x = pop(); push(x); push(x + (iter() & 1)); } }
int->int filter Box { int[900] t; int n; init { for (int i = 0; i < 900; i++) t[i] = i * i; } work pop 2 push 1 { n += pop() + (iter() & 1); push(n + t[pop()]); } }
int->int filter Last { int x; work pop 1 peek 1 push 1 { x = 3 * x + pop() + (iter() & 1); push(x); } }
int->int filter Window { work pop 1 peek 5 push 1 { push(pop() - peek(3)); } }
int->int pipeline Main { add Twice; add Box; add Last; add Window; }
";
    // what reads iter() is in no region
    assert!(c_text(program, &[]).contains("all - t < "));
    assert!(!c_text(program, &["--fuse=false"]).contains("all - t < "));
    let place = Place::new().with("a.str", program);
    for n in [899, 5001, 12_345] {
        let mut items: Vec<i32> = (0..20_000).map(|i| i % 800).collect();
        items[n] = 899;
        let input: Vec<u8> = items.iter().flat_map(|i| i.to_le_bytes()).collect();
        let by = |how: &[&str]| place.run_with(&[&["run", "a.str"], how].concat(), &input).ends(1);
        let (one, other) = (by(&["--interpret"]), by(&["--back-end", "cc"]));
        assert!(one.stdout == other.stdout, "{n}");
        assert_eq!(one.stderr, other.stderr);
        assert!(other.stderr.contains("Box"), "{}", other.stderr);
    }
}

/// A cipher whose rounds are several regions: what goes from one to the next stays as vectors have it, also where firings do not fill the last vector.
#[test]
fn items_stay_in_lanes_between_regions() {
    let file = format!("{}/../../benchmarks/des/des.str", env!("CARGO_MANIFEST_DIR"));
    let place = Place::new();
    let text = place.run(&["build", &file, "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    assert!(text.contains("sl_vi_load((const int32_t *)(const void *)in + (f + 0 * SL_LANES) * 64 + 63 * SL_LANES)"));
    assert!(text.contains("sl_vi_store((int32_t *)(void *)out + (f + 0 * SL_LANES) * 64 + 63 * SL_LANES,"));
    // bits are bytes there, of as many firings as fill a vector of these
    assert!(
        text.contains("sl_vb_load((const uint8_t *)((const int32_t *)(const void *)in + f * 64) + 63 * 4 * SL_LANES)")
    );
    assert!(text.contains("sl_vb_store((uint8_t *)((int32_t *)(void *)out + f * 64) + 63 * 4 * SL_LANES, "));
    for n in [0, 1, 2, 6, 8, 10, 30, 32, 34, 64, 66, 80, 82, 96, 98, 128, 130, 254, 256, 258, 400, 1000, 5002] {
        let input = ints(n);
        let by = |how: &[&str]| place.run_with(&[&["run", &file], how].concat(), &input).ends(0).stdout;
        let reference = by(&["--interpret"]);
        for how in [&["--back-end", "cc"][..], &["--threads", "2"]] {
            assert!(by(how) == reference, "{n} items, {how:?}");
        }
    }
}
