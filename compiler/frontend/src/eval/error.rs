//! What can go wrong when code runs.
//!
//! An [`EvalError`] is a kind and the place in the source; [`EvalError::message`] says it in a sentence without a full stop.

use sluice_grammar::span::Span;
use std::fmt;

/// What is said where the steps of a compilation are used up.
pub const TOO_MANY_STEPS: &str = "this takes too many steps: is it an endless loop?";

/// The result of evaluating something.
pub type Eval<T> = Result<T, EvalError>;

/// Evaluation stopped: [`Stop`] says why and where, as fields of this (`e.kind`, `e.span`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError(Box<Stop>);

/// Why and where evaluation stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Why.
    pub kind: EvalErrorKind,
    /// Where.
    pub span: Span,
}

impl std::ops::Deref for EvalError {
    type Target = Stop;

    fn deref(&self) -> &Stop {
        &self.0
    }
}

/// Why evaluation stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalErrorKind {
    /// An array index outside of the array.
    IndexOutOfBounds {
        /// The index.
        index: i32,
        /// Elements of the array.
        length: usize,
    },
    /// An int divided by zero.
    DivisionByZero,
    /// More steps than allowed at compile time.
    OutOfFuel,
    /// Calls nested too deeply.
    RecursionTooDeep,
    /// A negative position given to `peek`.
    PeekNegative(i32),
    /// `peek` beyond the declared rate; positions count from the firing's first item.
    PeekBeyond {
        /// Items that would have to be seen.
        needed: u64,
        /// The declared peek rate.
        declared: u32,
    },
    /// More items popped than declared.
    PopBeyond {
        /// The declared pop rate.
        declared: u32,
    },
    /// More items pushed than declared.
    PushBeyond {
        /// The declared push rate.
        declared: u32,
    },
    /// Fewer items pushed than declared.
    PushedLess {
        /// How many.
        pushed: u32,
        /// The declared push rate.
        declared: u32,
    },
    /// Fewer items popped than the least declared.
    PoppedLess {
        /// How many.
        popped: u32,
        /// The least that is declared.
        declared: u32,
    },
    /// A channel of a program with dynamic rates holds more items than it may.
    ChannelFull {
        /// The most that it may hold.
        limit: u64,
        /// Path of the node that does not take them.
        to: Box<str>,
    },
    /// A firing that decides on its rates prints more than is kept back until it is complete.
    PrintsTooMuchAtOnce,
    /// More messages are under way than may be.
    TooManyMessages,
    /// Something that needs a firing, or the world outside: `pop()`.
    NotAvailable(Box<str>),
    /// A native function, while the program is compiled.
    NativeCall {
        /// Group and name, as in a call.
        name: Box<str>,
        /// Where it is declared.
        declared: Span,
    },
    /// An array with more elements than the limit, in all its dimensions together.
    ArrayTooLarge {
        /// How many were wanted; `None` where that is beyond all counting.
        items: Option<u64>,
    },
    /// The constants of the program have too many elements.
    TooManyConstants,
    /// The `init` blocks of the program print too much.
    PrintsTooMuch,
    /// The local variables of all the functions under way have too many elements.
    LocalsTooLarge,
    /// An array size below zero.
    NegativeSize(i32),
    /// An array copied to one of another size.
    SizesDiffer {
        /// Elements there.
        to: usize,
        /// Elements given.
        from: usize,
    },
    /// A function ended without giving its value.
    NoResult(Box<str>),
    /// Something this evaluator does not do yet.
    Unsupported(Box<str>),
    /// The host stops the run: an input or output failed, or the user interrupted.
    Host(Box<str>),
    /// The code breaks the rules of [`crate::typed`]: an error of the compiler.
    IllTyped(&'static str),
}

impl EvalError {
    /// An error at a place.
    #[cold]
    pub fn new(kind: EvalErrorKind, span: Span) -> EvalError {
        EvalError(Box::new(Stop { kind, span }))
    }

    /// The host wants no more; it knows why.
    pub fn stopped(span: Span) -> EvalError {
        EvalError::new(EvalErrorKind::Host("stopped".into()), span)
    }

    /// Did the steps run out?
    pub fn is_out_of_fuel(&self) -> bool {
        self.kind == EvalErrorKind::OutOfFuel
    }

    /// What happened, in a sentence.
    pub fn message(&self) -> String {
        self.kind.to_string()
    }
}

impl fmt::Display for EvalErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use EvalErrorKind::*;
        match self {
            IndexOutOfBounds { index, length: 0 } => write!(f, "index {index} is outside of an empty array"),
            IndexOutOfBounds { index, length } => {
                write!(f, "index {index} is outside of the array, whose indices run from 0 to {}", length - 1)
            }
            DivisionByZero => f.write_str("division by zero"),
            OutOfFuel => f.write_str(TOO_MANY_STEPS),
            RecursionTooDeep => f.write_str("calls are nested too deeply: is it an endless recursion?"),
            PeekNegative(i) => write!(f, "peek({i}) looks at an item that is gone"),
            PeekBeyond { needed, declared } => {
                write!(f, "peek looks at {needed} items, but the declared rate is {declared}")
            }
            PopBeyond { declared } => write!(f, "more items are popped than the declared {declared}"),
            PushBeyond { declared } => write!(f, "more items are pushed than the declared {declared}"),
            PushedLess { pushed, declared } => {
                write!(f, "only {pushed} items were pushed, but the declared rate is {declared}")
            }
            PoppedLess { popped, declared } => {
                write!(f, "only {popped} items were popped, but the declared rate is at least {declared}")
            }
            ChannelFull { limit, to } => write!(f, "more than {limit} items wait on the channel to `{to}`"),
            PrintsTooMuchAtOnce => f.write_str("one firing prints more than 64 MiB"),
            TooManyMessages => f.write_str("more than 1000000 messages are under way"),
            NotAvailable(what) => write!(f, "{what} is not available at compile time"),
            NativeCall { name, .. } => write!(f, "the native function `{name}` cannot be called at compile time"),
            ArrayTooLarge { items: Some(n) } => write!(f, "an array of {n} elements is too large"),
            ArrayTooLarge { items: None } => f.write_str("this array is too large"),
            TooManyConstants => f.write_str("the arrays of the program are too large: more than 2^25 elements in all"),
            PrintsTooMuch => f.write_str("the program prints too much at compile time: more than 64 MiB"),
            LocalsTooLarge => {
                f.write_str("the variables of the functions under way are too large: more than 2^25 elements")
            }
            NegativeSize(n) => write!(f, "an array cannot have {n} elements"),
            SizesDiffer { to, from } => write!(f, "an array of {from} elements does not fit one of {to}"),
            NoResult(name) => write!(f, "`{name}` ended without giving its value"),
            Unsupported(what) => write!(f, "{what} is not yet supported"),
            Host(why) => f.write_str(why),
            IllTyped(what) => {
                write!(f, "the compiler made code that breaks its own rules ({what}); please report this")
            }
        }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for EvalError {}
