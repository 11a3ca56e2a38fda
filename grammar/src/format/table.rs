//! Array literals: on one line what was written on one line and fits; rows of more than one line as they were written.
//!
//! ```text
//! int[2][3] m = {{1, 2, 3}, {4, 5, 6}};      int[6] t = {
//!                                                1,  2,  3,
//!                                               10, 20, 30
//!                                            };
//! ```
//!
//! Where numbers in rows were aligned in some way, they are aligned to the right in columns.

use super::document::{Op, ROW_WIDTH, STEP};
use super::orders::is_order;
use super::writer::{Empty, Writer};
use crate::ast::*;
use crate::token::Token;

/// A number in a table whose columns are aligned.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    column: usize,
    /// The op that pads it.
    pad: usize,
    width: u32,
}

impl Writer<'_> {
    pub fn array(&mut self, items: &[Expr]) {
        if self.bracket_on_one_line() { self.array_in_line(items) } else { self.array_in_rows(items) }
    }

    /// On one line; where that does not fit, as many items on a line as do, inner arrays on lines of their own.
    fn array_in_line(&mut self, items: &[Expr]) {
        let group = self.open();
        self.token(Token::LBraceLit);
        self.push_line(0);
        self.push_line(STEP);
        let nested = items.iter().any(|item| matches!(item.kind, ExprKind::ArrayLit(_)));
        let mut stretch = None;
        for (i, item) in items.iter().enumerate() {
            if i == 0 {
                self.group_break(false);
            } else {
                self.token(Token::Comma);
                if nested {
                    self.group_break(true);
                } else {
                    stretch = Some(self.fill_break());
                }
            }
            self.cell(i, item);
            if let Some(stretch) = stretch {
                self.document.end(stretch);
            }
        }
        if self.next() == Some(Token::Comma) {
            self.drop_token();
        }
        if !items.is_empty() {
            self.group_break(false);
        }
        self.comments();
        self.pop();
        self.token(Token::RBraceLit);
        self.pop();
        self.close(group);
    }

    /// On lines of their own.
    fn array_in_rows(&mut self, items: &[Expr]) {
        self.settle();
        let outer = self.columns.take();
        let (aligned, refills) = (self.is_aligned(items), self.may_refill(items));
        self.columns = aligned.then(Vec::new);
        self.token(Token::LBraceLit);
        self.push_line(0);
        self.push_line(STEP);
        self.end_line(Empty::First);
        let table = self.document.tables.len();
        self.document.tables.push(0);
        let (mut stretch, mut column, mut row_start) = (None, 0, self.document.ops.len());
        for (i, item) in items.iter().enumerate() {
            let row = matches!(item.kind, ExprKind::ArrayLit(_));
            if row {
                self.expr(item);
            } else {
                self.cell(column, item);
            }
            if let Some(stretch) = stretch.take() {
                self.document.end(stretch);
            }
            column += 1;
            if i + 1 < items.len() {
                let line = self.last_token_line();
                self.token(Token::Comma);
                let row = self.next_line() != line && !self.stays_on_line();
                if row {
                    self.measure_row(table, row_start);
                    (row_start, column) = (self.document.ops.len(), 0);
                }
                if refills || !row {
                    stretch = Some(self.item_break(table, row));
                } else {
                    self.end_line(Empty::Keep);
                }
            }
        }
        if self.next() == Some(Token::Comma) {
            if self.is_line_end_behind_next() { self.token(Token::Comma) } else { self.drop_token() }
        }
        self.measure_row(table, row_start);
        self.end_line(if items.is_empty() { Empty::First } else { Empty::Keep });
        self.comments();
        self.pop();
        self.end_line(Empty::Never);
        self.token(Token::RBraceLit);
        self.pop();
        if let Some(cells) = std::mem::replace(&mut self.columns, outer) {
            self.pad(&cells);
        }
    }

    /// May rows that are too long be filled anew? Not rows of rows, and not where comments stand between them.
    fn may_refill(&self, items: &[Expr]) -> bool {
        let nested = items.iter().any(|item| matches!(item.kind, ExprKind::ArrayLit(_)));
        let comments =
            |(open, close)| self.pieces[open as usize..close as usize].iter().any(|piece| piece.is_comment());
        !nested && !self.next_bracket().is_some_and(comments)
    }

    /// The row that began with this op has ended.
    fn measure_row(&mut self, table: usize, start: usize) {
        let gap = matches!(self.document.ops.get(start), Some(Op::Item { .. } | Op::End { .. }));
        let width = self.document.flat_width(start + usize::from(gap), &self.pieces).unwrap_or(0);
        let longest = &mut self.document.tables[table];
        *longest = (*longest).max(width);
    }

    /// An item that may stand in a column.
    fn cell(&mut self, column: usize, item: &Expr) {
        if self.columns.is_none() {
            return self.expr(item);
        }
        self.settle();
        let pad = self.document.push(Op::Pad(0));
        self.expr(item);
        let width = self.document.flat_width(pad, &self.pieces).unwrap_or(0);
        if let Some(cells) = &mut self.columns {
            cells.push(Cell { column, pad, width });
        }
    }

    /// Aligns the columns, if the rows stay within the width then.
    fn pad(&mut self, cells: &[Cell]) {
        let mut widths: Vec<u32> = Vec::new();
        for cell in cells {
            if cell.column == widths.len() {
                widths.push(0);
            }
            widths[cell.column] = widths[cell.column].max(cell.width);
        }
        let row: u32 = widths.iter().map(|width| width + 2).sum();
        if row + self.most_indent() + 2 * STEP > ROW_WIDTH {
            return;
        }
        for cell in cells {
            self.document.ops[cell.pad] = Op::Pad(widths[cell.column] - cell.width);
        }
    }

    /// Does the literal that comes next, of several lines, hold rows of numbers of which some are set off from the one before by more
    /// than a space, or rows that begin in different columns?
    fn is_aligned(&self, items: &[Expr]) -> bool {
        let rows = items.iter().any(|item| matches!(item.kind, ExprKind::ArrayLit(_)));
        let numbers = items.iter().all(|item| match &item.kind {
            ExprKind::ArrayLit(cells) => rows && cells.iter().all(is_number),
            _ => !rows && is_number(item),
        });
        numbers && Rows::of_next(self, rows).is_some_and(|rows| rows.are_aligned())
    }
}

