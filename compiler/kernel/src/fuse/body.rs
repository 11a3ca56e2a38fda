//! The kernel of a region: its members' firings one after the other, with arrays for the items between them.
//!
//! ```text
//! A push 2 → B pop 1, twice   →   c0[0] = …  c0[1] = …   for $f = 0 < 2 { … c0[$f] … }
//! ```

use super::StateOf;
use super::bundle::{bundle_of, side};
use super::copies::FEW_COPIES;
use super::movers::Mover;
use super::view::{Store, Views, behind};
use crate::affine::{Affine, Ranges};
use crate::ir::*;
use crate::passes::clean::trip;
use crate::passes::unroll;
use crate::walk;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, CodeId, LocalId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_grammar::span::Span;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A region's kernel.
pub(super) struct Body {
    /// It.
    pub(super) kernel: Kernel,
    /// By its state field: whose field of which member that is.
    pub(super) states: Vec<StateOf>,
    /// By own number of its tables: whose they are, and their numbers there.
    pub(super) tables: Vec<(NodeId, u32)>,
    /// Items of the input that it looks at from before those on the input's channel.
    pub(super) ahead: u64,
}

/// Why a region has no kernel.
pub(super) enum Stop {
    /// A channel needs an array of its own.
    Keep(ChannelId),
    /// A bundle's members must be apart.
    Apart(usize),
    /// A mover or a plain joiner has to do its work.
    Work(NodeId),
    /// It is not to be.
    Never,
}

/// Statements and operations of a bundle's members, all loops written out, up to which they are fired one by one where they cannot be a bundle.
const ONE_BY_ONE: u64 = 3000;

/// Why members are no region.
pub(super) enum Refused {
    /// They cannot be.
    Never,
    /// They can, in no such bundle.
    Bundle(Vec<NodeId>),
}

/// The kernel of the members, in topological order, each with its firings in one of the region's.
pub(super) fn fused(
    (graph, fill): (&SdfGraph, &[u64]),
    (kernels, movers): (&[Kernel], &[Option<Mover>]),
    (members, bundles): (&[(NodeId, u64)], &[Vec<NodeId>]),
    ends: (Option<ChannelId>, Option<ChannelId>),
    carried: &BTreeSet<ChannelId>,
) -> Result<Body, Refused> {
    let set: BTreeSet<NodeId> = members.iter().map(|(v, _)| *v).collect();
    let ways = members.iter().flat_map(|(v, _)| &graph.node(*v).inputs);
    let ahead = ways.filter_map(|c| behind(graph, fill, &|v| set.contains(&v), *c)).max().unwrap_or(0);
    let (mut kept, mut opaque, mut bundles) = (carried.clone(), BTreeSet::new(), bundles.to_vec());
    loop {
        let plain = BTreeSet::new();
        let mut views =
            Views { graph, members: &set, kept: &kept, carried, fill, ahead, movers, opaque: &opaque, plain };
        views.find_plain(members);
        match build(&views, kernels, (members, &bundles), ends) {
            Ok(body) => return Ok(Body { ahead, ..body }),
            // an array has what one firing puts on the channel, and nothing that waited there
            Err(Stop::Keep(c)) if fill[c.index()] == 0 && kept.insert(c) => {}
            // the region was held to be small because the bundle is
            Err(Stop::Apart(i)) if all_of(graph, kernels, &bundles[i]) > ONE_BY_ONE => {
                return Err(Refused::Bundle(bundles.swap_remove(i)));
            }
            Err(Stop::Apart(i)) => drop(bundles.remove(i)),
            Err(Stop::Work(v)) if opaque.insert(v) => {}
            Err(_) => return Err(Refused::Never),
        }
    }
}

/// The size of all members of a bundle together.
fn all_of(graph: &SdfGraph, kernels: &[Kernel], bundle: &[NodeId]) -> u64 {
    let one = bundle.first().and_then(|v| kernel_of(graph, kernels, *v));
    one.map_or(0, |k| unroll::written_out_size(&k.function(k.work.function).body)).saturating_mul(bundle.len() as u64)
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
        own_tables: Vec::new(),
        seen: BTreeMap::new(),
        side_by_side: BTreeMap::new(),
        filled: BTreeSet::new(),
        waits: BTreeMap::new(),
        tapes: Vec::new(),
        elsewhere: Vec::new(),
    };
    b.arrange(bundles)?;
    let mut out = Vec::new();
    let bundled = bundle_of(bundles);
    for (v, n) in members {
        if let Some(&i) = bundled.get(v) {
            // all of them where the first is
            if bundles[i][0] == *v {
                b.bundle((i, &bundles[i]), *n, kernels, &mut out)?;
            }
            continue;
        }
        match kernel_of(graph, kernels, *v) {
            Some(_) if views.mover(*v).is_some() => b.moves(*v, *n, first.span, &mut out)?,
            Some(_) if b.again(*v, *n, &mut out)? => {}
            Some(kernel) => b.filter(*v, *n, kernel, &mut out)?,
            None => b.moves(*v, *n, first.span, &mut out)?,
        }
    }
    b.move_on(&mut out)?;
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
        free: filters.iter().all(|k| k.free),
        lanes: None,
        steps: None,
        tapes: b.tapes,
        chosen: Vec::new(),
        elsewhere: b.elsewhere,
    };
    Ok(Body { kernel, states: b.states, tables: b.own_tables, ahead: 0 })
}

