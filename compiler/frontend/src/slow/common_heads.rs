//! # common-heads
//!
//! Purpose: branches behind a duplicate splitter that begin with equal filters: they see the same items from the same state on, so they give the same, and one of them is enough, before the
//! splitter. Input: an elaborated program, and which filters may be taken together. Output: the program without the others; `None` where there are none.
//!
//! ```text
//! split duplicate → (Pole, A), (Pole, B), Pole → join      becomes      Pole → split duplicate → A, B, Identity → join
//! ```
//!
//! Conditions: all branches of a splitjoin begin with a filter of one code (so its parameters and the first values of its fields are the same); it neither prints, sends, nor calls native functions, and
//! no message comes to any filter of the program; the same items wait before each from the beginning, none behind any, and its rates are fixed. A fault would be that of another filter than without:
//! the caller leaves out filters that can have one. What the branches begin with then is looked at again.
//!
//! What must hold afterwards: everything else fires as often as before, at every boundary too. The filter does what each of them did: as often as the one that fired most, where they had to fire
//! differently often before the first steady state.

use crate::Elaborated;
use crate::graph::{Channel, HierNode, NodeKind, SdfGraph};
use crate::ids::*;
use crate::steady_state::steady_state;
use crate::typed::FilterCode;
use sluice_grammar::ast::StreamKind;
use std::collections::{HashMap, HashSet};

/// Filters of a branch that are looked at, at most.
const ROUNDS: usize = 64;

/// A splitjoin whose branches begin alike.
struct Candidate {
    hier: HierId,
    split: NodeId,
    join: NodeId,
    /// By branch: the filter that it begins with.
    heads: Vec<NodeId>,
}

/// The program in which filters that branches have in common stand before their splitters, if `may` agrees to them.
pub fn common_heads(program: &Elaborated, may: &mut dyn FnMut(&FilterCode) -> bool) -> Option<Elaborated> {
    // what waits for whom is said by node
    let messages = !program.messages.links.is_empty() || !program.portals.is_empty();
    if messages || !program.steady.precedences.is_empty() || program.steady.islands.is_some() {
        return None;
    }
    let mut asked: HashMap<CodeId, bool> = HashMap::new();
    let mut may = |c: CodeId| {
        *asked.entry(c).or_insert_with(|| {
            let code = &program.codes[c.index()];
            let plain = code.init_output.is_empty() && code.calls_native.is_none() && code.sends.is_none();
            plain && !code.prints && code.convolution.is_none() && may(code)
        })
    };
    let mut made: Option<Elaborated> = None;
    for _ in 0..ROUNDS {
        let Some(next) = round(made.as_ref().unwrap_or(program), &mut may) else { break };
        made = Some(next);
    }
    made
}

/// The same for the first filter of branches.
fn round(program: &Elaborated, may: &mut dyn FnMut(CodeId) -> bool) -> Option<Elaborated> {
    let old = &program.graph;
    let mut taken: HashSet<ChannelId> = HashSet::new();
    let mut all = Vec::new();
    for h in (0..old.hierarchy.len()).map(HierId::from) {
        let Some(c) = candidate(old, h, may) else { continue };
        // one next to another has its turn in the next round
        let own = |v: &NodeId| old.node(*v).inputs.iter().chain(&old.node(*v).outputs).copied();
        let channels: Vec<ChannelId> = c.heads.iter().chain([&c.split]).flat_map(own).collect();
        if channels.iter().all(|c| !taken.contains(c)) {
            taken.extend(channels);
            all.push(c);
        }
    }
    if all.is_empty() {
        return None;
    }
    let (graph, moved) = hoisted(old, &all)?;
    crate::graph_verify::debug_verify(&graph, "common-heads");
    let steady = steady_state(&graph).ok()?;
    let apart: HashSet<NodeId> = all.iter().flat_map(|c| c.heads.iter().chain([&c.split])).copied().collect();
    let same = old.node_ids().all(|v| {
        let (a, b, Some(n)) = (&program.steady, &steady, moved[v.index()]) else { return true };
        apart.contains(&v)
            || a.repetitions[v.index()] == b.repetitions[n.index()] && a.init[v.index()] == b.init[n.index()]
    });
    same.then(|| Elaborated { graph, steady, ..program.clone() })
}

