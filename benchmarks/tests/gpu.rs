//! The harness of the GPU's figures, whole, on the emulated device: every program by every scheme gives native code's output to the bit; nothing that is
//! emulated passes for a measurement; what is missing is said. And the page and its charts, of numbers that are made up.

#![allow(clippy::disallowed_methods)] // tests read and write files and start the program

mod common;

use common::root;
use sluice_benchmarks::gpu::conduct::peer;
use sluice_benchmarks::gpu::document::{
    Bank, DeviceFacts, Document, KernelTime, Peaks, ProgramFacts, Run, SCHEMA, Times,
};
use sluice_benchmarks::gpu::measured::too_small;
use sluice_benchmarks::gpu::report::{Roof, markdown, roof, speedup};
use sluice_benchmarks::gpu::work::{Done, Task, VARIANTS};
use sluice_benchmarks::gpu::{charts, paper, probe};
use sluice_benchmarks::suite::SUITE;
use sluice_benchmarks::suite::needed::{self, Needed};
use sluice_benchmarks::suite::work::{self, bytes};
use std::path::Path;
use std::process::{Command, Output};

/// All schemes of a program; of coarsening, four. Of a large one, for which the emulation is slow, three that differ most; of one whose steady
/// state is large as it is, the one that does not need hundreds of them.
fn emulated(program: &str) {
    let b = SUITE.iter().find(|b| b.name == program).unwrap();
    let schemes: Vec<&str> = match b.input.1 {
        _ if b.paper.is_some() || b.counts.nodes <= 60 && b.input.1 <= 200 => {
            VARIANTS.iter().map(|v| v.name).filter(|name| !["SWP", "SWP8", "SWP16"].contains(name)).collect()
        }
        1000.. => vec!["fused"],
        _ => vec!["fused", "Serial", "SWP4"],
    };
    let folder = tempfile::tempdir().unwrap();
    let task = |variant: Option<&str>| Task {
        program: program.into(),
        variant: variant.map(Into::into),
        fast_math: false,
        emulate: true,
        // four steady states at least, else all is done before the device is asked
        batch_bytes: (1 << 11).max(4 * bytes(b).0),
        root: root(),
        work: folder.path().into(),
    };
    let done = |variant| {
        task(variant).prepare().and_then(|p| p.measure()).unwrap_or_else(|e| panic!("{program} {variant:?}: {e}"))
    };
    let Done::Cpu(facts) = done(None) else { panic!("the CPU's") };
    assert!(facts.float_operations + facts.int_operations > 0 && facts.cpu.is_some_and(|t| t.median > 0.0));
    for v in VARIANTS.iter().filter(|v| schemes.contains(&v.name)) {
        let Done::Device(run) = done(Some(v.name)) else { panic!("the device's") };
        assert!(run.words >= 64 && run.difference == 0.0 && run.failed.is_none(), "{program} {}: {run:?}", v.name);
        assert!(run.launches > 0 && run.steady_states > 0 && run.resident.is_some(), "{program} {}: {run:?}", v.name);
        assert_eq!(run.launches, run.kernels.iter().map(|k| k.launches).sum::<usize>(), "{program} {}", v.name);
        assert!(v.name != "Serial" || run.kernels.iter().any(|k| k.predicted.is_some()));
        assert_eq!(
            run.ii.is_some(),
            v.name.to_lowercase().contains("swp") || ["persistent", "profiled"].contains(&v.name)
        );
        assert_eq!(run.configuration, v.profiled.then_some((64, 64)), "{program} {}", v.name);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(left.iter().all(|f| !f.to_string_lossy().contains("want")), "what a scheme needed is gone: {left:?}");
}

common::programs_of_the_suite!(emulated);

fn harness(args: &[&str], out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice-benchmarks"));
    command.arg("gpu").args(args).arg("--out").arg(out).arg("--work").arg(out).arg("--root").arg(root());
    // whatever GPU there is, there is no driver to find
    command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap()
}

#[test]
fn the_whole_run_on_the_emulated_device() {
    let folder = tempfile::tempdir().unwrap();
    let out =
        harness(&["--emulate", "--programs", "fft,bitonic", "--schemes", "fused,Serial", "--jobs", "2"], folder.path());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = std::fs::read_to_string(folder.path().join("gpu-emulated.md")).unwrap();
    assert!(text.contains("**Emulated: not a measurement.**"), "{text}");
    assert!(text.contains("Of 4 runs 4 gave native code's output, 4 of them to the bit"), "{text}");
    let document: Document =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("gpu-emulated.json")).unwrap()).unwrap();
    assert!(document.emulated && document.schema == SCHEMA && document.missing.is_empty(), "{:?}", document.missing);
    assert_eq!((document.programs.len(), document.runs.len(), document.bank.len()), (2, 4, 8));
    assert!(document.peaks.is_some_and(|p| p.bytes > 0.0 && p.int > 0.0 && p.latency_ns > 0.0));
    // no time of the emulation is shown, nor drawn
    let table = text.split("## Against").nth(1).unwrap();
    assert!(table.lines().any(|l| l.starts_with("| fft | not yet measured | not yet measured |")), "{table}");
    let chart = std::fs::read_to_string(folder.path().join("gpu-emulated-figure-10.svg")).unwrap();
    assert!(chart.contains("EMULATED, NOT A MEASUREMENT") && chart.contains("fft, fused: not yet measured"), "{chart}");
    let mut left: Vec<String> =
        std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(
        left,
        ["figure-10.svg", "figure-11.svg", "roof.svg", "json", "md"].map(|end| {
            let between = if end.ends_with("svg") { '-' } else { '.' };
            format!("gpu-emulated{between}{end}")
        })
    );
}

