//! # taken-apart
//!
//! Purpose: filters with pipelines of their parts in their places. Input: an elaborated program, and for some codes the parts of their filters. Output: the program in which each such filter is a
//! pipeline; `None` where something would fire differently often.
//!
//! What must hold: a part takes what the part before it gives, the first takes and the last gives what the filter does, so all fire as often as the filter did. The caller has seen that there are no messages, and
//! no channels with dynamic rates at these filters.

use crate::Elaborated;
use crate::graph::{Channel, HierNode, Node, NodeKind, SdfGraph};
use crate::ids::*;
use crate::steady_state::steady_state;
use crate::typed::FilterCode;
use sluice_grammar::ast::StreamKind;

/// The program with the parts; by code, those of its filter in their order, none where it stays. The first has the filter's path, which messages tell: nothing can be wrong in the others.
pub fn taken_apart(program: &Elaborated, parts: Vec<Vec<FilterCode>>) -> Option<Elaborated> {
    let mut codes = program.codes.clone();
    let mut ids: Vec<Vec<CodeId>> = Vec::with_capacity(parts.len());
    for parts in parts {
        let first = codes.len();
        codes.extend(parts);
        ids.push((first..codes.len()).map(CodeId::from).collect());
    }
    let (graph, moved) = replaced(&program.graph, &codes, &ids);
    crate::graph_verify::debug_verify(&graph, "take-apart");
    let steady = steady_state(&graph).ok()?;
    let before = &program.steady;
    let same = program.graph.node_ids().all(|v| {
        let n = moved[v.index()].index();
        before.repetitions[v.index()] == steady.repetitions[n] && before.init[v.index()] == steady.init[n]
    });
    same.then(|| Elaborated { graph, steady, codes, ..program.clone() })
}

