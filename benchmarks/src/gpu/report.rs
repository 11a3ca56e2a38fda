//! The document for people: Markdown. What is not in the document stands there as not yet measured; of an emulated device no time is shown.

use super::bank;
use super::charts::mean;
use super::document::{Document, ProgramFacts, Run, Times};
use super::paper;
use super::work::VARIANTS;
use crate::suite::{Benchmark, SUITE};
use std::fmt::Write;

const NOT_YET: &str = "not yet measured";
/// The paper's best, and what the scheme fused has to reach of the roof, in percent.
const SPEEDUP: f64 = 37.0;
const ROOF: f64 = 60.0;

/// What binds a program: nanoseconds of a steady state at least, and by what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roof {
    /// Nanoseconds.
    pub ns: f64,
    /// `memory`, `floats` or `ints`.
    pub by: &'static str,
}

/// The first line of a text.
pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

fn facts<'a>(document: &'a Document, program: &str) -> Option<&'a ProgramFacts> {
    document.programs.iter().find(|p| p.name == program)
}

fn run<'a>(document: &'a Document, program: &str, variant: &str, fast_math: bool) -> Option<&'a Run> {
    document.runs.iter().find(|r| r.program == program && r.variant == variant && r.fast_math == fast_math)
}

/// The roof of a program: the bytes that must pass, against its operations. Ints count where there are no floats.
pub fn roof(document: &Document, program: &str, fast_math: bool) -> Option<Roof> {
    let (facts, peaks) = (facts(document, program)?, document.peaks.as_ref()?);
    let memory = (facts.input_bytes + facts.output_bytes) as f64 / peaks.bytes * 1e9;
    let floats = if fast_math { peaks.contracted } else { peaks.plain };
    let needed = needed(facts, fast_math);
    let arithmetic = if facts.float_operations > 0 {
        (needed as f64 / floats * 1e9, "floats")
    } else {
        (facts.int_operations as f64 / peaks.int * 1e9, "ints")
    };
    Some(if memory >= arithmetic.0 {
        Roof { ns: memory, by: "memory" }
    } else {
        Roof { ns: arithmetic.0, by: arithmetic.1 }
    })
}

/// Operations on floats of a steady state that no way to compute it in this arithmetic can leave out, as far as the compiler knows.
fn needed(facts: &ProgramFacts, fast_math: bool) -> u64 {
    let exact = facts.exact_operations.filter(|_| !fast_math);
    exact.or(facts.needed_operations).map_or(facts.float_operations, |n| n.min(facts.float_operations))
}

/// How many times as fast as one thread of the CPU, data in the device's memory; nothing of an emulated device.
pub fn speedup(document: &Document, program: &str, variant: &str) -> Option<f64> {
    let cpu = facts(document, program)?.cpu?.median;
    let device = run(document, program, variant, false)?.resident?.median;
    (!document.emulated && device > 0.0).then(|| cpu / device)
}

fn whole(document: &Document, program: &str, variant: &str) -> Option<f64> {
    let cpu = facts(document, program)?.cpu?.median;
    Some(cpu / run(document, program, variant, false)?.end_to_end?.median)
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| NOT_YET.to_string(), |v| format!("{v:.2}"))
}

fn spread(times: Option<Times>, digits: usize) -> String {
    times.map_or_else(
        || NOT_YET.to_string(),
        |t| format!("{:.digits$} ({:.digits$} to {:.digits$})", t.median, t.least, t.greatest),
    )
}

fn eight() -> impl Iterator<Item = &'static Benchmark> {
    SUITE.iter().filter(|b| b.paper.is_some())
}

/// A table's head: the first columns are text.
fn head(out: &mut String, names: &[&str]) {
    let _ = writeln!(out, "| {} |\n|{}", names.join(" | "), "---|".repeat(names.len()));
}

/// All of it.
pub fn markdown(document: &Document) -> String {
    let mut out = String::from("# Programs on a GPU\n\n");
    if document.emulated {
        out.push_str(
            "**Emulated: not a measurement.** This is a test of the harness and of the programs' output; no time is shown.\n\n",
        );
    }
    about(document, &mut out);
    output(document, &mut out);
    // an emulated device's times are not shown as if they were some
    let mut shown = document.clone();
    if document.emulated {
        (shown.peaks, shown.bank, shown.peers) = (None, Vec::new(), Vec::new());
        for r in &mut shown.runs {
            (r.resident, r.end_to_end) = (None, None);
            r.kernels.clear();
        }
        for p in &mut shown.programs {
            p.cpu = None;
        }
    }
    speedups(&shown, &mut out);
    roofs(&shown, &mut out);
    roles(&shown, &mut out);
    schedules(&shown, &mut out);
    profiles(&shown, &mut out);
    buffers(&shown, &mut out);
    streams(&shown, &mut out);
    libraries(&shown, &mut out);
    filters(&shown, &mut out);
    out
}

