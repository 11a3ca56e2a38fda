//! Right schedules with something changed: the judge refuses them, or a naive replay finds them right too.

use crate::graphs::{self, ALL, Dice};
use crate::naive;
use sluice_frontend::ids::NodeId;
use sluice_frontend::steady_state::steady_state;
use sluice_schedule::judge::verify;
use sluice_schedule::minimum_latency::minimum_latency;
use sluice_schedule::sequential::{SequentialSchedule, Step};
use sluice_schedule::single_appearance::single_appearance;

/// Changes one thing somewhere.
fn change(steps: &mut Vec<Step>, nodes: u64, d: &mut Dice) {
    if steps.is_empty() {
        steps.push(Step::Fire { node: NodeId(d.roll(nodes) as u32), times: 1 });
        return;
    }
    let at = d.roll(steps.len() as u64) as usize;
    if let Step::Loop { body, .. } = &mut steps[at]
        && d.roll(3) > 0
    {
        return change(body, nodes, d);
    }
    match d.roll(8) {
        0 => match &mut steps[at] {
            Step::Fire { times, .. } | Step::Loop { times, .. } => *times += 1,
        },
        1 => match &mut steps[at] {
            Step::Fire { times, .. } | Step::Loop { times, .. } => *times = times.saturating_sub(1),
        },
        2 => {
            steps.remove(at);
        }
        3 => {
            let other = d.roll(steps.len() as u64) as usize;
            steps.swap(at, other);
        }
        4 => {
            let copy = steps[at].clone();
            steps.insert(d.roll(steps.len() as u64 + 1) as usize, copy);
        }
        5 => {
            // what stays right: a loop of one turn
            let body = vec![steps[at].clone()];
            steps[at] = Step::Loop { times: 1, body };
        }
        6 => {
            if let Step::Fire { node, times } = &mut steps[at] {
                if *times > 1 {
                    let (node, left) = (*node, *times - 1);
                    *times = 1;
                    steps.insert(d.roll(steps.len() as u64 + 1) as usize, Step::Fire { node, times: left });
                } else {
                    *node = NodeId(d.roll(nodes) as u32);
                }
            }
        }
        _ => {
            let n = 1 + d.roll(steps.len() as u64 - at as u64) as usize;
            let body: Vec<Step> = steps.splice(at..at + n, []).collect();
            steps.insert(at, Step::Loop { times: 1 + d.roll(2), body });
        }
    }
}

#[test]
fn the_judge_agrees_with_a_naive_replay() {
    let (mut passed, mut refused) = (0, 0);
    for seed in 0..2500 {
        let g = graphs::random(seed, ALL);
        let Ok(steady) = steady_state(&g) else { continue };
        let mut d = Dice::new(seed ^ 0xabcd);
        for right in [single_appearance(&g, &steady, 1).unwrap(), minimum_latency(&g, &steady).unwrap()] {
            for _ in 0..8 {
                let mut s: SequentialSchedule = right.clone();
                for _ in 0..1 + d.roll(3) {
                    let part = if d.roll(3) == 0 { &mut s.init } else { &mut s.steady };
                    change(part, g.nodes.len() as u64, &mut d);
                }
                let Some(naive) = naive::judge(&g, &steady, &s) else { continue };
                match (verify(&g, &steady, s.clone()), naive) {
                    (Ok(v), Some(highest)) => {
                        assert_eq!(v.highest_fill(), highest, "seed {seed}: {s:?}");
                        passed += 1;
                    }
                    (Err(_), None) => refused += 1,
                    (found, naive) => panic!("seed {seed}: {found:?}, naively {naive:?}: {s:?}"),
                }
            }
        }
    }
    assert!(passed > 3000 && refused > 8000, "{passed} {refused}");
}
