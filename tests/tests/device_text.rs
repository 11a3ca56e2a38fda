//! CUDA's compilers take the run-time support of device code: the kernels of the emulator's tests, and one that uses all there is.

use sluice_codegen::cuda::rts::{append, head};
use sluice_driver::cuda::arch::TESTED;
use sluice_driver::cuda::check;

const TEXTS: [(&str, &str); 2] = [
    ("everything.cu", include_str!("../../compiler/codegen/tests/cuda/everything.cu")),
    ("kernels.cu", include_str!("../../compiler/codegen/tests/cuda/kernels.cu")),
];

#[test]
fn the_run_time_support_is_compiled_for_gpus() {
    let Some(nvrtc) = check::nvrtc("the_run_time_support_is_compiled_for_gpus") else { return };
    for (name, kernels) in TEXTS {
        let mut text = String::new();
        head(&mut text);
        append(&mut text, kernels);
        for arch in TESTED {
            let needs = check::needs(&nvrtc, &text, arch).unwrap_or_else(|e| panic!("{name}, {arch}: {e:?}"));
            let names: Vec<&str> =
                kernels.lines().filter_map(|l| l.strip_prefix("SL_KERNEL(")?.split([' ', '(']).nth(2)).collect();
            assert!(names.iter().all(|n| n.starts_with("sl_")) && !names.is_empty(), "{names:?}");
            for kernel in names {
                let of = needs.iter().find(|r| r.name == kernel);
                let of = of.unwrap_or_else(|| panic!("{name}, {arch}: {kernel} is not among {needs:?}"));
                assert!(of.registers.is_some() && !of.spills(), "{name}, {arch}: {of:?}");
            }
        }
    }
}
