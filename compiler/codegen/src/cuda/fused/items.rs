//! Where the items of a firing are: in registers of its group, or in a tile.

use super::{Printer, plus, times};
use crate::c::print_device::names;
use crate::cuda::regions::Group;
use crate::cuda::several::WIDE;
use crate::cuda::tiles::{given, outputs, taken};
use crate::cuda::turns::start;
use crate::cuda::views::View;
use sluice_frontend::ids::ChannelId;
use std::fmt::Write;

/// Where the first item is of firing `n` of a node, `firings` of which are a block, so many items each: the s-th of `q` of firing `i` of its group. `steps`: where these are whole blocks, how far apart the group's
/// firings are, and where the s-th one is. Numbers of firings are not negative: before the first there are none, and nothing is left on these channels.
fn within_blocks(view: &View, (moved, firings): (u64, u64), steps: Option<(u64, &str)>, q: u64) -> String {
    if let Some((apart, sth)) = steps {
        return format!("(uint32_t)i * {apart}u + {sth}");
    }
    let (n, all, s) = match q {
        q if q > 1 && firings.is_multiple_of(q) => ("i", firings / q, format!(" + s{}", times(moved))),
        _ => ("n", firings, String::new()),
    };
    let (round, each) = (view.round, view.block / all.max(1));
    format!("(uint32_t){n} / {all}u * {round}u + (uint32_t){n} % {all}u * {each}u{s}")
}

impl Printer<'_, '_> {
    /// The items of firing `n`, the s-th of its node in this firing of the group.
    pub(super) fn access(&self, group: &Group, c: ChannelId, writes: bool) -> String {
        let channel = self.making.input.host.graph.channel(c);
        let moved = if writes { channel.produce } else { channel.consume };
        let ty = self.type_of(c);
        if group.local.contains(&c) {
            let v = if writes { channel.from.0 } else { channel.to.0 };
            let once = !self.several && group.times(v) == 1;
            let at = if once { String::new() } else { format!(" + s{}", times(moved.into())) };
            return format!("sl_local<{ty}>{{local{}{at}}}", c.0);
        }
        if !self.making.arises(c) {
            return "sl_nothing()".into();
        }
        if writes && self.several {
            return format!("sl_local<{ty}>{{kept{} + s{}}}", c.0, times(moved.into()));
        }
        if writes && self.held {
            return format!("sl_local<{ty}>{{kept{}}}", c.0);
        }
        let view = self.tiling.elsewhere.views.get(&c);
        let (of, offset) = match (view, writes) {
            (Some(view), _) => (view.of, view.first),
            (None, true) => (c, self.fill(c)),
            (None, false) => self.tile_of(c),
        };
        if self.is_wide(group, c) && !writes {
            return format!("sl_local<{ty}>{{seen{} + s{}}}", c.0, times(moved.into()));
        }
        let gap = self.gap(of);
        let v = if writes { channel.from.0 } else { channel.to.0 };
        let (moved, seen) =
            (u64::from(moved), if writes { u64::from(moved) } else { u64::from(channel.peek.max(channel.consume)) });
        // items from one firing to the next, and from one of the group to the next, in the tile; a part of a block has to be found
        let by = |items: u64| view.map_or(Some(items), |view| view.apart(items));
        let (apart, each) =
            (if writes { given(self.making, group, c) } else { taken(self.making, group, c) }, by(moved));
        let apart = by(apart.items.unsigned_abs());
        let q = group.times(v);
        // of a part of a block: so many firings are one
        let firings = view.map_or(1, |view| view.block / moved.max(1)).max(1);
        // the s-th firing in one of the group, where all of these are whole blocks
        let sth = match (view, each) {
            (_, Some(each)) => Some(format!("s{}", times(each))),
            (Some(view), None) if q.is_multiple_of(firings) && !self.several => {
                Some(format!("(uint32_t)s / {firings}u * {}u + (uint32_t)s % {firings}u * {moved}u", view.round))
            }
            _ => None,
        };
        let whole = |end: String, kind: String| match view {
            // more than one block of them
            Some(view) if seen > view.block => {
                (format!("sl_turn<{kind}, {}u, {}u, 1u>{{{end}, 0u}}", view.block, view.round), String::new())
            }
            _ => (end, kind),
        };
        let plain = group.lanes == 1 && self.making.turns_of(v).is_none();
        if let (Some(apart), Some(sth)) = (apart, &sth)
            && gap > 0
            && apart.is_multiple_of(gap)
            && plain
        {
            // the first firing of the tile is so many items after the start of a row
            let low = self.tiling.tiles.get(&of).map_or(0, |t| t.low);
            let (step, gap, from) = (apart / gap, gap as i64, offset - low);
            let row = format!("(i - b{}){}", times(self.tiling.states * group.rate), times(step));
            let (more, column) = (from.div_euclid(gap), from.rem_euclid(gap));
            let first = if q == 1 { column.to_string() } else { format!("{column} + {sth}") };
            let kind = format!("sl_rows<{ty}, {writes}, {gap}u>");
            let end = format!("{kind}{{tile{}, {row}{}, (uint32_t)({first})}}", of.0, plus(more));
            return whole(end, kind).0;
        }
        let offset = plus(offset);
        let kind = format!("sl_window<{ty}, {writes}, {gap}u>");
        let at = match (view, each) {
            (Some(view), None) => {
                let steps = apart.zip(sth.as_deref()).filter(|_| q > 1);
                within_blocks(view, (moved, firings), steps, if self.several { 1 } else { q })
            }
            (_, each) => format!("n{}", times(each.unwrap_or(moved))),
        };
        let window = format!("{kind}{{tile{0}, (uint32_t)({at}{offset} - base{0})}}", of.0);
        let (window, _) = whole(window, kind.clone());
        // of a stream that takes its turn, its own items of them
        match self.making.turns_of(v) {
            None => window,
            Some(turns) => {
                let lay = if writes { &turns.output } else { &turns.input };
                let (block, round, step) = (lay.block, lay.round, lay.step);
                format!("sl_turn<{kind}, {block}u, {round}u, {step}u>{{{window}, {}}}", start(turns, lay))
            }
        }
    }

