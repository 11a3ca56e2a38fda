//! Loops whose every turn is known, arrays that are moved along themselves, divisions of what is never negative, loops over neighbouring items, attempts in a row: the same bytes
//! everywhere, and a form in native code that is worth it.

use crate::fusing::{ints, same};
use crate::support::*;

/// A network as its inventor's loops, transforms in place (one in a field that is no state, one in a field that is), loops that leave early or go on where the data say, counters that
/// go down by shifts, turns that nothing bounds.
const KNOWN: &str = "int->int filter Network(int n) { work pop n push n {
    int[n] a; for (int i = 0; i < n; i++) a[i] = pop();
    for (int p = 1; p < n; p *= 2) for (int k = p; k >= 1; k /= 2)
        for (int j = k % p; j <= n - 1 - k; j += 2 * k) for (int i = 0; i < k; i++)
            if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) {
                int x = min(a[i + j], a[i + j + k]); int y = max(a[i + j], a[i + j + k]); a[i + j] = x; a[i + j + k] = y; }
    for (int i = 0; i < n; i++) push(a[i]); } }
int->int filter Walsh(int n) { int[n] a; work pop n push n {
    for (int i = 0; i < n; i++) a[i] = pop();
    for (int h = 1; h < n; h *= 2) for (int i = 0; i < n; i += 2 * h) for (int j = i; j < i + h; j++) {
        int x = a[j]; int y = a[j + h]; a[j] = x + y; a[j + h] = x - y; }
    for (int i = 0; i < n; i++) push(a[i]); } }
int->int filter Kept { int[16] a; int turns; work pop 2 push 1 {
    a[turns & 15] += pop();
    for (int h = 8; h > 0; h >>= 1) for (int i = 0; i < h; i++) a[i] += a[i + h] >> 1;
    for (int s = 0; s < 4; s++) { int h = 1 << s; for (int i = 0; i < 16; i += 2 * h) if (i % 3 == 0) continue; else a[i] ^= a[i + h] & 7; }
    turns += 3; push(a[0] + turns + pop()); } }
int->int filter Leaves { work pop 4 push 1 {
    int sum; int at = 0; int seen = 5;
    for (int m = 1; m < 200; m *= 3) { if (m == 27) continue; if (m > 100) break; seen = m; sum += peek(at) * m; at = (at + 1) & 3; if (sum < 0) seen = -m; }
    for (int m = 0x40; m > 0 && (sum & m) == 0; m >>= 1) sum++;
    int most = 1; while (most < (peek(0) & 1023)) most *= 2; sum = sum % 20000;
    for (int i = 1; i < 3; i++) { int left = 7; while (left > i) left -= 2; sum += left * i; while (sum > 1000) sum -= 900; }
    push(sum * 7 + at + seen + most); for (int i = 0; i < 4; i++) pop(); } }
int->int filter Parts { work pop 1 push 1 { float sum; int i = 3;
    while (i > 0) { i--; complex z; float2 v; z.imag--; v.y -= 2; z.real = z.imag + v.x; sum += z.real * z.imag + v.y; }
    do { complex z; sum += z.real--; } while (false);
    push(pop() + (int)sum); } }
int->int pipeline Main { add Network(16); add Walsh(8); add Kept; add Leaves; add Parts; add Network(8); }
";

#[test]
fn known_turns_give_the_same() {
    same(KNOWN, ints, &[0, 7, 63, 1000, 9011]);
    let place = Place::new().with("a.str", KNOWN);
    let bytes = ints(2000);
    let by = |arguments: &[&str]| place.run_with(&[&["run", "a.str"], arguments].concat(), &bytes).ends(0).stdout;
    let reference = by(&["--interpret"]);
    for way in [
        &["--back-end", "jit"][..],
        &["-O0", "--privatise=false", "--back-end", "cc"],
        &["-O0", "--inner", "none", "--back-end", "cc"],
        &["-O0", "--inner", "both", "--back-end", "cc"],
        &["-O0", "--target", "cuda", "--emulate", "--sms", "2"],
    ] {
        assert!(by(way) == reference, "{way:?}");
    }
}

/// A sorting network that is written as loops goes side by side in vectors.
#[test]
fn a_network_of_loops_has_lanes() {
    let network = &KNOWN[..KNOWN.find("int->int filter Walsh").unwrap()];
    let place = Place::new().with("a.str", format!("{network}int->int pipeline Main {{ add Network(32); }}"));
    let text = place.run(&["run", "a.str", "--dump-after", "lanes"]).ends(0).text().to_string();
    assert!(text.contains("\nlanes ") && !text.contains("loop "), "{text}");
    assert!(!text.contains("check "), "{text}");
}

