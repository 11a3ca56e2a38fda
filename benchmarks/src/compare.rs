//! Two versions of sluice beside each other: the code that each makes of the programs of the suite, in turns. Called by scripts/bench-compare.
//!
//! ```text
//! compare OLD NEW WORK RESULTS [PROGRAM…]     both sluice commands, a folder for what is built, and the start of the names of the files to write (.md,
//!                                             .json, .svg); which programs of the suite, by default all
//! ```
//!
//! The ratio of a program is the median, over the turns, of new time by old time: what else the machine does hits both. Ends with 1 where a program takes more
//! than [`LIMIT`] times as long as before, by the median and by the best turns, too; and where both do not give the same bytes.

#![allow(clippy::disallowed_methods)] // it starts sluice, reads the command line and writes its results

use serde_json::{Value, json};
use sluice_benchmarks::measure::{keep, mean, seconds};
use sluice_benchmarks::racing::{How, Places, items_for};
use sluice_benchmarks::suite::{self, Benchmark};
use sluice_picture::bars_svg::{self, Bars};
use std::path::{Path, PathBuf};

/// Turns of each.
const TURNS: usize = 41;
/// New by old time from which on a program has become slower.
const LIMIT: f64 = 1.1;

/// What came out of a race.
struct Raced {
    name: &'static str,
    /// New by old time: of the turns' the median, and of the best turns.
    ratio: f64,
    best: f64,
    /// Seconds of the best turns.
    old: f64,
    new: f64,
}

impl Raced {
    fn is_slower(&self) -> bool {
        self.ratio > LIMIT && self.best > LIMIT
    }

    fn verdict(&self) -> &'static str {
        match () {
            () if self.is_slower() => "**slower**",
            () if self.ratio < 1.0 / LIMIT && self.best < 1.0 / LIMIT => "faster",
            () => "",
        }
    }
}

