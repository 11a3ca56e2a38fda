//! Ctrl-C: the first asks the run to end with whole items, the second ends the process at once.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has someone asked the run to end?
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The flag itself, for code that watches it.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// Listens to Ctrl-C, hang-up and the request to terminate. Without this the process ends at once on them.
pub fn listen() {
    // An error means that a handler is there already: then that one stays.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            remove_temporary_files();
            std::process::exit(130);
        }
    });
}

/// Notes a file to be removed should the process have to end at once.
pub fn add_temporary(path: &Path) {
    if let Ok(mut all) = TEMPORARY.lock() {
        all.push(path.to_path_buf());
    }
}

/// Forgets a file noted with [`add_temporary`].
pub fn forget_temporary(path: &Path) {
    if let Ok(mut all) = TEMPORARY.lock() {
        all.retain(|p| p != path);
    }
}

/// Removes all files noted.
pub fn remove_temporary_files() {
    if let Ok(mut all) = TEMPORARY.lock() {
        for path in all.drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }
}
