//! Filters of several branches that differ in constants only, fired side by side.
//!
//! ```text
//! 8 × (s = b · x + s)   →   for $l = 0 < 8 { $s[$l] = table[$l] · x + $s[$l] }
//! ```
//!
//! A *bundle* is a set of filters whose kernels are equal but for numbers in them, at one depth of a region: none needs an item of another. They have state, or take their items from
//! members of a bundle, or give theirs to such. Their states become arrays with an element for each, their constants tables; the loop over them is for a vector ([`For::abreast`]).
//! What passes from bundle to bundle has the members' items side by side.

use super::body::{Builder, Stop, counted, kernel_of};
use super::view::Store;
use super::{StateOf, pad};
use crate::affine::Affine;
use crate::ir::*;
use crate::share_code::{self, each_number_mut, numbers_of};
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, LocalId, NodeId};
use sluice_frontend::ty::Ty;
use std::collections::BTreeMap;

/// Members of the smallest bundle.
pub(super) const FEWEST: usize = 3;
/// The same of those whose loop has no more turns than that ([`pad`]).
const FEWEST_UNFILLED: usize = 4;

/// By code: a number that it shares with those that it can be in a bundle with.
pub(super) fn classes(kernels: &[Kernel]) -> Vec<Option<usize>> {
    share_code::classes(kernels, &bundles)
}

/// Finds the bundles of a region's members (in topological order), and brings the members into an order in which those of a bundle follow one another. `classes` are those of
/// the codes; nodes that are `apart` are in no bundle.
pub(super) fn find(
    graph: &SdfGraph,
    (classes, apart): (&[Option<usize>], &[bool]),
    members: &mut [(NodeId, u64)],
) -> Vec<Vec<NodeId>> {
    let class_of = |v: NodeId| match &graph.node(v).kind {
        NodeKind::Filter { code, .. } if !apart[v.index()] => *classes.get(code.index())?,
        _ => None,
    };
    let stateful = |v: NodeId| matches!(&graph.node(v).kind, NodeKind::Filter { stateful: true, .. });
    if members.iter().filter(|(v, _)| stateful(*v) && class_of(*v).is_some()).count() < FEWEST {
        return Vec::new();
    }
    let mut depth: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (v, _) in members.iter() {
        let before = graph.node(*v).inputs.iter().filter_map(|c| depth.get(&graph.channel(*c).from.0)).max();
        depth.insert(*v, before.map_or(0, |d| d + 1));
    }
    let (mut groups, mut known) = (Vec::<Vec<NodeId>>::new(), BTreeMap::new());
    for (v, n) in members.iter() {
        let Some(class) = class_of(*v) else { continue };
        let group = *known.entry((depth[v], *n, class)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(*v);
    }
    groups.retain(|g| g.len() >= FEWEST);
    let groups = beside_states(graph, groups, &stateful);
    if !groups.is_empty() {
        let group = bundle_of(&groups);
        members.sort_by_key(|(v, _)| (depth[v], group.get(v).copied().unwrap_or(usize::MAX), *v));
    }
    groups
}

/// The groups with state, and those beside them: filters without, which lanes across firings would serve as well, gain only where their items lie side by side as it is.
fn beside_states(graph: &SdfGraph, groups: Vec<Vec<NodeId>>, stateful: &dyn Fn(NodeId) -> bool) -> Vec<Vec<NodeId>> {
    let of = bundle_of(&groups);
    let before = |v: &NodeId| graph.node(*v).inputs.first().and_then(|c| of.get(&graph.channel(*c).from.0).copied());
    let after = |v: &NodeId| graph.node(*v).outputs.first().and_then(|c| of.get(&graph.channel(*c).to.0).copied());
    let one = |group: &[NodeId], side: &dyn Fn(&NodeId) -> Option<usize>| {
        let first = side(group.first()?)?;
        group.iter().all(|v| side(v) == Some(first)).then_some(first)
    };
    let mut kept: Vec<bool> = groups.iter().map(|g| stateful(g[0])).collect();
    // what is beside one that is kept is kept: forwards and backwards, until nothing more is
    loop {
        let more: Vec<usize> = (0..groups.len())
            .filter(|i| !kept[*i])
            .filter(|i| {
                one(&groups[*i], &before).is_some_and(|n| kept[n]) || one(&groups[*i], &after).is_some_and(|n| kept[n])
            })
            .collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|i| kept[i] = true);
    }
    groups.into_iter().zip(kept).filter_map(|(g, kept)| kept.then_some(g)).collect()
}

