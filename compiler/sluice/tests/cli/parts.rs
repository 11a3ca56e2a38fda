//! Real and imaginary parts that go the same way are streams that take turns, and streams that are whole vectors are taken from where they are; the bytes are the interpreter's.

use crate::fusing::same;
use crate::support::*;
use crate::windows::at_all_widths;

/// A low-pass with real weights, `n` long, that takes `down` items and gives one, of complex numbers or of floats.
fn low_pass(complex: bool, n: u32, down: u32) -> String {
    let pops = "pop(); ".repeat(down as usize);
    let (ty, sums, given) = match complex {
        true => ("complex", "re += h[i] * peek(i).real; im += h[i] * peek(i).imag;", "complex(re, im)"),
        false => ("float", "re += h[i] * peek(i);", "re"),
    };
    format!(
        "{ty}->{ty} filter Low {{
    float[{n}] h;
    init {{ for (int i = 0; i < {n}; i++) h[i] = 0.7 - 0.11 * i + (i % 3); }}
    work peek {n} pop {down} push 1 {{
        float re = 0;
        float im = 0;
        for (int i = 0; i < {n}; i++) {{ {sums} }}
        push({given}); {pops}
    }}
}}
"
    )
}

/// So many of them side by side.
fn bank(complex: bool, of: u32, n: u32, down: u32) -> String {
    let ty = if complex { "complex" } else { "float" };
    let low = low_pass(complex, n, down);
    format!(
        "{low}{ty}->{ty} splitjoin Main {{ split roundrobin; for (int i = 0; i < {of}; i++) add Low; join roundrobin; }}\n"
    )
}

/// Items with the numbers that are none of the ordinary ones among them.
fn items(n: usize) -> Vec<u8> {
    let one = |i: usize| match i % 211 {
        13 => f32::INFINITY,
        140 => f32::NAN,
        61 => -0.0,
        _ => (i as f32 * 0.37).sin() * 3.0,
    };
    (0..n).flat_map(|i| one(i).to_le_bytes()).collect()
}

fn complex(n: usize) -> Vec<u8> {
    items(2 * n)
}

fn text(program: &str) -> String {
    let place = Place::new().with("a.str", program);
    place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string()
}

#[test]
fn one_stream_is_two_of_parts() {
    for n in [5, 40] {
        let program = format!("{}complex->complex pipeline Main {{ add Low; }}\n", low_pass(true, n, 1));
        same(&program, complex, &[0, 1, 7, 39, 40, 41, 48, 63, 200, 5000]);
        let text = text(&program);
        assert!(text.contains("\n    n *= 2;\n") && !text.contains("sl_phases((const"), "{text}");
    }
    // what takes several stays together
    let program = format!("{}complex->complex pipeline Main {{ add Low; }}\n", low_pass(true, 40, 2));
    same(&program, complex, &[0, 39, 40, 41, 200, 5000]);
    assert!(!text(&program).contains("\n    n *= 2;\n"));
}

#[test]
fn streams_of_parts_are_twice_as_many() {
    for (of, n, down) in [(2, 7, 1), (4, 30, 3), (8, 30, 2), (16, 30, 1)] {
        let program = bank(true, of, n, down);
        let round = (of * down) as usize;
        same(&program, complex, &[0, round * n as usize, 40 * round + 1, 41 * round, 300 * round]);
        let text = text(&program);
        assert!(text.contains(&format!("\n    n *= {};\n", 2 * of)), "{of}: {text}");
        let turned = text.contains("sl_phases_of_strands((const");
        assert_eq!(turned, down > 1 && of < 8, "{of}, {down}");
        at_all_widths(&Place::new().with("a.str", &program), &program, 2, &[40 * round + 1, 300 * round]);
    }
}

#[test]
fn whole_vectors_are_taken_from_where_they_are() {
    // sums that share what they load, one that is too short for it, and streams of several vectors
    for (of, n, down) in [(16, 30, 2), (16, 6, 3), (32, 30, 2), (48, 27, 2)] {
        let program = bank(false, of, n, down);
        let round = (of * down) as usize;
        same(&program, items, &[0, round * n as usize, 40 * round + 1, 41 * round, 300 * round]);
        let text = text(&program);
        assert!(
            text.contains("const long first_0 = ") && !text.contains("sl_phases_of_strands((const"),
            "{of}: {text}"
        );
        // two vectors beside each other share what they are multiplied by
        assert_eq!(text.contains("f < end; f += 2 * SL_LANES)"), of == 32, "{of}: {text}");
    }
}

/// Rows that come from outside, or go there, are asked for before they are needed; those between two filters are not.
#[test]
fn rows_from_outside_are_asked_for() {
    let rows = "float->float filter Rows {
    work pop 24 push 24 {
        for (int i = 0; i < 24; i++) push(peek(i) * peek(23 - i) + peek((i * 7) % 24) * peek((i * 5) % 24));
        for (int i = 0; i < 24; i++) pop();
    }
}
float->float filter Count { int n; work pop 1 push 1 { push(pop() + n); n = (n * 5 + 3) % 7; } }
";
    let far = |pipeline: &str| {
        let program = format!(
            "{rows}void->void pipeline Main {{ add FileReader<float>(\"in\"); {pipeline} add FileWriter<float>(\"out\"); }}\n"
        );
        let text = text(&program);
        (text.contains("phase, 1);"), text.contains("(int32_t *)(void *)out, 1);"))
    };
    assert_eq!(far("add Rows;"), (true, true));
    assert_eq!(far("add Rows; add Count;"), (true, false));
    assert_eq!(far("add Count; add Rows;"), (false, true));
    assert_eq!(far("add Count; add Rows; add Count;"), (false, false));
    // past what only moves items
    let both = "add splitjoin { split roundrobin(24); add Rows; add Rows; join roundrobin(24); };";
    assert_eq!(far(both), (true, true));
}
