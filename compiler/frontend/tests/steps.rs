//! What takes too many steps at compile time is told once, where that is, not of all that is evaluated after it.

use sluice_frontend::elaborate::Limits;
use sluice_frontend::{Loader, Options, SourceInput, analyse};

struct Alone;

impl Loader for Alone {
    fn load(&mut self, _from: &str, _path: &str) -> Result<SourceInput, String> {
        Err("there is no other file".into())
    }
}

/// The errors of a program, each with what it points to.
fn errors(text: &str) -> Vec<(&'static str, String)> {
    let options = Options { limits: Limits { constants: 3_000_000, ..Limits::default() }, ..Options::default() };
    let input = vec![SourceInput { name: "a.str".into(), text: text.into() }];
    let analysis = analyse(input, &options, &mut Alone);
    let of = |s: sluice_grammar::span::Span| text[s.start as usize..s.end as usize].to_string();
    analysis.diagnostics.iter().filter(|d| d.is_error()).map(|d| (d.code, of(d.span()))).collect()
}

#[test]
fn an_endless_static_is_told_once() {
    let helper = "helper H { int count(int n) { int s; while (n == 3) s++; return s; } }";
    let rest = "static { int M = 5; int K = M + 1; float[M] q; init { K++; } }
void->void filter Main { int a = K + 1; init { a++; } work { int[K] b; println(a + b[0]); } }";
    for (statics, at) in [
        (format!("static {{ int U = H.count(3); int N = 4; }} {helper}"), "while (n == 3) s++;"),
        ("static { int N = 4; init { while (N == 4) N = 4; } }".into(), "while (N == 4) N = 4;"),
    ] {
        assert_eq!(errors(&format!("{statics}\n{rest}")), [("E0403", at.to_string())], "{statics}");
    }
}

/// What is left of a loop whose head is wrong may go on for ever; what stands beside it still has its value.
#[test]
fn a_wrong_loop_is_not_an_endless_one() {
    let text = "static { int U = H.count(3); int N = 4; init { for (int k |= 0; N < 9; k++) N = 4; } }
static { int M = 2; init { M = 3 } }
helper H { int count(int n) { int s; while (n = 3) s++; return s; } }
void->void filter Main { work { int[M] a; println(a[2] + U + N); } }";
    let found = errors(text);
    assert!(found.iter().all(|(code, _)| ["E0009", "E0013", "E0102"].contains(code)), "{found:?}");
    assert!(found.iter().any(|(code, _)| *code == "E0009"), "{found:?}");
}
