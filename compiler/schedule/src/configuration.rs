//! # configuration
//!
//! Purpose: how many registers a thread of a program has on a GPU, and how many threads fire each filter. Input: what a firing takes for each choice ([`Measurements`]). Output: the
//! [`Configuration`] whose initiation interval is the shortest for the work done in it.
//!
//! Source: Udupa, Govindarajan, Thazhuthaveetil, "Software Pipelined Execution of Stream Programs on GPUs", figure 7, with its misprints corrected: line 4 looks for k up to
//! numThreads, and line 10's k is the one chosen there. All filters are compiled together, so they have one limit of registers; blocks of the kernel have one size, in which every filter must
//! fit, and of which a filter may leave threads idle. Instances are scaled so that each iteration does the same work, which is what dividing by the work (lines 14 and 15)
//! comes to: a filter's part of the interval is its firings in a steady state times what one of them takes. What figure 7 leaves out: filters with state are not spread over
//! multiprocessors, so that the interval is at least as long as the longest of them.

/// What a filter was measured to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Firings in a steady state.
    pub firings: u64,
    /// They follow one another, on one multiprocessor.
    pub serial: bool,
    /// By limit of registers, then by number of threads: nanoseconds of a firing on a multiprocessor that does nothing else; `None` where there is no room for so many.
    pub time: Vec<Vec<Option<f64>>>,
}

/// What was measured of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// Limits of a thread's registers, ascending.
    pub limits: Vec<u32>,
    /// Threads of a block, ascending.
    pub threads: Vec<u32>,
    /// Multiprocessors.
    pub processors: u32,
    /// Its filters, splitters, joiners and ends.
    pub filters: Vec<Measured>,
}

/// A choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The limit of a thread's registers.
    pub registers: u32,
    /// Threads of a block.
    pub threads: u32,
    /// By filter, threads that fire it.
    pub each: Vec<u32>,
    /// By filter, nanoseconds of a firing on a multiprocessor.
    pub time: Vec<f64>,
    /// Nanoseconds of a steady state on all multiprocessors.
    pub interval: f64,
}

impl Measurements {
    /// Nanoseconds of a steady state where firings take so long: of all multiprocessors, and their sum.
    pub fn interval(&self, time: &[f64]) -> (f64, f64) {
        let each = || self.filters.iter().zip(time).map(|(f, t)| (f.serial, f.firings as f64 * t));
        let work: f64 = each().map(|(_, t)| t).sum();
        let longest = each().filter(|(serial, _)| *serial).map(|(_, t)| t).fold(0.0, f64::max);
        ((work / f64::from(self.processors.max(1))).max(longest), work)
    }

