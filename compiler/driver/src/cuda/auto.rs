//! # auto
//!
//! Purpose: which scheme suits a program on the GPU at hand. Input: a checked program, options that name no scheme. Output: options that name one: what was measured to be
//! the fastest, now or by an earlier run.
//!
//! Each candidate is compiled and run on zeros, without files, for more and more steady states, until it has taken long enough; what the last of them took beyond the
//! one before is its time. What was
//! found is kept in the cache, by program, GPU, profile and version. Programs whose ends are files of their own, or that print, are not run in vain: they get the scheme
//! that suits most programs ([`USUAL`]), and so does the emulated GPU, whose time means nothing.

use super::{run, texts};
use crate::cache::{self, Cache};
use crate::document;
use crate::io::format::Format;
use crate::io::host::{self, Bindings, End, Host};
use crate::native::{Native, NativeEnd};
use crate::options::{CodeOptions, CudaOptions, NativeOptions, Scheme};
use crate::pipeline::{Checked, Halt};
use crate::profile::find;
use crate::session::Session;
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_frontend::graph_text;
use sluice_frontend::ids::NodeId;
use std::time::Instant;

/// What is taken where nothing is measured.
pub const USUAL: Scheme = Scheme::Fused;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    scheme: Scheme,
    /// How much larger its instances are.
    coarsen: u32,
    /// Threads of a block, and KiB of a tile, where not the usual.
    regions: Option<(u32, u32)>,
}

/// A scheme with instances so much larger; of those that have a profile the threads are the profile's.
const fn instances(scheme: Scheme, coarsen: u32) -> Candidate {
    Candidate { scheme, coarsen, regions: None }
}

/// Regions in blocks of so many threads, with tiles of so many KiB: how many blocks a multiprocessor has at a time, and how much of their halos they do twice, depends on
/// both, and no profile of single filters tells what is best.
const fn regions(scheme: Scheme, threads: u32, tile: u32) -> Candidate {
    Candidate { scheme, coarsen: 1, regions: Some((threads, tile)) }
}

const CANDIDATES: [Candidate; 9] = [
    instances(Scheme::Fused, 1),
    regions(Scheme::Fused, 256, 32),
    regions(Scheme::Fused, 128, 16),
    regions(Scheme::Fused, 256, 48),
    instances(Scheme::FusedWarps, 1),
    regions(Scheme::FusedWarps, 256, 48),
    instances(Scheme::SwpPersistent, 1),
    instances(Scheme::Swp, 8),
    instances(Scheme::Serial, 1),
];

impl Candidate {
    /// As it is kept, and read again.
    fn name(&self) -> String {
        let regions = self.regions.map_or(String::new(), |(threads, tile)| format!(", {threads} threads, {tile} KiB"));
        format!("{} {}{regions}", self.scheme.name(), self.coarsen)
    }

    /// Options that say so, as far as they leave it open.
    fn of(&self, options: &CudaOptions) -> CudaOptions {
        CudaOptions {
            scheme: Some(self.scheme),
            coarsen: options.coarsen.or(Some(self.coarsen)),
            block_threads: options.block_threads.or(self.regions.map(|r| r.0)),
            tile: options.tile.or(self.regions.map(|r| r.1)),
            ..options.clone()
        }
    }
}

/// Bytes that pass the ends in a run, at first and at most; each run has so many times as many as the one before.
const BYTES: (u64, u64) = (1 << 18, 1 << 30);
const STEP: u64 = 4;
/// Seconds that a run takes at least in which a scheme shows how fast it is.
const LONG: f64 = 0.1;

