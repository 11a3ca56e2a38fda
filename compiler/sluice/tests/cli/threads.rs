//! Several threads do what one does: the same bytes, faults, files; and end as soon as one would.

use crate::support::*;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// A source, two filters without state of which one peeks, two with state.
pub const CHAIN: &str = "
void->int stateful filter Source { int n; work push 1 { push(n++); } }
int->int filter Heavy(int m) { work pop 1 push 1 peek 5 { int s = peek(4) + iter(); int x = pop(); for (int i = 0; i < m; i++) { s = s * 31 + x + i; } push(s); } }
int->int stateful filter Acc { int a; work pop 1 push 1 { a = a * 3 + pop(); push(a); } }
int->void filter Sink { work pop 16 { int s = 0; for (int i = 0; i < 16; i++) { s = s * 7 + pop(); } println(s); } }
void->void pipeline Main { add Source; add Heavy(50); add Heavy(30); add Acc; add Sink; }
";

/// Runs on one thread and on several; all must do the same. Gives what several said.
#[track_caller]
fn all(place: &Place, arguments: &[&str], input: &[u8]) -> Done {
    let one = place.run_with(&[&["run", "-O0"], arguments].concat(), input);
    let mut last = None;
    for more in [&["2", "--threads-batch", "1"][..], &["5", "--threads-batch", "3"], &["4"]] {
        let done = place.run_with(&[&["run", "-O0"], arguments, &["--threads"], more].concat(), input);
        assert_eq!(done.code, one.code, "{more:?}: {}\none: {}", done.stderr, one.stderr);
        assert!(done.stdout == one.stdout, "{more:?}: {} and {} bytes", done.stdout.len(), one.stdout.len());
        assert_eq!(done.stderr, one.stderr, "{more:?}");
        last = Some(done);
    }
    last.unwrap()
}

/// The report of a run, of which standard output must be that of one thread.
#[track_caller]
fn report(place: &Place, arguments: &[&str]) -> String {
    let one = place.run(&[&["run", "-O0"], arguments].concat()).ends(0);
    let done = place.run(&[&["run", "-O0"], arguments, &["--threads-report"]].concat());
    assert!(one.stdout == done.stdout || arguments.contains(&"--threads"));
    done.stderr
}

#[test]
fn a_chain_with_replicas_and_peeks() {
    let place = Place::new().with("a.str", CHAIN);
    all(&place, &["a.str", "-n", "2000"], b"").ends(0);
    for n in ["0", "1", "2", "3", "37"] {
        all(&place, &["a.str", "-n", n], b"").ends(0);
    }
    let said = report(&place, &["a.str", "-n", "2000", "--threads", "5", "--threads-batch", "8"]);
    assert!(said.contains("threads: 5 of 5, batches of at most 8 steady states"), "{said}");
    assert!(said.contains("threads 1, 2") || said.contains("threads 0, ") || said.contains("threads 2, "), "{said}");
    assert!(said.contains("run: 250 batches in 1 phase"), "{said}");
}

#[test]
fn splitjoins_with_state_in_one_branch_and_loops() {
    let program = "
void->float stateful filter Source { int n; work push 1 { push(n++ % 17 - 8); } }
float->float filter Fir(int n) { float[n] h; init { for (int i = 0; i < n; i++) { h[i] = 1.0 / (i + 1); } }
  work pop 1 push 1 peek n { float s = 0; for (int i = 0; i < n; i++) { s += h[i] * peek(i); } pop(); push(s); } }
float->float stateful filter Iir { float y; work pop 1 push 1 { y = 0.9 * y + pop(); push(y); } }
float->float filter Add { work pop 2 push 1 { push(peek(0) + 2 * peek(1)); pop(); pop(); } }
float->float feedbackloop Echo { join roundrobin(1, 1); body Add; loop Identity<float>; split duplicate; enqueue 0; enqueue 1; enqueue 2; }
float->float splitjoin Both { split duplicate; add Fir(31); add Iir; add pipeline { add Fir(7); add Fir(9); } join roundrobin; }
float->void filter Show { work pop 3 { println(pop() + pop() * pop()); } }
void->void pipeline Main { add Source; add Both; add Add; add Fir(20); add Echo; add Show; }
";
    let place = Place::new().with("a.str", program);
    all(&place, &["a.str", "-n", "301"], b"").ends(0);
}

