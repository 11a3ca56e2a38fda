//! Literals: how far they reach, whether they are well formed, and what their values are.
//!
//! The lexer scans and checks; the parser asks for values later, of malformed literals too, and then gets some value.

use crate::fault::{Fault, FaultKind};
use crate::token::Token;

/// The length of what follows an opening quote, up to and with the closing quote. A line end closes it as well, unless a
/// backslash stands before it.
pub(crate) fn scan_quoted(rest: &str, quote: char) -> usize {
    let bytes = rest.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => {
                i += 1;
                if bytes[i..].starts_with(b"\r\n") {
                    i += 1;
                }
                // Whatever is escaped, all of its bytes.
                i += rest[i..].chars().next().map_or(0, char::len_utf8);
            }
            b'\n' => return i,
            b'\r' if bytes.get(i + 1) == Some(&b'\n') => return i,
            b if b == quote as u8 => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

/// One character of a literal: where its text starts and ends, its value, and what is wrong with it.
struct Piece {
    start: usize,
    end: usize,
    value: Option<char>,
    wrong: Option<FaultKind>,
}

/// Splits a quoted literal (its opening quote included) into characters; tells whether the closing quote is there.
fn pieces(text: &str) -> (Vec<Piece>, bool) {
    let quote = text.as_bytes()[0];
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(text.len());
    let mut i = 1;
    while i < bytes.len() {
        let start = i;
        if bytes[i] == quote {
            return (out, true);
        }
        let c = text[i..].chars().next().expect("i is inside the text and on a character");
        i += c.len_utf8();
        if c != '\\' {
            out.push(Piece { start, end: i, value: Some(c), wrong: None });
            continue;
        }
        let Some(e) = text[i..].chars().next() else { break };
        i += e.len_utf8();
        let (value, wrong) = match e {
            '0'..='7' => {
                let digits_start = i - 1;
                while i < bytes.len() && i < digits_start + 3 && (b'0'..=b'7').contains(&bytes[i]) {
                    i += 1;
                }
                byte_escape(&text[digits_start..i], 8)
            }
            'x' => {
                let digits_start = i;
                while i < bytes.len() && bytes[i].is_ascii_hexdigit() {
                    i += 1;
                }
                byte_escape(&text[digits_start..i], 16)
            }
            'n' => (Some('\n'), None),
            't' => (Some('\t'), None),
            'r' => (Some('\r'), None),
            'a' => (Some('\x07'), None),
            'b' => (Some('\x08'), None),
            'f' => (Some('\x0c'), None),
            'v' => (Some('\x0b'), None),
            '\\' | '\'' | '"' | '?' => (Some(e), None),
            '\n' => (None, None),
            '\r' if bytes.get(i) == Some(&b'\n') => {
                i += 1;
                (None, None)
            }
            _ => (Some(e), Some(FaultKind::BadEscape)),
        };
        out.push(Piece { start, end: i, value, wrong });
    }
    (out, false)
}

/// The character of an octal or hexadecimal escape.
fn byte_escape(digits: &str, radix: u32) -> (Option<char>, Option<FaultKind>) {
    if digits.is_empty() {
        return (None, Some(FaultKind::EmptyHexEscape));
    }
    match u32::from_str_radix(digits, radix) {
        Ok(value) if value <= 255 => (char::from_u32(value), None),
        _ => (Some('?'), Some(FaultKind::EscapeTooLarge)),
    }
}

fn push_faults(pieces: &[Piece], offset: usize, faults: &mut Vec<Fault>) {
    for piece in pieces {
        if let Some(kind) = piece.wrong {
            faults.push(Fault { start: offset + piece.start, end: offset + piece.end, kind });
        }
    }
}

/// Tells what is wrong with a string literal that starts at `offset`.
pub(crate) fn check_string(text: &str, offset: usize, faults: &mut Vec<Fault>) {
    let (pieces, closed) = pieces(text);
    push_faults(&pieces, offset, faults);
    if !closed {
        faults.push(Fault { start: offset, end: offset + text.len(), kind: FaultKind::OpenString });
    }
}

/// Tells what is wrong with a character literal that starts at `offset`.
pub(crate) fn check_char(text: &str, offset: usize, faults: &mut Vec<Fault>) {
    let (pieces, closed) = pieces(text);
    push_faults(&pieces, offset, faults);
    let kind = match (closed, pieces.len()) {
        (false, _) => FaultKind::OpenChar,
        (true, 0) => FaultKind::EmptyChar,
        (true, 1) if pieces[0].wrong.is_some() => return,
        (true, 1) if pieces[0].value.is_some_and(|c| c as u32 <= 255) => return,
        (true, 1) => FaultKind::WideChar,
        (true, _) => FaultKind::LongChar,
    };
    faults.push(Fault { start: offset, end: offset + text.len(), kind });
}

/// The value of a string literal; its text includes the quotes.
pub fn string_value(text: &str) -> String {
    let pieces = pieces(text).0;
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < pieces.len() {
        // bytes that are escaped one by one may be a character together, as in C
        let byte = |p: &&Piece| match p.value {
            Some(c) if text.as_bytes()[p.start] == b'\\' => u8::try_from(u32::from(c)).ok().filter(|b| *b >= 128),
            _ => None,
        };
        let bytes: Vec<u8> = pieces[at..].iter().map_while(|p| byte(&p)).take(4).collect();
        let together = (2..=bytes.len()).find_map(|n| {
            let text = std::str::from_utf8(&bytes[..n]).ok()?;
            Some((n, text.chars().next()?))
        });
        let (n, value) = together.unwrap_or((1, pieces[at].value.unwrap_or('\0')));
        if together.is_some() || pieces[at].value.is_some() {
            out.push(value);
        }
        at += n;
    }
    out
}

/// The value of a character literal; its text includes the quotes.
pub fn char_value(text: &str) -> u8 {
    let value = pieces(text).0.into_iter().find_map(|piece| piece.value);
    value.map_or(0, |c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
}

/// The length of the number at the start of `source`, malformed ones such as `1.` and `3x` included.
pub(crate) fn scan_number(source: &str) -> usize {
    let bytes = source.as_bytes();
    let is_word = |i: usize| bytes.get(i).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let is_digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let hex = is_hex(source);
    let mut i = 0;
    loop {
        let sign = bytes.get(i).is_some_and(|b| matches!(b, b'+' | b'-'));
        let exponent = !hex && i > 0 && matches!(bytes[i - 1], b'e' | b'E') && is_digit(i + 1);
        if is_word(i) || sign && exponent {
            i += 1;
        } else if bytes.get(i) == Some(&b'.') {
            // `1.`, `1..2` and `1.2.3` are one malformed number, not a number and more.
            i += 1;
        } else {
            return i;
        }
    }
}

fn is_hex(text: &str) -> bool {
    text.starts_with("0x") || text.starts_with("0X")
}

/// The parts of a decimal number.
struct Decimal<'s> {
    mantissa: &'s str,
    exponent: bool,
    point: bool,
    /// The point has no digits behind it.
    bare_point: bool,
    suffix: &'s str,
}

fn split_decimal(text: &str) -> Decimal<'_> {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut i = digits(0);
    let point = bytes.get(i) == Some(&b'.');
    let mut bare_point = false;
    if point {
        let end = digits(i + 1);
        bare_point = end == i + 1;
        i = end;
    }
    let mut exponent = false;
    if matches!(bytes.get(i), Some(b'e' | b'E')) {
        let signed = i + 1 + usize::from(matches!(bytes.get(i + 1), Some(b'+' | b'-')));
        let end = digits(signed);
        if end > signed {
            exponent = true;
            i = end;
        }
    }
    Decimal { mantissa: &text[..i], exponent, point, bare_point, suffix: &text[i..] }
}

