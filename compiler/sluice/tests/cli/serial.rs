//! Firings that wait for one another: conditions that choose, sums of ints without their waiting, loops whose firings leave nothing but items. The same bytes as the interpreter's.

use crate::fusing::same;
use crate::support::*;

fn c_text(program: &str, how: &[&str]) -> String {
    let place = Place::new().with("a.str", program);
    place.run(&[&["build", "a.str", "--emit", "c", "-o", "-"], how].concat()).ends(0).text().to_string()
}

/// The functions of filters in C text.
fn filters(text: &str) -> &str {
    text.split("compiled quickly rather than").next().unwrap()
}

fn noise(n: usize) -> Vec<u8> {
    let mut x = 12345u32;
    let mut next = move || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x
    };
    (0..n).flat_map(|_| ((next() as i32) >> 16).to_le_bytes()).collect()
}

/// With NaNs, infinities and both zeroes among them.
fn odd_reals(n: usize) -> Vec<u8> {
    let odd = [f32::NAN, f32::INFINITY, -0.0, 0.0, f32::NEG_INFINITY, 1.0];
    let mut x = 99u32;
    let mut next = move || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x >> 8
    };
    let one = |i: usize| if i % 11 == 10 { odd[i / 11 % 6] } else { next() as f32 / 8_388_608.0 - 1.0 };
    floats(&(0..n).map(one).collect::<Vec<_>>())
}

/// A quantiser of differences, a row that hands on its errors, and a machine of three states.
const INTS: &str = "
int->int filter Quantise {
    int guess; int step = 16;
    work pop 1 push 1 {
        int d = pop() - guess;
        int code = 0;
        if (d < 0) { code = 8; d = -d; }
        int got = step >> 3;
        if (d >= step) { code |= 4; d -= step; got += step; }
        if (d >= step >> 1) { code |= 2; d -= step >> 1; got += step >> 1; }
        if (!(d < step >> 2)) { code |= 1; got += step >> 2; }
        if ((code & 8) != 0) guess -= got; else guess += got;
        step = step + (code & 7) * 3 - 8;
        if (step < 8 || step > 30000) step = 8;
        push(code);
    }
}
int->int filter Spread {
    work pop 32 push 32 {
        int error = 0;
        for (int i = 0; i < 32; i++) {
            int v = pop() * 16 + error;
            int o = v > 127 ? 255 : 0;
            error = v - o;
            push(o + (error & 15));
        }
    }
}
int->int filter Machine {
    int state; int hold; double level = 1.5;
    work pop 1 push 2 {
        int x = pop();
        switch (state) {
            case 0: if (x > 200) state = 1; break;
            case 1: if (x > 100) hold = 5; else hold--; if (hold < 0) state = 2; break;
            default: if (x > 250 && hold < 3) { state = 0; hold = 0; } else hold++; break;
        }
        if (level > x) level *= 1.25; else level = level * 0.5 + 1;
        push(state * 100 + hold);
        push(level > 1000 ? 1 : 0);
    }
}
int->int pipeline Main { add Quantise; add Spread; add Machine; }
";

/// Values and what is compared are of all kinds.
const FLOATS: &str = "
float->float filter Kinds {
    float a; double d = 0.25; int n; boolean up; bit b;
    work pop 1 push 4 {
        float x = pop();
        if (x > a) a = x; else a = a * 0.75;
        if (0.5 >= x) { n++; d = d + 1; } else { d = d * 0.5; n -= 2; }
        if (d < 2) { up = !up; a = a + 1; }
        if (up) n = n + 3;
        if (n % 4 == 1) { a = -a; d = 1; b = 1; }
        if (!(x >= -0.25)) b = 0;
        push(a); push((float)d); push(n); push(b == 1 ? 1 : 0);
    }
}
float->float filter Level {
    float gain = 1;
    work pop 1 push 1 {
        float y = pop() * gain;
        float wrong = 0.5 - abs(y);
        if (wrong > 0) gain += 0.001 * wrong; else gain += 0.01 * wrong;
        push(y);
    }
}
float->float pipeline Main { add Level; add Kinds; }
";

#[test]
fn conditions_on_data_choose() {
    for (program, input) in [(INTS, noise as fn(usize) -> Vec<u8>), (FLOATS, odd_reals)] {
        let text = c_text(program, &[]);
        let choices = filters(&text).split("sl_choose.h").last().unwrap().matches(" = sl_choose_").count();
        assert!(choices >= 6, "{choices}");
        assert!(!c_text(program, &["--inner=none"]).contains("sl_choose_"));
        same(program, input, &[0, 1, 31, 32, 64, 1003, 20_000]);
    }
}

