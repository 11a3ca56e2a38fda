//! `sluice tune`: compiles a program in several ways, lets them do the same work in turns, and keeps the fastest. What the program gives goes nowhere, but is compared: a way whose bytes are others is out, and said to
//! be so.

use super::way::{Loops, Vectors, Way, Which};
use super::{SCHEMA, Tried, Tuned, find};
use crate::as_c::as_c;
use crate::as_run::as_run;
use crate::cache::Cache;
use crate::cc::Compiler;
use crate::compiled;
use crate::document::{columns, json};
use crate::exit::{Exit, Fault};
use crate::interrupt;
use crate::io::format::Format;
use crate::io::host::{self, Bindings, End, Host};
use crate::io::item::Scalar;
use crate::io::sink::{Out, SharedOut};
use crate::native::{Native, NativeEnd};
use crate::natives::Natives;
use crate::options::CodeOptions;
use crate::pipeline::{Checked, Halt};
use crate::profile::this_machine;
use crate::runtime::{self, RunEnd};
use crate::session::{self, Session};
use sha2::{Digest, Sha256};
use sluice_codegen::Flavour;
use sluice_codegen::c::print::Site;
use sluice_frontend::graph::Endpoint;
use sluice_kernel::passes::inner::Inner;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

/// Seconds of running where nothing else is said; compiling comes on top.
pub const SECONDS: f64 = 3.0;
/// Seconds that a run should take: long enough for the clock, short enough that most are not disturbed by what else the computer does.
const RUN: f64 = 0.01;
/// The fewest runs of a way.
const RUNS: usize = 5;
/// Another way is kept only where it takes less than this part of the time.
const WORTH: f64 = 0.97;
/// Bytes of input that are made where none is given.
const MADE: u64 = 32 << 20;
/// The most bytes of input that are read.
const READ: u64 = 256 << 20;

/// What `sluice tune` is asked for.
#[derive(Clone, Debug, Default)]
pub struct TuneOptions {
    /// The open input, and its format; made where none is given.
    pub bindings: Bindings,
    /// Seconds of running, all ways together; without: [`SECONDS`].
    pub seconds: Option<f64>,
    /// Removes what the cache keeps instead.
    pub forget: bool,
    /// Writes the document, not a table.
    pub json: bool,
}

/// A way, compiled.
struct Candidate {
    way: Way,
    native: Option<Native>,
    least: f64,
    out: Option<String>,
}

impl Candidate {
    fn new(way: Way, native: Native) -> Candidate {
        Candidate { way, native: Some(native), least: f64::INFINITY, out: None }
    }

    fn out(way: Way, why: String) -> Candidate {
        Candidate { way, native: None, least: f64::INFINITY, out: Some(why) }
    }
}

/// What all of them do.
struct Work {
    readers: Vec<End>,
    writers: Vec<End>,
    bindings: Bindings,
    /// Steady states of a run.
    states: u64,
}

