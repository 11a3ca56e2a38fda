//! # judge of modulo schedules
//!
//! Purpose: passes or refuses a [`ModuloSchedule`], knowing nothing of how it was made, nor of [`super::dependences`]: it follows the items.
//! Input: problem and candidate. Output: a [`Verified`] schedule with the buffer of every edge, or the [`Violation`]s, at most [`MOST`].
//! Rules, each with a name of its own: every instance has a processor that exists (1), fits between two kernel launches (4), and overlaps no
//! other on its processor (2); every item that an instance sees was made before ([`Violation::TooEarly`]) and, if on another processor, in
//! an earlier kernel ([`Violation::NotVisible`]) (8); serial instances follow one another; messages are not missed; the first
//! stage is used, so that stages count what is there.
//!
//! As the schedule repeats, one iteration late enough that no item of it was there from the start stands for all: an earlier one has
//! fewer items to wait for.

use super::modulo::{ModuloProblem, ModuloSchedule};
use super::task::Edge;

/// Violations that are told.
pub const MOST: usize = 20;

/// What is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Not one entry for each instance, or an initiation interval of 0.
    Shape,
    /// (1) A processor that does not exist.
    Processor {
        /// Which instance.
        instance: usize,
    },
    /// (4) An instance that has not ended when the kernel ends.
    Overrun {
        /// Which instance.
        instance: usize,
    },
    /// (2) Two instances at one time on one processor.
    Overlap {
        /// The earlier one.
        first: usize,
        /// The one that starts before it has ended.
        second: usize,
    },
    /// (8) An instance that starts before one on the same processor has made its items.
    TooEarly {
        /// The edge; `None` where it is state or a message that is not there yet.
        edge: Option<usize>,
        /// Who has to come first.
        producer: usize,
        /// Who starts too early.
        consumer: usize,
    },
    /// (7), (8) An instance that runs in the kernel in which another processor makes its items, or before.
    NotVisible {
        /// The edge; `None` where it is state or a message that is not visible yet.
        edge: Option<usize>,
        /// Who has to come first, on another processor.
        producer: usize,
        /// Who runs too early.
        consumer: usize,
    },
    /// Nobody is in stage 0.
    EmptyFirstStage,
    /// Buffers beyond 64 bits.
    Overflow,
}

/// A schedule that the judge has passed. Only the judge makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    schedule: ModuloSchedule,
    capacity: Vec<u64>,
}

impl Verified {
    /// The schedule.
    pub fn schedule(&self) -> &ModuloSchedule {
        &self.schedule
    }

    /// By edge, the items that its buffer must hold: within a kernel, nothing that anybody may still read is written over, in whatever
    /// order the processors come to their instances.
    pub fn capacity(&self) -> &[u64] {
        &self.capacity
    }

    /// Bytes of all buffers, those inside of tasks included.
    pub fn bytes(&self, problem: &ModuloProblem) -> u64 {
        bytes(problem, &self.capacity)
    }
}

/// Bytes of buffers of these capacities, and of those inside of tasks.
pub fn bytes(problem: &ModuloProblem, capacity: &[u64]) -> u64 {
    let each = problem.graph().edges.iter().zip(capacity);
    each.fold(problem.graph().inner_bytes, |sum, (e, items)| sum.saturating_add(items.saturating_mul(e.item_bytes)))
}

/// Judges a candidate.
pub fn verify(problem: &ModuloProblem, schedule: ModuloSchedule) -> Result<Verified, Vec<Violation>> {
    let n = problem.instances();
    let s = &schedule;
    if s.ii == 0 || [s.processor.len(), s.start.len(), s.stage.len()] != [n; 3] {
        return Err(vec![Violation::Shape]);
    }
    let mut j = Judge { problem, schedule: s, faults: Vec::new() };
    j.places();
    j.overlaps();
    for (i, edge) in problem.graph().edges.iter().enumerate() {
        j.items(i, edge);
    }
    j.serial();
    for o in &problem.graph().orders {
        let (before, after) = (problem.instance(o.before.0, o.before.1), problem.instance(o.after.0, o.after.1));
        j.follows(None, before, after, o.distance.into());
    }
    if !s.stage.contains(&0) {
        j.fault(Violation::EmptyFirstStage);
    }
    if !j.faults.is_empty() {
        return Err(j.faults);
    }
    let capacity = capacities(problem, s).ok_or_else(|| vec![Violation::Overflow])?;
    Ok(Verified { schedule, capacity })
}

struct Judge<'a> {
    problem: &'a ModuloProblem,
    schedule: &'a ModuloSchedule,
    faults: Vec<Violation>,
}

