//! Why the initiation interval is no shorter: what binds, where it is in the text, and what would help.

use serde::Serialize;
use sluice_frontend::Elaborated;
use sluice_frontend::ids::NodeId;
use sluice_grammar::span::SourceMap;
use sluice_schedule::analysis::bounds::{Bounds, Reason};
use sluice_schedule::machine::Kind;
use sluice_schedule::plan::Plan;
use sluice_schedule::problem::build::is_loop;
use sluice_schedule::wording::count;

/// What binds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bottleneck {
    /// `work`, `instance`, `state`, `cycle`, `processor` or `packing`.
    pub kind: &'static str,
    /// The stream that is most to blame; empty where it is nobody in particular.
    pub stream: String,
    /// Where that stream was added.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What binds, in a sentence.
    pub text: String,
    /// What would lower the bound.
    pub help: String,
}

/// Streams that are named, at most.
const NAMED: usize = 4;

/// Says what makes the lower bound as large as it is: that of the plan, or a larger one that a method has proven.
///
/// Streams that take turns are advised on a GPU only, where they have a thread each. On other processors one firing does them one after the other: N streams take N times as long.
pub fn why(plan: &Plan, kind: Kind, lower: u64, program: &Elaborated, sources: &SourceMap) -> Bottleneck {
    let at_once = kind == Kind::Gpu;
    let (problem, bounds) = (&plan.problem, &plan.bounds);
    let tasks = &problem.graph().tasks;
    let share = |cycles: u64| percent(cycles, problem.graph().work());
    let at = |node: NodeId, kind, text: String, help: &str| {
        let node = program.graph.node(node);
        let place = sources.line_col(node.span.file, node.span.start);
        let file = sources.file(node.span.file).name.clone();
        Bottleneck { kind, stream: node.path.clone(), file, line: place.line, text, help: help.to_string() }
    };
    let names = |instances: &[usize]| {
        let mut all: Vec<&str> = Vec::new();
        for i in instances {
            let name = tasks[problem.task_of(*i)].name.as_str();
            if !all.contains(&name) {
                all.push(name);
            }
        }
        let more = all.len().saturating_sub(NAMED);
        all.truncate(NAMED);
        if more > 0 { format!("{} and {more} more", all.join(", ")) } else { all.join(", ") }
    };
    // Do these instances wait for each other's items alone, not for messages?
    let items = |instances: &[usize]| {
        let mut nodes: Vec<NodeId> =
            instances.iter().flat_map(|i| tasks[problem.task_of(*i)].nodes.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        is_loop(&program.graph, &nodes)
    };
    let stateless = if at_once { STATELESS_OR_STREAMS } else { STATELESS };
    let longest = || (0..tasks.len()).max_by_key(|t| (tasks[*t].cost, std::cmp::Reverse(*t))).unwrap_or(0);
    if lower > bounds.lower {
        // The plan's own reason is one for less.
        let text = format!(
            "instances cannot be cut, and no way to lay them out on the processors has an interval below {lower} (proven by searching)"
        );
        return at(tasks[longest()].nodes[0], "packing", text, FINER);
    }
    match &bounds.reason {
        Reason::Work => {
            let mut heavy: Vec<usize> = (0..tasks.len()).collect();
            let work = |t: &usize| tasks[*t].cost.saturating_mul(tasks[*t].instances);
            heavy.sort_by_key(|t| (std::cmp::Reverse(work(t)), *t));
            let list: Vec<String> =
                heavy.iter().take(NAMED).map(|t| format!("{} {}", tasks[*t].name, share(work(t)))).collect();
            let text = format!("all processors are busy all the time; most of the work: {}", list.join(", "));
            at(tasks[heavy[0]].nodes[0], "work", text, "fewer operations in these filters, or more processors")
        }
        Reason::Instance(task) => {
            let t = &tasks[*task];
            if t.nodes.len() > 1 {
                let n = t.nodes.len();
                let (what, longer) = match is_loop(&program.graph, &t.nodes) {
                    true => (format!("a feedback loop of {n} nodes runs"), "delay in the loop"),
                    false => (format!("{n} nodes that wait for each other (messages) run"), "latency of the messages"),
                };
                let text = format!("{what} on one processor, one firing after the other");
                let streams = if at_once { "; independent streams (--streams) share the wait" } else { "" };
                let help = format!("a longer {longer} lets more of these firings run at once{streams}");
                return at(t.nodes[0], "cycle", text, &help);
            }
            if t.serial {
                return at(t.nodes[0], "state", state(&t.name, share(t.cost), bounds), stateless);
            }
            let firings = count(t.firings[0], "firing", "firings");
            let text = format!("one instance of {} ({firings}) takes {} cycles", t.name, t.cost);
            at(t.nodes[0], "instance", text, "cut the program finer (--per-processor), or split the filter's work")
        }
        Reason::Cycle(cycle) => {
            let t = &tasks[problem.task_of(cycle[0])];
            if cycle.iter().all(|i| problem.task_of(*i) == problem.task_of(cycle[0])) && t.serial {
                return at(
                    t.nodes[0],
                    "state",
                    state(&t.name, share(t.cost.saturating_mul(t.instances)), bounds),
                    stateless,
                );
            }
            let delay = bounds.critical.as_ref().map_or(1, |(ratio, _)| ratio.distance);
            let delay = count(delay, "iteration", "iterations");
            let (what, longer) = match items(cycle) {
                true => ("a loop has to go round", "more delay in the loop (enqueue)"),
                false => ("these wait for each other (messages), all round", "a longer latency of the messages"),
            };
            let help = match at_once {
                true => format!("{longer}, fewer operations on it, or C-slow (--streams)"),
                false => format!("{longer}, or fewer operations on it"),
            };
            at(t.nodes[0], "cycle", format!("{what} once in {delay}: {}", names(cycle)), &help)
        }
        Reason::Group(group) => {
            let members = &bounds.groups.members[*group];
            let t = &tasks[problem.task_of(members[0])];
            let text = format!(
                "these wait for each other within one iteration, so they share a processor: {}",
                names(members)
            );
            let longer = match items(members) {
                true => "more delay in the loop (enqueue)",
                false => "a longer latency of the messages",
            };
            let streams = if at_once { ", or C-slow (--streams)" } else { "" };
            at(t.nodes[0], "processor", text, &format!("{longer}{streams}"))
        }
        Reason::Packing => {
            let text = "the instances are too large to be spread evenly over the processors".to_string();
            at(tasks[longest()].nodes[0], "packing", text, FINER)
        }
    }
}

const FINER: &str = "cut the program finer (--per-processor)";

const STATELESS: &str = "without state its firings would spread over the processors";
const STATELESS_OR_STREAMS: &str =
    "without state its firings would spread over the processors; independent streams (--streams) would share the wait";

fn state(name: &str, share: String, bounds: &Bounds) -> String {
    let costs = match bounds.lower.saturating_mul(10) / bounds.res_mii.max(1) {
        tenths if tenths > 10 => {
            format!("; the processors alone could have an interval {}.{} times as short", tenths / 10, tenths % 10)
        }
        _ => String::new(),
    };
    format!(
        "{name} keeps state (or prints), so its firings follow one another on one processor: {share} of the work{costs}"
    )
}

/// A part as a percentage with one digit after the point, to the nearest: whatever shows a share asks here, so that it is the same everywhere.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let whole = u128::from(whole.max(1));
    let tenths = (u128::from(part) * 1000 + whole / 2) / whole;
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn shares_are_rounded_to_the_nearest() {
        // 61.55 %, of which a page said 61.6 % and its summary 61.5 %
        assert_eq!(percent(1231, 2000), "61.6 %");
        assert_eq!((percent(1, 3), percent(2, 3)), ("33.3 %".into(), "66.7 %".into()));
        assert_eq!((percent(0, 0), percent(u64::MAX, u64::MAX)), ("0.0 %".into(), "100.0 %".into()));
    }
}
