//! # print-wide
//!
//! Purpose: positions that several loops count together as sums of 64 bits. Input: an int expression, in the lanes of a kernel. Output: C of the same value.
//!
//! ```text
//! (($0 + ($1 * 4)) + ($2 * 48))   →   ((i_0 + (long)f_1 * 4) + (long)row_2 * 48), and not (long)((i_0 + (f_1 * 4)) + (row_2 * 48))
//! ```
//!
//! Ints wrap. Of a sum of more than two counters gcc does not see that this one cannot, and computes it anew for each item (measured: a product of matrices by blocks takes a fifth more time). What
//! must hold: each variable in it is counted by loops with constant bounds and set by nothing else, and no sum or product on the way can leave the ints.

use super::print_function::Printer;
use sluice_frontend::ids::LocalId;
use sluice_kernel::ir::*;
use sluice_kernel::passes::clean::trip;
use sluice_kernel::walk;
use std::collections::{BTreeMap, BTreeSet};

/// By variable: the least and the greatest value that it ever has.
pub(super) type Counted = BTreeMap<LocalId, (i64, i64)>;

/// Variables of a sum that a C compiler sees through.
const FEW: usize = 2;

/// What the loops of a function count.
pub(super) fn counted(f: &Function) -> Counted {
    let (mut out, mut others) = (Counted::new(), BTreeSet::new());
    walk::each_stmt(&f.body, &mut |s| {
        others.extend(s.kind.targets().into_iter().filter_map(Place::as_local));
        let StmtKind::For(l) = &s.kind else { return };
        match (l.from.as_int(), trip(l)) {
            (Some(from), Some((_, last))) => {
                // it is 0 before it is counted
                let (low, high) = out.entry(l.var).or_insert((0, 0));
                *low = [*low, from.into(), last.into()].into_iter().fold(i64::MAX, i64::min);
                *high = [*high, from.into(), last.into()].into_iter().fold(i64::MIN, i64::max);
            }
            _ => drop(others.insert(l.var)),
        }
    });
    out.retain(|id, _| id.0 >= f.params && !others.contains(id));
    out
}

/// The least and the greatest value of a sum of products of what is counted, if none can wrap; and the variables in it.
fn bounds(e: &Expr, counted: &Counted, variables: &mut BTreeSet<LocalId>) -> Option<(i64, i64)> {
    let (low, high) = match &e.kind {
        _ if e.as_int().is_some() => e.as_int().map(|n| (n.into(), n.into()))?,
        ExprKind::Load(p) => {
            let id = p.as_local()?;
            variables.insert(id);
            *counted.get(&id)?
        }
        ExprKind::Binary(op, a, b) => {
            let ((a, c), (b, d)) = (bounds(a, counted, variables)?, bounds(b, counted, variables)?);
            match op {
                BinaryOp::Add => (a + b, c + d),
                BinaryOp::Sub => (a - d, c - b),
                BinaryOp::Mul => {
                    let all = [a * b, a * d, c * b, c * d];
                    (all.into_iter().fold(i64::MAX, i64::min), all.into_iter().fold(i64::MIN, i64::max))
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    (i64::from(i32::MIN) <= low && high <= i64::from(i32::MAX)).then_some((low, high))
}

impl Printer<'_> {
    /// An int that counts items, as an operand.
    pub(super) fn place_number(&self, e: &Expr, counted: &Counted) -> String {
        let mut variables = BTreeSet::new();
        match bounds(e, counted, &mut variables) {
            Some(_) if variables.len() > FEW => self.wide(e),
            _ => self.operand(e),
        }
    }

    fn wide(&self, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Binary(op, a, b) => {
                let sign = match op {
                    BinaryOp::Add => "+",
                    BinaryOp::Sub => "-",
                    _ => "*",
                };
                format!("({} {sign} {})", self.wide(a), self.wide(b))
            }
            ExprKind::Load(_) => format!("(long){}", self.operand(e)),
            _ => self.operand(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(i: u32) -> Expr {
        Expr::local(LocalId(i), sluice_frontend::ty::Ty::Int)
    }

    fn times(e: Expr, by: i32) -> Expr {
        Expr::binary(BinaryOp::Mul, e, Expr::int(by), sluice_frontend::ty::Ty::Int)
    }

    #[test]
    fn sums_that_could_wrap_have_no_bounds() {
        let counted = Counted::from([(LocalId(0), (0, 4)), (LocalId(1), (-3, 1 << 20))]);
        let of = |e: &Expr| bounds(e, &counted, &mut BTreeSet::new());
        assert_eq!(of(&Expr::add(local(0), times(local(1), -5))), Some((-5 * (1 << 20), 19)));
        assert_eq!(of(&times(local(1), 2047)), Some((-3 * 2047, 2047 << 20)));
        assert_eq!(of(&times(local(1), 2048)), None);
        // on the way, though what comes out is small
        assert_eq!(of(&Expr::binary(BinaryOp::Sub, times(local(1), 2048), times(local(1), 2048), local(0).ty)), None);
        assert_eq!(of(&Expr::add(local(0), local(2))), None);
    }
}
