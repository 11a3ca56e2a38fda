//! What firings cost: as the kernel IR says, or as they were measured.
//!
//! A profile that the command line names is used or refused. One in the cache is used for the computer at hand, `--machine cpu`; where it does not fit the
//! program any more, that is said. For a GPU it is used where it is of that GPU: one that was measured, else one that was modelled.

use super::{ScheduleOptions, Weights, target, weights};
use crate::pipeline::{Checked, Halt};
use crate::profile::NONE;
use crate::profile::find::{self, Found};
use crate::profile::gpu::Costs as GpuCosts;
use crate::session::Session;
use serde::Serialize;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::CodeId;
use sluice_schedule::machine::{Kind, Machine};
use sluice_schedule::plan;
use sluice_schedule::problem::granularity::Times;

/// What a problem is made from.
pub struct Costs {
    /// What firings cost.
    pub times: Times,
    /// By channel, bytes of an item.
    pub item_bytes: Vec<u64>,
    /// Where that comes from.
    pub origin: Origin,
}

/// Where costs come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin(Option<Measured>);

/// What reports say of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The file.
    file: String,
    /// When it was taken.
    date: String,
    /// On which processor.
    machine: String,
    /// Firings that were measured.
    firings: u64,
    /// Streams that did not fire then: their costs are those of the kernel IR.
    unmeasured: usize,
    /// Nobody measured: the machine model says it, with the registers and spills of code for this architecture; or the emulated GPU does.
    #[serde(skip)]
    unreal: Option<(GpuCosts, String)>,
}

impl Measured {
    /// Of a profile that fits.
    pub fn of(found: &Found) -> Measured {
        let profile = &found.profile;
        let unreal = profile.gpu.as_ref().filter(|on| on.costs != GpuCosts::Measured);
        Measured {
            file: found.file.clone(),
            date: profile.date.clone(),
            machine: profile.machine.name.clone(),
            firings: profile.firings,
            unmeasured: found.nanoseconds.iter().filter(|ns| ns.is_none()).count(),
            unreal: unreal.map(|on| (on.costs, on.arch.clone().unwrap_or_default())),
        }
    }

    /// `measured`, `emulated` or `modelled`.
    pub fn name(&self) -> &'static str {
        match &self.unreal {
            None => "measured",
            Some((GpuCosts::Emulated, _)) => "emulated",
            Some(_) => "modelled",
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let rest = match self.unmeasured {
            0 => String::new(),
            1 => "; of one stream that did not fire then, from the kernel IR".into(),
            n => format!("; of {n} streams that did not fire then, from the kernel IR"),
        };
        match &self.unreal {
            None => {
                format!("measured, profile of {}, {} firings{rest}", self.date, super::report::grouped(self.firings))
            }
            Some((GpuCosts::Emulated, _)) => format!("of the emulated GPU, profile of {}{rest}", self.date),
            Some((_, arch)) => {
                format!(
                    "modelled, not measured: registers and spills of code for {arch}, profile of {}{rest}",
                    self.date
                )
            }
        }
    }
}

impl Origin {
    /// `measured`, `modelled`, `emulated` or `static`.
    pub fn name(&self) -> &'static str {
        self.0.as_ref().map_or("static", Measured::name)
    }

    /// The profile.
    pub fn profile(&self) -> Option<&Measured> {
        self.0.as_ref()
    }

    /// For people.
    pub fn text(&self) -> String {
        self.0.as_ref().map_or_else(|| "from the kernel IR".into(), Measured::text)
    }
}

/// What the firing of each of the streams that take turns costs a GPU: they have a thread each, in the code that is made for it. `streams` tells how many a filter's code serves so.
pub fn side_by_side(times: &mut Times, graph: &SdfGraph, machine: &Machine, streams: impl Fn(CodeId) -> u32) {
    for (node, alone) in graph.nodes.iter().zip(&mut times.alone) {
        if let NodeKind::Filter { code, .. } = node.kind
            && let at_once @ 2.. = u64::from(streams(code)).min(machine.lanes)
        {
            *alone = (*alone / at_once).max(1);
        }
    }
}

/// What firings of a program cost on a machine.
pub fn costs(
    session: &mut Session,
    checked: &Checked,
    options: &ScheduleOptions,
    machine: &Machine,
) -> Result<Costs, Halt> {
    let Weights { costs, item_bytes } = weights(session, checked)?;
    let mut times = plan::times(machine, &costs);
    if machine.kind == Kind::Gpu {
        let program = &checked.program;
        let streams = |c: CodeId| program.codes[c.index()].turns.as_deref().map_or(1, |t| t.streams());
        side_by_side(&mut times, &program.graph, machine, streams);
    }
    let found = match options.profile.as_deref() {
        Some(NONE) => None,
        Some(file) => Some(find::given(session, checked, file, machine)?),
        None if options.machine.as_deref() == Some(target::THIS) => match find::in_cache(checked) {
            Some(Err(why)) => {
                session.remark(&why);
                None
            }
            found => found.and_then(Result::ok),
        },
        None if machine.kind == Kind::Gpu => find::of_machine(checked, machine),
        None => None,
    };
    Ok(match found {
        None => Costs { times, item_bytes, origin: Origin::default() },
        Some(found) => {
            let mut times = plan::measured(machine, times, &found.nanoseconds);
            if let Some(chosen) = found.profile.chosen(&found.nanoseconds) {
                times.each = chosen.threads.iter().map(|n| u64::from(*n)).collect();
            }
            Costs { times, item_bytes, origin: Origin(Some(Measured::of(&found))) }
        }
    })
}
