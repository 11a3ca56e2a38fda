//! Which loops are unrolled, and how far: by their size, their jumps, and what their turns need of each other.

use super::along::{LONG, along};
use crate::ir::*;
use crate::passes::clean::trip;
use crate::passes::pack_bits::packed;
use crate::passes::turns_abreast;
use crate::walk;

/// Which loops are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Loops of so many turns, at most, are written out wholly.
    pub turns: u64,
    /// The most statements and operations that a loop may become.
    pub size: usize,
    /// Only loops whose turns need values of the turn before. (The C compiler makes vectors of the others.)
    pub recurrences: bool,
    /// Only loops that index an array (a variable of the function, or state) that the function writes.
    pub arrays: bool,
    /// Statements and operations of a turn, at most, where a loop stays within it: with what that does, its time is in the loop, and more of the same text
    /// only has to be fetched. Where something may be shown of what is checked, a turn may be larger.
    pub around: usize,
    /// Turns to a turn of the other innermost loops; 1 leaves them as they are.
    pub factor: u32,
}

impl Rule {
    /// All that is short, four to a turn of the rest.
    pub const ALL: Rule =
        Rule { turns: 64, size: 1024, recurrences: false, arrays: false, around: usize::MAX, factor: 4 };

    /// What measures faster than without.
    pub const AUTO: Rule =
        Rule { turns: 256, size: 4096, recurrences: true, arrays: true, around: usize::MAX, factor: 1 };
}

/// How many turns of a loop become one: all of them, or a factor; `None` where it stays as it is. `written` is what [`written_arrays`] gives.
pub fn turns(l: &For, written: &[Base], rule: Rule) -> Option<u64> {
    whole(l, written, rule).or_else(|| several(l, rule))
}

/// Statements and operations.
pub fn size(body: &[Stmt]) -> usize {
    let mut n = 0;
    walk::each_stmt(body, &mut |s| {
        n += 1;
        s.kind.each_own_expr(&mut |e| n += e.size());
    });
    n
}

/// The same where all loops of constant bounds were written out.
pub fn written_out_size(body: &[Stmt]) -> u64 {
    let one = |s: &Stmt| {
        let mut own = 1u64;
        s.kind.each_own_expr(&mut |e| own += e.size() as u64);
        let times = match &s.kind {
            StmtKind::For(l) => trip(l).map_or(1, |(n, _)| n),
            _ => 1,
        };
        let inner = s.kind.bodies().into_iter().fold(0u64, |sum, b| sum.saturating_add(written_out_size(b)));
        own.saturating_add(inner.saturating_mul(times))
    };
    body.iter().map(one).fold(0, u64::saturating_add)
}

pub(super) fn whole(l: &For, written: &[Base], rule: Rule) -> Option<u64> {
    let (n, _) = trip(l).filter(|(n, _)| *n <= rule.turns && !compares(l))?;
    let fits = size(&l.body).saturating_mul(n as usize) <= rule.size;
    // a break must leave what is no longer there
    let wanted = fits
        && !(rule.recurrences && along(l).is_some_and(|a| a.count >= LONG))
        && !walk::breaks(&l.body, 0)
        && !(l.body.iter().any(has_loop) && size(&l.body) > rule.around && !checks(&l.body))
        && (!rule.arrays || indexes_any(l, written))
        && (!rule.recurrences || carries(&l.body));
    wanted.then_some(n)
}

pub(super) fn several(l: &For, rule: Rule) -> Option<u64> {
    if compares(l) {
        return None;
    }
    let innermost = !l.body.iter().any(has_loop);
    let n = u64::from(rule.factor);
    let counted = match trip(l) {
        Some((turns, _)) => turns >= 2 * n,
        None => l.step == 1 && l.cmp == BinaryOp::Lt && l.from.as_int().zip(l.to.as_int()).is_none(),
    };
    let fits = size(&l.body).saturating_mul(n as usize) <= rule.size;
    (n > 1 && innermost && counted && fits && !jumps(&l.body)).then_some(n)
}

