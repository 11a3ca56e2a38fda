//! What the programs of the suite give where the answer is known otherwise: examples that standards print, messages, targets and tones
//! that were put into the input.

#![allow(clippy::disallowed_methods)] // tests read and write files

mod common;

use common::{COMPILED, INTERPRETED, floats, root, run};
use sluice_benchmarks::beside::words;
use sluice_benchmarks::suite::{Benchmark, SUITE, signals};

fn program(name: &str) -> &'static Benchmark {
    SUITE.iter().find(|b| b.name == name).unwrap()
}

/// A key, a block and its cipher that textbooks print.
#[test]
fn a_known_cipher() {
    let des = program("des");
    let folder = tempfile::tempdir().unwrap();
    let cipher = run(&des.program(&root(), Some("des16")), &[0x0123_4567, 0x89AB_CDEF], INTERPRETED, folder.path());
    let digits: String = cipher.iter().map(|c| char::from_u32(*c).unwrap()).collect();
    assert_eq!(digits, "85E813540F0AB405");
}

/// The examples of FIPS PUB 197, appendix C.
#[test]
fn the_standards_blocks() {
    let aes = program("aes");
    let (folder, block) = (tempfile::tempdir().unwrap(), [0x0011_2233, 0x4455_6677, 0x8899_AABB, 0xCCDD_EEFF]);
    let cipher = |variant| run(&aes.program(&root(), variant), &block, INTERPRETED, folder.path());
    assert_eq!(cipher(None), [0x69C4_E0D8, 0x6A7B_0430, 0xD8CD_B780, 0x70B4_C55A]);
    assert_eq!(cipher(Some("aes256")), [0x8EA2_B7CA, 0x5167_45BF, 0xEAFC_4990, 0x4B49_6089]);
}

/// Set 4, vector 0 of the test vectors of NESSIE, its bytes as ints.
#[test]
fn the_vector_of_nessie() {
    let (folder, path) = (tempfile::tempdir().unwrap(), program("serpent").program(&root(), None));
    let ints = |bytes: [u8; 16]| words(&bytes);
    let block = ints(0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF_u128.to_be_bytes());
    let cipher = ints(0x563E_2CF8_740A_27C1_6480_4560_391E_9B27_u128.to_be_bytes());
    assert_eq!(run(&path, &block, INTERPRETED, folder.path()), cipher);
}

/// The decoder finds what was sent, though one code bit of 27 arrives wrong.
#[test]
fn the_message_is_decoded() {
    let viterbi = program("viterbi");
    let (folder, input) = (tempfile::tempdir().unwrap(), viterbi.input(20_000));
    let bits = run(&viterbi.program(&root(), None), &input, COMPILED, folder.path());
    assert!(bits.len() > 9600 && bits == signals::message(10_000)[..bits.len()]);
}

/// The two targets stand out at their ranges, the weaker one above all side lobes of the stronger one that are far from it.
#[test]
fn pulses_are_compressed() {
    let radar = program("pulsecompression");
    let (folder, input) = (tempfile::tempdir().unwrap(), radar.input(1024));
    let power = floats(&run(&radar.program(&root(), None), &input, COMPILED, folder.path()));
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
    let radar = program("radar");
    let (folder, input) = (tempfile::tempdir().unwrap(), radar.input(1));
    let cells = floats(&run(&radar.program(&root(), None), &input, COMPILED, folder.path()));
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
    let b = program("beamformer");
    let folder = tempfile::tempdir().unwrap();
    for beam in [0, 3, 6] {
        let step = std::f64::consts::PI * (2.0 * f64::from(beam) - 7.0) / 8.0;
        let sample = |i: u32| [(step * f64::from(i % 16)).cos() as f32, (step * f64::from(i % 16)).sin() as f32];
        let input: Vec<u32> = (0..16 * 128).flat_map(sample).map(f32::to_bits).collect();
        let power = floats(&run(&b.program(&root(), None), &input, COMPILED, folder.path()));
        let of = |i: usize| power.iter().skip(i).step_by(8).sum::<f32>();
        let strongest = (0..8).max_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap();
        assert!(power.len() >= 8 && strongest == beam as usize, "{beam}: {strongest}");
    }
}

/// What a vowel's period is stays its period.
#[test]
fn the_vocoder_keeps_the_pitch() {
    let b = program("channelvocoder");
    let (folder, input) = (tempfile::tempdir().unwrap(), b.input(20_000));
    let sound = floats(&run(&b.program(&root(), None), &input, COMPILED, folder.path()));
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
    let b = program("stereo");
    let (folder, input) = (tempfile::tempdir().unwrap(), b.input(192 * 26 * 24));
    let items = floats(&run(&b.program(&root(), None), &input, COMPILED, folder.path()));
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
    let b = program("tde");
    let folder = tempfile::tempdir().unwrap();
    let tone = |i: usize, delay: f64, gain: f64| {
        let turn = 0.7 * ((i / 8) as f64 + delay);
        [(turn.cos() / gain) as f32, (turn.sin() / gain) as f32]
    };
    let input: Vec<u32> = (0..8 * 512).flat_map(|i| tone(i, DELAY[i % 8], GAIN[i % 8])).map(f32::to_bits).collect();
    let output = floats(&run(&b.program(&root(), None), &input, COMPILED, folder.path()));
    // the first whole output is that of sample 128
    let wanted: Vec<f32> = (0..8 * 384).flat_map(|i| tone(i, 64.0, 1.0)).collect();
    let worst = output.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(output.len() == wanted.len() && worst < 0.01, "{} {worst}", output.len());
}

