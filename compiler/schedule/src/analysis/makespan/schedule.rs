//! # schedule
//!
//! Purpose: schedules of warps, the simulator that makes legal ones, and the judge of witnesses, which knows nothing of solvers. Input: a
//! [`Problem`] and who runs when. Output: the makespan, or the first rule that is broken.
//!
//! The rules (paper 002, section 2): a warp performs its instructions in order, at most one per cycle; a unit takes at most o warps per cycle;
//! no unit has room while a warp is ready for it (work-conserving).

use super::{Problem, Unit};
use std::fmt;

/// By cycle, the warps that perform their next instruction in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Warps in ascending order, for each cycle.
    pub cycles: Vec<Vec<u32>>,
}

/// What is wrong with a schedule; cycles count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// In a cycle a warp runs that is not one of the problem's, is done, or has run in this cycle.
    Warp(usize, u32),
    /// In a cycle a unit takes more warps than it can.
    Full(usize, Unit),
    /// In a cycle a unit has room and a warp is ready for it.
    Idle(usize, Unit),
    /// A cycle after all warps were done.
    Over(usize),
    /// Warps that are not done in the end.
    Unfinished(usize),
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Illegal::Warp(t, w) => write!(f, "cycle {t}: warp {w} cannot run"),
            Illegal::Full(t, u) => write!(f, "cycle {t}: too many warps on {}", u.letter()),
            Illegal::Idle(t, u) => write!(f, "cycle {t}: a warp is ready and {} has room", u.letter()),
            Illegal::Over(t) => write!(f, "cycle {t}: all warps are done"),
            Illegal::Unfinished(n) => write!(f, "{n} warps are not done"),
        }
    }
}

/// Replays a schedule by every rule; its makespan.
pub fn judge(problem: &Problem, schedule: &Schedule) -> Result<u64, Illegal> {
    let units = problem.units();
    let mut done = vec![0usize; problem.warps() as usize];
    let mut ready = [0u64; 2];
    ready[units[0] as usize] = problem.warps().into();
    let mut ran_in = vec![usize::MAX; done.len()];
    for (t, warps) in schedule.cycles.iter().enumerate() {
        if ready == [0, 0] {
            return Err(Illegal::Over(t));
        }
        let mut ran = [0u64; 2];
        for w in warps {
            let at = *w as usize;
            if at >= done.len() || done[at] >= units.len() || ran_in[at] == t {
                return Err(Illegal::Warp(t, *w));
            }
            ran_in[at] = t;
            ran[units[done[at]] as usize] += 1;
        }
        for unit in Unit::ALL {
            let (room, ran, ready) = (problem.at_once(unit).into(), ran[unit as usize], ready[unit as usize]);
            if ran > room {
                return Err(Illegal::Full(t, unit));
            }
            if ran < room && ran < ready {
                return Err(Illegal::Idle(t, unit));
            }
        }
        for w in warps {
            let pc = &mut done[*w as usize];
            ready[units[*pc] as usize] -= 1;
            *pc += 1;
            if let Some(next) = units.get(*pc) {
                ready[*next as usize] += 1;
            }
        }
    }
    match done.iter().filter(|pc| **pc < units.len()).count() {
        0 => Ok(schedule.cycles.len() as u64),
        n => Err(Illegal::Unfinished(n)),
    }
}

/// Runs a work-conserving scheduler. `choose` gets the warps ready for a unit, in ascending order, with the instruction that each is at, and how
/// many of them run: the first that many as it leaves the list.
pub fn simulate(problem: &Problem, mut choose: impl FnMut(Unit, &mut [(u32, usize)], usize)) -> Schedule {
    let units = problem.units();
    let mut pc = vec![0usize; problem.warps() as usize];
    let mut schedule = Schedule::default();
    loop {
        let mut now = Vec::new();
        for unit in Unit::ALL {
            let ready = pc.iter().enumerate().filter(|(_, at)| units.get(**at) == Some(&unit));
            let mut ready: Vec<(u32, usize)> = ready.map(|(w, at)| (w as u32, *at)).collect();
            let run = ready.len().min(problem.at_once(unit) as usize);
            if run < ready.len() {
                choose(unit, &mut ready, run);
            }
            now.extend(ready[..run].iter().map(|(w, _)| *w));
        }
        if now.is_empty() {
            return schedule;
        }
        now.sort_unstable();
        now.iter().for_each(|w| pc[*w as usize] += 1);
        schedule.cycles.push(now);
    }
}

