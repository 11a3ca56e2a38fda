//! Statements and expressions.

use super::super::{BUILTINS, builtin_name};
use super::{Parsed, Parser};
use crate::ir::*;
use crate::types;
use sluice_frontend::ids::*;
use sluice_frontend::ty::Ty;

impl Parser<'_> {
    /// Statements up to and with the closing brace.
    pub(super) fn body(&mut self) -> Parsed<Vec<Stmt>> {
        let mut out = Vec::new();
        while !self.accept("}") {
            out.push(self.stmt()?);
        }
        Ok(out)
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let before = self.at;
        let kind = match self.name() {
            "if" => {
                let c = self.expr()?;
                let span = self.span()?;
                self.expect("{")?;
                let then = self.body()?;
                let mut els = Vec::new();
                if self.word("else") {
                    self.expect("{")?;
                    els = self.body()?;
                }
                return Ok(StmtKind::If(c, then, els).at(span));
            }
            "for" => {
                self.expect("$")?;
                let var = LocalId(self.unsigned()?);
                self.expect("=")?;
                let from = self.expr()?;
                let cmp = self.operator().ok_or("a comparison is missing")?;
                let to = self.expr()?;
                self.expect("step")?;
                let step = self.number()?;
                let abreast = self.word("abreast");
                let span = self.span()?;
                self.expect("{")?;
                let body = self.body()?;
                return Ok(StmtKind::For(Box::new(For { var, from, cmp, to, step, body, abreast })).at(span));
            }
            word @ ("loop" | "block") => {
                let span = self.span()?;
                self.expect("{")?;
                let body = self.body()?;
                return Ok(if word == "loop" { StmtKind::Loop(body) } else { StmtKind::Block(body) }.at(span));
            }
            "pop" => StmtKind::Pop(if self.looking_at("@") { None } else { Some(self.place()?) }),
            "push" => StmtKind::Push(self.expr()?),
            "call" => self.call()?,
            "check" => StmtKind::Check(self.check()?),
            "break" => StmtKind::Break(self.unsigned()?),
            "continue" => StmtKind::Continue(self.unsigned()?),
            "return" => {
                let value = if self.at_span() { None } else { Some(self.expr()?) };
                StmtKind::Return(value)
            }
            "print" => StmtKind::Print(self.expr()?),
            "text" => StmtKind::PrintText(self.string()?.into()),
            "send" => self.send()?,
            _ => {
                self.at = before;
                let p = self.place()?;
                self.expect("=")?;
                StmtKind::Assign(p, self.expr()?)
            }
        };
        Ok(kind.at(self.span()?))
    }

    /// `@` and a digit: a span, not a function.
    fn at_span(&mut self) -> bool {
        self.looking_at("@") && self.text[self.at + 1..].starts_with(|c: char| c.is_ascii_digit())
    }

    fn send(&mut self) -> Parsed<StmtKind> {
        let portal = PortalId(self.unsigned()?);
        let handler = self.string()?.into();
        let latency = if self.looking_at("best") {
            self.expect("best")?;
            None
        } else {
            Some((self.number()?, self.number()?))
        };
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.looking_at(")") {
            if !args.is_empty() {
                self.expect(",")?;
            }
            args.push(self.expr()?);
        }
        self.expect(")")?;
        Ok(StmtKind::Send(Box::new(Message { route: Route { portal, handler, latency }, args })))
    }

    fn call(&mut self) -> Parsed<StmtKind> {
        let before = self.at;
        let callee = self.callee();
        let (dst, callee) = match callee {
            Ok(c) => (None, c),
            Err(_) => {
                self.at = before;
                let p = self.place()?;
                self.expect("=")?;
                (Some(p), self.callee()?)
            }
        };
        self.expect("(")?;
        let args = self.list(")", |p| Ok(if p.word("ref") { Arg::Ref(p.place()?) } else { Arg::Value(p.expr()?) }))?;
        Ok(StmtKind::Call { dst, callee, args })
    }

    fn callee(&mut self) -> Parsed<Callee> {
        let name = self.name();
        let id = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
        match (id("func"), id("native")) {
            (Some(f), _) => Ok(Callee::Func(FuncId(f))),
            (_, Some(n)) => Ok(Callee::Native(n)),
            _ => Err("a function is missing".into()),
        }
    }

    fn check(&mut self) -> Parsed<Check> {
        Ok(match self.name() {
            "index" => Check::Index { index: self.expr()?, length: self.unsigned()? },
            "divisor" => Check::Divisor(self.expr()?),
            "peek" => Check::Peek(self.expr()?),
            "pop" => Check::Pop,
            "push" => Check::Push,
            "pushed" => Check::Pushed,
            "peek_negative" => Check::PeekNegative(self.expr()?),
            "peek_beyond" => Check::PeekBeyond { position: self.expr()?, peek: self.unsigned()? },
            "pop_beyond" => Check::PopBeyond { popped: self.expr()?, pop: self.unsigned()? },
            "push_beyond" => Check::PushBeyond { pushed: self.expr()?, push: self.unsigned()? },
            "pushed_less" => Check::PushedLess { pushed: self.expr()?, push: self.unsigned()? },
            "popped" => Check::Popped,
            "popped_less" => Check::PoppedLess { popped: self.expr()?, least: self.unsigned()? },
            "item" => Check::Item(self.expr()?),
            "room" => Check::Room(self.expr()?),
            "took" => Check::Took(self.expr()?),
            "gave" => Check::Gave(self.expr()?),
            "no_result" => Check::NoResult,
            other => return Err(format!("`{other}` is no check")),
        })
    }

    fn place(&mut self) -> Parsed<Place> {
        let base = if self.accept("$") {
            Base::Local(LocalId(self.unsigned()?))
        } else {
            let name = self.name();
            let id = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
            match (name, id("state"), id("table")) {
                (_, Some(n), _) => Base::State(StateId(n)),
                (_, _, Some(n)) => Base::Table(TableId(n)),
                ("peek" | "in" | "out", ..) => {
                    self.expect("(")?;
                    let e = Box::new(self.expr()?);
                    self.expect(")")?;
                    match name {
                        "peek" => Base::Peek(e),
                        "in" => Base::In(e),
                        _ => Base::Out(e),
                    }
                }
                _ => return Err(format!("`{name}` is no place")),
            }
        };
        let mut path = Vec::new();
        loop {
            if self.accept("[") {
                path.push(Proj::Index(self.expr()?));
                self.expect("]")?;
            } else if self.accept(".") {
                path.push(Proj::Member(self.unsigned()?));
            } else if self.accept("'") {
                path.push(Proj::Component(self.unsigned()? as u8));
            } else {
                return Ok(Place { base, path });
            }
        }
    }

    fn operator(&mut self) -> Option<BinaryOp> {
        use BinaryOp::*;
        // longer ones first
        [Shl, Shr, Le, Ge, Eq, Ne, And, Or, Mul, Div, Rem, Add, Sub, Lt, Gt, BitAnd, BitOr, BitXor]
            .into_iter()
            .find(|op| self.accept(op.symbol()))
    }

    fn angle_ty(&mut self) -> Parsed<Ty> {
        self.expect("<")?;
        let ty = self.ty()?;
        self.expect(">")?;
        Ok(ty)
    }

    fn expr(&mut self) -> Parsed<Expr> {
        let bad = || "operands do not fit".to_string();
        if self.accept("(") {
            let a = self.expr()?;
            let op = self.operator().ok_or("an operator is missing")?;
            let b = self.expr()?;
            self.expect(")")?;
            let ty = types::binary(op, &a.ty).ok_or_else(bad)?;
            return Ok(Expr::binary(op, a, b, ty));
        }
        if self.accept("@") {
            let name = self.name();
            let f = BUILTINS.into_iter().find(|f| builtin_name(*f) == name);
            let f = f.ok_or_else(|| format!("`{name}` is no function"))?;
            self.expect("(")?;
            let args = self.list(")", Self::expr)?;
            let types: Vec<Ty> = args.iter().map(|a| a.ty.clone()).collect();
            let ty = types::builtin(f, &types).ok_or_else(bad)?;
            return Ok(Expr { kind: ExprKind::Builtin(f, args), ty });
        }
        let before = self.at;
        match self.name() {
            "zero" => return Ok(Expr::zero(self.angle_ty()?)),
            "iter" => return Ok(Expr { kind: ExprKind::Iter, ty: Ty::Int }),
            word @ ("neg" | "not" | "bitnot") => {
                let op = match word {
                    "neg" => UnaryOp::Neg,
                    "not" => UnaryOp::Not,
                    _ => UnaryOp::BitNot,
                };
                self.expect("(")?;
                let a = Box::new(self.expr()?);
                self.expect(")")?;
                let ty = a.ty.clone();
                return Ok(Expr { kind: ExprKind::Unary(op, a), ty });
            }
            "select" => {
                self.expect("(")?;
                let mut parts = self.list(")", Self::expr)?.into_iter();
                let (Some(c), Some(a), Some(b)) = (parts.next(), parts.next(), parts.next()) else { return Err(bad()) };
                let ty = a.ty.clone();
                return Ok(Expr { kind: ExprKind::Select(Box::new(c), Box::new(a), Box::new(b)), ty });
            }
            "as" => {
                let ty = self.angle_ty()?;
                self.expect("(")?;
                let a = Box::new(self.expr()?);
                self.expect(")")?;
                return Ok(Expr { kind: ExprKind::Convert(a), ty });
            }
            "make" => {
                let ty = self.angle_ty()?;
                self.expect("(")?;
                return Ok(Expr { kind: ExprKind::Compose(self.list(")", Self::expr)?), ty });
            }
            "any" => {
                self.expect("(")?;
                let a = Box::new(self.expr()?);
                self.expect(")")?;
                return Ok(Expr { kind: ExprKind::Any(a), ty: Ty::Bool });
            }
            "part" => {
                self.expect("(")?;
                let a = Box::new(self.expr()?);
                self.expect(",")?;
                let i = self.unsigned()? as u8;
                self.expect(")")?;
                return Ok(Expr { kind: ExprKind::Component(a, i), ty: Ty::Float });
            }
            _ => self.at = before,
        }
        if let Ok(c) = self.constant() {
            let ty = types::of_const(&c).ok_or("a constant that is no scalar")?;
            return Ok(Expr { kind: ExprKind::Const(c), ty });
        }
        self.at = before;
        let p = self.place()?;
        let kernel = self.kernel.as_ref().ok_or("no kernel")?;
        let ty = types::place(kernel, &self.locals, &p).ok_or("a place that does not fit its variable")?;
        Ok(Expr::load(p, ty))
    }
}
