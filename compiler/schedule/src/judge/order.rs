//! Messages: does every firing come after those whose messages it must not miss?
//!
//! Takes the steady state with its precedences, and a schedule with the right counts; replays it firing by firing, at most [`LONGEST`]
//! of them. The steady state is judged for all steady states that follow.

use super::Violation;
use crate::sequential::{SequentialSchedule, Step};
use sluice_frontend::messages::Precedence;
use sluice_frontend::steady_state::SteadyState;

/// Firings that are replayed.
pub const LONGEST: u64 = 1 << 24;

struct Order<'a> {
    /// By node: what it waits for.
    waits: Vec<Vec<&'a Precedence>>,
    fired: Vec<u64>,
    /// In the steady state: the repetition vector.
    repetitions: Option<&'a [u64]>,
    left: u64,
}

/// Judges the order of firings.
pub fn verify(steady: &SteadyState, schedule: &SequentialSchedule) -> Result<(), Violation> {
    if steady.precedences.is_empty() {
        return Ok(());
    }
    let nodes = steady.repetitions.len();
    let mut waits = vec![Vec::new(); nodes];
    steady.precedences.iter().for_each(|p| waits[p.after.index()].push(p));
    let mut order = Order { waits, fired: vec![0; nodes], repetitions: None, left: LONGEST };
    order.steps(&schedule.init)?;
    order.repetitions = Some(&steady.repetitions);
    order.steps(&schedule.steady)
}

impl Order<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Violation> {
        for step in steps {
            match step {
                Step::Fire { node, times } => {
                    for _ in 0..*times {
                        self.fire(*node)?;
                    }
                }
                Step::Loop { times, body } => {
                    for _ in 0..*times {
                        self.steps(body)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn fire(&mut self, node: sluice_frontend::ids::NodeId) -> Result<(), Violation> {
        self.left = self.left.checked_sub(1).ok_or(Violation::TooLong(LONGEST))?;
        let firing = self.fired[node.index()] + 1;
        for p in &self.waits[node.index()] {
            let need = match self.repetitions {
                None => p.need.at(firing),
                Some(r) => p.need_in_any_state(firing, r),
            };
            let have = self.fired[p.before.index()];
            if have < need {
                return Err(Violation::TooEarly { node, sender: p.before, have, need });
            }
        }
        self.fired[node.index()] = firing;
        Ok(())
    }
}
