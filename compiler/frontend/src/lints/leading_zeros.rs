//! # leading-zeros (W0217)
//!
//! Purpose: whole numbers that begin with a zero: C reads them by eights. Input: a file's tree. Output: warnings. Example: `010` is ten here, and eight in C.

use super::tree;
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::SourceMap;

/// Warnings about such numbers.
pub fn lint(sources: &SourceMap, program: &Program, out: &mut Vec<Diagnostic>) {
    tree::expressions(program, &mut |e| {
        let ExprKind::Int { value, hex: false, .. } = &e.kind else { return };
        let text = sources.text(e.span());
        let digits = text.trim_start_matches('0');
        // what has one digit is the same in both
        if digits.len() < 2 || digits.len() == text.len() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return;
        }
        let by_eights = i64::from_str_radix(digits, 8).ok();
        let label = match by_eights {
            Some(n) => format!("{value}; in C it is {n}"),
            None => format!("{value}; in C it is none"),
        };
        let mut d = Diagnostic::warning("W0217", format!("`{text}` is a decimal number"), e.span(), label);
        d = d.fix(Fix::new(format!("write {value} if it is meant"), e.span(), value.to_string()));
        if let Some(n) = by_eights {
            d = d.fix(Fix::new(format!("write {n} for what C reads"), e.span(), n.to_string()));
        }
        out.push(d);
    });
}