fn race(places: &[Places<'_>; 2], b: &'static Benchmark, variant: Option<&'static str>) -> Result<Raced, String> {
    let name = variant.unwrap_or(b.name);
    let [old, new] = places;
    let mut both = [old.sluice(b, variant)?, new.sluice(b, variant)?];
    let input = b.input(items_for(&mut both[0], b)?);
    // from their beginnings
    both = [old.anew(b, variant, How::default())?, new.anew(b, variant, How::default())?];
    let mut turn = |which: usize, output: &mut Vec<u32>| {
        let mut result = Ok(None);
        let time = seconds(|| result = both[which].program.run(&input, output));
        result.map(|own| own.unwrap_or(time))
    };
    let mut outputs = [Vec::new(), Vec::new()];
    for (which, output) in outputs.iter_mut().enumerate() {
        turn(which, output)?;
    }
    if outputs[0] != outputs[1] {
        return Err(format!("{name}: both versions do not give the same bytes"));
    }
    let (mut ratios, mut best) = (Vec::new(), [f64::INFINITY; 2]);
    // the same memory for both: that the system hands out new pages is nobody's time
    let mut output = Vec::with_capacity(outputs[0].len() + (1 << 14));
    for at in 0..TURNS {
        let mut times = [0.0; 2];
        // who comes first changes
        for which in [at % 2, 1 - at % 2] {
            output.clear();
            times[which] = turn(which, &mut output)?;
            best[which] = best[which].min(times[which]);
        }
        ratios.push(times[1] / times[0]);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(Raced { name, ratio: ratios[TURNS / 2], best: best[1] / best[0], old: best[0], new: best[1] })
}

fn table(all: &[Raced]) -> String {
    let mut text = String::from(
        "| program | new time / old time, median of turns | of the best turns | best turns, ms: old, new | |\n|---|--:|--:|--:|---|\n",
    );
    for r in all {
        let (old, new) = (r.old * 1e3, r.new * 1e3);
        text += &format!("| {} | {:.2} | {:.2} | {old:.2}, {new:.2} | {} |\n", r.name, r.ratio, r.best, r.verdict());
    }
    let of = |f: fn(&Raced) -> f64| mean(&all.iter().map(f).collect::<Vec<f64>>()).unwrap_or(1.0);
    text += &format!("| geometric mean | {:.2} | {:.2} | | |\n", of(|r| r.ratio), of(|r| r.best));
    let slower = all.iter().filter(|r| r.is_slower()).count();
    text + &format!(
        "\n{slower} of {} programs take more than {LIMIT} times as long as before; {TURNS} turns of each.\n",
        all.len()
    )
}

fn run(commands: [&str; 2], work: &Path, results: &str, names: &[String]) -> Result<bool, String> {
    let programs = suite::named(names)?;
    let folders: [PathBuf; 2] = ["old", "new"].map(|f| work.join(f));
    for f in &folders {
        std::fs::create_dir_all(f).map_err(|e| format!("{}: {e}", f.display()))?;
    }
    let root = Path::new(".");
    let places = [0, 1].map(|i| Places { sluice: commands[i], root, work: &folders[i] });
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for (i, (b, variant)) in programs.iter().enumerate() {
        // each is compiled twice: that takes longer than the race
        eprintln!("{} of {}: {}", i + 1, programs.len(), variant.unwrap_or(b.name));
        match race(&places, b, *variant) {
            Ok(raced) => all.push(raced),
            Err(why) => wrong.push(why),
        }
    }
    let chart = bars_svg::svg(&Bars {
        title: "Code of the new version beside the old one's".into(),
        unit: "times as fast".into(),
        series: vec!["median of turns".into(), "best turns".into()],
        groups: all.iter().map(|r| (r.name.to_string(), vec![Some(1.0 / r.ratio), Some(1.0 / r.best)])).collect(),
        ..Bars::default()
    });
    std::fs::write(format!("{results}.svg"), chart).map_err(|e| format!("{results}.svg: {e}"))?;
    let rows: Vec<Value> = (all.iter())
        .map(|r| json!({ "program": r.name, "ratio": r.ratio, "best": r.best, "old_s": r.old, "new_s": r.new, "slower": r.is_slower() }))
        .collect();
    keep(results, commands[1], &table(&all), json!({ "limit": LIMIT, "wrong": wrong, "rows": rows }))?;
    wrong.iter().for_each(|why| eprintln!("error: {why}"));
    Ok(wrong.is_empty() && !all.iter().any(Raced::is_slower))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, old, new, work, results, names @ ..] = &args[..] else {
        eprintln!("usage: compare OLD NEW WORK RESULTS [PROGRAM...] (scripts/bench-compare calls it)");
        std::process::exit(2);
    };
    match run([old, new], Path::new(work), results, names) {
        Ok(true) => {}
        Ok(false) => std::process::exit(1),
        Err(why) => {
            eprintln!("error: {why}");
            std::process::exit(3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raced(ratio: f64, best: f64) -> Raced {
        Raced { name: "fft", ratio, best, old: 1.0, new: best }
    }

    #[test]
    fn slower_is_what_both_figures_say() {
        let verdicts = |ratio, best| (raced(ratio, best).is_slower(), raced(ratio, best).verdict());
        assert_eq!(verdicts(1.5, 1.2), (true, "**slower**"));
        assert_eq!(verdicts(0.5, 0.8), (false, "faster"));
        // one of them alone may be a disturbance
        assert_eq!(verdicts(1.5, 1.0), (false, ""));
        assert_eq!(verdicts(1.0, 1.5), (false, ""));
        assert_eq!(verdicts(0.5, 1.0), (false, ""));
        assert_eq!(verdicts(1.0, 0.5), (false, ""));
        // what is at the limit is not beyond it, on either side
        assert_eq!(verdicts(LIMIT, LIMIT), (false, ""));
        assert_eq!(verdicts(LIMIT + 1e-9, LIMIT + 1e-9), (true, "**slower**"));
        assert_eq!(verdicts(1.0 / LIMIT, 1.0 / LIMIT), (false, ""));
        assert_eq!(verdicts(1.0 / LIMIT - 1e-9, 1.0 / LIMIT - 1e-9), (false, "faster"));
        // a ratio that there is not is no verdict
        assert_eq!(verdicts(f64::NAN, 2.0), (false, ""));
    }

    #[test]
    fn the_table_counts_the_slower_ones() {
        let text = table(&[raced(2.0, 2.0), raced(0.5, 0.5), raced(1.0, 1.0)]);
        assert!(text.contains("| fft | 2.00 | 2.00 | 1000.00, 2000.00 | **slower** |\n"), "{text}");
        assert!(text.contains("| fft | 0.50 | 0.50 | 1000.00, 500.00 | faster |\n"), "{text}");
        assert!(
            text.contains("| geometric mean | 1.00 | 1.00 | | |\n\n1 of 3 programs take more than 1.1 times"),
            "{text}"
        );
    }
}
