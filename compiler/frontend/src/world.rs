//! All declarations of one compilation, by name.
//!
//! Input: the parsed files in order (the user's first, then the standard library's). Output: [`World`], with structs resolved;
//! statics, helpers and streams are checked later, when they are needed. A user's declaration wins over one of the standard
//! library with the same name, silently, wherever the user's files name it; the library's files name the library's own
//! ([`World::stream_at`] and its neighbours). Two declarations of one name among the user's files are an error.

use crate::eval::{Budget, TOO_MANY_STEPS};
use crate::ids::*;
use crate::lints::instances::Instance;
use crate::memo::Memo;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::ast;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::{FileId, SourceMap, Span};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A stream declaration, named or anonymous.
#[derive(Clone, Debug)]
pub struct Decl {
    /// The tree.
    pub ast: Arc<ast::StreamDecl>,
    /// Its name; `anonymous1` and so on for those without.
    pub name: Name,
    /// Of the standard library?
    pub shipped: bool,
    /// The declaration that contains it.
    pub parent: Option<DeclId>,
    /// Variables an anonymous stream sees, with their types.
    pub env: Vec<(Name, Ty)>,
}

/// A function known by `Group.name`.
#[derive(Clone, Debug)]
pub struct GroupFn {
    /// Which.
    pub callee: Callee,
    /// Its tree.
    pub ast: Arc<ast::FnDecl>,
    /// Parameter types.
    pub params: Vec<Ty>,
    /// Result type.
    pub ret: Ty,
}

/// A `helper` or `native` group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Functions by name.
    pub functions: HashMap<Name, GroupFn>,
    /// Where it is first declared.
    pub span: Span,
}

/// No name in a text begins so.
const HIDDEN: &str = "<stdlib>.";

/// What a group of the library is called beside one of the user's with the same name.
fn hidden_group(name: &str) -> Name {
    format!("{HIDDEN}{name}").into()
}

/// Each search looks at all names of a kind.
const MAX_SEARCHES: u32 = 50;

/// All declarations.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The files.
    pub sources: SourceMap,
    /// Stream declarations.
    pub decls: Vec<Decl>,
    /// Named streams.
    pub streams: HashMap<Name, DeclId>,
    /// Structs by name.
    pub structs: HashMap<Name, StructId>,
    /// Static variables by name.
    pub statics: HashMap<Name, StaticId>,
    /// Function groups by name; those of the library that the user's files hide by [`hidden_group`].
    pub groups: HashMap<Name, Group>,
    /// The first file of the standard library, which stands behind the user's.
    pub shipped_from: Option<FileId>,
    /// Streams of the library that user's streams of the same names hide from the user's files.
    hidden_streams: HashMap<Name, DeclId>,
    /// Structs of the library, likewise.
    hidden_structs: HashMap<Name, StructId>,
    /// What filters share, as far as it has been evaluated.
    pub globals: Globals,
    /// Diagnostics so far.
    pub diagnostics: Vec<Diagnostic>,
    /// What evaluation may still use up.
    pub budget: Budget,
    /// While true, reports are dropped (an attempt whose failure means nothing).
    pub quiet: bool,
    /// Counts what has been reported, told or not.
    pub reports: usize,
    /// What is known from earlier analyses, if anything is kept.
    pub memo: Option<Memo>,
    searches: Cell<u32>,
    seen: HashSet<(&'static str, Span)>,
    struct_asts: Vec<Arc<ast::StructDecl>>,
    /// Static blocks in order.
    pub static_blocks: Vec<Arc<ast::StaticBlock>>,
    /// Helper functions in order of their ids.
    pub helper_asts: Vec<(Name, Arc<ast::FnDecl>)>,
    /// Native functions in order of their ids.
    pub native_asts: Vec<(Name, Arc<ast::FnDecl>)>,
    /// Checked composites; `None` for one with errors.
    pub composites: HashMap<DeclId, Option<Arc<CompositeCode>>>,
    /// Filters that were checked in general; false for one with errors.
    pub filters_checked: HashMap<DeclId, bool>,
    /// What is known of the user's filters with their arguments.
    pub instances: BTreeMap<DeclId, Vec<Instance>>,
}

/// A composite whose body is ready to be evaluated.
#[derive(Clone, Debug)]
pub struct CompositeCode {
    /// The body; the first locals are captured variables, then the parameters.
    pub function: Function,
    /// Declared sizes of each of those first locals (empty for captured ones), outermost first.
    pub param_dims: Vec<Vec<Expr>>,
    /// Declared item types.
    pub io: Option<(TypeSpec, TypeSpec)>,
}

