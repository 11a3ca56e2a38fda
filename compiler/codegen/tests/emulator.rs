//! The emulator of device code: right kernels are right in every order of their threads, planted faults are reported by name; and the
//! arithmetic of device code is that of native code.
#![allow(clippy::disallowed_methods)] // texts are compiled and run, on files

use sluice_codegen::c::rts as native;
use sluice_codegen::cuda::rts::{EMULATION_FLAGS, EMULATOR, MATH, PROGRAM, append};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const KERNELS: [&str; 10] = [
    "sl_reduce",
    "sl_stage",
    "sl_exchange",
    "sl_rotate",
    "sl_warps",
    "sl_ahead",
    "sl_bytes",
    "sl_shuffle",
    "sl_numbers",
    "sl_many",
];

/// Undefined behaviour of the emulator, or of the kernels, ends the program.
const SANITIZED: [&str; 3] = ["-O0", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"];

/// A device text with these kernels.
fn text(kernels: &str) -> String {
    let mut out = String::new();
    MATH.iter().for_each(|t| append(&mut out, t));
    append(&mut out, kernels);
    out.push_str("#ifdef SL_EMULATE\n");
    [PROGRAM].iter().chain(&EMULATOR).for_each(|t| append(&mut out, t));
    out.push_str("#endif\n");
    out
}

/// The C++ compilers of this machine.
fn compilers() -> Vec<&'static str> {
    let (there, missing): (Vec<_>, Vec<_>) =
        ["g++", "clang++"].into_iter().partition(|c| Command::new(c).arg("--version").output().is_ok());
    assert!(!there.is_empty(), "no C++ compiler: install g++ or clang++");
    for m in missing {
        sluice_skipped::skipped(&format!("there is no {m}, what it makes of device texts is not tested"));
    }
    there
}

fn compile(compiler: &str, flags: &[&str], text: &str, file: &Path, to: &Path) {
    std::fs::write(file, text).unwrap();
    let out = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
        .args(flags)
        .arg(file)
        .arg("-o")
        .arg(to)
        .args(["-lm", "-lpthread", "-ldl"])
        .output()
        .unwrap();
    assert!(out.status.success(), "{compiler} {flags:?}\n{}", String::from_utf8_lossy(&out.stderr));
}

