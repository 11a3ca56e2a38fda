//! Equal branches without state that look ahead: one filter in native code, whose turns fill vectors; `--fold=false`, `--stats` and the interpreter leave them apart, with the same bytes.

use crate::fusing::same;
use crate::support::*;

/// Eight channels of complex samples, each filtered and halved; beams of them, and their powers.
const ARRAY: &str = "complex->complex filter Half(int n) {
    work peek n pop 2 push 1 {
        complex sum = 0;
        for (int i = 0; i < n; i++)
            sum += peek(i) * (0.5 - 0.03 * i);
        push(sum);
        pop(); pop();
    }
}
complex->complex filter Beam(int b) {
    work pop 8 push 1 {
        complex sum = 0;
        for (int i = 0; i < 8; i++)
            sum += complex(0.25 * b, i - 3) * pop();
        push(sum);
    }
}
complex->complex filter Match {
    work peek 6 pop 1 push 1 {
        complex sum = 0;
        for (int i = 0; i < 6; i++)
            sum += complex(i, 1 - i) * peek(i);
        push(sum);
        pop();
    }
}
complex->float filter Power { work pop 1 push 1 { complex z = pop(); push(z.real * z.real + z.imag * z.imag); } }
complex->float pipeline Main {
    add splitjoin {
        split roundrobin;
        for (int i = 0; i < 8; i++) add Half(10);
        join roundrobin;
    }
    add splitjoin {
        split duplicate;
        for (int b = 0; b < 4; b++)
            add pipeline { add Beam(b); add Match; add Power; };
        join roundrobin;
    }
}
";

fn complex(n: usize) -> Vec<u8> {
    let one = |i: usize| match i % 211 {
        13 => f32::INFINITY,
        140 => f32::NAN,
        61 => -0.0,
        _ => (i as f32 * 0.37).sin() * 3.0,
    };
    (0..2 * n).flat_map(|i| one(i).to_le_bytes()).collect()
}

#[test]
fn branches_go_side_by_side() {
    same(ARRAY, complex, &[0, 79, 80, 81, 300, 5000, 70_001]);
    let place = Place::new().with("a.str", ARRAY);
    let graph = |more: &[&str]| {
        let all = [&["build", "a.str", "-o", "a", "--dump-after", "level-branches"], more].concat();
        place.run(&all).ends(0).text().to_string()
    };
    for name in ["Half x8", "Match x4", "Power x4"] {
        assert!(graph(&[]).contains(name), "{}", graph(&[]));
        assert!(!graph(&["--fold=false"]).contains(name));
    }
    let text = |more: &[&str]| {
        place.run(&[&["build", "a.str", "--emit", "c", "-o", "-"], more].concat()).ends(0).text().to_string()
    };
    // two samples to a turn of eight, whose parts are a vector each; the windows of four beams, of which a turn takes one sample
    let whole = |text: &str| text.contains("const long first_0 = ");
    assert_eq!((whole(&text(&[])), whole(&text(&["--fold=false"]))), (true, false));
    assert_eq!(text(&[]).matches("\n    n *= 4;").count(), 2, "{}", text(&[]));
    let stats = place.run_with(&["run", "a.str", "--stats"], &complex(4000)).ends(0).says("anonymous_pipeline.Beam");
    assert_eq!(stats.stdout, place.run_with(&["run", "a.str", "--interpret"], &complex(4000)).ends(0).stdout);
}
