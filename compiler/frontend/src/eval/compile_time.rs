//! Evaluation while compiling: each function sets up a machine with bounded fuel and gives constants.
//!
//! Takes constants (fields and arguments with their types), gives constants. Nothing here has channels, natives or messages.

use super::budget::Budget;
use super::error::{Eval, EvalError, EvalErrorKind};
use super::machine::{Host, Limits, Machine, Statics};
use super::value::Value;
use crate::constant::Const;
use crate::ids::{FnId, LocalId, PortalId, StaticId};
use crate::ops::{self, Scalar};
use crate::ty::Ty;
use crate::typed::{BinaryOp, Expr, ExprKind, Function, Globals, StreamStmt};
use sluice_grammar::span::Span;

/// Steps of an expression that may be a constant, but need not be one.
pub const GUESS_FUEL: u64 = 100_000;

pub use super::value::zero_const as zero;

/// Elements of fields that are set up in the time of one step.
const FIELDS_PER_STEP: u64 = 16;

/// A machine with all the steps that are left.
fn machine<'a>(
    globals: &'a Globals,
    functions: &'a [Function],
    fields: &[(Ty, Const)],
    budget: &Budget,
) -> Machine<'a> {
    let mut size = 0u64;
    let of = |(t, c): &(Ty, Const)| {
        if t.is_aggregate() {
            size = size.saturating_add(super::value::size(t, globals).unwrap_or(0));
        }
        Value::from_const(c, t, globals)
    };
    let fields = fields.iter().map(of).collect();
    let fuel = budget.steps().saturating_sub(size / FIELDS_PER_STEP);
    Machine::new(globals, functions, Statics::new(globals), fields).with_limits(Limits::with_fuel(fuel))
}

fn as_const(v: &Value, span: Span) -> Eval<Const> {
    v.to_const().ok_or_else(|| EvalError::new(EvalErrorKind::IllTyped("no value"), span))
}

/// The value of an expression without locals, given the fields with their types and values, found in at most so many steps of the
/// budget.
pub fn constant(globals: &Globals, fields: &[(Ty, Const)], e: &Expr, budget: &Budget, most: u64) -> Eval<Const> {
    if let Some(c) = simple(globals, fields, e) {
        return Ok(c);
    }
    let m = machine(globals, &[], fields, budget);
    let all = m.fuel();
    let mut m = m.with_limits(Limits::with_fuel(all.min(most)));
    let value = m.eval(e, &mut Watched(budget));
    budget.set_steps(all.saturating_sub(all.min(most).saturating_sub(m.fuel())));
    budget.keep(as_const(&value?, e.span)?, e.span)
}

/// The value of an expression that has one without calls and without an error: no machine is needed, and no copy of the tables
/// it looks into. `None` for the others.
fn simple(globals: &Globals, fields: &[(Ty, Const)], e: &Expr) -> Option<Const> {
    let eval = |e: &Expr| simple(globals, fields, e);
    let part = |whole: Const, i: usize| match whole {
        Const::Array(items) | Const::Struct(items) => items.get(i).cloned(),
        _ => None,
    };
    match &e.kind {
        ExprKind::Const(c) => Some(c.clone()),
        ExprKind::Field(id) => {
            let (ty, c) = fields.get(id.index())?;
            // a field without its value yet
            let fits = ty.is_aggregate() == matches!(c, Const::Array(_) | Const::Struct(_));
            (fits && Scalar::of(c).is_none_or(|s| s.ty() == *ty)).then(|| c.clone())
        }
        ExprKind::Static(id) => globals.statics.get(id.index()).map(|s| s.value.clone()),
        ExprKind::Index(base, index) => {
            let Const::Int(i) = eval(index)? else { return None };
            part(eval(base)?, usize::try_from(i).ok()?)
        }
        ExprKind::Member(base, i) => part(eval(base)?, *i as usize),
        ExprKind::Unary(op, a) => ops::unary(*op, &eval(a)?),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => None,
        ExprKind::Binary(op, a, b) => ops::binary(*op, &eval(a)?, &eval(b)?).ok()?,
        ExprKind::Convert(a) => ops::convert(&eval(a)?, &e.ty),
        ExprKind::Builtin(f, args) => ops::builtin(*f, &args.iter().map(eval).collect::<Option<Vec<_>>>()?),
        _ => None,
    }
}

/// The value of an expression in a function (or composite) whose first locals have these values, before its body runs.
pub fn in_frame(globals: &Globals, f: &Function, args: &[Const], e: &Expr, budget: &Budget) -> Eval<Const> {
    let mut m = machine(globals, &[], &[], budget);
    let args = locals(globals, f, args);
    let value = m.in_frame(f, args, |m| m.eval(e, &mut Watched(budget)));
    budget.set_steps(m.fuel());
    as_const(&value?, e.span)
}

fn locals(globals: &Globals, f: &Function, args: &[Const]) -> Vec<Value> {
    args.iter().zip(&f.locals).map(|(c, l)| Value::from_const(c, &l.ty, globals)).collect()
}

