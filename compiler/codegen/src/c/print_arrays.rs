//! # print-arrays
//!
//! Purpose: ints that a filter keeps in arrays from one firing to the next stay in vector registers, where its loops go over neighbours and over every second element: a firing need not wait
//! for what the one before has stored. Input: a kernel. Output: a loop over its firings in vectors, for compilers and machines that have enough registers, before what all others do.
//!
//! ```text
//! state cost int[64]; for $j = 0 < 32 { $a = (cost[(2 * $j)] + in($j))  next[$j] = min($a, …) }  cost = next
//!   →   sl_vi cost[64 / SL_LANES];  a = sl_vi_second(cost[2 * v], cost[2 * v + 1], even, 0) + sl_vi_load(in + v * SL_LANES);  next[v] = sl_vi_min(a, …);
//! ```
//!
//! What must hold: a firing is loops of known numbers of turns, a multiple of all lanes, and copies of whole arrays; a loop reads an array or writes it, writes nothing twice, and
//! reads no variable that its turn has not written. Then it is the same whether turns go one by one or abreast.

use super::print_function::Printer;
use super::types::field_name;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::clean::trip;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lanes of the widest vectors.
const WIDEST: u32 = 16;
/// Elements of all arrays together, at most: half of the widest machine's registers. Other machines hold less (`SL_IN_REGISTERS`).
const MOST: u32 = 16 * WIDEST;

/// An array that is in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Array {
    Local(LocalId),
    State(StateId),
}

/// Elements `stride * turn + from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    stride: u32,
    from: u32,
}

/// Can the kernel's arrays be in registers? Which are, and how long.
pub(super) fn arrays(kernel: &Kernel) -> Option<Held<'_>> {
    if kernel.lanes.is_some() || kernel.steps.is_some() || kernel.work.dynamic.is_some() {
        return None;
    }
    let f = kernel.function(kernel.work.function);
    let mut held = Held { kernel, f, lengths: BTreeMap::new(), turns: 0, known: BTreeSet::new() };
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for s in &f.body {
        match &s.kind {
            StmtKind::Assign(p, e) => {
                written.insert(held.whole(p)?);
                match &e.kind {
                    ExprKind::Zero => {}
                    ExprKind::Load(from) => drop(read.insert(held.whole(from)?)),
                    _ => return None,
                }
            }
            StmtKind::For(l) => held.turns(l, &mut read, &mut written)?,
            _ => return None,
        }
    }
    let both = read.intersection(&written).any(|a| matches!(a, Array::State(_)));
    (both && held.lengths.values().sum::<u32>() <= MOST).then_some(held)
}

/// What is held in registers.
pub(super) struct Held<'k> {
    kernel: &'k Kernel,
    f: &'k Function,
    /// By array: its elements.
    lengths: BTreeMap<Array, u32>,
    /// Turns of the loop that is looked at, and what its turn has written so far.
    turns: u32,
    known: BTreeSet<LocalId>,
}

