//! Texts that are hardly programs: random bytes, random words, and programs of the repository with a few words changed.
//!
//! Every text follows from its number and the programs alone.

use crate::files::files;
use crate::generate::random::Random;
use std::path::Path;

/// The kinds of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Any bytes.
    Bytes,
    /// Words of the language in any order.
    Words,
    /// A program with changes.
    Changed,
}

/// What the text of this number is: mostly changed programs, which reach deepest.
pub fn family(number: u64) -> Family {
    match number % 20 {
        0..2 => Family::Bytes,
        2..5 => Family::Words,
        _ => Family::Changed,
    }
}

/// The programs of a folder and those below it, but for what was built; in the order of their paths.
pub fn programs(root: &Path) -> Vec<Vec<u8>> {
    files(root, "str").iter().filter_map(|p| std::fs::read(p).ok()).collect()
}

/// The text of a number.
pub fn text(number: u64, programs: &[Vec<u8>]) -> Vec<u8> {
    let mut r = Random::new(number ^ 0xB05E);
    match family(number) {
        Family::Bytes => bytes(&mut r),
        Family::Words => {
            let n = r.range(1, 150);
            let words: Vec<&str> = (0..n).map(|_| *r.pick(WORDS)).collect();
            words.join(" ").into_bytes()
        }
        Family::Changed => changed(&mut r, programs),
    }
}

fn bytes(r: &mut Random) -> Vec<u8> {
    let n = r.below(400) as usize;
    let mut all = r.bytes(n);
    match r.below(3) {
        // mostly printable
        0 => all.iter_mut().filter(|b| **b > 8).for_each(|b| *b = 32 + *b % 95),
        // a mark at the start, and encodings of other kinds
        1 => {
            let start: &[u8] =
                r.pick::<&[u8]>(&[b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xed\xa0\x80", b"\0", b"#!"]);
            all.splice(0..0, start.iter().copied());
        }
        _ => {}
    }
    all
}

fn changed(r: &mut Random, programs: &[Vec<u8>]) -> Vec<u8> {
    let mut words = words(r.pick::<Vec<u8>>(programs));
    if r.chance(10) {
        // the start of one program and the end of another
        let other = self::words(r.pick::<Vec<u8>>(programs));
        words.truncate(r.index(words.len() + 1));
        words.extend_from_slice(&other[r.index(other.len() + 1)..]);
    }
    // one change mostly gives a program still
    let changes = if r.chance(60) { 1 } else { r.range(2, 5) };
    for _ in 0..changes {
        if words.is_empty() {
            break;
        }
        change(r, &mut words, programs);
    }
    words.concat()
}

fn change(r: &mut Random, words: &mut Vec<Vec<u8>>, programs: &[Vec<u8>]) {
    let at = r.index(words.len());
    let numbers: Vec<usize> = (0..words.len()).filter(|i| words[*i][0].is_ascii_digit()).collect();
    let names: Vec<usize> = (0..words.len()).filter(|i| words[*i][0].is_ascii_alphabetic()).collect();
    match r.below(18) {
        0 => {
            words.remove(at);
        }
        1 => words.insert(at, words[at].clone()),
        2 => {
            let other = r.index(words.len());
            words.swap(at, other);
        }
        3..=7 if !numbers.is_empty() => {
            let number = r.pick(NUMBERS).as_bytes().to_vec();
            words[*r.pick(&numbers)] = number;
        }
        8..=11 if !names.is_empty() => {
            // one name becomes another of the program, here or everywhere
            let (from, to) = (words[*r.pick(&names)].clone(), words[*r.pick(&names)].clone());
            let once = r.chance(50);
            let places: Vec<usize> = names.into_iter().filter(|i| words[*i] == from).collect();
            for i in if once { vec![*r.pick(&places)] } else { places } {
                words[i] = to.clone();
            }
        }
        12 => words[at] = r.pick(WORDS).as_bytes().to_vec(),
        13 => words.insert(at, r.pick(WORDS).as_bytes().to_vec()),
        14 => {
            let end = (at + r.range(1, 20) as usize).min(words.len());
            words.drain(at..end);
        }
        15 => {
            let end = (at + r.range(1, 40) as usize).min(words.len());
            let again = words[at..end].to_vec();
            let to = r.index(words.len() + 1);
            words.splice(to..to, again);
        }
        16 => {
            // a piece of another program
            let other = self::words(r.pick::<Vec<u8>>(programs));
            if !other.is_empty() {
                let from = r.index(other.len());
                let end = (from + r.range(1, 40) as usize).min(other.len());
                words.splice(at..at, other[from..end].iter().cloned());
            }
        }
        _ => {
            let i = r.index(words[at].len());
            words[at][i] = r.next() as u8;
        }
    }
}

/// Cuts a text into names, numbers, spaces, and single signs but for the usual pairs.
fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let class = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => 0,
        b' ' | b'\t' | b'\r' | b'\n' => 1,
        b'<' | b'>' | b'=' | b'+' | b'-' | b'&' | b'|' => 2,
        _ => 3,
    };
    let joined = |a: u8, b: u8| class(a) == class(b) && class(a) != 3;
    text.chunk_by(|a, b| joined(*a, *b)).map(<[u8]>::to_vec).collect()
}

