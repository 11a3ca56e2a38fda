//! What diagnostics advise, done: the program is right after it.

use crate::graphs::Dice;
use sluice_frontend::{Analysis, NoImports, Options, SourceInput, analyse};
use sluice_grammar::diagnostic::Diagnostic;
use std::fmt::Write;

fn check(text: &str) -> Analysis {
    let input = SourceInput { name: "test.str".into(), text: text.into() };
    analyse(vec![input], &Options::default(), &mut NoImports)
}

fn errors(a: &Analysis) -> Vec<&Diagnostic> {
    a.diagnostics.iter().filter(|d| d.is_error()).collect()
}

const PARTS: &str = "
void->float filter Source { work push 1 { push(1.0); } }
float->void filter Sink { work pop 1 { println(pop()); } }
float->float filter Rate(int i, int o) { work pop i push o { for (int k = 0; k < i; k++) pop(); for (int k = 0; k < o; k++) push(0.0); } }
float->float filter Far(int e) { work pop 1 push 1 peek e { push(peek(e - 1)); pop(); } }
void->void pipeline Main { add Source; add Top; add Sink; }
";

/// Replaces a place in the source.
fn replace(text: &str, d: &Diagnostic, with: &str, at: (u32, u32)) -> String {
    let (from, to) = (at.0 as usize, at.1 as usize);
    assert!(text.is_char_boundary(from), "{d:?}");
    format!("{}{with}{}", &text[..from], &text[to..])
}

/// Does what a diagnostic says; `None` where it does not say what exactly.
fn mend(text: &str, d: &Diagnostic) -> Option<String> {
    if d.code == "E0303" {
        let help = d.help.iter().find_map(|h| h.strip_prefix("enqueue "))?;
        let n: usize = help.split(' ').next()?.parse().unwrap();
        assert!(n > 0);
        let at = d.span();
        return Some(replace(text, d, &" enqueue 0.0;".repeat(n), (at.end, at.end)));
    }
    let (span, with) = d.fixes.first().map(|f| (f.edits[0].span, f.edits[0].text.clone()))?;
    Some(replace(text, d, &with, (span.start, span.end)))
}

fn rate(d: &mut Dice) -> String {
    format!("add Rate({}, {});", 1 + d.roll(4), 1 + d.roll(4))
}

/// A stream of random rates as an `add`able body; declarations go to `out`.
fn stream(d: &mut Dice, depth: u64, out: &mut String, names: &mut u32) -> String {
    match d.roll(if depth == 0 { 2 } else { 6 }) {
        0 => rate(d),
        1 => format!("add Far({});", 1 + d.roll(5)),
        2 => {
            let parts: String = (0..1 + d.roll(3)).map(|_| stream(d, depth - 1, out, names)).collect();
            format!("add pipeline {{ {parts} }}")
        }
        3 | 4 => {
            let n = 2 + d.roll(2);
            let split = match d.roll(2) {
                0 => "duplicate".to_string(),
                _ => format!(
                    "roundrobin({})",
                    (0..n).map(|_| (1 + d.roll(3)).to_string()).collect::<Vec<_>>().join(", ")
                ),
            };
            let weights: Vec<String> = (0..n).map(|_| (1 + d.roll(3)).to_string()).collect();
            let branches: String = (0..n).map(|_| stream(d, depth - 1, out, names)).collect();
            *names += 1;
            let name = format!("S{names}");
            let _ = writeln!(
                out,
                "float->float splitjoin {name} {{ split {split}; {branches} join roundrobin({}); }}",
                weights.join(", ")
            );
            format!("add {name};")
        }
        _ => {
            let body = stream(d, depth - 1, out, names);
            *names += 1;
            let name = format!("L{names}");
            let split = match d.roll(2) {
                0 => "duplicate".to_string(),
                _ => format!("roundrobin({}, {})", 1 + d.roll(3), 1 + d.roll(3)),
            };
            let (a, b, items) = (1 + d.roll(3), 1 + d.roll(3), " enqueue 1.0;".repeat(d.roll(3) as usize));
            let _ = writeln!(
                out,
                "float->float feedbackloop {name} {{ join roundrobin({a}, {b}); body pipeline {{ {body} }} split {split};{items} }}"
            );
            format!("add {name};")
        }
    }
}

