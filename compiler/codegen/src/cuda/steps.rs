//! # steps
//!
//! Purpose: what the threads of a block do between two barriers. Input: a region, which channels have tiles, which of these share one. Output: [`Step`]s.
//!
//! ```text
//! split → A → B → join         one group after the other: split | A | B | C | D | join      5 barriers between them
//!       ↘ C → D ↗         →    groups that wait for nothing of one another: split | A, C | B, D | join      3
//! ```
//!
//! What must hold: whatever is read in a step was written in earlier ones, all of it; works of one step write none of the same items. `replay` looks at that again. The steps are as
//! few as the longest way through the region allows. Where the order leaves a group more than one step, it takes the first of them, or the last if so fewer bytes are needed at a time. Where all branches at once would need more shared memory than a tile may take, groups keep their order, and a barrier stands only where one is needed.

use super::areas::{Area, areas};
use super::program::Making;
use super::regions::{Group, Region, Regions};
use super::tiles::{Tile, inputs, outputs};
use super::views::Elsewhere;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Something that threads share in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// What a channel has from before the launch, or from another region.
    Bring(ChannelId),
    /// The firings of a group, by its number in the region.
    Fire(usize),
    /// What of a channel goes to another region, or to the next launch.
    Save(ChannelId),
}

/// What is done between two barriers.
pub(super) type Step = Vec<Work>;

/// How groups are put into steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As few steps as there can be.
    Together,
    /// In the order of the region's groups.
    Apart,
}

/// A region among those of its program.
#[derive(Clone, Copy)]
pub(super) struct Place<'a, 'm> {
    pub(super) making: &'m Making<'a>,
    pub(super) regions: &'m Regions,
    pub(super) region: &'m Region,
}

impl Place<'_, '_> {
    fn here(&self, v: NodeId) -> bool {
        self.regions.of[v.index()].is_some_and(|r| std::ptr::eq(self.region, &self.regions.regions[r]))
    }

    /// Do items stay within a region?
    pub(super) fn held(&self, c: ChannelId) -> bool {
        self.making.flows(c) && self.regions.holds(self.making.input.host.graph, c)
    }

    /// Is a channel brought: from another region, or from before the launch?
    pub(super) fn enters(&self, c: ChannelId) -> bool {
        !self.held(c) && !self.here(self.making.input.host.graph.channel(c).from.0)
    }

    /// Does a channel lead out of the region?
    pub(super) fn leaves(&self, c: ChannelId) -> bool {
        !self.held(c) && self.here(self.making.input.host.graph.channel(c).from.0)
    }

    /// Items that it holds at boundaries.
    pub(super) fn fill(&self, c: ChannelId) -> i64 {
        self.making.input.host.steady.boundary_fill[c.index()] as i64
    }

    /// Is a group a reader whose items others have brought?
    pub(super) fn is_brought(&self, group: &Group, staged: &BTreeSet<ChannelId>) -> bool {
        let graph = self.making.input.host.graph;
        group.members.iter().all(|(v, _)| {
            let node = graph.node(*v);
            matches!(node.kind, NodeKind::Reader(_)) && node.outputs.iter().all(|c| staged.contains(c))
        })
    }
}

/// The tiles that a region's works read and write, by their channels.
struct Works<'t> {
    /// By group: what it reads and writes of what is not staged; `None`: it has nothing to do.
    groups: Vec<Option<(Vec<ChannelId>, Vec<ChannelId>)>>,
    /// By tile, the groups that write and that read it.
    writers: BTreeMap<ChannelId, Vec<usize>>,
    readers: BTreeMap<ChannelId, Vec<usize>>,
    tiles: &'t BTreeMap<ChannelId, Tile>,
}

impl<'t> Works<'t> {
    fn of(
        at: Place<'_, '_>,
        (tiles, elsewhere): (&'t BTreeMap<ChannelId, Tile>, &Elsewhere),
        staged: &BTreeSet<ChannelId>,
    ) -> Works<'t> {
        let tile = |c: &ChannelId| elsewhere.tile(*c);
        let mut works = Works { groups: Vec::new(), writers: BTreeMap::new(), readers: BTreeMap::new(), tiles };
        for (g, group) in at.region.groups.iter().enumerate() {
            if elsewhere.gone.contains(&g) || at.is_brought(group, staged) {
                works.groups.push(None);
                continue;
            }
            let there = |c: &ChannelId| tiles.contains_key(c) && !staged.contains(c);
            let reads: BTreeSet<ChannelId> = inputs(at.making, group).iter().map(tile).filter(there).collect();
            let writes: BTreeSet<ChannelId> = outputs(at.making, group).iter().map(tile).filter(there).collect();
            reads.iter().for_each(|c| works.readers.entry(*c).or_default().push(g));
            writes.iter().for_each(|c| works.writers.entry(*c).or_default().push(g));
            works.groups.push(Some((reads.into_iter().collect(), writes.into_iter().collect())));
        }
        works
    }

    /// By group, its step.
    fn levels(&self, at: Place<'_, '_>, order: Order, bytes: &dyn Fn(ChannelId) -> u64) -> Vec<usize> {
        let mut level = vec![0usize; self.groups.len()];
        let mut now = 0;
        for (g, group) in self.groups.iter().enumerate() {
            let Some((reads, _)) = group else { continue };
            let written = |c: &ChannelId| {
                let by = self.writers.get(c).into_iter().flatten().map(|w| level[*w]).max();
                by.or(at.enters(*c).then_some(0))
            };
            let first = reads.iter().filter_map(written).map(|l| l + 1).max().unwrap_or(0);
            now = now.max(first);
            level[g] = if order == Order::Together { first } else { now };
        }
        if order == Order::Together {
            self.late(at, &mut level, bytes);
        }
        level
    }

