//! The model for each stateful filter and each feedback loop of a program.

use super::CslowOptions;
use super::bounds::{Bounds, Whole};
use crate::exit::Fault;
use crate::folding;
use crate::options::CodeOptions;
use crate::sdep;
use crate::streams::{Place, kind};
use serde::Serialize;
use sluice_frontend::Elaborated;
use sluice_frontend::components::components;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;
use sluice_frontend::slow;
use sluice_grammar::span::SourceMap;
use sluice_kernel::cost::Cost;
use sluice_kernel::ir::Kernel;
use sluice_kernel::loop_shape::{LoopShape, loop_shape};
use sluice_schedule::plan::moved;
use sluice_schedule::retime::load::{Load, Machine, choose};

/// The document.
#[derive(Debug, Serialize)]
pub struct Report {
    pub(super) schema: &'static str,
    pub(super) program: String,
    pub(super) d_m: f64,
    pub(super) alpha: f64,
    pub(super) registers: u64,
    /// C for the program: as given, or the greatest that a loop asks for.
    pub(super) c: u64,
    pub(super) loops: Vec<Loop>,
    /// Bounds of a steady state of the whole program; none where rates are dynamic, or it has too many firings.
    pub(super) bounds: Option<Bounds>,
    /// The streams on a critical cycle.
    pub(super) critical: Vec<String>,
    /// Splitjoins that become one filter in native code.
    pub(super) folded: Vec<Fold>,
    /// Why `--streams` refuses the program; empty where it does not.
    pub(super) refused: Vec<Refusal>,
}

/// A stateful filter, or a feedback loop with all that is on it.
#[derive(Debug, Serialize)]
pub struct Loop {
    pub(super) stream: String,
    pub(super) kind: &'static str,
    #[serde(flatten)]
    pub(super) place: Place,
    /// Streams that it consists of.
    pub(super) streams: usize,
    pub(super) d_c: f64,
    pub(super) n_rw: f64,
    pub(super) live: u64,
    pub(super) t1: f64,
    pub(super) q1: f64,
    pub(super) c: u64,
    pub(super) choice: &'static str,
    pub(super) tc: f64,
    pub(super) qc: f64,
    pub(super) gain: f64,
    pub(super) bounds: Option<Bounds>,
}

/// A splitjoin that becomes one filter.
#[derive(Debug, Serialize)]
pub struct Fold {
    pub(super) stream: String,
    pub(super) filter: String,
    pub(super) branches: u32,
}

/// What stands against streams that take turns.
#[derive(Debug, Serialize)]
pub struct Refusal {
    pub(super) code: &'static str,
    pub(super) why: String,
    #[serde(flatten)]
    pub(super) place: Place,
}

