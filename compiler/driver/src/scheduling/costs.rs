//! What firings cost: as the kernel IR says, or as they were measured.
//!
//! A profile that the command line names is used or refused. One in the cache is used for the computer at hand, `--machine cpu`; where it does not fit the
//! program any more, that is said.

use super::{ScheduleOptions, Weights, target, weights};
use crate::pipeline::{Checked, Halt};
use crate::profile::find::{self, Found};
use crate::session::Session;
use serde::Serialize;
use sluice_schedule::machine::Machine;
use sluice_schedule::plan;
use sluice_schedule::problem::granularity::Times;

/// What `--profile` says for no profile.
pub const NONE: &str = "none";

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
}

impl Origin {
    /// `measured` or `static`.
    pub fn name(&self) -> &'static str {
        if self.0.is_some() { "measured" } else { "static" }
    }

    /// The profile.
    pub fn profile(&self) -> Option<&Measured> {
        self.0.as_ref()
    }

    /// For people.
    pub fn text(&self) -> String {
        let Some(m) = &self.0 else { return "from the kernel IR".into() };
        let rest = match m.unmeasured {
            0 => String::new(),
            1 => "; of one stream that did not fire then, from the kernel IR".into(),
            n => format!("; of {n} streams that did not fire then, from the kernel IR"),
        };
        format!("measured, profile of {}, {} firings{rest}", m.date, super::report::grouped(m.firings))
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
    let times = plan::times(machine, &costs);
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
        None => None,
    };
    Ok(match found {
        None => Costs { times, item_bytes, origin: Origin::default() },
        Some(Found { file, profile, nanoseconds }) => {
            let unmeasured = nanoseconds.iter().filter(|ns| ns.is_none()).count();
            let (date, firings) = (profile.date, profile.firings);
            let measured = Measured { file, date, machine: profile.machine.name, firings, unmeasured };
            let times = plan::measured(machine, times, &nanoseconds);
            Costs { times, item_bytes, origin: Origin(Some(measured)) }
        }
    })
}
