//! # sources
//!
//! Purpose: the files that a project's patterns stand for. Input: a folder, patterns relative to it. Output: paths in the order of
//! the patterns, and by name where one pattern stands for several; each file once.

use super::schema::At;
use glob::{MatchOptions, Pattern};
use sluice_grammar::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// The manifest's own patterns, where it gives none: the first that finds something.
const DEFAULTS: [&str; 2] = ["src/**/*.str", "*.str"];

/// A star stands for part of a name, not for several folders, and not for a name that starts with a dot.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// A path from the manifest's folder on, as the command can open it.
pub fn below(root: &Path, path: &str) -> PathBuf {
    if path == "-" { PathBuf::from(path) } else { root.join(path) }
}

/// The files of one pattern; `without` is a folder whose files no pattern means.
fn matches(root: &Path, pattern: &str, without: Option<&Path>) -> Result<Vec<String>, String> {
    let folder = root.to_str().ok_or("the project's folder has a name that is not UTF-8")?;
    let whole = match folder {
        "" => pattern.to_string(),
        _ => format!("{}/{pattern}", Pattern::escape(folder.trim_end_matches('/'))),
    };
    let mut found = Vec::new();
    for entry in glob::glob_with(&whole, OPTIONS).map_err(|e| e.msg.to_string())? {
        let path = entry.map_err(|e| format!("{}: {}", e.path().display(), crate::exit::plain_io_error(e.error())))?;
        if path.is_dir() || without.is_some_and(|w| path.starts_with(w)) {
            continue;
        }
        let name = path.to_str().ok_or_else(|| format!("{}: the name is not UTF-8", path.display()))?;
        found.push(name.to_string());
    }
    found.sort();
    Ok(found)
}

/// The files that a manifest or a test names; its patterns leave out `without`.
pub fn given(root: &Path, patterns: &[At<String>], without: Option<&Path>) -> Result<Vec<String>, Vec<Diagnostic>> {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for At { value, span } in patterns {
        let fault = |title: String, label: &str| Diagnostic::error("E0704", title, *span, label.to_string());
        let path = Path::new(value);
        let plain = !value.contains(['*', '?', '[']);
        // A name without signs is meant as it is: also a file of the tests.
        let found = if plain && !root.join(path).exists() {
            let d = fault(format!("there is no file `{value}`"), "named here");
            Err(d.help("paths are relative to the folder of the file that names them"))
        } else if plain && root.join(path).is_dir() {
            let d = fault(format!("`{value}` is a folder"), "sources are files");
            Err(d.help(format!("\"{}/**/*.str\" stands for all programs in it", value.trim_end_matches('/'))))
        } else if plain {
            match root.join(path).to_str() {
                Some(name) => Ok(vec![name.to_string()]),
                None => Err(fault("the project's folder has a name that is not UTF-8".into(), "relative to it")),
            }
        } else {
            match matches(root, value, without) {
                Ok(found) if found.is_empty() => {
                    let d = fault(format!("no file matches `{value}`"), "named here");
                    Err(d.help(
                        "`*` stands for part of a name, `**` for any folders; the folder of the tests is left out",
                    ))
                }
                Ok(found) => Ok(found),
                Err(why) => Err(fault(format!("the pattern `{value}` cannot be used: {why}"), "this pattern")),
            }
        };
        match found {
            Ok(found) => found.into_iter().for_each(|f| {
                if !files.contains(&f) {
                    files.push(f);
                }
            }),
            Err(d) => faults.push(d),
        }
    }
    if faults.is_empty() { Ok(files) } else { Err(faults) }
}

/// The files of a manifest that names none.
pub fn default(root: &Path, tests: &Path) -> Result<Vec<String>, String> {
    for pattern in DEFAULTS {
        let found = matches(root, pattern, Some(tests))?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(format!("there is no program: neither {} nor {} finds a file", DEFAULTS[0], DEFAULTS[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_grammar::span::Span;

    fn at(value: &str) -> At<String> {
        At { value: value.into(), span: Span::default() }
    }

    #[test]
    fn patterns_find_files_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a[b]* ü");
        for path in ["src/z.str", "src/deep/er/a.str", "src/.hidden.str", "tests/t.str", "main.str", "src/x.txt"] {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let names = |patterns: &[&str]| {
            let patterns: Vec<_> = patterns.iter().map(|p| at(p)).collect();
            let found = given(&root, &patterns, Some(&root.join("tests")));
            found.map(|f| f.iter().map(|n| n.strip_prefix(root.to_str().unwrap()).unwrap().to_string()).collect())
        };
        let found: Vec<String> = names(&["main.str", "src/**/*.str", "src/z.str"]).unwrap();
        assert_eq!(found, ["/main.str", "/src/deep/er/a.str", "/src/z.str"]);
        let found: Vec<String> = names(&["**/*.str"]).unwrap();
        assert_eq!(found, ["/main.str", "/src/deep/er/a.str", "/src/z.str"]);
        let found: Vec<String> = names(&["tests/t.str"]).unwrap();
        assert_eq!(found, ["/tests/t.str"]);
        for (bad, part) in
            [("none.str", "no file"), ("x*.str", "no file matches"), ("src", "folder"), ("a***", "cannot")]
        {
            let faults: Vec<Diagnostic> = names(&[bad]).map(|f: Vec<String>| f).unwrap_err();
            assert!(faults[0].title.contains(part), "{bad}: {}", faults[0].title);
        }
        assert_eq!(default(&root, &root.join("tests")).unwrap().len(), 2);
        std::fs::remove_dir_all(root.join("src")).unwrap();
        assert!(default(&root, &root.join("tests")).unwrap()[0].ends_with("main.str"));
        std::fs::remove_file(root.join("main.str")).unwrap();
        assert!(default(&root, &root.join("tests")).is_err());
    }
}
