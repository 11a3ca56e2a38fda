//! How many steady states can be one, where messages are under way.
//!
//! ```text
//! a gain that hears of the level two blocks later:  256·gain 1·level  →  512·gain 2·level, and no more at once
//! ```
//!
//! Takes the steady state with its precedences, and the steps of a schedule that the judge has passed; gives how often each step may be taken as often, one step after the other, so that no firing
//! comes before those whose messages it must not miss. A sender whose step comes first holds nobody back; a receiver before its sender may be ahead of it by as much as the latency allows.

use crate::sequential::Step;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::SteadyState;

/// More at once are as good as any number.
const MANY: u64 = 1 << 20;

/// How many steady states may run at once, each of these steps so many times as often: `None` where any number may, 0 where steady states must follow one another step by step (then nodes stand in
/// several steps, or a sender and its receiver in one loop).
pub fn states_at_once(steady: &SteadyState, steps: &[Step]) -> Option<u64> {
    if steady.precedences.is_empty() {
        return None;
    }
    let mut place: Vec<Option<usize>> = vec![None; steady.repetitions.len()];
    for (i, step) in steps.iter().enumerate() {
        if !put(step, i, &mut place) {
            return Some(0);
        }
    }
    let mut most = None;
    for p in &steady.precedences {
        let (before, after) = (place[p.before.index()], place[p.after.index()]);
        // what never fires misses nothing
        let (Some(before), Some(after)) = (before, after) else { continue };
        let (from, each) = (steady.init[p.after.index()], steady.repetitions[p.after.index()]);
        let there = steady.init[p.before.index()];
        let fits = |states: u64| {
            let last = each.checked_mul(states).and_then(|n| n.checked_add(from));
            last.is_some_and(|t| p.need_in_any_state(t, &steady.repetitions) <= there)
        };
        let states = match before.cmp(&after) {
            std::cmp::Ordering::Less => continue,
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => {
                let (mut fit, mut fails) = (0, MANY);
                while fails - fit > 1 {
                    let middle = fit + (fails - fit) / 2;
                    if fits(middle) { fit = middle } else { fails = middle }
                }
                fit
            }
        };
        most = Some(most.map_or(states, |m: u64| m.min(states)));
    }
    most.filter(|m| *m + 1 < MANY)
}

/// Notes in which step a node stands; no where it stands in two.
fn put(step: &Step, at: usize, place: &mut [Option<usize>]) -> bool {
    match step {
        Step::Fire { node: NodeId(v), .. } => place[*v as usize].replace(at).is_none_or(|p| p == at),
        Step::Loop { body, .. } => body.iter().all(|s| put(s, at, place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use crate::sequential::SequentialSchedule;
    use crate::single_appearance::single_appearance;
    use sluice_frontend::{NoImports, Options, SourceInput, analyse};

    fn heard(block: u32, latency: u32) -> String {
        format!(
            "int->int filter Gain {{ int g = 1; work pop 1 push 1 {{ push(g * pop()); }} handler set(int v) {{ g = v; }} }}
             int->int filter Level(portal<Gain> p) {{ work pop {block} push {block} {{
                 int s = 0; for (int i = 0; i < {block}; i++) {{ int x = pop(); s += x; push(x); }} p.set(s) [{latency}:{latency}]; }} }}
             int->int pipeline Main {{ portal<Gain> p; add Gain to p; add Level(p); }}"
        )
    }

    /// Steady states at once of the schedule in which each filter stands once, and the most that the judge allows, by trying.
    fn both(text: String) -> (Option<u64>, u64) {
        let input = SourceInput { name: "a.str".into(), text };
        let program = analyse(vec![input], &Options::default(), &mut NoImports).program.unwrap();
        let (graph, steady) = (&program.graph, &program.steady);
        let init = crate::minimum_latency::minimum_latency(graph, steady).unwrap().init;
        let passes = |batch| {
            let schedule = single_appearance(graph, steady, batch).unwrap();
            judge::verify(graph, steady, SequentialSchedule { init: init.clone(), ..schedule }).is_ok()
        };
        let tried = (1..100).take_while(|n| passes(*n)).count() as u64;
        (states_at_once(steady, &single_appearance(graph, steady, 1).unwrap().steady), tried)
    }

    #[test]
    fn as_far_ahead_as_the_latency_allows() {
        for (block, latency, states) in [(256, 0, 1), (256, 1, 2), (256, 7, 8), (1, 5, 6), (3, 2, 3)] {
            let (found, tried) = both(heard(block, latency));
            assert_eq!((found, tried), (Some(states), states), "{block}, {latency}");
        }
    }

    #[test]
    fn who_hears_of_it_later_holds_nobody_back() {
        let down = "int->int filter Level(portal<Gain> p) { work pop 4 push 4 { for (int i = 0; i < 4; i++) push(pop()); p.set(2) [0:0]; } }
             int->int filter Gain { int g = 1; work pop 1 push 1 { push(g * pop()); } handler set(int v) { g = v; } }
             int->int pipeline Main { portal<Gain> p; add Level(p); add Gain to p; }";
        assert_eq!(both(down.into()), (None, 99));
    }
}
