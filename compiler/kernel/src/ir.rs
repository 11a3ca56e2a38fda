//! The kernel IR: what one filter computes, as a small imperative program.
//!
//! Purpose: the form in which work functions are optimised and from which C and CUDA are printed. Input: made by [`crate::lower`]
//! or read from text by [`crate::text`]. Its rules are what [`mod@crate::verify`] checks.
//!
//! ```text
//! float->float filter Gain(float g) {          func 0 "work" -> void {
//!     work pop 1 push 1 {                 →       local 0 "t" float
//!         push(g * pop());                        pop $0
//!     }                                           push (2.5f * $0)
//! }                                            }
//! ```
//!
//! Rules:
//! - Expressions are pure: they read variables, the window of the input, tables, and nothing else happens. What has an effect is a
//!   statement, in the order of the program's left-to-right evaluation. `&&`, `||` and [`ExprKind::Select`] evaluate only the
//!   operands they need, so that a load in such an operand is valid only under its condition.
//! - Nothing is checked implicitly: an index, a divisor, a rate that could be wrong has a [`StmtKind::Check`] before its use. A load
//!   outside of an array is never executed.
//! - Arrays and structs are values: an assignment copies. An array parameter marked `by_ref` stands for the caller's array.
//! - Variables are zero only where the code says so; a variable is assigned before it is read.
//! - The channel cursors belong to the firing: a firing of the work function takes exactly `pop` items off the input and puts
//!   `push` on the output, whatever [`StmtKind::Pop`] statements were executed (popping less than declared drops the rest).
//! - Before `lower_channels` a kernel speaks of the channels with `Pop`, `Push` and [`Base::Peek`]; after it with [`Base::In`] and
//!   [`Base::Out`], whose positions count from the firing's first item.

use crate::passes::intervals::Range;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::{LocalId, NativeId, PortalId, StaticId};
use sluice_frontend::ty::Ty;
pub use sluice_frontend::typed::{BinaryOp, Bounds, Builtin, DynamicRate, DynamicRates, Rates, UnaryOp};
use sluice_grammar::span::Span;
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a vector.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(i: usize) -> $name {
                $name(i as u32)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A function of a kernel.
    FuncId, "func");
id!(
    /// A state field of a kernel.
    StateId, "state");
id!(
    /// A constant table of a kernel.
    TableId, "table");

/// One filter's code.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The filter's declared name.
    pub name: String,
    /// Name with arguments, for people.
    pub display: String,
    /// The filter's header.
    pub span: Span,
    /// Type of the items it takes.
    pub input: Ty,
    /// Type of the items it gives.
    pub output: Ty,
    /// The program's structs, by [`sluice_frontend::ids::StructId`].
    pub structs: Arc<[StructType]>,
    /// What lives from one firing to the next.
    pub state: Vec<StateField>,
    /// Fields that others write, too, whose functions are not among these: what they hold is not to be concluded from them. Of a region ([`crate::fuse`]), those of its members' first firings.
    pub elsewhere: Vec<StateId>,
    /// Constants read by index.
    pub tables: Vec<Table>,
    /// Functions of C libraries that it calls.
    pub natives: Vec<Native>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// A firing.
    pub work: Work,
    /// The first firing, where it differs.
    pub prework: Option<Work>,
    /// Message handlers: name and function (its parameters are the message's).
    pub handlers: Vec<(String, FuncId)>,
    /// Its arithmetic may have other bytes (`--fast-math`).
    pub free: bool,
    /// Several firings at once, where `lanes` found that it can be done.
    pub lanes: Option<Lanes>,
    /// A few firings in step, where `in_step` found that each waits for its own loads.
    pub steps: Option<Steps>,
    /// State fields that move on from firing to firing.
    pub tapes: Vec<Tape>,
    /// Locals of `work` that a selection gives their values, between values at hand by a comparison of such or by a boolean one, and that a processor should not have to guess
    /// ([`crate::passes::choices`]).
    pub chosen: Vec<LocalId>,
}

