//! # print-device
//!
//! Purpose: a filter in the dialect of devices: C++ that CUDA compilers take, and g++ and clang++ for the emulator. Input: a kernel after
//! `sluice_kernel::passes::DEVICE` (channels lowered, no lanes), without recursion, messages, native calls or dynamic rates. Output: [`FilterText`].
//!
//! ```text
//! func0 "work" { $0 = in(0)  out(0) = ($0 * 2f) }   →   template <class In, class Out>
//!                                                        SL_DEVICE void sl_fire_3(sl_ctx *ctx, sl_state_3 *st, In in, Out out)
//!                                                        {
//!                                                            float x_0 = in[0];
//!                                                            out[0] = x_0 * 2.0f;
//!                                                        }
//! ```
//!
//! What must hold: a function is one firing; `in[i]` and `out[i]` are the firing's items, wherever they lie; a fault sets a flag and leaves
//! the firing, also from functions that it calls.

use super::polls;
use super::print::{Dialect, FilterText};
use super::print_function::Printer;
use super::print_scope::Scopes;
use super::types::{c_type, field_name, initializer, table_in};
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::walk;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Printer<'_> {
    /// Is it the dialect of devices?
    pub(super) fn device(&self) -> bool {
        self.options.dialect == Dialect::Device
    }

    /// The statement that leaves the function, without its semicolon.
    pub(super) fn leave(&self) -> String {
        match &self.function().ret {
            Ty::Void => "return".into(),
            ret => format!("return {}()", c_type(ret).trim_start_matches("struct ")),
        }
    }

    /// All of the filter's text.
    pub(super) fn device_filter(mut self) -> FilterText {
        let mut state = self.state();
        for (i, t) in self.kernel.tables.iter().enumerate() {
            if t.shared.is_none() {
                let id = TableId::from(i);
                let constant = uniform(self.kernel, id) && !self.options.device.crowded.contains(&id);
                let place = if constant { "SL_CONSTANT" } else { "SL_GLOBAL_TABLE" };
                let name = self.plain_table_name(id);
                if self.options.device.variants.is_empty() {
                    state.push_str(&table_in(place, &name, &t.ty, &t.value));
                    continue;
                }
                let values: Vec<String> =
                    self.options.device.variants.iter().map(|k| initializer(&k.tables[i].value)).collect();
                let (ty, n) = (c_type(&t.ty), values.len());
                let _ = writeln!(state, "{place} {ty} {name}[{n}] = {{\n{}}};", values.join(",\n"));
            }
        }
        let work = self.kernel.work.function;
        let name = match self.options.device.pieces {
            // it calls nothing, and all else is printed with the whole firing
            Some(pieces) => format!("sl_fire_{}_by{pieces}", self.k),
            None => {
                self.device_init();
                let prework = self.kernel.prework.map(|p| p.function);
                let callable = self.callable(work);
                // callees before their callers
                for id in callable.into_iter().rev().filter(|id| *id != work && Some(*id) != prework) {
                    let name = self.own_name(id);
                    self.device_function(id, &name);
                }
                format!("sl_fire_{}", self.k)
            }
        };
        self.device_function(work, &name);
        let statics = self.kernel.tables.iter().filter_map(|t| t.shared).collect::<BTreeSet<_>>();
        FilterText {
            state,
            prototypes: String::new(),
            functions: self.out,
            sites: self.sites,
            sends: Vec::new(),
            statics,
        }
    }

    /// A function and all that it comes to call, each after those that call it.
    fn callable(&self, first: FuncId) -> Vec<FuncId> {
        let (mut order, mut open) = (Vec::new(), vec![(first, false)]);
        while let Some((id, done)) = open.pop() {
            if done {
                order.push(id);
                continue;
            }
            if order.contains(&id) || open.contains(&(id, true)) {
                continue;
            }
            open.push((id, true));
            walk::each_stmt(&self.kernel.function(id).body, &mut |s| {
                if let StmtKind::Call { callee: Callee::Func(called), .. } = &s.kind {
                    open.push((*called, false));
                }
            });
        }
        order.reverse();
        order
    }

    /// The state of a firing that has none from others.
    fn device_init(&mut self) {
        let k = self.k;
        let _ = writeln!(self.out, "SL_DEVICE void sl_init_{k}(sl_state_{k} *st)\n{{\n    st->iter = 0;");
        for (i, s) in self.kernel.state.iter().enumerate() {
            let (ty, name) = (c_type(&s.ty), field_name(i, &s.name));
            let ty = ty.trim_start_matches("struct ");
            let _ =
                writeln!(self.out, "    {{ const {ty} initial = {}; st->{name} = initial; }}", initializer(&s.initial));
        }
        self.out.push_str("}\n\n");
    }

    /// A firing, or a function that it calls.
    fn device_function(&mut self, id: FuncId, name: &str) {
        self.start(id);
        let f = self.function();
        self.counters = if self.options.device.polls { polls::counters(&f.body) } else { BTreeSet::new() };
        self.head_comment(f);
        let work = self.kernel.work.function == id;
        let ends = work || self.spread();
        let mut params = vec!["sl_ctx *ctx".to_string(), format!("sl_state_{} *st", self.k)];
        if ends {
            self.out.push_str("template <class In, class Out>\n");
            params.extend(["In in".to_string(), "Out out".to_string()]);
        }
        for (i, l) in f.locals[..f.params as usize].iter().enumerate() {
            let star = if l.by_ref { "*" } else { "" };
            params.push(format!("{} {star}{}", c_type(&l.ty), field_name(i, &l.name)));
        }
        let _ = writeln!(self.out, "SL_DEVICE {} {name}({})\n{{", c_type(&f.ret), params.join(", "));
        let before = (self.out.len(), self.sites.len(), self.serial);
        self.body(&f.body, 1);
        if self.out[before.0..].contains("goto ") {
            // C++ lets no jump pass an initialisation: everything is declared at the top, and assigned later
            self.out.truncate(before.0);
            self.sites.truncate(before.1);
            self.serial = before.2;
            self.nest.clear();
            self.scopes = Scopes::default();
            for (i, l) in f.locals.iter().enumerate().skip(f.params as usize) {
                let _ = writeln!(self.out, "    {} {};", c_type(&l.ty), field_name(i, &l.name));
            }
            self.body(&f.body, 1);
        }
        if f.ret != Ty::Void && walk::diverges(&f.body) {
            // compilers do not see that the end is never reached
            let _ = writeln!(self.out, "    {};", self.leave());
        }
        // what it does not use must not be warned of
        let body = &self.out[before.0..];
        let all: &[&str] = if ends { &["ctx", "st", "in", "out"] } else { &["ctx", "st"] };
        let unused: Vec<String> = all.iter().filter(|p| !names(body, p)).map(|p| format!("(void){p}")).collect();
        if !unused.is_empty() {
            self.out.insert_str(before.0, &format!("    {};\n", unused.join(", ")));
        }
        self.out.push_str("}\n\n");
    }
}

