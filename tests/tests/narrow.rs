//! Random programs of bytes and bits: native code, in which these go as bytes in lanes, gives the interpreter's bytes, for inputs that fill vectors and for others.
//!
//! `SLUICE_NARROW_PROGRAMS=400` tries more than 12, `SLUICE_FIRST_SEED` others.

use sluice_driver::options::Inner;
use sluice_tests::generate::narrow;
use sluice_tests::generate::random::Random;
use sluice_tests::run::Make;
use sluice_tests::seeded::{gives_the_same, seeds};

/// The programs of every third seed.
fn programs(third: u64) {
    for seed in seeds("SLUICE_NARROW_PROGRAMS", 12, 3, third) {
        let make = Make {
            level: 1,
            small_buffers: false,
            unchecked: seed % 4 == 3,
            channel_limit: None,
            inner: Inner::Auto,
            plain: seed % 8 == 7,
        };
        let inputs = [0, 1, 3, 8, 31, 32, 33, 64, 100, 257, 2000].map(|items| Random::new(seed).bytes(4 * items));
        gives_the_same(seed, &narrow(seed), make, &inputs);
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
