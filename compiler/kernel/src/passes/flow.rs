//! Firings gone through as they would be executed: which way control takes, loop by loop and turn by turn, with what a pass knows at each point. The passes that do so
//! (`privatise`, `delay-lines`) say what they know, what two ways have in common where they meet, and what the other statements do.
//!
//! What must hold: each way that control may take is taken, or what it may write is forgotten ([`Flow::forget`]).

use crate::ir::*;
use sluice_frontend::ids::LocalId;

/// A construct around the current statement: what is known where something leaves it, or goes on with its next turn.
pub struct Nest<At> {
    /// Where something leaves it.
    pub left: Option<At>,
    /// Where something goes on with its next turn.
    pub next: Option<At>,
}

impl<At> Default for Nest<At> {
    fn default() -> Nest<At> {
        Nest { left: None, next: None }
    }
}

/// Somebody who goes through firings.
pub trait Flow {
    /// What is known at a point of a firing.
    type At;

    /// The constructs around the current statement, the innermost last.
    fn nest(&mut self) -> &mut Vec<Nest<Self::At>>;
    /// A statement, or a turn of a loop, is come to; `None` where nobody wants to go on.
    fn step(&mut self) -> Option<()>;
    /// A second way begins.
    fn copy(&mut self, at: &Self::At) -> Self::At;
    /// What is known where two ways meet.
    fn common(one: Self::At, other: &Self::At) -> Self::At;
    /// The value of a condition, where it is known.
    fn truth(&mut self, e: &Expr, at: &Self::At) -> Option<bool>;
    /// The value of a loop's bound, where it is known.
    fn bound(&mut self, e: &Expr, at: &Self::At) -> Option<i32>;
    /// A loop's variable gets a value.
    fn set(&mut self, var: LocalId, value: Option<i32>, at: &mut Self::At);
    /// Nothing is known any more of what statements write.
    fn forget(&mut self, body: &[Stmt], at: &mut Self::At);
    /// A turn of a loop of known bounds begins, or ends.
    fn turn(&mut self, _var: LocalId, _begins: bool) {}
    /// A statement that is no construct and leaves none.
    fn plain(&mut self, s: &Stmt, at: Self::At) -> Option<Self::At>;

    /// Two ways meet, on each of which control may not come.
    fn meet(one: Option<Self::At>, other: Option<Self::At>) -> Option<Self::At> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Self::common(one, &other)),
            (one, other) => one.or(other),
        }
    }

    /// Goes through statements; `None` where control does not come.
    fn body(&mut self, body: &[Stmt], mut at: Option<Self::At>) -> Option<Self::At> {
        for s in body {
            self.step()?;
            at = self.stmt(s, at?);
        }
        at
    }

    /// The same within a construct.
    fn inside(&mut self, body: &[Stmt], at: Self::At) -> (Option<Self::At>, Nest<Self::At>) {
        self.nest().push(Nest::default());
        let end = self.body(body, Some(at));
        (end, self.nest().pop().unwrap_or_default())
    }

    /// Goes through a statement.
    fn stmt(&mut self, s: &Stmt, mut at: Self::At) -> Option<Self::At> {
        match &s.kind {
            StmtKind::Check(Check::NoResult) => None,
            StmtKind::If(c, a, b) => match self.truth(c, &at) {
                Some(true) => self.body(a, Some(at)),
                Some(false) => self.body(b, Some(at)),
                None => {
                    let other = self.copy(&at);
                    let (a, b) = (self.body(a, Some(at)), self.body(b, Some(other)));
                    Self::meet(a, b)
                }
            },
            StmtKind::For(l) => self.counted(l, at),
            StmtKind::Loop(body) => {
                // nothing is known of what earlier turns have written
                self.forget(body, &mut at);
                self.inside(body, at).1.left
            }
            StmtKind::Block(body) => {
                let (end, nest) = self.inside(body, at);
                Self::meet(end, nest.left)
            }
            StmtKind::Break(depth) => {
                if let Some(n) = self.nest().iter_mut().rev().nth(*depth as usize) {
                    n.left = Self::meet(n.left.take(), Some(at));
                }
                None
            }
            StmtKind::Continue(depth) => {
                if let Some(n) = self.nest().iter_mut().rev().nth(*depth as usize) {
                    n.next = Self::meet(n.next.take(), Some(at));
                }
                None
            }
            _ => self.plain(s, at),
        }
    }

    /// Goes through a loop: turn by turn where its bounds are known.
    fn counted(&mut self, l: &For, mut at: Self::At) -> Option<Self::At> {
        let (from, to) = (self.bound(&l.from, &at), self.bound(&l.to, &at));
        let (Some(from), Some(to)) = (from, to) else {
            self.set(l.var, None, &mut at);
            self.forget(&l.body, &mut at);
            let head = self.copy(&at);
            let (_, nest) = self.inside(&l.body, at);
            // it may not turn at all
            return Self::meet(Some(head), nest.left);
        };
        let (mut turn, mut left, mut now) = (from, None, Some(at));
        while let Some(mut at) = now.take() {
            self.set(l.var, Some(turn), &mut at);
            let stays = match l.cmp {
                BinaryOp::Lt => turn < to,
                BinaryOp::Le => turn <= to,
                BinaryOp::Gt => turn > to,
                _ => turn >= to,
            };
            if !stays {
                return Self::meet(Some(at), left);
            }
            self.step()?;
            self.turn(l.var, true);
            let (end, nest) = self.inside(&l.body, at);
            self.turn(l.var, false);
            left = Self::meet(left, nest.left);
            now = Self::meet(end, nest.next);
            turn = turn.wrapping_add(l.step);
        }
        left
    }
}
