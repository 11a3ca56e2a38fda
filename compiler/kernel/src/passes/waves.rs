//! # waves
//!
//! Purpose: filters with state that follow one another and do the same, each with numbers of its own, are lanes of one vector: each works at the item that the one before it had a firing earlier. So
//! one recurrence is waited for in place of all, and one operation is done for all of them. Input: a kernel, fused. Output: [`Wave`]; C is printed of it.
//!
//! ```text
//! $1 = ((0.5f * $0) + state0)  state0 = (0.3f * $1)      ← section 0, of the item of firing t
//! $2 = ((0.6f * $1) + state1)  state1 = (0.2f * $2)      ← section 1, of the item of firing t - 1
//!   →   #2 = ((#numbers0 * #passed) + #field)  #field = (#numbers1 * #2),   #passed = #2 of the lane before
//! ```
//!
//! What must hold: the sections are the same but for their numbers and fields; each has fields of its own, and takes from the one before what that has last, and nothing else that a firing makes. Then no
//! section needs anything of its own firing but what the section before has done a step earlier, or two: step t does section k of firing t - k, for all k, or of t - 2k, so that what is passed on from
//! lane to lane has a step to arrive. What comes before the sections is done in step t for firing t, what comes behind them for that of the last one; neither shares a field with anything else. All
//! operations are those of a firing, in its order: no bit changes.

mod ahead;
mod branches;
mod cost;
#[cfg(test)]
mod tests;

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Sections, at least: fewer wait for one another no longer than lanes wait for what they pass on.
pub const FEWEST: usize = 4;
/// At most: two of the widest vectors. More of them would not stay in registers.
pub const MOST: usize = 32;
/// Statements of a section, at most.
const LONGEST: usize = 40;

/// Items that a filter takes and gives, at most: each is a vector.
const MOST_ITEMS: usize = 4;
/// Statements before and behind the sections, at most: they are in the text three times.
const AROUND: usize = 300;
/// Statements of sections that are looked at, at most, in search of a wave.
const LOOKED_AT: usize = 1 << 14;
/// Statements of a firing, at most.
const LARGEST: usize = MOST * LONGEST;

/// Sections of a firing that are lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Wave {
    /// Where the first one begins in the body of `work`.
    pub first: usize,
    /// Statements of each.
    pub length: usize,
    /// How many there are.
    pub sections: usize,
    /// Firings between that of a section and that of the next one, in the same step: 1, or 2 where a lane would wait for what is passed on.
    pub apart: usize,
    /// Equal branches that go side by side, 1 for none: of sections that are loops over them. Lane k * branches + b is section k of branch b.
    pub branches: usize,
    /// What such loops count, in what is said of the first section's values, and of numbers.
    pub counter: Option<LocalId>,
    /// What a section does: the variable that it assigns, and the value, whose only loads are of variables, as locals with their numbers.
    pub steps: Vec<(usize, Expr)>,
    /// Its variables.
    pub vars: Vec<Var>,
    /// What comes behind the sections reads this of the last one: the local or field that it is, and the variable.
    pub outcome: Vec<(Base, usize)>,
}

/// A field, or one element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// Which.
    pub state: StateId,
    /// Which element.
    pub element: Option<i32>,
}

impl Field {
    fn of(p: &Place) -> Option<Field> {
        match (&p.base, p.path.as_slice()) {
            (Base::State(state), []) => Some(Field { state: *state, element: None }),
            (Base::State(state), [Proj::Index(e)]) => Some(Field { state: *state, element: Some(e.as_int()?) }),
            _ => None,
        }
    }
}

/// A variable of the sections: one value for each of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Var {
    /// Of a firing.
    Own(Ty),
    /// A field, by section.
    Field(Ty, Vec<Field>),
    /// A number that stays as it is, by section: a constant, or an element of a table.
    Number(Ty, Vec<Expr>),
    /// What the section before has last in a variable; the first section's value.
    Passed(Ty, usize, Expr),
}