/// Tries, and keeps the fastest.
pub fn take(session: &mut Session, checked: &Checked, code: &CodeOptions, options: &TuneOptions) -> Result<Exit, Halt> {
    let code = &Way::default().of(code);
    let Some(key) = find::key(checked, code) else {
        return Err(Fault::usage("a program that is in no file cannot be tuned")
            .help("what is found out is kept for a file: write the program to one")
            .into());
    };
    if options.forget {
        let cache = Cache::open()?;
        let kept = cache.find(&key, "json");
        if let Some(path) = &kept {
            std::fs::remove_file(path).map_err(|e| Fault::file("remove", path.display(), &e))?;
        }
        session::say(if kept.is_some() { "forgotten: compiled as usual\n" } else { "nothing was kept\n" });
        return Ok(Exit::Ok);
    }
    if checked.program.codes.iter().any(|f| f.calls_native.is_some()) {
        return Err(Fault::program("the program calls native functions: what they do would be done again and again")
            .help("programs with native functions are compiled as usual")
            .into());
    }
    let ran = as_run(session, checked, code)?;
    let ran = ran.as_ref().unwrap_or(checked);
    interrupt::listen();
    let usual = Compiler::find()?;
    let (first, sites) = compile(session, ran, code, Way::default())?;
    let (readers, mut writers) = host::ends(&ran.program.graph, &ran.program.globals)?;
    host::check_bindings(&readers, &writers, &options.bindings)?;
    for w in writers.iter_mut().filter(|w| w.endpoint != Endpoint::Open) {
        w.endpoint = Endpoint::File("/dev/null".into());
    }
    let (work, bytes) = match work(ran, (readers, writers), &first, options) {
        Ok(work) => work,
        Err(NativeEnd::Fault(fault)) => return Err(fault.into()),
        Err(NativeEnd::Program(error)) => {
            return match runtime::of_native(&error, &ran.program.graph, &sites) {
                RunEnd::Fault(fault) => Err(fault.into()),
                RunEnd::Program(diagnostic) => {
                    session.report(&checked.sources, &[*diagnostic])?;
                    Ok(Exit::Program)
                }
            };
        }
    };
    let mut all = vec![Candidate::new(Way::default(), first)];
    let mut best = 0;
    let budget = options.seconds.unwrap_or(SECONDS) / 2.0;
    for step in 0..2 {
        let begin = all.len();
        for way in ways(step, all[best].way, code, &usual) {
            all.push(match compile(session, ran, code, way) {
                Ok((native, _)) => compared(&work, native, way, (!code.cc.fast_math).then_some(&bytes)),
                // one that cannot compile it is no way
                Err(Halt::Fault(fault)) => Candidate::out(way, fault.message.lines().next().unwrap_or("").to_string()),
                Err(done) => return Err(done),
            });
        }
        if step > 0 && begin == all.len() {
            continue;
        }
        let mut racing: Vec<usize> = (begin..all.len()).chain([0, best]).collect();
        racing.sort_unstable();
        racing.dedup();
        race(session, &work, &mut all, &racing, budget)?;
        // from the best so far on: what only seems faster is left
        for i in begin..all.len() {
            if all[i].least < all[best].least * WORTH {
                best = i;
            }
        }
        if interrupt::requested() {
            return Err(Fault::input("stopped before all was tried: nothing is kept").into());
        }
    }
    let document = document(checked, &usual, &all, best);
    Cache::open()?.put(&key, "json", json(&document).as_bytes())?;
    session::print(&if options.json { json(&document) } else { table(&document) })?;
    Ok(Exit::Ok)
}

/// The ways of a step, seen from the best so far.
fn ways(step: usize, best: Way, code: &CodeOptions, usual: &Compiler) -> Vec<Way> {
    match step {
        0 => {
            let named = std::env::var("CC").is_ok_and(|c| !c.trim().is_empty());
            let others = Which::OTHERS
                .iter()
                .map(|(_, w)| *w)
                .filter(|w| !named && Compiler::of(*w).is_ok_and(|c| c.kind() != usual.kind()));
            let compilers: Vec<Which> = std::iter::once(Which::Usual).chain(others).collect();
            let wide = if has_512() { vec![Vectors::Usual, Vectors::Bits512] } else { vec![Vectors::Usual] };
            let of = |compiler| wide.iter().map(move |vectors| Way { compiler, vectors: *vectors, ..Way::default() });
            compilers.into_iter().flat_map(of).filter(|w| *w != Way::default()).collect()
        }
        _ if code.inner != Inner::Auto => Vec::new(),
        _ => [Loops::Asis, Loops::Unrolled].map(|loops| Way { loops, ..best }).to_vec(),
    }
}

/// Has the processor registers of 512 bits?
fn has_512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The program, compiled this way and loaded.
fn compile(session: &mut Session, ran: &Checked, code: &CodeOptions, way: Way) -> Result<(Native, Vec<Site>), Halt> {
    let code = &way.of(code);
    let combined = as_c(session, ran, code)?;
    let ran = combined.as_ref().unwrap_or(ran);
    let c = compiled::emit(session, ran, code, Flavour::Plugin, "program")?;
    Ok((compiled::load(session, ran, &c, code, &Natives::none())?, c.sites))
}

