//! # pipeline
//!
//! Purpose: from files to running code, one straight way: read, analyse, schedule, lower, emit C, compile, run.
//! Every step is a pass with a name; each can be timed, and what it made can be dumped.

use crate::as_c::as_c;
use crate::as_run::as_run;
use crate::back_end;
use crate::compiled;
use crate::cuda;
use crate::dumps;
use crate::exit::{Exit, Fault};
use crate::interrupt;
use crate::io::host::{self, Host};
use crate::io::sink::Out;
use crate::jitted::{self, Ready};
use crate::native::NativeEnd;
use crate::natives::Natives;
use crate::natives::foreign::Foreign;
use crate::options::{BackEnd, CodeOptions, NativeOptions, ProgramOptions, RunOptions};
use crate::resident;
use crate::runtime::{self, RunEnd};
use crate::session::{self, Session};
use crate::source::Files;
use crate::stats::Ending;
use crate::threads::report;
use crate::tune;
use crate::watched::{self, Watched};
use sluice_codegen::c::print::Site;
use sluice_frontend::elaborate::Limits;
use sluice_frontend::graph::{Node, NodeKind};
use sluice_frontend::lints::levels::Levels;
use sluice_frontend::{Analysis, Elaborated, Options};
use sluice_grammar::span::SourceMap;
use std::path::PathBuf;

/// Why a command goes no further.
#[derive(Debug)]
pub enum Halt {
    /// Something is at fault that has no place in a program's text.
    Fault(Fault),
    /// All has been said.
    Done(Exit),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(fault)
    }
}

/// What another process asks of a run that it watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// A file to make as soon as the program itself starts.
    pub started: PathBuf,
    /// The most bytes that a file may grow to.
    pub most_bytes: u64,
}

impl Confinement {
    /// Sets the limits (where the system has them) and says that the program starts.
    fn begin(&self) -> Result<(), Fault> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        for (resource, most) in [(Resource::Fsize, self.most_bytes), (Resource::Core, 0)] {
            let maximum = getrlimit(resource).maximum;
            let _ = setrlimit(resource, Rlimit { current: Some(most.min(maximum.unwrap_or(most))), maximum });
        }
        std::fs::write(&self.started, "").map_err(|e| Fault::file("write", self.started.display(), &e))
    }
}

/// A program without errors, and its files.
pub struct Checked {
    /// The files.
    pub sources: SourceMap,
    /// The program.
    pub program: Elaborated,
}

/// Reads and analyses; reports all diagnostics. Goes on only with a program that has no errors.
pub fn check(session: &mut Session, options: &ProgramOptions) -> Result<Checked, Halt> {
    let analysis = analyse(session, options, false)?;
    let exit = at_fault(&analysis);
    match analysis.program {
        Some(program) => Ok(Checked { sources: analysis.sources, program }),
        None => Err(Halt::Done(exit)),
    }
}

/// Who is at fault where there are errors: nearly always the program.
pub fn at_fault(analysis: &Analysis) -> Exit {
    let told = |code: &str| analysis.diagnostics.iter().any(|d| d.is_error() && d.code == code);
    match () {
        () if told("E0998") => Exit::Input,
        // an internal fault is told only where the program has no error that it could follow from
        () if told("E0999") => Exit::Internal,
        () => Exit::Program,
    }
}

