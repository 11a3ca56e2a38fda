//! # int-sums
//!
//! Purpose: sums of ints that wait for one another, as integrators behind each other take them, without the waiting. Input: a kernel after all other passes, for C. Output: the same, where a firing only gives
//! sums with constant factors of what it finds: a loop over its items, with the factors as tables, which is a vector, and one sum for each field.
//!
//! ```text
//! state0 = (state0 + in(0))  state1 = (state1 + state0)  out(0) = state1  state1 = (state1 + state0)  out(1) = state1  …
//!   →   $0 = (in(0) + state0)  for $1 = 0 < 8 { out($1) = (state1 + (table0[$1] * $0)) }  state0, state1 = $0, (state1 + (8 * $0))
//! ```
//!
//! What must hold: ints wrap around, so that sums of them are the same in any order. A firing is assignments one after another, gives [`FEWEST`] items or more, and all of them are sums of the same few
//! values, and of more operations than the loop has: a sum over a window is none, for each item of it has factors of its own.

use crate::ir::*;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// Items of a firing: at least half of a usual vector, and not more than a C compiler writes out.
const FEWEST: u32 = 4;
const MOST: u32 = 256;
/// Values with factors of their own, at most.
const MOST_FACTORS: usize = 4;

/// Finds and replaces them in the firing.
pub fn run(kernel: &mut Kernel) {
    let push = kernel.work.rates.push;
    let usual =
        kernel.lanes.is_none() && kernel.steps.is_none() && kernel.tapes.is_empty() && kernel.work.dynamic.is_none();
    if !usual || kernel.output != Ty::Int || !(FEWEST..=MOST).contains(&push) || !push.is_multiple_of(FEWEST) {
        return;
    }
    if let Some(found) = find(kernel)
        && let Some(groups) = found.groups(push)
    {
        found.replace(kernel, &groups);
    }
}

/// What a firing finds: a field, an item, a variable that is no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Field(StateId),
    Item(i32),
    Local(LocalId),
}

/// A sum of such, each with a factor that is not 0, and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sum {
    terms: BTreeMap<Atom, i32>,
    plus: i32,
}

impl Sum {
    fn of(atom: Atom) -> Sum {
        Sum { terms: [(atom, 1)].into(), plus: 0 }
    }

    fn add(mut self, other: &Sum, factor: i32) -> Sum {
        self.plus = self.plus.wrapping_add(other.plus.wrapping_mul(factor));
        for (atom, n) in &other.terms {
            let all = self.terms.entry(*atom).or_insert(0);
            *all = all.wrapping_add(n.wrapping_mul(factor));
        }
        self.terms.retain(|_, n| *n != 0);
        self
    }

    /// The same with a variable in place of what is in it, where all of that has one factor.
    fn by(mut self, id: LocalId, atoms: &[(Atom, i32)]) -> Sum {
        let factor = |(atom, sign): &(Atom, i32)| Some(self.terms.get(atom)?.wrapping_mul(*sign));
        let Some(n) = atoms.first().and_then(factor) else { return self };
        if atoms.iter().all(|a| factor(a) == Some(n)) {
            self.terms.retain(|t, _| atoms.iter().all(|(atom, _)| atom != t));
            self.terms.insert(Atom::Local(id), n);
        }
        self
    }
}

/// By factors, that of each item: what has them, as it is (1) or taken off (-1).
type Groups = BTreeMap<Vec<i32>, Vec<(Atom, i32)>>;

#[derive(Default)]
struct Found {
    /// Statements that give what is no sum.
    kept: Vec<Stmt>,
    locals: BTreeMap<LocalId, Sum>,
    fields: BTreeMap<StateId, Sum>,
    items: BTreeMap<i32, Sum>,
    /// Additions that were gone through.
    operations: usize,
}

/// Goes through the firing. `None` where it does something else, too.
fn find(kernel: &Kernel) -> Option<Found> {
    let f = kernel.function(kernel.work.function);
    let mut found = Found::default();
    for s in &f.body {
        let StmtKind::Assign(p, e) = &s.kind else { return None };
        let sum = found.sum(e);
        match (&p.base, &p.path[..]) {
            (Base::Local(id), []) => match sum {
                Some(sum) => drop(found.locals.insert(*id, sum)),
                None => {
                    let mut written = 0;
                    walk::each_written(&f.body, &mut |other| written += usize::from(other == *id));
                    if written > 1 || !found.as_before(e) {
                        return None;
                    }
                    found.kept.push(s.clone());
                    if e.ty == Ty::Int {
                        found.locals.insert(*id, Sum::of(Atom::Local(*id)));
                    }
                }
            },
            (Base::State(id), []) => drop(found.fields.insert(*id, sum?)),
            (Base::Out(i), []) => drop(found.items.insert(i.as_int()?, sum?)),
            _ => return None,
        }
    }
    Some(found)
}

