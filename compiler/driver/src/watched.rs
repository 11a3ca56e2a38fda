//! # watched
//!
//! Purpose: a run that is traced or counted, as the command line asks. Input: the program and the options. Output: the run's own end, and
//! when it is over the trace's last line and the statistics. Without either option a run is not touched.

use crate::exit::Fault;
use crate::interpreted;
use crate::io::host::{End, Host};
use crate::io::place;
use crate::io::sink::SharedOut;
use crate::native::{Native, NativeEnd};
use crate::natives::foreign::Foreign;
use crate::options::RunOptions;
use crate::pipeline::Checked;
use crate::runtime::RunEnd;
use crate::stats::watch::{Counter, HostTime};
use crate::stats::{self, Counted, Ending, Stats};
use crate::trace::Trace;
use sluice_codegen::c::fills::Fills;
use sluice_frontend::graph::Endpoint;
use sluice_frontend::ids::NodeId;
use sluice_interpret::Options;
use sluice_interpret::observe::{Delivered, Fired, Observer, Outcome};

/// Files of a run that would overwrite each other.
pub fn check_outputs(writers: &[End], options: &RunOptions) -> Result<(), Fault> {
    let mut taken: Vec<&str> = (writers.iter())
        .map(|w| match &w.endpoint {
            Endpoint::File(path) => path.as_str(),
            Endpoint::Open => options.bindings.output.as_deref().unwrap_or("-"),
        })
        .collect();
    let trace = options.trace.as_ref().and_then(|t| t.output.as_deref());
    let stats = options.stats.as_ref().and_then(|s| s.output.as_deref());
    for (path, what) in [(trace, "--trace-output"), (stats, "--stats-output")] {
        let Some(path) = path else { continue };
        if path == "-" {
            continue;
        }
        taken.push(path);
        if place::clash(taken.iter().copied()).is_some() {
            return Err(Fault::usage(format!("{what} would write {path}, and so would another output of this run")));
        }
    }
    Ok(())
}

/// What is done besides running.
pub struct Watched<'a> {
    checked: &'a Checked,
    trace: Option<Trace<'a>>,
    stats: Option<Stats>,
    counted: Option<Counted>,
}

/// The trace and the counter, where there are such.
struct Both<'t, 'a> {
    trace: Option<&'t mut Trace<'a>>,
    counter: Option<Counter<'t>>,
}

impl Observer for Both<'_, '_> {
    fn wants(&mut self, node: NodeId, firing: u64) -> bool {
        self.trace.as_mut().is_some_and(|t| t.wants(node, firing))
    }

    fn wants_fields(&self) -> bool {
        self.trace.as_ref().is_some_and(|t| t.wants_fields())
    }

    fn initialised(&mut self, node: NodeId, printed: &str) {
        if let Some(t) = &mut self.trace {
            t.initialised(node, printed);
        }
    }

    fn begins(&mut self, node: NodeId) {
        if let Some(c) = &mut self.counter {
            c.begins(node);
        }
    }

    fn delivered(&mut self, message: &Delivered, outcome: Outcome<'_>) {
        if let Some(t) = &mut self.trace {
            t.delivered(message, outcome);
        }
    }

    fn fired(&mut self, firing: &Fired, outcome: Outcome<'_>) {
        if let Some(t) = &mut self.trace {
            t.fired(firing, outcome);
        }
    }

    fn ends(&mut self, node: NodeId, moved: Option<(u64, u64)>, fill: &[u64]) {
        if let Some(c) = &mut self.counter {
            c.ends(node, moved, fill);
        }
    }

    fn abandoned(&mut self, node: NodeId) {
        if let Some(c) = &mut self.counter {
            c.abandoned(node);
        }
    }

    fn finished(&mut self, steady_states: u64) {
        if let Some(t) = &mut self.trace {
            t.finished(steady_states);
        }
        if let Some(c) = &mut self.counter {
            c.finished(steady_states);
        }
    }
}

impl<'a> Watched<'a> {
    /// Opens what is asked for.
    pub fn open(
        checked: &'a Checked,
        options: &RunOptions,
        out: &SharedOut,
        host: &mut Host,
    ) -> Result<Watched<'a>, Fault> {
        let trace =
            options.trace.as_ref().map(|t| Trace::open(&checked.program, &checked.sources, t, out)).transpose()?;
        let stats = options.stats.as_ref().map(|s| Stats::open(s, out)).transpose()?;
        if trace.as_ref().is_some_and(Trace::is_on_standard_error) {
            host.quiet();
        }
        Ok(Watched { checked, trace, stats, counted: None })
    }

    /// Interprets.
    pub fn interpret(
        &mut self,
        readers: &[End],
        options: Options,
        host: &mut Host,
        natives: &mut Foreign,
    ) -> Result<(), RunEnd> {
        let program = &self.checked.program;
        if self.trace.is_none() && self.stats.is_none() {
            return interpreted::run(program, readers, options, host, natives);
        }
        let clock = HostTime::default();
        let counter = self.stats.as_ref().map(|_| Counter::new(program, &clock));
        let timed = counter.as_ref().map(|_| &clock);
        let mut both = Both { trace: self.trace.as_mut(), counter };
        let end = interpreted::watch(program, readers, options, (host, natives), Some(&mut both), timed);
        self.counted = both.counter.map(Counter::counted);
        end
    }

    /// Runs native code, which counts where `fills` are given.
    pub fn run(
        &mut self,
        native: &Native,
        (readers, writers): (&[End], &[End]),
        iterations: Option<u64>,
        host: &mut Host,
        fills: Option<&Fills>,
    ) -> Result<(), NativeEnd> {
        let mut raw = None;
        let end = native.run_counting(readers, writers, iterations, host, &mut raw);
        if self.stats.is_some() {
            self.counted = raw.map(|raw| stats::of_native(&self.checked.program, raw, fills));
        }
        end
    }

    /// The run is over: writes what is left to write.
    pub fn close(self, ending: Ending) -> Result<(), Fault> {
        let traced = self.trace.map_or(Ok(()), Trace::close);
        let Checked { program, sources } = self.checked;
        let counted = match (self.stats, &self.counted) {
            (Some(stats), Some(counted)) => stats.show(program, sources, counted, ending),
            _ => Ok(()),
        };
        traced.and(counted)
    }
}
