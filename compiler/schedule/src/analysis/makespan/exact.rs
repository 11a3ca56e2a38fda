//! # exact
//!
//! Purpose: the exact worst case, and a schedule that takes it. Input: a [`Problem`] that is not too large. Output: an [`Exact`]: the worst case
//! of every number of warps up to the one asked for, and of every state on the way.
//!
//! Warps are interchangeable, so a state says how many of them are at each instruction: of I instructions and W warps there are C(W + I, I)
//! states. With P_i the warps that have not gone past instruction i, a state is a sequence 0 ≤ P_0 ≤ … ≤ P_{I−1} ≤ W and has the rank
//!
//! ```text
//! Σ_i C(P_i + i, i + 1)        (the combinatorial number system)
//! ```
//!
//! A warp that performs instruction i lowers P_i by one and nothing else, so the rank falls by C(P_i + i − 1, i), whatever else moves in the
//! same cycle. States in the order of their ranks therefore come after all that can follow them: one pass over one array does it. Along P_0 the same
//! moves lead from all states but those at the ends, so what they are is found once for all of them.
//!
//! Source: paper 002 asks for the number; that warps can be counted is ours. Check: the integer program and brute force agree (tests).

use super::{Problem, Unit};

/// Why there is no exact answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotExact {
    /// So many states would have to be held: more than were allowed. `None` where they are beyond counting.
    States(Option<u64>),
    /// There may be so many ways on from one state, more than [`MOST_MOVES`]: units take many warps at once.
    Moves(u64),
    /// It was told to stop.
    Stopped,
}

/// The most ways on from a state: choices of warps for both kinds of unit.
pub const MOST_MOVES: u64 = 1 << 16;

/// What a search may use.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// States held at once; each takes two bytes or four.
    pub states: u64,
    /// Asked now and then: stop?
    pub stop: &'a dyn Fn() -> bool,
}

/// States between two questions whether to stop.
const ASK: usize = 1 << 18;

enum Table {
    Short(Vec<u16>),
    Long(Vec<u32>),
}

/// The worst case from every state.
pub struct Exact {
    ranks: Ranks,
    table: Table,
}

/// The number of states, C(W + I, I); `None` beyond 2^64.
pub fn states(instructions: usize, warps: u32) -> Option<u64> {
    let (few, many) = (u64::from(warps).min(instructions as u64), u64::from(warps).max(instructions as u64));
    let mut c: u128 = 1;
    for k in 1..=few {
        c = c * u128::from(many + k) / u128::from(k);
        if c > u128::from(u64::MAX) {
            return None;
        }
    }
    Some(c as u64)
}

/// At most so many ways lead on from a state: of k instructions for a unit that takes o warps, C(o + k − 1, o) choices.
fn most_moves(problem: &Problem) -> u64 {
    let of = |u: Unit| {
        let (k, o) = (problem.count(u) as usize, problem.at_once(u).min(problem.warps()));
        // A unit that takes all warps there are leaves no choice.
        if k == 0 || o == problem.warps() { Some(1) } else { states(k - 1, o) }
    };
    let [l, c] = Unit::ALL.map(|u| of(u).unwrap_or(u64::MAX));
    l.saturating_mul(c)
}

/// Computes it.
pub fn exact(problem: &Problem, limits: Limits) -> Result<Exact, NotExact> {
    let count = states(problem.units().len(), problem.warps()).ok_or(NotExact::States(None))?;
    let size = usize::try_from(count).map_err(|_| NotExact::States(None))?;
    if count > limits.states {
        return Err(NotExact::States(Some(count)));
    }
    let moves = most_moves(problem);
    if moves > MOST_MOVES {
        return Err(NotExact::Moves(moves));
    }
    let ranks = Ranks::new(problem);
    let table = if super::bounds::sound(problem) < u64::from(u16::MAX) {
        Table::Short(fill(&ranks, size, limits.stop)?)
    } else {
        Table::Long(fill(&ranks, size, limits.stop)?)
    };
    Ok(Exact { ranks, table })
}

impl Exact {
    /// The worst case of so many warps, at most those asked for.
    pub fn worst(&self, warps: u32) -> u64 {
        self.at(self.ranks.rank(&vec![warps.min(self.ranks.warps); self.ranks.units.len()]))
    }

