//! # crew
//!
//! Purpose: runs stages on threads, with bounded queues of blocks between them. Input: the [`Shape`] of the pipeline, a [`Part`] for each thread.
//! Output: the parts again, and how it [`Ended`].
//!
//! ```text
//! thread 0: admit, fire batch b, push the block ─ full ─▶ thread 1: pop, fire batch b
//!                                               ◀ empty ─ give the block back
//! ```
//!
//! A queue is two rings (crate rtrb: single producer, single consumer, lock-free): full blocks one way, empty ones back. With replicas each
//! pair of threads that hand each other batches has a queue of its own; batch b is that of replica b mod n at either end, so that the order
//! of items follows from where they are taken. A producer that finds no empty block waits: that is the back-pressure.

use super::gate::{Begin, Gate};
use rtrb::{Consumer, Producer, RingBuffer};
use std::time::{Duration, Instant};

/// Blocks of a queue: one that is filled, one that is read, and two to even out.
pub const BLOCKS: usize = 4;
/// Looks before a thread lets others have the processor, and before it sleeps.
const SPINS: u32 = 64;
const YIELDS: u32 = 16;

/// Is there another batch?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Its input is there.
    Yes,
    /// Not now.
    NotNow,
    /// Never.
    Never,
}

/// Why a part cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The program is at fault in this batch.
    Fault,
    /// The run must end at once.
    Stop,
}

/// What a thread runs.
pub trait Part: Send {
    /// What goes through queues.
    type Block: Send;
    /// Is there input for another batch? Only asked of the part that reads.
    fn admit(&mut self) -> Result<Admission, Trouble>;
    /// Runs a batch: blocks from each stage before it, in the order of the shape's links, and empty ones for those behind it.
    fn fire(&mut self, batch: u64, ins: &mut [Self::Block], outs: &mut [Self::Block]) -> Result<(), Trouble>;
    /// While it has nothing to do: lets out what someone may be watching.
    fn rest(&mut self) -> Result<(), Trouble>;
    /// Should the run end (Ctrl-C, a reader that has gone)?
    fn wants_stop(&self) -> bool;
}

/// How threads hang together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// By stage: its threads.
    pub replicas: Vec<usize>,
    /// From an earlier stage to a later one, each pair once.
    pub links: Vec<(usize, usize)>,
    /// The stage whose part is asked for admissions. Without, all batches are admitted.
    pub reader: Option<usize>,
    /// The stage that runs in the calling thread.
    pub here: usize,
    /// How many batches, at most.
    pub batches: u64,
}

/// How a crew ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// So many batches are complete in all stages, no other was begun.
    Complete(u64),
    /// There was a fault in this batch, all before it are complete, some after it may have been run.
    Fault(u64),
    /// It was stopped, somewhere.
    Stopped,
    /// Threads could not be started; nothing was run.
    NoThreads,
}

/// A part, and what became of it.
pub struct Worker<P> {
    /// Its stage, and which of its replicas.
    pub stage: usize,
    /// Which replica.
    pub replica: usize,
    /// The part.
    pub part: P,
    /// Its next batch, had it gone on.
    pub next: u64,
    /// Whether it has met with a fault in that batch.
    pub faulty: bool,
    /// Time spent in batches.
    pub busy: Duration,
}

/// The ends of queues at one side of a link, by the replica at the other end.
type Ends<B> = Vec<Option<(Consumer<B>, Producer<B>)>>;

struct Desk<P: Part> {
    worker: Worker<P>,
    step: u64,
    beginning: bool,
    admits: bool,
    watches: bool,
    ins: Vec<Ends<P::Block>>,
    outs: Vec<Ends<P::Block>>,
}

