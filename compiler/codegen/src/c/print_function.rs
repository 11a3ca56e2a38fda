//! # print-function
//!
//! Purpose: a kernel's functions as C. Input: a kernel without `Pop`, `Push` and `Peek`. Output: [`FilterText`].
//!
//! ```text
//! func0 "work" { $0 = in(0)  out(0) = ($0 * 2f) }   →   static void sl_fire_3(...)
//!                                                        {
//!                                                            st->iter += n;
//!                                                            for (long firing = 0; firing < n; firing++, in += 1, out += 1) {
//!                                                                float x_0 = in[0];
//!                                                                out[0] = x_0 * 2.0f;
//!                                                            }
//!                                                        }
//! ```

use super::natives;
use super::print::{FilterOptions, FilterText, Send, Site};
use super::print_lanes::LaneLayout;
use super::print_scope::Scopes;
use super::types::{c_type, field_name, initializer, static_name, table, text};
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use sluice_kernel::ir::*;
use sluice_kernel::walk;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Prints one filter.
pub(super) struct Printer<'a> {
    pub(super) k: usize,
    pub(super) kernel: &'a Kernel,
    options: &'a FilterOptions<'a>,
    sites: Vec<Site>,
    pub(super) out: String,
    /// The function being printed.
    current: FuncId,
    scopes: Scopes,
    /// Constructs around the current statement.
    nest: Vec<Nest>,
    /// Ways of the messages it sends.
    sends: Vec<Send>,
    /// For labels and hoisted bounds.
    serial: usize,
    /// While lanes are printed: how their buffers are laid out, and vectors for each varying value (otherwise 0).
    pub(super) layout: Option<LaneLayout>,
    pub(super) unroll: usize,
}

/// A `For`, `Loop` or `Block` around the current statement.
struct Nest {
    number: usize,
    is_loop: bool,
    /// Something jumps to its end.
    break_label: bool,
    /// Something jumps to its next turn.
    continue_label: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(k: usize, kernel: &'a Kernel, options: &'a FilterOptions<'a>) -> Printer<'a> {
        Printer {
            k,
            kernel,
            options,
            sites: Vec::new(),
            out: String::new(),
            current: kernel.work.function,
            scopes: Scopes::default(),
            nest: Vec::new(),
            sends: Vec::new(),
            serial: 0,
            layout: None,
            unroll: 0,
        }
    }

    pub(super) fn function(&self) -> &'a Function {
        self.kernel.function(self.current)
    }

    /// All of the filter's text.
    pub(super) fn filter(mut self) -> FilterText {
        let state = self.state();
        let prototypes = self.prototypes();
        self.out.push_str(&prototypes);
        self.init();
        let work = self.kernel.work;
        let prework = self.kernel.prework;
        for i in 0..self.kernel.functions.len() {
            let id = FuncId::from(i);
            let lanes = self.kernel.lanes.as_ref().is_some_and(|l| l.function == id);
            if id != work.function && prework.is_none_or(|p| p.function != id) && !lanes {
                self.own(id);
            }
        }
        self.firing("sl_fire", &work);
        if let Some(p) = &prework {
            self.firing("sl_prework", p);
        }
        let statics = self.kernel.tables.iter().filter_map(|t| t.shared).collect::<BTreeSet<_>>();
        FilterText { state, prototypes, functions: self.out, sites: self.sites, sends: self.sends, statics }
    }

    fn state(&self) -> String {
        let (k, kernel) = (self.k, self.kernel);
        let mut out = String::new();
        let _ = writeln!(out, "/* {} */", comment(&kernel.display));
        let _ = writeln!(out, "struct sl_state_{k} {{\n    int64_t iter;");
        for (i, s) in kernel.state.iter().enumerate() {
            let _ = writeln!(out, "    {} {};", c_type(&s.ty), field_name(i, &s.name));
        }
        out.push_str("};\n");
        for (i, t) in kernel.tables.iter().enumerate() {
            if t.shared.is_none() {
                out.push_str(&table(&self.table_name(TableId::from(i)), &t.ty, &t.value));
            }
        }
        out
    }

