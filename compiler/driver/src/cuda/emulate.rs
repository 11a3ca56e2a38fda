//! # emulate
//!
//! Purpose: the emulation of a GPU as a [`Device`]. Input: a shared object made of a program's device text with `-DSL_EMULATE`; the emulator is part of
//! that text (`compiler/codegen/rts/cuda/sl_emulator.h`). Output: launches that run on the CPU, one thread after the other in an order drawn from a
//! seed, and faults where kernels do what they must not.
//!
//! Work is not done when it is asked for, but when the order of the [`Queues`] has it: at the latest when someone waits for it. Memory of the host that
//! something will be written to is overwritten at once, so that a program that reads too early is seen.

#![allow(unsafe_code)]

use super::device::{Device, EVENTS, Launch, Stream};
use super::faults;
use super::queues::{Due, Queues};
use crate::exit::Fault;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::time::Instant;

/// Bytes of what the emulator says.
const REPORT: usize = 4096;
/// What is in memory that nobody has written.
const UNWRITTEN: u8 = 0xa5;
/// What the emulator is told of memory: `SL_MEMORY_FREED`, `SL_MEMORY_ALLOCATED`, `SL_MEMORY_WRITTEN`.
const FREED: i32 = 0;
const ALLOCATED: i32 = 1;
const WRITTEN: i32 = 2;
/// Alignment of the device's memory.
const ALIGNMENT: usize = 256;

type Emulate = unsafe extern "C" fn(u32, u32, u32, u32, u32, *const c_void, u64, *mut c_char, u64) -> i32;
type Memory = unsafe extern "C" fn(*mut c_char, u64, i32);

/// The functions of the emulator.
struct Functions {
    emulate: Emulate,
    memory: Memory,
}

/// What stands in a stream.
enum Work {
    Put { to: u64, from: *const u8, bytes: usize },
    Get { to: *mut u8, from: u64, bytes: usize },
    Clear { at: u64, bytes: usize },
    Launch { launch: Launch, job: Box<[u64]> },
}

/// An emulated device with the kernels of one program.
pub struct Emulator {
    functions: Functions,
    processors: u32,
    queues: Queues<Work>,
    /// By address, what was asked for.
    memory: BTreeMap<u64, Layout>,
    happened: [Option<Instant>; EVENTS],
    /// Keeps the code in memory; dropped last.
    _library: Library,
}

impl Emulator {
    /// Loads a program's kernels. `processors`: multiprocessors that the device says it has.
    pub fn load(path: &Path, processors: u32, seed: u64) -> Result<Emulator, Fault> {
        let fault = |what: String| Fault::internal(format!("cannot load {}: {what}", path.display()));
        // SAFETY: the file is a product of our own code generator in a folder of the user's; its initialisers only set up its own state.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| fault(e.to_string()))?;
        // SAFETY: the functions have these types in sl_emulator.h.
        let functions = unsafe {
            Functions {
                emulate: *library.get(b"sl_emulate\0").map_err(|e| fault(e.to_string()))?,
                memory: *library.get(b"sl_emulate_memory\0").map_err(|e| fault(e.to_string()))?,
            }
        };
        Ok(Emulator {
            functions,
            processors,
            queues: Queues::new(seed),
            memory: BTreeMap::new(),
            happened: [None; EVENTS],
            _library: library,
        })
    }

    /// Are all these bytes in one piece of memory that is allocated?
    fn check(&self, what: &str, at: u64, bytes: usize) -> Result<(), Fault> {
        let end = at.checked_add(bytes as u64);
        let inside = self
            .memory
            .range(..=at)
            .next_back()
            .is_some_and(|(start, layout)| end.is_some_and(|end| end <= start + layout.size() as u64));
        if inside {
            return Ok(());
        }
        Err(faults::emulator_report(&format!("{bytes} bytes are {what} that are not, or not all, in allocated memory")))
    }

    /// Takes note that bytes were written from outside.
    fn wrote(&self, at: u64, bytes: usize) {
        // SAFETY: the bytes were checked.
        unsafe { (self.functions.memory)(at as *mut c_char, bytes as u64, WRITTEN) };
    }

    fn perform(&mut self, due: Due<Work>) -> Result<(), Fault> {
        match due {
            Due::Happens(event) => {
                self.happened[event as usize % EVENTS] = Some(Instant::now());
                Ok(())
            }
            Due::Work(Work::Put { to, from, bytes }) => {
                self.check("put to a place", to, bytes)?;
                // SAFETY: the caller of `put` promised the host's bytes until now, the device's were checked.
                unsafe { std::ptr::copy(from, to as *mut u8, bytes) };
                self.wrote(to, bytes);
                Ok(())
            }
            Due::Work(Work::Get { to, from, bytes }) => {
                self.check("got from a place", from, bytes)?;
                // SAFETY: as above.
                unsafe { std::ptr::copy(from as *const u8, to, bytes) };
                Ok(())
            }
            Due::Work(Work::Clear { at, bytes }) => {
                self.check("cleared in a place", at, bytes)?;
                // SAFETY: the bytes were checked.
                unsafe { std::ptr::write_bytes(at as *mut u8, 0, bytes) };
                self.wrote(at, bytes);
                Ok(())
            }
            Due::Work(Work::Launch { launch, job }) => self.run(&launch, &job),
        }
    }

