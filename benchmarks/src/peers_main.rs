//! How fast small programs of ours are beside C by hand, FAUST and libraries that compute the same, all in turns. Called by scripts/bench.
//!
//! ```text
//! peers SLUICE WORK RESULTS     the sluice command, a folder for what is built, and the start of the names of the files to write (.md, .json, .svg)
//! peers SLUICE WORK RESULTS PROGRAM…   only these, and the tables are printed: nothing is kept
//! peers --draw RESULTS          draws the chart of figures that are kept anew
//! ```

#![allow(clippy::disallowed_methods)] // it reads the command line and writes its results

use serde_json::{Map, Value, json};
use sluice_benchmarks::arithmetic::Arithmetic;
use sluice_benchmarks::command;
use sluice_benchmarks::kept::{self, Kept};
use sluice_benchmarks::measure::{Spread, keep, mean, spread};
use sluice_benchmarks::peers::{self, MODES, OURS, PEERS, Raced, SMALL, Small, TURNS};
use sluice_benchmarks::racing::Places;
use std::collections::BTreeSet;
use std::path::Path;

/// What is measured of a program in a mode.
struct Measured {
    small: &'static Small,
    mode: Arithmetic,
    items: usize,
    all: Vec<Raced>,
}

impl Measured {
    /// The one of this name; where there are several, the fastest.
    fn of(&self, name: &str) -> Option<(&Raced, Spread)> {
        let all = self.all.iter().filter(|r| r.name == name).map(|r| (r, spread(r.times.clone())));
        all.min_by(|a, b| a.1.least.total_cmp(&b.1.least))
    }

    /// How many times as fast as it ours is: the median of the turns.
    fn ratio(&self, peer: &Raced) -> Option<f64> {
        let (ours, _) = self.of(OURS)?;
        Some(spread(peer.times.iter().zip(&ours.times).map(|(t, o)| t / o).collect()).median)
    }

    fn rate(&self, seconds: f64) -> f64 {
        self.items as f64 / seconds / 1e6
    }
}

fn measure(
    places: &Places<'_>,
    small: &'static Small,
    mode: Arithmetic,
) -> Result<(Measured, Vec<&'static str>), String> {
    let (mut runners, missing) = small.runners(places, mode)?;
    let input = small.samples(small.items(&mut runners[0])?);
    // from its beginning, like the others
    drop(runners);
    let (mut runners, _) = small.runners(places, mode)?;
    let all = small.race(&mut runners, &input)?;
    Ok((Measured { small, mode, items: input.len() / small.input.0.words(), all }, missing))
}

fn table(all: &[Measured], mode: Arithmetic) -> String {
    let mut text = format!(
        "| program | sluice: best (median, slowest) | {} |\n|---|--:|{}\n",
        PEERS.join(" | "),
        "--:|".repeat(PEERS.len())
    );
    let mut ratios = vec![Vec::new(); PEERS.len()];
    for m in all.iter().filter(|m| m.mode == mode) {
        let Some((_, ours)) = m.of(OURS) else { continue };
        let [best, median, slowest] = [ours.least, ours.median, ours.greatest].map(|t| m.rate(t));
        text += &format!("| {}: {} | {best:.1} ({median:.1}, {slowest:.1}) |", m.small.name, m.small.what);
        for (name, ratios) in PEERS.iter().zip(&mut ratios) {
            let Some((peer, times)) = m.of(name) else {
                text += " |";
                continue;
            };
            let ratio = m.ratio(peer).unwrap_or(1.0);
            ratios.push(ratio);
            let with = if peer.with.is_empty() { String::new() } else { format!(" `{}`", peer.with) };
            text += &format!(" {:.1} ({ratio:.2}){with} |", m.rate(times.least));
        }
        text.push('\n');
    }
    text += "| geometric mean | |";
    for ratios in &ratios {
        text += &mean(ratios).map_or(" |".into(), |mean| format!(" ({mean:.2}) |"));
    }
    text + "\n"
}

fn page(all: &[Measured], missing: &BTreeSet<&str>) -> String {
    let mut text = format!(
        "Small programs from memory to memory on one core, in million items of input in a second: the best of {TURNS} turns. In brackets, how many times as fast \
         as that sluice's code is: the median of the turns, each beside the other. Of FAUST's scalar and vector (`-vec`) code the faster is shown. GNU Radio's \
         graphs have that core for all their threads; VOLK is what its filters compute with.\n\n"
    );
    for (mode, title) in MODES.into_iter().zip(["Bit-exact", "With --fast-math"]) {
        text += &format!(
            "## {title}\n\nC and FAUST with `{}`; libraries as they are installed.\n\n{}\n",
            peers::flags(mode).join(" "),
            table(all, mode)
        );
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().copied().collect();
        text += &format!("**Not installed, and so not measured: {}.**\n", names.join("; "));
    }
    text
}

fn row(m: &Measured) -> Value {
    let times: Map<String, Value> = (m.all.iter())
        .map(|r| {
            let s = spread(r.times.clone());
            let name = format!("{} {}", r.name, r.with).trim_end().to_string();
            let of = json!({ "median_s": s.median, "least_s": s.least, "greatest_s": s.greatest, "ratio": m.ratio(r) });
            (name, of)
        })
        .collect();
    json!({ "program": m.small.name, "mode": peers::mode_name(m.mode), "items": m.items, "times": times })
}

fn run(places: &Places<'_>, results: &str, names: &[String]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|n| !SMALL.iter().any(|s| s.name == n.as_str())) {
        let known = SMALL.map(|s| s.name);
        return Err(format!("there is no program `{unknown}`; there are {}", known.join(", ")));
    }
    std::fs::create_dir_all(places.work).map_err(|e| format!("{}: {e}", places.work.display()))?;
    let (mut all, mut missing) = (Vec::new(), BTreeSet::new());
    for mode in MODES {
        for small in SMALL.iter().filter(|s| names.is_empty() || names.iter().any(|n| n == s.name)) {
            let (measured, absent) = measure(places, small, mode)?;
            all.push(measured);
            for name in absent {
                if missing.insert(name) {
                    eprintln!("{name} is NOT INSTALLED: its column is empty (scripts/install-packages bench)");
                }
            }
        }
    }
    if !names.is_empty() {
        print!("{}", page(&all, &missing));
        return Ok(());
    }
    let rows: Vec<Value> = all.iter().map(row).collect();
    keep(results, places.sluice, &page(&all, &missing), json!({ "missing": missing, "rows": rows }))?;
    draw(results)
}

/// The chart of figures that are kept.
fn draw(results: &str) -> Result<(), String> {
    let chart = kept::peers_chart(&Kept::read(Path::new(&format!("{results}.json")))?);
    std::fs::write(format!("{results}.svg"), chart).map_err(|e| format!("{results}.svg: {e}"))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let done = match &args[..] {
        [_, draws, results] if draws == "--draw" => draw(results),
        [_, sluice, work, results, names @ ..] => {
            let work = Path::new(work).join("peers");
            run(&Places { sluice, root: Path::new("."), work: &work }, results, names)
        }
        _ => command::usage("peers SLUICE WORK RESULTS [PROGRAM...] | peers --draw RESULTS"),
    };
    command::ended(done);
}
