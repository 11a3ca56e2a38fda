//! What sections cost as lanes, in tenths of a processor's cycles: of one that begins two operations on vectors in each cycle, with results of floats four cycles later.

use super::{Var, Wave, ahead};
use crate::ir::*;
use sluice_frontend::ty::Ty;

/// Cycles until a result can be used.
const FLOAT: u64 = 4;
const CHOICE: u64 = 2;
const DIVISION: u64 = 12;
const ROOT: u64 = 18;
/// The least or the greatest of two floats: as language and processor differ about NaNs, it is compared and chosen.
const BOUND: u64 = 6;
/// A product of ints: of vectors, and of two numbers.
const PRODUCTS: u64 = 8;
const PRODUCT: u64 = 3;
/// Cycles until what a lane passes on is the next one's.
const PASSING: u64 = 4;
/// Lanes of the widest machine.
const WIDEST: usize = 16;
/// Firings after which each takes as long as the one before.
const SETTLED: u64 = 16;

/// The wave, its sections as far apart as is best, if one section after another takes a tenth more time, at least.
pub(super) fn paying(mut wave: Wave) -> Option<Wave> {
    let vectors = |lanes: usize| lanes.div_ceil(WIDEST) as u64;
    let (work, lanes) = (operations(&wave), vectors(wave.lanes()));
    let waves = |apart: usize| (work * lanes).max(10 * period(&wave, Some((PASSING, apart))) + 20);
    let (near, far) = (waves(1), waves(2));
    let plain = match wave.branches {
        1 => ahead::time(&wave),
        // a firing is done of all branches before the next section
        n => (work * wave.sections as u64 * vectors(n)).max(10 * period(&wave, None)),
    };
    wave.apart = if far * 11 <= near * 10 { 2 } else { 1 };
    (near.min(far) * 11 <= plain * 10).then_some(wave)
}

/// What the operations of a section take, or of a vector of them, if they wait for nothing.
fn operations(wave: &Wave) -> u64 {
    let tenths = |e: &Expr| match &e.kind {
        ExprKind::Builtin(Builtin::Min | Builtin::Max, _) => 20,
        // a shift and a sum are two
        ExprKind::Binary(BinaryOp::Mul, a, b) if shifts(wave, a, b) => 14,
        _ if latency(wave, e, true).is_some() => 7,
        _ => 0,
    };
    let mut n = 0;
    for (_, e) in &wave.steps {
        e.walk(&mut |e| n += tenths(e));
    }
    n
}

/// Cycles from one firing to the next, for the results that it waits for; `passing`: cycles until what is passed on is there, and how many steps are apart.
fn period(wave: &Wave, passing: Option<(u64, usize)>) -> u64 {
    let mut ready = vec![0; wave.vars.len()];
    let mut steps = vec![ready.clone(); 2];
    let mut half = 0;
    for turn in 0..SETTLED {
        if let Some((cycles, apart)) = passing {
            let had = &steps[steps.len() - apart];
            for (i, var) in wave.vars.iter().enumerate() {
                if let Var::Passed(_, from, _) = var {
                    ready[i] = had[*from] + cycles;
                }
            }
        }
        for (var, e) in &wave.steps {
            ready[*var] = when(wave, e, &ready, passing.is_some());
        }
        steps.push(ready.clone());
        if turn + 1 == SETTLED / 2 {
            half = ready.iter().copied().max().unwrap_or(0);
        }
    }
    (ready.iter().copied().max().unwrap_or(0) - half) / (SETTLED / 2)
}

/// When a value is there.
fn when(wave: &Wave, e: &Expr, ready: &[u64], lanes: bool) -> u64 {
    if let ExprKind::Load(p) = &e.kind {
        return p.as_local().map_or(0, |var| ready[var.index()]);
    }
    let mut all = 0;
    e.each_operand(&mut |x| all = all.max(when(wave, x, ready, lanes)));
    all + latency(wave, e, lanes).unwrap_or(0)
}

/// Is a factor one number for all sections, so that the product is a shift, or two and a sum?
fn shifts(wave: &Wave, a: &Expr, b: &Expr) -> bool {
    let few = |e: &Expr| e.as_int().is_some_and(|n| n.count_ones() <= 2);
    let of = |e: &Expr| match &e.kind {
        ExprKind::Load(p) => match p.as_local().map(|var| &wave.vars[var.index()]) {
            Some(Var::Number(Ty::Int, all)) => few(&all[0]) && all.iter().all(|x| x.as_int() == all[0].as_int()),
            _ => false,
        },
        _ => false,
    };
    of(a) || of(b)
}

/// Cycles of an operation, of `lanes` or of one section after another; `None` of what is none.
pub(super) fn latency(wave: &Wave, e: &Expr, lanes: bool) -> Option<u64> {
    let cycles = |ty: &Ty| if *ty == Ty::Float { FLOAT } else { 1 };
    match &e.kind {
        ExprKind::Binary(BinaryOp::Div, ..) => Some(DIVISION),
        ExprKind::Binary(BinaryOp::Mul, a, b) if a.ty == Ty::Int => Some(match (shifts(wave, a, b), lanes) {
            (true, true) => 2,
            (true, false) => 1,
            (false, true) => PRODUCTS,
            (false, false) => PRODUCT,
        }),
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