impl Var {
    /// Its values' type.
    pub fn ty(&self) -> &Ty {
        match self {
            Var::Own(ty) | Var::Field(ty, _) | Var::Number(ty, _) | Var::Passed(ty, ..) => ty,
        }
    }
}

impl Wave {
    /// Its lanes.
    pub fn lanes(&self) -> usize {
        self.sections * self.branches
    }

    /// What comes before the sections in a firing, and behind them.
    pub fn around<'a>(&self, body: &'a [Stmt]) -> (&'a [Stmt], &'a [Stmt]) {
        (&body[..self.first], &body[self.first + self.length * self.sections..])
    }
}

/// The largest wave of a kernel's firing, where it pays.
pub fn wave(kernel: &Kernel) -> Option<Wave> {
    let plain = kernel.lanes.is_none() && kernel.steps.is_none() && kernel.work.dynamic.is_none();
    if !plain || !kernel.tapes.is_empty() || kernel.uses_iter() {
        return None;
    }
    let f = kernel.function(kernel.work.function);
    let keeps: Vec<bool> =
        f.body.iter().map(|s| s.kind.targets().iter().any(|p| matches!(p.base, Base::State(_)))).collect();
    if f.body.len() > LARGEST || keeps.iter().filter(|k| **k).count() < FEWEST {
        return branches::wave(kernel);
    }
    let shapes: Vec<Option<u64>> = f.body.iter().map(|s| shape(kernel, f, s)).collect();
    let given = given(&f.body);
    let mut left = LOOKED_AT;
    let mut best: Option<Wave> = None;
    for length in 1..=LONGEST.min(f.body.len() / FEWEST) {
        // several sections as one are fewer
        if best.as_ref().is_some_and(|b| length % b.length == 0) {
            continue;
        }
        let mut at = 0;
        while at + length < shapes.len() {
            let same = |i: &usize| shapes[*i].is_some() && shapes[*i] == shapes[*i + length];
            let end = at + length + (at..shapes.len() - length).take_while(same).count();
            while at + FEWEST * length <= end {
                let look = Look { kernel, f, first: at, length, counter: None };
                let stateful = keeps[at..at + length].contains(&true);
                let goes_on =
                    || given[at + length..at + 2 * length].iter().flatten().any(|i| (at..at + length).contains(i));
                let found = if left > 0 && stateful && goes_on() {
                    left = left.saturating_sub(2 * length);
                    look.wave(((end - at) / length).min(MOST))
                } else {
                    None
                };
                at += found.as_ref().map_or(1, |w| w.sections * length);
                let more = |w: &Wave| best.as_ref().is_none_or(|b| w.length * w.sections > b.length * b.sections);
                best = found.filter(more).or(best);
            }
            at = at.max(end - length) + 1;
        }
    }
    best.and_then(cost::paying).or_else(|| branches::wave(kernel))
}

/// By statement: which ones have last assigned what it reads.
fn given(body: &[Stmt]) -> Vec<Vec<usize>> {
    let key = |p: &Place| match p.as_local() {
        Some(id) => Some((Some(id), None)),
        None => Field::of(p).map(|f| (None, Some(f))),
    };
    let mut last = BTreeMap::new();
    let mut all = Vec::new();
    for (i, s) in body.iter().enumerate() {
        let mut of = Vec::new();
        if let StmtKind::Assign(p, e) = &s.kind {
            e.walk(&mut |e| {
                if let ExprKind::Load(p) = &e.kind {
                    of.extend(key(p).and_then(|k| last.get(&k)).copied());
                }
            });
            last.extend(key(p).map(|k| (k, i)));
        }
        all.push(of);
    }
    all
}