impl Kernel {
    /// How many tables are its own ([`Table::own`]): the next one's number.
    pub fn own_tables(&self) -> u32 {
        self.tables.iter().filter_map(|t| t.own).max().map_or(0, |n| n + 1)
    }
}

/// A struct's name and fields.
#[derive(Clone, Debug, PartialEq)]
pub struct StructType {
    /// Name.
    pub name: String,
    /// Fields.
    pub fields: Vec<(String, Ty)>,
}

/// A variable that lives from one firing to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct StateField {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Ty,
    /// Value before the first firing.
    pub initial: Const,
}

/// A constant that is read by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Ty,
    /// Value.
    pub value: Const,
    /// The variable of a `static` block that it is; all kernels share it.
    pub shared: Option<StaticId>,
    /// The value is one filter's of many that have the same code ([`crate::share_code`]): code finds it by this number, which no other table of the kernel has, and must not depend on it.
    pub own: Option<u32>,
}

impl Table {
    /// The value, where code may depend on it.
    pub fn known(&self) -> Option<&Const> {
        self.own.is_none().then_some(&self.value)
    }

    /// Is it the same table to code, which does not know the values of own ones?
    pub fn same_to_code(&self, other: &Table) -> bool {
        let seen = |t: &Table| (t.own, t.shared);
        seen(self) == seen(other) && self.name == other.name && self.ty == other.ty && self.known() == other.known()
    }
}

/// A function of a C library.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// Which.
    pub id: NativeId,
    /// Its C name.
    pub name: String,
    /// Parameters; arrays are passed as a pointer to the first element.
    pub params: Vec<Ty>,
    /// Result.
    pub ret: Ty,
}

/// `work` or `prework`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Its body (no parameters, no result).
    pub function: FuncId,
    /// Items per firing; 0 where a firing decides, but `peek` is always what it needs to begin.
    pub rates: Rates,
    /// The rates that a firing decides on. Such a firing is an attempt: [`Check::Item`] and [`Check::Room`] end it as if it had never begun,
    /// and it ends with [`Check::Took`] and [`Check::Gave`].
    pub dynamic: Option<DynamicRates>,
}

impl Work {
    /// What a firing may do.
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.rates, self.dynamic)
    }
}

/// Several firings of `work` run in step, one in each lane. The function is one firing as each lane sees it: its control flow is
/// the same in all lanes, it has no checks, prints or calls and writes no state, and channels are `In` and `Out`. What differs between lanes are
/// the values of the varying variables and the items at a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// The firing as one lane sees it.
    pub function: FuncId,
    /// By local: does its value differ between lanes?
    pub varying: Vec<bool>,
    /// Machine vectors side by side for each varying value (hides the latency of dependent operations).
    pub unroll: u32,
    /// The same where there are twice as many registers for vectors (32); at least as many.
    pub deep: u32,
    /// Bring the window into phase order first: items of equal position modulo `pop` become neighbours. Where a firing takes more than one and this is not so, each lane's
    /// items are taken from where they are; of streams that are whole vectors, they are neighbours there.
    pub phases: bool,
    /// Streams that take turns in a firing, 1 in most filters: the function is one turn, and positions in it count the items of one stream. Item x of stream s of N is
    /// item x * N + s of the window; the one that a turn gives is item s.
    pub strands: u32,
    /// Streams are parts of complex numbers ([`crate::passes::lanes`]): twice as many take turns, and stream 2s is the real part of what would be stream s. The function names all items by their real parts.
    pub parts: bool,
    /// What is known of the ints, where it pays that those that are bytes go as such.
    pub narrow: Option<Narrow>,
}

impl Lanes {
    /// The rates of one stream, in its items, where a firing's are these.
    pub fn rates(&self, firing: Rates) -> Rates {
        let of = |n: u32| n * (1 + u32::from(self.parts)) / self.strands;
        Rates { peek: of(firing.peek), pop: of(firing.pop), push: of(firing.push) }
    }

    /// Words of 32 bits of one of the streams' items.
    pub fn width(&self, ty: &Ty) -> u32 {
        if *ty == Ty::Complex && !self.parts { 2 } else { 1 }
    }
}

