//! # stateful (W0230, W0231)
//!
//! Purpose: the keyword `stateful` where it disagrees with what the filter does. Input: a filter's tree and its [`Instance`]s.
//! Output: warnings.
//! Programs of old do not use the keyword: that it is missing (W0231) is told only in files that use it somewhere, or where the
//! command line asks for it.

use super::instances::Instance;
use sluice_grammar::ast::StreamDecl;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::{SourceMap, Span};
use sluice_grammar::token::{Token, lex};

/// Warnings about one filter. `wanted`: the keyword is expected on filters with state.
pub fn lint(sources: &SourceMap, decl: &StreamDecl, instances: &[Instance], wanted: bool, out: &mut Vec<Diagnostic>) {
    match decl.stateful {
        Some(at) if instances.iter().all(|i| i.stateful.is_none()) => {
            let title = "this filter is declared stateful, but has no state";
            let text = &sources.file(at.0.file).text;
            let rest = &text[at.0.end as usize..];
            let space = (rest.len() - rest.trim_start_matches([' ', '\t']).len()) as u32;
            let cut = Span { end: at.0.end + space, ..at.0 };
            out.push(
                Diagnostic::warning("W0230", title, at.0, "nothing goes from one firing to the next").fix(Fix::safe(
                    "remove `stateful`",
                    cut,
                    "",
                )),
            );
        }
        None if wanted && instances.iter().all(|i| i.stateful.is_some()) => {
            let Some(shown) = instances.first().and_then(|i| i.stateful) else { return };
            let header = decl.header.0;
            let keyword = lex(sources.text(header)).iter().find(|t| t.token == Token::Filter).map(|t| t.start);
            let Some(keyword) = keyword else { return };
            let at = Span { start: header.start + keyword, end: header.start + keyword, ..header };
            let title = "this filter has state, but is not declared stateful";
            out.push(
                Diagnostic::warning("W0231", title, header, "other filters of this file say so")
                    .label(shown, "a later firing sees what is written here")
                    .fix(Fix::safe("add `stateful`", at, "stateful ")),
            );
        }
        _ => {}
    }
}
