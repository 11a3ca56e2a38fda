//! # natives
//!
//! Purpose: native functions in generated C: their declarations, and the library by which the interpreter calls them.
//! Input: the program's [`Globals`], and which functions it calls. Output: C text.
//!
//! ```text
//! native M { float f(float x, int[2][3] a); }   →   extern float sl_native_0_f(float, int32_t *) SL_SYMBOL(f);
//! ```
//!
//! Generated code has names of its own for them, bound to the C functions' symbols: so a native function can have the name of any function
//! or macro that the C library's headers know. An array is passed as a pointer to its first scalar or struct, a struct by value. The types
//! are those of [`super::native_header`] by layout.
//!
//! C may leave any value in a byte that should be 0 or 1. Such bytes are made 0 or 1 after each call ([`clean`]): what follows takes it for granted.

use super::layout::size_align;
use super::rts;
use super::types::{c_type, emit_types, field_name};
use sluice_frontend::ids::NativeId;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::{Globals, Name, StructDef};
use sluice_kernel::ir::{Native, StructType};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What generated code calls a native function.
pub fn c_name(native: &Native) -> String {
    format!("sl_native_{}_{}", native.id.0, native.name)
}

/// Structs as kernels have them.
pub fn structs(globals: &Globals) -> Vec<StructType> {
    let field = |(n, t): &(Name, Ty)| (n.to_string(), t.clone());
    let of = |s: &StructDef| StructType { name: s.name.to_string(), fields: s.fields.iter().map(field).collect() };
    globals.structs.iter().map(of).collect()
}

fn functions(globals: &Globals, called: impl IntoIterator<Item = NativeId>) -> Vec<Native> {
    let of = |id: NativeId| {
        let n = globals.natives.get(id.index())?;
        let params = n.params.iter().map(|(_, t)| t.clone()).collect();
        Some(Native { id, name: n.name.to_string(), params, ret: n.ret.clone() })
    };
    called.into_iter().filter_map(of).collect()
}

/// What generated code calls instead where its firing may be abandoned and begun again: this makes each call once ([`once`]).
pub fn once_name(native: &Native) -> String {
    format!("sl_once_{}_{}", native.id.0, native.name)
}

/// For programs with dynamic rates: functions that call the native ones, or recall what the same call gave back when an attempt
/// made it that was abandoned.
pub fn once(globals: &Globals, called: impl IntoIterator<Item = NativeId>) -> String {
    let mut out = String::new();
    for n in &functions(globals, called) {
        let types = n.params.iter().enumerate().map(|(i, ty)| format!(", {} p{i}", parameter(ty)));
        let args: Vec<String> = (0..n.params.len()).map(|i| format!("p{i}")).collect();
        let arrays = (n.params.iter().enumerate())
            .filter(|(_, ty)| matches!(ty, Ty::Array(..)))
            .map(|(i, ty)| (format!("p{i}"), size_align(ty, globals).map_or(0, |(size, _)| size)));
        let mut kept: Vec<(String, u64)> = arrays.collect();
        let ret = c_type(&n.ret);
        let _ = writeln!(out, "SL_FN {ret} {}(sl_ctx *ctx{})\n{{", once_name(n), types.collect::<String>());
        let mut call = format!("{}({});", c_name(n), args.join(", "));
        if n.ret != Ty::Void {
            let size = size_align(&n.ret, globals).map_or(0, |(size, _)| size);
            kept.push(("&result".into(), size));
            let _ = writeln!(out, "    {ret} result;");
            call.insert_str(0, "result = ");
        }
        let each = |what: &str| -> String {
            kept.iter().map(|(place, size)| format!("        {what}(ctx, {place}, {size});\n")).collect()
        };
        let _ = write!(
            out,
            "    if (sl_called(ctx, {0})) {{\n{1}    }} else {{\n        {call}\n        \
             sl_note_call(ctx, &(uint32_t){{{0}}}, sizeof(uint32_t));\n{2}    }}\n",
            n.id.0,
            each("sl_recall"),
            each("sl_note_call")
        );
        out.push_str(if n.ret == Ty::Void { "}\n" } else { "    return result;\n}\n" });
    }
    out
}

/// Declarations of the native functions that a program calls, and of what cleans up after them. All are referred to, so that one that is
/// missing is missed whatever the compilers optimise away.
pub fn declarations(globals: &Globals, called: impl IntoIterator<Item = NativeId>) -> String {
    declare(&structs(globals), &functions(globals, called))
}

