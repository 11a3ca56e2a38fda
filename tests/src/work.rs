//! What a worker can do.

use crate::generate::{self, Case};
use crate::message::Message;
use crate::patient::patient;
use crate::run::{Compare, Feed, Make, Outcome, check, compile, compile_in_memory, difference, run};
use crate::{device, examine, mangle, turns};
use sluice_driver::exit::Exit;
use sluice_driver::options::Inner;
use sluice_frontend::elaborate::Limits;
use std::collections::BTreeSet;
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
            Ok(checked) => told(run(&checked, &case(job), None, Feed::default(), folder)),
            Err(why) => Message::new("refused").with("why", why),
        },
        "differ" => differ(job, folder),
        "windows" => windows(job, folder),
        "take-turns" => turns::take_turns(&case(job), job.number("streams").unwrap_or(2) as u32, make(job), folder),
        "device" => device::job(&case(job), &device::Configuration::from(job), job.bytes("lengths").is_some(), folder),
        "turn-by-turn" => match turns::Slowing::ALL.iter().find(|(name, _)| *name == job.text("slowing")) {
            Some((_, slowing)) => {
                let streams = job.number("streams").unwrap_or(2) as u32;
                turns::apart(&case(job), slowing(streams), job.number("order").unwrap_or_default())
            }
            None => Message::new("cannot").with("why", "no such slowing"),
        },
        "fold" => turns::fold(&case(job), make(job), folder),
        "examine" => match examine::examine(job.bytes("source").unwrap_or_default(), limits(job)) {
            Ok(found) => {
                let codes: Vec<&str> = found.errors.into_iter().collect();
                Message::new(if found.accepted { "accepted" } else { "refused" }).with("codes", codes.join(" "))
            }
            Err(why) => Message::new("fault").with("why", why),
        },
        "examine-many" => examine_many(job),
        other => Message::new("cannot").with("why", other),
    }
}

