//! # portals chosen at run time
//!
//! Purpose: a message to one of an array of portals, where which one depends on the run: `p[i].set(x);`. Input: the typed portal and the
//! message. Output: the message to each of the portals, under an `if`, since the schedule must know of all that can be sent:
//! `{ int n = i; if (n == 0) p[0].set(x); else if (n == 1) p[1].set(x); else <index out of bounds> }`.
//! Limits: one dimension may depend on the run, and there are at most [`MAX_PORTALS`].

use super::Checker;
use super::constants::NotConstant;
use crate::constant::Const;
use crate::ids::*;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use sluice_grammar::ast::{self, ExprKind as A};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

/// Each of them has code of its own in the sender, and constraints in the schedule.
const MAX_PORTALS: usize = 256;

impl Checker<'_> {
    /// Is it a portal, or one of an array of portals? (Groups of functions have names that are no variables.)
    pub(super) fn is_portal(&self, e: &ast::Expr) -> bool {
        let mut dimensions = 0;
        let mut e = e.unparen();
        while let A::Index(base, _) = &e.kind {
            dimensions += 1;
            e = base.unparen();
        }
        let A::Var(name) = &e.kind else { return false };
        let ty = if let Some(id) = self.lookup(&name.name) {
            &self.f.locals[id.index()].ty
        } else if let Some(id) = self.field_names.get(&name.name) {
            &self.fields[id.index()].ty
        } else if let Some((ty, ..)) = self.scalars.get(&name.name) {
            ty
        } else {
            return false;
        };
        let mut ty = ty;
        for _ in 0..dimensions {
            let Some(inner) = ty.element() else { return false };
            ty = inner;
        }
        matches!(ty, Ty::Portal(_))
    }

    /// `p.h(x) [2];`: a range has two ends. Where what is between the brackets has been told already, there is nothing to add.
    pub(super) fn send_by_one(
        &mut self,
        portal: &ast::Expr,
        handler: &ast::Ident,
        args: &[ast::Expr],
        latency: &ast::Expr,
        span: Span,
    ) -> StmtKind {
        let behind = Span { start: latency.span().end, ..span };
        if matches!(latency.kind, A::Error) || self.w.sources.text(behind).contains(':') {
            return self.send(portal, handler, args, Some(&ast::Latency::BestEffort), span);
        }
        let text = self.w.sources.text(latency.span()).to_string();
        self.report(
            Diagnostic::error("E0310", "a latency is a range", latency.span(), "one number")
                .help(format!("write its smallest and its largest: `[{text}:{text}]`"))
                .fix(Fix::safe(format!("write `{text}:{text}`"), latency.span(), format!("{text}:{text}"))),
        );
        let range = ast::Latency::Range(latency.clone(), latency.clone());
        self.send(portal, handler, args, Some(&range), span)
    }

    /// The message to whichever portal it is; `None` where that was reported as impossible.
    pub(super) fn chosen_portal(&mut self, portal: Expr, send: Send) -> Option<StmtKind> {
        let span = portal.span;
        let refused = |c: &mut Self, label: String| {
            let d = Diagnostic::error("E0310", "which portal this is depends on the run", span, label);
            c.report(d.help("messages constrain the schedule: send to each of the portals under an `if`"));
        };
        let ExprKind::Index(array, index) = portal.kind else {
            refused(self, "not known at compile time".into());
            return None;
        };
        let portals: Vec<PortalId> = match self.constant(&array) {
            Ok(Some(Const::Array(all))) => {
                all.iter().filter_map(|c| if let Const::Portal(id) = c { Some(*id) } else { None }).collect()
            }
            // in general: no portal is known
            Ok(_) => return Some(StmtKind::Send(Box::new(send))),
            Err(NotConstant) => {
                refused(self, "only the last index can depend on the run".into());
                return None;
            }
        };
        if portals.len() > MAX_PORTALS {
            refused(self, format!("one of {}, more than {MAX_PORTALS}", portals.len()));
            return None;
        }
        let int = |n: usize| Expr { kind: ExprKind::Const(Const::Int(n as i32)), ty: Ty::Int, span };
        let local = LocalId::from(self.f.locals.len());
        self.f.locals.push(Local { name: "portal".into(), ty: Ty::Int, by_ref: false, written: false, span });
        let which = || Expr { kind: ExprKind::Local(local), ty: Ty::Int, span };
        // the last way out is an index that is none: what tells of it is a look into as many numbers
        let count = portals.len();
        let ty = Ty::Array(Ty::Int.into(), Dim::Known(count as u32));
        let numbers = Expr { kind: ExprKind::Const(Const::Array(vec![Const::Int(0); count].into())), ty, span };
        let look = Expr { kind: ExprKind::Index(Box::new(numbers), Box::new(which())), ty: Ty::Int, span };
        let mut rest = vec![Stmt { kind: StmtKind::Expr(look), span }];
        for (i, portal) in portals.into_iter().enumerate().rev() {
            let equal = ExprKind::Binary(BinaryOp::Eq, Box::new(which()), Box::new(int(i)));
            let cond = Expr { kind: equal, ty: Ty::Bool, span };
            let kind = StmtKind::Send(Box::new(Send { portal, ..send.clone() }));
            let then = vec![Stmt { kind, span }];
            rest = vec![Stmt { kind: StmtKind::If { cond, then, els: rest }, span }];
        }
        let first = Stmt { kind: StmtKind::Let { local, init: Some(*index), dims: Vec::new() }, span };
        Some(StmtKind::Block([first].into_iter().chain(rest).collect()))
    }
}
