//! # table
//!
//! Purpose: a schedule in the making: which processor each group of instances has, how much room is left, how early everything can be.
//! It is the modulo reservation table of modulo scheduling. As instances on a processor follow one another without gaps (see
//! [`super`]), what it reserves is an amount of time, never a time slot. Invariant: no load is above the II; the stages of
//! what is placed keep to all dependences among it.

use super::arcs::Arcs;
use super::complete::complete;
use crate::analysis::glue::Groups;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::{BTreeSet, VecDeque};

/// No processor.
pub const NOWHERE: u32 = u32::MAX;

/// Raises of one stage in one go after which a cycle is looked for.
const SUSPICIOUS: u32 = 8;

/// A partial schedule.
pub struct Table<'a> {
    /// What is solved.
    pub problem: &'a ModuloProblem,
    /// Its dependences.
    pub arcs: &'a Arcs,
    /// What is placed as a whole.
    pub groups: &'a Groups,
    /// The initiation interval.
    pub ii: u64,
    home: Vec<u32>,
    stage: Vec<i64>,
    load: Vec<u64>,
    by_load: BTreeSet<(u64, u32)>,
    /// By processor, costs and numbers of its groups, sorted.
    on: Vec<Vec<(u64, u32)>>,
    placed: usize,
    scratch: Scratch,
}

struct Scratch {
    /// By processor, the earliest stage as far as what it holds is concerned.
    same: Vec<i64>,
    touched: Vec<u32>,
    cause: Vec<u32>,
    raises: Vec<u32>,
    queued: Vec<bool>,
}

/// Which neighbours a place is sought from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What a group waits for.
    Early,
    /// What waits for it.
    Late,
}

/// Where a group can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The processor.
    pub processor: u32,
    /// The earliest stage there; seen from the late side, the latest one, negated: less is better on both sides.
    pub stage: i64,
}

/// The places of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Processors that a neighbour is on.
    pub near: Vec<Place>,
    /// The stage on any other one.
    pub elsewhere: i64,
}

