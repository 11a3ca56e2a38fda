//! # engine
//!
//! Purpose: the engine of compiled programs, and what is around it in libraries and stand-alone programs, as a part of a program's text or as a text of its own. Input: what parts the program has.
//! Output: C text, the same for all programs of a flavour with the same parts.

use super::program::Flavour;
use super::rts;

/// Appends the engine.
pub(super) fn append(out: &mut String, parts: rts::Parts) {
    for text in rts::ENGINE {
        rts::append(out, text, parts);
    }
    if parts.stats {
        rts::append(out, rts::STATS[1], parts);
    }
}

/// Appends what is around the engine of libraries and stand-alone programs.
pub(super) fn host(out: &mut String, flavour: Flavour, parts: rts::Parts) {
    let own = match flavour {
        Flavour::Plugin => return,
        Flavour::Executable => &[rts::MAIN][..],
        Flavour::Library => &rts::LIBRARY,
    };
    rts::FILES.iter().chain(own).for_each(|text| rts::append(out, text, parts));
}

/// The engine as a file of its own, with what is around it. It is compiled without the latitude of fast math, which numbers as text would suffer from; of that it only
/// knows, of a `free` program, that there are no NaNs.
pub(super) fn apart(flavour: Flavour, parts: rts::Parts, free: bool) -> String {
    let mut out = String::from("/* The engine of programs made by sluice. */\n#define SL_APART 1\n");
    if flavour != Flavour::Plugin {
        out.push_str("#define _GNU_SOURCE 1\n");
    }
    if free {
        out.push_str("#define SL_NO_NANS 1\n");
    }
    if parts.stats {
        out.push_str("#define SL_STATS 1\n");
    }
    if parts.stages {
        out.push_str("#define SL_STAGES 1\n");
    }
    if parts.kernels {
        out.push_str("#define SL_KERNELS 1\n");
    }
    let [interface, header, stages] = rts::STAGES.map(|text| parts.stages.then_some(text));
    let device = parts.kernels.then_some(rts::DEVICE);
    let headers = interface.into_iter().chain(device).chain([rts::ENGINE_HEADER]).chain(header);
    rts::MATH.into_iter().chain([rts::ABI]).chain(headers).for_each(|text| rts::append(&mut out, text, parts));
    if parts.stats {
        rts::append(&mut out, rts::STATS[0], parts);
    }
    append(&mut out, parts);
    stages.into_iter().for_each(|text| rts::append(&mut out, text, parts));
    host(&mut out, flavour, parts);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_does_not_count_has_no_trace_of_it() {
        let plain = apart(Flavour::Plugin, rts::Parts::default(), false);
        let counting = apart(Flavour::Plugin, rts::Parts { stats: true, ..rts::Parts::default() }, false);
        let traces = |text: &str| text.lines().filter(|l| l.contains("SL_STATS") || l.contains("sl_stats")).count();
        assert_eq!(traces(&plain), 0);
        assert!(traces(&counting) > 20);
        // and what is there besides is the same, line by line
        let mut rest = counting.lines();
        assert!(plain.lines().all(|l| rest.any(|c| c == l)));
    }
}
