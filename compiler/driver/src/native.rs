//! # native
//!
//! Purpose: a compiled program, loaded into this process and joined to a [`Host`]. The interface is
//! `compiler/codegen/rts/c/sluice_abi.h`; the structs here mirror it.
//!
//! This module, `native_stats`, `resident`, `threads::parts`, `natives::foreign` and those that `cuda` names are those of the driver with `unsafe`: they load machine
//! code, call it and read what it has written.

#![allow(unsafe_code)]

use crate::cuda::device::{Attached, RawDevice};
use crate::exit::Fault;
use crate::io::host::{End, Host};
use crate::io::reader::Got;
use crate::native_stats::{self, NativeStats};
use crate::threads::crew::Seats;
use crate::threads::parts::{Crew, RawStages};
use crate::threads::report::Tally;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const VERSION: u32 = 1;
const DONE: i32 = 0;
const BLOCKED: i32 = 1;
const STOPPED: i32 = 2;
const MEMORY: i32 = -4;
const NONE_YET: i64 = 0;
const END: i64 = -1;
const ERROR: i64 = -2;

/// `sluice_host`
#[repr(C)]
pub(crate) struct RawHost {
    size: u32,
    stdout_writers: u32,
    user: *mut c_void,
    read: extern "C" fn(*mut c_void, u32, *mut c_void, i64, i32) -> i64,
    write: extern "C" fn(*mut c_void, u32, *const c_void, i64) -> i32,
    print: extern "C" fn(*mut c_void, *const c_char, usize) -> i32,
    space: Option<extern "C" fn(*mut c_void, u32) -> i64>,
    stop: Option<extern "C" fn(*mut c_void) -> i32>,
    device: *const RawDevice,
}

impl RawHost {
    /// The functions below, for an instance that works on this [`Bridge`].
    pub(crate) fn over(bridge: *mut c_void, stdout_writers: u32) -> RawHost {
        RawHost {
            size: size_of::<RawHost>() as u32,
            stdout_writers,
            user: bridge,
            read,
            write,
            print,
            space: None,
            stop: Some(stop),
            device: std::ptr::null(),
        }
    }
}

/// `sluice_end`
#[repr(C)]
struct RawEnd {
    name: *const c_char,
    ty: *const c_char,
    file: *const c_char,
    scalar: u32,
    scalars: u32,
    bytes: u64,
    node: u32,
    complex: u32,
}

/// `sluice_error`
#[repr(C)]
struct RawError {
    code: i32,
    node: i32,
    site: i32,
    reserved: i32,
    value: i64,
    firing: i64,
    message: *const c_char,
}

/// `sl_ctx`
#[repr(C)]
pub(crate) struct RawInstance {
    _private: [u8; 0],
}

/// `sluice_abi`
#[repr(C)]
pub(crate) struct RawAbi {
    size: u32,
    version: u32,
    name: *const c_char,
    reader_count: u32,
    writer_count: u32,
    readers: *const RawEnd,
    writers: *const RawEnd,
    printers: u32,
    bounded: u32,
    pub(crate) bytes: u64,
    batch: u64,
    create: extern "C" fn(*const RawHost, *mut *mut RawInstance) -> i32,
    run: extern "C" fn(*mut RawInstance, i64) -> i32,
    error: extern "C" fn(*const RawInstance) -> *const RawError,
    pub(crate) iterations: extern "C" fn(*const RawInstance) -> i64,
    pub(crate) destroy: extern "C" fn(*mut RawInstance),
    // `kernels` comes next, in tables that are longer than this: see `Native::kernels`
}

/// Why a program failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeError {
    /// Which kind of failure, as in the interface.
    pub code: i32,
    /// The node's number in program order.
    pub node: Option<usize>,
    /// The place in the program.
    pub site: Option<usize>,
    /// The value that was wrong.
    pub value: i64,
    /// The firing, from 1, where it is known.
    pub firing: Option<u64>,
    /// All of it in words.
    pub message: String,
}

/// Why a run did not end well.
#[derive(Debug)]
pub enum NativeEnd {
    /// The program reports a failure.
    Program(NativeError),
    /// Something else failed.
    Fault(Fault),
}

/// What the callbacks work on.
pub(crate) struct Bridge<'h> {
    pub(crate) host: &'h Host,
    /// Bytes of an item of each reader and writer.
    pub(crate) readers: Vec<usize>,
    pub(crate) writers: Vec<usize>,
    pub(crate) fault: Option<Fault>,
}

