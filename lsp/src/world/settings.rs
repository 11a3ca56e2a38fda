//! What a user can set; docs/lsp.md lists it. Unknown keys are passed over, values of the wrong type are told and left at their defaults.

use serde_json::Value;
use sluice_frontend::lints::levels::{Level, Levels};

/// All settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Hints at `add`s of filters.
    pub rates: bool,
    /// Hints at composites.
    pub composites: bool,
    /// Hints at the entry: the initiation interval.
    pub ii: bool,
    /// Hints at `enqueue`s.
    pub enqueues: bool,
    /// Lenses above streams.
    pub lenses: bool,
    /// Schedules are made while nobody types.
    pub automatic: bool,
    /// The machine by name.
    pub machine: String,
    /// Processors, where not the machine's own number.
    pub processors: Option<u32>,
    /// Seconds that the integer program may take.
    pub time_limit: f64,
    /// Streams that a program may have.
    pub max_filters: usize,
    /// Which warnings are told.
    pub levels: Levels,
    /// Where docs/errors.md is on the web; without, it is put into a file.
    pub docs: Option<String>,
    /// The folder for texts of Sluice's own that an editor opens.
    pub shown: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            rates: true,
            composites: true,
            ii: true,
            enqueues: true,
            lenses: true,
            automatic: true,
            machine: "h200".into(),
            processors: None,
            time_limit: 20.0,
            max_filters: 20_000,
            levels: Levels::default(),
            docs: None,
            shown: None,
        }
    }
}

impl Settings {
    /// What a client sent, and what is wrong with it. The settings may stand in an object `sluice`.
    pub fn read(value: &Value) -> (Settings, Vec<String>) {
        let value = value.get("sluice").unwrap_or(value);
        let (mut s, mut wrong) = (Settings::default(), Vec::new());
        let at = |path: &str| path.split('.').try_fold(value, |v, key| v.get(key)).filter(|v| !v.is_null());
        let bools = [
            ("hints.rates", &mut s.rates),
            ("hints.composites", &mut s.composites),
            ("hints.ii", &mut s.ii),
            ("hints.enqueues", &mut s.enqueues),
            ("lenses", &mut s.lenses),
            ("schedule.automatic", &mut s.automatic),
        ];
        for (path, place) in bools {
            match at(path).map(|v| v.as_bool()) {
                Some(Some(b)) => *place = b,
                Some(None) => wrong.push(format!("`{path}` must be true or false")),
                None => {}
            }
        }
        match at("schedule.machine").map(|v| v.as_str()) {
            Some(Some(name)) if sluice_schedule::machine::shipped(name).is_some() => s.machine = name.into(),
            Some(_) => {
                let names: Vec<&str> = sluice_schedule::machine::SHIPPED.iter().map(|(name, _)| *name).collect();
                wrong.push(format!("`schedule.machine` must be one of {}", names.join(", ")));
            }
            None => {}
        }
        match at("schedule.processors").map(|v| v.as_u64().filter(|n| (1..=4096).contains(n))) {
            Some(Some(n)) => s.processors = Some(n as u32),
            Some(None) => wrong.push("`schedule.processors` must be a number from 1 to 4096".into()),
            None => {}
        }
        match at("schedule.timeLimit").map(|v| v.as_f64().filter(|n| (0.1..=3600.0).contains(n))) {
            Some(Some(n)) => s.time_limit = n,
            Some(None) => wrong.push("`schedule.timeLimit` must be a number of seconds from 0.1 to 3600".into()),
            None => {}
        }
        match at("maxFilters").map(|v| v.as_u64().filter(|n| (1..=200_000).contains(n))) {
            Some(Some(n)) => s.max_filters = n as usize,
            Some(None) => wrong.push("`maxFilters` must be a number from 1 to 200000".into()),
            None => {}
        }
        for (path, place) in [("docs", &mut s.docs), ("shownFolder", &mut s.shown)] {
            match at(path).map(|v| v.as_str()) {
                Some(Some(text)) => *place = Some(text.into()),
                Some(None) => wrong.push(format!("`{path}` must be text")),
                None => {}
            }
        }
        match at("warnings").map(|v| v.as_object()) {
            Some(Some(levels)) => {
                for (code, level) in levels {
                    let level = match level.as_str() {
                        Some("allow") => Level::Allow,
                        Some("warn") => Level::Warn,
                        Some("deny") => Level::Deny,
                        _ => {
                            wrong.push(format!("`warnings.{code}` must be \"allow\", \"warn\" or \"deny\""));
                            continue;
                        }
                    };
                    if let Err(why) = s.levels.set(code, level) {
                        wrong.push(why);
                    }
                }
            }
            Some(None) => wrong.push("`warnings` must be an object such as {\"W0210\": \"allow\"}".into()),
            None => {}
        }
        (s, wrong)
    }

    /// Is any kind of hint shown?
    pub fn any_hints(&self) -> bool {
        self.rates || self.composites || self.ii || self.enqueues
    }
}
