//! # plan
//!
//! Purpose: how a program is run on so many threads. Input: the program as code generation takes it, the number of threads. Output: [`Plan`]: stages
//! that their judge has passed, or why one thread does everything; and numbers for people.
//!
//! The solvers of [`partition`] know what each filter costs alone. Native code makes one filter of parts of the program, and of other parts where a cut goes through one: so several
//! partitions are made, some with those parts kept together, and the one is taken that costs least as it will be. What the numbers say of a stage may be wrong; replicas share whatever it
//! is. So a stage that one thread has counts as [`DOUBT`] times what it is.

use super::crew::Seats;
use crate::profile::find::Found;
use sluice_codegen::ProgramInput;
use sluice_codegen::c::program::CodegenError;
use sluice_codegen::c::{batch, layout, stages};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_kernel::cost::{self, Cost};
use sluice_kernel::fuse::Fused;
use sluice_kernel::ir::Kernel;
use sluice_schedule::machine;
use sluice_schedule::partition::{self, Problem, Verified};
use sluice_schedule::plan::moved;
use std::collections::BTreeMap;

/// Less gain than this is none.
const WORTH: f64 = 1.05;
/// Threads beyond which more are not tried.
pub const MOST: usize = 256;

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Threads that were asked for.
    pub asked: usize,
    /// The stages, where there are several threads.
    pub partition: Option<Verified>,
    /// By thread: the stages and replicas it runs.
    pub threads: Seats,
    /// Why one thread does everything.
    pub alone: Option<String>,
    /// Stages in words.
    pub stages: Vec<Planned>,
    /// From stage to stage: bytes in a steady state.
    pub crossings: Vec<(usize, usize, u64)>,
    /// Cycles of a steady state.
    pub total: u64,
    /// How much faster than one thread, as far as the numbers go; and what no partition can exceed.
    pub gain: f64,
    /// The bound of it.
    pub bound: f64,
    /// Steady states of a batch.
    pub batch: u64,
    /// When the costs were measured, if they were.
    pub measured: Option<String>,
}

/// A stage in words.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its threads.
    pub replicas: usize,
    /// Paths of its nodes.
    pub nodes: Vec<String>,
    /// Cycles in a steady state.
    pub cycles: u64,
}

/// Cycles of a batch, as far as the numbers go, up to which it is as long as memory allows: what is done for each batch, and for the threads to meet, is a few thousand. A longer one would keep short
/// runs on one thread.
const LONG: u64 = 12_000_000;

/// Steady states of a batch, where that is not asked for: those that stages have room for, or twice as many where they do little.
pub fn batch(input: &ProgramInput<'_>) -> Result<u64, CodegenError> {
    let longer = batch::of_stages(input, true)?;
    let core = machine::shipped("cpu").map_or_else(Cost::default, |m| m.cycles);
    let one = |v: NodeId| {
        let all = cycles(input.graph, &|k| input.kernels.get(k), v, &core);
        all.saturating_mul(input.steady.repetitions[v.index()])
    };
    let all = input.graph.node_ids().fold(0u64, |sum, v| sum.saturating_add(one(v)));
    if all.saturating_mul(longer) <= LONG { Ok(longer) } else { batch::of_stages(input, false) }
}

/// Cycles of a batch for which threads meet, as far as the numbers go, which is several times what it takes where vectors are full; and bytes of its blocks, all together, beyond which they do not
/// stay in the caches. What is done for each batch takes some thousands of cycles, what replicas do again some more, and a thread that has to wait for another loses a part of one.
const MEET: u64 = 8_000_000;
const BLOCKS: u64 = 1 << 20;
/// The most turns.
const TURNS: u64 = 16;

impl Plan {
    /// How many times as many steady states as run at once (`batch`) threads hand each other at once.
    pub fn turns(&self, batch: u64) -> u64 {
        let bytes: u64 = self.crossings.iter().map(|(_, _, n)| *n).sum();
        let fit = BLOCKS / bytes.saturating_mul(batch).max(1);
        MEET.div_ceil(self.total.saturating_mul(batch).max(1)).min(fit).clamp(1, TURNS)
    }
}

/// A batch of so many steady states, of which `fits` can run at once: how many do, and in how many turns.
pub fn divided(all: u64, fits: u64) -> (u64, u64) {
    let turns = (1..=TURNS).find(|n| all.is_multiple_of(*n) && all / n <= fits).unwrap_or(1);
    (all / turns, turns)
}

