//! The innermost loops of the filters as the model of a simple processor sees them ([`sluice_kernel::loops`]): `sluice schedule --loops`.

use super::Format;
use crate::document::{columns, json};
use crate::exit::Fault;
use crate::options::{CodeOptions, Inner};
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use serde::Serialize;
use sluice_grammar::span::SourceMap;
use sluice_kernel::ir::Kernel;
use sluice_kernel::loops::figures::figures;
use sluice_kernel::loops::machine::Core;

/// The document of docs/json.md.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    machine: Machine,
    loops: Vec<Loop>,
}

#[derive(Serialize)]
struct Machine {
    issue: u32,
    simple: u64,
    memory: u64,
    divide: u64,
    library: u64,
}

#[derive(Serialize)]
struct Loop {
    filter: String,
    file: String,
    line: usize,
    column: usize,
    trips: Option<u64>,
    unroll: Option<u64>,
    instructions: Option<usize>,
    alone: Option<u64>,
    ahead: Option<u64>,
    modulo: Option<u64>,
    res_mii: Option<u64>,
    rec_mii: Option<u64>,
    unmodelled: Option<&'static str>,
}

/// The table, or the document.
pub fn loops(session: &mut Session, checked: &Checked, format: Format) -> Result<String, Halt> {
    let kernels = crate::kernels::kernels(session, checked, &CodeOptions::default())?;
    let core = Core::PAPER;
    let all: Vec<Loop> =
        session.pass("loops", || kernels.iter().flat_map(|k| of_kernel(k, &checked.sources, &core)).collect());
    match format {
        Format::Text => Ok(text(&all, &core)),
        Format::Json => {
            let Core { issue, simple, memory, divide, function: library } = core;
            let machine = Machine { issue, simple, memory, divide, library };
            Ok(json(&Document { schema: "sluice-loops-1", machine, loops: all }))
        }
        Format::Svg => Err(Fault::usage("loops have no chart").help("--loops with --format text or json").into()),
    }
}

fn of_kernel(kernel: &Kernel, sources: &SourceMap, core: &Core) -> Vec<Loop> {
    let found = figures(kernel, Inner::Auto.rule(), core);
    let of = |f: sluice_kernel::loops::figures::Figures| {
        let at = sources.line_col(f.span.file, f.span.start);
        let c = f.cycles.ok();
        Loop {
            filter: kernel.display.clone(),
            file: sources.file(f.span.file).name.clone(),
            line: at.line as usize,
            column: at.column as usize,
            trips: f.trips,
            unroll: f.unroll,
            instructions: c.map(|c| c.instructions),
            alone: c.map(|c| c.alone),
            ahead: c.and_then(|c| c.ahead),
            modulo: c.and_then(|c| c.modulo),
            res_mii: c.map(|c| c.bounds.res_mii),
            rec_mii: c.map(|c| c.bounds.rec_mii),
            unmodelled: f.cycles.err(),
        }
    };
    found.into_iter().map(of).collect()
}

fn text(all: &[Loop], core: &Core) -> String {
    if all.is_empty() {
        return "the program's filters have no counted loops\n".into();
    }
    const HEAD: [&str; 10] =
        ["filter", "place", "turns", "unroll", "instr.", "alone", "ahead", "modulo", "bound", "by"];
    let mut rows = vec![HEAD.map(String::from)];
    let number = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
    for l in all {
        let bound = l.res_mii.max(l.rec_mii);
        let by = match l.unmodelled {
            Some(why) => format!("not looked at: {why}"),
            None if l.rec_mii > l.res_mii => "a recurrence".into(),
            None => "issue".into(),
        };
        rows.push([
            l.filter.clone(),
            format!("{}:{}", l.file, l.line),
            number(l.trips),
            number(l.unroll),
            number(l.instructions.map(|n| n as u64)),
            number(l.alone),
            number(l.ahead),
            number(l.modulo),
            number(bound),
            by,
        ]);
    }
    let mut out = columns(&rows, &[0, 1, 9]);
    let s = if core.issue == 1 { "" } else { "s" };
    out.push_str(&format!(
        "\ncycles of a turn on a processor that issues {} instruction{s} a cycle (arithmetic {}, memory {}): alone, with the loads of the next turn\n\
         ahead, and by modulo scheduling; so many turns as `unroll` says are written out as one with --inner=auto\n",
        core.issue, core.simple, core.memory
    ));
    out
}
