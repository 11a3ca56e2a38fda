//! Blocks whose warps have roles (scheme fused-warps): faults planted in the kernels that the compiler generates, each of which the emulator sees, by name;
//! blocks of all sizes; regions without room for roles; streams that have a thread each.

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

fn options(scheme: Scheme, processors: u32, threads: u32) -> CudaOptions {
    CudaOptions {
        emulate: true,
        scheme: Some(scheme),
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
    ("those who fire do not wait for full", &[("sl_sync_stage<2u, 96u>(stage);", ";")], EARLY),
    (
        "nobody says that a stage is full",
        &[("sl_arrive_stage<2u, 96u>(stage);", ";")],
        &["waits at named barrier {} for 96 threads, and only 64 come to it; thread 64 does not: it"],
    ),
    (
        "those who bring do not wait for empty",
        &[("if (b - first >= 2 * step) sl_sync_stage<4u, 96u>(stage);", "")],
        EARLY,
    ),
    (
        "nobody says that a stage is empty",
        &[("if (b + 2 * step < tiles) sl_arrive_stage<4u, 96u>(stage);", "")],
        &[
            "waits at named barrier {} for 96 threads, and only 64 come to it; thread 64 does not: it waits at named barrier 4",
            "waits at named barrier 4 for 96 threads, and only 32 come to it; thread 0 does not: it",
        ],
    ),
    (
        "a stage is empty before it was read",
        &[
            (
                "sl_sync_stage<2u, 96u>(stage);",
                "sl_sync_stage<2u, 96u>(stage); if (b + 2 * step < tiles) sl_arrive_stage<4u, 96u>(stage);",
            ),
            ("\n        if (b + 2 * step < tiles) sl_arrive_stage<4u, 96u>(stage);\n", "\n"),
        ],
        &[
            "writes what thread {} read, without a barrier between: shared memory",
            "reads what thread {} wrote, without a barrier between: shared memory",
            "reads where an asynchronous copy of thread {} goes that is not waited for: shared memory",
        ],
    ),
    (
        "too few come to the barrier of those who fire",
        &[("sl_sync_named<1u, 64u>();", "sl_sync_named<1u, 96u>();")],
        &["waits at named barrier 1 for 96 threads, and only {} come to it"],
    ),
    (
        "too many come to it",
        &[("sl_sync_named<1u, 64u>();", "sl_sync_named<1u, 32u>();")],
        &[
            "without a barrier between: shared memory",
            "is not at named barrier 1, where other threads of its warp and enough others are",
        ],
    ),
    (
        "they have none",
        &[("sl_sync_named<1u, 64u>();", ";")],
        &["reads what nobody has written yet: shared memory", "without a barrier between: shared memory"],
    ),
    (
        "they meet at the barrier of the block",
        &[("sl_sync_named<1u, 64u>();", "sl_sync();")],
        &["waits at a barrier of the block that thread {} does not reach: it"],
    ),
    (
        "full and empty are one barrier",
        &[("_stage<4u, 96u>", "_stage<2u, 96u>")],
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
    let cuda = options(Scheme::FusedWarps, 1, 64);
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

#[test]
fn blocks_of_all_sizes() {
    for (threads, fire) in [(32, 32), (96, 96), (1024, 768)] {
        let (wrong, text) = changed(PROGRAM, 1, &options(Scheme::FusedWarps, 2, threads), &str::to_string);
        assert_eq!(wrong, None, "{threads} threads");
        assert!(text.contains(&format!("if (sl_thread() >= {fire}u) {{")), "{threads} threads: {text}");
    }
}

/// Where a tile fills shared memory there is no second place, and where nothing comes in there is nothing to bring: kernels are those of the scheme fused.
#[test]
fn without_room_there_are_no_roles() {
    let large = "int->int filter Main { work pop 9000 push 1 { int s = 0; for (int i = 0; i < 9000; i++) s += pop() * i; push(s); } }";
    let source = "void->void pipeline Main {
    add void->int filter { work push 3 { for (int i = 0; i < 3; i++) push(iter() * i); } };
    add int->void filter { work pop 3 peek 5 { println(pop() + pop() - pop() + peek(1)); } };
}";
    for (program, iterations) in [(large, None), (source, Some(5000))] {
        let text = |scheme| {
            let cuda = options(scheme, 2, 64);
            let checked = check(program).unwrap_or_else(|why| panic!("{why}"));
            let mut text = String::new();
            let (program, code) =
                compile_changed(&checked, &cuda, &mut |t| text = t.clone()).unwrap_or_else(|why| panic!("{why}"));
            let folder = tempfile::tempdir().expect("a folder");
            let input = (0..90_000i32).flat_map(i32::to_le_bytes).collect();
            let case = Case { iterations, input: iterations.is_none().then_some(input), ..case("") };
            let mut on_device = |c: &Case| run(&program, c, Some(&code), Feed::default(), folder.path());
            let tried = agree(&checked, &[case], folder.path(), &mut on_device).unwrap_or_else(|why| panic!("{why:?}"));
            assert!(tried.output > 0 && code.launches() > 0, "{tried:?}");
            text.split_once("/* ---- the program ---- */").expect("a mark").1.to_string()
        };
        let (plain, roles) = (text(Scheme::Fused), text(Scheme::FusedWarps));
        assert!(roles.contains("sl_region_0") && !roles.contains("SL_KERNEL_ROLES(64"), "{roles}");
        assert!(
            roles.matches("SL_KERNEL(64) void sl_region").count()
                == plain.matches("SL_KERNEL(64) void sl_region").count()
        );
    }
}

/// Filters without state that look ahead, change rates, begin with items of their own, lie in branches.
const STREAMS: &str = "int->int pipeline Main {
    add int->int filter { work peek 9 pop 2 push 3 { int s = iter(); for (int i = 0; i < 9; i++) s += peek(i) * i; push(s); push(pop()); push(pop()); } };
    add int->int filter { work pop 3 push 2 { push(pop() + peek(1)); push(pop()); pop(); } };
    add splitjoin {
        split roundrobin(2, 1);
        add int->int filter { work pop 2 push 2 { push(pop() * 3); push(pop() * 5); } };
        add int->int filter { work peek 4 pop 1 push 1 { push(peek(3) - pop()); } };
        join roundrobin(2, 1);
    };
    add int->int filter { prework push 3 { push(1); push(2); push(3); } work pop 2 push 2 { push(peek(1)); push(pop()); pop(); } };
    add int->int filter { int s; work pop 1 push 1 { s += pop(); push(s); } };
    add int->int filter { work peek 5 pop 1 push 1 { push(peek(4) ^ pop()); } };
}";

#[test]
fn streams_without_state_have_threads() {
    for (n, scheme) in [2, 3, 8, 33, 40].into_iter().flat_map(|n| [(n, Scheme::Fused), (n, Scheme::FusedWarps)]) {
        let (wrong, text) = changed(STREAMS, n, &options(scheme, 2, 64), &str::to_string);
        assert_eq!(wrong, None, "{n} streams, {}", scheme.name());
        // of those in the two regions around the one with state, two in one thread
        let threads = text.matches(&format!("const int32_t i = u / {n};")).count();
        assert!(threads >= 4 && text.contains("sl_turn<sl_window<"), "{n} streams, {}: {threads}", scheme.name());
    }
}

/// Where two channels that are needed at the same time lie at one place, or a barrier is missing, the emulator, or the output, says so.
#[test]
fn places_and_barriers_are_watched() {
    let cuda = options(Scheme::Fused, 1, 64);
    let (wrong, text) = changed(PROGRAM, 1, &cuda, &str::to_string);
    assert_eq!(wrong, None);
    let place = |line: &str| -> Option<u64> {
        let (head, rest) = line.split_once("(sl_shared() + ")?;
        head.contains("const sl_tile<").then(|| rest.split(')').next()?.parse().ok())?
    };
    let region = |text: &str, line: usize| text.lines().take(line).filter(|l| l.starts_with("SL_KERNEL(")).count();
    let places: Vec<(usize, usize, u64)> =
        text.lines().enumerate().filter_map(|(i, l)| Some((i, region(&text, i), place(l)?))).collect();
    let mut planted = 0;
    // the channels of a chain: each is needed while the next one is
    for pair in places.windows(2).filter(|p| p[0].1 == p[1].1) {
        let [(_, _, other), (line, _, own)] = pair else { unreachable!("there are two") };
        let (wrong, _) = changed(PROGRAM, 1, &cuda, &|text| {
            let move_it = |(i, l): (usize, &str)| match i == *line {
                true => l.replace(&format!("(sl_shared() + {own})"), &format!("(sl_shared() + {other})")) + "\n",
                false => format!("{l}\n"),
            };
            text.lines().enumerate().map(move_it).collect()
        });
        assert!(wrong.is_some(), "{own} at {other}: nobody sees it\n{text}");
        planted += 1;
    }
    let barriers = text.matches("    sl_sync();\n").count();
    for gone in 0..barriers {
        // those of the regions, not of the filter between them
        let at = text.match_indices("    sl_sync();\n").nth(gone).map_or(0, |(at, _)| at);
        if !text[..at].rsplit("SL_KERNEL(").next().is_some_and(|kernel| kernel.contains("void sl_region_")) {
            continue;
        }
        let (wrong, _) = changed(PROGRAM, 1, &cuda, &|text| {
            let at = text.match_indices("    sl_sync();\n").nth(gone).map_or(0, |(at, _)| at);
            format!("{}{}", &text[..at], &text[at + "    sl_sync();\n".len()..])
        });
        let wrong = wrong.unwrap_or_else(|| panic!("barrier {gone} is missing: nobody sees it\n{text}"));
        assert!(
            says(&wrong, "without a barrier between: shared memory")
                || says(&wrong, "reads what nobody has written yet: shared memory"),
            "{wrong}"
        );
        planted += 1;
    }
    assert!(planted >= 10, "{planted} of {} places, {barriers} barriers", places.len());
}
