//! One wrong schedule for each rule, refused by the rule's name; and right ones beside them.

use crate::graphs::{channel, graph, node, rates, steady};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::typed::Rates;
use sluice_schedule::judge::{DEPTH, Violation, verify, verify_within};
use sluice_schedule::sequential::{SequentialSchedule, Step};

fn fire(n: u32, times: u64) -> Step {
    Step::Fire { node: NodeId(n), times }
}

fn turns(times: u64, body: Vec<Step>) -> Step {
    Step::Loop { times, body }
}

fn schedule(init: Vec<Step>, steady: Vec<Step>) -> SequentialSchedule {
    SequentialSchedule { init, steady, batch: 1 }
}

/// A pushes 2, B pops 3.
fn two_three() -> SdfGraph {
    graph(&[(0, 1, 2, 3, 0)])
}

fn refused(g: &SdfGraph, s: SequentialSchedule) -> Vec<Violation> {
    verify(g, &steady(g), s).map(|v| panic!("passed: {v:?}")).unwrap_err()
}

const N0: NodeId = NodeId(0);
const N1: NodeId = NodeId(1);
const C0: ChannelId = ChannelId(0);

#[test]
fn right_schedules_pass_with_their_buffers() {
    let g = two_three();
    for (steps, highest) in [
        (vec![fire(0, 3), fire(1, 2)], 6),
        (vec![fire(0, 2), fire(1, 1), fire(0, 1), fire(1, 1)], 4),
        (vec![turns(3, vec![fire(0, 1)]), turns(1, vec![turns(2, vec![fire(1, 1)])])], 6),
    ] {
        let verified = verify(&g, &steady(&g), schedule(Vec::new(), steps.clone())).unwrap();
        assert_eq!(verified.highest_fill(), [highest]);
        assert_eq!(verified.schedule().steady, steps);
    }
}

#[test]
fn items_are_missing() {
    let wrong = schedule(Vec::new(), vec![fire(0, 1), fire(1, 1), fire(0, 2), fire(1, 1)]);
    assert_eq!(refused(&two_three(), wrong), [Violation::MissingItems { node: N1, channel: C0, have: 2, need: 3 }]);
    // within many firings of one step: 2 · 3 items, 4 there
    let wrong = schedule(Vec::new(), vec![fire(0, 2), fire(1, 2), fire(0, 1)]);
    assert_eq!(refused(&two_three(), wrong), [Violation::MissingItems { node: N1, channel: C0, have: 4, need: 6 }]);
    // only in the second turn of a loop
    let g = graph(&[(0, 1, 2, 3, 1)]);
    let wrong = schedule(Vec::new(), vec![turns(2, vec![fire(0, 1), fire(1, 1)]), fire(0, 1)]);
    assert_eq!(refused(&g, wrong), [Violation::MissingItems { node: N1, channel: C0, have: 1, need: 2 }]);
}

#[test]
fn a_peek_finds_nothing() {
    let mut g = SdfGraph::default();
    (0..2).for_each(|_| {
        node(&mut g, None);
    });
    channel(&mut g, 0, 1, Rates { push: 1, pop: 1, peek: 3 }, 0);
    let right = schedule(vec![fire(0, 2)], vec![fire(0, 1), fire(1, 1)]);
    assert!(verify(&g, &steady(&g), right).is_ok());
    // popping alone would find its item
    let wrong = schedule(vec![fire(0, 2)], vec![fire(1, 1), fire(0, 1)]);
    assert_eq!(refused(&g, wrong), [Violation::MissingItems { node: N1, channel: C0, have: 2, need: 3 }]);
}

#[test]
fn a_peek_without_initialisation() {
    let mut g = SdfGraph::default();
    (0..2).for_each(|_| {
        node(&mut g, None);
    });
    channel(&mut g, 0, 1, Rates { push: 1, pop: 1, peek: 3 }, 0);
    let wrong = schedule(Vec::new(), vec![fire(0, 1), fire(1, 1)]);
    assert_eq!(refused(&g, wrong), [Violation::WrongCount { node: N0, fires: 0, should: 2, init: true }]);
}

