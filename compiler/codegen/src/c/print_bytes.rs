//! # print-bytes
//!
//! Purpose: ciphers put the bytes of a word through a table one by one and join what they get; processors that find elements of a table of bytes by permutations find all four bytes
//! of each lane at once (`sl_lookup.h`). Input: an operation on ints that joins elements of one table, shifted to different bytes. Output: a word whose bytes are the places, and which bytes are wanted.
//!
//! ```text
//! (((table0[(($x >> 24) & 255)] << 24) | (table0[($y & 255)] << 8)) ^ $z)
//!   →  (sl_vi_lookup_each(bytes_0[0], sl_static_0_T.v, 256, (x_0 & -16777216) | ((y_0 << 8) & 65280), -16711936) ^ z_0)
//! ```
//!
//! What must hold: all elements are bytes, of the same row of the same table (`is_bytes` says which places are elements of such), and no two are shifted to the same byte. They have no bit in
//! common then: it is the same whether they are joined by `|`, `^` or `+`, and in what order. Of what else is joined, the operator and the order stay. Places are within the table already, so below 256.

use super::print_function::Printer;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;

/// Elements of one row that come to different bytes of a word.
struct Group<'e> {
    /// A place of the row.
    of: &'e Place,
    /// By byte: the element, shifted as it is, and its place.
    bytes: [Option<(&'e Expr, &'e Expr)>; 4],
}

/// A part of the word of places: bits of a value, shifted by so many to the left, or to the right where it is less than 0.
#[derive(Debug, PartialEq)]
struct Part<'e> {
    of: &'e Expr,
    left: i32,
    mask: u32,
}

impl<'e> Group<'e> {
    /// The word of places, in parts that have no bit in common.
    fn places(&self) -> Vec<Part<'e>> {
        let mut out: Vec<Part<'e>> = Vec::new();
        for (byte, at) in self.bytes.iter().enumerate() {
            let Some((_, at)) = at else { continue };
            let to = 8 * byte as i32;
            // an element's place is a byte, whatever mask has made it one
            let (shifted, mask) = by_constant(at, BinaryOp::BitAnd).unwrap_or((at, -1));
            let (of, right) = by_constant(shifted, BinaryOp::Shr).map_or((shifted, 0), |(x, n)| (x, n & 31));
            let (left, mask) = (to - right, (mask as u32 & 255) << to);
            match out.iter_mut().find(|p| p.of == of && p.left == left) {
                Some(p) => p.mask |= mask,
                None => out.push(Part { of, left, mask }),
            }
        }
        out
    }

    fn wanted(&self) -> u32 {
        (0..4).filter(|b| self.bytes[*b].is_some()).map(|b| 255 << (8 * b)).sum()
    }
}

/// What `a op b` looks up at once, and what is left of it.
fn together<'e>(
    (op, a, b): (BinaryOp, &'e Expr, &'e Expr),
    is_bytes: IsBytes,
) -> Option<(Vec<Group<'e>>, Option<Expr>)> {
    if !joins(op, &a.ty) {
        return None;
    }
    let mut found = Vec::new();
    each(op, a, is_bytes, &mut found);
    each(op, b, is_bytes, &mut found);
    let mut groups: Vec<Group<'e>> = Vec::new();
    for element in found {
        let room = |g: &&mut Group| same_row(g.of, element.of) && g.bytes[element.byte].is_none();
        let entry = Some((element.whole, element.at));
        match groups.iter_mut().find(room) {
            Some(g) => g.bytes[element.byte] = entry,
            None => {
                let mut bytes = [None; 4];
                bytes[element.byte] = entry;
                groups.push(Group { of: element.of, bytes });
            }
        }
    }
    groups.retain(|g| g.bytes.iter().flatten().count() > 1);
    if groups.is_empty() {
        return None;
    }
    let taken: Vec<&Expr> = groups.iter().flat_map(|g| g.bytes.iter().flatten()).map(|(whole, _)| *whole).collect();
    let rest = match (without(a, &taken), without(b, &taken)) {
        (Some(a), Some(b)) => Some(Expr::binary(op, a, b, Ty::Int)),
        (a, b) => a.or(b),
    };
    Some((groups, rest))
}

