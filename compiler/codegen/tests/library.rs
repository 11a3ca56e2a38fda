//! Libraries: the examples for C and Python, several instances in several threads, faults, memory.
#![allow(clippy::disallowed_methods)] // compiled programs are run, on files

mod common;

use common::*;
use sluice_codegen::{CodegenError, Flavour};
use sluice_frontend::graph::{Endpoint, NodeKind};
use std::path::Path;
use std::process::Command;

fn smooth() -> Build {
    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Sum3"), b.filter("Down"), b.writer()];
    b.chain(&nodes);
    b.name = "smooth".into();
    b.options.flavour = Flavour::Library;
    b
}

/// Makes `lib<name>.so` and its header.
fn library(b: &Build, folder: &Path, flags: &[&str]) {
    let program = b.emit();
    let flags: Vec<&str> = ["-shared", "-fPIC", "-fvisibility=hidden"].iter().chain(flags).copied().collect();
    compile(&program.source, folder, &folder.join(format!("lib{}.so", b.name)), &flags);
    std::fs::write(folder.join(format!("{}.h", b.name)), program.header.unwrap()).unwrap();
}

/// Compiles a user of the library and runs it.
fn used(folder: &Path, name: &str, text: &str, flags: &[&str]) -> String {
    let (source, exe) = (folder.join("user.c"), folder.join("user"));
    std::fs::write(&source, text).unwrap();
    let out = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread"])
        .args(flags)
        .arg(&source)
        .args(["-L", folder.to_str().unwrap(), &format!("-l{name}"), "-Wl,-rpath,$ORIGIN", "-o"])
        .arg(&exe)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let out = Command::new(&exe).current_dir(folder).output().unwrap();
    assert!(out.status.success(), "{:?} {}", out.status, String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn wanted(b: &Build) -> String {
    as_ints(&b.interpret(&ints(0..100), None).items).iter().map(|i| format!("{i}\n")).collect()
}

#[test]
fn the_example_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let b = smooth();
    library(&b, folder.path(), &["-O1"]);
    assert_eq!(used(folder.path(), "smooth", include_str!("../../../examples/library/use_library.c"), &[]), wanted(&b));
}

#[test]
fn the_example_in_python() {
    if Command::new("python3").arg("--version").output().is_err() {
        sluice_skipped::skipped("there is no python3: the library is not used from it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let b = smooth();
    library(&b, folder.path(), &["-O1"]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/library/use_library.py");
    let out = Command::new("python3").arg(script).arg(folder.path().join("libsmooth.so")).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(String::from_utf8(out.stdout).unwrap(), wanted(&b));
}

#[test]
fn instances_in_threads() {
    for flags in [&["-O1", "-g", "-fsanitize=thread"][..], &["-O1", "-g", "-fsanitize=address,undefined"]] {
        let folder = tempfile::tempdir().unwrap();
        library(&smooth(), folder.path(), flags);
        let told = used(folder.path(), "smooth", include_str!("c/threads.c"), flags);
        assert_eq!(told, "0\n0\n0\n1\n0\n1\n0\n1\n0\n1\nsame\n");
    }
}

#[test]
fn memory_is_taken_by_create_only() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        sluice_skipped::skipped("there is no valgrind: the memory of the library is not looked at");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    library(&smooth(), folder.path(), &["-O1", "-g"]);
    used(folder.path(), "smooth", include_str!("../../../examples/library/use_library.c"), &[]);
    let out = Command::new("valgrind")
        .args(["--error-exitcode=9", "--leak-check=full", "--track-origins=yes"])
        .arg(folder.path().join("user"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn files_that_the_program_names_and_iterations() {
    let mut b = Build::new();
    let writer = b.node("FileWriter", NodeKind::Writer(Endpoint::File("out.raw".into())));
    let nodes = [b.filter("Count"), b.filter("Scale"), writer];
    b.chain(&nodes);
    (b.name, b.options.flavour) = ("count".into(), Flavour::Library);
    let folder = tempfile::tempdir().unwrap();
    library(&b, folder.path(), &["-O1"]);
    let user = r#"
#include "count.h"
#include <stdio.h>
int main(void) {
    count *p = count_create();
    printf("%d ", count_run(p, 3));
    printf("%d ", count_run(p, 2));
    printf("%d ", count_end_input(p));
    printf("%d\n", count_finish(p));
    count_destroy(p);
    return 0;
}"#;
    assert_eq!(used(folder.path(), "count", user, &[]), "0 0 -4 0\n");
    assert_eq!(as_ints(&std::fs::read(folder.path().join("out.raw")).unwrap()), [4, 7, 10, 13, 16]);
}

#[test]
fn faults_are_told() {
    let mut b = Build::new();
    let missing = b.node("FileReader", NodeKind::Reader(Endpoint::File("missing.raw".into())));
    let writer = b.writer();
    b.join(missing, writer);
    (b.name, b.options.flavour) = ("absent".into(), Flavour::Library);
    let folder = tempfile::tempdir().unwrap();
    library(&b, folder.path(), &["-O1"]);
    let user = r#"
#include "absent.h"
#include <stdio.h>
int main(void) {
    absent *p = absent_create();
    int32_t x;
    printf("%d %s\n", (int)absent_pull_output(p, &x, 1), absent_error_message(p));
    absent_destroy(p);
    return 0;
}"#;
    assert_eq!(used(folder.path(), "absent", user, &[]), "-3 cannot read missing.raw: No such file or directory\n");

    let mut b = Build::new();
    let nodes = [b.reader(), b.filter("Check"), b.writer()];
    b.chain(&nodes);
    (b.name, b.options.flavour) = ("check".into(), Flavour::Library);
    library(&b, folder.path(), &["-O1"]);
    let user = r#"
#include "check.h"
#include <stdio.h>
int main(void) {
    check *p = check_create();
    int32_t x = 9;
    check_push_input(p, &x, 1);
    printf("%d ", (int)check_pull_output(p, &x, 1));
    printf("%d %s\n", (int)check_push_input(p, &x, 1), check_error_message(p));
    check_destroy(p);
    return 0;
}"#;
    let told = used(folder.path(), "check", user, &[]);
    assert!(told.starts_with("-2 -2 Check#1"), "{told}");
    assert!(told.contains("index 9 is outside of the array"), "{told}");
}

#[test]
fn names_that_c_cannot_have() {
    for name in ["", "9lives", "a-b", "int", "sl_x", "ä"] {
        let mut b = smooth();
        b.name = name.into();
        assert_eq!(b.try_emit().unwrap_err(), CodegenError::Name(name.into()));
    }
}
