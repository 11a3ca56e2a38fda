//! The files of the repository that tests go through.

use std::path::{Path, PathBuf};

/// Folders of what is built, installed or written.
const NOT_OURS: [&str; 3] = ["target", "out", "node_modules"];

/// Files with this extension in a folder and those below it, but for what is not the repository's own; in the order of their paths.
pub fn files(root: &Path, extension: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    walk(root, extension, &mut paths);
    paths.sort();
    paths
}

fn walk(folder: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !NOT_OURS.contains(&name.as_str()) {
                walk(&path, extension, out);
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}
