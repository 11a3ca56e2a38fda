//! What becomes of filters, part by part.

use super::*;
use crate::verify::verify;

/// The parts of a filter that takes a window of `peek` floats, two at a time, and gives two.
fn parts(state: &str, body: &str) -> Vec<(Part, String)> {
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 float -> float work func0 peek 3 pop 2 push 2
{state}
func0 \"work\" (0) -> void @0:0-1 {{
local0 \"x\" float
local1 \"y\" float
local2 \"n\" int
local3 \"b\" boolean
local4 \"a\" float[4]
{}
}}
",
        body.replace('~', "@0:0-1")
    );
    let k = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&k).unwrap();
    let all = found(&k, false).unwrap_or_default();
    for (_, k) in &all {
        verify(k).unwrap();
        assert!(k.work.rates.peek >= k.work.rates.pop);
    }
    // each takes what the one before gives
    for pair in all.windows(2) {
        let (a, b) = (&pair[0].1, &pair[1].1);
        assert_eq!((a.work.rates.push, &a.output), (b.work.rates.pop, &b.input));
        assert_eq!(b.work.rates.peek, b.work.rates.pop);
    }
    all.into_iter().map(|(p, k)| (p, crate::text::print(&k))).collect()
}

fn kinds(all: &[(Part, String)]) -> Vec<Part> {
    all.iter().map(|(p, _)| *p).collect()
}

const FLOAT: &str = "state0 \"z\" float = 0.0f";

#[test]
fn what_follows_from_the_state_stands_behind_it() {
    let all = parts(FLOAT, "state0 = (state0 + in(0)) ~ out(0) = @sin(state0) ~ out(1) = @cos(state0) ~");
    assert_eq!(kinds(&all), [Part::State, Part::After]);
    assert!(all[0].1.contains("state0 = (state0 + in(0))") && !all[0].1.contains("sin"), "{}", all[0].1);
    assert!(all[1].1.contains("@sin(") && all[1].1.contains("@cos(") && !all[1].1.contains("state0"), "{}", all[1].1);
}

#[test]
fn what_needs_no_field_stands_before_it() {
    let all = parts(
        FLOAT,
        "$0 = (@sin(in(0)) * @cos(in(2))) ~ state0 = ((state0 * 0.5f) + $0) ~ out(0) = state0 ~ out(1) = state0 ~",
    );
    assert_eq!(kinds(&all), [Part::Before, Part::State]);
    assert!(all[0].1.contains("peek 3 pop 2 push 1") && !all[0].1.contains("state0"), "{}", all[0].1);
    assert!(all[1].1.contains("pop 1 push 2") && !all[1].1.contains("sin"), "{}", all[1].1);
}

/// A variable that only the last part needs passes through the one with the state.
#[test]
fn what_passes_goes_through_all() {
    let body = "$0 = @sin(in(0)) ~ state0 = (state0 + $0) ~ out(0) = (@cos(state0) * $0) ~ out(1) = in(1) ~";
    let all = parts(FLOAT, body);
    assert_eq!(kinds(&all), [Part::Before, Part::State, Part::After]);
    // the sine and the other item; the field besides
    assert!(all[1].1.contains("pop 2 push 3"), "{}", all[1].1);
}

/// What a field held before it is written, and between two writes.
#[test]
fn fields_are_as_they_were() {
    let body = "out(0) = @sin(state0) ~ state0 = (state0 + in(0)) ~ $0 = state0 ~ state0 = (state0 * 0.5f) ~ out(1) = (@cos($0) * @sin(state0)) ~";
    let all = parts(FLOAT, body);
    assert_eq!(kinds(&all), [Part::State, Part::After]);
    assert!(all[0].1.contains("push 3"), "{}", all[0].1);
}

/// A value that only waits for a firing is no recurrence: the part that has the field holds items.
#[test]
fn what_waits_for_a_firing_is_an_item() {
    let body = "$0 = (in(1) - ((in(0) + in(2)) * 0.5f)) ~ out(0) = (in(0) + ((state0 + $0) * 0.25f)) ~ out(1) = $0 ~ state0 = $0 ~";
    let all = parts(FLOAT, body);
    assert_eq!(kinds(&all), [Part::Before, Part::State]);
    let state = crate::text::parse(&all[1].1).unwrap();
    assert_eq!(super::super::delay_lines::found(&state).map(|w| w.len()), Some(2), "{}", all[1].1);
}

#[test]
fn booleans_are_items() {
    let body = "$3 = (in(0) > 0.0f) ~ if $3 ~ { state0 = (state0 + 1.0f) ~ } else { state0 = (state0 * 0.5f) ~ } out(0) = select($3, @sin(state0), @cos(state0)) ~ out(1) = @sin((state0 * 2.0f)) ~";
    let all = parts(FLOAT, body);
    assert_eq!(kinds(&all), [Part::State, Part::After]);
    assert!(all[1].1.contains("!= 0"), "{}", all[1].1);
}

/// Counters are converted where they are counted.
#[test]
fn ints_come_converted() {
    let body = "state0 = ((state0 + 1) & 63) ~ $0 = as<float>(state0) ~ out(0) = (in(0) * @sin(as<float>(state0))) ~ out(1) = (in(1) * @cos($0)) ~";
    let all = parts("state0 \"n\" int = 0", body);
    assert_eq!(kinds(&all), [Part::State, Part::After]);
    assert!(!all[1].1.contains(" int"), "{}", all[1].1);
}

#[test]
fn what_stays_whole() {
    let none = |state: &str, body: &str| assert_eq!(kinds(&parts(state, body)), [], "{body}");
    // hardly anything but the recurrence, which takes as long anyway
    none(FLOAT, "state0 = ((state0 * 0.5f) + in(0)) ~ out(0) = state0 ~ out(1) = (state0 * in(1)) ~");
    // all of it is needed for the field
    none(FLOAT, "state0 = @sin((state0 + in(0))) ~ out(0) = state0 ~ out(1) = state0 ~");
    // an array would have to pass
    none(
        FLOAT,
        "for $2 = 0 < 4 step 1 ~ { $4[$2] = @sin(in(0)) ~ } state0 = (state0 + $4[3]) ~ out(0) = (@sin($4[0]) * state0) ~ out(1) = @cos($4[1]) ~",
    );
    // all of it in one statement
    none(
        FLOAT,
        "$2 = 0 ~ loop ~ { $0 = @sin(in(0)) ~ state0 = (state0 + $0) ~ out(0) = $0 ~ out(1) = $0 ~ break 0 ~ }",
    );
    // the number of the firing
    none(
        "state0 \"n\" int = 0",
        "state0 = (state0 + iter) ~ out(0) = @sin(in(0)) ~ out(1) = @sin(as<float>(state0)) ~",
    );
}