/// What is measured is a batch of the wanted bytes, from the first on, and one that lies in the GPU's memory is not cut into slices: each would be a launch.
#[test]
fn a_batch_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = 32 << 10;
    let task = |variant: Option<&str>| Task {
        program: "fft".into(),
        variant: variant.map(Into::into),
        fast_math: false,
        emulate: true,
        batch_bytes: wanted,
        root: root(),
        work: folder.path().into(),
    };
    let done = |variant| task(variant).prepare().and_then(|p| p.measure()).unwrap();
    done(None);
    let b = SUITE.iter().find(|b| b.name == "fft").unwrap();
    for scheme in ["fused", "SWP4"] {
        let Done::Device(run) = done(Some(scheme)) else { panic!("the device's") };
        let (input, output) = bytes(b);
        assert!(run.steady_states * input.max(output) >= wanted, "{scheme}: {run:?}");
        assert!(scheme != "fused" || run.kernels.iter().all(|k| k.launches == 1), "{run:?}");
        // iterations, and those that drain the pipeline
        assert_eq!(run.intervals as usize, if scheme == "fused" { 0 } else { run.launches }, "{run:?}");
    }
    assert_eq!(too_small(wanted, wanted), None);
    assert!(too_small(wanted - 1, wanted).unwrap().starts_with("too small: "));
}

/// Of a FIR before a decimation by eight one result in eight is needed, and of the products of one behind as many zeroes one in eight; equal filters with the same input are needed once.
#[test]
fn work_that_is_dropped_is_not_needed() {
    let of = |name: &str| {
        let b = SUITE.iter().find(|b| b.name == name).unwrap();
        let all = work::of(b, &root()).unwrap_or_else(|_| panic!("{name} is refused"));
        let Needed { exact, free } = needed::of(b, &root()).unwrap_or_else(|_| panic!("{name} is refused"));
        (exact, free, all.floats)
    };
    // eight branches of two FIRs of 32 taps, and the sum of eight for each of eight items
    assert_eq!(of("filterbank"), (8 * (64 + 64) + 64, 8 * (64 + 64) + 64, 8 * (8 * 64 + 8 * 64) + 64));
    // nine low-passes of 64 taps are there twice, and all of them make one filter that is rounded otherwise
    let (exact, free, all) = of("fmradio");
    assert_eq!(all - exact, 9 * 2 * 64);
    assert!(free < exact / 3, "{free} of {exact}");
    for name in ["bitonic", "dct", "fft", "matrixmult"] {
        let (exact, free, all) = of(name);
        assert!(free <= exact && exact <= all && (free > 0) == (all > 0), "{name}: {free}, {exact} of {all}");
    }
}

#[test]
fn an_emulated_run_is_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let out = harness(&["--emulate"], &folder.path().join("benchmarks/results"));
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stderr).contains("is no result"));
    for (wrong, said) in
        [("--programs", "there is no program x"), ("--schemes", "there is no scheme x"), ("--jobs", "no number")]
    {
        let out = harness(&[wrong, "x"], folder.path());
        assert!(!out.status.success() && String::from_utf8_lossy(&out.stderr).contains(said), "{wrong}");
    }
}

