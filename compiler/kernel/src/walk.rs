//! Walks over kernel code: every statement, every expression, every place, to read or to rewrite.
//!
//! Input: statements. Output: calls of a function. The order is the order of evaluation; `_mut` walks go from the inside out.

use crate::ir::*;
use sluice_frontend::ids::LocalId;

/// Calls `f` with every statement, outer ones first.
pub fn each_stmt<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for s in body {
        f(s);
        for b in s.kind.bodies() {
            each_stmt(b, f);
        }
    }
}

/// Calls `f` with every list of statements, inner ones first.
pub fn each_body_mut(body: &mut Vec<Stmt>, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    for s in body.iter_mut() {
        for b in s.kind.bodies_mut() {
            each_body_mut(b, f);
        }
    }
    f(body);
}

/// Calls `f` with every expression in the statements, the operands first.
pub fn each_expr<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Expr)) {
    each_stmt(body, &mut |s| s.kind.each_own_expr(&mut |e| e.walk(f)));
}

/// Calls `f` with every expression in the statements, the operands first.
pub fn each_expr_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    for s in body {
        s.kind.each_own_expr_mut(&mut |e| e.walk_mut(f));
        for b in s.kind.bodies_mut() {
            each_expr_mut(b, f);
        }
    }
}

/// Calls `f` with every place that is read or written in the statements, inner ones first.
pub fn each_place_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut Place)) {
    each_expr_mut(body, &mut |e| {
        if let ExprKind::Load(p) = &mut e.kind {
            f(p);
        }
    });
    each_target_mut(body, f);
}

/// Calls `f` with every place that is written or passed by reference.
pub fn each_target_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut Place)) {
    for s in body {
        for p in s.kind.targets_mut() {
            f(p);
        }
        for b in s.kind.bodies_mut() {
            each_target_mut(b, f);
        }
    }
}

/// Calls `f` with every local that the statements write: assigned, popped into, passed by reference, counted by a loop.
pub fn each_written(body: &[Stmt], f: &mut dyn FnMut(LocalId)) {
    each_stmt(body, &mut |s| {
        for p in s.kind.targets() {
            if let Base::Local(id) = p.base {
                f(id);
            }
        }
        if let StmtKind::For(l) = &s.kind {
            f(l.var);
        }
    });
}

/// How often a variable is read, written or counted with.
pub fn uses(body: &[Stmt], id: LocalId) -> usize {
    let mut n = 0;
    each_expr(body, &mut |e| n += usize::from(matches!(&e.kind, ExprKind::Load(p) if p.base == Base::Local(id))));
    each_written(body, &mut |written| n += usize::from(written == id));
    n
}

/// Calls `f` with every local that occurs in the statements in any way.
pub fn each_local_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut LocalId)) {
    each_place_mut(body, &mut |p| {
        if let Base::Local(id) = &mut p.base {
            f(id);
        }
    });
    each_for_vars_mut(body, f);
}

/// Calls `f` with every loop variable, where it is counted.
pub fn each_for_vars_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut LocalId)) {
    each_for_mut(body, &mut |l| f(&mut l.var));
}

/// Calls `f` with every statement, inner ones first.
pub fn each_stmt_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut Stmt)) {
    for s in body {
        for b in s.kind.bodies_mut() {
            each_stmt_mut(b, f);
        }
        f(s);
    }
}

fn each_for_mut(body: &mut [Stmt], f: &mut dyn FnMut(&mut For)) {
    for s in body {
        if let StmtKind::For(l) = &mut s.kind {
            f(l);
        }
        for b in s.kind.bodies_mut() {
            each_for_mut(b, f);
        }
    }
}

/// How many statements there are.
pub fn count(body: &[Stmt]) -> usize {
    let mut n = 0;
    each_stmt(body, &mut |_| n += 1);
    n
}

/// Adds `by` to the depth of every break and continue that leaves the statements (their depth is at least `from` plus the number of
/// constructs around them inside the statements).
pub fn shift_breaks(body: &mut [Stmt], from: u32, by: i32) {
    for s in body {
        match &mut s.kind {
            StmtKind::Break(d) | StmtKind::Continue(d) if *d >= from => *d = d.wrapping_add_signed(by),
            StmtKind::If(_, a, b) => {
                shift_breaks(a, from, by);
                shift_breaks(b, from, by);
            }
            StmtKind::For(l) => shift_breaks(&mut l.body, from + 1, by),
            StmtKind::Loop(b) | StmtKind::Block(b) => shift_breaks(b, from + 1, by),
            _ => {}
        }
    }
}

