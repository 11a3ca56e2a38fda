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
//! So it is where a firing takes one item, of one stream or of 2 or 4 that take turns. Firings that take several items look at the same ones a few turns later when they follow one
//! another: these are a lane's then, in blocks of their own (`in_lane`), whose items and results are turned round for all of them. Of 16 streams or a multiple of it, a vector is lanes of
//! one turn, and those that share are turns that follow one another (`by_turns`): eight of them where there are 32 registers and one sum, otherwise four (measured: 16 and 32 filters of
//! 64 taps side by side 1.1 to 1.4 times as fast where each takes an item at a time, and 1.0 to 1.4 times where it takes two). Of 32 streams or a multiple of it and one sum, four turns of two
//! vectors beside each other, which share what they are multiplied by; with 16 registers, four vectors of a turn are enough, and nobody shares items (measured on Cascade Lake).
//!
//! What must hold: each vector does its turns in their order, whoever loads for it. Sums are all that the loop assigns, and each turn's items lie as far apart as those of the turn before.

use super::lanewise::Ends;
use super::print_function::Printer;
use super::print_narrow;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::lanes::is_varying;
use sluice_kernel::walk;
use std::fmt::Write;

/// Turns of the shortest loop in which sharing is worth it.
const LEAST_TURNS: u32 = 24;

/// Statements of a function without loops in which what two ways begin with alike must not be done once for both ([`Way::anew`]).
const LONG: usize = 100;

/// Lanes of the widest machine.
const WIDEST: u32 = 16;

/// For which machines something is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Machines {
    All,
    /// Those with the widest vectors, and twice as many registers for them.
    Widest,
    Others,
}

impl Machines {
    /// The preprocessor's condition.
    pub(super) fn condition(self) -> Option<&'static str> {
        match self {
            Machines::All => None,
            Machines::Widest => Some("#if SL_LANES == 16\n"),
            Machines::Others => Some("#if SL_LANES != 16\n"),
        }
    }
}

/// How many vectors the lanes of a function are at once.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// So many.
    pub(super) vectors: usize,
    /// So many neighbours share what they load. 1: none.
    pub(super) sharing: usize,
    /// Those are firings that follow one another in a lane, rather than in neighbouring lanes.
    pub(super) in_lane: bool,
    /// Those are turns that follow one another of as many streams as a vector has lanes, not firings that are neighbours in lanes. Vectors of more streams are beside them.
    pub(super) by_turns: bool,
    /// Where.
    pub(super) machines: Machines,
    /// Begins anew: must not be taken together with the ways before it.
    pub(super) anew: bool,
    /// What are bytes goes as such ([`super::print_narrow`]).
    pub(super) bytes: bool,
}

impl Way {
    /// One vector by itself.
    const ALONE: Way = Way {
        vectors: 1,
        sharing: 1,
        in_lane: false,
        by_turns: false,
        machines: Machines::All,
        anew: false,
        bytes: false,
    };
}

/// A loop whose vectors share what they load.
struct Shared {
    /// Values of items alone, the same in every vector that sees the items.
    seen: Vec<Expr>,
    /// Later turns look at earlier items.
    backwards: bool,
    /// First turn, and the one after the last.
    from: u32,
    to: u32,
    /// Variables that it assigns.
    sums: usize,
}

impl Shared {
    /// Can so many vectors share, each so many turns behind another? All are at work for some turns, or at least half of all is shared.
    fn fits(&self, of: u32, distance: u32) -> bool {
        let (turns, wait) = (self.to - self.from, (of - 1) * distance);
        turns >= LEAST_TURNS && turns >= if of == 2 { wait * 3 / 2 } else { wait }
    }
}

/// What is being printed of such a loop.
pub(super) struct Sharing {
    seen: Vec<Expr>,
    /// Vectors that share, and which of them is meant, by how far it is behind.
    of: usize,
    behind: usize,
    backwards: bool,
}

impl Sharing {
    /// Which of the vectors that share?
    fn place(&self) -> usize {
        if self.backwards { self.of - 1 - self.behind } else { self.behind }
    }
}

