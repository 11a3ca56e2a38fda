//! # print-lookup
//!
//! Purpose: elements of a table at an index that differs between lanes. Input: the kernel's tables. Output: a call for each look-up, or for several ([`super::print_bytes`]), and a copy in
//! bytes of each small table of bytes.
//!
//! ```text
//! table0[3][$x]   →   sl_vi_lookup_bytes(bytes_0[3], sl_table_7_0_S.v[3].v, 64, x_0)
//! ```
//!
//! Small tables are permutations of registers to a processor that has such instructions (`sl_math.h`, `sl_lookup.h`); others fetch an element for each lane.

use super::print_function::Printer;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::lanes::gathers;
use sluice_kernel::walk;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of the longest row that has a copy in bytes: as many as a byte can tell apart.
const LONGEST: u32 = 256;
/// Rows of a table with such a copy, at most.
const MOST_ROWS: usize = 256;
/// Bytes of a register: rows are padded to one, two or four.
const REGISTER: usize = 64;
/// Bytes among which an instruction finds one, and elements that are found by several of these.
const STEP: usize = 16;
const QUARTER: usize = 64;

impl Printer<'_> {
    /// Declares the copies in bytes of the tables that the lanes' function looks up in.
    pub(super) fn byte_tables(&mut self) {
        let Some(lanes) = &self.kernel.lanes else { return };
        let mut found = BTreeSet::new();
        walk::each_expr(&self.function().body, &mut |e| {
            if let ExprKind::Load(p) = &e.kind
                && let Base::Table(id) = p.base
                && gathers(p, &lanes.varying)
            {
                found.insert(id);
            }
        });
        for id in found {
            let Some(rows) = self.rows_of_bytes(id) else { continue };
            let all = 3 * padded(rows[0].len());
            let _ = write!(
                self.out,
                "        static const _Alignas({REGISTER}) uint8_t bytes_{}[{}][{all}] SL_UNUSED = {{",
                id.0,
                rows.len()
            );
            for row in &rows {
                let row: Vec<String> = copies(row).iter().map(u8::to_string).collect();
                let _ = write!(self.out, "{{{}}}, ", row.join(", "));
            }
            self.out.push_str("};\n");
        }
    }

    /// The rows (last dimension) of a table of small ints of the same value in all variants.
    fn rows_of_bytes(&self, id: TableId) -> Option<Vec<Vec<u8>>> {
        let table = &self.kernel.tables[id.index()];
        let (_, length) = rows(&table.ty)?;
        if length > LONGEST || (table.shared.is_none() && !self.options.device.variants.is_empty()) {
            return None;
        }
        let mut out = Vec::new();
        collect(table.known()?, &table.ty, &mut out)?;
        Some(out)
    }

    /// Is this an element of a row that has a copy in bytes, at an index that differs between lanes?
    pub(super) fn is_of_bytes(&self, p: &Place) -> bool {
        matches!(p.base, Base::Table(id) if self.gathers(p) && self.rows_of_bytes(id).is_some())
    }

    /// The elements of a table at the indices of a vector, the last of the place's.
    pub(super) fn lookup(&self, (id, path): (TableId, &[Proj]), at: &str) -> String {
        let (from, row, ty) = self.row(id, path);
        let n = ty.known_len().unwrap_or(0);
        match ty.element() {
            Some(Ty::Float) => format!("sl_vf_lookup({from}.v, {n}, {at})"),
            _ if self.rows_of_bytes(id).is_some() => {
                format!("sl_vi_lookup_bytes(bytes_{}[{row}], {from}.v, {n}, {at})", id.0)
            }
            _ => format!("sl_vi_lookup({from}.v, {n}, {at})"),
        }
    }

    /// Elements of a table of bytes at the bytes of a vector; those `wanted` are indices.
    pub(super) fn lookup_each(&self, (id, path): (TableId, &[Proj]), at: &str, wanted: u32) -> String {
        let (from, row, ty) = self.row(id, path);
        let n = ty.known_len().unwrap_or(0);
        format!("sl_vi_lookup_each(bytes_{}[{row}], {from}.v, {n}, {at}, {})", id.0, wanted as i32)
    }

    /// Elements of a table of bytes at the bytes of a vector of bytes.
    pub(super) fn lookup_narrow(&self, (id, path): (TableId, &[Proj]), at: &str) -> String {
        let (_, row, ty) = self.row(id, path);
        format!("sl_vb_elements(bytes_{}[{row}], {}, {at})", id.0, ty.known_len().unwrap_or(0))
    }

    /// A row of a table, its number among all rows, and its type.
    fn row(&self, id: TableId, path: &[Proj]) -> (String, String, &Ty) {
        let table = &self.kernel.tables[id.index()];
        let (mut from, mut row, mut ty) = (self.table_name(id), String::from("0"), &table.ty);
        for step in path {
            if let (Proj::Index(i), Ty::Array(element, _)) = (step, ty) {
                let i = self.expr(i);
                let _ = write!(from, ".v[{i}]");
                row = format!("({row} * {} + {i})", ty.known_len().unwrap_or(1));
                ty = element;
            }
        }
        (from, row, ty)
    }
}

