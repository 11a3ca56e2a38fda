//! Feedback loops as regions: what waits on the channels within is state.
//!
//! ```text
//! enqueue 0; join → 0.5 · x + 0.4 · y → split   →   wait = {0, …}  firing: wait[1] = 0.5 · in(0) + 0.4 · wait[0]  out(0) = wait[1]  wait[0] = wait[1]
//! ```
//!
//! A channel within a region on which items stay from one firing to the next is *carried*: its items are an array in the region's state, what has waited first, behind it what the
//! firing puts there. At the end of a firing they move on. Few of them are variables, and moved by the firing itself; where more wait, they stay where they are for many firings
//! ([`Tape`]), and firings that do not need one another go side by side in the vectors of the C compiler.
//!
//! A loop whose many turns can be taken at once by its filters, one after the other, gains nothing by this, and would lose the lanes of its filters' firings: it is left
//! to the schedule ([`most_turns`]).

use super::body::{Builder, Stop};
use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Turns that a loop can take at once from which on it is no region, with filters in lanes, with filters that have state, where one looks at items that it does not take yet, and others: a delay of 64
/// without state is as fast as a loop of filters that fire 64 times each, one of 100 is slower; but whose body looks back, takes nothing from where the joiner would have ([`Tape`]s are
/// vectors of the C compiler's then, too; measured, gcc 12).
const WITH_LANES: u64 = 8;
const WITH_STATE: u64 = 32;
const LOOKING: u64 = 256;
const WITHOUT_STATE: u64 = 64;

/// So many turns at once, and no fewer, are better taken filter by filter.
pub(super) fn most_turns(lanes: bool, stateful: bool, looks: bool) -> u64 {
    match (lanes, stateful, looks) {
        (true, ..) => WITH_LANES,
        (_, true, _) => WITH_STATE,
        (_, _, true) => LOOKING,
        _ => WITHOUT_STATE,
    }
}

/// Elements of a carried channel's array up to which a firing moves them itself: they are variables then.
const FEW: u64 = 6;
/// Elements of a longer array that firings move through before they are brought back to its beginning, at least, and how many of them at most.
const THROUGH: u64 = 256;
const LARGEST: u64 = 512;
/// Elements of all tapes of a program: what its filters keep is copied before a batch in which something can fail, and has room for that up to a size.
pub(super) const MOST_ON_TAPES: u64 = 6144;

/// What a firing of a region does to a channel within, of which so many firings of its ends are one.
#[derive(Clone, Copy)]
struct Traffic {
    /// Items that stay.
    stays: u64,
    /// Items that a firing of the region takes, and puts there.
    step: u64,
    /// Items that the channel's consumer sees without taking them.
    ahead: u64,
    /// Does its consumer fire first?
    back: bool,
}

fn traffic(graph: &SdfGraph, steady: &SteadyState, c: ChannelId, rate: u64) -> Option<Traffic> {
    let channel = graph.channel(c);
    let firings = steady.repetitions[channel.to.0.index()].checked_div(rate)?;
    Some(Traffic {
        stays: steady.boundary_fill[c.index()],
        step: firings.checked_mul(channel.consume.into())?,
        ahead: channel.peek.saturating_sub(channel.consume).into(),
        back: channel.from.0 >= channel.to.0,
    })
}

/// The channels among these nodes on which something stays.
pub(super) fn waiting(graph: &SdfGraph, steady: &SteadyState, nodes: &BTreeSet<NodeId>) -> Vec<ChannelId> {
    let inputs = nodes.iter().flat_map(|v| &graph.node(*v).inputs).copied();
    let inner = inputs.filter(|c| nodes.contains(&graph.channel(*c).from.0));
    inner.filter(|c| steady.boundary_fill[c.index()] > 0 || graph.channel(*c).feedback).collect()
}

