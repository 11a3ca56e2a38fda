//! Editors that are installed here run their own tests, without a server: `editors/tests`.

use super::*;

/// Runs an editor's tests; where it is not installed, or too old, says so. No run depends on which editors a machine has.
fn tries(name: &str, version: &[&str], fits: impl Fn(&str) -> bool, arguments: &[&str]) {
    let said = Command::new(name).args(version).output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    if !said.as_ref().is_ok_and(|said| fits(said)) {
        sluice_skipped::skipped(&format!("{name} is not here, or too old: its tests in editors/tests are not run"));
        return;
    }
    let output = Command::new(name)
        .args(arguments)
        .current_dir(root())
        .env_remove("SLUICE")
        .output()
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
}

/// The first two numbers of what a program says of its version.
fn version(said: &str) -> (u32, u32) {
    let numbers = regex::Regex::new(r"(\d+)\.(\d+)").expect("a pattern");
    let part = |found: &regex::Captures, i: usize| found[i].parse().unwrap_or(0);
    numbers.captures(said).map_or((0, 0), |found| (part(&found, 1), part(&found, 2)))
}

#[test]
fn emacs() {
    let tests =
        ["-Q", "--batch", "-L", "editors/emacs", "-l", "editors/tests/emacs.el", "-f", "ert-run-tests-batch-and-exit"];
    tries("emacs", &["--version"], |said| version(said) >= (27, 1), &tests);
}

#[test]
fn neovim() {
    let tests = ["--clean", "--headless", "-c", "luafile editors/tests/neovim.lua"];
    tries("nvim", &["--version"], |said| version(said) >= (0, 10), &tests);
}
