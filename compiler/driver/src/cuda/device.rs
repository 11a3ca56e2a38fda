//! # device
//!
//! Purpose: a device as programs with kernels see it. Input: a [`Device`]. Output: [`Attached`], the table of functions that such a program finds in
//! its host; the interface is `compiler/codegen/rts/c/sluice_device.h`, [`RawDevice`] mirrors it.
//!
//! What holds: a device is used by one thread, from within the program's calls; where it has failed once, everything fails, and the first fault is
//! kept for the end of the run.

#![allow(unsafe_code)]

use crate::exit::Fault;
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Events are numbers below this one (`SLUICE_EVENTS`).
pub const EVENTS: usize = 64;

/// Number of streams (`SLUICE_STREAMS`).
pub const STREAMS: usize = 3;

/// A queue of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Kernels, and what has to come between them.
    Compute = 0,
    /// What goes to the device.
    Up = 1,
    /// What comes from it.
    Down = 2,
}

impl Stream {
    /// All of them, by number.
    pub const ALL: [Stream; STREAMS] = [Stream::Compute, Stream::Up, Stream::Down];

    fn numbered(number: u32) -> Result<Stream, Fault> {
        Stream::ALL.get(number as usize).copied().ok_or_else(|| Fault::internal(format!("there is no stream {number}")))
    }
}

/// A kernel and how it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Its number in the program.
    pub kernel: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
    /// All blocks run at once and wait for one another.
    pub together: bool,
}

/// A device with the kernels of one program. Work in one stream is done in order, in different ones in any order.
pub trait Device {
    /// Multiprocessors, or 0 where that is not known.
    fn processors(&self) -> u32;

    /// Memory of the device, aligned to 256 bytes.
    fn allocate(&mut self, bytes: u64) -> Result<u64, Fault>;

    /// Frees it, after all streams have come to their ends.
    fn release(&mut self, address: u64) -> Result<(), Fault>;

