//! # outside
//!
//! Purpose: all that the server knows of the world around it: files, the clock, a folder to put texts into that an editor is to open. Everything else is a
//! function of what this module gives. Limits: [`LARGEST`] bytes a file, [`MOST_FILES`] files of a workspace.
#![allow(clippy::disallowed_methods)] // this is the module that may

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

/// Larger files are not programs.
pub const LARGEST: u64 = 64 << 20;
/// Files of a workspace that are looked at.
pub const MOST_FILES: usize = 2_000;
/// Folders of a workspace that are looked into.
const MOST_FOLDERS: usize = 20_000;

/// A file's text as it was when it had this length and time.
type Kept = (u64, Option<SystemTime>, Arc<str>);

/// Files on the disk; a text is read again only when the file has changed.
#[derive(Default)]
pub struct Disk {
    kept: Mutex<HashMap<PathBuf, Kept>>,
}

impl Disk {
    /// A file's text, or why it cannot be read.
    pub fn read(&self, path: &Path) -> Result<Arc<str>, String> {
        let plain = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_string(),
            std::io::ErrorKind::PermissionDenied => "it may not be read".to_string(),
            _ => e.to_string(),
        };
        let about = std::fs::metadata(path).map_err(plain)?;
        if about.is_dir() {
            return Err("it is a folder".into());
        }
        if about.len() > LARGEST {
            return Err("it is larger than 64 MiB".into());
        }
        if !about.is_file() {
            return Err("it is no plain file".into());
        }
        let stamp = (about.len(), about.modified().ok());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((length, time, text)) = kept.get(path)
            && (*length, *time) == stamp
            && time.is_some()
        {
            return Ok(text.clone());
        }
        let text = sluice_grammar::decode(&std::fs::read(path).map_err(plain)?).0;
        // a byte-order mark is no part of a text to editors, and would be a column of the first line to us
        let text: Arc<str> = text.strip_prefix('\u{feff}').unwrap_or(&text).into();
        kept.insert(path.to_path_buf(), (stamp.0, stamp.1, text.clone()));
        Ok(text)
    }

    /// Forgets a file: it has changed.
    pub fn forget(&self, path: &Path) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }
}

/// The programs in a folder, in the order of their names; hidden folders and those of tools are left out.
pub fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = VecDeque::from([folder.to_path_buf()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        seen += 1;
        if seen > MOST_FOLDERS || found.len() >= MOST_FILES {
            break;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_string_lossy();
            // links are not followed: they may lead round
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() && name != "target" && name != "node_modules" {
                folders.push_back(path);
            } else if kind.is_file() && path.extension().is_some_and(|e| e == "str") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.truncate(MOST_FILES);
    found
}

/// Puts a text of Sluice's own (a file of the standard library, the explanation of errors) where an editor can open it; its path. `None` where
/// that is not possible.
pub fn shown(folder: Option<&Path>, name: &str, text: &str) -> Option<PathBuf> {
    let path = showing(folder)?.join(name);
    if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
        return Some(path);
    }
    std::fs::create_dir_all(path.parent()?).ok()?;
    // whole or not at all: another server may read it
    let part = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&part, text).ok()?;
    std::fs::rename(&part, &path).ok()?;
    Some(path)
}

/// Is a file one that was put there?
pub fn is_shown(folder: Option<&Path>, name: &str) -> bool {
    showing(folder).is_some_and(|folder| Path::new(name).starts_with(folder))
}

fn showing(folder: Option<&Path>) -> Option<PathBuf> {
    match folder {
        Some(folder) => Some(folder.to_path_buf()),
        None => Some(cache()?.join(concat!("sluice/shown-", env!("CARGO_PKG_VERSION")))),
    }
}

fn cache() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache"))).or_else(|| Some(std::env::temp_dir()))
}

/// From now on this thread runs when nothing else wants to, as far as the system can be told so.
pub fn give_way() {
    #[cfg(target_os = "linux")]
    {
        // on Linux a thread has a priority of its own; where that is refused, nothing is lost
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
    }
}

/// Seconds since it was made.
pub fn clock() -> impl Fn() -> f64 {
    let began = Instant::now();
    move || began.elapsed().as_secs_f64()
}

/// Where a path leads that is written in a file: as it does for the compiler.
pub fn beside(from: &str, path: &str) -> PathBuf {
    sluice_frontend::analyse::beside(from, path, Path::is_symlink)
}
