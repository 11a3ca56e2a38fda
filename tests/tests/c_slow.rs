//! Random programs in which streams take turns give what separate runs give; those with equal branches give the same bytes folded.
//!
//! `SLUICE_SLOW_PROGRAMS` says how many of each (60); `SLUICE_FIRST_SEED` where to begin (0). `SLUICE_SEED=n` runs that one alone.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use libtest_mimic::{Arguments, Failed, Trial};
use sluice_tests::differ::{self, LIMIT, complaint};
use sluice_tests::generate::{self, Case};
use sluice_tests::message::Message;
use sluice_tests::pool::{Pool, number_from_environment};
use sluice_tests::{turns, work};
use std::sync::Arc;

/// Programs of one test.
const BLOCK: u64 = 20;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    TakeTurns,
    Fold,
}

impl Kind {
    fn job(self, seed: u64, case: &Case) -> Message {
        let level = ["0", "1", "3", "0"][(seed % 4) as usize];
        match self {
            Kind::TakeTurns => {
                let streams = [2, 3, 1, 5, 2, 8][(seed % 6) as usize];
                work::job("take-turns", case).with("streams", streams.to_string()).with("level", level)
            }
            Kind::Fold => work::job("fold", case).with("level", level),
        }
    }

    fn case(self, seed: u64) -> Case {
        match self {
            // programs with equal branches, too; those that print are refused
            Kind::TakeTurns if seed % 3 == 2 => generate::branches(seed),
            Kind::TakeTurns => generate::case(seed),
            // one that can be folded, if there is one among some
            Kind::Fold => (0..8)
                .map(|i| generate::branches(seed * 8 + i))
                .find(turns::can_be_folded)
                .unwrap_or_else(|| generate::branches(seed)),
        }
    }
}

fn one(pool: &Pool, kind: Kind, seed: u64) -> Result<String, String> {
    let case = kind.case(seed);
    let answer = pool.ask(&kind.job(seed, &case), LIMIT);
    let Some(why) = complaint(&answer) else {
        return Ok(answer.map(|m| m.text("how")).unwrap_or_default());
    };
    Err(differ::report(pool, seed, &case, &answer, &why, &|c| kind.job(seed, c)))
}

fn block(pool: &Pool, kind: Kind, seeds: std::ops::Range<u64>) -> Result<(), Failed> {
    let count = seeds.end - seeds.start;
    let (mut failures, mut useful) = (Vec::new(), 0);
    for seed in seeds {
        match one(pool, kind, seed) {
            Ok(how) => useful += u64::from(how == "output"),
            Err(why) => failures.push(why),
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("\n----------------------------------------\n").into());
    }
    // programs without output, or without anything to fold, would prove nothing
    if count >= BLOCK && useful * 4 < count {
        return Err(format!("only {useful} of {count} programs show anything").into());
    }
    Ok(())
}

fn main() {
    let arguments = Arguments::from_args();
    let pool = Arc::new(Pool::new(env!("CARGO_BIN_EXE_sluice-tests-worker")));
    let (first, count) = match std::env::var("SLUICE_SEED") {
        Ok(seed) => (seed.parse().expect("SLUICE_SEED is a number"), 1),
        Err(_) => {
            (number_from_environment("SLUICE_FIRST_SEED", 0), number_from_environment("SLUICE_SLOW_PROGRAMS", 60))
        }
    };
    let end = first + count;
    let mut trials = Vec::new();
    for (kind, name) in [(Kind::TakeTurns, "take_turns"), (Kind::Fold, "fold")] {
        trials.extend((first..end).step_by(BLOCK as usize).map(|at| {
            let (pool, seeds) = (pool.clone(), at..(at + BLOCK).min(end));
            let name = format!("{name}_{}_to_{}", seeds.start, seeds.end - 1);
            Trial::test(name, move || block(&pool, kind, seeds))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
