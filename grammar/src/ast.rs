//! The syntax tree, as written: every node has its span, numbers keep their text, parentheses are kept.
//!
//! Equality ignores places (`PartialEq` is derived, and every place is an [`At`], which equals any other), so that
//! `parse(print(p)) == p` can be asked directly.

mod expr;
pub mod places;

use crate::span::Span;
pub use expr::*;
use std::sync::Arc;

/// A name or a piece of literal text.
pub type Name = Arc<str>;

/// A span that is equal to every other span: the place of a node is no part of its meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

impl Eq for At {}

impl From<Span> for At {
    fn from(span: Span) -> At {
        At(span)
    }
}

/// An identifier and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where.
    pub at: At,
}

impl Ident {
    /// Where it stands.
    pub fn span(&self) -> Span {
        self.at.0
    }
}

/// One source file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// Declarations in order.
    pub items: Vec<Item>,
}

/// A top-level declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `import "file.str";`
    Import {
        /// The path with escapes resolved.
        path: Name,
        /// The path's place.
        at: At,
    },
    /// `struct Name { ... }`
    Struct(StructDecl),
    /// A filter, pipeline, splitjoin or feedbackloop.
    Stream(Arc<StreamDecl>),
    /// `static { ... }`
    Static(StaticBlock),
    /// `native Name { ... }`: function signatures without bodies.
    Native(FunctionGroup),
    /// `helper Name { ... }`
    Helper(FunctionGroup),
}

/// `struct Name { type field; ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct StructDecl {
    /// Its name.
    pub name: Ident,
    /// Fields in order (a declaration `int a, b;` is one entry with two variables; no initialisers).
    pub fields: Vec<VarDecl>,
    /// The whole declaration.
    pub at: At,
}

/// `static { field declarations; init { ... } }`
#[derive(Clone, Debug, PartialEq)]
pub struct StaticBlock {
    /// The variables.
    pub fields: Vec<VarDecl>,
    /// The optional init block.
    pub init: Option<Block>,
    /// The whole block.
    pub at: At,
}

/// `native Name { ... }` or `helper Name { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionGroup {
    /// The group's name, used in calls `Name.f(x)`.
    pub name: Ident,
    /// Its functions; those of a native group have no body.
    pub functions: Vec<FnDecl>,
    /// The whole block.
    pub at: At,
}

/// A function: of a helper or native group, a helper function of a filter, or a message handler.
#[derive(Clone, Debug, PartialEq)]
pub struct FnDecl {
    /// Result type (`void` for handlers).
    pub ret: Type,
    /// Name.
    pub name: Ident,
    /// Parameters.
    pub params: Vec<Param>,
    /// Declared rates, if any (helper functions of a filter).
    pub rates: Vec<RateSpec>,
    /// The body; `None` in a native group.
    pub body: Option<Block>,
    /// The whole declaration.
    pub at: At,
}

/// A parameter of a stream or function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Type.
    pub ty: Type,
    /// Name.
    pub name: Ident,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// The base type.
    pub base: BaseType,
    /// Array dimensions, outermost first: `float[N][M]` is N rows of M.
    pub dims: Vec<Expr>,
    /// Where.
    pub at: At,
}

/// A type without array dimensions.
#[derive(Clone, Debug, PartialEq)]
pub enum BaseType {
    /// `void`
    Void,
    /// `bit`
    Bit,
    /// `boolean`
    Boolean,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `complex`
    Complex,
    /// `float2`, `float3`, `float4`
    Float2,
    /// `float3`
    Float3,
    /// `float4`
    Float4,
    /// `portal<F>`
    Portal(Ident),
    /// A struct's name.
    Named(Ident),
    /// What could not be parsed.
    Error,
}

/// What kind of stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamKind {
    /// `filter`
    Filter,
    /// `pipeline`
    Pipeline,
    /// `splitjoin`
    SplitJoin,
    /// `feedbackloop`
    FeedbackLoop,
}

impl StreamKind {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            StreamKind::Filter => "filter",
            StreamKind::Pipeline => "pipeline",
            StreamKind::SplitJoin => "splitjoin",
            StreamKind::FeedbackLoop => "feedbackloop",
        }
    }
}

/// A stream declaration, named or anonymous.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamDecl {
    /// `IN->OUT`; anonymous streams may leave it out.
    pub io: Option<(Type, Type)>,
    /// Was the keyword `stateful` written, and where?
    pub stateful: Option<At>,
    /// Filter, pipeline, splitjoin or feedbackloop.
    pub kind: StreamKind,
    /// The name; `None` for an anonymous stream.
    pub name: Option<Ident>,
    /// Parameters.
    pub params: Vec<Param>,
    /// What is between the braces.
    pub body: StreamBody,
    /// From the type (or keyword) to the closing parenthesis of the parameters.
    pub header: At,
    /// The whole declaration.
    pub at: At,
}

/// The inside of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamBody {
    /// Fields, init, prework, work, functions, handlers: in source order.
    Filter(Vec<Member>),
    /// Statements run at compile time.
    Composite(Block),
}

/// A member of a filter.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// `float[N] h = ...;`
    Field(VarDecl),
    /// `init { ... }`
    Init(Block),
    /// `prework [rates] { ... }`
    Prework(Work),
    /// `work [rates] { ... }`
    Work(Work),
    /// A helper function.
    Function(FnDecl),
    /// `handler h(args) { ... }`
    Handler(FnDecl),
}

