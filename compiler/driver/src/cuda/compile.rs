//! # compile
//!
//! Purpose: device text to something that runs, kept in the cache. Input: the text of all kernels of a program. Output: machine code for a GPU, with what
//! the compiler says of each kernel; or a shared object for the emulator.

use super::arch::{Arch, Form};
use super::faults;
use super::nvrtc::{Nvrtc, NvrtcOptions, Output};
use super::resources::{self, Resources};
use crate::cache::{self, Cache};
use crate::cc::Compiler;
use crate::exit::Fault;
use sluice_codegen::cuda::rts::{self, EMULATION_FLAGS};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How kernels are compiled for a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelOptions {
    /// Products and sums may become one operation: other bytes.
    pub fast_math: bool,
    /// The most registers of a thread, where not what each kernel's threads leave.
    pub registers: Option<u32>,
    /// Keep the lines of the text, for profilers.
    pub debug: bool,
}

/// Machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// An ELF file, or PTX that ends with a zero.
    pub bytes: Vec<u8>,
    /// What the compiler says of each kernel; nothing for PTX.
    pub resources: Vec<Resources>,
    /// The version of NVRTC that made it.
    pub compiler: String,
}

/// Machine code for an architecture, from the cache or made now. `driver`: the version of CUDA that has to load it.
pub fn image(text: &str, arch: Arch, options: KernelOptions, driver: Option<(u32, u32)>) -> Result<Image, Fault> {
    let nvrtc = Nvrtc::find(driver)?;
    image_by(&nvrtc, &Cache::open()?, text, arch, options)
}

/// The same with a given compiler and cache.
pub fn image_by(nvrtc: &Nvrtc, cache: &Cache, text: &str, arch: Arch, options: KernelOptions) -> Result<Image, Fault> {
    let compiler = nvrtc.version();
    let form = arch.served_by(nvrtc.architectures()).ok_or_else(|| faults::nvrtc_does_not_know(&compiler, arch))?;
    let told = NvrtcOptions {
        form,
        contract: options.fast_math,
        registers: options.registers,
        lines: options.debug,
        odd: false,
    };
    let flags = told.flags().join(" ");
    let key = cache::key(&["NVRTC", text, &flags, &compiler, env!("CARGO_PKG_VERSION")]);
    let extension = match form {
        Form::Machine(_) => "cubin",
        Form::Ptx(_) => "ptx",
    };
    // Two files: another run may have removed one of them, to make room.
    if let (Some(image), Some(log)) = (cache.find(&key, extension), cache.find(&key, "log"))
        && let (Ok(bytes), Ok(log)) = (std::fs::read(image), std::fs::read_to_string(log))
        && !bytes.is_empty()
    {
        return Ok(Image { bytes, resources: resources::parse(&log), compiler });
    }
    let made = least_spilt(nvrtc, text, &told)?;
    cache.put(&key, "log", made.log.as_bytes())?;
    cache.put(&key, extension, &made.image)?;
    Ok(Image { resources: resources::parse(&made.log), bytes: made.image, compiler })
}

/// Compiles. Where kernels whose warps have roles store registers, they are compiled as blocks of an odd number of warps, too, and what stores less is kept: how many blocks the
/// compiler wants on a multiprocessor, and so how many registers it takes, depends on that number.
pub fn least_spilt(nvrtc: &Nvrtc, text: &str, told: &NvrtcOptions) -> Result<Output, Fault> {
    let make = |odd| {
        let made = nvrtc.compile(text, &NvrtcOptions { odd, ..*told })?;
        made.map_err(|said| faults::refused(&format!("NVRTC {}", nvrtc.version()), &said))
    };
    let spilt = |o: &Output| resources::parse(&o.log).iter().map(|r| r.spill_stores + r.spill_loads).sum::<u32>();
    let even = make(false)?;
    let roles = text.contains("\nSL_KERNEL_ROLES(");
    if spilt(&even) == 0 || !roles || told.registers.is_some() {
        return Ok(even);
    }
    let odd = make(true)?;
    Ok(if spilt(&odd) < spilt(&even) { odd } else { even })
}

/// PTX of a text, for an architecture or, where the compiler does not know that, the newest older one.
pub fn ptx_by(nvrtc: &Nvrtc, text: &str, arch: Arch, options: KernelOptions) -> Result<Vec<u8>, Fault> {
    let compiler = nvrtc.version();
    let form = arch.served_by(nvrtc.architectures()).ok_or_else(|| faults::nvrtc_does_not_know(&compiler, arch))?;
    let (Form::Machine(known) | Form::Ptx(known)) = form;
    let told = NvrtcOptions {
        form: Form::Ptx(known),
        contract: options.fast_math,
        registers: options.registers,
        lines: options.debug,
        odd: false,
    };
    let made = nvrtc.compile(text, &told)?.map_err(|said| faults::refused(&format!("NVRTC {compiler}"), &said))?;
    Ok(made.image)
}

