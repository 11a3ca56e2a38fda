//! # extract
//!
//! Purpose: what the warps of each node's kernel issue. Input: a program, a [`Setting`]. Output: [`Extracted`]: by kernel the traces of a block's warps, of a full block and of the last one; from machine code
//! where NVRTC and nvdisasm are there, else from PTX, else from the kernel IR.

use super::{Setting, WARP};
use crate::cache::{self, Cache};
use crate::cuda::compile::{self, Image, KernelOptions};
use crate::cuda::emit;
use crate::cuda::instructions::flow::Meetings;
use crate::cuda::instructions::table::{self, Class};
use crate::cuda::instructions::walk::{NoTrace, Phase, Trace, walk};
use crate::cuda::instructions::{BLOCK, Code, image, ptx, sass};
use crate::cuda::nvrtc::Nvrtc;
use crate::cuda::run::Target;
use crate::cuda::{texts, toolkit};
use crate::exit::Fault;
use crate::options::{CodeOptions, CudaOptions, Scheme};
use crate::pipeline::{Checked, Halt, dump};
use crate::scheduling;
use crate::session::Session;
use sluice_codegen::cuda::{ProfileKernel, ProfileText};
use sluice_frontend::ids::NodeId;
use sluice_kernel::cost::Cost;
use sluice_schedule::analysis::makespan::Unit;
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

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
pub(super) struct OfNode {
    pub(super) node: NodeId,
    /// The number of its kernel in the text.
    pub(super) kernel: usize,
    /// In a steady state, or in as many as there are at once.
    pub(super) firings: u64,
    /// They follow one another, in one block.
    pub(super) serial: bool,
    /// A full block, of the nodes that have one, and the last one, if it is another.
    pub(super) blocks: Vec<BlockOf>,
}

/// Blocks that are alike.
pub(super) struct BlockOf {
    /// How many.
    pub(super) count: u64,
    /// What each may be: the traces of its warps. Or why there is none.
    pub(super) warps: Result<Vec<Warps>, String>,
}

/// Traces of the warps of a block.
pub(super) type Warps = Vec<Trace>;

/// All kernels.
pub(super) struct Extracted {
    pub(super) origin: Origin,
    /// Why not from machine code.
    pub(super) because: Option<String>,
    pub(super) nodes: Vec<OfNode>,
    /// The text of all kernels.
    pub(super) text: ProfileText,
    /// What NVRTC made of it, where there is one.
    pub(super) image: Option<Image>,
}

/// Where instructions are read.
enum Text {
    Sass(String),
    Ptx(String),
    Ir(Vec<Cost>),
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
    let (from, image, because) = match read(session, &text, code, setting)? {
        Ok((from, image)) => {
            let because = matches!(from, Text::Ptx(_)).then(|| MISSING_NVDISASM.to_string());
            (from, Some(image), because)
        }
        Err(why) => (Text::Ir(scheduling::weights(session, checked)?.costs), None, Some(why)),
    };
    let origin = match from {
        Text::Sass(_) => Origin::Sass,
        Text::Ptx(_) => Origin::Ptx,
        Text::Ir(_) => Origin::Ir,
    };
    let nodes = session.pass("walk", || nodes(checked, &text, (&from, image.as_ref()), setting));
    Ok(Extracted { origin, because, nodes, text, image })
}

const MISSING_NVDISASM: &str = "there is no nvdisasm, which takes machine code apart: it comes with the CUDA toolkit, and is looked for there, in SLUICE_CUDA_HOME, and on the path";

/// Machine code, or PTX, and what the compiler made; or why there is neither.
fn read(
    session: &mut Session,
    text: &ProfileText,
    code: &CodeOptions,
    setting: &Setting,
) -> Result<Result<(Text, Image), String>, Halt> {
    let nvrtc = match Nvrtc::find(None) {
        Ok(nvrtc) => nvrtc,
        Err(fault) => return Ok(Err(fault.message)),
    };
    let options = KernelOptions { fast_math: code.cc.fast_math, registers: None, debug: false };
    let cache = Cache::open()?;
    let image =
        session.pass("compile-cuda", || compile::image_by(&nvrtc, &cache, &text.device, setting.arch, options))?;
    // an architecture that the compiler does not know has PTX only
    let is_machine_code = image.bytes.starts_with(b"\x7fELF");
    if is_machine_code && let Some(tool) = toolkit::nvdisasm() {
        let text = session.pass("disassemble", || disassembled(&cache, &tool, &image.bytes))?;
        dump(session, "disassemble", || text.clone())?;
        return Ok(Ok((Text::Sass(text), image)));
    }
    let bytes = match is_machine_code {
        true => session.pass("compile-cuda", || compile::ptx_by(&nvrtc, &text.device, setting.arch, options))?,
        false => image.bytes.clone(),
    };
    let text = String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_string();
    Ok(Ok((Text::Ptx(text), image)))
}

