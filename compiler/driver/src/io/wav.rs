//! WAV: headers read and written with hound, samples as [`Number`]s like those of any raw file.

use super::bytes::Bytes;
use super::format::{Number, WavSample};
use crate::exit::Fault;
use hound::{SampleFormat, WavReader, WavSpec};
use std::io::Read;

/// What a WAV file's header says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WavHeader {
    /// Samples per second of each channel.
    pub rate: u32,
    /// Channels, whose samples take turns.
    pub channels: u16,
    /// How a sample stands in the file.
    pub number: Number,
    /// Bytes of sample data; `None` for a stream that does not say.
    pub data: Option<u64>,
}

/// Keeps the bytes of the header, for what hound does not tell.
struct Recorder<'a> {
    bytes: &'a mut Bytes,
    seen: Vec<u8>,
}

impl Read for Recorder<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.bytes.read(out)?;
        if self.seen.len() < 1 << 16 {
            self.seen.extend_from_slice(&out[..n]);
        }
        Ok(n)
    }
}

/// Reads the header; the samples are what follows in `bytes`.
pub fn read_header(bytes: &mut Bytes) -> Result<WavHeader, Fault> {
    let name = bytes.name.clone();
    let mut recorder = Recorder { bytes, seen: Vec::new() };
    let (spec, samples) = match WavReader::new(&mut recorder) {
        Ok(reader) => (reader.spec(), reader.len()),
        Err(e) => {
            return Err(Fault::input(format!("{name} is not a WAV file that can be read: {e}"))
                .help("for bytes without a header give the format, such as --input-format i16"));
        }
    };
    let seen = recorder.seen;
    // Bytes per sample may be more than the bits need (24 bits in 4 bytes): block size over channels.
    let block = seen.windows(4).position(|w| w == b"fmt ").and_then(|at| seen.get(at + 20..at + 22));
    let block = block.map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
    let width = block.checked_div(spec.channels).unwrap_or(0);
    let bits = u32::from(spec.bits_per_sample);
    let number = match (spec.sample_format, width, bits) {
        (SampleFormat::Float, 4, _) => Number::F32,
        (SampleFormat::Int, 1, 1..=8) => Number::Wav8,
        (SampleFormat::Int, 2..=4, 1..=32) => Number::Signed(width as u8, 1.0 / 2f64.powi(bits as i32 - 1)),
        _ => {
            return Err(Fault::input(format!(
                "{name}: WAV samples of {bits} bits in {width} bytes are not supported (8, 16, 24, 32 bit integers, 32 bit floats)"
            )));
        }
    };
    // A stream that was written without going back to its header says 0 or all ones.
    let data = u64::from(samples) * u64::from(width);
    let open = data == 0 && bytes.can_wait() || data >= 0xffff_ff00;
    Ok(WavHeader { rate: spec.sample_rate, channels: spec.channels, number, data: (!open).then_some(data) })
}

/// How samples that are written stand in the file.
pub fn number_written(sample: WavSample) -> Number {
    match sample {
        WavSample::I16 => Number::Signed(2, 1.0 / 32768.0),
        WavSample::I24 => Number::Signed(3, 1.0 / 8_388_608.0),
        WavSample::I32 => Number::Signed(4, 1.0 / 2_147_483_648.0),
        WavSample::F32 => Number::F32,
    }
}

/// A header for a file whose length is not known yet; [`patch`] makes it right.
pub fn header(sample: WavSample, channels: u16, rate: u32) -> Vec<u8> {
    let (bits, format) = match sample {
        WavSample::I16 => (16, SampleFormat::Int),
        WavSample::I24 => (24, SampleFormat::Int),
        WavSample::I32 => (32, SampleFormat::Int),
        WavSample::F32 => (32, SampleFormat::Float),
    };
    WavSpec { channels, sample_rate: rate, bits_per_sample: bits, sample_format: format }
        .into_header_for_infinite_file()
}

/// Where in the header sizes stand and what they are for `data` bytes of samples; nothing where they do not fit.
pub fn patch(header_len: usize, data: u64) -> Vec<(u64, [u8; 4])> {
    let padded = data + data % 2;
    let Ok(whole) = u32::try_from(padded + header_len as u64 - 8) else { return Vec::new() };
    vec![(4, whole.to_le_bytes()), (header_len as u64 - 4, (data as u32).to_le_bytes())]
}