    /// Puts bytes into the device's memory.
    ///
    /// # Safety
    /// So many bytes can be read at `from`, until [`Device::finish`] of this stream.
    unsafe fn put(&mut self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<(), Fault>;

    /// Gets bytes out of it.
    ///
    /// # Safety
    /// So many bytes can be written at `to`, and nobody else uses them, until [`Device::finish`] of this stream.
    unsafe fn get(&mut self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<(), Fault>;

    /// Sets bytes to 0.
    fn clear(&mut self, stream: Stream, at: u64, bytes: u64) -> Result<(), Fault>;

    /// Starts a kernel in [`Stream::Compute`]; `job` is its one argument.
    fn launch(&mut self, launch: &Launch, job: &[u8]) -> Result<(), Fault>;

    /// The event happens when the stream comes to it.
    fn record(&mut self, event: u32, stream: Stream) -> Result<(), Fault>;

    /// The stream goes no further before the event has happened, as it was recorded last.
    fn wait(&mut self, stream: Stream, event: u32) -> Result<(), Fault>;

    /// Waits until all is done that is in a stream.
    fn finish(&mut self, stream: Stream) -> Result<(), Fault>;

    /// Milliseconds between two events that have happened.
    fn elapsed(&mut self, from: u32, to: u32) -> Result<f32, Fault>;

    /// Has an event happened that was recorded? Also where somebody has to wait for it to find out.
    fn has_happened(&mut self, _event: u32) -> Result<bool, Fault> {
        Ok(true)
    }

    /// Memory of the host that will be put and got often.
    ///
    /// # Safety
    /// It stays until it is unpinned or the device settled.
    unsafe fn pin(&mut self, _at: *mut u8, _bytes: usize) {}

    /// The same no longer.
    fn unpin(&mut self, _at: *mut u8) {}

    /// The launches that follow are those of so many steady states; 0: they were the last ones.
    fn batch(&mut self, _steady_states: u64) {}

    /// How many blocks of a kernel a multiprocessor runs at once.
    fn resident(&mut self, _kernel: u32, _threads: u32, _shared: u32) -> Result<u32, Fault> {
        Ok(1)
    }

    /// The run is over: waits until nothing uses the host's memory any more, whatever has happened.
    fn settle(&mut self);
}

type Code = i32;

/// `sluice_device`
#[repr(C)]
pub struct RawDevice {
    size: u32,
    processors: u32,
    user: *mut c_void,
    allocate: extern "C" fn(*mut c_void, u64, *mut u64) -> Code,
    release: extern "C" fn(*mut c_void, u64) -> Code,
    put: extern "C" fn(*mut c_void, u32, u64, *const c_void, u64) -> Code,
    get: extern "C" fn(*mut c_void, u32, *mut c_void, u64, u64) -> Code,
    clear: extern "C" fn(*mut c_void, u32, u64, u64) -> Code,
    launch: extern "C" fn(*mut c_void, u32, u32, u32, u32, u32, *const c_void, u32) -> Code,
    record: extern "C" fn(*mut c_void, u32, u32) -> Code,
    wait: extern "C" fn(*mut c_void, u32, u32) -> Code,
    finish: extern "C" fn(*mut c_void, u32) -> Code,
    elapsed: extern "C" fn(*mut c_void, u32, u32, *mut f32) -> Code,
    pin: Option<extern "C" fn(*mut c_void, *mut c_void, u64)>,
    unpin: Option<extern "C" fn(*mut c_void, *mut c_void)>,
    why: extern "C" fn(*mut c_void) -> *const c_char,
    batch: Option<extern "C" fn(*mut c_void, i64)>,
    resident: Option<extern "C" fn(*mut c_void, u32, u32, u32, *mut u32) -> Code>,
}

/// What the functions work on.
struct State {
    device: RefCell<Box<dyn Device>>,
    fault: Cell<Option<Fault>>,
    failed: Cell<bool>,
    launches: Cell<u64>,
    why: RefCell<CString>,
}

impl State {
    /// Does a function's work; a fault (or a panic, which must not reach the C code) is kept, and 1 given back.
    fn guard(&self, work: impl FnOnce(&mut dyn Device) -> Result<(), Fault>) -> Code {
        if self.failed.get() {
            return 1;
        }
        let result = catch_unwind(AssertUnwindSafe(|| work(self.device.borrow_mut().as_mut())));
        match result.unwrap_or_else(|_| Err(Fault::internal("the device's functions stopped"))) {
            Ok(()) => 0,
            Err(fault) => {
                *self.why.borrow_mut() = CString::new(fault.message.replace('\0', " ")).unwrap_or_default();
                self.failed.set(true);
                self.fault.set(Some(fault));
                1
            }
        }
    }
}

/// The state behind a function's first argument.
///
/// # Safety
/// `user` must be that of an [`Attached`] that is alive.
unsafe fn state<'a>(user: *mut c_void) -> &'a State {
    // SAFETY: `Attached` made it from a box of a `State`, which it keeps until it goes; nobody has a `&mut` to it.
    unsafe { &*user.cast::<State>() }
}

fn event(number: u32) -> Result<u32, Fault> {
    if (number as usize) < EVENTS { Ok(number) } else { Err(Fault::internal(format!("there is no event {number}"))) }
}

fn length(bytes: u64) -> Result<usize, Fault> {
    let fits = usize::try_from(bytes).ok().filter(|n| isize::try_from(*n).is_ok());
    fits.ok_or_else(|| Fault::internal(format!("{bytes} bytes are more than there can be")))
}

extern "C" fn allocate(user: *mut c_void, bytes: u64, address: *mut u64) -> Code {
    // SAFETY: called by the program with the pointer from the table.
    let state = unsafe { state(user) };
    state.guard(|device| {
        let at = device.allocate(bytes)?;
        // SAFETY: the interface promises room for an address.
        unsafe { *address = at };
        Ok(())
    })
}

extern "C" fn release(user: *mut c_void, address: u64) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| device.release(address))
}

