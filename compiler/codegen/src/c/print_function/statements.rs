//! Statements.

use super::{Nest, Printer};
use crate::c::natives;
use crate::c::print::{Send, SiteKind};
use crate::c::print_choices::carries;
use crate::c::print_unroll::is_written_out;
use crate::c::types::{c_type, text};
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use sluice_kernel::ir::*;
use sluice_kernel::passes::unroll;
use sluice_kernel::walk;
use std::fmt::Write;

impl Printer<'_> {
    pub(super) fn stmt(&mut self, s: &Stmt, depth: usize) {
        let pad = "    ".repeat(depth);
        match &s.kind {
            StmtKind::Assign(p, e) => {
                if self.lane_assign(p, e, &pad) {
                    return;
                }
                let declares = p.as_local().filter(|id| self.scopes.declares(s, *id));
                let ty =
                    declares.map_or(String::new(), |id| format!("{} ", c_type(&self.function().locals[id.index()].ty)));
                let (place, value) = (self.place(p), self.choice(p, e).unwrap_or_else(|| self.expr(e)));
                let _ = writeln!(self.out, "{pad}{ty}{place} = {value};");
                self.written(p);
            }
            StmtKind::Call { dst: into, callee, args } => {
                let call = self.call(*callee, args);
                let dst = into.as_ref().map_or(String::new(), |p| {
                    let declares = p.as_local().filter(|id| self.scopes.declares(s, *id));
                    let ty = declares
                        .map_or(String::new(), |id| format!("{} ", c_type(&self.function().locals[id.index()].ty)));
                    format!("{ty}{} = ", self.place(p))
                });
                let _ = writeln!(self.out, "{pad}{dst}{call};");
                if self.device() {
                    let _ = writeln!(self.out, "{pad}if (SL_UNLIKELY(ctx->failed)) {};", self.leave());
                }
                if let Callee::Native(i) = callee {
                    self.clean_truth(*i as usize, args, into.as_ref(), &pad);
                }
            }
            StmtKind::Check(c) => self.check(c, s.span, &pad),
            StmtKind::If(c, a, b) => {
                let c = self.expr(c);
                let _ = writeln!(self.out, "{pad}if ({c}) {{");
                self.body(a, depth + 1);
                if !b.is_empty() {
                    let _ = writeln!(self.out, "{pad}}} else {{");
                    self.body(b, depth + 1);
                }
                let _ = writeln!(self.out, "{pad}}}");
            }
            StmtKind::For(l) => self.for_loop(s, l, depth),
            StmtKind::Loop(b) => {
                self.endless(&pad);
                self.nested(b, Some(true), depth);
            }
            StmtKind::Block(b) => {
                let _ = writeln!(self.out, "{pad}{{");
                self.nested(b, None, depth);
            }
            StmtKind::Break(d) | StmtKind::Continue(d) => {
                let on = matches!(s.kind, StmtKind::Continue(_));
                let text = self.jump(*d as usize, on);
                let _ = writeln!(self.out, "{pad}{text}");
            }
            StmtKind::Return(None) => {
                let _ = writeln!(self.out, "{pad}return;");
            }
            StmtKind::Return(Some(e)) => {
                let e = self.expr(e);
                let _ = writeln!(self.out, "{pad}return {e};");
            }
            StmtKind::Print(e) => {
                let what = match &e.ty {
                    Ty::Bit => "bit".into(),
                    Ty::Bool => "boolean".into(),
                    Ty::Int => "int".into(),
                    Ty::Float => "float".into(),
                    Ty::Double => "double".into(),
                    Ty::Vec(n) => format!("float{n}"),
                    _ => "complex".to_string(),
                };
                let e = self.expr(e);
                let _ = writeln!(self.out, "{pad}sl_print_{what}(ctx, {e});");
            }
            StmtKind::Send(m) => self.send(m, &pad),
            StmtKind::PrintText(t) => {
                let _ = writeln!(self.out, "{pad}sl_print_text(ctx, {}, {});", text(t), t.len());
            }
            // gone after lower_channels
            StmtKind::Pop(_) | StmtKind::Push(_) => {}
        }
    }

    /// A message: its arguments as a struct, in the order of the handler's parameters.
    fn send(&mut self, m: &Message, pad: &str) {
        if self.device() {
            // what has a receiver does not run there
            let _ = writeln!(self.out, "{pad}/* a message that nobody receives */");
            return;
        }
        let args: Vec<Ty> = m.args.iter().map(|e| e.ty.clone()).collect();
        let send = Send { route: m.route.clone(), args };
        let number = match self.sends.iter().position(|s| *s == send) {
            Some(i) => i,
            None => {
                self.sends.push(send);
                self.sends.len() - 1
            }
        };
        let fields: Vec<String> = m.args.iter().enumerate().map(|(i, e)| format!("{} p{i};", c_type(&e.ty))).collect();
        let values: Vec<String> = m.args.iter().map(|e| self.expr(e)).collect();
        if values.is_empty() {
            let _ = writeln!(self.out, "{pad}sl_send(ctx, {number}, st->iter + 1, NULL);");
        } else {
            let _ = writeln!(self.out, "{pad}{{\n{pad}    struct {{ {} }} message;", fields.join(" "));
            // field by field: the padding has a value, too
            let _ = writeln!(self.out, "{pad}    memset(&message, 0, sizeof message);");
            for (i, value) in values.iter().enumerate() {
                let _ = writeln!(self.out, "{pad}    message.p{i} = {value};");
            }
            let _ = writeln!(self.out, "{pad}    sl_send(ctx, {number}, st->iter + 1, &message);\n{pad}}}");
        }
    }

    /// A loop that moves an array along itself, as one move.
    fn moves_along(&mut self, s: &Stmt, l: &For, pad: &str) -> bool {
        if self.device() || self.layout.is_some() {
            return false;
        }
        let (Some(a), [Stmt { kind: StmtKind::Assign(p, _), .. }]) = (unroll::along(l), l.body.as_slice()) else {
            return false;
        };
        let at = |i: u32| Place { base: p.base.clone(), path: vec![Proj::Index(Expr::int(i as i32))] };
        let (to, from) = (self.place(&at(a.to)), self.place(&at(a.from)));
        let _ = writeln!(self.out, "{pad}memmove(&{to}, &{from}, {} * sizeof {to});", a.count);
        if !self.scopes.declares(s, l.var) {
            let _ = writeln!(self.out, "{pad}{} = {};", self.local(l.var), a.last);
        }
        true
    }

    fn for_loop(&mut self, s: &Stmt, l: &For, depth: usize) {
        let pad = "    ".repeat(depth);
        if self.moves_along(s, l, &pad)
            || self.bits(s, l, &pad)
            || self.skewed(s, l, depth)
            || self.columns(s, l, depth)
            || self.nests(s, l, depth)
        {
            return;
        }
        let var = self.local(l.var);
        let (from, mut to) = (self.expr(&l.from), self.operand(&l.to));
        let declares = if self.scopes.declares(s, l.var) { "int32_t " } else { "" };
        let mut written = false;
        walk::each_written(&l.body, &mut |id| {
            written |= matches!(&l.to.kind, ExprKind::Load(p) if p.as_local() == Some(id));
        });
        let simple = l.to.as_int().is_some()
            || matches!(&l.to.kind, ExprKind::Load(p) if p.as_local().is_some_and(|id| id != l.var)) && !written;
        if !simple {
            // evaluated once
            self.serial += 1;
            let bound = format!("to_{}_", self.serial);
            if self.device() {
                // a jump may pass a declaration, not an initialisation
                let _ = writeln!(self.out, "{pad}int32_t {bound};\n{pad}{bound} = {to};");
            } else {
                let _ = writeln!(self.out, "{pad}int32_t {bound} = {to};");
            }
            to = bound;
        }
        let step = match l.step {
            1 => format!("{var}++"),
            -1 => format!("{var}--"),
            n if n > 0 => format!("{var} += {n}"),
            n => format!("{var} -= {}", i64::from(n).unsigned_abs()),
        };
        if l.abreast && !self.over_kept(l) {
            let name = if goes_through_rows(l) { "SL_ABREAST_ROW" } else { "SL_ABREAST" };
            let _ = writeln!(self.out, "{pad}{name}");
        }
        if self.device() && self.options.device.written_out && is_written_out(self.kernel, l) {
            let _ = writeln!(self.out, "{pad}SL_UNROLL");
        }
        let cmp = l.cmp.symbol();
        if let Some(turns) = self.counts(l) {
            let begin = match declares {
                "" => format!("int32_t {turns} = ({var} = {from}, 1)"),
                _ => format!("int32_t {var} = {from}, {turns} = 1"),
            };
            let leave = self.leave();
            let _ = writeln!(
                self.out,
                "{pad}for ({begin}; {var} {cmp} {to}; {step}, SL_TURN({turns})) {{\n{pad}    if (SL_OVER({turns})) {{ ctx->failed = 1; {leave}; }}"
            );
        } else {
            let _ = writeln!(self.out, "{pad}for ({declares}{var} = {from}; {var} {cmp} {to}; {step}) {{");
        }
        self.nested(&l.body, Some(carries(l)), depth);
    }

    /// The body of a construct that can be left, with its closing brace and labels. Of a loop: does it carry a number from turn to turn?
    pub(in crate::c) fn nested(&mut self, body: &[Stmt], carries: Option<bool>, depth: usize) {
        self.serial += 1;
        self.nest.push(Nest {
            number: self.serial,
            is_loop: carries.is_some(),
            carries,
            break_label: false,
            continue_label: false,
        });
        self.body(body, depth + 1);
        let pad = "    ".repeat(depth);
        if let Some(n) = self.nest.pop() {
            if n.continue_label {
                let _ = writeln!(self.out, "{pad}    next_{}:;", n.number);
            }
            let _ = writeln!(self.out, "{pad}}}");
            if n.break_label {
                let _ = writeln!(self.out, "{pad}end_{}:;", n.number);
            }
        }
    }

    fn jump(&mut self, depth: usize, on: bool) -> String {
        let Some(target) = self.nest.len().checked_sub(depth + 1) else { return String::new() };
        let inner_loop = self.nest[target + 1..].iter().any(|n| n.is_loop);
        let n = &mut self.nest[target];
        if n.is_loop && !inner_loop {
            return (if on { "continue;" } else { "break;" }).into();
        }
        if on {
            n.continue_label = true;
            format!("goto next_{};", n.number)
        } else {
            n.break_label = true;
            format!("goto end_{};", n.number)
        }
    }

    /// What a reference to a place points to: C takes any, C++ wants it said.
    fn referred(&self, p: &Place) -> String {
        let ty = sluice_kernel::types::place(self.kernel, &self.function().locals, p);
        ty.filter(|_| self.device()).map_or_else(|| "void".into(), |ty| c_type(&ty))
    }

    fn call(&self, callee: Callee, args: &[Arg]) -> String {
        let mut list = Vec::new();
        let name = match callee {
            Callee::Func(id) => {
                list.extend(["ctx".to_string(), "st".to_string()]);
                if self.spread() && self.handler_index(id).is_none() {
                    list.extend(["in".to_string(), "out".to_string()]);
                }
                self.own_name(id)
            }
            Callee::Native(i) if self.kernel.work.dynamic.is_some() => {
                list.push("ctx".into());
                natives::once_name(&self.kernel.natives[i as usize])
            }
            Callee::Native(i) => natives::c_name(&self.kernel.natives[i as usize]),
        };
        for a in args {
            list.push(match (a, callee) {
                (Arg::Value(e), _) => self.expr(e),
                // tables and inputs are not written by functions that get them
                (Arg::Ref(p), Callee::Func(_)) => format!("({} *)&{}", self.referred(p), self.place(p)),
                (Arg::Ref(p), Callee::Native(_)) => format!("(void *)&{}.v[0]", self.place(p)),
            });
        }
        format!("{name}({})", list.join(", "))
    }

    /// After a call of a native function: what C may have left in bits and booleans becomes 0 or 1.
    fn clean_truth(&mut self, native: usize, args: &[Arg], dst: Option<&Place>, pad: &str) {
        let n = &self.kernel.natives[native];
        let mut places: Vec<(String, &Ty)> = Vec::new();
        for (a, ty) in args.iter().zip(&n.params) {
            if let Arg::Ref(p) = a {
                places.push((self.place(p), ty));
            }
        }
        places.extend(dst.map(|p| (self.place(p), &n.ret)));
        for (place, ty) in places {
            self.out.push_str(&natives::clean(&place, ty, &self.kernel.structs, pad));
        }
    }

    fn check(&mut self, c: &Check, span: Span, pad: &str) {
        let e = c.operand().map_or_else(|| "0".to_string(), |e| self.operand(e));
        let (kind, wrong, value) = match c {
            Check::Index { length, .. } => (SiteKind::Index(*length), format!("(uint32_t){e} >= {length}u"), e),
            Check::Divisor(_) => (SiteKind::DivisionByZero, format!("{e} == 0"), "0".into()),
            Check::PeekNegative(_) => (SiteKind::PeekNegative, format!("{e} < 0"), e),
            // the position may have wrapped: it counts as unsigned
            Check::PeekBeyond { peek, .. } => (
                SiteKind::PeekBeyond(*peek),
                format!("(uint32_t){e} >= {peek}u"),
                format!("(int64_t)(uint32_t){e} + 1"),
            ),
            Check::PopBeyond { pop, .. } => (SiteKind::PopBeyond(*pop), format!("{e} >= {pop}"), e),
            Check::PushBeyond { push, .. } => (SiteKind::PushBeyond(*push), format!("{e} >= {push}"), e),
            Check::PushedLess { push, .. } => (SiteKind::PushedLess(*push), format!("{e} < {push}"), e),
            Check::PoppedLess { least, .. } => (SiteKind::PoppedLess(*least), format!("{e} < {least}"), e),
            Check::Item(_) | Check::Room(_) | Check::Took(_) | Check::Gave(_) => return self.attempt(c, &e, pad),
            Check::NoResult => (SiteKind::NoResult, "1".into(), "0".into()),
            // gone after lower_channels
            Check::Peek(_) | Check::Pop | Check::Push | Check::Pushed | Check::Popped => return,
        };
        let site = self.site(kind, span);
        let fail = match self.device() {
            true => format!("{{ sl_fail(ctx, {site}, {value}); {}; }}", self.leave()),
            false => format!("sl_fail(ctx, {site}, {value});"),
        };
        let _ = match kind {
            SiteKind::NoResult => writeln!(self.out, "{pad}{fail}"),
            _ => writeln!(self.out, "{pad}if (SL_UNLIKELY({wrong})) {fail}"),
        };
    }
}

