//! # enqueues
//!
//! Purpose: where to write the `enqueue`s that a feedback loop lacks. Input: the diagnostics of loops that cannot start, whose fix
//! adds them directly behind the joiner, since the graph knows no more; and the trees. Output: the fix moved behind the loop's last `enqueue`, or
//! its last statement, on lines of its own where that has one.

use sluice_grammar::ast::*;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::{FileId, SourceMap, Span};

/// Moves the fixes of E0303.
pub fn place(sources: &SourceMap, trees: &[(FileId, Program)], ds: &mut [Diagnostic]) {
    for d in ds.iter_mut().filter(|d| d.code == "E0303") {
        let join = d.span();
        let Some(edit) = d.fixes.first_mut().and_then(|f| f.edits.first_mut()) else { continue };
        let Some((_, tree)) = trees.iter().find(|(f, _)| *f == join.file) else { continue };
        let mut behind = None;
        crate::lints::tree::lists(tree, &mut |stmts, _| {
            if stmts.iter().any(|s| s.at.0 == join) {
                let last = stmts.iter().rfind(|s| matches!(s.kind, StmtKind::Enqueue(_)));
                behind = last.or(stmts.last()).map(|s| s.at.0);
            }
        });
        let Some(behind) = behind else { continue };
        let text = &sources.file(behind.file).text;
        let before = &text[..behind.start as usize];
        let line = before.rfind('\n').map_or(0, |n| n + 1);
        let indent = &before[line..];
        edit.span = Span { start: behind.end, ..behind };
        if indent.trim().is_empty() && line > 0 {
            edit.text = format!("\n{indent}{}", edit.text.trim_start());
        }
    }
}
