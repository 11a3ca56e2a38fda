//! # print-lane-values
//!
//! Purpose: the values of firings side by side, as vectors. Input: expressions of [`Kernel::lanes`]. Output: their C text, for one of the vectors that are side by side. Where items are, and what is done
//! with values, [`super::print_lanes`] says.
//!
//! ```text
//! ($s + (table0[$i] * in($i)))   →   (s_0_1 + (sl_vf_splat(h.v[i_1]) * sl_vf_load(phase + at[(long)i_1] + f + 1 * SL_LANES)))
//! ```

use super::print_function::Printer;
use super::print_turn::turned;
use super::types::c_type;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::choices::{self, Bound};

impl Printer<'_> {
    /// A value of vector `u`, as an operand.
    pub(super) fn lane(&self, e: &Expr, u: usize) -> String {
        if let Some(name) = self.seen(e, u) {
            return name;
        }
        if !self.varies(e) {
            return self.splat(e);
        }
        if let Some(text) = self.widened(e, u) {
            return text;
        }
        let of = |e: &Expr| self.lane(e, u);
        match &e.kind {
            ExprKind::Load(p) => match &p.base {
                Base::In(position) => self.load(position, &p.path, &e.ty, u),
                Base::Local(id) => {
                    let name = format!("{}_{u}", self.local(*id));
                    match p.path.first() {
                        Some(Proj::Index(i)) => format!("{name}[{}]", self.expr(i)),
                        _ => name,
                    }
                }
                Base::Table(id) if self.gathers(p) => {
                    let Some((Proj::Index(last), before)) = p.path.split_last() else { return self.splat(e) };
                    self.lookup((*id, before), &of(last))
                }
                _ => self.splat(e),
            },
            ExprKind::Binary(op, a, b) => self.lane_binary(*op, a, b, u),
            ExprKind::Select(c, a, b) if !self.varies(c) => {
                format!("({} ? {} : {})", self.operand(c), of(a), of(b))
            }
            _ => self.vector_of(e, &of),
        }
    }

    /// An operation on vectors, where `of` says what its operands are.
    pub(super) fn vector_of(&self, e: &Expr, of: &dyn Fn(&Expr) -> String) -> String {
        match &e.kind {
            ExprKind::Unary(UnaryOp::Neg, a) => format!("(-{})", of(a)),
            ExprKind::Unary(_, a) => format!("(~{})", of(a)),
            ExprKind::Binary(op, a, b) => binary(*op, &a.ty, &of(a), &of(b)),
            ExprKind::Select(c, a, b) if let Some((bound, x, y)) = choices::bound_of_numbers(c, a, b) => {
                let f = match (bound, &e.ty) {
                    (Bound::Least, Ty::Int) => "sl_vi_min",
                    (Bound::Greatest, Ty::Int) => "sl_vi_max",
                    (Bound::Least, _) => "sl_vf_least",
                    (Bound::Greatest, _) => "sl_vf_greatest",
                };
                format!("{f}({}, {})", of(x), of(y))
            }
            ExprKind::Select(c, a, b) => {
                let f = if e.ty == Ty::Float { "sl_vf_select" } else { "sl_vi_select" };
                format!("{f}({}, {}, {})", of(c), of(a), of(b))
            }
            ExprKind::Convert(a) => lane_convert(&a.ty, &e.ty, of(a)),
            ExprKind::Builtin(f, args) => {
                let kind = if args.first().is_some_and(|a| a.ty == Ty::Int) { "vi" } else { "vf" };
                let list: Vec<String> = args.iter().map(of).collect();
                format!("sl_{kind}_{}({})", format!("{f:?}").to_lowercase(), list.join(", "))
            }
            _ => self.splat(e),
        }
    }

    /// Is it true in any lane of any of the vectors?
    pub(super) fn any_lane(&self, e: &Expr) -> String {
        let vectors: Vec<String> = (0..self.unroll).filter(|u| self.is_printed(*u)).map(|u| self.lane(e, u)).collect();
        format!("sl_vi_any({})", vectors.join(" | "))
    }

    /// The same value in all lanes.
    pub(super) fn splat(&self, e: &Expr) -> String {
        let x = self.expr(e);
        match (&e.ty, e.as_const()) {
            (Ty::Float, _) => format!("sl_vf_splat({x})"),
            (Ty::Bool | Ty::Bit, Some(Const::Bool(b) | Const::Bit(b))) => {
                (if b { "sl_vi_splat(-1)" } else { "sl_vi_splat(0)" }).into()
            }
            (Ty::Bool | Ty::Bit, _) => format!("sl_vi_splat(-(int32_t)({x}))"),
            _ => format!("sl_vi_splat({x})"),
        }
    }

    fn lane_binary(&self, op: BinaryOp, a: &Expr, b: &Expr, u: usize) -> String {
        use BinaryOp::*;
        if let Some((x, n)) = turned(op, a, b) {
            return format!("sl_vi_rotl({}, {n})", self.lane(x, u));
        }
        if let Some(text) = self.lane_bytes((op, a, b), u).or_else(|| self.lane_mixed((op, a, b), u)) {
            return text;
        }
        let (x, y) = (self.lane(a, u), self.lane(b, u));
        match op {
            // the C compiler knows how to divide by a number it sees, and divides by others lane by lane
            Div | Rem if a.ty == Ty::Int && b.as_int().is_some_and(|n| n > 0) => {
                format!("({x} {} {})", op.symbol(), b.as_int().unwrap_or(1))
            }
            _ => binary(op, &a.ty, &x, &y),
        }
    }
}

/// An operation on vectors whose elements have this type.
pub(super) fn binary(op: BinaryOp, of: &Ty, x: &str, y: &str) -> String {
    use BinaryOp::*;
    let truth = matches!(of, Ty::Bool | Ty::Bit);
    match op {
        Div if *of == Ty::Int => format!("sl_vi_div({x}, {y})"),
        Rem => format!("sl_vi_rem({x}, {y})"),
        Shl | Shr => format!("({x} {} ({y} & 31))", op.symbol()),
        And => format!("({x} & {y})"),
        Or => format!("({x} | {y})"),
        Eq if truth => format!("(~({x} ^ {y}))"),
        Ne if truth => format!("({x} ^ {y})"),
        _ => format!("({x} {} {y})", op.symbol()),
    }
}

/// The vector type of a scalar type.
pub(super) fn vector(ty: &Ty) -> &'static str {
    if c_type(ty) == "float" { "sl_vf" } else { "sl_vi" }
}

/// Vectors of one type as such of another.
pub(super) fn lane_convert(from: &Ty, to: &Ty, x: String) -> String {
    let truth = |t: &Ty| matches!(t, Ty::Bool | Ty::Bit);
    match (from, to) {
        (from, to) if truth(from) && truth(to) || from == to => x,
        (Ty::Float, Ty::Int) => format!("sl_vf_to_int({x})"),
        (Ty::Int, Ty::Float) => format!("sl_vi_to_float({x})"),
        (from, Ty::Int) if truth(from) => format!("(-{x})"),
        (from, Ty::Float) if truth(from) => format!("sl_vi_to_float(-{x})"),
        (Ty::Float, Ty::Bool) => format!("({x} != sl_vf_splat(0.0f))"),
        (_, Ty::Bool) => format!("({x} != 0)"),
        (Ty::Int, Ty::Bit) => format!("(-({x} & 1))"),
        _ => format!("(-(sl_vf_to_int({x}) & 1))"),
    }
}
