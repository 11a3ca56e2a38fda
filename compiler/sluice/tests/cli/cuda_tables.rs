//! What a GPU has only so much of, by the real CUDA compiler where it is there: constant memory, and memory of a thread's own; and what it has much of, blocks and iterations.

use crate::support::*;
use sluice_driver::cuda::arch::TESTED;
use sluice_driver::cuda::check;

/// Tables of 69 KB in one filter, as its variants; and of 84 KB in several, small ones among them, which all threads read at the same place.
const PROGRAMS: [(&str, &str); 2] = [
    (
        "one filter's",
        "float->float filter Fir(int k) {
             float[272] h;
             init { for (int i = 0; i < 272; i++) h[i] = sin(0.01 * (i + 1) * (k + 1)); }
             work push 1 pop 1 peek 272 { float s = 0; for (int i = 0; i < 272; i++) s += h[i] * peek(i); pop(); push(s); }
         }
         float->float splitjoin Bank { split duplicate; for (int k = 0; k < 64; k++) add Fir(k); join roundrobin; }
         float->float pipeline Main { add Bank(); }",
    ),
    (
        "several filters'",
        "float->float filter A(int n) {
             float[n] h;
             init { for (int i = 0; i < n; i++) h[i] = (i * 7 % 101) * 0.01; }
             work push 1 pop 1 { float s = 0; for (int i = 0; i < n; i++) s = s * 0.5 + h[i]; push(pop() * s); }
         }
         float->float pipeline Main { add A(9000); add A(8000); add A(4000); add A(50); add A(20); }",
    ),
];

fn text(program: &str, scheme: &[&str]) -> String {
    let place = Place::new().with("a.str", program);
    let args =
        [&["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--dump-after", "emit-cuda"], scheme].concat();
    place.run(&args).ends(0).text().to_string()
}

/// Bytes of the words between the braces of what lies in constant memory: floats, and the rows of nodes and of their ends.
fn constant_bytes(text: &str) -> usize {
    let program = text.split("---- the program ----").nth(1).unwrap();
    let tables = program.split("\nSL_CONSTANT ").skip(1);
    let bytes = |t: &str| {
        let (head, rest) = t.split_once('=').unwrap();
        let rows = rest.split("};").next().unwrap();
        match head {
            h if h.starts_with("sl_node ") => 40 * rows.matches("    {").count(),
            h if h.starts_with("sl_port ") => 16 * rows.matches("    {").count(),
            _ => 4 * rows.split(',').filter(|n| n.contains(|c: char| c.is_ascii_digit())).count(),
        }
    };
    tables.map(bytes).sum()
}

#[test]
fn tables_leave_constant_memory_room() {
    for (name, program) in PROGRAMS {
        for scheme in ["fused", "serial", "swp"] {
            let text = text(program, &["--scheme", scheme, "--method", "hms"]);
            let bytes = constant_bytes(&text);
            assert!(bytes <= 48 << 10, "{name}, {scheme}: {bytes} bytes");
            // what does not fit goes where there is room, the small tables stay
            assert!(text.contains("SL_GLOBAL_TABLE sl_arr_"), "{name}, {scheme}");
            // where loops over the two smallest are written out, nobody reads these
            let small = if scheme == "fused" { 1 } else { 3 };
            assert!(name == "one filter's" || text.matches("SL_CONSTANT sl_arr_").count() >= small, "{name}, {scheme}");
        }
    }
}

#[test]
fn large_tables_are_compiled_for_gpus() {
    let Some(nvrtc) = check::nvrtc("large_tables_are_compiled_for_gpus") else { return };
    for (name, program) in PROGRAMS {
        for scheme in ["fused", "serial", "swp"] {
            let text = text(program, &["--scheme", scheme, "--method", "hms"]);
            let needs = check::needs(&nvrtc, &text, TESTED[0]).unwrap_or_else(|e| panic!("{name}, {scheme}: {e:?}"));
            assert!(!needs.is_empty());
        }
        let place = Place::new().with("a.str", program);
        let args = ["profile", "a.str", "--target", "cuda", "--emulate", "--dump-after", "emit-cuda"];
        let text = place.run(&args).ends(0).text().to_string();
        check::needs(&nvrtc, &text, TESTED[0]).unwrap_or_else(|e| panic!("{name}, profile: {e:?}"));
    }
}

