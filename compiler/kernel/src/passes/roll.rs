//! # roll
//!
//! Purpose: what a firing in lanes does again and again in other places, as a loop: equal branches that have become one filter would be so many copies of the same code, more than a processor
//! keeps at hand. Input: a kernel with lanes, after `lanes`. Output: the same, the lanes' function perhaps with a loop, or two within each other, and as many variables more.
//!
//! ```text
//! $a[0] = (in(0) * in(9))  …  out(0) = $a[0]    $b[0] = (in(0) * in(12))  …  out(3) = $b[0]    $c[0] = (in(48) * in(9))  …    $d[0] = (in(48) * in(12))  …
//!   →   for $r = 0 < 2 { for $c = 0 < 2 { $a[0] = (in((48 * $r)) * in(((3 * $c) + 9)))  …  out(((36 * $r) + (3 * $c))) = $a[0] } }
//! ```
//!
//! Copies follow one another in the list of the function itself, are equal but for ints and variables, and each int is what the first copy has and as much more for each turn of a loop. So the same
//! operations happen in the same order. A variable that differs from copy to copy becomes the first copy's; what must hold for that: it is read in that copy alone, and nothing of it before
//! it is written there, which is seen by running through the copy with the numbers of its loops.

use super::clean::trip;
use super::direct_outputs::known_int;
use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Copies that are worth a loop.
const FEWEST: usize = 3;
/// Operations of a copy that are: a turn costs a few.
const LEAST: usize = 64;
/// Operations of all copies that are: fewer are at hand anyway.
const LEAST_TOGETHER: usize = 1024;
/// Statements of a list that is looked at.
const LONGEST: usize = 4000;
/// Ways to see copies in a list that are tried, those that cover most first.
const TRIES: usize = 32;
/// Statements before copies that may look like the end of one.
const MOST_BEFORE: usize = 7;
/// Statements of copies that are run through.
const MOST_STEPS: usize = 1 << 18;

/// Finds copies in the lanes' function.
pub fn run(kernel: &mut Kernel) {
    let Some(lanes) = &mut kernel.lanes else { return };
    let f = &mut kernel.functions[lanes.function.index()];
    if f.body.len() > LONGEST {
        return;
    }
    let listed = Listed::of(&f.body);
    for copies in listed.candidates() {
        if let Some(found) = listed.loops(f, copies) {
            found.write(f, copies, &listed);
            lanes.varying.resize(f.locals.len(), false);
            return;
        }
    }
}

/// Statements `first..first + length * count` of a list are `count` copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Copies {
    first: usize,
    length: usize,
    count: usize,
}

impl Copies {
    fn copy(self, list: &[Stmt], k: usize) -> &[Stmt] {
        let at = self.first + k * self.length;
        &list[at..at + self.length]
    }
}

/// A list of statements, and what they are but for ints and variables.
struct Listed {
    /// The statements; each index that is no constant is a sum with one, perhaps 0, in the end.
    list: Vec<Stmt>,
    /// By statement: equal numbers for statements that differ in ints and variables only.
    kinds: Vec<usize>,
    /// Operations before each statement.
    sizes: Vec<usize>,
    /// The first and the last statement that a variable is read in.
    read: BTreeMap<LocalId, (usize, usize)>,
}

impl Listed {
    fn of(body: &[Stmt]) -> Listed {
        let mut list = body.to_vec();
        walk::each_place_mut(&mut list, &mut |p| {
            if let Base::In(e) | Base::Out(e) = &mut p.base {
                offset(e);
            }
            for step in &mut p.path {
                if let Proj::Index(e) = step {
                    offset(e);
                }
            }
        });
        let mut known: BTreeMap<String, Vec<(Stmt, usize)>> = BTreeMap::new();
        let mut read: BTreeMap<LocalId, (usize, usize)> = BTreeMap::new();
        let (mut kinds, mut sizes) = (Vec::new(), vec![0]);
        for (i, s) in list.iter().enumerate() {
            let mut bare = [s.clone()];
            reads(&bare, &mut |id| read.entry(id).or_insert((i, i)).1 = i);
            let mut size = 0;
            walk::each_expr(&bare, &mut |_| size += 1);
            sizes.push(sizes[i] + size);
            walk::each_local_mut(&mut bare, &mut |id| *id = LocalId(0));
            ints_mut(&mut bare, &mut |e| *e = Expr::int(0));
            walk::each_stmt_mut(&mut bare, &mut |s| s.span = list[0].span);
            let [bare] = bare;
            // texts of numbers may be equal where these are not: a NaN's
            let alike = known.entry(format!("{:?}", bare.kind)).or_default();
            let kind = alike.iter().find(|(s, _)| *s == bare).map_or(i, |(_, kind)| *kind);
            if kind == i {
                alike.push((bare, i));
            }
            kinds.push(kind);
        }
        Listed { list, kinds, sizes, read }
    }

    fn size(&self, copies: Copies) -> usize {
        self.sizes[copies.first + copies.length * copies.count] - self.sizes[copies.first]
    }

