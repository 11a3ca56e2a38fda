//! # tiles
//!
//! Purpose: how a block works on a tile of a region: S steady states. Input: a region, S. Output: [`Tiling`]: which firings of each group a tile needs, which items of each
//! channel lie in shared memory meanwhile.
//!
//! All numbers count from the launch's first steady state: item x of a channel that holds m items at boundaries is there from before where x < m, otherwise firing
//! ⌊(x − m)/push⌋ of its producer makes it. Tile b needs, of the groups whose items leave the region, firings [b·S·r, (b+1)·S·r). What they look at is a range of items; that is a range of
//! their producers' firings, and so on upstream. All these ranges move by S·r from tile to tile, so that they are constants ([`GroupRange`]); they are cut off at the first
//! and last firing of the launch. Neighbouring tiles make the items that both look at (the halo of a peek) each for itself.
//!
//! What remains on channels after the launch is saved by the tile whose window it is in; as windows lag behind where channels hold items, some tiles beyond the last one do
//! nothing else ([`Tiling::tails`]).

use super::areas::ALIGN;
use super::pieces::{Pieces, pieces};
use super::program::Making;
use super::regions::{Group, Region, Regions};
use super::steps::{Order, Place, Step, laid};
use super::views::{Elsewhere, elsewhere};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::steady_state::gcd;
use std::collections::{BTreeMap, BTreeSet};

/// Firings of a group for tile b: from b·S·r + `low` on, before b·S·r + `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupRange {
    pub(super) low: i64,
    pub(super) high: i64,
}

/// A channel's items in shared memory, in tile b: from b·S·passed + `low` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// The first item that is looked at.
    pub(super) seen: i64,
    /// The item behind the last one that is looked at.
    pub(super) seen_end: i64,
    /// The first that has a place.
    pub(super) low: i64,
    /// How many have one.
    pub(super) items: u64,
    /// Items that pass in a steady state.
    pub(super) passed: u64,
    /// Offset in shared memory.
    pub(super) offset: u64,
    /// After so many items a place is left out, so that threads that are a power of two of items apart meet in no bank; 0: nowhere.
    pub(super) gap: u64,
}

impl Tile {
    fn new(seen: i64, seen_end: i64, gap: u64) -> Tile {
        Tile { seen, seen_end, low: seen, items: 0, passed: 0, offset: 0, gap }
    }

    /// Bytes of shared memory.
    pub(super) fn bytes(&self, item: u64) -> u64 {
        let gaps = self.items.checked_div(self.gap).unwrap_or(0);
        let places = self.items.saturating_add(gaps).saturating_add(1);
        places.saturating_mul(item).checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX)
    }
}

/// A region's tiles.
#[derive(Clone, Debug)]
pub(super) struct Tiling {
    /// S: steady states of a tile.
    pub(super) states: u64,
    /// By group.
    pub(super) ranges: Vec<GroupRange>,
    /// Firings that several threads make.
    pub(super) pieces: Pieces,
    /// Channels in shared memory.
    pub(super) tiles: BTreeMap<ChannelId, Tile>,
    /// Those that have none of their own.
    pub(super) elsewhere: Elsewhere,
    /// Threads of a block that fire.
    pub(super) threads: u32,
    /// How groups are put into steps.
    pub(super) order: Order,
    /// What is done between barriers.
    pub(super) steps: Vec<Step>,
    /// Bytes of shared memory.
    pub(super) shared: u64,
    /// Bytes that it would be if no two channels lay at the same place.
    pub(super) apart: u64,
    /// Tiles beyond the last that save what remains.
    pub(super) tails: u64,
    /// The most firings of a group for a tile, over those that belong to it: 1 is no work done twice.
    pub(super) overhead: f64,
}

/// What a group moves on a channel in one firing of its own.
pub(super) struct Moved {
    /// Items it takes or gives.
    pub(super) items: i64,
    /// Items that it looks at from the first one on.
    pub(super) window: i64,
}

