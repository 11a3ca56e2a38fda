//! # programs
//!
//! Purpose: which programs a file is a part of. Input: who imports whom, and the projects. Output: the one that an editor means when it asks about the file, and all that
//! have it: those of the workspace whose files nobody has opened, too.

use super::project::{self, Entry};
use super::view::View;
use super::{State, World};
use crate::convert::Text;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Who imports a file, by the file.
type Importers<'s> = BTreeMap<&'s str, Vec<&'s str>>;

fn importers(state: &State) -> Importers<'_> {
    let mut all = Importers::new();
    for (from, to) in &state.imports {
        to.iter().for_each(|t| all.entry(t).or_default().push(from));
    }
    all
}

/// A file, and those that import it, directly or not.
fn above<'s>(importers: &Importers<'s>, name: &'s str) -> BTreeSet<&'s str> {
    let mut seen = BTreeSet::from([name]);
    let mut queue = vec![name];
    while let Some(next) = queue.pop() {
        for from in importers.get(next).into_iter().flatten() {
            if seen.insert(from) {
                queue.push(from);
            }
        }
    }
    seen
}

/// Does nothing else import a file?
fn is_top(importers: &Importers<'_>, name: &str) -> bool {
    importers.get(name).is_none_or(|i| i.iter().all(|from| *from == name))
}

/// The program that a file belongs to: the project that has it, or else the file that nothing imports among those that import this one, directly or not.
pub(super) fn root(state: &State, name: &str) -> String {
    let importers = importers(state);
    let seen = above(&importers, name);
    let top = seen.iter().find(|n| is_top(&importers, n));
    // files that import each other in a ring: the first of them
    let top = top.or(seen.first()).map_or(name, |n| *n);
    // the nearest project has the longest name
    let project =
        state.projects.iter().filter(|(_, p)| p.sources.iter().any(|s| s == top)).max_by_key(|(m, _)| m.len());
    project.map_or(top, |(manifest, _)| manifest).to_string()
}

impl World {
    /// All programs that have a file, by their names, as a request about one of their files sees them.
    pub fn programs_with(&self, file: &str) -> Vec<(String, View)> {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        {
            let state = self.state();
            let importers = importers(&state);
            let seen = above(&importers, file);
            let tops = seen.iter().filter(|n| is_top(&importers, n));
            for name in tops.chain([&file]) {
                names.entry(root(&state, name)).or_insert_with(|| (*name).to_string());
            }
        }
        names.into_iter().filter_map(|(program, name)| Some((program, self.view(&name)?))).collect()
    }

    /// Where the manifest of a program names its entry, and the manifest's text as it is now; `None` for a program without either.
    pub fn entry(&self, program: &str) -> Option<(Text, Entry)> {
        let (encoding, open) = {
            let state = self.state();
            state.projects.get(program)?;
            (state.encoding, state.documents.get(program).map(|d| d.text.clone()))
        };
        let path = Path::new(program);
        let text = match open {
            Some(text) => text,
            None => Text::new(self.disk.read(path).ok()?, encoding),
        };
        let entry = project::read(text.as_str(), path).0?.entry?;
        Some((text, entry))
    }
}
