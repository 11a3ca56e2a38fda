//! The text to be, as a list of pieces with the places where lines may break; `render.rs` breaks them.

use super::pieces::Piece;

/// Columns of a level of indentation.
pub(super) const STEP: u32 = 4;
/// Lines are broken to this many columns, where they can be.
pub(super) const WIDTH: u32 = 100;
/// Rows of tables may be this long, where they were written so.
pub(super) const ROW_WIDTH: u32 = 120;

/// A stretch of ops; its end is set when it is known.
pub(super) type Stretch = usize;

/// When a possible break becomes a line end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// When the group around it does not fit.
    Group,
    /// When the stretch behind it does not fit here, but does on a line of its own; or not even up to where it may break itself.
    Fill(Stretch),
    /// When the stretch behind it does not fit, as far as to where a line ends within it; or when the head before it took several
    /// lines.
    Governed(Stretch),
    /// When the stretch behind it does not fit here, but does on a line of its own.
    Assign(Stretch),
}

/// A possible break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Break {
    pub rule: Rule,
    /// Without a line end it is a space, else nothing.
    pub space: bool,
    /// As a line end, it gives the innermost [`Op::PushLater`] its indentation.
    pub indents: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// A token, or a comment on one line.
    Piece(u32),
    /// A comment of several lines, or a literal that goes on behind a line end.
    Lines(u32),
    /// Nothing at the start of a line.
    Space,
    /// That many spaces, which align a column of numbers.
    Pad(u32),
    Break(Break),
    /// Between items of a table, before the stretch. If the rows of the table fit as they were written: a space, or a line end
    /// (`row`), perhaps with an empty line (`row: Some(true)`). Else a [`Rule::Fill`] break.
    Item {
        table: usize,
        item: Stretch,
        row: Option<bool>,
    },
    /// A line end, perhaps with an empty line; `indents` as in [`Break`].
    End {
        empty_line: bool,
        indents: bool,
    },
    /// A group that ends with the stretch.
    Open(Stretch),
    Close,
    /// Lines from here on are indented one step further than the statement.
    PushBlock,
    /// Lines from here on are indented this much further than the present line.
    PushLine(u32),
    /// Lines from here on are indented further only if the break with `indents` becomes a line end: then one step further than
    /// the statement, or (`line`) than the present line.
    PushLater {
        line: bool,
    },
    Pop,
}

/// Ops and stretches.
#[derive(Default, Debug)]
pub(super) struct Document {
    pub ops: Vec<Op>,
    pub ends: Vec<usize>,
    /// The columns that the longest row of each table takes.
    pub tables: Vec<u32>,
}

impl Document {
    pub fn stretch(&mut self) -> Stretch {
        self.ends.push(usize::MAX);
        self.ends.len() - 1
    }

    /// The stretch ends here.
    pub fn end(&mut self, stretch: Stretch) {
        self.ends[stretch] = self.ops.len();
    }

    /// The pieces in their order.
    pub fn pieces(&self) -> Vec<u32> {
        let piece = |op: &Op| match op {
            Op::Piece(i) | Op::Lines(i) => Some(*i),
            _ => None,
        };
        self.ops.iter().filter_map(piece).collect()
    }

    pub fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// What the ops from `from` on take on one line; `None` if they cannot be on one.
    pub fn flat_width(&self, from: usize, pieces: &[Piece]) -> Option<u32> {
        let mut sum = 0;
        for op in &self.ops[from..] {
            if matches!(op, Op::End { .. } | Op::Lines(_)) {
                return None;
            }
            sum += width(op, pieces);
        }
        Some(sum)
    }

    /// Does what the ops from `from` on take fit on one line, with all that is before them on it?
    pub fn fits_on_line(&self, from: usize, pieces: &[Piece]) -> bool {
        let Some(mut sum) = self.flat_width(from, pieces) else { return false };
        for op in self.ops[..from].iter().rev() {
            match op {
                Op::End { .. } => break,
                Op::Lines(_) => return false,
                _ => sum += width(op, pieces),
            }
            if sum > WIDTH {
                break;
            }
        }
        sum <= WIDTH
    }
}

pub(super) fn width(op: &Op, pieces: &[Piece]) -> u32 {
    match op {
        Op::Piece(i) => pieces[*i as usize].width,
        Op::Space => 1,
        Op::Pad(n) => *n,
        Op::Break(b) => u32::from(b.space),
        Op::Item { .. } => 1,
        _ => 0,
    }
}
