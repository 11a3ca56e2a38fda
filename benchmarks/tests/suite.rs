//! The programs of the suite, without a warning, give what their plain C references give and what libraries give: interpreted and as
//! native code. And they are of the size that the suite says.

#![allow(clippy::disallowed_methods)] // tests read and write files

use sluice_benchmarks::beside::{Plain, Program, Python, bytes, compile, words};
use sluice_benchmarks::suite::{Benchmark, Counts, SUITE, signals, work};
use sluice_driver::commands;
use sluice_driver::exit::Exit;
use sluice_driver::io::host::Bindings;
use sluice_driver::options::{CodeChoices, Level, NativeOptions, ProgramOptions, RunOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Items of input, at least: enough for the longest delay of the reverberation.
const ITEMS: usize = 5000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_string()
}

/// What a program gives; a warning is an error.
fn run(program: &Path, input: &[u32], interpret: bool, work: &Path) -> Vec<u32> {
    let (from, to) = (work.join("in.raw"), work.join("out.raw"));
    std::fs::write(&from, bytes(input)).unwrap();
    let options = ProgramOptions {
        files: vec![text(program)],
        levels: vec![("warnings".into(), Level::Deny)],
        ..ProgramOptions::default()
    };
    let bindings = Bindings { input: Some(text(&from)), output: Some(text(&to)), ..Bindings::default() };
    let how = RunOptions { bindings, interpret, ..RunOptions::default() };
    let exit = commands::run(&options, CodeChoices::default(), &NativeOptions::default(), how);
    assert_eq!(exit, Exit::Ok, "{}", program.display());
    words(&std::fs::read(&to).unwrap())
}

/// What a C file of the program gives; `None` where what it is linked with is not there.
fn plain(b: &Benchmark, file: &str, flag: &str, link: &str, input: &[u32], work: &Path) -> Option<Vec<u32>> {
    let library = work.join(format!("{file}.so"));
    let flags = ["-std=gnu11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", flag];
    let flags: Vec<&str> = flags.into_iter().filter(|f| !f.is_empty()).collect();
    if let Err(why) = compile("cc", &flags, &b.folder(&root()).join(file), &library, link) {
        assert!(!link.is_empty() && (why.contains("No such file") || why.contains("cannot find")), "{why}");
        return None;
    }
    let widths = (b.input.0.words(), b.output.0.words());
    let mut program = Plain::open(&library, b.name, widths, (b.input.1, b.output.1)).unwrap();
    let mut output = Vec::new();
    // in two parts: what is held between them counts
    let half = input.len() / 2 / (b.input.1 * widths.0) * (b.input.1 * widths.0);
    program.run(&input[..half], &mut output).unwrap();
    program.run(&input[half..], &mut output).unwrap();
    Some(output)
}

fn library(b: &Benchmark, input: &[u32], work: &Path) -> Option<Vec<u32>> {
    if b.peer.file.ends_with(".c") {
        return plain(b, b.peer.file, "", b.peer.link, input, work);
    }
    let (folder, mut output) = (root().join("benchmarks"), Vec::new());
    let mut python = Python::open(Python::find()?, &folder, &b.folder(&root()).join(b.peer.file), input, work).unwrap();
    python.run(input, &mut output).unwrap();
    Some(output)
}

fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|w| f32::from_bits(*w)).collect()
}

#[track_caller]
fn same(what: &str, b: &Benchmark, ours: &[u32], theirs: &[u32], tolerance: f64) {
    assert!(ours.len() > ITEMS / 8, "{what}: only {} words", ours.len());
    match b.compare(ours, theirs, tolerance) {
        Ok(worst) => eprintln!("{}: {what}: within {worst:.1e}, {tolerance:.0e} is allowed", b.name),
        Err(why) => panic!("{}: {what}: {why}", b.name),
    }
}