/// Says whether a place is an element of a table of bytes.
type IsBytes<'a> = &'a dyn Fn(&Place) -> bool;

/// An element of a table of bytes at a byte of a word.
struct Element<'e> {
    whole: &'e Expr,
    of: &'e Place,
    at: &'e Expr,
    byte: usize,
}

fn element<'e>(whole: &'e Expr, is_bytes: IsBytes) -> Option<Element<'e>> {
    let (e, shift) = by_constant(whole, BinaryOp::Shl).unwrap_or((whole, 0));
    let ExprKind::Load(of) = &e.kind else { return None };
    let Some(Proj::Index(at)) = of.path.last() else { return None };
    let fits = e.ty == Ty::Int && matches!(shift, 0 | 8 | 16 | 24) && is_bytes(of);
    fits.then_some(Element { whole, of, at, byte: shift as usize / 8 })
}

/// The elements that `op` joins to others in a value.
fn each<'e>(op: BinaryOp, e: &'e Expr, is_bytes: IsBytes, out: &mut Vec<Element<'e>>) {
    match &e.kind {
        ExprKind::Binary(inner, a, b) if *inner == op => {
            each(op, a, is_bytes, out);
            each(op, b, is_bytes, out);
        }
        ExprKind::Binary(inner, ..) if joins(*inner, &e.ty) => {
            // another operator is the same one where nothing but elements at different bytes is joined
            let mut parts = Vec::new();
            if apart(e, is_bytes, &mut parts) {
                out.extend(parts);
            }
        }
        _ => out.extend(element(e, is_bytes)),
    }
}

/// Is a value nothing but elements, at different bytes?
fn apart<'e>(e: &'e Expr, is_bytes: IsBytes, out: &mut Vec<Element<'e>>) -> bool {
    match &e.kind {
        ExprKind::Binary(op, a, b) if joins(*op, &e.ty) => apart(a, is_bytes, out) && apart(b, is_bytes, out),
        _ => match element(e, is_bytes) {
            Some(x) if out.iter().all(|y| y.byte != x.byte) => {
                out.push(x);
                true
            }
            _ => false,
        },
    }
}

/// What is left of a value, of which these are joined to the rest.
fn without(e: &Expr, taken: &[&Expr]) -> Option<Expr> {
    if taken.iter().any(|t| std::ptr::eq(*t, e)) {
        return None;
    }
    match &e.kind {
        ExprKind::Binary(op, a, b) if joins(*op, &e.ty) => match (without(a, taken), without(b, taken)) {
            (Some(a), Some(b)) => Some(Expr::binary(*op, a, b, Ty::Int)),
            (a, b) => a.or(b),
        },
        _ => Some(e.clone()),
    }
}

fn joins(op: BinaryOp, of: &Ty) -> bool {
    matches!(op, BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Add) && *of == Ty::Int
}

/// Are two places elements of one row? The steps before the last are the same.
fn same_row(a: &Place, b: &Place) -> bool {
    let before = |p: &Place| p.path.len().saturating_sub(1);
    a.base == b.base && a.path[..before(a)] == b.path[..before(b)]
}

/// The operand and the constant of an operation; of one whose operands may change places, whichever is constant.
pub(super) fn by_constant(e: &Expr, wanted: BinaryOp) -> Option<(&Expr, i32)> {
    let ExprKind::Binary(op, a, b) = &e.kind else { return None };
    if *op != wanted || a.ty != Ty::Int {
        return None;
    }
    match (a.as_int(), b.as_int()) {
        (None, Some(n)) => Some((a, n)),
        (Some(n), None) if wanted == BinaryOp::BitAnd => Some((b, n)),
        _ => None,
    }
}