/// Delay lines that are arrays moved along themselves, up and down, of fields and of variables, whole or in part; a loop that looks like one, and copies its first element.
const ALONG: &str = "float->float filter Down(int n) { float[n] x; work pop 1 push 1 {
    for (int i = n - 1; i > 0; i--) x[i] = x[i - 1];
    x[0] = pop(); float y = 0; for (int i = 0; i < n; i++) y += x[i] * (i + 1); push(y / n); } }
float->float filter Up(int n) { float[n] x; work pop 1 push 1 {
    int i; for (i = 0; i < n - 1; i++) x[i] = x[i + 1];
    x[i] = pop(); float y = 0; for (int k = 0; k < n; k++) y += x[k] * 0.25; push(y / n + i); } }
float->float filter Part { float[70] x; work pop 2 push 2 {
    float[40] y; for (int i = 0; i < 40; i++) y[i] = x[i] + i;
    for (int i = 3; i <= 30; i++) y[i] = y[i + 7];
    for (int i = 60; i >= 20; i--) x[2 + i] = x[i - 5];
    for (int i = 1; i < 20; i++) x[i] = x[i - 1] * 0.5;
    for (int i = 25; i < 45; i++) y[i - 24] = y[i - 25];
    x[0] = pop(); x[15] = pop(); push(y[7] + y[33] + x[62]); push(y[20] - x[18]); } }
float->float pipeline Main { add Down(20); add Up(33); add Part; add Down(3); }
";

fn reals(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| ((i as f32 * 0.37).sin() * 3.0).to_le_bytes()).collect()
}

#[test]
fn delay_lines_are_moved() {
    same(ALONG, reals, &[0, 5, 64, 999, 5000]);
    let place = Place::new().with("a.str", ALONG);
    let text = place
        .run(&["build", "a.str", "--emit", "c", "-o", "-", "--fuse=false", "--delay-lines=false"])
        .ends(0)
        .text()
        .to_string();
    for one in [
        "memmove(&st->x_0.v[1], &st->x_0.v[0], 19 * sizeof st->x_0.v[1]);",
        "memmove(&st->x_0.v[0], &st->x_0.v[1], 32 * sizeof st->x_0.v[0]);",
        "memmove(&st->x_0.v[22], &st->x_0.v[15], 41 * sizeof st->x_0.v[22]);",
    ] {
        assert!(text.contains(one), "{one}");
    }
}

/// Rings whose position comes back to 0 by a remainder, sums over powers of two, and what may be negative.
const RINGS: &str = "int->int filter Ring(int n) { int[n] ring; int at; int round; work pop 1 push 2 {
    int x = pop(); push(ring[at] + ring[(at + n - 1) % n] * 3); ring[at] = x; at = (at + 1) % n; round = (round + 5) % 32;
    push((x & 1023) / 8 + (x & 255) % 3 + round / 4 + x / 8 + x % 8 + (x & 7) % 8 + (x & 7) / 8 - x % 7); } }
int->int pipeline Main { add Ring(7); add Ring(64); add Ring(1); }
";

#[test]
fn divisions_are_reduced() {
    same(RINGS, ints, &[0, 1, 100, 3000]);
    let place = Place::new().with("a.str", RINGS);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-", "--fuse=false"]).ends(0).text().to_string();
    for one in ["(at_1_kept + 1) >= 7", "at_1_kept = (at_1_kept + 1) & 63;", "(x_0 & 1023) >> 3", "x_0 / 8", "x_0 % 8"]
    {
        assert!(text.contains(one), "{one}");
    }
}

/// Lines of an image: what one turn needs lies beside what the next one needs.
const LINES: &str = "int->int filter Edges(int w) { work peek 3 * w pop w push w {
    push(0);
    for (int x = 1; x < w - 1; x++) {
        int across = peek(w + x + 1) - peek(w + x - 1); int down = peek(2 * w + x) - peek(x);
        push(min(255, abs(across) + abs(down))); }
    push(0); for (int x = 0; x < w; x++) pop(); } }
int->int filter Turn(int r, int c) { work pop r * c push r * c {
    for (int j = 0; j < c; j++) for (int i = 0; i < r; i++) push(peek(i * c + j));
    for (int i = 0; i < r * c; i++) pop(); } }
