//! The load model's published numbers.

use sluice_schedule::retime::load::{Choice, Load, Machine, Reason, choose};

#[test]
fn the_papers_example() {
    let one = Load { d_c: 5.0, d_m: 10.0, n_rw: 2.0, alpha: 0.6 };
    assert_eq!((one.period(), one.load()), (8.0, 0.625));
    let two = Load { d_c: 12.0, n_rw: 4.0, ..one };
    assert_eq!((two.period(), two.load()), (12.0, 1.0));
    assert!((one.gain(&two, 2) - 4.0 / 3.0).abs() < 1e-12);
    // the prediction finds the paper's second loop
    assert_eq!(one.slowed(2, 1.0), two);
    assert_eq!(one.slowed(1, 1.0), one);
}

#[test]
fn without_memory_there_is_nothing_to_hide() {
    let l = Load { d_c: 3.0, d_m: 400.0, n_rw: 0.0, alpha: 0.0 };
    assert_eq!((l.period(), l.load()), (3.0, 1.0));
    let nothing = Load { d_c: 0.0, ..l };
    assert_eq!((nothing.load(), nothing.gain(&nothing, 4)), (1.0, 1.0));
}

#[test]
fn the_fewest_streams_that_load_it_fully() {
    let one = Load { d_c: 5.0, d_m: 10.0, n_rw: 2.0, alpha: 0.6 };
    let machine = Machine::default();
    assert_eq!(choose(&one, 2, &machine), Choice { c: 2, reason: Reason::Full });
    let busy = Load { d_c: 50.0, ..one };
    assert_eq!(choose(&busy, 2, &machine), Choice { c: 1, reason: Reason::Loaded });
    // far memory takes many streams, for which there may be no registers
    let far = Load { d_m: 400.0, ..one };
    let many = choose(&far, 2, &machine);
    assert_eq!(many.reason, Reason::Full);
    assert_eq!(far.slowed(many.c, 1.0).load(), 1.0);
    assert!(far.slowed(many.c - 1, 1.0).load() < 1.0);
    let few = choose(&far, 20, &machine);
    assert_eq!(few, Choice { c: 12, reason: Reason::Registers });
    assert_eq!(choose(&far, 1000, &machine), Choice { c: 1, reason: Reason::Registers });
    // a loop that mostly waits for its turn at memory
    let copies = Load { d_c: 2.0, d_m: 10.0, n_rw: 9.0, alpha: 0.0 };
    assert_eq!(choose(&copies, 1, &machine).reason, Reason::Memory);
}

#[test]
fn far_memory_takes_as_many_streams_as_may_be_asked_for() {
    let far = Load { d_c: 5.0, d_m: 1000.0, n_rw: 2.0, alpha: 0.6 };
    let machine = Machine::default();
    assert_eq!(choose(&far, 1, &machine), Choice { c: 132, reason: Reason::Full });
    let few = Machine { registers: 100, ..machine };
    assert_eq!(choose(&far, 1, &few).reason, Reason::Registers);
}
