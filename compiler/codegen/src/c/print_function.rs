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

mod statements;

use super::print::{FilterOptions, FilterText, Send, Site};
use super::print_columns::Columns;
use super::print_delayed::Delayed;
use super::print_lanes::LaneLayout;
use super::print_scope::Scopes;
use super::print_skewed::{Sharing, Way};
use super::print_sure::Row;
use super::types::{c_type, field_name, fills_line, initializer, own_name, static_name, table};
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use sluice_kernel::ir::*;
use sluice_kernel::passes::narrow_lanes::Bytes;
use sluice_kernel::passes::unroll;
use sluice_kernel::walk;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Statements and operations of a firing beyond which vectors of firings are not what a C compiler should look for.
const BY_ITSELF: usize = 1000;

/// Prints one filter.
pub(super) struct Printer<'a> {
    pub(super) k: usize,
    pub(super) kernel: &'a Kernel,
    pub(super) options: &'a FilterOptions<'a>,
    pub(super) sites: Vec<Site>,
    pub(super) out: String,
    /// The function being printed.
    pub(super) current: FuncId,
    pub(super) scopes: Scopes,
    /// Constructs around the current statement.
    pub(super) nest: Vec<Nest>,
    /// Ways of the messages it sends.
    sends: Vec<Send>,
    /// For labels and hoisted bounds.
    pub(super) serial: usize,
    /// While lanes are printed: how their buffers are laid out, and vectors for each varying value (otherwise 0).
    pub(super) layout: Option<LaneLayout>,
    pub(super) unroll: usize,
    /// How they share what loops over windows load, and what is shared while such a loop is printed.
    pub(super) way: Option<Way>,
    /// What goes as bytes, while lanes are printed in which something does.
    pub(super) bytes: Option<Bytes<'a>>,
    pub(super) shares: Option<Sharing>,
    /// Squares of items, while a loop over them is printed.
    pub(super) columns: Option<Columns>,
    /// Fields that are variables while several firings are printed.
    pub(super) kept: BTreeSet<StateId>,
    /// While firings over tapes are printed: what they read in place of what the one before has left.
    pub(super) delayed: Delayed,
    /// While attempts in a row are printed.
    pub(super) row: Option<Row>,
    /// Places in rings, while a run of firings is printed.
    pub(super) rings: BTreeSet<StateId>,
    /// Of device code: what loops with a known bound count.
    pub(super) counters: BTreeSet<LocalId>,
}

/// A `For`, `Loop` or `Block` around the current statement.
pub(super) struct Nest {
    number: usize,
    is_loop: bool,
    /// Of a loop: does a number go from turn to turn?
    pub(super) carries: Option<bool>,
    /// Something jumps to its end.
    break_label: bool,
    /// Something jumps to its next turn.
    continue_label: bool,
}

/// The tables of code `k` that are `printed`.
pub(super) fn tables(k: usize, kernel: &Kernel, printed: &dyn Fn(&Table) -> bool) -> String {
    let all = kernel.tables.iter().enumerate().filter(|(_, t)| printed(t));
    all.map(|(i, t)| table(&own_table_name(k, i, t), &t.ty, &t.value)).collect()
}

fn own_table_name(k: usize, number: usize, t: &Table) -> String {
    format!("sl_table_{k}_{number}_{}", t.name)
}

