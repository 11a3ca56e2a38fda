//! Calls: own functions, mathematical functions, functions of groups, constructors.

use super::convert::Checked;
use super::{Checker, Place};
use crate::constant::Const;
use crate::ty::Ty;
use crate::typed::*;
use sluice_grammar::ast::{self, ExprKind as A};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

/// In how many ways a call may choose the arrays that it passes.
const MAX_CHOICES: u64 = 16;

/// Mathematical functions by name, with their number of arguments.
pub const BUILTINS: &[(&str, Builtin, usize)] = &[
    ("abs", Builtin::Abs, 1),
    ("acos", Builtin::Acos, 1),
    ("acosh", Builtin::Acosh, 1),
    ("arg", Builtin::Arg, 1),
    ("asin", Builtin::Asin, 1),
    ("asinh", Builtin::Asinh, 1),
    ("atan", Builtin::Atan, 1),
    ("atan2", Builtin::Atan2, 2),
    ("atanh", Builtin::Atanh, 1),
    ("ceil", Builtin::Ceil, 1),
    ("cos", Builtin::Cos, 1),
    ("cosh", Builtin::Cosh, 1),
    ("csqrt", Builtin::Sqrt, 1),
    ("exp", Builtin::Exp, 1),
    ("expm1", Builtin::Expm1, 1),
    ("floor", Builtin::Floor, 1),
    ("fmod", Builtin::Fmod, 2),
    ("log", Builtin::Log, 1),
    ("log10", Builtin::Log10, 1),
    ("max", Builtin::Max, 2),
    ("min", Builtin::Min, 2),
    ("pow", Builtin::Pow, 2),
    ("rint", Builtin::Rint, 1),
    ("round", Builtin::Round, 1),
    ("sin", Builtin::Sin, 1),
    ("sinh", Builtin::Sinh, 1),
    ("sqrt", Builtin::Sqrt, 1),
    ("tan", Builtin::Tan, 1),
    ("tanh", Builtin::Tanh, 1),
];

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        match &callee.unparen().kind {
            A::Var(name) => self.call_name(name, args, span),
            A::Member(base, name) => {
                if let A::Var(group) = &base.unparen().kind
                    && self.lookup(&group.name).is_none()
                    && !self.field_names.contains_key(&group.name)
                    && !self.scalars.contains_key(&group.name)
                {
                    return self.call_group(group, name, args, span);
                }
                self.error("E0104", "this is no function", callee.span(), "cannot be called");
                self.broken(span)
            }
            A::Error => self.broken(span),
            _ => {
                self.error("E0104", "this is no function", callee.span(), "cannot be called");
                self.broken(span)
            }
        }
    }

    fn call_name(&mut self, name: &ast::Ident, args: &[ast::Expr], span: Span) -> Expr {
        if let Some(id) = self.own_names.get(&name.name).copied() {
            let f = self.own[id.index()].clone();
            let args = self.arguments(&name.name, args, &f.params, Some(f.span), span);
            self.choices(&name.name, &args, span);
            return Expr { kind: ExprKind::Call(Callee::Own(id), args), ty: f.ret, span };
        }
        let sibling = self.group.as_ref().and_then(|g| self.w.groups.get(g)?.functions.get(&name.name));
        if let Some(f) = sibling {
            let (callee, params, ret, at) = (f.callee, f.params.clone(), f.ret.clone(), f.ast.name.span());
            let args = self.arguments(&name.name, args, &params, Some(at), span);
            self.choices(&name.name, &args, span);
            return Expr { kind: ExprKind::Call(callee, args), ty: ret, span };
        }
        match &*name.name {
            "float2" | "float3" | "float4" | "complex" => return self.compose(&name.name, args, span),
            "print" | "println" => {
                self.report(
                    Diagnostic::error(
                        "E0228",
                        format!("`{}` gives no value", name.name),
                        span,
                        "a value is wanted here",
                    )
                    .help("use it as a statement of its own"),
                );
                return self.broken(span);
            }
            _ => {}
        }
        if let Some((_, b, n)) = BUILTINS.iter().find(|(k, ..)| *k == &*name.name) {
            return self.call_builtin(&name.name, *b, *n, args, span);
        }
        let mut d = Diagnostic::error(
            "E0104",
            format!("there is no function `{}`", name.name),
            name.span(),
            "neither a function of this filter nor a mathematical one",
        );
        let groups: Vec<Name> =
            (self.w.group_names()).filter(|n| self.w.groups[*n].functions.contains_key(&name.name)).cloned().collect();
        let near = {
            let own = self.own_names.keys().map(|n| &**n);
            let words = ["print", "println", "push", "pop", "peek", "iter"];
            self.w.nearest(&name.name, BUILTINS.iter().map(|(n, ..)| *n).chain(own).chain(words))
        };
        let before = Span { end: name.span().start, ..name.span() };
        if let Some(at) = self.function_of_filter(&name.name) {
            // signatures come after sizes
            d = d.label(
                at,
                "a function of this filter, but sizes of its fields and types are known before its functions",
            );
            d = d.help(
                "put it into a `helper` group, whose functions can be called in sizes, or write out what it computes",
            );
        } else if matches!(&*name.name, "random" | "rand" | "randInt") {
            d = d.help("random numbers come from the library, with a seed, so that a run repeats: `state = Random.next(state)` on a field `int state = 1;`, then `Random.below(state, n)` or `Random.unit(state)`");
        } else if self.w.streams.contains_key(&name.name) {
            d = d.help("a stream of that name exists, but a stream is no function: it is added, by `add`, in a pipeline or splitjoin");
            if matches!(self.place, Place::Composite(_)) {
                d = d.fix(Fix::new(format!("write `add {}`", name.name), before, "add "));
            }
        } else if let Some(g) = groups.iter().min() {
            d = d.help(format!("functions of a group are called with its name: `{g}.{}`", name.name)).fix(Fix::new(
                format!("write `{g}.{}`", name.name),
                before,
                format!("{g}."),
            ));
        } else if let Some(n) = near {
            d = d.help(format!("did you mean `{n}`?")).fix(Fix::new(format!("change to `{n}`"), name.span(), n));
        }
        self.report(d);
        for a in args {
            self.expr(a);
        }
        self.broken(span)
    }

    /// Where the filter that is checked has a function of this name, whether it is known yet or not.
    fn function_of_filter(&self, name: &str) -> Option<Span> {
        let ast::StreamBody::Filter(members) = &self.w.decl(self.decl?).ast.body else { return None };
        members.iter().find_map(|m| match m {
            ast::Member::Function(f) if *f.name.name == *name => Some(f.name.span()),
            _ => None,
        })
    }

    fn call_group(&mut self, group: &ast::Ident, name: &ast::Ident, args: &[ast::Expr], span: Span) -> Expr {
        let Some(g) = self.w.group_at(group) else {
            let mut d = Diagnostic::error(
                "E0109",
                format!("there is no `helper` or `native` group `{}`", group.name),
                group.span(),
                "not declared",
            );
            let within = Span { end: name.span().start, ..group.span() };
            if &*group.name == "Math" && BUILTINS.iter().any(|(k, ..)| *k == &*name.name) {
                d = d.help(format!("mathematical functions are called by their names alone: `{}(...)`", name.name));
                d = d.fix(Fix::safe(format!("write `{}`", name.name), within, ""));
            } else if let Some(n) = self.w.nearest(&group.name, self.w.group_names().map(|k| &**k)) {
                d = d.help(format!("did you mean `{n}`?")).fix(Fix::new(format!("change to `{n}`"), group.span(), n));
            }
            self.report(d);
            return self.broken(span);
        };
        let Some(f) = g.functions.get(&name.name) else {
            let mut d = Diagnostic::error(
                "E0109",
                format!("the group `{}` has no function `{}`", group.name, name.name),
                name.span(),
                "not declared in this group",
            )
            .label(g.span, "the group");
            if let Some(n) = self.w.nearest(&name.name, g.functions.keys().map(|k| &**k)) {
                d = d.help(format!("did you mean `{n}`?")).fix(Fix::new(format!("change to `{n}`"), name.span(), n));
            }
            self.report(d);
            return self.broken(span);
        };
        let (callee, params, ret, at) = (f.callee, f.params.clone(), f.ret.clone(), f.ast.name.span());
        let mut args = self.arguments(&name.name, args, &params, Some(at), span);
        self.choices(&name.name, &args, span);
        if matches!(callee, Callee::Native(_)) {
            args = args.into_iter().map(|a| self.native_argument(a)).collect();
        }
        Expr { kind: ExprKind::Call(callee, args), ty: ret, span }
    }

    /// Arguments with the parameters' types.
    pub fn arguments(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        params: &[Ty],
        at: Option<Span>,
        span: Span,
    ) -> Vec<Expr> {
        if args.len() != params.len() {
            let plural = if params.len() == 1 { "argument" } else { "arguments" };
            let mut d = Diagnostic::error(
                "E0204",
                format!("`{name}` takes {} {plural}, not {}", params.len(), args.len()),
                span,
                format!("{} given", args.len()),
            );
            if let Some(at) = at {
                d = d.label(at, "declared here");
            }
            self.report(d);
        }
        args.iter()
            .enumerate()
            .map(|(i, a)| match params.get(i) {
                Some(p) => self.expr_as(a, p, &format!("argument {} of `{name}`", i + 1)),
                None => self.expr(a).expr,
            })
            .collect()
    }

    /// Arrays go by reference: a call with arrays chosen by `?:` is a call for each choice, so there is a bound.
    fn choices(&mut self, name: &str, args: &[Expr], span: Span) {
        fn ways(e: &Expr) -> u64 {
            match &e.kind {
                ExprKind::Ternary(_, a, b) => ways(a).saturating_add(ways(b)),
                ExprKind::Index(base, _) | ExprKind::Member(base, _) => ways(base),
                _ => 1,
            }
        }
        let arrays = args.iter().filter(|a| matches!(a.ty, Ty::Array(..)));
        let all = arrays.map(ways).fold(1, u64::saturating_mul);
        if all > MAX_CHOICES {
            let d = Diagnostic::error(
                "E0244",
                format!("the call of `{name}` chooses arrays in {all} ways"),
                span,
                format!("at most {MAX_CHOICES} ways are possible"),
            );
            self.report(d.help("choose with `if`, and call the function in its branches"));
        }
    }

    fn compose(&mut self, name: &str, args: &[ast::Expr], span: Span) -> Expr {
        let (ty, n) = match name {
            "float2" => (Ty::Vec(2), 2),
            "float3" => (Ty::Vec(3), 3),
            "float4" => (Ty::Vec(4), 4),
            _ => (Ty::Complex, 2),
        };
        let parts = self.arguments(name, args, &vec![Ty::Float; n], None, span);
        if parts.len() != n {
            return self.broken(span);
        }
        Expr { kind: ExprKind::Compose(parts), ty, span }
    }

    fn call_builtin(&mut self, name: &str, b: Builtin, n: usize, args: &[ast::Expr], span: Span) -> Expr {
        if args.len() != n {
            self.arguments(name, args, &vec![Ty::Error; n], None, span);
            return self.broken(span);
        }
        let mut checked: Vec<Checked> = args.iter().map(|a| self.expr(a)).collect();
        if checked.iter().any(|c| c.expr.ty == Ty::Error) {
            return self.broken(span);
        }
        if let [a, b] = &mut checked[..] {
            self.promote_literals(a, b);
        }
        let mut met = checked[0].expr.ty.clone();
        for c in &checked[1..] {
            met = self.meet(&met, &c.expr.ty).unwrap_or(Ty::Str);
        }
        let whole = matches!(b, Builtin::Abs | Builtin::Min | Builtin::Max);
        let complex = matches!(
            b,
            Builtin::Abs | Builtin::Arg | Builtin::Exp | Builtin::Log | Builtin::Sin | Builtin::Cos | Builtin::Sqrt
        );
        let (operand, result) = match met {
            Ty::Bit | Ty::Bool | Ty::Int if whole => (Ty::Int, Ty::Int),
            Ty::Complex if complex => {
                (Ty::Complex, if matches!(b, Builtin::Abs | Builtin::Arg) { Ty::Float } else { Ty::Complex })
            }
            _ if name == "csqrt" || b == Builtin::Arg => match met {
                Ty::Bit | Ty::Bool | Ty::Int | Ty::Float => {
                    (Ty::Complex, if b == Builtin::Arg { Ty::Float } else { Ty::Complex })
                }
                _ => (Ty::Error, Ty::Error),
            },
            Ty::Bit | Ty::Bool | Ty::Int | Ty::Float => (Ty::Float, Ty::Float),
            Ty::Double => (Ty::Double, Ty::Double),
            _ => (Ty::Error, Ty::Error),
        };
        if operand == Ty::Error {
            let shown: Vec<String> = checked.iter().map(|c| self.show(&c.expr.ty)).collect();
            self.error(
                "E0202",
                format!("`{name}` does not apply to {}", shown.join(" and ")),
                span,
                "no such function for this type",
            );
            return self.broken(span);
        }
        checked.iter().for_each(|c| self.widens(&c.expr, &operand));
        let args: Vec<Expr> = checked.into_iter().map(|c| self.convert(c.expr, &operand)).collect();
        Expr { kind: ExprKind::Builtin(b, args), ty: result, span }
    }

    /// `print(x)` and `println(x)`.
    pub fn print(&mut self, name: &ast::Ident, args: &[ast::Expr], newline: bool, span: Span) -> StmtKind {
        if !matches!(self.place, Place::FilterWork | Place::FilterInit | Place::Handler | Place::Helper) {
            self.report(
                Diagnostic::error("E0220", format!("`{}` cannot stand here", name.name), span, "nothing runs here yet")
                    .help("print from a filter's `init` or `work`"),
            );
        }
        let value = match args {
            [] if newline => Expr { kind: ExprKind::Const(Const::Str("".into())), ty: Ty::Str, span },
            [one] => self.expr(one).expr,
            _ => {
                self.error(
                    "E0204",
                    format!("`{}` takes 1 argument, not {}", name.name, args.len()),
                    span,
                    "put texts together with `+`",
                );
                return StmtKind::Block(Vec::new());
            }
        };
        if value.ty.is_aggregate() || matches!(value.ty, Ty::Void | Ty::Portal(_)) {
            let t = self.show(&value.ty);
            self.error("E0216", format!("{t} cannot be printed"), value.span, "print its elements one by one");
        }
        StmtKind::Print { value, newline }
    }
}
