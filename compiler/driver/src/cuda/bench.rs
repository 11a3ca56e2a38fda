//! # bench
//!
//! Purpose: kernels of a [`ProfileText`](sluice_codegen::cuda::ProfileText) on a device, a launch at a time, by the clock of its events. Input: a device with the kernels loaded, how much memory they work on. Output:
//! milliseconds, and whether a firing has failed. All memory is zero at first.

#![allow(unsafe_code)] // copies from the device's memory

use super::device::{Device, Launch, Stream};
use crate::exit::Fault;
use std::time::{Duration, Instant};

/// A launch that takes longer does not end.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);
/// Bytes of the status at the start of the arena.
const STATUS: usize = 64;
/// The events that are used.
const BEGIN: u32 = 0;
const END: u32 = 1;

/// A device with memory for every kernel.
pub(crate) struct Bench<'d> {
    device: &'d mut dyn Device,
    arena: u64,
    /// Readers, then writers.
    ends: Vec<u64>,
    readers: usize,
    /// A kernel does not end: nothing can stop it, and whoever let go of what it uses would wait for it. Its process ends with it; until then this, and the device, have to be forgotten.
    pub(crate) stuck: bool,
}

impl<'d> Bench<'d> {
    /// With so much memory; how many of the ends are readers.
    pub(crate) fn new(
        device: &'d mut dyn Device,
        arena: u64,
        ends: &[u64],
        readers: usize,
    ) -> Result<Bench<'d>, Fault> {
        let mut bench = Bench { device, arena: 0, ends: Vec::new(), readers, stuck: false };
        bench.arena = bench.zeros(arena)?;
        for bytes in ends {
            let end = bench.zeros(*bytes)?;
            bench.ends.push(end);
        }
        Ok(bench)
    }

    fn zeros(&mut self, bytes: u64) -> Result<u64, Fault> {
        let at = self.device.allocate(bytes.max(1))?;
        self.device.clear(Stream::Compute, at, bytes.max(1))?;
        Ok(at)
    }

    /// The argument of a kernel (`sl_job` in the generated text).
    fn job(&self, rounds: u32, firings: u32) -> Vec<u8> {
        let mut job = Vec::new();
        for word in [self.arena, 0, 0, 0] {
            job.extend(word.to_ne_bytes());
        }
        for word in [rounds, 0, firings, 0] {
            job.extend(word.to_ne_bytes());
        }
        let (readers, writers) = self.ends.split_at(self.readers);
        for ends in [readers, writers] {
            ends.iter().for_each(|at| job.extend(at.to_ne_bytes()));
            // an array has one element at least
            if ends.is_empty() {
                job.extend(0u64.to_ne_bytes());
            }
        }
        job
    }

    /// Milliseconds of a launch of so many rounds of so many firings; `None`: it does not end, and this is `stuck`.
    pub(crate) fn time(&mut self, launch: &Launch, rounds: u32, firings: u32) -> Result<Option<f64>, Fault> {
        let job = self.job(rounds, firings);
        self.device.record(BEGIN, Stream::Compute)?;
        self.device.launch(launch, &job)?;
        self.device.record(END, Stream::Compute)?;
        let began = Instant::now();
        while !self.device.has_happened(END)? {
            if began.elapsed() > LONGEST {
                self.stuck = true;
                return Ok(None);
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        self.device.finish(Stream::Compute)?;
        Ok(Some(f64::from(self.device.elapsed(BEGIN, END)?)))
    }

    /// Has a firing failed since the last time this was asked?
    pub(crate) fn has_failed(&mut self) -> Result<bool, Fault> {
        let mut status = [0u8; STATUS];
        // SAFETY: the array stays until the stream is finished, and nobody else uses it.
        unsafe { self.device.get(Stream::Compute, status.as_mut_ptr(), self.arena, STATUS)? };
        self.device.finish(Stream::Compute)?;
        let failed = status[..4] != [0; 4];
        if failed {
            self.device.clear(Stream::Compute, self.arena, STATUS as u64)?;
        }
        Ok(failed)
    }
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        if self.stuck {
            return;
        }
        // what fails here has failed before
        for at in self.ends.drain(..).chain([self.arena]).filter(|at| *at != 0) {
            let _ = self.device.release(at);
        }
    }
}
