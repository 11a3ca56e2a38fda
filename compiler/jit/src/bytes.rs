//! # bytes
//!
//! Purpose: values as they lie in memory. Input: types and constants. Output: places of fields, bytes. What must hold: the layout is C's
//! for the types of `codegen::c::types`, as [`layout::size_align`] has it.

use sluice_codegen::c::layout;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;

/// Bytes and alignment of a value; types without values have none.
pub fn size_align(ty: &Ty, globals: &Globals) -> (u64, u64) {
    match ty {
        // what stands for one is not used
        Ty::Portal(_) => (4, 4),
        _ => layout::size_align(ty, globals).unwrap_or((0, 1)),
    }
}

/// Where the values of these types are, one after the other as C lays out a struct; and the size and alignment of all.
pub fn fields<'t>(types: impl IntoIterator<Item = &'t Ty>, globals: &Globals, first: u64) -> (Vec<u64>, u64, u64) {
    let (mut at, mut most, mut places) = (first, first.max(1), Vec::new());
    for ty in types {
        let (size, align) = size_align(ty, globals);
        at = at.next_multiple_of(align);
        places.push(at);
        at += size;
        most = most.max(align);
    }
    (places, at.next_multiple_of(most), most)
}

/// Where a struct's field is.
pub fn field(id: sluice_frontend::ids::StructId, field: u32, globals: &Globals) -> u64 {
    let Some(def) = globals.structs.get(id.index()) else { return 0 };
    let (places, ..) = fields(def.fields.iter().map(|(_, t)| t), globals, 0);
    places.get(field as usize).copied().unwrap_or(0)
}

/// Writes a constant of this type at the start of `to`, which is zero.
pub fn write(value: &Const, ty: &Ty, globals: &Globals, to: &mut [u8]) {
    let mut put = |bytes: &[u8]| to[..bytes.len()].copy_from_slice(bytes);
    match value {
        Const::Bit(b) | Const::Bool(b) => put(&[u8::from(*b)]),
        Const::Int(i) => put(&i.to_ne_bytes()),
        Const::Float(x) => put(&x.to_ne_bytes()),
        Const::Double(x) => put(&x.to_ne_bytes()),
        Const::Complex(re, im) => {
            put(&re.to_ne_bytes());
            to[4..8].copy_from_slice(&im.to_ne_bytes());
        }
        Const::Vec(n, v) => {
            for (i, x) in v.iter().take(usize::from(*n)).enumerate() {
                to[4 * i..][..4].copy_from_slice(&x.to_ne_bytes());
            }
        }
        Const::Array(items) => {
            if let Some(element) = ty.element() {
                let size = size_align(element, globals).0 as usize;
                for (i, c) in items.iter().enumerate() {
                    write(c, element, globals, &mut to[i * size..]);
                }
            }
        }
        Const::Struct(items) => {
            let Ty::Struct(id) = ty else { return };
            let Some(def) = globals.structs.get(id.index()) else { return };
            let (places, ..) = fields(def.fields.iter().map(|(_, t)| t), globals, 0);
            for ((c, (_, t)), at) in items.iter().zip(&def.fields).zip(places) {
                write(c, t, globals, &mut to[at as usize..]);
            }
        }
        Const::Str(_) | Const::Portal(_) => {}
    }
}

/// The bytes of a constant.
pub fn of(value: &Const, ty: &Ty, globals: &Globals) -> Vec<u8> {
    let mut out = vec![0; size_align(ty, globals).0 as usize];
    write(value, ty, globals, &mut out);
    out
}
