//! The texts of comments: comments of several lines move with what they belong to, and comments at the ends of lines one below
//! the other keep a common column where they were written so.

use super::document::STEP;
use super::pieces::Piece;
use super::render::Rendered;

/// The column behind a text that has no line end in it; tabs go to multiples of [`STEP`].
pub(super) fn column(text: &str) -> u32 {
    let line = text.rfind('\n').map_or(text, |end| &text[end + 1..]);
    line.chars().fold(0, |column, c| match c {
        '\t' => column / STEP * STEP + STEP,
        '\u{feff}' => column,
        _ => column + 1,
    })
}

/// Adds a comment of several lines. The lines keep their places relative to the first; a border of `*` stands below the `*` of
/// `/*`.
pub(super) fn write_lines(out: &mut String, piece: &Piece, line_end: &str) {
    let here = column(out);
    let mut lines = piece.text.split('\n');
    out.push_str(lines.next().unwrap_or("").trim_end());
    let bordered = lines.clone().all(|line| line.trim_start().starts_with('*'));
    for line in lines {
        let inside = line.trim();
        out.push_str(line_end);
        if inside.is_empty() {
            continue;
        }
        let indent = column(&line[..line.len() - line.trim_start().len()]);
        let indent = if bordered { here + 1 } else { (indent + here).saturating_sub(piece.column) };
        (0..indent).for_each(|_| out.push(' '));
        out.push_str(inside);
    }
}

/// The lines of a comment without the space around them: what formatting does not change.
pub(super) fn essence(comment: &str) -> impl Iterator<Item = &str> {
    comment.trim_end().split('\n').map(str::trim)
}

/// Gives comments at the ends of successive lines a common column, if one of them stood further off than a space.
pub(super) fn align(rendered: Rendered, source: &str, pieces: &[Piece]) -> String {
    let Rendered { text, trailing } = rendered;
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut done = 0;
    let same_run = |a: usize, b: usize| {
        let between = &text.as_bytes()[a..b];
        between.iter().filter(|byte| **byte == b'\n').count() == 1
    };
    let place = |at: usize| column(&text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at]);
    for run in trailing.chunk_by(|a, b| same_run(a.at, b.at)) {
        let stands_off = run.iter().any(|comment| {
            let before = &source[..pieces[comment.piece as usize].start as usize];
            let code = before.trim_end_matches([' ', '\t']);
            !code.is_empty() && !code.ends_with('\n') && !matches!(&before[code.len()..], "" | " ")
        });
        if !stands_off {
            continue;
        }
        let columns: Vec<u32> = run.iter().map(|comment| place(comment.at)).collect();
        let target = columns.iter().max().copied().unwrap_or(0);
        for (comment, column) in run.iter().zip(columns) {
            out.push_str(&text[done..comment.at]);
            (column..target).for_each(|_| out.push(' '));
            done = comment.at;
        }
    }
    out.push_str(&text[done..]);
    out
}