/// The filter that a stream begins with.
fn head(graph: &SdfGraph, mut h: HierId) -> Option<NodeId> {
    loop {
        let hier = &graph.hierarchy[h.index()];
        match hier.kind {
            StreamKind::Filter => return hier.nodes.first().copied(),
            StreamKind::Pipeline if hier.nodes.is_empty() => h = *hier.children.first()?,
            _ => return None,
        }
    }
}

fn is_end(graph: &SdfGraph, v: NodeId) -> bool {
    matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_))
}

fn candidate(graph: &SdfGraph, h: HierId, may: &mut dyn FnMut(CodeId) -> bool) -> Option<Candidate> {
    let hier = &graph.hierarchy[h.index()];
    let own: Vec<NodeId> = hier.nodes.iter().copied().filter(|v| !is_end(graph, *v)).collect();
    let (StreamKind::SplitJoin, &[split, join]) = (hier.kind, &own[..]) else { return None };
    let NodeKind::Duplicate = graph.node(split).kind else { return None };
    let n = hier.children.len();
    if n < 2 || graph.node(split).outputs.len() != n {
        return None;
    }
    let into = graph.channel(*graph.node(split).inputs.first()?);
    let heads: Vec<NodeId> = hier.children.iter().map(|c| head(graph, *c)).collect::<Option<_>>()?;
    let mut first: Option<(CodeId, &[_])> = None;
    for (b, v) in heads.iter().enumerate() {
        let NodeKind::Filter { code, prints: false, dynamic: false, .. } = graph.node(*v).kind else { return None };
        let (&[i], &[o]) = (&graph.node(*v).inputs[..], &graph.node(*v).outputs[..]) else { return None };
        let (i, o) = (graph.channel(i), graph.channel(o));
        let plain = !o.dynamic && !i.dynamic && o.initial.is_empty() && !o.feedback;
        let waiting = &i.initial[..];
        if !plain || i.from != (split, b as u32) || *first.get_or_insert((code, waiting)) != (code, waiting) {
            return None;
        }
    }
    let (code, waiting) = first?;
    let plain = !into.dynamic && (waiting.is_empty() || into.initial.is_empty());
    (plain && may(code)).then_some(Candidate { hier: h, split, join, heads })
}

