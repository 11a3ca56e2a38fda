//! # precedence (W0203, W0204)
//!
//! Purpose: operators that bind otherwise than a reader expects. Input: a binary operation as written, while it is checked; both
//! operands' types. Output: warnings, each with the parentheses that say what the program means, and those that say what its reader
//! may have thought.
//!
//! - W0203: where C groups differently, since here shifts bind like `*`, and `&`, `|` and `^` share a level;
//! - W0204: a comparison as operand of `&`, `|` or `^` beside a number: `x & 1 == 1` is `x & (1 == 1)`, here as in C.

use crate::check::Checker;
use crate::check::convert::shorten;
use crate::ty::Ty;
use crate::typed::BinaryOp;
use sluice_grammar::ast::{Expr, ExprKind};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

/// An operation in an operation.
struct Nested<'e> {
    outer: BinaryOp,
    whole: Span,
    inner: BinaryOp,
    inside: &'e Expr,
    /// Does it stand on the left?
    left: bool,
    other: &'e Expr,
}

impl Checker<'_> {
    /// Looks at `a op b`.
    pub(crate) fn precedence(&mut self, op: BinaryOp, (a, b): (&Expr, &Expr), types: (&Ty, &Ty), whole: Span) {
        let sides = [(a, b, true), (b, a, false)];
        let nested = sides.into_iter().filter_map(|(inside, other, left)| match inside.kind {
            ExprKind::Binary(inner, ..) => Some(Nested { outer: op, whole, inner, inside, left, other }),
            _ => None,
        });
        let unlike_c: Vec<Nested<'_>> = nested.filter(|n| differs(n.outer, n.inner)).collect();
        if let Some(first) = unlike_c.first() {
            let (inner, op) = (first.inner.symbol(), op.symbol());
            let title = format!("C would group this differently: here `{inner}` binds before `{op}`");
            let label = format!("`{op}` applies last");
            let mut d = Diagnostic::warning("W0203", title, whole, label);
            for n in &unlike_c {
                d = d.label(n.inside.span(), "this is computed first");
            }
            self.report(self.parenthesised(d, &unlike_c, "for what C computes"));
            return;
        }
        let bits = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        if !bits {
            return;
        }
        for (inside, other, left, beside) in [(a, b, true, types.1), (b, a, false, types.0)] {
            let ExprKind::Binary(inner, ..) = inside.kind else { continue };
            if !compares(inner) || !matches!(beside, Ty::Int | Ty::Bit) {
                continue;
            }
            let (i, o) = (inner.symbol(), op.symbol());
            let title = format!("`{i}` binds before `{o}`: a comparison is an operand of `{o}`");
            let d = Diagnostic::warning("W0204", title, whole, format!("`{o}` applies last, to a truth value"))
                .label(inside.span(), "this is computed first");
            let n = Nested { outer: op, whole, inner, inside, left, other };
            self.report(self.parenthesised(d, &[n], "to compare the bits"));
            return;
        }
    }

    /// Adds the ways to make it plain.
    fn parenthesised(&self, d: Diagnostic, nested: &[Nested<'_>], otherwise: &str) -> Diagnostic {
        let sources = &self.w.sources;
        let before = |at: Span| Span { end: at.start, ..at };
        let behind = |at: Span| Span { start: at.end, ..at };
        let keep = nested.iter().map(|n| n.inside.span());
        let mut shown = sources.text(nested[0].whole).to_string();
        let start = nested[0].whole.start;
        // from the back, so that the places in front stay where they are
        let mut places: Vec<Span> = keep.clone().collect();
        places.sort_by_key(|at| std::cmp::Reverse(at.start));
        for at in places {
            if let (Some(from), Some(to)) = (at.start.checked_sub(start), at.end.checked_sub(start))
                && shown.is_char_boundary(from as usize)
                && shown.is_char_boundary(to as usize)
            {
                shown.insert(to as usize, ')');
                shown.insert(from as usize, '(');
            }
        }
        let mut keep = keep.map(|at| (before(at), behind(at)));
        let Some((open, close)) = keep.next() else { return d };
        let mut same = Fix::safe(format!("`{}` if it is meant", shorten(&shown)), open, "(").and(close, ")");
        for (open, close) in keep {
            same = same.and(open, "(").and(close, ")");
        }
        let d = d.fix(same);
        let [n] = nested else { return d };
        let ExprKind::Binary(_, x, y) = &n.inside.kind else { return d };
        let text = |e: &Expr| sources.text(e.span()).to_string();
        let (inner, outer) = (n.inner.symbol(), n.outer.symbol());
        let (shown, from, to) = match n.left {
            true => {
                let shown = format!("{} {inner} ({} {outer} {})", text(x), text(y), text(n.other));
                (shown, y.span(), n.other.span())
            }
            false => {
                let shown = format!("({} {outer} {}) {inner} {}", text(n.other), text(x), text(y));
                (shown, n.other.span(), x.span())
            }
        };
        let title = format!("`{}` {otherwise}", shorten(&shown));
        d.fix(Fix::new(title, before(from), "(").and(behind(to), ")"))
    }
}

/// How tightly C binds, for the operators that differ; 0 for the others.
fn strength(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 6,
        BinaryOp::Add | BinaryOp::Sub => 5,
        BinaryOp::Shl | BinaryOp::Shr => 4,
        BinaryOp::BitAnd => 3,
        BinaryOp::BitXor => 2,
        BinaryOp::BitOr => 1,
        _ => 0,
    }
}

/// Would C apply the outer one first?
fn differs(outer: BinaryOp, inner: BinaryOp) -> bool {
    (1..strength(outer)).contains(&strength(inner))
}

fn compares(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Lt | Le | Gt | Ge | Eq | Ne)
}