/// `work` or `prework` with its rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Rates in source order.
    pub rates: Vec<RateSpec>,
    /// The body.
    pub body: Block,
    /// The keyword `work` or `prework`.
    pub keyword: At,
    /// The whole.
    pub at: At,
}

/// Which rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateKind {
    /// `peek`
    Peek,
    /// `pop`
    Pop,
    /// `push`
    Push,
}

/// `push e`, `pop *`, `peek [min, avg, max]`
#[derive(Clone, Debug, PartialEq)]
pub struct RateSpec {
    /// Which.
    pub kind: RateKind,
    /// How many.
    pub rate: Rate,
    /// The whole, keyword included.
    pub at: At,
}

/// A rate as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// A constant expression.
    Static(Expr),
    /// `*`, or `[min, max]` or `[min, avg, max]`, `None` standing for `*`. A plain `*` is three times `None`.
    Dynamic {
        /// Least, or `*`.
        min: Option<Expr>,
        /// Average, or `*`, or not written.
        avg: Option<Expr>,
        /// Most, or `*`.
        max: Option<Expr>,
    },
}

/// `type a = e, b;`
#[derive(Clone, Debug, PartialEq)]
pub struct VarDecl {
    /// The type of all of them.
    pub ty: Type,
    /// Names with initialisers (array initialisers are [`ExprKind::ArrayLit`]).
    pub vars: Vec<(Ident, Option<Expr>)>,
    /// The whole, semicolon included.
    pub at: At,
}

/// `{ ... }`
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// The whole, braces included.
    pub at: At,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// Where.
    pub at: At,
}

/// The statements, of functions and of composite bodies alike; the checker says which may stand where.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `{ ... }`
    Block(Block),
    /// A declaration of locals.
    Decl(VarDecl),
    /// `target = value;` or `target op= value;`
    Assign {
        /// A place.
        target: Expr,
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr,
    },
    /// A call, a pop, an increment (other expressions are a diagnostic of the checker).
    Expr(Expr),
    /// `push(value);`
    Push(Expr),
    /// `if (cond) a else b`
    If {
        /// Condition.
        cond: Expr,
        /// Then.
        then: Box<Stmt>,
        /// Else.
        els: Option<Box<Stmt>>,
    },
    /// `for (init; cond; step) body`
    For {
        /// Declarations or assignments, comma separated ones in order.
        init: Vec<Stmt>,
        /// Missing means true.
        cond: Option<Expr>,
        /// Assignments or increments.
        step: Vec<Stmt>,
        /// Body.
        body: Box<Stmt>,
    },
    /// `while (cond) body`
    While {
        /// Condition.
        cond: Expr,
        /// Body.
        body: Box<Stmt>,
    },
    /// `do body while (cond);`
    DoWhile {
        /// Body.
        body: Box<Stmt>,
        /// Condition.
        cond: Expr,
    },
    /// `switch (value) { case a: ... default: ... }`
    Switch {
        /// The value, an int.
        value: Expr,
        /// The groups in order.
        cases: Vec<Case>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return;` or `return e;`
    Return(Option<Expr>),
    /// `p.h(args) [min:max];` with a latency, or without one (then it parses as an [`StmtKind::Expr`] call of a member).
    Send {
        /// The portal.
        portal: Expr,
        /// The handler.
        handler: Ident,
        /// Its arguments.
        args: Vec<Expr>,
        /// The latency.
        latency: Latency,
    },
    /// `add S(args) to p1, p2;`
    Add {
        /// What.
        stream: StreamRef,
        /// Portals it registers with.
        portals: Vec<Expr>,
    },
    /// `split ...;`
    Split(SplitKind),
    /// `join ...;`
    Join(SplitKind),
    /// `body S;`
    Body {
        /// What.
        stream: StreamRef,
        /// Portals it registers with.
        portals: Vec<Expr>,
    },
    /// `loop S;`
    Loop {
        /// What.
        stream: StreamRef,
        /// Portals it registers with.
        portals: Vec<Expr>,
    },
    /// `enqueue v;`
    Enqueue(Expr),
    /// What could not be parsed.
    Error,
}

/// `case a: case b: ...`: the labels of one group and the statements up to the next label.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Labels; `None` is `default`.
    pub labels: Vec<(Option<Expr>, At)>,
    /// Statements.
    pub body: Vec<Stmt>,
}

/// `[min:max]` or `[*]` of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Latency {
    /// `[min:max]`
    Range(Expr, Expr),
    /// `[*]`: best effort.
    BestEffort,
}

/// A splitter or joiner as written.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitKind {
    /// `duplicate` or `duplicate()`
    Duplicate,
    /// `roundrobin`, `roundrobin()`, `roundrobin(w)`, `roundrobin(w1, w2, ...)`
    RoundRobin(Vec<Expr>),
}

/// What is added.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamRef {
    /// `S`, `S(args)`, `FileReader<float>("path")`
    Named {
        /// The stream's name.
        name: Ident,
        /// `<T>` of the built-in streams.
        type_args: Vec<Type>,
        /// Arguments; absent parentheses are an empty list.
        args: Vec<Expr>,
        /// The whole.
        at: At,
    },
    /// An anonymous stream.
    Anonymous(Arc<StreamDecl>),
}
