//! # rings
//!
//! Purpose: firings over rings go in runs in which no place goes back to its beginning, so that a C compiler makes vectors of them. Input: a kernel, for C. Output: its [`Ring`]s; the kernel stays as it is.
//!
//! ```text
//! $0 = state0[state1]  state0[state1] = (in(0) + (0.7f * $0))  state1 = (state1 + 1)  if (state1 == 1116) { state1 = 0 }  out(0) = $0
//!   →   run = min(n, 1116 - at);  for (firing = 0; firing < run; firing++) { y = line[at + firing]; line[at + firing] = in[0] + 0.7f * y; out[0] = y; }
//! ```
//!
//! What must hold: a place is asked for nothing but elements, grows by one in each firing, and goes back to 0 at its length; nothing looks at it between that and the end of the firing. Nothing else goes from
//! one firing to the next but elements of arrays at such places. A run begins where all places lie within their lengths (else firings go one by one), and so no index within it needs a check.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ty::Ty;
use std::collections::BTreeSet;

/// Statements of a firing, at most: they are in the text twice.
const LARGEST: usize = 100;
/// Places, at most.
const MOST: usize = 16;
/// Elements of a ring, at least: a run should be several vectors.
const SHORTEST: i32 = 64;

/// A place in a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The field that it is.
    pub place: StateId,
    /// Elements: it is at most one less.
    pub length: i32,
}

/// What a firing over rings is.
#[derive(Clone, Debug, PartialEq)]
pub struct Rings {
    /// The places.
    pub all: Vec<Ring>,
    /// The firing, without what moves them, and without checks of them.
    pub body: Vec<Stmt>,
}

/// The rings of a kernel, where its firings wait for one another by nothing else.
pub fn rings(kernel: &Kernel) -> Option<Rings> {
    let plain = kernel.lanes.is_none() && kernel.steps.is_none() && kernel.work.dynamic.is_none();
    let f = kernel.function(kernel.work.function);
    if !plain || !kernel.tapes.is_empty() || kernel.uses_iter() || f.body.len() > LARGEST {
        return None;
    }
    let mut found = Rings { all: Vec::new(), body: Vec::new() };
    let mut moved: BTreeSet<StateId> = BTreeSet::new();
    let mut at = 0;
    while at < f.body.len() {
        if let Some((place, length, statements)) = moves(f, &f.body[at..]) {
            if !moved.insert(place) || length < SHORTEST || found.all.len() == MOST {
                return None;
            }
            found.all.push(Ring { place, length });
            at += statements;
            continue;
        }
        let s = &f.body[at];
        at += 1;
        match &s.kind {
            StmtKind::Assign(..) => {}
            StmtKind::Check(Check::Index { .. }) => {}
            _ => return None,
        }
        // a place that has moved is not looked at again
        if mentions(s, &|id| moved.contains(&id)) {
            return None;
        }
        found.body.push(s.clone());
    }
    if found.all.is_empty() {
        return None;
    }
    let length = |e: &Expr| place(e).and_then(|id| found.all.iter().find(|r| r.place == id)).map(|r| r.length);
    let mut looked = BTreeSet::new();
    for s in &found.body {
        let StmtKind::Assign(p, e) = &s.kind else { continue };
        if let Base::State(_) = p.base
            && !matches!(&p.path[..], [Proj::Index(i)] if length(i).is_some())
        {
            return None;
        }
        let (mut right, mut all) = (true, 0usize);
        let mut element = |p: &Place| {
            if let (Base::State(id), [Proj::Index(i)]) = (&p.base, &p.path[..])
                && let (Some(n), Some(own)) = (length(i), place(i))
            {
                let ty = &kernel.state[id.index()].ty;
                right &= ty.known_len().is_some_and(|len| i64::from(len) >= i64::from(n));
                looked.insert(own);
                all += 1;
            }
        };
        element(p);
        e.walk(&mut |e| {
            if let ExprKind::Load(p) = &e.kind {
                element(p);
            }
        });
        // it is asked for elements, and for nothing else
        let mut asked = 0;
        p.each_expr(&mut |e| e.walk(&mut |e| asked += usize::from(length(e).is_some())));
        e.walk(&mut |e| asked += usize::from(length(e).is_some()));
        if !right || asked != all || !numbers(p, e) {
            return None;
        }
    }
    found.body.retain(|s| !matches!(&s.kind, StmtKind::Check(Check::Index { index, length: n }) if length(index).is_some_and(|of| of as u32 <= *n)));
    let rest = found.body.iter().all(|s| matches!(s.kind, StmtKind::Assign(..)));
    (rest && looked.len() == found.all.len()).then_some(found)
}

