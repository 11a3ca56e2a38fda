//! Values while code runs.
//!
//! A [`Value`] is a scalar, text, a portal, or a handle of an array or struct. Handles share: copying a handle is an alias, as
//! array parameters need it. Who stores a value (a declaration, an assignment, push, a struct argument, a result) copies with
//! [`Value::deep_copy`] or [`Value::copy_into`]. What must hold: an array's elements all have the type it was made with; the
//! identity of arrays inside a variable never changes after its declaration.

use super::error::EvalErrorKind;
use crate::constant::Const;
use crate::ids::PortalId;
use crate::ops::Scalar;
use crate::ty::{Dim, Ty};
use crate::typed::Globals;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The most elements an array may have, its inner arrays' elements counted.
pub const MAX_ITEMS: u64 = 1 << 24;

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// No value: a void result, or a variable that was not declared yet.
    Void,
    /// Any scalar.
    Scalar(Scalar),
    /// Text.
    Str(Arc<str>),
    /// A portal.
    Portal(PortalId),
    /// An array.
    Array(Aggregate),
    /// A struct.
    Struct(Aggregate),
}

/// A handle of an array's elements or a struct's fields.
pub type Aggregate = Rc<RefCell<Items>>;

/// Elements of an array, or (as `Any`) fields of a struct.
#[derive(Clone, Debug)]
pub enum Items {
    /// bits
    Bits(Vec<bool>),
    /// booleans
    Bools(Vec<bool>),
    /// ints
    Ints(Vec<i32>),
    /// floats
    Floats(Vec<f32>),
    /// doubles
    Doubles(Vec<f64>),
    /// Anything else.
    Any(Vec<Value>),
}

impl Items {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Items::Bits(v) | Items::Bools(v) => v.len(),
            Items::Ints(v) => v.len(),
            Items::Floats(v) => v.len(),
            Items::Doubles(v) => v.len(),
            Items::Any(v) => v.len(),
        }
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them; an aggregate as a shared handle.
    #[inline]
    pub fn get(&self, i: usize) -> Option<Value> {
        Some(match self {
            Items::Floats(v) => Value::Scalar(Scalar::Float(*v.get(i)?)),
            Items::Ints(v) => Value::Scalar(Scalar::Int(*v.get(i)?)),
            Items::Any(v) => v.get(i)?.clone(),
            Items::Bits(v) => Value::Scalar(Scalar::Bit(*v.get(i)?)),
            Items::Bools(v) => Value::Scalar(Scalar::Bool(*v.get(i)?)),
            Items::Doubles(v) => Value::Scalar(Scalar::Double(*v.get(i)?)),
        })
    }

    /// Stores one; aggregates are copied into the one there.
    #[inline]
    pub fn set(&mut self, i: usize, value: Value) -> Result<(), EvalErrorKind> {
        let wrong = EvalErrorKind::IllTyped("an element of another type");
        match (self, value) {
            (Items::Floats(v), Value::Scalar(Scalar::Float(x))) => v.get_mut(i).map(|p| *p = x).ok_or(wrong),
            (Items::Ints(v), Value::Scalar(Scalar::Int(x))) => v.get_mut(i).map(|p| *p = x).ok_or(wrong),
            (Items::Any(v), x) => x.copy_into(v.get_mut(i).ok_or(wrong)?),
            (Items::Bits(v), Value::Scalar(Scalar::Bit(x))) | (Items::Bools(v), Value::Scalar(Scalar::Bool(x))) => {
                v.get_mut(i).map(|p| *p = x).ok_or(wrong)
            }
            (Items::Doubles(v), Value::Scalar(Scalar::Double(x))) => v.get_mut(i).map(|p| *p = x).ok_or(wrong),
            _ => Err(wrong),
        }
    }

    fn deep_copy(&self) -> Items {
        match self {
            Items::Any(v) => Items::Any(v.iter().map(Value::deep_copy).collect()),
            other => other.clone(),
        }
    }

    /// Copies all elements from another array of the same type.
    fn copy_from(&mut self, from: &Items) -> Result<(), EvalErrorKind> {
        fn copy<T: Copy>(to: &mut [T], from: &[T]) {
            to.copy_from_slice(from);
        }
        if self.len() != from.len() {
            return Err(EvalErrorKind::SizesDiffer { to: self.len(), from: from.len() });
        }
        match (self, from) {
            (Items::Bits(a), Items::Bits(b)) | (Items::Bools(a), Items::Bools(b)) => copy(a, b),
            (Items::Ints(a), Items::Ints(b)) => copy(a, b),
            (Items::Floats(a), Items::Floats(b)) => copy(a, b),
            (Items::Doubles(a), Items::Doubles(b)) => copy(a, b),
            (Items::Any(a), Items::Any(b)) => {
                for (to, from) in a.iter_mut().zip(b) {
                    from.clone().copy_into(to)?;
                }
            }
            _ => return Err(EvalErrorKind::IllTyped("an array of another type")),
        }
        Ok(())
    }
}