/// The graph with the parts, and where each node has gone: the last of its parts.
fn replaced(old: &SdfGraph, codes: &[FilterCode], ids: &[Vec<CodeId>]) -> (SdfGraph, Vec<NodeId>) {
    let mut graph =
        SdfGraph { channels: old.channels.clone(), hierarchy: old.hierarchy.clone(), ..SdfGraph::default() };
    // by node: the first and the last node in its place
    let mut places: Vec<(NodeId, NodeId)> = Vec::with_capacity(old.nodes.len());
    for v in old.node_ids() {
        let node = old.node(v);
        let at = NodeId::from(graph.nodes.len());
        let parts = match node.kind {
            NodeKind::Filter { code, .. } => &ids[code.index()][..],
            _ => &[],
        };
        if parts.is_empty() {
            places.push((at, at));
            graph.nodes.push(node.clone());
            continue;
        }
        let last = NodeId::from(graph.nodes.len() + parts.len() - 1);
        places.push((at, last));
        let channels: Vec<ChannelId> =
            (0..parts.len() - 1).map(|i| ChannelId::from(graph.channels.len() + i)).collect();
        let of = old.hierarchy[node.hier.index()].clone();
        graph.hierarchy[node.hier.index()].kind = StreamKind::Pipeline;
        for (i, id) in parts.iter().enumerate() {
            let (code, own) = (&codes[id.index()], NodeId::from(at.index() + i));
            let hier = HierId::from(graph.hierarchy.len());
            graph.hierarchy.push(HierNode {
                kind: StreamKind::Filter,
                display: code.display.clone(),
                parent: Some(node.hier),
                children: Vec::new(),
                nodes: vec![own],
                io: (code.input.clone(), code.output.clone()),
                ..of.clone()
            });
            graph.hierarchy[node.hier.index()].children.push(hier);
            let kind = NodeKind::Filter {
                code: *id,
                rates: code.work.rates,
                prework: None,
                stateful: code.stateful.is_some(),
                prints: false,
                dynamic: false,
            };
            let inputs = if i == 0 { node.inputs.clone() } else { vec![channels[i - 1]] };
            let outputs = channels.get(i).map_or_else(|| node.outputs.clone(), |c| vec![*c]);
            let path = if i == 0 { node.path.clone() } else { format!("{}.{}", node.path, i + 1) };
            graph.nodes.push(Node { path, kind, inputs, outputs, hier, ..node.clone() });
        }
        for (i, pair) in parts.windows(2).enumerate() {
            let (from, to) = (codes[pair[0].index()].work.rates, codes[pair[1].index()].work.rates);
            graph.channels.push(Channel {
                from: (NodeId::from(at.index() + i), 0),
                to: (NodeId::from(at.index() + i + 1), 0),
                ty: codes[pair[0].index()].output.clone(),
                produce: from.push,
                consume: to.pop,
                peek: to.peek,
                initial: Vec::new(),
                feedback: false,
                dynamic: false,
            });
        }
    }
    for c in &mut graph.channels[..old.channels.len()] {
        c.from.0 = places[c.from.0.index()].1;
        c.to.0 = places[c.to.0.index()].0;
    }
    // a filter that has become a pipeline has its filter no more, but the program's ends, where it is the program
    for (h, hier) in graph.hierarchy[..old.hierarchy.len()].iter_mut().enumerate() {
        let own = |v: &NodeId| places[v.index()];
        hier.nodes = old.hierarchy[h].nodes.iter().map(own).filter(|(a, b)| a == b).map(|(a, _)| a).collect();
    }
    (graph, places.into_iter().map(|(_, last)| last).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoImports, Options, SourceInput, analyse, graph_verify};

    /// Two parts that do what the filter does, as far as the graph goes.
    fn halves(code: &FilterCode) -> Vec<FilterCode> {
        let (mut a, mut b) = (code.clone(), code.clone());
        a.work.rates.push = 3;
        (b.work.rates.pop, b.work.rates.peek) = (3, 3);
        a.stateful = None;
        vec![a, b]
    }

    fn taken(main: &str) -> (Elaborated, Elaborated) {
        let text = format!(
            "float->float filter Sum(int n) {{ float s; work pop n push 2 {{ for (int i = 0; i < n; i++) s += pop(); push(s); push(s); }} }} {main}"
        );
        let input = SourceInput { name: "a.str".into(), text };
        let program = analyse(vec![input], &Options::default(), &mut NoImports).program.unwrap();
        let parts = program.codes.iter().map(|c| if c.name.to_string() == "Sum" { halves(c) } else { Vec::new() });
        let parts = parts.collect();
        let new = taken_apart(&program, parts).unwrap();
        graph_verify::verify(&new.graph).unwrap();
        (program, new)
    }

    #[test]
    fn a_filter_becomes_a_pipeline() {
        let both = "float->float pipeline Main { add Sum(3); add splitjoin { split duplicate; add Sum(2); add Sum(3); join roundrobin(3, 2); }; }";
        for main in [both, "float->float pipeline Main { add Sum(4); }"] {
            let (old, new) = taken(main);
            let sums = |p: &Elaborated| p.graph.nodes.iter().filter(|n| n.name == "Sum").count();
            assert_eq!(sums(&new), 2 * sums(&old));
            assert_eq!(new.graph.channels.len(), old.graph.channels.len() + sums(&old));
            let stateful = |n: &&Node| matches!(n.kind, NodeKind::Filter { stateful: true, .. });
            assert_eq!(new.graph.nodes.iter().filter(stateful).count(), sums(&old));
            // one part has the filter's path
            let paths = |p: &Elaborated| p.graph.nodes.iter().map(|n| n.path.clone()).collect::<Vec<_>>();
            let of_new = paths(&new);
            assert!(paths(&old).iter().all(|p| of_new.contains(p)), "{of_new:?}");
            // nodes stand in the order in which items pass
            for c in &new.graph.channels {
                assert!(c.from.0 < c.to.0, "{main}");
            }
            for (h, hier) in new.graph.hierarchy.iter().enumerate() {
                assert!(hier.parent.is_none_or(|p| p.index() < h), "{main}");
                assert!(hier.kind != StreamKind::Filter || hier.nodes.len() == 1, "{main}");
            }
        }
    }
}
