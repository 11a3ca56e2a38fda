//! What a request sees: the program as it is this moment, and what is known of it, from an analysis that may be older. Cheap to make; nothing in it changes.

use super::outside;
use super::scheduled::Scheduled;
use super::settings::Settings;
use super::shift::Shift;
use super::syntax::Syntax;
use crate::convert::Text;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::HierId;
use sluice_frontend::{Analysis, Elaborated};
use sluice_grammar::span::{FileId, Span};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tower_lsp::lsp_types::Url;

/// A finished analysis.
#[derive(Debug)]
pub struct Analysed {
    /// What it found.
    pub analysis: Analysis,
    /// Of which state of the world.
    pub generation: u64,
    facts: OnceLock<Facts>,
}

/// Items in and out; `None` where a firing decides.
pub type Flow = (Option<u64>, Option<u64>);

/// What hints and hovers ask of a program again and again.
#[derive(Debug, Default)]
pub struct Facts {
    /// Instances by the `add` that made them.
    pub added: HashMap<Span, Vec<HierId>>,
    /// Instances by the header of their declaration.
    pub declared: HashMap<Span, Vec<HierId>>,
    /// By instance: items that enter and leave in a steady state; `None` where a firing decides.
    pub flow: Vec<Flow>,
    /// By loop whose way back has items at the start: the `enqueue`s that it needs.
    pub needed: HashMap<HierId, u64>,
}

impl Analysed {
    /// Keeps an analysis.
    pub fn new(analysis: Analysis, generation: u64) -> Analysed {
        Analysed { analysis, generation, facts: OnceLock::new() }
    }

    /// The program, where there is one.
    pub fn program(&self) -> Option<&Elaborated> {
        self.analysis.program.as_ref()
    }

    /// The facts; made when they are first asked for.
    pub fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| self.program().map_or_else(Facts::default, facts))
    }
}

fn facts(program: &Elaborated) -> Facts {
    let (graph, steady) = (&program.graph, &program.steady);
    let mut facts = Facts { flow: vec![(Some(0), Some(0)); graph.hierarchy.len()], ..Facts::default() };
    for (i, h) in graph.hierarchy.iter().enumerate() {
        facts.added.entry(h.added).or_default().push(HierId::from(i));
        facts.declared.entry(h.decl).or_default().push(HierId::from(i));
    }
    let mut depth = vec![0u32; graph.hierarchy.len()];
    for i in 0..graph.hierarchy.len() {
        depth[i] = graph.hierarchy[i].parent.map_or(0, |p| depth[p.index()] + 1);
    }
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let items =
            |n: sluice_frontend::ids::NodeId, each: Option<u32>| Some(steady.repetitions[n.index()] * u64::from(each?));
        let (gives, takes) = match c.dynamic {
            true => (None, None),
            false => (items(c.from.0, graph.gives(id)), items(c.to.0, graph.takes(id))),
        };
        // up to what holds both ends; an open end of the program is outside all of it
        let open = |n| is_open(graph, n);
        let (mut a, mut b) = (Some(graph.node(c.from.0).hier), Some(graph.node(c.to.0).hier));
        if open(c.from.0) {
            a = None;
        }
        if open(c.to.0) {
            b = None;
        }
        let up = |h: HierId| graph.hierarchy[h.index()].parent;
        let deep = |h: Option<HierId>| h.map_or(-1, |h| i64::from(depth[h.index()]));
        while a != b {
            let (side, out) = if deep(a) >= deep(b) { (&mut a, true) } else { (&mut b, false) };
            let Some(h) = *side else { break };
            let (i, o) = &mut facts.flow[h.index()];
            match out {
                true => *o = o.zip(gives).map(|(x, y)| x + y),
                false => *i = i.zip(takes).map(|(x, y)| x + y),
            }
            *side = up(h);
        }
    }
    for c in graph.channels.iter().filter(|c| c.feedback && !c.initial.is_empty()) {
        let hier = graph.node(c.to.0).hier;
        if let Some(n) = needed(graph, c.to) {
            facts.needed.insert(hier, n);
        }
    }
    facts
}

fn is_open(graph: &SdfGraph, n: sluice_frontend::ids::NodeId) -> bool {
    use sluice_frontend::graph::{Endpoint, NodeKind};
    matches!(graph.node(n).kind, NodeKind::Reader(Endpoint::Open) | NodeKind::Writer(Endpoint::Open))
}

