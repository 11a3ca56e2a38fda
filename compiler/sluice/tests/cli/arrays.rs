//! Arrays of arrays in lanes and by columns, and arrays of state that stay in registers: the same bytes as the interpreter's.

use crate::fusing::{same, same_quickly};
use crate::support::*;

fn reals(n: usize) -> Vec<u8> {
    floats(&(0..n).map(|i| (i as f32 * 0.37).sin() * 3.0).collect::<Vec<_>>())
}

fn c_text(program: &str) -> String {
    Place::new().with("a.str", program).run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string()
}

/// The firing of a filter without state, with arrays `a`, `m` and `t`, and a list `i` of places.
fn blocks(body: &str) -> String {
    format!(
        "static {{ int[4][2] NEXT = {{{{0, 2}}, {{2, 0}}, {{3, 1}}, {{1, 3}}}}; }}
struct Pair {{ float x; int n; }}
float->float filter Blocks {{
    work pop 16 push 16 {{
        float[9][4] a; float[2][3][4] m; float[4] t; complex[2][4] z;
        {body}
        for (int i = 0; i < 16; i++) push(a[i / 2][i % 4] + m[i % 2][i % 3][i % 4] * t[i % 4] + z[i % 2][i % 4].real - z[1][3].imag);
        for (int i = 0; i < 16; i++) pop();
    }}
}}
float->float pipeline Main {{ add Blocks; }}"
    )
}

#[test]
fn arrays_of_arrays_go_in_lanes() {
    for body in [
        // a trellis
        "for (int i = 0; i < 8; i++) for (int s = 0; s < 4; s++) for (int u = 0; u < 2; u++)
            a[i + 1][NEXT[s][u]] = max(a[i + 1][NEXT[s][u]], a[i][s] + (u == 1 ? peek(2 * i) : 0 - peek(2 * i + 1)));",
        // three dimensions, complex numbers, and conditions
        "for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) m[i][j][k] = peek(i + j * 2 + k) * (m[0][j][k] + 1);
         for (int i = 0; i < 2; i++) for (int k = 0; k < 4; k++) z[i][k] = peek(i) + peek(k) * 1i * z[0][k];
         if (peek(3) > 0) { t[1] = peek(5); a[0][1] = m[1][2][3]; } else a[2][2] = -1;",
        // rows as a whole, of the array itself, too
        "for (int i = 0; i < 4; i++) { t[i] = peek(i); a[i][i] = peek(4 + i) * t[i]; }
         for (int i = 0; i < 8; i++) { float[4] r = a[i]; a[i] = a[i + 1]; a[i + 1] = t; t = r; a[i][2] += r[1] * peek(i); }
         m[1] = m[0]; m[0][2] = t; m[1][1] = a[3];",
    ] {
        let program = blocks(body);
        let text = c_text(&program);
        assert!(text.contains("sl_lanes_0("), "{program}");
        same(&program, reals, &[0, 15, 16, 16 * 5, 16 * 100 + 3]);
    }
}

#[test]
fn arrays_that_lanes_have_no_vectors_of_stay() {
    for body in [
        // an index that differs between lanes
        "a[(int)abs(peek(0)) % 9][1] = peek(1);",
        // more than all of them may have
        "float[70][70] big; for (int i = 0; i < 70; i++) big[i][i] = peek(i % 16) * 2; t[0] = big[3][3];",
        // structs
        "Pair[2][2] p; for (int i = 0; i < 2; i++) { p[i][1].x = peek(i); p[i][0] = p[i][1]; } t[2] = p[1][0].x;",
    ] {
        let program = blocks(body);
        assert!(!c_text(&program).contains("sl_lanes_0("), "{program}");
        same(&program, reals, &[0, 16, 16 * 40]);
    }
}

/// So many equal branches with states of their own.
fn bank(branches: usize, state: &str, work: &str) -> String {
    format!(
        "float->float filter Branch(float g) {{ {state} work pop 1 push 1 {{ float x = pop(); {work} }} }}
float->float splitjoin Main {{ split roundrobin; for (int i = 0; i < {branches}; i++) add Branch(0.25 + i / 100.0); join roundrobin; }}"
    )
}

