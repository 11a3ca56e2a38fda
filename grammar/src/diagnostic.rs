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

/// May a machine make the edits of a [`Fix`] without anybody looking?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// Yes: the program means afterwards what it meant before, or, where it was wrong, what it can only have meant.
    Safe,
    /// No: the edits may change what the program does, or may not be what its author wants.
    NeedsALook,
}

/// One way to mend a fault. All its edits belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an order: "remove `stateful`". One line, without a full stop.
    pub title: String,
    /// The replacements, none of which overlaps another, in any order.
    pub edits: Vec<Edit>,
    /// Can it be made without a look?
    pub applicability: Applicability,
}

impl Fix {
    /// Replaces `span` by `text`; needs a look.
    pub fn new(title: impl Into<String>, span: Span, text: impl Into<String>) -> Fix {
        let edits = vec![Edit { span, text: text.into() }];
        Fix { title: title.into(), edits, applicability: Applicability::NeedsALook }
    }

    /// Replaces `span` by `text`; can be made without a look.
    pub fn safe(title: impl Into<String>, span: Span, text: impl Into<String>) -> Fix {
        Fix { applicability: Applicability::Safe, ..Fix::new(title, span, text) }
    }

    /// A fix of several edits.
    pub fn of(title: impl Into<String>, edits: Vec<Edit>, applicability: Applicability) -> Fix {
        Fix { title: title.into(), edits, applicability }
    }

    /// Replaces `span`, too.
    #[must_use]
    pub fn and(mut self, span: Span, text: impl Into<String>) -> Fix {
        self.edits.push(Edit { span, text: text.into() });
        self
    }

    /// Can it be made without a look?
    pub fn is_safe(&self) -> bool {
        self.applicability == Applicability::Safe
    }
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
    /// Ways to mend it by editing the text, the likeliest first; each stands for itself.
    pub fixes: Vec<Fix>,
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
            fixes: Vec::new(),
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

    /// Adds a way to mend it.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Diagnostic {
        self.fixes.push(fix);
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
