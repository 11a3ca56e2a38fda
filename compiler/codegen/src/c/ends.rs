//! # ends
//!
//! Purpose: what the engine and the host must know about the ends of a program. Input: readers and writers of the graph. Output: C tables
//! `sl_reader_ends`, `sl_writer_ends` (`sluice_end`, for the host) and `sl_readers`, `sl_writers` (`sl_end`, for the engine).

use super::layout::{self, Layout};
use super::program::CodegenError;
use super::types::{c_type, field_name, text};
use sluice_frontend::graph::{Endpoint, NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::Globals;
use std::fmt::Write;

/// A type as it is written in programs.
pub fn type_name(ty: &Ty, globals: &Globals) -> String {
    match ty {
        Ty::Void => "void".into(),
        Ty::Bit => "bit".into(),
        Ty::Bool => "boolean".into(),
        Ty::Int => "int".into(),
        Ty::Float => "float".into(),
        Ty::Double => "double".into(),
        Ty::Complex => "complex".into(),
        Ty::Vec(n) => format!("float{n}"),
        Ty::Array(..) => {
            let (mut at, mut dims) = (ty, String::new());
            while let Ty::Array(e, dim) = at {
                let n = if let Dim::Known(n) = dim { *n } else { 0 };
                let _ = write!(dims, "[{n}]");
                at = e;
            }
            type_name(at, globals) + &dims
        }
        Ty::Struct(id) => globals.structs.get(id.index()).map_or_else(|| "struct".into(), |s| s.name.to_string()),
        Ty::Str | Ty::Portal(_) | Ty::Error => "?".into(),
    }
}

/// The scalars of an item: which kind (as in `sluice_end.scalar`, 5 for several), and how many.
pub fn scalars(ty: &Ty, globals: &Globals) -> Option<(u32, u64)> {
    Some(match ty {
        Ty::Bit => (0, 1),
        Ty::Bool => (1, 1),
        Ty::Int => (2, 1),
        Ty::Float => (3, 1),
        Ty::Double => (4, 1),
        Ty::Complex => (3, 2),
        Ty::Vec(n) => (3, u64::from(*n)),
        Ty::Array(e, Dim::Known(n)) => {
            let (kind, count) = scalars(e, globals)?;
            (kind, count.checked_mul(u64::from(*n))?)
        }
        Ty::Struct(id) => {
            let mut all: Option<(u32, u64)> = None;
            for (_, field) in &globals.structs.get(id.index())?.fields {
                let (kind, count) = scalars(field, globals)?;
                all = Some(match all {
                    None => (kind, count),
                    Some((k, n)) => (if k == kind { k } else { 5 }, n.checked_add(count)?),
                });
            }
            all?
        }
        _ => return None,
    })
}

/// Descriptions of types, each once.
struct TypeTables<'a> {
    globals: &'a Globals,
    known: Vec<Ty>,
    out: String,
}

impl TypeTables<'_> {
    /// The C name of a type's description.
    fn name(&mut self, ty: &Ty) -> String {
        if let Some(i) = self.known.iter().position(|k| k == ty) {
            return format!("sl_type_{i}");
        }
        let c = c_type(ty);
        let text = match ty {
            Ty::Array(e, dim) => {
                let n = if let Dim::Known(n) = dim { *n } else { 0 };
                let part = self.name(e);
                format!("{{SL_ARRAY, {n}, sizeof({c}), &{part}, NULL}}")
            }
            Ty::Struct(id) => {
                let fields = self.globals.structs.get(id.index()).map_or(&[][..], |s| &s.fields);
                let parts: Vec<String> = fields
                    .iter()
                    .enumerate()
                    .map(|(i, (name, t))| {
                        let part = self.name(t);
                        format!("{{offsetof({c}, {}), &{part}}}", field_name(i, name))
                    })
                    .collect();
                let (list, count) = (format!("sl_fields_{}", id.0), parts.len());
                let _ = writeln!(self.out, "static const sl_field {list}[] = {{{}}};", parts.join(", "));
                format!("{{SL_STRUCT, {count}, sizeof({c}), NULL, {list}}}")
            }
            _ => {
                let (kind, _) = scalars(ty, self.globals).unwrap_or((3, 1));
                format!("{{{kind}, 1, sizeof({c}), NULL, NULL}}")
            }
        };
        let name = format!("sl_type_{}", self.known.len());
        self.known.push(ty.clone());
        let _ = writeln!(self.out, "static const sl_type {name} = {text};");
        name
    }
}

/// Prints the tables.
pub fn emit(graph: &SdfGraph, globals: &Globals, layout: &Layout) -> Result<String, CodegenError> {
    let (readers, writers) = layout::ends(graph);
    let mut types = TypeTables { globals, known: Vec::new(), out: String::new() };
    let mut lists = String::new();
    let mut stages = layout.stages.iter();
    for (direction, nodes) in [("reader", &readers), ("writer", &writers)] {
        let (mut told, mut kept) = (Vec::new(), Vec::new());
        for v in nodes {
            let (t, k) = end(graph, globals, *v, &mut types, stages.next())?;
            told.push(t);
            kept.push(k);
        }
        // C has no empty arrays
        let none = if nodes.is_empty() { vec!["{0}".to_string()] } else { Vec::new() };
        let rows = |list: Vec<String>| list.into_iter().chain(none.clone()).collect::<Vec<_>>().join(",\n    ");
        let _ = writeln!(lists, "static const sluice_end sl_{direction}_ends[] = {{\n    {}}};", rows(told));
        let _ = writeln!(lists, "static const sl_end sl_{direction}s[] = {{\n    {}}};", rows(kept));
    }
    Ok(types.out + &lists)
}

fn end(
    graph: &SdfGraph,
    globals: &Globals,
    v: NodeId,
    types: &mut TypeTables<'_>,
    stage: Option<&layout::Place>,
) -> Result<(String, String), CodegenError> {
    let node = graph.node(v);
    let bad = || CodegenError::Malformed(format!("{} has no items to read or write", node.path));
    let ty = &graph.channel(layout::end_channel(graph, v).ok_or_else(bad)?).ty;
    let (kind, count) = scalars(ty, globals).ok_or_else(bad)?;
    let bytes = layout::host_bytes(ty, globals).ok_or_else(bad)?;
    let (size, _) = layout::size_align(ty, globals).ok_or_else(bad)?;
    let stage = stage.ok_or_else(bad)?;
    let file = match &node.kind {
        NodeKind::Reader(Endpoint::File(path)) | NodeKind::Writer(Endpoint::File(path)) => text(path),
        _ => "NULL".into(),
    };
    let mut innermost = ty;
    while let Ty::Array(e, _) = innermost {
        innermost = e;
    }
    let complex = u32::from(*innermost == Ty::Complex);
    let (path, name) = (text(&node.path), text(&type_name(ty, globals)));
    let told = format!("{{{path}, {name}, {file}, {kind}, {count}, {bytes}, {}, {complex}}}", v.0);
    let description = types.name(ty);
    let flat = u32::from(size == bytes);
    let kept = format!("{{&{description}, {}, {}, {}, {flat}}}", stage.offset, stage.capacity, v.0);
    Ok((told, kept))
}
