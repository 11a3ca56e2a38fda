//! A naive machine that runs a schedule: kernels one after the other, one every II; each processor runs its instances by their starts;
//! processors take turns at random within a kernel; what one writes, the others see after the kernel, and before that only by
//! chance; channels are ring buffers. Instances compute values that depend on all they have seen, so a wrong or stale item shows.
//! It knows nothing of dependences or of the judge: what an iteration computes is known from running everything in order on endless channels.

use crate::random::Dice;
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};
use std::collections::HashMap;

/// How writes of other processors look like within a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Never there: what waits for them finds the old item.
    Late,
    /// There at once: what still needs the old item finds the new one.
    Soon,
    /// One or the other.
    Chance,
}

fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (x >> 7)
}

/// A memory cell: what all see, and what one processor has written in this kernel.
#[derive(Clone, Copy, Default)]
struct Cell {
    seen: u64,
    new: Option<(u64, u32)>,
}

impl Cell {
    fn read(&self, processor: u32, sight: Sight, dice: &mut Dice) -> u64 {
        match self.new {
            Some((value, by)) if by == processor => value,
            Some((value, _)) if sight == Sight::Soon || (sight == Sight::Chance && dice.roll(2) == 0) => value,
            _ => self.seen,
        }
    }

    fn write(&mut self, value: u64, processor: u32) {
        self.new = Some((value, processor));
    }

    fn commit(&mut self) {
        if let Some((value, _)) = self.new.take() {
            self.seen = value;
        }
    }
}

/// What instances compute: by task and number of all its instances so far.
type Values = HashMap<(usize, u64), u64>;

/// The item at a place of a channel, made by an instance or there from the start.
fn initial(edge: usize, x: u64) -> u64 {
    mix(0xe000 + edge as u64, x)
}

fn made(value: u64, edge: usize, nth: u64) -> u64 {
    mix(value, (edge as u64) << 32 | nth)
}

/// What so many iterations compute, everything in order. Panics where nothing can run: that is the problem's fault.
pub fn reference(p: &ModuloProblem, iterations: u64) -> Values {
    let g = p.graph();
    let mut queues: Vec<Vec<u64>> =
        g.edges.iter().enumerate().map(|(i, e)| (0..e.initial).map(|x| initial(i, x)).collect()).collect();
    let mut done = vec![0u64; g.tasks.len()];
    let mut state = vec![0u64; g.tasks.len()];
    let mut values = Values::new();
    loop {
        let mut ran = false;
        for (v, task) in g.tasks.iter().enumerate() {
            while done[v] < task.instances * iterations {
                let number = done[v];
                let into = || g.edges.iter().enumerate().filter(|(_, e)| e.to == v && e.produce > 0);
                if into().any(|(i, e)| (queues[i].len() as u64) < number * e.consume + e.peek) {
                    break;
                }
                let mut value = mix(v as u64 + 1, number + 1);
                if task.serial {
                    value = mix(value, state[v]);
                }
                for (i, e) in into() {
                    let from = (number * e.consume) as usize;
                    queues[i][from..from + e.peek as usize].iter().for_each(|x| value = mix(value, *x));
                }
                state[v] = value;
                for (i, e) in g.edges.iter().enumerate().filter(|(_, e)| e.from == v) {
                    queues[i].extend((0..e.produce).map(|n| made(value, i, n)));
                }
                values.insert((v, number), value);
                done[v] += 1;
                ran = true;
            }
        }
        if !ran {
            break;
        }
    }
    assert!(g.tasks.iter().zip(&done).all(|(t, d)| *d == t.instances * iterations), "{done:?}");
    values
}

