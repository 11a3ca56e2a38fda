//! # areas
//!
//! Purpose: where tiles lie in a block's shared memory. Input: [`Area`]s, each with its bytes and the first and last step in which it is needed. Output: [`Areas`]: an offset for each, and the bytes of
//! all together. What must hold: two areas that are needed in one step have no byte in common. Steps are divided by barriers; so where two areas share bytes, there is a barrier between the last
//! access to one and the first to the other. `replay` looks at that again, by other means.
//!
//! ```text
//!            step 0   1   2   3
//! a, 4 KiB        ■───■                 a at 0, b at 4096; c is not needed before a is free, and lies where it was:
//! b, 4 KiB            ■───■        →    8 KiB instead of 12
//! c, 4 KiB                ■───■
//! ```
//!
//! An area lies at the lowest offset that is free while it is needed. Which is laid first matters: the largest, the one that is needed longest, and the one that is needed first are tried, and the
//! order that takes the fewest bytes is kept. The least there can be is the most that is needed in one step ([`least`]); to find it is as hard as to colour graphs (dynamic storage allocation: Garey,
//! Johnson, "Computers and Intractability", 1979, SR2), but these orders mostly do.

/// Something that needs a place for some steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// A multiple of [`ALIGN`].
    pub(super) bytes: u64,
    /// The first step that accesses it.
    pub(super) first: usize,
    /// The last one.
    pub(super) last: usize,
}

/// Where everything lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Areas {
    /// By area.
    pub(super) offsets: Vec<u64>,
    /// Of all together.
    pub(super) bytes: u64,
}

/// Bytes that all offsets are multiples of.
pub(super) const ALIGN: u64 = 16;

/// Areas beyond which only one order is tried: each is compared with all that are laid.
const MANY: usize = 1024;

/// What areas are put in order by.
type Key<'a> = &'a dyn Fn(&Area) -> (u64, u64);

/// Lays areas out; `None` where numbers get too large.
pub(super) fn areas(all: &[Area]) -> Option<Areas> {
    let by = |key: Key<'_>| {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|i| (key(&all[*i]), *i));
        order
    };
    let steps = |a: &Area| (a.last - a.first) as u64;
    let orders: [Key<'_>; 3] =
        [&|a| (u64::MAX - a.bytes, u64::MAX - steps(a)), &|a| (u64::MAX - steps(a), u64::MAX - a.bytes), &|a| {
            (a.first as u64, u64::MAX - a.bytes)
        }];
    let least = least(all);
    let tried = if all.len() > MANY { &orders[2..] } else { &orders[..] };
    let mut best: Option<Areas> = None;
    for order in tried {
        let found = first_fit(all, &by(order))?;
        if best.as_ref().is_none_or(|b| found.bytes < b.bytes) {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|b| b.bytes <= least) {
            break;
        }
    }
    best
}

/// The most bytes that are needed in one step.
fn least(all: &[Area]) -> u64 {
    let steps = all.iter().map(|a| a.last + 1).max().unwrap_or(0);
    // what begins and ends at each step
    let mut change = vec![0i128; steps + 1];
    for a in all {
        change[a.first] += i128::from(a.bytes);
        change[a.last + 1] -= i128::from(a.bytes);
    }
    let mut now = 0i128;
    let most = change.iter().map(|by| {
        now += by;
        now
    });
    u64::try_from(most.max().unwrap_or(0)).unwrap_or(u64::MAX)
}

