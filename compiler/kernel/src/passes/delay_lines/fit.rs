//! Where the window has what a field held: positions as sums of multiples of loop variables.

use super::firing::{Firings, Seen, Site};
use super::values::{Elements, Made, Value};
use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ops::Scalar;
use sluice_frontend::ty::Ty;
use std::collections::{BTreeMap, HashMap};

/// `base + factor * variable + ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    base: i64,
    terms: Vec<(LocalId, i64)>,
}

impl Position {
    /// As an expression, so many items further.
    pub fn expr(&self, further: i64) -> Option<Expr> {
        let mut out: Option<Expr> = None;
        for (var, factor) in &self.terms {
            let var = Expr::local(*var, Ty::Int);
            let term = match factor {
                1 => var,
                -1 if out.is_none() => Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(var)), ty: Ty::Int },
                -1 => {
                    out = out.map(|sum| Expr::binary(BinaryOp::Sub, sum, var, Ty::Int));
                    continue;
                }
                _ => Expr::binary(BinaryOp::Mul, var, Expr::int(i32::try_from(*factor).ok()?), Ty::Int),
            };
            out = Some(match out {
                None => term,
                Some(sum) => Expr::add(sum, term),
            });
        }
        let base = Expr::int(i32::try_from(self.base + further).ok()?);
        Some(match out {
            None => base,
            // what counts down is taken off
            Some(Expr { kind: ExprKind::Unary(UnaryOp::Neg, var), .. }) => {
                Expr::binary(BinaryOp::Sub, base, *var, Ty::Int)
            }
            Some(sum) => Expr::add(sum, base),
        })
    }
}

/// What a read becomes: an expression of items, and where these are, counted from the first item of the firing.
#[derive(Clone, Debug)]
pub struct Read {
    /// `in(k)` is the item at the k-th position.
    pub form: Expr,
    /// The positions.
    pub items: Vec<Position>,
}

/// What was found.
pub struct Fit {
    /// By read.
    pub reads: HashMap<Site, Read>,
    /// Items before the first of a firing that it looks at.
    pub behind: u32,
    /// Those of the first firing.
    pub waiting: Vec<Const>,
}

/// What each read of a field becomes, where fields hold `end` after a period of so many firings.
pub fn fit(
    kernel: &Kernel,
    elements: &Elements,
    seen: &Firings<'_>,
    end: &[Value],
    firings: u32,
    most: i64,
) -> Option<Fit> {
    let pop = i64::from(kernel.work.rates.pop);
    let mut then =
        Then { kernel, made: &seen.made, end, period: i64::from(firings) * pop, found: vec![None; end.len()] };
    let mut reads = HashMap::new();
    let (mut first, mut wanted) = (0, Vec::new());
    for (site, all) in &seen.reads {
        let mut form: Option<Expr> = None;
        let mut items: Vec<Vec<i64>> = Vec::new();
        for (value, number) in &all.values {
            let made = match value {
                Value::Item(i) => Made::item(*i, &kernel.input),
                Value::Made(m) => seen.made[*m as usize].clone(),
                Value::Old(element) => {
                    wanted.push(*element as usize);
                    then.of(*element as usize)?
                }
                _ => return None,
            };
            let made = made.behind(i64::from(*number) * pop);
            if form.as_ref().is_some_and(|f| *f != made.form) {
                return None;
            }
            items.resize(made.items.len(), Vec::new());
            for (all, i) in items.iter_mut().zip(&made.items) {
                first = first.min(*i);
                all.push(*i);
            }
            form = Some(made.form);
        }
        let items: Option<Vec<Position>> = items.iter().map(|i| position(all, i)).collect();
        reads.insert(*site, Read { form: form?, items: items? });
    }
    if first < -most {
        return None;
    }
    let behind = -first;
    let waiting = then.waiting(elements, wanted, behind)?;
    Some(Fit { reads, behind: u32::try_from(behind).ok()?, waiting })
}

/// What elements hold when a period begins, said in items.
struct Then<'a> {
    kernel: &'a Kernel,
    made: &'a [Made],
    end: &'a [Value],
    /// Items of a period.
    period: i64,
    found: Vec<Option<Made>>,
}

