//! # items
//!
//! Purpose: a file of items as numbers that can be compared. Input: bytes, their format and the items' shape. Output: [`Items`], of which
//! any number can be asked; binary files are not taken apart before.

use super::shape::{Kind, Shape};
use crate::io::bytes::Bytes;
use crate::io::format::{self, Format, Number, WavSample};
use crate::io::item::Scalar;
use crate::io::text::{self, Words};
use crate::io::wav::{self, WavHeader};
use std::io::Read;
use std::path::Path;

/// How the numbers stand in the file.
enum Body {
    /// Numbers that were written as text.
    Numbers(Vec<f64>),
    /// Bits, eight to a byte.
    Bits(Vec<u8>),
    /// Numbers of a format.
    Coded { bytes: Vec<u8>, number: Number, real: bool },
    /// The items' own bytes: where each part starts, and the bytes of an item.
    Own { bytes: Vec<u8>, offsets: Vec<usize>, stride: usize },
}

/// The numbers of a file.
pub struct Items {
    /// What an item is made of.
    pub shape: Shape,
    /// Whole items.
    pub count: usize,
    /// What is left after the last whole item, in words.
    pub leftover: Option<String>,
    /// A WAV file's rate and channels.
    pub wav: Option<WavHeader>,
    body: Body,
}

impl Items {
    /// Reads a file's bytes. `name` is what messages call it.
    pub fn of(name: &str, bytes: Vec<u8>, format: Format, shape: &Shape) -> Result<Items, String> {
        let scalar = match shape {
            Shape::Plain(..) | Shape::Complex => shape.kind(0).scalar(),
            Shape::Mixed(_) | Shape::Bytes(_) => None,
        };
        let parts = shape.parts().max(1);
        let make = |body, count: usize, left: usize, unit: &str| Items {
            shape: shape.clone(),
            count,
            leftover: (left > 0).then(|| {
                let s = if left == 1 { "" } else { "s" };
                format!("{name} does not hold a whole number of items: {left} {unit}{s} left over after {count}")
            }),
            wav: None,
            body,
        };
        match (format, scalar) {
            (Format::Raw, Some(Scalar::Bit)) => {
                // The last byte is filled up: what does not make an item is no fault.
                let count = bytes.len() * 8 / parts;
                Ok(make(Body::Bits(bytes), count, 0, "bit"))
            }
            (Format::Raw, _) => {
                let (mut offsets, mut stride) = (Vec::new(), 0);
                if matches!(shape, Shape::Mixed(_)) {
                    for part in 0..parts {
                        offsets.push(stride);
                        stride += shape.kind(part).bytes();
                    }
                }
                let stride = shape.bytes().max(1);
                let (count, left) = (bytes.len() / stride, bytes.len() % stride);
                Ok(make(Body::Own { bytes, offsets, stride }, count, left, "byte"))
            }
            (_, None) => Err(format!("{name}: these items mix kinds of numbers: their format can only be raw")),
            (Format::Text, Some(scalar)) => {
                let numbers = numbers(name, &bytes, scalar)?;
                let (count, left) = (numbers.len() / parts, numbers.len() % parts);
                Ok(make(Body::Numbers(numbers), count, left, "number"))
            }
            (Format::Wav(_), Some(_)) => Err(format!("{name}: a WAV file has a header")),
            (_, Some(scalar)) => {
                let number = Number::of(format).ok_or("a format without numbers")?;
                let wide = number.bytes() * parts;
                let (count, left) = (bytes.len() / wide, bytes.len() % wide);
                Ok(make(Body::Coded { bytes, number, real: scalar.is_real() }, count, left, "byte"))
            }
        }
    }

    /// Reads a file.
    pub fn read(path: &Path, name: &str, format: Format, shape: &Shape) -> Result<Items, String> {
        let fault = |e: std::io::Error| format!("cannot read {name}: {}", crate::exit::plain_io_error(&e));
        let (Format::Wav(_), Some(scalar)) = (format, shape.kind(0).scalar()) else {
            return Items::of(name, std::fs::read(path).map_err(fault)?, format, shape);
        };
        let (mut source, header) = open_wav(path, name)?;
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map_err(fault)?;
        bytes.truncate(header.data.map_or(bytes.len(), |n| usize::try_from(n).unwrap_or(usize::MAX)));
        let wide = header.number.bytes() * shape.parts();
        let count = bytes.len() / wide;
        let body = Body::Coded { bytes, number: header.number, real: scalar.is_real() };
        Ok(Items { shape: shape.clone(), count, leftover: None, wav: Some(header), body })
    }

