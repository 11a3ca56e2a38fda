//! # replay
//!
//! Purpose: the judge of a tile's steps and of its places in shared memory. Input: a region, its steps in the order in which they are printed, the offset of each channel's tile. Output: nothing, or what is wrong.
//! It does not know how steps and places were found, nor of lifetimes: it follows every byte of shared memory through the steps, and asks the graph what a group takes and gives.
//!
//! What must hold, and is looked at:
//! - in one step, no byte belongs to two tiles; no tile is both read and written (threads do not wait for one another within a step);
//! - what is read was written, by the same tile, and nothing else has been written there since the first who wrote a part of it;
//! - what was read is not written any more: a reader has seen all of it;
//! - every byte is one that the block has.

use super::steps::{Place, Step, Work};
use super::tiles::Tile;
use super::views::Elsewhere;
use sluice_frontend::ids::ChannelId;
use std::collections::{BTreeMap, BTreeSet};

/// An access to a channel's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// Whose tile.
    pub(super) channel: ChannelId,
    /// The first byte, and how many.
    pub(super) at: u64,
    pub(super) bytes: u64,
    /// Is it written, or read?
    pub(super) writes: bool,
}

/// Follows the bytes through the steps.
pub(super) fn replay(steps: &[Vec<Access>], shared: u64) -> Result<(), String> {
    let size = usize::try_from(shared).map_err(|_| "more shared memory than there is".to_string())?;
    // by byte, the tile that wrote it last
    let mut owner: Vec<Option<ChannelId>> = vec![None; size];
    let (mut seen, mut begun) = (BTreeSet::new(), BTreeSet::new());
    for (number, step) in steps.iter().enumerate() {
        // by byte, who accesses it in this step
        let mut now: BTreeMap<u64, (u64, ChannelId)> = BTreeMap::new();
        let mut ways: BTreeMap<ChannelId, bool> = BTreeMap::new();
        for access in step {
            let Access { channel, at, bytes, writes } = *access;
            let end = at.checked_add(bytes).filter(|end| *end <= shared);
            let Some(end) = end else {
                return Err(format!("step {number}: {channel} lies behind the {shared} bytes of the block"));
            };
            if *ways.entry(channel).or_insert(writes) != writes {
                return Err(format!("step {number}: {channel} is read and written without a barrier between"));
            }
            if let Some((_, (_, other))) =
                now.range(..end).rev().find(|(_, (other_end, other))| *other_end > at && *other != channel)
            {
                return Err(format!("step {number}: {channel} and {other} lie at the same place"));
            }
            now.entry(at).and_modify(|o| o.0 = o.0.max(end)).or_insert((end, channel));
            let own = &mut owner[at as usize..end as usize];
            if writes {
                if seen.contains(&channel) {
                    return Err(format!("step {number}: {channel} is written after it was read"));
                }
                // several write a part each, in one step or in several
                if !begun.insert(channel) && own.iter().any(|o| *o != Some(channel)) {
                    return Err(format!("step {number}: what {channel} had so far has been written over"));
                }
                own.fill(Some(channel));
            } else {
                let strange = own.iter().find(|o| **o != Some(channel));
                match strange {
                    Some(Some(other)) => {
                        return Err(format!("step {number}: {channel} is read where {other} was written meanwhile"));
                    }
                    Some(None) => return Err(format!("step {number}: {channel} is read before it is written")),
                    None => {}
                }
            }
        }
        seen.extend(ways.iter().filter(|(_, writes)| !**writes).map(|(c, _)| *c));
    }
    Ok(())
}

