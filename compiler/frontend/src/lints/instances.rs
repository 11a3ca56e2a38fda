//! What the analyses found of each filter with its arguments, for the lints to compare.
//!
//! The checker adds an [`Instance`] for each declaration with arguments that it makes code of; a lint speaks only of what holds for
//! all instances of a declaration.

use crate::analyses::{body_rates::Facts, body_rates::filled_first, state};
use crate::typed::*;
use sluice_grammar::ast::RateKind;
use sluice_grammar::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Instances of one declaration in which arrays are followed: after so many the others are taken to be like them.
const FOLLOWED: usize = 8;

/// How far a body looks.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Of `prework`, not `work`?
    pub prework: bool,
    /// What is declared.
    pub rates: Rates,
    /// The most items that it looks at, if that is known.
    pub reach: Option<u32>,
}

/// One filter with its arguments.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// What shows that it has state.
    pub stateful: Option<Span>,
    /// Its bodies.
    pub bodies: Vec<Reach>,
    /// Ints that become floats, with the least and the most that they can be.
    pub widened: BTreeMap<Span, (i64, i64)>,
    /// Fields, by the places of their names, in which nothing goes from one firing to the next.
    pub private: BTreeSet<Span>,
}

impl Instance {
    /// What is known of a filter's code; `before` are the instances that are known already.
    pub fn of(code: &FilterCode, globals: &Globals, before: &[Instance]) -> Instance {
        let mut private: BTreeSet<Span> =
            state::private_fields(code, globals).into_iter().map(|id| code.fields[id.index()].span).collect();
        let arrays = code.fields.iter().any(|f| !f.constant && f.ty.is_aggregate());
        if arrays && before.len() < FOLLOWED {
            private.extend(filled_first(code, globals).into_iter().map(|f| code.fields[f].span));
        } else if arrays && let Some(last) = before.last() {
            private.extend(&last.private);
        }
        Instance { stateful: code.stateful, private, ..Instance::default() }
    }

    /// Does what is known of it not depend on the instances before it, when there are so many?
    pub(crate) fn alone(code: &FilterCode, before: usize) -> bool {
        before < FOLLOWED || !code.fields.iter().any(|f| !f.constant && f.ty.is_aggregate())
    }

    /// Calls `f` for each place in it.
    pub(crate) fn places(&mut self, f: &mut impl FnMut(&mut Span)) {
        self.stateful.iter_mut().for_each(&mut *f);
        let mut moved = |mut at: Span| {
            f(&mut at);
            at
        };
        self.widened = std::mem::take(&mut self.widened).into_iter().map(|(at, v)| (moved(at), v)).collect();
        self.private = std::mem::take(&mut self.private).into_iter().map(&mut moved).collect();
    }

    /// Adds what was found of a body.
    pub fn add(&mut self, prework: bool, def: &WorkDef, facts: &Facts) {
        let known = def.dynamic.is_none();
        self.bodies.push(Reach { prework, rates: def.rates, reach: facts.reach.filter(|_| known) });
        for (at, (lo, hi)) in &facts.widened {
            let seen = self.widened.entry(*at).or_insert((*lo, *hi));
            *seen = (seen.0.min(*lo), seen.1.max(*hi));
        }
    }
}

/// The tree of a rate.
pub fn rate(work: &sluice_grammar::ast::Work, kind: RateKind) -> Option<&sluice_grammar::ast::RateSpec> {
    work.rates.iter().find(|r| r.kind == kind)
}
