//! What comes next in the text, and how it was laid out there.

use super::pieces::Piece;
use super::writer::Writer;
use crate::token::Token;

impl<'s> Writer<'s> {
    pub(super) fn piece_at(&self, ahead: usize) -> Option<&Piece<'s>> {
        self.tokens.get(self.tokens_done + ahead).map(|i| &self.pieces[*i as usize])
    }

    /// The token so many ahead; 0 is the next.
    pub fn ahead(&self, ahead: usize) -> Option<Token<'s>> {
        self.piece_at(ahead).map(|piece| piece.token)
    }

    /// The next token.
    pub fn next(&self) -> Option<Token<'s>> {
        self.ahead(0)
    }

    /// The piece that is the next token.
    pub fn next_piece(&self) -> Option<u32> {
        self.tokens.get(self.tokens_done).copied()
    }

    /// Does the next token stand on the line where the last one ended?
    pub fn on_same_line(&self) -> bool {
        self.last_token_line().is_some_and(|line| self.next_line() == Some(line))
    }

    /// Does the line end behind the next token?
    pub fn is_line_end_behind_next(&self) -> bool {
        match (self.piece_at(0), self.piece_at(1)) {
            (Some(next), Some(after)) => next.end_line < after.line,
            _ => true,
        }
    }

    /// The line on which the next token stands.
    pub fn next_line(&self) -> Option<u32> {
        self.piece_at(0).map(|next| next.line)
    }

    /// The line on which the last token ended.
    pub fn last_token_line(&self) -> Option<u32> {
        let last = self.tokens_done.checked_sub(1).and_then(|i| self.tokens.get(i))?;
        Some(self.pieces[*last as usize].end_line)
    }

    /// The piece that closes the bracket that this one opens.
    pub fn partner(&self, open: u32) -> u32 {
        self.partners[open as usize]
    }

    /// The pieces of the bracket that the next token opens.
    pub fn next_bracket(&self) -> Option<(u32, u32)> {
        let open = self.next_piece()?;
        Some((open, self.partner(open))).filter(|(_, close)| *close > 0)
    }

    /// Are the brackets that the next token opens on one line?
    pub fn bracket_on_one_line(&self) -> bool {
        let line = |piece: u32| self.pieces[piece as usize].line;
        self.next_bracket().is_some_and(|(open, close)| line(open) == line(close))
    }

    /// Is the statement that ends with this byte, and all from the last token up to it, on one line? Its semicolon counts as right
    /// behind it, where it goes.
    pub fn is_on_line_until(&self, end: u32) -> bool {
        let Some(line) = self.last_token_line() else { return false };
        let mut behind_code = false;
        for i in &self.tokens[self.tokens_done..] {
            let piece = &self.pieces[*i as usize];
            if piece.end_line != line && !(behind_code && piece.token == Token::Semi) {
                return false;
            }
            if piece.end >= end {
                return true;
            }
            behind_code = !matches!(piece.token, Token::Semi | Token::RBrace);
        }
        false
    }

    /// The column of a byte; takes the time of the line before it.
    pub fn column(&self, start: u32) -> u32 {
        super::comment::column(&self.text[..start as usize])
    }

    /// Has a statement just ended?
    pub fn is_behind_statement(&self) -> bool {
        matches!(self.last, Some(Token::Semi | Token::RBrace))
    }

    /// Does a comment stand before the next token?
    pub fn comment_waits(&self) -> bool {
        self.next_comment().is_some()
    }

    pub(super) fn next_comment(&self) -> Option<u32> {
        let comment = self.comments.get(self.comments_done).copied()?;
        self.next_piece().is_none_or(|token| comment < token).then_some(comment)
    }

    /// Is an empty line between these bytes?
    pub(super) fn empty_line_between(&self, from: u32, to: u32) -> bool {
        let mut ended = false;
        for byte in &self.text.as_bytes()[from as usize..to as usize] {
            match byte {
                b'\n' if ended => return true,
                b'\n' => ended = true,
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => {}
                _ => ended = false,
            }
        }
        false
    }
}
