//! Queries: they fit the grammar, capture each node once, and those of Neovim and Helix are made from the grammar's.

use super::*;
use std::collections::BTreeMap;
use tree_sitter::{Query, QueryCursor, StreamingIterator};

fn query(name: &str, text: &str) -> Query {
    Query::new(&tree_sitter_sluice::LANGUAGE.into(), text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn scheme_files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "scm"));
    all.sort();
    all
}

/// Helix's names for captures, from its table: lines `theirs ours`, `-` where Helix has none.
fn helix_names() -> BTreeMap<String, String> {
    let table = read(&editors().join("helix/captures.txt"));
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| line.split_once(' ').map(|(a, b)| (a.to_string(), b.trim().to_string())).expect("two names"))
        .collect()
}

/// A query with other names. A line is dropped whose name has none.
fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    let name = regex::Regex::new(r"@[a-z][a-z.]*").expect("a pattern");
    let mut out = String::new();
    for line in text.lines() {
        if name.find_iter(line).any(|m| names.get(&m.as_str()[1..]).is_some_and(|to| to == "-")) {
            continue;
        }
        let to = |c: &regex::Captures| match names.get(&c[0][1..]) {
            Some(to) => format!("@{to}"),
            None => c[0].to_string(),
        };
        out.push_str(&name.replace_all(line, to));
        out.push('\n');
    }
    out
}

#[test]
fn neovims_and_helixs_queries_are_made_from_the_grammars() {
    let source = editors().join("tree-sitter-sluice/queries");
    let names = helix_names();
    let note =
        |of: &str| format!("; Made from editors/tree-sitter-sluice/queries/{of} by the tests: change that file.\n\n");
    for path in scheme_files(&source) {
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = read(&path);
        if file != "tags.scm" {
            golden(&editors().join("neovim/queries/sluice").join(&file), &(note(&file) + &text));
        }
        if file != "tags.scm" && file != "folds.scm" {
            let made = renamed(&text, &names);
            golden(&editors().join("helix/queries/sluice").join(&file), &(note(&file) + made.trim_end() + "\n"));
        }
    }
}

#[test]
fn queries_fit_the_grammar() {
    let mut count = 0;
    for folder in ["tree-sitter-sluice/queries", "neovim/queries/sluice", "helix/queries/sluice"] {
        for path in scheme_files(&editors().join(folder)) {
            query(&path.to_string_lossy(), &read(&path));
            count += 1;
        }
    }
    assert!(count >= 13, "{count} queries");
}

/// What is captured, by place.
fn captures(query: &Query, tree: &tree_sitter::Tree, text: &str) -> BTreeMap<(usize, usize), Vec<String>> {
    let mut out: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    let mut cursor = QueryCursor::new();
    let mut all = cursor.captures(query, tree.root_node(), text.as_bytes());
    while let Some((found, index)) = all.next() {
        let capture = found.captures[*index];
        let name = query.capture_names()[capture.index as usize].to_string();
        out.entry((capture.node.start_byte(), capture.node.end_byte())).or_default().push(name);
    }
    out
}

#[test]
fn what_is_coloured_is_coloured_once() {
    let query = query("highlights.scm", tree_sitter_sluice::HIGHLIGHTS);
    let mut parser = tree_parser();
    let mut used = std::collections::BTreeSet::new();
    for (name, text) in programs() {
        let tree = parser.parse(&text, None).expect("a tree");
        let found = captures(&query, &tree, &text);
        for ((start, end), names) in &found {
            assert_eq!(names.len(), 1, "{name}: `{}` is {names:?}", &text[*start..*end]);
            used.insert(names[0].clone());
        }
        if !well_formed(&text) {
            continue;
        }
        // Every word of the language, every number, string and comment has a colour; of names, those that say what they are.
        let (tokens, comments) = sluice_grammar::token::lex_with_comments(&text);
        for t in tokens.iter().chain(&comments) {
            let plain = matches!(t.token, sluice_grammar::token::Token::Ident(_));
            let place = (t.start as usize, t.end as usize);
            assert!(plain || found.contains_key(&place), "{name}: `{}` at {} has no colour", t.token, t.start);
        }
    }
    let unused: Vec<&&str> = query.capture_names().iter().filter(|name| !used.contains(**name)).collect();
    assert!(unused.is_empty(), "no program has {unused:?}");
}

#[test]
fn outlines_name_what_the_compiler_declares() {
    use sluice_grammar::ast::Item;
    let query = query("tags.scm", tree_sitter_sluice::TAGS);
    let mut parser = tree_parser();
    for (name, text) in programs().iter().filter(|(_, text)| well_formed(text)) {
        let tree = parser.parse(text, None).expect("a tree");
        let mut cursor = QueryCursor::new();
        let mut found = Vec::new();
        let mut all = cursor.matches(&query, tree.root_node(), text.as_bytes());
        while let Some(m) = all.next() {
            let kind = |c: &tree_sitter::QueryCapture| query.capture_names()[c.index as usize];
            let top = |c: &&tree_sitter::QueryCapture| {
                kind(c).starts_with("definition.") && c.node.parent() == Some(tree.root_node())
            };
            if m.captures.iter().any(|c| top(&c)) {
                let named = m.captures.iter().find(|c| kind(c) == "name").expect("a name");
                found.push(text[named.node.byte_range()].to_string());
            }
        }
        let (program, _) = sluice_grammar::parse(sluice_grammar::span::FileId(0), text);
        let wanted: Vec<String> = (program.items.iter())
            .filter_map(|item| match item {
                Item::Struct(s) => Some(s.name.name.to_string()),
                Item::Stream(s) => s.name.as_ref().map(|n| n.name.to_string()),
                Item::Native(g) | Item::Helper(g) => Some(g.name.name.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(found, wanted, "{name}");
    }
}
