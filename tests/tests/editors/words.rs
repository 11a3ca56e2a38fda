//! What editors know without a server: words, colours, snippets, how messages look.

use super::*;
use regex::Regex;
use serde_json::{Value, json};
use sluice_grammar::token::{Token, lex_with_comments};
use std::collections::BTreeSet;
use std::io::Write;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn all(pattern: &str, text: &str) -> BTreeSet<String> {
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern.captures_iter(text).map(|found| found[1].to_string()).collect()
}

/// The language's reserved words, and `import`.
fn keywords() -> BTreeSet<String> {
    let mut words = all(r#"#\[token\("([a-z][a-z0-9]*)"\)\]"#, &read("grammar/src/token.rs"));
    assert!(words.len() > 50 && words.contains("splitjoin"));
    words.insert("import".into());
    words
}

fn functions() -> BTreeSet<String> {
    let of_mathematics = sluice_frontend::check::call::BUILTINS.iter().map(|(name, ..)| name.to_string());
    of_mathematics.chain(["print", "println"].map(String::from)).collect()
}

#[test]
fn highlight_queries_know_the_functions() {
    let text = read("editors/tree-sitter-sluice/queries/highlights.scm");
    for operator in ["#any-of? @function.builtin", "#not-any-of? @function.call"] {
        let from = text.find(operator).unwrap_or_else(|| panic!("{operator}"));
        let part = &text[from..from + text[from..].find("))").expect("an end")];
        assert_eq!(all(r#""(\w+)""#, part), functions(), "{operator}");
    }
}

#[test]
fn emacs_knows_the_words() {
    let text = read("editors/emacs/sluice-mode.el");
    let list = |name: &str| {
        let from = text.find(&format!("(defconst {name}\n")).unwrap_or_else(|| panic!("{name}"));
        let part = &text[from..from + text[from..].find(")\n").expect("an end")];
        all(r#""([a-z][a-z0-9]*)""#, part)
    };
    let lists = ["sluice--keywords", "sluice--types", "sluice--constants", "sluice--channel-functions"].map(list);
    assert_eq!(lists.iter().map(BTreeSet::len).sum::<usize>(), keywords().len(), "a word is in one list only");
    assert_eq!(lists.into_iter().flatten().collect::<BTreeSet<_>>(), keywords());
    assert_eq!(list("sluice--functions"), functions());
}

#[test]
fn kate_knows_the_words() {
    let text = read("editors/kate/sluice.xml");
    let mut words = BTreeSet::new();
    for (_, part) in text.match_indices("<list name=").map(|(at, _)| (at, &text[at..])) {
        let part = &part[..part.find("</list>").expect("an end")];
        let items = all("<item>([^<]*)</item>", part);
        if part.starts_with("<list name=\"functions\"") {
            assert_eq!(items, functions());
        } else if !part.starts_with("<list name=\"streams\"") {
            words.extend(items);
        }
    }
    assert_eq!(words, keywords());
}

#[test]
fn vim_knows_the_words() {
    let text = read("editors/neovim/syntax/sluice.vim");
    let lines = text.lines().filter_map(|line| line.strip_prefix("syn keyword "));
    let words: Vec<String> = lines.flat_map(|line| line.split_whitespace().skip(1).map(String::from)).collect();
    assert_eq!(words.iter().cloned().collect::<BTreeSet<_>>(), keywords());
    assert_eq!(words.len(), keywords().len(), "a word has one colour");
}

#[test]
fn problem_matchers_find_every_message() {
    let manifest: Value = serde_json::from_str(&read("editors/vscode/package.json")).expect("JSON");
    let matcher = &manifest["contributes"]["problemMatchers"][0]["pattern"];
    let pattern = |i: usize| Regex::new(matcher[i]["regexp"].as_str().expect("a pattern")).expect("a pattern");
    let (title, place) = (pattern(0), pattern(1));
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("tests/errors")).expect("a folder").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "expect") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            // The first line of a message begins at the edge, with its code.
            if !line.starts_with("[E") && !line.starts_with("[W") {
                continue;
            }
            let found = title.captures(line).unwrap_or_else(|| panic!("{}: {line}", path.display()));
            assert!(["Error", "Warning", "Advice"].contains(&&found[2]) && !found[3].is_empty());
            let at = lines.get(i + 1).and_then(|next| place.captures(next));
            let Some(at) = at else { panic!("{}: no place behind {line}", path.display()) };
            assert!(at[1].starts_with("tests/errors/"), "{}", &at[1]);
            assert!(
                at[2].parse::<u32>().is_ok_and(|line| line > 0) && at[3].parse::<u32>().is_ok_and(|column| column > 0)
            );
            count += 1;
        }
    }
    assert!(count > 250, "{count} messages");
}