#[test]
fn a_prework_needs_more_than_work() {
    let mut g = SdfGraph::default();
    node(&mut g, None);
    node(&mut g, Some(Rates { push: 0, pop: 2, peek: 5 }));
    channel(&mut g, 0, 1, rates(1, 1), 0);
    assert!(verify(&g, &steady(&g), schedule(vec![fire(0, 5), fire(1, 1)], vec![fire(1, 1), fire(0, 1)])).is_ok());
    let wrong = schedule(vec![fire(0, 4), fire(1, 1), fire(0, 1)], vec![fire(0, 1), fire(1, 1)]);
    assert_eq!(refused(&g, wrong), [Violation::MissingItems { node: N1, channel: C0, have: 4, need: 5 }]);
    // the prework in the first turn of a loop
    let looped = schedule(vec![turns(1, vec![fire(0, 5), fire(1, 1)])], vec![fire(1, 1), fire(0, 1)]);
    assert!(verify(&g, &steady(&g), looped).is_ok());
}

#[test]
fn wrong_counts_in_the_initialisation() {
    let wrong = schedule(vec![fire(0, 3), fire(1, 2)], vec![fire(0, 3), fire(1, 2)]);
    assert_eq!(
        refused(&two_three(), wrong),
        [
            Violation::WrongCount { node: N0, fires: 3, should: 0, init: true },
            Violation::WrongCount { node: N1, fires: 2, should: 0, init: true },
        ]
    );
}

#[test]
fn a_prework_left_out() {
    let mut g = SdfGraph::default();
    node(&mut g, Some(rates(4, 0)));
    node(&mut g, None);
    channel(&mut g, 0, 1, rates(1, 1), 0);
    let wrong = schedule(Vec::new(), vec![fire(0, 1), fire(1, 1)]);
    assert_eq!(refused(&g, wrong), [Violation::WrongCount { node: N0, fires: 0, should: 1, init: true }]);
}

#[test]
fn wrong_counts_in_the_steady_state() {
    // balanced, but two steady states at once
    let wrong = schedule(Vec::new(), vec![fire(0, 6), fire(1, 4)]);
    let fault = |node, fires, should| Violation::WrongCount { node, fires, should, init: false };
    assert!(refused(&two_three(), wrong).starts_with(&[fault(N0, 6, 3), fault(N1, 4, 2)]));
    let mut doubled = schedule(Vec::new(), vec![fire(0, 6), fire(1, 4)]);
    doubled.batch = 2;
    assert!(verify(&two_three(), &steady(&two_three()), doubled).is_ok());
    let missing = schedule(Vec::new(), vec![fire(0, 3), fire(1, 1)]);
    assert!(refused(&two_three(), missing).contains(&fault(N1, 1, 2)));
}

#[test]
fn the_end_is_not_the_start() {
    let g = two_three();
    // a steady state that does not balance: the counts are as it says, the items are not
    let claimed = SteadyState { repetitions: vec![3, 1], ..steady(&g) };
    let wrong = schedule(Vec::new(), vec![fire(0, 3), fire(1, 1)]);
    assert_eq!(verify(&g, &claimed, wrong).unwrap_err(), [Violation::WrongFill { channel: C0, have: 3, should: 0 }]);
    // a boundary that is not there
    let claimed = SteadyState { boundary_fill: vec![1], ..steady(&g) };
    let wrong = schedule(Vec::new(), vec![fire(0, 3), fire(1, 2)]);
    assert_eq!(verify(&g, &claimed, wrong).unwrap_err(), [Violation::WrongFill { channel: C0, have: 0, should: 1 }]);
}

#[test]
fn buffers_too_small() {
    let g = two_three();
    let all = schedule(Vec::new(), vec![fire(0, 3), fire(1, 2)]);
    let fault = [Violation::OverCapacity { channel: C0, have: 6, capacity: 5 }];
    assert_eq!(verify_within(&g, &steady(&g), all.clone(), &[5]).unwrap_err(), fault);
    assert!(verify_within(&g, &steady(&g), all, &[6]).is_ok());
    let early = schedule(Vec::new(), vec![fire(0, 2), fire(1, 1), fire(0, 1), fire(1, 1)]);
    assert!(verify_within(&g, &steady(&g), early.clone(), &[4]).is_ok());
    assert_eq!(verify_within(&g, &steady(&g), early, &[]).unwrap_err(), [Violation::WrongShape]);
    // only in the middle of a loop's last turn
    let g = graph(&[(0, 1, 3, 1, 0)]);
    let body = schedule(Vec::new(), vec![turns(1, vec![fire(0, 1), turns(3, vec![fire(1, 1)])])]);
    let fault = [Violation::OverCapacity { channel: C0, have: 3, capacity: 2 }];
    assert_eq!(verify_within(&g, &steady(&g), body, &[2]).unwrap_err(), fault);
}