extern "C" fn put(user: *mut c_void, stream: u32, to: u64, from: *const c_void, bytes: u64) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        let (stream, bytes) = (Stream::numbered(stream)?, length(bytes)?);
        // SAFETY: the interface promises the bytes until `finish`.
        if bytes == 0 { Ok(()) } else { unsafe { device.put(stream, to, from.cast(), bytes) } }
    })
}

extern "C" fn get(user: *mut c_void, stream: u32, to: *mut c_void, from: u64, bytes: u64) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        let (stream, bytes) = (Stream::numbered(stream)?, length(bytes)?);
        // SAFETY: the interface promises the room until `finish`.
        if bytes == 0 { Ok(()) } else { unsafe { device.get(stream, to.cast(), from, bytes) } }
    })
}

extern "C" fn clear(user: *mut c_void, stream: u32, at: u64, bytes: u64) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        let stream = Stream::numbered(stream)?;
        if bytes == 0 { Ok(()) } else { device.clear(stream, at, bytes) }
    })
}

extern "C" fn launch(
    user: *mut c_void,
    kernel: u32,
    blocks: u32,
    threads: u32,
    shared: u32,
    together: u32,
    job: *const c_void,
    bytes: u32,
) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        if blocks == 0 || threads == 0 || job.is_null() {
            return Err(Fault::internal(format!("kernel {kernel} is started with nothing to do")));
        }
        // SAFETY: the interface promises a struct of so many bytes.
        let job = unsafe { std::slice::from_raw_parts(job.cast::<u8>(), bytes as usize) };
        device.launch(&Launch { kernel, blocks, threads, shared, together: together != 0 }, job)?;
        state.launches.set(state.launches.get() + 1);
        Ok(())
    })
}

extern "C" fn record(user: *mut c_void, number: u32, stream: u32) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| device.record(event(number)?, Stream::numbered(stream)?))
}

extern "C" fn wait(user: *mut c_void, stream: u32, number: u32) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| device.wait(Stream::numbered(stream)?, event(number)?))
}

extern "C" fn finish(user: *mut c_void, stream: u32) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| device.finish(Stream::numbered(stream)?))
}

extern "C" fn elapsed(user: *mut c_void, from: u32, to: u32, milliseconds: *mut f32) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        let time = device.elapsed(event(from)?, event(to)?)?;
        // SAFETY: the interface promises room for a number.
        unsafe { *milliseconds = time };
        Ok(())
    })
}

extern "C" fn pin(user: *mut c_void, at: *mut c_void, bytes: u64) {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        // SAFETY: the interface promises that it stays until `unpin`; a run that ends settles the device before memory goes.
        unsafe { device.pin(at.cast(), length(bytes)?) };
        Ok(())
    });
}

extern "C" fn unpin(user: *mut c_void, at: *mut c_void) {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        device.unpin(at.cast());
        Ok(())
    });
}

extern "C" fn batch(user: *mut c_void, steady_states: i64) {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        device.batch(steady_states.unsigned_abs());
        Ok(())
    });
}

extern "C" fn resident(user: *mut c_void, kernel: u32, threads: u32, shared: u32, blocks: *mut u32) -> Code {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    state.guard(|device| {
        let count = device.resident(kernel, threads, shared)?;
        // SAFETY: the interface promises room for a number.
        unsafe { *blocks = count };
        Ok(())
    })
}

extern "C" fn why(user: *mut c_void) -> *const c_char {
    // SAFETY: as in `allocate`.
    let state = unsafe { state(user) };
    // The first fault stays, and its text with it.
    state.why.borrow().as_ptr()
}

/// A device and its table.
pub struct Attached {
    raw: Box<RawDevice>,
    state: *mut State,
}

