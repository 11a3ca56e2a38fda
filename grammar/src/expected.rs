//! What could have stood where the parser stumbled, in plain words.

use crate::token::Token;
use std::collections::BTreeSet;

/// How many things a message lists.
const MAX_LISTED: usize = 5;

const TYPES: &[&str] =
    &["void", "bit", "boolean", "int", "float", "double", "complex", "float2", "float3", "float4", "portal"];

const EXPRESSION: &[&str] = &[
    "identifier",
    "integer",
    "real",
    "imaginary",
    "character",
    "string",
    "error",
    "(",
    "-",
    "!",
    "~",
    "+",
    "++",
    "--",
    "pop",
    "peek",
    "iter",
    "pi",
    "true",
    "false",
];

const STATEMENT: &[&str] = &[
    "if", "while", "for", "do", "switch", "break", "continue", "return", "add", "body", "loop", "split", "join",
    "enqueue", "push", "{", ";",
];

const MEMBER: &[&str] = &["init", "prework", "work", "handler", ";"];

const ITEM: &[&str] = &[
    "struct",
    "static",
    "native",
    "helper",
    "import",
    "stateful",
    "filter",
    "pipeline",
    "splitjoin",
    "feedbackloop",
    ";",
];

const STREAM_KINDS: &[&str] = &["filter", "pipeline", "splitjoin", "feedbackloop"];

const OPERATORS: &[&str] = &[
    "*", "/", "%", "<<", ">>", "+", "-", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||", "?", ".", "++",
    "--", "(", "[",
];

const ASSIGNMENTS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// The tokens that the grammar allows at one place.
#[derive(Clone)]
pub(crate) struct Expected<'e>(BTreeSet<&'e str>);

impl<'e> Expected<'e> {
    /// From the parser's list of terminals, each in quotation marks. Tokens that [`crate::layout`] tells apart but that are
    /// written alike become one.
    pub fn new(list: &'e [String]) -> Expected<'e> {
        Expected(list.iter().map(|name| written(name.trim_matches('"'))).collect())
    }

    pub fn has(&self, token: &str) -> bool {
        self.0.contains(token)
    }

    pub fn keywords(&self) -> impl Iterator<Item = &'e str> {
        const CLASSES: &[&str] = &["identifier", "integer", "real", "imaginary", "character", "string", "error"];
        self.0
            .iter()
            .copied()
            .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()) && !CLASSES.contains(name))
    }

    pub fn expression(&self) -> bool {
        self.has("identifier") && self.has("integer")
    }

    fn remove(&mut self, names: &[&'static str]) {
        for name in names {
            self.0.remove(name);
        }
    }

    /// Such as "an expression or `)`".
    pub fn describe(mut self) -> String {
        let mut out: Vec<String> = Vec::new();
        if self.has("if") && self.has("while") && self.has("for") {
            out.push("a statement".into());
            let close = self.has("}");
            self.remove(STATEMENT);
            self.remove(EXPRESSION);
            self.remove(TYPES);
            if close {
                self.0.insert("}");
            }
        }
        if self.has("work") && self.has("handler") {
            out.push("a field, a function, `init` or `work`".into());
            self.remove(MEMBER);
            self.remove(TYPES);
            self.remove(&["identifier"]);
        }
        if self.has("struct") && self.has("static") {
            out.push("a declaration".into());
            self.remove(ITEM);
            self.remove(TYPES);
            self.remove(&["identifier"]);
        }
        if self.has("filter") && self.has("pipeline") {
            out.extend(STREAM_KINDS.iter().map(|kind| format!("`{kind}`")));
            self.remove(STREAM_KINDS);
            self.remove(&["stateful"]);
        }
        if self.expression() {
            out.push(if self.has("{") && !self.has("if") { "a value" } else { "an expression" }.into());
            if self.has("{") {
                self.remove(&["{"]);
            }
            self.remove(EXPRESSION);
            self.remove(TYPES);
        }
        if self.has("float") && self.has("int") {
            out.push("a type".into());
            self.remove(TYPES);
            self.remove(&["identifier"]);
        }
        if self.has("*") && self.has("+") && self.has("==") {
            self.remove(OPERATORS);
            self.remove(ASSIGNMENTS);
            self.0.insert("operator");
        }
        if self.has(")") && self.has("*=") {
            // The grammar reads assignments in parentheses only to refuse them.
            self.remove(ASSIGNMENTS);
        }
        if self.has(",") {
            // Behind a declared name, where the grammar reads C's dimensions only to refuse them.
            self.remove(&["["]);
        }
        if self.has("push") && self.has("pop") && self.has("peek") {
            self.remove(&["push", "pop", "peek"]);
            out.push("a rate".into());
        }
        // Brackets and separators before the rest, operators at the end.
        let rank = |name: &str| match name {
            "operator" => 2,
            _ if name.starts_with(|c: char| c.is_ascii_lowercase()) => 1,
            _ => 0,
        };
        let mut rest: Vec<&str> = self.0.into_iter().filter(|name| *name != "error").collect();
        rest.sort_by_key(|name| rank(name));
        out.extend(rest.into_iter().map(|name| match name {
            "identifier" => "a name".to_string(),
            "integer" | "real" | "imaginary" => "a number".to_string(),
            "character" => "a character".to_string(),
            "string" => "a string".to_string(),
            "operator" => "an operator".to_string(),
            _ => format!("`{name}`"),
        }));
        out.truncate(MAX_LISTED);
        match out.split_last() {
            None => "something else".into(),
            Some((only, [])) => only.clone(),
            Some((last, before)) => format!("{} or {last}", before.join(", ")),
        }
    }
}

/// How a terminal of the grammar is written.
fn written(terminal: &str) -> &str {
    match terminal {
        "{literal" | "{top" => "{",
        "}literal" | "}top" => "}",
        ";for" | ";top" => ";",
        _ => terminal,
    }
}

/// A token for a message: `` `x` ``, `a string`.
pub(crate) fn describe_token(token: Option<Token>) -> String {
    match token {
        None => "the end of the file".into(),
        Some(token @ (Token::Str(text) | Token::Char(text))) if text.len() > 20 || text.contains('\n') => match token {
            Token::Str(_) => "a string".into(),
            _ => "a character".into(),
        },
        Some(token) => format!("`{token}`"),
    }
}
