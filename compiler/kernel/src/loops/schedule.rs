//! # schedule
//!
//! Purpose: the cycles of a turn of a loop, without and with software pipelining. Input: instructions and their dependences. Output:
//! [`alone`]'s number, [`modulo`]'s [`Kernel`] that the judge has passed. Source: "Method for Software Pipelining on GPUs", sections 2.1
//! and 2.6; B. R. Rau, *Iterative Modulo Scheduling* (1994).
//!
//! Without: in program order, each instruction when its operands are there; a turn ends before its counter and jump, so that turns do not overlap
//! ("load data, wait for the loading, compute data, wait for the computation, store data, wait for the storing, increment the loop
//! counter, and check the exit condition"). With: a turn begins every II cycles, as many instructions in the cycles equal modulo II as are
//! issued at once, the jump in the last of them; first in program order without looking back (flat), then by height, with eviction
//! (iterative), then with a longer II.

use super::dependences::{Dependence, lengths, rec_mii};
use super::instructions::{Instruction, Kind};
use super::judge;
use super::machine::Core;

/// A modulo schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Cycles from turn to turn.
    pub ii: u64,
    /// The cycle at which each instruction of the first turn is issued, from 0.
    pub start: Vec<u64>,
}

/// What bounds II from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// By the instructions that are issued.
    pub res_mii: u64,
    /// By cycles of dependences.
    pub rec_mii: u64,
}

/// So many IIs are tried.
const TRIES: usize = 64;

/// The bounds of a loop.
pub fn bounds(all: &[Instruction], deps: &[Dependence], core: &Core) -> Bounds {
    let res_mii = (all.len() as u64).div_ceil(u64::from(core.issue.max(1))).max(1);
    Bounds { res_mii, rec_mii: rec_mii(all.len(), deps) }
}

/// Cycles of a turn whose instructions do not overlap with those of other turns; and when each is issued.
pub fn alone(all: &[Instruction], deps: &[Dependence], core: &Core) -> (u64, Vec<u64>) {
    let control = |i: usize| matches!(all[i].kind, Kind::Count | Kind::Jump);
    let mut start = vec![0u64; all.len()];
    let (mut now, mut issued, mut end) = (0, 0, 0);
    let order = (0..all.len()).filter(|i| !control(*i)).chain((0..all.len()).filter(|i| control(*i)));
    for i in order {
        let waits = deps.iter().filter(|d| d.to == i && d.distance == 0 && !control(d.from));
        let mut at = waits.map(|d| start[d.from] + d.latency).max().unwrap_or(0);
        if control(i) {
            at = at.max(end);
        }
        if at > now {
            (now, issued) = (at, 0);
        } else if issued == core.issue.max(1) {
            (now, issued) = (now + 1, 0);
        }
        start[i] = now;
        issued += 1;
        end = end.max(now + all[i].latency);
    }
    (end, start)
}

/// A modulo schedule with the smallest II that is found, `None` where none is found near the bounds.
pub fn modulo(all: &[Instruction], deps: &[Dependence], step: i32, core: &Core) -> Option<Kernel> {
    let bounds = bounds(all, deps, core);
    let most = 2 * alone(all, deps, core).0.max(bounds.res_mii);
    (bounds.res_mii.max(bounds.rec_mii)..=most).take(TRIES).find_map(|ii| {
        let mut t = Table::new(all, deps, core, ii);
        let found = t.flat().or_else(|| Table::new(all, deps, core, ii).iterative())?;
        judge::judge(all, step, core, &found).is_ok().then_some(found)
    })
}

/// The modulo reservation table, and what is placed.
struct Table<'a> {
    all: &'a [Instruction],
    core: &'a Core,
    ii: u64,
    /// Instructions issued in each cycle modulo II; the jump's place is kept.
    used: Vec<u32>,
    at: Vec<Option<u64>>,
    /// Where each was placed last, to place it elsewhere.
    last: Vec<Option<u64>>,
    before: Vec<Vec<&'a Dependence>>,
    after: Vec<Vec<&'a Dependence>>,
    deps: &'a [Dependence],
}

