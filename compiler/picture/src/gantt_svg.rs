//! # gantt-svg
//!
//! Purpose: a kernel as a chart: a row for each processor that has work, a bar for each instance, coloured by its task, its stage written in it; lines
//! for MII, the best lower bound and the II; what binds is outlined in red, the processor with the most work
//! has a red name. Input: problem, a schedule that the judge has passed, bounds.
//! Output: SVG text. Readable at 132 rows: rows shrink down to [`LEAST_ROW`] pixels, labels are thinned out, bars that are next to each
//! other, of one task and stage, are drawn as one where there are very many.

use crate::text::{escape, shorten, width};
use sluice_schedule::analysis::bounds::{Bounds, Reason};
use sluice_schedule::machine::Kind;
use sluice_schedule::problem::judge::Verified;
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::wording::count;
use std::fmt::Write;

/// The height of a row, at least, with the gap below it.
const LEAST_ROW: f64 = 9.0;
/// And at most.
const MOST_ROW: f64 = 26.0;
/// What the rows together should not exceed.
const ROWS: f64 = 900.0;
const LEFT: f64 = 70.0;
const PLOT: f64 = 1080.0;
const TOP: f64 = 64.0;
/// Bars that are drawn one by one.
const BARS: usize = 6000;
/// Tasks in the legend.
const LEGEND: usize = 24;

