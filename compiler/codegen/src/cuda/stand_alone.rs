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
        "/* {name}: a stream program that runs on an NVIDIA GPU, made by sluice. Built with CUDA 12 or 13 and a C compiler:\n *\n *     \
         nvcc -std=c++17 -O3 --fmad={contract} {arch} -c {name}.cu -o {name}.gpu.o\n *     \
         cc {} -O2 -x c -c {name}.cu -o {name}.host.o\n *     \
         nvcc -cudart static {name}.gpu.o {name}.host.o -o {name} -lm\n *\n * \
         `{name} --help` lists its options. It needs the driver of the GPU, and nothing else of CUDA. */\n\n",
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