/// Options with a scheme: the one they name, one that was measured before, or one that is measured now.
pub fn decided(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    natives: &NativeOptions,
    options: &CudaOptions,
) -> Result<CudaOptions, Halt> {
    let with = |candidate: Candidate| candidate.of(options);
    let usual = instances(USUAL, 1);
    if options.scheme.is_some() {
        return Ok(options.clone());
    }
    if options.emulate || !measurable(checked) {
        return Ok(with(usual));
    }
    let run::Place::Gpu(gpu) = run::place(options)? else { return Ok(with(usual)) };
    let (name, arch, (major, minor)) = (gpu.properties().name.clone(), gpu.properties().arch, gpu.driver());
    drop(gpu);
    // a profile that is newer than what was measured makes other code
    let device = run::DeviceName { name, driver: format!("{major}.{minor}") };
    let profile = find::on_device(session, checked, options.profile.as_deref(), Some(&device), &[arch])?;
    let profile = profile.map_or(String::new(), |found| document::json(&found.profile));
    let key = key(checked, code, options, (&device.name, &profile));
    let cache = Cache::open()?;
    if let Some(i) = cache.find(&key, "scheme").and_then(|path| recall(&std::fs::read_to_string(path).ok()?)) {
        return Ok(with(CANDIDATES[i]));
    }
    let (readers, writers) = host::ends(&checked.program.graph, &checked.program.globals)?;
    let first = steady_states(checked, &readers, &writers);
    let mut times = Vec::new();
    let mut tried: Vec<CudaOptions> = Vec::new();
    for candidate in CANDIDATES {
        // what the command line says may leave nothing to choose between two of them
        if tried.contains(&with(candidate)) {
            times.push(None);
            continue;
        }
        tried.push(with(candidate));
        let prepared = run::prepare(session, checked, code, natives, &with(candidate), texts::texts);
        times.push(match prepared {
            Ok(ready) => seconds(&ready.native, (&readers, &writers), first)?,
            // what stands against every scheme has been said; a scheme that has no room for the program is passed over
            Err(Halt::Done(exit)) => return Err(Halt::Done(exit)),
            Err(Halt::Fault(_)) => None,
        });
    }
    let Some(best) = fastest(&times) else { return Ok(with(usual)) };
    cache.put(&key, "scheme", told(&times, best).as_bytes())?;
    Ok(with(CANDIDATES[best]))
}

/// Can a program be run on zeros, and leave no trace?
fn measurable(checked: &Checked) -> bool {
    let nodes = &checked.program.graph.nodes;
    let open = |e: &Endpoint| *e == Endpoint::Open;
    let harmless = nodes.iter().all(|n| match &n.kind {
        NodeKind::Reader(e) | NodeKind::Writer(e) => open(e),
        NodeKind::Filter { prints, .. } => !prints,
        _ => true,
    });
    harmless && nodes.iter().any(|n| matches!(n.kind, NodeKind::Reader(_) | NodeKind::Writer(_)))
}

/// What a choice depends on.
fn key(checked: &Checked, code: &CodeOptions, options: &CudaOptions, (gpu, profile): (&str, &str)) -> String {
    let program = graph_text::print(&checked.program.graph);
    let files: Vec<&str> = checked.sources.files().map(|(_, f)| &*f.text).collect();
    let how = format!("{:?} {code:?} {options:?}", checked.program.steady.repetitions);
    let mut parts = vec!["scheme", env!("CARGO_PKG_VERSION"), gpu, profile, &program, &how];
    parts.extend(files);
    cache::key(&parts)
}

/// How many steady states the first run has.
fn steady_states(checked: &Checked, readers: &[End], writers: &[End]) -> u64 {
    let firings = |v: NodeId| checked.program.steady.repetitions[v.index()];
    let each: u64 = readers.iter().chain(writers).map(|e| firings(e.node).saturating_mul(e.item.bytes as u64)).sum();
    (BYTES.0 / each.max(1)).max(1)
}

/// Seconds that a program takes for so many steady states on zeros; `None` where it fails on them.
fn seconds(native: &Native, ends: (&[End], &[End]), first: u64) -> Result<Option<f64>, Halt> {
    per_state(first, |states| run_on_zeros(native, ends, states)).map(|each| each.map(|s| s * first as f64))
}

/// Seconds of a steady state, by runs of more and more of them.
fn per_state<E>(first: u64, mut run: impl FnMut(u64) -> Result<Option<f64>, E>) -> Result<Option<f64>, E> {
    // once in vain: the first run loads and fills what later ones find
    let mut states = first;
    let (Some(_), Some(mut before)) = (run(states)?, run(states)?) else { return Ok(None) };
    loop {
        let more = states * STEP;
        let Some(now) = run(more)? else { return Ok(None) };
        if now >= LONG || more / first >= BYTES.1 / BYTES.0 {
            return Ok(Some((now - before).max(0.0) / (more - states) as f64));
        }
        (states, before) = (more, now);
    }
}

