//! # judge
//!
//! Purpose: replays a sequential schedule, knowing nothing of how it was made, and refuses what breaks a rule.
//! Input: graph, steady state, candidate. Output: [`Verified`] with the highest fill of every channel, or the [`Violation`]s.
//! Rules: every firing finds its items, peeked ones included ([`Violation::MissingItems`]); init(v) and batch·r(v) firings, no more, no less
//! ([`Violation::WrongCount`]); channels hold what they should at the boundary and return to it ([`Violation::WrongFill`]); no channel
//! holds more than its buffer ([`Violation::OverCapacity`]); no firing comes too early for a message ([`Violation::TooEarly`]); no empty loop ([`Violation::EmptyStep`]), no loops nested deeper than [`DEPTH`]
//! ([`Violation::TooDeep`]).
//!
//! Loops are judged exactly, however long, without replaying their turns: once the first firings (which may be preworks) are over, what
//! a step does to a channel is three numbers, see [`Effect`], and a loop's are computed from its body's. A loop in which a prework may
//! still happen runs its first turn step by step. So the time is that of reading the schedule, whatever the numbers in it.

mod order;
mod states;
mod turns;

pub use states::states_at_once;
pub use turns::{turn_runs, turns_at_once};

use crate::sequential::{SequentialSchedule, Step};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::SteadyState;
use std::collections::BTreeMap;

/// Loops within loops that are looked at.
pub const DEPTH: usize = 200;
/// Firings and items are counted up to here; so that sums of what a step does cannot overflow.
const LARGEST: i128 = 1 << 100;

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
        /// Items there before the step (a loop whose preworks are over counts as one step).
        have: u64,
        /// Items that would have to be there for all firings of the step.
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
    /// A channel holds more than its buffer.
    OverCapacity {
        /// Which.
        channel: ChannelId,
        /// The most items there.
        have: u64,
        /// The buffer's size.
        capacity: u64,
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
    /// More firings than are replayed one by one, which messages make necessary.
    TooLong(u64),
    /// A step that happens 0 times, or a loop around nothing.
    EmptyStep,
    /// Loops nested deeper than [`DEPTH`].
    TooDeep,
    /// A node that is not in the graph.
    UnknownNode(NodeId),
    /// The steady state is not one of this graph, or the batch is 0.
    WrongShape,
    /// Counts beyond 64 bits.
    Overflow,
}

/// Judges a schedule; each channel's buffer is [`SteadyState::capacity`] of the schedule's batch.
pub fn verify(
    graph: &SdfGraph,
    steady: &SteadyState,
    schedule: SequentialSchedule,
) -> Result<Verified<SequentialSchedule>, Vec<Violation>> {
    shape(graph, steady, &schedule)?;
    let capacities: Option<Vec<u64>> = graph.channel_ids().map(|c| steady.capacity(graph, c, schedule.batch)).collect();
    let capacities = capacities.ok_or_else(|| vec![Violation::Overflow])?;
    verify_within(graph, steady, schedule, &capacities)
}

/// Judges a schedule for buffers of these sizes, by channel.
pub fn verify_within(
    graph: &SdfGraph,
    steady: &SteadyState,
    schedule: SequentialSchedule,
    capacities: &[u64],
) -> Result<Verified<SequentialSchedule>, Vec<Violation>> {
    shape(graph, steady, &schedule)?;
    if capacities.len() != graph.channels.len() {
        return Err(vec![Violation::WrongShape]);
    }
    let one = |v: Violation| vec![v];
    let mut r = Replay::new(graph);
    for part in [&schedule.init, &schedule.steady] {
        r.look_at(part, 0).map_err(one)?;
    }
    r.steps(&schedule.init).map_err(one)?;
    let counted = |r: &Replay, before: &[i128], init: bool| -> Result<Vec<Violation>, Vec<Violation>> {
        let mut faults = Vec::new();
        for n in graph.node_ids() {
            let fires = u64::try_from(r.fired[n.index()] - before[n.index()]).map_err(|_| one(Violation::Overflow))?;
            let should = if init {
                steady.init[n.index()]
            } else {
                let all = steady.repetitions[n.index()].checked_mul(schedule.batch);
                all.ok_or_else(|| one(Violation::Overflow))?
            };
            if fires != should {
                faults.push(Violation::WrongCount { node: n, fires, should, init });
            }
        }
        Ok(faults)
    };
    let faults = counted(&r, &vec![0; graph.nodes.len()], true)?;
    if !faults.is_empty() {
        return Err(faults);
    }
    let (before, fired) = (r.fill.clone(), r.fired.clone());
    r.steps(&schedule.steady).map_err(one)?;
    let mut faults = counted(&r, &fired, false)?;
    let mut highest = Vec::with_capacity(capacities.len());
    for c in graph.channel_ids() {
        let i = c.index();
        let number = |n: i128| u64::try_from(n).map_err(|_| one(Violation::Overflow));
        let (first, last, most) = (number(before[i])?, number(r.fill[i])?, number(r.highest[i])?);
        for (have, should) in [(first, steady.boundary_fill[i]), (last, first)] {
            if have != should {
                faults.push(Violation::WrongFill { channel: c, have, should });
            }
        }
        if most > capacities[i] {
            faults.push(Violation::OverCapacity { channel: c, have: most, capacity: capacities[i] });
        }
        highest.push(most);
    }
    if faults.is_empty() {
        order::verify(steady, &schedule).map_err(one)?;
    }
    if faults.is_empty() { Ok(Verified { schedule, highest }) } else { Err(faults) }
}