#[test]
fn inputs_that_end_anywhere() {
    let program = "
int->int filter Mix { work pop 3 push 2 peek 8 { push(peek(7) * 3 + peek(0)); pop(); push(pop() - pop()); } }
int->int stateful filter Acc { int a; work pop 1 push 1 { a = a * 5 + pop(); push(a); } }
int->int filter Spin { work pop 1 push 1 { int x = pop(); for (int i = 0; i < 40; i++) { x = x * 7 + i; } push(x); } }
int->int pipeline Main { add Spin; add Acc; add Mix; add Spin; add Acc; }
";
    let place = Place::new().with("a.str", program);
    let bytes: Vec<u8> = (0..4000i32).flat_map(|i| (i * 7919 % 1000).to_le_bytes()).collect();
    for n in [0, 3, 4, 31, 32, 33, 34, 35, 400, 3989, 16000] {
        all(&place, &["a.str"], &bytes[..n]).ends(0);
    }
    let text: String = (0..500).map(|i| format!("{}\n", i % 37)).collect();
    all(&place, &["a.str", "--input-format", "text", "--output-format", "text"], text.as_bytes()).ends(0);
    // what is wrong with the input is said; how much comes out before is not promised
    let options = ["run", "-O0", "a.str", "--input-format", "text", "--output-format", "text", "--threads", "4"];
    place.run_with(&options, (text + "x").as_bytes()).ends(3).says("`x`");
}