/// Does a break or continue (or, if `returns`, a return) leave the statements to depth `depth` exactly, or (if `beyond`) further out?
pub fn leaves(body: &[Stmt], depth: u32, beyond: bool, returns: bool) -> bool {
    body.iter().any(|s| match &s.kind {
        StmtKind::Break(d) | StmtKind::Continue(d) => *d == depth || beyond && *d > depth,
        StmtKind::Return(_) => returns,
        StmtKind::If(_, a, b) => leaves(a, depth, beyond, returns) || leaves(b, depth, beyond, returns),
        StmtKind::For(l) => leaves(&l.body, depth + 1, beyond, returns),
        StmtKind::Loop(b) | StmtKind::Block(b) => leaves(b, depth + 1, beyond, returns),
        _ => false,
    })
}

/// Can control never reach the end of the statements?
pub fn diverges(body: &[Stmt]) -> bool {
    body.iter().any(|s| match &s.kind {
        StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(_) | StmtKind::Check(Check::NoResult) => true,
        StmtKind::If(_, a, b) => diverges(a) && diverges(b),
        StmtKind::Loop(b) => !breaks(b, 0),
        StmtKind::Block(b) => diverges(b) && !breaks(b, 0),
        _ => false,
    })
}

/// Does a break leave the construct that is so many around the statements, 0 the innermost?
pub fn breaks(body: &[Stmt], depth: u32) -> bool {
    jumps_to(body, depth, &|kind, depth| matches!(kind, StmtKind::Break(d) if *d == depth))
}

/// Does a continue go on with the next turn of the construct that is so many around the statements?
pub fn continues(body: &[Stmt], depth: u32) -> bool {
    jumps_to(body, depth, &|kind, depth| matches!(kind, StmtKind::Continue(d) if *d == depth))
}

/// Is it true of a statement? `depth` grows with the constructs around it.
fn jumps_to(body: &[Stmt], depth: u32, of: &dyn Fn(&StmtKind, u32) -> bool) -> bool {
    body.iter().any(|s| match &s.kind {
        StmtKind::If(_, a, b) => jumps_to(a, depth, of) || jumps_to(b, depth, of),
        StmtKind::For(l) => jumps_to(&l.body, depth + 1, of),
        StmtKind::Loop(b) | StmtKind::Block(b) => jumps_to(b, depth + 1, of),
        kind => of(kind, depth),
    })
}

impl StmtKind {
    /// The lists of statements directly inside.
    pub fn bodies(&self) -> Vec<&Vec<Stmt>> {
        match self {
            StmtKind::If(_, a, b) => vec![a, b],
            StmtKind::For(l) => vec![&l.body],
            StmtKind::Loop(b) | StmtKind::Block(b) => vec![b],
            _ => Vec::new(),
        }
    }

