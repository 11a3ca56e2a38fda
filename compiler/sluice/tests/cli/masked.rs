//! Firings side by side that go different ways: loops that end where data say, what is done under conditions. The same bytes everywhere, and vectors.

use crate::fusing::{ints, reals, same};
use crate::support::*;

/// Loops of all kinds whose turns data decide: to each its own bound, up and down, left early or late, with turns cut short, one within the other, after a condition, with what is left seen
/// behind them; functions that return early.
const LOOPS: &[(&str, &str)] = &[
    (
        "Steps",
        "work pop 1 push 1 { int x = pop() & 1023; int n = 0; while (x > 1 && n < 40) { if ((x & 1) == 1) x = 3 * x + 1; else x = x >> 1; n++; } push(n * 1024 + x); }",
    ),
    (
        "Halves",
        "work pop 1 push 2 { int x = pop(); int e = 7; int m = 0x4000; while ((x & m) == 0 && e > 0) { e--; m >>= 1; } push(e); push(m ^ x); }",
    ),
    (
        "AtLeastOnce",
        "work pop 1 push 1 { int x = pop(); int s = 0; do { s += x & 15; x = x / 16; } while (x != 0); push(s); }",
    ),
    (
        "First",
        "work pop 8 push 2 { int i; int at = peek(7); for (i = 0; i < 7; i++) if (peek(i) > at) break; push(i); push(at); for (int k = 0; k < 8; k++) pop(); }",
    ),
    (
        "CutShort",
        "work pop 8 push 1 { int s = 0; for (int i = 0; i < 8; i++) { int x = pop(); if (x < 0) continue; s = s * 3 + x; if (s > 5000) { s -= 4000; continue; } s++; } push(s); }",
    ),
    (
        "Bounds",
        "work pop 2 push 2 { int a = pop() & 7; int b = pop() & 15; int s = 1; for (int i = a; i <= b; i++) s = s * 5 + i; push(s); for (int i = 0; i < a; i++) s ^= i << b; push(s); }",
    ),
    (
        "Down",
        "work pop 1 push 1 { int a = pop() & 31; int s = 0; for (int i = a; i > 0; i -= 3) { s += i * i; if (s > 900) break; } push(s + a); }",
    ),
    (
        "Shared",
        "work pop 6 push 1 { int n = peek(5) & 3; int s = 0; for (int i = 0; i <= n; i++) s += peek(i) * (i + 1); push(s); for (int k = 0; k < 6; k++) pop(); }",
    ),
    (
        "Nested",
        "work pop 2 push 1 { int a = pop(); int b = pop() & 7; int s = 0; while (a > 3) { for (int i = 0; i < b; i++) { s += a & i; if (s % 7 == 3) break; } a = a / 2 - b; s += 2; } push(s * 3 + a); }",
    ),
    (
        "Within",
        "work pop 2 push 1 { int a = pop(); int b = pop(); if (a > b) { int t = b; while (t < a) { t += 37 + (t & 3); b++; } for (int i = 0; i < 3; i++) b += i * t; } else if (a < -100) { b = -b; } push(a * 3 + b); }",
    ),
    (
        "Returns",
        "int sign(int x) { if (x < 0) return -1; for (int i = 0; i < 5; i++) { if (x == i) return 10 + i; if (x % 11 == i) return i; } return 1; } work pop 1 push 1 { int x = pop(); push(sign(x) * 100 + sign(x + 3)); }",
    ),
    (
        "Common",
        "int of(int a, int b) { while (b != 0) { int t = a % b; a = b; b = t; } return a; } work pop 2 push 1 { int a = pop(); int b = pop(); push(of(abs(a), abs(b))); }",
    ),
    (
        "Rows",
        "work pop 4 push 4 { int[4] a; for (int i = 0; i < 4; i++) a[i] = pop(); boolean moved = true; int turns = 0; while (moved) { moved = false; turns++; for (int i = 0; i < 3; i++) if (a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; moved = true; } } for (int i = 0; i < 4; i++) push(a[i] * 8 + turns); }",
    ),
    (
        "Own",
        "work pop 3 push 1 { int s = 0; for (int k = 0; k < 3; k++) { int[3] own; int x = pop() & 63; while (x > 2) { own[k] += x; x -= 5; int y = x * k; s += y; } s += own[k] * own[2]; } push(s); }",
    ),
    (
        "Twice",
        "work pop 1 push 1 { int x = pop(); int n = 0; while (true) { x = x * 5 + 3; n++; if ((x & 7) == 2) break; int y = x >> 3; if (y % 3 == 0) { n += 10; if (n > 50) break; continue; } n += y & 1; if (n > 90) break; } push(n + x); }",
    ),
];