/// How much is to be done, on what: input that somebody gave, or such that the program takes; and what comes out.
fn work(
    ran: &Checked,
    (readers, writers): (Vec<End>, Vec<End>),
    native: &Native,
    options: &TuneOptions,
) -> Result<(Work, [u8; 32]), NativeEnd> {
    let open = readers.iter().find(|r| r.endpoint == Endpoint::Open);
    let gives = writers.iter().any(|w| w.endpoint == Endpoint::Open);
    let mut bindings = Bindings {
        input: options.bindings.input.clone(),
        input_format: options.bindings.input_format,
        output_format: gives.then_some(Format::Raw),
        ..Bindings::default()
    };
    let per_state =
        |end: &End| ran.program.steady.repetitions[end.node.index()].max(1).saturating_mul(end.item.bytes as u64);
    let mut most = u64::MAX;
    for end in &readers {
        let path = match &end.endpoint {
            Endpoint::File(path) => Some(path.as_str()),
            Endpoint::Open => bindings.input.as_deref(),
        };
        let bytes = path.map_or(Ok(MADE), |p| std::fs::metadata(p).map(|m| m.len()));
        most = most.min(bytes.map_or(u64::MAX, |n| n / per_state(end)));
    }
    let given = match bindings.input.as_deref() {
        Some("-") => {
            return Err(NativeEnd::Fault(
                Fault::usage("standard input can be read only once, and is needed again and again")
                    .help("name a file with --input"),
            ));
        }
        Some(path)
            if bindings.input_format.is_none_or(|f| f == Format::Raw)
                && Format::of_extension(path.as_ref()).is_none_or(|f| f == Format::Raw) =>
        {
            let long = std::fs::metadata(path).is_ok_and(|m| m.len() > READ);
            if long { None } else { std::fs::read(path).ok() }
        }
        _ => None,
    };
    if let (Some(mut bytes), Some(end)) = (given, open) {
        // read once, so that no disk is measured, and again and again where it is short: no run is all beginning
        bytes.truncate(bytes.len() - bytes.len() % end.item.bytes.max(1));
        let once = bytes.len();
        while once > 0 && (bytes.len() as u64) < MADE {
            bytes.extend_from_within(..once);
        }
        most = bytes.len() as u64 / per_state(end);
        bindings.data = Some(bytes.into());
    }
    most = most.max(1);
    let kinds: &[Kind] = match open {
        Some(_) if bindings.input.is_none() => &Kind::ALL,
        _ => &[Kind::Zeros],
    };
    let mut work = Work { readers, writers, bindings, states: 1 };
    let mut last = None;
    for kind in kinds {
        if let Some(end) = open_of(&work.readers)
            && work.bindings.input.is_none()
        {
            let items = MADE.max(per_state(end)) / end.item.bytes.max(1) as u64;
            work.bindings.data = Some(made(end, items, *kind).into());
        }
        match sized(&mut work, native, most).and_then(|()| outcome(&work, native)) {
            Ok(bytes) => return Ok((work, bytes)),
            Err(end) => last = Some(end),
        }
    }
    Err(last.unwrap_or_else(|| NativeEnd::Fault(Fault::internal("no work was found"))))
}

fn open_of(readers: &[End]) -> Option<&End> {
    readers.iter().find(|r| r.endpoint == Endpoint::Open)
}

/// Finds how many steady states take about as long as a run should.
fn sized(work: &mut Work, native: &Native, most: u64) -> Result<(), NativeEnd> {
    work.states = 1;
    while once(work, native, Out::to(Box::new(std::io::sink())))? < RUN && work.states < most && !interrupt::requested()
    {
        work.states = work.states.saturating_mul(2).min(most);
    }
    Ok(())
}

/// Runs once, from the beginning; the seconds it took.
fn once(work: &Work, native: &Native, out: SharedOut) -> Result<f64, NativeEnd> {
    let mut host = Host::open_to(&work.readers, &work.writers, &work.bindings, out).map_err(NativeEnd::Fault)?;
    host.quiet();
    let begin = Instant::now();
    native.run(&work.readers, &work.writers, Some(work.states), &mut host)?;
    let seconds = begin.elapsed().as_secs_f64();
    host.finish().map_err(NativeEnd::Fault)?;
    Ok(seconds)
}

/// A hash of all that a run prints and gives.
fn outcome(work: &Work, native: &Native) -> Result<[u8; 32], NativeEnd> {
    let hash = Arc::new(Mutex::new(Sha256::new()));
    once(work, native, Out::to(Box::new(Hashed(hash.clone()))))?;
    let hash = hash.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(hash.finalize().into())
}

