//! # peeks (W0241)
//!
//! Purpose: a `peek` rate deeper than any firing looks: the items wait longer, and the last ones of an input are never seen.
//! Input: a filter's tree and its [`Instance`]s. Output: warnings. The fix lowers the rate: more firings happen at the end of the
//! input, fewer items are needed at the start. It is offered where the rate is too large by the same number in all instances.

use super::instances::{Instance, Reach, rate};
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::{SourceMap, Span};

/// Warnings about one filter.
pub fn lint(sources: &SourceMap, decl: &StreamDecl, instances: &[Instance], out: &mut Vec<Diagnostic>) {
    let StreamBody::Filter(members) = &decl.body else { return };
    for m in members {
        let (work, prework) = match m {
            Member::Work(w) => (w, false),
            Member::Prework(w) => (w, true),
            _ => continue,
        };
        let Some(peek) = rate(work, RateKind::Peek) else { continue };
        let Rate::Static(written) = &peek.rate else { continue };
        let all: Option<Vec<(&Reach, u32)>> = (instances.iter())
            .map(|i| {
                let r = i.bodies.iter().find(|b| b.prework == prework)?;
                let needed = r.reach?.max(r.rates.pop);
                (needed < r.rates.peek).then_some((r, needed))
            })
            .collect();
        let Some(all) = all.filter(|all| !all.is_empty()) else { continue };
        let (first, needed) = all[0];
        let items = |n: u32| if n == 1 { "1 item".to_string() } else { format!("{n} items") };
        let title =
            format!("no firing looks further than {}, but `peek {}` is declared", items(needed), first.rates.peek);
        let mut d = Diagnostic::warning("W0241", title, peek.at.0, "deeper than any firing looks");
        if let Some(fix) = lower(sources, work, peek.at.0, written, &all) {
            d = d.fix(fix);
        }
        out.push(match d.fixes.is_empty() {
            true => d.help("declare as many items as a firing looks at, those that it pops included"),
            false => d,
        });
    }
}

fn lower(sources: &SourceMap, work: &Work, at: Span, written: &Expr, all: &[(&Reach, u32)]) -> Option<Fix> {
    // without the rate, as many items are needed as are popped
    if all.iter().all(|(r, needed)| *needed == r.rates.pop) && rate(work, RateKind::Pop).is_some() {
        let text = &sources.file(at.file).text;
        let before = &text[..at.start as usize];
        let space = before.len() - before.trim_end().len();
        let cut = Span { start: at.start - space as u32, ..at };
        return Some(Fix::new("remove the rate", cut, ""));
    }
    let (first, needed) = all[0];
    if let ExprKind::Int { .. } = written.unparen().kind {
        return Some(Fix::new(format!("write `peek {needed}`"), written.span(), needed.to_string()));
    }
    let less = first.rates.peek - needed;
    if all.iter().any(|(r, needed)| r.rates.peek - needed != less) {
        return None;
    }
    let text = sources.text(written.span());
    let loose = match written.kind {
        ExprKind::Binary(op, ..) => op.precedence() < BinaryOp::Sub.precedence(),
        ExprKind::Ternary(..) => true,
        _ => false,
    };
    let text = if loose { format!("({text}) - {less}") } else { format!("{text} - {less}") };
    Some(Fix::new(format!("write `peek {text}`"), written.span(), text))
}
