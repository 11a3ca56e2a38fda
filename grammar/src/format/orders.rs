//! Comments to the compiler, `// sluice: allow(W0203)`, speak of what stands on a line: such lines keep what they hold.
//!
//! Behind code they speak of that line, on a line of their own of the next line with code and the statement or declaration that begins
//! there. So a line with such a comment at its end is never broken; nor is one below it that goes on with an expression, or on which
//! several statements begin. Where one begins, that may be laid out as any other.

use super::document::Break;
use super::pieces::Piece;
use super::writer::{Empty, Gap, Writer};
use crate::token::Token;

#[derive(Default)]
pub(super) struct Orders {
    /// The lines that are not to be broken, in order.
    lines: Vec<u32>,
    /// A line whose statements stay together.
    together: Option<Together>,
}

/// A line of which a comment above it speaks.
#[derive(Clone, Copy)]
struct Together {
    line: u32,
    /// How many indentations deep the statements are that begin on it.
    depth: usize,
    /// There are several, so that none of them may be broken: those behind it would come to stand on another line.
    several: bool,
}

impl Orders {
    pub fn of(pieces: &[Piece]) -> Orders {
        let mut lines = Vec::new();
        // Where the last token ends, and the line to which it gives code.
        let (mut last, mut last_line, mut code_line, mut comments) = (None, 0, None, false);
        for piece in pieces {
            if piece.is_comment() {
                comments = true;
                if code_line == Some(piece.line) && is_order(piece) {
                    lines.push(piece.line);
                }
                continue;
            }
            // These go before the comments, but for the `;` of an empty statement.
            let separates = matches!(piece.token, Token::Comma | Token::Semi | Token::SemiFor | Token::SemiTop)
                && !matches!(last, Some(Token::Semi | Token::LBrace | Token::RBrace));
            if !(separates && comments && piece.line > last_line) {
                code_line = Some(piece.end_line);
            }
            (last, last_line, comments) = (Some(piece.token), piece.end_line, false);
        }
        Orders { lines, together: None }
    }

    /// The walk has come out of what was indented deeper than this.
    pub fn left(&mut self, depth: usize) {
        self.together = self.together.filter(|together| together.depth <= depth);
    }

    /// The walk has come to the end of a body that began on this line and is not indented.
    pub fn left_flush(&mut self, line: u32) {
        self.together = self.together.filter(|together| together.line <= line);
    }
}

/// Does the comment speak to the compiler?
pub(super) fn is_order(comment: &Piece) -> bool {
    comment.text.trim_start_matches(['/', '*', ' ', '\t', '!']).starts_with("sluice:")
}

impl Writer<'_> {
    /// Is this line, of the text as it was written, not to be broken?
    pub fn is_ordered(&self, line: u32) -> bool {
        let several = |together: Together| together.several && together.line == line;
        self.orders.together.is_some_and(several) || self.orders.lines.binary_search(&line).is_ok()
    }

    /// Does the next token stay behind the last piece, whatever is to be between them?
    pub fn stays_on_line(&self) -> bool {
        self.next_line() == Some(self.last_line) && self.is_ordered(self.last_line)
    }

    /// Do several statements or declarations begin on the line of the next token, which begins one? Looks for a token behind the end of
    /// the first, brackets skipped; where tokens alone do not tell (`do { } while`), yes.
    fn several_begin(&self) -> bool {
        use Token::*;
        let Some(line) = self.next_line() else { return false };
        let label = matches!(self.next(), Some(Case | Default));
        let mut ended = false;
        let mut at = self.tokens_done;
        while let Some(i) = self.tokens.get(at)
            && self.pieces[*i as usize].line == line
        {
            let token = self.pieces[*i as usize].token;
            match token {
                RBrace | RBraceTop => return false,
                Semi | SemiTop => {}
                Else | To => ended = false,
                _ if ended => return true,
                _ => {}
            }
            ended |= matches!(token, Semi | SemiTop) || label && token == Colon;
            let close = self.partner(*i);
            if close > 0 {
                if self.pieces[close as usize].line != line {
                    return false;
                }
                ended |= matches!(token, LBrace | LBraceTop);
                at = self.tokens.partition_point(|token| *token < close);
            }
            at += 1;
        }
        false
    }

    /// Notes what a comment on a line of its own asks of the next line with code.
    pub fn obey(&mut self, comment: u32) {
        if !is_order(&self.pieces[comment as usize]) {
            return;
        }
        let Some(line) = self.next_line() else { return };
        if matches!(self.gap, Gap::End(end) if end.empty != Empty::Never) {
            let depth = self.depth();
            if self.orders.together.is_none_or(|together| (together.line, together.depth) != (line, depth)) {
                self.orders.together = Some(Together { line, depth, several: self.several_begin() });
            }
        } else if let Err(at) = self.orders.lines.binary_search(&line) {
            self.orders.lines.insert(at, line);
        }
    }

    /// The gap before this piece, without a line end where the line is to stay together.
    pub fn within_ordered_line(&self, gap: Gap, piece: u32) -> Gap {
        let line = self.pieces[piece as usize].line;
        if line != self.last_line || self.last_end_byte == 0 {
            return gap;
        }
        let token = self.pieces[piece as usize].token;
        let opened = matches!(self.last, Some(Token::LBraceLit)) && !self.last_was_comment;
        let inside_literal = matches!(token, Token::RBraceLit) || opened && !self.pieces[piece as usize].is_comment();
        let closes = matches!(token, Token::RBrace | Token::RBraceTop);
        let here = |together: Together| together.line == line && together.depth == self.depth() && !closes;
        let together = self.orders.together.is_some_and(here);
        match gap {
            Gap::End(_) | Gap::Item { .. } | Gap::Break(_) if inside_literal && self.is_ordered(line) => Gap::Nothing,
            Gap::End(_) if together || self.is_ordered(line) => Gap::Space,
            Gap::Break(Break { space: true, .. }) | Gap::Item { .. } if self.is_ordered(line) => Gap::Space,
            Gap::Break(_) if self.is_ordered(line) && opened => Gap::Space,
            Gap::Break(_) if self.is_ordered(line) => Gap::Nothing,
            gap => gap,
        }
    }
}
