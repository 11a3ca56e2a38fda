//! Task graphs made from flat graphs: granularity, loops that become one task, peeks and messages, against firing nodes one by one.

use crate::graphs::{self, Wanted, steady};
use crate::random::Dice;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{CodeId, NodeId};
use sluice_frontend::steady_state::{SteadyState, steady_state};
use sluice_frontend::typed::Rates;
use sluice_frontend::{NoImports, Options, SourceInput, analyse};
use sluice_schedule::machine::shipped;
use sluice_schedule::plan::{Grain, Plan, Program, channel_limit, plan};
use sluice_schedule::problem::build::{Source, problem};
use sluice_schedule::problem::granularity::{Aim, Granularity, Times, choose, finest, is_serial};
use sluice_schedule::problem::modulo::{ModuloProblem, Unfit};
use std::collections::BTreeSet;

fn times(g: &SdfGraph, cost: u64) -> Times {
    let n = g.nodes.len();
    Times { firing: vec![cost; n], alone: vec![cost; n], lanes: 1, threads: 1, each: vec![], overhead: 0 }
}

fn built(g: &SdfGraph, s: &SteadyState, granularity: &Granularity) -> Result<ModuloProblem, Unfit> {
    let (times, item_bytes) = (times(g, 10), vec![4; g.channels.len()]);
    problem(Source { graph: g, steady: s, granularity, times: &times, item_bytes: &item_bytes }, 3)
}

/// Makes some of the nodes filters that carry state.
fn stateful(g: &mut SdfGraph, dice: &mut Dice) {
    for n in &mut g.nodes {
        if dice.roll(4) == 0 {
            let prework = if let NodeKind::Filter { prework, .. } = &n.kind { *prework } else { None };
            let (code, rates) = (CodeId(0), Rates::default());
            n.kind = NodeKind::Filter { code, rates, prework, stateful: true, prints: false, dynamic: false };
        }
    }
}

/// Runs iterations in a random order that keeps to the dependences and nothing else; every firing must find its items.
fn run(g: &SdfGraph, s: &SteadyState, p: &ModuloProblem, dice: &mut Dice) -> Result<(), String> {
    const ITERATIONS: u64 = 4;
    let mut fill = s.boundary_fill.clone();
    let mut done = vec![0u64; p.instances()];
    let ready = |i: usize, done: &[u64]| {
        done[i] < ITERATIONS
            && p.dependences().iter().filter(|d| d.to == i).all(|d| done[d.from] + d.distance > done[i])
            // Instances of one task share their channels' ends: what they take is by number, so they run in order here.
            && match p.number_of(i) {
                0 => done[p.instance(p.task_of(i), p.graph().tasks[p.task_of(i)].instances - 1)] == done[i],
                _ => done[i - 1] > done[i],
            }
    };
    loop {
        let able: Vec<usize> = (0..p.instances()).filter(|i| ready(*i, &done)).collect();
        let Some(i) = able.get(dice.roll(able.len().max(1) as u64) as usize).copied() else { break };
        let task = &p.graph().tasks[p.task_of(i)];
        let mut left = task.firings.clone();
        // A loop that is one task: whatever can fire; a single node: one firing after the other.
        loop {
            let can = |at: &usize| left[*at] > 0 && can_fire(g, task.nodes[*at], &fill);
            let Some(at) = (0..left.len()).find(can) else { break };
            fire(g, task.nodes[at], &mut fill);
            left[at] -= 1;
        }
        if left.iter().any(|n| *n > 0) {
            return Err(format!("{} lacks items in iteration {}", p.name_of(i), done[i]));
        }
        done[i] += 1;
    }
    if done.iter().any(|d| *d < ITERATIONS) {
        return Err(format!("stuck: {done:?}"));
    }
    (fill == s.boundary_fill).then_some(()).ok_or("the channels are not as before".into())
}

fn can_fire(g: &SdfGraph, n: NodeId, fill: &[u64]) -> bool {
    g.node(n).inputs.iter().all(|c| fill[c.index()] >= u64::from(g.channel(*c).peek))
}

fn fire(g: &SdfGraph, n: NodeId, fill: &mut [u64]) {
    g.node(n).inputs.iter().for_each(|c| fill[c.index()] -= u64::from(g.channel(*c).consume));
    g.node(n).outputs.iter().for_each(|c| fill[c.index()] += u64::from(g.channel(*c).produce));
}

