//! # expr
//!
//! Purpose: expressions. Input: pure kernel expressions. Output: Cranelift values, a number each, two for a complex number, n for a vector.
//! Every formula is that of `sl_math.h`.
//!
//! ```text
//! ($0 + (table1[$2] * in(($3 + 1))))   →   v7 = load.f32 v5;  v9 = load.f32 v8;  v10 = fmul v7, v9;  v11 = fadd v2, v10
//! ```

use crate::Refusal;
use crate::function::Maker;
use crate::machine::PTR;
use crate::place::{Memory, Parts, malformed, parts_of};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Type, Value, types};
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use smallvec::smallvec;

impl Maker<'_, '_> {
    /// A value of one part.
    pub fn scalar(&mut self, e: &Expr) -> Result<Value, Refusal> {
        self.parts(e)?.first().copied().ok_or_else(|| malformed("a value without parts"))
    }

    /// A value, part by part.
    pub fn parts(&mut self, e: &Expr) -> Result<Parts, Refusal> {
        Ok(match &e.kind {
            ExprKind::Const(c) => self.constant(c),
            ExprKind::Zero => parts_of(&e.ty).iter().map(|(t, _)| self.zero(*t)).collect(),
            ExprKind::Load(p) => {
                let (spot, ty) = self.spot(p)?;
                self.read(&spot, &ty)
            }
            ExprKind::Unary(op, a) => {
                let (ty, a) = (&a.ty, self.parts(a)?);
                a.into_iter().map(|x| self.unary(*op, ty, x)).collect()
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => smallvec![self.shortened(*op, a, b)?],
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b)?,
            ExprKind::Select(c, a, b) => self.select(c, a, b)?,
            ExprKind::Convert(a) => {
                let parts = self.parts(a)?;
                self.convert(parts, &a.ty, &e.ty)
            }
            ExprKind::Builtin(f, args) => self.builtin(*f, args)?,
            ExprKind::Compose(list) => list.iter().map(|p| self.scalar(p)).collect::<Result<_, _>>()?,
            ExprKind::Component(a, i) => {
                let parts = self.parts(a)?;
                smallvec![*parts.get(usize::from(*i)).ok_or_else(|| malformed("a missing component"))?]
            }
            ExprKind::Iter => {
                let n = self.firings();
                smallvec![self.b.ins().ireduce(types::I32, n)]
            }
            ExprKind::Any(_) => return Err(malformed("firings side by side")),
        })
    }

    fn zero(&mut self, t: Type) -> Value {
        match t {
            types::F32 => self.b.ins().f32const(0.0f32),
            types::F64 => self.b.ins().f64const(0.0),
            _ => self.b.ins().iconst(t, 0),
        }
    }

