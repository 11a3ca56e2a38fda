//! # types
//!
//! Purpose: C types and constants. Input: [`Ty`]s and [`Const`]s. Output: C text whose values have exactly the same bits.
//!
//! ```text
//! float[3][2], {{0.1, 1, 2}, {3, 4, 5}}  →  sl_arr_3_2_float, {{{0x1.99999ap-4f, 0x1p+0f, ...}}}
//! ```
//!
//! Arrays are structs with one member `v`, so that C assigns them as values; the layout is the plain array's.

use sluice_frontend::constant::Const;
use sluice_frontend::ids::StaticId;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;
use sluice_kernel::ir::{Kernel, StructType};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The C type of a value: `int32_t`, `sl_complex`, `struct sl_struct_3`, `sl_arr_8_float`, ...
pub fn c_type(ty: &Ty) -> String {
    match ty {
        Ty::Void | Ty::Error => "void".into(),
        Ty::Bit | Ty::Bool => "uint8_t".into(),
        Ty::Int | Ty::Portal(_) => "int32_t".into(),
        Ty::Float => "float".into(),
        Ty::Double => "double".into(),
        Ty::Complex => "sl_complex".into(),
        Ty::Vec(n) => format!("sl_float{n}"),
        Ty::Str => "const char *".into(),
        Ty::Struct(id) => format!("struct sl_struct_{}", id.0),
        Ty::Array(..) => {
            let mut out = String::from("sl_arr");
            let mut at = ty;
            while let Ty::Array(e, dim) = at {
                let n = if let Dim::Known(n) = dim { *n } else { 0 };
                let _ = write!(out, "_{n}");
                at = e;
            }
            let element = c_type(at);
            let _ = write!(out, "_{}", element.strip_prefix("struct ").unwrap_or(&element));
            out
        }
    }
}

/// Is this an array of numbers as long as a line of the cache (64 bytes), or longer?
pub fn fills_line(ty: &Ty) -> bool {
    let (mut at, mut elements) = (ty, 1u64);
    while let Ty::Array(e, dim) = at {
        let n = if let Dim::Known(n) = dim { *n } else { 0 };
        (at, elements) = (e, elements.saturating_mul(u64::from(n)));
    }
    let bytes = match at {
        Ty::Int | Ty::Float => 4,
        Ty::Double | Ty::Complex => 8,
        Ty::Vec(n) => 4 * u64::from(*n),
        Ty::Bit | Ty::Bool => 1,
        _ => 0,
    };
    matches!(ty, Ty::Array(..)) && elements.saturating_mul(bytes) >= 64
}

/// The C name of a struct's field.
pub fn field_name(index: usize, name: &str) -> String {
    format!("{name}_{index}")
}

/// The C name of the field of a state that leads to a table of the filter's own; no field that a program has is called so.
pub fn own_name(number: u32) -> String {
    format!("own_{number}_")
}

/// Definitions of all the structs, and of the array types that occur in them and in `types`, each once, in an order in which C accepts them.
pub fn emit_types<'a>(structs: &[StructType], types: impl IntoIterator<Item = &'a Ty>) -> String {
    let mut out = String::new();
    let mut done = BTreeSet::new();
    for i in 0..structs.len() {
        define(&Ty::Struct(sluice_frontend::ids::StructId(i as u32)), structs, &mut done, &mut out);
    }
    for ty in types {
        define(ty, structs, &mut done, &mut out);
    }
    out
}

fn define(ty: &Ty, structs: &[StructType], done: &mut BTreeSet<String>, out: &mut String) {
    match ty {
        Ty::Array(e, dim) => {
            define(e, structs, done, out);
            let name = c_type(ty);
            if done.insert(name.clone()) {
                let n = if let Dim::Known(n) = dim { *n } else { 0 };
                let _ = writeln!(out, "typedef struct {{ {} v[{n}]; }} {name};", c_type(e));
            }
        }
        Ty::Struct(id) => {
            let name = c_type(ty);
            if !done.insert(name.clone()) {
                return;
            }
            let Some(def) = structs.get(id.index()) else { return };
            for (_, t) in &def.fields {
                define(t, structs, done, out);
            }
            let _ = writeln!(out, "{name} {{ /* {} */", def.name);
            for (i, (n, t)) in def.fields.iter().enumerate() {
                let _ = writeln!(out, "    {} {};", c_type(t), field_name(i, n));
            }
            if def.fields.is_empty() {
                out.push_str("    uint8_t empty[0];\n");
            }
            out.push_str("};\n");
        }
        _ => {}
    }
}

/// All the types that a kernel's code mentions, for [`emit_types`].
pub fn used_types(kernel: &Kernel) -> Vec<Ty> {
    let mut out = vec![kernel.input.clone(), kernel.output.clone()];
    out.extend(kernel.state.iter().map(|s| s.ty.clone()));
    out.extend(kernel.tables.iter().map(|t| t.ty.clone()));
    for f in &kernel.functions {
        out.extend(f.locals.iter().map(|l| l.ty.clone()));
        out.push(f.ret.clone());
        sluice_kernel::walk::each_expr(&f.body, &mut |e| {
            if e.ty.is_aggregate() {
                out.push(e.ty.clone());
            }
        });
    }
    out
}

/// The C name of a `static` variable.
pub fn static_name(id: StaticId, name: &str) -> String {
    format!("sl_static_{}_{name}", id.0)
}

/// Definitions of the `static` variables that filters read.
pub fn emit_statics(globals: &Globals, used: &BTreeSet<StaticId>) -> String {
    let mut out = String::new();
    for id in used {
        if let Some(s) = globals.statics.get(id.index()) {
            out.push_str(&table(&static_name(*id, &s.name), &s.ty, &s.value));
        }
    }
    out
}

