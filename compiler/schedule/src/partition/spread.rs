//! # spread
//!
//! Purpose: a partition in which threads share all they can: every thread is a replica of one stage that has all that replicas may have, but for what stands behind something that they may not.
//! Input: problem, components. Output: [`Runs`] of three stages at most, `None` where replicas would have nothing.
//!
//! ```text
//! reader → A → B → C (state) → D → writer, two threads   →   [reader] [A B ×2] [C D writer]
//! ```
//!
//! However wrong the numbers are, replicas share evenly what is in that stage; solvers that minimise the slowest thread by the numbers do not look for that.

use super::order::{Components, Runs};
use super::problem::Problem;

/// Before the replicas, the replicas, behind them.
const STAGES: usize = 3;

/// Deals components out to the three.
pub fn spread(problem: &Problem<'_>, whole: &Components) -> Option<Runs> {
    let mut stage = vec![0; whole.len()];
    for i in 0..whole.len() {
        let before = whole.last[i].iter().map(|(j, _)| stage[*j]).max().unwrap_or(0);
        stage[i] = match (whole.stateless[i], before) {
            (true, _) => before.max(1),
            (false, 0) => 0,
            (false, _) => STAGES - 1,
        };
    }
    let shared = stage.contains(&1) && problem.threads > 1;
    shared.then(|| Runs { stage, replicas: vec![1, problem.threads, 1] })
}
