//! # dependences
//!
//! Purpose: what instructions of a loop wait for. Input: its [`Instruction`]s and the step of its variable. Output: [`Dependence`]s, within a turn
//! (distance 0) and from a turn to a later one.
//!
//! ```text
//! load r0  add r1 r0  store r1   →   load →4 add →1 store; and back, a turn later: add → load, store → add
//! ```
//!
//! Registers are not renamed: a register is read before it is written again (latency 0: an instruction reads when it is issued), and two
//! writes end in their order. Accesses to memory that may meet stay in their order: after how many turns they meet follows from their
//! addresses; where these are not known, they may meet always.

use super::address::gap;
use super::instructions::{Instruction, Kind, Register, Touch};
use std::collections::BTreeMap;

/// `to`, `distance` turns later, is issued at least `latency` cycles after `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// Who is waited for.
    pub from: usize,
    /// Who waits.
    pub to: usize,
    /// Turns between them.
    pub distance: u64,
    /// Cycles.
    pub latency: u64,
}

/// All of a loop.
pub fn dependences(all: &[Instruction], step: i32) -> Vec<Dependence> {
    let mut out = Vec::new();
    registers(all, &mut out);
    memory(all, step, &mut out);
    out.sort_unstable();
    out.dedup();
    out
}

fn registers(all: &[Instruction], out: &mut Vec<Dependence>) {
    let mut writes: BTreeMap<Register, Vec<usize>> = BTreeMap::new();
    for (i, n) in all.iter().enumerate() {
        if let Some(r) = n.writes {
            writes.entry(r).or_default().push(i);
        }
    }
    for (to, n) in all.iter().enumerate() {
        for r in &n.reads {
            let Some(w) = writes.get(r) else { continue };
            let next = w.partition_point(|i| *i < to);
            // the last write before, or that of the turn before
            let (from, distance) = if next > 0 { (w[next - 1], 0) } else { (w[w.len() - 1], 1) };
            out.push(Dependence { from, to, distance, latency: all[from].latency });
            // the next write; its own reads before it writes
            let (writer, distance) = if next < w.len() { (w[next], 0) } else { (w[0], 1) };
            if writer != to {
                out.push(Dependence { from: to, to: writer, distance, latency: 0 });
            }
        }
    }
    for w in writes.values() {
        let again = w.iter().skip(1).map(|i| (*i, 0)).chain([(w[0], 1)]);
        for (from, (to, distance)) in w.iter().zip(again) {
            let latency = (all[*from].latency + 1).saturating_sub(all[to].latency).max(1);
            out.push(Dependence { from: *from, to, distance, latency });
        }
    }
}

/// Cycles between two that must stay in order; `None` where they need not.
fn order(a: &Instruction, b: &Instruction) -> Option<u64> {
    match (&a.touches, &b.touches) {
        (None, _) | (_, None) => None,
        (Some(Touch::Everything), _) => Some(a.latency),
        (_, Some(Touch::Everything)) => Some(1),
        _ => match (a.kind, b.kind) {
            (Kind::Load, Kind::Load) => None,
            // what is stored is there when the store has ended
            (Kind::Store, Kind::Load) => Some(a.latency),
            (Kind::Load, _) => Some(0),
            _ => Some(1),
        },
    }
}

fn memory(all: &[Instruction], step: i32, out: &mut Vec<Dependence>) {
    let touching: Vec<usize> = (0..all.len()).filter(|i| all[*i].touches.is_some()).collect();
    for (k, i) in touching.iter().copied().enumerate() {
        for j in touching[k..].iter().copied() {
            let (forward, back) = (order(&all[i], &all[j]), order(&all[j], &all[i]));
            let (Some(forward), Some(back)) = (forward, back) else { continue };
            let mut push = |from, to, distance: i64, latency| {
                out.push(Dependence { from, to, distance: distance.unsigned_abs(), latency });
            };
            let (Some(Touch::Element(a)), Some(Touch::Element(b))) = (&all[i].touches, &all[j].touches) else {
                if i != j {
                    push(i, j, 0, forward);
                }
                push(j, i, 1, back);
                continue;
            };
            if a.memory != b.memory {
                continue;
            }
            let met = gap(a, b, 0).zip(gap(a, b, step)).map(|(now, next)| (now, next - now));
            match met {
                // always the same element, or never
                Some((0, 0)) | None => {
                    if i != j {
                        push(i, j, 0, forward);
                    }
                    push(j, i, 1, back);
                }
                Some((_, 0)) => {}
                Some((now, turn)) if now % turn == 0 => match -(now / turn) {
                    0 if i == j => {}
                    d if d >= 0 => push(i, j, d, forward),
                    d => push(j, i, d, back),
                },
                Some(_) => {}
            }
        }
    }
}

/// The cycles of a turn that cycles of dependences ask for: RecMII.
pub fn rec_mii(instructions: usize, all: &[Dependence]) -> u64 {
    let (mut low, mut high) = (1, all.iter().map(|d| d.latency).sum::<u64>().max(1));
    // a cycle has a distance, so that the sum of all latencies is enough
    while low < high {
        let middle = low + (high - low) / 2;
        if lengths(instructions, all, middle).is_some() { high = middle } else { low = middle + 1 }
    }
    low
}

/// By instruction: the longest way from it to any other where turns begin every `ii` cycles; `None` where a cycle does not fit.
pub(super) fn lengths(instructions: usize, all: &[Dependence], ii: u64) -> Option<Vec<i64>> {
    let mut out = vec![0i64; instructions];
    for _ in 0..=instructions {
        let mut changed = false;
        for d in all {
            let through = out[d.to] + d.latency as i64 - (ii * d.distance) as i64;
            if through > out[d.from] {
                out[d.from] = through;
                changed = true;
            }
        }
        if !changed {
            return Some(out);
        }
    }
    None
}
