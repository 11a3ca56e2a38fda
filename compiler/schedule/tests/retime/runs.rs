//! What retimed and slowed graphs compute: the same streams.
//!
//! A node gives a number made of its own and of what comes in; edges are queues. That is all one has to know of a node: whatever it
//! computes, it is a function of these.

use super::{Dice, correlator, random};
use sluice_schedule::retime::opt::{opt2, smallest};
use sluice_schedule::retime::{DelayGraph, Retiming};
use std::collections::VecDeque;

fn mix(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0xcbf29ce484222325, |h, v| (h ^ v).wrapping_mul(0x100000001b3).rotate_left(17))
}

/// A graph in operation.
struct Machine<'a> {
    graph: &'a DelayGraph,
    queues: Vec<VecDeque<u64>>,
    /// What each node has given.
    given: Vec<Vec<u64>>,
}

impl<'a> Machine<'a> {
    fn new(graph: &'a DelayGraph, queues: Vec<VecDeque<u64>>) -> Machine<'a> {
        Machine { graph, queues, given: vec![Vec::new(); graph.nodes()] }
    }

    /// Initial items of stream `s`.
    fn initial(graph: &DelayGraph, s: u64) -> Vec<VecDeque<u64>> {
        let queue = |(e, edge): (usize, &sluice_schedule::retime::Edge)| {
            (0..edge.delays).map(|i| mix([s, 77, e as u64, i])).collect()
        };
        graph.edges.iter().enumerate().map(queue).collect()
    }

    fn ready(&self, v: usize) -> bool {
        self.graph.edges.iter().zip(&self.queues).all(|(e, q)| e.to != v || !q.is_empty())
    }

    /// Fires a node; where nothing comes in, `source` tells what it gives.
    fn fire(&mut self, v: usize, source: impl Fn(u64) -> u64) {
        let mut values = vec![v as u64];
        for (e, q) in self.graph.edges.iter().zip(&mut self.queues) {
            if e.to == v {
                values.push(q.pop_front().unwrap());
            }
        }
        if values.len() == 1 {
            values.push(source(self.given[v].len() as u64));
        }
        let value = mix(values);
        self.given[v].push(value);
        for (e, q) in self.graph.edges.iter().zip(&mut self.queues) {
            if e.from == v {
                q.push_back(value);
            }
        }
    }

    /// Fires nodes until each has fired as often as wanted.
    fn run(&mut self, wanted: &[u64], source: impl Fn(u64) -> u64 + Copy) {
        loop {
            let next = |v: &usize| (self.given[*v].len() as u64) < wanted[*v] && self.ready(*v);
            let Some(v) = (0..self.graph.nodes()).find(next) else { break };
            self.fire(v, source);
        }
        assert!(self.given.iter().zip(wanted).all(|(g, w)| g.len() as u64 == *w));
    }
}

fn streams(graph: &DelayGraph, iterations: u64, s: u64) -> Vec<Vec<u64>> {
    let mut m = Machine::new(graph, Machine::initial(graph, s));
    m.run(&vec![iterations; graph.nodes()], |i| mix([s, i]));
    m.given
}

/// Runs a retimed graph as [`Retiming::prologue`] says; its streams must be the original's.
fn same_when_retimed(g: &DelayGraph, r: &Retiming) {
    const ITERATIONS: u64 = 7;
    let prologue = r.prologue();
    let retimed = g.retimed(r).unwrap();
    let mut start = Machine::new(g, Machine::initial(g, 0));
    start.run(&prologue, |i| mix([0, i]));
    let fill: Vec<u64> = start.queues.iter().map(|q| q.len() as u64).collect();
    assert_eq!(fill, retimed.edges.iter().map(|e| e.delays).collect::<Vec<_>>());
    let mut m = Machine::new(&retimed, start.queues);
    m.given = start.given;
    for i in 1..=ITERATIONS {
        let wanted: Vec<u64> = prologue.iter().map(|p| p + i).collect();
        m.run(&wanted, |i| mix([0, i]));
        // after every iteration the delays are where they were
        assert!(m.queues.iter().zip(&retimed.edges).all(|(q, e)| q.len() as u64 == e.delays));
    }
    let all = streams(g, ITERATIONS + prologue.iter().max().unwrap(), 0);
    for (given, all) in m.given.iter().zip(all) {
        assert_eq!(*given, all[..given.len()]);
    }
}

#[test]
fn the_correlator_correlates_as_before() {
    let g = correlator();
    same_when_retimed(&g, &opt2(&g).unwrap().retiming);
    same_when_retimed(&g, &Retiming(vec![0, -1, -1, -2, -2, -2, -1, 0]));
}

#[test]
fn retimed_graphs_give_the_same_streams() {
    let mut dice = Dice::new(21);
    let mut moved = 0;
    for _ in 0..400 {
        let n = 1 + dice.roll(12);
        let edges = dice.roll(3 * n);
        let g = random(&mut dice, n, edges);
        let r = smallest(&g).unwrap().retiming;
        moved += usize::from(r.0.iter().any(|x| *x != r.0[0]));
        same_when_retimed(&g, &r);
    }
    assert!(moved > 100, "{moved}");
}

#[test]
fn a_slowed_graph_gives_the_streams_of_separate_runs() {
    let mut dice = Dice::new(22);
    for _ in 0..300 {
        let n = 1 + dice.roll(10);
        let edges = dice.roll(3 * n);
        let g = random(&mut dice, n, edges);
        let c = 1 + dice.roll(4);
        let slow = g.slowed(c).unwrap();
        // items of the streams in turns, initial ones too
        let each: Vec<_> = (0..c).map(|s| Machine::initial(&g, s)).collect();
        let queues = (0..g.edges.len())
            .map(|e| (0..slow.edges[e].delays).map(|i| each[(i % c) as usize][e][(i / c) as usize]).collect());
        let mut m = Machine::new(&slow, queues.collect());
        let source = |i: u64| mix([i % c, i / c]);
        m.run(&vec![5 * c; g.nodes()], source);
        for s in 0..c {
            let separate = streams(&g, 5, s);
            for (v, given) in m.given.iter().enumerate() {
                let of_s: Vec<u64> = given.iter().skip(s as usize).step_by(c as usize).copied().collect();
                assert_eq!(of_s, separate[v], "stream {s} of {c}");
            }
        }
        // and retimed on top
        same_when_retimed(&slow, &smallest(&slow).unwrap().retiming);
    }
}
