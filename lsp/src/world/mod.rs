//! # world
//!
//! Purpose: the open documents, and what is known of the programs that they belong to. Input: what the client tells of its documents. Output: a [`View`] for
//! each request, and news for the client ([`Listener`]) when a thread has found something out.
//!
//! ```text
//! change → documents → (request) syntax: parsed at once → View
//!                    ↘ analysis thread → Analysed → schedule thread, when nobody has typed for a while → Scheduled
//! ```
//!
//! An analysis is of a program (the sources of a project, or the file that nothing imports, and all that they import; the newest text of each). The newest text wins: an analysis that
//! is overtaken is cancelled. Requests never wait for either thread. What an analysis knows of an older text is shown where that has only moved ([`shift`]).

mod imports;
pub mod outside;
mod programs;
pub mod project;
pub mod scheduled;
pub mod settings;
pub mod shift;
pub mod syntax;
mod threads;
mod trees;
pub mod view;

use crate::convert::{Encoding, Text};
use crate::feature::diagnostics;
use imports::imports;
use outside::Disk;
use programs::root;
use project::Project;
use scheduled::Scheduled;
use settings::Settings;
use sluice_frontend::memo::Memo;
use sluice_frontend::{Loader, SourceInput};
use sluice_grammar::ast;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::FileId;
use sluice_schedule::method::Method;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use syntax::Syntax;
use tower_lsp::lsp_types::{self, TextDocumentContentChangeEvent, Url};
use trees::Trees;
use view::{Analysed, Known, KnownSchedule, View};

/// Documents may be this large, in bytes; of a larger one nothing is known.
pub const LARGEST_DOCUMENT: usize = 16 << 20;
/// A schedule is made when nobody has typed for so long.
const QUIET: Duration = Duration::from_millis(300);

/// Is told what the threads find out.
pub trait Listener: Send + Sync {
    /// A program has been analysed, its texts still being the present ones.
    fn analysed(&self, program: &str, view: &View);
    /// A program is none any more: no open document belongs to it.
    fn gone(&self, program: &str);
    /// A schedule is ready, or is being made, or cannot be made.
    fn scheduled(&self, program: &str);
    /// What is wrong with a manifest now; nothing, where there was something.
    fn manifest(&self, name: &str, text: Text, faults: Vec<lsp_types::Diagnostic>);
    /// Something inside has failed.
    fn failed(&self, what: &str);
}

/// An open document.
struct Document {
    version: i32,
    text: Text,
}

/// A program: it is called as its file, or its project's manifest. What is known of it.
#[derive(Default)]
struct Program {
    /// The state of the world when it changed last, and when it was analysed.
    changed: u64,
    done: u64,
    /// And when the listener was told.
    told: u64,
    /// The state of the world of `syntax`.
    parsed: u64,
    syntax: Option<Arc<Syntax>>,
    latest: Option<Arc<Analysed>>,
    good: Option<Arc<Analysed>>,
    schedule: Option<Arc<Scheduled>>,
    /// What its analyses keep from one to the next.
    memo: Memo,
    /// Counts what the threads have found out.
    landed: u64,
    /// The analysis that a schedule was asked of last.
    asked: u64,
    wants_schedule: bool,
}

#[derive(Default)]
struct State {
    documents: BTreeMap<String, Document>,
    /// What the client calls them: it may write as `%2B` what others write as `+`.
    uris: Arc<BTreeMap<String, Url>>,
    programs: BTreeMap<String, Program>,
    /// Counts changes.
    generation: u64,
    /// Counts what the threads have been woken for.
    wakes: u64,
    folders: Vec<PathBuf>,
    /// Files of the workspace and what they import; of documents, as they are now.
    imports: BTreeMap<String, Vec<String>>,
    /// Manifests in the folders above open documents.
    projects: BTreeMap<String, Project>,
    /// Those of which the client knows that something is wrong with them.
    faulty: BTreeSet<String>,
    settings: Arc<Settings>,
    encoding: Encoding,
    /// Cancels the analysis that runs.
    running: Option<(String, Arc<AtomicBool>)>,
    /// And the schedule that is being made.
    scheduling: Option<(String, Arc<AtomicBool>)>,
    ended: bool,
}

/// Open documents and programs; see the module.
pub struct World {
    state: Mutex<State>,
    changed: Condvar,
    disk: Disk,
    trees: Trees,
    /// Held while a program's files are parsed for requests: those that come together share what the first one makes.
    parsing: Mutex<()>,
    listener: Box<dyn Listener>,
}

/// What a loader sees: documents before files.
struct Sources<'w> {
    documents: BTreeMap<String, Text>,
    projects: BTreeMap<String, Project>,
    disk: &'w Disk,
    trees: &'w Trees,
    /// What is known of the program from before; for its analysis only.
    memo: Option<Memo>,
}

