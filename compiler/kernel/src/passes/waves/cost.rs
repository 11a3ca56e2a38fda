//! What sections cost as lanes, and one after another, in tenths of a processor's cycles: of one that begins two operations on floats or on vectors in each cycle, with results four cycles later, and four on
//! ints.

use super::{Var, Wave};
use crate::ir::*;
use sluice_frontend::ty::Ty;

/// Cycles until a result can be used.
const FLOAT: u64 = 4;
const CHOICE: u64 = 2;
const DIVISION: u64 = 12;
const ROOT: u64 = 18;
/// The least or the greatest of two floats: as language and processor differ about NaNs, it is compared and chosen.
const BOUND: u64 = 6;
/// Cycles until what a lane passes on is the next one's; ints come from other registers, and go back there.
const PASSING: u64 = 4;
const PASSING_INTS: u64 = 6;
/// Lanes of the widest machine.
const WIDEST: usize = 16;
/// Firings after which each takes as long as the one before.
const SETTLED: u64 = 16;

/// Do sections as lanes take a fifth less time, at least? One after another they do not come near what the processor could do at once: it does not see far enough ahead. Cascades of 4, 8 and 16
/// sections of second order take 1.4 times as long as their operations (Cascade Lake, gcc 12).
pub(super) fn pays(wave: &Wave) -> bool {
    let vectors = |lanes: usize| lanes.div_ceil(WIDEST) as u64;
    let ints = wave.vars.iter().any(|v| matches!(v, Var::Passed(Ty::Int, ..)));
    let passing = if ints { PASSING_INTS } else { PASSING };
    let side_by_side = wave.branches > 1;
    let one = operations(wave, side_by_side) * wave.sections as u64 * vectors(wave.branches);
    let plain = one.max(10 * period(wave, 0));
    let lanes = (operations(wave, true) * vectors(wave.lanes())).max(10 * period(wave, passing) + 20);
    lanes * 12 <= plain * 10
}

/// What the operations of a section take, or of a vector of them, if they wait for nothing.
fn operations(wave: &Wave, vector: bool) -> u64 {
    let tenths = |e: &Expr| match &e.kind {
        ExprKind::Builtin(Builtin::Min | Builtin::Max, _) => 20,
        ExprKind::Binary(_, a, _) if a.ty == Ty::Int && !vector => 5,
        _ if latency(e).is_some() => 7,
        _ => 0,
    };
    let mut n = 0;
    for (_, e) in &wave.steps {
        e.walk(&mut |e| n += tenths(e));
    }
    n
}

/// Cycles from one firing to the next, for the results that it waits for.
fn period(wave: &Wave, passing: u64) -> u64 {
    let mut ready = vec![0; wave.vars.len()];
    let mut half = 0;
    for turn in 0..SETTLED {
        if passing > 0 {
            for (i, var) in wave.vars.iter().enumerate() {
                if let Var::Passed(_, from, _) = var {
                    ready[i] = ready[*from] + passing;
                }
            }
        }
        for (var, e) in &wave.steps {
            ready[*var] = when(e, &ready);
        }
        if turn + 1 == SETTLED / 2 {
            half = ready.iter().copied().max().unwrap_or(0);
        }
    }
    (ready.iter().copied().max().unwrap_or(0) - half) / (SETTLED / 2)
}

/// When a value is there.
fn when(e: &Expr, ready: &[u64]) -> u64 {
    if let ExprKind::Load(p) = &e.kind {
        return p.as_local().map_or(0, |var| ready[var.index()]);
    }
    let mut all = 0;
    e.each_operand(&mut |x| all = all.max(when(x, ready)));
    all + latency(e).unwrap_or(0)
}

/// Cycles of an operation; `None` of what is none.
fn latency(e: &Expr) -> Option<u64> {
    let cycles = |ty: &Ty| if *ty == Ty::Float { FLOAT } else { 1 };
    match &e.kind {
        ExprKind::Binary(BinaryOp::Div, ..) => Some(DIVISION),
        ExprKind::Binary(BinaryOp::Mul, a, _) if a.ty == Ty::Int => Some(2 * FLOAT),
        ExprKind::Binary(_, a, _) => Some(cycles(&a.ty)),
        ExprKind::Unary(..) => Some(1),
        ExprKind::Select(..) => Some(CHOICE),
        ExprKind::Convert(_) => Some(FLOAT),
        ExprKind::Builtin(Builtin::Sqrt, _) => Some(ROOT),
        ExprKind::Builtin(Builtin::Min | Builtin::Max, args) if args.iter().any(|a| a.ty == Ty::Float) => Some(BOUND),
        ExprKind::Builtin(..) => Some(FLOAT),
        _ => None,
    }
}
