//! The report for people.

use super::program::Report;
use super::short;
use crate::document::columns;
use sluice_schedule::retime::load::Reason;

/// A table of the loops, and what there is to say of the program.
pub fn table(r: &Report) -> String {
    const HEAD: [&str; 13] =
        ["stream", "kind", "d_C", "n_RW", "live", "T1", "Q1", "C", "TC", "QC", "gain", "bound", "bound/C"];
    let mut rows: Vec<[String; 13]> = vec![HEAD.map(String::from)];
    for l in &r.loops {
        let bound = |exact: Option<&String>| exact.cloned().unwrap_or_default();
        rows.push([
            l.stream.clone(),
            l.kind.to_string(),
            short(l.d_c),
            short(l.n_rw),
            l.live.to_string(),
            short(l.t1),
            short(l.q1),
            l.c.to_string(),
            short(l.tc),
            short(l.qc),
            format!("{:.2}", l.gain),
            bound(l.bounds.as_ref().and_then(|b| b.iteration_bound_exact.as_ref())),
            bound(l.bounds.as_ref().and_then(|b| b.slow.iteration_bound_exact.as_ref())),
        ]);
    }
    let mut text = String::new();
    if r.loops.is_empty() {
        text.push_str(
            "the program has no stateful filters and no feedback loops: nothing waits for the iteration before\n",
        );
    } else {
        text += &columns(&rows, &[0, 1]);
    }
    let s = |n: u64| if n == 1 { "" } else { "s" };
    text.push_str(&format!(
        "\nC = {} stream{}; d_M = {}, alpha = {}, {} registers\n",
        r.c,
        s(r.c),
        short(r.d_m),
        short(r.alpha),
        r.registers
    ));
    for why in [Reason::Registers, Reason::Memory] {
        for l in r.loops.iter().filter(|l| l.choice == why.name()) {
            text.push_str(&format!("{}: {}\n", l.stream, why.sentence()));
        }
    }
    match &r.bounds {
        None => text.push_str("no iteration bound: rates are dynamic, or a steady state has too many firings\n"),
        Some(b) => {
            let one = b.iteration_bound_exact.as_deref().unwrap_or("none");
            let many = b.slow.iteration_bound_exact.as_deref().unwrap_or("none");
            text.push_str(&format!("iteration bound: {one} cycles, with C streams {many}"));
            if !r.critical.is_empty() {
                let shown: Vec<&str> = r.critical.iter().take(4).map(String::as_str).collect();
                let more = if r.critical.len() > 4 { ", ..." } else { "" };
                text.push_str(&format!(" ({}{more})", shown.join(", ")));
            }
            text.push('\n');
            if let (Some(now), Some(best)) = (b.period, b.min_period) {
                text.push_str(&format!("period: {now} cycles, by retiming {best}"));
                if let Some(slow) = b.slow.min_period {
                    text.push_str(&format!(", with C streams {slow}"));
                }
                text.push_str(&format!(" (the longest firing: {})\n", b.longest_firing));
            }
        }
    }
    for f in &r.folded {
        text.push_str(&format!("{}: {} branches of {} become one filter\n", f.stream, f.branches, f.filter));
    }
    match r.refused.first() {
        None if r.c > 1 => text.push_str(&format!("--streams {} runs {} streams in turn\n", r.c, r.c)),
        None => {}
        Some(first) => {
            text.push_str(&format!("--streams refuses the program: {} ({} {})\n", first.why, first.code, first.place));
        }
    }
    text
}