/// Does a text use a variable?
pub(crate) fn names(text: &str, variable: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == variable)
}

/// Do all threads read a table at the same index at a time? So it seems where indices are made of constants and of variables of loops only.
pub(crate) fn uniform(kernel: &Kernel, table: TableId) -> bool {
    kernel.functions.iter().all(|f| {
        let mut counters = BTreeSet::new();
        walk::each_stmt(&f.body, &mut |s| {
            // one that begins at a variable's value may begin elsewhere in each thread
            if let StmtKind::For(l) = &s.kind
                && !l.from.any(&mut |e| matches!(&e.kind, ExprKind::Load(p) if p.as_local().is_none_or(|id| !counters.contains(&id))))
            {
                counters.insert(l.var);
            }
        });
        let mut all = true;
        let plain = |e: &Expr| {
            !e.any(&mut |e| match &e.kind {
                ExprKind::Load(p) => p.as_local().is_none_or(|id| !counters.contains(&id)),
                ExprKind::Const(_) | ExprKind::Zero => false,
                ExprKind::Binary(op, ..) => !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul),
                _ => true,
            })
        };
        let mut place = |p: &Place| {
            if matches!(p.base, Base::Table(id) if id == table) {
                all &= p.path.iter().all(|step| if let Proj::Index(e) = step { plain(e) } else { true });
            }
        };
        walk::each_stmt(&f.body, &mut |s| s.kind.targets().iter().for_each(|p| place(p)));
        walk::each_expr(&f.body, &mut |e| {
            if let ExprKind::Load(p) = &e.kind {
                place(p);
            }
        });
        all
    })
}