#[test]
fn states_of_branches_stay_in_registers() {
    const ONE: (&str, &str) = ("float z = 0.5;", "z = g * z + x; push(z);");
    const FEW: (&str, &str) = (
        "float[2] z; int[2][2] n = {{1, 2}, {3, 4}};",
        "for (int i = 0; i < 2; i++) n[i][1] += n[1 - i][0] & 7; n[0][0]++; float y = g * x + z[0]; z[0] = z[1] - 0.5 * y; z[1] = 0.25 * x - g * y; push(y + n[1][1]);",
    );
    const WHOLE: (&str, &str) = ("float[3] z;", "float[3] y = z; z[0] = x; z[1] = y[0] * g; z[2] = y[1]; push(y[2]);");
    for (n, (state, work)) in [(16, ONE), (24, ONE), (64, ONE), (300, ONE), (3, FEW), (33, FEW), (33, WHOLE)] {
        let program = bank(n, state, work);
        same_quickly(&program, reals, &[0, n, 50 * n + 1]);
        let kept = c_text(&program).contains(&format!("_{n}_float z_0_kept = "));
        assert_eq!(kept, state == ONE.0 && (17..=256).contains(&n), "{program}");
    }
    // each element of all branches is a row
    let text = c_text(&bank(32, FEW.0, FEW.1));
    for part in ["sl_arr_2_32_float z_1_kept = ", "sl_arr_2_2_32_int32_t n_0_kept = ", ".z_1.v[1].v[31] = "] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A filter that learns what rows of its matrix are like.
fn learns(rows: usize, more: &str) -> String {
    format!(
        "float->float filter Nearest(int K, int D) {{
    float[K][D] c;
    init {{ for (int k = 0; k < K; k++) for (int d = 0; d < D; d++) c[k][d] = sin(k * 7.0 + d); }}
    work pop D push 2 {{
        float[D] x;
        float[K][D] seen;
        for (int d = 0; d < D; d++) x[d] = pop();
        int best = 0; float least = 1000000;
        for (int k = 0; k < K; k++) {{
            float s = 0;
            for (int d = 0; d < D; d++) {{ float t = x[d] - c[k][d]; s += t * t; }}
            if (s < least) {{ least = s; best = k; }}
        }}
        for (int k = 0; k < K; k++) for (int d = 0; d < D; d++) c[k][d] += 0.001 * (x[d] - c[k][d]) * (k + 1);
        for (int d = 0; d < D; d++) {{ c[best][d] += 0.01 * (x[d] - c[best][d]); seen[best][d] = c[best][d]; }}
        {more}
        push(best); push(least + seen[0][0]);
    }}
}}
float->float pipeline Main {{ add Nearest({rows}, 8); }}"
    )
}

#[test]
fn matrices_of_state_are_stored_by_columns() {
    let columns = |program: &str, rows: usize, arguments: &[&str]| {
        let place = Place::new().with("a.str", program);
        let dump = [&["build", "a.str", "-o", "x.c", "--emit", "c"], arguments].concat();
        place
            .run(&[&dump[..], &["--dump-after", "turn-arrays"]].concat())
            .ends(0)
            .text()
            .contains(&format!("\"c\" float[{rows}][8]"))
    };
    for (rows, more, turned) in [
        (16, "", true),
        (37, "", true),
        // too few for a vector
        (12, "", false),
        // a row is wanted as a whole
        (16, "x = c[best];", false),
        // other loops lose more than this one gains
        (16, "for (int k = 0; k < K; k++) for (int d = 0; d < D; d++) { least += c[k][d]; least *= 0.5; }", false),
    ] {
        let program = learns(rows, more);
        assert_eq!(columns(&program, rows, &[]), turned, "{program}");
        assert!(!columns(&program, rows, &["--inner", "none"]), "{program}");
        same(&program, reals, &[0, 8, 7 * 8 + 3, 8 * 300]);
    }
}
