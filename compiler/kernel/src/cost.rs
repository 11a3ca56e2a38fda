//! # cost
//!
//! Purpose: a static estimate of what one firing costs. Input: a kernel, any form. Output: operations by kind, and a weighted sum in
//! cycles of a machine that does one simple operation per cycle.
//!
//! Loops count by their trips ([`UNKNOWN_TRIPS`] where unknown), of two branches the dearer one, calls by the body of what they
//! call (recursion counts once).

use crate::ir::*;
use crate::passes::clean::trip;
use sluice_frontend::ty::Ty;

/// A loop of unknown length is taken to turn so often.
pub const UNKNOWN_TRIPS: u64 = 8;

/// Operations of a firing, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Additions, multiplications, comparisons of floats (a complex operation counts as the several it is).
    pub float: u64,
    /// Simple operations on ints, bits and booleans; conversions; selections.
    pub int: u64,
    /// Divisions and square roots.
    pub divide: u64,
    /// Library functions such as `sin`.
    pub function: u64,
    /// Reads of memory: items, arrays, state, tables.
    pub load: u64,
    /// Writes of memory.
    pub store: u64,
    /// Jumps and checks.
    pub branch: u64,
    /// Calls and prints.
    pub call: u64,
}

/// Cycles by kind of a machine that does one simple operation per cycle.
const SIMPLE: Cost = Cost { float: 1, int: 1, divide: 12, function: 40, load: 1, store: 1, branch: 1, call: 20 };

impl Cost {
    /// Operations on floats: sums and products, divisions, mathematical functions.
    pub fn on_floats(&self) -> u64 {
        let Cost { float, divide, function, .. } = self;
        float + divide + function
    }

    /// The weighted sum in cycles of a machine that does one simple operation per cycle.
    pub fn cycles(&self) -> u64 {
        self.weighted(&SIMPLE)
    }

    /// The sum, each kind as many cycles as `cycles` says; the largest number where it is larger.
    pub fn weighted(&self, cycles: &Cost) -> u64 {
        let each = self.zip(*cycles, u64::saturating_mul);
        let all = [each.float, each.int, each.divide, each.function, each.load, each.store, each.branch, each.call];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// Operations of arithmetic.
    pub fn arithmetic(&self) -> u64 {
        self.float.saturating_add(self.int).saturating_add(self.divide).saturating_add(self.function)
    }

    fn plus(self, o: Cost) -> Cost {
        self.zip(o, u64::saturating_add)
    }

    fn times(self, n: u64) -> Cost {
        self.zip(
            Cost { float: n, int: n, divide: n, function: n, load: n, store: n, branch: n, call: n },
            u64::saturating_mul,
        )
    }

    fn zip(self, o: Cost, f: fn(u64, u64) -> u64) -> Cost {
        Cost {
            float: f(self.float, o.float),
            int: f(self.int, o.int),
            divide: f(self.divide, o.divide),
            function: f(self.function, o.function),
            load: f(self.load, o.load),
            store: f(self.store, o.store),
            branch: f(self.branch, o.branch),
            call: f(self.call, o.call),
        }
    }
}

/// What a firing of work costs.
pub fn firing(kernel: &Kernel) -> Cost {
    function(kernel, kernel.work.function)
}

/// What a call of a function costs.
pub fn function(kernel: &Kernel, id: FuncId) -> Cost {
    Estimate::of(kernel, id).body(&kernel.function(id).body)
}

/// What a firing of work costs, where that is known to be no more: no loop is of unknown length, nothing calls itself or a native function.
pub fn bounded(kernel: &Kernel) -> Option<Cost> {
    let id = kernel.work.function;
    let mut estimate = Estimate::of(kernel, id);
    let cost = estimate.body(&kernel.functions.get(id.index())?.body);
    (!estimate.unknown).then_some(cost)
}

struct Estimate<'a> {
    kernel: &'a Kernel,
    /// Functions being estimated, for recursion.
    active: Vec<FuncId>,
    /// Was there something that may take as long as it likes?
    unknown: bool,
}

impl<'a> Estimate<'a> {
    fn of(kernel: &'a Kernel, id: FuncId) -> Estimate<'a> {
        Estimate { kernel, active: vec![id], unknown: false }
    }
}

impl Estimate<'_> {
    fn body(&mut self, body: &[Stmt]) -> Cost {
        body.iter().fold(Cost::default(), |sum, s| {
            let c = self.stmt(s);
            sum.plus(c)
        })
    }