int->int filter Smooth(int w) { work pop w push w {
    float last = 0; for (int x = 0; x < w; x++) { last = last * 0.5 + pop(); push((int) last + x * 3); } } }
int->int pipeline Main { add Edges(64); add Smooth(64); add Turn(4, 16); }
";

/// Which filters of a program have lanes.
fn lanes(program: &str, want: &[bool]) {
    let place = Place::new().with("a.str", program);
    let text = place.run(&["run", "a.str", "--dump-after", "lanes", "--fuse=false"]).ends(0).text().to_string();
    let found: Vec<bool> = text.split("kernel \"").skip(1).map(|k| k.contains("\nlanes ")).collect();
    assert_eq!(found, want, "{text}");
}

#[test]
fn loops_over_neighbours_stay_loops() {
    same(LINES, ints, &[0, 191, 192, 5000, 40_000]);
    lanes(LINES, &[false, true, false]);
}

/// Firings of more complex numbers than a vector of them could hold in the cache: butterflies side by side (a stage whose inner loop goes over neighbours, one whose inner loop
/// is short, one with short firings), far apart, sums that go from turn to turn, an item that does, items backwards, parts of numbers.
const COMPLEX: &str = "
complex->complex filter Far(int m, int s) { complex[m] w; init { for (int p = 0; p < m; p++) w[p] = complex(cos(0.1 * p), sin(0.1 * p)); }
    work pop 2 * m * s push 2 * m * s { complex[2 * m * s] y;
    for (int p = 0; p < m; p++) for (int q = 0; q < s; q++) {
        complex a = peek(q + s * p); complex b = peek(q + s * (p + m));
        y[q + s * 2 * p] = a + b; y[q + s * (2 * p + 1)] = w[p] * (a - b); }
    for (int i = 0; i < 2 * m * s; i++) push(y[i]);
    for (int i = 0; i < 2 * m * s; i++) pop(); } }
complex->complex filter Strides(int m) { work pop 64 * m push 64 * m {
    for (int q = 0; q < 64; q++) for (int p = 0; p < m; p++) push(peek(q + 64 * p) * 0.5);
    for (int i = 0; i < 64 * m; i++) pop(); } }
complex->complex filter Sum(int n) { work pop n push n { complex x = 0;
    for (int i = 0; i < n; i++) { x = x * 0.5 + peek(i); push(x); } for (int i = 0; i < n; i++) pop(); } }
complex->complex filter Kept(int n) { work pop n push n { complex x = 0;
    for (int i = 0; i < n; i++) { push(x + peek(i)); x = peek(i); } for (int i = 0; i < n; i++) pop(); } }
complex->complex filter Back(int n) { work pop n push n {
    for (int i = 0; i < n; i++) push(peek(n - 1 - i) * 2); for (int i = 0; i < n; i++) pop(); } }
complex->complex filter Magnitude(int n) { work pop n push n {
    for (int i = 0; i < n; i++) { float r = peek(i).real; push(complex(sqrt(abs(r)), max(r, peek(i).imag))); } for (int i = 0; i < n; i++) pop(); } }
complex->complex pipeline Main { add Far(1, 256); add Far(128, 2); add Far(16, 16); add Far(4, 4); add Strides(8); add Sum(512); add Kept(512); add Back(512); add Magnitude(512); }
";

#[test]
fn loops_over_neighbouring_complex_numbers_stay_loops() {
    same(COMPLEX, reals, &[0, 1000, 1024, 9000, 70_000]);
    lanes(COMPLEX, &[false, true, false, true, true, true, true, true, false]);
}

/// Transforms of all lengths up to those whose stages are wide.
#[test]
fn transforms_give_the_same() {
    for n in [1, 8, 128, 512] {
        let both = format!("complex->complex pipeline Main {{ add FFT({n}); add IFFT({}); }}", 2 * n);
        same(&both, reals, &[36 * n + 1]);
    }
}

/// Sums of ints over what a firing takes; the same over a window; of floats; of a running sum that is looked at; by an operation whose order counts.
const SUMS: &str = "
int->int filter Word { work pop 32 push 2 { int w = 0; int odd = 0;
    for (int i = 0; i < 32; i++) { w |= (peek(i) & 1) << i; odd = (peek(i) * 3) ^ odd; } for (int i = 0; i < 32; i++) pop(); push(w); push(odd); } }
