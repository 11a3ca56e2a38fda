//! Where comments find their places, with regard to where they stood:
//!
//! - what stood on a line of its own gets a line of its own, with at most one empty line before it;
//! - what stood at the end of a line stays at the end of that line;
//! - what stood within a line stays with its neighbour, mostly the one behind it.

use super::document::Op;
use super::writer::{Empty, Gap, LineEnd, Writer};
use crate::token::Token;

impl LineEnd {
    /// The line end behind a comment that this one was before.
    fn behind_comment(self) -> LineEnd {
        let empty = if self.empty == Empty::First { Empty::Keep } else { self.empty };
        LineEnd { empty, ..self }
    }
}

impl Writer<'_> {
    /// Writes the comments before the next token and leaves in `gap` what shall be behind them.
    pub fn comments(&mut self) {
        while !self.settled
            && let Some(i) = self.next_comment()
        {
            self.comment(i);
        }
    }

    /// The same for comments that stand at the end of the line or, on lines of their own, further to the right than this piece; or
    /// than what comes next, should this piece not be the first on its line.
    pub fn comments_right_of(&mut self, piece: u32) {
        let place = |i: u32| self.pieces[i as usize].start;
        let begins_line = self.text[..place(piece) as usize].trim_end_matches([' ', '\t']).ends_with('\n');
        let other = if begins_line { Some(piece) } else { self.next_piece() };
        let limit = other.map_or(0, |other| self.column(place(other)));
        while let Some(i) = self.next_comment()
            && (!self.is_on_own_line(i) || self.column(self.pieces[i as usize].start) > limit)
        {
            self.comment(i);
        }
    }

    fn is_on_own_line(&self, i: u32) -> bool {
        self.last_end_byte == 0 || self.pieces[i as usize].line > self.last_line
    }

    fn comment(&mut self, i: u32) {
        let own_line = self.is_on_own_line(i);
        let ends_line = self.line_ends_behind(i);
        match (own_line, ends_line) {
            (true, true) => {
                let end = self.line_end();
                self.lay(Gap::End(end), i);
                self.put_comment(i);
                self.obey(i);
                self.gap = Gap::End(end.behind_comment());
            }
            (false, true) => self.trailing(i),
            _ => self.within_line(i, own_line),
        }
        self.comments_done += 1;
        self.passed(i);
        self.last_was_comment = true;
    }

    /// A comment at the end of a line, which ends there in any case.
    fn trailing(&mut self, i: u32) {
        self.gap = Gap::End(self.line_end());
        self.put_at_line_end(i);
    }

    fn put_at_line_end(&mut self, i: u32) {
        self.document.push(Op::Space);
        self.put_comment(i);
    }

    /// A comment within a line.
    fn within_line(&mut self, i: u32, own_line: bool) {
        use Token::*;
        let after = own_line || !(self.closes() || matches!(self.last, Some(Semi | RBrace | RBraceTop)));
        let open = matches!(self.last, Some(LParen | LBracket | LBraceLit)) && !self.last_was_comment;
        if after {
            let gap = std::mem::replace(&mut self.gap, Gap::Space);
            self.lay(if gap == Gap::Nothing && !open { Gap::Space } else { gap }, i);
            if self.closes() {
                self.gap = Gap::Nothing;
            }
        } else if matches!(self.gap, Gap::End(_)) && !self.is_ordered(self.last_line) {
            return self.put_at_line_end(i);
        } else {
            if !open || matches!(self.gap, Gap::End(_)) {
                self.document.push(Op::Space);
            }
            if self.gap == Gap::Nothing && !self.closes() {
                self.gap = Gap::Space;
            }
        }
        self.put_comment(i);
    }

    fn put_comment(&mut self, i: u32) {
        let comment = &self.pieces[i as usize];
        self.document.push(if comment.line < comment.end_line { Op::Lines(i) } else { Op::Piece(i) });
    }

    /// Does the next token close or end something?
    fn closes(&self) -> bool {
        use Token::*;
        matches!(
            self.next(),
            None | Some(RParen | RBracket | RBrace | RBraceLit | RBraceTop | Comma | Semi | SemiFor | SemiTop)
        )
    }

    /// Does the line end between a comment and the next token? The answer is the same for all the comments looked at.
    fn line_ends_behind(&mut self, i: u32) -> bool {
        if let Some((until, answer)) = self.line_end_behind
            && i <= until
        {
            return answer;
        }
        let mut last = i;
        let token = self.next_piece();
        let mut ends = false;
        for next in &self.comments[self.comments_done + 1..] {
            let piece = &self.pieces[last as usize];
            if piece.is_line_comment() || token.is_some_and(|token| *next > token) {
                break;
            }
            if self.pieces[*next as usize].line > piece.end_line {
                ends = true;
                break;
            }
            last = *next;
        }
        let piece = &self.pieces[last as usize];
        ends |= piece.is_line_comment() || self.piece_at(0).is_none_or(|next| next.line > piece.end_line);
        self.line_end_behind = Some((last, ends));
        ends
    }

    /// The gap as a line end.
    fn line_end(&self) -> LineEnd {
        match self.gap {
            Gap::End(end) => end,
            Gap::Break(b) => LineEnd { empty: Empty::Never, indents: b.indents },
            _ => LineEnd { empty: Empty::Never, indents: false },
        }
    }
}
