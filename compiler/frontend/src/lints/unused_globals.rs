//! # unused-globals (W0210, W0215)
//!
//! Purpose: streams that the program cannot come to, and statics, structs and functions of groups that nothing uses.
//! Input: [`Names`] and the entry. Output: warnings, for the file that declares the entry only: the others may be libraries, of which
//! a program uses a part. Without an entry nothing is said, nor where its ends are open: that may be a library, too.
//! A stream is reached from the entry along `add`, `body`, `loop` and `portal`, whatever conditions stand before them. Where the entry
//! is named on the command line, the other closed streams that nothing adds are entries, too.

use super::names::{Global, Names};
use super::removal;
use crate::entry;
use crate::ids::DeclId;
use crate::world::World;
use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::Applicability::NeedsALook;
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::{FileId, Span};
use std::collections::HashSet;

/// Warnings about unused globals. `named` says that the entry was named.
pub fn lint(
    w: &World,
    trees: &[(FileId, Program)],
    names: &Names<'_>,
    top: DeclId,
    named: bool,
    out: &mut Vec<Diagnostic>,
) {
    let top = w.decl(top);
    // open ends: it may be one of a library's many
    if !entry::is_closed(&top.ast) {
        return;
    }
    let Some(home) = top.ast.name.as_ref().map(|n| n.span().file) else { return };
    let Some((_, tree)) = trees.iter().find(|(f, _)| *f == home) else { return };
    let mut roots = vec![top.name.clone()];
    if named {
        roots.extend(entry::closed(w).into_iter().map(|id| w.decl(id).name.clone()));
    }
    let reached = reached(names, roots);
    let mut tell = |code, what: &str, name: &Ident, label: &str, whole: Option<Span>| {
        if name.name.starts_with('_') {
            return;
        }
        let title = format!("the {what} `{}` is never used", name.name);
        let d = Diagnostic::warning(code, title, name.span(), label);
        out.push(match whole {
            Some(at) => {
                d.fix(Fix::of(format!("remove the {what}"), vec![removal::documented(&w.sources, at)], NeedsALook))
            }
            None => d,
        });
    };
    for item in &tree.items {
        match item {
            Item::Stream(s) => {
                if let Some(name) = s.name.as_ref().filter(|n| !reached.contains(&n.name)) {
                    let used = names.used.contains(&Global::Stream(name.name.clone()));
                    let label = if used { "added only by unused streams" } else { "nothing adds it" };
                    tell("W0210", s.kind.keyword(), name, label, Some(s.at.0));
                }
            }
            Item::Static(s) => {
                for d in &s.fields {
                    for (name, _) in &d.vars {
                        if !names.used.contains(&Global::Static(name.name.clone())) {
                            let alone = d.vars.len() == 1 && s.init.is_none();
                            tell("W0215", "static", name, "nothing reads it", alone.then_some(d.at.0));
                        }
                    }
                }
            }
            Item::Struct(s) => {
                if !names.used.contains(&Global::Struct(s.name.name.clone())) {
                    tell("W0215", "struct", &s.name, "no variable or item has this type", Some(s.at.0));
                }
            }
            Item::Helper(g) => {
                for f in &g.functions {
                    if !names.used.contains(&Global::Function(g.name.name.clone(), f.name.name.clone())) {
                        tell("W0215", "function", &f.name, "nothing calls it", Some(f.at.0));
                    }
                }
            }
            // what a C library has is not for the program to choose
            Item::Import { .. } | Item::Native(_) => {}
        }
    }
}

/// The streams that can be come to.
fn reached(names: &Names<'_>, mut queue: Vec<Name>) -> HashSet<Name> {
    // what statics, helpers and structs name is used, too
    queue.extend(names.adds.get(&None).into_iter().flatten().cloned());
    let mut seen = HashSet::new();
    while let Some(name) = queue.pop() {
        if seen.insert(name.clone()) {
            queue.extend(names.adds.get(&Some(name)).into_iter().flatten().cloned());
        }
    }
    seen
}