/// What nvdisasm prints, from the cache or made now.
fn disassembled(cache: &Cache, tool: &Path, image: &[u8]) -> Result<String, Fault> {
    let content: String = image.iter().map(|b| format!("{b:02x}")).collect();
    let key = cache::key(&["nvdisasm", &tool.display().to_string(), &content]);
    let file = cache.get(&key, "sass", |target| {
        let cubin = cache.temporary(&key, "cubin");
        crate::interrupt::add_temporary(&cubin);
        let made = std::fs::write(&cubin, image)
            .map_err(|e| Fault::file("write", cubin.display(), &e))
            .and_then(|()| disassemble(tool, &cubin))
            .and_then(|text| std::fs::write(target, text).map_err(|e| Fault::file("write", target.display(), &e)));
        let _ = std::fs::remove_file(&cubin);
        crate::interrupt::forget_temporary(&cubin);
        made
    })?;
    std::fs::read_to_string(&file).map_err(|e| Fault::file("read", file.display(), &e))
}

fn disassemble(tool: &Path, cubin: &Path) -> Result<Vec<u8>, Fault> {
    let output = Command::new(tool).arg("-c").arg(cubin).output();
    let output = output.map_err(|e| Fault::file("run", tool.display(), &e))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it says nothing");
    Err(Fault::input(format!("{} fails: {said}", tool.display()))
        .help("it must be as new as the CUDA compiler")
        .coded("E0984"))
}

fn nodes(checked: &Checked, text: &ProfileText, from: (&Text, Option<&Image>), setting: &Setting) -> Vec<OfNode> {
    let mut all = Vec::new();
    for (number, kernel) in text.kernels.iter().enumerate() {
        let mut walker = Walker::new(from, kernel, setting);
        for node in &kernel.nodes {
            let repetitions = checked.program.steady.repetitions[node.index()];
            let firings = repetitions.saturating_mul(setting.states);
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
            all.push((*node, number, OfNode { node: *node, kernel: number, firings, serial: kernel.serial, blocks }));
        }
    }
    all.sort_by_key(|(node, number, _)| (*node, *number));
    all.into_iter().map(|(_, _, node)| node).collect()
}

/// The warps of a kernel's blocks.
struct Walker<'f> {
    from: &'f Text,
    setting: &'f Setting,
    node: NodeId,
    serial: bool,
    period: u64,
    code: Option<(Code, Meetings, u64)>,
    known: Vec<(u64, Result<Vec<Warps>, String>)>,
}

/// Where the stack is taken to begin.
const STACK: u32 = 1 << 24;
/// Places in the argument of all kernels (`sl_job` in generated text): rounds, the iteration, firings, whose turn it is.
const ROUNDS: u64 = 32;
const ITERATION: u64 = 36;
const FIRINGS: u64 = 40;
const PARITY: u64 = 44;

impl<'f> Walker<'f> {
    fn new((from, image): (&'f Text, Option<&Image>), kernel: &ProfileKernel, setting: &'f Setting) -> Walker<'f> {
        let (name, node, serial) = (kernel.name.as_str(), kernel.nodes[0], kernel.serial);
        let code = match from {
            Text::Sass(text) => sass::read(text, name, setting.arch).zip(image).and_then(|(mut code, image)| {
                code.constants = image::constants(&image.bytes, name);
                let at = image::arguments(&image.bytes, name)?;
                code.constants.word(0, image::threads(setting.arch.major), setting.threads);
                // any address will do: the stack is nobody else's
                code.constants.word(0, image::stack(setting.arch.major), STACK);
                Some((code, at))
            }),
            Text::Ptx(text) => ptx::read(text, name, setting.arch).map(|mut code| {
                code.constants.word(0, 0, setting.threads);
                (code, ptx::ARGUMENTS)
            }),
            Text::Ir(_) => None,
        };
        let code = code.map(|(code, at)| {
            let meetings = Meetings::of(&code);
            (code, meetings, at)
        });
        Walker { from, setting, node, serial, period: kernel.period, code, known: Vec::new() }
    }

