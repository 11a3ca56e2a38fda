//! How cost and memory grow with the length of the input, the number of filters and the size of buffers. Called by scripts/bench.
//!
//! ```text
//! scaling SLUICE WORK RESULTS [ITEMS [FILTERS [SECONDS]]]     the sluice command, a folder for what is built, and the start of the names of the files to write
//!                                                             (.md, .json, four .svg); the most items (1e9) and filters (10000), and the seconds for a step
//! scaling --draw RESULTS                                      writes page and charts of figures that are kept anew
//! ```
//!
//! Libraries run in processes of their own, which it starts as `scaling --alone LIBRARY NAME ITEMS TURNS BLOCK`: the system counts this process' memory into that of
//! what it starts, so that it has to stay small.

#![allow(clippy::disallowed_methods)] // it starts sluice, reads the command line and writes its results

use serde_json::{Value, json};
use sluice_benchmarks::beside::{Compiled, Program, bytes};
use sluice_benchmarks::child::{Ended, Feed, ended, thread_seconds};
use sluice_benchmarks::command;
use sluice_benchmarks::measure::{keep, page};
use sluice_benchmarks::scaling::{Blocks, Buffers, Filters, Items, Point, Scaling};
use sluice_benchmarks::suite::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Items of input that are given at once.
const BLOCK: usize = 1 << 16;
/// Items that the turns of a length together take, about; at least one turn.
const TURNS: u64 = 20_000_000;
/// Firings of small filters for a cost.
const FIRINGS: u64 = 200_000_000;

/// Programs that are run over longer and longer input, floats: one that looks ahead, one with states, one of blocks.
const PROGRAMS: [(&str, &str); 3] = [
    ("fir", "benchmarks/peers/fir.str"),
    ("iirbank", "benchmarks/iirbank/iirbank.str"),
    ("dct", "benchmarks/dct/dct.str"),
];

/// An echo a second later: what is delayed waits on a channel.
const ECHO: &str = "float->float filter Later(int n) { prework push n { for (int i = 0; i < n; i++) push(0); } work pop 1 push 1 { push(pop()); } }
float->float filter Mix { work pop 2 push 1 { float x = pop(); push(x + 0.5 * pop()); } }
float->float pipeline Echo { add splitjoin { split duplicate; add Identity<float>; add Later(48000); join roundrobin; }; add Mix; }
";

/// Where things are.
struct Places<'a> {
    sluice: &'a str,
    work: &'a Path,
    limit: Duration,
}

impl Places<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.sluice);
        command.args(arguments).env("SLUICE_CACHE", self.work.join("cache"));
        command
    }

    /// Builds a program, with an empty cache.
    fn build(&self, file: &Path, to: &Path, more: &[&str]) -> Result<Ended, String> {
        let _ = std::fs::remove_dir_all(self.work.join("cache"));
        let mut command = self.command(&["build", "--time-passes"]);
        ended(command.args(more).arg(file).arg("-o").arg(to), None, self.limit)?.well()
    }

    /// What the buffers of a program hold, in bytes.
    fn buffers(&self, file: &Path) -> Result<u64, String> {
        let out = self.command(&["rates", "--format", "json"]).arg(file).output().map_err(|e| e.to_string())?;
        let rates: Value = serde_json::from_slice(&out.stdout)
            .map_err(|_| String::from_utf8_lossy(&out.stderr).lines().next().unwrap_or("no rates").to_string())?;
        rates["totals"]["buffer_bytes"].as_u64().ok_or_else(|| format!("{}: no bytes of buffers", file.display()))
    }

    /// The program with its input as raw bytes from a pipe.
    fn feed(&self, command: &mut Command, block: &[u8], items: u64) -> Result<Ended, String> {
        let feed = Feed { block, bytes: 4 * items };
        ended(command.args(["--input-format", "raw", "--output-format", "raw"]), Some(feed), self.limit)?.well()
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.work.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }
}

/// Milliseconds of a pass, in seconds.
fn pass(said: &str, name: &str) -> Option<f64> {
    said.lines()
        .find_map(|l| l.trim().strip_suffix(name)?.trim_end().strip_suffix("ms")?.trim().parse::<f64>().ok())
        .map(|ms| ms / 1e3)
}

/// The least processor time of some turns.
fn least(turns: u64, mut turn: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
    (0..turns.max(1)).try_fold(f64::INFINITY, |least, _| Ok(turn()?.min(least)))
}

