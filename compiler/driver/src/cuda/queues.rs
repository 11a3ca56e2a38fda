//! # queues
//!
//! Purpose: the streams of an emulated device. Input: work, records and waits, as they come. Output: the same, one by one, in an order that is drawn
//! from a seed: any that streams allow, work of different streams as late and as early as it may be. So what a program forgot to wait for is not there
//! when it is used, for some seeds at least.
//!
//! What holds: work of one stream comes in order; nothing of a stream comes before the events that it waits for, as they were recorded last when it
//! began to wait.

use super::device::{EVENTS, STREAMS, Stream};
use std::collections::VecDeque;

/// Numbers drawn from a seed.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), SplitMix64.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// Another sequence for each seed.
    pub fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n.max(1) as u64) as usize
    }
}

/// What stands in a stream.
enum Item<W> {
    Work(W),
    Record { event: u32, ticket: u64 },
    Wait { ticket: u64 },
}

/// What is due.
#[derive(Debug, PartialEq, Eq)]
pub enum Due<W> {
    /// Work to do.
    Work(W),
    /// An event happens.
    Happens(u32),
}

/// The streams.
pub struct Queues<W> {
    queues: [VecDeque<Item<W>>; STREAMS],
    /// The last ticket of each event, and tickets that have happened.
    recorded: [u64; EVENTS],
    happened: Vec<bool>,
    draw: Draw,
}

impl<W> Queues<W> {
    /// Empty streams.
    pub fn new(seed: u64) -> Queues<W> {
        // ticket 0 is that of an event that was never recorded: nobody waits for it
        let queues = std::array::from_fn(|_| VecDeque::new());
        Queues { queues, recorded: [0; EVENTS], happened: vec![true], draw: Draw::new(seed) }
    }

    /// Work at the end of a stream.
    pub fn add(&mut self, stream: Stream, work: W) {
        self.queues[stream as usize].push_back(Item::Work(work));
    }

    /// An event at the end of a stream.
    pub fn record(&mut self, event: u32, stream: Stream) {
        let ticket = self.happened.len() as u64;
        self.happened.push(false);
        self.recorded[event as usize % EVENTS] = ticket;
        self.queues[stream as usize].push_back(Item::Record { event, ticket });
    }

    /// A wait at the end of a stream.
    pub fn wait(&mut self, stream: Stream, event: u32) {
        let ticket = self.recorded[event as usize % EVENTS];
        self.queues[stream as usize].push_back(Item::Wait { ticket });
    }

    /// Has the event happened, as it was recorded last?
    pub fn has_happened(&self, event: u32) -> bool {
        let ticket = self.recorded[event as usize % EVENTS];
        ticket > 0 && self.happened[ticket as usize]
    }

    /// Is there something in a stream?
    pub fn holds(&self, stream: Stream) -> bool {
        !self.queues[stream as usize].is_empty()
    }

    /// Work that is not done yet.
    pub fn waiting(&self) -> impl Iterator<Item = &W> {
        self.queues.iter().flatten().filter_map(|item| match item {
            Item::Work(work) => Some(work),
            _ => None,
        })
    }

    /// Is it time to do something, though nobody waits for it?
    pub fn is_eager(&mut self) -> bool {
        self.draw.below(3) == 0
    }

    /// A further number, drawn from the seed.
    pub fn number(&mut self) -> u64 {
        self.draw.number()
    }

    /// One of those that are due. There is one as long as there is anything: an event is recorded before it is waited for.
    pub fn take_due(&mut self) -> Option<Due<W>> {
        loop {
            let ready = |queue: &VecDeque<Item<W>>| match queue.front() {
                None => false,
                Some(Item::Wait { ticket }) => self.happened[*ticket as usize],
                Some(_) => true,
            };
            let ready: Vec<usize> = (0..STREAMS).filter(|s| ready(&self.queues[*s])).collect();
            if ready.is_empty() {
                return None;
            }
            let chosen = ready[self.draw.below(ready.len())];
            match self.queues[chosen].pop_front()? {
                Item::Work(work) => return Some(Due::Work(work)),
                Item::Wait { .. } => {}
                Item::Record { event, ticket } => {
                    self.happened[ticket as usize] = true;
                    return Some(Due::Happens(event));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all<W>(mut queues: Queues<W>) -> Vec<W> {
        let mut out = Vec::new();
        while let Some(due) = queues.take_due() {
            if let Due::Work(work) = due {
                out.push(work);
            }
        }
        assert!(Stream::ALL.iter().all(|s| !queues.holds(*s)), "nothing is left");
        out
    }

    #[test]
    fn streams_are_in_order_and_otherwise_in_any() {
        let mut seen = BTreeSet::new();
        for seed in 0..200 {
            let mut q = Queues::new(seed);
            for (stream, work) in
                [(Stream::Up, "u1"), (Stream::Up, "u2"), (Stream::Compute, "c1"), (Stream::Down, "d1")]
            {
                q.add(stream, work);
            }
            let order = all(q);
            assert!(order.iter().position(|w| *w == "u1") < order.iter().position(|w| *w == "u2"));
            seen.insert(order);
        }
        assert_eq!(seen.len(), 12, "every order that is allowed: 4!/2");
    }

    #[test]
    fn events_hold_streams_back() {
        for seed in 0..200 {
            let mut q = Queues::new(seed);
            q.wait(Stream::Compute, 5); // never recorded before: holds nobody back
            q.add(Stream::Up, "first");
            q.record(5, Stream::Up);
            q.wait(Stream::Compute, 5);
            q.add(Stream::Compute, "second");
            q.record(5, Stream::Compute);
            q.wait(Stream::Down, 5); // what was recorded last
            q.add(Stream::Down, "third");
            assert!(!q.has_happened(5));
            assert_eq!(all(q), ["first", "second", "third"]);
        }
    }

    #[test]
    fn a_forgotten_wait_is_seen_by_some_seed() {
        let wrong = (0..20).filter(|seed| {
            let mut q = Queues::new(*seed);
            q.add(Stream::Up, "put");
            q.add(Stream::Compute, "kernel");
            all(q) == ["kernel", "put"]
        });
        assert!(wrong.count() > 3);
    }
}
