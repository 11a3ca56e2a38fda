//! How fast the programs of the suite are as native code, beside their plain C references and libraries that compute the same, all in
//! turns. Called by scripts/bench. The table of README.md is made from the same figures.
//!
//! ```text
//! programs SLUICE WORK RESULTS     the sluice command, a folder for what is built, and the start of the names of the files to write
//!                                  (.md, .json, .svg)
//! programs SLUICE WORK RESULTS PROGRAM…   only these, and the table is printed: nothing is kept
//! programs --draw RESULTS          draws the charts of figures that are kept anew, and the table of README.md where they are the latest
//! ```

#![allow(clippy::disallowed_methods)] // it starts sluice, reads the command line and writes its results

use serde_json::{Value, json};
use sluice_benchmarks::arithmetic::Arithmetic;
use sluice_benchmarks::command;
use sluice_benchmarks::kept::{self, Kept, TURNS};
use sluice_benchmarks::measure::{Spread, keep, seconds, spread};
use sluice_benchmarks::peers::{OURS, TUNED};
use sluice_benchmarks::racing::{How, Places, items_for};
use sluice_benchmarks::suite::{self, Benchmark, Counts};
use std::path::{Path, PathBuf};

/// Seconds after which a runner has had turns enough: a library that takes seconds for what sluice does in milliseconds.
const ENOUGH: f64 = 2.0;
/// But so many it has.
const LEAST_TURNS: usize = 7;

/// What is measured of a program, or of a variant of it.
struct Measured {
    b: &'static Benchmark,
    variant: Option<&'static str>,
    items: usize,
    runners: Vec<(String, Spread)>,
}

impl Measured {
    fn of(&self, name: &str) -> Option<Spread> {
        self.runners.iter().find(|(n, _)| n == name).map(|(_, s)| *s)
    }

    fn name(&self) -> &'static str {
        self.variant.unwrap_or(self.b.name)
    }

    /// What C takes, the faster of both compilers' code at its best, by what sluice takes, with this leave.
    fn times_as_fast(&self, arithmetic: Arithmetic, ours: &str) -> Option<f64> {
        let least = |name: &str| self.of(&arithmetic.called(name)).map(|s| s.least);
        let by_hand = ["gcc", "clang"].into_iter().filter_map(least).reduce(f64::min);
        Some(by_hand? / least(ours)?)
    }
}

fn measure(places: &Places<'_>, b: &'static Benchmark, variant: Option<&'static str>) -> Result<Measured, String> {
    let flag = b.peer.variant.filter(|_| variant.is_some()).map_or("", |(_, flag)| flag);
    let mut runners = vec![places.sluice(b, variant)?];
    let input = b.input(items_for(&mut runners[0], b)?);
    runners[0] = places.anew(b, variant, How::default())?; // from its beginning, like the others
    runners.push(places.sluice_by(b, variant, How { tuned: true, ..How::default() })?);
    let mut optional = Vec::new();
    let floats = !b.of_ints();
    for arithmetic in Arithmetic::ALL.into_iter().filter(|a| floats || *a == Arithmetic::Usual) {
        for cc in ["gcc", "clang"] {
            let flags = format!("{flag} {}", arithmetic.flags_text());
            let name = arithmetic.called(cc);
            optional.push((name.clone(), places.plain(b, cc, ("reference.c", flags.trim(), ""), &name)));
        }
    }
    if floats {
        for tuned in [false, true] {
            let how = How { arithmetic: Arithmetic::Free, tuned };
            optional.push((how.called(), places.sluice_by(b, variant, how)));
        }
    }
    if variant == b.peer.variant.map(|(name, _)| name) {
        optional.push((b.peer.name.into(), places.peer(b, &input)));
    }
    for (name, runner) in optional {
        match runner {
            Ok(runner) => runners.push(runner),
            Err(why) => eprintln!("{}: {name} is missing: {}", b.name, why.lines().next().unwrap_or("?")),
        }
    }
    let mut times = vec![Vec::new(); runners.len()];
    let mut first = vec![Vec::new(); runners.len()];
    // the same memory for all: that the system hands out new pages is nobody's time
    let mut output = Vec::with_capacity(input.len() * b.output.1.div_ceil(b.input.1) * b.output.0.words() + (1 << 14));
    for round in 0..=TURNS as usize {
        // who comes after a library in a process of its own finds cold caches: each is that as often as others
        for i in mixed(runners.len(), round as u64) {
            let runner = &mut runners[i];
            if times[i].len() >= LEAST_TURNS && times[i].iter().sum::<f64>() > ENOUGH {
                continue;
            }
            output.clear();
            let mut result = Ok(None);
            let time = seconds(|| result = runner.program.run(&input, &mut output));
            let own = result?;
            // the first turn warms up, and is compared
            match round {
                0 => first[i] = output.clone(),
                _ => times[i].push(own.unwrap_or(time)),
            }
        }
    }
    for (runner, output) in runners.iter().zip(&first).skip(1) {
        // compilers that fuse multiplications and additions round otherwise
        let n = first[0].len().min(output.len());
        let held = first[0].len().abs_diff(output.len());
        let own = if runner.name == b.peer.name { b.peer.tolerance } else { b.tolerance };
        let free = ["gcc", "clang", OURS, TUNED].iter().any(|n| Arithmetic::Free.called(n) == runner.name);
        let tolerance = own.max(if free { 1e-3 } else { 1e-4 });
        b.compare(&first[0][..n], &output[..n], tolerance)
            .and_then(|_| if held > 64 { Err(format!("{held} words of output are missing")) } else { Ok(0.0) })
            .map_err(|why| format!("{}: sluice and {} do not do the same work: {why}", b.name, runner.name))?;
    }
    let items = input.len() / b.input.0.words();
    let names = runners.iter().map(|r| r.name.clone());
    Ok(Measured { b, variant, items, runners: names.zip(times.into_iter().map(spread)).collect() })
}

