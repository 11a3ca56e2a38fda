//! # loop-shape
//!
//! Purpose: what the load model of C-slow asks of a filter: a firing as the body of a loop. Input: a kernel after
//! [`crate::passes::prepare`]. Output: [`LoopShape`].
//!
//! State that is a scalar stays in a register from one firing to the next, so it is no access to memory here; items, arrays and tables are.
//! Jumping back costs a cycle. What is live is an estimate: a variable lives from where it first occurs to where it last does, through loops
//! that it enters; state lives all the time.
//!
//! ```text
//! r = c * r + pop(); push(r);    →    d_C = 5 (multiply, add, read, write, jump), n_RW = 2, live = 2
//! ```

use crate::cost;
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// A firing as the body of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopShape {
    /// d_C: cycles that it computes.
    pub cycles: u64,
    /// n_RW: reads and writes of memory.
    pub accesses: u64,
    /// Registers of 32 bits that hold scalars at once.
    pub live: u64,
}

/// The shape of a firing of `work`.
pub fn loop_shape(kernel: &Kernel) -> LoopShape {
    let (kernel, carried) = state_in_registers(kernel);
    let cost = cost::firing(&kernel);
    LoopShape {
        cycles: cost.cycles().saturating_add(1),
        accesses: cost.load.saturating_add(cost.store),
        live: live(&kernel, &carried),
    }
}

/// Registers for a value; none for what lies in memory.
fn registers(ty: &Ty) -> u64 {
    match ty {
        Ty::Bit | Ty::Bool | Ty::Int | Ty::Float => 1,
        Ty::Double | Ty::Complex => 2,
        Ty::Vec(n) => u64::from(*n),
        _ => 0,
    }
}

/// Scalar state as variables of each function, and which variables of work these are.
fn state_in_registers(kernel: &Kernel) -> (Kernel, Vec<LocalId>) {
    let mut out = kernel.clone();
    let mut carried = Vec::new();
    for (i, f) in out.functions.iter_mut().enumerate() {
        let mut moved: BTreeMap<StateId, LocalId> = BTreeMap::new();
        let locals = &mut f.locals;
        walk::each_place_mut(&mut f.body, &mut |p| {
            let Base::State(id) = p.base else { return };
            let field = &kernel.state[id.index()];
            if registers(&field.ty) == 0 {
                return;
            }
            let local = *moved.entry(id).or_insert_with(|| {
                locals.push(Local { name: field.name.clone(), ty: field.ty.clone(), by_ref: false });
                LocalId::from(locals.len() - 1)
            });
            p.base = Base::Local(local);
        });
        if i == kernel.work.function.index() {
            carried = moved.into_values().collect();
        }
    }
    (out, carried)
}

/// The most registers live at once in work, with those of the most demanding function that it calls.
fn live(kernel: &Kernel, carried: &[LocalId]) -> u64 {
    let work = kernel.function(kernel.work.function);
    let mut below = 0;
    walk::each_stmt(&work.body, &mut |s| {
        if let StmtKind::Call { callee: Callee::Func(f), .. } = &s.kind {
            below = kernel.function(*f).locals.iter().map(|l| registers(&l.ty)).sum::<u64>().max(below);
        }
    });
    let mut r = Ranges { at: 0, seen: carried.iter().map(|l| (*l, (0, 0))).collect() };
    r.body(&work.body);
    for l in carried {
        r.seen.insert(*l, (0, r.at));
    }
    let mut change: BTreeMap<u64, i64> = BTreeMap::new();
    for (id, (first, last)) in &r.seen {
        let n = registers(&work.locals[id.index()].ty) as i64;
        *change.entry(*first).or_default() += n;
        *change.entry(*last + 1).or_default() -= n;
    }
    let (mut now, mut most) = (0, 0);
    for n in change.values() {
        now += n;
        most = most.max(now);
    }
    most as u64 + below
}

/// Where each variable first and last occurs, in the order of the text.
struct Ranges {
    at: u64,
    seen: BTreeMap<LocalId, (u64, u64)>,
}

impl Ranges {
    fn body(&mut self, body: &[Stmt]) {
        for s in body {
            self.at += 1;
            let start = self.at;
            s.kind.each_own_expr(&mut |e| {
                e.walk(&mut |e| {
                    if let ExprKind::Load(Place { base: Base::Local(id), .. }) = &e.kind {
                        self.occurs(*id);
                    }
                })
            });
            for p in s.kind.targets() {
                if let Base::Local(id) = p.base {
                    self.occurs(id);
                }
            }
            if let StmtKind::For(l) = &s.kind {
                self.occurs(l.var);
            }
            for b in s.kind.bodies() {
                self.body(b);
            }
            if let StmtKind::For(_) | StmtKind::Loop(_) = s.kind {
                // what comes into a loop, and is used in it, is used in every turn
                let end = self.at;
                for (first, last) in self.seen.values_mut() {
                    if *first <= start && *last > start {
                        *last = end;
                    }
                }
            }
        }
    }

    fn occurs(&mut self, id: LocalId) {
        self.seen.entry(id).or_insert((self.at, self.at)).1 = self.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{LowerOptions, lower};
    use crate::passes::prepare;
    use sluice_frontend::{NoImports, Options, SourceInput, analyse};

    fn shape(filter: &str) -> LoopShape {
        let source = SourceInput { name: "a.str".into(), text: filter.into() };
        let program = analyse(vec![source], &Options::default(), &mut NoImports).program.unwrap();
        let kernel = lower(&program.codes[0], &program.globals, LowerOptions::default()).unwrap();
        loop_shape(&prepare(kernel))
    }

    #[test]
    fn the_papers_filter() {
        let found = shape("float->float filter Decay { float r; work pop 1 push 1 { r = 0.5 * r + pop(); push(r); } }");
        assert_eq!((found.cycles, found.accesses), (5, 2));
        assert!((1..=3).contains(&found.live), "{found:?}");
    }

    #[test]
    fn arrays_are_memory_and_doubles_are_wide() {
        let text = "float->float filter A { float[8] a; int n; double d; work pop 1 push 1 {
            a[n] = pop(); n = (n + 1) & 7; d = d * 0.5; push(a[n] + (float) d); } }";
        let found = shape(text);
        // an item read and written, an element written and read
        assert_eq!(found.accesses, 4);
        assert!(found.live >= 3, "{found:?}");
    }

    #[test]
    fn what_enters_a_loop_lives_through_it() {
        let many = |inside: &str| {
            shape(&format!(
                "float->float filter A {{ work pop 4 push 1 {{ float a = pop(); float b = pop(); float c = pop(); float s = 0;
                for (int i = 0; i < 100; i++) {{ s = s * a + i; {inside} }} push(s); }} }}"
            ))
        };
        assert!(many("s += b * c; s += b - c;").live > many("").live);
    }
}
