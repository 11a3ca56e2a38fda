//! What formatting makes of each construct: `format/*.txt` hold texts and, behind `-----`, what becomes of them; cases are separated by
//! `=====`. `stable.txt` has what random tests found to change when formatted again, once. `SLUICE_BLESS=1` rewrites what becomes of them: read the difference.
#![allow(clippy::disallowed_methods)] // golden files are read and written

mod common;

use sluice_grammar::format::{Refusal, format, format_range};
use sluice_grammar::span::FileId;
use std::path::Path;

#[track_caller]
fn formatted(text: &str) -> String {
    match format(FileId(0), text) {
        Ok(formatted) => formatted.text,
        Err(refusal) => panic!("{refusal:?}\n{text}"),
    }
}

#[track_caller]
fn golden(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/format/{name}.txt"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut blessed = Vec::new();
    for case in text.split("=====\n") {
        let (before, _) = case.split_once("-----\n").unwrap_or((case, ""));
        let after = formatted(before);
        assert_eq!(formatted(&after), after, "formatted again, it changes");
        blessed.push(format!("{before}-----\n{after}"));
    }
    let blessed = blessed.join("=====\n");
    if std::env::var_os("SLUICE_BLESS").is_some() {
        return std::fs::write(path, blessed).unwrap();
    }
    assert!(text == blessed, "{name}: expected\n{text}\nfound\n{blessed}");
}

macro_rules! golden {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                golden(stringify!($name));
            }
        )*
    };
}

golden! { declarations bodies statements switches expressions long_lines tables comments comments_in_lists empty_lines orders stable }

#[test]
fn line_ends_and_marks() {
    // The file keeps its kind of line end, and its mark.
    assert_eq!(formatted("int->int filter A{}\r\n\r\n\r\n//x \r\n"), "int->int filter A { }\r\n\r\n//x\r\n");
    assert_eq!(formatted("int->int filter A{}\r\n//x\n\n//y\n//z\n"), "int->int filter A { }\n//x\n\n//y\n//z\n");
    assert_eq!(formatted("\u{feff}\n// a\r\n/* b \r\n c */\r\n"), "\u{feff}// a\r\n/* b\r\n c */\r\n");
    assert_eq!(formatted("\u{feff}"), "\u{feff}");
    // No text, no line.
    assert_eq!(formatted(""), "");
    assert_eq!(formatted(" \r\n\t\n"), "");
    assert_eq!(formatted(";;"), "");
    // The end of a file may be that of a line comment, or an old DOS mark.
    assert_eq!(formatted("// a"), "// a\n");
    assert_eq!(formatted("int->int filter A { }\n\u{1a}"), "int->int filter A { }\n");
    // Form feeds and the like are space.
    assert_eq!(formatted("int->int\x0c filter\x0bA { }\x0c\n"), "int->int filter A { }\n");
    // 8-bit characters, tabs inside comments and strings stay.
    let text = "// \u{e9}\tb\nvoid->void filter F { work { print(\"\u{fe}\tx\"); } }\n";
    assert_eq!(formatted(text), text);
    // A literal that goes on behind a line end is left alone, and so is its line end.
    let text = "void->void filter F {\r\n    work {\r\n        print(\"a\\\n   b\\\r\n c\");\r\n    }\r\n}\r\n";
    assert_eq!(formatted(text), text);
}

#[test]
fn errors_of_syntax_are_told() {
    let text = "\u{feff}void->void filter F { work { x = ; } }";
    let Err(Refusal::Syntax(diagnostics)) = format(FileId(3), text) else { panic!() };
    assert_eq!(diagnostics, sluice_grammar::parse(FileId(3), text).1);
    assert!(!diagnostics.is_empty());
}

#[test]
fn edits_are_lines_that_differ() {
    let text = "int->int filter A {\n  int x;\n    int y;\n\n\n    int  z; // z\n    ;\n}\n";
    let formatted = format(FileId(7), text).unwrap();
    let edits: Vec<(&str, &str)> = formatted
        .edits
        .iter()
        .map(|edit| (&text[edit.span.start as usize..edit.span.end as usize], &*edit.text))
        .collect();
    let expected = [
        ("  int x;\n", "    int x;\n"),
        ("    int y;\n\n\n", "    int y;\n\n"),
        ("    int  z; // z\n    ;\n", "    int z; // z\n"),
    ];
    assert_eq!(edits, expected);
    assert!(formatted.edits.iter().all(|edit| edit.span.file == FileId(7)));
    assert!(format(FileId(0), &formatted.text).unwrap().edits.is_empty());
    // Places count the byte-order mark.
    let marked = format(FileId(0), &format!("\u{feff}{text}")).unwrap();
    assert_eq!(marked.edits[0].span.start, formatted.edits[0].span.start + 3);
}

#[test]
fn a_range_gets_its_lines_only() {
    let text = "int->int filter A {\n  int x;\n  int y;\n  int z;\n}\n";
    let at = text.find("int y").unwrap();
    let edits = format_range(FileId(0), text, at..at + 3).unwrap();
    assert_eq!(edits.len(), 1);
    assert_eq!(edits[0].text, "    int y;\n");
    assert_eq!(format_range(FileId(0), text, 0..text.len()).unwrap().len(), 3);
    assert_eq!(format_range(FileId(0), text, 0..0).unwrap(), []);
}

#[test]
fn documentation_stays_with_its_declaration() {
    let text = "// licence\n\n/* of A\n   more */\nint->int filter A { work { } } // behind A\n// of B\n// more\nint->int filter B { work {\n} }";
    let new = formatted(text);
    for name in ["A", "B"] {
        let doc = |text: &str| {
            let at = text.find(&format!("int->int filter {name}")).unwrap();
            sluice_grammar::doc_comment_before(text, at)
        };
        assert!(doc(text).is_some());
        assert_eq!(doc(text), doc(&new), "{new}");
    }
}

#[test]
fn what_is_deep_is_formatted() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| {
        common::in_work(&format!("x = {}{inner}{};", open.repeat(n), close.repeat(n)))
    };
    let run = move || {
        for text in [
            deep("(", "1", ")", 200),
            deep("f(a, ", "1", ")", 200),
            deep("-", "1", "", 900),
            deep("1 + ", "1", "", 900),
            deep("a ? b : ", "1", "", 300),
            deep("{", "1", "}", 200),
            common::in_work(&format!("{}x = 1;", "if (a) ".repeat(300))),
            common::in_work(&format!("{}x = 1;{}", "if (a) {".repeat(200), "}".repeat(200))),
        ] {
            let once = formatted(&text);
            assert_eq!(formatted(&once), once);
        }
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap();
}