/// Finds out; `kernels` are those of the program's codes, prepared.
pub fn report(
    program: &Elaborated,
    sources: &SourceMap,
    kernels: &[Kernel],
    code: &CodeOptions,
    options: &CslowOptions,
) -> Result<Report, Fault> {
    let graph = &program.graph;
    let shapes: Vec<LoopShape> = kernels.iter().map(loop_shape).collect();
    let shape = |n: NodeId| -> LoopShape {
        let node = graph.node(n);
        if let NodeKind::Filter { code, .. } = node.kind {
            return shapes[code.index()];
        }
        let Cost { load, store, .. } = moved(graph, n);
        LoopShape { cycles: load + store, accesses: load + store, live: 1 }
    };
    let all: Vec<LoopShape> = graph.node_ids().map(shape).collect();
    let time: Vec<u64> = all.iter().map(|s| s.cycles.max(1)).collect();
    let whole = Whole::new(program, &time);
    let parts: Vec<Vec<NodeId>> = match &options.filter {
        Some(name) => vec![vec![sdep::node(graph, name)?]],
        None => {
            let stateful = |n: &NodeId| matches!(graph.node(*n).kind, NodeKind::Filter { stateful: true, .. });
            let loops = components(graph).into_iter().filter(|p| p.len() > 1 || p.iter().any(stateful));
            let mut parts: Vec<Vec<NodeId>> = loops.collect();
            // the state of what is on a loop is a loop of its own
            let inner: Vec<NodeId> = parts.iter().filter(|p| p.len() > 1).flatten().copied().filter(stateful).collect();
            parts.extend(inner.into_iter().map(|n| vec![n]));
            parts.sort_by_key(|p| (p[0], std::cmp::Reverse(p.len())));
            parts
        }
    };
    let machine = &options.machine;
    let mut loops: Vec<Loop> = Vec::new();
    for part in &parts {
        let row = model(&mut |n| (all[n.index()], program.steady.repetitions[n.index()]), part, machine, options.c);
        let node = graph.node(part[0]);
        let (stream, kind, span) = if part.len() > 1 {
            let h = &graph.hierarchy[node.hier.index()];
            (node.path.rsplit_once('.').map_or(node.path.as_str(), |(p, _)| p).to_string(), "loop", h.decl)
        } else {
            let span = match node.kind {
                NodeKind::Filter { code, .. } => program.codes[code.index()].span,
                _ => node.span,
            };
            (node.path.clone(), kind(&node.kind), span)
        };
        loops.push(Loop { stream, kind, place: Place::of(sources, span), streams: part.len(), ..row });
    }
    let c = options.c.unwrap_or_else(|| loops.iter().map(|l| l.c).max().unwrap_or(1));
    for (l, part) in loops.iter_mut().zip(&parts) {
        l.bounds = whole.as_ref().map(|w| w.part(part, l.c));
    }
    let (bounds, critical) = match whole.as_ref().map(|w| w.all(c)) {
        Some((bounds, critical)) => (Some(bounds), critical),
        None => (None, Vec::new()),
    };
    let folded = folding::fold(program, code).map(|(_, folded)| folded).unwrap_or_default();
    let streams = u32::try_from(c.max(2)).unwrap_or(u32::MAX).min(slow::MOST_STREAMS);
    let refused = slow::streams(program, streams).err().unwrap_or_default();
    Ok(Report {
        schema: "sluice-cslow-1",
        program: graph.hierarchy.first().map_or(String::new(), |h| h.display.clone()),
        d_m: machine.d_m,
        alpha: machine.alpha,
        registers: machine.registers,
        c,
        loops,
        bounds,
        critical: critical.iter().map(|n| graph.node(*n).path.clone()).collect(),
        folded: folded.into_iter().map(|f| Fold { stream: f.path, filter: f.filter, branches: f.branches }).collect(),
        refused: refused
            .into_iter()
            .map(|d| Refusal { code: d.code, why: d.title.clone(), place: Place::of(sources, d.span()) })
            .collect(),
    })
}

/// The model of one loop: an iteration is a firing of a filter, or a steady state of what a feedback loop ties together.
fn model(
    shape: &mut dyn FnMut(NodeId) -> (LoopShape, u64),
    part: &[NodeId],
    machine: &Machine,
    given: Option<u64>,
) -> Loop {
    let mut sum = LoopShape::default();
    for n in part {
        let (s, repetitions) = shape(*n);
        let times = if part.len() > 1 { repetitions } else { 1 };
        sum.cycles = sum.cycles.saturating_add(s.cycles.saturating_mul(times));
        sum.accesses = sum.accesses.saturating_add(s.accesses.saturating_mul(times));
        sum.live = sum.live.max(s.live);
    }
    let one = Load { d_c: sum.cycles as f64, d_m: machine.d_m, n_rw: sum.accesses as f64, alpha: machine.alpha };
    let chosen = choose(&one, sum.live, machine);
    let (c, choice) = given.map_or((chosen.c, chosen.reason.name()), |c| (c, "given"));
    let slow = one.slowed(c, machine.switch);
    Loop {
        stream: String::new(),
        kind: "",
        place: Place { file: String::new(), line: 0 },
        streams: part.len(),
        d_c: one.d_c,
        n_rw: one.n_rw,
        live: sum.live,
        t1: one.period(),
        q1: one.load(),
        c,
        choice,
        tc: slow.period(),
        qc: slow.load(),
        gain: one.gain(&slow, c),
        bounds: None,
    }
}
