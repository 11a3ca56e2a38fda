//! What tests and scripts skip is gathered in one file, and shown together.

#![allow(clippy::disallowed_methods)] // tests start scripts

use std::path::Path;
use std::process::{Command, Output};

fn script(arguments: &[&str], file: &Path) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/skipped");
    let out = Command::new(path).args(arguments).env(sluice_skipped::VARIABLE, file).output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    out
}

/// Is started by the test below, as a test runner would.
#[test]
fn a_test_that_skips() {
    if std::env::var_os("SLUICE_SKIPPED_BY_A_TEST").is_some() {
        sluice_skipped::skipped("no tool, so nothing");
    }
}

#[test]
fn scripts_and_tests_feed_one_list() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gathered");
    assert_eq!(
        script(&["--show", file.to_str().unwrap()], &file).stdout,
        b"",
        "where nothing was skipped, nothing is said"
    );
    for _ in 0..2 {
        let myself = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_test_that_skips"])
            .env(sluice_skipped::VARIABLE, &file)
            .env("SLUICE_SKIPPED_BY_A_TEST", "1")
            .output()
            .unwrap();
        assert!(myself.status.success());
    }
    let said = script(&["a", "package cannot", "be installed"], &file);
    assert_eq!(String::from_utf8_lossy(&said.stderr), "SKIPPED: a package cannot be installed\n");
    let shown = script(&["--show", file.to_str().unwrap()], &file);
    assert_eq!(
        String::from_utf8_lossy(&shown.stdout),
        "Not tested, for what is missing here:\n  a package cannot be installed\n  no tool, so nothing (2 times)\n"
    );
}
