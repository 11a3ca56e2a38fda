//! # syntax
//!
//! Purpose: the files of a program as they are this moment, as trees with all their names: made within a request, on the way of every keystroke. Input:
//! texts by name, and where imports lead. Output: [`Syntax`]. Only files whose text has changed are parsed again.

use crate::convert::{Encoding, Text};
use sluice_frontend::analyse::{Parsed, library};
use sluice_frontend::resolve::Index;
use sluice_frontend::{Loader, SourceInput};
use sluice_grammar::ast::{Item, Program};
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::{FileId, Span};
use sluice_grammar::token::lex_with_comments;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// A file of a program.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name: a path or a URI; `<stdlib>/fir.str` for one of the library.
    pub name: String,
    /// Its text.
    pub text: Text,
    /// Its tree; of the library's files, see [`Syntax::tree`].
    tree: Option<Arc<Program>>,
    /// Has it syntax errors?
    pub broken: bool,
}

/// The files of a program.
#[derive(Clone, Debug)]
pub struct Syntax {
    /// The user's files in the order of the compilation, then those of the library, by [`FileId`].
    pub files: Vec<File>,
    /// How many are the user's.
    pub own: usize,
    standard: Arc<Parsed>,
    /// What every name stands for.
    pub index: Index,
}

impl Syntax {
    /// Parses what has changed since `before`.
    pub fn new(
        inputs: Vec<SourceInput>,
        loader: &mut dyn Loader,
        encoding: Encoding,
        before: Option<&Syntax>,
    ) -> Syntax {
        let mut files: Vec<File> = Vec::new();
        let mut seen = HashSet::new();
        let mut queue: VecDeque<SourceInput> = inputs.into();
        while let Some(input) = queue.pop_front() {
            if !seen.insert(input.name.clone()) {
                continue;
            }
            let id = FileId(files.len() as u32);
            let kept = before.and_then(|b| b.files.get(files.len()));
            let same = kept.filter(|f| f.name == input.name && f.text.as_str() == input.text && f.tree.is_some());
            let file = match same {
                Some(file) => file.clone(),
                None => {
                    let (tree, found) = loader.parse(id, &input.text);
                    let broken = found.iter().any(Diagnostic::is_error);
                    let text = Text::new(input.text, encoding);
                    File { name: input.name.clone(), text, tree: Some(Arc::new(tree)), broken }
                }
            };
            for item in file.tree.iter().flat_map(|t| &t.items) {
                let Item::Import { path, .. } = item else { continue };
                queue.extend(loader.load(&input.name, path).ok());
            }
            files.push(file);
        }
        let own = files.len();
        for (name, text) in sluice_stdlib::FILES {
            let text = Text::new(*text, encoding);
            files.push(File { name: format!("<stdlib>/{name}"), text, tree: None, broken: false });
        }
        let library = library(FileId(own as u32));
        let trees: Vec<(FileId, &Program)> =
            files.iter().zip(0..).filter_map(|(f, i)| Some((FileId(i), f.tree.as_deref()?))).collect();
        let shipped: Vec<(FileId, &Program)> =
            library.iter().zip(own as u32..).map(|((t, _), i)| (FileId(i), t)).collect();
        let index = Index::of(&trees, &shipped);
        Syntax { files, own, standard: library, index }
    }

    /// A file by its name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.files.iter().position(|f| f.name == name).map(|i| FileId(i as u32))
    }

    /// The file behind an id.
    pub fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    /// The text of a file.
    pub fn text(&self, id: FileId) -> &Text {
        &self.file(id).text
    }

    /// The tree of a file.
    pub fn tree(&self, id: FileId) -> &Program {
        match &self.file(id).tree {
            Some(tree) => tree,
            None => &self.standard[id.0 as usize - self.own].0,
        }
    }

    /// The user's files.
    pub fn own_files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.own as u32).map(FileId)
    }

    /// The text under a span.
    pub fn piece(&self, span: Span) -> &str {
        self.text(span.file).as_str().get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The comment that documents what begins at a span.
    pub fn doc(&self, span: Span) -> Option<String> {
        let text = self.text(span.file).as_str();
        let (_, comments) = lex_with_comments(text);
        sluice_grammar::trivia::doc_comment_among(text, &comments, span.start as usize)
    }
}