/// Programs with more nodes are not tried with fewer items.
const MOST_NODES: usize = 2_000;

/// The fewest items on a way back with which the program still starts: more never hurt.
fn needed(graph: &SdfGraph, to: (sluice_frontend::ids::NodeId, u32)) -> Option<u64> {
    if graph.nodes.len() > MOST_NODES {
        return None;
    }
    let channel = graph.node(to.0).inputs.get(to.1 as usize)?.index();
    let mut tried = graph.clone();
    let all = tried.channels[channel].initial.clone();
    let (mut least, mut most) = (0, all.len());
    while least < most {
        let middle = (least + most) / 2;
        tried.channels[channel].initial = all[..middle].to_vec();
        match sluice_frontend::steady_state::steady_state(&tried) {
            Ok(_) => most = middle,
            Err(_) => least = middle + 1,
        }
    }
    Some(most as u64)
}

/// An analysis, and where its places are now.
#[derive(Clone, Debug)]
pub struct Known {
    /// The analysis.
    pub of: Arc<Analysed>,
    /// By its files: the file now, and how its text has changed; `None` for one that is gone.
    files: Vec<Option<(FileId, Option<Shift>)>>,
    /// Are the texts the present ones?
    pub current: bool,
}

impl Known {
    /// Compares the texts of an analysis with those of now.
    pub fn new(of: Arc<Analysed>, syntax: &Syntax) -> Known {
        let file = |f: &sluice_grammar::span::SourceFile| {
            let id = syntax.find(&f.name)?;
            Some((id, Shift::between(&f.text, syntax.text(id).as_str())))
        };
        let files: Vec<_> = of.analysis.sources.files().map(|(_, f)| file(f)).collect();
        let current = files.iter().all(|f| matches!(f, Some((_, None)))) && files.len() == syntax.files.len();
        Known { of, files, current }
    }

    /// Where a place of the analysis is now.
    pub fn now(&self, span: Span) -> Option<Span> {
        let (file, shift) = (*self.files.get(span.file.0 as usize)?)?;
        let range = match shift {
            Some(shift) => shift.forward(span.start..span.end)?,
            None => span.start..span.end,
        };
        Some(Span { file, start: range.start, end: range.end })
    }

    /// Where a place was in the analysis.
    pub fn then(&self, span: Span) -> Option<Span> {
        let (i, (_, shift)) =
            self.files.iter().enumerate().find_map(|(i, f)| Some((i, (*f).filter(|f| f.0 == span.file)?)))?;
        let back = |at| shift.map_or(Some(at), |s| s.back(at));
        Some(Span { file: FileId(i as u32), start: back(span.start)?, end: back(span.end)? })
    }

    /// The program.
    pub fn program(&self) -> Option<&Elaborated> {
        self.of.program()
    }
}

/// A schedule, and the analysis that it is of.
#[derive(Clone, Debug)]
pub struct KnownSchedule {
    /// The schedule, or why there is none.
    pub of: Arc<Scheduled>,
    /// Is it of the present texts?
    pub current: bool,
}

/// What a request sees.
#[derive(Clone, Debug)]
pub struct View {
    /// What the program is called: as its file, or its project's manifest.
    pub program: String,
    /// What the client calls the open documents.
    pub uris: Arc<BTreeMap<String, Url>>,
    /// The program as it is.
    pub syntax: Arc<Syntax>,
    /// The file that is asked about.
    pub file: FileId,
    /// The newest analysis.
    pub latest: Option<Known>,
    /// The newest analysis that gave a program.
    pub good: Option<Known>,
    /// The newest schedule.
    pub schedule: Option<KnownSchedule>,
    /// The settings.
    pub settings: Arc<Settings>,
}

impl View {
    /// The text of the file.
    pub fn text(&self) -> &Text {
        self.syntax.text(self.file)
    }

    /// The tree of the file.
    pub fn tree(&self) -> &sluice_grammar::ast::Program {
        self.syntax.tree(self.file)
    }

    /// Is a file the copy of one of the library's, which somebody has opened to read it?
    pub fn is_copy(&self, file: FileId) -> bool {
        outside::is_shown(self.settings.shown.as_deref().map(Path::new), &self.syntax.file(file).name)
    }

    /// A span of the file.
    pub fn span(&self, start: u32, end: u32) -> Span {
        Span { file: self.file, start, end }
    }
}
