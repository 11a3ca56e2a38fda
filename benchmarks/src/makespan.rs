//! The worst case of kernels on one multiprocessor (docs/makespan.md): figures 2, 5, 6 and 7 of "Makespan computation for GPU threads running on a
//! single streaming multiprocessor", and how far each method reaches. Called by scripts/bench.
//!
//! ```text
//! makespan FOLDER [SECONDS [STRINGS]]     where makespan.md and the pictures go; seconds for each answer (10); strings of each length (40)
//! makespan - [SECONDS [STRINGS]]          only what is said of 64 warps, to the standard output
//! ```

#![allow(clippy::disallowed_methods)] // it measures, reads the command line and writes its results

use sluice_picture::lines_svg::{self, Lines, Series};
use sluice_picture::makespan_svg;
use sluice_schedule::analysis::makespan::exact::{Limits, exact, states};
use sluice_schedule::analysis::makespan::method::{Answer, Method, Settings, solve};
use sluice_schedule::analysis::makespan::{Capacity, Kernel, Machine, Problem, Unit, bounds, estimate};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// States of the dynamic programme, as the command has it.
const STATES: u64 = sluice_driver::makespan::STATES;

fn problem(kernel: &Kernel, machine: &Machine, warps: u64) -> Problem {
    Problem::new(kernel, machine, warps).expect("a kernel and warps within the limits")
}

fn kernel(text: &str) -> Kernel {
    text.parse().expect("a kernel")
}

/// An answer, and how long it took.
fn timed(p: &Problem, method: Method, seconds: f64) -> Option<(Answer, f64)> {
    let begun = Instant::now();
    let clock = || begun.elapsed().as_secs_f64();
    let answer = solve(p, method, &Settings { seconds, states: STATES, clock: &clock }).ok()?;
    Some((answer, clock()))
}

/// Exact worst cases of 1 to x warps.
fn curve(p: &Problem, x: u32) -> Vec<u64> {
    let table = exact(&p.with_warps(x), Limits { states: STATES, stop: &|| false }).expect("few states");
    (1..=x).map(|w| table.worst(w)).collect()
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "makespan FOLDER [SECONDS [STRINGS]]";
    let folder = Path::new(arguments.first().ok_or(usage)?);
    let seconds: f64 = arguments.get(1).map_or(Ok(10.0), |s| s.parse()).map_err(|_| usage)?;
    let strings: usize = arguments.get(2).map_or(Ok(40), |s| s.parse()).map_err(|_| usage)?;
    if folder == Path::new("-") {
        let mut md = String::new();
        twelve(&mut md, seconds);
        brackets(&mut md, seconds, strings);
        print!("{md}");
        return Ok(());
    }
    let keep = |name: &str, text: &str| std::fs::write(folder.join(name), text).map_err(|e| format!("{name}: {e}"));
    let mut md = String::from(HEAD);
    let _ = writeln!(md, "{seconds} seconds for each answer; one thread; made by `scripts/bench`.\n");

    let p = problem(&kernel("LLC"), &Machine::ONE, 4);
    let (answer, _) = timed(&p, Method::Exact, seconds).ok_or("LLC")?;
    let schedule = answer.witness.ok_or("LLC has no schedule")?;
    let title = format!("LLC with 4 warps: {} cycles, the longest there is", answer.bound);
    keep("makespan-figure2.svg", &makespan_svg::svg(&p, &schedule, &title).ok_or("too large")?)?;
    md += "## A schedule (the paper's figure 2)\n\nThe paper shows *a* schedule of `LLC` with 4 warps; this is one of the longest, 9 cycles; the pessimistic bound is 12.\n\n\
        ![schedule](makespan-figure2.svg)\n\n";

    figure_5(&mut md, seconds, &keep)?;
    let half = Machine { load_store: Capacity::new(16, 32).ok_or("16/32")?, cores: Capacity::ONE };
    convergence(
        &mut md,
        ("6", "LLCLL", Machine::ONE, 600, 6),
        "The paper's curve falls from 3000 (dashed there, too) to 2500 at x = 6.",
        seconds,
        &keep,
    )?;
    convergence(
        &mut md,
        ("7", "LCLCL", half, 420, 6),
        "The paper has o_L = 1/2 here, and ends at x = 6; its curve begins at 3360 and is at about 2700 from x = 2 on.",
        seconds,
        &keep,
    )?;
    frontier(&mut md, seconds);
    keep("makespan.md", &md)?;
    twelve(&mut md, seconds);
    brackets(&mut md, seconds, strings);
    keep("makespan.md", &md)
}

