//! # new
//!
//! Purpose: makes a project's folder: a manifest, a small program that reads and writes, tests for it. Input: where, and the name.
//! All of it appears, or nothing does. The files are those of the folder `template` beside this one.

use super::manifest::{self, is_name};
use crate::exit::Fault;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files, `@NAME@` standing for the name, in paths and texts, `@C_NAME@` for the same in C. The manifest comes last: with it the folder is a project.
const FILES: [(&str, &str); 7] = [
    ("README.md", include_str!("template/README.md")),
    (".gitignore", include_str!("template/gitignore")),
    ("src/@NAME@.str", include_str!("template/program.str")),
    ("tests/steps.in.txt", include_str!("template/steps.in.txt")),
    ("tests/steps.out.txt", include_str!("template/steps.out.txt")),
    ("tests/third.toml", include_str!("template/third.toml")),
    (manifest::NAME, include_str!("template/sluice.toml")),
];

/// A project that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its name.
    pub name: String,
    /// Its folder, as given.
    pub folder: String,
}

/// The name that a path ends with: for `.` that of the current folder.
fn last_name(path: &Path) -> Result<String, Fault> {
    let name = match path.file_name() {
        Some(name) => Some(name.to_os_string()),
        None => {
            let real = fs::canonicalize(path).map_err(|e| Fault::file("find", path.display(), &e))?;
            real.file_name().map(|n| n.to_os_string())
        }
    };
    Ok(name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default())
}

/// What stands in the way in a folder that is there already: anything but hidden entries that are none of ours.
fn in_the_way(folder: &Path) -> io::Result<Option<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_by_key(|n| (n.starts_with('.'), n.clone()));
    Ok(names.into_iter().find(|n| !n.starts_with('.') || FILES.iter().any(|(path, _)| path == n)))
}

/// Writes all files into a folder that is there and empty.
fn write_all(folder: &Path, name: &str) -> io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path.replace("@NAME@", name));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text.replace("@NAME@", name).replace("@C_NAME@", &name.replace('-', "_")))?;
    }
    Ok(())
}

/// Moves the first parts of all paths from one folder to another; takes back what it did where one cannot be moved.
fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (path, _) in FILES {
        let first = path.split('/').next().unwrap_or(path);
        let (a, b) = (from.join(first), to.join(first));
        if moved.iter().any(|(_, done)| *done == b) {
            continue;
        }
        if let Err(e) = fs::rename(&a, &b) {
            for (a, b) in moved {
                let _ = fs::rename(b, a);
            }
            return Err(e);
        }
        moved.push((a, b));
    }
    Ok(())
}

/// Makes a project in `path`, a folder that is not there yet, or empty.
pub fn make(path: &str, name: Option<&str>) -> Result<Made, Fault> {
    if path.is_empty() {
        return Err(Fault::usage("the project's folder has no name").help("such as: sluice new radio"));
    }
    let folder = Path::new(path);
    let name = match name {
        Some(name) => name.to_string(),
        None => last_name(folder)?,
    };
    if !is_name(&name) {
        return Err(Fault::usage(format!("`{name}` is no name for a project"))
            .help("a name is a letter, then letters, digits, `-` and `_`: up to 64; --name gives one that is not the folder's"));
    }
    let fault = |e: io::Error| Fault::file("make a project in", path, &e);
    let there = match fs::metadata(folder) {
        Ok(m) if !m.is_dir() => return Err(Fault::usage(format!("{path} is there already, and is no folder"))),
        Ok(_) => true,
        Err(e) if e.kind() == io::ErrorKind::NotFound => false,
        Err(e) => return Err(fault(e)),
    };
    if there && let Some(entry) = in_the_way(folder).map_err(fault)? {
        let what = if path == "." { "this folder" } else { path };
        return Err(Fault::usage(format!("{what} is not empty: it has {entry}")).help(
            "name a folder that is not there yet; to turn a folder with programs into a project, write a sluice.toml",
        ));
    }
    // Beside the folder, or in it: on the same disk, so that moving is all that is left to do.
    let parent = match there {
        true => folder.to_path_buf(),
        false => folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf(),
    };
    fs::create_dir_all(&parent).map_err(fault)?;
    let staged = tempfile::Builder::new().prefix(".sluice-new-").tempdir_in(&parent).map_err(fault)?;
    let inner = staged.path().join("project");
    fs::create_dir(&inner).and_then(|()| write_all(&inner, &name)).map_err(fault)?;
    match there {
        true => move_all(&inner, folder),
        false => fs::rename(&inner, folder),
    }
    .map_err(fault)?;
    Ok(Made { name, folder: path.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_nothing() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name).display().to_string();
        assert_eq!(make(&path("one"), None).unwrap().name, "one");
        assert!(place.path().join("one/src/one.str").is_file() && place.path().join("one/sluice.toml").is_file());
        assert!(make(&path("one"), None).unwrap_err().message.contains("not empty: it has README.md"));
        fs::create_dir_all(place.path().join("two words/.git")).unwrap();
        assert!(make(&path("two words"), None).unwrap_err().message.contains("no name"));
        assert_eq!(make(&path("two words"), Some("two")).unwrap().name, "two");
        let kept = place.path().join("two words");
        assert!(kept.join(".git").is_dir() && kept.join("src/two.str").is_file());
        assert_eq!(fs::read_dir(&kept).unwrap().count(), 6, "nothing else stays");
        for bad in ["", "2x", "ä", "a.b", "a/b", &"n".repeat(65)] {
            assert!(make(&path("x"), Some(bad)).is_err(), "{bad}");
        }
        assert!(!place.path().join("x").exists());
        fs::write(place.path().join("file"), "").unwrap();
        assert!(make(&path("file"), None).unwrap_err().message.contains("no folder"));
    }
}