impl Then<'_> {
    /// Of an element, in positions from the first item of the period; `None` where it keeps something for ever.
    fn of(&mut self, element: usize) -> Option<Made> {
        // the elements that it was moved through, one in each period before
        let (mut way, mut at) = (Vec::new(), element);
        let mut made = loop {
            if let Some(known) = &self.found[at] {
                break known.clone();
            }
            if way.len() > self.end.len() {
                return None;
            }
            way.push(at);
            match self.end[at] {
                Value::Item(i) => break Made::item(i, &self.kernel.input),
                Value::Made(m) => break self.made[m as usize].clone(),
                Value::Old(before) => at = before as usize,
                _ => return None,
            }
        };
        for at in way.into_iter().rev() {
            made = made.behind(self.period);
            self.found[at] = Some(made.clone());
        }
        Some(made)
    }

    /// The items that wait before the first firing, so that these elements hold what they begin with.
    fn waiting(&mut self, elements: &Elements, mut wanted: Vec<usize>, behind: i64) -> Option<Vec<Const>> {
        let mut seen = vec![false; self.end.len()];
        let mut held: Vec<usize> = Vec::new();
        while let Some(element) = wanted.pop() {
            if !std::mem::replace(&mut seen[element], true) {
                held.push(element);
                // what it holds later, that one holds now
                if let Value::Old(before) = self.end[element] {
                    wanted.push(before as usize);
                }
            }
        }
        // whoever asks gets the same answer: what is said of an item first decides
        held.sort_unstable();
        let mut items: BTreeMap<i64, Scalar> = BTreeMap::new();
        let mut computed = Vec::new();
        for element in held {
            let (made, initial) = (self.of(element)?, elements.initial(self.kernel, element)?);
            // no item that comes only later
            if made.items.iter().any(|i| *i >= 0) {
                return None;
            }
            if !made.is_item() {
                computed.push((made, initial));
                continue;
            }
            let before = items.insert(made.items[0], initial);
            if before.is_some_and(|b| b.into_const() != initial.into_const()) {
                return None;
            }
        }
        let zero = Scalar::zero(&self.kernel.input)?;
        // of one item that nobody has said, what gives it: the number itself, or what is no zero
        for (made, initial) in &computed {
            let [only] = made.items[..] else { continue };
            let of = |item: Scalar| made.value(&|_| Some(item)).map(Scalar::into_const);
            if items.contains_key(&only) || of(zero) == Some(initial.into_const()) {
                continue;
            }
            let one = match self.kernel.input {
                Ty::Bit => Scalar::Bit(true),
                Ty::Bool => Scalar::Bool(true),
                _ => *initial,
            };
            if one.ty() == self.kernel.input && of(one) == Some(initial.into_const()) {
                items.insert(only, one);
            }
        }
        let item = |i: i64| items.get(&i).copied().or(Some(zero));
        for (made, initial) in computed {
            if made.value(&item)?.into_const() != initial.into_const() {
                return None;
            }
        }
        (-behind..0).map(|i| item(i).map(|s| s.into_const())).collect()
    }
}

/// Positions that were seen as a sum of multiples of the loops' variables.
fn position(seen: &Seen, positions: &[i64]) -> Option<Position> {
    let n = seen.turns.len();
    let turn = |visit: usize, j: usize| i64::from(seen.at[visit * n + j]);
    let base = *positions.first()?;
    let mut factors: Vec<Option<i64>> = vec![None; n];
    let mut left: Vec<usize> = (1..positions.len()).collect();
    while !left.is_empty() {
        let before = left.len();
        let mut wrong = false;
        left.retain(|visit| {
            let (mut rest, mut open) = (positions[*visit] - base, None);
            for (j, factor) in factors.iter().enumerate() {
                let by = turn(*visit, j) - turn(0, j);
                match factor {
                    Some(f) => rest -= f * by,
                    None if by == 0 => {}
                    None if open.is_some() => return true,
                    None => open = Some((j, by)),
                }
            }
            match open {
                None => wrong |= rest != 0,
                Some((j, by)) if rest % by == 0 => factors[j] = Some(rest / by),
                Some(_) => wrong = true,
            }
            false
        });
        if wrong || left.len() == before {
            return None;
        }
    }
    let terms: Vec<(LocalId, i64)> =
        (0..n).filter_map(|j| Some((seen.turns[j], factors[j].filter(|f| *f != 0)?))).collect();
    let own: i64 = (0..n).map(|j| factors[j].unwrap_or(0) * turn(0, j)).sum();
    Some(Position { base: base - own, terms })
}
