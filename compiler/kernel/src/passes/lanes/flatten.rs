//! Arrays of arrays as arrays, row after row, and copies of arrays as loops: of each element, lanes have a vector.
//!
//! ```text
//! $m[$i][2] = ($m[$i][1] * $x)  $r = $m[3]   →   $m[(($i * 4) + 2)] = ($m[(($i * 4) + 1)] * $x)  for $k = 0 < 4 step 1 { $r[$k] = $m[(12 + $k)] }
//! ```
//!
//! Input: a function without calls to which lanes may be found, all of whose indices are known to be in bounds. Output: the same. An array stays that is read as a whole elsewhere than in a copy,
//! and all do where they are longer than [`MOST`] together.

use super::fresh;
use crate::ir::*;
use crate::walk;
use sluice_frontend::ty::Ty;

/// Elements of an array, and of all, at most: each is a vector, and what is in them should stay in a cache.
const MOST: u32 = 4096;

/// An array of arrays: the length of each dimension, and what an element is.
#[derive(Clone)]
struct Shape {
    lengths: Vec<u32>,
    element: Ty,
}

impl Shape {
    /// Of numbers only.
    fn of(ty: &Ty) -> Option<Shape> {
        let (mut lengths, mut ty) = (Vec::new(), ty);
        while let Some(element) = ty.element() {
            lengths.push(ty.known_len()?);
            ty = element;
        }
        let number = matches!(ty, Ty::Float | Ty::Int | Ty::Bool | Ty::Bit | Ty::Complex);
        (number && !lengths.is_empty()).then(|| Shape { lengths, element: ty.clone() })
    }

    fn elements(&self) -> Option<u32> {
        self.lengths.iter().try_fold(1u32, |n, l| n.checked_mul(*l)).filter(|n| *n <= MOST)
    }
}

/// Makes them flat.
pub(super) fn arrays(f: &mut Function) {
    let mut body = std::mem::take(&mut f.body);
    copies(&mut body, f);
    let mut flat: Vec<Option<Shape>> = f
        .locals
        .iter()
        .map(|l| Shape::of(&l.ty).filter(|s| !l.by_ref && s.lengths.len() > 1 && s.elements().is_some()))
        .collect();
    flat[..f.params as usize].fill(None);
    if flat.iter().flatten().filter_map(Shape::elements).fold(0, u32::saturating_add) > MOST {
        f.body = body;
        return;
    }
    let in_part = |p: &Place, flat: &[Option<Shape>]| match p.base {
        Base::Local(id) => flat[id.index()].as_ref().is_some_and(|s| {
            let indices = p.path.iter().take_while(|step| matches!(step, Proj::Index(_))).count();
            indices < s.lengths.len()
        }),
        _ => false,
    };
    let mut drop_of = Vec::new();
    walk::each_stmt(&body, &mut |s| {
        let zeroed =
            |p: &Place| matches!(&s.kind, StmtKind::Assign(_, e) if e.kind == ExprKind::Zero) && p.path.is_empty();
        drop_of
            .extend(s.kind.targets().into_iter().filter(|p| in_part(p, &flat) && !zeroed(p)).map(|p| p.base.clone()));
    });
    walk::each_expr(&body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind
            && in_part(p, &flat)
        {
            drop_of.push(p.base.clone());
        }
    });
    for base in drop_of {
        if let Base::Local(id) = base {
            flat[id.index()] = None;
        }
    }
    walk::each_place_mut(&mut body, &mut |p| {
        if let Base::Local(id) = p.base
            && let Some(shape) = &flat[id.index()]
            && p.path.len() >= shape.lengths.len()
        {
            let after = p.path.split_off(shape.lengths.len());
            let place =
                shape.lengths.iter().zip(std::mem::take(&mut p.path)).fold(Expr::int(0), |at, (n, step)| match step {
                    Proj::Index(i) => Expr::add(times(at, *n as i32), i),
                    _ => at,
                });
            p.path = vec![Proj::Index(place)];
            p.path.extend(after);
        }
    });
    let flat_type = |s: &Shape| s.elements().map(|n| s.element.clone().array(n));
    walk::each_stmt_mut(&mut body, &mut |s| {
        if let StmtKind::Assign(Place { base: Base::Local(id), path }, e) = &mut s.kind
            && path.is_empty()
            && let Some(ty) = flat[id.index()].as_ref().and_then(flat_type)
        {
            e.ty = ty;
        }
    });
    for (l, shape) in f.locals.iter_mut().zip(&flat) {
        if let Some(ty) = shape.as_ref().and_then(flat_type) {
            l.ty = ty;
        }
    }
    f.body = body;
}

fn times(e: Expr, by: i32) -> Expr {
    match e.as_int() {
        Some(n) => Expr::int(n.wrapping_mul(by)),
        None => Expr::binary(BinaryOp::Mul, e, Expr::int(by), Ty::Int),
    }
}

/// Copies from one variable to another as loops, and zeroes of a part.
fn copies(body: &mut [Stmt], f: &mut Function) {
    for s in body {
        for b in s.kind.bodies_mut() {
            copies(b, f);
        }
        let StmtKind::Assign(to, e) = &s.kind else { continue };
        let (Base::Local(_), Some(shape)) = (&to.base, Shape::of(&e.ty)) else { continue };
        // the place is the same whatever has been copied
        let mut moves = false;
        let mut own = |e: &Expr| moves |= e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == to.base));
        to.each_expr(&mut own);
        let from = match &e.kind {
            ExprKind::Load(from @ Place { base: Base::Local(_), .. }) => {
                from.each_expr(&mut own);
                Some(from.clone())
            }
            ExprKind::Zero if !to.path.is_empty() => None,
            _ => continue,
        };
        if moves || shape.elements().is_none() {
            continue;
        }
        let vars: Vec<_> = shape.lengths.iter().map(|_| fresh(f, "k", Ty::Int)).collect();
        let along = |p: &Place| vars.iter().fold(p.clone(), |p, v| p.then(Proj::Index(Expr::local(*v, Ty::Int))));
        let value = match &from {
            Some(from) => Expr::load(along(from), shape.element.clone()),
            None => Expr::zero(shape.element.clone()),
        };
        let mut kind = StmtKind::Assign(along(to), value);
        for (var, n) in vars.iter().zip(&shape.lengths).rev() {
            kind = StmtKind::For(Box::new(For {
                var: *var,
                from: Expr::int(0),
                cmp: BinaryOp::Lt,
                to: Expr::int(*n as i32),
                step: 1,
                body: vec![kind.at(s.span)],
                abreast: false,
            }));
        }
        s.kind = kind;
    }
}

#[cfg(test)]
mod tests;