/// Makes a plan. `batch`: steady states of a batch; `found`: what firings of this very program were measured to take; `fuse`: the program with regions, within the stages of a
/// partition where there is one.
pub fn plan(
    input: &ProgramInput<'_>,
    threads: usize,
    batch: u64,
    found: Option<&Found>,
    fuse: &mut dyn FnMut(Option<&Verified>) -> Option<Fused>,
) -> Plan {
    let graph = input.graph;
    let mut plan = Plan {
        asked: threads,
        partition: None,
        threads: Vec::new(),
        alone: None,
        stages: Vec::new(),
        crossings: Vec::new(),
        total: 0,
        gain: 1.0,
        bound: 1.0,
        batch,
        measured: found.map(|f| f.profile.date.clone()),
    };
    if threads <= 1 {
        plan.alone = Some("no more were asked for".into());
        return plan;
    }
    if let Some(why) = stages::cannot(input) {
        plan.alone = Some(why.into());
        return plan;
    }
    let core = machine::shipped("cpu");
    let (clock, core) = core.map_or((0.0, Cost::default()), |m| (m.clock_mhz, m.cycles));
    let cycles: Vec<u64> = (graph.node_ids())
        .map(|v| match found.and_then(|f| f.nanoseconds.get(v.index()).copied().flatten()) {
            // what ends take depends on what they are joined to, which was nothing when they were measured
            Some(ns) if !matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_)) => {
                (ns * clock / 1000.0).round().max(1.0) as u64
            }
            _ => cycles(graph, &|k| input.kernels.get(k), v, &core),
        })
        .collect();
    let bytes: Vec<u64> =
        (graph.channels.iter()).map(|c| layout::size_align(&c.ty, input.globals).map_or(1, |(size, _)| size)).collect();
    let crossing: Vec<u64> = bytes.iter().map(|b| b.div_ceil(8)).collect();
    let together = together(input);
    let problem = Problem {
        graph,
        steady: input.steady,
        cycles: &cycles,
        crossing: &crossing,
        together: &together,
        threads: threads.min(MOST),
        batch,
    };
    plan.bound = problem.total() as f64 / problem.least().max(1.0);
    // what was measured was measured filter by filter
    let mut fuse = |partition: Option<&Verified>| if found.is_some() { None } else { fuse(partition) };
    let whole = fuse(None);
    // where the numbers say that a region costs more than its filters, they do not know what is not moved any more
    plan.total = problem.total();
    if let Some(fused) = &whole {
        plan.total = plan.total.min(fused_loads(input, fused, &core, &|_| 0, 1)[0]);
    }
    let mut grouped = together.clone();
    grouped.extend(whole.iter().flat_map(|f| &f.regions).map(|r| r.members.iter().map(|(v, _)| *v).collect()));
    let mut best: Option<Candidate> = None;
    let mut seen: Vec<Verified> = Vec::new();
    let problems = [(&together, EXTRA), (&grouped, if whole.is_some() { EXTRA } else { 0 })];
    // more stages than threads, where several with little to do share one
    let solved = problems.into_iter().flat_map(|(t, most)| (0..=most).map(move |extra| (t, extra)));
    let solved = solved.map(|(together, extra)| {
        let threads = (problem.threads + extra.min(problem.threads)).min(MOST);
        partition::solve(&Problem { threads, together, ..problem })
    });
    // what the threads share for the most part is as good as anything can be
    let even = plan.total as f64 / problem.threads as f64;
    for made in partition::spread(&problem).into_iter().chain(solved) {
        if best.as_ref().is_some_and(|b| b.doubtful <= ENOUGH * even) {
            break;
        }
        if seen.iter().any(|old| old.partition() == made.partition()) {
            continue;
        }
        seen.push(made.clone());
        let mut loads = made.loads().to_vec();
        if let Some(fused) = fuse(Some(&made)) {
            let parts = fused_loads(input, &fused, &core, &|v| made.stage_of(v), loads.len());
            for ((load, stage), fused) in loads.iter_mut().zip(made.stages()).zip(parts) {
                let alone = stage.nodes.iter().fold(0u64, |sum, v| sum.saturating_add(problem.load(*v)));
                *load = load.saturating_sub(alone).saturating_add(fused.min(alone));
            }
        }
        let candidate = Candidate::of(made, loads, problem.threads);
        // two replicas on one thread share nothing; and another queue is worth it only for so much
        let twice = |t: &Vec<(usize, usize)>| t.iter().any(|(s, r)| t.iter().any(|d| d.0 == *s && d.1 != *r));
        let better = |b: &Candidate| candidate.doubtful * BETTER < b.doubtful;
        if !candidate.seats.iter().any(twice) && best.as_ref().is_none_or(better) {
            best = Some(candidate);
        }
    }
    let Some(Candidate { partition: best, loads, seats, slowest, .. }) = best else { return plan };
    plan.gain = plan.total as f64 / slowest.max(1.0);
    plan.bound = plan.bound.max(plan.gain);
    if seats.len() < 2 || plan.gain < WORTH {
        plan.alone = Some(why_not(input, &problem));
        return plan;
    }
    // in parts of what all stages do, as it will be
    plan.total = loads.iter().fold(0u64, |sum, load| sum.saturating_add(*load));
    for (s, (stage, cycles)) in best.stages().iter().zip(loads).enumerate() {
        let nodes = stage.nodes.iter().map(|v| graph.node(*v).path.clone()).collect();
        plan.stages.push(Planned { replicas: stage.replicas, nodes, cycles });
        for t in s + 1..best.stages().len() {
            let between = graph.channel_ids().filter(|c| {
                let channel = graph.channel(*c);
                (best.stage_of(channel.from.0), best.stage_of(channel.to.0)) == (s, t)
            });
            let sum: u64 = between.map(|c| items(graph, input, c.index()).saturating_mul(bytes[c.index()])).sum();
            if sum > 0 {
                plan.crossings.push((s, t, sum));
            }
        }
    }
    plan.partition = Some(best);
    plan.threads = seats;
    plan
}

