//! Tokens and the lexer: text in, tokens, comments and lexical faults out.
//!
//! The lexer never fails. A malformed number, string or character still gives a literal token, so that parsing goes on
//! behind it; a character that no token begins with gives [`Token::Error`]. What is wrong is told as a [`Fault`].

use crate::fault::{Fault, FaultKind};
use crate::literal;
use logos::Logos;
use std::fmt;

/// A token. Literals keep their text; [`crate::literal`] gives their values.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(extras = Vec<Fault>, skip r"[ \t\r\n\x0b\x0c]+")]
#[allow(missing_docs)] // the attribute says what each one is
pub enum Token<'s> {
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Ident(&'s str),
    /// A decimal or hexadecimal integer.
    #[regex("[0-9]", number)]
    #[regex(r"\.[0-9]", number)]
    Int(&'s str),
    /// A real number; made by the callback of `Int`.
    Real(&'s str),
    /// An imaginary number; made by the callback of `Int`.
    Imaginary(&'s str),
    #[token("'", char_literal)]
    Char(&'s str),
    #[token("\"", string_literal)]
    Str(&'s str),
    /// Never reaches the parser.
    #[token("//", line_comment)]
    LineComment(&'s str),
    /// Never reaches the parser.
    #[token("/*", block_comment)]
    BlockComment(&'s str),
    /// What is no token; the fault has been told.
    Error,

    #[token("filter")]
    Filter,
    #[token("pipeline")]
    Pipeline,
    #[token("splitjoin")]
    SplitJoin,
    #[token("feedbackloop")]
    FeedbackLoop,
    #[token("stateful")]
    Stateful,
    #[token("portal")]
    Portal,
    #[token("to")]
    To,
    #[token("handler")]
    Handler,
    #[token("iter")]
    Iter,
    #[token("add")]
    Add,
    #[token("split")]
    Split,
    #[token("join")]
    Join,
    #[token("duplicate")]
    Duplicate,
    #[token("roundrobin")]
    RoundRobin,
    #[token("body")]
    Body,
    #[token("loop")]
    Loop,
    #[token("enqueue")]
    Enqueue,
    #[token("init")]
    Init,
    #[token("prework")]
    Prework,
    #[token("work")]
    Work,
    #[token("peek")]
    Peek,
    #[token("pop")]
    Pop,
    #[token("push")]
    Push,
    #[token("boolean")]
    Boolean,
    #[token("float")]
    Float,
    #[token("bit")]
    Bit,
    #[token("int")]
    IntType,
    #[token("void")]
    Void,
    #[token("double")]
    Double,
    #[token("complex")]
    Complex,
    #[token("float2")]
    Float2,
    #[token("float3")]
    Float3,
    #[token("float4")]
    Float4,
    #[token("struct")]
    Struct,
    #[token("native")]
    Native,
    #[token("static")]
    Static,
    #[token("helper")]
    Helper,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("while")]
    While,
    #[token("for")]
    For,
    #[token("do")]
    Do,
    #[token("switch")]
    Switch,
    #[token("case")]
    Case,
    #[token("default")]
    Default,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("return")]
    Return,
    #[token("template")]
    Template,
    #[token("pi")]
    Pi,
    #[token("true")]
    True,
    #[token("false")]
    False,
    /// A keyword at top level only; [`crate::layout`] makes it, the lexer gives an identifier.
    Import,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    /// `{` of a block.
    #[token("{")]
    LBrace,
    /// `}` of a block.
    #[token("}")]
    RBrace,
    /// `{` of an array literal; made by [`crate::layout`], as are the following.
    LBraceLit,
    /// `}` of an array literal.
    RBraceLit,
    /// `{` outside all braces.
    LBraceTop,
    /// `}` that closes a [`Token::LBraceTop`].
    RBraceTop,
    #[token(";")]
    Semi,
    /// `;` inside parentheses.
    SemiFor,
    /// `;` outside all braces.
    SemiTop,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("->")]
    Arrow,
    #[token("=")]
    Assign,
    #[token("+=")]
    AddAssign,
    #[token("-=")]
    SubAssign,
    #[token("*=")]
    MulAssign,
    #[token("/=")]
    DivAssign,
    #[token("%=")]
    RemAssign,
    #[token("&=")]
    AndAssign,
    #[token("|=")]
    OrAssign,
    #[token("^=")]
    XorAssign,
    #[token("<<=")]
    ShlAssign,
    #[token(">>=")]
    ShrAssign,
    #[token("++")]
    Increment,
    #[token("--")]
    Decrement,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("==")]
    EqEq,
    #[token("!=")]
    Ne,
    #[token("&")]
    And,
    #[token("|")]
    Or,
    #[token("^")]
    Xor,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Bang,
    #[token("~")]
    Tilde,
}

type Lexer<'s> = logos::Lexer<'s, Token<'s>>;

fn line_comment<'s>(lex: &mut Lexer<'s>) -> &'s str {
    let rest = lex.remainder();
    lex.bump(rest.find('\n').unwrap_or(rest.len()));
    lex.slice()
}

fn block_comment<'s>(lex: &mut Lexer<'s>) -> &'s str {
    match lex.remainder().find("*/") {
        Some(at) => lex.bump(at + 2),
        None => {
            let start = lex.span().start;
            lex.extras.push(Fault { start, end: start + 2, kind: FaultKind::OpenComment });
            lex.bump(lex.remainder().len());
        }
    }
    lex.slice()
}

