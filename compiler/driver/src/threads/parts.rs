//! # parts
//!
//! Purpose: stages of a compiled program as the parts of a [`crew`](super::crew). The interface is `compiler/codegen/rts/c/sluice_stages.h`; the
//! structs here mirror it.
//!
//! What is shared between threads: the program's code and constants, which nobody writes, and the [`Host`], whose ends have locks. Each part has
//! an instance of its own, and a block belongs to the thread that holds it.

#![allow(unsafe_code)]

use super::crew::{self, Admission, Ended, Part, Seats, Shape, Trouble};
use super::report::Tally;
use crate::exit::Fault;
use crate::io::host::Host;
use crate::native::{Bridge, RawAbi, RawHost, RawInstance};
use std::ffi::{c_char, c_void};

/// `SLUICE_STAGES_VERSION`
const VERSION: u32 = 2;
const DONE: i32 = 0;
const STOPPED: i32 = 2;
const FAILED: i32 = -1;
const HOST: i32 = -2;

type Call = extern "C" fn(*mut c_void, i64, i64, *mut i64) -> i32;

/// `sluice_stage`
#[repr(C)]
struct RawStage {
    replicas: u32,
    reads: u32,
    calls: u32,
    unused: u32,
}

/// `sluice_crossing`
#[repr(C)]
struct RawCrossing {
    from: u32,
    to: u32,
    before: u64,
    each: u64,
}

/// `sluice_stages`
#[repr(C)]
pub struct RawStages {
    size: u32,
    version: u32,
    stage_count: u32,
    crossing_count: u32,
    stages: *const RawStage,
    crossings: *const RawCrossing,
    undoable: extern "C" fn() -> i32,
    part: extern "C" fn(*const RawHost, *mut *mut RawInstance) -> i32,
    attach: extern "C" fn(*mut RawInstance, Call, *mut c_void, i64),
    image_bytes: extern "C" fn(u32) -> u64,
    take: extern "C" fn(*const RawInstance, u32, *mut c_void),
    give: extern "C" fn(*mut RawInstance, u32, *const c_void),
    begin: extern "C" fn(*mut RawInstance, *mut RawInstance, u32),
    admit: extern "C" fn(*mut RawInstance, u32, i64, *const *mut c_char) -> i32,
    input_bytes: extern "C" fn(u32, i64) -> u64,
    input: extern "C" fn(*const RawInstance, u32, i64, *mut c_void),
    fire: extern "C" fn(*mut RawInstance, u32, i64, i64, i32, *const *mut c_char) -> i32,
    flush: extern "C" fn(*mut RawInstance, i32) -> i32,
    finish: extern "C" fn(*mut RawInstance, *mut RawInstance, u32, i64, *const *const c_void, u64) -> i32,
    undo: extern "C" fn(*mut RawInstance, *mut RawInstance, u32, *const c_void),
    fail: extern "C" fn(*const RawInstance, *mut RawInstance),
}

impl RawStages {
    /// Is it what we think it is?
    pub fn check(&self) -> Result<(), Fault> {
        if self.version != VERSION || (self.size as usize) < size_of::<RawStages>() || self.stage_count == 0 {
            return Err(Fault::internal("the compiled program's stages have another interface"));
        }
        Ok(())
    }

    fn stages(&self) -> &[RawStage] {
        // SAFETY: the table is a constant of the library with so many rows.
        unsafe { std::slice::from_raw_parts(self.stages, self.stage_count as usize) }
    }

    fn crossings(&self) -> &[RawCrossing] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.crossings, self.crossing_count as usize) }
    }
}

/// A line of the cache: blocks begin at one.
const LINE: usize = 64;

/// Items of all channels between two stages, for one batch.
pub struct Block(Vec<u8>);

impl Block {
    /// An empty one. It takes memory when it is first used.
    fn new(bytes: usize) -> Block {
        Block(vec![0; bytes + LINE])
    }

    /// Where its items begin.
    fn items(&mut self) -> *mut u8 {
        let start = self.0.as_mut_ptr();
        // never moves it beyond the line that it has more than it needs
        start.wrapping_add(start.align_offset(LINE) % LINE)
    }
}

/// An instance and what its host functions work on; both go with it.
struct Instance<'h> {
    raw: *mut RawInstance,
    destroy: extern "C" fn(*mut RawInstance),
    bridge: *mut Bridge<'h>,
}