/// Reads and analyses; reports all diagnostics, and ends where there are errors.
pub fn analyse(session: &mut Session, options: &ProgramOptions, parse_only: bool) -> Result<Analysis, Halt> {
    // what loaded this process has done its part
    resident::let_go();
    let settings = settings(options, parse_only)?;
    let mut files = Files::default();
    let inputs = session.pass("read", || files.read_all(&options.files))?;
    let mut analysis = session.pass("analyse", || sluice_frontend::analyse(inputs, &settings, &mut files));
    if let Some(manifest) = &options.manifest {
        manifest.explain_entry(&mut analysis, options.top.as_deref());
    }
    session.report(&analysis.sources, &analysis.diagnostics)?;
    dump(session, "parse", || analysis.trees.iter().map(|(_, tree)| sluice_grammar::print::print(tree)).collect())?;
    if analysis.failed() {
        return Err(Halt::Done(at_fault(&analysis)));
    }
    if let Some(program) = &analysis.program {
        dump(session, "elaborate", || sluice_frontend::graph_text::print(&program.graph))?;
        dump(session, "steady-state", || dumps::steady_state(program))?;
    }
    if let Some(n) = options.streams
        && let Some(program) = analysis.program.take()
    {
        match session.pass("c-slow", || sluice_frontend::slow::streams(&program, n)) {
            Ok(slow) => {
                dump(session, "c-slow", || sluice_frontend::graph_text::print(&slow.graph))?;
                analysis.program = Some(slow);
            }
            Err(diagnostics) => {
                session.report(&analysis.sources, &diagnostics)?;
                return Err(Halt::Done(Exit::Program));
            }
        }
    }
    Ok(analysis)
}

/// What the front end is told.
pub fn settings(options: &ProgramOptions, parse_only: bool) -> Result<Options, Fault> {
    let mut limits = Limits::default();
    if let Some(n) = options.max_filters {
        limits.instances = n;
    }
    let mut levels = Levels::default();
    for (what, level) in &options.levels {
        levels.set(what, *level).map_err(|why| {
            Fault::usage(why).help("docs/lints.md lists the warnings; `warnings` stands for all of them")
        })?;
    }
    Ok(Options { top: options.top.clone(), parse_only, limits, levels, ..Options::default() })
}

/// Shows what a pass made, where it is the one asked for; then the command is done.
pub fn dump(session: &Session, pass: &str, text: impl FnOnce() -> String) -> Result<(), Halt> {
    if !session.dumps(pass) {
        return Ok(());
    }
    session::print(&text())?;
    Err(Halt::Done(Exit::Ok))
}

/// What was made, or nothing where its buffers would take too much and the interpreter may run the program instead.
fn unless_too_large<T>(session: &Session, made: Result<T, Halt>, may: bool) -> Result<Option<T>, Halt> {
    match made {
        Err(Halt::Fault(fault)) if may && fault.code == Some(compiled::TOO_LARGE) => {
            let text = format!("{}: the interpreter runs the program ({})", fault.message, compiled::TOO_LARGE);
            session.remark(&text);
            Ok(None)
        }
        made => made.map(Some),
    }
}

