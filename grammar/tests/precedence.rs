//! How operators bind: section 4 of the language page, and the samples of its section 5.

mod common;

use common::{expr, grouping};
use sluice_grammar::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

#[track_caller]
fn groups(text: &str, grouped: &str) {
    assert_eq!(grouping(&expr(text)), grouped, "{text}");
}

/// The value of an integer expression, as the language defines it.
fn value(e: &Expr) -> i32 {
    match &e.kind {
        ExprKind::Int { value, .. } => *value as u32 as i32,
        ExprKind::Paren(e) => value(e),
        ExprKind::Unary(UnaryOp::Neg, e) => value(e).wrapping_neg(),
        ExprKind::Unary(UnaryOp::BitNot, e) => !value(e),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (value(a), value(b));
            match op {
                BinaryOp::Mul => a.wrapping_mul(b),
                BinaryOp::Div => a.wrapping_div(b),
                BinaryOp::Rem => a.wrapping_rem(b),
                BinaryOp::Shl => a.wrapping_shl(b as u32),
                BinaryOp::Shr => a.wrapping_shr(b as u32),
                BinaryOp::Add => a.wrapping_add(b),
                BinaryOp::Sub => a.wrapping_sub(b),
                BinaryOp::BitAnd => a & b,
                BinaryOp::BitOr => a | b,
                BinaryOp::BitXor => a ^ b,
                BinaryOp::Eq => i32::from(a == b),
                _ => panic!("not needed: {op:?}"),
            }
        }
        other => panic!("not needed: {other:?}"),
    }
}

#[test]
fn samples_of_the_language_page() {
    for (text, expected) in [
        ("7 << 2 + 1", 29),
        ("1 + 2 << 3", 17),
        ("5 | 2 & 1", 1),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("-8 >> 1", -4),
        ("2147483647 + 1", -2147483648),
        ("-2147483648", -2147483648),
        ("0xFFFFFFFF", -1),
        ("2 + 3 * 4 - 5", 9),
        ("100 / 10 / 5", 2),
        ("1 == 1 & 3", 1),
    ] {
        assert_eq!(value(&expr(text)), expected, "{text}");
    }
}

#[test]
fn binary_operators() {
    groups("a + b * c", "(a + (b * c))");
    groups("a * b + c", "((a * b) + c)");
    groups("a - b - c", "((a - b) - c)");
    groups("a << b * c", "((a << b) * c)");
    groups("a * b << c", "((a * b) << c)");
    groups("a + b << c", "(a + (b << c))");
    groups("a < b == c > d", "((a < b) == (c > d))");
    groups("a & b | c ^ d", "(((a & b) | c) ^ d)");
    groups("a | b & c", "((a | b) & c)");
    groups("a & b == c", "(a & (b == c))");
    groups("a && b || c && d", "((a && b) || (c && d))");
    groups("a || b && c | d == e < f + g * h", "(a || (b && (c | (d == (e < (f + (g * h)))))))");
    groups("a * b + c < d == e | f && g || h", "(((((((a * b) + c) < d) == e) | f) && g) || h)");
}

#[test]
fn the_table_agrees_with_the_grammar() {
    use BinaryOp::*;
    let all = [Mul, Div, Rem, Shl, Shr, Add, Sub, Lt, Le, Gt, Ge, Eq, Ne, BitAnd, BitOr, BitXor, And, Or];
    for first in all {
        for second in all {
            let (p, q) = (first.symbol(), second.symbol());
            let grouped = if first.precedence() >= second.precedence() {
                format!("((a {p} b) {q} c)")
            } else {
                format!("(a {p} (b {q} c))")
            };
            groups(&format!("a {p} b {q} c"), &grouped);
        }
    }
}

#[test]
fn conditional() {
    groups("a ? b : c ? d : e", "(a ? b : (c ? d : e))");
    groups("a ? b ? c : d : e", "(a ? (b ? c : d) : e)");
    groups("a || b ? c + 1 : d", "((a || b) ? (c + 1) : d)");
}

#[test]
fn prefix_and_postfix() {
    groups("-a.b", "(-(a.b))");
    groups("-a[i]++", "(-((a[i])++))");
    groups("!a && ~b", "((!a) && (~b))");
    groups("- -a", "(-(-a))");
    groups("a - -b", "(a - (-b))");
    groups("a-- - --b", "((a--) - (--b))");
    groups("+a", "a");
    groups("++a.b[3]", "(++((a.b)[3]))");
    groups("-a * b", "((-a) * b)");
    groups("s.arr[i].x", "(((s.arr)[i]).x)");
    groups("a.b.c", "((a.b).c)");
}

#[test]
fn casts() {
    groups("(int)x + 1", "(((int)x) + 1)");
    groups("(int)-x", "((int)(-x))");
    groups("-(float)x", "(-((float)x))");
    groups("(int)(x)", "((int)x)");
    groups("(int)x.y", "((int)(x.y))");
    groups("(float[4])x", "((float[4])x)");
    groups("(int)(float)pop()", "((int)((float)pop()))");
    groups("(x) - 1", "(x - 1)");
}
