//! # gpu
//!
//! Purpose: an NVIDIA GPU as a [`Device`]. Input: the number of a GPU, then machine code with its kernels. Output: streams, events, memory and launches
//! through the CUDA driver, which `cudarc` finds at run time.
//!
//! What holds: nothing of the driver is called before it is known to be there, since `cudarc` stops the process where it is not. A device is used by
//! the thread that opened it: the driver's context belongs to threads.

#![allow(unsafe_code)]

use super::arch::{Arch, OLDEST};
use super::device::{Device, EVENTS, Launch, STREAMS, Stream};
use super::faults;
use crate::exit::Fault;
use cudarc::driver::CudaContext;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::panic::catch_unwind;
use std::ptr::null_mut;
use std::sync::Arc;

/// Dynamic shared memory that a kernel may have unasked.
const USUAL_SHARED: u32 = 48 << 10;

/// What is known of a GPU before anything is compiled for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Its name.
    pub name: String,
    /// Its architecture.
    pub arch: Arch,
    /// Multiprocessors.
    pub processors: u32,
    /// Threads that a multiprocessor has at once.
    pub threads: u32,
    /// Registers of a multiprocessor, 4 bytes each.
    pub registers: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared: u32,
    /// The most bytes of it that a block can ask for.
    pub block_shared: u32,
    /// Bytes of the L2 cache.
    pub l2: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// The clock of the multiprocessors, in kHz.
    pub clock: u32,
}

/// A GPU of this computer, with the kernels of one program once they are loaded.
pub struct Gpu {
    properties: Properties,
    /// The driver's version of CUDA, major and minor.
    driver: (u32, u32),
    streams: [sys::CUstream; STREAMS],
    events: [Option<sys::CUevent>; EVENTS],
    recorded: [bool; EVENTS],
    module: Option<sys::CUmodule>,
    kernels: Vec<Kernel>,
    memory: BTreeMap<u64, u64>,
    pinned: Vec<*mut c_void>,
    /// Let go last.
    _context: Arc<CudaContext>,
}

struct Kernel {
    name: String,
    function: sys::CUfunction,
    /// Dynamic shared memory that it may have so far.
    shared: u32,
}

/// What an error means.
fn said(error: DriverError) -> String {
    let words = error.error_string().map(|s| s.to_string_lossy().into_owned());
    let name = error.error_name().map(|s| s.to_string_lossy().into_owned());
    match (words, name) {
        (Ok(words), Ok(name)) => format!("{words} ({name})"),
        _ => format!("error {}", error.0 as u32),
    }
}

/// A number that is known of a kernel.
fn attribute(function: sys::CUfunction, which: sys::CUfunction_attribute) -> Result<u32, Fault> {
    // SAFETY: the function is one of a module that is loaded.
    let number = unsafe { result::function::get_function_attribute(function, which) };
    Ok(number.map_err(|e| fault("load the kernels", e))?.unsigned_abs())
}

/// An error while something was done, or of what was started before.
fn fault(what: &str, error: DriverError) -> Fault {
    use CUresult::*;
    let why = said(error);
    match error.0 {
        CUDA_ERROR_ILLEGAL_ADDRESS
        | CUDA_ERROR_MISALIGNED_ADDRESS
        | CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUDA_ERROR_INVALID_ADDRESS_SPACE
        | CUDA_ERROR_INVALID_PC
        | CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUDA_ERROR_ASSERT
        | CUDA_ERROR_LAUNCH_FAILED => faults::kernel_crashed(what, &why),
        CUDA_ERROR_INVALID_VALUE
        | CUDA_ERROR_INVALID_HANDLE
        | CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => Fault::internal(format!("the GPU cannot {what}: {why}")),
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => Fault::input(format!("the GPU cannot {what} at once: {why}"))
            .coded("E0986")
            .help("a smaller `--sms` makes fewer blocks; only `--scheme swp-persistent` needs all of them at once"),
        CUDA_ERROR_LAUNCH_TIMEOUT => faults::device_failed(what, &why)
            .help("a GPU that also drives a screen stops kernels that run for seconds: a smaller `--coarsen` makes them shorter"),
        _ => faults::device_failed(what, &why),
    }
}

