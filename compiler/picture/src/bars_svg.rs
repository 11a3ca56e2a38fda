//! # bars-svg
//!
//! Purpose: groups of bars, such as speedups of programs by scheme. The axis is logarithmic, and all bars begin at one level, such as the ratio 1: what is
//! above and what below is seen at once, and a half and two are equally far away. Input: names and values; a value that there is not has no bar, but a mark
//! that says so. Output: SVG text, as wide as its title, its legend and its groups need.

use crate::text::{escape, width};
use std::fmt::Write;

/// Groups of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Stands above.
    pub title: String,
    /// What the axis counts.
    pub unit: String,
    /// Where bars begin; positive.
    pub level: f64,
    /// What a value is that there is not: `not yet measured`, marked with a question, or anything else, with a dash; where it is nothing, neither has it a mark nor any room.
    pub absent: String,
    /// The bars of each group.
    pub series: Vec<String>,
    /// By group, its name and as many values as there are series.
    pub groups: Vec<(String, Vec<Option<f64>>)>,
}

impl Default for Bars {
    /// Ratios, none of them yet.
    fn default() -> Self {
        Bars {
            title: String::new(),
            unit: String::new(),
            level: 1.0,
            absent: NOT_YET.into(),
            series: Vec::new(),
            groups: Vec::new(),
        }
    }
}

/// Of values that are still to come.
const NOT_YET: &str = "not yet measured";
const LEFT: f64 = 70.0;
const TOP: f64 = 74.0;
const H: f64 = 320.0;
const BAR: f64 = 13.0;
const GAP: f64 = 22.0;
/// How wide a picture may be for its legend's sake, and from one of its lines to the next.
const LEGEND: f64 = 900.0;
const LINE: f64 = 18.0;
/// Free between neighbours of the legend, and between names of groups.
const APART: f64 = 16.0;
/// Size of letters, and how much wider those of the title are for being bold.
const LETTERS: f64 = 11.0;
const TITLE: f64 = 15.0;
const BOLD: f64 = 1.1;
/// How names of groups are turned where they are too wide, in degrees.
const TURN: f64 = 40.0;
const COLOURS: [&str; 10] =
    ["#4a7ab5", "#d98c3f", "#5fa55a", "#b5534a", "#8268a8", "#8a7256", "#cc79a7", "#7f7f7f", "#2aa7a0", "#c9b22f"];
const STYLE: &str = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;font-size:11px;fill:#3d4855}.h{font-size:15px;font-weight:bold;\
fill:#1c2733}.x{stroke:#e3e7eb}.one{stroke:#57606a}.r{text-anchor:end}.m{text-anchor:middle}";

