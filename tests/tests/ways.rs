//! Random filters whose firings go different ways: native code, in which these are lanes, gives the interpreter's bytes, for inputs that fill vectors and for others.
//!
//! `SLUICE_WAYS_PROGRAMS=400` tries more than 16, `SLUICE_FIRST_SEED` others.

use sluice_driver::options::Inner;
use sluice_tests::generate::random::Random;
use sluice_tests::generate::ways;
use sluice_tests::run::Make;
use sluice_tests::seeded::{gives_the_same, seeds};

/// The programs of every second seed.
fn programs(half: u64) {
    for seed in seeds("SLUICE_WAYS_PROGRAMS", 16, 2, half) {
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
        let inputs = [0, 9, 133, 700].map(|items| {
            // small numbers, and now and then others
            let mut r = Random::new(seed);
            let mut item = || match r.below(4) {
                0 => r.next() as i32,
                1 => r.below(2000) as i32 - 1000,
                _ => r.below(41) as i32 - 20,
            };
            (0..items).flat_map(|_| item().to_le_bytes()).collect()
        });
        gives_the_same(seed, &ways(seed), make, &inputs);
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
