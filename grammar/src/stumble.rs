//! Finds the words for a syntax error: what was expected, what is likely meant, what to do.

use crate::diagnostic::Applicability::{NeedsALook, Safe};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::expected::{Expected, describe_token};
use crate::similar::closest;
use crate::span::Span;
use crate::syntax_error::Place;
use crate::token::Token;

/// An error about to be told.
pub(crate) struct Stumble<'s, 'e> {
    /// The token behind which it happened, and where it is.
    pub before: Option<Token<'s>>,
    pub before_at: Span,
    /// The token on which it happened, `None` at the end of the file, and where it is.
    pub found: Option<Token<'s>>,
    pub at: Span,
    /// The token behind that one.
    pub after: Option<Token<'s>>,
    /// The text of `before` and `found` if nothing is between them.
    pub joined: &'s str,
    pub expected: Expected<'e>,
    pub place: Place,
}

/// How what a filter does begins, of which other languages would make a function.
pub(crate) fn head_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "init" => "write `init { ... }`, without a type and parentheses",
        "work" => "write `work pop 1 push 1 { ... }` with its rates, without a type and parentheses",
        "prework" => "write `prework push 1 { ... }` with its rates, without a type and parentheses",
        _ => return None,
    })
}

impl Stumble<'_, '_> {
    /// What to tell.
    pub fn diagnostic(self) -> Diagnostic {
        if let Some(diagnostic) = self.no_operator() {
            return diagnostic;
        }
        match self.found {
            Some(Token::Else) => self.stray_else(),
            Some(token) if token.is_assignment() => self.assignment(token),
            Some(Token::Colon | Token::Star) if matches!(self.place, Place::Index | Place::Closing(']')) => {
                self.latency()
            }
            Some(Token::Arrow) if self.place == Place::Statement => self.stream_without_add(),
            Some(token) if self.place == Place::Statement && token.is_stream_kind() && self.at_start() => {
                self.stream_without_add()
            }
            Some(token) if token.is_keyword() && self.wants_name() && !token.is_type_keyword() => {
                self.keyword_as_name(token)
            }
            Some(token) if self.at_start() => match self.misplaced(token) {
                Some(diagnostic) => diagnostic,
                None => self.unexpected(),
            },
            _ => self.unexpected(),
        }
    }

    /// Is this the first token of a statement or declaration?
    fn at_start(&self) -> bool {
        use Token::*;
        matches!(self.before, None | Some(Semi | SemiTop | LBrace | RBrace | LBraceTop | RBraceTop))
    }

    /// Is a name all that can be meant?
    fn wants_name(&self) -> bool {
        self.expected.has("identifier") && !self.expected.expression() && self.before.is_some() && !self.at_start()
    }

    fn stray_else(self) -> Diagnostic {
        let diagnostic =
            Diagnostic::error("E0017", "`else` without `if`", self.at, "no `if` ends directly before this `else`");
        match self.before {
            Some(Token::Semi) => {
                diagnostic.help("between `if (...)` and `else` stands one statement; put several between braces")
            }
            _ => diagnostic,
        }
    }

    /// Signs of other languages, which are read as two tokens here.
    fn no_operator(&self) -> Option<Diagnostic> {
        let signs = match (self.joined, self.found, self.after) {
            (_, Some(Token::Colon), Some(Token::Assign)) => ":=",
            (_, Some(Token::Assign), Some(Token::Gt)) if self.expected.has("->") => "=>",
            (joined, ..) => joined,
        };
        let (help, fix) = match signs {
            "&&=" => ("write `a = a && b`", None),
            "||=" => ("write `a = a || b`", None),
            "===" => ("to compare, write `==`", Some(("==", Safe))),
            "!==" => ("to compare, write `!=`", Some(("!=", Safe))),
            "<>" => ("to compare, write `!=`", Some(("!=", Safe))),
            "=<" => ("to compare, write `<=`", Some(("<=", NeedsALook))),
            "**" => ("for a power, call `pow(x, y)`", None),
            ":=" => ("an assignment is written `=`", None),
            "=>" if self.expected.has("->") => ("between two types stands `->`", None),
            "=>" => ("to compare, write `>=`", Some((">=", NeedsALook))),
            _ => return None,
        };
        let both = if signs == self.joined { self.before_at.to(self.at) } else { self.at };
        let diagnostic =
            Diagnostic::error("E0008", format!("`{signs}` is no operator"), both, "no such operator").help(help);
        Some(match fix {
            Some((meant, applicability)) => {
                let edit = Edit { span: both, text: meant.into() };
                diagnostic.fix(Fix::of(format!("write `{meant}`"), vec![edit], applicability))
            }
            None => diagnostic,
        })
    }

