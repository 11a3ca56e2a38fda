//! # print-kept
//!
//! Purpose: fields that a firing writes become variables for all firings of a call, so that they are registers: numbers, small arrays at known places, and arrays that loops over branches have a vector
//! of. Input: a kernel. Output: variables before the loop over firings, fields again behind it.
//!
//! ```text
//! for $b = 0 < 64 { state0[$b] = ((table0[$b] * state0[$b]) + in($b)) }
//!   →   sl_arr_64_float z_0_kept = st->z_0;  for (…) { … z_0_kept.v[b] = …  }  st->z_0 = z_0_kept;
//! ```
//!
//! What must hold: nobody else looks at the fields while the firings run. (A firing that stops the program leaves them as they were: nobody looks at them then.)

use super::print_function::Printer;
use super::types::{c_type, field_name};
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::clean::trip;
use sluice_kernel::passes::unroll;
use sluice_kernel::walk;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Numbers in a field that becomes variables, at most: they should be registers.
const MOST: u32 = 16;

/// The same of all fields together that loops over branches have vectors of: half of the widest machine's registers.
const MOST_ABREAST: u32 = 256;

/// Turns of such a loop, more than: gcc writes out shorter ones before it looks for vectors, so that these must be kept from that, and then it keeps nothing in registers.
const SHORT: u64 = 16;

/// Statements and operations in all vectors of such a loop, at most, of the widest machine: gcc does not write out more, and a loop that stays has its arrays in memory.
const WRITTEN_OUT: usize = 400;

/// Lanes of the widest machine.
const WIDEST: u64 = 16;

/// A loop over branches whose vectors a C compiler writes out one by one.
pub(super) fn vectors_written_out(l: &For) -> bool {
    let vectors = |n: u64| n.div_ceil(WIDEST) as usize;
    l.abreast
        && trip(l).is_some_and(|(n, _)| {
            n > SHORT && n <= u64::from(MOST_ABREAST) && unroll::size(&l.body).saturating_mul(vectors(n)) <= WRITTEN_OUT
        })
}

/// Which fields a firing writes, and how.
#[derive(Default)]
struct Uses {
    written: BTreeSet<StateId>,
    /// Of places that are not known, or as a whole.
    moving: BTreeSet<StateId>,
    /// By loops over branches, each turn an element of its own.
    abreast: BTreeSet<StateId>,
    calls: bool,
}

impl Uses {
    /// `over`: what the loops around it over branches count.
    fn body(&mut self, body: &[Stmt], over: &mut Vec<LocalId>, state: &[StateField]) {
        for s in body {
            self.calls |= matches!(s.kind, StmtKind::Call { .. });
            for p in s.kind.targets() {
                self.place(p, over, state);
                self.written.extend(if let Base::State(id) = p.base { Some(id) } else { None });
            }
            s.kind.each_own_expr(&mut |e| {
                e.walk(&mut |e| {
                    if let ExprKind::Load(p) = &e.kind {
                        self.place(p, over, state);
                    }
                });
            });
            let loops = match &s.kind {
                StmtKind::For(l) if vectors_written_out(l) => {
                    over.push(l.var);
                    true
                }
                _ => false,
            };
            for b in s.kind.bodies() {
                self.body(b, over, state);
            }
            if loops {
                over.pop();
            }
        }
    }

    fn place(&mut self, p: &Place, over: &[LocalId], state: &[StateField]) {
        let Base::State(id) = p.base else { return };
        let mut known = !(p.path.is_empty() && state[id.index()].ty.is_aggregate());
        for step in &p.path {
            let Proj::Index(e) = step else { continue };
            match &e.kind {
                ExprKind::Load(at) if at.as_local().is_some_and(|v| over.contains(&v)) => drop(self.abreast.insert(id)),
                _ => known &= e.as_int().is_some(),
            }
        }
        if !known {
            self.moving.insert(id);
        }
    }
}

impl Printer<'_> {
    /// Fields become variables: a C compiler does that itself only where each firing writes them in any case and nothing can stop it.
    pub(super) fn keep(&mut self) {
        let state = &self.kernel.state;
        let mut uses = Uses::default();
        uses.body(&self.function().body, &mut Vec::new(), state);
        if uses.calls {
            return;
        }
        uses.moving.extend(self.kernel.tapes.iter().map(|t| t.state));
        let few = |id: &StateId| numbers(&state[id.index()].ty).is_some_and(|n| n <= MOST);
        let of = |ids: &BTreeSet<StateId>| {
            ids.iter().map(|id| numbers(&state[id.index()].ty).unwrap_or(u32::MAX)).fold(0, u32::saturating_add)
        };
        let all: BTreeSet<StateId> = uses.written.difference(&uses.moving).copied().collect();
        let mut kept: BTreeSet<StateId> = all.difference(&uses.abreast).filter(|id| few(id)).copied().collect();
        let abreast: BTreeSet<StateId> = all.intersection(&uses.abreast).copied().collect();
        if !self.device() && of(&abreast) <= MOST_ABREAST {
            kept.extend(abreast);
        }
        for id in &kept {
            let s = &state[id.index()];
            let name = field_name(id.index(), &s.name);
            let _ = writeln!(self.out, "    {} {} = st->{name};", c_type(&s.ty), kept_name(&name));
        }
        self.kept = kept;
    }

    /// Such variables become fields again.
    pub(super) fn put_back(&mut self) {
        for id in std::mem::take(&mut self.kept) {
            let name = field_name(id.index(), &self.kernel.state[id.index()].name);
            let _ = writeln!(self.out, "    st->{name} = {};", kept_name(&name));
        }
    }

    /// Does a loop over branches go over such variables, so that it may be written out?
    pub(super) fn over_kept(&self, l: &For) -> bool {
        let kept = |p: &Place| matches!(p.base, Base::State(id) if self.kept.contains(&id));
        let mut found = false;
        walk::each_stmt(&l.body, &mut |s| found |= s.kind.targets().into_iter().any(kept));
        found && vectors_written_out(l)
    }
}

/// How many numbers a value has; `None` for a struct.
fn numbers(ty: &Ty) -> Option<u32> {
    match ty {
        Ty::Array(e, _) => numbers(e)?.checked_mul(ty.known_len()?),
        Ty::Struct(_) => None,
        _ => Some(1),
    }
}

/// The variable that a field is for a while. Names of variables end in their number.
pub(super) fn kept_name(field: &str) -> String {
    format!("{field}_kept")
}
