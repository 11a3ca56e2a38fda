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
//! assigned to processors at will, and stages follow: so the items are first packed as evenly as can be ([`super::pack`]), and of items
//! of equal size, the one that comes first in the DAG takes the slot in which it can run earliest. A component that is so large that packing
//! suffers is taken apart into the groups that must share a processor; where a cycle then crosses processors too often, its groups are joined.

use super::arcs::{Arcs, components, regroup};
use super::flat::by_height;
use super::pack::{Packing, pack};
use super::search::tight;
use super::table::{Place, Side, Table};
use super::{Failure, Options, Solution, Statistics};
use crate::analysis::bounds::Bounds;
use crate::analysis::glue::Groups;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::{BTreeSet, HashMap};

/// Times that groups are joined before the components are taken whole.
const JOINS: u64 = 24;

/// Solves.
pub fn solve(problem: &ModuloProblem, bounds: &Bounds, options: Options) -> Result<Solution, Failure> {
    let arcs = Arcs::new(problem);
    let mut statistics = Statistics::default();
    let whole = components(problem, &bounds.groups);
    let mut best = packed(problem, &whole, bounds, &mut statistics);
    let mut best = assign(problem, &arcs, &whole, &best, &mut statistics).ok().unwrap_or_else(|| {
        best.bin.fill(0);
        super::sequential::in_order(problem, problem.topological())
    });
    let mut groups = bounds.groups.clone();
    for _ in 0..JOINS {
        if groups.members.len() <= whole.members.len() {
            break;
        }
        let packing = packed(problem, &groups, bounds, &mut statistics);
        if packing.largest >= best.ii {
            break;
        }
        match assign(problem, &arcs, &groups, &packing, &mut statistics) {
            Ok(found) => {
                best = found;
                break;
            }
            Err(cycle) => {
                statistics.evictions += 1;
                let into = cycle.iter().min().copied().unwrap_or(0);
                let cycle: BTreeSet<u32> = cycle.into_iter().collect();
                groups = regroup(problem, |i| match groups.of[i] {
                    g if cycle.contains(&g) => into,
                    g => g,
                });
            }
        }
    }
    match options.most_ii {
        Some(most_ii) if best.ii > most_ii => Err(Failure { most_ii, lower: bounds.lower, statistics }),
        _ => Ok(Solution { schedule: best, statistics }),
    }
}

fn packed(problem: &ModuloProblem, groups: &Groups, bounds: &Bounds, statistics: &mut Statistics) -> Packing {
    statistics.tries += 1;
    pack(&groups.cost, problem.processors(), bounds.lower)
}

/// Slots of one size: the processors that have one, the emptiest first, and how many each has.
#[derive(Default)]
struct Slots {
    by_load: BTreeSet<(u64, u32)>,
    left: HashMap<u32, u32>,
}

/// Gives every group a slot of its size; the groups of a cycle where that cannot be.
fn assign(
    problem: &ModuloProblem,
    arcs: &Arcs,
    groups: &Groups,
    packing: &Packing,
    statistics: &mut Statistics,
) -> Result<ModuloSchedule, Vec<u32>> {
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
        let Some(own) = slots.get(&cost) else { return Err(Vec::new()) };
        let places = table.places(g, Side::Early);
        let mut choice: Vec<Place> = places.near;
        choice.retain(|p| own.left.contains_key(&p.processor));
        let near: Vec<u32> = choice.iter().map(|p| p.processor).collect();
        let away = own.by_load.iter().filter(|(_, p)| !near.contains(p)).map(|(_, p)| *p);
        choice.extend(away.take(4).map(|p| Place { processor: p, stage: places.elsewhere }));
        choice.sort_by_key(|p| (p.stage, table.load(p.processor), p.processor));
        let mut stuck = None;
        for Place { processor: p, .. } in choice {
            let before = table.load(p);
            statistics.placements += 1;
            if let Err(cycle) = table.place(g, p) {
                stuck.get_or_insert(cycle);
                continue;
            }
            stuck = None;
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
            break;
        }
        if let Some(cycle) = stuck {
            return Err(cycle);
        }
    }
    table.schedule().map(|s| tight(problem, s)).ok_or_else(|| (0..groups.members.len() as u32).collect())
}
