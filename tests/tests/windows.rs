//! Filters without state give the same bytes interpreted and compiled with all optimisation, for inputs of every length up to 200 items
//! and some thousands: the blocks of firings that run at once, what is left of them, and the end of the input.
//!
//! `SLUICE_INNER` is as for the differential tests.
//! `SLUICE_WINDOW_PROGRAMS` says how many (40); `SLUICE_FIRST_SEED` where to begin (0). `SLUICE_SEED=n` runs that one alone.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use sluice_tests::differ::{self, LIMIT, complaint};
use sluice_tests::generate::Case;
use sluice_tests::message::Message;
use sluice_tests::pool::Pool;
use sluice_tests::seeds::{self, Kind};
use sluice_tests::work;

fn with_options(seed: u64, job: Message) -> Message {
    let job = job.with("level", "3").with("inner", work::inner(seed));
    if seed % 3 == 1 { job.with("unchecked", "") } else { job }
}

/// Do several firings of some filter of this program run at once?
fn one(pool: &Pool, seed: u64) -> Result<bool, String> {
    let answer = pool.ask(&with_options(seed, Message::new("windows").with("seed", seed.to_string())), LIMIT);
    let Some(why) = complaint(&answer) else {
        return Ok(answer.ok().and_then(|m| m.number("lanes")).is_some_and(|n| n > 0));
    };
    let (mut case, _) = work::windows_case(seed);
    if let (Some(input), Some(bytes)) = (&mut case.input, answer.as_ref().ok().and_then(|m| m.number("bytes"))) {
        input.truncate(bytes as usize);
    }
    let again = |c: &Case| with_options(seed, work::job("differ", c));
    Err(differ::report(pool, seed, &case, &answer, &why, &again))
}

fn main() {
    let kind = Kind { name: "windows", one, wanted: |_| true, of: 4, shown: "run several firings at once" };
    seeds::main(
        (env!("CARGO_BIN_EXE_sluice-tests-worker"), env!("CARGO_TARGET_TMPDIR")),
        vec![kind],
        10,
        "SLUICE_WINDOW_PROGRAMS",
        40,
    )
}