/// Would so many of a filter be a wave that pays, one after another? It is one that gives as many items as it takes.
pub fn may_be(kernel: &Kernel, filters: usize) -> bool {
    let f = kernel.function(kernel.work.function);
    let Rates { peek, pop, push } = kernel.work.rates;
    let plain = |s: &Stmt| matches!(s.kind, StmtKind::Assign(..));
    let items = pop as usize;
    if !(1..=MOST_ITEMS).contains(&items)
        || (peek, push) != (pop, pop)
        || f.body.len() > LONGEST
        || !f.body.iter().all(plain)
    {
        return false;
    }
    let mut all = kernel.clone();
    all.state.clear();
    let mut work = Function { body: Vec::new(), locals: Vec::new(), ..f.clone() };
    let mut given: Vec<LocalId> = Vec::new();
    let item = |all: &[LocalId], at: &Expr| at.as_int().and_then(|i| all.get(usize::try_from(i).ok()?).copied());
    for _ in 0..filters {
        let (locals, fields) = (work.locals.len(), all.state.len());
        all.state.extend(kernel.state.iter().cloned());
        work.locals.extend(f.locals.iter().cloned());
        let gives: Vec<LocalId> =
            (0..items).map(|_| super::lanes::fresh(&mut work, "item", kernel.output.clone())).collect();
        let mut body = f.body.clone();
        walk::each_place_mut(&mut body, &mut |p| {
            p.base = match &p.base {
                Base::Local(id) => Base::Local(LocalId::from(locals + id.index())),
                Base::State(id) => Base::State(StateId::from(fields + id.index())),
                Base::In(at) => item(&given, at).map_or_else(|| p.base.clone(), Base::Local),
                Base::Out(at) => item(&gives, at).map_or_else(|| p.base.clone(), Base::Local),
                Base::Table(_) | Base::Peek(_) => p.base.clone(),
            };
        });
        work.body.extend(body);
        given = gives;
    }
    for (i, id) in given.into_iter().enumerate() {
        let out = Place { base: Base::Out(Box::new(Expr::int(i as i32))), path: Vec::new() };
        let kind = StmtKind::Assign(out, Expr::local(id, kernel.output.clone()));
        work.body.push(Stmt { kind, span: f.span });
    }
    all.functions[kernel.work.function.index()] = work;
    wave(&all).is_some_and(|w| w.sections == filters)
}

/// What statements of equal sections have in common; `None` for what is not one of lanes.
fn shape(kernel: &Kernel, f: &Function, s: &Stmt) -> Option<u64> {
    let StmtKind::Assign(p, e) = &s.kind else { return None };
    let mut hash = DefaultHasher::new();
    match p.as_local() {
        Some(id) => (0, &f.locals[id.index()].ty).hash(&mut hash),
        None => (1, field_type(kernel, Field::of(p)?)?).hash(&mut hash),
    }
    operations(e, &mut hash).then(|| hash.finish())
}

/// Notes an expression's operations. Are all of them those of lanes?
fn operations(e: &Expr, hash: &mut DefaultHasher) -> bool {
    e.ty.hash(hash);
    let ok = match &e.kind {
        // what is loaded, and from where, is looked at later
        ExprKind::Const(_) | ExprKind::Zero | ExprKind::Load(_) => return of_lanes(&e.ty),
        ExprKind::Unary(op, _) => {
            (2, *op as u8).hash(hash);
            true
        }
        ExprKind::Binary(op, a, _) => {
            (3, *op as u8).hash(hash);
            // a lane whose firing is none might divide by 0
            !(matches!(op, BinaryOp::Div | BinaryOp::Rem) && a.ty == Ty::Int)
        }
        ExprKind::Select(..) => true,
        ExprKind::Convert(_) => true,
        ExprKind::Builtin(b, _) => {
            b.hash(hash);
            super::lanes::is_of_vectors(*b)
        }
        _ => false,
    };
    let mut all = ok && of_lanes(&e.ty);
    e.each_operand(&mut |x| all = all && operations(x, hash));
    all
}

