//! # lines
//!
//! Purpose: how a text differs from the expected one, line by line. Input: two texts and a tolerance for numbers in them. Output: the
//! number of the first line that differs, and a difference for people: `-` lines were expected, `+` lines came.

use super::tolerance::Tolerance;

/// Equal lines shown around those that differ.
const CONTEXT: usize = 3;
/// Lines of a difference that are shown.
const MOST_SHOWN: usize = 40;
/// Texts that differ over more lines than this are not aligned, only compared from the first difference on.
const MOST_ALIGNED: usize = 1000;
/// Letters of a line that are shown.
const WIDEST: usize = 160;

/// How two texts differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineDifference {
    /// The first line that differs, from 1.
    pub first: u64,
    /// Expected lines that did not come.
    pub missing: u64,
    /// Lines that came and were not expected.
    pub unexpected: u64,
    /// For people.
    pub text: String,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Keep(usize, usize),
    Miss(usize),
    Extra(usize),
}

/// Lines with their ends, so that a missing last end is a difference, too.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Compares; nothing where the texts agree.
pub fn compare(expected: &[u8], got: &[u8], tolerance: &Tolerance) -> Option<LineDifference> {
    if expected == got {
        return None;
    }
    let (expected, got) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(got));
    let (a, b) = (lines(&expected), lines(&got));
    let same = |i: usize, j: usize| tolerance.texts_agree(a[i], b[j]);
    let start = (0..a.len().min(b.len())).take_while(|i| same(*i, *i)).count();
    let most = a.len().min(b.len()) - start;
    let end = (0..most).take_while(|i| same(a.len() - 1 - i, b.len() - 1 - i)).count();
    let (a_end, b_end) = (a.len() - end, b.len() - end);
    if start == a_end && start == b_end {
        return None;
    }
    let mut steps = aligned(start..a_end, start..b_end, &same);
    for i in (start.saturating_sub(CONTEXT)..start).rev() {
        steps.insert(0, Step::Keep(i, i));
    }
    steps.extend((0..end.min(CONTEXT)).map(|i| Step::Keep(a_end + i, b_end + i)));
    let count = |f: fn(&Step) -> bool| steps.iter().filter(|s| f(s)).count() as u64;
    Some(LineDifference {
        first: start as u64 + 1,
        missing: count(|s| matches!(s, Step::Miss(_))),
        unexpected: count(|s| matches!(s, Step::Extra(_))),
        text: draw(&steps, &a, &b),
    })
}