impl Bridge<'_> {
    /// Runs a callback's work; a fault (or a panic, which must not reach the C code) is noted and gives `None`.
    fn guard<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        match result.unwrap_or_else(|_| Err(Fault::internal("input or output stopped"))) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault.get_or_insert(fault);
                None
            }
        }
    }
}

/// The bridge behind a callback's first argument.
///
/// # Safety
/// `user` must be the pointer that [`run`] put into the host struct, during the call that it makes.
unsafe fn bridge<'a, 'h>(user: *mut c_void) -> &'a mut Bridge<'h> {
    // SAFETY: `run` keeps the bridge alive and untouched for as long as the instance lives, and calls come one at a time.
    unsafe { &mut *user.cast::<Bridge<'h>>() }
}

extern "C" fn read(user: *mut c_void, reader: u32, items: *mut c_void, max: i64, wait: i32) -> i64 {
    // SAFETY: called by the program with the pointer from the host struct.
    let bridge = unsafe { bridge(user) };
    let got = bridge.guard(|b| {
        let bytes = size(&b.readers, reader, max)?;
        if bytes == 0 {
            return Ok(Got::NoneYet);
        }
        // SAFETY: the interface promises room for `max` items of this reader, of which `bytes` is the size.
        let space = unsafe { std::slice::from_raw_parts_mut(items.cast::<u8>(), bytes) };
        b.host.read(reader as usize, space, wait != 0)
    });
    match got {
        Some(Got::Items(n)) => n as i64,
        Some(Got::NoneYet) => NONE_YET,
        Some(Got::End) => END,
        None => ERROR,
    }
}

extern "C" fn write(user: *mut c_void, writer: u32, items: *const c_void, n: i64) -> i32 {
    // SAFETY: as in `read`.
    let bridge = unsafe { bridge(user) };
    let done = bridge.guard(|b| {
        let bytes = size(&b.writers, writer, n)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the interface promises `n` items of this writer, of which `bytes` is the size.
        b.host.write(writer as usize, unsafe { std::slice::from_raw_parts(items.cast::<u8>(), bytes) })
    });
    if done.is_some() { 0 } else { 1 }
}

extern "C" fn print(user: *mut c_void, text: *const c_char, length: usize) -> i32 {
    // SAFETY: as in `read`.
    let bridge = unsafe { bridge(user) };
    if length == 0 {
        return 0;
    }
    // SAFETY: the interface promises `length` bytes of text.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    if bridge.guard(|b| b.host.print(text)).is_some() { 0 } else { 1 }
}

extern "C" fn stop(user: *mut c_void) -> i32 {
    // SAFETY: as in `read`.
    let bridge = unsafe { bridge(user) };
    bridge.guard(|b| Ok(b.host.wants_stop())).map_or(1, i32::from)
}

/// Bytes of `n` items of an end.
fn size(sizes: &[usize], end: u32, n: i64) -> Result<usize, Fault> {
    let one = sizes.get(end as usize).ok_or_else(|| Fault::internal(format!("no end {end}")))?;
    usize::try_from(n)
        .ok()
        .and_then(|n| n.checked_mul(*one))
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| Fault::internal(format!("{n} items")))
}

/// A compiled program in memory.
pub struct Native {
    abi: *const RawAbi,
    /// Where its kernels run.
    device: Option<Attached>,
    /// Keeps the code in memory; dropped last.
    loaded: Loaded,
}

/// What keeps code in memory: a shared object, or what was made there.
enum Loaded {
    Library(Library),
    Made(Box<sluice_jit::Program>),
}

/// An instance, destroyed when it goes.
struct Instance<'n> {
    abi: &'n RawAbi,
    raw: *mut RawInstance,
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        (self.abi.destroy)(self.raw);
    }
}

impl Native {
    /// Loads a shared object that sluice made, and checks that it is one.
    pub fn load(path: &Path) -> Result<Native, Fault> {
        Native::load_with(path, 0)
    }

