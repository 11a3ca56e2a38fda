//! # find
//!
//! Purpose: the tests of a project. Input: the tests' folder. Output: groups of files that share a name, in the order of their names.
//! `NAME.toml` describes a test, `NAME.str` is its program, `NAME.in.EXT` its input, `NAME.out.EXT` the output that must come, `NAME.out`
//! what must be printed. Names that start with a dot or an underscore, and folders with a manifest of their own, are left alone.

use crate::exit::Fault;
use crate::project::manifest;
use std::collections::BTreeMap;
use std::path::Path;

/// Deeper folders hold no tests.
const DEEPEST: usize = 64;

/// Files that share a test's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The name: the path in the tests' folder, without an extension.
    pub name: String,
    /// The same with the folder.
    pub stem: String,
    /// `NAME.toml`
    pub description: Option<String>,
    /// `NAME.str`
    pub program: Option<String>,
    /// `NAME.in.EXT`
    pub inputs: Vec<String>,
    /// `NAME.out.EXT`
    pub outputs: Vec<String>,
    /// `NAME.out`
    pub prints: Option<String>,
}

/// What a file is for a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Description,
    Program,
    Input,
    Output,
    Prints,
}

/// The test that a file belongs to.
fn part(name: &str) -> Option<(&str, Part)> {
    if let Some(stem) = name.strip_suffix(".out") {
        return Some((stem, Part::Prints));
    }
    let (rest, extension) = name.rsplit_once('.')?;
    match extension {
        "toml" => Some((rest, Part::Description)),
        "str" => Some((rest, Part::Program)),
        _ => match rest.strip_suffix(".in") {
            Some(stem) => Some((stem, Part::Input)),
            None => rest.strip_suffix(".out").map(|stem| (stem, Part::Output)),
        },
    }
    .filter(|(stem, _)| !stem.is_empty())
}

/// Finds the tests in a folder, and in those below it.
pub fn find(folder: &str) -> Result<Vec<Group>, Fault> {
    let mut groups = BTreeMap::new();
    if Path::new(folder).is_dir() {
        walk(folder, "", 0, &mut groups)?;
    }
    Ok(groups.into_values().collect())
}

fn walk(folder: &str, prefix: &str, depth: usize, groups: &mut BTreeMap<String, Group>) -> Result<(), Fault> {
    let fault = |e: std::io::Error| Fault::file("read", folder, &e);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let kind = entry.file_type().map_err(fault)?;
        let name = match entry.file_name().into_string() {
            Ok(name) => name,
            // It cannot be named in a message or on the command line; a test that is passed over would count as one that passes.
            Err(name) => {
                let name = name.to_string_lossy();
                if !name.starts_with(['.', '_']) && (kind.is_dir() || part(&name).is_some()) {
                    let fault = Fault::input(format!("{folder}/{name} cannot be a test: its name is not UTF-8"));
                    return Err(fault.help("give it another name"));
                }
                continue;
            }
        };
        if !name.starts_with(['.', '_']) {
            entries.push((name, kind));
        }
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    if depth > 0 && entries.iter().any(|(name, _)| name == manifest::NAME) {
        return Ok(());
    }
    for (name, kind) in entries {
        let path = format!("{folder}/{name}");
        if kind.is_dir() {
            if depth < DEEPEST {
                walk(&path, &format!("{prefix}{name}/"), depth + 1, groups)?;
            }
            continue;
        }
        let Some((stem, part)) = part(&name) else { continue };
        let name = format!("{prefix}{stem}");
        let group = groups.entry(name.clone()).or_insert_with(|| Group {
            stem: format!("{folder}/{stem}"),
            name,
            ..Group::default()
        });
        match part {
            Part::Description => group.description = Some(path),
            Part::Program => group.program = Some(path),
            Part::Input => group.inputs.push(path),
            Part::Output => group.outputs.push(path),
            Part::Prints => group.prints = Some(path),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_share_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        for path in [
            "b.toml",
            "b.str",
            "b.out",
            "b.in.wav",
            "a/x.in.txt",
            "a/x.out.f32",
            "a/y.v2.out.txt",
            "a/_shared.str",
            ".git/z.str",
            "data.bin",
            "ü.out",
            "inner/sluice.toml",
            "inner/z.str",
            ".out",
            "in.txt",
        ] {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let found = find(root).unwrap();
        let names: Vec<&str> = found.iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["a/x", "a/y.v2", "b", "ü"]);
        assert_eq!(found[0].inputs, [format!("{root}/a/x.in.txt")]);
        assert_eq!(found[0].outputs, [format!("{root}/a/x.out.f32")]);
        let b = &found[2];
        assert!(b.description.is_some() && b.program.is_some() && b.prints.is_some() && b.inputs.len() == 1);
        assert!(find(&format!("{root}/none")).unwrap().is_empty());
    }
}
