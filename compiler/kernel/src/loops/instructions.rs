//! # instructions
//!
//! Purpose: a loop's body as the instructions that a simple processor would execute. Input: a counted loop of a kernel after
//! [`crate::passes::prepare`]. Output: [`Instruction`]s in program order, the loop's counter and jump among them.
//!
//! ```text
//! for $i = 0 < 8 step 1 { out($i) = (in($i) + $a[$i]) }   →   load r0  load r1  add r2 r0 r1  store r2  count i  jump i
//! ```
//!
//! Scalars (state, too) are in registers, everything else is in memory. An address that is linear in the loop's variable costs nothing, as
//! with the paper's loads that step on; nor does what is the same in every turn: it is computed before. A condition guards the
//! instructions under it, all are issued; a check is an instruction that nothing with an effect passes. The counter comes before the moves that end a body, as
//! in the paper's figure 2. Loops with inner loops, jumps, calls, prints or messages are not looked at.

use super::address::{Access, Scope};
use super::machine::Core;
use crate::cost;
use crate::ir::*;
use crate::passes::unroll::jumps;
use crate::walk;
use sluice_frontend::ids::LocalId;

/// Larger bodies are not looked at.
pub const MOST: usize = 256;

/// Where a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// A variable.
    Local(LocalId),
    /// A state field.
    State(StateId),
    /// A value on its way.
    Value(u32),
    /// The loop's counter.
    Counter,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
    /// Computes.
    Arithmetic,
    /// From register to register.
    Move,
    /// Stops the program where something is wrong.
    Check,
    /// The loop's counter takes a step.
    Count,
    /// Back to the start of the loop, or on.
    Jump,
}

/// What it touches of memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Touch {
    /// An element.
    Element(Access),
    /// What must come before stays before, what must come after stays after: checks.
    Everything,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// What it does.
    pub kind: Kind,
    /// Cycles until its result is there.
    pub latency: u64,
    /// The registers that it reads.
    pub reads: Vec<Register>,
    /// The register that it writes.
    pub writes: Option<Register>,
    /// The memory that it touches.
    pub touches: Option<Touch>,
}

/// The instructions of a loop, the jump last; what stands in the way where it is not looked at.
pub fn instructions(kernel: &Kernel, locals: &[Local], l: &For, core: &Core) -> Result<Vec<Instruction>, &'static str> {
    if jumps(&l.body) {
        return Err("a jump in it");
    }
    let mut b =
        Builder { scope: Scope::of(kernel, locals, l), core, out: Vec::new(), values: 0, guards: Vec::new(), l };
    b.body(&l.body)?;
    let simple = |kind, reads, writes| Instruction { kind, latency: core.simple, reads, writes, touches: None };
    let moves = b.out.iter().rev().take_while(|i| i.kind == Kind::Move).count();
    let at = b.out.len() - moves;
    b.out.insert(at, simple(Kind::Count, vec![Register::Counter], Some(Register::Counter)));
    b.out.push(simple(Kind::Jump, vec![Register::Counter], None));
    if b.out.len() > MOST { Err("too large") } else { Ok(b.out) }
}

struct Builder<'a> {
    scope: Scope<'a>,
    core: &'a Core,
    out: Vec<Instruction>,
    values: u32,
    /// Conditions around the current statement.
    guards: Vec<Register>,
    l: &'a For,
}

type Registers = Vec<Register>;