#[test]
fn files_named_in_the_program() {
    let program = "
int->int filter Spin(int k) { work pop 1 push 1 { int x = pop(); for (int i = 0; i < 40; i++) { x = x * k + i; } push(x); } }
void->void splitjoin Main { split roundrobin(0);
  add pipeline { add FileReader<int>(\"a.in\"); add Spin(3); add Spin(5); add FileWriter<int>(\"a.out\"); }
  add pipeline { add FileReader<int>(\"b.in\"); add Spin(7); add FileWriter<int>(\"b.out\"); }
  join roundrobin(0); }
";
    let bytes: Vec<u8> = (0..3000i32).flat_map(i32::to_le_bytes).collect();
    let place = Place::new().with("m.str", program).with("a.in", &bytes).with("b.in", &bytes[..8000]);
    let results = |threads: &[&str]| {
        place.run(&[&["run", "-O0", "m.str"], threads].concat()).ends(0);
        ["a.out", "b.out"].map(|f| std::fs::read(place.path(f)).unwrap())
    };
    let one = results(&[]);
    assert_eq!(one.each_ref().map(Vec::len), [12000, 8000]);
    for batch in ["1", "7", "600"] {
        assert!(results(&["--threads", "4", "--threads-batch", batch]) == one, "{batch}");
    }
}

/// A fault is undone, and what comes before it comes out, whichever stage it is in, and however far others have come.
#[test]
fn faults_are_those_of_one_thread() {
    let filter = |i: i32| {
        format!(
            "int->int stateful filter F{i} {{ int n; work pop 1 push 1 {{ int x = pop(); n += x / (x + {i}); int s = n; \
             for (int i = 0; i < 30; i++) {{ s = s * 3 + i; }} n = s; push(x); }} }}\n"
        )
    };
    let program =
        (1..6).map(filter).collect::<String>() + "int->int pipeline Main { add F1; add F2; add F3; add F4; add F5; }\n";
    let place = Place::new().with("a.str", program);
    // the item -i makes stage i divide by zero
    for (guilty, at) in [(1, 0), (1, 700), (2, 1), (3, 1500), (4, 33), (5, 2999), (5, 5)] {
        let bytes: Vec<u8> = (0..3000).flat_map(|i| if i == at { -guilty } else { i as i32 }.to_le_bytes()).collect();
        let said = format!("Main.F{guilty}, firing {}: division by zero", at + 1);
        let done = all(&place, &["a.str"], &bytes).ends(1).says(&said);
        assert_eq!(done.stdout.len(), at * 4, "{guilty} {at}");
    }
    // several: the one that one thread meets first
    let item = |i: i32| match i {
        1000 => -5,
        1001 => -1,
        1010 => -3,
        _ => i,
    };
    let bytes: Vec<u8> = (0..3000).flat_map(|i| item(i).to_le_bytes()).collect();
    all(&place, &["a.str"], &bytes).ends(1).says("Main.F5, firing 1001");
}

#[test]
fn a_fault_in_a_replica_and_two_faults_at_once() {
    let program = "
void->int stateful filter Source { int n; work push 1 { push(n++); } }
int->int filter Divide(int at) { work pop 1 push 1 peek 3 { int x = peek(2); for (int i = 0; i < 50; i++) { x = x * 3 + i; } push(x + 10 / (at - peek(0))); pop(); } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Source; add Divide(FIRST); add Divide(-1); add splitjoin { split duplicate; add Divide(SECOND); add Divide(-2); join roundrobin; } add Show; }
";
    for (first, second) in [("500", "-3"), ("600", "300")] {
        let place = Place::new().with("a.str", program.replace("FIRST", first).replace("SECOND", second));
        all(&place, &["a.str", "-n", "1000"], b"");
    }
}

#[test]
fn a_pipe_waits_for_no_more_than_one_thread_would() {
    let place = Place::new().with(
        "a.str",
        "int->int stateful filter A { int a; work pop 1 push 1 { a += pop(); push(a); } }
int->int filter B { work pop 1 push 1 { int x = pop(); for (int i = 0; i < 20; i++) { x = x * 3; } push(x); } }
int->int pipeline Main { add B; add A; add B; add A; }",
    );
    for batch in ["1", "4"] {
        let mut child =
            place.command(&["run", "-O0", "a.str", "--threads", "3", "--threads-batch", batch]).spawn().unwrap();
        let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        for i in 0..40 {
            // now and then enough for several batches
            let n = if i % 10 == 9 { 64 } else { 1 };
            to.write_all(&vec![1; 4 * n]).unwrap();
            let mut items = vec![0; 4 * n];
            from.read_exact(&mut items).unwrap();
        }
        drop(to);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_reader_that_has_gone_ends_all_threads() {
    let place = Place::new().with("a.str", CHAIN);
    let mut child = place.command(&["run", "-O0", "a.str", "--threads", "4"]).spawn().unwrap();
    let mut first = [0; 2];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let start = Instant::now();
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), &done.stderr[..]), (Some(0), &b""[..]));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn ctrl_c_ends_all_threads_with_whole_items() {
    let place = Place::new()
        .with("a.str", CHAIN.replace("void->void pipeline", "void->int pipeline").replace(" add Sink;", ""));
    let child =
        place.command(&["run", "-O0", "a.str", "--top", "Main", "--threads", "4", "-o", "out.bin"]).spawn().unwrap();
    let limit = Instant::now() + Duration::from_secs(60);
    while place.files().len() < 2 && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(400));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let start = Instant::now();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(start.elapsed() < Duration::from_secs(20));
    let bytes = std::fs::read(place.path("out.bin")).unwrap();
    assert!(!bytes.is_empty() && bytes.len().is_multiple_of(4));
    // what came out is the beginning of what one thread gives
    let n = (bytes.len() / 4).min(100_000);
    place.run(&["run", "-O0", "a.str", "--top", "Main", "-n", &n.to_string(), "-o", "one.bin"]).ends(0);
    assert!(std::fs::read(place.path("one.bin")).unwrap()[..] == bytes[..n * 4]);
}

/// What native functions do may depend on the thread, and on what they did before: all calls come from one.
#[test]
fn native_functions_are_called_from_one_thread() {
    let program = "
native Odd { int next(int x); }
void->int stateful filter Source { int n; work push 1 { push(n++); } }
int->int filter Spin { work pop 1 push 1 { int x = pop(); for (int i = 0; i < 60; i++) { x = x * 7 + i; } push(x); } }
int->int filter Call { work pop 1 push 1 { push(Odd.next(pop())); } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Source; add Spin; add Call; add Spin; add Call; add Spin; add Show; }
";
    let native = "#include <pthread.h>
#include <stdlib.h>
static int calls; static pthread_t first;
int next(int x) {
    if (calls++ == 0) first = pthread_self();
    if (!pthread_equal(first, pthread_self())) abort();
    return x ^ 5;
}
";
    let place = Place::new().with("a.str", program).with("odd.c", native);
    all(&place, &["a.str", "--native", "odd.c", "-n", "500"], b"").ends(0);
    let said = report(&place, &["a.str", "--native", "odd.c", "-n", "500", "--threads", "3", "--threads-batch", "4"]);
    assert!(said.contains("threads: 3 of 3") || said.contains("threads: 2 of 3"), "{said}");
}

#[test]
fn programs_for_one_thread_say_why() {
    let loud = "
void->int stateful filter Source { int n; work push 1 { println(n); push(n++); } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Source; add Show; }
";
    let dynamic = "
void->int stateful filter Source { int n; work push 1 { push(n++); } }
int->int filter Odd { work pop 1 push [0, 1] { int x = pop(); if (x % 2 == 1) { push(x); } } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Source; add Odd; add Show; }
";
    let lonely = "
void->void stateful filter Main { int n; work { n++; for (int i = 0; i < 100; i++) { n = n * 3 + i; } println(n); } }
";
    for (program, why) in [
        (loud, "several of its filters print"),
        (dynamic, "it has dynamic rates"),
        (lonely, "100 % of the work is in Main, which one thread must do"),
    ] {
        let place = Place::new().with("a.str", program);
        let said = report(&place, &["a.str", "-n", "40", "--threads", "3"]);
        assert!(said.starts_with("threads: one of 3, because ") && said.contains(why), "{said}");
        all(&place, &["a.str", "-n", "40"], b"");
    }
}

/// Of few firings as many as a vector has, where the caches of several cores hold them.
#[test]
fn stages_run_a_vector_of_firings() {
    let said = |items: u32, turns: u32, work: &str| {
        let program = format!(
            "float->float filter Work(float a) {{ work pop {items} push {items} {{ for (int i = 0; i < {items}; i++) {{
                float x = pop(); for (int k = 0; k < {turns}; k++) x = {work}; push(x); }} }} }}
            float->float pipeline Main {{ add Work(1.5); add Work(2.5); }}"
        );
        let place = Place::new().with("a.str", &program);
        place.run_with(&["run", "-O0", "a.str", "--threads", "2", "--threads-report"], &[0; 4096]).ends(0).stderr
    };
    for (items, batch) in [(3000, 32), (6000, 16), (9000, 3)] {
        let said = said(items, 20, "sin(x * a)");
        assert!(said.contains(&format!("batches of at most {batch} steady states")), "{items}: {said}");
    }
    // those that do little run longer batches: what is done for each is more of it
    for (items, batch) in [(3000, 64), (6000, 32), (9000, 16)] {
        let said = said(items, 2, "x * a + 1");
        assert!(said.contains(&format!("batches of at most {batch} steady states")), "{items}: {said}");
    }
}

