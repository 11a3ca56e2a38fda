//! The main job: a piece of music, broadcast on FM and decoded again, comes back with at least 20 dB signal to noise.
#![allow(clippy::disallowed_methods)] // tests read files and start the command

use std::path::Path;
use std::process::Command;

fn sluice(args: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Command::new(env!("CARGO_BIN_EXE_sluice")).current_dir(root).arg("run").args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// The samples of a 16-bit mono WAV file.
fn samples(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    let at = bytes.windows(4).position(|w| w == b"data").unwrap() + 8;
    bytes[at..].chunks_exact(2).map(|b| f64::from(i16::from_le_bytes([b[0], b[1]])) / 32768.0).collect()
}

#[test]
fn the_decoded_sound_is_the_broadcast_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (sound, radio, decoded) = (file("sound.wav"), file("radio.iq"), file("fm.wav"));
    sluice(&["examples/fm-sound.str", "--iterations", "48000", "--output", &sound, "--rate", "48000"]);
    sluice(&["examples/fm-transmitter.str", "--input", &sound, "--output", &radio]);
    sluice(&["examples/fm.str", "--input", &radio, "--output", &decoded, "--rate", "48000"]);
    let (a, b) = (samples(Path::new(&sound)), samples(Path::new(&decoded)));
    let n = a.len().min(b.len()) - 600;
    // the filters delay by a few samples and change the level a little: the best fit counts
    let best = (0..100)
        .map(|delay| {
            let (x, y) = (&a[200 + delay..200 + delay + n], &b[200..200 + n]);
            let gain = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / y.iter().map(|y| y * y).sum::<f64>();
            let noise: f64 = x.iter().zip(y).map(|(x, y)| (x - gain * y).powi(2)).sum();
            10.0 * (x.iter().map(|x| x * x).sum::<f64>() / noise).log10()
        })
        .fold(f64::MIN, f64::max);
    assert!(best >= 20.0, "only {best:.1} dB");
}