/// One after the other, each at the lowest offset where it meets none that is needed at the same time.
fn first_fit(all: &[Area], order: &[usize]) -> Option<Areas> {
    let mut offsets = vec![0; all.len()];
    // offset, end, and which one: those that are laid, by offset
    let mut laid: Vec<(u64, u64, usize)> = Vec::new();
    let mut most = 0;
    for i in order {
        let area = &all[*i];
        let mut at = 0u64;
        for (offset, end, other) in &laid {
            let other = &all[*other];
            if other.last < area.first || area.last < other.first || area.bytes == 0 {
                continue;
            }
            // laid ones come by offset: what lies behind the gap that is large enough is of no matter
            if at.checked_add(area.bytes)? <= *offset {
                break;
            }
            at = at.max(*end);
        }
        let end = at.checked_add(area.bytes)?;
        offsets[*i] = at;
        most = most.max(end);
        let place = laid.partition_point(|(offset, ..)| *offset < at);
        laid.insert(place, (at, end, *i));
    }
    Some(Areas { offsets, bytes: most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area(bytes: u64, first: usize, last: usize) -> Area {
        Area { bytes, first, last }
    }

    /// Two areas that are needed at the same time and share a byte.
    fn overlap(all: &[Area], found: &Areas) -> Option<(usize, usize)> {
        let pairs = (0..all.len()).flat_map(|i| (0..i).map(move |k| (k, i)));
        pairs.into_iter().find(|(k, i)| {
            let (a, b) = (&all[*k], &all[*i]);
            let together = (a.first..=a.last).any(|s| (b.first..=b.last).contains(&s));
            let bytes = |i: usize| found.offsets[i]..found.offsets[i] + all[i].bytes;
            together && bytes(*k).any(|x| bytes(*i).contains(&x))
        })
    }

    #[test]
    fn a_chain_takes_turns() {
        let chain: Vec<Area> = (0..9).map(|i| area(64, i, i + 1)).collect();
        let found = areas(&chain).unwrap();
        assert_eq!(found.bytes, 128);
        assert_eq!(found.offsets, [0, 64, 0, 64, 0, 64, 0, 64, 0]);
        assert_eq!(areas(&[]), Some(Areas { offsets: vec![], bytes: 0 }));
    }

    #[test]
    fn one_step_in_common_is_enough_to_lie_apart() {
        let found = areas(&[area(32, 0, 2), area(32, 2, 3)]).unwrap();
        assert_eq!(found.bytes, 64);
        let found = areas(&[area(32, 0, 1), area(32, 2, 3)]).unwrap();
        assert_eq!(found.bytes, 32);
    }

    #[test]
    fn a_gap_is_filled_where_there_is_room() {
        // the middle one is free when the last one comes, which is smaller
        let all = [area(64, 0, 5), area(64, 0, 1), area(64, 0, 5), area(48, 2, 5)];
        let found = areas(&all).unwrap();
        assert_eq!((found.bytes, overlap(&all, &found)), (192, None));
    }

    #[test]
    fn numbers_that_are_too_large_have_no_place() {
        assert_eq!(areas(&[area(u64::MAX - 15, 0, 1), area(64, 1, 1)]), None);
    }

    proptest! {
        #[test]
        fn what_is_needed_at_the_same_time_lies_apart(
            some in proptest::collection::vec((0u64..9, 0usize..12, 0usize..6), 0..24),
        ) {
            let all: Vec<Area> = some.into_iter().map(|(n, first, more)| area(n * ALIGN, first, first + more)).collect();
            let found = areas(&all).unwrap();
            prop_assert_eq!(overlap(&all, &found), None);
            let sum: u64 = all.iter().map(|a| a.bytes).sum();
            prop_assert!((least(&all)..=sum).contains(&found.bytes));
            prop_assert!(found.offsets.iter().all(|at| at.is_multiple_of(ALIGN)));
            let end = all.iter().zip(&found.offsets).map(|(a, at)| at + a.bytes).max().unwrap_or(0);
            prop_assert_eq!(found.bytes, end);
        }

        #[test]
        fn chains_with_one_that_stays_take_what_they_need(sizes in proptest::collection::vec(1u64..9, 2..20), stays in 1u64..9) {
            let mut all: Vec<Area> = sizes.iter().enumerate().map(|(i, n)| area(n * ALIGN, i, i + 1)).collect();
            all.push(area(stays * ALIGN, 0, sizes.len()));
            // at most the sum of the two largest neighbours more than is needed
            let most = sizes.iter().max().copied().unwrap_or(0) * ALIGN;
            prop_assert!(areas(&all).unwrap().bytes <= least(&all) + most);
        }
    }
}
