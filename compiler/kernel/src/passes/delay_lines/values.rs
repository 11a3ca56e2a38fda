//! What the elements of fields hold, said in items of the input.

use crate::ir::*;
use sluice_frontend::ops::{self, Scalar};
use sluice_frontend::ty::Ty;

/// Operations and loads of a value that is computed again instead of being kept, at most.
const MOST_MADE: usize = 24;

/// What a scalar variable or an element of a field holds, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Anything.
    Unknown,
    /// An int that is the same in every firing of this number of the period.
    Int(i32),
    /// The same, a boolean.
    Bool(bool),
    /// The item at a position from the first one of the period.
    Item(i64),
    /// What an element held when the period began.
    Old(u32),
    /// What is made of items: an index into those that were seen.
    Made(u32),
}

impl Value {
    /// Of a scalar that is known.
    pub fn of(known: Option<Scalar>) -> Value {
        match known {
            Some(Scalar::Int(i)) => Value::Int(i),
            Some(Scalar::Bool(b)) => Value::Bool(b),
            _ => Value::Unknown,
        }
    }

    /// The scalar that it is.
    pub fn known(self) -> Option<Scalar> {
        match self {
            Value::Int(i) => Some(Scalar::Int(i)),
            Value::Bool(b) => Some(Scalar::Bool(b)),
            _ => None,
        }
    }
}

/// A value made of items: an expression in which `in(k)` is the item at the k-th of some positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The expression.
    pub form: Expr,
    /// The positions.
    pub items: Vec<i64>,
}

impl Made {
    /// An item itself.
    pub fn item(position: i64, ty: &Ty) -> Made {
        Made {
            form: Expr::load(Place { base: Base::In(Box::new(Expr::int(0))), path: Vec::new() }, ty.clone()),
            items: vec![position],
        }
    }

    /// The same, counted from another item.
    pub fn behind(mut self, by: i64) -> Made {
        self.items.iter_mut().for_each(|i| *i -= by);
        self
    }

    /// Is it no more than an item?
    pub fn is_item(&self) -> bool {
        matches!(&self.form.kind, ExprKind::Load(Place { base: Base::In(_), path }) if path.is_empty())
    }

    /// Is it so little that it can be computed again?
    pub fn is_small(&self) -> bool {
        self.form.size() <= 2 * MOST_MADE && !self.items.is_empty()
    }

    /// Its value where the items are these.
    pub fn value(&self, item: &dyn Fn(i64) -> Option<Scalar>) -> Option<Scalar> {
        eval(&self.form, &|k| item(*self.items.get(usize::try_from(k).ok()?)?))
    }
}

/// May a value of this kind be made again? Not what costs more than to keep it.
pub fn is_cheap(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Unary(..) | ExprKind::Convert(_) | ExprKind::Select(..) | ExprKind::Component(..) => true,
        ExprKind::Binary(op, ..) => !matches!(op, BinaryOp::Div | BinaryOp::Rem),
        ExprKind::Builtin(f, _) => matches!(f, Builtin::Abs | Builtin::Min | Builtin::Max),
        _ => false,
    }
}

/// The value of an expression of items and constants.
fn eval(e: &Expr, item: &dyn Fn(i32) -> Option<Scalar>) -> Option<Scalar> {
    let of = |e: &Expr| eval(e, item);
    match &e.kind {
        ExprKind::Const(c) => Scalar::of(c),
        ExprKind::Zero => Scalar::zero(&e.ty),
        ExprKind::Load(Place { base: Base::In(k), path }) => {
            let whole = item(k.as_int()?)?;
            match path[..] {
                [] => Some(whole),
                [Proj::Component(c)] => Some(Scalar::Float(whole.component(c)?)),
                _ => None,
            }
        }
        ExprKind::Unary(op, a) => ops::scalar_unary(*op, of(a)?),
        ExprKind::Binary(op, a, b) => ops::scalar_binary(*op, of(a)?, of(b)?).ok().flatten(),
        ExprKind::Select(c, a, b) => match of(c)? {
            Scalar::Bool(yes) => of(if yes { a } else { b }),
            _ => None,
        },
        ExprKind::Convert(a) => ops::scalar_convert(of(a)?, &e.ty),
        ExprKind::Component(a, c) => Some(Scalar::Float(of(a)?.component(*c)?)),
        ExprKind::Builtin(f, args) => {
            let args: Option<Vec<_>> = args.iter().map(|a| Some(of(a)?.into_const())).collect();
            ops::builtin(*f, &args?).and_then(|c| Scalar::of(&c))
        }
        _ => None,
    }
}

/// The elements of a kernel's fields in a row.
pub struct Elements {
    fields: Vec<Field>,
    total: usize,
}

struct Field {
    first: usize,
    /// Lengths, the outermost first.
    lengths: Vec<u32>,
}

impl Elements {
    /// Those of all fields, where they are scalars and arrays of such, no more than so many.
    pub fn of(kernel: &Kernel, most: usize) -> Option<Elements> {
        let mut all = Elements { fields: Vec::new(), total: 0 };
        for s in &kernel.state {
            let (mut ty, mut lengths, mut count) = (&s.ty, Vec::new(), 1usize);
            while let Some(element) = ty.element() {
                lengths.push(ty.known_len()?);
                count = count.checked_mul(ty.known_len()? as usize)?;
                ty = element;
            }
            if ty.is_aggregate() {
                return None;
            }
            all.fields.push(Field { first: all.total, lengths });
            all.total = all.total.checked_add(count).filter(|n| *n <= most)?;
        }
        Some(all)
    }

    /// How many they are.
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many indices lead to an element.
    pub fn depth(&self, id: StateId) -> usize {
        self.fields[id.index()].lengths.len()
    }

    /// Those of a field.
    pub fn of_field(&self, id: StateId) -> std::ops::Range<usize> {
        let f = &self.fields[id.index()];
        f.first..f.first + f.lengths.iter().map(|n| *n as usize).product::<usize>()
    }

    /// The element at these indices.
    pub fn at(&self, id: StateId, indices: &[i32]) -> Option<usize> {
        let f = &self.fields[id.index()];
        let mut at = 0;
        for (i, n) in indices.iter().zip(&f.lengths) {
            at = at * *n as usize + usize::try_from(*i).ok().filter(|i| *i < *n as usize)?;
        }
        (indices.len() == f.lengths.len()).then_some(f.first + at)
    }

    /// What an element holds before the first firing.
    pub fn initial(&self, kernel: &Kernel, element: usize) -> Option<Scalar> {
        let field = self.fields.partition_point(|f| f.first <= element).checked_sub(1)?;
        // fields of no elements begin where the next one does
        let f = &self.fields[field];
        let (mut rest, mut size) = (element - f.first, f.lengths.iter().map(|n| *n as usize).product::<usize>());
        let mut value = &kernel.state[field].initial;
        for n in &f.lengths {
            size /= *n as usize;
            let sluice_frontend::constant::Const::Array(all) = value else { return None };
            value = all.get(rest / size)?;
            rest %= size;
        }
        Scalar::of(value)
    }
}
