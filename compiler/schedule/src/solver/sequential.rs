//! # schedules on one processor
//!
//! Purpose: the two classical orders of a task graph as modulo schedules, so that all methods can be compared: everything on processor 0 in
//! stage 0, the II is the whole work. Input: problem. Output: a candidate.
//!
//! - single appearance: all instances of a task one after the other, where no loop stands against it. Source: S. Bhattacharyya, P.
//!   Murthy, E. Lee, "Software Synthesis from Dataflow Graphs", Kluwer 1996.
//! - minimum latency: on demand. For each instance that nothing in the iteration waits for, only what it needs, as late as can be.

use super::arcs::Arcs;
use crate::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::BTreeSet;

/// All instances of a task together as far as can be.
pub fn single_appearance(problem: &ModuloProblem) -> ModuloSchedule {
    let arcs = Arcs::new(problem);
    let (tasks, n) = (problem.graph().tasks.len(), problem.instances());
    // Within the iteration: dependences that an instance waits for; and those of a task's instances on other tasks.
    let (mut waits, mut foreign) = (vec![0u32; n], vec![0u64; tasks]);
    let within = |i: usize| arcs.after(i).iter().filter(|l| l.distance == 0).map(|l| l.other as usize);
    for (from, to) in (0..n).flat_map(|i| within(i).map(move |to| (i, to))) {
        waits[to] += 1;
        foreign[problem.task_of(to)] += u64::from(problem.task_of(from) != problem.task_of(to));
    }
    let mut ready: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); tasks];
    let (mut free, mut some) = (BTreeSet::new(), BTreeSet::new());
    for i in (0..n).filter(|i| waits[*i] == 0) {
        let v = problem.task_of(i);
        ready[v].insert(i);
        some.insert(v);
        if foreign[v] == 0 {
            free.insert(v);
        }
    }
    let mut order = Vec::with_capacity(n);
    // A task that waits for no other one runs whole; where there is none, the first one that can runs as far as it gets.
    while let Some(v) = free.first().or(some.first()).copied() {
        while let Some(i) = ready[v].pop_first() {
            order.push(i);
            for to in within(i) {
                let w = problem.task_of(to);
                foreign[w] -= u64::from(w != v);
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready[w].insert(to);
                    some.insert(w);
                }
                if foreign[w] == 0 && !ready[w].is_empty() {
                    free.insert(w);
                }
            }
        }
        free.remove(&v);
        some.remove(&v);
    }
    in_order(problem, &order)
}

/// Each instance at the end of the iteration as early as can be, the others when they are needed.
pub fn minimum_latency(problem: &ModuloProblem) -> ModuloSchedule {
    let arcs = Arcs::new(problem);
    let n = problem.instances();
    let last = |i: &usize| arcs.after(*i).iter().all(|l| l.distance > 0);
    let mut ends: Vec<usize> = (0..n).filter(last).collect();
    // Side by side: the first of every task, then the second.
    let share = |i: usize| {
        let of = problem.graph().tasks[problem.task_of(i)].instances;
        (u128::from(problem.number_of(i)) << 64) / u128::from(of)
    };
    ends.sort_by_key(|i| (share(*i), arcs.rank[*i]));
    let (mut done, mut order) = (vec![false; n], Vec::with_capacity(n));
    for end in ends {
        let mut path = vec![(end, 0)];
        while let Some(top) = path.last_mut() {
            let (i, at) = *top;
            if done[i] {
                path.pop();
                continue;
            }
            match arcs.before(i).get(at) {
                Some(link) => {
                    top.1 += 1;
                    if link.distance == 0 && !done[link.other as usize] {
                        path.push((link.other as usize, 0));
                    }
                }
                None => {
                    done[i] = true;
                    order.push(i);
                    path.pop();
                }
            }
        }
    }
    in_order(problem, &order)
}

/// Everything on processor 0 in an order that keeps to the dependences within the iteration.
pub fn in_order(problem: &ModuloProblem, order: &[usize]) -> ModuloSchedule {
    let n = problem.instances();
    let mut s =
        ModuloSchedule { ii: problem.graph().work(), processor: vec![0; n], start: vec![0; n], stage: vec![0; n] };
    let mut at = 0;
    for i in order {
        s.start[*i] = at;
        at += problem.cost(*i);
    }
    s
}
