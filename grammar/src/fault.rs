//! Lexical faults and how they are told.

use crate::diagnostic::{Diagnostic, Fix};
use crate::literal;
use crate::span::{FileId, Span};

/// Something wrong with a token, at bytes `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A character that no token begins with.
    UnknownChar,
    /// `/*` without `*/`.
    OpenComment,
    /// A string that its line does not close.
    OpenString,
    /// A character literal that its line does not close.
    OpenChar,
    /// `\q`
    BadEscape,
    /// `\x` without digits.
    EmptyHexEscape,
    /// `\777` or `\x100`: no byte.
    EscapeTooLarge,
    /// `''`
    EmptyChar,
    /// `'ab'`
    LongChar,
    /// A character beyond 255.
    WideChar,
    /// `0x` without digits.
    EmptyHex,
    /// `0x1g`
    BadHexDigit,
    /// `1.`
    BarePoint,
    /// `1.2.3`
    TwoPoints,
    /// `1e`
    EmptyExponent,
    /// `1u`
    BadSuffix,
    /// A decimal integer beyond 2147483648.
    IntTooLarge,
    /// A real number beyond the range of `double`.
    RealTooLarge,
}

impl Fault {
    /// The fault as a diagnostic of a file with this text.
    pub fn diagnostic(&self, file: FileId, text: &str) -> Diagnostic {
        let at = Span::new(file, self.start, self.end);
        let source = text.get(self.start..self.end).unwrap_or("");
        let error = |code, title: &str, label: &str| Diagnostic::error(code, title, at, label);
        match self.kind {
            FaultKind::UnknownChar => unknown_char(source, at, text.get(self.end..).unwrap_or("")),
            FaultKind::OpenComment => {
                error("E0002", "this comment is never closed", "the comment starts here and runs to the end of the file")
                    .help("close it with `*/`; block comments do not nest")
            }
            FaultKind::OpenString => error("E0003", "this string is never closed", "no `\"` on this line closes it")
                .help("to write a line break into a string, use `\\n`"),
            FaultKind::OpenChar => {
                error("E0003", "this character literal is never closed", "no `'` on this line closes it")
            }
            FaultKind::BadEscape => error("E0004", &format!("unknown escape `{source}`"), "no such escape").help(
                "the escapes are \\n \\t \\r \\a \\b \\f \\v \\\\ \\' \\\" \\?, octal \\0 to \\377 and hexadecimal \\x00 to \\xff; write `\\\\` for a backslash",
            ),
            FaultKind::EmptyHexEscape => {
                error("E0004", "`\\x` needs hexadecimal digits", "no digit follows").help("such as `\\x1b`")
            }
            FaultKind::EscapeTooLarge => {
                error("E0004", &format!("`{source}` does not fit into a byte"), "more than 255")
                    .help("the largest are `\\377` and `\\xff`")
            }
            FaultKind::EmptyChar => error("E0007", "this character literal is empty", "nothing between the quotes")
                .help("a single quote itself is `'\\''`"),
            FaultKind::LongChar => {
                error("E0007", "a character literal holds one character", "more than one character")
                    .help("text goes between double quotes")
            }
            FaultKind::WideChar => {
                error("E0007", "this character does not fit into a byte", "its code is larger than 255")
                    .help("a character literal is a number from 0 to 255")
            }
            FaultKind::EmptyHex => error("E0005", "`0x` needs hexadecimal digits", "no digit follows"),
            FaultKind::BadHexDigit => {
                let wrong = source[2..].chars().find(|c| !c.is_ascii_hexdigit()).unwrap_or('?');
                error("E0005", "malformed hexadecimal number", &format!("`{wrong}` is no hexadecimal digit"))
            }
            FaultKind::BarePoint => {
                let point = source.find('.').unwrap_or(0) + 1;
                let whole = format!("{}0{}", &source[..point], &source[point..]);
                let after = Span::new(file, self.start + point, self.start + point);
                error("E0005", "a number needs digits after its point", &format!("write `{whole}`")).fix(Fix::safe(
                    format!("write `{whole}`"),
                    after,
                    "0",
                ))
            }
            FaultKind::TwoPoints => error("E0005", "malformed number", "a number has one point"),
            FaultKind::EmptyExponent => error("E0005", "the exponent needs digits", "no digit follows the `e`"),
            FaultKind::BadSuffix => {
                let letters = source.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                error("E0005", "malformed number", &format!("`{letters}` cannot follow a number"))
                    .help("a name does not begin with a digit; the suffixes are `f` (real) and `i` (imaginary)")
            }
            FaultKind::IntTooLarge => {
                let diagnostic = error("E0006", "this number is too large for an int", "an int ends at 2147483647");
                let value = literal::int_value(source);
                let real = format!("{source}.0");
                // no fix: whether a real number fits here is not known yet
                let real = format!("for a real number write `{real}`");
                if value <= u64::from(u32::MAX) {
                    let bits = format!("0x{value:X}");
                    let help = format!("{real}, for the bit pattern `{bits}`");
                    diagnostic.help(help).fix(Fix::new(format!("for the bit pattern write `{bits}`"), at, bits))
                } else {
                    diagnostic.help(real)
                }
            }
            FaultKind::RealTooLarge => {
                error("E0006", "this number is too large", "a double ends near 1.8e308, a float near 3.4e38")
            }
        }
    }
}

fn unknown_char(source: &str, at: Span, behind: &str) -> Diagnostic {
    let c = source.chars().next().unwrap_or('?');
    let shown = if c.is_control() || c.is_whitespace() || c == '\u{feff}' {
        format!("the character U+{:04X}", u32::from(c))
    } else {
        format!("`{c}`")
    };
    let diagnostic = Diagnostic::error("E0001", format!("{shown} has no meaning here"), at, "unknown character");
    let typed = |help: &str, meant: &str| {
        let title = if meant == " " { "write a space".to_string() } else { format!("write `{meant}`") };
        diagnostic.clone().help(help).fix(Fix::safe(title, at, meant))
    };
    match c {
        '#' => diagnostic.help(
            "there is no preprocessor: constants belong in a `static` block, files come in by `import \"file.str\";`",
        ),
        '\u{201c}' | '\u{201d}' => typed("this is a typographic quote; strings use `\"`", "\""),
        '\u{2018}' | '\u{2019}' => typed("this is a typographic quote; characters use `'`", "'"),
        '\u{2212}' | '\u{2013}' => typed("this is not the minus sign of the keyboard", "-"),
        '\u{a0}' => typed("this is a no-break space", " "),
        '@' if behind.trim_start().starts_with('[') => diagnostic
            .help("the latency of a message stands directly behind it: `portal.handler(arguments) [min:max];`")
            .fix(Fix::safe("remove the `@`", at, "")),
        '\0' => diagnostic.help("is this a text file?"),
        '\\' => diagnostic.help("a backslash belongs into a string or character literal"),
        _ => diagnostic,
    }
}
