//! # judge
//!
//! Purpose: replays a sequential schedule, knowing nothing of how it was made, and refuses what breaks a rule.
//! Input: graph, steady state, candidate. Output: [`Verified`] with the highest fill of every channel, or the [`Violation`]s.
//! Rules: every firing finds its items, peeked ones included ([`Violation::MissingItems`]); init(v) and batch·r(v) firings, no more, no less
//! ([`Violation::WrongCount`]); channels return to their fill at the boundary ([`Violation::WrongFill`]); no message is missed ([`Violation::TooEarly`]); no empty loop
//! ([`Violation::EmptyStep`]). Loops are replayed exactly, however long: the fill of a channel at a point of the body changes linearly from turn to
//! turn once every node in it has fired, so the first two turns and the last say it all.

use crate::sequential::{SequentialSchedule, Step};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::*;
use sluice_frontend::messages::Precedence;
use sluice_frontend::steady_state::SteadyState;

/// A schedule that the judge has passed.
#[derive(Clone, Debug)]
pub struct Verified<S> {
    schedule: S,
    highest: Vec<u64>,
}

impl<S> Verified<S> {
    /// The schedule.
    pub fn schedule(&self) -> &S {
        &self.schedule
    }

    /// The most items each channel holds at any time, by channel.
    pub fn highest_fill(&self) -> &[u64] {
        &self.highest
    }
}

/// A rule broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A firing without its items.
    MissingItems {
        /// Who fires.
        node: NodeId,
        /// Where items are missing.
        channel: ChannelId,
        /// Items there.
        have: u64,
        /// Items needed by the last of the firings in this step.
        need: u64,
    },
    /// A node fires too often or too rarely.
    WrongCount {
        /// Which.
        node: NodeId,
        /// Firings in the schedule.
        fires: u64,
        /// Firings there should be.
        should: u64,
        /// In the initialisation, or in the steady state?
        init: bool,
    },
    /// A channel does not hold what it should at a boundary.
    WrongFill {
        /// Which.
        channel: ChannelId,
        /// Items there.
        have: u64,
        /// Items there should be.
        should: u64,
    },
    /// A firing before one whose messages it would miss.
    TooEarly {
        /// Who fires.
        node: NodeId,
        /// Who has to fire before.
        sender: NodeId,
        /// Firings of the sender so far.
        have: u64,
        /// Firings that must come before.
        need: u64,
    },
    /// A step that happens 0 times, or a loop around nothing.
    EmptyStep,
    /// A node that is not in the graph.
    UnknownNode(NodeId),
    /// Counts beyond 64 bits.
    Overflow,
}

struct Replay<'g> {
    graph: &'g SdfGraph,
    /// By node: what its firings wait for.
    waits: Vec<Vec<&'g Precedence>>,
    /// In the steady state, which must be right for all steady states: the repetition vector.
    repetitions: Option<&'g [u64]>,
    fill: Vec<u64>,
    fired: Vec<u64>,
    highest: Vec<u64>,
}

