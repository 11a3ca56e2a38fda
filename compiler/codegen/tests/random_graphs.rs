//! Random programs, run by the interpreter and as compiled C with all checks of the C compiler: the same bytes come out, whatever the
//! batch, and whether the steady state is code or a table.
#![allow(clippy::disallowed_methods)] // compiled programs are run, on files

mod common;

use common::*;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::NodeId;

/// A stretch of a program between two nodes: gives its last node, and items out for items in.
fn stretch(b: &mut Build, dice: &mut Dice, mut at: NodeId, depth: u32) -> (NodeId, (u64, u64)) {
    let mut gain = (1, 1);
    for _ in 0..1 + dice.roll(3) {
        let (next, (up, down)) = element(b, dice, at, depth);
        at = next;
        gain = (gain.0 * up, gain.1 * down);
    }
    (at, gain)
}

fn element(b: &mut Build, dice: &mut Dice, at: NodeId, depth: u32) -> (NodeId, (u64, u64)) {
    const FILTERS: [(&str, (u64, u64)); 9] = [
        ("Scale", (1, 1)),
        ("Sum3", (1, 1)),
        ("Down", (1, 2)),
        ("Up", (2, 1)),
        ("Both", (1, 1)),
        ("Acc", (1, 1)),
        ("Late", (1, 1)),
        ("Early", (1, 1)),
        ("Echo", (1, 1)),
    ];
    match dice.roll(if depth == 0 { 10 } else { 14 }) {
        13 => {
            let out = b.node("identity", NodeKind::Identity);
            let delay: Vec<i32> = (0..1 + dice.roll(3) as i32).collect();
            b.feedback(at, out, &delay);
            (out, (1, 1))
        }
        n @ 10..=12 => {
            let branches = 2 + dice.roll(2);
            let duplicate = n == 10;
            let first = b.graph.nodes.len();
            let split = b.node("split", NodeKind::Duplicate);
            b.join(at, split);
            let (mut ends, mut gains, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            // weights are known only when the branches are: the splitter gets a stub for each first
            for _ in 0..branches {
                let stub = b.node("identity", NodeKind::Identity);
                b.join(split, stub);
                let (end, gain) = stretch(b, dice, stub, depth - 1);
                ends.push(end);
                gains.push(gain);
                weights.push(1 + dice.roll(3));
            }
            let scale: u64 = gains.iter().map(|g| g.1).product();
            let split_weights: Vec<u32> = weights.iter().map(|w| (w * scale) as u32).collect();
            let each = |i: usize| if duplicate { scale } else { weights[i] * scale };
            let join_weights: Vec<u32> = gains.iter().enumerate().map(|(i, g)| (each(i) * g.0 / g.1) as u32).collect();
            if !duplicate {
                b.graph.nodes[first].kind = NodeKind::SplitRoundRobin(split_weights.clone());
                let input = b.graph.nodes[first].inputs[0];
                let total = split_weights.iter().sum();
                b.graph.channels[input.index()].consume = total;
                b.graph.channels[input.index()].peek = total;
                for (i, w) in split_weights.iter().enumerate() {
                    let c = b.graph.nodes[first].outputs[i];
                    b.graph.channels[c.index()].produce = *w;
                }
            }
            let mut all = join_weights.clone();
            let noisy = dice.roll(3) == 0;
            if noisy {
                all.push(1);
            }
            let join = b.node("join", NodeKind::JoinRoundRobin(all.clone()));
            for end in ends {
                b.join(end, join);
            }
            if noisy {
                let source = b.filter("Count");
                b.join(source, join);
            }
            let into = if duplicate { scale } else { split_weights.iter().map(|w| u64::from(*w)).sum() };
            (join, (all.iter().map(|w| u64::from(*w)).sum(), into))
        }
        _ => {
            let quiet = dice.roll(8) > 0;
            let (name, gain) = FILTERS[if quiet { dice.roll(8) as usize } else { 8 }];
            let f = b.filter(name);
            b.join(at, f);
            (f, gain)
        }
    }
}

/// A program between an open input and an open output, perhaps with a second one beside it.
fn program(seed: u64) -> Build {
    let mut dice = Dice::new(seed);
    let mut b = Build::new();
    let reader = b.reader();
    let (end, _) = stretch(&mut b, &mut dice, reader, 2);
    let writer = b.writer();
    b.join(end, writer);
    if dice.roll(4) == 0 {
        let (loud, show) = (b.filter("Loud"), b.filter("Show"));
        b.join(loud, show);
    }
    b
}

#[test]
fn seeds_0_to_4() {
    native_code_does_what_the_interpreter_does(0..5);
}

#[test]
fn seeds_5_to_9() {
    native_code_does_what_the_interpreter_does(5..10);
}

#[test]
fn seeds_10_to_14() {
    native_code_does_what_the_interpreter_does(10..15);
}

#[test]
fn seeds_15_to_19() {
    native_code_does_what_the_interpreter_does(15..20);
}

fn native_code_does_what_the_interpreter_does(seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    for seed in seeds {
        let mut b = program(seed);
        let Ok(steady) = sluice_frontend::steady_state::steady_state(&b.graph) else { continue };
        if steady.repetitions.iter().sum::<u64>() > 20_000 {
            continue;
        }
        let mut dice = Dice::new(seed + 1000);
        b.options.batch = [None, Some(1), Some(3)][dice.roll(3) as usize];
        b.options.table_above = [3000, 3000, 0][dice.roll(3) as usize];
        b.minimum_latency = dice.roll(3) == 0;
        b.lowered = dice.roll(2) == 0;
        b.options.apart = true;
        let folder = tempfile::tempdir().unwrap();
        let flags = if seed % 3 == 0 { vec!["-O2"] } else { sanitize() };
        let exe = b.executable(folder.path(), &flags);
        let per_state = steady.repetitions[0];
        for length in [0, 1, per_state * 3 + steady.init[0], dice.roll(per_state * 40 + 50)] {
            let input = ints((0..length as i32).map(|i| i * 7 % 23));
            let want = b.interpret(&input, None);
            assert_eq!(want.fault, None);
            let got = run(&exe, &[], &input);
            let told = String::from_utf8_lossy(&got.stderr);
            assert!(got.status.success(), "seed {seed}, {length} items: {told}");
            assert!(
                got.stdout == want.all,
                "seed {seed}, {length}: {} bytes, not {}",
                got.stdout.len(),
                want.all.len()
            );
            // with items in a file, the order of firings is often free
            std::fs::write(folder.path().join("in"), &input).unwrap();
            let got = run(&exe, &["-i", "in", "-o", "out"], &[]);
            assert!(got.status.success(), "seed {seed}: {}", String::from_utf8_lossy(&got.stderr));
            let items = std::fs::read(folder.path().join("out")).unwrap();
            assert!(items == want.items, "seed {seed}, {length}: {:?} {:?}", as_ints(&items), as_ints(&want.items));
            assert!(got.stdout == want.text, "seed {seed}, {length} items: text");
            compared += 1;
        }
        let input = ints(0..100_000);
        let n = 1 + dice.roll(9);
        let want = b.interpret(&input, Some(n));
        let got = run(&exe, &["--iterations", &n.to_string()], &input);
        assert!(got.stdout == want.all, "seed {seed}, {n} iterations");
    }
    assert!(compared > 5, "{compared}");
}
