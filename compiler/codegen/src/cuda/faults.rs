//! # faults
//!
//! Purpose: what generated code does about firings that fail. Input: the kernels of codes that nodes have. Output: [`Faults`].
//!
//! A firing that fails raises the flag of the status and leaves its items unwritten; the host drops all that the batch has made, and has the CPU do it again. Until the kernels
//! have ended the firings behind it run on whatever is there. In nearly all programs they end as soon as those that are right. Where a loop may not ([`may_not_end`]), the program
//! *polls*: such loops look at the flag now and then, a part does not begin to fire behind it, and kernels that start behind it return.

use crate::c::polls::may_not_end;
use sluice_kernel::ir::{Kernel, StmtKind};
use sluice_kernel::walk;

/// Who may fail, and what that asks of others.
pub(super) struct Faults {
    /// By code: may a firing of it fail?
    pub(super) may_fail: Vec<bool>,
    /// Something may fail, and something may not end for it.
    pub(super) polls: bool,
}

impl Faults {
    pub(super) fn of(kernels: &[Kernel], instances: &[usize]) -> Faults {
        let fails = |k: &Kernel| {
            let mut found = false;
            k.functions.iter().for_each(|f| {
                walk::each_stmt(&f.body, &mut |s| found |= matches!(s.kind, StmtKind::Check(_)));
            });
            found
        };
        let fired: Vec<&Kernel> = kernels.iter().zip(instances).filter(|(_, n)| **n > 0).map(|(k, _)| k).collect();
        let polls = fired.iter().any(|k| fails(k)) && fired.iter().any(|k| may_not_end(k));
        // a loop that is left for the flag is a firing that has failed
        let may_fail = kernels.iter().map(|k| fails(k) || polls && may_not_end(k)).collect();
        Faults { may_fail, polls }
    }

    /// What a kernel does first, where the program polls: behind a firing that has failed it returns. All threads of a block agree, for the flag may be raised meanwhile, and
    /// those that stayed would wait for the others at the next barrier.
    pub(super) fn at_once(&self) -> &'static str {
        if self.polls { "    if (sl_any(sl_is_over((const sl_status *)job.arena))) return;\n" } else { "" }
    }
}