/// The field that is loaded as a whole.
fn place(e: &Expr) -> Option<StateId> {
    match &e.kind {
        ExprKind::Load(Place { base: Base::State(id), path }) if path.is_empty() => Some(*id),
        _ => None,
    }
}

/// Are what is assigned, and all that it is made of, numbers and truths?
fn numbers(p: &Place, e: &Expr) -> bool {
    let mut all = !matches!(&p.base, Base::Local(_) if !p.path.is_empty());
    e.walk(&mut |e| all &= matches!(e.ty, Ty::Int | Ty::Float | Ty::Double | Ty::Bool));
    all
}

fn mentions(s: &Stmt, of: &dyn Fn(StateId) -> bool) -> bool {
    let mut found = s.kind.targets().iter().any(|p| matches!(p.base, Base::State(id) if of(id)));
    walk::each_expr(std::slice::from_ref(s), &mut |e| {
        if let ExprKind::Load(Place { base: Base::State(id), .. }) = &e.kind {
            found |= of(*id);
        }
    });
    found
}

/// Statements at the beginning of a list that move a place on: which, its length, and how many they are.
fn moves(f: &Function, list: &[Stmt]) -> Option<(StateId, i32, usize)> {
    let assigned = |s: &Stmt| if let StmtKind::Assign(p, e) = &s.kind { Some((p.clone(), e.clone())) } else { None };
    let (p, e) = assigned(list.first()?)?;
    if let (Some(local), Some(from)) = (p.as_local(), next(&e)) {
        // $2 = (state1 + 1)  state1 = $2  if ($2 == 1024) { state1 = 0 }
        let (q, value) = assigned(list.get(1)?)?;
        let of = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(local));
        let alone = walk::uses(&f.body, local) == walk::uses(&list[..3.min(list.len())], local);
        let length = back(list.get(2)?, from, &|e| of(e) || place(e) == Some(from))?;
        return (q == Place::state(from) && of(&value) && alone).then_some((from, length, 3));
    }
    let Base::State(id) = p.base else { return None };
    if !p.path.is_empty() {
        return None;
    }
    if next(&e) == Some(id) {
        // state1 = (state1 + 1)  if (state1 == 1116) { state1 = 0 }
        return Some((id, back(list.get(1)?, id, &|e| place(e) == Some(id))?, 2));
    }
    let length = match &e.kind {
        ExprKind::Binary(BinaryOp::BitAnd, a, b) if next(a) == Some(id) => {
            b.as_int().and_then(|m| m.checked_add(1)).filter(|n| n.count_ones() == 1)
        }
        ExprKind::Binary(BinaryOp::Rem, a, b) if next(a) == Some(id) => b.as_int().filter(|n| *n > 0),
        // select(((state1 + 1) >= 225), (state1 + -224), (state1 + 1))
        ExprKind::Select(c, yes, no) if next(no) == Some(id) => {
            let length = reaches(c, &|e| next(e) == Some(id));
            length.filter(|n| {
                let less = |e: &Expr| match &e.kind {
                    ExprKind::Binary(BinaryOp::Add, a, b) => place(a) == Some(id) && b.as_int() == Some(1 - *n),
                    ExprKind::Binary(BinaryOp::Sub, a, b) => next(a) == Some(id) && b.as_int() == Some(*n),
                    _ => e.as_int() == Some(0),
                };
                less(yes)
            })
        }
        _ => None,
    }?;
    Some((id, length, 1))
}

/// The field that something is one more than.
fn next(e: &Expr) -> Option<StateId> {
    match &e.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) if b.as_int() == Some(1) => place(a),
        _ => None,
    }
}

/// `if (… == 1116) { state1 = 0 }`: the length.
fn back(s: &Stmt, id: StateId, is: &dyn Fn(&Expr) -> bool) -> Option<i32> {
    let StmtKind::If(c, yes, no) = &s.kind else { return None };
    let to_zero = matches!(&yes[..], [Stmt { kind: StmtKind::Assign(p, e), .. }] if *p == Place::state(id) && e.as_int() == Some(0));
    if to_zero && no.is_empty() { reaches(c, is) } else { None }
}

