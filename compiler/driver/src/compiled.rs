//! # compiled
//!
//! Purpose: from an elaborated program to C text, and from there to an object in the cache that can be loaded.

use crate::cache::{self, Cache};
use crate::cc::{CcOptions, Compiler, Product};
use crate::dumps;
use crate::exit::Fault;
use crate::io::{place, sink};
use crate::kernels::{host_kernels, improve, print_kernels, run_passes};
use crate::native::Native;
use crate::natives::Natives;
use crate::natives::sources::{self, Failure, Job};
use crate::options::{CodeOptions, ScheduleKind, ThreadsOptions};
use crate::pipeline::{Checked, Halt, dump};
use crate::profile::find;
use crate::session::Session;
use crate::threads::plan::{self, Plan};
use sluice_codegen::c::beside;
use sluice_codegen::c::fused::FusedProgram;
use sluice_codegen::c::layout::size_align;
use sluice_codegen::c::step_table::is_table;
use sluice_codegen::{CProgram, CodegenError, Flavour, ProgramInput, emit_program, emit_stages};
use sluice_frontend::graph::{Node, NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::ty::Ty;
use sluice_frontend::{Elaborated, graph_text};
use sluice_kernel::fuse::{self, Fused, Rules};
use sluice_kernel::ir::Kernel;
use sluice_kernel::items;
use sluice_kernel::passes::inner::Inner;
use sluice_kernel::passes::{TABULATE, TURN_ARRAYS, narrow_lanes, pack_bits};
use sluice_kernel::share_code;
use sluice_schedule::fused::{self, FusedSchedule};
use sluice_schedule::in_runs::in_runs;
use sluice_schedule::judge::{self, Verified};
use sluice_schedule::minimum_latency::{self, minimum_latency};
use sluice_schedule::partition;
use sluice_schedule::sequential::SequentialSchedule;
use sluice_schedule::single_appearance::{self, single_appearance};
use std::path::{Path, PathBuf};

/// Schedules, lowers and prints a program as C, without the engine.
pub fn emit(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    flavour: Flavour,
    name: &str,
) -> Result<CProgram, Halt> {
    let front = front(session, checked, code)?;
    emit_by(session, checked, code, front, (flavour, name, true), None).map(|(c, _)| c)
}

/// The same as one text, for users: a stand-alone program.
pub fn emit_whole(session: &mut Session, checked: &Checked, code: &CodeOptions, name: &str) -> Result<CProgram, Halt> {
    let front = front(session, checked, code)?;
    emit_by(session, checked, code, front, (Flavour::Executable, name, false), None).map(|(c, _)| c)
}

/// Prints what a program's front has come to as a plugin in C: where threads are asked for, in stages, if there is a plan for them.
pub fn emit_plugin(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    threads: Option<&ThreadsOptions>,
    front: Front,
) -> Result<(CProgram, Option<Plan>), Halt> {
    emit_by(session, checked, code, front, (Flavour::Plugin, "program", true), threads)
}

/// What code is made of, whoever makes it.
pub struct Front {
    /// The order of firings.
    pub verified: Verified<SequentialSchedule>,
    /// The kernel of each filter, without what is done for vectors and for the C compiler.
    pub kernels: Vec<Kernel>,
}

/// Schedules and lowers a program.
pub fn front(session: &mut Session, checked: &Checked, code: &CodeOptions) -> Result<Front, Halt> {
    let program = &checked.program;
    let verified = session.pass("schedule", || schedule(program, code.schedule))?;
    dump(session, "schedule", || dumps::schedule(verified.schedule(), program))?;
    Ok(Front { verified, kernels: host_kernels(session, checked, code)? })
}

/// Prints as C what the program's front has come to.
fn emit_by(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    Front { verified, mut kernels }: Front,
    (flavour, name, apart): (Flavour, &str, bool),
    threads: Option<&ThreadsOptions>,
) -> Result<(CProgram, Option<Plan>), Halt> {
    let wanted = |name: &str| match name {
        TURN_ARRAYS => code.inner == Inner::Auto,
        TABULATE => code.inner != Inner::None,
        _ => true,
    };
    improve(session, &mut kernels, sluice_kernel::passes::FOR_C, &|_, name| wanted(name))?;
    session.pass("item-ranges", || items::prove(&checked.program.graph, &mut kernels));
    dump(session, "item-ranges", || print_kernels(&kernels))?;
    // with the latitude of fast math, a compiler makes other numbers of constants that it knows
    if !code.cc.fast_math {
        session.pass("share-code", || share_code::run(&mut kernels));
    }
    dump(session, "share-code", || print_kernels(&kernels))?;
    let mut options = sluice_codegen::ProgramOptions { flavour, apart, ..code_options(code) };
    let mut plan = None;
    if let Some(threads) = threads {
        // one that does not fit any more is left alone: there is nothing to be said about it in a run
        let found = find::in_cache(checked).and_then(Result::ok);
        let input = input(checked, name, &kernels, &verified, &options);
        // what the plan is for must be what the code has
        let batch = threads.batch.map_or_else(|| plan::batch(&input), Ok).map_err(|e| no_code(&e))?;
        let mut fuse = |partition: Option<&partition::Verified>| regions(checked, code, &kernels, partition);
        let made = plan::plan(&input, threads.threads, batch, found.as_ref(), &mut fuse);
        if made.partition.is_some() {
            options.batch = Some(batch);
        }
        plan = Some(made);
    }
    let partition = plan.as_ref().and_then(|p| p.partition.as_ref());
    let verified = match partition {
        None => side_by_side(checked, code, (&kernels, verified))?,
        Some(_) => verified,
    };
    let mut fused = session.pass("fuse", || fuse(checked, code, (&kernels, &verified), partition))?;
    dump(session, "fuse", || match &fused {
        Some((fused, _)) => graph_text::print(&fused.graph) + "\n" + &print_kernels(&fused.kernels),
        None => graph_text::print(&checked.program.graph),
    })?;
    improve(session, &mut kernels, code.inner.passes(), &|_, _| true)?;
    if let Some((fused, _)) = &mut fused {
        run_passes(&mut fused.kernels, code.inner.passes(), &|_, _| true);
    }
    let serial = code.inner == Inner::Auto;
    improve(session, &mut kernels, sluice_kernel::passes::SERIAL, &|_, _| serial)?;
    if let Some((fused, _)) = &mut fused {
        run_passes(&mut fused.kernels, sluice_kernel::passes::SERIAL, &|_, _| serial);
    }
    session.pass("pack-bits", || pack_bits::run(&checked.program.graph, &mut kernels));
    dump(session, "pack-bits", || print_kernels(&kernels))?;
    session.pass("narrow-lanes", || {
        if code.inner == Inner::None {
            return;
        }
        narrow_lanes::run(&checked.program.graph, &mut kernels, fused.as_mut().map(|(regions, _)| regions));
    });
    dump(session, "narrow-lanes", || {
        let of_regions = fused.as_ref().map_or(&[][..], |(f, _)| &f.kernels);
        print_kernels(&kernels) + &print_kernels(of_regions)
    })?;
    let with_regions = |options| {
        let input = input(checked, name, &kernels, &verified, options);
        match &fused {
            Some((program, schedule)) => {
                ProgramInput { fused: Some(FusedProgram { program, schedule }), schedule: &schedule.judged, ..input }
            }
            None => input,
        }
    };
    let planned = options;
    if let (Some(batch), Some(plan), Some(threads)) = (planned.batch, &plan, threads) {
        let fits = plan::batch(&with_regions(&planned)).map_err(|e| no_code(&e))?;
        let (batch, turns) = match (threads.batch, threads.turns) {
            (_, Some(turns)) => (batch, turns),
            (Some(all), None) => plan::divided(all, fits),
            (None, None) => (batch.max(fits), plan.turns(batch.max(fits))),
        };
        (options.batch, options.turns) = (Some(batch), turns);
    }
    let input = with_regions(&options);
    let emitted = session.pass("emit-c", || match partition {
        Some(partition) => emit_stages(&input, partition),
        None => emit_program(&input),
    });
    let c = emitted.map_err(|e| no_code(&e))?;
    dump(session, "emit-c", || c.source.clone())?;
    if let (Some(plan), Some(batch)) = (&mut plan, options.batch) {
        plan.batch = batch.saturating_mul(options.turns);
    }
    Ok((c, plan))
}

/// What the back ends are told, whatever they make.
pub(crate) fn code_options(code: &CodeOptions) -> sluice_codegen::ProgramOptions {
    let mut options = sluice_codegen::ProgramOptions { stats: code.stats, ..Default::default() };
    options.channel_limit = code.channel_limit.unwrap_or(options.channel_limit);
    options.strips = code.fuse && !code.stats;
    options
}

/// Bytes of the filters' states up to which a steady state that fails is done again firing by firing, as the engine does it where it can.
const DONE_AGAIN: u64 = 100 << 10;

/// The program with parts of it as one filter each, and its schedule; see [`regions`].
fn fuse(
    checked: &Checked,
    code: &CodeOptions,
    (kernels, verified): (&[Kernel], &Verified<SequentialSchedule>),
    partition: Option<&partition::Verified>,
) -> Result<Option<(Fused, FusedSchedule)>, Fault> {
    let Some(fused) = regions(checked, code, kernels, partition) else { return Ok(None) };
    let Elaborated { graph, steady, .. } = &checked.program;
    let init = &verified.schedule().init;
    let movable = |v| partition.is_none() && may_move(&checked.program, kernels, v);
    let schedule = match fused::schedule(&fused, graph, steady, init, &movable) {
        Ok(schedule) => schedule,
        // where messages let no steady state run in one piece, regions cannot fire theirs at once
        Err(fused::Failure::Refused(_)) if !steady.precedences.is_empty() => None,
        Err(failure) => {
            let fault = Fault::internal(format!("a program with regions has no schedule: {failure:?}"));
            return Err(fault.help("--fuse=false does without"));
        }
    };
    let whole = |s: &FusedSchedule| judge::states_at_once(steady, &s.judged.schedule().steady) != Some(0);
    // a table has no regions, and their members, each once in every turn, would be far slower there than one after another
    let above = code_options(code).table_above;
    let text = |s: &FusedSchedule| !is_table(&fused.graph, &s.steps, above);
    Ok(schedule.filter(|s| whole(s) && text(s)).map(|schedule| (fused, schedule)))
}

/// The program with parts of it as one filter each, within stages where there are some; `None` where there are no such parts, or nobody wants
/// them: regions fire all of a steady state at once, which is not what the smallest buffers are for.
fn regions(
    checked: &Checked,
    code: &CodeOptions,
    kernels: &[Kernel],
    partition: Option<&partition::Verified>,
) -> Option<Fused> {
    let Elaborated { graph, steady, globals, .. } = &checked.program;
    if !code.fuse || code.stats || code.schedule == ScheduleKind::MinimumLatency {
        return None;
    }
    let size = |ty: &Ty| size_align(ty, globals).map_or(u64::MAX, |(n, _)| n);
    let sizes = |k: &Kernel| k.state.iter().map(|s| size(&s.ty)).fold(0, u64::saturating_add);
    let state = |n: &Node| if let NodeKind::Filter { code, .. } = &n.kind { sizes(&kernels[code.index()]) } else { 0 };
    let kept = graph.channels.iter().zip(&steady.boundary_fill).map(|(c, n)| n.saturating_mul(size(&c.ty)));
    let states = graph.nodes.iter().map(state).chain(kept).fold(0, u64::saturating_add);
    let natives = kernels.iter().any(|k| !k.natives.is_empty());
    let convolved = |v: NodeId| match graph.node(v).kind {
        NodeKind::Filter { code, .. } => checked.program.codes[code.index()].convolution.is_some(),
        _ => false,
    };
    let apart = graph.node_ids().any(convolved);
    // what goes to the frequency domain is alone there
    let may_fail = states <= DONE_AGAIN && !natives && checked.program.messages.links.is_empty();
    let by = |part: &dyn Fn(&partition::Verified, NodeId) -> Option<usize>, histories| {
        let part_of = |v| if convolved(v) { None } else { partition.map_or(Some(0), |p| part(p, v)) };
        let parts: Option<Vec<Option<usize>>> =
            (apart || partition.is_some()).then(|| graph.node_ids().map(part_of).collect());
        fuse::fuse(
            graph,
            steady,
            kernels,
            Rules { may_fail, parts: parts.as_deref(), histories, loops: partition.is_none() },
        )
    };
    let fused = by(&|p, v| Some(p.stage_of(v)), true)?;
    match partition {
        // where replicas cannot do such regions twice, what they do twice is in none
        Some(p) if partition::regions::overlap(p, &fused).is_err() => {
            by(&|p, v| (p.overlap().again[v.index()] == 0).then(|| p.stage_of(v)), false)
        }
        _ => Some(fused),
    }
}

/// Is nothing seen of a node but its items, whenever it fires between those before and those behind it?
fn may_move(program: &Elaborated, kernels: &[Kernel], v: NodeId) -> bool {
    let quiet = match &program.graph.node(v).kind {
        NodeKind::Filter { code, .. } => beside::may_move(&kernels[code.index()]),
        NodeKind::Reader(_) | NodeKind::Writer(_) => false,
        _ => true,
    };
    quiet && program.steady.precedences.is_empty()
}

/// The schedule with feedback loops side by side, where that may be; else as it is.
fn side_by_side(
    checked: &Checked,
    code: &CodeOptions,
    (kernels, verified): (&[Kernel], Verified<SequentialSchedule>),
) -> Result<Verified<SequentialSchedule>, Fault> {
    let Elaborated { graph, steady, .. } = &checked.program;
    if !code.fuse || code.stats || code.schedule == ScheduleKind::MinimumLatency {
        return Ok(verified);
    }
    let schedule = verified.schedule();
    let movable = |v| may_move(&checked.program, kernels, v);
    let Some(steps) = sluice_schedule::beside::beside(graph, &steady.boundary_fill, &schedule.steady, &movable) else {
        return Ok(verified);
    };
    let candidate = SequentialSchedule { steady: steps, ..schedule.clone() };
    judge::verify(graph, steady, candidate).map_err(|violations| {
        Fault::internal(format!("loops side by side are no schedule: {violations:?}")).help("--fuse=false does without")
    })
}

/// A program as the back ends get it.
pub(crate) fn input<'a>(
    checked: &'a Checked,
    name: &'a str,
    kernels: &'a [Kernel],
    schedule: &'a Verified<SequentialSchedule>,
    options: &'a sluice_codegen::ProgramOptions,
) -> ProgramInput<'a> {
    let program = &checked.program;
    ProgramInput {
        name,
        globals: &program.globals,
        codes: &program.codes,
        graph: &program.graph,
        steady: &program.steady,
        messages: &program.messages,
        kernels,
        schedule,
        fused: None,
        sources: &checked.sources,
        options,
    }
}