#[test]
fn a_buffer_of_the_initialisation_too_small() {
    let g = two_three();
    let mut claimed = steady(&g);
    claimed.init = vec![3, 2];
    // what the code generator would make room for
    claimed.init_peak = vec![5];
    claimed.repetitions = vec![0, 0];
    let s = schedule(vec![fire(0, 3), fire(1, 2)], Vec::new());
    let fault = [Violation::OverCapacity { channel: C0, have: 6, capacity: 5 }];
    assert_eq!(verify(&g, &claimed, s).unwrap_err(), fault);
}

#[test]
fn steps_that_are_none() {
    let g = two_three();
    let right = || vec![fire(0, 3), fire(1, 2)];
    for empty in [fire(0, 0), turns(0, vec![fire(0, 1)]), turns(2, Vec::new()), turns(1, vec![turns(1, Vec::new())])] {
        let with = |mut steps: Vec<Step>| {
            steps.push(empty.clone());
            steps
        };
        assert_eq!(refused(&g, schedule(Vec::new(), with(right()))), [Violation::EmptyStep]);
        assert_eq!(refused(&g, schedule(with(Vec::new()), right())), [Violation::EmptyStep]);
    }
}

#[test]
fn nodes_that_are_none() {
    let wrong = schedule(Vec::new(), vec![fire(0, 3), fire(1, 2), fire(2, 1)]);
    assert_eq!(refused(&two_three(), wrong), [Violation::UnknownNode(NodeId(2))]);
    let wrong = schedule(vec![turns(1, vec![fire(u32::MAX, 1)])], vec![fire(0, 3), fire(1, 2)]);
    assert_eq!(refused(&two_three(), wrong), [Violation::UnknownNode(NodeId(u32::MAX))]);
}

#[test]
fn loops_too_deep() {
    let deep = |n: usize| (0..n).fold(fire(0, 3), |body, _| turns(1, vec![body]));
    let of = |n| schedule(Vec::new(), vec![deep(n), fire(1, 2)]);
    assert!(verify(&two_three(), &steady(&two_three()), of(DEPTH)).is_ok());
    assert_eq!(refused(&two_three(), of(DEPTH + 1)), [Violation::TooDeep]);
}

#[test]
fn a_steady_state_of_another_graph() {
    let right = schedule(Vec::new(), vec![fire(0, 3), fire(1, 2)]);
    let g = graph(&[(0, 1, 2, 3, 0), (1, 2, 1, 1, 0)]);
    assert_eq!(verify(&g, &steady(&two_three()), right.clone()).unwrap_err(), [Violation::WrongShape]);
    let never = SequentialSchedule { batch: 0, ..right };
    assert_eq!(refused(&two_three(), never), [Violation::WrongShape]);
}

#[test]
fn numbers_too_large() {
    let g = two_three();
    let many = (0..40).fold(fire(0, u64::MAX), |body, _| turns(u64::MAX, vec![body]));
    assert_eq!(refused(&g, schedule(Vec::new(), vec![many])), [Violation::Overflow]);
    let wrong = schedule(vec![fire(0, u64::MAX), fire(0, u64::MAX)], Vec::new());
    assert_eq!(refused(&g, wrong), [Violation::Overflow]);
    let batch = SequentialSchedule { batch: u64::MAX, ..schedule(Vec::new(), vec![fire(0, 3), fire(1, 2)]) };
    assert_eq!(refused(&g, batch), [Violation::Overflow]);
}

#[test]
fn a_channel_from_a_node_to_itself() {
    // one item goes round: as many firings in a row as one likes
    let mut g = graph(&[(0, 0, 1, 1, 1), (0, 1, 1, 5, 0)]);
    let right = schedule(Vec::new(), vec![fire(0, 5), fire(1, 1)]);
    let verified = verify(&g, &steady(&g), right.clone()).unwrap();
    assert_eq!(verified.highest_fill(), [1, 5]);
    g.channels[0].initial.clear();
    let claimed = SteadyState { boundary_fill: vec![0, 0], ..steady(&graph(&[(0, 0, 1, 1, 1), (0, 1, 1, 5, 0)])) };
    let fault = Violation::MissingItems { node: N0, channel: C0, have: 0, need: 1 };
    assert_eq!(verify(&g, &claimed, right).unwrap_err(), [fault]);
}
