//! # schema
//!
//! Purpose: takes a TOML document apart, key by key, and says what is wrong with it where it stands. Input: text. Output: values
//! with their places, and diagnostics in the order of the text. Every key that nobody asks for is an error, with the key that may
//! have been meant.

use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::similar::closest;
use sluice_grammar::span::{FileId, Span};
use std::ops::RangeInclusive;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: Span,
}

/// What is wrong with a document.
pub struct Faults {
    file: FileId,
    all: Vec<Diagnostic>,
}

impl Faults {
    /// Notes one.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        self.all.push(diagnostic);
    }

    /// All of them, in the order of the text.
    pub fn sorted(mut self) -> Vec<Diagnostic> {
        self.all.sort_by_key(|d| (d.span().start, d.span().end));
        self.all
    }

    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.file, range.start, range.end)
    }
}

/// A table that is being read.
pub struct Table<'t> {
    /// `[run]`, or what the document is.
    name: String,
    /// Its keys, those already read taken out.
    left: Vec<(At<String>, At<DeValue<'t>>)>,
    /// The keys that were asked for.
    asked: Vec<&'static str>,
}

/// Reads a document; `what` is what it is, such as `the manifest`.
pub fn parse<'t>(text: &'t str, file: FileId, what: &str) -> (Table<'t>, Faults) {
    let mut faults = Faults { file, all: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for e in &errors {
        let range = e.span().unwrap_or(0..0);
        let message = e.message().lines().collect::<Vec<_>>().join("; ");
        faults.add(Diagnostic::error("E0700", format!("this is not TOML: {message}"), faults.span(range), "here"));
    }
    let mut table = Table::of(table.into_inner(), what.to_string(), &faults);
    if !errors.is_empty() {
        // what follows from the holes is not worth telling
        table.left.clear();
    }
    (table, faults)
}

/// What a value is, in words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The value has another type than it should.
fn wrong(key: &str, span: Span, found: &DeValue<'_>, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0702", format!("`{key}` is {wanted}"), span, format!("this is {}", kind(found)))
}

/// The value is not one of those that there are.
pub fn not_a_choice(key: &str, found: &At<String>, names: &[&str]) -> Diagnostic {
    let title = format!("`{key}` cannot be \"{}\"", found.value);
    let d = Diagnostic::error("E0703", title, found.span, "not one of the choices");
    let mut d = d.help(format!("choose from {}", names.join(", ")));
    if let Some(near) = closest(&found.value, names.iter().copied()) {
        let text = format!("\"{near}\"");
        d = d.fix(Fix::new(format!("write `{text}`"), found.span, text)).note(format!("\"{near}\" is similar"));
    }
    d
}

impl<'t> Table<'t> {
    fn of(table: DeTable<'t>, name: String, faults: &Faults) -> Table<'t> {
        let entries = table.into_iter().map(|(key, value)| {
            let (at, place) = (faults.span(key.span()), faults.span(value.span()));
            (At { value: key.into_inner().into_owned(), span: at }, At { value: value.into_inner(), span: place })
        });
        let mut left: Vec<_> = entries.collect();
        left.sort_by_key(|(key, _)| key.span.start);
        Table { name, left, asked: Vec::new() }
    }

    /// A key that is kept for later: its place, whatever stands behind it.
    pub fn reserved(&mut self, key: &str) -> Option<Span> {
        let at = self.left.iter().position(|(k, _)| k.value == key)?;
        Some(self.left.remove(at).0.span)
    }

    fn take(&mut self, key: &'static str) -> Option<At<DeValue<'t>>> {
        self.asked.push(key);
        let at = self.left.iter().position(|(k, _)| k.value == key)?;
        Some(self.left.remove(at).1)
    }

    /// A table in this one.
    pub fn table(&mut self, key: &'static str, faults: &mut Faults) -> Option<Table<'t>> {
        let At { value, span } = self.take(key)?;
        match value {
            DeValue::Table(table) => Some(Table::of(table, format!("[{key}]"), faults)),
            other => {
                faults.add(wrong(key, span, &other, "a table").help(format!("write [{key}] on a line of its own")));
                None
            }
        }
    }

    /// A text, or a table with more about it.
    pub fn string_or_table(&mut self, key: &'static str, faults: &mut Faults) -> Option<StringOrTable<'t>> {
        let At { value, span } = self.take(key)?;
        match value {
            DeValue::String(text) => Some(StringOrTable::String(At { value: text.into_owned(), span })),
            DeValue::Table(table) => Some(StringOrTable::Table(Table::of(table, format!("`{key}`"), faults), span)),
            other => {
                faults.add(wrong(key, span, &other, "a text or a table"));
                None
            }
        }
    }

    /// A text.
    pub fn string(&mut self, key: &'static str, faults: &mut Faults) -> Option<At<String>> {
        let At { value, span } = self.take(key)?;
        match value {
            DeValue::String(text) => Some(At { value: text.into_owned(), span }),
            other => {
                faults.add(wrong(key, span, &other, "a text"));
                None
            }
        }
    }

    /// A list of texts.
    pub fn strings(&mut self, key: &'static str, faults: &mut Faults) -> Option<At<Vec<At<String>>>> {
        let At { value, span } = self.take(key)?;
        let DeValue::Array(elements) = value else {
            let mut d = wrong(key, span, &value, "a list of texts");
            if let DeValue::String(_) = value {
                d = d.help("put it in brackets: [\"...\"]");
            }
            faults.add(d);
            return None;
        };
        let mut all = Vec::new();
        for element in elements {
            let span = faults.span(element.span());
            match element.into_inner() {
                DeValue::String(text) => all.push(At { value: text.into_owned(), span }),
                other => faults.add(wrong(key, span, &other, "a list of texts")),
            }
        }
        Some(At { value: all, span })
    }

    /// True or false.
    pub fn boolean(&mut self, key: &'static str, faults: &mut Faults) -> Option<bool> {
        let At { value, span } = self.take(key)?;
        match value {
            DeValue::Boolean(b) => Some(b),
            other => {
                faults.add(wrong(key, span, &other, "true or false"));
                None
            }
        }
    }

    /// A whole number within limits.
    pub fn integer(&mut self, key: &'static str, limits: RangeInclusive<u64>, faults: &mut Faults) -> Option<u64> {
        self.integer_at(key, limits, faults).map(|n| n.value)
    }

    /// A whole number within limits, and its place.
    pub fn integer_at(
        &mut self,
        key: &'static str,
        limits: RangeInclusive<u64>,
        faults: &mut Faults,
    ) -> Option<At<u64>> {
        let At { value, span } = self.take(key)?;
        let DeValue::Integer(number) = value else {
            faults.add(wrong(key, span, &value, "a whole number"));
            return None;
        };
        let found = u64::from_str_radix(number.as_str(), number.radix()).ok().filter(|n| limits.contains(n));
        if found.is_none() {
            let range = match (*limits.start(), *limits.end()) {
                (low, u64::MAX) => format!("{low} or more"),
                (low, high) => format!("from {low} to {high}"),
            };
            faults.add(Diagnostic::error("E0703", format!("`{key}` is a whole number, {range}"), span, "this is not"));
        }
        found.map(|value| At { value, span })
    }

    /// A finite number that is not negative.
    pub fn number(&mut self, key: &'static str, faults: &mut Faults) -> Option<At<f64>> {
        let At { value, span } = self.take(key)?;
        let found = match &value {
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64),
            DeValue::Float(n) => n.as_str().parse::<f64>().ok(),
            other => {
                faults.add(wrong(key, span, other, "a number"));
                return None;
            }
        };
        match found.filter(|n| n.is_finite() && *n >= 0.0) {
            Some(value) => Some(At { value, span }),
            None => {
                faults.add(Diagnostic::error("E0703", format!("`{key}` is a number, 0 or more"), span, "this is not"));
                None
            }
        }
    }

    /// One of several words.
    pub fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
        faults: &mut Faults,
    ) -> Option<T> {
        let found = self.string(key, faults)?;
        match choices.iter().find(|(name, _)| *name == found.value) {
            Some((_, value)) => Some(*value),
            None => {
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                faults.add(not_a_choice(key, &found, &names));
                None
            }
        }
    }

    /// All keys, each with a text: for tables whose keys are the user's.
    pub fn all_strings(&mut self, faults: &mut Faults) -> Vec<(At<String>, At<String>)> {
        let mut all = Vec::new();
        for (key, At { value, span }) in self.left.drain(..) {
            match value {
                DeValue::String(text) => all.push((key, At { value: text.into_owned(), span })),
                other => faults.add(wrong(&key.value, span, &other, "a text")),
            }
        }
        all
    }

    /// Keys that nobody asked for are errors.
    pub fn finish(self, faults: &mut Faults) {
        for (key, _) in &self.left {
            let title = format!("{} has no key `{}`", self.name, key.value);
            let mut d = Diagnostic::error("E0701", title, key.span, "unknown");
            match closest(&key.value.replace('_', "-"), self.asked.iter().copied()) {
                _ if self.asked.contains(&key.value.replace('_', "-").as_str()) => {
                    let near = key.value.replace('_', "-");
                    d = d.help(format!("did you mean `{near}`?")).fix(Fix::new(
                        format!("change to `{near}`"),
                        key.span,
                        near,
                    ));
                }
                Some(near) => {
                    d = d.help(format!("did you mean `{near}`?")).fix(Fix::new(
                        format!("change to `{near}`"),
                        key.span,
                        near,
                    ))
                }
                None => {
                    let mut names = self.asked.clone();
                    names.sort_unstable();
                    d = d.help(format!("there are {}", names.join(", ")));
                }
            }
            faults.add(d);
        }
    }
}

/// What stands behind a key that takes either.
pub enum StringOrTable<'t> {
    /// A text.
    String(At<String>),
    /// A table, and its place.
    Table(Table<'t>, Span),
}
