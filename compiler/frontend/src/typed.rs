//! The typed program: every name resolved, every type known, every implicit conversion written out.
//!
//! One [`FilterCode`] is one filter declaration with its arguments (and, for an anonymous filter, captured values) folded
//! in as constants; instances with equal arguments share it. What the interpreter walks and what the kernel IR is lowered
//! from. Invariants of a `FilterCode`:
//! - no [`crate::ty::Dim::Unknown`], no [`crate::ty::Ty::Error`], no [`StmtKind::Stream`];
//! - both operands of a [`ExprKind::Binary`] have the type the operator works in (see there); conversions are
//!   [`ExprKind::Convert`];
//! - evaluation order is left to right, operands before operators; a place's subexpressions before the value assigned;
//! - a place is a `Local` or `Field`, with `Index`, `Member` and `Component` around it.

mod streams;

pub use streams::{Role, SplitDef, StreamStmt, StreamUse, TypeSpec};

use crate::constant::Const;
use crate::convolution::Convolution;
use crate::ids::*;
use crate::slow::InTurn;
use crate::ty::Ty;
pub use sluice_grammar::ast::{BinaryOp, Name, UnaryOp};
use sluice_grammar::span::Span;
use std::sync::Arc;

/// What all filters share.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    /// Structs, by [`StructId`].
    pub structs: Vec<StructDef>,
    /// Variables of `static` blocks with their values, by [`StaticId`]; no filter writes them.
    pub statics: Vec<StaticVar>,
    /// Functions of `helper` groups, by [`HelperId`]. They have no fields and no channels.
    pub helpers: Vec<Function>,
    /// Functions of `native` groups, by [`NativeId`].
    pub natives: Vec<NativeFn>,
}

/// A struct.
#[derive(Clone, Debug)]
pub struct StructDef {
    /// Name.
    pub name: Name,
    /// Names and types of its fields; a struct contains only structs of smaller or larger id, never itself.
    pub fields: Vec<(Name, Ty)>,
    /// Its name's place.
    pub span: Span,
}

/// A variable of a `static` block.
#[derive(Clone, Debug)]
pub struct StaticVar {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: Ty,
    /// Value after all initialisers and init blocks.
    pub value: Const,
    /// Its name's place.
    pub span: Span,
}

/// A function supplied by a C library.
#[derive(Clone, Debug)]
pub struct NativeFn {
    /// The group's name.
    pub group: Name,
    /// Name in the group.
    pub name: Name,
    /// Parameter names and types.
    pub params: Vec<(Name, Ty)>,
    /// Result.
    pub ret: Ty,
    /// Its name's place.
    pub span: Span,
}

/// Items per firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Rates {
    /// Items looked at, at least `pop`.
    pub peek: u32,
    /// Items consumed.
    pub pop: u32,
    /// Items produced.
    pub push: u32,
}

/// A rate that is not one number: the least and the most, `None` where open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DynamicRate {
    /// Least.
    pub min: u32,
    /// Average, a hint.
    pub avg: Option<u32>,
    /// Most.
    pub max: Option<u32>,
}

/// Which rates of a work function are dynamic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct DynamicRates {
    /// Peek.
    pub peek: Option<DynamicRate>,
    /// Pop.
    pub pop: Option<DynamicRate>,
    /// Push.
    pub push: Option<DynamicRate>,
}

impl DynamicRates {
    /// Does a firing decide how many items it takes or looks at?
    pub fn input(&self) -> bool {
        self.peek.is_some() || self.pop.is_some()
    }
}

/// What a firing may do: the least and the most it pops and pushes, and the items it may look at. `None` is without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Items popped.
    pub pop: (u32, Option<u32>),
    /// Items looked at, popped ones included: what a firing needs to begin, and the most.
    pub look: (u32, Option<u32>),
    /// Items pushed.
    pub push: (u32, Option<u32>),
}