impl<'h> Instance<'h> {
    /// Makes an instance that is a part. `None` without memory.
    fn part(stages: &RawStages, abi: &RawAbi, bridge: Bridge<'h>) -> Option<Instance<'h>> {
        let stdout_writers = bridge.host.stdout_writers();
        let bridge = Box::into_raw(Box::new(bridge));
        let mut instance = Instance { raw: std::ptr::null_mut(), destroy: abi.destroy, bridge };
        let host = RawHost::over(bridge.cast(), stdout_writers);
        ((stages.part)(&host, &mut instance.raw) == DONE).then_some(instance)
    }

    /// What went wrong in its host functions.
    fn fault(&mut self) -> Option<Fault> {
        // SAFETY: the bridge lives as long as `self`, and the instance is not running.
        unsafe { (*self.bridge).fault.take() }
    }
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        (self.destroy)(self.raw);
        // SAFETY: it came from a box, and the only one who knew it has gone.
        drop(unsafe { Box::from_raw(self.bridge) });
    }
}

/// A part's channels in a block of a link: number and offset in bytes.
type Channels = Vec<(usize, usize)>;

/// What one thread runs, in one phase of a crew's work after the other.
struct Stage<'h> {
    instance: Instance<'h>,
    stages: &'h RawStages,
    host: &'h Host,
    number: u32,
    replicas: u64,
    ins: Vec<Channels>,
    outs: Vec<Channels>,
    /// By crossing, where its items are during a batch.
    places: Vec<*mut c_char>,
    /// Of this phase: its first steady state, and steady states in a batch.
    epoch: i64,
    k: i64,
    /// Images: before its first batch, and after each of its last ones; where a fault can be undone.
    before: Vec<u8>,
    after: Vec<Vec<u8>>,
    /// The input of its last batches.
    inputs: Vec<Vec<u8>>,
    /// What `fire` or another function said when it failed.
    code: i32,
}

// SAFETY: an instance may be used by any thread, one at a time (sluice_abi.h), and its bridge is used by it alone and refers to the host, which is
// `Sync`. What `places` leads to is only used within `fire`, by the thread that has the blocks. `stages` is a table of constants and functions.
unsafe impl Send for Stage<'_> {}

impl Stage<'_> {
    fn ring(ring: &mut [Vec<u8>], of: u64, bytes: u64) -> &mut Vec<u8> {
        let at = (of % ring.len() as u64) as usize;
        ring[at].resize(bytes as usize, 0);
        &mut ring[at]
    }

    fn image(&self) -> Vec<u8> {
        let mut image = vec![0; (self.stages.image_bytes)(self.number) as usize];
        (self.stages.take)(self.instance.raw, self.number, image.as_mut_ptr().cast());
        image
    }

    /// The image after a batch of this part's (by its place among them).
    fn image_after(&self, batch: u64) -> &[u8] {
        &self.after[((batch / self.replicas) % self.after.len() as u64) as usize]
    }

    /// Notes where the items of each crossing are in these blocks.
    fn place(&mut self, ins: &mut [Block], outs: &mut [Block]) {
        for (channels, block) in (self.ins.iter().zip(ins)).chain(self.outs.iter().zip(outs)) {
            for (crossing, offset) in channels {
                let bytes = block.items().cast::<c_char>();
                // SAFETY: blocks of a link have room for all its channels one after the other.
                self.places[*crossing] = unsafe { bytes.add(*offset) };
            }
        }
    }

    fn trouble(&mut self, code: i32) -> Trouble {
        self.code = code;
        if code == FAILED { Trouble::Fault } else { Trouble::Stop }
    }

    fn undoable(&self) -> bool {
        !self.after.is_empty()
    }
}