    /// The worst case from a state: by instruction, the warps at it, no more than those asked for.
    pub fn of(&self, counts: &[u32]) -> u64 {
        let past = counts.iter().scan(0, |sum, n| {
            *sum += n;
            Some((*sum).min(self.ranks.warps))
        });
        self.at(self.ranks.rank(&past.collect::<Vec<u32>>()))
    }

    fn at(&self, rank: usize) -> u64 {
        match &self.table {
            Table::Short(t) => t[rank].into(),
            Table::Long(t) => t[rank].into(),
        }
    }

    /// A schedule of so many warps that takes as long: for each cycle the instructions at which warps run.
    pub fn witness(&self, warps: u32) -> Vec<Vec<u16>> {
        let r = &self.ranks;
        let mut p = vec![warps.min(r.warps); r.units.len()];
        let mut steps = Vec::new();
        let mut moves = Moves::default();
        loop {
            let rank = r.rank(&p);
            let left = self.at(rank);
            if left == 0 {
                return steps;
            }
            moves.find(r, &p);
            let next = moves.drops.iter().position(|d| self.at(rank - d) + 1 == left);
            let step = moves.step(r, &p, next.unwrap_or(0));
            step.iter().for_each(|i| p[*i as usize] -= 1);
            steps.push(step);
        }
    }
}

/// Ranks of states.
struct Ranks {
    units: Vec<Unit>,
    warps: u32,
    at_once: [u32; 2],
    /// By instruction i and p: C(p + i, i + 1).
    part: Vec<Vec<usize>>,
}

impl Ranks {
    fn new(problem: &Problem) -> Ranks {
        let (n, w) = (problem.units().len(), problem.warps() as usize);
        let mut part: Vec<Vec<usize>> = Vec::with_capacity(n);
        for i in 0..n {
            let mut row = vec![0; w + 1];
            for p in 1..=w {
                // C(p + i, i + 1) = C(p − 1 + i, i + 1) + C(p + i − 1, i); none is above C(W + I, I), which fits
                row[p] = row[p - 1] + if i == 0 { 1 } else { part[i - 1][p] };
            }
            part.push(row);
        }
        let at_once = Unit::ALL.map(|u| problem.at_once(u).min(problem.warps()));
        Ranks { units: problem.units().to_vec(), warps: problem.warps(), at_once, part }
    }

    fn rank(&self, p: &[u32]) -> usize {
        p.iter().zip(&self.part).map(|(p, part)| part[*p as usize]).sum()
    }
}

/// The ways out of a state, as falls of the rank.
#[derive(Default)]
struct Moves {
    drops: Vec<usize>,
    by_unit: [Vec<usize>; 2],
    /// By number of warps that run, sums for one unit.
    sums: Vec<Vec<usize>>,
}

impl Moves {
    fn find(&mut self, r: &Ranks, p: &[u32]) {
        for unit in Unit::ALL {
            self.of_unit(r, p, unit);
        }
        let [l, c] = &self.by_unit;
        self.drops.clear();
        self.drops.extend(l.iter().flat_map(|l| c.iter().map(move |c| l + c)));
    }

    fn of_unit(&mut self, r: &Ranks, p: &[u32], unit: Unit) {
        let out = &mut self.by_unit[unit as usize];
        out.clear();
        let most = r.at_once[unit as usize] as usize;
        let here = |i: usize| p[i] - if i == 0 { 0 } else { p[i - 1] };
        let at = (0..p.len()).filter(|i| r.units[*i] == unit && here(*i) > 0);
        if most == 1 {
            out.extend(at.map(|i| r.part[i][p[i] as usize] - r.part[i][p[i] as usize - 1]));
            if out.is_empty() {
                out.push(0);
            }
            return;
        }
        self.sums.iter_mut().for_each(Vec::clear);
        self.sums.resize(most + 1, Vec::new());
        self.sums[0].push(0);
        for i in at {
            for ran in (0..most).rev() {
                for more in 1..=(most - ran).min(here(i) as usize) {
                    let drop = r.part[i][p[i] as usize] - r.part[i][p[i] as usize - more];
                    let (low, high) = self.sums.split_at_mut(ran + more);
                    high[0].extend(low[ran].iter().map(|s| s + drop));
                }
            }
        }
        let ran = self.sums.iter().rposition(|s| !s.is_empty()).unwrap_or(0);
        out.append(&mut self.sums[ran]);
    }

