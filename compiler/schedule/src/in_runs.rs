//! # in-runs
//!
//! Purpose: the order of firings for programs with messages in which a filter fires as often in a row as items and messages allow. Input: graph, steady state. Output: a candidate
//! [`SequentialSchedule`] of batch 1. Limits: [`LONGEST`] firings, [`LOOKS`] looks at nodes.
//!
//! ```text
//! a gain before a level that tells it after each block:  (1·reader 1·gain) × 256 1·level   →   256·reader 256·gain 1·level
//! ```
//!
//! Nodes come in topological order, again and again, until all have fired as often as they should. A firing takes nothing away from others but items of its own, and what it waits for does not go
//! away; so whoever fires as soon as it can keeps nobody from firing, and there is an end wherever any order comes to one.

use crate::fold::fold;
pub use crate::minimum_latency::LONGEST;
use crate::sequential::{SequentialSchedule, Step, push_fire};
use sluice_frontend::components::components;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::messages::Precedence;
use sluice_frontend::steady_state::SteadyState;

/// Nodes that are asked whether they can fire, and cannot, beyond which there is no such schedule: loops in which few items wait go round once at each.
pub const LOOKS: u64 = 1 << 24;

/// The schedule, or `None` where it is too long or there is no end to it.
pub fn in_runs(graph: &SdfGraph, steady: &SteadyState) -> Option<SequentialSchedule> {
    let firings = steady.init.iter().chain(&steady.repetitions).fold(0u64, |sum, n| sum.saturating_add(*n));
    if firings > LONGEST {
        return None;
    }
    let mut waits = vec![Vec::new(); graph.nodes.len()];
    steady.precedences.iter().for_each(|p| waits[p.after.index()].push(p));
    let mut s = State {
        graph,
        waits,
        order: components(graph).into_iter().flatten().collect(),
        fill: graph.channels.iter().map(|c| c.initial.len() as u64).collect(),
        fired: vec![0; graph.nodes.len()],
        repetitions: None,
        looks: LOOKS,
    };
    let init = s.epoch(&steady.init)?;
    s.repetitions = Some(&steady.repetitions);
    let all: Vec<u64> = steady.init.iter().zip(&steady.repetitions).map(|(i, r)| i + r).collect();
    let state = s.epoch(&all)?;
    Some(SequentialSchedule { init: fold(init), steady: fold(state), batch: 1 })
}

struct State<'g> {
    graph: &'g SdfGraph,
    /// By node: what it waits for.
    waits: Vec<Vec<&'g Precedence>>,
    order: Vec<NodeId>,
    fill: Vec<u64>,
    fired: Vec<u64>,
    /// In the steady state, which must be right for all steady states.
    repetitions: Option<&'g [u64]>,
    looks: u64,
}

impl State<'_> {
    fn epoch(&mut self, quota: &[u64]) -> Option<Vec<Step>> {
        let (order, mut out) = (std::mem::take(&mut self.order), Vec::new());
        loop {
            let (mut moved, mut all) = (false, true);
            for n in &order {
                let before = self.fired[n.index()];
                while self.fired[n.index()] < quota[n.index()] && self.can_fire(*n) {
                    self.fire(*n);
                }
                push_fire(&mut out, *n, self.fired[n.index()] - before);
                moved |= self.fired[n.index()] > before;
                all &= self.fired[n.index()] == quota[n.index()];
            }
            if all {
                self.order = order;
                return Some(out);
            }
            self.looks = self.looks.checked_sub(order.len() as u64)?;
            if !moved {
                return None;
            }
        }
    }

    fn can_fire(&self, n: NodeId) -> bool {
        let at = self.fired[n.index()];
        let inputs = &self.graph.node(n).inputs;
        let items = inputs.iter().all(|c| self.fill[c.index()] >= u64::from(self.graph.needed_by_firing(*c, at)));
        items
            && self.waits[n.index()].iter().all(|p| {
                let need = match self.repetitions {
                    None => p.need.at(at + 1),
                    Some(r) => p.need_in_any_state(at + 1, r),
                };
                self.fired[p.before.index()] >= need
            })
    }

    fn fire(&mut self, n: NodeId) {
        let (at, node) = (self.fired[n.index()], self.graph.node(n));
        for c in &node.inputs {
            self.fill[c.index()] -= u64::from(self.graph.consumed_by_firing(*c, at));
        }
        for c in &node.outputs {
            self.fill[c.index()] += u64::from(self.graph.produced_by_firing(*c, at));
        }
        self.fired[n.index()] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use sluice_frontend::{NoImports, Options, SourceInput, analyse};

    fn scheduled(text: &str) -> (SequentialSchedule, Vec<String>) {
        let input = SourceInput { name: "a.str".into(), text: text.into() };
        let program = analyse(vec![input], &Options::default(), &mut NoImports).program.unwrap();
        let schedule = in_runs(&program.graph, &program.steady).unwrap();
        judge::verify(&program.graph, &program.steady, schedule.clone()).unwrap();
        (schedule, program.graph.nodes.iter().map(|n| n.path.clone()).collect())
    }

    fn fires(steps: &[Step]) -> u64 {
        let one = |s: &Step| match s {
            Step::Fire { .. } => 1,
            Step::Loop { body, .. } => fires(body),
        };
        steps.iter().map(one).sum()
    }

    /// The level hears of each item; the gain before it is told after each 8th of them, within the steady state of 64 that what follows makes.
    const WITHIN: &str = "int->int filter Gain { int g = 1; work pop 1 push 1 { push(g * pop()); } handler set(int v) { g = v; } }
        int->int filter Level(portal<Gain> p) { work pop 8 push 8 { for (int i = 0; i < 8; i++) push(pop()); p.set(3) [0:0]; } }
        int->int filter Last { work pop 64 push 1 { push(peek(63)); for (int i = 0; i < 64; i++) pop(); } }
        int->int pipeline Main { portal<Gain> p; add Gain to p; add Level(p); add Last; }";

    #[test]
    fn runs_end_where_a_message_may_come() {
        let (schedule, names) = scheduled(WITHIN);
        let Step::Loop { times: 8, body } = schedule.steady.iter().find(|s| matches!(s, Step::Loop { .. })).unwrap()
        else {
            panic!("{:?}", schedule.steady)
        };
        let gain = names.iter().position(|n| n.ends_with("Gain")).unwrap() as u32;
        assert!(body.contains(&Step::Fire { node: NodeId(gain), times: 8 }), "{body:?}");
        assert!(fires(&schedule.steady) <= 5, "{:?}", schedule.steady);
    }

    /// A loop needs as many rounds as its items allow, and no more.
    #[test]
    fn loops_come_to_an_end() {
        let (schedule, _) = scheduled(
            "int->int filter Gain { int g = 1; work pop 2 push 1 { push(g * pop() + pop()); } handler set(int v) { g = v; } }
             int->int filter Level(portal<Gain> p) { work pop 1 push 1 { push(pop()); p.set(3) [3:3]; } }
             int->int pipeline Main {
                 portal<Gain> p;
                 add feedbackloop { join roundrobin(1, 1); body Gain to p; split duplicate; enqueue 0; enqueue 0; };
                 add Level(p);
                 add int->int filter { work pop 10 push 1 { push(peek(9)); for (int i = 0; i < 10; i++) pop(); } };
             }",
        );
        assert!(fires(&schedule.steady) <= 12, "{:?}", schedule.steady);
    }
}