/// The code of a program whose buffers native code cannot have.
pub(crate) const TOO_LARGE: &str = "E0962";

/// Why there is no code.
pub(crate) fn no_code(e: &CodegenError) -> Fault {
    match e {
        CodegenError::BuffersTooLarge { .. } => Fault::program(e.to_string())
            .coded(TOO_LARGE)
            .help("`sluice rates` shows where the items gather; `--interpret` runs the program, with as much memory as it needs"),
        CodegenError::Name(_) => Fault::usage(e.to_string()).help("give the library another name with -o"),
        CodegenError::Malformed(_) => Fault::internal(e.to_string()),
        CodegenError::NotOnDevice { .. } => {
            Fault::program(e.to_string()).help("without --target cuda the program runs on the CPU")
        }
        CodegenError::DeviceMemory { .. } => {
            Fault::program(e.to_string()).help("a smaller --coarsen, or fewer multiprocessors, need less")
        }
    }
}

/// A steady-state schedule that the judge has passed.
pub(crate) fn schedule(program: &Elaborated, kind: ScheduleKind) -> Result<Verified<SequentialSchedule>, Fault> {
    let (graph, steady) = (&*program.graph.cut(), &program.steady);
    let smallest_buffers = || {
        minimum_latency(graph, steady).map_err(|e| match e {
            minimum_latency::Failure::TooLong(n) => {
                Fault::program(format!("a steady state has {n} firings, too many to write each down"))
                    .help("use --schedule single-appearance")
            }
            minimum_latency::Failure::Deadlock(node) => deadlock(program, node),
        })
    };
    if kind == ScheduleKind::SingleAppearance
        && !steady.precedences.is_empty()
        && let Some(verified) = in_few_runs(graph, steady)
    {
        return Ok(verified);
    }
    let candidate = match kind {
        // an order of firings with single appearances would miss messages
        _ if !steady.precedences.is_empty() => smallest_buffers()?,
        ScheduleKind::MinimumLatency => smallest_buffers()?,
        ScheduleKind::SingleAppearance => match single_appearance(graph, steady, 1) {
            Ok(schedule) => schedule,
            Err(single_appearance::Failure::TooLong(_)) => smallest_buffers()?,
            Err(single_appearance::Failure::Deadlock(node)) => return Err(deadlock(program, node)),
            Err(single_appearance::Failure::Overflow) => {
                return Err(Fault::program("a steady state has more firings than can be counted in 64 bits"));
            }
        },
    };
    judge::verify(graph, steady, candidate).map_err(|violations| {
        let first: Vec<String> = violations.iter().take(3).map(|v| format!("{v:?}")).collect();
        Fault::internal(format!("the judge refuses the schedule: {}", first.join("; ")))
    })
}