/// Where a firing may fail, its context stays in registers: one that a function gets the address of would be written to memory in every firing.
#[test]
fn checks_cost_no_memory() {
    let Some(nvrtc) = check::nvrtc("checks_cost_no_memory") else { return };
    let program = "int->int filter Divide { work pop 2 push 1 { int k = pop(); push(pop() / k); } }
         int->int pipeline Main { add Divide; }";
    for scheme in ["fused", "serial"] {
        let text = text(program, &["--scheme", scheme]);
        assert!(text.contains("sl_fail(ctx, "), "{text}");
        for kernel in check::needs(&nvrtc, &text, TESTED[0]).unwrap() {
            assert_eq!(kernel.stack, 0, "{scheme}: {kernel:?}");
        }
    }
}

/// Streams that one block has no threads for are those of several blocks, where a filter is a kernel of its own.
#[test]
fn many_streams_are_several_blocks() {
    let program = "float->float stateful filter Sum { float s = 0; work pop 1 push 1 { s = s / 2 + pop(); push(s); } }
         float->float pipeline Main { add Sum; }";
    let place = Place::new().with("a.str", program);
    let input = floats(&(0..300 * 40).map(|i| (i * 37 % 101) as f32).collect::<Vec<_>>());
    let want = place.run_with(&["run", "a.str", "--interpret", "--streams", "300"], &input).ends(0).stdout;
    for (scheme, blocks) in [("serial", "5"), ("fused", "5"), ("fused-warps", "5"), ("swp", "5")] {
        let args = ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", scheme, "--sms", "2"];
        let args = [&args[..], &["--streams", "300", "--block-threads", "64"]].concat();
        let got = place.run_with(&args, &input).ends(0);
        assert!(got.stdout == want, "{scheme}");
        let build =
            ["build", "a.str", "--target", "cuda", "--scheme", scheme, "--method", "hms", "--sms", "2", "-o", "a.cu"];
        place.run(&[&build[..], &["--streams", "300", "--block-threads", "64"]].concat()).ends(0);
        let text = place.read("a.cu");
        let launch = format!("sl_blocks_for(ctx, {blocks})");
        assert_eq!(text.contains(&launch), scheme != "swp", "{scheme}");
    }
}

/// A batch of a pipeline is several times as long as what fills and drains it, from the first on.
#[test]
fn pipelines_begin_with_more_than_fills_them() {
    let program = "float->float filter Twice { work pop 1 push 1 { push(pop() * 2); } }
         float->float filter Mean { work pop 4 peek 6 push 1 { float s = 0; for (int i = 0; i < 6; i++) s += peek(i); for (int i = 0; i < 4; i++) pop(); push(s / 6); } }
         float->float pipeline Main { add Twice; add Mean; }";
    for scheme in ["swp", "swp-persistent", "fused"] {
        let place = Place::new().with("a.str", program);
        let args =
            ["build", "a.str", "--target", "cuda", "--scheme", scheme, "--method", "hms", "--sms", "2", "-o", "a.cu"];
        place.run(&args).ends(0);
        let text = place.read("a.cu");
        // the most steady states at once, those of an iteration, those that a run begins with
        let of_program = text.split("SL_MESSAGE, sl_steady, ").nth(1).unwrap();
        let numbers: Vec<u64> = of_program.split(", ").take(3).map(|n| n.parse().unwrap()).collect();
        let (batch, unit, begin) = (numbers[0], numbers[1], numbers[2]);
        if scheme == "fused" {
            assert_eq!(begin, unit);
        } else {
            assert!(begin >= 16 * unit && begin % unit == 0 && begin <= batch, "{scheme}: {numbers:?}");
        }
    }
}