/// Bytes of a row's copy, of so many elements.
fn padded(n: usize) -> usize {
    n.next_power_of_two().max(REGISTER)
}

/// A row as it is, and as differences to the elements a step before, each step twice (`sl_lookup.h`).
fn copies(row: &[u8]) -> Vec<u8> {
    let mut out = row.to_vec();
    out.resize(padded(row.len()), 0);
    let before = |i: usize| if i % QUARTER < STEP { 0 } else { out[i - STEP] };
    let differences: Vec<u8> = (0..out.len()).map(|i| out[i] ^ before(i)).collect();
    out.extend(differences.chunks(STEP).flat_map(|step| [step, step]).flatten());
    out
}

/// How many rows an array of ints has, and how long they are.
fn rows(ty: &Ty) -> Option<(usize, u32)> {
    let n = ty.known_len()?;
    match ty.element()? {
        Ty::Int => Some((1, n)),
        inner => {
            let (count, length) = rows(inner)?;
            let count = count.checked_mul(n as usize).filter(|c| *c <= MOST_ROWS)?;
            Some((count, length))
        }
    }
}

fn collect(value: &Const, ty: &Ty, out: &mut Vec<Vec<u8>>) -> Option<()> {
    let Const::Array(elements) = value else { return None };
    if ty.element()? == &Ty::Int {
        let byte = |c: &Const| match c {
            Const::Int(i) => u8::try_from(*i).ok(),
            _ => None,
        };
        out.push(elements.iter().map(byte).collect::<Option<_>>()?);
        return Some(());
    }
    elements.iter().try_for_each(|e| collect(e, ty.element()?, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `sl_lookup.h` adds up.
    #[test]
    fn differences_add_up() {
        for n in [1, 15, 16, 17, 63, 64, 100, 128, 129, 200, 256] {
            let row: Vec<u8> = (0..n).map(|i| (i * 167 + i / 7) as u8).collect();
            let all = copies(&row);
            assert_eq!(all.len(), 3 * padded(n));
            let (copy, differences) = all.split_at(padded(n));
            assert_eq!(copy[..n], row);
            assert!(copy[n..].iter().all(|b| *b == 0));
            for (i, wanted) in row.iter().enumerate() {
                let steps = (i / QUARTER * QUARTER / STEP)..=(i / STEP);
                let side = |second: usize| {
                    steps.clone().fold(0, |sum, s| sum ^ differences[(2 * s + second) * STEP + i % STEP])
                };
                assert_eq!((side(0), side(1)), (*wanted, *wanted), "{i} of {n}");
            }
        }
    }
}
