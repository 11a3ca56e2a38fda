//! From text to tree. Parsing never gives up: there is always a tree, and what is wrong is told beside it.

use crate::ast::Program;
use crate::diagnostic::Diagnostic;
use crate::layout;
use crate::span::{FileId, Span};
use crate::stream;
use crate::token;
use crate::tree::State;

/// How many syntax errors are told for one file.
pub const MAX_ERRORS: usize = 50;

/// Parses one file.
pub fn parse(file: FileId, text: &str) -> (Program, Vec<Diagnostic>) {
    let lexed = token::lex_all(text);
    let mut diagnostics: Vec<Diagnostic> = lexed.faults.iter().map(|fault| fault.diagnostic(file, text)).collect();
    let tokens = layout::layout(file, text, &lexed.tokens, &mut diagnostics);
    let mut state = State::new(file, text, &tokens);
    let stream = tokens.iter().map(|token| Ok((token.start, token.token, token.end)));
    let items = stream::ProgramParser::new().parse(&mut state, stream).unwrap_or_default();
    diagnostics.append(&mut state.diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span().start, diagnostic.span().end));
    if diagnostics.len() > MAX_ERRORS {
        diagnostics.truncate(MAX_ERRORS);
        let end = Span::new(file, text.len(), text.len());
        diagnostics.push(Diagnostic::error("E0029", "too many syntax errors", end, "the rest is not shown"));
    }
    (Program { items }, diagnostics)
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
/// 8-bit characters in comments and strings can be read.
pub fn decode(bytes: &[u8]) -> (String, Encoding) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_string(), Encoding::Utf8),
        Err(_) => (bytes.iter().map(|byte| char::from(*byte)).collect(), Encoding::Latin1),
    }
}
