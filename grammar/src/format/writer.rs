//! Lays down the pieces of a text in order, with what shall be between them; comments find their places here.
//!
//! Whoever walks the tree asks for the next token by what it must be, and says before what shall stand between it and the last
//! one: nothing, a space, a possible break, a line end. The comments in that gap are put into it (`placing.rs`).
//!
//! No piece can be lost: tokens leave the walk only by [`Writer::token`] and [`Writer::drop_token`], and all comments before a token are
//! written with it. Should the walk ask for what is not there, it is `lost`, and the text is not formatted.

use super::document::{Break, Document, Op, Rule, STEP, Stretch};
use super::orders::Orders;
use super::pieces::{Piece, partners};
use super::table::Cell;
use crate::token::Token;

/// What shall be between the last token and the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gap {
    Nothing,
    Space,
    Break(Break),
    /// Before an item of a table; `row`: which begins a row.
    Item {
        table: usize,
        item: Stretch,
        row: bool,
    },
    End(LineEnd),
}

/// A line end, and whether an empty line may follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LineEnd {
    pub empty: Empty,
    pub indents: bool,
}

/// Empty lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Empty {
    /// As written, but no more than one.
    Keep,
    /// None directly here; behind a comment as written.
    First,
    /// None.
    Never,
    /// As written; and one if none was and the items around it want it: see [`Writer::item_end`].
    Item,
}

pub(super) struct Writer<'s> {
    pub(super) text: &'s str,
    pub pieces: Vec<Piece<'s>>,
    /// Per piece that opens a bracket: the one that closes it.
    pub(super) partners: Vec<u32>,
    /// The pieces that are tokens, and those that are comments.
    pub(super) tokens: Vec<u32>,
    pub(super) comments: Vec<u32>,
    /// How many of each are done.
    pub(super) tokens_done: usize,
    pub(super) comments_done: usize,
    pub document: Document,
    /// By how much each indentation that is open may indent, at most.
    indents: Vec<u32>,
    pub gap: Gap,
    /// The gap before the next token has been laid down.
    pub(super) settled: bool,
    /// Where the last piece ended, in the text and by line.
    pub(super) last_end_byte: u32,
    pub(super) last_line: u32,
    /// The last token.
    pub(super) last: Option<Token<'s>>,
    pub(super) last_was_comment: bool,
    /// Whether the line ends behind the comments up to this one, before the next token.
    pub(super) line_end_behind: Option<(u32, bool)>,
    pub(super) orders: Orders,
    /// In the last gap of kind [`Empty::Item`]: the first line end, and whether there is an empty line somewhere.
    pub item_end: Option<usize>,
    pub item_air: bool,
    /// Where the numbers of the present table stand, if they are to be aligned.
    pub columns: Option<Vec<Cell>>,
    /// The walk and the tokens do not agree, here.
    pub lost: Option<u32>,
}

