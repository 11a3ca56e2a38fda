//! Maps against what they say of a whole input, item by item.

use super::map::{Budget, Map, Row, TooLarge};
use std::rc::Rc;

/// What a map gives of an input: all items whose needs it meets.
fn gives(map: &Map, x: &[f64]) -> Vec<f64> {
    let item = |i: u64| {
        let (period, row) = (i / map.push(), &map.rows[(i % map.push()) as usize]);
        let from = (row.start + period * map.pop) as usize;
        row.plus + row.taps.iter().zip(&x[from.min(x.len())..]).map(|(t, x)| t * x).sum::<f64>()
    };
    (0..).take_while(|i| map.needed(*i) <= x.len() as u64).map(item).collect()
}

fn filter(pop: u32, peek: u32, rows: &[&[f64]]) -> Map {
    let row = |taps: &&[f64]| Row { start: 0, taps: taps.to_vec(), plus: 0.5 };
    Map::of_filter(pop, peek, rows.iter().map(row).collect()).unwrap()
}

fn all() -> Vec<Map> {
    vec![
        Map::identity(),
        filter(1, 1, &[&[2.0]]),
        filter(1, 3, &[&[1.0, 0.0, -1.0]]),
        filter(2, 2, &[&[0.0, 1.0]]),
        filter(2, 5, &[&[0.0, 0.0, 3.0, 0.0, 1.0], &[0.0; 5], &[1.0, 2.0, 0.0, 0.0, 0.0]]),
        filter(1, 1, &[&[1.0], &[0.0], &[0.0]]),
        filter(3, 4, &[&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0, 0.0, 0.0]]),
        Map::port(&[2, 1, 3], 2).unwrap(),
    ]
}

fn inputs() -> impl Iterator<Item = Vec<f64>> {
    (0..60).map(|n| (0..n).map(|i| f64::from(i * i % 17) - 5.0).collect())
}

#[test]
fn one_after_the_other() {
    for a in all() {
        for b in all() {
            let both = a.then(&b, &mut Budget(1 << 20)).unwrap();
            for x in inputs() {
                let (two, one) = (gives(&b, &gives(&a, &x)), gives(&both, &x));
                assert_eq!(two, one, "{a:?} then {b:?} of {} items", x.len());
            }
        }
    }
}

#[test]
fn side_by_side() {
    let (a, b) =
        (Rc::new(filter(1, 4, &[&[1.0, 0.0, 2.0, 0.0]])), Rc::new(filter(2, 3, &[&[1.0, 1.0, 1.0], &[0.0; 3]])));
    let both = Map::join(&[a.clone(), b.clone()], &[2, 2], &mut Budget(1 << 20)).unwrap();
    for x in inputs() {
        let (ya, yb) = (gives(&a, &x), gives(&b, &x));
        let rounds = (ya.len() / 2).min(yb.len() / 2);
        let dealt: Vec<f64> = (0..rounds).flat_map(|r| [ya[2 * r], ya[2 * r + 1], yb[2 * r], yb[2 * r + 1]]).collect();
        assert_eq!(dealt, gives(&both, &x));
    }
    // rates that do not balance are no splitjoin
    assert_eq!(Map::join(&[a, b], &[1, 2], &mut Budget(1 << 20)), Err(TooLarge));
}

#[test]
fn firings_give_each_item_as_soon_as_it_can_come() {
    for (map, ahead) in [
        (filter(1, 3, &[&[1.0, 1.0, 1.0]]), Some(0)),
        // of four zeros in a row behind an item, what follows looks over the edge: one item can come before the others
        (
            filter(1, 1, &[&[1.0], &[0.0], &[0.0], &[0.0]])
                .then(&filter(1, 4, &[&[1.0; 4]]), &mut Budget(1 << 20))
                .unwrap(),
            Some(1),
        ),
        (
            filter(1, 2, &[&[1.0, 0.0], &[0.0, 2.0]]).then(&filter(3, 3, &[&[1.0; 3]]), &mut Budget(1 << 20)).unwrap(),
            None,
        ),
    ] {
        let steps = map.steps();
        assert_eq!(steps.as_ref().map(|s| s.first.as_ref().map_or(0, |(rows, _)| rows.len())), ahead, "{map:?}");
        let Some(steps) = steps else { continue };
        for x in inputs() {
            let (mut y, mut at) = (0, 0);
            if let Some((rows, peek)) = &steps.first {
                if x.len() as u64 >= *peek {
                    y += rows.len();
                } else {
                    at = u64::MAX - steps.peek;
                }
            }
            while at + steps.peek <= x.len() as u64 {
                (y, at) = (y + steps.rows.len(), at + steps.pop);
            }
            assert_eq!(y, gives(&map, &x).len(), "{map:?} of {} items", x.len());
        }
    }
}

#[test]
fn what_is_too_large_is_not_made() {
    let long = filter(1, 1000, &[&[1.0; 1000]]);
    assert_eq!(long.then(&long, &mut Budget(8999)), Err(TooLarge));
    assert!(long.then(&long, &mut Budget(1 << 20)).is_ok());
    let many = filter(1, 1, &[&[1.0f64][..]; 70]);
    assert_eq!(many.then(&many, &mut Budget(1 << 20)), Err(TooLarge));
    let infinite = Row { start: 0, taps: vec![f64::MAX], plus: 0.0 };
    let large = Map::of_filter(1, 1, vec![infinite]).unwrap();
    assert_eq!(large.then(&large, &mut Budget(9)), Err(TooLarge));
}