impl Part for &mut Stage<'_> {
    type Block = Block;

    fn admit(&mut self, outs: &mut [Block]) -> Result<Admission, Trouble> {
        self.places.fill(std::ptr::null_mut());
        self.place(&mut [], outs);
        match (self.stages.admit)(self.instance.raw, self.number, self.k, self.places.as_ptr()) {
            1 => Ok(Admission::Yes),
            0 => Ok(Admission::NotNow),
            2 => Ok(Admission::Never),
            code => Err(self.trouble(code)),
        }
    }

    fn fire(&mut self, batch: u64, ins: &mut [Block], outs: &mut [Block]) -> Result<(), Trouble> {
        let s = &mut **self;
        s.place(ins, outs);
        if s.undoable() {
            let bytes = (s.stages.input_bytes)(s.number, s.k);
            if bytes > 0 {
                let copy = Stage::ring(&mut s.inputs, batch, bytes);
                (s.stages.input)(s.instance.raw, s.number, s.k, copy.as_mut_ptr().cast());
            }
        }
        let epoch = s.epoch + batch as i64 * s.k;
        let first = i32::from(batch == 0);
        match (s.stages.fire)(s.instance.raw, s.number, epoch, s.k, first, s.places.as_ptr()) {
            DONE => {}
            code => return Err(s.trouble(code)),
        }
        if s.undoable() {
            let bytes = (s.stages.image_bytes)(s.number);
            let image = Stage::ring(&mut s.after, batch / s.replicas, bytes);
            (s.stages.take)(s.instance.raw, s.number, image.as_mut_ptr().cast());
        }
        Ok(())
    }

    fn rest(&mut self) -> Result<(), Trouble> {
        match (self.stages.flush)(self.instance.raw, 0) {
            DONE => Ok(()),
            code => Err(self.trouble(code)),
        }
    }

    fn wants_stop(&self) -> bool {
        self.host.wants_stop()
    }
}

/// A program's crew, from the first batch that it runs to the last.
pub struct Crew<'h> {
    stages: &'h RawStages,
    abi: &'h RawAbi,
    host: &'h Host,
    whole: *mut RawInstance,
    sizes: (Vec<usize>, Vec<usize>),
    parts: Vec<Stage<'h>>,
    links: Vec<(usize, usize)>,
    /// By thread: the stages and replicas it runs.
    threads: Seats,
    /// The bytes of a block of each link, for the batch at hand.
    bytes: Vec<usize>,
    /// No threads could be had: one thread does everything.
    alone: bool,
    /// Steady states of a batch, where that is fixed.
    batch: Option<u64>,
    /// A fault of the host's that a part has met with.
    pub fault: Option<Fault>,
    /// What was done.
    pub tally: Tally,
}

