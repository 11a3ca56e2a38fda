//! Turns what the parser says of an error into what a person can use.

use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::Token;
use crate::tree::State;
use lalrpop_util::ParseError;

/// An error that cannot happen: neither lexer nor actions fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

pub(crate) type ErrorRecovery<'s> = lalrpop_util::ErrorRecovery<u32, Token<'s>, Never>;

/// Where the parser was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Item,
    Field,
    Static,
    Native,
    Helper,
    Member,
    Parameter,
    Rate,
    Size,
    Statement,
    For,
    Case,
    Expression,
    Argument,
    Index,
    Pop,
    /// Behind an expression, where only this bracket can follow.
    Closing(char),
}

/// Behind an error that many tokens must be read before the next one is told: what comes sooner is likely its consequence.
const QUIET_TOKENS: usize = 3;

impl<'s> State<'s> {
    /// The index of the token that starts at or behind `offset`.
    fn token_index(&self, offset: u32) -> usize {
        self.tokens.partition_point(|token| token.start < offset)
    }

    /// Is the error at `offset` worth telling? Remembers where parsing goes on.
    fn is_news(&mut self, offset: u32, dropped: usize) -> bool {
        let at = self.token_index(offset);
        let news = self.resumed.is_none_or(|resumed| at >= resumed + QUIET_TOKENS);
        self.resumed = Some(at + dropped);
        news
    }

    pub(crate) fn syntax_error(&mut self, recovery: ErrorRecovery<'s>, place: Place) {
        let dropped = recovery.dropped_tokens.len();
        let (found, at, expected) = match recovery.error {
            ParseError::UnrecognizedToken { token: (l, token, r), expected } => (Some(token), self.span(l, r), expected),
            ParseError::UnrecognizedEof { location, expected } => (None, self.span(location, location), expected),
            _ => return,
        };
        if !self.is_news(at.start, dropped) || found == Some(Token::Error) {
            return;
        }
        let _ = place;
        let found = found.map_or("the end of the file".to_string(), |token| format!("`{token}`"));
        self.diagnostics.push(Diagnostic::error("E0008", format!("unexpected {found}"), at, format!("expected {}", expected.join(" "))));
    }

    /// A `;` is missing behind `end`.
    pub(crate) fn missing_semicolon(&mut self, end: u32, recovery: ErrorRecovery<'s>) {
        let _ = end;
        self.syntax_error(recovery, Place::Statement);
    }

    /// A `;` is missing between two statements on which the parser did not stumble.
    pub(crate) fn missing_semicolon_at(&mut self, end: u32, next: Span) {
        if self.is_news(next.start, 0) {
            let here = self.span(end, end);
            self.diagnostics.push(
                Diagnostic::error("E0009", "expected `;`", here, "expected `;` here").fix(here, ";"),
            );
        }
    }
}
