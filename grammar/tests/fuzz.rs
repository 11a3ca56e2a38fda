//! No text makes the parser panic, hang or say something that does not fit the text.
//!
//! `SLUICE_FUZZ_CASES=100000 SLUICE_FIRST_SEED=1 cargo test --release -p sluice-grammar --test fuzz` for a long run on other cases
//! than usual.
#![allow(clippy::disallowed_methods)] // time is what is tested

mod common;

use common::fuzz::config;
use common::grow::Grow;
use common::{codes, good, in_work, parse};
use proptest::prelude::*;
use sluice_grammar::parse::MAX_ERRORS;
use sluice_grammar::{decode, print};
use std::time::{Duration, Instant};

/// Parses and checks what must hold for every text.
fn check(text: &str) -> Result<(), TestCaseError> {
    let start = Instant::now();
    let (program, diagnostics) = parse(text);
    let time = start.elapsed();
    prop_assert!(time < Duration::from_secs(2), "{time:?} for {} bytes:\n{text}", text.len());
    prop_assert!(diagnostics.len() <= MAX_ERRORS + 1);
    for diagnostic in &diagnostics {
        prop_assert!(sluice_grammar::codes::CODES.iter().any(|(code, _)| *code == diagnostic.code), "{diagnostic:?}");
        let edits = diagnostic.fixes.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
        for span in diagnostic.labels.iter().map(|label| label.span).chain(edits) {
            prop_assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}\n{text}");
        }
    }
    // A program without faults is what its printed form says.
    let printed = print(&program);
    if diagnostics.is_empty() {
        let (again, diagnostics) = parse(&printed);
        prop_assert!(diagnostics.is_empty(), "{text}\n{printed}\n{diagnostics:?}");
        prop_assert!(again == program, "{text}\n{printed}");
    }
    Ok(())
}

const TOKENS: &[&str] = &[
    "filter",
    "pipeline",
    "splitjoin",
    "feedbackloop",
    "stateful",
    "portal",
    "to",
    "handler",
    "iter",
    "add",
    "split",
    "join",
    "duplicate",
    "roundrobin",
    "body",
    "loop",
    "enqueue",
    "init",
    "prework",
    "work",
    "peek",
    "pop",
    "push",
    "boolean",
    "float",
    "bit",
    "int",
    "void",
    "double",
    "complex",
    "float2",
    "float3",
    "float4",
    "struct",
    "native",
    "static",
    "helper",
    "if",
    "else",
    "while",
    "for",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "template",
    "pi",
    "true",
    "false",
    "import",
    "x",
    "y",
    "Foo",
    "1",
    "2.5",
    "3i",
    "0xFF",
    "'c'",
    "\"s\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    ":",
    "?",
    "->",
    "=",
    "+=",
    "<<=",
    "++",
    "--",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "<",
    ">",
    "<=",
    "==",
    "!=",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "!",
    "~",
    "@",
    "1.",
    "\"open",
    "'",
    "/*",
    "*/",
    "//",
    "\n",
    "{ }",
    "( )",
    "void->void filter F {",
    "work push 1 pop 1 {",
    "for (int i = 0; i < 3; i++)",
    "int x = 3;",
    "add A;",
];

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&decode(&bytes).0)?;
    }

    #[test]
    fn printable_text(text in "[ -~\\n]{0,200}") {
        check(&text)?;
    }

    #[test]
    fn token_sequences(picks in proptest::collection::vec(0..TOKENS.len(), 0..120)) {
        let text: Vec<&str> = picks.iter().map(|pick| TOKENS[*pick]).collect();
        check(&text.join(" "))?;
    }

    #[test]
    fn mutated_programs(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        edits in proptest::collection::vec((any::<u16>(), 0..4u8, 0..TOKENS.len(), 0..12usize), 1..6),
    ) {
        let mut text = print(&Grow::new(&bytes).program());
        for (place, kind, token, length) in edits {
            let mut start = usize::from(place) % (text.len() + 1);
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            match kind {
                0 => text.replace_range(start..end, ""),
                1 => text.insert_str(start, TOKENS[token]),
                2 => text.replace_range(start..end, TOKENS[token]),
                _ => {
                    let again = text[start..end].to_string();
                    text.insert_str(start, &again);
                }
            }
        }
        check(&text)?;
    }
}

