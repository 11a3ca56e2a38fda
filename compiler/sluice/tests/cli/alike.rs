//! Equal branches fire as one filter, past their splitter and joiner; and what goes out is looked through for NaNs as it is made. Nothing of it can be told.

use super::fusing::{ints, same};
use crate::support::*;

/// Branches of a filter with these rates behind a splitter and before a joiner with these weights; `state` and `ahead`: what makes them no streams of one.
fn branches((n, m): (u32, u32), (taken, given): (u32, u32), count: usize, state: &str, ahead: u32) -> String {
    let peek = n + ahead;
    format!(
        "int->int filter Mix {{ {state} work peek {peek} pop {n} push {m} {{ int s = 7;
    for (int i = 0; i < {m}; i++) {{ s = s * 5 + peek(i) * (i + 3) - peek({peek} - 1 - i); push(s ^ (s >> 3)); }}
    {}
    for (int i = 0; i < {n}; i++) pop();
}} }}
int->int splitjoin Main {{ split roundrobin({taken}); {}join roundrobin({given}); }}
",
        if state.is_empty() { "" } else { "last = last * 3 + s; push(last);" },
        "add Mix; ".repeat(count)
    )
}

fn fires_as_one(program: &str) -> bool {
    let place = Place::new().with("a.str", program);
    let by = |way: &[&str]| {
        let done = place.run(&[&["build", "--emit", "c", "a.str", "-o", "-"], way].concat()).ends(0);
        done.text().contains("].iter -= ")
    };
    assert!(!by(&["--fuse=false"]), "{program}");
    by(&[])
}

#[test]
fn branches_that_are_one_stream() {
    for (rates, weights, count) in [
        ((192, 192), (192, 192), 2),
        ((192, 96), (192, 96), 3),
        ((160, 160), (480, 480), 4),
        ((200, 50), (400, 100), 2),
    ] {
        let program = branches(rates, weights, count, "", 0);
        assert!(fires_as_one(&program), "{program}");
        let round = weights.0 as usize * count;
        same(&program, ints, &[0, round - 1, round, 7 * round + rates.0 as usize + 3, 40_000]);
    }
}

/// The example of docs/fusion.md: each branch is a pipeline that has become one filter.
#[test]
fn pipelines_that_are_one_stream() {
    let blocks =
        "complex->complex splitjoin Blocks { split roundrobin(64); add FFT(64); add FFT(64); join roundrobin(64); }";
    assert!(fires_as_one(blocks));
    assert!(fires_as_one(&format!("{blocks} complex->complex pipeline Main {{ add Blocks; }}")));
}

#[test]
fn branches_that_are_none() {
    for (program, why) in [
        (branches((192, 192), (96, 192), 2, "", 0), "the splitter gives half of what a firing takes"),
        (branches((192, 192), (192, 96), 2, "", 0), "the joiner takes half of what a firing gives"),
        (branches((192, 192), (192, 192), 2, "", 5), "they look ahead"),
        (branches((192, 191), (192, 192), 2, "int last;", 0), "they keep something"),
        (
            branches((192, 192), (192, 192), 2, "", 0).replacen(
                "add Mix; ",
                "add pipeline { add Mix; add int->int filter { work pop 1 push 1 { push(3 * pop()); } } } ",
                1,
            ),
            "one is another",
        ),
        (
            branches((192, 192), (192, 192), 2, "", 0).replace("int s = 7;", "int s = iter();"),
            "they count their firings",
        ),
    ] {
        let program = program.replace("push 191", "push 192");
        assert!(!fires_as_one(&program), "{why}");
        same(&program, ints, &[2000, 40_000]);
    }
}

/// NaNs of any sign and payload come out as the one there is, wherever among the firings that are looked at together they are.
#[test]
fn nans_that_go_out_are_one() {
    for (ty, body) in [
        ("float", "for (int i = 0; i < 64; i++) push(sqrt(peek(63 - i)));"),
        ("complex", "for (int i = 0; i < 64; i++) push(complex(peek(63 - i).imag, sqrt(peek(i).real)));"),
    ] {
        let body = format!("{body} for (int i = 0; i < 64; i++) pop();");
        let one = format!("{ty}->{ty} filter F {{ work pop 64 push 64 {{ {body} }} }}\n");
        let place = Place::new().with("a.str", format!("{one}{ty}->{ty} pipeline Main {{ add F; }}"));
        let text = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0);
        assert!(text.text().contains(" |= sl_nans(") && text.text().contains("    sl_put_seen("), "{ty}");
        let words = 64 * if ty == "float" { 1 } else { 2 };
        // a NaN with a payload, or a number whose root is none, in one firing of many; or in none
        for at in [Some(0), Some(31), Some(32), Some(200), Some(996), None] {
            let mut all = vec![2.25f32; words * 997];
            if let Some(at) = at {
                all[at * words + 5] = f32::from_bits(0xffc1_2345);
                all[at * words + 6] = -1.0;
            }
            let input: Vec<u8> = all.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let by = |way: &[&str]| place.run_with(&[&["run", "a.str"], way].concat(), &input).ends(0).stdout;
            let out = by(&["--back-end", "cc"]);
            assert!(out == by(&["--interpret"]), "{ty}, {at:?}");
            let nans: Vec<u32> = out
                .chunks_exact(4)
                .map(|b| u32::from_ne_bytes(b.try_into().unwrap()))
                .filter(|b| b & 0x7fff_ffff > 0x7f80_0000)
                .collect();
            assert!(
                nans.iter().all(|b| *b == 0x7fc0_0000) && nans.is_empty() == at.is_none(),
                "{ty}, {at:?}: {nans:x?}"
            );
        }
    }
}
