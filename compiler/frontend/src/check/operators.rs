//! Types of operators: which operands they take, what they are converted to, what they give.

use super::Checker;
use super::convert::Checked;
use crate::constant::Const;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::ast::{self, ExprKind as A};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, inner: &ast::Expr, span: Span) -> Checked {
        // -2147483648 is one literal
        if op == UnaryOp::Neg
            && let A::Int { value: 2_147_483_648, hex: false, .. } = inner.unparen().kind
        {
            return Expr { kind: ExprKind::Const(Const::Int(i32::MIN)), ty: Ty::Int, span }.into();
        }
        let c = self.expr(inner);
        let ty = c.expr.ty.clone();
        let literal = c.literal.filter(|_| op == UnaryOp::Neg).map(|v| -v);
        let (operand, ty) = match (op, &ty) {
            (_, Ty::Error) => return self.broken(span).into(),
            (UnaryOp::Neg, Ty::Int | Ty::Float | Ty::Double | Ty::Complex | Ty::Vec(_)) => (c.expr, ty),
            (UnaryOp::Neg, Ty::Bit | Ty::Bool) | (UnaryOp::BitNot, Ty::Bool) => {
                (self.convert(c.expr, &Ty::Int), Ty::Int)
            }
            (UnaryOp::BitNot, Ty::Int | Ty::Bit) => (c.expr, ty),
            (UnaryOp::Not, Ty::Bit | Ty::Bool | Ty::Int | Ty::Float | Ty::Double) => (self.condition(c), Ty::Bool),
            _ => {
                let symbol = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                };
                let t = self.show(&ty);
                self.error("E0202", format!("`{symbol}` does not apply to {t}"), span, format!("the operand is {t}"));
                return self.broken(span).into();
            }
        };
        if let ExprKind::Const(k) = &operand.kind
            && let Some(k) = crate::ops::unary(op, k)
        {
            return Checked::literal(Expr { kind: ExprKind::Const(k), ty, span }, literal);
        }
        Checked::literal(Expr { kind: ExprKind::Unary(op, Box::new(operand)), ty, span }, literal)
    }

    /// Where one side is double and the other a real literal, the literal becomes double.
    pub fn promote_literals(&mut self, a: &mut Checked, b: &mut Checked) {
        self.met_double(a, &b.expr.ty);
        self.met_double(b, &a.expr.ty);
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Checked {
        let mut l = self.expr(a);
        let mut r = self.expr(b);
        self.precedence(op, (a, b), (&l.expr.ty, &r.expr.ty), span);
        if l.expr.ty == Ty::Error || r.expr.ty == Ty::Error {
            return self.broken(span).into();
        }
        if op == BinaryOp::Add && (l.expr.ty == Ty::Str || r.expr.ty == Ty::Str) {
            return self.concat(l.expr, r.expr, span).into();
        }
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let (l, r) = (self.condition(l), self.condition(r));
            return self.operation(op, l, r, Ty::Bool, span).into();
        }
        self.promote_literals(&mut l, &mut r);
        let Some((operands, result)) = self.operator_type(op, &l.expr.ty, &r.expr.ty) else {
            self.operator_clash(op, &l.expr, &r.expr, span);
            return self.broken(span).into();
        };
        let real = l.literal.is_some() || r.literal.is_some();
        let literal = match (literal_value(&l, a), literal_value(&r, b), op) {
            _ if !real => None,
            (Some(x), Some(y), BinaryOp::Add) => Some(x + y),
            (Some(x), Some(y), BinaryOp::Sub) => Some(x - y),
            (Some(x), Some(y), BinaryOp::Mul) => Some(x * y),
            (Some(x), Some(y), BinaryOp::Div) => Some(x / y),
            _ => None,
        };
        self.literal_division(op, a, b, span);
        self.widens(&l.expr, &operands);
        self.widens(&r.expr, &operands);
        let (left, right) = operand_types(op, &operands, &l.expr.ty, &r.expr.ty);
        let (l, r) = (self.convert(l.expr, &left), self.convert(r.expr, &right));
        Checked::literal(self.operation(op, l, r, result, span), literal)
    }

    fn operation(&mut self, op: BinaryOp, l: Expr, r: Expr, ty: Ty, span: Span) -> Expr {
        if let (ExprKind::Const(x), ExprKind::Const(y)) = (&l.kind, &r.kind) {
            match crate::ops::binary(op, x, y) {
                Ok(Some(c)) => return Expr { kind: ExprKind::Const(c), ty, span },
                Ok(None) => {}
                Err(_) => {
                    self.error("E0227", "division by zero", r.span, "this is zero");
                    return self.broken(span);
                }
            }
        }
        Expr { kind: ExprKind::Binary(op, Box::new(l), Box::new(r)), ty, span }
    }

    /// Reports an operator that has no meaning for its operands.
    pub fn operator_clash(&mut self, op: BinaryOp, l: &Expr, r: &Expr, span: Span) {
        let (x, y) = (self.show(&l.ty), self.show(&r.ty));
        let mut d = Diagnostic::error(
            "E0202",
            format!("`{}` does not apply to {x} and {y}", op.symbol()),
            span,
            "no such operation",
        )
        .label(l.span, format!("this is {x}"))
        .label(r.span, format!("this is {y}"));
        if op == BinaryOp::Rem && l.ty.is_real_number() && r.ty.is_real_number() {
            d = d.help("`%` is for int; for real numbers use `fmod(a, b)`");
            // (`a %= b` has another place)
            if l.span.to(r.span) == span {
                let text = format!("fmod({}, {})", self.w.sources.text(l.span), self.w.sources.text(r.span));
                d = d.fix(Fix::new(format!("write `{}`", super::convert::shorten(&text)), span, text));
            }
        } else if l.ty.is_aggregate() || r.ty.is_aggregate() {
            d = d.help("arrays and structs have no operators: work on their elements");
        }
        self.report(d);
    }

    /// The operands' common type and the result's, for arithmetic, shifts, comparisons, bit operations.
    pub fn operator_type(&self, op: BinaryOp, a: &Ty, b: &Ty) -> Option<(Ty, Ty)> {
        use BinaryOp::*;
        let met = self.meet(a, b)?;
        let numeric = |t: Ty| match t {
            Ty::Bit | Ty::Bool => Some(Ty::Int),
            Ty::Int | Ty::Float | Ty::Double | Ty::Complex | Ty::Vec(_) => Some(t),
            _ => None,
        };
        match op {
            Mul | Div | Add | Sub => numeric(met).map(|t| (t.clone(), t)),
            Rem | Shl | Shr => numeric(met).filter(|t| *t == Ty::Int).map(|t| (t.clone(), t)),
            Lt | Le | Gt | Ge => numeric(met).filter(Ty::is_real_number).map(|t| (t, Ty::Bool)),
            Eq | Ne => match met {
                Ty::Bit | Ty::Bool | Ty::Int | Ty::Float | Ty::Double | Ty::Complex => Some((met, Ty::Bool)),
                _ => None,
            },
            BitAnd | BitOr | BitXor => match met {
                Ty::Bit | Ty::Bool | Ty::Int => Some((met.clone(), met)),
                _ => None,
            },
            And | Or => Some((Ty::Bool, Ty::Bool)),
        }
    }

    pub(super) fn concat(&mut self, a: Expr, b: Expr, span: Span) -> Expr {
        let mut parts = Vec::new();
        for e in [a, b] {
            match e {
                Expr { kind: ExprKind::Concat(p), .. } => parts.extend(p),
                e if e.ty.is_aggregate() || matches!(e.ty, Ty::Void | Ty::Portal(_)) => {
                    let t = self.show(&e.ty);
                    self.error("E0216", format!("{t} cannot become text"), e.span, "print its elements one by one");
                }
                e => parts.push(e),
            }
        }
        Expr { kind: ExprKind::Concat(parts), ty: Ty::Str, span }
    }
}

