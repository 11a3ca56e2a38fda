//! What is shown of a program: the document, and the table for people.

use super::bound::Bound;
use super::extract::{Extracted, OfKernel, string};
use super::measure::Cycles;
use super::{Deadline, How, On, Setting};
use crate::document::columns;
use crate::pipeline::Checked;
use serde::Serialize;
use sluice_grammar::span::Span;

/// Letters of a string that are shown.
const LETTERS: usize = 100_000;

/// The document.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    arch: String,
    /// `sass`, `ptx` or `ir`.
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<String>,
    /// Why it is not machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) because: Option<String>,
    ls_units: u32,
    cores: u32,
    warp_size: u32,
    o_l: String,
    o_c: String,
    threads: u32,
    multiprocessors: u64,
    resident: u64,
    pub(super) steady_states: u64,
    /// `swp`: a kernel for each node; `fused`.
    scheme: &'static str,
    /// Of `fused`: steady states of a tile, and how many tiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    tile: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tiles: Option<u64>,
    method: &'static str,
    /// Cycles of the steady states, kernel after kernel; nothing where a kernel has no bound.
    pub(super) bound: Option<u64>,
    exact: bool,
    pub(super) sound: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<u64>,
    /// `gpu` or `emulated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_on: Option<&'static str>,
    kernels: Vec<Row>,
}

/// A node's kernel.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// Of a kernel of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<String>,
    line: u32,
    firings: u64,
    serial: bool,
    /// One after the other, where there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    launches: Option<u64>,
    /// Blocks on the multiprocessor with the most of them, and warps of each.
    blocks: u64,
    warps: u64,
    /// Cycles of a warp, before those that the units' numbers make of them.
    ls_cycles: u64,
    core_cycles: u64,
    barriers: usize,
    varies: bool,
    bound: Option<u64>,
    exact: bool,
    sound: bool,
    least: u64,
    by: &'static str,
    /// Cycles that a block took, its bound by formula, and the first over the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_bound: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_over_bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unmeasured: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unbounded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    string: Option<String>,
    #[serde(skip)]
    pub(super) span: Span,
}

impl Row {
    /// Why it has no bound.
    pub(super) fn why(&self) -> &str {
        self.unbounded.as_deref().unwrap_or("")
    }

    pub(super) fn cycles(&self) -> u64 {
        self.bound.unwrap_or(0)
    }

    fn new(checked: &Checked, kernel: &OfKernel, bound: Result<Bound, String>, is_tiled: bool, how: &How) -> Row {
        let graph = &checked.program.graph;
        let span = kernel.nodes.first().map_or_else(Span::default, |v| graph.node(*v).span);
        let line = checked.sources.line_col(span.file, span.start).line;
        let blocks = kernel.launches.first().and_then(|l| l.blocks.first());
        let shown = blocks.and_then(|b| b.warps.as_ref().ok()).and_then(|w| w.first()).and_then(|w| w.first());
        let string = shown.filter(|_| how.strings).and_then(|t| string(t, LETTERS));
        let nodes = kernel.nodes.iter().map(|v| graph.node(*v).path.clone());
        let mut row = Row {
            name: kernel.name(checked),
            nodes: if is_tiled { nodes.collect() } else { Vec::new() },
            line,
            firings: kernel.firings,
            serial: kernel.serial,
            launches: None,
            blocks: 0,
            warps: 0,
            ls_cycles: 0,
            core_cycles: 0,
            barriers: 0,
            varies: false,
            bound: None,
            exact: false,
            sound: false,
            least: 0,
            by: "none",
            measured: None,
            block_bound: None,
            measured_over_bound: None,
            unmeasured: None,
            unbounded: None,
            string,
            span,
        };
        match bound {
            Err(why) => row.unbounded = Some(why),
            Ok(b) => {
                (row.blocks, row.warps, row.ls_cycles, row.core_cycles) = (b.blocks, b.warps, b.loads, b.cores);
                (row.barriers, row.varies, row.bound, row.exact) = (b.barriers, b.varies, Some(b.bound), b.exact);
                (row.sound, row.least, row.by) = (b.sound, b.least, b.by);
                row.launches = is_tiled.then_some(b.launches);
                row.block_bound = how.measure.map(|_| b.of_block);
            }
        }
        row
    }
}

