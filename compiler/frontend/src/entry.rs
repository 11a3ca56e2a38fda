//! The program's entry: the one stream that no other adds.

use crate::ids::DeclId;
use crate::world::World;
use sluice_grammar::ast::{self, BaseType, StmtKind as S, StreamBody};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::{FileId, Span};
use std::collections::{HashMap, HashSet};

/// Finds the entry, or reports why there is none. `top` is the name given on the command line.
pub fn entry(w: &mut World, top: Option<&str>) -> Option<DeclId> {
    let nowhere = Span::new(FileId(0), 0, 0);
    if let Some(name) = top {
        let Some(id) = w.streams.get(name).copied() else {
            let mut d = Diagnostic::error(
                "E0113",
                format!("there is no stream `{name}` to start with"),
                nowhere,
                "asked for with --top",
            );
            let users = w.decls.iter().filter(|d| !d.shipped).map(|d| &*d.name);
            if let Some(n) = w.nearest(name, users) {
                d = d.help(format!("did you mean `{n}`?"));
            }
            w.report(d);
            return None;
        };
        let ast = w.decl(id).ast.clone();
        if !ast.params.is_empty() {
            w.report(
                Diagnostic::error(
                    "E0113",
                    format!("`{name}` cannot be the entry: it has parameters"),
                    ast.header.0,
                    "nobody gives them values",
                )
                .help("add a stream without parameters that adds this one"),
            );
            return None;
        }
        return Some(id);
    }
    let free = free(w);
    let closed = closed(w);
    let candidates = if closed.is_empty() { &free } else { &closed };
    match candidates[..] {
        [one] => Some(one),
        [] => {
            let mut d = Diagnostic::error("E0111", "the program has no entry", nowhere, "no stream here can be started")
                .help("the entry is the `void->void` stream without parameters that no other stream adds; `--top NAME` names one");
            for decl in w.decls.iter().filter(|d| !d.shipped && d.parent.is_none()).take(6) {
                let why = if !decl.ast.params.is_empty() { "has parameters" } else { "is added by another stream" };
                d = d.label(decl.ast.header.0, format!("`{}` {why}", decl.name));
            }
            w.report(d);
            None
        }
        _ => {
            let first = w.decl(candidates[0]).ast.header.0;
            let mut d = Diagnostic::error(
                "E0112",
                "the program has more than one entry",
                first,
                format!("`{}` could be it", w.decl(candidates[0]).name),
            )
            .help("`--top NAME` names the one to use; or add the others somewhere");
            for id in candidates.iter().skip(1).take(8) {
                let decl = w.decl(*id);
                d = d.label(decl.ast.header.0, format!("`{}` could be it, too", decl.name));
            }
            w.report(d);
            None
        }
    }
}

/// The user's streams that could be the entry: without parameters, and added by no other.
fn free(w: &World) -> Vec<DeclId> {
    let mut added: HashSet<String> = HashSet::new();
    for d in &w.decls {
        if d.shipped {
            continue;
        }
        if let StreamBody::Composite(b) = &d.ast.body {
            let mut names = HashSet::new();
            b.stmts.iter().for_each(|s| names_added(s, &mut names));
            names.remove(&*d.name);
            added.extend(names);
        }
    }
    (0..w.decls.len())
        .map(DeclId::from)
        .filter(|id| {
            let d = w.decl(*id);
            !d.shipped && d.parent.is_none() && d.ast.params.is_empty() && !added.contains(&*d.name)
        })
        .collect()
}

/// The user's streams that one leads to by the names that are added, whatever the conditions; those without names inside them, too.
pub fn reached(w: &World, top: DeclId) -> HashSet<DeclId> {
    let mut names = HashSet::new();
    let mut queue = vec![w.decl(top).name.to_string()];
    let mut added: HashMap<&str, HashSet<String>> = HashMap::new();
    for d in w.decls.iter().filter(|d| !d.shipped && d.parent.is_none()) {
        let of = added.entry(&d.name).or_default();
        if let StreamBody::Composite(b) = &d.ast.body {
            b.stmts.iter().for_each(|s| names_added(s, of));
        }
    }
    while let Some(name) = queue.pop() {
        if names.insert(name.clone()) {
            queue.extend(added.get(&*name).into_iter().flatten().cloned());
        }
    }
    let outermost = |mut id: DeclId| {
        while let Some(parent) = w.decl(id).parent {
            id = parent;
        }
        id
    };
    let all = (0..w.decls.len()).map(DeclId::from).filter(|id| !w.decl(*id).shipped);
    all.filter(|id| names.contains(&*w.decl(outermost(*id)).name)).collect()
}

/// Those of them that are `void->void`.
pub fn closed(w: &World) -> Vec<DeclId> {
    free(w).into_iter().filter(|id| is_closed(&w.decl(*id).ast)).collect()
}

/// The one stream of a file that could be the entry, as far as the file itself shows: closed ones go before those with open ends.
pub fn of_file(tree: &ast::Program) -> Option<ast::Name> {
    let streams = || {
        tree.items.iter().filter_map(|item| match item {
            ast::Item::Stream(decl) => Some(decl),
            _ => None,
        })
    };
    let mut added = HashSet::new();
    for decl in streams() {
        if let StreamBody::Composite(b) = &decl.body {
            b.stmts.iter().for_each(|s| names_added(s, &mut added));
        }
    }
    let free =
        || streams().filter(|d| d.params.is_empty() && d.name.as_ref().is_some_and(|n| !added.contains(&*n.name)));
    let closed: Vec<_> = free().filter(|d| is_closed(d)).collect();
    let candidates = if closed.is_empty() { free().collect() } else { closed };
    match candidates[..] {
        [one] => one.name.as_ref().map(|n| n.name.clone()),
        _ => None,
    }
}

/// Is it `void->void`?
pub fn is_closed(ast: &ast::StreamDecl) -> bool {
    ast.io.as_ref().is_none_or(|(i, o)| i.base == BaseType::Void && o.base == BaseType::Void)
}

fn names_added(s: &ast::Stmt, names: &mut HashSet<String>) {
    match &s.kind {
        S::Add { stream, .. } | S::Body { stream, .. } | S::Loop { stream, .. } => match stream {
            ast::StreamRef::Named { name, .. } => {
                names.insert(name.name.to_string());
            }
            ast::StreamRef::Anonymous(d) => {
                if let StreamBody::Composite(b) = &d.body {
                    b.stmts.iter().for_each(|s| names_added(s, names));
                }
            }
        },
        S::Block(b) => b.stmts.iter().for_each(|s| names_added(s, names)),
        S::If { then, els, .. } => {
            names_added(then, names);
            els.iter().for_each(|s| names_added(s, names));
        }
        S::For { body, .. } | S::While { body, .. } | S::DoWhile { body, .. } => names_added(body, names),
        S::Switch { cases, .. } => cases.iter().flat_map(|c| &c.body).for_each(|s| names_added(s, names)),
        _ => {}
    }
}