/// With messages that hold firings back: each filter in one step where no steady state needs more, else as often in a row as messages allow.
fn in_few_runs(graph: &SdfGraph, steady: &SteadyState) -> Option<Verified<SequentialSchedule>> {
    let runs = in_runs(graph, steady)?;
    let once = single_appearance(graph, steady, 1).ok();
    let once = once.map(|s| SequentialSchedule { init: runs.init.clone(), ..s });
    let once = once.filter(|s| judge::states_at_once(steady, &s.steady) != Some(0));
    [once, Some(runs)].into_iter().flatten().find_map(|s| judge::verify(graph, steady, s).ok())
}

/// The analysis has shown that every program that comes this far can run.
fn deadlock(program: &Elaborated, node: NodeId) -> Fault {
    let path = program.graph.nodes.get(node.index()).map_or("?", |n| &n.path);
    Fault::internal(format!("no schedule was found: {path} waits for ever"))
}

/// A program in memory: its shared object from the cache, or compiled now.
pub fn load(
    session: &mut Session,
    checked: &Checked,
    c: &CProgram,
    code: &CodeOptions,
    natives: &Natives,
) -> Result<Native, Halt> {
    let compiler = Compiler::of(code.cc.way.compiler)?;
    let flags = code.cc.flags(Product::Shared).join(" ");
    let engine = if c.engine.is_some() { "engine.o" } else { "" };
    shown(session, &compiler, &flags, natives, ("program.so", engine))?;
    let mut attempts = 0;
    loop {
        let text = (c.source.as_str(), c.engine.as_deref());
        let object = shared_object(session, checked, &compiler, natives, text, code)?;
        match session.pass("load", || Native::load_with(&object, natives.load_flags())) {
            Ok(native) => return Ok(native),
            // Another run may have removed the file (to make room) between the two steps, or a disk may have damaged it.
            Err(_) if attempts < 3 => {
                attempts += 1;
                let _ = std::fs::remove_file(&object);
            }
            Err(fault) if natives.called.is_empty() => return Err(fault.into()),
            Err(fault) => return Err(sources::cannot_load(&object, &fault.message).into()),
        }
    }
}

