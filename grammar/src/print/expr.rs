//! Expressions.

use super::Printer;
use crate::ast::*;
use std::fmt::Write;

/// Where array literals break.
const WIDTH: usize = 100;

/// Binding strengths besides those of [`BinaryOp::precedence`].
pub(super) const TERNARY: u8 = 0;
const UNARY: u8 = 8;
pub(super) const POSTFIX: u8 = 9;

impl Printer {
    pub(super) fn args(&mut self, args: &[Expr]) {
        self.text("(");
        self.list(args, |p, arg| p.expr(arg, TERNARY));
        self.text(")");
    }

    /// An expression where the grammar wants one that binds at least this strongly.
    pub(super) fn expr(&mut self, e: &Expr, least: u8) {
        let strength = match &e.kind {
            ExprKind::Ternary(..) => TERNARY,
            ExprKind::Binary(op, ..) => op.precedence(),
            ExprKind::Unary(..) | ExprKind::Cast(..) | ExprKind::IncDec { prefix: true, .. } => UNARY,
            _ => POSTFIX,
        };
        if strength < least {
            self.text("(");
            self.bare_expr(e);
            self.text(")");
        } else {
            self.bare_expr(e);
        }
    }

    pub(super) fn bare_expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int { value, hex, text } if text.is_empty() => {
                let _ = if *hex { write!(self.out, "0x{value:X}") } else { write!(self.out, "{value}") };
            }
            ExprKind::Real { value, text } if text.is_empty() => {
                // `{:?}` always has a point or an exponent.
                let _ = write!(self.out, "{value:?}");
            }
            ExprKind::Imaginary { value, text } if text.is_empty() => {
                let _ = write!(self.out, "{value:?}i");
            }
            ExprKind::Char { value, text } if text.is_empty() => {
                let _ = write!(self.out, "'\\{value:03o}'");
            }
            ExprKind::Str { value, text } if text.is_empty() => self.quoted(value),
            ExprKind::Int { text, .. }
            | ExprKind::Real { text, .. }
            | ExprKind::Imaginary { text, .. }
            | ExprKind::Char { text, .. }
            | ExprKind::Str { text, .. } => self.text(text),
            ExprKind::Bool(value) => self.text(if *value { "true" } else { "false" }),
            ExprKind::Pi => self.text("pi"),
            ExprKind::Var(name) => self.text(&name.name),
            ExprKind::Paren(inner) => {
                self.text("(");
                self.expr(inner, TERNARY);
                self.text(")");
            }
            ExprKind::Member(base, name) => self.dotted(base, name),
            ExprKind::Index(base, index) => {
                self.expr(base, POSTFIX);
                self.text("[");
                self.expr(index, TERNARY);
                self.text("]");
            }
            ExprKind::Call { callee, args } => {
                self.expr(callee, POSTFIX);
                self.args(args);
            }
            ExprKind::Pop => self.text("pop()"),
            ExprKind::Iter => self.text("iter()"),
            ExprKind::Peek(index) => {
                self.text("peek(");
                self.expr(index, TERNARY);
                self.text(")");
            }
            ExprKind::Unary(op, operand) => {
                self.text(match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                });
                let start = self.out.len();
                self.expr(operand, UNARY);
                if *op == UnaryOp::Neg && self.out[start..].starts_with('-') {
                    self.out.insert(start, ' ');
                }
            }
            ExprKind::IncDec { target, inc, prefix } => {
                let sign = if *inc { "++" } else { "--" };
                if *prefix {
                    self.text(sign);
                    let start = self.out.len();
                    self.expr(target, UNARY);
                    let operand = &self.out[start..];
                    if !inc && operand.starts_with('-') && !operand.starts_with("--") {
                        self.out.insert(start, ' ');
                    }
                } else {
                    self.expr(target, POSTFIX);
                    self.text(sign);
                }
            }
            ExprKind::Binary(op, a, b) => {
                self.expr(a, op.precedence());
                self.text(" ");
                self.text(op.symbol());
                self.text(" ");
                self.expr(b, op.precedence() + 1);
            }
            ExprKind::Ternary(cond, a, b) => {
                self.expr(cond, TERNARY + 1);
                self.text(" ? ");
                self.expr(a, TERNARY);
                self.text(" : ");
                self.expr(b, TERNARY);
            }
            ExprKind::Cast(ty, operand) => {
                self.text("(");
                self.ty(ty);
                self.text(")");
                self.expr(operand, UNARY);
            }
            ExprKind::ArrayLit(items) => self.array(items),
            ExprKind::Error => self.text("?"),
        }
    }

    pub(super) fn dotted(&mut self, base: &Expr, name: &Ident) {
        self.expr(base, POSTFIX);
        // `0.x` would be read as a malformed number.
        let number = matches!(base.kind, ExprKind::Int { .. } | ExprKind::Real { .. } | ExprKind::Imaginary { .. });
        self.text(if number { " ." } else { "." });
        self.text(&name.name);
    }

    /// On one line if it fits, else filled lines one level deeper.
    pub(super) fn array(&mut self, items: &[Expr]) {
        let line_start = self.out.rfind('\n').map_or(0, |end| end + 1);
        let start = self.out.len();
        // The first attempt keeps inner literals flat, or each level would try all the levels below it twice.
        let outer_flat = std::mem::replace(&mut self.flat, true);
        self.text("{");
        self.list(items, |p, item| p.expr(item, TERNARY));
        self.text("}");
        self.flat = outer_flat;
        if outer_flat || self.out.len() - line_start <= WIDTH {
            return;
        }
        if let [only] = items {
            self.out.truncate(start);
            self.text("{");
            self.expr(only, TERNARY);
            return self.text("}");
        }
        self.out.truncate(start);
        self.text("{\n");
        self.depth += 1;
        let mut line = self.out.len();
        self.indent();
        for (i, item) in items.iter().enumerate() {
            let before = self.out.len();
            if i > 0 {
                self.text(" ");
            }
            self.expr(item, TERNARY);
            self.text(if i + 1 < items.len() { "," } else { "" });
            if i > 0 && self.out.len() - line > WIDTH {
                let item = self.out.split_off(before);
                self.text("\n");
                line = self.out.len();
                self.indent();
                self.text(item.trim_start());
            }
        }
        self.text("\n");
        self.depth -= 1;
        self.indent();
        self.text("}");
    }

    pub(super) fn quoted(&mut self, value: &str) {
        self.text("\"");
        for c in value.chars() {
            match c {
                '"' => self.text("\\\""),
                '\\' => self.text("\\\\"),
                '\n' => self.text("\\n"),
                '\t' => self.text("\\t"),
                // Three digits, so that a digit behind it is not taken in.
                c if c.is_ascii_control() => {
                    let _ = write!(self.out, "\\{:03o}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.text("\"");
    }
}
