//! Crews of stages that are not programs: they check the order of what they get, and dawdle.

use super::crew::{Admission, Ended, Part, Shape, Trouble, run};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Numbers that look random and repeat.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}

/// A stage that adds up what it gets. A block holds the batch it is of, and a sum.
struct Adder<'a> {
    dice: Dice,
    stage: u64,
    expected: u64,
    step: u64,
    /// How it dawdles: 0 not at all.
    slow: u64,
    fault_at: Option<u64>,
    stop_at: Option<u64>,
    panic_at: Option<u64>,
    /// Batches whose input is there, and whether it ends then.
    input: u64,
    pauses: u64,
    /// By batch: what came out of the last stage.
    out: &'a [AtomicU64],
}

impl Part for Adder<'_> {
    type Block = (u64, u64);

    fn admit(&mut self, _: &mut [(u64, u64)]) -> Result<Admission, Trouble> {
        if self.pauses > 0 && self.dice.roll(4) == 0 {
            self.pauses -= 1;
            // as a pipe that has nothing just now, while others work
            return Ok(if self.dice.roll(64) == 0 { Admission::Never } else { Admission::NotNow });
        }
        Ok(if self.expected < self.input { Admission::Yes } else { Admission::Never })
    }

    fn fire(&mut self, batch: u64, ins: &mut [(u64, u64)], outs: &mut [(u64, u64)]) -> Result<(), Trouble> {
        assert_eq!(batch, self.expected, "batches come in order");
        assert!(ins.iter().all(|(b, _)| *b == batch), "stage {}: {ins:?} in batch {batch}", self.stage);
        if self.fault_at == Some(batch) {
            return Err(Trouble::Fault);
        }
        if self.stop_at == Some(batch) {
            return Err(Trouble::Stop);
        }
        assert!(self.panic_at != Some(batch), "on purpose");
        self.expected += self.step;
        match self.dice.roll(40) * self.slow {
            0 => {}
            n if n < 12 => std::thread::yield_now(),
            n if n > 38 => std::thread::sleep(Duration::from_micros(n * 3)),
            n => (0..n * 20).for_each(|_| std::hint::spin_loop()),
        }
        let sum = ins.iter().fold(self.stage + 1, |s, (_, x)| s.wrapping_mul(31).wrapping_add(*x));
        let sum = sum.wrapping_add(batch);
        outs.iter_mut().for_each(|o| *o = (batch, sum));
        if outs.is_empty() {
            self.out[batch as usize].fetch_add(sum, Ordering::Relaxed);
        }
        Ok(())
    }

    fn rest(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        false
    }
}

/// What comes out of a batch, worked out one stage after the other.
fn expected(shape: &Shape, batch: u64) -> u64 {
    let mut sums = vec![0u64; shape.replicas.len()];
    let mut out = 0u64;
    for s in 0..sums.len() {
        let ins = shape.links.iter().filter(|l| l.1 == s);
        let sum = ins.fold(s as u64 + 1, |a, l| a.wrapping_mul(31).wrapping_add(sums[l.0])).wrapping_add(batch);
        sums[s] = sum;
        if !shape.links.iter().any(|l| l.0 == s) {
            out = out.wrapping_add(sum);
        }
    }
    out
}

fn parts<'a>(shape: &Shape, seed: u64, slow: u64, out: &'a [AtomicU64]) -> Vec<Adder<'a>> {
    let mut all = Vec::new();
    for (s, n) in shape.replicas.iter().enumerate() {
        for r in 0..*n {
            all.push(Adder {
                dice: Dice(seed * 1000 + s as u64 * 37 + r as u64),
                stage: s as u64,
                expected: r as u64,
                step: *n as u64,
                slow,
                fault_at: None,
                stop_at: None,
                panic_at: None,
                input: u64::MAX,
                pauses: 0,
                out,
            });
        }
    }
    all
}

fn room(batches: u64) -> Vec<AtomicU64> {
    (0..batches).map(|_| AtomicU64::new(0)).collect()
}

fn block(_: usize) -> (u64, u64) {
    (u64::MAX, 0)
}

/// A random pipeline.
fn shape(dice: &mut Dice, batches: u64) -> Shape {
    let stages = 1 + dice.roll(5) as usize;
    let replicas: Vec<usize> = (0..stages).map(|_| 1 + (dice.roll(3) * dice.roll(2)) as usize).collect();
    let mut links = Vec::new();
    for to in 1..stages {
        for from in 0..to {
            if from + 1 == to && dice.roll(6) > 0 || dice.roll(4) == 0 {
                links.push((from, to));
            }
        }
    }
    let singles: Vec<usize> = (0..stages).filter(|s| replicas[*s] == 1).collect();
    let reader = (!singles.is_empty() && dice.roll(2) == 0).then(|| singles[dice.roll(singles.len() as u64) as usize]);
    // a thread for each desk, or a few for all
    let mut threads = Shape::one_each(&replicas);
    if dice.roll(2) == 0 {
        let desks: Vec<(usize, usize)> = threads.concat();
        threads = vec![Vec::new(); 1 + dice.roll(desks.len() as u64) as usize];
        for desk in desks {
            let n = threads.len() as u64;
            threads[dice.roll(n) as usize].push(desk);
        }
    }
    // one with a thread of its own may be bound to the calling one
    let here = dice.roll(threads.len() as u64) as usize;
    let of_here = threads[here].iter().find(|(s, _)| replicas[*s] == 1).map(|(s, _)| *s);
    let bound = of_here.filter(|_| dice.roll(2) == 0);
    Shape { here, bound, threads, replicas, links, reader, batches }
}

