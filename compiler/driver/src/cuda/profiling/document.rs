//! The profile: what was measured or modelled, and what is chosen of it.

use super::Subject;
use super::measure::Samples;
use crate::cuda::arch::Arch;
use crate::exit::Fault;
use crate::profile::gpu::{Cell, Costs, OnGpu, StreamOnGpu, THREADS, measurements};
use crate::profile::{Machine, Profile, SCHEMA, Stream, hash};
use std::time::SystemTime;

/// Registers go to threads by so many at a time.
const REGISTERS_AT_ONCE: u32 = 8;

/// Where it comes from.
pub(super) struct About {
    pub(super) costs: Costs,
    pub(super) arch: Option<Arch>,
    pub(super) device: String,
    pub(super) driver: Option<(u32, u32)>,
}

impl Subject<'_> {
    /// Has a multiprocessor room for a block of such threads?
    pub(super) fn has_room(&self, registers: u32, threads: u32) -> bool {
        let each = registers.next_multiple_of(REGISTERS_AT_ONCE);
        u64::from(each) * u64::from(threads) <= u64::from(self.registers)
    }

    /// What each choice comes to for a kernel.
    fn table(&self, kernel: usize, samples: &Samples, costs: Costs) -> Vec<Cell> {
        let measured = costs != Costs::Modelled && !samples.unmeasured.contains_key(&kernel);
        let mut table = Vec::new();
        for (l, limit) in self.codes.limits.iter().enumerate() {
            for (t, threads) in THREADS.iter().enumerate() {
                let k = &self.texts[t].kernels[kernel];
                let needs = self.codes.needs(kernel, t, l);
                let mut cell = Cell {
                    limit: *limit,
                    threads: *threads,
                    registers: needs.registers,
                    spill_bytes: needs.stores + needs.loads,
                    ..Cell::default()
                };
                if self.has_room(needs.registers.unwrap_or(*limit), *threads) {
                    match measured {
                        false => {
                            cell.nanoseconds =
                                Some(rounded(self.model.nanoseconds(k.nodes[0], needs, *threads, k.serial)));
                        }
                        true => {
                            let sample = samples.of.get(&(kernel, t, self.codes.made_for(kernel, t, l)));
                            cell.nanoseconds = sample.map(|s| rounded(s.nanoseconds));
                            cell.spread = sample.map(|s| (s.spread * 1e4).round() / 1e4);
                        }
                    }
                }
                table.push(cell);
            }
        }
        table
    }
}

/// As many digits as there is sense in.
fn rounded(ns: f64) -> f64 {
    (ns * 1e6).round() / 1e6
}

/// Makes it.
pub(super) fn document(subject: &Subject<'_>, samples: &Samples, about: &About) -> Result<Profile, Fault> {
    let program = &subject.checked.program;
    let graph = &program.graph;
    let kernels = &subject.texts[0].kernels;
    let mut of: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    for (i, k) in kernels.iter().enumerate() {
        k.nodes.iter().for_each(|v| of[v.index()] = Some(i));
    }
    let tables: Vec<Vec<Cell>> = (0..kernels.len()).map(|k| subject.table(k, samples, about.costs)).collect();
    let stream = |(v, node): (usize, &sluice_frontend::graph::Node)| {
        let kernel = of[v];
        let own = StreamOnGpu {
            threads: THREADS[0],
            registers: None,
            spill_bytes: 0,
            serial: kernel.is_some_and(|k| kernels[k].serial),
            repetitions: if kernel.is_some() { program.steady.repetitions[v] } else { 0 },
            like: kernel.map_or(&node.path, |k| &graph.node(kernels[k].nodes[0]).path).clone(),
            unmeasured: kernel.and_then(|k| samples.unmeasured.get(&k).cloned()),
            table: kernel.map(|k| tables[k].clone()).unwrap_or_default(),
        };
        Stream { stream: node.path.clone(), firings: 0, nanoseconds: None, gpu: Some(own) }
    };
    let mut profile = Profile {
        schema: SCHEMA.into(),
        program: graph.hierarchy.first().map_or(String::new(), |h| h.display.clone()),
        hash: hash(program).ok_or_else(|| Fault::internal("a program that runs has no kernels"))?,
        sluice: env!("CARGO_PKG_VERSION").into(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        machine: Machine { kind: "gpu".into(), name: about.device.clone() },
        flags: String::new(),
        seconds: (samples.seconds * 1e6).round() / 1e6,
        firings: samples.firings,
        gpu: Some(OnGpu {
            costs: about.costs,
            arch: about.arch.map(|a| a.sm()),
            processors: subject.processors,
            clock_mhz: subject.clock_mhz,
            driver: about.driver.map(|(major, minor)| format!("{major}.{minor}")),
            compiler: subject.codes.compiler.clone(),
            registers: 255,
            threads: THREADS[0],
            interval: 0.0,
        }),
        streams: graph.nodes.iter().enumerate().map(stream).collect(),
    };
    choose(&mut profile)?;
    Ok(profile)
}

/// Puts the best choice into it.
fn choose(profile: &mut Profile) -> Result<(), Fault> {
    let most = THREADS[THREADS.len() - 1];
    let chosen = measurements(profile).and_then(|m| m.choose(most)).ok_or_else(|| {
        Fault::program("a multiprocessor has no room for a block of this program, however few its registers")
    })?;
    for (i, s) in profile.streams.iter_mut().enumerate() {
        let Some(own) = &mut s.gpu else { continue };
        own.threads = chosen.each[i];
        if own.repetitions == 0 {
            continue;
        }
        if own.unmeasured.is_none() {
            s.nanoseconds = Some(chosen.time[i]);
        }
        let at = |c: &&Cell| c.limit == chosen.registers && c.threads == own.threads;
        if let Some(cell) = own.table.iter().find(at) {
            (own.registers, own.spill_bytes) = (cell.registers, cell.spill_bytes);
        }
    }
    if let Some(on) = &mut profile.gpu {
        (on.registers, on.threads, on.interval) = (chosen.registers, chosen.threads, rounded(chosen.interval));
    }
    Ok(())
}
