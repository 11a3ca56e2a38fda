//! The formats of files at the ends of a program, and the numbers in them.
//!
//! One rule joins files and items: a file is a sequence of numbers, and an item takes as many numbers as it has scalars
//! (complex two, `float3` three, `float[8]` eight). Structs that mix kinds of scalars are raw only.

use super::item::{ItemType, Scalar};
use crate::exit::Fault;
use std::path::Path;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The items' own bytes, little-endian, bits packed.
    Raw,
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
    /// 16-bit integers.
    I16,
    /// 32-bit integers.
    I32,
    /// Bytes, 0 to 255.
    U8,
    /// Complex numbers of two 32-bit floats.
    C64,
    /// What an RTL-SDR receiver gives: bytes, x standing for (x - 127.5) / 127.5, in pairs.
    Rtl,
    /// WAV; written with 16-bit integers unless another width is asked for.
    Wav(WavSample),
    /// Numbers in text.
    Text,
}

/// The samples of a WAV file that is written. Reading takes what the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WavSample {
    /// 16-bit integers.
    I16,
    /// 24-bit integers.
    I24,
    /// 32-bit integers.
    I32,
    /// 32-bit floats.
    F32,
}

/// Names on the command line, with what they stand for.
pub const NAMES: [(&str, Format); 12] = [
    ("raw", Format::Raw),
    ("f32", Format::F32),
    ("f64", Format::F64),
    ("i16", Format::I16),
    ("i32", Format::I32),
    ("u8", Format::U8),
    ("c64", Format::C64),
    ("rtl", Format::Rtl),
    ("wav", Format::Wav(WavSample::I16)),
    ("wav24", Format::Wav(WavSample::I24)),
    ("wav32", Format::Wav(WavSample::I32)),
    ("wavf", Format::Wav(WavSample::F32)),
];

/// Text has several names.
const TEXT_NAMES: [&str; 3] = ["text", "txt", "csv"];

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<Format> {
        if TEXT_NAMES.contains(&name) {
            return Some(Format::Text);
        }
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
    }

    /// All names, for help and errors.
    pub fn all_names() -> Vec<&'static str> {
        NAMES.iter().map(|(n, _)| *n).chain(["text"]).collect()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, f)| *f == self).map_or("text", |(n, _)| n)
    }

    /// The format that a file's extension stands for.
    pub fn of_extension(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "wav" | "wave" => Format::Wav(WavSample::I16),
            "f32" | "float" => Format::F32,
            "f64" | "double" => Format::F64,
            "i16" | "s16" | "cs16" | "sc16" => Format::I16,
            "i32" | "s32" => Format::I32,
            "u8" => Format::U8,
            "c64" | "cf32" | "fc32" | "cfile" => Format::C64,
            "iq" | "cu8" | "rtl" => Format::Rtl,
            "txt" | "text" | "csv" | "dat" => Format::Text,
            _ => return None,
        })
    }
}

/// How one number stands in a binary file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
    /// Signed, this many bytes (2, 3, 4), multiplied by the scale for real items.
    Signed(u8, f64),
    /// Unsigned byte.
    U8,
    /// An unsigned byte as in 8-bit WAV: minus 128, multiplied by 1/128 for real items.
    Wav8,
    /// A byte of an RTL-SDR.
    Rtl,
}

impl Number {
    /// Bytes in the file.
    pub fn bytes(self) -> usize {
        match self {
            Number::F32 => 4,
            Number::F64 => 8,
            Number::Signed(n, _) => usize::from(n),
            Number::U8 | Number::Wav8 | Number::Rtl => 1,
        }
    }

    /// Does the file hold fractions?
    pub fn is_real(self) -> bool {
        matches!(self, Number::F32 | Number::F64 | Number::Rtl)
    }

