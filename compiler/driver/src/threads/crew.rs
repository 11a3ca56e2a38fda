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
//! A thread may have several desks (a stage, or one of its replicas): it goes from one to the next, the last stage first, and runs a batch wherever it can. So what it has just made, and
//! what it has just read, is still in its cache. Where it can do nothing there, it takes a turn at the desks of others that nobody sits at: those of single threads beside replicas at
//! once, so that whoever has time reads and writes; any other after a while, since what that desk works on is in another core's cache.
//!
//! A queue ([`queue`](super::queue)) hands full blocks one way and empty ones back. With replicas each pair of threads that hand each other batches has a queue of its own; batch b is that of
//! replica b mod n at either end, so that the order of items follows from where they are taken. A producer that finds no empty block waits: that is the back-pressure.

use super::gate::{Begin, Gate};
use super::queue::{self, Sink, Source};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Blocks of a queue: one that is filled, one that is read, and two to even out.
pub const BLOCKS: usize = 4;
/// Looks before a thread lets others have the processor, and before it sleeps. It looks for as long as a batch may take: who sleeps is late when woken, meets others at the reader's desk again
/// and again, and each reads what the other works on (an FM receiver took 0.28 s so, 0.19 s otherwise).
const SPINS: u32 = 64;
const YIELDS: u32 = 256;

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
    /// Is there input for another batch? Only asked of the part that reads. `outs`: the blocks that `fire` is given, which comes next where there is; or none of them, where it may be a while.
    fn admit(&mut self, outs: &mut [Self::Block]) -> Result<Admission, Trouble>;
    /// Runs a batch: blocks from each stage before it, in the order of the shape's links, and empty ones for those behind it.
    fn fire(&mut self, batch: u64, ins: &mut [Self::Block], outs: &mut [Self::Block]) -> Result<(), Trouble>;
    /// While it has nothing to do: lets out what someone may be watching.
    fn rest(&mut self) -> Result<(), Trouble>;
    /// Should the run end (Ctrl-C, a reader that has gone)?
    fn wants_stop(&self) -> bool;
}

/// By thread: the desks it has, as stage and replica.
pub type Seats = Vec<Vec<(usize, usize)>>;

/// How threads hang together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// By stage: its threads.
    pub replicas: Vec<usize>,
    /// From an earlier stage to a later one, each pair once.
    pub links: Vec<(usize, usize)>,
    /// The stage whose part is asked for admissions. Without, all batches are admitted.
    pub reader: Option<usize>,
    /// Who runs what. Each desk belongs to one thread.
    pub threads: Seats,
    /// The thread that is the calling one.
    pub here: usize,
    /// The stage that only the calling thread may run.
    pub bound: Option<usize>,
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

/// The ends of queues at one side of a link, by the replica at the other end: where blocks for a batch come from, and where they go after it.
type Ends<B> = Vec<Option<(Source<B>, Sink<B>)>>;

struct Desk<P: Part> {
    /// Its number, by stage and replica.
    number: usize,
    worker: Worker<P>,
    step: u64,
    beginning: bool,
    admits: bool,
    ins: Vec<Ends<P::Block>>,
    outs: Vec<Ends<P::Block>>,
    /// Its next batch may begin, and these blocks of it are there.
    begun: bool,
    got: (Vec<P::Block>, Vec<P::Block>),
}

/// A desk as threads find it.
struct Place<P: Part> {
    desk: Mutex<Desk<P>>,
    /// Is it done for good?
    over: AtomicBool,
    /// Its stage has one thread, beside others that have several.
    shared: bool,
    /// Only the calling thread may sit there.
    bound: bool,
}

/// What a desk did when it had its turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A batch.
    Batch,
    /// Nothing: it waits.
    Waits,
    /// It is done for good.
    Over,
}

impl Shape {
    /// A thread for each desk.
    pub fn one_each(replicas: &[usize]) -> Seats {
        replicas.iter().enumerate().flat_map(|(s, n)| (0..*n).map(move |r| vec![(s, r)])).collect()
    }
}