/// Stages beyond the threads that are tried.
const EXTRA: usize = 3;

/// What a stage that one thread has may cost, for every cycle that the numbers say.
const DOUBT: f64 = 1.25;

/// How many times less one must be than another to be better.
const BETTER: f64 = 1.03;

/// How near to an even share of the work is near enough to look no further. The search for what is left took 13 ms of the start of a filter bank's run, and nothing runs meanwhile.
const ENOUGH: f64 = 1.05;

/// A thread's cycles, the same with [`DOUBT`], and what it runs.
type Seat = (f64, f64, Vec<(usize, usize)>);

/// A partition, dealt out.
struct Candidate {
    partition: Verified,
    /// By stage: cycles of a steady state.
    loads: Vec<u64>,
    seats: Seats,
    /// Cycles of the thread that has most, and the same where what has no replicas counts for more. Beside replicas, whoever has time does that.
    slowest: f64,
    doubtful: f64,
}

impl Candidate {
    /// Deals stages and replicas out to threads, the dearest first, each to the one that has the least to do.
    fn of(partition: Verified, loads: Vec<u64>, threads: usize) -> Candidate {
        let mut desks: Vec<(f64, usize, usize)> = Vec::new();
        for (s, (stage, load)) in partition.stages().iter().zip(&loads).enumerate() {
            desks.extend((0..stage.replicas).map(|r| (*load as f64 / stage.replicas as f64, s, r)));
        }
        desks.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut seats: Vec<Seat> = vec![(0.0, 0.0, Vec::new()); threads.min(desks.len()).max(1)];
        for (load, s, r) in desks {
            if let Some(least) = seats.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)) {
                least.0 += load;
                least.1 += if partition.stages()[s].replicas > 1 { load } else { DOUBT * load };
                least.2.push((s, r));
            }
        }
        let most = |of: fn(&Seat) -> f64| seats.iter().map(of).fold(0.0, f64::max);
        let (mut slowest, mut doubtful) = (most(|s| s.0), most(|s| s.1));
        let alone = |s: &usize| partition.stages()[*s].replicas == 1;
        if (0..loads.len()).any(|s| !alone(&s)) {
            let even = |of: fn(&Seat) -> f64| seats.iter().map(of).sum::<f64>() / seats.len() as f64;
            let dearest = (0..loads.len()).filter(alone).map(|s| loads[s] as f64).fold(0.0, f64::max);
            slowest = dearest.max(even(|s| s.0));
            doubtful = (DOUBT * dearest).max(even(|s| s.1));
        }
        Candidate { partition, loads, seats: seats.into_iter().map(|s| s.2).collect(), slowest, doubtful }
    }
}

