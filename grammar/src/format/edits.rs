//! The difference between a text and its formatted form, as edits of whole lines.
//!
//! The pieces of both are the same but for those left out, so that the lines can be matched exactly: wherever both texts begin a
//! line with the same piece and all pieces before it are the same ones, both can be cut. What lies between two cuts and differs
//! is an edit.

use super::pieces::Piece;
use crate::diagnostic::Edit;
use crate::span::{FileId, Span};

/// The edits that make `new` of `source`, in which everything lies `shift` bytes further on. `order`: the pieces in the order in
/// which `new` has them.
pub(super) fn edits(file: FileId, shift: usize, source: &str, new: &str, order: &[u32], pieces: &[Piece]) -> Vec<Edit> {
    let mut cuts = Cuts { file, shift, source, new, old_at: 0, new_at: 0, edits: Vec::new() };
    let (mut at, mut highest, mut seen) = (0, None, 0);
    let mut in_order = order.to_vec();
    in_order.sort_unstable();
    for piece in order {
        let space = new[at..].len() - new[at..].trim_start().len();
        let line = new[at..at + space].rfind('\n').map(|end| at + end + 1);
        at += space;
        let old = &pieces[*piece as usize];
        // All that is above is above in both.
        let settled = highest.is_none_or(|highest| highest < *piece) && in_order.get(seen) == Some(piece);
        let begins_line = piece.checked_sub(1).is_none_or(|before| pieces[before as usize].end_line < old.line);
        if let (true, true, Some(line)) = (settled, begins_line, line)
            && let Some(end) = source[..old.start as usize].rfind('\n')
        {
            cuts.cut(end + 1, line);
        }
        at = behind(new, at, old.text);
        highest = highest.max(Some(*piece));
        seen += 1;
    }
    cuts.cut(source.len(), new.len());
    cuts.edits
}

/// The place behind a piece's text, which may have other space in it.
fn behind(new: &str, at: usize, piece: &str) -> usize {
    if new[at..].starts_with(piece) {
        return at + piece.len();
    }
    let mut wanted = piece.chars().filter(|c| !c.is_whitespace()).count();
    for (i, c) in new[at..].char_indices() {
        wanted -= usize::from(!c.is_whitespace());
        if wanted == 0 {
            return at + i + c.len_utf8();
        }
    }
    new.len()
}

struct Cuts<'t> {
    file: FileId,
    shift: usize,
    source: &'t str,
    new: &'t str,
    old_at: usize,
    new_at: usize,
    edits: Vec<Edit>,
}

impl Cuts<'_> {
    fn cut(&mut self, old: usize, new: usize) {
        let (old_text, new_text) = (&self.source[self.old_at..old], &self.new[self.new_at..new]);
        if old_text != new_text {
            let span = Span::new(self.file, self.old_at + self.shift, old + self.shift);
            self.edits.push(Edit { span, text: new_text.to_string() });
        }
        (self.old_at, self.new_at) = (old, new);
    }
}
