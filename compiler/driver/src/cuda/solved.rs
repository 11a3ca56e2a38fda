//! # solved
//!
//! Purpose: schedules that took long are not looked for again. Input: a plan, a method. Output: its schedule, now or by an earlier run; the judge passes it
//! either way.
//!
//! What was found is kept in the cache, by all that a solver sees: tasks, edges, processors, method, time limit and version. A file that is no schedule of the
//! problem, whoever has written it, is one that is not there.

use crate::cache::{self, Cache};
use serde::{Deserialize, Serialize};
use sluice_schedule::method::{self, Method, NoSchedule, Outcome, Settings};
use sluice_schedule::plan::Plan;
use sluice_schedule::problem::modulo::ModuloSchedule;
use std::time::Instant;

/// Seconds: a schedule that took less is as soon made as found.
const LONG: f64 = 0.05;
/// What the files are called.
const EXTENSION: &str = "schedule";

/// A file.
#[derive(Serialize, Deserialize)]
struct Kept {
    ii: u64,
    processor: Vec<u32>,
    start: Vec<u64>,
    stage: Vec<u32>,
}

/// A schedule: one that is kept, or a new one, which is kept if it took long. Where there is no cache, none is kept.
pub fn solve(plan: &Plan, method: Method, settings: &Settings) -> Result<Outcome, NoSchedule> {
    // these are made in one step
    if matches!(method, Method::Sas | Method::MinLatency) {
        return method::solve(plan, method, settings, &|| 0.0);
    }
    let cache = Cache::open().ok();
    let key = key(plan, method, settings);
    if let Some(found) = cache.as_ref().and_then(|c| recall(c, &key, plan, method)) {
        return Ok(found);
    }
    let began = Instant::now();
    let clock = || began.elapsed().as_secs_f64();
    let outcome = method::solve(plan, method, settings, &clock)?;
    if let Some(cache) = cache.filter(|_| clock() >= LONG) {
        keep(&cache, &key, &outcome);
    }
    Ok(outcome)
}

fn key(plan: &Plan, method: Method, settings: &Settings) -> String {
    let problem = format!("{:?} {}", plan.problem.graph(), plan.problem.processors());
    // a longer search may find a better one
    let limits = match method {
        Method::Ilp => format!("{:?} {:?} {}", settings.require_ii, settings.node_limit, settings.time_limit),
        _ => format!("{:?}", settings.require_ii),
    };
    cache::key(&["schedule", env!("CARGO_PKG_VERSION"), method.name(), &limits, &problem])
}

fn recall(cache: &Cache, key: &str, plan: &Plan, method: Method) -> Option<Outcome> {
    let text = std::fs::read_to_string(cache.find(key, EXTENSION)?).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    let Kept { ii, processor, start, stage } = kept;
    method::again(plan, method, ModuloSchedule { ii, processor, start, stage }).ok()
}

/// A schedule that cannot be kept is found again another time.
fn keep(cache: &Cache, key: &str, outcome: &Outcome) {
    let s = outcome.verified.schedule();
    let kept = Kept { ii: s.ii, processor: s.processor.clone(), start: s.start.clone(), stage: s.stage.clone() };
    if let Ok(text) = serde_json::to_string(&kept) {
        let _ = cache.put(key, EXTENSION, text.as_bytes());
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // tests write files
mod tests {
    use super::*;
    use crate::options::ProgramOptions;
    use crate::pipeline;
    use crate::scheduling::{self, Weights};
    use crate::session::Session;
    use sluice_schedule::machine;
    use sluice_schedule::plan::{self, Grain, Program};

    const TEXT: &str = "float->float filter Scale(float by) { work pop 1 push 1 { push(pop() * by); } }\n\
        float->float pipeline Main { for (int i = 0; i < 5; i++) add Scale(i + 1.0); }\n";

    fn planned(processors: u32) -> Plan {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.str");
        std::fs::write(&file, TEXT).unwrap();
        let options = ProgramOptions { files: vec![file.display().to_string()], ..ProgramOptions::default() };
        let mut session = Session::new(&options, false).unwrap();
        let checked = pipeline::check(&mut session, &options).unwrap();
        let Weights { costs, item_bytes } = scheduling::weights(&mut session, &checked).unwrap();
        let machine = machine::shipped("h200").unwrap();
        let (graph, steady) = (&checked.program.graph, &checked.program.steady);
        let program = Program { graph, steady, times: &plan::times(&machine, &costs), item_bytes: &item_bytes };
        plan::plan(program, &machine, processors, Grain::PerProcessor(2)).unwrap()
    }

    #[test]
    fn what_was_kept_is_found_and_judged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1 << 20);
        let (plan, settings) = (planned(3), Settings::default());
        let key_of = |plan: &Plan| key(plan, Method::Hms, &settings);
        let outcome = method::solve(&plan, Method::Hms, &settings, &|| 0.0).unwrap();
        assert!(recall(&cache, &key_of(&plan), &plan, Method::Hms).is_none());
        keep(&cache, &key_of(&plan), &outcome);
        let found = recall(&cache, &key_of(&plan), &plan, Method::Hms).unwrap();
        assert_eq!(found.verified.schedule(), outcome.verified.schedule());
        assert_eq!((found.bytes, found.lower, &found.capacity), (outcome.bytes, outcome.lower, &outcome.capacity));
        // another problem, method or limit has another key
        let other = planned(2);
        let ilp = |seconds| key(&plan, Method::Ilp, &Settings { time_limit: seconds, ..settings });
        let keys = [key_of(&plan), key_of(&other), ilp(1.0), ilp(2.0)];
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), keys.len());
        // a schedule of something else, or a damaged one, is none
        assert!(recall(&cache, &key_of(&plan), &other, Method::Hms).is_none());
        let path = cache.find(&key_of(&plan), EXTENSION).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for damaged in
            ["".to_string(), "{}".into(), text.replacen("\"ii\":", "\"ii\":1", 1), text.replace(":[0", ":[7")]
        {
            assert_ne!(damaged, text);
            let sound = recalled_from(&path, &damaged, &cache, &key_of(&plan), &plan);
            // a longer interval may well be a schedule; the judge says
            assert!(sound.is_none_or(|o| o.verified.schedule().ii > outcome.verified.schedule().ii), "{damaged}");
        }
    }

    fn recalled_from(path: &std::path::Path, text: &str, cache: &Cache, key: &str, plan: &Plan) -> Option<Outcome> {
        std::fs::write(path, text).unwrap();
        recall(cache, key, plan, Method::Hms)
    }
}