#[test]
fn without_a_gpu_the_page_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = harness(&["--minutes", "0"], folder.path());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(String::from_utf8_lossy(&out.stderr).contains("missing: "));
    let text = std::fs::read_to_string(folder.path().join("gpu.md")).unwrap();
    assert!(text.contains("- GPU: none") && text.contains(concat!("sluice ", env!("CARGO_PKG_VERSION"))), "{text}");
    for b in &SUITE {
        assert!(text.contains(&format!("| {} | not yet measured |", b.name)), "{}", b.name);
    }
}

fn times(median: f64) -> Option<Times> {
    // numbers that are read as they are written
    let part = |n: f64| (median * n).round() / 10.0;
    Some(Times { least: part(9.0), median, greatest: part(11.0), measurements: 15 })
}

/// A GPU that never was.
fn made_up() -> Document {
    let mut d = probe::document(false);
    d.device = Some(DeviceFacts {
        name: "Made Up 9000".into(),
        arch: "sm_90".into(),
        processors: 100,
        clock_mhz: 2000.0,
        ..DeviceFacts::default()
    });
    d.peaks = Some(Peaks { bytes: 4e12, contracted: 60e12, plain: 30e12, int: 20e12, latency_ns: 300.0 });
    for b in &SUITE {
        let floats = if b.name == "fmradio" { 3000 } else { u64::from(b.name == "fft") };
        d.programs.push(ProgramFacts {
            name: b.name.into(),
            input_bytes: 4000,
            output_bytes: 4000,
            float_operations: floats * 1_000_000,
            int_operations: 100,
            needed_operations: None,
            exact_operations: None,
            cpu: times(1000.0),
        });
        for (i, v) in VARIANTS.iter().enumerate() {
            d.runs.push(Run {
                program: b.name.into(),
                variant: v.name.into(),
                words: 10,
                resident: times(10.0 * (i + 1) as f64),
                end_to_end: times(500.0),
                channel_bytes: 777,
                steady_states: if v.name == "SWP4" { 800 } else { 0 },
                intervals: if v.name == "SWP4" { 10 } else { 0 },
                ii: v.name.starts_with("SWP").then_some((4000, 100)),
                configuration: v.profiled.then_some((256, 64)),
                kernels: vec![KernelTime {
                    name: "Main.A".into(),
                    launches: 2,
                    ns: 5.0,
                    predicted: (v.name == "Serial").then_some(500.0),
                }],
                ..Run::default()
            });
        }
    }
    for streams in probe::STREAMS {
        d.bank.push(Bank {
            filters: 32 * streams,
            steps: 64,
            streams,
            period: times(320.0),
            d_c: Some(8 * streams + 2),
        });
    }
    d
}

