//! # flatten
//!
//! Purpose: the tree of instances becomes the flat graph.
//! Input: [`Inst`]. Output: [`SdfGraph`] in program order, with a reader and a writer at open ends.
//! Example: `pipeline { add A; add splitjoin { split duplicate; add B; add C; join roundrobin; } }` →
//! `n0 A → n1 split → {n2 B, n3 C} → n4 join`. Invariant: see [`crate::graph`].

use super::{Dealing, Inst, InstKind};
use crate::graph::*;
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::FilterCode;
use sluice_grammar::ast::StreamKind;
use sluice_grammar::span::Span;
use std::collections::HashMap;

/// An output port that waits for a channel.
#[derive(Clone)]
struct Open {
    node: NodeId,
    port: u32,
    produce: u32,
    ty: Ty,
}

struct Flattener<'a> {
    graph: SdfGraph,
    codes: &'a [FilterCode],
    portals: Vec<(PortalId, NodeId)>,
}

/// The flat graph of a program, and which nodes are registered with which portal.
pub fn flatten(entry: &Inst, codes: &[FilterCode]) -> (SdfGraph, Vec<(PortalId, NodeId)>) {
    let mut f = Flattener { graph: SdfGraph::default(), codes, portals: Vec::new() };
    let root = f.hier(entry, None);
    let mut input = None;
    // the entry itself may have such a name
    let end = |name: &str| if *entry.name == *name { format!("{name}#2") } else { name.to_string() };
    if entry.io.0 != Ty::Void {
        let n = f.node(end("input"), "input".into(), NodeKind::Reader(Endpoint::Open), entry.added, root);
        input = Some(Open { node: n, port: 0, produce: 1, ty: entry.io.0.clone() });
    }
    let out = f.emit(entry, root, entry.name.clone(), input);
    if let Some(out) = out {
        let n = f.node(end("output"), "output".into(), NodeKind::Writer(Endpoint::Open), entry.added, root);
        f.connect(out, n, 0, 1, 1);
    }
    (f.graph, f.portals)
}

