//! # print-sure
//!
//! Purpose: attempts in a row, as one loop. Input: a kernel that decides on its rates. Output: `sl_sure_<k>`, of the same type as `sl_fire_<k>`, which fires at most n times. Where the rates have
//! bounds, it fires as long as the most that a firing can look at is there, with room for the most that it can push; otherwise up to the first firing that lacks something, of which nothing is left.
//!
//! ```text
//! work pop 1 push [0, 2] { ... }   →   while ((turns = how many lack nothing, whatever they do) > 0) for (turn = 0; turn < turns; turn++) { ... in += took, out += gave; }
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
        let (input, output) = (Self::item(&self.kernel.input), Self::item(&self.kernel.output));
        let _ = write!(
            self.out,
            "{head}\n{{\n    (void)ctx, (void)in, (void)out;\n    uint64_t have = ctx->have, room = ctx->room;\n    \
             const {input} *const first_in = in;\n    {output} *const first_out = out;\n    long fired = 0;\n    (void)room, (void)first_out;\n"
        );
        self.keep();
        // only a fault tells of the firing
        let firing = if can_fail(&f.body) { "ctx->firing++;\n" } else { "" };
        let mut was = String::new();
        if let Row::Tried(_) = row {
            for id in &self.kept {
                let s = &self.kernel.state[id.index()];
                let name = kept_name(&field_name(id.index(), &s.name));
                let _ = writeln!(self.out, "    {} {name}_was = {name};", c_type(&s.ty));
                let _ = writeln!(was, "        {name}_was = {name};");
            }
        }
        match row {
            Row::Sure(look, push) => {
                let pop = work.bounds().pop.1.unwrap_or(look);
                let _ = writeln!(
                    self.out,
                    "    /* so many firings at once as lack neither items nor room, whatever they take and give */\n    \
                     for (uint64_t turns; fired < n && have >= {look}; fired += (long)turns) {{\n    turns = (uint64_t)(n - fired);"
                );
                if pop > 0 {
                    let _ = writeln!(
                        self.out,
                        "    if ((have - {look}) / {pop} < turns) turns = (have - {look}) / {pop} + 1;"
                    );
                }
                if gives && push > 0 {
                    let _ = writeln!(self.out, "    if (room / {push} < turns) turns = room / {push};");
                }
                self.out.push_str("    if (turns == 0) break;\n    for (uint64_t turn = 0; turn < turns; turn++) {\n");
            }
            Row::Tried(look) => {
                let _ = writeln!(self.out, "    for (; fired < n && have >= {look}; fired++) {{");
            }
        }
        let _ = write!(self.out, "        int64_t took = 0, gave = 0;\n        {firing}{was}");
        self.row = Some(row);
        self.body(&f.body, 2);
        self.row = None;
        if each {
            self.out.push_str("        st->iter++;\n");
        }
        let counts = matches!(row, Row::Tried(_));
        self.out.push_str("        in += took;\n");
        if counts {
            self.out.push_str("        have -= (uint64_t)took;\n");
        }
        if gives {
            self.out.push_str("        out += gave;\n");
            if counts {
                self.out.push_str("        room -= (uint64_t)gave;\n");
            }
        }
        self.out.push_str("        (void)gave;\n    }\n");
        if !counts {
            self.out.push_str("    have = ctx->have - (uint64_t)(in - first_in);\n");
            if gives {
                self.out.push_str("    room = ctx->room - (uint64_t)(out - first_out);\n");
            }
            self.out.push_str("    }\n");
        }
        if let Row::Tried(_) = row {
            self.out.push_str("    goto done;\nlacking: SL_UNUSED;\n");
            self.out.push_str(&was.lines().map(undone).collect::<String>());
            self.out.push_str("done: SL_UNUSED;\n");
        }
        if !each {
            self.out.push_str("    st->iter += fired;\n");
        }
        self.put_back();
        let gave = if gives { "out - first_out" } else { "0" };
        let _ = writeln!(self.out, "    ctx->surely = fired, ctx->took = in - first_in, ctx->gave = {gave};\n}}\n");
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

/// Can something stop the program here, where nothing lacks?
fn can_fail(body: &[Stmt]) -> bool {
    let mut fails = false;
    walk::each_stmt(body, &mut |s| {
        let counts = |c: &Check| matches!(c, Check::Took(_) | Check::Gave(_) | Check::Item(_) | Check::Room(_));
        fails |= matches!(&s.kind, StmtKind::Check(c) if !counts(c));
    });
    fails
}

/// `a_was = a;` the other way round.
fn undone(line: &str) -> String {
    let (to, from) = line.trim().trim_end_matches(';').split_once(" = ").unwrap_or_default();
    format!("    {from} = {to};\n")
}