#[test]
fn random_graphs_run_in_any_order_that_the_dependences_allow() {
    let (mut seen, mut loops, mut coarse) = (0, 0, 0);
    for seed in 0..1500 {
        let mut g = graphs::random(seed, Wanted { zeros: seed % 3 == 0, ..graphs::ALL });
        let mut d = Dice::new(seed);
        stateful(&mut g, &mut d);
        let Ok(s) = steady_state(&g) else { continue };
        let aim = Aim { processors: 1 + d.roll(4) as u32, per_processor: 4, most: 60 };
        let t = Times { threads: 1 + d.roll(3), lanes: 1 + d.roll(2), ..times(&g, 10) };
        let chosen = choose(&g, &s, &t, aim).unwrap();
        for granularity in [finest(&g), chosen] {
            let p = match built(&g, &s, &granularity) {
                Ok(p) => p,
                Err(Unfit::Empty) if s.repetitions.iter().all(|r| *r == 0) => continue,
                Err(e) => panic!("seed {seed}: {e:?}\n{}", sluice_frontend::graph_text::print(&g)),
            };
            for _ in 0..3 {
                let ran = run(&g, &s, &p, &mut d);
                assert_eq!(ran, Ok(()), "seed {seed} {granularity:?}\n{}", sluice_frontend::graph_text::print(&g));
            }
            for t in &p.graph().tasks {
                // Every node fires as often as the granularity says.
                for (n, firings) in t.nodes.iter().zip(&t.firings) {
                    assert_eq!(firings * t.instances, s.repetitions[n.index()] * granularity.batch, "seed {seed}");
                }
                loops += u32::from(t.nodes.len() > 1);
            }
            coarse += u32::from(granularity.firings.iter().any(|f| *f > 1));
            seen += 1;
        }
    }
    assert!(seen > 700 && loops > 50 && coarse > 100, "{seen} {loops} {coarse}");
}

/// A loop whose delay is too short for its instances runs as one task; with one long enough its nodes stay apart.
#[test]
fn a_loop_with_a_short_delay_is_one_task() {
    let of = |delay| {
        let g = graphs::graph(&[(0, 1, 1, 1, 0), (1, 2, 1, 1, 0), (2, 1, 1, 1, delay), (2, 3, 1, 1, 0)]);
        let s = steady(&g);
        let p = built(&g, &s, &Granularity { batch: 8, firings: vec![4; 4] }).unwrap();
        let named =
            p.graph().tasks.iter().filter(|t| t.nodes.len() > 1).all(|t| t.name.starts_with("loop of 2 nodes at "));
        assert!(named, "{:?}", p.graph().tasks);
        p.graph().tasks.iter().map(|t| (t.nodes.len(), t.instances, t.serial, t.cost)).collect::<Vec<_>>()
    };
    assert_eq!(of(1), [(1, 2, false, 40), (2, 1, true, 160), (1, 2, false, 40)]);
    assert_eq!(of(3), [(1, 2, false, 40), (2, 1, true, 160), (1, 2, false, 40)]);
    assert_eq!(of(4), [(1, 2, false, 40); 4]);
}

/// Loops in a row, each too short for its instances: all are joined at once, for one by one the graph would be made 5,000 times.
#[test]
fn thousands_of_loops_are_a_task_each() {
    const LOOPS: u32 = 5000;
    let within = (0..LOOPS).flat_map(|i| [(2 * i, 2 * i + 1, 1, 1, 0), (2 * i + 1, 2 * i, 1, 1, 1)]);
    let between = (1..LOOPS).map(|i| (2 * i - 1, 2 * i, 1, 1, 0));
    let g = graphs::graph(&within.chain(between).collect::<Vec<_>>());
    let p = built(&g, &steady(&g), &Granularity { batch: 8, firings: vec![4; 2 * LOOPS as usize] }).unwrap();
    assert!(p.graph().tasks.iter().all(|t| t.nodes.len() == 2 && t.instances == 1 && t.serial));
    assert_eq!(p.graph().tasks.len(), LOOPS as usize);
}