/// Seconds of one run.
fn run_on_zeros(native: &Native, (readers, writers): (&[End], &[End]), states: u64) -> Result<Option<f64>, Halt> {
    let bindings = Bindings {
        input: Some("/dev/zero".into()),
        output: Some("/dev/null".into()),
        input_format: Some(Format::Raw),
        output_format: Some(Format::Raw),
        ..Bindings::default()
    };
    let mut host = Host::open(readers, writers, &bindings)?;
    host.quiet();
    let began = Instant::now();
    match native.run(readers, writers, Some(states), &mut host) {
        Ok(()) => {}
        Err(NativeEnd::Program(_)) => return Ok(None),
        Err(NativeEnd::Fault(fault)) => return Err(fault.into()),
    }
    let took = began.elapsed().as_secs_f64();
    host.finish()?;
    Ok(Some(took))
}

/// The candidate that took the shortest time; of equal ones the first.
fn fastest(times: &[Option<f64>]) -> Option<usize> {
    let timed = times.iter().enumerate().filter_map(|(i, t)| t.map(|t| (i, t)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}

/// What is kept: the choice, and for people what it rests on.
fn told(times: &[Option<f64>], best: usize) -> String {
    let row = |(candidate, time): (&Candidate, &Option<f64>)| match time {
        Some(s) => format!("{}: {s:.6} s\n", candidate.name()),
        None => format!("{}: not run\n", candidate.name()),
    };
    let rows: String = CANDIDATES.iter().zip(times).map(row).collect();
    format!("{}\n{rows}", CANDIDATES[best].name())
}

/// The candidate that a kept text names; `None` where it names none, for another version may have written it.
fn recall(text: &str) -> Option<usize> {
    let name = text.lines().next()?;
    CANDIDATES.iter().position(|c| c.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_grow_until_they_are_long_enough() {
        // 50 ms to begin with, and a millisecond for ten states
        let mut runs = Vec::new();
        let each = per_state(100, |states| {
            runs.push(states);
            Ok::<_, ()>(Some(0.05 + states as f64 * 1e-4))
        });
        assert_eq!(runs, [100, 100, 400, 1600]);
        assert!((each.unwrap().unwrap() - 1e-4).abs() < 1e-12);
        // one that is too fast to show it ends all the same, one that fails at once
        assert_eq!(per_state(1, |_| Ok::<_, ()>(Some(0.0))), Ok(Some(0.0)));
        assert_eq!(per_state(1, |states| Ok::<_, ()>((states < 4).then_some(0.0))), Ok(None));
        assert_eq!(per_state(1, |_| Err::<Option<f64>, _>("no device")), Err("no device"));
    }

    #[test]
    fn a_candidate_chooses_what_nobody_says() {
        let said = CudaOptions { block_threads: Some(64), ..CudaOptions::default() };
        let with = regions(Scheme::Fused, 256, 16).of(&said);
        assert_eq!((with.scheme, with.block_threads, with.tile), (Some(Scheme::Fused), Some(64), Some(16)));
        let with = instances(Scheme::Swp, 8).of(&said);
        assert_eq!((with.coarsen, with.block_threads, with.tile), (Some(8), Some(64), None));
    }

    #[test]
    fn the_fastest_is_kept_and_recalled() {
        assert_eq!(fastest(&[Some(3.0), None, Some(2.0), Some(2.0)]), Some(2));
        assert_eq!(fastest(&[None; 4]), None);
        assert!((1..CANDIDATES.len()).all(|i| CANDIDATES[..i].iter().all(|c| c.name() != CANDIDATES[i].name())));
        for best in 0..CANDIDATES.len() {
            let text = told(&[Some(1.0), None, Some(0.5), Some(2.0), None], best);
            assert_eq!(recall(&text), Some(best), "{text}");
        }
        for strange in ["", "fused", "fused x", "slow 1", "fused 77\n"] {
            assert_eq!(recall(strange), None, "{strange}");
        }
    }
}