    /// Where copies may be, those that are most together first.
    fn candidates(&self) -> Vec<Copies> {
        let n = self.kinds.len();
        let mut found = Vec::new();
        for length in 1..=n / FEWEST {
            let mut first = 0;
            while first + length < n {
                let same = (first..n - length).take_while(|i| self.kinds[*i] == self.kinds[i + length]).count();
                // what is before the first copy may end as copies do
                for before in 0..=(same % length).min(MOST_BEFORE) {
                    let copies = Copies { first: first + before, length, count: same / length + 1 };
                    if copies.count >= FEWEST
                        && self.size(copies) >= LEAST_TOGETHER
                        && self.size(copies) >= LEAST * copies.count
                    {
                        found.push(copies);
                    }
                }
                first += same + 1;
            }
        }
        // of as many, the smaller copies
        found.sort_by_key(|c| (std::cmp::Reverse(self.size(*c)), c.length));
        found.truncate(TRIES);
        found
    }

    /// How these copies are loops, where they are.
    fn loops(&self, f: &Function, copies: Copies) -> Option<Loops> {
        let all =
            |of: &dyn Fn(&[Stmt]) -> Vec<i32>| (0..copies.count).map(|k| of(copies.copy(&self.list, k))).collect();
        let ints: Vec<Vec<i32>> = all(&ints);
        let loops = Loops::of(&ints)?;
        let mut steps = 0;
        let first = locals(copies.copy(&self.list, 0));
        let mut differs = vec![None; first.len()];
        for k in 1..copies.count {
            let ids = locals(copies.copy(&self.list, k));
            let (mut to, mut back) = (BTreeMap::new(), BTreeMap::new());
            for ((a, b), differs) in first.iter().zip(&ids).zip(&mut differs) {
                let one_to_one = *to.entry(*a).or_insert(*b) == *b && *back.entry(*b).or_insert(*a) == *a;
                if !one_to_one || *differs.get_or_insert(a != b) != (a != b) {
                    return None;
                }
            }
        }
        for k in 0..copies.count {
            let at = copies.first + k * copies.length;
            let ids = locals(copies.copy(&self.list, k));
            let own: BTreeSet<LocalId> =
                ids.iter().zip(&differs).filter(|(_, d)| **d == Some(true)).map(|(id, _)| *id).collect();
            let here = |id: &LocalId| {
                let read = self.read.get(id).is_none_or(|(from, to)| *from >= at && *to < at + copies.length);
                read && id.0 >= f.params && !f.locals[id.index()].by_ref
            };
            let same_type = || ids.iter().zip(&first).all(|(a, b)| f.locals[a.index()].ty == f.locals[b.index()].ty);
            if !own.iter().all(here) || !same_type() {
                return None;
            }
            let mut run = Run { own: &own, known: BTreeMap::new(), written: BTreeSet::new(), steps };
            copies.copy(&self.list, k).iter().try_for_each(|s| run.stmt(s))?;
            steps = run.steps;
        }
        Some(loops)
    }
}

/// A sum with a constant behind it, where it is no constant.
fn offset(e: &mut Expr) {
    let is_sum = matches!(&e.kind, ExprKind::Binary(BinaryOp::Add, _, b) if b.as_int().is_some());
    if e.as_int().is_none() && !is_sum {
        let plain = std::mem::replace(e, Expr::int(0));
        *e = Expr::binary(BinaryOp::Add, plain, Expr::int(0), Ty::Int);
    }
}

/// Calls `f` with every constant int but the bounds of loops.
fn ints_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    for s in body {
        if let StmtKind::For(l) = &mut s.kind {
            ints_mut(&mut l.body, f);
            continue;
        }
        s.kind.each_own_expr_mut(&mut |e| {
            e.walk_mut(&mut |e| {
                if matches!(e.kind, ExprKind::Const(Const::Int(_))) {
                    f(e);
                }
            });
        });
        for b in s.kind.bodies_mut() {
            ints_mut(b, f);
        }
    }
}

fn ints(body: &[Stmt]) -> Vec<i32> {
    let mut out = Vec::new();
    ints_mut(&mut body.to_vec(), &mut |e| out.extend(e.as_int()));
    out
}

/// Calls `f` with every variable that is read, or may be.
fn reads(body: &[Stmt], f: &mut dyn FnMut(LocalId)) {
    walk::each_expr(body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
            f(*id);
        }
    });
    walk::each_stmt(body, &mut |s| {
        if !matches!(s.kind, StmtKind::Assign(..)) {
            s.kind.targets().into_iter().for_each(|p| {
                if let Base::Local(id) = p.base {
                    f(id);
                }
            });
        }
    });
}

/// The variables that occur, each as often as it does.
fn locals(body: &[Stmt]) -> Vec<LocalId> {
    let mut out = Vec::new();
    walk::each_local_mut(&mut body.to_vec(), &mut |id| out.push(*id));
    out
}