fn declare(structs: &[StructType], natives: &[Native]) -> String {
    let mut out = String::new();
    let mut names = Vec::new();
    let mut cleaned = BTreeSet::new();
    for native in natives {
        let params: Vec<String> = native.params.iter().map(parameter).collect();
        let params = if params.is_empty() { "void".into() } else { params.join(", ") };
        let name = c_name(native);
        let _ = writeln!(out, "extern {} {name}({params}) SL_SYMBOL({});", c_type(&native.ret), native.name);
        names.push(format!("(const void *){name}"));
        for ty in native.params.iter().filter(|t| matches!(t, Ty::Array(..))).chain([&native.ret]) {
            define_clean(ty, structs, &mut cleaned, &mut out);
        }
    }
    if !names.is_empty() {
        let list = names.join(", ");
        let _ = writeln!(out, "static const void *const sl_native_functions[] __attribute__((used)) = {{{list}}};");
    }
    out
}

/// The C type of a parameter: arrays become a pointer to the innermost element.
fn parameter(ty: &Ty) -> String {
    match ty {
        Ty::Array(..) => format!("{} *", c_type(innermost(ty))),
        _ => c_type(ty),
    }
}

/// What is in an array of arrays.
fn innermost(mut ty: &Ty) -> &Ty {
    while let Ty::Array(e, _) = ty {
        ty = e;
    }
    ty
}

/// Are there bits or booleans in it? `seen` are structs without.
fn has_truth(ty: &Ty, structs: &[StructType], seen: &mut BTreeSet<u32>) -> bool {
    match innermost(ty) {
        Ty::Bit | Ty::Bool => true,
        Ty::Struct(id) if seen.insert(id.0) => {
            structs.get(id.index()).is_some_and(|s| s.fields.iter().any(|(_, t)| has_truth(t, structs, seen)))
        }
        _ => false,
    }
}

/// Functions that clean the structs in a type, inner ones first.
fn define_clean(ty: &Ty, structs: &[StructType], done: &mut BTreeSet<u32>, out: &mut String) {
    let Ty::Struct(id) = innermost(ty) else { return };
    let Some(s) = structs.get(id.index()) else { return };
    if !has_truth(innermost(ty), structs, &mut BTreeSet::new()) || !done.insert(id.0) {
        return;
    }
    s.fields.iter().for_each(|(_, t)| define_clean(t, structs, done, out));
    let _ = writeln!(out, "SL_FN void sl_clean_{0}(struct sl_struct_{0} *p)\n{{", id.0);
    for (i, (name, t)) in s.fields.iter().enumerate() {
        out.push_str(&clean(&format!("p->{}", field_name(i, name)), t, structs, "    "));
    }
    out.push_str("}\n");
}

/// Statements that make the bits and booleans in a place 0 or 1; none where it has none.
pub fn clean(place: &str, ty: &Ty, structs: &[StructType], pad: &str) -> String {
    let mut out = String::new();
    if !has_truth(ty, structs, &mut BTreeSet::new()) {
        return out;
    }
    let (mut at, mut inner, mut place, mut depth) = (ty, pad.to_string(), place.to_string(), 0);
    while let Ty::Array(e, dim) = at {
        let n = if let Dim::Known(n) = dim { *n } else { 0 };
        let i = format!("sl_i{depth}");
        let _ = writeln!(out, "{inner}for (int32_t {i} = 0; {i} < {n}; {i}++)");
        let _ = write!(place, ".v[{i}]");
        inner.push_str("    ");
        (at, depth) = (e, depth + 1);
    }
    let _ = match at {
        Ty::Struct(id) => writeln!(out, "{inner}sl_clean_{}(&{place});", id.0),
        _ => writeln!(out, "{inner}{place} = {place} != 0;"),
    };
    out
}