int->int filter Window { work peek 32 pop 1 push 1 { int w = 0; for (int i = 0; i < 32; i++) w += peek(i); push(w); pop(); } }
int->int filter Half { work pop 64 push 1 { float w = 0; for (int i = 0; i < 64; i++) w += peek(i); push((int) w & 1023); for (int i = 0; i < 64; i++) pop(); } }
int->int filter Running { work pop 32 push 32 { int w = 0; for (int i = 0; i < 32; i++) { w += peek(i); push(w); } for (int i = 0; i < 32; i++) pop(); } }
int->int filter Less { work pop 32 push 1 { int w = 0; for (int i = 0; i < 32; i++) w = peek(i) - w; for (int i = 0; i < 32; i++) pop(); push(w); } }
int->int pipeline Main { add Word(); add Window(); add Half(); add Running(); add Less(); }
";

#[test]
fn sums_of_ints_stay_loops() {
    same(SUMS, ints, &[0, 31, 32, 5000, 100_000]);
    lanes(SUMS, &[false, true, true, true, true]);
}

/// gcc would look for vectors across long firings for minutes: what it is told not to do, where they are no lanes. The rounds of DES over bits are.
#[test]
fn long_firings_are_not_vectors() {
    let text = |program: &str| {
        let place = Place::new().with("a.str", program);
        place.run(&["build", "--emit", "c", "a.str", "-o", "-"]).ends(0).text().to_string()
    };
    let alone = |program: &str| text(program).matches("\n        SL_ALONE;\n").count();
    let des = include_str!("../../../../tests/run/app_des.str");
    assert_eq!(alone(des), 0);
    let turns = "a = (a * 5 + (a >> 3)) ^ s; s = s + (a & 1023); ".repeat(150);
    let long = format!("int->int filter Long {{ int s; work pop 1 push 1 {{ int a = pop(); {turns} push(a); }} }}\n");
    assert_eq!(alone(&format!("{long}int->int pipeline Main {{ add Long; }}\n")), 1);
    assert_eq!(alone(SUMS), 0);
}

/// Attempts that take and give within bounds; the last items, a message of a fault, firings that need more than is there.
const ATTEMPTS: &str = "int->int filter Pack { int last; int count; work pop 1 push [0, 2] {
    int x = pop() >> 6; if (count > 0 && (x != last || count == 9)) { push(last); push(count); count = 0; } last = x; count++; } }
int->int filter Unpack { work pop 2 push [1, 9] { int x = pop(); int n = pop(); for (int i = 0; i < n; i++) push(x * 10 + i); } }
int->int filter Gate { int error; work peek 9 pop [7, 8, 9] push 1 {
    int e = peek(5) - peek(3); error += e; int step = error > 100 ? 9 : error < -100 ? 7 : 8; push(peek(4) + step * iter());
    for (int i = 0; i < step; i++) pop(); } }
int->int filter Half { int n; work pop [1, 2] push [0, 1] { n++; int x = pop(); if (x % 2 == 0) x += pop(); if (n % 5 != 0) push(x); } }
int->int filter Runs { int n; work pop * push 2 { int x = pop(); int k = 1; while ((peek(0) >> 4) == (x >> 4)) { k += pop() & 1; } n += k; push(x); push(n); } }
int->int filter Many { int n; float half; work pop 1 push * { int x = pop(); n++; half = half / 2 + x; int k = (x + n) & 7; if (n % 1000 == 0) k = 9000; push(x); for (int i = 0; i < k; i++) push(x + i + (int) half); n += k & 1; } }
int->int pipeline Main { add Pack; add Unpack; add Gate; add Half; add Runs; add Many; }
";

#[test]
fn attempts_in_a_row_give_the_same() {
    same(ATTEMPTS, ints, &[0, 1, 2, 9, 100, 20_000]);
    let place = Place::new().with("a.str", ATTEMPTS);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    assert_eq!(text.matches("static void sl_call_sure_").count(), 6, "{text}");
    assert_eq!(text.matches("goto done;").count(), 2, "{text}");
    let bytes = ints(30_000);
    let by = |arguments: &[&str]| place.run_with(&[&["run", "a.str"], arguments].concat(), &bytes);
    let reference = by(&["--interpret"]).ends(0).stdout;
    assert!(by(&["--back-end", "cc", "--stats"]).ends(0).stdout == reference);
    assert!(by(&["--back-end", "jit"]).ends(0).stdout == reference);
}

