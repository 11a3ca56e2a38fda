//! Formatting: of a file, of lines, while typing. The style is that of `sluice fmt`; a file with syntax errors is left alone.

use crate::convert::Text;
use crate::world::view::View;
use sluice_grammar::diagnostic::Edit;
use sluice_grammar::format;
use sluice_grammar::span::{FileId, Span};
use sluice_grammar::token::{Token, lex, lex_all};
use std::ops::Range;
use tower_lsp::lsp_types::TextEdit;

/// The edits that format the file.
pub fn whole(text: &Text) -> Vec<TextEdit> {
    edits(text, format::format(FileId(0), text.as_str()).map(|f| f.edits).unwrap_or_default())
}

/// The edits that format the lines of a range.
pub fn lines(text: &Text, range: Range<u32>) -> Vec<TextEdit> {
    let range = range.start as usize..range.end as usize;
    edits(text, format::format_range(FileId(0), text.as_str(), range).unwrap_or_default())
}

/// The edits after a character was typed: behind a brace, all up to its partner; behind a semicolon, the line; behind a line end, the line above and how far the new one is indented.
pub fn typed(view: &View, offset: u32, typed: &str) -> Vec<TextEdit> {
    let text = view.text();
    let start = match typed {
        "}" => partner(text.as_str(), offset).unwrap_or(offset),
        "\n" => return entered(text, offset),
        _ => text.line_bounds(text.line(offset)).0,
    };
    // what lies behind the cursor stays as it is
    let cursor = text.position(offset);
    let mut found = lines(text, start..offset.max(start));
    found.retain(|e| e.range.end <= cursor || e.range.end.line <= cursor.line + 1 && e.range.end.character == 0);
    found
}

/// The edits after a line end was typed. To the formatter an empty line may be one too many, and a line that is not full may go on in the next: here all lines stay.
fn entered(text: &Text, offset: u32) -> Vec<TextEdit> {
    let line = text.line(offset);
    let Some(above) = line.checked_sub(1) else { return Vec::new() };
    let range = text.line_bounds(above).0 as usize..text.line_bounds(line).1 as usize;
    let found = format::format_range(FileId(0), text.as_str(), range).unwrap_or_default();
    let mut all = Vec::new();
    for (n, new) in found.iter().filter_map(|e| line_by_line(text, e)).flatten() {
        let (start, mut end) = text.line_bounds(n);
        let mut new = new.to_string();
        if n == line {
            let space = |s: &str| s.len() - s.trim_start().len();
            end = start + space(&text.as_str()[start as usize..end as usize]) as u32;
            new.truncate(space(&new));
        }
        let span = Span { file: FileId(0), start, end };
        if (n == above || n == line) && text.as_str()[start as usize..end as usize] != new {
            all.push(Edit { span, text: new });
        }
    }
    all.extend(indented(text, line));
    edits(text, all)
}

/// A statement that may stand nearly everywhere.
const PROBE: &str = "int probe_;";
/// Steps of the house's style.
const STEP: usize = 4;

/// How far a new line without anything on it is indented: as far as a statement on it would be. Where none may stand there, or the text has syntax errors (a brace that is not closed yet), by the braces
/// around it; within a statement that goes on, and in comments, as the editor has it.
fn indented(text: &Text, line: u32) -> Option<Edit> {
    let (start, end) = text.line_bounds(line);
    let whole = text.as_str();
    if !whole[start as usize..end as usize].trim().is_empty() {
        return None;
    }
    let lexed = lex_all(whole);
    if lexed.comments.iter().any(|c| c.start < start && start < c.end) {
        return None;
    }
    let tried = Text::new(format!("{}{PROBE}{}", &whole[..start as usize], &whole[end as usize..]), text.encoding());
    let wanted = match format::format(FileId(0), tried.as_str()) {
        Ok(found) => {
            // one that is put on another line says nothing
            let (before, _) = found.text.split_once(PROBE)?;
            let space = &before[before.rfind('\n').map_or(0, |n| n + 1)..];
            space.trim().is_empty().then_some(space.len())?
        }
        Err(_) => {
            let before: Vec<Token> = lexed.tokens.iter().take_while(|t| t.end <= start).map(|t| t.token).collect();
            let begins = matches!(before.last(), None | Some(Token::LBrace | Token::RBrace) | Some(Token::Semi));
            let count = |wanted: Token| before.iter().filter(|t| **t == wanted).count();
            let depth = count(Token::LBrace).saturating_sub(count(Token::RBrace));
            // the parts of a `for` end with semicolons, too
            let begins = begins && count(Token::LParen) <= count(Token::RParen);
            begins.then_some(STEP * depth)?
        }
    };
    let new = " ".repeat(wanted);
    let span = Span { file: FileId(0), start, end };
    (whole[start as usize..end as usize] != new).then_some(Edit { span, text: new })
}

/// The lines of an edit that are not empty, by their numbers, and what becomes of them; `None` where a line would become several, or several one.
fn line_by_line<'e>(text: &Text, edit: &'e Edit) -> Option<Vec<(u32, &'e str)>> {
    let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let old = |n: &u32| {
        let (start, end) = text.line_bounds(*n);
        letters(&text.as_str()[start as usize..end as usize])
    };
    let last = text.line(edit.span.end.saturating_sub(1).max(edit.span.start));
    let numbers: Vec<u32> = (text.line(edit.span.start)..=last).filter(|n| !old(n).is_empty()).collect();
    let new: Vec<&str> = edit.text.lines().filter(|l| !l.trim().is_empty()).collect();
    let same = numbers.len() == new.len() && numbers.iter().zip(&new).all(|(n, l)| old(n) == letters(l));
    same.then(|| numbers.into_iter().zip(new).collect())
}

fn partner(text: &str, offset: u32) -> Option<u32> {
    let mut open = Vec::new();
    for t in lex(text).iter().take_while(|t| t.end <= offset) {
        match t.token {
            Token::LBrace => open.push(t.start),
            Token::RBrace => {
                let start = open.pop();
                if t.end == offset {
                    return start;
                }
            }
            _ => {}
        }
    }
    None
}

fn edits(text: &Text, edits: Vec<Edit>) -> Vec<TextEdit> {
    edits.into_iter().map(|e| TextEdit { range: text.range(e.span), new_text: e.text }).collect()
}
