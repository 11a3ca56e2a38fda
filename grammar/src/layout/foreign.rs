//! Words and signs of other languages that stand where this one needs nothing, or another sign: they are told, and read as what they mean, so that nothing
//! follows from them.

use super::{HEAD_LIMIT, Layout};
use crate::diagnostic::{Diagnostic, Fix};
use crate::syntax_error::other_languages;
use crate::token::Token;

impl Layout<'_, '_> {
    /// `const int n`, `unsigned int n`, a field `struct T t`, `f(void)`: the word at `i` is left out.
    pub(super) fn needless(&mut self, i: usize) -> bool {
        let at = self.input[i];
        // at top level there are no variables that one could mean
        if self.stack.is_empty() {
            return false;
        }
        let called =
            matches!(self.out[..], [.., a, b] if matches!(a.token, Token::Ident(_)) && b.token == Token::LParen);
        if at.token == Token::Void && called && self.next(i) == Some(Token::RParen) {
            let here = self.span(at.start, at.end);
            let diagnostic = Diagnostic::error("E0009", "`void` is no parameter", here, "needless");
            let help = diagnostic.help("where there are no parameters, nothing stands between `(` and `)`");
            self.tell(help.fix(Fix::new("remove `void`", here, "")));
            return true;
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

    /// `stateful int->int filter F {`: the word stands behind the types; here it is left out, for what has a state is known without it.
    pub(super) fn early_stateful(&mut self, i: usize) -> bool {
        let at = self.input[i];
        let ahead = &self.input[(i + 1).min(self.input.len())..(i + HEAD_LIMIT).min(self.input.len())];
        let ends = |t: Token| t.is_stream_kind() || matches!(t, Token::LBrace | Token::RBrace | Token::Semi);
        let kind = ahead.iter().position(|t| ends(t.token)).filter(|k| ahead[*k].token.is_stream_kind());
        let Some(k) =
            kind.filter(|k| at.token == Token::Stateful && ahead[..*k].iter().any(|t| t.token == Token::Arrow))
        else {
            return false;
        };
        let (here, head) = (self.span(at.start, at.end), self.span(at.start, ahead[k].start));
        let types = &self.text[ahead[0].start as usize..ahead[k].start as usize];
        let diagnostic = Diagnostic::error("E0008", "`stateful` stands behind the types", here, "unexpected");
        let help = diagnostic.help(format!("write `{types}stateful {}`", ahead[k].token.spelling()));
        self.tell(help.fix(Fix::safe("put it behind the types", head, format!("{types}stateful "))));
        true
    }

    /// `add int->int Filter {`: a kind of stream with a capital, behind the types of its items; read as what it means.
    pub(super) fn kind_of_stream(&mut self, i: usize) -> bool {
        let at = self.input[i];
        let Token::Ident(word) = at.token else { return false };
        let typed = matches!(self.out[..], [.., a, b] if a.token == Token::Arrow && b.token.is_type_keyword());
        let head = match self.next(i) {
            Some(Token::LBrace) => true,
            Some(Token::Ident(_)) => matches!(self.next(i + 1), Some(Token::LBrace | Token::LParen)),
            _ => false,
        };
        let kinds = [Token::Filter, Token::Pipeline, Token::SplitJoin, Token::FeedbackLoop];
        let kind = kinds.into_iter().find(|k| k.spelling().eq_ignore_ascii_case(word));
        // at top level nothing else can stand there, and that is told
        let Some(kind) = kind.filter(|_| typed && head && !self.stack.is_empty()) else { return false };
        let (here, name) = (self.span(at.start, at.end), kind.spelling());
        let diagnostic = Diagnostic::error("E0008", format!("`{word}` is no kind of stream"), here, "unexpected");
        let help = diagnostic.help(format!("it is written `{name}`"));
        self.tell(help.fix(Fix::safe(format!("write `{name}`"), here, name)));
        self.stream_head = true;
        self.emit(kind, at.start, at.end);
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
