//! A program built in several ways that an option chooses, in turns, as ratios to the first.

#![allow(clippy::disallowed_methods)] // it starts sluice

use crate::beside::{Compiled, Program};
use crate::measure::{Spread, seconds, spread};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds that a repetition takes, about: short, so that most are not disturbed by what else the machine does.
const REPETITION: f64 = 0.002;
/// Turns of each way.
pub const REPETITIONS: usize = 61;
/// After so many each program is opened again.
const PLACES: usize = 6;
/// The most items of input of a repetition.
const MOST: usize = 1 << 18;

/// A program to measure.
pub struct Case {
    /// What it is called in tables.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Words of an item in and out.
    pub widths: (usize, usize),
    /// So many words of input, for so many items.
    pub input: Box<dyn Fn(usize) -> Vec<u32>>,
}

/// What is compared.
pub struct Race<'a> {
    /// The sluice command.
    pub sluice: &'a str,
    /// For what is built.
    pub work: &'a Path,
    /// The option.
    pub option: &'static str,
    /// What is said to it; the others are compared with the first.
    pub kinds: &'static [&'static str],
    /// What is said besides.
    pub flags: &'static [&'static str],
    /// The greatest difference of the output (of floats), as a part of the greatest number; without, all give the same bytes.
    pub tolerance: Option<f32>,
}

/// What came of a program.
pub struct Measured {
    /// Its name.
    pub name: String,
    /// Items of input of a repetition.
    pub items: usize,
    /// By kind.
    pub times: Vec<Spread>,
    /// By kind: the median of the ratios of neighbouring turns to the first.
    pub ratios: Vec<f64>,
}

/// Numbers evenly spread from -1 to 1, or ints.
pub fn noise(items: usize, ints: bool) -> Vec<u32> {
    let mut x = 0x2545_f491_4f6c_dd1du64;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (x >> 33) as u32;
        if ints { bits } else { (bits as f32 / (1u32 << 30) as f32 - 1.0).to_bits() }
    };
    (0..items).map(|_| next()).collect()
}

impl Case {
    fn stem(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn open(&self, library: &Path) -> Result<Compiled, String> {
        Compiled::open(library, &self.stem(), self.widths)
    }
}

impl Race<'_> {
    /// The program as a library.
    fn build(&self, case: &Case, kind: &str) -> Result<PathBuf, String> {
        let folder = self.work.join(kind);
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let library = folder.join(format!("lib{}.so", case.stem()));
        let mut command = Command::new(self.sluice);
        command.args(["build", "--lib"]).args(self.flags).arg(format!("{}={kind}", self.option));
        command.arg(&case.file).arg("-o").arg(&library);
        let out = command.output().map_err(|e| format!("{}: {e}", self.sluice))?;
        if !out.status.success() {
            return Err(format!("{}: {}", case.name, String::from_utf8_lossy(&out.stderr)));
        }
        Ok(library)
    }

    /// Is this output what the first kind gave?
    fn alike(&self, wanted: &[u32], output: &[u32]) -> bool {
        let Some(tolerance) = self.tolerance else { return wanted == output };
        // what waits for a batch to be full may differ
        let all = || wanted.iter().zip(output).map(|(a, b)| (f32::from_bits(*a), f32::from_bits(*b)));
        let most = all().fold(0.0f32, |m, (a, _)| m.max(a.abs()));
        output.is_empty() == wanted.is_empty() && all().all(|(a, b)| (a - b).abs() <= tolerance * most)
    }

    /// Measures a program.
    pub fn measure(&self, case: &Case) -> Result<Measured, String> {
        let kinds = self.kinds;
        let built = kinds.iter().map(|k| self.build(case, k)).collect::<Result<Vec<_>, _>>()?;
        let (trial, mut least) = ((case.input)(1 << 13), f64::INFINITY);
        let mut first = case.open(&built[0])?;
        for _ in 0..5 {
            let mut result = Ok(None);
            least = least.min(seconds(|| result = first.run(&trial, &mut Vec::new())));
            result?;
        }
        let items = ((trial.len() / case.widths.0) as f64 * REPETITION / least).clamp(1024.0, MOST as f64) as usize;
        let items = if self.tolerance.is_some() { items.max(LONG) } else { items };
        let input = (case.input)(items);
        let mut runners = Vec::new();
        let mut times = vec![Vec::new(); kinds.len()];
        let mut wanted = Vec::new();
        for round in 0..=REPETITIONS {
            // where a program's memory lies changes its time: it lies elsewhere again and again
            if round % PLACES == 0 {
                runners = built.iter().map(|library| case.open(library)).collect::<Result<Vec<_>, _>>()?;
            }
            // each kind has its turn at each place
            for k in 0..kinds.len() {
                let i = (k + round) % kinds.len();
                let mut output = Vec::with_capacity(input.len() * 16 + 4096);
                let mut result = Ok(None);
                let time = seconds(|| result = runners[i].run(&input, &mut output));
                result?;
                // the first turn warms up, and is compared
                match round {
                    0 if k == 0 => wanted = output,
                    0 if !self.alike(&wanted, &output) => {
                        return Err(format!("{}: {} gives something else", case.name, kinds[i]));
                    }
                    0 => {}
                    _ => times[i].push(time),
                }
            }
        }
        let ratio = |of: &[f64]| spread(of.iter().zip(&times[0]).map(|(a, b)| a / b).collect()).median;
        let ratios = times.iter().map(|t| ratio(t)).collect();
        Ok(Measured { name: case.name.clone(), items, ratios, times: times.into_iter().map(spread).collect() })
    }

    /// The table of all programs.
    pub fn table(&self, all: &[Measured]) -> String {
        let (first, others) = (self.kinds[0], &self.kinds[1..]);
        let mut text = format!("| program | {first}, Mitems/s |");
        others.iter().for_each(|k| text.push_str(&format!(" {k}, time |")));
        text.push_str(&format!("\n|---|---|{}\n", "---|".repeat(others.len())));
        for m in all {
            text.push_str(&format!("| {} | {:.1} |", m.name, m.items as f64 / m.times[0].median / 1e6));
            m.ratios[1..].iter().for_each(|r| text.push_str(&format!(" {r:.2} |")));
            text.push('\n');
        }
        text.push_str("| geometric mean | |");
        for k in 1..self.kinds.len() {
            let sum: f64 = all.iter().map(|m| m.ratios[k].ln()).sum();
            text.push_str(&format!(" {:.3} |", (sum / all.len().max(1) as f64).exp()));
        }
        text.push('\n');
        text
    }

    /// The figures of all programs, as JSON.
    pub fn rows(&self, all: &[Measured]) -> Vec<Value> {
        let times = |m: &Measured| -> Map<String, Value> {
            let all = self.kinds.iter().zip(&m.times).zip(&m.ratios);
            all.map(|((kind, s), ratio)| {
                let of = json!({ "median_s": s.median, "least_s": s.least, "greatest_s": s.greatest, "ratio": ratio });
                (kind.to_string(), of)
            })
            .collect()
        };
        all.iter().map(|m| json!({ "program": m.name, "items": m.items, "times": times(m) })).collect()
    }
}

/// The fewest items of a repetition where kinds differ by what they do with many at once.
const LONG: usize = 1 << 16;