/// The numbers below n in an order of this round's own, the same in each run of the suite (Fisher and Yates).
fn mixed(n: usize, round: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut x = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for i in (1..n).rev() {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(i, (x >> 33) as usize % (i + 1));
    }
    order
}

fn table(all: &[Measured]) -> String {
    let mut text = String::from(
        "| program | nodes (paper) | peeking (paper) | sluice, Mitems/s (median) | tuned | gcc | clang | C / sluice, time: both exact | tuned: both exact | C as usual | both free | library | sluice / library, time |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for m in all {
        // what else the machine does only adds to a time
        let rate = |s: Spread| m.items as f64 / s.least / 1e6;
        let shown = |name: &str| m.of(name).map_or("".into(), |s| format!("{:.1}", rate(s)));
        let Some(ours) = m.of(OURS) else { continue };
        let by_hand = |a: Arithmetic, ours| m.times_as_fast(a, ours).map_or("".into(), |t| format!("{t:.2}"));
        // ints have one arithmetic
        let exact = if m.b.of_ints() { Arithmetic::Usual } else { Arithmetic::Exact };
        let against = |time: Option<f64>| time.map_or("".into(), |t| format!("{:.2}", ours.least / t));
        let library = m.of(m.b.peer.name);
        let count = |of: fn(&Counts) -> usize| match (m.variant, &m.b.paper) {
            (Some(_), _) => String::new(),
            (None, Some(paper)) => format!("{} ({})", of(&m.b.counts), of(paper)),
            (None, None) => of(&m.b.counts).to_string(),
        };
        text.push_str(&format!(
            "| {} | {} | {} | {} ({:.1}) | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            m.name(),
            count(|c| c.nodes),
            count(|c| c.peeking),
            shown(OURS),
            m.items as f64 / ours.median / 1e6,
            shown(TUNED),
            shown("gcc"),
            shown("clang"),
            by_hand(exact, OURS),
            by_hand(exact, TUNED),
            by_hand(Arithmetic::Usual, TUNED),
            by_hand(Arithmetic::Free, TUNED),
            library.map_or("".into(), |s| format!("{}: {:.1}", m.b.peer.name, rate(s))),
            against(library.map(|s| s.least)),
        ));
    }
    text
}

/// The charts of figures that are kept; and, where there are no later ones, the table of README.md.
fn draw(root: &Path, results: &str) -> Result<(), String> {
    let write = |path: &Path, text: String| std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()));
    let file = PathBuf::from(format!("{results}.json"));
    let kept = Kept::read(&file)?;
    write(&file.with_extension("svg"), kept::programs_chart(&kept))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    write(&folder.join("programs-history.svg"), kept::history(folder)?)?;
    if kept::files(folder, kept::PROGRAMS)?.last().is_none_or(|latest| *latest == file) {
        let path = root.join("README.md");
        let page = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        write(&path, kept::readme(&page, &kept, &kept::elsewhere(folder, &kept)?)?)?;
    }
    Ok(())
}

fn run(places: &Places<'_>, results: &str, names: &[String]) -> Result<(), String> {
    let mut all = Vec::new();
    for (b, variant) in suite::named(names)? {
        all.push(measure(places, b, variant)?);
    }
    if !names.is_empty() {
        print!("{}", table(&all));
        return Ok(());
    }
    let text = format!(
        "{}\nMillion items of input in a second, the best of {TURNS} turns (fewer of what takes seconds); C with -O3 -march=native, the faster of both compilers in the ratios. Exact: C with `{}`. As usual: C may \
         join a product and a sum, sluice's code does not. Free: `sluice build --fast-math`, C with `{}`.\n",
        table(&all),
        Arithmetic::Exact.flags_text(),
        Arithmetic::Free.flags_text(),
    );
    let rows: Vec<Value> = (all.iter())
        .map(|m| {
            let times: serde_json::Map<String, Value> = (m.runners.iter())
                .map(|(name, s)| {
                    (name.clone(), json!({ "median_s": s.median, "least_s": s.least, "greatest_s": s.greatest }))
                })
                .collect();
            json!({
                "program": m.name(), "items": m.items, "times": times,
                "nodes": m.b.counts.nodes, "peeking": m.b.counts.peeking,
                "paper_nodes": m.b.paper.map(|c| c.nodes), "paper_peeking": m.b.paper.map(|c| c.peeking),
            })
        })
        .collect();
    keep(results, places.sluice, &text, json!({ "turns": TURNS, "rows": rows }))?;
    draw(places.root, results)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let root = Path::new(".");
    let done = match &args[..] {
        [_, draws, results] if draws == "--draw" => draw(root, results),
        [_, sluice, work, results, names @ ..] => run(&Places { sluice, root, work: Path::new(work) }, results, names),
        _ => command::usage("programs SLUICE WORK RESULTS [PROGRAM...] | programs --draw RESULTS"),
    };
    command::ended(done);
}

#[cfg(test)]
mod tests {
    use super::mixed;

    #[test]
    fn each_comes_after_each_other_about_equally_often() {
        let mut after = [[0; 5]; 5];
        for round in 0..=super::TURNS {
            let order = mixed(5, round);
            let mut all = order.clone();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3, 4]);
            order.windows(2).for_each(|two| after[two[0]][two[1]] += 1);
        }
        // 152 orders have 608 neighbours, of 20 kinds
        let fair = |a: usize, b: usize| a == b || (12..60).contains(&after[a][b]);
        assert!((0..5).all(|a| (0..5).all(|b| fair(a, b))), "{after:?}");
    }
}
