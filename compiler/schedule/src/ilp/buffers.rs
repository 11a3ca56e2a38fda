//! # buffers
//!
//! Purpose: the judge's capacity formula as rows of a model, (12) of [`super::formulation`]; and by it the stages that need the least memory where the
//! processors are known. Input: a model with stages f. Output: rows and an objective; stages.
//!
//! With R items of an edge per iteration: newest ≥ (k + 1)·O − R·f over the producer's instances k, oldest ≤ k·I − R·f − m over the consumer's;
//! the capacity is newest − oldest, and not below m. All is divided by R, and the objective by the sum of bytes per iteration.

use super::cbc::{self, Limits, Status};
use super::model::{Model, Var};
use crate::problem::modulo::ModuloProblem;
use crate::problem::task::Edge;
use sluice_frontend::steady_state::gcd;
use std::collections::BTreeSet;

/// The variables of all buffers.
pub struct Buffers {
    /// By edge, where anything passes: newest, oldest, capacity.
    vars: Vec<Option<[Var; 3]>>,
    /// Bytes that 1 of the objective stands for.
    unit: f64,
    /// Bytes that it leaves out: buffers that nothing passes through, and those inside of tasks.
    idle: u64,
    /// Capacities are multiples of this, in bytes.
    grain: u64,
}

/// R: items of an edge per iteration.
fn items(problem: &ModuloProblem, e: &Edge) -> f64 {
    e.produce as f64 * problem.graph().tasks[e.from].instances as f64
}

impl Buffers {
    /// Adds them to a model; `f` are the stages by instance.
    pub fn new(model: &mut Model, problem: &ModuloProblem, f: &[Var]) -> Buffers {
        let graph = problem.graph();
        let bytes = |e: &Edge| e.item_bytes as f64 * items(problem, e);
        let unit = graph.edges.iter().map(bytes).sum::<f64>().max(1.0);
        let mut b = Buffers { vars: vec![None; graph.edges.len()], unit, idle: graph.inner_bytes, grain: 0 };
        for (index, e) in graph.edges.iter().enumerate() {
            if e.produce == 0 {
                b.idle = b.idle.saturating_add(e.initial.saturating_mul(e.item_bytes));
                continue;
            }
            let items_apart = gcd(gcd(e.produce, e.consume), e.initial);
            b.grain = gcd(b.grain, items_apart.saturating_mul(e.item_bytes));
            let (ku, kv) = (graph.tasks[e.from].instances, graph.tasks[e.to].instances);
            let initial = e.initial as f64 / items(problem, e);
            let newest = model.var(f64::NEG_INFINITY, f64::INFINITY, false);
            let oldest = model.var(f64::NEG_INFINITY, f64::INFINITY, false);
            let capacity = model.var(initial, f64::INFINITY, false);
            for k in 0..ku {
                let f = f[problem.instance(e.from, k)];
                model.at_least("(12)", [(newest, 1.0), (f, 1.0)], (k + 1) as f64 / ku as f64);
            }
            for k in 0..kv {
                let f = f[problem.instance(e.to, k)];
                model.at_most("(12)", [(oldest, 1.0), (f, 1.0)], k as f64 / kv as f64 - initial);
            }
            model.at_least("(12)", [(capacity, 1.0), (newest, -1.0), (oldest, 1.0)], 0.0);
            model.objective[capacity.0] = bytes(e) / unit;
            b.vars[index] = Some([newest, oldest, capacity]);
        }
        b
    }

    /// Bytes of all buffers for an objective.
    pub fn bytes(&self, objective: f64) -> f64 {
        objective * self.unit + self.idle as f64
    }

    /// By how much objectives differ at least.
    pub fn step(&self) -> f64 {
        self.grain.max(1) as f64 / self.unit
    }

    /// Sets the buffers' values by those of the stages.
    pub fn fill(&self, problem: &ModuloProblem, stages: &[Var], values: &mut [f64]) {
        let graph = problem.graph();
        for (e, vars) in graph.edges.iter().zip(&self.vars) {
            let Some([newest, oldest, capacity]) = vars else { continue };
            let (ku, kv) = (graph.tasks[e.from].instances, graph.tasks[e.to].instances);
            let initial = e.initial as f64 / items(problem, e);
            let f = |task, k| values[stages[problem.instance(task, k)].0];
            let new = (0..ku).map(|k| (k + 1) as f64 / ku as f64 - f(e.from, k)).fold(f64::MIN, f64::max);
            let old = (0..kv).map(|k| k as f64 / kv as f64 - initial - f(e.to, k)).fold(f64::MAX, f64::min);
            (values[newest.0], values[oldest.0]) = (new, old);
            values[capacity.0] = (new - old).max(initial);
        }
    }
}

/// Roundings of a fractional solution that are tried.
const ROUNDINGS: usize = 64;

/// For known processors, stages below `stages` that need little memory, and bytes that no stages go below.
///
/// A linear program first: its rows are differences f(v) − f(u) ≥ whole number, so rounding all f down after adding one number keeps them, whatever the
/// number; the best of them is taken.
pub fn least_bytes(
    problem: &ModuloProblem,
    processor: &[u32],
    stages: u32,
    limits: &Limits,
) -> Option<(Vec<Vec<u32>>, f64)> {
    let mut model = Model::default();
    let most = f64::from(stages) - 1.0;
    let f: Vec<Var> = (0..problem.instances()).map(|_| model.var(0.0, most, false)).collect();
    for d in problem.dependences().iter().filter(|d| d.from != d.to) {
        let step = f64::from(u8::from(processor[d.from] != processor[d.to])) - d.distance as f64;
        if step > -most {
            model.at_least("(8)", [(f[d.to], 1.0), (f[d.from], -1.0)], step);
        }
    }
    let buffers = Buffers::new(&mut model, problem, &f);
    let out = cbc::solve(&model, limits, None);
    let values = out.values.filter(|_| out.status == Status::Optimal)?;
    let part = |v: &Var| ((values[v.0] - values[v.0].floor()) * 1e6).round() as u64 % 1_000_000;
    let parts: BTreeSet<u64> = f.iter().map(part).collect();
    let every = parts.len().div_ceil(ROUNDINGS).max(1);
    let rounded = |p: &u64| {
        // What lies a part p above a whole number is the first to be rounded up.
        let add = 1.0 - *p as f64 / 1e6 + 1e-7;
        let round = |v: &Var| ((values[v.0] + if *p == 0 { 1e-7 } else { add }).floor()).clamp(0.0, most) as u32;
        f.iter().map(round).collect()
    };
    Some((parts.iter().step_by(every).map(rounded).collect(), buffers.bytes(out.bound)))
}