/// `static const T name = value;`
pub(super) fn table(name: &str, ty: &Ty, value: &Const) -> String {
    table_in("static const", name, ty, value)
}

/// A table with what stands before its type.
pub(crate) fn table_in(place: &str, name: &str, ty: &Ty, value: &Const) -> String {
    format!("{place} {} {name} __attribute__((unused)) = {};\n", c_type(ty), initializer(value))
}

/// A constant as a C initialiser (for variables with static storage too).
pub fn initializer(value: &Const) -> String {
    let mut out = String::new();
    write_initializer(&mut out, value);
    out
}

fn write_initializer(out: &mut String, value: &Const) {
    match value {
        Const::Array(items) => {
            // trailing zeros are left out: C fills them in
            let keep = items.iter().rposition(|c| !is_zero(c)).map_or(0, |i| i + 1);
            if keep == 0 {
                out.push_str(if items.is_empty() { "{}" } else { "{{}}" });
                return;
            }
            out.push_str("{{");
            for (i, c) in items[..keep].iter().enumerate() {
                out.push_str(match i {
                    0 => "",
                    _ if i % 8 == 0 => ",\n    ",
                    _ => ", ",
                });
                write_initializer(out, c);
            }
            out.push_str("}}");
        }
        Const::Struct(items) => {
            out.push('{');
            for (i, c) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_initializer(out, c);
            }
            out.push('}');
        }
        Const::Complex(re, im) => {
            let _ = write!(out, "{{{}, {}}}", float(*re), float(*im));
        }
        Const::Vec(n, v) => {
            let parts: Vec<String> = v.iter().take(usize::from(*n)).map(|x| float(*x)).collect();
            let _ = write!(out, "{{{}}}", parts.join(", "));
        }
        c => out.push_str(&scalar(c)),
    }
}

/// All bits zero?
fn is_zero(c: &Const) -> bool {
    match c {
        Const::Bit(b) | Const::Bool(b) => !b,
        Const::Int(i) => *i == 0,
        Const::Float(x) => x.to_bits() == 0,
        Const::Double(x) => x.to_bits() == 0,
        Const::Complex(a, b) => a.to_bits() == 0 && b.to_bits() == 0,
        Const::Vec(_, v) => v.iter().all(|x| x.to_bits() == 0),
        Const::Array(items) | Const::Struct(items) => items.iter().all(is_zero),
        Const::Str(_) | Const::Portal(_) => false,
    }
}

/// A scalar constant as a C expression.
pub fn scalar(c: &Const) -> String {
    match c {
        Const::Bit(b) | Const::Bool(b) => (if *b { "1" } else { "0" }).into(),
        Const::Int(i32::MIN) => "(-2147483647 - 1)".into(),
        Const::Int(i) if *i < 0 => format!("({i})"),
        Const::Int(i) => i.to_string(),
        Const::Float(x) => float(*x),
        Const::Double(x) => double(*x),
        Const::Complex(re, im) => format!("sl_complex_of({}, {})", float(*re), float(*im)),
        Const::Vec(n, v) => {
            let parts: Vec<String> = v.iter().take(usize::from(*n)).map(|x| float(*x)).collect();
            format!("sl_float{n}_of({})", parts.join(", "))
        }
        Const::Str(s) => text(s),
        Const::Array(_) | Const::Struct(_) | Const::Portal(_) => "0".into(),
    }
}

/// A float's bits as C: decimal where the shortest decimal is short, hexadecimal otherwise.
pub fn float(x: f32) -> String {
    if x.is_nan() {
        // neither sign nor payload can be seen: a NaN is written with one bit pattern
        return "SL_NAN_F".into();
    }
    if x.is_infinite() {
        return (if x > 0.0 { "SL_INF_F" } else { "(-SL_INF_F)" }).into();
    }
    let text = if x == x.trunc() && x.abs() < 1e7 { format!("{x:.1}f") } else { format!("{}f", hex(x.into())) };
    if x.is_sign_negative() { format!("({text})") } else { text }
}

/// A double's bits as C.
pub fn double(x: f64) -> String {
    if x.is_nan() {
        return "SL_NAN".into();
    }
    if x.is_infinite() {
        return (if x > 0.0 { "SL_INF" } else { "(-SL_INF)" }).into();
    }
    let text = if x == x.trunc() && x.abs() < 1e15 { format!("{x:.1}") } else { hex(x) };
    if x.is_sign_negative() { format!("({text})") } else { text }
}

/// C's hexadecimal form of a finite number.
fn hex(x: f64) -> String {
    let sign = if x.is_sign_negative() { "-" } else { "" };
    if x == 0.0 {
        return format!("{sign}0x0p+0");
    }
    let raw = x.to_bits();
    let mut exponent = ((raw >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = raw & ((1 << 52) - 1);
    let lead = if exponent == -1023 {
        exponent = -1022;
        0
    } else {
        1
    };
    let mut digits = 13;
    while digits > 0 && mantissa & 0xf == 0 {
        mantissa >>= 4;
        digits -= 1;
    }
    let fraction = if digits == 0 { String::new() } else { format!(".{mantissa:0digits$x}") };
    format!("{sign}0x{lead}{fraction}p{exponent:+}")
}

/// A C string literal.
pub fn text(s: &str) -> String {
    let mut out = String::from("\"");
    for b in s.bytes() {
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'?' => out.push_str("\\?"),
            0x20..=0x7e => out.push(b as char),
            _ => {
                let _ = write!(out, "\\{b:03o}");
            }
        }
    }
    out.push('"');
    out
}
