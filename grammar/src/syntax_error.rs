//! Which of the parser's errors are told, and where a semicolon is missing. [`crate::stumble`] finds the words.

use crate::ast::Block;
use crate::diagnostic::{Diagnostic, Fix};
use crate::expected::Expected;
use crate::parse::ENOUGH_ERRORS;
use crate::span::Span;
use crate::stumble::Stumble;
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
    /// At top level.
    Item,
    /// In a struct.
    Field,
    /// In a static block.
    Static,
    /// In a native group.
    Native,
    /// In a helper group.
    Helper,
    /// In a filter.
    Member,
    /// In a list of parameters.
    Parameter,
    /// Behind `push`, `pop` or `peek` of a work function's head.
    Rate,
    /// In the brackets of a type.
    Size,
    /// In a body.
    Statement,
    /// In the head of a `for`.
    For,
    /// In a `switch` before its first label.
    Case,
    /// In parentheses that hold one expression.
    Expression,
    /// In the arguments of a call.
    Argument,
    /// In the brackets behind an expression.
    Index,
    /// In the parentheses of `pop()`.
    Pop,
    /// Behind an expression in parentheses of its own.
    Parentheses,
    /// Behind an expression, where only this bracket can follow.
    Closing(char),
}

/// How many tokens must be read behind a place where parsing went on before the next error is told: what comes sooner is
/// likely a consequence. Few are needed where tokens were dropped up to a `;` or bracket, or where a `;` is missing at the
/// end of a line; more where a `;` was supposed within a line.
const QUIET_AFTER_SYNC: usize = 1;
const QUIET_AFTER_LINE: usize = 2;
const QUIET_AFTER_GUESS: usize = 5;

impl<'s> State<'s> {
    /// The index of the token that starts at or behind `offset`.
    fn token_index(&self, offset: u32) -> usize {
        self.tokens.partition_point(|token| token.start < offset)
    }

    /// Is the error at `offset` worth telling? Remembers where parsing goes on.
    fn is_news(&mut self, offset: u32, dropped: usize, quiet: usize) -> bool {
        self.errors += 1;
        self.enough.set(self.errors >= ENOUGH_ERRORS);
        let at = self.token_index(offset);
        let news = at >= self.quiet_until;
        self.quiet_until = at + dropped + quiet;
        news
    }

    /// Tells of an error from which the parser has recovered.
    pub(crate) fn syntax_error(&mut self, recovery: ErrorRecovery<'s>, place: Place) {
        let dropped = recovery.dropped_tokens.len();
        let (found, at, expected) = match recovery.error {
            ParseError::UnrecognizedToken { token: (l, token, r), expected } => {
                (Some(token), self.span(l, r), expected)
            }
            ParseError::UnrecognizedEof { location, expected } => (None, self.span(location, location), expected),
            _ => return,
        };
        let news = self.is_news(at.start, dropped, QUIET_AFTER_SYNC);
        // Of a faulty token the lexer has told, of an empty token the pass that put it in.
        let told = found.is_some_and(|token| token == Token::Error || at.start == at.end || self.is_faulty(at.start));
        if !news || told {
            return;
        }
        let index = self.token_index(at.start);
        let before = index.checked_sub(1).map(|index| self.tokens[index]);
        // `if x > 0 { ... } else ...`: the error was in the head.
        if found == Some(Token::Else) && before.is_some_and(|before| Some(before.end) == self.broken_block) {
            return;
        }
        let stumble = Stumble {
            before: before.map(|token| token.token),
            before_at: before.map_or(at, |token| self.span(token.start, token.end)),
            found,
            at,
            after: self.tokens.get(index + 1).filter(|after| after.start < after.end).map(|after| after.token),
            joined: before
                .filter(|before| before.end == at.start)
                .map_or("", |before| self.source(before.start, at.end)),
            expected: Expected::new(&expected),
            place,
        };
        let diagnostic = stumble.diagnostic();
        self.diagnostics.push(diagnostic);
    }

    fn source(&self, start: u32, end: u32) -> &'s str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Has something been told of the token at `start`?
    fn is_faulty(&self, start: u32) -> bool {
        let index = self.faults.partition_point(|fault| fault.start < start as usize);
        self.faults.get(index).is_some_and(|fault| fault.start == start as usize)
    }

