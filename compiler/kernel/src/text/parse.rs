//! Reads kernel text back. Input: what [`super::print`] writes. Output: the kernel, or what is wrong and where.

use super::BUILTINS;
use crate::ir::*;
use crate::types;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::*;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::{FileId, Span};

/// Reads a kernel.
pub fn parse(text: &str) -> Result<Kernel, String> {
    let mut p = Parser { text, at: 0, kernel: None, locals: Vec::new() };
    p.kernel().map_err(|e| {
        let line = text[..p.at.min(text.len())].matches('\n').count() + 1;
        format!("line {line}: {e}")
    })
}

type Parsed<T> = Result<T, String>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// What was read so far, for the types of state fields, tables and structs.
    kernel: Option<Kernel>,
    /// Of the function being read.
    locals: Vec<Local>,
}

impl<'a> Parser<'a> {
    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn looking_at(&mut self, s: &str) -> bool {
        self.skip();
        self.text[self.at..].starts_with(s)
    }

    fn accept(&mut self, s: &str) -> bool {
        let yes = self.looking_at(s);
        if yes {
            self.at += s.len();
        }
        yes
    }

    /// Accepts a whole word.
    fn word(&mut self, s: &str) -> bool {
        let before = self.at;
        if self.name() == s {
            return true;
        }
        self.at = before;
        false
    }

    fn expect(&mut self, s: &str) -> Parsed<()> {
        if self.accept(s) { Ok(()) } else { Err(format!("`{s}` is missing")) }
    }

