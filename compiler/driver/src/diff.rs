//! # diff
//!
//! Purpose: edits of whole lines as a unified diff, as `diff -u` and version control write it.
//! Input: a text and edits of it, in order; output: text. Three lines around each change.

use sluice_grammar::diagnostic::Edit;
use std::fmt::Write;

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// Lines `old..old + removed` of the old text become `added`.
struct Change<'t> {
    old: usize,
    removed: usize,
    added: Vec<&'t str>,
}

/// The diff, with `old_name` and `new_name` in its head; empty without edits.
pub fn unified(old_name: &str, new_name: &str, text: &str, edits: &[Edit]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let changes = changes(&lines, edits);
    let mut out = String::new();
    if !changes.is_empty() {
        let _ = writeln!(out, "--- {old_name}\n+++ {new_name}");
    }
    // How far the new lines are ahead of the old ones.
    let mut shift = 0isize;
    for hunk in changes.chunk_by(|a, b| b.old - (a.old + a.removed) <= 2 * CONTEXT) {
        let (first, last) = (&hunk[0], &hunk[hunk.len() - 1]);
        let start = first.old.saturating_sub(CONTEXT);
        let end = (last.old + last.removed + CONTEXT).min(lines.len());
        let grown: isize = hunk.iter().map(|change| change.added.len() as isize - change.removed as isize).sum();
        let (old_count, new_start) = (end - start, start.saturating_add_signed(shift));
        let new_count = old_count.saturating_add_signed(grown);
        let _ = writeln!(out, "@@ -{} +{} @@", range(start, old_count), range(new_start, new_count));
        let mut at = start;
        for change in hunk {
            lines[at..change.old].iter().for_each(|line| put(&mut out, ' ', line));
            at = change.old + change.removed;
            lines[change.old..at].iter().for_each(|line| put(&mut out, '-', line));
            change.added.iter().for_each(|line| put(&mut out, '+', line));
        }
        lines[at..end].iter().for_each(|line| put(&mut out, ' ', line));
        shift += grown;
    }
    out
}

/// The edits in lines, without those at their ends that stay the same.
fn changes<'t>(lines: &[&'t str], edits: &'t [Edit]) -> Vec<Change<'t>> {
    let mut out = Vec::with_capacity(edits.len());
    let (mut line, mut at) = (0, 0);
    for edit in edits {
        while at < edit.span.start as usize && line < lines.len() {
            at += lines[line].len();
            line += 1;
        }
        let mut old = line;
        while at < edit.span.end as usize && line < lines.len() {
            at += lines[line].len();
            line += 1;
        }
        let mut removed = &lines[old..line];
        let mut added: Vec<&str> = edit.text.split_inclusive('\n').collect();
        let same = removed.iter().zip(&added).take_while(|(a, b)| a == b).count();
        (old, removed) = (old + same, &removed[same..]);
        added.drain(..same);
        let same = removed.iter().rev().zip(added.iter().rev()).take_while(|(a, b)| a == b).count();
        added.truncate(added.len() - same);
        let removed = removed.len() - same;
        if removed > 0 || !added.is_empty() {
            out.push(Change { old, removed, added });
        }
    }
    out
}

/// A range of lines, counted from 1; an empty one counts from the line before it.
fn range(start: usize, count: usize) -> String {
    match count {
        1 => format!("{}", start + 1),
        0 => format!("{start},0"),
        _ => format!("{},{count}", start + 1),
    }
}

fn put(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::unified;
    use sluice_grammar::diagnostic::Edit;
    use sluice_grammar::span::{FileId, Span};

    fn edit(text: &str, from: &str, to: &str) -> Edit {
        let start = text.find(from).unwrap();
        Edit { span: Span::new(FileId(0), start, start + from.len()), text: to.into() }
    }

    #[test]
    fn hunks_with_context() {
        let text: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        let edits = [
            edit(&text, "line 2\n", "line two\n"),
            edit(&text, "line 10\nline 11\nline 12\n", "line 10\nline 12\n"),
            edit(&text, "line 29\n", "line 29\nline 29a\n"),
        ];
        let want = "--- a\n+++ b\n@@ -1,5 +1,5 @@\n line 1\n-line 2\n+line two\n line 3\n line 4\n line 5\n\
                    @@ -8,7 +8,6 @@\n line 8\n line 9\n line 10\n-line 11\n line 12\n line 13\n line 14\n\
                    @@ -27,4 +26,5 @@\n line 27\n line 28\n line 29\n+line 29a\n line 30\n";
        assert_eq!(unified("a", "b", &text, &edits), want);
        assert_eq!(unified("a", "b", &text, &[]), "");
    }

    #[test]
    fn ends_of_files() {
        let all = |from: &str, to: &str| {
            let edit = Edit { span: Span::new(FileId(0), 0, from.len()), text: to.into() };
            unified("a", "b", from, &[edit])
        };
        assert_eq!(all("x", "x\n"), "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
        assert_eq!(all("\n\n", ""), "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-\n-\n");
        assert_eq!(all("", "y\n"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+y\n");
    }
}