/// The picture.
pub fn svg(bars: &Bars) -> String {
    let usable = |v: &f64| v.is_finite() && *v > 0.0;
    let values = || bars.groups.iter().flat_map(|(_, v)| v).flatten().copied().filter(usable);
    let ticks = ticks(values().fold(bars.level, f64::min), values().fold(bars.level, f64::max));
    let (low, high) = (ticks[0].log10(), ticks[ticks.len() - 1].log10());
    let shown = |values: &[Option<f64>]| -> Vec<(usize, Option<f64>)> {
        let all = values.iter().map(|v| v.filter(usable)).enumerate();
        all.filter(|(_, v)| v.is_some() || !bars.absent.is_empty()).collect()
    };
    let most = match bars.absent.is_empty() {
        true => bars.groups.iter().map(|(_, v)| shown(v).len()).max().unwrap_or(0),
        false => bars.series.len(),
    };
    let group = BAR * most as f64 + GAP;
    let widest = bars.groups.iter().map(|(name, _)| width(name, LETTERS)).fold(0.0, f64::max);
    let turned = widest > group - 4.0;
    // what is turned ends below the middle of its group, and begins to the left of it
    let (aside, below) =
        if turned { (widest * TURN.to_radians().cos(), widest * TURN.to_radians().sin()) } else { (0.0, 0.0) };
    let left = LEFT.max(aside - group / 2.0 + 8.0);
    let w = (left + group * bars.groups.len() as f64 + 30.0).max(32.0 + BOLD * width(&bars.title, TITLE));
    let (legend, widest, lines) = legend(&bars.series, left, w.max(LEGEND));
    let w = w.max(widest);
    let top = TOP + LINE * lines as f64;
    let y = |v: f64| top + H * (1.0 - (v.log10() - low) / (high - low));
    let h = top + H + 34.0 + below;

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"16\" y=\"26\">{}</text>\n",
        escape(&bars.title)
    );
    for (i, (name, (x, line))) in bars.series.iter().zip(&legend).enumerate() {
        let down = LINE * *line as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{}\" width=\"11\" height=\"11\" fill=\"{}\"/><text class=\"l\" x=\"{:.1}\" y=\"{}\">{}</text>",
            42.0 + down,
            COLOURS[i % COLOURS.len()],
            x + 15.0,
            52.0 + down,
            escape(name)
        );
    }
    let line = |class: &str, v: f64| {
        format!("<line class=\"{class}\" x1=\"{left:.1}\" y1=\"{0:.1}\" x2=\"{1:.1}\" y2=\"{0:.1}\"/>", y(v), w - 10.0)
    };
    for v in &ticks {
        let _ = writeln!(
            out,
            "{}<text class=\"r\" x=\"{:.1}\" y=\"{:.1}\">{v}</text>",
            line("x", *v),
            left - 6.0,
            y(*v) + 4.0
        );
    }
    let middle = top + H / 2.0;
    let _ = writeln!(
        out,
        "<text class=\"m\" x=\"18\" y=\"{middle:.0}\" transform=\"rotate(-90 18 {middle:.0})\">{}</text>",
        escape(&bars.unit)
    );
    for (g, (name, values)) in bars.groups.iter().enumerate() {
        let first = left + GAP / 2.0 + group * g as f64;
        for (place, (i, value)) in shown(values).into_iter().enumerate() {
            let x = first + BAR * place as f64;
            let series = bars.series.get(i).map_or("", String::as_str);
            let about = format!("{}, {}", escape(name), escape(series));
            let _ = match value {
                // one that is at the level is seen, too
                Some(v) => writeln!(
                    out,
                    "<rect class=\"b\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{about}: {v:.2}</title></rect>",
                    y(v.max(bars.level)),
                    BAR - 1.5,
                    (y(v) - y(bars.level)).abs().max(1.5),
                    COLOURS[i % COLOURS.len()]
                ),
                None => writeln!(
                    out,
                    "<text class=\"m\" x=\"{:.1}\" y=\"{:.1}\">{}<title>{about}: {}</title></text>",
                    x + BAR / 2.0,
                    y(bars.level) - 3.0,
                    if bars.absent == NOT_YET { '?' } else { '–' },
                    escape(&bars.absent)
                ),
            };
        }
        let (x, y) = (first + (group - GAP) / 2.0, top + H + 18.0);
        let name = escape(name);
        let _ = match turned {
            true => writeln!(
                out,
                "<text class=\"r n\" x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-{TURN} {x:.1} {y:.1})\">{name}</text>"
            ),
            false => writeln!(out, "<text class=\"m n\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>"),
        };
    }
    // above the bars, which begin there
    let _ = writeln!(out, "{}\n</svg>", line("one", bars.level));
    out
}

/// Where each name of the legend stands, and in which line, the first being 0; how far to the right they go, and the last line. A line that would go farther than `most` is two.
fn legend(names: &[String], left: f64, most: f64) -> (Vec<(f64, usize)>, f64, usize) {
    let (mut x, mut line, mut widest) = (left, 0, 0f64);
    let mut places = Vec::new();
    for name in names {
        let wide = 15.0 + width(name, LETTERS) + APART;
        if x > left && x + wide > most {
            (x, line) = (left, line + 1);
        }
        places.push((x, line));
        x += wide;
        widest = widest.max(x);
    }
    (places, widest, line)
}

