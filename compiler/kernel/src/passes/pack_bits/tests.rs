use super::*;
use crate::text;

/// What becomes of a kernel's body where all items are bits.
fn made(body: &str) -> String {
    let locals = "  local0 \"w\" int\n  local1 \"i\" int\n  local2 \"x\" int\n";
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 int -> int work func0 peek 64 pop 64 push 1\n\
         func0 \"work\" (0) -> void @0:0-1 {{\n{locals}{body}}}\n"
    );
    let mut kernel = text::parse(&text).unwrap();
    compare(&mut kernel);
    crate::verify::verify(&kernel).unwrap();
    let text = text::print(&kernel);
    assert_eq!(text::parse(&text).unwrap(), kernel);
    text.replace(" @0:0-1", "")
}

/// A loop, and what follows it.
fn looped(head: &str, body: &str, after: &str) -> String {
    let body = body.replace(';', " @0:0-1\n");
    format!("  $0 = 0 @0:0-1\n  for {head} @0:0-1 {{\n{body}  }}\n  out(0) = $0 @0:0-1\n{after}")
}

#[test]
fn items_are_compared() {
    let with = "$2 = in($1);$0 = ($0 | ($2 << $1));";
    for (head, body, want) in [
        ("$1 = 0 < 32 step 1", with, "$0 = ($0 | (as<int>((in($1) != 0)) << $1))"),
        ("$1 = 0 <= 31 step 1", "$0 = ((in($1) << $1) | $0);", "$0 = ($0 | (as<int>((in($1) != 0)) << $1))"),
        ("$1 = 4 < 20 step 1", "$0 = ($0 | (in(($1 + 7)) << $1));", "(as<int>((in(($1 + 7)) != 0)) << $1)"),
    ] {
        let got = made(&looped(head, body, ""));
        assert!(got.contains(want), "{got}");
        assert!(!got.contains("$2"), "{got}");
    }
}

#[test]
fn where_and_how_many() {
    let p = packed(&loop_of(4, 20, 7)).unwrap();
    assert_eq!((p.at, p.bit, p.items, p.compared), (11, 4, 16, false));
    assert_eq!(packed(&loop_of(0, 32, 0)).map(|p| (p.at, p.bit, p.items)), Some((0, 0, 32)));
    for (from, to) in [(0, 33), (1, 33), (-1, 20), (0, 7)] {
        assert_eq!(packed(&loop_of(from, to, 0)), None, "{from} to {to}");
    }
}

fn loop_of(from: i32, to: i32, offset: i32) -> For {
    let (word, var) = (LocalId(0), LocalId(1));
    let turn = || Expr::local(var, Ty::Int);
    let at = if offset == 0 { turn() } else { Expr::add(turn(), Expr::int(offset)) };
    let item = Expr::load(Place { base: Base::In(Box::new(at)), path: Vec::new() }, Ty::Int);
    let bit = Expr::binary(BinaryOp::Shl, item, turn(), Ty::Int);
    let value = Expr::binary(BinaryOp::BitOr, Expr::local(word, Ty::Int), bit, Ty::Int);
    let body = vec![StmtKind::Assign(Place::local(word), value).at(Default::default())];
    For { var, from: Expr::int(from), cmp: BinaryOp::Lt, to: Expr::int(to), step: 1, body, abreast: false }
}

#[test]
fn nothing_else_is_touched() {
    for (head, body, after) in [
        // more bits than a word has, other shifts, other joins
        ("$1 = 0 < 33 step 1", "$0 = ($0 | (in($1) << $1));", ""),
        ("$1 = 0 < 32 step 1", "$0 = ($0 | (in($1) << ($1 + 1)));", ""),
        ("$1 = 0 < 32 step 1", "$0 = ($0 ^ (in($1) << $1));", ""),
        ("$1 = 0 < 32 step 2", "$0 = ($0 | (in($1) << $1));", ""),
        // items that do not follow one another
        ("$1 = 0 < 32 step 1", "$0 = ($0 | (in((2 * $1)) << $1));", ""),
        // the last item is needed
        ("$1 = 0 < 32 step 1", "$2 = in($1);$0 = ($0 | ($2 << $1));", "  out(0) = $2 @0:0-1\n"),
        // a few
        ("$1 = 0 < 7 step 1", "$0 = ($0 | (in($1) << $1));", ""),
    ] {
        let got = made(&looped(head, body, after));
        assert!(!got.contains("as<int>"), "{got}");
    }
}
