//! # unroll-and-jam
//!
//! Purpose: several turns of an outer loop at once, where each turn takes sums in an inner loop: the sums need not wait for themselves, and what the turns all
//! read is read once. Input, output: any kernel after `lower_channels`. Source: Callahan, Cocke and Kennedy, "Estimating interlock and improving balance
//! for pipelined architectures", 1988.
//!
//! ```text
//! for $lag = 0 < 128 {                         for $lag = 0 < 128 step 4 {
//!     $s = 0f                                      $s = 0f  $s1 = 0f  $s2 = 0f  $s3 = 0f
//!     for $i = 0 < 160 {                           for $i = 0 < 160 {
//!         $s = ($s + ($x[$i] * $x[$i+$lag]))   →       $s = …  $s1 = …  $s2 = …  $s3 = ($s3 + ($x[$i] * $x[$i+($lag+3)]))
//!     }                                            }
//!     if ($s > $best) { … }                        if ($s > $best) { … }  if ($s1 > $best) { … }  …
//! }                                            }
//! ```
//!
//! What must hold: the variables that the inner loop writes are the turn's own: written wholly, without a condition, before they are read, and used nowhere
//! else. [`jam`] moves statements past each other only where neither writes what the other reads or writes; where it cannot join the inner loops, the nest
//! stays as it is. No operation changes, and with them no bit. Turns that are left over come behind the loop, as they were.

use super::clean::{self, trip};
use super::unroll::{jumps, shifted, size};
use super::{fold, jam, turns_abreast};
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use std::collections::BTreeSet;

/// Turns of the outer loop at once, at most.
const TURNS: usize = 4;
/// Sums that stay in registers, at most.
const SUMS: usize = 8;
/// Turns of an inner loop that is worth it.
const FEWEST: u64 = 8;
/// Statements and operations of a turn, at most.
const LARGEST: usize = 400;

/// Jams nests in all functions.
pub fn run(kernel: &mut Kernel) {
    let mut changed = false;
    for (i, f) in kernel.functions.iter_mut().enumerate() {
        let lanes = kernel.lanes.as_mut().filter(|l| l.function == FuncId::from(i));
        let vectors = lanes.as_ref().map_or(1, |l| l.unroll.max(1) as usize);
        let all = std::mem::take(&mut f.body);
        let mut body = all.clone();
        let mut nests = Nests { f, copies: Vec::new(), vectors };
        changed |= nests.body(&mut body, &all);
        let copies = std::mem::take(&mut nests.copies);
        f.body = body;
        if let Some(l) = lanes {
            // a copy differs between lanes where its original does
            let differs: Vec<bool> = copies.iter().map(|of| l.varying[of.index()]).collect();
            l.varying.extend(differs);
        }
    }
    if changed {
        fold::run(kernel);
        clean::run(kernel);
    }
}

struct Nests<'a> {
    f: &'a mut Function,
    /// By local that was added: whose copy it is.
    copies: Vec<LocalId>,
    /// Vectors that a sum takes.
    vectors: usize,
}

