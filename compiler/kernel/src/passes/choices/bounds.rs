//! Choices that bound a float by another: a processor has one instruction for each, which is sooner there than a comparison and a choice by it.

use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;

/// `a < b ? a : b`, or `a > b ? a : b`: of two zeros, and where one is no number, the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The lesser one.
    Least,
    /// The greater one.
    Greatest,
}

/// What a choice between two floats is, where it is one of the two that its condition compares: the bound and its operands, in their order.
pub fn bound<'e>(c: &'e Expr, yes: &'e Expr, no: &'e Expr) -> Option<(Bound, &'e Expr, &'e Expr)> {
    matches!(yes.ty, Ty::Float | Ty::Double).then(|| bound_of_numbers(c, yes, no)).flatten()
}

/// The same, of ints too.
pub fn bound_of_numbers<'e>(c: &'e Expr, yes: &'e Expr, no: &'e Expr) -> Option<(Bound, &'e Expr, &'e Expr)> {
    let ExprKind::Binary(op, x, y) = &c.kind else { return None };
    let (x, y) = (&**x, &**y);
    if !matches!(x.ty, Ty::Int | Ty::Float | Ty::Double) || yes.ty != x.ty || x.ty != y.ty {
        return None;
    }
    // equal ones are the same then
    let same_if_equal = x.ty == Ty::Int || is_not_zero(x) || is_not_zero(y);
    let less = match op {
        BinaryOp::Lt => true,
        BinaryOp::Gt => false,
        BinaryOp::Le if same_if_equal => true,
        BinaryOp::Ge if same_if_equal => false,
        _ => return None,
    };
    if same(yes, x) && same(no, y) {
        Some((if less { Bound::Least } else { Bound::Greatest }, x, y))
    } else if same(yes, y) && same(no, x) {
        Some((if less { Bound::Greatest } else { Bound::Least }, y, x))
    } else {
        None
    }
}

/// What `min` or `max` is where one of its operands is a number of the program and not 0. (Beside what is no number, it gives the other, and of two zeros the first.)
pub fn builtin<'e>(f: Builtin, a: &'e Expr, b: &'e Expr) -> Option<(Bound, &'e Expr, &'e Expr)> {
    let of = match f {
        Builtin::Min => Bound::Least,
        Builtin::Max => Bound::Greatest,
        _ => return None,
    };
    if is_not_zero(b) {
        Some((of, a, b))
    } else if is_not_zero(a) {
        Some((of, b, a))
    } else {
        None
    }
}

/// Is it a number other than 0?
fn is_not_zero(e: &Expr) -> bool {
    match e.as_const() {
        Some(Const::Float(x)) => x != 0.0 && !x.is_nan(),
        Some(Const::Double(x)) => x != 0.0 && !x.is_nan(),
        _ => false,
    }
}

/// Do both have the same bits? Zeros of both signs are equal, but not the same.
fn same(a: &Expr, b: &Expr) -> bool {
    match (a.as_const(), b.as_const()) {
        (Some(a), Some(b)) => format!("{a:?}") == format!("{b:?}"),
        (None, None) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::ids::LocalId;

    fn of(op: BinaryOp, c: [&Expr; 2], yes: &Expr, no: &Expr) -> Option<(Bound, Expr, Expr)> {
        let c = Expr::binary(op, c[0].clone(), c[1].clone(), Ty::Bool);
        bound(&c, yes, no).map(|(b, x, y)| (b, x.clone(), y.clone()))
    }

    /// As the processor's instructions do.
    fn taken(bound: Bound, p: f32, q: f32) -> f32 {
        let first = if bound == Bound::Least { p < q } else { p > q };
        if first { p } else { q }
    }

    fn float(x: f32) -> Expr {
        Expr { kind: ExprKind::Const(Const::Float(x)), ty: Ty::Float }
    }

    /// By what C says of every pair, NaNs and zeros of both signs among them.
    #[test]
    fn bounds_are_what_the_choice_is() {
        let x = Expr::local(LocalId(0), Ty::Float);
        let values = [f32::NAN, -0.0, 0.0, 1.5, -1.5, 2.0, f32::INFINITY, f32::NEG_INFINITY];
        let mut found = 0;
        for op in [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge] {
            for k in values {
                for (turned, first) in [(false, false), (false, true), (true, false), (true, true)] {
                    let k_expr = float(k);
                    let sides = if turned { [&k_expr, &x] } else { [&x, &k_expr] };
                    let (yes, no) = if first { (sides[0], sides[1]) } else { (sides[1], sides[0]) };
                    let Some((b, p, q)) = of(op, sides, yes, no) else {
                        // an equal pair that is not the same
                        assert!(matches!(op, BinaryOp::Le | BinaryOp::Ge) && (k == 0.0 || k.is_nan()), "{op:?} {k}");
                        continue;
                    };
                    found += 1;
                    for v in values {
                        let at = |e: &Expr| if *e == x { v } else { k };
                        let (l, r) = (at(sides[0]), at(sides[1]));
                        let asked = match op {
                            BinaryOp::Lt => l < r,
                            BinaryOp::Le => l <= r,
                            BinaryOp::Gt => l > r,
                            _ => l >= r,
                        };
                        let want = if asked { at(yes) } else { at(no) };
                        let (p, q) = (at(&p), at(&q));
                        let got = taken(b, p, q);
                        let both = want.is_nan() && got.is_nan();
                        assert!(both || want.to_bits() == got.to_bits(), "{op:?} {k} {turned} {first}: {v}");
                    }
                }
            }
        }
        assert!(found > 80, "{found}");
        // zeros of both signs
        assert_eq!(of(BinaryOp::Lt, [&x, &float(0.0)], &float(-0.0), &x), None);
        assert_eq!(of(BinaryOp::Lt, [&x, &float(1.0)], &float(2.0), &x), None);
    }

    #[test]
    fn min_and_max_with_a_number_are_bounds() {
        let x = Expr::local(LocalId(0), Ty::Float);
        let values = [f32::NAN, -0.0, 0.0, 1.5, -1.5];
        for f in [Builtin::Min, Builtin::Max] {
            for (k, v) in [1.5, -2.0f32].into_iter().flat_map(|k| values.map(|v| (k, v))) {
                for turned in [false, true] {
                    let k_expr = float(k);
                    let (a, b) = if turned { (&k_expr, &x) } else { (&x, &k_expr) };
                    let (bound, p, q) = builtin(f, a, b).unwrap();
                    let at = |e: &Expr| if *e == x { v } else { k };
                    let (a, b, p, q) = (at(a), at(b), at(p), at(q));
                    let second = if f == Builtin::Min { b < a } else { b > a };
                    let chosen = if second { b } else { a };
                    let want = if a.is_nan() { b } else { chosen };
                    let got = taken(bound, p, q);
                    assert_eq!(want.to_bits(), got.to_bits(), "{f:?} {k} {v} {turned}");
                }
            }
            assert!(builtin(f, &x, &float(0.0)).is_none() && builtin(f, &x, &float(f32::NAN)).is_none());
            assert!(builtin(f, &x, &x).is_none());
        }
    }
}
