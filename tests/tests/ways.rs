//! Random filters whose firings go different ways: native code, in which these are lanes, gives the interpreter's bytes, for inputs that fill vectors and for others.
//!
//! `SLUICE_WAYS_PROGRAMS=400` tries more than 16, `SLUICE_FIRST_SEED` others.

use sluice_driver::options::Inner;
use sluice_tests::generate::random::Random;
use sluice_tests::generate::ways;
use sluice_tests::pool::number_from_environment;
use sluice_tests::run::{Make, check, compile, output};

/// The programs of every second seed.
fn programs(half: u64) {
    let (first, count) =
        (number_from_environment("SLUICE_FIRST_SEED", 0), number_from_environment("SLUICE_WAYS_PROGRAMS", 16));
    for seed in (first..first + count).filter(|s| s % 2 == half) {
        let source = ways(seed);
        let program = check(&source).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        let (inner, level) =
            (if seed % 8 == 5 { Inner::None } else { Inner::Auto }, if seed % 16 == 2 { 3 } else { 1 });
        let make = Make {
            level,
            small_buffers: false,
            unchecked: seed % 4 == 3,
            channel_limit: None,
            inner,
            plain: seed % 8 == 7,
        };
        let (ran, code) = compile(&program, make).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        for items in [0, 9, 133, 700] {
            // small numbers, and now and then others
            let mut r = Random::new(seed);
            let mut item = || match r.below(4) {
                0 => r.next() as i32,
                1 => r.below(2000) as i32 - 1000,
                _ => r.below(41) as i32 - 20,
            };
            let input: Vec<u8> = (0..items).flat_map(|_| item().to_le_bytes()).collect();
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
