//! Expressions.

use super::convert::{Checked, Fit, fit};
use super::operators::choices;
use super::{Checker, Place};
use crate::constant::Const;
use crate::ids::StructId;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::ast::{self, ExprKind as A};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

impl Checker<'_> {
    /// Types an expression.
    pub fn expr(&mut self, e: &ast::Expr) -> Checked {
        let span = e.span();
        let constant = |c: Const, ty: Ty| Checked::from(Expr { kind: ExprKind::Const(c), ty, span });
        match &e.kind {
            A::Int { value, hex, text } => {
                // the lexer has told of all beyond 2^31; of that one it cannot know whether a minus stands before it
                if !hex && *value > 1 << 31 {
                    return self.broken(span).into();
                }
                if !hex && *value > i32::MAX as u64 {
                    self.report(
                        Diagnostic::error(
                            "E0210",
                            format!("{text} is too large for int"),
                            span,
                            "the largest int is 2147483647",
                        )
                        // no fix: where an int is wanted, it would only be another error
                        .help(format!("for a real number write `{text}.0`, for the bit pattern `0x{value:X}`"))
                        .fix(Fix::new(
                            format!("for the bit pattern write `0x{value:X}`"),
                            span,
                            format!("0x{value:X}"),
                        )),
                    );
                    return self.broken(span).into();
                }
                constant(Const::Int(*value as u32 as i32), Ty::Int)
            }
            A::Real { value, text } => {
                self.real_literal(*value, text, span);
                Checked { literal: Some(*value), ..constant(Const::Float(*value as f32), Ty::Float) }
            }
            A::Imaginary { value, .. } => constant(Const::Complex(0.0, *value as f32), Ty::Complex),
            A::Char { value, .. } => constant(Const::Int(i32::from(*value)), Ty::Int),
            A::Str { value, .. } => constant(Const::Str(value.clone()), Ty::Str),
            A::Bool(b) => constant(Const::Bool(*b), Ty::Bool),
            A::Pi => Checked {
                literal: Some(std::f64::consts::PI),
                ..constant(Const::Float(std::f32::consts::PI), Ty::Float)
            },
            A::Var(name) => self.variable(name).into(),
            A::Paren(inner) => {
                let mut c = self.expr(inner);
                c.expr.span = span;
                c
            }
            A::Member(base, name) => self.member(base, name, span).into(),
            A::Index(base, index) => self.index(base, index, span).into(),
            A::Call { callee, args } => self.call(callee, args, span).into(),
            A::Pop => self.pop(span).into(),
            A::Peek(index) => self.peek(index, span).into(),
            A::Iter => {
                if !matches!(self.place, Place::FilterWork | Place::Handler) {
                    self.error("E0221", "`iter()` belongs into a filter's work", span, "no filter fires here");
                }
                Expr { kind: ExprKind::Iter, ty: Ty::Int, span }.into()
            }
            A::Unary(op, inner) => self.unary(*op, inner, span),
            A::IncDec { target, inc, prefix } => self.incdec(target, *inc, *prefix, span).into(),
            A::Binary(op, a, b) => self.binary(*op, a, b, span),
            A::Ternary(c, a, b) => self.ternary(c, a, b, span),
            A::Cast(ty, inner) => self.cast(ty, inner, span).into(),
            A::ArrayLit(_) => {
                self.report(
                    Diagnostic::error(
                        "E0215",
                        "a list in braces initialises an array where it is declared",
                        span,
                        "not allowed here",
                    )
                    .help("declare an array with this initialiser and use its name"),
                );
                self.broken(span).into()
            }
            A::Error => self.broken(span).into(),
        }
    }

    /// Types an expression whose wanted type is known (array initialisers need it).
    pub fn expr_as(&mut self, e: &ast::Expr, want: &Ty, role: &str) -> Expr {
        if let A::ArrayLit(items) = &e.kind {
            return self.array_literal(items, want, e.span());
        }
        let c = self.expr(e);
        self.coerce_for(c, want, role).expr
    }

    fn array_literal(&mut self, items: &[ast::Expr], want: &Ty, span: Span) -> Expr {
        match want {
            Ty::Array(elem, dim) => {
                if let crate::ty::Dim::Known(n) = dim
                    && items.len() > *n as usize
                {
                    self.error(
                        "E0215",
                        format!("{} values for an array of {n}", items.len()),
                        items.get(*n as usize).map_or(span, |e| e.span()),
                        "one too many",
                    );
                }
                let elem = elem.clone();
                let values = items.iter().map(|e| self.expr_as(e, &elem, "an element of the array")).collect();
                Expr { kind: ExprKind::Array(values), ty: want.clone(), span }
            }
            Ty::Struct(id) => self.struct_literal(items, *id, want, span),
            Ty::Error => self.broken(span),
            other => {
                let shown = self.show(other);
                let label = "a list in braces initialises an array or a struct";
                let d = Diagnostic::error("E0215", format!("{shown} is neither an array nor a struct"), span, label);
                self.report(match other {
                    Ty::Complex => d.help("a complex number is written `1.0 + 2.0i` or `complex(x, y)`"),
                    Ty::Vec(_) => d.help(format!("a vector is made as in `{shown}(x, y, ...)`")),
                    _ => d,
                });
                self.broken(span)
            }
        }
    }

    /// The fields in order; those that are left out are zero, and stand in the list, so that it is as long as there are fields.
    fn struct_literal(&mut self, items: &[ast::Expr], id: StructId, want: &Ty, span: Span) -> Expr {
        let s = self.w.globals.structs[id.index()].clone();
        if let Some(extra) = items.get(s.fields.len()) {
            let plural = if s.fields.len() == 1 { "field" } else { "fields" };
            let title = format!("{} values for struct {}, which has {} {plural}", items.len(), s.name, s.fields.len());
            self.report(
                Diagnostic::error("E0215", title, extra.span(), "one too many")
                    .label(s.span, "the struct is declared here"),
            );
            return self.broken(span);
        }
        let given = items.iter().zip(&s.fields);
        let mut values: Vec<Expr> = given.map(|(e, (name, ty))| self.expr_as(e, ty, &format!("`{name}`"))).collect();
        for (_, ty) in &s.fields[items.len()..] {
            let Some(zero) = self.w.budget.zero(&self.w.globals, ty) else { return self.broken(span) };
            values.push(Expr { kind: ExprKind::Const(zero), ty: ty.clone(), span });
        }
        Expr { kind: ExprKind::Array(values), ty: want.clone(), span }
    }

    fn variable(&mut self, name: &ast::Ident) -> Expr {
        let span = name.span();
        if let Some(id) = self.lookup(&name.name) {
            let ty = self.f.locals[id.index()].ty.clone();
            return Expr { kind: ExprKind::Local(id), ty, span };
        }
        if let Some(id) = self.field_names.get(&name.name).copied() {
            let ty = self.fields[id.index()].ty.clone();
            return Expr { kind: ExprKind::Field(id), ty, span };
        }
        if let Some((ty, c, _)) = self.scalars.get(&name.name) {
            return Expr { kind: ExprKind::Const(c.clone()), ty: ty.clone(), span };
        }
        if let Some(id) = self.w.static_at(name) {
            let ty = self.w.globals.statics[id.index()].ty.clone();
            return Expr { kind: ExprKind::Static(id), ty, span };
        }
        if let Some((_, at)) = self.head.iter().find(|(n, _)| *n == name.name) {
            let d = Diagnostic::error(
                "E0209",
                "the size of an array must be a constant",
                span,
                format!("`{}` has a value only when the function is called", name.name),
            );
            let d = d.label(*at, "this parameter");
            self.report(
                d.help("a function takes arrays of one size: use a parameter of the stream, a static or a literal"),
            );
            return self.broken(span);
        }
        let mut d = Diagnostic::error(
            "E0102",
            format!("there is no variable `{}`", name.name),
            span,
            "not declared in any scope around this",
        );
        // a list of all names for each of a thousand faults would take long
        let near = if self.w.searches() { self.visible() } else { Vec::new() };
        let locals: Vec<Name> = near.into_iter().map(|(n, _)| n).collect();
        let known = (locals.iter().map(|n| &**n))
            .chain(self.field_names.keys().map(|n| &**n))
            .chain(self.scalars.keys().map(|n| &**n))
            .chain(self.w.statics.keys().map(|n| &**n));
        let of_stream = self.decl.map(|id| &self.w.decl(id).ast.params);
        let later = of_stream.and_then(|all| all.iter().find(|p| p.name.name == name.name)).map(|p| p.name.span());
        if let Some(at) = later {
            d = d.label(at, "this parameter comes after it");
            d = d.help(format!("put the parameter `{}` before those that need it", name.name));
        } else if matches!(&*name.name, "PI" | "Pi" | "M_PI") {
            d = d.help("the constant is written `pi`").fix(Fix::safe("change to `pi`", span, "pi"));
        } else if &*name.name == "Math" {
            d = d.help("mathematical functions, and `pi`, are written without `Math.`");
        } else if let Some(n) = self.w.nearest(&name.name, known) {
            d = d.help(format!("did you mean `{n}`?")).fix(Fix::new(format!("change to `{n}`"), span, n));
        } else if matches!(&*name.name, "print" | "println") {
            d = d.help(format!("what is printed stands between parentheses: `{}(x);`", name.name));
        } else if self.w.streams.contains_key(&name.name) {
            d = d.help("a stream of that name exists, but streams are no values: use `add`");
        } else if let Some((at, of)) = self.w.searches().then(|| self.w.composite_with(&name.name)).flatten() {
            d = d.label(at, format!("`{of}` declares one, which only it and the anonymous streams in it see"));
            d = d.help(format!("make it a parameter, which who adds the stream gives: `add S({})`", name.name));
        }
        self.report(d);
        self.broken(span)
    }

    fn member(&mut self, base: &ast::Expr, name: &ast::Ident, span: Span) -> Expr {
        let b = self.expr(base).expr;
        let unknown = |c: &mut Self, what: String, has: String, known: &[&str]| {
            let title = format!("{what} has no field `{}`", name.name);
            let mut d = Diagnostic::error("E0106", title, name.span(), "no such field").help(has);
            if let Some(n) = c.w.nearest(&name.name, known.iter().copied()) {
                d = d.fix(Fix::new(format!("change to `{n}`"), name.span(), n));
            }
            c.report(d);
            c.broken(span)
        };
        match b.ty.clone() {
            Ty::Error => self.broken(span),
            Ty::Struct(id) => {
                let s = self.w.globals.structs[id.index()].clone();
                match s.fields.iter().position(|(n, _)| *n == name.name) {
                    Some(i) => {
                        let ty = s.fields[i].1.clone();
                        Expr { kind: ExprKind::Member(Box::new(b), i as u32), ty, span }
                    }
                    None => {
                        let names: Vec<String> = s.fields.iter().map(|(n, _)| format!("`{n}`")).collect();
                        let known: Vec<&str> = s.fields.iter().map(|(n, _)| &**n).collect();
                        let has = format!("its fields are {}", names.join(", "));
                        unknown(self, format!("struct {}", s.name), has, &known)
                    }
                }
            }
            Ty::Complex => match &*name.name {
                "real" | "imag" => {
                    let i = u8::from(&*name.name == "imag");
                    Expr { kind: ExprKind::Component(Box::new(b), i), ty: Ty::Float, span }
                }
                _ => {
                    let has = "a complex number has `.real` and `.imag`".into();
                    unknown(self, "complex".into(), has, &["real", "imag"])
                }
            },
            Ty::Vec(n) => match ["x", "y", "z", "w"].iter().take(n.into()).position(|c| *c == &*name.name) {
                Some(i) => Expr { kind: ExprKind::Component(Box::new(b), i as u8), ty: Ty::Float, span },
                None => {
                    let has = ["`.x`", "`.y`", "`.z`", "`.w`"][..n.into()].join(", ");
                    unknown(self, format!("float{n}"), format!("its components are {has}"), &[])
                }
            },
            other => {
                let other = self.show(&other);
                unknown(self, other, "only structs, complex numbers and vectors have fields".into(), &[])
            }
        }
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let b = self.expr(base).expr;
        let i = self.expr(index);
        let i = self.index_value(i, "an array index");
        let ty = match &b.ty {
            Ty::Array(e, _) => (**e).clone(),
            Ty::Error => Ty::Error,
            other => {
                let other = self.show(other);
                self.error("E0206", format!("{other} is not an array"), b.span, "cannot be indexed");
                Ty::Error
            }
        };
        if let (Some(n), ExprKind::Const(Const::Int(k))) = (b.ty.known_len(), &i.kind)
            && (*k < 0 || *k as u32 >= n)
        {
            let (k, at) = (*k, i.span);
            self.report(
                Diagnostic::error(
                    "E0225",
                    format!("index {k} is outside of the array"),
                    at,
                    format!("the array has {n} elements"),
                )
                .help(if n == 0 {
                    "it is empty".to_string()
                } else {
                    format!("indices run from 0 to {}", n - 1)
                }),
            );
        }
        Expr { kind: ExprKind::Index(Box::new(b), Box::new(i)), ty, span }
    }

    /// An int for an index or a peek.
    pub fn index_value(&mut self, e: Checked, what: &str) -> Expr {
        let span = e.expr.span;
        match fit(&e.expr.ty, &Ty::Int) {
            Fit::Same | Fit::Widens => self.coerce(e, &Ty::Int).expr,
            _ => {
                let ty = self.show(&e.expr.ty);
                let mut d = Diagnostic::error("E0207", format!("{what} must be an int"), span, format!("this is {ty}"))
                    .help("cast it: `(int)(...)` truncates toward zero");
                if e.expr.ty.is_real_number() {
                    let text = format!("(int)({})", self.w.sources.text(span));
                    d = d.fix(Fix::new(format!("write `{}`", super::convert::shorten(&text)), span, text));
                }
                self.report(d);
                Expr { kind: ExprKind::Const(Const::Int(0)), ty: Ty::Error, span }
            }
        }
    }

    fn input(&mut self, what: &str, span: Span) -> Ty {
        if !self.channels_allowed() {
            self.no_channels(what, span);
            return Ty::Error;
        }
        match self.io.0.clone() {
            None => Ty::Error,
            Some(Ty::Void) => {
                let at = self.io_span;
                self.report(
                    Diagnostic::error("E0235", format!("`{what}` in a filter without input"), span, "nothing comes in")
                        .label(at, "declared with input type void"),
                );
                Ty::Error
            }
            Some(t) => t,
        }
    }

    /// Reports a channel operation in a body that has no channels.
    pub fn no_channels(&mut self, what: &str, span: Span) {
        let wher = match self.place {
            Place::FilterInit => "init runs before the first firing",
            Place::Handler => "a message handler runs between firings",
            Place::Composite(_) => "the body of a composite runs at compile time",
            Place::Static => "static blocks run at start-up",
            _ => "functions of a helper group belong to no filter",
        };
        self.report(
            Diagnostic::error("E0221", format!("`{what}` cannot be used here"), span, "no channel here")
                .help(format!("{wher}; pop, peek and push belong into `work`, `prework` and a filter's own functions")),
        );
    }

    fn pop(&mut self, span: Span) -> Expr {
        let ty = self.input("pop()", span);
        Expr { kind: ExprKind::Pop, ty, span }
    }

    fn peek(&mut self, index: &ast::Expr, span: Span) -> Expr {
        let i = self.expr(index);
        let i = self.index_value(i, "the position of a peek");
        let ty = self.input("peek", span);
        if let ExprKind::Const(Const::Int(k)) = &i.kind
            && *k < 0
            && i.ty == Ty::Int
        {
            let (k, at) = (*k, i.span);
            self.error(
                "E0226",
                format!("peek({k}) looks at an item that is gone"),
                at,
                "positions count from 0, the next item",
            );
        }
        Expr { kind: ExprKind::Peek(Box::new(i)), ty, span }
    }

    fn incdec(&mut self, target: &ast::Expr, inc: bool, prefix: bool, span: Span) -> Expr {
        let place = self.place_expr(target);
        let ty = place.ty.clone();
        if !matches!(ty, Ty::Int | Ty::Float | Ty::Double | Ty::Error) {
            let (symbol, t) = (if inc { "++" } else { "--" }, self.show(&ty));
            self.error("E0202", format!("`{symbol}` does not apply to {t}"), span, format!("the operand is {t}"));
            return self.broken(span);
        }
        Expr { kind: ExprKind::IncDec { place: Box::new(place), inc, prefix }, ty, span }
    }

    fn ternary(&mut self, c: &ast::Expr, a: &ast::Expr, b: &ast::Expr, span: Span) -> Checked {
        let cond = self.expr(c);
        let cond = self.condition(cond);
        let trees = (a, b);
        let (mut a, mut b) = (self.expr(a), self.expr(b));
        self.promote_literals(&mut a, &mut b);
        let real = [&a, &b].iter().any(|c| c.literal.is_some() || c.choice.is_some());
        let choice = real.then(|| Some([choices(&a, trees.0)?, choices(&b, trees.1)?].concat())).flatten();
        let Some(ty) = self.meet(&a.expr.ty, &b.expr.ty) else {
            let (x, y) = (self.show(&a.expr.ty), self.show(&b.expr.ty));
            self.report(
                Diagnostic::error(
                    "E0200",
                    "the two values of `?:` do not agree in type",
                    a.expr.span,
                    format!("this is {x}"),
                )
                .label(b.expr.span, format!("and this is {y}")),
            );
            return self.broken(span).into();
        };
        // bit and boolean meet in int for arithmetic, but a choice between equals stays what it is
        let a = self.coerce(a, &ty).expr;
        let b = self.coerce(b, &ty).expr;
        let expr = Expr { kind: ExprKind::Ternary(Box::new(cond), Box::new(a), Box::new(b)), ty, span };
        Checked { expr, literal: None, choice }
    }

    fn cast(&mut self, ty: &ast::Type, inner: &ast::Expr, span: Span) -> Expr {
        let to = self.ty(ty);
        let mut e = self.expr(inner);
        if self.met_double(&mut e, &to) {
            return Expr { span, ..e.expr };
        }
        let from = e.expr.ty.clone();
        let fine = match (&from, &to) {
            (Ty::Error, _) | (_, Ty::Error) => return Expr { ty: to, ..self.broken(span) },
            (f, t) if f.is_real_number() && t.is_real_number() => true,
            (f, Ty::Complex | Ty::Vec(_)) if f.is_real_number() => true,
            (f, t) => super::convert::same(f, t),
        };
        if !fine {
            let (f, t) = (self.show(&from), self.show(&to));
            let mut d = Diagnostic::error(
                "E0217",
                format!("{f} cannot be cast to {t}"),
                span,
                format!("this would turn {f} into {t}"),
            );
            if from == Ty::Complex {
                d = d.help("take a part of it: `.real`, `.imag`, or its size `abs(c)`");
            }
            self.report(d);
            return self.broken(span);
        }
        let mut e = if from == Ty::Double && matches!(to, Ty::Complex | Ty::Vec(_)) {
            let f = self.convert(e.expr, &Ty::Float);
            self.convert(f, &to)
        } else {
            self.convert(e.expr, &to)
        };
        e.span = span;
        e
    }

    /// A place that can be assigned.
    pub fn place_expr(&mut self, e: &ast::Expr) -> Expr {
        let checked = self.expr(e).expr;
        if checked.ty == Ty::Error {
            return checked;
        }
        let mut root = &checked;
        while let ExprKind::Index(b, _) | ExprKind::Member(b, _) | ExprKind::Component(b, _) = &root.kind {
            root = b;
        }
        let span = e.span();
        let problem = match &root.kind {
            ExprKind::Local(id) => {
                let id = *id;
                // parameters of a composite are constants
                let param = matches!(self.place, Place::Composite(_)) && self.is_stream_param(id);
                if !param {
                    self.f.locals[id.index()].written = true;
                }
                let what = "what comes to a stream from outside, as its parameters do, is a constant";
                param.then(|| (what.to_string(), self.f.locals[id.index()].span))
            }
            ExprKind::Field(id) => {
                let f = &self.fields[id.index()];
                f.param.then(|| ("a parameter of a stream is a constant".to_string(), f.span))
            }
            ExprKind::Static(id) => {
                let at = self.w.globals.statics[id.index()].span;
                (self.place != Place::Static).then(|| ("statics are set at start-up only".to_string(), at))
            }
            _ => {
                let mut d = Diagnostic::error("E0205", "this cannot be assigned", span, "not a variable");
                if let A::Var(n) = &e.unparen().kind
                    && let Some((_, _, at)) = self.scalars.get(&n.name)
                {
                    d = Diagnostic::error(
                        "E0205",
                        format!("`{}` cannot be assigned", n.name),
                        span,
                        "a parameter of a stream is a constant",
                    )
                    .label(*at, "declared here")
                    .help("copy it into a variable of your own");
                }
                self.report(d);
                return self.broken(span);
            }
        };
        if let Some((why, at)) = problem {
            self.report(
                Diagnostic::error("E0205", "this cannot be assigned", span, why)
                    .label(at, "declared here")
                    .help("copy it into a variable of your own"),
            );
            return self.broken(span);
        }
        checked
    }
}
