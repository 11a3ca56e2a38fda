//! # lower
//!
//! Purpose: a filter's typed code as a kernel. Input: [`FilterCode`] and [`Globals`]. Output: a [`Kernel`] before `lower_channels`,
//! or the construct that native code does not have.
//!
//! ```text
//! push(a[i] + pop());   →   check index $1 8
//!                           $2 = $0[$1]
//!                           pop $3
//!                           push ($2 + $3)
//! ```
//!
//! Invariant: the kernel does exactly what the interpreter does with the typed code, in the same order; expressions are pure.
//! Work and prework have their own copies of the functions they call, so that a function belongs to one set of rates.

mod choice;
mod effects;
mod expr;
mod place;
mod stmt;
mod text;

use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::*;
use sluice_frontend::slow::Held;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::{self, FilterCode, Globals, WorkDef};
use sluice_grammar::span::Span;
use std::collections::BTreeMap;

/// How to lower.
#[derive(Clone, Copy, Debug, Default)]
pub struct LowerOptions {
    /// Leave out the checks of array indices and divisors (`--unchecked`). Checks of rates stay: they guard the buffers.
    pub unchecked: bool,
    /// The arithmetic of floats may have other bytes (`--fast-math`).
    pub free: bool,
}

/// Something that native code does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What, as the start of a sentence.
    pub what: String,
    /// Where.
    pub span: Span,
}

/// The result of lowering something.
pub type Lowered<T> = Result<T, Unsupported>;

/// Lowers a filter.
pub fn lower(code: &FilterCode, globals: &Globals, options: LowerOptions) -> Lowered<Kernel> {
    with_fields(code, globals, options).map(|(kernel, _)| kernel)
}

/// One turn of a filter that does the firings of several streams.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The turn's kernel; passes may be run over it as over any other.
    pub kernel: Kernel,
    /// By its state, the state of the kernel of all streams whose element s (elements of arrays of arrays in a row) turn s has; `None` is
    /// for what lives no longer than a firing. State that passes add is of that kind, too.
    pub state: Vec<Option<StateId>>,
}

/// Lowers one turn of a filter that was made for several streams; `None` where it was not. States of the kernel for all streams
/// are those that [`lower`] gives it.
pub fn lower_turn(code: &FilterCode, globals: &Globals, options: LowerOptions) -> Option<Lowered<Turn>> {
    let turns = code.turns.as_ref()?;
    Some(with_fields(code, globals, options).and_then(|(_, all)| {
        let (kernel, own) = with_fields(&turns.turn, globals, options)?;
        let place = |f: &FieldId| {
            let held = turns.held(*f) == Held::Element;
            all.iter().position(|g| held && g == f).map(StateId::from)
        };
        Ok(Turn { kernel, state: own.iter().map(place).collect() })
    }))
}

/// Lowers a filter; also tells which field each state of the kernel is.
fn with_fields(code: &FilterCode, globals: &Globals, options: LowerOptions) -> Lowered<(Kernel, Vec<FieldId>)> {
    let structs = globals.structs.iter().map(|s| StructType {
        name: s.name.to_string(),
        fields: s.fields.iter().map(|(n, t)| (n.to_string(), t.clone())).collect(),
    });
    let nowhere = Work { function: FuncId(0), rates: Rates::default(), dynamic: None };
    let kernel = Kernel {
        name: code.name.to_string(),
        display: code.display.clone(),
        span: code.span,
        input: code.input.clone(),
        output: code.output.clone(),
        structs: structs.collect(),
        state: Vec::new(),
        tables: Vec::new(),
        natives: Vec::new(),
        functions: Vec::new(),
        work: nowhere,
        prework: None,
        handlers: Vec::new(),
        free: options.free,
        lanes: None,
        steps: None,
        tapes: Vec::new(),
        chosen: Vec::new(),
        elsewhere: Vec::new(),
    };
    let mut l = Lowering {
        code,
        globals,
        options,
        kernel,
        states: BTreeMap::new(),
        tables: BTreeMap::new(),
        natives: BTreeMap::new(),
        functions: BTreeMap::new(),
        queue: Vec::new(),
    };
    l.kernel.work = l.work(&code.work, Entry::Work)?;
    if let Some(p) = &code.prework {
        l.kernel.prework = Some(l.work(p, Entry::Prework)?);
    }
    for h in &code.handlers {
        let f = l.function(typed::Callee::Own(h.function), Entry::Handler);
        l.kernel.handlers.push((h.name.to_string(), f));
    }
    l.drain()?;
    crate::verify::debug_verify(&l.kernel, "lower");
    let mut fields: Vec<(StateId, FieldId)> = l.states.iter().map(|(field, state)| (*state, *field)).collect();
    fields.sort_unstable();
    Ok((l.kernel, fields.into_iter().map(|(_, field)| field).collect()))
}

