//! # timed
//!
//! Purpose: how long the kernels of a program take on data that is in the device's memory, as events tell. Input: a device, and a program that runs on
//! it as always. Output: [`Timing`].
//!
//! The launches of each batch of steady states are noted (`batch` in `sluice_device.h`). When the run is over, and before its memory goes, those of the largest one are
//! started again, once for each device: what the run has left on the device is as good an input as any other, and a filter with state goes on from where it was. First some
//! launches that do not count; then so many batches between two events that their resolution does not matter, several times over. A last round has events
//! around each launch, which tells the kernels apart; there the launches do not overlap.
//!
//! What holds: the program's output has been taken by then, and is not touched. Programs that print are not measured well: their text would be made again.

#![allow(unsafe_code)] // it passes on what its callers promise

use super::device::{Device, EVENTS, Launch, Stream};
use crate::exit::Fault;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The events that are used here: the last ones; programs count from the first.
const BEGIN: u32 = EVENTS as u32 - 2;
const END: u32 = EVENTS as u32 - 1;
/// The most launches of the round that has events around each.
const MOST_APART: usize = 20_000;

/// How it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeat {
    /// Batches that do not count, at least one.
    pub warm_up: u32,
    /// Measurements.
    pub measurements: u32,
    /// Milliseconds that a measurement takes at least, by having several batches.
    pub least: f32,
    /// Milliseconds that all of it may take, about.
    pub most: f32,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// Steady states of the batch.
    pub steady_states: u64,
    /// Its launches.
    pub launches: usize,
    /// Batches in a measurement.
    pub batches: u32,
    /// Milliseconds of a batch, by measurement.
    pub batch: Vec<f64>,
    /// By kernel, its launches in a batch, and how many milliseconds they took one by one; nothing where there are too many.
    pub kernels: Vec<(u32, usize, f64)>,
}

/// Where the result is found after the run; nothing where no batch was started.
pub type Outcome = Rc<RefCell<Option<Result<Timing, Fault>>>>;

#[derive(Default)]
struct Batch {
    steady_states: u64,
    launches: Vec<(Launch, Vec<u8>)>,
}

/// A device that measures.
pub struct Timed {
    device: Box<dyn Device>,
    repeat: Repeat,
    /// The batch under way.
    now: Option<Batch>,
    largest: Option<Batch>,
    measured: bool,
    /// The memory that was the first; it is also the first that goes when the run is over.
    first: Option<u64>,
    result: Outcome,
}

impl Timed {
    /// Measures on this device.
    pub fn new(device: Box<dyn Device>, repeat: Repeat) -> (Timed, Outcome) {
        let result = Outcome::default();
        (
            Timed {
                device,
                repeat,
                now: None,
                largest: None,
                measured: false,
                first: None,
                result: Rc::clone(&result),
            },
            result,
        )
    }

    fn start(&mut self, batch: &Batch, times: u32) -> Result<f64, Fault> {
        self.device.record(BEGIN, Stream::Compute)?;
        for _ in 0..times {
            for (launch, job) in &batch.launches {
                self.device.launch(launch, job)?;
            }
        }
        self.device.record(END, Stream::Compute)?;
        self.device.finish(Stream::Compute)?;
        Ok(f64::from(self.device.elapsed(BEGIN, END)?))
    }

