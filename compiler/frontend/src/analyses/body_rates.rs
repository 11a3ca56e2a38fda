//! # body-rates
//!
//! Purpose: how many items a firing pops, pushes and looks at, without running it.
//! Input: a [`FilterCode`] whose `constant` flags are set ([`super::state::analyse`]), and its `work` or `prework`. Output:
//! [`Facts`].
//!
//! Abstract interpretation: ints are ranges, other scalars known or not; loops are unrolled while their conditions are known,
//! functions inlined, states joined where branches meet. When the budget of steps is used up, a counted loop
//! (`for (i = a; i < b; i += c)`, i not written in the body) is its trip count times its body, analysed once with i as a range;
//! any other loop may turn any number of times, and what it writes is unknown.
//!
//! Example: `for (int i = 0; i < 3; i++) push(pop() + peek(1));` pops exactly 3, pushes exactly 3, looks at exactly 5.
//! Limits: elements of arrays that firings write are unknown.

use super::interval::Count;
use crate::typed::*;
use sluice_grammar::ast::{self, RateKind};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;
use std::collections::{BTreeMap, BTreeSet};

mod domain;
mod walk;

/// Statements looked at for one body before loops are no longer unrolled.
pub const BUDGET: u64 = 50_000;

/// What is known of a firing.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Every firing pops at most the declared rate and pushes exactly the declared rate; one that does not end does no more of either.
    pub counts_proved: bool,
    /// Every pop and peek stays within the declared peek rate (and none is negative).
    pub peeks_proved: bool,
    /// Items popped; `None` where no firing ends as far as is known.
    pub pops: Option<Count>,
    /// Items pushed.
    pub pushes: Option<Count>,
    /// Items looked at, popped ones included, from the firing's first.
    pub looked: Option<Count>,
    /// The most items that a firing looks at, popped ones included, wherever it goes; `None` where that is not known.
    pub reach: Option<u32>,
    /// Ints that become floats by themselves: the expressions' places, with the least and the most that they can be.
    pub widened: BTreeMap<Span, (i64, i64)>,
    /// What is certainly wrong.
    pub findings: Vec<Finding>,
}

/// A rate that every firing breaks.
#[derive(Clone, Debug)]
pub struct Finding {
    /// How.
    pub kind: FindingKind,
    /// What is declared.
    pub declared: u32,
    /// The least (for [`FindingKind::PushesLess`] and [`FindingKind::PopsLess`] the most) that a firing does.
    pub actual: u64,
    /// Does every firing do exactly that?
    pub exact: bool,
    /// The statement or expression that shows it, if one does: the first that goes beyond the rate.
    pub span: Option<Span>,
}

/// How a rate is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// Pops more than declared.
    PopsMore,
    /// Pops less than declared: a warning.
    PopsLess,
    /// Pops less than the least declared, where a firing decides.
    PopsTooFew,
    /// Looks at more than declared.
    PeeksBeyond,
    /// Pushes more than declared.
    PushesMore,
    /// Pushes less than declared.
    PushesLess,
}

/// Analyses the body of `work` or `prework`.
pub fn analyse(code: &FilterCode, def: &WorkDef, globals: &Globals) -> Facts {
    let rates = def.rates;
    let dynamic = def.dynamic.unwrap_or_default();
    let (end, watch) = walk::run(code, def, globals, false);
    let mut facts = Facts {
        peeks_proved: watch.looked <= u64::from(rates.peek) && dynamic.peek.is_none() && dynamic.pop.is_none(),
        reach: u32::try_from(watch.looked).ok(),
        widened: watch.widened,
        ..Facts::default()
    };
    let Some(end) = end else { return facts };
    (facts.pops, facts.pushes, facts.looked) = (Some(end.pops), Some(end.pushes), Some(end.looked));
    facts.counts_proved = dynamic == DynamicRates::default()
        && watch.popped.max(end.pops.hi) <= rates.pop.into()
        && watch.pushed <= rates.push.into()
        && end.pushes == Count::exactly(rates.push.into());
    let mut found = |kind, declared: u32, (actual, count): (u64, Count), span| {
        facts.findings.push(Finding { kind, declared, actual, exact: count.lo == count.hi, span });
    };
    let bounds = def.bounds();
    let above = |n: Count, most: Option<u32>| most.filter(|m| n.lo > u64::from(*m));
    if let Some(most) = above(end.pops, bounds.pop.1) {
        found(FindingKind::PopsMore, most, (end.pops.lo, end.pops), watch.pop);
    } else if end.pops.hi < bounds.pop.0.into() {
        let kind = if dynamic.pop.is_some() { FindingKind::PopsTooFew } else { FindingKind::PopsLess };
        found(kind, bounds.pop.0, (end.pops.hi, end.pops), None);
    }
    let looks_further = end.looked.lo > end.pops.lo || above(end.pops, bounds.pop.1).is_none();
    if looks_further && let Some(most) = above(end.looked, bounds.look.1) {
        found(FindingKind::PeeksBeyond, most, (end.looked.lo, end.looked), watch.peek);
    }
    if let Some(most) = above(end.pushes, bounds.push.1) {
        found(FindingKind::PushesMore, most, (end.pushes.lo, end.pushes), watch.push);
    } else if end.pushes.hi < bounds.push.0.into() {
        found(FindingKind::PushesLess, bounds.push.0, (end.pushes.hi, end.pushes), None);
    }
    facts
}

/// The array fields, by number, that a firing of `work` fills before it reads them, as far as that can be shown.
pub fn filled_first(code: &FilterCode, globals: &Globals) -> BTreeSet<usize> {
    let (end, watch) = walk::run(code, &code.work, globals, true);
    let followed = end.map_or_else(Vec::new, |end| end.filled);
    (0..followed.len()).filter(|f| !followed[*f].is_empty() && !watch.exposed.contains(f)).collect()
}

