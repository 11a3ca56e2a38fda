//! Bytes of channels on a device: the scheme serial takes no more than the software pipeline that is coarsened eight times, as in "Software Pipelined Execution of
//! Stream Programs on GPUs" (Udupa, Govindarajan, Thazhuthaveetil), section V.

#![allow(clippy::disallowed_methods)] // the test looks at an environment variable

use sluice_driver::cuda::emit;
use sluice_driver::cuda::run::Target;
use sluice_driver::cuda::texts;
use sluice_driver::options::{CodeChoices, CudaOptions, ProgramOptions, Scheme};
use sluice_driver::pipeline;
use sluice_driver::scheduling::Method;
use sluice_driver::session::Session;
use std::path::Path;

/// Those of the paper's table I.
const PROGRAMS: [&str; 8] = ["bitonic", "bitonicrec", "dct", "des", "fft", "filterbank", "fmradio", "matrixmult"];

/// Bytes of the channels of a benchmark on 16 multiprocessors.
fn bytes(program: &str, scheme: Scheme, coarsen: u32, method: Method) -> u64 {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../benchmarks/{program}/{program}.str"));
    let options = ProgramOptions { files: vec![file.display().to_string()], ..ProgramOptions::default() };
    let mut session = Session::new(&options, false).unwrap();
    let checked = pipeline::check(&mut session, &options).unwrap();
    let target = Target { device: None, processors: 16, arch: None, block_shared: 48 << 10, memory: None };
    let cuda =
        CudaOptions { scheme: Some(scheme), coarsen: Some(coarsen), method: Some(method), ..CudaOptions::default() };
    let choices = texts::choices(&cuda, &target).unwrap();
    let code = CodeChoices::default().options(&options);
    let flavour = (sluice_codegen::Flavour::Plugin, "program");
    emit::emit(&mut session, &checked, &code, &choices, flavour).unwrap().program.channel_bytes
}

#[test]
fn serial_takes_no_more_than_swp8() {
    // the integer program's schedules depend on the time that it gets
    let every = std::env::var_os("SLUICE_ALL_SCHEMES").is_some();
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cuda.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    // the manual's columns, without the paper's
    let row = |program: &str| -> [u64; 3] {
        let mut rows = manual.lines().map(|l| l.split('|').map(str::trim).collect::<Vec<_>>());
        let row = rows.find(|r| r.len() == 7 && r[1].eq_ignore_ascii_case(program)).expect("a row of the manual");
        [row[2], row[3], row[4]].map(|n| n.parse().unwrap())
    };
    for program in PROGRAMS {
        for method in [Some(Method::Hms), every.then_some(Method::Ilp)].into_iter().flatten() {
            let bytes = |scheme, coarsen| bytes(program, scheme, coarsen, method);
            let (serial, swp8) = (bytes(Scheme::Serial, 1), bytes(Scheme::Swp, 8));
            let [in_manual, by_ilp, by_hms] = row(program);
            assert_eq!(serial, in_manual, "{program}: the manual's table is of something else");
            assert!(
                by_ilp <= by_hms && (method != Method::Hms || swp8 == by_hms),
                "{program}: the manual says {by_hms}"
            );
            println!("{program}, {}: serial {serial}, swp coarsened by 8 {swp8}", method.name());
            assert!(serial <= swp8, "{program}, {}: {serial} bytes, more than {swp8}", method.name());
            assert!(
                serial > 0 && swp8 >= 2 * bytes(Scheme::Swp, 1),
                "{program}: coarser instances have longer channels"
            );
        }
    }
}