const HEAD: &str = "# Worst-case makespan on one multiprocessor\n\n\
    The model, its assumptions and the methods: [docs/makespan.md](../../docs/makespan.md). The paper is \"Makespan computation for GPU threads running on a\n\
    single streaming multiprocessor\"; it prints its curves without numbers, so what is said of them is read off the axes. That the methods agree on small\n\
    strings: [makespan-sweep.md](makespan-sweep.md).\n";

/// Is it the method's own answer? Where CBC does not end, the bound that it begins with and a search may meet all the same.
fn by_itself(answer: &Answer, method: Method) -> bool {
    answer.by == method.name()
}

/// Time of the integer programs.
fn figure_5(md: &mut String, seconds: f64, keep: &dyn Fn(&str, &str) -> Result<(), String>) -> Result<(), String> {
    let methods = [
        (Method::IlpShort, "short constraints"),
        (Method::IlpLong, "long constraints"),
        (Method::Exact, "dynamic programme"),
    ];
    let mut series: Vec<Series> =
        methods.iter().map(|(_, name)| Series { name: (*name).into(), points: Vec::new(), marks: false }).collect();
    let mut rows = String::new();
    let mut open = [true; 3];
    for w in 1..=8u64 {
        let p = problem(&kernel("LLCLL"), &Machine::ONE, w);
        let mut row = format!("| {w} |");
        for (i, (method, _)) in methods.iter().enumerate() {
            let done = open[i].then(|| timed(&p, *method, 6.0 * seconds)).flatten();
            match done.filter(|(a, _)| a.exact && by_itself(a, *method)) {
                Some((answer, took)) => {
                    series[i].points.push((w as f64, took.max(1e-6)));
                    let _ = write!(row, " {} | {took:.4} |", answer.bound);
                }
                None => {
                    open[i] = false;
                    row += " | not in time |";
                }
            }
        }
        rows += &(row + "\n");
    }
    let chart = Lines {
        title: "Figure 5: time for LLCLL, o_L = o_C = 1".into(),
        x: "warps".into(),
        y: "seconds".into(),
        log: true,
        log_x: false,
        level: Some((300.0, "the paper's axis ends here, its curves at 8 warps".into())),
        series,
    };
    keep("makespan-figure5.svg", &lines_svg::svg(&chart))?;
    let _ = writeln!(
        md,
        "## Time for an exact answer (figure 5)\n\n`LLCLL`, o = 1, integer programs by CBC ({} s each at most), and the dynamic programme. The paper's curves, by another \
         solver on a computer of 2012, end at 8 warps below 300 s, the short constraints faster than the long ones.\n\n\
         | W | short | seconds | long | seconds | dynamic programme | seconds |\n|--:|--:|--:|--:|--:|--:|--:|\n{rows}\n![figure 5](makespan-figure5.svg)\n",
        6.0 * seconds
    );
    Ok(())
}

