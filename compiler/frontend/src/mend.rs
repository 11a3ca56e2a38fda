//! # mend
//!
//! Purpose: makes the safe fixes of a program's diagnostics, again and again until there are none left. Input: as for [`analyse`];
//! output: the changed texts, what was done, and the analysis of the result. It writes nothing.
//!
//! Each round makes all fixes that do not clash, then analyses the result. The result stands only if nothing got worse: the fixed
//! diagnostics are gone, no other has come (but what follows from a removal, and what an error had hidden), and the program still
//! elaborates to the same graph. Otherwise half of the fixes are tried, and so on down to one, which is then refused for good.
//! The standard library is never changed.

use crate::analyse::{Analysis, Loader, Options, SourceInput, analyse};
use sluice_grammar::diagnostic::{Diagnostic, Fix, Severity};
use sluice_grammar::edits::{Edits, Moves};
use sluice_grammar::span::FileId;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A program is analysed so many times at most.
const ANALYSES: usize = 100;

/// Warnings that the removal of something else may bring: a name that only it used, a variable that it alone read, state that was all there was.
const FOLLOW: &[&str] = &["W0210", "W0211", "W0212", "W0213", "W0214", "W0215", "W0230", "W0231", "W0232"];

/// A fix that was made, or refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The diagnostic's code.
    pub code: &'static str,
    /// What the fix does.
    pub title: String,
    /// The file.
    pub file: String,
    /// Line and column of the diagnostic, in the text as it was before this fix.
    pub at: (u32, u32),
}

/// A file whose text has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its name.
    pub file: String,
    /// Its text before.
    pub before: String,
    /// Its text now.
    pub after: String,
}

/// A program after its fixes.
#[derive(Clone, Debug)]
pub struct Mended {
    /// What is known of the program as it is now.
    pub analysis: Analysis,
    /// The files that changed.
    pub changed: Vec<Changed>,
    /// The fixes made, in order.
    pub made: Vec<Done>,
    /// The fixes after which something would have been worse.
    pub refused: Vec<Done>,
}

/// Makes the safe fixes.
pub fn mend(inputs: Vec<SourceInput>, options: &Options, loader: &mut (dyn Loader + Send)) -> Mended {
    // what is denied is an error only in the end: until then there is a program to compare with
    let lenient = Options { levels: options.levels.lenient(), ..options.clone() };
    let mut bench = Bench {
        inputs,
        options: &lenient,
        files: Overlay { inner: loader, texts: HashMap::new(), loaded: HashMap::new() },
        left: ANALYSES,
    };
    let mut analysis = bench.analyse();
    let original: BTreeMap<String, String> = texts(&analysis);
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    let mut stubborn: BTreeSet<Key> = BTreeSet::new();
    while bench.left > 0 {
        let mut chosen = choose(&analysis, &stubborn);
        let mut next = None;
        while !chosen.is_empty() && bench.left > 0 {
            if let Some(result) = bench.attempt(&analysis, &chosen) {
                next = Some(result);
                break;
            }
            if let [one] = chosen[..] {
                stubborn.insert(key(&analysis, one.0, one.0.span().start));
                refused.push(done(&analysis, one));
                break;
            }
            chosen.truncate(chosen.len() / 2);
        }
        let Some((better, edits)) = next else {
            if chosen.is_empty() {
                break;
            }
            continue;
        };
        made.extend(chosen.iter().map(|one| done(&analysis, *one)));
        stubborn = moved(&analysis, &stubborn, &edits);
        analysis = better;
    }
    let changed = texts(&analysis)
        .into_iter()
        .filter_map(|(file, after)| {
            let before = original.get(&file).filter(|before| **before != after)?.clone();
            Some(Changed { file, before, after })
        })
        .collect();
    if options.levels != lenient.levels {
        bench.options = options;
        analysis = bench.analyse();
    }
    Mended { analysis, changed, made, refused }
}

/// A diagnostic and the one of its fixes that is to be made.
type Choice<'a> = (&'a Diagnostic, &'a Fix);

