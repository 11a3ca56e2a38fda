//! Types of kernel code: what an operation on given operand types gives.
//!
//! Input: operations and operand types. Output: the result's type, or `None` where the operation is not defined. Both the
//! verifier and the reader of kernel text ask here.

use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ops::Scalar;
use sluice_frontend::ty::Ty;

/// The type of a scalar constant.
pub fn of_const(c: &Const) -> Option<Ty> {
    Scalar::of(c).map(Scalar::ty)
}

/// Does a constant have a type?
pub fn const_has_type(c: &Const, ty: &Ty, structs: &[StructType]) -> bool {
    match (c, ty) {
        (Const::Array(items), Ty::Array(e, _)) => {
            ty.known_len() == Some(items.len() as u32) && items.iter().all(|c| const_has_type(c, e, structs))
        }
        (Const::Struct(items), Ty::Struct(id)) => structs.get(id.index()).is_some_and(|s| {
            s.fields.len() == items.len()
                && items.iter().zip(&s.fields).all(|(c, (_, t))| const_has_type(c, t, structs))
        }),
        (Const::Portal(_), Ty::Portal(_)) => true,
        _ => of_const(c).as_ref() == Some(ty),
    }
}

/// A unary operator.
pub fn unary(op: UnaryOp, a: &Ty) -> Option<Ty> {
    let ok = match op {
        UnaryOp::Neg => matches!(a, Ty::Int | Ty::Float | Ty::Double | Ty::Complex | Ty::Vec(_)),
        UnaryOp::Not => *a == Ty::Bool,
        UnaryOp::BitNot => matches!(a, Ty::Int | Ty::Bit),
    };
    ok.then(|| a.clone())
}

/// A binary operator on operands of equal type.
pub fn binary(op: BinaryOp, a: &Ty) -> Option<Ty> {
    use BinaryOp::*;
    let number = matches!(a, Ty::Int | Ty::Float | Ty::Double);
    let truth = matches!(a, Ty::Bool | Ty::Bit);
    let (ok, ty) = match op {
        Add | Sub | Mul | Div => (number || matches!(a, Ty::Complex | Ty::Vec(_)), a.clone()),
        Rem | Shl | Shr => (*a == Ty::Int, Ty::Int),
        BitAnd | BitOr | BitXor => (*a == Ty::Int || truth, a.clone()),
        Lt | Le | Gt | Ge => (number, Ty::Bool),
        Eq | Ne => (number || truth || *a == Ty::Complex, Ty::Bool),
        And | Or => (*a == Ty::Bool, Ty::Bool),
    };
    ok.then_some(ty)
}

/// A mathematical function.
pub fn builtin(f: Builtin, args: &[Ty]) -> Option<Ty> {
    let first = args.first()?;
    if args.iter().any(|a| a != first) {
        return None;
    }
    let two = matches!(f, Builtin::Atan2 | Builtin::Fmod | Builtin::Max | Builtin::Min | Builtin::Pow);
    if args.len() != if two { 2 } else { 1 } {
        return None;
    }
    match (f, first) {
        (Builtin::Abs | Builtin::Arg, Ty::Complex) => Some(Ty::Float),
        (Builtin::Exp | Builtin::Log | Builtin::Sin | Builtin::Cos | Builtin::Sqrt, Ty::Complex) => Some(Ty::Complex),
        (Builtin::Arg, _) => None,
        (Builtin::Abs | Builtin::Min | Builtin::Max, Ty::Int) => Some(Ty::Int),
        (_, Ty::Float | Ty::Double) => Some(first.clone()),
        _ => None,
    }
}

/// A conversion.
pub fn converts(from: &Ty, to: &Ty) -> bool {
    match to {
        Ty::Complex | Ty::Vec(_) => from.is_real_number() || from == to,
        _ => to.is_real_number() && from.is_real_number(),
    }
}

/// How many components a complex number or vector has.
pub fn components(ty: &Ty) -> Option<u8> {
    match ty {
        Ty::Complex => Some(2),
        Ty::Vec(n) => Some(*n),
        _ => None,
    }
}

/// The type of a step into a value.
pub fn project(ty: &Ty, p: &Proj, structs: &[StructType]) -> Option<Ty> {
    match p {
        Proj::Index(_) => ty.element().cloned(),
        Proj::Member(i) => match ty {
            Ty::Struct(id) => Some(structs.get(id.index())?.fields.get(*i as usize)?.1.clone()),
            _ => None,
        },
        Proj::Component(i) => (*i < components(ty)?).then_some(Ty::Float),
    }
}

/// The type of a place in a function of a kernel.
pub fn place(kernel: &Kernel, locals: &[Local], p: &Place) -> Option<Ty> {
    let mut ty = match &p.base {
        Base::Local(id) => locals.get(id.index())?.ty.clone(),
        Base::State(id) => kernel.state.get(id.index())?.ty.clone(),
        Base::Table(id) => kernel.tables.get(id.index())?.ty.clone(),
        Base::Peek(_) | Base::In(_) => kernel.input.clone(),
        Base::Out(_) => kernel.output.clone(),
    };
    for p in &p.path {
        ty = project(&ty, p, &kernel.structs)?;
    }
    Some(ty)
}
