//! # fills
//!
//! Purpose: the most items that lie on each channel while a batch runs fast. Input: the schedule of a steady state and how it is scaled. Output:
//! a number for each channel. Nothing is run: a loop's turns all do the same, so that the first and the last say all.
//!
//! ```text
//! [n0 × 4, n1 × 4] with K = 10, c from n0 to n1, one item each, none at the boundary   →   40 on c
//! ```

use sluice_frontend::graph::SdfGraph;
use sluice_frontend::steady_state::SteadyState;
use sluice_schedule::sequential::Step;
use std::collections::BTreeMap;

/// How a program runs fast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fills {
    /// The schedule's steady part.
    pub steps: Vec<Step>,
    /// How many steady states it makes.
    pub unit: u64,
    /// Is each of its steps run as often as the batch says, one after the other? Otherwise all of it is repeated.
    pub scaled: bool,
    /// No more steady states than these are one, where messages hold firings back.
    pub at_once: Option<u64>,
}

/// What steps do to a channel: how many items more (or less) there are afterwards, and the most there were more in between.
#[derive(Clone, Copy, Default)]
struct Effect {
    change: i128,
    most: i128,
}

type Effects = BTreeMap<u32, Effect>;

impl Fills {
    /// The most items on each channel in a batch of `batch` steady states, from one boundary to another.
    pub fn highest(&self, graph: &SdfGraph, steady: &SteadyState, batch: u64) -> Vec<u64> {
        let times = batch.min(self.at_once.unwrap_or(u64::MAX)) / self.unit.max(1);
        let effects = if self.scaled {
            let mut all = Effects::new();
            for step in &self.steps {
                let scaled = match step {
                    Step::Fire { node, times: n } => Step::Fire { node: *node, times: n.saturating_mul(times) },
                    Step::Loop { times: n, body } => Step::Loop { times: n.saturating_mul(times), body: body.clone() },
                };
                follow(&mut all, &effects_of(graph, &scaled));
            }
            all
        } else {
            repeat(&sequence(graph, &self.steps), times)
        };
        let mut fill: Vec<i128> = steady.boundary_fill.iter().map(|n| i128::from(*n)).collect();
        for (c, e) in effects {
            if let Some(fill) = fill.get_mut(c as usize) {
                *fill = fill.saturating_add(e.most);
            }
        }
        fill.into_iter().map(|n| u64::try_from(n.max(0)).unwrap_or(u64::MAX)).collect()
    }
}

fn effects_of(graph: &SdfGraph, step: &Step) -> Effects {
    match step {
        Step::Loop { times, body } => repeat(&sequence(graph, body), *times),
        Step::Fire { node, times } => {
            let mut all = Effects::new();
            let node = graph.node(*node);
            // a call gives all its items before it counts as having taken any
            let sides = node.outputs.iter().map(|c| (c, i128::from(graph.channel(*c).produce)));
            let sides = sides.chain(node.inputs.iter().map(|c| (c, -i128::from(graph.channel(*c).consume))));
            for (c, items) in sides {
                let change = items.saturating_mul(i128::from(*times));
                follow(&mut all, &Effects::from([(c.0, Effect { change, most: change.max(0) })]));
            }
            all
        }
    }
}

fn sequence(graph: &SdfGraph, steps: &[Step]) -> Effects {
    let mut all = Effects::new();
    steps.iter().for_each(|s| follow(&mut all, &effects_of(graph, s)));
    all
}

/// One after the other.
fn follow(first: &mut Effects, then: &Effects) {
    for (c, e) in then {
        let before = first.entry(*c).or_default();
        before.most = before.most.max(before.change.saturating_add(e.most));
        before.change = before.change.saturating_add(e.change);
    }
}