#[test]
fn advice_helps() {
    let (mut balanced, mut enqueued, mut without) = (0, 0, 0);
    for seed in 0..400 {
        let mut d = Dice::new(seed);
        let (mut declarations, mut names) = (String::new(), 0);
        let top = stream(&mut d, 3, &mut declarations, &mut names);
        let mut text = format!("{PARTS}float->float pipeline Top {{ {top} }}\n{declarations}");
        let mut seen = Vec::new();
        let mut steps = 0;
        loop {
            let a = check(&text);
            let all = errors(&a);
            let Some(first) = all.first() else {
                balanced += u32::from(seen.contains(&"E0300") || seen.contains(&"E0301"));
                enqueued += u32::from(seen.contains(&"E0303"));
                break;
            };
            if first.code == "E0304" {
                break;
            }
            assert!(matches!(first.code, "E0300" | "E0301" | "E0303"), "seed {seed}: {first:?}\n{text}");
            if first.code == "E0303" {
                // all of them at once, from the last to the first; then nothing is left
                assert!(!seen.contains(&"E0303"), "seed {seed}: {first:?}\n{text}");
                let mut places: Vec<&Diagnostic> = all.clone();
                places.sort_by_key(|d| std::cmp::Reverse(d.span().start));
                text =
                    places.iter().fold(text, |text, d| mend(&text, d).unwrap_or_else(|| panic!("seed {seed}: {d:?}")));
            } else if let Some(mended) = mend(&text, first) {
                text = mended;
            } else {
                // a loop that gives back at least what it is given cannot be balanced at its joiner
                assert!(
                    first.code == "E0301" && first.help.iter().any(|h| h.starts_with("fewer items")),
                    "seed {seed}: {first:?}"
                );
                without += 1;
                break;
            }
            seen.push(first.code);
            steps += 1;
            assert!(steps < 20, "seed {seed}: {first:?}\n{text}");
        }
    }
    assert!(balanced > 60 && enqueued > 20 && without > 0, "{balanced} {enqueued} {without}");
}

#[test]
fn one_item_fewer_is_not_enough() {
    for (weights, body, need) in [("1, 1", "Rate(2, 2)", 1), ("1, 3", "Rate(4, 4)", 3), ("2, 1", "Far(4)", 2)] {
        let program = |n: usize| {
            let items = " enqueue 0.0;".repeat(n);
            format!(
                "{PARTS}float->float feedbackloop Top {{ join roundrobin({weights}); body {body}; split roundrobin({weights});{items} }}"
            )
        };
        let a = check(&program(0));
        let d = errors(&a)[0];
        assert_eq!(d.code, "E0303");
        let n: usize = d.help.as_ref().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        assert!(errors(&check(&program(n))).is_empty(), "{}", program(n));
        assert_eq!(errors(&check(&program(n - 1)))[0].code, "E0303");
        assert!(n >= need, "{n} for {body}");
    }
}

#[test]
fn loops_within_loops_are_mended_together() {
    let text = format!(
        "{PARTS}
float->float feedbackloop Inner {{ join roundrobin(1, 1); body Rate(2, 2); split roundrobin(1, 1); }}
float->float feedbackloop Top {{ join roundrobin(1, 1); body pipeline {{ add Rate(2, 1); add Inner; add Rate(1, 2); }} split roundrobin(1, 1); }}"
    );
    let a = check(&text);
    let all = errors(&a);
    assert_eq!(all.len(), 2, "{all:?}");
    let mut places = all.clone();
    places.sort_by_key(|d| std::cmp::Reverse(d.span().start));
    let mended = places.iter().fold(text.clone(), |text, d| mend(&text, d).unwrap());
    assert!(errors(&check(&mended)).is_empty(), "{mended}");
    assert!(all.iter().all(|d| d.notes.iter().any(|n| n.contains("items, too"))), "{all:?}");
}

#[test]
fn weights_of_branches_that_give_nothing() {
    let text = format!(
        "{PARTS}float->float splitjoin Top {{ split duplicate; add Rate(2, 1); add Sink; add Rate(1, 1); join roundrobin(1, 0, 1); }}"
    );
    let a = check(&text);
    let d = errors(&a)[0];
    assert_eq!(d.fixes[0].edits[0].text, "join roundrobin(1, 0, 2);");
    assert!(errors(&check(&mend(&text, d).unwrap())).is_empty());
}

#[test]
fn weights_too_large() {
    let big = i32::MAX;
    let text = format!(
        "{PARTS}float->float splitjoin Top {{ split duplicate; add Identity<float>; add Identity<float>; join roundrobin({big}, {big}); }}"
    );
    assert_eq!(errors(&check(&text))[0].code, "E0304");
}

#[test]
fn deep_paths_are_shortened() {
    let text = format!(
        "{PARTS}float->float pipeline Deep(int n) {{ add Rate(2, 4); if (n > 0) add Deep(n - 1); }}
        float->float pipeline Top {{ add Deep(200); }}"
    );
    let a = check(&text);
    let d = errors(&a)[0];
    assert_eq!(d.code, "E0304");
    assert!(d.labels[0].text.chars().count() < 200 && d.labels[0].text.contains("`….Deep.Deep"), "{d:?}");
}
