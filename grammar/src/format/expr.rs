//! Expressions and types.

use super::document::{Break, Op, Rule, STEP, Stretch};
use super::writer::{Gap, Writer};
use crate::ast::*;
use crate::token::Token;

impl Writer<'_> {
    /// An expression, parentheses and literals as written.
    pub fn expr(&mut self, e: &Expr) {
        // The tree has no unary plus.
        while self.next() == Some(Token::Plus) {
            self.any_token();
        }
        match &e.kind {
            ExprKind::Paren(inner) => {
                self.token(Token::LParen);
                self.inside(|w| w.expr(inner), Token::RParen);
            }
            ExprKind::Member(base, _) => {
                self.expr(base);
                self.token(Token::Dot);
                self.any_token();
            }
            ExprKind::Index(base, index) => {
                self.expr(base);
                self.token(Token::LBracket);
                self.inside(|w| w.expr(index), Token::RBracket);
            }
            ExprKind::Call { callee, args } => {
                self.expr(callee);
                self.args(args);
            }
            ExprKind::Pop | ExprKind::Iter => {
                self.any_token();
                self.args(&[]);
            }
            ExprKind::Peek(index) => {
                self.token(Token::Peek);
                self.args(std::slice::from_ref(index));
            }
            ExprKind::Unary(_, operand) | ExprKind::IncDec { target: operand, prefix: true, .. } => {
                self.any_token();
                self.expr(operand);
            }
            ExprKind::IncDec { target, .. } => {
                self.expr(target);
                self.any_token();
            }
            ExprKind::Binary(..) => self.chain(e),
            ExprKind::Ternary(cond, a, b) => self.ternary(cond, a, b),
            ExprKind::Cast(ty, operand) => {
                self.token(Token::LParen);
                self.inside(|w| w.ty(ty), Token::RParen);
                self.expr(operand);
            }
            ExprKind::ArrayLit(items) => self.array(items),
            _ => self.any_token(),
        }
    }

    /// What stands in brackets that are open, and the closing one. Lines within are indented further.
    pub fn inside(&mut self, write: impl FnOnce(&mut Self), close: Token) {
        self.push_line(STEP);
        write(self);
        self.comments();
        self.pop();
        self.token(close);
    }

    /// `(a, b, c)`: as many on a line as fit.
    pub fn args(&mut self, args: &[Expr]) {
        self.token(Token::LParen);
        self.inside(|w| w.list(args, Writer::expr), Token::RParen);
    }

    /// `a, b, c`
    pub fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        let mut stretch = None;
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.token(Token::Comma);
                stretch = Some(self.fill_break());
            }
            each(self, item);
            if let Some(stretch) = stretch {
                self.document.end(stretch);
            }
        }
    }

    /// Operators of one strength in a row, `a + b - c`: lines break before an operator.
    fn chain(&mut self, e: &Expr) {
        let (mut first, mut rest, mut strength) = (e, Vec::new(), None);
        while let ExprKind::Binary(op, a, b) = &first.kind
            && strength.is_none_or(|strength| strength == op.precedence())
        {
            strength = Some(op.precedence());
            rest.push(b);
            first = a;
        }
        self.expr(first);
        self.push_line(STEP);
        for operand in rest.into_iter().rev() {
            let stretch = self.fill_break();
            self.any_token();
            self.space();
            self.expr(operand);
            self.document.end(stretch);
        }
        self.pop();
    }

    fn ternary(&mut self, cond: &Expr, a: &Expr, b: &Expr) {
        let group = self.open();
        self.expr(cond);
        self.push_line(STEP);
        for (sign, branch) in [(Token::Question, a), (Token::Colon, b)] {
            self.group_break(true);
            self.token(sign);
            self.space();
            self.expr(branch);
        }
        self.pop();
        self.close(group);
    }

    /// `= value`, the `=` not yet written: where the value does not fit behind it, but would on the next line, it goes there.
    pub fn assigned(&mut self, value: &Expr) {
        self.space();
        self.any_token();
        if let ExprKind::ArrayLit(_) = &value.kind {
            self.space();
            return self.expr(value);
        }
        self.push_later(true);
        let stretch = self.document.stretch();
        self.gap = Gap::Break(Break { rule: Rule::Assign(stretch), space: true, indents: true });
        self.expr(value);
        self.document.end(stretch);
        self.pop();
    }

    pub fn ty(&mut self, ty: &Type) {
        self.any_token();
        if let BaseType::Portal(_) = &ty.base {
            self.token(Token::Lt);
            self.any_token();
            self.token(Token::Gt);
        }
        for size in &ty.dims {
            self.token(Token::LBracket);
            self.inside(|w| w.expr(size), Token::RBracket);
        }
    }

    /// `type a = e, b`
    pub fn var_decl(&mut self, decl: &VarDecl) {
        self.ty(&decl.ty);
        self.push_line(STEP);
        self.space();
        self.list(&decl.vars, |w, (_, value)| {
            w.any_token();
            if let Some(value) = value {
                w.assigned(value);
            }
        });
        self.pop();
    }

    /// Begins a group with the next token.
    pub fn open(&mut self) -> Stretch {
        self.settle();
        self.open_ahead()
    }

    /// Begins a group with the gap before the next token.
    pub fn open_ahead(&mut self) -> Stretch {
        let group = self.document.stretch();
        self.document.push(Op::Open(group));
        group
    }

    pub fn close(&mut self, group: Stretch) {
        self.document.end(group);
        self.document.push(Op::Close);
    }
}
