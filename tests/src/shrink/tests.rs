//! What shrinking finds.

use super::*;
use crate::run::{Feed, Outcome, check, run};
use std::path::Path;

#[test]
fn takes_out_all_that_is_not_needed() {
    let source = "int->int filter F { int a = 3 + 4; work push 1 pop 1 { if (a > 2) { a = 5; } else { a = 6; } push(pop() * (7 - a)); } }\n\
                  int->int filter G { work push 1 pop 1 { push(pop()); } }";
    let case = Case {
        source: source.into(),
        input: Some(vec![1; 64]),
        iterations: Some(9),
        hazards: false,
        channel_limit: None,
    };
    let mut tries = 0;
    let small = shrink(&case, 500, &mut |c| {
        tries += 1;
        c.source.contains("7")
    });
    assert!(small.source.len() < 70, "{}", small.source);
    assert!(small.source.contains('7') && !small.source.contains("filter G"));
    assert_eq!((small.input, small.iterations), (Some(Vec::new()), Some(0)));
    assert!(tries <= 500);
}

/// A closed program of so many iterations.
fn closed(source: &str, iterations: u64) -> Case {
    Case { source: source.into(), input: None, iterations: Some(iterations), hazards: false, channel_limit: Some(1000) }
}

/// What the interpreter prints, where the program is one and ends well.
fn printed(case: &Case, folder: &Path) -> Option<String> {
    let checked = check(&case.source).ok()?;
    match run(&checked, case, None, Feed::default(), folder) {
        Outcome::Done { printed, .. } => Some(String::from_utf8_lossy(&printed).into_owned()),
        Outcome::Failed(..) => None,
    }
}

/// The planted fault: 7 times 11 is printed.
fn prints_77(case: &Case) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    printed(case, folder.path()).is_some_and(|p| p.contains("77"))
}

const DYNAMIC: &str = "
    void->int filter Count(int from, int step) { int n = from; work push [0, 1, 2] { if (n % 2 == 0) push(n); n += step; push(n); } }
    int->int filter Some { work pop [1, 3] peek 3 push * { while (peek(0) % 3 == 1) { push(pop()); } push(pop() * 7); } }
    int->int filter Halves { work pop 2 push [1, 2] { int a = pop(); push(a + pop()); if (a > 4) push(a); } }
    int->void filter Show { work pop 1 { println(pop()); } }
    void->void splitjoin Main {
        split roundrobin(0);
        add pipeline { add Count(1, 1); add Some; add Show; }
        add pipeline { add Count(1, 2); add Halves; add Show; }
        join roundrobin(0);
    }";

/// Does a firing decide on a rate here?
fn decides(text: &str) -> bool {
    text.lines().any(|l| l.contains("work") && l.contains(['[', '*']))
}

#[test]
fn makes_dynamic_rates_static() {
    let case = closed(DYNAMIC, 12);
    assert!(prints_77(&case));
    let small = shrink(&case, 600, &mut prints_77);
    assert!(prints_77(&small));
    let text = &small.source;
    // the fault needs none of the rates that firings decide on
    assert!(!decides(text) && !text.contains("splitjoin"), "{text}");
    assert!(text.len() < 450 && small.channel_limit.is_none(), "{text}");
}

#[test]
fn keeps_a_dynamic_rate_that_the_fault_needs() {
    let case = closed(DYNAMIC, 12);
    let mut fails = |c: &Case| prints_77(c) && check(&c.source).is_ok_and(|c| c.program.steady.islands.is_some());
    let small = shrink(&case, 600, &mut fails);
    assert!(fails(&small));
    let text = &small.source;
    assert_eq!(text.lines().filter(|l| decides(l)).count(), 1, "{text}");
    assert!(text.len() < 450, "{text}");
}

const MESSAGES: &str = "
    int->int filter Far { int k = 1; int last; work pop 1 push 1 { push(pop() * k); }
        handler scale(int by, int more) { k = by; last = more; } handler bump(int n) { last += n; } }
    int->int filter Near(portal<Far> far, int often, portal<Far> twin) { int n; work pop 1 push 1 {
        n++;
        if (n % often == 0) { far.scale(11, n) [2:4]; twin.bump(n) [*]; } else far.bump(n % 2);
        push(pop()); } }
    void->int filter Count { int n; work push 1 { push(n); n += 1; } }
    int->void filter Show { work pop 1 { println(pop()); } }
    void->void pipeline Main {
        portal<Far> far;
        portal<Far> twin;
        add Count; add Near(far, 3, twin);
        add Far to far, twin;
        add Far to twin;
        add Show;
    }";

#[test]
fn takes_out_messages_and_portals() {
    let mut case = closed(MESSAGES, 30);
    case.source = case.source.replace("push(n); n += 1;", "push(7); n += 1;");
    let mut fails = |c: &Case| prints_77(c) && c.source.contains("scale(");
    assert!(fails(&case));
    let small = shrink(&case, 900, &mut fails);
    assert!(fails(&small));
    let text = &small.source;
    for gone in ["twin", "often", "bump", "more"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    assert!(text.len() < 550, "{text}");
}

#[test]
fn a_program_that_needs_no_message_keeps_none() {
    let mut case = closed(MESSAGES, 30);
    case.source = case.source.replace("push(n); n += 1;", "push(77); n += 1;");
    assert!(prints_77(&case));
    let small = shrink(&case, 900, &mut prints_77);
    let text = &small.source;
    for gone in ["portal", "handler", "far"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    assert!(prints_77(&small) && text.len() < 450, "{text}");
}