impl<'s> Writer<'s> {
    pub fn new(text: &'s str, pieces: Vec<Piece<'s>>) -> Writer<'s> {
        let index = |comment: bool| {
            let all = pieces.iter().enumerate();
            all.filter(|(_, piece)| piece.is_comment() == comment).map(|(i, _)| i as u32).collect()
        };
        Writer {
            text,
            orders: Orders::of(&pieces),
            partners: partners(&pieces),
            tokens: index(false),
            comments: index(true),
            pieces,
            tokens_done: 0,
            comments_done: 0,
            document: Document::default(),
            indents: Vec::new(),
            gap: Gap::Nothing,
            settled: false,
            last_end_byte: 0,
            last_line: 0,
            last: None,
            last_was_comment: false,
            line_end_behind: None,
            item_end: None,
            item_air: false,
            columns: None,
            lost: None,
        }
    }

    // ---- What shall be before the next token ---------------------------------------------------------------------------------

    pub fn space(&mut self) {
        self.gap = Gap::Space;
    }

    /// A line end.
    pub fn end_line(&mut self, empty: Empty) {
        self.gap = Gap::End(LineEnd { empty, indents: false });
    }

    /// A break that goes with the group around it; `space`: else a space.
    pub fn group_break(&mut self, space: bool) {
        self.gap = Gap::Break(Break { rule: Rule::Group, space, indents: false });
    }

    /// A space, or a line end where what follows up to the end of the stretch does not fit.
    pub fn fill_break(&mut self) -> Stretch {
        let stretch = self.document.stretch();
        self.gap = Gap::Break(Break { rule: Rule::Fill(stretch), space: true, indents: false });
        stretch
    }

    // ---- Indentation ------------------------------------------------------------------------------------------------------

    /// Lines from here on are one step further in than the statement.
    pub fn push_block(&mut self) {
        self.document.push(Op::PushBlock);
        self.indents.push(STEP);
    }

    /// Lines from here on are so much further in than the present line.
    pub fn push_line(&mut self, columns: u32) {
        self.document.push(Op::PushLine(columns));
        self.indents.push(columns);
    }

    /// Lines from here on are one step further in than the statement, or than the present line (`line`), if the break that
    /// `indents` becomes a line end.
    pub fn push_later(&mut self, line: bool) {
        self.document.push(Op::PushLater { line });
        self.indents.push(STEP);
    }

    pub fn pop(&mut self) {
        self.document.push(Op::Pop);
        self.indents.pop();
        self.orders.left(self.indents.len());
    }

    /// How many indentations are open.
    pub(super) fn depth(&self) -> usize {
        self.indents.len()
    }

    /// No line is indented more than this here.
    pub fn most_indent(&self) -> u32 {
        self.indents.iter().sum()
    }

    /// Before an item of a table; gives the item's stretch.
    pub fn item_break(&mut self, table: usize, row: bool) -> Stretch {
        let item = self.document.stretch();
        self.gap = Gap::Item { table, item, row };
        item
    }

    // ---- Pieces -----------------------------------------------------------------------------------------------------------

    /// Writes the next token, which must be this one.
    pub fn token(&mut self, wanted: Token) {
        if self.next().is_some_and(|next| std::mem::discriminant(&next) == std::mem::discriminant(&wanted)) {
            self.any_token();
        } else {
            self.is_lost();
        }
    }

    fn is_lost(&mut self) {
        if self.lost.is_none() {
            self.lost = Some(self.piece_at(0).map_or(self.text.len() as u32, |piece| piece.start));
        }
    }

    /// Writes the next token, whatever it is.
    pub fn any_token(&mut self) {
        let Some(piece) = self.next_piece() else { return self.is_lost() };
        let token = self.pieces[piece as usize].token;
        // `a // why` and `, b` on the next line: the comma goes before the comment.
        let hoisted = matches!(token, Token::Comma | Token::Semi | Token::SemiFor | Token::SemiTop)
            && !self.settled
            && self.gap == Gap::Nothing
            && self.line_ends_before_next();
        if !hoisted {
            self.settle();
            self.passed(piece);
            self.last_was_comment = false;
        }
        self.settled = false;
        self.last = Some(token);
        self.tokens_done += 1;
        let several = self.pieces[piece as usize].line < self.pieces[piece as usize].end_line;
        self.document.push(if several { Op::Lines(piece) } else { Op::Piece(piece) });
    }

    /// Leaves out the next token; the comments before it stay.
    pub fn drop_token(&mut self) {
        self.forget_token();
        self.tokens_done += 1;
    }

    pub(super) fn passed(&mut self, piece: u32) {
        let piece = &self.pieces[piece as usize];
        self.last_end_byte = piece.end;
        self.last_line = piece.end_line;
    }

    /// Are there comments before the next token, and a line end behind one of them or before it?
    fn line_ends_before_next(&self) -> bool {
        self.comment_waits() && self.next_line().is_none_or(|line| line > self.last_line)
    }

    /// Lays down the gap before the next token with its comments. What follows belongs to the token.
    pub fn settle(&mut self) {
        if self.settled {
            return;
        }
        self.comments();
        let gap = std::mem::replace(&mut self.gap, Gap::Nothing);
        if let Some(next) = self.next_piece() {
            let glued = gap == Gap::Nothing && !self.last_was_comment && self.would_run_together();
            self.lay(if glued { Gap::Space } else { gap }, next);
        }
        self.settled = true;
    }

    /// Would the last token and the next be read as another one without a space between?
    fn would_run_together(&self) -> bool {
        use Token::*;
        match (self.last, self.next()) {
            (Some(Plus), Some(Plus | Increment)) | (Some(Increment), Some(Plus)) => true,
            (Some(Minus), Some(Minus | Decrement)) | (Some(Decrement), Some(Minus)) => true,
            (Some(Int(_) | Real(_) | Imaginary(_)), Some(Dot)) => true,
            (Some(last), Some(next)) => is_word(&last) && is_word(&next),
            _ => false,
        }
    }

    /// Lays down a gap before this piece.
    pub(super) fn lay(&mut self, gap: Gap, piece: u32) {
        let start = self.pieces[piece as usize].start;
        match self.within_ordered_line(gap, piece) {
            Gap::Nothing => {}
            Gap::Space => {
                self.document.push(Op::Space);
            }
            Gap::Break(b) => {
                self.document.push(Op::Break(b));
            }
            Gap::Item { table, item, row } => {
                let row = row.then(|| self.empty_line_between(self.last_end_byte, start));
                self.document.push(Op::Item { table, item, row });
            }
            Gap::End(LineEnd { empty, indents }) => {
                let written = self.empty_line_between(self.last_end_byte, start);
                let empty_line = written && !matches!(empty, Empty::First | Empty::Never);
                let at = self.document.push(Op::End { empty_line, indents });
                if empty == Empty::Item {
                    self.item_end.get_or_insert(at);
                    self.item_air |= written;
                }
            }
        }
    }
}

/// Is it written as letters and digits?
fn is_word(token: &Token) -> bool {
    let text = token.spelling();
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        && text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}
