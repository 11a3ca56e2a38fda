//! Structs, function groups, and static blocks.
//!
//! Order: struct fields, statics' types, signatures, helper bodies, statics' values (their initialisers may call helpers), each after those that it needs. Statics are evaluated before any stream is elaborated.
//!
//! The code of helpers, and types, contain values of statics (sizes, case labels), and those may come from such code. So all is checked again with the values that came out, until the same come
//! out: what is known of a static when code is checked is what it is worth in the end.

use super::stmt::{assigned_names, falls_through};
use super::{Checker, Place, statics};
use crate::eval::Spent;
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use crate::world::World;
use sluice_grammar::ast;
use sluice_grammar::diagnostic::Diagnostic;
use std::collections::HashSet;

/// Checks and evaluates all that is global.
pub fn globals(w: &mut World) {
    if w.static_blocks.is_empty() {
        once(w, None);
        return;
    }
    let before = w.clone();
    let mut known: Option<Vec<StaticVar>> = None;
    for round in 0..=ROUNDS {
        let (changed, spent) = once(w, known.as_deref());
        // what is wrong at first may be a name, or a value, that is not known yet
        if changed.is_none() && (known.is_some() || w.reports == before.reports) {
            if let (Some(memo), Some(spent), true) = (&w.memo, spent, w.reports == before.reports) {
                memo.keep_statics(w, spent);
            }
            break;
        }
        if let (Some(id), ROUNDS) = (changed, round) {
            let s = &w.globals.statics[id.index()];
            let title = format!("what `{}` is worth depends on itself", s.name);
            let label = "it decides a size or a case of code that it is computed by";
            let d = Diagnostic::error("E0403", title, s.span, label);
            w.report(d.help("compute it without what it decides"));
            break;
        }
        // helpers are known, too, to whoever calls them in a size
        let found = std::mem::take(&mut w.globals.statics);
        let (helpers, groups) = (std::mem::take(&mut w.globals.helpers), std::mem::take(&mut w.groups));
        *w = before.clone();
        (w.globals.helpers, w.groups) = (helpers, groups);
        known = Some(found);
    }
}

/// How often all is checked again, at most. A chain of sizes that decide each other takes a round for each.
const ROUNDS: u32 = 16;

/// Checks and evaluates all that is global, where statics are known by what an earlier round found. Gives the first of them that came out otherwise, if one did, and what evaluating them took,
/// where nothing was to be said of it.
fn once(w: &mut World, known: Option<&[StaticVar]>) -> (Option<StaticId>, Option<Spent>) {
    for (i, s) in known.unwrap_or_default().iter().enumerate() {
        w.globals.statics.push(s.clone());
        w.statics.insert(s.name.clone(), StaticId::from(i));
    }
    structs(w);
    let fresh = statics::declared(w, known.is_some());
    w.globals.helpers.clear();
    signatures(w);
    helpers(w);
    let known = std::mem::replace(&mut w.globals.statics, fresh);
    let spent = statics::evaluated(w);
    let differs = |(a, b): &(&StaticVar, &StaticVar)| a.ty != b.ty || a.value != b.value;
    (w.globals.statics.iter().zip(&known).position(|pair| differs(&pair)).map(StaticId::from), spent)
}

fn structs(w: &mut World) {
    let asts = w.struct_asts().to_vec();
    for (i, s) in asts.iter().enumerate() {
        let mut fields: Vec<(Name, Ty)> = Vec::new();
        let mut c = Checker::new(w, Place::Static, None, false);
        for d in &s.fields {
            let ty = c.ty(&d.ty);
            if matches!(ty, Ty::Void | Ty::Portal(_)) {
                let t = c.show(&ty);
                c.error("E0208", format!("a field of a struct cannot be {t}"), d.ty.at.0, "not a value");
            }
            for (name, _) in &d.vars {
                if let Some(first) = s.fields.iter().flat_map(|d| &d.vars).find(|(n, _)| n.name == name.name)
                    && first.0.span() != name.span()
                {
                    c.declared_twice(&name.name, name.span(), first.0.span());
                }
                fields.push((name.name.clone(), ty.clone()));
            }
        }
        w.globals.structs[i].fields = fields;
    }
    let depth = nesting(w);
    if let Some(i) = depth.iter().position(|d| d.is_some_and(|d| d > MAX_STRUCTS)) {
        let s = &w.globals.structs[i];
        let title = format!("structs can contain each other {MAX_STRUCTS} deep");
        let label = format!("{} is one too deep", s.name);
        w.report(Diagnostic::error("E0014", title, s.span, label).help("use fewer structs within structs"));
    }
    for (s, d) in w.globals.structs.iter_mut().zip(&depth) {
        if d.is_some_and(|d| d > MAX_STRUCTS) {
            s.fields.iter_mut().for_each(|(_, t)| *t = Ty::Error);
        }
    }
    // a struct that contains itself would be endless
    let endless = depth.iter().enumerate().filter(|(_, d)| d.is_none()).map(|(i, _)| i);
    let (shown, others): (Vec<_>, Vec<_>) = endless.enumerate().partition(|(n, _)| *n < CYCLES_SHOWN);
    let shown: Vec<usize> = shown.into_iter().map(|(_, i)| i).collect();
    for (i, ast) in asts.iter().enumerate().filter(|(i, _)| shown.contains(i)) {
        if contains(w, StructId::from(i), StructId::from(i), &mut HashSet::new()) {
            let s = &w.globals.structs[i];
            let (name, span) = (s.name.clone(), s.span);
            w.report(
                Diagnostic::error("E0108", format!("struct {name} contains itself"), span, "it would have no end")
                    .label(ast.at.0, "declared here")
                    .help("structs are values, not references: use an index into an array instead"),
            );
            w.globals.structs[i].fields.iter_mut().for_each(|(_, t)| *t = Ty::Error);
        }
    }
    for (_, i) in others {
        w.globals.structs[i].fields.iter_mut().for_each(|(_, t)| *t = Ty::Error);
    }
}