impl Nests<'_> {
    /// `all` is the function as it was.
    fn body(&mut self, body: &mut Vec<Stmt>, all: &[Stmt]) -> bool {
        let mut found = false;
        let mut i = 0;
        while i < body.len() {
            let new = match &body[i].kind {
                StmtKind::For(l) => self.jammed(l, body[i].span, all),
                _ => None,
            };
            if let Some(new) = new {
                i += new.len();
                body.splice(i - new.len()..=i - new.len(), new);
                found = true;
                continue;
            }
            let inside = if turns_abreast::stays(self.f, &body[i]) { Vec::new() } else { body[i].kind.bodies_mut() };
            for b in inside {
                found |= self.body(b, all);
            }
            i += 1;
        }
        found
    }

    fn jammed(&mut self, l: &For, span: sluice_grammar::span::Span, all: &[Stmt]) -> Option<Vec<Stmt>> {
        let (turns, last) = trip(l).filter(|_| !l.abreast && !jumps(&l.body) && size(&l.body) <= LARGEST)?;
        let sums = sums(l)?;
        let own = own(self.f.params, &l.body, all, &sums)?;
        let at_once = TURNS.min(SUMS / (sums.len() * self.vectors).max(1));
        if at_once < 2 || turns < 2 * at_once as u64 {
            return None;
        }
        let before = (self.f.locals.len(), self.copies.len());
        let mut turn = l.body.clone();
        for k in 1..at_once {
            let mut copy = shifted(&l.body, l.var, (k as i32).wrapping_mul(l.step));
            let renamed: Vec<(LocalId, LocalId)> = own.iter().map(|of| (*of, self.copy(*of))).collect();
            walk::each_local_mut(&mut copy, &mut |id| {
                if let Some((_, new)) = renamed.iter().find(|(of, _)| of == id) {
                    *id = *new;
                }
            });
            turn.extend(copy);
        }
        let Some(turn) = jam::joined(&turn).filter(|t| t.iter().filter(|s| is_loop(s)).count() == 1) else {
            self.f.locals.truncate(before.0);
            self.copies.truncate(before.1);
            return None;
        };
        let rest = (turns % at_once as u64) as i32;
        // exact: the loop does not wrap around
        let to = last.wrapping_sub(rest.wrapping_mul(l.step));
        let cmp = if l.step > 0 { BinaryOp::Lt } else { BinaryOp::Gt };
        let step = l.step.wrapping_mul(at_once as i32);
        let main = For { cmp, to: Expr::int(to), step, body: turn, ..l.clone() };
        let mut out = vec![StmtKind::For(Box::new(main)).at(span)];
        let set = |value: i32| StmtKind::Assign(Place::local(l.var), Expr::int(value)).at(span);
        for k in 0..rest {
            out.push(set(to.wrapping_add(k.wrapping_mul(l.step))));
            out.extend(l.body.iter().cloned());
        }
        out.push(set(last));
        Some(out)
    }

    fn copy(&mut self, of: LocalId) -> LocalId {
        let local = self.f.locals[of.index()].clone();
        self.f.locals.push(local);
        self.copies.push(of);
        LocalId::from(self.f.locals.len() - 1)
    }
}

fn is_loop(s: &Stmt) -> bool {
    matches!(s.kind, StmtKind::For(_) | StmtKind::Loop(_))
}

/// The variables that the one inner loop of a nest writes, where it does nothing else.
fn sums(l: &For) -> Option<BTreeSet<LocalId>> {
    let mut loops = l.body.iter().filter(|s| is_loop(s));
    let (Some(inner), None) = (loops.next(), loops.next()) else { return None };
    let StmtKind::For(inner) = &inner.kind else { return None };
    trip(inner).filter(|(n, _)| *n >= FEWEST && !inner.abreast)?;
    inner.body.iter().map(|s| if let StmtKind::Assign(p, _) = &s.kind { p.as_local() } else { None }).collect()
}

/// All variables that are a turn's own, `sums` and the counters of loops among them; `None` where one of these is not.
fn own(params: u32, turn: &[Stmt], all: &[Stmt], sums: &BTreeSet<LocalId>) -> Option<BTreeSet<LocalId>> {
    let mut written = BTreeSet::new();
    for s in turn {
        match &s.kind {
            StmtKind::Assign(p, value) => {
                let first = p.as_local().filter(|id| !written.contains(id) && !reads(value, *id));
                written.extend(first.filter(|id| !read_before(turn, s, *id)));
            }
            StmtKind::For(inner) => {
                written.insert(inner.var);
            }
            _ => {}
        }
    }
    // a parameter may be the caller's
    written.retain(|id| id.0 >= params && walk::uses(all, *id) == walk::uses(turn, *id));
    let counters = turn.iter().filter_map(|s| if let StmtKind::For(l) = &s.kind { Some(l.var) } else { None });
    sums.iter().copied().chain(counters).all(|id| written.contains(&id)).then_some(written)
}

fn reads(e: &Expr, id: LocalId) -> bool {
    e.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(id)))
}

/// Is the variable used by a statement of the turn before this one?
fn read_before(turn: &[Stmt], s: &Stmt, id: LocalId) -> bool {
    turn.iter().take_while(|t| !std::ptr::eq(*t, s)).any(|t| walk::uses(std::slice::from_ref(t), id) > 0)
}
