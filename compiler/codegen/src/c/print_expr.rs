//! # print-expr
//!
//! Purpose: expressions and places as C. Input: pure kernel expressions. Output: C expressions without side effects.
//!
//! ```text
//! ($0 + (table1[$2] * in(($3 + 1))))   →   acc_0 + SL_ROUNDED(h_1.v[i_2] * in[k_3 + 1])
//! ```

use super::print_function::Printer;
use super::print_kept::kept_name;
use super::print_turn::turned;
use super::types::{field_name, scalar};
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;

impl Printer<'_> {
    /// An expression as an operand: in parentheses where it needs them.
    pub(super) fn operand(&self, e: &Expr) -> String {
        let text = self.expr(e);
        match &e.kind {
            // a macro's call
            ExprKind::Binary(BinaryOp::Mul, ..) if matches!(e.ty, Ty::Float | Ty::Double) => text,
            ExprKind::Binary(..)
            | ExprKind::Select(..)
            | ExprKind::Unary(..)
            | ExprKind::Convert(_)
            | ExprKind::Iter => format!("({text})"),
            _ => text,
        }
    }

    /// An expression.
    pub(super) fn expr(&self, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Const(c) => scalar(c),
            ExprKind::Zero => match e.as_const() {
                Some(c) => scalar(&c),
                None if self.device() => format!("{}()", super::types::c_type(&e.ty).trim_start_matches("struct ")),
                None => format!("({}){{0}}", super::types::c_type(&e.ty)),
            },
            ExprKind::Load(Place { base: Base::State(id), path }) if path.is_empty() && self.rings.contains(id) => {
                self.place_in_ring(*id)
            }
            ExprKind::Load(p) => self.left(p).unwrap_or_else(|| self.place(p)),
            ExprKind::Unary(op, a) => self.unary(*op, a),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Select(c, a, b) => self
                .selected_bound(c, a, b)
                .unwrap_or_else(|| format!("{} ? {} : {}", self.operand(c), self.operand(a), self.operand(b))),
            ExprKind::Convert(a) => self.convert(a, &e.ty),
            ExprKind::Builtin(f, args) => self.builtin(*f, args),
            ExprKind::Compose(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.expr(p)).collect();
                format!("{}_of({})", prefix(&e.ty), parts.join(", "))
            }
            ExprKind::Component(a, i) => format!("{}{}", self.operand(a), component(&a.ty, *i)),
            ExprKind::Iter => "(int32_t)st->iter".into(),
            ExprKind::Any(a) => self.any_lane(a),
        }
    }

    fn unary(&self, op: UnaryOp, a: &Expr) -> String {
        match (op, &a.ty) {
            (UnaryOp::Neg, Ty::Complex | Ty::Vec(_)) => format!("{}_neg({})", prefix(&a.ty), self.expr(a)),
            (UnaryOp::Neg, _) => format!("-{}", self.operand(a)),
            (UnaryOp::Not, _) | (UnaryOp::BitNot, Ty::Bit) => format!("!{}", self.operand(a)),
            (UnaryOp::BitNot, _) => format!("~{}", self.operand(a)),
        }
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> String {
        use BinaryOp::*;
        let call = |f: &str| format!("{f}({}, {})", self.expr(a), self.expr(b));
        if let Some((x, n)) = turned(op, a, b).filter(|_| !self.device()) {
            return format!("sl_rotl({}, {n})", self.expr(x));
        }
        match (&a.ty, op) {
            (Ty::Complex, Eq) => call("sl_complex_eq"),
            (Ty::Complex, Ne) => format!("!{}", call("sl_complex_eq")),
            (Ty::Complex | Ty::Vec(_), Add) => call(&format!("{}_add", prefix(&a.ty))),
            (Ty::Complex | Ty::Vec(_), Sub) => call(&format!("{}_sub", prefix(&a.ty))),
            (Ty::Complex | Ty::Vec(_), Mul) => call(&format!("{}_mul", prefix(&a.ty))),
            (Ty::Complex | Ty::Vec(_), Div) => call(&format!("{}_div", prefix(&a.ty))),
            (Ty::Float, Sub) if is_zero(a) => format!("sl_zero_minusf({})", self.expr(b)),
            (Ty::Double, Sub) if is_zero(a) => format!("sl_zero_minus({})", self.expr(b)),
            (Ty::Int, Div) if b.as_int().is_none_or(|i| i == -1) => call("sl_div"),
            (Ty::Int, Rem) if b.as_int().is_none_or(|i| i == -1) => call("sl_rem"),
            (Ty::Int, Shl) if b.as_int().is_none_or(|i| !(0..32).contains(&i)) => call("sl_shl"),
            (Ty::Int, Shr) if b.as_int().is_none_or(|i| !(0..32).contains(&i)) => call("sl_shr"),
            (Ty::Float | Ty::Double, Mul) => format!("SL_ROUNDED({} * {})", self.operand(a), self.operand(b)),
            _ => format!("{} {} {}", self.operand(a), op.symbol(), self.operand(b)),
        }
    }

    fn convert(&self, a: &Expr, to: &Ty) -> String {
        let x = self.operand(a);
        match (&a.ty, to) {
            (from, to) if from == to => x,
            (Ty::Float, Ty::Int) => format!("sl_float_to_int({x})"),
            (Ty::Double, Ty::Int) => format!("sl_double_to_int({x})"),
            (_, Ty::Int) => format!("(int32_t){x}"),
            (_, Ty::Float) => format!("(float){x}"),
            (_, Ty::Double) => format!("(double){x}"),
            (Ty::Bit, Ty::Bool) | (Ty::Bool, Ty::Bit) => x,
            (_, Ty::Bool) => format!("{x} != 0"),
            (Ty::Int, Ty::Bit) => format!("{x} & 1"),
            (Ty::Float, Ty::Bit) => format!("sl_float_to_int({x}) & 1"),
            (Ty::Double, Ty::Bit) => format!("sl_double_to_int({x}) & 1"),
            (_, Ty::Complex) => format!("sl_complex_of((float){x}, 0.0f)"),
            (_, Ty::Vec(n)) => format!("sl_float{n}_all((float){x})"),
            _ => x,
        }
    }

    fn builtin(&self, f: Builtin, args: &[Expr]) -> String {
        if let Some(bound) = self.bounded(f, args) {
            return bound;
        }
        let ty = args.first().map_or(&Ty::Void, |a| &a.ty);
        let name = format!("{f:?}").to_lowercase();
        let list: Vec<String> = args.iter().map(|a| self.expr(a)).collect();
        let list = list.join(", ");
        match (ty, f) {
            (Ty::Complex, _) => format!("sl_complex_{name}({list})"),
            (Ty::Int, _) => format!("sl_{name}i({list})"),
            (Ty::Float, Builtin::Abs) => format!("sl_fabsf({list})"),
            (Ty::Double, Builtin::Abs) => format!("sl_fabs({list})"),
            (Ty::Float, _) => format!("sl_{name}f({list})"),
            _ => format!("sl_{name}({list})"),
        }
    }

    /// A place.
    pub(super) fn place(&self, p: &Place) -> String {
        let (mut out, mut ty) = match &p.base {
            Base::Local(id) => {
                let l = &self.function().locals[id.index()];
                let name = self.local(*id);
                (if l.by_ref { format!("(*{name})") } else { name }, l.ty.clone())
            }
            Base::State(id) => {
                let s = &self.kernel.state[id.index()];
                let name = field_name(id.index(), &s.name);
                (if self.kept.contains(id) { kept_name(&name) } else { format!("st->{name}") }, s.ty.clone())
            }
            Base::Table(id) => (self.table_name(*id), self.kernel.tables[id.index()].ty.clone()),
            Base::In(e) | Base::Peek(e) => (format!("in[{}]", self.expr(e)), self.kernel.input.clone()),
            Base::Out(e) => (format!("out[{}]", self.expr(e)), self.kernel.output.clone()),
        };
        let tape = |t: &&Tape| p.base == Base::State(t.state);
        let mut moved = self.kernel.tapes.iter().find(tape).map(|t| t.step);
        for step in &p.path {
            match step {
                Proj::Index(e) if let Some(step) = moved.take() => {
                    out = format!("{out}.v[firing * {step} + {}]", self.expr(e));
                }
                Proj::Index(e) => out = format!("{out}.v[{}]", self.expr(e)),
                Proj::Member(i) => {
                    if let Ty::Struct(id) = &ty {
                        let f = &self.kernel.structs[id.index()].fields[*i as usize];
                        out = format!("{out}.{}", field_name(*i as usize, &f.0));
                    }
                }
                Proj::Component(i) => out.push_str(component(&ty, *i)),
            }
            ty = sluice_kernel::types::project(&ty, step, &self.kernel.structs).unwrap_or(Ty::Void);
        }
        out
    }
}

/// Is it the constant 0, not -0?
fn is_zero(e: &Expr) -> bool {
    match e.as_const() {
        Some(Const::Float(x)) => x == 0.0 && x.is_sign_positive(),
        Some(Const::Double(x)) => x == 0.0 && x.is_sign_positive(),
        _ => false,
    }
}

/// The prefix of a type's functions.
fn prefix(ty: &Ty) -> String {
    match ty {
        Ty::Vec(n) => format!("sl_float{n}"),
        _ => "sl_complex".into(),
    }
}

/// The member that a component is.
fn component(ty: &Ty, i: u8) -> &'static str {
    match (ty, i) {
        (Ty::Complex, 0) => ".re",
        (Ty::Complex, _) => ".im",
        (_, 0) => ".x",
        (_, 1) => ".y",
        (_, 2) => ".z",
        _ => ".w",
    }
}
