//! # tabulate
//!
//! Purpose: what is found by look-ups one behind the other, or by one behind a question, from one int that has few values is one look-up in a table that is made at compile time. Input: a
//! kernel after `prove-checks`, for C alone. Output: the same, with more tables.
//!
//! ```text
//! if ($s != 0) { $s = table0[(table1[$s] + $j)] }                                  →   $s = table2[$j][$s]             $s in [0, 255], $j the variable of a loop from 0 to 15
//! if ($f == 0) { $r = 0 } else { check index $f 256  $r = table0[(table1[$f] + 7)] }   →   check index $f 256  $r = table3[$f]
//! ```
//!
//! What is tabulated is a run of statements of a list that comes to one variable, or a part of an expression; it depends on nothing but known tables, one int (the *key*) of at most [`VALUES`] values, and
//! the variable of one loop around of at most [`TURNS`] turns. Invariant: every value of the key, in every turn, has been computed by `sluice_frontend::ops`, and none of them fails. A check that
//! holds for the values of the key only stays, before the look-up, where all other values come to it first.
//!
//! Limits: [`MOST`] elements of new tables in a kernel, which should not drive its items out of the first cache. Only what looks up twice one behind the other, or once behind a
//! condition, is tabulated: arithmetic goes in vectors, look-ups hardly do.

mod known;
mod region;
#[cfg(test)]
mod tests;

use super::clean::trip;
use super::intervals::{Env, Facts, each_statement};
use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Values of a key, at most.
const VALUES: usize = 1024;
/// Turns of a loop whose variable has a row for each turn, at most.
const TURNS: u64 = 64;
/// Elements of the tables of a kernel that are made here, at most: 32 KiB.
const MOST: usize = 8192;
/// Statements of a run, and what is looked at of one: statements and operations.
const RUN: usize = 8;
const LARGEST: usize = 256;
/// How often statements are gone through for the tables of a kernel, at most, those that come to nothing included.
const TRIES: usize = 1 << 16;

/// The variable of a loop around: its values are so many from the least on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counter {
    var: LocalId,
    least: i32,
    turns: u64,
}

/// What becomes a look-up.
#[derive(Clone, Debug, PartialEq)]
struct Plan {
    /// Statements that it replaces, from the first on; 0 where it replaces an expression in one.
    statements: usize,
    /// That expression.
    old: Option<Expr>,
    /// The variable that the statements come to.
    result: Option<LocalId>,
    /// A check that stays.
    guard: Option<Stmt>,
    key: Expr,
    least: i32,
    counter: Option<Counter>,
    /// The type of an element, and the elements: a row for each value of the counter.
    ty: Ty,
    rows: Vec<Vec<Const>>,
}

