//! What is shown: the document, and the table for people.

use super::{Asked, MakespanOptions};
use crate::document::columns;
use serde::Serialize;
use sluice_schedule::analysis::makespan::bounds;
use sluice_schedule::analysis::makespan::method::Answer;

/// The document.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    kernel: String,
    /// Instructions of one cycle each, that is after those that take several have been repeated.
    instructions: usize,
    /// Of all blocks that are there at once.
    warps: u32,
    /// Blocks, dealt out to so many multiprocessors; and on the one with the most, all and at a time.
    blocks: u64,
    multiprocessors: u64,
    blocks_on_one: u64,
    resident: u64,
    ls_units: u32,
    cores: u32,
    warp_size: u32,
    o_l: String,
    o_c: String,
    method: &'static str,
    /// What gave the bound: of `auto`, which method.
    by: &'static str,
    bound: u64,
    exact: bool,
    sound: bool,
    /// Some schedule takes as long.
    least: u64,
    /// How much more the bound is than that, as a part of it.
    gap: f64,
    seconds: f64,
    paper_bound: u64,
    paper_bound_sound: bool,
    /// Of an estimate.
    estimates: Option<Vec<Estimate>>,
    /// Where it was asked for, and the method has one.
    schedule: Option<Vec<Vec<u32>>>,
    /// Was one asked for that the method has not?
    #[serde(skip)]
    no_schedule: bool,
    /// Was something rounded: o neither whole nor 1/n?
    rounded: bool,
}

/// The estimate from so many warps.
#[derive(Debug, Serialize)]
struct Estimate {
    warps: u32,
    exact: u64,
    estimate: u64,
}

impl Report {
    /// Of an answer that took so many seconds.
    pub(super) fn new(asked: &Asked, options: &MakespanOptions, answer: &Answer, seconds: f64) -> Report {
        let p = &asked.problem;
        let estimate = |(i, (exact, estimate)): (usize, &(u64, u64))| Estimate {
            warps: i as u32 + 1,
            exact: *exact,
            estimate: *estimate,
        };
        Report {
            schema: "sluice-makespan-1",
            kernel: asked.kernel.to_string(),
            instructions: p.units().len(),
            warps: p.warps(),
            blocks: options.blocks.count,
            multiprocessors: options.blocks.multiprocessors,
            blocks_on_one: options.blocks.on_one().0,
            resident: options.blocks.on_one().1,
            ls_units: asked.units.0,
            cores: asked.units.1,
            warp_size: asked.warp_size,
            o_l: asked.machine.load_store.to_string(),
            o_c: asked.machine.cores.to_string(),
            method: options.method.name(),
            by: answer.by,
            bound: answer.bound,
            exact: answer.exact,
            sound: answer.sound,
            least: answer.least,
            gap: (answer.bound as f64 / answer.least.max(1) as f64 - 1.0).max(0.0),
            seconds: (seconds * 1e6).round() / 1e6,
            paper_bound: bounds::paper(p),
            // of blocks that take turns it is one of a block only
            paper_bound_sound: bounds::paper_is_sound(p) && options.blocks.on_one().0 == options.blocks.on_one().1,
            estimates: (!answer.estimates.is_empty())
                .then(|| answer.estimates.iter().enumerate().map(estimate).collect()),
            no_schedule: options.schedule && answer.witness.is_none(),
            schedule: answer.witness.as_ref().filter(|_| options.schedule).map(|s| s.cycles.clone()),
            rounded: !(asked.machine.load_store.is_exact() && asked.machine.cores.is_exact()),
        }
    }

    /// For people.
    pub fn table(&self) -> String {
        let n = |n: usize| if n == 1 { "instruction" } else { "instructions" };
        let kernel = short(&self.kernel);
        let plural = |n: u64, one: &str| if n == 1 { format!("{n} {one}") } else { format!("{n} {one}s") };
        let (blocks, on_one) = (plural(self.blocks, "block"), self.blocks_on_one);
        let on = match (self.blocks, self.multiprocessors) {
            (1, _) => String::new(),
            (_, m) if self.resident < on_one => {
                let most =
                    if m == 1 { String::new() } else { format!(", {on_one} of them on one of {m} multiprocessors") };
                format!(" of each of {blocks}{most}, {} at a time", self.resident)
            }
            (_, 1) => format!(" of {blocks}"),
            (_, m) => format!(" of {on_one} of {blocks} on one of {m} multiprocessors"),
        };
        let mut text = format!(
            "kernel {kernel} ({} {} of one cycle), {}{on}, o_L = {}, o_C = {}\n\n",
            self.instructions,
            n(self.instructions),
            plural(self.warps.into(), "warp"),
            self.o_l,
            self.o_c
        );
        let worth = match (self.exact, self.sound) {
            (true, _) => "the worst case",
            (false, true) => "a bound: no schedule takes longer",
            (false, false) => "an estimate, NOT a bound: schedules may take longer",
        };
        let by = if self.by == self.method { self.by.to_string() } else { format!("{}, by {}", self.method, self.by) };
        let mut rows = vec![["cycles".to_string(), "what".into()], [self.bound.to_string(), format!("{worth} ({by})")]];
        if !self.exact && self.sound {
            rows.push([
                self.least.to_string(),
                format!("some schedule takes as long; {:.1} % lie between", 100.0 * self.gap),
            ]);
        }
        let sound = if self.paper_bound_sound { "" } else { ", NOT a bound here" };
        let of = if self.resident < self.blocks_on_one { " for one block" } else { "" };
        rows.push([self.paper_bound.to_string(), format!("the paper's formula{of}{sound}")]);
        text += &columns(&rows, &[1]);
        if let Some(estimates) = &self.estimates {
            let head = ["x", "T(x)", "estimate"].map(String::from);
            let row = |e: &Estimate| [e.warps.to_string(), e.exact.to_string(), e.estimate.to_string()];
            let rows: Vec<[String; 3]> = [head].into_iter().chain(estimates.iter().map(row)).collect();
            text += &format!("\n{}", columns(&rows, &[]));
        }
        if let Some(schedule) = &self.schedule {
            text += "\ncycle  warps that run\n";
            for (t, warps) in schedule.iter().enumerate() {
                let warps: Vec<String> = warps.iter().map(u32::to_string).collect();
                text += &format!("{t:>5}  {}\n", warps.join(" "));
            }
        }
        if self.no_schedule {
            text += &format!(
                "\n{} has no schedule to show here: auto and exact have one, where it is small enough to be written down\n",
                self.method
            );
        }
        text += &format!("\n{:.3} s. The model: {ASSUMPTIONS}", self.seconds);
        if self.rounded {
            text += "o is neither a whole number nor 1/n: a warp takes whole cycles, and whole warps run at once.\n";
        }
        text
    }
}

/// What every number rests on.
const ASSUMPTIONS: &str = "all warps are there from the beginning and run the same instructions; each takes one cycle of its unit;\n\
nothing misses a cache or waits for memory; no unit is idle while a warp is ready for it (docs/makespan.md).\n";

/// A kernel that fits a line.
fn short(kernel: &str) -> String {
    if kernel.len() <= 60 { kernel.to_string() } else { format!("{}...", &kernel[..57]) }
}
