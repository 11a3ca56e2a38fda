//! Expressions.

use super::{Base, H, State};
use crate::ast::*;
use crate::diagnostic::{Diagnostic, Fix};
use crate::literal;
use crate::span::Span;

/// Operands and operators read so far, bound as far as what follows cannot change it: the operators that wait grow stronger
/// from left to right, so that at most one of each strength waits.
#[derive(Debug)]
pub(crate) struct Chain {
    waiting: Vec<(H<Expr>, BinaryOp)>,
    last: H<Expr>,
}

impl Chain {
    pub fn start(last: H<Expr>) -> Box<Chain> {
        Box::new(Chain { waiting: Vec::new(), last })
    }

    pub fn push(mut self: Box<Chain>, st: &mut State, op: BinaryOp, next: H<Expr>) -> Box<Chain> {
        self.bind(st, op.precedence());
        let last = std::mem::replace(&mut self.last, next);
        self.waiting.push((last, op));
        self
    }

    pub fn finish(mut self, st: &mut State) -> H<Expr> {
        self.bind(st, 0);
        self.last
    }

    /// Binds the operators that wait and are at least this strong.
    fn bind(&mut self, st: &mut State, precedence: u8) {
        while self.waiting.last().is_some_and(|(_, op)| op.precedence() >= precedence) {
            let Some((left, op)) = self.waiting.pop() else { return };
            let right = std::mem::replace(&mut self.last, H::leaf(Expr { kind: ExprKind::Error, at: left.v.at }));
            self.last = st.binary(left, op, right);
        }
    }
}

impl<'s> State<'s> {
    fn expr(&mut self, span: Span, kind: ExprKind, h: u32) -> H<Expr> {
        if self.is_too_high(h + 1, span) {
            return H { v: Expr { kind: ExprKind::Error, at: At(span) }, h: 1 };
        }
        H { v: Expr { kind, at: At(span) }, h: h + 1 }
    }

    pub fn leaf(&mut self, l: u32, kind: ExprKind, r: u32) -> H<Expr> {
        H { v: Expr { kind, at: self.at(l, r) }, h: 1 }
    }

    pub fn error_expr(&mut self, l: u32, r: u32) -> H<Expr> {
        self.leaf(l, ExprKind::Error, r)
    }

    pub fn integer(&mut self, l: u32, text: &'s str, r: u32) -> H<Expr> {
        let hex = text.starts_with("0x") || text.starts_with("0X");
        let kind = ExprKind::Int { value: literal::int_value(text), hex, text: self.name(text) };
        self.leaf(l, kind, r)
    }

    pub fn real(&mut self, l: u32, text: &'s str, r: u32) -> H<Expr> {
        let kind = ExprKind::Real { value: literal::real_value(text), text: self.name(text) };
        self.leaf(l, kind, r)
    }

    pub fn imaginary(&mut self, l: u32, text: &'s str, r: u32) -> H<Expr> {
        let kind = ExprKind::Imaginary { value: literal::real_value(text), text: self.name(text) };
        self.leaf(l, kind, r)
    }

    pub fn character(&mut self, l: u32, text: &'s str, r: u32) -> H<Expr> {
        let kind = ExprKind::Char { value: literal::char_value(text), text: self.name(text) };
        self.leaf(l, kind, r)
    }

    pub fn string(&mut self, l: u32, text: &'s str, r: u32) -> H<Expr> {
        let kind = ExprKind::Str { value: literal::string_value(text).into(), text: self.name(text) };
        self.leaf(l, kind, r)
    }

    pub fn var(&mut self, name: Ident) -> H<Expr> {
        let at = name.at;
        H { v: Expr { kind: ExprKind::Var(name), at }, h: 1 }
    }

    pub fn paren(&mut self, l: u32, e: H<Expr>, r: u32) -> H<Expr> {
        self.expr(self.span(l, r), ExprKind::Paren(Box::new(e.v)), e.h)
    }

    pub fn peek(&mut self, l: u32, e: H<Expr>, r: u32) -> H<Expr> {
        self.expr(self.span(l, r), ExprKind::Peek(Box::new(e.v)), e.h)
    }

    pub fn unary(&mut self, l: u32, op: UnaryOp, e: H<Expr>) -> H<Expr> {
        let span = self.span(l, e.v.span().end);
        self.expr(span, ExprKind::Unary(op, Box::new(e.v)), e.h)
    }

    pub fn prefix(&mut self, l: u32, inc: bool, e: H<Expr>) -> H<Expr> {
        let span = self.span(l, e.v.span().end);
        self.expr(span, ExprKind::IncDec { target: Box::new(e.v), inc, prefix: true }, e.h)
    }

    pub fn postfix(&mut self, e: H<Expr>, inc: bool, r: u32) -> H<Expr> {
        let span = self.span(e.v.span().start, r);
        self.expr(span, ExprKind::IncDec { target: Box::new(e.v), inc, prefix: false }, e.h)
    }

    pub fn cast(&mut self, l: u32, ty: H<Type>, e: H<Expr>) -> H<Expr> {
        let span = self.span(l, e.v.span().end);
        self.expr(span, ExprKind::Cast(Box::new(ty.v), Box::new(e.v)), e.h.max(ty.h))
    }

