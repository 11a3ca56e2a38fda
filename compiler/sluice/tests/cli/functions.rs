//! Functions of floats in lanes: angles and sines always, others one by one beside sums, and as vectors with `--fast-math`.

use crate::support::*;

/// A function, what is made of a number from -1 to 1 before, and whether there are two arguments.
const FUNCTIONS: [(&str, &str); 18] = [
    ("acos", "x"),
    ("acosh", "1 + 40 * abs(x)"),
    ("asin", "x"),
    ("asinh", "30 * x"),
    ("atan", "9 * x"),
    ("atan2", "3 * x, y"),
    ("atanh", "0.99 * x"),
    ("cos", "20 * x"),
    ("cosh", "9 * x"),
    ("exp", "30 * x"),
    ("expm1", "3 * x"),
    ("log", "0.001 + 50 * abs(x)"),
    ("log10", "0.001 + 50 * abs(x)"),
    ("pow", "0.01 + 5 * abs(x), 3 * y"),
    ("sin", "20 * x"),
    ("sinh", "9 * x"),
    ("tan", "1.5 * x"),
    ("tanh", "4 * x"),
];

fn program(function: &str, of: &str) -> String {
    format!(
        "float->float filter F {{\n    work pop 2 push 1 {{\n        float x = pop();\n        float y = pop();\n        push({function}({of}));\n    }}\n}}\n"
    )
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

/// How many floats lie between two.
fn apart(a: f32, b: f32) -> u32 {
    let place = |x: f32| if x.is_sign_negative() { -((x.to_bits() & 0x7fff_ffff) as i64) } else { x.to_bits() as i64 };
    u32::try_from((place(a) - place(b)).abs()).unwrap_or(u32::MAX)
}

/// Beside sums, those of the library are called for each lane: the same bytes with vectors of every width.
#[test]
fn functions_beside_sums_are_called_for_each_lane() {
    for (function, of) in FUNCTIONS {
        let work = format!(
            "float s = 0; for (int i = 0; i < 16; i++) s += h[i] * peek(i); float x = max(min(s, 1), -1); float y = pop(); pop(); push({function}({of}));"
        );
        let program = format!(
            "float->float filter Main {{ float[16] h; init {{ for (int i = 0; i < 16; i++) h[i] = (i % 5 - 2) / 9.0; }} work peek 16 pop 2 push 1 {{ {work} }} }}"
        );
        let place = Place::new().with("a.str", &program);
        let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
        assert!(text.contains("sl_lanes_0(") && text.contains(&format!("sl_vf_{function}(")), "{function}");
        crate::windows::at_all_widths(&place, &program, 1, &[2001]);
    }
    // which alone gains nothing
    let place = Place::new().with("a.str", program("log", "0.001 + 50 * abs(x)"));
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    assert!(!text.contains("sl_lanes_0("));
}

#[test]
fn fast_math_has_functions_in_lanes() {
    // 1001 pairs: whole vectors, and a rest
    let input: Vec<u8> =
        (0..2002).flat_map(|i| (((i * 7919) % 2003) as f32 / 1001.5 - 0.99975).to_ne_bytes()).collect();
    for (function, of) in FUNCTIONS {
        let place = Place::new().with("a.str", program(function, of)).with("in.raw", &input);
        let run = |more: &[&str]| {
            place.run(&[&["run", "a.str", "--input", "in.raw", "--output", "out.raw"], more].concat()).ends(0);
            floats(&std::fs::read(place.path("out.raw")).unwrap())
        };
        let text = |more: &[&str]| {
            let done = place.run(&[&["build", "a.str", "--emit", "c", "-o", "-"], more].concat()).ends(0);
            done.text().contains(&format!(" sl_vf_{function}("))
        };
        assert!(text(&["--fast-math"]), "{function} is in no lanes");
        assert_eq!(
            text(&[]),
            ["atan", "atan2", "cos", "sin", "tan"].contains(&function),
            "{function} in lanes, where all bytes count"
        );
        let (exact, free) = (run(&["--interpret"]), run(&["--fast-math"]));
        assert_eq!((exact.len(), free.len()), (1001, 1001), "{function}");
        for (i, (e, f)) in exact.iter().zip(&free).enumerate() {
            // four of the library's, and those that joined products and sums in its argument make; near zero, what is small beside the argument
            assert!(apart(*e, *f) <= 16 || (e - f).abs() < 4e-6, "{function}, item {i}: {e} and {f}");
        }
    }
}

/// In a loop of a filter with a state, sines are of as many floats as the C compiler's vectors hold, which may be half of the lanes: near zero, far from it, and where there are none.
#[test]
fn sines_of_half_the_lanes_are_the_same_bytes() {
    let program = "float->float filter Main {
    float last;
    float[40] by;
    init { for (int i = 0; i < 40; i++) by[i] = i % 7 == 3 ? 9000000 : i % 11 == 5 ? 3e38 : i % 5 == 1 ? 700 : 1; }
    work pop 40 push 80 {
        float[40] s;
        float[40] c;
        for (int i = 0; i < 40; i++) s[i] = sin(peek(i) * by[i] * by[39 - i]);
        for (int i = 0; i < 40; i++) c[i] = cos(peek(i) * by[i] * by[39 - i]);
        for (int i = 0; i < 40; i++) { push(s[i] == s[i] ? s[i] + last : 3); push(c[i] == c[i] ? c[i] : -3); pop(); }
        last = s[0];
    }
}";
    crate::windows::at_all_widths(&Place::new().with("a.str", program), program, 1, &[40, 4000]);
}