/// From where a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entry {
    /// `work`
    Work,
    /// `prework`
    Prework,
    /// A message handler.
    Handler,
}

/// Where a constant comes from that is a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Field(FieldId),
    Static(StaticId),
}

/// What is lowered so far.
struct Lowering<'a> {
    code: &'a FilterCode,
    globals: &'a Globals,
    options: LowerOptions,
    kernel: Kernel,
    states: BTreeMap<FieldId, StateId>,
    tables: BTreeMap<Source, TableId>,
    natives: BTreeMap<NativeId, u32>,
    functions: BTreeMap<(Entry, bool, u32), FuncId>,
    /// Functions that have an id but no body yet.
    queue: Vec<(&'a typed::Function, Entry, FuncId)>,
}

impl<'a> Lowering<'a> {
    fn work(&mut self, w: &WorkDef, entry: Entry) -> Lowered<Work> {
        let f = self.code.function(w.function);
        let id = self.reserve(f);
        let body = FunctionLowering::new(self, f, entry, Some(w)).run()?;
        self.kernel.functions[id.index()] = body;
        // an attempt, if any of the filter's firings is one; averages are of no use here
        let plain = |r: Option<DynamicRate>| r.map(|r| DynamicRate { avg: None, ..r });
        let own = w.dynamic.unwrap_or_default();
        let own = DynamicRates { peek: plain(own.peek), pop: plain(own.pop), push: plain(own.push) };
        // what is behind comes into the window when fields are gone
        let rates = Rates { peek: w.rates.peek - self.code.behind, ..w.rates };
        Ok(Work { function: id, rates, dynamic: self.code.dynamic().then_some(own) })
    }

    fn reserve(&mut self, f: &typed::Function) -> FuncId {
        let id = FuncId::from(self.kernel.functions.len());
        self.kernel.functions.push(Function {
            name: f.name.to_string(),
            params: 0,
            locals: Vec::new(),
            ret: Ty::Void,
            body: Vec::new(),
            span: f.span,
        });
        id
    }

    fn drain(&mut self) -> Lowered<()> {
        while let Some((f, entry, id)) = self.queue.pop() {
            let body = FunctionLowering::new(self, f, entry, None).run()?;
            self.kernel.functions[id.index()] = body;
        }
        Ok(())
    }

    /// The function's id; it is lowered later.
    fn function(&mut self, callee: typed::Callee, entry: Entry) -> FuncId {
        let (f, key) = match callee {
            typed::Callee::Own(id) => (self.code.function(id), (entry, false, id.0)),
            // a helper has no channels and no fields: one copy is enough
            typed::Callee::Helper(id) => (&self.globals.helpers[id.index()], (Entry::Work, true, id.0)),
            typed::Callee::Native(_) => unreachable!("natives have no bodies"),
        };
        if let Some(id) = self.functions.get(&key) {
            return *id;
        }
        let id = self.reserve(f);
        self.functions.insert(key, id);
        self.queue.push((f, key.0, id));
        id
    }

    fn native(&mut self, id: NativeId) -> u32 {
        let n = &self.globals.natives[id.index()];
        *self.natives.entry(id).or_insert_with(|| {
            self.kernel.natives.push(Native {
                id,
                name: n.name.to_string(),
                params: n.params.iter().map(|(_, t)| t.clone()).collect(),
                ret: n.ret.clone(),
            });
            self.kernel.natives.len() as u32 - 1
        })
    }

    /// The base of a field, or its value where that is a constant scalar.
    fn field(&mut self, id: FieldId) -> Result<Base, Const> {
        let f = &self.code.fields[id.index()];
        if !f.constant {
            let kernel = &mut self.kernel;
            let s = *self.states.entry(id).or_insert_with(|| {
                let (name, ty, initial) = (f.name.to_string(), f.ty.clone(), f.initial.clone());
                kernel.state.push(StateField { name, ty, initial });
                StateId::from(kernel.state.len() - 1)
            });
            return Ok(Base::State(s));
        }
        self.constant(Source::Field(id), &f.name, &f.ty, &f.initial)
    }

    /// As [`Lowering::field`], of a static.
    fn static_var(&mut self, id: StaticId) -> Result<Base, Const> {
        let s = &self.globals.statics[id.index()];
        self.constant(Source::Static(id), &s.name, &s.ty, &s.value)
    }

    fn constant(&mut self, source: Source, name: &str, ty: &Ty, value: &Const) -> Result<Base, Const> {
        if !ty.is_aggregate() {
            return Err(value.clone());
        }
        let shared = if let Source::Static(id) = source { Some(id) } else { None };
        let kernel = &mut self.kernel;
        Ok(Base::Table(*self.tables.entry(source).or_insert_with(|| {
            kernel.tables.push(Table {
                name: name.to_string(),
                ty: ty.clone(),
                value: value.clone(),
                shared,
                own: None,
            });
            TableId::from(kernel.tables.len() - 1)
        })))
    }