/// A way, if it gives these bytes. Where none are given (with `--fast-math` compilers differ in the last bits), it has only to end well.
fn compared(work: &Work, native: Native, way: Way, bytes: Option<&[u8; 32]>) -> Candidate {
    match outcome(work, &native) {
        Ok(made) if bytes.is_none_or(|bytes| made == *bytes) => Candidate::new(way, native),
        Ok(_) => Candidate::out(way, "gives other bytes".into()),
        Err(NativeEnd::Program(error)) => Candidate::out(way, format!("fails: {}", error.message)),
        Err(NativeEnd::Fault(fault)) => Candidate::out(way, fault.message),
    }
}

/// Takes bytes and keeps their hash.
struct Hashed(Arc<Mutex<Sha256>>);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What made input is like. A program may have no use for any bits: what indexes a table must not be beyond its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Any ints; reals from -1 to 1.
    Any,
    /// Ints from 0 to 255.
    Bytes,
    /// Ints that are 0 or 1.
    Bits,
    /// Nothing but zeros.
    Zeros,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Any, Kind::Bytes, Kind::Bits, Kind::Zeros];
}

/// Items for an end, always the same.
fn made(end: &End, items: u64, kind: Kind) -> Vec<u8> {
    let bytes = (items as usize).saturating_mul(end.item.bytes);
    let mut out = Vec::with_capacity(bytes);
    let mut x = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        // Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, figure 17
        x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let real = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let scalar = end.item.scalar.filter(|_| kind != Kind::Zeros);
    while out.len() < bytes {
        match scalar {
            None => break,
            Some(Scalar::F32) => out.extend(real(next()).to_ne_bytes()),
            Some(Scalar::F64) => out.extend(f64::from(real(next())).to_ne_bytes()),
            Some(Scalar::Bit) if end.item.is_packed() => out.push(next() as u8),
            Some(Scalar::Bit | Scalar::Bool) => out.push((next() >> 63) as u8),
            Some(Scalar::Int) => {
                let bits = (next() >> 32) as u32;
                let int = match kind {
                    Kind::Any => bits,
                    Kind::Bytes => bits >> 24,
                    _ => bits >> 31,
                };
                out.extend(int.to_ne_bytes());
            }
        }
    }
    out.resize(bytes, 0);
    out
}

/// Lets them run in turns for so long.
fn race(session: &mut Session, work: &Work, all: &mut [Candidate], racing: &[usize], seconds: f64) -> Result<(), Halt> {
    session.pass("race", || {
        let begin = Instant::now();
        let mut turn = 0;
        while (turn < RUNS || begin.elapsed().as_secs_f64() < seconds) && !interrupt::requested() {
            for i in (0..racing.len()).map(|k| racing[(k + turn) % racing.len()]) {
                let candidate = &mut all[i];
                let Some(native) = &candidate.native else { continue };
                match once(work, native, Out::to(Box::new(std::io::sink()))) {
                    Ok(took) => candidate.least = candidate.least.min(took),
                    Err(NativeEnd::Fault(fault)) => return Err(fault.into()),
                    Err(NativeEnd::Program(error)) => {
                        *candidate = Candidate::out(candidate.way, format!("fails: {}", error.message));
                    }
                }
            }
            turn += 1;
        }
        Ok(())
    })
}

fn document(checked: &Checked, usual: &Compiler, all: &[Candidate], best: usize) -> Tuned {
    let tried = |c: &Candidate| Tried {
        way: c.way,
        name: c.way.name(usual.program()),
        seconds: c.least.is_finite().then_some(c.least),
        out: c.out.clone(),
    };
    Tuned {
        schema: SCHEMA.into(),
        program: checked.program.graph.hierarchy.first().map_or(String::new(), |h| h.display.clone()),
        sluice: env!("CARGO_PKG_VERSION").into(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        machine: this_machine(),
        way: all[best].way,
        times: all[0].least / all[best].least,
        tried: all.iter().map(tried).collect(),
    }
}

fn table(tuned: &Tuned) -> String {
    let usual = tuned.tried.first().and_then(|t| t.seconds).unwrap_or(f64::NAN);
    let mut rows = vec![["way".to_string(), "times as fast".into(), String::new()]];
    for t in &tuned.tried {
        let times = t.seconds.map_or("-".into(), |s| format!("{:.2}", usual / s));
        let kept = if t.way == tuned.way { "kept" } else { "" };
        rows.push([t.name.clone(), times, t.out.clone().unwrap_or_else(|| kept.into())]);
    }
    let said = "`sluice run` and `sluice build` with the same options compile it this way from now on; `sluice tune --forget` takes it back";
    columns(&rows, &[0, 2]) + said + "\n"
}
