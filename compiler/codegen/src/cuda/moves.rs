//! # moves
//!
//! Purpose: what splitters and joiners do in a firing, as C++. Input: the kind of node, expressions for its ends. Output: statements that copy items.

use sluice_frontend::graph::NodeKind;
use std::fmt::Write;

/// Items of a firing up to which all loops are unrolled: what passes in a thread's registers is no more. Beyond it, thousands of moves in a row would only take registers.
const MOST_UNROLLED: u64 = 128;

/// A splitter's or joiner's firing, between ends whose items these expressions give; of `pieces` threads that share it the one that `piece` tells moves every so-many-th.
pub(super) fn moves(kind: &NodeKind, ins: &[String], outs: &[String], pieces: u64) -> String {
    let mut body = String::new();
    for (name, ends) in [("in", ins), ("out", outs)] {
        for (i, end) in ends.iter().enumerate() {
            let _ = writeln!(body, "const auto {name}{i} = {end};");
        }
    }
    let all: u64 = match kind {
        NodeKind::SplitRoundRobin(weights) | NodeKind::JoinRoundRobin(weights) => {
            weights.iter().map(|w| u64::from(*w)).sum()
        }
        _ => 1,
    };
    let unroll = if all > MOST_UNROLLED { "SL_UNROLL_SOME" } else { "SL_UNROLL" };
    let mut copy = |to: usize, before_to: u32, from: usize, before_from: u32, count: u32| {
        let at = |before: u32, i: &str| match (before, i) {
            (0, i) => i.to_string(),
            (n, "0") => n.to_string(),
            (n, i) => format!("{n} + {i}"),
        };
        let _ = match count {
            1 => writeln!(body, "out{to}[{}] = in{from}[{}];", at(before_to, "0"), at(before_from, "0")),
            n if pieces > 1 => writeln!(
                body,
                "for (uint32_t i = (uint32_t)piece; i < {n}u; i += {pieces}u) out{to}[{}] = in{from}[{}];",
                at(before_to, "i"),
                at(before_from, "i")
            ),
            n => writeln!(
                body,
                "{unroll}\nfor (uint32_t i = 0; i < {n}u; i++) out{to}[{}] = in{from}[{}];",
                at(before_to, "i"),
                at(before_from, "i")
            ),
        };
    };
    let mut at = 0;
    match kind {
        NodeKind::Duplicate => (0..outs.len()).for_each(|o| copy(o, 0, 0, 0, 1)),
        NodeKind::SplitRoundRobin(weights) => {
            for (o, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0) {
                copy(o, 0, 0, at, *w);
                at += w;
            }
        }
        NodeKind::JoinRoundRobin(weights) => {
            for (i, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0) {
                copy(0, at, i, 0, *w);
                at += w;
            }
        }
        _ => copy(0, 0, 0, 0, 1),
    }
    body
}