impl Printer<'_> {
    /// How many vectors at once: firings that follow one another in a lane, which are a block of their own, and others, the most first; `block` positions of lanes are a block at most (0: any).
    pub(super) fn ways(&self, lanes: &Lanes, ends: Ends, block: u32) -> (Vec<Way>, Vec<Way>) {
        if print_narrow::may(self.kernel) {
            // vectors of bytes, and for what they leave, one of ints
            let bytes = Way { vectors: print_narrow::VECTORS, bytes: true, ..Way::ALONE };
            return (Vec::new(), vec![bytes, Way { anew: true, ..Way::ALONE }]);
        }
        let mut loops: Vec<Shared> = Vec::new();
        // in a short one the processor looks at the other vectors soon enough
        let mut chain = walk::count(&self.function().body) >= LONG;
        walk::each_stmt(&self.function().body, &mut |s| {
            if let StmtKind::For(l) = &s.kind {
                loops.extend(self.shared(l));
                chain = false;
            }
        });
        let (mut in_lane, mut others) = (Vec::new(), Vec::new());
        let sums = loops.iter().map(|l| l.sums).max().unwrap_or(usize::MAX);
        let fit = |of: u32, distance: u32| loops.iter().any(|l| l.fits(of, distance));
        let (pop, taken) = (lanes.rates(self.kernel.work.rates).pop, ends.taken || ends.given);
        // a register for each sum, and some for what is multiplied; more variables would not leave as many
        if lanes.unroll > 1 && sums <= 4 {
            let vectors = 8 / sums.next_power_of_two();
            if let Some(distance) = self.distance(WIDEST).filter(|_| !taken) {
                if fit(4, distance) {
                    others.push(Way { vectors: 2 * vectors, sharing: 4, machines: Machines::Widest, ..Way::ALONE });
                }
                if fit(2, distance) {
                    others.push(Way { vectors, sharing: 2, ..Way::ALONE });
                }
            }
            if lanes.strands.is_multiple_of(WIDEST) && !taken {
                let whole = |of: u32| block == 0 || of * lanes.strands <= block;
                // of streams that are several vectors, some beside each other share what is multiplied
                let (widest, all) = match sums == 1 && lanes.strands.is_multiple_of(2 * WIDEST) {
                    true => (&[(4, 2), (2, 2)][..], &[][..]),
                    false => (&[(8, 1)][..], &[(4, 1), (2, 1)][..]),
                };
                for (counts, machines) in [(widest, Machines::Widest), (all, Machines::All)] {
                    let shares = |(of, beside): &(usize, usize)| {
                        of * beside <= vectors && whole(*of as u32) && fit(*of as u32, pop)
                    };
                    if let Some((of, beside)) = counts.iter().copied().find(shares) {
                        others.push(Way { vectors: of * beside, sharing: of, by_turns: true, machines, ..Way::ALONE });
                    }
                }
            }
            if others.is_empty() && lanes.strands == 1 && lanes.phases && !taken {
                for (vectors, machines) in [(2 * vectors, Machines::Widest), (vectors, Machines::All)] {
                    let of = vectors.min(4);
                    if fit(of as u32, pop) {
                        in_lane.push(Way { vectors, sharing: of, in_lane: true, machines, ..Way::ALONE });
                    }
                }
            }
        }
        let few = if lanes.deep > lanes.unroll {
            others.push(Way { vectors: lanes.deep as usize, machines: Machines::Widest, ..Way::ALONE });
            // one vector by itself does what several leave, there too
            if lanes.unroll > 1 { Machines::Others } else { Machines::All }
        } else {
            Machines::All
        };
        for (vectors, machines) in [(lanes.unroll as usize, few), (1, Machines::All)] {
            if others.last().is_none_or(|w| w.vectors > vectors) {
                others.push(Way { vectors, machines, anew: chain && !others.is_empty(), ..Way::ALONE });
            }
        }
        (in_lane, others)
    }

    /// By how many turns vectors beside each other look at the same, of so many lanes.
    fn distance(&self, lanes: u32) -> Option<u32> {
        let all = self.kernel.lanes.as_ref()?;
        let (strands, pop) = (all.strands, all.rates(self.kernel.work.rates).pop);
        // of streams that take turns, lanes are whole turns on every machine
        matches!(strands, 1 | 2 | 4).then(|| lanes / strands * pop)
    }

    /// Prints a loop whose vectors share what they load. False where it is none, or nobody shares.
    pub(super) fn skewed(&mut self, s: &Stmt, l: &For, depth: usize) -> bool {
        let Some(Way { sharing, in_lane, by_turns, .. }) = self.way.filter(|w| w.sharing > 1) else { return false };
        let Some(lanes) = &self.kernel.lanes else { return false };
        let (strands, pop) = (lanes.strands, lanes.rates(self.kernel.work.rates).pop);
        if !self.scopes.declares(s, l.var) {
            return false;
        }
        let Some(shared) = self.shared(l) else { return false };
        let (widest, distance) = match (in_lane || by_turns, self.distance(WIDEST)) {
            (true, _) => (pop, pop.to_string()),
            (_, Some(widest)) if strands * pop == 1 => (widest, "SL_LANES".into()),
            (_, Some(widest)) => (widest, format!("SL_LANES / {strands} * {pop}")),
            _ => return false,
        };
        // firings in a lane are what they are; of neighbouring vectors fewer may share
        let of = if shared.fits(sharing as u32, widest) || in_lane || by_turns { sharing } else { 2 };
        if !shared.fits(of as u32, widest) {
            return false;
        }
        let Shared { seen, backwards, from, to, .. } = shared;
        self.serial += 1;
        let (pad, var, turn) = ("    ".repeat(depth), self.local(l.var), format!("turn_{}_", self.serial));
        // the first vectors begin, all are at work, the last ones end
        let last = of - 1;
        let bound =
            |turn: u32, k: usize| if k == 0 { turn.to_string() } else { format!("{turn} + {k} * ({distance})") };
        let parts = (0..last)
            .map(|r| (bound(from, r), bound(from, r + 1), 0..r + 1))
            .chain([(bound(from, last), to.to_string(), 0..of)])
            .chain((1..of).map(|r| (bound(to, r - 1), bound(to, r), r..of)));
        let groups = self.unroll / of;
        for (first, end, active) in parts {
            let _ = writeln!(self.out, "{pad}for (int32_t {turn} = {first}; {turn} < {end}; {turn}++) {{");
            for (k, e) in seen.iter().enumerate() {
                let names: Vec<String> = (0..groups).map(|p| format!("seen_{k}_{p}")).collect();
                let _ =
                    writeln!(self.out, "{pad}    {} {};", super::print_lane_values::vector(&e.ty), names.join(", "));
            }
            for behind in active.clone() {
                let sharing = Sharing { seen: seen.clone(), of, behind, backwards };
                let place = sharing.place();
                let is = if behind == 0 { turn.clone() } else { format!("{turn} - {behind} * ({distance})") };
                let _ = writeln!(self.out, "{pad}    {{\n{pad}        const int32_t {var} = {is};");
                if behind == active.start {
                    // one that is at work loads for all
                    for (k, e) in seen.iter().enumerate() {
                        for p in 0..groups {
                            let value = self.lane(e, p * of + place);
                            let _ = writeln!(
                                self.out,
                                "{pad}        seen_{k}_{p} = {value};\n{pad}        SL_KEPT(seen_{k}_{p});"
                            );
                        }
                    }
                }
                self.shares = Some(sharing);
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
        self.shares.as_ref().is_none_or(|s| s.place() == vector % s.of)
    }

    /// The name of a value that several vectors see.
    pub(super) fn seen(&self, e: &Expr, vector: usize) -> Option<String> {
        let shares = self.shares.as_ref()?;
        let k = shares.seen.iter().position(|seen| seen == e)?;
        Some(format!("seen_{k}_{}", vector / shares.of))
    }

    /// What vectors could share in a loop.
    fn shared(&self, l: &For) -> Option<Shared> {
        let lanes = self.kernel.lanes.as_ref()?;
        if l.step != 1 || l.cmp != BinaryOp::Lt {
            return None;
        }
        // turns are counted beyond the last one
        let bound = |e: &Expr| e.as_int().and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= 1 << 24);
        let (from, to) = (bound(&l.from)?, bound(&l.to)?);
        let mut assigned = Vec::new();
        for s in &l.body {
            let StmtKind::Assign(p, e) = &s.kind else { return None };
            let id = p.as_local().filter(|id| lanes.varying[id.index()] && !assigned.contains(id))?;
            (e.ty == Ty::Float && self.function().locals[id.index()].ty == Ty::Float).then_some(())?;
            assigned.push(id);
        }
        let mut look =
            Look { var: l.var, varying: &lanes.varying, seen: Vec::new(), signs: [false; 2], good: from < to };
        for s in &l.body {
            if let StmtKind::Assign(_, e) = &s.kind {
                look.at(e);
            }
        }
        let sums = assigned.len();
        let good = look.good && !look.seen.is_empty() && look.signs != [true; 2];
        good.then_some(Shared { seen: look.seen, backwards: look.signs[1], from, to, sums })
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