impl Held<'_> {
    fn array(&mut self, base: &Base) -> Option<Array> {
        let (array, ty) = match base {
            Base::Local(id) => (Array::Local(*id), &self.f.locals[id.index()].ty),
            Base::State(id) => (Array::State(*id), &self.kernel.state[id.index()].ty),
            _ => return None,
        };
        let n = ty.known_len().filter(|n| *n > 0 && n % WIDEST == 0 && ty.element() == Some(&Ty::Int))?;
        self.lengths.insert(array, n);
        Some(array)
    }

    fn whole(&mut self, p: &Place) -> Option<Array> {
        if p.path.is_empty() { self.array(&p.base) } else { None }
    }

    /// Looks at a loop.
    fn turns(&mut self, l: &For, read: &mut BTreeSet<Array>, written: &mut BTreeSet<Array>) -> Option<()> {
        let (n, _) = trip(l)?;
        self.turns = u32::try_from(n).ok().filter(|n| *n > 0 && *n <= MOST && n % WIDEST == 0)?;
        if l.from.as_int() != Some(0) || l.step != 1 {
            return None;
        }
        self.known.clear();
        let (mut reads, mut writes) = (BTreeSet::new(), Vec::new());
        for s in &l.body {
            let StmtKind::Assign(p, e) = &s.kind else { return None };
            self.value(e, l.var, &mut reads)?;
            match (&p.base, p.path.as_slice()) {
                (Base::Local(id), []) if *id != l.var && is_scalar(&self.f.locals[id.index()].ty) => {
                    self.known.insert(*id);
                }
                (Base::Out(at), []) if e.ty == Ty::Int => writes.push((None, row(at, l.var)?)),
                (base, [Proj::Index(at)]) => {
                    let (array, row) = (self.array(base)?, row(at, l.var)?);
                    self.in_registers(array, row)?;
                    writes.push((Some(array), row));
                }
                _ => return None,
            }
        }
        for (i, (array, row)) in writes.iter().enumerate() {
            let apart = |(other, at): &(Option<Array>, Row)| other != array || at.from.abs_diff(row.from) >= self.turns;
            if row.stride != 1 || !writes[..i].iter().all(apart) || array.is_some_and(|a| reads.contains(&a)) {
                return None;
            }
        }
        read.extend(reads);
        written.extend(writes.iter().filter_map(|(a, _)| *a));
        Some(())
    }

    /// Are the elements whole vectors of an array?
    fn in_registers(&self, array: Array, r: Row) -> Option<()> {
        let from = r.from - r.from % r.stride;
        let last = r.stride.checked_mul(self.turns)?.checked_add(from)?;
        (from.is_multiple_of(WIDEST) && last <= self.lengths[&array]).then_some(())
    }

    /// Looks at a value of a turn.
    fn value(&mut self, e: &Expr, var: LocalId, reads: &mut BTreeSet<Array>) -> Option<()> {
        use BinaryOp::*;
        if !is_scalar(&e.ty) {
            return None;
        }
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero => Some(()),
            ExprKind::Load(p) => match (&p.base, p.path.as_slice()) {
                (Base::Local(id), []) => self.known.contains(id).then_some(()),
                (Base::In(at), []) if e.ty == Ty::Int => self.there(row(at, var)?, self.kernel.work.rates.peek),
                (Base::Table(id), [Proj::Index(at)]) if e.ty == Ty::Int => {
                    self.there(row(at, var)?, self.kernel.tables[id.index()].ty.known_len()?)
                }
                (base, [Proj::Index(at)]) => {
                    let (array, row) = (self.array(base)?, row(at, var)?);
                    reads.insert(array);
                    self.in_registers(array, row)
                }
                _ => None,
            },
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => self.value(a, var, reads),
            ExprKind::Binary(Div | Rem, ..) => None,
            ExprKind::Binary(_, a, b) => self.value(a, var, reads).and_then(|()| self.value(b, var, reads)),
            ExprKind::Select(c, a, b) => [c, a, b].into_iter().try_for_each(|e| self.value(e, var, reads)),
            ExprKind::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, all) => {
                all.iter().try_for_each(|e| self.value(e, var, reads))
            }
            _ => None,
        }
    }

    /// Are there so many elements that whole vectors can be loaded?
    fn there(&self, r: Row, length: u32) -> Option<()> {
        let last = r.stride.checked_mul(self.turns)?.checked_add(r.from - r.from % r.stride)?;
        (last <= length).then_some(())
    }
}

fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Int | Ty::Bool | Ty::Bit)
}

/// A position as one that goes with the turns, by ones or twos.
fn row(at: &Expr, var: LocalId) -> Option<Row> {
    let turn = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(var));
    let number = |e: &Expr| e.as_int().and_then(|n| u32::try_from(n).ok()).filter(|n| *n < 1 << 20);
    let (ExprKind::Binary(op, a, b), false) = (&at.kind, turn(at)) else {
        return turn(at).then_some(Row { stride: 1, from: 0 });
    };
    let either = |f: &dyn Fn(&Expr, &Expr) -> Option<Row>| f(a, b).or_else(|| f(b, a));
    match op {
        BinaryOp::Add => either(&|x, n| {
            let (r, n) = (row(x, var)?, number(n)?);
            Some(Row { from: r.from + n, ..r })
        }),
        BinaryOp::Mul => either(&|x, n| (turn(x) && number(n) == Some(2)).then_some(Row { stride: 2, from: 0 })),
        _ => None,
    }
}

