//! # native-stats
//!
//! Purpose: what a program that was compiled to count has counted. The interface is `compiler/codegen/rts/c/sl_stats.h`; the structs here
//! mirror it. Like `native`, this module reads what machine code has written.

#![allow(unsafe_code)]

use libloading::os::unix::Library;
use std::ffi::c_void;

const VERSION: u32 = 1;
/// Readings of the clock behind `clock`.
const READINGS: f64 = 1024.0;

/// `sluice_stream_stats`
#[repr(C)]
struct RawStream {
    firings: u64,
    calls: u64,
    ticks: u64,
    taken: u64,
    given: u64,
    abandoned: u64,
}

/// `sluice_stats`
#[repr(C)]
struct RawStats {
    size: u32,
    version: u32,
    stream_count: u32,
    channel_count: u32,
    streams: *const RawStream,
    highest: *const u64,
    steady_states: u64,
    fast_batches: u64,
    fast_states: u64,
    largest_batch: u64,
    slow_states: u64,
    undone: u64,
    nanoseconds: u64,
    ticks: u64,
    reading: u64,
    writing: u64,
    clock: u64,
}

/// What a node has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NativeStream {
    /// Firings.
    pub firings: u64,
    /// Calls of its code.
    pub calls: u64,
    /// Time in its code.
    pub time: f64,
    /// Items popped and pushed, where its firings decide on that.
    pub taken: u64,
    /// See `taken`.
    pub given: u64,
    /// Attempts abandoned.
    pub abandoned: u64,
}

/// What an instance has counted. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeStats {
    /// By node.
    pub streams: Vec<NativeStream>,
    /// By channel: the most items on it while the program ran slowly.
    pub highest: Vec<u64>,
    /// Whole steady states.
    pub steady_states: u64,
    /// Batches of the fast way, and their steady states.
    pub fast: (u64, u64),
    /// Steady states of the largest batch.
    pub largest_batch: u64,
    /// Steady states begun slowly.
    pub slow: u64,
    /// Batches undone.
    pub undone: u64,
    /// The whole run.
    pub total: f64,
    /// In the host: reading and waiting; writing and printing.
    pub host: (f64, f64),
    /// One reading of the clock.
    pub clock: f64,
}

/// Asks an instance; `None` where the program was not compiled to count.
///
/// # Safety
/// `instance` must be an instance of the program in `library`, alive and not running.
pub unsafe fn read(library: &Library, instance: *mut c_void) -> Option<NativeStats> {
    if instance.is_null() {
        return None;
    }
    // SAFETY: the function has this type in sl_stats.h.
    let ask = unsafe { library.get::<Ask>(b"sluice_stats_v1\0") }.ok()?;
    // SAFETY: the caller's promise.
    unsafe { told(*ask, instance) }
}

/// The same of a program that was made in memory; `ask` is its `sluice_stats_v1`.
///
/// # Safety
/// As for [`read`], and `ask` must be that function's address.
pub unsafe fn read_by(ask: *const c_void, instance: *mut c_void) -> Option<NativeStats> {
    if instance.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { told(std::mem::transmute::<*const c_void, Ask>(ask), instance) }
}

/// `sluice_stats_v1`
type Ask = extern "C" fn(*mut c_void) -> *const RawStats;

/// # Safety
/// As for [`read`].
unsafe fn told(ask: Ask, instance: *mut c_void) -> Option<NativeStats> {
    let raw = ask(instance);
    if raw.is_null() {
        return None;
    }
    // SAFETY: the first two fields have been there from the first version.
    let (size, version) = unsafe { ((*raw).size, (*raw).version) };
    if version != VERSION || (size as usize) < size_of::<RawStats>() {
        return None;
    }
    // SAFETY: the struct has all fields, as its size says, and belongs to the instance.
    let raw = unsafe { &*raw };
    // SAFETY: the interface promises so many entries.
    let (streams, highest) = unsafe {
        (
            std::slice::from_raw_parts(raw.streams, raw.stream_count as usize),
            std::slice::from_raw_parts(raw.highest, raw.channel_count as usize),
        )
    };
    let tick = if raw.ticks > 0 { raw.nanoseconds as f64 / raw.ticks as f64 } else { 0.0 };
    let time = |ticks: u64| ticks as f64 * tick;
    Some(NativeStats {
        streams: (streams.iter())
            .map(|s| NativeStream {
                firings: s.firings,
                calls: s.calls,
                time: time(s.ticks),
                taken: s.taken,
                given: s.given,
                abandoned: s.abandoned,
            })
            .collect(),
        highest: highest.to_vec(),
        steady_states: raw.steady_states,
        fast: (raw.fast_batches, raw.fast_states),
        largest_batch: raw.largest_batch,
        slow: raw.slow_states,
        undone: raw.undone,
        total: raw.nanoseconds as f64,
        host: (time(raw.reading), time(raw.writing)),
        clock: time(raw.clock) / READINGS,
    })
}
