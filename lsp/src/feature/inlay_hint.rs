//! # inlay-hint
//!
//! Purpose: rates and the initiation interval between the words. Input: a view, a range of bytes. Output: hints.
//!
//! ```text
//! add LowPass(64)  ×8 · 5→1 peek 64          add Equalizer(10)  16→8
//! void->void pipeline Main  II 132 cyc (MII 130, bound by LowPass) · 16 SMs · 3 stages · 1.2 MB
//! enqueue 0.0;  4 enqueued, 3 needed
//! ```
//!
//! What an older analysis says stands where its place has only moved.

use super::facts::{self, addings, all_rates, declared, flow, hier, instances, leaf, spread, streams};
use crate::world::view::{Known, View};
use sluice_frontend::ids::HierId;
use sluice_frontend::lints::tree;
use sluice_grammar::ast::{StmtKind, StreamKind};
use std::ops::Range;
use tower_lsp::lsp_types::*;

/// The hints in a range.
pub fn inlay_hints(view: &View, range: Range<u32>) -> Vec<InlayHint> {
    let mut hints: Vec<(u32, String, String)> = Vec::new();
    if let Some(known) = &view.good {
        of_adds(view, known, &mut hints);
        of_headers(view, known, &mut hints);
    }
    if view.settings.enqueues {
        of_enqueues(view, &mut hints);
    }
    hints.retain(|(at, ..)| range.start <= *at && *at <= range.end);
    hints.sort();
    let hint = |(at, label, tip): (u32, String, String)| InlayHint {
        position: view.text().position(at),
        label: InlayHintLabel::String(label),
        kind: None,
        text_edits: None,
        tooltip: (!tip.is_empty()).then_some(InlayHintTooltip::String(tip)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    hints.into_iter().map(hint).collect()
}

fn of_adds(view: &View, known: &Known, hints: &mut Vec<(u32, String, String)>) {
    let Some(program) = known.program() else { return };
    for adding in addings(view.tree()) {
        let of = instances(known, adding.stmt.at.0);
        let Some(first) = of.first() else { continue };
        let leaves: Vec<_> = of.iter().filter_map(|h| leaf(program, *h)).collect();
        let several = if of.len() > 1 { format!("{} instances · ", of.len()) } else { String::new() };
        let is_filter = hier(program, *first).kind == StreamKind::Filter;
        if is_filter && view.settings.rates && leaves.len() == of.len() {
            let times = spread(leaves.iter().map(|n| program.steady.repetitions[n.index()]));
            let moves = all_rates(program, &leaves);
            let tip = "firings in a steady state · items that a firing takes → gives, and looks at";
            hints.push((adding.hint_at(), format!("{several}×{times} · {moves}"), tip.into()));
        } else if !is_filter && view.settings.composites {
            hints.push((adding.hint_at(), format!("{several}{}", flow(known, of)), FLOW.into()));
        }
    }
}

const FLOW: &str = "items in → out in a steady state";

fn of_headers(view: &View, known: &Known, hints: &mut Vec<(u32, String, String)>) {
    for s in streams(view.tree()) {
        let of = declared(known, s.header.0);
        // one without a name has its hint as something added
        if of.is_empty() || s.name.is_none() {
            continue;
        }
        let is_entry = of.contains(&HierId(0));
        if s.kind != StreamKind::Filter && view.settings.composites && !(is_entry && flow(known, of) == "0→0") {
            hints.push((s.header.0.end, flow(known, of), FLOW.into()));
        }
        if is_entry && view.settings.ii {
            let failed = view.schedule.as_ref().and_then(|s| s.of.result.as_ref().err());
            if let Some(text) = facts::interval(view) {
                let machine =
                    view.schedule.as_ref().and_then(|s| s.of.result.as_ref().ok()).map_or("", |s| &s.machine.name);
                let tip =
                    format!("initiation interval on {machine}: cycles from one iteration of the schedule to the next");
                hints.push((s.header.0.end, text, tip));
            } else if let Some(why) = failed {
                hints.push((s.header.0.end, "no II".into(), why.clone()));
            }
        }
    }
}

/// At the last `enqueue` of a loop: how many items there are, and how many it needs.
fn of_enqueues(view: &View, hints: &mut Vec<(u32, String, String)>) {
    let tip = "items on the way back before the first firing";
    tree::streams(view.tree(), &mut |s| {
        let sluice_grammar::ast::StreamBody::Composite(body) = &s.body else { return };
        if s.kind != StreamKind::FeedbackLoop {
            return;
        }
        let mut last = None;
        last_enqueue(&body.stmts, &mut last);
        let Some(at) = last else { return };
        if let Some(known) = &view.good
            && let Some(program) = known.program()
        {
            let of = declared(known, s.header.0);
            let needed: Vec<u64> = of.iter().filter_map(|h| known.of.facts().needed.get(h).copied()).collect();
            let has = |h: &HierId| {
                let back =
                    program.graph.channels.iter().filter(|c| c.feedback && program.graph.node(c.to.0).hier == *h);
                back.map(|c| c.initial.len() as u64).max()
            };
            if needed.len() == of.len() && !of.is_empty() {
                let label =
                    format!("{} enqueued, {} needed", spread(of.iter().filter_map(has)), spread(needed.into_iter()));
                hints.push((at, label, tip.into()));
            }
        }
    });
    // a loop that cannot start says how many are missing
    if let Some(known) = view.latest.as_ref().filter(|k| k.current) {
        for d in known.of.analysis.diagnostics.iter().filter(|d| d.code == "E0303") {
            let missing =
                d.fixes.first().map(|f| f.edits.iter().map(|e| e.text.matches("enqueue").count()).sum::<usize>());
            if let (Some(n), Some(span)) = (missing, known.now(d.span()).filter(|s| s.file == view.file)) {
                let items = sluice_schedule::wording::count(n as u64, "item", "items");
                hints.push((span.end, format!("{items} more to be enqueued"), tip.into()));
            }
        }
    }
}

fn last_enqueue(stmts: &[sluice_grammar::ast::Stmt], last: &mut Option<u32>) {
    for s in stmts {
        match &s.kind {
            StmtKind::Enqueue(_) => *last = Some(s.at.0.end),
            StmtKind::Block(b) => last_enqueue(&b.stmts, last),
            StmtKind::If { then, els, .. } => {
                last_enqueue(std::slice::from_ref(then), last);
                els.iter().for_each(|e| last_enqueue(std::slice::from_ref(e), last));
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
                last_enqueue(std::slice::from_ref(body), last);
            }
            _ => {}
        }
    }
}
