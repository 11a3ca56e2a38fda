//! What a worker can do.

use crate::generate::{self, Case};
use crate::message::Message;
use crate::run::{Mode, Outcome, check, difference, run};
use crate::{examine, mangle};
use sluice_driver::exit::Exit;
use sluice_frontend::elaborate::Limits;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

/// Stack for a job: deep programs recurse.
const STACK: usize = 256 << 20;

/// Answers one job. A panic is an answer, too.
pub fn answer(job: &Message, folder: &Path) -> Message {
    let done = std::thread::scope(|s| {
        let work = || catch_unwind(AssertUnwindSafe(|| carry_out(job, folder)));
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(s, work);
        thread.map(|t| t.join())
    });
    match done {
        Ok(Ok(Ok(answer))) => answer,
        // the message went to standard error
        Ok(_) => std::process::abort(),
        Err(e) => Message::new("cannot").with("why", e.to_string()),
    }
}

fn carry_out(job: &Message, folder: &Path) -> Message {
    match job.text("kind").as_str() {
        "check" => match check(&job.text("source")) {
            Ok(_) => Message::new("accepted"),
            Err(why) => Message::new("refused").with("why", why),
        },
        "interpret" => match check(&job.text("source")) {
            Ok(checked) => told(run(&checked, &case(job), Mode::Interpreted, folder)),
            Err(why) => Message::new("refused").with("why", why),
        },
        "examine" => match examine::examine(job.bytes("source").unwrap_or_default(), limits(job)) {
            Ok(found) => {
                let codes: Vec<&str> = found.errors.into_iter().collect();
                Message::new(if found.accepted { "accepted" } else { "refused" }).with("codes", codes.join(" "))
            }
            Err(why) => Message::new("fault").with("why", why),
        },
        "examine-many" => examine_many(job),
        "differ" => differ(&case(job), mode(job), folder),
        other => Message::new("cannot").with("why", other),
    }
}

/// The program and input of a job: of its seed, or as it says.
pub fn case(job: &Message) -> Case {
    match job.number("seed") {
        Some(seed) => generate::case(seed),
        None => Case {
            source: job.text("source"),
            input: job.bytes("input").map(<[u8]>::to_vec),
            iterations: job.number("iterations"),
            hazards: job.bytes("hazards").is_some(),
        },
    }
}

/// A job for this program and input.
pub fn job(kind: &str, case: &Case) -> Message {
    let mut m = Message::new(kind).with("source", &case.source);
    if let Some(bytes) = &case.input {
        m = m.with("input", bytes);
    }
    if let Some(n) = case.iterations {
        m = m.with("iterations", n.to_string());
    }
    if case.hazards { m.with("hazards", "") } else { m }
}

fn mode(job: &Message) -> Mode {
    let level = job.number("level").unwrap_or(1) as u8;
    Mode::Native { level, small_buffers: job.bytes("small-buffers").is_some() }
}

fn told(outcome: Outcome) -> Message {
    match outcome {
        Outcome::Done { printed, written } => {
            let m = Message::new("done").with("printed", printed);
            match written {
                Some(w) => m.with("written", w),
                None => m,
            }
        }
        Outcome::Failed(exit, why) => Message::new("failed").with("exit", exit.code().to_string()).with("why", why),
    }
}

/// The usual limits, but for what a job says of evaluation.
fn limits(job: &Message) -> Limits {
    let usual = Limits::default();
    Limits { constants: job.number("constants").unwrap_or(usual.constants), ..usual }
}

/// Looks at the texts of some numbers. Answers with how many were accepted, and how many ran; or with the first fault.
fn examine_many(job: &Message) -> Message {
    static PROGRAMS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(|| mangle::programs(Path::new(&job.text("root"))));
    let first = job.number("first").unwrap_or(0);
    let (mut accepted, mut ran) = (0, 0);
    for number in first..first + job.number("count").unwrap_or(0) {
        // now and then with the limits that users have
        let limits = if number % 50 == 17 { Limits::default() } else { examine::small_limits() };
        match examine::examine(&mangle::text(number, programs), limits) {
            Ok(found) => {
                accepted += u64::from(found.accepted);
                ran += u64::from(found.ran);
            }
            Err(why) => return Message::new("fault").with("number", number.to_string()).with("why", why),
        }
    }
    Message::new("done").with("accepted", accepted.to_string()).with("ran", ran.to_string())
}

/// Runs a program both ways. The answer is `same`, `refused` or `different`, with why.
fn differ(case: &Case, mode: Mode, folder: &Path) -> Message {
    let checked = match check(&case.source) {
        Ok(checked) => checked,
        Err(why) => return Message::new("refused").with("why", why),
    };
    let interpreted = run(&checked, case, Mode::Interpreted, folder);
    if let Outcome::Failed(exit, why) = &interpreted
        && !(case.hazards && *exit == Exit::Program)
    {
        return Message::new("refused").with("why", format!("the interpreter fails: {why}"));
    }
    let native = run(&checked, case, mode, folder);
    match difference(&interpreted, &native) {
        Some(why) => Message::new("different").with("why", format!("interpreted and compiled: {why}")),
        None => {
            let failed = matches!(interpreted, Outcome::Failed(..));
            let empty = matches!(&interpreted, Outcome::Done { printed, written }
                if printed.is_empty() && written.as_ref().is_none_or(Vec::is_empty));
            let how = if failed {
                "failed"
            } else if empty {
                "empty"
            } else {
                "output"
            };
            Message::new("same").with("how", how)
        }
    }
}
