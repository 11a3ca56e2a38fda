//! Random programs do on several threads what they do on one: the same bytes, the same remarks, the same faults.
//!
//! `SLUICE_RANDOM_THREADS` says how many programs (60), `SLUICE_FIRST_SEED` where to begin (0).

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside, and they write files

use sluice_tests::generate;
use sluice_tests::pool::number_from_environment;
use sluice_tests::run::{self, Feed, Outcome};

/// A pipe has another name than a file: remarks begin with it.
fn without_names(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Done { printed, written, remarks } => {
            let rest = |r: String| r.split_once(' ').map_or(String::new(), |(_, rest)| rest.to_string());
            Outcome::Done { printed, written, remarks: remarks.into_iter().map(rest).collect() }
        }
        failed => failed,
    }
}

#[test]
fn random_programs_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let (first, count) =
        (number_from_environment("SLUICE_FIRST_SEED", 0), number_from_environment("SLUICE_RANDOM_THREADS", 60));
    let (mut seed, mut looked) = (first, 0);
    // most programs cannot be cut (they print in several places, send messages, decide on rates): those are passed over
    while looked < count && seed < first + 20 * count {
        let case = generate::case(seed);
        // a few are refused by whoever compiles them (an index that is known to be outside)
        let Ok(checked) = run::check(&case.source) else {
            seed += 1;
            continue;
        };
        let threads = [2, 3, 5][(seed % 3) as usize];
        let batch = [Some(1), Some(3), None, Some(2)][(seed % 4) as usize];
        let feed = Feed { pipe: (seed % 5 == 2).then_some(seed), to_stdout: false };
        let turns = [1, 2, 5][(seed / 8 % 3) as usize];
        let made = run::compile_threads(&checked, (threads, (seed / 4) % 2 == 0), (batch, turns))
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        if let Some(code) = made {
            looked += 1;
            let want = run::run(&checked, &case, None, Feed::default(), folder.path());
            let got = run::run(&checked, &case, Some(&code), feed, folder.path());
            let (got, want) = (without_names(got), without_names(want));
            assert_eq!(got, want, "seed {seed}, {threads} threads, batch {batch:?} × {turns}\n{}", case.source);
        }
        seed += 1;
    }
    assert!(looked * 3 > count, "only {looked} of {} programs ran on threads", seed - first);
}
