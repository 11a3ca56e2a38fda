//! From a [`Document`] to text: where its lines break.
//!
//! One walk over the ops: a group that fits on the rest of its line stays on one line, else the breaks that belong to it become
//! line ends (Oppen 1980, Wadler 2003). What a stretch takes when it stays on one line is a difference of two prefix sums, so that
//! each decision takes constant time.

use super::document::{Break, Document, Op, ROW_WIDTH, Rule, STEP, WIDTH, width};
use super::pieces::Piece;

/// A comment on one line, at the end of a line of the rendered text and behind code, wherever it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrailingComment {
    /// Where the text has it.
    pub at: usize,
    /// The piece.
    pub piece: u32,
}

/// The rendered text.
pub(super) struct Rendered {
    pub text: String,
    pub trailing: Vec<TrailingComment>,
}

impl Document {
    /// The text; `line_end` ends its lines.
    pub fn render(&self, pieces: &[Piece], line_end: &str) -> Rendered {
        let n = self.ops.len();
        let mut widths = Vec::with_capacity(n + 1);
        let mut code_widths = Vec::with_capacity(n + 1);
        let mut line_ends = Vec::with_capacity(n + 1);
        let (mut sum, mut code_sum, mut ends) = (0, 0, 0);
        for op in &self.ops {
            widths.push(sum);
            code_widths.push(code_sum);
            line_ends.push(ends);
            sum += width(op, pieces);
            match op {
                Op::Piece(piece) if !pieces[*piece as usize].is_comment() => code_sum = sum,
                Op::Lines(_) | Op::Break(_) | Op::Item { .. } | Op::End { .. } => code_sum = sum,
                _ => {}
            }
            ends += u32::from(matches!(op, Op::End { .. } | Op::Lines(_)));
        }
        widths.push(sum);
        code_widths.push(code_sum);
        line_ends.push(ends);
        let mut next_break = vec![n; n + 1];
        let mut next_end = vec![n; n + 1];
        for (i, op) in self.ops.iter().enumerate().rev() {
            let end = matches!(op, Op::End { .. } | Op::Lines(_));
            next_end[i] = if end { i } else { next_end[i + 1] };
            next_break[i] = if end || matches!(op, Op::Break(_) | Op::Item { .. }) { i } else { next_break[i + 1] };
        }
        let renderer = Renderer {
            document: self,
            pieces,
            line_end,
            widths,
            code_widths,
            line_ends,
            next_break,
            next_end,
            out: String::with_capacity(sum as usize + sum as usize / 4),
            trailing: Vec::new(),
            last_comment: None,
            has_code: false,
            column: 0,
            line_indent: 0,
            newline: None,
            indents: vec![Indent { columns: 0, later: None }],
            flat: vec![false],
        };
        renderer.run()
    }
}

#[derive(Clone, Copy)]
struct Indent {
    columns: u32,
    /// Waits for a break that indents; `true`: further than the present line.
    later: Option<bool>,
}

struct Renderer<'d, 's> {
    document: &'d Document,
    pieces: &'d [Piece<'s>],
    line_end: &'d str,
    /// Per op: what all before it take on one line.
    widths: Vec<u32>,
    /// Per op: the same without comments right before it.
    code_widths: Vec<u32>,
    /// Per op: how many before it end a line.
    line_ends: Vec<u32>,
    /// Per op: the first from it on at which a line may end.
    next_break: Vec<usize>,
    /// Per op: the first from it on at which a line does end.
    next_end: Vec<usize>,
    out: String,
    trailing: Vec<TrailingComment>,
    /// The last piece, if it is a comment behind code: should the line end here, it is a trailing one.
    last_comment: Option<TrailingComment>,
    /// There is code on the line.
    has_code: bool,
    column: u32,
    /// The indentation of the present line.
    line_indent: u32,
    /// The line has ended, perhaps with an empty one behind it; the next piece begins a new one.
    newline: Option<bool>,
    indents: Vec<Indent>,
    /// For each open group: does it stay on one line?
    flat: Vec<bool>,
}

impl Renderer<'_, '_> {
    fn run(mut self) -> Rendered {
        for i in 0..self.document.ops.len() {
            self.step(i, self.document.ops[i]);
        }
        self.trailing.extend(self.last_comment.take());
        if !self.out.is_empty() {
            self.out.push_str(self.line_end);
        }
        Rendered { text: self.out, trailing: self.trailing }
    }

