//! # print-skewed
//!
//! Purpose: sums over windows, in lanes, with fewer loads. Neighbouring vectors of firings look at the same items, a vector's lanes of turns apart: so that one load serves several
//! of them, each is that many turns behind the one before it. Input: a loop of a lanes function. Output: its text, where it is such a loop.
//!
//! ```text
//! for $i = 0 < 64 step 1 { $s = ($s + (table0[$i] * in($i))) }
//!   →  turns 0 to SL_LANES - 1:    x = items of turn i;  s_0 += h[i] * x
//!      turns SL_LANES to 63:       x = items of turn i;  s_0 += h[i] * x;  s_1 += h[i - SL_LANES] * x
//!      turns 64 to SL_LANES + 63:  x = items of turn i;                    s_1 += h[i - SL_LANES] * x
//! ```
//!
//! A processor that adds and multiplies two vectors in a cycle loads two in it, and of those that begin within a line of its cache rather than with it, one: sums that load an item
//! for each product wait for loads. 64 taps take 0.59 ns so and 1.03 ns otherwise with vectors of 16 floats, 1.07 and 1.57 with 8 (AMD EPYC, Zen 5).
//!
//! What must hold: a firing takes one item, which are neighbours in memory then, and the firings are not those of streams that take turns. Each vector does its turns in their order.

use super::print_function::Printer;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::lanes::is_varying;
use sluice_kernel::walk;
use std::fmt::Write;

/// Turns of the shortest loop in which two vectors are worth it, and four of them on machines with the widest ones.
const LEAST_TURNS: i64 = 24;
const LEAST_FOR_FOUR: i64 = 48;

/// How many vectors the lanes of a function are at once.
pub(super) struct Way {
    /// So many.
    pub(super) vectors: usize,
    /// So many neighbours share what they load: each is a vector's lanes of turns behind another. 1: none.
    pub(super) sharing: usize,
    /// Only for machines with the widest vectors.
    pub(super) widest: bool,
}

/// A loop whose vectors share what they load.
struct Shared {
    /// Values of items alone, the same in every vector that sees the items.
    seen: Vec<Expr>,
    /// Later turns look at earlier items.
    backwards: bool,
    /// First turn, and the one after the last.
    turns: (i64, i64),
    /// Variables that it assigns.
    sums: usize,
}

/// What is being printed of such a loop.
pub(super) struct Sharing {
    seen: Vec<Expr>,
    /// Vectors that share, and which of them is meant, by the turns that it is behind.
    of: usize,
    behind: usize,
    backwards: bool,
}

impl Sharing {
    /// Is it this vector's turn?
    fn is(&self, vector: usize) -> bool {
        let place = vector % self.of;
        self.behind == if self.backwards { self.of - 1 - place } else { place }
    }
}

