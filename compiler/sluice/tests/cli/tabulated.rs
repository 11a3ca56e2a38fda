//! Look-ups one behind the other as one: which, the same bytes as the interpreter's, and the same faults.

use crate::fusing::same;
use crate::support::*;

/// The field of 256 elements, by logarithms and powers.
const FIELD: &str = "static { int[512] EXP; int[256] LOG; init {
    int x = 1;
    for (int i = 0; i < 255; i++) { EXP[i] = x; EXP[i + 255] = x; LOG[x] = i; x = x << 1; if (x > 255) x = x ^ 0x11D; }
} }
";

/// Values of a polynomial at 8 places, by a mask or without one.
fn syndromes(masked: bool) -> String {
    let next = if masked { "s = (s ^ peek(i)) & 255;" } else { "s = s ^ peek(i);" };
    format!(
        "{FIELD}int->int filter Syndromes(int N, int R) {{ work pop N push R {{
    for (int j = 0; j < R; j++) {{
        int s = 0;
        for (int i = 0; i < N; i++) {{ if (s != 0) s = EXP[LOG[s] + j]; {next} }}
        push(s);
    }}
    for (int i = 0; i < N; i++) pop(); }} }}
int->int pipeline Main {{ add Syndromes(20, 8); }}"
    )
}

/// A division by a polynomial with coefficients of which some are 0 (`zero`) or none.
fn remainders(zero: bool) -> String {
    let g = if zero { "{7, 0, 19, 200}" } else { "{7, 91, 19, 200}" };
    format!(
        "{FIELD}int->int filter Encode(int K) {{ int[4] G = {g};
    int mul(int a, int b) {{ if (a == 0 || b == 0) return 0; return EXP[LOG[a] + LOG[b]]; }}
    work pop K push K + 4 {{
        int[4] p;
        for (int i = 0; i < K; i++) {{
            int d = pop(); push(d);
            int f = d ^ p[3];
            for (int j = 3; j > 0; j--) p[j] = p[j - 1] ^ mul(f, G[j]);
            p[0] = mul(f, G[0]);
        }}
        for (int j = 3; j >= 0; j--) push(p[j]);
    }} }}
int->int pipeline Main {{ add Encode(12); }}"
    )
}

/// Ints of any size, shifted.
fn words(n: usize, by: u32) -> Vec<u8> {
    let mut s = 5u32;
    let mut next = || {
        s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        s >> by
    };
    (0..n).flat_map(|_| next().to_le_bytes()).collect()
}

fn bytes(n: usize) -> Vec<u8> {
    words(n, 24)
}

fn after(program: &str, arguments: &[&str]) -> String {
    let place = Place::new().with("a.str", program);
    place.run(&[&["run", "a.str", "--dump-after", "tabulate"], arguments].concat()).ends(0).text().to_string()
}

#[test]
fn what_two_tables_say_is_in_one() {
    for program in [syndromes(true), syndromes(false), remainders(false)] {
        let text = after(&program, &[]);
        let (_, body) = text.split_once("func0").expect("the kernel");
        assert!(!body.contains("if ") && body.contains("\"of\"") || !body.contains("table0[(table1["), "{text}");
        assert!(!body.contains("if "), "{text}");
        let whole = after(&program, &["--inner", "none"]);
        assert!(whole.contains("if "), "{whole}");
        same(&program, bytes, &[0, 11, 12, 20, 20 * 37 + 3]);
    }
    // a product with 0 is 0 whatever the other is, and looks up nothing
    let text = after(&remainders(true), &[]);
    assert!(text.contains("if "), "{text}");
    same(&remainders(true), bytes, &[0, 12, 12 * 41]);
}

#[test]
fn one_number_of_few_is_what_it_depends_on() {
    let program = "static { int[64] A; int[64] B; float[64] F; init { for (int i = 0; i < 64; i++) { A[i] = (i * 37 + 11) % 64; B[i] = i * i - 300; F[i] = 1.0 / (i + 1); } } }
int->float filter Chosen { int turn; work pop 3 push 4 {
    int a = pop(); int b = pop() & 63; int c = pop();
    float f = 0;
    if (b > 7 && A[b] != 3) f = F[A[A[b]]];
    push(f);
    push(B[A[(a ^ c) & 31]] * 2 + (a & 1));
    int t = A[turn]; int u = A[t];
    push(u < 32 ? F[u] : F[63 - u] + B[t]);
    turn = (turn + 1) % 64;
    push((c & 15) > 3 ? B[A[c & 15]] : a);
} }
int->float pipeline Main { add Chosen; }";
    let text = after(program, &[]);
    assert!(text.matches("\"of\"").count() >= 3, "{text}");
    same(program, |n| words(n, 0), &[0, 3, 3 * 16, 3 * 1000 + 1]);
}

#[test]
fn what_is_no_place_fails_as_it_did() {
    for program in [syndromes(false), remainders(false), remainders(true)] {
        let place = Place::new().with("a.str", program.as_str());
        for wrong in [256, -1, i32::MIN, 100_000] {
            let mut items = bytes(200);
            items[4 * 103..4 * 104].copy_from_slice(&wrong.to_le_bytes());
            let by = |how: &[&str]| {
                let ran = place.run_with(&[&["run", "a.str"], how].concat(), &items).ends(1);
                (ran.stdout.clone(), ran.stderr.clone())
            };
            assert_eq!(by(&["--back-end", "cc"]), by(&["--interpret"]), "{wrong}");
        }
    }
}