    /// Letters, digits and underscores; empty where there are none.
    fn name(&mut self) -> &'a str {
        self.skip();
        let rest = &self.text[self.at..];
        let n = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += n;
        &rest[..n]
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        self.skip();
        let rest = &self.text[self.at..];
        let n = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        let v = rest[..n].parse().map_err(|_| "a number is missing".to_string())?;
        self.at += n;
        Ok(v)
    }

    fn string(&mut self) -> Parsed<String> {
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(out);
                }
                '\\' => out.push(match chars.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, c)) => c,
                    None => break,
                }),
                c => out.push(c),
            }
        }
        Err("a text without an end".into())
    }

    fn span(&mut self) -> Parsed<Span> {
        self.expect("@")?;
        let file = FileId(self.unsigned()?);
        self.expect(":")?;
        let start = self.unsigned()?;
        self.expect("-")?;
        Ok(Span { file, start, end: self.unsigned()? })
    }

    fn unsigned(&mut self) -> Parsed<u32> {
        self.skip();
        let rest = &self.text[self.at..];
        let n = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let v = rest[..n].parse().map_err(|_| "a number is missing".to_string())?;
        self.at += n;
        Ok(v)
    }

    fn ty(&mut self) -> Parsed<Ty> {
        let name = self.name();
        let id = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
        let mut ty = match name {
            "void" => Ty::Void,
            "bit" => Ty::Bit,
            "boolean" => Ty::Bool,
            "int" => Ty::Int,
            "float" => Ty::Float,
            "double" => Ty::Double,
            "complex" => Ty::Complex,
            "float2" => Ty::Vec(2),
            "float3" => Ty::Vec(3),
            "float4" => Ty::Vec(4),
            _ => match (id("struct"), id("portal")) {
                (Some(n), _) => Ty::Struct(StructId(n)),
                (_, Some(n)) => Ty::Portal(DeclId(n)),
                _ => return Err(format!("`{name}` is no type")),
            },
        };
        while self.accept("[") {
            ty = ty.array(self.unsigned()?);
            self.expect("]")?;
        }
        Ok(ty)
    }

    fn list<T>(&mut self, end: &str, item: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        while !self.accept(end) {
            if !out.is_empty() {
                self.expect(",")?;
            }
            out.push(item(self)?);
        }
        Ok(out)
    }

    fn constant(&mut self) -> Parsed<Const> {
        self.skip();
        if self.accept("[") {
            return Ok(Const::Array(self.list("]", Self::constant)?.into()));
        }
        if self.accept("{") {
            return Ok(Const::Struct(self.list("}", Self::constant)?.into()));
        }
        for (open, vector) in [("c(", false), ("v(", true)] {
            if self.accept(open) {
                let parts = self.list(")", Self::constant)?;
                let parts: Option<Vec<f32>> =
                    parts.iter().map(|c| if let Const::Float(x) = c { Some(*x) } else { None }).collect();
                let parts = parts.ok_or("a component that is no float")?;
                let mut v = [0.0; 4];
                if parts.len() > 4 || parts.len() < 2 {
                    return Err("2 to 4 components are wanted".into());
                }
                v[..parts.len()].copy_from_slice(&parts);
                return Ok(if vector { Const::Vec(parts.len() as u8, v) } else { Const::Complex(v[0], v[1]) });
            }
        }
        let rest = &self.text[self.at..];
        let n = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | ':')))
            .unwrap_or(rest.len());
        let word = &rest[..n];
        let c = read_scalar(word).ok_or_else(|| format!("`{word}` is no constant"))?;
        self.at += n;
        Ok(c)
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        self.expect("kernel")?;
        let (name, display, span) = (self.string()?, self.string()?, self.span()?);
        let input = self.ty()?;
        self.expect("->")?;
        let output = self.ty()?;
        let work = self.work("work")?;
        let prework = if self.looking_at("prework") { Some(self.work("prework")?) } else { None };
        let (mut structs, mut state, mut tables, mut natives, mut handlers) = (vec![], vec![], vec![], vec![], vec![]);
        let mut lanes = None;
        loop {
            if self.accept("struct") {
                self.unsigned()?;
                let name = self.string()?;
                self.expect("{")?;
                structs.push(StructType { name, fields: self.list("}", |p| Ok((p.string()?, p.ty()?)))? });
            } else if self.accept("state") {
                self.unsigned()?;
                let (name, ty) = (self.string()?, self.ty()?);
                self.expect("=")?;
                state.push(StateField { name, ty, initial: self.constant()? });
            } else if self.accept("table") {
                self.unsigned()?;
                let shared = if self.word("shared") { Some(StaticId(self.unsigned()?)) } else { None };
                let (name, ty) = (self.string()?, self.ty()?);
                self.expect("=")?;
                tables.push(Table { name, ty, value: self.constant()?, shared });
            } else if self.accept("native") {
                let id = NativeId(self.unsigned()?);
                let name = self.string()?;
                self.expect("(")?;
                let params = self.list(")", Self::ty)?;
                self.expect("->")?;
                natives.push(Native { id, name, params, ret: self.ty()? });
            } else if self.word("handler") {
                handlers.push((self.string()?, self.func()?));
            } else if self.word("lanes") {
                let function = self.func()?;
                let varying = self.string()?.chars().map(|c| c == 'v').collect();
                self.expect("unroll")?;
                let unroll = self.unsigned()?;
                lanes = Some(Lanes { function, varying, unroll, phases: self.word("phases") });
            } else {
                break;
            }
        }
        let structs = structs.into();
        let functions = Vec::new();
        self.kernel = Some(Kernel {
            name,
            display,
            span,
            input,
            output,
            structs,
            state,
            tables,
            natives,
            functions,
            work,
            prework,
            handlers,
            lanes,
        });
        let mut functions = Vec::new();
        while self.looking_at("func") {
            functions.push(self.function()?);
        }
        self.skip();
        if self.at < self.text.len() {
            return Err("something follows the last function".into());
        }
        let mut k = self.kernel.take().ok_or("no kernel")?;
        k.functions = functions;
        Ok(k)
    }

    fn work(&mut self, word: &str) -> Parsed<Work> {
        self.expect(word)?;
        let function = self.func()?;
        self.expect("peek")?;
        let peek = self.unsigned()?;
        self.expect("pop")?;
        let pop = self.unsigned()?;
        self.expect("push")?;
        let rates = Rates { peek, pop, push: self.unsigned()? };
        if !self.looking_at("attempt") {
            return Ok(Work { function, rates, dynamic: None });
        }
        self.expect("attempt")?;
        let mut d = DynamicRates::default();
        for (word, rate) in [("dynamic_peek", &mut d.peek), ("dynamic_pop", &mut d.pop), ("dynamic_push", &mut d.push)]
        {
            if self.looking_at(word) {
                self.expect(word)?;
                let min = self.unsigned()?;
                let open = self.looking_at("*");
                let max = if open { None } else { Some(self.unsigned()?) };
                if open {
                    self.expect("*")?;
                }
                *rate = Some(DynamicRate { min, avg: None, max });
            }
        }
        Ok(Work { function, rates, dynamic: Some(d) })
    }

    fn func(&mut self) -> Parsed<FuncId> {
        self.expect("func")?;
        Ok(FuncId(self.unsigned()?))
    }

    fn function(&mut self) -> Parsed<Function> {
        self.func()?;
        let name = self.string()?;
        self.expect("(")?;
        let params = self.unsigned()?;
        self.expect(")")?;
        self.expect("->")?;
        let (ret, span) = (self.ty()?, self.span()?);
        self.expect("{")?;
        self.locals = Vec::new();
        while self.accept("local") {
            self.unsigned()?;
            let (name, ty) = (self.string()?, self.ty()?);
            let by_ref = self.word("ref");
            self.locals.push(Local { name, ty, by_ref });
        }
        let body = self.body()?;
        Ok(Function { name, params, locals: std::mem::take(&mut self.locals), ret, body, span })
    }

    /// Statements up to and with the closing brace.
    fn body(&mut self) -> Parsed<Vec<Stmt>> {
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
                let span = self.span()?;
                self.expect("{")?;
                let body = self.body()?;
                return Ok(StmtKind::For(Box::new(For { var, from, cmp, to, step, body })).at(span));
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
            let f = BUILTINS.into_iter().find(|f| super::builtin_name(*f) == name);
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

fn read_scalar(word: &str) -> Option<Const> {
    Some(match word {
        "true" => Const::Bool(true),
        "false" => Const::Bool(false),
        "1b" => Const::Bit(true),
        "0b" => Const::Bit(false),
        _ => {
            if let Some(hex) = word.strip_prefix("nanf:") {
                return Some(Const::Float(f32::from_bits(u32::from_str_radix(hex, 16).ok()?)));
            }
            if let Some(hex) = word.strip_prefix("nand:") {
                return Some(Const::Double(f64::from_bits(u64::from_str_radix(hex, 16).ok()?)));
            }
            if let Some(id) = word.strip_prefix("portal:") {
                return Some(Const::Portal(PortalId(id.parse().ok()?)));
            }
            let number = word.trim_start_matches('-');
            if !number.starts_with(|c: char| c.is_ascii_digit()) && !number.starts_with("inf") {
                return None;
            }
            if let Some(f) = word.strip_suffix('f').filter(|w| *w != "in" && *w != "-in") {
                Const::Float(f.parse().ok()?)
            } else if let Some(d) = word.strip_suffix('d') {
                Const::Double(d.parse().ok()?)
            } else {
                Const::Int(word.parse().ok()?)
            }
        }
    })
}
