//! Items to the outside: any format, any sink.

use super::format::{self, Format, Number};
use super::item::{ItemType, Scalar};
use super::sink::{SharedOut, Sink};
use super::wav;
use super::{bits, many, text};
use crate::exit::Fault;
use std::path::Path;

/// How items become bytes.
enum Encode {
    Raw,
    /// Bits, eight to a byte: those of a byte that is not whole yet.
    Bits(bits::Held),
    Numbers {
        number: Number,
        scalar: Scalar,
    },
    Text {
        scalar: Scalar,
    },
}

/// Numbers about a WAV file that is written.
struct WavState {
    header: usize,
    channels: u16,
    data: u64,
    number: Number,
}

/// What the command line says about WAV output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WavOptions {
    /// Samples per second.
    pub rate: u32,
    /// Channels.
    pub channels: u16,
}

/// A sink of items.
pub struct Writer {
    sink: Sink,
    name: String,
    item: ItemType,
    encode: Encode,
    wav: Option<WavState>,
    scratch: Vec<u8>,
    /// Items taken so far.
    pub count: u64,
}

impl Writer {
    /// Opens a sink. Without a format: that of the name's extension, text for a terminal, else raw.
    pub fn open(
        path: &str,
        format: Option<Format>,
        item: ItemType,
        wav: WavOptions,
        out: &SharedOut,
    ) -> Result<Writer, Fault> {
        let name = if path == "-" { "standard output".to_string() } else { path.to_string() };
        let terminal = path == "-" && Sink::open(path, out)?.is_terminal();
        let guess = match path {
            "-" => terminal.then_some(Format::Text),
            _ => Format::of_extension(Path::new(path)),
        };
        let guess = guess.filter(|_| item.scalar.is_some());
        let format = format.or(guess).unwrap_or(Format::Raw);
        let mut state = None;
        let mut header = Vec::new();
        let encode = match format {
            Format::Raw if item.is_packed() => Encode::Bits(bits::Held::default()),
            Format::Raw => Encode::Raw,
            Format::Text => Encode::Text { scalar: format::scalar_of(&item, format, &name)? },
            Format::Wav(sample) => {
                let scalar = format::scalar_of(&item, format, &name)?;
                if wav.channels == 0 || wav.rate == 0 {
                    return Err(Fault::usage("a WAV file needs at least one channel and one sample per second"));
                }
                header = wav::header(sample, wav.channels, wav.rate);
                let number = wav::number_written(sample);
                state = Some(WavState { header: header.len(), channels: wav.channels, data: 0, number });
                Encode::Numbers { number, scalar }
            }
            _ => {
                let scalar = format::scalar_of(&item, format, &name)?;
                let number = Number::of(format).ok_or_else(|| Fault::internal("a format without numbers"))?;
                if number.same_as(scalar) { Encode::Raw } else { Encode::Numbers { number, scalar } }
            }
        };
        let mut sink = Sink::open(path, out)?;
        sink.write(&header)?;
        Ok(Writer { sink, name, item, encode, wav: state, scratch: Vec::new(), count: 0 })
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Standard output?
    pub fn is_stdout(&self) -> bool {
        self.sink.is_stdout()
    }

    /// Has the reader gone?
    pub fn is_broken(&self) -> bool {
        self.sink.is_broken()
    }

    /// Takes whole items.
    pub fn write(&mut self, items: &[u8]) -> Result<(), Fault> {
        self.count += (items.len() / self.item.bytes) as u64;
        match &mut self.encode {
            Encode::Raw => return self.sink.write(items),
            Encode::Bits(held) => {
                held.gather(items, &mut self.scratch);
            }
            Encode::Numbers { number, scalar } => {
                many::take(*number, *scalar, items, &mut self.scratch);
            }
            Encode::Text { scalar } => text::write(&self.item, *scalar, items, &mut self.scratch),
        }
        if let Some(wav) = &mut self.wav {
            wav.data += self.scratch.len() as u64;
        }
        let result = self.sink.write(&self.scratch);
        self.scratch.clear();
        result
    }

    /// Lets a watcher see what was written; called before waiting for input.
    pub fn flush_if_watched(&mut self) -> Result<(), Fault> {
        if self.sink.is_watched() { self.sink.flush() } else { Ok(()) }
    }

    /// Ends the output; gives a remark where something had to be filled up.
    pub fn finish(mut self) -> Result<Option<String>, Fault> {
        let mut remark = None;
        if let Encode::Bits(held) = &self.encode
            && let Some(rest) = held.rest()
        {
            self.sink.write(&[rest])?;
        }
        let mut patches = Vec::new();
        if let Some(wav) = &mut self.wav {
            let frame = wav.number.bytes() as u64 * u64::from(wav.channels);
            let short = (frame - wav.data % frame) % frame;
            if short > 0 {
                let samples = short / wav.number.bytes() as u64;
                let s = if samples == 1 { "" } else { "s" };
                remark = Some(format!("{}: the last frame was filled up with {samples} zero sample{s}", self.name));
                self.sink.write(&vec![0; short as usize])?;
                wav.data += short;
            }
            if wav.data % 2 == 1 {
                self.sink.write(&[0])?;
            }
            patches = wav::patch(wav.header, wav.data);
            if patches.is_empty() {
                remark = Some(format!(
                    "{}: too long for a WAV header; players that trust the header may stop early",
                    self.name
                ));
            }
        }
        self.sink.finish(&patches)?;
        Ok(remark)
    }
}
