//! # marshal
//!
//! Purpose: values of the interpreter in the layout that C gives them, and back. Input: arguments with their types. Output: [`Arguments`]:
//! blocks of memory, and where in them each argument begins.
//!
//! Arrays are passed by reference. An array that is passed twice, or together with a part of it, is one piece of memory, as it is in native
//! code. What must hold: values have the types they are said to have, with sizes known.

use sluice_codegen::c::layout::size_align;
use sluice_frontend::eval::value::Maker;
use sluice_frontend::eval::{Aggregate, Items, Value};
use sluice_frontend::ops::Scalar;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;
use std::collections::HashMap;
use std::rc::Rc;

/// Memory for C: aligned for every type.
pub type Block = Vec<u64>;

/// Arguments of a call.
pub struct Arguments {
    /// The memory.
    pub blocks: Vec<Block>,
    /// By argument: its block and the offset in it, in bytes.
    pub places: Vec<(usize, usize)>,
    /// The arrays at the start of blocks, with their types: they take over what C leaves there.
    arrays: Vec<(usize, Value, Ty)>,
}

/// Something that no argument can be.
fn malformed() -> String {
    "a native function got a value of another type".into()
}

/// Bytes of a type.
fn size(ty: &Ty, globals: &Globals) -> Result<usize, String> {
    let (size, _) = size_align(ty, globals).ok_or_else(malformed)?;
    usize::try_from(size).map_err(|_| malformed())
}

/// An empty block for a value.
pub fn block(ty: &Ty, globals: &Globals) -> Result<Block, String> {
    let bytes = if *ty == Ty::Void { 0 } else { size(ty, globals)? };
    Ok(vec![0; bytes.div_ceil(8).max(1)])
}

fn pack(bytes: &[u8]) -> Block {
    let words = bytes.chunks(8).map(|c| {
        let mut word = [0; 8];
        word[..c.len()].copy_from_slice(c);
        u64::from_ne_bytes(word)
    });
    let mut words: Block = words.collect();
    words.resize(words.len().max(1), 0);
    words
}

fn unpack(block: &[u64]) -> Vec<u8> {
    block.iter().flat_map(|w| w.to_ne_bytes()).collect()
}

impl Arguments {
    /// Lays out the arguments of a call.
    pub fn new(values: &[Value], types: &[&Ty], globals: &Globals) -> Result<Arguments, String> {
        if values.len() != types.len() {
            return Err(malformed());
        }
        // wholes before their parts
        let depth = |mut ty: &Ty| {
            let mut n = 0;
            while let Ty::Array(e, _) = ty {
                (ty, n) = (e, n + 1);
            }
            n
        };
        let mut order: Vec<(usize, usize, usize)> = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            order.push((size(ty, globals)?, depth(ty), i));
        }
        order.sort_by_key(|(bytes, depth, i)| (std::cmp::Reverse((*bytes, *depth)), *i));
        let mut out = Arguments { blocks: Vec::new(), places: vec![(0, 0); values.len()], arrays: Vec::new() };
        let mut known: HashMap<*const (), (usize, usize)> = HashMap::new();
        for (bytes, _, i) in order {
            let (value, ty) = (&values[i], types[i]);
            if let Value::Array(a) = value
                && let Some(place) = known.get(&identity(a))
            {
                out.places[i] = *place;
                continue;
            }
            let mut memory = vec![0; bytes];
            let number = out.blocks.len();
            let by_ref = matches!(ty, Ty::Array(..));
            let mut note = |a: &Aggregate, at: usize| {
                if by_ref {
                    known.insert(identity(a), (number, at));
                }
            };
            write(value, ty, &mut memory, 0, globals, &mut note)?;
            out.blocks.push(pack(&memory));
            out.places[i] = (number, 0);
            if by_ref {
                out.arrays.push((number, value.clone(), ty.clone()));
            }
        }
        Ok(out)
    }

    /// After the call: the arrays take over what the function left in them.
    pub fn take_back(&self, globals: &Globals) -> Result<(), String> {
        for (number, value, ty) in &self.arrays {
            let bytes = unpack(&self.blocks[*number]);
            let mut value = value.clone();
            read(&mut value, ty, &bytes, 0, globals)?;
        }
        Ok(())
    }
}

/// The value in a block.
pub fn result(ty: &Ty, block: &[u64], globals: &Globals) -> Result<Value, String> {
    if *ty == Ty::Void {
        return Ok(Value::Void);
    }
    let mut value = Value::zero(ty, &mut Maker { globals, portal: None }).map_err(|k| k.to_string())?;
    read(&mut value, ty, &unpack(block), 0, globals)?;
    Ok(value)
}

fn identity(a: &Aggregate) -> *const () {
    Rc::as_ptr(a).cast()
}

