//! # address
//!
//! Purpose: which element a place names in a turn of a loop, as a linear function of the loop's variable, so that two accesses can be told
//! apart. Input: a place in a loop's body. Output: [`Access`].
//!
//! ```text
//! for $i = 0 < 8 step 1 { out(($i * 2) + 1) = ... }   →   out, element 2·i + 1
//! ```
//!
//! Sound with wrap-around: an index that is used lies within its array, so that two indices are equal exactly where they are equal
//! modulo 2^32. What cannot be told apart may be the same.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// What memory is made of, as far as it can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// The window of the input: only read.
    In,
    /// The output: only written.
    Out,
    /// A table: only read.
    Table(TableId),
    /// An array or struct of the function.
    Local(LocalId),
    /// State of the filter.
    State(StateId),
    /// State or an array that the caller gave: it may be any of them.
    Shared,
}

/// `coefficient · variable + constant + terms`, modulo 2^32.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Of the loop's variable.
    pub coefficient: i32,
    /// The part that is known.
    pub constant: i32,
    /// Parts that are the same in every turn, and how often each counts.
    pub terms: Vec<(Expr, i32)>,
}

/// An element: indices from the outside in, with the elements that a step of each passes over.
pub type Address = Vec<(Linear, i64)>;

/// An access to memory in a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Which memory.
    pub memory: Memory,
    /// Which element, where it can be said.
    pub address: Option<Address>,
}

/// A loop's body, with what it leaves as it is.
pub struct Scope<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Variables of the function.
    pub locals: &'a [Local],
    /// The loop's variable.
    pub var: LocalId,
    written: Vec<bool>,
    written_memory: Vec<Memory>,
}

impl<'a> Scope<'a> {
    /// Of a loop in a function with these variables.
    pub fn of(kernel: &'a Kernel, locals: &'a [Local], l: &For) -> Scope<'a> {
        let mut scope =
            Scope { kernel, locals, var: l.var, written: vec![false; locals.len()], written_memory: Vec::new() };
        walk::each_written(&l.body, &mut |id| scope.written[id.index()] = true);
        walk::each_stmt(&l.body, &mut |s| {
            for p in s.kind.targets() {
                let memory = scope.memory(&p.base);
                scope.written_memory.push(memory);
            }
            if let StmtKind::Call { .. } = s.kind {
                // whatever it does, it does to state
                scope.written_memory.extend((0..kernel.state.len()).map(|i| Memory::State(StateId::from(i))));
                scope.written_memory.push(Memory::Shared);
            }
        });
        scope
    }

    /// Which memory a place lies in.
    pub fn memory(&self, base: &Base) -> Memory {
        // a caller's array may be state
        let shared = self.locals.iter().any(|l| l.by_ref);
        match base {
            Base::Local(id) if self.locals[id.index()].by_ref => Memory::Shared,
            Base::Local(id) => Memory::Local(*id),
            Base::State(_) if shared => Memory::Shared,
            Base::State(id) => Memory::State(*id),
            Base::Table(id) => Memory::Table(*id),
            Base::Peek(_) | Base::In(_) => Memory::In,
            Base::Out(_) => Memory::Out,
        }
    }

    /// Does the body write it?
    pub fn writes(&self, memory: Memory) -> bool {
        self.written_memory.contains(&memory)
    }

    /// Is the value the same in every turn?
    pub fn fixed(&self, e: &Expr) -> bool {
        !e.any(&mut |e| self.moves(e) || matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(self.var)))
    }

    /// Is the value the same in every turn, but for the loop's variable?
    pub fn follows(&self, e: &Expr) -> bool {
        !e.any(&mut |e| self.moves(e))
    }

    fn moves(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Load(p) => match &p.base {
                Base::Local(id) if !self.locals[id.index()].by_ref => self.written[id.index()],
                base => self.writes(self.memory(base)),
            },
            _ => false,
        }
    }

    /// An int as a linear function of the loop's variable.
    pub fn linear(&self, e: &Expr) -> Option<Linear> {
        let known = |constant| Linear { coefficient: 0, constant, terms: Vec::new() };
        if let Some(i) = e.as_int() {
            return Some(known(i));
        }
        match &e.kind {
            ExprKind::Load(p) if p.as_local() == Some(self.var) => Some(Linear { coefficient: 1, ..known(0) }),
            ExprKind::Binary(BinaryOp::Add, a, b) => Some(self.linear(a)?.plus(&self.linear(b)?, 1)),
            ExprKind::Binary(BinaryOp::Sub, a, b) => Some(self.linear(a)?.plus(&self.linear(b)?, -1)),
            ExprKind::Unary(UnaryOp::Neg, a) => Some(known(0).plus(&self.linear(a)?, -1)),
            ExprKind::Binary(BinaryOp::Mul, a, b) => match (a.as_int(), b.as_int()) {
                (Some(n), _) => Some(known(0).plus(&self.linear(b)?, n)),
                (_, Some(n)) => Some(known(0).plus(&self.linear(a)?, n)),
                _ => None,
            },
            _ => None,
        }
        .or_else(|| self.fixed(e).then(|| Linear { terms: vec![(e.clone(), 1)], ..known(0) }))
    }

    /// The element that a place names, where it names a single one.
    pub fn access(&self, p: &Place) -> Access {
        Access { memory: self.memory(&p.base), address: self.address(p) }
    }

    fn address(&self, p: &Place) -> Option<Address> {
        let (mut ty, mut out) = match &p.base {
            Base::Local(id) => (self.locals[id.index()].ty.clone(), Vec::new()),
            Base::State(id) => (self.kernel.state[id.index()].ty.clone(), Vec::new()),
            Base::Table(id) => (self.kernel.tables[id.index()].ty.clone(), Vec::new()),
            Base::Peek(_) => return None,
            Base::In(e) => (self.kernel.input.clone(), vec![(self.linear(e)?, cells(&self.kernel.input)?)]),
            Base::Out(e) => (self.kernel.output.clone(), vec![(self.linear(e)?, cells(&self.kernel.output)?)]),
        };
        for step in &p.path {
            let Proj::Index(e) = step else { break };
            ty = ty.element()?.clone();
            out.push((self.linear(e)?, cells(&ty)?));
        }
        // a whole array is many elements
        (!matches!(ty, Ty::Array(..))).then_some(out)
    }
}

