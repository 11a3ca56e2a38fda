//! # text
//!
//! Purpose: kernels as text. [`print`] writes a kernel, [`parse`] reads what `print` wrote: the same kernel, bit for bit.
//! A program for people to read (`--dump-after`) and for tests to start from.
//!
//! ```text
//! kernel "Gain" "Gain(2.5)" @0:0-80 float -> float peek 1 pop 1 push 1 work func0
//! func0 "work" (0) -> void @0:10-14 {
//!   local0 "t" float
//!   pop $0 @0:30-35
//!   push (2.5f * $0) @0:20-36
//! }
//! ```

mod parse;

pub use parse::parse;

use crate::ir::*;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::{Dim, Ty};
use sluice_grammar::span::Span;
use std::fmt::Write;

/// A kernel as text.
pub fn print(kernel: &Kernel) -> String {
    let mut p = Printer { out: String::new() };
    p.kernel(kernel);
    p.out
}

/// A type as text: `float`, `int[4][3]` (3 rows of 4 in the language's order reads inside out: the last size is the outermost).
pub fn ty(t: &Ty) -> String {
    match t {
        Ty::Void => "void".into(),
        Ty::Bit => "bit".into(),
        Ty::Bool => "boolean".into(),
        Ty::Int => "int".into(),
        Ty::Float => "float".into(),
        Ty::Double => "double".into(),
        Ty::Complex => "complex".into(),
        Ty::Vec(n) => format!("float{n}"),
        Ty::Str => "string".into(),
        Ty::Struct(id) => format!("struct{}", id.0),
        Ty::Portal(id) => format!("portal{}", id.0),
        Ty::Error => "error".into(),
        Ty::Array(e, Dim::Known(n)) => format!("{}[{n}]", ty(e)),
        Ty::Array(e, Dim::Unknown) => format!("{}[?]", ty(e)),
    }
}

/// A constant as text.
pub fn constant(c: &Const) -> String {
    let list = |items: &[Const]| items.iter().map(constant).collect::<Vec<_>>().join(", ");
    match c {
        Const::Bit(b) => (if *b { "1b" } else { "0b" }).into(),
        Const::Bool(b) => b.to_string(),
        Const::Int(i) => i.to_string(),
        Const::Float(x) => float(*x),
        Const::Double(x) => double(*x),
        Const::Complex(a, b) => format!("c({}, {})", float(*a), float(*b)),
        Const::Vec(n, v) => {
            let parts: Vec<String> = v.iter().take(usize::from(*n)).map(|x| float(*x)).collect();
            format!("v({})", parts.join(", "))
        }
        Const::Array(items) => format!("[{}]", list(items)),
        Const::Struct(items) => format!("{{{}}}", list(items)),
        Const::Str(s) => quoted(s),
        Const::Portal(p) => format!("portal:{}", p.0),
    }
}

fn float(x: f32) -> String {
    if x.is_nan() { format!("nanf:{:08x}", x.to_bits()) } else { format!("{x:?}f") }
}

fn double(x: f64) -> String {
    if x.is_nan() { format!("nand:{:016x}", x.to_bits()) } else { format!("{x:?}d") }
}

fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

fn span(s: Span) -> String {
    format!("@{}:{}-{}", s.file.0, s.start, s.end)
}

/// The function's name in kernel text.
pub fn builtin_name(f: Builtin) -> String {
    format!("{f:?}").to_lowercase()
}

/// All mathematical functions.
pub const BUILTINS: [Builtin; 28] = [
    Builtin::Abs,
    Builtin::Acos,
    Builtin::Acosh,
    Builtin::Arg,
    Builtin::Asin,
    Builtin::Asinh,
    Builtin::Atan,
    Builtin::Atan2,
    Builtin::Atanh,
    Builtin::Ceil,
    Builtin::Cos,
    Builtin::Cosh,
    Builtin::Exp,
    Builtin::Expm1,
    Builtin::Floor,
    Builtin::Fmod,
    Builtin::Log,
    Builtin::Log10,
    Builtin::Max,
    Builtin::Min,
    Builtin::Pow,
    Builtin::Rint,
    Builtin::Round,
    Builtin::Sin,
    Builtin::Sinh,
    Builtin::Sqrt,
    Builtin::Tan,
    Builtin::Tanh,
];

