//! Bytes of a word that go through one table, all at once: which, and that nothing can be told of it.

use super::fusing::same;
use crate::support::*;

/// Tables of so many bytes, and of words; all parts of all ints go through them.
const TABLES: &str = "static {
    int[256] A; int[256] B; int[100] Short; int[64] Small; int[130] More; int[3][256] Rows; int[256] Words;
    init {
        int s = 1;
        for (int i = 0; i < 256; i++) {
            s = s * 1103515245 + 12345;
            A[i] = (s >> 16) & 255; B[i] = (s >> 11) & 255; Words[i] = s;
            if (i < 100) Short[i] = (s >> 9) & 255;
            if (i < 64) Small[i] = (s >> 13) & 255;
            if (i < 130) More[i] = (s >> 7) & 255;
            for (int r = 0; r < 3; r++) Rows[r][i] = (s >> (10 + r)) & 255;
        }
    }
}
";

/// What a firing pushes of `x`, `y`, its items; how many look-ups of several bytes there are in it.
const VALUES: [(&str, usize); 20] = [
    // as in ciphers: each byte in its place, all four, joined by whatever
    ("(A[(x >> 24) & 255] << 24) | (A[(x >> 16) & 255] << 16) | (A[(x >> 8) & 255] << 8) | A[x & 255]", 1),
    ("(A[(x >> 24) & 255] << 24) ^ ((A[(x >> 16) & 255] << 16) + A[255 & x]) ^ (A[(x >> 8) & 255] << 8) ^ y", 1),
    // turned, of two words, at bits that are no byte's first, with less than a byte of bits
    ("(A[(x >> 24) & 255]) | (A[(x >> 16) & 255] << 24) | (A[(y >> 8) & 255] << 16) | (A[y & 255] << 8)", 1),
    ("(A[(x >> 3) & 255] << 24) + (A[(x >> 28) & 255] << 16) + (A[(y >> 13) & 63] << 8)", 1),
    // places that are other values
    ("(A[max(min(x / 7, 255), 0)] << 16) | (A[(x ^ y) & 255] << 8)", 1),
    // some bytes of the result, and what is joined beside them, also where they are
    ("((A[x & 255] << 8) ^ (A[y & 255] << 24) ^ (x * 3) ^ (y << 5))", 1),
    ("x + ((A[x & 255] << 8) + y) + (A[(y >> 8) & 255])", 1),
    ("(x | (A[x & 255] << 8)) ^ (A[y & 255])", 0),
    // tables that no register's length divides
    ("(Short[(x & 255) * 100 / 256] << 24) | (Short[(y & 127) * 25 / 32] << 8) | Short[(x >> 9) & 63]", 1),
    ("(Small[(x >> 26) & 63] << 24) | (Small[(x >> 20) & 63] << 16) | (Small[(y >> 5) & 63] << 8) | Small[y & 63]", 1),
    ("(More[(x >> 1) & 127] << 24) | (More[min((y >> 4) & 255, 129)] << 16)", 1),
    ("(Rows[1][x & 255] << 8) | Rows[1][y & 255]", 1),
    // these are different tables, the same byte, words, or no sums
    ("(Rows[1][x & 255] << 8) | Rows[2][y & 255]", 0),
    ("(A[x & 255] << 8) | B[y & 255]", 0),
    ("(A[x & 255] << 8) | (A[y & 255] << 8)", 0),
    ("(A[x & 255] << 8) + (A[y & 255] << 8) + A[(x >> 8) & 255] + A[(y >> 8) & 255]", 2),
    ("(Words[x & 255] << 8) | Words[y & 255]", 0),
    ("(A[x & 255] << 8) - A[y & 255]", 0),
    ("(A[x & 255] << 8) & A[y & 255]", 0),
    ("(A[x & 255] << 9) | A[y & 255]", 0),
];

/// So much to do besides that it goes in lanes in any case.
const ENOUGH: &str = "(x * 3 + y) ^ (x + y * 7) ^ (y - x * 5) ^ (x * y + 9) ^ (x * 11 - y * 13)";

fn program(values: &[&str]) -> String {
    let pushes: String = values.iter().map(|v| format!("        push({v});\n")).collect();
    let n = values.len();
    format!(
        "{TABLES}int->int filter Main {{\n    work pop 2 push {n} {{\n        int x = pop(); int y = pop();\n{pushes}    }}\n}}\n"
    )
}

/// Ints of all sizes and signs.
fn words(n: usize) -> Vec<u8> {
    let mut s = 12345u32;
    let mut next = || {
        s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (s ^ s >> 13) as i32 >> (s >> 29)
    };
    (0..n).flat_map(|_| next().to_le_bytes()).collect()
}

#[test]
fn which_are_looked_up_at_once() {
    for (value, wanted) in VALUES {
        let place = Place::new().with("a.str", program(&[value, ENOUGH]));
        let text = place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0).text().to_string();
        let (_, filters) = text.split_once("Main: work").expect("the filter");
        let loops = if filters.contains("f + 1 * SL_LANES <= block") { vectors(filters) } else { 0 };
        assert!(loops > 0, "no lanes: {value}");
        assert_eq!(filters.matches("sl_vi_lookup_each(").count(), wanted * loops, "{value}");
    }
}

/// Vectors that a lanes' function has for each value, in all its loops.
fn vectors(text: &str) -> usize {
    (1..=4).filter(|n| text.contains(&format!("f += {n} * SL_LANES)"))).sum()
}

#[test]
fn nobody_can_tell() {
    let all: Vec<&str> = VALUES.iter().map(|(v, _)| *v).collect();
    for some in all.chunks(5) {
        same(&program(some), words, &[0, 2, 16, 34, 1000, 20_002]);
    }
}

/// Without vectors of firings, and by another compiler where there is one, too.
#[test]
fn whatever_compiles_it() {
    let all: Vec<&str> = VALUES.iter().map(|(v, _)| *v).collect();
    Place::new().with("a.str", program(&all)).as_interpreted_by_clang(&words(4000));
}
