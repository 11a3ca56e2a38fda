//! Random filters of bits and booleans: native code, in which these are lanes, gives the interpreter's bytes, for inputs that fill vectors and for others.
//!
//! `SLUICE_BITS_PROGRAMS=400` tries more than 16, `SLUICE_FIRST_SEED` others.

use sluice_driver::options::Inner;
use sluice_tests::generate::bits;
use sluice_tests::generate::random::Random;
use sluice_tests::pool::number_from_environment;
use sluice_tests::run::{Make, check, compile, output};

/// The programs of every second seed.
fn programs(half: u64) {
    let (first, count) =
        (number_from_environment("SLUICE_FIRST_SEED", 0), number_from_environment("SLUICE_BITS_PROGRAMS", 16));
    for seed in (first..first + count).filter(|s| s % 2 == half) {
        let source = bits(seed);
        let program = check(&source).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        let (inner, level) =
            (if seed % 8 == 5 { Inner::None } else { Inner::Auto }, if seed % 16 == 2 { 3 } else { 1 });
        let plain = seed % 4 == 1;
        let make = Make { level, small_buffers: false, unchecked: seed % 4 == 3, channel_limit: None, inner, plain };
        let (ran, code) = compile(&program, make).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
        for length in [0, 11, 403, 3500] {
            let mut r = Random::new(seed);
            let input: Vec<u8> = (0..length).map(|_| r.next() as u8).collect();
            let (wanted, is) = (output(&program, &input, None, None), output(&ran, &input, None, Some(&code)));
            assert!(wanted == is, "seed {seed}, {length} bytes\n{source}");
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