impl Attached {
    /// The table of a device.
    pub fn new(device: Box<dyn Device>) -> Attached {
        let processors = device.processors();
        let state = Box::into_raw(Box::new(State {
            device: RefCell::new(device),
            fault: Cell::new(None),
            failed: Cell::new(false),
            launches: Cell::new(0),
            why: RefCell::default(),
        }));
        let raw = RawDevice {
            size: size_of::<RawDevice>() as u32,
            processors,
            user: state.cast(),
            allocate,
            release,
            put,
            get,
            clear,
            launch,
            record,
            wait,
            finish,
            elapsed,
            pin: Some(pin),
            unpin: Some(unpin),
            why,
            batch: Some(batch),
            resident: Some(resident),
        };
        Attached { raw: Box::new(raw), state }
    }

    /// For a program's host, as long as this lives.
    pub fn raw(&self) -> *const RawDevice {
        &raw const *self.raw
    }

    fn state(&self) -> &State {
        // SAFETY: it is freed when `self` goes.
        unsafe { &*self.state }
    }

    /// Kernels that were started so far.
    pub fn launches(&self) -> u64 {
        self.state().launches.get()
    }

    /// The run is over: nothing uses the host's memory any more. Gives the first fault, once.
    pub fn settle(&self) -> Option<Fault> {
        let state = self.state();
        // Also after a fault; one of here is of no interest.
        let _ = catch_unwind(AssertUnwindSafe(|| state.device.borrow_mut().settle()));
        state.fault.take()
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and programs that knew of it have ended.
        drop(unsafe { Box::from_raw(self.state) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    /// One that fails and panics where it is told to.
    struct Clumsy;

    impl Device for Clumsy {
        fn processors(&self) -> u32 {
            7
        }
        fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
            assert!(bytes != 13, "an unlucky number");
            if bytes > 100 { Err(Fault::input(format!("no {bytes} bytes"))) } else { Ok(256) }
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
        fn launch(&mut self, _: &Launch, _: &[u8]) -> Result<(), Fault> {
            Ok(())
        }
        fn record(&mut self, _: u32, _: Stream) -> Result<(), Fault> {
            Ok(())
        }
        fn wait(&mut self, _: Stream, _: u32) -> Result<(), Fault> {
            Ok(())
        }
        fn finish(&mut self, _: Stream) -> Result<(), Fault> {
            Ok(())
        }
        fn elapsed(&mut self, _: u32, _: u32) -> Result<f32, Fault> {
            Ok(1.5)
        }
        fn settle(&mut self) {}
    }

    #[test]
    fn the_first_fault_stays() {
        let attached = Attached::new(Box::new(Clumsy));
        // SAFETY: it is alive.
        let raw = unsafe { &*attached.raw() };
        assert_eq!((raw.size as usize, raw.processors), (size_of::<RawDevice>(), 7));
        let mut address = 0;
        assert_eq!(((raw.allocate)(raw.user, 5, &mut address), address), (0, 256));
        let mut time = 0.0;
        assert_eq!(((raw.elapsed)(raw.user, 0, 1, &mut time), time), (0, 1.5));
        assert_ne!((raw.allocate)(raw.user, 101, &mut address), 0);
        assert_ne!((raw.finish)(raw.user, 0), 0, "nothing goes on after a fault");
        // SAFETY: the text stays until the next call.
        assert_eq!(unsafe { CStr::from_ptr((raw.why)(raw.user)) }.to_str(), Ok("no 101 bytes"));
        assert_eq!(attached.settle().unwrap().message, "no 101 bytes");
        assert_eq!(attached.settle(), None);
    }

    #[test]
    fn what_there_is_not_is_refused() {
        type Wrong = fn(&RawDevice) -> Code;
        let wrong: [Wrong; 5] = [
            |raw| (raw.finish)(raw.user, 3),
            |raw| (raw.record)(raw.user, 64, 0),
            |raw| (raw.wait)(raw.user, 0, 64),
            |raw| (raw.launch)(raw.user, 0, 0, 32, 0, 0, std::ptr::null(), 0),
            |raw| (raw.allocate)(raw.user, 13, &mut 0),
        ];
        for call in wrong {
            let attached = Attached::new(Box::new(Clumsy));
            // SAFETY: it is alive.
            assert_ne!(call(unsafe { &*attached.raw() }), 0);
            assert!(attached.settle().is_some());
        }
    }
}