/// The fields of the state of code `k` before the first firing, in C.
pub(super) fn first_state(k: usize, kernel: &Kernel) -> String {
    let fields = kernel.state.iter().map(|s| initializer(&s.initial));
    let own = kernel.tables.iter().enumerate().filter(|(_, t)| t.own.is_some());
    let own = own.map(|(i, t)| format!("&{}", own_table_name(k, i, t)));
    fields.chain(own).fold("0".to_string(), |all, v| all + ", " + &v)
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
            way: None,
            bytes: None,
            shares: None,
            columns: None,
            kept: BTreeSet::new(),
            delayed: Delayed::default(),
            row: None,
            rings: BTreeSet::new(),
            counters: BTreeSet::new(),
        }
    }

    pub(super) fn function(&self) -> &'a Function {
        self.kernel.function(self.current)
    }

    /// All of the filter's text.
    pub(super) fn filter(mut self) -> FilterText {
        if self.device() {
            return self.device_filter();
        }
        let state = self.state();
        let prototypes = self.prototypes();
        self.out.push_str(&prototypes);
        self.init();
        let work = self.kernel.work;
        let prework = self.kernel.prework;
        for i in 0..self.kernel.functions.len() {
            let id = FuncId::from(i);
            if id != work.function && prework.is_none_or(|p| p.function != id) && !self.several_firings(id) {
                self.own(id);
            }
        }
        self.firing("sl_fire", &work);
        if let Some(p) = &prework {
            self.firing("sl_prework", p);
        }
        self.sure_attempts();
        let statics = self.kernel.tables.iter().filter_map(|t| t.shared).collect::<BTreeSet<_>>();
        FilterText { state, prototypes, functions: self.out, sites: self.sites, sends: self.sends, statics }
    }

    pub(super) fn state(&self) -> String {
        let (k, kernel) = (self.k, self.kernel);
        let mut out = String::new();
        let _ = writeln!(out, "/* {} */", comment(&kernel.display));
        let _ = writeln!(out, "struct sl_state_{k} {{\n    int64_t iter;");
        for (i, s) in kernel.state.iter().enumerate() {
            let line = if fills_line(&s.ty) && !self.device() { "SL_LINE " } else { "" };
            let _ = writeln!(out, "    {line}{} {};", c_type(&s.ty), field_name(i, &s.name));
        }
        for t in &kernel.tables {
            if let Some(n) = t.own {
                let _ = writeln!(out, "    const {} *{};", c_type(&t.ty), own_name(n));
            }
        }
        out.push_str("};\n");
        if !self.device() {
            out.push_str(&tables(k, kernel, &|t| t.shared.is_none()));
        }
        out
    }

    /// Declares where own tables are, once in a function: what its stores may change is not known to a C compiler.
    pub(super) fn own_tables(&mut self) {
        for t in &self.kernel.tables {
            if let Some(n) = t.own {
                let (name, ty) = (own_name(n), c_type(&t.ty));
                let _ = writeln!(self.out, "    const {ty} *const {name} SL_UNUSED = st->{name};");
            }
        }
    }

    /// A table, where it is read in a function that has [`Self::own_tables`].
    pub(super) fn table_name(&self, id: TableId) -> String {
        if let Some(n) = self.kernel.tables[id.index()].own {
            return format!("(*{})", own_name(n));
        }
        let name = self.plain_table_name(id);
        let variants = self.kernel.tables[id.index()].shared.is_none() && !self.options.device.variants.is_empty();
        if variants { format!("{name}[ctx->variant]") } else { name }
    }

    pub(super) fn plain_table_name(&self, id: TableId) -> String {
        let t = &self.kernel.tables[id.index()];
        match t.shared {
            Some(s) => static_name(s, &t.name),
            None => own_table_name(self.k, id.index(), t),
        }
    }

    fn init(&mut self) {
        let k = self.k;
        let _ = writeln!(self.out, "static SL_UNUSED void sl_init_{k}(struct sl_state_{k} *st)\n{{");
        let values = first_state(k, self.kernel);
        let _ = writeln!(self.out, "    static const struct sl_state_{k} initial = {{{values}}};");
        self.out.push_str("    *st = initial;\n}\n\n");
    }

    pub(super) fn item(ty: &Ty) -> String {
        c_type(ty)
    }

    pub(super) fn fire_head(&self, name: &str) -> String {
        let (input, output) = (Self::item(&self.kernel.input), Self::item(&self.kernel.output));
        let k = self.k;
        format!(
            "static void {name}_{k}(sl_ctx *restrict ctx, struct sl_state_{k} *restrict st, const {input} *restrict in, \
             {output} *restrict out, long n)"
        )
    }

    fn prototypes(&self) -> String {
        let mut out = format!("static SL_UNUSED void sl_init_{0}(struct sl_state_{0} *st);\n", self.k);
        let once = if self.options.often_called { " __attribute__((noinline))" } else { "" };
        let _ = writeln!(out, "{} SL_UNUSED{once};", self.fire_head("sl_fire"));
        if self.kernel.lanes.is_some() {
            let ends = self.options.lanewise;
            let single = !(ends.taken || ends.given);
            let names = [("sl_lanes", true), ("sl_some", !single || self.has_some()), ("sl_rest", single)];
            for (name, _) in names.iter().filter(|(_, printed)| *printed) {
                let _ = writeln!(out, "{} SL_UNUSED;", self.fire_head(name));
            }
        }
        if self.kernel.prework.is_some() {
            let _ = writeln!(out, "{} SL_UNUSED;", self.fire_head("sl_prework"));
        }
        if super::print_sure::row(self.kernel).is_some() {
            let _ = writeln!(out, "{} SL_UNUSED;", self.fire_head("sl_sure"));
        }
        let special = [Some(self.kernel.work.function), self.kernel.prework.map(|p| p.function)];
        for i in 0..self.kernel.functions.len() {
            let id = FuncId::from(i);
            if !special.contains(&Some(id)) && !self.several_firings(id) {
                let _ = writeln!(out, "{} SL_UNUSED;", self.own_head(id));
            }
        }
        out
    }

    /// Do functions other than work itself take the channels' pointers?
    pub(super) fn spread(&self) -> bool {
        let special = [Some(self.kernel.work.function), self.kernel.prework.map(|p| p.function)];
        self.kernel.functions.iter().enumerate().any(|(i, f)| {
            let id = FuncId::from(i);
            !special.contains(&Some(id)) && !self.several_firings(id) && touches_channels(&f.body)
        })
    }

    /// Is the function what several firings do together?
    fn several_firings(&self, id: FuncId) -> bool {
        let kernel = self.kernel;
        kernel.lanes.as_ref().is_some_and(|l| l.function == id) || kernel.steps.is_some_and(|s| s.function == id)
    }

    pub(super) fn handler_index(&self, id: FuncId) -> Option<usize> {
        self.kernel.handlers.iter().position(|(_, f)| *f == id)
    }

    pub(super) fn own_name(&self, id: FuncId) -> String {
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
    pub(super) fn head_comment(&mut self, f: &Function) {
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
    pub(super) fn recursive(&self, id: FuncId) -> bool {
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
        let steps = self.next(work.rates, 1);
        let each = self.kernel.uses_iter();
        let head = self.fire_head(name);
        if name == "sl_fire" && self.kernel.lanes.is_some() {
            let rest = self.fire_in_lanes(&head);
            self.start(work.function);
            if !rest {
                return;
            }
        } else {
            let _ = writeln!(self.out, "{head}\n{{\n    (void)ctx, (void)in, (void)out;");
            self.own_tables();
            if !each {
                self.out.push_str("    st->iter += n;\n");
            }
        }
        if name == "sl_fire" {
            self.in_step();
            if !self.device() {
                self.in_registers();
                self.streams(&steps);
            }
        }
        self.keep();
        if name == "sl_fire" && !self.device() {
            self.wave(&steps);
            self.runs(&steps);
        }
        let turns = self.tapes_begin();
        let first = self.first_by_itself(&f.body, &steps, turns);
        let _ = writeln!(self.out, "    for (long firing = {first}; firing < {turns}; firing++{steps}) {{");
        // the rest of lanes is few firings
        if unroll::size(&f.body) > BY_ITSELF && !self.device() && self.kernel.lanes.is_none() {
            self.out.push_str("        SL_ALONE;\n");
        }
        self.body(&f.body, 2);
        if each {
            self.out.push_str("        st->iter++;\n");
        }
        self.out.push_str("    }\n");
        self.delayed = Delayed::default();
        self.tapes_end();
        self.put_back();
        self.out.push_str("}\n\n");
    }

    /// Firings go as far as the kernel's tapes have room, again and again. What the number of firings is called then.
    fn tapes_begin(&mut self) -> &'static str {
        let Some(room) = self.kernel.tapes.iter().map(|t| t.turns).min() else { return "n" };
        let _ = writeln!(self.out, "    for (long turns; n > 0; n -= turns) {{\n    turns = n < {room} ? n : {room};");
        "turns"
    }

    /// What stays on tapes goes to their beginnings.
    fn tapes_end(&mut self) {
        for Tape { state, step, stays, .. } in &self.kernel.tapes {
            let name = format!("st->{}.v", field_name(state.index(), &self.kernel.state[state.index()].name));
            let _ = writeln!(self.out, "    memmove({name}, {name} + turns * {step}, {stays} * sizeof *{name});");
        }
        if !self.kernel.tapes.is_empty() {
            self.out.push_str("    }\n");
        }
    }

    /// To the items of the firing so many firings farther.
    fn next(&self, rates: Rates, firings: u32) -> String {
        let step = |ty: &Ty, name: &str, n: u32| {
            if *ty == Ty::Void || n == 0 {
                String::new()
            } else {
                format!(", {name} += {}", u64::from(n) * u64::from(firings))
            }
        };
        step(&self.kernel.input, "in", rates.pop) + &step(&self.kernel.output, "out", rates.push)
    }

    /// Firings in step, as long as there are so many; what is left over comes behind.
    fn in_step(&mut self) {
        let Some(Steps { function, firings }) = self.kernel.steps.filter(|_| self.kernel.lanes.is_none()) else {
            return;
        };
        let back = self.current;
        self.start(function);
        let next = self.next(self.kernel.work.rates, firings);
        let _ = writeln!(self.out, "    for (; n >= {firings}; n -= {firings}{next}) {{");
        self.body(&self.function().body, 2);
        self.out.push_str("    }\n");
        self.start(back);
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