/// The best turn of a library that takes so many items, `block` at a time, from its first, in processor seconds.
fn alone(library: &Path, name: &str, (items, turns, block): (u64, u64, u64)) -> Result<f64, String> {
    let words = Signal::Noise.words(BLOCK);
    let clock = least(100, || {
        let start = thread_seconds();
        Ok(thread_seconds() - start)
    })?;
    let mut out = Vec::with_capacity(2 * BLOCK + (1 << 14));
    least(turns, || {
        let mut code = Compiled::open(library, name, (1, 1))?;
        let start = thread_seconds();
        let mut left = items;
        while left > 0 {
            let n = left.min(block);
            out.clear();
            code.run(&words[..n as usize], &mut out)?;
            left -= n;
        }
        Ok(thread_seconds() - start - clock)
    })
}

/// The same in a process of its own.
fn apart(places: &Places<'_>, library: &Path, name: &str, numbers: [u64; 3]) -> Result<f64, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
    command.arg("--alone").arg(library).arg(name).args(numbers.map(|n| n.to_string()));
    let said = ended(&mut command, None, places.limit)?.well()?.said;
    said.trim().parse().map_err(|_| format!("{name}: {said}"))
}

/// What a call costs: libraries that are given so many items at a time.
fn over_blocks(places: &Places<'_>) -> Result<Vec<Blocks>, String> {
    let echo = places.write("echo.str", ECHO)?;
    let mut all = Vec::new();
    for (name, file) in [("fir", Path::new(PROGRAMS[0].1)), ("iirbank", Path::new(PROGRAMS[1].1)), ("echo", &echo)] {
        eprintln!("{name} by blocks");
        let library = places.work.join(format!("lib{name}.so"));
        places.build(file, &library, &["--lib"])?;
        let items = TURNS / 10;
        let cost = |block: u64| Ok((block, apart(places, &library, name, [items, 5, block])? / items as f64));
        let points: Result<_, String> = [16, 64, 256, 1024, 4096, 16_384, 65_536].into_iter().map(cost).collect();
        all.push(Blocks { program: name.into(), points: points? });
    }
    Ok(all)
}

fn over_items(places: &Places<'_>, most: u64) -> Result<Vec<Items>, String> {
    let mut all = Vec::new();
    let block = bytes(&Signal::Noise.words(BLOCK));
    for (name, file) in PROGRAMS {
        eprintln!("{name}");
        let file = Path::new(file);
        let (program, library) = (places.work.join(name), places.work.join(format!("lib{name}.so")));
        let compile = places.build(file, &program, &[])?.cpu;
        places.build(file, &library, &["--lib"])?;
        let process = |items| places.feed(&mut Command::new(&program), &block, items);
        let start = least(9, || Ok(process(0)?.cpu))?;
        let mut points = Vec::new();
        for items in (4..).map(|e| 10u64.pow(e)).take_while(|n| *n <= most) {
            let alone = apart(places, &library, name, [items, (TURNS / items).clamp(1, 50), BLOCK as u64])?;
            let mut peak = 0;
            let process = least((TURNS / items).min(9), || {
                let ended = process(items)?;
                peak = peak.max(ended.peak);
                Ok(ended.cpu)
            })?;
            points.push(Point { items, alone, process, peak });
        }
        all.push(Items { program: name.into(), compile, start, buffers: places.buffers(file)?, points });
    }
    Ok(all)
}

/// Small filters with a state between a source and a sink that says little.
fn small(shape: &str, filters: u64) -> String {
    let lag = "add Lag(0.5 + i % 7 * 0.05);";
    let (between, after) = match shape {
        "chain" => (format!("for (int i = 0; i < {filters}; i++) {lag}"), ""),
        _ => (
            format!(
                "add splitjoin {{ split duplicate; for (int i = 0; i < {filters}; i++) {lag} join roundrobin; }}; add Sum({filters});"
            ),
            "float->float filter Sum(int n) { work pop n push 1 { float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }\n",
        ),
    };
    format!(
        "void->void pipeline Main {{ add Source; {between} add Sink; }}
void->float filter Source {{ int n; work push 1 {{ push(n); n = (n * 5 + 3) & 1023; }} }}
float->float filter Lag(float k) {{ float y = 511.5; work pop 1 push 1 {{ y += k * (pop() - y); push(y); }} }}
float->void filter Sink {{ float s; int n; work pop 1 {{ s += pop(); n++; if (n == 4096) {{ println(s); s = 0; n = 0; }} }} }}
{after}"
    )
}