struct Printer {
    out: String,
}

impl Printer {
    fn kernel(&mut self, k: &Kernel) {
        let _ = write!(self.out, "kernel {} {} {} ", quoted(&k.name), quoted(&k.display), span(k.span));
        let _ = write!(self.out, "{} -> {} ", ty(&k.input), ty(&k.output));
        self.work("work", &k.work);
        if let Some(w) = &k.prework {
            self.out.push(' ');
            self.work("prework", w);
        }
        self.out.push('\n');
        for (i, s) in k.structs.iter().enumerate() {
            let fields: Vec<String> = s.fields.iter().map(|(n, t)| format!("{} {}", quoted(n), ty(t))).collect();
            let _ = writeln!(self.out, "struct{i} {} {{{}}}", quoted(&s.name), fields.join(", "));
        }
        for (i, s) in k.state.iter().enumerate() {
            let _ = writeln!(self.out, "state{i} {} {} = {}", quoted(&s.name), ty(&s.ty), constant(&s.initial));
        }
        for (i, t) in k.tables.iter().enumerate() {
            let shared = t.shared.map_or(String::new(), |s| format!("shared {} ", s.0));
            let own = t.own.map_or(String::new(), |n| format!("own {n} "));
            let _ =
                writeln!(self.out, "table{i} {shared}{own}{} {} = {}", quoted(&t.name), ty(&t.ty), constant(&t.value));
        }
        for n in &k.natives {
            let params: Vec<String> = n.params.iter().map(ty).collect();
            let _ =
                writeln!(self.out, "native{} {} ({}) -> {}", n.id.0, quoted(&n.name), params.join(", "), ty(&n.ret));
        }
        for (n, f) in &k.handlers {
            let _ = writeln!(self.out, "handler {} {f}", quoted(n));
        }
        if k.free {
            self.out.push_str("free\n");
        }
        if let Some(l) = &k.lanes {
            let varying: String = l.varying.iter().map(|v| if *v { 'v' } else { 'u' }).collect();
            let phases = if l.phases { " phases" } else { "" };
            let parts = if l.parts { " parts" } else { "" };
            let strands = if l.strands > 1 { format!(" strands {}{parts}", l.strands) } else { String::new() };
            let deep = if l.deep > l.unroll { format!(" deep {}", l.deep) } else { String::new() };
            let name = quoted(&varying);
            let narrow = l.narrow.as_ref().map_or_else(String::new, |n| {
                let all = [n.taken, n.given].into_iter().chain(n.locals.iter().copied());
                let all: Vec<String> = all.map(|r| format!("{}..{}", r.lo, r.hi)).collect();
                format!(" narrow {}", quoted(&all.join(" ")))
            });
            let _ =
                writeln!(self.out, "lanes {} {name} unroll {}{deep}{phases}{strands}{narrow}", l.function, l.unroll);
        }
        for t in &k.tapes {
            let Tape { state, step, stays, turns } = t;
            let _ = writeln!(self.out, "tape {} step {step} stays {stays} turns {turns}", state.0);
        }
        if let Some(s) = &k.steps {
            let _ = writeln!(self.out, "steps {} {}", s.function, s.firings);
        }
        if !k.elsewhere.is_empty() {
            let names: Vec<String> = k.elsewhere.iter().map(|id| id.0.to_string()).collect();
            let _ = writeln!(self.out, "elsewhere ({})", names.join(", "));
        }
        if !k.chosen.is_empty() {
            let names: Vec<String> = k.chosen.iter().map(|id| format!("${}", id.0)).collect();
            let _ = writeln!(self.out, "chosen ({})", names.join(", "));
        }
        for (i, f) in k.functions.iter().enumerate() {
            let _ =
                writeln!(self.out, "func{i} {} ({}) -> {} {} {{", quoted(&f.name), f.params, ty(&f.ret), span(f.span));
            for (i, l) in f.locals.iter().enumerate() {
                let by_ref = if l.by_ref { " ref" } else { "" };
                let _ = writeln!(self.out, "  local{i} {} {}{by_ref}", quoted(&l.name), ty(&l.ty));
            }
            self.body(&f.body, 1);
            self.out.push_str("}\n");
        }
    }