/// What makes a diagnostic the same one after an edit: file, place and code.
type Key = (String, u32, &'static str);

fn key(analysis: &Analysis, d: &Diagnostic, start: u32) -> Key {
    (analysis.sources.file(d.span().file).name.clone(), start, d.code)
}

fn done(analysis: &Analysis, (d, fix): Choice<'_>) -> Done {
    let at = analysis.sources.line_col(d.span().file, d.span().start);
    let file = analysis.sources.file(d.span().file).name.clone();
    Done { code: d.code, title: fix.title.clone(), file, at: (at.line, at.column) }
}

/// The user's files by name.
fn texts(analysis: &Analysis) -> BTreeMap<String, String> {
    let file = |id: FileId| analysis.sources.file(id);
    analysis.trees.iter().map(|(id, _)| (file(*id).name.clone(), file(*id).text.to_string())).collect()
}

/// The safe fixes that can be made together.
fn choose<'a>(analysis: &'a Analysis, stubborn: &BTreeSet<Key>) -> Vec<Choice<'a>> {
    let ours: HashSet<FileId> = analysis.trees.iter().map(|(id, _)| *id).collect();
    let mut edits = Edits::default();
    let mut out = Vec::new();
    for d in &analysis.diagnostics {
        let Some(fix) = d.fixes.iter().find(|f| f.is_safe()) else { continue };
        if fix.edits.iter().all(|e| ours.contains(&e.span.file))
            && ours.contains(&d.span().file)
            && !stubborn.contains(&key(analysis, d, d.span().start))
            && edits.add(&fix.edits)
        {
            out.push((d, fix));
        }
    }
    out
}

/// The keys as they are after some edits.
fn moved(analysis: &Analysis, keys: &BTreeSet<Key>, edits: &Moves) -> BTreeSet<Key> {
    let id = |name: &str| analysis.trees.iter().map(|(id, _)| *id).find(|id| analysis.sources.file(*id).name == name);
    keys.iter()
        .map(|(file, start, code)| (file.clone(), id(file).map_or(*start, |id| edits.moved(id, *start)), *code))
        .collect()
}

struct Bench<'a> {
    inputs: Vec<SourceInput>,
    options: &'a Options,
    files: Overlay<'a>,
    left: usize,
}

impl Bench<'_> {
    fn analyse(&mut self) -> Analysis {
        self.left = self.left.saturating_sub(1);
        let mut inputs = self.inputs.clone();
        for i in &mut inputs {
            if let Some(text) = self.files.texts.get(&i.name) {
                i.text.clone_from(text);
            }
        }
        analyse(inputs, self.options, &mut self.files)
    }

    /// Makes fixes, and keeps them where nothing gets worse.
    fn attempt(&mut self, before: &Analysis, chosen: &[Choice<'_>]) -> Option<(Analysis, Moves)> {
        let mut edits = Edits::default();
        if !chosen.iter().all(|(_, fix)| edits.add(&fix.edits)) {
            return None;
        }
        let kept = self.files.texts.clone();
        for id in edits.files() {
            let file = before.sources.file(id);
            self.files.texts.insert(file.name.clone(), edits.apply(id, &file.text)?);
        }
        let after = self.analyse();
        let moves = edits.moves();
        if is_better(before, chosen, &moves, &after) {
            return Some((after, moves));
        }
        self.files.texts = kept;
        None
    }
}

/// Are the chosen diagnostics gone, and has nothing else come?
fn is_better(before: &Analysis, chosen: &[Choice<'_>], edits: &Moves, after: &Analysis) -> bool {
    let moved = |d: &Diagnostic| key(before, d, edits.moved(d.span().file, d.span().start));
    // what takes the place of something removed may have the same fault
    let fixed: HashSet<(Key, &str)> = chosen.iter().map(|(d, _)| (moved(d), d.title.as_str())).collect();
    let known: HashSet<Key> = before.diagnostics.iter().map(moved).collect();
    let failed = before.failed();
    for d in &after.diagnostics {
        let key = (key(after, d, d.span().start), d.title.as_str());
        if fixed.contains(&key) {
            return false;
        }
        if known.contains(&key.0) {
            continue;
        }
        // an error hides what follows it, but not what comes before it: the syntax
        let hidden = failed && !d.code.starts_with("E00");
        let follows = FOLLOW.contains(&d.code) && (d.severity == Severity::Warning || failed);
        if !hidden && !follows {
            return false;
        }
    }
    match (&before.program, &after.program) {
        (Some(a), Some(b)) => {
            // state that turns out to be none is no change of what the program does
            let text = |e: &crate::Elaborated| crate::graph_text::print(&e.graph).replace(" stateful", "");
            text(a) == text(b)
        }
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// The files as they are now: changed texts over those that were loaded, each of which is loaded once.
struct Overlay<'a> {
    inner: &'a mut (dyn Loader + Send),
    texts: HashMap<String, String>,
    loaded: HashMap<(String, String), Result<SourceInput, String>>,
}

impl Loader for Overlay<'_> {
    fn load(&mut self, from: &str, path: &str) -> Result<SourceInput, String> {
        let inner = &mut self.inner;
        let entry = self.loaded.entry((from.to_string(), path.to_string()));
        let mut found = entry.or_insert_with(|| inner.load(from, path)).clone()?;
        if let Some(text) = self.texts.get(&found.name) {
            found.text.clone_from(text);
        }
        Ok(found)
    }
}
