//! # print-streams
//!
//! Purpose: few equal branches side by side as lanes of a vector, where the machine's vectors have as many ([`streams`](mod@sluice_kernel::passes::streams)). Input: their kernel. Output: a loop over its firings in vectors, before what all others do;
//! the last firings, behind which vectors would reach beyond the items, are left to that.
//!
//! ```text
//! for $b = 0 < 4 { $x = in($b)  state0[$b] = ((table0[$b] * state0[$b]) + $x)  out($b) = state0[$b] }
//!   →   sl_s4f x_1 = sl_s4f_load(in + 0);  z_0_state_v0 = ((table_0_table_v0 * z_0_state_v0) + x_1);  sl_s4f_store(out + 0, z_0_state_v0);
//! ```

use super::print_function::Printer;
use super::print_lane_values::vector;
use super::types::field_name;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::held::row;
use sluice_kernel::passes::streams::{Streams, in_both, streams};
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
        self.out = before + &of_lanes(&self.out, s.lanes());
    }

    fn in_vectors(&mut self, s: &Streams, steps: &str) {
        let Rates { peek, pop, push } = self.kernel.work.rates;
        // firings that vectors reach beyond this one's items, and beyond what it gives
        let over = |last: Option<u32>, own: u32, step: u32| {
            last.map_or(0, |last| (last + s.lanes()).saturating_sub(own).div_ceil(step.max(1)))
        };
        let last = over(s.read, peek, pop).max(over(s.given, push, push));
        let _ = writeln!(self.out, "#if SL_STREAM_LANES >= {}\n    if (n > {last}) {{", s.lanes());
        let fields = self.registers(s);
        let _ = writeln!(self.out, "        for (; n > {last}; n--{steps}) {{");
        let f = self.kernel.function(self.kernel.work.function);
        for id in &s.arrays {
            let (ty, name) = (&f.locals[id.index()].ty, self.array(*id));
            let all: Vec<String> = (0..s.rows(ty)).map(|v| format!("{name}_v{v}")).collect();
            let _ = writeln!(self.out, "            SL_UNUSED {} {};", vector(element(ty)), all.join(", "));
        }
        for stmt in &f.body {
            let StmtKind::For(l) = &stmt.kind else { continue };
            for turn in s.turns(l) {
                self.out.push_str("            {\n");
                let at = At { s, var: l.var, turn };
                self.turn(&at, &l.body, None, &mut BTreeSet::new());
                self.out.push_str("            }\n");
            }
        }
        let _ = write!(self.out, "        }}\n{fields}    }}\n#endif\n");
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
            for v in 0..s.rows(ty) {
                // one by one: what is copied as a piece of memory gcc keeps in memory all the time
                let elements =
                    |of: &dyn Fn(u32, u32) -> String| (0..s.count).map(|k| of(k, v * s.count + k)).collect::<Vec<_>>();
                let values = elements(&|_, at| format!("{from}[{at}]")).join(", ");
                let _ = writeln!(text, "        SL_UNUSED {} {name}_{what}_v{v} = {{{values}}};", vector(element(ty)));
                if written {
                    let stored = elements(&|k, at| format!("{from}[{at}] = {name}_{what}_v{v}[{k}];")).join(" ");
                    let _ = writeln!(back, "        {stored}");
                }
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

    /// A turn of all branches of a vector. `arm`: the condition under which values are taken.
    fn turn(&mut self, at: &At<'_>, body: &[Stmt], arm: Option<&str>, declared: &mut BTreeSet<LocalId>) {
        let pad = "                ";
        for s in body {
            match &s.kind {
                StmtKind::Assign(p, e) => {
                    let value = self.of_stream(at, e);
                    match &p.base {
                        Base::Out(to) => {
                            let from = row(to, at.var).map_or(0, |r| r.from) + at.turn;
                            let v = vector(&self.kernel.output);
                            let _ = writeln!(self.out, "{pad}{v}_store(out + {from}, {value});");
                        }
                        Base::Local(id) if p.path.is_empty() && declared.insert(*id) => {
                            let ty = &self.kernel.function(self.kernel.work.function).locals[id.index()].ty;
                            let _ = writeln!(self.out, "{pad}{} {} = {value};", vector(ty), self.local(*id));
                        }
                        _ => {
                            let to = self.variable(at, p);
                            let value = match arm {
                                Some(c) => format!("{}_select({c}, {value}, {to})", vector(&e.ty)),
                                None => value,
                            };
                            let _ = writeln!(self.out, "{pad}{to} = {value};");
                        }
                    }
                }
                StmtKind::If(c, a, b) => {
                    for id in in_both(a, b).into_iter().filter(|id| declared.insert(*id)) {
                        let ty = &self.kernel.function(self.kernel.work.function).locals[id.index()].ty;
                        let _ = writeln!(self.out, "{pad}{} {} = {{0}};", vector(ty), self.local(id));
                    }
                    self.serial += 1;
                    let (yes, no) = (format!("yes_{}_", self.serial), format!("no_{}_", self.serial));
                    let asked = self.of_stream(at, c);
                    let of = |c: String| arm.map_or_else(|| c.clone(), |arm| format!("({arm} & {c})"));
                    let _ = writeln!(self.out, "{pad}const sl_vi {yes} = {};", of(asked));
                    if !b.is_empty() {
                        let _ = writeln!(self.out, "{pad}const sl_vi {no} = {};", of(format!("~{yes}")));
                    }
                    for (name, arm) in [(&yes, a), (&no, b)].into_iter().filter(|(_, arm)| !arm.is_empty()) {
                        let _ = writeln!(self.out, "{pad}{{");
                        self.turn(at, arm, Some(name), &mut declared.clone());
                        let _ = writeln!(self.out, "{pad}}}");
                    }
                }
                _ => {}
            }
        }
    }

    /// The vector that a place is.
    fn variable(&self, at: &At<'_>, p: &Place) -> String {
        let row = || at.s.element(p, at.var, at.turn).unwrap_or(0);
        match &p.base {
            Base::Local(id) if p.path.is_empty() => self.local(*id),
            Base::Local(id) => format!("{}_v{}", self.array(*id), row()),
            Base::State(id) => format!("{}_state_v{}", self.field(*id), row()),
            Base::Table(id) => format!("{}_table_v{}", self.table_of(*id), row()),
            _ => String::new(),
        }
    }

    /// A value of a vector of branches, as an operand.
    fn of_stream(&self, at: &At<'_>, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Load(p) => match &p.base {
                Base::In(from) => match row(from, at.var) {
                    Some(r) => format!("{}_load(in + {})", vector(&e.ty), r.from + at.turn),
                    None => self.splat(e),
                },
                _ => self.variable(at, p),
            },
            _ => self.vector_of(e, &|e| self.of_stream(at, e)),
        }
    }
}

/// C text of lanes, of so many of them. Only types and functions change their names: those of a program's variables end in numbers.
fn of_lanes(text: &str, lanes: u32) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| word(c) != word(first)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let kind = name.strip_prefix("sl_v").and_then(|kind| Some((kind.get(..1)?, kind.get(1..)?)));
        match kind {
            Some((kind @ ("f" | "i"), more)) if more.is_empty() || more.starts_with('_') && after.starts_with('(') => {
                let _ = write!(out, "sl_s{lanes}{kind}{more}");
            }
            _ => out.push_str(name),
        }
        rest = after;
    }
    out
}

/// Which turns are printed: those of a loop over branches, from one on.
struct At<'s> {
    s: &'s Streams,
    var: LocalId,
    turn: u32,
}

/// The type of an array's numbers.
fn element(ty: &Ty) -> &Ty {
    ty.element().unwrap_or(ty)
}