    /// A table for a constant written in the code.
    fn literal(&mut self, ty: &Ty, value: Const) -> TableId {
        if let Some(i) = self.kernel.tables.iter().position(|t| t.ty == *ty && t.value == value) {
            return TableId::from(i);
        }
        self.kernel.tables.push(Table { name: "literal".into(), ty: ty.clone(), value, shared: None, own: None });
        TableId::from(self.kernel.tables.len() - 1)
    }
}

/// What a construct around the current statement is good for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// A loop in which `continue` starts the next turn.
    While,
    /// A loop with something after the body.
    Loop,
    /// The body of such a loop: `continue` leaves it.
    Body,
    /// `switch`: `break` leaves it.
    Switch,
    /// The work function: `return` leaves it.
    Work,
}

/// Lowers one function.
struct FunctionLowering<'a, 'l> {
    l: &'l mut Lowering<'a>,
    f: &'a typed::Function,
    entry: Entry,
    /// Is it work or prework?
    work: bool,
    /// Check pops and pushes, and that all was pushed at this span.
    check_counts: Option<Span>,
    /// Check peeks.
    check_peeks: bool,
    locals: Vec<Local>,
    /// Locals that are only another name for a table.
    tables: BTreeMap<LocalId, TableId>,
    /// Statements of the list that is being made.
    out: Vec<Stmt>,
    nest: Vec<Frame>,
    /// Of the statement that is being lowered.
    span: Span,
}

impl<'a, 'l> FunctionLowering<'a, 'l> {
    fn new(l: &'l mut Lowering<'a>, f: &'a typed::Function, entry: Entry, work: Option<&WorkDef>) -> Self {
        let of_entry = match entry {
            Entry::Work => Some(&l.code.work),
            Entry::Prework => l.code.prework.as_ref(),
            Entry::Handler => None,
        };
        // an attempt looks at every item whether it is there
        let attempt = l.code.dynamic();
        let check_counts = of_entry.filter(|w| attempt || !w.counts_proved).map(|w| w.span);
        let check_peeks = of_entry.is_some_and(|w| attempt || !w.peeks_proved);
        let locals = f.locals.iter().map(|v| Local { name: v.name.to_string(), ty: v.ty.clone(), by_ref: v.by_ref });
        FunctionLowering {
            f,
            entry,
            work: work.is_some(),
            check_counts,
            check_peeks,
            locals: locals.collect(),
            tables: BTreeMap::new(),
            out: Vec::new(),
            nest: Vec::new(),
            span: f.span,
            l,
        }
    }

    fn run(mut self) -> Lowered<Function> {
        let f = self.f;
        if self.work {
            let body = self.nested(Frame::Work, |s| s.stmts(&f.body))?;
            self.push(StmtKind::Block(body));
            if let Some(span) = self.check_counts {
                self.out.push(StmtKind::Check(Check::Pushed).at(span));
                if self.l.code.dynamic() {
                    self.out.push(StmtKind::Check(Check::Popped).at(span));
                }
            }
        } else {
            self.stmts(&f.body)?;
            if f.ret != Ty::Void && !crate::walk::diverges(&self.out) {
                self.out.push(StmtKind::Check(Check::NoResult).at(f.span));
            }
        }
        // portals are of no use at run time
        for v in &mut self.locals {
            if matches!(v.ty, Ty::Portal(_)) {
                v.ty = Ty::Int;
            }
            if v.ty == Ty::Str {
                return Err(Unsupported { what: "a variable that holds text".into(), span: f.span });
            }
        }
        Ok(Function {
            name: f.name.to_string(),
            params: f.params,
            locals: self.locals,
            ret: f.ret.clone(),
            body: self.out,
            span: f.span,
        })
    }

    fn push(&mut self, kind: StmtKind) {
        self.out.push(kind.at(self.span));
    }

    /// The statements that `make` makes.
    fn collect(&mut self, make: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<Vec<Stmt>> {
        let outer = std::mem::take(&mut self.out);
        let r = make(self);
        let inner = std::mem::replace(&mut self.out, outer);
        r.map(|()| inner)
    }

    fn nested(&mut self, frame: Frame, make: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<Vec<Stmt>> {
        self.nest.push(frame);
        let r = self.collect(make);
        self.nest.pop();
        r
    }

    fn temp(&mut self, name: &str, ty: Ty) -> LocalId {
        self.locals.push(Local { name: name.into(), ty, by_ref: false });
        LocalId::from(self.locals.len() - 1)
    }

    fn unsupported<T>(&self, what: &str) -> Lowered<T> {
        Err(Unsupported { what: what.into(), span: self.span })
    }
}
