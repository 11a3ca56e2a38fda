//! The samples of the language's description, and the defined corners.

use super::*;
use crate::ops::format::text;
use BinaryOp::*;

fn bin(op: BinaryOp, a: Const, b: Const) -> Const {
    binary(op, &a, &b).unwrap().unwrap()
}

fn ints(op: BinaryOp, a: i32, b: i32) -> i32 {
    match bin(op, Const::Int(a), Const::Int(b)) {
        Const::Int(i) => i,
        c => panic!("{c:?}"),
    }
}

fn call(f: Builtin, args: &[Const]) -> Const {
    builtin(f, args).unwrap()
}

#[test]
fn int_arithmetic() {
    assert_eq!(ints(Shl, 7, 2) + 1, 29);
    assert_eq!(ints(Add, 1, ints(Shl, 2, 3)), 17);
    assert_eq!(ints(BitAnd, ints(BitOr, 5, 2), 1), 1);
    assert_eq!(ints(Div, -7, 2), -3);
    assert_eq!(ints(Rem, -7, 3), -1);
    assert_eq!(ints(Shr, -8, 1), -4);
    assert_eq!(ints(Add, i32::MAX, 1), i32::MIN);
    assert_eq!(ints(Div, i32::MIN, -1), i32::MIN);
    assert_eq!(ints(Rem, i32::MIN, -1), 0);
    assert_eq!(ints(Shl, 1, 33), 2);
    assert_eq!(ints(Shl, 1, -1), i32::MIN);
    assert_eq!(ints(Shr, -1, 32), -1);
    assert_eq!(unary(UnaryOp::Neg, &Const::Int(i32::MIN)), Some(Const::Int(i32::MIN)));
    assert_eq!(call(Builtin::Abs, &[Const::Int(i32::MIN)]), Const::Int(i32::MIN));
    assert_eq!(binary(Div, &Const::Int(1), &Const::Int(0)), Err(DivisionByZero));
    assert_eq!(binary(Rem, &Const::Int(1), &Const::Int(0)), Err(DivisionByZero));
    assert_eq!(binary(Rem, &Const::Float(1.0), &Const::Float(0.0)), Ok(None));
}

#[test]
fn casts() {
    let to_int = |c: Const| convert(&c, &Ty::Int).unwrap();
    assert_eq!(to_int(Const::Float(f32::NAN)), Const::Int(0));
    assert_eq!(to_int(Const::Float(1e20)), Const::Int(i32::MAX));
    assert_eq!(to_int(Const::Double(-1e20)), Const::Int(i32::MIN));
    assert_eq!(to_int(Const::Float(-2.9)), Const::Int(-2));
    assert_eq!(to_int(Const::Bit(true)), Const::Int(1));
    assert_eq!(convert(&Const::Int(6), &Ty::Bit), Some(Const::Bit(false)));
    assert_eq!(convert(&Const::Int(-1), &Ty::Bit), Some(Const::Bit(true)));
    assert_eq!(convert(&Const::Float(3.7), &Ty::Bit), Some(Const::Bit(true)));
    assert_eq!(convert(&Const::Float(f32::NAN), &Ty::Bool), Some(Const::Bool(true)));
    assert_eq!(convert(&Const::Float(-0.0), &Ty::Bool), Some(Const::Bool(false)));
    assert_eq!(convert(&Const::Int(16_777_217), &Ty::Float), Some(Const::Float(16_777_216.0)));
    assert_eq!(convert(&Const::Int(2), &Ty::Complex), Some(Const::Complex(2.0, 0.0)));
    assert_eq!(convert(&Const::Float(2.0), &Ty::Vec(3)), Some(Const::Vec(3, [2.0, 2.0, 2.0, 0.0])));
    assert_eq!(convert(&Const::Complex(1.0, 0.0), &Ty::Float), None);
    assert_eq!(convert(&Const::Str("a".into()), &Ty::Int), None);
}

#[test]
fn complex_and_vectors() {
    let q = bin(Div, Const::Complex(3.0, 4.0), Const::Complex(1.0, 1.0));
    assert_eq!(q, Const::Complex(3.5, 0.5));
    assert_eq!(text(&q).unwrap(), "3.500000+0.500000i");
    assert_eq!(bin(Mul, Const::Complex(0.0, 1.0), Const::Complex(0.0, 1.0)), Const::Complex(-1.0, 0.0));
    assert_eq!(call(Builtin::Abs, &[Const::Complex(3.0, 4.0)]), Const::Float(5.0));
    assert_eq!(call(Builtin::Sqrt, &[Const::Complex(-4.0, 0.0)]), Const::Complex(0.0, 2.0));
    assert_eq!(call(Builtin::Sqrt, &[Const::Complex(-4.0, -0.0)]), Const::Complex(0.0, -2.0));
    assert_eq!(call(Builtin::Sqrt, &[Const::Complex(3.0, 4.0)]), Const::Complex(2.0, 1.0));
    assert_eq!(call(Builtin::Sqrt, &[Const::Complex(0.0, 0.0)]), Const::Complex(0.0, 0.0));
    let v = bin(Mul, Const::Vec(2, [1.0, 2.0, 0.0, 0.0]), Const::Vec(2, [3.0, 4.0, 0.0, 0.0]));
    assert_eq!(text(&v).unwrap(), "(3.000000, 8.000000)");
    assert_eq!(unary(UnaryOp::Neg, &Const::Vec(2, [1.0, 2.0, 0.0, 0.0])), Some(Const::Vec(2, [-1.0, -2.0, 0.0, 0.0])));
}