/// Numbers that break things.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "31",
    "32",
    "33",
    "64",
    "100",
    "255",
    "256",
    "1000",
    "4096",
    "65535",
    "65536",
    "100000",
    "1000000",
    "16777216",
    "16777217",
    "1000000000",
    "1073741824",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "(-1)",
    "(-2147483648)",
    "0x7FFFFFFF",
    "0x80000000",
    "0xFFFFFFFF",
    "0.0",
    "1e38",
    "1e39",
    "1e308",
    "1e309",
    "1e-45",
    "2.5",
    "3i",
    "1e30i",
    "(0.0/0.0)",
    "(1/0)",
    "true",
];

/// Words of the language.
const WORDS: &[&str] = &[
    "filter",
    "pipeline",
    "splitjoin",
    "feedbackloop",
    "stateful",
    "portal",
    "to",
    "handler",
    "iter()",
    "add",
    "split",
    "join",
    "duplicate",
    "roundrobin",
    "body",
    "loop",
    "enqueue",
    "init",
    "prework",
    "work",
    "peek",
    "pop",
    "push",
    "boolean",
    "float",
    "bit",
    "int",
    "void",
    "double",
    "complex",
    "float2",
    "float3",
    "float4",
    "struct",
    "native",
    "static",
    "helper",
    "if",
    "else",
    "while",
    "for",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "template",
    "pi",
    "true",
    "false",
    "import",
    "x",
    "y",
    "n",
    "Foo",
    "Bar",
    "0",
    "1",
    "2.5",
    "3i",
    "0xFF",
    "'c'",
    "\"s\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    ":",
    "?",
    "->",
    "=",
    "+=",
    "<<=",
    "++",
    "--",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "<",
    ">",
    "<=",
    "==",
    "!=",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "!",
    "~",
    "@",
    "1.",
    "\"open",
    "'",
    "/*",
    "*/",
    "//",
    "\n",
    "int->int",
    "void->void",
    "void->int",
    "float->float[2]",
    "pop()",
    "peek(0)",
    "push(1);",
    "void->void filter F {",
    "work push 1 pop 1 {",
    "for (int i = 0; i < 3; i++)",
    "int x = 3;",
    "int[4] x;",
    "add F;",
    "add Identity<int>;",
    "println(x);",
    "split roundrobin;",
    "join roundrobin;",
    "enqueue 0;",
    "FileReader<int>(\"a\")",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_repeat_and_differ() {
        let programs = programs(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")));
        assert!(programs.len() > 300);
        for n in 0..200 {
            assert_eq!(text(n, &programs), text(n, &programs));
        }
        let same = (0..200).filter(|n| programs.contains(&text(*n, &programs))).count();
        assert!(same < 30, "{same} texts are programs without a change");
        assert_eq!(words(b"a1 += (2"), [&b"a1"[..], b" ", b"+=", b" ", b"(", b"2"]);
    }
}
