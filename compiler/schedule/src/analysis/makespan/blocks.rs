//! # blocks
//!
//! Purpose: a bound for several blocks of warps, on one multiprocessor or on several, with barriers or without, whatever each warp does. Input: the work of a block, how many
//! blocks there are, how many a multiprocessor has at a time. Output: cycles that no work-conserving schedule exceeds.
//!
//! Why it holds. Take the warp that ends last, and go back in time. Where it waits at a barrier, go over to the warp of its block that came there last; where its block had not begun yet, to the
//! last warp of a block that had to end before. So from the beginning to the end there is always one warp, of at most n − R + 1 blocks (R are there at first, and each other
//! one of the chain began when another one ended), that either runs or finds its unit full with others. It runs in as many cycles as these blocks' longest warps have instructions
//! between barriers; in every other cycle a unit performs o instructions of others, of which there are so many. For one block without barriers it is [`super::bounds::sound`].

use super::{Machine, Unit};

/// Cycles of load/store units and of cores, one instruction each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Of load/store units.
    pub loads: u64,
    /// Of cores.
    pub cores: u64,
}

impl Work {
    /// That of a kind of unit.
    pub fn of(&self, unit: Unit) -> u64 {
        match unit {
            Unit::LoadStore => self.loads,
            Unit::Core => self.cores,
        }
    }

    /// Both.
    pub fn sum(&self) -> u64 {
        self.loads.saturating_add(self.cores)
    }
}

/// A block of warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Warps.
    pub warps: u64,
    /// Of all its warps.
    pub all: Work,
    /// From barrier to barrier the most that a warp has, each kind of unit for itself, and the sum of these.
    pub longest: Work,
    /// From barrier to barrier the longest warp, and the sum of these: a block takes no less.
    pub steps: u64,
}

/// Blocks on the multiprocessor with the most of them, where they are dealt out one by one.
pub fn round_robin(blocks: u64, processors: u64) -> u64 {
    blocks.div_ceil(processors.max(1))
}

/// No schedule of so many blocks on a multiprocessor, at least `resident` of them at a time as long as there are so many, takes more cycles.
pub fn bound(block: &Block, blocks: u64, resident: u64, machine: &Machine) -> u64 {
    bound_of(&[(*block, blocks)], blocks, resident, machine)
}

/// The same of blocks of several kinds, so many of each: nobody says which `blocks` of them the multiprocessor has, nor in which order. More work, and a longer longest warp, never make the
/// bound smaller; so it has, of each number by itself, the largest ones.
pub fn bound_of(kinds: &[(Block, u64)], blocks: u64, resident: u64, machine: &Machine) -> u64 {
    let resident = resident.clamp(1, blocks.max(1));
    let chain = blocks.saturating_sub(resident).saturating_add(1).min(blocks);
    // more than `resident` may be there
    let others = some_of(kinds, blocks, true, |b| b.warps).saturating_sub(1);
    let own = |unit: Unit| some_of(kinds, chain, true, |b| b.longest.of(unit));
    let waits = |unit: Unit| {
        let o = u64::from(machine.of(unit).at_once());
        // fewer others than a unit takes at a time never fill it
        if others < o { 0 } else { some_of(kinds, blocks, true, |b| b.all.of(unit)).saturating_sub(own(unit)) / o }
    };
    Unit::ALL.into_iter().fold(0u64, |sum, unit| sum.saturating_add(own(unit)).saturating_add(waits(unit)))
}

/// No schedule takes fewer.
pub fn shortest(block: &Block, blocks: u64, resident: u64, machine: &Machine) -> u64 {
    shortest_of(&[(*block, blocks)], blocks, resident, machine)
}

