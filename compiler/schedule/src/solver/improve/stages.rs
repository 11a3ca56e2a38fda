//! # stages
//!
//! Purpose: for given processors and starts the fewest stages, and among those the stages with the least bytes of buffers. Input: problem,
//! schedule. Output: the schedule with other stages; never more bytes. Method: the earliest stages are longest paths, and their number is the
//! fewest. Every other choice has some instances later, and the bytes are a function of differences of stages whose
//! pieces are convex (L♮-convex, K. Murota, "Discrete Convex Analysis", SIAM 2003): so the set of instances that is best moved by one stage is
//! a closed set of greatest value ([`super::super::flow`]), and where no set helps, nothing does. Large steps come first, to be quick.
//!
//! Limit: a channel that is emptier in the steady state than at the start has a capacity that no stage lowers further; sets that only
//! together go below that are not told apart, so there the result can be above the least. [`CUTS`] and [`LOOKS`] bound the work.

use crate::problem::judge::{bytes, capacities};
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use crate::problem::task::Edge;
use crate::solver::complete::{lag, stages as earliest};
use crate::solver::flow::Closure;

/// Sets that are looked for at most.
const CUTS: usize = 120;
/// Instances and dependences of all searches together, at most: problems of 100,000 instances have fewer searches.
const LOOKS: usize = 3_000_000;

/// The best stages for these processors and starts; the schedule as it is where there are none.
pub fn stages(problem: &ModuloProblem, mut s: ModuloSchedule) -> ModuloSchedule {
    let Ok(first) = earliest(problem, &s.processor, &s.start) else { return s };
    s.stage = first;
    let Some(mut best) = capacities(problem, &s).map(|c| bytes(problem, &c)) else { return s };
    let last = i64::from(s.stages()) - 1;
    let arcs: Vec<(u32, u32, i64)> = problem
        .dependences()
        .iter()
        .filter(|d| d.from != d.to)
        .map(|d| (d.from as u32, d.to as u32, lag(problem, &s.processor, &s.start, d)))
        .collect();
    let (most, mut cuts) = (CUTS.min(LOOKS / (problem.instances() + arcs.len()) + 1), 0);
    let mut step = (last / 2).max(1).ilog2();
    while last > 0 && cuts < most {
        let mut moved = false;
        for by in [1i64 << step, -(1i64 << step)] {
            while cuts < most {
                cuts += 1;
                let Some(set) = best_set(problem, &arcs, &s.stage, by, last) else { break };
                let mut next = s.clone();
                for (f, chosen) in next.stage.iter_mut().zip(set) {
                    *f = if chosen { (i64::from(*f) + by) as u32 } else { *f };
                }
                match capacities(problem, &next).map(|c| bytes(problem, &c)) {
                    Some(less) if less < best => (s, best, moved) = (next, less, true),
                    _ => break,
                }
            }
        }
        match (step, moved) {
            (0, false) => break,
            (0, true) => {}
            _ => step -= 1,
        }
    }
    let least = s.stage.iter().min().copied().unwrap_or(0);
    s.stage.iter_mut().for_each(|f| *f -= least);
    s
}

/// The set of instances whose move by so many stages saves the most bytes.
fn best_set(problem: &ModuloProblem, arcs: &[(u32, u32, i64)], stage: &[u32], by: i64, last: i64) -> Option<Vec<bool>> {
    let n = stage.len();
    let at = |i: u32| i64::from(stage[i as usize]);
    let mut c = Closure::new(n);
    for i in 0..n as u32 {
        if !(0..=last).contains(&(at(i) + by)) {
            c.forbid(i);
        }
    }
    for (u, v, lag) in arcs {
        if at(*v) - at(*u) - lag < by.abs() {
            if by > 0 { c.need(*u, *v) } else { c.need(*v, *u) }
        }
    }
    for e in problem.graph().edges.iter().filter(|e| e.from != e.to && e.produce > 0) {
        edge(problem, e, stage, by, &mut c);
    }
    let mut set = c.best()?;
    set.truncate(n);
    set.contains(&true).then_some(set)
}

/// What an edge gains and loses: its buffer is the newest item written less the oldest one read, or what is there at the start.
fn edge(problem: &ModuloProblem, e: &Edge, stage: &[u32], by: i64, c: &mut Closure) {
    let tasks = &problem.graph().tasks;
    let (ku, kv) = (tasks[e.from].instances, tasks[e.to].instances);
    let all = i128::from(e.produce) * i128::from(ku);
    let at = |task, k| i128::from(stage[problem.instance(task, k)]);
    let instance = |task, k| problem.instance(task, k) as u32;
    // Both ends so that the buffer is the sum of the two greatest, and the items at the start.
    let mut writes: Vec<(i128, u32)> = (0..ku)
        .map(|k| ((i128::from(k) + 1) * i128::from(e.produce) - at(e.from, k) * all, instance(e.from, k)))
        .collect();
    let mut reads: Vec<(i128, u32)> =
        (0..kv).map(|k| (at(e.to, k) * all - i128::from(k) * i128::from(e.consume), instance(e.to, k))).collect();
    for side in [&mut writes, &mut reads] {
        side.sort_unstable_by(|a, b| b.cmp(a));
    }
    let above = writes[0].0 + reads[0].0;
    let shift = all * i128::from(by.abs());
    let bytes = |items: i128| i64::try_from(items * i128::from(e.item_bytes)).unwrap_or(i64::MAX >> 2);
    // A later stage makes the writers' end fall and the readers' rise.
    let (falls, rises) = if by > 0 { (&writes, &reads) } else { (&reads, &writes) };
    let (mut left, mut before) = (above.max(0), None);
    for (i, (value, node)) in falls.iter().enumerate() {
        if left == 0 || *value <= falls[0].0 - shift {
            break;
        }
        let next = falls.get(i + 1).map_or(falls[0].0 - shift, |x| x.0.max(falls[0].0 - shift));
        let gain = (value - next).min(left);
        left -= gain;
        let own = c.node(bytes(gain));
        c.need(own, *node);
        if let Some(before) = before.replace(own) {
            c.need(own, before);
        }
    }
    let slack = above.min(0);
    let rise = |value: i128| (value + shift - rises[0].0 + slack).max(0);
    let mut before: Option<u32> = None;
    for (i, (value, node)) in rises.iter().enumerate() {
        let own = rise(*value);
        if own == 0 {
            break;
        }
        let beyond = rises.get(i + 1).map_or(0, |x| rise(x.0));
        let price = c.node(-bytes(own - beyond));
        c.need(*node, price);
        if let Some(before) = before.replace(price) {
            c.need(before, price);
        }
    }
}
