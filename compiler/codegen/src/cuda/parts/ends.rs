//! Readers and writers: items from or to the host, in the order of their numbers there.

use super::Part;
use std::fmt::Write;

impl Part<'_, '_> {
    /// A reader's or writer's firings: items from or to the host.
    pub(super) fn end(&mut self, alone: bool) {
        let reader = self.inputs.is_empty();
        let port = if reader { self.outputs[0] } else { self.inputs[0] };
        let (i, ty) = (port.number, port.type_name(self.making));
        let side = if reader { "in" } else { "out" };
        let _ = writeln!(self.out, "    {ty} *const items = ({ty} *)job.{side}[node.number] + first;");
        let offset = if reader && port.offset > 0 { format!("{}u + ", port.offset) } else { String::new() };
        if port.tile.is_some() && !alone {
            let chunk = self.chunk;
            let _ = writeln!(
                self.out,
                "    const sl_tile<{ty}> tile = {{({ty} *)sl_shared()}};\n    \
                 for (uint32_t done = 0; done < count; done += {chunk}u) {{\n        \
                 const uint32_t some = count - done < {chunk}u ? count - done : {chunk}u;"
            );
            let (a, b) = match reader {
                true => (
                    "sl_fill_tile(tile, items + done, some);".to_string(),
                    format!("sl_send(tile, ring{i}, {offset}first + done, some);"),
                ),
                false => (
                    format!("sl_bring(tile, ring{i}, first + done, some);"),
                    "sl_empty_tile(tile, items + done, some);".to_string(),
                ),
            };
            let _ = writeln!(self.out, "        {a}\n        sl_sync();\n        {b}\n        sl_sync();\n    }}");
            return;
        }
        if alone {
            let inside = format!("ring{i}.items + ring{i}.at({offset}first + f)");
            let (from, to) = if reader { ("items + f", inside.as_str()) } else { (inside.as_str(), "items + f") };
            let _ = writeln!(
                self.out,
                "    for (uint32_t f = 0; f < count; f++) sl_item<true>({to}) = sl_item<false>({from});"
            );
            return;
        }
        let (rest, start, step) = self.side_by_side(alone);
        let team = if self.some_rest { format!("sl_team{{{start}, {step}}}") } else { "sl_everyone()".into() };
        let passes = if reader { "sl_take" } else { "sl_give" };
        let _ = writeln!(self.out, "    {rest}{passes}({team}, ring{i}, {offset}first, items, count);");
    }
}
