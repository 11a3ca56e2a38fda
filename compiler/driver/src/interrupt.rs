//! Ctrl-C, hang-up and the request to terminate: the first asks the run to end with whole items, the second ends the process at once.
//!
//! A run that does not heed the first one in time, because a firing does not end or nobody takes its output, is ended, too. Where nothing runs yet, as
//! while a program is compiled, the first one ends the process. In any case files on their way are removed, and compilers that work are ended.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a run has to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(2);

static WATCHING: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);
static INSISTING: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Has someone asked the run to end?
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Heeds Ctrl-C, hang-up and the request to terminate. Without this the process ends at once on them.
pub fn listen() {
    LISTENING.store(true, Ordering::Relaxed);
    watch();
}

/// Listens to signals, so that nothing half-made stays.
fn watch() {
    if WATCHING.swap(true, Ordering::Relaxed) {
        return;
    }
    // where that is not possible they end the process, as without listening: the thread is there before they are caught
    let (hand, taken) = std::sync::mpsc::channel::<Signals>();
    let started = std::thread::Builder::new().spawn(move || {
        if let Ok(mut signals) = taken.recv() {
            for signal in signals.forever() {
                if REQUESTED.swap(true, Ordering::Relaxed) || !LISTENING.load(Ordering::Relaxed) {
                    end(signal);
                }
                let started = std::thread::Builder::new().spawn(move || {
                    std::thread::sleep(PATIENCE);
                    if INSISTING.load(Ordering::Relaxed) {
                        end(signal);
                    }
                });
                if started.is_err() && INSISTING.load(Ordering::Relaxed) {
                    end(signal);
                }
            }
        }
    });
    if started.is_ok()
        && let Ok(signals) = Signals::new([SIGINT, SIGTERM, SIGHUP])
    {
        let _ = hand.send(signals);
    }
}

/// Ends the process with the exit code that tells of a signal.
fn end(signal: i32) -> ! {
    if let Ok(children) = CHILDREN.lock() {
        for id in children.iter().filter_map(|id| rustix::process::Pid::from_raw(*id as i32)) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }
    remove_temporary_files();
    std::process::exit(128 + signal);
}

/// While this is there, the request to end is one that ends the process when it is not heeded in time.
#[must_use = "it holds only as long as this value lives"]
pub struct Insistence(());

impl Drop for Insistence {
    fn drop(&mut self) {
        INSISTING.store(false, Ordering::Relaxed);
    }
}

/// From here on, a request to end is to be heeded in time.
pub fn insist() -> Insistence {
    INSISTING.store(true, Ordering::Relaxed);
    Insistence(())
}

/// Notes a process to be ended should this one have to end at once.
pub fn add_child(id: u32) {
    watch();
    if let Ok(mut all) = CHILDREN.lock() {
        all.push(id);
    }
}

/// Forgets a process noted with [`add_child`].
pub fn forget_child(id: u32) {
    if let Ok(mut all) = CHILDREN.lock() {
        all.retain(|other| *other != id);
    }
}

/// Notes a file to be removed should the process have to end at once.
pub fn add_temporary(path: &Path) {
    watch();
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