/// The longest common subsequence of two ranges of lines, as steps.
fn aligned(a: std::ops::Range<usize>, b: std::ops::Range<usize>, same: &dyn Fn(usize, usize) -> bool) -> Vec<Step> {
    let (n, m) = (a.len(), b.len());
    if n > MOST_ALIGNED || m > MOST_ALIGNED {
        // Lines in pairs, so that those that agree by chance shorten what is shown.
        let pairs = (0..n.max(m)).flat_map(|i| {
            let (x, y) = (a.start + i, b.start + i);
            match (i < n, i < m) {
                (true, true) if same(x, y) => vec![Step::Keep(x, y)],
                (true, true) => vec![Step::Miss(x), Step::Extra(y)],
                (true, false) => vec![Step::Miss(x)],
                _ => vec![Step::Extra(y)],
            }
        });
        return pairs.collect();
    }
    // length[i][j]: of what is common to a[i..] and b[j..]
    let width = m + 1;
    let mut length = vec![0u16; (n + 1) * width];
    let mut equal = vec![false; n * m];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            equal[i * m + j] = same(a.start + i, b.start + j);
            length[i * width + j] = match equal[i * m + j] {
                true => length[(i + 1) * width + j + 1] + 1,
                false => length[(i + 1) * width + j].max(length[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut steps) = (0, 0, Vec::new());
    while i < n || j < m {
        if i < n && j < m && equal[i * m + j] {
            steps.push(Step::Keep(a.start + i, b.start + j));
            (i, j) = (i + 1, j + 1);
        } else if j == m || i < n && length[(i + 1) * width + j] >= length[i * width + j + 1] {
            steps.push(Step::Miss(a.start + i));
            i += 1;
        } else {
            steps.push(Step::Extra(b.start + j));
            j += 1;
        }
    }
    steps
}

/// A line as it is shown: control characters visible, long ones cut around what matters.
fn clean(line: &str, from: usize) -> String {
    let body = line.strip_suffix('\n').unwrap_or(line);
    let mut shown = String::new();
    let all = body.chars().count();
    let start = if all > WIDEST { from.saturating_sub(WIDEST / 2).min(all - WIDEST) } else { 0 };
    if start > 0 {
        shown.push_str("...");
    }
    for c in body.chars().skip(start).take(WIDEST) {
        match c {
            '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    if start + WIDEST < all {
        shown.push_str("...");
    }
    if !line.ends_with('\n') {
        shown.push_str("  (no line end)");
    }
    shown
}

/// The steps as text; long runs of equal lines in the middle are left out.
fn draw(steps: &[Step], a: &[&str], b: &[&str]) -> String {
    let keep = |s: &Step| matches!(s, Step::Keep(..));
    let near = |i: usize| {
        let range = i.saturating_sub(CONTEXT)..(i + CONTEXT + 1).min(steps.len());
        steps[range].iter().any(|s| !keep(s))
    };
    // The line that takes an unexpected or a missing one's place, to cut both at the same letter.
    let partner = |i: usize| -> usize {
        let of = |s: &Step| match s {
            Step::Miss(x) => a[*x],
            Step::Keep(_, y) | Step::Extra(y) => b[*y],
        };
        let other = match steps[i] {
            Step::Miss(_) => steps[i..].iter().find(|s| !matches!(s, Step::Miss(_))),
            _ => steps[..i].iter().rev().find(|s| !matches!(s, Step::Extra(_))),
        };
        let common = |x: &str, y: &str| x.chars().zip(y.chars()).take_while(|(x, y)| x == y).count();
        other.map_or(0, |o| common(of(&steps[i]), of(o)))
    };
    let mut text = String::new();
    let (mut shown, mut skipped) = (0, false);
    for (i, step) in steps.iter().enumerate() {
        if shown >= MOST_SHOWN {
            let rest = steps[i..].iter().filter(|s| !keep(s)).count();
            if rest > 0 {
                text.push_str(&format!("... and {rest} more lines\n"));
            }
            break;
        }
        if keep(step) && !near(i) {
            if !skipped {
                text.push_str("...\n");
            }
            skipped = true;
            continue;
        }
        skipped = false;
        shown += 1;
        let line = match step {
            Step::Keep(_, y) => format!("{:>6}   {}", y + 1, clean(b[*y], 0)),
            Step::Miss(x) => format!("{:>6} - {}", x + 1, clean(a[*x], partner(i))),
            Step::Extra(y) => format!("{:>6} + {}", y + 1, clean(b[*y], partner(i))),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(expected: &str, got: &str) -> LineDifference {
        compare(expected.as_bytes(), got.as_bytes(), &Tolerance::default()).unwrap()
    }

    #[test]
    fn a_line_in_its_neighbourhood() {
        let expected: String = (1..=20).map(|i| format!("line {i}\n")).collect();
        let d = diff(&expected, &expected.replace("line 7\n", "line seven\n").replace("line 12\n", ""));
        assert_eq!((d.first, d.missing, d.unexpected), (7, 2, 1));
        assert_eq!(
            d.text,
            "     4   line 4\n     5   line 5\n     6   line 6\n     7 - line 7\n     7 + line seven\n     8   line 8\n     \
             9   line 9\n    10   line 10\n    11   line 11\n    12 - line 12\n    12   line 13\n    13   line 14\n    14   line 15\n"
        );
    }

    #[test]
    fn ends_and_control_characters() {
        assert_eq!(diff("a\n", "a").text, "     1 - a\n     1 + a  (no line end)\n");
        assert_eq!(diff("a\n", "a\r\n").text, "     1 - a\n     1 + a\\r\n");
        assert_eq!(diff("", "x\n").text, "     1 + x\n");
        assert_eq!(diff("x\n", "").text, "     1 - x\n");
        let long = "y".repeat(1000);
        let d = diff(&format!("{long}a\n"), &format!("{long}b\n"));
        assert!(d.text.len() < 400 && d.text.contains("ya\n") && d.text.contains("yb\n"), "{}", d.text);
    }

    #[test]
    fn long_texts_end() {
        let many = |word: &str| -> String { (0..100_000).map(|i| format!("{word}{i}\n")).collect() };
        let d = diff(&many("a"), &many("b"));
        assert_eq!((d.first, d.missing, d.unexpected), (1, 100_000, 100_000));
        assert!(d.text.lines().count() <= MOST_SHOWN + 1 && d.text.ends_with("more lines\n"), "{}", d.text);
    }

    #[test]
    fn numbers_may_be_close() {
        let close = Tolerance { relative: Some(0.01), ..Tolerance::default() };
        assert_eq!(compare(b"1.00\nx 2.00\n", b"1.001\nx 2.001\n", &close), None);
        let d = compare(b"1.00\nx 2.00\n3\n", b"1.001\nx 2.5\n3.01\n", &close).unwrap();
        assert_eq!(d.text, "     1   1.001\n     2 - x 2.00\n     2 + x 2.5\n     3   3.01\n");
    }
}