/// At which value a condition on something that grows by one becomes true.
fn reaches(c: &Expr, is: &dyn Fn(&Expr) -> bool) -> Option<i32> {
    let ExprKind::Binary(op, a, b) = &c.kind else { return None };
    if !is(a) {
        return None;
    }
    match op {
        BinaryOp::Eq | BinaryOp::Ge => b.as_int(),
        BinaryOp::Gt => b.as_int()?.checked_add(1),
        _ => None,
    }
    .filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    /// A kernel with a line of 200 elements (state0), a place (state1), another place (state2) and a float (state3); `;` ends a statement. `$0` is a float, `$1` an int.
    fn found(body: &str) -> Option<Vec<(u32, i32)>> {
        let zeros = vec!["0.0f"; 200].join(", ");
        let text = format!(
            "kernel \"K\" \"K\"; float -> float work func0 peek 1 pop 1 push 1
state0 \"line\" float[200] = [{zeros}]
state1 \"at\" int = 0
state2 \"to\" int = 3
state3 \"y\" float = 0.0f
func0 \"work\" (0) -> void; {{
local0 \"y\" float local1 \"i\" int
{body} }}
"
        );
        let kernel = parse(&text.replace(';', " @0:0-1")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        crate::verify::verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
        rings(&kernel).map(|r| r.all.iter().map(|r| (r.place.0, r.length)).collect())
    }

    const COMB: &str = "$0 = state0[state1]; state0[state1] = (in(0) + (0.5f * $0)); MOVE out(0) = $0;";

    #[test]
    fn places_that_go_round_are_found() {
        for (how, length) in [
            ("state1 = (state1 + 1); if (state1 == 200); { state1 = 0; }", 200),
            ("state1 = (state1 + 1); if (state1 >= 150); { state1 = 0; }", 150),
            ("state1 = (state1 + 1); if (state1 > 149); { state1 = 0; }", 150),
            ("$1 = (state1 + 1); state1 = $1; if ($1 == 100); { state1 = 0; }", 100),
            ("state1 = ((state1 + 1) & 127);", 128),
            ("state1 = ((state1 + 1) % 199);", 199),
            ("state1 = select(((state1 + 1) >= 180), (state1 + -179), (state1 + 1));", 180),
            ("state1 = select(((state1 + 1) == 180), 0, (state1 + 1));", 180),
        ] {
            let body = COMB.replace("MOVE", how);
            assert_eq!(found(&body), Some(vec![(1, length)]), "{body}");
            let checked = format!("check index state1 200; {body}");
            assert_eq!(found(&checked), Some(vec![(1, length)]), "{checked}");
        }
        // one that reads and one that writes
        let two = "$0 = state0[state1]; state0[state2] = (in(0) + (0.5f * $0)); state1 = ((state1 + 1) % 150); state2 = ((state2 + 1) % 150); out(0) = $0;";
        assert_eq!(found(two), Some(vec![(1, 150), (2, 150)]));
    }

    #[test]
    fn others_are_none() {
        let moved = "state1 = ((state1 + 1) % 150);";
        for (body, how) in [
            // it goes on by two, or to one; or farther than the line
            (COMB, "state1 = ((state1 + 2) % 150);"),
            (COMB, "state1 = (state1 + 1); if (state1 == 150); { state1 = 1; }"),
            (COMB, "state1 = (state1 + 1); if (state1 != 150); { state1 = 0; }"),
            (COMB, "state1 = select(((state1 + 1) >= 180), (state1 + -178), (state1 + 1));"),
            (COMB, "state1 = ((state1 + 1) & 126);"),
            (COMB, "state1 = ((state1 + 1) % 201);"),
            // too short for vectors
            (COMB, "state1 = ((state1 + 1) % 20);"),
            // its number is an item, what it looks at comes after it has moved, something else waits
            ("$0 = state0[state1]; state0[state1] = in(0); MOVE out(0) = as<float>(state1);", moved),
            ("$0 = (as<float>(state1) + state0[state1]); state0[state1] = in(0); MOVE out(0) = $0;", moved),
            ("MOVE $0 = state0[state1]; out(0) = $0;", moved),
            ("state3 = (state3 + state0[state1]); state0[state1] = in(0); MOVE out(0) = state3;", moved),
            ("$0 = state0[5]; state0[5] = in(0); MOVE out(0) = $0;", moved),
            ("$0 = state0[state1]; state0[state2] = in(0); MOVE state2 = (state2 + 1); out(0) = $0;", moved),
            // a check of something else
            (
                "check index state2 200; $0 = state0[state1]; state0[state1] = (in(0) + state0[state2]); MOVE out(0) = $0;",
                moved,
            ),
        ] {
            let body = body.replace("MOVE", how);
            assert_eq!(found(&body), None, "{body}");
        }
    }
}