    fn measure(&mut self, batch: &Batch) -> Result<Timing, Fault> {
        for stream in Stream::ALL {
            self.device.finish(stream)?;
        }
        let Repeat { warm_up, measurements, least, most } = self.repeat;
        let mut one = self.start(batch, 1)?;
        for _ in 1..warm_up {
            one = self.start(batch, 1)?;
        }
        let wanted = (f64::from(least) / one.max(1e-3)).ceil();
        let batches = wanted.clamp(1.0, 10_000.0) as u32;
        let affordable = (f64::from(most) / (one.max(1e-3) * f64::from(batches))).max(1.0);
        let measurements = f64::from(measurements).min(affordable).max(1.0) as u32;
        let mut times = Vec::new();
        for _ in 0..measurements {
            times.push(self.start(batch, batches)? / f64::from(batches));
        }
        let mut kernels: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
        if batch.launches.len() <= MOST_APART {
            for (launch, job) in &batch.launches {
                self.device.record(BEGIN, Stream::Compute)?;
                self.device.launch(launch, job)?;
                self.device.record(END, Stream::Compute)?;
                self.device.finish(Stream::Compute)?;
                let sum = kernels.entry(launch.kernel).or_default();
                sum.0 += 1;
                sum.1 += f64::from(self.device.elapsed(BEGIN, END)?);
            }
        }
        Ok(Timing {
            steady_states: batch.steady_states,
            launches: batch.launches.len(),
            batches,
            batch: times,
            kernels: kernels.into_iter().map(|(k, (n, time))| (k, n, time)).collect(),
        })
    }
}

impl Device for Timed {
    fn processors(&self) -> u32 {
        self.device.processors()
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
        let address = self.device.allocate(bytes)?;
        self.first.get_or_insert(address);
        Ok(address)
    }

    /// The first memory says when it goes that the run is over; other memory goes when a larger batch needs more.
    fn release(&mut self, address: u64) -> Result<(), Fault> {
        if self.first.take_if(|first| *first == address).is_some()
            && let Some(batch) = self.largest.take().filter(|_| !self.measured)
        {
            self.measured = true;
            let timing = self.measure(&batch);
            *self.result.borrow_mut() = Some(timing);
        }
        self.device.release(address)
    }

    unsafe fn put(&mut self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe { self.device.put(stream, to, from, bytes) }
    }

    unsafe fn get(&mut self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe { self.device.get(stream, to, from, bytes) }
    }

    fn clear(&mut self, stream: Stream, at: u64, bytes: u64) -> Result<(), Fault> {
        self.device.clear(stream, at, bytes)
    }

    fn launch(&mut self, launch: &Launch, job: &[u8]) -> Result<(), Fault> {
        if let Some(batch) = &mut self.now {
            batch.launches.push((*launch, job.to_vec()));
        }
        self.device.launch(launch, job)
    }

    fn record(&mut self, event: u32, stream: Stream) -> Result<(), Fault> {
        self.device.record(event, stream)
    }

    fn wait(&mut self, stream: Stream, event: u32) -> Result<(), Fault> {
        self.device.wait(stream, event)
    }

    fn finish(&mut self, stream: Stream) -> Result<(), Fault> {
        self.device.finish(stream)
    }

    fn elapsed(&mut self, from: u32, to: u32) -> Result<f32, Fault> {
        self.device.elapsed(from, to)
    }

