//! The machine that runs typed code: its memory, its limits, and the host it asks.
//!
//! Takes functions, fields, statics. Gives results of calls. What must hold: a function's locals lie in one stretch of the stack,
//! the parameters first; the machine is as before after a call, whether it ended well or not.

use super::budget::MAX_HELD;
use super::error::{Eval, EvalError, EvalErrorKind};
use super::value::{Maker, Value};
use crate::ids::{FnId, LocalId, NativeId, PortalId, StaticId};
use crate::ty::Ty;
use crate::typed::{Function, Globals, Name, StreamStmt};
use sluice_grammar::span::Span;
use std::cell::OnceCell;
use std::rc::Rc;

/// What the code asks of the world around it. Every method but [`Host::tick`] answers with an error unless it is written.
pub trait Host {
    /// `pop()`
    fn pop(&mut self) -> Result<Value, EvalErrorKind> {
        Err(EvalErrorKind::NotAvailable("pop()".into()))
    }

    /// `peek(index)`; the index counts from the next item and may be negative or too large.
    fn peek(&mut self, index: i32) -> Result<Value, EvalErrorKind> {
        let _ = index;
        Err(EvalErrorKind::NotAvailable("peek()".into()))
    }

    /// `push(value)`; the value is shared with nobody.
    fn push(&mut self, value: Value) -> Result<(), EvalErrorKind> {
        let _ = value;
        Err(EvalErrorKind::NotAvailable("push()".into()))
    }

    /// `print(text)`, the line's end included where there is one.
    fn print(&mut self, text: &str) -> Result<(), EvalErrorKind> {
        let _ = text;
        Err(EvalErrorKind::NotAvailable("print()".into()))
    }

    /// `iter()`
    fn iter(&mut self) -> Result<i32, EvalErrorKind> {
        Err(EvalErrorKind::NotAvailable("iter()".into()))
    }

    /// A call of a native function; arrays are references.
    fn native(&mut self, function: NativeId, args: &[Value]) -> Result<Value, EvalErrorKind> {
        let _ = (function, args);
        Err(EvalErrorKind::NotAvailable("a native function".into()))
    }

    /// A message sent.
    fn send(&mut self, message: Message) -> Result<(), EvalErrorKind> {
        let _ = message;
        Err(EvalErrorKind::NotAvailable("sending a message".into()))
    }

    /// A new portal, for a declaration `portal<F> p;`.
    fn portal(&mut self) -> Option<PortalId> {
        None
    }

    /// A statement that builds a composite. The machine is in the composite's frame: evaluate its expressions with
    /// [`Machine::eval`].
    fn stream(&mut self, machine: &mut Machine<'_>, stmt: &StreamStmt, span: Span) -> Eval<()> {
        let _ = (machine, stmt);
        Err(EvalError::new(EvalErrorKind::NotAvailable("building a stream".into()), span))
    }

    /// Called every 65,536 steps: the chance to stop.
    fn tick(&mut self) -> Result<(), EvalErrorKind> {
        Ok(())
    }
}

/// A host that has nothing: for code that only computes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Message {
    /// To whom.
    pub portal: PortalId,
    /// Handler name.
    pub handler: Name,
    /// Arguments, shared with nobody.
    pub args: Vec<Value>,
    /// Latencies; `None` is best effort.
    pub latency: Option<(i32, i32)>,
}

/// What a machine may use up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps: statements, turns of loops, calls.
    pub fuel: u64,
    /// Calls within calls.
    pub depth: u32,
    /// Bytes of the thread's own stack, as a second bound on calls within calls. The thread must have that much, and some more.
    pub stack: usize,
}

/// Calls within calls, everywhere.
pub const MAX_DEPTH: u32 = 1024;

impl Limits {
    /// Any number of steps.
    pub fn endless() -> Limits {
        Limits { fuel: u64::MAX, depth: MAX_DEPTH, stack: 4 << 20 }
    }

    /// So many steps.
    pub fn with_fuel(fuel: u64) -> Limits {
        Limits { fuel, ..Limits::endless() }
    }
}

/// The values of statics, shared by all machines of a program; each is made when it is first used.
#[derive(Clone, Debug, Default)]
pub struct Statics(Rc<Vec<OnceCell<Value>>>);

impl Statics {
    /// The statics of a program at their values.
    pub fn new(globals: &Globals) -> Statics {
        Statics(Rc::new(vec![OnceCell::new(); globals.statics.len()]))
    }