    fn run(&mut self, launch: &Launch, job: &[u64]) -> Result<(), Fault> {
        let Launch { kernel, blocks, threads, shared, together } = *launch;
        let mut report = vec![0 as c_char; REPORT];
        let seed = self.queues.number();
        // SAFETY: the kernel's argument is the job, whose size the generated program knows; there is so much room for the report. The emulator
        // checks what kernels do before they do it.
        let code = unsafe {
            (self.functions.emulate)(
                kernel,
                blocks,
                threads,
                shared,
                together.into(),
                job.as_ptr().cast(),
                seed,
                report.as_mut_ptr(),
                REPORT as u64,
            )
        };
        if code == 0 {
            return Ok(());
        }
        report[REPORT - 1] = 0;
        // SAFETY: it ends with a zero.
        let text = unsafe { CStr::from_ptr(report.as_ptr()) }.to_string_lossy();
        Err(faults::emulator_report(if text.is_empty() { "it does not say what" } else { text.trim_end() }))
    }

    /// Something was added: does some of what is due, or nothing.
    fn go_on(&mut self) -> Result<(), Fault> {
        while self.queues.is_eager() {
            let Some(due) = self.queues.take_due() else { break };
            self.perform(due)?;
        }
        Ok(())
    }

    fn free(&self, address: u64, layout: Layout) {
        // SAFETY: it was allocated with this layout, and no work that uses it is left.
        unsafe {
            (self.functions.memory)(address as *mut c_char, layout.size() as u64, FREED);
            std::alloc::dealloc(address as *mut u8, layout);
        }
    }
}

impl Device for Emulator {
    fn processors(&self) -> u32 {
        self.processors
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
        let none = || faults::no_memory("the emulated GPU", bytes, None);
        let size = usize::try_from(bytes.max(1)).map_err(|_| none())?;
        let layout = Layout::from_size_align(size, ALIGNMENT).map_err(|_| none())?;
        // SAFETY: the size is not 0.
        let at = unsafe { std::alloc::alloc(layout) };
        if at.is_null() {
            return Err(none());
        }
        // SAFETY: it was allocated just now.
        unsafe {
            std::ptr::write_bytes(at, UNWRITTEN, size);
            (self.functions.memory)(at.cast(), size as u64, ALLOCATED);
        }
        self.memory.insert(at as u64, layout);
        Ok(at as u64)
    }

    fn release(&mut self, address: u64) -> Result<(), Fault> {
        for stream in Stream::ALL {
            self.finish(stream)?;
        }
        match self.memory.remove(&address) {
            Some(layout) => {
                self.free(address, layout);
                Ok(())
            }
            None => Err(faults::emulator_report(&format!("memory is freed that was not allocated, at {address:#x}"))),
        }
    }

    unsafe fn put(&mut self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<(), Fault> {
        self.queues.add(stream, Work::Put { to, from, bytes });
        self.go_on()
    }

    unsafe fn get(&mut self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<(), Fault> {
        // what still goes to the device from there must not be lost
        let (first, end) = (to as usize, to as usize + bytes);
        let goes = |work: &Work| match work {
            Work::Put { from, bytes, .. } => (*from as usize) < end && first < *from as usize + bytes,
            _ => false,
        };
        if !self.queues.waiting().any(goes) {
            // SAFETY: the caller promises the room, and that nobody else uses it.
            unsafe { std::ptr::write_bytes(to, UNWRITTEN, bytes) };
        }
        self.queues.add(stream, Work::Get { to, from, bytes });
        self.go_on()
    }

    fn clear(&mut self, stream: Stream, at: u64, bytes: u64) -> Result<(), Fault> {
        let bytes = usize::try_from(bytes).map_err(|_| Fault::internal("more bytes than there can be"))?;
        self.queues.add(stream, Work::Clear { at, bytes });
        self.go_on()
    }

    fn launch(&mut self, launch: &Launch, job: &[u8]) -> Result<(), Fault> {
        // it is copied, to where a struct of any members may be
        let mut copy = vec![0u64; job.len().div_ceil(8)].into_boxed_slice();
        for (word, bytes) in copy.iter_mut().zip(job.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        self.queues.add(Stream::Compute, Work::Launch { launch: *launch, job: copy });
        self.go_on()
    }

    fn record(&mut self, event: u32, stream: Stream) -> Result<(), Fault> {
        self.queues.record(event, stream);
        self.go_on()
    }

    fn wait(&mut self, stream: Stream, event: u32) -> Result<(), Fault> {
        self.queues.wait(stream, event);
        self.go_on()
    }

    fn finish(&mut self, stream: Stream) -> Result<(), Fault> {
        while self.queues.holds(stream) {
            match self.queues.take_due() {
                Some(due) => self.perform(due)?,
                None => break,
            }
        }
        Ok(())
    }

    fn elapsed(&mut self, from: u32, to: u32) -> Result<f32, Fault> {
        let at = |event: u32| match self.happened[event as usize % EVENTS] {
            Some(at) if self.queues.has_happened(event) => Ok(at),
            _ => Err(faults::emulator_report("the time of an event is asked for that has not happened")),
        };
        let (from, to) = (at(from)?, at(to)?);
        Ok(match to.checked_duration_since(from) {
            Some(time) => time.as_secs_f32() * 1e3,
            None => -from.duration_since(to).as_secs_f32() * 1e3,
        })
    }

    /// What is left is not done: the host does not wait for it, and its memory may go.
    fn settle(&mut self) {
        let seed = self.queues.number();
        self.queues = Queues::new(seed);
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        for (address, layout) in std::mem::take(&mut self.memory) {
            self.free(address, layout);
        }
    }
}
