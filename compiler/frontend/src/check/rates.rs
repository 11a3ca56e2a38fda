//! # rates
//!
//! Purpose: the declared rates of `work` and `prework`.
//! Input: the rates as written. Output: a [`WorkDef`] with numbers; what is negative, no constant, or at a void end is reported.

use super::Checker;
use super::constants::NotConstant;
use crate::constant::Const;
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::ast::{self, RateKind};
use sluice_grammar::diagnostic::Diagnostic;

impl Checker<'_> {
    pub(super) fn rate_exprs(&mut self, r: &ast::RateSpec) -> Vec<Option<Expr>> {
        let exprs: Vec<Option<&ast::Expr>> = match &r.rate {
            ast::Rate::Static(e) => vec![Some(e)],
            ast::Rate::Dynamic { min, avg, max } => vec![min.as_ref(), avg.as_ref(), max.as_ref()],
        };
        exprs.into_iter().map(|e| e.map(|e| self.expr_as(e, &Ty::Int, "a rate"))).collect()
    }

    pub(super) fn rates(&mut self, work: &ast::Work, function: FnId, decl: &ast::StreamDecl) -> WorkDef {
        let mut rates = Rates::default();
        let mut dynamic = DynamicRates::default();
        let mut any_dynamic = false;
        let mut span = work.keyword.0;
        for r in &work.rates {
            let at = r.at.0;
            span = span.to(at);
            let name = rate_name(r.kind);
            // the grammar reports a rate given twice
            let values: Vec<Option<u32>> =
                self.rate_exprs(r).into_iter().map(|e| e.and_then(|e| self.rate_value(&e, name))).collect();
            let slot = match r.kind {
                RateKind::Peek => (&mut rates.peek, &mut dynamic.peek),
                RateKind::Pop => (&mut rates.pop, &mut dynamic.pop),
                RateKind::Push => (&mut rates.push, &mut dynamic.push),
            };
            match &r.rate {
                ast::Rate::Static(_) => *slot.0 = values[0].unwrap_or(0),
                ast::Rate::Dynamic { .. } => {
                    any_dynamic = true;
                    let range = DynamicRate { min: values[0].unwrap_or(0), avg: values[1], max: values[2] };
                    *slot.1 = Some(range);
                    if let Some(why) = disordered(&range) {
                        self.report(
                            Diagnostic::error("E0243", format!("the range of the {name} rate is empty"), at, why)
                                .help("a range is `[min, max]` or `[min, average, max]`, each a number or `*`"),
                        );
                    }
                }
            }
            let void = match r.kind {
                RateKind::Peek | RateKind::Pop => self.io.0 == Some(Ty::Void),
                RateKind::Push => self.io.1 == Some(Ty::Void),
            };
            let zero = matches!(&r.rate, ast::Rate::Static(_)) && (values[0] == Some(0) || self.generic);
            if void && !zero {
                let io = self.io_span;
                let side = if r.kind == RateKind::Push { "output" } else { "input" };
                self.report(
                    Diagnostic::error(
                        "E0235",
                        format!("a {name} rate in a filter without {side}"),
                        at,
                        "items of type void?",
                    )
                    .label(io, format!("the {side} type is void")),
                );
            }
        }
        let _ = decl;
        let least = |r: Option<DynamicRate>| r.map_or(0, |r| r.min);
        rates.peek = rates.peek.max(rates.pop).max(least(dynamic.peek)).max(least(dynamic.pop));
        WorkDef {
            function,
            rates,
            dynamic: any_dynamic.then_some(dynamic),
            counts_proved: false,
            peeks_proved: false,
            span,
        }
    }

    fn rate_value(&mut self, e: &Expr, name: &str) -> Option<u32> {
        if e.ty == Ty::Error {
            return None;
        }
        match self.constant(e) {
            Ok(Some(Const::Int(n))) if n >= 0 => Some(n as u32),
            Ok(Some(Const::Int(n))) => {
                self.error("E0234", format!("the {name} rate is negative"), e.span, format!("this is {n}"));
                None
            }
            Ok(_) => None,
            Err(NotConstant) => {
                self.report(
                    Diagnostic::error("E0233", format!("the {name} rate is not a constant"), e.span, "not known at compile time")
                        .help("use parameters, statics, literals, and fields that no firing changes; or declare a dynamic rate: `*` or `[min, max]`"),
                );
                None
            }
        }
    }
}

/// What is out of order in a range.
fn disordered(r: &DynamicRate) -> Option<String> {
    let most = r.max.unwrap_or(u32::MAX);
    match r.avg {
        _ if r.min > most => Some(format!("the least, {}, is more than the most, {most}", r.min)),
        Some(avg) if avg < r.min => Some(format!("the average, {avg}, is less than the least, {}", r.min)),
        Some(avg) if avg > most => Some(format!("the average, {avg}, is more than the most, {most}")),
        _ => None,
    }
}

/// The keyword of a rate.
fn rate_name(kind: RateKind) -> &'static str {
    match kind {
        RateKind::Peek => "peek",
        RateKind::Pop => "pop",
        RateKind::Push => "push",
    }
}