fn about(document: &Document, out: &mut String) {
    for (name, value) in &document.about {
        let _ = writeln!(out, "- {name}: {value}");
    }
    match &document.device {
        Some(d) => {
            let _ = writeln!(
                out,
                "- GPU: {} ({}), {} multiprocessors, {:.0} MHz, {:.0} MB of L2, {:.0} GB",
                d.name,
                d.arch,
                d.processors,
                d.clock_mhz,
                d.l2 as f64 / 1e6,
                d.memory as f64 / 1e9
            );
        }
        None => {
            let _ = writeln!(out, "- GPU: {}", if document.emulated { "emulated" } else { "none" });
        }
    }
    if !document.missing.is_empty() {
        out.push_str("\nMissing:\n\n");
        for what in &document.missing {
            let _ = writeln!(out, "- {}", first_line(what).replace('|', "/"));
        }
    }
    out.push_str(
        "\n`scripts/gpu` writes this page. Times are of data in the GPU's memory, taken with events after a warm-up, in batches whose input and output exceed the L2 \
         (programs with state have smaller ones); \
         whole runs, from a file in memory to a file in memory, are beside them. \
         One thread of the same computer's CPU running our own native code, from memory to memory, is what they are compared with.\n\n",
    );
}

/// What failed, and how much was compared.
fn output(document: &Document, out: &mut String) {
    out.push_str("## Output\n\n");
    if document.runs.is_empty() {
        out.push_str("Compared with native code's: not yet measured.\n\n");
        return;
    }
    let good: Vec<&Run> = document.runs.iter().filter(|r| r.failed.is_none()).collect();
    let exact = good.iter().filter(|r| r.difference == 0.0).count();
    let words: usize = good.iter().map(|r| r.words).sum();
    let _ = writeln!(
        out,
        "Of {} runs {} gave native code's output, {exact} of them to the bit; {words} words were compared.\n",
        document.runs.len(),
        good.len()
    );
    for r in good.iter().filter(|r| r.difference > 0.0) {
        let mode = if r.fast_math { ", contracted" } else { "" };
        let _ =
            writeln!(out, "- {}, {}{mode}: within {:.1e} of the greatest number", r.program, r.variant, r.difference);
    }
    for r in &document.runs {
        if let Some(why) = &r.failed {
            let _ = writeln!(out, "- {}, {}: FAILED: {}", r.program, r.variant, first_line(why).replace('|', "/"));
        }
    }
    out.push('\n');
}

fn speedups(document: &Document, out: &mut String) {
    out.push_str("## Against one CPU thread\n\nTimes as fast, as in the paper's figures 10 and 11; data in the GPU's memory.\n\n");
    let order = ["SWPNC", "Serial", "SWP", "SWP4", "SWP8", "profiled", "SWP16", "persistent", "fused", "fused-warps"];
    let mut names = vec!["program", "CPU, ns per steady state"];
    names.extend(order);
    names.push("best");
    names.push("at least 37");
    head(out, &names);
    let mut columns: Vec<Vec<Option<f64>>> = vec![Vec::new(); order.len() + 1];
    for b in &SUITE {
        let mut values: Vec<Option<f64>> = order.iter().map(|v| speedup(document, b.name, v)).collect();
        let best = values.iter().flatten().copied().reduce(f64::max);
        values.push(best);
        if b.paper.is_some() {
            columns.iter_mut().zip(&values).for_each(|(column, v)| column.push(*v));
        }
        let cells: Vec<String> = values.iter().map(|v| cell(*v)).collect();
        let holds = match (b.paper.is_some(), best) {
            (false, _) => "",
            (true, None) => NOT_YET,
            (true, Some(best)) if best >= SPEEDUP => "yes",
            (true, Some(_)) => "NO",
        };
        let cpu = spread(facts(document, b.name).and_then(|f| f.cpu), 1);
        let _ = writeln!(out, "| {} | {cpu} | {} | {holds} |", b.name, cells.join(" | "));
    }
    let means: Vec<String> = columns.iter().map(|c| cell(mean(c))).collect();
    let _ = writeln!(out, "| geometric mean of the paper's eight | | {} | |\n", means.join(" | "));
    if !document.runs.is_empty() {
        let name = if document.emulated { "gpu-emulated" } else { "gpu" };
        let _ = writeln!(
            out,
            "![Schemes against one CPU thread]({name}-figure-10.svg)\n\n![Coarsening]({name}-figure-11.svg)\n\n![Percent of the roof]({name}-roof.svg)\n"
        );
    }
    let _ = writeln!(
        out,
        "The paper, on a GeForce 8800 GTS 512 against one thread of a Xeon at 2.83 GHz: SWP8 {} to {}; SWPNC at most {}, but Filterbank {} and FMRadio {}; Serial \
         slightly ahead of SWP8 on DCT and MatrixMult. Its figures have no numbers.\n",
        paper::SWP.0,
        paper::SWP.1,
        paper::SWPNC_MOST,
        cell(paper::of("filterbank").and_then(|p| p.swpnc)),
        cell(paper::of("fmradio").and_then(|p| p.swpnc)),
    );
    out.push_str("Whole runs, transfers included, times as fast as the same thread:\n\n");
    let mut names = vec!["program"];
    names.extend(order);
    head(out, &names);
    for b in &SUITE {
        let cells: Vec<String> = order.iter().map(|v| cell(whole(document, b.name, v))).collect();
        let _ = writeln!(out, "| {} | {} |", b.name, cells.join(" | "));
    }
    out.push('\n');
}