    /// A block that makes so many firings.
    fn block(&mut self, firings: u64) -> Result<Vec<Warps>, String> {
        if let Some((_, known)) = self.known.iter().find(|(n, _)| *n == firings) {
            return known.clone();
        }
        let made = match self.from {
            Text::Ir(costs) => Ok(vec![modelled(&costs[self.node.index()], firings, self.serial, self.setting)]),
            _ => self.walked(firings),
        };
        self.known.push((firings, made.clone()));
        made
    }

    /// Whatever the first firing's number is; or, where that decides how often a loop goes round, for each that there is.
    fn walked(&mut self, firings: u64) -> Result<Vec<Warps>, String> {
        let period = self.period;
        let (code, meetings, at) = self.code.as_mut().ok_or("the kernel is not in the compiled code")?;
        let m = u32::try_from(firings).map_err(|_| "it has too many firings".to_string())?;
        for (offset, value) in [(ROUNDS, 1), (FIRINGS, m), (PARITY, 0)] {
            code.constants.word(0, *at + offset, value);
        }
        code.constants.forget(0, *at + ITERATION);
        code.constants.forget(BLOCK, 0);
        let warps = self.setting.threads / WARP;
        let any = block(code, meetings, warps);
        if !matches!(any, Err(NoTrace::Endless(_))) || period > MOST_FIRST {
            return Ok(vec![described(any)?]);
        }
        code.constants.word(BLOCK, 0, 0);
        let mut all: Vec<Warps> = Vec::new();
        let mut seen = HashSet::new();
        for first in 0..period {
            code.constants.word(0, *at + ITERATION, first as u32);
            let this = described(block(code, meetings, warps))?;
            if seen.insert(this.clone()) {
                all.push(this);
            }
        }
        Ok(all)
    }
}

/// The most first firings that are tried.
const MOST_FIRST: u64 = 1 << 14;

fn block(code: &Code, meetings: &Meetings, warps: u32) -> Result<Warps, NoTrace> {
    (0..warps).map(|warp| walk(code, meetings, warp, WARP)).collect()
}

fn described(block: Result<Warps, NoTrace>) -> Result<Warps, String> {
    let all = block.map_err(|why| match why {
        NoTrace::Endless(_) => "a loop of it goes on as long as data says".to_string(),
        NoTrace::TooLong => "a warp of it has more than four million instructions".to_string(),
        NoTrace::Beyond(_, what) => format!("it has {what}"),
    })?;
    if all.iter().any(|t| t.phases.len() != all[0].phases.len()) {
        return Err("its warps come to different numbers of barriers".into());
    }
    Ok(all)
}

/// What the kernel IR says, whose operations are not yet instructions: how many of each unit, in no order.
fn modelled(cost: &Cost, firings: u64, serial: bool, setting: &Setting) -> Vec<Trace> {
    let warp = |w: u32| {
        // a firing for each thread, so one for a warp; or all of them by one thread
        let busy = u64::from(w) * u64::from(WARP) < firings && (w == 0 || !serial);
        let each = if serial { firings } else { 1 };
        let times =
            |n: u64, class: Class| n.saturating_mul(each).saturating_mul(table::cycles(class, setting.arch).1.into());
        let cores = [
            times(cost.float, Class::Float),
            times(cost.int, Class::Integer),
            times(cost.divide.saturating_add(cost.function), Class::Special),
            times(cost.branch.saturating_add(cost.call), Class::Control),
        ];
        let (loads, cores) = (
            times(cost.load.saturating_add(cost.store), Class::Memory(4)),
            cores.into_iter().fold(0, u64::saturating_add),
        );
        let phase = if busy { Phase { units: vec![], loads, cores } } else { Phase::default() };
        Trace { instructions: phase.loads.saturating_add(phase.cores), phases: vec![phase], varies: true }
    };
    (0..setting.threads / WARP).map(warp).collect()
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