    /// The instructions of the move whose fall is `drops[which]`, found again by trying: falls are sums over different instructions.
    fn step(&self, r: &Ranks, p: &[u32], which: usize) -> Vec<u16> {
        let pairs = self.by_unit[1].len();
        let mut step = Vec::new();
        for (unit, sum) in
            [(Unit::LoadStore, self.by_unit[0][which / pairs]), (Unit::Core, self.by_unit[1][which % pairs])]
        {
            let most = r.at_once[unit as usize];
            let at: Vec<usize> = (0..p.len()).filter(|i| r.units[*i] == unit).collect();
            let here = |i: usize| p[i] - if i == 0 { 0 } else { p[i - 1] };
            let ready: u32 = at.iter().map(|i| here(*i)).sum();
            pick(r, p, &at, &here, ready.min(most), sum, &mut step);
        }
        step.sort_unstable();
        step
    }
}

/// Finds `left` warps at the instructions `at` whose falls add up to `sum`; by depth first, at most as deep as the kernel is long, which is short here.
fn pick(
    r: &Ranks,
    p: &[u32],
    at: &[usize],
    here: &dyn Fn(usize) -> u32,
    left: u32,
    sum: usize,
    step: &mut Vec<u16>,
) -> bool {
    let Some((i, rest)) = at.split_first() else { return left == 0 && sum == 0 };
    for more in 0..=left.min(here(*i)) {
        let drop = r.part[*i][p[*i] as usize] - r.part[*i][(p[*i] - more) as usize];
        if drop > sum {
            break;
        }
        let before = step.len();
        step.extend(std::iter::repeat_n(*i as u16, more as usize));
        if pick(r, p, rest, here, left - more, sum - drop, step) {
            return true;
        }
        step.truncate(before);
    }
    false
}

/// Cycles, in as many bytes as they need.
trait Cycles: Copy + Ord + Default {
    fn after(self) -> Self;
}

impl Cycles for u16 {
    fn after(self) -> u16 {
        self + 1
    }
}

impl Cycles for u32 {
    fn after(self) -> u32 {
        self + 1
    }
}

fn fill<T: Cycles>(r: &Ranks, size: usize, stop: &dyn Fn() -> bool) -> Result<Vec<T>, NotExact> {
    let mut table: Vec<T> = Vec::new();
    table.try_reserve_exact(size).map_err(|_| NotExact::States(Some(size as u64)))?;
    table.resize(size, T::default());
    let n = r.units.len();
    let mut p = vec![0u32; n];
    let mut moves = Moves::default();
    let (mut base, mut asked) = (0, 0);
    // Moves are the same for all P_0 that leave the first two instructions with as many warps as their units take, or more.
    let low = r.at_once[r.units[0] as usize] as usize;
    let keep = if n > 1 { r.at_once[r.units[1] as usize] as usize } else { 0 };
    loop {
        let top = if n > 1 { p[1] } else { r.warps } as usize;
        let from = low.min(top + 1);
        let to = (top + 1).saturating_sub(keep).max(from);
        (0..from).for_each(|x| one(r, &mut p, x, &mut moves, &mut table, base));
        if from < to {
            p[0] = from as u32;
            moves.find(r, &p);
            middle(&moves.drops, &mut table, base + from, to - from);
        }
        (to..top + 1).for_each(|x| one(r, &mut p, x, &mut moves, &mut table, base));
        asked += top + 1 + 4 * moves.drops.len();
        if asked >= ASK {
            asked = 0;
            if stop() {
                return Err(NotExact::Stopped);
            }
        }
        // The next row: the first of P_1, P_2, … that can rise does, and all before it fall to 0.
        let Some(i) = (1..n).find(|i| p[*i] < if i + 1 < n { p[i + 1] } else { r.warps }) else { return Ok(table) };
        p[..i].fill(0);
        p[i] += 1;
        base = r.rank(&p);
    }
}

