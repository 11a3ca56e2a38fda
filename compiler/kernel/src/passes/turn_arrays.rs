//! # turn-arrays
//!
//! Purpose: arrays of arrays that a filter with a state writes are stored by columns where that lets turns of a loop go in vectors: `m[r][c]` in a loop over `r`. Input: a kernel before `fuse`, for C
//! alone: fields have another layout from here on. Output: the same, its two indices, type and first value turned round.
//!
//! ```text
//! for $k = 0 < 16 { $s = 0f  for $d = 0 < 8 { $s = ($s + ($x[$d] * state0[$k][$d])) } … }   →   … state0[$d][$k] …, which is 8 rows of 16 now
//! ```
//!
//! What must hold: every place is one element of the array, in all functions. Loops around one another that set each element go the other way round with it, so that their turns still go over
//! neighbours. An array is turned where [`turns_abreast`] finds more loops then, and few other turns lose their neighbours.

use super::clean::trip;
use super::{turns_abreast, unroll::jumps};
use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Elements of an array, at most: it should stay in a cache when it is gone through the other way.
const MOST: u32 = 1 << 14;

/// How many elements that vectors look at there are for each that lies apart from its neighbour, at least.
const FOR_EACH: u64 = 4;

/// Turns of a loop that is for vectors, at least.
const LANES: u64 = 8;

/// Turns of a loop whose bounds are not known.
const SOME: u64 = 16;

/// Arrays that are looked at.
const CANDIDATES: usize = 16;

/// Turns arrays of the kernel round.
pub fn run(kernel: &mut Kernel) {
    if kernel.state.is_empty() || kernel.work.dynamic.is_some() {
        return;
    }
    let work = kernel.work.function;
    let fields = (0..kernel.state.len()).map(|i| Base::State(StateId::from(i)));
    let f = kernel.function(work);
    let locals = (f.params as usize..f.locals.len()).map(|i| Base::Local(LocalId::from(i)));
    let candidates: Vec<Base> = fields.chain(locals).filter(|b| shape(kernel, b).is_some()).take(CANDIDATES).collect();
    if candidates.is_empty() {
        return;
    }
    for base in candidates {
        if !by_elements(kernel, &base) {
            continue;
        }
        let mut other = kernel.clone();
        turn(&mut other, &base);
        let (now, then) = (weighed(kernel, &base), weighed(&other, &base));
        if then.loops > now.loops && then.vectors >= then.apart.saturating_mul(FOR_EACH) {
            *kernel = other;
        }
    }
}

/// Rows and columns, and what they are of: words.
fn shape(kernel: &Kernel, base: &Base) -> Option<(u32, u32, Ty)> {
    let ty = match base {
        Base::State(id) => &kernel.state[id.index()].ty,
        Base::Local(id) => {
            Some(&kernel.function(kernel.work.function).locals[id.index()]).filter(|l| !l.by_ref).map(|l| &l.ty)?
        }
        _ => return None,
    };
    let row = ty.element()?;
    let (rows, columns, word) = (ty.known_len()?, row.known_len()?, row.element()?);
    let small = rows.checked_mul(columns)? <= MOST;
    (small && matches!(word, Ty::Float | Ty::Int)).then(|| (rows, columns, word.clone()))
}

/// The functions in which the array is known by this name.
fn functions(kernel: &Kernel, base: &Base) -> Vec<usize> {
    match base {
        Base::Local(_) => vec![kernel.work.function.index()],
        _ => (0..kernel.functions.len()).collect(),
    }
}

/// Is every place of the array one element, but for a zero of a variable?
fn by_elements(kernel: &Kernel, base: &Base) -> bool {
    let mut single = true;
    for i in functions(kernel, base) {
        let body = &kernel.functions[i].body;
        let element = |p: &Place| p.base != *base || matches!(p.path.as_slice(), [Proj::Index(_), Proj::Index(_)]);
        walk::each_stmt(body, &mut |s| {
            let zeroed = matches!((&s.kind, base), (StmtKind::Assign(p, e), Base::Local(_)) if p.path.is_empty() && e.kind == ExprKind::Zero);
            single &= zeroed || s.kind.targets().into_iter().all(element);
        });
        walk::each_expr(body, &mut |e| {
            if let ExprKind::Load(p) = &e.kind {
                single &= element(p);
            }
        });
    }
    single
}

