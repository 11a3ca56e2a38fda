//! # print-sure
//!
//! Purpose: attempts in a row, as one loop. Input: a kernel that decides on its rates. Output: `sl_sure_<k>`, of the same type as `sl_fire_<k>`, which fires at most n times. Where the rates have
//! bounds, it fires as long as the most that a firing can look at is there, with room for the most that it can push; otherwise up to the first firing that lacks something, of which nothing is left.
//!
//! ```text
//! work pop 1 push [0, 2] { ... }   →   for (; fired < n && have >= 1 && room >= 2; fired++) { ... in += took, out += gave, have -= took, room -= gave; }
//! work pop 1 push * { ... }        →   for (; fired < n && have >= 1; fired++) { sum_was = sum; ... if (pushed >= room) goto lacking; ... }  ...  lacking: sum = sum_was;
//! ```
//!
//! Before: `ctx->have` items are there, `ctx->room` is the room, `ctx->firing` the number of the firing before. Afterwards `ctx->surely` is how often it has fired, `ctx->took` and
//! `ctx->gave` all that was popped and pushed.
//!
//! What must hold: nothing of a firing has to be repeated or kept back: it neither prints, sends, nor calls; a firing that moves nothing does not occur; one that may lack something writes fields of
//! one number only.

use super::print_function::Printer;
use super::print_kept::kept_name;
use super::types::{c_type, field_name};
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::walk;
use std::fmt::Write;

/// More than so much room is not kept for a single firing.
const MOST_PUSHED: u32 = 1 << 16;

/// How attempts in a row are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// None lacks anything: the items that must be there for a firing, and the room.
    Sure(u32, u32),
    /// As long as nothing lacks; so many items must be there for one to begin.
    Tried(u32),
}

/// Can attempts of the kernel be made in a row?
pub(super) fn row(kernel: &Kernel) -> Option<Row> {
    kernel.work.dynamic?;
    let bounds = kernel.work.bounds();
    let idle = bounds.pop.0 == 0 && bounds.push.0 == 0;
    if idle || kernel.input == Ty::Void || !kernel.handlers.is_empty() {
        return None;
    }
    let (mut plain, mut whole) = (true, true);
    walk::each_stmt(&kernel.function(kernel.work.function).body, &mut |s| {
        plain &= !matches!(
            s.kind,
            StmtKind::Call { .. }
                | StmtKind::Send(_)
                | StmtKind::Print(_)
                | StmtKind::PrintText(_)
                | StmtKind::Return(_)
        );
        for p in s.kind.targets() {
            whole &= !matches!(p.base, Base::State(id) if kernel.state[id.index()].ty.is_aggregate());
        }
    });
    let push = if kernel.output == Ty::Void { Some(0) } else { bounds.push.1.filter(|n| *n <= MOST_PUSHED) };
    match (bounds.look.1, push) {
        _ if !plain => None,
        (Some(look), Some(push)) => Some(Row::Sure(look, push)),
        _ => whole.then_some(Row::Tried(bounds.look.0)),
    }
}

impl Printer<'_> {
    /// `sl_sure`, where attempts can be made in a row.
    pub(super) fn sure_attempts(&mut self) {
        let Some(row) = row(self.kernel) else { return };
        let work = self.kernel.work;
        let head = self.fire_head("sl_sure");
        self.start(work.function);
        let f = self.function();
        self.head_comment(f);
        let (each, gives) = (self.kernel.uses_iter(), self.kernel.output != Ty::Void);
        let _ = write!(
            self.out,
            "{head}\n{{\n    (void)ctx, (void)in, (void)out;\n    uint64_t have = ctx->have, room = ctx->room;\n    \
             int64_t all_took = 0, all_gave = 0;\n    long fired = 0;\n    (void)room;\n"
        );
        self.keep();
        let mut was = String::new();
        if let Row::Tried(_) = row {
            for id in &self.kept {
                let s = &self.kernel.state[id.index()];
                let name = kept_name(&field_name(id.index(), &s.name));
                let _ = writeln!(self.out, "    {} {name}_was = {name};", c_type(&s.ty));
                let _ = writeln!(was, "        {name}_was = {name};");
            }
        }
        let needs = match row {
            Row::Sure(look, push) if gives => format!("have >= {look} && room >= {push}"),
            Row::Sure(look, _) | Row::Tried(look) => format!("have >= {look}"),
        };
        let _ = write!(
            self.out,
            "    for (; fired < n && {needs}; fired++) {{\n        int64_t took = 0, gave = 0;\n        ctx->firing++;\n{was}"
        );
        self.row = Some(row);
        self.body(&f.body, 2);
        self.row = None;
        if each {
            self.out.push_str("        st->iter++;\n");
        }
        self.out.push_str("        in += took, have -= (uint64_t)took, all_took += took;\n");
        if gives {
            self.out.push_str("        out += gave, room -= (uint64_t)gave, all_gave += gave;\n");
        }
        self.out.push_str("        (void)gave;\n    }\n");
        if let Row::Tried(_) = row {
            self.out.push_str("    goto done;\nlacking: SL_UNUSED;\n");
            self.out.push_str(&was.lines().map(undone).collect::<String>());
            self.out.push_str("done: SL_UNUSED;\n");
        }
        if !each {
            self.out.push_str("    st->iter += fired;\n");
        }
        self.put_back();
        self.out.push_str("    ctx->surely = fired, ctx->took = all_took, ctx->gave = all_gave;\n}\n\n");
    }

    /// What such an attempt does beside computing.
    pub(super) fn attempt_in_row(&mut self, row: Row, c: &Check, e: &str, pad: &str) {
        let _ = match (c, row) {
            (Check::Took(_), _) => writeln!(self.out, "{pad}took = {e};"),
            (Check::Gave(_), _) => writeln!(self.out, "{pad}gave = {e};"),
            (Check::Item(_), Row::Tried(_)) => {
                writeln!(self.out, "{pad}if (SL_UNLIKELY((uint32_t){e} >= have)) goto lacking;")
            }
            (Check::Room(_), Row::Tried(_)) => {
                writeln!(self.out, "{pad}if (SL_UNLIKELY((uint32_t){e} >= room)) goto lacking;")
            }
            _ => return,
        };
    }
}

/// `a_was = a;` the other way round.
fn undone(line: &str) -> String {
    let (to, from) = line.trim().trim_end_matches(';').split_once(" = ").unwrap_or_default();
    format!("    {from} = {to};\n")
}
