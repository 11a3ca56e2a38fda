//! # extract
//!
//! Purpose: what the warps of each node's kernel issue. Input: a program, a [`Setting`]. Output: [`Extracted`]: by kernel the traces of a block's warps, of a full block and of the last one; from machine code
//! where NVRTC and nvdisasm are there, else from PTX, else from the kernel IR.

use super::compiled::{Compiled, Text, compiled};
use super::walked::{Kernel, Told, Warps, described};
use super::{Setting, WARP};
use crate::cuda::compile::Image;
use crate::cuda::emit;
use crate::cuda::instructions::table::{self, Class};
use crate::cuda::instructions::walk::{NoTrace, Phase, Trace};
use crate::cuda::run::Target;
use crate::cuda::texts;
use crate::exit::Fault;
use crate::options::{CodeOptions, CudaOptions, Scheme};
use crate::pipeline::{Checked, Halt, dump};
use crate::scheduling;
use crate::session::Session;
use sluice_codegen::cuda::{ProfileKernel, ProfileText};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_kernel::cost::Cost;
use sluice_schedule::analysis::makespan::Unit;
use std::collections::HashSet;

/// What strings were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Machine code.
    Sass,
    /// What machine code is made of.
    Ptx,
    /// The kernel IR.
    Ir,
}

impl Origin {
    pub(super) fn name(self) -> &'static str {
        match self {
            Origin::Sass => "sass",
            Origin::Ptx => "ptx",
            Origin::Ir => "ir",
        }
    }
}

/// A kernel of some nodes.
pub(super) struct OfKernel {
    /// In program order, or that of the flow; of a kernel that carries what channels keep, those that take it.
    pub(super) nodes: Vec<NodeId>,
    /// The number of its kernel in the text.
    pub(super) kernel: usize,
    /// What it does.
    pub(super) kind: Kind,
    /// Of all its nodes in the steady states that there are at once.
    pub(super) firings: u64,
    /// They follow one another, in one block.
    pub(super) serial: bool,
    /// Its launches, one after the other.
    pub(super) launches: Vec<LaunchOf>,
    /// What a block of it is told to do where it is measured: firings, or tiles; or why it is not.
    pub(super) measured: Result<u64, String>,
}

impl OfKernel {
    /// What it is called: by its first node.
    pub(super) fn name(&self, checked: &Checked) -> String {
        let first = self.nodes.first().map_or("", |v| checked.program.graph.node(*v).path.as_str());
        let more = if self.nodes.len() > 1 { format!(" and {} more", self.nodes.len() - 1) } else { String::new() };
        let what = match self.kind {
            Kind::Fires => "",
            Kind::Loads => "load: ",
            Kind::Saves => "save: ",
        };
        format!("{what}{first}{more}")
    }
}

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It makes firings.
    Fires,
    /// It carries what channels keep between batches: before one, or after it.
    Loads,
    Saves,
}

/// Launches that are alike.
pub(super) struct LaunchOf {
    /// How many.
    pub(super) count: u64,
    /// Its blocks. Of a node's kernel a full block, if there is one, and the last one, if it is another.
    pub(super) blocks: Vec<BlockOf>,
}

impl LaunchOf {
    /// Does it have the same blocks?
    pub(super) fn is_like(&self, other: &LaunchOf) -> bool {
        self.blocks == other.blocks
    }
}

/// Blocks that are alike.
#[derive(PartialEq)]
pub(super) struct BlockOf {
    /// How many.
    pub(super) count: u64,
    /// What each may be: the traces of its warps. Or why there is none.
    pub(super) warps: Result<Vec<Warps>, String>,
}

/// All kernels.
pub(super) struct Extracted {
    pub(super) origin: Origin,
    /// Why not from machine code.
    pub(super) because: Option<String>,
    /// By node; or in the order in which they are started.
    pub(super) kernels: Vec<OfKernel>,
    /// The version of NVRTC that made them, where there is one.
    pub(super) compiler: Option<String>,
    /// Steady states that there are at once.
    pub(super) states: u64,
    /// Of the scheme `fused`, the tiles that these are in.
    pub(super) tiles: Option<Tiles>,
    /// What is measured, where something is: kernels by the same numbers.
    pub(super) bench: Option<BenchText>,
    /// The program that these are of; `None` where that is the program as it was.
    pub(super) own: Option<Checked>,
}

/// The tiles of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiles {
    /// Steady states of each.
    pub(super) states: u64,
    /// How many there are.
    pub(super) count: u64,
}

