//! Implicit conversions: what widens, what needs a cast, and what clashes.

use super::Checker;
use crate::constant::Const;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

/// A typed expression, with the double-precision value of a real literal that has not met its type yet.
pub struct Checked {
    /// The expression.
    pub expr: Expr,
    /// For a real literal (or a sum, product, negation of such, also with int literals): its value in double precision.
    pub literal: Option<f64>,
    /// For a `?:` that chooses from such literals: their values, as they stand in the text.
    pub choice: Option<Vec<f64>>,
}

impl From<Expr> for Checked {
    fn from(expr: Expr) -> Checked {
        Checked { expr, literal: None, choice: None }
    }
}

impl Checked {
    /// An expression that is, with a value, a real literal.
    pub fn literal(expr: Expr, literal: Option<f64>) -> Checked {
        Checked { expr, literal, choice: None }
    }

    /// Makes doubles of real literals, of those that `?:` chooses from, too. Gives the places of those that it was; none where the expression is something else.
    fn become_double(&mut self) -> Vec<Span> {
        let mut places = Vec::new();
        let values = self.choice.take().or_else(|| self.literal.take().map(|v| vec![v]));
        doubles(&mut self.expr, &mut values.unwrap_or_default().into_iter(), &mut places);
        places
    }
}

fn doubles(e: &mut Expr, values: &mut std::vec::IntoIter<f64>, places: &mut Vec<Span>) {
    match &mut e.kind {
        // a literal is no `?:`: this one chooses from literals
        ExprKind::Ternary(_, a, b) if values.len() > 0 => {
            doubles(a, values, places);
            doubles(b, values, places);
        }
        _ => {
            let Some(value) = values.next() else { return };
            e.kind = ExprKind::Const(Const::Double(value));
            places.push(e.span);
        }
    }
    e.ty = Ty::Double;
}

/// How one type becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Equal.
    Same,
    /// Widens implicitly.
    Widens,
    /// A cast would do it.
    NeedsCast,
    /// No.
    Never,
}

/// Rank of the real numbers, for widening.
fn rank(ty: &Ty) -> Option<u8> {
    Some(match ty {
        Ty::Bit | Ty::Bool => 0,
        Ty::Int => 1,
        Ty::Float => 2,
        Ty::Double => 3,
        _ => return None,
    })
}

/// Are two types equal, unknown sizes fitting any?
pub fn same(a: &Ty, b: &Ty) -> bool {
    match (a, b) {
        (Ty::Error, _) | (_, Ty::Error) => true,
        (Ty::Array(a, n), Ty::Array(b, m)) => (n == m || *n == Dim::Unknown || *m == Dim::Unknown) && same(a, b),
        _ => a == b,
    }
}

/// How `from` becomes `to`.
pub fn fit(from: &Ty, to: &Ty) -> Fit {
    if same(from, to) {
        return Fit::Same;
    }
    match (rank(from), rank(to)) {
        // bit and boolean are both one truth value: neither is wider
        (Some(a), Some(b)) => return if a <= b { Fit::Widens } else { Fit::NeedsCast },
        (Some(a), None) if *to == Ty::Complex => return if a <= 2 { Fit::Widens } else { Fit::NeedsCast },
        _ => {}
    }
    Fit::Never
}

