//! # tiles
//!
//! Purpose: what the warps of a program's kernels issue where regions are fused (scheme `fused`). Input: a program, a [`Setting`]. Output: [`Extracted`]: the kernels in the order in which they are
//! started, with all blocks of all launches that so many steady states take.
//!
//! Nothing is taken to be alike: which steady states a launch begins with, how many it has, and which of its blocks this is, is told to each walk, as the host would tell it ([`Tiled::cut`]); only where
//! memory begins and how many steady states there were before nobody knows. So the ends of tiles, what neighbours have in common, and places in rings are what they are.

use super::compiled::{Compiled, Text, compiled};
use super::extract::{BenchText, BlockOf, Extracted, Kind, LaunchOf, NOT_THERE, OfKernel, Tiles, modelled, prints};
use super::walked::{Kernel, Told, Warps, described};
use super::{On, Setting};
use crate::cuda::emit::{self, Choices, Emitted};
use crate::cuda::texts;
use crate::exit::Fault;
use crate::options::{CodeOptions, CudaOptions, Scheme};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use sluice_codegen::Flavour;
use sluice_codegen::cuda::{BUSY, CudaProgram, Grid, Started, Tiled, When};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The most blocks of a kernel that are walked, and instructions of all of their warps.
const MOST_BLOCKS: u64 = 1 << 16;
const MOST_WALKED: u64 = 1 << 28;

/// Takes all kernels apart; `measured`: where they will be measured, if they are.
pub(super) fn extract(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    setting: &Setting,
    measured: Option<On>,
) -> Result<Extracted, Halt> {
    let options = CudaOptions {
        scheme: Some(Scheme::Fused),
        block_threads: Some(setting.threads),
        tile: setting.tile,
        ..CudaOptions::default()
    };
    let mut choices = texts::choices(&options, &texts::of_build(&options, Some(setting.arch)))?;
    let made = |session: &mut Session, choices: &Choices| -> Result<(CudaProgram, Tiled, Option<Checked>), Halt> {
        let Emitted { mut program, own, .. } =
            emit::emit(session, checked, code, choices, (Flavour::Plugin, "program"))?;
        let tiled = program.tiled.take().ok_or_else(|| Fault::internal("a fused program without tiles"))?;
        Ok((program, tiled, own))
    };
    let (program, tiled, own) = made(session, &choices)?;
    let checked = own.as_ref().unwrap_or(checked);
    let from = compiled(session, checked, &program.device, code, setting)?;
    let count = setting.states.unwrap_or(tiled.states).div_ceil(tiled.states.max(1)).max(1);
    let walking = Walking { checked, from: &from, program: &program, tiled: &tiled, setting, count };
    let kernels: Vec<OfKernel> = session.pass("walk", || tiled.started.iter().map(|s| walking.kernel(s)).collect());
    let bench = if let Some(on) = measured {
        choices.options.rounds = true;
        let (rounds, ..) = made(session, &choices)?;
        let image = match on {
            On::Gpu(_) => compiled(session, checked, &rounds.device, code, setting)?.image,
            On::Emulated => None,
        };
        let first = walking.batches().first().and_then(|(_, tiles)| tiled.cut(*tiles).first().copied());
        let tiles = first.map_or(1, |(_, tiles)| tiles);
        Some(BenchText {
            device: rounds.device,
            kernels: rounds.kernels.into_iter().map(|k| (k.name, k.shared)).collect(),
            arena_bytes: rounds.arena_bytes,
            end_bytes: tiled.end_bytes.iter().map(|b| b.saturating_mul(tiles)).collect(),
            readers: tiled.readers,
            image,
        })
    } else {
        None
    };
    Ok(Extracted {
        origin: from.origin(),
        compiler: from.image.as_ref().map(|i| i.compiler.clone()),
        because: from.because,
        kernels,
        states: setting.states.unwrap_or(tiled.states),
        tiles: Some(Tiles { states: tiled.states, count }),
        bench,
        own,
    })
}

struct Walking<'w> {
    checked: &'w Checked,
    from: &'w Compiled,
    program: &'w CudaProgram,
    tiled: &'w Tiled,
    setting: &'w Setting,
    /// Tiles.
    count: u64,
}

/// A launch as a kernel sees it: tiles of the batch, the first one, how many, whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Launch {
    batch: u64,
    first: u64,
    tiles: u64,
    parity: u64,
}