    unsafe fn pin(&mut self, at: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.device.pin(at, bytes) }
    }

    fn unpin(&mut self, at: *mut u8) {
        self.device.unpin(at);
    }

    fn batch(&mut self, steady_states: u64) {
        if steady_states > 0 {
            self.now = Some(Batch { steady_states, launches: Vec::new() });
        } else if let Some(batch) = self.now.take()
            && !batch.launches.is_empty()
            && self.largest.as_ref().is_none_or(|l| l.steady_states <= batch.steady_states)
        {
            self.largest = Some(batch);
        }
    }

    fn resident(&mut self, kernel: u32, threads: u32, shared: u32) -> Result<u32, Fault> {
        self.device.resident(kernel, threads, shared)
    }

    fn settle(&mut self) {
        self.device.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts launches; its clock is theirs.
    struct Counting {
        launches: Noted,
        clock: f32,
        events: [f32; EVENTS],
        fails: bool,
    }

    impl Device for Counting {
        fn processors(&self) -> u32 {
            3
        }
        fn allocate(&mut self, _: u64) -> Result<u64, Fault> {
            Ok(256)
        }
        fn release(&mut self, _: u64) -> Result<(), Fault> {
            Ok(())
        }
        unsafe fn put(&mut self, _: Stream, _: u64, _: *const u8, _: usize) -> Result<(), Fault> {
            Ok(())
        }
        unsafe fn get(&mut self, _: Stream, _: *mut u8, _: u64, _: usize) -> Result<(), Fault> {
            Ok(())
        }
        fn clear(&mut self, _: Stream, _: u64, _: u64) -> Result<(), Fault> {
            Ok(())
        }
        fn launch(&mut self, launch: &Launch, job: &[u8]) -> Result<(), Fault> {
            if self.fails {
                return Err(Fault::input("no more"));
            }
            self.launches.borrow_mut().push((launch.kernel, job[0]));
            // kernel 0 takes a millisecond, kernel 1 two
            self.clock += 1.0 + launch.kernel as f32;
            Ok(())
        }
        fn record(&mut self, event: u32, _: Stream) -> Result<(), Fault> {
            self.events[event as usize] = self.clock;
            Ok(())
        }
        fn wait(&mut self, _: Stream, _: u32) -> Result<(), Fault> {
            Ok(())
        }
        fn finish(&mut self, _: Stream) -> Result<(), Fault> {
            Ok(())
        }
        fn elapsed(&mut self, from: u32, to: u32) -> Result<f32, Fault> {
            Ok(self.events[to as usize] - self.events[from as usize])
        }
        fn settle(&mut self) {}
    }

    const REPEAT: Repeat = Repeat { warm_up: 2, measurements: 4, least: 9.0, most: 1000.0 };

    fn launch(device: &mut Timed, kernel: u32, job: u8) {
        let launch = Launch { kernel, blocks: 1, threads: 32, shared: 0, together: false };
        device.launch(&launch, &[job]).unwrap();
    }

    type Noted = Rc<RefCell<Vec<(u32, u8)>>>;

    fn counting(fails: bool) -> (Box<Counting>, Noted) {
        let launches = Rc::default();
        (Box::new(Counting { launches: Rc::clone(&launches), clock: 0.0, events: [0.0; EVENTS], fails }), launches)
    }

    #[test]
    fn the_largest_batch_is_started_again() {
        let (device, launches) = counting(false);
        let (mut timed, outcome) = Timed::new(device, REPEAT);
        timed.allocate(100).unwrap();
        // what belongs to no batch, a small batch, a large one, one without kernels
        launch(&mut timed, 1, 9);
        for (states, jobs) in [(10, vec![(1, 7)]), (64, vec![(0, 1), (1, 2), (1, 3)]), (99, vec![])] {
            timed.batch(states);
            jobs.into_iter().for_each(|(kernel, job)| launch(&mut timed, kernel, job));
            timed.batch(0);
        }
        let before = launches.borrow().len();
        // what a larger batch had no room in
        timed.release(512).unwrap();
        assert!(outcome.borrow().is_none());
        timed.release(256).unwrap();
        let timing = outcome.borrow_mut().take().unwrap().unwrap();
        assert_eq!((timing.steady_states, timing.launches), (64, 3));
        // a batch takes 5 ms: two of them reach 9
        assert_eq!((timing.batches, timing.batch), (2, vec![5.0; 4]));
        assert_eq!(timing.kernels, [(0, 1, 1.0), (1, 2, 4.0)]);
        // two to warm up, four times two, and one apart
        let again = launches.borrow()[before..].to_vec();
        assert_eq!(again, [(0, 1), (1, 2), (1, 3)].repeat(11));
        timed.batch(5);
        launch(&mut timed, 0, 0);
        timed.batch(0);
        timed.allocate(100).unwrap();
        timed.release(256).unwrap();
        assert!(outcome.borrow().is_none(), "once for each device");
    }

    #[test]
    fn a_fault_is_the_result() {
        let (device, _) = counting(true);
        let (mut timed, outcome) = Timed::new(device, REPEAT);
        timed.largest = Some(Batch {
            steady_states: 1,
            launches: vec![(Launch { kernel: 0, blocks: 1, threads: 1, shared: 0, together: false }, vec![0])],
        });
        timed.allocate(100).unwrap();
        timed.release(256).unwrap();
        assert_eq!(outcome.borrow_mut().take().unwrap().unwrap_err().message, "no more");
    }
}
