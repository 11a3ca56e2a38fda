//! A program with a kernel, written by hand, runs on the emulated device as on the CPU; what it forgets is seen.

use super::arch::TESTED;
use super::check;
use super::compile::{self, KernelOptions};
use super::device::{Attached, Device, Stream};
use super::emulate::Emulator;
use super::run::{self, Texts};
use crate::cache::Cache;
use crate::cc::{CcOptions, Compiler, Product};
use crate::exit::{Exit, Fault};
use crate::io::host::{Bindings, End, Host};
use crate::io::item::ItemType;
use crate::io::sink::Out;
use crate::native::{Native, NativeEnd};
use crate::options::{CodeOptions, CudaOptions, NativeOptions, ProgramOptions};
use crate::pipeline;
use crate::session::Session;
use sluice_codegen::CProgram;
use sluice_frontend::graph::Endpoint;
use sluice_frontend::ids::NodeId;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;
use std::path::{Path, PathBuf};

const HOST: &str = concat!(
    include_str!("../../../codegen/rts/c/sluice_abi.h"),
    include_str!("../../../codegen/rts/c/sluice_device.h"),
    include_str!("tests/twice.c")
);
const DEVICE: &str = include_str!("tests/twice.cu");

fn end(node: u32) -> Vec<End> {
    let item = ItemType::of(&Ty::Int, &Globals::default()).unwrap();
    vec![End { node: NodeId(node), item, endpoint: Endpoint::Open }]
}

/// The plugin; `first`: text before it.
fn plugin(folder: &Path, first: &str) -> Native {
    let (source, object) = (folder.join("p.c"), folder.join("p.so"));
    std::fs::write(&source, format!("{first}{HOST}")).unwrap();
    Compiler::find().unwrap().compile(&source, &object, &CcOptions::default(), Product::Shared).unwrap();
    Native::load(&object).unwrap()
}

fn kernels(folder: &Path, text: &str) -> PathBuf {
    let cache = Cache::at(&folder.join("cache"), 1 << 20);
    compile::emulation_by(&Compiler::find_cxx().unwrap(), &cache, text).unwrap()
}

/// Runs it over the numbers from 0; what comes out, or why nothing does.
fn run(native: &Native, folder: &Path, items: usize) -> Result<Vec<i32>, Fault> {
    let path = |name: &str| Some(folder.join(name).to_str().unwrap().to_string());
    let text: Vec<String> = (0..items).map(|i| i.to_string()).collect();
    std::fs::write(folder.join("in.txt"), text.join(" ")).unwrap();
    let bindings = Bindings { input: path("in.txt"), output: path("out.txt"), ..Bindings::default() };
    let mut host = Host::open_to(&end(0), &end(2), &bindings, Out::to(Box::new(std::io::sink()))).unwrap();
    match native.run(&end(0), &end(2), None, &mut host) {
        Ok(()) => {
            host.finish().unwrap();
            let text = std::fs::read_to_string(folder.join("out.txt")).unwrap();
            Ok(text.lines().map(|l| l.parse().unwrap()).collect())
        }
        Err(NativeEnd::Fault(fault)) => {
            host.abandon();
            Err(fault)
        }
        Err(NativeEnd::Program(e)) => panic!("{e:?}"),
    }
}

fn doubled(items: usize) -> Vec<i32> {
    (0..items as i32).map(|i| i * 2).collect()
}

#[test]
fn a_device_gives_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let (mut native, kernels) = (plugin(folder.path(), ""), kernels(folder.path(), DEVICE));
    assert_eq!(native.kernels(), 1);
    assert_eq!(run(&native, folder.path(), 1234).unwrap(), doubled(1234), "without a device");
    for seed in 0..20 {
        native.attach(Attached::new(Box::new(Emulator::load(&kernels, 4, seed).unwrap())));
        assert_eq!(run(&native, folder.path(), 345).unwrap(), doubled(345), "seed {seed}");
        assert_eq!(run(&native, folder.path(), 0).unwrap(), doubled(0), "the same device a second time");
    }
}

#[test]
fn a_forgotten_wait_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (mut native, kernels) = (plugin(folder.path(), "#define FORGET\n"), kernels(folder.path(), DEVICE));
    let wrong = (0..20).filter(|seed| {
        native.attach(Attached::new(Box::new(Emulator::load(&kernels, 4, *seed).unwrap())));
        run(&native, folder.path(), 345).unwrap() != doubled(345)
    });
    assert!(wrong.count() >= 10);
}