/// Runs parts, ordered by stage and replica. `block` makes an empty block for a link.
pub fn run<P: Part>(
    shape: &Shape,
    parts: Vec<P>,
    mut block: impl FnMut(usize) -> P::Block,
) -> (Vec<Worker<P>>, Ended) {
    let seats: Vec<(usize, usize)> =
        shape.replicas.iter().enumerate().flat_map(|(s, n)| (0..*n).map(move |r| (s, r))).collect();
    let seat = |s: usize, r: usize| shape.replicas[..s].iter().sum::<usize>() + r;
    let first: Vec<u64> = seats.iter().map(|(_, r)| *r as u64).collect();
    let gate = Gate::new(&first, window(seats.len()));
    let mut desks: Vec<Desk<P>> = (parts.into_iter().zip(&seats))
        .map(|(part, (s, r))| Desk {
            worker: Worker { stage: *s, replica: *r, part, next: *r as u64, faulty: false, busy: Duration::ZERO },
            step: shape.replicas[*s] as u64,
            beginning: !shape.links.iter().any(|(_, to)| to == s),
            admits: shape.reader == Some(*s),
            watches: shape.here == *s && *r == 0,
            ins: Vec::new(),
            outs: Vec::new(),
        })
        .collect();
    for (link, (from, to)) in shape.links.iter().enumerate() {
        let (makers, users) = (shape.replicas[*from], shape.replicas[*to]);
        let mut at_makers: Vec<Ends<P::Block>> = (0..makers).map(|_| (0..users).map(|_| None).collect()).collect();
        let mut at_users: Vec<Ends<P::Block>> = (0..users).map(|_| (0..makers).map(|_| None).collect()).collect();
        // the pairs that meet: all, or those that leave the same rest
        for b in 0..makers * users {
            let (i, j) = (b % makers, b % users);
            if at_makers[i][j].is_none() {
                let (full_in, full_out) = RingBuffer::new(BLOCKS);
                let (mut empty_in, empty_out) = RingBuffer::new(BLOCKS);
                (0..BLOCKS).for_each(|_| {
                    let _ = empty_in.push(block(link));
                });
                at_makers[i][j] = Some((empty_out, full_in));
                at_users[j][i] = Some((full_out, empty_in));
            }
        }
        for (i, ends) in at_makers.into_iter().enumerate() {
            desks[seat(*from, i)].outs.push(ends);
        }
        for (j, ends) in at_users.into_iter().enumerate() {
            desks[seat(*to, j)].ins.push(ends);
        }
    }
    gate.close(shape.batches);
    let here = seat(shape.here, 0);
    let mine = desks.remove(here);
    let (mut workers, started) = std::thread::scope(|scope| {
        let gate = &gate;
        let mut others = Vec::new();
        let mut left = Vec::new();
        let mut started = true;
        for (i, desk) in desks.into_iter().enumerate() {
            let me = i + usize::from(i >= here);
            if !started {
                left.push(desk.worker);
                continue;
            }
            // a desk that no thread takes must not be lost
            let slot = std::sync::Arc::new(std::sync::Mutex::new(Some(desk)));
            let taken = slot.clone();
            let work = move || taken.lock().ok().and_then(|mut d| d.take()).map(|d| d.work(me, gate));
            let builder = std::thread::Builder::new().name(format!("stage {}", seats[me].0)).stack_size(STACK);
            match builder.spawn_scoped(scope, work) {
                Ok(handle) => others.push(handle),
                Err(_) => {
                    started = false;
                    gate.close(0);
                    left.extend(slot.lock().ok().and_then(|mut d| d.take()).map(|d| d.worker));
                }
            }
        }
        if started && shape.reader.is_none() {
            gate.admit(shape.batches);
        }
        gate.open();
        let mut workers = vec![mine.work(here, gate)];
        workers.extend(left);
        for handle in others {
            match handle.join() {
                Ok(worker) => workers.extend(worker),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        (workers, started)
    });
    workers.sort_by_key(|w| (w.stage, w.replica));
    let ended = match gate.faulty() {
        _ if !started => Ended::NoThreads,
        _ if gate.is_cancelled() => Ended::Stopped,
        Some(batch) => Ended::Fault(batch),
        None => Ended::Complete(gate.limit()),
    };
    (workers, ended)
}

/// How far threads may be apart.
pub fn window(threads: usize) -> u64 {
    (BLOCKS * threads + BLOCKS) as u64
}

/// Generated code knows that calls which are nested too deeply end at 4 MiB.
const STACK: usize = 16 << 20;

/// Ends everyone where a thread panics, so that none waits for it for ever.
struct Alarm<'g>(&'g Gate);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.cancel();
        }
    }
}

