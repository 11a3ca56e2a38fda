//! # missing
//!
//! Purpose: a declaration for a stream that is added and does not exist. Input: a view, the place of its name. Output: a fix that writes a filter behind the stream that adds it; its types are those of its place as
//! far as its neighbours and the streams around it say them, its parameters those that the arguments have.

use super::facts::{addings, streams};
use crate::world::view::View;
use sluice_grammar::ast::{
    BinaryOp as B, Expr, ExprKind as E, Item, Stmt, StmtKind, StreamBody, StreamDecl, StreamKind, StreamRef, Type,
};
use sluice_grammar::diagnostic::Fix;
use sluice_grammar::span::Span;

/// Types of items in and out, as they are written; `None` where nothing says it.
type Io = (Option<String>, Option<String>);

/// The declaration.
pub fn missing_stream(view: &View, name: Span) -> Option<Fix> {
    let text = view.syntax.piece(name);
    let stmt = addings(view.tree())
        .into_iter()
        .find(|a| matches!(a.stream, StreamRef::Named { name: n, .. } if n.span() == name))?;
    let StreamRef::Named { args, .. } = stmt.stream else { return None };
    let outer = view.tree().items.iter().find_map(|i| match i {
        Item::Stream(s) if s.at.0.touches(name.start) => Some(s),
        _ => None,
    })?;
    let (input, output) = within(view, outer, (None, None), stmt.stmt.at.0)?;
    let input = input.or_else(|| output.clone().filter(|o| o != "void")).unwrap_or_else(|| "float".into());
    let output = output.unwrap_or_else(|| if input == "void" { "float".into() } else { input.clone() });
    let params: Vec<String> = args.iter().enumerate().map(|(i, e)| parameter(view, e, i)).collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    let mut rates = String::new();
    if output != "void" {
        rates += " push 1";
    }
    if input != "void" {
        rates += " pop 1";
    }
    let push = match output.as_str() {
        "int" | "float" | "double" | "complex" | "bit" => "        push(0);\n".to_string(),
        "boolean" => "        push(false);\n".into(),
        // what has parts is declared, and begins with zeroes
        _ => format!("        {output} item;\n        push(item);\n"),
    };
    let body = match (input.as_str(), output.as_str()) {
        ("void", "void") => String::new(),
        ("void", _) => push,
        (_, "void") => "        pop();\n".into(),
        (i, o) if i == o => "        push(pop());\n".into(),
        _ => format!("        pop();\n{push}"),
    };
    let code = format!("\n\n{input}->{output} filter {text}{params} {{\n    work{rates} {{\n{body}    }}\n}}");
    let behind = Span { start: outer.at.0.end, ..outer.at.0 };
    Some(Fix::new(format!("declare a filter `{text}`"), behind, code))
}

fn parameter(view: &View, e: &Expr, i: usize) -> String {
    let ty = type_of(view, e).unwrap_or_else(|| "float".into());
    match &e.unparen().kind {
        E::Var(name) => format!("{ty} {}", name.name),
        _ => format!("{ty} p{}", i + 1),
    }
}

/// A type as it is written, without its outermost dimensions.
fn written(view: &View, ty: &Type, without: usize) -> Option<String> {
    let all = view.syntax.piece(ty.at.0);
    let base = all.split('[').next()?.trim().to_string();
    let dims = ty.dims.get(without..)?;
    Some(dims.iter().fold(base, |text, d| text + "[" + view.syntax.piece(d.span()) + "]"))
}

/// The type of an expression, as far as it can be seen.
fn type_of(view: &View, e: &Expr) -> Option<String> {
    let index = view.syntax.index();
    let declared = |at: Span| index.at(at.file, at.start).and_then(|u| index.symbol(u.symbol).ty.as_ref());
    let wider = |a: String, b: String| {
        let rank = |t: &str| ["boolean", "bit", "int", "float", "double", "complex"].iter().position(|k| *k == t);
        match (rank(&a), rank(&b)) {
            (Some(x), Some(y)) => {
                if x < y {
                    b
                } else {
                    a
                }
            }
            // a vector times a number
            (Some(_), None) => b,
            _ => a,
        }
    };
    Some(match &e.unparen().kind {
        E::Int { .. } | E::Char { .. } => "int".into(),
        E::Real { .. } | E::Pi => "float".into(),
        E::Bool(_) => "boolean".into(),
        E::Imaginary { .. } => "complex".into(),
        E::Str { .. } => return None,
        E::Var(name) => written(view, declared(name.span())?, 0)?,
        E::Index(..) => {
            let (mut base, mut without) = (e.unparen(), 0);
            while let E::Index(inner, _) = &base.kind {
                (base, without) = (inner.unparen(), without + 1);
            }
            match &base.kind {
                E::Var(name) | E::Member(_, name) => written(view, declared(name.span())?, without)?,
                _ => return None,
            }
        }
        E::Member(of, name) => match declared(name.span()) {
            Some(ty) => written(view, ty, 0)?,
            // a part of a complex number or a vector
            None => type_of(view, of).map(|_| "float".to_string())?,
        },
        E::Cast(ty, _) => written(view, ty, 0)?,
        E::Unary(_, a) => type_of(view, a)?,
        E::Binary(B::Lt | B::Le | B::Gt | B::Ge | B::Eq | B::Ne | B::And | B::Or, ..) => "boolean".into(),
        E::Binary(B::Shl | B::Shr, a, _) => type_of(view, a)?,
        E::Binary(_, a, b) => wider(type_of(view, a)?, type_of(view, b)?),
        E::Ternary(_, a, b) => wider(type_of(view, a)?, type_of(view, b)?),
        E::ArrayLit(items) => {
            let first = items.iter().map(|i| type_of(view, i)).try_fold(None, |all: Option<String>, t| {
                Some(Some(match (all, t?) {
                    (Some(all), t) => wider(all, t),
                    (None, t) => t,
                }))
            })??;
            let (base, rest) = first.split_at(first.find('[').unwrap_or(first.len()));
            format!("{base}[{}]{rest}", items.len())
        }
        E::Call { callee, args } => match &callee.unparen().kind {
            E::Var(f) if matches!(&*f.name, "complex" | "float2" | "float3" | "float4") => f.name.to_string(),
            E::Var(f) if matches!(&*f.name, "abs" | "min" | "max") => {
                args.iter().map(|a| type_of(view, a)).try_fold("bit".to_string(), |all, t| Some(wider(all, t?)))?
            }
            E::Var(f) => declared(f.span()).and_then(|t| written(view, t, 0)).unwrap_or_else(|| "float".into()),
            E::Member(_, f) => written(view, declared(f.span())?, 0)?,
            _ => return None,
        },
        _ => return None,
    })
}

