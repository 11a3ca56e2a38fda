//! # step-table
//!
//! Purpose: a schedule too long for a C compiler as a table, which the engine reads. Input: the schedule's steps. Output: its rows ([`Row`], `sl_step` in C), and `sl_steady` that runs them.
//!
//! ```text
//! [n0 × 4, (n1, n2) × 2]   →   {4, 0, 0}, {2, none, 2}, {1, 1, 0}, {1, 2, 0}
//! ```
//!
//! What must hold: a loop's row comes before those of its body, and says how many these are; a node that feeds itself fires once at a time.

use super::steady::Steady;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_schedule::sequential::Step;

impl Steady<'_> {
    /// Is a schedule that is a table run with each of its steps `k` times as often, rather than `k` times?
    pub fn table_is_scaled(&self) -> bool {
        self.scalable() && !self.graph.channels.iter().any(|c| c.from.0 == c.to.0)
    }

    /// The schedule as a table, loops before their bodies.
    pub fn table_rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.rows_of(self.steps, &mut rows);
        rows
    }

    fn rows_of(&self, steps: &[Step], rows: &mut Vec<Row>) {
        for step in steps {
            match step {
                Step::Fire { node, times } => {
                    // a node that feeds itself needs what it has just made
                    let channels = &self.graph.node(*node).outputs;
                    if *times > 1 && channels.iter().any(|c| self.graph.channel(*c).to.0 == *node) {
                        rows.push(Row { times: *times, node: None, length: 1 });
                        rows.push(Row { times: 1, node: Some(*node), length: 0 });
                    } else {
                        rows.push(Row { times: *times, node: Some(*node), length: 0 });
                    }
                }
                Step::Loop { times, body } => {
                    let at = rows.len();
                    rows.push(Row { times: *times, node: None, length: 0 });
                    self.rows_of(body, rows);
                    rows[at].length = (rows.len() - at - 1) as u32;
                }
            }
        }
    }

    /// The schedule as a table, in C.
    pub(super) fn table(&self, scalable: bool) -> String {
        let rows = self.table_rows();
        let count = rows.len();
        let text = |r: &Row| match r.node {
            Some(v) => format!("{{{}, {}, 0}}", r.times, v.0),
            None => format!("{{{}, UINT32_MAX, {}}}", r.times, r.length),
        };
        let rows: Vec<String> = rows.iter().map(text).collect();
        let rows = if rows.is_empty() { "{1, UINT32_MAX, 0}".to_string() } else { rows.join(",\n    ") };
        let run = if scalable { "sl_run_scaled" } else { "sl_run_steps" };
        format!(
            "static const sl_step sl_steps[] = {{\n    {rows}}};\n\nstatic void sl_steady(sl_ctx *ctx, int64_t k) {{ {run}(ctx, sl_steps, {count}, k); }}\n"
        )
    }
}

/// A row of a schedule that is a table (`sl_step`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Firings, or turns of a loop.
    pub times: u64,
    /// Which node fires; none for a loop.
    pub node: Option<NodeId>,
    /// Rows in the loop.
    pub length: u32,
}

/// Is the schedule one that becomes a table?
pub fn is_table(graph: &SdfGraph, steps: &[Step], above: usize) -> bool {
    count(steps) > above || graph.channels.iter().any(|c| c.from.0 == c.to.0)
}

fn count(steps: &[Step]) -> usize {
    steps.iter().map(|s| if let Step::Loop { body, .. } = s { 1 + count(body) } else { 1 }).sum()
}