/// Turns an array round.
fn turn(kernel: &mut Kernel, base: &Base) {
    let Some((rows, columns, word)) = shape(kernel, base) else { return };
    let ty = word.array(rows).array(columns);
    match base {
        Base::State(id) => {
            let field = &mut kernel.state[id.index()];
            field.initial = turned(&field.initial, columns as usize);
            field.ty = ty.clone();
        }
        Base::Local(id) => {
            let work = kernel.work.function.index();
            kernel.functions[work].locals[id.index()].ty = ty.clone();
        }
        _ => {}
    }
    for i in functions(kernel, base) {
        let body = &mut kernel.functions[i].body;
        walk::each_place_mut(body, &mut |p| {
            if p.base == *base && p.path.len() == 2 {
                p.path.swap(0, 1);
            }
        });
        walk::each_stmt_mut(body, &mut |s| match &mut s.kind {
            StmtKind::Assign(p, e) if p.base == *base && p.path.is_empty() => e.ty = ty.clone(),
            StmtKind::For(outer) => exchange(outer, base),
            _ => {}
        });
    }
}

/// A value the other way round.
fn turned(of: &Const, columns: usize) -> Const {
    let Const::Array(rows) = of else { return of.clone() };
    let column = |c: usize| {
        let element = |row: &Const| if let Const::Array(all) = row { all.get(c).cloned() } else { None };
        Const::Array(rows.iter().filter_map(element).collect())
    };
    Const::Array((0..columns).map(column).collect())
}

/// Two loops around an assignment to the element at their counters, which needs no other element, go the other way round: the inner one over neighbours.
fn exchange(outer: &mut For, base: &Base) {
    let [Stmt { kind: StmtKind::For(inner), span }] = outer.body.as_slice() else { return };
    let [Stmt { kind: StmtKind::Assign(to, e), .. }] = inner.body.as_slice() else { return };
    let counts = |l: &For| trip(l).is_some_and(|(n, _)| n > 0) && !l.abreast && !jumps(&l.body);
    let at = |p: &Place, step: usize, var: LocalId| matches!(&p.path[step], Proj::Index(e) if matches!(&e.kind, ExprKind::Load(q) if q.as_local() == Some(var)));
    if to.base != *base || to.path.len() != 2 || !counts(outer) || !counts(inner) {
        return;
    }
    let own = |p: &Place| p.path.len() == 2 && at(p, 0, inner.var) && at(p, 1, outer.var);
    let mut alone = own(to) && outer.var != inner.var;
    e.walk(&mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            alone &= p.base != *base || own(p);
        }
    });
    if alone {
        let span = *span;
        // for vectors: clang would write out few turns, and then find vectors of others
        let abreast = trip(outer).is_some_and(|(n, _)| n >= LANES);
        let within = For { body: inner.body.clone(), abreast, ..outer.clone() };
        *outer = For { body: vec![StmtKind::For(Box::new(within)).at(span)], ..inner.as_ref().clone() };
    }
}

/// What the layout of an array is good for.
#[derive(Default)]
struct Weight {
    /// Loops whose turns go in vectors.
    loops: usize,
    /// Elements of the array that such turns look at.
    vectors: u64,
    /// Elements that neighbouring turns of other loops look at, and that do not lie side by side.
    apart: u64,
}

fn weighed(kernel: &Kernel, base: &Base) -> Weight {
    let mut marked = kernel.clone();
    turns_abreast::run(&mut marked);
    let mut weight = Weight::default();
    for i in functions(&marked, base) {
        let f = &marked.functions[i];
        weight.body(f, &f.body, base, (1, None, false));
    }
    weight
}

impl Weight {
    /// `around`: how often the statements are executed, what the innermost loop around them counts, and whether that is in vectors.
    fn body(&mut self, f: &Function, body: &[Stmt], base: &Base, around: (u64, Option<LocalId>, bool)) {
        let (times, counter, vectors) = around;
        for s in body {
            let mut look = |p: &Place| {
                let counts = |step: &Proj| matches!(step, Proj::Index(e) if e.any(&mut |e| matches!(&e.kind, ExprKind::Load(q) if q.as_local().is_some() && q.as_local() == counter)));
                match p.path.as_slice() {
                    [first, last] if p.base == *base => {
                        if vectors {
                            self.vectors = self.vectors.saturating_add(times);
                        } else if counts(first) && !counts(last) {
                            self.apart = self.apart.saturating_add(times);
                        }
                    }
                    _ => {}
                }
            };
            s.kind.targets().into_iter().for_each(&mut look);
            s.kind.each_own_expr(&mut |e| {
                e.walk(&mut |e| {
                    if let ExprKind::Load(p) = &e.kind {
                        look(p);
                    }
                });
            });
            match &s.kind {
                StmtKind::For(l) => {
                    let nest = turns_abreast::nest(f, l).is_some();
                    self.loops += usize::from(nest);
                    let turns = times.saturating_mul(trip(l).map_or(SOME, |(n, _)| n));
                    self.body(f, &l.body, base, (turns, Some(l.var), vectors || nest));
                }
                _ => s.kind.bodies().into_iter().for_each(|b| self.body(f, b, base, around)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
