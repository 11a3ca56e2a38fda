//! The tree-sitter grammar of `.str` programs: for editors, and for the tests that hold it to the compiler's grammar.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_sluice() -> *const ();
}

/// The language, for `tree_sitter::Parser::set_language`.
// SAFETY: the generated parser's function takes nothing and gives a pointer to a constant table.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_sluice) };

/// The query for highlighting.
pub const HIGHLIGHTS: &str = include_str!("../../queries/highlights.scm");
/// The query for scopes and their names.
pub const LOCALS: &str = include_str!("../../queries/locals.scm");
/// The query for outlines.
pub const TAGS: &str = include_str!("../../queries/tags.scm");
