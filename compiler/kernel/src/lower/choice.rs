//! Arrays chosen by `?:` that are passed by reference.
//!
//! Input: the arguments of a call. Output: a call for each array that may be chosen, under conditions:
//! `f(c ? a : b, x)` → `chosen = c; if (chosen) f(ref a, x) else f(ref b, x)`. So what the function does to the array is done to the one
//! that was chosen, whatever else names it. The checker bounds the number of calls that one becomes (`E0244`).

use super::{FunctionLowering, Lowered};
use crate::ir::*;
use sluice_frontend::typed::{self, ExprKind as T};
use sluice_grammar::span::Span;

/// An argument, or several of which conditions choose one.
pub(super) enum Given {
    /// This.
    One(Arg),
    /// The first where the condition (a variable) holds, else the second.
    Either(Expr, Box<Given>, Box<Given>),
}

/// A place, or several of which conditions choose one.
enum Chosen {
    One(Place),
    Either(Expr, Box<Chosen>, Box<Chosen>),
}

impl Chosen {
    fn each(&mut self, f: &mut dyn FnMut(&mut Place)) {
        match self {
            Chosen::One(p) => f(p),
            Chosen::Either(_, a, b) => {
                a.each(f);
                b.each(f);
            }
        }
    }
}

/// The call with each choice of arguments.
pub(super) fn calls(
    given: &[Given],
    args: &mut Vec<Arg>,
    span: Span,
    call: &dyn Fn(Vec<Arg>) -> StmtKind,
) -> Vec<Stmt> {
    let Some((first, rest)) = given.split_first() else { return vec![call(args.clone()).at(span)] };
    each_call(first, rest, args, span, call)
}

fn each_call(
    first: &Given,
    rest: &[Given],
    args: &mut Vec<Arg>,
    span: Span,
    call: &dyn Fn(Vec<Arg>) -> StmtKind,
) -> Vec<Stmt> {
    match first {
        Given::One(a) => {
            args.push(a.clone());
            let made = calls(rest, args, span, call);
            args.pop();
            made
        }
        Given::Either(c, a, b) => {
            let (then, els) = (each_call(a, rest, args, span, call), each_call(b, rest, args, span, call));
            vec![StmtKind::If(c.clone(), then, els).at(span)]
        }
    }
}

/// Is it, or is it a part of, something chosen?
fn is_chosen(e: &typed::Expr) -> bool {
    match &e.kind {
        T::Ternary(..) => true,
        T::Index(base, _) | T::Member(base, _) => is_chosen(base),
        _ => false,
    }
}

impl FunctionLowering<'_, '_> {
    /// The array that an argument names.
    pub(super) fn reference(&mut self, a: &typed::Expr, written: bool) -> Lowered<Given> {
        let chosen = if is_chosen(a) { self.chosen(a)? } else { Chosen::One(self.place_of(a)?) };
        self.settle(chosen, a, written)
    }

    fn chosen(&mut self, e: &typed::Expr) -> Lowered<Chosen> {
        Ok(match &e.kind {
            T::Ternary(c, a, b) => {
                let c = self.expr(c)?;
                let c = self.store("chosen", c);
                let (mut x, mut y) = (None, None);
                let then = self.collect(|s| {
                    x = Some(s.chosen(a)?);
                    Ok(())
                })?;
                let els = self.collect(|s| {
                    y = Some(s.chosen(b)?);
                    Ok(())
                })?;
                let (Some(x), Some(y)) = (x, y) else { return self.unsupported("a choice of nothing") };
                if !then.is_empty() || !els.is_empty() {
                    self.push(StmtKind::If(c.clone(), then, els));
                }
                Chosen::Either(c, Box::new(x), Box::new(y))
            }
            T::Index(base, index) if is_chosen(base) => {
                let mut chosen = self.chosen(base)?;
                let index = self.expr(index)?;
                let index = self.checked_index(index, base.ty.known_len().unwrap_or(0), e);
                let index = if index.as_const().is_some() { index } else { self.store("at", index) };
                chosen.each(&mut |p| *p = p.clone().then(Proj::Index(index.clone())));
                chosen
            }
            T::Member(base, i) if is_chosen(base) => {
                let mut chosen = self.chosen(base)?;
                chosen.each(&mut |p| *p = p.clone().then(Proj::Member(*i)));
                chosen
            }
            _ => {
                // what comes between here and the call must not change the place
                let mut p = self.place_of(e)?;
                let mut indices = Vec::new();
                p.each_expr_mut(&mut |i| {
                    if i.as_const().is_none() {
                        indices.push(i.clone());
                    }
                });
                let mut stored = indices.into_iter().map(|i| self.store("at", i)).collect::<Vec<_>>().into_iter();
                p.each_expr_mut(&mut |i| {
                    if i.as_const().is_none()
                        && let Some(new) = stored.next()
                    {
                        *i = new;
                    }
                });
                Chosen::One(p)
            }
        })
    }

    /// The arguments, copied where the function must not get the array itself.
    fn settle(&mut self, chosen: Chosen, a: &typed::Expr, written: bool) -> Lowered<Given> {
        Ok(match chosen {
            Chosen::One(p) if written && matches!(p.base, Base::Table(_)) || matches!(p.base, Base::Peek(_)) => {
                // a temporary: what the function writes there is lost, and what it pops moves nothing, as in the interpreter
                let t = self.temp("array", a.ty.clone());
                self.push(StmtKind::Assign(Place::local(t), Expr::load(p, a.ty.clone())));
                Given::One(Arg::Ref(Place::local(t)))
            }
            Chosen::One(p) => Given::One(Arg::Ref(p)),
            Chosen::Either(c, x, y) => {
                let (mut then, mut els) = (None, None);
                let first = self.collect(|s| {
                    then = Some(s.settle(*x, a, written)?);
                    Ok(())
                })?;
                let second = self.collect(|s| {
                    els = Some(s.settle(*y, a, written)?);
                    Ok(())
                })?;
                let (Some(then), Some(els)) = (then, els) else { return self.unsupported("a choice of nothing") };
                if !first.is_empty() || !second.is_empty() {
                    self.push(StmtKind::If(c.clone(), first, second));
                }
                Given::Either(c, Box::new(then), Box::new(els))
            }
        })
    }
}