/// The kernel of a node, where it is a filter.
pub(super) fn kernel_of<'k>(graph: &SdfGraph, kernels: &'k [Kernel], v: NodeId) -> Option<&'k Kernel> {
    match &graph.node(v).kind {
        NodeKind::Filter { code, .. } => kernels.get(code.index()),
        _ => None,
    }
}

pub(super) struct Builder<'a> {
    pub(super) views: &'a Views<'a>,
    pub(super) times: BTreeMap<NodeId, u64>,
    pub(super) f: Function,
    pub(super) arrays: BTreeMap<ChannelId, LocalId>,
    pub(super) ranges: Ranges,
    pub(super) state: Vec<StateField>,
    pub(super) states: Vec<StateOf>,
    pub(super) tables: Vec<Table>,
    /// By own number of a table: whose it is, and its number there.
    own_tables: Vec<(NodeId, u32)>,
    /// Filters without state that read the input, by code, firings and what they see first: where they put what they give.
    seen: BTreeMap<(CodeId, u64, u64), ChannelId>,
    /// Channels whose items are side by side with those of other members of a bundle: the first of these channels, which one this is, and the lanes.
    pub(super) side_by_side: BTreeMap<ChannelId, (ChannelId, usize, usize)>,
    /// The first channels of bundles that fill all lanes of what they give ([`super::pad`]).
    pub(super) filled: BTreeSet<ChannelId>,
    /// Carried channels' items, and those of them that move on by themselves.
    pub(super) waits: BTreeMap<ChannelId, StateId>,
    pub(super) tapes: Vec<Tape>,
    /// [`Kernel::elsewhere`].
    elsewhere: Vec<StateId>,
}

impl Builder<'_> {
    pub(super) fn local(&mut self, name: &str, ty: Ty) -> LocalId {
        self.f.locals.push(Local { name: name.into(), ty, by_ref: false });
        LocalId::from(self.f.locals.len() - 1)
    }

    /// The array of a channel's items.
    pub(super) fn array(&mut self, c: ChannelId) -> Result<LocalId, Stop> {
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

    pub(super) fn place(&mut self, (store, at): (Store, Expr), path: Vec<Proj>) -> Result<Place, Stop> {
        Ok(match store {
            Store::Input => Place { base: Base::In(Box::new(at)), path },
            Store::Output => Place { base: Base::Out(Box::new(at)), path },
            Store::Array(c) if self.views.carried.contains(&c) => {
                let mut whole = vec![Proj::Index(at)];
                whole.extend(path);
                Place { base: Base::State(self.wait(c)?), path: whole }
            }
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
        // no sum of variables: whatever it is, it can be added to the place of the firing's first item, where nothing stands between
        let zero = Affine::constant(0);
        let here =
            if read { self.views.read(c, &zero, &self.ranges) } else { self.views.write(c, &zero, &self.ranges) };
        let direct = here.filter(|_| self.direct(c, read));
        let (store, start) = direct.ok_or(Stop::Keep(c))?;
        let first = start.plus(base).and_then(|at| at.expr()).ok_or(Stop::Never)?;
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
                (NodeKind::JoinRoundRobin(_), false) => return false,
                (_, true) => return !self.views.forwards(v),
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

    /// The next field is one of this filter, whose first firing is no part of the region.
    pub(super) fn written_elsewhere(&mut self, kernel: &Kernel) {
        if kernel.prework.is_some() {
            self.elsewhere.push(StateId::from(self.state.len()));
        }
    }

    /// The firings of a filter.
    fn filter(&mut self, v: NodeId, n: u64, kernel: &Kernel, out: &mut Vec<Stmt>) -> Result<(), Stop> {
        let node = self.views.graph.node(v);
        let source = kernel.function(kernel.work.function);
        let shift = self.f.locals.len() as u32;
        self.f.locals.extend(source.locals.iter().cloned());
        let first_state = self.state.len() as u32;
        for (i, s) in kernel.state.iter().enumerate() {
            self.written_elsewhere(kernel);
            self.state.push(s.clone());
            self.states.push(StateOf::Field(v, StateId::from(i)));
        }
        let tables: Vec<TableId> = kernel.tables.iter().map(|t| self.table(v, t)).collect();
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
                out.push(counted(var, count.into(), body, source.span));
            }
        }
        Ok(())
    }

    fn table(&mut self, v: NodeId, t: &Table) -> TableId {
        if let Some(theirs) = t.own {
            let own = Some(self.own_tables.len() as u32);
            self.own_tables.push((v, theirs));
            self.tables.push(Table { own, ..t.clone() });
            return TableId::from(self.tables.len() - 1);
        }
        let same = |u: &Table| u.own.is_none() && u.shared == t.shared && u.ty == t.ty && u.value == t.value;
        let found = self.tables.iter().position(same);
        TableId::from(found.unwrap_or_else(|| {
            self.tables.push(t.clone());
            self.tables.len() - 1
        }))
    }

    /// Positions of a filter's firing become places of the region.
    pub(super) fn positions(
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
}

/// A loop of so many turns.
pub(super) fn counted(var: LocalId, turns: i64, body: Vec<Stmt>, span: Span) -> Stmt {
    let to = Expr::int(turns as i32);
    StmtKind::For(Box::new(For { var, from: Expr::int(0), cmp: BinaryOp::Lt, to, step: 1, body, abreast: false }))
        .at(span)
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
