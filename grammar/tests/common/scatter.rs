//! Scatters space and comments between the tokens of a program, as random bytes say.

use sluice_grammar::token::{Token, lex};

/// The text with other space between its tokens, and comments there. `level`: of how many gaps, out of 256, one gets something.
/// Says how many comments it holds.
pub fn scatter(text: &str, level: u8, bytes: &mut impl Iterator<Item = u8>) -> String {
    let tokens = lex(text);
    let mut out = String::new();
    let mut at = 0;
    let mut count = 0;
    let mut next = || bytes.next().unwrap_or(255);
    for token in &tokens {
        let gap = &text[at..token.start as usize];
        if next() < level {
            fill(&mut out, &mut count, &mut next);
        } else if next() < level {
            // As little space as can be.
            let before = tokens.iter().rev().find(|t| t.end as usize <= at).map(|t| t.token);
            if before.is_some_and(|before| !may_touch(before, token.token)) {
                out.push(' ');
            }
        } else {
            out.push_str(gap);
        }
        out.push_str(&text[token.start as usize..token.end as usize]);
        at = token.end as usize;
    }
    if next() < level {
        fill(&mut out, &mut count, &mut next);
    }
    out
}

fn may_touch(a: Token, b: Token) -> bool {
    let sign = |t: Token| matches!(t.spelling(), "(" | ")" | "[" | "]" | "{" | "}" | ";" | ",");
    sign(a) || sign(b)
}

fn fill(out: &mut String, count: &mut usize, next: &mut impl FnMut() -> u8) {
    const SPACE: [&str; 10] = [" ", " ", "\n", "\n", "\n\n", "\n   \n\n", "\t", "  ", "    ", "\r\n"];
    let space = |n: u8| SPACE[usize::from(n) % SPACE.len()];
    out.push(' ');
    out.push_str(space(next()));
    while next() < 100 {
        *count += 1;
        match next() % 11 {
            0 | 1 => out.push_str(&format!("// line {count}\n")),
            2 => out.push_str(&format!("// line {count}\n\n")),
            3 => out.push_str(&format!("\n    // own line {count}  \n")),
            4 => out.push_str(&format!("/* block {count} */")),
            5 => out.push_str(&format!("/* block {count} */\n")),
            6 => out.push_str(&format!("\n/* own block {count} */")),
            7 => out.push_str("// sluice: allow(W0201)\n"),
            8 => out.push_str(if (*count).is_multiple_of(2) {
                "/* sluice: allow(W0202) */"
            } else {
                "\n// sluice: allow(W0203)\n"
            }),
            9 => out.push_str(&format!("/* several {count}\n      lines\n  of it */")),
            _ => out.push_str(&format!("\n /* border {count}\n  * below\n\n\t */\n")),
        }
        out.push_str(space(next()));
    }
    out.push(' ');
}
