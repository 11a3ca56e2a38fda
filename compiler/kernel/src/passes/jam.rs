//! # jam
//!
//! Purpose: loops that turn equally often and need nothing of each other, as one loop: what they all read is read once, and their sums need not wait for
//! themselves. Input, output: any kernel after `lower_channels`.
//!
//! ```text
//! for $i = 0 < 64 { $s = ($s + (table0[$i] * in($i))) }  …  for $j = 0 < 64 { $t = ($t + (table1[$j] * in($j))) }
//!   →   for $i = 0 < 64 { $s = …  $t = ($t + (table1[$i] * in($i))) }
//! ```
//!
//! Statements of one list change places only where neither writes what the other reads or writes; no operation changes, and with them no bit. A list in
//! which something can stop the program, or be seen from outside before its end, is left as it is.
//!
//! Sums that take turns in one variable get one each ([`mod@super::names`]) where more loops become one then; of these only such as read an item together: of the products of two rows with
//! three columns, three share a row, and all that they need stays in registers. (Others gain nothing: with a variable each, fewer vectors go abreast in lanes.)

use super::clean::trip;
use super::names;
use super::unroll::jumps;
use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use std::collections::{BTreeMap, BTreeSet};

/// Loops that become one, at most: their sums should stay in registers.
const MOST: usize = 12;
/// Turns of a loop that is worth it.
const FEWEST: u64 = 4;
/// Statements of a list that is looked at.
const LONGEST: usize = 4000;

/// What a statement reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    Local(LocalId),
    State(StateId),
    Output,
}

/// Joins loops in all functions but that of the lanes.
pub fn run(kernel: &mut Kernel) {
    let lanes = kernel.lanes.as_ref().map(|l| l.function);
    for (i, f) in kernel.functions.iter_mut().enumerate() {
        if lanes != Some(FuncId::from(i)) {
            let mut body = std::mem::take(&mut f.body);
            walk::each_body_mut(&mut body, &mut |list| {
                if let Some(new) = list_joined(f, list) {
                    *list = new;
                }
            });
            f.body = body;
        }
    }
}

/// A list of the function joined, with as many variables as that takes.
fn list_joined(f: &mut Function, list: &[Stmt]) -> Option<Vec<Stmt>> {
    let as_it_is = joined(list);
    let before = f.locals.len();
    let loops: Vec<&For> = list
        .iter()
        .filter(|s| shape(s).is_some())
        .filter_map(|s| if let StmtKind::For(l) = &s.kind { Some(&**l) } else { None })
        .collect();
    if loops.len() < 2 || list.len() > LONGEST || !list.iter().all(quiet) {
        return as_it_is;
    }
    let renewed = names::renewed(f, list, &loops).and_then(|list| joined_by(&list, true));
    let count = |list: &[Stmt]| list.iter().filter(|s| matches!(s.kind, StmtKind::For(_))).count();
    match renewed {
        Some(new) if count(&new) < count(as_it_is.as_deref().unwrap_or(list)) => Some(new),
        _ => {
            f.locals.truncate(before);
            as_it_is
        }
    }
}

/// What a loop reads of the input and of arrays in each turn, by whatever variable it counts.
fn items(s: &Stmt) -> BTreeSet<String> {
    let StmtKind::For(l) = &s.kind else { return BTreeSet::new() };
    let mut body = l.body.clone();
    walk::each_local_mut(&mut body, &mut |id| {
        if *id == l.var {
            *id = LocalId(u32::MAX);
        }
    });
    let mut out = BTreeSet::new();
    walk::each_expr(&body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind
            && (matches!(p.base, Base::In(_))
                || matches!((&p.base, &p.path[..]), (Base::Local(_), [Proj::Index(_), ..])))
        {
            out.insert(format!("{p:?}"));
        }
    });
    out
}

/// Of loops that could be one, those that read an item together with the first of them.
fn together(list: &[Stmt], ready: &[usize]) -> Vec<usize> {
    let Some((first, others)) = ready.split_first() else { return Vec::new() };
    let mut common = items(&list[*first]);
    let mut group = vec![*first];
    for i in others {
        let both: BTreeSet<String> = common.intersection(&items(&list[*i])).cloned().collect();
        if !both.is_empty() {
            common = both;
            group.push(*i);
        }
    }
    group
}

/// What two loops must have in common to become one.
type Shape = (i32, i32, i32, BinaryOp, bool);

/// A loop's first value, end and step, and whether it is abreast, where it may be joined.
fn shape(s: &Stmt) -> Option<Shape> {
    let StmtKind::For(l) = &s.kind else { return None };
    let (from, to) = (l.from.as_int()?, l.to.as_int()?);
    (trip(l)?.0 >= FEWEST && !jumps(&l.body)).then_some((from, to, l.step, l.cmp, l.abreast))
}

