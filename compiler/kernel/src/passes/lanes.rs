//! # lanes
//!
//! Purpose: several firings of a stateless filter at once, one in each lane of the machine's vectors (unroll and jam across
//! firings). No sum is re-associated: each lane does exactly what its firing does. Input: a kernel after all other passes.
//! Output: the same, with [`Kernel::lanes`] where it can be done and pays.
//!
//! ```text
//! $s = 0  for $i = 0 < 64 step 1 { $s = ($s + (table0[$i] * in($i))) }  out(0) = $s
//!   →  the same, read as: $s a vector, in(..) one item of each firing, table0[$i] and $i the same in all lanes
//! ```
//!
//! A filter qualifies where its firing writes no state (what messages or the first firing have put there it may read), has no `iter()`, checks, calls or prints, little of functions such as `log` but with `--fast-math` (except for angles and sines of floats, which lanes have to the last bit), takes and gives floats, ints, complex numbers or bits,
//! and does not only move items or consist of loops over neighbouring items; what is done in some lanes only, because data say so, is masked ([`masks`]). Complex values are split first.

mod chains;
mod convert;
mod flatten;
mod guard;
mod masks;
mod parts;
mod places;
mod straight;
mod strands;
#[cfg(test)]
mod testing;

use super::intervals::{Facts, Range};
use super::split_complex::split;
use super::unroll::{self, Rule};
use super::{clean, fold, scalars};
use crate::cost;
use crate::ir::*;
use crate::walk;
use guard::Known;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// A filter with fewer operations per firing is left to the C compiler, but for those that only lanes have as vectors ([`only_in_lanes`]).
const WORTHWHILE: u64 = 12;

/// The same of one whose items come as vectors: one by one, each had to be taken out of its vector first. And of one whose firings go different ways.
const FEW: u64 = 4;

/// Operations for each call of a library function that is called for each lane, at least.
const BESIDE: u64 = 8;

/// Where firings go different ways, all are converted at once; what that makes may differ again, but not for ever.
const MOST_ROUNDS: u32 = 8;

/// The longest row of phases: more would need too much memory.
const MAX_PHASES: u32 = 1024;

/// Floats of a firing that gives few of them, at most: its lanes take each item from where it is. Sums of thousands of items wait for each other's rounding otherwise.
const MAX_WIDE: u32 = 1 << 16;

/// Such a firing takes so many items for each that it gives, at least.
const FEW_OF: u32 = 16;

/// Loops that are written out where items are bits.
const WRITTEN_OUT: Rule =
    Rule { turns: 64, size: 512, recurrences: false, arrays: false, around: usize::MAX, factor: 1 };

/// The largest window that is looked at.
const MAX_WINDOW: u32 = 1 << 16;

/// Finds the lanes of the work function.
pub fn run(kernel: &mut Kernel) {
    if let Some((one, n)) = strands::of(kernel).filter(|_| !straight::plain(kernel))
        // even what is little to do: its items are neighbours as they are
        && let Some((f, lanes)) = find(&one, 0, false).filter(|(f, l)| !straight::moves_only(f, &l.varying))
    {
        let (f, lanes) = parts::apart(kernel, (f, Lanes { strands: n, ..lanes }));
        // neighbours are a vector wherever a turn begins
        let words = lanes.width(&kernel.input);
        let phases = lanes.phases && (words > 1 || !lanes.strands.is_multiple_of(strands::LANES));
        kernel.functions.push(f);
        kernel.lanes = Some(Lanes { phases, ..lanes });
        return;
    }
    // what compilers make of loops over bytes that few operations are done with is not much
    across(kernel, if has_bits(kernel) { FEW } else { WORTHWHILE });
}

/// Finds the lanes of a work function whose items come as vectors, so that even what is little to do pays ([`pays_behind_vectors`]).
pub fn run_behind_vectors(kernel: &mut Kernel) {
    across(kernel, FEW);
}

/// Would the firings of this filter go in lanes if its items came as vectors, and otherwise not?
pub fn pays_behind_vectors(kernel: &Kernel) -> bool {
    let mut alone = kernel.clone();
    run_behind_vectors(&mut alone);
    kernel.lanes.is_none() && alone.lanes.is_some()
}

fn across(kernel: &mut Kernel, worthwhile: u64) {
    if straight::straight(kernel) || straight::wide(kernel) || straight::of_bits(kernel) {
        return;
    }
    // of bits all places are known where their loops are written out, and with it which bytes of a word they are
    let long = has_bits(kernel).then(|| {
        let mut long = kernel.clone();
        // filters that differ in what is in tables still have equal code; a C compiler knows what is in them, too
        let tables = std::mem::take(&mut long.tables);
        unroll::run(&mut long, WRITTEN_OUT);
        scalars::run(&mut long);
        fold::run(&mut long);
        clean::run(&mut long);
        long.tables = tables;
        long
    });
    let one = long.as_ref().unwrap_or(kernel);
    if let Some(found) = find(one, worthwhile, false).filter(|(f, l)| !straight::moves_only(f, &l.varying)) {
        let (f, lanes) = parts::apart(kernel, found);
        kernel.functions.push(f);
        kernel.lanes = Some(lanes);
    }
}

