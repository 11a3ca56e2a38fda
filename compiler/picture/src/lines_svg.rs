//! # lines-svg
//!
//! Purpose: numbers over numbers as lines with marks, each axis linear or logarithmic. Input: series of points, names of the axes, perhaps a level that
//! is drawn across. Output: SVG text.

use crate::text::{escape, shorten};
use std::fmt::Write;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// x and y; positive on a logarithmic axis, others are left out there.
    pub points: Vec<(f64, f64)>,
    /// Marks only, no line.
    pub marks: bool,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Above it.
    pub title: String,
    /// Below the x axis.
    pub x: String,
    /// Beside the y axis.
    pub y: String,
    /// Is the y axis logarithmic?
    pub log: bool,
    /// Is the x axis?
    pub log_x: bool,
    /// A dashed line across, with its name.
    pub level: Option<(f64, String)>,
    /// The lines.
    pub series: Vec<Series>,
}

const COLOURS: [&str; 6] = ["#1f6feb", "#d1242f", "#1a7f37", "#8250df", "#bc4c00", "#57606a"];
const LEFT: f64 = 76.0;
const TOP: f64 = 48.0;
const PLOT: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const STYLE: &str = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;fill:#1c2733}.h{font-size:14px;font-weight:bold}\
.s{font-size:11px;fill:#3d4855}.x{stroke:#dfe4e9}.a{stroke:#57606a}.l{fill:none;stroke-width:2}.d{stroke:#57606a;stroke-dasharray:6 4}";

/// The chart.
pub fn svg(chart: &Lines) -> String {
    let shown = |y: f64| y.is_finite() && (!chart.log || y > 0.0);
    let seen = |(x, y): &&(f64, f64)| shown(*y) && (!chart.log_x || *x > 0.0);
    let points = || chart.series.iter().flat_map(|s| &s.points).filter(seen);
    let level = chart.level.as_ref().map(|(y, _)| *y).filter(|y| shown(*y));
    let (mut x0, mut x1) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut y0, mut y1) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, y) in points().copied().chain(level.map(|y| (f64::NAN, y))) {
        (x0, x1) = (x0.min(x), x1.max(x));
        (y0, y1) = (y0.min(y), y1.max(y));
    }
    if !(x0.is_finite() && y0.is_finite()) {
        (x0, x1, y0, y1) = (0.0, 1.0, 1.0, 10.0);
    }
    let scale = |y: f64| if chart.log { y.log10() } else { y };
    let ticks = ticks(y0, y1, chart.log);
    let (low, high) = (scale(ticks[0]), scale(ticks[ticks.len() - 1]));
    let across = |x: f64| if chart.log_x { x.log10() } else { x };
    let margin = if chart.log_x { 0.03 * (across(x1) - across(x0)) } else { 0.3 };
    let part = |x: f64| (across(x) - across(x0) + margin) / (across(x1) - across(x0) + 2.0 * margin);
    let px = |x: f64| LEFT + PLOT * if x1 > x0 { part(x) } else { 0.5 };
    let py = |y: f64| TOP + HEIGHT * (1.0 - (scale(y) - low) / (high - low));
    let (w, h) = (LEFT + PLOT + 24.0, TOP + HEIGHT + 50.0 + 16.0 * chart.series.len() as f64);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n\
         <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"12\" y=\"20\">{}</text>\n\
         <text class=\"s\" x=\"{LEFT}\" y=\"{:.0}\">{}</text>\n",
        escape(&shorten(&chart.title, 80)),
        TOP - 8.0,
        escape(&chart.y)
    );
    for t in &ticks {
        let y = py(*t);
        let _ = writeln!(
            out,
            "<line class=\"x\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/><text class=\"s\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT + PLOT,
            LEFT - 6.0,
            y + 4.0,
            number(*t)
        );
    }
    for x in below(x0, x1, chart.log_x) {
        let _ = writeln!(
            out,
            "<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            px(x),
            TOP + HEIGHT + 16.0,
            number(x)
        );
    }
    let _ = writeln!(
        out,
        "<line class=\"a\" x1=\"{LEFT}\" y1=\"{0:.1}\" x2=\"{1:.1}\" y2=\"{0:.1}\"/><text class=\"s\" x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"middle\">{4}</text>",
        TOP + HEIGHT,
        LEFT + PLOT,
        LEFT + PLOT / 2.0,
        TOP + HEIGHT + 32.0,
        escape(&chart.x)
    );
    if let (Some(y), Some((_, name))) = (level, &chart.level) {
        let y = py(y);
        let _ = writeln!(
            out,
            "<line class=\"d\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{0:.1}\" y2=\"{y:.1}\"/><text class=\"s\" x=\"{0:.1}\" y=\"{1:.1}\" text-anchor=\"end\">{2}</text>",
            LEFT + PLOT,
            y - 5.0,
            escape(name)
        );
    }
    for (i, s) in chart.series.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let at: Vec<(f64, f64)> = s.points.iter().filter(seen).map(|(x, y)| (px(*x), py(*y))).collect();
        if !s.marks {
            let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(out, "<polyline class=\"l\" stroke=\"{colour}\" points=\"{}\"/>", path.join(" "));
        }
        for (x, y) in &at {
            let _ = writeln!(out, "{}", mark(i, *x, *y, colour));
        }
        let y = TOP + HEIGHT + 50.0 + 16.0 * i as f64;
        let _ = writeln!(
            out,
            "{}<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            mark(i, LEFT + 6.0, y - 4.0, colour),
            LEFT + 18.0,
            y,
            escape(&s.name)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Marks differ, so that colours are not needed.
fn mark(which: usize, x: f64, y: f64, colour: &str) -> String {
    match which % 3 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>"),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\" fill=\"{colour}\"/>", x - 3.5, y - 3.5),
        _ => format!("<path d=\"M{:.1} {:.1}l4 -7l4 7z\" fill=\"{colour}\"/>", x - 4.0, y + 3.5),
    }
}