    fn step(&mut self, i: usize, op: Op) {
        match op {
            Op::Piece(piece) => self.piece(piece),
            Op::Lines(piece) => {
                self.begin();
                self.last_comment = None;
                let piece = &self.pieces[piece as usize];
                self.has_code = !piece.is_comment();
                if piece.is_comment() {
                    super::comment::write_lines(&mut self.out, piece, self.line_end);
                } else {
                    self.out.push_str(piece.text);
                }
                self.column = super::comment::column(&self.out);
            }
            Op::Space if self.begins_line() => {}
            Op::Space => self.spaces(1),
            Op::Pad(n) => self.spaces(n),
            Op::Break(b) => self.possible_break(i, b),
            Op::Item { table, row, .. } if self.top() + self.document.tables[table] <= ROW_WIDTH => match row {
                Some(empty_line) => self.end_line(empty_line, false),
                None => self.spaces(1),
            },
            Op::Item { item, .. } => {
                self.possible_break(i, Break { rule: Rule::Fill(item), space: true, indents: false });
            }
            Op::End { empty_line, indents } => self.end_line(empty_line, indents),
            Op::Open(stretch) => {
                let end = self.document.ends[stretch];
                let flat = self.is_flat() || self.fits(i, end, self.here());
                self.flat.push(flat);
            }
            Op::Close => {
                self.flat.pop();
            }
            Op::PushBlock => self.push(self.top() + STEP, None),
            Op::PushLine(step) => self.push(self.present_indent() + step, None),
            Op::PushLater { line } => self.push(self.top(), Some(line)),
            Op::Pop => {
                self.indents.pop();
            }
        }
    }

    /// A token, or a comment on one line.
    fn piece(&mut self, index: u32) {
        self.begin();
        let piece = &self.pieces[index as usize];
        let comment = TrailingComment { at: self.out.len(), piece: index };
        self.last_comment = (piece.is_comment() && self.has_code).then_some(comment);
        self.has_code |= !piece.is_comment();
        self.out.push_str(piece.text);
        self.column += piece.width;
    }

    /// Will the next piece be the first on its line?
    fn begins_line(&self) -> bool {
        self.newline.is_some() || self.out.is_empty()
    }

    fn push(&mut self, columns: u32, later: Option<bool>) {
        self.indents.push(Indent { columns, later });
    }

    /// The indentation of lines that begin here.
    fn top(&self) -> u32 {
        self.indents.last().map_or(0, |indent| indent.columns)
    }

    /// The indentation of the line on which the next piece will stand.
    fn present_indent(&self) -> u32 {
        if self.newline.is_some() { self.top() } else { self.line_indent }
    }

    /// The column at which the next piece will stand.
    fn here(&self) -> u32 {
        if self.newline.is_some() { self.top() } else { self.column }
    }

    fn is_flat(&self) -> bool {
        self.flat.last().copied().unwrap_or(false)
    }

    fn begin(&mut self) {
        let Some(empty_line) = self.newline.take() else { return };
        self.trailing.extend(self.last_comment.take());
        self.has_code = false;
        for _ in 0..1 + u32::from(empty_line) {
            self.out.push_str(self.line_end);
        }
        self.line_indent = self.top();
        self.column = 0;
        self.spaces(self.line_indent);
    }

    fn spaces(&mut self, n: u32) {
        if n > 0 {
            self.begin();
        }
        for _ in 0..n {
            self.out.push(' ');
        }
        self.column += n;
    }

    fn end_line(&mut self, empty_line: bool, indents: bool) {
        if indents {
            self.indent();
        }
        if self.out.is_empty() {
            return;
        }
        self.newline = Some(self.newline.unwrap_or(false) | empty_line);
    }

    /// Gives the innermost indentation that has waited for it its columns.
    fn indent(&mut self) {
        let (present, n) = (self.present_indent(), self.indents.len());
        let below = if n >= 2 { self.indents[n - 2].columns } else { 0 };
        if let Some(last) = self.indents.last_mut()
            && let Some(line) = last.later.take()
        {
            last.columns = STEP + if line { present } else { below };
        }
    }

    fn possible_break(&mut self, i: usize, b: Break) {
        let newline = !self.is_flat()
            && match b.rule {
                Rule::Group => true,
                Rule::Fill(stretch) => {
                    let end = self.document.ends[stretch];
                    let here = self.here() + u32::from(b.space);
                    !self.fits(i + 1, end, here)
                        && (self.fits(i + 1, end, self.top())
                            || !self.fits(i + 1, self.next_break[i + 1].min(end), here))
                }
                Rule::Governed(stretch) => {
                    let end = self.document.ends[stretch].min(self.next_end[i + 1]);
                    let broken_head = self.newline.is_none() && self.line_indent != self.top();
                    broken_head || !self.fits(i + 1, end, self.here() + u32::from(b.space))
                }
                Rule::Assign(stretch) => {
                    let end = self.document.ends[stretch];
                    !self.fits(i + 1, end, self.here() + u32::from(b.space))
                        && self.fits(i + 1, end, self.present_indent() + STEP)
                }
            };
        if newline {
            self.end_line(false, b.indents);
        } else if b.space {
            self.spaces(1);
        }
    }

    /// Do the ops of the range fit on one line from this column on, with what follows them up to the next possible break? But for
    /// comments before it: where the line ends behind a comment, that never makes the code before it break.
    fn fits(&self, from: usize, to: usize, column: u32) -> bool {
        let until = self.code_widths[self.next_break[to]];
        self.line_ends[from] == self.line_ends[to] && column + until.saturating_sub(self.widths[from]) <= WIDTH
    }
}