impl<'h> Crew<'h> {
    /// The crew of a program. `sizes`: bytes of an item of each reader and writer; `threads`: by thread, the stages and replicas it runs.
    pub(crate) fn new(
        stages: &'h RawStages,
        abi: &'h RawAbi,
        host: &'h Host,
        sizes: (Vec<usize>, Vec<usize>),
        threads: &Seats,
        batch: Option<u64>,
    ) -> Crew<'h> {
        let threads = threads.clone();
        let mut links: Vec<(usize, usize)> =
            stages.crossings().iter().map(|c| (c.from as usize, c.to as usize)).collect();
        links.sort_unstable();
        links.dedup();
        let tally = Tally::of(stages.stages().iter().map(|s| s.replicas as usize));
        let whole = std::ptr::null_mut();
        let (parts, bytes) = (Vec::new(), Vec::new());
        Crew { stages, abi, host, whole, sizes, parts, links, threads, bytes, alone: false, batch, fault: None, tally }
    }

    /// Lets an instance call this crew, for as long as the crew stays where it is and the instance lives.
    ///
    /// # Safety
    /// `crew` must point to a crew that nobody else uses while the instance runs, and `whole` must be an instance of its program.
    pub(crate) unsafe fn attach(crew: *mut Crew<'h>, whole: *mut RawInstance) {
        // SAFETY: the caller's promise.
        let this = unsafe { &mut *crew };
        this.whole = whole;
        let k = this.batch.map_or(0, |k| i64::try_from(k).unwrap_or(i64::MAX));
        (this.stages.attach)(whole, call, crew.cast(), k);
    }

    /// Makes the parts, if that has not been done.
    fn gather(&mut self) -> Result<(), Fault> {
        if !self.parts.is_empty() {
            return Ok(());
        }
        for (s, stage) in self.stages.stages().iter().enumerate() {
            for _ in 0..stage.replicas {
                let bridge = Bridge {
                    host: self.host,
                    readers: self.sizes.0.clone(),
                    writers: self.sizes.1.clone(),
                    fault: None,
                };
                let Some(instance) = Instance::part(self.stages, self.abi, bridge) else {
                    let needs = self.abi.bytes;
                    return Err(Fault::input(format!(
                        "a thread needs {needs} bytes of memory, which the system does not have"
                    )));
                };
                let window = crew::window(self.stages.stages().iter().map(|s| s.replicas as usize).sum()) as usize + 2;
                let undoable = (self.stages.undoable)() != 0;
                let ring = || vec![Vec::new(); if undoable { window } else { 0 }];
                self.parts.push(Stage {
                    instance,
                    stages: self.stages,
                    host: self.host,
                    number: s as u32,
                    replicas: u64::from(stage.replicas),
                    ins: Vec::new(),
                    outs: Vec::new(),
                    places: vec![std::ptr::null_mut(); self.stages.crossing_count as usize],
                    epoch: 0,
                    k: 0,
                    before: Vec::new(),
                    after: ring(),
                    inputs: ring(),
                    code: DONE,
                });
            }
        }
        Ok(())
    }

    /// The channels of a link, and where each lies in a block for `k` steady states; a last row with number `usize::MAX` says how long it is.
    fn channels(&self, link: (usize, usize), k: u64) -> Channels {
        let (mut at, mut out) = (0usize, Vec::new());
        for (n, c) in self.stages.crossings().iter().enumerate() {
            if (c.from as usize, c.to as usize) == link {
                out.push((n, at));
                let bytes = (c.before.saturating_add(c.each.saturating_mul(k))) as usize;
                // blocks whose sizes are powers of two would all start at the same lines of the cache
                at = at.saturating_add(bytes).saturating_add(64).next_multiple_of(64);
            }
        }
        out.push((usize::MAX, at));
        out
    }

    /// Runs batches.
    fn work(&mut self, k: i64, most: i64, done: &mut i64) -> i32 {
        let epoch = (self.abi.iterations)(self.whole);
        if self.alone {
            return DONE;
        }
        if let Err(fault) = self.gather() {
            // not enough memory for so many: one thread has what it needs
            self.parts.clear();
            self.alone = true;
            self.tally.alone = Some(fault.message);
            return DONE;
        }
        let raw = self.stages;
        let mut by_link = Vec::new();
        self.bytes.clear();
        for link in &self.links {
            let mut channels = self.channels(*link, k.unsigned_abs());
            self.bytes.push(channels.pop().map_or(0, |(_, bytes)| bytes));
            by_link.push(channels);
        }
        let mut image = Vec::new();
        for part in &mut self.parts {
            image.resize((raw.image_bytes)(part.number) as usize, 0u8);
            (raw.take)(self.whole, part.number, image.as_mut_ptr().cast());
            (raw.give)(part.instance.raw, part.number, image.as_ptr().cast());
            (raw.begin)(part.instance.raw, self.whole, part.number);
            part.before = part.image();
            (part.epoch, part.k, part.code) = (epoch, k, DONE);
            let s = part.number as usize;
            let mine = |end: fn(&(usize, usize)) -> usize| -> Vec<Channels> {
                let all = self.links.iter().zip(&by_link);
                all.filter(|(l, _)| end(l) == s).map(|(_, c)| c.clone()).collect()
            };
            (part.ins, part.outs) = (mine(|l| l.1), mine(|l| l.0));
        }
        let told = raw.stages();
        let reader = told.iter().position(|s| s.reads != 0);
        // what native functions do may depend on the thread: they stay in this one
        let bound = told.iter().position(|s| s.calls != 0);
        let here = bound.or(reader).unwrap_or(0);
        let shape = Shape {
            replicas: told.iter().map(|s| s.replicas as usize).collect(),
            links: self.links.clone(),
            reader,
            here: self.threads.iter().position(|t| t.contains(&(here, 0))).unwrap_or(0),
            bound,
            threads: self.threads.clone(),
            batches: most.unsigned_abs(),
        };
        let bytes = &self.bytes;
        let block = |link: usize| Block::new(bytes[link]);
        let (workers, ended) = crew::run(&shape, self.parts.iter_mut().collect(), block);
        self.tally.add(&workers, ended);
        let ends: Vec<(usize, u64, bool)> = workers.iter().map(|w| (w.stage, w.next, w.faulty)).collect();
        drop(workers);
        let code = match ended {
            Ended::NoThreads => {
                self.alone = true;
                self.tally.alone = Some("the system gives no more threads".into());
                self.complete(0)
            }
            Ended::Complete(batches) => {
                *done = batches as i64;
                self.complete(batches)
            }
            Ended::Fault(batch) => self.faulty(batch, &ends, done),
            Ended::Stopped => self.stopped(),
        };
        for part in &mut self.parts {
            if let Some(fault) = part.instance.fault() {
                self.fault.get_or_insert(fault);
            }
        }
        code
    }

    /// The part that has run a batch of a stage.
    fn part_of(&self, stage: usize, batch: u64) -> usize {
        let first = self.parts.iter().position(|p| p.number as usize == stage).unwrap_or(0);
        first + (batch % self.parts[first].replicas) as usize
    }

    /// Hands over all that parts hold. The code of the first that cannot.
    fn flush(&mut self) -> i32 {
        for p in 0..self.parts.len() {
            let code = (self.stages.flush)(self.parts[p].instance.raw, 1);
            if code != DONE {
                return self.fail(p, code);
            }
        }
        DONE
    }

    /// The whole fails as a part has.
    fn fail(&mut self, part: usize, code: i32) -> i32 {
        (self.stages.fail)(self.parts[part].instance.raw, self.whole);
        code
    }

    /// All stages have completed so many batches.
    fn complete(&mut self, batches: u64) -> i32 {
        for s in 0..self.stages.stage_count {
            // where nothing was run the whole has all it had, but for its input
            if batches > 0 {
                let image = self.parts[self.part_of(s as usize, batches - 1)].image();
                (self.stages.give)(self.whole, s, image.as_ptr().cast());
            }
            let part = &self.parts[self.part_of(s as usize, 0)];
            let code = (self.stages.finish)(part.instance.raw, self.whole, s, part.k, std::ptr::null(), 0);
            if code != DONE {
                let p = self.part_of(s as usize, 0);
                return self.fail(p, code);
            }
        }
        self.flush()
    }

    /// There was a fault in a batch: back to the boundary before it, from which the whole goes on slowly; or, where that cannot be, the end.
    fn faulty(&mut self, batch: u64, ends: &[(usize, u64, bool)], done: &mut i64) -> i32 {
        if !self.parts.iter().all(Stage::undoable) {
            let flushed = self.flush();
            if flushed != DONE {
                return flushed;
            }
            let culprit = ends.iter().position(|(_, next, faulty)| *faulty && *next == batch).unwrap_or(0);
            return self.fail(culprit, self.parts[culprit].code);
        }
        for s in 0..self.stages.stage_count {
            let last = self.part_of(s as usize, batch.saturating_sub(1));
            let part = &self.parts[last];
            let image = if batch == 0 { &part.before[..] } else { part.image_after(batch - 1) };
            (self.stages.undo)(part.instance.raw, self.whole, s, image.as_ptr().cast());
            let consumed = ends.get(last).map_or(batch, |(_, next, _)| *next);
            let inputs: Vec<*const c_void> = match part.inputs.len() as u64 {
                0 => Vec::new(),
                n => (batch..consumed).map(|b| part.inputs[(b % n) as usize].as_ptr().cast()).collect(),
            };
            let count = inputs.len() as u64;
            let code = (self.stages.finish)(part.instance.raw, self.whole, s, part.k, inputs.as_ptr(), count);
            if code != DONE {
                return self.fail(last, code);
            }
        }
        // what is undone and not handed over yet has been taken back
        let flushed = self.flush();
        if flushed != DONE {
            return flushed;
        }
        *done = batch as i64;
        self.tally.undone = true;
        DONE
    }

    /// Everyone was stopped: by the user, or because a part cannot go on.
    fn stopped(&mut self) -> i32 {
        if let Some(p) = self.parts.iter().position(|p| p.code < 0 && p.code != FAILED) {
            let code = self.parts[p].code;
            return self.fail(p, code);
        }
        match self.flush() {
            DONE => STOPPED,
            code => code,
        }
    }
}

/// `sluice_crew`
extern "C" fn call(user: *mut c_void, k: i64, most: i64, done: *mut i64) -> i32 {
    // SAFETY: `attach` was promised a crew that nobody else uses while the instance runs, and this is called by that instance only.
    let crew = unsafe { &mut *user.cast::<Crew<'_>>() };
    let mut batches = 0;
    // a panic must not reach the C code
    let work = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| crew.work(k, most, &mut batches)));
    let code = work.unwrap_or_else(|_| {
        crew.fault.get_or_insert(Fault::internal("a thread has stopped"));
        HOST
    });
    // SAFETY: the engine gives a place for the number.
    unsafe { *done = batches };
    code
}
