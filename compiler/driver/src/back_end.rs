//! # back-end
//!
//! Purpose: who makes the code of a run where nobody has said so: sluice itself, in memory, within milliseconds, or the C compiler, whose code
//! takes hundreds of milliseconds to come and then runs faster. Input: the program's kernels and steady state, what is known of its input.
//! Output: [`BackEnd::Jit`] or [`BackEnd::Cc`].
//!
//! The one that is expected to be done sooner: the C compiler's code is waited for only where code made in memory would take longer than
//! the compiler does. How long a program runs follows from `--iterations`, or from the sizes of its input files (standard input may be one); where neither says, it runs
//! long. What only the C compiler does ([`sluice_jit::cannot`], threads, `--debug` and its like) is left to it, and where there is none, all else
//! is done without.

use crate::cc::{CcOptions, Compiler};
use crate::compiled::Front;
use crate::exit::Fault;
use crate::io::format::Format;
use crate::io::host::End;
use crate::jitted;
use crate::options::{BackEnd, CodeOptions, Inner, RunOptions};
use crate::pipeline::Checked;
use crate::session::Session;
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_kernel::cost;
use sluice_kernel::walk;
use std::io::Seek;
use std::os::fd::AsFd;

/// Nanoseconds that code made in memory takes for a cycle as [`cost::Cost::cycles`] counts them: rather more than less, so that no run is
/// much slower than it could be.
const PER_CYCLE: f64 = 0.5;
/// The same for an item that a splitter, a joiner or an end moves, and for a firing whatever it does.
const PER_ITEM: f64 = 2.0;
const PER_FIRING: f64 = 5.0;
/// Milliseconds that a C compiler takes for the smallest program, for each filter that is not equal to another (its loops become several: for vectors, and for what is
/// left over), and for each statement of its filters; rather less than more.
const COMPILER: (f64, f64, f64) = (400.0, 30.0, 1.0);
/// Passes whose result only the C compiler's way has.
const OF_C: [&str; 19] = [
    "delays",
    "skip-zeros",
    "linear",
    "level-branches",
    "drain",
    "tabulate",
    "turn-arrays",
    "lanes",
    "item-ranges",
    "share-code",
    "fuse",
    "unroll",
    "software-pipeline",
    "int-sums",
    "choices",
    "pack-bits",
    "narrow-lanes",
    "emit-c",
    "compile-c",
];

/// Who makes the code of this run.
pub(crate) fn decide(
    session: &Session,
    checked: &Checked,
    code: &CodeOptions,
    options: &RunOptions,
    readers: &[End],
    front: &Front,
) -> Result<BackEnd, Fault> {
    let cannot = match options.threads {
        Some(_) => Some("code made in memory runs on one thread"),
        None => jitted::cannot(checked, code, front),
    };
    Ok(match (options.back_end, cannot) {
        (BackEnd::Jit, Some(why)) => return Err(jitted::no_jit(why)),
        (BackEnd::Jit, None) => BackEnd::Jit,
        (BackEnd::Cc, _) | (BackEnd::Auto, Some(_)) => BackEnd::Cc,
        (BackEnd::Auto, None) if session.dumps("jit") => BackEnd::Jit,
        (BackEnd::Auto, None) if OF_C.iter().any(|pass| session.dumps(pass)) => BackEnd::Cc,
        (BackEnd::Auto, None) => {
            let usual = CcOptions { way: code.cc.way, ..CcOptions::default() };
            let told = code.cc != usual || code.inner != Inner::default();
            let states = match options.iterations {
                Some(n) => Some(n as f64),
                None => states(checked, options, readers),
            };
            let soon = states.is_some_and(|n| n * state(checked, front) <= compiler(front) * 1e6);
            if soon && !told || Compiler::find().is_err() { BackEnd::Jit } else { BackEnd::Cc }
        }
    })
}

/// Nanoseconds of a steady state by code made in memory.
fn state(checked: &Checked, front: &Front) -> f64 {
    let program = &checked.program;
    let costs: Vec<f64> = front.kernels.iter().map(|k| cost::firing(k).cycles() as f64 * PER_CYCLE).collect();
    let of = |v: sluice_frontend::ids::NodeId| {
        let node = program.graph.node(v);
        let each = match &node.kind {
            NodeKind::Filter { code, .. } => costs.get(code.index()).copied().unwrap_or(0.0),
            _ => {
                let taken = node.inputs.iter().map(|c| f64::from(program.graph.channel(*c).consume));
                let given = node.outputs.iter().map(|c| f64::from(program.graph.channel(*c).produce));
                taken.chain(given).sum::<f64>() * PER_ITEM
            }
        };
        (each + PER_FIRING) * program.steady.repetitions[v.index()] as f64
    };
    program.graph.node_ids().map(of).sum()
}

/// Milliseconds that a C compiler takes.
fn compiler(front: &Front) -> f64 {
    let statements: usize = front.kernels.iter().flat_map(|k| &k.functions).map(|f| walk::count(&f.body)).sum();
    COMPILER.0 + COMPILER.1 * front.kernels.len() as f64 + COMPILER.2 * statements as f64
}

/// Steady states until the input ends, at most; `None` where that cannot be told. The readers may be those of the program before branches were folded: the same, in the same order.
fn states(checked: &Checked, options: &RunOptions, readers: &[End]) -> Option<f64> {
    let mut most: Option<f64> = None;
    let graph = &checked.program.graph;
    let own = graph.node_ids().filter(|v| matches!(graph.node(*v).kind, NodeKind::Reader(_)));
    for (end, node) in readers.iter().zip(own) {
        let (path, raw) = match &end.endpoint {
            Endpoint::File(path) => (Some(path.as_str()), true),
            Endpoint::Open => {
                let path = options.bindings.input.as_deref().filter(|p| *p != "-");
                (path, options.bindings.input_format == Some(Format::Raw))
            }
        };
        let length = path.map_or_else(standard_input, |path| length(&std::fs::metadata(path).ok()?))?;
        // a number takes a byte at least, but for bits
        let bytes = match (raw, end.item.name.as_str()) {
            (_, "bit") => 0.125,
            (true, _) => end.item.bytes as f64,
            (false, _) => end.item.scalars as f64,
        };
        let items = length as f64 / bytes.max(0.125);
        let each = checked.program.steady.repetitions[node.index()].max(1) as f64;
        most = Some(most.unwrap_or(0.0).max(items / each));
    }
    most
}

/// Bytes of a file; `None` for what is none, such as a pipe.
fn length(of: &std::fs::Metadata) -> Option<u64> {
    of.is_file().then_some(of.len())
}

/// Bytes that standard input still has, where it is a file that somebody has put there.
fn standard_input() -> Option<u64> {
    let mut file = std::fs::File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    Some(length(&file.metadata().ok()?)?.saturating_sub(file.stream_position().ok()?))
}