/// The statements with their loops joined; `None` where no two can be.
pub(super) fn joined(list: &[Stmt]) -> Option<Vec<Stmt>> {
    joined_by(list, false)
}

/// The same; `shared`: only loops that read an item together.
fn joined_by(list: &[Stmt], shared: bool) -> Option<Vec<Stmt>> {
    let shapes: Vec<_> = list.iter().map(shape).collect();
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    shapes.iter().flatten().for_each(|(from, to, step, ..)| *counts.entry((from, to, step)).or_default() += 1);
    if list.len() > LONGEST || counts.values().all(|n| *n < 2) || !list.iter().all(quiet) {
        return None;
    }
    let needs = needs(list);
    let mut wanted_by: Vec<Vec<usize>> = vec![Vec::new(); list.len()];
    let mut waits: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    for (i, n) in needs.iter().enumerate() {
        n.iter().for_each(|j| wanted_by[*j].push(i));
    }
    let mut ready: BTreeSet<usize> = (0..list.len()).filter(|i| waits[*i] == 0).collect();
    let mut out = Vec::with_capacity(list.len());
    let mut joins = false;
    while let Some(first) = ready.first().copied() {
        // what is no loop comes as early as it can: loops behind it may be joined then
        let next = ready.iter().copied().find(|i| shapes[*i].is_none()).unwrap_or(first);
        let group: Vec<usize> = match shapes[next] {
            None => vec![next],
            Some(s) => {
                let all: Vec<usize> = ready.iter().copied().filter(|i| shapes[*i] == Some(s)).collect();
                let mut group = if shared { together(list, &all) } else { all };
                group.truncate(MOST);
                group
            }
        };
        for i in &group {
            ready.remove(i);
            for j in &wanted_by[*i] {
                waits[*j] -= 1;
                if waits[*j] == 0 {
                    ready.insert(*j);
                }
            }
        }
        joins |= group.len() > 1;
        join(list, &group, &mut out);
    }
    joins.then_some(out)
}

/// Loops as one, which turns by the variable of the first.
fn join(list: &[Stmt], group: &[usize], out: &mut Vec<Stmt>) {
    let (first, others) = group.split_first().map_or((0, group), |(f, o)| (*f, o));
    let StmtKind::For(l) = &list[first].kind else {
        out.push(list[first].clone());
        return;
    };
    let mut all = (**l).clone();
    let mut after = Vec::new();
    for i in others {
        let StmtKind::For(other) = &list[*i].kind else { continue };
        let mut body = other.body.clone();
        walk::each_local_mut(&mut body, &mut |id| {
            if *id == other.var {
                *id = all.var;
            }
        });
        all.body.extend(body);
        if let Some((_, last)) = trip(other) {
            after.push(StmtKind::Assign(Place::local(other.var), Expr::int(last)).at(list[*i].span));
        }
    }
    out.push(StmtKind::For(Box::new(all)).at(list[first].span));
    out.extend(after);
}

/// May the statement change places with others at all?
pub(super) fn quiet(s: &Stmt) -> bool {
    let own = matches!(s.kind, StmtKind::Assign(..) | StmtKind::If(..) | StmtKind::For(_) | StmtKind::Block(_));
    own && !jumps(std::slice::from_ref(s)) && s.kind.bodies().into_iter().flatten().all(quiet)
}

/// By statement, those before it that must stay there.
fn needs(list: &[Stmt]) -> Vec<BTreeSet<usize>> {
    let mut writer: BTreeMap<Thing, usize> = BTreeMap::new();
    let mut readers: BTreeMap<Thing, Vec<usize>> = BTreeMap::new();
    let mut out = Vec::with_capacity(list.len());
    for (i, s) in list.iter().enumerate() {
        let (reads, writes) = touched(s);
        let mut need = BTreeSet::new();
        for r in &reads {
            need.extend(writer.get(r));
        }
        for w in &writes {
            need.extend(writer.get(w));
            need.extend(readers.remove(w).into_iter().flatten());
            writer.insert(*w, i);
        }
        for r in reads {
            readers.entry(r).or_default().push(i);
        }
        need.remove(&i);
        out.push(need);
    }
    out
}

