//! # convert
//!
//! Purpose: places as the protocol counts them (lines and UTF-16 or UTF-8 units, from 0) to bytes and back. Nothing else knows of such places.
//! Input and output: a [`Text`] and positions or byte offsets. Every position has an offset and every offset a position: what lies behind the
//! end of a line or of the text counts as that end, what lies within a character as its beginning.

use sluice_grammar::span::Span;
use std::path::PathBuf;
use std::sync::Arc;
use tower_lsp::lsp_types::{Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent, Url};

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every client knows.
    #[default]
    Utf16,
}

impl Encoding {
    /// UTF-8 where the client knows it.
    pub fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        match offered.is_some_and(|o| o.contains(&PositionEncodingKind::UTF8)) {
            true => Encoding::Utf8,
            false => Encoding::Utf16,
        }
    }

    fn units(self, c: char) -> u32 {
        match self {
            Encoding::Utf8 => c.len_utf8() as u32,
            Encoding::Utf16 => c.len_utf16() as u32,
        }
    }

    /// As the protocol calls it.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }
    }
}

/// A text with its lines. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Text {
    text: Arc<str>,
    starts: Arc<[u32]>,
    /// Bytes and units up to a place, for every [`STEP`] bytes: lines may be as long as files.
    marks: Arc<[(u32, u32)]>,
    encoding: Encoding,
}

/// See [`Text`].
const STEP: usize = 1024;

impl Text {
    /// Finds the lines: they end with `\n`, `\r\n` or a single `\r`.
    pub fn new(text: impl Into<Arc<str>>, encoding: Encoding) -> Text {
        let text: Arc<str> = text.into();
        let bytes = text.as_bytes();
        let ends = |i: usize| bytes[i] == b'\n' || bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
        let starts = std::iter::once(0).chain((0..bytes.len()).filter(|i| ends(*i)).map(|i| i as u32 + 1)).collect();
        if text.is_ascii() {
            let marks = (0..text.len().max(1)).step_by(STEP).map(|i| (i as u32, i as u32)).collect();
            return Text { text, starts, marks, encoding };
        }
        let (mut marks, mut units) = (vec![(0, 0)], 0);
        for (i, c) in text.char_indices() {
            if i - marks[marks.len() - 1].0 as usize >= STEP {
                marks.push((i as u32, units));
            }
            units += encoding.units(c);
        }
        Text { text, starts, marks: marks.into(), encoding }
    }

    /// Units before a byte that begins a character.
    fn units(&self, offset: u32) -> u32 {
        let (at, units) = self.marks[self.marks.partition_point(|m| m.0 <= offset) - 1];
        units + self.width(&self.text[at as usize..offset as usize])
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What its columns count.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The text, shared.
    pub fn shared(&self) -> Arc<str> {
        self.text.clone()
    }

    /// Do both share one text?
    pub fn is_same(&self, other: &Text) -> bool {
        Arc::ptr_eq(&self.text, &other.text) || self.text == other.text
    }

    /// Bytes.
    pub fn len(&self) -> u32 {
        self.text.len() as u32
    }

    /// Nothing in it?
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The number, from 0, of the line that holds a byte.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|s| *s <= offset.min(self.len())) as u32 - 1
    }

    /// How many lines there are.
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Where a line begins, and where it ends without its line end.
    pub fn line_bounds(&self, line: u32) -> (u32, u32) {
        let line = (line as usize).min(self.starts.len() - 1);
        let start = self.starts[line];
        let end = self.starts.get(line + 1).map_or(self.len(), |s| *s);
        let kept = self.text[start as usize..end as usize].trim_end_matches(['\n', '\r']);
        (start, start + kept.len() as u32)
    }

    /// The byte of a position.
    pub fn offset(&self, at: Position) -> u32 {
        if at.line as usize >= self.starts.len() {
            return self.len();
        }
        let (start, end) = self.line_bounds(at.line);
        let wanted = self.units(start).saturating_add(at.character);
        let (from, mut units) = self.marks[self.marks.partition_point(|m| m.1 <= wanted) - 1];
        if from >= end {
            return end;
        }
        for (i, c) in self.text[from as usize..end as usize].char_indices() {
            units += self.encoding.units(c);
            if units > wanted {
                return from + i as u32;
            }
        }
        end
    }

    /// The position of a byte.
    pub fn position(&self, offset: u32) -> Position {
        let mut offset = offset.min(self.len()) as usize;
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line(offset as u32);
        Position { line, character: self.units(offset as u32) - self.units(self.starts[line as usize]) }
    }

    /// The range of a span.
    pub fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    /// All of it.
    pub fn whole(&self) -> Range {
        Range { start: Position::default(), end: self.position(self.len()) }
    }

    /// The bytes of a range, its ends in order.
    pub fn bytes(&self, range: Range) -> std::ops::Range<u32> {
        let (a, b) = (self.offset(range.start), self.offset(range.end));
        a.min(b)..a.max(b)
    }

    /// The length of a piece as the protocol counts.
    pub fn width(&self, piece: &str) -> u32 {
        piece.chars().map(|c| self.encoding.units(c)).sum()
    }

    /// The text after a change.
    pub fn changed(&self, change: &TextDocumentContentChangeEvent) -> Text {
        let Some(range) = change.range else { return Text::new(change.text.as_str(), self.encoding) };
        let bytes = self.bytes(range);
        let mut text = String::with_capacity(self.text.len() + change.text.len());
        text.push_str(&self.text[..bytes.start as usize]);
        text.push_str(&change.text);
        text.push_str(&self.text[bytes.end as usize..]);
        Text::new(text, self.encoding)
    }
}

