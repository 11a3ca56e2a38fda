//! Random programs in which streams take turns give what separate runs give; those with equal branches give the same bytes folded; and what
//! a firing of several streams does is what the streams' own firings do, in any order.
//!
//! `SLUICE_SLOW_PROGRAMS` says how many of each (60); `SLUICE_FIRST_SEED` where to begin (0). `SLUICE_SEED=n` runs that one alone.

#![allow(clippy::disallowed_methods)] // the number of programs comes from outside

use sluice_tests::differ::{self, LIMIT, complaint};
use sluice_tests::generate::{self, Case};
use sluice_tests::message::Message;
use sluice_tests::pool::Pool;
use sluice_tests::{seeds, turns, work};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    TakeTurns,
    Fold,
    TurnByTurn,
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
            Kind::TurnByTurn => {
                let (slowing, _) = turns::Slowing::ALL[(seed % 4) as usize];
                let job = work::job("turn-by-turn", case).with("slowing", slowing).with("order", seed.to_string());
                job.with("streams", some_streams(seed).to_string())
            }
        }
    }

    fn case(self, seed: u64) -> Case {
        match self {
            // programs with equal branches, too; those that print are refused
            Kind::TakeTurns if seed % 3 == 2 => generate::branches(seed),
            Kind::TakeTurns => generate::case(seed),
            Kind::TurnByTurn if seed.is_multiple_of(8) => generate::case(seed),
            Kind::TurnByTurn => {
                let slowing = turns::Slowing::ALL[(seed % 4) as usize].1(some_streams(seed));
                let one = |i| generate::branches(seed * 8 + i);
                (0..8).map(one).find(|c| turns::can_be_slowed(c, slowing)).unwrap_or_else(|| one(0))
            }
            // one that can be folded, if there is one among some
            Kind::Fold => (0..8)
                .map(|i| generate::branches(seed * 8 + i))
                .find(turns::can_be_folded)
                .unwrap_or_else(|| generate::branches(seed)),
        }
    }
}

fn some_streams(seed: u64) -> u32 {
    [2, 3, 5, 2, 8][(seed / 4 % 5) as usize]
}

fn one(pool: &Pool, kind: Kind, seed: u64) -> Result<bool, String> {
    let case = kind.case(seed);
    let answer = pool.ask(&kind.job(seed, &case), LIMIT);
    let Some(why) = complaint(&answer) else {
        return Ok(answer.is_ok_and(|m| m.text("how") == "output"));
    };
    Err(differ::report(pool, seed, &case, &answer, &why, &|c| kind.job(seed, c)))
}

fn main() {
    // programs without output, or without anything to fold, would prove nothing
    let kind = |name, one: fn(&Pool, u64) -> Result<bool, String>| seeds::Kind {
        name,
        one,
        wanted: |_| true,
        of: 4,
        shown: "show anything",
    };
    let kinds = vec![
        kind("take_turns", |pool, seed| one(pool, Kind::TakeTurns, seed)),
        kind("fold", |pool, seed| one(pool, Kind::Fold, seed)),
        kind("turn_by_turn", |pool, seed| one(pool, Kind::TurnByTurn, seed)),
    ];
    seeds::main(
        (env!("CARGO_BIN_EXE_sluice-tests-worker"), env!("CARGO_TARGET_TMPDIR")),
        kinds,
        20,
        "SLUICE_SLOW_PROGRAMS",
        60,
    )
}
