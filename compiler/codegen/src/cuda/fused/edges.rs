//! What a tile begins with, and what remains of it: items of other regions, and those that channels hold between launches.

use super::{Printer, plus, times};
use sluice_frontend::ids::ChannelId;
use std::fmt::Write;

impl Printer<'_, '_> {
    /// What the tile needs of what was made before the launch. Is there any?
    pub(in crate::cuda) fn bring(&mut self, of: impl Fn(ChannelId) -> bool) -> bool {
        let making = self.making;
        let s = self.tiling.states;
        let team = self.team();
        let mut any = false;
        for (c, tile) in self.tiling.tiles.iter().filter(|(c, _)| of(**c)) {
            let (i, ty, m) = (c.0, self.type_of(*c), self.fill(*c));
            let pace = s * tile.passed;
            let times = times(pace);
            let (low, high) = (format!("b{times}{}", plus(tile.seen)), format!("b{times}{}", plus(tile.seen_end)));
            if self.held(*c) {
                if m == 0 {
                    continue;
                }
                let carry = making.arena.carry(*c);
                let _ = writeln!(
                    self.out,
                    "    sl_each_of({}{low}, {high}, 0, {m}, [&](int32_t x) {{\n        \
                     const {ty} *const from = ({ty} *)(job.arena + {}ull) + job.parity * {m}u + x;\n        \
                     sl_item<true>(tile{i}.items + tile{i}.at(x - base{i})) = sl_item<false>(from);\n    }});",
                    team.0, carry
                );
            } else {
                if !self.enters(*c) {
                    continue;
                }
                let Some(ring) = making.arena.rings[c.index()] else { continue };
                let _ = writeln!(
                    self.out,
                    "    {{\n        const sl_ring<{ty}, {}u> ring = {{({ty} *)(job.arena + {}ull), {}u}};\n        \
                     const int32_t low = sl_between({low}, 0, all{times}{}), high = sl_between({high}, 0, all{times}{});\n        \
                     sl_bring_at({}tile{i}, low - base{i}, ring, job.t * {pace}u + low, high > low ? high - low : 0);\n    }}",
                    ring.rate,
                    ring.offset,
                    ring.rows,
                    plus(m),
                    plus(m),
                    team.1,
                );
            }
            any = true;
        }
        any
    }

    /// Is there anything to save of these channels?
    pub(in crate::cuda) fn saves(&self, of: impl Fn(ChannelId) -> bool) -> bool {
        let saved = |c: ChannelId| self.held(c) && self.fill(c) > 0 || self.leaves(c);
        self.tiling.tiles.keys().any(|c| of(*c) && saved(*c))
    }

    /// Does a channel lead out of the region?
    pub(in crate::cuda) fn leaves(&self, c: ChannelId) -> bool {
        let graph = self.making.input.host.graph;
        let from = self.plan.regions.of[graph.channel(c).from.0.index()];
        !self.held(c) && from.is_some_and(|r| std::ptr::eq(self.region, &self.plan.regions.regions[r]))
    }

    /// What leaves the region, and what channels of it hold after the launch.
    pub(in crate::cuda) fn save(&mut self, of: impl Fn(ChannelId) -> bool) {
        let making = self.making;
        let s = self.tiling.states;
        let team = self.team();
        for (c, tile) in self.tiling.tiles.iter().filter(|(c, _)| of(**c)) {
            let (i, ty, m) = (c.0, self.type_of(*c), self.fill(*c));
            let pace = s * tile.passed;
            let times = times(pace);
            if self.leaves(*c) {
                let Some(ring) = making.arena.rings[c.index()] else { continue };
                // the tile's own items: those of its producer's own firings
                let _ = writeln!(
                    self.out,
                    "    {{\n        const sl_ring<{ty}, {}u> ring = {{({ty} *)(job.arena + {}ull), {}u}};\n        \
                     if (b < all) sl_send_from({}tile{i}, b{times}{} - base{i}, ring, {m}u + (job.t + b) * {pace}u, {pace}u);\n    }}",
                    ring.rate,
                    ring.offset,
                    ring.rows,
                    team.1,
                    plus(m),
                );
            } else if self.held(*c) && m > 0 {
                let (low, high) = (plus(tile.seen), plus(tile.seen + pace as i64));
                let _ = writeln!(
                    self.out,
                    "    sl_each_of({}b{times}{low}, b{times}{high}, all{times}, all{times} + {m}, [&](int32_t x) {{\n        \
                     const {ty} item = sl_item<false>(tile{i}.items + tile{i}.at(x - base{i}));",
                    team.0,
                );
                let copies = self.tiling.copies.iter().filter(|(_, (of, _))| of == c);
                let copies = copies.map(|(copy, (_, further))| (*copy, *further));
                for (to, further) in std::iter::once((*c, 0)).chain(copies) {
                    let held = self.fill(to);
                    if held == 0 {
                        continue;
                    }
                    let guard = if further == 0 { String::new() } else { format!("if (x - all{times} >= {further}) ") };
                    let _ = writeln!(
                        self.out,
                        "        {guard}sl_item<true>(({ty} *)(job.arena + {}ull) + (job.parity ^ 1) * {held}u + (x - all{times}{})) = item;",
                        making.arena.carry(to),
                        plus(-further),
                    );
                }
                self.out.push_str("    });\n");
            }
        }
    }
}