/// Do the firings of the work function fill vectors: in lanes, or in loops that the C compiler makes vectors of?
pub fn fills_vectors(kernel: &Kernel) -> bool {
    kernel.lanes.is_some() || straight::straight(kernel)
}

/// Do the lanes hold streams that take turns in a firing?
pub fn has_strands(kernel: &Kernel) -> bool {
    kernel.lanes.as_ref().is_some_and(|l| l.strands > 1 + u32::from(l.parts))
}

/// Are the firings' loops vectors, and too long for lanes? They stay by themselves.
pub fn is_wide(kernel: &Kernel) -> bool {
    straight::wide(kernel)
}

/// Could the firings of the work function go in lanes, whether it pays or not? As a part of something larger it needs no input and no output of its own;
/// `hope` that its checks can be proved there.
pub fn possible(kernel: &Kernel, hope: bool) -> bool {
    if kernel.lanes.is_some() {
        return true;
    }
    let mut part = kernel.clone();
    if part.input == Ty::Void {
        (part.input, part.work.rates.pop, part.work.rates.peek) = (Ty::Int, 1, 1);
    }
    if part.output == Ty::Void {
        (part.output, part.work.rates.push) = (Ty::Int, 1);
    }
    find(&part, 0, hope).is_some()
}

fn find(kernel: &Kernel, worthwhile: u64, hope: bool) -> Option<(Function, Lanes)> {
    if kernel.work.dynamic.is_some() {
        return None;
    }
    let fits = |ty: &Ty| matches!(ty, Ty::Float | Ty::Int | Ty::Complex) || is_bit(ty);
    let rates = kernel.work.rates;
    if !fits(&kernel.input) || !fits(&kernel.output) || rates.pop == 0 || rates.push == 0 || kernel.lanes.is_some() {
        return None;
    }
    let width = |ty: &Ty| if *ty == Ty::Complex { 2 } else { 1 };
    let wide = kernel.input == Ty::Float
        && kernel.output == Ty::Float
        && (MAX_PHASES + 1..=MAX_WIDE).contains(&rates.pop)
        && rates.push <= rates.pop / FEW_OF;
    if rates.pop.saturating_mul(width(&kernel.input)) > MAX_PHASES && !wide
        || rates.push.saturating_mul(width(&kernel.output)) > MAX_PHASES
        || rates.peek > MAX_WINDOW
    {
        return None;
    }
    let cost = cost::firing(kernel);
    // a library function whose every byte counts is called for each lane: nothing is gained there, and splitting little else off costs
    let others = cost.arithmetic() - cost.function;
    if cost.function > 0
        && !kernel.free
        && others < cost.function.saturating_mul(BESIDE)
        && !only_ours(kernel.function(kernel.work.function))
    {
        return None;
    }
    let little = cost.function == 0 && cost.arithmetic() < worthwhile && !only_in_lanes(kernel);
    if little && cost.arithmetic() < FEW {
        return None;
    }
    let mut f = kernel.function(kernel.work.function).clone();
    flatten::arrays(&mut f);
    let mut f = split(&f)?;
    f.name = "lanes".into();
    let facts = Facts::of_any_state(kernel, Range::ALL);
    // filters that share their code are many: what they differ in is data, and stays so ([`crate::share_code`])
    let shared = kernel.tables.iter().any(|t| t.own.is_some());
    if !shared {
        places::choose_all(&mut f, &kernel.tables);
    }
    let mut apart = 0;
    while apart < MOST_ROUNDS {
        let varying = varying(&f);
        let known = Known::new(kernel, &facts, &f.locals);
        if !shared && masks::convert(&mut f, &varying, (kernel, &facts), false) {
            apart += 1;
            continue;
        }
        if convert::conditions(&mut f, &varying, &known, shared) {
            continue;
        }
        if !shared && masks::convert(&mut f, &varying, (kernel, &facts), true) {
            apart += 1;
            continue;
        }
        // ways that differ C compilers go one by one
        if little && apart == 0 || shared && !convert::all_plain(&f, &varying, &known) {
            return None;
        }
        if !guard::guard(&mut f, &varying, &known) {
            return None;
        }
        legal(&f, &varying, hope)?;
        let (unroll, deep) = vectors(&f, &varying);
        let phases = rates.pop * width(&kernel.input) > 1 && !wide;
        let function = FuncId::from(kernel.functions.len());
        return Some((f, Lanes { function, varying, unroll, deep, phases, strands: 1, parts: false, narrow: None }));
    }
    None
}

