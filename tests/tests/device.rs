//! Random programs give the same bytes on an emulated device as interpreted, by every scheme, on several sizes of devices, with inputs of
//! several lengths.
//!
//! `SLUICE_RANDOM_PROGRAMS` says how many (200; of these one in eight is run here, for each takes two compilers); `SLUICE_FIRST_SEED` where to begin
//! (0). `SLUICE_SEED=n` runs that one alone, `SLUICE_SCHEME=swp` runs all by that scheme. With `SLUICE_ON_GPU=1` they run on this computer's GPU;
//! `SLUICE_WORKER` names the program that does so, where it was built elsewhere.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use libtest_mimic::{Arguments, Failed, Trial};
use sluice_codegen::cuda::Scheme;
use sluice_tests::device::{self, Configuration};
use sluice_tests::differ::{self, complaint};
use sluice_tests::generate::Case;
use sluice_tests::message::Message;
use sluice_tests::pool::{Pool, number_from_environment};
use sluice_tests::work;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Programs of one test.
const BLOCK: u64 = 25;
/// Of so many random programs that are asked for, one is run.
const ONE_OF: u64 = 8;
/// Time for one program, its compilers' included.
const LIMIT: Duration = Duration::from_secs(180);

/// What a number of programs showed.
#[derive(Default)]
struct Seen {
    programs: u64,
    /// What became of them.
    how: BTreeMap<String, u64>,
    /// By scheme, those that gave output after kernels had been launched.
    ran: BTreeMap<&'static str, u64>,
    runs: u64,
    failed: u64,
    launches: u64,
    failures: Vec<String>,
}

impl Seen {
    fn add(&mut self, seed: u64, scheme: Scheme, result: Result<Message, String>) {
        self.programs += 1;
        let answer = match result {
            Ok(answer) => answer,
            Err(why) => return self.failures.push(why),
        };
        let how = answer.text("how");
        let number = |name| answer.number(name).unwrap_or(0);
        if std::env::var("SLUICE_TELL").is_ok_and(|v| v == "2") {
            eprintln!(
                "{seed} {how} {} unit {} steady {} launches {}",
                scheme.name(),
                number("unit"),
                number("steady"),
                number("launches")
            );
        }
        self.runs += number("runs");
        self.failed += number("failed");
        self.launches += number("launches");
        if how == "output" {
            *self.ran.entry(scheme.name()).or_default() += 1;
        }
        *self.how.entry(how).or_default() += 1;
    }

    /// Failures, or too little that was seen to prove anything.
    fn judge(self, schemes: &[Scheme], whole: bool) -> Result<(), Failed> {
        if !self.failures.is_empty() {
            return Err(self.failures.join("\n----------------------------------------\n").into());
        }
        let Seen { programs, how, ran, runs, failed, launches, .. } = self;
        let text = format!(
            "of {programs} programs: {how:?}; with output from the device, by scheme: {ran:?}; {runs} runs, {failed} ended by a fault, {launches} kernels launched"
        );
        if std::env::var("SLUICE_TELL").is_ok() {
            eprintln!("{text}");
        }
        let all: u64 = ran.values().sum();
        let without = schemes.iter().filter(|s| !ran.contains_key(s.name())).count();
        if whole && (all * 2 < programs || without > 1) {
            return Err(format!("too few programs ran: {text}").into());
        }
        Ok(())
    }
}

fn job(case: &Case, configuration: &Configuration) -> Message {
    configuration.with(work::job("device", case))
}

fn one(pool: &Pool, seed: u64, scheme: Scheme) -> Result<Message, String> {
    let (case, configuration) = (device::program(seed), Configuration::of(seed, scheme));
    let answer = pool.ask(&job(&case, &configuration).with("lengths", ""), LIMIT);
    let Some(why) = complaint(&answer) else { return answer.map_err(|lost| lost.to_string()) };
    // from here on with the input that shows it
    let mut shown = case;
    if let Ok(answer) = &answer {
        shown.input = answer.bytes("input").map(<[u8]>::to_vec).or(shown.input);
        shown.iterations = answer.number("iterations").or(shown.iterations);
    }
    Err(format!("{configuration}\n{}", differ::report(pool, seed, &shown, &answer, &why, &|c| job(c, &configuration))))
}

fn some(pool: &Pool, seeds: Range<u64>, schemes: &[Scheme]) -> Result<(), Failed> {
    let mut seen = Seen::default();
    let whole = seeds.end - seeds.start >= BLOCK;
    for seed in seeds {
        // neighbours are of different kinds, so that each scheme sees all of them
        let scheme = schemes[(seed / 8 + seed) as usize % schemes.len()];
        seen.add(seed, scheme, one(pool, seed, scheme));
    }
    seen.judge(schemes, whole)
}

fn main() {
    let arguments = Arguments::from_args();
    let worker = std::env::var("SLUICE_WORKER").unwrap_or(env!("CARGO_BIN_EXE_sluice-tests-worker").into());
    let pool = Arc::new(Pool::new(&worker, env!("CARGO_TARGET_TMPDIR")));
    let schemes = match std::env::var("SLUICE_SCHEME") {
        Ok(name) => {
            let found = Configuration::schemes().into_iter().find(|s| s.name() == name);
            vec![found.expect("SLUICE_SCHEME is the name of a scheme")]
        }
        Err(_) => Configuration::schemes(),
    };
    let (first, count) = match std::env::var("SLUICE_SEED") {
        Ok(seed) => (seed.parse().expect("SLUICE_SEED is a number"), 1),
        Err(_) => {
            let asked = number_from_environment("SLUICE_RANDOM_PROGRAMS", 200);
            (number_from_environment("SLUICE_FIRST_SEED", 0), asked.div_ceil(ONE_OF))
        }
    };
    let end = first + count;
    let mut trials = Vec::new();
    for at in (first..end).step_by(BLOCK as usize) {
        let (pool, seeds, schemes) = (pool.clone(), at..(at + BLOCK).min(end), schemes.clone());
        let name = format!("programs_{}_to_{}", seeds.start, seeds.end - 1);
        trials.push(Trial::test(name, move || some(&pool, seeds, &schemes)));
    }
    let done = libtest_mimic::run(&arguments, trials);
    drop(pool);
    done.exit()
}
