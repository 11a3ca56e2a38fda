//! Filters that do one of each of several streams: threads have a stream each, with its state.

use super::super::turns::{start, turn_state};
use super::{Body, Part, Port};
use crate::c::types::{c_type, field_name};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::slow::in_turn::{InTurn, Lay};
use std::fmt::Write;

impl Part<'_, '_> {
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
        let (rest, from, step) = self.side_by_side(alone);
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