    /// A number of an item.
    pub fn get(&self, item: usize, part: usize) -> f64 {
        let at = item * self.shape.parts() + part;
        match &self.body {
            Body::Numbers(numbers) => numbers[at],
            Body::Bits(bytes) => f64::from(bytes[at / 8] >> (7 - at % 8) & 1),
            Body::Coded { bytes, number, real } => number.get(&bytes[at * number.bytes()..], *real),
            Body::Own { bytes, offsets, stride } => {
                let kind = self.shape.kind(part);
                let offset = offsets.get(part).copied().unwrap_or(part * kind.bytes());
                let own = &bytes[item * stride + offset..];
                kind.scalar().map_or_else(|| f64::from(own[0]), |scalar| format::get_scalar(scalar, own))
            }
        }
    }

    /// A number as text: the shortest that reads back as the same.
    pub fn show(&self, item: usize, part: usize) -> String {
        show(self.shape.kind(part), self.get(item, part))
    }
}

/// A number of a kind as text.
pub fn show(kind: Kind, value: f64) -> String {
    match kind {
        Kind::Bit | Kind::Int => format!("{}", value as i64),
        Kind::Boolean => format!("{}", value != 0.0),
        Kind::Byte => format!("{:#04x}", value as u8),
        Kind::Float => format!("{:?}", value as f32),
        Kind::Double => format!("{value:?}"),
    }
}

/// Numbers in text.
fn numbers(name: &str, bytes: &[u8], scalar: Scalar) -> Result<Vec<f64>, String> {
    let (mut words, mut at, mut all) = (Words::default(), 0, Vec::new());
    while let (used, Some((range, line))) = words.next(&bytes[at..], true) {
        let word = &bytes[at..][range];
        let mut own = [0; 8];
        if text::parse(word, scalar, &mut own).is_none() {
            return Err(text::fault(name, line, word, scalar).message);
        }
        all.push(format::get_scalar(scalar, &own));
        at += used;
    }
    Ok(all)
}

fn open_wav(path: &Path, name: &str) -> Result<(Bytes, WavHeader), String> {
    let path = path.to_str().ok_or_else(|| format!("cannot read {name}: its path is not UTF-8"))?;
    let mut source = Bytes::open(path).map_err(|f| f.message)?;
    source.name = name.to_string();
    let header = wav::read_header(&mut source).map_err(|f| f.message)?;
    Ok((source, header))
}

/// The format in which a WAV file like this one is written: what is compared with it must have samples of the same kind.
pub fn wav_like(path: &Path, name: &str) -> Result<Format, String> {
    let (_, header) = open_wav(path, name)?;
    let sample = match header.number {
        Number::F32 => WavSample::F32,
        Number::Signed(3, _) => WavSample::I24,
        Number::Signed(4, _) => WavSample::I32,
        Number::Signed(..) => WavSample::I16,
        _ => return Err(format!("{name} has samples of 8 bits, which cannot be written")),
    };
    Ok(Format::Wav(sample))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], format: Format, shape: Shape) -> (Vec<f64>, Option<String>) {
        let items = Items::of("x", bytes.to_vec(), format, &shape).unwrap();
        let get = |i| (0..shape.parts()).map(|p| items.get(i, p)).collect::<Vec<_>>();
        ((0..items.count).flat_map(get).collect(), items.leftover)
    }

    #[test]
    fn formats() {
        let float = Shape::Plain(Kind::Float, 1);
        assert_eq!(all(b"1 -0.5 # no 7\nNaN", Format::Text, Shape::Complex).0, [1.0, -0.5]);
        assert_eq!(
            all(b"1,2;3", Format::Text, Shape::Complex).1.unwrap(),
            "x does not hold a whole number of items: 1 number left over after 1"
        );
        assert_eq!(all(&[0xa0], Format::Raw, Shape::Plain(Kind::Bit, 1)).0, [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(
            all(&[0, 0, 128, 63, 9], Format::Raw, float.clone()),
            (vec![1.0], Some("x does not hold a whole number of items: 1 byte left over after 1".into()))
        );
        assert_eq!(all(&[0xfe, 0xff, 3, 0], Format::I16, float.clone()).0, [-2.0, 3.0]);
        let mixed =
            Shape::Mixed(vec![(".a".into(), Kind::Boolean), (".b".into(), Kind::Int), (".c".into(), Kind::Double)]);
        let mut bytes = vec![1, 254, 255, 255, 255];
        bytes.extend(2.5f64.to_le_bytes());
        assert_eq!(all(&bytes, Format::Raw, mixed.clone()).0, [1.0, -2.0, 2.5]);
        assert_eq!(all(&[7, 8, 9], Format::Raw, Shape::Bytes(2)).0, [7.0, 8.0]);
        assert!(Items::of("x", vec![], Format::Text, &mixed).is_err());
        let fault = Items::of("x", b"1\ntwo".to_vec(), Format::Text, &float).err().unwrap();
        assert_eq!(fault, "x, line 2: `two` is not a number");
        assert_eq!(
            (show(Kind::Float, 0.1f32.into()), show(Kind::Double, 0.1), show(Kind::Byte, 9.0)),
            ("0.1".into(), "0.1".into(), "0x09".into())
        );
    }
}