impl Sources<'_> {
    /// The files that a program begins with.
    fn inputs(&self, program: &str) -> Vec<SourceInput> {
        let empty = |name: &str| SourceInput { name: name.into(), text: String::new() };
        match self.projects.get(program) {
            Some(project) => project.sources.iter().filter_map(|name| self.get(name).ok()).collect(),
            None => vec![self.get(program).unwrap_or_else(|_| empty(program))],
        }
    }

    fn get(&self, name: &str) -> Result<SourceInput, String> {
        let text = match self.documents.get(name) {
            Some(text) => text.shared(),
            None if !Path::new(name).is_absolute() => return Err("it is not open in the editor".into()),
            None => self.disk.read(Path::new(name))?,
        };
        Ok(SourceInput { name: name.into(), text: text.to_string() })
    }
}

impl Loader for Sources<'_> {
    fn load(&mut self, from: &str, path: &str) -> Result<SourceInput, String> {
        let name = outside::beside(from, path).display().to_string();
        self.get(&name).map_err(|why| format!("{name}: {why}"))
    }

    fn memo(&mut self) -> Option<Memo> {
        self.memo.clone()
    }

    fn parse(&mut self, file: FileId, text: &str) -> (ast::Program, Vec<Diagnostic>) {
        self.trees.parse(file, text)
    }
}