    pub fn member(&mut self, e: H<Expr>, name: Ident) -> H<Expr> {
        let span = e.v.span().to(name.span());
        self.expr(span, ExprKind::Member(Box::new(e.v), name), e.h)
    }

    pub fn index(&mut self, e: H<Expr>, i: H<Expr>, r: u32) -> H<Expr> {
        let span = self.span(e.v.span().start, r);
        let h = e.h.max(i.h);
        self.expr(span, ExprKind::Index(Box::new(e.v), Box::new(i.v)), h)
    }

    pub fn call(&mut self, callee: H<Expr>, (args, r): (H<Vec<Expr>>, u32)) -> H<Expr> {
        let span = self.span(callee.v.span().start, r);
        if !matches!(callee.v.kind, ExprKind::Var(_) | ExprKind::Member(..) | ExprKind::Error) {
            let diagnostic =
                Diagnostic::error("E0008", "only a function's name can be called", callee.v.span(), "this is no name");
            self.diagnostics.push(diagnostic);
        }
        let h = callee.h.max(args.h);
        self.expr(span, ExprKind::Call { callee: Box::new(callee.v), args: args.v }, h)
    }

    /// `float3(a, b, c)`
    pub fn vector(&mut self, base: Base, args: (H<Vec<Expr>>, u32)) -> H<Expr> {
        let name = match base.base {
            BaseType::Complex => "complex",
            BaseType::Float2 => "float2",
            BaseType::Float3 => "float3",
            _ => "float4",
        };
        let name = Ident { name: self.name(name), at: base.at };
        let callee = self.var(name);
        self.call(callee, args)
    }

    /// `int(x)`, which is not how a cast is written.
    pub fn call_cast(&mut self, base: Base, (args, r): (H<Vec<Expr>>, u32)) -> H<Expr> {
        let place = base.at.0;
        let span = self.span(place.start, r);
        let name = &self.text[place.start as usize..place.end as usize];
        let diagnostic = Diagnostic::error("E0018", format!("`{name}` is a type, not a function"), place, "a type")
            .help(format!("a cast is written `({name})x`"));
        let mut args = args;
        if args.v.len() != 1 {
            self.diagnostics.push(diagnostic);
            return self.error_expr(place.start, r);
        }
        self.diagnostics.push(diagnostic.fix(Fix::safe(format!("write `({name})`"), place, format!("({name})"))));
        let arg = H { v: args.v.remove(0), h: args.h };
        let ty = Type { base: base.base, dims: Vec::new(), at: base.at };
        self.expr(span, ExprKind::Cast(Box::new(ty), Box::new(arg.v)), arg.h)
    }

    pub fn array(&mut self, l: u32, list: H<Vec<Expr>>, r: u32) -> H<Expr> {
        self.expr(self.span(l, r), ExprKind::ArrayLit(list.v), list.h)
    }

    pub fn ternary(&mut self, cond: H<Expr>, a: H<Expr>, b: H<Expr>) -> H<Expr> {
        let span = cond.v.span().to(b.v.span());
        let h = cond.h.max(a.h).max(b.h);
        self.expr(span, ExprKind::Ternary(Box::new(cond.v), Box::new(a.v), Box::new(b.v)), h)
    }

    fn binary(&mut self, a: H<Expr>, op: BinaryOp, b: H<Expr>) -> H<Expr> {
        let span = a.v.span().to(b.v.span());
        let h = a.h.max(b.h);
        self.expr(span, ExprKind::Binary(op, Box::new(a.v), Box::new(b.v)), h)
    }

    /// `a = b` where a value is expected.
    pub fn assignment_value(&mut self, a: H<Expr>, l: u32, op: Option<BinaryOp>, r: u32, b: H<Expr>) -> H<Expr> {
        let place = self.span(l, r);
        let diagnostic = self.no_value(place, "an assignment cannot stand inside an expression");
        self.diagnostics.push(match op {
            None => {
                let diagnostic = diagnostic.help("to compare, write `==`; to assign, make it a statement of its own");
                diagnostic.fix(Fix::new("write `==`", place, "=="))
            }
            Some(_) => diagnostic.help("make it a statement of its own"),
        });
        self.binary(a, op.unwrap_or(BinaryOp::Eq), b)
    }

    /// `a = b` behind another `=`.
    pub fn assignment_chain(&mut self, a: H<Expr>, l: u32, op: Option<BinaryOp>, r: u32, b: H<Expr>) -> H<Expr> {
        let place = self.span(l, r);
        let diagnostic = self.no_value(place, "an assignment cannot be assigned");
        self.diagnostics.push(diagnostic.help("write one statement for each assignment; to compare, write `==`"));
        match op {
            None => b,
            Some(op) => self.binary(a, op, b),
        }
    }

    fn no_value(&self, place: Span, label: &str) -> Diagnostic {
        let written = &self.text[place.start as usize..place.end as usize];
        Diagnostic::error("E0013", format!("`{written}` is a statement and has no value"), place, label)
    }
}
