//! The low-level interface: a host that blocks, stops and gives little at a time sees the same bytes.
#![allow(clippy::disallowed_methods)] // compiled programs are run, on files

mod common;

use common::*;
use sluice_codegen::Flavour;
use sluice_codegen::c::rts;
use sluice_frontend::graph::NodeKind;

fn check(mut b: Build, stdout_writers: &str, lengths: &[i32]) {
    b.options.flavour = Flavour::Plugin;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sluice_abi.h"), rts::ABI).unwrap();
    let host = folder.path().join("host.c");
    std::fs::write(&host, include_str!("c/host.c")).unwrap();
    let exe = folder.path().join("program");
    let include = format!("-I{}", folder.path().display());
    let mut flags = sanitize();
    flags.extend([include.as_str(), host.to_str().unwrap()]);
    compile(&b.emit().source, folder.path(), &exe, &flags);
    for n in lengths {
        let input = ints((0..*n).map(|i| i * 31 % 101));
        let got = run(&exe, &[stdout_writers], &input);
        assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
        assert!(got.stdout == b.interpret(&input, None).all, "{n} items");
    }
}

#[test]
fn a_pipeline_that_peeks() {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Early"), b.filter("Sum3"), b.filter("Down"), b.filter("Up"), b.writer()];
    b.chain(&nodes);
    check(b, "0", &[0, 3, 5000, 100_001]);
}

#[test]
fn a_loop_in_a_splitjoin() {
    let mut b = Build::new();
    let (reader, writer) = (b.reader(), b.writer());
    let split = b.node("split", NodeKind::SplitRoundRobin(vec![2, 1]));
    let join = b.node("join", NodeKind::JoinRoundRobin(vec![1, 1]));
    b.join(reader, split);
    let down = b.filter("Down");
    b.join(split, down);
    let end = b.node("identity", NodeKind::Identity);
    b.feedback(split, end, &[1, 2, 3]);
    b.join(down, join);
    b.join(end, join);
    b.join(join, writer);
    check(b, "0", &[7, 30_000]);
}

#[test]
fn prints_and_items_keep_their_order() {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Echo"), b.filter("Sum3"), b.filter("Echo"), b.writer()];
    b.chain(&nodes);
    check(b, "1", &[0, 10, 3000]);
}
