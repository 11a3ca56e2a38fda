//! What code for several streams says of its turns: of nested folding, of programs whose streams take turns and are folded, and that a record which
//! is wrong does not pass. (Random programs: `c_slow`.)

use sluice_frontend::Elaborated;
use sluice_frontend::slow::{InTurn, Lay, fold_branches, streams};
use sluice_tests::run::check;
use sluice_tests::simulate::{Supply, Turned, turn_by_turn};
use std::sync::Arc;

/// Filters with state of several kinds, as branches of splitjoins in splitjoins; `a` and `b` are the weights inside and outside.
fn nested(inner: u32, a: u32, outer: u32, b: u32) -> Elaborated {
    let source = format!(
        "struct Pair {{ int a; float[2] b; }}
int->int filter Keep {{
    int sum; int[3] last; Pair p; int unread; int[4] table = {{3, 1, 4, 1}};
    prework pop 6 push 6 peek 8 {{
        for (int i = 0; i < 6; i++) push(peek(7 - i));
        for (int i = 0; i < 6; i++) sum += pop();
    }}
    work pop 6 push 6 peek 9 {{
        int far = peek(8) + iter();
        for (int i = 0; i < 6; i++) {{
            last[i % 3] += sum ^ table[i % 4];
            unread = far;
            p.a += pop(); p.b[i % 2] += 0.5 * p.a;
            sum = sum * 31 + p.a + (int) p.b[1];
            push(sum + last[(i + 1) % 3] + unread);
        }}
    }}
}}
int->int splitjoin Inner {{
    split roundrobin({a});
    for (int i = 0; i < {inner}; i++) add Keep;
    join roundrobin({a});
}}
int->int splitjoin Outer {{
    split roundrobin({b});
    for (int i = 0; i < {outer}; i++) add Inner;
    join roundrobin({b});
}}"
    );
    check(&source).unwrap_or_else(|why| panic!("{why}")).program
}

fn folded(program: &Elaborated) -> Elaborated {
    fold_branches(program, &[], &mut |_| true).expect("there is something to fold").0
}

fn slowed(program: &Elaborated, n: u32) -> Elaborated {
    streams(program, n).expect("nothing stands against streams")
}

/// The only code for several streams.
fn only(program: &Elaborated) -> &InTurn {
    let all: Vec<&InTurn> = program.codes.iter().filter_map(|c| c.turns.as_deref()).collect();
    assert_eq!(all.len(), 1);
    all[0]
}

fn supply() -> Supply {
    Supply::new((0..4000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect())
}

fn passes(program: &Elaborated) -> Turned {
    let shown = turn_by_turn(program, &supply(), 2000, 7).unwrap_or_else(|why| panic!("{why}"));
    assert!(shown.firings >= 3 && shown.stateful == shown.firings && !shown.failed, "{shown:?}");
    shown
}

#[test]
fn streams_and_branches_are_levels() {
    for w in [1, 2, 3, 6] {
        let program = nested(3, w, 2, 3 * w);
        for slow in [folded(&slowed(&program, 4)), slowed(&folded(&program), 4)] {
            let turns = only(&slow);
            assert_eq!((turns.levels.len(), turns.streams(), turns.turn.display.as_str()), (2, 12, "Keep"));
            assert_eq!((turns.input.block, &turns.output), (w, &turns.input));
            assert!(passes(&slow).levels > 0);
        }
    }
    // items of all one by one: turn s has item s
    let turns = folded(&slowed(&nested(3, 1, 2, 3), 4));
    let turns = only(&turns);
    assert_eq!((&turns.levels[..], turns.input.stride(&turns.levels)), (&[3, 4][..], Some(1)));
}

#[test]
fn folding_twice() {
    let (mut levels, mut loops) = (0, 0);
    for (a, b) in [1, 2, 3, 6].iter().flat_map(|a| [1, 2, 3, 4, 6, 9, 12, 18].map(|b| (*a, b))) {
        let once = folded(&nested(3, a, 2, b));
        let Some((twice, _)) = fold_branches(&once, &[], &mut |_| true) else { continue };
        passes(&twice);
        let turns = only(&twice);
        if turns.levels.len() == 2 {
            assert_eq!((&turns.levels[..], turns.turn.display.as_str()), (&[2, 3][..], "Keep"));
            levels += 1;
            // a third level
            let slow = slowed(&twice, 2);
            assert_eq!(only(&slow).levels, [2, 2, 3]);
            passes(&slow);
        } else {
            // the streams inside lie across the blocks outside: each of the two turns is a loop over three
            assert_eq!((&turns.levels[..], turns.turn.display.as_str()), (&[2][..], "Keep x3"));
            loops += 1;
        }
    }
    assert!(levels >= 10 && loops >= 5, "{levels} with two levels, {loops} with one");
}

#[test]
fn a_record_that_is_wrong_does_not_pass() {
    let program = folded(&slowed(&nested(3, 2, 2, 6), 4));
    passes(&program);
    type Change = fn(&mut InTurn);
    let changes: [(&str, Change); 9] = [
        ("the order of levels", |t| t.levels.reverse()),
        ("the input's blocks", |t| t.input.block = 1),
        ("the input's rounds", |t| t.input.round += 1),
        ("steps", |t| t.input.step = 1),
        ("the input's starts", |t| t.input.strides.reverse()),
        ("the output's starts", |t| t.output.strides.reverse()),
        ("an initial value", |t| t.turn.fields[0].initial = sluice_frontend::constant::Const::Int(1)),
        ("state that is none", |t| t.turn.stateful = None),
        ("levels as one", |t| {
            t.levels = vec![12];
            t.input = Lay { block: 1, round: 12, step: 1, strides: vec![1] };
            t.output = t.input.clone();
        }),
    ];
    for (what, change) in changes {
        let mut wrong = program.clone();
        let turns = wrong.codes.iter_mut().find_map(|c| c.turns.as_mut()).expect("there is one");
        change(Arc::make_mut(turns));
        let run = std::panic::catch_unwind(|| turn_by_turn(&wrong, &supply(), 400, 7));
        assert!(!matches!(run, Ok(Ok(_))), "{what}");
    }
}
