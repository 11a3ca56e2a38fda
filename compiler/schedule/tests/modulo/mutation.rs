//! The judge against the simulator, on right schedules with something changed.
//!
//! How it is established that every change of meaning is refused: what a schedule means is what the simulator computes, which shares
//! nothing with the judge or the dependences: it runs the kernels with values that show every item that is missing, stale or written over.
//! For each changed schedule both are asked. What the judge passes must run right, in rings of the judged capacity, however the processors
//! take turns and whatever they see of each other within a kernel. What the judge refuses must run wrong, even in
//! endless rings, when writes are seen as late as is allowed; but for a schedule that is only shifted as a whole by a stage, which means the same
//! and is refused so that stages count what is there.

use crate::random::{self, Dice};
use crate::simulator::{Sight, endless, enough, reference, run};
use sluice_schedule::analysis::bounds::bounds;
use sluice_schedule::problem::judge::{Violation, fills_in_order, verify};
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};
use sluice_schedule::solver::{Options, flat, hierarchical, improve, iterative, sequential, slack};

fn right(p: &ModuloProblem, dice: &mut Dice) -> ModuloSchedule {
    let b = bounds(p);
    let o = Options::default();
    match dice.roll(7) {
        0 => flat::solve(p, &b, o).unwrap().schedule,
        1 => slack::solve(p, &b, o).unwrap().schedule,
        2 => hierarchical::solve(p, &b, o).unwrap().schedule,
        3 => improve::improve(p, iterative::solve(p, &b, o).unwrap().schedule, 100_000),
        4 => sequential::single_appearance(p),
        5 => sequential::minimum_latency(p),
        _ => iterative::solve(p, &b, o).unwrap().schedule,
    }
}

fn change(p: &ModuloProblem, s: &mut ModuloSchedule, d: &mut Dice) {
    let i = d.roll(p.instances() as u64) as usize;
    let other = d.roll(p.instances() as u64) as usize;
    match d.roll(12) {
        0 => s.start[i] = d.roll(s.ii + 2),
        1 => s.start[i] = s.start[i].saturating_sub(1 + d.roll(3)),
        2 => s.start[i] += 1 + d.roll(3),
        3 => s.stage[i] += 1 + d.roll(2) as u32,
        4 => s.stage[i] = s.stage[i].saturating_sub(1),
        5 => {
            let beyond = d.roll(2);
            s.processor[i] = d.roll(u64::from(p.processors()) + beyond) as u32;
        }
        6 => s.ii = (s.ii + 1).saturating_sub(d.roll(4)).max(1),
        7 => s.ii += d.roll(4),
        8 => s.start.swap(i, other),
        9 => s.stage.swap(i, other),
        10 => s.processor.swap(i, other),
        _ => {
            // One changes places with another one altogether.
            s.start.swap(i, other);
            s.stage.swap(i, other);
            s.processor.swap(i, other);
        }
    }
}

#[test]
fn the_judge_agrees_with_the_simulator() {
    let (mut passed, mut refused, mut changed_passed) = (0, 0, 0);
    for seed in 0..1500 {
        let Some(p) = random::problem(seed) else { continue };
        let mut d = Dice::new(seed ^ 0x5eed);
        let base = right(&p, &mut d);
        for round in 0..14 {
            let mut s = base.clone();
            if round > 0 {
                (0..1 + d.roll(2)).for_each(|_| change(&p, &mut s, &mut d));
            }
            let iterations = enough(&p, &s);
            let want = reference(&p, iterations);
            let text = || format!("seed {seed}, round {round}\n{:?}\n{s:?}", p.graph());
            match verify(&p, s.clone()) {
                Ok(v) => {
                    for sight in [Sight::Late, Sight::Soon, Sight::Chance, Sight::Chance] {
                        let ran = run(&p, &s, v.capacity(), iterations, &want, sight, &mut d);
                        assert_eq!(ran, Ok(()), "{}", text());
                    }
                    passed += 1;
                    changed_passed += u32::from(round > 0 && s != base);
                }
                Err(faults) => {
                    assert!(round > 0, "{faults:?}\n{}", text());
                    let ran = run(&p, &s, &endless(&p, iterations), iterations, &want, Sight::Late, &mut d);
                    let shifted = faults == [Violation::EmptyFirstStage];
                    assert_eq!(ran.is_ok(), shifted, "{faults:?}, but {ran:?}\n{}", text());
                    refused += 1;
                }
            }
        }
    }
    assert!(passed > 3000 && refused > 3000 && changed_passed > 1500, "{passed} {refused} {changed_passed}");
}

/// The judged capacity is no mere guess: with one item less, most rings go wrong in some order of the processors.
#[test]
fn smaller_rings_do_not_do() {
    let (mut wrong, mut all) = (0, 0);
    for seed in 0..400 {
        let Some(p) = random::problem(seed) else { continue };
        let s = iterative::solve(&p, &bounds(&p), Options::default()).unwrap().schedule;
        let v = verify(&p, s.clone()).unwrap();
        let iterations = enough(&p, &s) + 3;
        let want = reference(&p, iterations);
        for e in 0..v.capacity().len() {
            let mut capacity = v.capacity().to_vec();
            if capacity[e] < 2 {
                continue;
            }
            capacity[e] -= 1;
            let mut d = Dice::new(seed);
            let mut goes_wrong = |sight| run(&p, &s, &capacity, iterations, &want, sight, &mut d).is_err();
            wrong += u32::from((0..6).any(|_| goes_wrong(Sight::Soon)));
            all += 1;
        }
    }
    assert!(wrong * 2 > all, "{wrong} of {all}");
}

/// On one processor smaller rings do, also where a task's instances run in another order than they are numbered; with one item less, most do
/// not.
#[test]
fn rings_of_one_processor() {
    let (mut wrong, mut all, mut less) = (0, 0, 0);
    for seed in 0..600 {
        let Some(p) = random::problem(seed) else { continue };
        for s in [sequential::single_appearance(&p), sequential::minimum_latency(&p)] {
            let judged = verify(&p, s.clone()).unwrap().capacity().to_vec();
            let mut capacity = fills_in_order(&p, &s).unwrap();
            let iterations = enough(&p, &s) + 3;
            let want = reference(&p, iterations);
            let mut d = Dice::new(seed);
            assert_eq!(run(&p, &s, &capacity, iterations, &want, Sight::Soon, &mut d), Ok(()), "seed {seed}\n{s:?}");
            less += u32::from(capacity < judged);
            for e in 0..capacity.len() {
                if capacity[e] > p.graph().edges[e].initial.max(1) {
                    capacity[e] -= 1;
                    wrong += u32::from(run(&p, &s, &capacity, iterations, &want, Sight::Soon, &mut d).is_err());
                    capacity[e] += 1;
                    all += 1;
                }
            }
        }
    }
    assert!(wrong * 2 > all && less > 100, "{wrong} of {all}, {less}");
}
