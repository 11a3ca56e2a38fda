//! `sluice schedule --pareto`: what throughput costs in channel memory and latency.
//!
//! Points: the program cut more and less finely, on one processor up to all, by every heuristic. Those that another one beats in all
//! three respects are left out.

use super::costs::{self, Costs};
use super::report::grouped;
use super::{Format, ScheduleOptions, entry, target};
use crate::document::{columns, json};
use crate::exit::Fault;
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use serde::Serialize;
use sluice_schedule::machine::Machine;
use sluice_schedule::method::{self, Method, Settings};
use sluice_schedule::plan::{Grain, Program, plan};

/// A schedule that no other one beats in all respects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    processors: u32,
    /// Instances for each processor that were aimed at; 0 where each firing is one.
    per_processor: u64,
    method: &'static str,
    ii: u64,
    stages: u32,
    /// Steady states per second by the machine's clock.
    steady_states_per_second: f64,
    /// Microseconds from the start of an iteration to its end.
    latency_us: f64,
    channel_bytes: u64,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    machine: String,
    costs: &'static str,
    points: Vec<Point>,
}

/// Instances per processor that are tried.
const GRAINS: [u64; 5] = [0, 1, 4, 8, 16];
const METHODS: [Method; 4] = [Method::MinLatency, Method::Flat, Method::Ims, Method::Hms];

/// Finds the points and shows them, the fastest first.
pub fn pareto(session: &mut Session, checked: &Checked, options: &ScheduleOptions) -> Result<String, Halt> {
    let machine = target::machine(options.machine.as_deref().unwrap_or(target::DEFAULT))?;
    let costs = costs::costs(session, checked, options, &machine)?;
    let points = points(session, checked, options, &machine, &costs)?;
    let origin = costs.origin;
    Ok(match options.format {
        Format::Json => {
            json(&Document { schema: "sluice-pareto-1", machine: machine.name, costs: origin.name(), points })
        }
        Format::Text => text(&points) + &format!("costs: {}\n", origin.text()),
        Format::Svg => svg(&points, &format!("{} on {}", entry(checked), machine.name)),
    })
}

/// The points that no other beats, the fastest first.
fn points(
    session: &mut Session,
    checked: &Checked,
    options: &ScheduleOptions,
    machine: &Machine,
    Costs { times, item_bytes, .. }: &Costs,
) -> Result<Vec<Point>, Halt> {
    let (graph, steady) = (&checked.program.graph, &checked.program.steady);
    let program = Program { graph, steady, times, item_bytes };
    let most = options.processors.unwrap_or(machine.processors).max(1);
    let mut processors = vec![most];
    while processors.last().is_some_and(|p| *p > 1) {
        processors.push(processors.last().map_or(1, |p| p / 2).max(1));
    }
    let mut all: Vec<Point> = Vec::new();
    for p in processors {
        for grain in GRAINS {
            let cut = if grain == 0 { Grain::Firing } else { Grain::PerProcessor(grain) };
            let Ok(plan) = session.pass("plan", || plan(program, machine, p, cut)) else { continue };
            for m in METHODS {
                let outcome = session.pass(m.name(), || method::solve(&plan, m, &Settings::default(), &|| 0.0));
                let Ok(outcome) = outcome else { continue };
                let schedule = outcome.verified.schedule();
                let cycles = schedule.ii.saturating_add(machine.launch_cycles) as f64;
                let stages = schedule.stages();
                all.push(Point {
                    processors: p,
                    per_processor: grain,
                    method: m.name(),
                    ii: schedule.ii,
                    stages,
                    steady_states_per_second: plan.problem.graph().batch as f64 * machine.clock_mhz * 1e6 / cycles,
                    latency_us: cycles * f64::from(stages) / machine.clock_mhz,
                    channel_bytes: outcome.bytes,
                });
            }
        }
    }
    if all.is_empty() {
        return Err(Fault::program("the program is too large to be scheduled in any of these ways").into());
    }
    Ok(front(all))
}

/// Those that no other one beats; the fastest first.
fn front(mut all: Vec<Point>) -> Vec<Point> {
    all.sort_by(|a, b| {
        let by = b.steady_states_per_second.total_cmp(&a.steady_states_per_second);
        by.then(a.channel_bytes.cmp(&b.channel_bytes)).then(a.latency_us.total_cmp(&b.latency_us))
    });
    let mut kept: Vec<Point> = Vec::new();
    for p in all {
        // What is before p is at least as fast.
        if !kept.iter().any(|k| k.channel_bytes <= p.channel_bytes && k.latency_us <= p.latency_us) {
            kept.push(p);
        }
    }
    kept
}

fn svg(points: &[Point], title: &str) -> String {
    let dot = |p: &Point| sluice_picture::pareto_svg::Point {
        throughput: p.steady_states_per_second,
        bytes: p.channel_bytes as f64,
        latency: p.latency_us,
        label: format!(
            "{} processors, {}: {:.3e} steady states per second, {:.1} µs, {} bytes",
            p.processors,
            p.method,
            p.steady_states_per_second,
            p.latency_us,
            grouped(p.channel_bytes)
        ),
    };
    sluice_picture::pareto_svg::svg(&points.iter().map(dot).collect::<Vec<_>>(), title)
}

fn text(points: &[Point]) -> String {
    let head = ["", "processors", "cut", "method", "II", "stages", "states/s", "latency µs", "channel bytes"];
    let mut rows = vec![head.map(String::from)];
    for (i, p) in points.iter().enumerate() {
        rows.push([
            (i + 1).to_string(),
            p.processors.to_string(),
            if p.per_processor == 0 { "firings".into() } else { p.per_processor.to_string() },
            p.method.to_string(),
            grouped(p.ii),
            p.stages.to_string(),
            format!("{:.3e}", p.steady_states_per_second),
            format!("{:.1}", p.latency_us),
            grouped(p.channel_bytes),
        ]);
    }
    columns(&rows, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beaten_is_left_out() {
        let point = |speed: f64, bytes: u64, latency: f64| Point {
            processors: 1,
            per_processor: 1,
            method: "flat",
            ii: 1,
            stages: 1,
            steady_states_per_second: speed,
            latency_us: latency,
            channel_bytes: bytes,
        };
        let (fast, small, quick) = (point(9.0, 90, 9.0), point(1.0, 10, 9.0), point(1.0, 90, 1.0));
        let all = vec![point(1.0, 90, 9.0), small.clone(), quick.clone(), point(8.0, 91, 9.0), fast.clone()];
        assert_eq!(front(all), [fast, small, quick]);
    }
}