    fn stmt(&mut self, s: &Stmt) -> Cost {
        let mut own = Cost::default();
        s.kind.each_own_expr(&mut |e| e.walk(&mut |e| own = own.plus(operation(e))));
        for p in s.kind.targets() {
            if p.as_local().is_none() {
                own.store += 1;
            }
        }
        match &s.kind {
            StmtKind::If(_, a, b) => {
                let (a, b) = (self.body(a), self.body(b));
                own.branch = own.branch.saturating_add(1);
                own.plus(if a.cycles() >= b.cycles() { a } else { b })
            }
            StmtKind::For(l) => {
                let mut turn = self.body(&l.body);
                turn.branch = turn.branch.saturating_add(1);
                let trips = trip(l);
                self.unknown |= trips.is_none();
                own.plus(turn.times(trips.map_or(UNKNOWN_TRIPS, |(n, _)| n)))
            }
            StmtKind::Loop(b) => {
                let mut turn = self.body(b);
                turn.branch = turn.branch.saturating_add(1);
                self.unknown = true;
                own.plus(turn.times(UNKNOWN_TRIPS))
            }
            StmtKind::Block(b) => own.plus(self.body(b)),
            StmtKind::Call { callee, .. } => {
                own.call = own.call.saturating_add(1);
                match callee {
                    Callee::Func(id) if !self.active.contains(id) => {
                        self.active.push(*id);
                        let inner = self.body(&self.kernel.function(*id).body);
                        self.active.pop();
                        own.plus(inner)
                    }
                    _ => {
                        self.unknown = true;
                        own
                    }
                }
            }
            StmtKind::Check(_) => Cost { branch: own.branch + 1, ..own },
            StmtKind::Print(_) | StmtKind::PrintText(_) | StmtKind::Send(_) => Cost { call: own.call + 1, ..own },
            StmtKind::Pop(_) => Cost { load: own.load + 1, ..own },
            StmtKind::Push(_) => Cost { store: own.store + 1, ..own },
            StmtKind::Assign(..) | StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(_) => own,
        }
    }
}

/// An expression's own operation.
pub(crate) fn operation(e: &Expr) -> Cost {
    let mut c = Cost::default();
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Zero | ExprKind::Iter | ExprKind::Component(..) | ExprKind::Compose(_) => {}
        ExprKind::Load(p) => c.load = u64::from(p.as_local().is_none()),
        ExprKind::Select(..) | ExprKind::Any(_) => c.int = 1,
        ExprKind::Convert(_) => c.int = 1,
        ExprKind::Unary(_, a) => *arithmetic(&mut c, &a.ty) += 1,
        ExprKind::Binary(op, a, _) => match (op, &a.ty) {
            (BinaryOp::Div, Ty::Complex) => {
                c.float = 9;
                c.divide = 2;
            }
            (BinaryOp::Div, Ty::Vec(n)) => c.divide = u64::from(*n),
            (BinaryOp::Div | BinaryOp::Rem, _) => c.divide = 1,
            (BinaryOp::Mul, Ty::Complex) => c.float = 6,
            (_, Ty::Complex) => c.float = 2,
            (_, Ty::Vec(n)) => c.float = u64::from(*n),
            (_, ty) => *arithmetic(&mut c, ty) += 1,
        },
        ExprKind::Builtin(f, args) => {
            let ty = args.first().map_or(&Ty::Void, |a| &a.ty);
            match f {
                Builtin::Sqrt if *ty != Ty::Complex => c.divide = 1,
                Builtin::Abs if *ty == Ty::Complex => {
                    c.float = 3;
                    c.divide = 1;
                }
                Builtin::Abs | Builtin::Min | Builtin::Max => *arithmetic(&mut c, ty) += 1,
                Builtin::Floor | Builtin::Ceil | Builtin::Rint | Builtin::Round => c.float = 2,
                _ => c.function = if *ty == Ty::Complex { 3 } else { 1 },
            }
        }
    }
    c
}

fn arithmetic<'c>(c: &'c mut Cost, ty: &Ty) -> &'c mut u64 {
    if matches!(ty, Ty::Float | Ty::Double | Ty::Complex | Ty::Vec(_)) { &mut c.float } else { &mut c.int }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_take_long_is_not_bounded() {
        let cost = |body: &str| bounded(&crate::loops::tests::kernel(body));
        let turns = cost("for $0 = 0 < 10 step 1 @0:0-1 { $2 = ($2 * $3) @0:0-1 }");
        assert_eq!(turns.map(|c| c.float), Some(10));
        assert_eq!(cost("for $0 = 0 < $1 step 1 @0:0-1 { $2 = ($2 * $3) @0:0-1 }"), None);
    }

    #[test]
    fn a_weighted_sum() {
        let weights = Cost { float: 2, divide: 5, ..Cost::default() };
        assert_eq!(Cost { float: 3, divide: 2, load: 7, ..Cost::default() }.weighted(&weights), 16);
        assert_eq!(Cost { float: u64::MAX, divide: u64::MAX, ..Cost::default() }.weighted(&weights), u64::MAX);
        assert_eq!(Cost { call: 1, int: 2, ..Cost::default() }.cycles(), 22);
    }
}
