//! What goes as bytes, and what it costs: the same answers for the pass, which weighs a firing, and for who prints it.

use super::super::intervals::{Env, Facts, Range};
use super::super::lanes::{gathers, is_bit, is_varying};
use crate::ir::*;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;

/// Vectors of ints that are one of bytes.
const VECTORS: u64 = 4;

/// Operations that make a vector of bytes of those of ints; of truths, which are bytes already but for their place; and ints of bytes.
const PACK: u64 = 8;
const PACK_TRUTHS: u64 = 4;
const WIDEN: u64 = 6;

/// Products of bytes: processors have them of 16 bits.
const PRODUCT: u64 = 6;

/// A division of ints, a mathematical function, an element that is fetched for each lane.
const DIVISION: u64 = 12;
const FUNCTION: u64 = 20;
const FETCH: u64 = 8;

/// Elements of tables that are found by a byte, at most.
const LONGEST: u64 = 256;

/// What a value costs, in operations on vectors for as many firings as a vector has bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// As bytes.
    pub bytes: u64,
    /// As ints.
    pub ints: u64,
    /// Are the bytes made by operations on bytes? Of the ints otherwise.
    pub direct: bool,
    /// Are the ints made of the bytes? By operations on ints otherwise.
    pub widened: bool,
}

/// A byte of a word of which some bits are wanted: `((x >> n) & mask)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane<'e> {
    /// The word.
    pub of: &'e Expr,
    /// Its bits from this one on, a multiple of eight, are the byte.
    pub from: u32,
    /// The byte's bits from this one on are wanted, 0 to 7.
    pub shift: u32,
    /// Those that are, after the shift.
    pub mask: u8,
}

/// Which values of a lanes' function go as bytes.
pub struct Bytes<'k> {
    kernel: &'k Kernel,
    lanes: &'k Lanes,
    narrow: &'k Narrow,
    facts: Facts,
    /// Do items come as bytes, and go as such?
    as_bytes: (bool, bool),
}

impl<'k> Bytes<'k> {
    /// Of a kernel whose lanes hold bytes. `as_bytes`: do the items that it takes come as such, and those go that it gives?
    pub fn of(kernel: &'k Kernel, as_bytes: (bool, bool)) -> Option<Bytes<'k>> {
        let lanes = kernel.lanes.as_ref()?;
        let narrow = lanes.narrow.as_ref()?;
        Some(Bytes { kernel, lanes, narrow, facts: Facts::of_any_state(kernel, narrow.taken), as_bytes })
    }

    /// The lanes' function.
    pub fn function(&self) -> &'k Function {
        self.kernel.function(self.lanes.function)
    }

    /// Does a local hold bytes, or truths as bytes?
    pub fn holds(&self, id: LocalId) -> bool {
        let local = &self.function().locals[id.index()].ty;
        let of = local.element().unwrap_or(local);
        let fits = match of {
            Ty::Int => is_byte(self.narrow.locals[id.index()]),
            _ => is_bit(of),
        };
        fits && self.lanes.varying[id.index()]
    }

    /// Are an int's last eight bits all of it?
    pub fn is_byte(&self, e: &Expr) -> bool {
        e.ty == Ty::Int && is_byte(self.range(e))
    }

    /// Are they, and the first of them is 0?
    pub fn is_low(&self, e: &Expr) -> bool {
        e.ty == Ty::Int && self.range(e).within(0, 127)
    }

    fn range(&self, e: &Expr) -> Range {
        match e.as_int() {
            Some(n) => Range::exactly(n.into()),
            None => Env::everywhere(&self.facts, &self.function().locals, &self.narrow.locals).eval(e),
        }
    }

    fn varies(&self, e: &Expr) -> bool {
        is_varying(e, &self.lanes.varying)
    }

