//! The corpus of the tree-sitter grammar, in the format of `tree-sitter test`: a name between lines of `=`, a text, a line of `-`, its tree.

use super::*;
use std::fmt::Write;

struct Case {
    head: String,
    text: String,
    tree: String,
}

/// The cases of a file. A line of three `=` or more on both sides of the name, one of three `-` behind the text.
fn cases(file: &str) -> Vec<Case> {
    let mut out: Vec<Case> = Vec::new();
    let mut lines = file.lines().peekable();
    let is_rule = |line: &str, sign: char| line.len() >= 3 && line.chars().all(|c| c == sign);
    let mut in_tree = false;
    while let Some(line) = lines.next() {
        if is_rule(line, '=') {
            let name = lines.next().expect("a name").to_string();
            assert!(is_rule(lines.next().expect("a line"), '='), "{name}");
            out.push(Case { head: name, text: String::new(), tree: String::new() });
            in_tree = false;
        } else if is_rule(line, '-') {
            in_tree = true;
        } else {
            let case = out.last_mut().expect("a name first");
            let part = if in_tree { &mut case.tree } else { &mut case.text };
            part.push_str(line);
            part.push('\n');
        }
    }
    out
}

/// A tree with a line for each node.
fn show(cursor: &mut tree_sitter::TreeCursor, depth: usize, out: &mut String) {
    let node = cursor.node();
    if node.is_named() {
        if depth > 0 {
            let _ = write!(out, "\n{}", "  ".repeat(depth));
        }
        if let Some(field) = cursor.field_name() {
            let _ = write!(out, "{field}: ");
        }
        let _ = write!(out, "({}", node.kind());
    }
    if cursor.goto_first_child() {
        loop {
            show(cursor, depth + usize::from(node.is_named()), out);
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        cursor.goto_parent();
    }
    if node.is_named() {
        out.push(')');
    }
}

#[test]
fn the_corpus_has_its_trees() {
    let folder = editors().join("tree-sitter-sluice/test/corpus");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder).expect("a corpus").flatten().map(|e| e.path()).collect();
    paths.sort();
    let mut parser = tree_parser();
    let mut count = 0;
    for path in paths {
        let file = std::fs::read_to_string(&path).expect("readable");
        let mut made = String::new();
        for case in cases(&file) {
            count += 1;
            let tree = parser.parse(case.text.trim_start_matches('\n'), None).expect("a tree");
            let mut shown = String::new();
            show(&mut tree.walk(), 0, &mut shown);
            let rule = "=".repeat(case.head.len());
            let _ = write!(made, "{rule}\n{}\n{rule}\n{}---\n\n{shown}\n\n", case.head, case.text);
        }
        let made = format!("{}\n", made.trim_end());
        golden(&path, &made);
    }
    assert!(count > 10, "{count} cases");
}
