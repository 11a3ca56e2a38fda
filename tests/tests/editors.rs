//! What editors/ ships, held to the compiler: the tree-sitter grammar and its queries, the TextMate grammar, the lists of words of Emacs and
//! Kate, the pattern that finds the compiler's messages.
//!
//! `SLUICE_BLESS=1` makes what is generated: the parser from `grammar.js` (which needs Node.js), the corpus' trees, the queries of Neovim and
//! Helix. What needs Node.js or the packages of editors/vscode says that it was skipped where they are missing, and fails where
//! `SLUICE_NEEDS_EDITORS` is set, as in CI.

#![allow(clippy::disallowed_methods)] // programs are read, tools are started

#[path = "editors/clients.rs"]
mod clients;
#[path = "editors/corpus.rs"]
mod corpus;
#[path = "editors/parser.rs"]
mod parser;
#[path = "editors/queries.rs"]
mod queries;
#[path = "editors/words.rs"]
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

fn editors() -> PathBuf {
    root().join("editors")
}

fn bless() -> bool {
    std::env::var_os("SLUICE_BLESS").is_some()
}

/// Says that a test cannot be made here; fails where it must.
fn skip(reason: &str) {
    assert!(std::env::var_os("SLUICE_NEEDS_EDITORS").is_none(), "{reason}");
    sluice_skipped::skipped(reason);
}

fn has_node() -> bool {
    Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compares with a file that is made, or makes it.
fn golden(path: &Path, text: &str) {
    if bless() {
        if std::fs::read_to_string(path).ok().as_deref() != Some(text) {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("written");
        }
        return;
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == text,
        "{} is not what is made of its source: SLUICE_BLESS=1 cargo nextest run -p sluice-tests --test editors",
        path.display()
    );
}

/// Every `.str` file of the repository, by its path from the root, with its text.
fn programs() -> Vec<(String, String)> {
    let root = root();
    let paths = sluice_tests::files::files(&root, "str");
    assert!(paths.len() > 700, "only {} programs found", paths.len());
    let text = |path: &Path| sluice_grammar::decode(&std::fs::read(path).expect("readable")).0;
    paths.iter().map(|p| (p.strip_prefix(&root).expect("inside").to_string_lossy().into_owned(), text(p))).collect()
}

/// Has the compiler's own parser nothing to say of a program?
fn well_formed(text: &str) -> bool {
    sluice_grammar::parse(sluice_grammar::span::FileId(0), text).1.is_empty()
}

fn tree_parser() -> tree_sitter::Parser {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_sluice::LANGUAGE.into()).expect("a grammar of a version that the library knows");
    parser
}