/// Convergence of the estimate, and what is proven beside it.
fn convergence(
    md: &mut String,
    (figure, text, machine, warps, x): (&str, &str, Machine, u64, u32),
    of_the_paper: &str,
    seconds: f64,
    keep: &dyn Fn(&str, &str) -> Result<(), String>,
) -> Result<(), String> {
    let p = problem(&kernel(text), &machine, warps);
    let mut points = Vec::new();
    let worst = curve(&p, x);
    let estimates = estimate::convergence(&worst, p.warps());
    let mut rows = String::new();
    for (i, (t, e)) in worst.iter().zip(&estimates).enumerate() {
        let w = i as u64 + 1;
        let small = p.with_warps(w as u32);
        let (_, dynamic) = timed(&small, Method::Exact, seconds).ok_or("no answer")?;
        let ilp = timed(&small, Method::IlpShort, 3.0 * seconds);
        let ilp = ilp.filter(|(a, _)| a.exact && by_itself(a, Method::IlpShort)).map(|(_, took)| took);
        points.push((w as f64, dynamic, ilp));
        let ilp = ilp.map_or("not in time".into(), |s| format!("{s:.3}"));
        let single = (p.warps() as u64).div_ceil(w) * t;
        let _ = writeln!(rows, "| {w} | {t} | {single} | {e} | {ilp} | {dynamic:.6} |");
    }
    let (auto, took) = timed(&p, Method::Auto, seconds).ok_or("no bracket")?;
    let at = |ys: &[u64]| ys.iter().enumerate().map(|(i, y)| (i as f64 + 1.0, *y as f64)).collect::<Vec<_>>();
    let level = bounds::sound(&p) as f64;
    let flat = |name: &str, y: u64| Series {
        name: name.into(),
        points: (1..=x).map(|i| (f64::from(i), y as f64)).collect(),
        marks: false,
    };
    let chart = Lines {
        title: format!("Figure {figure}: {text}, W = {warps}, o_L = {}, o_C = {}", machine.load_store, machine.cores),
        x: "x, warps of which the estimate is made".into(),
        y: "cycles".into(),
        log: false,
        log_x: false,
        level: Some((level, "pessimistic bound".into())),
        series: vec![
            Series { name: "estimate (42), (43): NOT a bound".into(), points: at(&estimates), marks: false },
            flat("proven bound (auto)", auto.bound),
            flat("a schedule that there is (auto)", auto.least),
        ],
    };
    keep(&format!("makespan-figure{figure}.svg"), &lines_svg::svg(&chart))?;
    let time = |name: &str, points: Vec<(f64, f64)>| Series { name: name.into(), points, marks: false };
    let by_ilp = points.iter().filter_map(|(w, _, ilp)| Some((*w, ilp.as_ref()?.max(1e-6)))).collect();
    let by_states = points.iter().map(|(w, dynamic, _)| (*w, dynamic.max(1e-6))).collect();
    let chart = Lines {
        title: format!("Figure {figure}: time for T(x) of {text}"),
        x: "x".into(),
        y: "seconds".into(),
        log: true,
        log_x: false,
        level: None,
        series: vec![time("integer program, short constraints", by_ilp), time("dynamic programme", by_states)],
    };
    keep(&format!("makespan-figure{figure}-time.svg"), &lines_svg::svg(&chart))?;
    let _ = writeln!(
        md,
        "## Convergence of the estimate (figure {figure})\n\n`{text}`, W = {warps}, o_L = {}, o_C = {}. Pessimistic bound {level}. {of_the_paper} By `auto`, in {took:.1} s: no schedule \
         takes longer than **{}**, one takes **{}**.\n\n\
         | x | T(x) | (43) | (42) | integer program, seconds | dynamic programme, seconds |\n|--:|--:|--:|--:|--:|--:|\n{rows}\n\
         ![figure {figure}](makespan-figure{figure}.svg)\n\n![time](makespan-figure{figure}-time.svg)\n",
        machine.load_store, machine.cores, auto.bound, auto.least
    );
    Ok(())
}

/// The most warps that the dynamic programme takes.
fn frontier(md: &mut String, seconds: f64) {
    *md += "## How far exact answers go\n\nThe most warps of the dynamic programme within the time and a gibibyte, o = 1; the string is the slower of `LCLC...` and `LLCCLLCC...`.\n\n\
        | instructions | warps | states | seconds |\n|--:|--:|--:|--:|\n";
    for length in [2usize, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16] {
        let mut warps =
            (1..=4000u32).take_while(|w| states(length, *w).is_some_and(|s| s <= STATES)).last().unwrap_or(1);
        let took = loop {
            let of = |every: usize| {
                let units =
                    (0..length).map(|i| if (i / every).is_multiple_of(2) { Unit::LoadStore } else { Unit::Core });
                let p = problem(&Kernel::new(units.collect()), &Machine::ONE, warps.into());
                timed(&p, Method::Exact, seconds).map(|(_, s)| s)
            };
            match of(1).zip(of(2)) {
                Some((a, b)) => break a.max(b),
                None if warps == 1 => break f64::NAN,
                None => warps = (warps - 1).min(warps * 9 / 10).max(1),
            }
        };
        let _ = writeln!(md, "| {length} | {warps} | {} | {took:.2} |", states(length, warps).unwrap_or(0));
    }
    *md += "\n";
}

/// Strings of so many instructions, drawn at random, both kinds of unit in each.
fn random(length: usize, count: usize) -> Vec<Kernel> {
    let mut seed = length as u64;
    let mut roll = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bits = seed >> 40;
        (0..length).map(|i| if bits >> i & 1 == 0 { Unit::LoadStore } else { Unit::Core }).collect::<Vec<Unit>>()
    };
    let strings = std::iter::from_fn(|| Some(roll())).filter(|u| u.iter().any(|v| *v != u[0]));
    strings.take(count).map(Kernel::new).collect()
}

/// Strings of twelve that are as regular as can be, or nearly.
const REGULAR: [&str; 12] = [
    "LCLCLCLCLCLC",
    "CLCLCLCLCLCL",
    "LLCCLLCCLLCC",
    "LLLCCCLLLCCC",
    "LLLLLLCCCCCC",
    "LLCLLCLLCLLC",
    "LCCLCCLCCLCC",
    "LLLCLLLCLLLC",
    "LCLCLCCLCLCL",
    "CLLLLLLLLLLC",
    "LCLLLLLLLLLC",
    "LLLCCLCLLCCC",
];

