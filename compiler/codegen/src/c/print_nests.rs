//! # print-nests
//!
//! Purpose: loops whose turns take sums, several vectors of turns at once. Input: a loop of which [`turns_abreast::nest`] knows how. Output: C; turns that are left over go vector by vector, the
//! last of them with some that have been taken before.
//!
//! ```text
//! for $lag = 20 < 148 abreast { $s = 0f  for $i = 0 < 160 { $s = ($s + ($x[$i] * $x[($i + $lag)])) }  $sums[($lag + -20)] = $s }
//!   →   for (; lag_1 + 4 * SL_LANES <= 148; lag_1 += 4 * SL_LANES) {
//!           sl_vf s_0_0 = {0}, s_0_1 = {0}, s_0_2 = {0}, s_0_3 = {0};
//!           for (i_2 = 0; i_2 < 160; i_2++) {
//!               s_0_0 = (s_0_0 + (sl_vf_splat(x_3.v[i_2]) * sl_vf_load(&x_3.v[i_2 + lag_1] + 0 * SL_LANES)));  …
//! ```

use super::print_function::Printer;
use super::print_lane_values::vector;
use sluice_kernel::ir::*;
use sluice_kernel::passes::clean::trip;
use sluice_kernel::passes::turns_abreast::{self, Nest, varies};
use std::fmt::Write;

/// Vectors of sums that are in registers at once: enough for an addition that waits for the one before, few enough for 16 registers.
const SUMS: usize = 4;

/// Lanes of the widest machine; a loop has as many turns, at least.
const WIDEST: u32 = 16;

impl Printer<'_> {
    /// Prints a loop in vectors, where that can be done.
    pub(super) fn nests(&mut self, s: &Stmt, l: &For, depth: usize) -> bool {
        if self.device() || self.layout.is_some() {
            return false;
        }
        let (Some(nest), Some((turns, end))) = (turns_abreast::nest(self.function(), l), trip(l)) else { return false };
        let (pad, var) = ("    ".repeat(depth), self.local(l.var));
        let (from, int) = (self.expr(&l.from), if self.scopes.declares(s, l.var) { "int32_t " } else { "" });
        let _ = writeln!(self.out, "{pad}{{\n{pad}    {int}{var} = {from};");
        let most = (SUMS / nest.sums.max(1)).max(1);
        // few turns are less than the most on some machine: two vectors at once wait for themselves less than one after the other
        let even = turns % (SUMS as u64 * u64::from(WIDEST)) == 0;
        let mut at_once = vec![most, if even { 1 } else { most.div_ceil(2) }, 1];
        at_once.dedup();
        for vectors in &at_once {
            let all = format!("{vectors} * SL_LANES");
            let _ = writeln!(self.out, "{pad}    for (; {var} + {all} <= {end}; {var} += {all}) {{");
            self.turns_in_vectors(l, &nest, *vectors, depth + 2);
            let _ = writeln!(self.out, "{pad}    }}");
        }
        // turns write nothing that they read: some may come once more
        if turns % u64::from(WIDEST) != 0 {
            let _ = writeln!(self.out, "{pad}    if ({var} < {end}) {{\n{pad}        {var} = {end} - SL_LANES;");
            self.turns_in_vectors(l, &nest, 1, depth + 2);
            let _ = writeln!(self.out, "{pad}        {var} = {end};\n{pad}    }}");
        }
        let _ = writeln!(self.out, "{pad}}}");
        true
    }

    /// A turn of the loop, for so many vectors of turns.
    fn turns_in_vectors(&mut self, l: &For, nest: &Nest, vectors: usize, depth: usize) {
        let pad = "    ".repeat(depth);
        for id in &nest.varying {
            let name = self.local(*id);
            let names: Vec<String> = (0..vectors).map(|u| format!("{name}_{u} = {{0}}")).collect();
            let ty = vector(&self.function().locals[id.index()].ty);
            let _ = writeln!(self.out, "{pad}SL_UNUSED {ty} {};", names.join(", "));
        }
        self.vectors_of(&l.body, l, nest, vectors, depth);
    }

    fn vectors_of(&mut self, body: &[Stmt], l: &For, nest: &Nest, vectors: usize, depth: usize) {
        let pad = "    ".repeat(depth);
        for s in body {
            match &s.kind {
                StmtKind::Assign(p, e) => {
                    for u in 0..vectors {
                        let value = self.of_turns(e, l, nest, u);
                        let _ = match p.as_local() {
                            Some(id) => writeln!(self.out, "{pad}{}_{u} = {value};", self.local(id)),
                            None => {
                                let to = self.place(p);
                                writeln!(self.out, "{pad}{}_store(&{to} + {u} * SL_LANES, {value});", vector(&e.ty))
                            }
                        };
                    }
                }
                StmtKind::For(inner) => {
                    let int = if self.scopes.declares(s, inner.var) { "int32_t " } else { "" };
                    let (var, from, to) = (self.local(inner.var), self.expr(&inner.from), self.expr(&inner.to));
                    let (cmp, step) = (inner.cmp.symbol(), inner.step);
                    let _ = writeln!(self.out, "{pad}for ({int}{var} = {from}; {var} {cmp} {to}; {var} += {step}) {{");
                    self.vectors_of(&inner.body, l, nest, vectors, depth + 1);
                    let _ = writeln!(self.out, "{pad}}}");
                }
                _ => {}
            }
        }
    }

    /// A value of the turns of vector `u`, as an operand.
    fn of_turns(&self, e: &Expr, l: &For, nest: &Nest, u: usize) -> String {
        if !varies(e, l.var, &nest.varying) {
            return self.splat(e);
        }
        match &e.kind {
            ExprKind::Load(p) => match p.as_local() {
                Some(id) if id == l.var => format!("sl_vi_turns({} + {u} * SL_LANES)", self.local(id)),
                Some(id) => format!("{}_{u}", self.local(id)),
                None => format!("{}_load(&{} + {u} * SL_LANES)", vector(&e.ty), self.place(p)),
            },
            _ => self.vector_of(e, &|e| self.of_turns(e, l, nest, u)),
        }
    }
}