/// Runs so many iterations; `Err` tells what went wrong first. Capacities are items of each edge's ring.
pub fn run(
    p: &ModuloProblem,
    s: &ModuloSchedule,
    capacity: &[u64],
    iterations: u64,
    want: &Values,
    sight: Sight,
    dice: &mut Dice,
) -> Result<(), String> {
    let g = p.graph();
    let mut rings: Vec<Vec<Cell>> = capacity.iter().map(|c| vec![Cell::default(); *c as usize]).collect();
    for (i, e) in g.edges.iter().enumerate() {
        if e.initial > capacity[i] {
            return Err(format!("channel {i} does not hold what is there at the start"));
        }
        (0..e.initial).for_each(|x| rings[i][x as usize].seen = initial(i, x));
    }
    let mut state = vec![Cell::default(); g.tasks.len()];
    // By instance, iterations that it has run.
    let mut runs = vec![Cell::default(); p.instances()];
    let mut lists: Vec<Vec<usize>> = vec![Vec::new(); p.processors() as usize];
    for i in 0..p.instances() {
        match lists.get_mut(s.processor[i] as usize) {
            Some(list) => list.push(i),
            None => return Err(format!("no processor {}", s.processor[i])),
        }
    }
    for list in &mut lists {
        list.sort_by_key(|i| (s.start[*i], *i));
        let mut clock = 0;
        for i in list {
            if s.start[*i] < clock {
                return Err(format!("{} starts while another one runs", p.name_of(*i)));
            }
            clock = s.start[*i] + p.cost(*i);
            if clock > s.ii {
                return Err(format!("{} still runs when the next kernel starts", p.name_of(*i)));
            }
        }
    }
    let stages = s.stage.iter().max().map_or(0, |f| u64::from(*f) + 1);
    for kernel in 0..iterations + stages - 1 {
        let mut next = vec![0; lists.len()];
        loop {
            let busy: Vec<usize> = (0..lists.len()).filter(|q| next[*q] < lists[*q].len()).collect();
            let Some(q) = busy.get(dice.roll(busy.len().max(1) as u64) as usize).copied() else { break };
            let i = lists[q][next[q]];
            next[q] += 1;
            let Some(j) = kernel.checked_sub(s.stage[i].into()).filter(|j| *j < iterations) else { continue };
            let (v, q) = (p.task_of(i), q as u32);
            let number = j * g.tasks[v].instances + p.number_of(i);
            let mut value = mix(v as u64 + 1, number + 1);
            if g.tasks[v].serial {
                value = mix(value, state[v].read(q, sight, dice));
            }
            for (e, edge) in g.edges.iter().enumerate().filter(|(_, e)| e.to == v && e.produce > 0) {
                for x in number * edge.consume..number * edge.consume + edge.peek {
                    value = mix(value, rings[e][(x % capacity[e]) as usize].read(q, sight, dice));
                }
            }
            if value != want[&(v, number)] {
                return Err(format!("{} computes something else in iteration {j}, kernel {kernel}", p.name_of(i)));
            }
            for o in g.orders.iter().filter(|o| p.instance(o.after.0, o.after.1) == i) {
                let before = p.instance(o.before.0, o.before.1);
                if runs[before].read(q, sight, dice) < (j + 1).saturating_sub(o.distance) {
                    return Err(format!("{} misses a message of {}", p.name_of(i), p.name_of(before)));
                }
            }
            state[v].write(value, q);
            runs[i].write(j + 1, q);
            for (e, edge) in g.edges.iter().enumerate().filter(|(_, e)| e.from == v) {
                for n in 0..edge.produce {
                    let x = edge.initial + number * edge.produce + n;
                    rings[e][(x % capacity[e]) as usize].write(made(value, e, n), q);
                }
            }
        }
        rings.iter_mut().flatten().for_each(Cell::commit);
        state.iter_mut().chain(&mut runs).for_each(Cell::commit);
    }
    Ok(())
}

/// Iterations that are enough to see everything that can go wrong: the pipeline full, and all that was there at the start used up.
pub fn enough(p: &ModuloProblem, s: &ModuloSchedule) -> u64 {
    let stages = s.stage.iter().max().map_or(0, |f| u64::from(*f) + 1);
    let g = p.graph();
    let delay = |e: &sluice_schedule::problem::task::Edge| match e.consume * g.tasks[e.to].instances {
        0 => 0,
        all => e.initial.div_ceil(all),
    };
    let orders = g.orders.iter().map(|o| o.distance);
    stages + g.edges.iter().map(delay).chain(orders).max().unwrap_or(0) + 2
}

/// Rings in which nothing is ever written over.
pub fn endless(p: &ModuloProblem, iterations: u64) -> Vec<u64> {
    let g = p.graph();
    let of = |e: &sluice_schedule::problem::task::Edge| e.initial + e.produce * g.tasks[e.from].instances * iterations;
    g.edges.iter().map(|e| of(e).max(1)).collect()
}
