//! # stages of a program with regions
//!
//! Purpose: what replicated stages do twice where parts of the program are one filter each ([`sluice_kernel::fuse`]), whose inputs may hold older items than their channels in the
//! program do. Input: stages that their judge has passed, the program with regions. Output: [`Overlap`], by node and channel of the graph with regions.
//!
//! What must hold: each region lies in one stage; the judge's rules for replicas hold for the graph with regions, too.

use super::judge::{Verified, Violation, feedback, twice};
use super::overlap::Overlap;
use super::{Partition, Stage};
use sluice_frontend::ids::NodeId;
use sluice_kernel::fuse::Fused;

/// By node of the graph with regions: its stage.
pub fn stages_of(verified: &Verified, fused: &Fused) -> Vec<usize> {
    let mut stages: Vec<usize> = fused.nodes.iter().map(|old| old.map_or(0, |v| verified.stage_of(v))).collect();
    for r in &fused.regions {
        stages[r.node.index()] = r.members.first().map_or(0, |(v, _)| verified.stage_of(*v));
    }
    stages
}

/// What replicated stages do twice; or what is wrong with replicas of these regions.
pub fn overlap(verified: &Verified, fused: &Fused) -> Result<Overlap, Vec<Violation>> {
    let at = stages_of(verified, fused);
    let mut wrong = Vec::new();
    for r in &fused.regions {
        let first = r.members.first().map(|(v, _)| *v);
        let elsewhere = r.members.iter().find(|(v, _)| verified.stage_of(*v) != at[r.node.index()]);
        wrong.extend(first.zip(elsewhere).map(|(first, (v, _))| Violation::Apart(first, *v)));
    }
    let of = |s: usize| fused.graph.node_ids().filter(|v| at[v.index()] == s).collect::<Vec<NodeId>>();
    let stages = verified.stages().iter().enumerate();
    let partition = Partition { stages: stages.map(|(s, stage)| Stage { nodes: of(s), ..stage.clone() }).collect() };
    feedback(&fused.graph, &partition, &at, &mut wrong);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    twice(&fused.graph, &fused.steady, &partition, &at, verified.batch())
}