/// Has nothing, and looks whether anybody still waits.
struct Watched<'b>(&'b Budget);

impl Host for Watched<'_> {
    fn tick(&mut self) -> Result<(), EvalErrorKind> {
        self.0.goes_on()
    }
}

/// Collects what is printed.
struct Printed<'b>(String, &'b Budget);

impl Host for Printed<'_> {
    fn print(&mut self, text: &str) -> Result<(), EvalErrorKind> {
        self.0.push_str(text);
        self.1.print(text.len())
    }

    fn tick(&mut self) -> Result<(), EvalErrorKind> {
        self.1.goes_on()
    }
}

/// Runs a filter's `init` (one of its functions). Gives the fields after it, and what it printed.
pub fn run_init(
    globals: &Globals,
    functions: &[Function],
    init: FnId,
    fields: &[(Ty, Const)],
    budget: &Budget,
) -> Eval<(Vec<Const>, String)> {
    let mut host = Printed(String::new(), budget);
    let mut m = machine(globals, functions, fields, budget);
    let result = m.call_own(init, Vec::new(), &mut host);
    budget.set_steps(m.fuel());
    result?;
    let values = m.fields.iter().zip(fields).map(|(v, (_, before))| v.to_const().unwrap_or_else(|| before.clone()));
    Ok((values.collect(), host.0))
}

/// Runs code that assigns statics. Gives those that it touched, as they are after it.
pub fn run_static(globals: &Globals, f: &Function, budget: &Budget) -> Eval<Vec<(StaticId, Const)>> {
    let mut m = machine(globals, &[], &[], budget);
    let result = m.call(f, Vec::new(), &mut Watched(budget));
    budget.set_steps(m.fuel());
    result?;
    Ok(m.statics.touched().filter_map(|(id, v)| Some((id, v.to_const()?))).collect())
}

/// What a statement that builds a composite can ask for: values, at the moment it is run.
pub struct StreamScope<'s> {
    inner: &'s mut dyn Scope,
    budget: &'s Budget,
}

impl StreamScope<'_> {
    /// The value of an expression now.
    pub fn eval(&mut self, e: &Expr) -> Eval<Const> {
        let value = self.inner.eval(e)?;
        self.budget.keep(as_const(&value, e.span)?, e.span)
    }

    /// The value of a local now.
    pub fn local(&mut self, id: LocalId) -> Eval<Const> {
        let value = self.inner.local(id)?;
        self.budget.keep(as_const(&value, Span::default())?, Span::default())
    }
}

/// A machine together with its host, their lifetimes hidden.
trait Scope {
    fn eval(&mut self, e: &Expr) -> Eval<Value>;
    fn local(&mut self, id: LocalId) -> Eval<Value>;
}

struct Composite<'m, 'a, 'c, 'p> {
    machine: &'m mut Machine<'a>,
    host: &'m mut Builder<'c, 'p>,
}

impl Scope for Composite<'_, '_, '_, '_> {
    fn eval(&mut self, e: &Expr) -> Eval<Value> {
        self.machine.eval(e, self.host)
    }

    fn local(&mut self, id: LocalId) -> Eval<Value> {
        self.machine.local(id, Span::default())
    }
}

/// What is called for each statement that builds.
type OnStream<'c> = dyn FnMut(&mut StreamScope<'_>, &StreamStmt, Span) -> Eval<()> + 'c;

struct Builder<'c, 'p> {
    on_stream: Option<&'c mut OnStream<'p>>,
    portals: &'c mut u32,
    budget: &'c Budget,
}

impl Host for Builder<'_, '_> {
    fn portal(&mut self) -> Option<PortalId> {
        *self.portals = self.portals.checked_add(1)?;
        Some(PortalId(*self.portals - 1))
    }

    fn tick(&mut self) -> Result<(), EvalErrorKind> {
        self.budget.goes_on()
    }

    fn stream(&mut self, machine: &mut Machine<'_>, stmt: &StreamStmt, span: Span) -> Eval<()> {
        let Some(on_stream) = self.on_stream.take() else {
            return Err(EvalError::new(EvalErrorKind::NotAvailable("building a stream".into()), span));
        };
        let budget = self.budget;
        let mut inner = Composite { machine, host: self };
        let result = on_stream(&mut StreamScope { inner: &mut inner, budget }, stmt, span);
        self.on_stream = Some(on_stream);
        result
    }
}

/// Runs the body of a composite whose first locals have these values. `steps` is the fuel, and what is left of it afterwards;
/// `portals` counts the portals made so far; `on_stream` is called for each statement that builds.
pub fn run_composite(
    globals: &Globals,
    f: &Function,
    args: &[Const],
    steps: &mut u64,
    portals: &mut u32,
    budget: &Budget,
    on_stream: &mut OnStream<'_>,
) -> Eval<()> {
    let mut m = machine(globals, &[], &[], budget).with_limits(Limits::with_fuel(*steps));
    let mut host = Builder { on_stream: Some(on_stream), portals, budget };
    let result = m.call(f, locals(globals, f, args), &mut host);
    *steps = m.fuel();
    result.map(|_| ())
}