/// How many vectors side by side are worth it, with 16 registers for vectors and with 32.
fn vectors(f: &Function, varying: &[bool]) -> (u32, u32) {
    let live = f.locals.iter().zip(varying).filter(|(l, v)| **v && !matches!(l.ty, Ty::Array(..))).count();
    let unroll = match live {
        0..=5 => 4,
        6..=10 => 2,
        _ => 1,
    };
    // named variables say little of a firing that has been written out
    chains::vectors(f, varying).filter(|_| unroll == 1).unwrap_or((unroll, unroll))
}

/// Which locals differ between lanes: those that get values that do, directly or through other locals.
fn varying(f: &Function) -> Vec<bool> {
    let mut out = vec![false; f.locals.len()];
    loop {
        let before = out.clone();
        mark(&f.body, &mut out, false);
        if out == before {
            return out;
        }
    }
}

/// Marks what is assigned a varying value, or anything at all where some lanes do not come.
fn mark(body: &[Stmt], varying: &mut [bool], under: bool) {
    for s in body {
        match &s.kind {
            StmtKind::Assign(Place { base: Base::Local(id), path }, e) => {
                let index = path.iter().any(|p| matches!(p, Proj::Index(i) if is_varying(i, varying)));
                if under || index || is_varying(e, varying) {
                    varying[id.index()] = true;
                }
            }
            StmtKind::If(c, a, b) => {
                let under = under || is_varying(c, varying);
                mark(a, varying, under);
                mark(b, varying, under);
            }
            StmtKind::For(l) => {
                let under = under
                    || is_varying(&l.from, varying)
                    || is_varying(&l.to, varying)
                    || leaves_in_some(&l.body, 0, false, varying);
                if under {
                    varying[l.var.index()] = true;
                }
                mark(&l.body, varying, under);
            }
            StmtKind::Loop(b) | StmtKind::Block(b) => {
                let under = under || leaves_in_some(b, 0, false, varying);
                mark(b, varying, under);
            }
            _ => {}
        }
    }
}

/// Does a jump in some lanes only leave the statements, `depth` levels out or farther? `under`: only some lanes come to them.
fn leaves_in_some(body: &[Stmt], depth: u32, under: bool, varying: &[bool]) -> bool {
    // what leaves more than the loop leaves the loop, too: where nothing does in some lanes only, it is not looked at once more, or time would double with each loop
    let out_of = |b: &[Stmt], under: bool| {
        (under || leaves_in_some(b, 0, false, varying)) && leaves_in_some(b, depth + 1, true, varying)
    };
    body.iter().any(|s| match &s.kind {
        StmtKind::Break(d) | StmtKind::Continue(d) => under && *d >= depth,
        StmtKind::If(c, a, b) => {
            let under = under || is_varying(c, varying);
            [a, b].into_iter().any(|l| leaves_in_some(l, depth, under, varying))
        }
        StmtKind::For(l) => out_of(&l.body, under || is_varying(&l.from, varying) || is_varying(&l.to, varying)),
        StmtKind::Loop(b) | StmtKind::Block(b) => out_of(b, under),
        _ => false,
    })
}

/// Does a value differ between lanes?
pub fn is_varying(e: &Expr, varying: &[bool]) -> bool {
    match &e.kind {
        ExprKind::Any(_) => false,
        ExprKind::Load(Place { base: Base::In(_), .. }) => true,
        ExprKind::Load(Place { base: Base::Local(id), .. }) if varying[id.index()] => true,
        _ => {
            let mut any = false;
            e.each_operand(&mut |e| any = any || is_varying(e, varying));
            any
        }
    }
}