    /// The best choice among blocks of at most so many threads: the shortest interval, then the least work, the smallest block, the most registers. `None` where
    /// there is no pair of a limit and a block that has room for every filter.
    pub fn choose(&self, most_threads: u32) -> Option<Configuration> {
        let mut best: Option<((f64, f64), Configuration)> = None;
        for (t, threads) in self.threads.iter().enumerate().filter(|(_, n)| **n <= most_threads) {
            for (r, registers) in self.limits.iter().enumerate().rev() {
                if !self.filters.iter().all(|f| f.time[r][t].is_some()) {
                    continue;
                }
                // the fewest threads of those that are as fast
                let fastest = |f: &Measured| {
                    let all = (0..=t).filter_map(|k| Some((k, f.time[r][k]?)));
                    all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((t, 0.0))
                };
                let (each, time): (Vec<u32>, Vec<f64>) =
                    self.filters.iter().map(fastest).map(|(k, time)| (self.threads[k], time)).unzip();
                let found = self.interval(&time);
                if best.as_ref().is_none_or(|(before, _)| found < *before) {
                    let configuration =
                        Configuration { registers: *registers, threads: *threads, each, time, interval: found.0 };
                    best = Some((found, configuration));
                }
            }
        }
        best.map(|(_, configuration)| configuration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filter(firings: u64, serial: bool, time: &[&[f64]]) -> Measured {
        // less than nothing: no room
        let row = |r: &&[f64]| r.iter().map(|t| (*t >= 0.0).then_some(*t)).collect();
        Measured { firings, serial, time: time.iter().map(row).collect() }
    }

    fn of(processors: u32, filters: Vec<Measured>) -> Measurements {
        Measurements { limits: vec![32, 64], threads: vec![128, 256, 512], processors, filters }
    }

    #[test]
    fn a_filter_may_leave_threads_idle() {
        // the second one is best with 128 threads, in blocks of 512
        let all = of(
            2,
            vec![
                filter(1, false, &[&[9.0, 5.0, 3.0], &[8.0, 6.0, -1.0]]),
                filter(4, false, &[&[1.0, 2.0, 2.0], &[1.0, 2.0, 2.0]]),
            ],
        );
        let best = all.choose(1024).unwrap();
        assert_eq!((best.registers, best.threads, &best.each[..]), (32, 512, &[512, 128][..]));
        assert_eq!((&best.time[..], best.interval), (&[3.0, 1.0][..], 3.5));
        // blocks of 512 threads have no room for the first one with 64 registers; among smaller ones, the best is another
        let best = all.choose(256).unwrap();
        assert_eq!((best.registers, best.threads, &best.each[..]), (32, 256, &[256, 128][..]));
        assert_eq!(all.choose(128).map(|c| (c.registers, c.interval)), Some((64, 6.0)));
        assert_eq!(all.choose(96), None);
    }

    #[test]
    fn equal_choices_take_little() {
        let all = of(1, vec![filter(3, false, &[&[2.0; 3], &[2.0; 3]])]);
        let best = all.choose(1024).unwrap();
        // small blocks, and code that nobody holds back
        assert_eq!((best.registers, best.threads, &best.each[..]), (64, 128, &[128][..]));
    }

    #[test]
    fn one_filter_without_room_is_enough() {
        let all = of(1, vec![filter(1, false, &[&[1.0; 3], &[0.5; 3]]), filter(1, false, &[&[1.0; 3], &[-1.0; 3]])]);
        assert_eq!(all.choose(1024).map(|c| c.registers), Some(32));
        let none = of(1, vec![filter(1, false, &[&[1.0; 3], &[0.5; 3]]), filter(1, false, &[&[-1.0; 3], &[-1.0; 3]])]);
        assert_eq!(none.choose(1024), None);
    }

    #[test]
    fn state_is_not_spread() {
        // 64 registers make the plain filter faster, 32 the one with state, which takes the longest
        let plain = filter(100, false, &[&[3.0; 3], &[1.0; 3]]);
        let stateful = filter(10, true, &[&[9.0; 3], &[9.5; 3]]);
        let best = of(100, vec![plain.clone(), stateful.clone()]).choose(1024).unwrap();
        assert_eq!((best.registers, best.interval), (32, 90.0));
        let best = of(1, vec![plain, stateful]).choose(1024).unwrap();
        assert_eq!((best.registers, best.interval), (64, 195.0));
    }

    /// All choices, one after the other: the shortest interval with the least work.
    fn brute_force(all: &Measurements) -> Option<(f64, f64)> {
        let mut best: Option<(f64, f64)> = None;
        let n = all.filters.len();
        for r in 0..all.limits.len() {
            for t in 0..all.threads.len() {
                if all.filters.iter().any(|f| f.time[r][t].is_none()) {
                    continue;
                }
                // each filter's threads are a digit of a number
                for choice in 0..(t + 1).pow(n as u32) {
                    let digit = |i: usize| choice / (t + 1).pow(i as u32) % (t + 1);
                    let time: Option<Vec<f64>> = (0..n).map(|i| all.filters[i].time[r][digit(i)]).collect();
                    let Some(time) = time else { continue };
                    let found = all.interval(&time);
                    if best.is_none_or(|before| found < before) {
                        best = Some(found);
                    }
                }
            }
        }
        best
    }

    fn measurements() -> impl Strategy<Value = Measurements> {
        let time =
            proptest::collection::vec(proptest::collection::vec(proptest::option::weighted(0.85, 1u32..9), 3), 2);
        let filter = (1u64..6, any::<bool>(), time);
        (1u32..5, proptest::collection::vec(filter, 1..5)).prop_map(|(processors, filters)| {
            let measured = |(firings, serial, time): (u64, bool, Vec<Vec<Option<u32>>>)| Measured {
                firings,
                serial,
                time: time.into_iter().map(|row| row.into_iter().map(|t| t.map(f64::from)).collect()).collect(),
            };
            of(processors, filters.into_iter().map(measured).collect())
        })
    }

    proptest! {
        #[test]
        fn no_choice_is_better(all in measurements()) {
            let found = all.choose(u32::MAX);
            prop_assert_eq!(found.as_ref().map(|c| all.interval(&c.time)), brute_force(&all));
            if let Some(c) = found {
                let r = all.limits.iter().position(|n| *n == c.registers).unwrap();
                let t = all.threads.iter().position(|n| *n == c.threads).unwrap();
                for (i, f) in all.filters.iter().enumerate() {
                    let k = all.threads.iter().position(|n| *n == c.each[i]).unwrap();
                    prop_assert!(k <= t && f.time[r][t].is_some() && f.time[r][k] == Some(c.time[i]));
                }
                prop_assert_eq!(c.interval, all.interval(&c.time).0);
            }
        }
    }
}
