//! Formatting: of a file, of lines, while typing. The style is that of `sluice fmt`; a file with syntax errors is left alone.

use crate::convert::Text;
use crate::world::view::View;
use sluice_grammar::diagnostic::Edit;
use sluice_grammar::format;
use sluice_grammar::span::FileId;
use sluice_grammar::token::{Token, lex};
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

/// The edits after a character was typed: behind a brace, all up to its partner; behind a semicolon or a line end, the line.
pub fn typed(view: &View, offset: u32, typed: &str) -> Vec<TextEdit> {
    let text = view.text();
    let start = match typed {
        "}" => partner(text.as_str(), offset).unwrap_or(offset),
        "\n" => text.line_bounds(text.line(offset).saturating_sub(1)).0,
        _ => text.line_bounds(text.line(offset)).0,
    };
    let until = if typed == "\n" { text.line_bounds(text.line(offset).saturating_sub(1)).1 } else { offset };
    // what lies behind the cursor stays as it is
    let cursor = text.position(offset);
    let mut found = lines(text, start..until.max(start));
    found.retain(|e| e.range.end <= cursor || e.range.end.line <= cursor.line + 1 && e.range.end.character == 0);
    found
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