/// Shows the command that makes `target`, where that is asked for.
fn shown(
    session: &Session,
    compiler: &Compiler,
    flags: &str,
    natives: &Natives,
    (target, engine): (&str, &str),
) -> Result<(), Halt> {
    if !session.dumps("compile-c") {
        return Ok(());
    }
    let own = compiler.own_flags()?.join(" ");
    dump(session, "compile-c", || {
        let (command, more) = (compiler.command.join(" "), natives.shown());
        let words = [&command, &own, flags, "program.c -o", target, more.trim_end(), engine, "-lm"];
        words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ") + "\n"
    })
}

/// The engine that programs share, from the cache or made now. It is not where a program spends its time.
fn engine(cache: &Cache, compiler: &Compiler, text: &str, code: &CodeOptions) -> Result<PathBuf, Fault> {
    let options = CcOptions { level: 1, debug: code.cc.debug, ..CcOptions::default() };
    let flags = options.flags(Product::Object).join(" ");
    let key = cache::key(&[text, &compiler.identity, &flags]);
    cache.get(&key, "o", |target| {
        let source = cache.temporary(&key, "c");
        crate::interrupt::add_temporary(&source);
        let made = std::fs::write(&source, text)
            .map_err(|e| Fault::file("write", source.display(), &e))
            .and_then(|()| compiler.compile(&source, target, &options, Product::Object));
        let _ = std::fs::remove_file(&source);
        crate::interrupt::forget_temporary(&source);
        made
    })
}

