//! # elaborate
//!
//! Purpose: run the composite bodies and instantiate every stream.
//! Input: the checked [`World`] and the entry. Output: the tree of instances ([`Inst`]) and one [`FilterCode`] for each filter
//! declaration with equal arguments. A composite's body is evaluated first, which gives a list of requests; the requested
//! streams are instantiated after it. Limits: instances, depth, evaluation steps ([`Limits`]); reaching one is a diagnostic with the
//! chain of instantiations.

pub mod composite;
pub mod flatten;
pub mod join;

use crate::check;
use crate::constant::Const;
use crate::eval::{COMPILE_TIME_FUEL, value};
use crate::ids::*;
use crate::ty::Ty;
use crate::typed::*;
use crate::world::World;
use sluice_grammar::ast::{self, StreamKind};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What elaboration may use up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Stream instances (filters and composites).
    pub instances: usize,
    /// Streams within streams. Elaboration recurses over them, on a stack of its own.
    pub depth: usize,
    /// Steps of compile-time evaluation.
    pub steps: u64,
    /// Different filter bodies (declaration with arguments).
    pub codes: usize,
    /// Steps of all constant expressions, `init` and static blocks together.
    pub constants: u64,
    /// Bytes of the names of all instances, the paths to them included.
    pub names: usize,
    /// Elements of arrays that all filters keep from firing to firing.
    pub state: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            instances: 200_000,
            depth: 5_000,
            steps: 20_000_000,
            codes: 20_000,
            constants: COMPILE_TIME_FUEL,
            names: 1 << 28,
            state: 1 << 28,
        }
    }
}

/// A splitter or joiner with its weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Dealing {
    /// A copy to every branch.
    Duplicate,
    /// A weight for each branch.
    RoundRobin(Vec<u32>),
}

/// A stream instance.
#[derive(Clone, Debug)]
pub struct Inst {
    /// What is in it.
    pub kind: InstKind,
    /// Name with arguments.
    pub display: String,
    /// Declared name.
    pub name: String,
    /// The declaration's header.
    pub decl: Span,
    /// The `add` that made it.
    pub added: Span,
    /// Item types in and out.
    pub io: (Ty, Ty),
    /// Portals it is registered with.
    pub portals: Vec<PortalId>,
}

/// What is in an instance.
#[derive(Clone, Debug)]
pub enum InstKind {
    /// A filter.
    Filter(CodeId),
    /// `Identity<T>`
    Identity,
    /// `FileReader<T>(path)`
    Reader(String),
    /// `FileWriter<T>(path)`
    Writer(String),
    /// Children one after the other.
    Pipeline(Vec<Inst>),
    /// Children side by side.
    SplitJoin {
        /// How items are dealt out, and the place.
        split: (Dealing, Span),
        /// How they are collected, and the place.
        join: (Dealing, Span),
        /// The branches.
        children: Vec<Inst>,
    },
    /// A feedback loop.
    Loop {
        /// Weights of the joiner: external, feedback.
        join: ([u32; 2], Span),
        /// How the splitter deals: out, back.
        split: (Dealing, Span),
        /// Forward stream.
        body: Box<Inst>,
        /// Backward stream; `None` is an identity.
        back: Option<Box<Inst>>,
        /// Initial items on the feedback input.
        enqueued: Vec<Const>,
    },
}

/// What makes two instances share code: declaration, arguments, and item types where they are inferred.
type Key = (DeclId, Vec<Const>, Option<Ty>, Option<Ty>);

/// Instantiates streams.
pub struct Elaborator<'w> {
    /// Declarations.
    pub w: &'w mut World,
    /// Statics, structs, helpers: final by now.
    pub globals: Arc<Globals>,
    /// Filter bodies so far.
    pub codes: Vec<FilterCode>,
    /// Which declarations were instantiated.
    pub used: Vec<DeclId>,
    memo: HashMap<Key, Option<CodeId>>,
    chain: Vec<(String, Span)>,
    instances: usize,
    limits: Limits,
    steps: u64,
    portals: u32,
    /// Bytes of names so far, and of the path to the stream that is being instantiated.
    names: usize,
    path: usize,
    state: u64,
    /// A limit was reached: nothing more is instantiated.
    pub stopped: bool,
    /// As in [`crate::Options`].
    pub cancel: Option<Arc<AtomicBool>>,
}

