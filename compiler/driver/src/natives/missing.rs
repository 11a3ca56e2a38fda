//! # missing functions
//!
//! Purpose: what a linker misses, as diagnostics of the program. Input: what the linker said. Output: the names of symbols; a diagnostic for
//! each native function among them, at its declaration and at a call.

use super::sources::Natives;
use sluice_frontend::ids::NativeId;
use sluice_frontend::typed::Globals;
use sluice_grammar::diagnostic::Diagnostic;
use std::collections::BTreeSet;

/// The symbols that a linker names as undefined. GNU ld, gold and mold write "undefined reference to `f'" or "undefined reference to 'f'" or
/// "undefined symbol: f", lld the last, Apple's `"_f", referenced from:`.
pub fn undefined(said: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let word = |text: &str| -> String {
        let text = text.trim_start_matches([' ', '`', '\'', '"', ':', '\u{2018}']);
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || "_$.".contains(*c)).collect()
    };
    for line in said.lines() {
        let name = if let Some((_, rest)) = line.split_once("undefined reference to") {
            word(rest)
        } else if let Some((_, rest)) = line.split_once("undefined symbol") {
            word(rest)
        } else if let (Some((before, _)), true) = (line.split_once("referenced from"), line.contains("\"_")) {
            word(before).trim_start_matches('_').to_string()
        } else {
            continue;
        };
        if !name.is_empty() {
            out.insert(name);
        }
    }
    out
}

/// A diagnostic for each function that is missing.
pub fn diagnostics(ids: &[NativeId], natives: &Natives, globals: &Globals) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for id in ids {
        let Some(n) = globals.natives.get(id.index()) else { continue };
        let title = format!("the native function `{}.{}` is missing", n.group, n.name);
        let mut d =
            Diagnostic::error("E0910", title, n.span, format!("no `{}` was found for this declaration", n.name));
        if let Some(call) = natives.called.get(id) {
            d = d.label(call.at, "called here");
        }
        d = d.help(match natives.given {
            false => format!(
                "name the C source or library that defines `{}`: `--native FILE`, or `--native-lib NAME`",
                n.name
            ),
            true => format!(
                "none of the native files defines `{}`: is it `static` there, or of another name, or C++ without `extern \"C\"`?",
                n.name
            ),
        });
        out.push(d);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_say_it_differently() {
        let said = "/usr/bin/ld: /tmp/x.o: in function `sl_fire_0':\nprogram.c:(.text+0x13): undefined reference to `fast'\n\
                    ld: error: undefined symbol: faster\n>>> referenced by program.c\n\
                    mold: error: undefined symbol: fastest\n  \"_apple\", referenced from:\n\
                    collect2: error: ld returned 1 exit status\nx.c: undefined reference to 'quoted'\n";
        let names: Vec<String> = undefined(said).into_iter().collect();
        assert_eq!(names, ["apple", "fast", "faster", "fastest", "quoted"]);
    }
}