    /// Is a value that differs between lanes made by an operation on bytes, of its operands' bytes?
    fn native(&self, e: &Expr) -> bool {
        use BinaryOp::*;
        match &e.kind {
            ExprKind::Load(p) => match &p.base {
                Base::Local(id) => self.holds(*id),
                Base::In(_) => e.ty == Ty::Int || is_bit(&e.ty),
                Base::Table(_) => self.looks_up(p),
                _ => false,
            },
            ExprKind::Unary(UnaryOp::Not, _) => true,
            ExprKind::Unary(..) => e.ty == Ty::Int,
            ExprKind::Binary(op, a, b) if e.ty == Ty::Int => match op {
                Add | Sub | Mul | BitAnd | BitOr | BitXor => true,
                Shl => self.moves(b),
                Shr => self.moves(b) && self.is_byte(a),
                _ => false,
            },
            ExprKind::Binary(op, a, b) if is_bit(&e.ty) => match op {
                And | Or | BitAnd | BitOr | BitXor => is_bit(&a.ty),
                Eq | Ne if is_bit(&a.ty) => true,
                Eq | Ne | Lt | Le | Gt | Ge => self.is_byte(a) && self.is_byte(b),
                _ => false,
            },
            ExprKind::Select(..) => e.ty == Ty::Int || is_bit(&e.ty),
            ExprKind::Convert(a) => match (&a.ty, &e.ty) {
                (from, to) if is_bit(from) => *to == Ty::Int || is_bit(to),
                (Ty::Int, Ty::Bit) => true,
                (Ty::Int, Ty::Bool) => self.is_byte(a),
                _ => false,
            },
            ExprKind::Builtin(Builtin::Min | Builtin::Max, args) => {
                e.ty == Ty::Int && args.iter().all(|a| self.is_byte(a))
            }
            ExprKind::Builtin(Builtin::Abs, args) => e.ty == Ty::Int && args.iter().all(|a| self.is_byte(a)),
            _ => false,
        }
    }

    /// Does a shift by this, the same in all lanes, leave bits of a byte?
    fn moves(&self, by: &Expr) -> bool {
        shift(by).is_some() || by.as_int().is_none() && !self.varies(by) && self.range(by).within(0, 7)
    }

    /// Is this an element of a row of bytes, at a byte?
    fn looks_up(&self, p: &Place) -> bool {
        let (Base::Table(id), Some(Proj::Index(at))) = (&p.base, p.path.last()) else { return false };
        let bytes = self.kernel.tables[id.index()].known().is_some() && is_byte(self.facts.tables[id.index()]);
        bytes && gathers(p, &self.lanes.varying) && self.row(p) <= LONGEST && self.is_byte(at)
    }

    /// How long the row of a table is in which a place's last step chooses.
    fn row(&self, p: &Place) -> u64 {
        let Base::Table(id) = &p.base else { return 0 };
        let mut ty = &self.kernel.tables[id.index()].ty;
        for _ in 1..p.path.len() {
            ty = ty.element().unwrap_or(ty);
        }
        ty.known_len().map_or(u64::MAX, u64::from)
    }

