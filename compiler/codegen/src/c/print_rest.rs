//! # print-rest
//!
//! Purpose: what is left over of firings that go side by side. Input: a kernel with lanes. Output: `sl_fire` of it, which sends whole vectors of firings to
//! `sl_lanes`; a rest that is worth it as one more vector, of items that are copied (`sl_some`); a smaller one firing by firing (`sl_rest`).
//!
//! ```text
//! sl_fire(…, 37)  →  sl_lanes(…, 32)  sl_some(…, 5): 5 firings' items, repeated up to those of 16, go through sl_lanes; 5 firings' results come back
//! ```
//!
//! Where items come or go as vectors have them ([`super::lanewise`]), any rest is one more vector, and nothing is copied there.
//!
//! Items that are repeated are items of the channel, so that what was proved of those holds; the results of the firings that were added are dropped.

use super::print_function::Printer;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::Kernel;
use sluice_kernel::passes::lanes::has_strands;
use sluice_kernel::passes::unroll;
use std::fmt::Write;

/// Copies of items lie on the stack: bytes of them, at most.
const MOST_BYTES: u64 = 1 << 17;

/// Statements and operations of a firing beyond which the C compiler is asked for little where only single ones are meant.
const LARGE: usize = 400;

/// The widest vectors of any machine, in lanes.
const WIDEST: u64 = 16;

impl Printer<'_> {
    /// `sl_fire` of a kernel with lanes, and all that it calls but the body of `sl_rest`, whose head comes last. False where there is none.
    pub(super) fn fire_in_lanes(&mut self, head: &str) -> bool {
        let k = self.k;
        let rates = self.kernel.work.rates;
        let lanes = self.fire_head("sl_lanes").replacen("static void", "static __attribute__((noinline)) void", 1);
        let _ = writeln!(self.out, "{lanes}\n{{\n    (void)ctx, (void)st, (void)in, (void)out;");
        self.own_tables();
        self.lanes();
        self.out.push_str("}\n\n");
        let strands = self.kernel.lanes.as_ref().map_or(1, |l| l.strands);
        let several = self.has_some();
        if several {
            self.some();
        }
        let ends = self.options.lanewise;
        let (pop, push) = (rates.pop, rates.push);
        // streams that take turns fill vectors together: so many firings, at least
        let least = match 1u32 << strands.trailing_zeros() {
            1 => "SL_LANES".to_string(),
            even => format!("(SL_LANES > {even} ? SL_LANES / {even} : 1)"),
        };
        let _ = write!(
            self.out,
            "{head}\n{{\n    const long whole = n / {least} * {least};\n    st->iter += n;\n    \
             if (whole > 0) sl_lanes_{k}(ctx, st, in, out, whole);\n    in += whole * {pop}, out += whole * {push}, n -= whole;\n"
        );
        if ends.taken || ends.given {
            // single firings are nowhere
            let _ = writeln!(self.out, "    if (n > 0) sl_some_{k}(ctx, st, in, out, n);\n}}\n");
            return false;
        }
        if several {
            let _ = writeln!(self.out, "    if (n >= SL_LANES / 4) sl_some_{k}(ctx, st, in, out, n);\n    else");
        }
        let _ = writeln!(self.out, "    if (n > 0) sl_rest_{k}(ctx, st, in, out, n);\n}}\n");
        // few firings: no more work for the C compiler than there must be
        let large = unroll::size(&self.kernel.function(self.kernel.work.function).body) > LARGE;
        let attribute = if large { "noinline, cold" } else { "noinline" };
        let rest =
            self.fire_head("sl_rest").replacen("static void", &format!("static __attribute__(({attribute})) void"), 1);
        let _ = writeln!(self.out, "{rest}\n{{\n    (void)ctx, (void)st, (void)in, (void)out;");
        self.own_tables();
        true
    }

    /// Is there an `sl_some`?
    pub(super) fn has_some(&self) -> bool {
        !has_strands(self.kernel) && several(self.kernel)
    }

    /// `sl_some`: fewer firings than a vector has lanes, but more than a few.
    fn some(&mut self) {
        let rates = self.kernel.work.rates;
        let (pop, push, peek) = (rates.pop, rates.push, rates.peek);
        let head = self.fire_head("sl_some").replacen("static void", "static __attribute__((noinline)) void", 1);
        let (mut from, mut to) = ("in", "out");
        let _ = writeln!(self.out, "{head}\n{{");
        if self.kernel.input != Ty::Void && peek > 0 && !self.options.lanewise.taken {
            let item = Self::item(&self.kernel.input);
            from = "items";
            let _ = write!(
                self.out,
                "    enum {{ all = (SL_LANES - 1) * {pop} + {peek} }};\n    _Alignas(64) {item} items[all];\n    \
                 const long there = (n - 1) * {pop} + {peek};\n    \
                 memcpy(items, in, (size_t)there * sizeof *items);\n    \
                 for (long at = there; at < all; at += there)\n        \
                 memcpy(items + at, items, (size_t)(all - at < there ? all - at : there) * sizeof *items);\n"
            );
        }
        if self.kernel.output != Ty::Void && push > 0 && !self.options.lanewise.given {
            let item = Self::item(&self.kernel.output);
            to = "results";
            let _ = writeln!(self.out, "    _Alignas(64) {item} results[SL_LANES * {push}];");
        }
        let _ = writeln!(self.out, "    sl_lanes_{}(ctx, st, {from}, {to}, SL_LANES);", self.k);
        if to != "out" {
            let _ = writeln!(self.out, "    memcpy(out, results, (size_t)n * {push} * sizeof *results);");
        }
        self.out.push_str("}\n\n");
    }
}

/// Is there room for the items of a whole vector of firings?
pub(super) fn several(kernel: &Kernel) -> bool {
    let rates = kernel.work.rates;
    let bytes = |ty: &Ty| match ty {
        Ty::Void => 0,
        Ty::Complex => 8,
        _ => 4,
    };
    let taken = u64::from(rates.pop) * (WIDEST - 1) + u64::from(rates.peek);
    let all = taken * bytes(&kernel.input) + u64::from(rates.push) * WIDEST * bytes(&kernel.output);
    all <= MOST_BYTES
}