/// What a region's steps access; `staged`: channels that others bring.
pub(super) fn accesses(
    at: Place<'_, '_>,
    (tiles, elsewhere): (&BTreeMap<ChannelId, Tile>, &Elsewhere),
    steps: &[Step],
    staged: &BTreeSet<ChannelId>,
    offset: impl Fn(ChannelId) -> Option<u64>,
) -> Result<Vec<Vec<Access>>, String> {
    let graph = at.making.input.host.graph;
    let mut fired = BTreeSet::new();
    let mut all = Vec::new();
    for (g, group) in at.region.groups.iter().enumerate() {
        let fires = steps.iter().any(|step| step.contains(&Work::Fire(g)));
        if !fires && !elsewhere.gone.contains(&g) && !at.is_brought(group, staged) {
            return Err(format!("group {g} does not fire"));
        }
    }
    for step in steps {
        let mut touched: Vec<(ChannelId, bool)> = Vec::new();
        for work in step {
            match work {
                Work::Bring(c) => touched.push((*c, true)),
                Work::Save(c) => touched.push((*c, false)),
                Work::Fire(g) => {
                    if !fired.insert(*g) {
                        return Err(format!("group {g} fires twice"));
                    }
                    for (v, _) in &at.region.groups[*g].members {
                        let node = graph.node(*v);
                        touched.extend(node.inputs.iter().map(|c| (*c, false)));
                        touched.extend(node.outputs.iter().map(|c| (*c, true)));
                    }
                }
            }
        }
        let mut step = Vec::new();
        for (c, writes) in touched {
            let of = elsewhere.tile(c);
            let Some(tile) = tiles.get(&of) else { continue };
            // what nothing passes on, and is brought from nowhere, has no items
            if staged.contains(&of) || !at.making.flows(of) && !at.enters(of) {
                continue;
            }
            let Some(at_byte) = offset(of) else { return Err(format!("{of} has no place")) };
            let access = Access { channel: of, at: at_byte, bytes: tile.bytes(at.making.item_bytes(of)), writes };
            if !step.contains(&access) {
                step.push(access);
            }
        }
        // who writes in a step does so whoever is printed first
        step.sort_by_key(|a| !a.writes);
        all.push(step);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(c: u32, at: u64, writes: bool) -> Access {
        Access { channel: ChannelId(c), at, bytes: 64, writes }
    }
    fn wrong(steps: &[Vec<Access>]) -> String {
        replay(steps, 256).unwrap_err()
    }

    #[test]
    fn places_that_take_turns_are_right() {
        let chain = [
            vec![of(0, 0, true)],
            vec![of(0, 0, false), of(1, 64, true)],
            vec![of(1, 64, false), of(2, 0, true)],
            vec![of(2, 0, false)],
        ];
        assert_eq!(replay(&chain, 128), Ok(()));
    }

    #[test]
    fn each_fault_is_told() {
        // no barrier between the last access to one and the first to the other
        let text = wrong(&[vec![of(0, 0, true)], vec![of(1, 32, true), of(0, 0, false)]]);
        assert_eq!(text, "step 1: c0 and c1 lie at the same place");
        // a third one between: still needed where somebody else writes
        let text = wrong(&[vec![of(0, 0, true)], vec![of(1, 32, true)], vec![of(1, 32, false)], vec![of(0, 0, false)]]);
        assert_eq!(text, "step 3: c0 is read where c1 was written meanwhile");
        let text = wrong(&[vec![of(0, 0, true), of(0, 0, false)]]);
        assert_eq!(text, "step 0: c0 is read and written without a barrier between");
        assert_eq!(wrong(&[vec![of(3, 0, false)]]), "step 0: c3 is read before it is written");
        let text = wrong(&[vec![of(0, 0, true)], vec![of(0, 0, false)], vec![of(0, 0, true)]]);
        assert_eq!(text, "step 2: c0 is written after it was read");
        // a joiner's items, by two filters in different steps
        let text = wrong(&[vec![of(0, 0, true)], vec![of(1, 0, true)], vec![of(0, 0, true)], vec![of(0, 0, false)]]);
        assert_eq!(text, "step 2: what c0 had so far has been written over");
        assert_eq!(wrong(&[vec![of(0, 208, true)]]), "step 0: c0 lies behind the 256 bytes of the block");
    }
}