fn output(program: &Path, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// The host, and the kernels as shared objects by different compilers and flags.
struct Built {
    folder: TempDir,
    variants: Vec<PathBuf>,
}

impl Built {
    fn new(variants: &[&[&str]]) -> Built {
        let mut built = Built { folder: tempfile::tempdir().unwrap(), variants: Vec::new() };
        let at = built.folder.path();
        compile("cc", &["-O1"], include_str!("cuda/host.c"), &at.join("host.c"), &at.join("host"));
        for compiler in compilers() {
            for (k, more) in variants.iter().enumerate() {
                let flags = [&EMULATION_FLAGS, *more].concat();
                let to = at.join(format!("{compiler}{k}.so"));
                compile(compiler, &flags, &text(include_str!("cuda/kernels.cu")), &at.join("kernels.cpp"), &to);
                built.variants.push(to);
            }
        }
        built
    }

    fn run(&self, variant: &Path, kernel: &str, faults: &str, seeds: std::ops::Range<u64>) -> Vec<String> {
        let (first, count) = (seeds.start.to_string(), (seeds.end - seeds.start).to_string());
        let library = variant.to_str().unwrap();
        let host = self.folder.path().join("host");
        output(&host, &[library, kernel, faults, &first, &count]).lines().map(String::from).collect()
    }
}

#[test]
fn right_kernels_are_right_in_every_order() {
    let b = Built::new(&[&["-O1"], &SANITIZED, &["-O3"], &["-O1", "-DSL_UCONTEXT"]]);
    for variant in &b.variants {
        for kernel in KERNELS {
            let lines = b.run(variant, kernel, "0", 0..15);
            assert_eq!(lines, vec!["right"; 15], "{kernel}, {}", variant.display());
        }
        // as many threads as blocks can have
        assert_eq!(b.run(variant, "sl_many", "1024", 5..6), ["right"], "{}", variant.display());
    }
}

/// Kernel, fault (as in kernels.cu), and what its reports say: one of these, at every seed.
const FAULTS: &[(&str, u32, &[&str])] = &[
    (
        "sl_reduce",
        1,
        &[
            " reads what thread {} wrote, without a barrier between: shared memory, offset {}",
            " writes what thread {} read, without a barrier between: shared memory, offset {}",
        ],
    ),
    (
        "sl_reduce",
        6,
        &["thread 127 reads 4 bytes that are not in memory: offset 1024, the block has 1024 bytes of shared memory"],
    ),
    ("sl_reduce", 7, &["thread 3 reads what nobody has written yet: shared memory, offset 12"]),
    ("sl_reduce", 8, &["thread 0 waits at a barrier of the block that thread 64 does not reach: it has ended"]),
    (
        "sl_stage",
        3,
        &[
            " reads what block {} wrote in the same launch: c2, from A to B, offset {}",
            " writes what block {} read in the same launch: c2, from A to B, offset {}",
        ],
    ),
    (
        "sl_stage",
        4,
        &[
            " reads what block {} wrote in the same launch: c2, from A to B, offset {}",
            " writes what block {} read in the same launch: c2, from A to B, offset {}",
        ],
    ),
    ("sl_stage", 5, &[" writes what block {} wrote in the same launch: c2, from A to B, offset {}"]),
    (
        "sl_exchange",
        1,
        &[
            " reads what thread {} wrote, without a barrier between: c2, from A to B, offset {}",
            " writes what thread {} read, without a barrier between: c2, from A to B, offset {}",
        ],
    ),
    ("sl_exchange", 6, &[" reads 4 bytes that are not in memory: arena, offset {} of 69888 bytes"]),
    ("sl_exchange", 18, &[" reads 4 bytes that are not within one part of the arena: arena, offset {} of 69888 bytes"]),
    ("sl_exchange", 7, &[" reads what nobody has written yet: c2, from A to B, offset {}"]),
    (
        "sl_rotate",
        10,
        &[
            " reads what block {} wrote with no barrier of the grid between: c{}, offset {}",
            " writes what block {} read with no barrier of the grid between: c{}, offset {}",
        ],
    ),
    ("sl_rotate", 11, &["thread 0 waits at a barrier of the grid that block 2, thread 0 does not reach: it has ended"]),
    (
        "sl_warps",
        12,
        &[
            " reads what thread {} wrote, without a barrier between: shared memory, offset {}",
            " writes what thread {} read, without a barrier between: shared memory, offset {}",
        ],
    ),
    ("sl_warps", 13, &[" comes to named barrier 2 for {} threads, others there are for {}"]),
    (
        "sl_warps",
        14,
        &[
            " reads what thread {} wrote, without a barrier between: shared memory, offset {}",
            " writes what thread {} read, without a barrier between: shared memory, offset {}",
            " arrives at named barrier {} a second time, before those who wait there have gone on",
        ],
    ),
    (
        "sl_warps",
        16,
        &[" waits at named barrier {} for 128 threads, and only {} come to it; thread {} does not: it {}"],
    ),
    (
        "sl_ahead",
        1,
        &[
            " reads what nobody has written yet: shared memory, offset {}",
            " reads where an asynchronous copy of thread {} goes that is not waited for: shared memory, offset {}",
        ],
    ),
    (
        "sl_ahead",
        9,
        &[" reads where an asynchronous copy of thread {} goes that is not waited for: shared memory, offset {}"],
    ),
    (
        "sl_ahead",
        14,
        &[
            " reads where an asynchronous copy of thread {} goes that is not waited for: shared memory, offset {}",
            " writes what thread {} read, without a barrier between: shared memory, offset {}",
        ],
    ),
    ("sl_ahead", 15, &[" waits for an asynchronous copy of what was changed meanwhile: c1, from In to A, offset {}"]),
    ("sl_ahead", 17, &[" copies 16 bytes asynchronously that are not aligned to 16"]),
    (
        "sl_bytes",
        1,
        &[
            " reads what thread {} wrote, without a barrier between: c4, from Bits to B, offset {}",
            " writes what thread {} read, without a barrier between: c4, from Bits to B, offset {}",
        ],
    ),
    (
        "sl_bytes",
        5,
        &[
            "thread 5 writes what thread 6 wrote, without a barrier between: shared memory, offset 6",
            "thread 6 writes what thread 5 wrote, without a barrier between: shared memory, offset 6",
        ],
    ),
    (
        "sl_shuffle",
        2,
        &[
            " reads what nobody has written yet: shared memory, offset {}",
            " reads what thread {} wrote, without a barrier between: shared memory, offset {}",
        ],
    ),
];

/// Whether a line ends as told, where `{}` is anything.
fn ends_as(line: &str, told: &str) -> bool {
    let mut parts = told.split("{}");
    let Some(at) = parts.next().and_then(|first| line.find(first).map(|at| at + first.len())) else { return false };
    let mut rest = &line[at..];
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = if part.is_empty() { "" } else { &rest[at + part.len()..] };
    }
    rest.is_empty()
}

#[test]
fn planted_faults_are_reported_by_name() {
    let b = Built::new(&[&["-O1"], &SANITIZED, &["-O2", "-DSL_UCONTEXT"]]);
    for variant in &b.variants {
        for (kernel, fault, told) in FAULTS {
            // after each fault the right kernel: what was dropped must not be missed
            let lines = b.run(variant, kernel, &format!("{fault},0"), 1..16);
            assert_eq!(lines.len(), 30, "{kernel}, fault {fault}: {lines:#?}");
            for pair in lines.chunks(2) {
                let named = pair[0].starts_with(&format!("kernel {kernel}, block "));
                assert!(named && told.iter().any(|t| ends_as(&pair[0], t)), "{kernel}, fault {fault}: {}", pair[0]);
                assert_eq!(pair[1], "right", "{kernel}, after fault {fault}");
            }
        }
    }
}

