//! Items that are bits and booleans, in lanes: the same bytes everywhere, and vectors where it pays.

use crate::support::*;

/// From bits, to bits and both: several to a firing, of all kinds of numbers, looked ahead at; tables that they are places in, arrays of them in which data choose; booleans.
const FILTERS: &[(&str, &str, &str)] = &[
    (
        "Map",
        "bit->complex",
        "int[4] level = {-3, -1, 3, 1}; work pop 4 push 1 { int i = pop() * 2 + pop(); int q = 2 * pop() + pop(); complex c; c.real = level[i]; c.imag = level[q]; push(c / 3.5f); }",
    ),
    (
        "Demap",
        "complex->bit",
        "int cut(float v) { return v < -0.5 ? 0 : v < 0 ? 1 : v < 0.5 ? 3 : 2; } work pop 1 push 4 { complex c = pop(); int i = cut(c.real); int q = cut(c.imag); push((bit)(i >> 1)); push((bit)i); push((bit)(q >> 1)); push((bit)(q & 1)); }",
    ),
    (
        "Encode",
        "bit->bit",
        "work pop 4 push 7 { bit a = pop(); bit b = pop(); bit c = pop(); bit d = pop(); push(a ^ b ^ d); push(a ^ c ^ d); push(a); push(b ^ c ^ d); push(b); push(c); push(d); }",
    ),
    (
        "Decode",
        "bit->bit",
        "work pop 7 push 4 { int s = (int)(peek(0) ^ peek(2) ^ peek(4) ^ peek(6)) + 2 * (int)(peek(1) ^ peek(2) ^ peek(5) ^ peek(6)) + 4 * (int)(peek(3) ^ peek(4) ^ peek(5) ^ peek(6)); bit[8] r; for (int i = 0; i < 7; i++) r[i + 1] = pop(); r[0] = 0; r[s] = r[s] ^ 1; push(r[3]); push(r[5]); push(r[6]); push(r[7]); }",
    ),
    (
        "Unpack",
        "int->bit",
        "work pop 1 push 11 { int x = pop(); for (int i = 10; i >= 0; i--) push((bit)(x >> 2 * i)); }",
    ),
    (
        "Spread",
        "bit->int",
        "int[8] p = {1, 1, -1, 1, -1, -1, 1, -1}; work pop 1 push 8 { int x = 2 * (int)pop() - 1; for (int i = 0; i < 8; i++) push(x * p[i]); }",
    ),
    (
        "Sum",
        "bit->int",
        "int[13] h = {1, 1, 1, 1, 1, -1, -1, 1, 1, -1, 1, -1, 1}; work peek 13 pop 1 push 1 { int s = 0; for (int i = 0; i < 13; i++) s += h[i] * (2 * (int)peek(i) - 1); push(s); pop(); }",
    ),
    (
        "Fir",
        "bit->float",
        "float[20] h; init { for (int i = 0; i < 20; i++) h[i] = sin(i * 0.3); } work peek 20 pop 2 push 1 { float s = 0; for (int i = 0; i < 20; i++) s += h[i] * (peek(i) ? 1.0 : -1.0); push(s); pop(); pop(); }",
    ),
    (
        "Long",
        "bit->bit",
        "work pop 40 push 33 { for (int i = 0; i < 33; i++) push(peek(i) ^ peek(39 - i) & peek(i + 5) | ~peek((i * 7) % 40)); for (int i = 0; i < 40; i++) pop(); }",
    ),
    // streams that take turns, of words in lanes of their own
    (
        "Streams",
        "bit->bit",
        "work peek 64 pop 16 push 16 { for (int s = 0; s < 16; s++) { bit x = 0; for (int i = 0; i < 4; i++) x = x ^ peek(i * 16 + s); push(x); } for (int i = 0; i < 16; i++) pop(); }",
    ),
    (
        "Votes",
        "boolean->boolean",
        "work pop 5 push 3 { int n = 0; for (int i = 0; i < 5; i++) if (pop()) n++; push(n > 2); push(n == 5 || n == 0); push((n & 1) == 1 && n < 4); }",
    ),
    (
        "Sign",
        "float->boolean",
        "work peek 3 pop 1 push 2 { push(peek(0) * peek(2) < peek(1)); push(abs(peek(0) - peek(1)) > 0.5 && peek(2) < 0.25); pop(); }",
    ),
];

