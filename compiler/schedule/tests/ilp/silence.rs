//! CBC has the bad habit of writing to the standard output, which may be somebody's channel: here it writes nothing.

#![allow(clippy::disallowed_methods, reason = "it looks at what another process prints")]

use std::process::Command;

#[test]
fn nothing_is_printed() {
    let me = std::env::current_exe().unwrap();
    for test in ["optimum::figure_4", "decomposed::the_bound_is_raised", "optimum::few_nodes_give_the_same_every_time"]
    {
        let out = Command::new(&me).args(["--exact", test, "--nocapture", "--test-threads=1"]).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success(), "{text}");
        let harness = |l: &str| l.is_empty() || l.starts_with("running 1 ") || l.starts_with("test ");
        assert!(text.lines().all(harness), "{text}");
        assert!(text.contains(test));
    }
}