#[test]
fn options_that_clash_are_refused() {
    let place = Place::new().with("a.str", CHAIN);
    for clash in ["--interpret", "--trace", "--stats"] {
        place.run(&["run", "a.str", "-n", "1", "--threads", "2", clash]).ends(2).says("--threads");
    }
    place.run(&["run", "a.str", "-n", "1", "--threads-batch", "2"]).ends(2);
    place.run(&["run", "a.str", "-n", "1", "--threads", "1000"]).ends(2);
    place.run(&["run", "a.str", "-n", "3", "--threads", "0"]).ends(0);
    place.run(&["run", "a.str", "-n", "3", "--threads", "2", "--threads-batch", "4000000000"]).ends(1).says("buffers");
}

/// The page about threads: its program gives what the page says, and is cut as it says.
#[test]
fn the_page_says_what_happens() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/threads.md")).unwrap();
    let block = |start: &str| {
        let (_, rest) = page.split_once(start).unwrap_or_else(|| panic!("no {start}"));
        rest.split_once("\n```").unwrap().0.to_string() + "\n"
    };
    let place = Place::new().with("noise.str", block("```str\n"));
    let one = place.run(&["run", "noise.str", "-n", "3000"]).ends(0);
    let plain = |text: &str| -> String {
        // times differ from run to run, and the number of batches with them
        let lines = text.lines().filter(|l| !l.starts_with("  run:"));
        lines
            .map(|l| l.split(" (").next().unwrap().to_string() + l.split(" of the time)").nth(1).unwrap_or("") + "\n")
            .collect()
    };
    for (threads, start) in [("2", "--threads 2 --threads-report\n"), ("4", "--threads 4 --threads-report\n")] {
        let arguments = ["run", "noise.str", "-n", "3000", "--threads", threads, "--threads-report"];
        let done = place.run(&arguments).ends(0);
        assert!(done.stdout == one.stdout);
        let want = block(start);
        assert_eq!(plain(&done.stderr), plain(&want));
    }
}

