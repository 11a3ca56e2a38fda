//! Blocks whose warps have roles (scheme fused-warps): faults planted in the kernels that the compiler generates, each of which the emulator sees, by name; and
//! regions of all kinds, with and without roles.

use sluice_codegen::cuda::Scheme;
use sluice_driver::options::CudaOptions;
use sluice_frontend::slow;
use sluice_tests::device::{Complaint, Most, agree, lengths};
use sluice_tests::generate::Case;
use sluice_tests::run::{Feed, check, compile_changed, run};

/// Channels of all kinds: a reader's that is looked at ahead, within the region, from another region (the filter with state divides them), of items that cannot be copied asynchronously.
const PROGRAM: &str = "int->int pipeline Main {
    add int->int filter { work peek 5 pop 1 push 1 { push(peek(4) - peek(0)); pop(); } };
    add int->int filter { work peek 3 pop 2 push 2 { push(peek(2)); push(pop()); pop(); } };
    add int->int stateful filter { int s; work pop 1 push 1 { s += pop(); push(s); } };
    add int->int filter { work peek 4 pop 3 push 1 { push(peek(3) + pop() * pop()); pop(); } };
    add int->bit filter { work pop 1 push 1 { push(pop() % 2 == 0 ? 1 : 0); } };
    add bit->int filter { work peek 4 pop 1 push 1 { push(peek(3) == 1 ? 5 : 3); pop(); } };
}";

const MOST: Most = Most { firings: 1 << 20, units: 40, bytes: 1 << 20 };

fn case(source: &str) -> Case {
    let input = (1..=900i32).flat_map(i32::to_le_bytes).collect();
    Case { source: source.into(), input: Some(input), iterations: None, hazards: false, channel_limit: None }
}

fn options(processors: u32, threads: u32) -> CudaOptions {
    CudaOptions {
        emulate: true,
        scheme: Some(Scheme::FusedWarps),
        processors: Some(processors),
        block_threads: Some(threads),
        ..CudaOptions::default()
    }
}

/// Runs a program whose kernels are changed, with inputs of several lengths. Gives what is wrong, and the text.
fn changed(
    source: &str,
    streams: u32,
    cuda: &CudaOptions,
    change: &dyn Fn(&str) -> String,
) -> (Option<String>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut checked = check(source).unwrap_or_else(|why| panic!("{why}"));
    if streams > 1 {
        checked.program = slow::streams(&checked.program, streams).expect("nothing stands against streams");
    }
    let mut text = String::new();
    let made = compile_changed(&checked, cuda, &mut |all| {
        // the support around it stays as it is
        let (head, rest) = all.split_once("/* ---- the program ---- */").expect("a mark");
        let (own, tail) = rest.split_once("/* ---- the emulator ---- */").expect("a mark");
        text = change(own);
        *all = format!("{head}/* ---- the program ---- */{text}/* ---- the emulator ---- */{tail}");
    });
    let (program, code) = made.unwrap_or_else(|why| panic!("{why}"));
    let cases = lengths(&checked.program, &case(source), code.unit, MOST);
    let mut on_device = |c: &Case| run(&program, c, Some(&code), Feed::default(), folder.path());
    match agree(&checked, &cases, folder.path(), &mut on_device) {
        Ok(tried) => {
            assert!(tried.output > 0 && code.launches() > 0, "{tried:?}");
            (None, text)
        }
        Err(Complaint::Different(_, why)) => (Some(why), text),
        Err(Complaint::Refused(why)) => panic!("{why}"),
    }
}

/// What a fault is, what is made of the text, and what the emulator says of it: one of these, with `{}` for numbers.
type Plant<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

const EARLY: &[&str] = &[
    "reads what nobody has written yet: shared memory",
    "reads where an asynchronous copy of thread {} goes that is not waited for: shared memory",
    "reads what thread {} wrote, without a barrier between: shared memory",
    "writes what thread {} read, without a barrier between: shared memory",
    "writes what thread {} wrote, without a barrier between: shared memory",
    "arrives at named barrier {} a second time, before those who wait there have gone on",
];

