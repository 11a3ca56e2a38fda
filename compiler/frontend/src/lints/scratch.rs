//! # scratch (W0232)
//!
//! Purpose: fields in which nothing goes from one firing to the next, so that they could be variables of `work`. For an array this is
//! what makes a filter stateful that is not: the state analysis does not follow elements, this lint does.
//! Input: a filter's tree, its [`Instance`]s and the [`Names`]. Output: warnings. Only fields that nothing but `work` names.

use super::instances::Instance;
use super::names::{Body, Kind, Names};
use super::removal;
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::Applicability::Safe;
use sluice_grammar::diagnostic::{Diagnostic, Edit, Fix};
use sluice_grammar::span::{SourceMap, Span};

/// Warnings about one filter.
pub fn lint(
    sources: &SourceMap,
    decl: &StreamDecl,
    instances: &[Instance],
    names: &Names<'_>,
    out: &mut Vec<Diagnostic>,
) {
    let StreamBody::Filter(members) = &decl.body else { return };
    let work = members.iter().find_map(|m| if let Member::Work(w) = m { Some(w) } else { None });
    let Some(work) = work else { return };
    let Some(first) = instances.first() else { return };
    for span in &first.private {
        if !instances.iter().all(|i| i.private.contains(span)) {
            continue;
        }
        let field = names.declared_at(*span).filter(|v| v.kind == Kind::Field);
        let Some(field) = field else { continue };
        let only_work = field.named_in.iter().all(|b| *b == Body::Work);
        if field.reads == 0 || field.writes.is_empty() || !only_work || field.name.name.starts_with('_') {
            continue;
        }
        let Some((fields, i)) = field.decl else { continue };
        let name = &field.name.name;
        let array = !field.ty.dims.is_empty();
        let title = format!("the field `{name}` could be a variable of `work`");
        let label = if array {
            "each firing fills it before it reads it, but as a field it counts as state"
        } else {
            "each firing sets it before it reads it"
        };
        let text = format!("{} {name};", sources.text(field.ty.at.0));
        let title_of_fix = format!("declare `{text}` in `work`");
        let gone = match fields.vars[..] {
            [_] => removal::documented(sources, fields.at.0),
            _ => {
                let items: Vec<Span> =
                    (fields.vars.iter()).map(|(n, e)| e.as_ref().map_or(n.span(), |e| n.span().to(e.span()))).collect();
                removal::item(&items, i)
            }
        };
        let edits = vec![gone, in_front(sources, &work.body, &text)];
        out.push(
            Diagnostic::warning("W0232", title, *span, label)
                .label(field.writes[0], if array { "filled here" } else { "set here" })
                .fix(Fix::of(title_of_fix, edits, Safe)),
        );
    }
}

/// A declaration as the first statement of a body.
fn in_front(sources: &SourceMap, body: &Block, declaration: &str) -> Edit {
    let text = &sources.file(body.at.0.file).text;
    let behind = body.at.0.start as usize + 1;
    let rest = &text[behind..];
    let space = &rest[..rest.len() - rest.trim_start().len()];
    // on a line of its own, where the first statement has one
    let own_line = space.rfind('\n').map(|n| &space[n + 1..]);
    let text = match own_line {
        Some(indent) => format!("\n{indent}{declaration}"),
        None => format!(" {declaration}"),
    };
    Edit { span: Span::new(body.at.0.file, behind, behind), text }
}