    /// As [`Native::load`], with further flags for `dlopen`.
    pub fn load_with(path: &Path, flags: i32) -> Result<Native, Fault> {
        let fault = |what: String| Fault::internal(format!("cannot load {}: {what}", path.display()));
        // All symbols are resolved now: one that is missing is an error here, not the end of the process later.
        // SAFETY: the file is a product of our own code generator in a folder of the user's; it has no initialisers.
        let library =
            unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | flags) }.map_err(|e| fault(e.to_string()))?;
        // SAFETY: the function has this type in sluice_abi.h.
        let abi = unsafe {
            let entry = library
                .get::<extern "C" fn() -> *const RawAbi>(b"sluice_abi_v1\0")
                .map_err(|e| fault(e.to_string()))?;
            entry()
        };
        if abi.is_null() {
            return Err(fault("it has no functions".into()));
        }
        // SAFETY: the table is a constant of the library; its first two fields have been there from the first version.
        let (size, version) = unsafe { ((*abi).size, (*abi).version) };
        if version != VERSION || (size as usize) < size_of::<RawAbi>() {
            return Err(fault(format!("it has version {version} of the interface, not {VERSION}")));
        }
        Ok(Native { abi, device: None, loaded: Loaded::Library(library) })
    }

    /// A program whose code was made in memory.
    pub fn made(program: sluice_jit::Program) -> Native {
        Native { abi: program.abi().cast(), device: None, loaded: Loaded::Made(Box::new(program)) }
    }

    fn abi(&self) -> &RawAbi {
        // SAFETY: checked in `load`, or a table that sluice made; the code is in memory as long as `self`.
        unsafe { &*self.abi }
    }

    /// Kernels that the program has; 0 also for programs from before there were such.
    pub fn kernels(&self) -> u32 {
        let before = size_of::<RawAbi>();
        if (self.abi().size as usize) < before + size_of::<u32>() {
            return 0;
        }
        // SAFETY: the table says that it goes on so far, and what comes next is a number, aligned as the pointers before it.
        unsafe { self.abi.cast::<u8>().add(before).cast::<u32>().read() }
    }

    /// Gives it a device with its kernels, for all runs from now on.
    pub fn attach(&mut self, device: Attached) {
        self.device = Some(device);
    }

    /// Kernels that its device has started so far.
    pub fn launches(&self) -> u64 {
        self.device.as_ref().map_or(0, Attached::launches)
    }

    /// Do the ends have the items that we think they have?
    fn check_ends(&self, readers: &[End], writers: &[End]) -> Result<(), Fault> {
        let abi = self.abi();
        for (ours, theirs, count) in
            [(readers, abi.readers, abi.reader_count), (writers, abi.writers, abi.writer_count)]
        {
            if ours.len() != count as usize {
                return Err(Fault::internal(format!("the compiled program has {count} ends, not {}", ours.len())));
            }
            for (i, end) in ours.iter().enumerate() {
                // SAFETY: the table has `count` entries.
                let bytes = unsafe { (*theirs.add(i)).bytes };
                if bytes != end.item.bytes as u64 {
                    return Err(Fault::internal(format!(
                        "items of {} take {bytes} bytes, not {}",
                        end.item.name, end.item.bytes
                    )));
                }
            }
        }
        Ok(())
    }

    /// Runs an instance to its end.
    pub fn run(
        &self,
        readers: &[End],
        writers: &[End],
        iterations: Option<u64>,
        host: &mut Host,
    ) -> Result<(), NativeEnd> {
        self.run_counting(readers, writers, iterations, host, &mut None)
    }

    /// The same; a program that was compiled to count says what it has counted, also where the run fails.
    pub fn run_counting(
        &self,
        readers: &[End],
        writers: &[End],
        iterations: Option<u64>,
        host: &mut Host,
        counted: &mut Option<NativeStats>,
    ) -> Result<(), NativeEnd> {
        self.run_with(readers, writers, iterations, host, counted, None)
    }

    /// Runs a program that was compiled in stages. `threads`: by thread, the stages and replicas it runs; `batch`: steady states that a batch has, where
    /// that is not to be found out. Says what was done, also where the run fails.
    pub fn run_threads(
        &self,
        readers: &[End],
        writers: &[End],
        iterations: Option<u64>,
        host: &Host,
        (threads, batch): (&Seats, Option<u64>),
    ) -> (Result<(), NativeEnd>, Tally) {
        let stages = match self.stages() {
            Ok(stages) => stages,
            Err(fault) => return (Err(NativeEnd::Fault(fault)), Tally::default()),
        };
        let sizes = |ends: &[End]| ends.iter().map(|e| e.item.bytes).collect();
        let mut crew = Crew::new(stages, self.abi(), host, (sizes(readers), sizes(writers)), threads, batch);
        let end = self.run_with(readers, writers, iterations, host, &mut None, Some(&mut crew));
        let end = match crew.fault.take() {
            Some(fault) => Err(NativeEnd::Fault(fault)),
            None => end,
        };
        (end, crew.tally)
    }

    /// The stages of a program that was compiled with some.
    fn stages(&self) -> Result<&RawStages, Fault> {
        let Loaded::Library(library) = &self.loaded else { return Err(Fault::internal("no stages")) };
        // SAFETY: the function has this type in sluice_stages.h.
        let raw = unsafe {
            let entry = library
                .get::<extern "C" fn() -> *const RawStages>(b"sluice_stages_v1\0")
                .map_err(|e| Fault::internal(e.to_string()))?;
            entry()
        };
        // SAFETY: the table is a constant of the library, which is in memory as long as `self`.
        let stages = unsafe { raw.as_ref() }.ok_or_else(|| Fault::internal("no stages"))?;
        stages.check()?;
        Ok(stages)
    }

    fn run_with(
        &self,
        readers: &[End],
        writers: &[End],
        iterations: Option<u64>,
        host: &Host,
        counted: &mut Option<NativeStats>,
        crew: Option<&mut Crew<'_>>,
    ) -> Result<(), NativeEnd> {
        self.check_ends(readers, writers).map_err(NativeEnd::Fault)?;
        let sizes = |ends: &[End]| ends.iter().map(|e| e.item.bytes).collect();
        let stdout_writers = host.stdout_writers();
        let mut bridge = Bridge { host, readers: sizes(readers), writers: sizes(writers), fault: None };
        let user: *mut Bridge<'_> = &mut bridge;
        let mut raw = RawHost::over(user.cast(), stdout_writers);
        raw.device = self.device.as_ref().map_or(std::ptr::null(), Attached::raw);
        let mut instance = Instance { abi: self.abi(), raw: std::ptr::null_mut() };
        let mut code = (self.abi().create)(&raw, &mut instance.raw);
        if code == DONE {
            if let Some(crew) = crew {
                // SAFETY: the crew is borrowed until the end of this function, the instance lives as long.
                unsafe { Crew::attach(crew, instance.raw) };
            }
            let n = iterations.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
            loop {
                code = (self.abi().run)(instance.raw, n);
                // SAFETY: the program is not running: nobody else uses the bridge.
                let stopped = unsafe { (*user).host.wants_stop() };
                if code != BLOCKED || stopped {
                    break;
                }
            }
        }
        // the instance's memory goes with it, and the device must not use it then
        let of_device = self.device.as_ref().and_then(Attached::settle);
        // SAFETY: the instance (or null) is one of this library's, and is not running.
        *counted = match &self.loaded {
            Loaded::Library(library) => unsafe { native_stats::read(library, instance.raw.cast()) },
            Loaded::Made(p) => p.stats().and_then(|ask| unsafe { native_stats::read_by(ask, instance.raw.cast()) }),
        };
        // SAFETY: as above.
        if let Some(fault) = unsafe { (*user).fault.take() } {
            return Err(NativeEnd::Fault(fault));
        }
        if let Some(fault) = of_device {
            return Err(NativeEnd::Fault(fault));
        }
        match code {
            DONE | STOPPED | BLOCKED => Ok(()),
            MEMORY if instance.raw.is_null() => Err(NativeEnd::Fault(Fault::input(format!(
                "the program needs {} bytes of memory, which the system does not have",
                self.abi().bytes
            )))),
            // SAFETY: the instance is alive; the error belongs to it.
            MEMORY => {
                Err(NativeEnd::Fault(Fault::input(unsafe { error(code, (self.abi().error)(instance.raw)) }.message)))
            }
            // SAFETY: the instance is alive; the error belongs to it.
            _ => Err(NativeEnd::Program(unsafe { error(code, (self.abi().error)(instance.raw)) })),
        }
    }
}

