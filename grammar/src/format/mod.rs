//! From text to the same text in one canonical style: what `sluice fmt` does.
//!
//! Takes the text of a file without syntax errors; gives a text with the same tree, the same comments in the same order, literals
//! and parentheses as written. Formatting what has been formatted changes nothing. Only space is changed, but for semicolons and
//! commas that mean nothing: behind anonymous streams and declarations, between rates, behind the last item of an array on one
//! line. docs/fmt.md says what the style is.
//!
//! The tree says what the tokens mean; the tokens themselves are taken from the text ([`pieces`]), with the comments between
//! them. A walk over the tree ([`item`], [`stmt`], [`expr`], [`table`]) lays them down in a [`document`] of pieces and possible
//! breaks ([`writer`], [`placing`]), which is then rendered ([`render`]). At the end the result is parsed and compared, so that a fault here
//! cannot spoil a program: it is [`Refusal::Changed`]. The result is laid out in turn, to see that nothing changes; should it,
//! that is the result, and so on for a few times ([`Formatted::passes`]: the tests want one).
//!
//! So what the walk asks of the text (what stands on one line, ends a line, stands off) must have the same answer in the result.
//!
//! Whether something was on one line or several decides where the reader would have an opinion: bodies in braces, the
//! statement behind an `if` or loop, rows of array literals. Expressions and lists are broken by their width alone.

mod ahead;
mod body;
mod comment;
mod document;
mod edits;
mod expr;
mod item;
mod orders;
mod pieces;
mod placing;
mod render;
mod stmt;
mod table;
mod writer;

use crate::ast::Program;
use crate::diagnostic::{Diagnostic, Edit};
use crate::parse::{Parsed, parse_with_tokens};
use crate::span::FileId;
use crate::token::Spanned;
use pieces::Piece;
use std::ops::Range;

/// A text that is not formatted.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// It has syntax errors: what they are.
    Syntax(Vec<Diagnostic>),
    /// A fault of the formatter: the result would not be the same program. Says where (a byte) and what.
    Changed(u32, &'static str),
}

/// What formatting makes of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Formatted {
    /// The whole text.
    pub text: String,
    /// The edits that make it of the old one: whole lines, in order, each of which leaves a program with the same tree
    /// when it is made alone.
    pub edits: Vec<Edit>,
    /// How often the text was laid out until that changed nothing: once. More often, 4 times at most, by a fault of the formatter.
    pub passes: u32,
}

/// See [`Formatted::passes`].
const MOST_PASSES: u32 = 4;

/// Formats a file. The line ends (`\n` or `\r\n`, whichever there are more of) and a byte-order mark stay.
pub fn format(file: FileId, text: &str) -> Result<Formatted, Refusal> {
    let source = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_with_tokens(file, source);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        // Places count from the mark.
        return Err(Refusal::Syntax(crate::parse(file, text).1));
    }
    let pieces = pieces::pieces(source, &parsed.tokens, &parsed.comments);
    let Layout { text: mut new, mut order } = lay_out(source, &parsed.program, pieces.clone())?;
    let mut passes = 1;
    while let Some(again) = next_pass(&parsed, &new)?.filter(|_| passes < MOST_PASSES) {
        order = again.order.iter().filter_map(|piece| order.get(*piece as usize).copied()).collect();
        new = again.text;
        passes += 1;
    }
    let mark = &text[..text.len() - source.len()];
    let edits = edits::edits(file, mark.len(), source, &new, &order, &pieces);
    Ok(Formatted { text: format!("{mark}{new}"), edits, passes })
}

/// A text laid out, and the order in which it has the pieces of the old one.
struct Layout {
    text: String,
    order: Vec<u32>,
}

/// Lays out a program, once.
fn lay_out(source: &str, program: &Program, pieces: Vec<Piece>) -> Result<Layout, Refusal> {
    let mut writer = writer::Writer::new(source, pieces);
    writer.program(program);
    if let Some(place) = writer.lost.or(writer.next_piece().map(|piece| writer.pieces[piece as usize].start)) {
        return Err(Refusal::Changed(place, "it lost its way through the text"));
    }
    let line_end = if has_crlf(source) { "\r\n" } else { "\n" };
    let rendered = writer.document.render(&writer.pieces, line_end);
    let text = comment::align(rendered, source, &writer.pieces);
    Ok(Layout { text, order: writer.document.pieces() })
}

/// What becomes of a text that was laid out when it is once more, if that changes it. It must be the old program.
fn next_pass(old: &Parsed, text: &str) -> Result<Option<Layout>, Refusal> {
    let new = parse_with_tokens(FileId(0), text);
    if let Some(what) = difference(old, &new) {
        return Err(Refusal::Changed(0, what));
    }
    let again = lay_out(text, &new.program, pieces::pieces(text, &new.tokens, &new.comments))?;
    Ok(Some(again).filter(|again| again.text != text))
}

/// The edits that format the lines that a range of bytes touches, in order.
pub fn format_range(file: FileId, text: &str, range: Range<usize>) -> Result<Vec<Edit>, Refusal> {
    let mut edits = format(file, text)?.edits;
    edits.retain(|edit| edit.span.start as usize <= range.end && range.start <= edit.span.end as usize);
    Ok(edits)
}

/// Are there more line ends of two characters than of one?
fn has_crlf(text: &str) -> bool {
    let both = text.matches("\r\n").count();
    both * 2 > text.bytes().filter(|byte| *byte == b'\n').count()
}

/// What is not the same in the new text.
fn difference(old: &Parsed, new: &Parsed) -> Option<&'static str> {
    if new.diagnostics.iter().any(Diagnostic::is_error) {
        return Some("the result would have syntax errors");
    }
    if new.program != old.program {
        return Some("the result would be another program");
    }
    let essence = |comments: &[Spanned]| -> Vec<String> {
        comments.iter().map(|c| comment::essence(c.token.spelling()).collect::<Vec<_>>().join("\n")).collect()
    };
    (essence(&new.comments) != essence(&old.comments)).then_some("the result would have other comments")
}