impl Plan {
    fn elements(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    fn value(&self) -> Const {
        let row = |r: &Vec<Const>| Const::Array(r.clone().into());
        match (&self.counter, self.rows.as_slice()) {
            (None, [one]) => row(one),
            _ => Const::Array(self.rows.iter().map(row).collect::<Vec<Const>>().into()),
        }
    }

    fn look_up(&self, table: TableId) -> Expr {
        let at = |e: Expr, least: i32| Proj::Index(Expr::add(e, Expr::int(least.wrapping_neg())));
        let mut place = Place { base: Base::Table(table), path: Vec::new() };
        if let Some(c) = self.counter {
            place = place.then(at(Expr::local(c.var, Ty::Int), c.least));
        }
        Expr::load(place.then(at(self.key.clone(), self.least)), self.ty.clone())
    }
}

/// Tabulates in all functions.
pub fn run(kernel: &mut Kernel) {
    if !kernel.functions.iter().any(|f| looks_up(&f.body)) {
        return;
    }
    let facts = Facts::of(kernel);
    let (mut left, mut tries) = (MOST, TRIES);
    let mut all: Vec<BTreeMap<usize, Vec<(Plan, TableId)>>> = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    for f in &kernel.functions {
        let mut plans: BTreeMap<usize, Vec<Plan>> = BTreeMap::new();
        let mut doubtful = BTreeSet::new();
        if looks_up(&f.body) {
            let around = Around::of(f);
            let mut covered = BTreeSet::new();
            each_statement(kernel, &facts, f, &mut |s, env| {
                let at = std::ptr::from_ref(s) as usize;
                if covered.contains(&at) {
                    return;
                }
                let found = around.plans(kernel, s, env, &mut tries);
                // seen again where something else is known
                if plans.get(&at).is_some_and(|before| *before != found) {
                    doubtful.insert(at);
                }
                if let [Plan { statements: n @ 1.., .. }] = found.as_slice() {
                    let rest = around.rest.get(&at).copied().unwrap_or_default();
                    walk::each_stmt(&rest[..*n], &mut |s| {
                        covered.insert(std::ptr::from_ref(s) as usize);
                    });
                    covered.remove(&at);
                }
                plans.insert(at, found);
            });
        }
        let mut made: BTreeMap<usize, Vec<(Plan, TableId)>> = BTreeMap::new();
        for (at, plan) in plans
            .into_iter()
            .filter(|(at, _)| !doubtful.contains(at))
            .flat_map(|(at, all)| all.into_iter().map(move |p| (at, p)))
        {
            let value = plan.value();
            let known = tables.iter().position(|t| t.value == value);
            let number = match known {
                Some(i) => i,
                None if plan.elements() <= left => {
                    left -= plan.elements();
                    tables.push(Table {
                        name: "of".into(),
                        ty: type_of(&value, &plan.ty),
                        value,
                        shared: None,
                        own: None,
                    });
                    tables.len() - 1
                }
                None => continue,
            };
            made.entry(at).or_default().push((plan, TableId::from(kernel.tables.len() + number)));
        }
        all.push(made);
    }
    if tables.is_empty() {
        return;
    }
    kernel.tables.extend(tables);
    // statements have kept their addresses: nothing was moved since
    for (f, plans) in kernel.functions.iter_mut().zip(&all) {
        walk::each_body_mut(&mut f.body, &mut |list| replace(list, plans));
    }
    super::clean::run(kernel);
}

/// Puts the look-ups into a list of statements.
fn replace(list: &mut Vec<Stmt>, plans: &BTreeMap<usize, Vec<(Plan, TableId)>>) {
    let here: Vec<usize> = list.iter().map(|s| std::ptr::from_ref(s) as usize).collect();
    for (i, at) in here.into_iter().enumerate().rev() {
        for (plan, table) in plans.get(&at).into_iter().flatten() {
            let new = plan.look_up(*table);
            match (plan.result, &plan.old) {
                (Some(result), _) => {
                    let assign = StmtKind::Assign(Place::local(result), new).at(list[i].span);
                    let new: Vec<Stmt> = plan.guard.clone().into_iter().chain([assign]).collect();
                    list.splice(i..i + plan.statements, new);
                }
                (None, Some(old)) => list[i].kind.each_own_expr_mut(&mut |e| put(e, old, &new)),
                (None, None) => {}
            }
        }
    }
}

/// Puts an expression in the place of all that are equal to `old`.
fn put(e: &mut Expr, old: &Expr, new: &Expr) {
    if e == old {
        *e = new.clone();
    } else {
        e.each_operand_mut(&mut |e| put(e, old, new));
    }
}

fn type_of(value: &Const, element: &Ty) -> Ty {
    match value {
        Const::Array(items) => {
            let inner = items.first().map_or(element.clone(), |i| type_of(i, element));
            inner.array(items.len() as u32)
        }
        _ => element.clone(),
    }
}

/// Are there look-ups at all?
fn looks_up(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_expr(body, &mut |e| {
        found |=
            is_look_up(e) && e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if !matches!(p.base, Base::Table(_))))
    });
    found
}

fn is_look_up(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Load(Place { base: Base::Table(_), .. }))
}