#[test]
fn many_small_batches_through_random_pipelines() {
    for seed in 0..60 {
        let mut dice = Dice(seed);
        (0..5).for_each(|_| {
            dice.roll(2);
        });
        let shape = shape(&mut dice, 400);
        let out = room(400);
        let mut all = parts(&shape, seed, dice.roll(2), &out);
        let input = if dice.roll(3) == 0 { dice.roll(400) } else { u64::MAX };
        let pauses = dice.roll(2) * 100;
        all.iter_mut().for_each(|p| (p.input, p.pauses) = (input, pauses));
        let (workers, ended) = run(&shape, all, block);
        let Ended::Complete(n) = ended else { panic!("seed {seed}: {ended:?}") };
        match shape.reader {
            None => assert_eq!(n, 400),
            Some(_) if pauses == 0 => assert_eq!(n, input.min(400)),
            Some(_) => assert!(n <= input.min(400)),
        }
        for w in &workers {
            // each has done all that is its own and nothing else
            let own = w.part.step;
            assert!(w.next >= n && w.next < n + own, "seed {seed}: {} of {n}", w.next);
        }
        for b in 0..400 {
            let want = if b < n { expected(&shape, b) } else { 0 };
            assert_eq!(out[b as usize].load(Ordering::Relaxed), want, "seed {seed}, batch {b}");
        }
    }
}

#[test]
fn all_batches_before_a_fault_are_completed() {
    for seed in 0..40 {
        let mut dice = Dice(77 + seed);
        (0..5).for_each(|_| {
            dice.roll(2);
        });
        let shape = shape(&mut dice, 300);
        let out = room(300);
        let mut all = parts(&shape, seed, 1, &out);
        let mut first = u64::MAX;
        for _ in 0..1 + dice.roll(3) {
            let who = dice.roll(all.len() as u64) as usize;
            let at = dice.roll(300) / all[who].step * all[who].step + all[who].expected;
            all[who].fault_at = Some(at);
        }
        all.iter().for_each(|p| first = first.min(p.fault_at.filter(|b| *b < 300).unwrap_or(u64::MAX)));
        let (workers, ended) = run(&shape, all, block);
        if first == u64::MAX {
            assert_eq!(ended, Ended::Complete(300));
            continue;
        }
        assert_eq!(ended, Ended::Fault(first), "seed {seed}");
        assert!(workers.iter().all(|w| w.next >= first), "seed {seed}");
        assert!(workers.iter().any(|w| w.faulty && w.next == first), "seed {seed}");
        assert!(workers.iter().all(|w| w.next <= first + super::crew::window(workers.len()) + 8), "seed {seed}");
        for b in 0..first {
            assert_eq!(out[b as usize].load(Ordering::Relaxed), expected(&shape, b), "seed {seed}, batch {b}");
        }
    }
}

#[test]
fn a_crew_that_is_stopped_ends_soon() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let shape = shape(&mut dice, u64::MAX);
        let out = room(20_000);
        let mut all = parts(&shape, seed, 0, &out);
        let who = dice.roll(all.len() as u64) as usize;
        all[who].stop_at = Some(all[who].expected + 10 * all[who].step);
        assert_eq!(run(&shape, all, block).1, Ended::Stopped);
    }
}

#[test]
fn a_panic_leaves_nobody_waiting() {
    let replicas = vec![1, 2, 1];
    let threads = Shape::one_each(&replicas);
    let shape =
        Shape { replicas, links: vec![(0, 1), (1, 2)], reader: None, threads, here: 2, bound: None, batches: 1000 };
    let out = room(1000);
    let mut all = parts(&shape, 1, 0, &out);
    all[1].panic_at = Some(30);
    let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&shape, all, block).1));
    assert!(end.is_err());
}

/// Does nothing, but that one of its batches waits until another stage or replica has begun one of its own.
struct Waiter<'a> {
    begins: Option<(u64, &'a AtomicU64)>,
    waits: Option<(u64, &'a AtomicU64)>,
}

impl Part for Waiter<'_> {
    type Block = ();

    fn admit(&mut self, _: &mut [()]) -> Result<Admission, Trouble> {
        Ok(Admission::Yes)
    }

    fn fire(&mut self, batch: u64, _: &mut [()], _: &mut [()]) -> Result<(), Trouble> {
        if let Some((_, flag)) = self.begins.filter(|(b, _)| *b == batch) {
            flag.store(1, Ordering::Release);
        }
        if let Some((_, flag)) = self.waits.filter(|(b, _)| *b == batch) {
            let start = std::time::Instant::now();
            while flag.load(Ordering::Acquire) == 0 && start.elapsed() < Duration::from_secs(20) {
                std::thread::yield_now();
            }
            assert_eq!(flag.load(Ordering::Acquire), 1, "nobody has run the other batch");
        }
        Ok(())
    }

    fn rest(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        false
    }
}

/// While the thread that reads is at work with a batch of its own, the other one reads.
#[test]
fn whoever_has_time_does_what_stands_beside_replicas() {
    for (here, threads) in
        [(0, vec![vec![(0, 0), (1, 0), (2, 0)], vec![(1, 1)]]), (1, vec![vec![(0, 0), (1, 0)], vec![(1, 1), (2, 0)]])]
    {
        let flag = AtomicU64::new(0);
        let shape = Shape {
            replicas: vec![1, 2, 1],
            links: vec![(0, 1), (1, 2)],
            reader: Some(0),
            here,
            bound: None,
            threads,
            batches: 100,
        };
        let none = || Waiter { begins: None, waits: None };
        // replica 0 stays in batch 10 until another thread has read batch 13
        let parts = vec![
            Waiter { begins: Some((13, &flag)), waits: None },
            Waiter { begins: None, waits: Some((10, &flag)) },
            none(),
            none(),
        ];
        assert_eq!(run(&shape, parts, |_| ()).1, Ended::Complete(100));
    }
}
