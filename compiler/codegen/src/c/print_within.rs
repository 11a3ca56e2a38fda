//! # print-within
//!
//! Purpose: a firing in vectors of its items ([`mod@sluice_kernel::within`]) as C, in the place of lanes. Input: the kernel. Output: a loop over as many firings as fit a vector, for
//! machines whose vectors are long enough, before what the others do.
//!
//! ```text
//! words 8; v0 * known; given 0   →   const sl_vf v0 = sl_vf_items(... + 8, ...);  const sl_vf v1 = (v0 * k0);  sl_vf_put(out + 0, ..., v1);
//! ```

use super::print_function::Printer;
use super::print_lane_values::{binary, lane_convert, vector};
use super::types::{c_type, scalar};
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::within::{Op, Vector, Within, within};
use std::fmt::Write;

/// Elements of a constant's table: those of the widest machine's vector.
const WIDEST: usize = 16;

impl Printer<'_> {
    /// The loop, and the beginning of what else there is; false where lanes are the better way on all machines.
    pub(super) fn within_firings(&mut self) -> bool {
        let Some(w) = within(self.kernel) else { return false };
        let words = |ty: &Ty, n: u32| if *ty == Ty::Complex { n * 2 } else { n };
        let rates = self.kernel.work.rates;
        let (pop, push) = (words(&self.kernel.input, rates.pop), words(&self.kernel.output, rates.push));
        let width = w.width;
        let _ = write!(self.out, "#ifdef SL_WITHIN\n    {{\n        enum {{ abreast = SL_LANES / {width} }};\n");
        for (i, (v, ty)) in w.vectors.iter().enumerate() {
            if let Vector::Known(all) = v
                && !uniform(all)
            {
                let all: Vec<String> = all.iter().map(scalar).collect();
                let _ = writeln!(
                    self.out,
                    "        static const _Alignas(64) {} k{i}[{WIDEST}] = {{{}}};",
                    c_type(ty),
                    all.join(", ")
                );
            }
        }
        let _ = writeln!(
            self.out,
            "        for (; n >= abreast; n -= abreast, in += abreast * {}, out += abreast * {}) {{\n            \
             const float *const taken = (const float *)(const void *)in;\n            float *const given = (float *)(void *)out;",
            rates.pop, rates.push
        );
        for (i, (v, ty)) in w.vectors.iter().enumerate() {
            let t = vector(ty);
            let text = match v {
                Vector::Square(of) => {
                    let of: Vec<String> = of.iter().map(|v| format!("(sl_vi)v{v}")).collect();
                    let _ = writeln!(self.out, "            sl_vi s{i}[{width}] = {{{}}};", of.join(", "));
                    let _ = writeln!(self.out, "            sl_turn_squares(s{i}, {width});");
                    continue;
                }
                Vector::Row(square, row) => format!("({t})s{square}[{row}]"),
                Vector::Known(all) if uniform(all) => format!("{t}_splat({})", scalar(&all[0])),
                Vector::Known(_) => {
                    format!("({t})sl_vf_items((const float *)(const void *)k{i}, 0, {width}, {WIDEST})")
                }
                Vector::Words(at) => format!("({t})sl_vf_items(taken + {at}, {pop}, {width}, {})", pop - at),
                Vector::Word(at) => format!("({t})sl_vf_same(taken + {at}, {pop}, {width})"),
                Vector::Made(op, of) => made(&w, *op, of, ty),
            };
            let _ = writeln!(self.out, "            const {t} v{i} = {text};");
            // at once: of many results that wait, gcc brings the operands first, and has no registers for them
            for (row, _) in w.given.iter().enumerate().filter(|(_, v)| **v == i) {
                let at = row as u32 * width;
                let _ = writeln!(self.out, "            sl_vf_put(given + {at}, {push}, {width}, (sl_vf)v{i});");
            }
        }
        self.out.push_str("        }\n    }\n#else\n");
        true
    }
}

fn uniform(all: &[Const]) -> bool {
    all.iter().all(|c| *c == all[0])
}

fn made(w: &Within, op: Op, of: &[usize], ty: &Ty) -> String {
    let from = &w.vectors[of[0]].1;
    let names: Vec<String> = of.iter().map(|v| format!("v{v}")).collect();
    match (op, names.as_slice()) {
        (Op::Unary(UnaryOp::Neg), [a, ..]) => format!("(-{a})"),
        (Op::Unary(_), [a, ..]) => format!("(~{a})"),
        (Op::Binary(op), [a, b]) => binary(op, from, a, b),
        (Op::Convert, [a, ..]) => lane_convert(from, ty, a.clone()),
        (Op::Select, _) => format!("{}_select({})", vector(ty), names.join(", ")),
        (Op::Builtin(f), _) => format!("{}_{}({})", vector(ty), format!("{f:?}").to_lowercase(), names.join(", ")),
        _ => names.join(" "),
    }
}
