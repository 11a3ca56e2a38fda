//! Numbers in text: separated by white space, commas or semicolons; `#` starts a remark.

use super::format::get_scalar;
use super::item::{ItemType, Scalar};
use crate::exit::Fault;

/// The most bytes of a number: what is longer is none, however it arrives. Programs of their own have the same limit (rts/c/sl_file.c).
pub const LONGEST: usize = 1 << 16;

/// Is the byte between numbers? White space is what C takes for it, the vertical tab included.
pub fn separates(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0x0b | b',' | b';')
}

/// Cuts words out of text that arrives in pieces.
#[derive(Default)]
pub struct Words {
    /// The line the next byte is on, from 0.
    pub line: u64,
    in_remark: bool,
}

impl Words {
    /// The next whole word of `text`: bytes to drop (up to and with the word), the word's range, its line from 1. Without a
    /// whole word: the bytes that can be dropped. At the end of the input the last word needs nothing after it.
    pub fn next(&mut self, text: &[u8], ended: bool) -> (usize, Option<(std::ops::Range<usize>, u64)>) {
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if byte == b'\n' {
                self.line += 1;
                self.in_remark = false;
            }
            if byte == b'#' {
                self.in_remark = true;
            }
            if self.in_remark || separates(byte) {
                at += 1;
                continue;
            }
            let end = text[at..].iter().position(|b| separates(*b) || *b == b'#').map(|n| at + n);
            return match end {
                Some(end) => (end, Some((at..end, self.line + 1))),
                // one that is too long is told without waiting for its end
                None if ended || text.len() - at > LONGEST => (text.len(), Some((at..text.len(), self.line + 1))),
                None => (at, None),
            };
        }
        (at, None)
    }
}

/// One scalar from a word.
pub fn parse(word: &[u8], scalar: Scalar, out: &mut [u8]) -> Option<()> {
    let word = std::str::from_utf8(word).ok().filter(|word| word.len() <= LONGEST)?;
    match scalar {
        Scalar::Int => {
            let (minus, digits) = match word.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, word.strip_prefix('+').unwrap_or(word)),
            };
            let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                // Rust takes a sign here, too
                Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => {
                    i64::from(u32::from_str_radix(hex, 16).ok()? as i32)
                }
                Some(_) => return None,
                None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse::<i64>().ok()?,
                None => return None,
            };
            let value = i32::try_from(if minus { -value } else { value }).ok()?;
            out[..4].copy_from_slice(&value.to_le_bytes());
        }
        Scalar::F32 => out[..4].copy_from_slice(&word.parse::<f32>().ok()?.to_le_bytes()),
        Scalar::F64 => out[..8].copy_from_slice(&word.parse::<f64>().ok()?.to_le_bytes()),
        Scalar::Bit | Scalar::Bool => {
            out[0] = match word {
                "1" => 1,
                "0" => 0,
                "true" if scalar == Scalar::Bool => 1,
                "false" if scalar == Scalar::Bool => 0,
                _ => return None,
            }
        }
    }
    Some(())
}

/// What a word should have been.
pub fn expected(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bit => "0 or 1",
        Scalar::Bool => "true or false, 1 or 0",
        Scalar::Int => "a whole number from -2147483648 to 2147483647",
        Scalar::F32 | Scalar::F64 => "a number",
    }
}

/// The fault of a word that is no such scalar.
pub fn fault(end: &str, line: u64, word: &[u8], scalar: Scalar) -> Fault {
    // enough for 40 characters, whatever they are
    let text = String::from_utf8_lossy(&word[..word.len().min(200)]);
    let mut short = String::new();
    for c in text.chars().take(40) {
        match c {
            // what a terminal would not show
            '\0'..'\u{20}' | '\u{7f}' => short.push_str(&format!("\\x{:02x}", u32::from(c))),
            _ => short.push(c),
        }
    }
    if word.len() > LONGEST {
        let why = format!("has more than {LONGEST} bytes, too many for a number");
        return Fault::input(format!("{end}, line {line}: `{short}...` {why}"));
    }
    if text.chars().nth(40).is_some() {
        short.push_str("...");
    }
    Fault::input(format!("{end}, line {line}: `{short}` is not {}", expected(scalar)))
}

/// Appends items, one to a line, their scalars separated by spaces.
pub fn write(item: &ItemType, scalar: Scalar, items: &[u8], out: &mut Vec<u8>) {
    use std::io::Write as _;
    for one in items.chunks_exact(item.bytes) {
        for (i, bytes) in one.chunks_exact(scalar.bytes()).enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            let value = get_scalar(scalar, bytes);
            // Writing to a vector does not fail. The shortest text that reads back as the same number.
            let _ = match scalar {
                Scalar::Bit | Scalar::Int => write!(out, "{}", value as i32),
                Scalar::Bool => write!(out, "{}", value != 0.0),
                Scalar::F32 => write!(out, "{:?}", value as f32),
                Scalar::F64 => write!(out, "{value:?}"),
            };
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_remarks() {
        let text = b" 1,2 # no 3\n;4 55";
        let mut words = Words::default();
        let (mut at, mut found) = (0, Vec::new());
        loop {
            let (used, word) = words.next(&text[at..], true);
            match word {
                Some((r, line)) => {
                    found.push((String::from_utf8_lossy(&text[at + r.start..at + r.end]).to_string(), line))
                }
                None => break,
            }
            at += used;
        }
        let want: Vec<(String, u64)> =
            [("1", 1), ("2", 1), ("4", 2), ("55", 2)].map(|(w, l)| (w.to_string(), l)).to_vec();
        assert_eq!(found, want);
        assert_eq!(Words::default().next(b"  12", false), (2, None));
    }

    #[test]
    fn scalars() {
        let mut out = [0; 8];
        assert!(parse(b"-2147483648", Scalar::Int, &mut out).is_some());
        assert_eq!(out[..4], i32::MIN.to_le_bytes());
        assert!(parse(b"0xFFFFFFFF", Scalar::Int, &mut out).is_some());
        assert_eq!(out[..4], (-1i32).to_le_bytes());
        for bad in ["2147483648", "1.5", "", "-", "--1", "-+1", "x", "0x+5", "0x", "99999999999999999999"] {
            assert!(parse(bad.as_bytes(), Scalar::Int, &mut out).is_none(), "{bad}");
        }
        assert!(parse(b"1e-3", Scalar::F32, &mut out).is_some());
        assert!(parse(b"2", Scalar::Bit, &mut out).is_none());
    }
}