/// Bounds of the ints in lanes, at every point ([`crate::passes::narrow_lanes`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Narrow {
    /// Of the items that are taken.
    pub taken: Range,
    /// Of those that are given.
    pub given: Range,
    /// By local of the lanes' function: of all the ints that it ever holds.
    pub locals: Vec<Range>,
}

/// A few firings of `work` as one function, whose positions count from the first firing's first item. What is left over, `work` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The firings.
    pub function: FuncId,
    /// How many they are.
    pub firings: u32,
}

/// A state field that is an array of what waits on a channel within a region ([`crate::fuse`]). A firing sees the first `stays + step` elements, as constant positions say; after it, element
/// x is what element x + step was, which nobody has to do firing by firing: the array has room for as many firings as `turns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tape {
    /// The field: an array of `stays + step * turns` elements.
    pub state: StateId,
    /// Elements by which a firing moves it on.
    pub step: u32,
    /// Elements that stay after a firing.
    pub stays: u32,
    /// Firings for which there is room.
    pub turns: u32,
}

impl Tape {
    /// Its elements.
    pub fn elements(&self) -> u64 {
        u64::from(self.stays) + u64::from(self.step) * u64::from(self.turns)
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name.
    pub name: String,
    /// The first `params` locals are the parameters.
    pub params: u32,
    /// Parameters and variables.
    pub locals: Vec<Local>,
    /// Result type, [`Ty::Void`] for none.
    pub ret: Ty,
    /// Body.
    pub body: Vec<Stmt>,
    /// Its name's place.
    pub span: Span,
}

/// A variable or parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Name; need not be unique.
    pub name: String,
    /// Type.
    pub ty: Ty,
    /// An array parameter that stands for the caller's array.
    pub by_ref: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// Statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `place = value`
    Assign(Place, Expr),
    /// Takes the next item off the input.
    Pop(Option<Place>),
    /// Puts an item on the output.
    Push(Expr),
    /// A call.
    Call {
        /// Where the result goes.
        dst: Option<Place>,
        /// Whom.
        callee: Callee,
        /// Arguments: places for `by_ref` parameters and native arrays, values for others.
        args: Vec<Arg>,
    },
    /// Stops the program where something is wrong.
    Check(Check),
    /// `if`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A counted loop.
    For(Box<For>),
    /// Forever, until a break or return.
    Loop(Vec<Stmt>),
    /// Once; what a [`StmtKind::Break`] inside leaves.
    Block(Vec<Stmt>),
    /// Leaves the n-th enclosing `For`, `Loop` or `Block`, counted from 0 for the innermost.
    Break(u32),
    /// Goes on with the next turn of the n-th enclosing `For`, `Loop` or `Block`, counted as for `Break`; it is not a `Block`.
    Continue(u32),
    /// Leaves the function.
    Return(Option<Expr>),
    /// Prints a scalar.
    Print(Expr),
    /// Prints text.
    PrintText(Arc<str>),
    /// Sends a message.
    Send(Box<Message>),
}

/// A message that a firing sends. Its arguments have the types of the handler's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// To whom, by which handler, and when it takes effect.
    pub route: Route,
    /// Arguments, copied when it is sent.
    pub args: Vec<Expr>,
}

/// The way of a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// To whom.
    pub portal: PortalId,
    /// The handler's name.
    pub handler: Arc<str>,
    /// Latencies `[min:max]` in firings; `None` is best effort.
    pub latency: Option<(i32, i32)>,
}

/// `for (var = from; var cmp to; var += step)`, where the body does not assign `var` and `to` is evaluated once. After the loop,
/// `var` is the first value that failed the comparison (after a break: the value it had).
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// An int variable.
    pub var: LocalId,
    /// First value.
    pub from: Expr,
    /// `<`, `<=`, `>` or `>=`
    pub cmp: BinaryOp,
    /// Bound.
    pub to: Expr,
    /// What a turn adds, wrapping; not 0.
    pub step: i32,
    /// Body.
    pub body: Vec<Stmt>,
    /// Its turns need nothing of each other and are meant for a vector: it stays a loop, in C, too.
    pub abreast: bool,
}