const STYLE: &str = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;fill:#1c2733}.h{font-size:15px;font-weight:bold}\
.s{font-size:11px;fill:#3d4855}.r{font-size:10px;fill:#55616f;text-anchor:end}.g{font-size:9px;fill:#10202e;text-anchor:middle;\
pointer-events:none}.x{stroke:#d5dbe1}.row{fill:#f3f5f7}.b{stroke:#fff;stroke-width:.5}.hot{stroke:#d1242f;stroke-width:2}\
.ii{stroke:#1c2733;stroke-width:2}.lb{stroke:#1a7f37;stroke-width:1.5;stroke-dasharray:2 3}.full{fill:#d1242f;font-weight:bold}.mii{stroke:#8250df;stroke-width:1.5;stroke-dasharray:7 4}";

/// A bar: instances of one task and stage on one processor, one after the other.
struct Bar {
    first: usize,
    count: usize,
    processor: u32,
    start: u64,
    end: u64,
    stage: u32,
    hot: bool,
}

/// The chart for processors of a kind; `title` is a line for people above it.
pub fn svg(problem: &ModuloProblem, verified: &Verified, bounds: &Bounds, kind: Kind, title: &str) -> String {
    let s = verified.schedule();
    let used = used(verified);
    let rows = used.len();
    let row = (ROWS / rows.max(1) as f64).clamp(LEAST_ROW, MOST_ROW);
    let x = |cycles: u64| LEFT + PLOT * cycles as f64 / s.ii.max(1) as f64;
    let y = |processor: u32| TOP + row * used.binary_search(&processor).unwrap_or_else(|at| at) as f64;
    let unit = match kind {
        Kind::Gpu => "SM",
        Kind::Cpu => "core",
    };
    let bottom = TOP + row * rows as f64;
    let shown = legend(problem);
    let columns = 3;
    let height = bottom + 62.0 + 16.0 * shown.len().div_ceil(columns) as f64;
    let w = LEFT + PLOT + 50.0;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {w:.0} {height:.0}\">\n\
         <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text class=\"h\" x=\"{LEFT}\" y=\"22\">{}</text>\n",
        escape(&shorten(title, 120))
    );
    let every = (14.0 / row).ceil().max(1.0) as usize;
    let fullest = fullest(problem, verified);
    for (i, p) in used.iter().enumerate() {
        let top = y(*p);
        let _ = writeln!(
            out,
            "<rect class=\"row\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{PLOT}\" height=\"{:.1}\"/>",
            row - 1.0
        );
        if i % every == 0 || *p == fullest {
            let class = if *p == fullest { "r full" } else { "r" };
            let _ = writeln!(
                out,
                "<text class=\"{class}\" x=\"{}\" y=\"{:.1}\">{unit} {p}</text>",
                LEFT - 6.0,
                top + row / 2.0 + 3.0
            );
        }
    }
    axis(&mut out, s.ii, bottom, x);
    let idle = problem.processors() as usize - rows;
    let idle = if idle > 0 {
        format!("; {} without work", count(idle as u64, unit, &format!("{unit}s")))
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "<text class=\"s\" x=\"{LEFT}\" y=\"{:.1}\">cycles; the number in a bar is its stage{idle}</text>",
        bottom + 29.0
    );
    for b in bars(problem, verified, bounds) {
        bar(&mut out, problem, &b, s.ii, row, (x(b.start), y(b.processor), x(b.end) - x(b.start)));
    }
    let mut line = |class: &str, at: u64, label: &str, low: f64| {
        let at = x(at.min(s.ii));
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{at:.1}\" y1=\"{:.1}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\"/>\
             <text class=\"s\" x=\"{at:.1}\" y=\"{low:.1}\" text-anchor=\"end\">{label}</text>",
            low + 3.0
        );
    };
    line("mii", bounds.mii, &format!("MII {}", bounds.mii), 36.0);
    line("lb", bounds.lower, &format!("bound {}", bounds.lower), 47.0);
    line("ii", s.ii, &format!("II {}, {}", s.ii, count(s.stages().into(), "stage", "stages")), 58.0);
    for (i, task) in shown.iter().enumerate() {
        let (left, top) =
            (LEFT + PLOT / columns as f64 * (i % columns) as f64, bottom + 44.0 + 16.0 * (i / columns) as f64);
        let t = &problem.graph().tasks[*task];
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\" fill=\"{}\"/><text class=\"s\" x=\"{:.1}\" y=\"{top:.1}\">{} × {}</text>",
            top - 10.0,
            colour(*task),
            left + 16.0,
            t.instances,
            escape(&ending(&t.name, 44))
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The processors that have work.
fn used(verified: &Verified) -> Vec<u32> {
    let mut used = verified.schedule().processor.clone();
    used.sort_unstable();
    used.dedup();
    used
}

/// The processor with the most work.
fn fullest(problem: &ModuloProblem, verified: &Verified) -> u32 {
    let mut work = vec![0; problem.processors() as usize];
    for (i, p) in verified.schedule().processor.iter().enumerate() {
        work[*p as usize] += problem.cost(i);
    }
    (0..problem.processors()).max_by_key(|p| (work[*p as usize], std::cmp::Reverse(*p))).unwrap_or(0)
}

/// The last characters of a path, which tell more than the first.
fn ending(path: &str, most: usize) -> String {
    let n = path.chars().count();
    if n <= most { path.to_string() } else { format!("…{}", path.chars().skip(n - most + 1).collect::<String>()) }
}

/// The tasks with the most work.
fn legend(problem: &ModuloProblem) -> Vec<usize> {
    let tasks = &problem.graph().tasks;
    let mut all: Vec<usize> = (0..tasks.len()).collect();
    all.sort_by_key(|t| (std::cmp::Reverse(tasks[*t].cost.saturating_mul(tasks[*t].instances)), *t));
    all.truncate(LEGEND);
    all
}

/// Colours far apart for neighbours: turns of the golden angle.
fn colour(task: usize) -> String {
    let hue = (task as f64 * 137.508) % 360.0;
    let light = [72, 62, 80][task % 3];
    format!("hsl({hue:.0},58%,{light}%)")
}

fn axis(out: &mut String, ii: u64, bottom: f64, x: impl Fn(u64) -> f64) {
    // 1, 2 or 5 times a power of ten, at most nine of them.
    let tens = (0..19).map(|e| 10u64.pow(e));
    let step =
        tens.flat_map(|t| [t, t.saturating_mul(2), t.saturating_mul(5)]).find(|step| ii / step <= 9).unwrap_or(ii);
    let mut at = 0;
    while at <= ii {
        let px = x(at);
        let _ = writeln!(
            out,
            "<line class=\"x\" x1=\"{px:.1}\" y1=\"{TOP}\" x2=\"{px:.1}\" y2=\"{:.1}\"/><text class=\"s\" x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{at}</text>",
            bottom + 4.0,
            bottom + 16.0
        );
        match at.checked_add(step) {
            Some(next) => at = next,
            None => break,
        }
    }
}

fn bars(problem: &ModuloProblem, verified: &Verified, bounds: &Bounds) -> Vec<Bar> {
    let s = verified.schedule();
    let hot = |i: usize| match &bounds.reason {
        Reason::Instance(task) => problem.task_of(i) == *task,
        Reason::Cycle(cycle) => cycle.contains(&i),
        Reason::Group(group) => bounds.groups.of[i] as usize == *group,
        Reason::Work | Reason::Packing => false,
    };
    let mut order: Vec<usize> = (0..problem.instances()).collect();
    order.sort_by_key(|i| (s.processor[*i], s.start[*i], *i));
    let many = order.len() > BARS;
    let mut bars: Vec<Bar> = Vec::new();
    for i in order {
        let (start, end) = (s.start[i], s.start[i] + problem.cost(i));
        let hot = hot(i);
        if let Some(last) = bars.last_mut().filter(|_| many) {
            let same = problem.task_of(last.first) == problem.task_of(i) && (last.stage, last.hot) == (s.stage[i], hot);
            if same && last.processor == s.processor[i] && last.end == start {
                (last.end, last.count) = (end, last.count + 1);
                continue;
            }
        }
        bars.push(Bar { first: i, count: 1, processor: s.processor[i], start, end, stage: s.stage[i], hot });
    }
    bars
}

fn bar(out: &mut String, problem: &ModuloProblem, b: &Bar, ii: u64, row: f64, (x, y, w): (f64, f64, f64)) {
    let task = problem.task_of(b.first);
    let name = match b.count {
        1 => problem.name_of(b.first),
        n => format!("{} and {} more", problem.name_of(b.first), n - 1),
    };
    let class = if b.hot { "b hot" } else { "b" };
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" data-task=\"{task}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{:.1}\" fill=\"{}\"><title>{}, stage {}: {} to {} of {ii}</title></rect>",
        w.max(0.4),
        row - 1.0,
        colour(task),
        escape(&name),
        b.stage,
        b.start,
        b.end
    );
    let label = b.stage.to_string();
    if row >= 12.0 && w > width(&label, 9.0) + 2.0 {
        let _ =
            writeln!(out, "<text class=\"g\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>", x + w / 2.0, y + row / 2.0 + 3.0);
    }
}
