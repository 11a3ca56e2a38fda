//! Random programs give the same bytes interpreted and compiled.
//!
//! `SLUICE_RANDOM_PROGRAMS` says how many (200); `SLUICE_FIRST_SEED` where to begin (0). A failure names the seed, and shows the
//! program after shrinking (in at most `SLUICE_SHRINK` tries; with 0 not at all). `SLUICE_SEED=n` runs that one alone.
//! `SLUICE_CHANNEL_LIMIT=n` gives all programs with dynamic rates this limit.
//! `SLUICE_INNER=unroll` (or another kind) compiles all with `--inner=unroll`; else each kind has its turn.
//! `SLUICE_ONLY=dynamic` (or `messages`, `both`, `static`) passes over all seeds whose programs are of another kind.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use sluice_tests::differ::{self, LIMIT, complaint};
use sluice_tests::generate;
use sluice_tests::message::Message;
use sluice_tests::pool::Pool;
use sluice_tests::seeds::{self, Kind};
use sluice_tests::work;

/// How this seed is compiled: mostly quickly, every eighth as users have it.
fn job(seed: u64, case: &generate::Case) -> Message {
    let level = ["0", "1", "0", "3", "0", "2", "0", "1"][(seed % 8) as usize];
    let mut job = work::job("differ", case).with("level", level).with("inner", work::inner(seed));
    // the other half goes through all that is done to programs
    if seed % 2 == 1 {
        job = job.with("plain", "");
    }
    if seed % 3 == 1 {
        job = job.with("small-buffers", "");
    }
    if seed % 7 == 2 && !case.hazards {
        job = job.with("unchecked", "");
    }
    if seed % 11 == 3 {
        job = job.with("pipe", seed.to_string());
    }
    if seed % 11 == 7 {
        job = job.with("patient", "");
    }
    if seed % 5 == 4 {
        job = job.with("to-stdout", "");
    }
    job
}

fn one(pool: &Pool, seed: u64) -> Result<bool, String> {
    let mut case = generate::case(seed);
    if let Ok(limit) = std::env::var("SLUICE_CHANNEL_LIMIT") {
        case.channel_limit = Some(limit.parse().expect("SLUICE_CHANNEL_LIMIT is a number"));
        case.hazards = true;
    }
    let answer = pool.ask(&job(seed, &case), LIMIT);
    let Some(why) = complaint(&answer) else {
        // programs without output would prove nothing
        return Ok(answer.is_ok_and(|m| m.text("how") == "output"));
    };
    Err(differ::report(pool, seed, &case, &answer, &why, &|c| job(seed, c)))
}

/// Is this seed's program of the kind asked for?
fn wanted(seed: u64) -> bool {
    let f = generate::flavour(seed);
    match std::env::var("SLUICE_ONLY").as_deref() {
        Ok("dynamic") => f.dynamic,
        Ok("messages") => f.messages,
        Ok("both") => f.dynamic && f.messages,
        Ok("static") => !f.dynamic && !f.messages,
        _ => true,
    }
}

fn main() {
    let kind = Kind { name: "seeds", one, wanted, of: 3, shown: "gave any output" };
    seeds::main(
        (env!("CARGO_BIN_EXE_sluice-tests-worker"), env!("CARGO_TARGET_TMPDIR")),
        vec![kind],
        25,
        "SLUICE_RANDOM_PROGRAMS",
        200,
    )
}
