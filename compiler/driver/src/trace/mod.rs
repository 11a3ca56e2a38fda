//! # trace
//!
//! Purpose: what a run does, firing by firing, as `sluice run --trace` shows it. Input: what the interpreter tells its observer.
//! Output: text, or the JSON lines of docs/json.md, on standard error or in a file.
//!
//! ```text
//! -- steady state 1
//! count.str:5: Main.Count  firing 1  push 0
//! count.str:9: Main.Show   firing 1  pop 0  print "0\n"
//! ```
//!
//! Only the firings that are chosen are gathered and written, at most as many as the limit says; the run goes on without.

mod json;
mod select;
mod text;
pub mod value;

pub use select::FiringRange;

use crate::exit::Fault;
use crate::io::sink::{SharedOut, Sink};
use crate::session;
use crate::streams::{self, Stream};
use sluice_frontend::Elaborated;
use sluice_frontend::ids::{FieldId, FnId, NodeId};
use sluice_frontend::typed::FilterCode;
use sluice_grammar::span::SourceMap;
use sluice_interpret::observe::{Change, Delivered, Fired, Observer, Outcome};
use std::fmt::Write;

/// Firings shown, where nothing else is said.
pub const LIMIT: u64 = 1000;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TraceFormat {
    /// For people.
    #[default]
    Text,
    /// JSON lines, as docs/json.md describes.
    Json,
}

/// What is traced, and how it is shown.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// Patterns of streams; none: all streams.
    pub filters: Vec<String>,
    /// Kinds of streams; none: all kinds.
    pub kinds: Vec<String>,
    /// Firings; none: all.
    pub firings: Vec<FiringRange>,
    /// Firings shown at most; `None`: all.
    pub limit: Option<u64>,
    /// Show the fields that change, too.
    pub state: bool,
    /// Show attempts that were abandoned, too.
    pub attempts: bool,
    /// How.
    pub format: TraceFormat,
    /// Where to; without, standard error.
    pub output: Option<String>,
}

/// A program and its streams: what the two ways of writing name things by.
struct Names<'a> {
    program: &'a Elaborated,
    sources: &'a SourceMap,
    streams: Vec<Stream>,
}

impl Names<'_> {
    fn code(&self, node: NodeId) -> Option<&FilterCode> {
        match self.program.graph.node(node).kind {
            sluice_frontend::graph::NodeKind::Filter { code, .. } => self.program.codes.get(code.index()),
            _ => None,
        }
    }

    fn path(&self, node: NodeId) -> &str {
        &self.streams[node.index()].path
    }

    /// The types of a handler's parameters, its name, and where it is.
    fn handler(&self, node: NodeId, id: FnId) -> Option<&sluice_frontend::typed::Function> {
        self.code(node)?.functions.get(id.index())
    }

    /// The handler that messages of this name call at a receiver.
    fn handler_named(&self, node: NodeId, name: &str) -> Option<&sluice_frontend::typed::Function> {
        let code = self.code(node)?;
        let handler = code.handlers.iter().find(|h| &*h.name == name)?;
        code.functions.get(handler.function.index())
    }

    /// `gains[3].left`, and the type of that part.
    fn part_of_field(&self, node: NodeId, field: FieldId, at: &[usize]) -> (String, &sluice_frontend::ty::Ty) {
        let def = self.code(node).and_then(|c| c.fields.get(field.index()));
        let Some(def) = def else { return ("?".into(), &sluice_frontend::ty::Ty::Error) };
        let (mut name, mut ty) = (def.name.to_string(), &def.ty);
        for i in at {
            let (part, member) = value::part(ty, *i, &self.program.globals);
            let _ = match member {
                Some(member) => write!(name, ".{member}"),
                None => write!(name, "[{i}]"),
            };
            ty = part;
        }
        (name, ty)
    }

    fn changes<'c>(
        &'c self,
        node: NodeId,
        all: &'c [Change],
    ) -> impl Iterator<Item = (String, value::Typed<'c>, value::Typed<'c>)> {
        all.iter().map(move |c| {
            let (name, ty) = self.part_of_field(node, c.field, &c.at);
            let typed = |value| value::Typed { value, ty, globals: &self.program.globals };
            (name, typed(&c.before), typed(&c.after))
        })
    }
}

/// Where it goes.
enum Target {
    /// Standard error, a line at a time.
    Err,
    /// Standard output or a file.
    Sink(Sink),
    /// Nowhere any more.
    Closed,
}

