//! What branches behind a duplicate splitter have in common is done once. Nothing of it can be told.

use super::fusing::{ints, same};
use crate::support::*;

const FILTERS: &str = "int->int filter Lag(int k) { int y; work pop 1 push 1 { y += (pop() - y) / k; push(y); } }
int->int filter Sum(int n) { work pop n push 1 { int s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }
int->int filter Ahead(int n) { work pop 1 push 1 peek n { push(peek(0) - peek(n - 1)); pop(); } }
int->int filter First { int c; prework pop 3 push 1 { c = pop() + pop() - pop(); push(c); } work pop 1 push 1 { c ^= pop(); push(c); } }
";

/// The program with the filters that it adds.
fn with_filters(main: &str) -> String {
    let used = |l: &&str| main.contains(&format!("add {}", l.split([' ', '(']).nth(2).unwrap()));
    FILTERS.lines().filter(used).chain([main]).collect::<Vec<_>>().join("\n")
}

/// How often a filter stands in the program that C is made of.
fn stands(program: &str, name: &str, arguments: &[&str]) -> usize {
    let place = Place::new().with("a.str", with_filters(program));
    let done = place.run(&[&["run", "a.str", "--dump-after", "common-heads"], arguments].concat()).ends(0);
    let is = |l: &&str| {
        let mut words = l.split(' ');
        let (node, path, kind) = (words.next(), words.next().unwrap_or_default(), words.next());
        let last = path.split('.').next_back().unwrap_or_default();
        node.is_some_and(|n| n.starts_with('n')) && kind == Some("filter") && last.split('#').next() == Some(name)
    };
    done.text().lines().filter(is).count()
}

#[test]
fn equal_filters_are_one_before_the_splitter() {
    let rates = "int->int splitjoin Main { split duplicate; add pipeline { add Lag(3); add Sum(3); }; add pipeline { add Lag(3); add Sum(2); }; add Lag(3); join roundrobin(2, 3, 6); }";
    assert_eq!(stands(rates, "Lag", &[]), 1);
    assert_eq!(stands(rates, "Lag", &["--fold=false"]), 3);
    same(&with_filters(rates), ints, &[0, 5, 7, 4001]);
}

#[test]
fn whatever_comes_behind_them() {
    for (main, lags) in [
        (
            "int->int pipeline Main { add Lag(9); add splitjoin { split duplicate; add pipeline { add First; add Lag(2); add Ahead(7); }; add pipeline { add First; add Lag(2); }; join roundrobin; }; add Sum(3); }",
            2,
        ),
        (
            "int->int splitjoin Main { split duplicate; for (int i = 0; i < 3; i++) add pipeline { add Ahead(4); add Lag(i + 2); add Ahead(i + 1); }; join roundrobin(2); }",
            3,
        ),
        (
            "int->int splitjoin Main { split duplicate; for (int i = 0; i < 2; i++) add pipeline { add Lag(4); add splitjoin { split duplicate; add pipeline { add First; add Sum(2); }; add pipeline { add First; add Sum(4); }; join roundrobin(2, 1); }; }; join roundrobin; }",
            1,
        ),
        (
            "int->int feedbackloop Main { join roundrobin(1, 1); body pipeline { add Sum(2); add splitjoin { split duplicate; add Lag(3); add pipeline { add Lag(3); add Ahead(1); }; join roundrobin; }; add Sum(2); }; split duplicate; enqueue 1; }",
            1,
        ),
    ] {
        assert_eq!(stands(main, "Lag", &[]), lags, "{main}");
        same(&with_filters(main), ints, &[3, 9, 50, 3333]);
    }
}

/// A fault would be that of another filter.
#[test]
fn filters_that_can_fail_stay() {
    let main = "int->int filter Div { int n; work pop 1 push 1 { n += pop(); push(100 / n); } } int->int splitjoin Main { split duplicate; add Div; add pipeline { add Div; add Lag(2); }; join roundrobin; }";
    assert_eq!(stands(main, "Div", &[]), 2);
}
