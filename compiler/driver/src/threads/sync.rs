//! What [`super::gate`] is made of; its tests put those of loom in their place (tests/loom.rs).

pub use std::sync::Mutex;
pub use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
pub use std::thread::Thread;
use std::time::Duration;

/// The thread that runs this.
pub fn current() -> Thread {
    std::thread::current()
}

/// Sleeps until someone wakes this thread. Never for long: input may come that nobody tells of.
pub fn park() {
    std::thread::park_timeout(Duration::from_millis(1));
}