/// What `auto` makes of 64 warps and 12 instructions.
fn twelve(md: &mut String, seconds: f64) {
    *md += "## 64 warps, 12 instructions\n\nBy `auto`: 40 strings drawn at random and 12 regular ones (alternations of one, two, three and six letters, and the like); \
        *apart* is bound / schedule − 1. An o of 1/2 makes two instructions of each of its letters.\n\n\
        | o_L, o_C | strings | exact | 10 % or less | apart, median | at most | of | seconds, median | at most |\n|---|--:|--:|--:|--:|--:|---|--:|--:|\n";
    let regular = REGULAR.map(kernel);
    let machines =
        [((1, 1), (1, 1)), ((1, 2), (1, 1)), ((1, 2), (1, 2)), ((2, 1), (2, 1)), ((1, 1), (2, 1)), ((1, 1), (4, 1))];
    for (l, c) in machines {
        let of = |(units, warp)| Capacity::new(units, warp).unwrap_or(Capacity::ONE);
        let machine = Machine { load_store: of(l), cores: of(c) };
        let mut all = Vec::new();
        for k in random(12, 40).iter().chain(&regular) {
            let Some((a, took)) = timed(&problem(k, &machine, 64), Method::Auto, seconds) else { continue };
            let apart = a.bound as f64 / a.least as f64 - 1.0;
            eprintln!("{k} {} {}: {} {} {} {took:.2}", machine.load_store, machine.cores, a.least, a.bound, a.by);
            all.push((apart, took, k.to_string()));
        }
        let count = all.len();
        let exact = all.iter().filter(|a| a.0 == 0.0).count();
        let near = all.iter().filter(|a| a.0 <= 0.1).count();
        let mut times: Vec<f64> = all.iter().map(|a| a.1).collect();
        times.sort_by(f64::total_cmp);
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((most, _, of)) = all.last() else { continue };
        let of = if *most > 0.0 { format!("`{of}`") } else { String::new() };
        let _ = writeln!(
            md,
            "| {}, {} | {count} | {exact} | {near} | {:.1} % | {:.1} % | {of} | {:.2} | {:.2} |",
            machine.load_store,
            machine.cores,
            100.0 * all[count / 2].0,
            100.0 * most,
            times[count / 2],
            times[count - 1]
        );
    }
    *md += "\n";
}

/// What `auto` makes of 64 warps.
fn brackets(md: &mut String, seconds: f64, strings: usize) {
    *md += "## 64 warps\n\nStrings of each length, drawn at random (both kinds of unit in each), by `auto`; *apart* is bound / schedule − 1.\n\n\
        | instructions | o_L, o_C | strings | exact | apart, mean | at most | of | 10 % or less | seconds, mean |\n|--:|---|--:|--:|--:|--:|---|--:|--:|\n";
    let machines = [(1, 1, &[6usize, 8, 10, 12, 14, 16][..]), (1, 4, &[8, 12][..])];
    for (l, c, lengths) in machines {
        for length in lengths {
            let of = |units| Capacity::new(units, 1).unwrap_or(Capacity::ONE);
            let machine = Machine { load_store: of(l), cores: of(c) };
            let (mut exact, mut near, mut sum, mut time, mut worst) = (0, 0, 0.0, 0.0, (0.0, String::new()));
            let mut count = 0;
            for k in random(*length, strings) {
                let Some((a, took)) = timed(&problem(&k, &machine, 64), Method::Auto, seconds) else { continue };
                let apart = a.bound as f64 / a.least as f64 - 1.0;
                eprintln!("{k} {l} {c}: {} {} {:.3} {} {took:.2}", a.least, a.bound, apart, a.by);
                count += 1;
                exact += usize::from(a.exact);
                near += usize::from(apart <= 0.1);
                sum += apart;
                time += took;
                if apart > worst.0 {
                    worst = (apart, k.to_string());
                }
            }
            let n = count.max(1) as f64;
            let _ = writeln!(
                md,
                "| {length} | {l}, {c} | {count} | {exact} | {:.1} % | {:.1} % | {} | {near} | {:.1} |",
                100.0 * sum / n,
                100.0 * worst.0,
                if worst.1.is_empty() { "".into() } else { format!("`{}`", worst.1) },
                time / n
            );
        }
    }
}
