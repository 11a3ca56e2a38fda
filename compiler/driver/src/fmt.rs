//! # fmt
//!
//! Purpose: `sluice fmt`: formats files in place, or (`--check`) shows what that would change.
//! Each file is judged by itself: what has syntax errors is reported and left alone, the others are formatted all the same. A file
//! is written only where its text changes, and then whole or not at all. The exit code is the worst of all files.

use crate::diff;
use crate::exit::{Exit, Fault};
use crate::interrupt;
use crate::io::sink;
use crate::options::{FmtOptions, ProgramOptions};
use crate::project::{find, manifest};
use crate::session::{self, Session};
use crate::source::limited_bytes;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::format::{Formatted, Refusal, format};
use sluice_grammar::span::{FileId, SourceMap};
use sluice_grammar::{Encoding, decode, encode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files that folders are searched for.
const EXTENSION: &str = "str";

/// `sluice fmt`
pub fn fmt(options: &FmtOptions) -> Exit {
    let program = ProgramOptions { messages: options.messages, ..ProgramOptions::default() };
    let session = match Session::new(&program, false) {
        Ok(session) => session,
        Err(fault) => return fault.exit,
    };
    interrupt::listen();
    let mut run = Run {
        session,
        check: options.check,
        worst: Exit::Ok,
        sources: SourceMap::new(),
        diagnostics: Vec::new(),
        seen: BTreeSet::new(),
        looked_at: 0,
        unformatted: 0,
    };
    if let Err(fault) = run.all(&options.files) {
        run.fault(&fault);
    }
    run.finish()
}

struct Run {
    session: Session,
    check: bool,
    worst: Exit,
    /// The files with syntax errors.
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    /// Where the files really are: each is taken once.
    seen: BTreeSet<PathBuf>,
    looked_at: usize,
    unformatted: usize,
}

impl Run {
    fn all(&mut self, files: &[String]) -> Result<(), Fault> {
        if files.iter().any(|file| file == "-") {
            if files.len() > 1 {
                return Err(Fault::usage("standard input is formatted by itself").help("give `-` alone, or files only"));
            }
            return self.standard_input();
        }
        if files.is_empty() {
            let manifest = find::manifest_path(None).map_err(|_| nothing_named())?;
            self.folder(folder_of(&manifest));
        }
        for file in files {
            let path = Path::new(file);
            match path.file_name() {
                Some(name) if name == manifest::NAME => self.folder(folder_of(path)),
                _ if path.is_dir() => self.folder(path),
                _ => self.file(path),
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: &Path) {
        let mut found = Vec::new();
        self.walk(folder, &mut found);
        if found.is_empty() {
            self.session.remark(&format!("no .{EXTENSION} files in {}", folder.display()));
        }
        found.iter().for_each(|path| self.file(path));
    }

    fn fault(&mut self, fault: &Fault) {
        self.worst = self.worst.max(self.session.fault(fault));
    }

    /// The files in a folder and those below it, in the order of their names. Hidden folders and links to folders are passed over.
    fn walk(&mut self, folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) => return self.fault(&Fault::file("read", folder.display(), &e)),
        };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden => self.walk(&path, found),
                // not a folder, nor a link to one
                Ok(_) if !hidden && path.extension().is_some_and(|e| e == EXTENSION) && !path.is_dir() => {
                    found.push(path);
                }
                _ => {}
            }
        }
    }

    /// A file, unless someone has asked the command to end.
    fn file(&mut self, path: &Path) {
        if interrupt::requested() || std::fs::canonicalize(path).is_ok_and(|real| !self.seen.insert(real)) {
            return;
        }
        let name = path.display().to_string();
        if let Err(fault) = self.read_and_format(path, &name) {
            self.fault(&fault);
        }
    }

    fn read_and_format(&mut self, path: &Path, name: &str) -> Result<(), Fault> {
        let bytes = std::fs::File::open(path).and_then(limited_bytes).map_err(|e| Fault::file("read", name, &e))?;
        let (text, encoding) = decode(&bytes);
        let Some(formatted) = self.format(name, &text)? else { return Ok(()) };
        if formatted.text == text {
            return Ok(());
        }
        if self.check {
            return self.show(name, &text, &formatted);
        }
        let bytes = bytes_of(&formatted, encoding, name)?;
        sink::rewrite_file(path, bytes).map_err(|e| Fault::file("write", name, &e))?;
        session::print(&format!("formatted {name}\n"))
    }

    fn standard_input(&mut self) -> Result<(), Fault> {
        let bytes = limited_bytes(std::io::stdin().lock()).map_err(|e| Fault::file("read", "standard input", &e))?;
        let (text, encoding) = decode(&bytes);
        let Some(formatted) = self.format("<stdin>", &text)? else { return Ok(()) };
        match self.check {
            true if formatted.text == text => Ok(()),
            true => self.show("<stdin>", &text, &formatted),
            false => session::print_bytes(&bytes_of(&formatted, encoding, "<stdin>")?),
        }
    }

    /// Formats a text; `None` where it has syntax errors, which are told at the end.
    fn format(&mut self, name: &str, text: &str) -> Result<Option<Formatted>, Fault> {
        self.looked_at += 1;
        match format(FileId(self.sources.len() as u32), text) {
            Ok(formatted) => Ok(Some(formatted)),
            Err(Refusal::Syntax(diagnostics)) => {
                self.sources.add(name, text);
                self.diagnostics.extend(diagnostics);
                self.worst = self.worst.max(Exit::Program);
                Ok(None)
            }
            Err(Refusal::Changed(at, what)) => {
                let mut map = SourceMap::new();
                let file = map.add(name, text);
                let place = map.line_col(file, at);
                let message = format!("cannot format {name}: {what} (line {}); the file stays as it is", place.line);
                Err(Fault::internal(message).help("please report this with the file"))
            }
        }
    }

    /// Shows what formatting would change.
    fn show(&mut self, name: &str, text: &str, formatted: &Formatted) -> Result<(), Fault> {
        self.unformatted += 1;
        self.worst = self.worst.max(Exit::Program);
        self.session.change(name, &diff::unified(name, text, &formatted.text))
    }

    fn finish(mut self) -> Exit {
        if !self.diagnostics.is_empty()
            && let Err(fault) = self.session.report(&self.sources, &self.diagnostics)
        {
            self.fault(&fault);
        }
        if self.unformatted > 0 {
            let (n, all) = (self.unformatted, self.looked_at);
            self.session.remark(&format!("{n} of {all} file{} not formatted", if all == 1 { " is" } else { "s are" }));
        }
        self.worst
    }
}

fn nothing_named() -> Fault {
    Fault::usage(format!("no file is named, and neither this folder nor one above it has a {}", manifest::NAME))
        .help("`sluice fmt .` formats every .str file here and below")
}

/// The folder of a project.
fn folder_of(manifest: &Path) -> &Path {
    manifest.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// The bytes in the file's own encoding.
fn bytes_of(formatted: &Formatted, encoding: Encoding, name: &str) -> Result<Vec<u8>, Fault> {
    encode(&formatted.text, encoding)
        .ok_or_else(|| Fault::internal(format!("cannot format {name}: a character cannot be written any more")))
}