/// The values that one side of a `?:` brings, for where it meets a double.
pub(super) fn choices(c: &Checked, e: &ast::Expr) -> Option<Vec<f64>> {
    c.choice.clone().or_else(|| literal_value(c, e).map(|v| vec![v]))
}

/// The value that an operand brings into a sum or product of literals: that of a real literal, or of an int one (`1.0 / 3`, `2 * pi`).
fn literal_value(c: &Checked, e: &ast::Expr) -> Option<f64> {
    match &c.expr.kind {
        ExprKind::Const(Const::Int(k)) if literals_only(e) => Some(f64::from(*k)),
        _ => c.literal,
    }
}

fn literals_only(e: &ast::Expr) -> bool {
    match &e.kind {
        A::Int { .. } | A::Char { .. } => true,
        A::Paren(e) | A::Unary(UnaryOp::Neg, e) => literals_only(e),
        A::Binary(_, a, b) => literals_only(a) && literals_only(b),
        _ => false,
    }
}

/// The types that an operator's operands get where it works in `operands`: a real number that multiplies or divides a complex one stays real.
pub(super) fn operand_types(op: BinaryOp, operands: &Ty, l: &Ty, r: &Ty) -> (Ty, Ty) {
    let scales = |by: &Ty, other: &Ty| *operands == Ty::Complex && *other == Ty::Complex && *by != Ty::Complex;
    match op {
        BinaryOp::Mul if scales(l, r) => (Ty::Float, Ty::Complex),
        BinaryOp::Mul | BinaryOp::Div if scales(r, l) => (Ty::Complex, Ty::Float),
        _ => (operands.clone(), operands.clone()),
    }
}