impl World {
    /// An empty world, with its threads. They end when it is dropped.
    pub fn new(listener: Box<dyn Listener>) -> Arc<World> {
        let world = Arc::new(World {
            state: Mutex::default(),
            changed: Condvar::new(),
            disk: Disk::default(),
            trees: Trees::default(),
            parsing: Mutex::default(),
            listener,
        });
        for (name, work) in
            [("analysis", World::analyse_next as fn(&World) -> bool), ("schedule", World::schedule_next)]
        {
            let weak = Arc::downgrade(&world);
            let spawned = std::thread::Builder::new().name(name.into()).stack_size(64 << 20).spawn(move || {
                if name == "schedule" {
                    outside::give_way();
                }
                threads::go(&weak, work);
            });
            if let Err(e) = spawned {
                world.listener.failed(&format!("no thread for {name}: {e}"));
            }
        }
        world
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the client said at the start.
    pub fn begin(&self, encoding: Encoding, folders: Vec<PathBuf>, settings: Settings) {
        let mut state = self.state();
        (state.encoding, state.folders, state.settings) = (encoding, folders, Arc::new(settings));
    }

    /// Other settings.
    pub fn set(&self, settings: Settings) {
        let mut state = self.state();
        state.settings = Arc::new(settings);
        let all: Vec<String> = state.programs.keys().cloned().collect();
        state.generation += 1;
        let generation = state.generation;
        for name in all {
            if let Some(p) = state.programs.get_mut(&name) {
                (p.changed, p.asked) = (generation, 0);
            }
        }
        self.wake(&mut state);
    }

    /// The settings.
    pub fn settings(&self) -> Arc<Settings> {
        self.state().settings.clone()
    }

    /// The state of the world as a number that grows with every change.
    pub fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Looks at the files of the workspace: which of them import others.
    pub fn look_around(&self) {
        let folders = self.state().folders.clone();
        for path in folders.iter().flat_map(|f| outside::programs(f)) {
            let name = path.display().to_string();
            let Ok(text) = self.disk.read(&path) else { continue };
            let imports = match text.contains("import") {
                true => imports(&name, &sluice_grammar::parse(FileId(0), &text).0),
                false => Vec::new(),
            };
            let mut state = self.state();
            if !state.documents.contains_key(&name) {
                state.imports.insert(name, imports);
            }
        }
        let mut state = self.state();
        let open: Vec<String> = state.documents.keys().cloned().collect();
        open.iter().for_each(|name| touched(&mut state, name));
        self.wake(&mut state);
    }

    /// Files of the workspace that are known.
    pub fn files(&self) -> Vec<String> {
        self.state().imports.keys().cloned().collect()
    }

    /// A document has been opened; `uri` is what the client calls it.
    pub fn open(&self, name: &str, uri: Url, version: i32, text: String) {
        let mut state = self.state();
        Arc::make_mut(&mut state.uris).insert(name.into(), uri);
        let text = Text::new(bounded(text), state.encoding);
        self.find_projects(&mut state, name);
        state.documents.insert(name.into(), Document { version, text });
        self.edited(&mut state, name);
    }

    /// A document has been changed. False where it is not open.
    pub fn change(&self, name: &str, version: i32, changes: &[TextDocumentContentChangeEvent]) -> bool {
        let mut state = self.state();
        let Some(document) = state.documents.get_mut(name) else { return false };
        for change in changes {
            document.text = document.text.changed(change);
        }
        if document.text.as_str().len() > LARGEST_DOCUMENT {
            document.text = Text::new("", document.text_encoding());
        }
        document.version = version;
        self.edited(&mut state, name);
        true
    }

    /// A document has been closed: the file on the disk counts again.
    pub fn close(&self, name: &str) {
        let mut state = self.state();
        state.documents.remove(name);
        Arc::make_mut(&mut state.uris).remove(name);
        self.disk.forget(Path::new(name));
        let known = self.disk.read(Path::new(name)).ok();
        let known = known.map(|text| imports(name, &sluice_grammar::parse(FileId(0), &text).0));
        let others = known != state.imports.remove(name);
        state.imports.extend(known.map(|k| (name.into(), k)));
        state.generation += 1;
        if others {
            // what the document has imported may belong to another program now
            let open: Vec<String> = state.documents.keys().cloned().collect();
            open.iter().for_each(|name| touched(&mut state, name));
        }
        touched(&mut state, name);
        self.wake(&mut state);
    }

    /// A file on the disk is new, has changed, or is gone.
    pub fn disk_changed(&self, name: &str) {
        self.disk.forget(Path::new(name));
        let mut state = self.state();
        if state.documents.contains_key(name) {
            return;
        }
        match self.disk.read(Path::new(name)) {
            Ok(text) if name.ends_with(".str") => {
                state.imports.insert(name.into(), imports(name, &sluice_grammar::parse(FileId(0), &text).0));
            }
            _ => {
                state.imports.remove(name);
            }
        }
        let open: Vec<String> = state.documents.keys().cloned().collect();
        open.iter().for_each(|d| self.find_projects(&mut state, d));
        state.generation += 1;
        touched(&mut state, name);
        // what could not be imported may be there now
        let open: Vec<String> = state.documents.keys().cloned().collect();
        open.iter().for_each(|name| touched(&mut state, name));
        self.wake(&mut state);
    }

    /// Reads the manifests above a document.
    fn find_projects(&self, state: &mut State, name: &str) {
        for manifest in project::manifests(Path::new(name)) {
            let name = manifest.display().to_string();
            let text = self.disk.read(&manifest).ok();
            let (project, faults) = text.as_ref().map(|t| project::read(t, &manifest)).unwrap_or_default();
            match project {
                Some(project) => state.projects.insert(name.clone(), project),
                None => state.projects.remove(&name),
            };
            let known = state.faulty.contains(&name);
            if known || !faults.is_empty() {
                let text = Text::new(text.unwrap_or_else(|| "".into()), state.encoding);
                let told: Vec<_> = faults.into_iter().map(|f| diagnostics::of_manifest(&text, f)).collect();
                match told.is_empty() {
                    true => state.faulty.remove(&name),
                    false => state.faulty.insert(name.clone()),
                };
                self.listener.manifest(&name, text, told);
            }
        }
    }

    fn edited(&self, state: &mut State, name: &str) {
        state.generation += 1;
        let Some(document) = state.documents.get(name) else { return };
        let known = self.imports_now(name, &document.text.shared());
        let others = state.imports.get(name) != Some(&known);
        state.imports.insert(name.into(), known);
        if others {
            let open: Vec<String> = state.documents.keys().cloned().collect();
            open.iter().for_each(|name| touched(state, name));
        }
        touched(state, name);
        self.wake(state);
    }

    /// Cancels the analysis and the schedule of a program that has changed, wakes the threads.
    fn wake(&self, state: &mut State) {
        for (running, cancel) in state.running.iter().chain(&state.scheduling) {
            if state.programs.get(running).is_none_or(|p| p.changed > p.done) {
                cancel.store(true, Ordering::Relaxed);
            }
        }
        state.wakes += 1;
        self.changed.notify_all();
    }

    /// What a request about a document sees; `None` where the document is not open (and no file of a workspace).
    pub fn view(&self, name: &str) -> Option<View> {
        let (program, sources, parsed, before, generation, encoding, settings, uris);
        let making = self.parsing.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let state = self.state();
            if !state.documents.contains_key(name) && !state.imports.contains_key(name) {
                return None;
            }
            program = root(&state, name);
            generation = state.generation;
            encoding = state.encoding;
            settings = state.settings.clone();
            uris = state.uris.clone();
            let known = state.programs.get(&program);
            before = known.and_then(|p| p.syntax.clone());
            parsed = known.is_some_and(|p| p.parsed == generation);
            sources = self.sources(&state);
        }
        let syntax = match before {
            Some(syntax) if parsed => syntax,
            before => {
                let syntax = Arc::new(parse(&program, sources, encoding, before.as_deref()));
                let mut state = self.state();
                if state.generation == generation
                    && let Some(p) = state.programs.get_mut(&program)
                {
                    (p.parsed, p.syntax) = (generation, Some(syntax.clone()));
                }
                syntax
            }
        };
        drop(making);
        let file = syntax.find(name)?;
        let state = self.state();
        let known = state.programs.get(&program);
        let seen = |of: &Arc<Analysed>| Known::new(of.clone(), &syntax);
        let (latest, good, schedule) = match known {
            Some(p) => (p.latest.as_ref().map(seen), p.good.clone(), p.schedule.clone()),
            None => (None, None, None),
        };
        drop(state);
        let good = good.map(|g| match &latest {
            Some(l) if Arc::ptr_eq(&l.of, &g) => l.clone(),
            _ => seen(&g),
        });
        let current = |s: &Arc<Scheduled>| match &good {
            Some(g) => g.current && Arc::ptr_eq(&g.of, &s.of),
            None => false,
        };
        let schedule = schedule.map(|of| KnownSchedule { current: current(&of), of });
        Some(View { program, uris, syntax, file, latest, good, schedule, settings })
    }