fn is_number(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int { .. } | ExprKind::Real { .. } | ExprKind::Imaginary { .. } => true,
        ExprKind::Unary(UnaryOp::Neg, inner) => is_number(inner),
        _ => false,
    }
}

/// How the numbers of a table are set off from what is before them: the first of each row, then all others.
#[derive(Default)]
struct Rows {
    first: Vec<u32>,
    others_apart: bool,
}

impl Rows {
    fn are_aligned(&self) -> bool {
        self.others_apart || self.first.iter().any(|column| *column != self.first[0])
    }

    /// Looks at the literal that comes next; `None` where columns make no sense: block comments, inner rows of several
    /// lines, or several on a line.
    fn of_next(w: &Writer, nested: bool) -> Option<Rows> {
        let (open, close) = w.next_bracket()?;
        let mut rows = Rows::default();
        let mut last = open;
        for i in open + 1..close {
            let (piece, before) = (&w.pieces[i as usize], &w.pieces[last as usize]);
            if !piece.is_comment() && w.is_ordered(piece.line) {
                return None;
            }
            let same_line = before.end_line == piece.line;
            match piece.token {
                Token::LineComment(_) if !is_order(piece) => continue,
                Token::LineComment(_) | Token::BlockComment(_) => return None,
                Token::LBraceLit => {
                    let one_line = w.pieces[w.partner(i) as usize].line == piece.line;
                    if !one_line || same_line && last != open {
                        return None;
                    }
                }
                _ => match before.token {
                    Token::LBraceLit if last != open => rows.first.push(piece.start - before.end),
                    Token::LBraceLit | Token::Comma if !nested && !same_line => rows.first.push(w.column(piece.start)),
                    Token::Comma if same_line => rows.others_apart |= piece.start - before.end > 1,
                    _ => {}
                },
            }
            last = i;
        }
        Some(rows)
    }
}
