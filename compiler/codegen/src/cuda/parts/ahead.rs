//! Firings whose items are read some firings ahead: several of a thread are on their way at a time, where else each firing would wait for its own. The compiler does not do that, since what a firing
//! writes might be what the next one reads, for all that it knows; but a part's firings wait for nothing of one another.
//!
//! That is for what takes little more than the waiting: splitters, joiners, and filters of a few statements, as instances of a pipeline have many firings for each thread.

use super::super::options::Scheme;
use super::{Part, Port};
use crate::c::print_device::names;
use sluice_frontend::graph::NodeKind;
use sluice_kernel::ir::{Kernel, StmtKind};
use sluice_kernel::walk;
use std::fmt::Write;

/// Items of a thread on their way, and firings that they are of, at most.
const ITEMS: u64 = 16;
const FIRINGS: u64 = 8;
/// The same of one firing, whose text does not become longer by it.
const ITEMS_OF_ONE: u64 = 32;
/// Statements of a filter whose text may stand there so many times.
const STATEMENTS: usize = 32;
/// Items that a thread brings or sends between two barriers at least: `sl_many`.
const BROUGHT: u64 = 4;

/// Firings of a thread that are made together.
pub(super) struct Together {
    pub(super) firings: u64,
    /// A firing whose input has been read.
    pub(super) body: String,
}

impl Part<'_, '_> {
    /// Does a block make many firings of a node, one instance after the other?
    fn pipelined(&self) -> bool {
        matches!(self.making.input.options.scheme, Scheme::Swp | Scheme::SwpPersistent | Scheme::SwpNc)
    }

    /// How many times as many firings as threads lie between two barriers, where an end moves so few items.
    pub(super) fn times_threads(&self, moved: u64) -> u64 {
        if self.pipelined() && !self.serial { (BROUGHT / moved.max(1)).max(1) } else { 1 }
    }

    /// The inputs that are read ahead.
    fn read_ahead(&self) -> impl Iterator<Item = &Port<'_>> {
        self.inputs.iter().filter(|p| p.ring.is_some() && p.tile.is_none() && p.window > 0)
    }

    /// An input's items: those that were read, where it is one of these.
    pub(super) fn taken(&self, p: &Port<'_>) -> String {
        match p.ring.is_some() && p.tile.is_none() && p.window > 0 {
            true => format!("sl_local<{}>{{ahead{}[a]}}", p.type_name(self.making), p.number),
            false => p.access(self.making, false),
        }
    }

    /// How many firings are made together; `kernel`: of a filter. One alone is where its items are read before any is written.
    pub(super) fn together(
        &self,
        alone: bool,
        kernel: Option<&Kernel>,
        body: impl FnOnce() -> String,
    ) -> Option<Together> {
        if !self.pipelined() || alone || self.serial || self.making.whole(self.v) {
            return None;
        }
        let items = self.read_ahead().fold(0u64, |sum, p| sum.saturating_add(p.window));
        let staged = self.inputs.iter().chain(&self.outputs).any(|p| p.tile.is_some());
        // what goes through shared memory is so many firings at a time
        let most = if staged { self.chunk / self.threads } else { FIRINGS };
        let firings = FIRINGS.min(ITEMS.checked_div(items)?).min(most);
        let firings = match (&self.making.input.host.graph.node(self.v).kind, kernel) {
            (NodeKind::Filter { code, .. }, Some(kernel)) => {
                let statements = statements(kernel)?;
                let several = firings > 1 && statements <= STATEMENTS && !self.making.faults.may_fail[code.index()];
                if several { firings } else { u64::from((2..=ITEMS_OF_ONE).contains(&items)) }
            }
            _ if firings > 1 => firings,
            _ => 0,
        };
        (firings > 0).then(|| Together { firings, body: body() })
    }

    /// The loop over firings that are made together; `g` is the thread's first one, then the first one that is left.
    pub(super) fn all_together(
        &self,
        together: &Together,
        pad: &str,
        (base, some, step): (&str, &str, &str),
    ) -> String {
        let Together { firings, body } = together;
        let at = |by: u64| match (by, step.strip_suffix('u').and_then(|s| s.parse::<u64>().ok())) {
            (by, Some(n)) => format!("{}u", n * by),
            (1, None) => step.to_string(),
            (by, None) => format!("{by}u * {step}"),
        };
        let each = format!(
            "{pad}    SL_UNROLL\n{pad}    for (uint32_t a = 0; a < {firings}u; a++) {{\n{pad}        const uint32_t f = g + a * {step};\n"
        );
        let more = if *firings > 1 { format!(" + {}", at(firings - 1)) } else { String::new() };
        let mut out = format!("{pad}for (; g{more} < {some}; g += {}) {{\n", at(*firings));
        for p in self.read_ahead() {
            let _ = writeln!(out, "{pad}    {} ahead{}[{firings}][{}];", p.type_name(self.making), p.number, p.window);
        }
        out.push_str(&each);
        for p in self.read_ahead() {
            let (i, n) = (p.number, p.window);
            let _ = writeln!(out, "{pad}        const auto from{i} = {};", p.access(self.making, false));
            let _ = match n {
                1 => writeln!(out, "{pad}        ahead{i}[a][0] = from{i}[0];"),
                n => writeln!(
                    out,
                    "{pad}        SL_UNROLL\n{pad}        for (uint32_t i = 0; i < {n}u; i++) ahead{i}[a][i] = from{i}[i];"
                ),
            };
        }
        let _ = write!(out, "{pad}    }}\n{each}");
        if names(body, "n") {
            let _ = writeln!(out, "{pad}        const uint32_t n = {base} + f;");
        }
        for line in body.lines() {
            let _ = writeln!(out, "{pad}        {line}");
        }
        let _ = writeln!(out, "{pad}    }}");
        if names(body, "ctx") {
            let _ = writeln!(out, "{pad}    if (SL_UNLIKELY(ctx.failed)) break;");
        }
        let _ = writeln!(out, "{pad}}}");
        out
    }
}

/// The statements of a filter that has no loops: its items have places that are known.
fn statements(kernel: &Kernel) -> Option<usize> {
    let mut loops = false;
    for f in &kernel.functions {
        walk::each_stmt(&f.body, &mut |s| loops |= matches!(s.kind, StmtKind::For(_) | StmtKind::Loop(_)));
    }
    (!loops).then(|| kernel.functions.iter().map(|f| walk::count(&f.body)).sum())
}
