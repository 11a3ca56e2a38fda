//! Results that are kept (benchmarks/results), read again: charts and the table of README.md are made of them. So they can be drawn anew without a new
//! measurement, and a test holds README.md to them.

#![allow(clippy::disallowed_methods)] // it reads and writes results

use crate::arithmetic::Arithmetic;
use crate::measure::mean;
use crate::peers::{OURS, PEERS, TUNED};
use crate::suite::{Benchmark, SUITE};
use serde_json::Value;
use sluice_picture::bars_svg::{self, Bars};
use std::path::{Path, PathBuf};

/// Turns of each racer of the suite: so many that even where other guests take half of the machine, each has some that nobody disturbs.
pub const TURNS: u64 = 151;
/// What they were before a file said so.
const TURNS_ONCE: u64 = 31;
/// How the names of the files with the figures of the suite end.
pub const PROGRAMS: &str = "-programs.json";
/// How those with the figures of small programs beside peers end.
pub const OF_PEERS: &str = "-peers.json";

/// The figures of a run.
pub struct Kept {
    /// The machine's.
    pub processor: String,
    /// Turns of each racer, or the most of them.
    pub turns: u64,
    /// Of a program each, perhaps in one of several modes.
    pub rows: Vec<Row>,
}

/// Those of a program.
pub struct Row {
    /// Its name.
    pub program: String,
    /// How it was compiled, where there are several ways; else empty.
    pub mode: String,
    /// Items of input of a turn.
    pub items: usize,
    times: Vec<(String, Times)>,
}

/// Those of one of the racers.
struct Times {
    /// Seconds of the best turn.
    least: f64,
    /// By what sluice takes, the median of the turns.
    ratio: Option<f64>,
}

impl Kept {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Kept, String> {
        let fault = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let text = std::fs::read_to_string(path).map_err(|e| fault(&e))?;
        let document: Value = serde_json::from_str(&text).map_err(|e| fault(&e))?;
        let word = |of: &Value, key: &str| of[key].as_str().map(String::from);
        let rows = document["rows"].as_array().ok_or_else(|| fault(&"it has no rows"))?;
        let read = |row: &Value| {
            let times = row["times"].as_object()?.iter();
            let of = |(name, t): (&String, &Value)| {
                Some((name.clone(), Times { least: t["least_s"].as_f64()?, ratio: t["ratio"].as_f64() }))
            };
            Some(Row {
                program: word(row, "program")?,
                mode: word(row, "mode").unwrap_or_default(),
                items: usize::try_from(row["items"].as_u64()?).ok()?,
                times: times.map(of).collect::<Option<_>>()?,
            })
        };
        let rows: Option<Vec<Row>> = rows.iter().map(read).collect();
        Ok(Kept {
            processor: word(&document["about"], "processor")
                .ok_or_else(|| fault(&"it does not say where it was taken"))?,
            turns: document["turns"].as_u64().unwrap_or(TURNS_ONCE),
            rows: rows.ok_or_else(|| fault(&"a row lacks something"))?,
        })
    }
}

impl Row {
    /// Seconds of a racer's best turn.
    fn least(&self, name: &str) -> Option<f64> {
        self.times.iter().find(|(n, _)| n == name).map(|(_, t)| t.least)
    }

    /// What C by hand takes, the faster of both compilers' code, by what sluice takes, with this leave. Ints have one arithmetic.
    fn by_hand(&self, arithmetic: Arithmetic) -> Option<f64> {
        let ints = self.benchmark().is_some_and(Benchmark::of_ints);
        let arithmetic = if ints { Arithmetic::Usual } else { arithmetic };
        let least = |name: &str| self.least(&arithmetic.called(name));
        let theirs = ["gcc", "clang"].into_iter().filter_map(least).reduce(f64::min);
        theirs.zip(least(TUNED).or(least(OURS))).map(|(c, ours)| c / ours)
    }

    /// The same of code as it is made without tuning, bit for bit as the program says.
    fn untuned(&self) -> Option<f64> {
        let by_hand = self.by_hand(Arithmetic::Exact)?;
        Some(by_hand * self.ours()? / self.least(OURS)?)
    }

