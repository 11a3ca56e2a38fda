//! # project
//!
//! Purpose: programs of several files without imports: what a manifest, `sluice.toml`, calls its sources (docs/projects.md). Input: a file. Output: the project
//! whose program the file is a part of, or a [`Fault`]: of what is read here; `sluice check` looks at all of a manifest. One that is no TOML describes no project.

use glob::{MatchOptions, Pattern};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// What a manifest is called.
pub const NAME: &str = "sluice.toml";

/// As for the command: a star is part of a name that starts with no dot.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// A program as a manifest describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its entry, where it names one.
    pub entry: Option<Entry>,
    /// Its files.
    pub sources: Vec<String>,
}

/// The name of the entry in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The stream's name.
    pub name: String,
    /// Where the value stands, in bytes, its quotes included.
    pub range: Range<usize>,
}

/// What is wrong with a manifest, with the codes of `sluice check`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, in bytes.
    pub range: Range<usize>,
    /// The code.
    pub code: &'static str,
    /// What.
    pub message: String,
}

/// The manifests in the folders above a file, the nearest first.
pub fn manifests(file: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    file.ancestors().skip(1).map(|folder| folder.join(NAME))
}

/// The project of a manifest's text, and what is wrong with it.
pub fn read(text: &str, manifest: &Path) -> (Option<Project>, Vec<Fault>) {
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(e) => {
            let range = e.span().unwrap_or(0..0);
            let message = format!("this is not TOML: {}\nuntil it is, the files around it are no project", e.message());
            return (None, vec![Fault { range, code: "E0700", message }]);
        }
    };
    (project(&table, manifest), faults(&table))
}

/// Values of another type than is read here.
fn faults(table: &DeTable<'_>) -> Vec<Fault> {
    let mut all = Vec::new();
    let is_list = |v: &DeValue| v.as_array().is_some_and(|a| a.iter().all(|p| p.get_ref().as_str().is_some()));
    for (section, key, wanted) in
        [("program", "entry", "a text"), ("program", "sources", "a list of texts"), ("test", "folder", "a text")]
    {
        let Some(within) = table.get(section) else { continue };
        let Some(found) = within.get_ref().get(key) else { continue };
        let fits = match key {
            "sources" => is_list(found.get_ref()),
            _ => found.get_ref().as_str().is_some(),
        };
        if !fits {
            let message = format!("`{key}` takes {wanted}");
            all.push(Fault { range: found.span(), code: "E0702", message });
        }
    }
    all
}

fn project(table: &DeTable<'_>, manifest: &Path) -> Option<Project> {
    let value = |section: &str, key: &str| table.get(section)?.get_ref().get(key).map(|v| v.get_ref());
    let word = |v: &DeValue| v.as_str().map(str::to_string);
    let root = manifest.parent()?;
    let tests = root.join(value("test", "folder").and_then(word).unwrap_or_else(|| "tests".into()));
    let mut sources: Vec<String> = Vec::new();
    match value("program", "sources").and_then(DeValue::as_array) {
        Some(patterns) => {
            for pattern in patterns.iter().filter_map(|p| word(p.get_ref())) {
                for found in matches(root, &pattern, &tests) {
                    if !sources.contains(&found) {
                        sources.push(found);
                    }
                }
            }
        }
        None => {
            sources = ["src/**/*.str", "*.str"]
                .iter()
                .map(|p| matches(root, p, &tests))
                .find(|f| !f.is_empty())
                .unwrap_or_default()
        }
    }
    let entry = table.get("program").and_then(|p| p.get_ref().get("entry"));
    let entry = entry.and_then(|e| Some(Entry { name: word(e.get_ref())?, range: e.span() }));
    Some(Project { entry, sources })
}

fn matches(root: &Path, pattern: &str, tests: &Path) -> Vec<String> {
    let Some(folder) = root.to_str() else { return Vec::new() };
    let plain = !pattern.contains(['*', '?', '[']);
    if plain {
        return vec![root.join(pattern).display().to_string()];
    }
    let whole = format!("{}/{pattern}", Pattern::escape(folder.trim_end_matches('/')));
    let Ok(paths) = glob::glob_with(&whole, OPTIONS) else { return Vec::new() };
    let found = paths
        .take(super::outside::MOST_FILES)
        .flatten()
        .filter(|p| !p.starts_with(tests) && p.extension().is_some_and(|e| e == "str"));
    let mut found: Vec<String> = found.map(|p| p.display().to_string()).collect();
    found.sort();
    found
}
