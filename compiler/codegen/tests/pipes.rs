//! Stand-alone programs on pipes: outputs as soon as the input determines them, ends of input, closed outputs, Ctrl-C.
#![allow(clippy::disallowed_methods)] // compiled programs are run, on files

mod common;

use common::*;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Starts a program with pipes at both ends.
fn start(exe: &std::path::Path, args: &[&str]) -> Child {
    Command::new(exe).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Up to `n` bytes that arrive within a while, and no more than that.
fn take(child: &mut Child, n: usize) -> Vec<u8> {
    let mut bytes = vec![0; n];
    child.stdout.as_mut().unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

fn peeking() -> Build {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Sum3"), b.filter("Down"), b.writer()];
    b.chain(&nodes);
    b
}

#[test]
fn a_pipe_that_gives_one_item_at_a_time() {
    let b = peeking();
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &["-O1"]);
    let input: Vec<i32> = (0..40).map(|i| i * i).collect();
    let want = as_ints(&b.interpret(&ints(input.clone()), None).items);
    let mut child = start(&exe, &[]);
    let mut out = Vec::new();
    for (i, x) in input.iter().enumerate() {
        child.stdin.as_mut().unwrap().write_all(&x.to_le_bytes()).unwrap();
        // after items 0 to i: a sum for all but two, an output for every two sums
        let due = (i + 1).saturating_sub(2) / 2;
        while out.len() < due {
            out.extend(as_ints(&take(&mut child, 4)));
        }
    }
    assert_eq!(out, want);
    drop(child.stdin.take());
    let mut rest = Vec::new();
    child.stdout.as_mut().unwrap().read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    assert!(child.wait().unwrap().success());
}

#[test]
fn parts_of_items_and_leftovers() {
    let b = peeking();
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &["-O1"]);
    let mut input = ints(0..9);
    input.extend([1, 2, 3]);
    let mut child = start(&exe, &[]);
    for byte in &input {
        child.stdin.as_mut().unwrap().write_all(&[*byte]).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(child.stdin.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.stdout, b.interpret(&input, None).items);
    assert!(out.status.success());
    let told = String::from_utf8(out.stderr).unwrap();
    assert!(told.contains("3 bytes left over after 9 items"), "{told}");
}

#[test]
fn a_closed_output_is_no_error() {
    let mut b = Build::new();
    let (source, writer) = (b.filter("Count"), b.writer());
    b.join(source, writer);
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &["-O1"]);
    let mut child = start(&exe, &[]);
    assert_eq!(as_ints(&take(&mut child, 400)), (1..=100).collect::<Vec<i32>>());
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
}

#[test]
fn ctrl_c_ends_with_whole_items_and_a_complete_file() {
    let mut b = Build::new();
    let nodes = [b.filter("Count"), b.filter("Scale"), b.writer()];
    b.chain(&nodes);
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &["-O1"]);
    let out = folder.path().join("out.raw");
    let child = start(&exe, &["-o", out.to_str().unwrap()]);
    std::thread::sleep(Duration::from_millis(100));
    assert!(!out.exists());
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let end = child.wait_with_output().unwrap();
    assert!(end.status.success(), "{end:?}");
    let bytes = std::fs::read(&out).unwrap();
    assert!(bytes.len().is_multiple_of(4) && bytes.len() > 4000);
    assert_eq!(as_ints(&bytes[..12]), [4, 7, 10]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "a temporary file is left");
}

#[test]
fn ctrl_c_while_waiting_for_input() {
    let b = peeking();
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &["-O1"]);
    let mut child = start(&exe, &[]);
    let stdin = child.stdin.take();
    std::thread::sleep(Duration::from_millis(150));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let end = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(end.status.success() && end.stderr.is_empty(), "{end:?}");
}

#[test]
fn a_generator_that_takes_its_time_can_be_watched() {
    let mut b = Build::new();
    // eight million counts for each number that comes out
    let mut nodes = vec![b.filter("Count")];
    (0..23).for_each(|_| nodes.push(b.filter("Down")));
    nodes.push(b.writer());
    b.chain(&nodes);
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &["-O1"]);
    let mut child = start(&exe, &[]);
    take(&mut child, 8);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let end = child.wait_with_output().unwrap();
    assert!(end.status.success() && end.stdout.len() < 400, "{end:?}");
}