/// Offsets and types of a struct's fields.
fn fields<'g>(ty: &Ty, globals: &'g Globals) -> Result<Vec<(usize, &'g Ty)>, String> {
    let Ty::Struct(id) = ty else { return Err(malformed()) };
    let def = globals.structs.get(id.index()).ok_or_else(malformed)?;
    let mut at: u64 = 0;
    let mut out = Vec::with_capacity(def.fields.len());
    for (_, t) in &def.fields {
        let (bytes, align) = size_align(t, globals).ok_or_else(malformed)?;
        at = at.next_multiple_of(align);
        out.push((usize::try_from(at).map_err(|_| malformed())?, t));
        at += bytes;
    }
    Ok(out)
}

fn put<const N: usize>(to: &mut [u8], at: usize, bytes: [u8; N]) -> Result<(), String> {
    to.get_mut(at..at + N).ok_or_else(malformed)?.copy_from_slice(&bytes);
    Ok(())
}

fn get<const N: usize>(from: &[u8], at: usize) -> Result<[u8; N], String> {
    from.get(at..at + N).and_then(|b| b.try_into().ok()).ok_or_else(malformed)
}

/// Writes a value from `at` on; `note` is told where each array begins.
fn write(
    value: &Value,
    ty: &Ty,
    to: &mut [u8],
    at: usize,
    globals: &Globals,
    note: &mut dyn FnMut(&Aggregate, usize),
) -> Result<(), String> {
    match (value, ty) {
        (Value::Scalar(s), _) => write_scalar(*s, to, at),
        (Value::Array(a), Ty::Array(elem, Dim::Known(n))) => {
            note(a, at);
            let items = a.borrow();
            if items.len() != *n as usize {
                return Err(malformed());
            }
            match &*items {
                Items::Bits(v) | Items::Bools(v) => {
                    v.iter().enumerate().try_for_each(|(i, b)| put(to, at + i, [u8::from(*b)]))
                }
                Items::Ints(v) => v.iter().enumerate().try_for_each(|(i, x)| put(to, at + 4 * i, x.to_ne_bytes())),
                Items::Floats(v) => v.iter().enumerate().try_for_each(|(i, x)| put(to, at + 4 * i, x.to_ne_bytes())),
                Items::Doubles(v) => v.iter().enumerate().try_for_each(|(i, x)| put(to, at + 8 * i, x.to_ne_bytes())),
                Items::Any(v) => {
                    let each = size(elem, globals)?;
                    v.iter().enumerate().try_for_each(|(i, x)| write(x, elem, to, at + i * each, globals, note))
                }
            }
        }
        (Value::Struct(a), Ty::Struct(_)) => {
            let items = a.borrow();
            for (i, (offset, t)) in fields(ty, globals)?.into_iter().enumerate() {
                let field = items.get(i).ok_or_else(malformed)?;
                write(&field, t, to, at + offset, globals, note)?;
            }
            Ok(())
        }
        _ => Err(malformed()),
    }
}

fn write_scalar(s: Scalar, to: &mut [u8], at: usize) -> Result<(), String> {
    match s {
        Scalar::Bit(b) | Scalar::Bool(b) => put(to, at, [u8::from(b)]),
        Scalar::Int(x) => put(to, at, x.to_ne_bytes()),
        Scalar::Float(x) => put(to, at, x.to_ne_bytes()),
        Scalar::Double(x) => put(to, at, x.to_ne_bytes()),
        Scalar::Complex(re, im) => put(to, at, re.to_ne_bytes()).and_then(|()| put(to, at + 4, im.to_ne_bytes())),
        Scalar::Vec(n, v) => {
            (v.iter().take(n.into()).enumerate()).try_for_each(|(i, x)| put(to, at + 4 * i, x.to_ne_bytes()))
        }
    }
}

/// Reads a value from `at` on. Arrays and structs keep their identity.
fn read(value: &mut Value, ty: &Ty, from: &[u8], at: usize, globals: &Globals) -> Result<(), String> {
    match (&mut *value, ty) {
        (Value::Array(a), Ty::Array(elem, Dim::Known(_))) => match &mut *a.borrow_mut() {
            Items::Bits(v) | Items::Bools(v) => v.iter_mut().enumerate().try_for_each(|(i, b)| {
                *b = get::<1>(from, at + i)? != [0];
                Ok(())
            }),
            Items::Ints(v) => v.iter_mut().enumerate().try_for_each(|(i, x)| {
                *x = i32::from_ne_bytes(get(from, at + 4 * i)?);
                Ok(())
            }),
            Items::Floats(v) => v.iter_mut().enumerate().try_for_each(|(i, x)| {
                *x = f32::from_ne_bytes(get(from, at + 4 * i)?);
                Ok(())
            }),
            Items::Doubles(v) => v.iter_mut().enumerate().try_for_each(|(i, x)| {
                *x = f64::from_ne_bytes(get(from, at + 8 * i)?);
                Ok(())
            }),
            Items::Any(v) => {
                let each = size(elem, globals)?;
                v.iter_mut().enumerate().try_for_each(|(i, x)| read(x, elem, from, at + i * each, globals))
            }
        },
        (Value::Struct(a), Ty::Struct(_)) => {
            let Items::Any(items) = &mut *a.borrow_mut() else { return Err(malformed()) };
            for (item, (offset, t)) in items.iter_mut().zip(fields(ty, globals)?) {
                read(item, t, from, at + offset, globals)?;
            }
            Ok(())
        }
        (Value::Scalar(_), _) => {
            *value = Value::Scalar(read_scalar(ty, from, at)?);
            Ok(())
        }
        _ => Err(malformed()),
    }
}

