//! # native functions
//!
//! Purpose: what a declaration in a `native` group may say, so that C can supply the function, and what calls of it get.
//! Input: the declarations with their types; arguments of calls. Output: diagnostics; arguments, constants among them as copies.
//! Invariant: every parameter and result of a [`NativeFn`] without errors has a counterpart in C, and two functions with one name in C
//! have one type.

use super::Checker;
use crate::ids::*;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use crate::world::World;
use crate::{analyses::walk, check::Place};
use sluice_grammar::ast;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;
use std::collections::{HashMap, HashSet};

/// Words of C and C++ that nothing can be called.
const C_WORDS: &str = "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval \
    constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else \
    enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq \
    nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short signed \
    sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename \
    typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";

/// Functions of the C library that compiled programs call themselves: one of the program's own would take their place.
const USED_BY_PROGRAMS: &str = "\
    _exit abort acos acosf acosh acoshf aligned_alloc asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf atexit \
    calloc ceil ceilf clock_gettime close cos cosf cosh coshf dup errno exit exp expf expm1 expm1f fabs fabsf floor floorf \
    fmod fmodf fprintf fputs free fstat fwrite getpid isatty ldexp log log10 log10f logf longjmp malloc memchr memcmp memcpy \
    memmove memset open poll pow powf printf pwrite read realloc realpath rename rint rintf round roundf setjmp sigaction \
    sin sinf sinh sinhf snprintf sprintf sqrt sqrtf stat stderr stdin stdout strcasecmp strchr strcmp strdup strerror strlen \
    strncmp strpbrk strrchr strspn strtod strtof strtoll strtoull tan tanf tanh tanhf trunc truncf unlink vsnprintf write";

/// Is this a word of C or C++, which nothing can be called?
pub fn is_c_word(name: &str) -> bool {
    C_WORDS.split_whitespace().any(|w| w == name)
}

/// The diagnostic of a native function that is called while the program is compiled.
pub(super) fn at_compile_time(name: &str, declared: Span, call: Span, when: &str) -> Diagnostic {
    let mend = match when {
        "in init" => "call it in `prework`, or in `work` where `iter()` is 0",
        "while the program is built" => "what is built must follow from constants: call it from a filter's `work`",
        _ => "give the value itself, or set it in a firing: in `prework`, or in `work`",
    };
    Diagnostic::error(
        "E0421",
        format!("the native function `{name}` is called at compile time ({when})"),
        call,
        "this call is carried out while the program is compiled",
    )
    .label(declared, "the C function is there only when the program runs")
    .help(mend)
}

/// Says where the evaluation began, where the call is elsewhere: in a function that is called from there.
pub(super) fn begun(d: Diagnostic, origin: Span) -> Diagnostic {
    let at = d.span();
    let inside = at.file == origin.file && origin.start <= at.start && at.end <= origin.end;
    if inside || d.code != "E0421" { d } else { d.label(origin, "called from here, at compile time") }
}

/// Checks all declarations.
pub(super) fn declarations(w: &mut World) {
    let mut first: HashMap<Name, NativeId> = HashMap::new();
    for i in 0..w.globals.natives.len() {
        let (n, ast) = (w.globals.natives[i].clone(), w.native_asts[i].1.clone());
        let mut c = Checker::new(w, Place::Helper, None, false);
        c.name_in_c(&n);
        c.types_in_c(&n, &ast);
        let mut parameters: HashMap<&str, Span> = HashMap::new();
        for p in &ast.params {
            if let Some(first) = parameters.insert(&p.name.name, p.name.span()) {
                c.declared_twice(&p.name.name, p.name.span(), first);
            }
        }
        let before = *first.entry(n.name.clone()).or_insert(NativeId::from(i));
        let before = &w.globals.natives[before.index()];
        if !before.params.iter().map(|(_, t)| t).eq(n.params.iter().map(|(_, t)| t)) || before.ret != n.ret {
            let d = Diagnostic::error(
                "E0242",
                format!("the native function `{}` is declared with two types", n.name),
                n.span,
                format!("in `{}`", n.group),
            )
            .label(before.span, format!("in `{}`, with other types", before.group))
            .help("both are C's one function of that name, whatever the group: declare it the same way");
            w.report(d);
        }
    }
}