/// The type of a field that is a number, or of an element.
fn field_type(kernel: &Kernel, field: Field) -> Option<&Ty> {
    let ty = match (&kernel.state[field.state.index()].ty, field.element) {
        (Ty::Array(e, _), Some(_)) => e,
        (ty, None) => ty,
        _ => return None,
    };
    matches!(ty, Ty::Float | Ty::Int).then_some(ty)
}

fn of_lanes(ty: &Ty) -> bool {
    matches!(ty, Ty::Float | Ty::Int | Ty::Bool)
}

/// Sections that begin somewhere.
struct Look<'k> {
    kernel: &'k Kernel,
    f: &'k Function,
    first: usize,
    length: usize,
    /// Of a loop's turns: what it counts.
    counter: Option<LocalId>,
}

/// One section, in the variables' numbers.
#[derive(Default)]
struct Section {
    steps: Vec<(usize, Expr)>,
    types: Vec<Ty>,
    /// By variable: what it is here.
    own: BTreeMap<usize, LocalId>,
    fields: BTreeMap<usize, Field>,
    numbers: BTreeMap<usize, Expr>,
    passed: BTreeMap<usize, Expr>,
    written: BTreeSet<Field>,
}

impl Section {
    /// The variable that holds a local or field, once it is assigned.
    fn holds(&self, p: &Place) -> Option<usize> {
        let own = |id: LocalId| self.own.iter().find(|(_, l)| **l == id).map(|(var, _)| *var);
        let field = |f: Field| self.fields.iter().find(|(_, other)| **other == f).map(|(var, _)| *var);
        p.as_local().and_then(own).or_else(|| Field::of(p).and_then(field))
    }

    fn var(&mut self, ty: &Ty) -> usize {
        self.types.push(ty.clone());
        self.types.len() - 1
    }
}

