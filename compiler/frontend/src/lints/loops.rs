//! # loops (W0207, W0223)
//!
//! Purpose: loops over literals that cannot be meant. Input: a file's tree. Output: warnings.
//!
//! - `for (i = 10; i < 0; i--)`: never turns.
//! - `for (i = 0; i < 10; i--)`: turns away from its end.
//! - `for (float t = 0; t < 20000000; t++)`: at 16777216 a float plus one is the same float.
//!
//! Limits: start, end and step are literals, and the body does not write the counter.

use super::tree;
use crate::check::stmt::assigned_names;
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::{SourceMap, Span};

/// A loop over literals.
struct Counted<'t> {
    first: f64,
    /// Is the counter a float?
    float: bool,
    op: BinaryOp,
    cond: &'t Expr,
    bound: f64,
    by: f64,
    step: Span,
    left: &'t Expr,
    right: &'t Expr,
}

/// Warnings about loops.
pub fn lint(sources: &SourceMap, program: &Program, out: &mut Vec<Diagnostic>) {
    tree::statements(program, &mut |s| {
        let Some(c) = counted(s) else { return };
        let turns = match c.op {
            BinaryOp::Lt => c.first < c.bound,
            BinaryOp::Le => c.first <= c.bound,
            BinaryOp::Gt => c.first > c.bound,
            _ => c.first >= c.bound,
        };
        let upward = matches!(c.op, BinaryOp::Lt | BinaryOp::Le);
        if !turns {
            let label = format!("not even true of the first value, {}", c.first);
            let d = Diagnostic::warning("W0207", "this loop never turns", c.cond.span(), label);
            out.push(if upward == (c.by < 0.0) { d.fix(turned(sources, &c)) } else { d });
        } else if upward == (c.by < 0.0) {
            let label = format!("from {} this leads away from {}", c.first, c.bound);
            let mut d = Diagnostic::warning("W0207", "this loop turns away from its end", c.step, label)
                .label(c.cond.span(), "the end");
            let step = sources.text(c.step);
            let other = match (step.contains("++"), step.contains("--")) {
                (true, _) => Some(step.replace("++", "--")),
                (_, true) => Some(step.replace("--", "++")),
                _ => None,
            };
            if let Some(other) = other {
                d = d.fix(Fix::new(format!("write `{other}`"), c.step, other));
            }
            out.push(d);
        } else if let Some(at) = c.float.then(|| stops_at(&c)).flatten() {
            let title = "this counter stops short of its end";
            let label = format!("{at} plus {} is {at}: a float holds no number between", c.by);
            out.push(
                Diagnostic::warning("W0223", title, c.step, label)
                    .label(c.cond.span(), "never false")
                    .help("count in an int (up to 2147483647), or in a double"),
            );
        }
    });
}

/// The same comparison the other way round.
fn turned(sources: &SourceMap, c: &Counted<'_>) -> Fix {
    let op = match c.op {
        BinaryOp::Lt => ">",
        BinaryOp::Le => ">=",
        BinaryOp::Gt => "<",
        _ => "<=",
    };
    let text = format!("{} {op} {}", sources.text(c.left.span()), sources.text(c.right.span()));
    Fix::new(format!("write `{text}`"), c.cond.span(), text)
}

/// The value at which a float counter comes to rest before its end.
fn stops_at(c: &Counted<'_>) -> Option<f32> {
    let (by, bound) = (c.by as f32, c.bound as f32);
    let rests = |v: f32| v + by == v;
    if by == 0.0 || !rests(bound) {
        return None;
    }
    // the spacing of floats doubles with each power of two: it comes to rest at the first where a step is lost
    let mut power = 1f32;
    while !rests(power.copysign(by)) {
        power *= 2.0;
    }
    let at = power.copysign(by);
    let before_end = if by > 0.0 { at < bound } else { at > bound };
    let after_start = if by > 0.0 { at >= c.first as f32 } else { at <= c.first as f32 };
    (before_end && after_start).then_some(at)
}

fn counted(s: &Stmt) -> Option<Counted<'_>> {
    let StmtKind::For { init, cond: Some(cond), step, body } = &s.kind else { return None };
    let ([init], [step]) = (&init[..], &step[..]) else { return None };
    let (name, first, float) = match &init.kind {
        StmtKind::Decl(d) => match &d.vars[..] {
            [(name, Some(e))] if d.ty.dims.is_empty() => (&name.name, tree::number(e)?, d.ty.base == BaseType::Float),
            _ => return None,
        },
        StmtKind::Assign { target, op: None, value } => (variable(target)?, tree::number(value)?, false),
        _ => return None,
    };
    let ExprKind::Binary(op, left, right) = &cond.unparen().kind else { return None };
    if !matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge) || variable(left) != Some(name) {
        return None;
    }
    let by = match &step.kind {
        StmtKind::Expr(e) => match &e.unparen().kind {
            ExprKind::IncDec { target, inc, .. } if variable(target) == Some(name) => {
                if *inc {
                    1.0
                } else {
                    -1.0
                }
            }
            _ => return None,
        },
        StmtKind::Assign { target, op: Some(op @ (BinaryOp::Add | BinaryOp::Sub)), value }
            if variable(target) == Some(name) =>
        {
            let by = tree::number(value)?;
            if *op == BinaryOp::Add { by } else { -by }
        }
        _ => return None,
    };
    if by == 0.0 || assigned_names(std::slice::from_ref(body)).contains(name) {
        return None;
    }
    let bound = tree::number(right)?;
    Some(Counted { first, float, op: *op, cond, bound, by, step: step.at.0, left, right })
}

fn variable(e: &Expr) -> Option<&Name> {
    match &e.unparen().kind {
        ExprKind::Var(name) => Some(&name.name),
        _ => None,
    }
}