impl<'a> Table<'a> {
    /// An empty one.
    pub fn new(problem: &'a ModuloProblem, arcs: &'a Arcs, groups: &'a Groups, ii: u64) -> Table<'a> {
        let (n, p) = (problem.instances(), problem.processors());
        Table {
            problem,
            arcs,
            groups,
            ii,
            home: vec![NOWHERE; groups.members.len()],
            stage: vec![0; n],
            load: vec![0; p as usize],
            by_load: (0..p).map(|p| (0, p)).collect(),
            on: vec![Vec::new(); p as usize],
            placed: 0,
            scratch: Scratch {
                same: vec![i64::MIN; p as usize],
                touched: Vec::new(),
                cause: vec![NOWHERE; n],
                raises: vec![0; n],
                queued: vec![false; n],
            },
        }
    }

    /// The processor of a group, or [`NOWHERE`].
    pub fn home(&self, group: u32) -> u32 {
        self.home[group as usize]
    }

    /// By group, its processor.
    pub fn homes(self) -> Vec<u32> {
        self.home
    }

    /// The processor of an instance, or [`NOWHERE`].
    pub fn processor(&self, instance: usize) -> u32 {
        self.home[self.groups.of[instance] as usize]
    }

    /// The stage of an instance that is placed.
    pub fn stage(&self, instance: usize) -> i64 {
        self.stage[instance]
    }

    /// What a processor has to do, in cycles.
    pub fn load(&self, processor: u32) -> u64 {
        self.load[processor as usize]
    }

    /// Costs and numbers of the groups on a processor, sorted.
    pub fn on(&self, processor: u32) -> &[(u64, u32)] {
        &self.on[processor as usize]
    }

    /// Is everything placed?
    pub fn is_whole(&self) -> bool {
        self.placed == self.home.len()
    }

    /// Does a group fit there?
    pub fn fits(&self, group: u32, processor: u32) -> bool {
        self.load(processor) + self.groups.cost[group as usize] <= self.ii
    }

    /// Where a group can go as far as one side of its neighbours is placed. Room or not.
    pub fn places(&mut self, group: u32, side: Side) -> Places {
        let s = &mut self.scratch;
        // The latest two processors that something comes from, as seen from elsewhere.
        let mut top = [(i64::MIN, NOWHERE); 2];
        let sign = if side == Side::Early { 1 } else { -1 };
        for m in &self.groups.members[group as usize] {
            let links = if side == Side::Early { self.arcs.before(*m) } else { self.arcs.after(*m) };
            for link in links {
                let u = link.other as usize;
                let home = self.home[self.groups.of[u] as usize];
                if home == NOWHERE || self.groups.of[u] == group {
                    continue;
                }
                let (from, to) = if side == Side::Early { (u, *m) } else { (*m, u) };
                let at = sign * self.stage[u];
                let crossing = at + self.arcs.lag(from, to, link.distance, false);
                let own = at + self.arcs.lag(from, to, link.distance, true);
                if s.same[home as usize] == i64::MIN {
                    s.touched.push(home);
                }
                s.same[home as usize] = s.same[home as usize].max(own);
                if home == top[0].1 {
                    top[0].0 = top[0].0.max(crossing);
                } else if crossing > top[0].0 {
                    top = [(crossing, home), top[0]];
                } else if crossing > top[1].0 {
                    top[1] = (crossing, home);
                }
            }
        }
        // Nobody is before stage 0; where nothing is placed, nothing is known of the end.
        let least = if side == Side::Early { 0 } else { i64::MIN };
        let mut near = Vec::with_capacity(s.touched.len());
        for p in s.touched.drain(..) {
            let others = if p == top[0].1 { top[1].0 } else { top[0].0 };
            near.push(Place { processor: p, stage: others.max(s.same[p as usize]).max(least) });
            s.same[p as usize] = i64::MIN;
        }
        Places { near, elsewhere: top[0].0.max(least) }
    }

    /// The earliest place with room; of several the emptiest one.
    pub fn earliest(&mut self, group: u32) -> Option<Place> {
        self.best(group, Side::Early)
    }

    /// The best place with room as seen from one side; of several the emptiest one.
    pub fn best(&mut self, group: u32, side: Side) -> Option<Place> {
        let Places { mut near, elsewhere } = self.places(group, side);
        near.extend(self.by_load.first().map(|(_, p)| Place { processor: *p, stage: elsewhere }));
        let room = near.into_iter().filter(|p| self.fits(group, p.processor));
        room.min_by_key(|p| (p.stage, self.load(p.processor), p.processor))
    }

    /// Puts a group on a processor with room and moves the stages of what waits for it. Where that never ends, the group is taken away
    /// again, and the groups on the cycle are the answer.
    pub fn place(&mut self, group: u32, processor: u32) -> Result<(), Vec<u32>> {
        let groups = self.groups;
        let cost = groups.cost[group as usize];
        self.reload(processor, |load| load + cost);
        let on = &mut self.on[processor as usize];
        let at = on.partition_point(|x| *x < (cost, group));
        on.insert(at, (cost, group));
        self.home[group as usize] = processor;
        self.placed += 1;
        for m in &groups.members[group as usize] {
            self.stage[*m] = 0;
        }
        for m in &groups.members[group as usize] {
            for link in self.arcs.before(*m) {
                let u = link.other as usize;
                if self.processor(u) != NOWHERE {
                    let lag = self.arcs.lag(u, *m, link.distance, self.processor(u) == processor);
                    self.stage[*m] = self.stage[*m].max(self.stage[u] + lag);
                }
            }
        }
        let cycle = self.settle(groups.members[group as usize].iter().copied().collect());
        if let Some(cycle) = cycle {
            self.take(group);
            self.rebuild();
            return Err(cycle);
        }
        Ok(())
    }

    /// Takes a group away; the stages of the others stay.
    pub fn take(&mut self, group: u32) {
        let home = std::mem::replace(&mut self.home[group as usize], NOWHERE);
        let cost = self.groups.cost[group as usize];
        if let Ok(at) = self.on[home as usize].binary_search(&(cost, group)) {
            self.on[home as usize].remove(at);
        }
        self.reload(home, |load| load - cost);
        self.placed -= 1;
    }

    fn reload(&mut self, processor: u32, change: impl Fn(u64) -> u64) {
        let load = &mut self.load[processor as usize];
        self.by_load.remove(&(*load, processor));
        *load = change(*load);
        self.by_load.insert((*load, processor));
    }

    /// All stages anew, as early as they can be.
    pub fn rebuild(&mut self) {
        self.stage.fill(0);
        let all = self.problem.topological().iter().copied();
        let cycle = self.settle(all.filter(|i| self.home[self.groups.of[*i] as usize] != NOWHERE).collect());
        debug_assert!(cycle.is_none(), "what was placed before had no such cycle");
    }

    /// Raises stages until all dependences from these instances on hold. `Some`: the groups on a cycle that cannot be satisfied.
    fn settle(&mut self, mut todo: VecDeque<usize>) -> Option<Vec<u32>> {
        let mut seen: Vec<usize> = todo.iter().copied().collect();
        for i in &todo {
            self.scratch.queued[*i] = true;
            self.scratch.cause[*i] = NOWHERE;
            self.scratch.raises[*i] = 0;
        }
        let mut found = None;
        while let Some(u) = todo.pop_front() {
            self.scratch.queued[u] = false;
            for link in self.arcs.after(u) {
                let v = link.other as usize;
                let home = self.processor(v);
                if home == NOWHERE {
                    continue;
                }
                let least = self.stage[u] + self.arcs.lag(u, v, link.distance, home == self.processor(u));
                if least <= self.stage[v] {
                    continue;
                }
                self.stage[v] = least;
                let s = &mut self.scratch;
                s.cause[v] = u as u32;
                s.raises[v] += 1;
                if s.raises[v] == 1 {
                    seen.push(v);
                }
                if s.raises[v].is_multiple_of(SUSPICIOUS)
                    && let Some(cycle) = cycle(&s.cause, v)
                {
                    found = Some(cycle);
                    break;
                }
                if !std::mem::replace(&mut s.queued[v], true) {
                    todo.push_back(v);
                }
            }
            if found.is_some() {
                break;
            }
        }
        todo.iter().for_each(|i| self.scratch.queued[*i] = false);
        for i in seen {
            self.scratch.cause[i] = NOWHERE;
            self.scratch.raises[i] = 0;
        }
        let mut groups: Vec<u32> = found?.iter().map(|i| self.groups.of[*i]).collect();
        groups.sort_unstable();
        groups.dedup();
        Some(groups)
    }

    /// What makes room for a group at the least cost: a processor, and groups on it that together are as small as can be and less
    /// than the group itself if possible. `weight` tells how unwilling a group is to go.
    pub fn make_room(&self, group: u32, forbidden: u32, weight: impl Fn(u32) -> u64) -> Option<(u32, Vec<u32>)> {
        let cost = self.groups.cost[group as usize];
        let mut best: Option<(u64, u32, [Option<usize>; 2])> = None;
        for (load, p) in self.by_load.iter().filter(|x| x.1 != forbidden).copied() {
            let Some(need) = (load + cost).checked_sub(self.ii) else { continue };
            // From here on more has to leave, and all of it costs at least this.
            if best.is_some_and(|b| need.saturating_mul(4) > b.0) {
                break;
            }
            let on = self.on(p);
            let at = |need: u64| on.partition_point(|x| x.0 < need);
            let mut offer = |chosen: [Option<usize>; 2]| {
                let price = chosen.iter().flatten().map(|i| on[*i].0.saturating_mul(4 + weight(on[*i].1))).sum();
                if best.is_none_or(|b| (price, p) < (b.0, b.1)) {
                    best = Some((price, p, chosen));
                }
            };
            let one = at(need);
            if one < on.len() {
                offer([Some(one), None]);
            }
            if one > 0 {
                // The largest that is not enough, and the smallest that fills the rest.
                let rest = at(need - on[one - 1].0);
                let rest = if rest == one - 1 { rest + 1 } else { rest };
                if rest < on.len() {
                    offer([Some(one - 1), Some(rest)]);
                }
            }
        }
        match best {
            Some((_, p, chosen)) => Some((p, chosen.iter().flatten().map(|i| self.on(p)[*i].1).collect())),
            None => self.make_much_room(cost, forbidden),
        }
    }

    /// Room that takes more than two groups: from the emptiest processor, the largest first.
    fn make_much_room(&self, cost: u64, forbidden: u32) -> Option<(u32, Vec<u32>)> {
        let p = self.by_load.iter().map(|x| x.1).find(|p| *p != forbidden)?;
        let (mut load, mut out) = (self.load(p), Vec::new());
        for (size, g) in self.on(p).iter().rev() {
            if load + cost <= self.ii {
                break;
            }
            load -= size;
            out.push(*g);
        }
        (load + cost <= self.ii).then_some((p, out))
    }

    /// The schedule of a whole table.
    pub fn schedule(&self) -> Option<ModuloSchedule> {
        let processor: Vec<u32> = (0..self.problem.instances()).map(|i| self.processor(i)).collect();
        complete(self.problem, &processor, self.ii).ok()
    }
}

/// The instances of the cycle that the causes lead into from here, if there is one.
fn cycle(cause: &[u32], from: usize) -> Option<Vec<usize>> {
    // Two walkers, one twice as fast: they meet on a cycle only.
    let next = |i: u32| if i == NOWHERE { NOWHERE } else { cause[i as usize] };
    let (mut slow, mut fast) = (from as u32, next(from as u32));
    while slow != fast {
        if fast == NOWHERE {
            return None;
        }
        (slow, fast) = (next(slow), next(next(fast)));
    }
    let mut found = vec![slow as usize];
    let mut at = next(slow);
    while at != slow {
        found.push(at as usize);
        at = next(at);
    }
    Some(found)
}
