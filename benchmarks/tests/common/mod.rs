//! What tests of the suite have in common.

#![allow(dead_code, unused_macros, unused_imports)] // each test has its own needs

use sluice_benchmarks::beside::{bytes, words};
use sluice_driver::commands;
use sluice_driver::exit::Exit;
use sluice_driver::io::host::Bindings;
use sluice_driver::options::{BackEnd, CodeChoices, Level, NativeOptions, ProgramOptions, RunOptions};
use std::path::{Path, PathBuf};

/// A test for each program of a list, which calls a function with its name; and one that none of the list is left out.
macro_rules! programs {
    ($list:expr, $holds:ident; $($name:ident)*) => {
        $(#[test]
        fn $name() {
            $holds(stringify!($name));
        })*

        #[test]
        fn all_are_tested() {
            let names: Vec<&str> = $list.iter().map(|program| program.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

/// The same of the suite.
macro_rules! programs_of_the_suite {
    ($holds:ident) => {
        common::programs!(sluice_benchmarks::suite::SUITE, $holds;
            bitonic bitonicrec dct des fft filterbank fmradio matrixmult iirbank reverb aes viterbi beamformer pulsecompression radar
            channelvocoder stereo tde mpeg2 phasevocoder serpent);
    };
}

pub(crate) use {programs, programs_of_the_suite};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_string()
}

/// Ways to run a program.
pub const INTERPRETED: (bool, BackEnd) = (true, BackEnd::Auto);
pub const COMPILED: (bool, BackEnd) = (false, BackEnd::Cc);
pub const MADE: (bool, BackEnd) = (false, BackEnd::Jit);

/// What a program gives; a warning is an error.
pub fn run(program: &Path, input: &[u32], (interpret, back_end): (bool, BackEnd), work: &Path) -> Vec<u32> {
    let (from, to) = (work.join("in.raw"), work.join("out.raw"));
    std::fs::write(&from, bytes(input)).unwrap();
    let options = ProgramOptions {
        files: vec![text(program)],
        levels: vec![("warnings".into(), Level::Deny)],
        ..ProgramOptions::default()
    };
    let bindings = Bindings { input: Some(text(&from)), output: Some(text(&to)), ..Bindings::default() };
    let how = RunOptions { bindings, interpret, back_end, ..RunOptions::default() };
    let exit = commands::run(&options, CodeChoices::default(), &NativeOptions::default(), how);
    assert_eq!(exit, Exit::Ok, "{}", program.display());
    words(&std::fs::read(&to).unwrap())
}

pub fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|w| f32::from_bits(*w)).collect()
}