impl Printer<'_> {
    /// The firings with arrays in registers: then none is left.
    pub(super) fn in_registers(&mut self) {
        let Some(held) = arrays(self.kernel) else { return };
        let (pop, push) = (self.kernel.work.rates.pop, self.kernel.work.rates.push);
        let _ = write!(self.out, "#if SL_IN_REGISTERS >= {}\n    {{\n", held.lengths.values().sum::<u32>());
        for (array, n) in &held.lengths {
            let _ = writeln!(self.out, "        sl_vi {}[{n} / SL_LANES];", self.held(*array));
        }
        self.out.push_str("        sl_vi even;\n        for (int l = 0; l < SL_LANES; l++) even[l] = 2 * l;\n");
        self.moved(&held, false);
        let step =
            |name: &str, ty: &Ty, n: u32| if *ty == Ty::Void { String::new() } else { format!(", {name} += {n}") };
        let (taken, given) = (step("in", &self.kernel.input, pop), step("out", &self.kernel.output, push));
        let _ = writeln!(self.out, "        for (; n > 0; n--{taken}{given}) {{");
        for s in &held.f.body {
            match &s.kind {
                StmtKind::Assign(p, e) => {
                    let Some(to) = array_of(&p.base) else { continue };
                    let from = match &e.kind {
                        ExprKind::Load(p) => array_of(&p.base).map(|a| format!("{}[v]", self.held(a))),
                        _ => None,
                    };
                    let (name, from) = (self.held(to), from.unwrap_or_else(|| "(sl_vi){0}".into()));
                    let n = held.lengths[&to];
                    let _ = writeln!(
                        self.out,
                        "#pragma GCC unroll 16\n            for (int v = 0; v < {n} / SL_LANES; v++) {name}[v] = {from};"
                    );
                }
                StmtKind::For(l) => self.turns_abreast(l),
                _ => {}
            }
        }
        self.out.push_str("        }\n");
        self.moved(&held, true);
        self.out.push_str("    }\n#endif\n");
    }

    /// Fields to registers, or back.
    fn moved(&mut self, held: &Held<'_>, back: bool) {
        for (array, n) in &held.lengths {
            let Array::State(id) = array else { continue };
            let (name, field) = (self.held(*array), field_name(id.index(), &self.kernel.state[id.index()].name));
            let at = format!("st->{field}.v + v * SL_LANES");
            let text =
                if back { format!("sl_vi_store({at}, {name}[v])") } else { format!("{name}[v] = sl_vi_load({at})") };
            let _ =
                writeln!(self.out, "#pragma GCC unroll 16\n        for (int v = 0; v < {n} / SL_LANES; v++) {text};");
        }
    }

    fn held(&self, array: Array) -> String {
        match array {
            Array::Local(id) => format!("{}_held", self.local(id)),
            Array::State(id) => format!("{}_state", field_name(id.index(), &self.kernel.state[id.index()].name)),
        }
    }

    fn turns_abreast(&mut self, l: &For) {
        let n = trip(l).map_or(0, |(n, _)| n);
        let _ = writeln!(self.out, "#pragma GCC unroll 16\n            for (int v = 0; v < {n} / SL_LANES; v++) {{");
        let mut declared = BTreeSet::new();
        for s in &l.body {
            let StmtKind::Assign(p, e) = &s.kind else { continue };
            let value = self.abreast(e, l.var);
            let _ = match (&p.base, p.path.first()) {
                (Base::Local(id), None) => {
                    let ty = if declared.insert(*id) { "sl_vi " } else { "" };
                    writeln!(self.out, "                {ty}{} = {value};", self.local(*id))
                }
                (Base::Out(at), _) => {
                    let from = row(at, l.var).map_or(0, |r| r.from);
                    writeln!(self.out, "                sl_vi_store(out + v * SL_LANES + {from}, {value});")
                }
                (base, Some(Proj::Index(at))) => {
                    let (Some(array), Some(r)) = (array_of(base), row(at, l.var)) else { continue };
                    writeln!(self.out, "                {}[v + {} / SL_LANES] = {value};", self.held(array), r.from)
                }
                _ => Ok(()),
            };
        }
        self.out.push_str("            }\n");
    }

    /// A value of a vector of turns, as an operand.
    fn abreast(&self, e: &Expr, var: LocalId) -> String {
        let of = |e: &Expr| self.abreast(e, var);
        match &e.kind {
            ExprKind::Load(p) => match (&p.base, p.path.first()) {
                (Base::Local(id), None) => self.local(*id),
                (Base::In(at), _) => self.elements(&|v| format!("sl_vi_load(in + {v})"), at, var),
                (Base::Table(id), Some(Proj::Index(at))) => {
                    let table = self.table_name(*id);
                    self.elements(&|v| format!("sl_vi_load({table}.v + {v})"), at, var)
                }
                (base, Some(Proj::Index(at))) => {
                    let name = array_of(base).map_or_else(String::new, |a| self.held(a));
                    self.elements(&|v| format!("{name}[({v}) / SL_LANES]"), at, var)
                }
                _ => String::new(),
            },
            // a truth is all ones
            ExprKind::Select(c, a, b) if b.as_int() == Some(0) => format!("({} & {})", of(c), of(a)),
            _ => self.vector_of(e, &of),
        }
    }

    /// The elements of a vector of turns; `whole` is a vector of neighbours from a position on.
    fn elements(&self, whole: &dyn Fn(&str) -> String, at: &Expr, var: LocalId) -> String {
        match row(at, var) {
            Some(Row { stride: 2, from }) => {
                let (odd, from) = (from % 2, from - from % 2);
                let (low, high) = (format!("2 * v * SL_LANES + {from}"), format!("(2 * v + 1) * SL_LANES + {from}"));
                format!("sl_vi_second({}, {}, even, {odd})", whole(&low), whole(&high))
            }
            Some(Row { from, .. }) => whole(&format!("v * SL_LANES + {from}")),
            None => String::new(),
        }
    }
}

fn array_of(base: &Base) -> Option<Array> {
    match base {
        Base::Local(id) => Some(Array::Local(*id)),
        Base::State(id) => Some(Array::State(*id)),
        _ => None,
    }
}
