//! # print-streams
//!
//! Purpose: few equal branches side by side as lanes of a vector ([`streams`](mod@sluice_kernel::passes::streams)). Input: their kernel. Output: a loop over its firings in vectors, before what all others do;
//! the last firings, behind which vectors would reach beyond the items, are left to that.
//!
//! ```text
//! for $b = 0 < 4 { $x = in($b)  state0[$b] = ((table0[$b] * state0[$b]) + $x)  out($b) = state0[$b] }
//!   →   sl_s4f x_1 = sl_s4f_load(in + 0);  z_0_state = ((table_0_table * z_0_state) + x_1);  sl_s4f_store(out + 0, z_0_state);
//! ```

use super::print_function::Printer;
use super::print_lane_values::vector;
use super::types::field_name;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::held::row;
use sluice_kernel::passes::streams::{Streams, streams};
use sluice_kernel::passes::waves;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Printer<'_> {
    /// The firings in vectors of branches, but for the last.
    pub(super) fn streams(&mut self, steps: &str) {
        if waves::wave(self.kernel).is_some() {
            return;
        }
        let Some(s) = streams(self.kernel) else { return };
        let before = std::mem::take(&mut self.out);
        self.in_vectors(&s, steps);
        // the names are those of lanes, for another number of them
        let lanes = s.lanes();
        let text = self.out.replace("sl_vf", &format!("sl_s{lanes}f")).replace("sl_vi", &format!("sl_s{lanes}i"));
        self.out = before + &text;
    }

    fn in_vectors(&mut self, s: &Streams, steps: &str) {
        let Rates { peek, pop, push } = self.kernel.work.rates;
        // firings that vectors reach beyond this one's items, and beyond what it gives
        let over = |last: Option<u32>, own: u32, step: u32| {
            last.map_or(0, |last| (last + s.lanes()).saturating_sub(own).div_ceil(step.max(1)))
        };
        let last = over(s.read, peek, pop).max(over(s.given, push, push));
        let _ = writeln!(self.out, "    if (n > {last}) {{");
        let fields = self.registers(s);
        let _ = writeln!(self.out, "        for (; n > {last}; n--{steps}) {{");
        let f = self.kernel.function(self.kernel.work.function);
        for id in &s.arrays {
            let (ty, name) = (&f.locals[id.index()].ty, self.array(*id));
            let _ = writeln!(self.out, "            {} {name};", vector(element(ty)));
        }
        for stmt in &f.body {
            let StmtKind::For(l) = &stmt.kind else { continue };
            self.out.push_str("            {\n");
            self.turn(l);
            self.out.push_str("            }\n");
        }
        let _ = write!(self.out, "        }}\n{fields}    }}\n");
    }

    /// Fields and tables in vectors. Gives how fields are written again.
    fn registers(&mut self, s: &Streams) -> String {
        let fields = s.fields.iter().map(|id| {
            let (name, ty) = (self.field(*id), &self.kernel.state[id.index()].ty);
            (name.clone(), ty, format!("st->{name}.v"), "state", s.written.contains(id))
        });
        let tables = s.tables.iter().map(|id| {
            let ty = &self.kernel.tables[id.index()].ty;
            (self.table_of(*id), ty, format!("{}.v", self.table_name(*id)), "table", false)
        });
        let mut back = String::new();
        let mut text = String::new();
        for (name, ty, from, what, written) in fields.chain(tables) {
            // one by one: what is copied as a piece of memory gcc keeps in memory all the time
            let elements = |of: &dyn Fn(u32) -> String| (0..s.count).map(of).collect::<Vec<_>>();
            let values = elements(&|k| format!("{from}[{k}]")).join(", ");
            let _ = writeln!(text, "        {} {name}_{what} = {{{values}}};", vector(element(ty)));
            if written {
                let stored = elements(&|k| format!("{from}[{k}] = {name}_{what}[{k}];")).join(" ");
                let _ = writeln!(back, "        {stored}");
            }
        }
        self.out.push_str(&text);
        back
    }

    fn field(&self, id: StateId) -> String {
        field_name(id.index(), &self.kernel.state[id.index()].name)
    }

    fn array(&self, id: LocalId) -> String {
        format!("{}_held", self.local(id))
    }

    fn table_of(&self, id: TableId) -> String {
        format!("table_{}", id.0)
    }

    /// A turn of all branches of a vector.
    fn turn(&mut self, l: &For) {
        let mut declared = BTreeSet::new();
        for s in &l.body {
            let StmtKind::Assign(p, e) = &s.kind else { continue };
            let value = self.of_stream(e, l.var);
            let pad = "                ";
            let _ = match (&p.base, p.path.is_empty()) {
                (Base::Local(id), true) => {
                    let ty = &self.kernel.function(self.kernel.work.function).locals[id.index()].ty;
                    let ty = if declared.insert(*id) { format!("{} ", vector(ty)) } else { String::new() };
                    writeln!(self.out, "{pad}{ty}{} = {value};", self.local(*id))
                }
                (Base::Local(id), false) => writeln!(self.out, "{pad}{} = {value};", self.array(*id)),
                (Base::State(id), _) => writeln!(self.out, "{pad}{}_state = {value};", self.field(*id)),
                (Base::Out(at), _) => {
                    let from = row(at, l.var).map_or(0, |r| r.from);
                    let v = vector(&self.kernel.output);
                    writeln!(self.out, "{pad}{v}_store(out + {from}, {value});")
                }
                _ => Ok(()),
            };
        }
    }

    /// A value of a vector of branches, as an operand.
    fn of_stream(&self, e: &Expr, var: LocalId) -> String {
        let ExprKind::Load(p) = &e.kind else { return self.vector_of(e, &|e| self.of_stream(e, var)) };
        match (&p.base, p.path.is_empty()) {
            (Base::Local(id), true) => self.local(*id),
            (Base::Local(id), false) => self.array(*id),
            (Base::State(id), _) => format!("{}_state", self.field(*id)),
            (Base::Table(id), _) => format!("{}_table", self.table_of(*id)),
            (Base::In(at), _) => match row(at, var) {
                Some(r) => format!("{}_load(in + {})", vector(&e.ty), r.from),
                None => self.splat(e),
            },
            _ => String::new(),
        }
    }
}

/// The type of an array's numbers.
fn element(ty: &Ty) -> &Ty {
    ty.element().unwrap_or(ty)
}
