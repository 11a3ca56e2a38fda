//! The kernel of a region: its members' firings one after the other, with arrays for the items between them.
//!
//! ```text
//! A push 2 → B pop 1, twice   →   c0[0] = …  c0[1] = …   for $f = 0 < 2 { … c0[$f] … }
//! ```

use super::affine::{Affine, Ranges};
use super::view::{Store, Views, behind};
use super::{StateOf, bundle};
use crate::ir::*;
use crate::passes::clean::trip;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, CodeId, LocalId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Copies that are written one by one, at most; beyond it, they are loops.
const FEW_COPIES: i64 = 64;
/// Statements that a loop of copies may have.
const MOST_COPIES: i64 = 512;

/// A region's kernel.
pub(super) struct Body {
    /// It.
    pub(super) kernel: Kernel,
    /// By its state field: whose field of which member that is.
    pub(super) states: Vec<StateOf>,
    /// Items of the input that it looks at from before those on the input's channel.
    pub(super) ahead: u64,
}

/// Why a region has no kernel.
enum Stop {
    /// A channel needs an array of its own.
    Keep(ChannelId),
    /// A bundle's members must be apart.
    Apart(usize),
    /// It is not to be.
    Never,
}

/// The kernel of the members, in topological order, each with its firings in one of the region's.
pub(super) fn fused(
    (graph, fill): (&SdfGraph, &[u64]),
    kernels: &[Kernel],
    (members, bundles): (&[(NodeId, u64)], &[Vec<NodeId>]),
    ends: (Option<ChannelId>, Option<ChannelId>),
) -> Option<Body> {
    let set: BTreeSet<NodeId> = members.iter().map(|(v, _)| *v).collect();
    let ways = members.iter().flat_map(|(v, _)| &graph.node(*v).inputs);
    let ahead = ways.filter_map(|c| behind(graph, fill, &|v| set.contains(&v), *c)).max().unwrap_or(0);
    let (mut kept, mut bundles) = (BTreeSet::new(), bundles.to_vec());
    loop {
        let views = Views { graph, members: &set, kept: &kept, fill, ahead };
        match build(&views, kernels, (members, &bundles), ends) {
            Ok(body) => return Some(Body { ahead, ..body }),
            Err(Stop::Keep(c)) if kept.len() <= graph.channels.len() && !kept.contains(&c) => {
                kept.insert(c);
            }
            Err(Stop::Apart(i)) => drop(bundles.remove(i)),
            Err(_) => return None,
        }
    }
}

fn build(
    views: &Views<'_>,
    kernels: &[Kernel],
    (members, bundles): (&[(NodeId, u64)], &[Vec<NodeId>]),
    (input, output): (Option<ChannelId>, Option<ChannelId>),
) -> Result<Body, Stop> {
    let graph = views.graph;
    let filters: Vec<&Kernel> = members.iter().filter_map(|(v, _)| kernel_of(graph, kernels, *v)).collect();
    let first = filters.first().ok_or(Stop::Never)?;
    let times: BTreeMap<NodeId, u64> = members.iter().copied().collect();
    let function = Function {
        name: "work".into(),
        params: 0,
        locals: Vec::new(),
        ret: Ty::Void,
        body: Vec::new(),
        span: first.span,
    };
    let mut b = Builder {
        views,
        times,
        f: function,
        arrays: BTreeMap::new(),
        ranges: Ranges::new(),
        state: Vec::new(),
        states: Vec::new(),
        tables: Vec::new(),
        seen: BTreeMap::new(),
        side_by_side: BTreeMap::new(),
    };
    b.arrange(bundles)?;
    let mut out = Vec::new();
    for (v, n) in members {
        if let Some(i) = bundles.iter().position(|b| b.contains(v)) {
            // all of them where the first is
            if bundles[i][0] == *v {
                b.bundle((i, &bundles[i]), *n, kernels, &mut out)?;
            }
            continue;
        }
        match kernel_of(graph, kernels, *v) {
            Some(_) if b.again(*v, *n, &mut out)? => {}
            Some(kernel) => b.filter(*v, *n, kernel, &mut out)?,
            None => b.moves(*v, *n, first.span, &mut out)?,
        }
    }
    b.f.body = out;
    let side = |c: Option<ChannelId>, inward: bool| -> Result<(Ty, u32, u32), Stop> {
        let Some(c) = c else { return Ok((Ty::Void, 0, 0)) };
        let channel = graph.channel(c);
        let (v, rate) = if inward { (channel.to.0, channel.consume) } else { (channel.from.0, channel.produce) };
        let items = b.times.get(&v).ok_or(Stop::Never)?.checked_mul(rate.into()).and_then(|n| u32::try_from(n).ok());
        let items = items.filter(|n| i32::try_from(*n).is_ok()).ok_or(Stop::Never)?;
        let looks = u64::from(channel.peek.saturating_sub(channel.consume));
        let ahead = if inward { looks.checked_add(views.ahead) } else { Some(0) };
        let ahead = ahead.and_then(|n| u32::try_from(n).ok()).ok_or(Stop::Never)?;
        Ok((channel.ty.clone(), items, items.checked_add(ahead).ok_or(Stop::Never)?))
    };
    let (input, pop, peek) = side(input, true)?;
    let (output, push, _) = side(output, false)?;
    let last = filters.last().ok_or(Stop::Never)?;
    let (name, display) = if filters.len() == 1 {
        (first.name.clone(), first.display.clone())
    } else {
        (
            format!("{}_to_{}", first.name, last.name),
            format!("{} to {}, {} filters", first.display, last.display, filters.len()),
        )
    };
    let kernel = Kernel {
        name,
        display,
        span: first.span,
        input,
        output,
        structs: first.structs.clone(),
        state: b.state,
        tables: b.tables,
        natives: Vec::new(),
        functions: vec![b.f],
        work: Work { function: FuncId(0), rates: Rates { peek, pop, push }, dynamic: None },
        prework: None,
        handlers: Vec::new(),
        lanes: None,
    };
    Ok(Body { kernel, states: b.states, ahead: 0 })
}