fn shape(graph: &SdfGraph, steady: &SteadyState, schedule: &SequentialSchedule) -> Result<(), Vec<Violation>> {
    let nodes = [steady.repetitions.len(), steady.init.len()].iter().all(|n| *n == graph.nodes.len());
    let channels = [steady.boundary_fill.len(), steady.init_peak.len()].iter().all(|n| *n == graph.channels.len());
    if nodes && channels && schedule.batch > 0 { Ok(()) } else { Err(vec![Violation::WrongShape]) }
}

/// What a step does to a channel, from the fill before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Effect {
    /// The least fill with which all of it can happen.
    need: i128,
    /// By how much the fill rises at most, at the end of a firing.
    rise: i128,
    /// By how much it has risen at the end.
    change: i128,
}

impl Effect {
    /// This, and then that.
    fn then(self, next: Effect) -> Effect {
        Effect {
            need: self.need.max(next.need - self.change),
            rise: self.rise.max(self.change + next.rise),
            change: self.change + next.change,
        }
    }

    /// This, so many times, at least once. The first turn or the last one is the extreme one.
    fn times(self, times: u64) -> Result<Effect, Violation> {
        let change = self.change.checked_mul(times.into()).filter(|c| c.abs() < LARGEST).ok_or(Violation::Overflow)?;
        let before_last = change - self.change;
        Ok(Effect {
            need: self.need.max(self.need - before_last),
            rise: self.rise.max(self.rise + before_last),
            change,
        })
    }
}

/// What a sequence of steps does once the preworks are over.
#[derive(Default)]
struct Summary {
    channels: BTreeMap<ChannelId, Effect>,
    fired: BTreeMap<NodeId, i128>,
}

impl Summary {
    fn times(mut self, times: u64) -> Result<Summary, Violation> {
        for effect in self.channels.values_mut() {
            *effect = effect.times(times)?;
        }
        for n in self.fired.values_mut() {
            *n = n.checked_mul(times.into()).filter(|n| *n < LARGEST).ok_or(Violation::Overflow)?;
        }
        Ok(self)
    }

    /// Another effect on a channel.
    fn add(&mut self, c: ChannelId, effect: Effect) -> Result<(), Violation> {
        let all = self.channels.entry(c).or_default();
        *all = all.then(effect);
        let largest = all.need.max(all.rise).max(all.change.abs());
        if largest < LARGEST { Ok(()) } else { Err(Violation::Overflow) }
    }

    /// More firings of a node.
    fn count(&mut self, n: NodeId, times: i128) -> Result<(), Violation> {
        let fired = self.fired.entry(n).or_insert(0);
        *fired += times;
        if *fired < LARGEST { Ok(()) } else { Err(Violation::Overflow) }
    }
}

struct Replay<'g> {
    graph: &'g SdfGraph,
    fill: Vec<i128>,
    fired: Vec<i128>,
    highest: Vec<i128>,
}

