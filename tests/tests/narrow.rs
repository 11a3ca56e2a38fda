//! Random programs of bytes and bits: native code, in which these go as bytes in lanes, gives the interpreter's bytes, for inputs that fill vectors and for others.
//!
//! `SLUICE_NARROW_PROGRAMS=400` tries more than 12, `SLUICE_FIRST_SEED` others.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use sluice_driver::options::Inner;
use sluice_tests::generate::narrow;
use sluice_tests::generate::random::Random;
use sluice_tests::run::{Make, check, compile, output};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// The programs of every third seed.
fn programs(third: u64) {
    let (first, count) = (number("SLUICE_FIRST_SEED", 0), number("SLUICE_NARROW_PROGRAMS", 12));
    for seed in (first..first + count).filter(|s| s % 3 == third) {
        let source = narrow(seed);
        let program = check(&source).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        let make = Make {
            level: 1,
            small_buffers: false,
            unchecked: seed % 4 == 3,
            channel_limit: None,
            inner: Inner::Auto,
            plain: seed % 8 == 7,
        };
        let (ran, code) = compile(&program, make).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        for items in [0, 1, 3, 8, 31, 32, 33, 64, 100, 257, 2000] {
            let input = Random::new(seed).bytes(4 * items);
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
