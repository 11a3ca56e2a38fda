//! # constants
//!
//! Purpose: which tables lie in constant memory. Input: the kernels, and what of that memory is taken. Output: the tables that lie elsewhere.
//!
//! A GPU has 64 KB for all constants of a text, and a text with more of them is compiled for none. Constant memory is for tables that all threads of a warp read at the same place
//! at a time; a table elsewhere gives the same values, through the caches. So the smallest tables stay, which are the most, and the largest go where there is room.
//!
//! Constants that are many are waited for: two thirds of the waiting of the FM receiver on an H100 was for them. So where a kernel has a copy of each firing's code (the fused schemes), short loops over tables are written
//! out: their values become part of the instructions, and the tables need no constant memory at all.

use super::options::Scheme;
use super::program::Making;
use crate::c::layout::size_align;
use crate::c::print_device::uniform;
use crate::c::print_unroll::known;
use sluice_kernel::cost;
use sluice_kernel::ir::TableId;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes for what a text has in constant memory. The compiler puts some of its own there, the functions of `math` have theirs.
pub(super) const ROOM: u64 = 48 << 10;

/// Additions and multiplications of a firing of each node of a code together: of more the CUDA compiler would read so much ahead that it stores registers. It may still write out what it thinks
/// right.
const MOST_WRITTEN: u64 = 1536;

/// Are a code's short loops over tables written out?
pub(super) fn written_out(making: &Making<'_>, k: usize) -> bool {
    let copies: u64 = making.codes.members[k].iter().map(|m| making.facts.instances[*m] as u64).sum();
    let cost = cost::firing(&making.input.kernels[k]);
    // operations on ints beside those on floats are mostly of indices, which are constants then
    let operations = if cost.on_floats() > 0 { cost.on_floats() } else { cost.arithmetic() };
    matches!(making.input.options.scheme, Scheme::Fused | Scheme::FusedWarps)
        && operations.saturating_mul(copies) <= MOST_WRITTEN
}

/// By code, the tables that are not in constant memory though all threads read them at the same place: there is no room beside the bytes that are taken, or nothing reads them as tables.
pub(super) fn elsewhere(making: &Making<'_>, taken: u64) -> BTreeMap<usize, Vec<TableId>> {
    let globals = making.input.host.globals;
    let mut all: Vec<(u64, usize, TableId)> = Vec::new();
    let mut elsewhere = BTreeMap::<usize, Vec<TableId>>::new();
    for (k, members) in making.codes.members.iter().enumerate().filter(|(_, m)| !m.is_empty()) {
        let kernel = &making.input.kernels[k];
        let known = if written_out(making, k) { known(kernel).tables } else { BTreeSet::new() };
        for (i, table) in kernel.tables.iter().enumerate().filter(|(_, t)| t.shared.is_none()) {
            let id = TableId::from(i);
            if known.contains(&id) {
                elsewhere.entry(k).or_default().push(id);
            } else if uniform(kernel, id) {
                // one for each of the codes that are printed as this one
                let bytes = size_align(&table.ty, globals).map_or(u64::MAX, |(size, _)| size);
                all.push((bytes.saturating_mul(members.len() as u64), k, id));
            }
        }
    }
    all.sort_unstable();
    let mut left = ROOM.saturating_sub(taken);
    for (bytes, k, id) in all {
        match left.checked_sub(bytes.next_multiple_of(16)) {
            Some(rest) => left = rest,
            None => elsewhere.entry(k).or_default().push(id),
        }
    }
    elsewhere
}
