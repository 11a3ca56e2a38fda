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
    let before: Vec<Spanned> = lexed.tokens.into_iter().take_while(|t| t.end <= start).collect();
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
    Context { before, start, around, rates, verbatim, number }
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
}
