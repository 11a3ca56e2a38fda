//! # print-rings
//!
//! Purpose: firings over rings in runs in which no place goes back to its beginning ([`rings`](mod@sluice_kernel::passes::rings)). Input: their kernel. Output: a loop over runs, before the one over firings,
//! which does those that are left: where a place lies outside its ring.
//!
//! ```text
//! run = n;  at_1_ring = at_1_kept;  run = at_1_ring < 1116 ? min(run, 1116 - at_1_ring) : 0;  …
//! for (firing = 0; firing < run; firing++) { float y_0 = st->line_0.v[at_1_ring + firing]; … }  at_1_kept = at_1_ring + run == 1116 ? 0 : at_1_ring + run;
//! ```

use super::print_function::Printer;
use super::print_scope::Scopes;
use super::types::field_name;
use sluice_kernel::ir::*;
use sluice_kernel::passes::rings;
use std::fmt::Write;

impl Printer<'_> {
    /// The firings in runs, as far as they go.
    pub(super) fn runs(&mut self, steps: &str) {
        let Some(found) = rings::rings(self.kernel) else { return };
        self.out.push_str("    while (n > 0) {\n        long run = n;\n");
        let names: Vec<(String, String, i32)> =
            (found.all.iter()).map(|r| (self.ring(r.place), self.place(&Place::state(r.place)), r.length)).collect();
        for (ring, place, length) in &names {
            let _ = writeln!(
                self.out,
                "        const long {ring} = {place};\n        if ({ring} < 0 || {ring} >= {length}) break;\n        if (run > {length} - {ring}) run = {length} - {ring};"
            );
        }
        let _ = writeln!(self.out, "        for (long firing = 0; firing < run; firing++{steps}) {{");
        self.rings = found.all.iter().map(|r| r.place).collect();
        let f = self.function();
        let part = Function { body: found.body, ..f.clone() };
        let whole = std::mem::replace(&mut self.scopes, Scopes::of(&part));
        self.body(&part.body, 3);
        self.scopes = whole;
        self.rings.clear();
        self.out.push_str("        }\n");
        for (ring, place, length) in &names {
            let _ = writeln!(self.out, "        {place} = {ring} + run == {length} ? 0 : (int32_t)({ring} + run);");
        }
        self.out.push_str("        n -= run;\n    }\n");
    }

    fn ring(&self, id: StateId) -> String {
        format!("{}_ring", field_name(id.index(), &self.kernel.state[id.index()].name))
    }

    /// A place in a ring, while a run is printed.
    pub(super) fn place_in_ring(&self, id: StateId) -> String {
        format!("({} + firing)", self.ring(id))
    }
}