/// A fault in the middle of many attempts is that of the same firing.
#[test]
fn a_fault_among_attempts_has_its_number() {
    const FAULT: &str = "int->int filter Look { int[1000] t; work pop [1, 2] push [1, 2] { int x = pop(); push(t[x + 500] + x); if (x == 7) { push(x); pop(); } } }
int->int pipeline Main { add Look; }";
    let place = Place::new().with("a.str", FAULT);
    let mut bytes = ints(9000);
    bytes.splice(4 * 8000..4 * 8001, 600i32.to_le_bytes());
    let by = |how: &[&str]| place.run_with(&[&["run", "a.str"], how].concat(), &bytes).ends(1).stderr;
    let said = by(&["--interpret"]);
    assert!(said.contains("index 1100"), "{said}");
    assert_eq!(by(&["--back-end", "cc"]), said);
}

/// Fields that only some firings write, of all kinds of numbers, beside an array, and in a filter that a function of its own writes to.
const FIELDS: &str = "int->int filter Follow { int level; float slow; complex turn = 1; bit odd; int[3] seen; float[2] old; int steps; work pop 1 push 1 {
    int x = pop(); if (x > level) level += (x - level) / 2; else if (x < -level) level--;
    if (x % 3 == 0) { slow = slow * 0.5 + x; odd = !odd; } if (odd == 1 && x % 5 == 0) { turn = turn * (0.6 + 0.8i); seen[steps % 3] = x; steps++; old[1] = old[0]; old[0] = x * 0.5; }
    push((int) old[1] + level + (int) slow + (int) (turn.real * 10) + seen[0] - seen[2]); } }
int->int filter Calls { int depth; int most; int down(int n) { depth++; if (n < 2) return depth; return down(n / 2) + most; }
    work pop 1 push 1 { int x = abs(pop()) % 50; depth = 0; int d = down(x); if (d > most) most = d % 7; push(d + x); } }
int->int pipeline Main { add Follow; add Calls; add Follow; }
";

#[test]
fn fields_are_variables_while_a_filter_fires() {
    same(FIELDS, ints, &[0, 1, 700, 9000]);
    let place = Place::new().with("a.str", FIELDS);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-", "--fuse=false"]).ends(0).text().to_string();
    let follow = text.split("/* Follow: work").nth(1).unwrap().split("\n}\n").next().unwrap();
    assert_eq!(follow.matches("_kept = st->").count(), 6, "{follow}");
    assert_eq!(follow.lines().filter(|l| l.starts_with("    st->") && l.ends_with("_kept;")).count(), 6, "{follow}");
    let calls = text.split("/* Calls: work").nth(1).unwrap().split("\n}\n").next().unwrap();
    assert!(!calls.contains("_kept"), "{calls}");
}

/// Sorting by exchanges, each turn among fewer, in filters with a window and with blocks.
#[test]
fn exchanges_among_fewer_and_fewer_are_choices_in_lanes() {
    const EXCHANGES: &str = "for (int i = 0; i < N - 1; i++) for (int j = 0; j < N - 1 - i; j++)
        if (v[j] > v[j + 1]) { int t = v[j]; v[j] = v[j + 1]; v[j + 1] = t; }";
    let median = format!(
        "int->int filter Median(int N) {{ work peek N pop 1 push 1 {{ int[N] v; for (int i = 0; i < N; i++) v[i] = peek(i); {EXCHANGES} push(v[N / 2]); pop(); }} }}
int->int filter Sort(int N) {{ work pop N push N {{ int[N] v; for (int i = 0; i < N; i++) v[i] = pop(); {EXCHANGES} for (int i = 0; i < N; i++) push(v[i]); }} }}
int->int pipeline Main {{ add Median(5); add Sort(7); add Median(3); }}
"
    );
    same(&median, ints, &[0, 4, 7, 40, 700, 9001]);
    let place = Place::new().with("a.str", &median);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-", "--fuse=false"]).ends(0).text().to_string();
    // where a firing takes one item, a loop over firings is all that a C compiler needs
    let work = text.split("/* Median(5): work").nth(1).unwrap().split("\n}\n").next().unwrap();
    assert_eq!(work.matches("for (").count(), 1, "{work}");
    assert!(text.split("/* Sort(7): work").nth(1).unwrap().contains(" void sl_lanes_1("), "{text}");
}
