//! The parameters of the stream or function whose arguments are being written.

use super::context::context;
use super::hover::signature;
use crate::world::view::View;
use sluice_frontend::check::call::BUILTINS;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::SymbolKind;
use sluice_grammar::token::Token;
use tower_lsp::lsp_types::*;

/// The help at a byte.
pub fn signature_help(view: &View, offset: u32) -> Option<SignatureHelp> {
    let c = context(view.text().as_str(), offset);
    if c.verbatim {
        return None;
    }
    let (mut depth, mut commas, mut open) = (0, 0, None);
    for (i, t) in c.before.iter().enumerate().rev() {
        match t.token {
            Token::RParen | Token::RBracket | Token::RBrace => depth += 1,
            Token::LParen if depth == 0 => {
                open = Some(i);
                break;
            }
            Token::LBrace if depth == 0 => return None,
            Token::LBracket if depth == 0 => {}
            Token::LParen | Token::LBracket | Token::LBrace => depth -= 1,
            Token::Semi if depth == 0 => return None,
            Token::Comma if depth == 0 => commas += 1,
            _ => {}
        }
    }
    let before = &c.before[..open?];
    let Token::Ident(name) = before.last()?.token else { return None };
    let index = view.syntax.index();
    let group = match before {
        [.., group, dot, _] if dot.token == Token::Dot => match group.token {
            Token::Ident(g) => Some(g),
            _ => None,
        },
        _ => None,
    };
    let adds = matches!(before, [.., add, _] if matches!(add.token, Token::Add | Token::Body | Token::Loop));
    let found: Option<SymbolId> = match group {
        _ if adds => index.stream(name),
        Some(g) => {
            let of = index.group(g);
            of.and_then(|of| index.members(of).find(|(_, f)| *f.name == *name).map(|(id, _)| id))
        }
        None => {
            let own = index.visible(view.file, offset).into_iter();
            let functions =
                |s: &SymbolId| matches!(index.symbol(*s).kind, SymbolKind::Function) && *index.symbol(*s).name == *name;
            own.into_iter().find(functions)
        }
    };
    let (label, params, doc) = match found {
        Some(id) => {
            let symbol = index.symbol(id);
            let params: Vec<String> = symbol.params.iter().map(|p| signature(view, *p)).collect();
            (signature(view, id), params, view.syntax.doc(symbol.whole))
        }
        None => {
            let (_, _, n) = BUILTINS.iter().find(|(b, ..)| *b == name)?;
            let params: Vec<String> = ["x", "y", "z"][..(*n).min(3)].iter().map(|p| (*p).into()).collect();
            (format!("{name}({})", params.join(", ")), params, None)
        }
    };
    let documentation =
        doc.map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }));
    let parameters =
        params.into_iter().map(|p| ParameterInformation { label: ParameterLabel::Simple(p), documentation: None });
    let signature = SignatureInformation {
        label,
        documentation,
        parameters: Some(parameters.collect()),
        active_parameter: Some(commas),
    };
    Some(SignatureHelp { signatures: vec![signature], active_signature: Some(0), active_parameter: Some(commas) })
}