impl<'g> Replay<'g> {
    fn new(graph: &'g SdfGraph) -> Replay<'g> {
        let fill: Vec<i128> = graph.channels.iter().map(|c| c.initial.len() as i128).collect();
        Replay { graph, highest: fill.clone(), fill, fired: vec![0; graph.nodes.len()] }
    }

    /// Refuses what has no meaning.
    fn look_at(&self, steps: &[Step], depth: usize) -> Result<(), Violation> {
        if depth > DEPTH {
            return Err(Violation::TooDeep);
        }
        for step in steps {
            match step {
                Step::Fire { times: 0, .. } | Step::Loop { times: 0, .. } => return Err(Violation::EmptyStep),
                Step::Fire { node, .. } if node.index() >= self.graph.nodes.len() => {
                    return Err(Violation::UnknownNode(*node));
                }
                Step::Fire { .. } => {}
                Step::Loop { body, .. } if body.is_empty() => return Err(Violation::EmptyStep),
                Step::Loop { body, .. } => self.look_at(body, depth + 1)?,
            }
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), Violation> {
        for s in steps {
            match s {
                Step::Fire { node, times } => {
                    let mut left = *times;
                    if self.first_differs(*node) {
                        self.fire(*node, 0, 1)?;
                        left -= 1;
                    }
                    if left > 0 {
                        self.fire(*node, 1, left)?;
                    }
                }
                Step::Loop { times, body } => {
                    let mut left = *times;
                    if self.any_first(body) {
                        self.steps(body)?;
                        left -= 1;
                    }
                    if left > 0 {
                        let all = self.summary(body)?.times(left)?;
                        for (c, effect) in all.channels {
                            self.apply(c, effect)?;
                        }
                        for (n, times) in all.fired {
                            self.count(n, times)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn fire(&mut self, n: NodeId, number: u64, times: u64) -> Result<(), Violation> {
        let graph = self.graph;
        for (c, effect) in effects(graph, n, number) {
            self.apply(c, effect.times(times)?)?;
        }
        self.count(n, times.into())
    }

    /// Is the node's next firing a prework?
    fn first_differs(&self, n: NodeId) -> bool {
        self.fired[n.index()] == 0 && matches!(self.graph.node(n).kind, NodeKind::Filter { prework: Some(_), .. })
    }

    fn any_first(&self, steps: &[Step]) -> bool {
        steps.iter().any(|s| match s {
            Step::Fire { node, .. } => self.first_differs(*node),
            Step::Loop { body, .. } => self.any_first(body),
        })
    }

    /// What a sequence without preworks does.
    fn summary(&self, steps: &[Step]) -> Result<Summary, Violation> {
        let mut all = Summary::default();
        for s in steps {
            match s {
                Step::Fire { node, times } => {
                    for (c, effect) in effects(self.graph, *node, 1) {
                        all.add(c, effect.times(*times)?)?;
                    }
                    all.count(*node, (*times).into())?;
                }
                Step::Loop { times, body } => {
                    let inner = self.summary(body)?.times(*times)?;
                    for (c, effect) in inner.channels {
                        all.add(c, effect)?;
                    }
                    for (n, times) in inner.fired {
                        all.count(n, times)?;
                    }
                }
            }
        }
        Ok(all)
    }

    fn apply(&mut self, c: ChannelId, effect: Effect) -> Result<(), Violation> {
        let fill = &mut self.fill[c.index()];
        if *fill < effect.need {
            let number = |n: i128| u64::try_from(n).map_err(|_| Violation::Overflow);
            let node = self.graph.channel(c).to.0;
            return Err(Violation::MissingItems { node, channel: c, have: number(*fill)?, need: number(effect.need)? });
        }
        let highest = &mut self.highest[c.index()];
        *highest = (*highest).max(*fill + effect.rise);
        *fill += effect.change;
        if *fill < LARGEST { Ok(()) } else { Err(Violation::Overflow) }
    }

    fn count(&mut self, n: NodeId, times: i128) -> Result<(), Violation> {
        let fired = &mut self.fired[n.index()];
        *fired += times;
        if *fired < LARGEST { Ok(()) } else { Err(Violation::Overflow) }
    }
}

/// What the firing of this number (0 is the first) does to the node's channels. On a channel from the node to itself items are
/// taken before others are given.
fn effects(graph: &SdfGraph, n: NodeId, number: u64) -> impl Iterator<Item = (ChannelId, Effect)> {
    let node = graph.node(n);
    let made = move |c: ChannelId| i128::from(graph.produced_by_firing(c, number));
    let of =
        move |c: ChannelId, need: u32, change: i128| (c, Effect { need: need.into(), rise: change.max(0), change });
    let inputs = node.inputs.iter().map(move |c| {
        let back = if graph.channel(*c).from.0 == n { made(*c) } else { 0 };
        let taken = i128::from(graph.consumed_by_firing(*c, number));
        of(*c, graph.needed_by_firing(*c, number), back - taken)
    });
    let outputs = node.outputs.iter().filter(move |c| graph.channel(**c).to.0 != n);
    inputs.chain(outputs.map(move |c| of(*c, 0, made(*c))))
}
