//! # threads
//!
//! Purpose: what the two threads of a world do. The analysis thread takes the program that has waited longest, analyses it off the lock, and keeps the result if no newer text
//! has overtaken it. The schedule thread waits until it is quiet. A failure inside ends neither.

use super::scheduled;
use super::view::Analysed;
use super::{Program, QUIET, Sources, World, root};
use sluice_frontend::elaborate::Limits;
use sluice_frontend::memo::Memo;
use sluice_frontend::{Options, analyse};
use sluice_schedule::method::Method;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

impl World {
    /// Analyses the program that has waited longest; false where none waits.
    pub(super) fn analyse_next(&self) -> bool {
        let mut state = self.state();
        let waits = state.programs.iter().filter(|(_, p)| p.changed > p.done);
        let Some(name) = waits.min_by_key(|(_, p)| p.changed).map(|(name, _)| name.clone()) else { return false };
        let Some(document) = state.documents.keys().find(|d| root(&state, d) == name).cloned() else {
            state.programs.remove(&name);
            drop(state);
            self.listener.gone(&name);
            return true;
        };
        let generation = state.generation;
        let changed = state.programs[&name].changed;
        let cancel = Arc::new(AtomicBool::new(false));
        state.running = Some((name.clone(), cancel.clone()));
        let mut sources = Sources { memo: Some(state.programs[&name].memo.clone()), ..self.sources(&state) };
        let settings = state.settings.clone();
        let top = state.projects.get(&name).and_then(|p| p.entry.as_ref()).map(|e| e.name.clone());
        drop(state);
        let limits = Limits { instances: settings.max_filters, ..Limits::default() };
        let options = Options {
            top,
            limits,
            levels: settings.levels.clone(),
            cancel: Some(cancel.clone()),
            ..Options::default()
        };
        let found = catch_unwind(AssertUnwindSafe(|| {
            let inputs = sources.inputs(&name);
            analyse(inputs, &options, &mut sources)
        }));
        let mut state = self.state();
        state.running = None;
        if cancel.load(Ordering::Relaxed) {
            return true;
        }
        let Some(program) = state.programs.get_mut(&name) else { return true };
        program.done = changed;
        let Ok(analysis) = found else {
            // whatever it was, the next one begins anew
            program.memo = Memo::default();
            drop(state);
            self.listener.failed(&format!("the analysis of {name} failed"));
            return true;
        };
        let analysed = Arc::new(Analysed::new(analysis, generation));
        if analysed.program().is_some() {
            program.good = Some(analysed.clone());
            program.wants_schedule = true;
        }
        program.latest = Some(analysed);
        program.landed += 1;
        state.wakes += 1;
        drop(state);
        self.changed.notify_all();
        if let Some(view) = self.view(&document)
            && view.latest.as_ref().is_some_and(|l| l.current)
        {
            self.listener.analysed(&name, &view);
        }
        if let Some(program) = self.state().programs.get_mut(&name) {
            program.told = changed;
        }
        true
    }

    /// Schedules the program that was analysed last, once it is quiet; false where there is nothing to do.
    pub(super) fn schedule_next(&self) -> bool {
        let mut state = self.state();
        if !state.settings.automatic {
            return false;
        }
        loop {
            let waits = state.programs.values().any(|p| p.wants_schedule);
            if !waits || state.ended {
                return false;
            }
            let before = state.generation;
            let (next, timeout) = self.changed.wait_timeout(state, QUIET).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() && state.generation == before {
                break;
            }
        }
        let settings = state.settings.clone();
        let ready = |p: &Program| p.wants_schedule && p.done >= p.changed;
        let Some((name, program)) = state.programs.iter_mut().find(|(_, p)| ready(p)) else { return false };
        program.wants_schedule = false;
        let Some(good) = program.good.clone() else { return true };
        if program.asked == good.generation {
            return true;
        }
        program.asked = good.generation;
        let name = name.clone();
        let cancel = Arc::new(AtomicBool::new(false));
        state.scheduling = Some((name.clone(), cancel.clone()));
        drop(state);
        let found = catch_unwind(AssertUnwindSafe(|| scheduled::schedule(&good, &settings, Method::Hms, &cancel)));
        let mut state = self.state();
        state.scheduling = None;
        if cancel.load(Ordering::Relaxed) {
            // when it is quiet again: of a newer text, if that is a program
            if let Some(p) = state.programs.get_mut(&name) {
                (p.wants_schedule, p.asked) = (true, 0);
            }
            return true;
        }
        drop(state);
        let Ok(found) = found else {
            self.listener.failed(&format!("scheduling {name} failed"));
            return true;
        };
        let mut state = self.state();
        if let Some(p) = state.programs.get_mut(&name) {
            p.schedule = Some(Arc::new(found));
            p.landed += 1;
        }
        drop(state);
        self.listener.scheduled(&name);
        true
    }
}

/// A thread's life: work while there is some, sleep, end with the world.
pub(super) fn go(world: &Weak<World>, work: fn(&World) -> bool) {
    loop {
        let Some(world) = world.upgrade() else { return };
        let before = world.state().wakes;
        let worked = work(&world);
        let state = world.state();
        if state.ended {
            return;
        }
        if worked {
            continue;
        }
        // what has come meanwhile has not been seen; now and then it looks whether the world is still there
        if state.wakes == before {
            let _ = world.changed.wait_timeout(state, Duration::from_secs(1));
        }
    }
}