/// What is written below the x axis: at most 17 values, or the powers of ten that are there.
fn below(x0: f64, x1: f64, log: bool) -> Vec<f64> {
    if log {
        let (from, to) = ((x0.log10() - 1e-9).ceil() as i32, (x1.log10() + 1e-9).floor() as i32);
        return (from..=to).map(|e| 10f64.powi(e)).collect();
    }
    let step = ((x1 - x0) / 16.0).ceil().max(1.0);
    (0..=((x1 - x0 + 1e-9) / step) as usize).map(|i| x0 + i as f64 * step).collect()
}

/// At least two values around all: powers of ten, or 1, 2 or 5 of them apart.
fn ticks(low: f64, high: f64, log: bool) -> Vec<f64> {
    if log {
        let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        return (from..=to.max(from + 1)).map(|e| 10f64.powi(e)).collect();
    }
    let span = (high - low).max(1e-9 * high.abs()).max(1e-12);
    let ten = 10f64.powf((span / 6.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * ten).into_iter().find(|s| span / s <= 7.0).unwrap_or(10.0 * ten);
    let (from, to) = ((low / step).floor(), (high / step).ceil());
    (0..=((to - from).max(1.0) as usize)).map(|i| (from + i as f64) * step).collect()
}

fn number(x: f64) -> String {
    match x.abs() {
        0.001..1e6 | 0.0 => format!("{x:.4}").trim_end_matches('0').trim_end_matches('.').to_string(),
        1e6.. => format!("{x:e}"),
        _ => format!("{x:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log_x: bool, points: &[(f64, f64)]) -> String {
        let series = vec![Series { name: "a".into(), points: points.to_vec(), marks: false }];
        svg(&Lines { title: "t".into(), x: "x".into(), y: "y".into(), log: log_x, log_x, level: None, series })
    }

    /// Where the marks of the first line are.
    fn circles(text: &str) -> Vec<(f64, f64)> {
        let at = |l: &str, name: &str| l.split(name).nth(1)?.split('"').next()?.parse::<f64>().ok();
        let marks = text.lines().filter(|l| l.starts_with("<circle"));
        marks.filter_map(|l| Some((at(l, " cx=\"")?, at(l, " cy=\"")?))).collect()
    }

    #[test]
    fn powers_of_ten_are_equally_far_apart_on_logarithmic_axes() {
        let text = chart(true, &[(1e4, 1.0), (1e6, 10.0), (1e9, 100.0), (0.0, 5.0), (-1.0, 5.0)]);
        // the legend has a mark, too
        let at = circles(&text);
        assert_eq!(at.len(), 4, "{text}");
        assert!(((at[1].0 - at[0].0) * 1.5 - (at[2].0 - at[1].0)).abs() < 0.2, "{at:?}");
        assert!((at[0].1 - at[1].1 - (at[1].1 - at[2].1)).abs() < 0.2, "{at:?}");
        for mark in ["10000", "100000", "1e6", "1e7", "1e8", "1e9"] {
            assert!(text.contains(&format!(">{mark}</text>")), "{mark}: {text}");
        }
        let linear = circles(&chart(false, &[(0.0, 1.0), (1.0, 2.0), (3.0, 3.0)]));
        assert!(((linear[1].0 - linear[0].0) * 2.0 - (linear[2].0 - linear[1].0)).abs() < 0.2, "{linear:?}");
    }

    #[test]
    fn what_stands_below_the_axis() {
        assert_eq!(below(10.0, 10_000.0, true), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(below(2.0, 5.0, false), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(below(0.0, 33.0, false).len(), 12);
        assert!(below(3.0, 7.0, true).is_empty());
    }
}
