//! Random cascades of filters with a state: native code, in which they are lanes of a vector, gives the interpreter's bytes, for inputs that keep all lanes busy and for others.
//!
//! `SLUICE_CASCADES=400` tries more than 24, `SLUICE_FIRST_SEED` others.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use sluice_driver::options::Inner;
use sluice_tests::generate::cascade;
use sluice_tests::generate::random::Random;
use sluice_tests::run::{Make, check, compile, output};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// The programs of every third seed.
fn programs(third: u64) {
    let (first, count) = (number("SLUICE_FIRST_SEED", 0), number("SLUICE_CASCADES", 24));
    for seed in (first..first + count).filter(|s| s % 3 == third) {
        let cascade = cascade(seed);
        let source = &cascade.source;
        let program = check(source).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        let make = Make {
            level: 1,
            small_buffers: seed % 5 == 4,
            unchecked: false,
            channel_limit: None,
            inner: Inner::Auto,
            plain: seed % 8 == 7,
        };
        let (ran, code) = compile(&program, make).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        let full = cascade.full;
        for items in [0, 1, full, 2 * full - 1, 2 * full, 2 * full + 1, 3 * full + 5, 5000] {
            let mut r = Random::new(seed);
            let mut item = || match cascade.ints {
                true => (r.below(2001) as i32 - 1000).to_le_bytes(),
                false => (r.below(4001) as f32 / 1000.0 - 2.0).to_le_bytes(),
            };
            let input: Vec<u8> = (0..items).flat_map(|_| item()).collect();
            let (wanted, is) = (output(&program, &input, None, None), output(&ran, &input, None, Some(&code)));
            assert!(wanted == is, "seed {seed}, {items} items\n{source}");
        }
    }
}

#[test]
fn seeds_0() {
    programs(0);
}

#[test]
fn seeds_1() {
    programs(1);
}

#[test]
fn seeds_2() {
    programs(2);
}