impl Judge<'_> {
    fn fault(&mut self, v: Violation) {
        if self.faults.len() < MOST && !self.faults.contains(&v) {
            self.faults.push(v);
        }
    }

    fn places(&mut self) {
        for i in 0..self.problem.instances() {
            if self.schedule.processor[i] >= self.problem.processors() {
                self.fault(Violation::Processor { instance: i });
            }
            let end = self.schedule.start[i].checked_add(self.problem.cost(i));
            if end.is_none_or(|end| end > self.schedule.ii) {
                self.fault(Violation::Overrun { instance: i });
            }
        }
    }

    fn overlaps(&mut self) {
        let s = self.schedule;
        let mut order: Vec<usize> = (0..self.problem.instances()).collect();
        order.sort_by_key(|i| (s.processor[*i], s.start[*i], *i));
        for pair in order.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if s.processor[a] == s.processor[b] && s.start[b] < s.start[a].saturating_add(self.problem.cost(a)) {
                self.fault(Violation::Overlap { first: a, second: b });
            }
        }
    }

    /// Every item that an instance sees comes from a firing of the producer; item x, from 0, from firing x / O.
    fn items(&mut self, index: usize, e: &Edge) {
        let tasks = &self.problem.graph().tasks;
        let (givers, takers) = (i128::from(tasks[e.from].instances), tasks[e.to].instances);
        if e.produce == 0 || e.peek == 0 {
            return;
        }
        for k in 0..takers {
            let first_seen = i128::from(k) * i128::from(e.consume) - i128::from(e.initial);
            let last_seen = first_seen + i128::from(e.peek) - 1;
            let consumer = self.problem.instance(e.to, k);
            let mut firing = last_seen.div_euclid(i128::from(e.produce));
            // The newest firing of each instance of the producer is the one to wait for.
            let oldest = first_seen.div_euclid(i128::from(e.produce)).max(firing - givers + 1);
            while firing >= oldest {
                let producer = self.problem.instance(e.from, firing.rem_euclid(givers) as u64);
                self.follows(Some(index), producer, consumer, -firing.div_euclid(givers));
                firing -= 1;
            }
        }
    }

    fn serial(&mut self) {
        for (v, task) in self.problem.graph().tasks.iter().enumerate().filter(|(_, t)| t.serial) {
            for k in 1..task.instances {
                self.follows(None, self.problem.instance(v, k - 1), self.problem.instance(v, k), 0);
            }
            self.follows(None, self.problem.instance(v, task.instances - 1), self.problem.instance(v, 0), 1);
        }
    }

    /// `consumer` comes after the `producer` of `distance` iterations before.
    fn follows(&mut self, edge: Option<usize>, producer: usize, consumer: usize, distance: i128) {
        let s = self.schedule;
        // Launches from the producer's kernel to the consumer's.
        let launches = i128::from(s.stage[consumer]) + distance - i128::from(s.stage[producer]);
        if s.processor[producer] != s.processor[consumer] {
            if launches < 1 {
                self.fault(Violation::NotVisible { edge, producer, consumer });
            }
            return;
        }
        let end = i128::from(s.start[producer]) + i128::from(self.problem.cost(producer));
        if launches * i128::from(s.ii) + i128::from(s.start[consumer]) < end {
            self.fault(Violation::TooEarly { edge, producer, consumer });
        }
    }
}

/// By edge, the buffer: from the oldest item that a consumer may read in a kernel or later, to the newest written in it or before.
/// `None` beyond 64 bits.
pub fn capacities(problem: &ModuloProblem, s: &ModuloSchedule) -> Option<Vec<u64>> {
    let tasks = &problem.graph().tasks;
    let of = |e: &Edge| {
        let (ku, kv) = (tasks[e.from].instances, tasks[e.to].instances);
        let stage = |task, k| i128::from(s.stage[problem.instance(task, k)]);
        let [o, c, m] = [e.produce, e.consume, e.initial].map(i128::from);
        // In kernel 0 an instance of stage f belongs to iteration -f.
        let newest = (0..ku).map(|k| (i128::from(k) + 1 - stage(e.from, k) * i128::from(ku)) * o).max()?;
        let oldest = (0..kv).map(|k| (i128::from(k) - stage(e.to, k) * i128::from(kv)) * c - m).min()?;
        u64::try_from((newest - oldest).max(m)).ok()
    };
    problem.graph().edges.iter().map(of).collect()
}

/// By edge, the most items that lie at any time between the oldest one that somebody has still to take and the newest one, of a schedule of one
/// processor in which nothing overlaps with the next iteration: its instances run in order, so that less is needed than where
/// processors do not wait for each other. `None` for other schedules.
pub fn fills_in_order(problem: &ModuloProblem, s: &ModuloSchedule) -> Option<Vec<u64>> {
    let alone = s.processor.iter().all(|p| *p == s.processor[0]) && s.stage.iter().all(|f| *f == 0);
    if !alone {
        return None;
    }
    let edges = &problem.graph().edges;
    let tasks = problem.graph().tasks.len();
    let (mut gives, mut takes) = (vec![Vec::new(); tasks], vec![Vec::new(); tasks]);
    for (i, e) in edges.iter().enumerate() {
        gives[e.from].push(i);
        takes[e.to].push(i);
    }
    let mut order: Vec<usize> = (0..problem.instances()).collect();
    order.sort_by_key(|i| (s.start[*i], *i));
    // Instances of a task without state may run in any order: an item is in the way until all before it are taken.
    let (mut newest, mut oldest): (Vec<u64>, Vec<u64>) = edges.iter().map(|e| (e.initial, 0)).unzip();
    let mut most = newest.clone();
    let mut done = vec![false; problem.instances()];
    let mut next = vec![0; tasks];
    for i in order {
        let (task, number) = (problem.task_of(i), problem.number_of(i));
        for e in &gives[task] {
            let end = edges[*e].produce.checked_mul(number + 1)?.checked_add(edges[*e].initial)?;
            newest[*e] = newest[*e].max(end);
            most[*e] = most[*e].max(newest[*e].checked_sub(oldest[*e])?);
        }
        done[i] = true;
        while next[task] < problem.graph().tasks[task].instances && done[problem.instance(task, next[task])] {
            next[task] += 1;
        }
        for e in &takes[task] {
            oldest[*e] = edges[*e].consume.checked_mul(next[task])?;
        }
    }
    Some(most)
}