/// The kernel of a node, where it is a filter.
fn kernel_of<'k>(graph: &SdfGraph, kernels: &'k [Kernel], v: NodeId) -> Option<&'k Kernel> {
    match &graph.node(v).kind {
        NodeKind::Filter { code, .. } => kernels.get(code.index()),
        _ => None,
    }
}

struct Builder<'a> {
    views: &'a Views<'a>,
    times: BTreeMap<NodeId, u64>,
    f: Function,
    arrays: BTreeMap<ChannelId, LocalId>,
    ranges: Ranges,
    state: Vec<StateField>,
    states: Vec<StateOf>,
    tables: Vec<Table>,
    /// Filters without state that read the input, by code, firings and what they see first: where they put what they give.
    seen: BTreeMap<(CodeId, u64, u64), ChannelId>,
    /// Channels whose items are side by side with those of other members of a bundle: the first of these channels, which one this is, and how many.
    side_by_side: BTreeMap<ChannelId, (ChannelId, usize, usize)>,
}

impl Builder<'_> {
    fn local(&mut self, name: &str, ty: Ty) -> LocalId {
        self.f.locals.push(Local { name: name.into(), ty, by_ref: false });
        LocalId::from(self.f.locals.len() - 1)
    }

    /// The array of a channel's items.
    fn array(&mut self, c: ChannelId) -> Result<LocalId, Stop> {
        if let Some(id) = self.arrays.get(&c) {
            return Ok(*id);
        }
        let (c, wide) = self.side_by_side.get(&c).map_or((c, 1), |(first, _, n)| (*first, *n));
        if let Some(id) = self.arrays.get(&c) {
            return Ok(*id);
        }
        let channel = self.views.graph.channel(c);
        let items = self.times.get(&channel.from.0).and_then(|n| n.checked_mul(channel.produce.into()));
        let items = items.and_then(|n| n.checked_mul(wide as u64)).and_then(|n| i32::try_from(n).ok());
        let items = items.ok_or(Stop::Never)?;
        let id = self.local("items", channel.ty.clone().array(items.max(1) as u32));
        self.arrays.insert(c, id);
        Ok(id)
    }

    fn place(&mut self, (store, at): (Store, Expr), path: Vec<Proj>) -> Result<Place, Stop> {
        Ok(match store {
            Store::Input => Place { base: Base::In(Box::new(at)), path },
            Store::Output => Place { base: Base::Out(Box::new(at)), path },
            Store::Array(c) => {
                let at = match self.side_by_side.get(&c) {
                    Some((_, lane, n)) => side(at, *n, Expr::int(*lane as i32)),
                    None => at,
                };
                let mut whole = vec![Proj::Index(at)];
                whole.extend(path);
                Place { base: Base::Local(self.array(c)?), path: whole }
            }
        })
    }

    /// Where a filter's firing reads (or writes) the item at a position of its own.
    fn item(&mut self, c: ChannelId, base: &Affine, position: &Expr, read: bool) -> Result<(Store, Expr), Stop> {
        let found = Affine::of(position, &self.ranges).and_then(|p| p.plus(base)).and_then(|at| {
            let (store, at) =
                if read { self.views.read(c, &at, &self.ranges) } else { self.views.write(c, &at, &self.ranges) }?;
            Some((store, at.expr()?))
        });
        if let Some(found) = found {
            return Ok(found);
        }
        // no sum of variables: whatever it is, it can be added to the firing's first item, where nothing stands between
        let zero = Affine::constant(0);
        let here =
            if read { self.views.read(c, &zero, &self.ranges) } else { self.views.write(c, &zero, &self.ranges) };
        let direct = here.filter(|_| self.direct(c, read));
        let (store, _) = direct.ok_or(Stop::Keep(c))?;
        let first = base.expr().ok_or(Stop::Never)?;
        Ok((store, Expr::add(first, position.clone())))
    }

    /// Do positions of the channel stay what they are?
    fn direct(&self, c: ChannelId, read: bool) -> bool {
        let graph = self.views.graph;
        let mut c = c;
        loop {
            let channel = graph.channel(c);
            let v = if read { channel.from.0 } else { channel.to.0 };
            if self.views.kept.contains(&c) || !self.views.members.contains(&v) {
                return true;
            }
            let node = graph.node(v);
            match (&node.kind, read) {
                (NodeKind::Identity | NodeKind::Duplicate, true) => c = node.inputs[0],
                (NodeKind::SplitRoundRobin(_), true) | (NodeKind::JoinRoundRobin(_), false) => return false,
                _ => return true,
            }
        }
    }

    /// Gives a filter's firings the same again as an equal filter that sees the same items: what that has given is copied.
    fn again(&mut self, v: NodeId, n: u64, out: &mut Vec<Stmt>) -> Result<bool, Stop> {
        let graph = self.views.graph;
        let node = graph.node(v);
        let (NodeKind::Filter { code, stateful: false, .. }, [input], [output]) =
            (&node.kind, &node.inputs[..], &node.outputs[..])
        else {
            return Ok(false);
        };
        let Some(behind) = behind(graph, self.views.fill, &|v| self.views.members.contains(&v), *input) else {
            return Ok(false);
        };
        let first = match self.seen.entry((*code, n, behind)) {
            Entry::Vacant(e) => {
                e.insert(*output);
                return Ok(false);
            }
            Entry::Occupied(e) => *e.get(),
        };
        let channel = graph.channel(*output);
        let items = n.saturating_mul(channel.produce.into());
        if items > FEW_COPIES as u64 {
            return Ok(false);
        }
        let mut copies = Vec::new();
        for i in 0..items as i64 {
            let at = Affine::constant(i);
            let (from, to) = (self.views.write(first, &at, &self.ranges), self.views.write(*output, &at, &self.ranges));
            let (Some((from, a)), Some((to, b))) = (from, to) else { return Ok(false) };
            // the region's output cannot be read
            if from == Store::Output {
                return Ok(false);
            }
            let (a, b) = (a.expr().ok_or(Stop::Never)?, b.expr().ok_or(Stop::Never)?);
            let (from, to) = (self.place((from, a), Vec::new())?, self.place((to, b), Vec::new())?);
            copies.push(StmtKind::Assign(to, Expr::load(from, channel.ty.clone())).at(node.span));
        }
        out.extend(copies);
        Ok(true)
    }

    /// Lets what members of bundles give to other filters lie side by side.
    fn arrange(&mut self, bundles: &[Vec<NodeId>]) -> Result<(), Stop> {
        let graph = self.views.graph;
        for members in bundles {
            let outputs: Option<Vec<ChannelId>> = members.iter().map(|v| graph.node(*v).outputs.first().copied()).collect();
            let Some(outputs) = outputs else { continue };
            let own = |c: &ChannelId| {
                self.views.write(*c, &Affine::constant(0), &self.ranges).is_some_and(|(store, _)| store == Store::Array(*c))
            };
            if outputs.iter().all(own) {
                let (first, n) = (outputs[0], outputs.len());
                self.side_by_side.extend(outputs.into_iter().enumerate().map(|(l, c)| (c, (first, l, n))));
            }
        }
        Ok(())
    }

    /// The firings of a bundle: a loop over its members around those of one.
    fn bundle(&mut self, (number, members): (usize, &[NodeId]), n: u64, kernels: &[Kernel], out: &mut Vec<Stmt>) -> Result<(), Stop> {
        let graph = self.views.graph;
        let own: Option<Vec<&Kernel>> = members.iter().map(|v| kernel_of(graph, kernels, *v)).collect();
        let own = own.ok_or(Stop::Never)?;
        let (kernel, count) = (own[0], members.len());
        let source = kernel.function(kernel.work.function);
        let lane = self.local("branch", Ty::Int);
        let at_lane = || Proj::Index(Expr::local(lane, Ty::Int));
        let shift = self.f.locals.len() as u32;
        self.f.locals.extend(source.locals.iter().cloned());
        let first_state = self.state.len() as u32;
        for (i, s) in kernel.state.iter().enumerate() {
            let initial = own.iter().map(|k| k.state[i].initial.clone()).collect();
            let ty = s.ty.clone().array(count as u32);
            self.state.push(StateField { name: s.name.clone(), ty, initial: Const::Array(initial) });
            self.states.push(StateOf::Elements(members.iter().map(|v| (*v, StateId::from(i))).collect()));
        }
        let mut body = source.body.clone();
        walk::each_local_mut(&mut body, &mut |id| id.0 += shift);
        // constants that differ, and tables, by member
        let all: Vec<Vec<Const>> = own.iter().map(|k| bundle::constants(k)).collect();
        let mut tables = |value: Vec<Const>, ty: Ty, name: &str| {
            self.tables.push(Table { name: name.into(), ty: ty.array(count as u32), value: Const::Array(value.into()), shared: None });
            TableId::from(self.tables.len() - 1)
        };
        let own_tables: Vec<TableId> = (kernel.tables.iter().enumerate())
            .map(|(i, t)| tables(own.iter().map(|k| k.tables[i].value.clone()).collect(), t.ty.clone(), &t.name))
            .collect();
        let mut next = 0;
        walk::each_expr_mut(&mut body, &mut |e| {
            if let ExprKind::Const(Const::Float(_) | Const::Double(_)) = &e.kind {
                let values: Vec<Const> = all.iter().map(|c| c[next].clone()).collect();
                next += 1;
                if values.iter().any(|c| *c != values[0]) {
                    let table = tables(values, e.ty.clone(), "constants");
                    *e = Expr::load(Place { base: Base::Table(table), path: vec![at_lane()] }, e.ty.clone());
                }
            }
        });
        walk::each_place_mut(&mut body, &mut |p| {
            let base = match p.base {
                Base::State(id) => Base::State(StateId(id.0 + first_state)),
                Base::Table(id) if !is_made(p, lane) => Base::Table(own_tables[id.index()]),
                _ => return,
            };
            p.base = base;
            p.path.insert(0, at_lane());
        });
        let times = i32::try_from(n).map_err(|_| Stop::Never)?;
        let firing = (n > 1).then(|| self.local("firing", Ty::Int));
        if let Some(id) = firing {
            self.ranges.insert(id, (0, i64::from(times) - 1));
        }
        let base = |rate: u32| match firing {
            Some(id) => Affine::variable(id).times(rate.into()).ok_or(Stop::Never),
            None => Ok(Affine::constant(0)),
        };
        let bases = (base(kernel.work.rates.pop)?, base(kernel.work.rates.push)?);
        let sides = |v: &NodeId| (graph.node(*v).inputs.first().copied(), graph.node(*v).outputs.first().copied());
        // each member's own places, and then what they have in common
        let mut bodies = Vec::with_capacity(count);
        for v in members {
            let mut one = body.clone();
            self.positions(&mut one, sides(v), &bases).map_err(|stop| match stop {
                Stop::Keep(_) => Stop::Apart(number),
                other => other,
            })?;
            bodies.push(one);
        }
        let common = common(&bodies, lane).ok_or(Stop::Apart(number))?;
        let turns = |var: LocalId, n: i32, body: Vec<Stmt>| {
            let to = Expr::int(n);
            StmtKind::For(Box::new(For { var, from: Expr::int(0), cmp: BinaryOp::Lt, to, step: 1, body })).at(source.span)
        };
        let all = vec![turns(lane, count as i32, common)];
        match firing {
            Some(var) => out.push(turns(var, times, all)),
            None => out.extend(all),
        }
        Ok(())
    }

    /// The firings of a filter.
    fn filter(&mut self, v: NodeId, n: u64, kernel: &Kernel, out: &mut Vec<Stmt>) -> Result<(), Stop> {
        let node = self.views.graph.node(v);
        let source = kernel.function(kernel.work.function);
        let shift = self.f.locals.len() as u32;
        self.f.locals.extend(source.locals.iter().cloned());
        let first_state = self.state.len() as u32;
        for (i, s) in kernel.state.iter().enumerate() {
            self.state.push(s.clone());
            self.states.push(StateOf::Field(v, StateId::from(i)));
        }
        let tables: Vec<TableId> = kernel.tables.iter().map(|t| self.table(t)).collect();
        let mut body = source.body.clone();
        walk::each_local_mut(&mut body, &mut |id| id.0 += shift);
        walk::each_place_mut(&mut body, &mut |p| match &mut p.base {
            Base::State(id) => id.0 += first_state,
            Base::Table(id) => *id = tables[id.index()],
            _ => {}
        });
        if walk::leaves(&body, 0, false, true) {
            returns(&mut body, 0);
            body = vec![StmtKind::Block(body).at(source.span)];
        }
        let count = i32::try_from(n).map_err(|_| Stop::Never)?;
        let firing = (n > 1).then(|| self.local("firing", Ty::Int));
        let base = |rate: u32| match firing {
            Some(id) => Affine::variable(id).times(rate.into()).ok_or(Stop::Never),
            None => Ok(Affine::constant(0)),
        };
        if let Some(id) = firing {
            self.ranges.insert(id, (0, i64::from(count) - 1));
        }
        let rates = kernel.work.rates;
        let channels = (node.inputs.first().copied(), node.outputs.first().copied());
        self.positions(&mut body, channels, &(base(rates.pop)?, base(rates.push)?))?;
        match firing {
            None => out.extend(body),
            Some(var) => {
                // what the body leaves, it leaves within the turn
                let turns = For { var, from: Expr::int(0), cmp: BinaryOp::Lt, to: Expr::int(count), step: 1, body };
                out.push(StmtKind::For(Box::new(turns)).at(source.span));
            }
        }
        Ok(())
    }

    fn table(&mut self, t: &Table) -> TableId {
        let found = self.tables.iter().position(|u| u.shared == t.shared && u.ty == t.ty && u.value == t.value);
        TableId::from(found.unwrap_or_else(|| {
            self.tables.push(t.clone());
            self.tables.len() - 1
        }))
    }

    /// Positions of a filter's firing become places of the region.
    fn positions(
        &mut self,
        body: &mut [Stmt],
        channels: (Option<ChannelId>, Option<ChannelId>),
        base: &(Affine, Affine),
    ) -> Result<(), Stop> {
        for s in body {
            let mut stop = None;
            s.kind.each_own_expr_mut(&mut |e| {
                e.walk_mut(&mut |e| {
                    if let ExprKind::Load(p) = &mut e.kind
                        && stop.is_none()
                    {
                        stop = self.rebase(p, channels, base).err();
                    }
                })
            });
            for p in s.kind.targets_mut() {
                if stop.is_none() {
                    stop = self.rebase(p, channels, base).err();
                }
            }
            if let Some(stop) = stop {
                return Err(stop);
            }
            if let StmtKind::For(l) = &mut s.kind {
                let known = trip(l).zip(l.from.as_int()).filter(|((n, _), _)| *n > 0);
                if let Some(((_, after), from)) = known {
                    let (from, last) = (i64::from(from), i64::from(after) - i64::from(l.step));
                    self.ranges.insert(l.var, (from.min(last), from.max(last)));
                }
                self.positions(&mut l.body, channels, base)?;
                self.ranges.remove(&l.var);
                continue;
            }
            for b in s.kind.bodies_mut() {
                self.positions(b, channels, base)?;
            }
        }
        Ok(())
    }

    fn rebase(
        &mut self,
        p: &mut Place,
        (input, output): (Option<ChannelId>, Option<ChannelId>),
        base: &(Affine, Affine),
    ) -> Result<(), Stop> {
        let found = match &p.base {
            Base::In(e) => self.item(input.ok_or(Stop::Never)?, &base.0, e, true)?,
            Base::Out(e) => self.item(output.ok_or(Stop::Never)?, &base.1, e, false)?,
            Base::Peek(_) => return Err(Stop::Never),
            _ => return Ok(()),
        };
        *p = self.place(found, std::mem::take(&mut p.path))?;
        Ok(())
    }

    /// What a splitter, a joiner or an identity has to copy.
    fn moves(&mut self, v: NodeId, n: u64, span: Span, out: &mut Vec<Stmt>) -> Result<(), Stop> {
        let graph = self.views.graph;
        let node = graph.node(v);
        match &node.kind {
            NodeKind::Identity | NodeKind::Duplicate | NodeKind::SplitRoundRobin(_) => {
                for c in &node.outputs {
                    let channel = graph.channel(*c);
                    let ends = !self.views.members.contains(&channel.to.0);
                    let joins = matches!(graph.node(channel.to.0).kind, NodeKind::JoinRoundRobin(_));
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
        if items > MOST_COPIES {
            return Err(Stop::Never);
        }
        for i in 0..items {
            let s = self.copy(c, &Affine::constant(i), split, &ty, span)?.ok_or(Stop::Never)?;
            out.push(s);
        }
        Ok(())
    }

    fn copy(&mut self, c: ChannelId, at: &Affine, split: bool, ty: &Ty, span: Span) -> Result<Option<Stmt>, Stop> {
        let (from, to) = if split {
            (self.views.source(c, at, &self.ranges), self.views.write(c, at, &self.ranges))
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

/// Where an item of a member of a bundle is among those of all.
fn side(at: Expr, members: usize, lane: Expr) -> Expr {
    let row = match at.as_int() {
        Some(i) => Expr::int(i.wrapping_mul(members as i32)),
        None => Expr::binary(BinaryOp::Mul, at, Expr::int(members as i32), Ty::Int),
    };
    Expr::add(row, lane)
}

/// Does the place begin with the member's number?
fn is_made(p: &Place, lane: LocalId) -> bool {
    matches!(p.path.first(), Some(Proj::Index(e)) if matches!(&e.kind, ExprKind::Load(q) if q.as_local() == Some(lane)))
}

/// Bodies that differ in constants only as one, where these constants are sums of the body's number: `a + l · b`.
fn common(bodies: &[Vec<Stmt>], lane: LocalId) -> Option<Vec<Stmt>> {
    let ints = |body: &[Stmt]| {
        let mut all = Vec::new();
        walk::each_expr(body, &mut |e| all.extend(e.as_int()));
        all
    };
    let first = ints(&bodies[0]);
    let second = ints(bodies.get(1)?);
    let step: Vec<i32> = second.iter().zip(&first).map(|(b, a)| b.wrapping_sub(*a)).collect();
    let mut out = bodies[0].clone();
    // every body must be the first with its constants moved on
    for (l, body) in bodies.iter().enumerate() {
        let own = ints(body);
        let fits = own.len() == first.len()
            && own.iter().zip(&first).zip(&step).all(|((x, a), s)| *x == a.wrapping_add(s.wrapping_mul(l as i32)));
        if !fits || blank(body) != blank(&bodies[0]) {
            return None;
        }
    }
    let mut i = 0;
    walk::each_expr_mut(&mut out, &mut |e| {
        let Some(a) = e.as_int() else { return };
        let s = step[i];
        i += 1;
        if s != 0 {
            let by = match s {
                1 => Expr::local(lane, Ty::Int),
                _ => Expr::binary(BinaryOp::Mul, Expr::local(lane, Ty::Int), Expr::int(s), Ty::Int),
            };
            *e = Expr::add(by, Expr::int(a));
        }
    });
    Some(out)
}

/// Statements with all ints the same.
fn blank(body: &[Stmt]) -> Vec<Stmt> {
    let mut out = body.to_vec();
    walk::each_expr_mut(&mut out, &mut |e| {
        if e.as_int().is_some() {
            *e = Expr::int(0);
        }
    });
    out
}

fn counted(var: LocalId, turns: i64, body: Vec<Stmt>, span: Span) -> Stmt {
    let to = Expr::int(turns as i32);
    StmtKind::For(Box::new(For { var, from: Expr::int(0), cmp: BinaryOp::Lt, to, step: 1, body })).at(span)
}

/// Returns become breaks of the block around the statements.
fn returns(body: &mut [Stmt], depth: u32) {
    for s in body {
        match &mut s.kind {
            StmtKind::Return(_) => s.kind = StmtKind::Break(depth),
            StmtKind::If(_, a, b) => {
                returns(a, depth);
                returns(b, depth);
            }
            StmtKind::For(l) => returns(&mut l.body, depth + 1),
            StmtKind::Loop(b) | StmtKind::Block(b) => returns(b, depth + 1),
            _ => {}
        }
    }
}
