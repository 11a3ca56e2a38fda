//! # semantic-tokens
//!
//! Purpose: what names are, for colours. Input: a view and a range. Output: the protocol's list of differences. Words and numbers that the lexer knows by
//! themselves are included, so that an editor without a grammar of its own shows colours, too.

use crate::world::view::View;
use sluice_frontend::resolve::{Access, SymbolKind, Use};
use sluice_grammar::token::{Token, lex_all};
use std::collections::HashMap;
use std::ops::Range;
use tower_lsp::lsp_types::*;

/// The types, in the order of their numbers.
pub const TYPES: [SemanticTokenType; 14] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
    SemanticTokenType::COMMENT,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::TYPE,
    SemanticTokenType::CLASS,
    SemanticTokenType::STRUCT,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::METHOD,
    SemanticTokenType::NAMESPACE,
];

/// The modifiers, in the order of their bits.
pub const MODIFIERS: [SemanticTokenModifier; 4] = [
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::MODIFICATION,
    SemanticTokenModifier::DEFAULT_LIBRARY,
];

/// The tokens that touch a range.
pub fn tokens(view: &View, range: Range<u32>) -> Vec<SemanticToken> {
    let text = view.text();
    let source = text.as_str();
    let lexed = lex_all(source);
    let names: HashMap<u32, &Use> = view.syntax.index().uses_in(view.file).iter().map(|u| (u.span.start, u)).collect();
    let mut all: Vec<_> = lexed.tokens.iter().chain(&lexed.comments).copied().collect();
    all.sort_by_key(|t| t.start);
    let (mut out, mut line, mut column) = (Vec::new(), 0, 0);
    for t in all.iter().filter(|t| t.start <= range.end && range.start <= t.end) {
        let Some((kind, modifiers)) = kind(view, &t.token, names.get(&t.start).copied()) else { continue };
        // a token of several lines is one for each of them
        let (first, last) = (text.line(t.start), text.line(t.end));
        for l in first..=last {
            let (from, to) = text.line_bounds(l);
            let (from, to) = (from.max(t.start), to.min(t.end));
            if from >= to {
                continue;
            }
            let at = text.position(from);
            let delta_line = at.line - line;
            out.push(SemanticToken {
                delta_line,
                delta_start: if delta_line == 0 { at.character - column } else { at.character },
                length: text.width(&source[from as usize..to as usize]),
                token_type: kind,
                token_modifiers_bitset: modifiers,
            });
            (line, column) = (at.line, at.character);
        }
    }
    out
}

fn kind(view: &View, token: &Token, name: Option<&Use>) -> Option<(u32, u32)> {
    use Token::*;
    Some(match token {
        Ident(text) => match name {
            Some(u) => of_use(view, u),
            None if matches!(*text, "Identity" | "FileReader" | "FileWriter") => (6, 8),
            None if *text == "import" => (0, 0),
            None => return None,
        },
        Int(_) | Real(_) | Imaginary(_) => (1, 0),
        Char(_) | Str(_) => (2, 0),
        LineComment(_) | BlockComment(_) => (3, 0),
        Boolean | Float | Bit | IntType | Void | Double | Complex | Float2 | Float3 | Float4 => (5, 8),
        Error | LParen | RParen | LBracket | RBracket | LBrace | RBrace | Semi | Comma | Dot | Colon => return None,
        t if t.is_keyword() => (0, 0),
        _ => (4, 0),
    })
}

fn of_use(view: &View, u: &Use) -> (u32, u32) {
    let symbol = view.syntax.index().symbol(u.symbol);
    let (kind, constant) = match symbol.kind {
        SymbolKind::Stream(_) => (6, false),
        SymbolKind::Struct => (7, false),
        SymbolKind::Member | SymbolKind::Field => (8, false),
        SymbolKind::Static => (9, true),
        SymbolKind::StreamParam => (10, true),
        SymbolKind::Param => (10, false),
        SymbolKind::Local => (9, false),
        SymbolKind::Function | SymbolKind::GroupFunction => (11, false),
        SymbolKind::Handler => (12, false),
        SymbolKind::Helper | SymbolKind::Native => (13, false),
    };
    let bit = |n: u32, set: bool| u32::from(set) << n;
    let modifiers = bit(0, u.access == Access::Declaration)
        | bit(1, constant)
        | bit(2, u.access == Access::Write)
        | bit(3, symbol.shipped);
    (kind, modifiers)
}