/// Names the warps of a schedule that only says, by cycle, at which instructions warps run; of several at one, the one that came there first
/// runs. `None` where there is no warp at such an instruction.
pub fn name_warps(problem: &Problem, steps: &[Vec<u16>]) -> Option<Schedule> {
    let mut at = vec![std::collections::VecDeque::new(); problem.units().len() + 1];
    at[0].extend(0..problem.warps());
    let mut schedule = Schedule::default();
    for step in steps {
        let moved: Vec<(u32, usize)> = step
            .iter()
            .map(|i| Some((at.get_mut(*i as usize)?.pop_front()?, *i as usize + 1)))
            .collect::<Option<_>>()?;
        moved.iter().for_each(|(w, to)| at[*to].push_back(*w));
        let mut now: Vec<u32> = moved.into_iter().map(|(w, _)| w).collect();
        now.sort_unstable();
        schedule.cycles.push(now);
    }
    Some(schedule)
}

#[cfg(test)]
mod tests {
    use super::super::Machine;
    use super::*;

    fn problem(kernel: &str, warps: u64) -> Problem {
        Problem::new(&kernel.parse().unwrap(), &Machine::ONE, warps).unwrap()
    }

    fn of(cycles: &[&[u32]]) -> Schedule {
        Schedule { cycles: cycles.iter().map(|c| c.to_vec()).collect() }
    }

    #[test]
    fn each_rule_is_judged() {
        let p = problem("LC", 2);
        assert_eq!(judge(&p, &of(&[&[0], &[0, 1], &[1]])), Ok(3));
        assert_eq!(judge(&p, &of(&[&[0], &[0, 2], &[1]])), Err(Illegal::Warp(1, 2)));
        assert_eq!(judge(&p, &of(&[&[0], &[0, 0], &[1]])), Err(Illegal::Warp(1, 0)));
        assert_eq!(judge(&p, &of(&[&[0, 1], &[0], &[1]])), Err(Illegal::Full(0, Unit::LoadStore)));
        assert_eq!(judge(&p, &of(&[&[0], &[0], &[1], &[1]])), Err(Illegal::Idle(1, Unit::LoadStore)));
        assert_eq!(judge(&p, &of(&[&[0], &[1], &[0], &[1]])), Err(Illegal::Idle(1, Unit::Core)));
        assert_eq!(judge(&p, &of(&[&[0], &[0, 1]])), Err(Illegal::Unfinished(1)));
        assert_eq!(judge(&p, &of(&[&[0], &[0, 1], &[1], &[]])), Err(Illegal::Over(3)));
        assert_eq!(judge(&p, &of(&[&[0], &[0, 1], &[0, 1]])), Err(Illegal::Warp(2, 0)));
    }

    #[test]
    fn the_simulator_is_legal() {
        let p = problem("LLCLC", 5);
        for newest in [false, true] {
            let s = simulate(&p, |_, ready, _| {
                if newest {
                    ready.reverse();
                }
            });
            assert_eq!(judge(&p, &s), Ok(s.cycles.len() as u64));
        }
    }

    #[test]
    fn warps_get_names() {
        let p = problem("LC", 2);
        assert_eq!(name_warps(&p, &[vec![0], vec![0, 1], vec![1]]), Some(of(&[&[0], &[0, 1], &[1]])));
        assert_eq!(name_warps(&p, &[vec![1]]), None);
    }
}
