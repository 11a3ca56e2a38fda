//! # bound
//!
//! Purpose: bounds of kernels. Input: what their warps issue. Output: by kernel a [`Bound`], or why there is none.
//!
//! The pessimistic bound holds for any blocks ([`blocks`]). Where one block with equal warps is all there is, and data changes nothing, the other methods bound what lies between its barriers,
//! and the sum is one for the block: no warp passes a barrier before all have come there.

use super::super::Method;
use super::extract::{Extracted, LaunchOf, OfKernel, Origin};
use super::walked::Warps;
use super::{How, Setting};
use sluice_schedule::analysis::makespan::blocks::{self, Block, Work};
use sluice_schedule::analysis::makespan::method::{Settings, solve};
use sluice_schedule::analysis::makespan::{Kernel, Machine, Problem, Unit};
use std::collections::BTreeMap;
use std::time::Instant;

/// What is known of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    /// Blocks of it on the multiprocessor that has the most.
    pub(super) blocks: u64,
    /// Warps of a block.
    pub(super) warps: u64,
    /// Cycles of the warp that has the most, by unit.
    pub(super) loads: u64,
    pub(super) cores: u64,
    /// Barriers of a block.
    pub(super) barriers: usize,
    /// Cycles: no schedule takes more, if `sound`.
    pub(super) bound: u64,
    /// It is the worst case itself.
    pub(super) exact: bool,
    pub(super) sound: bool,
    /// No schedule takes less; or some schedule takes as long, where a method has found one.
    pub(super) least: u64,
    /// What gave the bound.
    pub(super) by: &'static str,
    /// The bound by formula of the first of its blocks, alone.
    pub(super) of_block: u64,
    /// Data says which of it is issued.
    pub(super) varies: bool,
    /// Launches, one after the other: `blocks` is that of the one with the most.
    pub(super) launches: u64,
}

impl Bound {
    /// One launch after the other.
    fn times(&self, count: u64) -> Bound {
        let times = |n: u64| n.saturating_mul(count);
        Bound { bound: times(self.bound), least: times(self.least), launches: times(self.launches), ..self.clone() }
    }

    /// Of these launches after those.
    fn then(&self, next: &Bound) -> Bound {
        Bound {
            blocks: self.blocks.max(next.blocks),
            warps: self.warps.max(next.warps),
            loads: self.loads.max(next.loads),
            cores: self.cores.max(next.cores),
            barriers: self.barriers.max(next.barriers),
            bound: self.bound.saturating_add(next.bound),
            exact: self.exact && next.exact,
            sound: self.sound && next.sound,
            least: self.least.saturating_add(next.least),
            by: if self.by == "pessimistic" { next.by } else { self.by },
            // of the first one
            of_block: self.of_block,
            varies: self.varies || next.varies,
            launches: self.launches.saturating_add(next.launches),
        }
    }
}

/// Launches that are remembered, to know equal ones again.
const MOST_KNOWN: usize = 64;

/// By kernel.
pub(super) fn bounds(extracted: &Extracted, setting: &Setting, how: &How) -> Vec<Result<Bound, String>> {
    let mut bounding = Bounding {
        setting,
        how,
        machine: setting.machine(),
        begun: Instant::now(),
        // the time is for those that are not known yet
        left: extracted.kernels.len().max(1),
        known: BTreeMap::new(),
    };
    extracted.kernels.iter().map(|kernel| bounding.kernel(kernel, extracted.origin)).collect()
}

/// What a method says: a bound, whether it is exact, the least, and who found the bound.
type Said = (u64, bool, u64, &'static str);

struct Bounding<'s> {
    setting: &'s Setting,
    how: &'s How,
    machine: Machine,
    begun: Instant,
    left: usize,
    /// What methods said of strings, by warps: bound, exact, least, by whom.
    known: BTreeMap<(Vec<Unit>, u64), Option<Said>>,
}