    /// Seconds of sluice's best turn; tuned, where it was.
    fn ours(&self) -> Option<f64> {
        self.least(TUNED).or(self.least(OURS))
    }

    /// How many times as fast as a racer sluice's code is, by the median of the turns; where it was made in several ways, as the fastest.
    fn ratio_to(&self, peer: &str) -> Option<f64> {
        let ways = self
            .times
            .iter()
            .filter(|(n, _)| n.strip_prefix(peer).is_some_and(|way| way.is_empty() || way.starts_with(" -")));
        ways.min_by(|a, b| a.1.least.total_cmp(&b.1.least))?.1.ratio
    }

    /// The program of the suite that it is, or is a variant of.
    fn benchmark(&self) -> Option<&'static Benchmark> {
        let is =
            |b: &&Benchmark| b.name == self.program || b.peer.variant.is_some_and(|(name, _)| name == self.program);
        SUITE.iter().find(is)
    }

    /// What C by hand takes, by what sluice takes; and the same of the library.
    fn times_as_fast(&self) -> [Option<f64>; 2] {
        let library = self.benchmark().and_then(|b| self.least(b.peer.name));
        [self.by_hand(Arithmetic::Usual), library.zip(self.ours()).map(|(t, ours)| t / ours)]
    }
}

/// The files of a folder whose names end so, by date.
pub fn files(folder: &Path, end: &str) -> Result<Vec<PathBuf>, String> {
    let listed = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = listed.flatten().map(|f| f.path()).collect();
    files.retain(|f| f.to_string_lossy().ends_with(end));
    files.sort();
    Ok(files)
}

/// Where the table of README.md begins and ends.
const MARKS: (&str, &str) = ("<!-- figures: made by `make bench` -->\n", "<!-- end of figures -->\n");

/// The latest figures of each other machine that has some in a folder: its name, the file's, and the mean of what C by hand takes, by what sluice takes, both exact.
pub fn elsewhere(folder: &Path, here: &Kept) -> Result<Vec<(String, String, f64)>, String> {
    let mut found: Vec<(String, String, f64)> = Vec::new();
    for path in files(folder, PROGRAMS)? {
        let kept = Kept::read(&path)?;
        let ratios: Vec<f64> = kept.rows.iter().filter_map(|row| row.by_hand(Arithmetic::Exact)).collect();
        let Some(mean) = mean(&ratios) else { continue };
        if kept.processor == here.processor {
            continue;
        }
        let file = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().replace(".json", ".md"));
        found.retain(|(machine, ..)| *machine != kept.processor);
        found.push((kept.processor, file, mean));
    }
    Ok(found)
}

