//! The kernels of the parts: what each does, and the items that pass between them.

use super::super::{clean, fold};
use super::units::{Unit, Var, scalar};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Part;
use std::collections::{BTreeMap, BTreeSet};

/// A firing whose units are of parts.
pub(super) struct Plan<'a> {
    /// The filter.
    pub kernel: &'a Kernel,
    /// Its work function, with the units' variables.
    pub function: Function,
    /// Units in their order, each with its part.
    pub units: Vec<(Part, Unit)>,
}

impl Plan<'_> {
    /// The part that sees the window.
    fn first(&self) -> Part {
        self.units.iter().map(|(p, _)| *p).min().unwrap_or(Part::State)
    }

    /// The kernels of all parts, in their order; `None` where what passes between them cannot be items of one type.
    pub fn kernels(mut self) -> Option<Vec<(Part, Kernel)>> {
        let first = self.first();
        self.lift(first)?;
        self.convert_early()?;
        self.show_fields()?;
        let parts: BTreeSet<Part> = self.units.iter().map(|(p, _)| *p).collect();
        let parts: Vec<Part> = parts.into_iter().collect();
        let passing: Vec<Vec<LocalId>> = parts[1..].iter().map(|p| self.passing(*p)).collect::<Option<_>>()?;
        if passing.iter().any(|p| p.is_empty() || p.len() > super::MOST_ITEMS) {
            return None;
        }
        let types: Vec<Ty> = passing.iter().map(|p| self.item(p)).collect::<Option<_>>()?;
        let kernel = |i: usize| {
            let input = i.checked_sub(1).map(|i| (&passing[i][..], &types[i]));
            let output = passing.get(i).map(|p| (&p[..], &types[i]));
            self.part(parts[i], input, output).map(|k| (parts[i], k))
        };
        (0..parts.len()).map(kernel).collect()
    }

    /// A new variable.
    fn variable(&mut self, name: &str, ty: Ty) -> LocalId {
        self.function.locals.push(Local { name: name.into(), ty, by_ref: false });
        LocalId::from(self.function.locals.len() - 1)
    }

    /// Variables that units of a part write.
    fn written(&self, part: Part) -> BTreeSet<LocalId> {
        let of = self.units.iter().filter(|(p, _)| *p == part).flat_map(|(_, u)| &u.writes);
        of.filter_map(|v| if let Var::Local(x) = v { Some(*x) } else { None }).collect()
    }

    /// What other parts take of the window is taken, and computed as far as it goes, by the first.
    fn lift(&mut self, first: Part) -> Option<()> {
        let early = self.written(first);
        let old = std::mem::take(&mut self.units);
        let mut known: Vec<(Expr, LocalId)> = Vec::new();
        for (part, mut unit) in old {
            if part == first {
                self.units.push((part, unit));
                continue;
            }
            let (mut new, span) = (Vec::new(), unit.stmts[0].span);
            let mut named = |e: &mut Expr, function: &mut Function| {
                let again = known.iter().find(|(k, _)| k == e).map(|(_, x)| *x);
                let x = again.unwrap_or_else(|| {
                    function.locals.push(Local { name: "taken".into(), ty: e.ty.clone(), by_ref: false });
                    let x = LocalId::from(function.locals.len() - 1);
                    new.push(Stmt { kind: StmtKind::Assign(Place::local(x), e.clone()), span });
                    let of_variables =
                        e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if matches!(p.base, Base::Local(_))));
                    if !of_variables {
                        known.push((e.clone(), x));
                    }
                    x
                });
                *e = Expr::local(x, e.ty.clone());
            };
            let function = &mut self.function;
            // what one statement computes in any case
            if let ([Stmt { kind: StmtKind::Assign(_, e), .. }], Part::Before) = (&mut unit.stmts[..], first) {
                lift_whole(e, &early, &mut |e| named(e, function));
            }
            let mut all = true;
            let peek = self.kernel.work.rates.peek;
            walk::each_expr_mut(&mut unit.stmts, &mut |e| {
                let ExprKind::Load(Place { base: Base::In(at), path }) = &e.kind else { return };
                // it is taken in any case, perhaps where the program would not have come to it
                let within = at.as_int().is_some_and(|at| at >= 0 && (at as u32) < peek);
                if within && path.is_empty() && scalar(&e.ty) {
                    named(e, function);
                } else {
                    all = false;
                }
            });
            if !all {
                return None;
            }
            for s in new {
                self.units.push((first, Unit::of(vec![s])?));
            }
            self.units.push((part, Unit::of(unit.stmts)?));
        }
        Some(())
    }

    /// What the last part only converts comes to it converted: an int that counts beside items that are floats.
    fn convert_early(&mut self) -> Option<()> {
        let own = self.written(Part::State);
        let old = std::mem::take(&mut self.units);
        for (part, mut unit) in old {
            let mut new = Vec::new();
            if part == Part::After {
                let (function, span) = (&mut self.function, unit.stmts[0].span);
                walk::each_expr_mut(&mut unit.stmts, &mut |e| {
                    let ExprKind::Convert(a) = &e.kind else { return };
                    let ExprKind::Load(p) = &a.kind else { return };
                    let of_state = match p.base {
                        Base::State(_) => true,
                        Base::Local(x) => own.contains(&x),
                        _ => false,
                    };
                    if of_state && p.path.is_empty() && scalar(&e.ty) && scalar(&a.ty) {
                        function.locals.push(Local { name: "converted".into(), ty: e.ty.clone(), by_ref: false });
                        let x = LocalId::from(function.locals.len() - 1);
                        new.push(Stmt { kind: StmtKind::Assign(Place::local(x), e.clone()), span });
                        *e = Expr::local(x, e.ty.clone());
                    }
                });
            }
            for s in new {
                self.units.push((Part::State, Unit::of(vec![s])?));
            }
            self.units.push((part, Unit::of(unit.stmts)?));
        }
        Some(())
    }

    /// Fields that are read behind the part with the state become variables of it.
    fn show_fields(&mut self) -> Option<()> {
        let old = std::mem::take(&mut self.units);
        let mut shown: BTreeMap<StateId, LocalId> = BTreeMap::new();
        for (part, mut unit) in old {
            for v in &unit.writes {
                if let Var::State(s) = v {
                    shown.remove(s);
                }
            }
            if part != Part::After {
                self.units.push((part, unit));
                continue;
            }
            let fields: Vec<StateId> =
                unit.reads.iter().filter_map(|v| if let Var::State(s) = v { Some(*s) } else { None }).collect();
            for s in fields {
                let field = &self.kernel.state[s.index()];
                if !scalar(&field.ty) {
                    return None;
                }
                let x = match shown.get(&s) {
                    Some(x) => *x,
                    None => {
                        let x = self.variable(&field.name, field.ty.clone());
                        let value = Expr::load(Place::state(s), field.ty.clone());
                        let stmt = Stmt { kind: StmtKind::Assign(Place::local(x), value), span: unit.stmts[0].span };
                        self.units.push((Part::State, Unit::of(vec![stmt])?));
                        shown.insert(s, x);
                        x
                    }
                };
                walk::each_place_mut(&mut unit.stmts, &mut |p| {
                    if p.base == Base::State(s) {
                        p.base = Base::Local(x);
                    }
                });
            }
            self.units.push((part, Unit::of(unit.stmts)?));
        }
        Some(())
    }

    /// The variables that pass to a part from those before it; `None` where one is written later than it is read, or is no number.
    fn passing(&self, to: Part) -> Option<Vec<LocalId>> {
        let mut last: BTreeMap<LocalId, (usize, Part)> = BTreeMap::new();
        for (i, (part, unit)) in self.units.iter().enumerate() {
            for v in &unit.writes {
                if let Var::Local(x) = v {
                    last.insert(*x, (i, *part));
                }
            }
        }
        let mut out = BTreeSet::new();
        for (i, (part, unit)) in self.units.iter().enumerate() {
            if *part < to {
                continue;
            }
            for v in &unit.reads {
                let Var::Local(x) = v else { continue };
                let Some((at, from)) = last.get(x) else { continue };
                if *from < *part && (*at >= i || !scalar(&self.function.locals[x.index()].ty)) {
                    return None;
                }
                if *from < to {
                    out.insert(*x);
                }
            }
        }
        Some(out.into_iter().collect())
    }

    /// The type of items that hold the variables.
    fn item(&self, all: &[LocalId]) -> Option<Ty> {
        let of = |x: &LocalId| &self.function.locals[x.index()].ty;
        let number = all.iter().map(of).find(|t| !matches!(t, Ty::Bool | Ty::Bit)).unwrap_or(&Ty::Int);
        let fits = |t: &Ty| match t {
            Ty::Bool => matches!(number, Ty::Int | Ty::Float),
            Ty::Bit => *number == Ty::Int,
            t => t == number,
        };
        all.iter().map(of).all(fits).then(|| number.clone())
    }

    /// The kernel of a part.
    fn part(&self, part: Part, input: Option<(&[LocalId], &Ty)>, output: Option<(&[LocalId], &Ty)>) -> Option<Kernel> {
        let mut kernel = self.kernel.clone();
        let mut f = self.function.clone();
        let span = f.span;
        let stmt = |kind| Stmt { kind, span };
        f.body = Vec::new();
        let rates = &mut kernel.work.rates;
        if let Some((taken, ty)) = input {
            for (i, x) in taken.iter().enumerate() {
                let at = Place { base: Base::In(Box::new(Expr::int(i as i32))), path: Vec::new() };
                let value = variable(Expr::load(at, ty.clone()), &f.locals[x.index()].ty);
                f.body.push(stmt(StmtKind::Assign(Place::local(*x), value)));
            }
            kernel.input = ty.clone();
            (rates.pop, rates.peek) = (taken.len() as u32, taken.len() as u32);
        }
        f.body.extend(self.units.iter().filter(|(p, _)| *p == part).flat_map(|(_, u)| u.stmts.iter().cloned()));
        if let Some((given, ty)) = output {
            for (i, x) in given.iter().enumerate() {
                let at = Place { base: Base::Out(Box::new(Expr::int(i as i32))), path: Vec::new() };
                let value = item(Expr::local(*x, f.locals[x.index()].ty.clone()), ty);
                f.body.push(stmt(StmtKind::Assign(at, value)));
            }
            kernel.output = ty.clone();
            rates.push = given.len() as u32;
        }
        if part != Part::State {
            let mut named = false;
            walk::each_expr(&f.body, &mut |e| {
                named |= matches!(&e.kind, ExprKind::Load(p) if matches!(p.base, Base::State(_)));
            });
            if named {
                return None;
            }
            kernel.state.clear();
        }
        kernel.functions = vec![f];
        kernel.work.function = FuncId(0);
        fold::run(&mut kernel);
        clean::run(&mut kernel);
        Some(kernel)
    }
}