const PLANTS: &[Plant<'_>] = &[
    (
        "copies are not waited for",
        &[("sl_copy_wait(0);", ";")],
        &[
            "reads what nobody has written yet: shared memory",
            "reads where an asynchronous copy of thread {} goes that is not waited for: shared memory",
        ],
    ),
    ("those who fire do not wait for full", &[("sl_sync_some(2u + stage, 96u);", ";")], EARLY),
    (
        "nobody says that a stage is full",
        &[("sl_arrive_some(2u + stage, 96u);", ";")],
        &["waits at named barrier {} for 96 threads, and only 64 come to it; thread 64 does not: it"],
    ),
    (
        "those who bring do not wait for empty",
        &[("if (b - first >= 2 * step) sl_sync_some(4u + stage, 96u);", "")],
        EARLY,
    ),
    (
        "nobody says that a stage is empty",
        &[("if (b + 2 * step < tiles) sl_arrive_some(4u + stage, 96u);", "")],
        &[
            "waits at named barrier {} for 96 threads, and only 64 come to it; thread 64 does not: it waits at named barrier 4",
            "waits at named barrier 4 for 96 threads, and only 32 come to it; thread 0 does not: it",
        ],
    ),
    (
        "a stage is empty before it was read",
        &[
            (
                "sl_sync_some(2u + stage, 96u);",
                "sl_sync_some(2u + stage, 96u); if (b + 2 * step < tiles) sl_arrive_some(4u + stage, 96u);",
            ),
            ("\n        if (b + 2 * step < tiles) sl_arrive_some(4u + stage, 96u);\n", "\n"),
        ],
        &[
            "writes what thread {} read, without a barrier between: shared memory",
            "reads what thread {} wrote, without a barrier between: shared memory",
            "reads where an asynchronous copy of thread {} goes that is not waited for: shared memory",
        ],
    ),
    (
        "too few come to the barrier of those who fire",
        &[("sl_sync_some(1u, 64u);", "sl_sync_some(1u, 96u);")],
        &["waits at named barrier 1 for 96 threads, and only {} come to it"],
    ),
    (
        "too many come to it",
        &[("sl_sync_some(1u, 64u);", "sl_sync_some(1u, 32u);")],
        &[
            "without a barrier between: shared memory",
            "is not at named barrier 1, where other threads of its warp and enough others are",
        ],
    ),
    (
        "they have none",
        &[("sl_sync_some(1u, 64u);", ";")],
        &["reads what nobody has written yet: shared memory", "without a barrier between: shared memory"],
    ),
    (
        "they meet at the barrier of the block",
        &[("sl_sync_some(1u, 64u);", "sl_sync();")],
        &["waits at a barrier of the block that thread {} does not reach: it"],
    ),
    (
        "full and empty are one barrier",
        &[("(4u + stage, 96u)", "(2u + stage, 96u)")],
        &[
            "is not at named barrier {}, where other threads of its warp and enough others are",
            "arrives at named barrier {} a second time",
            "without a barrier between: shared memory",
            "and only {} come to it",
        ],
    ),
    (
        "the others' stage is read",
        &[("const sl_team team = {sl_thread(), 64u};", "const sl_team team = {sl_thread(), 64u}; stage = 1;")],
        &["waits at named barrier", "reads what nobody has written yet", "without a barrier between", "not waited for"],
    ),
];

/// Does a text have the words of a pattern, one after the other?
fn says(text: &str, pattern: &str) -> bool {
    let mut rest = text;
    pattern.split("{}").all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[test]
fn each_fault_is_seen_by_name() {
    let cuda = options(1, 64);
    let (wrong, text) = changed(PROGRAM, 1, &cuda, &str::to_string);
    assert_eq!(wrong, None);
    // two regions have roles
    assert_eq!(text.matches("if (sl_thread() >= 64u) {").count(), 2, "{text}");
    let mut missed = Vec::new();
    for (what, plants, said) in PLANTS {
        let (wrong, _) = changed(PROGRAM, 1, &cuda, &|text| {
            plants.iter().fold(text.to_string(), |text, (from, to)| {
                assert!(text.contains(from), "{what}: there is no {from}");
                text.replace(from, to)
            })
        });
        let wrong = wrong.unwrap_or_else(|| panic!("{what}: nobody sees it"));
        if !wrong.contains("kernel sl_region_") || !said.iter().any(|s| says(&wrong, s)) {
            missed.push(format!("{what}: {wrong}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
