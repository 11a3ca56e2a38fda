//! # compare
//!
//! Purpose: how the items that came differ from those that should have come. Input: two files of items and a tolerance. Output: a
//! [`ItemDifference`] with counts and the largest errors, and a table for people around the first difference.

use super::items::{self, Items};
use super::shape::{Kind, Shape};
use super::tolerance::{self, Tolerance};

/// Rows shown before the first difference, and from it on.
const BEFORE: usize = 2;
const AFTER: usize = 6;
/// Items with more parts than this are shown part by part.
const MOST_SHOWN: usize = 4;

/// A number, and where it is: the item counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Largest {
    /// The error.
    pub error: f64,
    /// The item, from 1.
    pub item: u64,
}

/// How two files of items differ.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemDifference {
    /// Items expected.
    pub expected: u64,
    /// Items that came.
    pub got: u64,
    /// Items, of those that both have, that differ.
    pub differing: u64,
    /// The first item that differs or is missing on one side, from 1.
    pub first: u64,
    /// The largest absolute error among finite numbers.
    pub absolute: Option<Largest>,
    /// The largest error in relation to the expected number, where that is not 0.
    pub relative: Option<Largest>,
    /// Pairs of which one is NaN or infinite, and the other is not the same.
    pub not_finite: u64,
}

/// The first part of an item that differs.
fn differs(expected: &Items, got: &Items, item: usize, tolerance: &Tolerance) -> Option<usize> {
    (0..expected.shape.parts()).find(|part| {
        let kind = expected.shape.kind(*part);
        !tolerance.agrees(kind, expected.get(item, *part), got.get(item, *part))
    })
}

/// Compares; nothing where all items agree.
pub fn compare(expected: &Items, got: &Items, tolerance: &Tolerance) -> Option<ItemDifference> {
    let common = expected.count.min(got.count);
    let mut found = ItemDifference {
        expected: expected.count as u64,
        got: got.count as u64,
        differing: 0,
        first: 0,
        absolute: None,
        relative: None,
        not_finite: 0,
    };
    for item in 0..common {
        if differs(expected, got, item, tolerance).is_none() {
            continue;
        }
        found.differing += 1;
        let number = item as u64 + 1;
        if found.first == 0 {
            found.first = number;
        }
        for part in 0..expected.shape.parts() {
            let (e, g) = (expected.get(item, part), got.get(item, part));
            if !e.is_finite() || !g.is_finite() {
                found.not_finite += u64::from(!tolerance.agrees(expected.shape.kind(part), e, g));
                continue;
            }
            let error = (e - g).abs();
            let raise = |largest: &mut Option<Largest>, error: f64| {
                if largest.is_none_or(|l| error > l.error) {
                    *largest = Some(Largest { error, item: number });
                }
            };
            raise(&mut found.absolute, error);
            if e != 0.0 {
                raise(&mut found.relative, error / e.abs());
            }
        }
    }
    if found.first == 0 && expected.count != got.count {
        found.first = common as u64 + 1;
    }
    (found.first > 0).then_some(found)
}

/// A number with as many digits as tell enough.
fn short(x: f64) -> String {
    match x {
        x if x == x.trunc() && x.abs() < 1e9 => format!("{x}"),
        x if (1e-3..1e6).contains(&x.abs()) => format!("{x:.6}").trim_end_matches('0').to_string(),
        x => format!("{x:.3e}"),
    }
}

/// An item, or the part of it that a row shows.
fn cell(items: &Items, item: usize, part: Option<usize>) -> String {
    if item >= items.count {
        return "-".into();
    }
    match (part, items.shape.parts()) {
        (Some(part), _) => items.show(item, part),
        (None, 1) => items.show(item, 0),
        (None, n) => {
            let all: Vec<String> = (0..n).map(|p| items.show(item, p)).collect();
            let (open, close) = if items.shape == Shape::Complex { ("(", ")") } else { ("{", "}") };
            format!("{open}{}{close}", all.join(", "))
        }
    }
}

/// How far apart the numbers of a row are.
fn off(expected: &Items, got: &Items, item: usize, part: usize) -> String {
    let kind = expected.shape.kind(part);
    let (e, g) = (expected.get(item, part), got.get(item, part));
    if !e.is_finite() || !g.is_finite() || matches!(kind, Kind::Bit | Kind::Boolean | Kind::Byte) {
        return String::new();
    }
    let mut text = format!("off by {}", short((e - g).abs()));
    if kind.is_real() {
        let steps = tolerance::ulps(kind, e, g);
        if steps > 0 && steps < 10_000 {
            text.push_str(&format!(", {steps} ulp{}", if steps == 1 { "" } else { "s" }));
        }
        if e == 0.0 && g == 0.0 {
            text = "another zero".into();
        }
    }
    text
}