/// Whose function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// The kernel's.
    Func(FuncId),
    /// A C library's: an index into [`Kernel::natives`].
    Native(u32),
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// By value.
    Value(Expr),
    /// The array itself.
    Ref(Place),
}

/// What must hold, or the program stops with a message at the statement's span.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// `0 <= index < length` of an array.
    Index {
        /// An int.
        index: Expr,
        /// Elements.
        length: u32,
    },
    /// A divisor is not 0.
    Divisor(Expr),
    /// `peek(index)`: not negative, and within the declared rate. Before `lower_channels`.
    Peek(Expr),
    /// Another pop is within the declared rate. Before `lower_channels`.
    Pop,
    /// Another push is within the declared rate. Before `lower_channels`.
    Push,
    /// At the end of a firing: as many pushes as declared. Before `lower_channels`.
    Pushed,
    /// `index` of a peek is not negative.
    PeekNegative(Expr),
    /// `position < peek`, for a position that is not negative; after `lower_channels`.
    PeekBeyond {
        /// From the firing's first item.
        position: Expr,
        /// The declared rate.
        peek: u32,
    },
    /// `popped < pop`, after `lower_channels`.
    PopBeyond {
        /// Items popped so far.
        popped: Expr,
        /// The declared rate.
        pop: u32,
    },
    /// `pushed < push`, after `lower_channels`.
    PushBeyond {
        /// Items pushed so far.
        pushed: Expr,
        /// The declared rate.
        push: u32,
    },
    /// `pushed >= push` at the end of a firing, after `lower_channels`.
    PushedLess {
        /// Items pushed.
        pushed: Expr,
        /// The declared rate, or the least of it.
        push: u32,
    },
    /// At the end of a firing that decides how many items it pops. Before `lower_channels`.
    Popped,
    /// `popped >= least` at the end of such a firing, after `lower_channels`.
    PoppedLess {
        /// Items popped.
        popped: Expr,
        /// The least that is declared.
        least: u32,
    },
    /// The item at a position from the firing's first is there; where not, the firing is abandoned. After `lower_channels`.
    Item(Expr),
    /// There is room for the item pushed after so many; where not, the firing is begun again with more. After `lower_channels`.
    Room(Expr),
    /// The firing has popped so many items. After `lower_channels`.
    Took(Expr),
    /// The firing has pushed so many items. After `lower_channels`.
    Gave(Expr),
    /// Never reached: a function ended without giving its value.
    NoResult,
}

/// A variable or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The variable.
    pub base: Base,
    /// Which part, from the outside in.
    pub path: Vec<Proj>,
}

/// What can be read or written.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// A local.
    Local(LocalId),
    /// A state field.
    State(StateId),
    /// A table, only read.
    Table(TableId),
    /// The item at a position from the next one to be popped, only read. Before `lower_channels`.
    Peek(Box<Expr>),
    /// The input item at a position from the firing's first, only read. After `lower_channels`.
    In(Box<Expr>),
    /// The output item at a position from the firing's first, only written. After `lower_channels`.
    Out(Box<Expr>),
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Proj {
    /// An element of an array.
    Index(Expr),
    /// A field of a struct.
    Member(u32),
    /// A component of a complex number or vector.
    Component(u8),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Type of its value.
    pub ty: Ty,
}

/// Expressions. Operand types are as in [`sluice_frontend::typed::ExprKind`].
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A scalar.
    Const(Const),
    /// The zero of any type.
    Zero,
    /// The value in a place.
    Load(Place),
    /// `- ! ~`
    Unary(UnaryOp, Box<Expr>),
    /// An int division has a divisor that is not 0.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b` of scalars.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// As the expression's type.
    Convert(Box<Expr>),
    /// A mathematical function.
    Builtin(Builtin, Vec<Expr>),
    /// A complex number or vector of its components.
    Compose(Vec<Expr>),
    /// A component of a complex number or vector.
    Component(Box<Expr>, u8),
    /// Completed firings of this filter, wrapped to an int.
    Iter,
    /// Of firings side by side ([`Kernel::lanes`]), in their function only: is the boolean true in any of them? All have the same answer.
    Any(Box<Expr>),
}
