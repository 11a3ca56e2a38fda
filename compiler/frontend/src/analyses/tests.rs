//! The analyses on filters made from source text by the checker.

use super::body_rates::{self, FindingKind};
use super::interval::Count;
use super::state;
use crate::check;
use crate::ids::{DeclId, FieldId};
use crate::typed::FilterCode;
use crate::world::World;

/// Checks the first filter of a program, which has no errors.
fn filter(text: &str) -> (World, FilterCode) {
    let (w, code) = check_filter(text);
    let errors: Vec<_> = w.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    (w, code.unwrap())
}

fn check_filter(text: &str) -> (World, Option<FilterCode>) {
    let mut w = World::default();
    let file = w.sources.add("test.str", text);
    let (tree, diagnostics) = sluice_grammar::parse(file, text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    w.add_program(tree, false);
    check::globals::globals(&mut w);
    let code = check::filter::specialise(&mut w, DeclId(0), &[], (None, None));
    (w, code)
}

fn stateful(members: &str) -> Option<String> {
    let (w, code) = filter(&format!("int->int filter F {{ {members} }}"));
    code.stateful.map(|s| w.sources.text(s).to_string())
}

#[test]
fn what_is_state() {
    assert_eq!(stateful("work pop 1 push 1 { push(pop()); }"), None);
    assert_eq!(stateful("int n; work pop 1 push 1 { n += pop(); push(n); }").as_deref(), Some("n"));
    assert_eq!(stateful("int n; work pop 1 push 1 { n = pop(); push(n); }"), None, "private");
    assert_eq!(stateful("int n; work pop 1 push 1 { n++; push(pop()); }").as_deref(), Some("n"));
    assert_eq!(stateful("int n; work pop 1 push 1 { if (pop() > 0) n = 1; push(n); }").as_deref(), Some("n"));
    assert_eq!(stateful("int n; work pop 1 push 1 { if (pop() > 0) n = 1; else n = 2; push(n); }"), None);
    assert_eq!(
        stateful("int n; work pop 1 push 1 { if (peek(0) > 0) { push(pop()); return; } n = pop(); push(n); }"),
        None
    );
    assert_eq!(
        stateful("int n; work pop 1 push 1 { while (peek(0) > n) { n = 5; } push(pop()); }").as_deref(),
        Some("n")
    );
    assert_eq!(stateful("int[4] t; work pop 1 push 1 { t[0] = pop(); push(t[0]); }").as_deref(), Some("t[0]"));
    assert_eq!(stateful("int n; init { n = 4; } work pop 1 push 1 { push(pop() + n); }"), None);
    assert_eq!(stateful("int n; void set() { n = pop(); } work pop 1 push 1 { set(); push(n); }"), None);
    assert_eq!(
        stateful("int n; int get() { return n; } work pop 1 push 1 { int x = get(); n = pop(); push(x); }").as_deref(),
        Some("n")
    );
    assert_eq!(
        stateful("int n; prework push 1 pop 1 { n = pop(); push(0); } work pop 1 push 1 { push(pop() + n); }")
            .as_deref(),
        Some("n")
    );
    assert_eq!(
        stateful("int n; handler h(int x) { n = x; } work pop 1 push 1 { push(pop() + n); }").as_deref(),
        Some("n")
    );
    let by_ref = "int[2] t; void fill(int[2] a) { a[0] = 1; } int get(int[2] a) { return a[0]; } work pop 1 push 1 { fill(t); push(pop() + get(t)); }";
    assert_eq!(stateful(by_ref).as_deref(), Some("t"));
    let reading = "int[2] t; int get(int[2] a) { return a[0]; } work pop 1 push 1 { push(pop() + get(t)); }";
    assert_eq!(stateful(reading), None);
}

#[test]
fn constants_passed_to_be_written() {
    let text = |helper: &str| {
        format!(
            "int->int filter F {{ int[2] mine; void fill(int[2] a) {{ a[0] = 1; }} int get(int[2] a) {{ return a[0]; }} \
             work pop 1 push 1 {{ fill(mine); push(get(T) + pop()); H.go(); }} }} static {{ int[2] T; int[2] U; }} \
             helper H {{ void set(int[2] a) {{ {helper} }} void go() {{ H.set(U); }} }}"
        )
    };
    let (w, code) = filter(&text(""));
    let passed = state::passed_to_be_written(&code, &w.globals);
    assert_eq!(passed.iter().map(|p| w.sources.text(p.span)).collect::<Vec<_>>(), ["mine"]);
    assert_eq!(passed[0].field, Some(FieldId(0)));
    assert_eq!(state::constants_written(&code, &w.globals), []);
    // the checker asks, and refuses
    let w = check_filter(&text("a[1] = 1;")).0;
    let errors: Vec<_> = w.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(w.sources.text(errors[0].span()), "U");
}

#[test]
fn constants_and_references() {
    let (w, code) = filter(
        "int->int filter F { int a = 1; int b; int[2] t; void fill(int[2] x) { deeper(x); } void deeper(int[2] y) { y[0] = 3; } \
         int get(int[2] z) { return z[1]; } work pop 1 push 1 { b = pop(); fill(t); push(a + b + get(t)); println(iter()); } } \
         helper H { void set(int[3] h) { h[1] = 2; } void pass(int[3] g) { H.set(g); } int see(int[3] f) { return f[0]; } }",
    );
    assert_eq!(code.fields.iter().map(|f| f.constant).collect::<Vec<_>>(), [true, false, false]);
    let written: Vec<bool> = code.functions.iter().filter(|f| f.params == 1).map(|f| f.locals[0].written).collect();
    assert_eq!(written, [true, true, false]);
    let helpers: Vec<bool> = w.globals.helpers.iter().map(|f| f.locals[0].written).collect();
    assert_eq!(helpers, [true, true, false]);
    assert!(code.prints && code.uses_iter && code.sends.is_none() && code.calls_native.is_none());
}

const NATIVES: &str = "native N { void fill(int[3] a); int look(int x); } static { int[3] TABLE; }
    helper H { void fill(int[3] a) { N.fill(a); } int sum(int[3] a) { return a[0] + N.look(1); } } ";

#[test]
fn native_calls_are_state() {
    let of = |members: &str| {
        let (w, code) = filter(&format!("int->int filter F {{ {members} }} {NATIVES}"));
        let shown = |s| w.sources.text(s).to_string();
        (
            code.stateful.map(shown),
            code.calls_native.map(shown),
            code.fields.iter().map(|f| f.constant).collect::<Vec<_>>(),
        )
    };
    let some = |s: &str| Some(s.to_string());
    assert_eq!(
        of("work pop 1 push 1 { push(N.look(pop())); }"),
        (some("N.look(pop())"), some("N.look(pop())"), vec![])
    );
    assert_eq!(of("int n; work pop 1 push 1 { n++; push(pop() + H.sum(TABLE)); }").0, some("n"));
    assert_eq!(of("work pop 1 push 1 { push(pop()); } handler h(int x) { N.look(x); }").0, some("N.look(x)"));
    // a field that is passed is written, a static is a copy
    let (_, native, constant) =
        of("int[3] a; int[3] b; work pop 1 push 1 { H.fill(a); N.fill(TABLE); push(pop() + b[0]); }");
    assert_eq!((native, constant), (some("N.fill(TABLE)"), vec![false, true]));
}

#[test]
fn natives_called_by_a_program() {
    let text = format!(
        "void->int filter A {{ work push 1 {{ push(H.sum(TABLE)); }} }} int->void filter B {{ work pop 1 {{ pop(); }} }}
         int->int filter Unused {{ work pop 1 push 1 {{ int[3] a; N.fill(a); push(pop()); }} }}
         void->void pipeline Main {{ add A; add B; }} {NATIVES}"
    );
    let input = crate::SourceInput { name: "a.str".into(), text };
    let options = crate::Options { top: Some("Main".into()), ..Default::default() };
    let analysis = crate::analyse(vec![input], &options, &mut crate::NoImports);
    let p = analysis.program.as_ref().unwrap();
    let called = super::natives::called(&p.codes, &p.graph, &p.globals);
    let called: Vec<(&str, &str)> =
        called.iter().map(|(id, at)| (&*p.globals.natives[id.index()].name, analysis.sources.text(*at))).collect();
    assert_eq!(called, [("look", "N.look(1)")]);
}

/// What the analysis says of a body with the given rates (or with a million of each). The source declares dynamic rates, which
/// the checker does not compare with the body.
fn facts(rates: &str, body: &str) -> (World, body_rates::Facts) {
    let text = format!(
        "int->int filter F {{ int[3] t = {{2, 3, 4}}; int two() {{ return pop() + pop(); }} work pop * peek * push * {{ {body} }} }}"
    );
    let (w, mut code) = filter(&text);
    code.work.dynamic = None;
    set_rates(&mut code, if rates.is_empty() { "pop 1000000 peek 1000000 push 1000000" } else { rates });
    let facts = body_rates::analyse(&code, &code.work, &w.globals);
    (w, facts)
}

fn set_rates(code: &mut FilterCode, declared: &str) {
    let words: Vec<&str> = declared.split(' ').collect();
    let rate = |name: &str| words.iter().position(|w| *w == name).map_or(0, |i| words[i + 1].parse().unwrap());
    code.work.rates.pop = rate("pop");
    code.work.rates.push = rate("push");
    code.work.rates.peek = rate("peek").max(rate("pop"));
}

fn exactly(body: &str, pops: u64, pushes: u64, looked: u64) {
    let (_, f) = facts("", body);
    let n = Count::exactly;
    assert_eq!((f.pops, f.pushes, f.looked), (Some(n(pops)), Some(n(pushes)), Some(n(looked))), "{body}");
}

#[test]
fn counts() {
    exactly("push(pop());", 1, 1, 1);
    exactly("for (int i = 0; i < 3; i++) push(pop() + peek(1));", 3, 3, 5);
    exactly("int s = 0; for (int i = 0; i < 64; i++) s += peek(i); push(s); pop();", 1, 1, 64);
    exactly("for (int i = 0; i < t[2]; i++) { for (int j = 0; j < i; j++) push(j); } pop();", 1, 6, 1);
    exactly("push(two() + two());", 4, 1, 4);
    exactly("int n = 5; while (n > 0) { n -= 2; push(pop()); }", 3, 3, 3);
    exactly("int x = 0; do { push(1); x++; } while (x < 3); pop();", 1, 3, 1);
    exactly("if (peek(0) > 0) push(pop()); else { push(1); pop(); }", 1, 1, 1);
    exactly("switch (t[1]) { case 3: push(1); case 4: push(2); break; default: pop(); } pop();", 1, 2, 1);
    exactly("push(peek(2) > 0 ? pop() : pop() + 1);", 1, 1, 3);
}

#[test]
fn long_loops_are_counted() {
    exactly("for (int i = 0; i < 1000000; i++) push(pop());", 1_000_000, 1_000_000, 1_000_000);
    exactly("for (int i = 999999; i >= 0; i -= 1) { push(pop()); }", 1_000_000, 1_000_000, 1_000_000);
    exactly(
        "for (int i = 0; i < 500000; i++) { for (int j = 0; j < 2; j++) push(pop()); }",
        1_000_000,
        1_000_000,
        1_000_000,
    );
    let (_, f) = facts(
        "pop 1 push 1 peek 1000000",
        "int s = 0; for (int i = 0; i < 1000000; i++) s += peek(i); push(s); pop();",
    );
    assert!(f.counts_proved && f.peeks_proved);
    let (_, f) =
        facts("pop 1 push 1 peek 999999", "int s = 0; for (int i = 0; i < 1000000; i++) s += peek(i); push(s); pop();");
    assert!(f.counts_proved && !f.peeks_proved);
    // nested so deeply that even summarising takes long
    let deep =
        (0..60).map(|i| format!("for (int i{i} = 0; i{i} < peek(0); i{i}++) ")).collect::<String>() + "push(1); pop();";
    let (_, f) = facts("pop 1 push 1", &deep);
    assert!(!f.counts_proved && f.findings.is_empty());
}

#[test]
fn unknown_branches_are_joined() {
    let (_, f) = facts("pop 2 push 1", "if (peek(0) > 0) pop(); push(pop());");
    assert_eq!(f.pops, Some(Count { lo: 1, hi: 2 }));
    assert!(f.counts_proved && f.peeks_proved && f.findings.is_empty());
    let (_, f) = facts("pop 1 push 1", "while (peek(0) > 0) push(1); pop();");
    assert_eq!(f.pushes, Some(Count { lo: 0, hi: u64::MAX }));
    assert!(!f.counts_proved && f.findings.is_empty());
    let (_, f) = facts("pop 1 push 1 peek 4", "push(peek(peek(0) & 3)); pop();");
    assert!(f.counts_proved && f.peeks_proved);
    let (_, f) = facts("pop 1 push 1 peek 4", "push(peek(peek(0))); pop();");
    assert!(f.counts_proved && !f.peeks_proved);
}

/// What a way does that never ends counts as well: nobody stops it but the check.
#[test]
fn what_does_not_end_is_not_proved() {
    let proved = |rates: &str, body: &str| {
        let (_, f) = facts(rates, body);
        assert!(f.findings.is_empty(), "{body}");
        (f.counts_proved, f.peeks_proved)
    };
    let one = "pop 1 push 1";
    assert_eq!(proved(one, "if (peek(0) > 0) while (true) push(2); push(pop());"), (false, true));
    assert_eq!(proved(one, "if (peek(0) > 0) while (true) pop(); push(pop());"), (false, false));
    assert_eq!(proved(one, "int i = 0; if (peek(0) > 0) push(pop()); else while (i < 4) push(i);"), (false, true));
    assert_eq!(proved(one, "switch (peek(0)) { case 1: for (;;) push(1); default: push(pop()); }"), (false, true));
    // within a loop of unknown length
    let within =
        |forever: &str| format!("for (int i = 0; i < peek(0); i++) if (i > 5) while (true) {forever}; push(pop());");
    assert_eq!(proved(one, &within("push(1)")), (false, true));
    assert_eq!(proved(one, &within("pop()")), (false, false));
    assert_eq!(proved(one, &within("i = i & 7")), (true, true));
    let before = "for (int i = 0; i < peek(0); i++) { push(1); push(2); while (true) { } } push(pop());";
    assert_eq!(proved(one, before), (false, true), "the only turn pushes two, and then it never ends");
    let looks = "for (int i = 0; i < peek(0); i++) { int x = peek(7); while (true) { } } push(pop());";
    assert_eq!(proved(one, looks), (true, false), "the only turn looks at eight");
    // in a loop whose turns are counted, and in one within one
    let counted = |most: u32| {
        format!("for (int i = 0; i < 1000000; i++) {{ push(1); if (peek(0) > {most}) while (true) push(1); }} pop();")
    };
    assert_eq!(proved("pop 1 push 1000000", &counted(9)), (false, true));
    let nested = "for (int i = 0; i < peek(0); i++) for (int j = 0; j < peek(0); j++) { push(1); while (true) { } } push(pop());";
    assert_eq!(proved(one, nested), (true, true), "one is pushed, and then it never ends");
    assert_eq!(proved(one, &nested.replace("{ push(1);", "{ push(1); push(1);")), (false, true));
    // before it comes to that, once
    assert_eq!(proved(one, "push(pop()); if (iter() > 5) while (true) { }"), (true, true));
}

#[test]
fn what_is_certainly_wrong() {
    let wrong = |rates: &str, body: &str| -> Vec<(FindingKind, String)> {
        let (w, f) = facts(rates, body);
        assert!(!(f.counts_proved && f.peeks_proved) || f.findings.iter().all(|x| x.kind == PopsLess), "{body}");
        f.findings.iter().map(|x| (x.kind, x.span.map_or(String::new(), |s| w.sources.text(s).into()))).collect()
    };
    use FindingKind::*;
    assert_eq!(wrong("pop 1 push 1", "push(pop() + pop());"), [(PopsMore, "pop()".into())]);
    assert_eq!(wrong("pop 1 push 1", "push(peek(1)); pop();"), [(PeeksBeyond, "peek(1)".into())]);
    assert_eq!(wrong("pop 1 push 1", "push(1); push(2); pop();"), [(PushesMore, "push(2);".into())]);
    assert_eq!(wrong("pop 1 push 2", "push(pop());"), [(PushesLess, String::new())]);
    assert_eq!(wrong("pop 2 push 1", "push(pop());"), [(PopsLess, String::new())]);
    assert_eq!(wrong("pop 1 push 1", "if (peek(0) > 0) { push(1); } pop();"), []);
    assert_eq!(wrong("pop 1 push 1", "push(pop()); while (true) { }"), []);
}
