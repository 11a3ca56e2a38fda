//! # native-header
//!
//! Purpose: the C header of a program's native functions, for the C file that defines them. Input: the program's [`Globals`]. Output: its text:
//! the structs that occur, and a prototype of each function, documented; C99 and C++ accept it.
//!
//! ```text
//! struct Pair { int a; boolean b; }  native M { void f(Pair p, float[2][3] x); }
//!   →  struct Pair { int32_t a; bool b; };   void f(struct Pair p, float x[2][3]);
//! ```
//!
//! At its end the header refuses to be compiled by a later version of the program in which a function that it declares has another type:
//! sluice tells the C compiler of each function's type by a macro ([`type_macros`]).

use super::ends::type_name;
use sluice_frontend::check::natives::is_c_word;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::{Globals, NativeFn};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// Makes the header of all native functions; `name` is its file's, without extension.
pub fn native_header(globals: &Globals, name: &str) -> String {
    let guard: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let types = CTypes::new(globals);
    let mut out = HEAD.replace("@GUARD@", &format!("SLUICE_{guard}_H"));
    let mut done = BTreeSet::new();
    let mut groups: Vec<(&str, Vec<&NativeFn>)> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for n in &globals.natives {
        n.params.iter().map(|(_, t)| t).chain([&n.ret]).for_each(|ty| types.define(ty, &mut done, &mut out));
        let group = *numbers.entry(&n.group).or_insert_with(|| {
            groups.push((&n.group, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(n);
    }
    let mut declared = BTreeSet::new();
    for (group, functions) in groups {
        let _ = writeln!(out, "/* ---- native {group} ---- */\n");
        for n in functions {
            let params: Vec<String> = n.params.iter().map(|(p, t)| format!("{} {p}", type_name(t, globals))).collect();
            let _ = writeln!(out, "/* {} {}({}) */", type_name(&n.ret, globals), n.name, params.join(", "));
            // two groups may declare one function
            match declared.insert(&n.name) {
                true => out.push_str(&format!("{};\n\n", types.prototype(n))),
                false => out.push_str("/* declared above */\n\n"),
            }
        }
    }
    out.push_str("#ifdef __cplusplus\n}\n#endif\n\n/* Is this header the program's? */\n");
    for n in &globals.natives {
        if declared.remove(&n.name) {
            let (name, value) = types.macro_of(n);
            let _ = writeln!(
                out,
                "#if defined {name} && {name} != {value}\n#error \"the program declares {} with other types: write this header \
                 again, by sluice build --emit native-header\"\n#endif",
                n.name
            );
        }
    }
    out.push_str("\n#endif\n");
    out
}

/// For each native function a macro that stands for its type, and its value: the same where C sees the same types, structs' fields
/// included.
pub fn type_macros(globals: &Globals) -> Vec<(String, String)> {
    let types = CTypes::new(globals);
    globals.natives.iter().map(|n| types.macro_of(n)).collect()
}

const HEAD: &str = "/* Functions that a stream program calls: made by `sluice build --emit native-header`.
 *
 * Include this header in the C file that defines them: the C compiler then compares the definitions with what the program declares.
 *
 *     int: int32_t    float, double: the same    bit, boolean: bool    complex: sluice_complex    float2: sluice_float2, and so on
 *
 * An array is passed by reference: the function may change its elements, and must not keep the pointer. A struct is passed by value.
 * The calls of one filter come in the order of its firings.
 */
#ifndef @GUARD@
#define @GUARD@

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

#ifndef SLUICE_TYPES
#define SLUICE_TYPES
typedef struct { float real, imag; } sluice_complex;
typedef struct { float x, y; } sluice_float2;
typedef struct { float x, y, z; } sluice_float3;
typedef struct { float x, y, z, w; } sluice_float4;
#endif

";

/// Names that C has for something else when this header is included.
const TAKEN: [&str; 9] = [
    "int32_t",
    "uint8_t",
    "int64_t",
    "main",
    "sluice_complex",
    "sluice_float2",
    "sluice_float3",
    "sluice_float4",
    "linux",
];

/// A name as C can have it: words of C get an underscore.
fn plain(name: &str) -> String {
    if is_c_word(name) || TAKEN.contains(&name) { format!("{name}_") } else { name.to_string() }
}

/// Names as C can have them, all different.
fn plain_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut used: BTreeSet<String> = names.iter().filter(|n| plain(n) == **n).map(|n| n.to_string()).collect();
    names
        .iter()
        .map(|n| {
            let mut c = plain(n);
            if c != **n {
                while !used.insert(c.clone()) {
                    c.push('_');
                }
            }
            c
        })
        .collect()
}

/// Types as the header writes them.
struct CTypes<'a> {
    globals: &'a Globals,
    /// Names of structs.
    structs: Vec<String>,
}

impl CTypes<'_> {
    fn new(globals: &Globals) -> CTypes<'_> {
        CTypes { globals, structs: plain_names(globals.structs.iter().map(|s| &*s.name)) }
    }

    /// The C type before a declared name, but for the sizes of arrays.
    fn base(&self, ty: &Ty) -> String {
        match ty {
            Ty::Bit | Ty::Bool => "bool".into(),
            Ty::Int => "int32_t".into(),
            Ty::Float => "float".into(),
            Ty::Double => "double".into(),
            Ty::Complex => "sluice_complex".into(),
            Ty::Vec(n) => format!("sluice_float{n}"),
            Ty::Array(e, _) => self.base(e),
            Ty::Struct(id) => format!("struct {}", self.structs.get(id.index()).map_or("unknown", |s| s.as_str())),
            _ => "void".into(),
        }
    }

    /// `type name[2][3]`; a parameter without elements is a pointer.
    fn declarator(&self, ty: &Ty, name: &str) -> String {
        let (mut dims, mut at, mut empty) = (String::new(), ty, false);
        while let Ty::Array(e, dim) = at {
            let n = if let Dim::Known(n) = dim { *n } else { 0 };
            let _ = write!(dims, "[{n}]");
            empty |= n == 0;
            at = e;
        }
        let base = self.base(at);
        if empty { format!("{base} *{name}") } else { format!("{base} {name}{dims}") }
    }

    fn prototype(&self, n: &NativeFn) -> String {
        let names = plain_names(n.params.iter().map(|(p, _)| &**p));
        let params: Vec<String> =
            n.params.iter().zip(&names).map(|((_, ty), name)| self.declarator(ty, name)).collect();
        let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
        format!("{} {}({params})", self.base(&n.ret), n.name)
    }

    /// Structs in a type, inner ones first.
    fn define(&self, ty: &Ty, done: &mut BTreeSet<u32>, out: &mut String) {
        match ty {
            Ty::Array(e, _) => self.define(e, done, out),
            Ty::Struct(id) if done.insert(id.0) => {
                let Some(s) = self.globals.structs.get(id.index()) else { return };
                s.fields.iter().for_each(|(_, t)| self.define(t, done, out));
                let _ = writeln!(out, "{} {{", self.base(ty));
                let names = plain_names(s.fields.iter().map(|(n, _)| &**n));
                for ((_, t), name) in s.fields.iter().zip(&names) {
                    let _ = writeln!(out, "    {};", self.declarator(t, name));
                }
                out.push_str("};\n\n");
            }
            _ => {}
        }
    }

    fn macro_of(&self, n: &NativeFn) -> (String, String) {
        let mut text = String::new();
        let mut done = BTreeSet::new();
        for ty in n.params.iter().map(|(_, t)| t).chain([&n.ret]) {
            self.define(ty, &mut done, &mut text);
            text.push_str(&self.declarator(ty, ""));
            text.push(';');
        }
        // FNV-1a, 32 bits
        let hash = text.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
        (format!("SLUICE_NATIVE_{}", n.name), format!("{hash:#010x}"))
    }
}