/// `1 item`, `2 items`.
pub fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl ItemDifference {
    /// What differs, on one line.
    pub fn line(&self) -> String {
        let common = self.expected.min(self.got);
        let mut parts = Vec::new();
        if self.differing > 0 {
            let verb = if self.differing == 1 { "differs" } else { "differ" };
            parts.push(format!("{} of {} {verb}", self.differing, count(common, "item")));
        }
        if self.expected != self.got {
            parts.push(format!("{} expected, {} came", count(self.expected, "item"), self.got));
        }
        parts.join("; ")
    }

    /// The largest errors, on one line; nothing where there are none.
    pub fn errors(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(l) = self.absolute.filter(|l| l.error > 0.0) {
            parts.push(format!("largest error {} (item {})", short(l.error), l.item));
        }
        if let Some(l) = self.relative.filter(|l| l.error > 0.0) {
            parts.push(format!("largest relative error {} (item {})", short(l.error), l.item));
        }
        if self.not_finite > 0 {
            parts.push(format!("{} NaN or infinite on one side", count(self.not_finite, "number")));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// A table of the items around the first difference. `names` head the two columns.
    pub fn table(&self, expected: &Items, got: &Items, tolerance: &Tolerance, names: [&str; 2]) -> String {
        let parts = expected.shape.parts();
        let longest = expected.count.max(got.count);
        let common = expected.count.min(got.count);
        let first = self.first as usize - 1;
        // Rows: whole items, or the parts of large ones.
        let single = parts > MOST_SHOWN;
        let per_item = if single { parts } else { 1 };
        let at = first * per_item
            + if single && first < common { differs(expected, got, first, tolerance).unwrap_or(0) } else { 0 };
        let mut rows = vec![[String::new(), "item".into(), names[0].into(), names[1].into(), String::new()]];
        for row in at.saturating_sub(BEFORE)..(at + AFTER).min(longest * per_item) {
            let (item, part) = (row / per_item, single.then_some(row % per_item));
            let wrong = match part {
                _ if item >= common => Some(part.unwrap_or(0)),
                Some(p) => {
                    let (e, g) = (expected.get(item, p), got.get(item, p));
                    (!tolerance.agrees(expected.shape.kind(p), e, g)).then_some(p)
                }
                None => differs(expected, got, item, tolerance),
            };
            let note = match wrong {
                Some(p) if item < common => off(expected, got, item, p),
                _ => String::new(),
            };
            let name = part.map_or_else(String::new, |p| expected.shape.name(p));
            rows.push([
                if wrong.is_some() { ">".into() } else { String::new() },
                format!("{}{name}", item + 1),
                cell(expected, item, part),
                cell(got, item, part),
                note,
            ]);
        }
        let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
        let widths = [1, width(1), width(2), width(3)];
        let mut text = String::new();
        for row in &rows {
            let mut line = format!("{:1}", row[0]);
            for i in 1..4 {
                line.push_str(&format!("  {}{}", " ".repeat(widths[i] - row[i].chars().count()), row[i]));
            }
            line.push_str(&format!("   {}", row[4]));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// The value of the first part that differs, on both sides, for tools.
pub fn first_values(d: &ItemDifference, expected: &Items, got: &Items, tolerance: &Tolerance) -> [Option<String>; 2] {
    let item = d.first as usize - 1;
    let part = if item < expected.count.min(got.count) { differs(expected, got, item, tolerance) } else { None };
    [expected, got].map(|side| {
        (item < side.count).then(|| {
            let part = part.unwrap_or(0);
            items::show(side.shape.kind(part), side.get(item, part))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::format::Format;

    fn items(text: &str, shape: &Shape) -> Items {
        Items::of("x", text.as_bytes().to_vec(), Format::Text, shape).unwrap()
    }

    fn shown(expected: &str, got: &str, shape: Shape, tolerance: Tolerance) -> String {
        let (e, g) = (items(expected, &shape), items(got, &shape));
        let Some(d) = compare(&e, &g, &tolerance) else { return "equal".into() };
        let errors = d.errors().unwrap_or_default();
        format!("{}\n{errors}\n{}", d.line(), d.table(&e, &g, &tolerance, ["expected", "got"]))
    }

    #[test]
    fn neighbours_are_shown() {
        let float = Shape::Plain(Kind::Float, 1);
        let (expected, got) = ("1 2 3 4 5 6 7 8 9 10 11 12", "1 2 3 4 5.5 6 7 7.5 9 10 11 12");
        let lines = [
            "2 of 12 items differ",
            "largest error 0.5 (item 5), largest relative error 0.1 (item 5)",
            "   item  expected   got",
            "      3       3.0   3.0",
            "      4       4.0   4.0",
            ">     5       5.0   5.5   off by 0.5",
            "      6       6.0   6.0",
            "      7       7.0   7.0",
            ">     8       8.0   7.5   off by 0.5",
            "      9       9.0   9.0",
            "     10      10.0  10.0",
            "",
        ];
        assert_eq!(shown(expected, got, float.clone(), Tolerance::default()), lines.join("\n"));
        let half = Tolerance { absolute: Some(0.5), ..Tolerance::default() };
        assert_eq!(shown("1 2 3", "1.5 2 2.5", float.clone(), half), "equal");
        assert_eq!(shown("", "", float.clone(), half), "equal");
        let text = shown("1 2", "1 2 3", float.clone(), half);
        assert!(
            text.starts_with("2 items expected, 3 came\n\n") && text.contains(">     3         -  3.0\n"),
            "{text}"
        );
        let text = shown("NaN 0", "1 -0", float, Tolerance::default());
        assert!(text.contains("1 number NaN or infinite on one side") && text.contains("another zero"), "{text}");
    }

    #[test]
    fn items_of_several_numbers() {
        let text = shown("1 2 3 4", "1 2 3 5", Shape::Complex, Tolerance::default());
        assert!(text.contains(">     2  (3.0, 4.0)  (3.0, 5.0)   off by 1\n"), "{text}");
        let wide: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let mut other = wide.clone();
        other[17] = "99".into();
        let text = shown(&wide.join(" "), &other.join(" "), Shape::Plain(Kind::Int, 10), Tolerance::default());
        assert!(
            text.contains("1 of 2 items differs") && text.contains(">  2[7]        17   99   off by 82\n"),
            "{text}"
        );
        assert!(text.contains("   2[5]        15   15\n") && !text.contains("2[4]"), "{text}");
    }
}
