//! # judge
//!
//! Purpose: whether a modulo schedule computes what the loop does. Input: instructions, a machine and a schedule. Output: what is wrong.
//! It knows no dependences: it lets turns run, one after the other as the program says and overlapped as the schedule says, and compares
//! where each value that is read comes from, and the order of accesses to each element.

use super::address::may_meet;
use super::instructions::{Instruction, Kind, Register, Touch};
use super::machine::Core;
use super::schedule::Kernel;
use std::collections::BTreeMap;

/// An instruction, and the turn that it belongs to.
pub type Instance = (usize, u64);

/// What is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Not a cycle for each instruction, or no II.
    Shape,
    /// More instructions in a cycle (modulo II) than are issued.
    Crowded(u64),
    /// The jump is not in the last cycle of the kernel.
    Jump,
    /// An instruction reads a register before the value is there, or another value than the program's.
    Value {
        /// Who reads.
        reader: Instance,
        /// What.
        register: Register,
    },
    /// Two writes of a register do not end in their order.
    Overwritten(Register),
    /// Two accesses to what may be the same element, or a check and what must stay on its side, are not in the program's order.
    Order(Instance, Instance),
}

/// Accepts or refuses a schedule of a loop whose variable takes such steps.
pub fn judge(all: &[Instruction], step: i32, core: &Core, schedule: &Kernel) -> Result<(), Wrong> {
    let Kernel { ii, start } = schedule;
    let ii = *ii;
    if ii == 0 || start.len() != all.len() {
        return Err(Wrong::Shape);
    }
    let mut crowd: BTreeMap<u64, u32> = BTreeMap::new();
    for (n, at) in all.iter().zip(start) {
        let there = crowd.entry(at % ii).or_default();
        *there += 1;
        if *there > core.issue.max(1) {
            return Err(Wrong::Crowded(at % ii));
        }
        if n.kind == Kind::Jump && at % ii != ii - 1 {
            return Err(Wrong::Jump);
        }
    }
    // instances that are further apart than a turn is long do not overlap
    let longest = all.iter().map(|n| n.latency).max().unwrap_or(0);
    let turns = (start.iter().max().unwrap_or(&0) + longest) / ii + 3;
    let time = |(i, turn): Instance| start[i] + ii * turn;
    values(all, turns, &time)?;
    order(all, step, turns, &time)
}

/// Follows the registers.
fn values(all: &[Instruction], turns: u64, time: &dyn Fn(Instance) -> u64) -> Result<(), Wrong> {
    // by register: its writes, as they are issued
    let mut issued: BTreeMap<Register, Vec<(u64, Instance)>> = BTreeMap::new();
    for turn in 0..turns {
        for (i, n) in all.iter().enumerate() {
            if let Some(r) = n.writes {
                issued.entry(r).or_default().push((time((i, turn)), (i, turn)));
            }
        }
    }
    for (r, writes) in &mut issued {
        writes.sort_unstable();
        let ends = |w: &(u64, Instance)| w.0 + all[w.1.0].latency;
        if writes.windows(2).any(|w| ends(&w[0]) >= ends(&w[1])) {
            return Err(Wrong::Overwritten(*r));
        }
    }
    let mut written: BTreeMap<Register, Instance> = BTreeMap::new();
    for turn in 0..turns {
        for (i, n) in all.iter().enumerate() {
            let now = time((i, turn));
            for r in &n.reads {
                let writes = issued.get(r).map_or(&[][..], Vec::as_slice);
                let latest = writes[..writes.partition_point(|w| w.0 < now)].last();
                let there = latest.is_none_or(|w| w.0 + all[w.1.0].latency <= now);
                if !there || latest.map(|w| w.1) != written.get(r).copied() {
                    return Err(Wrong::Value { reader: (i, turn), register: *r });
                }
            }
            if let Some(r) = n.writes {
                written.insert(r, (i, turn));
            }
        }
    }
    Ok(())
}

/// Follows memory: each access against all that come later in the program and may meet it.
fn order(all: &[Instruction], step: i32, turns: u64, time: &dyn Fn(Instance) -> u64) -> Result<(), Wrong> {
    let touching: Vec<usize> = (0..all.len()).filter(|i| all[*i].touches.is_some()).collect();
    for first in &touching {
        for second in &touching {
            // the first turn stands for all: what counts is how many lie between
            for turn in u64::from(second <= first)..turns {
                let (a, b) = ((*first, 0), (*second, turn));
                let (x, y) = (&all[*first], &all[*second]);
                let far = step.wrapping_mul(turn as i32);
                let wait = match (&x.touches, &y.touches) {
                    (Some(Touch::Element(p)), Some(Touch::Element(q))) => {
                        if (x.kind, y.kind) == (Kind::Load, Kind::Load) || !may_meet(p, q, far) {
                            continue;
                        }
                        match (x.kind, y.kind) {
                            (Kind::Store, Kind::Load) => x.latency,
                            (Kind::Load, _) => 0,
                            _ => 1,
                        }
                    }
                    // nothing passes a check that may stop the program
                    (Some(Touch::Everything), _) => x.latency,
                    _ => 1,
                };
                if time(a) + wait > time(b) {
                    return Err(Wrong::Order(a, b));
                }
            }
        }
    }
    Ok(())
}
