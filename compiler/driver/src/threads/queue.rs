//! # queue
//!
//! Purpose: a bounded queue of blocks between two threads. Input: its blocks, all empty. Output: an end for the maker and one for the user, each with a [`Source`] of blocks for a batch
//! and a [`Sink`] for them after it.
//!
//! ```text
//! maker: spare.take(), fill, full.put() ─▶ user: full.take(), read, spare.put()
//! ```
//!
//! Full blocks go through a ring (crate rtrb: single producer, single consumer, lock-free) and keep their order. Of the spare ones the maker gets that which came back last: it is the one
//! that is most likely still in a cache, and where few are under way the others are never touched.

use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Spare blocks, the one that came last first: what the two ends share besides the ring.
pub struct Spares<B> {
    /// How many there are: whoever waits for one looks here, and leaves the lock alone.
    count: AtomicUsize,
    blocks: Mutex<Vec<B>>,
}

impl<B> Spares<B> {
    fn take(&self) -> Option<B> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let block = blocks.pop();
        self.count.store(blocks.len(), Ordering::Release);
        block
    }

    fn put(&self, block: B) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.push(block);
        self.count.store(blocks.len(), Ordering::Release);
    }
}

/// Where blocks come from.
pub enum Source<B> {
    /// The user's: full ones.
    Full(Consumer<B>),
    /// The maker's: spare ones.
    Spare(Arc<Spares<B>>),
}

/// Where blocks go.
pub enum Sink<B> {
    /// The maker's: full ones.
    Full(Producer<B>),
    /// The user's: spare ones.
    Spare(Arc<Spares<B>>),
}

impl<B> Source<B> {
    /// A block, if there is one.
    pub fn take(&mut self) -> Option<B> {
        match self {
            Source::Full(ring) => ring.pop().ok(),
            Source::Spare(spares) => spares.take(),
        }
    }
}

impl<B> Sink<B> {
    /// Hands a block on. There is room for as many as the queue has.
    pub fn put(&mut self, block: B) {
        match self {
            Sink::Full(ring) => {
                let _ = ring.push(block);
            }
            Sink::Spare(spares) => spares.put(block),
        }
    }
}

/// The two ends of a queue.
pub type End<B> = (Source<B>, Sink<B>);

/// A queue of these blocks: the end of its maker, and that of its user.
pub fn new<B>(blocks: Vec<B>) -> (End<B>, End<B>) {
    let (full_in, full_out) = RingBuffer::new(blocks.len());
    let spares = Arc::new(Spares { count: AtomicUsize::new(blocks.len()), blocks: Mutex::new(blocks) });
    ((Source::Spare(Arc::clone(&spares)), Sink::Full(full_in)), (Source::Full(full_out), Sink::Spare(spares)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_last_is_used_first_and_full_blocks_keep_their_order() {
        let ((mut spare, mut full), (mut there, mut back)) = new(vec![1, 2, 3]);
        let (a, b) = (spare.take().unwrap(), spare.take().unwrap());
        assert_eq!((a, b), (3, 2));
        full.put(a);
        full.put(b);
        assert_eq!((there.take(), there.take(), there.take()), (Some(3), Some(2), None));
        back.put(2);
        back.put(3);
        let all: Vec<_> = std::iter::from_fn(|| spare.take()).collect();
        assert_eq!(all, [3, 2, 1], "the third was not needed before");
    }
}