    fn work(&mut self, word: &str, w: &Work) {
        let r = w.rates;
        let _ = write!(self.out, "{word} {} peek {} pop {} push {}", w.function, r.peek, r.pop, r.push);
        if w.dynamic.is_some() {
            self.out.push_str(" attempt");
        }
        let d = w.dynamic.unwrap_or_default();
        for (word, r) in [("dynamic_peek", d.peek), ("dynamic_pop", d.pop), ("dynamic_push", d.push)] {
            if let Some(r) = r {
                let most = r.max.map_or("*".to_string(), |m| m.to_string());
                let _ = write!(self.out, " {word} {} {most}", r.min);
            }
        }
    }

    fn body(&mut self, body: &[Stmt], depth: usize) {
        for s in body {
            let pad = "  ".repeat(depth);
            self.out.push_str(&pad);
            match &s.kind {
                StmtKind::If(c, a, b) => {
                    let _ = writeln!(self.out, "if {} {} {{", expr(c), span(s.span));
                    self.body(a, depth + 1);
                    if !b.is_empty() {
                        let _ = writeln!(self.out, "{pad}}} else {{");
                        self.body(b, depth + 1);
                    }
                }
                StmtKind::For(l) => {
                    let (var, cmp) = (l.var.0, l.cmp.symbol());
                    let _ = writeln!(
                        self.out,
                        "for ${var} = {} {cmp} {} step {}{} {} {{",
                        expr(&l.from),
                        expr(&l.to),
                        l.step,
                        if l.abreast { " abreast" } else { "" },
                        span(s.span)
                    );
                    self.body(&l.body, depth + 1);
                }
                StmtKind::Loop(b) | StmtKind::Block(b) => {
                    let word = if matches!(s.kind, StmtKind::Loop(_)) { "loop" } else { "block" };
                    let _ = writeln!(self.out, "{word} {} {{", span(s.span));
                    self.body(b, depth + 1);
                }
                simple => {
                    let _ = writeln!(self.out, "{} {}", stmt(simple), span(s.span));
                    continue;
                }
            }
            let _ = writeln!(self.out, "{pad}}}");
        }
    }
}

/// A statement without statements inside.
fn stmt(s: &StmtKind) -> String {
    match s {
        StmtKind::Assign(p, e) => format!("{} = {}", place(p), expr(e)),
        StmtKind::Pop(None) => "pop".into(),
        StmtKind::Pop(Some(p)) => format!("pop {}", place(p)),
        StmtKind::Push(e) => format!("push {}", expr(e)),
        StmtKind::Call { dst, callee, args } => {
            let args: Vec<String> = args
                .iter()
                .map(|a| match a {
                    Arg::Value(e) => expr(e),
                    Arg::Ref(p) => format!("ref {}", place(p)),
                })
                .collect();
            let callee = match callee {
                Callee::Func(f) => f.to_string(),
                Callee::Native(i) => format!("native{i}"),
            };
            let dst = dst.as_ref().map_or(String::new(), |p| format!(" {} =", place(p)));
            format!("call{dst} {callee}({})", args.join(", "))
        }
        StmtKind::Check(c) => format!("check {}", check(c)),
        StmtKind::Break(d) => format!("break {d}"),
        StmtKind::Continue(d) => format!("continue {d}"),
        StmtKind::Return(None) => "return".into(),
        StmtKind::Return(Some(e)) => format!("return {}", expr(e)),
        StmtKind::Print(e) => format!("print {}", expr(e)),
        StmtKind::PrintText(t) => format!("text {}", quoted(t)),
        StmtKind::Send(m) => {
            let Route { portal, handler, latency } = &m.route;
            let latency = latency.map_or("best".to_string(), |(a, b)| format!("{a} {b}"));
            let args: Vec<String> = m.args.iter().map(expr).collect();
            format!("send {} {} {latency} ({})", portal.0, quoted(handler), args.join(", "))
        }
        // printed with their bodies, never here
        StmtKind::If(..) | StmtKind::For(_) | StmtKind::Loop(_) | StmtKind::Block(_) => String::new(),
    }
}

