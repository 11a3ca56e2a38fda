//! Passes over kernels. [`prepare`] runs all of them in order; its body is the narration.

pub mod choices;
pub mod clean;
pub mod contract_arrays;
pub mod count_loops;
pub mod delay_lines;
pub mod direct_outputs;
mod flow;
pub mod fold;
pub mod held;
pub mod in_step;
pub mod inline;
pub mod inner;
pub mod int_sums;
pub mod intervals;
pub mod jam;
pub mod known_loops;
pub mod lanes;
pub mod lower_channels;
pub mod names;
pub mod narrow_lanes;
pub mod pack_bits;
pub mod privatise;
pub mod prove_checks;
pub mod reduce_divisions;
pub mod rings;
pub mod roll;
pub mod scalars;
pub mod software_pipeline;
pub mod split_complex;
pub mod split_loops;
pub mod streams;
pub mod tabulate;
pub mod take_apart;
pub mod turn_arrays;
pub mod turns_abreast;
pub mod unroll;
pub mod unroll_and_jam;
pub mod waves;

#[cfg(test)]
mod inner_tests;

use crate::ir::Kernel;
use crate::verify::debug_verify;

/// A pass by name, for `--dump-after`.
pub type Pass = (&'static str, fn(&mut Kernel));

/// The pass that makes variables of private fields, which can be left out.
pub const PRIVATISE: &str = "privatise";

/// The pass that splits loops by what they ask of their counters. Only code of this machine has it: costs are of the loops as they are.
pub const SPLIT_LOOPS: &str = "split-loops";

/// The pass that reads fields from the window, which is done to the filters before which items wait for it.
pub const DELAY_LINES: &str = "delay-lines";

/// The passes that leave of a firing what stands before its state, what has it, and what stands behind it, which are done to the filters that are such parts.
pub const PARTS: [&str; 3] = ["before-state", "own-state", "after-state"];

/// All passes in the order in which [`prepare`] runs them; some run more than once.
pub const PASSES: &[Pass] = &[
    // calls away: what follows sees whole firings
    ("inline", inline::run),
    ("fold", fold::run),
    ("clean", clean::run),
    ("count-loops", count_loops::run),
    ("fold", fold::run),
    // what no firing leaves to another is a variable like others from here on
    (PRIVATISE, privatise::run),
    // loops inside loops that count by doubling have constant bounds from here on, or are none
    ("known-loops", known_loops::run),
    // what loops ask of their counters is known in most turns from here on
    (SPLIT_LOOPS, split_loops::run),
    // channels become positions, which are numbers like others from here on
    ("lower-channels", lower_channels::run),
    ("fold", fold::run),
    // of a filter that is taken apart, one part is left from here on
    (PARTS[0], take_apart::before),
    (PARTS[1], take_apart::state),
    (PARTS[2], take_apart::after),
    // fields that hold the last items are items from here on
    (DELAY_LINES, delay_lines::run),
    ("prove-checks", prove_checks::run),
    ("reduce-divisions", reduce_divisions::run),
    ("clean", clean::run),
    // what is filled only to be pushed need not be an array
    ("direct-outputs", direct_outputs::run),
    ("lanes", lanes::run),
];

/// The passes before [`DELAY_LINES`].
pub fn before_delay_lines() -> &'static [Pass] {
    PASSES.split(|(name, _)| *name == DELAY_LINES).next().unwrap_or_default()
}

/// The passes before [`PARTS`].
pub fn before_parts() -> &'static [Pass] {
    PASSES.split(|(name, _)| *name == PARTS[0]).next().unwrap_or_default()
}

/// The passes for devices: all but `lanes`, the last one, for there each thread is a lane.
pub const DEVICE: &[Pass] = PASSES.split_at(PASSES.len() - 1).0;

/// Makes a kernel ready for printing, its loops and its state as they are: who keeps it elsewhere knows its fields by number.
pub fn prepare(mut kernel: Kernel) -> Kernel {
    let others = |name: &&str| PARTS.contains(name) || [PRIVATISE, DELAY_LINES, SPLIT_LOOPS].contains(name);
    for (name, pass) in PASSES.iter().filter(|(name, _)| !others(name)) {
        pass(&mut kernel);
        debug_verify(&kernel, name);
    }
    kernel
}

/// The pass that stores arrays of fields by columns: only C code knows of it.
pub const TURN_ARRAYS: &str = "turn-arrays";

/// The pass that makes tables of what several look-ups come to: only C code has them.
pub const TABULATE: &str = "tabulate";

/// The passes that come after those of [`DEVICE`], for C.
pub const FOR_C: &[Pass] = &[(TABULATE, tabulate::run), (TURN_ARRAYS, turn_arrays::run), ("lanes", lanes::run)];

/// The last passes, after those of loops: for firings that wait for one another. Only C code for this machine has them.
pub const SERIAL: &[Pass] = &[("int-sums", int_sums::run), ("choices", choices::run)];

/// The kernel of a text after a pass; before and behind it keeps the rules.
#[cfg(test)]
#[track_caller]
fn passed(text: &str, pass: fn(&mut Kernel)) -> Kernel {
    use crate::{text::parse, text::print, verify::verify};
    let mut kernel = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    pass(&mut kernel);
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{}", print(&kernel)));
    kernel
}

/// The statements of a kernel's firing after a pass, in a row, without ends of blocks; in the text and in them, `;` is a place in the source.
#[cfg(test)]
#[track_caller]
fn firing_after(text: &str, pass: fn(&mut Kernel)) -> String {
    let text = crate::text::print(&passed(&text.replace(';', " @0:0-1"), pass)).replace(" @0:0-1", ";");
    let body = text.split("func0 \"work\" (0) -> void;").nth(1).unwrap_or_default();
    let lines = body.lines().map(str::trim).filter(|l| !l.starts_with("local") && !["{", "}", ""].contains(l));
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_do_without_lanes() {
        assert!(DEVICE.iter().all(|(name, _)| *name != "lanes"));
        assert_eq!(DEVICE.len() + 1, PASSES.len());
    }
}
