//! Types and declarations of variables.

use super::{Base, Declarator, H, State, gather};
use crate::ast::*;
use crate::diagnostic::{Diagnostic, Fix};
use crate::span::Span;

impl<'s> State<'s> {
    pub fn ty(&mut self, base: Base, (dims, r): (H<Vec<Expr>>, u32)) -> Box<H<Type>> {
        let at = At(self.span(base.at.0.start, r.max(base.at.0.end)));
        Box::new(H { v: Type { base: base.base, dims: dims.v, at }, h: dims.h })
    }

    pub fn named_type(&mut self, name: Ident, dims: (H<Vec<Expr>>, u32)) -> Box<H<Type>> {
        let at = name.at;
        self.ty(Base { base: BaseType::Named(name), at }, dims)
    }

    pub fn void(&mut self, l: u32, r: u32) -> H<Type> {
        H::leaf(Type { base: BaseType::Void, dims: Vec::new(), at: self.at(l, r) })
    }

    /// A type that has been read as an expression: `Name` or `Name[3][4]`.
    fn type_of_expr(&mut self, e: H<Expr>) -> Result<H<Type>, H<Expr>> {
        let mut inner = &e.v;
        while let ExprKind::Index(base, _) = &inner.kind {
            inner = base;
        }
        if !matches!(inner.kind, ExprKind::Var(_)) {
            return Err(e);
        }
        let (at, h) = (e.v.at, e.h);
        let mut dims = Vec::new();
        let mut rest = e.v;
        loop {
            match rest.kind {
                ExprKind::Index(base, size) => {
                    dims.push(*size);
                    rest = *base;
                }
                ExprKind::Var(name) => {
                    dims.reverse();
                    return Ok(H { v: Type { base: BaseType::Named(name), dims, at }, h });
                }
                _ => unreachable!("the innermost expression is a name"),
            }
        }
    }

    /// The declarations that had to be split off the one just built.
    pub fn drain_decls(&mut self, into: &mut Vec<VarDecl>) {
        for stmt in std::mem::take(&mut self.pending) {
            if let StmtKind::Decl(decl) = stmt.v.kind {
                into.push(decl);
            }
        }
    }

    pub fn add_fields(&mut self, mut members: H<Vec<Member>>, decl: H<VarDecl>) -> H<Vec<Member>> {
        let mut decls = vec![decl.v];
        self.drain_decls(&mut decls);
        members.h = members.h.max(decl.h);
        members.v.extend(decls.into_iter().map(Member::Field));
        members
    }

    pub fn declarator(&mut self, name: Ident, dims: (H<Vec<Expr>>, Span), value: Option<H<Expr>>) -> H<Declarator> {
        let (dims, place) = dims;
        let h = dims.h.max(value.as_ref().map_or(0, |value| value.h));
        H { v: Declarator { name, dims: dims.v, dims_at: place, value: value.map(|value| value.v) }, h }
    }

    /// `float a[N]`, as C has it. Alone on its type it can be mended.
    fn c_dims(&mut self, ty: &Type, name: &Ident, place: Span, alone: bool) {
        let text = self.text;
        let source = |span: Span| &text[span.start as usize..span.end as usize];
        let dims = source(place).trim();
        // Dimensions behind the name come before those of the type.
        let (base, inner) = match source(ty.at.0).find('[') {
            Some(bracket) => source(ty.at.0).split_at(bracket),
            None => (source(ty.at.0), ""),
        };
        let base = base.trim_end();
        let whole = format!("{base}{dims}{inner} {}", name.name);
        let mut diagnostic = Diagnostic::error(
            "E0012",
            format!("the dimension is written on the type: `{whole}`"),
            place,
            "an array's size does not stand behind its name",
        )
        .label(ty.at.0, "it belongs here");
        if alone {
            let behind_base = ty.at.0.start + base.len() as u32;
            let fix = Fix::safe(format!("write `{whole}`"), self.span(behind_base, behind_base), dims);
            diagnostic = diagnostic.fix(fix.and(place, ""));
        } else {
            diagnostic = diagnostic.help("all names of a declaration have one type; declare the array on its own");
        }
        self.diagnostics.push(diagnostic);
    }

