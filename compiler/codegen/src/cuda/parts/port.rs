//! How C++ gets at the items of a firing at an end of a channel.

use super::super::layout::Ring;
use super::super::program::Making;
use super::{Port, product};
use crate::c::types::c_type;

impl Port<'_> {
    /// Do its firings begin in rows, each at the same place?
    pub(super) fn by_rows(&self, ring: &Ring) -> bool {
        self.moved > 0 && self.moved.is_multiple_of(ring.rate)
    }

    pub(super) fn type_name(&self, making: &Making<'_>) -> String {
        c_type(&making.input.host.graph.channel(self.channel).ty)
    }

    /// The items of the f-th firing of a round.
    pub(super) fn access(&self, making: &Making<'_>, alone: bool) -> String {
        let Some(ring) = self.ring else { return "sl_nothing()".into() };
        let (i, writes, rate, ty) = (self.number, self.writes, ring.rate, self.type_name(making));
        if self.tile.is_some() && !alone {
            return format!("sl_window<{ty}, {writes}>{{tile{i}, {}}}", product("f", self.moved));
        }
        if self.by_rows(ring) {
            let (column, rows) = (self.offset % rate, self.moved / rate);
            let times = if rows == 1 { String::new() } else { format!(" * {rows}u") };
            return format!(
                "sl_row<{ty}, {rate}u, {column}u, {writes}>{{ring{i}, sl_wrap(start{i} + f{times}, ring{i}.rows)}}"
            );
        }
        format!(
            "sl_end<{ty}, {rate}u, {writes}>{{ring{i}, sl_wrap(start{i} + {}, ring{i}.capacity())}}",
            product("f", self.moved)
        )
    }
}
