//! Where the turns of a loop are parted, so that what depends on a guard is known in most of them.
//!
//! Input: the guards that a turn looks at. Output: numbers of turns at which parts begin.

/// Is `factor · counter + rest` at least 0, where the rest lies from `low` to `high`?
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    /// What the counter is multiplied by; not 0.
    pub factor: i64,
    /// The least that the rest is.
    pub low: i64,
    /// The greatest that the rest is.
    pub high: i64,
    /// What looking costs in a turn.
    pub weight: u64,
    /// Guards of one division have the same number, which is not 0: between them, its quotient is known.
    pub division: usize,
}

/// A loop's turns: its first value, what a turn adds, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    pub from: i64,
    pub step: i64,
    pub count: i64,
}

/// Parts of a loop, at most.
const MOST_PARTS: usize = 8;
/// So many turns in which a guard stays unknown become parts of one turn each.
const SINGLE: i64 = 4;
/// What guards cost in a turn is such a part of what the turn does, at least.
const PART: u64 = 32;

impl Guard {
    /// The turns, from the one number to before the other, in which the guard is unknown; before and behind them it is known.
    fn unknown(self, t: Turns) -> (i64, i64) {
        let (start, slope) = (self.factor * t.from, self.factor * t.step);
        let up = |a: i64, b: i64| a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0);
        let (first, last) = if slope > 0 {
            // it comes to hold
            (up(-(start + self.high), slope), up(-(start + self.low), slope))
        } else {
            // it comes not to
            ((start + self.low).div_euclid(-slope) + 1, (start + self.high).div_euclid(-slope) + 1)
        };
        (first.clamp(0, t.count), last.clamp(0, t.count))
    }
}

/// Is the quotient of a division the same in half of the turns, at least? Short parts of many quotients are no gain.
fn mostly_the_same(guards: &[Guard], division: usize, t: Turns) -> bool {
    let mut ends: Vec<i64> = vec![0, t.count];
    for g in guards.iter().filter(|g| g.division == division) {
        let (first, last) = g.unknown(t);
        ends.extend([first, last]);
    }
    ends.sort_unstable();
    ends.windows(2).any(|w| (w[1] - w[0]) * 2 >= t.count)
}

/// The ways to part the turns, each as the numbers of turns at which parts begin but the first, ascending; the best one first. `cost` is what a turn does.
pub(super) fn ways(guards: &[Guard], t: Turns, cost: u64) -> Vec<Vec<i64>> {
    let (mut all, mut coarse, mut weight) = (Vec::new(), Vec::new(), 0u64);
    for g in guards {
        let (first, last) = g.unknown(t);
        let ends: Vec<i64> = [first, last].into_iter().filter(|at| (1..t.count).contains(at)).collect();
        if ends.is_empty() || (last - first) * 2 > t.count {
            continue;
        }
        if g.division > 0 && !mostly_the_same(guards, g.division, t) {
            continue;
        }
        weight = weight.saturating_add(g.weight);
        if last - first <= SINGLE {
            all.extend((first + 1).max(1)..last);
        }
        all.extend(&ends);
        coarse.extend(ends);
    }
    if weight.saturating_mul(PART) < cost {
        return Vec::new();
    }
    for list in [&mut all, &mut coarse] {
        list.sort_unstable();
        list.dedup();
    }
    // last: what is longest by itself
    let mut longest = coarse.clone();
    let ends: Vec<i64> = [0].into_iter().chain(coarse.iter().copied()).chain([t.count]).collect();
    if let Some(w) = ends.windows(2).max_by_key(|w| w[1] - w[0]) {
        longest = vec![w[0], w[1]];
        longest.retain(|at| (1..t.count).contains(at));
    }
    let mut ways = vec![all, coarse, longest];
    ways.retain(|w| !w.is_empty() && w.len() < MOST_PARTS);
    ways.dedup();
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_known_before_and_behind() {
        // every guard, turn by turn
        for factor in [-3, -2, -1, 1, 2, 3] {
            for step in [-2, -1, 1, 3] {
                for (low, high) in [(-9, -9), (-4, 4), (0, 7), (5, 6), (-20, -12)] {
                    let t = Turns { from: if step > 0 { -5 } else { 9 }, step, count: 8 };
                    let (first, last) = Guard { factor, low, high, weight: 1, division: 0 }.unknown(t);
                    let of = |k: i64, rest: i64| factor * (t.from + k * step) + rest >= 0;
                    for k in 0..t.count {
                        let known = of(k, low) == of(k, high);
                        assert!(known || (first..last).contains(&k), "{factor} {step} {low} {high}: {k}");
                        // and the same all along
                        if k + 1 < t.count && (k + 1 < first || k >= last) {
                            assert_eq!(of(k, low), of(k + 1, low));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_best_way_comes_first() {
        let t = Turns { from: 0, step: 1, count: 64 };
        let guard = |factor, low, high| Guard { factor, low, high, weight: 9, division: 0 };
        let border = [guard(1, -2, 2), guard(-1, 63 - 2, 63 + 2)];
        assert_eq!(ways(&border, t, 100), [vec![1, 2, 62, 63], vec![2, 62]]);
        // little of a large turn
        assert!(ways(&border, t, 1000).is_empty());
        // unknown in most turns
        assert!(ways(&[guard(1, -60, 0)], t, 100).is_empty());
        // too many parts: the longest one is parted from the others
        let many: Vec<Guard> = (1..=10).map(|k| guard(1, -k, -k)).collect();
        assert_eq!(ways(&many, t, 100), [vec![10]]);
        // quotients: one in most turns, and many
        let divided = |at: &[i64]| at.iter().map(|k| Guard { division: 1, ..guard(1, -k, -k) }).collect::<Vec<_>>();
        assert_eq!(ways(&divided(&[1, 63]), t, 100), [vec![1, 63], vec![1, 63]][..1]);
        assert!(ways(&divided(&[16, 32, 48]), t, 100).is_empty());
    }
}
