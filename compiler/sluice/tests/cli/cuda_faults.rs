//! Firings that fail before others: what these get is whatever is there, and their loops end all the same. The fault is told as it is on the CPU.

use crate::support::*;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A kernel that does not end is seen to after this.
const PATIENCE: Duration = Duration::from_secs(100);

/// Divides by what it is given: by 0 it fails.
const DIVIDE: &str = "int->int filter Divide { work pop 1 push 1 { int k = pop(); push(100 / k); } }\n";

/// Loops that end for all that `Divide` gives, and not for 0, nor for all else.
const LOOPS: [(&str, &str); 4] = [
    (
        "while",
        "int->int filter Halve { work pop 1 push 1 { int n = pop(); int c = 0; while (n < 1 || n > 1000) { n = n / 2; c++; } push(c); } }
         int->int pipeline Main { add Divide; add Halve; }",
    ),
    (
        "do, in a function",
        "int->int filter Halve {
             int halves(int n) { int c = 0; do { n = n / 2; c++; } while (n < 0 || n > 1000 || c < 2 || n == 0 && c != 7); return c; }
             work pop 1 push 1 { push(halves(pop() * 64)); }
         }
         int->int pipeline Main { add Divide; add Halve; }",
    ),
    (
        "for, whose step stays",
        "int->int filter Steps { work pop 1 push 1 { int n = pop(); int c = 0; for (int i = 0; i < 200; i += n > 0 && n < 200 ? n : 0) c++; push(c); } }
         int->int pipeline Main { add Divide; add Steps; }",
    ),
    (
        "with state",
        "int->int stateful filter Sum { int s; work pop 1 push 1 { int n = pop(); while (n < 1 || n > 1000) n = n / 2; s = (s + n) % 1000; push(s); } }
         int->int pipeline Main { add Divide; add Sum; }",
    ),
];

/// Runs a command to its end, or says that it has none.
fn in_time(mut command: Command, input: Vec<u8>, who: &str) -> Done {
    let (to, from) = channel();
    command.stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let id = child.id();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::spawn(move || {
        let _ = std::io::Write::write_all(&mut stdin, &input);
    });
    std::thread::spawn(move || to.send(child.wait_with_output().unwrap()));
    let Ok(out) = from.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").arg("-9").arg(id.to_string()).status();
        panic!("{who}: does not end");
    };
    Done {
        code: out.status.code().unwrap_or(-1),
        stdout: out.stdout,
        stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}

#[test]
fn loops_end_behind_a_firing_that_failed() {
    // the fault comes when some batches are done: rings and states hold what these have left
    let items: Vec<u8> = (0..9000).flat_map(|i| (if i == 8011 { 0i32 } else { i % 50 + 1 }).to_le_bytes()).collect();
    for (name, text) in LOOPS {
        let place = Place::new().with("a.str", format!("{DIVIDE}{text}\n")).with("in.raw", &items);
        let run = |more: &[&str]| {
            let args = [&["run", "a.str", "--input", "in.raw", "--output", "out.raw"], more].concat();
            in_time(place.command(&args), Vec::new(), &format!("{name}, {more:?}"))
        };
        let want = run(&[]).ends(1).says("[E0951] Error: Main.Divide, firing 8012");
        for (scheme, _) in sluice_driver::options::Scheme::NAMES {
            let got = run(&["-O0", "--target", "cuda", "--emulate", "--scheme", scheme, "--sms", "2"]);
            assert_eq!(got.stderr, want.stderr, "{name}, {scheme}");
            assert_eq!(got.code, want.code, "{name}, {scheme}");
        }
    }
}

/// What is not needed is not there: a program in which nothing fails, or everything ends, has no polls, and loops whose bounds are known have none in any program.
#[test]
fn only_loops_that_may_not_end_look() {
    let text = |program: &str, scheme: &str| {
        let place = Place::new().with("a.str", program);
        let args =
            ["run", "a.str", "-O0", "--target", "cuda", "--emulate", "--scheme", scheme, "--dump-after", "emit-cuda"];
        let done = place.run(&args).ends(0);
        let made = done.text().split("---- the program ----").nth(1).unwrap();
        made.split("---- the emulator ----").next().unwrap().to_string()
    };
    let halve = LOOPS[0].1;
    let endless = text(&format!("{DIVIDE}{halve}"), "fused");
    assert_eq!(endless.matches("SL_OVER(").count(), 1, "{endless}");
    assert!(endless.contains("if (sl_any(sl_is_over("), "{endless}");
    let persistent = text(&format!("{DIVIDE}{halve}"), "swp-persistent");
    assert!(persistent.contains("if (!sl_any(sl_is_over((const sl_status *)job.arena))) sl_interval("), "{persistent}");
    // nothing fails before it
    let alone = text(&halve.replace("add Divide;", ""), "fused");
    assert!(!alone.contains("SL_OVER(") && !alone.contains("sl_is_over"), "{alone}");
    // nothing that does not end by itself
    let table = "int->int filter Table { work pop 1 push 1 peek 9 { int s = 0; for (int i = 0; i < 3; i++) for (int j = i; j < i + 3; j++) s += peek(i + j) * j; pop(); push(s); } }
         int->int pipeline Main { add Divide; add Table; }";
    let counted = text(&format!("{DIVIDE}{table}"), "fused");
    assert!(
        counted.contains("sl_fail(") && !counted.contains("SL_OVER(") && !counted.contains("sl_is_over"),
        "{counted}"
    );
    // of a group nobody fires behind it
    assert!(counted.contains("if (SL_UNLIKELY(ctx.failed)) return;"), "{counted}");
}