fn roofs(document: &Document, out: &mut String) {
    out.push_str("## The roof\n\nMeasured in the same run by kernels of our own: ");
    match &document.peaks {
        None => out.push_str("not yet measured.\n\n"),
        Some(p) => {
            let _ = writeln!(
                out,
                "{:.0} GB/s copied (read and written), {:.2} Tflop/s without contraction, {:.2} with it, {:.2} Tops/s on ints, {:.0} ns to memory.\n",
                p.bytes / 1e9,
                p.plain / 1e12,
                p.contracted / 1e12,
                p.int / 1e12,
                p.latency_ns
            );
        }
    }
    out.push_str(
        "Bytes are those of input and output; operations those of the filters' code as the compiler counts it. Of these, fewer are needed where filters are equal and have the same input, where a filter drops \
         what another one has computed or puts in zeroes that another one multiplies, and, with contraction, where fewer operations give the same but for rounding: the roof is of those. Where there are no floats, operations on ints count, \
         those of loops among them. The roof is the longer of both times.\n\n",
    );
    head(
        out,
        &[
            "program",
            "contraction",
            "bytes",
            "operations",
            "needed",
            "roof, ns",
            "bound by",
            "fused, ns",
            "percent of the roof",
            "at least 60",
        ],
    );
    for b in eight() {
        for fast_math in [false, true] {
            let facts = facts(document, b.name);
            let roof = roof(document, b.name, fast_math);
            let fused = run(document, b.name, "fused", fast_math).and_then(|r| r.resident);
            let percent = roof.and_then(|r| Some(100.0 * r.ns / fused?.median));
            let number = |of: &dyn Fn(&ProgramFacts) -> u64| facts.map_or(NOT_YET.to_string(), |f| of(f).to_string());
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                b.name,
                if fast_math { "on" } else { "off" },
                number(&|f| f.input_bytes + f.output_bytes),
                number(&|f| if f.float_operations > 0 { f.float_operations } else { f.int_operations }),
                number(&|f| if f.float_operations > 0 { needed(f, fast_math) } else { f.int_operations }),
                roof.map_or(NOT_YET.to_string(), |r| format!("{:.3}", r.ns)),
                roof.map_or("", |r| r.by),
                spread(fused, 3),
                percent.map_or(NOT_YET.to_string(), |p| format!("{p:.1}")),
                percent.map_or(NOT_YET, |p| if p >= ROOF { "yes" } else { "NO" }),
            );
        }
    }
    out.push('\n');
}

/// The scheme fused with warps of two roles, beside the same without.
fn roles(document: &Document, out: &mut String) {
    out.push_str(
        "## Warps with roles\n\nThe scheme fused-warps, whose blocks have warps that bring the next tile while the others fire, beside fused; ns per steady state.\n\n",
    );
    head(out, &["program", "fused", "fused-warps", "fused / fused-warps, time", "roles are faster"]);
    for b in &SUITE {
        let times = |v: &str| run(document, b.name, v, false).and_then(|r| r.resident);
        let (plain, roles) = (times("fused"), times("fused-warps"));
        let ratio = plain.zip(roles).map(|(plain, roles)| plain.median / roles.median);
        let faster = match ratio {
            None => NOT_YET,
            Some(r) if r > 1.0 => "yes",
            Some(_) => "no",
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {faster} |",
            b.name,
            spread(plain, 3),
            spread(roles, 3),
            ratio.map_or(NOT_YET.to_string(), |r| format!("{r:.2}")),
        );
    }
    out.push('\n');
}

