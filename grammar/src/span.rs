//! Places in source text: files, byte spans, and the map that turns them into lines and columns.

use std::sync::Arc;

/// A source file of one compilation; an index into a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A half-open range of bytes `[start, end)` in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `file` from byte `start` to byte `end`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that holds both; `other` in a different file is ignored.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Does the span hold byte `offset` (its end included, as an editor's cursor counts)?
    pub fn touches(self, offset: u32) -> bool {
        self.start <= offset && offset <= self.end
    }
}

/// One source file: its name as the user wrote it, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown in messages (a path, or a name such as `<stdlib>/fir.str`).
    pub name: String,
    /// The text, as [`crate::decode`] makes it of the file's bytes.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

/// A line and a column, both counted from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineCol {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// All the files of one compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file and gives its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
        self.files.push(SourceFile { name: name.into(), text, line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file behind an id. Panics on an id of another map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Is the map empty?
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Line and column of a byte offset; offsets past the end count as the end.
    pub fn line_col(&self, file: FileId, offset: u32) -> LineCol {
        let f = self.file(file);
        let offset = (offset as usize).min(f.text.len());
        let line = f.line_starts.partition_point(|s| *s as usize <= offset) - 1;
        let start = f.line_starts[line] as usize;
        let mut end = offset;
        while !f.text.is_char_boundary(end) {
            end -= 1;
        }
        LineCol { line: line as u32 + 1, column: f.text[start..end.max(start)].chars().count() as u32 + 1 }
    }

    /// `name:line:column` of a span's start.
    pub fn describe(&self, span: Span) -> String {
        if self.files.is_empty() {
            return "?".to_string();
        }
        let at = self.line_col(span.file, span.start);
        format!("{}:{}:{}", self.file(span.file).name, at.line, at.column)
    }

    /// The text under a span; empty where the span does not fit its file.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}
