//! # branches (W0260)
//!
//! Purpose: branches of splitjoins that do nothing: they never fire, since splitter and joiner pass them over (weight 0 on both sides);
//! or they get copies of the items (`split duplicate`) and nothing comes of them: nothing goes to the joiner, is printed, written or sent.
//! Input: the flat graph, its steady state and the code of filters. Output: warnings, where it holds for each instance of the `add`.

use crate::graph::{NodeKind, SdfGraph};
use crate::ids::*;
use crate::steady_state::SteadyState;
use crate::ty::Ty;
use crate::typed::FilterCode;
use sluice_grammar::ast::StreamKind;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;
use std::collections::BTreeMap;

/// Why a branch is dead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dead {
    Starved,
    Unheard,
}

/// Warnings about the branches of a program. `ours` says whether a place is in the user's files.
pub fn lint(
    graph: &SdfGraph,
    steady: &SteadyState,
    codes: &[FilterCode],
    ours: impl Fn(Span) -> bool,
    out: &mut Vec<Diagnostic>,
) {
    let (fires, heard) = activity(graph, steady, codes);
    // by the place of the `add`: what all its instances are
    let mut found: BTreeMap<Span, Option<(Dead, HierId)>> = BTreeMap::new();
    for (i, h) in graph.hierarchy.iter().enumerate() {
        if h.kind != StreamKind::SplitJoin || !ours(h.decl) {
            continue;
        }
        let duplicate = h.nodes.iter().any(|n| graph.node(*n).kind == NodeKind::Duplicate);
        for child in &h.children {
            let c = &graph.hierarchy[child.index()];
            let dead = match (fires[child.index()], heard[child.index()]) {
                (false, _) => Some(Dead::Starved),
                (true, false) if duplicate && c.io.1 == Ty::Void => Some(Dead::Unheard),
                _ => None,
            };
            let of_all = found.entry(c.added).or_insert(dead.map(|d| (d, HierId::from(i))));
            if of_all.map(|(d, _)| d) != dead {
                *of_all = None;
            }
        }
    }
    for (added, dead) in found {
        let Some((dead, h)) = dead else { continue };
        let h = &graph.hierarchy[h.index()];
        let ends = |split: bool| {
            h.nodes.iter().map(|n| graph.node(*n)).find(|n| matches!(n.kind, NodeKind::JoinRoundRobin(_)) != split)
        };
        let mut d = match dead {
            Dead::Starved => Diagnostic::warning("W0260", "this branch never fires", added, "nothing goes in or out"),
            Dead::Unheard => {
                Diagnostic::warning("W0260", "nothing comes of this branch", added, "no item of it goes to the joiner")
                    .note("nothing in it prints, writes a file or sends a message")
            }
        };
        if let Some(split) = ends(true).filter(|n| n.kind != NodeKind::Identity) {
            let label =
                if dead == Dead::Starved { "the splitter passes it over" } else { "a copy of each item goes to it" };
            d = d.label(split.span, label);
        }
        if let (Dead::Starved, Some(join)) = (dead, ends(false)) {
            d = d.label(join.span, "the joiner passes it over");
        }
        out.push(d.help("remove it, with its weights; or give it weights that are not 0"));
    }
}

/// For each entry of the hierarchy: does anything in it fire, and does anything in it reach beyond the graph?
fn activity(graph: &SdfGraph, steady: &SteadyState, codes: &[FilterCode]) -> (Vec<bool>, Vec<bool>) {
    let mut fires = vec![false; graph.hierarchy.len()];
    let mut heard = vec![false; graph.hierarchy.len()];
    for (i, n) in graph.nodes.iter().enumerate() {
        let h = n.hier.index();
        fires[h] |= steady.repetitions[i] > 0 || steady.init[i] > 0;
        heard[h] |= match &n.kind {
            NodeKind::Filter { code, prints, .. } => {
                let c = &codes[code.index()];
                *prints || c.sends.is_some() || c.calls_native.is_some()
            }
            NodeKind::Writer(_) => true,
            _ => false,
        };
    }
    // children stand behind their parents
    for i in (0..graph.hierarchy.len()).rev() {
        if let Some(p) = graph.hierarchy[i].parent {
            fires[p.index()] |= fires[i];
            heard[p.index()] |= heard[i];
        }
    }
    (fires, heard)
}