    pub(super) fn table_name(&self, id: TableId) -> String {
        let t = &self.kernel.tables[id.index()];
        match t.shared {
            Some(s) => static_name(s, &t.name),
            None => format!("sl_table_{}_{}_{}", self.k, id.0, t.name),
        }
    }

    fn init(&mut self) {
        let k = self.k;
        let _ = writeln!(self.out, "static SL_UNUSED void sl_init_{k}(struct sl_state_{k} *st)\n{{");
        let mut values = vec!["0".to_string()];
        values.extend(self.kernel.state.iter().map(|s| initializer(&s.initial)));
        let _ = writeln!(self.out, "    static const struct sl_state_{k} initial = {{{}}};", values.join(", "));
        self.out.push_str("    *st = initial;\n}\n\n");
    }

    fn item(ty: &Ty) -> String {
        c_type(ty)
    }

    fn fire_head(&self, name: &str) -> String {
        let (input, output) = (Self::item(&self.kernel.input), Self::item(&self.kernel.output));
        let k = self.k;
        format!(
            "static void {name}_{k}(sl_ctx *restrict ctx, struct sl_state_{k} *restrict st, const {input} *restrict in, \
             {output} *restrict out, long n)"
        )
    }

    fn prototypes(&self) -> String {
        let mut out = format!("static SL_UNUSED void sl_init_{0}(struct sl_state_{0} *st);\n", self.k);
        let _ = writeln!(out, "{} SL_UNUSED;", self.fire_head("sl_fire"));
        if self.kernel.prework.is_some() {
            let _ = writeln!(out, "{} SL_UNUSED;", self.fire_head("sl_prework"));
        }
        let special = [Some(self.kernel.work.function), self.kernel.prework.map(|p| p.function)];
        let lanes = self.kernel.lanes.as_ref().map(|l| l.function);
        for i in 0..self.kernel.functions.len() {
            let id = FuncId::from(i);
            if !special.contains(&Some(id)) && lanes != Some(id) {
                let _ = writeln!(out, "{} SL_UNUSED;", self.own_head(id));
            }
        }
        out
    }

    /// Do functions other than work itself take the channels' pointers?
    fn spread(&self) -> bool {
        let special = [Some(self.kernel.work.function), self.kernel.prework.map(|p| p.function)];
        let lanes = self.kernel.lanes.as_ref().map(|l| l.function);
        self.kernel.functions.iter().enumerate().any(|(i, f)| {
            let id = Some(FuncId::from(i));
            !special.contains(&id) && id != lanes && touches_channels(&f.body)
        })
    }

    fn handler_index(&self, id: FuncId) -> Option<usize> {
        self.kernel.handlers.iter().position(|(_, f)| *f == id)
    }

    fn own_name(&self, id: FuncId) -> String {
        match self.handler_index(id) {
            Some(i) => format!("sl_handler_{}_{i}", self.k),
            None => format!("sl_own_{}_{}", self.k, id.0),
        }
    }

    fn own_head(&self, id: FuncId) -> String {
        self.head_named(id, &self.own_name(id))
    }

    fn head_named(&self, id: FuncId, name: &str) -> String {
        let f = self.kernel.function(id);
        let k = self.k;
        let mut params = vec!["sl_ctx *ctx".to_string(), format!("struct sl_state_{k} *st")];
        if self.spread() && self.handler_index(id).is_none() {
            params.push(format!("const {} *in", Self::item(&self.kernel.input)));
            params.push(format!("{} *out", Self::item(&self.kernel.output)));
        }
        for (i, l) in f.locals[..f.params as usize].iter().enumerate() {
            let star = if l.by_ref { "*" } else { "" };
            params.push(format!("{} {star}{}", c_type(&l.ty), field_name(i, &l.name)));
        }
        format!("static {} {name}({})", c_type(&f.ret), params.join(", "))
    }

