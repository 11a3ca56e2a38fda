//! What was planned, and what was done, as text for `--threads-report`.

use super::crew::{Ended, Part, Worker};
use super::plan::Plan;
use std::fmt::Write;
use std::time::Duration;

/// What a crew has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By stage: its threads, and the time they spent in batches.
    pub busy: Vec<(usize, Duration)>,
    /// Batches that all stages have completed.
    pub batches: u64,
    /// How often the crew was called.
    pub phases: u64,
    /// A batch with a fault was undone.
    pub undone: bool,
    /// Why one thread did everything after all.
    pub alone: Option<String>,
}

impl Tally {
    /// Nothing done yet, by stages with so many threads.
    pub fn of(replicas: impl Iterator<Item = usize>) -> Tally {
        Tally { busy: replicas.map(|n| (n, Duration::ZERO)).collect(), ..Tally::default() }
    }

    /// Adds a phase.
    pub fn add<P: Part>(&mut self, workers: &[Worker<P>], ended: Ended) {
        self.phases += 1;
        self.batches += match ended {
            Ended::Complete(n) | Ended::Fault(n) => n,
            Ended::Stopped | Ended::NoThreads => 0,
        };
        for w in workers {
            if let Some((_, busy)) = self.busy.get_mut(w.stage) {
                *busy += w.busy;
            }
        }
    }
}

/// The report.
pub fn report(plan: &Plan, tally: Option<&Tally>) -> String {
    let mut out = String::new();
    let s = |n: usize| if n == 1 { "" } else { "s" };
    if let Some(why) = &plan.alone {
        let _ = writeln!(out, "threads: one of {}, because {why}", plan.asked);
        return out;
    }
    let (threads, total) = (plan.threads.len(), plan.total.max(1));
    let _ = writeln!(
        out,
        "threads: {threads} of {}, batches of at most {} steady state{}, at best {:.2} times as fast as one",
        plan.asked,
        plan.batch,
        s(usize::try_from(plan.batch).unwrap_or(2)),
        plan.gain
    );
    if let Some(date) = &plan.measured {
        let _ = writeln!(out, "costs: measured, profile of {date}");
    }
    if plan.bound > plan.gain * 1.01 {
        let _ = writeln!(out, "  no partition can be more than {:.2} times as fast", plan.bound);
    }
    let spent: f64 = tally.map_or(0.0, |t| t.busy.iter().map(|b| b.1.as_secs_f64()).sum());
    for (i, stage) in plan.stages.iter().enumerate() {
        let _ = write!(
            out,
            "  stage {i}: thread{} {}, {} node{}, {:.1} % of the work",
            s(stage.replicas),
            sitting(plan, i),
            stage.nodes.len(),
            s(stage.nodes.len()),
            100.0 * stage.cycles as f64 / total as f64
        );
        if let Some((_, busy)) = tally.and_then(|t| t.busy.get(i)).filter(|_| spent > 0.0) {
            let _ = write!(out, " ({:.1} % of the time)", 100.0 * busy.as_secs_f64() / spent);
        }
        let _ = writeln!(out, ": {}", names(&stage.nodes));
    }
    for (from, to, bytes) in &plan.crossings {
        let _ = writeln!(out, "  {from} → {to}: {bytes} bytes for a steady state");
    }
    if let Some(t) = tally {
        let _ = writeln!(
            out,
            "  run: {} batch{} in {} phase{}",
            t.batches,
            if t.batches == 1 { "" } else { "es" },
            t.phases,
            s(usize::try_from(t.phases).unwrap_or(2))
        );
        if t.phases == 0 && t.alone.is_none() {
            out.push_str(
                "  one thread did everything: there was too little to do, or the order of what comes out can be seen\n",
            );
        }
        if t.undone {
            out.push_str("  a batch with a fault was undone and run again on one thread\n");
        }
        if let Some(why) = &t.alone {
            let _ = writeln!(out, "  one thread did everything: {why}");
        }
    }
    out
}

/// The threads that run a stage.
fn sitting(plan: &Plan, stage: usize) -> String {
    let runs = |t: &&Vec<(usize, usize)>| t.iter().filter(|d| d.0 == stage).count();
    let all = plan.threads.iter().enumerate().flat_map(|(i, t)| std::iter::repeat_n(i.to_string(), runs(&t)));
    all.collect::<Vec<_>>().join(", ")
}

/// The first names, and how many more there are.
fn names(nodes: &[String]) -> String {
    const SHOWN: usize = 6;
    let mut text = nodes.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if nodes.len() > SHOWN {
        let _ = write!(text, " and {} more", nodes.len() - SHOWN);
    }
    text
}