/// Of a consumer.
pub(super) fn taken(making: &Making<'_>, group: &Group, c: ChannelId) -> Moved {
    let channel = making.input.host.graph.channel(c);
    let q = group.times(channel.to.0) as i64;
    let (pop, peek) = (i64::from(channel.consume), i64::from(channel.peek.max(channel.consume)));
    Moved { items: q * pop, window: (q - 1) * pop + peek }
}

/// Of a producer.
pub(super) fn given(making: &Making<'_>, group: &Group, c: ChannelId) -> Moved {
    let channel = making.input.host.graph.channel(c);
    let q = group.times(channel.from.0) as i64;
    let items = q * i64::from(channel.produce);
    Moved { items, window: items }
}

/// Items after which a tile usually leaves one out: as many as all banks of shared memory hold.
pub(super) fn line(item: u64) -> u64 {
    if item <= 16 { 128 / item.max(1) } else { 1 << 31 }
}

/// Bytes of a tile in shared memory with the usual gaps.
pub(super) fn tile_bytes(items: u64, item: u64) -> u64 {
    let gaps = items / line(item);
    (items.saturating_add(gaps).saturating_add(1)).saturating_mul(item).checked_next_multiple_of(16).unwrap_or(u64::MAX)
}

/// Instructions that find an item's place cost about as much as so many accesses that meet no other.
const FINDING: u64 = 2;
/// Banks of shared memory.
const BANKS: u64 = 32;

/// Where a channel's tile has gaps. Threads side by side fire side by side, so they are as many items apart as a firing of the group moves: where that is a multiple of a power of
/// two, that many of them meet in a bank. A gap after as many items as one end moves keeps its threads apart, and the places of its items are known once that of the first is;
/// the other end has to find each. Without gaps both know them.
fn gap(
    making: &Making<'_>,
    (region, group_of, elsewhere): (&Region, &BTreeMap<NodeId, usize>, &Elsewhere),
    pieces: &Pieces,
    c: ChannelId,
) -> u64 {
    let graph = making.input.host.graph;
    let ends = graph.channel(c);
    let item = making.item_bytes(c);
    // who takes or gives where a splitter or joiner would
    let views = |v: NodeId, taking: bool| -> Vec<ChannelId> {
        let node = graph.node(v);
        let beyond = if taking { &node.outputs } else { &node.inputs };
        beyond.iter().copied().filter(|c| elsewhere.views.contains_key(c)).collect()
    };
    let mut all: Vec<(NodeId, ChannelId, bool)> = Vec::new();
    for (v, taking) in [(ends.from.0, false), (ends.to.0, true)] {
        match group_of.get(&v) {
            Some(g) if elsewhere.gone.contains(g) => all.extend(views(v, taking).into_iter().map(|c| {
                let ends = graph.channel(c);
                (if taking { ends.to.0 } else { ends.from.0 }, c, taking)
            })),
            _ => all.push((v, c, taking)),
        }
    }
    // by end: items apart, accesses
    let mut both: Vec<(u64, u64)> = Vec::new();
    for (v, c, taking) in all {
        let Some(group) = group_of.get(&v).and_then(|g| region.groups.get(*g)) else { continue };
        // readers and writers move neighbours
        if matches!(graph.node(v).kind, NodeKind::Reader(_) | NodeKind::Writer(_)) {
            continue;
        }
        // streams in turn
        if group.lanes > 1 {
            return line(item);
        }
        let moved = if taking { taken(making, group, c) } else { given(making, group, c) };
        let items = moved.items.unsigned_abs();
        // neighbouring turns of a firing
        if pieces.contains_key(&v) {
            both.push((1, moved.window.unsigned_abs()));
            continue;
        }
        let apart = elsewhere.views.get(&c).and_then(|view| view.apart(items)).unwrap_or(items);
        both.push((apart, moved.window.unsigned_abs()));
    }
    let cost = |gap: u64| -> u64 {
        let end = |(apart, accesses): &(u64, u64)| match gap {
            0 => accesses.saturating_mul(gcd(apart.saturating_mul(item.div_ceil(4)), BANKS)),
            gap if apart.is_multiple_of(gap) => accesses.saturating_mul(gcd(apart / gap * (gap + 1), BANKS)),
            _ => accesses.saturating_mul(1 + FINDING),
        };
        both.iter().map(end).fold(0, u64::saturating_add)
    };
    let even = both.iter().map(|(apart, _)| *apart).filter(|apart| *apart > 0 && apart.is_multiple_of(2));
    std::iter::once(0).chain(even).chain([line(item)]).min_by_key(|gap| cost(*gap)).unwrap_or(0)
}