#[test]
fn snippets_are_programs() {
    let snippets: Value = serde_json::from_str(&read("editors/vscode/snippets/sluice.json")).expect("JSON");
    let choice = Regex::new(r"\$\{\d+\|([^,|]*)[^|]*\|\}").expect("a pattern");
    let named = Regex::new(r"\$\{\d+:([^}]*)\}").expect("a pattern");
    let bare = Regex::new(r"\$\d+").expect("a pattern");
    let mut count = 0;
    for (name, snippet) in snippets.as_object().expect("snippets") {
        let lines: Vec<&str> = snippet["body"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
        let text = lines.join("\n");
        let text = choice.replace_all(&text, "$1");
        let text = named.replace_all(&text, "$1");
        let text = bare.replace_all(&text, "");
        let places = [
            text.to_string(),
            format!("void->void filter F {{\n{text}\n}}"),
            format!("void->void pipeline P {{\n{text}\n}}"),
        ];
        assert!(places.iter().any(|text| well_formed(text)), "{name}: {text}");
        count += 1;
    }
    assert!(count > 10);
}

/// The class of a token in the file that `test/textmate.test.mjs` reads.
fn class(token: &Token) -> &'static str {
    match token {
        Token::Ident(_) => "identifier",
        Token::Int(_) => "integer",
        Token::Real(_) => "real",
        Token::Imaginary(_) => "imaginary",
        Token::Char(_) => "character",
        Token::Str(_) => "string",
        Token::LineComment(_) | Token::BlockComment(_) => "comment",
        token if token.is_keyword() => "keyword",
        _ => "sign",
    }
}

/// A program as the test of the TextMate grammar reads it.
fn tokens_of(name: &str, text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    let mut units = vec![0; text.len() + 1];
    let mut unit = 0;
    for (at, c) in text.char_indices() {
        units[at] = unit;
        unit += c.len_utf16();
    }
    units[text.len()] = unit;
    let (tokens, comments) = lex_with_comments(text);
    // `import` is a keyword where a path follows it.
    let is_import = |i: usize| {
        tokens[i].token == Token::Ident("import")
            && tokens.get(i + 1).is_some_and(|next| matches!(next.token, Token::Str(_)))
    };
    let places = tokens.iter().enumerate().map(|(i, t)| (t, if is_import(i) { "keyword" } else { class(&t.token) }));
    let places = places.chain(comments.iter().map(|t| (t, "comment")));
    let places: Vec<Value> =
        places.map(|(t, class)| json!([units[t.start as usize], units[t.end as usize], class])).collect();
    json!({ "name": name, "text": text, "tokens": places })
}

#[test]
fn the_extensions_own_tests() {
    let home = editors().join("vscode");
    if !has_node() || !home.join("node_modules/vscode-textmate").exists() {
        return skip(
            "the tests of editors/vscode need Node.js and its packages (scripts/install-editors): the TextMate grammar is not tested",
        );
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    for (name, text) in programs().iter().filter(|(_, text)| well_formed(text)) {
        writeln!(file, "{}", tokens_of(name, text)).expect("written");
    }
    let output = Command::new("node")
        .args(["--test", "--test-reporter=tap"])
        .current_dir(&home)
        .env("SLUICE_TOKENS", file.path())
        .output()
        .expect("Node.js runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("# skipped 0"), "{said}");
}
