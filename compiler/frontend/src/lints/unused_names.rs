//! # unused-names (W0211 to W0214)
//!
//! Purpose: parameters, fields, variables and functions that nothing reads or calls. Input: [`Names`]. Output: warnings.
//! A name that begins with `_` is meant to be unused. A variable is unused when its value is never read, however often it is
//! written; cutting it out is safe where nothing writes it and its initialiser does nothing but give a value.

use super::names::{Kind, Names, Owner, Use, Variable};
use super::{removal, tree};
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::Applicability::{NeedsALook, Safe};
use sluice_grammar::diagnostic::{Diagnostic, Edit, Fix};
use sluice_grammar::span::{SourceMap, Span};

/// Places of one variable that a message shows.
const SHOWN: usize = 3;

/// Warnings about unused names.
pub fn lint(sources: &SourceMap, names: &Names<'_>, out: &mut Vec<Diagnostic>) {
    for v in names.variables.iter().filter(|v| v.reads == 0 && !v.name.name.starts_with('_')) {
        out.push(match v.kind {
            Kind::StreamParam | Kind::Param => parameter(names, v),
            Kind::Field => variable(sources, v, "W0212", "field"),
            Kind::Local => variable(sources, v, "W0213", "variable"),
        });
    }
    for f in names.functions.iter().filter(|f| !f.used && !f.decl.name.name.starts_with('_')) {
        let name = &f.decl.name;
        let label = if f.called { "called only by functions that nothing calls" } else { "nothing calls it" };
        let title = format!("the function `{}` is never used", name.name);
        let fix = Fix::of("remove the function", vec![removal::documented(sources, f.decl.at.0)], NeedsALook);
        out.push(Diagnostic::warning("W0214", title, name.span(), label).fix(fix));
    }
}

fn variable(sources: &SourceMap, v: &Variable<'_>, code: &'static str, what: &str) -> Diagnostic {
    let name = v.name;
    if !v.writes.is_empty() {
        let title = format!("the {what} `{}` is written, but never read", name.name);
        let mut d = Diagnostic::warning(code, title, name.span(), "nothing reads it");
        for at in v.writes.iter().take(SHOWN) {
            d = d.label(*at, "written here");
        }
        return d.help(format!("remove it, or call it `_{}` if it is meant", name.name));
    }
    let title = format!("the {what} `{}` is never used", name.name);
    let mut d = Diagnostic::warning(code, title, name.span(), "nothing reads it");
    if let Some(fix) = without(sources, v, what) {
        d = d.fix(fix);
    }
    d.fix(renamed(name))
}

fn renamed(name: &Ident) -> Fix {
    let at = Span { end: name.span().start, ..name.span() };
    Fix::new(format!("call it `_{}` if it is meant to be unused", name.name), at, "_")
}

/// The declaration cut out, where that can be done.
fn without(sources: &SourceMap, v: &Variable<'_>, what: &str) -> Option<Fix> {
    let (decl, i) = v.decl?;
    let init = decl.vars[i].1.as_ref();
    let title = format!("remove the {what}");
    let pure = init.is_none_or(tree::is_pure);
    if let [_] = decl.vars[..] {
        if !v.removable {
            return None;
        }
        // a pop or a call is still to be made
        if let Some(e) = init.filter(|_| !pure) {
            let acts = matches!(e.unparen().kind, ExprKind::Pop | ExprKind::Call { .. });
            if !acts || v.kind != Kind::Local {
                return Some(Fix::of(title, vec![removal::whole(sources, decl.at.0)], NeedsALook));
            }
            let text = format!("{};", sources.text(e.span()));
            return Some(Fix::safe(format!("keep only `{text}`"), decl.at.0, text));
        }
        let edit = match v.kind {
            Kind::Field => removal::documented(sources, decl.at.0),
            _ => removal::whole(sources, decl.at.0),
        };
        return Some(Fix::of(title, vec![edit], Safe));
    }
    let items: Vec<Span> =
        decl.vars.iter().map(|(n, e)| e.as_ref().map_or(n.span(), |e| n.span().to(e.span()))).collect();
    Some(Fix::of(title, vec![removal::item(&items, i)], if pure { Safe } else { NeedsALook }))
}

fn parameter(names: &Names<'_>, v: &Variable<'_>) -> Diagnostic {
    let name = v.name;
    let of = match v.of {
        Some(Owner::Stream(Some(s))) => format!(" of `{}`", s.name),
        Some(Owner::Function(f)) => format!(" of `{}`", names.functions[f].decl.name.name),
        Some(Owner::Grouped(g, f)) => format!(" of `{g}.{}`", f.name),
        Some(Owner::Handler(h)) => format!(" of the handler `{}`", h.name),
        _ => String::new(),
    };
    let label = if v.writes.is_empty() { "nothing reads it" } else { "written, but never read" };
    let title = format!("the parameter `{}`{of} is never used", name.name);
    let d = Diagnostic::warning("W0211", title, name.span(), label);
    let d = match without_argument(names, v) {
        Some(fix) => d.fix(fix),
        None => d,
    };
    // a name that is written elsewhere would have to change there, too
    if v.writes.is_empty() { d.fix(renamed(name)) } else { d }
}

/// The parameter cut out, with its argument wherever the stream or function is used; `None` where not all uses are known, or an
/// argument does something.
fn without_argument(names: &Names<'_>, v: &Variable<'_>) -> Option<Fix> {
    let i = v.params.iter().position(|p| p.name.at.0 == v.name.at.0)?;
    let uses: &[Use<'_>] = match v.of? {
        Owner::Stream(Some(s)) => names.stream_uses.get(&s.name).map_or(&[], |u| &u[..]),
        Owner::Function(f) => names.calls.get(&f).map_or(&[], |u| &u[..]),
        _ => return None,
    };
    if !v.writes.is_empty() || uses.iter().any(|u| u.args.len() != v.params.len() || !tree::is_pure(&u.args[i])) {
        return None;
    }
    let params: Vec<Span> = v.params.iter().map(|p| p.ty.at.0.to(p.name.span())).collect();
    let mut edits: Vec<Edit> = vec![removal::item(&params, i)];
    for u in uses {
        let args: Vec<Span> = u.args.iter().map(Expr::span).collect();
        edits.push(removal::item(&args, i));
    }
    let title = if uses.is_empty() { "remove it" } else { "remove it, and the arguments for it" };
    Some(Fix::of(title, edits, NeedsALook))
}