fn over_filters(places: &Places<'_>, most: u64) -> Result<Vec<Filters>, String> {
    let mut all = Vec::new();
    for shape in ["chain", "split-join"] {
        for way in ["cc", "jit"] {
            for filters in (1..).map(|e| 10u64.pow(e)).take_while(|n| *n <= most) {
                eprintln!("{shape} of {filters} by {way}");
                let file = places.write("small.str", &small(shape, filters))?;
                let name = (shape.to_string(), way.to_string());
                let mut of = Filters {
                    shape: name.0,
                    way: name.1,
                    filters,
                    compile: None,
                    compiler: None,
                    peak: None,
                    cost: None,
                    hand: None,
                    failed: None,
                };
                let done = over(places, &file, &mut of).and_then(|()| match way {
                    "cc" => by_hand(places, &mut of),
                    _ => Ok(()),
                });
                of.failed = done.err();
                all.push(of);
            }
        }
    }
    Ok(all)
}

/// One of them, as far as it comes.
fn over(places: &Places<'_>, file: &Path, of: &mut Filters) -> Result<(), String> {
    let built = places.work.join("small");
    let run = |iterations: u64| {
        let count = iterations.to_string();
        let mut command = match of.way.as_str() {
            "cc" => Command::new(&built),
            way => places.command(&["run", "--back-end", way, &file.to_string_lossy()]),
        };
        ended(command.args(["--iterations", &count]), None, places.limit)?.well()
    };
    let compiled = match of.way.as_str() {
        "cc" => places.build(file, &built, &[]).map_err(|why| format!("compilation: {why}"))?,
        _ => run(0)?,
    };
    (of.compile, of.peak, of.compiler) = (Some(compiled.cpu), Some(compiled.peak), pass(&compiled.said, "compile-c"));
    let iterations = FIRINGS / of.filters;
    let start = least(3, || Ok(run(0)?.cpu))?;
    let time = least(3, || Ok(run(iterations)?.cpu))?;
    of.cost = Some((time - start) / (iterations * of.filters) as f64);
    Ok(())
}

/// The same by hand.
fn by_hand(places: &Places<'_>, of: &mut Filters) -> Result<(), String> {
    let source = places.write("small.c", include_str!("../small/small.c"))?;
    let built = places.work.join("by_hand");
    let count = format!("-DCOUNT={}", of.filters);
    for cc in ["gcc", "clang"] {
        let mut command = Command::new(cc);
        command.args(["-O3", "-march=native", "-ffp-contract=off", &count, "-o"]).arg(&built).arg(&source);
        if of.shape != "chain" {
            command.arg("-DSIDE");
        }
        // one that is not there, or gives up, has no figure
        if ended(&mut command, None, places.limit).and_then(Ended::well).is_err() {
            continue;
        }
        let run = |iterations: u64| {
            let mut command = Command::new(&built);
            Ok(ended(command.args(["--iterations", &iterations.to_string()]), None, places.limit)?.well()?.cpu)
        };
        let iterations = FIRINGS / of.filters;
        let time = least(3, || run(iterations))? - least(3, || run(0))?;
        let each = time / (iterations * of.filters) as f64;
        of.hand = Some(of.hand.map_or(each, |best| best.min(each)));
    }
    Ok(())
}

/// Programs with a buffer of so many items.
fn large(shape: &str, items: u64) -> String {
    match shape {
        "looks ahead" => format!(
            "float->float filter Far(int n) {{ work pop 1 push 1 peek n {{ push(peek(0) + peek(n - 1)); pop(); }} }}\nfloat->float pipeline Main {{ add Far({items}); }}\n"
        ),
        _ => format!(
            "float->float splitjoin Main {{ split roundrobin({items}); add Identity<float>; add Identity<float>; join roundrobin; }}\n"
        ),
    }
}

