//! Filters that only move items: what they give are items they take, at positions that are always the same.
//!
//! ```text
//! for r, c { push(peek(c * 4 + r)) }   →   item x of what it gives is item from[x] of what it takes
//! ```
//!
//! Such a filter is no work in a region: who reads its items reads them where it would have taken them ([`super::view`]).

use crate::ir::*;
use crate::passes::unroll::{self, Rule};
use crate::passes::{clean, fold, scalars};
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// Items that a firing gives, at most.
const MOST: u32 = 2048;
/// The loops of a mover are written out here to be seen through, nowhere else.
const THROUGH: Rule =
    Rule { turns: MOST as u64, size: 8192, recurrences: false, arrays: false, around: usize::MAX, factor: 1 };

/// What a firing moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mover {
    /// Items that it takes.
    pub(super) pop: i64,
    /// By item that it gives: which one it is of those that it takes.
    pub(super) from: Vec<i64>,
}

impl Mover {
    /// Items that it gives.
    pub(super) fn push(&self) -> i64 {
        self.from.len() as i64
    }
}

/// What a filter moves; `None` where it does anything else, or looks farther than it takes.
pub(super) fn of(kernel: &Kernel) -> Option<Mover> {
    let rates = kernel.work.rates;
    let plain = kernel.state.is_empty()
        && kernel.prework.is_none()
        && kernel.handlers.is_empty()
        && kernel.work.dynamic.is_none()
        && kernel.input == kernel.output
        && rates.peek <= rates.pop
        && (1..=MOST).contains(&rates.push);
    if !plain || !moves(&kernel.function(kernel.work.function).body) {
        return None;
    }
    let mut own = kernel.clone();
    own.lanes = None;
    own.functions = vec![own.functions.swap_remove(own.work.function.index())];
    own.work.function = FuncId(0);
    unroll::run(&mut own, THROUGH);
    for pass in [scalars::run, fold::run, clean::run] {
        pass(&mut own);
    }
    // straight code: what each variable has is known
    let mut has: BTreeMap<LocalId, i64> = BTreeMap::new();
    let mut from = vec![None; rates.push as usize];
    for s in &own.functions[0].body {
        let StmtKind::Assign(to, Expr { kind: ExprKind::Load(item), .. }) = &s.kind else { return None };
        if !to.path.is_empty() || !item.path.is_empty() {
            return None;
        }
        let item = match &item.base {
            Base::In(at) => at.as_int().map(i64::from).filter(|at| (0..i64::from(rates.pop)).contains(at))?,
            Base::Local(id) => *has.get(id)?,
            _ => return None,
        };
        match &to.base {
            Base::Out(to) => *from.get_mut(usize::try_from(to.as_int()?).ok()?)? = Some(item),
            Base::Local(id) => drop(has.insert(*id, item)),
            _ => return None,
        }
    }
    Some(Mover { pop: rates.pop.into(), from: from.into_iter().collect::<Option<_>>()? })
}

/// Could these statements do nothing but move items? A quick look: nothing but ints is computed.
fn moves(body: &[Stmt]) -> bool {
    let mut plain = true;
    walk::each_stmt(body, &mut |s| {
        plain &= matches!(s.kind, StmtKind::Assign(..) | StmtKind::For(_) | StmtKind::If(..) | StmtKind::Block(_));
    });
    walk::each_expr(body, &mut |e| {
        plain &= match &e.kind {
            ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Select(..) => matches!(e.ty, Ty::Int | Ty::Bool),
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::Load(_) => true,
            _ => false,
        };
    });
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn moved(rates: &str, body: &str) -> Option<Mover> {
        let locals = "  local0 \"r\" int\n  local1 \"c\" int\n  local2 \"a\" float[6]\n";
        let text = format!(
            "kernel \"K\" \"K\" @0:0-1 float -> float work func0 {rates}\nfunc0 \"work\" (0) -> void @0:0-1 {{\n{locals}{body}}}\n"
        );
        of(&text::parse(&text).unwrap())
    }

    fn nest(item: &str) -> String {
        format!(
            "  for $0 = 0 < 2 step 1 @0:0-1 {{\n    for $1 = 0 < 3 step 1 @0:0-1 {{\n      out((($0 * 3) + $1)) = {item} @0:0-1\n    }}\n  }}\n"
        )
    }

    #[test]
    fn what_only_moves_is_seen_through() {
        let of = |from: &[i64]| Some(Mover { pop: 6, from: from.to_vec() });
        let rates = "peek 6 pop 6 push 6";
        assert_eq!(moved(rates, &nest("in((($1 * 2) + $0))")), of(&[0, 2, 4, 1, 3, 5]));
        // twice the first three
        assert_eq!(moved(rates, &nest("in($1)")), of(&[0, 1, 2, 0, 1, 2]));
        // by way of an array, the other way round
        let array = "  for $0 = 0 < 6 step 1 @0:0-1 {\n    $2[(5 - $0)] = in($0) @0:0-1\n  }\n  for $1 = 0 < 6 step 1 @0:0-1 {\n    out($1) = $2[$1] @0:0-1\n  }\n";
        assert_eq!(moved(rates, array), of(&[5, 4, 3, 2, 1, 0]));
    }

    #[test]
    fn what_does_more_is_none() {
        assert_eq!(moved("peek 6 pop 6 push 6", &nest("(in($1) + in($0))")), None, "a sum");
        assert_eq!(moved("peek 9 pop 6 push 6", &nest("in(($1 + 6))")), None, "items that are taken later");
        assert_eq!(moved("peek 6 pop 6 push 7", &nest("in($1)")), None, "an item that nothing gives");
        assert_eq!(moved("peek 6 pop 6 push 6", &nest("0f")), None, "a number of its own");
    }
}
