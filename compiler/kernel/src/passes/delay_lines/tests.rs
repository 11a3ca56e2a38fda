//! Firings before and after the pass: which fields are items of the window, and each reason to leave them alone by itself.

use super::{counters, found, run};
use crate::ir::Kernel;
use crate::text::{parse, print};
use crate::verify::verify;
use sluice_frontend::constant::Const;

/// A filter that takes and gives floats. In the text `;` ends a statement or the head of one; `$0` and `$1` are ints, `$2` is a float; the fields are `s`, a float, 7 before the first firing,
/// `t`, 4 floats from 1 to 4, `u`, a float, -0, and `p`, an int, 0, of which those are there that the statements name from the first on.
fn kernel(fields: usize, peek: u32, pop: u32, work: &str) -> Kernel {
    let all = [
        "state0 \"s\" float = 7.0f",
        "state1 \"t\" float[4] = [1.0f, 2.0f, 3.0f, 4.0f]",
        "state2 \"u\" float = -0.0f",
        "state3 \"p\" int = 0",
    ];
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek {peek} pop {pop} push 1
{}
func0 \"work\" (0) -> void; {{ local0 \"i\" int local1 \"j\" int local2 \"x\" float {work} }}",
        all[..fields].join("\n")
    );
    let text = text.replace(';', " @0:0-1");
    let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel
}

/// The body after the pass in a row, and what waits, the oldest first; nothing where fields are left.
fn after(fields: usize, peek: u32, pop: u32, work: &str) -> Option<(String, u32, Vec<f32>)> {
    let mut k = kernel(fields, peek, pop, work);
    let (before, waiting) = (k.clone(), found(&k));
    run(&mut k);
    verify(&k).unwrap_or_else(|e| panic!("{e}\n{}", print(&k)));
    let Some(waiting) = waiting else {
        assert!(k == before, "what is not rewritten stays");
        return None;
    };
    assert!(k.state.is_empty());
    assert_eq!(k.work.rates.peek, peek + waiting.len() as u32);
    let text = print(&k).replace(" @0:0-1", "");
    let (_, body) = text.split_once("-> void").unwrap().1.split_once('{').unwrap();
    let lines = body.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("local"));
    let body: String = lines.collect::<Vec<_>>().join(" ");
    let number = |c: &Const| if let Const::Float(x) = c { *x } else { panic!("{c:?}") };
    Some((body, k.work.rates.peek, waiting.iter().map(number).collect()))
}

#[test]
fn the_item_before() {
    let (body, peek, waiting) = after(1, 1, 1, "out(0) = (in(0) - state0); state0 = in(0);").unwrap();
    assert_eq!((body.as_str(), peek, waiting), ("out(0) = (in(1) - in(0)) }", 2, vec![7.0]));
    // by way of a variable, of two items the second
    let (body, _, waiting) = after(1, 2, 2, "$2 = in(1); out(0) = ($2 - state0); state0 = $2;").unwrap();
    assert!(body.contains("in(0)") && body.contains("in(2)") && !body.contains("in(1)"), "{body}");
    assert_eq!(waiting, [7.0]);
    // one that is kept for another firing
    let two = "out(0) = (state0 - in(0)); state0 = state1[1]; state1[1] = in(0); state1[0] = in(0);";
    assert_eq!(after(2, 1, 1, two).unwrap().2, [7.0, 2.0]);
}

const SHIFT: &str = "for $0 = 3 > 0 step -1; { state1[$0] = state1[($0 - 1)]; } state1[0] = in(0); ";
const SUM: &str = "$2 = 0.0f; for $0 = 0 < 4 step 1; { $2 = ($2 + state1[$0]); } out(0) = $2; ";

#[test]
fn a_shift_register() {
    // fields that are not named hold what they hold for ever, which is no item; nobody reads them
    let (body, peek, waiting) = after(2, 1, 1, &format!("{SHIFT}{SUM}")).unwrap();
    assert!(body.contains("in((3 - $0))"), "{body}");
    assert!(!body.contains("step -1"), "{body}");
    // the fourth is gone before it is read
    assert_eq!((peek, waiting), (4, vec![3.0, 2.0, 1.0]));
    // read before it moves
    let (body, peek, waiting) = after(2, 1, 1, &format!("{SUM}{SHIFT}")).unwrap();
    assert!(body.contains("in((3 - $0))"), "{body}");
    assert_eq!((peek, waiting), (5, vec![4.0, 3.0, 2.0, 1.0]));
}

