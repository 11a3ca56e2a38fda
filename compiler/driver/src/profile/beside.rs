//! # beside
//!
//! Purpose: what firings were measured to take on the CPU beside what the cost model says of them. Input: a CPU's profile, the program that it is of, and the model's
//! cycles of a firing by node on the machine `cpu`. Output: a table, a document, or folded stacks, as tools for flame graphs read them.
//!
//! ```text
//! Main.Left.Fir was measured for 12 345 ns  →  Main;Left;Fir 12345
//! ```

use super::Profile;
use crate::document::{columns, json};
use crate::pipeline::Checked;
use crate::streams::{self, Stream};
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt::Write;

/// What the document calls itself.
const SCHEMA: &str = "sluice-profile-beside-1";

/// How it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A table for people.
    Text,
    /// A document.
    Json,
    /// A line for each stream that took time: its path, level by level, and nanoseconds.
    Folded,
}

/// A stream's time.
#[derive(Clone, Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    stream: Stream,
    firings: u64,
    /// Nanoseconds of a firing; nothing where there was none.
    nanoseconds: Option<f64>,
    /// Part of all time that was measured.
    share: f64,
    /// Nanoseconds of a firing as the model has them, and their part of all the model's time for the same firings.
    model_nanoseconds: f64,
    model_share: f64,
}

impl Row {
    fn total(&self) -> f64 {
        self.nanoseconds.unwrap_or(0.0) * self.firings as f64
    }

    /// Measured by modelled time.
    fn ratio(&self) -> Option<f64> {
        self.nanoseconds.filter(|_| self.model_nanoseconds > 0.0).map(|ns| ns / self.model_nanoseconds)
    }
}

#[derive(Serialize)]
struct Document<'p> {
    schema: &'static str,
    program: &'p str,
    date: &'p str,
    machine: &'p super::Machine,
    /// The clock that the model counts with.
    clock_mhz: f64,
    seconds: f64,
    streams: Vec<Row>,
}

/// The text; `cycles` by node, of a clock of so many megahertz.
pub fn shown(profile: &Profile, checked: &Checked, (cycles, clock_mhz): (&[u64], f64), how: Shown) -> String {
    let rows = rows(profile, checked, (cycles, clock_mhz));
    match how {
        Shown::Text => table(rows),
        Shown::Folded => folded(&rows),
        Shown::Json => json(&Document {
            schema: SCHEMA,
            program: &profile.program,
            date: &profile.date,
            machine: &profile.machine,
            clock_mhz,
            seconds: profile.seconds,
            streams: rows,
        }),
    }
}

fn rows(profile: &Profile, checked: &Checked, (cycles, clock_mhz): (&[u64], f64)) -> Vec<Row> {
    let model = |v: usize| cycles.get(v).copied().unwrap_or(0) as f64 * 1e3 / clock_mhz;
    let streams = streams::all(&checked.program, &checked.sources);
    let mut rows: Vec<Row> = (streams.into_iter().zip(&profile.streams).enumerate())
        .map(|(v, (stream, measured))| Row {
            stream,
            firings: measured.firings,
            nanoseconds: measured.nanoseconds,
            share: 0.0,
            model_nanoseconds: model(v),
            model_share: 0.0,
        })
        .collect();
    let of_model = |r: &Row| r.model_nanoseconds * r.firings as f64;
    let (all, all_of_model) = (rows.iter().map(Row::total).sum::<f64>(), rows.iter().map(of_model).sum::<f64>());
    let part = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
    for r in &mut rows {
        (r.share, r.model_share) = (part(r.total(), all), part(of_model(r), all_of_model));
    }
    rows
}

fn folded(rows: &[Row]) -> String {
    let mut text = String::new();
    for r in rows.iter().filter(|r| r.total() >= 0.5) {
        // neither levels nor the number at the end may be mistaken
        let levels: Vec<String> = r.stream.path.split('.').map(|l| l.replace([';', ' '], "_")).collect();
        let _ = writeln!(text, "{} {:.0}", levels.join(";"), r.total());
    }
    text
}

fn table(mut rows: Vec<Row>) -> String {
    rows.sort_by(|a, b| b.total().partial_cmp(&a.total()).unwrap_or(Ordering::Equal));
    let head = ["share", "model", "a firing", "model", "measured/model", "firings", "stream", "at"].map(String::from);
    let percent = |x: f64| format!("{:.1} %", x * 100.0);
    let time = |ns: f64| format!("{ns:.1} ns");
    let mut cells = vec![head];
    cells.extend(rows.iter().map(|r| {
        [
            percent(r.share),
            percent(r.model_share),
            r.nanoseconds.map_or(String::new(), time),
            time(r.model_nanoseconds),
            r.ratio().map_or(String::new(), |x| format!("{x:.2}")),
            r.firings.to_string(),
            r.stream.path.clone(),
            r.stream.place.to_string(),
        ]
    }));
    columns(&cells, &[6, 7])
}
