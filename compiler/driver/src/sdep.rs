//! # sdep
//!
//! Purpose: what `sluice sdep` shows: SDEP(m; from→to), the fewest firings of one node after which another can fire m times.
//! Input: an elaborated program and two names. Output: a table, or the JSON document of docs/json.md.

use crate::exit::Fault;
use serde::Serialize;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::messages::counts::Counts;
use sluice_frontend::messages::sdep::{LONGEST, sdep};

/// Rows of the table, at most.
const ROWS: usize = 64;

/// The document.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    from: String,
    to: String,
    /// SDEP(1), SDEP(2), ... up to where it repeats.
    sdep: Vec<u64>,
    /// The last `period` values repeat, ...
    period: u64,
    /// ... each time greater by `step`.
    step: u64,
}

/// The node of a name: a whole path, the end of one, or a short name that only one node has.
pub(crate) fn node(graph: &SdfGraph, name: &str) -> Result<NodeId, Fault> {
    let ends = |id: &NodeId| {
        let n = graph.node(*id);
        n.name == name || n.path.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
    };
    if let Some(id) = graph.node_ids().find(|id| graph.node(*id).path == name) {
        return Ok(id);
    }
    let found: Vec<NodeId> = graph.node_ids().filter(ends).collect();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let near = sluice_grammar::similar::closest(name, graph.nodes.iter().map(|n| n.name.as_str()));
            let fault = Fault::usage(format!("the program has no stream `{name}`"));
            Err(match near {
                Some(near) => fault.help(format!("is it `{near}`?")),
                None => fault.help("`sluice rates` lists them"),
            })
        }
        _ => {
            let paths: Vec<&str> = found.iter().take(8).map(|id| graph.node(*id).path.as_str()).collect();
            let more = if found.len() > 8 { ", ..." } else { "" };
            Err(Fault::usage(format!("`{name}` could be {} streams: {}{more}", found.len(), paths.join(", ")))
                .help("give the whole path of one"))
        }
    }
}

/// Finds out.
pub fn report(program: &Elaborated, from: &str, to: &str) -> Result<Report, Fault> {
    let graph = &program.graph;
    let (u, v) = (node(graph, from)?, node(graph, to)?);
    let paths = (graph.node(u).path.clone(), graph.node(v).path.clone());
    let counts = sdep(&graph.cut(), &program.steady.repetitions, &[u], v).ok().and_then(|mut c| c.pop());
    let Some(Counts { head, period, step }) = counts else {
        return Err(Fault::program(format!(
            "`{}` never fires in a steady state, or SDEP does not repeat within {LONGEST} firings of it",
            paths.1
        )));
    };
    if u != v && step == 0 && head.iter().all(|n| *n == 0) {
        if program.steady.islands.is_some() {
            return Err(Fault::usage(format!(
                "no items flow from `{}` to `{}` without dynamic rates",
                paths.0, paths.1
            ))
            .help("`sluice rates` shows the islands: within one of them SDEP is known"));
        }
        return Err(Fault::usage(format!("no items flow from `{}` to `{}`", paths.0, paths.1))
            .help(format!("the other way round: sluice sdep ... {} {}", paths.1, paths.0)));
    }
    let sdep = head.into_iter().skip(1).collect();
    Ok(Report { schema: "sluice-sdep-1", from: paths.0, to: paths.1, sdep, period, step })
}

/// A table for people.
pub fn table(r: &Report) -> String {
    let mut text = format!("SDEP(m; {} -> {})\n\n{:>8}  {:>8}\n", r.from, r.to, "m", "SDEP");
    for (i, n) in r.sdep.iter().enumerate().take(ROWS) {
        text.push_str(&format!("{:>8}  {n:>8}\n", i + 1));
    }
    if r.sdep.len() > ROWS {
        text.push_str(&format!("     ...  ({} more rows: --format json has them all)\n", r.sdep.len() - ROWS));
    }
    let first = (r.sdep.len() as u64).saturating_sub(r.period) + 1;
    text.push_str(&format!(
        "\nfrom m = {first} on, {} more firings of {} take {} more of {}\n",
        r.period, r.to, r.step, r.from
    ));
    text
}
