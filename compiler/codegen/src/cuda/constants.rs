//! # constants
//!
//! Purpose: which tables lie in constant memory. Input: the kernels, and what of that memory is taken. Output: the tables for which it has no room.
//!
//! A GPU has 64 KB for all constants of a text, and a text with more of them is compiled for none. Constant memory is for tables that all threads of a warp read at the same place
//! at a time; a table elsewhere gives the same values, through the caches. So the smallest tables stay, which are the most, and the largest go where there is room.

use super::program::Making;
use crate::c::layout::size_align;
use crate::c::print_device::uniform;
use sluice_kernel::ir::TableId;
use std::collections::BTreeMap;

/// Bytes for what a text has in constant memory. The compiler puts some of its own there, the functions of `math` have theirs.
pub(super) const ROOM: u64 = 48 << 10;

/// By code, the tables that would be in constant memory if there were room beside the bytes that are taken.
pub(super) fn crowded(making: &Making<'_>, taken: u64) -> BTreeMap<usize, Vec<TableId>> {
    let globals = making.input.host.globals;
    let mut all: Vec<(u64, usize, TableId)> = Vec::new();
    for (k, members) in making.codes.members.iter().enumerate().filter(|(_, m)| !m.is_empty()) {
        let kernel = &making.input.kernels[k];
        for (i, table) in kernel.tables.iter().enumerate().filter(|(_, t)| t.shared.is_none()) {
            let id = TableId::from(i);
            if uniform(kernel, id) {
                // one for each of the codes that are printed as this one
                let bytes = size_align(&table.ty, globals).map_or(u64::MAX, |(size, _)| size);
                all.push((bytes.saturating_mul(members.len() as u64), k, id));
            }
        }
    }
    all.sort_unstable();
    let (mut left, mut crowded) = (ROOM.saturating_sub(taken), BTreeMap::<usize, Vec<TableId>>::new());
    for (bytes, k, id) in all {
        match left.checked_sub(bytes.next_multiple_of(16)) {
            Some(rest) => left = rest,
            None => crowded.entry(k).or_default().push(id),
        }
    }
    crowded
}
