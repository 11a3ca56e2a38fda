//! # precision (W0220, W0221, W0222)
//!
//! Purpose: numbers that lose digits without a cast. A float holds the ints up to 2^24 exactly, beyond that every second, fourth, ...
//! Output: warnings.
//!
//! - W0220: a literal int that a float does not hold, where it becomes a float by itself; an int whose values reach beyond 2^24 as far as
//!   the analysis of the body shows (a loop's counter, say); a real literal without fraction that a float does not hold;
//! - W0221: `1 / 3` of int literals where a real number is wanted: the remainder is lost before it becomes one;
//! - W0222: a real literal beyond the largest float, or so small that it is 0, where no double is wanted.

use super::instances::Instance;
use super::tree;
use crate::check::Checker;
use crate::constant::Const;
use crate::ty::Ty;
use crate::typed::{self, BinaryOp};
use sluice_grammar::ast::{Expr, ExprKind};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::{SourceMap, Span};
use std::collections::BTreeMap;

/// The largest int up to which a float holds all.
const EXACT: i64 = 1 << 24;

/// What is remembered of a body's literals until it is known what becomes of them.
#[derive(Default)]
pub struct Literals {
    /// Real literals that a float does not hold as they are: the value, and the text as written.
    reals: BTreeMap<Span, (f64, String)>,
    /// Divisions of int literals with a remainder.
    divisions: BTreeMap<Span, (i64, i64)>,
}

impl Checker<'_> {
    /// Are bodies looked at as they are written, not once more for certain arguments?
    fn as_written(&self) -> bool {
        self.generic || self.decl.is_none()
    }

    /// A real literal.
    pub(crate) fn real_literal(&mut self, value: f64, text: &str, span: Span) {
        let float = value as f32;
        let beyond = float.is_infinite() && value.is_finite() || float == 0.0 && value != 0.0;
        let whole = value.fract() == 0.0 && !text.contains(['e', 'E']) && f64::from(float) != value;
        if (beyond || whole) && self.as_written() {
            self.f.literals.reals.insert(span, (value, text.to_string()));
        }
    }

    /// The literals in here have become doubles.
    pub(crate) fn became_double(&mut self, span: Span) {
        self.f.literals.reals.retain(|at, _| !within(*at, span));
    }

    /// `a op b` as written.
    pub(crate) fn literal_division(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) {
        if op != BinaryOp::Div || !self.as_written() {
            return;
        }
        let int = |e: &Expr| match &e.unparen().kind {
            ExprKind::Int { .. } | ExprKind::Unary(..) => {
                tree::number(e).filter(|v| v.fract() == 0.0).map(|v| v as i64)
            }
            _ => None,
        };
        if let (Some(x), Some(y)) = (int(a), int(b))
            && y != 0
            && x % y != 0
        {
            self.f.literals.divisions.insert(span, (x, y));
        }
    }

    /// An expression that is converted without a cast.
    pub(crate) fn widens(&mut self, e: &typed::Expr, to: &Ty) {
        if !self.as_written() || e.ty != Ty::Int || !matches!(to, Ty::Float | Ty::Double | Ty::Complex | Ty::Vec(_)) {
            return;
        }
        let typed::ExprKind::Const(Const::Int(value)) = e.kind else { return };
        if *to != Ty::Double && f64::from(value as f32) != f64::from(value) {
            let title = format!("a float does not hold {value} exactly");
            let near = format!("as a float this is {}", f64::from(value as f32));
            self.report(
                Diagnostic::warning("W0220", title, e.span, near)
                    .help("use a double, or write the number that is meant as a real one"),
            );
        }
        let lost = self.f.literals.divisions.iter().find(|(at, _)| within(**at, e.span)).map(|(at, d)| (*at, *d));
        if let Some((at, (x, y))) = lost {
            let title = format!("{x} / {y} is {} in ints", x / y);
            let dividend = Span { end: at.start, ..at };
            let real = self.w.sources.text(at).split('/').next().unwrap_or("").trim_end().to_string();
            let mut d =
                Diagnostic::warning("W0221", title, at, "the remainder is lost before this becomes a real number");
            if real.bytes().all(|b| b.is_ascii_digit()) {
                let end = at.start + real.len() as u32;
                d = d.fix(Fix::new(format!("write `{real}.0`"), Span { start: end, end, ..dividend }, ".0"));
            }
            self.report(d.help("make one of them a real number; or write the quotient, if it is meant"));
        }
    }

    /// A body is done: what is left of its real literals are floats.
    pub(crate) fn literals_done(&mut self) {
        let literals = std::mem::take(&mut self.f.literals);
        for (span, (value, text)) in literals.reals {
            let float = value as f32;
            let d = match (float.is_infinite(), float == 0.0) {
                (true, _) => {
                    let title = format!("{text} is beyond the largest float: it becomes infinite");
                    Diagnostic::warning("W0222", title, span, "a float ends near 3.4e38")
                }
                (_, true) => {
                    let title = format!("{text} is below the smallest float: it becomes 0");
                    Diagnostic::warning("W0222", title, span, "a float ends near 1.4e-45")
                }
                _ => {
                    let label = format!("as a float this is {}", f64::from(float));
                    Diagnostic::warning("W0220", format!("a float does not hold {text} exactly"), span, label)
                }
            };
            self.report(d.help("a real literal is a float unless it meets a double"));
        }
    }
}

fn within(inner: Span, outer: Span) -> bool {
    inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
}

/// Warnings about the ints of one filter that become floats.
pub fn lint(sources: &SourceMap, instances: &[Instance], out: &mut Vec<Diagnostic>) {
    let Some(first) = instances.first() else { return };
    for at in first.widened.keys() {
        let all = instances.iter().filter_map(|i| i.widened.get(at));
        // all that is known of the others is that they are ints
        let known = |(lo, hi): &(i64, i64)| *lo > i64::from(i32::MIN) && *hi < i64::from(i32::MAX);
        let inexact = |(lo, hi): &(i64, i64)| match lo == hi {
            true => f64::from(*lo as f32) != *lo as f64,
            false => *hi > EXACT || *lo < -EXACT,
        };
        let mut most = 0;
        let mut count = 0;
        for range in all {
            if !known(range) || !inexact(range) {
                count = 0;
                break;
            }
            count += 1;
            most = if range.1.abs() >= range.0.abs() { range.1 } else { range.0 };
        }
        if count < instances.len() {
            continue;
        }
        let text = sources.text(*at);
        let simple = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let cast = if simple { format!("(float){text}") } else { format!("(float)({text})") };
        out.push(
            Diagnostic::warning(
                "W0220",
                "this int becomes a float, which holds ints up to 2^24 exactly",
                *at,
                format!("this can be {most}"),
            )
            .fix(Fix::new(format!("write `{cast}` if it is meant"), *at, cast)),
        );
    }
}