fn one<T: Cycles>(r: &Ranks, p: &mut [u32], x: usize, moves: &mut Moves, table: &mut [T], base: usize) {
    let rank = base + x;
    if rank > 0 {
        p[0] = x as u32;
        moves.find(r, p);
        table[rank] = moves.drops.iter().map(|d| table[rank - d]).max().unwrap_or_default().after();
    }
}

/// States of the ranks `from..from + count`, all with the same moves.
fn middle<T: Cycles>(drops: &[usize], table: &mut [T], from: usize, count: usize) {
    let (done, open) = table.split_at_mut(from);
    let open = &mut open[..count];
    let mut near: Vec<usize> = Vec::new();
    for drop in drops {
        if *drop < count {
            near.push(*drop);
            continue;
        }
        let source = &done[from - drop..][..count];
        open.iter_mut().zip(source).for_each(|(to, s)| *to = (*to).max(*s));
    }
    // Moves that lead to other states of these.
    if near.is_empty() {
        open.iter_mut().for_each(|to| *to = to.after());
        return;
    }
    for here in from..from + count {
        let best = near.iter().map(|d| table[here - d]).max().unwrap_or_default();
        table[here] = table[here].max(best).after();
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::{judge, name_warps};
    use super::super::{Capacity, Machine};
    use super::*;

    const ALL: Limits = Limits { states: 1 << 24, stop: &|| false };

    fn problem(kernel: &str, machine: &Machine, warps: u64) -> Problem {
        Problem::new(&kernel.parse().unwrap(), machine, warps).unwrap()
    }

    #[test]
    fn counts() {
        assert_eq!(states(5, 64), Some(11_238_513));
        assert_eq!(states(1, 1_000_000), Some(1_000_001));
        assert_eq!(states(100_000, 1_000_000), None);
    }

    #[test]
    fn worst_cases_and_witnesses() {
        let known: [(&str, &[u64]); 4] = [
            ("LLC", &[3, 5, 7, 9, 11, 13]),
            ("LLCLL", &[5, 9, 13, 17, 21, 25]),
            ("LCLCL", &[5, 6, 11, 14, 17, 20]),
            ("LC", &[2, 3, 4, 5, 6, 7]),
        ];
        for (kernel, expected) in known {
            let p = problem(kernel, &Machine::ONE, 6);
            let e = exact(&p, ALL).unwrap();
            let worst: Vec<u64> = (1..=6).map(|w| e.worst(w)).collect();
            assert_eq!(worst, expected, "{kernel}");
            for w in 1..=6 {
                let p = p.with_warps(w);
                assert_eq!(judge(&p, &name_warps(&p, &e.witness(w)).unwrap()), Ok(e.worst(w)), "{kernel} {w}");
            }
        }
    }

    #[test]
    fn several_warps_at_once() {
        let two = Machine { load_store: Capacity::new(2, 1).unwrap(), cores: Capacity::new(4, 1).unwrap() };
        assert_eq!(exact(&problem("LL", &two, 4), ALL).unwrap().worst(4), 5);
        let p = problem("LCLCCL", &two, 9);
        let e = exact(&p, ALL).unwrap();
        assert_eq!(judge(&p, &name_warps(&p, &e.witness(9)).unwrap()), Ok(e.worst(9)));
    }

    #[test]
    fn one_instruction_and_long_ones() {
        assert_eq!(exact(&problem("L", &Machine::ONE, 100_000), ALL).unwrap().worst(100_000), 100_000);
        let p = problem("C", &Machine::ONE, 7);
        assert_eq!(exact(&p, ALL).unwrap().witness(7).len(), 7);
    }

    #[test]
    fn limits() {
        let p = problem("LCLCLCLC", &Machine::ONE, 24);
        let few = Limits { states: 1000, stop: &|| false };
        assert_eq!(exact(&p, few).err(), Some(NotExact::States(Some(10_518_300))));
        let many = Machine { load_store: Capacity::new(16, 1).unwrap(), cores: Capacity::new(16, 1).unwrap() };
        let p40 = problem("LCLCLCLC", &many, 17);
        assert_eq!(exact(&p40, ALL).err(), Some(NotExact::Moves(969 * 969)));
        let stopped = Limits { stop: &|| true, ..ALL };
        assert_eq!(exact(&p, stopped).err(), Some(NotExact::Stopped));
    }
}