    /// The byte of a word that is all a value has of it, or all that it is made of where it is a bit.
    pub fn plane<'e>(&self, e: &'e Expr) -> Option<Plane<'e>> {
        let (shifted, mask) = match &e.kind {
            ExprKind::Binary(BinaryOp::BitAnd, a, b) => match (a.as_int(), b.as_int()) {
                (None, Some(mask)) => (a, mask),
                (Some(mask), None) => (b, mask),
                _ => return None,
            },
            // its last bit
            ExprKind::Convert(a) if e.ty == Ty::Bit && a.ty == Ty::Int => (a, 1),
            _ => return None,
        };
        let ExprKind::Binary(BinaryOp::Shr, of, by) = &shifted.kind else { return None };
        let by = by.as_int()? as u32 & 31;
        let (from, shift) = (by / 8 * 8, by % 8);
        let fits = (0..=255 >> shift).contains(&mask) && self.varies(of) && !self.is_byte(of);
        fits.then_some(Plane { of, from, shift, mask: mask as u8 })
    }

    /// What a value costs. One that is the same in all lanes costs nothing: it is there before.
    pub fn cost(&self, e: &Expr) -> Cost {
        if !self.varies(e) {
            return Cost { direct: true, ..Cost::default() };
        }
        let mut parts = Cost::default();
        e.each_operand(&mut |a| {
            let a = self.cost(a);
            parts.bytes = parts.bytes.saturating_add(a.bytes);
            parts.ints = parts.ints.saturating_add(a.ints);
        });
        let pack = if is_bit(&e.ty) { PACK_TRUTHS } else { PACK };
        if let ExprKind::Load(p) = &e.kind {
            match &p.base {
                Base::Local(id) if self.holds(*id) => {
                    return Cost { bytes: 0, ints: WIDEN, direct: true, widened: true };
                }
                Base::Local(_) => return Cost { bytes: pack, ints: 0, direct: false, widened: false },
                Base::In(_) if self.as_bytes.0 => {
                    return Cost { bytes: 1, ints: 1 + WIDEN, direct: true, widened: true };
                }
                Base::In(_) if is_bit(&e.ty) => {
                    return Cost { bytes: 2, ints: 2 * VECTORS, direct: true, widened: false };
                }
                Base::In(_) => {
                    let pack = if self.is_byte(e) { PACK - VECTORS } else { pack };
                    return Cost { bytes: VECTORS + pack, ints: VECTORS, direct: true, widened: false };
                }
                _ => {}
            }
        }
        let (of_bytes, of_ints) = self.operation(e);
        let ints = parts.ints.saturating_add(VECTORS * of_ints);
        let bytes = match self.plane(e) {
            // a word's four bytes are taken once, for all of their bits
            Some(plane) => Some(2 + PACK / 2 + self.cost(plane.of).ints),
            None => self.native(e).then(|| parts.bytes.saturating_add(of_bytes)),
        };
        let packed = ints.saturating_add(pack);
        let direct = bytes.is_some_and(|b| b <= packed);
        let widened = bytes.map(|b| b + WIDEN).filter(|b| direct && *b < ints && (is_bit(&e.ty) || self.is_byte(e)));
        Cost {
            bytes: bytes.unwrap_or(packed).min(packed),
            ints: widened.unwrap_or(ints),
            direct,
            widened: widened.is_some(),
        }
    }

    /// Operations on a vector of bytes, and on one of ints.
    fn operation(&self, e: &Expr) -> (u64, u64) {
        use BinaryOp::*;
        match &e.kind {
            ExprKind::Load(p) => {
                // two for each sixteen elements
                let found = self.row(p).min(LONGEST).div_ceil(16) * 2;
                (found, if self.looks_up(p) { (found + 1).min(FETCH) } else { FETCH })
            }
            ExprKind::Binary(Mul, a, b) => match a.as_int().or(b.as_int()) {
                Some(n) if n > 0 && (n as u32).is_power_of_two() => (if n == 2 { 1 } else { 2 }, 1),
                _ => (PRODUCT, 2),
            },
            ExprKind::Binary(Div | Rem, ..) => (DIVISION, DIVISION),
            ExprKind::Binary(Shr, ..) => (2, 1),
            ExprKind::Binary(Shl, _, by) => (if shift(by) == Some(1) { 1 } else { 2 }, 1),
            ExprKind::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, _) => (1, 1),
            ExprKind::Builtin(..) => (FUNCTION, FUNCTION),
            _ => (1, 1),
        }
    }

    /// What an assignment costs, with bytes and without.
    pub(super) fn assigned(&self, p: &Place, e: &Expr) -> (u64, u64) {
        let (cost, wide) = (self.cost(e), self.wide(e));
        match &p.base {
            Base::Local(id) if self.holds(*id) => (cost.bytes, wide),
            Base::Out(_) if is_bit(&e.ty) => {
                let narrow = if self.gives(e) { cost.bytes + 2 } else { cost.ints + 2 * VECTORS };
                (narrow, wide + 2 * VECTORS)
            }
            Base::Out(_) if self.as_bytes.1 => (cost.bytes + 1, wide + VECTORS),
            Base::Out(_) if self.gives(e) => (cost.bytes + WIDEN + VECTORS, wide + VECTORS),
            Base::Out(_) => (cost.ints + VECTORS, wide + VECTORS),
            _ => (cost.ints, wide),
        }
    }

    /// Is an item that is given made as bytes?
    pub fn gives(&self, e: &Expr) -> bool {
        self.varies(e) && (is_bit(&e.ty) || self.is_byte(e)) && self.cost(e).direct
    }

    /// What a value costs where nothing goes as bytes.
    fn wide(&self, e: &Expr) -> u64 {
        if !self.varies(e) {
            return 0;
        }
        let mut sum = match &e.kind {
            ExprKind::Load(Place { base: Base::Local(_), .. }) => 0,
            ExprKind::Load(Place { base: Base::In(_), .. }) if is_bit(&e.ty) => 2 * VECTORS,
            ExprKind::Load(Place { base: Base::In(_), .. }) => VECTORS,
            _ => VECTORS * self.operation(e).1,
        };
        e.each_operand(&mut |a| sum = sum.saturating_add(self.wide(a)));
        sum
    }
}

fn is_byte(r: Range) -> bool {
    r.within(0, 255)
}

/// By how many bits a shift moves, where a byte keeps some.
pub fn shift(by: &Expr) -> Option<u32> {
    by.as_int().map(|n| n as u32 & 31).filter(|n| *n < 8)
}
