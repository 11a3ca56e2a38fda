//! What is printed parses to the tree that was printed.

mod common;

use common::fuzz::config;
use common::grow::Grow;
use common::{good, parse};
use proptest::prelude::*;
use sluice_grammar::ast::*;
use sluice_grammar::print;
use sluice_grammar::print::{print_expr, print_header, print_signature, print_stmt};

fn round_trip(program: &Program) -> Result<(), String> {
    let text = print(program);
    let (again, diagnostics) = parse(&text);
    if !diagnostics.is_empty() {
        return Err(format!("{text}\n{diagnostics:#?}"));
    }
    if again != *program {
        return Err(format!("{text}\n{program:#?}\n{again:#?}"));
    }
    let twice = print(&again);
    if twice != text { Err(format!("{text}\n---\n{twice}")) } else { Ok(()) }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn grown_programs(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let program = Grow::new(&bytes).program();
        prop_assert_eq!(round_trip(&program), Ok(()));
    }
}

const SAMPLE: &str = r#"
import "a.str";
import "b.str";
struct Pair { float a, b; }
static { int N = 4; init { N = 3; } }
void->void pipeline Main {
    add Source(3) to p, q;
    if (n > 1) add pipeline { add A; }; else { add B; }
    for (int i = 0, j = 1; i < n; i++, j--) add Identity<float[4]>;
    add float->float filter { float[2][2] h = {{1, 2}, {3, 4}}; work push 1 pop 1 peek [1, *] { push(-(-pop()) - -1); p.h(1) [-1:2]; } }
}
"#;

#[test]
fn canonical_style() {
    let expected = r#"import "a.str";
import "b.str";

struct Pair {
    float a, b;
}

static {
    int N = 4;
    init {
        N = 3;
    }
}

void->void pipeline Main {
    add Source(3) to p, q;
    if (n > 1)
        add pipeline {
            add A;
        }
    else {
        add B;
    }
    for (int i = 0, j = 1; i < n; i++, j--)
        add Identity<float[4]>;
    add float->float filter {
        float[2][2] h = {{1, 2}, {3, 4}};

        work push 1 pop 1 peek [1, *] {
            push(-(-pop()) - -1);
            p.h(1) [-1:2];
        }
    }
}
"#;
    assert_eq!(print(&good(SAMPLE)), expected);
    round_trip(&good(SAMPLE)).unwrap();
}

#[test]
fn long_array_literals_break() {
    let numbers: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let text = common::in_work(&format!("int[100] a = {{{}}};", numbers.join(",")));
    let program = good(&text);
    let printed = print(&program);
    assert!(printed.lines().all(|line| line.len() <= 104), "{printed}");
    assert!(printed.lines().count() < 15, "{printed}");
    round_trip(&program).unwrap();
    // Nested ones take time in proportion to their size, not to two to the power of their depth.
    let deep = format!("int[1] a = {}1{};", "{".repeat(200), "}".repeat(200));
    round_trip(&good(&common::in_work(&deep))).unwrap();
}

#[test]
fn trees_without_text_and_parentheses() {
    let leaf = |kind| Expr { kind, at: At::default() };
    let boxed = |kind| Box::new(leaf(kind));
    let one = || boxed(ExprKind::Int { value: 1, hex: false, text: "".into() });
    let sum = || boxed(ExprKind::Binary(BinaryOp::Add, one(), boxed(ExprKind::Real { value: 0.5, text: "".into() })));
    let product = leaf(ExprKind::Binary(BinaryOp::Mul, sum(), sum()));
    assert_eq!(print_expr(&product), "(1 + 0.5) * (1 + 0.5)");
    assert_eq!(print_expr(&leaf(ExprKind::Unary(UnaryOp::Neg, Box::new(product)))), "-((1 + 0.5) * (1 + 0.5))");
    assert_eq!(
        print_expr(&leaf(ExprKind::Member(sum(), Ident { name: "x".into(), at: At::default() }))),
        "(1 + 0.5).x"
    );
    assert_eq!(print_expr(&leaf(ExprKind::Int { value: 255, hex: true, text: "".into() })), "0xFF");
    assert_eq!(print_expr(&leaf(ExprKind::Real { value: 1e30, text: "".into() })), "1e30");
    assert_eq!(print_expr(&leaf(ExprKind::Imaginary { value: 2.0, text: "".into() })), "2.0i");
    assert_eq!(print_expr(&leaf(ExprKind::Char { value: 7, text: "".into() })), "'\\007'");
    assert_eq!(print_expr(&leaf(ExprKind::Str { value: "a\n\"\u{1}1".into(), text: "".into() })), "\"a\\n\\\"\\0011\"");
    // An `else` finds its `if`.
    let stmt = |kind| Stmt { kind, at: At::default() };
    let inner = StmtKind::If { cond: *one(), then: Box::new(stmt(StmtKind::Empty)), els: None };
    let outer = StmtKind::If { cond: *one(), then: Box::new(stmt(inner)), els: Some(Box::new(stmt(StmtKind::Break))) };
    let text = common::in_work(&print_stmt(&stmt(outer)));
    let program = good(&text);
    let found = &common::work_of(common::stream(&program, "F"))[0];
    assert!(matches!(&found.kind, StmtKind::If { els: Some(_), .. }));
}

#[test]
fn heads() {
    let program = good("float[N]->int stateful filter F(int N, float[2] a) { float f(int x) push 1 { } work { } }");
    let f = common::stream(&program, "F");
    assert_eq!(print_header(f), "float[N]->int stateful filter F(int N, float[2] a)");
    let Member::Function(function) = &common::members(f)[0] else { panic!() };
    assert_eq!(print_signature(function), "float f(int x) push 1");
}