/// README.md with the table of these figures: what hand-written C and libraries take, by what sluice takes; and the means on other machines.
pub fn readme(page: &str, kept: &Kept, elsewhere: &[(String, String, f64)]) -> Result<String, String> {
    let (before, rest) = page.split_once(MARKS.0).ok_or("README.md has no place for the figures")?;
    let (_, after) = rest.split_once(MARKS.1).ok_or("README.md has no end of the figures")?;
    let mut text = String::from(
        "| program | sluice, million items of input in a second | times as fast as C by hand, both exact | the same, not tuned | C as usual | both free | times as fast as a library |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut ratios: [Vec<f64>; 4] = Default::default();
    for row in &kept.rows {
        let (Some(ours), Some(b)) = (row.ours(), row.benchmark()) else { continue };
        let [_, library] = row.times_as_fast();
        let [exact, usual, free] = Arithmetic::ALL.map(|a| row.by_hand(a));
        let by_hand = [exact, row.untuned(), usual, free];
        by_hand.iter().zip(&mut ratios).for_each(|(ratio, all)| all.extend(ratio));
        let [exact, untuned, usual, free] = by_hand.map(|t| t.map_or(String::new(), |t| format!("{t:.2}")));
        text += &format!(
            "| [{}]({}) | {:.1} | {exact} | {untuned} | {usual} | {free} | {} |\n",
            row.program,
            b.folder(Path::new("")).join("README.md").display(),
            row.items as f64 / ours / 1e6,
            library.map_or(String::new(), |t| format!("{t:.2} ({})", b.peer.name)),
        );
    }
    let [exact, untuned, usual, free] = ratios.map(|all| mean(&all).map_or(String::new(), |m| format!("{m:.2}")));
    let others: Vec<String> = elsewhere
        .iter()
        .map(|(machine, file, mean)| format!("[{mean:.2}](benchmarks/results/{file}) ({machine})"))
        .collect();
    let others = match &others[..] {
        [] => String::new(),
        all => {
            format!(
                " The mean, both exact, on other machines, with the version that was last measured there: {}.",
                all.join(", ")
            )
        }
    };
    Ok(format!(
        "{before}{}{text}| geometric mean | | {exact} | {untuned} | {usual} | {free} | |\n\nOne core of {}; from memory to memory; compiled in the way that [`sluice tune`](docs/tune.md) has found, but for the column *not tuned*; C by hand with `-O3 -march=native` by gcc and by clang, the faster of the \
         two; the best of {} turns. *Both exact*: operation by operation as the program says (C with `{}`). *C as usual*: sluice's code is exact, C compilers may join a product and a sum. *Both \
         free*: `--fast-math` on both sides. Ints have one arithmetic.{others}\n{}{after}",
        MARKS.0,
        kept.processor,
        kept.turns,
        Arithmetic::Exact.flags_text(),
        MARKS.1
    ))
}

/// The programs of the suite beside C by hand and libraries, as bars.
pub fn programs_chart(kept: &Kept) -> String {
    bars_svg::svg(&Bars {
        title: format!("Sluice beside C by hand and beside libraries, one core of {}", kept.processor),
        unit: "times as fast".into(),
        absent: "there is none".into(),
        series: vec!["C by hand".into(), "a library".into()],
        groups: kept.rows.iter().map(|row| (row.program.clone(), row.times_as_fast().into())).collect(),
        ..Bars::default()
    })
}

/// What all kept figures of the suite in a folder say, by date and machine: the mean over the programs that were measured then. Figures of two machines are no progress.
pub fn history(folder: &Path) -> Result<String, String> {
    let all: Vec<(PathBuf, Kept)> = files(folder, PROGRAMS)?
        .into_iter()
        .map(|p| Ok((p.clone(), Kept::read(&p)?)))
        .collect::<Result<_, String>>()?;
    let mut machines: Vec<String> = Vec::new();
    for (_, kept) in &all {
        if !machines.contains(&kept.processor) {
            machines.push(kept.processor.clone());
        }
    }
    let mut groups = Vec::new();
    for (path, kept) in &all {
        let ratios: Vec<f64> = kept.rows.iter().filter_map(|row| row.times_as_fast()[0]).collect();
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().replace(PROGRAMS, ""));
        let bars = machines.iter().map(|m| mean(&ratios).filter(|_| *m == kept.processor));
        groups.push((format!("{name} ({})", ratios.len()), bars.collect()));
    }
    Ok(bars_svg::svg(&Bars {
        title: "Beside C by hand as usual: geometric mean over the programs, by date and machine".into(),
        unit: "times as fast".into(),
        // on most days there was one machine
        absent: String::new(),
        series: machines,
        groups,
        ..Bars::default()
    }))
}

/// The small programs beside their peers, as bars.
pub fn peers_chart(kept: &Kept) -> String {
    let group = |row: &Row| {
        let name = format!("{}{}", row.program, if row.mode == "fast-math" { ", fast" } else { "" });
        (name, PEERS.iter().map(|p| row.ratio_to(p)).collect())
    };
    bars_svg::svg(&Bars {
        title: format!("Sluice beside those who compute the same, one core of {}", kept.processor),
        unit: "times as fast".into(),
        absent: "there is none, or it is not installed".into(),
        series: PEERS.iter().map(|p| (*p).into()).collect(),
        groups: kept.rows.iter().map(group).collect(),
        ..Bars::default()
    })
}