impl Report {
    pub(super) fn new(
        checked: &Checked,
        extracted: &Extracted,
        (bounds, measured): (Vec<Result<Bound, String>>, Option<Cycles>),
        setting: &Setting,
        how: &How,
        deadline: Option<&Deadline>,
    ) -> Report {
        let machine = setting.machine();
        let row = |(kernel, bound): (&OfKernel, Result<Bound, String>)| {
            Row::new(checked, kernel, bound, extracted.tiles.is_some(), how)
        };
        let mut kernels: Vec<Row> = extracted.kernels.iter().zip(bounds).map(row).collect();
        for (row, cycles) in kernels.iter_mut().zip(measured.into_iter().flatten()) {
            match cycles {
                Ok(cycles) => {
                    row.measured = Some(cycles);
                    row.measured_over_bound =
                        row.block_bound.filter(|b| *b > 0 && row.sound).map(|b| cycles / b as f64);
                }
                Err(why) => row.unmeasured = Some(why),
            }
        }
        let sum = |sum: u64, row: &Row| Some(sum.saturating_add(row.bound?));
        Report {
            schema: "sluice-makespan-program-1",
            arch: setting.arch.sm(),
            origin: extracted.origin.name(),
            compiler: extracted.compiler.clone(),
            because: extracted.because.clone(),
            ls_units: setting.units.ls_units,
            cores: setting.units.cores,
            warp_size: super::WARP,
            o_l: machine.load_store.to_string(),
            o_c: machine.cores.to_string(),
            threads: setting.threads,
            multiprocessors: setting.multiprocessors,
            resident: setting.resident,
            steady_states: extracted.states,
            scheme: setting.kernels.name(),
            tile: extracted.tiles.map(|t| t.states),
            tiles: extracted.tiles.map(|t| t.count),
            method: how.method.name(),
            bound: kernels.iter().try_fold(0, sum),
            exact: kernels.iter().all(|k| k.exact),
            sound: kernels.iter().all(|k| k.sound),
            deadline: deadline.map(|d| d.cycles),
            measured_on: how.measure.map(|on| if on == On::Emulated { "emulated" } else { "gpu" }),
            kernels,
        }
    }

    /// The first node without a bound.
    pub(super) fn unbounded(&self) -> Option<&Row> {
        self.kernels.iter().find(|k| k.unbounded.is_some())
    }

    /// The node that may take most; of several, the first.
    pub(super) fn largest(&self) -> Option<&Row> {
        self.kernels.iter().rev().max_by_key(|k| k.bound)
    }

    /// What blocks took, beside their bounds.
    fn measurements(&self) -> String {
        let Some(on) = self.measured_on else { return String::new() };
        let head = ["stream", "block at most", "measured", "measured / bound", ""];
        let mut rows: Vec<Vec<String>> = vec![head.map(String::from).to_vec()];
        let mut beyond = false;
        for k in &self.kernels {
            beyond |= k.measured_over_bound.is_some_and(|over| over > 1.0);
            rows.push(vec![
                k.name.clone(),
                k.block_bound.map_or("?".into(), |b| b.to_string()),
                k.measured.map_or(String::new(), |m| format!("{m:.0}")),
                k.measured_over_bound.map_or(String::new(), |over| format!("{over:.2}")),
                k.unmeasured.clone().unwrap_or_default(),
            ]);
        }
        let of = if on == "gpu" { "alone on a multiprocessor" } else { "on the CPU, which says nothing of a GPU" };
        let mut text = format!("\ncycles of one block, {of}\n\n{}", columns(&rows, &[0, 4]));
        if beyond && on == "gpu" {
            text += "\nwhat takes longer than its bound waits for what the model leaves out: memory, caches, results of earlier instructions\n";
        }
        text
    }