impl<'w> Elaborator<'w> {
    /// A new elaborator over checked declarations.
    pub fn new(w: &'w mut World, limits: Limits) -> Elaborator<'w> {
        let globals = Arc::new(w.globals.clone());
        Elaborator {
            w,
            globals,
            codes: Vec::new(),
            used: Vec::new(),
            memo: HashMap::new(),
            chain: Vec::new(),
            instances: 0,
            limits,
            steps: limits.steps,
            portals: 0,
            names: 0,
            path: 0,
            state: 0,
            stopped: false,
            cancel: None,
        }
    }

    /// Reports, with the chain of instantiations as notes.
    pub fn report(&mut self, mut d: Diagnostic) {
        let shown = 6;
        let skip = self.chain.len().saturating_sub(shown);
        for (display, added) in self.chain.iter().skip(skip).rev() {
            d.notes.push(format!("in {display}, added at {}", self.w.sources.describe(*added)));
        }
        if skip > 0 {
            d.notes.push(format!("... and {skip} more around it"));
        }
        self.w.report(d);
    }

    fn stop(&mut self, d: Diagnostic) {
        if !self.stopped {
            self.report(d);
        }
        self.stopped = true;
    }

    /// The entry.
    pub fn entry(&mut self, id: DeclId) -> Option<Inst> {
        let at = self.w.decl(id).ast.header.0;
        self.instantiate(id, Vec::new(), at, (None, None))
    }

    /// One stream with its arguments (captured values first).
    pub fn instantiate(
        &mut self,
        id: DeclId,
        args: Vec<Const>,
        added: Span,
        inferred: (Option<Ty>, Option<Ty>),
    ) -> Option<Inst> {
        if self.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed)) {
            self.stopped = true;
        }
        if self.stopped {
            return None;
        }
        self.instances += 1;
        let ast = self.w.decl(id).ast.clone();
        if self.instances > self.limits.instances {
            let n = self.limits.instances;
            self.stop(
                Diagnostic::error(
                    "E0400",
                    format!("the program has more than {n} streams"),
                    added,
                    "this is one too many",
                )
                .help("is a loop or a recursion longer than meant? `--max-filters N` raises the limit"),
            );
            return None;
        }
        if self.chain.len() >= self.limits.depth {
            let n = self.limits.depth;
            let name = self.w.decl(id).name.clone();
            self.stop(
                Diagnostic::error(
                    "E0402",
                    format!("streams are nested more than {n} deep"),
                    added,
                    format!("`{name}` again"),
                )
                .label(ast.header.0, "this stream adds itself, directly or through others")
                .help("a recursive stream needs an end: an `if` on a parameter that shrinks"),
            );
            return None;
        }
        if self.used.last() != Some(&id) && !self.used.contains(&id) {
            self.used.push(id);
        }
        match ast.kind {
            StreamKind::Filter => self.filter(id, args, added, inferred),
            _ => {
                let code = check::composite::composite(self.w, id)?;
                let shown: Vec<String> = args[self.w.decl(id).env.len().min(args.len())..]
                    .iter()
                    .map(check::filter::show_argument)
                    .collect();
                let name = self.w.decl(id).name.to_string();
                let display = if shown.is_empty() { name.clone() } else { format!("{name}({})", shown.join(", ")) };
                if !self.named(name.len(), display.len(), added) {
                    return None;
                }
                self.chain.push((display.clone(), added));
                self.path += name.len() + 1;
                let path = name.len() + 1;
                let inst = self.composite(&ast, &code, args, added, inferred, name, display);
                self.chain.pop();
                self.path -= path;
                inst
            }
        }
    }

    fn filter(
        &mut self,
        id: DeclId,
        args: Vec<Const>,
        added: Span,
        inferred: (Option<Ty>, Option<Ty>),
    ) -> Option<Inst> {
        if !check::filter::general(self.w, id) {
            return None;
        }
        let ast = self.w.decl(id).ast.clone();
        // a declared type leaves nothing to infer: instances with equal arguments share code wherever they stand
        let (i, o) = if ast.io.is_some() { (None, None) } else { inferred };
        if ast.io.is_none() && matches!(i, None | Some(Ty::Void)) && reads_input(&ast) {
            self.report(
                Diagnostic::error(
                    "E0418",
                    "the type of this filter's input cannot be inferred",
                    ast.header.0,
                    "nothing before it says what comes in",
                )
                .help("write the type: `add float->float filter { ... }`"),
            );
            return None;
        }
        let key = (id, args, i, o);
        let code = match self.memo.get(&key) {
            Some(code) => *code,
            None => {
                if self.codes.len() >= self.limits.codes {
                    let n = self.limits.codes;
                    self.stop(
                        Diagnostic::error(
                            "E0400",
                            format!("the program has more than {n} different filters"),
                            added,
                            "this is one too many",
                        )
                        .help("filters with equal arguments share their code: can the arguments be fewer?"),
                    );
                    return None;
                }
                let before = self.w.diagnostics.len();
                let io = (key.2.clone().or_else(|| untyped_end(&ast)), key.3.clone());
                let made = check::filter::specialise(self.w, id, &key.1, io);
                let at = self.w.sources.describe(added);
                for d in self.w.diagnostics.iter_mut().skip(before) {
                    d.notes.push(format!("for the instance added at {at}"));
                }
                let code = made.map(|c| {
                    self.codes.push(c);
                    CodeId::from(self.codes.len() - 1)
                });
                self.memo.insert(key, code);
                code
            }
        }?;
        let c = &self.codes[code.index()];
        let (name, display) = (c.name.len(), c.display.len());
        let own = c.fields.iter().filter(|f| !f.constant && f.ty.is_aggregate());
        let own: u64 = own.map(|f| value::size(&f.ty, &self.globals).unwrap_or(0)).sum();
        self.state = self.state.saturating_add(own);
        if !self.named(name, display, added) || !self.stores(added) {
            return None;
        }
        let c = &self.codes[code.index()];
        Some(Inst {
            kind: InstKind::Filter(code),
            display: c.display.clone(),
            name: c.name.to_string(),
            decl: c.span,
            added,
            io: (c.input.clone(), c.output.clone()),
            portals: Vec::new(),
        })
    }

    /// Counts the names of one more instance; false where they have become too long.
    fn named(&mut self, name: usize, display: usize, added: Span) -> bool {
        // a node has its path; the hierarchy has the others once more
        self.names = self.names.saturating_add(self.path + 3 * name + 2 * display);
        if self.names > self.limits.names {
            let limit = self.limits.names >> 20;
            let title = format!("the names of the program's streams take more than {limit} MiB");
            self.stop(
                Diagnostic::error("E0400", title, added, "this is one too many")
                    .help("each filter is called by the names of all streams around it: are they very long?"),
            );
        }
        !self.stopped
    }

    /// False where filters keep too much.
    fn stores(&mut self, added: Span) -> bool {
        if self.state > self.limits.state {
            let title = format!("the program's filters keep more than {} values", self.limits.state);
            self.stop(
                Diagnostic::error("E0400", title, added, "this is one too many")
                    .help("arrays that a firing writes belong to each instance: can they be smaller?"),
            );
        }
        !self.stopped
    }

    /// A fresh portal.
    pub fn portal(&mut self) -> PortalId {
        self.portals += 1;
        PortalId(self.portals - 1)
    }
}

/// An untyped filter that neither pops nor peeks takes nothing.
fn untyped_end(ast: &ast::StreamDecl) -> Option<Ty> {
    (ast.io.is_none() && !reads_input(ast)).then_some(Ty::Void)
}

fn reads_input(ast: &ast::StreamDecl) -> bool {
    let ast::StreamBody::Filter(members) = &ast.body else { return false };
    members.iter().any(|m| match m {
        ast::Member::Work(w) | ast::Member::Prework(w) => w.rates.iter().any(|r| r.kind != ast::RateKind::Push),
        _ => false,
    })
}
