//! Filters that do one of each of several streams: threads have a stream each, with its state.

use super::super::options::Scheme;
use super::super::turns::{start, turn_state};
use super::{Body, Part, Port};
use crate::c::types::{c_type, field_name};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::slow::in_turn::{InTurn, Lay};
use std::fmt::Write;

impl Part<'_, '_> {
    /// How many blocks share the streams of a filter with state. Where it is a kernel of its own, and no block brings or sends the items of another one's streams, these are as many
    /// as give each stream a thread: streams have nothing to do with each other, and one block is one multiprocessor.
    pub(super) fn share_streams(&self) -> u64 {
        let making = self.making;
        let NodeKind::Filter { stateful: true, .. } = &making.input.host.graph.node(self.v).kind else { return 1 };
        let own = making.input.options.scheme == Scheme::Serial || making.input.options.scheme.is_fused();
        let staged = self.inputs.iter().chain(&self.outputs).any(|p| p.tile.is_some());
        match making.turns_of(self.v) {
            Some(turns) if own && !staged && !self.some_rest && !making.whole(self.v) => {
                u64::from(turns.streams()).div_ceil(making.block_threads(self.v).into()).max(1)
            }
            _ => 1,
        }
    }

    /// The firings of a filter that does one of each of several streams, whose kernel is that of one: threads have a stream each, with its state.
    pub(super) fn in_turn(&mut self, k: usize, turns: &InTurn, alone: bool) {
        let making = self.making;
        let host = making.input.host;
        let (kernel, all) = (&making.input.kernels[k], turns.streams());
        let stateful = matches!(host.graph.node(self.v).kind, NodeKind::Filter { stateful: true, .. });
        let end = |ports: &[Port<'_>], lay: &Lay| {
            ports.first().map_or_else(
                || "sl_nothing()".into(),
                |p| {
                    let inner = p.access(making, alone);
                    let of = inner.split('{').next().unwrap_or("");
                    format!(
                        "sl_turn<{of}, {}u, {}u, {}u>{{{inner}, {}}}",
                        lay.block,
                        lay.round,
                        lay.step,
                        start(turns, lay)
                    )
                },
            )
        };
        let fire = format!(
            "sl_fire_{k}(&ctx, &st, {}, {});",
            end(&self.inputs, &turns.input),
            end(&self.outputs, &turns.output)
        );
        let head = "    sl_ctx ctx = sl_context(job, node);\n    const int64_t fired = node.init + job.epoch * node.repetitions;\n";
        let (mut load, mut store) = (String::new(), String::new());
        if stateful {
            let places = turn_state(&host.kernels[k], kernel, host.globals, all);
            for (i, field) in kernel.state.iter().enumerate() {
                let Some(at) = places.get(i).copied().flatten() else { continue };
                let (ty, name) = (c_type(&field.ty), field_name(i, &field.name));
                let place = format!("({ty} *)(job.arena + node.state + {at}) + s");
                let _ = writeln!(load, "    st.{name} = sl_item<false>({place});");
                let _ = writeln!(store, "    sl_item<true>({place}) = st.{name};");
            }
        }
        let (rest, mut from, mut step) = self.side_by_side(alone);
        if self.blocks > 1 && !alone {
            (from, step) = ("sl_block() * sl_threads() + sl_thread()", "sl_blocks() * sl_threads()".into());
        }
        let body = match stateful {
            true => format!(
                "{rest}for (uint32_t s = {from}; s < {all}u; s += {step}) {{\n    sl_state_{k} st;\n    sl_init_{k}(&st);\n{load}    \
                 for (uint32_t f = 0; f < @some@; f++) {{\n        const uint32_t n = @base@ + f;\n        ctx.firing = st.iter = fired + n;\n        {fire}\n        \
                 if (SL_UNLIKELY(ctx.failed)) break;\n    }}\n{store}}}\n"
            ),
            false => format!(
                "{rest}for (uint32_t u = {from}; u < @some@ * {all}u; u += {step}) {{\n    const uint32_t f = u / {all}u, s = u % {all}u, n = @base@ + f;\n    sl_state_{k} st;\n    \
                 sl_init_{k}(&st);\n    ctx.firing = st.iter = fired + n;\n    {fire}\n    if (SL_UNLIKELY(ctx.failed)) break;\n}}\n"
            ),
        };
        self.rounds(alone, head, &Body::Own(body), "");
    }
}
