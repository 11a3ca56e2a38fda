//! # nvrtc
//!
//! Purpose: NVRTC, NVIDIA's library that compiles CUDA, bound at run time. Input: CUDA text. Output: machine code, and what the compiler says. Its
//! functions are those of nvrtc.h; those of the `cudarc` crate stop the process where the library is missing, know no machine code, and do not look for
//! the library of CUDA 13.

#![allow(unsafe_code)]

use super::arch::{Arch, Form};
use super::faults;
use super::toolkit::{self, Place};
use crate::exit::Fault;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

type Program = *mut c_void;
type Code = c_int;
const SUCCESS: Code = 0;
const COMPILATION: Code = 6;

type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> Code;
type TextOf = unsafe extern "C" fn(Program, *mut c_char) -> Code;

/// The functions.
struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code,
    known: unsafe extern "C" fn(*mut c_int) -> Code,
    architectures: unsafe extern "C" fn(*mut c_int) -> Code,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Code,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Code,
    destroy: unsafe extern "C" fn(*mut Program) -> Code,
    error: unsafe extern "C" fn(Code) -> *const c_char,
    log: (SizeOf, TextOf),
    cubin: (SizeOf, TextOf),
    ptx: (SizeOf, TextOf),
}

impl Functions {
    fn of(library: &Library) -> Result<Functions, libloading::Error> {
        // SAFETY: the functions have these types in nvrtc.h, from CUDA 11.2 on.
        unsafe {
            Ok(Functions {
                version: *library.get(b"nvrtcVersion\0")?,
                known: *library.get(b"nvrtcGetNumSupportedArchs\0")?,
                architectures: *library.get(b"nvrtcGetSupportedArchs\0")?,
                create: *library.get(b"nvrtcCreateProgram\0")?,
                compile: *library.get(b"nvrtcCompileProgram\0")?,
                destroy: *library.get(b"nvrtcDestroyProgram\0")?,
                error: *library.get(b"nvrtcGetErrorString\0")?,
                log: (*library.get(b"nvrtcGetProgramLogSize\0")?, *library.get(b"nvrtcGetProgramLog\0")?),
                cubin: (*library.get(b"nvrtcGetCUBINSize\0")?, *library.get(b"nvrtcGetCUBIN\0")?),
                ptx: (*library.get(b"nvrtcGetPTXSize\0")?, *library.get(b"nvrtcGetPTX\0")?),
            })
        }
    }
}

/// What is told to the compiler besides the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvrtcOptions {
    /// For what.
    pub form: Form,
    /// Products and sums may become one operation.
    pub contract: bool,
    /// The most registers of a thread.
    pub registers: Option<u32>,
    /// Keep the lines of the text, for profilers.
    pub lines: bool,
    /// Kernels whose warps have roles are told the number of their threads as it is, not the next one that makes an even number of warps.
    pub odd: bool,
}

impl NvrtcOptions {
    /// As NVRTC takes them.
    pub fn flags(&self) -> Vec<String> {
        let arch = match self.form {
            Form::Machine(arch) => arch.sm(),
            Form::Ptx(arch) => arch.compute(),
        };
        let mut flags = vec![
            format!("--gpu-architecture={arch}"),
            "-std=c++17".to_string(),
            // generic lambdas are no functions of the host: NVRTC before 13.1 takes them for such
            "-default-device".to_string(),
            format!("--fmad={}", self.contract),
            "--ptxas-options=-v".to_string(),
        ];
        flags.extend(self.registers.map(|n| format!("--maxrregcount={n}")));
        flags.extend(self.odd.then(|| "-DSL_ROLES=32".to_string()));
        flags.extend(self.lines.then(|| "--generate-line-info".to_string()));
        flags
    }
}

/// What the compiler made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Machine code, or PTX that ends with a zero, as was asked.
    pub image: Vec<u8>,
    /// What it said.
    pub log: String,
}

/// NVRTC in memory.
pub struct Nvrtc {
    functions: Functions,
    /// Major and minor.
    version: (u32, u32),
    architectures: Vec<Arch>,
    /// Keeps the code in memory; dropped last.
    _library: Library,
}

