//! # dependent
//!
//! Purpose: may what a firing does to its channels follow from the filter's arguments? Then a rate that one instance needs is no number for all of them. Input: a filter's declaration. Output: yes or no, by
//! names alone: those of parameters, and of what is set by way of them, in what decides how often and whether something is done. Conservative: a no is one, a yes may be none.

use crate::lints::tree;
use crate::world::Decl;
use sluice_grammar::ast::{self, Expr, ExprKind as E, Item, Member, Program, StmtKind as S, StreamBody};
use std::collections::HashSet;

/// May it?
pub(super) fn dependent(decl: &Decl) -> bool {
    let mut names: HashSet<String> = decl.env.iter().map(|(name, ..)| name.to_string()).collect();
    names.extend(decl.ast.params.iter().map(|p| p.name.name.to_string()));
    let StreamBody::Filter(members) = &decl.ast.body else { return false };
    if names.is_empty() {
        return false;
    }
    let tree = Program { items: vec![Item::Stream(decl.ast.clone())] };
    let functions: Vec<&ast::FnDecl> = (members.iter())
        .filter_map(|m| match m {
            Member::Function(f) | Member::Handler(f) => Some(f),
            _ => None,
        })
        .collect();
    loop {
        let before = names.len();
        spread(&tree, members, &functions, &mut names);
        if names.len() == before {
            return decides(&tree, &names);
        }
    }
}

fn mentions(e: &Expr, names: &HashSet<String>) -> bool {
    let mut found = false;
    tree::expression(e, &mut |e| found |= matches!(&e.kind, E::Var(name) if names.contains(&*name.name)));
    found
}

/// Adds the names of what is set by way of the names.
fn spread(tree: &Program, members: &[Member], functions: &[&ast::FnDecl], names: &mut HashSet<String>) {
    let declared = |d: &ast::VarDecl, names: &mut HashSet<String>| {
        for (name, value) in &d.vars {
            if value.as_ref().is_some_and(|e| mentions(e, names)) {
                names.insert(name.name.to_string());
            }
        }
    };
    members.iter().for_each(|m| {
        if let Member::Field(d) = m {
            declared(d, names)
        }
    });
    tree::statements(tree, &mut |s| match &s.kind {
        S::Decl(d) => declared(d, names),
        S::Assign { target, value, .. } if mentions(value, names) || mentions(target, names) => {
            names.extend(tree::root(target).map(|name| name.name.to_string()));
        }
        _ => {}
    });
    let mut called = Vec::new();
    tree::expressions(tree, &mut |e| {
        if let E::Call { callee, args } = &e.kind
            && let E::Var(name) = &callee.kind
            && args.iter().any(|a| mentions(a, names))
        {
            called.push(name.name.to_string());
        }
    });
    for f in functions.iter().filter(|f| called.iter().any(|c| **c == *f.name.name)) {
        names.extend(f.params.iter().map(|p| p.name.name.to_string()));
        // what it gives, too
        names.insert(f.name.name.to_string());
    }
    // a function may give what it reads; whose `return` it is does not matter much
    let mut given = false;
    tree::statements(tree, &mut |s| given |= matches!(&s.kind, S::Return(Some(e)) if mentions(e, names)));
    if given {
        names.extend(functions.iter().map(|f| f.name.name.to_string()));
    }
}

/// Do the names decide how often or whether something is done, or how far a firing looks?
fn decides(tree: &Program, names: &HashSet<String>) -> bool {
    let mut found = false;
    tree::statements(tree, &mut |s| {
        if matches!(s.kind, S::If { .. } | S::While { .. } | S::DoWhile { .. } | S::For { .. } | S::Switch { .. }) {
            found |= tree::operands(s).into_iter().any(|e| mentions(e, names));
        }
    });
    tree::expressions(tree, &mut |e| {
        found |= match &e.kind {
            E::Peek(i) => mentions(i, names),
            E::Ternary(condition, ..) => mentions(condition, names),
            E::Binary(ast::BinaryOp::And | ast::BinaryOp::Or, a, _) => mentions(a, names),
            _ => false,
        };
    });
    found
}
