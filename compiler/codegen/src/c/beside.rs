//! # beside
//!
//! Purpose: filters whose firings wait for the one before, fired by turns, so that they wait at the same time. Input: their code and rates. Output: C functions,
//! one for each list of filters.
//!
//! ```text
//! damp 1, damp 2   →   void sl_beside_0(ctx, st0, in0, out0, st1, in1, out1, n) {
//!                          for (i = 0; i < n; i++) { sl_fire_1(ctx, st0, in0 + i, out0 + i, 1); sl_fire_2(ctx, st1, in1 + i, out1 + i, 1); } }
//! ```
//!
//! What must hold: no item goes from one of the filters to another, and nothing of a firing is seen from outside but its items.

use super::program::ProgramInput;
use super::types::c_type;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::{Callee, Kernel, StmtKind};
use sluice_kernel::passes::unroll::written_out_size;
use sluice_kernel::walk;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Statements and operations of a firing, at most: what several of them need should fit into the registers.
const LARGEST: u64 = 100;

/// Does nothing of a firing matter but its items, so that it may change places with those of other filters?
pub fn may_move(kernel: &Kernel) -> bool {
    kernel.handlers.is_empty() && only_items(kernel)
}

/// Is nothing seen of a firing but its items, nor of a message that it hears?
pub fn only_items(kernel: &Kernel) -> bool {
    let mut only_items = true;
    for f in &kernel.functions {
        walk::each_stmt(&f.body, &mut |s| {
            only_items &= match &s.kind {
                StmtKind::Check(_) | StmtKind::Print(_) | StmtKind::PrintText(_) | StmtKind::Send(_) => false,
                StmtKind::Call { callee, .. } => !matches!(callee, Callee::Native(_)),
                _ => true,
            };
        });
    }
    only_items
}

/// By code: is it fired by turns with its like? Filters that fill vectors with their own firings are not.
pub fn serial(input: &ProgramInput<'_>) -> Vec<bool> {
    let one = |k: &Kernel| {
        let both_ends = k.input != Ty::Void && k.output != Ty::Void;
        let work = k.functions.get(k.work.function.index());
        let small = work.is_some_and(|f| written_out_size(&f.body) <= LARGEST);
        k.lanes.is_none() && k.work.dynamic.is_none() && both_ends && small && !k.state.is_empty() && may_move(k)
    };
    input.kernels.iter().map(one).collect()
}

/// A filter of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Its code's number.
    pub code: u32,
    /// C type of its input's items, and how many a firing takes.
    pub takes: (String, u32),
    /// C type of its output's items, and how many a firing gives.
    pub gives: (String, u32),
}

impl Member {
    /// Of a code with these channels.
    pub fn new(code: u32, (input, pop): (&Ty, u32), (output, push): (&Ty, u32)) -> Member {
        Member { code, takes: (c_type(input), pop), gives: (c_type(output), push) }
    }
}

/// The functions made so far.
#[derive(Default)]
pub struct Beside {
    names: BTreeMap<Vec<Member>, String>,
    /// Their text.
    pub functions: String,
}

impl Beside {
    /// The name of the function for these filters. Its arguments: the instance, then a state, an input and an output for each filter, and the number of firings of each.
    pub fn name(&mut self, members: &[Member]) -> String {
        if let Some(name) = self.names.get(members) {
            return name.clone();
        }
        let name = format!("sl_beside_{}", self.names.len());
        let mut parameters = String::new();
        let mut calls = String::new();
        for (i, Member { code, takes: (takes, pop), gives: (gives, push) }) in members.iter().enumerate() {
            let _ = write!(
                parameters,
                ", struct sl_state_{code} *restrict st{i}, const {takes} *restrict in{i}, {gives} *restrict out{i}"
            );
            let _ = writeln!(calls, "        sl_fire_{code}(ctx, st{i}, in{i} + i * {pop}, out{i} + i * {push}, 1);");
        }
        let _ = writeln!(
            self.functions,
            "static __attribute__((noinline, flatten)) void {name}(sl_ctx *restrict ctx{parameters}, long n) {{\n    for (long i = 0; i < n; i++) {{\n{calls}    }}\n}}"
        );
        self.names.insert(members.to_vec(), name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_function_for_a_list() {
        let mut b = Beside::default();
        let member = |code| Member::new(code, (&Ty::Float, 1), (&Ty::Float, 2));
        let name = b.name(&[member(1), member(2)]);
        assert_eq!(b.name(&[member(1), member(2)]), name);
        assert_ne!(b.name(&[member(2), member(1)]), name);
        let (first, second) = (
            b.functions.find("sl_fire_1(ctx, st0, in0 + i * 1, out0 + i * 2, 1)"),
            b.functions.find("sl_fire_2(ctx, st1"),
        );
        assert!(first.is_some() && first < second, "{}", b.functions);
    }
}
