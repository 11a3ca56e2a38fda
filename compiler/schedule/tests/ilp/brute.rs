//! The optimum by trying everything. It shares nothing with the integer program: what is right is what the judge passes.

use sluice_schedule::problem::judge::verify;
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};

/// II, stages, bytes.
pub type Optimum = (u64, u32, u64);

/// Every assignment, every order on every processor, every stage up to `most_stages`; for up to 5 instances or so.
pub fn everything(problem: &ModuloProblem, most_stages: u32) -> Optimum {
    let mut best: Option<Optimum> = None;
    for processor in assignments(problem) {
        let ii = *loads(problem, &processor).iter().max().unwrap();
        if best.is_some_and(|(b, ..)| ii > b) {
            continue;
        }
        for order in permutations(problem.instances()) {
            let start = starts(problem, &processor, &order);
            each_stage(problem.instances(), most_stages, |stage| {
                let stages = stage.iter().max().unwrap() + 1;
                if best.is_some_and(|(b, s, _)| (b, s) < (ii, stages)) {
                    return;
                }
                let s =
                    ModuloSchedule { ii, processor: processor.clone(), start: start.clone(), stage: stage.to_vec() };
                if let Ok(v) = verify(problem, s) {
                    let key = (ii, stages, v.bytes(problem));
                    best = Some(best.map_or(key, |b| key.min(b)));
                }
            });
        }
    }
    best.expect("one processor always works")
}

/// Every assignment; an instance may take a processor in use or the next one.
pub fn assignments(problem: &ModuloProblem) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..problem.instances() {
        all = all
            .into_iter()
            .flat_map(|a: Vec<u32>| {
                let used = a.iter().max().map_or(0, |m| m + 1);
                (0..(used + 1).min(problem.processors())).map(move |p| a.iter().copied().chain([p]).collect())
            })
            .collect();
    }
    all
}

pub fn loads(problem: &ModuloProblem, processor: &[u32]) -> Vec<u64> {
    let mut load = vec![0; problem.processors() as usize];
    processor.iter().enumerate().for_each(|(i, p)| load[*p as usize] += problem.cost(i));
    load
}

fn starts(problem: &ModuloProblem, processor: &[u32], order: &[usize]) -> Vec<u64> {
    let (mut busy, mut start) = (vec![0; problem.processors() as usize], vec![0; order.len()]);
    for i in order {
        let at = &mut busy[processor[*i] as usize];
        start[*i] = *at;
        *at += problem.cost(*i);
    }
    start
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for i in 0..n {
        all = all
            .into_iter()
            .flat_map(|p: Vec<usize>| {
                (0..=p.len()).map(move |at| {
                    let mut q = p.clone();
                    q.insert(at, i);
                    q
                })
            })
            .collect();
    }
    all
}

/// All stages from 0 to `most` - 1, those of small numbers first.
fn each_stage(n: usize, most: u32, mut f: impl FnMut(&[u32])) {
    for stages in 1..=most {
        let mut stage = vec![0; n];
        'all: loop {
            if stage.iter().max() == Some(&(stages - 1)) {
                f(&stage);
            }
            for s in stage.iter_mut() {
                *s += 1;
                if *s < stages {
                    continue 'all;
                }
                *s = 0;
            }
            break;
        }
    }
}

/// As [`everything`], but knows that starts follow from stages; for up to 8 instances.
pub fn by_stages(problem: &ModuloProblem) -> Optimum {
    let all: Vec<(u64, Vec<u32>)> =
        assignments(problem).into_iter().map(|a| (*loads(problem, &a).iter().max().unwrap(), a)).collect();
    let mut iis: Vec<u64> = all.iter().map(|(ii, _)| *ii).collect();
    iis.sort_unstable();
    iis.dedup();
    for ii in iis {
        for stages in 1..=problem.instances() as u32 + 1 {
            // A shorter one would have been found before.
            let best = all
                .iter()
                .filter(|(load, _)| *load <= ii)
                .filter_map(|(_, a)| {
                    let mut least = u64::MAX;
                    let mut stage = vec![0; problem.instances()];
                    choose(problem, a, stages, 0, &mut stage, &mut least);
                    (least < u64::MAX).then_some(least)
                })
                .min();
            if let Some(bytes) = best {
                return (ii, stages, bytes);
            }
        }
    }
    unreachable!("one processor always works")
}

fn choose(problem: &ModuloProblem, a: &[u32], stages: u32, at: usize, stage: &mut Vec<u32>, least: &mut u64) {
    if at == stage.len() {
        let s = ModuloSchedule { ii: 1, processor: a.to_vec(), start: Vec::new(), stage: stage.clone() };
        let capacity = sluice_schedule::problem::judge::capacities(problem, &s).unwrap();
        *least = (*least).min(sluice_schedule::problem::judge::bytes(problem, &capacity));
        return;
    }
    let i = problem.topological()[at];
    for s in 0..stages {
        stage[i] = s;
        let known = |j: usize| problem.topological()[..=at].contains(&j);
        let fine = problem.dependences().iter().all(|d| {
            (d.from != i && d.to != i)
                || !known(d.from)
                || !known(d.to)
                || i64::from(stage[d.to]) + d.distance as i64 - i64::from(stage[d.from])
                    >= i64::from(a[d.from] != a[d.to])
        });
        if fine {
            choose(problem, a, stages, at + 1, stage, least);
        }
    }
}
