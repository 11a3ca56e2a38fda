//! # hierarchical modulo scheduling
//!
//! Purpose: schedules in two levels. Input: problem and bounds. Output: [`Solution`]. Source: M. Lam, "Software pipelining: an effective
//! scheduling technique for VLIW machines", PLDI 1988 (hierarchical reduction); paper 000, section 2.6 (the DAG of strongly
//! connected components).
//!
//! ```text
//! instances → components, each collapsed to one item with a schedule of its own → the DAG of items → instances
//! ```
//!
//! A component on one processor runs in the topological order, which always is a schedule of it. Without cycles between them, items can be
//! assigned to processors at will, and stages follow. Two assignments compete, the shorter II wins, then the fewer stages: one from
//! the DAG, list-scheduled with some room to spare and then made to fit ([`super::repair`]); and one from packing the items as evenly as
//! can be ([`super::pack`]), where of items of equal size the one that comes first in the DAG takes the slot in which it can run earliest. Where
//! components are so large that packing suffers, they are scheduled by [`super::iterative`] first; what of one is then on the same processor is an
//! item. At last stages are chosen so that buffers are small ([`super::improve::stages`]).

use super::arcs::{Arcs, components};
use super::complete::complete;
use super::flat::{by_height, pass};
use super::pack::{Packing, STEPS, pack, step};
use super::repair::repair;
use super::search::tight;
use super::table::{Place, Side, Table};
use super::{Failure, Options, Solution, Statistics, improve, iterative, sequential};
use crate::analysis::bounds::Bounds;
use crate::analysis::glue::{Groups, regroup};
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::{BTreeSet, HashMap};

/// Room that list schedules are given before they are made to fit, in per cent.
const SPARE: [u64; 6] = [1, 2, 4, 8, 12, 20];

/// Solves.
pub fn solve(problem: &ModuloProblem, bounds: &Bounds, options: Options) -> Result<Solution, Failure> {
    let arcs = Arcs::new(problem);
    let mut statistics = Statistics::default();
    let whole = components(problem, &bounds.groups);
    let mut best = sequential::in_order(problem, problem.topological());
    if let Some(found) = of_items(problem, &arcs, &whole, bounds, best.ii, &mut statistics) {
        best = found;
    }
    // Components that do not fit: their parts, as scheduling them alone shares them out, never wait for each other in vain.
    if best.ii > bounds.lower && whole.members.len() < bounds.groups.members.len() {
        let free = Options { most_ii: None, ..options };
        if let Ok(found) = iterative::solve(problem, bounds, free) {
            statistics.placements += found.statistics.placements;
            statistics.evictions += found.statistics.evictions;
            let parts = parts(problem, &bounds.groups, &whole, &found.schedule);
            for found in [Some(found.schedule), of_items(problem, &arcs, &parts, bounds, best.ii - 1, &mut statistics)]
            {
                best = found.filter(|f| (f.ii, f.stages()) < (best.ii, best.stages())).unwrap_or(best);
            }
        }
    }
    match options.most_ii {
        Some(most_ii) if best.ii > most_ii => Err(Failure { most_ii, lower: bounds.lower, statistics }),
        _ => Ok(Solution { schedule: improve::stages(problem, best), statistics }),
    }
}

/// Items of instances that are in the same component and on the same processor. On whatever processors these are, no cycle crosses more
/// often than in the schedule that they come from.
fn parts(problem: &ModuloProblem, groups: &Groups, whole: &Groups, s: &ModuloSchedule) -> Groups {
    let mut number: HashMap<(u32, u32), u32> = HashMap::new();
    let key = |i: usize| (whole.of[i], s.processor[i]);
    for i in problem.topological() {
        number.entry(key(*i)).or_insert(groups.of[*i]);
    }
    regroup(problem, |i| number[&key(i)])
}

/// The best schedule of these items with an II of at most `most`.
fn of_items(
    problem: &ModuloProblem,
    arcs: &Arcs,
    groups: &Groups,
    bounds: &Bounds,
    most: u64,
    statistics: &mut Statistics,
) -> Option<ModuloSchedule> {
    statistics.tries += 1;
    let packing = pack(&groups.cost, problem.processors(), bounds.lower);
    let most = most.min(packing.largest);
    let mut best: Option<ModuloSchedule> = None;
    for percent in SPARE {
        let room = bounds.lower.saturating_add(bounds.lower / 100 * percent + bounds.lower % 100 * percent / 100);
        let Some(listed) = pass(problem, arcs, groups, room, statistics).map(|table| table.homes()) else { continue };
        let sizes = STEPS.iter().map(|s| step(bounds.lower, *s)).take_while(|size| *size < most).chain([most]);
        for size in sizes.take_while(|size| best.as_ref().is_none_or(|b| *size <= b.ii)) {
            let Some(bin) = repair(&groups.cost, &listed, problem.processors(), size) else { continue };
            let processor: Vec<u32> = groups.of.iter().map(|g| bin[*g as usize]).collect();
            if let Ok(found) = complete(problem, &processor, size) {
                let found = tight(problem, found);
                if best.as_ref().is_none_or(|b| (found.ii, found.stages()) < (b.ii, b.stages())) {
                    best = Some(found);
                }
                break;
            }
        }
    }
    match best {
        None if packing.largest <= most => assign(problem, arcs, groups, &packing, statistics),
        best => best,
    }
}

/// Slots of one size: the processors that have one, the emptiest first, and how many each has.
#[derive(Default)]
struct Slots {
    by_load: BTreeSet<(u64, u32)>,
    left: HashMap<u32, u32>,
}

/// Gives every group a slot of its size.
fn assign(
    problem: &ModuloProblem,
    arcs: &Arcs,
    groups: &Groups,
    packing: &Packing,
    statistics: &mut Statistics,
) -> Option<ModuloSchedule> {
    let mut slots: HashMap<u64, Slots> = HashMap::new();
    let mut sizes: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); problem.processors() as usize];
    for (cost, p) in groups.cost.iter().zip(&packing.bin) {
        let of = slots.entry(*cost).or_default();
        of.by_load.insert((0, *p));
        *of.left.entry(*p).or_default() += 1;
        sizes[*p as usize].insert(*cost);
    }
    let ii = packing.largest;
    let mut table = Table::new(problem, arcs, groups, ii);
    for g in by_height(problem, arcs, groups, ii) {
        let cost = groups.cost[g as usize];
        let own = slots.get(&cost)?;
        let places = table.places(g, Side::Early);
        let mut choice: Vec<Place> = places.near;
        choice.retain(|p| own.left.contains_key(&p.processor));
        let near: Vec<u32> = choice.iter().map(|p| p.processor).collect();
        let away = own.by_load.iter().filter(|(_, p)| !near.contains(p)).map(|(_, p)| *p);
        choice.extend(away.take(1).map(|p| Place { processor: p, stage: places.elsewhere }));
        choice.sort_unstable_by_key(|p| (p.stage, table.load(p.processor), p.processor));
        let Place { processor: p, .. } = choice.into_iter().next()?;
        let before = table.load(p);
        statistics.placements += 1;
        table.place(g, p).ok()?;
        for size in &sizes[p as usize] {
            if let Some(of) = slots.get_mut(size)
                && of.by_load.remove(&(before, p))
            {
                of.by_load.insert((before + cost, p));
            }
        }
        if let Some(of) = slots.get_mut(&cost)
            && let Some(left) = of.left.get_mut(&p)
        {
            *left -= 1;
            if *left == 0 {
                of.left.remove(&p);
                of.by_load.remove(&(before + cost, p));
            }
        }
    }
    table.schedule().map(|s| tight(problem, s))
}