/// The bands together are the input again, 31 samples later.
#[test]
fn the_filter_bank_reconstructs() {
    let bank = program("filterbank");
    let (folder, input) = (tempfile::tempdir().unwrap(), bank.input(1000));
    let output = run(&bank.program(&root(), None), &input, INTERPRETED, folder.path());
    bank.compare(&output[31..], &input[..input.len() - 31], 1e-6).unwrap();
}

/// IEEE 1180-1990: the transform against one in double precision, on that standard's random blocks and by its limits.
#[test]
fn the_inverse_transform_is_accurate() {
    let (folder, idct) = (tempfile::tempdir().unwrap(), program("mpeg2").program(&root(), Some("idct")));
    let cosine = |x: usize, u: usize| {
        let scale = if u == 0 { 0.125f64.sqrt() } else { 0.5 };
        scale * ((2 * x + 1) as f64 * u as f64 * std::f64::consts::PI / 16.0).cos()
    };
    let table: Vec<f64> = (0..64).map(|i| cosine(i / 8, i % 8)).collect();
    // rows, then columns; forward sums over samples, backward over coefficients
    let transform = |block: &[f64], forward: bool| {
        let factor = |to: usize, from: usize| if forward { table[8 * from + to] } else { table[8 * to + from] };
        let pass = |x: &[f64]| -> Vec<f64> {
            let one = |i: usize| (0..8).map(|from| factor(i / 8, from) * x[8 * (i % 8) + from]).sum();
            (0..64).map(one).collect()
        };
        pass(&pass(block))
    };
    for (low, high, sign) in
        [(256, 255, 1.0), (5, 5, 1.0), (300, 300, 1.0), (256, 255, -1.0), (5, 5, -1.0), (300, 300, -1.0)]
    {
        const BLOCKS: usize = 10_000;
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
            let part = f64::from(seed & 0x7FFF_FFFE) / f64::from(0x7FFF_FFFF);
            (part * f64::from(low + high + 1)) as i32 - low
        };
        let (mut input, mut wanted) = (Vec::new(), Vec::new());
        for _ in 0..BLOCKS {
            let block: Vec<f64> = (0..64).map(|_| sign * f64::from(random())).collect();
            let coefficients = transform(&block, true).into_iter().map(|c| c.round().clamp(-2048.0, 2047.0));
            let coefficients: Vec<f64> = coefficients.collect();
            wanted.extend(transform(&coefficients, false).into_iter().map(|x| x.round().clamp(-256.0, 255.0)));
            input.extend(coefficients.iter().map(|c| *c as i32 as u32));
        }
        let output = run(&idct, &input, COMPILED, folder.path());
        let (mut mean, mut square) = ([0.0; 64], [0.0; 64]);
        for (i, (ours, exact)) in output.iter().zip(&wanted).enumerate() {
            let error = f64::from(*ours as i32) - exact;
            assert!(error.abs() <= 1.0, "{low} {high}: {ours} is not {exact}");
            mean[i % 64] += error / BLOCKS as f64;
            square[i % 64] += error * error / BLOCKS as f64;
        }
        let worst = |x: &[f64]| x.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let all = |x: &[f64]| (x.iter().sum::<f64>() / 64.0).abs();
        assert!(output.len() == wanted.len() && worst(&square) <= 0.06 && all(&square) <= 0.02, "{low} {high} {sign}");
        assert!(worst(&mean) <= 0.015 && all(&mean) <= 0.0015, "{low} {high} {sign}: {}", worst(&mean));
    }
    assert_eq!(run(&idct, &[0; 64], INTERPRETED, folder.path()), [0; 64]);
}

/// A tone becomes longer by a quarter and keeps its frequency and its loudness.
#[test]
fn a_tone_is_stretched() {
    let (folder, frequency) = (tempfile::tempdir().unwrap(), 0.0371);
    let tone = |t: usize| (std::f64::consts::TAU * frequency * t as f64).sin() as f32;
    let input: Vec<u32> = (0..16_384).map(|t| tone(t).to_bits()).collect();
    let output = floats(&run(&program("phasevocoder").program(&root(), None), &input, COMPILED, folder.path()));
    assert_eq!(output.len(), (16_384 - 1024 + 256) / 256 * 320);
    let middle = &output[2000..18_000];
    let crossings = middle.windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
    assert!((crossings as f64 - frequency * middle.len() as f64).abs() <= 1.0, "{crossings}");
    let loud = (middle.iter().map(|x| f64::from(x * x)).sum::<f64>() / middle.len() as f64).sqrt();
    assert!((loud - 0.5f64.sqrt()).abs() < 0.02, "{loud}");
}
