//! The parameters of the stream or function whose arguments are being written.

use super::builtins;
use super::context::{context, is_literal};
use super::hover::{markup, signature};
use crate::world::view::View;
use sluice_frontend::check::call::BUILTINS;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::SymbolKind;
use sluice_grammar::ast::BaseType;
use sluice_grammar::token::{Spanned, Token};
use tower_lsp::lsp_types::*;

/// What is called by a word of the language, not by a name.
const WORDS: &[&str] = &["push", "pop", "peek", "iter", "print", "println"];

/// The help at a byte; `plain`: the client shows text as it is.
pub fn signature_help(view: &View, offset: u32, plain: bool) -> Option<SignatureHelp> {
    let c = context(view.text().as_str(), offset);
    if c.verbatim {
        return None;
    }
    // the innermost call: parentheses of an expression, brackets and arrays within its argument are passed over, and so are their commas
    let (mut at, mut found) = (c.before.len(), None);
    while found.is_none() {
        let open = c.open(at)?;
        let commas = commas(&c.before[open + 1..c.before.len().min(at)])?;
        let called = open.checked_sub(1).map(|i| c.before[i].token);
        match c.before[open].token {
            Token::LParen => match called {
                Some(Token::Ident(name)) => found = Some((open, name, commas)),
                Some(word) => found = WORDS.iter().find(|w| **w == word.spelling()).map(|w| (open, *w, commas)),
                None => {}
            },
            Token::LBrace if !is_literal(&c.before, open) => return None,
            _ => {}
        }
        at = open;
    }
    let (open, name, commas) = found?;
    let before = &c.before[..open];
    let index = view.syntax.index();
    let group = match before {
        [.., group, dot, _] if dot.token == Token::Dot => match group.token {
            Token::Ident(g) => Some(g),
            _ => None,
        },
        _ => None,
    };
    let adds = matches!(before, [.., add, _] if matches!(add.token, Token::Add | Token::Body | Token::Loop));
    let named = |wanted: &str, fits: fn(SymbolKind) -> bool| {
        index
            .visible(view.file, c.seen)
            .into_iter()
            .find(|s| *index.symbol(*s).name == *wanted && fits(index.symbol(*s).kind))
    };
    let found: Option<SymbolId> = match group {
        _ if adds => index.stream(name),
        Some(g) => {
            // a handler, where it is a portal; a function of a group otherwise
            let variable = named(g, |k| {
                matches!(k, SymbolKind::StreamParam | SymbolKind::Param | SymbolKind::Local | SymbolKind::Field)
            });
            let of = match variable.and_then(|v| index.symbol(v).ty.as_ref()).map(|t| &t.base) {
                Some(BaseType::Portal(filter)) => index.stream(&filter.name),
                Some(_) => None,
                None => index.group(g),
            };
            let is_called = |kind| matches!(kind, SymbolKind::Handler | SymbolKind::GroupFunction);
            of.into_iter()
                .flat_map(|of| index.members(of))
                .find(|(_, f)| *f.name == *name && is_called(f.kind))
                .map(|(id, _)| id)
        }
        None => named(name, |k| k == SymbolKind::Function),
    };
    let (label, params, doc) = match found {
        Some(id) => {
            let symbol = index.symbol(id);
            let params: Vec<String> = symbol.params.iter().map(|p| signature(view, *p)).collect();
            (signature(view, id), params, view.syntax.doc(symbol.whole))
        }
        None => {
            if group.is_some() || adds {
                return None;
            }
            if let Some((label, text)) = builtins::signature(name).filter(|_| WORDS.contains(&name)) {
                let inside = label.split_once('(').map_or("", |(_, p)| p.trim_end_matches(')'));
                let params = inside.split(", ").filter(|p| !p.is_empty()).map(str::to_string).collect();
                return Some(help(label.into(), params, Some(text.into()), commas, plain));
            }
            let (_, _, n) = BUILTINS.iter().find(|(b, ..)| *b == name)?;
            let params: Vec<String> = ["x", "y", "z"][..(*n).min(3)].iter().map(|p| (*p).into()).collect();
            (format!("{name}({})", params.join(", ")), params, None)
        }
    };
    Some(help(label, params, doc, commas, plain))
}

/// The commas of an argument's call among the tokens behind its parenthesis; `None` where a statement ends among them.
fn commas(tokens: &[Spanned]) -> Option<u32> {
    let (mut depth, mut commas) = (0i32, 0);
    for t in tokens {
        match t.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
            Token::Comma if depth == 0 => commas += 1,
            Token::Semi if depth == 0 => return None,
            _ => {}
        }
    }
    Some(commas)
}

fn help(label: String, params: Vec<String>, doc: Option<String>, commas: u32, plain: bool) -> SignatureHelp {
    let documentation = doc.map(|value| Documentation::MarkupContent(markup(value, plain)));
    let parameters =
        params.into_iter().map(|p| ParameterInformation { label: ParameterLabel::Simple(p), documentation: None });
    let signature = SignatureInformation {
        label,
        documentation,
        parameters: Some(parameters.collect()),
        active_parameter: Some(commas),
    };
    SignatureHelp { signatures: vec![signature], active_signature: Some(0), active_parameter: Some(commas) }
}
