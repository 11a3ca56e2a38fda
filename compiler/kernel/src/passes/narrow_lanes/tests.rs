//! What is known of ints in lanes, where that pays, and which of them go as bytes.

use super::*;
use crate::passes::lanes;
use crate::text::{parse, print};
use crate::verify::verify;

/// A kernel in lanes whose items lie within a range. `;` ends a statement; `$0` to `$3` are ints, `$4` four ints, `$5` a truth; table 0 has 64 bytes, table 1 four words.
fn kernel((pop, push): (u32, u32), (lo, hi): (i64, i64), body: &str) -> Kernel {
    let bytes: Vec<String> = (0..64).map(|i| (i * 37 % 16).to_string()).collect();
    let text = format!(
        "kernel \"K\" \"K\"; int -> int work func0 peek {pop} pop {pop} push {push}
table0 \"b\" int[64] = [{}]
table1 \"w\" int[4] = [1000, -1, 2, 3]
func0 \"work\" (0) -> void; {{
local0 \"a\" int local1 \"b\" int local2 \"c\" int local3 \"i\" int local4 \"d\" int[4] local5 \"t\" boolean
{body} }}
",
        bytes.join(", ")
    );
    let text = text.replace(';', " @0:0-1");
    let mut kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    lanes::run(&mut kernel);
    assert!(kernel.lanes.is_some(), "no lanes: {text}");
    narrow(&mut kernel, Range::new(lo, hi), (true, true));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    // what is printed reads back
    assert_eq!(parse(&print(&kernel)).as_ref(), Ok(&kernel));
    kernel
}

/// Enough to do for lanes, in bytes.
const ENOUGH: &str = "$0 = (in(0) ^ in(1)); $1 = ((in(0) & in(1)) ^ 1); $2 = (($0 | $1) ^ (in(0) & $1)); $0 = (($0 ^ $2) & ($1 | $2)); $1 = (($1 & $0) ^ ($2 | $0)); $2 = (($2 ^ $1) & ($0 ^ 1)); ";

fn narrow_of(k: &Kernel) -> Option<&Narrow> {
    k.lanes.as_ref()?.narrow.as_ref()
}

#[test]
fn bits_are_bytes() {
    let k = kernel((2, 2), (0, 1), &format!("{ENOUGH} out(0) = $0; out(1) = ((2 * $1) + $2);"));
    let n = narrow_of(&k).expect("bytes");
    assert_eq!((n.taken, n.given), (Range::new(0, 1), Range::new(0, 3)));
    assert_eq!(n.locals[..3], [Range::new(0, 1); 3]);
    let b = Bytes::of(&k, (true, true)).unwrap();
    assert!((0..3).all(|i| b.holds(LocalId(i))));
    // counters are the same in all lanes, and so is what nobody assigns
    assert!(!b.holds(LocalId(3)));
}

#[test]
fn ints_are_none() {
    // the same of any ints, and of bytes that may be less than 0 or more than 255
    for range in [(i64::from(i32::MIN), i64::from(i32::MAX)), (-1, 1), (0, 256)] {
        let k = kernel((2, 2), range, &format!("{ENOUGH} out(0) = $0; out(1) = $2;"));
        assert_eq!(narrow_of(&k), None, "{range:?}");
    }
    let k = kernel((2, 2), (0, 255), &format!("{ENOUGH} out(0) = $0; out(1) = $2;"));
    assert_eq!(narrow_of(&k).map(|n| n.given), Some(Range::new(0, 255)));
}

/// Whatever a variable holds at some point counts, wherever it is read.
#[test]
fn bounds_hold_everywhere() {
    let k = kernel((2, 2), (0, 1), &format!("{ENOUGH} $3 = $2; out(0) = $3; $3 = ($1 - 1); out(1) = ($3 + $0);"));
    let n = narrow_of(&k).expect("bytes");
    assert_eq!(n.locals[3], Range::new(-1, 1));
    let b = Bytes::of(&k, (true, true)).unwrap();
    assert!(!b.holds(LocalId(3)) && b.holds(LocalId(1)));
    // a loop's counter is what it is in its turns, unless it is read elsewhere
    let counts = |after: &str| {
        let turns = "for $3 = 0 < 8 step 1; { $0 = ($0 ^ (($2 & $3) & 1)); } ";
        let k = kernel((2, 2), (0, 1), &format!("{ENOUGH} {turns} {after} out(0) = $0; out(1) = $2;"));
        narrow_of(&k).expect("bytes").locals[3]
    };
    assert_eq!(counts(""), Range::new(0, 7));
    assert_eq!(counts("$1 = ($1 ^ ($3 & 1));"), Range::ALL);
    // what has been assigned in a loop, with what was there before: 0
    let body = format!("{ENOUGH} for $3 = 0 < 4 step 1; {{ $4[$3] = ($0 + $3); }} out(0) = $4[1]; out(1) = $2;");
    let k = kernel((2, 2), (0, 1), &body);
    assert_eq!(narrow_of(&k).expect("bytes").locals[4], Range::new(0, 4));
}