fn schedules(document: &Document, out: &mut String) {
    out.push_str(
        "## Initiation intervals\n\nWhat the schedule says in cycles, and what an interval takes: a batch's time by its intervals, in cycles of the GPU's greatest clock. \
         Filling and draining the pipeline counts as intervals.\n\n",
    );
    head(
        out,
        &["program", "scheme", "predicted, cycles", "measured, cycles", "measured / predicted", "launches of a batch"],
    );
    let clock = document.device.as_ref().map(|d| d.clock_mhz / 1e3);
    let mut any = false;
    for b in &SUITE {
        for v in &VARIANTS {
            let Some(r) = run(document, b.name, v.name, false) else { continue };
            let Some((ii, steady)) = r.ii else { continue };
            any = true;
            // by the intervals that were started, of which those that drain the pipeline are some
            let intervals = if r.intervals > 0 { r.intervals } else { (r.steady_states / steady.max(1)).max(1) };
            let batch = if r.steady_states > 0 { r.steady_states } else { steady };
            let measured = r.resident.and_then(|t| Some(t.median * batch as f64 / intervals as f64 * clock?));
            let ratio = measured.map(|m| m / ii as f64);
            let shown = measured.map_or(NOT_YET.to_string(), |m| format!("{m:.0}"));
            let _ = writeln!(out, "| {} | {} | {ii} | {shown} | {} | {} |", b.name, v.name, cell(ratio), r.launches);
        }
    }
    if !any {
        let _ = writeln!(out, "| all | SWP and its like | {NOT_YET} | {NOT_YET} | {NOT_YET} | {NOT_YET} |");
    }
    out.push('\n');
}

/// What profiles have chosen, and what it brings.
fn profiles(document: &Document, out: &mut String) {
    out.push_str(
        "## Profiles\n\nThe scheme profiled is SWP8 with the paper's figures 6 and 7: each filter measured alone for every limit of registers and number of threads, then one limit for \
         the program and a number of threads for each filter, and a schedule of the measured costs; ns per steady state.\n\n",
    );
    head(out, &["program", "threads of a block", "registers at most", "SWP8", "profiled", "SWP8 / profiled, time"]);
    for b in &SUITE {
        let of = |v: &str| run(document, b.name, v, false);
        let [plain, profiled] = ["SWP8", "profiled"].map(|v| of(v).and_then(|r| r.resident));
        let (threads, registers) = match of("profiled").and_then(|r| r.configuration) {
            Some((threads, registers)) => (threads.to_string(), registers.to_string()),
            None => (NOT_YET.to_string(), NOT_YET.to_string()),
        };
        let ratio = plain.and_then(|p| Some(p.median / profiled?.median));
        let (plain, profiled) = (spread(plain, 3), spread(profiled, 3));
        let _ = writeln!(out, "| {} | {threads} | {registers} | {plain} | {profiled} | {} |", b.name, cell(ratio));
    }
    out.push('\n');
}

fn buffers(document: &Document, out: &mut String) {
    out.push_str("## Buffers\n\nBytes, beside the paper's table II (SWP8 on 16 multiprocessors; ours are for as many as the GPU has).\n\n");
    head(out, &["program", "paper, SWP8", "SWP8", "Serial", "fused"]);
    for b in eight() {
        let bytes = |v: &str| {
            run(document, b.name, v, false)
                .filter(|r| r.failed.is_none())
                .map_or(NOT_YET.to_string(), |r| r.channel_bytes.to_string())
        };
        let paper = paper::of(b.name).map_or(0, |p| p.buffers);
        let _ =
            writeln!(out, "| {} | {paper} | {} | {} | {} |", b.name, bytes("SWP8"), bytes("Serial"), bytes("fused"));
    }
    out.push('\n');
}

