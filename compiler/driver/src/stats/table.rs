//! Statistics as a table for people: a row for each stream, the smallest ones together, then where the rest of the time went.

use super::StatsSort;
use super::report::{Counts, Report};
use crate::document::columns;
use std::cmp::Reverse;

/// Letters of a path that the table shows.
const WIDEST: usize = 60;

/// Times with three or four digits: `950 ns`, `1.25 ms`.
fn time(nanoseconds: u64) -> String {
    let x = nanoseconds as f64;
    let (x, unit) = match nanoseconds {
        0..1_000 => return format!("{nanoseconds} ns"),
        1_000..1_000_000 => (x / 1e3, "us"),
        1_000_000..1_000_000_000 => (x / 1e6, "ms"),
        _ => (x / 1e9, "s"),
    };
    let digits = if x < 10.0 { 2 } else { usize::from(x < 100.0) };
    format!("{x:.digits$} {unit}")
}

/// Items per second.
fn speed(x: f64) -> String {
    let (x, unit) = match x {
        _ if x < 1e3 => return format!("{x:.0}/s"),
        _ if x < 1e6 => (x / 1e3, "k"),
        _ if x < 1e9 => (x / 1e6, "M"),
        _ => (x / 1e9, "G"),
    };
    format!("{x:.1} {unit}/s")
}

fn plural(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

const HEAD: [&str; 9] = ["time", "share", "firings", "each", "in", "out", "fill", "stream", "at"];

fn row(c: &Counts) -> [String; 9] {
    let path = &c.stream.path;
    let length = path.chars().count();
    // the end of a path says more than its start
    let shown = if length > WIDEST {
        format!("...{}", path.chars().skip(length - WIDEST + 3).collect::<String>())
    } else {
        path.clone()
    };
    [
        time(c.nanoseconds),
        share(c.share),
        c.firings.to_string(),
        each(c.nanoseconds, c.firings),
        c.items_in.to_string(),
        c.items_out.to_string(),
        c.fill.map_or(String::new(), |n| n.to_string()),
        shown,
        c.stream.place.to_string(),
    ]
}

fn share(x: f64) -> String {
    format!("{:.1} %", x * 100.0)
}

/// The time of a firing.
fn each(nanoseconds: u64, firings: u64) -> String {
    match firings {
        0 => String::new(),
        n if nanoseconds / n >= 1000 => time(nanoseconds / n),
        n => format!("{:.1} ns", nanoseconds as f64 / n as f64),
    }
}

/// The whole text.
pub(super) fn table(report: &Report, sort: StatsSort, rows: Option<usize>) -> String {
    let mut order: Vec<usize> = (0..report.streams.len()).collect();
    order.sort_by_key(|i| (Reverse(report.streams[*i].nanoseconds), *i));
    let others = order.split_off(rows.unwrap_or(order.len()).min(order.len()));
    if sort == StatsSort::Program {
        order.sort_unstable();
    }
    let mut cells: Vec<[String; 9]> = vec![HEAD.map(String::from)];
    cells.extend(order.iter().map(|i| row(&report.streams[*i])));
    let rest = |what: String, nanoseconds: u64, firings: Option<u64>| {
        let mut cells: [String; 9] = Default::default();
        cells[0] = time(nanoseconds);
        cells[1] = share(nanoseconds as f64 / (report.time.total.max(1)) as f64);
        cells[2] = firings.map_or(String::new(), |n| n.to_string());
        cells[7] = what;
        cells
    };
    if !others.is_empty() {
        let sum = |f: fn(&Counts) -> u64| others.iter().map(|i| f(&report.streams[*i])).fold(0, u64::saturating_add);
        cells.push(rest(
            format!("({})", plural(others.len() as u64, "other stream")),
            sum(|c| c.nanoseconds),
            Some(sum(|c| c.firings)),
        ));
    }
    let t = &report.time;
    cells.push(rest("(reading)".into(), t.reading, None));
    cells.push(rest("(writing)".into(), t.writing, None));
    cells.push(rest("(engine)".into(), t.engine, None));
    cells.push(rest("(all)".into(), t.total, None));
    let mut text = columns(&cells, &[7, 8]);
    text.push('\n');
    text.push_str(&summary(report));
    text
}

/// How the run went as a whole.
fn summary(report: &Report) -> String {
    let mut parts = Vec::new();
    for (n, per_second, way) in
        [(report.items_in, report.items_in_per_second, "in"), (report.items_out, report.items_out_per_second, "out")]
    {
        if let Some(per_second) = per_second {
            parts.push(format!("{} {way} ({})", plural(n, "item"), speed(per_second)));
        }
    }
    parts.push(plural(report.steady_states, "steady state"));
    parts.push(time(report.time.total));
    let mut text = parts.join(", ");
    text.push_str(match report.ending {
        "stopped" => "; stopped\n",
        "failed" => "; failed\n",
        _ => "\n",
    });
    match report.fast_batches {
        None => text.push_str("interpreted: these are not the times of compiled code\n"),
        Some(fast) => {
            let (states, most) = (report.fast_steady_states.unwrap_or(0), report.largest_batch.unwrap_or(0));
            text.push_str(&format!(
                "fast: {} in {}",
                plural(states, "steady state"),
                plural(fast, "batch").replace("batchs", "batches")
            ));
            if fast > 0 {
                text.push_str(&format!(" of up to {most}"));
            }
            text.push_str(&format!("; slow: {}", report.slow_steady_states.unwrap_or(0)));
            if report.undone_batches.is_some_and(|n| n > 0) {
                text.push_str("; a batch was undone and run again slowly because of the fault");
            }
            let calls: u64 = report.streams.iter().map(|s| s.calls).sum();
            let cost = report.time.measuring.unwrap_or(0);
            let part = cost as f64 * 100.0 / report.time.total.max(1) as f64;
            text.push_str(&format!(
                "\nmeasured in {}; reading the clock took about {} ({part:.1} %)\n",
                plural(calls, "call"),
                time(cost)
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_speeds() {
        for (n, want) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_250, "1.25 us"),
            (99_940, "99.9 us"),
            (123_456_789, "123 ms"),
            (61_000_000_000, "61.0 s"),
        ] {
            assert_eq!(time(n), want);
        }
        assert_eq!((speed(12.3), speed(12_345.0), speed(2.5e9)), ("12/s".into(), "12.3 k/s".into(), "2.5 G/s".into()));
        assert_eq!((each(100, 40), each(5_000_000, 2), each(5, 0)), ("2.5 ns".into(), "2.50 ms".into(), String::new()));
    }
}
