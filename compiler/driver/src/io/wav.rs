//! WAV: headers, read here and written with hound, samples as [`Number`]s like those of any raw file.

use super::bytes::{Bytes, More};
use super::format::{Number, WavSample};
use crate::exit::Fault;
use hound::{SampleFormat, WavSpec};

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

/// The next `n` bytes, few, are in the buffer.
fn need(bytes: &mut Bytes, n: usize) -> Result<(), Fault> {
    while bytes.buffered().len() < n {
        if bytes.more(true)? == More::End {
            return Err(none(&bytes.name, "it ends in its header"));
        }
    }
    Ok(())
}

fn none(name: &str, why: &str) -> Fault {
    Fault::input(format!("{name} is not a WAV file that can be read: {why}"))
        .help("for bytes without a header give the format, such as --input-format i16")
}

/// A number at a place in a header: little-endian, of so many bytes.
fn number(bytes: &[u8], at: usize, wide: usize) -> u32 {
    bytes[at..at + wide].iter().rev().fold(0, |x, b| x << 8 | u32::from(*b))
}

/// Reads the header; the samples are what follows in `bytes`. Programs of their own take and refuse the same (rts/c/sl_wav.c).
pub fn read_header(bytes: &mut Bytes) -> Result<WavHeader, Fault> {
    let name = bytes.name.clone();
    need(bytes, 12)?;
    if !bytes.buffered().starts_with(b"RIFF") || bytes.buffered()[8..12] != *b"WAVE" {
        return Err(none(&name, "no RIFF header"));
    }
    bytes.consume(12);
    let mut found = None;
    loop {
        need(bytes, 8)?;
        let size = u64::from(number(bytes.buffered(), 4, 4));
        let (is_format, is_data) = (bytes.buffered().starts_with(b"fmt "), bytes.buffered().starts_with(b"data"));
        bytes.consume(8);
        if is_data {
            let header: WavHeader = found.ok_or_else(|| none(&name, "no format"))?;
            // A stream that was written without going back to its header says 0 or all ones.
            let open = size == 0 && bytes.can_wait() || size >= 0xffff_ff00;
            return Ok(WavHeader { data: (!open).then_some(size), ..header });
        }
        if is_format {
            let take = size.min(40) as usize;
            if take < 16 {
                return Err(none(&name, "its format is too short"));
            }
            need(bytes, take)?;
            found = Some(read_format(&name, &bytes.buffered()[..take])?);
        }
        // chunks have even lengths
        let mut skip = size + size % 2;
        while skip > 0 {
            need(bytes, 1)?;
            let some = (bytes.buffered().len() as u64).min(skip);
            bytes.consume(some as usize);
            skip -= some;
        }
    }
}

/// What a format chunk of 16 to 40 bytes says.
fn read_format(name: &str, chunk: &[u8]) -> Result<WavHeader, Fault> {
    let (mut tag, channels, rate) = (number(chunk, 0, 2), number(chunk, 2, 2), number(chunk, 4, 4));
    let (block, bits) = (number(chunk, 12, 2), number(chunk, 14, 2));
    if tag == 0xfffe && chunk.len() >= 26 {
        tag = number(chunk, 24, 2);
    }
    // Bytes per sample may be more than the bits need (24 bits in 4 bytes): block size over channels.
    let width = block.checked_div(channels).unwrap_or(0);
    let number = match (tag, width) {
        (3, 4) => Number::F32,
        (3, 8) => Number::F64,
        (1, 1..=4) if bits == 8 * width || (bits, width) == (24, 4) => match width {
            1 => Number::Wav8,
            _ => Number::Signed(width as u8, 1.0 / 2f64.powi(bits as i32 - 1)),
        },
        _ if channels == 0 => {
            return Err(Fault::input(format!("{name} is not a WAV file that can be read: it has no channels")));
        }
        (tag, _) if tag != 1 && tag != 3 => {
            return Err(Fault::input(format!(
                "{name}: WAV samples of format {tag} are not supported (1: integers, 3: floats)"
            )));
        }
        _ => {
            return Err(Fault::input(format!(
                "{name}: WAV samples of {bits} bits in {width} bytes are not supported (integers of 8, 16, 24 and 32 bits, floats of 32 and 64)"
            )));
        }
    };
    Ok(WavHeader { rate, channels: channels as u16, number, data: None })
}

/// Does a stream of so many bytes, whose header does not say how many are samples, end with the byte that makes them an even number?
pub fn ends_in_pad(header: &WavHeader, bytes: u64) -> bool {
    header.data.is_none() && header.number.bytes() == 3 && bytes % 3 == 1 && bytes.is_multiple_of(2)
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