impl Flattener<'_> {
    fn node(&mut self, path: String, name: String, kind: NodeKind, span: Span, hier: HierId) -> NodeId {
        let id = NodeId::from(self.graph.nodes.len());
        self.graph.nodes.push(Node { path, name, kind, inputs: Vec::new(), outputs: Vec::new(), span, hier });
        self.graph.hierarchy[hier.index()].nodes.push(id);
        id
    }

    /// Does a firing of the node decide how many items it gives (or takes, or looks at)?
    fn decides(&self, node: NodeId, gives: bool) -> bool {
        let NodeKind::Filter { code, dynamic: true, .. } = self.graph.node(node).kind else { return false };
        let code = &self.codes[code.index()];
        let works = [Some(&code.work), code.prework.as_ref()];
        works.into_iter().flatten().filter_map(|w| w.dynamic).any(|d| if gives { d.push.is_some() } else { d.input() })
    }

    fn connect(&mut self, from: Open, to: NodeId, port: u32, consume: u32, peek: u32) -> ChannelId {
        let id = ChannelId::from(self.graph.channels.len());
        self.graph.channels.push(Channel {
            from: (from.node, from.port),
            to: (to, port),
            ty: from.ty,
            produce: from.produce,
            consume,
            peek: peek.max(consume),
            initial: Vec::new(),
            feedback: false,
            dynamic: self.decides(from.node, true) || self.decides(to, false),
        });
        let outputs = &mut self.graph.nodes[from.node.index()].outputs;
        outputs.resize(outputs.len().max(from.port as usize + 1), id);
        outputs[from.port as usize] = id;
        let inputs = &mut self.graph.nodes[to.index()].inputs;
        inputs.resize(inputs.len().max(port as usize + 1), id);
        inputs[port as usize] = id;
        id
    }

    fn hier(&mut self, inst: &Inst, parent: Option<HierId>) -> HierId {
        let id = HierId::from(self.graph.hierarchy.len());
        let kind = match &inst.kind {
            InstKind::Pipeline(_) => StreamKind::Pipeline,
            InstKind::SplitJoin { .. } => StreamKind::SplitJoin,
            InstKind::Loop { .. } => StreamKind::FeedbackLoop,
            _ => StreamKind::Filter,
        };
        self.graph.hierarchy.push(HierNode {
            kind,
            display: inst.display.clone(),
            name: inst.name.clone(),
            decl: inst.decl,
            added: inst.added,
            parent,
            children: Vec::new(),
            nodes: Vec::new(),
            io: inst.io.clone(),
        });
        if let Some(p) = parent {
            self.graph.hierarchy[p.index()].children.push(id);
        }
        id
    }

    fn child(&mut self, inst: &Inst, parent: HierId, path: String, input: Option<Open>) -> Option<Open> {
        let hier = self.hier(inst, Some(parent));
        self.emit(inst, hier, path, input)
    }

    fn emit(&mut self, inst: &Inst, hier: HierId, path: String, input: Option<Open>) -> Option<Open> {
        let leaf = |f: &mut Self, kind, path: String| f.node(path, inst.name.clone(), kind, inst.added, hier);
        match &inst.kind {
            InstKind::Filter(code) => {
                let c = &self.codes[code.index()];
                let rates = c.work.rates;
                let kind = NodeKind::Filter {
                    code: *code,
                    rates,
                    prework: c.prework.as_ref().map(|p| p.rates),
                    stateful: c.stateful.is_some(),
                    prints: c.prints,
                    dynamic: c.dynamic(),
                };
                let ty = c.output.clone();
                let n = leaf(self, kind, path);
                self.portals.extend(inst.portals.iter().map(|p| (*p, n)));
                if let Some(input) = input {
                    self.connect(input, n, 0, rates.pop, rates.peek);
                }
                (ty != Ty::Void).then_some(Open { node: n, port: 0, produce: rates.push, ty })
            }
            InstKind::Identity => {
                let n = leaf(self, NodeKind::Identity, path);
                if let Some(input) = input {
                    self.connect(input, n, 0, 1, 1);
                }
                Some(Open { node: n, port: 0, produce: 1, ty: inst.io.1.clone() })
            }
            InstKind::Reader(p) => {
                let n = leaf(self, NodeKind::Reader(Endpoint::File(p.clone())), path);
                Some(Open { node: n, port: 0, produce: 1, ty: inst.io.1.clone() })
            }
            InstKind::Writer(p) => {
                let n = leaf(self, NodeKind::Writer(Endpoint::File(p.clone())), path);
                if let Some(input) = input {
                    self.connect(input, n, 0, 1, 1);
                }
                None
            }
            InstKind::Pipeline(children) => {
                let names = unique_names(children);
                let mut open = input;
                for (c, name) in children.iter().zip(names) {
                    open = self.child(c, hier, format!("{path}.{name}"), open);
                }
                open
            }
            InstKind::SplitJoin { split, join, children } => {
                self.splitjoin(inst, hier, &path, split, join, children, input)
            }
            InstKind::Loop { join, split, body, back, enqueued } => {
                let (taken, given) = (body.io.0.clone(), body.io.1.clone());
                // joiner: the external input is port 0 where there is one
                let external = join.0[0] > 0;
                let mut weights = Vec::new();
                if external {
                    weights.push(join.0[0]);
                }
                let feedback_port = weights.len() as u32;
                weights.push(join.0[1]);
                let j =
                    self.node(format!("{path}.join"), "join".into(), NodeKind::JoinRoundRobin(weights), join.1, hier);
                if let Some(input) = input {
                    self.connect(input, j, 0, join.0[0], join.0[0]);
                }
                let joined = Open { node: j, port: 0, produce: join.0.iter().sum(), ty: taken.clone() };
                let out = self.child(body, hier, format!("{path}.{}", body.name), Some(joined))?;
                let (kind, consume, produce) = match &split.0 {
                    Dealing::Duplicate => (NodeKind::Duplicate, 1, [1, 1]),
                    Dealing::RoundRobin(w) => {
                        let kept: Vec<u32> = if w[0] > 0 { w.clone() } else { w[1..].to_vec() };
                        (NodeKind::SplitRoundRobin(kept), w.iter().sum(), [w[0], w[1]])
                    }
                };
                let s = self.node(format!("{path}.split"), "split".into(), kind, split.1, hier);
                self.connect(out, s, 0, consume, consume);
                let open_out = produce[0] > 0;
                let back_port = u32::from(open_out);
                let mut returned = Open { node: s, port: back_port, produce: produce[1], ty: given.clone() };
                if let Some(b) = back {
                    let name = if b.name == body.name { format!("{}#2", b.name) } else { b.name.clone() };
                    returned = self.child(b, hier, format!("{path}.{name}"), Some(returned))?;
                }
                let c = self.connect(returned, j, feedback_port, join.0[1], join.0[1]);
                let channel = &mut self.graph.channels[c.index()];
                channel.initial = enqueued.clone();
                channel.feedback = true;
                open_out.then_some(Open { node: s, port: 0, produce: produce[0], ty: given })
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn splitjoin(
        &mut self,
        inst: &Inst,
        hier: HierId,
        path: &str,
        split: &(Dealing, Span),
        join: &(Dealing, Span),
        children: &[Inst],
        input: Option<Open>,
    ) -> Option<Open> {
        let weight = |d: &Dealing, i: usize| match d {
            Dealing::Duplicate => 1,
            Dealing::RoundRobin(w) => w[i],
        };
        let takers: Vec<usize> = (0..children.len()).filter(|i| children[*i].io.0 != Ty::Void).collect();
        let mut opens: Vec<Option<Open>> = vec![None; children.len()];
        if let (Some(input), false) = (input, takers.is_empty()) {
            let weights: Vec<u32> = takers.iter().map(|i| weight(&split.0, *i)).collect();
            let duplicate = split.0 == Dealing::Duplicate;
            let consume = if duplicate { 1 } else { weights.iter().sum() };
            let ty = input.ty.clone();
            let kind = if duplicate { NodeKind::Duplicate } else { NodeKind::SplitRoundRobin(weights.clone()) };
            let s = self.node(format!("{path}.split"), "split".into(), kind, split.1, hier);
            self.connect(input, s, 0, consume, consume);
            for (port, (i, w)) in takers.iter().zip(&weights).enumerate() {
                opens[*i] = Some(Open { node: s, port: port as u32, produce: *w, ty: ty.clone() });
            }
        }
        let names = unique_names(children);
        let mut outs = Vec::new();
        for (i, (c, name)) in children.iter().zip(names).enumerate() {
            let open = opens[i].take();
            if let Some(out) = self.child(c, hier, format!("{path}.{name}"), open) {
                outs.push((weight(&join.0, i), out));
            }
        }
        if outs.is_empty() {
            return None;
        }
        let weights: Vec<u32> = outs.iter().map(|(w, _)| *w).collect();
        let produce = weights.iter().sum();
        let j = self.node(format!("{path}.join"), "join".into(), NodeKind::JoinRoundRobin(weights), join.1, hier);
        for (port, (w, out)) in outs.into_iter().enumerate() {
            self.connect(out, j, port as u32, w, w);
        }
        Some(Open { node: j, port: 0, produce, ty: inst.io.1.clone() })
    }
}

/// Names of siblings, made unique: `A`, `A#2`, `A#3`. `split` and `join` are taken by the nodes of that name.
fn unique_names(children: &[Inst]) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::from([("split", 1), ("join", 1)]);
    children
        .iter()
        .map(|c| {
            let n = seen.entry(&c.name).or_insert(0);
            *n += 1;
            if *n == 1 { c.name.clone() } else { format!("{}#{n}", c.name) }
        })
        .collect()
}