/// How a region's groups are put into steps: as few as there can be, unless its smallest tiles would be too large with all branches at once.
pub(super) fn order(making: &Making<'_>, regions: &Regions, region: &Region) -> Order {
    let options = making.input.options;
    let shared = |order| tiling(making, regions, region, 1, order).map_or(u64::MAX, |t| t.shared);
    let together = shared(Order::Together);
    if together > options.tile.min(options.shared) && shared(Order::Apart) < together {
        return Order::Apart;
    }
    Order::Together
}

/// Lays out a region's tiles of `states` steady states; `None` where numbers get too large.
pub(super) fn tiling(
    making: &Making<'_>,
    regions: &Regions,
    region: &Region,
    states: u64,
    order: Order,
) -> Option<Tiling> {
    let (graph, steady) = (making.input.host.graph, making.input.host.steady);
    let s = i64::try_from(states).ok()?;
    let group_of: BTreeMap<NodeId, usize> =
        region.groups.iter().enumerate().flat_map(|(i, g)| g.members.iter().map(move |(v, _)| (*v, i))).collect();
    let held = |c: ChannelId| making.flows(c) && regions.holds(graph, c);
    let fill = |c: ChannelId| steady.boundary_fill[c.index()] as i64;
    let mut ranges: Vec<Option<GroupRange>> = vec![None; region.groups.len()];
    let elsewhere = elsewhere(making, regions, region);
    let mut tiles: BTreeMap<ChannelId, Tile> = BTreeMap::new();
    // tiles, and the channels whose items they show
    let mut shown: Vec<(ChannelId, ChannelId)> = Vec::new();
    let mut overhead = 1.0f64;
    for (i, group) in region.groups.iter().enumerate().rev() {
        let own = GroupRange { low: 0, high: s.checked_mul(i64::try_from(group.rate).ok()?)? };
        let mut range: Option<GroupRange> = None;
        let mut widen = |r: GroupRange| {
            range = Some(range.map_or(r, |o| GroupRange { low: o.low.min(r.low), high: o.high.max(r.high) }));
        };
        let outs: Vec<ChannelId> = outputs(making, group);
        // what leaves the region, or is seen in no other way, is the tile's own
        if outs.is_empty() || outs.iter().any(|c| !held(*c)) {
            widen(own);
        }
        for c in outs.iter().filter(|c| held(**c)) {
            let (p, m) = (given(making, group, *c).items, fill(*c));
            let consumer = &region.groups[group_of[&graph.channel(*c).to.0]];
            let of = ranges[group_of[&graph.channel(*c).to.0]]?;
            let t = taken(making, consumer, *c);
            let (low, high) = (of.low * t.items, (of.high - 1) * t.items + t.window);
            widen(GroupRange { low: (low - m).div_euclid(p), high: -(-(high - m)).div_euclid(p) });
            if elsewhere.views.contains_key(c) {
                continue;
            }
            let (of, further) = elsewhere.copies.get(c).copied().unwrap_or((*c, 0));
            let new = Tile::new(low + further, high + further, 0);
            let tile = tiles.entry(of).or_insert(new);
            let (seen, seen_end) = (tile.seen.min(new.seen), tile.seen_end.max(new.seen_end));
            *tile = Tile::new(seen, seen_end, 0);
            shown.push((of, *c));
        }
        let range = range.unwrap_or(own);
        overhead = overhead.max((range.high - range.low) as f64 / own.high.max(1) as f64);
        ranges[i] = Some(range);
    }
    let ranges: Vec<GroupRange> = ranges.into_iter().collect::<Option<_>>()?;
    let pieces = pieces(making, region, &ranges);
    let gap = |c: ChannelId| gap(making, (region, &group_of, &elsewhere), &pieces, c);
    for (of, c) in shown {
        if let Some(tile) = tiles.get_mut(&of) {
            tile.gap = tile.gap.max(gap(c));
        }
    }
    // items that have a place: those that are seen, and those that are made
    for (i, group) in region.groups.iter().enumerate() {
        let r = ranges[i];
        for c in inputs(making, group).into_iter().filter(|c| !held(*c)) {
            let t = taken(making, group, c);
            let (low, high) = (r.low * t.items, (r.high - 1) * t.items + t.window);
            let tile = Tile::new(low, high, gap(c));
            tiles.insert(c, Tile { items: (high - low) as u64, ..tile });
        }
        for c in outputs(making, group).into_iter().filter(|c| !elsewhere.has(*c)) {
            let (p, m) = (given(making, group, c).items, fill(c));
            let (mut low, mut high) = (m + r.low * p, m + r.high * p);
            // who writes where a joiner would has whole firings of its own
            let before = inputs(making, group).into_iter().filter(|_| elsewhere.gone.contains(&i));
            for (c, view) in before.filter_map(|c| Some((c, elsewhere.views.get(&c)?))) {
                let from = group_of[&graph.channel(c).from.0];
                let (of, each) = (ranges[from], given(making, &region.groups[from], c).items);
                let (block, round) = (view.block as i64, view.round as i64);
                low = low.min(m + (of.low * each).div_euclid(block) * round);
                high = high.max(m - (-(of.high * each)).div_euclid(block) * round);
            }
            let tile = tiles.entry(c).or_insert_with(|| Tile::new(low, high, gap(c)));
            tile.low = tile.seen.min(low);
            tile.items = (tile.seen_end.max(high) - tile.low) as u64;
        }
    }
    let place = Place { making, regions, region };
    let laid = laid(place, (&tiles, &elsewhere), &BTreeSet::new(), order)?;
    let mut tails = 0i64;
    for (c, tile) in &mut tiles {
        let channel = graph.channel(*c);
        tile.passed = steady.repetitions[channel.to.0.index()] * u64::from(channel.consume);
        tile.offset = laid.offsets.get(c).copied()?;
        let pace = s.checked_mul(i64::try_from(tile.passed).ok()?)?;
        if held(*c) && fill(*c) > 0 && pace > 0 {
            tails = tails.max(-(-(fill(*c) - tile.seen)).div_euclid(pace));
        }
    }
    let tails = u64::try_from(tails).unwrap_or(0);
    let (steps, shared, apart) = (laid.steps, laid.bytes, laid.apart);
    let threads = making.input.options.threads;
    Some(Tiling { states, threads, ranges, pieces, tiles, elsewhere, order, steps, shared, apart, tails, overhead })
}

/// Channels that lead into a group.
pub(super) fn inputs(making: &Making<'_>, group: &Group) -> Vec<ChannelId> {
    let all = group.members.iter().flat_map(|(v, _)| making.input.host.graph.node(*v).inputs.iter().copied());
    all.filter(|c| !group.local.contains(c) && making.arises(*c)).collect()
}

/// Channels that lead out of it.
pub(super) fn outputs(making: &Making<'_>, group: &Group) -> Vec<ChannelId> {
    let all = group.members.iter().flat_map(|(v, _)| making.input.host.graph.node(*v).outputs.iter().copied());
    all.filter(|c| !group.local.contains(c) && making.flows(*c)).collect()
}
