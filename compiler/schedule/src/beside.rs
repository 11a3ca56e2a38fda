//! # beside
//!
//! Purpose: feedback loops of the same shape that need nothing of each other, turn by turn side by side: what each waits for, it need not wait for alone.
//! Input: graph, what stays on channels, the steps of a steady state. Output: steps that mean the same, for the judge.
//!
//! ```text
//! 100·(1·join1 1·add1 1·damp1) 100·(1·join2 1·add2 1·damp2)   →   100·(1·join1 1·join2 1·add1 1·add2 1·damp1 1·damp2)
//! ```
//!
//! What must hold: the loops follow one another, turn equally often, and fire nodes of the same kinds and rates equally often; every firing finds its items in
//! the new order; and each node may change places with those of the others (nothing of it is seen from outside but its items). Each node's firings stay in
//! their order.

use crate::judge::turn_runs;
use crate::sequential::Step;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;

/// Loops that become one, at most: what they have in registers should stay there.
pub const MOST: usize = 8;

/// The steps with such loops joined; `None` where there are none. `fill`, by channel: items at the beginning.
pub fn beside(graph: &SdfGraph, fill: &[u64], steps: &[Step], may_move: &dyn Fn(NodeId) -> bool) -> Option<Vec<Step>> {
    let mut out: Vec<Step> = Vec::with_capacity(steps.len());
    let mut joined = false;
    let mut rest = steps;
    while let Some((first, others)) = rest.split_first() {
        let mut best = (1, first.clone());
        for n in 2..=rest.len().min(MOST) {
            match join(graph, &rest[..n], may_move) {
                Some(Step::Loop { times, body }) if turn_runs(graph, fill, &body) => {
                    best = (n, Step::Loop { times, body });
                }
                _ => break,
            }
        }
        joined |= best.0 > 1;
        rest = &others[best.0 - 1..];
        out.push(best.1);
    }
    joined.then_some(out)
}

/// Loops of one shape as one, position by position.
fn join(graph: &SdfGraph, loops: &[Step], may_move: &dyn Fn(NodeId) -> bool) -> Option<Step> {
    let parts: Vec<(u64, Vec<(NodeId, u64)>)> = loops.iter().map(firings).collect::<Option<_>>()?;
    let (times, first) = parts.first()?;
    let alike = |(n, body): &(u64, Vec<(NodeId, u64)>)| {
        let same = |((a, n), (b, m)): (&(NodeId, u64), &(NodeId, u64))| n == m && same_shape(graph, *a, *b);
        n == times && body.len() == first.len() && first.iter().zip(body).all(same)
    };
    let movable = parts.iter().flat_map(|(_, body)| body).all(|(v, _)| may_move(*v));
    if !movable || !parts.iter().all(alike) {
        return None;
    }
    let at = |i: usize| parts.iter().map(move |(_, body)| body[i]);
    let body = (0..first.len()).flat_map(at).map(|(node, times)| Step::Fire { node, times }).collect();
    Some(Step::Loop { times: *times, body })
}

/// A loop's turns and the firings of each; `None` where it has loops in it, or is none.
fn firings(step: &Step) -> Option<(u64, Vec<(NodeId, u64)>)> {
    let Step::Loop { times, body } = step else { return None };
    let fire = |s: &Step| if let Step::Fire { node, times } = s { Some((*node, *times)) } else { None };
    Some((*times, body.iter().map(fire).collect::<Option<_>>()?))
}

