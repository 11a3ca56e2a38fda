//! Tells the crate which commit it is built from, where git can say.

#![allow(clippy::disallowed_methods)] // asks git

use std::process::Command;

fn git(args: &[&str]) -> Option<String> {
    let out = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    (out.status.success() && !text.trim().is_empty()).then(|| text.trim().to_string())
}

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown commit".to_string());
    println!("cargo::rustc-env=SLUICE_COMMIT={commit}");
    println!("cargo::rerun-if-changed=build.rs");
    // A new commit moves the log of HEAD; a path that is missing would rebuild every time.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|p| std::path::Path::new(p).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
}
