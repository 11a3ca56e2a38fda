//! The judge refuses wrong schedules by name: one written by hand for every rule.

use crate::random::{edge, task};
use sluice_schedule::problem::judge::{Violation, verify};
use sluice_schedule::problem::modulo::{ModuloProblem, ModuloSchedule};
use sluice_schedule::problem::task::{Order, TaskGraph};

/// A → B → C, one instance each, 3, 4 and 5 cycles; on two processors.
fn chain() -> ModuloProblem {
    let tasks = vec![task("A", 1, 3, false), task("B", 1, 4, false), task("C", 1, 5, false)];
    let edges = vec![edge(0, 1, 2, 2, 0), edge(1, 2, 1, 1, 0)];
    ModuloProblem::new(TaskGraph { tasks, edges, ..TaskGraph::default() }, 2).unwrap()
}

fn schedule(ii: u64, places: &[(u32, u64, u32)]) -> ModuloSchedule {
    ModuloSchedule {
        ii,
        processor: places.iter().map(|p| p.0).collect(),
        start: places.iter().map(|p| p.1).collect(),
        stage: places.iter().map(|p| p.2).collect(),
    }
}

/// A and B on processor 0, C a kernel later on processor 1.
fn right() -> ModuloSchedule {
    schedule(7, &[(0, 0, 0), (0, 3, 0), (1, 0, 1)])
}

fn faults(p: &ModuloProblem, s: ModuloSchedule) -> Vec<Violation> {
    verify(p, s).expect_err("the schedule is wrong")
}

#[test]
fn a_right_one_passes_with_its_buffers() {
    let p = chain();
    let v = verify(&p, right()).unwrap();
    // A's two items are read at once; B's one is written while the one before is read.
    assert_eq!((v.capacity(), v.bytes(&p), v.schedule().stages()), (&[2, 2][..], 16, 2));
    assert_eq!(v.schedule(), &right());
}

#[test]
fn shape() {
    let p = chain();
    assert_eq!(faults(&p, schedule(7, &[(0, 0, 0), (0, 3, 0)])), [Violation::Shape]);
    assert_eq!(faults(&p, ModuloSchedule { ii: 0, ..right() }), [Violation::Shape]);
    let mut s = right();
    s.stage.push(0);
    assert_eq!(faults(&p, s), [Violation::Shape]);
}

#[test]
fn rule_1_a_processor_that_exists() {
    let s = schedule(7, &[(0, 0, 0), (0, 3, 0), (2, 0, 1)]);
    assert_eq!(faults(&chain(), s), [Violation::Processor { instance: 2 }]);
}

#[test]
fn rule_2_one_at_a_time() {
    // C runs beside the end of B.
    let s = schedule(11, &[(0, 0, 0), (0, 3, 0), (0, 6, 1)]);
    assert_eq!(faults(&chain(), s), [Violation::Overlap { first: 1, second: 2 }]);
}

#[test]
fn rule_4_ended_when_the_kernel_ends() {
    // Equality is right, one cycle more is not.
    let s = schedule(7, &[(0, 0, 0), (0, 3, 0), (1, 2, 1)]);
    assert!(verify(&chain(), s).is_ok());
    let s = schedule(7, &[(0, 0, 0), (0, 3, 0), (1, 3, 1)]);
    assert_eq!(faults(&chain(), s), [Violation::Overrun { instance: 2 }]);
    let s = schedule(7, &[(0, 0, 0), (0, 3, 0), (1, u64::MAX, 1)]);
    assert_eq!(faults(&chain(), s), [Violation::Overrun { instance: 2 }]);
}

#[test]
fn rule_8_same_processor_after_its_end() {
    // B before A in the same kernel.
    let s = schedule(7, &[(0, 4, 0), (0, 0, 0), (1, 0, 1)]);
    assert_eq!(faults(&chain(), s), [Violation::TooEarly { edge: Some(0), producer: 0, consumer: 1 }]);
    // A kernel later that is right.
    assert!(verify(&chain(), schedule(7, &[(0, 4, 0), (0, 0, 1), (1, 0, 2)])).is_ok());
}

