//! Large programs, bounds of buffers, and input that does not fit together.
#![allow(clippy::disallowed_methods)] // compiled programs are run, on files

mod common;

use common::*;
use sluice_codegen::CodegenError;
use sluice_frontend::graph::NodeKind;

/// The scheduler's search for loops goes as deep as the program is long.
fn with_room(what: fn()) {
    std::thread::Builder::new().stack_size(1 << 28).spawn(what).unwrap().join().unwrap();
}

#[test]
fn ten_thousand_nodes_compile_and_run() {
    with_room(|| {
        let mut b = Build::new();
        let mut at = b.reader();
        for i in 0..10_000 {
            let next = b.filter(if i % 100 == 7 { "Sum3" } else { "Scale" });
            b.join(at, next);
            at = next;
        }
        let writer = b.writer();
        b.join(at, writer);
        let program = b.emit();
        assert!(program.source.len() < 3_000_000, "{}", program.source.len());
        let folder = tempfile::tempdir().unwrap();
        let start = std::time::Instant::now();
        let exe = b.executable(folder.path(), &["-O2"]);
        let took = start.elapsed();
        assert!(took.as_secs() < 20, "{took:?}");
        let input = ints(0..700);
        assert!(run(&exe, &[], &input).stdout == b.interpret(&input, None).items);
    });
}

#[test]
fn a_wide_splitjoin() {
    let mut b = Build::new();
    let weights = vec![2; 300];
    let (reader, writer) = (b.reader(), b.writer());
    let split = b.node("split", NodeKind::SplitRoundRobin(weights.clone()));
    let join = b.node("join", NodeKind::JoinRoundRobin(weights));
    b.join(reader, split);
    for i in 0..300 {
        let f = b.filter(["Scale", "Acc", "Both"][i % 3]);
        b.join(split, f);
        b.join(f, join);
    }
    b.join(join, writer);
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &["-O2"]);
    let input = ints(0..100_000);
    assert!(run(&exe, &[], &input).stdout == b.interpret(&input, None).items);
}

#[test]
fn buffers_beyond_the_limit_name_the_channel() {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Scale"), b.filter("Down"), b.writer()];
    b.chain(&nodes);
    b.options.buffer_limit = 1000;
    let error = b.try_emit().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("more than the limit of 1000; the largest, from reader#0 to Scale#1, takes 8"), "{text}");
    b.options.buffer_limit = 1 << 30;
    b.options.batch = Some(1 << 40);
    assert!(matches!(b.try_emit(), Err(CodegenError::BuffersTooLarge { .. })));
}

#[test]
fn the_batch_fits_the_target() {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Scale"), b.writer()];
    b.chain(&nodes);
    b.options.buffer_target = 64 << 10;
    // twice the target where buffers share: two channels of ints, and the distances between them; in vectors
    assert_eq!(b.emit().batch, 16320);
    assert_eq!(b.emit().source, b.emit().source);
}

#[test]
fn a_steady_state_of_another_graph_is_refused() {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Scale"), b.writer()];
    b.chain(&nodes);
    let steady = b.steady();
    let schedule = b.schedule(&steady);
    b.filter("Loud");
    assert!(matches!(b.emit_with(&steady, &schedule), Err(CodegenError::Malformed(_))));
}

#[test]
fn an_empty_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let exe = Build::new().executable(folder.path(), &sanitize());
    assert!(run(&exe, &[], b"").status.success());
}

/// What most of a small program's text would be, and nobody calls: firings in lanes.
#[test]
fn a_small_program_has_nothing_of_lanes() {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Sum3"), b.filter("Down"), b.writer()];
    b.chain(&nodes);
    for apart in [false, true] {
        b.options.apart = apart;
        let text = b.emit().source;
        assert!(text.contains("sl_steady") && !text.contains("SL_LANES") && !text.contains("sl_vf"), "apart: {apart}");
    }
}
