//! # stand-alone (in CUDA)
//!
//! Purpose: one file that is a program of its own. Input: the texts of host and device, the host's with a main program (flavour executable), and what
//! nvcc is to compile for. Output: the file. It has two parts: nvcc sees the kernels and a device over CUDA's run-time library, the C compiler the host; its first
//! lines say how it is built.

use super::program::CudaProgram;
use super::rts;
use crate::c::rts::{CC_FLAGS, DEVICE};
use std::fmt::Write;

/// Makes the file. `name`: what it is called, without `.cu`; `arch_flags`: nvcc's for the architectures, such as `-arch=sm_90`.
pub fn stand_alone(program: &CudaProgram, name: &str, arch_flags: &[String], fast_math: bool) -> String {
    let mut out = String::new();
    // a comment must not end in the middle
    let name = name.replace("*/", "* /");
    let (arch, contract) = (arch_flags.join(" "), if fast_math { "true" } else { "false" });
    let _ = write!(
        out,
        "/* {name}: a stream program that runs on an NVIDIA GPU, made by sluice. Built with CUDA {} or newer and a C compiler:\n *\n *     \
         nvcc -std=c++17 -O3 --fmad={contract} {arch} -c {name}.cu -o {name}.gpu.o\n *     \
         cc {} -O2 -x c -c {name}.cu -o {name}.host.o\n *     \
         nvcc -cudart static {name}.gpu.o {name}.host.o -o {name} -lm\n *\n * \
         `{name} --help` lists its options. It needs the driver of the GPU, and nothing else of CUDA. */\n\n",
        oldest_cuda(arch_flags),
        CC_FLAGS.join(" ")
    );
    out.push_str("#ifdef __CUDACC__ /* the kernels, and the device they run on */\n\n");
    rts::append(&mut out, DEVICE);
    out.push_str(&program.device);
    out.push_str("\nstatic const void *const sl_kernel_functions[] = {");
    program.kernels.iter().for_each(|k| out += &format!("(const void *){}, ", k.name));
    out.push_str("};\nstatic const char *const sl_kernel_names[] = {");
    program.kernels.iter().for_each(|k| out += &format!("\"{}\", ", k.name));
    out.push_str("};\n\n");
    rts::append(&mut out, rts::CUDA_HOST);
    out.push_str("#else /* the host */\n\n");
    out.push_str(&program.host.source);
    out.push_str("\n#endif\n");
    out
}

/// The oldest version of CUDA whose compiler knows all of these architectures.
fn oldest_cuda(arch_flags: &[String]) -> &'static str {
    let words = arch_flags.iter().flat_map(|f| f.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let numbers = words.filter_map(|w| w.strip_prefix("compute_").or(w.strip_prefix("sm_"))?.parse::<u32>().ok());
    match numbers.max().unwrap_or(0) {
        110 => "13.0",
        103 | 121.. => "12.9",
        100.. => "12.8",
        _ => "12.0",
    }
}

#[cfg(test)]
mod tests {
    use super::oldest_cuda;

    #[test]
    fn the_newest_architecture_decides() {
        let of = |names: &[&str]| {
            let flags: Vec<String> = names.iter().map(|n| format!("-gencode=arch=compute_{n},code=sm_{n}")).collect();
            oldest_cuda(&flags)
        };
        assert_eq!(of(&["75", "80", "90"]), "12.0");
        assert_eq!(of(&["75", "100"]), "12.8");
        assert_eq!(of(&["90", "120"]), "12.8");
        assert_eq!(of(&["103"]), "12.9");
        assert_eq!(of(&["110", "90"]), "13.0");
    }
}