/// The C text of a library by which the interpreter calls these functions. For each there is
/// `void sluice_native_<id>(void *const *args, void *result)`: `args` point to the values, or to the first element of arrays, `result` to
/// room for the result; all in the layout that C gives them ([`size_align`]).
pub fn callers(globals: &Globals, called: impl IntoIterator<Item = NativeId>) -> String {
    let (structs, natives) = (structs(globals), functions(globals, called));
    let mut out = String::from("/* Native functions for the interpreter: made by sluice. */\n");
    rts::MATH.iter().for_each(|text| rts::append(&mut out, text, rts::Parts::default()));
    let types: Vec<Ty> = natives.iter().flat_map(|n| n.params.iter().chain([&n.ret])).cloned().collect();
    out.push_str(&emit_types(&structs, &types));
    let mut checked = BTreeSet::new();
    for ty in &types {
        let name = c_type(ty);
        if let Some((size, _)) = size_align(ty, globals)
            && checked.insert(name.clone())
        {
            let _ = writeln!(out, "_Static_assert(sizeof({name}) == {size}, \"layout of {name}\");");
        }
    }
    out.push_str(&declare(&structs, &natives));
    for n in &natives {
        let args: Vec<String> = (n.params.iter().enumerate())
            .map(|(i, ty)| match ty {
                Ty::Array(..) => format!("args[{i}]"),
                _ => format!("*(const {} *)args[{i}]", c_type(ty)),
            })
            .collect();
        let call = format!("{}({});", c_name(n), args.join(", "));
        let call = match &n.ret {
            Ty::Void => call,
            ret => format!("*({} *)result = {call}", c_type(ret)),
        };
        let _ = writeln!(
            out,
            "__attribute__((visibility(\"default\"))) void sluice_native_{}(void *const *args, void *result)\n{{\n    \
             (void)args, (void)result;\n    {call}\n}}",
            n.id.0
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::ids::StructId;
    use sluice_frontend::typed::NativeFn;
    use sluice_grammar::span::Span;

    fn globals() -> Globals {
        let fields = vec![("n".into(), Ty::Int), ("flags".into(), Ty::Bool.array(2))];
        let def = StructDef { name: "S".into(), fields, span: Span::default() };
        let f = |name: &str, params: &[Ty], ret: Ty| NativeFn {
            group: "G".into(),
            name: name.into(),
            params: params.iter().map(|t| ("p".into(), t.clone())).collect(),
            ret,
            span: Span::default(),
        };
        let s = Ty::Struct(StructId(0));
        let natives = vec![
            f("first", &[Ty::Float.array(3).array(2), Ty::Complex], Ty::Void),
            f("second", &[], s.clone()),
            f("third", &[s.array(4)], Ty::Bit),
        ];
        Globals { structs: vec![def], natives, ..Globals::default() }
    }

    #[test]
    fn only_what_is_called_is_declared() {
        let g = globals();
        assert_eq!(declarations(&g, []), "");
        assert_eq!(
            declarations(&g, [NativeId(0)]),
            "extern void sl_native_0_first(float *, sl_complex) SL_SYMBOL(first);\n\
             static const void *const sl_native_functions[] __attribute__((used)) = {(const void *)sl_native_0_first};\n"
        );
        let both = declarations(&g, [NativeId(1), NativeId(2)]);
        assert!(both.contains("extern struct sl_struct_0 sl_native_1_second(void) SL_SYMBOL(second);"), "{both}");
        assert!(both.contains("extern uint8_t sl_native_2_third(struct sl_struct_0 *) SL_SYMBOL(third);"), "{both}");
        assert_eq!(both.matches("void sl_clean_0(").count(), 1);
        assert!(both.contains("p->flags_1.v[sl_i0] = p->flags_1.v[sl_i0] != 0;"), "{both}");
    }

    #[test]
    fn truth_is_cleaned_wherever_it_is() {
        let structs = structs(&globals());
        assert_eq!(clean("x", &Ty::Int.array(3), &structs, ""), "");
        assert_eq!(clean("x", &Ty::Bit, &structs, "  "), "  x = x != 0;\n");
        assert_eq!(
            clean("x", &Ty::Struct(StructId(0)).array(3), &structs, ""),
            "for (int32_t sl_i0 = 0; sl_i0 < 3; sl_i0++)\n    sl_clean_0(&x.v[sl_i0]);\n"
        );
    }

    #[test]
    fn callers_pass_on_what_they_get() {
        let text = callers(&globals(), [NativeId(0), NativeId(1)]);
        for part in [
            "void sluice_native_0(void *const *args, void *result)",
            "sl_native_0_first(args[0], *(const sl_complex *)args[1]);",
            "*(struct sl_struct_0 *)result = sl_native_1_second();",
            "_Static_assert(sizeof(struct sl_struct_0) == 8,",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        assert!(!text.contains("third"));
    }
}
