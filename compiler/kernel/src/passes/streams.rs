//! # streams
//!
//! Purpose: few equal branches side by side, each with a state, as lanes of a vector. Input: a kernel whose firing is loops over its branches ([equal branches](crate::fuse) as one filter), for C. Output:
//! [`Streams`], of which the firing can be printed; the kernel stays as it is.
//!
//! ```text
//! for $b = 0 < 4 { $x = in($b)  state0[$b] = ((table0[$b] * state0[$b]) + $x)  out($b) = state0[$b] }
//!   →   z = (h * z) + sl_s4f_load(in);  sl_s4f_store(out, z);
//! ```
//!
//! What must hold: all loops go over the same branches; a turn looks at nothing but its own branch's elements, at items in a row, and at what is the same for all; and what it puts out follows what was
//! put out before it. Then a vector may have more lanes than there are branches: what is read beyond is left alone, and what is written beyond is written again. (Longer loops C compilers make vectors of themselves.)

use super::clean::trip;
use super::held::row;
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::{Dim, Ty};
use std::collections::BTreeSet;

/// Branches, at most.
pub const MOST: u32 = 16;
/// Statements of a firing, at most.
const LARGEST: usize = 200;

/// A firing as vectors of its branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// How many there are.
    pub count: u32,
    /// Fields of which each branch has an element, or several that lie as far apart as there are branches.
    pub fields: BTreeSet<StateId>,
    /// Those that are written.
    pub written: BTreeSet<StateId>,
    /// Tables of which each branch reads an element.
    pub tables: BTreeSet<TableId>,
    /// Arrays of the firing.
    pub arrays: BTreeSet<LocalId>,
    /// Where the last row of items begins that is read; `None` for none.
    pub read: Option<u32>,
    /// The same of those that are put out.
    pub given: Option<u32>,
}

impl Streams {
    /// Lanes of a vector of them.
    pub fn lanes(&self) -> u32 {
        self.count.next_power_of_two().max(4)
    }

    /// How many vectors an array is. Elements beyond the branches, of which some arrays have a few, are nobody's.
    pub fn rows(&self, ty: &Ty) -> u32 {
        match ty.known_len().unwrap_or(0) {
            n if n.is_multiple_of(self.count) => n / self.count,
            n => u32::from(n > self.count),
        }
    }

    /// The first turns of which a vector is one, where a loop goes over the branches several times.
    pub fn turns(&self, l: &For) -> impl Iterator<Item = u32> + use<> {
        let n = trip(l).map_or(0, |(n, _)| u32::try_from(n).unwrap_or(0));
        (0..n).step_by(self.count as usize)
    }

    /// Where an element is that a place names in a vector of turns: in which vector.
    pub fn element(&self, p: &Place, var: LocalId, turn: u32) -> Option<u32> {
        let [Proj::Index(at)] = &p.path[..] else { return None };
        let r = row(at, var).filter(|r| r.stride == 1)?;
        let at = r.from + turn;
        at.is_multiple_of(self.count).then_some(at / self.count)
    }
}

/// The branches of a kernel's firing, where it is loops over them.
pub fn streams(kernel: &Kernel) -> Option<Streams> {
    let plain = kernel.lanes.is_none() && kernel.steps.is_none() && kernel.work.dynamic.is_none();
    if !plain || !kernel.tapes.is_empty() || kernel.uses_iter() {
        return None;
    }
    let f = kernel.function(kernel.work.function);
    let of = |s: &'_ Stmt| if let StmtKind::For(l) = &s.kind { Some((**l).clone()) } else { None };
    let loops: Vec<For> = f.body.iter().map(of).collect::<Option<_>>()?;
    let (count, _) = trip(loops.first()?)?;
    let count = u32::try_from(count).ok().filter(|n| (2..=MOST).contains(n))?;
    let out = Streams { count, ..Streams::default() };
    let mut look = Look { kernel, f, var: LocalId(0), turn: 0, own: BTreeSet::new(), out };
    if f.body.len() > LARGEST || loops.iter().map(|l| walk::count(&l.body)).sum::<usize>() > LARGEST {
        return None;
    }
    for l in &loops {
        let n = trip(l)?.0;
        if l.from.as_int() != Some(0) || l.step != 1 || n == 0 || n > 4 * u64::from(count) || n % u64::from(count) != 0
        {
            return None;
        }
        for turn in look.out.turns(l) {
            (look.var, look.turn, look.own) = (l.var, turn, BTreeSet::new());
            if !look.body(&l.body, false) {
                return None;
            }
        }
    }
    let out = look.out;
    let push = kernel.work.rates.push;
    let whole = out.given.is_none_or(|last| last + count <= push);
    (!out.written.is_empty() && whole).then_some(out)
}

