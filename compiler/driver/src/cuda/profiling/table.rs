//! A profile of a GPU for people.

use crate::document::columns;
use crate::profile::gpu::{Cell, Costs};
use crate::profile::{Profile, Stream};
use crate::scheduling::report::grouped;
use std::collections::HashMap;
use std::fmt::Write;

/// The choice, and a row for each stream: threads and registers, what a firing takes, and its part of all work.
pub(super) fn table(profile: &Profile) -> String {
    let Some(on) = &profile.gpu else { return String::new() };
    let modelled = on.costs == Costs::Modelled;
    let arch = on.arch.as_deref().unwrap_or("no architecture");
    let mut out = String::new();
    let how = match on.costs {
        Costs::Measured => format!("measured, {} firings", grouped(profile.firings)),
        Costs::Emulated => "times of the emulation, which say nothing of a GPU".into(),
        Costs::Modelled => "modelled, not measured".into(),
    };
    let _ = writeln!(
        out,
        "{} on {} ({arch}, {} multiprocessors): {how}",
        profile.program, profile.machine.name, on.processors
    );
    let _ = writeln!(
        out,
        "blocks of {} threads, at most {} registers each; a steady state takes {}\n",
        on.threads,
        on.registers,
        time(on.interval)
    );
    // streams with the same code are one row
    let mut groups: Vec<(&str, Vec<&Stream>)> = Vec::new();
    let mut of: HashMap<&str, usize> = HashMap::new();
    for s in &profile.streams {
        let Some(own) = s.gpu.as_ref().filter(|g| g.repetitions > 0) else { continue };
        let at = *of.entry(&own.like).or_insert(groups.len());
        if at == groups.len() {
            groups.push((&own.like, Vec::new()));
        }
        groups[at].1.push(s);
    }
    let cell = |s: &Stream| -> Option<Cell> {
        let own = s.gpu.as_ref()?;
        own.table.iter().find(|c| c.limit == on.registers && c.threads == own.threads).copied()
    };
    let work = |s: &Stream| {
        let firings = s.gpu.as_ref().map_or(0, |g| g.repetitions);
        cell(s).and_then(|c| c.nanoseconds).unwrap_or(0.0) * firings as f64
    };
    let all: f64 = profile.streams.iter().map(work).sum();
    let unit = if modelled { "cycles" } else { "ns" };
    let mut rows =
        vec![["stream", "", "threads", "registers", "spilled", unit, "spread", "share", ""].map(String::from)];
    for (_, streams) in groups {
        let first = streams[0];
        let (Some(own), cell) = (&first.gpu, cell(first).unwrap_or_default()) else { continue };
        let each = cell.nanoseconds.unwrap_or(0.0) * if modelled { on.clock_mhz / 1000.0 } else { 1.0 };
        let note = match (&own.unmeasured, own.serial) {
            (Some(why), _) => format!("modelled: {why}"),
            (None, true) => "firing after firing".into(),
            (None, false) => String::new(),
        };
        let share: f64 = streams.iter().map(|s| work(s)).sum();
        rows.push([
            first.stream.clone(),
            if streams.len() > 1 { format!("and {} more", streams.len() - 1) } else { String::new() },
            own.threads.to_string(),
            cell.registers.map_or("-".into(), |n| n.to_string()),
            cell.spill_bytes.to_string(),
            digits(each),
            cell.spread.map_or("-".into(), |s| format!("{:.1} %", s * 100.0)),
            format!("{:.1} %", if all > 0.0 { share / all * 100.0 } else { 0.0 }),
            note,
        ]);
    }
    out + &columns(&rows, &[0, 1, 8])
}

/// Four digits or so.
fn digits(x: f64) -> String {
    match x {
        x if x >= 1000.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 0.1 => format!("{x:.3}"),
        x => format!("{x:.5}"),
    }
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e6 => format!("{:.3} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.3} µs", ns / 1e3),
        ns => format!("{} ns", digits(ns)),
    }
}
