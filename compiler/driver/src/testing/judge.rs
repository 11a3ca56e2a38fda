//! # judge
//!
//! Purpose: has a test passed? Input: the test, and what its runs did. Output: a [`Verdict`]: what is wrong, and what `--bless` would
//! write. In this order: did the runs end as they should; do both back ends do the same; is it what is expected.

use super::child::MOST_BYTES;
use super::compare;
use super::expect::{expectations, items_of};
use super::failure::{Failure, Verdict, items_failure, lines_failure};
use super::launch::{Ended, Ran};
use super::lines;
use super::spec::Test;
use super::tolerance::Tolerance;

/// A run and its back end's name.
pub type Named = (&'static str, Ran);

/// The names of back ends in messages.
pub const NATIVE: &str = "native";
/// See [`NATIVE`].
pub const INTERPRET: &str = "interpret";

fn in_words(back_end: &str) -> &'static str {
    if back_end == NATIVE { "native code" } else { "the interpreter" }
}

/// What is wrong with how a run ended.
fn end_of(test: &Test, ran: &Ran) -> Option<Failure> {
    let detail = ran.messages.clone();
    let failure = |kind, message: String| Some(Failure { kind, message, detail, ..Failure::default() });
    let reported = || match &ran.codes[..] {
        [] => "no error with a code was reported".to_string(),
        codes => format!("{} was reported", codes.join(", ")),
    };
    match (&ran.ended, &test.error) {
        (Ended::Exit(1), Some(code)) if ran.codes.contains(code) => None,
        (Ended::Exit(0), Some(code)) => failure("end", format!("{code} is expected, but the run ended well")),
        (Ended::Exit(_), Some(code)) => failure("end", format!("{code} is expected, but {}", reported())),
        (Ended::Exit(code), None) => match (test.exit.unwrap_or(0), *code) {
            (wanted, got) if wanted == got => None,
            (0, 1) => failure("end", "the program is at fault (exit code 1)".into()),
            (0, 2) => failure("end", "the test does not fit the program (exit code 2)".into()),
            (0, 3) => failure("end", "its input or the system is at fault (exit code 3)".into()),
            (0, 4) => failure("end", "sluice itself is at fault (exit code 4)".into()),
            (0, got) => failure("end", format!("the run ended with exit code {got}")),
            (wanted, got) => failure("end", format!("the exit code {wanted} is expected, {got} came")),
        },
        (Ended::Signal(n), _) => {
            let name = match n {
                4 => "an illegal instruction, ",
                6 => "an abort, ",
                7 => "a bus error, ",
                8 => "an arithmetic fault, ",
                9 => "killed, perhaps for want of memory, ",
                11 => "a segmentation fault, ",
                _ => "",
            };
            failure("crash", format!("the run crashed ({name}signal {n})"))
        }
        (Ended::Timeout(limit), _) => failure(
            "timeout",
            format!("the run had not ended after {} s; `timeout` sets another limit", limit.as_secs_f64()),
        ),
        (Ended::Compiling(limit), _) => {
            failure("timeout", format!("the program was not compiled after {} s, and has not run", limit.as_secs_f64()))
        }
        (Ended::TooMuch, _) => {
            failure("too-much", format!("the run put out more than {} MiB; `iterations` limits it", MOST_BYTES >> 20))
        }
    }
}

/// What the back ends do differently.
fn disagreements(runs: &[Named]) -> Vec<Failure> {
    let [(_, native), (_, interpreted)] = runs else { return Vec::new() };
    let mut all = Vec::new();
    let exact = Tolerance::default();
    let names = ["interpreter", "native"];
    if native.ended != interpreted.ended || native.codes != interpreted.codes {
        let say = |ran: &Ran| match (&ran.ended, &ran.codes[..]) {
            (Ended::Exit(code), []) => format!("exit code {code}"),
            (_, codes) => codes.join(", "),
        };
        let message = format!(
            "the back ends end differently: native code with {}, the interpreter with {}",
            say(native),
            say(interpreted)
        );
        all.push(Failure { kind: "back-ends", message, ..Failure::default() });
    }
    if let Some(d) = lines::compare(&interpreted.prints, &native.prints, &exact) {
        let what = "native code does not print what the interpreter does";
        let mut failure = lines_failure("back-ends", what, d);
        failure.detail.insert_str(0, "(- is the interpreter's, + is native code's)\n");
        all.push(failure);
    }
    let ends = |ran: &Ran| ran.report.output.iter().chain(&ran.report.written).cloned().collect::<Vec<_>>();
    for (a, b) in ends(interpreted).iter().zip(&ends(native)) {
        let (x, y) = (interpreted.bytes(&a.file), native.bytes(&b.file));
        if x == y {
            continue;
        }
        let what = match &a.path {
            Some(path) => format!("native code does not write to {path} what the interpreter does"),
            None => "native code does not give the output that the interpreter gives".to_string(),
        };
        let sides = (items_of(interpreted, a, "the interpreter's"), items_of(native, b, "native code's"));
        let found = match &sides {
            (Ok(x), Ok(y)) => compare::compare(x, y, &exact).map(|d| (d, [x, y])),
            _ => None,
        };
        all.push(match found {
            Some((d, sides)) => items_failure("back-ends", &what, &d, sides, &exact, names),
            None => Failure { kind: "back-ends", message: format!("{what}: other bytes"), ..Failure::default() },
        });
    }
    for failure in &mut all {
        failure
            .detail
            .push_str("this is a fault of sluice, or of a native function: please report it with the program\n");
    }
    all
}

/// Failures of back ends, joined where both have the same.
fn joined(all: Vec<(&'static str, Failure)>, runs: usize) -> Vec<Failure> {
    let mut out: Vec<Failure> = Vec::new();
    for (back_end, failure) in all {
        match out.iter_mut().find(|f| f.message == failure.message && f.detail == failure.detail) {
            Some(same) => same.back_end = None,
            None => out.push(Failure { back_end: Some(back_end), ..failure }),
        }
    }
    for failure in out.iter_mut().filter(|_| runs > 1) {
        if let Some(back_end) = failure.back_end {
            failure.message = format!("{}: {}", in_words(back_end), failure.message);
        }
    }
    out
}

/// Judges a test by its runs: of native code and of the interpreter, in this order, or of one of them.
pub fn judge(test: &Test, runs: &[Named], fast_math: bool) -> Verdict {
    let ends: Vec<_> = runs.iter().filter_map(|(name, ran)| end_of(test, ran).map(|f| (*name, f))).collect();
    if !ends.is_empty() {
        return Verdict { failures: joined(ends, runs.len()), changes: Vec::new() };
    }
    // Fast arithmetic gives other bytes: then each is compared with what is expected.
    let failures = if fast_math { Vec::new() } else { disagreements(runs) };
    if failures.is_empty() && !fast_math {
        return runs.last().map(|(_, ran)| expectations(test, ran)).unwrap_or_default();
    }
    let mut verdict = Verdict { failures, changes: Vec::new() };
    let agree = verdict.failures.is_empty();
    let mut each = Vec::new();
    for (name, ran) in runs {
        let found = expectations(test, ran);
        each.extend(found.failures.into_iter().map(|f| (*name, f)));
        if agree {
            // The reference interpreter is the last, and has the last word.
            verdict.changes = found.changes;
        }
    }
    verdict.failures.extend(joined(each, runs.len()));
    verdict
}