/// Lifts the greatest expressions that need nothing but the window and the variables in `early`.
fn lift_whole(e: &mut Expr, early: &BTreeSet<LocalId>, named: &mut dyn FnMut(&mut Expr)) {
    let (mut only, mut window, mut variables) = (true, false, BTreeSet::new());
    e.walk(&mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            match p.base {
                Base::In(_) => window = true,
                Base::Table(_) => {}
                Base::Local(x) if early.contains(&x) => {
                    variables.insert(x);
                }
                _ => only = false,
            }
        }
    });
    if only && scalar(&e.ty) && e.size() > 1 && (window || variables.len() > 1) {
        return named(e);
    }
    match &mut e.kind {
        // what may not be evaluated stays where it is
        ExprKind::Select(c, _, _) => lift_whole(c, early, named),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, _) => lift_whole(a, early, named),
        ExprKind::Load(_) => {}
        _ => e.each_operand_mut(&mut |e| lift_whole(e, early, named)),
    }
}

/// A variable's value as an item.
fn item(value: Expr, ty: &Ty) -> Expr {
    match (&value.ty, ty) {
        (a, b) if a == b => value,
        (Ty::Bool, ty) => {
            let one = if *ty == Ty::Int { Expr::int(1) } else { convert(Expr::int(1), ty) };
            let kind = ExprKind::Select(Box::new(value), Box::new(one), Box::new(Expr::zero(ty.clone())));
            Expr { kind, ty: ty.clone() }
        }
        _ => convert(value, ty),
    }
}

/// An item as a variable's value.
fn variable(item: Expr, ty: &Ty) -> Expr {
    match (&item.ty, ty) {
        (a, b) if a == b => item,
        (from, Ty::Bool) => {
            let zero = Expr::zero(from.clone());
            Expr::binary(BinaryOp::Ne, item, zero, Ty::Bool)
        }
        _ => convert(item, ty),
    }
}

fn convert(e: Expr, ty: &Ty) -> Expr {
    Expr { kind: ExprKind::Convert(Box::new(e)), ty: ty.clone() }
}
