//! The places in a tree: every [`At`](super::At) of a declaration, in one fixed order, to be read or to be changed.
//!
//! Both walks are one text, so that they cannot come to differ. A walk that reads gives equal lists for two declarations exactly where equal trees stand at equal
//! places; one that changes moves a declaration within its file.

use super::*;
use crate::span::Span;
use std::sync::Arc;

/// Calls `f` for each place of a declaration.
pub fn places(item: &Item, f: &mut impl FnMut(&Span)) {
    reading::item(item, f);
}

/// Calls `f` for each place of a stream.
pub fn stream_places(stream: &StreamDecl, f: &mut impl FnMut(&Span)) {
    reading::stream(stream, f);
}

/// Calls `f` for each place of a declaration; what is shared is copied first.
pub fn places_mut(item: &mut Item, f: &mut impl FnMut(&mut Span)) {
    changing::item(item, f);
}

/// The place of a whole declaration; of an import, without its semicolon.
pub fn whole(item: &Item) -> Span {
    match item {
        Item::Import { at, .. } => at.0,
        Item::Struct(s) => s.at.0,
        Item::Stream(s) => s.at.0,
        Item::Static(s) => s.at.0,
        Item::Native(g) | Item::Helper(g) => g.at.0,
    }
}

macro_rules! walk {
    ($module:ident, $inner:expr $(, $m:tt)?) => {
        mod $module {
            use super::*;

            pub fn item<F: FnMut(&$($m)? Span)>(i: &$($m)? Item, f: &mut F) {
                match i {
                    Item::Import { path: _, at } => f(&$($m)? at.0),
                    Item::Struct(s) => {
                        ident(&$($m)? s.name, f);
                        for d in &$($m)? s.fields { var(d, f); }
                        f(&$($m)? s.at.0);
                    }
                    Item::Stream(s) => stream($inner(s), f),
                    Item::Static(s) => {
                        for d in &$($m)? s.fields { var(d, f); }
                        if let Some(b) = &$($m)? s.init { block(b, f); }
                        f(&$($m)? s.at.0);
                    }
                    Item::Native(g) | Item::Helper(g) => {
                        ident(&$($m)? g.name, f);
                        for function in &$($m)? g.functions { self::function(function, f); }
                        f(&$($m)? g.at.0);
                    }
                }
            }

            pub fn stream<F: FnMut(&$($m)? Span)>(s: &$($m)? StreamDecl, f: &mut F) {
                let StreamDecl { io, stateful, kind: _, name, params, body, header, at } = s;
                if let Some((i, o)) = io {
                    ty(i, f);
                    ty(o, f);
                }
                if let Some(at) = stateful { f(&$($m)? at.0); }
                if let Some(name) = name { ident(name, f); }
                for p in params { param(p, f); }
                match body {
                    StreamBody::Filter(members) => for m in members { member(m, f); },
                    StreamBody::Composite(b) => block(b, f),
                }
                f(&$($m)? header.0);
                f(&$($m)? at.0);
            }

            fn member<F: FnMut(&$($m)? Span)>(m: &$($m)? Member, f: &mut F) {
                match m {
                    Member::Field(d) => var(d, f),
                    Member::Init(b) => block(b, f),
                    Member::Prework(w) | Member::Work(w) => {
                        let Work { rates, body, keyword, at } = w;
                        for r in rates { rate(r, f); }
                        block(body, f);
                        f(&$($m)? keyword.0);
                        f(&$($m)? at.0);
                    }
                    Member::Function(g) | Member::Handler(g) => function(g, f),
                }
            }

            fn function<F: FnMut(&$($m)? Span)>(g: &$($m)? FnDecl, f: &mut F) {
                let FnDecl { ret, name, params, rates, body, at } = g;
                ty(ret, f);
                ident(name, f);
                for p in params { param(p, f); }
                for r in rates { rate(r, f); }
                if let Some(b) = body { block(b, f); }
                f(&$($m)? at.0);
            }

            fn rate<F: FnMut(&$($m)? Span)>(r: &$($m)? RateSpec, f: &mut F) {
                match &$($m)? r.rate {
                    Rate::Static(e) => expr(e, f),
                    Rate::Dynamic { min, avg, max } => for e in [min, avg, max] {
                        if let Some(e) = e { expr(e, f); }
                    },
                }
                f(&$($m)? r.at.0);
            }

            fn param<F: FnMut(&$($m)? Span)>(p: &$($m)? Param, f: &mut F) {
                ty(&$($m)? p.ty, f);
                ident(&$($m)? p.name, f);
            }

            fn var<F: FnMut(&$($m)? Span)>(d: &$($m)? VarDecl, f: &mut F) {
                ty(&$($m)? d.ty, f);
                for (name, value) in &$($m)? d.vars {
                    ident(name, f);
                    if let Some(e) = value { expr(e, f); }
                }
                f(&$($m)? d.at.0);
            }

            fn ident<F: FnMut(&$($m)? Span)>(i: &$($m)? Ident, f: &mut F) {
                f(&$($m)? i.at.0);
            }

            fn ty<F: FnMut(&$($m)? Span)>(t: &$($m)? Type, f: &mut F) {
                match &$($m)? t.base {
                    BaseType::Portal(name) | BaseType::Named(name) => ident(name, f),
                    _ => {}
                }
                for e in &$($m)? t.dims { expr(e, f); }
                f(&$($m)? t.at.0);
            }

            fn block<F: FnMut(&$($m)? Span)>(b: &$($m)? Block, f: &mut F) {
                for s in &$($m)? b.stmts { stmt(s, f); }
                f(&$($m)? b.at.0);
            }

            fn stmt<F: FnMut(&$($m)? Span)>(s: &$($m)? Stmt, f: &mut F) {
                use StmtKind as S;
                match &$($m)? s.kind {
                    S::Empty | S::Break | S::Continue | S::Error | S::Return(None) => {}
                    S::Block(b) => block(b, f),
                    S::Decl(d) => var(d, f),
                    S::Assign { target, op: _, value } => {
                        expr(target, f);
                        expr(value, f);
                    }
                    S::Expr(e) | S::Push(e) | S::Return(Some(e)) | S::Enqueue(e) => expr(e, f),
                    S::If { cond, then, els } => {
                        expr(cond, f);
                        stmt(then, f);
                        if let Some(s) = els { stmt(s, f); }
                    }
                    S::For { init, cond, step, body } => {
                        for s in init { stmt(s, f); }
                        if let Some(e) = cond { expr(e, f); }
                        for s in step { stmt(s, f); }
                        stmt(body, f);
                    }
                    S::While { cond, body } | S::DoWhile { body, cond } => {
                        expr(cond, f);
                        stmt(body, f);
                    }
                    S::Switch { value, cases } => {
                        expr(value, f);
                        for c in cases {
                            for (label, at) in &$($m)? c.labels {
                                if let Some(e) = label { expr(e, f); }
                                f(&$($m)? at.0);
                            }
                            for s in &$($m)? c.body { stmt(s, f); }
                        }
                    }
                    S::Send { portal, handler, args, latency } => {
                        expr(portal, f);
                        ident(handler, f);
                        for e in args { expr(e, f); }
                        if let Latency::Range(a, b) = latency {
                            expr(a, f);
                            expr(b, f);
                        }
                    }
                    S::Add { stream, portals } | S::Body { stream, portals } | S::Loop { stream, portals } => {
                        match stream {
                            StreamRef::Named { name, type_args, args, at } => {
                                ident(name, f);
                                for t in type_args { ty(t, f); }
                                for e in args { expr(e, f); }
                                f(&$($m)? at.0);
                            }
                            StreamRef::Anonymous(s) => self::stream($inner(s), f),
                        }
                        for e in portals { expr(e, f); }
                    }
                    S::Split(k) | S::Join(k) => if let SplitKind::RoundRobin(weights) = k {
                        for e in weights { expr(e, f); }
                    },
                }
                f(&$($m)? s.at.0);
            }

            fn expr<F: FnMut(&$($m)? Span)>(e: &$($m)? Expr, f: &mut F) {
                use ExprKind as E;
                match &$($m)? e.kind {
                    E::Int { .. } | E::Real { .. } | E::Imaginary { .. } | E::Char { .. } | E::Str { .. } => {}
                    E::Bool(_) | E::Pi | E::Pop | E::Iter | E::Error => {}
                    E::Var(name) => ident(name, f),
                    E::Paren(a) | E::Peek(a) | E::Unary(_, a) | E::IncDec { target: a, .. } => expr(a, f),
                    E::Member(a, name) => {
                        expr(a, f);
                        ident(name, f);
                    }
                    E::Index(a, b) | E::Binary(_, a, b) => {
                        expr(a, f);
                        expr(b, f);
                    }
                    E::Call { callee, args } => {
                        expr(callee, f);
                        for e in args { expr(e, f); }
                    }
                    E::Ternary(a, b, c) => for e in [a, b, c] { expr(e, f); },
                    E::Cast(t, a) => {
                        ty(t, f);
                        expr(a, f);
                    }
                    E::ArrayLit(items) => for e in items { expr(e, f); },
                }
                f(&$($m)? e.at.0);
            }
        }
    };
}

walk!(reading, Arc::as_ref);
walk!(changing, Arc::make_mut, mut);