/// Runs a program: with the interpreter, or compiled and loaded.
pub fn run(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    options: &RunOptions,
    natives: &NativeOptions,
) -> Result<Exit, Halt> {
    // the analysis has done its part
    resident::let_go();
    // what runs natively: equal branches may have become one filter
    let mut ran = checked;
    let (folded, combined);
    let program = &checked.program;
    let (readers, writers) = host::ends(&program.graph, &program.globals)?;
    host::check_bindings(&readers, &writers, &options.bindings)?;
    watched::check_outputs(&writers, options)?;
    let mut foreign = Foreign::none();
    let mut plan = None;
    // only the interpreter tells what each firing does
    let native = 'native: {
        if options.interpret || options.trace.is_some() {
            break 'native None;
        }
        // buffers that take too much are no reason not to run, where nobody has asked for native code
        let may_interpret = options.back_end == BackEnd::Auto && options.threads.is_none() && options.stats.is_none();
        let code = &CodeOptions { stats: options.stats.is_some(), ..*code };
        folded = as_run(session, checked, code)?;
        ran = folded.as_ref().unwrap_or(checked);
        let checked = ran;
        Some(match (&options.cuda, &options.threads) {
            (Some(cuda), _) => {
                let cuda = &cuda::auto::decided(session, checked, code, natives, cuda)?;
                let made = cuda::run::prepare(session, checked, code, natives, cuda, cuda::texts::texts)?;
                combined = made.own;
                ran = combined.as_ref().unwrap_or(checked);
                (made.native, made.host).into()
            }
            (None, threads) => {
                let front = compiled::front(session, checked, code)?;
                let who = back_end::decide(session, checked, code, options, &readers, &front)?;
                if who == BackEnd::Jit {
                    // the front end has done its part
                    resident::let_go();
                    let made = jitted::of(session, checked, code, front);
                    let Some(made) = unless_too_large(session, made, may_interpret)? else { break 'native None };
                    made
                } else {
                    let code = &tune::find::tuned(checked, code);
                    // code made in memory is of the program before: linear filters that are combined have other roundings, branches in vectors want a C compiler
                    combined = as_c(session, checked, code)?;
                    let front = match &combined {
                        Some(combined) => compiled::front(session, combined, code)?,
                        None => front,
                    };
                    ran = combined.as_ref().unwrap_or(checked);
                    let emitted = compiled::emit_plugin(session, ran, code, threads.as_ref(), front);
                    let Some(emitted) = unless_too_large(session, emitted, may_interpret)? else { break 'native None };
                    let c;
                    (c, plan) = emitted;
                    let natives = Natives::prepare(session, ran, natives, &code.cc)?;
                    (compiled::load(session, ran, &c, code, &natives)?, c).into()
                }
            }
        })
    };
    if native.is_none() {
        ran = checked;
        let natives = Natives::prepare(session, checked, natives, &code.cc)?;
        foreign = Foreign::load(session, checked, &natives, code)?;
    }
    interrupt::listen();
    if let Some(confinement) = &options.confinement {
        confinement.begin()?;
    }
    // what is needed from here on is the program
    resident::let_go();
    let out = Out::stdout();
    let mut host = Host::open_to(&readers, &writers, &options.bindings, out.clone())?;
    let mut watched = Watched::open(checked, options, &out, &mut host)?;
    let prints = |n: &&Node| matches!(n.kind, NodeKind::Filter { prints: true, .. });
    let seen = program.graph.nodes.iter().filter(prints).count() as u32 + host.stdout_writers();
    if options.cuda.is_some() && seen > 1 {
        session.remark(
            "several parts of the program write to standard output, in an order that can be seen: it runs on the CPU",
        );
    }
    let insistence = interrupt::insist();
    let batch = options.threads.and_then(|t| t.batch);
    let mut tally = None;
    let staged = plan.as_ref().filter(|p| p.partition.is_some()).map(|p| &p.threads);
    let end = session.pass("run", || match (&native, staged) {
        (Some(Ready { native, sites, .. }), Some(threads)) => {
            let (end, done) = native.run_threads(&readers, &writers, options.iterations, &host, (threads, batch));
            tally = Some(done);
            end.map_err(|e| of_native(e, ran, sites))
        }
        (None, _) => {
            let settings =
                sluice_interpret::Options { iterations: options.iterations, channel_limit: code.channel_limit };
            watched.interpret(&readers, settings, &mut host, &mut foreign)
        }
        (Some(Ready { native, sites, fills }), None) => {
            let end = watched.run(native, (&readers, &writers), options.iterations, &mut host, fills.as_ref());
            end.map_err(|e| of_native(e, ran, sites))
        }
    });
    drop(insistence);
    let told = plan.as_ref().filter(|_| options.threads.is_some_and(|t| t.report));
    let told = told.map(|plan| report::report(plan, tally.as_ref()));
    let Err(end) = end else {
        let ending = if host.wants_stop() { Ending::Stopped } else { Ending::Complete };
        let finished = host.finish();
        for remark in finished.iter().flatten() {
            session.remark(remark);
        }
        let watched = watched.close(ending);
        told.iter().for_each(|text| session::say(text));
        finished?;
        watched?;
        return Ok(Exit::Ok);
    };
    host.abandon();
    told.iter().for_each(|text| session::say(text));
    if let Err(fault) = watched.close(Ending::Failed) {
        session.fault(&fault);
    }
    match end {
        RunEnd::Fault(fault) => Err(fault.into()),
        RunEnd::Program(diagnostic) => {
            session.report(&checked.sources, &[*diagnostic])?;
            Ok(Exit::Program)
        }
    }
}

/// Why native code did not end well.
fn of_native(end: NativeEnd, checked: &Checked, sites: &[Site]) -> RunEnd {
    match end {
        NativeEnd::Fault(fault) => RunEnd::Fault(fault),
        NativeEnd::Program(error) => runtime::of_native(&error, &checked.program.graph, sites),
    }
}
