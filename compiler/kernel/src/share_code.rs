//! # share-code
//!
//! Purpose: many filters that differ in numbers only become one function in native code: the numbers are data. Input: the kernels of a program after all passes. Output: the
//! same, where of [`FEWEST`] filters or more with equal code the numbers and tables that differ are data: numbers of filters with a state are fields that nothing writes,
//! those of others elements of a table, and tables are found through the state ([`Table::own`]).
//!
//! ```text
//! 1000 × Lag(k):  $y = $y + 0.25 · (in − $y)   →   $y = $y + $constant · (in − $y)      with 0.25 … as the first value of $constant
//! 1000 × Fir(h):  $s = $s + h[$i] · in($i)     →   the same, h an own table
//! ```
//!
//! What must hold: a filter computes what it did; filters without state still have none. Only numbers that operations take are data: positions, indices, bounds of loops, divisors of ints and
//! numbers of places that ints are shifted by stay, and with them what a compiler makes of them. Its time grows with different code then, and not with filters.

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
/// The same of filters that differ in large tables only. Code that is one stays in the instructions' cache: a bank of 100 filters of 32 taps is 1.5 times as fast with it, one of 16 filters up to a
/// tenth slower.
const FEWEST_LARGE: usize = 32;
/// Elements of the smallest table that is large: loops over fewer are written out where filters become regions, and what they read are numbers then.
const LARGE: usize = 32;
/// Kinds of code at one place of a program's text that a filter is compared with: more are not looked for.
const KINDS: usize = 64;

/// Lets filters share code.
pub fn run(kernels: &mut [Kernel]) {
    let mut groups: BTreeMap<usize, Vec<CodeId>> = BTreeMap::new();
    for (k, class) in classes_by(kernels, &is_plain, &blank).into_iter().enumerate() {
        if let Some(class) = class {
            groups.entry(class).or_default().push(CodeId::from(k));
        }
    }
    for group in groups.values().filter(|g| g.len() >= FEWEST_LARGE) {
        let own: Vec<Vec<Const>> = group.iter().map(|k| numbers_of(&kernels[k.index()].functions)).collect();
        let slots = Slots::of(&own);
        let of = |k: &CodeId| &kernels[k.index()].tables;
        let tables: Vec<usize> = (0..of(&group[0]).len())
            .filter(|i| group.iter().any(|k| of(k)[*i].value != of(&group[0])[*i].value))
            .collect();
        let large = slots.columns.is_empty() && tables.iter().all(|i| elements(&of(&group[0])[*i].ty) >= LARGE);
        if large || group.len() >= FEWEST {
            for (k, own) in group.iter().zip(&own) {
                let kernel = &mut kernels[k.index()];
                tables.iter().zip(0..).for_each(|(i, number)| kernel.tables[*i].own = Some(number));
                slots.lift(kernel, own);
            }
        }
    }
}

/// Elements of an array and of those in it.
fn elements(ty: &Ty) -> usize {
    let inner = ty.element().map_or(1, elements);
    ty.known_len().map_or(1, |n| (n as usize).saturating_mul(inner))
}

/// Which numbers of filters of one class become data.
struct Slots {
    /// By number, where it differs from filter to filter: its place among those that do, in which all that differ alike are one.
    of: Vec<Option<usize>>,
    /// By place: one of its numbers.
    columns: Vec<usize>,
}

impl Slots {
    /// Of filters with these numbers.
    fn of(all: &[Vec<Const>]) -> Slots {
        let mut slots = Slots { of: Vec::new(), columns: Vec::new() };
        for i in 0..all[0].len() {
            let equal = |j: usize| all.iter().all(|own| own[i] == own[j]);
            let differs = all.iter().any(|own| own[i] != all[0][i]);
            slots.of.push(differs.then(|| {
                slots.columns.iter().position(|j| equal(*j)).unwrap_or_else(|| {
                    slots.columns.push(i);
                    slots.columns.len() - 1
                })
            }));
        }
        slots
    }

    /// Makes those of a filter's numbers data.
    fn lift(&self, kernel: &mut Kernel, own: &[Const]) {
        let values = self.columns.iter().map(|i| &own[*i]);
        let places: Vec<Place> = if kernel.state.is_empty() {
            // in the order in which tables get their numbers
            let (mut types, mut number) = (BTreeMap::<usize, (TableId, Vec<Const>)>::new(), kernel.own_tables());
            let places = values.map(|value| {
                let (kind, ty) = type_of(value);
                let (id, all) = types.entry(kind).or_insert_with(|| {
                    let table =
                        Table { name: "constants".into(), ty, value: value.clone(), shared: None, own: Some(number) };
                    number += 1;
                    kernel.tables.push(table);
                    (TableId::from(kernel.tables.len() - 1), Vec::new())
                });
                all.push(value.clone());
                let at = Proj::Index(Expr::int(all.len() as i32 - 1));
                Place { base: Base::Table(*id), path: vec![at] }
            });
            let places = places.collect();
            for (id, all) in types.into_values() {
                let table = &mut kernel.tables[id.index()];
                table.ty = table.ty.clone().array(all.len() as u32);
                table.value = Const::Array(all.into());
            }
            places
        } else {
            let first = kernel.state.len();
            kernel.state.extend(values.map(|value| StateField {
                name: "constant".into(),
                ty: type_of(value).1,
                initial: value.clone(),
            }));
            let place = |i| Place { base: Base::State(StateId::from(first + i)), path: Vec::new() };
            (0..self.columns.len()).map(place).collect()
        };
        let mut at = 0;
        for f in &mut kernel.functions {
            each_number_mut(&mut f.body, &mut |e| {
                if let Some(slot) = self.of[at] {
                    *e = Expr::load(places[slot].clone(), e.ty.clone());
                }
                at += 1;
            });
        }
    }
}

