//! The flat synchronous-dataflow graph and the hierarchy it came from.
//!
//! Nodes are filters, splitters, joiners, and the program's ends (file readers, file writers, the open input and output).
//! Channels join one output port to one input port. Node order is program order: depth first, a splitter before its
//! branches, a joiner after them, a loop's joiner before its body. The order is part of the language: it fixes the
//! reference schedule.

use crate::constant::Const;
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::Rates;
use sluice_grammar::ast::StreamKind;
use sluice_grammar::span::Span;

/// The flat graph.
#[derive(Clone, Debug, Default)]
pub struct SdfGraph {
    /// Nodes in program order, by [`NodeId`].
    pub nodes: Vec<Node>,
    /// Channels, by [`ChannelId`].
    pub channels: Vec<Channel>,
    /// The hierarchy, by [`HierId`]; entry 0 is the program.
    pub hierarchy: Vec<HierNode>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Path of instance names, such as `Main.Equalizer.BandPass#3.LowPass`; unique.
    pub path: String,
    /// Short name for pictures, such as `LowPass` or `split` or `join`.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// Channels by input port (a filter has at most one).
    pub inputs: Vec<ChannelId>,
    /// Channels by output port.
    pub outputs: Vec<ChannelId>,
    /// The `add` (or split, join) that made it.
    pub span: Span,
    /// The stream instance that holds it (for a filter: its own entry).
    pub hier: HierId,
}

/// What a node does in one firing.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A filter.
    Filter {
        /// Its code.
        code: CodeId,
        /// Rates of `work`.
        rates: Rates,
        /// Rates of the first firing where it differs.
        prework: Option<Rates>,
        /// Does state go from one firing to the next?
        stateful: bool,
        /// Can a firing print?
        prints: bool,
        /// Does a firing decide on one of its rates? Then `rates` (and `prework`) have 0 for it, and `peek` is what a firing needs to begin.
        dynamic: bool,
    },
    /// `Identity<T>`: one item in, the same item out.
    Identity,
    /// One item in, a copy on each output.
    Duplicate,
    /// Takes the sum of the weights, deals them out in turn; a weight for each output port.
    SplitRoundRobin(Vec<u32>),
    /// Collects a weight of items from each input port in turn.
    JoinRoundRobin(Vec<u32>),
    /// Items from a source outside: pop 0, push 1, ends when the source ends.
    Reader(Endpoint),
    /// Items to a sink outside: pop 1, push 0.
    Writer(Endpoint),
}

/// An end of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A file named in the program.
    File(String),
    /// The open input or output of the entry stream, bound on the command line.
    Open,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Producer and its output port.
    pub from: (NodeId, u32),
    /// Consumer and its input port.
    pub to: (NodeId, u32),
    /// Item type.
    pub ty: Ty,
    /// Items produced by a firing of the producer (its steady `work`).
    pub produce: u32,
    /// Items consumed by a firing of the consumer.
    pub consume: u32,
    /// Items the consumer must see to fire, at least `consume`.
    pub peek: u32,
    /// Items enqueued before the first firing, in order.
    pub initial: Vec<Const>,
    /// Does it close a feedback loop (from the loop stream to the joiner)?
    pub feedback: bool,
    /// Does a firing of one of its ends decide how many items it gives, takes or looks at? Such channels cut the graph into islands.
    pub dynamic: bool,
}

/// A stream instance.
#[derive(Clone, Debug)]
pub struct HierNode {
    /// Filter, pipeline, splitjoin, feedbackloop.
    pub kind: StreamKind,
    /// Name with arguments, for people.
    pub display: String,
    /// Declared name, or `anonymous`.
    pub name: String,
    /// The header of its declaration.
    pub decl: Span,
    /// The `add` that made it (the header for the entry).
    pub added: Span,
    /// Its parent.
    pub parent: Option<HierId>,
    /// Children in program order.
    pub children: Vec<HierId>,
    /// The nodes directly in it, in program order (a filter has itself, a splitjoin its splitter and joiner).
    pub nodes: Vec<NodeId>,
    /// Item types in and out.
    pub io: (Ty, Ty),
}

impl SdfGraph {
    /// The node behind an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The channel behind an id.
    pub fn channel(&self, id: ChannelId) -> &Channel {
        &self.channels[id.index()]
    }

    /// All node ids in program order.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::from)
    }

    /// All channel ids.
    pub fn channel_ids(&self) -> impl DoubleEndedIterator<Item = ChannelId> + use<> {
        (0..self.channels.len()).map(ChannelId::from)
    }

    /// Items that a firing of a channel's producer gives; `None` where the firing decides.
    pub fn gives(&self, channel: ChannelId) -> Option<u32> {
        let c = self.channel(channel);
        // a filter that has an output and never pushes is refused
        let decides = c.dynamic && c.produce == 0 && self.is_dynamic(c.from.0);
        (!decides).then_some(c.produce)
    }

    /// Items that a firing of a channel's consumer takes; `None` where the firing decides.
    pub fn takes(&self, channel: ChannelId) -> Option<u32> {
        let c = self.channel(channel);
        let decides = c.dynamic && c.consume == 0 && self.is_dynamic(c.to.0);
        (!decides).then_some(c.consume)
    }

    /// Does a node's firing decide on one of its rates?
    pub fn is_dynamic(&self, id: NodeId) -> bool {
        matches!(self.node(id).kind, NodeKind::Filter { dynamic: true, .. })
    }

    /// The graph without what dynamic channels carry: nothing is given or taken there. What has a steady state is this.
    pub fn cut(&self) -> std::borrow::Cow<'_, SdfGraph> {
        if !self.channels.iter().any(|c| c.dynamic) {
            return std::borrow::Cow::Borrowed(self);
        }
        let mut graph = self.clone();
        for c in graph.channels.iter_mut().filter(|c| c.dynamic) {
            (c.produce, c.consume, c.peek) = (0, 0, 0);
            c.initial.clear();
            for (end, gives) in [(c.from.0, true), (c.to.0, false)] {
                let NodeKind::Filter { rates, prework, .. } = &mut graph.nodes[end.index()].kind else { continue };
                for r in [Some(rates), prework.as_mut()].into_iter().flatten() {
                    *r = if gives { Rates { push: 0, ..*r } } else { Rates { push: r.push, ..Rates::default() } };
                }
            }
        }
        std::borrow::Cow::Owned(graph)
    }

    /// Items that firing number `firing` (from 0) of the channel's producer puts on it.
    pub fn produced_by_firing(&self, channel: ChannelId, firing: u64) -> u32 {
        let c = self.channel(channel);
        match &self.node(c.from.0).kind {
            NodeKind::Filter { prework: Some(p), .. } if firing == 0 => p.push,
            _ => c.produce,
        }
    }

    /// Items that firing number `firing` (from 0) of the channel's consumer takes off it.
    pub fn consumed_by_firing(&self, channel: ChannelId, firing: u64) -> u32 {
        let c = self.channel(channel);
        match &self.node(c.to.0).kind {
            NodeKind::Filter { prework: Some(p), .. } if firing == 0 => p.pop,
            _ => c.consume,
        }
    }

    /// Items that firing number `firing` (from 0) of the channel's consumer needs to see (to begin, where that decides on more).
    pub fn needed_by_firing(&self, channel: ChannelId, firing: u64) -> u32 {
        let c = self.channel(channel);
        match &self.node(c.to.0).kind {
            NodeKind::Filter { prework: Some(p), .. } if firing == 0 => p.peek,
            _ => c.peek,
        }
    }
}
