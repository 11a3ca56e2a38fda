//! # scalars
//!
//! Purpose: arrays all of whose indices are known, as variables, one for each element. Input, output: any kernel after `lower_channels`.
//!
//! ```text
//! $a[0] = in(0)  $a[1] = in(1)  out(0) = ($a[0] + $a[1])   →   $b = in(0)  $c = in(1)  out(0) = ($b + $c)
//! ```
//!
//! Arrays of arrays are taken apart into rows, and these into elements.
//!
//! Invariant: an element is assigned before it is read, as the array was. An array that is assigned or read as a whole (but for a zero) stays.

use crate::ir::*;
use crate::walk;
use sluice_frontend::ids::LocalId;
use std::collections::BTreeMap;

/// The longest array that is taken apart.
const LONGEST: u32 = 4096;

/// Takes the arrays of all functions apart.
pub fn run(kernel: &mut Kernel) {
    let lanes = kernel.lanes.as_ref().map(|l| l.function);
    for (i, f) in kernel.functions.iter_mut().enumerate() {
        // rows of what was taken apart are arrays themselves
        let apart = lanes != Some(FuncId::from(i));
        while apart && function(f) {}
    }
}

/// Takes apart what can be; was there anything?
fn function(f: &mut Function) -> bool {
    let mut whole: Vec<bool> =
        f.locals.iter().map(|l| l.by_ref || l.ty.known_len().is_none_or(|n| n > LONGEST)).collect();
    whole[..f.params as usize].fill(true);
    let index = |p: &Place, locals: &[Local]| match (&p.base, p.path.first()) {
        (Base::Local(id), Some(Proj::Index(e))) => e
            .as_int()
            .filter(|i| *i >= 0 && (*i as u32) < locals[id.index()].ty.known_len().unwrap_or(0))
            .map(|i| i as u32),
        _ => None,
    };
    let mut used: BTreeMap<(LocalId, u32), Option<LocalId>> = BTreeMap::new();
    let mut look = |p: &Place| {
        if let Base::Local(id) = p.base
            && !whole[id.index()]
        {
            match index(p, &f.locals) {
                Some(i) => drop(used.insert((id, i), None)),
                None => whole[id.index()] = true,
            }
        }
    };
    walk::each_stmt(&f.body, &mut |s| {
        for p in s.kind.targets() {
            let zeroed = matches!(&s.kind, StmtKind::Assign(_, e) if e.kind == ExprKind::Zero) && p.path.is_empty();
            if !zeroed {
                look(p);
            }
        }
    });
    walk::each_expr(&f.body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            look(p);
        }
    });
    let names: Vec<(LocalId, u32)> = used.keys().filter(|(id, _)| !whole[id.index()]).copied().collect();
    used.clear();
    for (id, i) in names {
        let Some(ty) = f.locals[id.index()].ty.element().cloned() else { continue };
        let name = f.locals[id.index()].name.clone();
        f.locals.push(Local { name, ty, by_ref: false });
        used.insert((id, i), Some(LocalId::from(f.locals.len() - 1)));
    }
    if used.is_empty() {
        return false;
    }
    let apart = |id: LocalId| !whole.get(id.index()).copied().unwrap_or(true);
    // zeros first: their places have no index
    walk::each_body_mut(&mut f.body, &mut |list| {
        let mut i = 0;
        while i < list.len() {
            let StmtKind::Assign(Place { base: Base::Local(id), path }, _) = &list[i].kind else {
                i += 1;
                continue;
            };
            if !apart(*id) || !path.is_empty() || f.locals[id.index()].ty.known_len().is_none() {
                i += 1;
                continue;
            }
            let span = list[i].span;
            let elements = used.range((*id, 0)..=(*id, u32::MAX)).filter_map(|(_, e)| *e);
            let zeros: Vec<Stmt> = elements
                .map(|e| StmtKind::Assign(Place::local(e), Expr::zero(f.locals[e.index()].ty.clone())).at(span))
                .collect();
            let n = zeros.len();
            list.splice(i..=i, zeros);
            i += n;
        }
    });
    walk::each_place_mut(&mut f.body, &mut |p| {
        if let (Base::Local(id), Some(Proj::Index(e))) = (&p.base, p.path.first())
            && let Some(i) = e.as_int()
            && let Some(Some(element)) = used.get(&(*id, i as u32))
        {
            p.base = Base::Local(*element);
            p.path.remove(0);
        }
    });
    true
}

#[cfg(test)]
mod tests {
    use crate::text::{parse, print};
    use crate::verify::verify;

    #[test]
    fn rows_are_taken_apart_like_others() {
        let text = "kernel \"K\" \"K\" @0:0-1 float -> float work func0 peek 2 pop 2 push 2
func0 \"work\" (0) -> void @0:0-1 {
local0 \"m\" float[2][2] local1 \"r\" float[2][2]
$0 = zero<float[2][2]> @0:0-1 $0[0][1] = in(0) @0:0-1 $0[1][0] = $0[0][1] @0:0-1 out(0) = ($0[1][0] + $0[1][1]) @0:0-1
$1[0][1] = in(0) @0:0-1 $1[1] = $1[0] @0:0-1 out(1) = $1[1][1] @0:0-1 }
";
        let mut kernel = parse(text).unwrap();
        verify(&kernel).unwrap();
        super::run(&mut kernel);
        verify(&kernel).unwrap();
        let text = print(&kernel).replace(" @0:0-1", "");
        assert!(!text.contains("$0") && text.matches("zero<float>").count() == 3, "{text}");
        // what is moved as a whole is an array
        let rows = kernel.functions[0].locals.iter().filter(|l| l.ty.element().is_some()).count();
        assert!(text.contains("[1] = in(0)") && rows >= 2, "{text}");
    }
}
