//! # project
//!
//! Purpose: programs of several files without imports: what a manifest, `sluice.toml`, calls its sources (docs/projects.md). Input: a file. Output: the project
//! whose program the file is a part of. A manifest with faults is none here: `sluice check` says what is wrong with it.

use super::outside::Disk;
use glob::{MatchOptions, Pattern};
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
    pub entry: Option<String>,
    /// Its files.
    pub sources: Vec<String>,
}

/// The manifests in the folders above a file, the nearest first.
pub fn manifests(file: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    file.ancestors().skip(1).map(|folder| folder.join(NAME))
}

/// The project of a manifest; `None` where there is none, or it cannot be understood.
pub fn read(disk: &Disk, manifest: &Path) -> Option<Project> {
    let text = disk.read(manifest).ok()?;
    let table = DeTable::parse(&text).ok()?.into_inner();
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
    Some(Project { entry: value("program", "entry").and_then(word), sources })
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