/// Judges a schedule.
pub fn verify(
    graph: &SdfGraph,
    steady: &SteadyState,
    schedule: SequentialSchedule,
) -> Result<Verified<SequentialSchedule>, Vec<Violation>> {
    let fill: Vec<u64> = graph.channels.iter().map(|c| c.initial.len() as u64).collect();
    let mut waits = vec![Vec::new(); graph.nodes.len()];
    steady.precedences.iter().for_each(|p| waits[p.after.index()].push(p));
    let mut r = Replay { graph, waits, repetitions: None, highest: fill.clone(), fill, fired: vec![0; graph.nodes.len()] };
    r.steps(&schedule.init).map_err(|v| vec![v])?;
    let mut faults = Vec::new();
    for n in graph.node_ids() {
        let (fires, should) = (r.fired[n.index()], steady.init[n.index()]);
        if fires != should {
            faults.push(Violation::WrongCount { node: n, fires, should, init: true });
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let before = r.fill.clone();
    r.repetitions = Some(&steady.repetitions);
    r.steps(&schedule.steady).map_err(|v| vec![v])?;
    for n in graph.node_ids() {
        let fires = r.fired[n.index()] - steady.init[n.index()];
        let should =
            steady.repetitions[n.index()].checked_mul(schedule.batch).ok_or_else(|| vec![Violation::Overflow])?;
        if fires != should {
            faults.push(Violation::WrongCount { node: n, fires, should, init: false });
        }
    }
    for c in graph.channel_ids() {
        for (have, should) in
            [(before[c.index()], steady.boundary_fill[c.index()]), (r.fill[c.index()], before[c.index()])]
        {
            if have != should {
                faults.push(Violation::WrongFill { channel: c, have, should });
            }
        }
    }
    if faults.is_empty() { Ok(Verified { schedule, highest: r.highest }) } else { Err(faults) }
}

impl Replay<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Violation> {
        for s in steps {
            match s {
                Step::Fire { node, times } => self.fire(*node, *times)?,
                Step::Loop { times, body } => self.turns(*times, body)?,
            }
        }
        Ok(())
    }

    fn turns(&mut self, times: u64, body: &[Step]) -> Result<(), Violation> {
        if times == 0 || body.is_empty() {
            return Err(Violation::EmptyStep);
        }
        if self.waits.iter().any(|w| !w.is_empty()) {
            // what messages ask for does not grow evenly from turn to turn
            return (0..times).try_for_each(|_| self.steps(body));
        }
        self.steps(body)?;
        if times == 1 {
            return Ok(());
        }
        let (fill, fired) = (self.fill.clone(), self.fired.clone());
        self.steps(body)?;
        if times == 2 {
            return Ok(());
        }
        // from the second turn on each turn changes the counts by the same amounts: go to the last one at once
        let skip = i128::from(times - 3);
        let jump = |before: &[u64], now: &mut [u64]| -> Result<(), Violation> {
            for (b, n) in before.iter().zip(now) {
                let change = i128::from(*n) - i128::from(*b);
                let then = change.checked_mul(skip).map(|c| i128::from(*n) + c).ok_or(Violation::Overflow)?;
                // a fill below zero means that some turn in between misses items: the last one says so too
                *n = u64::try_from(then.max(0)).map_err(|_| Violation::Overflow)?;
            }
            Ok(())
        };
        jump(&fill, &mut self.fill)?;
        jump(&fired, &mut self.fired)?;
        self.steps(body)
    }

    fn fire(&mut self, n: NodeId, times: u64) -> Result<(), Violation> {
        if times == 0 {
            return Err(Violation::EmptyStep);
        }
        if n.index() >= self.graph.nodes.len() {
            return Err(Violation::UnknownNode(n));
        }
        let at = self.fired[n.index()];
        // the first firing may differ from the others: it goes alone
        if at == 0 && times > 1 {
            self.fire(n, 1)?;
            return self.fire(n, times - 1);
        }
        let node = self.graph.node(n);
        let total = |rate: u32, times: u64| u64::from(rate).checked_mul(times).ok_or(Violation::Overflow);
        for id in &node.inputs {
            let take = self.graph.consumed_by_firing(*id, at);
            let need = total(take, times - 1)?
                .checked_add(self.graph.needed_by_firing(*id, at).into())
                .ok_or(Violation::Overflow)?;
            let have = self.fill[id.index()];
            if have < need {
                return Err(Violation::MissingItems { node: n, channel: *id, have, need });
            }
        }
        for p in &self.waits[n.index()] {
            // need() grows: the last of these firings asks for the most
            let need = match self.repetitions {
                None => p.need.at(at + times),
                Some(r) => p.need_in_any_state(at + times, r),
            };
            let have = self.fired[p.before.index()];
            if have < need {
                return Err(Violation::TooEarly { node: n, sender: p.before, have, need });
            }
        }
        for id in &node.inputs {
            self.fill[id.index()] -= total(self.graph.consumed_by_firing(*id, at), times)?;
        }
        for id in &node.outputs {
            let make = total(self.graph.produced_by_firing(*id, at), times)?;
            let f = &mut self.fill[id.index()];
            *f = f.checked_add(make).ok_or(Violation::Overflow)?;
            self.highest[id.index()] = self.highest[id.index()].max(*f);
        }
        self.fired[n.index()] += times;
        Ok(())
    }
}
