//! What splitters, joiners, identities and movers of a region still copy: items that come from a splitter straight to a joiner, or leave the region, and channels that have an array
//! of their own.

use super::body::{Builder, Stop, counted};
use crate::affine::Affine;
use crate::ir::*;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;

/// Copies that are written one by one, at most; beyond it, they are loops.
pub(super) const FEW_COPIES: i64 = 64;
/// Statements that a loop of copies may have.
const MOST_COPIES: i64 = 512;

impl Builder<'_> {
    /// What a splitter, a joiner, an identity or a mover has to copy.
    pub(super) fn moves(&mut self, v: NodeId, n: u64, span: Span, out: &mut Vec<Stmt>) -> Result<(), Stop> {
        let graph = self.views.graph;
        let node = graph.node(v);
        match &node.kind {
            _ if self.views.forwards(v) => {
                for c in &node.outputs {
                    let channel = graph.channel(*c);
                    let to = channel.to.0;
                    let ends = !self.views.members.contains(&to);
                    let joins =
                        matches!(graph.node(to).kind, NodeKind::JoinRoundRobin(_)) && !self.views.plain.contains(&to);
                    if ends || joins || self.views.kept.contains(c) {
                        self.copies(*c, n.saturating_mul(channel.produce.into()), true, span, out)?;
                    }
                }
            }
            NodeKind::JoinRoundRobin(_) => {
                for c in &node.inputs {
                    // what comes from a splitter has been copied there, what comes from a filter is written where it belongs
                    if self.views.kept.contains(c) || !self.views.members.contains(&graph.channel(*c).from.0) {
                        self.copies(*c, n.saturating_mul(graph.channel(*c).consume.into()), false, span, out)?;
                    }
                }
            }
            _ => return Err(Stop::Never),
        }
        Ok(())
    }

    /// Copies all items of a channel: from where a splitter takes them to where the channel has them, or from there to where a joiner puts them.
    fn copies(&mut self, c: ChannelId, items: u64, split: bool, span: Span, out: &mut Vec<Stmt>) -> Result<(), Stop> {
        let items = i64::try_from(items).ok().filter(|n| *n <= i32::MAX.into()).ok_or(Stop::Never)?;
        let ty = self.views.graph.channel(c).ty.clone();
        if items <= FEW_COPIES {
            for i in 0..items {
                let s = self.copy(c, &Affine::constant(i), split, &ty, span)?.ok_or(Stop::Never)?;
                out.push(s);
            }
            return Ok(());
        }
        let period = self.views.period(c).filter(|p| *p < items && items % p == 0);
        // one loop; then one within another; then the inner one written out
        let outer = self.local("item", Ty::Int);
        self.ranges.insert(outer, (0, items - 1));
        if let Some(s) = self.copy(c, &Affine::variable(outer), split, &ty, span)? {
            out.push(counted(outer, items, vec![s], span));
            self.ranges.remove(&outer);
            return Ok(());
        }
        if let Some(p) = period {
            self.ranges.insert(outer, (0, items / p - 1));
            let inner = self.local("item", Ty::Int);
            self.ranges.insert(inner, (0, p - 1));
            let at =
                Affine::variable(outer).times(p).and_then(|a| a.plus(&Affine::variable(inner))).ok_or(Stop::Never)?;
            if let Some(s) = self.copy(c, &at, split, &ty, span)? {
                out.push(counted(outer, items / p, vec![counted(inner, p, vec![s], span)], span));
                return Ok(());
            }
            let mut body = Vec::new();
            for i in 0..p.min(MOST_COPIES + 1) {
                let at =
                    Affine::variable(outer).times(p).and_then(|a| a.plus(&Affine::constant(i))).ok_or(Stop::Never)?;
                let Some(s) = self.copy(c, &at, split, &ty, span)? else { break };
                body.push(s);
            }
            if body.len() as i64 == p {
                out.push(counted(outer, items / p, body, span));
                return Ok(());
            }
        }
        self.ranges.remove(&outer);
        // what moves them knows loops for it
        let work = self.views.moved_by(c).map_or(Stop::Never, Stop::Work);
        if items > MOST_COPIES {
            return Err(work);
        }
        for i in 0..items {
            let s = self.copy(c, &Affine::constant(i), split, &ty, span)?.ok_or(Stop::Never)?;
            out.push(s);
        }
        Ok(())
    }

    fn copy(&mut self, c: ChannelId, at: &Affine, split: bool, ty: &Ty, span: Span) -> Result<Option<Stmt>, Stop> {
        // what a joiner takes straight from a splitter are the oldest items that wait there
        let straight = !self.views.kept.contains(&c) && self.views.members.contains(&self.views.graph.channel(c).to.0);
        let (from, to) = if split {
            let from =
                if straight { self.views.read(c, at, &self.ranges) } else { self.views.source(c, at, &self.ranges) };
            (from, self.views.write(c, at, &self.ranges))
        } else {
            (self.views.read(c, at, &self.ranges), self.views.target(c, at, &self.ranges))
        };
        let (Some((from, a)), Some((to, b))) = (from, to) else { return Ok(None) };
        let (Some(a), Some(b)) = (a.expr(), b.expr()) else { return Ok(None) };
        let from = self.place((from, a), Vec::new())?;
        let to = self.place((to, b), Vec::new())?;
        Ok(Some(StmtKind::Assign(to, Expr::load(from, ty.clone())).at(span)))
    }
}
