//! How cost and memory grow: what is measured by `src/scaling_main.rs`, as a page and as charts whose axes are logarithmic, on which a cost that stays the
//! same is a level line.

#![allow(clippy::disallowed_methods)] // it reads results

use serde::{Deserialize, Serialize};
use sluice_picture::lines_svg::{self, Lines, Series};
use std::collections::BTreeMap;
use std::path::Path;

/// How the names of the files with these figures end.
pub const END: &str = "-scaling.json";
/// How far apart the least and the greatest of costs that are said to stay the same may be.
pub const FLAT: f64 = 2.0;
/// The memory that a process may take beside twice its buffers, in bytes.
pub const FIXED: u64 = 16 << 20;
/// How much more memory the longest input may take than the shortest, in bytes: what is not touched at once.
pub const GROWTH: u64 = 1 << 20;

/// All of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Scaling {
    /// What the system counts of a process that does nothing, in bytes.
    pub floor: u64,
    /// Processes that ran or waited to run beside the measurement, the mean before and after; and the processors.
    pub load: (f64, usize),
    /// The seconds that each step was given.
    pub limit: u64,
    /// Over items.
    pub items: Vec<Items>,
    /// Over filters.
    pub filters: Vec<Filters>,
    /// Over buffers.
    pub buffers: Vec<Buffers>,
    /// Over the items of a call.
    #[serde(default)]
    pub blocks: Vec<Blocks>,
}

/// A library over the number of items that it is given at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// The program's name.
    pub program: String,
    /// Items of a call, and processor seconds for an item.
    pub points: Vec<(u64, f64)>,
}

/// A program over the number of items of its input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Items {
    /// Its name.
    pub program: String,
    /// Processor seconds of `sluice build`, the C compiler's among them.
    pub compile: f64,
    /// Processor seconds of the program with no input.
    pub start: f64,
    /// What its buffers hold, in bytes.
    pub buffers: u64,
    /// By the number of items.
    pub points: Vec<Point>,
}

/// One of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Items of input.
    pub items: u64,
    /// Processor seconds as a library, from memory to memory, in blocks: the best turn.
    pub alone: f64,
    /// Processor seconds of the process, from a pipe.
    pub process: f64,
    /// The most memory of the process, in bytes.
    pub peak: u64,
}

/// A program of so many filters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Filters {
    /// How they are connected.
    pub shape: String,
    /// How many.
    pub filters: u64,
    /// `cc` or `jit`: whose code it is.
    pub way: String,
    /// Processor seconds from the text to code.
    pub compile: Option<f64>,
    /// Those of the C compiler, by the clock, as `--time-passes` says.
    pub compiler: Option<f64>,
    /// The most memory of the compilation, in bytes.
    pub peak: Option<u64>,
    /// Processor seconds for an item in a filter.
    pub cost: Option<f64>,
    /// The same by hand in C, of gcc and of clang the faster.
    #[serde(default)]
    pub hand: Option<f64>,
    /// Why something is missing.
    pub failed: Option<String>,
}

/// A program with a buffer of a given size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffers {
    /// What it does.
    pub shape: String,
    /// Items of the buffer.
    pub items: u64,
    /// What all its buffers hold, in bytes, as `sluice rates` says.
    pub buffers: u64,
    /// The most memory of the program that `sluice build` makes, in bytes.
    pub built: Option<u64>,
    /// The same of `sluice run` with code made in memory, the compiler included.
    pub run: Option<u64>,
    /// Processor seconds for an item when the buffer is full.
    pub cost: Option<f64>,
    /// Why something is missing.
    pub failed: Option<String>,
}

impl Buffers {
    /// The most that it may take.
    pub fn bound(&self) -> u64 {
        2 * self.buffers + FIXED
    }
}

/// The greatest of costs by the least; of nothing there is none.
pub fn range(costs: impl Iterator<Item = f64>) -> Option<f64> {
    let (low, high) = costs.fold((f64::INFINITY, 0f64), |(low, high), c| (low.min(c), high.max(c)));
    (high > 0.0).then_some(high / low)
}

/// Whether something holds, as tables say it.
fn says(holds: bool) -> &'static str {
    if holds { "yes" } else { "**NO**" }
}

fn mega(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}

fn nano(seconds: f64) -> String {
    format!("{:.2}", seconds * 1e9)
}

/// Something that may be missing.
fn or_not<T>(value: Option<T>, shown: impl Fn(T) -> String) -> String {
    value.map_or("not done".into(), shown)
}

