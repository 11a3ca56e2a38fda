//! A text that differs little from one that was parsed before: only the declarations around the difference are read again.
//!
//! Input: [`Read`], a text without faults as it was parsed, and the text as it is now. Output: exactly what [`crate::parse()`] gives for it: tree, places, diagnostics.
//!
//! ```text
//! before  | A | B | C | D | E | F |         without faults
//! now     | A | B | C'| D | E | F |
//!             └ read  ┘   └ moved ┘         D comes out as it was: what stands behind it is as it was, too
//! ```
//!
//! Why that is exact. Behind the closing brace or semicolon of a declaration without faults, lexer, layout and parser know nothing of what came before: no bracket is
//! open, and only `Items` is on the parser's stack. So the part may begin behind any declaration before the difference; it takes one more, for what looks at the token
//! before. It may end behind a declaration behind the difference that comes out as it was, with nothing told of it: then all three stand again where they
//! stood before, and what follows is the same text. If it does not (an open comment, a brace too many), the part is made larger, at last up to the end.
//! The tests compare with [`crate::parse()`] after random edits of all programs of the repository.

use crate::ast::places::{places_mut, whole};
use crate::ast::{Item, Program};
use crate::diagnostic::Diagnostic;
use crate::parse::{MAX_ERRORS, MAX_FILE_BYTES, parse_part};
use crate::span::{FileId, Span};
use crate::token::{Spanned, Token};
use std::sync::Arc;

/// Where a top-level declaration ends, or a semicolon between two.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// One past the brace or semicolon.
    end: u32,
    /// Does a declaration end here?
    item: bool,
}

/// A text without faults, and what it was parsed to.
#[derive(Clone, Debug)]
pub struct Read {
    file: FileId,
    text: Arc<str>,
    items: Vec<Item>,
    cuts: Vec<Cut>,
}

/// What parsing gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The tree.
    pub program: Program,
    /// What is wrong, in the order of places.
    pub diagnostics: Vec<Diagnostic>,
    /// The text, to begin with next time, if it has no faults.
    pub read: Option<Read>,
}

/// How many declarations behind the difference are read before all are.
const FEW: usize = 8;

/// Parses a text of which nothing is known.
pub fn parse(file: FileId, text: &Arc<str>) -> Outcome {
    let parsed = crate::parse::parse_with_tokens(file, text);
    let (program, diagnostics) = (parsed.program, parsed.diagnostics);
    let cuts = cuts(&parsed.tokens);
    let read = (diagnostics.is_empty() && items(&cuts) == program.items.len()).then(|| Read {
        file,
        text: text.clone(),
        items: program.items.clone(),
        cuts,
    });
    Outcome { program, diagnostics, read }
}

impl Read {
    /// Which file's text it is.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// How many bytes of a text are not as they are here: a measure of what [`Read::parse`] costs.
    pub fn differs(&self, text: &str) -> usize {
        difference(&self.text, text).map_or(0, |d| d.new - d.head)
    }

    /// Parses a text.
    pub fn parse(&self, text: &Arc<str>) -> Outcome {
        let Some(d) = difference(&self.text, text) else {
            let program = Program { items: self.items.clone() };
            return Outcome { program, diagnostics: Vec::new(), read: Some(self.clone()) };
        };
        self.part(text, &d).unwrap_or_else(|| parse(self.file, text))
    }