#[test]
fn rule_8_other_processor_in_a_later_kernel() {
    // C starts long after B's end, in the same kernel, and yet B's item is not there.
    let s = schedule(20, &[(0, 0, 0), (0, 3, 0), (1, 15, 0)]);
    assert_eq!(faults(&chain(), s), [Violation::NotVisible { edge: Some(1), producer: 1, consumer: 2 }]);
}

#[test]
fn peeks_count() {
    let tasks = vec![task("A", 1, 3, false), task("B", 1, 4, false)];
    let mut edges = vec![edge(0, 1, 2, 2, 2)];
    let g = TaskGraph { tasks, edges: edges.clone(), ..TaskGraph::default() };
    let early = schedule(7, &[(0, 3, 0), (1, 0, 0)]);
    // What was there at the start is enough to run a kernel ahead; not if B peeks at one item more.
    assert!(verify(&ModuloProblem::new(g.clone(), 2).unwrap(), early.clone()).is_ok());
    edges[0].peek = 3;
    let p = ModuloProblem::new(TaskGraph { edges, ..g }, 2).unwrap();
    assert_eq!(faults(&p, early), [Violation::NotVisible { edge: Some(0), producer: 0, consumer: 1 }]);
}

#[test]
fn state_is_handed_on() {
    let g = TaskGraph { tasks: vec![task("S", 2, 3, true)], ..TaskGraph::default() };
    let p = ModuloProblem::new(g, 2).unwrap();
    assert!(verify(&p, schedule(6, &[(0, 0, 0), (0, 3, 0)])).is_ok());
    let turned = schedule(6, &[(0, 3, 0), (0, 0, 0)]);
    assert_eq!(faults(&p, turned), [Violation::TooEarly { edge: None, producer: 0, consumer: 1 }]);
    // A kernel apart: S[1] hands to S[0] of the next iteration, which is in the kernel before.
    let apart = schedule(6, &[(0, 0, 0), (1, 0, 1)]);
    assert_eq!(faults(&p, apart), [Violation::NotVisible { edge: None, producer: 1, consumer: 0 }]);
}

#[test]
fn messages_are_waited_for() {
    let tasks = vec![task("A", 1, 3, false), task("B", 1, 3, false)];
    let orders = vec![Order { before: (0, 0), after: (1, 0), distance: 1 }];
    let p = ModuloProblem::new(TaskGraph { tasks, orders, ..TaskGraph::default() }, 2).unwrap();
    assert!(verify(&p, schedule(3, &[(0, 0, 0), (1, 0, 0)])).is_ok());
    let s = schedule(3, &[(0, 0, 1), (1, 0, 0)]);
    assert_eq!(faults(&p, s), [Violation::NotVisible { edge: None, producer: 0, consumer: 1 }]);
    let s = schedule(6, &[(0, 3, 1), (0, 0, 0)]);
    assert_eq!(faults(&p, s), [Violation::TooEarly { edge: None, producer: 0, consumer: 1 }]);
}

#[test]
fn stages_start_at_0() {
    let mut s = right();
    s.stage.iter_mut().for_each(|f| *f += 1);
    assert_eq!(faults(&chain(), s), [Violation::EmptyFirstStage]);
}

#[test]
fn buffers_beyond_64_bits() {
    let tasks = vec![task("A", 1, 3, false), task("B", 1, 4, false)];
    let g = TaskGraph { tasks, edges: vec![edge(0, 1, 1 << 60, 1 << 60, 0)], ..TaskGraph::default() };
    let s = schedule(7, &[(0, 0, 0), (1, 0, 16)]);
    assert_eq!(faults(&ModuloProblem::new(g, 2).unwrap(), s), [Violation::Overflow]);
}