    /// The lists of statements directly inside.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            StmtKind::If(_, a, b) => vec![a, b],
            StmtKind::For(l) => vec![&mut l.body],
            StmtKind::Loop(b) | StmtKind::Block(b) => vec![b],
            _ => Vec::new(),
        }
    }

    /// The places that the statement itself writes or passes by reference.
    pub fn targets(&self) -> Vec<&Place> {
        match self {
            StmtKind::Assign(p, _) | StmtKind::Pop(Some(p)) => vec![p],
            StmtKind::Call { dst, args, .. } => {
                let refs = args.iter().filter_map(|a| if let Arg::Ref(p) = a { Some(p) } else { None });
                dst.iter().chain(refs).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The places that the statement itself writes or passes by reference.
    pub fn targets_mut(&mut self) -> Vec<&mut Place> {
        match self {
            StmtKind::Assign(p, _) | StmtKind::Pop(Some(p)) => vec![p],
            StmtKind::Call { dst, args, .. } => {
                let refs = args.iter_mut().filter_map(|a| if let Arg::Ref(p) = a { Some(p) } else { None });
                dst.iter_mut().chain(refs).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The statement's own expressions (not those of statements inside), those in its places included; not their operands.
    pub fn each_own_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match self {
            StmtKind::Assign(p, e) => {
                p.each_expr(f);
                f(e);
            }
            StmtKind::Pop(Some(p)) => p.each_expr(f),
            StmtKind::Push(e) | StmtKind::Print(e) | StmtKind::Return(Some(e)) | StmtKind::If(e, ..) => f(e),
            StmtKind::Send(m) => m.args.iter().for_each(f),
            StmtKind::Call { dst, args, .. } => {
                if let Some(p) = dst {
                    p.each_expr(f);
                }
                for a in args {
                    match a {
                        Arg::Value(e) => f(e),
                        Arg::Ref(p) => p.each_expr(f),
                    }
                }
            }
            StmtKind::Check(c) => {
                if let Some(e) = c.operand() {
                    f(e);
                }
            }
            StmtKind::For(l) => {
                f(&l.from);
                f(&l.to);
            }
            StmtKind::Pop(None)
            | StmtKind::Return(None)
            | StmtKind::Loop(_)
            | StmtKind::Block(_)
            | StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::PrintText(_) => {}
        }
    }

    /// As [`StmtKind::each_own_expr`], to rewrite.
    pub fn each_own_expr_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            StmtKind::Assign(p, e) => {
                p.each_expr_mut(f);
                f(e);
            }
            StmtKind::Pop(Some(p)) => p.each_expr_mut(f),
            StmtKind::Push(e) | StmtKind::Print(e) | StmtKind::Return(Some(e)) | StmtKind::If(e, ..) => f(e),
            StmtKind::Send(m) => m.args.iter_mut().for_each(f),
            StmtKind::Call { dst, args, .. } => {
                if let Some(p) = dst {
                    p.each_expr_mut(f);
                }
                for a in args {
                    match a {
                        Arg::Value(e) => f(e),
                        Arg::Ref(p) => p.each_expr_mut(f),
                    }
                }
            }
            StmtKind::Check(c) => {
                if let Some(e) = c.operand_mut() {
                    f(e);
                }
            }
            StmtKind::For(l) => {
                f(&mut l.from);
                f(&mut l.to);
            }
            StmtKind::Pop(None)
            | StmtKind::Return(None)
            | StmtKind::Loop(_)
            | StmtKind::Block(_)
            | StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::PrintText(_) => {}
        }
    }
}

impl Check {
    /// The expression it looks at.
    pub fn operand(&self) -> Option<&Expr> {
        match self {
            Check::Index { index: e, .. }
            | Check::Divisor(e)
            | Check::Peek(e)
            | Check::PeekNegative(e)
            | Check::PeekBeyond { position: e, .. }
            | Check::PopBeyond { popped: e, .. }
            | Check::PushBeyond { pushed: e, .. }
            | Check::PushedLess { pushed: e, .. }
            | Check::PoppedLess { popped: e, .. }
            | Check::Item(e)
            | Check::Room(e)
            | Check::Took(e)
            | Check::Gave(e) => Some(e),
            Check::Pop | Check::Push | Check::Pushed | Check::Popped | Check::NoResult => None,
        }
    }

    /// The expression it looks at.
    pub fn operand_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Check::Index { index: e, .. }
            | Check::Divisor(e)
            | Check::Peek(e)
            | Check::PeekNegative(e)
            | Check::PeekBeyond { position: e, .. }
            | Check::PopBeyond { popped: e, .. }
            | Check::PushBeyond { pushed: e, .. }
            | Check::PushedLess { pushed: e, .. }
            | Check::PoppedLess { popped: e, .. }
            | Check::Item(e)
            | Check::Room(e)
            | Check::Took(e)
            | Check::Gave(e) => Some(e),
            Check::Pop | Check::Push | Check::Pushed | Check::Popped | Check::NoResult => None,
        }
    }
}

impl Place {
    /// The expressions in it: positions and indices.
    pub fn each_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        if let Base::Peek(e) | Base::In(e) | Base::Out(e) = &self.base {
            f(e);
        }
        for p in &self.path {
            if let Proj::Index(e) = p {
                f(e);
            }
        }
    }

    /// The expressions in it: positions and indices.
    pub fn each_expr_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        if let Base::Peek(e) | Base::In(e) | Base::Out(e) = &mut self.base {
            f(e);
        }
        for p in &mut self.path {
            if let Proj::Index(e) = p {
                f(e);
            }
        }
    }
}

impl Expr {
    /// Calls `f` with the operands (for a load: the expressions in its place).
    pub fn each_operand<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::Iter => {}
            ExprKind::Load(p) => p.each_expr(f),
            ExprKind::Unary(_, a) | ExprKind::Convert(a) | ExprKind::Component(a, _) | ExprKind::Any(a) => f(a),
            ExprKind::Binary(_, a, b) => {
                f(a);
                f(b);
            }
            ExprKind::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            ExprKind::Builtin(_, v) | ExprKind::Compose(v) => v.iter().for_each(f),
        }
    }

    /// Calls `f` with the operands (for a load: the expressions in its place).
    pub fn each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::Iter => {}
            ExprKind::Load(p) => p.each_expr_mut(f),
            ExprKind::Unary(_, a) | ExprKind::Convert(a) | ExprKind::Component(a, _) | ExprKind::Any(a) => f(a),
            ExprKind::Binary(_, a, b) => {
                f(a);
                f(b);
            }
            ExprKind::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            ExprKind::Builtin(_, v) | ExprKind::Compose(v) => v.iter_mut().for_each(f),
        }
    }

    /// Calls `f` with every expression in this one, operands first, itself last.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        self.each_operand(&mut |e| e.walk(f));
        f(self);
    }

    /// Calls `f` with every expression in this one, operands first, itself last.
    pub fn walk_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.each_operand_mut(&mut |e| e.walk_mut(f));
        f(self);
    }

    /// Is it true of this expression or one in it?
    pub fn any(&self, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |e| found = found || test(e));
        found
    }

    /// How many operations and loads it has.
    pub fn size(&self) -> usize {
        let mut n = 0;
        self.walk(&mut |_| n += 1);
        n
    }
}
