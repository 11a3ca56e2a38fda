//! Tests of many seeds: each looks at some, shows what fails of all of them, and fails itself where too few show anything.

use crate::pool::{Pool, number_from_environment};
use libtest_mimic::{Arguments, Failed, Trial};
use std::ops::Range;
use std::sync::Arc;

/// One kind of programs.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Tests are called by it and their seeds.
    pub name: &'static str,
    /// Looks at the program of a seed: does it show anything? Or why does it fail?
    pub one: fn(&Pool, u64) -> Result<bool, String>,
    /// Seeds that are not passed over.
    pub wanted: fn(u64) -> bool,
    /// Of so many programs at least one has to show something.
    pub of: u64,
    /// What the others lack.
    pub shown: &'static str,
}

/// Runs the tests that the command line asks for and exits: `each` seeds in a test, as many as `variable` says, or `count`.
/// `SLUICE_FIRST_SEED` says where to begin; `SLUICE_SEED` names a single one. What the pool is made of: the worker, and the tests' folder.
pub fn main((worker, tests): (&str, &str), kinds: Vec<Kind>, each: u64, variable: &str, count: u64) -> ! {
    let arguments = Arguments::from_args();
    let pool = Arc::new(Pool::new(worker, tests));
    let (first, count) = match std::env::var("SLUICE_SEED") {
        Ok(seed) => (seed.parse().expect("SLUICE_SEED is a number"), 1),
        Err(_) => (number_from_environment("SLUICE_FIRST_SEED", 0), number_from_environment(variable, count)),
    };
    let end = first + count;
    let mut trials = Vec::new();
    for kind in kinds {
        trials.extend((first..end).step_by(each as usize).map(|at| {
            let (pool, seeds) = (pool.clone(), at..(at + each).min(end));
            let name = format!("{}_{}_to_{}", kind.name, seeds.start, seeds.end - 1);
            Trial::test(name, move || some(&pool, &kind, seeds, each))
        }));
    }
    let done = libtest_mimic::run(&arguments, trials);
    // exit leaves what is still there, its folder with it
    drop(pool);
    done.exit()
}

fn some(pool: &Pool, kind: &Kind, seeds: Range<u64>, each: u64) -> Result<(), Failed> {
    let (mut failures, mut count, mut useful) = (Vec::new(), 0, 0);
    for seed in seeds.filter(|s| (kind.wanted)(*s)) {
        count += 1;
        match (kind.one)(pool, seed) {
            Ok(shows) => useful += u64::from(shows),
            Err(why) => failures.push(why),
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("\n----------------------------------------\n").into());
    }
    if count >= each && useful * kind.of < count {
        return Err(format!("only {useful} of {count} programs {}", kind.shown).into());
    }
    Ok(())
}