impl World {
    /// Reports a diagnostic; a second one with the same code at the same place is dropped.
    pub fn report(&mut self, d: Diagnostic) {
        self.reports += usize::from(!self.quiet);
        // when the steps are used up, all that is evaluated afterwards fails for want of them
        let span = if d.title.starts_with(TOO_MANY_STEPS) { Span::default() } else { d.span() };
        if !self.quiet && self.seen.insert((d.code, span)) {
            self.diagnostics.push(d);
        }
    }

    /// The declaration behind an id.
    pub fn decl(&self, id: DeclId) -> &Decl {
        &self.decls[id.index()]
    }

    /// Where a pipeline, splitjoin or feedback loop of the program declares a variable or parameter of this name, for who expects to see it elsewhere; its name.
    pub fn composite_with(&self, name: &str) -> Option<(Span, Name)> {
        let declares = |d: &Decl| {
            let ast::StreamBody::Composite(body) = &d.ast.body else { return None };
            let of_streams = d.ast.params.iter().map(|p| &p.name);
            let variables =
                body.stmts.iter().filter_map(|s| if let ast::StmtKind::Decl(d) = &s.kind { Some(d) } else { None });
            let names = of_streams.chain(variables.flat_map(|d| d.vars.iter().map(|(n, _)| n)));
            let at = names.into_iter().find(|n| *n.name == *name)?.span();
            Some((at, d.ast.name.as_ref()?.name.clone()))
        };
        self.decls.iter().filter(|d| !d.shipped).find_map(declares)
    }

    /// Is this a place in the standard library?
    pub fn is_shipped(&self, at: Span) -> bool {
        self.shipped_from.is_some_and(|first| at.file.0 >= first.0)
    }

    /// The stream that a name stands for where it is written.
    pub fn stream_at(&self, name: &ast::Ident) -> Option<DeclId> {
        let known = self.streams.get(&name.name).copied();
        if !self.is_shipped(name.span()) {
            return known;
        }
        self.hidden_streams.get(&name.name).copied().or(known.filter(|id| self.decl(*id).shipped))
    }

    /// The struct that a name stands for where it is written.
    pub fn struct_at(&self, name: &ast::Ident) -> Option<StructId> {
        let known = self.structs.get(&name.name).copied();
        if !self.is_shipped(name.span()) {
            return known;
        }
        let own = known.filter(|id| self.is_shipped(self.globals.structs[id.index()].span));
        self.hidden_structs.get(&name.name).copied().or(own)
    }

    /// The static that a name stands for where it is written: the library has none, and names none of the user's.
    pub fn static_at(&self, name: &ast::Ident) -> Option<StaticId> {
        let known = self.statics.get(&name.name).copied();
        known.filter(|id| !self.is_shipped(name.span()) || self.is_shipped(self.globals.statics[id.index()].span))
    }

    /// The group that a name stands for where it is written.
    pub fn group_at(&self, name: &ast::Ident) -> Option<&Group> {
        let hidden = self.is_shipped(name.span()).then(|| self.groups.get(&hidden_group(&name.name))).flatten();
        hidden.or_else(|| self.groups.get(&name.name))
    }

    /// The names of groups that can be written in the user's files.
    pub fn group_names(&self) -> impl Iterator<Item = &Name> {
        self.groups.keys().filter(|n| !n.starts_with(HIDDEN))
    }

    /// Enters the declarations of one file.
    pub fn add_program(&mut self, program: ast::Program, library: bool) {
        for item in program.items {
            match item {
                ast::Item::Import { .. } => {}
                ast::Item::Struct(s) => self.add_struct(s, library),
                ast::Item::Stream(s) => self.add_stream(s, library),
                ast::Item::Static(s) => self.static_blocks.push(Arc::new(s)),
                ast::Item::Native(g) => self.add_group(g, true, library),
                ast::Item::Helper(g) => self.add_group(g, false, library),
            }
        }
    }

    fn twice(&mut self, what: &str, name: &ast::Ident, first: Span) {
        self.report(
            Diagnostic::error(
                "E0100",
                format!("the {what} `{}` is declared twice", name.name),
                name.span(),
                "declared again here",
            )
            .label(first, "first declared here")
            .help("rename one of the two, or remove it"),
        );
    }

