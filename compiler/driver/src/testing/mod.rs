//! `sluice test`: the tests of a project's own programs (docs/projects.md).
//!
//! ```text
//! files of tests/ → find → Group → spec → Test → launch (a process per back end: child) → Ran → judge → Verdict → report, bless
//! ```

pub mod bless;
pub mod child;
pub mod compare;
pub mod expect;
pub mod failure;
pub mod find;
pub mod items;
pub mod judge;
pub mod launch;
pub mod lines;
pub mod report;
pub mod shape;
pub mod spec;
pub mod tolerance;

use crate::cc::Compiler;
use crate::exit::{Exit, Fault, no_thread};
use crate::interrupt;
use crate::options::{CodeChoices, MessageFormat};
use crate::pipeline::Halt;
use crate::project::{self, Manifest, manifest};
use crate::session::{self, Session};
use child::Request;
use failure::{Change, Failure, Verdict};
use find::Group;
use report::{Count, Outcome, Status};
use sluice_grammar::similar::closest;
use spec::{BackEnds, Input, Test};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// What the command line says about tests.
#[derive(Clone, Debug, Default)]
pub struct TestOptions {
    /// Parts of the names of the tests to run; all without.
    pub filters: Vec<String>,
    /// The project's folder; the nearest without.
    pub project: Option<String>,
    /// Write what comes as what is expected.
    pub bless: bool,
    /// With what to run.
    pub back_ends: BackEnds,
    /// Tests at the same time; as many as there are processors without.
    pub jobs: Option<usize>,
    /// How code is made.
    pub code: CodeChoices,
    /// How messages are written.
    pub messages: MessageFormat,
}

/// What a worker hands to the one who reports.
enum Done {
    Tested(Box<Test>, Verdict),
    Broken(spec::Broken),
    Skipped(BackEnds),
    Fault(Fault),
    Stopped,
}

/// The request for a run of a test.
fn request(test: &Test, choices: CodeChoices, interpret: bool) -> Result<Request, String> {
    let (input, format) = match &test.input {
        Some(Input::File(path, format)) => (Some(path.clone()), *format),
        _ => (None, None),
    };
    let output = test.output.as_ref().map(spec::Expected::format).transpose()?;
    Ok(Request {
        files: test.files.clone(),
        top: test.entry.clone(),
        test_program: test.program.clone(),
        input,
        input_format: format.map(|f| f.name().to_string()),
        wants_output: output.is_some(),
        output_format: output.map(|f| f.name().to_string()),
        rate: test.rate,
        channels: test.channels,
        iterations: test.iterations,
        interpret,
        code: choices.or(test.code),
        natives: test.natives.clone(),
        folder: Default::default(),
    })
}