    /// Tells of an error in the head of a statement, before `block`.
    pub(crate) fn broken_head(&mut self, recovery: ErrorRecovery<'s>, block: &Block) {
        self.syntax_error(recovery, Place::Statement);
        self.broken_block = Some(block.at.0.end);
    }

    /// A `;` is missing, or an operator. Gives the end of what stands before.
    pub(crate) fn missing_semicolon(&mut self, recovery: ErrorRecovery<'s>) -> u32 {
        let next = match &recovery.error {
            ParseError::UnrecognizedToken { token: (l, token, r), .. } => Some((*token, self.span(*l, *r))),
            _ => None,
        };
        let index = next.map_or(self.tokens.len(), |(_, at)| self.token_index(at.start));
        let end = index.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        let starts_anew = match next {
            None => true,
            Some((token, _)) => {
                token.is_keyword()
                    || matches!(token, Token::Ident(_) | Token::Increment | Token::Decrement)
                    || matches!(token, Token::RBrace | Token::RBraceTop | Token::LBrace)
            }
        };
        let is_virtual = next.is_some_and(|(_, span)| span.start == span.end);
        if !recovery.dropped_tokens.is_empty() || !starts_anew || is_virtual {
            self.syntax_error(recovery, Place::Statement);
        } else {
            let at = next.map_or(self.span(end, end), |(_, span)| span);
            self.missing_semicolon_at(end, at);
        }
        end
    }

    /// A `;` is missing behind `end`, before `next`.
    pub(crate) fn missing_semicolon_at(&mut self, end: u32, next: Span) {
        let new_line = self.source(end, next.start).contains('\n');
        if self.is_news(next.start, 0, if new_line { QUIET_AFTER_LINE } else { QUIET_AFTER_GUESS }) {
            let here = self.span(end, end);
            let word = if new_line { None } else { self.word_before(end) };
            let diagnostic = Diagnostic::error("E0009", "expected `;`", here, "expected `;` here");
            self.diagnostics.push(match word {
                None => diagnostic.fix(Fix::safe("add `;`", here, ";")),
                Some((text, at)) => match other_languages(text) {
                    Some(help) => {
                        let title = format!("there is no `{text}` in this language");
                        Diagnostic::error("E0009", title, at, "read as a name").help(help)
                    }
                    None => diagnostic.label(at, "a name by itself does nothing"),
                },
            });
        }
    }

    /// The word that a statement which ends at `end` begins with, if it is a name by itself, or looks like a call of something that other languages have: a `;` behind it is hardly what was meant.
    fn word_before(&self, end: u32) -> Option<(&'s str, Span)> {
        let last = self.token_index(end).checked_sub(1)?;
        let (mut at, mut open) = (last, 0);
        if self.tokens[last].token == Token::RParen {
            loop {
                match self.tokens[at].token {
                    Token::RParen => open += 1,
                    Token::LParen => open -= 1,
                    _ => {}
                }
                at = at.checked_sub(1)?;
                if open == 0 {
                    break;
                }
            }
        }
        let word = self.tokens[at];
        let text = self.source(word.start, word.end);
        let begins = at.checked_sub(1).is_none_or(|before| {
            use Token::{Else, LBrace, LBraceTop, RBrace, RParen, Semi};
            matches!(self.tokens[before].token, Else | LBrace | LBraceTop | RBrace | RParen | Semi)
        });
        let alone = at == last && begins || other_languages(text).is_some();
        (matches!(word.token, Token::Ident(_)) && alone).then(|| (text, self.span(word.start, word.end)))
    }
}

/// What to write for a word that begins statements and declarations in other languages.
pub(crate) fn other_languages(word: &str) -> Option<&'static str> {
    Some(match word {
        "const" | "constexpr" | "final" | "register" | "volatile" | "let" | "var" | "auto" => {
            "leave it out: a variable is declared by its type and its name"
        }
        "unsigned" | "signed" | "long" | "short" | "char" => "an `int` has 32 bits and a sign; there are no other ints",
        "then" => "leave it out: what follows the condition is what is done",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "new" => "nothing is made with `new`; a portal is declared, as in `portal<Name> p;`",
        _ => return None,
    })
}