fn holds(name: &str) {
    let b = SUITE.iter().find(|b| b.name == name).unwrap();
    let (root, folder) = (root(), tempfile::tempdir().unwrap());
    let (work, input) = (folder.path(), b.input(ITEMS));
    assert_eq!(Counts::of(&b.elaborate(&root).unwrap().graph), b.counts);

    let interpreted = run(&b.program(&root, None), &input, true, work);
    let native = run(&b.program(&root, None), &input, false, work);
    assert!(interpreted == native, "{name}: native code and interpreter differ");
    let reference = plain(b, "reference.c", "", "", &input, work).unwrap();
    same("the C reference", b, &native, &reference, b.tolerance);

    let ours = match b.peer.variant {
        None => native,
        Some((variant, flag)) => {
            let program = b.program(&root, Some(variant));
            let native = run(&program, &input, false, work);
            let few = &input[..b.input.1 * b.input.0.words() * 8];
            assert!(
                native.starts_with(&run(&program, few, true, work)),
                "{variant}: native code and interpreter differ"
            );
            let reference = plain(b, "reference.c", flag, "", &input, work).unwrap();
            same("the C reference of the variant", b, &native, &reference, b.tolerance);
            native
        }
    };
    match library(b, &input, work) {
        Some(theirs) => same(b.peer.name, b, &ours, &theirs, b.peer.tolerance),
        None => eprintln!("SKIPPED: {name} against {}, which is not installed", b.peer.name),
    }
}

