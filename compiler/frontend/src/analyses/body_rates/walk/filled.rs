//! Which elements of array fields a firing has filled, and which it may read before that.
//!
//! Takes places as they are read and written, gives [`super::Watch::exposed`]. Conservative: what is not known to be filled is not;
//! an array passed to a function is read as a whole.

use super::*;
use crate::ty::{Dim, Ty};

/// Arrays with more elements are not followed.
const LARGEST: usize = 1 << 14;

/// A stretch of a followed array: the field, and its first element and the one past the last.
pub(super) type Part = (usize, usize, usize);

/// Elements of an array type, counted through all its dimensions; `None` where it is no array, or too large.
fn elements(ty: &Ty) -> Option<usize> {
    let mut n = 1usize;
    let mut t = ty;
    while let Ty::Array(elem, Dim::Known(len)) = t {
        n = n.checked_mul(*len as usize).filter(|n| *n <= LARGEST)?;
        t = elem;
    }
    matches!(ty, Ty::Array(..)).then_some(n)
}

impl<'a> Walk<'a> {
    /// The sets of filled elements at the start of a firing: empty ones for the fields that are followed.
    pub(super) fn nothing_filled(code: &FilterCode, follow: bool) -> Vec<Vec<bool>> {
        let of = |f: &FieldDef| if f.constant || !follow { 0 } else { elements(&f.ty).unwrap_or(0) };
        code.fields.iter().map(|f| vec![false; of(f)]).collect()
    }

    /// Does an expression do something when it is evaluated?
    fn acts(e: &Expr) -> bool {
        let mut found = false;
        tree::expression(e, &mut |e| {
            found |= matches!(e.kind, ExprKind::IncDec { .. } | ExprKind::Call(..) | ExprKind::Pop);
        });
        found
    }

    /// The elements that a place surely is (for a write), or at most is (for a read).
    pub(super) fn part(&mut self, place: &'a Expr, st: &State<'a>, write: bool) -> Option<Part> {
        let ExprKind::Field(id) = tree::root(place).kind else { return None };
        let field = id.index();
        let all = st.filled.get(field)?.len();
        if all == 0 {
            return None;
        }
        let whole = Some((field, 0, all));
        // from the outside in: the indices of the last dimensions come first
        let mut indices = Vec::new();
        let mut at = place;
        loop {
            match &at.kind {
                ExprKind::Index(base, index) => {
                    indices.push(&**index);
                    at = base;
                }
                // a part of an element is not the element
                ExprKind::Member(base, _) | ExprKind::Component(base, _) => {
                    if write {
                        return None;
                    }
                    indices.clear();
                    at = base;
                }
                _ => break,
            }
        }
        let (mut start, mut len) = (0, all);
        let mut ty = &at.ty;
        while let (Some(index), Ty::Array(elem, Dim::Known(n))) = (indices.pop(), ty) {
            let n = (*n).max(1) as usize;
            len /= n;
            let known = if Self::acts(index) { Known::Nothing } else { self.quietly(index, st) };
            let Known::Int(lo, hi) = known else { return if write { None } else { whole } };
            if lo < 0 || hi >= n as i64 {
                return if write { None } else { whole };
            }
            start += lo as usize * len;
            if lo < hi {
                // several elements: a write fills none of them for certain
                return (!write).then_some((field, start, start + (hi - lo + 1) as usize * len));
            }
            ty = elem;
        }
        Some((field, start, start + len))
    }

    /// What is known of an expression, without its having been evaluated.
    fn quietly(&mut self, e: &'a Expr, st: &State<'a>) -> Known<'a> {
        self.relative += 1;
        let known = self.expr(e, &mut st.clone());
        self.relative -= 1;
        known
    }

    /// A place is read.
    pub(super) fn reads(&mut self, place: &'a Expr, st: &State<'a>) {
        if let Some((field, from, to)) = self.part(place, st, false)
            && !st.filled[field][from..to].iter().all(|f| *f)
        {
            self.watch.exposed.insert(field);
        }
    }

    /// A part is filled.
    pub(super) fn fills(part: Option<Part>, st: &mut State<'a>) {
        if let Some((field, from, to)) = part {
            st.filled[field][from..to].fill(true);
        }
    }

    /// Anything may be read from here on.
    pub(super) fn reads_anything(&mut self, st: &State<'a>) {
        self.watch.exposed.extend((0..st.filled.len()).filter(|f| !st.filled[*f].is_empty()));
    }
}