/// Angles of all quadrants and sines of angles of all sizes, of zeros, infinite numbers and none, whose signs and bytes lanes, single firings, code made in memory and the interpreter agree on; angles of complex numbers, too.
#[test]
fn our_own_are_the_same_bytes_in_lanes() {
    let special = [
        0.0f32,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-45,
        -1e-45,
        f32::MAX,
        f32::MIN,
        0.4142,
        2.4143,
    ];
    let mut input: Vec<f32> = special.iter().flat_map(|y| special.iter().flat_map(|x| [*y, *x])).collect();
    let mut seed = 1u32;
    let mut next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        seed
    };
    // of all sizes, then of sizes like one another
    input.extend((0..2000).map(|_| f32::from_bits(next())).map(|x| if x.is_nan() { 0.5 } else { x }));
    input.extend((0..2003).map(|_| next() as i32 as f32 * 1e-9));
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_ne_bytes()).collect();
    for (ty, body, called) in [
        (
            "float",
            "float y = pop(); float x = pop(); push(atan2(y, x)); push(atan(y)); push(3 * atan2(-x, 2 * y) + 1);",
            "sl_vf_atan2",
        ),
        (
            "complex",
            "complex z = pop(); push(arg(z)); push(arg(z * z) - 0.5 * z.real); push(atan(z.imag));",
            "sl_vf_atan2",
        ),
        (
            "float",
            "float y = pop(); float x = pop(); push(sin(y)); push(cos(x) + 2 * sin(x)); push(tan(y));",
            "sl_vf_sin",
        ),
        (
            "float",
            "float y = 1e-6 * pop(); float x = pop() / 3e32; push(cos(y)); push(tan(x) - sin(x)); push(cos(x));",
            "sl_vf_cos",
        ),
    ] {
        let pop = if ty == "float" { 2 } else { 1 };
        let place = Place::new()
            .with("a.str", format!("{ty}->float filter F {{\n    work pop {pop} push 3 {{ {body} }}\n}}\n"))
            .with("in.raw", &bytes);
        let done = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0);
        assert!(done.text().contains(&format!(" {called}(")), "{ty}: no lanes");
        let run = |more: &[&str]| {
            place.run(&[&["run", "a.str", "--input", "in.raw", "--output", "out.raw"], more].concat()).ends(0);
            std::fs::read(place.path("out.raw")).unwrap()
        };
        let want = run(&["--interpret"]);
        assert!(want.len() >= bytes.len() / 2 * 3 / 2 - 12, "{}", want.len());
        for way in [&["--back-end", "cc"][..], &["--back-end", "jit"], &["--back-end", "cc", "-O", "0"]] {
            assert!(run(way) == want, "{ty} {way:?}");
        }
    }
}

/// Sines of a loop within a firing, of all sizes and none, with leftovers: single ones, and those that gcc makes vectors of, of floats and beside doubles (which are half as many).
#[test]
fn sines_in_loops_are_the_same_bytes() {
    let mut seed = 7u32;
    let mut next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        seed
    };
    let near = |x: u32| x as i32 as f32 * 1e-8;
    let mut input: Vec<f32> = (0..61 * 40).map(|_| near(next())).collect();
    // firings whose vectors have large ones, infinite ones and none among them
    for i in (0..61 * 20).step_by(7) {
        input[i] = [f32::from_bits(next()), f32::INFINITY, f32::NAN, 1e30, -0.0, 1_048_576.0][i % 6];
    }
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_ne_bytes()).collect();
    // what is kept keeps firings out of lanes
    let program = "float->float filter F { int kept; work pop 61 push 244 {
    for (int i = 0; i < 61; i++) push(sin(peek(i)));
    for (int i = 0; i < 61; i++) push(2 * cos(peek(i)) + peek(60 - i));
    for (int i = 0; i < 61; i++) push(tan(peek(i)));
    for (int i = 0; i < 61; i++) push((float)((double)sin(peek(i)) * (double)0.1 + (double)peek(i)));
    kept++;
    for (int i = 0; i < 61; i++) pop();
} }\n";
    let place = Place::new().with("a.str", program).with("in.raw", &bytes);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    assert!(!text.contains(" sl_lanes_0(") && text.contains("= sl_sinf("), "{text}");
    let run = |way: &[&str]| {
        place.run(&[&["run", "a.str", "--input", "in.raw", "--output", "out.raw"], way].concat()).ends(0);
        std::fs::read(place.path("out.raw")).unwrap()
    };
    let want = run(&["--interpret"]);
    assert_eq!(want.len(), 4 * bytes.len());
    for way in [&["--back-end", "cc"][..], &["--back-end", "jit"], &["--back-end", "cc", "-O", "0"]] {
        assert!(run(way) == want, "{way:?}");
    }
    // gcc calls the forms for vectors
    let gcc = std::process::Command::new("gcc").arg("--version").output().is_ok_and(|o| o.status.success());
    if !gcc || !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return sluice_skipped::skipped("no gcc for x86-64: loops with sines are not vectors");
    }
    std::fs::write(place.path("a.c"), &text).unwrap();
    let flags = [
        "-std=gnu11",
        "-O3",
        "-w",
        "-ffp-contract=off",
        "-fwrapv",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fPIC",
        "-S",
        "a.c",
        "-o",
        "-",
    ];
    for (more, name) in [("-march=x86-64", "_ZGVbN4v_sl_own_"), ("-mavx2", "_ZGVdN8v_sl_own_")] {
        let out =
            std::process::Command::new("gcc").arg(more).args(flags).current_dir(place.path(".")).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let code = String::from_utf8_lossy(&out.stdout).into_owned();
        for function in ["sin", "cos", "tan"] {
            assert!(code.contains(&format!("call\t{name}{function}")), "{more}: {function}");
        }
    }
}