impl Bounding<'_> {
    /// Launch after launch.
    fn kernel(&mut self, kernel: &OfKernel, origin: Origin) -> Result<Bound, String> {
        self.left = self.left.saturating_sub(1);
        let mut all: Option<Bound> = None;
        // launches of the same blocks have the same bound
        let mut known: Vec<(&LaunchOf, Bound)> = Vec::new();
        for launch in &kernel.launches {
            let bound = match known.iter().find(|(other, _)| other.is_like(launch)) {
                Some((_, bound)) => bound.clone(),
                None => self.launch(launch, origin)?,
            };
            all = Some(match all {
                None => bound.times(launch.count),
                Some(before) => before.then(&bound.times(launch.count)),
            });
            if known.len() < MOST_KNOWN {
                known.push((launch, bound));
            }
        }
        let mut all = all.ok_or("it is never started")?;
        all.exact &= all.sound;
        Ok(all)
    }

    fn launch(&mut self, launch: &LaunchOf, origin: Origin) -> Result<Bound, String> {
        let all: u64 = launch.blocks.iter().map(|b| b.count).sum();
        let on_one = blocks::round_robin(all, self.setting.multiprocessors);
        // of what a block may be, nobody knows what it is: it is the largest
        let mut kinds: Vec<(Block, u64)> = Vec::new();
        let mut single: Vec<&Warps> = Vec::new();
        let (mut barriers, mut varies) = (0, false);
        for of in &launch.blocks {
            let mut block = Block::default();
            for warps in of.warps.as_ref().map_err(Clone::clone)? {
                block = larger(&block, &self.block(warps));
                barriers = barriers.max(warps.first().map_or(0, |t| t.phases.len() - 1));
                varies |= warps.iter().any(|t| t.varies);
                single.push(warps);
            }
            kinds.push((block, of.count));
        }
        let resident = self.setting.resident;
        let longest = kinds.iter().fold(Block::default(), |all, (b, _)| larger(&all, b));
        let mut bound = Bound {
            blocks: on_one,
            warps: longest.warps,
            loads: longest.longest.loads,
            cores: longest.longest.cores,
            barriers,
            bound: blocks::bound_of(&kinds, on_one, resident, &self.machine),
            exact: false,
            sound: origin == Origin::Sass,
            least: 0,
            by: "pessimistic",
            of_block: kinds.first().map_or(0, |(block, _)| blocks::bound(block, 1, 1, &self.machine)),
            varies,
            launches: 1,
        };
        let known = !varies && launch.blocks.iter().all(|b| b.warps.as_ref().is_ok_and(|all| all.len() == 1));
        if known {
            bound.least = blocks::shortest_of(&kinds, on_one, resident, &self.machine);
        }
        if on_one == 1 && !varies && self.how.method != Method::Pessimistic && origin != Origin::Ir {
            let mut answers = Vec::new();
            for warps in single {
                let formula = self.formula(&self.block(warps));
                answers.push(self.alike(warps).unwrap_or(formula));
            }
            self.take(&mut bound, &answers, known);
        }
        Ok(bound)
    }

    /// The larger of these answers, if it is better than what is known.
    fn take(&self, bound: &mut Bound, answers: &[Said], known: bool) {
        let Some(worst) = answers.iter().max_by_key(|a| a.0) else { return };
        if worst.0 <= bound.bound {
            (bound.bound, bound.by) = (worst.0, worst.3);
            if known {
                bound.least = bound.least.max(answers.iter().map(|a| a.2).max().unwrap_or(0));
                bound.exact = worst.1 && bound.least == bound.bound;
            }
        }
    }

    fn formula(&self, block: &Block) -> Said {
        let (bound, least) = (blocks::bound(block, 1, 1, &self.machine), blocks::shortest(block, 1, 1, &self.machine));
        (bound, bound == least, least, "pessimistic")
    }

    /// Phase after phase by a method, where all warps are alike.
    fn alike(&mut self, warps: &Warps) -> Option<Said> {
        let first = warps.first()?;
        if !first.is_whole() || warps.iter().any(|w| w.phases != first.phases) {
            return None;
        }
        let mut sum = (0u64, true, 0u64, "pessimistic");
        for phase in first.phases.iter().filter(|p| !p.units.is_empty()) {
            let (bound, exact, least, by) = self.phase(&phase.units, warps.len() as u64)?;
            sum = (sum.0 + bound, sum.1 && exact, sum.2 + least, if sum.3 == "pessimistic" { by } else { sum.3 });
        }
        Some(sum)
    }

    fn phase(&mut self, units: &[Unit], warps: u64) -> Option<Said> {
        let key = (units.to_vec(), warps);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let answer = self.solved(units, warps);
        self.known.insert(key, answer);
        answer
    }

    fn solved(&self, units: &[Unit], warps: u64) -> Option<Said> {
        let problem = Problem::new(&Kernel::new(units.to_vec()), &self.machine, warps).ok()?;
        // what others have not used is there for the rest
        let seconds = ((self.how.seconds - self.begun.elapsed().as_secs_f64()) / (self.left + 1) as f64).max(0.01);
        let begun = Instant::now();
        let clock = || begun.elapsed().as_secs_f64();
        let settings = Settings { seconds, states: super::super::STATES, clock: &clock };
        let answer = solve(&problem, self.how.method, &settings).ok()?;
        answer.sound.then_some((answer.bound, answer.exact, answer.least, answer.by))
    }

    /// What the warps of a block have, instructions of several cycles as several.
    fn block(&self, warps: &Warps) -> Block {
        let times = |unit: Unit| u64::from(self.machine.of(unit).cycles());
        let (l, c) = (times(Unit::LoadStore), times(Unit::Core));
        let phases = warps.first().map_or(0, |t| t.phases.len());
        let mut block = Block { warps: warps.len() as u64, ..Block::default() };
        for p in 0..phases {
            let each = || {
                warps.iter().map(|t| Work {
                    loads: t.phases[p].loads.saturating_mul(l),
                    cores: t.phases[p].cores.saturating_mul(c),
                })
            };
            let most = |f: fn(&Work) -> u64| each().map(|w| f(&w)).max().unwrap_or(0);
            block.longest.loads += most(|w| w.loads);
            block.longest.cores += most(|w| w.cores);
            block.steps += most(|w| w.sum());
            for work in each() {
                block.all.loads += work.loads;
                block.all.cores += work.cores;
            }
        }
        block
    }
}

/// What has of everything as much as both.
fn larger(a: &Block, b: &Block) -> Block {
    let work = |a: &Work, b: &Work| Work { loads: a.loads.max(b.loads), cores: a.cores.max(b.cores) };
    Block {
        warps: a.warps.max(b.warps),
        all: work(&a.all, &b.all),
        longest: work(&a.longest, &b.longest),
        steps: a.steps.max(b.steps),
    }
}
