//! What holds the cursor, from the word to the file.

use crate::world::view::View;
use sluice_frontend::lints::tree;
use sluice_grammar::ast::{Item, Member, StreamBody};
use sluice_grammar::span::Span;
use sluice_grammar::token::lex_all;
use tower_lsp::lsp_types::SelectionRange;

/// The ranges around a byte.
pub fn selection(view: &View, offset: u32) -> SelectionRange {
    let text = view.text();
    let mut all = vec![view.span(0, text.len())];
    let mut add = |s: Span| {
        if s.file == view.file && s.touches(offset) && s.end <= text.len() {
            all.push(s);
        }
    };
    let program = view.tree();
    for item in &program.items {
        match item {
            Item::Import { at, .. } => add(at.0),
            Item::Struct(s) => add(s.at.0),
            Item::Stream(s) => add(s.at.0),
            Item::Static(s) => add(s.at.0),
            Item::Native(g) | Item::Helper(g) => {
                add(g.at.0);
                g.functions.iter().for_each(|f| add(f.at.0));
            }
        }
    }
    tree::streams(program, &mut |s| {
        add(s.at.0);
        add(s.header.0);
        if let StreamBody::Filter(members) = &s.body {
            for m in members {
                match m {
                    Member::Field(d) => add(d.at.0),
                    Member::Init(b) => add(b.at.0),
                    Member::Prework(w) | Member::Work(w) => {
                        add(w.at.0);
                        add(w.body.at.0);
                        w.rates.iter().for_each(|r| add(r.at.0));
                    }
                    Member::Function(f) | Member::Handler(f) => add(f.at.0),
                }
            }
        }
    });
    tree::lists(program, &mut |stmts, _| {
        if let (Some(a), Some(b)) = (stmts.first(), stmts.last()) {
            add(a.at.0.to(b.at.0));
        }
        stmts.iter().for_each(|s| add(s.at.0));
    });
    tree::expressions(program, &mut |e| add(e.span()));
    for t in lex_all(text.as_str()).tokens {
        add(view.span(t.start, t.end));
    }
    all.sort_by_key(|s| (std::cmp::Reverse(s.end - s.start), s.start));
    let mut chain: Option<SelectionRange> = None;
    let mut last: Option<Span> = None;
    for s in all {
        // each lies within the one before
        if last.is_some_and(|l| l == s || s.start < l.start || s.end > l.end) {
            continue;
        }
        last = Some(s);
        chain = Some(SelectionRange { range: text.range(s), parent: chain.map(Box::new) });
    }
    chain.unwrap_or(SelectionRange { range: text.whole(), parent: None })
}
