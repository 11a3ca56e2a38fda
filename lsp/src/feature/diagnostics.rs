//! # diagnostics
//!
//! Purpose: what the compiler says, where the editor shows it. Input: a view whose analysis is of the present texts. Output: diagnostics for each of the user's
//! files, also for those without any. Codes, places and words are the compiler's.

use crate::convert;
use crate::world::outside;
use crate::world::project::{Entry, Fault};
use crate::world::settings::Settings;
use crate::world::view::View;
use sluice_grammar::diagnostic as ours;
use sluice_grammar::span::{FileId, Span};
use std::collections::HashMap;
use std::path::Path;
use tower_lsp::lsp_types::*;

const ERRORS: &str = include_str!("../../../docs/errors.md");

/// Codes that say that something is not used.
const UNUSED: &[&str] = &["W0205", "W0210", "W0211", "W0212", "W0213", "W0214", "W0215"];

/// Diagnostics that are shown of a file, at most.
pub const MOST: usize = 1_000;

/// Is it about an entry that the manifest names, and has no place in the program? It is told where the manifest names it.
fn asked_for(d: &ours::Diagnostic, named: Option<&Named>) -> bool {
    let name = named.map(|(_, entry)| format!("`{}`", entry.name));
    d.code == "E0113"
        && d.labels.iter().all(|l| l.text.starts_with("asked"))
        && name.is_some_and(|n| d.title.contains(&n))
}

/// Where the manifest asks for an entry that cannot be one.
fn asking(view: &View, d: &ours::Diagnostic, named: &Named) -> Option<DiagnosticRelatedInformation> {
    let (text, entry) = named;
    let uri = uri_named(view, &view.program).filter(|_| d.title.contains(&format!("`{}`", entry.name)))?;
    let (start, end) = (text.position(entry.range.start as u32), text.position(entry.range.end as u32));
    let location = Location { uri, range: Range { start, end } };
    Some(DiagnosticRelatedInformation { location, message: "asked for here".into() })
}

/// A manifest's text, and where it names the entry.
pub type Named = (convert::Text, Entry);

/// What is wrong with the entry that a manifest names.
pub fn of_entry(view: &View, named: &Named) -> Vec<Diagnostic> {
    let all = view.latest.iter().flat_map(|k| &k.of.analysis.diagnostics);
    let told = |d: &ours::Diagnostic| {
        let help: String = d.help.iter().map(|h| format!("\nhelp: {h}")).collect();
        let message = format!("{}\nasked for here{help}", d.title);
        let mut told = of_manifest(&named.0, Fault { range: named.1.range.clone(), code: d.code, message });
        told.code_description = explanation(d.code, &view.settings).map(|href| CodeDescription { href });
        told
    };
    all.filter(|d| asked_for(d, Some(named))).map(told).collect()
}

/// The diagnostics of each file; `named`: the entry that the program's manifest names.
pub fn diagnostics(view: &View, named: Option<&Named>) -> Vec<(FileId, Vec<Diagnostic>)> {
    let mut all: Vec<(FileId, Vec<Diagnostic>)> = view.syntax.own_files().map(|f| (f, Vec::new())).collect();
    let Some(known) = &view.latest else { return all };
    // where nothing is written yet, nothing can be wrong
    let blank = view.syntax.own_files().all(|f| view.syntax.tree(f).items.is_empty());
    let mut links = HashMap::new();
    for d in &known.of.analysis.diagnostics {
        // what is part of the library is no program
        if known.now(d.span()).is_some_and(|s| view.is_copy(s.file)) {
            continue;
        }
        if blank && d.code == "E0111" || asked_for(d, named) {
            continue;
        }
        let full = |file: FileId| all.iter().any(|(f, list)| *f == file && list.len() >= MOST);
        if known.now(d.span()).is_some_and(|s| full(s.file)) {
            continue;
        }
        let Some((file, mut diagnostic)) = plain(view, d) else { continue };
        if d.code == "E0113"
            && let Some(place) = named.and_then(|named| asking(view, d, named))
        {
            diagnostic.related_information.get_or_insert_default().push(place);
        }
        let href = links.entry(d.code).or_insert_with(|| explanation(d.code, &view.settings)).clone();
        diagnostic.code_description = href.map(|href| CodeDescription { href });
        if let Some((_, list)) = all.iter_mut().find(|(f, _)| *f == file) {
            list.push(diagnostic);
        }
    }
    all
}

