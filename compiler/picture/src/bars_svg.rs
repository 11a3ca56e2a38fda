//! # bars-svg
//!
//! Purpose: groups of bars, such as speedups of programs by scheme. The axis is logarithmic: ratios of a half and of two are equally far from one. Input:
//! names and values; a value that there is not has no bar, but a mark that says so. Output: SVG text.

use crate::text::escape;
use std::fmt::Write;

/// Groups of bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Stands above.
    pub title: String,
    /// What the axis counts.
    pub unit: String,
    /// The bars of each group.
    pub series: Vec<String>,
    /// By group, its name and as many values as there are series.
    pub groups: Vec<(String, Vec<Option<f64>>)>,
}

const LEFT: f64 = 70.0;
const TOP: f64 = 74.0;
const H: f64 = 320.0;
const BAR: f64 = 13.0;
const GAP: f64 = 22.0;
const COLOURS: [&str; 8] = ["#4a7ab5", "#d98c3f", "#5fa55a", "#b5534a", "#8268a8", "#8a7256", "#cc79a7", "#7f7f7f"];
const STYLE: &str = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;font-size:11px;fill:#3d4855}.h{font-size:15px;font-weight:bold;\
fill:#1c2733}.x{stroke:#e3e7eb}.one{stroke:#8a949e}.r{text-anchor:end}.m{text-anchor:middle}";

/// The picture.
pub fn svg(bars: &Bars) -> String {
    let usable = |v: &f64| v.is_finite() && *v > 0.0;
    let values = || bars.groups.iter().flat_map(|(_, v)| v).flatten().copied().filter(usable);
    let low = values().fold(1.0, f64::min).log10().floor();
    let high = values().fold(1.0, f64::max).log10().ceil().max(low + 1.0);
    let y = |v: f64| TOP + H * (1.0 - (v.log10() - low) / (high - low));
    let group = BAR * bars.series.len() as f64 + GAP;
    let w = LEFT + group * bars.groups.len() as f64 + 30.0;
    let w = w.max(LEFT + 96.0 * bars.series.len() as f64);
    let h = TOP + H + 50.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n<style>{STYLE}</style>\n\
         <text class=\"h\" x=\"16\" y=\"26\">{}</text>\n",
        escape(&bars.title)
    );
    for (i, name) in bars.series.iter().enumerate() {
        let x = LEFT + 96.0 * i as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"42\" width=\"11\" height=\"11\" fill=\"{}\"/><text x=\"{:.1}\" y=\"52\">{}</text>",
            COLOURS[i % COLOURS.len()],
            x + 15.0,
            escape(name)
        );
    }
    for decade in low as i32..=high as i32 {
        let v = 10f64.powi(decade);
        let class = if decade == 0 { "one" } else { "x" };
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{LEFT}\" y1=\"{0:.1}\" x2=\"{1:.1}\" y2=\"{0:.1}\"/><text class=\"r\" x=\"{2:.1}\" y=\"{3:.1}\">{v}</text>",
            y(v),
            w - 10.0,
            LEFT - 6.0,
            y(v) + 4.0
        );
    }
    let middle = TOP + H / 2.0;
    let _ = writeln!(
        out,
        "<text class=\"m\" x=\"18\" y=\"{middle:.0}\" transform=\"rotate(-90 18 {middle:.0})\">{}</text>",
        escape(&bars.unit)
    );
    for (g, (name, values)) in bars.groups.iter().enumerate() {
        let first = LEFT + GAP / 2.0 + group * g as f64;
        for (i, value) in values.iter().enumerate() {
            let x = first + BAR * i as f64;
            let series = bars.series.get(i).map_or("", String::as_str);
            match value.filter(usable) {
                Some(v) => {
                    let _ = writeln!(
                        out,
                        "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}, {}: {v:.2}</title></rect>",
                        y(v),
                        BAR - 1.5,
                        TOP + H - y(v),
                        COLOURS[i % COLOURS.len()],
                        escape(name),
                        escape(series)
                    );
                }
                None => {
                    let _ = writeln!(
                        out,
                        "<text class=\"m\" x=\"{:.1}\" y=\"{:.1}\">?<title>{}, {}: not yet measured</title></text>",
                        x + BAR / 2.0,
                        TOP + H - 4.0,
                        escape(name),
                        escape(series)
                    );
                }
            }
        }
        let _ = writeln!(
            out,
            "<text class=\"m\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            first + (group - GAP) / 2.0,
            TOP + H + 18.0,
            escape(name)
        );
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_the_axis_and_missing_ones_are_marked() {
        let groups =
            vec![("a<b".to_string(), vec![Some(10.0), None]), ("c".to_string(), vec![Some(0.5), Some(f64::NAN)])];
        let bars =
            Bars { title: "Speedup".into(), unit: "times".into(), series: vec!["one".into(), "two".into()], groups };
        let text = svg(&bars);
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        // the legend's two, and the two bars that there are
        assert_eq!(text.matches("<rect ").count(), 4);
        assert_eq!(text.matches("not yet measured").count(), 2);
        assert!(text.contains("a&lt;b, one: 10.00") && !text.contains("NaN"));
        // from 0.1 to 10: ten is at the top, the foot of all bars at the bottom
        assert!(text.contains(&format!("y=\"{TOP:.1}\" width=\"11.5\" height=\"{H:.1}\"")), "{text}");
        assert!(svg(&Bars::default()).ends_with("</svg>\n"));
    }
}
