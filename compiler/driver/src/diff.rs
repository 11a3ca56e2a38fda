//! # diff
//!
//! Purpose: two texts as a unified diff. Input: a name and the texts; output: what `diff -u` writes, for `patch` and people; empty where the texts
//! are equal.
//!
//! Source: E. W. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1 (1986): the greedy algorithm of section 4, on
//! lines. Limit: beyond [`MOST`] differing lines the middle is given as removed and added as a whole.

use std::fmt::Write as _;
use std::ops::Range;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Differing lines that are looked for.
const MOST: usize = 2_000;

/// One stretch that differs: lines of the old text, and lines of the new.
type Change = (Range<usize>, Range<usize>);

/// The difference between two texts of a file.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let a: Vec<&str> = before.split_inclusive('\n').collect();
    let b: Vec<&str> = after.split_inclusive('\n').collect();
    let changes = changes(&a, &b);
    if changes.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {name}\n+++ {name}\n");
    let mut rest = &changes[..];
    while let Some(first) = rest.first() {
        // changes with few lines between them are shown together
        let close = rest.windows(2).take_while(|w| w[1].0.start - w[0].0.end <= 2 * CONTEXT).count();
        let (hunk, others) = rest.split_at(close + 1);
        rest = others;
        let last = &hunk[hunk.len() - 1];
        let before_it = first.0.start.min(CONTEXT);
        let behind_it = (a.len() - last.0.end).min(CONTEXT);
        let old = first.0.start - before_it..last.0.end + behind_it;
        let new = first.1.start - before_it..last.1.end + behind_it;
        let _ = writeln!(text, "@@ -{} +{} @@", range(&old), range(&new));
        let mut at = old.start;
        for (removed, added) in hunk {
            a[at..removed.start].iter().for_each(|l| line(&mut text, ' ', l));
            a[removed.clone()].iter().for_each(|l| line(&mut text, '-', l));
            b[added.clone()].iter().for_each(|l| line(&mut text, '+', l));
            at = removed.end;
        }
        a[at..old.end].iter().for_each(|l| line(&mut text, ' ', l));
    }
    text
}

fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        n => format!("{},{n}", lines.start + 1),
    }
}

fn line(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

fn changes(a: &[&str], b: &[&str]) -> Vec<Change> {
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    let Some(equal) = equal_lines(a, b) else { return vec![(start..start + a.len(), start..start + b.len())] };
    let mut out: Vec<Change> = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (i, j) in equal.into_iter().chain([(a.len(), b.len())]) {
        if x < i || y < j {
            out.push((start + x..start + i, start + y..start + j));
        }
        (x, y) = (i + 1, j + 1);
    }
    out
}

/// Pairs of equal lines, as many as there are in order; `None` where the texts differ too much.
fn equal_lines(a: &[&str], b: &[&str]) -> Option<Vec<(usize, usize)>> {
    let (n, m) = (a.len() as isize, b.len() as isize);
    let most = (a.len() + b.len()).min(MOST) as isize;
    // v[k + offset] is how far diagonal k = x - y has come
    let offset = most + 1;
    let mut v = vec![0isize; 2 * offset as usize + 1];
    let at = |k: isize| (k + offset) as usize;
    let mut trace: Vec<Vec<isize>> = Vec::new();
    for d in 0..=most {
        trace.push(v[at(-d)..=at(d)].to_vec());
        for k in (-d..=d).step_by(2) {
            let down = k == -d || k != d && v[at(k - 1)] < v[at(k + 1)];
            let mut x = if down { v[at(k + 1)] } else { v[at(k - 1)] + 1 };
            while x < n && x - k < m && a[x as usize] == b[(x - k) as usize] {
                x += 1;
            }
            v[at(k)] = x;
            if x >= n && x - k >= m {
                return Some(walk_back(&trace, d, n, m));
            }
        }
    }
    None
}

fn walk_back(trace: &[Vec<isize>], last: isize, n: isize, m: isize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (n, m);
    let mut equal = Vec::new();
    for d in (0..=last).rev() {
        let v = |k: isize| trace[d as usize].get((k + d) as usize).copied().unwrap_or(-1);
        let k = x - y;
        let down = k == -d || k != d && v(k - 1) < v(k + 1);
        let before = if down { k + 1 } else { k - 1 };
        let (from_x, from_y) = if d == 0 { (0, 0) } else { (v(before), v(before) - before) };
        let stop_x = if d == 0 {
            0
        } else if down {
            from_x
        } else {
            from_x + 1
        };
        while x > stop_x && y > 0 {
            (x, y) = (x - 1, y - 1);
            equal.push((x as usize, y as usize));
        }
        (x, y) = (from_x, from_y);
    }
    equal.reverse();
    equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_changed_with_its_surroundings() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let want = "--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified("a", before, after), want);
        assert_eq!(unified("a", before, before), "");
        assert_eq!(unified("a", "", "x\n"), "--- a\n+++ a\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(unified("a", "x", ""), "--- a\n+++ a\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n");
    }

    /// Applies a diff as `patch` would.
    fn patch(before: &str, diff: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut out, mut at) = (String::new(), 0);
        let mut open = String::new();
        for l in diff.split_inclusive('\n').skip(2) {
            if let Some(rest) = l.strip_prefix("@@ -") {
                let numbers = rest.split(' ').next().unwrap();
                let (start, len) = numbers.split_once(',').unwrap_or((numbers, "1"));
                let start = start.parse::<usize>().unwrap() - usize::from(len != "0");
                out.extend(old[at..start].iter().copied());
                at = start;
            } else if l.starts_with('\\') {
                open = out.pop().map(String::from).unwrap_or_default();
            } else {
                let (sign, text) = l.split_at(1);
                match sign {
                    "+" => out.push_str(text),
                    _ => {
                        assert_eq!(old[at].trim_end_matches('\n'), text.trim_end_matches('\n'));
                        out.push_str(if sign == " " { old[at] } else { "" });
                        at += 1;
                    }
                }
            }
        }
        out.extend(old[at..].iter().copied());
        let _ = open;
        out
    }

    #[test]
    fn a_diff_leads_from_one_text_to_the_other() {
        let mut seed = 1u64;
        let mut dice = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..2000 {
            let mut text = |n| (0..dice(n)).map(|_| format!("{}\n", dice(4))).collect::<String>();
            let (a, b) = (text(30), text(30));
            assert_eq!(patch(&a, &unified("x", &a, &b)), if a == b { a.clone() } else { b.clone() }, "{a:?} {b:?}");
        }
    }

    #[test]
    fn texts_that_have_nothing_in_common_take_no_time() {
        let a: String = (0..50_000).map(|i| format!("a{i}\n")).collect();
        let b: String = (0..50_000).map(|i| format!("b{i}\n")).collect();
        let d = unified("x", &a, &b);
        assert!(d.starts_with("--- x\n+++ x\n@@ -1,50000 +1,50000 @@\n-a0\n"));
    }
}