/// Text to be measured.
pub(super) struct BenchText {
    /// CUDA C++, whose kernels do their work `job.n` times over.
    pub(super) device: String,
    /// By number: name, and bytes of shared memory.
    pub(super) kernels: Vec<(String, u64)>,
    pub(super) arena_bytes: u64,
    /// By reader, then writer.
    pub(super) end_bytes: Vec<u64>,
    pub(super) readers: usize,
    /// What NVRTC made of it, where there is one.
    pub(super) image: Option<Image>,
}

pub(super) fn extract(
    session: &mut Session,
    checked: &Checked,
    code: &CodeOptions,
    setting: &Setting,
) -> Result<Extracted, Halt> {
    let machine = scheduling::target::machine("h200")?;
    let target = Target {
        device: None,
        processors: 1,
        arch: Some(setting.arch),
        block_shared: u32::try_from(machine.shared_bytes).unwrap_or(u32::MAX),
        memory: Some(machine.memory_bytes),
    };
    let options =
        CudaOptions { scheme: Some(Scheme::Swp), block_threads: Some(setting.threads), ..CudaOptions::default() };
    let choices = texts::choices(&options, &target)?;
    let mut texts = emit::profile_texts(session, checked, code, &choices, &[setting.threads])?;
    let text = texts.pop().ok_or_else(|| Fault::internal("no text of kernels"))?;
    dump(session, "emit-cuda", || text.device.clone())?;
    let compiled = compiled(session, checked, &text.device, code, setting)?;
    let kernels = session.pass("walk", || nodes(checked, &text, &compiled, setting));
    let origin = compiled.origin();
    let compiler = compiled.image.as_ref().map(|i| i.compiler.clone());
    let bench = BenchText {
        device: text.device,
        kernels: text.kernels.into_iter().map(|k| (k.name, k.shared)).collect(),
        arena_bytes: text.arena_bytes,
        end_bytes: text.end_bytes,
        readers: text.readers,
        image: compiled.image,
    };
    let (states, tiles) = (setting.states.unwrap_or(1), None);
    let (bench, own) = (Some(bench), None);
    Ok(Extracted { origin, because: compiled.because, compiler, kernels, states, tiles, bench, own })
}

fn nodes(checked: &Checked, text: &ProfileText, from: &Compiled, setting: &Setting) -> Vec<OfKernel> {
    let mut all = Vec::new();
    for (number, kernel) in text.kernels.iter().enumerate() {
        let mut walker = Walker::new(from, kernel, setting);
        for node in &kernel.nodes {
            let repetitions = checked.program.steady.repetitions[node.index()];
            let firings = repetitions.saturating_mul(setting.states.unwrap_or(1));
            let threads = u64::from(setting.threads);
            let mut blocks = Vec::new();
            let mut add = |count: u64, firings: u64| {
                if count > 0 && firings > 0 {
                    blocks.push(BlockOf { count, warps: walker.block(firings) });
                }
            };
            if kernel.serial {
                add(1, firings);
            } else {
                add(firings / threads, threads);
                add(1, firings % threads);
            }
            let launches = vec![LaunchOf { count: 1, blocks }];
            let (kind, nodes, serial) = (Kind::Fires, vec![*node], kernel.serial);
            let measured = measured(checked, kernel, firings, setting);
            all.push((*node, number, OfKernel { nodes, kernel: number, kind, firings, serial, launches, measured }));
        }
    }
    all.sort_by_key(|(node, number, _)| (*node, *number));
    all.into_iter().map(|(_, _, node)| node).collect()
}

/// What a block of a node makes when it is measured: firings on zeros, as far as there is memory for them.
fn measured(checked: &Checked, kernel: &ProfileKernel, firings: u64, setting: &Setting) -> Result<u64, String> {
    if kernel.nodes.iter().any(|v| prints(checked, *v)) {
        return Err("it prints".into());
    }
    let firings = if kernel.serial { firings } else { firings.min(setting.threads.into()) };
    match firings > kernel.round {
        true => Err(format!("its block makes more than {} firings", kernel.round)),
        false => Ok(firings),
    }
}

/// Does a filter print? There is no room for it where kernels are measured.
pub(super) fn prints(checked: &Checked, v: NodeId) -> bool {
    matches!(checked.program.graph.node(v).kind, NodeKind::Filter { prints: true, .. })
}

/// The warps of a kernel's blocks.
struct Walker<'f> {
    from: &'f Compiled,
    setting: &'f Setting,
    node: NodeId,
    serial: bool,
    period: u64,
    kernel: Option<Kernel>,
    known: Vec<(u64, Result<Vec<Warps>, String>)>,
}