/// Threads that read, write and wait at random: the emulator reports where two race by the definition (host.c works that out on its own), and
/// nowhere else.
#[test]
fn races_are_found_and_nothing_else() {
    let b = Built::new(&[&["-O1"]]);
    let lines = b.run(&b.variants[0], "sl_script", "0", 0..1500);
    let count = |line: &str| lines.iter().filter(|l| *l == line).count();
    let (right, races) = (count("right"), count("right: they race"));
    let wrong: Vec<&String> = lines.iter().filter(|l| !l.starts_with("right")).collect();
    assert!(wrong.is_empty() && right + races == 1500, "{wrong:#?}");
    assert!(right > 200 && races > 200, "{right} and {races}");
}

#[test]
fn the_seed_is_the_order() {
    let b = Built::new(&[&["-O1"]]);
    let first = b.run(&b.variants[0], "sl_exchange", "1", 0..40);
    for variant in &b.variants {
        assert_eq!(b.run(variant, "sl_exchange", "1", 0..40), first, "{}", variant.display());
    }
    // each seed for itself, not after others
    for seed in [0, 7, 39] {
        assert_eq!(b.run(&b.variants[0], "sl_exchange", "1", seed..seed + 1)[0], first[seed as usize]);
    }
    let mut different = first.clone();
    different.sort();
    different.dedup();
    assert!(different.len() > 20, "{different:#?}");
}

#[test]
fn sectors_are_counted_by_region_and_direction() {
    let b = Built::new(&[&["-O1"]]);
    for variant in &b.variants {
        // items one beside the other: the second of them begins within a sector
        let lines = b.run(variant, "sl_apart", "1", 3..4);
        let want = [
            "right",
            "c1, from In to A: 16 accesses of warps read 72 sectors, at most 5, 2048 bytes; 0 accesses of warps write 0 sectors, at most 0, 0 bytes",
            "c3, from B to Out: 0 accesses of warps read 0 sectors, at most 0, 0 bytes; 16 accesses of warps write 64 sectors, at most 4, 2048 bytes",
            "other device memory: 0 accesses of warps read 0 sectors, at most 0, 0 bytes; 0 accesses of warps write 0 sectors, at most 0, 0 bytes",
        ];
        assert_eq!(lines, want);
        // 8 apart: each thread a sector of its own
        let lines = b.run(variant, "sl_apart", "8", 3..4);
        assert_eq!(
            lines[1],
            "c1, from In to A: 16 accesses of warps read 512 sectors, at most 32, 2048 bytes; 0 accesses of warps write 0 sectors, at most 0, 0 bytes"
        );
        let lines = b.run(variant, "sl_apart", "2", 3..4);
        assert_eq!(
            lines[1],
            "c1, from In to A: 16 accesses of warps read 128 sectors, at most 8, 2048 bytes; 0 accesses of warps write 0 sectors, at most 0, 0 bytes"
        );
    }
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let b = Built::new(&[&["-O1"]]);
    for variant in &b.variants {
        let lines = b.run(variant, "refused", "0", 0..1);
        let want = include_str!("cuda/refused.expect").lines().collect::<Vec<_>>();
        assert_eq!(lines, want, "{}", lines.join("\n"));
    }
}

/// That CUDA's compilers take the same text, too, is tested in `tests/tests/device_text.rs`.
#[test]
fn all_names_are_there() {
    let folder = tempfile::tempdir().unwrap();
    for compiler in compilers() {
        let at = |name: &str| folder.path().join(name);
        let text = text(include_str!("cuda/everything.cu"));
        compile(compiler, &EMULATION_FLAGS, &text, &at("everything.cpp"), &at("everything.so"));
    }
}

#[test]
fn arithmetic_is_that_of_native_code() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let check = include_str!("cuda/math.c");
    let mut text = String::new();
    native::MATH.iter().for_each(|part| native::append(&mut text, part, native::Parts::default()));
    compile("cc", &native::CC_FLAGS, &format!("{text}\n{check}"), &at.join("math.c"), &at.join("native"));
    let want = output(&at.join("native"), &[]);
    assert_eq!(want.lines().count(), 98);
    let mut text = String::new();
    MATH.iter().for_each(|t| append(&mut text, t));
    append(&mut text, check);
    let common: Vec<&str> = EMULATION_FLAGS.into_iter().filter(|f| *f != "-shared" && *f != "-fPIC").collect();
    let mut variants = vec![vec!["-O0"], vec!["-O1"], vec!["-O3"]];
    // where the processor has fused multiplication and addition, compilers must not use it
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        variants.push(vec!["-O3", "-mfma"]);
    }
    for compiler in compilers() {
        for more in &variants {
            compile(compiler, &[&common, more.as_slice()].concat(), &text, &at.join("math.cpp"), &at.join("device"));
            let got = output(&at.join("device"), &[]);
            for (got, want) in got.lines().zip(want.lines()) {
                assert_eq!(got, want, "{compiler} {more:?}");
            }
            assert_eq!(got.lines().count(), 98, "{compiler} {more:?}");
        }
    }
}