impl Printer<'_> {
    /// How many vectors at once, the most first.
    pub(super) fn ways(&self, lanes: &Lanes) -> Vec<Way> {
        let mut loops = Vec::new();
        walk::each_stmt(&self.function().body, &mut |s| {
            if let StmtKind::For(l) = &s.kind {
                loops.extend(self.shared(l));
            }
        });
        let mut out = Vec::new();
        let sums = loops.iter().map(|l| l.sums).max().unwrap_or(usize::MAX);
        let turns = loops.iter().map(|l| l.turns.1 - l.turns.0).max().unwrap_or(0);
        // a register for each sum, and some for what is multiplied; more variables would not leave as many
        if lanes.unroll == 4 && sums <= 4 {
            let vectors = 8 / sums.next_power_of_two();
            if turns >= LEAST_FOR_FOUR {
                out.push(Way { vectors: 2 * vectors, sharing: 4, widest: true });
            }
            out.push(Way { vectors, sharing: 2, widest: false });
        }
        for vectors in [lanes.unroll as usize, 1] {
            if out.last().is_none_or(|w: &Way| w.vectors > vectors || w.sharing > 1 && vectors > 1) {
                out.push(Way { vectors, sharing: 1, widest: false });
            }
        }
        out
    }

    /// Prints a loop whose vectors share what they load. False where it is none, or nobody shares.
    pub(super) fn skewed(&mut self, s: &Stmt, l: &For, depth: usize) -> bool {
        let sharing = self.sharing;
        if sharing < 2 || self.unroll < sharing || !self.scopes.declares(s, l.var) {
            return false;
        }
        let Some(Shared { seen, backwards, turns: (from, to), .. }) = self.shared(l) else { return false };
        let of = sharing.min(if to - from >= LEAST_FOR_FOUR { 4 } else { 2 });
        if !self.unroll.is_multiple_of(of) {
            return false;
        }
        self.serial += 1;
        let (pad, var, turn) = ("    ".repeat(depth), self.local(l.var), format!("turn_{}_", self.serial));
        let loads = seen.clone();
        // the first vectors begin, all are at work, the last ones end
        let last = of - 1;
        let bound = |turn: i64, k: usize| if k == 0 { turn.to_string() } else { format!("{turn} + {k} * SL_LANES") };
        let parts = (0..last)
            .map(|r| (bound(from, r), bound(from, r + 1), 0..r + 1))
            .chain([(bound(from, last), to.to_string(), 0..of)])
            .chain((1..of).map(|r| (bound(to, r - 1), bound(to, r), r..of)));
        for (first, end, active) in parts {
            let _ = writeln!(self.out, "{pad}for (int32_t {turn} = {first}; {turn} < {end}; {turn}++) {{");
            for (k, e) in loads.iter().enumerate() {
                let names: Vec<String> = (0..self.unroll / of).map(|p| format!("seen_{k}_{p}")).collect();
                let _ = writeln!(self.out, "{pad}    {} {};", super::print_lanes::vector(&e.ty), names.join(", "));
            }
            let _ = writeln!(self.out, "{pad}    {{\n{pad}        const int32_t {var} = {turn};");
            for (k, e) in loads.iter().enumerate() {
                for p in 0..self.unroll / of {
                    let value = self.lane(e, p * of + if backwards { last } else { 0 });
                    let _ = writeln!(self.out, "{pad}        seen_{k}_{p} = {value};");
                    let _ = writeln!(self.out, "{pad}        SL_KEPT(seen_{k}_{p});");
                }
            }
            let _ = writeln!(self.out, "{pad}    }}");
            for behind in active {
                let _ = writeln!(self.out, "{pad}    {{\n{pad}        const int32_t {var} = {turn} - {behind} * SL_LANES;");
                self.shares = Some(Sharing { seen: seen.clone(), of, behind, backwards });
                self.body(&l.body, depth + 2);
                self.shares = None;
                let _ = writeln!(self.out, "{pad}    }}");
            }
            let _ = writeln!(self.out, "{pad}}}");
        }
        true
    }

    /// Is a vector among those that are being printed?
    pub(super) fn is_printed(&self, vector: usize) -> bool {
        self.shares.as_ref().is_none_or(|s| s.is(vector))
    }

    /// The name of a value that several vectors see.
    pub(super) fn seen(&self, e: &Expr, vector: usize) -> Option<String> {
        let shares = self.shares.as_ref()?;
        let k = shares.seen.iter().position(|seen| seen == e)?;
        Some(format!("seen_{k}_{}", vector / shares.of))
    }

    /// What neighbouring vectors could share in a loop.
    fn shared(&self, l: &For) -> Option<Shared> {
        let lanes = self.kernel.lanes.as_ref()?;
        if self.kernel.work.rates.pop != 1 || lanes.strands != 1 || l.step != 1 || l.cmp != BinaryOp::Lt {
            return None;
        }
        let (from, to) = (i64::from(l.from.as_int()?), i64::from(l.to.as_int()?));
        // turns are counted beyond the last one
        if to - from < LEAST_TURNS || from < 0 || to > i64::from(i32::MAX / 2) {
            return None;
        }
        let mut assigned = Vec::new();
        for s in &l.body {
            let StmtKind::Assign(p, e) = &s.kind else { return None };
            let id = p.as_local().filter(|id| lanes.varying[id.index()] && !assigned.contains(id))?;
            (e.ty == Ty::Float && self.function().locals[id.index()].ty == Ty::Float).then_some(())?;
            assigned.push(id);
        }
        let mut look = Look { var: l.var, varying: &lanes.varying, seen: Vec::new(), signs: [false; 2], good: true };
        for s in &l.body {
            if let StmtKind::Assign(_, e) = &s.kind {
                look.at(e);
            }
        }
        let sums = assigned.len();
        let good = look.good && !look.seen.is_empty() && look.signs != [true; 2];
        good.then_some(Shared { seen: look.seen, backwards: look.signs[1], turns: (from, to), sums })
    }
}

/// Looks for values of items in a loop's body.
struct Look<'a> {
    var: LocalId,
    varying: &'a [bool],
    seen: Vec<Expr>,
    /// Do later turns look at later items, or at earlier ones?
    signs: [bool; 2],
    good: bool,
}

impl Look<'_> {
    fn at(&mut self, e: &Expr) {
        if !is_varying(e, self.varying) {
            return;
        }
        if self.of_items_alone(e) {
            if !self.seen.contains(e) {
                self.seen.push(e.clone());
            }
            return;
        }
        match &e.kind {
            ExprKind::Load(p) => self.good &= p.as_local().is_some(),
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => self.at(a),
            ExprKind::Binary(_, a, b) => {
                self.at(a);
                self.at(b);
            }
            ExprKind::Builtin(_, list) => list.iter().for_each(|a| self.at(a)),
            ExprKind::Select(c, a, b) => [c, a, b].into_iter().for_each(|e| self.at(e)),
            _ => self.good = false,
        }
    }

    /// Is it a number that is made of items and constants, with nothing else of the turn?
    fn of_items_alone(&mut self, e: &Expr) -> bool {
        if !matches!(e.ty, Ty::Float | Ty::Int) {
            return false;
        }
        match &e.kind {
            ExprKind::Const(_) => true,
            ExprKind::Load(Place { base: Base::In(position), .. }) => match sign(position, self.var) {
                Some(sign) => {
                    self.signs[usize::from(sign < 0)] = true;
                    true
                }
                None => {
                    self.good = false;
                    false
                }
            },
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => self.of_items_alone(a),
            ExprKind::Binary(_, a, b) => self.of_items_alone(a) && self.of_items_alone(b),
            ExprKind::Builtin(_, list) => list.iter().all(|a| self.of_items_alone(a)),
            _ => false,
        }
    }
}

/// Of a position that is the variable and what is the same in every turn: 1; of such a thing less the variable: -1.
fn sign(position: &Expr, var: LocalId) -> Option<i32> {
    let is_var = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(var));
    let same = |e: &Expr| !e.any(&mut |e| is_var(e));
    match &position.kind {
        _ if is_var(position) => Some(1),
        ExprKind::Binary(BinaryOp::Add, a, b) if is_var(a) && same(b) || is_var(b) && same(a) => Some(1),
        ExprKind::Binary(BinaryOp::Sub, a, b) if is_var(a) && same(b) => Some(1),
        ExprKind::Binary(BinaryOp::Sub, a, b) if is_var(b) && same(a) => Some(-1),
        _ => None,
    }
}