impl Builder<'_> {
    fn body(&mut self, body: &[Stmt]) -> Result<(), &'static str> {
        for s in body {
            if self.out.len() > MOST {
                return Err("too large");
            }
            match &s.kind {
                StmtKind::Assign(p, e) => self.assign(p, e)?,
                StmtKind::If(c, a, b) => {
                    let before = self.guards.len();
                    let c = self.expr(c, None)?;
                    self.guards.extend(c);
                    self.body(a)?;
                    self.body(b)?;
                    self.guards.truncate(before);
                }
                StmtKind::Block(b) => self.body(b)?,
                StmtKind::Check(c) => {
                    let reads = c.operand().map_or(Ok(Vec::new()), |e| self.expr(e, None))?;
                    self.emit(Kind::Check, self.core.simple, reads, None, Some(Touch::Everything));
                }
                StmtKind::For(_) | StmtKind::Loop(_) => return Err("a loop in it"),
                StmtKind::Call { .. } => return Err("a call in it"),
                _ => return Err("prints or messages in it"),
            }
        }
        Ok(())
    }

    fn emit(
        &mut self,
        kind: Kind,
        latency: u64,
        mut reads: Registers,
        writes: Option<Register>,
        touches: Option<Touch>,
    ) {
        reads.extend(self.guards.iter().copied());
        if let Some(r) = writes
            && !self.guards.is_empty()
        {
            // what is not executed leaves the old value
            reads.push(r);
        }
        reads.sort_unstable();
        reads.dedup();
        self.out.push(Instruction { kind, latency, reads, writes, touches });
    }

    fn value(&mut self) -> Register {
        self.values += 1;
        Register::Value(self.values - 1)
    }

    /// The register of a scalar variable, or of the variable that the place is a component of.
    fn register(&self, p: &Place) -> Option<Register> {
        let (ty, r) = match &p.base {
            Base::Local(id) if !self.scope.locals[id.index()].by_ref => {
                (&self.scope.locals[id.index()].ty, Register::Local(*id))
            }
            // an array that the caller gave may not be it: it is a scalar
            Base::State(id) => (&self.scope.kernel.state[id.index()].ty, Register::State(*id)),
            _ => return None,
        };
        (!ty.is_aggregate()).then_some(r)
    }

    fn assign(&mut self, p: &Place, e: &Expr) -> Result<(), &'static str> {
        if let Some(r) = self.register(p) {
            let before = self.out.len();
            let part = !p.path.is_empty();
            let mut reads = self.expr(e, (!part).then_some(r))?;
            let done = self.out.len() > before && self.out.last().is_some_and(|i| i.writes == Some(r));
            if !done {
                reads.extend(part.then_some(r));
                self.emit(Kind::Move, self.core.simple, reads, Some(r), None);
            }
            return Ok(());
        }
        if e.ty.is_aggregate() {
            return Err("whole arrays are copied");
        }
        let mut reads = self.expr(e, None)?;
        reads.extend(self.indices(p)?);
        let access = self.scope.access(p);
        self.emit(Kind::Store, self.core.memory, reads, None, Some(Touch::Element(access)));
        Ok(())
    }

    /// The registers of a place's indices: none where they are linear.
    fn indices(&mut self, p: &Place) -> Result<Registers, &'static str> {
        let (mut out, mut problem) = (Vec::new(), None);
        p.each_expr(&mut |e| {
            if self.scope.linear(e).is_none() {
                match self.expr(e, None) {
                    Ok(r) => out.extend(r),
                    Err(why) => problem = Some(why),
                }
            }
        });
        problem.map_or(Ok(out), Err)
    }

    /// The registers that an expression's value depends on; its last operation writes `into`, where it has one of its own.
    fn expr(&mut self, e: &Expr, into: Option<Register>) -> Result<Registers, &'static str> {
        if let ExprKind::Load(p) = &e.kind {
            if let Some(r) = self.register(p) {
                return Ok(match r {
                    Register::Local(id) if id == self.l.var => vec![Register::Counter],
                    r => vec![r],
                });
            }
            if e.ty.is_aggregate() {
                return Err("whole arrays are copied");
            }
            if self.scope.fixed(e) {
                return Ok(Vec::new());
            }
            let reads = self.indices(p)?;
            let access = self.scope.access(p);
            let r = into.unwrap_or_else(|| self.value());
            self.emit(Kind::Load, self.core.memory, reads, Some(r), Some(Touch::Element(access)));
            return Ok(vec![r]);
        }
        if self.scope.fixed(e) {
            return Ok(Vec::new());
        }
        let (mut reads, mut problem) = (Vec::new(), None);
        e.each_operand(&mut |e| match self.expr(e, None) {
            Ok(r) => reads.extend(r),
            Err(why) => problem = Some(why),
        });
        if let Some(why) = problem {
            return Err(why);
        }
        let cost = cost::operation(e);
        let latency = match () {
            _ if cost.function > 0 => self.core.function,
            _ if cost.divide > 0 => self.core.divide,
            _ => self.core.simple,
        };
        let n = cost.arithmetic();
        if n == 0 {
            return Ok(reads);
        }
        // one of several operations, as of a complex multiplication, ends it
        let mut last = reads.clone();
        for _ in 1..n {
            let r = self.value();
            self.emit(Kind::Arithmetic, self.core.simple, reads.clone(), Some(r), None);
            last.push(r);
        }
        let r = into.unwrap_or_else(|| self.value());
        self.emit(Kind::Arithmetic, latency, last, Some(r), None);
        Ok(vec![r])
    }
}

/// Is it worth looking at: no other loop in it?
pub fn is_innermost(l: &For) -> bool {
    let mut inner = false;
    walk::each_stmt(&l.body, &mut |s| inner |= matches!(s.kind, StmtKind::For(_) | StmtKind::Loop(_)));
    !inner
}