impl<P: Part> Desk<P> {
    fn work(mut self, me: usize, gate: &Gate) -> Worker<P> {
        let _alarm = Alarm(gate);
        gate.enter(me);
        let (mut ins, mut outs) = (Vec::with_capacity(self.ins.len()), Vec::with_capacity(self.outs.len()));
        while self.begin(me, gate) && self.collect(me, gate, &mut ins, &mut outs) {
            let start = Instant::now();
            let result = self.worker.part.fire(self.worker.next, &mut ins, &mut outs);
            self.worker.busy += start.elapsed();
            match result {
                Ok(()) => {}
                Err(Trouble::Fault) => {
                    self.worker.faulty = true;
                    gate.fault(self.worker.next);
                    break;
                }
                Err(Trouble::Stop) => {
                    gate.cancel();
                    break;
                }
            }
            let batch = self.worker.next;
            for (ends, block) in self.ins.iter_mut().zip(ins.drain(..)) {
                // as many as there are fit
                let n = ends.len();
                if let Some((_, empty)) = &mut ends[(batch % n as u64) as usize] {
                    let _ = empty.push(block);
                }
            }
            for (ends, block) in self.outs.iter_mut().zip(outs.drain(..)) {
                let n = ends.len();
                if let Some((_, full)) = &mut ends[(batch % n as u64) as usize] {
                    let _ = full.push(block);
                }
            }
            self.worker.next += self.step;
            gate.done(me, self.worker.next);
        }
        self.worker
    }

    /// Waits until the next batch may begin. False where it never will.
    fn begin(&mut self, me: usize, gate: &Gate) -> bool {
        let batch = self.worker.next;
        if self.watches && self.worker.part.wants_stop() {
            gate.cancel();
            return false;
        }
        if !self.admits {
            let beginning = self.beginning;
            let answer = self.wait(me, gate, |_| match gate.may_begin(batch, beginning) {
                Begin::Wait => None,
                answer => Some(answer),
            });
            return answer == Some(Begin::Yes);
        }
        self.wait(me, gate, |desk| {
            if !gate.is_open() || gate.is_far_ahead(batch) {
                return None;
            }
            match desk.worker.part.admit() {
                Ok(Admission::Yes) => {
                    gate.admit(batch + 1);
                    return Some(true);
                }
                // what is on its way comes out first; more may come meanwhile
                Ok(Admission::NotNow) if !gate.is_idle() => return None,
                Ok(_) => gate.close(batch),
                Err(Trouble::Fault) => gate.fault(batch),
                Err(Trouble::Stop) => gate.cancel(),
            }
            Some(false)
        }) == Some(true)
    }

    /// Takes a block from each queue. False where the batch will never begin.
    fn collect(&mut self, me: usize, gate: &Gate, ins: &mut Vec<P::Block>, outs: &mut Vec<P::Block>) -> bool {
        let batch = self.worker.next;
        for (side, count) in [(0, self.ins.len()), (1, self.outs.len())] {
            for l in 0..count {
                let block = self.wait(me, gate, |desk| {
                    let ends = if side == 0 { &mut desk.ins[l] } else { &mut desk.outs[l] };
                    let n = ends.len() as u64;
                    ends[(batch % n) as usize].as_mut().and_then(|(from, _)| from.pop().ok())
                });
                let Some(block) = block else { return false };
                if side == 0 { ins.push(block) } else { outs.push(block) }
            }
        }
        true
    }

    /// Waits for something, at first wide awake. `None` where this thread's next batch will never begin.
    fn wait<T>(&mut self, me: usize, gate: &Gate, mut ready: impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        for turn in 0u32.. {
            // what is there is taken first: batches before a fault are all completed
            if gate.is_over(self.worker.next) {
                return None;
            }
            if let Some(got) = ready(self) {
                return Some(got);
            }
            if turn < SPINS {
                std::hint::spin_loop();
            } else if turn < SPINS + YIELDS {
                std::thread::yield_now();
            } else {
                if self.watches && self.worker.part.wants_stop() {
                    gate.cancel();
                    return None;
                }
                match self.worker.part.rest() {
                    Ok(()) => {}
                    Err(Trouble::Fault) => gate.fault(self.worker.next),
                    Err(Trouble::Stop) => gate.cancel(),
                }
                let over = |desk: &Self| gate.is_over(desk.worker.next);
                let got = gate.sleep(me, || if over(self) { Some(None) } else { ready(self).map(Some) });
                if let Some(got) = got {
                    return got;
                }
            }
        }
        None
    }
}