/// Text that nests deeply in each way the grammar allows.
fn deep(n: usize) -> Vec<(&'static str, String)> {
    let around = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(n), close.repeat(n));
    let work = |body: String| in_work(&body);
    vec![
        ("parentheses", work(format!("x = {};", around("(", "1", ")")))),
        ("open parentheses", work(format!("x = {}", "(".repeat(n)))),
        ("closing parentheses", work(format!("x = {}", ")".repeat(n)))),
        ("indices", work(format!("x = {};", around("a[", "1", "]")))),
        ("calls", work(format!("x = {};", around("f(", "1", ")")))),
        ("literals", work(format!("int[1] x = {};", around("{", "1", "}")))),
        ("blocks", work(around("{", "", "}"))),
        ("open blocks", work("{".repeat(n))),
        ("closing blocks", work("}".repeat(n))),
        ("brackets of all kinds", work(format!("x = {}", "([{".repeat(n)))),
        ("minus", work(format!("x = {}1;", "- ".repeat(n)))),
        ("not", work(format!("x = {}1;", "!".repeat(n)))),
        ("increments", work(format!("{}x;", "++ ".repeat(n)))),
        ("postfix increments", work(format!("x{};", "++".repeat(n)))),
        ("casts", work(format!("x = {}1;", "(int)".repeat(n)))),
        ("members", work(format!("x = a{};", ".b".repeat(n)))),
        ("index chains", work(format!("x = a{};", "[0]".repeat(n)))),
        ("index chains as types", work(format!("a{} x;", "[0]".repeat(n)))),
        ("call chains", work(format!("x = a{};", ".f()".repeat(n)))),
        ("sums", work(format!("x = 1{};", " + 1".repeat(n)))),
        ("alternating", work(format!("x = 1{};", " + 1 * 2".repeat(n)))),
        ("conditionals to the right", work(format!("x = {}1;", "a ? b : ".repeat(n)))),
        ("conditionals inside", work(format!("x = {}1{};", "a ? ".repeat(n), " : b".repeat(n)))),
        ("if", work(format!("{};", "if (a) ".repeat(n)))),
        ("else if", work(format!("{};", "if (a) x = 1; else ".repeat(n)))),
        ("while", work(format!("{};", "while (a) ".repeat(n)))),
        ("for", work(format!("{};", "for (;;) ".repeat(n)))),
        ("do", work(format!("{};{}", "do ".repeat(n), " while (a);".repeat(n)))),
        ("switch", work(around("switch (a) { case 1: ", "", " }"))),
        ("pipelines", format!("void->void {}", around("pipeline P { add ", "A;", "}"))),
        ("anonymous pipelines", common::in_pipeline(&around("add pipeline {", "add A;", "}"))),
        ("filters", common::in_pipeline(&"add filter { work { ".repeat(n))),
        ("assignments", work(format!("{}1;", "x = ".repeat(n)))),
        ("types", format!("void->void filter F {{ {} x; }}", around("T[(", "1", ")]"))),
        ("arrows", "float->".repeat(n)),
        ("rates", format!("void->void filter F {{ work {} {{ }} }}", "push 1 ".repeat(n))),
        ("cases", work(format!("switch (a) {{ {} }}", "case 1: ".repeat(n)))),
        ("parameters", format!("void->void filter F({}) {{ }}", "int x, ".repeat(n))),
        ("declarators", work(format!("int {}x;", "x[1], ".repeat(n)))),
        ("names", "x ".repeat(n)),
        ("semicolons", ";".repeat(n)),
        ("brackets and names", work(format!("x = {} {}", "(".repeat(250), "y ".repeat(n)))),
        ("unknown characters", "@ x ".repeat(n)),
        ("quotes", "'\n\"\n".repeat(n)),
    ]
}

#[test]
fn deep_nesting_is_refused_and_harmless() {
    for (what, text) in deep(10_000) {
        let start = Instant::now();
        let (program, diagnostics) = parse(&text);
        assert!(start.elapsed() < Duration::from_secs(5), "{what}: {:?}", start.elapsed());
        assert!(diagnostics.len() <= MAX_ERRORS + 1, "{what}");
        // Walking, comparing, copying and dropping recurse.
        let copy = program.clone();
        assert!(copy == program, "{what}");
        assert!(!format!("{program:?}").is_empty());
        assert!(print(&program).len() < 4_000_000, "{what}");
    }
}

#[test]
fn the_limits_are_where_they_are_said_to_be() {
    let nested = |n: usize| in_work(&format!("x = {}1{};", "(".repeat(n), ")".repeat(n)));
    // Two braces are around the expression.
    assert_eq!(codes(&nested(254)), [] as [&str; 0]);
    assert_eq!(codes(&nested(255)), ["E0014"]);
    good(&in_work(&format!("x = 1{};", " + 1".repeat(900))));
    assert_eq!(codes(&in_work(&format!("x = 1{};", " + 1".repeat(1100)))), ["E0014"]);
    good(&in_work(&format!("{} ;", "if (a) x = 1; else ".repeat(900))));
    assert_eq!(codes(&in_work(&format!("{} ;", "if (a) x = 1; else ".repeat(1100)))), ["E0014"]);
    // Heights add up over statements and expressions.
    let mixed = format!("{} x = 1{};", "if (a) ".repeat(600), " + 1".repeat(600));
    assert_eq!(codes(&in_work(&mixed)), ["E0014"]);
}

#[test]
fn large_programs_are_fast() {
    let filter = "float->float filter F(int n) { float[n] h; work push 1 pop 1 { push(pop() * h[0] + 1.0); } }\n";
    let text = filter.repeat(5000);
    let start = Instant::now();
    assert_eq!(good(&text).items.len(), 5000);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
