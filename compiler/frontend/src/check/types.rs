//! Types as written, to types.

use super::{Checker, Place};
use crate::constant::Const;
use crate::eval::{self, EvalErrorKind};
use crate::ids::DeclId;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use sluice_grammar::ast::{self, BaseType};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;
use std::sync::Arc;

/// The largest array the language allows, in elements of one dimension.
pub const MAX_ARRAY: i64 = 1 << 28;

/// Types are walked everywhere, one call within another: they stay flat.
pub const MAX_DIMENSIONS: usize = 64;

impl Checker<'_> {
    /// The base of a type.
    pub fn base_type(&mut self, base: &BaseType, span: Span) -> Ty {
        match base {
            BaseType::Void => Ty::Void,
            BaseType::Bit => Ty::Bit,
            BaseType::Boolean => Ty::Bool,
            BaseType::Int => Ty::Int,
            BaseType::Float => Ty::Float,
            BaseType::Double => Ty::Double,
            BaseType::Complex => Ty::Complex,
            BaseType::Float2 => Ty::Vec(2),
            BaseType::Float3 => Ty::Vec(3),
            BaseType::Float4 => Ty::Vec(4),
            BaseType::Error => Ty::Error,
            BaseType::Named(name) => match self.w.struct_at(name) {
                Some(id) => Ty::Struct(id),
                None => {
                    let mut d = Diagnostic::error(
                        "E0105",
                        format!("there is no type `{}`", name.name),
                        span,
                        "neither a basic type nor a struct of this program",
                    );
                    let other_language = match &*name.name {
                        "bool" => Some("boolean"),
                        "char" | "long" | "short" | "unsigned" | "int32_t" | "byte" => Some("int"),
                        "real" | "float1" => Some("float"),
                        _ => None,
                    };
                    if let Some(n) = other_language {
                        let fix = match &*name.name {
                            "bool" => Fix::safe,
                            _ => Fix::new,
                        };
                        let fix = fix(format!("change to `{n}`"), name.span(), n.to_string());
                        let help = match &*name.name {
                            "long" => "an `int` has 32 bits here; a `double` holds whole numbers up to 2^53".to_string(),
                            "unsigned" => "an `int` has a sign here: sums, products and bits are those of unsigned ones, but not `>>`, `/`, `%` and comparisons".to_string(),
                            _ => format!("here it is called `{n}`"),
                        };
                        d = d.help(help).fix(fix);
                    } else if &*name.name == "goto" {
                        d = d.help("there is no `goto`: loops end by `break`, their turns by `continue`, functions by `return`");
                    } else if matches!(&*name.name, "String" | "string") {
                        d = d.help("there are no variables of text: text is printed, as in `println(\"x is \" + x)`");
                    } else if let Some(n) = self.w.nearest(&name.name, self.w.structs.keys().map(|k| &**k)) {
                        d = d.help(format!("did you mean `{n}`?")).fix(Fix::new(
                            format!("change to `{n}`"),
                            name.span(),
                            n,
                        ));
                    }
                    self.report(d);
                    Ty::Error
                }
            },
            BaseType::Portal(name) => match self.stream_named(name) {
                Some(id) => Ty::Portal(id),
                None => Ty::Error,
            },
        }
    }

    /// The stream of that name, or a diagnostic.
    pub fn stream_named(&mut self, name: &ast::Ident) -> Option<DeclId> {
        if let Some(id) = self.w.stream_at(name) {
            return Some(id);
        }
        let mut d = Diagnostic::error(
            "E0103",
            format!("there is no stream `{}`", name.name),
            name.span(),
            "no stream of that name in the program or the standard library",
        );
        let builtin = ["Identity", "FileReader", "FileWriter"];
        let known = self.w.streams.keys().map(|k| &**k).chain(builtin);
        if let Some(n) = self.w.nearest(&name.name, known) {
            d = d.help(format!("did you mean `{n}`?")).fix(Fix::new(format!("change to `{n}`"), name.span(), n));
        }
        self.report(d);
        None
    }

    /// A type with its sizes as typed expressions; sizes that are known now are in the type already.
    pub fn type_spec(&mut self, t: &ast::Type) -> TypeSpec {
        let span = t.at.0;
        let base = self.base_type(&t.base, span);
        if base == Ty::Void && !t.dims.is_empty() {
            self.error("E0208", "there are no arrays of void", span, "void has no values");
            return TypeSpec { ty: Ty::Error, dims: Vec::new(), span };
        }
        if t.dims.len() > MAX_DIMENSIONS {
            let title = format!("an array can have {MAX_DIMENSIONS} dimensions");
            self.error("E0014", title, span, format!("this has {}", t.dims.len()));
            return TypeSpec { ty: Ty::Error, dims: Vec::new(), span };
        }
        let mut dims = Vec::new();
        let mut known = Vec::new();
        for d in &t.dims {
            let e = self.expr(d);
            let e = self.coerce(e, &Ty::Int);
            known.push(self.dimension(&e));
            dims.push(e.expr);
        }
        let ty = known.iter().rev().fold(base, |ty, d| Ty::Array(Arc::new(ty), *d));
        TypeSpec { ty, dims, span }
    }

    /// The type of a stream's items: any but a portal.
    pub fn item_type(&mut self, t: &ast::Type) -> TypeSpec {
        let mut spec = self.type_spec(t);
        let mut base = &spec.ty;
        while let Ty::Array(elem, _) = base {
            base = elem;
        }
        if matches!(base, Ty::Portal(_)) {
            self.report(
                Diagnostic::error("E0222", "portals cannot be items", t.at.0, "no channel carries portals")
                    .help("hand the portal to the filter that sends, as a parameter"),
            );
            spec.ty = Ty::Error;
        }
        spec
    }

    /// A type whose sizes must be known now (or may stay unknown where parameters are).
    pub fn ty(&mut self, t: &ast::Type) -> Ty {
        self.type_spec(t).ty
    }

    fn dimension(&mut self, e: &super::convert::Checked) -> Dim {
        if e.expr.ty == Ty::Error {
            return Dim::Unknown;
        }
        let span = e.expr.span;
        match self.constant(&e.expr) {
            Ok(Some(Const::Int(n))) if (0..=MAX_ARRAY).contains(&i64::from(n)) => Dim::Known(n as u32),
            Ok(Some(Const::Int(n))) => {
                let why = if n < 0 { "this is negative" } else { "this is too large" };
                self.error("E0209", format!("an array cannot have {n} elements"), span, why);
                Dim::Unknown
            }
            Ok(_) => Dim::Unknown,
            Err(super::constants::NotConstant) => {
                if !matches!(self.place, Place::Composite(_)) {
                    self.report(
                        Diagnostic::error(
                            "E0209",
                            "the size of an array must be a constant",
                            span,
                            "not known at compile time",
                        )
                        .help("use parameters, statics, literals, and fields that no firing changes"),
                    );
                }
                Dim::Unknown
            }
        }
    }

    /// Reports a type with too many elements: by itself, or one too many in the program.
    pub fn too_large(&mut self, ty: &Ty, span: Span) {
        let why = match eval::value::size(ty, &self.w.globals) {
            Err(_) => "more than 2^24 elements in all",
            Ok(_) => "with all other arrays of the program, more than 2^25 elements",
        };
        self.error("E0209", "this array is too large", span, why);
    }

    /// Reports a type whose values are too large to be held. False where it is.
    pub fn fits(&mut self, ty: &Ty, span: Span) -> bool {
        let too_large = matches!(eval::value::size(ty, &self.w.globals), Err(EvalErrorKind::ArrayTooLarge { .. }));
        if too_large {
            self.too_large(ty, span);
        }
        !too_large
    }
}