/// Is the loop a comparison of many at once?
fn compares(l: &For) -> bool {
    packed(l).is_some_and(|p| p.compared)
}

/// The turns of a loop of loops, where they can be written out.
pub fn turns_with_loops(l: &For) -> Option<u64> {
    let plain = l.body.iter().any(has_loop) && !walk::breaks(&l.body, 0);
    trip(l).map(|(n, _)| n).filter(|_| plain)
}

fn has_loop(s: &Stmt) -> bool {
    matches!(s.kind, StmtKind::For(_) | StmtKind::Loop(_)) || s.kind.bodies().iter().any(|b| b.iter().any(has_loop))
}

fn checks(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| found |= matches!(s.kind, StmtKind::Check(_)));
    found
}

/// Does anything jump?
pub fn jumps(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| {
        found |= matches!(s.kind, StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(_));
    });
    found
}

/// The arrays that a function writes an element of; not those that vectors of turns are stored to, which stay in memory.
pub fn written_arrays(f: &Function) -> Vec<Base> {
    let (mut out, mut stored) = (Vec::new(), Vec::new());
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind
            && turns_abreast::stays(f, s)
        {
            stored.extend(l.body.iter().flat_map(|s| s.kind.targets()).map(|p| &p.base));
        }
    });
    walk::each_stmt(&f.body, &mut |s| {
        for p in s.kind.targets() {
            let own = match p.base {
                Base::Local(id) => !f.locals[id.index()].by_ref,
                Base::State(_) => true,
                _ => false,
            };
            if own
                && matches!(p.path.first(), Some(Proj::Index(_)))
                && !stored.contains(&&p.base)
                && !out.contains(&p.base)
            {
                out.push(p.base.clone());
            }
        }
    });
    out
}

/// Does the body index one of the arrays with what depends on the loop's variable?
fn indexes_any(l: &For, arrays: &[Base]) -> bool {
    let mut found = false;
    let mut look = |p: &Place| {
        let steps = p.path.iter().any(|step| match step {
            Proj::Index(e) => e.any(&mut |e| matches!(&e.kind, ExprKind::Load(q) if q.as_local() == Some(l.var))),
            _ => false,
        });
        found |= steps && arrays.contains(&p.base);
    };
    walk::each_stmt(&l.body, &mut |s| s.kind.targets().into_iter().for_each(&mut look));
    walk::each_expr(&l.body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            look(p);
        }
    });
    found
}

/// Does a turn need what the turn before left: in a variable that is read before it is written, or in an array of which another element is
/// written than is read?
fn carries(body: &[Stmt]) -> bool {
    let mut targets: Vec<&Place> = Vec::new();
    walk::each_stmt(body, &mut |s| targets.extend(s.kind.targets()));
    let mut found = false;
    walk::each_expr(body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            // what is written as a whole is looked at below
            found |= targets.iter().any(|t| t.base == p.base && !t.path.is_empty() && t.path != p.path);
        }
    });
    let mut written = Vec::new();
    found || reads_first(body, &mut written, &|base| targets.iter().any(|t| t.base == *base && t.path.is_empty()))
}

/// Does the body read a variable of those that `changes` names before it has certainly written it?
fn reads_first(body: &[Stmt], written: &mut Vec<Base>, changes: &dyn Fn(&Base) -> bool) -> bool {
    for s in body {
        let mut found = false;
        s.kind.each_own_expr(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Load(p) = &e.kind {
                    found |= changes(&p.base) && !written.contains(&p.base);
                }
            })
        });
        if found {
            return true;
        }
        for b in s.kind.bodies() {
            // what is written in it may not be
            if reads_first(b, &mut written.clone(), changes) {
                return true;
            }
        }
        written.extend(s.kind.targets().into_iter().filter(|p| p.path.is_empty()).map(|p| p.base.clone()));
    }
    false
}