/// What is done with the loops of a seed's program: each kind in turn, or what `SLUICE_INNER` says.
pub fn inner(seed: u64) -> String {
    let all = Inner::NAMES.map(|(name, _)| name);
    match std::env::var("SLUICE_INNER") {
        Ok(name) => {
            assert!(all.contains(&name.as_str()), "SLUICE_INNER is one of {}", all.join(", "));
            name
        }
        Err(_) => all[(seed % all.len() as u64) as usize].into(),
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
            channel_limit: job.number("channel-limit"),
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
    if let Some(n) = case.channel_limit {
        m = m.with("channel-limit", n.to_string());
    }
    if case.hazards { m.with("hazards", "") } else { m }
}

/// Indices outside, divisions by zero, more or less than the rates say: errors of programs that may fail.
pub(crate) const CERTAIN: [&str; 8] = ["E0225", "E0226", "E0227", "E0236", "E0237", "E0238", "E0239", "E0241"];

fn make(job: &Message) -> Make {
    let level = job.number("level").unwrap_or(1) as u8;
    let is = |name| job.bytes(name).is_some();
    let channel_limit = job.number("channel-limit");
    let inner =
        Inner::NAMES.iter().find(|(name, _)| *name == job.text("inner")).map_or(Inner::Auto, |(_, inner)| *inner);
    let plain = is("plain");
    Make { level, small_buffers: is("small-buffers"), unchecked: is("unchecked"), channel_limit, inner, plain }
}

fn told(outcome: Outcome) -> Message {
    match outcome {
        Outcome::Done { printed, mut written, .. } => {
            let m = Message::new("done").with("printed", printed);
            match written.remove("out.bin") {
                Some(w) => m.with("written", w),
                None => m,
            }
        }
        Outcome::Failed(exit, why, _) => Message::new("failed").with("exit", exit.code().to_string()).with("why", why),
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

/// The codes of the errors in rendered diagnostics.
pub fn errors(why: &str) -> BTreeSet<&str> {
    why.lines().filter_map(|l| l.strip_prefix('[')?.split(']').next()).filter(|code| code.starts_with('E')).collect()
}

/// Inputs up to this length are all tried, then some longer ones.
pub const SHORT: u32 = 200;

/// Runs the windows of a seed both ways, with inputs of many lengths. The answer is as that of [`differ`], with the length's
/// bytes; `lanes` says in how many filters several firings run at once.
fn windows(job: &Message, folder: &Path) -> Message {
    let seed = job.number("seed").unwrap_or_default();
    let (case, size) = windows_case(seed);
    let checked = match check(&case.source) {
        Ok(checked) => checked,
        Err(why) => return Message::new("refused").with("why", why),
    };
    let (ran, code) = match compile(&checked, make(job)) {
        Ok(made) => made,
        Err(why) => return Message::new("different").with("why", format!("it cannot be compiled: {why}")),
    };
    let made = match compile_in_memory(&checked, make(job)) {
        Ok(made) => made,
        Err(why) => return Message::new("different").with("why", format!("no code is made in memory: {why}")),
    };
    let all = case.input.as_deref().unwrap_or_default();
    let longer = (0..6).map(|i| all.len() - i * 1717 % all.len().max(1));
    let lengths = (0..=SHORT as usize).map(|n| n * size + usize::from(n % 7 == 3)).chain(longer);
    for bytes in lengths {
        let part = Case { input: Some(all[..bytes.min(all.len())].to_vec()), ..case.clone() };
        let interpreted = run(&checked, &part, None, Feed::default(), folder);
        if let Outcome::Failed(_, why, _) = &interpreted {
            return Message::new("refused").with("why", format!("the interpreter fails: {why}"));
        }
        for (program, code, how) in [(&ran, &code, "compiled"), (&checked, &made, "by code made in memory")] {
            let native = run(program, &part, Some(code), Feed::default(), folder);
            if let Some(why) = difference(&interpreted, &native, Compare { remarks: true, faults_only: false }) {
                let why = format!("input of {bytes} bytes, interpreted and {how}: {why}");
                return Message::new("different").with("why", why).with("bytes", bytes.to_string());
            }
        }
    }
    Message::new("same").with("lanes", code.lanes.to_string())
}

/// The program of [`windows`], and the bytes of an item.
pub fn windows_case(seed: u64) -> (Case, usize) {
    generate::windows(seed, 5000)
}

/// Runs a program both ways. The answer is `same`, `refused` or `different`, with why.
fn differ(job: &Message, folder: &Path) -> Message {
    let (case, make) = (&case(job), make(job));
    let feed = Feed { pipe: job.number("pipe"), to_stdout: job.bytes("to-stdout").is_some() };
    let checked = match check(&case.source) {
        Ok(checked) => checked,
        // what would go wrong in every firing is found by the compiler
        Err(why) if case.hazards && errors(&why).iter().all(|e| CERTAIN.contains(e)) => {
            return Message::new("same").with("how", "failed");
        }
        Err(why) => return Message::new("refused").with("why", why),
    };
    let interpreted = run(&checked, case, None, Feed { pipe: None, ..feed }, folder);
    if let Outcome::Failed(exit, why, _) = &interpreted
        && !(case.hazards && *exit == Exit::Program)
    {
        return Message::new("refused").with("why", format!("the interpreter fails: {why}"));
    }
    let (ran, code) = match compile(&checked, make) {
        Ok(made) => made,
        Err(why) => return Message::new("different").with("why", format!("it cannot be compiled: {why}")),
    };
    let native = run(&ran, case, Some(&code), feed, folder);
    // what came out before a fault is the same only in programs with neither dynamic rates nor messages
    let faults_only = checked.program.steady.islands.is_some() || !checked.program.messages.links.is_empty();
    let compare = Compare { remarks: case.iterations.is_none() && feed.pipe.is_none(), faults_only };
    let full = |o: &Outcome| matches!(o, Outcome::Failed(_, why, _) if why.starts_with("E0958"));
    if full(&interpreted)
        && !full(&native)
        && matches!(&native, Outcome::Done { .. } | Outcome::Failed(Exit::Program, ..))
    {
        // how much gathers on channels depends on the order, and native code may do with less
        return Message::new("same").with("how", "failed");
    }
    if let Some(why) = difference(&interpreted, &native, compare) {
        return Message::new("different").with("why", format!("interpreted and compiled: {why}"));
    }
    let made = match compile_in_memory(&checked, make) {
        Ok(made) => run(&checked, case, Some(&made), feed, folder),
        Err(why) => return Message::new("different").with("why", format!("no code is made in memory: {why}")),
    };
    if let Some(why) = difference(&interpreted, &made, compare) {
        return Message::new("different").with("why", format!("interpreted and by code made in memory: {why}"));
    }
    if job.bytes("patient").is_some() {
        let both = [(&checked, None, "interpreted"), (&ran, Some(&code), "compiled")];
        let late = |(program, code, how): &(&_, Option<&_>, &'static str)| Some((patient(program, case, *code)?, *how));
        if let Some((why, how)) = both.iter().find_map(late) {
            return Message::new("different").with("why", format!("{how}, {why}"));
        }
    }
    let how = match &interpreted {
        Outcome::Failed(..) => "failed",
        Outcome::Done { printed, written, .. } if printed.is_empty() && written.values().all(Vec::is_empty) => "empty",
        Outcome::Done { .. } => "output",
    };
    Message::new("same").with("how", how)
}
