//! Fields that hold the last items: native code reads them from the window, has no state, and gives the bytes of the program as it is written.

use crate::support::*;
use crate::windows::at_all_widths;

/// Filters that keep their items themselves, of `float`s or `int`s; whether native code has state.
const SHAPES: [(&str, &str, bool); 16] = [
    (
        "a shift register",
        "float->float filter F { float[7] h; float[7] x; init { for (int i = 0; i < 7; i++) { h[i] = 1.0 / (i + 1); x[i] = i * 0.5 - 1; } } work pop 1 push 1 { for (int i = 6; i > 0; i--) x[i] = x[i - 1]; x[0] = pop(); float y = 0; for (int i = 0; i < 7; i++) y += h[i] * x[i]; push(y); } }",
        false,
    ),
    (
        "the other way",
        "float->float filter F { float[9] x; init { for (int i = 0; i < 9; i++) x[i] = i * 0.5 - 1; } work pop 1 push 1 { for (int i = 0; i < 8; i++) x[i] = x[i + 1]; x[8] = pop(); float y = 0; for (int i = 0; i < 9; i++) y = x[i] - y / 2; push(y); } }",
        false,
    ),
    (
        "read before it moves",
        "float->float filter F { float[5] x; init { for (int i = 0; i < 5; i++) x[i] = i * 0.5 - 1; } work pop 1 push 1 { float y = 0; float t = pop(); for (int i = 0; i < 5; i++) y = x[i] - y / 2; push(y + t); for (int i = 4; i > 0; i--) x[i] = x[i - 1]; x[0] = t; } }",
        false,
    ),
    (
        "a ring by remainders",
        "float->float filter F { float[11] x; int p; init { for (int i = 0; i < 11; i++) x[i] = i * 0.5 - 1; } work pop 1 push 1 { x[p] = pop(); float y = 0; for (int i = 0; i < 11; i++) y = x[(p - i + 11) % 11] - y / 2; p = (p + 1) % 11; push(y); } }",
        false,
    ),
    (
        "a ring by a mask, begun in the middle",
        "float->float filter F { float[16] x; int p = 3; init { for (int i = 0; i < 16; i++) x[i] = i * 0.5 - 1; } work pop 1 push 1 { x[p] = pop(); float y = 0; for (int i = 0; i < 16; i++) y = x[(p - i) & 15] - y / 2; p = (p + 1) & 15; push(y); } }",
        false,
    ),
    (
        "a ring by conditions",
        "float->float filter F { float[6] x; int p; init { for (int i = 0; i < 6; i++) x[i] = i * 3 - 7; } work pop 1 push 1 { x[p] = pop(); float y = 0; int j = p; for (int i = 0; i < 6; i++) { y += (i + 1) * x[j]; j--; if (j < 0) j = 5; } p++; if (p == 6) p = 0; push(y); } }",
        false,
    ),
    (
        "one item of a ring",
        "float->float filter F { float[37] x; int p; work pop 1 push 1 { float t = pop(); push(t + 0.5 * x[p]); x[p] = t; p = p + 1; if (p >= 37) p = 0; } }",
        false,
    ),
    (
        "several items at once",
        "float->float filter F { float[8] x; int p; work pop 3 push 1 { for (int k = 0; k < 3; k++) { x[p] = pop(); p = (p + 1) & 7; } float y = 0; for (int i = 0; i < 8; i++) y += (i + 1) * x[(p + i) & 7]; push(y); } }",
        false,
    ),
    (
        "two phases",
        "float->float filter F { float[12] x; work pop 2 push 2 { for (int i = 0; i < 10; i++) x[i] = x[i + 2]; x[10] = pop(); x[11] = pop(); float a = 0; float b = 0; for (int i = 0; i < 6; i++) { a += x[2 * i] * i; b += x[2 * i + 1] * (6 - i); } push(a + b); push(a - b); } }",
        false,
    ),
    (
        "rows",
        "float->float filter F { float[4][2] x; work pop 2 push 2 { for (int c = 0; c < 2; c++) { for (int i = 3; i > 0; i--) x[i][c] = x[i - 1][c]; x[0][c] = pop(); } for (int c = 0; c < 2; c++) { float y = 0; for (int i = 0; i < 4; i++) y += (i + 1) * x[i][c]; push(y); } } }",
        false,
    ),
    (
        "the last two, one of them minus zero",
        "float->float filter F { float a = -0.0; float b = 2; work pop 1 push 1 { float x = pop(); push(b - a); b = a; a = x; } }",
        false,
    ),
    (
        "looked ahead, too",
        "float->float filter F { float d1; work peek 3 pop 2 push 2 { float d = peek(1) - (peek(0) + peek(2)) / 2; push(peek(0) + (d1 + d) / 4); push(d); d1 = pop(); pop(); } }",
        false,
    ),
    (
        "made of items",
        "float->float filter F { float l; work pop 1 push 1 { float t = pop(); float e = t * t; push(e - l); l = e; } }",
        false,
    ),
    (
        "perhaps not written",
        "float->float filter F { float l; work pop 1 push 1 { float x = pop(); push(x - l); if (x > 0) l = x; } }",
        true,
    ),
    ("a sum", "float->float filter F { float l; work pop 1 push 1 { l = l / 2 + pop(); push(l); } }", true),
    (
        "begun as no items",
        "float->float filter F { float l = 1; float m = 2; work pop 1 push 1 { float x = pop(); push(x - l * m); l = x; m = x; } }",
        true,
    ),
];