/// Limiters, integrators that saturate, levels that fall: bounds of what waits, as conditions, as selections and as functions, by numbers and by each other.
const BOUNDS: &str = "
float->float filter Limit { float g = 1; float e; work pop 1 push 1 { float x = pop(); e = max(e * 0.999, abs(x)); float t = e > 1.0 ? 1.0 / e : 1.0; g = min(g + 0.001, t); push(x * g); } }
float->float filter Saturate { float s; double d; work pop 1 push 1 { s = s * 0.98 + pop(); s = s > 3.0 ? 3.0 : s < -3.0 ? -3.0 : s; d = d + s; if (d >= 2.5) d = 2.5; if (d < -0.0) d = -0.0; push(s + (float)d); } }
float->float filter Zero { float g; work pop 1 push 1 { g = max(g + 0.25 * pop(), 0); g = min(0.75, g); g = g <= 0.5 ? g : 0.5; push(g); } }
float->float filter Both { float a; float b; double c; work pop 1 push 2 { float x = pop(); a = min(a + x, b); b = max(x, b * 0.5); if (a > b) a = b; c = max(c * 0.5, (double)x); push(a); push(b + (float)c); } }
float->float filter Rows { work pop 64 push 64 { float m = 0; for (int i = 0; i < 64; i++) { m = max(m * 0.9, pop()); if (m > 0.8) m = 0.8; push(m); } } }
float->float pipeline Main { add Limit; add Saturate; add Zero; add Both; add Rows; }
";

#[test]
fn bounds_of_what_waits_are_instructions() {
    let text = c_text(BOUNDS, &[]);
    let filters = filters(&text).split("sl_choose.h").last().unwrap();
    for name in ["least_f", "least_d", "greatest_f", "max_f", "max_d", "min_f"] {
        assert!(filters.matches(&format!("sl_choose_{name}(")).count() > 0, "{name}: {filters}");
    }
    same(BOUNDS, odd_reals, &[0, 1, 64, 65, 1003, 20_000]);
    // what waits for nothing is for lanes
    let free = "float->float filter F { work pop 1 push 1 { float x = pop(); push(x > 3.0 ? 3.0 : max(x, -3.0)); } }
float->float pipeline Main { add F; }";
    assert!(!c_text(free, &[]).contains("sl_choose_"));
    // and with latitude C compilers know best
    assert!(!c_text(BOUNDS, &["--fast-math"]).contains("sl_choose_max_f("));
}

/// In lanes, too, of floats and ints.
#[test]
fn bounds_in_lanes_are_instructions() {
    let median = "float->float filter Median { work peek 5 pop 1 push 1 {
    float[5] v;
    for (int i = 0; i < 5; i++) v[i] = peek(i);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4 - i; j++) { float a = v[j]; float b = v[j + 1]; v[j] = a < b ? a : b; v[j + 1] = a > b ? a : b; }
    push(v[2]); pop(); } }
float->float pipeline Main { add Median; }
";
    let ints = median.replace("float", "int");
    for (program, names) in [(median, ["sl_vf_least(", "sl_vf_greatest("]), (&ints, ["sl_vi_min(", "sl_vi_max("])] {
        let text = c_text(program, &[]);
        // what is called, beside its definition
        assert!(names.iter().all(|name| text.matches(name).count() > 8), "{names:?}");
    }
    same(median, odd_reals, &[0, 4, 5, 100, 3001]);
    same(&ints, noise, &[0, 5, 3001]);
}

/// Of two conditions, one within the other, the inner one costs too much as a choice.
#[test]
fn a_jump_within_a_condition_stays() {
    let program = "float->float filter F { float g; work pop 1 push 1 { float x = pop(); g = g * 0.5 + x;
            if (x > 0.1) { if (g > 0.25) g = (g * 0.5 - 0.25) * 0.75 - 0.1; } else g = g + 0.125; push(g * x); } }
        float->float pipeline Main { add F; }";
    same(program, odd_reals, &[0, 1, 1003]);
}

/// What a place in a ring asks is learned by a processor.
#[test]
fn what_counts_is_asked() {
    let program = "float->float filter Ring { float[25] b; int p; work pop 1 push 1 { push(b[p]); b[p] = pop() + 0.5 * b[p]; p++; if (p >= 25) p = 0; } }
float->float pipeline Main { add Ring; }";
    assert!(!c_text(program, &[]).contains("sl_choose_"));
}

/// Integrators behind a filter that puts zeroes between items, as many as its firing gives.
fn integrators(n: usize, by: usize) -> String {
    format!(
        "int->int filter Integrate {{ int s; work pop 1 push 1 {{ s += pop(); push(s); }} }}
int->int filter Comb {{ int last; work pop 1 push 1 {{ int x = pop(); push(x - last); last = x; }} }}
int->int filter Stuff {{ work pop 1 push {by} {{ push(pop()); for (int i = 1; i < {by}; i++) push(0); }} }}
int->int pipeline Main {{ for (int i = 0; i < {n}; i++) add Comb; add Stuff; for (int i = 0; i < {n}; i++) add Integrate; }}
"
    )
}