macro_rules! programs {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            holds(stringify!($name));
        })*

        #[test]
        fn all_are_tested() {
            let names: Vec<&str> = SUITE.iter().map(|b| b.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

programs!(
    bitonic,
    bitonicrec,
    dct,
    des,
    fft,
    filterbank,
    fmradio,
    matrixmult,
    iirbank,
    reverb,
    aes,
    viterbi,
    beamformer,
    pulsecompression,
    radar,
    channelvocoder,
    stereo,
    tde
);

/// A key, a block and its cipher that textbooks print.
#[test]
fn a_known_cipher() {
    let des = SUITE.iter().find(|b| b.name == "des").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cipher = run(&des.program(&root(), Some("des16")), &[0x0123_4567, 0x89AB_CDEF], true, folder.path());
    let digits: String = cipher.iter().map(|c| char::from_u32(*c).unwrap()).collect();
    assert_eq!(digits, "85E813540F0AB405");
}

/// The examples of FIPS PUB 197, appendix C.
#[test]
fn the_standards_blocks() {
    let aes = SUITE.iter().find(|b| b.name == "aes").unwrap();
    let (folder, block) = (tempfile::tempdir().unwrap(), [0x0011_2233, 0x4455_6677, 0x8899_AABB, 0xCCDD_EEFF]);
    let cipher = |variant| run(&aes.program(&root(), variant), &block, true, folder.path());
    assert_eq!(cipher(None), [0x69C4_E0D8, 0x6A7B_0430, 0xD8CD_B780, 0x70B4_C55A]);
    assert_eq!(cipher(Some("aes256")), [0x8EA2_B7CA, 0x5167_45BF, 0xEAFC_4990, 0x4B49_6089]);
}

/// The decoder finds what was sent, though one code bit of 27 arrives wrong.
#[test]
fn the_message_is_decoded() {
    let viterbi = SUITE.iter().find(|b| b.name == "viterbi").unwrap();
    let (folder, input) = (tempfile::tempdir().unwrap(), viterbi.input(20_000));
    let bits = run(&viterbi.program(&root(), None), &input, false, folder.path());
    assert!(bits.len() > 9600 && bits == signals::message(10_000)[..bits.len()]);
}

/// The two targets stand out at their ranges, the weaker one above all side lobes of the stronger one that are far from it.
#[test]
fn pulses_are_compressed() {
    let radar = SUITE.iter().find(|b| b.name == "pulsecompression").unwrap();
    let (folder, input) = (tempfile::tempdir().unwrap(), radar.input(1024));
    let power = floats(&run(&radar.program(&root(), None), &input, false, folder.path()));
    let strongest = |ranges: std::ops::Range<usize>| ranges.max_by(|a, b| power[*a].total_cmp(&power[*b])).unwrap();
    let [(near, _), (far, _)] = signals::RANGES;
    assert_eq!((strongest(0..896), strongest(300..896)), (near, far));
    let floor =
        (0..896usize).filter(|r| r.abs_diff(near) > 8 && r.abs_diff(far) > 2).map(|r| power[r]).fold(0.0, f32::max);
    assert!(floor * 10.0 < power[far] && power[far] * 30.0 < power[near], "{floor} {} {}", power[far], power[near]);
}

/// Every target is found in its cell, and nothing that is not near one.
#[test]
fn targets_are_detected() {
    let radar = SUITE.iter().find(|b| b.name == "radar").unwrap();
    let (folder, input) = (tempfile::tempdir().unwrap(), radar.input(1));
    let cells = floats(&run(&radar.program(&root(), None), &input, false, folder.path()));
    for (range, shift, amplitude) in signals::TARGETS {
        // 26 samples of each pulse add up, and 32 pulses under a window whose mean is 0.53
        let full = (26.0 * 32.0 * 0.53 * amplitude).powi(2);
        let ratio = f64::from(cells[range * 32 + shift]) / full;
        assert!((0.7..1.3).contains(&ratio), "target at {range}, {shift}: {ratio}");
    }
    let near = |i: &usize| {
        signals::TARGETS.iter().any(|(range, shift, _)| {
            (i / 32).abs_diff(*range) <= 1 && [0, 1, 31].contains(&((i % 32).abs_diff(*shift)))
        })
    };
    let false_alarms = (0..cells.len()).filter(|i| cells[*i] > 0.0 && !near(i)).count();
    assert!(cells.len() == 8192 && false_alarms < 40, "{false_alarms}");
}

/// A plane wave from a beam's direction is the strongest in that beam.
#[test]
fn beams_point_where_they_should() {
    let b = SUITE.iter().find(|b| b.name == "beamformer").unwrap();
    let folder = tempfile::tempdir().unwrap();
    for beam in [0, 3, 6] {
        let step = std::f64::consts::PI * (2.0 * f64::from(beam) - 7.0) / 8.0;
        let sample = |i: u32| [(step * f64::from(i % 16)).cos() as f32, (step * f64::from(i % 16)).sin() as f32];
        let input: Vec<u32> = (0..16 * 128).flat_map(sample).map(f32::to_bits).collect();
        let power = floats(&run(&b.program(&root(), None), &input, false, folder.path()));
        let of = |i: usize| power.iter().skip(i).step_by(8).sum::<f32>();
        let strongest = (0..8).max_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap();
        assert!(power.len() >= 8 && strongest == beam as usize, "{beam}: {strongest}");
    }
}

/// What a vowel's period is stays its period.
#[test]
fn the_vocoder_keeps_the_pitch() {
    let b = SUITE.iter().find(|b| b.name == "channelvocoder").unwrap();
    let (folder, input) = (tempfile::tempdir().unwrap(), b.input(20_000));
    let sound = floats(&run(&b.program(&root(), None), &input, false, folder.path()));
    for (from, period) in [(800, 80), (8800, 70), (16800, 60)] {
        let part = &sound[from..from + 2200];
        let of = |lag: usize| part.iter().zip(&part[lag..]).map(|(a, b)| a * b).sum::<f32>();
        let found = (40..120).max_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap();
        assert_eq!(found, period);
    }
}

/// Each side has its tone and nothing of the other's, and the data are those that were sent.
#[test]
fn the_broadcast_is_received() {
    let b = SUITE.iter().find(|b| b.name == "stereo").unwrap();
    let (folder, input) = (tempfile::tempdir().unwrap(), b.input(192 * 26 * 24));
    let items = floats(&run(&b.program(&root(), None), &input, false, folder.path()));
    let blocks = items.chunks_exact(65).filter(|frame| frame[64] != 0.0);
    let blocks: Vec<u32> = blocks.map(|frame| (frame[64] * 65536.0) as u32).collect();
    let sent: Vec<u32> = (0..24).map(|i| (i % 4 + 1) << 16 | signals::group(i as usize / 4)[i as usize % 4]).collect();
    let first = sent.iter().position(|b| *b == blocks[0]).unwrap();
    assert!(blocks.len() >= 18 && sent[first..].starts_with(&blocks), "{blocks:x?}");
    for side in [0, 1] {
        // after 100 frames all filters are full; 190 frames hold whole periods of both tones
        let sound = items.chunks_exact(65).skip(100).take(190).flat_map(|f| f[side..64].iter().step_by(2));
        let [mut own, mut other] = [(0.0, 0.0); 2];
        for (t, x) in sound.enumerate() {
            for (sum, tone) in [(&mut own, side), (&mut other, 1 - side)] {
                let turn = std::f64::consts::TAU * signals::TONES[tone] * t as f64 / 38_000.0;
                *sum = (sum.0 + f64::from(*x) * turn.cos(), sum.1 + f64::from(*x) * turn.sin());
            }
        }
        let [own, other] = [own, other].map(|(re, im)| f64::hypot(re, im) / (190.0 * 32.0 / 2.0));
        assert!(own > 0.4 && other < 0.01, "side {side}: {own} and {other}");
    }
}

/// A tone that reaches each channel at another time and with another strength leaves all alike, 64 samples later.
#[test]
fn channels_are_brought_together() {
    const DELAY: [f64; 8] = [0.0, 1.25, -0.6, 2.4, 3.15, -1.8, 0.45, -2.7];
    const GAIN: [f64; 8] = [1.0, 0.93, 1.08, 1.02, 0.88, 1.15, 0.97, 1.05];
    let b = SUITE.iter().find(|b| b.name == "tde").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tone = |i: usize, delay: f64, gain: f64| {
        let turn = 0.7 * ((i / 8) as f64 + delay);
        [(turn.cos() / gain) as f32, (turn.sin() / gain) as f32]
    };
    let input: Vec<u32> = (0..8 * 512).flat_map(|i| tone(i, DELAY[i % 8], GAIN[i % 8])).map(f32::to_bits).collect();
    let output = floats(&run(&b.program(&root(), None), &input, false, folder.path()));
    // the first whole output is that of sample 128
    let wanted: Vec<f32> = (0..8 * 384).flat_map(|i| tone(i, 64.0, 1.0)).collect();
    let worst = output.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(output.len() == wanted.len() && worst < 0.01, "{} {worst}", output.len());
}

/// The bands together are the input again, 31 samples later.
#[test]
fn the_filter_bank_reconstructs() {
    let bank = SUITE.iter().find(|b| b.name == "filterbank").unwrap();
    let (folder, input) = (tempfile::tempdir().unwrap(), bank.input(1000));
    let output = run(&bank.program(&root(), None), &input, true, folder.path());
    same("delayed by 31", bank, &output[31..], &input[..input.len() - 31], 1e-6);
}

/// The page says what each program moves and computes.
#[test]
fn the_page_says_what_the_work_is() {
    let page = std::fs::read_to_string(root().join("benchmarks/README.md")).unwrap();
    let of = |b| work::row(b, &work::of(b, &root()).map_err(|_| b.name).unwrap());
    let rows: Vec<String> = SUITE.iter().map(of).collect();
    let missing = rows.iter().any(|row| !page.contains(row));
    assert!(!missing, "the table of benchmarks/README.md should be\n{}", rows.join("\n"));
}

/// Every folder with a program belongs to the suite and has what the others have; the page lists them all with their sizes.
#[test]
fn the_folders_and_the_page_agree_with_the_suite() {
    let folder = root().join("benchmarks");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().join(format!("{name}.str")).exists() {
            found.insert(name);
        }
    }
    assert_eq!(found, SUITE.iter().map(|b| b.name.to_string()).collect());
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for b in &SUITE {
        for file in ["README.md", "reference.c", b.peer.file] {
            assert!(b.folder(&root()).join(file).exists(), "{} has no {file}", b.name);
        }
        let of = |counts: Option<Counts>| counts.map_or("| |".into(), |c| format!("{} | {} |", c.nodes, c.peeking));
        let row = format!(
            "| [{}]({}/README.md) | {} | {} {}",
            b.entry,
            b.name,
            b.parameters,
            of(Some(b.counts)),
            of(b.paper)
        );
        let row = row.replace("[Main](des/", "[DES](des/");
        assert!(page.contains(row.trim_end()), "benchmarks/README.md lacks the row\n{row}");
    }
}