impl Bounds {
    /// The bounds of rates, some of which may be dynamic.
    pub fn of(rates: Rates, dynamic: Option<DynamicRates>) -> Bounds {
        let d = dynamic.unwrap_or_default();
        let range = |r: Option<DynamicRate>, n: u32| r.map_or((n, Some(n)), |r| (r.min, r.max));
        let pop = range(d.pop, rates.pop);
        let most = match (d.peek, d.pop) {
            (None, None) => Some(rates.peek),
            // a peek that is not declared is pop
            (None, Some(p)) => p.max.map(|m| m.max(rates.peek)),
            (Some(p), _) => p.max.zip(pop.1).map(|(a, b)| a.max(b)),
        };
        Bounds { pop, look: (rates.peek, most), push: range(d.push, rates.push) }
    }
}

/// `work` or `prework`.
#[derive(Clone, Debug)]
pub struct WorkDef {
    /// Its body (no parameters, no result).
    pub function: FnId,
    /// Declared rates; 0 where dynamic, but `peek` is always the items that a firing needs to begin.
    pub rates: Rates,
    /// Rates that are not constant; `None` when all are.
    pub dynamic: Option<DynamicRates>,
    /// Shown at compile time: every firing pops at most `pop` and pushes exactly `push`.
    pub counts_proved: bool,
    /// Shown at compile time: every peek and pop stays below `peek` items from the firing's first.
    pub peeks_proved: bool,
    /// From the keyword to the last rate.
    pub span: Span,
}

impl WorkDef {
    /// What a firing may do.
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.rates, self.dynamic)
    }
}

/// A filter with its arguments folded in.
#[derive(Clone, Debug)]
pub struct FilterCode {
    /// The declaration.
    pub decl: DeclId,
    /// The declaration's name; `anonymous` with a number for one without.
    pub name: Name,
    /// Name with arguments, for people: `LowPass(250000.0, 64)`; long arguments are shortened.
    pub display: String,
    /// The header's place.
    pub span: Span,
    /// Type of the items it pops.
    pub input: Ty,
    /// Type of the items it pushes.
    pub output: Ty,
    /// Fields, by [`FieldId`]; parameters that are arrays or structs are constant fields too.
    pub fields: Vec<FieldDef>,
    /// Functions, by [`FnId`].
    pub functions: Vec<Function>,
    /// The first firing, if it differs.
    pub prework: Option<WorkDef>,
    /// A firing.
    pub work: WorkDef,
    /// Message handlers.
    pub handlers: Vec<HandlerDef>,
    /// Does a firing (or handler) write a field that a later firing can read, or call a native function (which may keep
    /// something from one call to the next)? The place that shows it.
    pub stateful: Option<Span>,
    /// Can a firing print?
    pub prints: bool,
    /// Does a firing ask for `iter()`?
    pub uses_iter: bool,
    /// Where a firing sends a message.
    pub sends: Option<Span>,
    /// Where it calls a native function.
    pub calls_native: Option<Span>,
    /// What `init` printed when it ran at compile time; comes out once per instance before the first firing.
    pub init_output: String,
    /// What it was made of, where it does the firings of several streams.
    pub turns: Option<Arc<InTurn>>,
    /// Items of its window that native code reads instead of fields, before those that the program means: they wait on its channel, and are counted in what `work` peeks.
    pub behind: u32,
    /// What its firings are where many may be done at once in the frequency domain, with other roundings.
    pub convolution: Option<Arc<Convolution>>,
    /// Which part of another filter's firings it does, where native code has these taken apart. Types and rates are the part's own; functions and fields are still those of the whole.
    pub part: Option<Arc<PartOf>>,
}

/// A part of a filter that is taken apart.
#[derive(Clone, Debug)]
pub struct PartOf {
    /// Which.
    pub part: Part,
    /// Of what.
    pub whole: FilterCode,
    /// Were its private fields variables when it was taken apart? Whoever looks at a part, for whatever purpose, must find the same parts.
    pub privatised: bool,
    /// Had it no checks of indices and divisors?
    pub unchecked: bool,
    /// Might its arithmetic have other bytes?
    pub free: bool,
}

