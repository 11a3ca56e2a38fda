//! Where threads that part ways meet again: the instruction that all ways from a branch come to first (its immediate postdominator). What leaves early (an exit or a return with a
//! condition) leaves nothing behind to wait for, and is no way on.

use super::{Action, Code};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;

/// Of all instructions.
pub struct Meetings {
    dominators: Dominators<NodeIndex>,
    end: NodeIndex,
}

impl Meetings {
    /// Of a code.
    pub fn of(code: &Code) -> Meetings {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let all: Vec<NodeIndex> = code.instructions.iter().map(|_| graph.add_node(())).collect();
        let end = graph.add_node(());
        let node = |i: usize| all.get(i).copied().unwrap_or(end);
        for (i, instruction) in code.instructions.iter().enumerate() {
            let always = instruction.guard.is_empty();
            let (from, next) = (all[i], node(i + 1));
            match instruction.action {
                Action::Jump(to) => {
                    graph.add_edge(from, node(to), ());
                    if !always {
                        graph.add_edge(from, next, ());
                    }
                }
                Action::Return | Action::Exit | Action::Beyond(_) if always => {
                    graph.add_edge(from, end, ());
                }
                _ => {
                    graph.add_edge(from, next, ());
                }
            }
        }
        Meetings { dominators: simple_fast(Reversed(&graph), end), end }
    }

    /// Where those meet that part at this instruction; `None`: nowhere before the end of the function.
    pub fn after(&self, instruction: usize) -> Option<usize> {
        let at = self.dominators.immediate_dominator(NodeIndex::new(instruction))?;
        (at != self.end).then(|| at.index())
    }
}