/// Structs within structs: what a type contains is walked everywhere, one call within another.
const MAX_STRUCTS: u32 = 64;

/// Structs without end that are looked at one by one.
const CYCLES_SHOWN: usize = 50;

/// The struct in a field, whatever arrays are around it.
fn struct_in(mut t: &Ty) -> Option<StructId> {
    while let Ty::Array(e, _) = t {
        t = e;
    }
    if let Ty::Struct(s) = t { Some(*s) } else { None }
}

/// How deep structs lie within each struct; `None` for those that contain themselves, or one that does.
fn nesting(w: &World) -> Vec<Option<u32>> {
    let structs = &w.globals.structs;
    let mut used_by: Vec<Vec<usize>> = vec![Vec::new(); structs.len()];
    let mut open = vec![0u32; structs.len()];
    for (i, s) in structs.iter().enumerate() {
        for inner in s.fields.iter().filter_map(|(_, t)| struct_in(t)) {
            used_by[inner.index()].push(i);
            open[i] += 1;
        }
    }
    let mut depth: Vec<u32> = vec![1; structs.len()];
    let mut done: Vec<usize> = (0..structs.len()).filter(|i| open[*i] == 0).collect();
    let mut next = 0;
    while let Some(i) = done.get(next).copied() {
        next += 1;
        for outer in &used_by[i] {
            depth[*outer] = depth[*outer].max(depth[i] + 1);
            open[*outer] -= 1;
            if open[*outer] == 0 {
                done.push(*outer);
            }
        }
    }
    depth.into_iter().zip(open).map(|(d, open)| (open == 0).then_some(d)).collect()
}

fn contains(w: &World, id: StructId, target: StructId, seen: &mut HashSet<StructId>) -> bool {
    if !seen.insert(id) {
        return false;
    }
    let mut inner = w.globals.structs[id.index()].fields.iter().filter_map(|(_, t)| struct_in(t));
    inner.any(|s| s == target || contains(w, s, target, seen))
}

fn signatures(w: &mut World) {
    let all: Vec<(Name, _, bool)> = (w.helper_asts.iter().map(|(g, f)| (g.clone(), f.clone(), false)))
        .chain(w.native_asts.iter().map(|(g, f)| (g.clone(), f.clone(), true)))
        .collect();
    for (group, f, native) in all {
        let mut c = Checker::new(w, Place::Helper, None, false);
        let (ret, params) = c.head(&f);
        if native {
            let names = f.params.iter().map(|p| p.name.name.clone());
            let n = NativeFn {
                group: group.clone(),
                name: f.name.name.clone(),
                params: names.zip(params.iter().cloned()).collect(),
                ret: ret.clone(),
                span: f.name.span(),
            };
            w.globals.natives.push(n);
        }
        if let Some(entry) = w.groups.get_mut(&group).and_then(|g| g.functions.get_mut(&f.name.name)) {
            entry.params = params;
            entry.ret = ret;
        }
    }
    super::natives::declarations(w);
}

fn helpers(w: &mut World) {
    for (group, f) in w.helper_asts.clone() {
        let (params, ret) = match w.groups.get(&group).and_then(|g| g.functions.get(&f.name.name)) {
            Some(e) => (e.params.clone(), e.ret.clone()),
            None => (Vec::new(), Ty::Error),
        };
        let mut c = Checker::new(w, Place::Helper, None, false);
        c.group = Some(group);
        let function = c.function(&f, &params, ret);
        c.locals_fit(&function);
        w.globals.helpers.push(function);
    }
    crate::analyses::state::helper_writes(&mut w.globals);
}

impl Checker<'_> {
    /// A function with a body, given its types.
    pub fn function(&mut self, f: &ast::FnDecl, params: &[Ty], ret: Ty) -> Function {
        let empty = ast::Block::default();
        let body = f.body.as_ref().unwrap_or(&empty);
        self.begin(ret.clone(), assigned_names(&body.stmts));
        for (p, ty) in f.params.iter().zip(params) {
            if *ty == Ty::Void {
                self.error("E0208", "a parameter cannot be void", p.ty.at.0, "void has no values");
            }
            self.declare(&p.name, ty.clone(), matches!(ty, Ty::Array(..)));
        }
        let typed = self.block(body);
        // the grammar lets only native functions go without a body
        if ret != Ty::Void && ret != Ty::Error && falls_through(&typed) {
            let r = self.show(&ret);
            self.report(
                Diagnostic::error(
                    "E0212",
                    format!("`{}` can end without giving its {r}", f.name.name),
                    f.name.span(),
                    "not every way through it returns a value",
                )
                .help("add a `return` at its end"),
            );
        }
        Function {
            name: f.name.name.clone(),
            params: f.params.len() as u32,
            locals: self.end(),
            ret,
            body: typed,
            span: f.name.span(),
        }
    }
}