/// The name by which a document is known inside: a path, or the whole URI where it is no file, and will be none when it is saved. `git:` and others have the path of a file whose text they do not have.
pub fn name(uri: &Url) -> String {
    match uri.to_file_path() {
        Ok(path) if matches!(uri.scheme(), "file" | "untitled") => path.display().to_string(),
        _ => uri.to_string(),
    }
}

/// The URI of a name.
pub fn uri(name: &str) -> Option<Url> {
    let path = PathBuf::from(name);
    if path.is_absolute() {
        return Url::from_file_path(path).ok();
    }
    Url::parse(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_units() {
        let text = "a𝄞b\r\nä\rc\n";
        let wide = Text::new(text, Encoding::Utf16);
        let bytes = Text::new(text, Encoding::Utf8);
        let at = |line, character| Position { line, character };
        assert_eq!(wide.offset(at(0, 3)), 5);
        assert_eq!(bytes.offset(at(0, 5)), 5);
        assert_eq!(wide.offset(at(0, 2)), 1, "within a character: its beginning");
        assert_eq!(wide.offset(at(0, 99)), 6, "behind the line: its end, before the line end");
        assert_eq!(wide.offset(at(9, 0)), text.len() as u32);
        assert_eq!(wide.position(8), at(1, 0));
        assert_eq!(wide.position(10), at(1, 1));
        assert_eq!(wide.position(11), at(2, 0), "a single carriage return ends a line");
        assert_eq!(wide.lines(), 4);
        let long = Text::new("aä𝄞".repeat(2000) + "\nb", Encoding::Utf16);
        assert_eq!(long.offset(at(0, 4 * 1500 + 2)), 7 * 1500 + 3);
        assert_eq!(long.position(7 * 1500 + 3), at(0, 4 * 1500 + 2));
        assert_eq!(long.position(7 * 2000 + 1), at(1, 0));
        assert_eq!(long.offset(at(0, u32::MAX)), 7 * 2000);
        for t in [&wide, &bytes, &long] {
            let text = t.as_str();
            for offset in (0..=text.len()).filter(|o| text.is_char_boundary(*o)) {
                let inside = t.line_bounds(t.line(offset as u32)).1 >= offset as u32;
                assert!(!inside || t.offset(t.position(offset as u32)) == offset as u32, "{offset}");
            }
        }
    }

    #[test]
    fn only_files_are_known_by_their_paths() {
        let of = |uri: &str| name(&Url::parse(uri).unwrap());
        assert_eq!(of("file:///a/b%2B%20c.str"), "/a/b+ c.str");
        assert_eq!(of("untitled:/a/b.str"), "/a/b.str");
        for other in ["git:/a/b.str?HEAD", "vscode-notebook-cell:/a/b.str#1", "untitled:One"] {
            assert_eq!(of(other), other);
        }
    }

    #[test]
    fn changes_are_made() {
        let text = Text::new("ab\nc𝄞d", Encoding::Utf16);
        let change = |a: (u32, u32), b: (u32, u32), text: &str| TextDocumentContentChangeEvent {
            range: Some(Range { start: Position::new(a.0, a.1), end: Position::new(b.0, b.1) }),
            range_length: None,
            text: text.into(),
        };
        assert_eq!(text.changed(&change((0, 1), (1, 3), "-")).as_str(), "a-d");
        assert_eq!(text.changed(&change((1, 3), (0, 1), "-")).as_str(), "a-d", "ends in the wrong order");
        assert_eq!(text.changed(&change((7, 0), (9, 9), "!")).as_str(), "ab\nc𝄞d!");
    }
}
