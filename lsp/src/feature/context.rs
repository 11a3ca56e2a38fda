//! What stands before the cursor, by tokens alone: the tree of a line that is being written tells little.

use sluice_grammar::ast::StreamKind;
use sluice_grammar::fault::FaultKind;
use sluice_grammar::token::{Spanned, Token, lex_all};

/// What the braces around a place are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// None: the top of a file.
    Top,
    /// A filter, outside its functions.
    Filter,
    /// The body of a composite.
    Composite(StreamKind),
    /// The body of `work` or `prework`, of a function of a filter.
    Work,
    /// Another body of statements.
    Body,
    /// A struct.
    Struct,
    /// A `static` block.
    Static,
    /// A `helper` or `native` group.
    Group,
}

/// What stands before a place.
pub struct Context<'t> {
    /// The tokens before the word at the place.
    pub before: Vec<Spanned<'t>>,
    /// Where that word begins.
    pub start: u32,
    /// The braces.
    pub around: Around,
    /// Is it between `work` and the brace?
    pub rates: bool,
    /// In a comment, or in text?
    pub verbatim: bool,
    /// In a number, or behind its last digit?
    pub number: bool,
    /// Where names are looked up: the streams of a text that ends within them end with its last token, however much space lies between that and the cursor.
    pub seen: u32,
    /// Does a parenthesis follow the word?
    pub called: bool,
}

/// What stands around a place in its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A statement or a declaration begins.
    Begins,
    /// A type in parentheses may begin, or an expression.
    Cast,
    /// An expression goes on.
    Expression,
}

impl<'t> Context<'t> {
    /// What stands around the place.
    pub fn place(&self) -> Place {
        let Some(last) = self.before.last() else { return Place::Begins };
        let before = |i: usize| i.checked_sub(1).map(|i| self.before[i].token);
        let controls = |t: Option<Token>| matches!(t, Some(Token::If | Token::While | Token::For | Token::Switch));
        let end = self.before.len() - 1;
        match last.token {
            Token::LBrace if self.in_literal() => Place::Expression,
            Token::LBrace | Token::RBrace | Token::Else | Token::Do => Place::Begins,
            Token::Semi if self.open(end).is_none_or(|i| self.before[i].token != Token::LParen) => Place::Begins,
            Token::RParen => match self.open(end) {
                Some(i) if controls(before(i)) => Place::Begins,
                _ => Place::Expression,
            },
            Token::Colon => {
                let mut head = self.before[..end].iter().rev().take_while(|t| !ends(t.token));
                match head.any(|t| matches!(t.token, Token::Case | Token::Default)) {
                    true => Place::Begins,
                    false => Place::Expression,
                }
            }
            // a variable of its own, or what is counted with
            Token::LParen if matches!(before(end), Some(Token::For)) => Place::Cast,
            Token::LParen => match before(end) {
                Some(Token::Ident(_) | Token::Push | Token::Peek | Token::Enqueue) => Place::Expression,
                t if controls(t) => Place::Expression,
                _ => Place::Cast,
            },
            _ => Place::Expression,
        }
    }