fn string_literal<'s>(lex: &mut Lexer<'s>) -> &'s str {
    let start = lex.span().start;
    let length = literal::scan_quoted(lex.remainder(), '"');
    lex.bump(length);
    literal::check_string(lex.slice(), start, &mut lex.extras);
    lex.slice()
}

fn char_literal<'s>(lex: &mut Lexer<'s>) -> &'s str {
    let start = lex.span().start;
    let length = literal::scan_quoted(lex.remainder(), '\'');
    lex.bump(length);
    literal::check_char(lex.slice(), start, &mut lex.extras);
    lex.slice()
}

/// Logos wants one variant per pattern; the token that a number really is comes out of [`lex_all`].
fn number<'s>(lex: &mut Lexer<'s>) -> &'s str {
    let start = lex.span().start;
    let length = literal::scan_number(&lex.source()[start..]);
    lex.bump(length - lex.slice().len());
    lex.slice()
}

/// A token and the bytes it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<'s> {
    /// First byte.
    pub start: u32,
    /// The token.
    pub token: Token<'s>,
    /// One past the last byte.
    pub end: u32,
}

/// What the lexer found.
#[derive(Clone, Debug, Default)]
pub struct Lexed<'s> {
    /// The tokens without comments.
    pub tokens: Vec<Spanned<'s>>,
    /// The comments, in order: [`Token::LineComment`] and [`Token::BlockComment`].
    pub comments: Vec<Spanned<'s>>,
    /// The lexical faults, in order.
    pub faults: Vec<Fault>,
}

/// The tokens of a text, its comments left out.
pub fn lex(text: &str) -> Vec<Spanned<'_>> {
    lex_all(text).tokens
}

/// The tokens of a text and, beside them, its comments, for a formatter or for documentation.
pub fn lex_with_comments(text: &str) -> (Vec<Spanned<'_>>, Vec<Spanned<'_>>) {
    let lexed = lex_all(text);
    (lexed.tokens, lexed.comments)
}

/// Tokens, comments and faults of a text. A byte-order mark at its start is passed over.
pub fn lex_all(text: &str) -> Lexed<'_> {
    let mut out = Lexed { tokens: Vec::with_capacity(text.len() / 4), ..Lexed::default() };
    let mut lexer = Token::lexer(text);
    if text.starts_with('\u{feff}') {
        lexer.bump('\u{feff}'.len_utf8());
    }
    while let Some(next) = lexer.next() {
        let span = lexer.span();
        let mut token = next.unwrap_or(Token::Error);
        match token {
            Token::Int(digits) => token = literal::classify_number(digits, span.start, &mut lexer.extras),
            Token::Error => {
                // Old DOS editors end a file with Ctrl-Z.
                if lexer.slice() == "\u{1a}" && lexer.remainder().trim().is_empty() {
                    break;
                }
                match lexer.extras.last_mut() {
                    // A run of them is one fault.
                    Some(last) if last.kind == FaultKind::UnknownChar && last.end == span.start => last.end = span.end,
                    _ => lexer.extras.push(Fault { start: span.start, end: span.end, kind: FaultKind::UnknownChar }),
                }
            }
            _ => {}
        }
        let spanned = Spanned { start: span.start as u32, token, end: span.end as u32 };
        match token {
            Token::LineComment(_) | Token::BlockComment(_) => out.comments.push(spanned),
            _ => out.tokens.push(spanned),
        }
    }
    out.faults = lexer.extras;
    out
}

