//! Ints that are bytes, in lanes: which go as such, and that nothing can be told of it.

use super::fusing::same;
use crate::support::*;

/// Tables of bytes and of words.
const TABLES: &str = "static {
    int[256] A; int[64] Small; int[3][16] Rows; int[64] Words;
    init {
        int s = 1;
        for (int i = 0; i < 256; i++) {
            s = s * 1103515245 + 12345;
            A[i] = (s >> 16) & 255;
            if (i < 64) { Small[i] = (s >> 9) & 15; Words[i] = s; }
            if (i < 16) for (int r = 0; r < 3; r++) Rows[r][i] = (s >> (10 + r)) & 3;
        }
    }
}
";

/// A filter that gives bytes and bits of words.
const PARTS: &str = "int->int filter Parts {
    work pop 1 push 4 {
        int w = pop();
        push(w & 255);
        push((w >> 8) & 255);
        push((w >> 29) & 1);
        push((w >> 30) & 1);
    }
}
";

/// Of bytes `x`, `y` and bits `p`, `q`; does it go as bytes, where there is much of it?
const VALUES: [(&str, bool); 16] = [
    ("(x ^ y) & (x | 15)", true),
    ("(p ^ q) | (p & 1)", true),
    ("Small[(2 * x + q) & 63] ^ p", true),
    ("A[x ^ y] & 127", true),
    ("Rows[1][(x >> 4) ^ (y & 15)]", true),
    ("x < y ? x >> 1 : y", true),
    ("(x > 200 && y != 7 || p == q) ? 10 : 20 + q", true),
    ("min(x, y) ^ max(x, 3)", true),
    ("((x << 3) + y) & 255", true),
    ("(x * 5 - y) & 63", true),
    ("abs(x) >> 2", true),
    // and ints of bytes
    ("(x ^ y ^ (p << 7)) << 16", true),
    // of these more than the last eight bits are needed
    ("(x - y) >> 1", false),
    ("(x + 1) * y / 3", false),
    ("Words[x & 63] * y", false),
    ("(x * 300 - y) % 7", false),
];

/// The value of many bytes in a row, for each item.
fn rounds(value: &str) -> String {
    let round =
        format!("        all ^= {value};\n        x = (x + 7) & 255; y = (y ^ x) & 255; p = p ^ q; q = q ^ (x & 1);\n");
    format!(
        "{TABLES}{PARTS}int->int filter Last {{\n    work pop 4 push 1 {{\n        int x = pop(); int y = pop(); int p = pop(); int q = pop();\n        int all = 0;\n{}        push(all);\n    }}\n}}\n\
         int->int pipeline Main {{ add Parts; add Last; }}\n",
        round.repeat(12)
    )
}

fn program(values: &[&str]) -> String {
    let pushes: String = values.iter().map(|v| format!("        push({v});\n")).collect();
    let n = values.len();
    format!(
        "{TABLES}{PARTS}int->int filter Last {{\n    work pop 4 push {n} {{\n        int x = pop(); int y = pop(); int p = pop(); int q = pop();\n{pushes}    }}\n}}\n\
         int->int pipeline Main {{ add Parts; add Last; }}\n"
    )
}

/// Ints of all sizes and signs.
fn words(n: usize) -> Vec<u8> {
    let mut s = 12345u32;
    let mut next = || {
        s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (s ^ s >> 13) as i32
    };
    (0..n).flat_map(|_| next().to_le_bytes()).collect()
}

/// Fewer than fill a vector, than fill four, and more than these.
const LENGTHS: [usize; 12] = [0, 1, 7, 8, 15, 16, 31, 33, 64, 100, 1000, 10_001];

#[test]
fn which_go_as_bytes() {
    for (value, wanted) in VALUES {
        let place = Place::new().with("a.str", rounds(value));
        let text = |how: &[&str]| {
            let all = [&["build", "--emit", "c", "a.str", "-o", "-"], how].concat();
            place.run(&all).ends(0).text().contains("SL_BYTES_H")
        };
        assert_eq!(text(&[]), wanted, "{value}");
        assert!(!text(&["--inner=none"]), "{value}");
    }
}

#[test]
fn nobody_can_tell() {
    let all: Vec<&str> = VALUES.iter().map(|(v, _)| *v).collect();
    for some in [&all[..8], &all[8..]] {
        same(&program(some), words, &LENGTHS);
    }
}

/// By another compiler where there is one, too. Random values, in programs of many such filters: `tests/tests/narrow.rs`.
#[test]
fn whatever_compiles_it() {
    let all: Vec<&str> = VALUES.iter().map(|(v, _)| *v).collect();
    Place::new().with("a.str", program(&all)).as_interpreted_by_clang(&words(4000));
}