/// May the function run in lanes?
fn legal(f: &Function, varying: &[bool], hope: bool) -> Option<()> {
    for (l, v) in f.locals.iter().zip(varying) {
        let scalar = |ty: &Ty| matches!(ty, Ty::Float | Ty::Int | Ty::Bool | Ty::Bit);
        let ok = match &l.ty {
            Ty::Array(e, _) => scalar(e),
            ty => scalar(ty),
        };
        if *v && !ok {
            return None;
        }
    }
    let mut ok = true;
    let index_ok = |p: &Place| {
        // positions and indices are the same in all lanes
        let mut uniform = true;
        p.each_expr(&mut |e| uniform &= !is_varying(e, varying));
        uniform
    };
    walk::each_stmt(&f.body, &mut |s| {
        ok &= match &s.kind {
            StmtKind::Assign(p, e) => {
                let whole = p.path.is_empty() && e.ty.is_aggregate();
                let target = match p.base {
                    Base::Local(id) if varying[id.index()] && whole => matches!(e.kind, ExprKind::Zero),
                    Base::Local(_) | Base::Out(_) => !whole || !is_varying(e, varying),
                    _ => false,
                };
                target && index_ok(p) && !(whole && matches!(p.base, Base::Out(_)))
            }
            StmtKind::If(c, ..) => !is_varying(c, varying),
            // the lanes turn together
            StmtKind::For(l) => !varying[l.var.index()],
            StmtKind::Loop(_) | StmtKind::Block(_) | StmtKind::Break(_) | StmtKind::Continue(_) => true,
            StmtKind::Check(_) => hope,
            _ => false,
        };
    });
    walk::each_expr(&f.body, &mut |e| {
        ok &= match &e.kind {
            ExprKind::Load(p) => match p.base {
                Base::Peek(_) | Base::Out(_) => false,
                // nothing here writes one: what a message or the first firing has put there is the same in all lanes
                Base::State(_) => index_ok(p) && !e.ty.is_aggregate(),
                Base::Table(_) if gathers(p, varying) => matches!(e.ty, Ty::Float | Ty::Int),
                _ => index_ok(p),
            },
            ExprKind::Iter | ExprKind::Compose(_) | ExprKind::Component(..) => false,
            ExprKind::Builtin(b, _) => is_of_vectors(*b) || e.ty == Ty::Float && (is_ours(*b) || is_called(*b)),
            _ => true,
        };
        if is_varying(e, varying) {
            ok &= matches!(e.ty, Ty::Float | Ty::Int | Ty::Bool | Ty::Bit);
        }
    });
    ok.then_some(())
}

/// Has a machine's vectors this function, to the last bit?
pub(super) fn is_of_vectors(b: Builtin) -> bool {
    use Builtin::*;
    matches!(b, Abs | Min | Max | Sqrt | Floor | Ceil | Rint | Round)
}

/// Has a firing an operation that C compilers take one by one, for the processor's vectors have none that is quite the same, though lanes have it from several: to int from float, and division
/// of ints by what is no constant?
fn only_in_lanes(kernel: &Kernel) -> bool {
    let mut any = false;
    walk::each_expr(&kernel.function(kernel.work.function).body, &mut |e| {
        any |= match &e.kind {
            ExprKind::Convert(a) => a.ty == Ty::Float && e.ty == Ty::Int,
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) => e.ty == Ty::Int && b.as_int().is_none(),
            _ => false,
        };
    });
    any
}

/// Is it one of our own functions, of floats, which lanes have to the last bit (`sl_angles.h`, `sl_sines.h`)?
fn is_ours(b: Builtin) -> bool {
    use Builtin::*;
    matches!(b, Atan | Atan2 | Cos | Sin | Tan)
}

/// Does the function call no library function but those?
fn only_ours(f: &Function) -> bool {
    let mut ok = true;
    walk::each_expr(&f.body, &mut |e| {
        if let ExprKind::Builtin(b, _) = &e.kind {
            // the angle of a complex number becomes one of its parts
            ok &= is_of_vectors(*b) || e.ty == Ty::Float && (is_ours(*b) || *b == Builtin::Arg);
        }
    });
    ok
}

/// Is it a function of the library: called for each lane (`sl_called.h`), or, where the last bits may differ, one of vectors (`sl_functions.h`)?
fn is_called(b: Builtin) -> bool {
    use Builtin::*;
    matches!(b, Acos | Acosh | Asin | Asinh | Atan | Atan2 | Atanh | Cos | Cosh | Exp | Expm1)
        || matches!(b, Log | Log10 | Pow | Sin | Sinh | Tan | Tanh)
}

/// Is this an element of a table at an index that differs between lanes, the last one?
pub fn gathers(p: &Place, varying: &[bool]) -> bool {
    let Some((Proj::Index(last), before)) = p.path.split_last() else { return false };
    matches!(p.base, Base::Table(_))
        && is_varying(last, varying)
        && before.iter().all(|step| matches!(step, Proj::Index(e) if !is_varying(e, varying)))
}

/// Is it a bit or a truth? Where such items pass, each is a byte, 0 or 1; in a lane it is a word, 0 or -1.
pub fn is_bit(ty: &Ty) -> bool {
    matches!(ty, Ty::Bit | Ty::Bool)
}

/// Are such the items that it takes, or those that it gives?
pub fn has_bits(kernel: &Kernel) -> bool {
    is_bit(&kernel.input) || is_bit(&kernel.output)
}

/// A new local of a function.
pub(super) fn fresh(f: &mut Function, name: &str, ty: Ty) -> LocalId {
    f.locals.push(Local { name: name.into(), ty, by_ref: false });
    LocalId::from(f.locals.len() - 1)
}