impl<'f> Walker<'f> {
    fn new(from: &'f Compiled, kernel: &ProfileKernel, setting: &'f Setting) -> Walker<'f> {
        let code = Kernel::of(from, &kernel.name, setting.threads, setting.arch);
        let (node, serial) = (kernel.nodes[0], kernel.serial);
        Walker { from, setting, node, serial, period: kernel.period, kernel: code, known: Vec::new() }
    }

    /// A block that makes so many firings.
    fn block(&mut self, firings: u64) -> Result<Vec<Warps>, String> {
        if let Some((_, known)) = self.known.iter().find(|(n, _)| *n == firings) {
            return known.clone();
        }
        let made = match &self.from.text {
            Text::Ir(costs) => {
                let of = [(&costs[self.node.index()], firings)];
                Ok(vec![modelled(&of, self.serial, self.setting)])
            }
            _ => self.walked(firings),
        };
        self.known.push((firings, made.clone()));
        made
    }

    /// Whatever the first firing's number is; or, where that decides how often a loop goes round, for each that there is.
    fn walked(&mut self, firings: u64) -> Result<Vec<Warps>, String> {
        let period = self.period;
        let kernel = self.kernel.as_mut().ok_or(NOT_THERE)?;
        let m = u32::try_from(firings).map_err(|_| "it has too many firings".to_string())?;
        for (what, value) in [(Told::Rounds, 1), (Told::Count, m), (Told::Parity, 0)] {
            kernel.told(what, Some(value));
        }
        kernel.told(Told::Iteration, None);
        kernel.block(None);
        let any = kernel.walk();
        if !matches!(any, Err(NoTrace::Endless(_) | NoTrace::TooLong)) || period > MOST_FIRST {
            return Ok(vec![described(any)?]);
        }
        kernel.block(Some(0));
        let mut all: Vec<Warps> = Vec::new();
        let mut seen = HashSet::new();
        for first in 0..period {
            kernel.told(Told::Iteration, Some(first as u32));
            let this = described(kernel.walk())?;
            if seen.insert(this.clone()) {
                all.push(this);
            }
        }
        Ok(all)
    }
}

/// What is said of a kernel that compiled code lacks.
pub(super) const NOT_THERE: &str = "the kernel is not in the compiled code";

/// The most first firings that are tried.
const MOST_FIRST: u64 = 1 << 14;

/// What the kernel IR says, whose operations are not yet instructions: how many of each unit, in no order. Of so many firings by a block of each of some nodes, side by side or one after the other.
pub(super) fn modelled(of: &[(&Cost, u64)], serial: bool, setting: &Setting) -> Warps {
    let warps = setting.threads / WARP;
    let warp = |w: u32| {
        let mut phase = Phase::default();
        for (cost, firings) in of {
            // all of them by one thread; or each by one, which has as many turns as the block needs, and the others of its warp with it
            let turns = match (serial, w) {
                (true, 0) => *firings,
                (true, _) => 0,
                (false, w) => firings.div_ceil(WARP.into()).saturating_sub(w.into()).div_ceil(warps.into()),
            };
            let times = |n: u64, class: Class| {
                n.saturating_mul(turns).saturating_mul(table::cycles(class, setting.arch).1.into())
            };
            let cores = [
                times(cost.float, Class::Float),
                times(cost.int, Class::Integer),
                times(cost.divide.saturating_add(cost.function), Class::Special),
                times(cost.branch.saturating_add(cost.call), Class::Control),
            ];
            let loads = times(cost.load.saturating_add(cost.store), Class::Memory(4));
            phase.loads = phase.loads.saturating_add(loads);
            phase.cores = cores.into_iter().fold(phase.cores, u64::saturating_add);
        }
        Trace { instructions: phase.loads.saturating_add(phase.cores), phases: vec![phase], varies: true }
    };
    (0..warps).map(warp).collect()
}

/// A string of a trace for people, barriers as `|`; nothing where it is not whole or too long.
pub(super) fn string(trace: &Trace, most: usize) -> Option<String> {
    let length: usize = trace.phases.iter().map(|p| p.units.len() + 1).sum();
    if !trace.is_whole() || length > most + 1 {
        return None;
    }
    let text = |p: &Phase| p.units.iter().map(|u: &Unit| u.letter()).collect::<String>();
    Some(trace.phases.iter().map(text).collect::<Vec<_>>().join("|"))
}
