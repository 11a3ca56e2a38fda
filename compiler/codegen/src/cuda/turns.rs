//! # turns
//!
//! Purpose: where a stream's items and state are, for filters whose firing is one of each of several streams, and whose kernel is that of one of them. Input: how the streams
//! lie ([`InTurn`]), the kernels of one stream and of all. Output: C++ for starts, offsets of states.

use crate::c::layout::size_align;
use sluice_frontend::slow::in_turn::{InTurn, Lay};
use sluice_frontend::typed::Globals;
use sluice_kernel::ir::{Kernel, StateField};
use std::collections::BTreeMap;

/// What stream `s` adds to positions, as C.
pub(super) fn start(turns: &InTurn, lay: &Lay) -> String {
    if let Some(stride) = lay.stride(&turns.levels) {
        return if stride == 1 { "s".into() } else { format!("s * {stride}u") };
    }
    let (mut below, mut parts) = (turns.streams(), Vec::new());
    for (n, stride) in turns.levels.iter().zip(&lay.strides) {
        below /= n;
        parts.push(format!("s / {below}u % {n}u * {stride}u"));
    }
    parts.join(" + ")
}

/// By field of a turn's state: the offset of the array of that field of all streams, in the state of the code for all of them.
pub(super) fn turn_state(all: &Kernel, turn: &Kernel, globals: &Globals, streams: u32) -> Vec<Option<u64>> {
    let mut places = BTreeMap::new();
    let mut at = 8u64;
    for field in &all.state {
        let Some((size, align)) = size_align(&field.ty, globals) else { break };
        at = at.next_multiple_of(align);
        places.insert(field.name.as_str(), (at, size));
        at += size;
    }
    let of = |f: &StateField| {
        let (size, _) = size_align(&f.ty, globals)?;
        places.get(f.name.as_str()).filter(|(_, all)| *all == size * u64::from(streams)).map(|(at, _)| *at)
    };
    turn.state.iter().map(of).collect()
}

/// Can a code's streams be told apart in its state?
pub fn has_turn_states(all: &Kernel, turn: &Kernel, globals: &Globals, streams: u32) -> bool {
    turn_state(all, turn, globals, streams).iter().all(Option::is_some)
}
