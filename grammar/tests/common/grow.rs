//! Grows programs out of random bytes: each byte decides one choice, and where they end the smallest choice is taken. Shrinking
//! the bytes shrinks the program.

use sluice_grammar::ast::*;
use std::sync::Arc;

pub struct Grow<'b> {
    bytes: &'b [u8],
    depth: usize,
}

const MAX_DEPTH: usize = 8;

const NAMES: &[&str] = &["x", "y", "acc", "N", "print", "_t1", "import", "Fir", "real"];

const BINARY: &[BinaryOp] = {
    use BinaryOp::*;
    &[Mul, Div, Rem, Shl, Shr, Add, Sub, Lt, Le, Gt, Ge, Eq, Ne, BitAnd, BitOr, BitXor, And, Or]
};

fn strength(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Ternary(..) => 0,
        ExprKind::Binary(op, ..) => op.precedence(),
        ExprKind::Unary(..) | ExprKind::Cast(..) | ExprKind::IncDec { prefix: true, .. } => 8,
        _ => 9,
    }
}

fn at<T: Default>() -> T {
    T::default()
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, at: at() }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, at: at() }
}

impl<'b> Grow<'b> {
    pub fn new(bytes: &'b [u8]) -> Grow<'b> {
        Grow { bytes, depth: 0 }
    }

    /// A number below `n`.
    fn pick(&mut self, n: usize) -> usize {
        match self.bytes.split_first() {
            None => 0,
            Some((first, rest)) => {
                self.bytes = rest;
                usize::from(*first) % n
            }
        }
    }

    fn flip(&mut self) -> bool {
        self.pick(2) == 1
    }

    /// Up to `most` elements.
    fn list<T>(&mut self, most: usize, mut each: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let n = self.pick(most + 1);
        (0..n).map(|_| each(self)).collect()
    }

    fn option<T>(&mut self, each: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flip().then(|| each(self))
    }

    fn name(&mut self) -> Ident {
        Ident { name: NAMES[self.pick(NAMES.len())].into(), at: at() }
    }

    pub fn program(&mut self) -> Program {
        Program { items: self.list(4, Self::item) }
    }

    fn item(&mut self) -> Item {
        match self.pick(6) {
            0 | 1 => {
                let io = Some((self.ty(), self.ty()));
                let name = Some(self.name());
                let params = self.list(3, Self::param);
                Item::Stream(Arc::new(self.stream(io, name, params)))
            }
            2 => {
                let paths: [&str; 4] = ["a.str", "d\\ir/b c.str", "\u{e9}\"q\".str", "x\t\n\x01.str"];
                Item::Import { path: paths[self.pick(4)].into(), at: at() }
            }
            3 => {
                let field = |g: &mut Self| VarDecl { ty: g.ty(), vars: vec![(g.name(), None)], at: at() };
                Item::Struct(StructDecl { name: self.name(), fields: self.list(3, field), at: at() })
            }
            4 => {
                let fields = self.list(3, Self::var_decl);
                Item::Static(StaticBlock { fields, init: self.option(Self::block), at: at() })
            }
            _ => {
                let native = self.flip();
                let function = |g: &mut Self| {
                    let mut function = g.function();
                    if native {
                        function.body = None;
                        function.rates.clear();
                    }
                    function
                };
                let group = FunctionGroup { name: self.name(), functions: self.list(2, function), at: at() };
                if native { Item::Native(group) } else { Item::Helper(group) }
            }
        }
    }

    fn stream(&mut self, io: Option<(Type, Type)>, name: Option<Ident>, params: Vec<Param>) -> StreamDecl {
        let kinds = [StreamKind::Filter, StreamKind::Pipeline, StreamKind::SplitJoin, StreamKind::FeedbackLoop];
        let kind = kinds[self.pick(4)];
        let stateful = self.option(|_| at());
        let body = match kind {
            StreamKind::Filter => StreamBody::Filter(self.list(4, Self::member)),
            _ => StreamBody::Composite(self.block()),
        };
        StreamDecl { io, stateful, kind, name, params, body, header: at(), at: at() }
    }

    fn member(&mut self) -> Member {
        match self.pick(6) {
            0 => Member::Work(self.work()),
            1 => Member::Field(self.var_decl()),
            2 => Member::Init(self.block()),
            3 => Member::Prework(self.work()),
            4 => Member::Function(self.function()),
            _ => {
                let ret = Type { base: BaseType::Void, dims: vec![], at: at() };
                let params = self.list(2, Self::param);
                let body = Some(self.block());
                Member::Handler(FnDecl { ret, name: self.name(), params, rates: vec![], body, at: at() })
            }
        }
    }

    fn work(&mut self) -> Work {
        Work { rates: self.rates(), body: self.block(), keyword: at(), at: at() }
    }

    fn function(&mut self) -> FnDecl {
        FnDecl {
            ret: self.ty(),
            name: self.name(),
            params: self.list(3, Self::param),
            rates: self.rates(),
            body: Some(self.block()),
            at: at(),
        }
    }

    fn rates(&mut self) -> Vec<RateSpec> {
        let orders: [&[RateKind]; 5] = [
            &[],
            &[RateKind::Push],
            &[RateKind::Pop, RateKind::Push],
            &[RateKind::Peek, RateKind::Pop],
            &[RateKind::Push, RateKind::Peek, RateKind::Pop],
        ];
        let order = orders[self.pick(5)];
        order.iter().map(|kind| RateSpec { kind: *kind, rate: self.rate(), at: at() }).collect()
    }

    fn rate(&mut self) -> Rate {
        match self.pick(3) {
            0 => Rate::Static(self.expr(0)),
            1 => Rate::Dynamic { min: None, avg: None, max: None },
            _ => {
                let bound = |g: &mut Self| g.option(|g| g.expr(0));
                Rate::Dynamic { min: bound(self), avg: bound(self), max: bound(self) }
            }
        }
    }

    fn param(&mut self) -> Param {
        Param { ty: self.ty(), name: self.name() }
    }

    fn primitive(&mut self) -> BaseType {
        use BaseType::*;
        match self.pick(11) {
            0 => Int,
            1 => Float,
            2 => Void,
            3 => Bit,
            4 => Boolean,
            5 => Double,
            6 => Complex,
            7 => Float2,
            8 => Float3,
            9 => Float4,
            _ => Portal(self.name()),
        }
    }

    fn dims(&mut self, mut ty: Type) -> Type {
        if self.pick(4) == 1 {
            ty.dims = self.list(2, |g| g.expr(0));
        }
        ty
    }

    fn ty(&mut self) -> Type {
        let base = if self.pick(4) == 1 { BaseType::Named(self.name()) } else { self.primitive() };
        self.dims(Type { base, dims: vec![], at: at() })
    }

    fn var_decl(&mut self) -> VarDecl {
        let mut vars = vec![(self.name(), self.option(Self::value))];
        vars.extend(self.list(1, |g| (g.name(), g.option(Self::value))));
        VarDecl { ty: self.ty(), vars, at: at() }
    }

    fn block(&mut self) -> Block {
        Block { stmts: self.list(4, Self::stmt), at: at() }
    }

    /// A statement as it may stand before `else`: not ending in an `if` that has none.
    fn closed(&mut self) -> Stmt {
        let inner = self.stmt();
        stmt(StmtKind::Block(Block { stmts: vec![inner], at: at() }))
    }

    /// What may stand in the head of a `for`.
    fn action(&mut self) -> Stmt {
        stmt(match self.pick(3) {
            0 => StmtKind::Expr(self.expr(0)),
            1 => StmtKind::Push(self.value()),
            _ => {
                let op = self.option(|g| BINARY[g.pick(7)]).filter(|op| op.precedence() >= 6);
                StmtKind::Assign { target: self.expr(0), op, value: self.value() }
            }
        })
    }

    fn stream_ref(&mut self) -> (StreamRef, Vec<Expr>) {
        let stream = if self.flip() && self.depth < MAX_DEPTH {
            let io = self.option(|g| (g.ty(), g.ty()));
            StreamRef::Anonymous(Arc::new(self.stream(io, None, vec![])))
        } else {
            let type_args = self.list(1, Self::ty);
            StreamRef::Named { name: self.name(), type_args, args: self.list(2, Self::value), at: at() }
        };
        (stream, self.list(1, |g| g.expr(9)))
    }

    fn split(&mut self) -> SplitKind {
        if self.flip() { SplitKind::Duplicate } else { SplitKind::RoundRobin(self.list(2, Self::value)) }
    }

    fn stmt(&mut self) -> Stmt {
        if self.depth >= MAX_DEPTH {
            return stmt(StmtKind::Empty);
        }
        self.depth += 1;
        let kind = self.stmt_kind();
        self.depth -= 1;
        stmt(kind)
    }

    fn stmt_kind(&mut self) -> StmtKind {
        match self.pick(21) {
            0 => StmtKind::Empty,
            1..=3 => self.action().kind,
            4 => StmtKind::Block(self.block()),
            5 => StmtKind::Decl(self.var_decl()),
            6 => {
                let cond = self.expr(0);
                if self.flip() {
                    let els = Some(Box::new(self.stmt()));
                    StmtKind::If { cond, then: Box::new(self.closed()), els }
                } else {
                    StmtKind::If { cond, then: Box::new(self.stmt()), els: None }
                }
            }
            7 => {
                let init = match self.pick(2) {
                    0 => self.list(2, Self::action),
                    _ => vec![stmt(StmtKind::Decl(self.var_decl()))],
                };
                let cond = self.option(|g| g.expr(0));
                let step = self.list(2, Self::action);
                StmtKind::For { init, cond, step, body: Box::new(self.stmt()) }
            }
            8 => StmtKind::While { cond: self.expr(0), body: Box::new(self.stmt()) },
            9 => StmtKind::DoWhile { body: Box::new(self.stmt()), cond: self.expr(0) },
            10 => {
                let value = self.expr(0);
                let mut cases = self.list(2, |g| {
                    let mut case = g.case();
                    case.body.push(stmt(StmtKind::Break));
                    case
                });
                cases.extend(self.option(Self::case));
                StmtKind::Switch { value, cases }
            }
            11 => StmtKind::Break,
            12 => StmtKind::Continue,
            13 => StmtKind::Return(self.option(Self::value)),
            14 => {
                let latency =
                    if self.flip() { Latency::BestEffort } else { Latency::Range(self.expr(0), self.expr(0)) };
                StmtKind::Send { portal: self.expr(9), handler: self.name(), args: self.list(2, Self::value), latency }
            }
            15 => StmtKind::Split(self.split()),
            16 => StmtKind::Join(self.split()),
            17 => StmtKind::Enqueue(self.value()),
            18 => {
                let (stream, portals) = self.stream_ref();
                StmtKind::Body { stream, portals }
            }
            19 => {
                let (stream, portals) = self.stream_ref();
                StmtKind::Loop { stream, portals }
            }
            _ => {
                let (stream, portals) = self.stream_ref();
                StmtKind::Add { stream, portals }
            }
        }
    }

    fn case(&mut self) -> Case {
        let mut labels = vec![(self.option(|g| g.expr(0)), at())];
        labels.extend(self.list(1, |g| (g.option(|g| g.expr(0)), at())));
        Case { labels, body: self.list(2, Self::stmt) }
    }

    /// An expression or an array literal.
    fn value(&mut self) -> Expr {
        if self.pick(6) != 1 || self.depth >= MAX_DEPTH {
            return self.expr(0);
        }
        self.depth += 1;
        let items = self.list(3, Self::value);
        self.depth -= 1;
        expr(ExprKind::ArrayLit(items))
    }

    /// An expression that binds at least this strongly, in parentheses if need be.
    fn expr(&mut self, least: u8) -> Expr {
        self.depth += 1;
        let kind = if self.depth >= MAX_DEPTH { self.leaf() } else { self.expr_kind() };
        self.depth -= 1;
        let e = expr(kind);
        if strength(&e) < least { expr(ExprKind::Paren(Box::new(e))) } else { e }
    }

    fn leaf(&mut self) -> ExprKind {
        match self.pick(10) {
            0 | 1 => ExprKind::Var(self.name()),
            2 => {
                let texts = [
                    ("0", 0, false),
                    ("2147483648", 1 << 31, false),
                    ("0xFf", 255, true),
                    ("0x1FFFFFFFF", 0xffff_ffff, true),
                ];
                let (text, value, hex) = texts[self.pick(4)];
                ExprKind::Int { value, hex, text: text.into() }
            }
            3 => {
                let (text, value) = [("1.0", 1.0), ("2.5e-3", 0.0025), ("1f", 1.0), (".5", 0.5)][self.pick(4)];
                ExprKind::Real { value, text: text.into() }
            }
            4 => ExprKind::Imaginary { value: 4.0, text: "4i".into() },
            5 => {
                let (text, value) = [("'a'", b'a'), ("'\\n'", 10), ("'\\377'", 255)][self.pick(3)];
                ExprKind::Char { value, text: text.into() }
            }
            6 => {
                let texts =
                    [("\"\"", ""), ("\"a\\tb\\\"\"", "a\tb\""), ("\"\\101//\"", "A//"), ("\"\u{e9}\"", "\u{e9}")];
                let (text, value) = texts[self.pick(4)];
                ExprKind::Str { value: value.into(), text: text.into() }
            }
            7 => ExprKind::Bool(self.flip()),
            8 => ExprKind::Pi,
            _ => [ExprKind::Pop, ExprKind::Iter][self.pick(2)].clone(),
        }
    }

    fn expr_kind(&mut self) -> ExprKind {
        match self.pick(14) {
            0..=2 => self.leaf(),
            3 => ExprKind::Paren(Box::new(self.expr(0))),
            4 => ExprKind::Member(Box::new(self.expr(9)), self.name()),
            5 => ExprKind::Index(Box::new(self.expr(9)), Box::new(self.expr(0))),
            6 => {
                let callee = match self.pick(3) {
                    0 => ExprKind::Var(self.name()),
                    1 => ExprKind::Var(Ident { name: ["float3", "complex"][self.pick(2)].into(), at: at() }),
                    _ => ExprKind::Member(Box::new(self.expr(9)), self.name()),
                };
                ExprKind::Call { callee: Box::new(expr(callee)), args: self.list(2, Self::value) }
            }
            7 => ExprKind::Peek(Box::new(self.expr(0))),
            8 => {
                let op = [UnaryOp::Neg, UnaryOp::Not, UnaryOp::BitNot][self.pick(3)];
                ExprKind::Unary(op, Box::new(self.expr(8)))
            }
            9 => {
                let prefix = self.flip();
                ExprKind::IncDec { target: Box::new(self.expr(9 - u8::from(prefix))), inc: self.flip(), prefix }
            }
            10 | 11 => {
                let op = BINARY[self.pick(BINARY.len())];
                let (a, b) = (self.expr(op.precedence()), self.expr(op.precedence() + 1));
                ExprKind::Binary(op, Box::new(a), Box::new(b))
            }
            12 => {
                let (c, a, b) = (self.expr(1), self.expr(0), self.expr(0));
                ExprKind::Ternary(Box::new(c), Box::new(a), Box::new(b))
            }
            _ => {
                let base = self.primitive();
                let ty = self.dims(Type { base, dims: vec![], at: at() });
                ExprKind::Cast(Box::new(ty), Box::new(self.expr(8)))
            }
        }
    }
}