/// A diagnostic and the file it is shown in: that of its main place, or, where that is in the library, the next place in a file of the user's.
pub fn convert_one(view: &View, d: &ours::Diagnostic) -> Option<(FileId, Diagnostic)> {
    let (file, mut diagnostic) = plain(view, d)?;
    diagnostic.code_description = explanation(d.code, &view.settings).map(|href| CodeDescription { href });
    Some((file, diagnostic))
}

/// The same without a link.
fn plain(view: &View, d: &ours::Diagnostic) -> Option<(FileId, Diagnostic)> {
    let known = view.latest.as_ref()?;
    let own = |span: Span| known.now(span).filter(|s| (s.file.0 as usize) < view.syntax.own);
    let main = own(d.span());
    let shown = main.or_else(|| d.labels.iter().find_map(|l| own(l.span))).unwrap_or(Span {
        file: FileId(0),
        start: 0,
        end: 0,
    });
    let mut message = d.title.clone();
    let mut say = |text: String| {
        message.push('\n');
        message.push_str(&text);
    };
    if main.is_some() && !d.labels[0].text.is_empty() {
        say(d.labels[0].text.clone());
    }
    d.help.iter().for_each(|h| say(format!("help: {h}")));
    d.notes.iter().for_each(|n| say(n.clone()));
    let related = d.labels.iter().skip(usize::from(main.is_some())).filter_map(|l| {
        let location = location(view, known.now(l.span)?)?;
        Some(DiagnosticRelatedInformation { location, message: l.text.clone() })
    });
    let related: Vec<_> = related.collect();
    let severity = match d.severity {
        ours::Severity::Error => DiagnosticSeverity::ERROR,
        ours::Severity::Warning => DiagnosticSeverity::WARNING,
        ours::Severity::Note => DiagnosticSeverity::INFORMATION,
    };
    let diagnostic = Diagnostic {
        range: view.syntax.text(shown.file).range(shown),
        severity: Some(severity),
        code: Some(NumberOrString::String(d.code.into())),
        code_description: None,
        source: Some("sluice".into()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: UNUSED.contains(&d.code).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    };
    Some((shown.file, diagnostic))
}

/// What is wrong with a manifest.
pub fn of_manifest(text: &convert::Text, fault: Fault) -> Diagnostic {
    let at = |i: usize| text.position(i.min(u32::MAX as usize) as u32);
    Diagnostic {
        range: Range { start: at(fault.range.start), end: at(fault.range.end) },
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String(fault.code.into())),
        source: Some("sluice".into()),
        message: fault.message,
        ..Diagnostic::default()
    }
}

/// Where a span is for a client. A file of the library is put where an editor can open it.
pub fn location(view: &View, span: Span) -> Option<Location> {
    let uri = uri_of(view, span.file)?;
    Some(Location { uri, range: view.syntax.text(span.file).range(span) })
}

/// The URI of a file.
pub fn uri_of(view: &View, file: FileId) -> Option<Url> {
    let file = view.syntax.file(file);
    let folder = view.settings.shown.as_deref().map(Path::new);
    match file.name.strip_prefix("<stdlib>/") {
        Some(name) => {
            let path = outside::shown(folder, &format!("stdlib/{name}"), file.text.as_str())?;
            Url::from_file_path(path).ok()
        }
        None => uri_named(view, &file.name),
    }
}

/// The URI of a document or a file: as the client opened it, if it did.
pub fn uri_named(view: &View, name: &str) -> Option<Url> {
    view.uris.get(name).cloned().or_else(|| convert::uri(name))
}

/// The section of docs/errors.md about a code.
fn explanation(code: &str, settings: &Settings) -> Option<Url> {
    let prefix = format!("## {code}: ");
    let heading = ERRORS.lines().find_map(|l| l.strip_prefix(&prefix))?;
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let anchor: String = heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect();
    let mut url = match &settings.docs {
        Some(base) => Url::parse(base).ok()?.join("errors.md").ok()?,
        None => {
            let folder = settings.shown.as_deref().map(Path::new);
            Url::from_file_path(outside::shown(folder, "errors.md", ERRORS)?).ok()?
        }
    };
    url.set_fragment(Some(&format!("{}-{anchor}", code.to_lowercase())));
    Some(url)
}
