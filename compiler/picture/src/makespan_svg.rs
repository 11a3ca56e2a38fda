//! # makespan-svg
//!
//! Purpose: a schedule of warps as a chart, as figure 2 of "Makespan computation for GPU threads running on a single streaming multiprocessor":
//! cycles to the right, a row for each warp that a kind of unit takes in a cycle, cells coloured by warp with its number. Input: problem and a
//! schedule that the judge has passed. Output: SVG text; none where there would be more than [`MOST`] cells.

use crate::text::{escape, shorten, width};
use sluice_schedule::analysis::makespan::schedule::Schedule;
use sluice_schedule::analysis::makespan::{Problem, Unit};
use std::fmt::Write;

/// Cells of a chart: instructions of all warps.
pub const MOST: u64 = 40_000;

const LEFT: f64 = 110.0;
const TOP: f64 = 44.0;
const ROW: f64 = 24.0;
/// The plot is as wide as this at most, unless its cells would be thinner than [`LEAST`].
const PLOT: f64 = 1100.0;
const LEAST: f64 = 3.0;

const STYLE: &str = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;fill:#1c2733}.h{font-size:15px;font-weight:bold}\
.s{font-size:11px;fill:#3d4855}.r{font-size:11px;fill:#3d4855;text-anchor:end}.t{font-size:10px;fill:#55616f;text-anchor:middle}\
.g{font-size:10px;fill:#10202e;text-anchor:middle;pointer-events:none}.row{fill:#f3f5f7}.w{stroke:#fff;stroke-width:.6}.x{stroke:#d5dbe1}";

/// The chart, with a line for people above it.
pub fn svg(problem: &Problem, schedule: &Schedule, title: &str) -> Option<String> {
    let cells: u64 = schedule.cycles.iter().map(|c| c.len() as u64).sum();
    if cells > MOST {
        return None;
    }
    let cycles = schedule.cycles.len().max(1);
    let cell = (PLOT / cycles as f64).clamp(LEAST, ROW);
    // No more rows than warps ever run at once on a unit.
    let mut pc = vec![0usize; problem.warps() as usize];
    let mut placed: Vec<(usize, Unit, usize, u32, usize)> = Vec::with_capacity(cells as usize);
    let mut rows = [1usize; 2];
    for (t, warps) in schedule.cycles.iter().enumerate() {
        let mut next = [0usize; 2];
        for w in warps {
            let at = pc.get_mut(*w as usize)?;
            let unit = *problem.units().get(*at)?;
            placed.push((t, unit, next[unit as usize], *w, *at));
            next[unit as usize] += 1;
            *at += 1;
        }
        rows.iter_mut().zip(next).for_each(|(most, n)| *most = n.max(*most));
    }
    let top = |unit: Unit| if unit == Unit::LoadStore { TOP } else { TOP + ROW * rows[0] as f64 + 8.0 };
    let bottom = top(Unit::Core) + ROW * rows[1] as f64;
    let plot = cell * cycles as f64;
    let (w, h) = ((LEFT + plot + 30.0).max((24.0 + width(title, 15.0)).min(PLOT)), bottom + 44.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n\
         <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"12\" y=\"24\">{}</text>\n",
        escape(&shorten(title, ((w - 24.0) / 9.0) as usize))
    );
    for (unit, name) in [(Unit::LoadStore, "load/store"), (Unit::Core, "cores")] {
        let n = rows[unit as usize];
        for row in 0..n {
            let y = top(unit) + ROW * row as f64;
            let label = if n == 1 { name.to_string() } else { format!("{name} {row}") };
            let _ = writeln!(
                out,
                "<rect class=\"row\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{plot:.1}\" height=\"{:.1}\"/><text class=\"r\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                ROW - 1.0,
                LEFT - 8.0,
                y + ROW / 2.0 + 3.5
            );
        }
    }
    for (t, unit, row, warp, at) in placed {
        let (x, y) = (LEFT + cell * t as f64, top(unit) + ROW * row as f64);
        let _ = writeln!(
            out,
            "<rect class=\"w\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{cell:.2}\" height=\"{:.1}\" fill=\"{}\"><title>cycle {t}: warp {warp}, instruction {} ({})</title></rect>",
            ROW - 1.0,
            colour(warp),
            at + 1,
            unit.letter()
        );
        let label = warp.to_string();
        if cell > width(&label, 10.0) + 1.0 {
            let _ = writeln!(
                out,
                "<text class=\"g\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                x + cell / 2.0,
                y + ROW / 2.0 + 3.5
            );
        }
    }
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
        .into_iter()
        .find(|s| cell * *s as f64 >= 28.0)
        .unwrap_or(10_000);
    for t in (0..=cycles).step_by(step) {
        let x = LEFT + cell * t as f64;
        let _ = writeln!(
            out,
            "<line class=\"x\" x1=\"{x:.1}\" y1=\"{bottom:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\"/><text class=\"t\" x=\"{x:.1}\" y=\"{:.1}\">{t}</text>",
            bottom + 4.0,
            bottom + 16.0
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"s\" x=\"{LEFT}\" y=\"{:.1}\">cycles; the number in a cell is its warp</text>\n</svg>",
        bottom + 32.0
    );
    Some(out)
}

/// Colours far apart for neighbours: turns of the golden angle.
fn colour(warp: u32) -> String {
    let hue = (f64::from(warp) * 137.508) % 360.0;
    format!("hsl({hue:.0},58%,{}%)", [72, 62, 80][warp as usize % 3])
}
