//! # moves
//!
//! Purpose: what splitters and joiners do in a firing, as C++. Input: the kind of node, expressions for its ends. Output: statements that copy items; [`moves_together`] lets some items be on their way
//! at a time: ends in the same memory might be the same places for all that the compiler knows, so it begins no load before a store that comes earlier.

use sluice_frontend::graph::NodeKind;
use std::fmt::Write;

/// Items of a firing up to which all loops are unrolled: what passes in a thread's registers is no more. Beyond it, thousands of moves in a row would only take registers.
const MOST_UNROLLED: u64 = 128;

/// Items that are on their way at a time.
const TOGETHER: usize = 16;

/// Items that follow one another at both ends: to which output and from which place there on, of which input and from which place, how many.
struct Run {
    to: (usize, u32),
    from: (usize, u32),
    count: u32,
}

/// What a firing moves.
fn runs(kind: &NodeKind, outs: usize) -> Vec<Run> {
    let mut at = 0;
    match kind {
        NodeKind::Duplicate => (0..outs).map(|o| Run { to: (o, 0), from: (0, 0), count: 1 }).collect(),
        NodeKind::SplitRoundRobin(weights) | NodeKind::JoinRoundRobin(weights) => {
            let splits = matches!(kind, NodeKind::SplitRoundRobin(_));
            let run = |(i, count): (usize, &u32)| {
                let (all, one) = ((0, at), (i, 0));
                at += count;
                let (to, from) = if splits { (one, all) } else { (all, one) };
                Run { to, from, count: *count }
            };
            weights.iter().enumerate().map(run).filter(|r| r.count > 0).collect()
        }
        _ => vec![Run { to: (0, 0), from: (0, 0), count: 1 }],
    }
}

/// Ends by names.
fn named(ins: &[String], outs: &[String]) -> String {
    let mut body = String::new();
    for (name, ends) in [("in", ins), ("out", outs)] {
        for (i, end) in ends.iter().enumerate() {
            let _ = writeln!(body, "const auto {name}{i} = {end};");
        }
    }
    body
}

/// The same as [`moves`], but that some items are read before the first of them is written.
pub(super) fn moves_together(kind: &NodeKind, ins: &[String], outs: &[String]) -> String {
    let runs = runs(kind, outs.len());
    if runs.iter().map(|r| u64::from(r.count)).sum::<u64>() > MOST_UNROLLED {
        return moves(kind, ins, outs, 1);
    }
    let mut body = named(ins, outs);
    if matches!(kind, NodeKind::Duplicate) {
        body.push_str("const auto item = in0[0];\n");
        (0..outs.len()).for_each(|o| {
            let _ = writeln!(body, "out{o}[0] = item;");
        });
        return body;
    }
    let each = |r: &Run| {
        let (to, from) = (r.to, r.from);
        (0..r.count).map(move |i| ((to.0, to.1 + i), (from.0, from.1 + i)))
    };
    let items: Vec<((usize, u32), (usize, u32))> = runs.iter().flat_map(each).collect();
    let several = items.len() > TOGETHER;
    for some in items.chunks(TOGETHER) {
        let pad = if several { "    " } else { "" };
        body.push_str(if several { "{\n" } else { "" });
        for (k, (_, (from, i))) in some.iter().enumerate() {
            let _ = writeln!(body, "{pad}const auto item{k} = in{from}[{i}];");
        }
        for (k, ((to, i), _)) in some.iter().enumerate() {
            let _ = writeln!(body, "{pad}out{to}[{i}] = item{k};");
        }
        body.push_str(if several { "}\n" } else { "" });
    }
    body
}

/// A splitter's or joiner's firing, between ends whose items these expressions give; of `pieces` threads that share it the one that `piece` tells moves every so-many-th.
pub(super) fn moves(kind: &NodeKind, ins: &[String], outs: &[String], pieces: u64) -> String {
    let mut body = named(ins, outs);
    let runs = runs(kind, outs.len());
    let dealt = matches!(kind, NodeKind::SplitRoundRobin(_) | NodeKind::JoinRoundRobin(_));
    let all: u64 = runs.iter().map(|r| u64::from(r.count)).sum();
    let unroll = if dealt && all > MOST_UNROLLED { "SL_UNROLL_SOME" } else { "SL_UNROLL" };
    let at = |before: u32, i: &str| match (before, i) {
        (0, i) => i.to_string(),
        (n, "0") => n.to_string(),
        (n, i) => format!("{n} + {i}"),
    };
    for Run { to: (to, before_to), from: (from, before_from), count } in runs {
        let place = |i: &str| format!("out{to}[{}] = in{from}[{}];", at(before_to, i), at(before_from, i));
        let _ = match count {
            1 => writeln!(body, "{}", place("0")),
            n if pieces > 1 => {
                writeln!(body, "for (uint32_t i = (uint32_t)piece; i < {n}u; i += {pieces}u) {}", place("i"))
            }
            n => writeln!(body, "{unroll}\nfor (uint32_t i = 0; i < {n}u; i++) {}", place("i")),
        };
    }
    body
}
