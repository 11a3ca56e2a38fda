//! Few equal branches with a state, side by side, are lanes of vectors of their number: the same bytes as from the interpreter, and as one by one.

use crate::fusing::same;
use crate::support::*;

fn c_text(program: &str) -> String {
    let place = Place::new().with("a.str", program);
    place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string()
}

/// Vectors of so many lanes, in a loop over firings that leaves so many.
fn has(text: &str, lanes: usize, left: usize) -> bool {
    text.contains(&format!("#if SL_STREAM_LANES >= {lanes}\n    if (n > {left}) {{"))
}

/// Some NaNs, infinities, both zeroes and tiny numbers among others.
fn reals(n: usize) -> Vec<u8> {
    let odd = [f32::NAN, f32::INFINITY, -0.0, 0.0, 1e-41];
    floats(
        &(0..n).map(|i| if i % 97 == 96 { odd[i / 97 % 5] } else { (i as f32 * 0.7).sin() * 2.0 }).collect::<Vec<_>>(),
    )
}

fn ints(n: usize) -> Vec<u8> {
    (0..n as i32).flat_map(|i| i.wrapping_mul(0x9E37_79B1_u32 as i32).to_le_bytes()).collect()
}

const BIQUAD: &str = "float->float filter Biquad(float b) { float x1; float x2; float y1; float y2; work pop 1 push 1 {
    float x = pop(); float y = b * x + 0.4 * x1 + 0.2 * x2 + 0.5 * y1 - 0.3 * y2; x2 = x1; x1 = x; y2 = y1; y1 = y; push(y); } }
";
const LEVEL: &str = "float->float filter Level { float m; int n; work pop 1 push 1 {
    float x = pop(); m = max(m * 0.99, abs(x)); if (x > 0.75) n = n + 1; push(x > 0.9 ? 0.9 : min(x * m, sqrt(m)) - n); } }
";

fn branches(n: usize, all: &str) -> String {
    // a filter that nothing has would be another entry
    let level = if all.contains("Level") { LEVEL } else { "" };
    format!(
        "{BIQUAD}{level}float->float splitjoin Main {{ split roundrobin(1); for (int i = 0; i < {n}; i++) {all}; join roundrobin(1); }}\n"
    )
}

#[test]
fn channels_are_lanes() {
    // left are the firings behind which a vector would reach too far
    for (n, lanes, left) in [(2, 4, 1), (3, 4, 1), (4, 4, 0), (5, 8, 1), (6, 8, 1), (8, 8, 0), (9, 16, 1), (16, 16, 0)]
    {
        let program = branches(n, "add Biquad(0.2)");
        assert!(has(&c_text(&program), lanes, left), "{n}");
        same(&program, reals, &[0, n - 1, n, 2 * n + 1, 7 * n, 100 * n + 3]);
    }
    // seventeen are loops that C compilers make vectors of
    assert!(!c_text(&branches(17, "add Biquad(0.2)")).contains("SL_STREAM_LANES >="));
}

#[test]
fn branches_of_several_filters_and_with_numbers_of_their_own() {
    for n in [4, 7] {
        let program = branches(n, "add pipeline { add Biquad(0.2 + 0.1 * i); add Level; }");
        assert!(c_text(&program).contains("SL_STREAM_LANES >="), "{n}");
        same(&program, reals, &[0, n, 5 * n, 211 * n + 1]);
    }
}

/// All get the same items, or several in a turn; and ints.
#[test]
fn other_splitters_and_ints() {
    let same_for_all = branches(4, "add Biquad(0.1 * i)").replace("split roundrobin(1)", "split duplicate");
    let text = c_text(&same_for_all);
    assert!(has(&text, 4, 0) && text.contains("sl_s4f_splat(in[0])"), "{text}");
    same(&same_for_all, reals, &[0, 1, 2, 500]);
    let twice = "float->float filter Two { float s; work pop 2 push 2 { float a = pop(); float b = pop(); s = 0.5 * s + a - b; push(s); push(a + s); } }
float->float splitjoin Main { split roundrobin(1); for (int i = 0; i < 4; i++) add Two; join roundrobin(1); }
";
    assert!(has(&c_text(twice), 4, 0));
    same(twice, reals, &[0, 7, 8, 16, 1001]);
    let mix = "int->int filter Mix(int k) { int s; boolean up; work pop 1 push 1 { int x = pop() ^ s; s = (s << 5) + (x >> 3) + k; up = x > s; if (up) s = -s; push(max(x, s) & 65535 | (up ? 1 : 0)); } }
int->int splitjoin Main { split roundrobin(1); for (int i = 0; i < 3; i++) add Mix(77 * i); join roundrobin(1); }
";
    same(mix, ints, &[0, 2, 3, 6, 1000]);
}

/// A program's names may be those of the C text's own.
#[test]
fn names_of_vectors_are_a_programs_own() {
    let program = "float->float filter F { float sl_vf; float sl_vi_load; float x; float x_1_state; work pop 1 push 1 { float sl_vf_select = pop(); float sl_s4f = x; sl_vf = 0.5 * sl_vf + sl_vf_select;
    x = sl_vf - sl_vi_load; sl_vi_load = sl_vf; x_1_state = x_1_state * 0.25 + sl_s4f; push(sl_vi_load + x_1_state); } }
float->float splitjoin Main { split roundrobin(1); for (int i = 0; i < 4; i++) add F; join roundrobin(1); }
";
    assert!(has(&c_text(program), 4, 0));
    same(program, reals, &[0, 4, 1000]);
}

/// Conditions choose, of which several are within one another.
#[test]
fn conditions_within_branches() {
    let program = "float->float filter Gain { float g = 1; int n; float last; work pop 1 push 1 {
    float y = pop() * g; float step = 0.01;
    if (y > 0.5) { step = step * 0.5; float more = y - last; g = g - step * more; if (n > 3) { n = 0; g = 1; } else n = n + 1; } else if (y < -1) g = 0.5; else { last = y; }
    if (g < 0) g = 0;
    push(g > 1.5 ? n : y + last); } }
float->float splitjoin Main { split roundrobin(1); for (int i = 0; i < 6; i++) add Gain; join roundrobin(1); }
";
    let text = c_text(program);
    assert!(has(&text, 8, 1) && text.contains("const sl_s8i no_"), "{text}");
    same(program, reals, &[0, 5, 6, 12, 1000, 5003]);
}

/// What divides ints, or looks at another's, or is no loop over all of them, is none.
#[test]
fn others_are_as_they_were() {
    let divides = "int->int filter D { int s; work pop 1 push 1 { s = s / 3 + pop() % 7; push(s); } }
int->int splitjoin Main { split roundrobin(1); for (int i = 0; i < 4; i++) add D; join roundrobin(1); }
";
    assert!(!c_text(divides).contains("SL_STREAM_LANES >="));
    same(divides, ints, &[0, 4, 1000]);
    let pairs = branches(4, "add Biquad(0.2)")
        .replace("split roundrobin(1)", "split roundrobin(2)")
        .replace("join roundrobin(1)", "join roundrobin(2)");
    same(&pairs, reals, &[0, 8, 16, 1000]);
}