/// The same `times` times: what it leaves adds up, and the fullest turn is the first or the last.
fn repeat(once: &Effects, times: u64) -> Effects {
    let times = i128::from(times);
    let scaled = |e: &Effect| {
        let before_last = e.change.saturating_mul(times.saturating_sub(1)).max(0);
        Effect {
            change: e.change.saturating_mul(times),
            most: if times > 0 { e.most.saturating_add(before_last) } else { 0 },
        }
    };
    once.iter().map(|(c, e)| (*c, scaled(e))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::graph::*;
    use sluice_frontend::ids::*;
    use sluice_frontend::ty::Ty;
    use sluice_grammar::span::Span;

    /// n0 → n1 → n2, with these items made and taken on each channel.
    fn chain(rates: &[(u32, u32)]) -> SdfGraph {
        let mut g = SdfGraph::default();
        for v in 0..=rates.len() as u32 {
            g.nodes.push(Node {
                path: format!("n{v}"),
                name: "n".into(),
                kind: NodeKind::Identity,
                inputs: if v > 0 { vec![ChannelId(v - 1)] } else { Vec::new() },
                outputs: if (v as usize) < rates.len() { vec![ChannelId(v)] } else { Vec::new() },
                span: Span::default(),
                hier: HierId(0),
            });
        }
        for (c, (produce, consume)) in rates.iter().enumerate() {
            let (from, to) = ((NodeId::from(c), 0), (NodeId::from(c + 1), 0));
            let (produce, consume) = (*produce, *consume);
            let initial = Vec::new();
            g.channels.push(Channel {
                from,
                to,
                ty: Ty::Int,
                produce,
                consume,
                peek: consume,
                initial,
                feedback: false,
                dynamic: false,
            });
        }
        g
    }

    fn fire(node: u32, times: u64) -> Step {
        Step::Fire { node: NodeId(node), times }
    }

    /// The same by running it, item by item.
    fn run(steps: &[Step], graph: &SdfGraph, fill: &mut [i64], most: &mut [i64]) {
        for step in steps {
            match step {
                Step::Loop { times, body } => (0..*times).for_each(|_| run(body, graph, fill, most)),
                Step::Fire { node, times } => {
                    let n = graph.node(*node);
                    for c in &n.outputs {
                        fill[c.index()] += i64::from(graph.channel(*c).produce) * *times as i64;
                        most[c.index()] = most[c.index()].max(fill[c.index()]);
                    }
                    for c in &n.inputs {
                        fill[c.index()] -= i64::from(graph.channel(*c).consume) * *times as i64;
                    }
                }
            }
        }
    }

    #[test]
    fn as_if_it_had_run() {
        let graph = chain(&[(2, 3), (1, 2)]);
        let looped = vec![
            Step::Loop { times: 2, body: vec![fire(0, 3), Step::Loop { times: 2, body: vec![fire(1, 1)] }] },
            fire(2, 2),
        ];
        let flat = vec![fire(0, 6), fire(1, 4), fire(2, 2)];
        for (steps, boundary) in [(looped, [0, 0]), (flat, [5, 1])] {
            let steady = SteadyState { boundary_fill: boundary.map(|n| n as u64).to_vec(), ..SteadyState::default() };
            for batch in 1..5 {
                let mut want = boundary;
                let mut fill = boundary;
                let all = vec![Step::Loop { times: batch, body: steps.clone() }];
                run(&all, &graph, &mut fill, &mut want);
                let fills = Fills { steps: steps.clone(), unit: 1, scaled: false, at_once: None };
                assert_eq!(fills.highest(&graph, &steady, batch), want.map(|n| n as u64), "{batch}: {steps:?}");
            }
        }
    }

    #[test]
    fn steps_are_scaled() {
        let graph = chain(&[(2, 3), (1, 2)]);
        let steady = SteadyState { boundary_fill: vec![1, 0], ..SteadyState::default() };
        let steps = vec![fire(0, 6), Step::Loop { times: 2, body: vec![fire(1, 2), fire(2, 1)] }];
        let fills = Fills { steps, unit: 1, scaled: true, at_once: None };
        assert_eq!(fills.highest(&graph, &steady, 10), [1 + 2 * 6 * 10, 2]);
        assert_eq!(fills.highest(&graph, &steady, 0), [1, 0]);
        let parts = Fills { at_once: Some(3), ..fills };
        assert_eq!(parts.highest(&graph, &steady, 10), [1 + 2 * 6 * 3, 2]);
    }
}
