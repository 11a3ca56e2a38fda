//! Random edits of programs, for the tests of what is kept from one text to the next: of parsing (grammar), of analyses (frontend), of the language server (lsp).
//! Those of the other rooms take this file by its path, so that no room has to be built for it.
#![allow(dead_code)] // each test uses a part
#![allow(clippy::disallowed_methods)] // it reads the programs

use std::ops::Range;
use std::path::{Path, PathBuf};

/// Numbers that look random and are the same in each run.
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number, below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// How a text is edited.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Anywhere, by anything: mostly a text is broken afterwards.
    Rough,
    /// Mostly at the beginnings of lines, by whole parts and numbers: mostly a text is still a program.
    Gentle,
}

/// What breaks texts, and what begins something that nobody ends.
const PIECES: &[&str] = &[
    "x",
    "{",
    "}",
    "}\n}\n",
    "(",
    ")",
    "[",
    "]",
    ";",
    ";;",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "é",
    "𝄞",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "/* { */",
    "// }\n",
    " ",
    "\u{feff}",
    "\u{0}",
    "\u{1a}",
    "add F(1);",
    "add Gain(1);",
    "float",
    "float->float ",
    "float->float filter",
    "1e3",
    ".",
    "->",
    "work",
    "pop 1 ",
    "push(",
    "static",
    "static {",
    "struct S { int x; }",
    "struct S {",
    "import \"a.str\";\n",
    "import \"a.str\"",
    "import",
    "native",
    "helper H { int f(int x) { return x; } }",
    "void->void filter F { work { } }\n",
    "void->void pipeline P { add filter { work { } } }",
    "add pipeline { ",
    "@",
    "# $",
    "\\",
    "'ab'",
    "0x",
    "1.2.3",
    "\"open",
];

/// What may stand in a program.
const PARTS: &[&str] = &[
    " ",
    "\n",
    "// a comment\n",
    "/* x */",
    "1",
    "2",
    "x",
    ";",
    "{",
    "}",
    "float->float filter Fresh(int n) { float[n] h; work pop 1 push 1 { push(pop() * h[0]); h[0] = 1; } }\n",
    "static { int fresh = 3; }\n",
    "helper Fresh { int f(int x) { return x + 1; } }\n",
    "struct Fresh { int a; float b; }\n",
    "portal<Fresh> p;",
    "int unused = 3;",
    "add Fresh(3);",
    "// sluice: allow(W0213)\n",
];

/// The place at a byte or before it that is between characters; `\r\n` is one, for the language server's protocol.
pub fn boundary(text: &str, at: usize) -> usize {
    let within = |at: usize| text.as_bytes().get(at) == Some(&b'\n') && at > 0 && text.as_bytes()[at - 1] == b'\r';
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at) && !within(*at)).unwrap_or(0)
}

/// One edit: something put in, taken out, replaced, doubled or moved elsewhere. `told` is told of each replacement before it is made: the text,
/// which bytes of it, and by what.
pub fn edit(n: &mut Numbers, text: &mut String, way: Way, told: &mut dyn FnMut(&str, Range<usize>, &str)) {
    let mut replace = |text: &mut String, range: Range<usize>, new: &str| {
        told(text, range.clone(), new);
        text.replace_range(range, new);
    };
    match way {
        Way::Rough => {
            let start = boundary(text, n.below(text.len() + 1));
            let length = [0, 0, 0, 1, 1, 5, 40, 300][n.below(8)];
            let end = boundary(text, start + length).max(start);
            let kind = n.below(8);
            let piece = text[start..end].to_string();
            match kind {
                0 => replace(text, start..end, ""),
                1 | 2 => {
                    if kind == 2 {
                        replace(text, start..end, "");
                    }
                    let to = boundary(text, n.below(text.len() + 1));
                    replace(text, to..to, &piece);
                }
                _ => replace(text, start..end, PIECES[n.below(PIECES.len())]),
            }
        }
        Way::Gentle => {
            let start = line_mostly(n, text);
            match n.below(10) {
                // a number becomes another
                0..=2 => {
                    if let Some(i) = text[start..].find(|c: char| c.is_ascii_digit()).map(|i| start + i) {
                        replace(text, i..i + 1, ["1", "2", "3", "4", "8"][n.below(5)]);
                    }
                }
                3 => {
                    let end = boundary(text, start + n.below(12)).max(start);
                    replace(text, start..end, "");
                }
                4 => {
                    // a line moves elsewhere
                    let end = text[start..].find('\n').map_or(text.len(), |l| start + l + 1);
                    let line = text[start..end].to_string();
                    replace(text, start..end, "");
                    let to = line_mostly(n, text);
                    replace(text, to..to, &line);
                }
                _ => replace(text, start..start, PARTS[n.below(PARTS.len())]),
            }
        }
    }
}

/// Two times of three the beginning of a line, where little is broken.
fn line_mostly(n: &mut Numbers, text: &str) -> usize {
    let at = boundary(text, n.below(text.len() + 1));
    if n.below(3) > 0 { text[..at].rfind('\n').map_or(0, |l| l + 1) } else { at }
}

/// The programs in the repository, in the order of their paths; `root` is its folder.
pub fn programs(root: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    walk(root, &mut found);
    assert!(found.len() > 100, "{}", found.len());
    found
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            walk(&path, found);
        } else if name.ends_with(".str") {
            let text = sluice_grammar::decode(&std::fs::read(&path).unwrap()).0;
            found.push((path, text));
        }
    }
}

/// A number from the environment, or the usual one: `SLUICE_EDIT_ROUNDS` edits of each text, `SLUICE_FIRST_SEED`.
pub fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}
