//! Diagnostics are data: a code, a severity, a title, labels at several places, help, and edits that mend.
//!
//! Nothing here renders: the driver prints them with ariadne or as JSON, the language server converts them.

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program is wrong; no code is made.
    Error,
    /// The program works, but probably not as meant.
    Warning,
    /// A remark.
    Note,
}

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is said there.
    pub text: String,
}

/// A replacement of source text that mends the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The text to replace (empty for an insertion).
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// One thing to tell the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, such as `E0123` or `W0007`; explained in docs/errors.md.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One line, without a full stop.
    pub title: String,
    /// Places; the first is the main one.
    pub labels: Vec<Label>,
    /// What the user can do about it.
    pub help: Option<String>,
    /// Further remarks, one line each (the chain of instantiations, for example).
    pub notes: Vec<String>,
    /// An edit that mends it, where a machine can.
    pub fix: Vec<Edit>,
}

impl Diagnostic {
    /// An error at `span`; the label there says `label`.
    pub fn error(code: &'static str, title: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            title: title.into(),
            labels: vec![Label { span, text: label.into() }],
            help: None,
            notes: Vec::new(),
            fix: Vec::new(),
        }
    }

    /// A warning at `span`; the label there says `label`.
    pub fn warning(code: &'static str, title: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, title, span, label) }
    }

    /// Adds a second place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Adds a remark.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds an edit that mends it.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.fix.push(Edit { span, text: text.into() });
        self
    }

    /// The main place.
    pub fn span(&self) -> Span {
        self.labels[0].span
    }

    /// Is it an error?
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
