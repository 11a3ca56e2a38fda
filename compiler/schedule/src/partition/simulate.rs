//! # simulate
//!
//! Purpose: a model of how a pipeline of threads goes: when each stage works on each batch. Input: [`Pipeline`]. Output: [`Run`].
//!
//! A stage's thread begins batch b when it is done with its own batch before, the stages before have given it theirs, and there is a free
//! block in each queue it fills: one that the stage behind has emptied. Replicas take batches in turn.
//!
//! ```text
//! five stages of one step each, six items   →   ten steps: stage s works on item i in step i + s
//! ```
//!
//! Source: "Method for Software Pipelining on GPUs", section 2.2, table 2.

/// A pipeline: stages in topological order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// By stage: time for a batch, and threads.
    pub stages: Vec<(u64, usize)>,
    /// Queues from an earlier stage to a later one.
    pub queues: Vec<(usize, usize)>,
    /// Blocks of each queue (for replicas: for each pair of threads that hand each other batches).
    pub blocks: usize,
}

/// When things happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// By stage and batch: the time when it began.
    pub begins: Vec<Vec<u64>>,
    /// The time when all was done.
    pub ends: u64,
}

impl Pipeline {
    /// A chain of stages with one thread each.
    pub fn chain(times: &[u64], blocks: usize) -> Pipeline {
        let queues = (1..times.len()).map(|s| (s - 1, s)).collect();
        Pipeline { stages: times.iter().map(|t| (*t, 1)).collect(), queues, blocks }
    }

    /// Runs it for so many batches.
    pub fn run(&self, batches: usize) -> Run {
        let mut begins: Vec<Vec<u64>> = vec![Vec::with_capacity(batches); self.stages.len()];
        let mut ends = 0;
        for b in 0..batches {
            for (s, (time, replicas)) in self.stages.iter().enumerate() {
                let done = |stage: usize, batch: usize| begins[stage][batch].saturating_add(self.stages[stage].0);
                let mut at = if b >= *replicas { done(s, b - replicas) } else { 0 };
                for (from, to) in &self.queues {
                    if *to == s {
                        at = at.max(done(*from, b));
                    }
                    // the same two threads meet again after so many batches
                    let round = lcm(self.stages[*from].1, self.stages[*to].1);
                    let back = round.saturating_mul(self.blocks.max(1));
                    if *from == s && b >= back {
                        at = at.max(done(*to, b - back));
                    }
                }
                begins[s].push(at);
                ends = ends.max(at.saturating_add(*time));
            }
        }
        Run { begins, ends }
    }
}

impl Run {
    /// In each step of this length: by stage, the batch it works on.
    pub fn table(&self, pipeline: &Pipeline, step: u64) -> Vec<Vec<Option<usize>>> {
        let mut rows = vec![vec![None; self.begins.len()]; usize::try_from(self.ends.div_ceil(step)).unwrap_or(0)];
        for (s, begins) in self.begins.iter().enumerate() {
            for (batch, begin) in begins.iter().enumerate() {
                for t in (*begin / step)..(begin + pipeline.stages[s].0).div_ceil(step) {
                    rows[t as usize][s] = Some(batch);
                }
            }
        }
        rows
    }
}

fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a.max(1) / x).saturating_mul(b.max(1))
}
