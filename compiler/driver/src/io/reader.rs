//! Items from outside: any format, any source, in blocks of what is there.

use super::bytes::{Bytes, FILE_BLOCK, More};
use super::format::{self, Format, Number};
use super::item::{ItemType, Scalar};
use super::text::{self, Words};
use super::wav::{self, WavHeader};
use super::{bits, many};
use crate::exit::Fault;
use std::cell::RefCell;

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// So many items, at least one.
    Items(usize),
    /// Nothing yet (only where waiting was not allowed).
    NoneYet,
    /// There will be no further item.
    End,
}

/// Fewer bytes than this are not asked of the system: more are, and wait in the buffer.
const FEWEST_STRAIGHT: usize = 1 << 14;

thread_local! {
    /// Bytes that become floats. Whichever thread reads has its own: they need not go from core to core.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How bytes become items.
enum Decode {
    /// The items' own bytes.
    Raw,
    /// Bits, eight to a byte; how many of the first buffered byte have been taken.
    Bits { taken: usize },
    /// Numbers in binary.
    Numbers { number: Number, scalar: Scalar },
    /// Numbers in text; scalars of an item that is not whole yet.
    Text { scalar: Scalar, words: Words, part: Vec<u8> },
}

/// A source of items.
pub struct Reader {
    bytes: Bytes,
    item: ItemType,
    decode: Decode,
    /// What a WAV header said.
    pub wav: Option<WavHeader>,
    /// Bytes of sample data still to come, where a header says.
    left: Option<u64>,
    /// Bytes (or, in text, numbers) after the last whole item.
    leftover: Option<String>,
    ended: bool,
    /// A fault in the data, found behind items that are whole: told when those have been taken.
    fault: Option<Fault>,
    /// Items given so far.
    pub count: u64,
}

impl Reader {
    /// Opens a source. Without a format: that of the name's extension, text for a terminal, else raw.
    pub fn open(path: &str, format: Option<Format>, item: ItemType) -> Result<Reader, Fault> {
        let bytes = Bytes::open(path)?;
        let guess = match path {
            "-" if bytes.is_terminal() => Some(Format::Text),
            "-" => None,
            _ => Format::of_extension(std::path::Path::new(path)),
        };
        // A guess that cannot be meant (a struct in a .dat file) gives way to raw.
        let guess = guess.filter(|_| item.scalar.is_some());
        Reader::over(bytes, format.or(guess).unwrap_or(Format::Raw), item)
    }

    /// Reads items in a format from bytes.
    pub fn over(mut bytes: Bytes, format: Format, item: ItemType) -> Result<Reader, Fault> {
        let mut header = None;
        let end = bytes.name.clone();
        let decode = match format {
            Format::Raw if item.is_packed() => Decode::Bits { taken: 0 },
            Format::Raw => Decode::Raw,
            Format::Text => {
                let scalar = format::scalar_of(&item, format, &end)?;
                Decode::Text { scalar, words: Words::default(), part: Vec::new() }
            }
            Format::Wav(_) => {
                let scalar = format::scalar_of(&item, format, &end)?;
                let found = wav::read_header(&mut bytes)?;
                format::check_read(&item, scalar, found.number.is_real(), format, &end)?;
                if item.name == "complex" && found.channels != 2 {
                    return Err(Fault::input(format!(
                        "{end} has {} channel{}; complex items need two, real and imaginary part",
                        found.channels,
                        if found.channels == 1 { "" } else { "s" }
                    )));
                }
                header = Some(found);
                Decode::Numbers { number: found.number, scalar }
            }
            _ => {
                let scalar = format::scalar_of(&item, format, &end)?;
                let number = Number::of(format).ok_or_else(|| Fault::internal("a format without numbers"))?;
                format::check_read(&item, scalar, number.is_real(), format, &end)?;
                if number.same_as(scalar) { Decode::Raw } else { Decode::Numbers { number, scalar } }
            }
        };
        let left = header.and_then(|h| h.data);
        Ok(Reader { bytes, item, decode, wav: header, left, leftover: None, ended: false, fault: None, count: 0 })
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        &self.bytes.name
    }

    /// Can a read wait for someone?
    pub fn can_wait(&self) -> bool {
        self.bytes.can_wait()
    }

    /// What was left after the last whole item, in words; known once the end is reached.
    pub fn leftover(&self) -> Option<&str> {
        self.leftover.as_deref()
    }

    /// Up to as many items as `out` holds; waits for the first one where allowed, never for more.
    pub fn read(&mut self, out: &mut [u8], wait: bool) -> Result<Got, Fault> {
        let room = out.len() / self.item.bytes.max(1);
        if room == 0 {
            return Ok(if self.ended { Got::End } else { Got::NoneYet });
        }
        loop {
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            let n = match self.straight(out, room)? {
                0 => self.decode(out, room)?,
                n => n,
            };
            if n > 0 {
                self.count += n as u64;
                return Ok(Got::Items(n));
            }
            if self.ended {
                return Ok(Got::End);
            }
            if self.left == Some(0) {
                self.finish()?;
                continue;
            }
            match self.bytes.more(wait)? {
                More::Some => {}
                More::NoneYet => return Ok(Got::NoneYet),
                More::End => self.finish()?,
            }
        }
    }

    /// Items of a file that pass the buffer by: their bytes are read to where they are wanted, or to a place that this thread's core has in its cache and makes floats from there. 0 where that
    /// is not possible.
    fn straight(&mut self, out: &mut [u8], room: usize) -> Result<usize, Fault> {
        let (wide, number) = match &self.decode {
            Decode::Raw if self.item.flags.is_empty() => (self.item.bytes, None),
            Decode::Numbers { number, scalar: Scalar::F32 } => (number.bytes() * self.item.scalars, Some(*number)),
            _ => return Ok(0),
        };
        let room = room.min(self.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX) / wide));
        if room.saturating_mul(wide) < FEWEST_STRAIGHT {
            return Ok(0);
        }
        let Reader { bytes, item, .. } = self;
        let mut take = |space: &mut [u8]| -> Result<usize, Fault> {
            let got = bytes.straight(space)?.unwrap_or(0);
            let whole = got - got % wide;
            if whole < got {
                bytes.keep(&space[whole..got]);
            }
            Ok(whole / wide)
        };
        let n = match number {
            None => take(&mut out[..room * item.bytes])?,
            Some(number) => SCRATCH.with_borrow_mut(|scratch| {
                scratch.resize(FILE_BLOCK, 0);
                let space = room.min(scratch.len() / wide) * wide;
                let n = take(&mut scratch[..space])?;
                many::put_floats(number, &scratch[..n * wide], out);
                Ok(n)
            })?,
        };
        if let Some(left) = &mut self.left {
            *left -= (n * wide) as u64;
        }
        Ok(n)
    }

    /// The end of the bytes: what is left is not a whole item.
    fn finish(&mut self) -> Result<(), Fault> {
        self.ended = true;
        if crate::interrupt::requested() {
            return Ok(());
        }
        if let Some(missing) = self.left.filter(|left| *left > self.bytes.buffered().len() as u64) {
            let missing = missing - self.bytes.buffered().len() as u64;
            let s = if missing == 1 { "" } else { "s" };
            self.leftover = Some(format!("{} ends {missing} byte{s} before its header says", self.name()));
            return Ok(());
        }
        let mut n = match self.decode {
            Decode::Raw | Decode::Numbers { .. } => {
                self.bytes.buffered().len().min(self.left.unwrap_or(u64::MAX) as usize)
            }
            Decode::Bits { .. } | Decode::Text { .. } => 0,
        };
        if let (Decode::Numbers { number, .. }, Some(header)) = (&self.decode, &self.wav) {
            let before = self.count * (number.bytes() * self.item.scalars) as u64;
            n -= usize::from(n > 0 && wav::ends_in_pad(header, before + n as u64));
        }
        if n > 0 {
            self.leftover = Some(self.describe_leftover(n, "byte"));
        } else if let Some(header) = &self.wav
            && let torn @ 1.. = self.count * self.item.scalars as u64 % u64::from(header.channels)
        {
            let (name, channels, has) = (self.name(), header.channels, if torn == 1 { "has" } else { "have" });
            let why = format!("{name} ends within a frame: {torn} of its {channels} channels {has} a last sample");
            self.leftover = Some(why);
        }
        Ok(())
    }

    fn describe_leftover(&self, n: usize, unit: &str) -> String {
        let (name, ty) = (self.name(), &self.item.name);
        let s = if n == 1 { "" } else { "s" };
        format!("{name} does not hold a whole number of {ty} items: {n} {unit}{s} left over after {} items", self.count)
    }

    /// As many whole items as are buffered and fit.
    fn decode(&mut self, out: &mut [u8], room: usize) -> Result<usize, Fault> {
        let size = self.item.bytes;
        let mut held = self.bytes.buffered();
        if let Some(left) = self.left {
            held = &held[..held.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        }
        let (n, used) = match &mut self.decode {
            Decode::Raw => {
                let n = (held.len() / size).min(room);
                out[..n * size].copy_from_slice(&held[..n * size]);
                let flags = &self.item.flags;
                // most items have none, and are not gone through
                if !flags.is_empty() {
                    for one in out[..n * size].chunks_exact_mut(size) {
                        flags.iter().for_each(|at| one[*at] = u8::from(one[*at] != 0));
                    }
                }
                (n, n * size)
            }
            Decode::Bits { taken } => {
                let n = ((held.len() * 8 - *taken) / size).min(room);
                bits::spread(held, *taken, &mut out[..n * size]);
                let end = *taken + n * size;
                *taken = end % 8;
                (n, end / 8)
            }
            Decode::Numbers { number, scalar } => {
                let (wide, narrow, real) = (number.bytes(), scalar.bytes(), scalar.is_real());
                let mut n = (held.len() / (wide * self.item.scalars)).min(room);
                let mut used = n * wide * self.item.scalars;
                if *scalar == Scalar::F32 {
                    many::put_floats(*number, &held[..used], out);
                } else if *scalar == Scalar::Int {
                    many::put_ints(*number, &held[..used], out);
                } else {
                    let numbers = held[..used].chunks_exact(wide).zip(out.chunks_exact_mut(narrow));
                    for (i, (from, to)) in numbers.enumerate() {
                        let value = number.get(from, real);
                        if format::put_scalar(*scalar, value, to).is_none() {
                            // those before it come first
                            if i >= self.item.scalars {
                                n = i / self.item.scalars;
                                used = n * wide * self.item.scalars;
                                break;
                            }
                            let end = &self.bytes.name;
                            return Err(Fault::input(format!("{end}: {value} is not a bit; a bit is 0 or 1")));
                        }
                    }
                }
                (n, used)
            }
            Decode::Text { .. } => return self.decode_text(out, room),
        };
        self.bytes.consume(used);
        if let Some(left) = &mut self.left {
            *left -= used as u64;
        }
        Ok(n)
    }

    fn decode_text(&mut self, out: &mut [u8], room: usize) -> Result<usize, Fault> {
        let Decode::Text { scalar, words, part } = &mut self.decode else { return Ok(0) };
        let size = self.item.bytes;
        let mut n = 0;
        while n < room {
            let held = self.bytes.buffered();
            let (used, word) = words.next(held, self.ended);
            let Some((range, line)) = word else {
                if self.ended && !part.is_empty() {
                    let numbers = part.len() / scalar.bytes();
                    part.clear();
                    self.bytes.consume(used);
                    self.leftover = Some(self.describe_leftover(numbers, "number"));
                    return Ok(n);
                }
                self.bytes.consume(used);
                break;
            };
            let word = &held[range];
            let mut bytes = [0; 8];
            if text::parse(word, *scalar, &mut bytes).is_none() {
                let fault = text::fault(&self.bytes.name, line, word, *scalar);
                if n == 0 {
                    return Err(fault);
                }
                self.fault = Some(fault);
                return Ok(n);
            }
            part.extend_from_slice(&bytes[..scalar.bytes()]);
            self.bytes.consume(used);
            if part.len() == size {
                out[n * size..][..size].copy_from_slice(part);
                part.clear();
                n += 1;
            }
        }
        Ok(n)
    }
}