/// What would go wrong where it is not wanted: divisions, look-ups, items and elements that do not exist; items that both sides give.
const CHOICES: &[(&str, &str)] = &[
    (
        "Quotients",
        "work pop 2 push 2 { int a = pop(); int b = pop(); int q = 0; if (b % 5 != 0) { q = a / (b % 5); q += a % (b % 5); } push(q); push(b != 0 && a / b > 1 ? 3 : 4); }",
    ),
    (
        "LookedUp",
        "int[8] t = {3, 1, 4, 1, 5, 9, 2, 6}; work pop 1 push 2 { int x = pop(); int s = -1; if (x >= 0 && x < 8) s = t[x]; while (x > 90 && t[x - 91 & 7] > 2) { s += t[x & 7]; x -= 13; } push(s); push(x >= 0 && x < 8 && t[x] > 3 ? x : -x); }",
    ),
    (
        "Given",
        "work pop 1 push 4 { int c = pop() * 41; if (c < 0x80) { push(c); push(0); push(0); push(1); } else if (c < 0x800) { push(0xc0 | c >> 6); push(0x80 | c & 63); push(0); push(2); } else { push(c >> 12); push(c & 63); push(c / 3); push(3); } }",
    ),
    (
        "EachTurn",
        "work pop 6 push 6 { int q = 3; for (int i = 0; i < 6; i++) { int v = pop(); int d = 8 + i; if (v < 0) { push(-((-v + d / 2) / d)); q++; } else push((v + d / 2) / d * q); } }",
    ),
    (
        "Most",
        "work pop 20 push 2 { int at = 0; int most = peek(0); for (int i = 1; i < 20; i++) if (peek(i) > most) { most = peek(i); at = i; } push(at); push(most); for (int i = 0; i < 20; i++) pop(); }",
    ),
    (
        "Seldom",
        "work pop 2 push 1 { int a = pop(); int b = pop(); if (a > 480) { for (int i = 0; i < 9; i++) { b = b * 31 + a; a = a ^ b >> 3; b = b % 1000; a += b * b; b ^= a << 2; } } push(a + b); }",
    ),
];

/// Elements that data choose of short arrays: stored, read, both, under conditions, in loops, of all types.
const ELEMENTS: &[(&str, &str)] = &[
    (
        "Counts",
        "work pop 4 push 1 { int[4] a; for (int k = 0; k < 4; k++) a[pop() & 3]++; push(a[0] * 64 + a[1] * 16 + a[2] * 4 + a[3]); }",
    ),
    (
        "Ranks",
        "work pop 5 push 5 { int[8] a; for (int i = 0; i < 5; i++) { int r = 0; for (int j = 0; j < 5; j++) if (peek(j) < peek(i) || peek(j) == peek(i) && j < i) r++; a[r & 7] = peek(i); } for (int i = 0; i < 5; i++) { push(a[i]); pop(); } }",
    ),
    (
        "Move",
        "work pop 3 push 8 { int[8] a; for (int i = 0; i < 8; i++) a[i] = i; int x = pop() & 7; int y = pop() & 7; int t = a[x]; a[x] = a[y]; a[y] = t; if (pop() > 0) a[a[x]] = a[a[y]] - 40; for (int i = 0; i < 8; i++) push(a[i] * 3 + x); }",
    ),
    (
        "Walk",
        "work pop 2 push 2 { int[6] next = {3, 5, 0, 4, 1, 2}; int at = pop() & 3; int n = 0; while (at != 2 && n < 6) { at = next[at]; n++; } float[3] f; boolean[3] b; f[n % 3] = 0.5 + at; b[at % 3] = true; push((int)(f[0] * 4 + f[1] * 16 + f[2] * 64)); push((b[0] ? 1 : 0) + (b[1] ? 2 : 0) + n * (b[2] ? 4 : 8) + pop()); }",
    ),
];