/// A shared object for the emulator, from the cache or made now.
pub fn emulation(text: &str) -> Result<PathBuf, Fault> {
    emulation_by(&Compiler::find_cxx()?, &Cache::open()?, text)
}

/// The same with a given compiler and cache.
pub fn emulation_by(compiler: &Compiler, cache: &Cache, text: &str) -> Result<PathBuf, Fault> {
    // what is for tests may have an emulator of its own
    let apart = text.contains("sl_emulated").then(rts::emulator);
    let flags: Vec<&str> = EMULATION_FLAGS.iter().copied().chain(["-O1", "-w"]).collect();
    let own = apart.as_deref().unwrap_or("");
    let key = cache::key(&["emulation", text, own, &compiler.identity, &flags.join(" "), env!("CARGO_PKG_VERSION")]);
    cache.get(&key, "so", |target| {
        let mut attempts = 0;
        loop {
            let object = apart.as_deref().map(|text| emulator(compiler, cache, text)).transpose()?;
            let libraries = ["-lm", "-lpthread"].map(OsStr::new);
            let more: Vec<&OsStr> = object.iter().map(|o| o.as_os_str()).chain(libraries).collect();
            let made = translated(compiler, cache, (&key, text), &flags, target, &more);
            // another run may have removed the emulator between the two steps
            attempts += 1;
            if made.is_ok() || attempts == 3 || object.is_none_or(|o| o.exists()) {
                return made;
            }
        }
    })
}

/// The emulator that programs share, from the cache or made now.
fn emulator(compiler: &Compiler, cache: &Cache, text: &str) -> Result<PathBuf, Fault> {
    let flags: Vec<&str> =
        EMULATION_FLAGS.iter().copied().filter(|f| *f != "-shared").chain(["-c", "-O1", "-w"]).collect();
    let key = cache::key(&["emulator", text, &compiler.identity, &flags.join(" "), env!("CARGO_PKG_VERSION")]);
    cache.get(&key, "o", |target| translated(compiler, cache, (&key, text), &flags, target, &[]))
}

/// Compiles a text, which is in a file for so long, with `more` behind it.
fn translated(
    compiler: &Compiler,
    cache: &Cache,
    (key, text): (&str, &str),
    flags: &[&str],
    target: &Path,
    more: &[&OsStr],
) -> Result<(), Fault> {
    let source = cache.temporary(key, "cpp");
    crate::interrupt::add_temporary(&source);
    let mut arguments: Vec<&OsStr> = flags.iter().copied().map(OsStr::new).collect();
    arguments.extend([OsStr::new("-o"), target.as_os_str(), source.as_os_str()]);
    arguments.extend(more);
    let made = std::fs::write(&source, text)
        .map_err(|e| Fault::file("write", source.display(), &e))
        .and_then(|()| translate(compiler, &arguments));
    let _ = std::fs::remove_file(&source);
    crate::interrupt::forget_temporary(&source);
    made
}

fn translate(compiler: &Compiler, arguments: &[&OsStr]) -> Result<(), Fault> {
    let result = compiler.call(arguments)?;
    if result.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&result.stderr).into_owned();
    if said.contains("No space left on device") {
        return Err(Fault::input(format!("{}: no space left on device", compiler.program())));
    }
    Err(faults::refused(compiler.program(), &said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::arch::OLDEST;
    use crate::cuda::check;

    #[test]
    fn machine_code_is_kept() {
        let Some(nvrtc) = check::nvrtc("machine_code_is_kept") else { return };
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1 << 20);
        let make = |options| image_by(&nvrtc, &cache, check::TWICE, OLDEST, options).unwrap();
        let first = make(KernelOptions::default());
        assert_eq!((first.resources.len(), first.resources[0].name.as_str()), (1, "twice"));
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = files();
        assert_eq!(make(KernelOptions::default()), first);
        assert_eq!(files(), before, "nothing was made anew");
        make(KernelOptions { fast_math: true, ..KernelOptions::default() });
        assert_eq!(files(), before + 2, "other arithmetic is other code");
        // a device newer than the compiler gets text that its driver translates
        let newest =
            image_by(&nvrtc, &cache, check::TWICE, Arch { major: 99, minor: 0 }, KernelOptions::default()).unwrap();
        assert!(newest.bytes.ends_with(b"\0") && newest.resources.is_empty());
        let old =
            image_by(&nvrtc, &cache, check::TWICE, Arch { major: 5, minor: 0 }, KernelOptions::default()).unwrap_err();
        assert_eq!(old.code, Some("E0984"));
    }

    #[test]
    fn what_a_compiler_refuses_is_our_fault() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1 << 20);
        let fault = emulation_by(&Compiler::find_cxx().unwrap(), &cache, "this is no C++").unwrap_err();
        assert!(fault.message.contains("refused the generated CUDA"), "{fault}");
        assert_eq!(fault.exit, crate::exit::Exit::Internal);
    }
}
