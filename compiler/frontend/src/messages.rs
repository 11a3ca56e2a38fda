//! # messages
//!
//! Purpose: which filter sends what to whom, the firing before which each message takes effect, and what that asks of schedules.
//! Input: the live flat graph, its repetition vector, typed code, registered portals. Output: [`Messages`] and [`Precedence`]s, or diagnostics.
//! What must hold afterwards: a schedule that keeps to every [`Precedence`] never misses a delivery.
//! Source: language page, section 6; Thies et al., "Teleport Messaging for Distributed Stream Programs", PPoPP 2005.
//!
//! Notation: s sends in its n-th firing with latency λ (of a range the largest); r receives; firings are counted from 1.
//!
//! ```text
//! r downstream of s   before firing m of r, the first with SDEP(m; s→r) ≥ n + λ
//! r upstream of s     after firing m = SDEP(n + λ; r→s) of r, that is, before firing m + 1
//! best effort         downstream as λ = 0; otherwise when the steady state of the sending is over
//! ```

pub mod counts;
mod links;
pub mod sdep;
mod startup;

pub use links::{bind, timed};
pub use startup::with_messages;

use crate::ids::*;
use counts::Counts;
use sluice_grammar::span::Span;

/// Codes of this pass.
pub const CODES: &[(&str, &str)] = &[
    ("E0310", "a latency that is no constant, or an empty range"),
    ("E0311", "neither is upstream of the other"),
    ("E0312", "the latency is impossible"),
    ("E0313", "messages that wait for each other"),
    ("E0314", "the steady state is too long for messages"),
    ("E0315", "a message whose arguments do not fit the handler"),
    ("E0316", "a latency across dynamic rates"),
    ("W0310", "nobody receives this message"),
];

/// All messages of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Who sends to whom.
    pub links: Vec<Link>,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// With the items.
    Downstream,
    /// Against the items.
    Upstream,
    /// Best effort, and not downstream.
    Unbound,
}

/// One handler of one receiver, as reached by one sender with one latency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The filter that sends.
    pub sender: NodeId,
    /// The filter that receives.
    pub receiver: NodeId,
    /// The portal through which it goes.
    pub portal: PortalId,
    /// The handler, a function of the receiver.
    pub handler: FnId,
    /// The handler's name is the key together with portal and latency.
    pub name: crate::typed::Name,
    /// λ as written; `None` is best effort.
    pub latency: Option<(i32, i32)>,
    /// Which way.
    pub direction: Direction,
    /// due(n): a message of the sender's firing n (from 1) takes effect before this firing of the receiver (from 1).
    pub due: Counts,
    /// The first place in the sender's code that sends it.
    pub span: Span,
}

/// `after` may fire the t-th time only when `before` has fired need(t) times (or never will).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precedence {
    /// The sender.
    pub before: NodeId,
    /// The receiver.
    pub after: NodeId,
    /// need(t), t from 1.
    pub need: Counts,
}

impl Precedence {
    /// The most that firing t of `after` asks for in this and any later steady state, where it is t + j·r(after): as if it were
    /// this one.
    pub fn need_in_any_state(&self, t: u64, repetitions: &[u64]) -> u64 {
        self.newest_in_any_state(t, repetitions).map_or(0, |n| u64::try_from(n).unwrap_or(0))
    }

    /// The same, where firings of steady states before are 0 and below; `None` where it never asks for any.
    pub fn newest_in_any_state(&self, t: u64, repetitions: &[u64]) -> Option<i128> {
        let (rb, ra) = (repetitions[self.before.index()], repetitions[self.after.index()]);
        // Beyond the head it repeats; what asks for nothing is all in the head.
        let states = self.need.head.len() as u64 / ra.max(1) + 2;
        let need = |j: u64| {
            let there = self.need.at(t.saturating_add(j.saturating_mul(ra)));
            (there > 0).then(|| i128::from(there) - i128::from(j) * i128::from(rb))
        };
        (0..states).filter_map(need).max()
    }
}
