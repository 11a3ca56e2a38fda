//! What a tile begins with, and what remains of it: items of other regions, and those that channels hold between launches.

use super::{Printer, plus, times};
use sluice_frontend::ids::ChannelId;
use std::fmt::Write;

impl Printer<'_, '_> {
    /// What a channel's tile has of what was made before the launch.
    pub(super) fn bring(&mut self, c: ChannelId) {
        let making = self.making;
        let Some(tile) = self.tiling.tiles.get(&c) else { return };
        let team = self.team();
        let (i, ty, m) = (c.0, self.type_of(c), self.fill(c));
        let pace = self.tiling.states * tile.passed;
        let times = times(pace);
        let (low, high) = (format!("b{times}{}", plus(tile.seen)), format!("b{times}{}", plus(tile.seen_end)));
        if self.place().held(c) {
            let carry = making.arena.carry(c);
            let loop_of = format!("{}{low}, {high}, 0, {m}", team.1);
            let text = format!(
                "        const {ty} *const from = ({ty} *)(job.arena + {carry}ull) + job.parity * {m}u + x;\n        \
                 sl_item<true>(tile{i}.items + tile{i}.at(x - base{i})) = sl_item<false>(from);\n"
            );
            self.carried(loop_of, &text);
        } else if let Some(ring) = making.arena.rings[c.index()] {
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
    }

    /// What of a channel leaves the region, or is held after the launch.
    pub(super) fn save(&mut self, c: ChannelId) {
        let making = self.making;
        let Some(tile) = self.tiling.tiles.get(&c) else { return };
        let team = self.team();
        let (i, ty, m) = (c.0, self.type_of(c), self.fill(c));
        let pace = self.tiling.states * tile.passed;
        let times = times(pace);
        if self.place().leaves(c) {
            let Some(ring) = making.arena.rings[c.index()] else { return };
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
        } else {
            let (low, high) = (plus(tile.seen), plus(tile.seen + pace as i64));
            let loop_of = format!("{}b{times}{low}, b{times}{high}, all{times}, all{times} + {m}", team.1);
            let mut text =
                format!("        const {ty} item = sl_item<false>(tile{i}.items + tile{i}.at(x - base{i}));\n");
            let copies = self.tiling.elsewhere.copies.iter().filter(|(_, (of, _))| *of == c);
            let copies = copies.map(|(copy, (_, further))| (*copy, *further));
            for (to, further) in std::iter::once((c, 0)).chain(copies) {
                let held = self.fill(to);
                if held == 0 {
                    continue;
                }
                let guard = if further == 0 { String::new() } else { format!("if (x - all{times} >= {further}) ") };
                let _ = writeln!(
                    text,
                    "        {guard}sl_item<true>(({ty} *)(job.arena + {}ull) + (job.parity ^ 1) * {held}u + (x - all{times}{})) = item;",
                    making.arena.carry(to),
                    plus(-further),
                );
            }
            self.carried(loop_of, &text);
        }
    }

    /// What is done with carried items; in the loop before, where that is over the same numbers: blocks between the first and the last one find out once that they have none.
    fn carried(&mut self, loop_of: String, text: &str) {
        const END: &str = "    });\n";
        match &self.carried {
            Some((before, end)) if *before == loop_of && *end == self.out.len() => {
                self.out.truncate(end - END.len());
                let _ = write!(self.out, "        {{\n{text}        }}\n{END}");
            }
            _ => {
                let _ = write!(self.out, "    sl_each_of({loop_of}, [&](int32_t x) {{\n{text}{END}");
            }
        }
        self.carried = Some((loop_of, self.out.len()));
    }
}
