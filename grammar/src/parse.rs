//! From text to tree. Parsing never gives up: there is always a tree, and what is wrong is told beside it.

use crate::ast::Program;
use crate::diagnostic::{Diagnostic, Severity};
use crate::layout;
use crate::span::{FileId, Span};
use crate::stream;
use crate::token::{self, Spanned};
use crate::tree::State;
use std::ops::Range;

/// How many syntax errors are told for one file.
pub const MAX_ERRORS: usize = 50;

/// How many errors, told or not, are collected before reading stops. Bounds the time that a file takes that is no program.
pub(crate) const ENOUGH_ERRORS: usize = 1000;

/// The largest file. Places are counted in 32 bits.
pub const MAX_FILE_BYTES: usize = 1 << 30;

/// Parses one file. Gives a tree in any case, and diagnostics in the order of their places.
pub fn parse(file: FileId, text: &str) -> (Program, Vec<Diagnostic>) {
    let parsed = parse_with_tokens(file, text);
    (parsed.program, parsed.diagnostics)
}

/// A tree and what it was made of.
#[derive(Default)]
pub(crate) struct Parsed<'s> {
    pub program: Program,
    pub diagnostics: Vec<Diagnostic>,
    /// The tokens as the parser has seen them; those put in are empty.
    pub tokens: Vec<Spanned<'s>>,
    pub comments: Vec<Spanned<'s>>,
}

/// As [`parse`], with the tokens.
pub(crate) fn parse_with_tokens(file: FileId, text: &str) -> Parsed<'_> {
    if text.len() > MAX_FILE_BYTES {
        let title = format!("a source file may have {} MiB", MAX_FILE_BYTES >> 20);
        let start = Span::new(file, 0, 0);
        let diagnostics = vec![Diagnostic::error("E0022", title, start, "this file is larger")];
        return Parsed { diagnostics, ..Parsed::default() };
    }
    let mut parsed = parse_part(file, text, 0..text.len()).parsed;
    if parsed.diagnostics.len() > MAX_ERRORS {
        parsed.diagnostics.truncate(MAX_ERRORS);
        let end = Span::new(file, text.len(), text.len());
        let note = Diagnostic::error("E0029", "more syntax errors are not shown", end, "the file ends here");
        parsed.diagnostics.push(Diagnostic { severity: Severity::Note, ..note });
    }
    parsed
}

/// What a part of a text is, and whether nothing was open at its end.
pub(crate) struct Part<'s> {
    pub parsed: Parsed<'s>,
    pub closed: bool,
}

/// Parses a part of a text as if nothing stood before or behind it; places are those of the whole text. All diagnostics are told.
pub(crate) fn parse_part(file: FileId, text: &str, range: Range<usize>) -> Part<'_> {
    let mut lexed = token::lex_all(&text[range.clone()]);
    let from = range.start as u32;
    for token in lexed.tokens.iter_mut().chain(&mut lexed.comments) {
        (token.start, token.end) = (token.start + from, token.end + from);
    }
    for fault in &mut lexed.faults {
        (fault.start, fault.end) = (fault.start + range.start, fault.end + range.start);
    }
    let faults = lexed.faults.iter().take(ENOUGH_ERRORS);
    let mut diagnostics: Vec<Diagnostic> = faults.map(|fault| fault.diagnostic(file, text)).collect();
    let (tokens, closed) = layout::layout(file, text, range.end, &lexed.tokens, &mut diagnostics);
    let mut state = State::new(file, text, &tokens, &lexed.faults);
    let enough = state.enough.clone();
    let stream = tokens.iter().map_while(|token| (!enough.get()).then_some(Ok((token.start, token.token, token.end))));
    let items = stream::ProgramParser::new().parse(&mut state, stream);
    diagnostics.append(&mut state.diagnostics);
    if items.is_err() && diagnostics.is_empty() {
        // The grammar recovers from every error; should it not, the user must know nevertheless.
        let start = Span::new(file, 0, 0);
        diagnostics.push(Diagnostic::error("E0008", "this file cannot be read as a program", start, "it starts here"));
    }
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span().start, diagnostic.span().end));
    let program = Program { items: items.unwrap_or_default() };
    Part { parsed: Parsed { program, diagnostics, tokens, comments: lexed.comments }, closed }
}

/// The encoding in which a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or its subset ASCII.
    Utf8,
    /// Not UTF-8: each byte is taken as the character of that code point.
    Latin1,
}

/// Turns the bytes of a file into text: UTF-8 as it is, anything else byte by byte as Latin-1, so that old programs with
/// 8-bit characters in comments and strings can be read. A byte-order mark at the start stays one in both.
pub fn decode(bytes: &[u8]) -> (String, Encoding) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_string(), Encoding::Utf8),
        Err(_) => {
            let (mark, rest) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
                Some(rest) => ("\u{feff}", rest),
                None => ("", bytes),
            };
            (mark.chars().chain(rest.iter().map(|byte| char::from(*byte))).collect(), Encoding::Latin1)
        }
    }
}

/// The bytes of a text in the encoding in which [`decode`] found it; `None` if it has characters that Latin-1 lacks.
pub fn encode(text: &str, encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Utf8 => Some(text.as_bytes().to_vec()),
        Encoding::Latin1 => {
            let (mark, rest) = match text.strip_prefix('\u{feff}') {
                Some(rest) => (&b"\xef\xbb\xbf"[..], rest),
                None => (&[][..], text),
            };
            let bytes: Option<Vec<u8>> = rest.chars().map(|c| u8::try_from(c).ok()).collect();
            Some([mark, &bytes?].concat())
        }
    }
}
