//! SDEP against its definition: the fewest firings of u after which v can fire m times, found by trying.

use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::messages::sdep::sdep;
use sluice_frontend::{NoImports, Options, SourceInput, analyse};

/// Can v fire m times when u fires at most `limit` times, and all others as often as they like?
fn possible(graph: &SdfGraph, u: NodeId, limit: u64, v: NodeId, m: u64) -> bool {
    let mut fill: Vec<u64> = graph.channels.iter().map(|c| c.initial.len() as u64).collect();
    let mut fired = vec![0u64; graph.nodes.len()];
    // items that nobody needs any more are no reason to go on for ever
    let enough = 400;
    loop {
        let mut progress = false;
        for n in graph.node_ids() {
            let at = fired[n.index()];
            let node = graph.node(n);
            let full = node.outputs.iter().any(|c| fill[c.index()] > enough);
            let has = node.inputs.iter().all(|c| fill[c.index()] >= u64::from(graph.needed_by_firing(*c, at)));
            if !has || (full && n != v) || (n == u && at >= limit) || (n == v && at >= m) {
                continue;
            }
            node.inputs.iter().for_each(|c| fill[c.index()] -= u64::from(graph.consumed_by_firing(*c, at)));
            node.outputs.iter().for_each(|c| fill[c.index()] += u64::from(graph.produced_by_firing(*c, at)));
            fired[n.index()] += 1;
            progress = true;
        }
        if fired[v.index()] >= m {
            return true;
        }
        if !progress {
            return false;
        }
    }
}

fn agrees(program: &str) {
    let input = SourceInput { name: "program.str".into(), text: program.into() };
    let analysis = analyse(vec![input], &Options::default(), &mut NoImports);
    let program = analysis.program.unwrap_or_else(|| panic!("{:?}", analysis.diagnostics));
    let graph = &program.graph;
    let mut compared = 0;
    for v in graph.node_ids() {
        let all: Vec<NodeId> = graph.node_ids().collect();
        let counts = sdep(graph, &program.steady.repetitions, &all, v).unwrap();
        for (u, f) in all.iter().zip(&counts).filter(|(u, _)| **u != v) {
            // past the table, too
            for m in 1..=(f.head.len() as u64 + f.period + 2).min(40) {
                let least = (0..).find(|k| possible(graph, *u, *k, v, m)).unwrap();
                let (from, to) = (&graph.node(*u).path, &graph.node(v).path);
                assert_eq!(f.at(m), least, "SDEP({m}; {from} -> {to})");
                compared += 1;
            }
        }
    }
    assert!(compared > 20);
}

const PARTS: &str = "
void->int filter A(int n) { work push n { for (int i = 0; i < n; i++) push(i); } }
int->int filter F(int o, int i, int e) { work pop i push o peek e { for (int k = 0; k < i; k++) pop(); for (int k = 0; k < o; k++) push(k); } }
int->int filter P(int o, int i) {
    prework pop 5 peek 7 push 2 { for (int k = 0; k < 5; k++) pop(); push(1); push(2); }
    work pop i push o { for (int k = 0; k < i; k++) pop(); for (int k = 0; k < o; k++) push(k); }
}
int->void filter Z(int n) { work pop n { for (int i = 0; i < n; i++) pop(); } }
";

#[test]
fn of_pipelines() {
    // the paper's figure: A pushes 2, B pops 3
    agrees(&format!("{PARTS} void->void pipeline Main {{ add A(2); add F(1, 3, 3); add Z(1); }}"));
    agrees(&format!("{PARTS} void->void pipeline Main {{ add A(3); add F(5, 2, 6); add F(2, 7, 9); add Z(3); }}"));
}

#[test]
fn of_preworks() {
    agrees(&format!("{PARTS} void->void pipeline Main {{ add A(2); add P(3, 2); add F(1, 2, 5); add Z(1); }}"));
}

#[test]
fn of_splitjoins() {
    agrees(&format!(
        "{PARTS} void->void pipeline Main {{ add A(1); add splitjoin {{ split roundrobin(2, 3); add F(1, 1, 4); add F(4, 3, 3); \
         join roundrobin(1, 2); }} add Z(2); }}"
    ));
    agrees(&format!(
        "{PARTS} void->void pipeline Main {{ add A(2); add splitjoin {{ split duplicate; add F(1, 2, 8); add P(1, 2); \
         join roundrobin; }} add Z(1); }}"
    ));
}

#[test]
fn of_loops() {
    agrees(&format!(
        "{PARTS} void->void pipeline Main {{ add A(1); add feedbackloop {{ join roundrobin(2, 1); body F(3, 3, 3); loop F(2, 2, 3); \
         split roundrobin(2, 1); for (int i = 0; i < 5; i++) enqueue i; }} add Z(3); }}"
    ));
}
