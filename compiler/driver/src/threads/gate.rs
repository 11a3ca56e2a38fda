//! # gate
//!
//! Purpose: the synchronisation of a crew's threads beside their queues: which batch may begin, how far everyone is, where all end, and sleep and
//! waking. Atomics; a lock only around the handle of a thread that sleeps.
//!
//! What holds: a batch is begun only when it has been admitted, when it lies below the limit, and by a thread at the beginning of the pipeline
//! only when no thread is [`Gate::window`] batches behind. After a fault in batch b every batch below b is still completed by every stage,
//! and none from b on is begun. A thread that goes to sleep for something that another has done meanwhile is woken.
//!
//! Tested with loom (all interleavings of small crews) in tests/loom.rs.

use super::sync::{AtomicBool, AtomicU64, Mutex, Ordering, Thread, current, fence, park};

/// May a batch begin?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Now.
    Yes,
    /// Perhaps later.
    Wait,
    /// Never: this thread is done.
    Never,
}

/// A thread's bell.
struct Bell {
    asleep: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

/// The gate that all threads of a crew pass.
pub struct Gate {
    /// Batches below this may begin.
    admitted: AtomicU64,
    /// Batches from this on are none: the input or the task ends there.
    limit: AtomicU64,
    /// Batches from this on are not begun: there is a fault in it.
    fault: AtomicU64,
    cancelled: AtomicBool,
    /// Have all threads been started?
    open: AtomicBool,
    /// By thread: its next batch; those below it that are its own are complete.
    next: Vec<AtomicU64>,
    bells: Vec<Bell>,
    /// How far the first thread may be ahead of the last.
    pub window: u64,
}

impl Gate {
    /// A gate for threads whose first batches are these.
    pub fn new(first: &[u64], window: u64) -> Gate {
        let bell = |_: &u64| Bell { asleep: AtomicBool::new(false), thread: Mutex::new(None) };
        Gate {
            admitted: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            fault: AtomicU64::new(u64::MAX),
            cancelled: AtomicBool::new(false),
            open: AtomicBool::new(false),
            next: first.iter().map(|b| AtomicU64::new(*b)).collect(),
            bells: first.iter().map(bell).collect(),
            window,
        }
    }

    /// All threads have been started: admissions may begin.
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
        self.ring();
    }

    /// May admissions begin?
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// The calling thread is number `me` from now on.
    pub fn enter(&self, me: usize) {
        if let Ok(mut thread) = self.bells[me].thread.lock() {
            *thread = Some(current());
        }
    }

    /// May a thread begin a batch? One at the `beginning` of the pipeline also looks back.
    pub fn may_begin(&self, batch: u64, beginning: bool) -> Begin {
        if self.is_over(batch) {
            return Begin::Never;
        }
        let here = batch < self.admitted.load(Ordering::Acquire);
        if here && !(beginning && self.is_far_ahead(batch)) { Begin::Yes } else { Begin::Wait }
    }

    /// Will this batch never begin?
    pub fn is_over(&self, batch: u64) -> bool {
        self.cancelled.load(Ordering::Acquire)
            || batch >= self.limit.load(Ordering::Acquire)
            || batch >= self.fault.load(Ordering::Acquire)
    }

    /// Is some thread so far behind this batch that it must wait?
    pub fn is_far_ahead(&self, batch: u64) -> bool {
        batch >= self.least().saturating_add(self.window)
    }

    /// All batches below this are complete.
    fn least(&self) -> u64 {
        self.next.iter().map(|n| n.load(Ordering::Acquire)).min().unwrap_or(0)
    }

    /// Is everything done that was admitted?
    pub fn is_idle(&self) -> bool {
        self.least() >= self.admitted.load(Ordering::Acquire)
    }

    /// Batches below this may begin.
    pub fn admit(&self, below: u64) {
        self.admitted.fetch_max(below, Ordering::AcqRel);
        self.ring();
    }

    /// There are so many batches and no more.
    pub fn close(&self, batches: u64) {
        self.limit.fetch_min(batches, Ordering::AcqRel);
        self.ring();
    }

    /// Something went wrong in a batch.
    pub fn fault(&self, batch: u64) {
        self.fault.fetch_min(batch, Ordering::AcqRel);
        self.ring();
    }

    /// Everyone ends at once; what is under way counts for nothing.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.ring();
    }

    /// Thread `me` has completed all its batches below `next`.
    pub fn done(&self, me: usize, next: u64) {
        self.next[me].store(next, Ordering::Release);
        self.ring();
    }

    /// Has everyone ended at once?
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// The batch with the first fault.
    pub fn faulty(&self) -> Option<u64> {
        Some(self.fault.load(Ordering::Acquire)).filter(|b| *b < u64::MAX)
    }

    /// How many batches there are, where that is known.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Acquire)
    }

    /// Wakes those who sleep: something may have come about that they wait for.
    pub fn ring(&self) {
        // pairs with the fence in `sleep`: either the sleeper sees what was done before, or its bell is seen here
        fence(Ordering::SeqCst);
        for bell in &self.bells {
            if bell.asleep.load(Ordering::Relaxed)
                && bell.asleep.swap(false, Ordering::Relaxed)
                && let Ok(thread) = bell.thread.lock()
                && let Some(thread) = thread.as_ref()
            {
                thread.unpark();
            }
        }
    }

    /// Thread `me` sleeps, unless what it waits for has come about: `ready` looks once more.
    pub fn sleep<T>(&self, me: usize, ready: impl FnOnce() -> Option<T>) -> Option<T> {
        let bell = &self.bells[me];
        bell.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let got = ready();
        if got.is_none() {
            park();
        }
        bell.asleep.store(false, Ordering::Relaxed);
        got
    }
}