impl Checker<'_> {
    /// Wraps an expression in a conversion; constants convert at once.
    pub fn convert(&mut self, e: Expr, to: &Ty) -> Expr {
        if same(&e.ty, to) {
            return e;
        }
        let span = e.span;
        if let ExprKind::Const(c) = &e.kind
            && let Some(c) = crate::ops::convert(c, to)
        {
            return Expr { kind: ExprKind::Const(c), ty: to.clone(), span };
        }
        Expr { kind: ExprKind::Convert(Box::new(e)), ty: to.clone(), span }
    }

    /// Makes doubles of the real literals that an expression is, where it meets a double; were there any?
    pub fn met_double(&mut self, e: &mut Checked, other: &Ty) -> bool {
        let places = if *other == Ty::Double { e.become_double() } else { Vec::new() };
        places.iter().for_each(|at| self.became_double(*at));
        !places.is_empty()
    }

    /// Gives an expression the type wanted, implicitly; reports where that cannot be.
    pub fn coerce(&mut self, e: Checked, to: &Ty) -> Checked {
        self.coerce_for(e, to, "")
    }

    /// As [`Self::coerce`]; `role` says what wants the type ("the parameter `n`"), for the message.
    pub fn coerce_for(&mut self, e: Checked, to: &Ty, role: &str) -> Checked {
        let span = e.expr.span;
        let mut e = e;
        if self.met_double(&mut e, to) {
            return e;
        }
        let wants = if role.is_empty() { String::new() } else { format!(" ({role})") };
        match fit(&e.expr.ty, to) {
            Fit::Same => {
                if self.is_unknown(&e.expr.ty) && !matches!(e.expr.kind, ExprKind::Const(_)) && *to != Ty::Error {
                    e.expr.ty = to.clone();
                }
                e
            }
            Fit::Widens => {
                self.widens(&e.expr, to);
                self.convert(e.expr, to).into()
            }
            Fit::NeedsCast => {
                if matches!(to, Ty::Bit | Ty::Bool) && is_truth_value(&e.expr) {
                    return self.convert(e.expr, to).into();
                }
                let (from, into) = (self.show(&e.expr.ty), self.show(to));
                let text = self.w.sources.text(span).to_string();
                let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_');
                let fixed = if simple { format!("({into}){text}") } else { format!("({into})({text})") };
                self.report(
                    Diagnostic::error(
                        "E0201",
                        format!("{from} does not become {into} by itself{wants}"),
                        span,
                        format!("this is {from}, {into} is wanted"),
                    )
                    .help(format!("narrowing needs a cast: `{}`", shorten(&fixed)))
                    .fix(Fix::new(format!("write `{}`", shorten(&fixed)), span, fixed)),
                );
                self.broken(span).into()
            }
            Fit::Never => {
                let (from, into) = (self.show(&e.expr.ty), self.show(to));
                self.error(
                    "E0200",
                    format!("the types {into} and {from} do not agree{wants}"),
                    span,
                    format!("this is {from}, {into} is wanted"),
                );
                self.broken(span).into()
            }
        }
    }

    /// A condition: boolean, or a number that counts as true when it is not zero (as in C).
    pub fn condition(&mut self, e: Checked) -> Expr {
        let span = e.expr.span;
        match &e.expr.ty {
            Ty::Bool | Ty::Error => e.expr,
            t if t.is_real_number() => self.convert(e.expr, &Ty::Bool),
            t => {
                let t = self.show(t);
                self.error("E0203", format!("a condition cannot be {t}"), span, "boolean is wanted");
                Expr { ty: Ty::Error, ..self.broken(span) }
            }
        }
    }

    /// The type in which two operands meet, or none.
    pub fn meet(&self, a: &Ty, b: &Ty) -> Option<Ty> {
        if same(a, b) {
            return Some(if *a == Ty::Error { b.clone() } else { a.clone() });
        }
        match (rank(a), rank(b)) {
            (Some(x), Some(y)) => Some(match x.max(y) {
                0 | 1 => Ty::Int,
                2 => Ty::Float,
                _ => Ty::Double,
            }),
            (Some(r), None) | (None, Some(r)) => {
                let other = if rank(a).is_none() { a } else { b };
                match other {
                    Ty::Complex if r <= 2 => Some(Ty::Complex),
                    Ty::Vec(n) if r <= 2 => Some(Ty::Vec(*n)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Is this int only ever 0 or 1, as written? The literals 0 and 1 are bits and truth values as they stand, and so is what `&`, `|`, `^`
/// and `?:` make of them and of bits (`b ^ 1`, `x > 3 ? 1 : 0`).
pub fn is_truth_value(e: &Expr) -> bool {
    let operand = |e: &Expr| match &e.kind {
        ExprKind::Convert(inner) => matches!(inner.ty, Ty::Bit | Ty::Bool),
        _ => is_truth_value(e),
    };
    match &e.kind {
        ExprKind::Const(Const::Int(k)) => matches!(k, 0 | 1),
        ExprKind::Binary(BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor, a, b) => {
            e.ty == Ty::Int && operand(a) && operand(b)
        }
        ExprKind::Ternary(_, a, b) => e.ty == Ty::Int && operand(a) && operand(b),
        _ => false,
    }
}

/// At most 60 characters of a text.
pub fn shorten(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= 60 { one_line } else { one_line.chars().take(57).collect::<String>() + "..." }
}
