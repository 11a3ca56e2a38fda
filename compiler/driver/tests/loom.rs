//! The gate of a crew's threads under loom: every interleaving of small crews, and nobody sleeps through what it waits for (a sleeper here has no
//! time limit, so that a bell that does not ring is a deadlock, which loom reports).

/// What the gate is made of, from loom.
mod sync {
    pub use loom::sync::Mutex;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
    pub use loom::thread::{Thread, current, park};
}

#[allow(dead_code)]
#[path = "../src/threads/gate.rs"]
mod gate;

use gate::{Begin, Gate};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// Sleeps until a batch may begin; false where it never will.
fn begin(gate: &Gate, me: usize, batch: u64, beginning: bool) -> bool {
    let look = || match gate.may_begin(batch, beginning) {
        Begin::Wait => None,
        answer => Some(answer),
    };
    loop {
        if let Some(answer) = look().or_else(|| gate.sleep(me, look)) {
            return answer == Begin::Yes;
        }
    }
}

fn model(preemptions: usize, test: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(test);
}

#[test]
fn who_sleeps_is_woken_by_an_admission() {
    model(4, || {
        let gate = Arc::new(Gate::new(&[0, 0], 4));
        let other = gate.clone();
        let waiter = thread::spawn(move || {
            other.enter(0);
            assert!(begin(&other, 0, 0, false));
            other.done(0, 1);
        });
        gate.enter(1);
        gate.admit(1);
        waiter.join().unwrap();
        assert!(!gate.is_idle(), "thread 1 has not done its batch");
        gate.done(1, 1);
        assert!(gate.is_idle());
    });
}

#[test]
fn the_window_holds_the_first_back_and_lets_it_go_on() {
    model(3, || {
        let gate = Arc::new(Gate::new(&[0, 0], 1));
        gate.admit(2);
        // what the second has completed, apart from the gate
        let behind = Arc::new(AtomicU64::new(0));
        let (other, seen) = (gate.clone(), behind.clone());
        let first = thread::spawn(move || {
            other.enter(0);
            for b in 0..2 {
                assert!(begin(&other, 0, b, true));
                assert!(seen.load(Ordering::Relaxed) + 1 > b, "batch {b} began too early");
                other.done(0, b + 1);
            }
        });
        gate.enter(1);
        assert!(begin(&gate, 1, 0, false));
        behind.store(1, Ordering::Relaxed);
        gate.done(1, 1);
        first.join().unwrap();
    });
}

#[test]
fn a_fault_ends_those_who_wait_but_not_what_comes_before_it() {
    model(3, || {
        let gate = Arc::new(Gate::new(&[0, 0], 8));
        gate.admit(1);
        let other = gate.clone();
        let worker = thread::spawn(move || {
            other.enter(0);
            let mut done = 0;
            while begin(&other, 0, done, false) {
                done += 1;
                other.done(0, done);
            }
            done
        });
        gate.enter(1);
        gate.fault(1);
        assert_eq!(worker.join().unwrap(), 1, "batch 0 is completed, batch 1 is not begun");
        assert_eq!(gate.faulty(), Some(1));
    });
}

#[test]
fn the_first_of_two_faults_counts() {
    model(4, || {
        let gate = Arc::new(Gate::new(&[0, 0], 8));
        let other = gate.clone();
        let late = thread::spawn(move || other.fault(5));
        gate.fault(3);
        late.join().unwrap();
        assert_eq!(gate.faulty(), Some(3));
        assert!(gate.is_over(3) && !gate.is_over(2));
    });
}

#[test]
fn a_cancelled_crew_ends_though_it_sleeps() {
    model(3, || {
        let gate = Arc::new(Gate::new(&[0, 0], 8));
        let other = gate.clone();
        let sleeper = thread::spawn(move || {
            other.enter(0);
            begin(&other, 0, 0, true)
        });
        gate.enter(1);
        gate.cancel();
        assert!(!sleeper.join().unwrap());
    });
}

#[test]
fn what_was_done_before_done_is_seen_by_who_looks() {
    model(4, || {
        let gate = Arc::new(Gate::new(&[0, 0], 1));
        gate.admit(1);
        let item = Arc::new(AtomicU64::new(0));
        let (other, written) = (gate.clone(), item.clone());
        let maker = thread::spawn(move || {
            other.enter(0);
            written.store(7, Ordering::Relaxed);
            other.done(0, 1);
        });
        gate.enter(1);
        gate.done(1, 1);
        if gate.is_idle() {
            assert_eq!(item.load(Ordering::Relaxed), 7);
        }
        maker.join().unwrap();
    });
}