impl Checker<'_> {
    /// Can C have a function of that name?
    fn name_in_c(&mut self, n: &NativeFn) {
        let name = &*n.name;
        let reserved = name.starts_with("sl_") || name.starts_with("sluice_") || name.starts_with('_');
        let why = if name == "main" {
            "programs of their own start there"
        } else if is_c_word(name) {
            "a word of C or C++"
        } else if USED_BY_PROGRAMS.split_whitespace().any(|w| w == name) {
            "compiled programs use the C library's own function of that name"
        } else if reserved {
            "names that start like this belong to compilers"
        } else {
            return;
        };
        self.report(
            Diagnostic::error("E0241", format!("a native function cannot be called `{name}`"), n.span, why)
                .help(format!("supply a C function of another name, such as `my_{name}`, that does it")),
        );
    }

    /// Have all types a counterpart in C?
    fn types_in_c(&mut self, n: &NativeFn, ast: &ast::FnDecl) {
        if matches!(n.ret, Ty::Array(..)) {
            let t = self.show(&n.ret);
            self.report(
                Diagnostic::error(
                    "E0240",
                    format!("a native function cannot give back {t}"),
                    ast.ret.at.0,
                    "C functions give no arrays",
                )
                .help("give it a parameter for the array: arrays are passed by reference, so that the function can fill them"),
            );
        } else if self.fits(&n.ret, ast.ret.at.0)
            && let Some(why) = self.not_in_c(&n.ret, &mut HashSet::new())
        {
            let t = self.show(&n.ret);
            self.error("E0240", format!("a native function cannot give back {t}"), ast.ret.at.0, why);
        }
        for ((name, ty), p) in n.params.iter().zip(&ast.params) {
            if *ty == Ty::Void {
                self.error("E0208", "a parameter cannot be void", p.ty.at.0, "void has no values");
            } else if self.fits(ty, p.ty.at.0)
                && let Some(why) = self.not_in_c(ty, &mut HashSet::new())
            {
                let t = self.show(ty);
                self.error("E0240", format!("a native function cannot take {t} (`{name}`)"), p.ty.at.0, why);
            }
        }
    }

    /// Why a type has no counterpart in C: structs without fields, and arrays without elements in a struct, are not C. `seen` are
    /// structs that were looked at.
    fn not_in_c(&self, ty: &Ty, seen: &mut HashSet<StructId>) -> Option<String> {
        match ty {
            Ty::Portal(_) => Some("portals mean nothing to C".into()),
            Ty::Array(e, _) => self.not_in_c(e, seen),
            Ty::Struct(id) if seen.insert(*id) => {
                let s = self.w.globals.structs.get(id.index())?;
                if s.fields.is_empty() {
                    return Some(format!("struct {} has no fields, which C does not know", s.name));
                }
                s.fields.iter().find_map(|(name, ty)| {
                    let mut at = ty;
                    while let Ty::Array(e, dim) = at {
                        if *dim == Dim::Known(0) {
                            return Some(format!(
                                "`{name}` in struct {} has no elements, which C does not know",
                                s.name
                            ));
                        }
                        at = e;
                    }
                    self.not_in_c(at, seen)
                })
            }
            _ => None,
        }
    }

    /// What a native function gets for an argument: constants as copies, for it may write every array.
    pub(super) fn native_argument(&mut self, a: Expr) -> Expr {
        if !matches!(a.ty, Ty::Array(..)) {
            return a;
        }
        let (ty, span) = (a.ty.clone(), a.span);
        let kind = match a.kind {
            ExprKind::Ternary(c, x, y) => {
                ExprKind::Ternary(c, Box::new(self.native_argument(*x)), Box::new(self.native_argument(*y)))
            }
            _ if self.is_constant_part(&a) => ExprKind::Convert(Box::new(a)),
            kind => kind,
        };
        Expr { kind, ty, span }
    }

    /// Is it a static or a parameter of the stream, or a part of one?
    fn is_constant_part(&self, e: &Expr) -> bool {
        match &walk::root(e).kind {
            ExprKind::Static(_) => true,
            ExprKind::Field(id) => self.fields.get(id.index()).is_some_and(|f| f.param),
            ExprKind::Ternary(_, a, b) => self.is_constant_part(a) || self.is_constant_part(b),
            _ => false,
        }
    }
}
