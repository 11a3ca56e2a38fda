//! What a text is made of: its tokens and comments, in order, each with the lines on which it begins and ends.

use super::comment::column;
use crate::token::{Spanned, Token};

/// A token or a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'s> {
    /// As written; of a comment without space at its end.
    pub text: &'s str,
    pub token: Token<'s>,
    /// Where it begins and ends, in bytes.
    pub start: u32,
    pub end: u32,
    /// The lines on which it begins and ends.
    pub line: u32,
    pub end_line: u32,
    /// Columns, if it is on one line.
    pub width: u32,
    /// If it is on several lines: the column at which it begins.
    pub column: u32,
}

impl Piece<'_> {
    pub fn is_comment(&self) -> bool {
        matches!(self.token, Token::LineComment(_) | Token::BlockComment(_))
    }

    pub fn is_line_comment(&self) -> bool {
        matches!(self.token, Token::LineComment(_))
    }
}

/// Joins tokens and comments. Tokens that are not in the text are left out.
pub(super) fn pieces<'s>(text: &'s str, tokens: &[Spanned<'s>], comments: &[Spanned<'s>]) -> Vec<Piece<'s>> {
    let mut out: Vec<Piece> = Vec::with_capacity(tokens.len() + comments.len());
    let mut tokens = tokens.iter().filter(|token| token.start < token.end).peekable();
    let mut comments = comments.iter().peekable();
    let mut place = Place { text, at: 0, line: 0, line_start: 0 };
    loop {
        let comment_first = match (tokens.peek(), comments.peek()) {
            (Some(token), Some(comment)) => comment.start < token.start,
            (token, _) => token.is_none(),
        };
        let Some(next) = (if comment_first { comments.next() } else { tokens.next() }) else { return out };
        let mut source = &text[next.start as usize..next.end as usize];
        if comment_first {
            source = source.trim_end();
        }
        place.advance(next.start);
        let (line, line_start) = (place.line, place.line_start);
        if comment_first || source.contains('\n') {
            place.advance(next.start + source.len() as u32);
        }
        let several = place.line > line;
        let column = if several { column(&text[line_start as usize..next.start as usize]) } else { 0 };
        out.push(Piece {
            text: source,
            token: next.token,
            start: next.start,
            end: next.end,
            line,
            end_line: place.line,
            width: columns(source),
            column,
        });
    }
}

/// Columns of a text on one line.
fn columns(text: &str) -> u32 {
    if text.is_ascii() { text.len() as u32 } else { text.chars().count() as u32 }
}

/// A place that moves forward through a text and counts lines.
struct Place<'s> {
    text: &'s str,
    at: u32,
    line: u32,
    line_start: u32,
}

impl Place<'_> {
    fn advance(&mut self, to: u32) {
        for (i, byte) in self.text.as_bytes()[self.at as usize..to as usize].iter().enumerate() {
            if *byte == b'\n' {
                self.line += 1;
                self.line_start = self.at + i as u32 + 1;
            }
        }
        self.at = to;
    }
}

/// For each piece that opens a bracket, the piece that closes it; for all others 0.
pub(super) fn partners(pieces: &[Piece]) -> Vec<u32> {
    use Token::*;
    let mut partners = vec![0; pieces.len()];
    let mut open = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        match piece.token {
            LParen | LBracket | LBrace | LBraceLit | LBraceTop => open.push(i),
            RParen | RBracket | RBrace | RBraceLit | RBraceTop => {
                if let Some(opened) = open.pop() {
                    partners[opened] = i as u32;
                }
            }
            _ => {}
        }
    }
    partners
}