/// What stands around statements of a function.
struct Around<'a> {
    f: &'a Function,
    /// By statement: it and those that follow it in its list.
    rest: BTreeMap<usize, &'a [Stmt]>,
    /// By statement: the loops around.
    counters: BTreeMap<usize, Vec<Counter>>,
    /// By local: how often it is read, and is it the variable of a loop?
    reads: Vec<usize>,
    counts: Vec<bool>,
}

impl<'a> Around<'a> {
    fn of(f: &'a Function) -> Around<'a> {
        let n = f.locals.len();
        let (rest, counters) = (BTreeMap::new(), BTreeMap::new());
        let mut around = Around { f, rest, counters, reads: vec![0; n], counts: vec![false; n] };
        around.list(&f.body, &mut Vec::new());
        walk::each_expr(&f.body, &mut |e| {
            if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
                around.reads[id.index()] += 1;
            }
        });
        // what is handed on by reference is read there
        walk::each_stmt(&f.body, &mut |s| {
            if let StmtKind::Call { args, .. } = &s.kind {
                for a in args {
                    if let Arg::Ref(Place { base: Base::Local(id), .. }) = a {
                        around.reads[id.index()] += 1;
                    }
                }
            }
        });
        around
    }

    fn list(&mut self, body: &'a [Stmt], counters: &mut Vec<Counter>) {
        for (i, s) in body.iter().enumerate() {
            let at = std::ptr::from_ref(s) as usize;
            // most statements look up nothing
            if looks_up(std::slice::from_ref(s)) || matches!(s.kind, StmtKind::Check(_)) {
                self.rest.insert(at, &body[i..]);
                self.counters.insert(at, counters.clone());
            }
            let counter = match &s.kind {
                StmtKind::For(l) => {
                    self.counts[l.var.index()] = true;
                    counter(l)
                }
                _ => None,
            };
            counters.extend(counter);
            s.kind.bodies().into_iter().for_each(|b| self.list(b, counters));
            if counter.is_some() {
                counters.pop();
            }
        }
    }

    /// Does the value depend on anything but the variables of loops? What they alone say is known where loops are written out, and a vector otherwise.
    fn is_data(&self, key: &Expr) -> bool {
        key.any(&mut |e| match &e.kind {
            ExprKind::Load(p) => match p.base {
                Base::Local(id) => !self.counts[id.index()],
                Base::Table(_) => false,
                _ => true,
            },
            _ => false,
        })
    }

    /// What becomes of a statement, alone or with those that follow, or of expressions in it.
    fn plans(&self, kernel: &Kernel, s: &'a Stmt, env: &Env<'_>, tries: &mut usize) -> Vec<Plan> {
        let at = std::ptr::from_ref(s) as usize;
        let (Some(rest), Some(counters)) = (self.rest.get(&at), self.counters.get(&at)) else { return Vec::new() };
        let most = region::eligible(rest).min(RUN);
        let run = (1..=most).rev().find_map(|n| region::plan(self, kernel, &rest[..n], env, counters, tries));
        if let Some(run) = run {
            return vec![run];
        }
        let mut out: Vec<Plan> = Vec::new();
        s.kind.each_own_expr(&mut |e| self.expressions(kernel, e, env, counters, tries, &mut out));
        out
    }

    /// The largest expressions in one that can be looked up.
    fn expressions(
        &self,
        kernel: &Kernel,
        e: &Expr,
        env: &Env<'_>,
        counters: &[Counter],
        tries: &mut usize,
        out: &mut Vec<Plan>,
    ) {
        if !e.any(&mut |e| is_look_up(e)) || out.iter().any(|p| p.old.as_ref() == Some(e)) {
            return;
        }
        match known::plan(self, kernel, e, env, counters, tries) {
            Some(plan) => out.push(plan),
            None => e.each_operand(&mut |e| self.expressions(kernel, e, env, counters, tries, out)),
        }
    }
}

fn counter(l: &For) -> Option<Counter> {
    let (turns, last) = trip(l).filter(|(n, _)| (1..=TURNS).contains(n))?;
    let least = match l.step {
        1 => l.from.as_int()?,
        -1 => last.checked_add(1)?,
        _ => return None,
    };
    Some(Counter { var: l.var, least, turns })
}
