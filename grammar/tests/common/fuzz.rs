//! How much the random tests try, and where they begin. The same cases each time, unless the environment says otherwise:
//! `SLUICE_FUZZ_CASES` how many, `SLUICE_FIRST_SEED` the first (0).

#![allow(clippy::disallowed_methods)] // the environment says what to try

use proptest::test_runner::{Config, RngSeed};

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.trim().parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// How many cases a property is tried on; `usual` if nothing is said.
pub fn cases(usual: u32) -> u32 {
    number("SLUICE_FUZZ_CASES").map_or(usual, |cases| u32::try_from(cases).expect("fewer cases"))
}

/// The number of the first case.
pub fn first_seed() -> u64 {
    number("SLUICE_FIRST_SEED").unwrap_or(0)
}

/// For proptest: all of its cases come from the first seed.
pub fn config(usual: u32) -> Config {
    Config {
        cases: cases(usual),
        rng_seed: RngSeed::Fixed(first_seed()),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    }
}

/// A sequence of bytes that looks random (xorshift).
pub fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let bytes = std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 32) as u8)
    });
    // Those of small states are alike.
    bytes.skip(20)
}

/// Cuts stretches out of a text, ever smaller ones, as long as it is still bad without them.
pub fn shrink(mut text: String, bad: impl Fn(&str) -> bool) -> String {
    let mut size = text.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < text.len() {
            let end = (at + size..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
            let less = format!("{}{}", &text[..at], &text[end..]);
            if bad(&less) { text = less } else { at = end }
        }
        size /= 2;
    }
    text
}
