//! Lints: what a program may say, but hardly means.
//!
//! Takes a program without errors (names, types and, where it has an entry, rates are right), gives warnings with fixes. Each lint
//! is a file; [`LINTS`] is the table of all warnings. What a lint says of a filter must hold for all its instances; nothing is
//! said of the standard library. [`levels`] decides what is told; [`mend`] makes the fixes.

pub mod branches;
pub mod empty_bodies;
pub mod instances;
pub mod leading_zeros;
pub mod levels;
pub mod loops;
pub mod names;
pub mod peeks;
pub(crate) mod precedence;
pub mod precision;
pub mod removal;
pub mod scratch;
pub mod self_assignment;
pub mod shifts;
pub mod stateful;
pub mod tree;
pub mod unreachable;
pub mod unused_globals;
pub mod unused_names;

use crate::analyse::Elaborated;
use crate::ids::DeclId;
use crate::world::World;
use levels::Levels;
use names::Names;
use sluice_grammar::ast::Program;
use sluice_grammar::span::{FileId, Span};

/// A warning that can be told.
#[derive(Clone, Copy, Debug)]
pub struct Lint {
    /// Its code.
    pub code: &'static str,
    /// What it finds.
    pub title: &'static str,
}

/// All warnings, in the order of their codes. docs/lints.md has the same table for people.
pub const LINTS: &[Lint] = &[
    Lint { code: "W0201", title: "statement without effect" },
    Lint { code: "W0202", title: "case that falls through" },
    Lint { code: "W0203", title: "C would group this differently" },
    Lint { code: "W0204", title: "comparison inside a bit operation" },
    Lint { code: "W0205", title: "code that is never reached" },
    Lint { code: "W0206", title: "variable assigned to itself" },
    Lint { code: "W0207", title: "loop that never turns, or turns away from its end" },
    Lint { code: "W0208", title: "shift by 32 bits or more" },
    Lint { code: "W0209", title: "comment to the compiler that is not understood" },
    Lint { code: "W0210", title: "unused stream" },
    Lint { code: "W0211", title: "unused parameter" },
    Lint { code: "W0212", title: "unused field" },
    Lint { code: "W0213", title: "unused variable" },
    Lint { code: "W0214", title: "unused function of a filter" },
    Lint { code: "W0215", title: "unused static, struct or helper" },
    Lint { code: "W0216", title: "`;` that is all of a body" },
    Lint { code: "W0217", title: "number that C would read by eights" },
    Lint { code: "W0220", title: "int that a float does not hold exactly" },
    Lint { code: "W0221", title: "division of ints whose remainder is lost" },
    Lint { code: "W0222", title: "number beyond what a float holds" },
    Lint { code: "W0223", title: "float counter that stops short of its end" },
    Lint { code: "W0230", title: "`stateful` that is not" },
    Lint { code: "W0231", title: "state without `stateful`" },
    Lint { code: "W0232", title: "field that could be a variable of `work`" },
    Lint { code: "W0240", title: "pops less than declared" },
    Lint { code: "W0241", title: "peeks less far than declared" },
    Lint { code: "W0260", title: "dead branch" },
    Lint { code: "W0310", title: "nobody receives" },
];

/// The lint of a code.
pub fn lint(code: &str) -> Option<&'static Lint> {
    LINTS.iter().find(|l| l.code == code)
}

/// The lints of a program without errors. `entry` is there unless only names and types were asked for; `named` says that it was named.
pub fn lint_all(
    w: &mut World,
    trees: &[(FileId, Program)],
    entry: Option<(DeclId, bool)>,
    program: Option<&Elaborated>,
    levels: &Levels,
) {
    let mut out = Vec::new();
    let sources = &w.sources;
    let names = Names::of(w, trees);
    unused_names::lint(sources, &names, &mut out);
    if let Some((top, named)) = entry {
        unused_globals::lint(w, trees, &names, top, named, &mut out);
    }
    for (file, tree) in trees {
        unreachable::lint(sources, tree, &mut out);
        self_assignment::lint(sources, tree, &mut out);
        loops::lint(sources, tree, &mut out);
        empty_bodies::lint(tree, &mut out);
        shifts::lint(tree, &mut out);
        leading_zeros::lint(sources, tree, &mut out);
        let mut keyword = levels.asked("W0231").is_some();
        tree::streams(tree, &mut |s| keyword |= s.stateful.is_some());
        for (id, instances) in w.instances.iter().filter(|(id, _)| w.decl(**id).ast.at.0.file == *file) {
            let decl = &w.decl(*id).ast;
            stateful::lint(sources, decl, instances, keyword, &mut out);
            scratch::lint(sources, decl, instances, &names, &mut out);
            peeks::lint(sources, decl, instances, &mut out);
            precision::lint(sources, instances, &mut out);
        }
    }
    if let Some(p) = program.filter(|p| !p.steady.repetitions.is_empty() && p.steady.repetitions.iter().any(|r| *r > 0))
    {
        let ours = |at: Span| trees.iter().any(|(f, _)| *f == at.file);
        branches::lint(&p.graph, &p.steady, &p.codes, ours, &mut out);
    }
    out.into_iter().for_each(|d| w.report(d));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_for_people_has_the_same_codes() {
        let page = include_str!("../../../docs/lints.md");
        let rows: Vec<&str> = page.lines().filter_map(|l| l.strip_prefix("| W")?.split(' ').next()).collect();
        let codes: Vec<&str> = LINTS.iter().map(|l| &l.code[1..]).collect();
        assert_eq!(rows, codes);
        let errors = include_str!("../../../docs/errors.md");
        for l in LINTS {
            assert!(errors.contains(&format!("\n## {}: {}\n", l.code, l.title)), "{}: {}", l.code, l.title);
        }
    }
}