/// A window of 64 over instances of 4 firings: 63 items are there, and the newest item is made in the same iteration.
#[test]
fn deep_peeks_reach_back() {
    let mut g = graphs::graph(&[(0, 1, 1, 1, 0)]);
    g.channels[0].peek = 64;
    let s = steady(&g);
    let p = built(&g, &s, &Granularity { batch: 8, firings: vec![4, 4] }).unwrap();
    let e = &p.graph().edges[0];
    assert_eq!((e.produce, e.consume, e.peek, e.initial), (4, 4, 67, 63));
    let shown: Vec<_> = p.dependences().iter().map(|d| (d.to - 2, d.from, d.distance)).collect();
    // Older instances of the same producer are implied.
    assert_eq!(shown, [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0)]);
}

/// A message upstream with latency: the receiver must not run ahead. Checked against what the rule says of firings long after the start.
#[test]
fn messages_become_orders() {
    let text = "void->int filter Source { work push 1 { push(iter()); } }
        int->int filter Near { int k; work pop 1 push 1 { push(pop() + k); } handler set(int v) { k = v; } }
        int->int filter Halve { work pop 2 push 1 { push(pop() + pop()); } }
        int->void filter Show(portal<Near> p) { work pop 1 { if (pop() % 3 == 0) p.set(1) [LATENCY]; } }
        void->void pipeline Main { portal<Near> p; add Source; add Near to p; add Halve; add Show(p); }";
    let mut all = 0;
    for latency in 1..12 {
        let text = text.replace("LATENCY", &format!("{latency}:{latency}"));
        let input = SourceInput { name: "test.str".into(), text };
        let analysis = analyse(vec![input], &Options::default(), &mut NoImports);
        let program = analysis.program.unwrap_or_else(|| panic!("{:?}", analysis.diagnostics));
        let (g, s) = (&program.graph, &program.steady);
        let [rule] = &s.precedences[..] else { panic!("{:?}", s.precedences) };
        let (before, after) = (rule.before.index(), rule.after.index());
        for (coarse, batch) in [(1, 1), (1, 4), (2, 4), (4, 4), (4, 8)] {
            let firings: Vec<u64> =
                s.repetitions.iter().map(|r| if *r > 1 { coarse.min(2) * r / 2 } else { coarse }).collect();
            let fit = (0..firings.len())
                .all(|v| (s.repetitions[v] * batch).is_multiple_of(firings[v].max(1)) && firings[v] > 0);
            if !fit {
                continue;
            }
            let p = built(g, s, &Granularity { batch, firings: firings.clone() }).unwrap();
            let task = |v: usize| p.graph().tasks.iter().position(|t| t.nodes.iter().any(|n| n.index() == v)).unwrap();
            let (tb, ta) = (task(before), task(after));
            if tb == ta {
                // The latency is too short for instances of this size: one task.
                assert!(coarse > 1, "latency {latency}, {coarse} firings");
                let name = &p.graph().tasks[tb].name;
                assert!(name.contains(" nodes that wait for each other at "), "{name}");
                continue;
            }
            let (kb, ka) = (p.graph().tasks[tb].instances, p.graph().tasks[ta].instances);
            assert!(!p.graph().tasks[tb].serial);
            for k in 0..ka {
                let iteration = 50;
                let last = s.init[after] + (iteration * ka + k + 1) * firings[after];
                let newest = (rule.need.at(last) - s.init[before] - 1) / firings[before];
                // the sender has no state: its instances may come in any order, so each of them must be over
                let want: BTreeSet<_> =
                    (newest + 1 - kb..=newest).map(|i| ((tb, i % kb), iteration - i / kb)).collect();
                let of_k = p.graph().orders.iter().filter(|o| o.after == (ta, k));
                assert_eq!(of_k.map(|o| (o.before, o.distance)).collect::<BTreeSet<_>>(), want, "latency {latency}");
                all += want.len();
            }
            assert_eq!(p.graph().orders.len() as u64, ka * kb);
        }
    }
    assert!(all > 60, "{all}");
}

/// A node that needs its own newest items runs whole.
#[test]
fn a_node_that_waits_for_itself_is_one_instance() {
    let of = |items| {
        let g = graphs::graph(&[(0, 0, 1, 1, items), (0, 1, 1, 1, 0)]);
        let p = built(&g, &steady(&g), &Granularity { batch: 8, firings: vec![4, 4] }).unwrap();
        (p.graph().tasks.iter().map(|t| (t.instances, t.serial)).collect::<Vec<_>>(), p.graph().edges.len())
    };
    assert_eq!(of(3), (vec![(1, true), (2, false)], 1));
    assert_eq!(of(4), (vec![(2, false), (2, false)], 2));
}