    /// The number at the start of `bytes`, for a real item or an integer one.
    pub fn get(self, bytes: &[u8], real: bool) -> f64 {
        match (self, bytes) {
            (Number::F32, [a, b, c, d, ..]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
            (Number::F64, [a, b, c, d, e, f, g, h, ..]) => f64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            (Number::Signed(2, scale), [a, b, ..]) => {
                f64::from(i16::from_le_bytes([*a, *b])) * if real { scale } else { 1.0 }
            }
            (Number::Signed(3, scale), [a, b, c, ..]) => {
                f64::from(i32::from_le_bytes([0, *a, *b, *c]) >> 8) * if real { scale } else { 1.0 }
            }
            (Number::Signed(_, scale), [a, b, c, d, ..]) => {
                f64::from(i32::from_le_bytes([*a, *b, *c, *d])) * if real { scale } else { 1.0 }
            }
            (Number::U8, [a, ..]) => f64::from(*a),
            (Number::Wav8, [a, ..]) => (f64::from(*a) - 128.0) * if real { 1.0 / 128.0 } else { 1.0 },
            (Number::Rtl, [a, ..]) => (f64::from(*a) - 127.5) / 127.5,
            _ => 0.0,
        }
    }

    /// Writes a number to `out`, which has room for it alone; integers are rounded to the nearest (halves away from zero) and limited to their range.
    pub fn put(self, value: f64, real: bool, out: &mut [u8]) {
        let byte = |x: f64| whole(x, 0.0, 255.0) as u8;
        match self {
            Number::F32 => out.copy_from_slice(&(value as f32).to_le_bytes()),
            Number::F64 => out.copy_from_slice(&value.to_le_bytes()),
            Number::Signed(n, scale) => {
                let value = if real { value / scale } else { value };
                let top = f64::from(1u32 << (u32::from(n) * 8 - 1));
                out.copy_from_slice(&whole(value, -top, top - 1.0).to_le_bytes()[..usize::from(n)]);
            }
            Number::U8 => out[0] = byte(value),
            Number::Wav8 => out[0] = byte(value * if real { 128.0 } else { 1.0 } + 128.0),
            Number::Rtl => out[0] = byte(value * 127.5 + 127.5),
        }
    }

    /// The number of a raw format.
    pub fn of(format: Format) -> Option<Number> {
        Some(match format {
            Format::F32 | Format::C64 => Number::F32,
            Format::F64 => Number::F64,
            Format::I16 => Number::Signed(2, 1.0),
            Format::I32 => Number::Signed(4, 1.0),
            Format::U8 => Number::U8,
            Format::Rtl => Number::Rtl,
            Format::Raw | Format::Wav(_) | Format::Text => return None,
        })
    }

    /// Are the file's bytes the item's bytes?
    pub fn same_as(self, scalar: Scalar) -> bool {
        matches!(
            (self, scalar),
            (Number::F32, Scalar::F32) | (Number::F64, Scalar::F64) | (Number::Signed(4, 1.0), Scalar::Int)
        )
    }
}

/// The nearest whole number, halves away from zero, within limits that are ints; 0 for what is no number.
#[inline(always)]
#[allow(unsafe_code)] // without it, a conversion for vectors is many instructions
pub fn whole(value: f64, least: f64, most: f64) -> i32 {
    let value = if value > least {
        value
    } else if value <= least {
        least
    } else {
        0.0
    };
    let value = if value < most { value } else { most };
    // SAFETY: it is a number within limits that are ints.
    let cut: i32 = unsafe { value.to_int_unchecked() };
    // exact: what is cut off is farther right than what is left
    let rest = value - f64::from(cut);
    cut + i32::from(rest >= 0.5) - i32::from(rest <= -0.5)
}

/// The scalar of items that a format other than raw can carry, or why it cannot.
pub fn scalar_of(item: &ItemType, format: Format, end: &str) -> Result<Scalar, Fault> {
    item.scalar.ok_or_else(|| {
        Fault::usage(format!(
            "{end}: items of type {} mix kinds of numbers, which the format {} cannot hold",
            item.name,
            format.name()
        ))
        .help("use the format raw: the items' own bytes")
    })
}

/// Refuses to read fractions into items without.
pub fn check_read(item: &ItemType, scalar: Scalar, real: bool, format: Format, end: &str) -> Result<(), Fault> {
    if real && !scalar.is_real() {
        return Err(Fault::usage(format!(
            "{end}: the format {} holds fractions, which items of type {} cannot keep",
            format.name(),
            item.name
        ))
        .help("give the format the file really has (raw, i16, i32, u8, text), or let the entry take float and cast in the program"));
    }
    Ok(())
}

/// One scalar of an item as a number.
pub fn get_scalar(scalar: Scalar, bytes: &[u8]) -> f64 {
    match (scalar, bytes) {
        (Scalar::Bit | Scalar::Bool, [a, ..]) => f64::from(u8::from(*a != 0)),
        (Scalar::Int, [a, b, c, d, ..]) => f64::from(i32::from_le_bytes([*a, *b, *c, *d])),
        (Scalar::F32, [a, b, c, d, ..]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
        (Scalar::F64, [a, b, c, d, e, f, g, h, ..]) => f64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
        _ => 0.0,
    }
}

/// Writes a number as one scalar of an item; `None` for a bit that is neither 0 nor 1.
pub fn put_scalar(scalar: Scalar, value: f64, out: &mut [u8]) -> Option<()> {
    match scalar {
        Scalar::Bit if value != 0.0 && value != 1.0 => return None,
        Scalar::Bit | Scalar::Bool => out[0] = u8::from(value != 0.0),
        Scalar::Int => out[..4].copy_from_slice(&(value as i32).to_le_bytes()),
        Scalar::F32 => out[..4].copy_from_slice(&(value as f32).to_le_bytes()),
        Scalar::F64 => out[..8].copy_from_slice(&value.to_le_bytes()),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions() {
        for (name, format) in NAMES {
            assert_eq!(Format::named(name), Some(format));
            assert_eq!(format.name(), name);
        }
        assert_eq!(Format::named("csv"), Some(Format::Text));
        assert_eq!(Format::named("mp3"), None);
        assert_eq!(Format::of_extension(Path::new("x/y.IQ")), Some(Format::Rtl));
        assert_eq!(Format::of_extension(Path::new("y.wav")), Some(Format::Wav(WavSample::I16)));
        assert_eq!(Format::of_extension(Path::new("y")), None);
    }

    #[test]
    fn numbers_there_and_back() {
        let wav16 = Number::Signed(2, 1.0 / 32768.0);
        for number in [
            wav16,
            Number::Signed(3, 1.0 / 8388608.0),
            Number::Signed(4, 1.0 / 2147483648.0),
            Number::F32,
            Number::F64,
            Number::Wav8,
        ] {
            let mut out = vec![0; number.bytes()];
            number.put(-0.5, true, &mut out);
            assert_eq!(number.get(&out, true), -0.5, "{number:?}");
        }
        let of = |number: Number, value: f64| {
            let mut out = vec![0; number.bytes()];
            number.put(value, true, &mut out);
            out
        };
        assert_eq!((of(wav16, 1.5), of(wav16, f64::NAN)), (vec![0xff, 0x7f], vec![0, 0]));
        assert_eq!((of(Number::U8, -3.0), of(Number::Rtl, 1.0)), (vec![0], vec![255]));
        assert_eq!(of(Number::Signed(2, 1.0), 2.5), [3, 0]);
        assert_eq!(Number::Rtl.get(&[0], true), -1.0);
    }

    #[test]
    fn nearest_whole_numbers() {
        let by_round = |x: f64, least: f64, most: f64| x.round().clamp(least, most) as i32;
        let halves = (-600..600).map(|i| f64::from(i) * 0.5);
        let odd = [
            0.49999999999999994,
            2147483646.5,
            2147483647.4,
            2147483648.0,
            1e300,
            f64::INFINITY,
            f64::MIN_POSITIVE,
            0.3,
            127.49999999999999,
        ];
        for x in halves.chain(odd).flat_map(|x| [x, -x, f64::NAN]) {
            for (least, most) in [(0.0, 255.0), (-32768.0, 32767.0), (-2147483648.0, 2147483647.0)] {
                assert_eq!(whole(x, least, most), by_round(x, least, most), "{x} {least} {most}");
            }
        }
    }
}