/// Do two nodes take and give alike?
fn same_shape(graph: &SdfGraph, a: NodeId, b: NodeId) -> bool {
    let (a, b) = (graph.node(a), graph.node(b));
    let rates = |n: &sluice_frontend::graph::Node| {
        let of = |c: &sluice_frontend::ids::ChannelId| graph.channel(*c).clone();
        let takes: Vec<_> = n.inputs.iter().map(of).map(|c| (c.consume, c.peek, c.ty)).collect();
        let gives: Vec<_> = n.outputs.iter().map(of).map(|c| (c.produce, c.ty)).collect();
        (takes, gives)
    };
    let kinds = match (&a.kind, &b.kind) {
        (NodeKind::Filter { .. }, NodeKind::Filter { .. }) => true,
        (NodeKind::SplitRoundRobin(_) | NodeKind::JoinRoundRobin(_), _)
        | (NodeKind::Duplicate | NodeKind::Identity, _) => a.kind == b.kind,
        _ => false,
    };
    kinds && rates(a) == rates(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::graph_text::parse;

    /// Two delays with a filter in each, side by side, or the second fed by the first.
    fn two(second_from: &str) -> SdfGraph {
        let head = "h0 pipeline Main \"Main\" int -> int\nn0 input reader open in h0\nn1 both duplicate in h0\n";
        let of = |n: u32, c: u32, from: &str| {
            let (join, body, split) = (n, n + 1, n + 2);
            (
                format!(
                    "n{join} join{n} join 1 1 in h0\nn{body} body{n} filter code0 push 1 pop 2 in h0\nn{split} split{n} duplicate in h0\n"
                ),
                format!(
                    "c{c} {from} -> n{join}.0 int push 1 pop 1\nc{} n{join}.0 -> n{body}.0 int push 2 pop 2\nc{} n{body}.0 -> n{split}.0 int push 1 pop 1\n\
                     c{} n{split}.1 -> n{join}.1 int push 1 pop 1 feedback\n",
                    c + 1,
                    c + 2,
                    c + 3
                ),
            )
        };
        let (a, b) = (of(2, 1, "n1.0"), of(5, 5, second_from));
        let other = if second_from == "n1.1" { "n4.0" } else { "n1.1" };
        let end = format!(
            "n8 sum join 1 1 in h0\nn9 output writer open in h0\nc0 n0.0 -> n1.0 int push 1 pop 1\n{}{}c9 {other} -> n8.0 int push 1 pop 1\n\
             c10 n7.0 -> n8.1 int push 1 pop 1\nc11 n8.0 -> n9.0 int push 2 pop 1\n",
            a.1, b.1
        );
        parse(&format!("{head}{}{}{end}", a.0, b.0)).unwrap_or_else(|e| panic!("{e:?}"))
    }

    fn turns(times: u64, nodes: &[u32]) -> Step {
        let body = nodes.iter().map(|v| Step::Fire { node: NodeId(*v), times: 1 }).collect();
        Step::Loop { times, body }
    }

    /// Items wait in the loops only.
    fn fill(graph: &SdfGraph) -> Vec<u64> {
        graph.channels.iter().map(|c| if c.from.0.0 == c.to.0.0 + 2 { 10 } else { 0 }).collect()
    }

    fn around(loops: Vec<Step>) -> Vec<Step> {
        let fire = |v| Step::Fire { node: NodeId(v), times: 100 };
        [vec![fire(0), fire(1)], loops, vec![fire(8)]].concat()
    }

    #[test]
    fn delays_side_by_side() {
        let graph = two("n1.1");
        let steps = around(vec![turns(100, &[2, 3, 4]), turns(100, &[5, 6, 7])]);
        let got = beside(&graph, &fill(&graph), &steps, &|_| true);
        assert_eq!(got, Some(around(vec![turns(100, &[2, 5, 3, 6, 4, 7])])));
        assert_eq!(beside(&graph, &fill(&graph), &steps, &|v| v != NodeId(6)), None, "one that must stay");
        let unequal = around(vec![turns(100, &[2, 3, 4]), turns(50, &[5, 6, 7])]);
        assert_eq!(beside(&graph, &fill(&graph), &unequal, &|_| true), None);
        let other = around(vec![turns(100, &[2, 3, 4]), turns(100, &[5, 7, 6])]);
        assert_eq!(beside(&graph, &fill(&graph), &other, &|_| true), None, "another shape");
    }

    #[test]
    fn one_that_feeds_the_other() {
        let graph = two("n4.0");
        let steps = around(vec![turns(100, &[2, 3, 4]), turns(100, &[5, 6, 7])]);
        assert_eq!(beside(&graph, &fill(&graph), &steps, &|_| true), None);
    }
}