/// A failure in our own words.
///
/// # Safety
/// `raw` must be null or what the program's `error` gave, its instance still alive.
unsafe fn error(code: i32, raw: *const RawError) -> NativeError {
    if raw.is_null() {
        let message = "the program failed and did not say why".to_string();
        return NativeError { code, node: None, site: None, value: 0, firing: None, message };
    }
    // SAFETY: the caller's promise.
    let raw = unsafe { &*raw };
    let message = if raw.message.is_null() {
        String::new()
    } else {
        // SAFETY: the interface promises text that ends with a zero.
        unsafe { CStr::from_ptr(raw.message) }.to_string_lossy().into_owned()
    };
    NativeError {
        code: raw.code,
        node: usize::try_from(raw.node).ok(),
        site: usize::try_from(raw.site).ok(),
        value: raw.value,
        firing: u64::try_from(raw.firing).ok().filter(|n| *n > 0),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{CcOptions, Compiler, Product};
    use crate::io::host::Bindings;
    use crate::io::item::ItemType;
    use crate::io::sink::Out;
    use sluice_frontend::graph::Endpoint;
    use sluice_frontend::ids::NodeId;
    use sluice_frontend::ty::Ty;
    use sluice_frontend::typed::Globals;

    /// A program as a code generator could write it: it doubles ints, and fails on a negative one.
    const PROGRAM: &str = r#"
#include <stdlib.h>
struct sl_ctx { sluice_host host; sluice_error error; int64_t items; };
static int32_t create(const sluice_host *h, sl_ctx **out) {
    sl_ctx *c = calloc(1, sizeof *c);
    if (!c) return SLUICE_MEMORY;
    c->host = *h; *out = c; return SLUICE_DONE;
}
static int32_t run(sl_ctx *c, int64_t n) {
    int32_t b[4];
    while (n < 0 || c->items < n) {
        int64_t got = c->host.read(c->host.user, 0, b, n < 0 || n > 4 ? 4 : 1, 1);
        if (got == SLUICE_END) break;
        if (got == SLUICE_ERROR) return SLUICE_HOST;
        if (got == SLUICE_NONE_YET) return SLUICE_BLOCKED;
        for (int64_t i = 0; i < got; i++) {
            if (b[i] < 0) {
                c->error = (sluice_error){SLUICE_FAILED, 1, 2, 0, b[i], c->items + 1, "negative"};
                return SLUICE_FAILED;
            }
            b[i] *= 2; c->items++;
        }
        if (c->host.write(c->host.user, 0, b, got)) return SLUICE_HOST;
        if (c->host.stop(c->host.user)) return SLUICE_STOPPED;
    }
    return c->host.print(c->host.user, "end\n", 4) ? SLUICE_HOST : SLUICE_DONE;
}
static const sluice_error *error(const sl_ctx *c) { return &c->error; }
static int64_t iterations(const sl_ctx *c) { return c->items; }
static void destroy(sl_ctx *c) { free(c); }
static const sluice_end ends[2] = {{"in", "int", 0, SLUICE_INT, 1, 4, 0, 0}, {"out", "int", 0, SLUICE_INT, 1, 4, 2, 0}};
static const sluice_abi abi = {sizeof abi, 1, "Test", 1, 1, ends, ends + 1, 0, 1, 0, 1, create, run, error, iterations, destroy, 0};
const sluice_abi *sluice_abi_v1(void) { return &abi; }
"#;

    fn end(node: u32) -> Vec<End> {
        let item = ItemType::of(&Ty::Int, &Globals::default()).unwrap();
        vec![End { node: NodeId(node), item, endpoint: Endpoint::Open }]
    }

    fn run(folder: &Path, input: &str, iterations: Option<u64>) -> (Result<(), NativeEnd>, Option<String>) {
        let object = folder.join("p.so");
        if !object.exists() {
            let source = folder.join("p.c");
            std::fs::write(&source, format!("{}{PROGRAM}", include_str!("../../codegen/rts/c/sluice_abi.h"))).unwrap();
            Compiler::find().unwrap().compile(&source, &object, &CcOptions::default(), Product::Shared).unwrap();
        }
        std::fs::write(folder.join("in.txt"), input).unwrap();
        let path = |name: &str| Some(folder.join(name).to_str().unwrap().to_string());
        let bindings = Bindings { input: path("in.txt"), output: path("out.txt"), ..Bindings::default() };
        let _ = std::fs::remove_file(folder.join("out.txt"));
        let mut host = Host::open_to(&end(0), &end(2), &bindings, Out::to(Box::new(std::io::sink()))).unwrap();
        let result = Native::load(&object).unwrap().run(&end(0), &end(2), iterations, &mut host);
        if result.is_ok() {
            host.finish().unwrap();
        } else {
            host.abandon();
        }
        (result, std::fs::read_to_string(folder.join("out.txt")).ok())
    }

    #[test]
    fn items_go_in_and_out() {
        let folder = tempfile::tempdir().unwrap();
        let (result, out) = run(folder.path(), "1 2 3 4 5 6", None);
        assert!(result.is_ok());
        assert_eq!(out.unwrap(), "2\n4\n6\n8\n10\n12\n");
        assert_eq!(run(folder.path(), "1 2 3", Some(2)).1.unwrap(), "2\n4\n");
        let (result, out) = run(folder.path(), "1 -7", None);
        let Err(NativeEnd::Program(e)) = result else { panic!("the program fails") };
        assert_eq!(
            (e.node, e.site, e.value, e.firing, e.message.as_str()),
            (Some(1), Some(2), -7, Some(2), "negative")
        );
        assert_eq!(out, None);
        let (result, _) = run(folder.path(), "1 x", None);
        assert!(matches!(result, Err(NativeEnd::Fault(f)) if f.message.contains("`x`")));
    }

    #[test]
    fn other_libraries_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.so");
        std::fs::write(&path, "no library").unwrap();
        assert!(Native::load(&path).is_err());
    }
}