impl Walking<'_> {
    /// Batches that are alike, and the tiles of each.
    fn batches(&self) -> Vec<(u64, u64)> {
        let (whole, rest) = (self.count / self.tiled.batch, self.count % self.tiled.batch);
        [(whole, self.tiled.batch), (1, rest)].into_iter().filter(|(n, tiles)| *n > 0 && *tiles > 0).collect()
    }

    /// The launches of a kernel in a batch.
    fn launches(&self, when: When, batch: u64) -> Vec<Launch> {
        let cut = self.tiled.cut(batch);
        let of = |(i, (first, tiles)): (usize, &(u64, u64))| Launch {
            batch,
            first: *first,
            tiles: *tiles,
            parity: i as u64 % 2,
        };
        match when {
            When::Each => cut.iter().enumerate().map(of).collect(),
            When::Before => vec![Launch { batch, first: 0, tiles: 0, parity: 0 }],
            When::After => {
                let last = cut.last().map_or(0, |(_, tiles)| *tiles);
                vec![Launch { batch, first: batch, tiles: last, parity: cut.len() as u64 % 2 }]
            }
        }
    }

    fn blocks(&self, grid: Grid, tiles: u64) -> u64 {
        let most = self.setting.multiprocessors.saturating_mul(BUSY);
        match grid {
            Grid::Tiles(more) => tiles.saturating_add(more),
            Grid::One | Grid::AtOnce => 1,
            Grid::Shared { firings, threads } => {
                tiles.saturating_mul(firings).div_ceil(threads.max(1).into()).clamp(1, most)
            }
            Grid::Fixed(blocks) | Grid::Streams(blocks) => blocks.clamp(1, most),
        }
    }

    fn kernel(&self, started: &Started) -> OfKernel {
        let info = &self.program.kernels[started.kernel];
        let mut kernel = Kernel::of(self.from, &info.name, info.threads, self.setting.arch);
        if let Some(kernel) = &mut kernel {
            kernel.has_memory(self.tiled.end_bytes.len().max(2));
        }
        let all: Vec<(u64, Vec<Launch>)> =
            self.batches().into_iter().map(|(n, batch)| (n, self.launches(started.when, batch))).collect();
        let blocks = |l: &Launch| self.blocks(started.grid, l.tiles);
        let walked = all.iter().flat_map(|(_, l)| l.iter().map(blocks)).fold(0, u64::saturating_add);
        let (mut launches, mut left) = (Vec::new(), MOST_WALKED);
        for (count, launch) in all.iter().flat_map(|(n, all)| all.iter().map(|l| (*n, *l))) {
            let blocks = match self.from.text {
                Text::Ir(_) => self.modelled(started, launch),
                _ if started.grid == Grid::AtOnce => why("its blocks make several tiles each".into()),
                _ if walked > MOST_BLOCKS => why(format!("it has {walked} blocks, and {MOST_BLOCKS} are walked")),
                _ => match &mut kernel {
                    Some(kernel) => self.walked(kernel, started, launch, &mut left),
                    None => why(NOT_THERE.into()),
                },
            };
            let fails = blocks.iter().any(|b| b.warps.is_err());
            launches.push(LaunchOf { count, blocks });
            // no other one makes up for it
            if fails {
                break;
            }
        }
        let first = all.first().and_then(|(_, l)| l.first()).copied();
        let nodes: Vec<_> = started.nodes.iter().map(|(v, _)| *v).collect();
        let repetitions = |v: &sluice_frontend::ids::NodeId| self.checked.program.steady.repetitions[v.index()];
        let kind = match started.when {
            When::Before => Kind::Loads,
            When::Each => Kind::Fires,
            When::After => Kind::Saves,
        };
        let states = self.count.saturating_mul(self.tiled.states);
        let firings = nodes.iter().map(|v| repetitions(v).saturating_mul(states)).fold(0, u64::saturating_add);
        OfKernel {
            kernel: started.kernel,
            kind,
            firings: if kind == Kind::Fires { firings } else { 0 },
            serial: kind == Kind::Fires && started.grid.is_serial(),
            launches,
            measured: match (kind, first) {
                (Kind::Fires, Some(first)) if nodes.iter().all(|v| !prints(self.checked, *v)) => match started.grid {
                    Grid::Shared { .. } if blocks(&first) > 1 => Err("its blocks share its firings".into()),
                    _ => Ok(first.tiles),
                },
                (Kind::Fires, _) => Err("it prints".into()),
                _ => Err("it carries what channels keep".into()),
            },
            nodes,
        }
    }

    /// Each block of a launch; those that are alike together. `left`: instructions that may still be walked.
    fn walked(&self, kernel: &mut Kernel, started: &Started, launch: Launch, left: &mut u64) -> Vec<BlockOf> {
        let blocks = self.blocks(started.grid, launch.tiles);
        let told = [
            (Told::Rounds, launch.batch),
            (Told::Iteration, launch.first),
            (Told::Count, launch.tiles),
            (Told::Parity, launch.parity),
        ];
        for (what, value) in told {
            let Ok(value) = u32::try_from(value) else { return why("it has too many tiles".into()) };
            kernel.told(what, Some(value));
        }
        kernel.blocks(u32::try_from(blocks).unwrap_or(u32::MAX));
        let mut all: Vec<BlockOf> = Vec::new();
        let mut places: HashMap<Warps, usize> = HashMap::new();
        for number in 0..blocks {
            kernel.block(u32::try_from(number).ok());
            let warps = match described(kernel.walk()) {
                Ok(warps) => warps,
                Err(reason) => return why(reason),
            };
            let instructions = warps.iter().map(|t| t.instructions).fold(0, u64::saturating_add);
            match left.checked_sub(instructions) {
                Some(rest) => *left = rest,
                None => return why(format!("all of its blocks have more than {MOST_WALKED} instructions")),
            }
            match places.entry(warps) {
                Entry::Occupied(place) => all[*place.get()].count += 1,
                Entry::Vacant(place) => {
                    all.push(BlockOf { count: 1, warps: Ok(vec![place.key().clone()]) });
                    place.insert(all.len() - 1);
                }
            }
        }
        all
    }

    /// What the kernel IR says of a launch.
    fn modelled(&self, started: &Started, launch: Launch) -> Vec<BlockOf> {
        let Text::Ir(costs) = &self.from.text else { return Vec::new() };
        let serial = started.grid.is_serial();
        // a block that has some of the streams is taken to have all of them
        let (count, tiles) = if serial { (self.blocks(started.grid, 1), launch.tiles) } else { (launch.tiles, 1) };
        let of: Vec<_> = started.nodes.iter().map(|(v, n)| (&costs[v.index()], n.saturating_mul(tiles))).collect();
        vec![BlockOf { count: count.max(1), warps: Ok(vec![modelled(&of, serial, self.setting)]) }]
    }
}

/// Blocks that cannot be walked, and why.
fn why(reason: String) -> Vec<BlockOf> {
    vec![BlockOf { count: 1, warps: Err(reason) }]
}