fn read_scalar(ty: &Ty, from: &[u8], at: usize) -> Result<Scalar, String> {
    let float = |i: usize| get(from, at + 4 * i).map(f32::from_ne_bytes);
    Ok(match ty {
        Ty::Bit => Scalar::Bit(get::<1>(from, at)? != [0]),
        Ty::Bool => Scalar::Bool(get::<1>(from, at)? != [0]),
        Ty::Int => Scalar::Int(i32::from_ne_bytes(get(from, at)?)),
        Ty::Float => Scalar::Float(float(0)?),
        Ty::Double => Scalar::Double(f64::from_ne_bytes(get(from, at)?)),
        Ty::Complex => Scalar::Complex(float(0)?, float(1)?),
        Ty::Vec(n) => {
            let mut v = [0.0; 4];
            for (i, x) in v.iter_mut().take((*n).into()).enumerate() {
                *x = float(i)?;
            }
            Scalar::Vec(*n, v)
        }
        _ => return Err(malformed()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::ids::StructId;
    use sluice_frontend::typed::StructDef;
    use sluice_grammar::span::Span;

    fn globals() -> Globals {
        let field = |n: &str, ty: Ty| (n.into(), ty);
        let fields = vec![
            field("flag", Ty::Bool),
            field("wide", Ty::Double),
            field("rows", Ty::Int.array(2).array(2)),
            field("end", Ty::Bit),
        ];
        Globals { structs: vec![StructDef { name: "S".into(), fields, span: Span::default() }], ..Globals::default() }
    }

    #[test]
    fn structs_have_the_padding_of_c() {
        let g = globals();
        let ty = Ty::Struct(StructId(0));
        let rows = Value::array(Items::Any(vec![
            Value::array(Items::Ints(vec![1, 2])),
            Value::array(Items::Ints(vec![3, -4])),
        ]));
        let parts = vec![
            Value::Scalar(Scalar::Bool(true)),
            Value::Scalar(Scalar::Double(0.5)),
            rows,
            Value::Scalar(Scalar::Bit(true)),
        ];
        let s = Value::structure(parts);
        let a = Arguments::new(std::slice::from_ref(&s), &[&ty], &g).unwrap();
        let mut want = vec![1, 0, 0, 0, 0, 0, 0, 0];
        want.extend(0.5f64.to_ne_bytes());
        [1i32, 2, 3, -4].iter().for_each(|x| want.extend(x.to_ne_bytes()));
        want.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(unpack(&a.blocks[0]), want);
        assert_eq!(result(&ty, &a.blocks[0], &g).unwrap().to_const(), s.to_const());
    }

    #[test]
    fn an_array_and_its_row_are_one_memory() {
        let g = globals();
        let row = Value::array(Items::Floats(vec![3.0, 4.0]));
        let whole = Value::array(Items::Any(vec![Value::array(Items::Floats(vec![1.0, 2.0])), row.clone()]));
        let (row_ty, whole_ty) = (Ty::Float.array(2), Ty::Float.array(2).array(2));
        let mut a = Arguments::new(&[row.clone(), whole.clone()], &[&row_ty, &whole_ty], &g).unwrap();
        assert_eq!((a.blocks.len(), &a.places[..]), (1, &[(0, 8), (0, 0)][..]));
        a.blocks[0][1] = u64::from_ne_bytes([7f32.to_ne_bytes(), 8f32.to_ne_bytes()].concat().try_into().unwrap());
        a.take_back(&g).unwrap();
        let Value::Array(items) = &row else { panic!("an array") };
        assert!(matches!(&*items.borrow(), Items::Floats(v) if v == &[7.0, 8.0]));
    }

    #[test]
    fn a_struct_is_a_copy() {
        let g = globals();
        let ty = Ty::Struct(StructId(0));
        let s = result(&ty, &block(&ty, &g).unwrap(), &g).unwrap();
        let a = Arguments::new(&[s.clone(), s], &[&ty, &ty], &g).unwrap();
        assert_eq!(a.blocks.len(), 2);
    }

    #[test]
    fn other_types_are_refused() {
        let g = globals();
        let short = Value::array(Items::Ints(vec![1]));
        assert!(Arguments::new(&[short], &[&Ty::Int.array(2)], &g).is_err());
        assert!(Arguments::new(&[Value::Void], &[&Ty::Int], &g).is_err());
        assert!(Arguments::new(&[], &[&Ty::Int], &g).is_err());
    }
}
