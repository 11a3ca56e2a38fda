//! What can be missing or go wrong on the way to a GPU, each in words with what to do. The codes have sections in docs/errors.md.

use super::arch::{Arch, OLDEST};
use crate::cc::first_lines;
use crate::exit::Fault;

/// What always works.
const ELSE: &str =
    "`--emulate` runs the same kernels on the CPU, slowly; without `--target cuda` the program runs as native code";

/// There is no driver. `why`: what the driver that is there says, if there is one.
pub fn no_driver(why: Option<&str>) -> Fault {
    let message = match why {
        None => "there is no CUDA driver: the library libcuda.so.1 was not found".to_string(),
        Some(why) => format!("the CUDA driver cannot be used: {why}"),
    };
    Fault::input(message)
        .coded("E0981")
        .help(format!("install the driver of the GPU (`nvidia-smi` shows whether it works); {ELSE}"))
}

/// There is a driver, but no GPU. `why`: what the driver says.
pub fn no_device(why: Option<&str>) -> Fault {
    let why = why.map(|w| format!(": {w}")).unwrap_or_default();
    Fault::input(format!("the CUDA driver finds no GPU{why}")).coded("E0982").help(format!(
        "`nvidia-smi` lists the GPUs, and CUDA_VISIBLE_DEVICES hides some where it is set; in a container they must be handed in; {ELSE}"
    ))
}

/// There is no GPU of this number.
pub fn no_such_device(number: u32, names: &[String]) -> Fault {
    let list: Vec<String> = names.iter().enumerate().map(|(i, name)| format!("{i} is {name}")).collect();
    Fault::usage(format!("there is no GPU {number}")).coded("E0982").help(list.join(", "))
}

/// The GPU is too old.
pub fn too_old(name: &str, arch: Arch) -> Fault {
    Fault::input(format!(
        "{name} is too old: its architecture is {arch}, generated code needs {OLDEST} (Turing, 2018) or newer"
    ))
    .coded("E0983")
    .help(format!("`--gpu N` chooses another one; {ELSE}"))
}

/// There is no NVRTC. `looked`: where it was looked for, and what was found there.
pub fn no_nvrtc(looked: &[String]) -> Fault {
    let mut message = "there is no NVRTC, the library that compiles CUDA: looked for".to_string();
    for place in looked {
        message.push_str("\n  ");
        message.push_str(place);
    }
    Fault::input(message).coded("E0984").help(
        "`pip install nvidia-cuda-nvrtc` has it, and so has a CUDA toolkit; name the library in SLUICE_NVRTC, or the folder that pip installed to \
         in SLUICE_CUDA_HOME",
    )
}

/// NVRTC does not know this architecture or an older one of its kind.
pub fn nvrtc_does_not_know(version: &str, arch: Arch) -> Fault {
    Fault::input(format!("NVRTC {version} does not compile for {arch}")).coded("E0984").help(
        "name another one in SLUICE_NVRTC: that of CUDA 12 knows sm_50 to sm_120, that of CUDA 13 sm_75 and newer",
    )
}

/// The driver is older than the compiler, and does not load what it made.
pub fn driver_too_old(driver: &str, compiler: &str, why: Option<&str>) -> Fault {
    let why = why.map(|w| format!(": {w}")).unwrap_or_default();
    let major = driver.split('.').next().unwrap_or(driver);
    Fault::input(format!(
        "the driver is too old for this NVRTC: it is for CUDA {driver} and does not load code of NVRTC {compiler}{why}"
    ))
    .coded("E0985")
    .help(format!(
        "update the driver, or name an NVRTC of CUDA {major} in SLUICE_NVRTC (`pip install nvidia-cuda-nvrtc-cu{major}`, from CUDA 13 on \
         `\"nvidia-cuda-nvrtc=={major}.*\"`)"
    ))
}