    fn assignment(self, token: Token) -> Diagnostic {
        if self.expected.expression() || self.at_start() {
            return self.unexpected();
        }
        if let Some(help) = self.statement_help() {
            return Diagnostic::error("E0021", "an assignment cannot stand here", self.at, "misplaced").help(help);
        }
        let title = format!("`{token}` is a statement and has no value");
        let diagnostic = Diagnostic::error("E0013", title, self.at, "an assignment cannot stand inside an expression");
        match token {
            Token::Assign => diagnostic.help("to compare, write `==`; to assign, make it a statement of its own"),
            _ => diagnostic.help("make it a statement of its own"),
        }
    }

    /// Where statements belong, in a place that has none.
    fn statement_help(&self) -> Option<&'static str> {
        match self.place {
            Place::Member => Some("statements belong into `init`, `work` or a function of the filter"),
            Place::Static => Some("statements belong into the `init` of the static block"),
            Place::Helper | Place::Native => Some("statements belong into a function"),
            Place::Field => Some("a struct holds fields only"),
            Place::Item => Some("statements belong into a stream; is a `}` too many before it?"),
            _ => None,
        }
    }

    fn latency(self) -> Diagnostic {
        // `[0:*]`
        if matches!((self.before, self.found), (Some(Token::Colon), Some(Token::Star))) {
            return Diagnostic::error(
                "E0015",
                "a range of latencies has two ends",
                self.at,
                "no largest latency follows",
            )
            .help("write two numbers, `[min:max]`, or `[*]` for a message that comes when it can");
        }
        Diagnostic::error("E0015", "a latency belongs to a message only", self.at, "an index cannot hold this")
            .help("a message is a statement, `portal.handler(arguments) [min:max];` or `... [*];`")
    }

    fn stream_without_add(self) -> Diagnostic {
        Diagnostic::error(
            "E0021",
            "a stream cannot be declared here",
            self.at,
            "this begins the declaration of a stream",
        )
        .help("to put an anonymous stream into this one, write `add` before it; a named one belongs at top level")
    }

    fn keyword_as_name(self, token: Token) -> Diagnostic {
        let title = format!("`{token}` is a keyword and cannot be a name");
        let diagnostic = Diagnostic::error("E0011", title, self.at, "a name is expected here");
        let diagnostic = match head_of(&token.to_string()) {
            Some(help) if matches!(self.before, Some(Token::Void)) => return diagnostic.help(help),
            _ => diagnostic,
        };
        match self.before {
            // `wrk push 1` reads as a field of type `wrk`.
            Some(Token::Ident(name)) => match closest(name, ["work", "prework", "init", "handler", "filter"]) {
                Some(meant) => {
                    let title = format!("expected {}, found `{token}`", self.expected.describe());
                    Diagnostic::error("E0008", title, self.at, format!("unexpected `{token}`"))
                        .help(format!("did you mean `{meant}` instead of `{name}`?"))
                        .fix(Fix::new(format!("write `{meant}`"), self.before_at, meant))
                }
                None => diagnostic,
            },
            _ => diagnostic.help(format!("choose another name, such as `{token}_` or `my_{token}`")),
        }
    }

    /// A statement or declaration that makes sense, but not here.
    fn misplaced(&self, token: Token) -> Option<Diagnostic> {
        use Token::*;
        let (title, help) = match (self.place, token) {
            (Place::Statement | Place::Case, Case | Default) => (
                format!("`{token}` outside of a `switch`"),
                "labels belong between the braces of `switch (...) { ... }`",
            ),
            (Place::Case, _) => {
                return Some(Diagnostic::error(
                    "E0021",
                    "a statement before the first `case`",
                    self.at,
                    "no `case` or `default` leads here",
                ));
            }
            (Place::Statement, Work | Prework | Init | Handler) => (
                format!("`{token}` cannot stand here"),
                "it belongs directly into a filter, not into a body of statements or another stream",
            ),
            (_, Struct | Static | Native | Helper) if self.place != Place::Item => {
                (format!("`{token}` cannot stand here"), "it belongs at top level")
            }
            (Place::Item, Work | Prework | Init | Handler) => (
                format!("`{token}` cannot stand at top level"),
                "it belongs into a filter; is a `}` too many before it?",
            ),
            (Place::Member | Place::Item, Add | Split | Join | Body | Loop | Enqueue) => {
                (format!("`{token}` cannot stand here"), "it belongs into a pipeline, splitjoin or feedbackloop")
            }
            (
                _,
                If | For | While | Do | Switch | Return | Break | Continue | Push | Pop | Peek | Increment | Decrement,
            ) => (format!("`{token}` cannot stand here"), self.statement_help()?),
            _ => return None,
        };
        Some(Diagnostic::error("E0021", title, self.at, "misplaced").help(help))
    }

    fn unexpected(self) -> Diagnostic {
        use Token::{Add, Body, Loop, Peek, Pop, Push};
        // `work push pop 1`: the second keyword has been read as `pop()`.
        if let (Place::Rate, Some(word @ (Push | Pop | Peek))) = (self.place, self.before) {
            let title = format!("expected a rate, found `{word}`");
            return Diagnostic::error("E0016", title, self.before_at, "a number is missing before this");
        }
        let found = describe_token(self.found);
        let title = match (self.place, self.before) {
            (Place::Pop, _) => "`pop()` takes no argument".to_string(),
            (Place::Size, _) if self.found == Some(Token::RBracket) => "the array's size is missing".to_string(),
            (_, Some(Add | Body | Loop)) => format!("expected a stream, found {found}"),
            _ if self.lacks_body() => format!("expected a body `{{ ... }}`, found {found}"),
            _ => format!("expected {}, found {found}", self.expected.clone().describe()),
        };
        let diagnostic = Diagnostic::error("E0008", title, self.at, format!("unexpected {found}"));
        let misspelt = [(self.found, self.at), (self.before, self.before_at)].into_iter().find_map(|(token, at)| {
            let Some(Token::Ident(name)) = token else { return None };
            closest(name, self.expected.keywords()).map(|meant| (name, meant, at))
        });
        if let Some((name, meant, at)) = misspelt {
            return diagnostic.help(format!("did you mean `{meant}` instead of `{name}`?")).fix(Fix::new(
                format!("write `{meant}`"),
                at,
                meant,
            ));
        }
        match self.hint() {
            Some(hint) => diagnostic.help(hint),
            None => diagnostic,
        }
    }

    /// A function without a body, outside of a native group.
    fn lacks_body(&self) -> bool {
        self.found == Some(Token::Semi) && self.expected.has("{") && matches!(self.place, Place::Member | Place::Helper)
    }

    /// What to do about an unexpected token.
    fn hint(&self) -> Option<&'static str> {
        use Token::*;
        let wants_paren = self.expected.has("(") && !self.expected.expression();
        Some(match (self.place, self.before?) {
            (_, before) if self.found == Some(Star) && before.is_type_keyword() => {
                "there are no pointers: arrays and structs are values, which are named, and assigned as a whole"
            }
            _ if self.found == Some(And) && self.expected.expression() => {
                "there are no addresses: arrays and structs are values, which are named, and assigned as a whole"
            }
            (Place::Pop, _) => "to look at an item further on without taking it, use `peek(i)`",
            (Place::Parentheses, _) if self.found == Some(Comma) => {
                "parentheses hold one expression; a complex number is written `1.0 + 2.0i` or `complex(x, y)`"
            }
            (Place::For, _) => "the head of a `for` is written `for (start; condition; step)`",
            (Place::Size, _) => "the size of an array is fixed: write it between the brackets, as in `int[8] a`",
            (_, If | While | For | Switch) if wants_paren => "what stands behind this keyword goes between parentheses",
            (_, Pop) if wants_paren => "to take an item, write `pop()`",
            (_, Peek) if wants_paren => "to look at an item, write `peek(i)`",
            (_, Push) if wants_paren => "to give an item, write `push(value);`",
            (_, Iter) if wants_paren => "the number of firings so far is `iter()`",
            (Place::Item, Static) => "static variables go between braces: `static { int N = 3; }`",
            (Place::Item, Native) => "native functions go in a group: `native Name { float f(float x); }`",
            (Place::Item, Helper) => "helper functions go in a group: `helper Name { float f(float x) { ... } }`",
            (Place::Item, before)
                if before.is_stream_kind() && self.found.is_some_and(|found| found.is_type_keyword()) =>
            {
                "the types come first: `float->float filter Name`"
            }
            (Place::Item, Ident("const")) => "constants belong in a `static { ... }` block",
            (Place::Item, before) if self.expected.has("->") && matches!(self.found, Some(Ident(_))) => {
                match (before, self.after) {
                    (_, Some(LParen)) => "functions belong into a filter, or in a group `helper Name { ... }`",
                    (_, Some(Assign | SemiTop | Comma)) => {
                        "variables of the whole program belong in a `static { ... }` block"
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}