/// What a type needs to become a value, besides the type.
pub struct Maker<'g> {
    /// For the fields of structs.
    pub globals: &'g Globals,
    /// Gives new portals their ids, where portals can be declared.
    pub portal: Option<&'g mut dyn FnMut() -> Option<PortalId>>,
}

impl Value {
    /// An int.
    pub fn int(i: i32) -> Value {
        Value::Scalar(Scalar::Int(i))
    }

    /// A handle of new items.
    fn handle(items: Items) -> Aggregate {
        Rc::new(RefCell::new(items))
    }

    /// A new array.
    pub fn array(items: Items) -> Value {
        Value::Array(Value::handle(items))
    }

    /// A new struct.
    pub fn structure(fields: Vec<Value>) -> Value {
        Value::Struct(Value::handle(Items::Any(fields)))
    }

    /// The scalar in it.
    #[inline]
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Value::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    /// A value of its own: nothing is shared with this one.
    pub fn deep_copy(&self) -> Value {
        match self {
            Value::Array(a) => Value::array(a.borrow().deep_copy()),
            Value::Struct(a) => Value::Struct(Value::handle(a.borrow().deep_copy())),
            other => other.clone(),
        }
    }

    /// The same value, shared with nothing: copied only where someone else has a handle of it.
    pub fn owned(self) -> Value {
        match &self {
            Value::Array(a) | Value::Struct(a) => {
                let flat = !matches!(*a.borrow(), Items::Any(_));
                if flat && Rc::strong_count(a) == 1 { self } else { self.deep_copy() }
            }
            _ => self,
        }
    }

    /// Stores this value in a variable. An array or struct that is there keeps its identity and takes over the contents.
    pub fn copy_into(self, to: &mut Value) -> Result<(), EvalErrorKind> {
        match (&self, &mut *to) {
            (Value::Array(from), Value::Array(to)) | (Value::Struct(from), Value::Struct(to)) => {
                if Rc::ptr_eq(from, to) {
                    return Ok(());
                }
                to.borrow_mut().copy_from(&from.borrow())
            }
            (Value::Array(_) | Value::Struct(_), _) => {
                *to = self.deep_copy();
                Ok(())
            }
            _ => {
                *to = self;
                Ok(())
            }
        }
    }

    /// As a constant; `None` for no value.
    pub fn to_const(&self) -> Option<Const> {
        Some(match self {
            Value::Void => return None,
            Value::Scalar(s) => s.into_const(),
            Value::Str(s) => Const::Str(s.clone()),
            Value::Portal(p) => Const::Portal(*p),
            Value::Array(a) => Const::Array(consts(&a.borrow())?),
            Value::Struct(a) => Const::Struct(consts(&a.borrow())?),
        })
    }

    /// A constant of type `ty` as a value of its own. Where the constant does not have that type, the type's zero.
    pub fn from_const(c: &Const, ty: &Ty, globals: &Globals) -> Value {
        match (c, ty) {
            (Const::Str(s), _) => Value::Str(s.clone()),
            (Const::Portal(p), _) => Value::Portal(*p),
            (Const::Array(items), Ty::Array(elem, _)) => {
                macro_rules! typed {
                    ($kind:ident, $c:ident) => {{
                        let values: Option<Vec<_>> =
                            items.iter().map(|c| if let Const::$c(x) = c { Some(*x) } else { None }).collect();
                        values.map(Items::$kind)
                    }};
                }
                let typed = match **elem {
                    Ty::Bit => typed!(Bits, Bit),
                    Ty::Bool => typed!(Bools, Bool),
                    Ty::Int => typed!(Ints, Int),
                    Ty::Float => typed!(Floats, Float),
                    Ty::Double => typed!(Doubles, Double),
                    _ => None,
                };
                Value::array(
                    typed.unwrap_or_else(|| {
                        Items::Any(items.iter().map(|c| Value::from_const(c, elem, globals)).collect())
                    }),
                )
            }
            (Const::Struct(fields), Ty::Struct(id)) => match globals.structs.get(id.index()) {
                Some(def) if def.fields.len() == fields.len() => Value::structure(
                    fields.iter().zip(&def.fields).map(|(c, (_, t))| Value::from_const(c, t, globals)).collect(),
                ),
                _ => Value::Void,
            },
            _ => match Scalar::of(c) {
                Some(s) if s.ty() == *ty => Value::Scalar(s),
                _ => Value::zero(ty, &mut Maker { globals, portal: None }).unwrap_or(Value::Void),
            },
        }
    }

