//! The run-time support: C source files, embedded as they are.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Mathematics as the language defines it; what filters call.
pub const MATH: [&str; 3] = [include_str!("../../rts/c/sl_math.h"), ANGLE, SINE];
/// The low-level interface, for hosts.
pub const ABI: &str = include_str!("../../rts/c/sluice_abi.h");
/// What generated code and engine share.
pub const ENGINE_HEADER: &str = include_str!("../../rts/c/sl_engine.h");
/// Firings in lanes, and items that change their places; for filters and for what moves items between them, only in programs that have some ([`has_lanes`]):
/// it is a third of what there is to read for a compiler in a small program.
pub const LANES: [&str; 2] = [include_str!("../../rts/c/sl_lanes.h"), include_str!("../../rts/c/sl_squares.h")];
/// Around text that is to be compiled quickly.
pub const QUICK: [&str; 2] = [include_str!("../../rts/c/sl_quick_begin.h"), include_str!("../../rts/c/sl_quick_end.h")];
/// Filters in the frequency domain; only in programs that have some.
pub const CONVOLVE: &str = include_str!("../../rts/c/sl_convolve.h");
/// Functions of floats that are our own; a part of [`MATH`].
pub const ANGLE: &str = include_str!("../../rts/c/sl_angle.h");
/// Likewise.
pub const SINE: &str = include_str!("../../rts/c/sl_sine.h");
/// Lanes as doubles, by halves; only in programs that have [`OURS`] or [`DIVIDE`].
const WIDE: &str = include_str!("../../rts/c/sl_wide.h");
/// The same in lanes, bit by bit; only in programs that have some.
const OURS: [&str; 2] = [include_str!("../../rts/c/sl_angles.h"), include_str!("../../rts/c/sl_sines.h")];
/// Division of ints in lanes; only in programs that have some.
const DIVIDE: &str = include_str!("../../rts/c/sl_divide.h");
/// Functions of floats in lanes by the vector mathematical library; only in programs that have some, and leave to have other bytes.
const FUNCTIONS: &str = include_str!("../../rts/c/sl_functions.h");
/// What they are called, behind `sl_vf_`.
const OF_VECTORS: [&str; 18] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10", "pow",
    "sin", "sinh", "tan", "tanh",
];

/// Those of them that are [`OURS`].
const OURS_OF_VECTORS: [&str; 5] = ["atan", "atan2", "cos", "sin", "tan"];
/// The others in lanes, one by one; only in programs that have some, and no leave to have other bytes.
const CALLED: &str = include_str!("../../rts/c/sl_called.h");

/// Those of ours that gcc does not make vectors of by itself, as loops call them.
const OF_TURNS: [&str; 3] = ["sl_cosf(", "sl_sinf(", "sl_tanf("];