    fn part(&self, text: &Arc<str>, d: &Difference) -> Option<Outcome> {
        // behind the last cut that both texts have, but for the declaration before it
        let before = self.cuts.partition_point(|c| c.end as usize <= d.head);
        let first = self.cuts[..before].iter().rposition(|c| c.item).unwrap_or(0);
        let start = first.checked_sub(1).map_or(0, |i| self.cuts[i].end as usize);
        let mark = text.get(start..)?.starts_with('\u{feff}');
        if start > 0 && mark || text.len() > MAX_FILE_BYTES {
            return None;
        }
        let kept = items(&self.cuts[..first]);
        let by = d.new as i64 - d.old as i64;
        // the first declaration that lies behind the difference, with what stands before it
        let mut behind = self.cuts.partition_point(|c| (c.end as usize) < d.old);
        let whole_from = |i: usize| i.checked_sub(1).map_or(0, |i| self.cuts[i].end as usize) >= d.old;
        while behind < self.cuts.len() && !whole_from(behind) {
            behind += 1;
        }
        for more in [0, FEW] {
            let Some(last) = (behind + more..self.cuts.len()).find(|i| self.cuts[*i].item) else { break };
            let end = (i64::from(self.cuts[last].end) + by) as usize;
            let part = parse_part(self.file, text, start..end);
            let tail = items(&self.cuts[..=last]);
            let (parsed, wanted) = (part.parsed, self.items.get(tail - 1)?);
            let found = parsed.program.items.last();
            let same = found.is_some_and(|found| {
                let at = whole(found);
                at == moved(whole(wanted), by)
                    && found == wanted
                    && parsed.diagnostics.iter().all(|told| told.span().start < at.start)
            });
            let cuts = cuts(&parsed.tokens);
            let ends = cuts.last().is_some_and(|c| c.item && c.end as usize == end);
            if !(part.closed && same && ends) {
                continue;
            }
            if parsed.diagnostics.len() > MAX_ERRORS {
                return None;
            }
            let mut all = self.items[..kept].to_vec();
            all.extend(parsed.program.items);
            all.extend(self.items[tail..].iter().cloned().map(|mut item| {
                if by != 0 {
                    places_mut(&mut item, &mut |at| *at = moved(*at, by));
                }
                item
            }));
            let rest = self.cuts[last + 1..].iter().map(|c| Cut { end: (i64::from(c.end) + by) as u32, ..*c });
            let cuts: Vec<Cut> = self.cuts[..first].iter().copied().chain(cuts).chain(rest).collect();
            return Some(self.outcome(text, all, parsed.diagnostics, cuts));
        }
        let parsed = parse_part(self.file, text, start..text.len()).parsed;
        if parsed.diagnostics.len() > MAX_ERRORS {
            return None;
        }
        let mut all = self.items[..kept].to_vec();
        all.extend(parsed.program.items);
        let cuts: Vec<Cut> = self.cuts[..first].iter().copied().chain(cuts(&parsed.tokens)).collect();
        Some(self.outcome(text, all, parsed.diagnostics, cuts))
    }

    fn outcome(&self, text: &Arc<str>, all: Vec<Item>, diagnostics: Vec<Diagnostic>, cuts: Vec<Cut>) -> Outcome {
        let read = (diagnostics.is_empty() && items(&cuts) == all.len()).then(|| Read {
            file: self.file,
            text: text.clone(),
            items: all.clone(),
            cuts,
        });
        Outcome { program: Program { items: all }, diagnostics, read }
    }
}

fn moved(at: Span, by: i64) -> Span {
    Span { start: (i64::from(at.start) + by) as u32, end: (i64::from(at.end) + by) as u32, ..at }
}

/// How many declarations there are.
fn items(cuts: &[Cut]) -> usize {
    cuts.iter().filter(|c| c.item).count()
}

/// Where the declarations of a text without faults end: each with a brace, or an import with its semicolon.
fn cuts(tokens: &[Spanned]) -> Vec<Cut> {
    let mut found = Vec::new();
    let mut empty = true;
    for t in tokens {
        match t.token {
            Token::RBraceTop => found.push(Cut { end: t.end, item: true }),
            Token::SemiTop => found.push(Cut { end: t.end, item: !empty }),
            _ => {
                empty = false;
                continue;
            }
        }
        empty = true;
    }
    found
}

/// Where two texts differ, in bytes, as one replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How much both begin with.
    pub head: usize,
    /// Where what both end with begins in the old text.
    pub old: usize,
    /// And in the new one.
    pub new: usize,
}

/// Bytes that are compared at once.
const BLOCK: usize = 64;

/// Compares two texts; `None` where they are equal.
pub fn difference(old: &str, new: &str) -> Option<Difference> {
    if old == new {
        return None;
    }
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)).take_while(|(x, y)| x == y).count() * BLOCK;
    let head = blocks + a[blocks..].iter().zip(&b[blocks..]).take_while(|(x, y)| x == y).count();
    let (x, y) = (&a[head..], &b[head..]);
    let blocks = x.rchunks_exact(BLOCK).zip(y.rchunks_exact(BLOCK)).take_while(|(x, y)| x == y).count() * BLOCK;
    let rest = x[..x.len() - blocks].iter().rev().zip(y[..y.len() - blocks].iter().rev());
    let tail = blocks + rest.take_while(|(x, y)| x == y).count();
    Some(Difference { head, old: a.len() - tail, new: b.len() - tail })
}