/// The graph with the candidates' filters before their splitters, and where each node has gone: of the filters the first of each candidate, and those of which only an identity is left.
fn hoisted(old: &SdfGraph, all: &[Candidate]) -> Option<(SdfGraph, Vec<Option<NodeId>>)> {
    let alone = |c: &Candidate, v: NodeId| old.channel(old.node(v).outputs[0]).to.0 == c.join;
    // by node: what stands in its place
    let mut first_of: HashMap<NodeId, usize> = HashMap::new();
    let mut gone: HashSet<NodeId> = HashSet::new();
    let mut left: HashSet<NodeId> = HashSet::new();
    for (i, c) in all.iter().enumerate() {
        first_of.insert(c.split, i);
        for v in &c.heads {
            if alone(c, *v) {
                left.insert(*v)
            } else {
                gone.insert(*v)
            };
        }
    }
    let mut graph = SdfGraph { channels: old.channels.clone(), ..SdfGraph::default() };
    let mut moved: Vec<Option<NodeId>> = vec![None; old.nodes.len()];
    // by candidate: its filter
    let mut filters = Vec::with_capacity(all.len());
    for v in old.node_ids() {
        if let Some(i) = first_of.get(&v) {
            filters.push((*i, NodeId::from(graph.nodes.len())));
            graph.nodes.push(old.node(all[*i].heads[0]).clone());
        }
        if !gone.contains(&v) {
            moved[v.index()] = Some(NodeId::from(graph.nodes.len()));
            graph.nodes.push(old.node(v).clone());
        }
    }
    let at = |v: NodeId| moved[v.index()];
    for channel in &mut graph.channels {
        channel.from.0 = at(channel.from.0).unwrap_or(channel.from.0);
        channel.to.0 = at(channel.to.0).unwrap_or(channel.to.0);
    }
    let mut dropped: HashSet<ChannelId> = HashSet::new();
    filters.sort_unstable();
    for ((_, filter), c) in filters.iter().zip(all) {
        let split = at(c.split)?;
        let into = old.node(c.split).inputs[0];
        let (taken, given) = (old.node(c.heads[0]).inputs[0], old.node(c.heads[0]).outputs[0]);
        let (taken, given) = (old.channel(taken), old.channel(given));
        let i = &mut graph.channels[into.index()];
        (i.to, i.consume, i.peek) = ((*filter, 0), taken.consume, taken.peek);
        i.initial.extend(taken.initial.iter().cloned());
        for (b, v) in c.heads.iter().enumerate() {
            let (taken, output) = (old.node(*v).inputs[0], old.node(*v).outputs[0]);
            let o = &mut graph.channels[output.index()];
            let plain = Channel { initial: Vec::new(), feedback: false, dynamic: false, ..o.clone() };
            if let Some(identity) = at(*v) {
                // from the splitter to what is left of the branch, and from there to the joiner
                (o.from, o.produce) = ((identity, 0), 1);
                let to =
                    Channel { from: (split, b as u32), to: (identity, 0), produce: 1, consume: 1, peek: 1, ..plain };
                graph.channels[taken.index()] = to;
                let node = &mut graph.nodes[identity.index()];
                (node.kind, node.name) = (NodeKind::Identity, "Identity".into());
                node.path.push_str(".same");
                graph.nodes[split.index()].outputs[b] = taken;
            } else {
                (o.from, o.produce) = ((split, b as u32), 1);
                dropped.insert(taken);
                graph.nodes[split.index()].outputs[b] = output;
            }
        }
        let between = ChannelId::from(graph.channels.len());
        graph.channels.push(Channel {
            from: (*filter, 0),
            to: (split, 0),
            ty: given.ty.clone(),
            produce: given.produce,
            consume: 1,
            peek: 1,
            initial: Vec::new(),
            feedback: false,
            dynamic: false,
        });
        graph.nodes[split.index()].inputs = vec![between];
        let node = &mut graph.nodes[filter.index()];
        (node.inputs, node.outputs) = (vec![into], vec![between]);
    }
    without(&mut graph, &dropped);
    hierarchy(old, all, (&moved, &filters, &gone, &left), &mut graph);
    Some((graph, moved))
}

fn given_id(graph: &SdfGraph, c: &Candidate) -> ChannelId {
    graph.node(c.heads[0]).outputs[0]
}

/// Takes channels out of a graph that no node names.
fn without(graph: &mut SdfGraph, dropped: &HashSet<ChannelId>) {
    let mut next = 0;
    let moved: Vec<ChannelId> = (graph.channel_ids())
        .map(|c| {
            let at = ChannelId::from(next);
            next += usize::from(!dropped.contains(&c));
            at
        })
        .collect();
    let mut i = 0;
    graph.channels.retain(|_| {
        i += 1;
        !dropped.contains(&ChannelId::from(i - 1))
    });
    for node in &mut graph.nodes {
        node.inputs.iter_mut().chain(&mut node.outputs).for_each(|c| *c = moved[c.index()]);
    }
}

type Moves<'a> = (&'a [Option<NodeId>], &'a [(usize, NodeId)], &'a HashSet<NodeId>, &'a HashSet<NodeId>);