impl Look<'_> {
    fn fewest(&self) -> usize {
        if self.counter.is_some() { 2 } else { FEWEST }
    }

    fn statements(&self, k: usize) -> &[Stmt] {
        &self.f.body[self.first + k * self.length..][..self.length]
    }

    /// As many sections as are the same, `most` at most.
    fn wave(&self, most: usize) -> Option<Wave> {
        let mut sections: Vec<Section> = Vec::new();
        // what each section takes from the one before
        let mut from: Option<Vec<usize>> = None;
        for k in 0..most {
            let Some(s) = self.section(k, sections.last()) else { break };
            if let Some(before) = sections.last() {
                let first = &sections[0];
                let kinds = |s: &Section| {
                    let vars = |m: Vec<&usize>| m.into_iter().copied().collect::<Vec<_>>();
                    (vars(s.own.keys().collect()), vars(s.fields.keys().collect()), vars(s.passed.keys().collect()))
                };
                let source = |e: &Expr| if let ExprKind::Load(p) = &e.kind { before.holds(p) } else { None };
                let sources: Option<Vec<usize>> = s.passed.values().map(source).collect();
                let same = s.steps == first.steps && s.types == first.types && kinds(&s) == kinds(first);
                let others = sections.iter().any(|o| o.fields.values().any(|id| s.fields.values().any(|x| x == id)));
                if !same || others || sources.is_none() || from.as_ref().is_some_and(|f| sources.as_ref() != Some(f)) {
                    break;
                }
                from = sources;
            }
            sections.push(s);
        }
        let from = from.filter(|_| sections.len() >= self.fewest())?;
        let outcome = self.around(&sections)?;
        let first = &sections[0];
        let mut passed = from.into_iter();
        let vars = (first.types.iter().enumerate())
            .map(|(i, ty)| {
                let ty = ty.clone();
                let all = |of: fn(&Section) -> &BTreeMap<usize, Expr>| {
                    sections.iter().map(|s| of(s)[&i].clone()).collect::<Vec<_>>()
                };
                if first.own.contains_key(&i) {
                    Some(Var::Own(ty))
                } else if first.fields.contains_key(&i) {
                    Some(Var::Field(ty, sections.iter().map(|s| s.fields[&i]).collect()))
                } else if first.numbers.contains_key(&i) {
                    Some(Var::Number(ty, all(|s| &s.numbers)))
                } else {
                    Some(Var::Passed(ty, passed.next()?, first.passed.get(&i)?.clone()))
                }
            })
            .collect::<Option<Vec<Var>>>()?;
        let steps = first.steps.clone();
        let (first, length, counter) = (self.first, self.length, self.counter);
        Some(Wave { first, length, sections: sections.len(), apart: 1, branches: 1, counter, steps, vars, outcome })
    }

    /// A section, in variables that are numbered as they occur.
    fn section(&self, k: usize, before: Option<&Section>) -> Option<Section> {
        let body = self.statements(k);
        let mut s = Section::default();
        for stmt in body {
            if let StmtKind::Assign(p, _) = &stmt.kind {
                s.written.extend(Field::of(p));
            }
        }
        for stmt in body {
            let StmtKind::Assign(p, e) = &stmt.kind else { return None };
            let value = self.value(&mut s, e, before)?;
            let var = match (s.holds(p), p.as_local()) {
                (Some(var), _) => var,
                (None, Some(id)) => {
                    let var = s.var(&self.f.locals[id.index()].ty);
                    s.own.insert(var, id);
                    var
                }
                (None, None) => self.field(&mut s, Field::of(p)?)?,
            };
            s.steps.push((var, value));
        }
        Some(s)
    }

    fn field(&self, s: &mut Section, field: Field) -> Option<usize> {
        let var = s.var(field_type(self.kernel, field)?);
        s.fields.insert(var, field);
        Some(var)
    }

    fn value(&self, s: &mut Section, e: &Expr, before: Option<&Section>) -> Option<Expr> {
        let number = matches!(e.ty, Ty::Float | Ty::Int);
        let var = match &e.kind {
            _ if number && e.as_const().is_some() => {
                let var = s.var(&e.ty);
                s.numbers.insert(var, e.clone());
                var
            }
            ExprKind::Load(p) => match (s.holds(p), &p.base) {
                (_, Base::Table(_)) if number && p.path.iter().all(|step| self.known(step)) => {
                    let var = s.var(&e.ty);
                    s.numbers.insert(var, e.clone());
                    var
                }
                (_, Base::In(at)) if number && before.is_none() && p.path.is_empty() && self.known_index(at) => {
                    self.passed(s, e)
                }
                (Some(var), _) => var,
                (None, Base::Local(_)) if number && p.path.is_empty() => self.passed(s, e),
                (None, Base::State(_)) => {
                    let field = Field::of(p)?;
                    let elsewhere = match before {
                        Some(before) => before.written.contains(&field),
                        None => writes(&self.f.body[..self.first], field.state),
                    };
                    if elsewhere && !s.written.contains(&field) { self.passed(s, e) } else { self.field(s, field)? }
                }
                _ => return None,
            },
            _ => {
                // operands from left to right, as in every section
                let mut copy = e.clone();
                let mut ok = true;
                copy.each_operand_mut(&mut |x| match self.value(s, x, before) {
                    Some(new) => *x = new,
                    None => ok = false,
                });
                return ok.then_some(copy);
            }
        };
        Some(Expr::local(LocalId::from(var), e.ty.clone()))
    }

    /// Is a step into a table known, for each branch?
    fn known(&self, step: &Proj) -> bool {
        if let Proj::Index(e) = step { self.known_index(e) } else { true }
    }

    fn known_index(&self, e: &Expr) -> bool {
        let counted = |p: &Place| self.counter.is_some() && p.as_local() == self.counter;
        e.as_int().is_some() || matches!(&e.kind, ExprKind::Load(p) if counted(p))
    }

    /// What the section before has in a place, or what comes before the first one.
    fn passed(&self, s: &mut Section, e: &Expr) -> usize {
        if let Some((var, _)) = s.passed.iter().find(|(_, other)| *other == e) {
            return *var;
        }
        let var = s.var(&e.ty);
        s.passed.insert(var, e.clone());
        var
    }

    /// What comes before the sections, and behind them: does it do without what they have, but for the last one's values? Which of these it reads.
    fn around(&self, sections: &[Section]) -> Option<Vec<(Base, usize)>> {
        let (head, rest) = self.f.body.split_at(self.first);
        let tail = &rest[self.length * sections.len()..];
        let fields: BTreeSet<StateId> = sections.iter().flat_map(|s| s.fields.values().map(|f| f.state)).collect();
        let last = sections.last()?;
        let mut ok = walk::count(head) + walk::count(tail) <= AROUND;
        // a firing's text and messages come in its order
        let in_order = |s: &Stmt| {
            use StmtKind::*;
            matches!(s.kind, Assign(..) | If(..) | For(_) | Loop(_) | Block(_) | Break(_) | Continue(_) | Check(_))
        };
        let (mut before, mut behind) = (Touched::default(), Touched::default());
        for (body, touched) in [(head, &mut before), (tail, &mut behind)] {
            walk::each_stmt(body, &mut |s| {
                ok &= in_order(s);
                s.kind.targets().into_iter().for_each(|p| touched.write(&p.base));
            });
            walk::each_expr(body, &mut |e| {
                if let ExprKind::Load(p) = &e.kind {
                    touched.read(&p.base);
                }
            });
            walk::each_stmt(body, &mut |s| {
                if let StmtKind::For(l) = &s.kind {
                    touched.write(&Base::Local(l.var));
                }
            });
        }
        let of_both = |x: &BTreeSet<StateId>, y: &BTreeSet<StateId>| x.intersection(y).next().is_some();
        let all = |t: &Touched| t.fields_read.union(&t.fields_written).copied().collect::<BTreeSet<_>>();
        ok &= !before.out && !behind.input;
        ok &= !of_both(&all(&before), &fields) && !of_both(&behind.fields_written, &fields);
        // a field that neither writes may be read by both
        ok &= !of_both(&all(&before), &behind.fields_written) && !of_both(&before.fields_written, &all(&behind));
        let mut outcome = Vec::new();
        for id in behind.fields_read.intersection(&fields) {
            outcome.push((Base::State(*id), last.holds(&Place::state(*id))?));
        }
        // turns of more loops, as they are here
        for id in behind.locals_read.iter().filter(|id| Some(**id) != self.counter) {
            match last.holds(&Place::local(*id)) {
                Some(var) if !behind.locals_written.contains(id) => outcome.push((Base::Local(*id), var)),
                // the firing's own, assigned before it is read
                None if behind.locals_written.contains(id) => {
                    let made = |s: &Section| s.holds(&Place::local(*id)).is_some();
                    ok &= !before.locals_written.contains(id) && !sections.iter().any(made);
                }
                _ => return None,
            }
        }
        ok.then_some(outcome)
    }
}

/// What statements read and write.
#[derive(Default)]
struct Touched {
    fields_read: BTreeSet<StateId>,
    fields_written: BTreeSet<StateId>,
    locals_read: BTreeSet<LocalId>,
    locals_written: BTreeSet<LocalId>,
    input: bool,
    out: bool,
}

impl Touched {
    fn read(&mut self, base: &Base) {
        match base {
            Base::State(id) => drop(self.fields_read.insert(*id)),
            Base::Local(id) => drop(self.locals_read.insert(*id)),
            Base::In(_) | Base::Peek(_) => self.input = true,
            Base::Out(_) => self.out = true,
            Base::Table(_) => {}
        }
    }

    fn write(&mut self, base: &Base) {
        match base {
            Base::State(id) => drop(self.fields_written.insert(*id)),
            Base::Local(id) => drop(self.locals_written.insert(*id)),
            _ => self.read(base),
        }
    }
}

fn writes(body: &[Stmt], id: StateId) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| found |= s.kind.targets().iter().any(|p| p.base == Base::State(id)));
    found
}