/// Has what native code is made of state?
fn stateful(place: &Place, arguments: &[&str]) -> bool {
    let done = place.run(&[&["run", "a.str", "--dump-after", "past-items"], arguments].concat()).ends(0);
    done.text().lines().any(|l| l.starts_with('n') && l.split(' ').any(|w| w == "stateful"))
}

#[test]
fn the_bytes_are_those_of_the_program() {
    for (what, program, stays) in SHAPES {
        let program = format!("{program}\nfloat->float pipeline Main {{ add F; }}");
        let place = Place::new().with("a.str", &program);
        assert_eq!(stateful(&place, &[]), stays, "{what}");
        assert!(stateful(&place, &["--delay-lines=false"]), "{what}");
        at_all_widths(&place, &program, 1, &[0, 1, 4, 5, 6, 7, 8, 9, 12, 37, 700, 21_003]);
    }
}

/// In pipelines, behind splitters, with other filters that have state, in a loop.
const PLACES: &str = "int->int filter D(int k) { int l = k; work pop 1 push 1 { int x = pop(); push(x - l); l = x; } }
int->int filter Ring { int[5] x; int p; work pop 1 push 1 { x[p] = pop(); push(x[(p + 1) % 5] * 3 + x[(p + 3) % 5]); p = (p + 1) % 5; } }
int->int filter Sum { int s; work pop 1 push 1 { s = s / 2 + pop(); push(s); } }
int->int filter Mix { work pop 2 push 2 { int a = pop(); int b = pop(); push((a + b) >> 1); push((a - b) >> 1); } }
int->int pipeline Main {
    add D(3);
    add splitjoin { split duplicate; add D(1); add D(0); add pipeline { add D(4); add Sum; add D(2); } add Ring; add Ring; join roundrobin; }
    add splitjoin { split roundrobin; add Ring; add Sum; add D(9); join roundrobin; }
    add feedbackloop { join roundrobin(1, 1); body pipeline { add Mix; add D(5); } loop D(6); split roundrobin(1, 1); enqueue 4; };
    add D(7);
}";

#[test]
fn wherever_they_stand() {
    let place = Place::new().with("a.str", PLACES);
    for n in [0, 1, 2, 3, 7, 100, 5000] {
        let bytes: Vec<u8> = (0..n).flat_map(|i: i32| (i.wrapping_mul(7919) % 1000 - 500).to_le_bytes()).collect();
        let ways = [
            &["--back-end", "cc"][..],
            &["--back-end", "jit"],
            &["-O0", "--back-end", "cc", "--delay-lines=false"],
            &["-O0", "--back-end", "cc", "--fuse=false", "--fold=false"],
            &["-O1", "--back-end", "cc", "--unchecked"],
            &["-O0", "--threads", "3", "--threads-batch", "2"],
            &["-O0", "--schedule", "minimum-latency", "--back-end", "cc"],
            &["-O0", "--target", "cuda", "--emulate", "--sms", "2"],
        ];
        assert_eq!(place.as_interpreted(&bytes, &ways).code, 0);
    }
}

#[test]
fn firings_go_in_lanes() {
    let one = format!("{}\nfloat->float pipeline Main {{ add F; }}", SHAPES[0].1);
    let place = Place::new().with("a.str", &one);
    let lanes = |arguments: &[&str]| {
        let all = ["run", "a.str", "--back-end", "cc", "--dump-after", "emit-c"];
        place.run(&[&all, arguments].concat()).ends(0).text().contains("while (n >= SL_LANES)")
    };
    assert!(lanes(&[]) && !lanes(&["--delay-lines=false"]));
    // what a person sees is the program as it is written
    assert!(place.run(&["rates", "a.str"]).ends(0).text().contains(" state "));
    let project = Place::new()
        .with("a.str", &one)
        .with("sluice.toml", "[program]\nname = \"fir\"\nsources = [\"a.str\"]\n[build]\ndelay-lines = false\n");
    let dump = |more: &[&str]| {
        let done = project.run(&[&["run", "--dump-after", "past-items"], more].concat()).ends(0);
        done.text().contains(" stateful")
    };
    assert!(dump(&[]) && !dump(&["--delay-lines"]));
}