fn streams(document: &Document, out: &mut String) {
    out.push_str(
        "## C-slow\n\nThe loop of \"Method for Software Pipelining on GPUs\", figure 4: N filters of first order, M items each, C of them in turn in each thread; \
         few (a warp on each multiprocessor, whose waiting nothing hides) and many (64 warps). T is the time of an iteration of the loop, in cycles; the gain is C·T_1 / T_C. The \
         model is equation (1), with d_C from the machine code, d_M from the chase along pointers, and α fitted to the four T of each size.\n\n",
    );
    head(out, &["N", "M", "C", "d_C", "d_M", "α", "T, model", "T, measured", "gain, model", "gain, measured"]);
    if document.bank.is_empty() {
        for c in super::probe::STREAMS {
            let rest = [NOT_YET; 7].join(" | ");
            let _ = writeln!(out, "| {NOT_YET} | {NOT_YET} | {c} | {rest} |");
        }
    }
    let clock = document.device.as_ref().map(|d| d.clock_mhz / 1e3);
    let d_m = document.peaks.as_ref().and_then(|p| Some(p.latency_ns * clock?));
    for group in document.bank.chunks(super::probe::STREAMS.len()) {
        let alpha = d_m.and_then(|d_m| bank::fit(group, d_m, clock?));
        let model = |b: &super::document::Bank| Some(bank::model(b.d_c? as f64, d_m?, b.streams, alpha?));
        let measured = |b: &super::document::Bank| Some(b.period?.median * clock?);
        for b in group {
            let gain =
                |t: &dyn Fn(&super::document::Bank) -> Option<f64>| Some(b.streams as f64 * t(group.first()?)? / t(b)?);
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                b.filters,
                b.steps,
                b.streams,
                b.d_c.map_or("no nvdisasm".to_string(), |d| d.to_string()),
                cell(d_m),
                cell(alpha),
                cell(model(b)),
                cell(measured(b)),
                cell(gain(&model)),
                cell(gain(&measured))
            );
        }
    }
    out.push('\n');
}

fn libraries(document: &Document, out: &mut String) {
    out.push_str("## Libraries\n\nWhat one would call instead, on data in the GPU's memory; ns per steady state.\n\n");
    head(out, &["program", "library", "library", "fused", "fused / library, time", "difference"]);
    for name in ["fft", "matrixmult", "filterbank"] {
        let fused = run(document, name, "fused", false).and_then(|r| r.resident);
        let mut any = false;
        for p in document.peers.iter().filter(|p| p.program == name) {
            any = true;
            let ratio = fused.map(|f| f.median / p.times.median);
            let (ours, theirs) = (spread(fused, 3), spread(Some(p.times), 3));
            let _ =
                writeln!(out, "| {name} | {} | {theirs} | {ours} | {} | {:.1e} |", p.called, cell(ratio), p.difference);
        }
        if !any {
            let _ = writeln!(out, "| {name} | {NOT_YET} | {NOT_YET} | {} | {NOT_YET} | |", spread(fused, 3));
        }
    }
    out.push('\n');
}

/// Kernel after kernel, as predicted and as measured.
fn filters(document: &Document, out: &mut String) {
    out.push_str(
        "## Filters\n\nThe scheme Serial has a kernel for each filter: its part of the program's time as the machine model predicts it, and as measured, kernel by kernel. \
         In a launch of a few microseconds, the launch itself is part of what is measured.\n\n",
    );
    let clock = document.device.as_ref().map(|d| d.clock_mhz / 1e3 * f64::from(d.processors));
    let mut any = false;
    for b in &SUITE {
        let Some(r) = run(document, b.name, "Serial", false) else { continue };
        let known: Vec<_> = r.kernels.iter().filter(|k| k.predicted.is_some()).collect();
        if known.is_empty() {
            continue;
        }
        if !any {
            head(
                out,
                &[
                    "program",
                    "filter",
                    "predicted, ns",
                    "measured, ns",
                    "measured / predicted",
                    "part predicted",
                    "part measured",
                ],
            );
        }
        any = true;
        let predicted: f64 = known.iter().filter_map(|k| k.predicted).sum();
        let measured: f64 = known.iter().map(|k| k.ns).sum();
        for k in known {
            let cycles = k.predicted.unwrap_or(0.0);
            let ns = clock.map(|c| cycles / c);
            let _ = writeln!(
                out,
                "| {} | {} | {} | {:.3} | {} | {:.1} % | {:.1} % |",
                b.name,
                k.name,
                ns.map_or(NOT_YET.to_string(), |ns| format!("{ns:.3}")),
                k.ns,
                cell(ns.map(|ns| k.ns / ns)),
                100.0 * cycles / predicted.max(1e-9),
                100.0 * k.ns / measured.max(1e-9)
            );
        }
    }
    if !any {
        out.push_str("Not yet measured.\n");
    }
}
