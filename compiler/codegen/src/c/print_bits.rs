//! # print-bits
//!
//! Purpose: a loop that packs whether items, or elements of an array, differ from 0 into a word, as one function of the run-time support, which compares many at once. Input: a loop
//! ([`sluice_kernel::passes::pack_bits`]). Output: C.
//!
//! ```text
//! for $i = 0 < 32 step 1 { $w = ($w | (as<int>((in($i) != 0)) << $i)) }   →   w_0 = w_0 | (int32_t)((uint32_t)sl_bits(in + 0, 32) << 0);
//! ```

use super::print_function::Printer;
use sluice_kernel::ir::*;
use sluice_kernel::passes::clean::trip;
use sluice_kernel::passes::pack_bits::{Source, packed};
use std::fmt::Write;

impl Printer<'_> {
    /// Prints such a loop. False where it is another.
    pub(super) fn bits(&mut self, s: &Stmt, l: &For, pad: &str) -> bool {
        if self.device() || self.unroll > 0 {
            return false;
        }
        let (Some(p), Some((_, after))) = (packed(l).filter(|p| p.compared), trip(l)) else { return false };
        let word = self.local(p.word);
        let items = match p.source {
            Source::Items => "in".to_string(),
            Source::Array(id) if self.kernel.function(self.current).locals[id.index()].by_ref => return false,
            Source::Array(id) => format!("{}.v", self.local(id)),
        };
        let _ = writeln!(
            self.out,
            "{pad}{word} = {word} | (int32_t)((uint32_t)sl_bits({items} + {}, {}) << {});",
            p.at, p.items, p.bit
        );
        if !self.scopes.declares(s, l.var) {
            let _ = writeln!(self.out, "{pad}{} = {after};", self.local(l.var));
        }
        true
    }
}
