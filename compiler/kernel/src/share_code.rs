//! # share-code
//!
//! Purpose: many filters that differ in numbers only become one function in native code: the numbers are data. Input: the kernels of a program after all passes. Output: the
//! same, where of [`FEWEST`] filters or more with equal code the floats that differ are fields of the state, which nothing writes.
//!
//! ```text
//! 1000 × Lag(k):  $y = $y + 0.25 · (in − $y)   →   $y = $y + $constant · (in − $y)      with 0.25 … as the first value of $constant
//! ```
//!
//! What must hold: a filter computes what it did; only filters that have a state get more of it. A C compiler's time grows with different code then, and not with filters.

use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::CodeId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use std::collections::BTreeMap;

/// Filters of equal code whose numbers become data, at least. Numbers that a compiler knows are worth more than its time where they are fewer: a bank of 16 recursive filters
/// is 1.4 times as fast with them.
const FEWEST: usize = 256;
/// Kinds of code at one place of a program's text that a filter is compared with: more are not looked for.
const KINDS: usize = 64;

/// Lets filters share code.
pub fn run(kernels: &mut [Kernel]) {
    let mut groups: BTreeMap<usize, Vec<CodeId>> = BTreeMap::new();
    for (k, class) in classes(kernels, &is_plain).into_iter().enumerate() {
        if let Some(class) = class {
            groups.entry(class).or_default().push(CodeId::from(k));
        }
    }
    for group in groups.values().filter(|g| g.len() >= FEWEST) {
        let all: Vec<Vec<Const>> = group.iter().map(|k| constants(&kernels[k.index()])).collect();
        let differ: Vec<bool> = (0..all[0].len()).map(|i| all.iter().any(|own| own[i] != all[0][i])).collect();
        for (k, own) in group.iter().zip(&all) {
            lift(&mut kernels[k.index()], own, &differ);
        }
    }
}

/// Makes those of a filter's floats that differ from filter to filter fields of its state.
fn lift(kernel: &mut Kernel, own: &[Const], differ: &[bool]) {
    let first = kernel.state.len();
    let lifted = || own.iter().zip(differ).filter(|(_, differs)| **differs).map(|(value, _)| value);
    kernel.state.extend(lifted().map(|value| StateField {
        name: "constant".into(),
        ty: if matches!(value, Const::Double(_)) { Ty::Double } else { Ty::Float },
        initial: value.clone(),
    }));
    let (mut at, mut next) = (0, first);
    let work = kernel.work.function;
    walk::each_expr_mut(&mut kernel.functions[work.index()].body, &mut |e| {
        if let ExprKind::Const(Const::Float(_) | Const::Double(_)) = &e.kind {
            if differ[at] {
                let place = Place { base: Base::State(StateId::from(next)), path: Vec::new() };
                *e = Expr::load(place, e.ty.clone());
                next += 1;
            }
            at += 1;
        }
    });
}

/// Is the filter one whose code can be another's: with a state and one function, in which nothing can fail and nothing but numbers happens?
pub fn is_plain(kernel: &Kernel) -> bool {
    let [work] = &kernel.functions[..] else { return false };
    let mut plain = !kernel.state.is_empty()
        && kernel.prework.is_none()
        && kernel.handlers.is_empty()
        && kernel.natives.is_empty()
        && kernel.lanes.is_none()
        && kernel.work.dynamic.is_none()
        && kernel.tables.iter().all(|t| t.shared.is_some());
    walk::each_stmt(&work.body, &mut |s| {
        plain &= matches!(s.kind, StmtKind::Assign(..) | StmtKind::For(_) | StmtKind::If(..));
    });
    plain
}

/// By kernel that is `wanted`: a number that it shares with those that differ from it in floats only ([`shape`]).
pub(crate) fn classes(kernels: &[Kernel], wanted: &dyn Fn(&Kernel) -> bool) -> Vec<Option<usize>> {
    let (mut shapes, mut number) = (BTreeMap::<(Span, Span), Vec<(Kernel, usize)>>::new(), 0);
    let class = |kernel: &Kernel| {
        let shape = wanted(kernel).then(|| shape(kernel))?;
        let known = shapes.entry((shape.span, shape.functions[0].span)).or_default();
        if let Some((_, class)) = known.iter().rev().take(KINDS).find(|(s, _)| *s == shape) {
            return Some(*class);
        }
        number += 1;
        known.push((shape, number - 1));
        Some(number - 1)
    };
    kernels.iter().map(class).collect()
}

/// The kernel without what filters of one class may differ in.
pub(crate) fn shape(kernel: &Kernel) -> Kernel {
    let mut shape = kernel.clone();
    shape.name.clear();
    shape.display.clear();
    (shape.prework, shape.lanes) = (None, None);
    let work = shape.work.function;
    shape.functions = vec![shape.functions.swap_remove(work.index())];
    shape.work.function = FuncId(0);
    shape.state.iter_mut().for_each(|s| s.initial = Const::Int(0));
    shape.tables.iter_mut().for_each(|t| t.value = Const::Int(0));
    walk::each_expr_mut(&mut shape.functions[0].body, &mut |e| {
        if let ExprKind::Const(c @ (Const::Float(_) | Const::Double(_))) = &mut e.kind {
            *c = Const::Int(0);
        }
    });
    shape
}

/// The floats in a kernel's work function, in the order of [`walk::each_expr_mut`].
pub(crate) fn constants(kernel: &Kernel) -> Vec<Const> {
    let mut out = Vec::new();
    walk::each_expr(&kernel.function(kernel.work.function).body, &mut |e| {
        if let ExprKind::Const(c @ (Const::Float(_) | Const::Double(_))) = &e.kind {
            out.push(c.clone());
        }
    });
    out
}

/// By kernel: the first of those that are `used` whose C text can be its own but for the state before the first firing; itself where there is none.
pub fn first_alike(kernels: &[Kernel], used: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let mut known: BTreeMap<(Span, Span), Vec<usize>> = BTreeMap::new();
    let first = |(k, kernel): (usize, &Kernel)| {
        if !used(k) || !is_plain(kernel) {
            return k;
        }
        let known = known.entry((kernel.span, kernel.functions[0].span)).or_default();
        let same = |first: &&usize| {
            let other = &kernels[**first];
            let fields = |k: &Kernel| k.state.iter().map(|s| (s.name.clone(), s.ty.clone())).collect::<Vec<_>>();
            (&other.input, &other.output, other.work) == (&kernel.input, &kernel.output, kernel.work)
                && other.functions == kernel.functions
                && fields(other) == fields(kernel)
                && other.tables == kernel.tables
                && other.structs == kernel.structs
        };
        if let Some(first) = known.iter().rev().take(KINDS).find(same) {
            return *first;
        }
        known.push(k);
        k
    };
    kernels.iter().enumerate().map(first).collect()
}