impl Token<'_> {
    /// Is it a reserved word?
    pub fn is_keyword(&self) -> bool {
        self.spelling().starts_with(|c: char| c.is_ascii_lowercase()) && !matches!(self, Token::Ident(_) | Token::Error)
    }

    /// Does a type begin with it (an identifier may, too)?
    pub fn is_type_keyword(&self) -> bool {
        use Token::*;
        matches!(self, Boolean | Float | Bit | IntType | Void | Double | Complex | Float2 | Float3 | Float4 | Portal)
    }

    /// `filter`, `pipeline`, `splitjoin`, `feedbackloop`
    pub fn is_stream_kind(&self) -> bool {
        matches!(self, Token::Filter | Token::Pipeline | Token::SplitJoin | Token::FeedbackLoop)
    }

    /// `=`, `+=` and so on.
    pub fn is_assignment(&self) -> bool {
        use Token::*;
        matches!(
            self,
            Assign
                | AddAssign
                | SubAssign
                | MulAssign
                | DivAssign
                | RemAssign
                | AndAssign
                | OrAssign
                | XorAssign
                | ShlAssign
                | ShrAssign
        )
    }

    /// An operator with two operands.
    pub fn is_binary_operator(&self) -> bool {
        use Token::*;
        matches!(
            self,
            Plus | Minus
                | Star
                | Slash
                | Percent
                | Shl
                | Shr
                | Lt
                | Le
                | Gt
                | Ge
                | EqEq
                | Ne
                | And
                | Or
                | Xor
                | AndAnd
                | OrOr
        )
    }

    /// How it is written.
    pub fn spelling(&self) -> &str {
        use Token::*;
        match *self {
            Ident(s) | Int(s) | Real(s) | Imaginary(s) | Char(s) | Str(s) | LineComment(s) | BlockComment(s) => s,
            Error => "?",
            Filter => "filter",
            Pipeline => "pipeline",
            SplitJoin => "splitjoin",
            FeedbackLoop => "feedbackloop",
            Stateful => "stateful",
            Portal => "portal",
            To => "to",
            Handler => "handler",
            Iter => "iter",
            Add => "add",
            Split => "split",
            Join => "join",
            Duplicate => "duplicate",
            RoundRobin => "roundrobin",
            Body => "body",
            Loop => "loop",
            Enqueue => "enqueue",
            Init => "init",
            Prework => "prework",
            Work => "work",
            Peek => "peek",
            Pop => "pop",
            Push => "push",
            Boolean => "boolean",
            Float => "float",
            Bit => "bit",
            IntType => "int",
            Void => "void",
            Double => "double",
            Complex => "complex",
            Float2 => "float2",
            Float3 => "float3",
            Float4 => "float4",
            Struct => "struct",
            Native => "native",
            Static => "static",
            Helper => "helper",
            If => "if",
            Else => "else",
            While => "while",
            For => "for",
            Do => "do",
            Switch => "switch",
            Case => "case",
            Default => "default",
            Break => "break",
            Continue => "continue",
            Return => "return",
            Template => "template",
            Pi => "pi",
            True => "true",
            False => "false",
            Import => "import",
            LParen => "(",
            RParen => ")",
            LBracket => "[",
            RBracket => "]",
            LBrace | LBraceLit | LBraceTop => "{",
            RBrace | RBraceLit | RBraceTop => "}",
            Semi | SemiFor | SemiTop => ";",
            Comma => ",",
            Dot => ".",
            Colon => ":",
            Question => "?",
            Arrow => "->",
            Assign => "=",
            AddAssign => "+=",
            SubAssign => "-=",
            MulAssign => "*=",
            DivAssign => "/=",
            RemAssign => "%=",
            AndAssign => "&=",
            OrAssign => "|=",
            XorAssign => "^=",
            ShlAssign => "<<=",
            ShrAssign => ">>=",
            Increment => "++",
            Decrement => "--",
            Plus => "+",
            Minus => "-",
            Star => "*",
            Slash => "/",
            Percent => "%",
            Shl => "<<",
            Shr => ">>",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            EqEq => "==",
            Ne => "!=",
            And => "&",
            Or => "|",
            Xor => "^",
            AndAnd => "&&",
            OrOr => "||",
            Bang => "!",
            Tilde => "~",
        }
    }
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spelling())
    }
}