impl Nvrtc {
    /// The first one that there is; where the driver's version of CUDA is known, the first one that is not newer.
    pub fn find(driver: Option<(u32, u32)>) -> Result<Nvrtc, Fault> {
        Nvrtc::among(toolkit::nvrtc_places(), driver)
    }

    /// The same among these places.
    pub fn among(places: Vec<Place>, driver: Option<(u32, u32)>) -> Result<Nvrtc, Fault> {
        let mut looked: Vec<String> = Vec::new();
        let mut newer: Option<Nvrtc> = None;
        for place in &places {
            match Nvrtc::open(place) {
                Ok(nvrtc) => {
                    // code of a newer step of the same generation of CUDA is loaded, of a newer generation not
                    if driver.is_none_or(|(major, _)| nvrtc.version.0 <= major) {
                        return Ok(nvrtc);
                    }
                    newer.get_or_insert(nvrtc);
                }
                Err(why) => looked.push(format!("{} ({}): {why}", place.file.display(), place.from)),
            }
        }
        match (newer, driver) {
            (Some(nvrtc), Some((major, minor))) => {
                Err(faults::driver_too_old(&format!("{major}.{minor}"), &nvrtc.version(), None))
            }
            _ => Err(faults::no_nvrtc(&looked)),
        }
    }

    fn open(place: &Place) -> Result<Nvrtc, String> {
        if place.insisted && !place.file.exists() {
            return Err("there is no such file".into());
        }
        // It loads a second library of its own by name, which it finds where the first one is known to all.
        // SAFETY: its initialisers only set up its own state.
        let library = unsafe { Library::open(Some(&place.file), RTLD_NOW | RTLD_GLOBAL) }.map_err(|e| short(&e))?;
        let functions = Functions::of(&library).map_err(|e| short(&e))?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: as nvrtc.h says, with room for the numbers.
        let told = unsafe {
            (functions.version)(&mut major, &mut minor) == SUCCESS && (functions.known)(&mut count) == SUCCESS
        };
        let mut numbers = vec![0 as c_int; usize::try_from(count).unwrap_or(0)];
        // SAFETY: there is room for as many numbers as it said.
        if !told || unsafe { (functions.architectures)(numbers.as_mut_ptr()) } != SUCCESS {
            return Err("it does not say what it is".into());
        }
        let architectures = numbers.iter().map(|n| Arch::of_number(n.unsigned_abs())).collect();
        let version = (major.unsigned_abs(), minor.unsigned_abs());
        Ok(Nvrtc { functions, version, architectures, _library: library })
    }

    /// Its version, such as `13.5`.
    pub fn version(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// What it can compile for.
    pub fn architectures(&self) -> &[Arch] {
        &self.architectures
    }

    /// Compiles. What it says where it refuses is the inner error.
    pub fn compile(&self, text: &str, options: &NvrtcOptions) -> Result<Result<Output, String>, Fault> {
        let zero = |_| Fault::internal("a zero byte in generated CUDA");
        let text = CString::new(text).map_err(zero)?;
        let flags: Vec<CString> =
            options.flags().into_iter().map(CString::new).collect::<Result<_, _>>().map_err(zero)?;
        let flags: Vec<*const c_char> = flags.iter().map(|f| f.as_ptr()).collect();
        let mut raw: Program = null_mut();
        // SAFETY: text and name end with a zero and stay until the program is destroyed; there are no headers.
        let made =
            unsafe { (self.functions.create)(&mut raw, text.as_ptr(), c"program.cu".as_ptr(), 0, null(), null()) };
        self.checked(made, "take a text")?;
        let program = Held { raw, nvrtc: self };
        // SAFETY: the program is alive; there are as many flags as said, each ends with a zero.
        let done = unsafe { (self.functions.compile)(program.raw, flags.len() as c_int, flags.as_ptr()) };
        let log = program.bytes(self.functions.log, "say what it did")?;
        let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_string();
        if done == COMPILATION {
            return Ok(Err(log));
        }
        self.checked(done, "compile")?;
        let image = match options.form {
            Form::Machine(_) => program.bytes(self.functions.cubin, "give its code")?,
            Form::Ptx(_) => program.bytes(self.functions.ptx, "give its code")?,
        };
        Ok(Ok(Output { image, log }))
    }

    fn checked(&self, code: Code, what: &str) -> Result<(), Fault> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: it gives a constant text for any number.
        let why = unsafe {
            let text = (self.functions.error)(code);
            if text.is_null() { "?".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        Err(Fault::input(format!("NVRTC {} failed to {what}: {why}", self.version())).coded("E0984").help(
            "its parts must be of one version (libnvrtc.so and libnvrtc-builtins.so in one folder); another one can be named in SLUICE_NVRTC",
        ))
    }
}

/// A program of NVRTC, destroyed when it goes.
struct Held<'n> {
    raw: Program,
    nvrtc: &'n Nvrtc,
}

impl Held<'_> {
    /// One of the texts that it has.
    fn bytes(&self, (size, text): (SizeOf, TextOf), what: &str) -> Result<Vec<u8>, Fault> {
        let mut room = 0;
        // SAFETY: the program is alive.
        self.nvrtc.checked(unsafe { size(self.raw, &mut room) }, what)?;
        let mut bytes = vec![0u8; room];
        // SAFETY: there is as much room as it said.
        self.nvrtc.checked(unsafe { text(self.raw, bytes.as_mut_ptr().cast()) }, what)?;
        Ok(bytes)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created, and is not used any more.
        unsafe { (self.nvrtc.functions.destroy)(&mut self.raw) };
    }
}