    /// A comment that names a function and its place.
    fn head_comment(&mut self, f: &Function) {
        let place = self.options.sources.describe(f.span);
        let _ =
            writeln!(self.out, "/* {}: {}, {} */", comment(&self.kernel.display), comment(&f.name), comment(&place));
    }

    pub(super) fn start(&mut self, id: FuncId) {
        self.current = id;
        self.scopes = Scopes::of(self.kernel.function(id));
        self.nest.clear();
    }

    /// A function that work calls, or a handler.
    fn own(&mut self, id: FuncId) {
        self.start(id);
        let f = self.function();
        self.head_comment(f);
        let recursive = self.recursive(id);
        let name = if recursive { self.deep_name(id) } else { self.own_name(id) };
        let head = self.head_named(id, &name);
        let _ = writeln!(self.out, "{head}\n{{\n    (void)ctx, (void)st;");
        if self.spread() && self.handler_index(id).is_none() {
            self.out.push_str("    (void)in, (void)out;\n");
        }
        self.body(&f.body, 1);
        self.out.push_str("}\n\n");
        if recursive {
            self.guard(id);
        }
    }

    fn deep_name(&self, id: FuncId) -> String {
        format!("sl_deep_{}_{}", self.k, id.0)
    }

    /// Can a function come to call itself?
    fn recursive(&self, id: FuncId) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), vec![id]);
        while let Some(f) = next.pop() {
            walk::each_stmt(&self.kernel.function(f).body, &mut |s| {
                if let StmtKind::Call { callee: Callee::Func(called), .. } = &s.kind
                    && seen.insert(called.0)
                {
                    next.push(*called);
                }
            });
        }
        seen.contains(&id.0)
    }

    /// What others call in place of a recursive function: it stops the program before the stack ends. What follows the call keeps the C compiler
    /// from making a loop of it, which would have no end.
    fn guard(&mut self, id: FuncId) {
        let f = self.kernel.function(id);
        let site = self.site(super::print::SiteKind::Recursion, f.span);
        let mut args = vec!["ctx".to_string(), "st".to_string()];
        if self.spread() && self.handler_index(id).is_none() {
            args.extend(["in".to_string(), "out".to_string()]);
        }
        args.extend(f.locals[..f.params as usize].iter().enumerate().map(|(i, l)| field_name(i, &l.name)));
        let call = format!("{}({})", self.deep_name(id), args.join(", "));
        let (keep, back) = match &f.ret {
            Ty::Void => (format!("{call};"), String::new()),
            ret => (format!("{} result = {call};", c_type(ret)), "    return result;\n".to_string()),
        };
        let head = self.own_head(id);
        let _ = write!(
            self.out,
            "{head}\n{{\n    if (SL_UNLIKELY(sl_too_deep(ctx))) sl_fail(ctx, {site}, 0);\n    {keep}\n    \
             __asm__ volatile(\"\" ::: \"memory\");\n{back}}}\n\n"
        );
    }

    /// A new place where the program can stop.
    fn site(&mut self, kind: super::print::SiteKind, span: Span) -> usize {
        self.sites.push(Site { kind, filter: self.kernel.display.clone(), span });
        self.options.first_site as usize + self.sites.len() - 1
    }

    /// `sl_fire` or `sl_prework`.
    fn firing(&mut self, name: &str, work: &Work) {
        self.start(work.function);
        let f = self.function();
        self.head_comment(f);
        let head = self.fire_head(name);
        let _ = writeln!(self.out, "{head}\n{{\n    (void)ctx, (void)in, (void)out;");
        let step = |ty: &Ty, name: &str, n: u32| {
            if *ty == Ty::Void || n == 0 { String::new() } else { format!(", {name} += {n}") }
        };
        let mut steps = step(&self.kernel.input, "in", work.rates.pop);
        steps.push_str(&step(&self.kernel.output, "out", work.rates.push));
        let each = self.kernel.uses_iter();
        if !each {
            self.out.push_str("    st->iter += n;\n");
        }
        if name == "sl_fire" && self.kernel.lanes.is_some() {
            self.lanes();
            self.start(work.function);
        }
        let _ = writeln!(self.out, "    for (long firing = 0; firing < n; firing++{steps}) {{");
        self.body(&f.body, 2);
        if each {
            self.out.push_str("        st->iter++;\n");
        }
        self.out.push_str("    }\n}\n\n");
    }

    /// A list of statements; its variables are declared where they are first assigned, or at its top.
    pub(super) fn body(&mut self, body: &[Stmt], depth: usize) {
        let pad = "    ".repeat(depth);
        for id in self.scopes.declared_at_top(body) {
            if self.is_vector(id) {
                continue;
            }
            let l = &self.function().locals[id.index()];
            let _ = writeln!(self.out, "{pad}{} {};", c_type(&l.ty), self.local(id));
        }
        for s in body {
            self.stmt(s, depth);
        }
    }

    pub(super) fn local(&self, id: LocalId) -> String {
        field_name(id.index(), &self.function().locals[id.index()].name)
    }

    fn stmt(&mut self, s: &Stmt, depth: usize) {
        let pad = "    ".repeat(depth);
        match &s.kind {
            StmtKind::Assign(p, e) => {
                if self.lane_assign(p, e, &pad) {
                    return;
                }
                let declares = p.as_local().filter(|id| self.scopes.declares(s, *id));
                let ty =
                    declares.map_or(String::new(), |id| format!("{} ", c_type(&self.function().locals[id.index()].ty)));
                let (place, value) = (self.place(p), self.expr(e));
                let _ = writeln!(self.out, "{pad}{ty}{place} = {value};");
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
                let _ = writeln!(self.out, "{pad}for (;;) {{");
                self.nested(b, true, depth);
            }
            StmtKind::Block(b) => {
                let _ = writeln!(self.out, "{pad}{{");
                self.nested(b, false, depth);
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

    fn for_loop(&mut self, s: &Stmt, l: &For, depth: usize) {
        let pad = "    ".repeat(depth);
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
            let _ = writeln!(self.out, "{pad}int32_t {bound} = {to};");
            to = bound;
        }
        let step = match l.step {
            1 => format!("{var}++"),
            -1 => format!("{var}--"),
            n if n > 0 => format!("{var} += {n}"),
            n => format!("{var} -= {}", i64::from(n).unsigned_abs()),
        };
        let _ = writeln!(self.out, "{pad}for ({declares}{var} = {from}; {var} {} {to}; {step}) {{", l.cmp.symbol());
        self.nested(&l.body, true, depth);
    }

    /// The body of a construct that can be left, with its closing brace and labels.
    fn nested(&mut self, body: &[Stmt], is_loop: bool, depth: usize) {
        self.serial += 1;
        self.nest.push(Nest { number: self.serial, is_loop, break_label: false, continue_label: false });
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
                (Arg::Ref(p), Callee::Func(_)) => format!("(void *)&{}", self.place(p)),
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
        use super::print::SiteKind;
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
        let _ = match kind {
            SiteKind::NoResult => writeln!(self.out, "{pad}sl_fail(ctx, {site}, 0);"),
            _ => writeln!(self.out, "{pad}if (SL_UNLIKELY({wrong})) sl_fail(ctx, {site}, {value});"),
        };
    }
}

impl Printer<'_> {
    /// What a firing that decides on its rates does beside computing. (Positions may have wrapped: they count as unsigned.)
    fn attempt(&mut self, c: &Check, e: &str, pad: &str) {
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

/// Text that cannot end a comment.
fn comment(s: &str) -> String {
    s.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ")
}

/// Does a body read or write items?
fn touches_channels(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::each_stmt(body, &mut |s| {
        found |= s.kind.targets().iter().any(|p| matches!(p.base, Base::In(_) | Base::Out(_)));
    });
    walk::each_expr(body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::In(_), .. }) = e.kind {
            found = true;
        }
    });
    found
}