impl Printer<'_> {
    /// What a firing that decides on its rates does beside computing. (Positions may have wrapped: they count as unsigned.)
    fn attempt(&mut self, c: &Check, e: &str, pad: &str) {
        if let Some(row) = self.row {
            return self.attempt_in_row(row, c, e, pad);
        }
        let kernel = self.kernel;
        // only a firing that may move nothing at all must know how far it has looked
        let works = [Some(kernel.work), kernel.prework].into_iter().flatten();
        let idle = works.map(|w| w.bounds()).any(|b| b.pop.0 == 0 && b.push.0 == 0);
        let _ = match c {
            Check::Item(_) if idle => writeln!(self.out, "{pad}sl_look(ctx, (uint32_t){e});"),
            Check::Item(_) => {
                writeln!(self.out, "{pad}if (SL_UNLIKELY((uint32_t){e} >= ctx->have)) sl_want(ctx, (uint32_t){e});")
            }
            Check::Room(_) => writeln!(self.out, "{pad}if (SL_UNLIKELY((uint32_t){e} >= ctx->room)) sl_full(ctx);"),
            Check::Took(_) => writeln!(self.out, "{pad}ctx->took = {e};"),
            _ => writeln!(self.out, "{pad}ctx->gave = {e};"),
        };
    }
}

/// Does a loop set elements of a row that others around it choose?
fn goes_through_rows(l: &For) -> bool {
    let mut found = false;
    walk::each_stmt(&l.body, &mut |s| {
        for step in s.kind.targets().into_iter().flat_map(|p| &p.path) {
            let Proj::Index(e) = step else { continue };
            let own = matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(l.var));
            found |= !own && e.as_int().is_none();
        }
    });
    found
}