/// At least two around all: powers of ten; where they are few, twice and five times them, too.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let steps: &[f64] = if to - from <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    // as a quotient where it is below one: 0.2, not 0.20000000000000001
    let power = |e: i32, step: f64| if e < 0 { step / 10f64.powi(-e) } else { step * 10f64.powi(e) };
    let all: Vec<f64> = (from..=to.max(from + 1)).flat_map(|e| steps.iter().map(move |s| power(e, *s))).collect();
    let first = all.iter().rposition(|t| *t <= low).unwrap_or(0);
    let last = all.iter().position(|t| *t >= high && *t > all[first]).unwrap_or(all.len() - 1);
    all[first..=last].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, values: &[f64]) -> (String, Vec<Option<f64>>) {
        (name.into(), values.iter().map(|v| Some(*v)).collect())
    }

    /// An attribute of a line, as a number.
    fn of(line: &str, name: &str) -> f64 {
        line.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
    }

    /// The lines with elements of a class.
    fn lines<'t>(text: &'t str, class: &str) -> Vec<&'t str> {
        text.lines().filter(|l| l.contains(&format!("class=\"{class}\""))).collect()
    }

    #[test]
    fn bars_begin_at_the_level_and_missing_ones_are_marked() {
        let groups = vec![
            ("a<b".to_string(), vec![Some(10.0), None]),
            ("c".to_string(), vec![Some(0.1), Some(f64::NAN)]),
            group("d", &[1.0, 2.0]),
        ];
        let bars = Bars {
            title: "Speedup".into(),
            unit: "times".into(),
            series: vec!["one".into(), "two".into()],
            groups,
            ..Bars::default()
        };
        let text = svg(&bars);
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert_eq!(text.matches(">?<title>").count(), 2);
        assert_eq!(text.matches("not yet measured").count(), 2);
        assert!(text.contains("a&lt;b, one: 10.00") && !text.contains("NaN"));
        // from 0.1 to 10: the line of 1 is in the middle, ten reaches up to the top, a tenth down to the bottom
        let rects: Vec<(f64, f64)> = lines(&text, "b").iter().map(|l| (of(l, "y"), of(l, "height"))).collect();
        let one = TOP + H / 2.0;
        assert_eq!(rects[..3], [(TOP, H / 2.0), (one, H / 2.0), (one, 1.5)], "{text}");
        assert_eq!(rects[3].0 + rects[3].1, one);
        assert_eq!(of(lines(&text, "one")[0], "y1"), one);
        // another level: of a hundred percent, 10 hangs from it
        let percent = svg(&Bars { level: 100.0, absent: "none".into(), ..bars });
        let ten = lines(&percent, "b")[0].to_string();
        assert_eq!((of(&ten, "y"), of(lines(&percent, "one")[0], "y1")), (TOP, TOP));
        assert_eq!((percent.matches(">–<title>").count(), percent.matches(": none<").count()), (2, 2));
        assert!(svg(&Bars::default()).ends_with("</svg>\n"));
    }

    #[test]
    fn what_is_nothing_takes_no_room() {
        let alone = |at: usize| (0..3).map(|i| (i == at).then_some(2.0)).collect();
        let groups = (0..3).map(|at| (format!("group {at}"), alone(at))).collect();
        let series = ["one", "two", "three"].map(String::from).into();
        let bars = Bars { absent: String::new(), series, groups, ..Bars::default() };
        let text = svg(&bars);
        let at: Vec<f64> = lines(&text, "b").iter().map(|l| of(l, "x")).collect();
        assert_eq!(at.len(), 3, "{text}");
        assert!(at.windows(2).all(|w| w[1] - w[0] == BAR + GAP), "{at:?}");
        // each in its series' colour
        assert!(COLOURS[..3].iter().zip(lines(&text, "b")).all(|(c, l)| l.contains(c)), "{text}");
        assert!(!text.contains('–') && !text.contains(">?<"));
        let marked = svg(&Bars { absent: "none".into(), ..bars });
        let at: Vec<f64> = lines(&marked, "b").iter().map(|l| of(l, "x")).collect();
        assert_eq!(at[1] - at[0], 3.0 * BAR + GAP + BAR);
    }

    #[test]
    fn names_of_groups_do_not_meet() {
        let of_names = |names: &[&str]| {
            let groups = names.iter().map(|n| group(n, &[2.0])).collect();
            svg(&Bars { series: vec!["one".into()], groups, ..Bars::default() })
        };
        let short = of_names(&["fft", "dct"]);
        assert!(lines(&short, "m n").len() == 2 && lines(&short, "r n").is_empty());
        let name = "a name that is much wider than its group";
        let long = of_names(&[name, "dct"]);
        let turned = lines(&long, "r n");
        assert!(turned.len() == 2 && lines(&long, "m n").is_empty() && turned[0].contains("rotate(-40 "), "{long}");
        // turned, a name neither begins left of the picture nor ends below it; neighbours are a line apart
        let (side, down) = (TURN.to_radians().cos(), TURN.to_radians().sin());
        assert!(of(turned[0], "x") >= side * width(name, LETTERS), "{long}");
        assert!(of(&long, "height") >= of(turned[0], "y") + down * width(name, LETTERS), "{long}");
        assert!((of(turned[1], "x") - of(turned[0], "x")) * down > LETTERS);
    }

    #[test]
    fn titles_and_legends_have_the_room_that_they_need() {
        let title = "A title that is much longer than a picture of a single group would be wide";
        let text = svg(&Bars {
            title: title.into(),
            series: vec!["one".into()],
            groups: vec![group("a", &[1.0])],
            ..Bars::default()
        });
        assert!(of(&text, "width") >= of(lines(&text, "h")[0], "x") + width(title, TITLE));
        let series = ["FFTW, measured for a long time beforehand", "b", "FFTW, estimated", "last of all of them"];
        let text = svg(&Bars {
            series: series.map(String::from).into(),
            groups: vec![group("a", &[1.0; 4])],
            ..Bars::default()
        });
        let at: Vec<f64> = lines(&text, "l").iter().map(|l| of(l.split_once("<text").unwrap().1, "x")).collect();
        for (i, name) in series.iter().enumerate() {
            // the next one's square stands 15 before its name
            let end = at.get(i + 1).map_or(of(&text, "width"), |next| next - 15.0);
            assert!(at[i] + width(name, LETTERS) < end, "{name}: {at:?}");
        }
    }

    #[test]
    fn a_long_legend_has_several_lines() {
        let series: Vec<String> =
            (0..5).map(|i| format!("a processor with a name of many letters, number {i}")).collect();
        let of_all = |n: usize| {
            svg(&Bars { series: series[..n].into(), groups: vec![group("a", &[2.0; 5][..n])], ..Bars::default() })
        };
        let places = |text: &str| -> Vec<(f64, f64)> {
            let names = lines(text, "l").into_iter().map(|l| l.split_once("<text").unwrap().1);
            names.map(|l| (of(l, "x"), of(l, "y"))).collect()
        };
        let (one, all) = (of_all(1), of_all(5));
        let at = places(&all);
        assert!(of(&all, "width") <= LEGEND && at[4].1 > at[0].1, "{at:?}");
        for pair in at.windows(2) {
            let apart = pair[1].0 - pair[0].0;
            assert!(
                if pair[0].1 == pair[1].1 {
                    apart > width(&series[0], LETTERS)
                } else {
                    pair[1] == (at[0].0, pair[0].1 + LINE)
                },
                "{at:?}"
            );
        }
        // what is below has made room
        let down = at[4].1 - at[0].1;
        assert_eq!(of(lines(&all, "one")[0], "y1") - of(lines(&one, "one")[0], "y1"), down);
        assert_eq!(of(&all, "height") - of(&one, "height"), down);
    }

    #[test]
    fn ticks_are_around_all_values() {
        assert_eq!(ticks(0.45, 1.0), [0.2, 0.5, 1.0]);
        assert_eq!(ticks(1.0, 1.0), [1.0, 2.0]);
        assert_eq!(ticks(0.3, 4.0), [0.2, 0.5, 1.0, 2.0, 5.0]);
        assert_eq!(ticks(0.02, 470.0), [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks(7.0, 100.0), [5.0, 10.0, 20.0, 50.0, 100.0]);
    }
}
