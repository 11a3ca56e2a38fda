//! What can be folded away: bodies, blocks, long comments, imports.

use crate::world::view::View;
use sluice_grammar::ast::Item;
use sluice_grammar::token::{Token, lex_all};
use tower_lsp::lsp_types::{FoldingRange, FoldingRangeKind};

/// The ranges, by lines.
pub fn folding(view: &View) -> Vec<FoldingRange> {
    let text = view.text();
    let lexed = lex_all(text.as_str());
    let mut all = Vec::new();
    let mut fold = |start: u32, end: u32, kind: Option<FoldingRangeKind>| {
        let (a, b) = (text.line(start), text.line(end));
        if a < b {
            all.push(FoldingRange { start_line: a, end_line: b, kind, ..FoldingRange::default() });
        }
    };
    let mut open = Vec::new();
    for t in &lexed.tokens {
        match t.token {
            Token::LBrace => open.push(t.start),
            // the line with the closing brace stays
            Token::RBrace => {
                if let Some(start) = open.pop()
                    && let Some(end) = text.line_bounds(text.line(t.start)).0.checked_sub(1)
                {
                    fold(start, end.max(start), None);
                }
            }
            _ => {}
        }
    }
    let mut run: Option<(u32, u32)> = None;
    for c in &lexed.comments {
        match c.token {
            Token::LineComment(_) => {
                let follows = run.is_some_and(|(_, end)| {
                    text.line(end) + 1 == text.line(c.start)
                        && text.as_str()[end as usize..c.start as usize].trim().is_empty()
                });
                run = match run {
                    Some((start, _)) if follows => Some((start, c.end)),
                    other => {
                        other.into_iter().for_each(|(a, b)| fold(a, b, Some(FoldingRangeKind::Comment)));
                        Some((c.start, c.end))
                    }
                };
            }
            _ => fold(c.start, c.end, Some(FoldingRangeKind::Comment)),
        }
    }
    run.into_iter().for_each(|(a, b)| fold(a, b, Some(FoldingRangeKind::Comment)));
    let imports: Vec<_> = view
        .tree()
        .items
        .iter()
        .filter_map(|i| if let Item::Import { at, .. } = i { Some(at.0) } else { None })
        .collect();
    if let (Some(first), Some(last)) = (imports.first(), imports.last()) {
        fold(first.start, last.end, Some(FoldingRangeKind::Imports));
    }
    all.sort_by_key(|f| (f.start_line, f.end_line));
    all.dedup_by_key(|f| (f.start_line, f.end_line));
    all
}
