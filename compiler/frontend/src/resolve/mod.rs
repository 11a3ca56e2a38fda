//! # resolve
//!
//! Purpose: what every name in a program stands for, for an editor: definitions, uses, what can be seen where. Input: the trees of the user's
//! files and of the standard library. Output: [`Index`].
//!
//! Names are looked up as the checker does ([`crate::check`]): locals, then fields and parameters, streams within streams seeing those around
//! them, then statics; a user's declaration wins over one of the library. Members are found by the declared type of what stands before the dot.
//! It says nothing of what is wrong: a name that stands for nothing, or a member of something whose type is not known, has no entry
//! ([`Index::unknown_members`] has the latter). Invariant, held by a test over all programs of the repository: where typed code refers to a
//! local, a field, a static or a function, the index gives the same declaration.

mod walk;

use crate::ids::SymbolId;
use sluice_grammar::ast::{Name, Program, StreamKind, Type};
use sluice_grammar::span::{FileId, Span};
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A stream with a name.
    Stream(StreamKind),
    /// A struct.
    Struct,
    /// A field of a struct.
    Member,
    /// A variable of a `static` block.
    Static,
    /// A `helper` group.
    Helper,
    /// A `native` group.
    Native,
    /// A function of a group.
    GroupFunction,
    /// A parameter of a stream.
    StreamParam,
    /// A field of a filter.
    Field,
    /// A function of a filter.
    Function,
    /// A message handler.
    Handler,
    /// A parameter of a function or handler.
    Param,
    /// A variable in a body.
    Local,
}

impl SymbolKind {
    /// For people.
    pub fn noun(self) -> &'static str {
        match self {
            SymbolKind::Stream(kind) => kind.keyword(),
            SymbolKind::Struct => "struct",
            SymbolKind::Member => "field of a struct",
            SymbolKind::Static => "static",
            SymbolKind::Helper => "helper group",
            SymbolKind::Native => "native group",
            SymbolKind::GroupFunction | SymbolKind::Function => "function",
            SymbolKind::StreamParam => "parameter of a stream",
            SymbolKind::Field => "field",
            SymbolKind::Handler => "handler",
            SymbolKind::Param => "parameter",
            SymbolKind::Local => "variable",
        }
    }
}

/// Something with a name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Which kind.
    pub kind: SymbolKind,
    /// Its name.
    pub name: Name,
    /// The place of its name.
    pub span: Span,
    /// The whole declaration (of a variable: the declaration that it stands in).
    pub whole: Span,
    /// What comes before the body: a stream's header, a function up to its parameters; otherwise the whole.
    pub header: Span,
    /// What it belongs to.
    pub parent: Option<SymbolId>,
    /// A variable's type, a function's result.
    pub ty: Option<Type>,
    /// Parameters of a stream or function, in order.
    pub params: Vec<SymbolId>,
    /// Of the standard library?
    pub shipped: bool,
}

/// What is done with a name where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is declared here.
    Declaration,
    /// It is read, called, added.
    Read,
    /// It is written.
    Write,
}

/// A name in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Where.
    pub span: Span,
    /// What it stands for.
    pub symbol: SymbolId,
    /// What is done with it.
    pub access: Access,
    /// The stream with a name that it stands in.
    pub within: Option<SymbolId>,
    /// Is a stream added (or `body`, `loop`) here?
    pub adds: bool,
}

/// A part of the text and what is declared in it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Where.
    pub span: Span,
    /// Declared here, in order.
    pub names: Vec<SymbolId>,
    /// Do names count before their declaration, too?
    pub unordered: bool,
}

/// All names of a program.
#[derive(Clone, Debug, Default)]
pub struct Index {
    symbols: Vec<Symbol>,
    /// By file, in the order of their places.
    uses: Vec<Vec<Use>>,
    /// By symbol, those of symbol `i` from `starts[i]` to `starts[i + 1]`.
    by_symbol: Vec<Use>,
    starts: Vec<u32>,
    /// By file, outer ones before those within.
    scopes: Vec<Vec<Scope>>,
    globals: walk::Globals,
    unknown_members: HashMap<Name, Vec<Span>>,
}

impl Index {
    /// The names of some files; those of the library stand behind the user's.
    pub fn of(trees: &[(FileId, &Program)], library: &[(FileId, &Program)]) -> Index {
        walk::walk(trees, library)
    }

    /// What is behind an id.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    /// All of them.
    pub fn symbols(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.symbols.iter().enumerate().map(|(i, s)| (SymbolId::from(i), s))
    }

    /// The name at a byte of a file; between two names that touch it, the later one.
    pub fn at(&self, file: FileId, offset: u32) -> Option<&Use> {
        let uses = self.uses_in(file);
        let behind = uses.partition_point(|u| u.span.start <= offset);
        uses[..behind].last().filter(|u| u.span.touches(offset))
    }

    /// The names in a file, in order.
    pub fn uses_in(&self, file: FileId) -> &[Use] {
        self.uses.get(file.0 as usize).map_or(&[], |u| u)
    }

    /// Where a symbol is named, its declaration included, in the order of files and places.
    pub fn uses_of(&self, id: SymbolId) -> &[Use] {
        match (self.starts.get(id.index()), self.starts.get(id.index() + 1)) {
            (Some(from), Some(to)) => &self.by_symbol[*from as usize..*to as usize],
            _ => &[],
        }
    }

    /// What belongs to a symbol: a stream's parameters, fields and functions, a struct's or group's members.
    pub fn members(&self, id: SymbolId) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.symbols().filter(move |(_, s)| s.parent == Some(id))
    }

    /// The stream of a name.
    pub fn stream(&self, name: &str) -> Option<SymbolId> {
        self.globals.streams.get(name).copied()
    }

    /// The struct of a name.
    pub fn structure(&self, name: &str) -> Option<SymbolId> {
        self.globals.structs.get(name).copied()
    }

    /// The group of a name.
    pub fn group(&self, name: &str) -> Option<SymbolId> {
        self.globals.groups.get(name).map(|g| g.symbol)
    }

    /// All that can be named anywhere: streams, structs, statics, groups.
    pub fn globals(&self) -> Vec<SymbolId> {
        let g = &self.globals;
        let groups = g.groups.values().map(|g| g.symbol);
        let mut all: Vec<SymbolId> =
            [&g.streams, &g.structs, &g.statics].into_iter().flat_map(|m| m.values().copied()).chain(groups).collect();
        all.sort_unstable();
        all
    }

    /// What can be seen at a byte of a file besides what is global, innermost first; a name that is hidden is left out.
    pub fn visible(&self, file: FileId, offset: u32) -> Vec<SymbolId> {
        let mut all = Vec::new();
        let around = self.scopes.get(file.0 as usize).map_or(&[][..], |s| s).iter().rev();
        for scope in around.filter(|s| s.span.start <= offset && offset <= s.span.end) {
            let seen = scope.names.iter().rev().filter(|s| scope.unordered || self.symbol(**s).whole.end <= offset);
            all.extend(seen.copied());
        }
        let mut names = std::collections::HashSet::new();
        all.retain(|s| names.insert(self.symbol(*s).name.clone()));
        all
    }

    /// Members named so of something whose type is not known.
    pub fn unknown_members(&self, name: &str) -> &[Span] {
        self.unknown_members.get(name).map_or(&[], |s| s)
    }
}