#[test]
fn the_page_of_made_up_numbers() {
    let mut d = made_up();
    let json = serde_json::to_string(&d).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&json).unwrap(), d);
    assert_eq!(speedup(&d, "fft", "fused"), Some(100.0));
    // 8000 bytes at 4 TB/s are 2 ns; a million operations at 30 Tflop/s 33 ns, with contraction half of that
    let near = |r: Option<Roof>, ns: f64, by: &str| r.is_some_and(|r| (r.ns - ns).abs() < 0.01 && r.by == by);
    assert!(near(roof(&d, "dct", false), 2.0, "memory"));
    assert!(near(roof(&d, "fft", false), 33.333, "floats") && near(roof(&d, "fft", true), 16.667, "floats"));
    let text = markdown(&d);
    let has = |line: &str| assert!(text.contains(line), "{line}\n{text}");
    has(
        "| dct | 1000.0 (900.0 to 1100.0) | 11.11 | 20.00 | 16.67 | 14.29 | 33.33 | 25.00 | 12.50 | 10.00 | 100.00 | 50.00 | 100.00 | yes |",
    );
    has("| geometric mean of the paper's eight | | 11.11 |");
    has("| dct | off | 8000 | 100 | 100 | 2.000 | memory | 10.000 (9.000 to 11.000) | 20.0 | NO |");
    has("| dct | on | 8000 | 100 | 100 | 2.000 | memory | not yet measured | not yet measured | not yet measured |");
    // 50 ns per steady state, a hundred in an interval, at 2 GHz
    has("| dct | SWP | 4000 | 12000 | 3.00 | 0 |");
    // 800 steady states of 70 ns in eight intervals, and two that drain the pipeline
    has("| dct | SWP4 | 4000 | 11200 | 2.80 | 0 |");
    has("| dct | 10.000 (9.000 to 11.000) | 20.000 (18.000 to 22.000) | 0.50 | no |");
    has("| dct | 29360128 | 777 | 777 | 777 |");
    has("| dct | 256 | 64 | 30.000 (27.000 to 33.000) | 40.000 (36.000 to 44.000) | 0.75 |");
    // 500 cycles of 100 multiprocessors at 2 GHz are 2.5 ns
    has("| dct | Main.A | 2.500 | 5.000 | 2.00 | 100.0 % | 100.0 % |");
    has("| 32 | 64 | 1 | 10 | 600.00 |");
    has("| fft | not yet measured | not yet measured | 10.000 (9.000 to 11.000) | not yet measured | |");
    assert_eq!(text.matches("FAILED").count(), 0);
    let pictures = charts::all(&d);
    assert_eq!(pictures.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["figure-10", "figure-11", "roof"]);
    assert!(pictures[0].1.contains("dct, fused: 100.00") && !pictures[0].1.contains("not yet measured"));
    // what is computed and dropped is no work
    d.programs.iter_mut().filter(|p| p.name == "fft").for_each(|p| p.needed_operations = Some(500_000));
    assert!(near(roof(&d, "fft", false), 16.667, "floats"));
    assert!(markdown(&d).contains("| fft | off | 8000 | 1000000 | 500000 | 16.667 | floats |"));
    // and more of it is needed where every bit counts
    d.programs.iter_mut().filter(|p| p.name == "fft").for_each(|p| p.exact_operations = Some(750_000));
    assert!(near(roof(&d, "fft", false), 25.0, "floats"));
    assert!(markdown(&d).contains("| fft | on | 8000 | 1000000 | 500000 |"));
    // one that failed is told, and has no bar
    d.runs[0] = Run {
        program: "bitonic".into(),
        variant: "fused".into(),
        failed: Some("wrong | output\nmore".into()),
        ..Run::default()
    };
    assert!(markdown(&d).contains("- bitonic, fused: FAILED: wrong / output\n"));
    assert!(charts::all(&d)[0].1.contains("bitonic, fused: not yet measured"));
    assert_eq!(
        paper::PUBLISHED.map(|p| p.name).as_slice(),
        SUITE.iter().filter(|b| b.paper.is_some()).map(|b| b.name).collect::<Vec<_>>()
    );
}

#[test]
fn libraries_tell_what_they_took() {
    let good = peer(r#"{"program": "fft", "called": "cuFFT", "ns": [3, 1, 2], "difference": 1e-6}"#).unwrap().unwrap();
    assert_eq!((good.program.as_str(), good.times.median, good.times.measurements), ("fft", 2.0, 3));
    assert_eq!(peer(r#"{"missing": "torch"}"#), Some(Err("torch".into())));
    assert_eq!(peer("Warning: something"), None);
    let python = Command::new("python3").arg(root().join("benchmarks/gpu/peers.py")).arg("/nonexistent").output();
    let Ok(out) = python else {
        return sluice_skipped::skipped("there is no python3: libraries beside a GPU are not asked");
    };
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    for line in String::from_utf8(out.stdout).unwrap().lines() {
        assert!(matches!(peer(line), Some(Err(_))), "{line}");
    }
}

#[test]
fn the_loop_of_c_slow_goes_through_memory() {
    let l2 = 50 << 20;
    for (blocks, block) in [(132, 32), (132 * 16, 128), (4, 32)] {
        let steps = probe::bank_steps((blocks, block), 4 * l2, 64);
        assert!(2 * 4 * u64::from(blocks) * u64::from(block) * steps >= 4 * l2 && steps >= 64);
    }
    assert_eq!(probe::bank_steps((1, 32), 0, 3), 3);
}

#[test]
fn the_probes_are_compiled_by_the_real_compiler() {
    use sluice_driver::cuda::{arch::TESTED, check};
    let Some(nvrtc) = check::nvrtc("the_probes_are_compiled_by_the_real_compiler") else { return };
    for arch in TESTED {
        let all = check::needs(&nvrtc, &probe::text(), arch).unwrap();
        assert_eq!(
            all.iter().filter(|r| r.name.starts_with("bank_") || r.name.starts_with("probe_")).count(),
            8,
            "{arch}"
        );
        assert!(all.iter().all(|r| !r.spills()), "{arch}: {all:?}");
    }
}
