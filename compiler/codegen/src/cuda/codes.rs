//! # codes
//!
//! Purpose: which filters' codes are one on a device: those that differ in the values of their tables only (the bands of an equaliser). Input: the kernels of codes that
//! nodes have. Output: for each its representative, which is the first, and its number among those that share it.

use sluice_frontend::constant::Const;
use sluice_frontend::slow::InTurn;
use sluice_kernel::ir::Kernel;

/// Codes and what they share.
pub(super) struct Codes {
    /// By code: the one that is printed for it.
    pub(super) representative: Vec<usize>,
    /// By code: its number among those that are printed as one.
    pub(super) variant: Vec<u32>,
    /// By code: all that are printed as this one, itself first; empty where it is another's.
    pub(super) members: Vec<Vec<usize>>,
}

/// Compares the kernels of all codes that have instances.
pub(super) fn codes(kernels: &[Kernel], turns: &[Option<&InTurn>], instances: &[usize]) -> Codes {
    let plain: Vec<Option<Kernel>> =
        kernels.iter().zip(instances).map(|(k, n)| (*n > 0).then(|| without_values(k))).collect();
    let mut codes = Codes { representative: Vec::new(), variant: Vec::new(), members: vec![Vec::new(); kernels.len()] };
    for (i, kernel) in plain.iter().enumerate() {
        // how streams lie is part of what is printed
        let alone = |k: usize| turns.get(k).copied().flatten().is_none();
        let same = |j: &usize| {
            kernel.is_some() && !codes.members[*j].is_empty() && plain[*j] == *kernel && alone(i) && alone(*j)
        };
        let first = (0..i).find(same).unwrap_or(i);
        codes.representative.push(first);
        codes.variant.push(codes.members[first].len() as u32);
        codes.members[first].push(i);
    }
    codes
}

fn without_values(kernel: &Kernel) -> Kernel {
    let mut plain = kernel.clone();
    plain.display.clear();
    plain.tables.iter_mut().filter(|t| t.shared.is_none()).for_each(|t| t.value = Const::Int(0));
    // what a firing without state begins with is printed; what one with state begins with comes from the host
    plain
}