/// A driver that can be used. Gives its version of CUDA.
fn driver() -> Result<(u32, u32), Fault> {
    // SAFETY: it only tries to load the library.
    if !unsafe { sys::is_culib_present() } {
        return Err(faults::no_driver(None));
    }
    // A library of this name that lacks a function makes cudarc stop: one of another kind, or from another age.
    let asked = catch_unwind(|| {
        let mut version = 0;
        // SAFETY: it writes a number, also where there is no device.
        let told = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
        (told.map(|()| version), result::init())
    });
    let Ok((version, started)) = asked else {
        return Err(faults::no_driver(Some("it lacks functions that every driver has")));
    };
    let version = version.map_err(|e| faults::no_driver(Some(&said(e))))?.unsigned_abs();
    match started {
        Ok(()) => Ok((version / 1000, version % 1000 / 10)),
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => Err(faults::no_device(None)),
        Err(e) => {
            use CUresult::*;
            let of_driver = matches!(
                e.0,
                CUDA_ERROR_STUB_LIBRARY
                    | CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
                    | CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
                    | CUDA_ERROR_SYSTEM_NOT_READY
            );
            let why = said(e);
            Err(if of_driver { faults::no_driver(Some(&why)) } else { faults::no_device(Some(&why)) })
        }
    }
}

