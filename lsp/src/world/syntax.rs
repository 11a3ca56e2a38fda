//! # syntax
//!
//! Purpose: the files of a program as they are this moment, as trees with all their names: made within a request, on the way of every keystroke. Input:
//! texts by name, and where imports lead. Output: [`Syntax`]. Only files whose text has changed are parsed again; names are looked up when they are first asked for.

use crate::convert::{Encoding, Text};
use sluice_frontend::analyse::{Parsed, library};
use sluice_frontend::resolve::Index;
use sluice_frontend::{Loader, SourceInput};
use sluice_grammar::ast::{Item, Program};
use sluice_grammar::span::{FileId, Span};
use sluice_grammar::token::lex_with_comments;
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, OnceLock};

/// A file of a program.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name: a path or a URI; `<stdlib>/fir.str` for one of the library.
    pub name: String,
    /// Its text.
    pub text: Text,
    /// Its tree; of the library's files, see [`Syntax::tree`].
    tree: Option<Arc<Program>>,
    /// Where it has syntax errors.
    pub faults: Arc<[Span]>,
}

/// The files of a program.
#[derive(Clone, Debug)]
pub struct Syntax {
    /// The user's files in the order of the compilation, then those of the library, by [`FileId`].
    pub files: Vec<File>,
    /// How many are the user's.
    pub own: usize,
    standard: Arc<Parsed>,
    index: OnceLock<Index>,
}

impl Syntax {
    /// Parses what has changed since `before`; `open` gives the text of an open document, its lines found already.
    pub fn new(
        inputs: Vec<SourceInput>,
        loader: &mut dyn Loader,
        encoding: Encoding,
        open: &dyn Fn(&str) -> Option<Text>,
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
                    let faults =
                        found.iter().filter(|d| d.is_error()).flat_map(|d| d.labels.iter().map(|l| l.span)).collect();
                    let known = open(&input.name).filter(|t| t.as_str() == input.text && t.encoding() == encoding);
                    let text = known.unwrap_or_else(|| Text::new(input.text, encoding));
                    File { name: input.name.clone(), text, tree: Some(Arc::new(tree)), faults }
                }
            };
            for item in file.tree.iter().flat_map(|t| &t.items) {
                let Item::Import { path, .. } = item else { continue };
                queue.extend(loader.load(&input.name, path).ok());
            }
            files.push(file);
        }
        let own = files.len();
        match before.map(|b| &b.files[b.own..]).filter(|f| f.iter().all(|f| f.text.encoding() == encoding)) {
            Some(known) => files.extend_from_slice(known),
            None => files.extend(sluice_stdlib::FILES.iter().map(|(name, text)| {
                let text = Text::new(*text, encoding);
                File { name: format!("<stdlib>/{name}"), text, tree: None, faults: Arc::default() }
            })),
        }
        let library = library(FileId(own as u32));
        Syntax { files, own, standard: library, index: OnceLock::new() }
    }

    /// What every name stands for.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let own = self.files[..self.own].iter().zip(0..);
            let trees: Vec<(FileId, &Program)> =
                own.filter_map(|(f, i)| Some((FileId(i), f.tree.as_deref()?))).collect();
            let shipped: Vec<(FileId, &Program)> =
                self.standard.iter().zip(self.own as u32..).map(|((t, _), i)| (FileId(i), t)).collect();
            Index::of(&trees, &shipped)
        })
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
