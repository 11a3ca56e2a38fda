//! Random filters of bits and booleans: native code, in which these are lanes, gives the interpreter's bytes, for inputs that fill vectors and for others.
//!
//! `SLUICE_BITS_PROGRAMS=400` tries more than 16, `SLUICE_FIRST_SEED` others.

use sluice_driver::options::Inner;
use sluice_tests::generate::bits;
use sluice_tests::generate::random::Random;
use sluice_tests::run::Make;
use sluice_tests::seeded::{gives_the_same, seeds};

/// The programs of every second seed.
fn programs(half: u64) {
    for seed in seeds("SLUICE_BITS_PROGRAMS", 16, 2, half) {
        let (inner, level) =
            (if seed % 8 == 5 { Inner::None } else { Inner::Auto }, if seed % 16 == 2 { 3 } else { 1 });
        let plain = seed % 4 == 1;
        let make = Make { level, small_buffers: false, unchecked: seed % 4 == 3, channel_limit: None, inner, plain };
        let inputs = [0, 11, 403, 3500].map(|length| Random::new(seed).bytes(length));
        gives_the_same(seed, &bits(seed), make, &inputs);
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