impl Linear {
    fn plus(mut self, other: &Linear, times: i32) -> Linear {
        self.coefficient = self.coefficient.wrapping_add(other.coefficient.wrapping_mul(times));
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        for (e, n) in &other.terms {
            let n = n.wrapping_mul(times);
            match self.terms.iter_mut().find(|(f, _)| f == e) {
                Some((_, m)) => *m = m.wrapping_add(n),
                None => self.terms.push((e.clone(), n)),
            }
        }
        self.terms.retain(|(_, n)| *n != 0);
        self
    }
}

/// Elements of an array's innermost kind; a struct is one.
fn cells(ty: &Ty) -> Option<i64> {
    match ty {
        Ty::Array(e, _) => cells(e)?.checked_mul(i64::from(ty.known_len()?)),
        _ => Some(1),
    }
}

/// How many elements `b` lies beyond `a` where the loop's variable is larger by `shift` for `b`; `None` where that is not known.
pub fn gap(a: &Access, b: &Access, shift: i32) -> Option<i64> {
    if a.memory != b.memory {
        return None;
    }
    let (a, b) = (a.address.as_ref()?, b.address.as_ref()?);
    if a.len() != b.len() {
        return None;
    }
    let mut sum = 0i64;
    for ((x, n), (y, m)) in a.iter().zip(b) {
        if n != m || x.coefficient != y.coefficient || x.terms != y.terms {
            return None;
        }
        let far = y.coefficient.wrapping_mul(shift).wrapping_add(y.constant).wrapping_sub(x.constant);
        sum = sum.checked_add(i64::from(far).checked_mul(*n)?)?;
    }
    Some(sum)
}

/// May the two be the same element, where the loop's variable is larger by `shift` for `b`?
pub fn may_meet(a: &Access, b: &Access, shift: i32) -> bool {
    a.memory == b.memory && gap(a, b, shift).is_none_or(|n| n == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The accesses that the one loop of a kernel's text writes, in order.
    fn written(body: &str) -> Vec<Access> {
        let kernel = crate::loops::tests::kernel(body);
        let f = &kernel.functions[0];
        let l = crate::loops::tests::only_loop(f);
        let scope = Scope::of(&kernel, &f.locals, l);
        l.body.iter().flat_map(|s| s.kind.targets()).map(|p| scope.access(p)).collect()
    }

    #[test]
    fn elements_are_told_apart() {
        let a = written(
            "for $0 = 0 < 8 step 1 @0:0-1 { $4[(($0 * 2) + 1)] = 1f @0:0-1 $4[(2 * $0)] = 1f @0:0-1 $4[($0 + $1)] = 1f @0:0-1
             $4[(($1 + $0) + 3)] = 1f @0:0-1 }",
        );
        assert_eq!(gap(&a[0], &a[1], 0), Some(-1));
        assert_eq!(gap(&a[0], &a[1], 1), Some(1));
        assert!(!may_meet(&a[0], &a[1], 5) && may_meet(&a[0], &a[2], 0));
        // the order of terms does not matter to the variable's own
        assert_eq!(gap(&a[2], &a[3], -3), Some(0));
    }

    #[test]
    fn what_the_body_writes_is_not_fixed() {
        let a = written("for $0 = 0 < 8 step 1 @0:0-1 { $1 = ($1 + 1) @0:0-1 $4[($0 + $1)] = 1f @0:0-1 }");
        assert_eq!(a[1].address, None);
        assert!(may_meet(&a[1], &a[1], 3) && !may_meet(&a[0], &a[1], 0));
    }
}
