//! # stand-alone
//!
//! Purpose: a program of its own in CUDA, as one file. Input: the text that code generation made, which has its build lines in a comment at its head.
//! Output: the file, whole or not at all.

use super::arch::{Arch, TESTED};
use crate::exit::Fault;
use std::path::Path;

/// The architectures that the build lines name.
pub fn archs(asked: &[Arch]) -> Vec<Arch> {
    let mut all = if asked.is_empty() { TESTED.to_vec() } else { asked.to_vec() };
    all.sort_unstable();
    all.dedup();
    all
}

/// What nvcc is told for these: machine code for each, and for the newest also text that newer GPUs' drivers translate.
pub fn nvcc_flags(archs: &[Arch]) -> Vec<String> {
    let mut flags: Vec<String> =
        archs.iter().map(|a| format!("-gencode=arch={},code={}", a.compute(), a.sm())).collect();
    flags.extend(archs.last().map(|a| format!("-gencode=arch={0},code={0}", a.compute())));
    flags
}

/// Checks the name of the file: nvcc decides by it what a file is.
pub fn check_name(output: &str) -> Result<(), Fault> {
    let extension = Path::new(output).extension().and_then(|e| e.to_str());
    if output == "-" || extension == Some("cu") {
        return Ok(());
    }
    Err(Fault::usage(format!("`sluice build --target cuda` writes CUDA text, and {output} does not end in .cu")).help(
        format!(
            "-o {}; the file's first lines say how nvcc makes a program of it",
            Path::new(output).with_extension("cu").display()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_for_each_and_text_for_newer_ones() {
        let archs = archs(&[Arch::of_number(90), Arch::of_number(80), Arch::of_number(90)]);
        assert_eq!(
            nvcc_flags(&archs),
            [
                "-gencode=arch=compute_80,code=sm_80",
                "-gencode=arch=compute_90,code=sm_90",
                "-gencode=arch=compute_90,code=compute_90"
            ]
        );
        assert_eq!(super::archs(&[]), TESTED);
    }

    #[test]
    fn names_say_what_a_file_is() {
        assert!(check_name("x/fm.cu").is_ok() && check_name("-").is_ok());
        assert_eq!(
            check_name("fm").unwrap_err().help.unwrap(),
            "-o fm.cu; the file's first lines say how nvcc makes a program of it"
        );
    }
}