fn over_buffers(places: &Places<'_>, most: u64) -> Result<Vec<Buffers>, String> {
    let mut all = Vec::new();
    let block = bytes(&Signal::Noise.words(BLOCK));
    for shape in ["looks ahead", "changes the order"] {
        for items in (3..).map(|e| 10u64.pow(e)).take_while(|n| *n <= most) {
            eprintln!("{shape} by {items}");
            let file = places.write("large.str", &large(shape, items))?;
            let mut of =
                Buffers { shape: shape.into(), items, buffers: 0, built: None, run: None, cost: None, failed: None };
            let mut step = || {
                of.buffers = places.buffers(&file)?;
                let program = places.work.join("large");
                places.build(&file, &program, &[])?;
                let feed = |n| places.feed(&mut Command::new(&program), &block, n);
                // of what looks ahead, as many firings as are told from nothing: each may take long; of the other, whole steady states
                let (few, mut more) =
                    if shape == "looks ahead" { (items, items + 3000) } else { (2 * items, 8 * items) };
                let start = least(5, || Ok(feed(few)?.cpu))?;
                while feed(more)?.cpu < start + 0.05 && more < 100_000_000 {
                    more = few + 10 * (more - few);
                }
                let filled = feed(more)?;
                of.built = Some(filled.peak);
                let code = places.feed(
                    &mut places.command(&["run", "--back-end", "jit", &file.to_string_lossy()]),
                    &block,
                    more,
                )?;
                of.run = Some(code.peak);
                let time = least(5, || Ok(feed(more)?.cpu))?;
                of.cost = Some((time - start).max(0.0) / (more - few) as f64);
                Ok(())
            };
            let done: Result<(), String> = step();
            of.failed = done.err();
            all.push(of);
        }
    }
    Ok(all)
}

/// Processes that run or wait, the mean of the last minute.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0)
}

fn run(places: &Places<'_>, results: &str, (items, filters): (u64, u64)) -> Result<(), String> {
    std::fs::create_dir_all(places.work).map_err(|e| format!("{}: {e}", places.work.display()))?;
    let before = load();
    let nothing = || ended(&mut Command::new("true"), None, places.limit);
    let floor = nothing()?.peak;
    let mut measured = Scaling {
        limit: places.limit.as_secs(),
        filters: over_filters(places, filters)?,
        buffers: over_buffers(places, 10_000_000)?,
        items: over_items(places, items)?,
        blocks: over_blocks(places)?,
        ..Scaling::default()
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // this process may have grown in between
    measured.floor = floor.max(nothing()?.peak);
    measured.load = ((before + load()) / 2.0, processors);
    let figures = serde_json::to_value(&measured).map_err(|e| e.to_string())?;
    keep(results, places.sluice, &measured.page(), json!({ "figures": figures }))?;
    draw(results)
}

/// Page and charts of figures that are kept.
fn draw(results: &str) -> Result<(), String> {
    let (kept, document) = Scaling::read(Path::new(&format!("{results}.json")))?;
    let charts = kept.charts().into_iter().map(|(name, chart)| (format!("{results}-{name}.svg"), chart));
    for (path, text) in charts.chain([(format!("{results}.md"), page(&kept.page(), &document))]) {
        std::fs::write(&path, text).map_err(|e| format!("{path}: {e}"))?;
    }
    kept.broken().iter().for_each(|line| println!("does not hold: {line}"));
    Ok(())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, or: u64| args.get(at).map_or(Some(or), |n| n.parse::<f64>().ok().map(|n| n as u64));
    let done = match (&args[..], number(3, 1_000_000_000), number(4, 10_000), number(5, 120)) {
        ([draws, results], ..) if draws == "--draw" => draw(results),
        // what it says is on standard error
        ([call, library, name, items, turns, block], ..) if call == "--alone" => {
            match (items.parse(), turns.parse(), block.parse()) {
                (Ok(items), Ok(turns), Ok(block)) => {
                    alone(Path::new(library), name, (items, turns, block)).map(|time| eprintln!("{time:e}"))
                }
                _ => Err(format!("{items}, {turns} and {block} are not all numbers")),
            }
        }
        ([sluice, work, results, ..], Some(items), Some(filters), Some(limit)) if args.len() <= 6 => {
            let work = Path::new(work).join("scaling");
            run(&Places { sluice, work: &work, limit: Duration::from_secs(limit) }, results, (items, filters))
        }
        _ => command::usage("scaling SLUICE WORK RESULTS [ITEMS [FILTERS [SECONDS]]] | scaling --draw RESULTS"),
    };
    command::ended(done);
}