/// Can a channel be carried by a region that fires so often in a steady state? Its members fire in program order, each all of its firings: what comes behind cannot give what is needed before.
pub(super) fn may_be(graph: &SdfGraph, steady: &SteadyState, c: ChannelId, rate: u64) -> bool {
    let channel = graph.channel(c);
    let Some(t) = traffic(graph, steady, c, rate) else { return false };
    let needs = if t.back { t.step.checked_add(t.ahead) } else { Some(t.ahead) };
    // a number has any value; of others, initial values would have to say so
    let plain = matches!(channel.ty, Ty::Int | Ty::Float | Ty::Double | Ty::Complex) && !channel.dynamic;
    plain && t.step > 0 && needs.is_some_and(|n| n <= t.stays) && t.stays.saturating_add(t.step) <= LARGEST
}

/// So many firings of a region that carries these channels do not need one another.
pub(super) fn turns(graph: &SdfGraph, steady: &SteadyState, channels: &[ChannelId], rate: u64) -> u64 {
    let one = |c: &ChannelId| {
        let t = traffic(graph, steady, *c, rate).filter(|t| t.back)?;
        Some(t.stays.saturating_sub(t.ahead) / t.step.max(1))
    };
    channels.iter().filter_map(one).min().unwrap_or(u64::MAX)
}

impl Builder<'_> {
    /// The state that holds a carried channel's items.
    pub(super) fn wait(&mut self, c: ChannelId) -> Result<StateId, Stop> {
        if let Some(id) = self.waits.get(&c) {
            return Ok(*id);
        }
        let channel = self.views.graph.channel(c);
        let firings = self.times.get(&channel.to.0).copied().ok_or(Stop::Never)?;
        let step = firings.checked_mul(channel.consume.into()).filter(|n| *n > 0).ok_or(Stop::Never)?;
        let stays = self.views.fill[c.index()];
        let turns = if stays + step <= FEW { 1 } else { THROUGH.max(stays.saturating_mul(4)).div_ceil(step) };
        let all = u32::try_from(stays + step * turns).map_err(|_| Stop::Never)?;
        let ty = channel.ty.clone();
        let zero = match ty {
            Ty::Int => Const::Int(0),
            Ty::Float => Const::Float(0.0),
            Ty::Double => Const::Double(0.0),
            Ty::Complex => Const::Complex(0.0, 0.0),
            _ => return Err(Stop::Never),
        };
        let mut initial = vec![zero; all as usize];
        if ty == Ty::Int {
            // what comes along the channel is there at a batch's beginning, and nobody looks at these but who asks what an element can be: any int
            (initial[0], initial[1]) = (Const::Int(i32::MIN), Const::Int(i32::MAX));
        }
        let id = StateId::from(self.state.len());
        self.state.push(StateField { name: "wait".into(), ty: ty.array(all), initial: Const::Array(initial.into()) });
        self.states.push(super::StateOf::Waiting(c));
        if turns > 1 {
            let number = |n: u64| u32::try_from(n).map_err(|_| Stop::Never);
            self.tapes.push(Tape { state: id, step: number(step)?, stays: number(stays)?, turns: number(turns)? });
        }
        self.waits.insert(c, id);
        Ok(id)
    }

    /// What stays on carried channels moves on, where no tape does that.
    pub(super) fn move_on(&mut self, out: &mut Vec<Stmt>) -> Result<(), Stop> {
        for (c, id) in self.waits.clone() {
            if self.tapes.iter().any(|t| t.state == id) {
                continue;
            }
            let channel = self.views.graph.channel(c);
            let (ty, stays) = (channel.ty.clone(), self.views.fill[c.index()]);
            let all = self.state[id.index()].ty.known_len().ok_or(Stop::Never)?;
            let element = |at: u64| Place { base: Base::State(id), path: vec![Proj::Index(Expr::int(at as i32))] };
            for at in 0..stays {
                let from = Expr::load(element(at + u64::from(all) - stays), ty.clone());
                out.push(StmtKind::Assign(element(at), from).at(self.f.span));
            }
        }
        Ok(())
    }
}