    /// One of them; an aggregate as a handle.
    pub fn get(&self, id: StaticId, globals: &Globals) -> Option<Value> {
        let cell = self.0.get(id.index())?;
        let def = globals.statics.get(id.index())?;
        Some(cell.get_or_init(|| Value::from_const(&def.value, &def.ty, globals)).clone())
    }

    /// Those that were used.
    pub(super) fn touched(&self) -> impl Iterator<Item = (StaticId, &Value)> {
        self.0.iter().enumerate().filter_map(|(i, v)| Some((StaticId::from(i), v.get()?)))
    }

    /// The place of one of them, for the code of `static` blocks.
    pub(super) fn slot(&mut self, id: StaticId, globals: &Globals) -> Option<&mut Value> {
        self.get(id, globals)?;
        Rc::make_mut(&mut self.0).get_mut(id.index())?.get_mut()
    }
}

/// A running function.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// Its first local on the stack.
    pub base: usize,
    /// Which function; `None` outside of any.
    pub function: Option<&'a Function>,
}

/// How a statement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// At its end.
    Next,
    /// With `break`.
    Break,
    /// With `continue`.
    Continue,
    /// With `return`; the value is in the machine.
    Return,
}

/// Runs typed code. One machine belongs to one filter instance (its fields), or to one evaluation at compile time.
///
/// ```text
/// let statics = Statics::new(&globals);
/// let mut m = Machine::new(&globals, &code.functions, statics, fields);
/// m.call_own(code.work.function, Vec::new(), &mut host)?;
/// ```
pub struct Machine<'a> {
    pub(super) globals: &'a Globals,
    pub(super) functions: &'a [Function],
    pub(super) statics: Statics,
    /// The filter's fields, by [`crate::ids::FieldId`].
    pub fields: Vec<Value>,
    pub(super) stack: Vec<Value>,
    pub(super) frame: Frame<'a>,
    pub(super) result: Value,
    depth: u32,
    limits: Limits,
    batch: u64,
    stack_start: usize,
    /// Elements of the aggregates in all locals.
    held: u64,
}

const BATCH: u64 = 1 << 16;