/// What a statement reads, and what it writes.
pub(super) fn touched(s: &Stmt) -> (BTreeSet<Thing>, BTreeSet<Thing>) {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    let thing = |p: &Place| match p.base {
        Base::Local(id) => Some(Thing::Local(id)),
        Base::State(id) => Some(Thing::State(id)),
        Base::Out(_) => Some(Thing::Output),
        _ => None,
    };
    let one = std::slice::from_ref(s);
    walk::each_expr(one, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            reads.extend(thing(p));
        }
    });
    walk::each_stmt(one, &mut |s| {
        writes.extend(s.kind.targets().into_iter().filter_map(thing));
        if let StmtKind::For(l) = &s.kind {
            writes.insert(Thing::Local(l.var));
        }
    });
    (reads, writes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn jammed(body: &str) -> String {
        let locals: String =
            (0..6).map(|i| format!("  local{i} \"x\" {}\n", if i < 3 { "int" } else { "float" })).collect();
        let text = format!(
            "kernel \"K\" \"K\" @0:0-1 float -> float work func0 peek 8 pop 1 push 2\nfunc0 \"work\" (0) -> void @0:0-1 {{\n{locals}{body}}}\n"
        );
        let mut kernel = text::parse(&text).unwrap();
        run(&mut kernel);
        crate::verify::verify(&kernel).unwrap();
        let text = text::print(&kernel);
        text[text.find("local5").unwrap() + 14..].replace("  ", "").replace(" @0:0-1", "")
    }

    #[test]
    fn sums_of_one_window_are_joined() {
        let got = jammed(
            "  $3 = 0f @0:0-1\n  for $0 = 0 < 8 step 1 @0:0-1 {\n    $3 = ($3 + in($0)) @0:0-1\n  }\n  $4 = 0f @0:0-1\n  for $1 = 0 < 8 step 1 @0:0-1 {\n    \
             $4 = ($4 + (2f * in($1))) @0:0-1\n  }\n  out(0) = ($3 + $4) @0:0-1\n  out(1) = $4 @0:0-1\n",
        );
        assert_eq!(got.matches("for ").count(), 1, "{got}");
        let (sum, use_) = (got.find("$4 = ($4").unwrap(), got.find("out(0)").unwrap());
        assert!(sum < use_, "{got}");
    }

    #[test]
    fn loops_that_need_each_other_stay_apart() {
        let got = jammed(
            "  $3 = 0f @0:0-1\n  for $0 = 0 < 8 step 1 @0:0-1 {\n    $3 = ($3 + in($0)) @0:0-1\n  }\n  $4 = 0f @0:0-1\n  for $1 = 0 < 8 step 1 @0:0-1 {\n    \
             $4 = ($4 + ($3 * in($1))) @0:0-1\n  }\n  out(0) = $4 @0:0-1\n  out(1) = $4 @0:0-1\n",
        );
        assert_eq!(got.matches("for ").count(), 2, "{got}");
    }

    /// Four sums in one variable, two of items of one row and two of another.
    const ROWS: &str = "  $3 = 0f @0:0-1\n  for $0 = 0 < 4 step 1 @0:0-1 {\n    $3 = ($3 + (in($0) * in(($0 + 9)))) @0:0-1\n  }\n  $4 = $3 @0:0-1\n  \
        $3 = 0f @0:0-1\n  for $0 = 0 < 4 step 1 @0:0-1 {\n    $3 = ($3 + (in(($0 + 1)) * in(($0 + 8)))) @0:0-1\n  }\n  $5 = $3 @0:0-1\n  \
        $3 = 0f @0:0-1\n  for $0 = 0 < 4 step 1 @0:0-1 {\n    $3 = ($3 + (in($0) * in(($0 + 7)))) @0:0-1\n  }\n  out(0) = ($3 + $4) @0:0-1\n  out(1) = ($3 + $5) @0:0-1\n";

    #[test]
    fn sums_that_take_turns_in_a_variable_get_one_each() {
        let got = jammed(ROWS);
        // the first and the third read a row together, the second neither with them
        assert_eq!(got.matches("for ").count(), 2, "{got}");
        let one = &got[got.find("for ").unwrap()..got.find('}').unwrap()];
        assert!(one.contains("in(($0 + 9))") || one.contains("+ 9))"), "{got}");
        assert!(one.contains("+ 7))") && !one.contains("+ 8))"), "{got}");
        // what is set last keeps its name
        assert!(got.contains("out(1) = ($3 + $5)"), "{got}");
    }

    #[test]
    fn what_reads_itself_is_not_set_anew() {
        let sums = ROWS.replace("$3 = 0f", "$3 = ($3 * 2f)");
        let got = jammed(&format!("  $3 = 1f @0:0-1\n{sums}"));
        assert_eq!(got.matches("for ").count(), 3, "{got}");
        // nor what an outer list sets, and a condition may not
        let sums = ROWS.replace("$3 = 0f @0:0-1", "if ($4 < $5) @0:0-1 {\n    $3 = 0f @0:0-1\n  }");
        let got = jammed(&format!("  $3 = 1f @0:0-1\n  $4 = in(0) @0:0-1\n  $5 = in(1) @0:0-1\n{sums}"));
        assert_eq!(got.matches("for ").count(), 3, "{got}");
    }
}