impl Facts {
    /// The findings as diagnostics. `work` is the tree of the same `work` or `prework`; `dependent`: what a firing does to its channels may follow from the filter's arguments, so that no number can be written down.
    pub fn diagnostics(&self, code: &FilterCode, work: &ast::Work, dependent: bool) -> Vec<Diagnostic> {
        let rate = |kind| work.rates.iter().find(|r| r.kind == kind).map_or(work.keyword.0, |r| r.at.0);
        self.findings.iter().map(|f| diagnostic(f, f.exact && !dependent, code, work, &rate)).collect()
    }
}

fn diagnostic(
    f: &Finding,
    certain: bool,
    code: &FilterCode,
    work: &ast::Work,
    rate: &dyn Fn(RateKind) -> Span,
) -> Diagnostic {
    let declared = f.declared;
    let count = |n: u64| if n == 1 { "1 item".to_string() } else { format!("{n} items") };
    let (rate_kind, least) = match f.kind {
        FindingKind::PopsMore => (RateKind::Pop, false),
        FindingKind::PopsLess | FindingKind::PopsTooFew => (RateKind::Pop, true),
        FindingKind::PushesMore => (RateKind::Push, false),
        FindingKind::PushesLess => (RateKind::Push, true),
        FindingKind::PeeksBeyond => (RateKind::Peek, false),
    };
    let ranges = |r: &ast::RateSpec| {
        let of = r.kind == rate_kind || rate_kind == RateKind::Peek && r.kind == RateKind::Pop;
        of && matches!(r.rate, ast::Rate::Dynamic { .. })
    };
    let limit = match (work.rates.iter().any(ranges), least) {
        (false, _) => declared.to_string(),
        (true, true) => format!("at least {declared}"),
        (true, false) => format!("at most {declared}"),
    };
    let title = |verb: &str, bound: &str| {
        let bound = if f.exact { "" } else { bound };
        format!("every firing of `{}` {verb} {bound}{}, but {} is declared", code.display, count(f.actual), limit)
    };
    let help = |d: Diagnostic, keyword: &str| match certain {
        true => d.help(format!("declare `{keyword} {}`, or change the body", f.actual)),
        false => d.help(format!("change the rate `{keyword}`, or the body")),
    };
    // a rate that is not written down is 0 (or, for peek, that of pop)
    let declared_as = |kind: RateKind, word: &str| match work.rates.iter().any(|r| r.kind == kind) {
        true => format!("the declared {word} rate is {limit}"),
        false => format!("no {word} rate is declared, which means {limit}"),
    };
    let at = f.span.unwrap_or(work.keyword.0);
    let d = match f.kind {
        FindingKind::PopsMore => {
            Diagnostic::error("E0236", title("pops", "at least "), at, "here it pops more than declared")
                .label(rate(RateKind::Pop), declared_as(RateKind::Pop, "pop"))
        }
        FindingKind::PushesMore => {
            Diagnostic::error("E0237", title("pushes", "at least "), at, "here it pushes more than declared")
                .label(rate(RateKind::Push), declared_as(RateKind::Push, "push"))
        }
        FindingKind::PushesLess => {
            let label = declared_as(RateKind::Push, "push");
            Diagnostic::error("E0238", title("pushes", "at most "), rate(RateKind::Push), label)
        }
        FindingKind::PeeksBeyond => {
            let kind = if work.rates.iter().any(|r| r.kind == RateKind::Peek) { RateKind::Peek } else { RateKind::Pop };
            Diagnostic::error("E0239", title("looks at", "at least "), at, "here it looks beyond the declared items")
                .label(rate(kind), declared_as(RateKind::Peek, "peek"))
        }
        FindingKind::PopsTooFew => {
            let label = declared_as(RateKind::Pop, "pop");
            Diagnostic::error("E0236", title("pops", "at most "), rate(RateKind::Pop), label)
        }
        FindingKind::PopsLess => {
            let label = "the items left over are dropped";
            Diagnostic::warning("W0240", title("pops", "at most "), rate(RateKind::Pop), label)
        }
    };
    let keyword = match f.kind {
        FindingKind::PopsMore | FindingKind::PopsLess | FindingKind::PopsTooFew => "pop",
        FindingKind::PushesMore | FindingKind::PushesLess => "push",
        FindingKind::PeeksBeyond => "peek",
    };
    let kind = match keyword {
        "pop" => RateKind::Pop,
        "push" => RateKind::Push,
        _ => RateKind::Peek,
    };
    match fix(f, work, kind, keyword).filter(|_| certain) {
        Some(fix) => help(d, keyword).fix(fix),
        None => help(d, keyword),
    }
}

/// The rate as it should be, where the body leaves no doubt and the rate is no expression that differs among instances.
fn fix(f: &Finding, work: &ast::Work, kind: RateKind, keyword: &str) -> Option<Fix> {
    let title = format!("declare `{keyword} {}`", f.actual);
    match work.rates.iter().find(|r| r.kind == kind) {
        Some(r) => match &r.rate {
            ast::Rate::Static(e) if matches!(e.unparen().kind, ast::ExprKind::Int { .. }) => {
                Some(Fix::new(title, e.span(), f.actual.to_string()))
            }
            _ => None,
        },
        None => {
            let last = work.rates.last().map_or(work.keyword.0, |r| r.at.0);
            Some(Fix::new(title, Span { start: last.end, ..last }, format!(" {keyword} {}", f.actual)))
        }
    }
}