/// Those of which C compilers make vectors by themselves, with few operations.
const LEFT: &[(&str, &str, &str)] = &[
    ("Differ", "bit->bit", "work peek 2 pop 1 push 1 { push(peek(0) ^ peek(1)); pop(); }"),
    (
        "Convolve",
        "bit->bit",
        "work peek 7 pop 1 push 2 { push(peek(6) ^ peek(4) ^ peek(3) ^ peek(1) ^ peek(0)); push(peek(6) ^ peek(5) ^ peek(4) ^ peek(3) ^ peek(0)); pop(); }",
    ),
    ("Pack", "bit->int", "work pop 8 push 1 { int x = 0; for (int i = 0; i < 8; i++) x = x << 1 | pop(); push(x); }"),
];

fn program((name, ends, body): &(&str, &str, &str)) -> String {
    format!("{ends} filter {name} {{ {body} }}\n{ends} pipeline Main {{ add {name}; }}\n")
}

/// So many bytes of any kind; of floats, numbers that are near 0; of booleans, 0 and 1.
fn bytes(ends: &str, n: usize) -> Vec<u8> {
    let mut s = 7u32;
    let mut next = || {
        s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (s >> 24) as u8
    };
    match ends {
        _ if ends.starts_with("boolean") => (0..n).map(|_| next() & 1).collect(),
        _ if ends.starts_with("float") || ends.starts_with("complex") => {
            (0..n / 8 * 2).flat_map(|_| (f32::from(next()) / 100.0 - 1.28).to_le_bytes()).collect()
        }
        _ => (0..n).map(|_| next()).collect(),
    }
}

/// The program gives the interpreter's bytes in all these ways, its ends being raw.
fn same(place: &Place, input: &[u8], ways: &[&[&str]]) {
    let by = |way: &[&str]| {
        let raw = ["run", "a.str", "--allow", "warnings", "--input-format", "raw", "--output-format", "raw"];
        place.run_with(&[&raw[..], way].concat(), input).ends(0).stdout
    };
    let wanted = by(&["--interpret"]);
    for way in ways {
        assert!(by(way) == wanted, "{way:?}, {} bytes\n{}", input.len(), place.read("a.str"));
    }
}

fn of_each(filters: &[(&str, &str, &str)], lanes: bool) {
    for one in filters {
        let place = Place::new().with("a.str", program(one));
        let dumped = place.run(&["run", "a.str", "--dump-after", "lanes"]).ends(0).text().to_string();
        assert_eq!(dumped.contains("\nlanes "), lanes, "{}: {dumped}", one.0);
        let ways = [&["-O1", "--back-end", "cc"][..], &["--back-end", "jit"], &["-O2", "--threads", "2"]];
        for n in [0, 8, 56, 1400, 9000] {
            same(&place, &bytes(one.1, n), &ways);
        }
    }
}

#[test]
fn filters_of_bits_have_lanes() {
    of_each(FILTERS, true);
}

#[test]
fn what_compilers_do_themselves_is_left_to_them() {
    of_each(LEFT, false);
}

/// One after another as regions, and as one.
#[test]
fn a_chain_from_bits_to_bits() {
    let one = |(name, ends, body): &(&str, &str, &str)| format!("{ends} filter {name} {{ {body} }}\n");
    let used = ["Encode", "Convolve", "Long", "Map", "Demap", "Differ", "Decode"];
    let all: String = FILTERS.iter().chain(LEFT).filter(|f| used.contains(&f.0)).map(one).collect();
    let text = format!(
        "{all}bit->bit pipeline Main {{ add Encode; add Convolve; add Long; add Map; add splitjoin {{ split roundrobin(3); for (int i = 0; i < 5; i++) add Identity<complex>; join roundrobin(1); }} add Demap; add Differ; add Decode; }}\n"
    );
    let place = Place::new().with("a.str", text);
    let ways = [
        &["-O1", "--back-end", "cc"][..],
        &["-O0", "--back-end", "cc", "--fuse=false"],
        &["-O0", "--threads", "2"],
        &["--back-end", "jit"],
    ];
    for n in [0, 100, 5003] {
        same(&place, &bytes("bit", n), &ways);
    }
}
