//! Sizes: nothing may recurse over a graph, or take time that grows with its square.

use crate::graphs::{Dice, channel, graph, node, rates, steady};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::CodeId;
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::typed::Rates;
use sluice_schedule::judge::verify;
use sluice_schedule::minimum_latency::{self, minimum_latency};
use sluice_schedule::sequential::Step;
use sluice_schedule::single_appearance::single_appearance;

const MANY: u32 = 100_000;

/// Both schedules, judged; gives the steps of the first.
fn both(g: &SdfGraph) -> Vec<Step> {
    let s = steady(g);
    let sa = verify(g, &s, single_appearance(g, &s, 1).unwrap()).unwrap();
    match minimum_latency(g, &s) {
        Ok(ml) => {
            verify(g, &s, ml).unwrap();
        }
        Err(e) => assert!(matches!(e, minimum_latency::Failure::TooLong(_)), "{e:?}"),
    }
    sa.schedule().steady.clone()
}

#[test]
fn a_long_pipeline() {
    let g = graph(&(1..MANY).map(|i| (i - 1, i, 1, 1, 0)).collect::<Vec<_>>());
    assert_eq!(both(&g).len(), MANY as usize);
    // where everybody peeks, the initialisation is long: only its firings are counted
    let mut g = SdfGraph::default();
    (0..MANY).for_each(|_| {
        node(&mut g, None);
    });
    (1..MANY).for_each(|i| {
        channel(&mut g, i - 1, i, Rates { push: 1, pop: 1, peek: 3 }, 0);
    });
    assert_eq!(steady(&g).init[0], 2 * u64::from(MANY - 1));
    both(&g);
}

#[test]
fn a_source_far_before_slow_filters() {
    // the source fires 1,000 times for each firing of 10,000 filters
    let g = graph(&(1..10_000).map(|i| (i - 1, i, 1, if i == 1 { 1000 } else { 1 }, 0)).collect::<Vec<_>>());
    both(&g);
}

#[test]
fn a_long_ring() {
    let mut channels: Vec<_> = (1..MANY).map(|i| (i - 1, i, 1, 1, 0)).collect();
    channels.push((MANY - 1, 0, 1, 1, 1));
    let steps = both(&graph(&channels));
    assert!(matches!(&steps[..], [Step::Loop { times: 1, body }] if body.len() == MANY as usize));
    channels[MANY as usize - 1].4 = 0;
    assert_eq!(steady_state(&graph(&channels)).unwrap_err()[0].code, "E0303");
}

#[test]
fn many_loops() {
    // one after the other; in half of them a single item goes round while eight pass
    let n = MANY / 4;
    let mut channels = Vec::new();
    for i in 0..n {
        let (a, b) = (2 * i, 2 * i + 1);
        channels.extend([(a, b, 2, 2, 0), (b, a, 2, 2, if i % 2 == 0 { 2 } else { 16 })]);
        if i > 0 {
            channels.push((a - 1, a, 1, 1, 0));
        }
    }
    assert_eq!(both(&graph(&channels)).len(), n as usize);
    // all of them without items
    channels.iter_mut().for_each(|c| c.4 = 0);
    let d = steady_state(&graph(&channels)).unwrap_err();
    assert!(d.len() <= 20 && d.iter().all(|d| d.code == "E0303"), "{}", d.len());
}

#[test]
fn loops_within_loops() {
    // each level runs twice as often as the one around it, and has all items of its iteration
    let depth = 40;
    let mut channels = Vec::new();
    for i in 0..depth {
        channels.extend([(i, i + 1, 2, 1, 0), (i + 1, i, 1, 2, 2)]);
    }
    let steps = both(&graph(&channels));
    let mut count = vec![0; depth as usize + 1];
    crate::random::appearances(&steps, &mut count);
    assert!(count.iter().all(|c| *c == 1), "{count:?}");
}

#[test]
fn wide_splitjoins() {
    let mut channels = Vec::new();
    for i in 0..MANY / 2 {
        channels.extend([(0, i + 1, 1, 1, 0), (i + 1, MANY / 2 + 1, 1, 1, 0)]);
    }
    both(&graph(&channels));
}

#[test]
fn nothing_flows_through_a_long_pipeline() {
    // the last filter pops nothing: nobody before it may fire
    let mut g = graph(&(1..MANY).map(|i| (i - 1, i, 1, u32::from(i < MANY - 1), 0)).collect::<Vec<_>>());
    let rates = Rates::default();
    let last =
        NodeKind::Filter { code: CodeId(0), rates, prework: None, stateful: false, prints: false, dynamic: false };
    g.nodes[MANY as usize - 1].kind = last;
    assert_eq!(steady_state(&g).unwrap_err()[0].code, "E0302");
}

#[test]
fn a_random_graph() {
    let mut d = Dice::new(1);
    let mut g = SdfGraph::default();
    let rate: Vec<u64> = (0..MANY).map(|_| 1 << d.roll(3)).collect();
    (0..MANY).for_each(|_| {
        node(&mut g, None);
    });
    let mut join = |a: u32, b: u32, items: u64| {
        let (x, y) = (rate[a as usize], rate[b as usize]);
        let most = x.max(y);
        channel(&mut g, a, b, rates((most / x) as u32, (most / y) as u32), items);
    };
    for v in 1..MANY {
        join(v - 1 - d.roll(u64::from(v.min(9))) as u32, v, 0);
        if v > 100 && d.roll(50) == 0 {
            join(v, v - 1 - d.roll(30) as u32, 8);
        }
    }
    both(&g);
}