    /// The zero of a type.
    pub fn zero(ty: &Ty, maker: &mut Maker<'_>) -> Result<Value, EvalErrorKind> {
        if let Some(s) = Scalar::zero(ty) {
            return Ok(Value::Scalar(s));
        }
        match ty {
            Ty::Array(..) | Ty::Struct(_) => {
                size(ty, maker.globals)?;
                make(ty, maker)
            }
            _ => make(ty, maker),
        }
    }
}

/// How many scalars a value of this type has; an error where that is unknown or more than [`MAX_ITEMS`].
pub fn size(ty: &Ty, globals: &Globals) -> Result<u64, EvalErrorKind> {
    let n = match ty {
        Ty::Array(elem, Dim::Known(n)) => {
            // an array of empty arrays still has as many handles
            let each = size(elem, globals)?.max(1);
            each.checked_mul(u64::from(*n)).ok_or(EvalErrorKind::ArrayTooLarge { items: None })?
        }
        Ty::Array(_, Dim::Unknown) => return Err(EvalErrorKind::IllTyped("an array of unknown size")),
        Ty::Struct(id) => {
            let def = globals.structs.get(id.index()).ok_or(EvalErrorKind::IllTyped("an unknown struct"))?;
            let mut sum: u64 = 1;
            for (_, t) in &def.fields {
                sum = sum.saturating_add(size(t, globals)?);
            }
            sum
        }
        _ => 1,
    };
    if n > MAX_ITEMS { Err(EvalErrorKind::ArrayTooLarge { items: Some(n) }) } else { Ok(n) }
}

/// The zero of a type whose size is known to be within the limit.
fn make(ty: &Ty, maker: &mut Maker<'_>) -> Result<Value, EvalErrorKind> {
    if let Some(s) = Scalar::zero(ty) {
        return Ok(Value::Scalar(s));
    }
    Ok(match ty {
        Ty::Str => Value::Str("".into()),
        Ty::Portal(_) => match maker.portal.as_mut().and_then(|p| p()) {
            Some(id) => Value::Portal(id),
            None => return Err(EvalErrorKind::NotAvailable("a portal".into())),
        },
        Ty::Array(elem, Dim::Known(n)) => {
            let n = *n as usize;
            Value::array(match **elem {
                Ty::Bit => Items::Bits(vec![false; n]),
                Ty::Bool => Items::Bools(vec![false; n]),
                Ty::Int => Items::Ints(vec![0; n]),
                Ty::Float => Items::Floats(vec![0.0; n]),
                Ty::Double => Items::Doubles(vec![0.0; n]),
                _ => Items::Any((0..n).map(|_| make(elem, maker)).collect::<Result<_, _>>()?),
            })
        }
        Ty::Struct(id) => match maker.globals.structs.get(id.index()) {
            Some(def) => Value::structure(def.fields.iter().map(|(_, t)| make(t, maker)).collect::<Result<_, _>>()?),
            None => return Err(EvalErrorKind::IllTyped("an unknown struct")),
        },
        Ty::Void => Value::Void,
        _ => return Err(EvalErrorKind::IllTyped("a value of no type")),
    })
}

fn consts(items: &Items) -> Option<Arc<[Const]>> {
    Some(match items {
        Items::Bits(v) => v.iter().map(|x| Const::Bit(*x)).collect(),
        Items::Bools(v) => v.iter().map(|x| Const::Bool(*x)).collect(),
        Items::Ints(v) => v.iter().map(|x| Const::Int(*x)).collect(),
        Items::Floats(v) => v.iter().map(|x| Const::Float(*x)).collect(),
        Items::Doubles(v) => v.iter().map(|x| Const::Double(*x)).collect(),
        Items::Any(v) => v.iter().map(Value::to_const).collect::<Option<_>>()?,
    })
}

/// The zero of a type as a constant; equal elements share. `None` where the type has no values, a size is unknown, or it has more
/// than [`MAX_ITEMS`] elements.
pub fn zero_const(globals: &Globals, ty: &Ty) -> Option<Const> {
    fn zero(globals: &Globals, ty: &Ty) -> Option<Const> {
        if let Some(s) = Scalar::zero(ty) {
            return Some(s.into_const());
        }
        Some(match ty {
            Ty::Str => Const::Str("".into()),
            Ty::Array(elem, Dim::Known(n)) => {
                let one = if *n == 0 { Const::Int(0) } else { zero(globals, elem)? };
                Const::Array(std::iter::repeat_n(one, *n as usize).collect())
            }
            Ty::Struct(id) => {
                let def = globals.structs.get(id.index())?;
                Const::Struct(def.fields.iter().map(|(_, t)| zero(globals, t)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
    size(ty, globals).ok()?;
    zero(globals, ty)
}
