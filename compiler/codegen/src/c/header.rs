//! # header
//!
//! Purpose: a library's header, and its exported functions. Input: the program's name and open ends. Output: [`Library`]. The header is
//! `rts/c/sl_library.h.in` with `@NAME@`, `@PREFIX@`, `@IN@`, `@OUT@`, `@ENDS@`, `@ENDPOINTS@` and `@PROCESS@` filled in.

use super::ends::{scalars, type_name};
use super::layout::{end_channel, ends};
use super::program::{CodegenError, ProgramInput};
use super::rts;
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_frontend::ids::NodeId;
use sluice_frontend::ty::Ty;
use std::fmt::Write;

/// For a program with both ends open.
const PROCESS: &str = "\
/* Both at once, and the fastest way: `*n` items of input are at `in`, and up to `max` of output go to `out`. Gives the number of items of output, or
 * an error; `*n` becomes how many items of input were taken: all of them, unless `out` is full. Items are used and put where they lie,
 * without copies: `in` and `out` must not overlap, and what `out` holds behind the items given is undefined. */
int64_t @NAME@_process(@NAME@ *p, const @IN@ *in, size_t *n, @OUT@ *out, size_t max);

";

/// A library's own text.
pub struct Library {
    /// The header.
    pub header: String,
    /// C definitions of the functions it declares.
    pub functions: String,
}

/// Makes header and functions.
pub fn library(input: &ProgramInput<'_>) -> Result<Library, CodegenError> {
    let name = input.name;
    if !is_identifier(name) {
        return Err(CodegenError::Name(name.to_string()));
    }
    let prefix = name.to_uppercase();
    let (readers, writers) = ends(input.graph);
    let (mut about, mut constants) = (String::new(), String::new());
    let mut element = |nodes: &[NodeId], direction: &str| {
        let mut found = "void".to_string();
        for v in nodes {
            let node = input.graph.node(*v);
            let Some(c) = end_channel(input.graph, *v) else { continue };
            let ty = &input.graph.channel(c).ty;
            let shown = type_name(ty, input.globals);
            let verb = if direction == "INPUT" { "Takes" } else { "Gives" };
            match &node.kind {
                NodeKind::Reader(Endpoint::File(path)) => {
                    let _ = writeln!(about, " * Reads items of type {shown} from the file {}.", safe(path));
                }
                NodeKind::Writer(Endpoint::File(path)) => {
                    let _ = writeln!(about, " * Writes items of type {shown} to the file {}.", safe(path));
                }
                _ => {
                    let (kind, count) = scalars(ty, input.globals).unwrap_or((5, 1));
                    found = element_type(ty, kind);
                    let each =
                        if kind == 5 { super::layout::host_bytes(ty, input.globals).unwrap_or(0) } else { count };
                    let what = if kind == 5 { "bytes" } else { "elements" };
                    let _ = writeln!(about, " * {verb} items of type {shown}: each {each} {found} in a row.");
                    let _ = writeln!(
                        constants,
                        "/* Array {what} of an item. */\n#define {prefix}_{direction}_ELEMENTS {each}\n"
                    );
                }
            }
        }
        found
    };
    let taken = element(&readers, "INPUT");
    let given = element(&writers, "OUTPUT");
    if about.is_empty() {
        about.push_str(" * It has no open ends: see the function run.\n");
    }
    let both = taken != "void" && given != "void";
    let header = rts::LIBRARY_HEADER
        .replace("@PROCESS@", if both { PROCESS } else { "" })
        .replace("@ENDS@", &about)
        .replace("@ENDPOINTS@", &constants)
        .replace("@IN@", &taken)
        .replace("@OUT@", &given)
        .replace("@PREFIX@", &prefix)
        .replace("@NAME@", name);
    let process = format!(
        "SL_EXPORT int64_t {name}_process({name} *p, const {taken} *in, size_t *n, {given} *out, size_t max) {{ return sl_library_process((sl_library *)p, in, n, out, max); }}\n"
    );
    let process = if both { process } else { String::new() };
    let functions = format!(
        "typedef struct {name} {name};\n\
         SL_EXPORT {name} *{name}_create(void) {{ return ({name} *)sl_library_create(); }}\n\
         SL_EXPORT int64_t {name}_push_input({name} *p, const {taken} *items, size_t n) {{ return sl_library_push((sl_library *)p, items, n); }}\n\
         SL_EXPORT int {name}_end_input({name} *p) {{ return sl_library_end_input((sl_library *)p); }}\n\
         SL_EXPORT int64_t {name}_pull_output({name} *p, {given} *items, size_t max) {{ return sl_library_pull((sl_library *)p, items, max); }}\n\
{process}         SL_EXPORT int {name}_run({name} *p, int64_t iterations) {{ return sl_library_run((sl_library *)p, iterations); }}\n\
         SL_EXPORT int {name}_finish({name} *p) {{ return sl_library_finish((sl_library *)p); }}\n\
         SL_EXPORT const char *{name}_error_message(const {name} *p) {{ return sl_library_message((const sl_library *)p); }}\n\
         SL_EXPORT void {name}_destroy({name} *p) {{ sl_library_destroy((sl_library *)p); }}\n"
    );
    Ok(Library { header, functions })
}

/// The C type of an item's scalars.
fn element_type(ty: &Ty, kind: u32) -> String {
    match kind {
        0 | 1 => "uint8_t",
        2 => "int32_t",
        3 => "float",
        4 => "double",
        _ if ty.is_aggregate() => "uint8_t",
        _ => "void",
    }
    .to_string()
}

/// Could C and C++ use it as a name, and does it stay clear of ours? Names of the system's headers are the C compiler's to know.
fn is_identifier(name: &str) -> bool {
    const WORDS: &str = "alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char char8_t char16_t \
        char32_t class co_await co_return co_yield compl complex concept const const_cast consteval \
        constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit \
        export extern false float for friend goto if imaginary inline int long main mutable namespace new \
        noexcept noreturn not not_eq nullptr operator or or_eq private protected public register \
        reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast std \
        struct switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual \
        union unsigned using virtual void volatile wchar_t while xor xor_eq linux unix I";
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with("sl_")
        && !name.starts_with("sluice_")
        && WORDS.split_whitespace().all(|word| word != name)
}

/// A path inside a comment.
fn safe(path: &str) -> String {
    path.replace("*/", "* /").replace(['\n', '\r'], " ")
}