/// Elements of tables of bytes; only in programs that have such tables in lanes.
pub const LOOKUP: &str = include_str!("../../rts/c/sl_lookup.h");
/// Bytes in lanes; only in programs that have some.
pub const BYTES: &str = include_str!("../../rts/c/sl_bytes.h");
/// Items that are bits, in lanes; only in programs that have some.
pub const BIT_ITEMS: &str = include_str!("../../rts/c/sl_bit_items.h");
/// Firings in vectors of their items; only in programs that have some.
pub const WITHIN: &str = include_str!("../../rts/c/sl_within.h");
/// Choices that are no jumps; only in programs that have some.
pub const CHOOSE: &str = include_str!("../../rts/c/sl_choose.h");
/// Few branches side by side as lanes of a vector.
pub const STREAMS_OF_BRANCHES: &str = include_str!("../../rts/c/sl_streams.h");
/// Which of those that not all programs have these functions of filters call. `free`: have they leave to have other bytes ([`FUNCTIONS`])?
pub fn called(texts: &[&str], free: bool) -> Vec<&'static str> {
    let any = |name: &str| texts.iter().any(|t| t.contains(name));
    let functions_of = |names: &[&str]| texts.iter().any(|t| calls_functions(t, names));
    let vectors = functions_of(&OF_VECTORS);
    let ours = !free && (functions_of(&OURS_OF_VECTORS) || OF_TURNS.iter().any(|name| any(name)));
    let functions: &[&str] = if free && vectors {
        &[FUNCTIONS]
    } else if ours {
        &OURS
    } else {
        &[]
    };
    let library = OF_VECTORS.into_iter().filter(|name| !OURS_OF_VECTORS.contains(name)).collect::<Vec<_>>();
    let one_by_one = (!free && functions_of(&library)).then_some(CALLED);
    let divide = (any("sl_vi_div(") || any("sl_vi_rem(")).then_some(DIVIDE);
    let wide = (ours || divide.is_some()).then_some(WIDE);
    let bytes = any("sl_vb_").then_some(BYTES);
    let lookup = (bytes.is_some() || any("sl_vi_lookup_")).then_some(LOOKUP);
    let bit_items = (any("sl_bit_") || any("_bit(")).then_some(BIT_ITEMS);
    let within = any("SL_WITHIN").then_some(WITHIN);
    let choose = any("sl_choose_").then_some(CHOOSE);
    let branches = ["sl_s4", "sl_s8", "sl_s16"].iter().any(|name| any(name)).then_some(STREAMS_OF_BRANCHES);
    wide.into_iter()
        .chain(functions.iter().copied())
        .chain(one_by_one)
        .chain(divide)
        .chain(lookup)
        .chain(bytes)
        .chain(bit_items)
        .chain(within)
        .chain(choose)
        .chain(branches)
        .collect()
}

/// Names of our own in C text: words that begin with `sl_` or `SL_`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|w| w.starts_with("sl_") || w.starts_with("SL_"))
}

/// Does this text of a program, behind [`MATH`], need [`LANES`]? That is what has one of their names.
pub fn has_lanes(text: &str) -> bool {
    static NAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let others: BTreeSet<&str> = MATH.iter().chain([&ENGINE_HEADER]).flat_map(|text| names(text)).collect();
        LANES.iter().flat_map(|text| names(text)).filter(|name| !others.contains(name)).collect()
    });
    names(text).any(|name| NAMES.contains(name))
}

/// Does text call one of these functions of floats in lanes?
fn calls_functions(text: &str, names: &[&str]) -> bool {
    text.split("sl_vf_").skip(1).any(|rest| rest.split_once('(').is_some_and(|(name, _)| names.contains(&name)))
}

/// The engine.
pub const ENGINE: [&str; 9] = [
    include_str!("../../rts/c/sl_print.c"),
    include_str!("../../rts/c/sl_ends.c"),
    include_str!("../../rts/c/sl_mail.c"),
    include_str!("../../rts/c/sl_replay.c"),
    include_str!("../../rts/c/sl_slow.c"),
    include_str!("../../rts/c/sl_once.c"),
    include_str!("../../rts/c/sl_dynamic.c"),
    include_str!("../../rts/c/sl_device.c"),
    include_str!("../../rts/c/sl_run.c"),
];
/// Files and streams as a host; for libraries and stand-alone programs.
pub const FILES: [&str; 4] = [
    include_str!("../../rts/c/sl_file.h"),
    include_str!("../../rts/c/sl_file.c"),
    include_str!("../../rts/c/sl_format.c"),
    include_str!("../../rts/c/sl_wav.c"),
];
/// Statistics: what is counted, and how; only in programs that count.
pub const STATS: [&str; 2] = [include_str!("../../rts/c/sl_stats.h"), include_str!("../../rts/c/sl_stats.c")];
/// The push and pull interface of a library: what its functions call, and that.
pub const LIBRARY: [&str; 2] = [include_str!("../../rts/c/sl_library.h"), include_str!("../../rts/c/sl_library.c")];
/// The main program of a stand-alone executable.
pub const MAIN: &str = include_str!("../../rts/c/sl_main.c");
/// The library's header, with places to fill in.
pub const LIBRARY_HEADER: &str = include_str!("../../rts/c/sl_library.h.in");