/// The same of blocks of several kinds: whichever `blocks` of them the multiprocessor has.
pub fn shortest_of(kinds: &[(Block, u64)], blocks: u64, resident: u64, machine: &Machine) -> u64 {
    let of = |unit: Unit| some_of(kinds, blocks, false, |b| b.all.of(unit)).div_ceil(machine.of(unit).at_once().into());
    let rounds = blocks.div_ceil(resident.max(1));
    // all of them are there, the longest among them; else as many rounds of the shortest
    let there = kinds.iter().map(|(_, count)| *count).fold(0, u64::saturating_add) <= blocks;
    let longest = if there { kinds.iter().map(|(b, _)| b.steps).max().unwrap_or(0) } else { 0 };
    let steps = some_of(kinds, rounds, false, |b| b.steps).max(longest);
    Unit::ALL.into_iter().map(of).max().unwrap_or(0).max(steps)
}

/// The sum of the `count` largest, or smallest, of these numbers.
fn some_of(kinds: &[(Block, u64)], count: u64, largest: bool, number: impl Fn(&Block) -> u64) -> u64 {
    let mut all: Vec<(u64, u64)> = kinds.iter().map(|(b, n)| (number(b), *n)).collect();
    all.sort_unstable_by_key(|(number, _)| if largest { u64::MAX - number } else { *number });
    let mut left = count;
    all.into_iter().fold(0, |sum, (number, n)| {
        let taken = n.min(left);
        left -= taken;
        sum.saturating_add(number.saturating_mul(taken))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Capacity, Problem, bounds};
    use super::*;

    fn uniform(kernel: &str, warps: u64, machine: &Machine) -> Block {
        let problem = Problem::new(&kernel.parse().unwrap(), machine, warps).unwrap();
        let of = |unit: Unit| problem.count(unit);
        let one = Work { loads: of(Unit::LoadStore), cores: of(Unit::Core) };
        let all = Work { loads: one.loads * warps, cores: one.cores * warps };
        Block { warps, all, longest: one, steps: one.sum() }
    }

    #[test]
    fn one_block_is_the_pessimistic_bound() {
        for kernel in ["L", "LLC", "LCLCL", "CCCC", "LLCCLLC"] {
            for warps in [1, 2, 3, 5, 8, 64] {
                for (l, c) in [(1, 1), (2, 1), (1, 4), (3, 4)] {
                    let of = |units| Capacity::new(units, 1).unwrap();
                    let machine = Machine { load_store: of(l), cores: of(c) };
                    let problem = Problem::new(&kernel.parse().unwrap(), &machine, warps).unwrap();
                    let block = uniform(kernel, warps, &machine);
                    assert_eq!(bound(&block, 1, 1, &machine), bounds::sound(&problem), "{kernel} {warps} {l} {c}");
                    assert_eq!(shortest(&block, 1, 1, &machine), bounds::shortest(&problem));
                    // blocks that are all there at once are one large one
                    let large = Problem::new(&kernel.parse().unwrap(), &machine, 3 * warps).unwrap();
                    assert_eq!(bound(&block, 3, 3, &machine), bounds::sound(&large));
                }
            }
        }
    }

    #[test]
    fn fewer_at_a_time_take_no_less() {
        let machine = Machine { load_store: Capacity::ONE, cores: Capacity::new(4, 1).unwrap() };
        let block = uniform("LLCCCC", 8, &machine);
        let all: Vec<u64> = (1..=6).map(|resident| bound(&block, 6, resident, &machine)).collect();
        assert!(all.is_sorted_by(|a, b| a >= b), "{all:?}");
        // one at a time: six times the bound of one
        assert_eq!(all[0], 6 * bound(&block, 1, 1, &machine));
        // few warps do not fill four cores, but nobody says that only one block is there
        let small = uniform("LC", 2, &machine);
        assert!(bound(&small, 6, 1, &machine) >= bound(&small, 6, 6, &machine));
        assert_eq!([round_robin(10, 4), round_robin(8, 4), round_robin(1, 132)], [3, 2, 1]);
    }

    /// Blocks with barriers, warps of different lengths, blocks that begin when others end: random work-conserving schedules, played out.
    #[test]
    fn schedules_with_barriers_never_exceed_it() {
        let mut dice = 0x9e37_79b9_7f4a_7c15u64;
        let mut roll = move |n: usize| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice % n as u64) as usize
        };
        let mut tight = 0;
        for round in 0..3000 {
            let capacity = [Capacity::ONE, Capacity::new(2, 1).unwrap(), Capacity::new(3, 1).unwrap()];
            let machine = Machine { load_store: capacity[roll(2)], cores: capacity[roll(3)] };
            let (warps, phases) = (1 + roll(4), 1 + roll(3));
            // by warp, then phase
            let code: Vec<Vec<Vec<Unit>>> = (0..warps)
                .map(|_| (0..phases).map(|_| (0..roll(5)).map(|_| Unit::ALL[roll(2)]).collect()).collect())
                .collect();
            let count = |units: &[Unit], unit| units.iter().filter(|u| **u == unit).count() as u64;
            let most = |p: usize, f: &dyn Fn(&[Unit]) -> u64| code.iter().map(|w| f(&w[p])).max().unwrap_or(0);
            let sum = |unit| code.iter().flatten().map(|p| count(p, unit)).sum::<u64>();
            let longest = |unit| (0..phases).map(|p| most(p, &|u| count(u, unit))).sum::<u64>();
            let work = |f: &dyn Fn(Unit) -> u64| Work { loads: f(Unit::LoadStore), cores: f(Unit::Core) };
            let block = Block {
                warps: warps as u64,
                all: work(&sum),
                longest: work(&longest),
                steps: (0..phases).map(|p| most(p, &|u| u.len() as u64)).sum(),
            };
            let (blocks, resident) = (1 + roll(4), 1 + roll(3));
            let cycles = play(&vec![&code; blocks], resident, &machine, &mut roll);
            let (least, bound) = (
                shortest(&block, blocks as u64, resident as u64, &machine),
                bound(&block, blocks as u64, resident as u64, &machine),
            );
            assert!(
                least <= cycles && cycles <= bound,
                "{round}: {least} {cycles} {bound} {code:?} {blocks} {resident}"
            );
            tight += u64::from(cycles == bound);
        }
        assert!(tight > 100, "a bound that is never reached bounds nothing: {tight}");
    }

    /// By warp, then phase.
    type Code = Vec<Vec<Vec<Unit>>>;

    fn of_code(code: &Code) -> Block {
        let count = |units: &[Unit], unit| units.iter().filter(|u| **u == unit).count() as u64;
        let phases = code.first().map_or(0, Vec::len);
        let most = |p: usize, f: &dyn Fn(&[Unit]) -> u64| code.iter().map(|w| f(&w[p])).max().unwrap_or(0);
        let work = |f: &dyn Fn(Unit) -> u64| Work { loads: f(Unit::LoadStore), cores: f(Unit::Core) };
        Block {
            warps: code.len() as u64,
            all: work(&|unit| code.iter().flatten().map(|p| count(p, unit)).sum()),
            longest: work(&|unit| (0..phases).map(|p| most(p, &|u| count(u, unit))).sum()),
            steps: (0..phases).map(|p| most(p, &|u| u.len() as u64)).sum(),
        }
    }

    /// Blocks that are not alike, in any order, not all of them on the multiprocessor.
    #[test]
    fn schedules_of_several_kinds_never_exceed_it() {
        let mut dice = 0x2545_f491_4f6c_dd1du64;
        let mut roll = move |n: usize| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice % n as u64) as usize
        };
        let (mut tight, mut better) = (0, 0);
        for round in 0..3000 {
            let capacity = [Capacity::ONE, Capacity::new(2, 1).unwrap(), Capacity::new(3, 1).unwrap()];
            let machine = Machine { load_store: capacity[roll(2)], cores: capacity[roll(3)] };
            let kinds: Vec<(Code, usize)> = (0..1 + roll(3))
                .map(|_| {
                    let (warps, phases) = (1 + roll(3), 1 + roll(3));
                    let units = |roll: &mut dyn FnMut(usize) -> usize| {
                        (0..roll(5)).map(|_| Unit::ALL[roll(2)]).collect::<Vec<Unit>>()
                    };
                    let code = (0..warps).map(|_| (0..phases).map(|_| units(&mut roll)).collect()).collect();
                    (code, 1 + roll(3))
                })
                .collect();
            let mut there: Vec<&Code> = kinds.iter().flat_map(|(code, n)| vec![code; *n]).collect();
            let blocks: Vec<(Block, u64)> = kinds.iter().map(|(code, n)| (of_code(code), *n as u64)).collect();
            // some are on other multiprocessors
            let (on_one, resident) = (1 + roll(there.len()), 1 + roll(3));
            let mine: Vec<&Code> = (0..on_one).map(|_| there.swap_remove(roll(there.len()))).collect();
            let cycles = play(&mine, resident, &machine, &mut roll);
            let (n, r) = (on_one as u64, resident as u64);
            let (least, most) = (shortest_of(&blocks, n, r, &machine), bound_of(&blocks, n, r, &machine));
            assert!(least <= cycles && cycles <= most, "{round}: {least} {cycles} {most} {mine:?} {resident}");
            // no worse than if all of them were the largest
            let larger = |f: fn(&Block) -> u64| blocks.iter().map(|(b, _)| f(b)).max().unwrap_or(0);
            let largest = Block {
                warps: larger(|b| b.warps),
                all: Work { loads: larger(|b| b.all.loads), cores: larger(|b| b.all.cores) },
                longest: Work { loads: larger(|b| b.longest.loads), cores: larger(|b| b.longest.cores) },
                steps: larger(|b| b.steps),
            };
            let all = bound(&largest, n, r, &machine);
            assert!(most <= all);
            tight += u64::from(cycles == most);
            better += u64::from(most < all);
        }
        assert!(tight > 100 && better > 500, "{tight} {better}");
    }

    /// Cycles of a random work-conserving schedule.
    fn play(blocks: &[&Code], resident: usize, machine: &Machine, roll: &mut impl FnMut(usize) -> usize) -> u64 {
        // by block that is there: its code, and by warp phase and place in it
        let mut there: Vec<(&Code, Vec<(usize, usize)>)> = Vec::new();
        let (mut left, mut cycles) = (blocks.iter(), 0);
        loop {
            // who has passed all instructions of a phase waits there for the others of its block
            for (code, block) in &mut there {
                let waits = |((phase, at), warp): (&(usize, usize), &Vec<Vec<Unit>>)| {
                    warp.get(*phase).is_some_and(|p| *at == p.len())
                };
                while block.iter().zip(code.iter()).all(waits) {
                    block.iter_mut().for_each(|w| *w = (w.0 + 1, 0));
                }
            }
            there.retain(|(code, block)| block.iter().zip(code.iter()).any(|((phase, _), warp)| *phase < warp.len()));
            if there.len() < resident
                && let Some(code) = left.next()
            {
                there.push((code, vec![(0, 0); code.len()]));
                continue;
            }
            if there.is_empty() {
                return cycles;
            }
            cycles += 1;
            for unit in Unit::ALL {
                let mut ready: Vec<(usize, usize)> = Vec::new();
                for (b, (code, block)) in there.iter().enumerate() {
                    for (w, (phase, at)) in block.iter().enumerate() {
                        if code[w][*phase].get(*at) == Some(&unit) {
                            ready.push((b, w));
                        }
                    }
                }
                for _ in 0..ready.len().min(machine.of(unit).at_once() as usize) {
                    let (b, w) = ready.swap_remove(roll(ready.len()));
                    // it has run in this cycle: its next instruction is for the next one
                    there[b].1[w].1 += 1 << 32;
                }
            }
            for warp in there.iter_mut().flat_map(|(_, block)| block) {
                if warp.1 >> 32 > 0 {
                    warp.1 = (warp.1 & 0xffff_ffff) + 1;
                }
            }
        }
    }
}