/// One loop of `turns[1]`, or `turns[0]` of it, and what each int is: the first copy's, and how much more for each turn of either.
#[derive(Debug, PartialEq, Eq)]
struct Loops {
    turns: [usize; 2],
    ints: Vec<[i32; 3]>,
}

impl Loops {
    /// Of the ints of each copy.
    fn of(copies: &[Vec<i32>]) -> Option<Loops> {
        let n = copies.len();
        (1..=n).filter(|outer| n.is_multiple_of(*outer) && *outer < n).find_map(|outer| {
            let inner = n / outer;
            let each = (0..copies[0].len()).map(|i| {
                let of = |k: usize| i64::from(copies[k][i]);
                let (first, by_inner) = (of(0), of(1) - of(0));
                let by_outer = if outer > 1 { of(inner) - first } else { 0 };
                let fits = |k: usize| of(k) == first + (k / inner) as i64 * by_outer + (k % inner) as i64 * by_inner;
                let ints = [first, by_outer, by_inner].map(|x| i32::try_from(x).ok());
                if (0..n).all(fits) { Some([ints[0]?, ints[1]?, ints[2]?]) } else { None }
            });
            Some(Loops { turns: [outer, inner], ints: each.collect::<Option<_>>()? })
        })
    }

    /// The function with them in place of the copies.
    fn write(self, f: &mut Function, copies: Copies, listed: &Listed) {
        let vars = ["row", "column"].map(|name| {
            f.locals.push(Local { name: name.into(), ty: Ty::Int, by_ref: false });
            LocalId::from(f.locals.len() - 1)
        });
        let mut body = copies.copy(&listed.list, 0).to_vec();
        let mut at = self.ints.iter();
        ints_mut(&mut body, &mut |e| {
            let Some([first, by_outer, by_inner]) = at.next().copied() else { return };
            let times = |by: i32, var: LocalId| match by {
                0 => Expr::int(0),
                by => Expr::binary(BinaryOp::Mul, Expr::local(var, Ty::Int), Expr::int(by), Ty::Int),
            };
            *e = Expr::add(Expr::add(times(by_outer, vars[0]), times(by_inner, vars[1])), Expr::int(first));
        });
        walk::each_expr_mut(&mut body, &mut |e| {
            if let ExprKind::Binary(BinaryOp::Add, a, b) = &mut e.kind
                && e.ty == Ty::Int
                && b.as_int() == Some(0)
            {
                *e = std::mem::replace(&mut **a, Expr::int(0));
            }
        });
        let span = body[0].span;
        for (turns, var) in self.turns.into_iter().zip(vars).rev().filter(|(turns, _)| *turns > 1) {
            let to = Expr::int(turns as i32);
            let l = For { var, from: Expr::int(0), cmp: BinaryOp::Lt, to, step: 1, body, abreast: false };
            body = vec![StmtKind::For(Box::new(l)).at(span)];
        }
        f.body.splice(copies.first..copies.first + copies.length * copies.count, body);
    }
}

/// A way through a copy: is all that is read of its own variables written before?
struct Run<'a> {
    own: &'a BTreeSet<LocalId>,
    /// Ints that are known.
    known: BTreeMap<LocalId, i64>,
    /// Variables that are not arrays, and elements of arrays.
    written: BTreeSet<(LocalId, Option<i64>)>,
    steps: usize,
}

impl Run<'_> {
    fn stmt(&mut self, s: &Stmt) -> Option<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        match &s.kind {
            StmtKind::For(l) => {
                let (turns, last) = trip(l)?;
                let from = i64::from(l.from.as_int()?);
                self.written.insert((l.var, None));
                for t in 0..turns as i64 {
                    self.known.insert(l.var, from + t * i64::from(l.step));
                    l.body.iter().try_for_each(|s| self.stmt(s))?;
                }
                self.known.insert(l.var, last.into());
                Some(())
            }
            StmtKind::Assign(p, e) => {
                let mut fine = true;
                s.kind.each_own_expr(&mut |e| {
                    e.walk(&mut |e| {
                        if let ExprKind::Load(p) = &e.kind {
                            fine &= self.is_written(p);
                        }
                    });
                });
                self.write(p, e);
                fine.then_some(())
            }
            _ => None,
        }
    }

    fn is_written(&self, p: &Place) -> bool {
        let Base::Local(id) = p.base else { return true };
        !self.own.contains(&id)
            || match p.path.as_slice() {
                [] => self.written.contains(&(id, None)),
                [Proj::Index(at)] => {
                    known_int(&self.known, at).is_some_and(|at| self.written.contains(&(id, Some(at))))
                }
                _ => false,
            }
    }

    /// What is written to a place that is not known counts as not written.
    fn write(&mut self, p: &Place, e: &Expr) {
        let Base::Local(id) = p.base else { return };
        match p.path.as_slice() {
            [] => {
                let value = known_int(&self.known, e);
                self.known.remove(&id);
                self.known.extend(value.map(|n| (id, n)));
                self.written.insert((id, None));
            }
            [Proj::Index(at)] => self.written.extend(known_int(&self.known, at).map(|at| (id, Some(at)))),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
