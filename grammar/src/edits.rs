//! Edits made: text in, changed text out.
//!
//! [`Edits`] holds edits of several files that can be made together. Two edits clash where they replace the same text, insert at the
//! same place, or one inserts within what the other replaces.

use crate::diagnostic::Edit;
use crate::span::{FileId, Span};
use std::collections::BTreeMap;

/// Edits that do not clash, by file, in the order of their places.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    files: BTreeMap<FileId, Vec<Edit>>,
}

impl Edits {
    /// Adds edits that belong together; false, and nothing is added, where one of them clashes with another or with those that are there.
    pub fn add(&mut self, edits: &[Edit]) -> bool {
        let clash = |e: &Edit, other: &Edit| e.span.file == other.span.file && clash(e.span, other.span);
        for (i, e) in edits.iter().enumerate() {
            let here = self.files.get(&e.span.file).map_or(&[][..], |f| f);
            if edits[..i].iter().chain(here).any(|other| clash(e, other)) {
                return false;
            }
        }
        for e in edits {
            let file = self.files.entry(e.span.file).or_default();
            let at = file.partition_point(|o| (o.span.start, o.span.end) < (e.span.start, e.span.end));
            file.insert(at, e.clone());
        }
        true
    }

    /// The files that change.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.files.keys().copied()
    }

    /// A file's text with its edits made; `None` where one does not fit the text.
    pub fn apply(&self, file: FileId, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for e in self.files.get(&file).into_iter().flatten() {
            out.push_str(text.get(done..e.span.start as usize)?);
            text.get(e.span.start as usize..e.span.end as usize)?;
            out.push_str(&e.text);
            done = e.span.end as usize;
        }
        out.push_str(text.get(done..)?);
        Some(out)
    }

    /// Where a byte of a file is after the edits; what was replaced is where its replacement begins.
    pub fn moved(&self, file: FileId, offset: u32) -> u32 {
        let mut by = 0i64;
        for e in self.files.get(&file).into_iter().flatten() {
            if e.span.end <= offset && e.span.start < offset {
                by += e.text.len() as i64 - i64::from(e.span.end - e.span.start);
            } else if e.span.start <= offset && e.span.end > offset {
                return (i64::from(e.span.start) + by) as u32;
            }
        }
        (i64::from(offset) + by) as u32
    }
}

fn clash(a: Span, b: Span) -> bool {
    let same_place = a.start == b.start && (a.start == a.end) == (b.start == b.end);
    same_place || a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span::new(FileId(0), start, end), text: text.into() }
    }

    #[test]
    fn edits_are_made_together() {
        let mut e = Edits::default();
        assert!(e.add(&[edit(4, 4, "("), edit(7, 7, ")")]));
        assert!(e.add(&[edit(0, 4, "")]));
        assert!(!e.add(&[edit(5, 8, "x")]), "inserts within");
        assert!(!e.add(&[edit(9, 9, "y"), edit(3, 5, "x")]), "overlaps; the first of them is not made either");
        assert!(!e.add(&[edit(4, 4, "[")]), "the same place");
        assert!(!e.add(&[edit(9, 10, "x"), edit(9, 11, "y")]), "each other");
        assert!(e.add(&[edit(7, 8, "-")]));
        assert_eq!(e.apply(FileId(0), "abc 1+2;d").unwrap(), "(1+2)-d");
        assert_eq!(e.apply(FileId(1), "abc").unwrap(), "abc");
        assert_eq!(e.apply(FileId(0), "abc"), None);
        assert_eq!(e.files().collect::<Vec<_>>(), [FileId(0)]);
    }

    #[test]
    fn places_move() {
        let mut e = Edits::default();
        assert!(e.add(&[edit(2, 4, "xyz"), edit(6, 6, "!")]));
        let moved: Vec<u32> = (0..9).map(|o| e.moved(FileId(0), o)).collect();
        assert_eq!(moved, [0, 1, 2, 2, 5, 6, 7, 9, 10]);
        assert_eq!(e.moved(FileId(3), 7), 7);
    }

    #[test]
    fn no_edit_splits_a_character() {
        let mut e = Edits::default();
        assert!(e.add(&[edit(1, 1, "x")]));
        assert_eq!(e.apply(FileId(0), "ä"), None);
    }
}