/// Variables that both arms of a condition give a value.
pub fn in_both(a: &[Stmt], b: &[Stmt]) -> BTreeSet<LocalId> {
    let of = |arm: &[Stmt]| -> BTreeSet<LocalId> {
        let of = |s: &Stmt| match &s.kind {
            StmtKind::Assign(p, _) => p.as_local().into_iter().collect(),
            StmtKind::If(_, a, b) => in_both(a, b),
            _ => BTreeSet::new(),
        };
        arm.iter().flat_map(of).collect()
    };
    of(a).intersection(&of(b)).copied().collect()
}

struct Look<'k> {
    kernel: &'k Kernel,
    f: &'k Function,
    /// What the loop counts, and the first turn of those that are a vector.
    var: LocalId,
    turn: u32,
    /// Variables of a turn that have a value.
    own: BTreeSet<LocalId>,
    out: Streams,
}

impl Look<'_> {
    /// `arm`: of a condition, both of which are computed.
    fn body(&mut self, body: &[Stmt], arm: bool) -> bool {
        body.iter().all(|s| match &s.kind {
            StmtKind::Assign(p, e) => self.value(e) && self.target(p, arm),
            StmtKind::If(c, a, b) => {
                let before = self.own.clone();
                let mut all = self.value(c);
                for arm in [a, b] {
                    all = all && self.body(arm, true);
                    self.own.clone_from(&before);
                }
                self.own.extend(in_both(a, b));
                all
            }
            _ => false,
        })
    }

    /// Is it an element of the branch, of numbers?
    fn element(&self, p: &Place, ty: &Ty) -> bool {
        let ours = matches!(ty, Ty::Array(e, Dim::Known(_)) if number(e));
        ours && self.out.element(p, self.var, self.turn).is_some_and(|v| v < self.out.rows(ty))
    }

    fn target(&mut self, p: &Place, arm: bool) -> bool {
        match &p.base {
            Base::Local(id) => {
                let local = &self.f.locals[id.index()];
                if p.path.is_empty() {
                    self.own.insert(*id);
                    return of_lanes(&local.ty) && !local.by_ref && *id != self.var;
                }
                // an arm chooses between a new value and the old one
                let known = !self.out.arrays.insert(*id);
                (known || !arm) && self.element(p, &local.ty)
            }
            Base::State(id) => {
                self.out.fields.insert(*id);
                self.out.written.insert(*id);
                self.element(p, &self.kernel.state[id.index()].ty)
            }
            Base::Out(at) if !arm && p.path.is_empty() => {
                let Some(r) = row(at, self.var).filter(|r| r.stride == 1) else { return false };
                // what one row writes beyond its end is written again by those behind it
                let from = r.from + self.turn;
                let follows = self.out.given.is_none_or(|last| last < from);
                self.out.given = Some(from);
                follows && number(&self.kernel.output)
            }
            _ => false,
        }
    }

    fn value(&mut self, e: &Expr) -> bool {
        let ok = match &e.kind {
            ExprKind::Const(_) | ExprKind::Zero => true,
            ExprKind::Load(p) => return of_lanes(&e.ty) && self.load(p),
            ExprKind::Unary(..) | ExprKind::Select(..) => true,
            ExprKind::Convert(a) => !(a.ty == Ty::Float && e.ty == Ty::Int),
            // a lane that is nobody's might divide by 0
            ExprKind::Binary(BinaryOp::Rem, ..) => false,
            ExprKind::Binary(BinaryOp::Div, a, _) => a.ty != Ty::Int,
            ExprKind::Binary(..) => true,
            ExprKind::Builtin(b, _) => matches!(b, Builtin::Abs | Builtin::Min | Builtin::Max | Builtin::Sqrt),
            _ => false,
        };
        let mut all = ok && of_lanes(&e.ty);
        e.each_operand(&mut |x| all = all && self.value(x));
        all
    }

    fn load(&mut self, p: &Place) -> bool {
        match &p.base {
            Base::Local(id) if p.path.is_empty() => self.own.contains(id),
            Base::Local(id) => self.out.arrays.contains(id) && self.element(p, &self.f.locals[id.index()].ty),
            Base::State(id) => {
                self.out.fields.insert(*id);
                self.element(p, &self.kernel.state[id.index()].ty)
            }
            Base::Table(id) => {
                self.out.tables.insert(*id);
                self.element(p, &self.kernel.tables[id.index()].ty)
            }
            Base::In(at) if p.path.is_empty() => match row(at, self.var) {
                Some(r) if r.stride == 1 => {
                    self.out.read = self.out.read.max(Some(r.from + self.turn));
                    number(&self.kernel.input)
                }
                Some(_) => false,
                // the same for all
                None => at.as_int().is_some_and(|i| i >= 0),
            },
            _ => false,
        }
    }
}