    /// For people.
    pub(super) fn table(&self) -> String {
        let plural = |n: u64, one: &str| if n == 1 { format!("{n} {one}") } else { format!("{n} {one}s") };
        let from = match self.origin {
            "sass" => "machine code",
            "ptx" => "PTX, NOT the machine code made of it",
            _ => "the kernel IR, NOT compiled code",
        };
        let by = self.compiler.as_ref().map_or(String::new(), |v| format!(", NVRTC {v}"));
        let mut text = format!(
            "{}: {from}{by}\n{}{} in blocks of {} threads on {} with {} load/store units and {} cores (o_L = {}, o_C = {})\n\n",
            self.arch,
            plural(self.steady_states, "steady state"),
            self.tile.zip(self.tiles).map_or(String::new(), |(tile, n)| {
                format!(", fused: {} of {},", plural(n, "tile"), plural(tile, "steady state"))
            }),
            self.threads,
            plural(self.multiprocessors, "multiprocessor"),
            self.ls_units,
            self.cores,
            self.o_l,
            self.o_c
        );
        let head = [
            "stream", "firings", "launches", "blocks", "warps", "L", "C", "barriers", "at least", "at most", "of all",
            "by",
        ];
        let mut rows: Vec<Vec<String>> = vec![head.map(String::from).to_vec()];
        for k in &self.kernels {
            let share = match (k.bound, self.bound) {
                (Some(k), Some(all)) if all > 0 => format!("{:.0} %", 100.0 * k as f64 / all as f64),
                _ => String::new(),
            };
            let number = |n: u64| if k.bound.is_some() { n.to_string() } else { String::new() };
            rows.push(vec![
                k.name.clone(),
                k.firings.to_string(),
                number(k.launches.unwrap_or(1)),
                number(k.blocks),
                number(k.warps),
                number(k.ls_cycles),
                number(k.core_cycles),
                number(k.barriers as u64),
                number(k.least),
                k.bound.map_or("?".into(), |b| b.to_string()),
                share,
                match &k.unbounded {
                    Some(why) => why.clone(),
                    None if k.exact => format!("{}, exact", k.by),
                    None => k.by.to_string(),
                },
            ]);
        }
        // nodes have a launch each
        if self.tiles.is_none() {
            rows.iter_mut().for_each(|row| drop(row.remove(2)));
        }
        let last = rows.first().map_or(0, |row| row.len() - 1);
        text += &columns(&rows, &[0, last]);
        let of = plural(self.steady_states, "steady state");
        text += &match self.bound {
            Some(bound) if self.sound => {
                format!("\n{of}, kernel after kernel: no schedule takes more than {bound} cycles\n")
            }
            Some(bound) => format!("\n{of}, kernel after kernel: about {bound} cycles, NOT a bound\n"),
            None => format!("\n{of}: no bound\n"),
        };
        if let Some(because) = &self.because {
            text += &format!("not machine code: {because}\n");
        }
        if let (Some(deadline), Some(bound)) = (self.deadline, self.bound) {
            let whole = deadline.saturating_mul(self.steady_states);
            text += &format!(
                "deadline: {whole} cycles, of which this is {:.1} %\n",
                100.0 * bound as f64 / whole.max(1) as f64
            );
        }
        text += &self.measurements();
        for k in self.kernels.iter().filter(|k| k.string.is_some()) {
            text += &format!("\n{}\n{}\n", k.name, k.string.as_deref().unwrap_or(""));
        }
        text += ASSUMPTIONS;
        if self.tiles.is_some() {
            text += OF_TILES;
        }
        text
    }
}

/// What every number rests on.
const ASSUMPTIONS: &str = "
L and C: cycles of a warp at the units, an instruction of several cycles counted as often. The model: nothing misses a cache or waits for memory,
launches take no time, no unit is idle while a warp is ready for it; where data decides, both ways are taken (docs/makespan.md).
";

/// And those of tiles.
const OF_TILES: &str = "\
Tiles: whole ones, as one batch from its start, in the launches and blocks that `sluice build --target cuda --scheme fused` makes of them; memory begins at multiples of 256 bytes.
";