/// A part of firings: the parts of a filter follow one another in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// What needs nothing of a field.
    Before,
    /// What fields need, and give.
    State,
    /// What follows from fields, and nothing in them from it.
    After,
}

impl FilterCode {
    /// Does a firing decide on one of its rates?
    pub fn dynamic(&self) -> bool {
        self.work.dynamic.is_some() || self.prework.as_ref().is_some_and(|p| p.dynamic.is_some())
    }

    /// The function behind an id.
    pub fn function(&self, id: FnId) -> &Function {
        &self.functions[id.index()]
    }
}

/// A field of a filter.
#[derive(Clone, Debug)]
pub struct FieldDef {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: Ty,
    /// Its name's place.
    pub span: Span,
    /// Value after initialisers and `init`.
    pub initial: Const,
    /// No firing and no handler writes it.
    pub constant: bool,
}

/// A message handler.
#[derive(Clone, Debug)]
pub struct HandlerDef {
    /// Its name.
    pub name: Name,
    /// Its body.
    pub function: FnId,
}

/// A function body with its variables.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name (`work`, `prework`, `init`, or the function's own).
    pub name: Name,
    /// The first `params` locals are the parameters.
    pub params: u32,
    /// Parameters and local variables, by [`LocalId`].
    pub locals: Vec<Local>,
    /// Result type.
    pub ret: Ty,
    /// Body.
    pub body: Vec<Stmt>,
    /// Its name's (or keyword's) place.
    pub span: Span,
}

/// A local variable or parameter.
#[derive(Clone, Debug)]
pub struct Local {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: Ty,
    /// An array parameter: it stands for the caller's array, not for a copy.
    pub by_ref: bool,
    /// Is it ever written after its declaration? For `by_ref`: does the function (or one it calls) write the elements?
    pub written: bool,
    /// Its name's place.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// Statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A declaration executed: the local gets the value, or zero. Arrays are new each time.
    Let {
        /// Which local.
        local: LocalId,
        /// Initial value, of the local's type.
        init: Option<Expr>,
        /// In composite bodies only, where the local's type has unknown sizes: the sizes, outermost first.
        dims: Vec<Expr>,
    },
    /// `place = value` (the value has the place's type).
    Assign {
        /// The place.
        place: Expr,
        /// The value.
        value: Expr,
    },
    /// `place op= value`: the place is evaluated once; the operation works in type `in_ty` (as in [`ExprKind::Binary`],
    /// to which place's value is converted and which `value` already has, but for a float that scales a complex number) and the result is converted back.
    AssignOp {
        /// The place.
        place: Expr,
        /// The operation.
        op: BinaryOp,
        /// The type the operation works in (for shifts: int).
        in_ty: Ty,
        /// The right side.
        value: Expr,
    },
    /// A call, a pop, an increment: evaluated, its result dropped.
    Expr(Expr),
    /// `push(v)`; the value has the filter's output type.
    Push(Expr),
    /// `print(v)`, `println(v)`
    Print {
        /// Any basic type, or text.
        value: Expr,
        /// Ends the line?
        newline: bool,
    },
    /// `if`
    If {
        /// A boolean.
        cond: Expr,
        /// Then.
        then: Vec<Stmt>,
        /// Else.
        els: Vec<Stmt>,
    },
    /// `for`; `continue` goes to the step. Without a condition: forever.
    For {
        /// First.
        init: Vec<Stmt>,
        /// A boolean.
        cond: Option<Expr>,
        /// After each turn.
        step: Vec<Stmt>,
        /// Body.
        body: Vec<Stmt>,
    },
    /// `while`
    While {
        /// A boolean.
        cond: Expr,
        /// Body.
        body: Vec<Stmt>,
    },
    /// `do ... while`
    DoWhile {
        /// Body.
        body: Vec<Stmt>,
        /// A boolean.
        cond: Expr,
    },
    /// `switch`: runs from the matching case on, falling through as C does, to a `break` or the end.
    Switch {
        /// An int.
        value: Expr,
        /// Cases in order; labels are distinct.
        cases: Vec<SwitchCase>,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// `{ ... }`
    Block(Vec<Stmt>),
    /// `p.h(args) [min:max]`
    Send(Box<Send>),
    /// A statement of a composite body; never in a filter.
    Stream(Box<StreamStmt>),
}

/// One case of a `switch`.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// Values.
    pub labels: Vec<i32>,
    /// Is `default` among the labels?
    pub default: bool,
    /// Statements.
    pub body: Vec<Stmt>,
}

