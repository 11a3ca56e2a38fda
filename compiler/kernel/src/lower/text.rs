//! Printing: text put together becomes a sequence of prints.
//!
//! ```text
//! println("x" + (c ? "a" : "b") + y);   →   if $0 { text "xa" ... }
//! ```
//!
//! Input: typed expressions of type text. Output: statements. All parts are evaluated before the first one prints.

use super::{FunctionLowering, Lowered};
use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::{self, ExprKind as T};

/// A piece of a text, evaluated.
enum Part {
    Text(String),
    Value(Expr),
    Choice(Expr, Vec<Part>, Vec<Part>),
}

impl Part {
    fn exprs<'p>(parts: &'p mut [Part], out: &mut Vec<&'p mut Expr>) {
        for p in parts {
            match p {
                Part::Text(_) => {}
                Part::Value(e) => out.push(e),
                Part::Choice(c, a, b) => {
                    out.push(c);
                    Part::exprs(a, out);
                    Part::exprs(b, out);
                }
            }
        }
    }
}

impl FunctionLowering<'_, '_> {
    /// `print` and `println`.
    pub(super) fn print(&mut self, value: &typed::Expr, newline: bool) -> Lowered<()> {
        let mut parts = Vec::new();
        self.parts(value, &mut parts)?;
        if newline {
            parts.push(Part::Text("\n".into()));
        }
        self.emit(parts);
        Ok(())
    }

    /// A text as a statement: its parts are evaluated, and that is all.
    pub(super) fn unprinted(&mut self, e: &typed::Expr) -> Lowered<()> {
        self.parts(e, &mut Vec::new())
    }

    fn parts(&mut self, e: &typed::Expr, out: &mut Vec<Part>) -> Lowered<()> {
        match &e.kind {
            T::Const(Const::Str(s)) => out.push(Part::Text(s.to_string())),
            T::Concat(list) => {
                for p in list {
                    let mark = self.out.len();
                    let before = out.len();
                    self.parts(p, out)?;
                    let mut exprs = Vec::new();
                    Part::exprs(&mut out[..before], &mut exprs);
                    self.protect(exprs, mark);
                }
            }
            T::Ternary(c, a, b) if e.ty == Ty::Str => {
                let c = self.expr(c)?;
                let (mut x, mut y) = (Vec::new(), Vec::new());
                let then = self.arm(a, &mut x)?;
                let els = self.arm(b, &mut y)?;
                let c = if then.is_empty() && els.is_empty() { c } else { self.store("which", c) };
                if !then.is_empty() || !els.is_empty() {
                    self.push(StmtKind::If(c.clone(), then, els));
                }
                out.push(Part::Choice(c, x, y));
            }
            _ if e.ty == Ty::Str => match self.value(e)? {
                super::place::Value::Is(Expr { kind: ExprKind::Const(Const::Str(s)), .. }) => {
                    out.push(Part::Text(s.to_string()));
                }
                _ => return self.unsupported("this text"),
            },
            _ => {
                let v = self.expr(e)?;
                out.push(Part::Value(v));
            }
        }
        Ok(())
    }

    /// The parts of one side of a choice; where they need statements, their values are stored there.
    fn arm(&mut self, e: &typed::Expr, out: &mut Vec<Part>) -> Lowered<Vec<Stmt>> {
        self.collect(|s| {
            s.parts(e, out)?;
            if !s.out.is_empty() {
                let mut exprs = Vec::new();
                Part::exprs(out, &mut exprs);
                for e in exprs {
                    *e = s.store("part", e.clone());
                }
            }
            Ok(())
        })
    }

    fn emit(&mut self, parts: Vec<Part>) {
        let mut text = String::new();
        for p in parts {
            if let Part::Text(t) = &p {
                text.push_str(t);
                continue;
            }
            self.flush(&mut text);
            match p {
                Part::Text(_) => {}
                Part::Value(e) => self.push(StmtKind::Print(e)),
                Part::Choice(c, a, b) => {
                    let outer = std::mem::take(&mut self.out);
                    self.emit(a);
                    let then = std::mem::take(&mut self.out);
                    self.emit(b);
                    let els = std::mem::replace(&mut self.out, outer);
                    self.push(StmtKind::If(c, then, els));
                }
            }
        }
        self.flush(&mut text);
    }

    fn flush(&mut self, text: &mut String) {
        if !text.is_empty() {
            self.push(StmtKind::PrintText(std::mem::take(text).into()));
        }
    }
}