impl Printer<'_> {
    /// An operation on vector `u` that looks up several bytes of a word, where `a op b` is one.
    pub(super) fn lane_bytes(&self, (op, a, b): (BinaryOp, &Expr, &Expr), u: usize) -> Option<String> {
        let (groups, rest) = together((op, a, b), &|p| self.is_of_bytes(p))?;
        let mut terms: Vec<String> = groups.iter().map(|g| self.lane_group(g, u)).collect::<Option<_>>()?;
        terms.extend(rest.map(|e| self.lane(&e, u)));
        terms.into_iter().reduce(|x, y| format!("({x} {} {y})", op.symbol()))
    }

    fn lane_group(&self, group: &Group, u: usize) -> Option<String> {
        let Base::Table(id) = group.of.base else { return None };
        let (_, row) = group.of.path.split_last()?;
        let part = |p: Part| {
            let x = self.lane(p.of, u);
            let x = match p.left {
                0 => x,
                1.. => format!("({x} << {})", p.left),
                _ => format!("({x} >> {})", -p.left),
            };
            if p.mask == u32::MAX { x } else { format!("({x} & {})", p.mask as i32) }
        };
        let at = group.places().into_iter().map(part).reduce(|x, y| format!("({x} | {y})"))?;
        Some(self.lookup_each((id, row), &at, group.wanted()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sluice_frontend::ids::LocalId;

    /// A variable.
    pub fn x(i: u32) -> Expr {
        Expr::local(LocalId(i), Ty::Int)
    }

    /// An operation on ints.
    pub fn op(op: BinaryOp, a: Expr, b: Expr) -> Expr {
        Expr::binary(op, a, b, Ty::Int)
    }

    /// Bits of a variable from a place on.
    fn bits(i: u32, from: i32, mask: i32) -> Expr {
        op(BinaryOp::BitAnd, op(BinaryOp::Shr, x(i), Expr::int(from)), Expr::int(mask))
    }

    /// An element of a table, shifted.
    fn of(table: u32, at: Expr, to: i32) -> Expr {
        let place = Place { base: Base::Table(TableId(table)), path: vec![Proj::Index(at)] };
        let e = Expr::load(place, Ty::Int);
        if to == 0 { e } else { op(BinaryOp::Shl, e, Expr::int(to)) }
    }

    /// The parts of a word of places, and its wanted bytes.
    type Word = (Vec<(Expr, i32, u32)>, u32);

    /// The words of places, and what is left. Table 9 is none of bytes.
    fn found(e: &Expr) -> Option<(Vec<Word>, Option<Expr>)> {
        let ExprKind::Binary(op, a, b) = &e.kind else { return None };
        let is_bytes = |p: &Place| !matches!(p.base, Base::Table(TableId(9)));
        let (groups, rest) = together((*op, a, b), &is_bytes)?;
        let parts = |g: &Group| g.places().into_iter().map(|p| (p.of.clone(), p.left, p.mask)).collect();
        Some((groups.iter().map(|g| (parts(g), g.wanted())).collect(), rest))
    }

    /// The four bytes of a word, each where it was.
    fn word(join: [BinaryOp; 3]) -> Expr {
        let byte = |i: i32| of(0, bits(0, 8 * i, 255), 8 * i);
        op(
            join[2],
            op(join[1], op(join[0], byte(3), byte(1)), byte(2)),
            of(0, op(BinaryOp::BitAnd, Expr::int(255), x(0)), 0),
        )
    }

    const JOINS: [BinaryOp; 3] = [BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::Add];

    #[test]
    fn bytes_in_their_places_are_the_word_itself() {
        for a in JOINS {
            for b in JOINS {
                let all = Some((vec![(vec![(x(0), 0, u32::MAX)], u32::MAX)], None));
                assert_eq!(found(&word([a, b, a])), all, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn bytes_come_from_anywhere() {
        let e = op(BinaryOp::BitOr, of(0, bits(0, 24, 255), 0), of(0, bits(1, 3, 63), 16));
        let parts = vec![(x(0), -24, 255), (x(1), 13, 63 << 16)];
        assert_eq!(found(&e), Some((vec![(parts, 0x00FF_00FF)], None)));
        // no mask, no shift: a place is a byte as it is
        let e = op(BinaryOp::Add, of(0, x(0), 8), of(0, op(BinaryOp::Shr, x(1), Expr::int(28)), 24));
        assert_eq!(found(&e), Some((vec![(vec![(x(0), 8, 0xFF00), (x(1), -4, 0xFF00_0000)], 0xFF00_FF00)], None)));
    }

    #[test]
    fn what_else_is_joined_stays() {
        let pair = |n| op(BinaryOp::BitXor, of(n, x(0), 0), op(BinaryOp::BitXor, x(5), of(n, x(1), 8)));
        let (groups, rest) = found(&pair(0)).unwrap();
        assert_eq!((groups.len(), rest), (1, Some(x(5))));
        // two tables, of each a pair
        let (groups, rest) = found(&op(BinaryOp::BitXor, pair(0), pair(1))).unwrap();
        assert_eq!((groups.len(), rest), (2, Some(op(BinaryOp::BitXor, x(5), x(5)))));
        // a byte twice: once it stays
        let three = op(BinaryOp::Add, op(BinaryOp::Add, of(0, x(0), 8), of(0, x(1), 8)), of(0, x(2), 0));
        let (groups, rest) = found(&three).unwrap();
        assert_eq!((groups[0].1, rest), (0xFFFF, Some(of(0, x(1), 8))));
    }

    #[test]
    fn nothing_else_is_looked_up_at_once() {
        use BinaryOp::*;
        let (low, high) = (of(0, x(0), 0), of(0, x(1), 8));
        assert!(found(&op(BitOr, low.clone(), high.clone())).is_some());
        for other in [Sub, Mul, BitAnd, Shl] {
            assert_eq!(found(&op(other, low.clone(), high.clone())), None, "{other:?}");
        }
        for (a, b, why) in [
            (of(0, x(0), 8), of(0, x(1), 8), "the same byte"),
            (of(0, x(0), 0), of(1, x(1), 8), "two tables"),
            (of(9, x(0), 0), of(9, x(1), 8), "no bytes"),
            (of(0, x(0), 0), of(0, x(1), 12), "between bytes"),
            (of(0, x(0), 0), of(0, x(1), 32), "beyond the word"),
            (of(0, x(0), 0), op(Mul, of(0, x(1), 0), Expr::int(256)), "no shift"),
        ] {
            assert_eq!(found(&op(BitXor, a, b)), None, "{why}");
        }
        // another operator between them is another value: x | 255 takes bits that a sum would carry
        let inner = op(BitOr, of(0, x(0), 0), x(5));
        assert_eq!(found(&op(BitXor, inner, of(0, x(1), 8))), None);
        let inner = op(BitOr, of(9, x(0), 0), of(0, x(2), 16));
        assert_eq!(found(&op(BitXor, inner, of(0, x(1), 8))), None);
    }

    #[test]
    fn rows_must_be_the_same() {
        let at = |row: i32, at: Expr, to: i32| {
            let place =
                Place { base: Base::Table(TableId(0)), path: vec![Proj::Index(Expr::int(row)), Proj::Index(at)] };
            op(BinaryOp::Shl, Expr::load(place, Ty::Int), Expr::int(to))
        };
        assert!(found(&op(BinaryOp::BitOr, at(1, x(0), 8), at(1, x(1), 16))).is_some());
        assert_eq!(found(&op(BinaryOp::BitOr, at(1, x(0), 8), at(2, x(1), 16))), None);
    }
}
