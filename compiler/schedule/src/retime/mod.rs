//! Retiming and C-slow.
//!
//! A [`DelayGraph`] has nodes that take time and edges that hold delays (registers, items that are there before the first
//! iteration). What a chain of edges without delays leads through happens within one iteration: the longest such chain is the
//! *period* ([`period`]). A [`Retiming`] moves delays through nodes and changes nothing else: [`feas`] finds one for a given
//! period, [`opt`] the smallest period there is, in three ways that agree. [`DelayGraph::slowed`] multiplies the delays, so that
//! independent streams take turns. [`homogeneous`] makes such a graph of a stream graph, a node for each firing of the steady state. How a
//! retimed graph is run says [`Retiming::prologue`]; what C-slow gains, [`load`].
//!
//! Source: C. E. Leiserson, J. B. Saxe, "Retiming synchronous circuitry", Algorithmica 6, 1991, whose names are kept: d(v) is
//! [`DelayGraph::time`], w(e) is [`Edge::delays`], Φ the period, r a retiming, w_r(e) = w(e) + r(v) − r(u) for e: u → v.

pub mod feas;
pub mod homogeneous;
pub mod load;
pub mod opt;
pub mod paths;
pub mod period;

use crate::analysis::cycle_ratio::{Arc, Critical, NoRatio, cycle_ratio};
use std::fmt;

/// An edge: what `from` does is needed by `to`, `delays` iterations later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Where it comes from.
    pub from: usize,
    /// Where it leads.
    pub to: usize,
    /// Delays on it.
    pub delays: u64,
}

/// Nodes that take time, with edges that hold delays.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DelayGraph {
    /// d(v): the time of each node.
    pub time: Vec<u64>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// The node that stands for the world, if there is one: its r is 0, so that nothing is delayed as seen from there.
    pub host: Option<usize>,
}

/// r: how many delays move from the outputs of each node to its inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Retiming(pub Vec<i64>);

/// What is wrong with a graph, or a retiming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetimingError {
    /// Edges of a cycle without delays.
    NoDelay(Vec<usize>),
    /// There is not one number for each node.
    Nodes,
    /// The host's number is not 0.
    Host,
    /// Less than no delays would be on this edge.
    Negative(usize),
    /// Numbers beyond 62 bits.
    TooLarge,
    /// The graph has more nodes or edges than the method is for.
    TooMany {
        /// How many the method is for.
        limit: usize,
    },
}

impl fmt::Display for RetimingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RetimingError::NoDelay(cycle) => write!(f, "a cycle of {} edges has no delay", cycle.len()),
            RetimingError::Nodes => write!(f, "a retiming has one number for each node"),
            RetimingError::Host => write!(f, "the host cannot be retimed"),
            RetimingError::Negative(e) => write!(f, "edge {e} would have less than no delays"),
            RetimingError::TooLarge => write!(f, "times or delays add up to more than 62 bits hold"),
            RetimingError::TooMany { limit } => write!(f, "more than {limit} nodes or edges"),
        }
    }
}

impl std::error::Error for RetimingError {}

impl Retiming {
    /// Whole steps ahead: how often each node has fired before the first iteration of the retimed graph, counted so that
    /// some node has not. Run these firings of the graph, and the items that are then on its edges are the delays of the retimed one: from
    /// there on each iteration fires every node once, and the streams are the same.
    pub fn prologue(&self) -> Vec<u64> {
        let most = self.0.iter().copied().max().unwrap_or(0);
        self.0.iter().map(|r| most.abs_diff(*r)).collect()
    }
}

impl DelayGraph {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.time.len()
    }

    /// The graph with its delays moved.
    pub fn retimed(&self, r: &Retiming) -> Result<DelayGraph, RetimingError> {
        if r.0.len() != self.nodes() {
            return Err(RetimingError::Nodes);
        }
        if self.host.is_some_and(|h| r.0[h] != 0) {
            return Err(RetimingError::Host);
        }
        let moved = |(i, e): (usize, &Edge)| {
            let delays = i128::from(e.delays) + i128::from(r.0[e.to]) - i128::from(r.0[e.from]);
            if delays < 0 {
                return Err(RetimingError::Negative(i));
            }
            Ok(Edge { delays: u64::try_from(delays).map_err(|_| RetimingError::TooLarge)?, ..*e })
        };
        let edges = self.edges.iter().enumerate().map(moved).collect::<Result<_, _>>()?;
        Ok(DelayGraph { edges, ..self.clone() })
    }

    /// C-slow: `c` times the delays on every edge, so that `c` independent streams take turns, each in every `c`-th iteration.
    /// Source: Leiserson and Saxe, section 9; "Method for Software Pipelining on GPUs", section 5.
    pub fn slowed(&self, c: u64) -> Result<DelayGraph, RetimingError> {
        let edge = |e: &Edge| {
            let delays = e.delays.checked_mul(c).ok_or(RetimingError::TooLarge)?;
            Ok(Edge { delays, ..*e })
        };
        Ok(DelayGraph { edges: self.edges.iter().map(edge).collect::<Result<_, _>>()?, ..self.clone() })
    }

    /// The iteration bound: no retiming, and no schedule, gets below it.
    pub fn iteration_bound(&self) -> Result<Option<Critical>, RetimingError> {
        let arc = |e: &Edge| Arc { from: e.from, to: e.to, weight: self.time[e.from], distance: e.delays };
        let arcs: Vec<Arc> = self.edges.iter().map(arc).collect();
        cycle_ratio(self.nodes(), &arcs).map_err(|e| match e {
            NoRatio::Deadlock(cycle) => RetimingError::NoDelay(cycle),
            NoRatio::TooLarge => RetimingError::TooLarge,
        })
    }

    /// Sees to it that sums of times and of delays fit, and that no cycle is without delay.
    pub(crate) fn check(&self) -> Result<(), RetimingError> {
        let sum = |mut all: Box<dyn Iterator<Item = u64> + '_>| {
            all.try_fold(0u64, |s, x| s.checked_add(x).filter(|s| *s <= 1 << 62)).ok_or(RetimingError::TooLarge)
        };
        sum(Box::new(self.time.iter().copied()))?;
        sum(Box::new(self.edges.iter().map(|e| e.delays)))?;
        self.iteration_bound().map(|_| ())
    }
}