/// The streams of the new graph: a filter and its splitjoin follow one another in the pipeline that the splitjoin stood in, or else in one that takes its place.
fn hierarchy(old: &SdfGraph, all: &[Candidate], (moved, filters, gone, left): Moves<'_>, graph: &mut SdfGraph) {
    let by_hier: HashMap<HierId, usize> = all.iter().enumerate().map(|(i, c)| (c.hier, i)).collect();
    // what branches take now
    let mut taken: HashMap<HierId, crate::ty::Ty> = HashMap::new();
    for c in all {
        let ty = &old.channel(given_id(old, c)).ty;
        taken.insert(c.hier, ty.clone());
        for v in &c.heads {
            let mut h = old.node(*v).hier;
            while h != c.hier {
                taken.insert(h, ty.clone());
                let Some(parent) = old.hierarchy[h.index()].parent else { break };
                h = parent;
            }
        }
    }
    let mut made: Vec<HierNode> = Vec::new();
    let mut push = |of: HierNode, parent: Option<HierId>, nodes: &[NodeId], graph: &mut SdfGraph| {
        let id = HierId::from(made.len());
        nodes.iter().for_each(|n| graph.nodes[n.index()].hier = id);
        made.push(HierNode { parent, children: Vec::new(), nodes: nodes.to_vec(), ..of });
        if let Some(p) = parent {
            made[p.index()].children.push(id);
        }
        id
    };
    let is_pipeline = |h: HierId| old.hierarchy[h.index()].kind == StreamKind::Pipeline;
    let mut open = vec![(HierId(0), None)];
    while let Some((h, mut parent)) = open.pop() {
        let hier = &old.hierarchy[h.index()];
        let mut of = hier.clone();
        if hier.kind == StreamKind::Filter && hier.nodes.iter().any(|v| gone.contains(v)) {
            continue;
        }
        if hier.kind == StreamKind::Filter && hier.nodes.iter().any(|v| left.contains(v)) {
            (of.display, of.name) = ("Identity".into(), "Identity".into());
        }
        let mut nodes: Vec<NodeId> = hier.nodes.iter().filter_map(|v| moved[v.index()]).collect();
        let before = of.io.0.clone();
        if let Some(ty) = taken.get(&h) {
            of.io.0 = ty.clone();
        }
        if let Some(i) = by_hier.get(&h) {
            let filter = filters[*i].1;
            if hier.parent.is_none_or(|p| !is_pipeline(p)) {
                // the program's own ends are those of what takes the place of all of it
                let ends: Vec<NodeId> = nodes.iter().copied().filter(|v| is_end(graph, *v)).collect();
                nodes.retain(|v| !ends.contains(v));
                let io = (before, of.io.1.clone());
                let pipeline = HierNode { kind: StreamKind::Pipeline, io, ..of.clone() };
                parent = Some(push(pipeline, parent, &ends, graph));
            }
            let own = &old.hierarchy[old.node(all[*i].heads[0]).hier.index()];
            push(own.clone(), parent, &[filter], graph);
        }
        let id = push(of, parent, &nodes, graph);
        open.extend(hier.children.iter().rev().map(|c| (*c, Some(id))));
    }
    graph.hierarchy = made;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoImports, Options, SourceInput, analyse, graph_verify};

    fn program(main: &str) -> Elaborated {
        let used = |l: &&str| main.contains(&format!("add {}", l.split([' ', '(']).nth(2).unwrap()));
        let text = FILTERS.lines().map(str::trim).filter(used).chain([main]).collect::<Vec<_>>().join("\n");
        let input = SourceInput { name: "a.str".into(), text };
        analyse(vec![input], &Options::default(), &mut NoImports).program.unwrap()
    }

    fn filters(graph: &SdfGraph, name: &str) -> usize {
        graph.nodes.iter().filter(|n| n.name == name).count()
    }

    const FILTERS: &str = "float->float filter Pole(float a) { float z; work pop 1 push 1 { z = a * z + pop(); push(z); } }
        float->float filter Sum(int n) { work pop n push 1 { float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }
        float->float filter Ahead(int n) { work pop 1 peek n push 1 { push(peek(n - 1)); pop(); } }
        float->float filter Twice { work pop 1 push 2 { push(peek(0)); push(pop()); } }";

    /// The program with common heads; every node is where it should be.
    fn made(main: &str) -> Option<SdfGraph> {
        let made = common_heads(&program(main), &mut |_| true)?;
        graph_verify::verify(&made.graph).unwrap();
        Some(made.graph)
    }

    #[test]
    fn what_branches_begin_with_stands_before_them_once() {
        let graph = made(
            "float->float splitjoin Main { split duplicate;
                 for (int i = 2; i < 5; i++) add pipeline { add Pole(0.5); add Twice; add Sum(2 * i); };
                 join roundrobin(6, 4, 3); }",
        )
        .unwrap();
        assert_eq!((filters(&graph, "Pole"), filters(&graph, "Twice"), filters(&graph, "Sum")), (1, 1, 3));
    }

    #[test]
    fn a_branch_that_is_no_more_is_an_identity() {
        let graph = made(
            "float->float pipeline Main { add Pole(0.25); add splitjoin { split duplicate; add Pole(0.5); add Pole(0.5); add pipeline { add Pole(0.5); add Sum(2); }; join roundrobin(2, 2, 1); }; }",
        )
        .unwrap();
        assert_eq!((filters(&graph, "Pole"), filters(&graph, "Identity"), filters(&graph, "Sum")), (2, 2, 1));
    }

    #[test]
    fn within_other_splitjoins_and_each_other() {
        let graph = made(
            "float->float splitjoin Main { split duplicate;
                 for (int i = 0; i < 2; i++) add pipeline { add Pole(0.5); add splitjoin { split duplicate; add pipeline { add Sum(2); add Pole(i); }; add pipeline { add Sum(2); add Pole(i + 3); }; join roundrobin; }; };
                 join roundrobin; }",
        )
        .unwrap();
        // what both inner ones begin with begins both outer branches
        assert_eq!((filters(&graph, "Pole"), filters(&graph, "Sum")), (5, 1));
    }

    #[test]
    fn what_differs_stays() {
        for main in [
            "float->float splitjoin Main { split duplicate; add Pole(0.5); add Pole(0.25); join roundrobin; }",
            "float->float splitjoin Main { split roundrobin; add Pole(0.5); add Pole(0.5); join roundrobin; }",
            "float->float splitjoin Main { split duplicate; add Pole(0.5); add Twice; join roundrobin(1, 2); }",
            "float->float filter Loud { work pop 1 push 1 { println(1); push(pop()); } } float->float splitjoin Main { split duplicate; add Loud; add Loud; join roundrobin; }",
            "float->float filter Heard { float g; work pop 1 push 1 { push(g * pop()); } handler set(float v) { g = v; } }
             float->float filter Says(portal<Heard> p) { work pop 1 push 1 { p.set(1) [1:1]; push(pop()); } }
             float->float pipeline Main { portal<Heard> p; add splitjoin { split duplicate; add Heard to p; add Heard; join roundrobin; }; add Says(p); }",
        ] {
            assert!(made(main).is_none(), "{main}");
        }
    }

    /// Before the first steady state they fire as often as what follows looks ahead.
    #[test]
    fn fires_as_often_as_the_one_that_fires_most() {
        let before = program(
            "float->float pipeline Main { add Pole(0.1); add splitjoin { split duplicate;
                 add pipeline { add Pole(0.5); add Ahead(5); }; add pipeline { add Pole(0.5); add Ahead(9); }; join roundrobin; }; }",
        );
        let after = common_heads(&before, &mut |_| true).unwrap();
        let of = |p: &Elaborated, path: &str| {
            let v = p.graph.nodes.iter().position(|n| n.path.ends_with(path)).unwrap();
            (p.steady.init[v], p.steady.repetitions[v])
        };
        assert_eq!(of(&after, "Ahead"), of(&before, "Ahead"));
        let poles: Vec<u64> = after
            .graph
            .node_ids()
            .filter(|v| after.graph.node(*v).name == "Pole")
            .map(|v| after.steady.init[v.index()])
            .collect();
        assert_eq!(poles, [8, 8]);
    }
}