impl<'a> Table<'a> {
    fn new(all: &'a [Instruction], deps: &'a [Dependence], core: &'a Core, ii: u64) -> Table<'a> {
        let n = all.len();
        let (mut before, mut after) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for d in deps {
            before[d.to].push(d);
            after[d.from].push(d);
        }
        let mut used = vec![0; ii as usize];
        if let Some(last) = used.last_mut() {
            *last = 1;
        }
        Table { all, core, ii, used, at: vec![None; n], last: vec![None; n], before, after, deps }
    }

    fn jump(&self, i: usize) -> bool {
        self.all[i].kind == Kind::Jump
    }

    fn slot(&self, at: u64) -> usize {
        (at % self.ii) as usize
    }

    fn free(&self, i: usize, at: u64) -> bool {
        if self.jump(i) {
            return self.slot(at) as u64 == self.ii - 1;
        }
        self.used[self.slot(at)] < self.core.issue.max(1)
    }

    fn place(&mut self, i: usize, at: u64) {
        if !self.jump(i) {
            let slot = self.slot(at);
            self.used[slot] += 1;
        }
        self.at[i] = Some(at);
        self.last[i] = Some(at);
    }

    fn evict(&mut self, i: usize) {
        if let Some(at) = self.at[i].take()
            && !self.jump(i)
        {
            let slot = self.slot(at);
            self.used[slot] -= 1;
        }
    }

    /// The first cycle at which what is placed lets an instruction be issued.
    fn early(&self, i: usize) -> u64 {
        let waits = self.before[i].iter().filter(|d| d.from != i).filter_map(|d| {
            let at = self.at[d.from]?;
            Some((at + d.latency).saturating_sub(self.ii * d.distance))
        });
        waits.max().unwrap_or(0)
    }

    /// The last one.
    fn late(&self, i: usize) -> Option<u64> {
        let waits = self.after[i].iter().filter(|d| d.to != i).filter_map(|d| {
            let at = self.at[d.to]?;
            Some((at + self.ii * d.distance).checked_sub(d.latency))
        });
        waits.min().unwrap_or(Some(u64::MAX))
    }

    fn done(&self) -> Option<Kernel> {
        let start: Option<Vec<u64>> = self.at.iter().copied().collect();
        start.map(|start| Kernel { ii: self.ii, start })
    }

    fn flat(&mut self) -> Option<Kernel> {
        for i in 0..self.all.len() {
            let (early, late) = (self.early(i), self.late(i)?);
            let at = (early..early + self.ii).find(|t| *t <= late && self.free(i, *t))?;
            self.place(i, at);
        }
        self.done()
    }

    fn iterative(&mut self) -> Option<Kernel> {
        let height = lengths(self.all.len(), self.deps, self.ii)?;
        for _ in 0..self.all.len() * 12 {
            let left = (0..self.all.len()).filter(|i| self.at[*i].is_none());
            let Some(i) = left.max_by_key(|i| (height[*i], std::cmp::Reverse(*i))) else { return self.done() };
            let early = self.early(i);
            let at = match (early..early + self.ii).find(|t| self.free(i, *t)) {
                Some(at) => at,
                // it has its place, whoever is there
                None => self.last[i].map_or(early, |last| early.max(last + 1)),
            };
            let slot = self.slot(at);
            if !self.free(i, at) {
                if slot as u64 == self.ii - 1 && self.core.issue.max(1) == 1 {
                    // the jump does not go
                    return None;
                }
                let there = (0..self.all.len())
                    .filter(|k| !self.jump(*k) && self.at[*k].is_some_and(|t| self.slot(t) == slot))
                    .min_by_key(|k| height[*k])?;
                self.evict(there);
            }
            self.place(i, at);
            let hurt: Vec<usize> = (self.after[i].iter().map(|d| (d.to, d.distance, d.latency, true)))
                .chain(self.before[i].iter().map(|d| (d.from, d.distance, d.latency, false)))
                .filter(|(k, distance, latency, after)| {
                    *k != i
                        && self.at[*k].is_some_and(|t| {
                            let (from, to) = if *after { (at, t) } else { (t, at) };
                            to + self.ii * distance < from + latency
                        })
                })
                .map(|(k, ..)| k)
                .collect();
            hurt.into_iter().for_each(|k| self.evict(k));
        }
        None
    }
}
