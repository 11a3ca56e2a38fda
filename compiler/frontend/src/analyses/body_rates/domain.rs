//! The state of the abstract interpretation.
//!
//! A [`State`] says what is known at a point of the body on the ways that lead there; [`join`] puts two together. [`Watch`] holds
//! what is known of all ways at once, those without end included.

use super::super::interval::{Count, Known};
use sluice_grammar::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What is known at a point.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// Items popped so far.
    pub pops: Count,
    /// Items pushed so far.
    pub pushes: Count,
    /// Items looked at so far, from the firing's first.
    pub looked: Count,
    /// The locals of the current function.
    pub locals: Vec<Known<'a>>,
    /// The fields.
    pub fields: Vec<Known<'a>>,
    /// Which elements of its array fields this firing has filled; empty for fields that are not followed.
    pub filled: Vec<Vec<bool>>,
    /// What the current function returned.
    pub result: Known<'a>,
}

/// Two ways meet; `None` is no way.
pub fn join<'a>(a: Option<State<'a>>, b: Option<State<'a>>) -> Option<State<'a>> {
    let (mut a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (a, b) => return a.or(b),
    };
    a.pops = a.pops.join(b.pops);
    a.pushes = a.pushes.join(b.pushes);
    a.looked = a.looked.join(b.looked);
    a.locals.iter_mut().zip(&b.locals).for_each(|(x, y)| *x = x.join(*y));
    a.fields.iter_mut().zip(&b.fields).for_each(|(x, y)| *x = x.join(*y));
    for (x, y) in a.filled.iter_mut().zip(&b.filled) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x &= y);
    }
    a.result = a.result.join(b.result);
    Some(a)
}

/// Where a statement list can be left before its end.
#[derive(Default)]
pub struct Jumps<'a> {
    /// By `break`.
    pub breaks: Option<State<'a>>,
    /// By `continue`.
    pub continues: Option<State<'a>>,
    /// By `return`.
    pub returns: Option<State<'a>>,
}

/// What is noticed on the way.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The most items looked at anywhere; [`u64::MAX`] is without bound.
    pub looked: u64,
    /// The most items popped anywhere, also where the firing does not end.
    pub popped: u64,
    /// The most items pushed anywhere, also where the firing does not end.
    pub pushed: u64,
    /// Fields, by number, that a firing may read before it has filled them.
    pub exposed: BTreeSet<usize>,
    /// Ints that become floats by themselves: the expressions' places, with all values that they can have.
    pub widened: BTreeMap<Span, (i64, i64)>,
    /// The first pop that is certainly one too many where it is reached.
    pub pop: Option<Span>,
    /// The first peek (or pop) that certainly looks too far where it is reached.
    pub peek: Option<Span>,
    /// The first push that is certainly one too many where it is reached.
    pub push: Option<Span>,
}