fn number(ty: &Ty) -> bool {
    matches!(ty, Ty::Float | Ty::Int)
}

fn of_lanes(ty: &Ty) -> bool {
    number(ty) || *ty == Ty::Bool
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    /// A kernel of four branches; `;` ends a statement. `$0` and `$1` count, `$2` is an array of 4 floats, `$3` and `$4` are floats.
    fn found(body: &str) -> Option<Streams> {
        let text = format!(
            "kernel \"K\" \"K\"; float -> float work func0 peek 4 pop 4 push 8
state0 \"z\" float[4] = [0.0f, 0.0f, 0.0f, 0.0f]
state1 \"w\" float[3] = [0.0f, 0.0f, 0.0f]
state2 \"s\" float = 0.0f
table0 \"h\" float[4] = [0.5f, 0.25f, 0.125f, 1.0f]
func0 \"work\" (0) -> void; {{
local0 \"b\" int local1 \"c\" int local2 \"t\" float[4] local3 \"x\" float local4 \"y\" float
{body} }}
"
        );
        let kernel = parse(&text.replace(';', " @0:0-1")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        crate::verify::verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
        streams(&kernel)
    }

    const FIRST: &str = "for $0 = 0 < 4 step 1; { $3 = in($0); state0[$0] = ((table0[$0] * state0[$0]) + $3); $2[$0] = @min(state0[$0], 2f); out($0) = state0[$0]; }";
    const SECOND: &str = "for $1 = 0 < 4 step 1; { out((4 + $1)) = select(($2[$1] > in(0)), $2[$1], 0.5f); }";

    #[test]
    fn loops_over_branches_are_streams() {
        let s = found(&format!("{FIRST} {SECOND}")).unwrap();
        assert_eq!((s.count, s.read, s.given), (4, Some(0), Some(4)));
        let of = (s.fields.len(), s.written.len(), s.tables.len(), s.arrays.len());
        assert_eq!(of, (1, 1, 1, 1));
    }

    #[test]
    fn what_looks_at_others_is_none() {
        let all = format!("{FIRST} {SECOND}");
        for (from, to) in [
            ("+ $3)", "+ state0[(3 - $0)])"),
            ("in($0)", "in((3 - $0))"),
            ("in($0)", "in((2 * $0))"),
            ("$3 = in($0)", "$3 = in($0); state1[$0] = $3"),
            ("$3 = in($0)", "$3 = in($0); state2 = $3"),
            ("$3 = in($0)", "$3 = $4"),
            ("$1 = 0 < 4", "$1 = 0 < 3"),
            ("out((4 + $1))", "out(($1 + 5))"),
            ("out($0)", "out(($0 + 4))"),
            ("select(($2[$1] > in(0)), $2[$1], 0.5f)", "as<float>((7 / as<int>($2[$1])))"),
        ] {
            let changed = all.replacen(from, to, 1);
            assert_ne!(changed, all);
            assert_eq!(found(&changed), None, "{changed}");
        }
        // nothing waits: these are for lanes
        assert_eq!(
            found(&all.replace("state0[$0] = ((table0[$0] * state0[$0]) + $3)", "$4 = (table0[$0] * $3)")),
            None
        );
        // rows change places
        assert_eq!(
            found(&format!("{} {}", FIRST.replace("out($0)", "out(($0 + 4))"), SECOND.replace("(4 + $1)", "$1"))),
            None
        );
    }
}
