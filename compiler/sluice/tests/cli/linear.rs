//! Linear filters: only where other bytes are allowed and nobody says otherwise, in every product, and the dump that tells of them.

use crate::support::*;

const BANDS: &str = "float->float filter Fir(int n) {
    float[n] h;
    init { for (int i = 0; i < n; i++) h[i] = sin(0.1 * i + n) / (i + 1); }
    work peek n pop 1 push 1 { float s = 0; for (int i = 0; i < n; i++) s += h[i] * peek(i); push(s); pop(); }
}
float->float filter Difference { work pop 2 push 1 { float a = pop(); push(a - pop()); } }
float->float pipeline Main {
    add splitjoin { split duplicate; add Fir(90); add Fir(100); join roundrobin; }
    add Difference;
}
";

/// Floats as raw bytes.
fn noise(n: u32) -> Vec<u8> {
    (0..n).flat_map(|i| ((i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).to_le_bytes()).collect()
}

fn place() -> Place {
    Place::new().with("bands.str", BANDS).with("in.raw", noise(6000))
}

fn floats(place: &Place, name: &str) -> Vec<f32> {
    let bytes = std::fs::read(place.path(name)).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// As many items, and nearly the same; are they the same?
fn near(place: &Place, one: &str, other: &str) -> bool {
    let (a, b) = (floats(place, one), floats(place, other));
    assert_eq!(a.len(), b.len());
    let most = a.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() <= 5e-6 * most));
    a == b
}

#[test]
fn bytes_stay_the_same_but_with_fast_math_in_c() {
    let place = place();
    let run = |to: &str, more: &[&str]| {
        place.run(&[&["run", "bands.str", "-i", "in.raw", "-o", to], more].concat()).ends(0);
    };
    run("exact.raw", &["--interpret"]);
    assert_eq!(floats(&place, "exact.raw").len(), 6000 - 99);
    for (i, more) in [
        &["--linear=frequency", "--back-end=cc"][..],
        &["--fast-math", "--linear=frequency", "--interpret"],
        &["--fast-math", "--linear=frequency", "--back-end=jit"],
    ]
    .into_iter()
    .enumerate()
    {
        let to = format!("same{i}.raw");
        run(&to, more);
        assert!(near(&place, "exact.raw", &to), "{more:?}");
    }
    for linear in ["off", "direct", "frequency", "auto"] {
        let to = format!("{linear}.raw");
        run(&to, &["--fast-math", &format!("--linear={linear}")]);
        near(&place, "exact.raw", &to);
    }
    assert!(!near(&place, "exact.raw", "frequency.raw"));
    run("threads.raw", &["--fast-math", "--linear=frequency", "--threads=2"]);
    near(&place, "exact.raw", "threads.raw");
    // what is counted is the program as it is written
    let counted =
        place.run(&["run", "bands.str", "-i", "in.raw", "-o", "counted.raw", "--fast-math", "--stats"]).ends(0);
    counted.says("Difference");
}

#[test]
fn a_program_of_its_own_has_its_spectra() {
    let place = place();
    place.run(&["run", "bands.str", "--interpret", "-i", "in.raw", "-o", "exact.raw"]).ends(0);
    place.run(&["build", "bands.str", "--fast-math", "-o", "bands"]).ends(0);
    let mut own = std::process::Command::new(place.path("bands"));
    let done = own.args(["-i", "in.raw", "-o", "own.raw"]).current_dir(place.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!near(&place, "exact.raw", "own.raw"));
    let c = place.run(&["build", "bands.str", "--fast-math", "--emit", "c", "-o", "-"]).ends(0);
    assert!(c.text().contains("sl_convolve("));
    for plain in [
        &["build", "bands.str", "--emit", "c", "-o", "-"][..],
        &["build", "bands.str", "--fast-math", "--linear=off", "--emit", "c", "-o", "-"],
    ] {
        assert!(!place.run(plain).ends(0).text().contains("sl_convol"));
    }
}

#[test]
fn a_project_says_what_is_done() {
    let manifest = |build: &str| format!("[program]\nname = \"bands\"\nsources = [\"bands.str\"]\n[build]\n{build}\n");
    let place = place().with("sluice.toml", manifest("fast-math = true\nlinear = \"direct\""));
    let dumped = place.run(&["build", "--dump-after", "linear"]).ends(0);
    assert!(dumped.text().contains("100 coefficients, item by item"), "{}", dumped.text());
    let dumped = place.run(&["build", "--linear=frequency", "--dump-after", "linear"]).ends(0);
    assert!(dumped.text().contains("in the frequency domain by"), "{}", dumped.text());
    let place = place.with("sluice.toml", manifest("linear = \"some\""));
    place.run(&["build"]).ends(1).says("linear");
}

/// A fast transform has fewer products than its matrix, and what only moves items none: neither becomes one filter by itself.
#[test]
fn fast_transforms_stay_fast() {
    let text = "float->float filter Pair { work pop 2 push 2 { float a = pop(); float b = pop(); push(a + b); push(a - b); } }
float->float splitjoin Apart(int n) { split roundrobin(1); for (int i = 0; i < n; i++) add Pair; join roundrobin(1); }
float->float filter Turn { work pop 8 push 8 { for (int i = 0; i < 4; i++) { push(peek(i)); push(peek(i + 4)); } for (int i = 0; i < 8; i++) pop(); } }
float->float pipeline Main { add Turn; add Turn; add Pair; add Apart(2); add Apart(4); }";
    let place = Place::new().with("a.str", text);
    let dumped = |more: &[&str]| {
        place
            .run(&[&["run", "a.str", "--fast-math", "--dump-after", "linear"], more].concat())
            .ends(0)
            .text()
            .to_string()
    };
    assert!(!dumped(&[]).contains("one filter each"), "{}", dumped(&[]));
    assert!(dumped(&["--linear=direct"]).contains("one filter each"), "whoever asks gets it");
}