    /// Moves groups to the last step that they may have, where what they give is then needed for a shorter time by more than what they take is for a longer one.
    fn late(&self, at: Place<'_, '_>, level: &mut [usize], bytes: &dyn Fn(ChannelId) -> u64) {
        for g in (0..self.groups.len()).rev() {
            let Some((reads, writes)) = &self.groups[g] else { continue };
            if writes.iter().any(|c| at.leaves(*c)) {
                continue;
            }
            let readers = |c: &ChannelId| self.readers.get(c).into_iter().flatten().copied();
            let writers = |c: &ChannelId| self.writers.get(c).into_iter().flatten().copied();
            let Some(last) = writes.iter().flat_map(readers).map(|r| level[r]).min() else { continue };
            let (now, then) = (level[g], last.saturating_sub(1));
            if then <= now {
                continue;
            }
            // steps by which the other accesses leave a tile's life shorter, or longer
            let shorter = |c: &ChannelId| {
                let others = writers(c).filter(|w| *w != g).map(|w| level[w]).min().unwrap_or(usize::MAX);
                then.min(others).saturating_sub(now)
            };
            let longer = |c: &ChannelId| {
                let others = readers(c).filter(|r| *r != g).map(|r| level[r]).max().unwrap_or(0);
                then.saturating_sub(now.max(others))
            };
            let sum =
                |n: u64, (c, steps): (&ChannelId, usize)| n.saturating_add(bytes(*c).saturating_mul(steps as u64));
            let gain = writes.iter().map(|c| (c, shorter(c))).fold(0, sum);
            if gain > reads.iter().map(|c| (c, longer(c))).fold(0, sum) {
                level[g] = then;
            }
        }
    }
}

/// The steps of a tile; `staged`: channels that others bring before the first of them.
fn steps(
    at: Place<'_, '_>,
    (tiles, elsewhere): (&BTreeMap<ChannelId, Tile>, &Elsewhere),
    staged: &BTreeSet<ChannelId>,
    order: Order,
) -> Vec<Step> {
    let works = Works::of(at, (tiles, elsewhere), staged);
    let bytes = |c: ChannelId| works.tiles.get(&c).map_or(0, |t| t.bytes(at.making.item_bytes(c)));
    let level = works.levels(at, order, &bytes);
    let mut all: Vec<(usize, Work)> = Vec::new();
    let written = |c: &ChannelId| works.writers.get(c).into_iter().flatten().map(|w| level[*w]);
    for c in tiles.keys() {
        let carried = at.held(*c) && at.fill(*c) > 0;
        // what is carried is written when the rest of it is: before that nobody reads it
        if !staged.contains(c) && (carried || at.enters(*c)) {
            all.push((written(c).min().unwrap_or(0), Work::Bring(*c)));
        }
        if carried || at.leaves(*c) && at.making.flows(*c) {
            all.push((written(c).max().map_or(0, |l| l + 1), Work::Save(*c)));
        }
    }
    let fires = works.groups.iter().enumerate().filter(|(_, group)| group.is_some());
    all.extend(fires.map(|(g, _)| (level[g], Work::Fire(g))));
    all.sort();
    all.chunk_by(|a, b| a.0 == b.0).map(|step| step.iter().map(|(_, work)| *work).collect()).collect()
}

/// By tile that is not staged, the first and the last step that write or read it.
fn lives(at: Place<'_, '_>, elsewhere: &Elsewhere, steps: &[Step]) -> BTreeMap<ChannelId, (usize, usize)> {
    let mut lives: BTreeMap<ChannelId, (usize, usize)> = BTreeMap::new();
    for (i, step) in steps.iter().enumerate() {
        for work in step {
            let touched = match work {
                Work::Bring(c) | Work::Save(c) => vec![*c],
                Work::Fire(g) => {
                    let group = &at.region.groups[*g];
                    [inputs(at.making, group), outputs(at.making, group)].concat()
                }
            };
            for c in touched {
                let c = elsewhere.tile(c);
                lives.entry(c).or_insert((i, i)).1 = i;
            }
        }
    }
    lives
}

/// Steps, and where tiles lie meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Laid {
    pub(super) steps: Vec<Step>,
    /// By tile that is not staged, its offset.
    pub(super) offsets: BTreeMap<ChannelId, u64>,
    /// Bytes of all of them together.
    pub(super) bytes: u64,
    /// Bytes that they would take if none shared a place.
    pub(super) apart: u64,
}

/// Makes the steps of a tile and lays its channels out; `None` where numbers get too large.
pub(super) fn laid(
    at: Place<'_, '_>,
    (tiles, elsewhere): (&BTreeMap<ChannelId, Tile>, &Elsewhere),
    staged: &BTreeSet<ChannelId>,
    order: Order,
) -> Option<Laid> {
    let steps = steps(at, (tiles, elsewhere), staged, order);
    let lives = lives(at, elsewhere, &steps);
    let there: Vec<(&ChannelId, &Tile)> = tiles.iter().filter(|(c, _)| !staged.contains(c)).collect();
    let area = |(c, tile): &(&ChannelId, &Tile)| {
        let (first, last) = lives.get(c).copied().unwrap_or((0, 0));
        Area { bytes: tile.bytes(at.making.item_bytes(**c)), first, last }
    };
    let all: Vec<Area> = there.iter().map(area).collect();
    let apart = all.iter().try_fold(0u64, |sum, a| sum.checked_add(a.bytes))?;
    let found = areas(&all)?;
    let offsets = there.iter().map(|(c, _)| **c).zip(found.offsets).collect();
    Some(Laid { steps, offsets, bytes: found.bytes, apart })
}