    fn int(&mut self, i: i32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(i as u32))
    }

    fn constant(&mut self, c: &Const) -> Parts {
        match c {
            Const::Bit(b) | Const::Bool(b) => smallvec![self.b.ins().iconst(types::I8, i64::from(*b))],
            Const::Int(i) => smallvec![self.int(*i)],
            Const::Float(x) => smallvec![self.b.ins().f32const(*x)],
            Const::Double(x) => smallvec![self.b.ins().f64const(*x)],
            Const::Complex(re, im) => [re, im].iter().map(|x| self.b.ins().f32const(**x)).collect(),
            Const::Vec(n, v) => v.iter().take(usize::from(*n)).map(|x| self.b.ins().f32const(*x)).collect(),
            Const::Str(_) | Const::Array(_) | Const::Struct(_) | Const::Portal(_) => smallvec![self.int(0)],
        }
    }

    fn unary(&mut self, op: UnaryOp, ty: &Ty, x: Value) -> Value {
        let ins = self.b.ins();
        match (op, ty) {
            (UnaryOp::Neg, Ty::Int) => ins.ineg(x),
            (UnaryOp::Neg, _) => ins.fneg(x),
            (UnaryOp::BitNot, Ty::Int) => ins.bnot(x),
            (UnaryOp::Not | UnaryOp::BitNot, _) => self.not(x),
        }
    }

    /// The other truth.
    fn not(&mut self, x: Value) -> Value {
        let one = self.b.ins().iconst(types::I8, 1);
        self.b.ins().bxor(x, one)
    }

    /// `&&` and `||`: the second operand is evaluated only where it is needed, or where that does no harm.
    fn shortened(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<Value, Refusal> {
        let and = op == BinaryOp::And;
        let x = self.scalar(a)?;
        if harmless(b, &mut 6) {
            let y = self.scalar(b)?;
            return Ok(if and { self.b.ins().band(x, y) } else { self.b.ins().bor(x, y) });
        }
        let (second, done) = (self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(done, types::I8);
        let none: [BlockArg; 0] = [];
        let known = [BlockArg::from(x)];
        if and {
            self.b.ins().brif(x, second, &none, done, &known);
        } else {
            self.b.ins().brif(x, done, &known, second, &none);
        }
        self.enter(second);
        let y = self.scalar(b)?;
        self.b.ins().jump(done, &[BlockArg::from(y)]);
        self.enter(done);
        Ok(result)
    }

    fn select(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Result<Parts, Refusal> {
        let c = self.scalar(c)?;
        if harmless(a, &mut 6) && harmless(b, &mut 6) {
            let (x, y) = (self.parts(a)?, self.parts(b)?);
            return Ok(x.into_iter().zip(y).map(|(x, y)| self.b.ins().select(c, x, y)).collect());
        }
        let blocks = [self.b.create_block(), self.b.create_block()];
        let done = self.b.create_block();
        let result = parts_of(&a.ty).iter().map(|(t, _)| self.b.append_block_param(done, *t)).collect();
        let none: [BlockArg; 0] = [];
        self.b.ins().brif(c, blocks[0], &none, blocks[1], &none);
        for (block, e) in blocks.into_iter().zip([a, b]) {
            self.enter(block);
            let values: Vec<BlockArg> = self.parts(e)?.into_iter().map(BlockArg::from).collect();
            self.b.ins().jump(done, &values);
        }
        self.enter(done);
        Ok(result)
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<Parts, Refusal> {
        let (x, y) = (self.parts(a)?, self.parts(b)?);
        Ok(match &a.ty {
            Ty::Int => smallvec![self.int_binary(op, x[0], y[0], b.as_int())],
            Ty::Bit | Ty::Bool => smallvec![match op {
                BinaryOp::BitAnd => self.b.ins().band(x[0], y[0]),
                BinaryOp::BitOr => self.b.ins().bor(x[0], y[0]),
                BinaryOp::Eq => self.b.ins().icmp(IntCC::Equal, x[0], y[0]),
                _ => self.b.ins().bxor(x[0], y[0]),
            }],
            Ty::Complex => self.complex_binary(op, &x, &y),
            _ => x.into_iter().zip(y).map(|(x, y)| self.float_binary(op, x, y)).collect(),
        })
    }

    fn int_binary(&mut self, op: BinaryOp, x: Value, y: Value, known: Option<i32>) -> Value {
        use BinaryOp::*;
        let compare = |cc| move |m: &mut Self| m.b.ins().icmp(cc, x, y);
        match op {
            Add => self.b.ins().iadd(x, y),
            Sub => self.b.ins().isub(x, y),
            Mul => self.b.ins().imul(x, y),
            Div | Rem => self.divided(op == Div, x, y, known),
            // Cranelift takes counts modulo 32, too
            Shl => self.b.ins().ishl(x, y),
            Shr => self.b.ins().sshr(x, y),
            BitAnd | And => self.b.ins().band(x, y),
            BitOr | Or => self.b.ins().bor(x, y),
            BitXor => self.b.ins().bxor(x, y),
            Lt => compare(IntCC::SignedLessThan)(self),
            Le => compare(IntCC::SignedLessThanOrEqual)(self),
            Gt => compare(IntCC::SignedGreaterThan)(self),
            Ge => compare(IntCC::SignedGreaterThanOrEqual)(self),
            Eq => compare(IntCC::Equal)(self),
            Ne => compare(IntCC::NotEqual)(self),
        }
    }

    /// `sl_div`, `sl_rem`: by -1 the machine's instruction may trap.
    fn divided(&mut self, quotient: bool, x: Value, y: Value, known: Option<i32>) -> Value {
        if known.is_some_and(|d| d != 0 && d != -1) {
            return if quotient { self.b.ins().sdiv(x, y) } else { self.b.ins().srem(x, y) };
        }
        let (minus, one) = (self.int(-1), self.int(1));
        let special = self.b.ins().icmp(IntCC::Equal, y, minus);
        let safe = self.b.ins().select(special, one, y);
        if !quotient {
            return self.b.ins().srem(x, safe);
        }
        let (q, negated) = (self.b.ins().sdiv(x, safe), self.b.ins().ineg(x));
        self.b.ins().select(special, negated, q)
    }

    fn float_binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        use BinaryOp::*;
        let cc = match op {
            Add => return self.b.ins().fadd(x, y),
            Sub => return self.b.ins().fsub(x, y),
            Mul => return self.b.ins().fmul(x, y),
            Div => return self.b.ins().fdiv(x, y),
            Lt => FloatCC::LessThan,
            Le => FloatCC::LessThanOrEqual,
            Gt => FloatCC::GreaterThan,
            Ge => FloatCC::GreaterThanOrEqual,
            Eq => FloatCC::Equal,
            _ => FloatCC::NotEqual,
        };
        self.b.ins().fcmp(cc, x, y)
    }

    fn complex_binary(&mut self, op: BinaryOp, x: &[Value], y: &[Value]) -> Parts {
        use BinaryOp::*;
        let ([a, b], [c, d]) = ([x[0], x[1]], [y[0], y[1]]);
        match op {
            Mul => {
                let (ac, bd) = (self.b.ins().fmul(a, c), self.b.ins().fmul(b, d));
                let (ad, bc) = (self.b.ins().fmul(a, d), self.b.ins().fmul(b, c));
                smallvec![self.b.ins().fsub(ac, bd), self.b.ins().fadd(ad, bc)]
            }
            Div => {
                let (cc, dd) = (self.b.ins().fmul(c, c), self.b.ins().fmul(d, d));
                let n = self.b.ins().fadd(cc, dd);
                let (ac, bd) = (self.b.ins().fmul(a, c), self.b.ins().fmul(b, d));
                let (bc, ad) = (self.b.ins().fmul(b, c), self.b.ins().fmul(a, d));
                let (re, im) = (self.b.ins().fadd(ac, bd), self.b.ins().fsub(bc, ad));
                smallvec![self.b.ins().fdiv(re, n), self.b.ins().fdiv(im, n)]
            }
            Eq | Ne => {
                let (re, im) = (self.b.ins().fcmp(FloatCC::Equal, a, c), self.b.ins().fcmp(FloatCC::Equal, b, d));
                let equal = self.b.ins().band(re, im);
                smallvec![if op == Eq { equal } else { self.not(equal) }]
            }
            _ => smallvec![self.float_binary(op, a, c), self.float_binary(op, b, d)],
        }
    }

    fn convert(&mut self, a: Parts, from: &Ty, to: &Ty) -> Parts {
        let truth = |t: &Ty| matches!(t, Ty::Bit | Ty::Bool);
        if from == to || truth(from) && truth(to) {
            return a;
        }
        let x = a[0];
        match to {
            Ty::Int => smallvec![self.int_of(x, from)],
            Ty::Float => smallvec![self.float_of(x, from)],
            Ty::Double => smallvec![match from {
                Ty::Float => self.b.ins().fpromote(types::F64, x),
                _ => {
                    let i = self.int_of(x, from);
                    self.b.ins().fcvt_from_sint(types::F64, i)
                }
            }],
            Ty::Bool => {
                let (t, _) = parts_of(from)[0];
                let zero = self.zero(t);
                smallvec![match from {
                    Ty::Float | Ty::Double => self.b.ins().fcmp(FloatCC::NotEqual, x, zero),
                    _ => self.b.ins().icmp(IntCC::NotEqual, x, zero),
                }]
            }
            Ty::Bit => {
                let (i, one) = (self.int_of(x, from), self.int(1));
                let bit = self.b.ins().band(i, one);
                smallvec![self.b.ins().ireduce(types::I8, bit)]
            }
            Ty::Complex => smallvec![self.float_of(x, from), self.zero(types::F32)],
            Ty::Vec(n) => {
                let x = self.float_of(x, from);
                (0..*n).map(|_| x).collect()
            }
            _ => a,
        }
    }

    /// Truncates, saturates, and makes a NaN 0, as Cranelift's instruction does.
    fn int_of(&mut self, x: Value, from: &Ty) -> Value {
        match from {
            Ty::Float | Ty::Double => self.b.ins().fcvt_to_sint_sat(types::I32, x),
            Ty::Bit | Ty::Bool => self.b.ins().uextend(types::I32, x),
            _ => x,
        }
    }

    fn float_of(&mut self, x: Value, from: &Ty) -> Value {
        match from {
            Ty::Float => x,
            Ty::Double => self.b.ins().fdemote(types::F32, x),
            _ => {
                let i = self.int_of(x, from);
                self.b.ins().fcvt_from_sint(types::F32, i)
            }
        }
    }

    fn builtin(&mut self, f: Builtin, args: &[Expr]) -> Result<Parts, Refusal> {
        let ty = args.first().map_or(&Ty::Void, |a| &a.ty);
        let mut values: Parts = Parts::new();
        for a in args {
            values.extend(self.parts(a)?);
        }
        if *ty == Ty::Complex {
            return self.of_complex(f, &values);
        }
        let (x, y) = (values[0], values.get(1).copied());
        let int = *ty == Ty::Int;
        let ins = self.b.ins();
        Ok(smallvec![match (f, y) {
            (Builtin::Abs, _) if int => {
                let negative = ins.icmp_imm_s(IntCC::SignedLessThan, x, 0);
                let negated = self.b.ins().ineg(x);
                self.b.ins().select(negative, negated, x)
            }
            (Builtin::Min, Some(y)) if int => ins.smin(x, y),
            (Builtin::Max, Some(y)) if int => ins.smax(x, y),
            (Builtin::Abs, _) => ins.fabs(x),
            (Builtin::Ceil, _) => ins.ceil(x),
            (Builtin::Floor, _) => ins.floor(x),
            (Builtin::Rint, _) => ins.nearest(x),
            (Builtin::Sqrt, _) => ins.sqrt(x),
            (Builtin::Min | Builtin::Max, Some(y)) => {
                // a NaN gives the other operand, of two zeros the first
                let cc = if f == Builtin::Min { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let (other, nan) = (ins.fcmp(cc, y, x), self.b.ins().fcmp(FloatCC::Unordered, x, x));
                let other = self.b.ins().bor(other, nan);
                self.b.ins().select(other, y, x)
            }
            _ => {
                let (t, _) = parts_of(ty)[0];
                let name = library_name(f, t == types::F32).ok_or_else(|| malformed("an unknown function"))?;
                let params = vec![t; values.len()];
                let callee = self.machine.import(name, &params, Some(t), self.b.func)?;
                let call = self.b.ins().call(callee, &values);
                self.b.inst_results(call)[0]
            }
        }])
    }

    fn of_complex(&mut self, f: Builtin, z: &[Value]) -> Result<Parts, Refusal> {
        let name = match f {
            Builtin::Abs => {
                let (aa, bb) = (self.b.ins().fmul(z[0], z[0]), self.b.ins().fmul(z[1], z[1]));
                let sum = self.b.ins().fadd(aa, bb);
                return Ok(smallvec![self.b.ins().sqrt(sum)]);
            }
            Builtin::Arg => {
                let callee = self.machine.import("atan2f", &[types::F32; 2], Some(types::F32), self.b.func)?;
                let call = self.b.ins().call(callee, &[z[1], z[0]]);
                return Ok(smallvec![self.b.inst_results(call)[0]]);
            }
            Builtin::Exp => "jit_complex_exp",
            Builtin::Log => "jit_complex_log",
            Builtin::Sin => "jit_complex_sin",
            Builtin::Cos => "jit_complex_cos",
            Builtin::Sqrt => "jit_complex_sqrt",
            _ => return Err(malformed("a function that complex numbers do not have")),
        };
        let base = self.room(8, 8)?;
        let memory = Memory { base, offset: 0, flags: MemFlagsData::trusted() };
        self.store(memory, &Ty::Complex, z);
        let callee = self.machine.import(name, &[PTR], None, self.b.func)?;
        self.b.ins().call(callee, &[base]);
        Ok(self.load(memory, &Ty::Complex))
    }
}

/// The C library's function.
fn library_name(f: Builtin, single: bool) -> Option<&'static str> {
    let (float, double) = match f {
        Builtin::Acos => ("acosf", "acos"),
        Builtin::Acosh => ("acoshf", "acosh"),
        Builtin::Asin => ("asinf", "asin"),
        Builtin::Asinh => ("asinhf", "asinh"),
        Builtin::Atan => ("atanf", "atan"),
        Builtin::Atanh => ("atanhf", "atanh"),
        Builtin::Atan2 => ("atan2f", "atan2"),
        Builtin::Cos => ("cosf", "cos"),
        Builtin::Cosh => ("coshf", "cosh"),
        Builtin::Exp => ("expf", "exp"),
        Builtin::Expm1 => ("expm1f", "expm1"),
        Builtin::Fmod => ("fmodf", "fmod"),
        Builtin::Log => ("logf", "log"),
        Builtin::Log10 => ("log10f", "log10"),
        Builtin::Pow => ("powf", "pow"),
        Builtin::Round => ("jit_roundf", "jit_round"),
        Builtin::Sin => ("sinf", "sin"),
        Builtin::Sinh => ("sinhf", "sinh"),
        Builtin::Tan => ("tanf", "tan"),
        Builtin::Tanh => ("tanhf", "tanh"),
        _ => return None,
    };
    Some(if single { float } else { double })
}

/// Can an expression be evaluated where its value is not needed: is it short, and can nothing in it go wrong?
fn harmless(e: &Expr, left: &mut u32) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Zero | ExprKind::Iter => true,
        ExprKind::Any(_) => false,
        ExprKind::Load(p) => {
            matches!(p.base, Base::Local(_) | Base::State(_)) && p.path.iter().all(|s| !matches!(s, Proj::Index(_)))
        }
        ExprKind::Unary(_, a) | ExprKind::Convert(a) | ExprKind::Component(a, _) => harmless(a, left),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, a, _) if a.ty == Ty::Int => false,
        ExprKind::Binary(_, a, b) => harmless(a, left) && harmless(b, left),
        ExprKind::Compose(list) => list.iter().all(|a| harmless(a, left)),
        ExprKind::Select(..) | ExprKind::Builtin(..) => false,
    }
}