/// What is done with bytes, with operands of which some are bytes (`$0` to `$2`), and one is any int (`$6`).
#[test]
fn some_operations_are_those_of_bytes() {
    let body = format!("{ENOUGH} out(0) = ($0 * 3); out(1) = ((($2 - $1) * 70000) + $0);");
    let mut k = kernel((2, 2), (0, 15), &body);
    let f = k.lanes.as_ref().unwrap().function;
    let int = k.functions[f.index()].locals[0].clone();
    k.functions[f.index()].locals.push(int);
    let lanes = k.lanes.as_mut().unwrap();
    lanes.varying.push(true);
    lanes.narrow.as_mut().expect("bytes").locals.push(Range::ALL);
    let (b, any) = (Bytes::of(&k, (true, true)).unwrap(), LocalId::from(k.functions[f.index()].locals.len() - 1));
    use BinaryOp::*;
    let x = |i: u32| Expr::local(LocalId(i), Ty::Int);
    let word = Expr::local(any, Ty::Int);
    let op = |op, a: &Expr, b: &Expr| Expr::binary(op, a.clone(), b.clone(), Ty::Int);
    let is = |a: &Expr, b: &Expr| Expr::binary(Lt, a.clone(), b.clone(), Ty::Bool);
    let element = |t: u32, at: &Expr| {
        Expr::load(Place { base: Base::Table(TableId(t)), path: vec![Proj::Index(at.clone())] }, Ty::Int)
    };
    let direct = |e: &Expr| b.cost(e).direct;
    // the last eight bits of operands are enough
    for o in [Add, Sub, Mul, BitAnd, BitOr, BitXor] {
        assert!(direct(&op(o, &x(0), &x(1))), "{o:?}");
    }
    assert!(direct(&op(Add, &op(Mul, &x(0), &Expr::int(1000)), &x(2))));
    assert!(direct(&op(Shl, &x(0), &Expr::int(7))) && direct(&op(Shl, &x(0), &Expr::int(39))));
    assert!(!direct(&op(Shl, &x(0), &Expr::int(8))));
    // all bytes of a vector are shifted alike
    assert!(!direct(&op(Shl, &x(0), &x(1))), "differs between lanes");
    // all of them are needed
    assert!(direct(&op(Shr, &x(0), &Expr::int(3))) && !direct(&op(Shr, &word, &Expr::int(3))));
    assert!(!direct(&op(Shr, &op(Sub, &x(0), &x(1)), &Expr::int(1))), "may be less than 0");
    assert!(!direct(&op(Shr, &op(Mul, &x(0), &Expr::int(100)), &Expr::int(1))), "may be more than 255");
    assert!(direct(&is(&x(0), &x(1))) && direct(&is(&x(0), &Expr::int(200))));
    assert!(!direct(&is(&op(Sub, &x(0), &x(1)), &x(2))) && !direct(&is(&x(0), &Expr::int(-1))));
    assert!(!direct(&is(&word, &x(0))));
    assert!(direct(&element(0, &x(0))) && !direct(&element(0, &word)) && !direct(&element(1, &x(0))));
    assert!(!direct(&op(Div, &x(0), &x(1))) && !direct(&op(Rem, &x(0), &Expr::int(3))));
    // ints of bytes rather than of operations on ints, where the value is a byte
    assert!(b.cost(&op(BitXor, &x(0), &x(1))).widened && !b.cost(&op(Sub, &x(0), &x(1))).widened);
    assert!(b.cost(&word) == Cost { bytes: 8, ints: 0, direct: false, widened: false });
    // a word's bits are those of one of its bytes
    let bits = |by: i32, mask: i32| op(BitAnd, &op(Shr, &word, &Expr::int(by)), &Expr::int(mask));
    let plane = |e: &Expr| b.plane(e).map(|p| (p.from, p.shift, p.mask));
    assert_eq!(plane(&bits(13, 1)), Some((8, 5, 1)));
    assert_eq!(plane(&bits(31, 1)), Some((24, 7, 1)));
    assert_eq!(plane(&bits(16, 255)), Some((16, 0, 255)));
    assert_eq!(plane(&bits(36, 15)), Some((0, 4, 15)));
    assert_eq!([plane(&bits(13, 15)), plane(&bits(8, 256)), plane(&bits(8, -1)), plane(&x(0))], [None; 4]);
    assert_eq!(plane(&op(BitAnd, &op(Shr, &x(0), &Expr::int(1)), &Expr::int(1))), None, "a byte as it is");
}

/// What has to be made bytes, and ints again, for every operation is left as it is.
#[test]
fn where_it_does_not_pay_nothing_is() {
    let few = "$0 = ((in(0) & 255) + 1); $1 = ((in(1) & 255) + 1); $2 = (((($0 * $1) / 3) + (in(0) / 5)) ^ (in(1) * 7)); out(0) = ((($2 * 5) / 7) + $0); out(1) = (($2 * $1) - ($0 * in(0)));";
    assert_eq!(narrow_of(&kernel((2, 2), (i64::from(i32::MIN), i64::from(i32::MAX)), few)), None);
}