/// The types of what stands at an `add` somewhere in a stream; `place`: those of the stream's own place.
fn within(view: &View, outer: &StreamDecl, place: Io, add: Span) -> Option<Io> {
    let StreamBody::Composite(body) = &outer.body else { return None };
    let own = io_of(view, outer, place);
    let mut adds = Vec::new();
    body.stmts.iter().for_each(|s| added(s, add, &mut adds));
    let at = adds.iter().position(|(s, _)| s.at.0.start <= add.start && add.end <= s.at.0.end)?;
    let (stmt, stream) = adds[at];
    let side = |(_, stream): &(&Stmt, &StreamRef), output: bool| {
        let io = stream_io(view, stream);
        if output { io.1 } else { io.0 }
    };
    let here = match outer.kind {
        StreamKind::Pipeline | StreamKind::Filter => {
            let input = match at.checked_sub(1) {
                Some(before) => side(&adds[before], true),
                None => own.0,
            };
            let output = match adds.get(at + 1) {
                Some(behind) => side(behind, false),
                None => own.1,
            };
            (input, output)
        }
        StreamKind::SplitJoin => {
            let others = || adds.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, a)| a);
            let said = |own: Option<String>, output| own.or_else(|| others().find_map(|a| side(a, output)));
            (said(own.0, false), said(own.1, true))
        }
        StreamKind::FeedbackLoop => {
            let other = adds.iter().find(|(s, _)| s.at.0 != stmt.at.0).map(|(_, stream)| stream_io(view, stream));
            let other = other.unwrap_or_default();
            match stmt.kind {
                StmtKind::Loop { .. } => (other.1.or(own.1), other.0.or(own.0)),
                _ => (own.0.or(other.1), own.1.or(other.0)),
            }
        }
    };
    match stream {
        StreamRef::Anonymous(inner) if stmt.at.0 != add => within(view, inner, here, add),
        _ => Some(here),
    }
}

/// The `add`s of a statement in the order of the program; of alternatives the one that has the `add` in question, or else the first.
fn added<'t>(s: &'t Stmt, add: Span, all: &mut Vec<(&'t Stmt, &'t StreamRef)>) {
    let has = |s: &Stmt| s.at.0.start <= add.start && add.end <= s.at.0.end;
    match &s.kind {
        StmtKind::Add { stream, .. } | StmtKind::Body { stream, .. } | StmtKind::Loop { stream, .. } => {
            all.push((s, stream));
        }
        StmtKind::Block(b) => b.stmts.iter().for_each(|s| added(s, add, all)),
        StmtKind::If { els: Some(els), .. } if has(els) => added(els, add, all),
        StmtKind::If { then: body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. } => added(body, add, all),
        StmtKind::Switch { cases, .. } => {
            let case = cases.iter().find(|c| c.body.iter().any(has)).or(cases.first());
            case.iter().flat_map(|c| &c.body).for_each(|s| added(s, add, all));
        }
        _ => {}
    }
}

fn io_of(view: &View, decl: &StreamDecl, place: Io) -> Io {
    let text = |t: &Type| Some(view.syntax.piece(t.at.0).to_string());
    decl.io.as_ref().map_or(place, |(i, o)| (text(i), text(o)))
}

/// The types that a stream has by itself.
fn stream_io(view: &View, stream: &StreamRef) -> Io {
    let (name, type_args) = match stream {
        StreamRef::Anonymous(d) => {
            // where nothing is said, what is in it may say it
            let (input, output) = io_of(view, d, (None, None));
            let StreamBody::Composite(body) = &d.body else { return (input, output) };
            let mut adds = Vec::new();
            body.stmts.iter().for_each(|s| added(s, Span::default(), &mut adds));
            let (first, last) = (adds.first(), if d.kind == StreamKind::Pipeline { adds.last() } else { adds.first() });
            return (
                input.or_else(|| first.and_then(|(_, s)| stream_io(view, s).0)),
                output.or_else(|| last.and_then(|(_, s)| stream_io(view, s).1)),
            );
        }
        StreamRef::Named { name, type_args, .. } => (name, type_args),
    };
    if let Some(t) = type_args.first() {
        let (item, void) = (Some(view.syntax.piece(t.at.0).to_string()), Some("void".to_string()));
        return match &*name.name {
            "FileReader" => (void, item),
            "FileWriter" => (item, void),
            _ => (item.clone(), item),
        };
    }
    let index = view.syntax.index();
    let Some(header) = index.stream(&name.name).map(|s| index.symbol(s).header) else { return (None, None) };
    let decl = streams(view.syntax.tree(header.file)).into_iter().find(|s| s.header.0 == header);
    decl.map_or((None, None), |d| io_of(view, d, (None, None)))
}
