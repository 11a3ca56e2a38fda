//! What the tests of this crate share.
#![allow(dead_code)] // each test uses some of it

pub mod fuzz;
pub mod grow;
pub mod scatter;

use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::FileId;

pub fn parse(text: &str) -> (Program, Vec<Diagnostic>) {
    sluice_grammar::parse(FileId(0), text)
}

/// The tree of a text without faults.
#[track_caller]
pub fn good(text: &str) -> Program {
    let (program, diagnostics) = parse(text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    program
}

/// The codes of the diagnostics of a text.
pub fn codes(text: &str) -> Vec<&'static str> {
    parse(text).1.iter().map(|diagnostic| diagnostic.code).collect()
}

/// The only diagnostic of a text.
#[track_caller]
pub fn only(text: &str) -> Diagnostic {
    let (_, diagnostics) = parse(text);
    assert_eq!(diagnostics.len(), 1, "{text}\n{diagnostics:#?}");
    diagnostics.into_iter().next().unwrap()
}

/// The text with the edits of a diagnostic's first fix made.
#[track_caller]
pub fn mend(text: &str, diagnostic: &Diagnostic) -> String {
    let mut edits = diagnostic.fixes.first().expect("a fix").edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = text.to_string();
    for edit in edits {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    text
}

/// A filter whose work function has this body.
pub fn in_work(body: &str) -> String {
    format!("void->void filter F {{ work {{ {body} }} }}")
}

/// A pipeline with this body.
pub fn in_pipeline(body: &str) -> String {
    format!("void->void pipeline P {{ {body} }}")
}

/// The stream of this name.
#[track_caller]
pub fn stream<'p>(program: &'p Program, name: &str) -> &'p StreamDecl {
    let found = program.items.iter().find_map(|item| match item {
        Item::Stream(stream) if stream.name.as_ref().is_some_and(|own| &*own.name == name) => Some(stream),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no stream {name} in {program:#?}"))
}

/// The members of a filter.
#[track_caller]
pub fn members(stream: &StreamDecl) -> &[Member] {
    match &stream.body {
        StreamBody::Filter(members) => members,
        StreamBody::Composite(_) => panic!("no filter"),
    }
}

/// The statements of a composite stream.
#[track_caller]
pub fn composite(stream: &StreamDecl) -> &[Stmt] {
    match &stream.body {
        StreamBody::Composite(block) => &block.stmts,
        StreamBody::Filter(_) => panic!("a filter"),
    }
}

/// The statements of a work function with this body.
#[track_caller]
pub fn work(body: &str) -> Vec<Stmt> {
    let program = good(&in_work(body));
    work_of(stream(&program, "F")).to_vec()
}

/// The statements of a filter's work function.
#[track_caller]
pub fn work_of(filter: &StreamDecl) -> &[Stmt] {
    let work = members(filter).iter().find_map(|member| match member {
        Member::Work(work) => Some(&work.body.stmts),
        _ => None,
    });
    work.expect("a work function")
}

/// An expression.
#[track_caller]
pub fn expr(text: &str) -> Expr {
    match work(&format!("x = {text};")).remove(0).kind {
        StmtKind::Assign { value, .. } => value,
        other => panic!("{other:#?}"),
    }
}

/// The grouping of an expression, fully parenthesised.
pub fn grouping(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Paren(e) => grouping(e),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", grouping(a), op.symbol(), grouping(b)),
        ExprKind::Ternary(c, a, b) => format!("({} ? {} : {})", grouping(c), grouping(a), grouping(b)),
        ExprKind::Unary(op, e) => {
            let sign = match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
                UnaryOp::BitNot => "~",
            };
            format!("({sign}{})", grouping(e))
        }
        ExprKind::Cast(ty, e) => format!("(({}){})", sluice_grammar::print::print_type(ty), grouping(e)),
        ExprKind::IncDec { target, inc, prefix } => {
            let sign = if *inc { "++" } else { "--" };
            if *prefix { format!("({sign}{})", grouping(target)) } else { format!("({}{sign})", grouping(target)) }
        }
        ExprKind::Member(e, name) => format!("({}.{})", grouping(e), name.name),
        ExprKind::Index(e, i) => format!("({}[{}])", grouping(e), grouping(i)),
        _ => sluice_grammar::print::print_expr(e),
    }
}