/// Within stages, windows behind a duplicate splitter are read from one buffer, and what lives at different times lies in the same place.
#[test]
fn stages_have_one_buffer_for_windows_behind_a_splitter() {
    let program = "
        float->float filter Window(float a) {
            work pop 1 peek 32 push 1 { float s = 0; for (int i = 0; i < 32; i++) s += sin(a * peek(i)); pop(); push(s); }
        }
        float->float filter Sum { work pop 4 push 1 { push(pop() + pop() + pop() + pop()); } }
        float->float pipeline Main {
            add splitjoin { split duplicate; for (int i = 0; i < 4; i++) add Window(0.5 + i); join roundrobin(1); }
            add Sum;
        }";
    let place = Place::new().with("a.str", program);
    let arguments = ["run", "-O0", "a.str", "--fuse=false", "--threads", "2", "--dump-after", "emit-c"];
    let said = place.run_with(&arguments, &[0; 4096]).ends(0);
    let stage = said.text().split("static void sl_stage_1(").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    assert_eq!(stage.matches("memcpy(").count(), 1, "{stage}");
    // and what comes out is what one thread gives
    let input: Vec<u8> = (0..300_000u32).flat_map(|i| ((i * 7919 % 1000) as f32 / 500.0 - 1.0).to_le_bytes()).collect();
    all(&place, &["a.str", "--fuse=false"], &input);
    all(&place, &["a.str"], &input);
}

/// A sum behind a joiner of branches that are several regions: it takes its items where the joiner would have, for a batch and for what replicas do again.
#[test]
fn stages_weave_joiners_into_small_filters() {
    let program =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/filterbank/filterbank.str"));
    let place = Place::new().with("a.str", program.unwrap());
    let input: Vec<u8> = (0..400_000u32).flat_map(|i| ((i * 7919 % 1000) as f32 / 500.0 - 1.0).to_le_bytes()).collect();
    let said = place.run_with(&["run", "-O0", "a.str", "--threads", "2", "--dump-after", "emit-c"], &input).ends(0);
    let stage =
        said.text().split("static void sl_stage_1_regions(").nth(1).and_then(|s| s.split("\n}").next()).unwrap();
    assert_eq!((stage.matches("sl_woven_").count(), stage.matches("sl_join_").count()), (1, 0), "{stage}");
    assert!(stage.contains("* again"), "{stage}");
    all(&place, &["a.str"], &input);
}
