//! # trees
//!
//! Purpose: a text is parsed once, by the request or by the analysis, whichever comes first; the other one waits for it. Of an edited text only what is around the edit
//! is read again ([`sluice_grammar::edited`]). Keeps the last [`OF_A_FILE`] trees under each number, and [`MOST`] in all: a large program's takes megabytes. What stays the same
//! from tree to tree is shared.

use sluice_grammar::ast::Program;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::edited::{self, Read};
use sluice_grammar::span::FileId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Trees that are kept under the number of one file: one for each of two programs.
const OF_A_FILE: usize = 2;
/// Texts without faults under one number: the first file of each program has the same.
const READ_OF_A_FILE: usize = 8;
/// Trees that are kept, and texts without faults.
const MOST: usize = 64;

/// A text under the number of its file, its tree, and what was wrong with it.
type Kept = (FileId, Arc<str>, (Program, Vec<Diagnostic>));

/// The last trees, the newest first.
#[derive(Default)]
pub struct Trees {
    kept: Mutex<All>,
}

#[derive(Default)]
struct All {
    trees: VecDeque<Kept>,
    read: VecDeque<Read>,
}

impl Trees {
    /// The tree of a text. Streams in it are shared, so that a copy costs little.
    pub fn parse(&self, file: FileId, text: &str) -> (Program, Vec<Diagnostic>) {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.trees.iter().position(|(f, t, _)| *f == file && **t == *text)
            && let Some(found) = all.trees.remove(at)
        {
            let tree = found.2.clone();
            all.trees.push_front(found);
            return tree;
        }
        let text: Arc<str> = text.into();
        let made = all.make(file, &text);
        all.trees.push_front((file, text, made.clone()));
        thin(&mut all.trees, |k| k.0, file, OF_A_FILE);
        made
    }
}

impl All {
    /// Parses, beginning with the text that is most like it.
    fn make(&mut self, file: FileId, text: &Arc<str>) -> (Program, Vec<Diagnostic>) {
        let of_file = self.read.iter().enumerate().filter(|(_, r)| r.file() == file);
        let like = of_file.map(|(i, r)| (r.differs(text), i)).min();
        // of another program's text nothing would be left
        let like = like.filter(|(differs, _)| *differs == 0 || differs * 2 < text.len());
        let found = match like {
            Some((_, i)) => self.read[i].parse(text),
            None => edited::parse(file, text),
        };
        if let Some(read) = found.read {
            like.map(|(_, i)| self.read.remove(i));
            self.read.push_front(read);
            thin(&mut self.read, Read::file, file, READ_OF_A_FILE);
        }
        (found.program, found.diagnostics)
    }
}

/// Forgets the oldest, of one file and of all.
fn thin<T>(all: &mut VecDeque<T>, of: impl Fn(&T) -> FileId, file: FileId, most: usize) {
    let mut same = 0;
    all.retain(|t| {
        same += usize::from(of(t) == file);
        of(t) != file || same <= most
    });
    all.truncate(MOST);
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
        let kept = trees.kept.lock().unwrap();
        assert_eq!(kept.trees.len(), 3 * OF_A_FILE);
        assert!(kept.read.len() <= 3 * READ_OF_A_FILE);
    }

    #[test]
    fn a_fault_does_not_cost_what_was_read_before() {
        let trees = Trees::default();
        let others = "void->void filter A { work { } }\nvoid->void filter B { work { } }\n";
        let text = |work: &str| format!("{others}void->void filter C {{ work {{ {work} }} }}\n");
        trees.parse(FileId(0), &text(""));
        for typed in ["int", "int x", "int x;", "int x; x", "int x; x = ", "int x; x = 1;"] {
            let (tree, found) = trees.parse(FileId(0), &text(typed));
            let fresh = sluice_grammar::parse(FileId(0), &text(typed));
            assert!(tree == fresh.0 && found == fresh.1, "{typed}");
            let sluice_grammar::ast::Item::Stream(first) = &tree.items[0] else { panic!() };
            assert!(Arc::strong_count(first) > 2, "{typed}: it is not shared");
        }
        assert_eq!(trees.kept.lock().unwrap().read.len(), 1);
    }
}
