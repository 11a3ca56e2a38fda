//! Prints what the integer program finds for problems as large as those of paper 001, on 16 and on 132 processors: II against the best proven bound, stages,
//! bytes, seconds. `cargo run --release -p sluice-schedule --example solve_times [SECONDS [SLACK]]`

#![allow(clippy::disallowed_methods, reason = "it measures time, and takes its budget from the command line")]

#[path = "../tests/dice/mod.rs"]
mod dice;

use dice::Dice;
use sluice_frontend::ids::ChannelId;
use sluice_schedule::analysis::bounds::bounds;
use sluice_schedule::ilp::search::{Options, solve};
use sluice_schedule::problem::modulo::ModuloProblem;
use sluice_schedule::problem::task::{Edge, Task, TaskGraph};
use std::time::Instant;

/// A chain of stages, some of them several branches wide, in which all tasks do their work in equal instances: none is longer than the part `per` of
/// what a processor has to do.
fn program(dice: &mut Dice, tasks: usize, processors: u64, per: u64, kind: &str) -> TaskGraph {
    const ROUNDS: u64 = 1 << 12;
    let weight: Vec<u64> = (0..tasks)
        .map(|_| {
            let w = 40 << dice.roll(8);
            w + dice.roll(w)
        })
        .collect();
    let share = weight.iter().sum::<u64>() * ROUNDS / processors;
    let serial: Vec<bool> = (0..tasks).map(|t| kind == "stateful" && t % 9 == 4).collect();
    let mut all = Vec::new();
    for t in 0..tasks {
        let mut k = 1;
        while !serial[t] && weight[t] * ROUNDS / k > share / per && k < ROUNDS {
            k *= if k.is_multiple_of(3) || dice.roll(3) > 0 { 2 } else { 3 };
        }
        let cost = if serial[t] { share / 3 + dice.roll(share / 3) } else { weight[t] * ROUNDS / k };
        let name = format!("T{t}");
        all.push(Task { name, nodes: Vec::new(), instances: k, firings: vec![ROUNDS / k], cost, serial: serial[t] });
    }
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let edge = |from: usize, to: usize, beyond: u64| {
        let (ku, kv) = (all[from].instances, all[to].instances);
        let unit = (ROUNDS * 4 / (ku * kv / gcd(ku, kv))).max(1);
        let (produce, consume) = (unit * kv / gcd(ku, kv), unit * ku / gcd(ku, kv));
        let channel = ChannelId::from(0);
        Edge { channel, from, to, produce, consume, peek: consume + beyond, initial: beyond, item_bytes: 4 }
    };
    let (mut edges, mut ends, mut t) = (Vec::new(), vec![0], 1);
    while t < tasks {
        let width = (1 + dice.roll(8) as usize * usize::from(dice.roll(3) > 0)).min(tasks - t);
        let beyond = if dice.roll(3) == 0 { 1 + dice.roll(63) } else { 0 };
        let next: Vec<usize> = (t..t + width).collect();
        for to in &next {
            // One joins them all, or each goes on from one.
            let from = if width == 1 { ends.clone() } else { vec![ends[(to - t) % ends.len()]] };
            edges.extend(from.into_iter().map(|from| edge(from, *to, beyond)));
        }
        t += width;
        ends = next;
    }
    if kind == "loop" {
        let (to, from) = (tasks / 2, tasks / 2 + 3);
        let mut back = edge(from, to, 0);
        back.initial = 3 * back.produce * all[from].instances;
        edges.push(back);
    }
    TaskGraph { tasks: all, edges, batch: 1, ..TaskGraph::default() }
}

fn main() {
    let total = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(20.0);
    let slack = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(0.0);
    let mut dice = Dice::new(5);
    println!(
        "kind      tasks procs inst  inst/p        MII      lower         II  II/lower  stages (≥)     bytes (≥)   seconds tries"
    );
    for (tasks, per) in [(26, 4), (40, 4), (53, 8), (67, 4), (67, 16)] {
        for processors in [16, 132] {
            for kind in ["stateless", "stateful", "loop"] {
                let graph = program(&mut dice, tasks, processors, per, kind);
                let problem = match ModuloProblem::new(graph, processors as u32) {
                    Ok(problem) => problem,
                    Err(unfit) => {
                        println!("{kind}: {unfit:?}");
                        continue;
                    }
                };
                let bounds = bounds(&problem);
                let began = Instant::now();
                let clock = || began.elapsed().as_secs_f64();
                let found = solve(&problem, &bounds, None, &Options { slack, ..Options::seconds(total, &clock) });
                let n = problem.instances();
                let each = n as f64 / processors as f64;
                match found {
                    Ok(s) => println!(
                        "{kind:9} {tasks:5} {processors:5} {n:5} {each:6.1} {:10} {:10} {:10} {:8.4}% {:5} ({:2}) {:9} ({}) {:6.2} {:?}",
                        bounds.mii,
                        s.lower,
                        s.ii,
                        s.gap() * 100.0,
                        s.stages,
                        s.fewest_stages,
                        s.bytes,
                        s.fewest_bytes,
                        s.seconds,
                        s.tries.iter().map(|t| format!("{:?}", t.answer).remove(0)).collect::<String>(),
                    ),
                    Err(f) => println!("{kind:9} {tasks:5} {processors:5} {n:5} {each:6.1} {f:?}"),
                }
            }
        }
    }
}