/// What `build` makes of a job, with the engine of this text.
fn with_engine<T>(
    job: &Job<'_>,
    text: Option<&str>,
    mut build: impl FnMut(&Job<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut attempts = 0;
    loop {
        let engine = text.map(|text| engine(job.cache, job.compiler, text, job.code)).transpose()?;
        let made = build(&Job { engine: engine.as_deref(), ..*job });
        // another run may have removed the engine between the two steps
        attempts += 1;
        if made.is_ok() || attempts == 3 || engine.is_none_or(|o| o.exists()) {
            return made;
        }
    }
}

/// C text, and perhaps that of its engine, with the native functions it calls as a shared object, from the cache or made now.
pub fn shared_object(
    session: &mut Session,
    checked: &Checked,
    compiler: &Compiler,
    natives: &Natives,
    (text, engine_text): (&str, Option<&str>),
    code: &CodeOptions,
) -> Result<PathBuf, Halt> {
    let flags = code.cc.flags(Product::Shared).join(" ");
    let cache = Cache::open()?;
    let parts = [text, engine_text.unwrap_or(""), &compiler.identity, &flags, &natives.key, env!("CARGO_PKG_VERSION")];
    let key = cache::key(&parts);
    let (mut remarks, mut parked) = (Vec::new(), None);
    let made = session.pass("compile-c", || {
        cache.get(&key, "so", |target| {
            let job = Job { cache: &cache, compiler, text, engine: None, code, product: Product::Shared };
            with_engine(&job, engine_text, |job| natives.build(job, target, &mut remarks))
                .map_err(|f| f.park(&mut parked))
        })
    });
    ended(session, checked, natives, made, &remarks, parked)
}

/// Compiles C text to a file of the user's: complete, or absent.
pub fn product(
    session: &mut Session,
    checked: &Checked,
    c: &CProgram,
    code: &CodeOptions,
    natives: &Natives,
    product: Product,
    path: &str,
) -> Result<(), Halt> {
    let compiler = Compiler::of(code.cc.way.compiler)?;
    let flags = code.cc.flags(product).join(" ");
    shown(session, &compiler, &flags, natives, (path, if c.engine.is_some() { "engine.o" } else { "" }))?;
    let cache = Cache::open()?;
    let target = place::target(Path::new(path)).map_err(|e| Fault::file("write", path, &e))?;
    let temporary = match std::fs::metadata(&target) {
        Ok(m) if m.is_dir() => return Err(Fault::input(format!("cannot write {path}: it is a folder")).into()),
        // the C compiler would put a file in the place of a device or a pipe
        Ok(m) if !m.is_file() => cache.temporary(&cache::key(&[&c.source]), "out"),
        _ => sink::create_beside(&target).map_err(|e| Fault::file("write", path, &e))?.1,
    };
    crate::interrupt::add_temporary(&temporary);
    let job = Job { cache: &cache, compiler: &compiler, text: &c.source, engine: None, code, product };
    let (mut remarks, mut parked) = (Vec::new(), None);
    let made = session.pass("compile-c", || {
        with_engine(&job, c.engine.as_deref(), |job| natives.build(job, &temporary, &mut remarks))
            .map_err(|f| f.park(&mut parked))?;
        sink::install(&temporary, &target, product == Product::Executable).map_err(|e| Fault::file("write", path, &e))
    });
    if made.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    crate::interrupt::forget_temporary(&temporary);
    ended(session, checked, natives, made, &remarks, parked)
}

/// What there is to say after a compilation.
fn ended<T>(
    session: &Session,
    checked: &Checked,
    natives: &Natives,
    made: Result<T, Fault>,
    remarks: &[String],
    parked: Option<Failure>,
) -> Result<T, Halt> {
    remarks.iter().for_each(|r| session.remark(r));
    match parked {
        Some(failure) => Err(failure.report(session, checked, natives)),
        None => Ok(made?),
    }
}