    fn add_struct(&mut self, s: ast::StructDecl, library: bool) {
        if let Some(first) = self.structs.get(&s.name.name)
            && !library
        {
            let first = self.globals.structs[first.index()].span;
            self.twice("struct", &s.name, first);
            return;
        }
        let id = StructId::from(self.globals.structs.len());
        let names = if self.structs.contains_key(&s.name.name) { &mut self.hidden_structs } else { &mut self.structs };
        names.insert(s.name.name.clone(), id);
        self.globals.structs.push(StructDef { name: s.name.name.clone(), fields: Vec::new(), span: s.name.span() });
        self.struct_asts.push(Arc::new(s));
    }

    fn add_stream(&mut self, s: Arc<ast::StreamDecl>, library: bool) {
        let Some(name) = s.name.clone() else {
            let span = s.header.0;
            self.report(
                Diagnostic::error("E0101", "a stream at top level needs a name", span, "this stream has none")
                    .help("write the name after the keyword, as in `float->float filter Scale { ... }`"),
            );
            return;
        };
        if let Some(first) = self.streams.get(&name.name)
            && !library
        {
            let first = self.decl(*first).ast.name.as_ref().map(|n| n.span()).unwrap_or_default();
            self.twice("stream", &name, first);
            return;
        }
        let id = DeclId::from(self.decls.len());
        let names = if self.streams.contains_key(&name.name) { &mut self.hidden_streams } else { &mut self.streams };
        names.insert(name.name.clone(), id);
        self.decls.push(Decl { ast: s, name: name.name, shipped: library, parent: None, env: Vec::new() });
    }

    /// Enters an anonymous stream found in a composite body.
    pub fn add_anonymous(&mut self, ast: Arc<ast::StreamDecl>, parent: DeclId, env: Vec<(Name, Ty)>) -> DeclId {
        let id = DeclId::from(self.decls.len());
        let shipped = self.decl(parent).shipped;
        let name: Name = match &ast.name {
            Some(n) => n.name.clone(),
            None => format!("anonymous_{}", ast.kind.keyword()).into(),
        };
        self.decls.push(Decl { ast, name, shipped, parent: Some(parent), env });
        id
    }

    fn add_group(&mut self, g: ast::FunctionGroup, native: bool, library: bool) {
        let span = g.name.span();
        let mut group_name = g.name.name.clone();
        if library && self.groups.contains_key(&group_name) {
            group_name = hidden_group(&group_name);
        }
        self.groups.entry(group_name.clone()).or_insert_with(|| Group { functions: HashMap::new(), span });
        for f in g.functions {
            let f = Arc::new(f);
            let name = f.name.name.clone();
            if let Some(first) = self.groups[&group_name].functions.get(&name) {
                let first = first.ast.name.span();
                self.twice("function", &f.name, first);
                continue;
            }
            let callee = if native {
                self.native_asts.push((group_name.clone(), f.clone()));
                Callee::Native(NativeId::from(self.native_asts.len() - 1))
            } else {
                self.helper_asts.push((group_name.clone(), f.clone()));
                Callee::Helper(HelperId::from(self.helper_asts.len() - 1))
            };
            let entry = GroupFn { callee, ast: f, params: Vec::new(), ret: Ty::Error };
            if let Some(g) = self.groups.get_mut(&group_name) {
                g.functions.insert(name, entry);
            }
        }
    }

    /// The trees of the structs, by [`StructId`].
    pub fn struct_asts(&self) -> &[Arc<ast::StructDecl>] {
        &self.struct_asts
    }

    /// How often [`World::nearest`] has looked.
    pub fn searched(&self) -> u32 {
        self.searches.get()
    }

    /// Does [`World::nearest`] still look?
    pub fn searches(&self) -> bool {
        self.searches.get() < MAX_SEARCHES
    }

    /// The known name nearest to a misspelt one, if one is near. In a program full of faults it gives up looking.
    pub fn nearest<'a>(&self, name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
        if !self.searches() {
            return None;
        }
        self.searches.set(self.searches.get() + 1);
        let mut best: Option<(usize, &str)> = None;
        for k in known {
            let d = distance(name, k);
            // of one letter, any other is one letter away
            let near = d <= 1 + name.len() / 4 && (d == 0 || name.len().max(k.len()) > 1);
            if near && best.is_none_or(|(b, n)| (d, k) < (b, n)) {
                best = Some((d, k));
            }
        }
        best.map(|(_, n)| n.to_string())
    }
}

/// Edit distance (insert, delete, replace, swap of neighbours), case ignored.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(64).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut d = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(rows[i - 2][j - 2] + 1);
            }
            row.push(d);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