/// A message sent.
#[derive(Clone, Debug)]
pub struct Send {
    /// The portal.
    pub portal: PortalId,
    /// Handler name.
    pub handler: Name,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Latencies `[min:max]` in firings, min ≤ max; `None` is best effort.
    pub latency: Option<(i32, i32)>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Ty,
    /// Where.
    pub span: Span,
}

/// Expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant (scalars and text; aggregates live in fields and statics).
    Const(Const),
    /// A local.
    Local(LocalId),
    /// A field of the filter.
    Field(FieldId),
    /// A static.
    Static(StaticId),
    /// `array[index]`, index an int; checked.
    Index(Box<Expr>, Box<Expr>),
    /// `s.field`
    Member(Box<Expr>, u32),
    /// `c.real` (0), `c.imag` (1), `v.x` (0) to `v.w` (3)
    Component(Box<Expr>, u8),
    /// `pop()`
    Pop,
    /// `peek(i)`, an int; checked.
    Peek(Box<Expr>),
    /// `iter()`
    Iter,
    /// `-` on int, float, double, complex, vectors; `!` on boolean; `~` on int and bit.
    Unary(UnaryOp, Box<Expr>),
    /// Operands have equal types: `+ - * /` int, float, double, complex, vectors; `%` int; shifts int; comparisons int,
    /// float, double (`==` and `!=` also boolean, bit, complex), result boolean; `& | ^` int, boolean or bit;
    /// `&&` and `||` boolean, short-circuit. But a complex number may be multiplied by a float, on either side, or divided by one: both its parts are.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`, both of the expression's type.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The operand as the expression's type: widening, or a cast (`(int)` truncates and saturates; `(bit)` of an int takes
    /// its lowest bit; `(boolean)` of a number is `!= 0`; real to complex; float to a vector sets all components). An array that
    /// is passed to a native function as its own type is passed as a copy.
    Convert(Box<Expr>),
    /// A mathematical function; arguments have equal types but for `pow`-like ones, which are equal too.
    Builtin(Builtin, Vec<Expr>),
    /// A call.
    Call(Callee, Vec<Expr>),
    /// `++x` and so on, on int, float, double.
    IncDec {
        /// The place.
        place: Box<Expr>,
        /// `++`?
        inc: bool,
        /// Value after (prefix) or before (postfix).
        prefix: bool,
    },
    /// `{1, 2, 3}`, of the expression's type: an array, whose missing elements are zero, or a struct, of which all fields are there.
    Array(Vec<Expr>),
    /// A complex number of two floats, a vector of 2 to 4 floats.
    Compose(Vec<Expr>),
    /// Text put together; each part text or any basic type.
    Concat(Vec<Expr>),
}

/// Whose function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// The filter's own.
    Own(FnId),
    /// A `helper` group's.
    Helper(HelperId),
    /// A `native` group's.
    Native(NativeId),
}

/// Mathematical functions. On float in single precision, on double in double precision; `Abs`, `Min`, `Max` also on int;
/// `Abs`, `Arg` of complex give float; `Exp Log Sin Cos Sqrt` also on complex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    Abs,
    Acos,
    Acosh,
    Arg,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    Ceil,
    Cos,
    Cosh,
    Exp,
    Expm1,
    Floor,
    Fmod,
    Log,
    Log10,
    Max,
    Min,
    Pow,
    Rint,
    Round,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
}