/// By member of a bundle: the bundle's number.
pub(super) fn bundle_of(bundles: &[Vec<NodeId>]) -> BTreeMap<NodeId, usize> {
    bundles.iter().enumerate().flat_map(|(i, b)| b.iter().map(move |v| (*v, i))).collect()
}

/// Can the filter be a member of a bundle?
fn bundles(kernel: &Kernel) -> bool {
    let mut plain = kernel.input != Ty::Void && kernel.tables.iter().all(|t| t.shared.is_none());
    walk::each_stmt(&kernel.function(kernel.work.function).body, &mut |s| {
        plain &= matches!(s.kind, StmtKind::Assign(..) | StmtKind::For(_) | StmtKind::If(..));
    });
    plain
}

impl Builder<'_> {
    /// Lets what members of bundles give to other filters lie side by side.
    pub(super) fn arrange(&mut self, bundles: &[Vec<NodeId>]) -> Result<(), Stop> {
        let graph = self.views.graph;
        for members in bundles {
            let outputs: Option<Vec<ChannelId>> =
                members.iter().map(|v| graph.node(*v).outputs.first().copied()).collect();
            let Some(outputs) = outputs else { continue };
            let own = |c: &ChannelId| {
                self.views
                    .write(*c, &Affine::constant(0), &self.ranges)
                    .is_some_and(|(store, _)| store == Store::Array(*c))
            };
            if outputs.iter().all(own) {
                let (first, n) = (outputs[0], pad::lanes(outputs.len()));
                self.side_by_side.extend(outputs.into_iter().enumerate().map(|(l, c)| (c, (first, l, n))));
            }
        }
        Ok(())
    }

    /// The firings of a bundle: a loop over its members around those of one.
    pub(super) fn bundle(
        &mut self,
        (number, members): (usize, &[NodeId]),
        n: u64,
        kernels: &[Kernel],
        out: &mut Vec<Stmt>,
    ) -> Result<(), Stop> {
        let graph = self.views.graph;
        let own: Option<Vec<&Kernel>> = members.iter().map(|v| kernel_of(graph, kernels, *v)).collect();
        let own = own.ok_or(Stop::Never)?;
        let (kernel, count) = (own[0], members.len());
        // a lane without a member has what the last one has
        let wide = pad::lanes(count);
        let filled = |mut all: Vec<Const>| {
            if let Some(last) = all.last().cloned() {
                all.resize(wide, last);
            }
            Const::Array(all.into())
        };
        let source = kernel.function(kernel.work.function);
        let lane = self.local("branch", Ty::Int);
        let at_lane = || Proj::Index(Expr::local(lane, Ty::Int));
        let shift = self.f.locals.len() as u32;
        self.f.locals.extend(source.locals.iter().cloned());
        let first_state = self.state.len() as u32;
        let columns: Vec<bool> = (0..kernel.state.len()).map(|i| by_elements(kernel, StateId::from(i))).collect();
        for (i, s) in kernel.state.iter().enumerate() {
            let initial = own.iter().map(|k| k.state[i].initial.clone()).collect::<Vec<_>>();
            let of = members.iter().map(|v| (*v, StateId::from(i))).collect();
            let (ty, initial) = match columns[i] {
                true => (last(&s.ty, wide as u32), columns_of(&initial, &s.ty, &filled)),
                false => (s.ty.clone().array(wide as u32), filled(initial)),
            };
            self.written_elsewhere(kernel);
            self.state.push(StateField { name: s.name.clone(), ty, initial });
            self.states.push(if columns[i] { StateOf::Columns(of) } else { StateOf::Elements(of) });
        }
        let mut body = source.body.clone();
        walk::each_local_mut(&mut body, &mut |id| id.0 += shift);
        // constants that differ, and tables, by member
        let all: Vec<Vec<Const>> =
            own.iter().map(|k| numbers_of(std::slice::from_ref(k.function(k.work.function)))).collect();
        let mut tables = |value: Vec<Const>, ty: Ty, name: &str| {
            self.tables.push(Table {
                name: name.into(),
                ty: ty.array(wide as u32),
                value: filled(value),
                shared: None,
                own: None,
            });
            TableId::from(self.tables.len() - 1)
        };
        let own_tables: Vec<TableId> = (kernel.tables.iter().enumerate())
            .map(|(i, t)| tables(own.iter().map(|k| k.tables[i].value.clone()).collect(), t.ty.clone(), &t.name))
            .collect();
        let mut next = 0;
        each_number_mut(&mut body, &mut |e| {
            let values: Vec<Const> = all.iter().map(|c| c[next].clone()).collect();
            next += 1;
            if values.iter().any(|c| *c != values[0]) {
                let table = tables(values, e.ty.clone(), "constants");
                *e = Expr::load(Place { base: Base::Table(table), path: vec![at_lane()] }, e.ty.clone());
            }
        });
        walk::each_place_mut(&mut body, &mut |p| {
            let (base, at) = match p.base {
                Base::State(id) if columns[id.index()] => {
                    let indices = p.path.iter().take_while(|step| matches!(step, Proj::Index(_))).count();
                    (Base::State(StateId(id.0 + first_state)), indices)
                }
                Base::State(id) => (Base::State(StateId(id.0 + first_state)), 0),
                Base::Table(id) if !is_made(p, lane) => (Base::Table(own_tables[id.index()]), 0),
                _ => return,
            };
            p.base = base;
            p.path.insert(at, at_lane());
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
        let (inputs, outputs): (Vec<_>, Vec<_>) = members.iter().map(sides).unzip();
        let inputs: Vec<ChannelId> = inputs.into_iter().flatten().collect();
        let turns = self.turns(&common, (lane, count), (&inputs, outputs[0]));
        if turns < FEWEST_UNFILLED {
            return Err(Stop::Apart(number));
        }
        let mut side_by_side = counted(lane, turns as i64, common, source.span);
        if let StmtKind::For(l) = &mut side_by_side.kind {
            l.abreast = true;
        }
        let all = vec![side_by_side];
        match firing {
            Some(var) => out.push(counted(var, times.into(), all, source.span)),
            None => out.extend(all),
        }
        Ok(())
    }
}

/// Elements of a member's array that lie side by side with those of the other members, at most: more are moved at each boundary than that is worth.
const MOST_COLUMNS: u32 = 16;

/// Is the field an array of few numbers, of which a firing looks at one at a time? Then the members' elements lie side by side, as vectors have them.
fn by_elements(kernel: &Kernel, id: StateId) -> bool {
    let (mut ty, mut depth, mut all) = (&kernel.state[id.index()].ty, 0, 1u32);
    while let (Some(element), Some(n)) = (ty.element(), ty.known_len()) {
        (ty, depth, all) = (element, depth + 1, all.saturating_mul(n));
    }
    let mut single = depth > 0 && all <= MOST_COLUMNS && !ty.is_aggregate();
    let mut look = |p: &Place| {
        let indices = p.path.iter().take_while(|step| matches!(step, Proj::Index(_))).count();
        single &= p.base != Base::State(id) || indices == depth;
    };
    let body = &kernel.function(kernel.work.function).body;
    walk::each_stmt(body, &mut |s| s.kind.targets().into_iter().for_each(&mut look));
    walk::each_expr(body, &mut |e| {
        if let ExprKind::Load(p) = &e.kind {
            look(p);
        }
    });
    single
}

/// The type with one more index behind the others.
fn last(ty: &Ty, n: u32) -> Ty {
    match (ty.element(), ty.known_len()) {
        (Some(element), Some(m)) => last(element, n).array(m),
        _ => ty.clone().array(n),
    }
}

/// The members' values with the members' index behind the others.
fn columns_of(all: &[Const], ty: &Ty, filled: &dyn Fn(Vec<Const>) -> Const) -> Const {
    let (Some(element), Some(n)) = (ty.element(), ty.known_len()) else { return filled(all.to_vec()) };
    let at = |i: u32| {
        let part = |c: &Const| if let Const::Array(of) = c { of.get(i as usize).cloned() } else { None };
        columns_of(&all.iter().filter_map(part).collect::<Vec<_>>(), element, filled)
    };
    Const::Array((0..n).map(at).collect())
}

/// Where an item of a member of a bundle is among those of all.
pub(super) fn side(at: Expr, members: usize, lane: Expr) -> Expr {
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
