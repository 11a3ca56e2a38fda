//! The lines above the entry: run it, show its graph and its schedule, its initiation interval.

use super::diagnostics::uri_of;
use super::facts::{declared, interval, streams};
use crate::world::view::View;
use serde_json::json;
use sluice_frontend::ids::HierId;
use tower_lsp::lsp_types::{CodeLens, Command};

/// No header is shorter, or has a line end or an accent before: at least there is `filter`.
const SHORTEST: u32 = 4;

/// The lenses of the file. Their commands are the client's.
pub fn lenses(view: &View) -> Vec<CodeLens> {
    let Some(known) = view.good.as_ref().filter(|_| view.settings.lenses) else { return Vec::new() };
    let Some(uri) = uri_of(view, view.file) else { return Vec::new() };
    let mut all = Vec::new();
    for s in streams(view.tree()) {
        if s.name.is_none() || !declared(known, s.header.0).contains(&HierId(0)) {
            continue;
        }
        // one behind the other: there are editors that sort them by their beginning, in no order where it is the same
        let head = s.header.0.start;
        let mut next = head;
        let mut lens = |title: String, command: &str| {
            let arguments = Some(vec![json!(uri)]);
            let range = view.text().range(view.span(next, head + SHORTEST));
            next += 1;
            all.push(CodeLens {
                range,
                command: Some(Command { title, command: command.into(), arguments }),
                data: None,
            });
        };
        lens("▶ Run".into(), "sluice.run");
        lens("Graph".into(), "sluice.showGraph");
        lens("Schedule".into(), "sluice.showSchedule");
        lens(interval(view).unwrap_or_else(|| "II …".into()), "sluice.showInterval");
    }
    all
}
