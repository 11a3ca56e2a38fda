//! Whatever is given as a program: the front end, the steady state, the tables and pictures and a short run end in order, within
//! bounds of time and memory.
//!
//! `SLUICE_FUZZ_CASES` says how many random texts (5,000); `SLUICE_FIRST_CASE` where to begin (0). A failure names the number of
//! the text and shows it.

#![allow(clippy::disallowed_methods)] // the number of cases comes from outside

#[path = "robustness/cases.rs"]
mod cases;
#[path = "robustness/dynamic.rs"]
mod dynamic;
#[path = "robustness/messages.rs"]
mod messages;

use libtest_mimic::{Arguments, Failed, Trial};
use sluice_tests::mangle;
use sluice_tests::message::Message;
use sluice_tests::pool::{Lost, Pool, number_from_environment};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Texts of one job.
const JOB: u64 = 100;
/// Time for one job, and for one text: what takes longer does not end.
const LIMIT: Duration = Duration::from_secs(180);

fn range(first: u64, count: u64) -> Message {
    let m = Message::new("examine-many").with("root", ROOT);
    m.with("first", first.to_string()).with("count", count.to_string())
}

/// One text by itself: what is wrong with it.
fn alone(pool: &Pool, number: u64) -> Option<String> {
    match pool.ask(&range(number, 1), LIMIT) {
        Ok(m) if m.text("kind") == "done" => None,
        Ok(m) => Some(m.text("why")),
        Err(lost) => Some(lost.to_string()),
    }
}

fn shown(number: u64, why: &str) -> String {
    let text = mangle::text(number, &mangle::programs(Path::new(ROOT)));
    let text = String::from_utf8_lossy(&text).into_owned();
    format!("text {number} (SLUICE_FIRST_CASE={number} SLUICE_FUZZ_CASES=1)\n{why}\n\n{text}\n")
}

fn block(pool: &Pool, numbers: std::ops::Range<u64>) -> Result<(), Failed> {
    let count = numbers.end - numbers.start;
    let (mut accepted, mut ran) = (0, 0);
    let mut failures = Vec::new();
    for first in numbers.clone().step_by(JOB as usize) {
        let last = (first + JOB).min(numbers.end);
        match pool.ask(&range(first, last - first), LIMIT) {
            Ok(m) if m.text("kind") == "done" => {
                accepted += m.number("accepted").unwrap_or(0);
                ran += m.number("ran").unwrap_or(0);
            }
            answer => {
                let guilty: Vec<String> =
                    (first..last).filter_map(|n| Some(shown(n, &alone(pool, n)?))).take(5).collect();
                if guilty.is_empty() {
                    let why = match answer {
                        Ok(m) => m.text("why"),
                        Err(lost @ (Lost::Crashed(_) | Lost::Hung)) => lost.to_string(),
                    };
                    failures.push(format!("texts {first} to {}, but none of them alone: {why}", last - 1));
                }
                failures.extend(guilty);
                if failures.len() > 20 {
                    break;
                }
            }
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("\n----------------------------------------\n").into());
    }
    // texts that all fail in the grammar would prove little
    if count >= 500 && (accepted * 20 < count || ran * 25 < count) {
        return Err(format!("of {count} texts only {accepted} are programs, and {ran} ran").into());
    }
    eprintln!("{count} texts: {accepted} programs, {ran} ran");
    Ok(())
}

fn main() {
    let arguments = Arguments::from_args();
    let pool = Arc::new(Pool::new(env!("CARGO_BIN_EXE_sluice-tests-worker"), env!("CARGO_TARGET_TMPDIR")));
    let first = number_from_environment("SLUICE_FIRST_CASE", 0);
    let count = number_from_environment("SLUICE_FUZZ_CASES", 5_000);
    let end = first + count;
    let step = count.div_ceil(8).max(1).next_multiple_of(JOB);
    let mut trials: Vec<Trial> = (first..end)
        .step_by(step as usize)
        .enumerate()
        .map(|(i, at)| {
            let (pool, numbers) = (pool.clone(), at..(at + step).min(end));
            Trial::test(format!("texts_part_{}", i + 1), move || block(&pool, numbers))
        })
        .collect();
    trials.extend(cases::trials(&pool));
    let done = libtest_mimic::run(&arguments, trials);
    drop(pool);
    done.exit();
}