fn check(c: &Check) -> String {
    match c {
        Check::Index { index, length } => format!("index {} {length}", expr(index)),
        Check::Divisor(e) => format!("divisor {}", expr(e)),
        Check::Peek(e) => format!("peek {}", expr(e)),
        Check::Pop => "pop".into(),
        Check::Push => "push".into(),
        Check::Pushed => "pushed".into(),
        Check::PeekNegative(e) => format!("peek_negative {}", expr(e)),
        Check::PeekBeyond { position, peek } => format!("peek_beyond {} {peek}", expr(position)),
        Check::PopBeyond { popped, pop } => format!("pop_beyond {} {pop}", expr(popped)),
        Check::PushBeyond { pushed, push } => format!("push_beyond {} {push}", expr(pushed)),
        Check::PushedLess { pushed, push } => format!("pushed_less {} {push}", expr(pushed)),
        Check::Popped => "popped".into(),
        Check::PoppedLess { popped, least } => format!("popped_less {} {least}", expr(popped)),
        Check::Item(e) => format!("item {}", expr(e)),
        Check::Room(e) => format!("room {}", expr(e)),
        Check::Took(e) => format!("took {}", expr(e)),
        Check::Gave(e) => format!("gave {}", expr(e)),
        Check::NoResult => "no_result".into(),
    }
}

/// A place as text.
pub fn place(p: &Place) -> String {
    let mut out = match &p.base {
        Base::Local(id) => format!("${}", id.0),
        Base::State(id) => id.to_string(),
        Base::Table(id) => id.to_string(),
        Base::Peek(e) => format!("peek({})", expr(e)),
        Base::In(e) => format!("in({})", expr(e)),
        Base::Out(e) => format!("out({})", expr(e)),
    };
    for step in &p.path {
        let _ = match step {
            Proj::Index(e) => write!(out, "[{}]", expr(e)),
            Proj::Member(i) => write!(out, ".{i}"),
            Proj::Component(i) => write!(out, "'{i}"),
        };
    }
    out
}

/// An expression as text.
pub fn expr(e: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(expr).collect::<Vec<_>>().join(", ");
    match &e.kind {
        ExprKind::Const(c) => constant(c),
        ExprKind::Zero => format!("zero<{}>", ty(&e.ty)),
        ExprKind::Load(p) => place(p),
        ExprKind::Unary(op, a) => {
            let symbol = match op {
                UnaryOp::Neg => "neg",
                UnaryOp::Not => "not",
                UnaryOp::BitNot => "bitnot",
            };
            format!("{symbol}({})", expr(a))
        }
        ExprKind::Binary(op, a, b) => format!("({} {} {})", expr(a), op.symbol(), expr(b)),
        ExprKind::Select(c, a, b) => format!("select({}, {}, {})", expr(c), expr(a), expr(b)),
        ExprKind::Convert(a) => format!("as<{}>({})", ty(&e.ty), expr(a)),
        ExprKind::Builtin(f, args) => format!("@{}({})", builtin_name(*f), list(args)),
        ExprKind::Compose(parts) => format!("make<{}>({})", ty(&e.ty), list(parts)),
        ExprKind::Component(a, i) => format!("part({}, {i})", expr(a)),
        ExprKind::Iter => "iter".into(),
        ExprKind::Any(a) => format!("any({})", expr(a)),
    }
}
