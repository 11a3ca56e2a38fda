//! # auto
//!
//! Purpose: which scheme suits a program on the GPU at hand. Input: a checked program, options that name no scheme. Output: options that name one: what was measured to be
//! the fastest, now or by an earlier run.
//!
//! Each candidate is compiled and run on zeros, without files, twice: for few steady states and for many; the difference is its time. What was
//! found is kept in the cache, by program, GPU and version. Programs whose ends are files of their own, or that print, are not run in vain: they get the scheme
//! that suits most programs ([`USUAL`]), and so does the emulated GPU, whose time means nothing.

use super::{run, texts};
use crate::cache::{self, Cache};
use crate::io::format::Format;
use crate::io::host::{self, Bindings, End, Host};
use crate::native::{Native, NativeEnd};
use crate::options::{CodeOptions, CudaOptions, NativeOptions, Scheme};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_frontend::graph_text;
use sluice_frontend::ids::NodeId;
use std::time::Instant;

/// What is taken where nothing is measured.
pub const USUAL: Scheme = Scheme::Fused;
/// What is measured: schemes, and how much larger their instances are.
const CANDIDATES: [(Scheme, u32); 4] =
    [(Scheme::Fused, 1), (Scheme::SwpPersistent, 1), (Scheme::Swp, 8), (Scheme::Serial, 1)];
/// Bytes that pass the ends in a measurement.
const BYTES: u64 = 64 << 20;
/// The short run is this part of the long one.
const SHORT: u64 = 8;

/// Options with a scheme: the one they name, one that was measured before, or one that is measured now.
pub fn decided(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    natives: &NativeOptions,
    options: &CudaOptions,
) -> Result<CudaOptions, Halt> {
    let with = |(scheme, coarsen): (Scheme, u32)| CudaOptions {
        scheme: Some(scheme),
        coarsen: options.coarsen.or(Some(coarsen)),
        ..options.clone()
    };
    if options.scheme.is_some() {
        return Ok(options.clone());
    }
    if options.emulate || !measurable(checked) {
        return Ok(with((USUAL, 1)));
    }
    let run::Place::Gpu(gpu) = run::place(options)? else { return Ok(with((USUAL, 1))) };
    let key = key(checked, code, options, &gpu.properties().name);
    drop(gpu);
    let cache = Cache::open()?;
    if let Some(i) = cache.find(&key, "scheme").and_then(|path| recall(&std::fs::read_to_string(path).ok()?)) {
        return Ok(with(CANDIDATES[i]));
    }
    let (readers, writers) = host::ends(&checked.program.graph, &checked.program.globals)?;
    let states = steady_states(checked, &readers, &writers);
    let mut times = Vec::new();
    for candidate in CANDIDATES {
        let prepared = run::prepare(session, checked, code, natives, &with(candidate), texts::texts);
        times.push(match prepared {
            Ok((native, _)) => seconds(&native, (&readers, &writers), states)?,
            // what stands against every scheme has been said; a scheme that has no room for the program is passed over
            Err(Halt::Done(exit)) => return Err(Halt::Done(exit)),
            Err(Halt::Fault(_)) => None,
        });
    }
    let Some(best) = fastest(&times) else { return Ok(with((USUAL, 1))) };
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
fn key(checked: &Checked, code: &CodeOptions, options: &CudaOptions, gpu: &str) -> String {
    let program = graph_text::print(&checked.program.graph);
    let files: Vec<&str> = checked.sources.files().map(|(_, f)| &*f.text).collect();
    let how = format!("{:?} {code:?} {options:?}", checked.program.steady.repetitions);
    let mut parts = vec!["scheme", env!("CARGO_PKG_VERSION"), gpu, &program, &how];
    parts.extend(files);
    cache::key(&parts)
}

/// How many steady states bring so many bytes through the ends.
fn steady_states(checked: &Checked, readers: &[End], writers: &[End]) -> u64 {
    let firings = |v: NodeId| checked.program.steady.repetitions[v.index()];
    let each: u64 = readers.iter().chain(writers).map(|e| firings(e.node).saturating_mul(e.item.bytes as u64)).sum();
    (BYTES / each.max(1)).max(SHORT)
}

/// How long a program takes for steady states on zeros; `None` where it fails on them.
fn seconds(native: &Native, (readers, writers): (&[End], &[End]), states: u64) -> Result<Option<f64>, Halt> {
    let bindings = Bindings {
        input: Some("/dev/zero".into()),
        output: Some("/dev/null".into()),
        input_format: Some(Format::Raw),
        output_format: Some(Format::Raw),
        ..Bindings::default()
    };
    let mut took = [0.0; 3];
    // once in vain: the first run loads and fills what later ones find
    for (i, states) in [states / SHORT, states / SHORT, states].into_iter().enumerate() {
        let mut host = Host::open(readers, writers, &bindings)?;
        host.quiet();
        let began = Instant::now();
        match native.run(readers, writers, Some(states), &mut host) {
            Ok(()) => took[i] = began.elapsed().as_secs_f64(),
            Err(NativeEnd::Program(_)) => return Ok(None),
            Err(NativeEnd::Fault(fault)) => return Err(fault.into()),
        }
        host.finish()?;
    }
    Ok(Some((took[2] - took[1]).max(0.0)))
}

/// The candidate that took the shortest time; of equal ones the first.
fn fastest(times: &[Option<f64>]) -> Option<usize> {
    let timed = times.iter().enumerate().filter_map(|(i, t)| t.map(|t| (i, t)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}

/// What is kept: the choice, and for people what it rests on.
fn told(times: &[Option<f64>], best: usize) -> String {
    let row = |((scheme, coarsen), time): (&(Scheme, u32), &Option<f64>)| match time {
        Some(s) => format!("{} coarsened by {coarsen}: {s:.6} s\n", scheme.name()),
        None => format!("{} coarsened by {coarsen}: not run\n", scheme.name()),
    };
    let (scheme, coarsen) = CANDIDATES[best];
    let rows: String = CANDIDATES.iter().zip(times).map(row).collect();
    format!("{} {coarsen}\n{rows}", scheme.name())
}

/// The candidate that a kept text names; `None` where it names none, for another version may have written it.
fn recall(text: &str) -> Option<usize> {
    let mut words = text.lines().next()?.split(' ');
    let (name, coarsen) = (words.next()?, words.next()?.parse::<u32>().ok()?);
    CANDIDATES.iter().position(|(s, n)| s.name() == name && *n == coarsen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_is_kept_and_recalled() {
        assert_eq!(fastest(&[Some(3.0), None, Some(2.0), Some(2.0)]), Some(2));
        assert_eq!(fastest(&[None; 4]), None);
        for best in 0..CANDIDATES.len() {
            let text = told(&[Some(1.0), None, Some(0.5), Some(2.0)], best);
            assert_eq!(recall(&text), Some(best), "{text}");
        }
        for strange in ["", "fused", "fused x", "slow 1", "fused 77\n"] {
            assert_eq!(recall(strange), None, "{strange}");
        }
    }
}
