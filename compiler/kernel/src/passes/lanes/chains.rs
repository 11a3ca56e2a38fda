//! How many vectors at once a firing without loops has room for, where its operations wait for one another.
//!
//! A cipher's round needs what the round before it gave: of a thousand operations hardly two can be done in the same cycle, a processor has room for four, and the firing
//! that comes next is too far behind to fill what is free. So several vectors of firings go side by side, each operation of all of them in a row, as long as what is alive fits into registers.
//!
//! Input: the function of the lanes. Output: vectors for a machine with 16 registers and for one with 32; nothing where a firing branches, or is short enough for the processor to
//! look beyond it. Measured with Serpent, 2, 3 and 4 vectors against one: 1.7, 2.1 and 1.8 times as fast with 16 registers of 8 ints, 1.7, 2.2 and 2.6 with 32 of 16 (AMD EPYC, Zen 5).

use crate::ir::*;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{HashMap, HashSet};

/// A firing of fewer operations: the processor looks ahead at those of the next ones.
const LEAST: u32 = 400;

/// The most operations of all vectors together: more do not stay near as instructions.
const MOST: u32 = 8192;

/// The most vectors.
const MOST_VECTORS: u32 = 4;

/// Operations that should be free to be done in each cycle: twice what the widest processors do, for the order in which they come is not the best one.
const AT_ONCE: u32 = 8;

/// A variable, or an element of one.
type Name = (LocalId, Option<i32>);

/// Operations, how many of them wait for one another (as cycles), and the most values that are alive at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    operations: u32,
    longest: u32,
    alive: u32,
}

/// Vectors at once with 16 registers, and with 32.
pub(super) fn vectors(f: &Function, varying: &[bool]) -> Option<(u32, u32)> {
    Shape::of(f, varying)?.vectors()
}

impl Shape {
    fn vectors(self) -> Option<(u32, u32)> {
        let Shape { operations, longest, alive } = self;
        if operations < LEAST {
            return None;
        }
        let wanted = AT_ONCE.saturating_mul(longest).div_ceil(operations).min(MOST / operations).min(MOST_VECTORS);
        let of = |registers: u32| wanted.min(registers / alive.max(1)).max(1);
        Some((of(16), of(32)))
    }

    /// `None` where the function branches.
    fn of(f: &Function, varying: &[bool]) -> Option<Shape> {
        let mut rows = Vec::new();
        flat(&f.body, &mut rows)?;
        let mut shape = Shape::default();
        let mut ready: HashMap<Name, u32> = HashMap::new();
        for (place, e) in &rows {
            let (operations, at, _) = cost(e, varying, &ready)?;
            shape.operations = shape.operations.saturating_add(operations);
            shape.longest = shape.longest.max(at);
            if let Some(name) = name(place, varying)? {
                ready.insert(name, at);
            }
        }
        let mut alive: HashSet<Name> = HashSet::new();
        for (place, e) in rows.iter().rev() {
            if let Some(name) = name(place, varying)? {
                alive.remove(&name);
            }
            let mut known = Some(());
            e.walk(&mut |e| {
                if let ExprKind::Load(p) = &e.kind {
                    match name(p, varying) {
                        Some(n) => alive.extend(n),
                        None => known = None,
                    }
                }
            });
            known?;
            shape.alive = shape.alive.max(u32::try_from(alive.len()).unwrap_or(u32::MAX));
        }
        Some(shape)
    }
}

/// The assignments in their order; nothing where there is anything else.
fn flat<'a>(body: &'a [Stmt], rows: &mut Vec<(&'a Place, &'a Expr)>) -> Option<()> {
    for s in body {
        match &s.kind {
            StmtKind::Assign(p, e) => rows.push((p, e)),
            StmtKind::Block(b) => flat(b, rows)?,
            _ => return None,
        }
    }
    Some(())
}

/// What a place is called that differs between lanes and is no item; the outer nothing where it is not known which it is.
fn name(p: &Place, varying: &[bool]) -> Option<Option<Name>> {
    match (&p.base, &p.path[..]) {
        (Base::Local(id), _) if !varying[id.index()] => Some(None),
        (Base::Local(id), []) => Some(Some((*id, None))),
        (Base::Local(id), [Proj::Index(i)]) => Some(Some((*id, Some(i.as_int()?)))),
        (Base::Local(_), _) => None,
        _ => Some(None),
    }
}

/// An expression: operations, the cycle in which it is there, and whether it differs between lanes; what does not is not counted.
fn cost(e: &Expr, varying: &[bool], ready: &HashMap<Name, u32>) -> Option<(u32, u32, bool)> {
    if let ExprKind::Load(p) = &e.kind
        && let Some(name) = name(p, varying)?
    {
        return Some((0, ready.get(&name).copied().unwrap_or(0), true));
    }
    let mut differs = matches!(&e.kind, ExprKind::Load(Place { base: Base::In(_), .. }));
    let (mut operations, mut at, mut known) = (0u32, 0, Some(()));
    e.each_operand(&mut |o| match cost(o, varying, ready) {
        Some((n, cycle, operand)) => {
            (operations, at) = (operations.saturating_add(n), at.max(cycle));
            differs |= operand;
        }
        None => known = None,
    });
    known?;
    let (n, cycles) = if differs { own(e) } else { (0, 0) };
    Some((operations.saturating_add(n), at.saturating_add(cycles), differs))
}