    /// The program that a document belongs to.
    pub fn program_of(&self, name: &str) -> String {
        root(&self.state(), name)
    }

    /// A document's text and its version.
    pub fn document(&self, name: &str) -> Option<(Text, i32)> {
        self.state().documents.get(name).map(|d| (d.text.clone(), d.version))
    }

    /// Has a program been analysed since its last change, and has the listener heard of it?
    pub fn is_settled(&self, name: &str) -> bool {
        let state = self.state();
        state.programs.get(&root(&state, name)).is_some_and(|p| p.told >= p.changed)
    }

    /// How often the threads have found something out about the program of a document.
    pub fn landed(&self, name: &str) -> u64 {
        let state = self.state();
        state.programs.get(&root(&state, name)).map_or(0, |p| p.landed)
    }

    /// A view of each program that has open documents.
    pub fn programs(&self) -> Vec<View> {
        let names: BTreeSet<String> = {
            let state = self.state();
            let programs: BTreeMap<String, &String> = state.documents.keys().map(|d| (root(&state, d), d)).collect();
            programs.into_values().cloned().collect()
        };
        names.iter().filter_map(|n| self.view(n)).collect()
    }

    /// Makes a schedule on demand, off the threads; it is kept as the program's newest if no other has come.
    pub fn schedule(&self, name: &str, method: Method) -> Result<Arc<Scheduled>, String> {
        let view = self.view(name).ok_or("this document is not open")?;
        let good = view.good.ok_or("the program has errors, or is not analysed yet")?;
        let scheduled = Arc::new(scheduled::schedule(&good.of, &view.settings, method, &AtomicBool::new(false)));
        let program = self.program_of(name);
        let mut state = self.state();
        if let Some(p) = state.programs.get_mut(&program)
            && p.good.as_ref().is_some_and(|g| Arc::ptr_eq(g, &good.of))
        {
            p.schedule = Some(scheduled.clone());
            p.landed += 1;
        }
        drop(state);
        self.listener.scheduled(&program);
        Ok(scheduled)
    }

    /// No more is to be done.
    pub fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        for (_, cancel) in state.running.iter().chain(&state.scheduling) {
            cancel.store(true, Ordering::Relaxed);
        }
        self.changed.notify_all();
    }

    fn sources(&self, state: &State) -> Sources<'_> {
        let documents = state.documents.iter().map(|(name, d)| (name.clone(), d.text.clone())).collect();
        let (disk, trees) = (&self.disk, &self.trees);
        Sources { documents, projects: state.projects.clone(), disk, trees, memo: None }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.end();
    }
}

impl Document {
    fn text_encoding(&self) -> Encoding {
        self.text.encoding()
    }
}

fn bounded(text: String) -> String {
    if text.len() > LARGEST_DOCUMENT { String::new() } else { text }
}

fn parse(program: &str, mut sources: Sources, encoding: Encoding, before: Option<&Syntax>) -> Syntax {
    let inputs = sources.inputs(program);
    let documents = sources.documents.clone();
    Syntax::new(inputs, &mut sources, encoding, &|name| documents.get(name).cloned(), before)
}

/// Marks the programs that a file belongs to as changed.
fn touched(state: &mut State, name: &str) {
    let generation = state.generation;
    let program = root(state, name);
    let holds =
        |p: &Program| p.latest.as_ref().is_some_and(|l| l.analysis.sources.files().any(|(_, f)| f.name == name));
    let mut all: Vec<String> = state.programs.iter().filter(|(_, p)| holds(p)).map(|(n, _)| n.clone()).collect();
    if state.documents.contains_key(name) || state.programs.contains_key(&program) {
        all.push(program);
    }
    for program in all {
        state.programs.entry(program).or_default().changed = generation;
    }
}