/// What the driver says of a GPU.
fn properties(device: sys::CUdevice) -> Result<Properties, DriverError> {
    // SAFETY: the device is one that the driver gave.
    let number = |a: Attribute| unsafe { result::device::get_attribute(device, a) }.map(i32::unsigned_abs);
    Ok(Properties {
        name: result::device::get_name(device)?,
        arch: Arch {
            major: number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            minor: number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        },
        processors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        registers: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        shared: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        block_shared: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        l2: number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        // SAFETY: as above.
        memory: unsafe { result::device::total_mem(device) }? as u64,
        clock: number(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
    })
}

/// The GPUs of this computer.
pub fn list() -> Result<Vec<Properties>, Fault> {
    driver()?;
    let count = result::device::get_count().map_err(|e| faults::no_device(Some(&said(e))))?;
    let one = |i| result::device::get(i).and_then(properties).map_err(|e| fault("say what it is", e));
    (0..count).map(one).collect()
}

impl Gpu {
    /// The GPU of this number; nothing is loaded yet.
    pub fn open(number: u32) -> Result<Gpu, Fault> {
        let driver = driver()?;
        let all = list()?;
        if all.is_empty() {
            return Err(faults::no_device(None));
        }
        let Some(properties) = all.get(number as usize).cloned() else {
            let names: Vec<String> = all.into_iter().map(|p| p.name).collect();
            return Err(faults::no_such_device(number, &names));
        };
        if properties.arch < OLDEST {
            return Err(faults::too_old(&properties.name, properties.arch));
        }
        let _context = CudaContext::new(number as usize).map_err(|e| fault("begin", e))?;
        let mut gpu = Gpu {
            properties,
            driver,
            streams: [null_mut(); STREAMS],
            events: [None; EVENTS],
            recorded: [false; EVENTS],
            module: None,
            kernels: Vec::new(),
            memory: BTreeMap::new(),
            pinned: Vec::new(),
            _context,
        };
        for stream in &mut gpu.streams {
            *stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(|e| fault("begin", e))?;
        }
        Ok(gpu)
    }

    /// What is known of it.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// The driver's version of CUDA, major and minor.
    pub fn driver(&self) -> (u32, u32) {
        self.driver
    }

    /// Loads machine code (or PTX that ends with a zero) with kernels of these names, which then have these numbers. `compiler`: the version of NVRTC
    /// that made it.
    pub fn load(&mut self, image: &[u8], kernels: &[&str], compiler: &str) -> Result<(), Fault> {
        use CUresult::*;
        let driver = format!("{}.{}", self.driver.0, self.driver.1);
        // SAFETY: it is an ELF file or text with a zero at its end, whole.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }.map_err(|e| match e.0 {
            CUDA_ERROR_INVALID_IMAGE
            | CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUDA_ERROR_INVALID_PTX => faults::driver_too_old(&driver, compiler, Some(&said(e))),
            _ => fault("load the kernels", e),
        })?;
        self.module = Some(module);
        for name in kernels {
            let missing = || Fault::internal(format!("the kernels have no `{name}`"));
            let symbol = CString::new(*name).map_err(|_| missing())?;
            // SAFETY: the module is loaded, and stays until the device goes.
            let function = unsafe { result::module::get_function(module, symbol) }.map_err(|e| match e.0 {
                CUDA_ERROR_NOT_FOUND => missing(),
                _ => fault("load the kernels", e),
            })?;
            let own = attribute(function, sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
            self.can_hold(name, attribute(function, sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?)?;
            self.kernels.push(Kernel { name: name.to_string(), function, shared: USUAL_SHARED.saturating_sub(own) });
        }
        Ok(())
    }

    /// A launch sets memory aside for all threads that the GPU may have at once: has it so much? `local`: bytes of a thread of the kernel.
    fn can_hold(&self, name: &str, local: u32) -> Result<(), Fault> {
        let threads = u64::from(self.properties.processors) * u64::from(self.properties.threads);
        let (bytes, free) = (threads * u64::from(local), result::mem_get_info().ok().map(|(free, _)| free as u64));
        match free {
            Some(free) if bytes > free => {
                Err(faults::no_memory_for_threads(&self.properties.name, (name, local, threads), (bytes, free)))
            }
            _ => Ok(()),
        }
    }

    /// Sees to it that a kernel may have so much shared memory. Gives its function.
    fn with_shared(&mut self, number: u32, shared: u32) -> Result<sys::CUfunction, Fault> {
        let Kernel { name, function, shared: may } = self.kernel(number)?;
        let function = *function;
        if shared > *may {
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is one of the loaded module.
            unsafe { result::function::set_function_attribute(function, attribute, shared as i32) }
                .map_err(|e| fault(&format!("give {shared} bytes of shared memory to {name}"), e))?;
            self.kernels[number as usize].shared = shared;
        }
        Ok(function)
    }

    fn kernel(&self, number: u32) -> Result<&Kernel, Fault> {
        self.kernels.get(number as usize).ok_or_else(|| Fault::internal(format!("there is no kernel {number}")))
    }

    fn stream(&self, stream: Stream) -> sys::CUstream {
        self.streams[stream as usize]
    }

    /// The event of a number, created when it is first used.
    fn event(&mut self, number: u32) -> Result<sys::CUevent, Fault> {
        let place = &mut self.events[number as usize % EVENTS];
        if let Some(event) = place {
            return Ok(*event);
        }
        let made =
            result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(|e| fault("make an event", e))?;
        *place = Some(made);
        Ok(made)
    }
}

impl Device for Gpu {
    fn processors(&self) -> u32 {
        self.properties.processors
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
        // an address of its own also for nothing
        let wanted = usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
        // SAFETY: the context is this thread's.
        match unsafe { result::malloc_sync(wanted) } {
            Ok(address) => {
                self.memory.insert(address, bytes);
                Ok(address)
            }
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                let free = result::mem_get_info().ok().map(|(free, _)| free as u64);
                Err(faults::no_memory(&self.properties.name, bytes, free))
            }
            Err(e) => Err(fault("allocate memory", e)),
        }
    }

    fn release(&mut self, address: u64) -> Result<(), Fault> {
        if self.memory.remove(&address).is_none() {
            return Err(Fault::internal("memory is freed that was not allocated"));
        }
        for stream in Stream::ALL {
            self.finish(stream)?;
        }
        // SAFETY: it was allocated here, and nothing that uses it is under way.
        unsafe { result::free_sync(address) }.map_err(|e| fault("free memory", e))
    }

    unsafe fn put(&mut self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<(), Fault> {
        // SAFETY: the caller promises the bytes until `finish`; the driver checks the address.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, self.stream(stream)) }
            .result()
            .map_err(|e| fault("put bytes into its memory", e))
    }

    unsafe fn get(&mut self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<(), Fault> {
        // SAFETY: the caller promises the room until `finish`; the driver checks the address.
        unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, self.stream(stream)) }
            .result()
            .map_err(|e| fault("get bytes from its memory", e))
    }

    fn clear(&mut self, stream: Stream, at: u64, bytes: u64) -> Result<(), Fault> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the driver checks the address.
        unsafe { result::memset_d8_async(at, 0, bytes, self.stream(stream)) }.map_err(|e| fault("clear its memory", e))
    }

    fn launch(&mut self, launch: &Launch, job: &[u8]) -> Result<(), Fault> {
        let stream = self.stream(Stream::Compute);
        let function = self.with_shared(launch.kernel, launch.shared)?;
        let mut arguments = [job.as_ptr().cast_mut().cast::<c_void>()];
        let (grid, block) = ((launch.blocks, 1, 1), (launch.threads, 1, 1));
        // SAFETY: kernels have one argument, the job, whose size the generated program knows; it is copied now.
        let done = unsafe {
            if launch.together {
                result::launch_cooperative_kernel(function, grid, block, launch.shared, stream, &mut arguments)
            } else {
                result::launch_kernel(function, grid, block, launch.shared, stream, &mut arguments)
            }
        };
        let name = &self.kernel(launch.kernel)?.name;
        done.map_err(|e| fault(&format!("start {name} with {} blocks of {} threads", launch.blocks, launch.threads), e))
    }

    fn record(&mut self, event: u32, stream: Stream) -> Result<(), Fault> {
        let made = self.event(event)?;
        self.recorded[event as usize % EVENTS] = true;
        // SAFETY: event and stream live as long as the device.
        unsafe { result::event::record(made, self.stream(stream)) }.map_err(|e| fault("record an event", e))
    }

    fn wait(&mut self, stream: Stream, event: u32) -> Result<(), Fault> {
        if !self.recorded[event as usize % EVENTS] {
            return Ok(());
        }
        let made = self.event(event)?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as in `record`.
        unsafe { result::stream::wait_event(self.stream(stream), made, flags) }
            .map_err(|e| fault("wait for an event", e))
    }

    fn finish(&mut self, stream: Stream) -> Result<(), Fault> {
        // SAFETY: the stream lives as long as the device.
        unsafe { result::stream::synchronize(self.stream(stream)) }.map_err(|e| fault("finish its work", e))
    }

    fn elapsed(&mut self, from: u32, to: u32) -> Result<f32, Fault> {
        let (from, to) = (self.event(from)?, self.event(to)?);
        // SAFETY: both were created, and live as long as the device.
        unsafe { result::event::elapsed(from, to) }.map_err(|e| fault("say how long something took", e))
    }

    fn resident(&mut self, kernel: u32, threads: u32, shared: u32) -> Result<u32, Fault> {
        let function = self.with_shared(kernel, shared)?;
        // SAFETY: the function is one of the loaded module.
        unsafe { result::occupancy::max_active_block_per_multiprocessor(function, threads as i32, shared as usize) }
            .map(i32::unsigned_abs)
            .map_err(|e| fault("say how many blocks it runs at once", e))
    }

    fn has_happened(&mut self, event: u32) -> Result<bool, Fault> {
        let made = self.event(event)?;
        // SAFETY: the event lives as long as the device.
        match unsafe { result::event::query(made) } {
            Ok(()) => Ok(true),
            Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(e) => Err(fault("finish its work", e)),
        }
    }

    unsafe fn pin(&mut self, at: *mut u8, bytes: usize) {
        // It only makes copies faster: where it cannot be done, nothing is lost.
        // SAFETY: the caller promises that the memory stays until it is unpinned.
        if bytes > 0 && unsafe { sys::cuMemHostRegister_v2(at.cast(), bytes, 0) } == CUresult::CUDA_SUCCESS {
            self.pinned.push(at.cast());
        }
    }

    fn unpin(&mut self, at: *mut u8) {
        if let Some(i) = self.pinned.iter().position(|p| *p == at.cast()) {
            self.pinned.swap_remove(i);
            // SAFETY: it was pinned here.
            let _ = unsafe { sys::cuMemHostUnregister(at.cast()) };
        }
    }

    fn settle(&mut self) {
        for stream in Stream::ALL {
            let _ = self.finish(stream);
        }
        for at in std::mem::take(&mut self.pinned) {
            // SAFETY: it was pinned here, and nothing is under way.
            let _ = unsafe { sys::cuMemHostUnregister(at) };
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.settle();
        // What fails here has failed before, and was told then.
        // SAFETY: all of it was made here, nothing that uses it is under way, and the context is still there.
        unsafe {
            for address in self.memory.keys() {
                let _ = result::free_sync(*address);
            }
            for event in self.events.iter().flatten() {
                let _ = result::event::destroy(*event);
            }
            if let Some(module) = self.module {
                let _ = result::module::unload(module);
            }
            for stream in self.streams.iter().filter(|s| !s.is_null()) {
                let _ = result::stream::destroy(*stream);
            }
        }
    }
}