    pub fn param(&mut self, mut ty: H<Type>, name: Ident, dims: (H<Vec<Expr>>, Span)) -> H<Param> {
        let (dims, place) = dims;
        if !dims.v.is_empty() {
            self.c_dims(&ty.v, &name, place, true);
            ty.h = ty.h.max(dims.h);
            ty.v.dims.splice(0..0, dims.v);
        }
        ty.map(|ty| Param { ty, name })
    }

    /// One word where a type and a name should be: most likely a name, and it is known by that from now on.
    pub fn param_alone(&mut self, name: Ident) -> H<Param> {
        let title = format!("the type of the parameter `{}` is missing", name.name);
        let diagnostic = Diagnostic::error("E0008", title, name.span(), "one word, where a type and a name are needed");
        let help = format!("each parameter has a type before its name, as in `int {}`", name.name);
        self.diagnostics.push(diagnostic.help(help));
        let ty = Type { base: BaseType::Error, dims: Vec::new(), at: name.at };
        H::leaf(Param { ty, name })
    }

    pub fn var_decl(&mut self, ty: H<Type>, vars: Vec<H<Declarator>>, r: u32) -> Box<H<VarDecl>> {
        let vars = gather(vars);
        let h = ty.h.max(vars.h);
        let at = self.at(ty.v.at.0.start, r);
        // Names with equal dimensions share a declaration; there is more than one only after a fault.
        let mut decls: Vec<VarDecl> = Vec::with_capacity(1);
        let mut last: Option<Vec<Expr>> = None;
        let alone = vars.v.len() == 1;
        for var in vars.v {
            if !var.dims.is_empty() {
                self.c_dims(&ty.v, &var.name, var.dims_at, alone);
            }
            let entry = (var.name, var.value);
            match (&last, decls.last_mut()) {
                (Some(dims), Some(decl)) if *dims == var.dims => decl.vars.push(entry),
                _ => {
                    let mut own = ty.v.clone();
                    own.dims.splice(0..0, var.dims.iter().cloned());
                    decls.push(VarDecl { ty: own, vars: vec![entry], at });
                    last = Some(var.dims);
                }
            }
        }
        let first = decls.remove(0);
        for decl in decls {
            let v = Stmt { kind: StmtKind::Decl(decl), at };
            self.pending.push(H { v, h: h + 1 });
        }
        Box::new(H { v: first, h })
    }

    pub fn decl_stmt(&mut self, ty: H<Type>, vars: Vec<H<Declarator>>, r: u32) -> Box<H<Stmt>> {
        let decl = self.var_decl(ty, vars, r);
        let at = decl.v.at;
        self.stmt(at.0.start, StmtKind::Decl(decl.v), decl.h, at.0.end)
    }

    /// `Name x`, or two statements that lack a semicolon between them: `f(a) x = 3`
    pub fn named_decl(&mut self, ty: H<Expr>, vars: Vec<H<Declarator>>, r: u32) -> Box<H<Stmt>> {
        let e = match self.type_of_expr(ty) {
            Ok(ty) => return self.decl_stmt(ty, vars, r),
            Err(e) => e,
        };
        self.missing_semicolon_at(e.v.span().end, vars[0].v.name.span());
        for var in vars {
            let Declarator { name, dims, value, dims_at: _ } = var.v;
            let target = self.var(name);
            let stmt = match value {
                Some(value) if dims.is_empty() => self.assign(target, None, H { v: value, h: var.h }),
                _ => self.expr_stmt(target),
            };
            self.pending.push(*stmt);
        }
        self.expr_stmt(e)
    }
}