impl<'a> Machine<'a> {
    /// A machine for the functions (of one filter, or none) with its fields; endless fuel.
    pub fn new(globals: &'a Globals, functions: &'a [Function], statics: Statics, fields: Vec<Value>) -> Machine<'a> {
        Machine {
            globals,
            functions,
            statics,
            fields,
            stack: Vec::new(),
            frame: Frame { base: 0, function: None },
            result: Value::Void,
            depth: 0,
            limits: Limits::endless(),
            batch: 0,
            stack_start: stack_position(),
            held: 0,
        }
    }

    /// The same machine with other limits.
    pub fn with_limits(mut self, limits: Limits) -> Machine<'a> {
        self.limits = limits;
        self.batch = 0;
        self
    }

    /// Steps left.
    pub fn fuel(&self) -> u64 {
        self.limits.fuel.saturating_add(self.batch)
    }

    /// Structs, helpers, natives.
    pub fn globals(&self) -> &'a Globals {
        self.globals
    }

    /// Calls one of the machine's functions. Arguments that are handles are passed as they are, to be written or kept.
    pub fn call_own(&mut self, id: FnId, args: Vec<Value>, host: &mut dyn Host) -> Eval<Value> {
        match self.functions.get(id.index()) {
            Some(f) => self.call(f, args, host),
            None => Err(EvalError::new(EvalErrorKind::IllTyped("an unknown function"), Span::default())),
        }
    }

    /// Calls a function (or runs the body of a composite); the arguments become its first locals.
    pub fn call(&mut self, f: &'a Function, args: Vec<Value>, host: &mut dyn Host) -> Eval<Value> {
        self.in_frame(f, args, |m| {
            let result = m.body(f, host)?;
            m.finish(f, result)
        })
    }

    /// Sets up the frame of a function and does something in it: [`Machine::eval`], [`Machine::local`].
    pub fn in_frame<R>(
        &mut self,
        f: &'a Function,
        args: Vec<Value>,
        inside: impl FnOnce(&mut Self) -> Eval<R>,
    ) -> Eval<R> {
        let (height, frame, depth, held) = (self.stack.len(), self.frame, self.depth, self.held);
        self.stack.extend(args);
        self.stack.resize(height + f.locals.len(), Value::Void);
        self.frame = Frame { base: height, function: Some(f) };
        if depth == 0 {
            self.stack_start = stack_position();
        }
        self.depth += 1;
        let result = inside(self);
        self.stack.truncate(height);
        self.frame = frame;
        self.depth = depth;
        self.held = held;
        result
    }

    /// Calls a function whose arguments lie on the stack already, from `base` on.
    #[inline(never)]
    pub(super) fn enter(&mut self, f: &'a Function, base: usize, host: &mut dyn Host) -> Eval<Value> {
        // a call in an expression that stands outside of any function
        if self.depth == 0 {
            self.stack_start = stack_position();
        }
        if self.depth >= self.limits.depth || self.stack_start.abs_diff(stack_position()) > self.limits.stack {
            // native code, which looks when it is inside, knows no caller
            return Err(EvalError::new(EvalErrorKind::RecursionTooDeep, f.span));
        }
        self.stack.resize(base + f.locals.len(), Value::Void);
        let frame = std::mem::replace(&mut self.frame, Frame { base, function: Some(f) });
        self.depth += 1;
        let held = self.held;
        // on an error everything is unwound, and `in_frame` puts the machine in order
        let flow = self.body(f, host)?;
        self.depth -= 1;
        self.held = held;
        self.stack.truncate(base);
        self.frame = frame;
        self.finish(f, flow)
    }

    fn body(&mut self, f: &'a Function, host: &mut dyn Host) -> Eval<Flow> {
        self.result = Value::Void;
        self.exec(&f.body, host)
    }

    fn finish(&mut self, f: &Function, flow: Flow) -> Eval<Value> {
        let result = std::mem::replace(&mut self.result, Value::Void);
        if flow != Flow::Return && f.ret != Ty::Void {
            return Err(EvalError::new(EvalErrorKind::NoResult((&*f.name).into()), f.span));
        }
        Ok(result)
    }

    /// One step.
    #[inline]
    pub(super) fn step(&mut self, span: Span, host: &mut dyn Host) -> Eval<()> {
        if self.batch == 0 {
            self.refuel(span, host)?;
        }
        self.batch -= 1;
        Ok(())
    }

    #[cold]
    fn refuel(&mut self, span: Span, host: &mut dyn Host) -> Eval<()> {
        host.tick().map_err(|k| EvalError::new(k, span))?;
        if self.limits.fuel == 0 {
            return Err(EvalError::new(EvalErrorKind::OutOfFuel, span));
        }
        self.batch = self.limits.fuel.min(BATCH);
        if self.limits.fuel != u64::MAX {
            self.limits.fuel -= self.batch;
        }
        Ok(())
    }

    /// Many steps at once, for what takes time without being statements.
    pub(super) fn charge(&mut self, steps: u64, span: Span, host: &mut dyn Host) -> Eval<()> {
        if steps >= self.batch {
            self.limits.fuel = match self.limits.fuel {
                u64::MAX => u64::MAX,
                fuel => fuel.saturating_sub(steps - self.batch),
            };
            self.batch = 0;
            return self.refuel(span, host);
        }
        self.batch -= steps;
        Ok(())
    }

    /// A variable with so many elements came to be.
    pub(super) fn hold(&mut self, items: u64, span: Span) -> Eval<()> {
        self.held = self.held.saturating_add(items);
        if self.held > MAX_HELD { Err(EvalError::new(EvalErrorKind::LocalsTooLarge, span)) } else { Ok(()) }
    }

    /// The value of a local of the current frame; an aggregate as a handle.
    #[inline]
    pub fn local(&mut self, id: LocalId, span: Span) -> Eval<Value> {
        match self.stack.get(self.frame.base + id.index()) {
            Some(Value::Scalar(s)) => Ok(Value::Scalar(*s)),
            Some(Value::Void) | None => self.undeclared(id, span),
            Some(v) => Ok(v.clone()),
        }
    }

    /// A local whose declaration has not run: zero from now on.
    #[cold]
    pub(super) fn undeclared(&mut self, id: LocalId, span: Span) -> Eval<Value> {
        let local = self.frame.function.and_then(|f| f.locals.get(id.index()));
        let zero = match local {
            Some(l) => Value::zero(&l.ty, &mut Maker { globals: self.globals, portal: None }),
            None => Err(EvalErrorKind::IllTyped("an unknown local")),
        };
        let value = zero.map_err(|k| EvalError::new(k, span))?;
        match self.stack.get_mut(self.frame.base + id.index()) {
            Some(slot) => *slot = value.clone(),
            None => return Err(EvalError::new(EvalErrorKind::IllTyped("an unknown local"), span)),
        }
        Ok(value)
    }
}

/// About where the thread's stack stands.
#[inline(never)]
fn stack_position() -> usize {
    let here = 0u8;
    std::hint::black_box(std::ptr::from_ref(&here)).addr()
}