/// Instructions of an operation, roughly, and the cycles until what comes of it is there.
fn own(e: &Expr) -> (u32, u32) {
    match &e.kind {
        ExprKind::Load(Place { base: Base::In(_), .. }) => (1, 0),
        ExprKind::Load(Place { base: Base::Table(_), .. }) => (8, 12),
        ExprKind::Load(_) | ExprKind::Const(_) | ExprKind::Zero => (0, 0),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => (8, 16),
        ExprKind::Binary(BinaryOp::Mul, a, _) if a.ty == Ty::Int => (2, 8),
        ExprKind::Binary(_, a, _) if a.ty == Ty::Float => (1, 4),
        ExprKind::Builtin(Builtin::Abs | Builtin::Min | Builtin::Max, _) => (1, 1),
        ExprKind::Builtin(Builtin::Sqrt | Builtin::Floor | Builtin::Ceil | Builtin::Rint | Builtin::Round, _) => {
            (4, 12)
        }
        ExprKind::Builtin(..) => (30, 60),
        ExprKind::Convert(_) => (1, 4),
        ExprKind::Select(..) => (1, 2),
        _ => (1, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V: LocalId = LocalId(0);
    const W: LocalId = LocalId(1);
    const SAME: LocalId = LocalId(2);

    fn read(id: LocalId) -> Expr {
        Expr::local(id, Ty::Int)
    }

    fn set(id: LocalId, e: Expr) -> Stmt {
        let kind = StmtKind::Assign(Place { base: Base::Local(id), path: Vec::new() }, e);
        Stmt { kind, span: sluice_grammar::span::Span::default() }
    }

    fn item(i: i32) -> Expr {
        Expr::load(Place { base: Base::In(Box::new(Expr::int(i))), path: Vec::new() }, Ty::Int)
    }

    fn op(op: BinaryOp, a: Expr, b: Expr) -> Expr {
        Expr::binary(op, a, b, Ty::Int)
    }

    fn function(body: Vec<Stmt>) -> Function {
        let local = |name: &str| Local { name: name.into(), ty: Ty::Int, by_ref: false };
        Function {
            name: "lanes".into(),
            params: 0,
            locals: ["v", "w", "same"].map(local).to_vec(),
            ret: Ty::Void,
            body,
            span: sluice_grammar::span::Span::default(),
        }
    }

    const VARYING: [bool; 3] = [true, true, false];

    #[test]
    fn operations_wait_for_one_another() {
        use BinaryOp::*;
        let f = function(vec![
            set(SAME, op(Add, read(SAME), Expr::int(1))),
            set(V, item(0)),
            set(W, op(BitXor, item(1), read(SAME))),
            set(V, op(BitXor, read(V), read(W))),
            set(V, op(Mul, read(V), read(W))),
            set(V, op(BitAnd, op(BitOr, read(V), Expr::int(1)), Expr::int(2))),
        ]);
        // two loads, ^, ^, * as two, |, &; of these 1, 1, 8, 1, 1 in a row; v and w
        assert_eq!(Shape::of(&f, &VARYING), Some(Shape { operations: 8, longest: 12, alive: 2 }));
        // what is written before it is read again is not alive
        let f = function(vec![set(V, item(0)), set(W, read(V)), set(V, item(1)), set(V, op(BitXor, read(V), read(W)))]);
        assert_eq!(Shape::of(&f, &VARYING).map(|s| s.alive), Some(2));
        let f = function(vec![set(V, item(0)), set(W, item(1)), set(V, item(2)), set(V, read(V))]);
        assert_eq!(Shape::of(&f, &VARYING).map(|s| s.alive), Some(1));
    }

    #[test]
    fn branches_are_not_looked_at() {
        let mut f = function(vec![set(V, item(0))]);
        assert!(Shape::of(&f, &VARYING).is_some());
        let span = f.span;
        f.body = vec![Stmt { kind: StmtKind::If(read(SAME), f.body.clone(), Vec::new()), span }];
        assert_eq!(Shape::of(&f, &VARYING), None);
    }

    #[test]
    fn as_many_as_registers_and_free_cycles_allow() {
        let of = |operations, longest, alive| Shape { operations, longest, alive }.vectors();
        // a cipher: hardly two at once, five words
        assert_eq!(of(1562, 625, 5), Some((3, 4)));
        // many variables
        assert_eq!(of(1562, 625, 9), Some((1, 3)));
        assert_eq!(of(1562, 625, 112), Some((1, 1)));
        // enough is free to be done as it is
        assert_eq!(of(1562, 100, 5), Some((1, 1)));
        // so much that instructions would not stay near
        assert_eq!(of(5000, 4000, 5), Some((1, 1)));
        // so little that the processor looks ahead
        assert_eq!(of(100, 100, 5), None);
    }
}
