//! # print-arrays
//!
//! Purpose: a filter with its arrays in vector registers ([`held`](mod@sluice_kernel::passes::held)). Input: its kernel. Output: a loop over its firings in vectors, for compilers and machines that have enough
//! registers, before what all others do.
//!
//! ```text
//! state cost int[64]; for $j = 0 < 32 { $a = (cost[(2 * $j)] + in($j))  next[$j] = min($a, …)  odd[$j] = select(($a > …), 1, 0) }  cost = next
//!   →   sl_vi cost[64 / SL_LANES];  a = sl_vi_second(cost[2 * v], cost[2 * v + 1], even, 0) + sl_vi_load(in + v * SL_LANES);  next[v] = sl_vi_min(a, …);
//!       odd |= (sl_truths)SL_COMPARED(a, >, …, 6) << v * SL_LANES;
//! ```

use super::print_function::Printer;
use super::types::{c_type, field_name};
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::clean::trip;
use sluice_kernel::passes::held::{self, Array, Held, Row, row, words};
use sluice_kernel::passes::pack_bits::truth;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Printer<'_> {
    /// The firings with arrays in registers: then none is left.
    pub(super) fn in_registers(&mut self) {
        let Some(held) = held::held(self.kernel) else { return };
        let (pop, push) = (self.kernel.work.rates.pop, self.kernel.work.rates.push);
        let _ = write!(self.out, "#if SL_IN_REGISTERS >= {}\n    {{\n", held.lengths.values().sum::<u32>());
        for (array, n) in &held.lengths {
            let _ = writeln!(self.out, "        sl_vi {}[{n} / SL_LANES];", self.held(*array));
        }
        self.out.push_str("        sl_vi even;\n        for (int l = 0; l < SL_LANES; l++) even[l] = 2 * l;\n");
        self.moved(&held, false);
        let step =
            |name: &str, ty: &Ty, n: u32| if *ty == Ty::Void { String::new() } else { format!(", {name} += {n}") };
        let (taken, given) = (step("in", &self.kernel.input, pop), step("out", &self.kernel.output, push));
        let _ = writeln!(self.out, "        for (; n > 0; n--{taken}{given}) {{");
        for (id, n) in &held.bits {
            let name = self.bits_of(*id);
            let _ = writeln!(self.out, "            sl_truths {name}[({n} + SL_TRUTHS - 1) / SL_TRUTHS] = {{0}};");
        }
        let f = self.kernel.function(self.kernel.work.function);
        let mut declared = BTreeSet::new();
        for s in &f.body {
            match &s.kind {
                StmtKind::Assign(p, e) => self.whole(&held, p, e, &mut declared),
                StmtKind::For(l) => match words(l) {
                    Some((array, p)) => {
                        let (word, at) = (self.local(p.word), p.at as u32);
                        let mut bits = format!("({}[{at} / SL_TRUTHS] >> {at} % SL_TRUTHS)", self.bits_of(array));
                        if p.items < 32 {
                            bits = format!("(({bits} & {}) << {})", (1u32 << p.items) - 1, p.bit);
                        }
                        let _ = writeln!(self.out, "            {word} = {word} | (int32_t){bits};");
                    }
                    None => self.turns_abreast(&held, l),
                },
                _ => {}
            }
        }
        self.out.push_str("        }\n");
        self.moved(&held, true);
        self.out.push_str("    }\n#endif\n");
    }

    /// What is the same for all lanes, and whole arrays.
    fn whole(&mut self, held: &Held, p: &Place, e: &Expr, declared: &mut BTreeSet<LocalId>) {
        let _ = match (&p.base, Array::of(&p.base)) {
            (Base::Local(id), _) if held.uniform.contains(id) => {
                let ty = &self.kernel.function(self.kernel.work.function).locals[id.index()].ty;
                let ty = if declared.insert(*id) { format!("{} ", c_type(ty)) } else { String::new() };
                let (name, value) = (self.local(*id), self.expr(e));
                writeln!(self.out, "            {ty}{name} = {value};")
            }
            (Base::Out(at), _) => {
                let value = self.expr(e);
                writeln!(self.out, "            out[{}] = {value};", at.as_int().unwrap_or(0))
            }
            (_, Some(to)) => {
                let from = match &e.kind {
                    ExprKind::Load(p) => Array::of(&p.base).map(|a| format!("{}[v]", self.held(a))),
                    _ => None,
                };
                let (name, from) = (self.held(to), from.unwrap_or_else(|| "(sl_vi){0}".into()));
                let n = held.lengths[&to];
                writeln!(
                    self.out,
                    "#pragma GCC unroll 16\n            for (int v = 0; v < {n} / SL_LANES; v++) {name}[v] = {from};"
                )
            }
            _ => Ok(()),
        };
    }

    /// Fields to registers, or back.
    fn moved(&mut self, held: &Held, back: bool) {
        for (array, n) in &held.lengths {
            let Array::State(id) = array else { continue };
            let (name, field) = (self.held(*array), field_name(id.index(), &self.kernel.state[id.index()].name));
            let at = format!("st->{field}.v + v * SL_LANES");
            let text =
                if back { format!("sl_vi_store({at}, {name}[v])") } else { format!("{name}[v] = sl_vi_load({at})") };
            let _ =
                writeln!(self.out, "#pragma GCC unroll 16\n        for (int v = 0; v < {n} / SL_LANES; v++) {text};");
        }
    }

    fn held(&self, array: Array) -> String {
        match array {
            Array::Local(id) => format!("{}_held", self.local(id)),
            Array::State(id) => format!("{}_state", field_name(id.index(), &self.kernel.state[id.index()].name)),
        }
    }

    /// The words of an array of bits.
    fn bits_of(&self, id: LocalId) -> String {
        format!("{}_bits", self.local(id))
    }

    fn turns_abreast(&mut self, held: &Held, l: &For) {
        let n = trip(l).map_or(0, |(n, _)| n);
        let _ = writeln!(self.out, "#pragma GCC unroll 16\n            for (int v = 0; v < {n} / SL_LANES; v++) {{");
        let mut declared = BTreeSet::new();
        for s in &l.body {
            let StmtKind::Assign(p, e) = &s.kind else { continue };
            if let (Base::Local(id), Some(Proj::Index(at))) = (&p.base, p.path.first())
                && let (Some(c), Some(r), true) = (truth(e), row(at, l.var), held.bits.contains_key(id))
            {
                let (bits, truths) = (self.bits_of(*id), self.truths(held, c, l.var));
                let at = format!("v * SL_LANES + {}", r.from);
                let _ = writeln!(
                    self.out,
                    "                {bits}[({at}) / SL_TRUTHS] |= (sl_truths){truths} << ({at}) % SL_TRUTHS;"
                );
                continue;
            }
            let value = self.abreast(held, e, l.var);
            let _ = match (&p.base, p.path.first()) {
                (Base::Local(id), None) => {
                    let ty = if declared.insert(*id) { "sl_vi " } else { "" };
                    writeln!(self.out, "                {ty}{} = {value};", self.local(*id))
                }
                (Base::Out(at), _) => {
                    let from = row(at, l.var).map_or(0, |r| r.from);
                    writeln!(self.out, "                sl_vi_store(out + v * SL_LANES + {from}, {value});")
                }
                (base, Some(Proj::Index(at))) => {
                    let (Some(array), Some(r)) = (Array::of(base), row(at, l.var)) else { continue };
                    writeln!(self.out, "                {}[v + {} / SL_LANES] = {value};", self.held(array), r.from)
                }
                _ => Ok(()),
            };
        }
        self.out.push_str("            }\n");
    }

    /// A value of a vector of turns, as an operand.
    fn abreast(&self, held: &Held, e: &Expr, var: LocalId) -> String {
        let of = |e: &Expr| self.abreast(held, e, var);
        match &e.kind {
            ExprKind::Load(p) => match (&p.base, p.path.first()) {
                (Base::Local(id), None) if *id == var => "((even >> 1) + v * SL_LANES)".into(),
                (Base::Local(id), None) if held.uniform.contains(id) => self.splat(e),
                (Base::Local(id), None) => self.local(*id),
                (Base::In(at), _) => self.elements(&|v| format!("sl_vi_load(in + {v})"), at, var),
                (Base::Table(id), Some(Proj::Index(at))) => {
                    let table = self.table_name(*id);
                    self.elements(&|v| format!("sl_vi_load({table}.v + {v})"), at, var)
                }
                (base, Some(Proj::Index(at))) => {
                    let name = Array::of(base).map_or_else(String::new, |a| self.held(a));
                    self.elements(&|v| format!("{name}[({v}) / SL_LANES]"), at, var)
                }
                _ => String::new(),
            },
            // a truth is all ones
            ExprKind::Select(c, a, b) if b.as_int() == Some(0) => format!("({} & {})", of(c), of(a)),
            _ => self.vector_of(e, &of),
        }
    }

    /// Whether something holds, each lane a bit.
    fn truths(&self, held: &Held, c: &Expr, var: LocalId) -> String {
        use BinaryOp::*;
        let of = |e: &Expr| self.abreast(held, e, var);
        let zero = Expr::int(0);
        let (op, a, b) = match &c.kind {
            ExprKind::Binary(op @ (Lt | Le | Gt | Ge | Eq | Ne), a, b) if a.ty == Ty::Int => (*op, &**a, &**b),
            _ => (Ne, c, &zero),
        };
        // as AVX-512 numbers them
        let which = match op {
            Eq => 0,
            Lt => 1,
            Le => 2,
            Ne => 4,
            Ge => 5,
            _ => 6,
        };
        format!("SL_COMPARED({}, {}, {}, {which})", of(a), op.symbol(), of(b))
    }

    /// The elements of a vector of turns; `whole` is a vector of neighbours from a position on.
    fn elements(&self, whole: &dyn Fn(&str) -> String, at: &Expr, var: LocalId) -> String {
        match row(at, var) {
            Some(Row { stride: 2, from }) => {
                let (odd, from) = (from % 2, from - from % 2);
                let (low, high) = (format!("2 * v * SL_LANES + {from}"), format!("(2 * v + 1) * SL_LANES + {from}"));
                format!("sl_vi_second({}, {}, even, {odd})", whole(&low), whole(&high))
            }
            Some(Row { from, .. }) => whole(&format!("v * SL_LANES + {from}")),
            None => String::new(),
        }
    }
}
