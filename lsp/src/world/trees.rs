//! # trees
//!
//! Purpose: a text is parsed once, by the request or by the analysis, whichever comes first; the other one waits for it. Keeps the last
//! [`OF_A_FILE`] trees under each number, and [`MOST`] in all: a large program's takes megabytes.

use sluice_grammar::ast::Program;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::FileId;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Trees that are kept under the number of one file: one for each of two programs.
const OF_A_FILE: usize = 2;
/// Trees that are kept.
const MOST: usize = 64;

/// A text under the number of its file, its tree, and what was wrong with it.
type Kept = (FileId, String, (Program, Vec<Diagnostic>));

/// The last trees, the newest first.
#[derive(Default)]
pub struct Trees {
    kept: Mutex<VecDeque<Kept>>,
}

impl Trees {
    /// The tree of a text. Streams in it are shared, so that a copy costs little.
    pub fn parse(&self, file: FileId, text: &str) -> (Program, Vec<Diagnostic>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(f, t, _)| *f == file && t == text)
            && let Some(found) = kept.remove(at)
        {
            let tree = found.2.clone();
            kept.push_front(found);
            return tree;
        }
        let made = sluice_grammar::parse(file, text);
        kept.push_front((file, text.to_string(), made.clone()));
        let mut same = 0;
        kept.retain(|(f, ..)| {
            same += usize::from(*f == file);
            *f != file || same <= OF_A_FILE
        });
        kept.truncate(MOST);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart() {
        let trees = Trees::default();
        for round in 0..3 {
            for i in 0..40u32 {
                let text = format!("void->void filter F{} {{ work {{ }} }}", i % 36);
                let (tree, found) = trees.parse(FileId(i % 3), &text);
                assert!(found.is_empty() && tree == sluice_grammar::parse(FileId(0), &text).0, "{round}");
                let sluice_grammar::ast::Item::Stream(s) = &tree.items[0] else { panic!() };
                assert_eq!(s.at.0.file, FileId(i % 3));
            }
        }
        assert_eq!(trees.kept.lock().unwrap().len(), 3 * OF_A_FILE);
    }
}
