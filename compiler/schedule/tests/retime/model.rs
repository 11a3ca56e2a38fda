//! The load model's published numbers.

use sluice_schedule::retime::load::Load;

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