/// A number for the type of a number, and the type.
fn type_of(value: &Const) -> (usize, Ty) {
    match value {
        Const::Int(_) => (0, Ty::Int),
        Const::Double(_) => (1, Ty::Double),
        _ => (2, Ty::Float),
    }
}

/// Calls `f` with each number that an operation takes and for which any other would do as well.
pub(crate) fn each_number_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    walk::each_stmt_mut(body, &mut |s| match &mut s.kind {
        StmtKind::Assign(_, e) | StmtKind::If(e, ..) => in_expr(e, f),
        _ => {}
    });
}

fn in_expr(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    match &mut e.kind {
        // where it is read is code
        ExprKind::Load(_) => {}
        ExprKind::Const(Const::Int(_) | Const::Float(_) | Const::Double(_)) => f(e),
        ExprKind::Binary(op, a, b) => {
            in_expr(a, f);
            let code = matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr) && b.ty == Ty::Int;
            if !code {
                in_expr(b, f);
            }
        }
        _ => e.each_operand_mut(&mut |e| in_expr(e, f)),
    }
}

/// The numbers in functions, in the order of [`each_number_mut`].
pub(crate) fn numbers_of(functions: &[Function]) -> Vec<Const> {
    let mut out = Vec::new();
    for f in functions {
        each_number_mut(&mut f.body.clone(), &mut |e| {
            if let ExprKind::Const(c) = &e.kind {
                out.push(c.clone());
            }
        });
    }
    out
}

/// Is the filter one whose code can be another's: one in which nothing can fail and nothing but numbers happens?
pub fn is_plain(kernel: &Kernel) -> bool {
    let of_lanes = kernel.lanes.as_ref().map(|l| l.function);
    let of_steps = kernel.steps.as_ref().map(|s| s.function);
    let known = |i: usize| [Some(kernel.work.function), of_lanes, of_steps].contains(&Some(FuncId::from(i)));
    let mut plain = !kernel.functions.is_empty()
        && kernel.prework.is_none()
        && kernel.handlers.is_empty()
        && kernel.natives.is_empty()
        && kernel.work.dynamic.is_none()
        && (0..kernel.functions.len()).all(known);
    for f in &kernel.functions {
        walk::each_stmt(&f.body, &mut |s| {
            plain &= matches!(s.kind, StmtKind::Assign(..) | StmtKind::For(_) | StmtKind::If(..));
        });
    }
    plain
}

/// By kernel that is `wanted`: a number that it shares with those that differ from it in numbers and tables only ([`shape`]).
pub(crate) fn classes(kernels: &[Kernel], wanted: &dyn Fn(&Kernel) -> bool) -> Vec<Option<usize>> {
    classes_by(kernels, wanted, &shape)
}

fn classes_by(
    kernels: &[Kernel],
    wanted: &dyn Fn(&Kernel) -> bool,
    shape: &dyn Fn(&Kernel) -> Kernel,
) -> Vec<Option<usize>> {
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

/// The kernel's work function without what filters of one class may differ in.
pub(crate) fn shape(kernel: &Kernel) -> Kernel {
    let mut work = kernel.clone();
    (work.prework, work.lanes, work.steps) = (None, None, None);
    work.functions = vec![work.functions.swap_remove(kernel.work.function.index())];
    work.work.function = FuncId(0);
    blank(&work)
}

/// The kernel without what filters of one class may differ in.
fn blank(kernel: &Kernel) -> Kernel {
    let mut shape = kernel.clone();
    shape.name.clear();
    shape.display.clear();
    shape.state.iter_mut().for_each(|s| s.initial = Const::Int(0));
    shape.tables.iter_mut().filter(|t| t.shared.is_none()).for_each(|t| t.value = Const::Int(0));
    for f in &mut shape.functions {
        each_number_mut(&mut f.body, &mut |e| e.kind = ExprKind::Const(Const::Int(0)));
    }
    shape
}

/// By kernel: the first of those that are `used` whose C text can be its own but for the state before the first firing and own tables; itself where there is none.
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
                && (&other.lanes, &other.steps, &other.tapes) == (&kernel.lanes, &kernel.steps, &kernel.tapes)
                && fields(other) == fields(kernel)
                && other.tables.len() == kernel.tables.len()
                && other.tables.iter().zip(&kernel.tables).all(|(a, b)| a.same_to_code(b))
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
