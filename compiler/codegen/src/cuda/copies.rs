//! # copies
//!
//! Purpose: channels of a region that hold the same items share a tile. Input: a region. Output: for each channel that needs no tile of its own, the one whose tile it shares,
//! and how much further along its items are there.
//!
//! ```text
//! duplicate ─┬─ c1 (12 items at boundaries) ─ FIR of 13 taps      c1 has a tile; item x of c2 is its item x + 9, since both end with the same item:
//!            └─ c2 (3 items at boundaries)  ─ FIR of 4 taps   →   filters that look at equal items read them once, and the splitter writes one copy
//! ```
//!
//! What must hold: the channels are filled by the firings of one splitter alone, or of such as hand on its items at once. So at every boundary each holds the last items that the splitter gave; the one
//! that holds most has them all. The same is true of filters of one code behind it, from their initialisation on: of those only the first one fires.

use super::program::Making;
use super::regions::{Region, Regions};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_kernel::ir::StmtKind;
use sluice_kernel::walk;
use std::collections::BTreeMap;

/// By channel, the one whose tile it shares, and what is added to the number of an item to find it there.
pub(super) type Copies = BTreeMap<ChannelId, (ChannelId, i64)>;

/// Finds them.
pub(super) fn copies(making: &Making<'_>, regions: &Regions, region: &Region) -> Copies {
    let (graph, steady) = (making.input.host.graph, making.input.host.steady);
    let fill = |c: &ChannelId| steady.boundary_fill[c.index()];
    let mut all = Copies::new();
    for group in &region.groups {
        // by splitter, and by filter behind it, the first one whose items it hands on: within a firing of the group, so that nothing is left between them
        let mut first: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        let mut same: BTreeMap<NodeId, Vec<ChannelId>> = BTreeMap::new();
        // filters by what they take, and by what they do with it
        let mut alike = BTreeMap::new();
        for (v, q) in &group.members {
            let node = graph.node(*v);
            let local = node.inputs.iter().find(|c| group.local.contains(c));
            let before = local.map(|c| graph.channel(*c).from.0).and_then(|u| first.get(&u).copied());
            let of = match (&node.kind, before, local) {
                (NodeKind::Duplicate, before, _) => before.unwrap_or(*v),
                (NodeKind::Filter { code, .. }, Some(before), Some(c))
                    if node.inputs.len() == 1
                        && node.outputs.len() == 1
                        && graph.channel(*c).initial.is_empty()
                        && making.turns_of(*v).is_none()
                        && is_function(making, code.index()) =>
                {
                    *alike.entry((before, *code, steady.init[v.index()], *q)).or_insert(*v)
                }
                _ => continue,
            };
            first.insert(*v, of);
            let shares = |c: &&ChannelId| {
                let channel = graph.channel(**c);
                making.flows(**c)
                    && regions.holds(graph, **c)
                    && !group.local.contains(*c)
                    && channel.initial.is_empty()
                    // streams in turn find their items in ways of their own
                    && making.turns_of(channel.to.0).is_none()
            };
            same.entry(of).or_default().extend(node.outputs.iter().filter(shares));
        }
        for same in same.values() {
            let Some(most) = same.iter().copied().max_by_key(|c| (fill(c), std::cmp::Reverse(*c))) else { continue };
            let others = same.iter().filter(|c| **c != most);
            all.extend(others.map(|c| (*c, (most, (fill(&most) - fill(c)) as i64))));
        }
    }
    all
}

/// Does a filter give the same items for the same ones, and nothing else?
fn is_function(making: &Making<'_>, code: usize) -> bool {
    let kernel = &making.input.kernels[code];
    let mut prints = false;
    kernel.functions.iter().for_each(|f| {
        walk::each_stmt(&f.body, &mut |s| prints |= matches!(s.kind, StmtKind::Print(_) | StmtKind::PrintText(_)));
    });
    kernel.state.is_empty() && !prints
}
