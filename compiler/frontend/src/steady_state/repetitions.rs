//! The repetition vector: the smallest positive integers with r(u)·produce = r(v)·consume on every channel.

use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use std::ops::Rem;

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// Above the line.
    pub num: u128,
    /// Below the line.
    pub den: u128,
}

/// The most firings of one node in a steady state, and in an initialisation: one less than this.
pub const FIRINGS: u64 = 1 << 48;

/// The greatest common divisor; of 0 and x it is x.
pub fn gcd<N: Copy + Default + Eq + Rem<Output = N>>(mut a: N, mut b: N) -> N {
    while b != N::default() {
        (a, b) = (b, a % b);
    }
    a
}

impl Fraction {
    /// One.
    pub const ONE: Fraction = Fraction { num: 1, den: 1 };

    /// This times a/b; `None` on overflow.
    pub fn times(self, a: u128, b: u128) -> Option<Fraction> {
        let common = gcd(a, b).max(1);
        let (a, b) = (a / common, b / common);
        let (g, h) = (gcd(self.num, b).max(1), gcd(a, self.den).max(1));
        Some(Fraction { num: (self.num / g).checked_mul(a / h)?, den: (self.den / h).checked_mul(b / g)? })
    }
}

/// Why there is no repetition vector.
#[derive(Clone, Debug)]
pub enum Clash {
    /// Two ways to this channel ask for different rates.
    Channel(ChannelId),
    /// Numbers too large.
    Overflow(NodeId),
    /// All nodes connected with this one would fire 0 times.
    Nothing(ChannelId),
}

/// Which nodes can never fire in a steady state, because a rate of 0 cuts them off; and the first channel that does.
fn zeros(graph: &SdfGraph) -> (Vec<bool>, Option<ChannelId>) {
    let mut zero = vec![false; graph.nodes.len()];
    let mut first = None;
    // a node that turns out never to fire is a reason to look at its channels again
    let mut queue: Vec<ChannelId> = graph.channel_ids().rev().collect();
    while let Some(id) = queue.pop() {
        let c = graph.channel(id);
        let (u, v) = (c.from.0, c.to.0);
        let makes = c.produce > 0 && !zero[u.index()];
        let takes = c.consume > 0 && !zero[v.index()];
        if makes == takes {
            continue;
        }
        let idle = if makes { u } else { v };
        zero[idle.index()] = true;
        first.get_or_insert(id);
        let node = graph.node(idle);
        queue.extend(node.inputs.iter().chain(&node.outputs));
    }
    (zero, first)
}

/// The repetition vector, smallest for each connected part of the graph.
pub fn repetitions(graph: &SdfGraph) -> Result<Vec<u64>, Clash> {
    let (zero, cut) = zeros(graph);
    let mut rate: Vec<Option<Fraction>> = vec![None; graph.nodes.len()];
    let mut result = vec![0u64; graph.nodes.len()];
    for start in graph.node_ids() {
        if zero[start.index()] || rate[start.index()].is_some() {
            continue;
        }
        rate[start.index()] = Some(Fraction::ONE);
        let mut part = vec![start];
        let mut next = 0;
        while next < part.len() {
            let n = part[next];
            next += 1;
            let Some(r) = rate[n.index()] else { continue };
            let node = graph.node(n);
            for id in node.outputs.iter().chain(&node.inputs) {
                let c = graph.channel(*id);
                if c.produce == 0 || c.consume == 0 {
                    continue;
                }
                let (other, a, b) =
                    if c.from.0 == n { (c.to.0, c.produce, c.consume) } else { (c.from.0, c.consume, c.produce) };
                let want = r.times(a.into(), b.into()).ok_or(Clash::Overflow(n))?;
                match rate[other.index()] {
                    None => {
                        rate[other.index()] = Some(want);
                        part.push(other);
                    }
                    Some(is) if is != want => return Err(Clash::Channel(*id)),
                    Some(_) => {}
                }
            }
        }
        scale(&part, &rate, &mut result)?;
    }
    if let Some(c) = cut
        && result.iter().all(|r| *r == 0)
    {
        return Err(Clash::Nothing(c));
    }
    // a weight of 0 is meant; a filter that never touches its channel (and did not in prework) is not
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let idle =
            |n: NodeId, rate: u32| rate == 0 && matches!(graph.node(n).kind, NodeKind::Filter { prework: None, .. });
        if idle(c.to.0, c.consume) && c.produce > 0 || idle(c.from.0, c.produce) && c.consume > 0 {
            return Err(Clash::Nothing(id));
        }
    }
    Ok(result)
}

/// The smallest integers in proportion.
fn scale(part: &[NodeId], rate: &[Option<Fraction>], result: &mut [u64]) -> Result<(), Clash> {
    let mut lcm: u128 = 1;
    for n in part {
        let den = rate[n.index()].map_or(1, |r| r.den);
        lcm = (lcm / gcd(lcm, den)).checked_mul(den).ok_or(Clash::Overflow(*n))?;
    }
    let mut all: u128 = 0;
    let mut values = Vec::new();
    for n in part {
        let r = rate[n.index()].unwrap_or(Fraction::ONE);
        let v = r.num.checked_mul(lcm / r.den).ok_or(Clash::Overflow(*n))?;
        all = gcd(all, v);
        values.push(v);
    }
    for (n, v) in part.iter().zip(values) {
        result[n.index()] = u64::try_from(v / all.max(1)).ok().filter(|v| *v < FIRINGS).ok_or(Clash::Overflow(*n))?;
    }
    Ok(())
}
