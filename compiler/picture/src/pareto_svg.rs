//! # pareto-svg
//!
//! Purpose: throughput against channel memory, latency by the size of the dots, which are numbered as the rows of the table are. Both axes
//! are logarithmic. Input: points. Output: SVG text.

use crate::text::escape;
use std::fmt::Write;

/// One schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Steady states per second.
    pub throughput: f64,
    /// Bytes of channels.
    pub bytes: f64,
    /// Microseconds.
    pub latency: f64,
    /// What it is.
    pub label: String,
}

const LEFT: f64 = 90.0;
const TOP: f64 = 50.0;
const W: f64 = 800.0;
const H: f64 = 460.0;
const STYLE: &str = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;font-size:11px;fill:#3d4855}.h{font-size:15px;font-weight:bold;\
fill:#1c2733}.x{stroke:#e3e7eb}.p{fill:#4a7ab5;fill-opacity:.55;stroke:#2c5a92}.n{text-anchor:middle;fill:#fff;font-size:9px}";

/// A logarithmic axis over whole decades.
struct Axis {
    low: i32,
    high: i32,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>) -> Axis {
        let (mut low, mut high) = (i32::MAX, i32::MIN);
        for v in values {
            let log = v.max(1e-300).log10();
            low = low.min(log.floor() as i32);
            high = high.max(log.ceil() as i32);
        }
        if low >= high { Axis { low: low.min(0), high: low.min(0) + 1 } } else { Axis { low, high } }
    }

    /// From 0 to 1.
    fn at(&self, v: f64) -> f64 {
        (v.max(1e-300).log10() - f64::from(self.low)) / f64::from(self.high - self.low)
    }
}

/// The picture.
pub fn svg(points: &[Point], title: &str) -> String {
    let (right, below) = (Axis::of(points.iter().map(|p| p.bytes)), Axis::of(points.iter().map(|p| p.throughput)));
    let (x, y) = (|v| LEFT + W * right.at(v), |v| TOP + H * (1.0 - below.at(v)));
    let (w, h) = (LEFT + W + 40.0, TOP + H + 60.0);
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"{LEFT}\" y=\"26\">{}</text>\n",
        escape(title)
    );
    for e in right.low..=right.high {
        let at = x(10f64.powi(e));
        let _ = writeln!(
            out,
            "<line class=\"x\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{:.1}\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">1e{e}</text>",
            TOP + H,
            TOP + H + 16.0
        );
    }
    for e in below.low..=below.high {
        let at = y(10f64.powi(e));
        let _ = writeln!(
            out,
            "<line class=\"x\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">1e{e}</text>",
            LEFT + W,
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">channel memory, bytes (a dot grows with the latency)</text>\
         <text x=\"14\" y=\"{:.1}\" transform=\"rotate(-90 14 {:.1})\" text-anchor=\"middle\">steady states per second</text>",
        LEFT + W / 2.0,
        TOP + H + 40.0,
        TOP + H / 2.0,
        TOP + H / 2.0
    );
    let longest = points.iter().map(|p| p.latency).fold(f64::MIN_POSITIVE, f64::max);
    for (i, p) in points.iter().enumerate() {
        let radius = 8.0 + 10.0 * (p.latency / longest).sqrt();
        let _ = writeln!(
            out,
            "<circle class=\"p\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"><title>{}</title></circle><text class=\"n\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x(p.bytes),
            y(p.throughput),
            escape(&p.label),
            x(p.bytes),
            y(p.throughput) + 3.0,
            i + 1
        );
    }
    out.push_str("</svg>\n");
    out
}
