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
        for (i, e) in edits.iter().enumerate() {
            let file = self.files.entry(e.span.file).or_default();
            let at = position(file, e);
            // those that are there do not overlap, so that only neighbours can clash: an insertion and a replacement on each side
            let near = &file[at.saturating_sub(2)..(at + 2).min(file.len())];
            if near.iter().any(|other| clash(e.span, other.span)) {
                for e in &edits[..i] {
                    let file = self.files.entry(e.span.file).or_default();
                    file.remove(position(file, e));
                }
                self.files.retain(|_, file| !file.is_empty());
                return false;
            }
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

    /// Where places are after the edits.
    pub fn moves(&self) -> Moves {
        let of = |edits: &Vec<Edit>| {
            let mut by = 0;
            let mut before = |e: &Edit| {
                let here = by;
                by += e.text.len() as i64 - i64::from(e.span.end - e.span.start);
                (e.span.start, e.span.end, here, by)
            };
            edits.iter().map(&mut before).collect()
        };
        Moves { files: self.files.iter().map(|(file, edits)| (*file, of(edits))).collect() }
    }
}

/// Where places are after some [`Edits`].
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// Of each edit: start, end, and by how much what is before it and what is behind it moves.
    files: BTreeMap<FileId, Vec<(u32, u32, i64, i64)>>,
}

impl Moves {
    /// Where a byte of a file is after the edits; what was replaced is where its replacement begins.
    pub fn moved(&self, file: FileId, offset: u32) -> u32 {
        let edits = self.files.get(&file).map_or(&[][..], |f| f);
        let Some(last) = edits.partition_point(|e| e.0 < offset).checked_sub(1) else { return offset };
        let (start, end, before, behind) = edits[last];
        match end > offset {
            true => (i64::from(start) + before) as u32,
            false => (i64::from(offset) + behind) as u32,
        }
    }
}

fn position(file: &[Edit], e: &Edit) -> usize {
    file.partition_point(|o| (o.span.start, o.span.end) < (e.span.start, e.span.end))
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
        let moves = e.moves();
        let moved: Vec<u32> = (0..9).map(|o| moves.moved(FileId(0), o)).collect();
        assert_eq!(moved, [0, 1, 2, 2, 5, 6, 7, 9, 10]);
        assert_eq!(moves.moved(FileId(3), 7), 7);
    }

    #[test]
    fn many_edits_take_no_time() {
        let mut e = Edits::default();
        for i in 0..200_000 {
            assert!(e.add(&[edit(2 * i, 2 * i, "ab"), edit(2 * i, 2 * i + 1, "")]));
            assert!(!e.add(&[edit(2 * i + 1, 2 * i + 2, "x"), edit(2 * i, 2 * i + 1, "y")]));
        }
        let moves = e.moves();
        assert_eq!(moves.moved(FileId(0), 399_999), 399_999 + 200_000);
    }

    #[test]
    fn no_edit_splits_a_character() {
        let mut e = Edits::default();
        assert!(e.add(&[edit(1, 1, "x")]));
        assert_eq!(e.apply(FileId(0), "ä"), None);
    }
}