/// Runs parts, ordered by stage and replica. `block` makes an empty block for a link.
pub fn run<P: Part>(shape: &Shape, parts: Vec<P>, mut block: impl FnMut(usize) -> P::Block) -> (Vec<Worker<P>>, Ended) {
    let seats: Vec<(usize, usize)> =
        shape.replicas.iter().enumerate().flat_map(|(s, n)| (0..*n).map(move |r| (s, r))).collect();
    let seat = |s: usize, r: usize| shape.replicas[..s].iter().sum::<usize>() + r;
    let first: Vec<u64> = seats.iter().map(|(_, r)| *r as u64).collect();
    let gate = Gate::new(&first, window(seats.len()));
    let mut desks: Vec<Desk<P>> = (parts.into_iter().zip(&seats))
        .enumerate()
        .map(|(number, (part, (s, r)))| Desk {
            number,
            worker: Worker { stage: *s, replica: *r, part, next: *r as u64, faulty: false, busy: Duration::ZERO },
            step: shape.replicas[*s] as u64,
            beginning: !shape.links.iter().any(|(_, to)| to == s),
            admits: shape.reader == Some(*s),
            ins: Vec::new(),
            outs: Vec::new(),
            begun: false,
            got: (Vec::new(), Vec::new()),
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
                let blocks = (0..BLOCKS).map(|_| block(link)).collect();
                let (maker, user) = queue::new(blocks);
                (at_makers[i][j], at_users[j][i]) = (Some(maker), Some(user));
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
    let several = shape.replicas.iter().any(|n| *n > 1);
    let places: Vec<Place<P>> = (desks.into_iter())
        .map(|desk| Place {
            shared: several && shape.replicas[desk.worker.stage] == 1,
            bound: shape.bound == Some(desk.worker.stage),
            over: AtomicBool::new(false),
            desk: Mutex::new(desk),
        })
        .collect();
    // by thread: its desks, the last stage first
    let mut crews: Vec<Vec<usize>> = shape.threads.iter().map(|_| Vec::new()).collect();
    for (number, seat) in seats.iter().enumerate().rev() {
        let thread = shape.threads.iter().position(|t| t.contains(seat)).unwrap_or(shape.here);
        crews[thread].push(number);
    }
    crews.swap(0, shape.here);
    let started = std::thread::scope(|scope| {
        let (gate, places) = (&gate, &places[..]);
        let mut others = Vec::new();
        let started = crews.iter().enumerate().skip(1).all(|(me, own)| {
            let work = move || Thread { me, own, places, gate, here: false }.work();
            let builder = std::thread::Builder::new().name(format!("crew {me}")).stack_size(STACK);
            builder.spawn_scoped(scope, work).map(|handle| others.push(handle)).is_ok()
        });
        if !started {
            gate.close(0);
        } else if shape.reader.is_none() {
            gate.admit(shape.batches);
        }
        gate.open();
        Thread { me: 0, own: &crews[0], places, gate, here: true }.work();
        for handle in others {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
        started
    });
    let desk = |p: Place<P>| p.desk.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut workers: Vec<Worker<P>> = places.into_iter().map(|p| desk(p).worker).collect();
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

/// A thread, and the desks that there are.
struct Thread<'a, P: Part> {
    me: usize,
    /// Those that are its own, in the order in which it looks at them.
    own: &'a [usize],
    places: &'a [Place<P>],
    gate: &'a Gate,
    /// Is it the calling thread? That one looks whether the run should end.
    here: bool,
}

impl<P: Part> Thread<'_, P> {
    /// What a thread does: it goes round the desks until all are done.
    fn work(&self) {
        let _alarm = Alarm(self.gate);
        self.gate.enter(self.me);
        let mut idle = 0u32;
        while !self.places.iter().all(|p| p.over.load(Ordering::Acquire)) {
            if self.here && self.wants_stop() {
                self.gate.cancel();
            }
            if self.round(idle > SPINS) {
                idle = 0;
            }
            idle += 1;
            match idle {
                0..=SPINS => std::hint::spin_loop(),
                _ if idle <= SPINS + YIELDS => std::thread::yield_now(),
                _ => {
                    self.rest();
                    if self.gate.sleep(self.me, || self.round(true).then_some(())).is_some() {
                        idle = 0;
                    }
                }
            }
        }
        // whoever sleeps looks once more
        self.gate.ring();
    }

    /// Does any part know that the run should end? All know the same.
    fn wants_stop(&self) -> bool {
        let desk = self.places.iter().find_map(|p| p.desk.try_lock().ok());
        desk.is_some_and(|d| d.worker.part.wants_stop())
    }

    /// Lets out what someone may be watching.
    fn rest(&self) {
        for place in self.places.iter().filter(|p| !p.over.load(Ordering::Acquire) && (self.here || !p.bound)) {
            let Ok(mut desk) = place.desk.try_lock() else { continue };
            match desk.worker.part.rest() {
                Ok(()) => {}
                Err(Trouble::Fault) => self.gate.fault(desk.worker.next),
                Err(Trouble::Stop) => self.gate.cancel(),
            }
        }
    }

    /// Gives desks a turn: its own, and where that brings nothing the first that does of those that are everybody's, or of all. What is everybody's comes right behind what it takes on, and
    /// before a thread's own only where that waits for it: so a thread reads what it works on next, and writes what it has just made. Did any do something?
    fn round(&self, all: bool) -> bool {
        let may = |p: &&Place<P>| self.here || !p.bound;
        let mut any = false;
        for p in self.own.iter().filter(|p| !self.places[**p].shared) {
            if self.turn(&self.places[*p]) {
                any = true;
                for later in self.places[*p..].iter().rev().filter(|p| p.shared).filter(may) {
                    self.turn(later);
                }
            }
        }
        any || self.places.iter().rev().filter(may).any(|p| (p.shared || all) && self.turn(p))
    }

    /// Gives a desk a turn, if nobody else does. Did it do something?
    fn turn(&self, place: &Place<P>) -> bool {
        if place.over.load(Ordering::Acquire) {
            return false;
        }
        let mut desk = match place.desk.try_lock() {
            Ok(desk) => desk,
            Err(TryLockError::WouldBlock) => return false,
            // whoever had it has panicked, and everyone is ending
            Err(TryLockError::Poisoned(_)) => {
                place.over.store(true, Ordering::Release);
                return true;
            }
        };
        let turn = desk.turn(self.gate);
        if turn == Turn::Over {
            place.over.store(true, Ordering::Release);
        }
        turn != Turn::Waits
    }
}

impl<P: Part> Desk<P> {
    /// Runs a batch, if all that it needs is there.
    fn turn(&mut self, gate: &Gate) -> Turn {
        let batch = self.worker.next;
        if gate.is_over(batch) {
            return Turn::Over;
        }
        // what is read goes to its blocks; but what comes from other stages comes only when the batch has been admitted
        let reads_first = self.admits && self.ins.is_empty();
        if !self.begun && !reads_first {
            match self.begin(gate) {
                Begin::Yes => self.begun = true,
                Begin::Wait => return Turn::Waits,
                Begin::Never => return Turn::Over,
            }
        }
        for (queues, got) in [(&mut self.ins, &mut self.got.0), (&mut self.outs, &mut self.got.1)] {
            while let Some(ends) = queues.get_mut(got.len()) {
                let n = ends.len() as u64;
                match ends[(batch % n) as usize].as_mut().and_then(|(from, _)| from.take()) {
                    Some(block) => got.push(block),
                    None => return Turn::Waits,
                }
            }
        }
        if reads_first {
            match self.begin(gate) {
                Begin::Yes => {}
                Begin::Wait => return Turn::Waits,
                Begin::Never => return Turn::Over,
            }
        }
        let start = Instant::now();
        let result = self.worker.part.fire(batch, &mut self.got.0, &mut self.got.1);
        self.worker.busy += start.elapsed();
        match result {
            Ok(()) => {}
            Err(Trouble::Fault) => {
                self.worker.faulty = true;
                gate.fault(batch);
                return Turn::Over;
            }
            Err(Trouble::Stop) => {
                gate.cancel();
                return Turn::Over;
            }
        }
        for (queues, got) in [(&mut self.ins, &mut self.got.0), (&mut self.outs, &mut self.got.1)] {
            for (ends, block) in queues.iter_mut().zip(got.drain(..)) {
                let n = ends.len() as u64;
                if let Some((_, to)) = &mut ends[(batch % n) as usize] {
                    to.put(block);
                }
            }
        }
        self.begun = false;
        self.worker.next += self.step;
        gate.done(self.number, self.worker.next);
        Turn::Batch
    }

    /// May the next batch begin? The part that reads decides that.
    fn begin(&mut self, gate: &Gate) -> Begin {
        let batch = self.worker.next;
        if !self.admits {
            return gate.may_begin(batch, self.beginning);
        }
        if !gate.is_open() || gate.is_far_ahead(batch) {
            return Begin::Wait;
        }
        match self.worker.part.admit(&mut self.got.1) {
            Ok(Admission::Yes) => {
                gate.admit(batch + 1);
                return Begin::Yes;
            }
            // what is on its way comes out first; more may come meanwhile
            Ok(Admission::NotNow) if !gate.is_idle() => return Begin::Wait,
            Ok(_) => gate.close(batch),
            Err(Trouble::Fault) => gate.fault(batch),
            Err(Trouble::Stop) => gate.cancel(),
        }
        Begin::Never
    }
}