impl Found {
    fn sum(&mut self, e: &Expr) -> Option<Sum> {
        if e.ty != Ty::Int {
            return None;
        }
        if let Some(i) = e.as_int() {
            return Some(Sum { terms: BTreeMap::new(), plus: i });
        }
        match &e.kind {
            ExprKind::Load(p) if p.path.is_empty() => match &p.base {
                Base::Local(id) => self.locals.get(id).cloned(),
                Base::State(id) => Some(self.fields.get(id).cloned().unwrap_or_else(|| Sum::of(Atom::Field(*id)))),
                Base::In(i) => Some(Sum::of(Atom::Item(i.as_int()?))),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::Neg, a) => Some(Sum::default().add(&self.sum(a)?, -1)),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                self.operations += 1;
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                Some(a.add(&b, if *op == BinaryOp::Add { 1 } else { -1 }))
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => match (a.as_int(), b.as_int()) {
                (Some(n), _) => Some(Sum::default().add(&self.sum(b)?, n)),
                (_, Some(n)) => Some(Sum::default().add(&self.sum(a)?, n)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Does a value come only of what stays in its place: fields as the firing finds them, and variables that are no sums?
    fn as_before(&self, e: &Expr) -> bool {
        !e.any(&mut |e| match &e.kind {
            ExprKind::Load(p) => match p.base {
                Base::Local(id) => self.locals.get(&id).is_some_and(|s| *s != Sum::of(Atom::Local(id))),
                Base::State(id) => self.fields.contains_key(&id),
                _ => false,
            },
            _ => false,
        })
    }

    /// What has the same factors in all items, by these, where that is worth it.
    fn groups(&self, push: u32) -> Option<Groups> {
        let n = push as usize;
        if self.items.len() != n || (0..push).any(|i| !self.items.contains_key(&(i as i32))) {
            return None;
        }
        let mut by_atom: BTreeMap<Atom, Vec<i32>> = BTreeMap::new();
        for (at, sum) in self.items.values().enumerate() {
            for (atom, factor) in &sum.terms {
                by_atom.entry(*atom).or_insert_with(|| vec![0; n])[at] = *factor;
            }
        }
        let mut groups = Groups::new();
        for (atom, mut factors) in by_atom {
            let sign = if factors.iter().find(|n| **n != 0).is_some_and(|n| *n < 0) { -1 } else { 1 };
            factors.iter_mut().for_each(|n| *n = n.wrapping_mul(sign));
            groups.entry(factors).or_default().push((atom, sign));
        }
        // a field whose new value becomes an item, which becomes a part of the next
        let chains = groups.iter().any(|(factors, atoms)| {
            factors.windows(2).any(|two| two[0] != two[1]) && atoms.iter().any(|(a, _)| matches!(a, Atom::Field(_)))
        });
        (chains && groups.len() <= MOST_FACTORS && self.operations > n).then_some(groups)
    }

    /// Writes the firing anew.
    fn replace(self, kernel: &mut Kernel, groups: &Groups) {
        let id = kernel.work.function;
        let f = &mut kernel.functions[id.index()];
        let span = f.span;
        let fresh = |f: &mut Function, name: &str| {
            f.locals.push(Local { name: name.into(), ty: Ty::Int, by_ref: false });
            LocalId::from(f.locals.len() - 1)
        };
        let mut body = self.kept;
        let turn = fresh(f, "item");
        let mut table = |factors: &[i32]| {
            let n = factors.len() as u32;
            let value = Const::Array(factors.iter().map(|i| Const::Int(*i)).collect::<Vec<_>>().into());
            kernel.tables.push(Table { name: "factors".into(), ty: Ty::Int.array(n), value, shared: None, own: None });
            let base = Base::Table(TableId::from(kernel.tables.len() - 1));
            Expr::load(Place { base, path: vec![Proj::Index(Expr::local(turn, Ty::Int))] }, Ty::Int)
        };
        let constants: Vec<i32> = self.items.values().map(|s| s.plus).collect();
        let mut all: Option<Expr> = None;
        let mut join = |e: Expr| {
            all = Some(match all.take() {
                Some(a) => Expr::binary(BinaryOp::Add, a, e, Ty::Int),
                None => e,
            });
        };
        let mut sums = Vec::new();
        for (factors, atoms) in groups {
            let sum = atoms.iter().fold(Sum::default(), |s, (a, sign)| s.add(&Sum::of(*a), *sign));
            let value = fresh(f, "sum");
            body.push(StmtKind::Assign(Place::local(value), written(&sum)).at(span));
            sums.push((value, atoms));
            let value = Expr::local(value, Ty::Int);
            join(match factors[..] {
                [first, ..] if factors.iter().all(|n| *n == first) => times(value, first),
                _ => Expr::binary(BinaryOp::Mul, table(factors), value, Ty::Int),
            });
        }
        match constants[..] {
            [0, ..] if constants.iter().all(|n| *n == 0) => {}
            [first, ..] if constants.iter().all(|n| *n == first) => join(Expr::int(first)),
            _ => join(table(&constants)),
        }
        let out = Place { base: Base::Out(Box::new(Expr::local(turn, Ty::Int))), path: Vec::new() };
        let item = StmtKind::Assign(out, all.unwrap_or_else(|| Expr::int(0))).at(span);
        let turns = Expr::int(constants.len() as i32);
        body.push(
            StmtKind::For(Box::new(For {
                var: turn,
                from: Expr::int(0),
                cmp: BinaryOp::Lt,
                to: turns,
                step: 1,
                body: vec![item],
                abreast: true,
            }))
            .at(span),
        );
        // all of them come of what the firing has found
        let mut last = Vec::new();
        for (field, sum) in &self.fields {
            let value = fresh(f, "sum");
            let sum = sums.iter().fold(sum.clone(), |s, (id, atoms)| s.by(*id, atoms));
            body.push(StmtKind::Assign(Place::local(value), written(&sum)).at(span));
            last.push(StmtKind::Assign(Place::state(*field), Expr::local(value, Ty::Int)).at(span));
        }
        body.extend(last);
        f.body = body;
    }
}

fn times(e: Expr, n: i32) -> Expr {
    if n == 1 { e } else { Expr::binary(BinaryOp::Mul, e, Expr::int(n), Ty::Int) }
}

/// A sum as an expression; what has no factor comes last, so that what waits for it waits for one addition.
fn written(sum: &Sum) -> Expr {
    let mut terms: Vec<_> = sum.terms.iter().collect();
    terms.sort_by_key(|(_, n)| **n == 1);
    let mut all = (sum.plus != 0 || terms.is_empty()).then(|| Expr::int(sum.plus));
    for (atom, n) in terms {
        let base = match atom {
            Atom::Field(id) => Base::State(*id),
            Atom::Item(i) => Base::In(Box::new(Expr::int(*i))),
            Atom::Local(id) => Base::Local(*id),
        };
        let term = times(Expr::load(Place { base, path: Vec::new() }, Ty::Int), *n);
        all = Some(match all {
            Some(a) => Expr::binary(BinaryOp::Add, a, term, Ty::Int),
            None => term,
        });
    }
    all.unwrap_or_else(|| Expr::int(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;
    use crate::verify::verify;

    /// What becomes of a firing that takes two items and gives eight.
    fn made(body: &str) -> String {
        let body = body.replace(';', " @0:0-1\n");
        let text = format!(
            "kernel \"K\" \"K\" @0:0-1 int -> int work func0 peek 2 pop 2 push 8\n\
             state0 \"s\" int = 0\nstate1 \"t\" int = 0\nstate2 \"u\" float = 0f\n\
             func0 \"work\" (0) -> void @0:0-1 {{\n  local0 \"x\" int\n  local1 \"y\" int\n{body}}}\n"
        );
        let mut kernel = text::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        verify(&kernel).unwrap();
        run(&mut kernel);
        verify(&kernel).unwrap_or_else(|e| panic!("{e}: {}", text::print(&kernel)));
        let text = text::print(&kernel);
        assert_eq!(text::parse(&text).unwrap(), kernel);
        text.replace(" @0:0-1", "")
    }

    /// `head`, and then for each item what `turn` says.
    fn turns(head: &str, turn: &str) -> String {
        head.to_string() + &(0..8).map(|i| turn.replace('#', &i.to_string())).collect::<String>()
    }

    #[test]
    fn integrators_behind_each_other() {
        let text = made(&turns(
            "$0 = (in(1) - in(0)); state0 = (state0 + $0);",
            "state1 = (state1 + state0); out(#) = state1;",
        ));
        assert!(text.contains("factors\" int[8] = [1, 2, 3, 4, 5, 6, 7, 8]"), "{text}");
        assert!(text.contains("out($2) = "), "{text}");
        assert!(text.contains("table0[$2] * "), "{text}");
        // the fields come of what they were, all of them
        assert!(text.contains("state0 = $"), "{text}");
        assert!(!text.contains("state1 = (state1 + state0)"), "{text}");
    }

    #[test]
    fn constants_and_what_is_no_sum_are_kept() {
        let text = made(&turns(
            "$1 = (in(0) / 3); state0 = (state0 + $1);",
            "state1 = ((state1 + state0) + 5); out(#) = (state1 - $1);",
        ));
        assert!(text.contains("$1 = (in(0) / 3)"), "{text}");
        assert!(text.contains("[5, 10, 15, 20, 25, 30, 35, 40]"), "{text}");
    }

    #[test]
    fn other_firings_stay_as_they_are() {
        for body in [
            // no chain
            turns("", "out(#) = (in(0) + (in(1) + #));"),
            // a value of its own for each item
            turns("", "$0 = ((in(0) + in(1)) / (# + 1)); state1 = ((state1 + $0) + 1); out(#) = state1;"),
            // something else, which sees the field on its way
            turns("", "state1 = ((state1 + state0) + in(0)); out(#) = (state1 ^ 1);"),
            turns("", "state1 = ((state1 + state0) + in(0)); out(#) = state1; state2 = 1f;"),
            turns("state0 = ((state0 + in(0)) / 2);", "state1 = ((state1 + state0) + 1); out(#) = state1;"),
            // not all items
            turns("", "state1 = ((state1 + state0) + in(0)); out(0) = state1;"),
        ] {
            let text = made(&body);
            assert!(!text.contains("for "), "{text}");
        }
    }
}