/// Runs and judges one test.
fn run(group: &Group, project: &Manifest, options: &TestOptions) -> Done {
    let test = match spec::read(group, project) {
        Ok(test) => test,
        Err(broken) => return Done::Broken(broken),
    };
    let Some(back_ends) = test.back_ends.and(options.back_ends) else { return Done::Skipped(test.back_ends) };
    let inline = match &test.input {
        Some(Input::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let mut runs = Vec::new();
    for (name, interpret) in [(judge::NATIVE, false), (judge::INTERPRET, true)] {
        if back_ends == if interpret { BackEnds::Native } else { BackEnds::Interpret } {
            continue;
        }
        let request = match request(&test, options.code, interpret) {
            Ok(request) => request,
            Err(message) => return Done::Broken(message.into()),
        };
        match launch::run(request, inline, test.timeout) {
            Ok(Some(ran)) => runs.push((name, ran)),
            Ok(None) => return Done::Stopped,
            Err(fault) => return Done::Fault(fault),
        }
    }
    let fast_math = options.code.or(test.code).fast_math.unwrap_or(false);
    let verdict = judge::judge(&test, &runs, fast_math);
    Done::Tested(Box::new(test), verdict)
}

/// The tests whose names the filters ask for.
fn chosen(all: Vec<Group>, options: &TestOptions, folder: &str) -> Result<Vec<Group>, Fault> {
    if all.is_empty() {
        return Err(Fault::usage(format!("the project has no tests: there are none in {folder}"))
            .help(format!("a test is an input {folder}/NAME.in.txt and the output {folder}/NAME.out.txt that it must give; see docs/projects.md")));
    }
    let names: Vec<String> = all.iter().map(|g| g.name.clone()).collect();
    let wanted = |g: &Group| options.filters.is_empty() || options.filters.iter().any(|f| g.name.contains(f.as_str()));
    for filter in &options.filters {
        if !names.iter().any(|n| n.contains(filter.as_str())) {
            let fault = Fault::usage(format!("no test has `{filter}` in its name"));
            return Err(match closest(filter, names.iter().map(String::as_str)) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault.help(format!("there are {}", shortened(&names))),
            });
        }
    }
    Ok(all.into_iter().filter(wanted).collect())
}

/// Some names of many.
fn shortened(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(8).map(String::as_str).collect();
    let more = if names.len() > shown.len() { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The project, and its folder as the current one: there its programs' own files are found, and messages name files from there.
fn enter(session: &Session, options: &TestOptions) -> Result<Manifest, Halt> {
    let path = project::find::manifest_path(options.project.as_deref())?;
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::env::set_current_dir(folder).map_err(|e| Fault::file("enter", folder.display(), &e))?;
    }
    project::find::read(session, Path::new(path.file_name().unwrap_or(manifest::NAME.as_ref())))
}

/// `sluice test`
pub fn test(session: &mut Session, options: &TestOptions) -> Result<Exit, Halt> {
    let colour = session::wants_colour_on(&std::io::stdout());
    let project = enter(session, options)?;
    let groups = chosen(find::find(&project.test.folder)?, options, &project.test.folder)?;
    if options.back_ends != BackEnds::Interpret {
        // Told once, and not by every test.
        Compiler::find().map_err(|f| Fault {
            help: f.help.map(|h| h.replace("sluice run --interpret", "sluice test --back-end interpret")),
            ..f
        })?;
    }
    interrupt::listen();
    let json = options.messages == MessageFormat::Json;
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let (next, (send, receive)) = (AtomicUsize::new(0), mpsc::channel());
    let mut count = Count::default();
    let mut gap = "\n";
    let mut blessed: Vec<(String, Change)> = Vec::new();
    let stopped = std::thread::scope(|scope| -> Result<bool, Halt> {
        for started in 0..jobs.clamp(1, groups.len()) {
            let (groups, project, next, send) = (&groups, &project, &next, send.clone());
            let work = move || {
                while let Some((i, group)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, groups.get(i)?)))
                {
                    // A fault of ours in one test is that test's failure.
                    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(group, project, options)));
                    let done = done.unwrap_or_else(|_| {
                        let message = "internal error: the test runner stopped; please report this with the test";
                        Done::Broken(message.to_string().into())
                    });
                    if send.send((i, done)).is_err() {
                        return;
                    }
                }
            };
            match std::thread::Builder::new().spawn_scoped(scope, work) {
                Ok(_) => {}
                // fewer do it, too
                Err(_) if started > 0 => break,
                Err(e) => return Err(no_thread(&e).into()),
            }
        }
        drop(send);
        // Results are told in the order of the names, whatever order they come in.
        let mut waiting = std::collections::BTreeMap::new();
        let mut at = 0;
        let stop_all = |halt: Halt| {
            next.store(groups.len(), Ordering::Relaxed);
            Err(halt)
        };
        for (i, done) in receive.iter() {
            waiting.insert(i, done);
            while let Some(done) = waiting.remove(&at) {
                let name = groups[at].name.clone();
                at += 1;
                let outcome = match done {
                    Done::Stopped => return Ok(true),
                    Done::Fault(fault) => return stop_all(fault.into()),
                    Done::Broken(broken) => Outcome::broken(name, &broken, colour),
                    Done::Skipped(only) => {
                        let only = BackEnds::NAMES.iter().find(|(_, b)| *b == only).map_or("", |(n, _)| n);
                        let message = format!("it says `back-end = \"{only}\"`");
                        let failures = vec![Failure { kind: "skipped", message, ..Default::default() }];
                        Outcome { name, status: Status::Skipped, failures, broken: None }
                    }
                    Done::Tested(test, verdict) => {
                        let status = match verdict.failures.is_empty() {
                            true => Status::Passed,
                            false if options.bless && verdict.is_mendable() => {
                                blessed.extend(verdict.changes.into_iter().map(|c| (test.name.clone(), c)));
                                Status::Blessed
                            }
                            false => Status::Failed,
                        };
                        Outcome { name, status, failures: verdict.failures, broken: None }
                    }
                };
                count.add(outcome.status);
                gap = if outcome.status == Status::Failed { "" } else { "\n" };
                let text = if json { report::json(&outcome) } else { report::human(&outcome, colour) };
                if let Err(fault) = session::print(&text) {
                    return stop_all(fault.into());
                }
            }
        }
        Ok(false)
    })?;
    if stopped || interrupt::requested() {
        return Err(Fault::input("the tests were interrupted").into());
    }
    if write_blessed(&blessed, json)? {
        gap = "\n";
    }
    session::print(&if json { report::json_summary(count) } else { format!("{gap}{}", report::last_line(count)) })?;
    Ok(if count.failed == 0 { Exit::Ok } else { Exit::Program })
}

/// Writes what was blessed, and says so, where there is something.
fn write_blessed(blessed: &[(String, Change)], json: bool) -> Result<bool, Fault> {
    if blessed.is_empty() {
        return Ok(false);
    }
    let changes: Vec<Change> = blessed.iter().map(|(_, c)| c.clone()).collect();
    bless::write(&changes)?;
    if !json {
        session::print("\n")?;
    }
    for (test, change) in blessed {
        let file = change.place.name();
        session::print(&match json {
            true => report::json_blessed(file, test, &change.note),
            false => format!("wrote {file}: {}\n", change.note),
        })?;
    }
    Ok(true)
}