#[test]
fn granularity_gives_every_processor_enough() {
    let mut g = graphs::graph(&[(0, 1, 4, 1, 0), (1, 2, 1, 4, 0), (2, 3, 1, 1, 0)]);
    g.nodes[3].kind = NodeKind::Filter {
        code: CodeId(0),
        rates: Rates::default(),
        prework: None,
        stateful: true,
        prints: false,
        dynamic: false,
    };
    let s = steady(&g);
    let aim = Aim { processors: 16, per_processor: 4, most: 4000 };
    let of = |alone: u64| {
        let t = Times {
            firing: vec![10_000, 700, 3000, 100],
            alone: vec![alone; 4],
            lanes: 32,
            threads: 128,
            each: vec![],
            overhead: 20,
        };
        let chosen = choose(&g, &s, &t, aim).unwrap();
        let bytes = vec![4; 3];
        let source = Source { graph: &g, steady: &s, granularity: &chosen, times: &t, item_bytes: &bytes };
        let p = problem(source, 16).unwrap();
        for (n, firings) in g.node_ids().zip(&chosen.firings) {
            assert_eq!(s.repetitions[n.index()] * chosen.batch % firings, 0);
            assert!(is_serial(&g, n) || firings.is_multiple_of(128), "whole blocks of threads");
        }
        p
    };
    let p = of(1);
    assert!((64..200).contains(&p.instances()), "{:?}", p.graph());
    assert!(p.graph().tasks.iter().filter(|t| !t.serial).all(|t| t.cost <= p.graph().work() / 64), "{:?}", p.graph());
    // Where the node with state sets the pace, the others need only be short beside it: a longer iteration would not help.
    let p = of(9000);
    assert_eq!(p.graph().batch, 128);
    assert!(p.graph().tasks.iter().filter(|t| !t.serial).all(|t| t.cost <= 9000 * 128 / 4), "{:?}", p.graph());
}

/// Longer iterations need more memory: the cut is as fine as it allows, and never coarser than four instances for each processor.
#[test]
fn the_automatic_cut_keeps_to_the_memory() {
    let g = graphs::graph(&[(0, 1, 1, 1, 0), (1, 2, 3, 2, 0), (2, 3, 1, 1, 0), (3, 4, 2, 3, 0), (4, 5, 1, 1, 0)]);
    let s = steady(&g);
    let cost = |n: u64| sluice_kernel::cost::Cost { int: 1000 + 377 * n, ..Default::default() };
    let (costs, item_bytes): (Vec<_>, Vec<u64>) = ((0..6).map(cost).collect(), vec![64; 5]);
    let times = sluice_schedule::plan::times(&shipped("8800-gts-512").unwrap(), &costs);
    let program = Program { graph: &g, steady: &s, times: &times, item_bytes: &item_bytes };
    let of = |memory_bytes: u64| {
        let machine = sluice_schedule::machine::Machine { memory_bytes, ..shipped("8800-gts-512").unwrap() };
        let made = plan(program, &machine, 16, Grain::Auto).unwrap();
        assert!(made.problem.instances() >= 64, "{:?}", made.problem.graph());
        (made, channel_limit(&machine))
    };
    let bytes = |p: &Plan| {
        let found = sluice_schedule::solver::flat::solve(&p.problem, &p.bounds, Default::default()).unwrap();
        sluice_schedule::problem::judge::verify(&p.problem, found.schedule).unwrap().bytes(&p.problem)
    };
    let (mut coarser, mut coarsest) = (0, 0);
    let mut memory = 1 << 50;
    let mut before = u64::MAX;
    for _ in 0..40 {
        let (made, limit) = of(memory);
        let takes = bytes(&made);
        assert!(takes <= before, "less memory, longer buffers");
        before = takes;
        match made.limited {
            None => assert!(takes <= limit, "{takes} {limit}"),
            Some(l) => {
                assert_eq!((l.limit, l.bytes), (limit, takes));
                match l.finer {
                    Some(finer) => assert!(takes <= limit && limit < finer, "{l:?}"),
                    None => assert!(takes > limit, "{l:?}"),
                }
                coarser += u32::from(l.finer.is_some());
                coarsest += u32::from(l.finer.is_none());
            }
        }
        memory /= 2;
    }
    assert!(coarser > 0 && coarsest > 0, "{coarser} {coarsest}");
}
