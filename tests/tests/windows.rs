//! Filters without state give the same bytes interpreted and compiled with all optimisation, for inputs of every length up to 200 items
//! and some thousands: the blocks of firings that run at once, what is left of them, and the end of the input.
//!
//! `SLUICE_INNER` is as for the differential tests.
//! `SLUICE_WINDOW_PROGRAMS` says how many (40); `SLUICE_FIRST_SEED` where to begin (0). `SLUICE_SEED=n` runs that one alone.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use libtest_mimic::{Arguments, Failed, Trial};
use sluice_tests::differ::{self, LIMIT, complaint};
use sluice_tests::generate::Case;
use sluice_tests::message::Message;
use sluice_tests::pool::{Pool, number_from_environment};
use sluice_tests::work;
use std::sync::Arc;

/// Programs of one test.
const BLOCK: u64 = 10;

fn with_options(seed: u64, job: Message) -> Message {
    let job = job.with("level", "3").with("inner", work::inner(seed));
    if seed % 3 == 1 { job.with("unchecked", "") } else { job }
}

/// In how many filters of this program several firings run at once.
fn one(pool: &Pool, seed: u64) -> Result<u64, String> {
    let answer = pool.ask(&with_options(seed, Message::new("windows").with("seed", seed.to_string())), LIMIT);
    let Some(why) = complaint(&answer) else {
        return Ok(answer.ok().and_then(|m| m.number("lanes")).unwrap_or(0));
    };
    let (mut case, _) = work::windows_case(seed);
    if let (Some(input), Some(bytes)) = (&mut case.input, answer.as_ref().ok().and_then(|m| m.number("bytes"))) {
        input.truncate(bytes as usize);
    }
    let again = |c: &Case| with_options(seed, work::job("differ", c));
    Err(differ::report(pool, seed, &case, &answer, &why, &again))
}

fn block(pool: &Pool, seeds: std::ops::Range<u64>) -> Result<(), Failed> {
    let count = seeds.end - seeds.start;
    let (mut failures, mut lanes) = (Vec::new(), 0);
    for seed in seeds {
        match one(pool, seed) {
            Ok(n) => lanes += u64::from(n > 0),
            Err(why) => failures.push(why),
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("\n----------------------------------------\n").into());
    }
    if count >= BLOCK && lanes * 4 < count {
        return Err(format!("only {lanes} of {count} programs run several firings at once").into());
    }
    Ok(())
}

fn main() {
    let arguments = Arguments::from_args();
    let pool = Arc::new(Pool::new(env!("CARGO_BIN_EXE_sluice-tests-worker")));
    let (first, count) = match std::env::var("SLUICE_SEED") {
        Ok(seed) => (seed.parse().expect("SLUICE_SEED is a number"), 1),
        Err(_) => {
            (number_from_environment("SLUICE_FIRST_SEED", 0), number_from_environment("SLUICE_WINDOW_PROGRAMS", 40))
        }
    };
    let end = first + count;
    let trials = (first..end).step_by(BLOCK as usize).map(|at| {
        let (pool, seeds) = (pool.clone(), at..(at + BLOCK).min(end));
        Trial::test(format!("windows_{}_to_{}", seeds.start, seeds.end - 1), move || block(&pool, seeds))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