/// A trace being written.
pub struct Trace<'a> {
    names: Names<'a>,
    options: TraceOptions,
    chosen: Vec<bool>,
    text: text::Layout,
    target: Target,
    /// Firings shown.
    shown: u64,
    /// There were more.
    cut: bool,
    /// The steady state last shown.
    steady_state: Option<u64>,
    /// Steady states that were complete at the end.
    steady_states: u64,
    fault: Option<Fault>,
}

impl<'a> Trace<'a> {
    /// Chooses the streams and opens the file.
    pub fn open(
        program: &'a Elaborated,
        sources: &'a SourceMap,
        options: &TraceOptions,
        out: &SharedOut,
    ) -> Result<Trace<'a>, Fault> {
        let names = Names { program, sources, streams: streams::all(program, sources) };
        let chosen = select::streams(&names.streams, &options.filters, &options.kinds)?;
        let target = match &options.output {
            Some(path) => Target::Sink(Sink::open(path, out)?),
            None => Target::Err,
        };
        let text = text::Layout::of(&names, &chosen);
        let mut trace = Trace {
            names,
            options: options.clone(),
            chosen,
            text,
            target,
            shown: 0,
            cut: false,
            steady_state: None,
            steady_states: 0,
            fault: None,
        };
        if options.format == TraceFormat::Json {
            let head = json::head(&trace.names);
            trace.write(&head);
        }
        Ok(trace)
    }

    fn write(&mut self, text: &str) {
        match &mut self.target {
            Target::Err => session::say(text),
            Target::Sink(sink) => {
                if let Err(fault) = sink.write(text.as_bytes()) {
                    self.fault = Some(fault);
                    self.target = Target::Closed;
                } else if sink.is_broken() {
                    self.target = Target::Closed;
                }
            }
            Target::Closed => {}
        }
    }

    /// Writes what remains; the file gets its name.
    pub fn close(mut self) -> Result<(), Fault> {
        let last = match self.options.format {
            TraceFormat::Json => json::last(self.shown, self.cut, self.steady_states),
            TraceFormat::Text => text::last(self.shown, self.cut),
        };
        self.write(&last);
        match (self.fault, self.target) {
            (Some(fault), _) => Err(fault),
            (None, Target::Sink(sink)) => sink.finish(&[]),
            (None, _) => Ok(()),
        }
    }

    /// Does it go to standard error?
    pub fn is_on_standard_error(&self) -> bool {
        matches!(self.target, Target::Err)
    }

    /// A heading in the text, where a new steady state begins.
    fn heading(&mut self, steady_state: u64) {
        if self.options.format == TraceFormat::Text && self.steady_state != Some(steady_state) {
            self.steady_state = Some(steady_state);
            self.write(&text::heading(steady_state));
        }
    }
}

impl Observer for Trace<'_> {
    fn wants(&mut self, node: NodeId, firing: u64) -> bool {
        let ranges = &self.options.firings;
        if self.cut || !self.chosen[node.index()] || !ranges.is_empty() && !ranges.iter().any(|r| r.holds(firing)) {
            return false;
        }
        self.cut = self.options.limit.is_some_and(|most| self.shown >= most);
        !self.cut && !matches!(self.target, Target::Closed)
    }

    fn wants_fields(&self) -> bool {
        self.options.state
    }

    fn initialised(&mut self, node: NodeId, printed: &str) {
        if self.chosen[node.index()] {
            let line = match self.options.format {
                TraceFormat::Json => json::initialised(&self.names, node, printed),
                TraceFormat::Text => self.text.initialised(&self.names, node, printed),
            };
            self.write(&line);
        }
    }

    fn delivered(&mut self, message: &Delivered, outcome: Outcome<'_>) {
        self.heading(message.steady_state);
        let line = match self.options.format {
            TraceFormat::Json => json::delivered(&self.names, message, outcome),
            TraceFormat::Text => self.text.delivered(&self.names, message, outcome),
        };
        self.write(&line);
    }

    fn finished(&mut self, steady_states: u64) {
        self.steady_states = steady_states;
    }

    fn fired(&mut self, firing: &Fired, outcome: Outcome<'_>) {
        if matches!(outcome, Outcome::Abandoned { .. }) && !self.options.attempts {
            return;
        }
        self.heading(firing.steady_state);
        self.shown += 1;
        let line = match self.options.format {
            TraceFormat::Json => json::fired(&self.names, firing, outcome),
            TraceFormat::Text => self.text.fired(&self.names, firing, outcome),
        };
        self.write(&line);
    }
}