#[test]
fn a_ring() {
    let ring = "state1[state3] = in(0); $2 = 0.0f;
        for $0 = 0 < 4 step 1; { $2 = ($2 + state1[((state3 - $0) & 3)]); }
        out(0) = $2; state3 = ((state3 + 1) & 3);";
    let (body, peek, waiting) = after(4, 1, 1, ring).unwrap();
    assert!(body.contains("in((3 - $0))"), "{body}");
    assert_eq!((peek, waiting), (4, vec![2.0, 3.0, 4.0]));
    // one whose place is seen
    assert!(after(4, 1, 1, &format!("{ring} out(0) = as<float>(state3);")).is_none());
    // one that does not come back to where it began
    assert!(after(4, 1, 1, &ring.replace("((state3 + 1) & 3)", "(state3 + 1)")).is_none());
}

#[test]
fn what_is_made_of_items() {
    let (body, peek, waiting) = after(3, 2, 1, "out(0) = state2; $2 = (in(0) * in(0)); state2 = neg($2);").unwrap();
    assert!(body.contains("in(0) * in(0)"), "{body}");
    // of zeroes it would be -0, as the field is
    assert_eq!((peek, waiting.len()), (3, 1));
    // nor of the first item itself, which nobody knows
    assert!(after(3, 2, 1, "out(0) = state2; $2 = (in(0) * in(1)); state2 = neg($2);").is_none());
    // 7 is not made of zeroes
    assert!(after(1, 1, 1, "out(0) = state0; state0 = (in(0) * in(0));").is_none());
}

#[test]
fn state_stays() {
    for (what, fields, work) in [
        ("a sum", 1, "state0 = (state0 + in(0)); out(0) = state0;"),
        ("perhaps written", 1, "out(0) = state0; if (in(0) > 0.0f); { state0 = in(0); }"),
        ("the same item, other beginnings", 3, "out(0) = (state0 - state2); state0 = in(0); state2 = in(0);"),
        ("moved in a circle", 3, "out(0) = state0; $2 = state0; state0 = state2; state2 = $2;"),
        ("never written", 1, "out(0) = (in(0) * state0);"),
        ("zero and minus zero", 3, "out(0) = (state1[0] + state2); state1[0] = in(0); state2 = in(0);"),
        ("a place that data say", 2, "state1[(as<int>(in(0)) & 3)] = in(0); out(0) = state1[0];"),
        (
            "no sum of the turns",
            2,
            "state1[0] = in(0); for $0 = 0 < 4 step 1; { out(0) = state1[(($0 * $0) & 3)]; } state1[1] = state1[0];",
        ),
        ("printed", 1, "print state0; out(0) = in(0); state0 = in(0);"),
    ] {
        assert!(after(fields, 1, 1, work).is_none(), "{what}");
    }
}

/// What counts whatever the input is, and is seen, is known to stay before any firing is gone through.
#[test]
fn counts_that_are_seen() {
    let single = [false, false, false, true];
    let next = "state3 = ((state3 * 5) + 3);";
    let given = "out(0) = (in(0) * as<float>(state3));";
    for (stays, work) in [
        (true, format!("{next} {given}")),
        (
            true,
            format!(
                "$0 = state3; {next} if ($0 > 4); {{ out(0) = state0; state0 = in(0); }} else {{ out(0) = in(0); }}"
            ),
        ),
        // nothing is given of it: it goes with the field whose index it is, or for nothing
        (false, format!("state1[(state3 & 3)] = in(0); {next} out(0) = state1[(state3 & 3)];")),
        (false, format!("{next} out(0) = (in(0) - state0); state0 = in(0);")),
        // the window may stop it
        (false, format!("if (in(0) > 0.0f); {{ {next} }} {given}")),
        (false, format!("$0 = as<int>(in(0)); state3 = (state3 + $0); {given}")),
        (false, format!("for $0 = 0 < as<int>(in(0)) step 1; {{ {next} }} {given}")),
    ] {
        assert_eq!(counters::stay(&kernel(4, 1, 1, &work), &single), stays, "{work}");
        if stays {
            assert!(after(4, 1, 1, &work).is_none(), "{work}");
        }
    }
}