const FLOATS: &[(&str, &str)] = &[
    (
        "Escape",
        "work pop 2 push 2 { float cr = pop(); float ci = pop(); float x = 0; float y = 0; int n = 0; while (n < 64 && x * x + y * y < 4) { float t = x * x - y * y + cr; y = 2 * x * y + ci; x = t; n++; } push(n); push(x + y); }",
    ),
    (
        "Root",
        "work pop 1 push 1 { float a = abs(pop()) + 0.5; float x = a; float d = 1; int n = 0; while (d > 0.0001 && n < 20) { float y = 0.5 * (x + a / x); d = abs(y - x); x = y; n++; } push(x); }",
    ),
    (
        "Series",
        "work pop 1 push 1 { float x = pop(); float s = 1; float t = 1; for (int k = 1; k < 30; k++) { t = t * x / k; s += t; if (abs(t) < 0.001) break; } push(s); }",
    ),
    (
        "Wrapped",
        "work pop 1 push 1 { float p = pop() * 40; while (p > pi) p -= 2 * pi; while (p < -pi) p += 2 * pi; push(p); }",
    ),
];

fn program(ty: &str, filters: &[(&str, &str)]) -> String {
    let one = |(name, body): &(&str, &str)| format!("{ty}->{ty} filter {name} {{ {body} }}\n");
    let add = |(name, _): &(&str, &str)| format!("add {name}; ");
    let (filters, adds): (String, String) = (filters.iter().map(one).collect(), filters.iter().map(add).collect());
    format!("{filters}{ty}->{ty} pipeline Main {{ {adds}}}\n")
}

fn of_each(ty: &str, filters: &[(&str, &str)], input: fn(usize) -> Vec<u8>) {
    for one in filters {
        let text = program(ty, &[*one]);
        let place = Place::new().with("a.str", &text);
        let dumped = place.run(&["run", "a.str", "--dump-after", "lanes"]).ends(0).text().to_string();
        assert!(dumped.contains("\nlanes "), "{}: {dumped}", one.0);
        let ways = [&["-O1", "--back-end", "cc"][..], &["--back-end", "jit"]];
        for n in [0, 9, 64, 1400] {
            assert_eq!(place.as_interpreted(&input(n), &ways).code, 0, "{}", one.0);
        }
    }
}

#[test]
fn loops_that_data_end_have_lanes() {
    of_each("int", LOOPS, ints);
}

#[test]
fn what_is_chosen_has_lanes() {
    of_each("int", CHOICES, ints);
}

#[test]
fn elements_that_data_choose_have_lanes() {
    of_each("int", ELEMENTS, ints);
}

#[test]
fn loops_over_floats_have_lanes() {
    of_each("float", FLOATS, reals);
}

#[test]
fn one_after_the_other_they_give_the_same() {
    same(&program("int", &LOOPS[..8]), ints, &[8011]);
    same(&program("int", &[CHOICES, &LOOPS[8..]].concat()), ints, &[8011]);
    same(&program("int", ELEMENTS), ints, &[8011]);
    same(&program("float", FLOATS), reals, &[3001]);
}

/// Filters whose firings go different ways, and which have no lanes: what is given in some lanes only, an item at a place that differs, an element of a long array at one.
#[test]
fn what_has_no_lanes() {
    for body in [
        "work pop 2 push 2 { int x = pop(); int n = 0; while (x > 3) { x -= 7; if (n < 2) { push(x); n++; } } while (n < 2) { push(n); n++; } pop(); }",
        "work pop 4 push 1 { int i = 0; while (i < 3 && peek(i) < 0) i++; push(peek(i) * 3 + i); for (int k = 0; k < 4; k++) pop(); }",
        "work pop 4 push 1 { int[17] a; for (int k = 0; k < 4; k++) a[pop() & 15]++; push(a[0] * 64 + a[1] * 16 + a[2] * 4 + a[15]); }",
    ] {
        let place = Place::new().with("a.str", program("int", &[("F", body)]));
        let dumped = place.run(&["run", "a.str", "--dump-after", "lanes"]).ends(0).text().to_string();
        assert!(!dumped.contains("\nlanes "), "{dumped}");
        assert_eq!(place.as_interpreted(&ints(300), &[&["-O1", "--back-end", "cc"][..]]).code, 0);
    }
}