impl Scaling {
    /// Reads figures that are kept, and the document that they are part of.
    pub fn read(path: &Path) -> Result<(Scaling, serde_json::Value), String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let document: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let figures = serde_json::from_value(document["figures"].clone());
        Ok((figures.map_err(|e| format!("{}: {e}", path.display()))?, document))
    }

    /// The page.
    pub fn page(&self) -> String {
        let (load, processors) = self.load;
        format!(
            "# How cost and memory grow\n\nTimes are processor seconds of processes and of all that they start, and least times of many turns: what else the machine does adds little to them. \
             While they were taken, {load:.1} processes ran or waited on {processors} processors{}. The system counts {} MiB of memory for a process that does nothing; MiB are 2^20 bytes.\n\n{}{}{}{}",
            if load > 1.5 { ": **a busy machine**" } else { "" },
            mega(self.floor),
            self.of_items(),
            self.of_blocks(),
            self.of_filters(),
            self.of_buffers()
        )
    }

    fn of_items(&self) -> String {
        let mut text = format!(
            "## Items\n\nNanoseconds of native code for an item of input, by the number of items. *Alone*: as a library, from memory to memory, in blocks of 65,536 items at most, from its \
             first item, the best turn; creating it is not counted{}. *Process*: the program that `sluice build` makes, its start included, which reads a pipe and writes to nowhere. \
             Costs are flat where the greatest is at most {FLAT} times the least; memory does not grow where no input takes more than {} MiB more than the shortest.\n\n\
             | program | items | alone, ns | process, ns | process without its start, ns | peak memory, MiB |\n|---|--:|--:|--:|--:|--:|\n",
            // figures from before there were blocks have it in them
            if self.blocks.is_empty() { "" } else { ", nor what reading the clock takes" },
            mega(GROWTH)
        );
        for program in &self.items {
            for p in &program.points {
                let each = |seconds: f64| nano(seconds / p.items as f64);
                // what a start takes differs from run to run
                let rest = p.process - program.start;
                let rest = if rest > program.start { each(rest) } else { "too short to tell".into() };
                text += &format!(
                    "| {} | {:.0e} | {} | {} | {rest} | {} |\n",
                    program.program,
                    p.items as f64,
                    each(p.alone),
                    each(p.process),
                    mega(p.peak)
                );
            }
        }
        text += "\n| program | compilation, s | start, ms | alone: greatest by least cost | flat | growth of memory, MiB | does not grow | twice the buffers and 16 MiB, MiB | within |\n\
                 |---|--:|--:|--:|---|--:|---|--:|---|\n";
        for program in &self.items {
            let range = range(program.points.iter().map(|p| p.alone / p.items as f64)).unwrap_or(1.0);
            let peaks = || program.points.iter().map(|p| p.peak);
            let (least, most) = (peaks().min().unwrap_or(0), peaks().max().unwrap_or(0));
            let bound = 2 * program.buffers + FIXED;
            text += &format!(
                "| {} | {:.2} | {:.1} | {range:.2} | {} | {} | {} | {} | {} |\n",
                program.program,
                program.compile,
                program.start * 1e3,
                says(range <= FLAT),
                mega(most - least),
                says(most - least <= GROWTH),
                mega(bound),
                says(most <= bound)
            );
        }
        text + "\n"
    }

    fn of_blocks(&self) -> String {
        let Some(first) = self.blocks.first() else { return String::new() };
        let cells = |of: &dyn Fn(&(u64, f64)) -> String, all: &[(u64, f64)]| all.iter().map(of).collect::<String>();
        let mut text = format!(
            "## Items at once\n\nNanoseconds of native code for an item, as a library, by the number of items that each call gives it, such as a block of samples.\n\n| program |{}\n|---|{}\n",
            cells(&|(n, _)| format!(" {n} |"), &first.points),
            cells(&|_| "--:|".into(), &first.points)
        );
        for b in &self.blocks {
            text += &format!("| {} |{}\n", b.program, cells(&|(_, each)| format!(" {} |", nano(*each)), &b.points));
        }
        text + "\n"
    }

    /// Shapes and ways, each with its sizes.
    fn kinds(&self) -> Vec<(String, String, Vec<&Filters>)> {
        let mut kinds: Vec<(String, String, Vec<&Filters>)> = Vec::new();
        for f in &self.filters {
            match kinds.iter_mut().find(|(shape, way, _)| *shape == f.shape && *way == f.way) {
                Some((_, _, all)) => all.push(f),
                None => kinds.push((f.shape.clone(), f.way.clone(), vec![f])),
            }
        }
        kinds
    }

    fn of_filters(&self) -> String {
        // older figures have none
        let hand = self.filters.iter().any(|f| f.hand.is_some());
        let told = if hand {
            " *By hand*: a loop over all filters for each item, in C, by gcc or clang, the faster, with -O3 -march=native."
        } else {
            ""
        };
        let (head, column) = if hand { (" by hand, ns |", "--:|") } else { ("", "") };
        let mut text = format!(
            "## Filters\n\nSmall filters with a state (a low-pass of first order, seven different constants), one after another or side by side, between a source and a sink; native code by the \
             C compiler (`cc`) and made in memory (`jit`).{told} *Compilation*: from the text to code, with an empty cache; each step was given {} s of the clock.\n\n\
             | shape | by | filters | compilation, s | of which the C compiler, s by the clock | for a filter, ms | its peak memory, MiB | an item in a filter, ns |{head} |\n\
             |---|---|--:|--:|--:|--:|--:|--:|{column}---|\n",
            self.limit
        );
        for f in &self.filters {
            text += &format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} |{} {} |\n",
                f.shape,
                f.way,
                f.filters,
                or_not(f.compile, |s| format!("{s:.2}")),
                f.compiler.map_or(String::new(), |s| format!("{s:.2}")),
                or_not(f.compile, |s| format!("{:.2}", s * 1e3 / f.filters as f64)),
                or_not(f.peak, mega),
                or_not(f.cost, nano),
                if hand { format!(" {} |", f.hand.map_or(String::new(), nano)) } else { String::new() },
                f.failed.as_deref().map_or(String::new(), |why| format!("**{}**", why.replace('|', "/")))
            );
        }
        text += "\n| shape | by | cost: greatest by least | flat for all sizes | compilation for a filter: greatest by that of 100 filters |\n|---|---|--:|---|--:|\n";
        for (shape, way, all) in self.kinds() {
            let costs = range(all.iter().filter_map(|f| f.cost));
            let whole = all.iter().all(|f| f.cost.is_some());
            let each = |f: &&&Filters| f.compile.map(|s| s / f.filters as f64);
            // of few filters the start is most of it
            let many = all.iter().filter(|f| f.filters >= 100);
            let of: Option<Vec<f64>> = many.map(|f| each(&f)).collect();
            let grows = of.and_then(|of| Some(of.iter().fold(0.0, |most: f64, c| most.max(*c)) / of.first()?));
            text += &format!(
                "| {shape} | {way} | {} | {} | {} |\n",
                or_not(costs, |r| format!("{r:.2}")),
                says(whole && costs.is_some_and(|r| r <= FLAT)),
                or_not(grows, |g| format!("{g:.1}"))
            );
        }
        text + "\n"
    }

    fn of_buffers(&self) -> String {
        let mut text = String::from(
            "## Memory and buffers\n\nPrograms that need a large buffer: a filter that looks far ahead, and a split-join that changes the order of a block. The input fills the buffer, and goes on until a difference is seen. *Built*: the program that `sluice build` makes. *Run*: `sluice run` with code made in memory; the compiler is in the process.\n\n\
             | program | items of its buffer | buffers hold, MiB | twice that and 16 MiB | built, peak MiB | within | run, peak MiB | within | an item, ns | |\n\
             |---|--:|--:|--:|--:|---|--:|---|--:|---|\n",
        );
        for b in &self.buffers {
            let within = |peak: Option<u64>| peak.map_or("", |p| says(p <= b.bound()));
            text += &format!(
                "| {} | {:.0e} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                b.shape,
                b.items as f64,
                mega(b.buffers),
                mega(b.bound()),
                or_not(b.built, mega),
                within(b.built),
                or_not(b.run, mega),
                within(b.run),
                or_not(b.cost, nano),
                b.failed.as_deref().map_or(String::new(), |why| format!("**{}**", why.replace('|', "/")))
            );
        }
        text += "\n| program | an item: greatest by least cost, where it is told | flat |\n|---|--:|---|\n";
        for (shape, all) in self.shapes() {
            // what is nothing is too short to tell
            let costs = range(all.iter().filter_map(|b| b.cost).filter(|c| *c > 0.0));
            let whole = all.iter().all(|b| b.cost.is_some());
            let holds = says(whole && costs.is_some_and(|r| r <= FLAT));
            text += &format!("| {shape} | {} | {holds} |\n", or_not(costs, |r| format!("{r:.1}")));
        }
        text + "\n"
    }

    /// The buffers of each program.
    fn shapes(&self) -> BTreeMap<&str, Vec<&Buffers>> {
        let mut shapes: BTreeMap<&str, Vec<&Buffers>> = BTreeMap::new();
        self.buffers.iter().for_each(|b| shapes.entry(&b.shape).or_default().push(b));
        shapes
    }

    /// What of it does not hold, a line each.
    pub fn broken(&self) -> Vec<String> {
        self.page().lines().filter(|l| l.contains("**NO**") || l.contains("not done")).map(String::from).collect()
    }

    /// By the end of their names, the charts.
    pub fn charts(&self) -> Vec<(&'static str, String)> {
        let line = |name: String, points: Vec<(f64, f64)>| Series { name, points, marks: false };
        let chart = |title: &str, x: &str, y: &str, series: Vec<Series>| {
            let (title, x, y) = (title.to_string(), x.to_string(), y.to_string());
            lines_svg::svg(&Lines { title, x, y, log: true, log_x: true, level: None, series })
        };
        let mut items = Vec::new();
        for of in &self.items {
            let each = |seconds: fn(&Point) -> f64| {
                of.points.iter().map(|p| (p.items as f64, seconds(p) * 1e9 / p.items as f64)).collect()
            };
            items.push(line(format!("{}, alone", of.program), each(|p| p.alone)));
            items.push(line(format!("{}, the process with its start", of.program), each(|p| p.process)));
        }
        let of_filters = |y: &dyn Fn(&Filters) -> Option<f64>| {
            let points = |all: &[&Filters]| all.iter().filter_map(|f| Some((f.filters as f64, y(f)?))).collect();
            let one =
                |(shape, way, all): (String, String, Vec<&Filters>)| line(format!("{shape}, {way}"), points(&all));
            self.kinds().into_iter().map(one).collect::<Vec<Series>>()
        };
        let by_hand = self.kinds().into_iter().filter_map(|(shape, _, all)| {
            let of = |f: &&Filters| Some((f.filters as f64, f.hand? * 1e9));
            let points: Vec<(f64, f64)> = all.iter().filter_map(of).collect();
            (!points.is_empty()).then(|| line(format!("{shape}, by hand"), points))
        });
        let mut memory = Vec::new();
        for (shape, all) in self.shapes() {
            let of = |peak: fn(&Buffers) -> Option<u64>| {
                all.iter().filter_map(|b| Some((b.buffers as f64, peak(b)? as f64 / f64::from(1 << 20)))).collect()
            };
            memory.push(line(format!("{shape}: built"), of(|b| b.built)));
            memory.push(line(format!("{shape}: sluice run, in memory"), of(|b| b.run)));
        }
        let mut bounds: Vec<(f64, f64)> =
            self.buffers.iter().map(|b| (b.buffers as f64, b.bound() as f64 / f64::from(1 << 20))).collect();
        bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        memory.push(line("twice the buffers and 16 MiB".into(), bounds));
        vec![
            (
                "items",
                chart("Cost of an item by the number of items", "items of input", "nanoseconds for an item", items),
            ),
            (
                "filters",
                chart(
                    "Cost of an item in a filter by the number of filters",
                    "filters",
                    "nanoseconds for an item in a filter",
                    of_filters(&|f| Some(f.cost? * 1e9)).into_iter().chain(by_hand).collect(),
                ),
            ),
            (
                "compile",
                chart(
                    "Compilation by the number of filters",
                    "filters",
                    "milliseconds of a processor for a filter",
                    of_filters(&|f| Some(f.compile? * 1e3 / f.filters as f64)),
                ),
            ),
            ("memory", chart("Peak memory by the size of buffers", "bytes of buffers", "peak memory, MiB", memory)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(items: u64, nanoseconds: f64, peak: u64) -> Point {
        Point { items, alone: nanoseconds * 1e-9 * items as f64, process: 1.0, peak }
    }

    fn filters(filters: u64, cost: Option<f64>) -> Filters {
        let (shape, way) = ("chain".into(), "cc".into());
        let failed = cost.is_none().then(|| "compilation: it | failed".into());
        let compile = cost.map(|_| 1e-3 * (filters * filters) as f64);
        Filters { shape, way, filters, compile, compiler: None, peak: Some(1 << 20), cost, hand: cost, failed }
    }

    fn buffers(buffers: u64, built: u64, cost: f64) -> Buffers {
        let (built, run) = (Some(built), Some(1 << 20));
        Buffers { shape: "far".into(), items: buffers / 4, buffers, built, run, cost: Some(cost), failed: None }
    }

    /// Where everything holds.
    fn good() -> Scaling {
        let points = vec![point(10_000, 1.0, 5 << 20), point(1_000_000_000, 1.9, (5 << 20) + 1000)];
        Scaling {
            load: (0.5, 2),
            limit: 60,
            items: vec![Items { program: "fir".into(), compile: 1.0, start: 0.001, buffers: 4, points }],
            filters: vec![filters(10, Some(1e-9)), filters(100, Some(1.5e-9)), filters(1000, Some(1e-9))],
            buffers: vec![buffers(4000, 3 << 20, 1e-9), buffers(40 << 20, 95 << 20, 1e-9)],
            blocks: vec![Blocks { program: "echo".into(), points: vec![(16, 9e-9), (65_536, 0.25e-9)] }],
            ..Scaling::default()
        }
    }

    #[test]
    fn what_does_not_hold_is_said() {
        let holds = good();
        assert_eq!(holds.broken(), Vec::<String>::new());
        assert!(!holds.page().contains("busy"), "{}", holds.page());
        assert!(
            holds.page().contains("| program | 16 | 65536 |\n|---|--:|--:|\n| echo | 9.00 | 0.25 |\n"),
            "{}",
            holds.page()
        );
        let broken = |change: &dyn Fn(&mut Scaling)| {
            let mut other = good();
            change(&mut other);
            let broken = other.broken();
            assert_eq!(broken.len(), 1, "{broken:#?}");
            broken[0].clone()
        };
        let dear = broken(&|s| s.items[0].points[1].alone *= 1.1);
        assert!(dear.contains("| 2.09 | **NO** |"), "{dear}");
        assert!(broken(&|s| s.items[0].points[1].peak += 1 << 20).contains("| 1.0 | **NO** |"));
        let large = broken(&|s| s.items[0].points.iter_mut().for_each(|p| p.peak += 12 << 20));
        assert!(large.ends_with("| 16.0 | **NO** |"), "{large}");
        assert!(broken(&|s| s.filters[1].cost = Some(2.1e-9)).starts_with("| chain | cc | 2.10 | **NO** |"));
        assert!(
            broken(&|s| s.buffers[1].built = Some((96 << 20) + 1)).contains("| 96.0 | 96.0 | **NO** | 1.0 | yes |")
        );
        assert!(broken(&|s| s.buffers[1].cost = Some(3e-9)).contains("| far | 3.0 | **NO** |"));
        let mut busy = good();
        busy.load = (3.0, 2);
        assert!(busy.page().contains("3.0 processes ran or waited on 2 processors: **a busy machine**."));
    }

    #[test]
    fn a_size_that_fails_is_shown() {
        let mut failed = good();
        failed.filters.push(filters(10_000, None));
        let broken = failed.broken();
        assert_eq!(broken.len(), 2, "the size, and that not all are flat: {broken:#?}");
        assert!(
            broken[0].ends_with("| **compilation: it / failed** |")
                && broken[1].contains("| 1.50 | **NO** | not done |")
        );
        // a hundred times the filters, and quadratic: ten times as much for each as for a tenth of them
        assert!(good().page().contains("| chain | cc | 1.50 | yes | 10.0 |"), "{}", good().page());
    }

    #[test]
    fn figures_are_kept_and_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("1-scaling.json");
        let kept = serde_json::json!({ "about": {}, "figures": serde_json::to_value(good()).unwrap() });
        std::fs::write(&file, kept.to_string()).unwrap();
        let (read, document) = Scaling::read(&file).unwrap();
        assert_eq!((read.page(), &document["about"]), (good().page(), &kept["about"]));
        std::fs::write(&file, "{}").unwrap();
        assert!(Scaling::read(&file).is_err());
        for (name, chart) in good().charts() {
            let lines = chart.matches("<polyline").count();
            assert_eq!(
                lines,
                match name {
                    "items" => 2,
                    "memory" => 3,
                    "filters" => 2,
                    _ => 1,
                },
                "{name}"
            );
            assert!(chart.contains("</svg>") && !chart.contains("NaN"), "{name}: {chart}");
        }
    }
}
