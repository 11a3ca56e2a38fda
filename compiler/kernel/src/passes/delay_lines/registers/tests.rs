//! Which fields are shift registers, and what waits where they are items.

use super::apart;
use crate::ir::Kernel;
use crate::passes::delay_lines::{found, run};
use crate::text::{parse, print};
use crate::verify::verify;
use sluice_frontend::constant::Const;

/// A filter of ints, or of bits; `;` ends a statement. The field is an int that begins with this; `$0` and `$1` are ints.
fn kernel(input: &str, initial: i32, work: &str) -> Kernel {
    let text = format!(
        "kernel \"K\" \"K\"; {input} -> int work func0 peek 2 pop 1 push 1
state0 \"s\" int = {initial}
func0 \"work\" (0) -> void; {{ local0 \"x\" int local1 \"y\" int {work} }}"
    );
    let text = text.replace(';', " @0:0-1");
    let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel
}

/// What begins the parts, and the text; nothing where it is no register.
fn parts(work: &str, initial: i32) -> Option<(Vec<i32>, String)> {
    let k = apart(&kernel("int", initial, work))?;
    verify(&k).unwrap_or_else(|e| panic!("{e}\n{}", print(&k)));
    let Const::Array(all) = &k.state[0].initial else { panic!("{:?}", k.state[0]) };
    let all = all.iter().map(|c| if let Const::Int(i) = c { *i } else { panic!("{c:?}") }).collect();
    Some((all, print(&k)))
}

#[test]
fn ways_to_write_one() {
    let bit = "(in(0) & 1)";
    for (work, initial, begin) in [
        (format!("state0 = (((state0 << 1) | {bit}) & 7);"), 6, vec![0, 1, 1]),
        (format!("state0 = (((state0 * 2) + {bit}) & 7);"), 1, vec![1, 0, 0]),
        (format!("state0 = ({bit} ^ ((state0 << 1) & 6));"), 5, vec![1, 0, 1]),
        // several bits at a time, of which the last part is cut
        ("state0 = (((state0 << 3) | (in(0) & 7)) & 127);".into(), 0x5A, vec![2, 3, 1]),
        // from the left
        (format!("state0 = ((state0 >> 1) | ({bit} << 3));"), 9, vec![1, 0, 0, 1]),
        (format!("state0 = (((state0 >> 1) + ({bit} * 8)) & 15);"), 0, vec![0; 4]),
        // step by step
        (format!("state0 = (state0 << 1); state0 = (state0 | {bit}); state0 = (state0 & 7);"), 6, vec![0, 1, 1]),
        (
            "state0 = (state0 << 1); $0 = in(1); state0 = (state0 | ($0 & 1)); state0 = (state0 & 7);".into(),
            6,
            vec![0, 1, 1],
        ),
        // in a loop, twice
        ("for $0 = 0 < 2 step 1; { state0 = (((state0 << 1) | (in($0) & 1)) & 7); }".into(), 6, vec![0, 1, 1]),
    ] {
        let work = format!("{work} out(0) = (state0 ^ 5);");
        assert_eq!(parts(&work, initial).unwrap_or_else(|| panic!("{work}")).0, begin, "{work}");
    }
}

#[test]
fn what_is_none() {
    for (what, work) in [
        ("more bits than are free", "state0 = (((state0 << 1) | (in(0) & 3)) & 7);"),
        ("any int", "state0 = (((state0 << 1) | in(0)) & 7);"),
        ("no mask", "state0 = ((state0 << 1) | (in(0) & 1));"),
        ("a mask with a hole", "state0 = (((state0 << 1) | (in(0) & 1)) & 5);"),
        (
            "two ways",
            "state0 = (((state0 << 1) | (in(0) & 1)) & 7); out(0) = state0; state0 = (((state0 << 2) | (in(1) & 3)) & 7);",
        ),
        ("set to something else", "state0 = (((state0 << 1) | (in(0) & 1)) & 7); if (in(1) < 0); { state0 = 0; }"),
        ("no whole parts from the left", "state0 = ((state0 >> 2) | ((in(0) & 3) << 3));"),
        ("too many parts", "state0 = (((state0 << 1) | (in(0) & 1)) & 131071);"),
        ("taken off", "state0 = (((state0 << 1) - (in(0) & 1)) & 7);"),
    ] {
        assert!(parts(&format!("{work} out(0) = state0;"), 0).is_none(), "{what}");
    }
    // a beginning beyond its width
    assert!(parts("state0 = (((state0 << 1) | (in(0) & 1)) & 7); out(0) = state0;", 8).is_none());
    assert!(parts("state0 = ((state0 >> 1) | ((in(0) & 1) << 3)); out(0) = state0;", -1).is_none());
}

/// What waits, the oldest first, where the field is read from the window.
fn waits(input: &str, initial: i32, work: &str) -> Option<Vec<Const>> {
    let mut k = kernel(input, initial, work);
    let waiting = found(&k);
    run(&mut k);
    verify(&k).unwrap_or_else(|e| panic!("{e}\n{}", print(&k)));
    assert_eq!(waiting.is_some(), k.state.is_empty());
    waiting
}

#[test]
fn registers_are_items_of_the_window() {
    let of_bits = "state0 = (((state0 << 1) | as<int>(in(0))) & 15); out(0) = state0;";
    let bits = |all: &[bool]| Some(all.iter().map(|b| Const::Bit(*b)).collect());
    // the newest part is an item of the firing itself
    assert_eq!(waits("bit", 0, of_bits), bits(&[false; 3]));
    assert_eq!(waits("bit", 0b0101, of_bits), bits(&[true, false, true]));
    // read before it moves
    let before = "out(0) = state0; state0 = ((state0 >> 1) | (as<int>(in(0)) << 3));";
    assert_eq!(waits("bit", 0b0011, before), bits(&[true, true, false, false]));
    let ints = "state0 = (((state0 << 2) | (in(0) & 3)) & 63); out(0) = state0;";
    assert_eq!(waits("int", 0b1001, ints), Some(vec![Const::Int(2), Const::Int(1)]));
    // functions of the library, called for each firing, and little else: nothing goes side by side
    let called = of_bits.replace("out(0) = state0", "out(0) = as<int>(@log10(@log10(@log10(as<float>(state0)))))");
    assert_eq!(waits("bit", 0, &called), None);
    // joined with what is made of itself: a generator, or a scrambler
    let scrambler = "$0 = (((in(0) & 1) ^ (state0 >> 3)) & 1); out(0) = $0; state0 = (((state0 << 1) | $0) & 15);";
    assert_eq!(waits("int", 0, scrambler), None);
    assert_eq!(waits("int", 1, "state0 = (((state0 << 1) | (state0 >> 2)) & 7); out(0) = (state0 ^ in(0));"), None);
    // and its opposite, which is made of items
    let back = "$0 = (in(0) & 1); out(0) = ($0 ^ ((state0 >> 3) & 1)); state0 = (((state0 << 1) | $0) & 15);";
    assert_eq!(waits("int", 0, back).map(|w| w.len()), Some(4));
}