/// The driver reports an error that has to do with the computer.
pub fn device_failed(what: &str, why: &str) -> Fault {
    Fault::input(format!("the GPU failed to {what}: {why}"))
        .coded("E0986")
        .help(format!("`nvidia-smi` and the system's log say more of its state; {ELSE}"))
}

/// Nothing more fits into the memory.
pub fn no_memory(device: &str, bytes: u64, free: Option<u64>) -> Fault {
    let free = free.map(|f| format!(", {f} are free")).unwrap_or_default();
    Fault::input(format!("{device} has no memory for {bytes} bytes{free}"))
        .coded("E0987")
        .help("a smaller `--coarsen` needs less; other programs may use the GPU, `nvidia-smi` shows them")
}

/// Threads need more memory of their own than is left: a kernel, bytes of each of its threads, how many threads there may be; the bytes of all of them, and those that are free.
pub fn no_memory_for_threads(
    device: &str,
    (kernel, local, threads): (&str, u32, u64),
    (bytes, free): (u64, u64),
) -> Fault {
    Fault::input(format!(
        "{device} has no memory for {bytes} bytes, {free} are free: {kernel} has {local} bytes for each of the {threads} threads that may run at once"
    ))
    .coded("E0987")
    .help("these are the arrays of its filters, and registers that did not suffice: smaller arrays, or another `--scheme`, need less")
}

/// A kernel did what no kernel may do.
pub fn kernel_crashed(what: &str, why: &str) -> Fault {
    Fault::internal(format!("a kernel has crashed (seen in the attempt to {what}): {why}"))
        .coded("E0988")
        .help("`--emulate` names the kernel and the place, where it shows the same")
}

/// The emulator saw what no kernel may do.
pub fn emulator_report(report: &str) -> Fault {
    Fault::internal(format!("the emulation has found a fault in the generated kernels: {report}"))
        .coded("E0988")
        .help("SLUICE_EMULATE_SEED sets the order in which it ran (1 where it is not set)")
}

/// There is no C++ compiler.
pub fn no_cxx(chosen: Option<&str>) -> Fault {
    let message = match chosen {
        Some(cxx) => format!("the C++ compiler named by CXX, `{cxx}`, cannot be run"),
        None => "no C++ compiler was found (looked for c++, g++ and clang++)".to_string(),
    };
    Fault::input(message).coded("E0989").help(
        "`--emulate` compiles the kernels for the CPU with one: install it (Debian, Ubuntu: `sudo apt install build-essential`; Fedora: \
         `sudo dnf install gcc-c++`), or name one in CXX",
    )
}

/// A compiler does not take CUDA text of our own.
pub fn refused(compiler: &str, said: &str) -> Fault {
    Fault::internal(format!("{compiler} refused the generated CUDA:\n{}", first_lines(said, 20)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use crate::render;

    #[test]
    fn what_is_missing_is_said_with_its_code() {
        let text = render::fault(&no_driver(None), false);
        assert!(
            text.starts_with("error[E0981]: there is no CUDA driver: the library libcuda.so.1 was not found\nhelp: "),
            "{text}"
        );
        let text = render::fault(&no_such_device(2, &["One".into(), "Two".into()]), false);
        assert_eq!(text, "error[E0982]: there is no GPU 2\nhelp: 0 is One, 1 is Two\n");
        let text = too_old("Old GPU", Arch { major: 7, minor: 0 }).message;
        assert_eq!(
            text,
            "Old GPU is too old: its architecture is sm_70, generated code needs sm_75 (Turing, 2018) or newer"
        );
        assert!(driver_too_old("12.4", "13.5", None).help.unwrap().contains("nvidia-cuda-nvrtc-cu12"));
    }

    #[test]
    fn a_fault_of_the_kernels_is_one_of_the_compiler() {
        let fault = emulator_report("kernel k, block 0, thread 1 reads what thread 0 wrote");
        assert_eq!((fault.exit, fault.code), (Exit::Internal, Some("E0988")));
        assert!(render::fault(&fault, false).contains("this is a fault of sluice, not of your program"));
    }
}