/// What the system's loader says, on one line.
fn short(error: &libloading::Error) -> String {
    let said = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    if said.contains("No such file or directory") {
        return "not there".into();
    }
    said.lines().next().unwrap_or("").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::{check, resources};

    fn place(file: &str, insisted: bool) -> Place {
        Place { file: file.into(), from: "a test".into(), insisted }
    }

    #[test]
    fn what_is_missing_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = folder.path().join("libnvrtc.so.13");
        std::fs::write(&wrong, "no library").unwrap();
        let places =
            vec![place("/nowhere/libnvrtc.so", true), place(wrong.to_str().unwrap(), false), place("libm.so.6", false)];
        let Err(fault) = Nvrtc::among(places, None) else { panic!("there is none") };
        assert_eq!(fault.code, Some("E0984"));
        assert!(fault.message.contains("/nowhere/libnvrtc.so (a test): there is no such file"), "{}", fault.message);
        assert!(fault.message.contains("nvrtcVersion"), "a library that is another one: {}", fault.message);
    }

    #[test]
    fn code_for_all_architectures() {
        let Some(nvrtc) = check::nvrtc("code_for_all_architectures") else { return };
        for arch in crate::cuda::arch::TESTED {
            let options =
                NvrtcOptions { form: Form::Machine(arch), contract: false, registers: None, lines: false, odd: false };
            let made = nvrtc.compile(check::TWICE, &options).unwrap().unwrap();
            assert!(made.image.starts_with(b"\x7fELF"), "{arch}");
            let all = resources::parse(&made.log);
            assert_eq!(all.len(), 1, "{}", made.log);
            assert!(all[0].name == "twice" && all[0].registers.is_some() && !all[0].spills(), "{:?}", all[0]);
        }
        let ptx = NvrtcOptions {
            form: Form::Ptx(Arch::of_number(80)),
            contract: true,
            registers: Some(32),
            lines: true,
            odd: true,
        };
        let made = nvrtc.compile(check::TWICE, &ptx).unwrap().unwrap();
        let text = String::from_utf8(made.image).unwrap();
        assert!(text.contains(".target sm_80") && text.ends_with('\0'));
        let said = nvrtc.compile("this is no CUDA", &ptx).unwrap().unwrap_err();
        assert!(said.contains("program.cu(1): error"), "{said}");
        // an old driver does not load what a new compiler makes
        let places = check::home().map(|home| toolkit::nvrtc_places_in(&home)).unwrap_or_else(toolkit::nvrtc_places);
        let Err(fault) = Nvrtc::among(places, Some((11, 4))) else { panic!("it is newer") };
        assert!(fault.code == Some("E0985") && fault.message.contains("for CUDA 11.4"), "{fault}");
    }
}