/// Options that the C compiler must get for the language's arithmetic to hold.
pub const CC_FLAGS: [&str; 5] =
    ["-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing"];

/// The interface of a program that runs on several threads, what its parts are told, and what they do; only in such programs.
pub const STAGES: [&str; 3] = [
    include_str!("../../rts/c/sluice_stages.h"),
    include_str!("../../rts/c/sl_stages.h"),
    include_str!("../../rts/c/sl_stages.c"),
];

/// The interface of devices; only in programs with kernels.
pub const DEVICE: &str = include_str!("../../rts/c/sluice_device.h");

/// What of the run-time support a program has besides what all have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// It counts: `SL_STATS`.
    pub stats: bool,
    /// It runs in stages: `SL_STAGES`.
    pub stages: bool,
    /// It has kernels for a device: `SL_KERNELS`.
    pub kernels: bool,
}

/// Appends a file of the run-time support, without its `#include "..."` lines: all are in one text. What stands between `#ifdef SL_...` and
/// `#endif` of a part that the program does not have is left out, too.
pub fn append(out: &mut String, text: &str, parts: Parts) {
    let mut leaving_out = false;
    for line in text.lines() {
        let absent = line == "#ifdef SL_STATS" && !parts.stats
            || line == "#ifdef SL_STAGES" && !parts.stages
            || line == "#ifdef SL_KERNELS" && !parts.kernels;
        if absent || leaving_out {
            leaving_out = line != "#endif";
            continue;
        }
        if !line.starts_with("#include \"") {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_where_their_names_are() {
        // what programs without lanes have, too
        let all = MATH.iter().chain([&ABI, &ENGINE_HEADER, &DEVICE]).chain(&ENGINE).chain(&STATS).chain(&STAGES);
        assert!(all.chain(&LIBRARY).chain(&FILES).chain(&QUICK).all(|text| !has_lanes(text)));
        for part in [WIDE, OURS[0], OURS[1], DIVIDE, FUNCTIONS, CALLED, LOOKUP, BYTES, BIT_ITEMS, WITHIN] {
            assert!(has_lanes(part), "{part}");
        }
        for text in
            ["for (; n >= SL_LANES; n -= SL_LANES)", "sl_vf a = {0};", "sl_transpose(in, out, 8, 8);", "(sl_vi)x"]
        {
            assert!(has_lanes(text), "{text}");
        }
        assert!(!has_lanes("SL_ABREAST for (i = 0; i < n; i++) out[i] = sl_sinf(in[i]);"));
    }

    #[test]
    fn functions_of_vectors_are_found() {
        for name in OF_VECTORS {
            assert!(FUNCTIONS.contains(&format!("(sl_vf_{name}, {name}f)")), "{name}");
            assert!(calls_functions(&format!("x = (sl_vf_abs(a) + sl_vf_{name}(b));"), &[name]), "{name}");
        }
        assert_eq!(FUNCTIONS.matches("\nSL_FUNCTION").count(), OF_VECTORS.len());
        assert!(!calls_functions("sl_vf_abs(a) sl_vf_sine(a) sl_vf_sin", &OF_VECTORS));
        // exact ones have no others but these
        let exact = [WIDE, OURS[0], OURS[1]];
        assert_eq!(called(&["", "sl_vf_atan2(a, b)"], false), exact);
        for name in ["atan", "atan2", "cos", "sin", "tan"] {
            assert!(
                OURS.iter().any(|t| t.contains(&format!("sl_vf_{name}(")))
                    || OURS[1].contains(&format!("(sl_vf_{name},")),
                "{name}"
            );
        }
        assert_eq!(called(&["x = sl_cosf(a);"], false), exact);
        assert!(called(&["x = sl_cosf(a);"], true).is_empty() && called(&["x = sl_coshf(a);"], false).is_empty());
        assert_eq!(called(&["sl_vf_atan2(a, b)", "sl_vi_lookup_bytes(t, u, 9, a)"], true), [FUNCTIONS, LOOKUP]);
        assert!(called(&["sl_vi_lookup(t, 9, a)"], true).is_empty());
    }
}