    /// The bracket that is open before a token, by its number; that of a closing one, its partner.
    pub fn open(&self, at: usize) -> Option<usize> {
        let mut depth = 0;
        for (i, t) in self.before[..at].iter().enumerate().rev() {
            match t.token {
                Token::RParen | Token::RBracket | Token::RBrace => depth += 1,
                Token::LParen | Token::LBracket | Token::LBrace if depth == 0 => return Some(i),
                Token::LParen | Token::LBracket | Token::LBrace => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Is the last brace that of an array, rather than of a block?
    fn in_literal(&self) -> bool {
        self.before.len().checked_sub(1).is_some_and(|at| is_literal(&self.before, at))
    }
}

/// Is the brace at a number that of an array?
pub fn is_literal(tokens: &[Spanned], at: usize) -> bool {
    let before = at.checked_sub(1).map(|i| tokens[i].token);
    match before {
        Some(Token::Assign | Token::LParen | Token::Comma | Token::Return) => true,
        Some(Token::LBrace) => is_literal(tokens, at - 1),
        _ => false,
    }
}

fn ends(t: Token) -> bool {
    matches!(t, Token::Semi | Token::LBrace | Token::RBrace | Token::Question | Token::Colon)
}

/// Looks at the text before a byte.
pub fn context(text: &str, offset: u32) -> Context<'_> {
    let end = floor(text, offset);
    let word =
        text[..end].chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum::<usize>();
    let start = (end - word) as u32;
    let lexed = lex_all(text);
    let verbatim = lexed.comments.iter().any(|c| {
        // behind the last character of a line comment one is still in it
        let line = matches!(c.token, Token::LineComment(_));
        c.start < offset && (offset < c.end || line && offset == c.end)
    }) || lexed.tokens.iter().any(|t| {
        // and behind that of a text without an end
        let open = || {
            let ends = |k| matches!(k, FaultKind::OpenString | FaultKind::OpenChar);
            lexed.faults.iter().any(|f| ends(f.kind) && f.start == t.start as usize)
        };
        matches!(t.token, Token::Str(_) | Token::Char(_))
            && t.start < offset
            && (offset < t.end || offset == t.end && open())
    });
    let number = lexed.tokens.iter().any(|t| {
        let is_number = matches!(t.token, Token::Int(_) | Token::Real(_) | Token::Imaginary(_));
        is_number && t.start < offset && offset <= t.end
    });
    let called =
        text[end..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start().starts_with('(');
    let before: Vec<Spanned> = lexed.tokens.into_iter().take_while(|t| t.end <= start).collect();
    let seen = match before.last() {
        Some(last) if word == 0 && text[end..].trim().is_empty() => last.end,
        _ => end as u32,
    };
    let mut stack = vec![Around::Top];
    let mut from = 0;
    for (i, t) in before.iter().enumerate() {
        match t.token {
            Token::LBrace => {
                let parent = stack.last().copied().unwrap_or(Around::Top);
                stack.push(opened(&before[from..i], parent));
                from = i + 1;
            }
            Token::RBrace => {
                if stack.len() > 1 {
                    stack.pop();
                }
                from = i + 1;
            }
            Token::Semi => from = i + 1,
            _ => {}
        }
    }
    let around = stack.last().copied().unwrap_or(Around::Top);
    let head = &before[from.min(before.len())..];
    let rates = around == Around::Filter && head.iter().any(|t| matches!(t.token, Token::Work | Token::Prework));
    Context { before, start, around, rates, verbatim, number, seen, called }
}

fn floor(text: &str, offset: u32) -> usize {
    let mut at = (offset as usize).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// What a brace opens, by the tokens since the last statement.
fn opened(head: &[Spanned], parent: Around) -> Around {
    let has = |wanted: fn(&Token) -> bool| head.iter().any(|t| wanted(&t.token));
    for t in head {
        let kind = match t.token {
            Token::Filter => return Around::Filter,
            Token::Pipeline => StreamKind::Pipeline,
            Token::SplitJoin => StreamKind::SplitJoin,
            Token::FeedbackLoop => StreamKind::FeedbackLoop,
            _ => continue,
        };
        return Around::Composite(kind);
    }
    match parent {
        Around::Top if has(|t| *t == Token::Struct) => Around::Struct,
        Around::Top if has(|t| *t == Token::Static) => Around::Static,
        Around::Top if has(|t| matches!(t, Token::Helper | Token::Native)) => Around::Group,
        Around::Filter if has(|t| matches!(t, Token::Init | Token::Handler)) => Around::Body,
        Around::Filter => Around::Work,
        Around::Group | Around::Static => Around::Body,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_told_apart() {
        let text = "float->float filter F(int n) { float[n] h; init { 1 } work pop 1 2 { if (x) { 3 } } 4 } \
                    void->void pipeline M { for (;;) { 5 } add filter { work { 6 } } 7 } struct S { 8 } static { 9 }";
        let at = |n: &str| context(text, text.find(&format!(" {n} ")).unwrap() as u32 + 1);
        let found: Vec<Around> = (1..=9).map(|n| at(&n.to_string()).around).collect();
        let pipeline = Around::Composite(StreamKind::Pipeline);
        use Around::{Body, Filter, Static, Struct, Work};
        assert_eq!(found, [Body, Filter, Work, Filter, pipeline, Work, pipeline, Struct, Static]);
        assert!(at("2").rates && !at("4").rates);
        assert_eq!(context("", 7).around, Around::Top);
    }

    #[test]
    fn statements_begin_and_expressions_go_on() {
        let of = |text: &str| context(text, text.len() as u32).place();
        for text in ["", "a {", "a { x; ", "a { if (f(x)) ", "{ else ", "{ case 1: ", "{ default: ", "{ b } "] {
            assert_eq!(of(text), Place::Begins, "{text}");
        }
        for text in [
            "{ x = ",
            "{ f(",
            "{ push(x + ",
            "{ a ? b : ",
            "{ f(x) ",
            "{ int[2] a = { ",
            "{ f({1}, {2, ",
            "{ if (",
            "{ for (i = 0; ",
        ] {
            assert_eq!(of(text), Place::Expression, "{text}");
        }
        for text in ["{ for (", "{ x = (", "{ x = 2 * ("] {
            assert_eq!(of(text), Place::Cast, "{text}");
        }
    }
}