#[test]
fn integrators_do_not_wait_for_one_another() {
    for (n, by) in [(2, 8), (3, 8), (3, 16), (2, 4)] {
        let program = integrators(n, by);
        let text = c_text(&program, &[]);
        let table = "factors __attribute__((unused)) = {{1, 2, 3, 4";
        assert!(text.contains(table), "{n} by {by}: {}", filters(&text));
        assert!(!c_text(&program, &["--inner=none"]).contains("_factors"));
        same(&program, noise, &[0, 1, 7, 100, 3001]);
    }
}

/// A string that is plucked: what the body looks back at is what the firing before took.
fn string(delay: usize, body: &str) -> String {
    let waiting: String = (0..delay).map(|i| format!("enqueue {}; ", i % 7)).collect();
    format!(
        "float->float feedbackloop String {{
    join roundrobin(1, 1);
    body float->float filter {{ work {body} }};
    split duplicate;
    {waiting}
}}
float->float pipeline Main {{ add String; }}
"
    )
}

#[test]
fn firings_over_a_tape_leave_items() {
    let back = "peek 4 pop 2 push 1 { push(peek(0) + 0.498 * (peek(1) + peek(3))); pop(); pop(); }";
    for delay in [9, 40, 100, 250] {
        let program = string(delay, back);
        let text = c_text(&program, &[]);
        assert!(filters(&text).contains("in[-1]"), "{delay}: {}", filters(&text));
        same(&program, odd_reals, &[0, 1, 2, 255, 256, 257, 1003, 20_000]);
    }
    // three firings back, and a sum that is left: the latter is no item
    let far = "peek 8 pop 2 push 1 { push(peek(6) + 0.5 * (peek(1) - peek(7))); pop(); pop(); }";
    same(&string(30, far), odd_reals, &[0, 3, 300, 5000]);
}

/// Combs, all-passes and echoes over rings whose places go round in every way that people write it; alone, and one after another.
fn reverb(n: usize) -> String {
    let ways = [
        "at++; if (at == n) at = 0;",
        "at = (at + 1) % n;",
        "if (++at >= n) at = 0;",
        "at = at + 1 == n ? 0 : at + 1;",
    ];
    let one = |i: usize, how: &&str| {
        format!(
            "float->float filter Comb{i}(int n, float g) {{ float[n] line; int at; work pop 1 push 1 {{ float y = line[at]; line[at] = pop() + g * y; {how} push(y); }} }}\n"
        )
    };
    let filters: String = ways.iter().enumerate().map(|(i, how)| one(i, how)).collect();
    let all: String = (0..4).map(|i| format!("add Comb{i}({}, 0.{}); ", n + 13 * i, 3 + i)).collect();
    format!(
        "{filters}float->float filter Pass(int n) {{ float[n] line; int w; int r = 5; work pop 1 push 1 {{ float old = line[r]; float v = pop() - 0.5 * old; line[w] = v; w = (w + 1) % n; r = (r + 1) % n; push(old + 0.5 * v); }} }}
float->float filter Mean {{ work pop 4 push 1 {{ push(0.25 * (pop() + pop() + pop() + pop())); }} }}
float->float pipeline Main {{ add splitjoin {{ split duplicate; {all} join roundrobin; }} add Mean; add Pass({n}); }}
"
    )
}

#[test]
fn rings_go_in_runs() {
    for n in [64, 100, 1000] {
        let program = reverb(n);
        let text = c_text(&program, &["--fuse=false"]);
        assert_eq!(filters(&text).matches("        long run = n;\n").count(), 5, "{n}: {}", filters(&text));
        assert!(filters(&c_text(&program, &[])).contains("        long run = n;\n"));
        same(&program, odd_reals, &[0, 1, n - 1, n, n + 1, 3 * n + 17, 20_000]);
    }
    // a mask, and a line that is longer than its ring
    let mask = "int->int filter Main { int[200] line; int at = 100; work pop 1 push 1 { int y = line[at]; line[at] = pop() + (y >> 1); at = (at + 1) & 127; push(y); } }";
    assert!(c_text(mask, &[]).contains("        long run = n;\n"));
    same(mask, noise, &[0, 1, 27, 28, 29, 128, 5000]);
}

/// A place that has left its ring, by where it begins, goes one by one, and the fault is the same.
#[test]
fn rings_that_are_left_are_faults() {
    let program = "int->int filter Main { int[100] line; int at = 150; init { at = at - BACK; } work pop 1 push 1 { int y = line[at]; line[at] = pop() + y; at++; if (at == 90) at = 0; push(y); } }";
    for back in ["0", "55", "100", "150"] {
        let place = Place::new().with("a.str", program.replace("BACK", back));
        let ways = [&["--back-end", "cc"][..], &["--back-end", "cc", "-O0"], &["--back-end", "jit"]];
        let code = place.as_interpreted(&noise(400), &ways).code;
        assert_eq!(code, i32::from(back == "0" || back == "55"), "{back}");
    }
}
