//! # find
//!
//! Purpose: what the files of a command line stand for: themselves, or a project. Input: the options as given. Output: options with
//! the project's files and entry filled in.

use super::manifest::{self, Manifest};
use crate::exit::{Exit, Fault};
use crate::options::ProgramOptions;
use crate::pipeline::Halt;
use crate::session::Session;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are no manifests.
const LARGEST: u64 = 1 << 20;

/// Does the command line's word name a project?
fn is_project(word: &str) -> bool {
    word != "-" && (Path::new(word).extension().is_some_and(|e| e == "toml") || Path::new(word).is_dir())
}

/// The manifest that a word names: itself, or the one in a folder.
fn named(word: &str) -> Result<PathBuf, Fault> {
    let path = Path::new(word);
    if !path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let manifest = if path == Path::new(".") { PathBuf::from(manifest::NAME) } else { path.join(manifest::NAME) };
    if manifest.is_file() {
        return Ok(manifest);
    }
    Err(Fault::usage(format!("{word} is a folder without a {}", manifest::NAME))
        .help("name the program's files, or make a project with `sluice new`"))
}

/// The nearest manifest, from the current folder upward.
fn nearest() -> Result<PathBuf, Fault> {
    let here = std::env::current_dir().map_err(|e| Fault::file("find", "the current folder", &e))?;
    let mut way = PathBuf::new();
    for folder in here.ancestors() {
        if folder.join(manifest::NAME).is_file() {
            return Ok(way.join(manifest::NAME));
        }
        way.push("..");
    }
    Err(Fault::usage(format!("there is no program: no file is named, and neither this folder nor one above it has a {}", manifest::NAME))
        .help("name the program's files, such as `sluice check radio.str`; or make a project with `sluice new radio` and work in its folder"))
}

/// Reads a manifest; what is wrong with it is reported.
pub fn read(session: &Session, path: &Path) -> Result<Manifest, Halt> {
    let name = path.display().to_string();
    let fault = |e: std::io::Error| Fault::file("read", &name, &e);
    let mut bytes = Vec::new();
    std::fs::File::open(path).and_then(|f| f.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(fault)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Fault::input(format!("cannot read {name}: it is larger than 1 MiB")).into());
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        Fault::input(format!("cannot read {name}: it is not UTF-8 from byte {} on", e.utf8_error().valid_up_to()))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let root = path.parent().unwrap_or(Path::new(""));
    match Manifest::parse(&name, text, root) {
        Ok(manifest) => Ok(manifest),
        Err(faults) => {
            session.report(&Manifest::map(&name, text), &faults)?;
            Err(Halt::Done(Exit::Program))
        }
    }
}

/// The manifest that a word names, or the nearest one.
pub fn manifest_path(word: Option<&str>) -> Result<PathBuf, Fault> {
    word.map_or_else(nearest, named)
}

/// Fills in what a project says about a program, where the command line names one, or no files at all.
pub fn resolve(session: &Session, options: &ProgramOptions) -> Result<ProgramOptions, Halt> {
    let mut options = options.clone();
    let manifest = match &options.files[..] {
        [] => read(session, &manifest_path(None)?)?,
        [word] if is_project(word) => read(session, &manifest_path(Some(word))?)?,
        files => match files.iter().find(|f| is_project(f)) {
            None => return Ok(options),
            Some(word) => {
                return Err(Fault::usage(format!("`{word}` is a project: it cannot stand beside other files"))
                    .help("give the project alone, or all files by name; `sources` in its manifest says what belongs to it")
                    .into());
            }
        },
    };
    options.files = manifest.sources.clone();
    options.top = options.top.or_else(|| manifest.entry.as_ref().map(|e| e.value.clone()));
    options.manifest = Some(Arc::new(manifest));
    Ok(options)
}
