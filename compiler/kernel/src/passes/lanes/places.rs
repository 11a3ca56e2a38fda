//! Elements of short arrays that data choose: all of them are looked at, and one is taken.
//!
//! ```text
//! $y = $r[$s]             →   $y = select(($s == 0), $r[0], select(($s == 1), $r[1], $r[2]))
//! $r[$s] = ($r[$s] ^ 1)   →   $at = $s  $new = (… ^ 1)  $r[0] = select(($at == 0), $new, $r[0])  …
//! ```
//!
//! Input: a function whose indices are all known to be in bounds where they are reached. Output: the same, where arrays of [`MOST`] elements at most have no index
//! that varies. Of each element lanes have a vector, and no machine chooses vectors by lane. Where a place is looked at in vain, any element is as good as another.

use super::guard::choose;
use super::{fresh, gathers, is_bit, is_varying, varying};
use crate::ir::*;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Elements of an array, at most: each is a comparison and a choice.
const MOST: u32 = 16;

/// Parts of an index, at most, that is repeated for each element; a larger one is a variable first.
const LARGEST: usize = 32;

/// Looks at all elements where data choose one.
pub(super) fn choose_all(f: &mut Function, tables: &[Table]) {
    // what becomes of one place may make others vary
    loop {
        let varying = varying(f);
        let mut body = std::mem::take(&mut f.body);
        let mut places = Places { f, varying: &varying, tables, found: false };
        places.list(&mut body);
        let found = places.found;
        f.body = body;
        if !found {
            return;
        }
    }
}

struct Places<'a> {
    f: &'a mut Function,
    varying: &'a [bool],
    tables: &'a [Table],
    found: bool,
}

impl Places<'_> {
    fn list(&mut self, body: &mut Vec<Stmt>) {
        let mut i = 0;
        while i < body.len() {
            let s = &mut body[i];
            // what such a statement evaluates it evaluates once
            let once = matches!(s.kind, StmtKind::Assign(..) | StmtKind::If(..));
            let mut before = Vec::new();
            s.kind.each_own_expr_mut(&mut |e| self.loads(e, once.then_some(&mut before)));
            for b in s.kind.bodies_mut() {
                self.list(b);
            }
            let span = s.span;
            let set = |(at, e): (LocalId, Expr)| StmtKind::Assign(Place::local(at), e).at(span);
            let mut all: Vec<Stmt> = before.into_iter().map(set).collect();
            match self.stores(&body[i]) {
                Some(stores) => all.extend(stores),
                None => all.push(std::mem::replace(&mut body[i], StmtKind::Block(Vec::new()).at(span))),
            }
            let n = all.len();
            body.splice(i..=i, all);
            i += n;
        }
    }

    /// The array that a place is an element of, where data say of which: it, its length, and the index.
    fn chosen<'p>(&self, p: &'p Place) -> Option<(u32, &'p Expr)> {
        let [Proj::Index(at)] = &p.path[..] else { return None };
        let ty = match p.base {
            Base::Local(id) => &self.f.locals.get(id.index())?.ty,
            // of numbers lanes have instructions
            Base::Table(id) if gathers(p, self.varying) => &self.tables.get(id.index())?.ty,
            _ => return None,
        };
        let n = ty.known_len().filter(|n| (1..=MOST).contains(n))?;
        let element = ty.element()?;
        let fits = is_bit(element) || matches!(p.base, Base::Local(_)) && matches!(element, Ty::Int | Ty::Float);
        (fits && is_varying(at, self.varying)).then_some((n, at))
    }

    /// `before`: what may be assigned before the expression is evaluated.
    fn loads(&mut self, e: &mut Expr, mut before: Option<&mut Vec<(LocalId, Expr)>>) {
        e.walk_mut(&mut |e| {
            let ExprKind::Load(p) = &e.kind else { return };
            let Some((n, at)) = self.chosen(p) else { return };
            let (p, mut at) = (p.clone(), at.clone());
            if at.size() > LARGEST {
                let Some(before) = before.as_deref_mut().filter(|_| is_harmless(&at)) else { return };
                let place = self.local("at", Ty::Int);
                before.push((place, std::mem::replace(&mut at, Expr::local(place, Ty::Int))));
            }
            let element = |k: u32| Expr::load(element_of(&p, k), e.ty.clone());
            let all = (0..n - 1).rev().fold(element(n - 1), |rest, k| choose(is(&at, k), element(k), rest));
            *e = all;
            self.found = true;
        });
    }

    /// A store to such a place, as one to each element.
    fn stores(&mut self, s: &Stmt) -> Option<Vec<Stmt>> {
        let StmtKind::Assign(p, e) = &s.kind else { return None };
        let (n, at) = self.chosen(p).filter(|_| matches!(p.base, Base::Local(_)))?;
        let ty = e.ty.clone();
        let (place, new) = (self.local("at", Ty::Int), self.local("new", ty.clone()));
        self.found = true;
        let mut all = vec![
            StmtKind::Assign(Place::local(place), at.clone()).at(s.span),
            StmtKind::Assign(Place::local(new), e.clone()).at(s.span),
        ];
        let at = Expr::local(place, Ty::Int);
        all.extend((0..n).map(|k| {
            let old = element_of(p, k);
            let value = choose(is(&at, k), Expr::local(new, ty.clone()), Expr::load(old.clone(), ty.clone()));
            StmtKind::Assign(old, value).at(s.span)
        }));
        Some(all)
    }

    fn local(&mut self, name: &str, ty: Ty) -> LocalId {
        fresh(self.f, name, ty)
    }
}

/// Does nothing go wrong where it is evaluated in vain?
fn is_harmless(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Load(p) => p.path.iter().any(|step| matches!(step, Proj::Index(i) if i.as_int().is_none())),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) => b.as_int().is_none_or(|n| n == 0),
        _ => false,
    })
}

fn is(at: &Expr, k: u32) -> Expr {
    Expr::binary(BinaryOp::Eq, at.clone(), Expr::int(k as i32), Ty::Bool)
}

fn element_of(p: &Place, k: u32) -> Place {
    Place { base: p.base.clone(), path: vec![Proj::Index(Expr::int(k as i32))] }
}

#[cfg(test)]
mod tests;