    /// Are the items of an input, which a thread's firings look at, an array of the thread?
    fn is_wide(&self, group: &Group, c: ChannelId) -> bool {
        self.wide.is_some() && !group.local.contains(&c) && self.making.arises(c)
    }

    /// Reads them.
    pub(super) fn look(&mut self, group: &Group, c: ChannelId) {
        let Some(low) = self.wide.filter(|_| self.is_wide(group, c)) else { return };
        let (of, offset) = self.tile_of(c);
        let (t, wide) = (taken(self.making, group, c), (WIDE / self.making.item_bytes(c)) as i64);
        // how many items the first firing's first one is after 16 whole bytes; it is the same for all threads
        let begins = self.tiling.tiles.get(&of).map_or(0, |t| t.low);
        let after = low * t.items + offset - begins + self.staging.map_or(0, |s| s.skew(of));
        let (i, of, by) = (c.0, of.0, times(t.items.unsigned_abs()));
        let _ = writeln!(
            self.out,
            "        {} seen{i}[few.count{by} + {}];\n        sl_look<{}u>(few, tile{of}, first{by}{} - base{of}, seen{i});",
            self.type_of(c),
            t.window - t.items,
            (-after).rem_euclid(wide),
            plus(offset),
        );
    }

    /// The channel whose tile has a channel's items in the same order, and how much further along they are there.
    fn tile_of(&self, c: ChannelId) -> (ChannelId, i64) {
        self.tiling.elsewhere.copies.get(&c).copied().unwrap_or((c, 0))
    }

    /// After how many items a channel's tile leaves a place out.
    pub(super) fn gap(&self, c: ChannelId) -> u64 {
        if self.staging.is_some_and(|s| s.is_even(c)) {
            return 0;
        }
        self.tiling.tiles.get(&self.tiling.elsewhere.tile(c)).map_or(0, |t| t.gap)
    }

    /// Where a thread keeps what a group gives in a loop of several.
    pub(super) fn keep(&mut self, group: &Group) {
        for c in self.gives(group) {
            let items = given(self.making, group, c).items;
            let _ = writeln!(self.out, "        {} kept{}[{items}];", self.type_of(c), c.0);
        }
    }

    /// From there to the tiles.
    pub(super) fn give(&mut self, group: &Group) {
        for c in self.gives(group) {
            let (i, items) = (c.0, given(self.making, group, c).items);
            let to = self.access(group, c, true);
            let n = if names(&to, "n") { "const int32_t n = i;\n            " } else { "" };
            let _ = writeln!(
                self.out,
                "        {{\n            {n}const auto to{i} = {to};\n            SL_UNROLL\n            for (int32_t k = 0; k < {items}; k++) to{i}[k] = kept{i}[k];\n        }}"
            );
        }
    }

    /// The channels that a group's items go to, none of them a copy or a view.
    fn gives(&self, group: &Group) -> Vec<ChannelId> {
        outputs(self.making, group).into_iter().filter(|c| !self.tiling.elsewhere.has(*c)).collect()
    }

    /// Where a thread that makes several firings keeps what they give; or that it goes to the tiles.
    pub(super) fn kept(&mut self, group: &Group, goes: bool) {
        for c in self.gives(group) {
            let (i, ty, items) = (c.0, self.type_of(c), given(self.making, group, c).items);
            let by = times(items.unsigned_abs());
            let _ = match goes {
                false => writeln!(self.out, "        {ty} kept{i}[few.count{by}];"),
                true => writeln!(
                    self.out,
                    "        const auto to{i} = sl_window<{ty}, true, {}u>{{tile{i}, (uint32_t)(first{by}{} - base{i})}};\n        \
                     SL_UNROLL\n        for (int32_t k = 0; k < few.count{by}; k++) to{i}[k] = kept{i}[k];",
                    self.gap(c),
                    plus(self.fill(c)),
                ),
            };
        }
    }
}