#[test]
fn min_and_max() {
    let nan = Const::Float(f32::NAN);
    for f in [Builtin::Min, Builtin::Max] {
        assert_eq!(call(f, &[nan.clone(), Const::Float(1.0)]), Const::Float(1.0));
        assert_eq!(call(f, &[Const::Float(1.0), nan.clone()]), Const::Float(1.0));
        // of two zeros the first
        assert_eq!(call(f, &[Const::Float(-0.0), Const::Float(0.0)]), Const::Float(-0.0));
        assert_eq!(call(f, &[Const::Float(0.0), Const::Float(-0.0)]), Const::Float(0.0));
        assert!(matches!(call(f, &[nan.clone(), nan.clone()]), Const::Float(x) if x.is_nan()));
    }
    assert_eq!(call(Builtin::Min, &[Const::Int(3), Const::Int(-4)]), Const::Int(-4));
    assert_eq!(call(Builtin::Max, &[Const::Double(3.0), Const::Double(4.0)]), Const::Double(4.0));
}

#[test]
fn rounding() {
    assert_eq!(call(Builtin::Round, &[Const::Float(2.5)]), Const::Float(3.0));
    assert_eq!(call(Builtin::Round, &[Const::Float(-2.5)]), Const::Float(-3.0));
    assert_eq!(call(Builtin::Rint, &[Const::Float(2.5)]), Const::Float(2.0));
    assert_eq!(call(Builtin::Rint, &[Const::Float(3.5)]), Const::Float(4.0));
    assert_eq!(call(Builtin::Fmod, &[Const::Float(-7.5), Const::Float(2.0)]), Const::Float(-1.5));
    assert_eq!(call(Builtin::Pow, &[Const::Float(2.0), Const::Float(10.0)]), Const::Float(1024.0));
}

#[test]
fn every_function_of_a_real_gives_one() {
    use Builtin::*;
    for f in [
        Abs, Acos, Acosh, Asin, Asinh, Atan, Atanh, Ceil, Cos, Cosh, Exp, Expm1, Floor, Log, Log10, Rint, Round, Sin,
        Sinh, Sqrt, Tan, Tanh,
    ] {
        let x = if f == Acosh { 1.25 } else { 0.75 };
        let Const::Float(single) = call(f, &[Const::Float(x)]) else { panic!() };
        let Const::Double(double) = call(f, &[Const::Double(x.into())]) else { panic!() };
        assert!((f64::from(single) - double).abs() <= 1e-6 * double.abs().max(1.0), "{f:?}: {single} {double}");
    }
    for f in [Atan2, Fmod, Max, Min, Pow] {
        assert!(matches!(call(f, &[Const::Float(0.5), Const::Float(2.0)]), Const::Float(_)));
        assert!(matches!(call(f, &[Const::Double(0.5), Const::Double(2.0)]), Const::Double(_)));
    }
    for f in [Exp, Log, Sin, Cos, Sqrt] {
        assert!(matches!(call(f, &[Const::Complex(0.5, 2.0)]), Const::Complex(..)));
    }
}

#[test]
fn texts() {
    let t = |c: Const| text(&c).unwrap();
    assert_eq!(t(Const::Float(1e10)), "10000000000.000000");
    assert_eq!(t(bin(Div, Const::Float(1.0), Const::Float(3.0))), "0.333333");
    assert_eq!(t(Const::Float(-f32::NAN)), "nan");
    assert_eq!(t(Const::Double(f64::NEG_INFINITY)), "-inf");
    assert_eq!(t(Const::Float(-0.0)), "-0.000000");
    assert_eq!(t(Const::Bool(true)), "true");
    assert_eq!(t(Const::Bit(true)), "1");
    assert_eq!(t(Const::Complex(1.0, -2.0)), "1.000000-2.000000i");
    assert_eq!(t(Const::Complex(1.0, f32::NAN)), "1.000000+nani");
    // ties in the seventh decimal go to even, as in C
    assert_eq!(t(Const::Double(0.0078125)), "0.007812");
    assert_eq!(t(Const::Double(0.0234375)), "0.023438");
    assert_eq!(t(Const::Double(0.9999999)), "1.000000");
    assert_eq!(t(Const::Double(5e-7)), "0.000000");
    assert_eq!(t(Const::Double(f64::MAX)).len(), 309 + 7);
    assert_eq!(text(&Const::Array([].into())), None);
}
