//! Random cascades of filters with a state: native code, in which they are lanes of a vector, gives the interpreter's bytes, for inputs that keep all lanes busy and for others.
//!
//! `SLUICE_CASCADES=400` tries more than 24, `SLUICE_FIRST_SEED` others.

use sluice_driver::options::Inner;
use sluice_tests::generate::cascade;
use sluice_tests::generate::random::Random;
use sluice_tests::run::Make;
use sluice_tests::seeded::{gives_the_same, seeds};

/// The programs of every third seed.
fn programs(third: u64) {
    for seed in seeds("SLUICE_CASCADES", 24, 3, third) {
        let cascade = cascade(seed);
        let make = Make {
            level: 1,
            small_buffers: seed % 5 == 4,
            unchecked: false,
            channel_limit: None,
            inner: Inner::Auto,
            plain: seed % 8 == 7,
        };
        let full = cascade.full;
        let inputs = [0, 1, full, 2 * full - 1, 2 * full, 2 * full + 1, 3 * full + 5, 5000].map(|items| {
            let mut r = Random::new(seed);
            let mut item = || match cascade.ints {
                true => (r.below(2001) as i32 - 1000).to_le_bytes(),
                false => (r.below(4001) as f32 / 1000.0 - 2.0).to_le_bytes(),
            };
            (0..items).flat_map(|_| item()).collect()
        });
        gives_the_same(seed, &cascade.source, make, &inputs);
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
