//! Words and signs of other languages that stand where this one needs nothing, or another sign: they are told, and read as what they mean, so that nothing
//! follows from them.

use super::Layout;
use crate::diagnostic::{Diagnostic, Fix};
use crate::syntax_error::other_languages;
use crate::token::Token;

impl Layout<'_, '_> {
    /// `const int n`, `unsigned int n`, a field `struct T t`: the word at `i` is left out.
    pub(super) fn needless(&mut self, i: usize) -> bool {
        let at = self.input[i];
        // at top level there are no variables that one could mean
        if self.stack.is_empty() {
            return false;
        }
        let (word, help) = match at.token {
            Token::Ident(word @ ("const" | "constexpr" | "final" | "register" | "volatile")) if self.typed(i + 1) => {
                (word, other_languages(word).unwrap_or_default())
            }
            Token::Ident(word @ ("unsigned" | "signed" | "long" | "short")) if self.next(i) == Some(Token::IntType) => {
                (word, other_languages(word).unwrap_or_default())
            }
            Token::Struct if self.typed(i + 1) => ("struct", "leave it out: a struct's name is a type by itself"),
            _ => return false,
        };
        let here = self.span(at.start, at.end);
        let with_blank = self.span(at.start, self.input[i + 1].start);
        let title = match at.token {
            Token::Struct => "`struct` does not stand before the name of a type".to_string(),
            _ => format!("there is no `{word}` in this language"),
        };
        let diagnostic = Diagnostic::error("E0009", title, here, "needless").help(help);
        self.tell(diagnostic.fix(Fix::new(format!("remove `{word}`"), with_blank, "")));
        true
    }

    /// `a->x`: read as `a.x`.
    pub(super) fn pointer(&mut self, i: usize) -> bool {
        let at = self.input[i];
        let value = matches!(self.previous(), Some(Token::Ident(_) | Token::RParen | Token::RBracket));
        let stream = |token: Token| token.is_stream_kind() || matches!(token, Token::Stateful | Token::LBracket);
        let member = matches!(self.next(i), Some(Token::Ident(_))) && !self.next(i + 1).is_some_and(stream);
        if at.token != Token::Arrow || self.stack.is_empty() || !value || !member {
            return false;
        }
        let here = self.span(at.start, at.end);
        let diagnostic = Diagnostic::error("E0008", "there are no pointers in this language", here, "no operator");
        let help = diagnostic.help("a field of a struct is `value.field`");
        self.tell(help.fix(Fix::safe("write `.`", here, ".")));
        self.emit(Token::Dot, at.start, at.end);
        true
    }

    /// Is the token at `i` a type, with a name behind it or the brackets of an array?
    fn typed(&self, i: usize) -> bool {
        match self.input.get(i).map(|at| at.token) {
            Some(Token::Ident(_)) => matches!(self.next(i), Some(Token::Ident(_) | Token::LBracket)),
            Some(token) => token.is_type_keyword() && matches!(self.next(i), Some(Token::Ident(_) | Token::LBracket)),
            None => false,
        }
    }
}