/// By stage: cycles of a steady state of a program with regions, which lie within stages.
fn fused_loads(
    input: &ProgramInput<'_>,
    fused: &Fused,
    core: &Cost,
    stage_of: &dyn Fn(NodeId) -> usize,
    stages: usize,
) -> Vec<u64> {
    let members: BTreeMap<NodeId, NodeId> =
        fused.regions.iter().filter_map(|r| Some((r.node, r.members.first()?.0))).collect();
    let kernel = |k: usize| input.kernels.get(k).or_else(|| fused.kernels.get(k.checked_sub(input.kernels.len())?));
    let mut loads = vec![0u64; stages];
    for v in fused.graph.node_ids() {
        let Some(old) = fused.nodes[v.index()].or_else(|| members.get(&v).copied()) else { continue };
        let load = cycles(&fused.graph, &kernel, v, core).saturating_mul(fused.steady.repetitions[v.index()]);
        let sum = &mut loads[stage_of(old)];
        *sum = sum.saturating_add(load);
    }
    loads
}

/// Items of a channel in a steady state.
fn items(graph: &SdfGraph, input: &ProgramInput<'_>, c: usize) -> u64 {
    let channel = &graph.channels[c];
    input.steady.repetitions[channel.to.0.index()].saturating_mul(u64::from(channel.consume))
}

/// Firings that run at once where the machine's vectors are used.
const LANES: u64 = 8;

/// Cycles of a firing: those of a filter's kernel, as the machine `cpu` takes them; those of each item moved.
fn cycles<'k>(graph: &SdfGraph, kernel: &dyn Fn(usize) -> Option<&'k Kernel>, v: NodeId, core: &Cost) -> u64 {
    let node = graph.node(v);
    let moved = moved(graph, v).weighted(core).max(1);
    match node.kind {
        NodeKind::Filter { code, .. } => {
            let Some(kernel) = kernel(code.index()) else { return 1 };
            let all = cost::firing(kernel).weighted(core);
            (if kernel.lanes.is_some() { all / LANES } else { all }).max(1)
        }
        // what is read and written changes its form
        NodeKind::Reader(_) | NodeKind::Writer(_) => 4 * moved,
        _ => moved,
    }
}

/// What one thread must do: all reading, since a batch begins when the input of all readers is there; and all calls of native functions, which
/// nobody has said may come from several threads.
fn together(input: &ProgramInput<'_>) -> Vec<Vec<NodeId>> {
    let native = |v: &NodeId| match input.graph.node(*v).kind {
        NodeKind::Filter { code, .. } => input.codes.get(code.index()).is_some_and(|c| c.calls_native.is_some()),
        _ => false,
    };
    let reads = |v: &NodeId| matches!(input.graph.node(*v).kind, NodeKind::Reader(_));
    let groups = [input.graph.node_ids().filter(native).collect(), input.graph.node_ids().filter(reads).collect()];
    groups.into_iter().filter(|g: &Vec<NodeId>| !g.is_empty()).collect()
}

/// In words, why no partition gains anything.
fn why_not(input: &ProgramInput<'_>, problem: &Problem<'_>) -> String {
    let parts = partition::order::Components::of(problem);
    let heaviest = (0..parts.len()).filter(|i| !parts.stateless[*i]).max_by_key(|i| parts.load[*i]);
    let total = problem.total().max(1);
    match heaviest {
        Some(i) if parts.load[i] * 10 > total * 8 => {
            let path = &input.graph.node(parts.nodes[i][0]).path;
            let percent = 100.0 * parts.load[i] as f64 / total as f64;
            let and = if parts.nodes[i].len() > 1 { " and what must stay with it" } else { "" };
            format!("{percent:.0} % of the work is in {path}{and}, which one thread must do")
        }
        _ => "handing items from thread to thread would cost more than it gains".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::divided;

    #[test]
    fn a_batch_that_is_asked_for_is_divided_into_what_fits() {
        assert_eq!(divided(40, 860), (40, 1));
        assert_eq!(divided(3440, 860), (860, 4));
        assert_eq!(divided(1000, 860), (500, 2));
        // no part of it fits, or it has none: it is taken as it is
        assert_eq!(divided(1_000_000, 860), (1_000_000, 1));
        assert_eq!(divided(1009, 860), (1009, 1));
    }
}