/// Which token a number is; tells what is wrong with it.
pub(crate) fn classify_number<'s>(text: &'s str, start: usize, faults: &mut Vec<Fault>) -> Token<'s> {
    let mut fault = |kind| faults.push(Fault { start, end: start + text.len(), kind });
    if is_hex(text) {
        if text.len() == 2 {
            fault(FaultKind::EmptyHex);
        } else if !text[2..].bytes().all(|b| b.is_ascii_hexdigit()) {
            fault(FaultKind::BadHexDigit);
        }
        return Token::Int(text);
    }
    let number = split_decimal(text);
    let token = match number.suffix {
        "" if !number.point && !number.exponent => Token::Int(text),
        "i" => Token::Imaginary(text),
        _ => Token::Real(text),
    };
    let bare_point = number.bare_point;
    match number.suffix {
        "" | "f" | "F" | "i" if bare_point => fault(FaultKind::BarePoint),
        "" | "f" | "F" | "i" => match token {
            Token::Int(_) if int_value(text) > 1 << 31 => fault(FaultKind::IntTooLarge),
            Token::Real(_) | Token::Imaginary(_) if real_value(text).is_infinite() => fault(FaultKind::RealTooLarge),
            _ => {}
        },
        suffix if suffix.starts_with('.') => fault(FaultKind::TwoPoints),
        suffix if bare_point && !matches!(suffix.as_bytes()[0], b'e' | b'E') => fault(FaultKind::BarePoint),
        suffix if matches!(suffix.as_bytes()[0], b'e' | b'E') && suffix.len() == 1 => fault(FaultKind::EmptyExponent),
        _ => fault(FaultKind::BadSuffix),
    }
    token
}

/// The value of an integer literal. A hexadecimal one is wrapped into 32 bits.
pub fn int_value(text: &str) -> u64 {
    if is_hex(text) {
        // Only the last eight digits reach into the low 32 bits.
        return text[2..].bytes().fold(0u32, |value, b| value << 4 | char::from(b).to_digit(16).unwrap_or(0)).into();
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold(0u64, |value, b| value.saturating_mul(10).saturating_add(u64::from(b - b'0')))
}

/// The value of a real or imaginary literal, its suffix left out.
pub fn real_value(text: &str) -> f64 {
    split_decimal(text).mantissa.parse().unwrap_or(0.0)
}