#[test]
#[allow(unsafe_code)] // the interface of devices takes pointers
fn what_comes_back_to_where_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = kernels(folder.path(), DEVICE);
    for seed in 0..20 {
        let mut device = Emulator::load(&kernels, 4, seed).unwrap();
        let mut bytes = [1u8, 2, 3, 4];
        let at = device.allocate(4).unwrap();
        // SAFETY: the array stays until the stream is finished, and nobody else uses it.
        unsafe {
            device.put(Stream::Compute, at, bytes.as_ptr(), 4).unwrap();
            device.get(Stream::Compute, bytes.as_mut_ptr(), at, 4).unwrap();
        }
        device.finish(Stream::Compute).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4], "seed {seed}");
        device.release(at).unwrap();
    }
}

#[test]
fn what_the_emulator_reports_is_our_fault() {
    let text = DEVICE.replace("told.count < 0", "told.count > 0");
    let folder = tempfile::tempdir().unwrap();
    let (mut native, kernels) = (plugin(folder.path(), ""), kernels(folder.path(), &text));
    native.attach(Attached::new(Box::new(Emulator::load(&kernels, 4, 1).unwrap())));
    let fault = run(&native, folder.path(), 13).unwrap_err();
    assert_eq!((fault.exit, fault.code), (Exit::Internal, Some("E0988")));
    let report = "the emulation has found a fault in the generated kernels: kernel twice, block 0, thread 1 reads what nobody has written";
    assert_eq!(fault.message, report);
}

#[test]
fn tables_of_programs_without_kernels_stay_valid() {
    let folder = tempfile::tempdir().unwrap();
    // as the first programs have it: it ends before `kernels`
    let text =
        HOST.replace("{sizeof abi, 1,", "{offsetof(sluice_abi, kernels), 1,").replace("destroy, 1}", "destroy, 77}");
    assert!(text != HOST);
    let (source, object) = (folder.path().join("p.c"), folder.path().join("p.so"));
    std::fs::write(&source, text).unwrap();
    Compiler::find().unwrap().compile(&source, &object, &CcOptions::default(), Product::Shared).unwrap();
    let native = Native::load(&object).unwrap();
    assert_eq!(native.kernels(), 0);
    assert_eq!(run(&native, folder.path(), 5).unwrap(), doubled(5));
}

#[test]
fn from_a_checked_program_to_its_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("twice.str");
    std::fs::write(&file, "int->int filter Twice { work push 1 pop 1 { push(pop() * 2); } }\n").unwrap();
    let program = ProgramOptions { files: vec![file.to_str().unwrap().into()], ..ProgramOptions::default() };
    let mut session = Session::new(&program, false).unwrap();
    let checked = pipeline::check(&mut session, &program).unwrap();
    let code = CodeOptions::default();
    let host = CProgram {
        source: HOST.into(),
        engine: None,
        header: None,
        sites: Vec::new(),
        batch: 1,
        unit: 1,
        bytes: 0,
        fills: None,
    };
    let cuda = CudaOptions { emulate: true, processors: Some(3), ..CudaOptions::default() };
    let mut seen = None;
    let made = run::prepare(&mut session, &checked, &code, &NativeOptions::default(), &cuda, |_, _, _, _, target| {
        seen = Some(target.clone());
        Ok(Texts {
            host,
            device: DEVICE.into(),
            kernels: vec!["twice".into()],
            registers: None,
            tiles: Vec::new(),
            own: None,
        })
    });
    let native = made.unwrap().native;
    assert_eq!(seen.map(|t| (t.processors, t.arch)), Some((3, None)));
    assert_eq!(run(&native, folder.path(), 345).unwrap(), doubled(345));
}

#[test]
fn the_same_text_is_compiled_for_gpus() {
    let Some(nvrtc) = check::nvrtc("the_same_text_is_compiled_for_gpus") else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path(), 1 << 20);
    for arch in TESTED {
        let image = compile::image_by(&nvrtc, &cache, DEVICE, arch, KernelOptions::default()).unwrap();
        let names: Vec<&str> = image.resources.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["twice"], "{arch}");
        assert!(!image.resources[0].spills());
    }
}
