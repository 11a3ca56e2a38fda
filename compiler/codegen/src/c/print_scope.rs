//! # print-scope
//!
//! Purpose: where a variable is declared in C: as deep inside as its uses allow. Input: a function. Output: for each list of
//! statements the variables declared at its top, and for each statement the variable it declares by assigning it.
//!
//! A variable is declared in the innermost list of statements that holds all its uses; by its first assignment where that is a
//! statement of the list itself. A variable whose first use in that list is something else, or that the list only assigns in part,
//! is declared at the top of the function, since a loop around the list might carry its value from turn to turn.

use sluice_frontend::ids::LocalId;
use sluice_kernel::ir::*;
use std::collections::{BTreeMap, BTreeSet};

/// The address of a statement or of a list's first statement: both live as long as the function.
type Address = usize;

/// Where the variables of a function are declared.
#[derive(Default)]
pub(super) struct Scopes {
    /// Variables declared at the top of a list.
    top: BTreeMap<Address, Vec<LocalId>>,
    /// The statement that declares a variable.
    by: BTreeMap<LocalId, Address>,
}

/// A list of statements, by the statements around it from the outside in.
type Path = Vec<(Address, usize)>;

impl Scopes {
    /// Of a function's locals; parameters are declared by the function.
    pub(super) fn of(f: &Function) -> Scopes {
        let (mut uses, mut lists) = (BTreeMap::new(), BTreeMap::new());
        collect(&f.body, &mut Vec::new(), &mut uses, &mut lists);
        let mut out = Scopes::default();
        for (id, paths) in uses {
            if id.0 < f.params {
                continue;
            }
            let common = paths.iter().skip(1).fold(paths[0].clone(), |a, b| {
                a.iter().zip(b).take_while(|(x, y)| x.0 == y.0).map(|(x, _)| *x).collect()
            });
            match common.last().and_then(|(at, _)| lists.get(at)).and_then(|list| declaring(list, id)) {
                Some(s) => {
                    out.by.insert(id, s);
                }
                None => out.top.entry(address(&f.body)).or_default().push(id),
            }
        }
        out
    }

    pub(super) fn declared_at_top(&self, body: &[Stmt]) -> Vec<LocalId> {
        if body.is_empty() { Vec::new() } else { self.top.get(&address(body)).cloned().unwrap_or_default() }
    }

    /// A variable that is declared already, and not assigned here.
    pub(super) fn given(&mut self, id: LocalId) {
        self.top.values_mut().for_each(|all| all.retain(|other| *other != id));
    }

    pub(super) fn declares(&self, s: &Stmt, id: LocalId) -> bool {
        self.by.get(&id) == Some(&(std::ptr::from_ref(s) as Address))
    }
}

fn address(body: &[Stmt]) -> Address {
    body.as_ptr() as Address
}

/// A list of statements, and by local which of them mentions it first, and how many do (with what is inside them).
struct List<'f> {
    body: &'f [Stmt],
    mentions: BTreeMap<LocalId, (usize, u32)>,
}

/// The paths of the lists in which each local occurs, and all lists by their addresses; gives the locals of this one.
fn collect<'f>(
    body: &'f [Stmt],
    path: &mut Path,
    uses: &mut BTreeMap<LocalId, Vec<Path>>,
    lists: &mut BTreeMap<Address, List<'f>>,
) -> BTreeSet<LocalId> {
    path.push((address(body), 0));
    let mut mentions: BTreeMap<LocalId, (usize, u32)> = BTreeMap::new();
    for (i, s) in body.iter().enumerate() {
        let mut here = BTreeSet::new();
        own_locals(s, &mut here);
        for id in &here {
            let list = uses.entry(*id).or_default();
            // two different lists are enough to find what they have in common; more are harmless but many
            if list.last() != Some(path) {
                list.push(path.clone());
            }
        }
        for b in s.kind.bodies() {
            here.append(&mut collect(b, path, uses, lists));
        }
        for id in here {
            mentions.entry(id).or_insert((i, 0)).1 += 1;
        }
    }
    path.pop();
    let all = mentions.keys().copied().collect();
    if !body.is_empty() {
        lists.insert(address(body), List { body, mentions });
    }
    all
}

/// The locals that a statement itself mentions.
fn own_locals(s: &Stmt, out: &mut BTreeSet<LocalId>) {
    for p in s.kind.targets() {
        if let Base::Local(id) = p.base {
            out.insert(id);
        }
    }
    if let StmtKind::For(l) = &s.kind {
        out.insert(l.var);
    }
    s.kind.each_own_expr(&mut |e| {
        e.walk(&mut |e| {
            if let ExprKind::Load(Place { base: Base::Local(id), .. }) = e.kind {
                out.insert(id);
            }
        });
    });
}

/// The statement of the list that can declare the local: the first that mentions it, where that assigns all of it.
fn declaring(list: &List<'_>, id: LocalId) -> Option<Address> {
    let (first, count) = list.mentions.get(&id)?;
    let first = list.body.get(*first)?;
    let mut own = BTreeSet::new();
    let ok = match &first.kind {
        StmtKind::Assign(p, e) if p.as_local() == Some(id) => {
            e.walk(&mut |e| {
                if let ExprKind::Load(Place { base: Base::Local(x), .. }) = e.kind {
                    own.insert(x);
                }
            });
            !own.contains(&id)
        }
        StmtKind::Call { dst: Some(p), args, .. } if p.as_local() == Some(id) => {
            let call = StmtKind::Call { dst: None, callee: Callee::Native(0), args: args.clone() }.at(first.span);
            own_locals(&call, &mut own);
            !own.contains(&id)
        }
        StmtKind::For(l) if l.var == id => {
            *count == 1 && ![&l.from, &l.to].into_iter().any(|e| e.any(&mut |e| reads(e, id)))
        }
        _ => false,
    };
    ok.then_some(std::ptr::from_ref(first) as Address)
}

fn reads(e: &Expr, id: LocalId) -> bool {
    matches!(&e.kind, ExprKind::Load(Place { base: Base::Local(x), .. }) if *x == id)
}
