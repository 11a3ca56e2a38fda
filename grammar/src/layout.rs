//! Between lexer and parser: pairs brackets, and marks tokens by where they stand.
//!
//! The parser's error recovery drops tokens until one fits. It must never drop half of a bracket pair, or one small fault
//! would take the rest of the file with it. So brackets are paired here, before parsing: what is missing is put in (an empty
//! token), what is too many is left out, each with a diagnostic that points at both ends. Braces and semicolons then get
//! different tokens outside all braces (`...Top`), inside parentheses (`SemiFor`) and in array literals (`...Lit`), so that
//! recovery at one level cannot stop at a token of another.
//!
//! Besides: keywords in places where only a name can stand become names (with a diagnostic), `import` becomes a keyword at top
//! level, the `;` after an anonymous stream is made obligatory by putting it in, and nesting is limited.

mod foreign;
mod swallowed;

use crate::diagnostic::{Diagnostic, Fix};
use crate::parse::ENOUGH_ERRORS;
use crate::span::{FileId, Span};
use crate::token::{Spanned, Token};

/// How deep brackets may nest.
pub const MAX_NESTING: usize = 256;

/// How far a type may reach when the pass looks for the head of a declaration.
const HEAD_LIMIT: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paren,
    /// The parenthesis of a `for`, and how many semicolons it still holds.
    For(u8),
    Bracket,
    Literal,
    Block,
    /// The body of a stream inside another.
    Stream,
    Top,
}

impl Kind {
    fn is_brace(self) -> bool {
        matches!(self, Kind::Block | Kind::Stream | Kind::Top)
    }

    fn closer<'s>(self) -> Token<'s> {
        match self {
            Kind::Paren | Kind::For(_) => Token::RParen,
            Kind::Bracket => Token::RBracket,
            Kind::Literal => Token::RBraceLit,
            Kind::Block | Kind::Stream => Token::RBrace,
            Kind::Top => Token::RBraceTop,
        }
    }

    fn spelling(self) -> char {
        match self {
            Kind::Paren | Kind::For(_) => '(',
            Kind::Bracket => '[',
            _ => '{',
        }
    }
}

#[derive(Clone, Copy)]
struct Open {
    kind: Kind,
    start: u32,
}

struct Layout<'s, 't> {
    file: FileId,
    text: &'s str,
    input: &'t [Spanned<'s>],
    out: Vec<Spanned<'s>>,
    stack: Vec<Open>,
    /// A stream keyword stands between the last statement's end and here.
    stream_head: bool,
    /// A brace closed by one further left than the line that opened it: probably the one that lacks its partner.
    suspect: Option<(Open, u32)>,
    /// Keywords already reported as names.
    named: Vec<Token<'s>>,
    too_deep: bool,
    /// Where texts and characters begin that their line's end has closed.
    open_literals: Vec<u32>,
    diagnostics: Vec<Diagnostic>,
}

/// Pairs the brackets of `input` and marks its tokens. `end` is where what is read ends: the text, or a part of it. Says, too, whether nothing was open there.
pub(crate) fn layout<'s>(
    file: FileId,
    text: &'s str,
    end: usize,
    input: &[Spanned<'s>],
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Spanned<'s>>, bool) {
    let mut pass = Layout {
        file,
        text,
        input,
        out: Vec::with_capacity(input.len() + 16),
        stack: Vec::new(),
        stream_head: false,
        suspect: None,
        named: Vec::new(),
        too_deep: false,
        open_literals: diagnostics.iter().filter(|d| d.code == "E0003").map(|d| d.span().start).collect(),
        diagnostics: Vec::new(),
    };
    let mut i = 0;
    while i < input.len() {
        i = pass.step(i);
    }
    let closed = pass.stack.is_empty();
    pass.close_open_braces(end as u32, "the file ends here");
    diagnostics.append(&mut pass.diagnostics);
    (pass.out, closed)
}

impl<'s> Layout<'s, '_> {
    /// Handles the token at `i`; gives the index of the next one.
    fn step(&mut self, i: usize) -> usize {
        let at = self.input[i];
        let top = self.stack.last().map(|open| open.kind);
        if top.is_some_and(Kind::is_brace) && self.after_statement() && self.declaration_head(i) {
            self.close_open_braces(at.start, "but a declaration starts here");
        }
        if self.needless(i) || self.early_stateful(i) || self.pointer(i) || self.kind_of_stream(i) {
            return i + 1;
        }
        match at.token {
            Token::LParen => {
                let kind = if self.previous() == Some(Token::For) { Kind::For(2) } else { Kind::Paren };
                return self.open(i, kind, Token::LParen);
            }
            Token::LBracket => return self.open(i, Kind::Bracket, Token::LBracket),
            Token::LBrace => return self.open_brace(i),
            Token::RParen => self.close(i, |kind| matches!(kind, Kind::Paren | Kind::For(_))),
            Token::RBracket => self.close(i, |kind| kind == Kind::Bracket),
            Token::RBrace => self.close_brace(i),
            Token::Semi => self.semicolon(i),
            Token::Error => self.error(i),
            // `Identity<portal<F>>`
            Token::Shr if matches!(self.out[..], [.., a, b, _] if a.token == Token::Portal && b.token == Token::Lt) => {
                self.emit(Token::Gt, at.start, at.start + 1);
                self.emit(Token::Gt, at.start + 1, at.end);
            }
            Token::Ident("import") if self.is_import(i) => self.emit(Token::Import, at.start, at.end),
            Token::Ident(_) => self.emit(at.token, at.start, at.end),
            Token::Str(_) | Token::Char(_) if self.open_literals.binary_search(&at.start).is_ok() => {
                self.emit(at.token, at.start, at.end);
                self.swallowed(i);
            }
            token if token.is_keyword() && self.stands_as_name(i) => self.keyword_name(at),
            token => {
                self.stream_head |= token.is_stream_kind();
                self.emit(token, at.start, at.end);
            }
        }
        i + 1
    }

    /// Keeps a diagnostic, unless there are more than anyone will be shown.
    fn tell(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < ENOUGH_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn emit(&mut self, token: Token<'s>, start: u32, end: u32) {
        self.out.push(Spanned { start, token, end });
    }

    /// Puts in a token that is not in the text, behind the last one.
    fn insert(&mut self, token: Token<'s>) {
        let end = self.out.last().map_or(0, |last| last.end);
        self.emit(token, end, end);
    }

    fn previous(&self) -> Option<Token<'s>> {
        self.out.last().map(|last| last.token)
    }

    fn next(&self, i: usize) -> Option<Token<'s>> {
        self.input.get(i + 1).map(|next| next.token)
    }

    fn span(&self, start: u32, end: u32) -> Span {
        Span { file: self.file, start, end }
    }

    /// Can a statement or declaration start behind the last token?
    fn after_statement(&self) -> bool {
        use Token::*;
        matches!(self.previous(), None | Some(Semi | SemiTop | LBrace | RBrace | LBraceTop | RBraceTop))
    }

    fn open(&mut self, i: usize, kind: Kind, token: Token<'s>) -> usize {
        let at = self.input[i];
        if self.stack.len() < MAX_NESTING {
            self.emit(token, at.start, at.end);
            self.stack.push(Open { kind, start: at.start });
            return i + 1;
        }
        if !self.too_deep {
            self.too_deep = true;
            let title = format!("brackets nest deeper than {MAX_NESTING} levels");
            let span = self.span(at.start, at.end);
            self.tell(
                Diagnostic::error("E0014", title, span, "from here on the inside is not looked at")
                    .help("give parts of it names of their own"),
            );
        }
        // Pass over the inside; an error token stands for it.
        let mut depth = 0;
        let mut j = i;
        while j < self.input.len() {
            match self.input[j].token {
                Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
                _ => {}
            }
            j += 1;
            if depth == 0 {
                break;
            }
        }
        let end = self.input[j - 1].end;
        self.emit(token, at.start, at.end);
        if !kind.is_brace() {
            self.emit(Token::Error, at.end, end);
        }
        self.emit(kind.closer(), end, end);
        if kind == Kind::Stream {
            self.insert(Token::Semi);
        }
        j
    }

    fn open_brace(&mut self, i: usize) -> usize {
        let inside = self.stack.last().map(|open| open.kind);
        let literal = match self.previous() {
            Some(Token::LBraceLit | Token::LParen | Token::Return | Token::Enqueue) => true,
            Some(Token::Comma) => inside.is_some_and(|kind| !kind.is_brace()),
            Some(token) => token.is_assignment(),
            None => false,
        };
        if literal {
            return self.open(i, Kind::Literal, Token::LBraceLit);
        }
        self.close_down_to(self.input[i].start, |kind| kind.is_brace());
        let kind = match (self.stack.is_empty(), self.stream_head) {
            (true, _) => Kind::Top,
            (false, true) => Kind::Stream,
            (false, false) => Kind::Block,
        };
        self.stream_head = false;
        self.open(i, kind, if kind == Kind::Top { Token::LBraceTop } else { Token::LBrace })
    }

    /// A closing parenthesis or bracket.
    fn close(&mut self, i: usize, fits: impl Fn(Kind) -> bool) {
        let at = self.input[i];
        let innermost_brace = self.stack.iter().rposition(|open| open.kind.is_brace()).map_or(0, |brace| brace + 1);
        if self.stack[innermost_brace..].iter().any(|open| fits(open.kind)) {
            self.close_down_to(at.start, &fits);
            self.stack.pop();
            self.emit(at.token, at.start, at.end);
            return;
        }
        let here = self.span(at.start, at.end);
        match self.stack.last().copied() {
            // `f(x]` and no `)` behind it: the wrong bracket.
            Some(open) if !open.kind.is_brace() && self.next(i) != Some(open.kind.closer()) => {
                self.wrong_closer(at, open);
            }
            _ => self.stray(here, at.token),
        }
    }

    /// The token closes what is open, but is not the right one.
    fn wrong_closer(&mut self, at: Spanned<'s>, open: Open) {
        let wanted: Token = open.kind.closer();
        let here = self.span(at.start, at.end);
        self.tell(
            Diagnostic::error("E0010", format!("expected `{wanted}`, found `{}`", at.token), here, "the wrong bracket")
                .label(self.span(open.start, open.start + 1), "this is still open")
                .fix(Fix::new(format!("write `{wanted}`"), here, wanted.spelling())),
        );
        self.stack.pop();
        self.emit(wanted, at.start, at.end);
    }

    fn stray(&mut self, here: Span, token: Token<'s>) {
        let title = format!("`{token}` without a partner");
        let diagnostic = Diagnostic::error("E0010", title, here, "nothing is open that it could close");
        self.tell(diagnostic.fix(Fix::new(format!("remove `{token}`"), here, "")));
    }

    fn close_brace(&mut self, i: usize) {
        let at = self.input[i];
        let innermost_brace = self.stack.iter().rfind(|open| open.kind.is_brace()).map(|open| open.kind);
        if let Some(open) = self.stack.last().copied() {
            // `push(pop() };`: no body ends in `};` unless it is a stream's.
            let slip = matches!(open.kind, Kind::Paren | Kind::Bracket) && self.next(i) == Some(Token::Semi);
            if slip && innermost_brace == Some(Kind::Block) {
                return self.wrong_closer(at, open);
            }
        }
        self.close_down_to(at.start, |kind| kind.is_brace() || kind == Kind::Literal);
        let Some(open) = self.stack.pop() else {
            return self.stray(self.span(at.start, at.end), at.token);
        };
        self.emit(open.kind.closer(), at.start, at.end);
        if open.kind == Kind::Literal {
            return;
        }
        self.stream_head = false;
        if let (Some(close), Some(opened)) = (self.first_on_line(at.start), self.indent(open.start))
            && close < opened
            && self.suspect.is_none()
        {
            self.suspect = Some((open, at.start));
        }
        match open.kind {
            Kind::Stream if !matches!(self.next(i), Some(Token::Semi | Token::To)) => self.insert(Token::Semi),
            Kind::Top => self.suspect = None,
            _ => {}
        }
    }

    /// Closes what is open inside the innermost bracket that `fits`, or inside everything. Tells of each.
    fn close_down_to(&mut self, place: u32, fits: impl Fn(Kind) -> bool) {
        while let Some(open) = self.stack.last().copied() {
            if fits(open.kind) {
                return;
            }
            self.stack.pop();
            let closer: Token = open.kind.closer();
            let end = self.out.last().map_or(place, |last| last.end);
            let before = self.span(end, end);
            let title = format!("this `{}` is never closed", open.kind.spelling());
            self.tell(
                Diagnostic::error("E0010", title, self.span(open.start, open.start + 1), "opened here")
                    .label(before, format!("`{closer}` is missing here"))
                    .fix(Fix::new(format!("add `{closer}`"), before, closer.spelling())),
            );
            self.insert(closer);
        }
    }

    /// Closes everything, braces too, because the file or the declaration ends at `place`.
    fn close_open_braces(&mut self, place: u32, reason: &str) {
        self.close_down_to(place, Kind::is_brace);
        let Some(innermost) = self.stack.last().copied() else { return };
        let (open, partner) = match self.suspect.take() {
            Some((open, partner)) => (open, Some(partner)),
            None => (innermost, None),
        };
        let place_end = self.text[place as usize..].chars().next().map_or(place, |c| place + c.len_utf8() as u32);
        let mut diagnostic = Diagnostic::error(
            "E0010",
            "this `{` is never closed",
            self.span(open.start, open.start + 1),
            "opened here",
        )
        .label(self.span(place, place_end), reason);
        if let Some(partner) = partner {
            diagnostic = diagnostic.label(
                self.span(partner, partner + 1),
                "this `}` closes it, but by its indentation belongs further out",
            );
        } else if self.stack.len() > 1 {
            diagnostic = diagnostic.note(format!("{} braces are open there", self.stack.len()));
        }
        self.tell(diagnostic);
        self.stream_head = false;
        while let Some(open) = self.stack.pop() {
            self.insert(open.kind.closer());
            if open.kind == Kind::Stream {
                self.insert(Token::Semi);
            }
            self.close_down_to(place, Kind::is_brace);
        }
    }

    fn semicolon(&mut self, i: usize) {
        let at = self.input[i];
        let in_literal = self.stack.last().is_some_and(|open| open.kind == Kind::Literal);
        // `{1, 2;};` but not `{1, 2; }`, where the brace belongs to something else.
        let goes_on = match self.next(i) {
            Some(Token::Comma) => true,
            Some(Token::RBrace) => matches!(self.next(i + 1), Some(Token::Semi | Token::Comma)),
            _ => false,
        };
        if in_literal && goes_on {
            let here = self.span(at.start, at.end);
            let diagnostic = Diagnostic::error("E0008", "unexpected `;` in an array literal", here, "remove it");
            return self.tell(diagnostic.fix(Fix::safe("remove `;`", here, "")));
        }
        self.close_down_to(at.start, |kind| kind.is_brace() || matches!(kind, Kind::For(1..)));
        let token = match self.stack.last_mut() {
            None => Token::SemiTop,
            Some(Open { kind: Kind::For(left), .. }) => {
                *left -= 1;
                Token::SemiFor
            }
            Some(_) => Token::Semi,
        };
        if token != Token::SemiFor {
            self.stream_head = false;
        }
        self.emit(token, at.start, at.end);
    }

    /// An unknown character stands for an operand where one is missing, and keeps two operands apart; else it is left out.
    fn error(&mut self, i: usize) {
        use Token::*;
        let at = self.input[i];
        let missing_before = self.previous().is_some_and(|token| {
            token.is_assignment()
                || token.is_binary_operator()
                || matches!(token, LParen | LBracket | Comma | Return | Question | Colon | Bang | Tilde)
        });
        let missing_after = self.next(i).is_none_or(|token| {
            token.is_binary_operator() || matches!(token, RParen | RBracket | RBrace | Semi | Comma | Question | Colon)
        });
        let operand_before = self.previous().is_some_and(|token| {
            matches!(token, Ident(_) | Int(_) | Real(_) | Imaginary(_) | Char(_) | Str(_) | RParen | RBracket)
        });
        let operand_after = self.next(i).is_some_and(|token| {
            matches!(token, Ident(_) | Int(_) | Real(_) | Imaginary(_) | Char(_) | Str(_) | LParen)
        });
        if missing_before && missing_after || operand_before && operand_after {
            self.emit(Error, at.start, at.end);
        }
    }

    /// Does the head of a top-level declaration stand at `i`, one that cannot stand inside braces?
    fn declaration_head(&self, i: usize) -> bool {
        use Token::*;
        let token = |i: usize| self.input.get(i).map(|spanned| spanned.token);
        match self.input[i].token {
            Struct | Native | Helper => matches!((token(i + 1), token(i + 2)), (Some(Ident(_)), Some(LBrace))),
            Static => token(i + 1) == Some(LBrace),
            Ident("import") => matches!((token(i + 1), token(i + 2)), (Some(Str(_)), Some(Semi))),
            first if first.is_type_keyword() || matches!(first, Ident(_)) => {
                let Some(arrow) = self.type_end(i).filter(|end| token(*end) == Some(Arrow)) else { return false };
                let Some(mut end) = self.type_end(arrow + 1) else { return false };
                if token(end) == Some(Stateful) {
                    end += 1;
                }
                token(end).is_some_and(|kind| kind.is_stream_kind()) && matches!(token(end + 1), Some(Ident(_)))
            }
            _ => false,
        }
    }

    /// The index behind a type at `i`.
    fn type_end(&self, i: usize) -> Option<usize> {
        let first = self.input.get(i)?.token;
        if !(first.is_type_keyword() || matches!(first, Token::Ident(_))) {
            return None;
        }
        let mut end = i + 1;
        let mut depth = 0;
        loop {
            match self.input.get(end)?.token {
                Token::LBracket => depth += 1,
                Token::RBracket => depth -= 1,
                Token::Semi | Token::LBrace | Token::RBrace => return None,
                _ if depth > 0 => {}
                _ => return Some(end),
            }
            end += 1;
            if end > i + HEAD_LIMIT {
                return None;
            }
        }
    }

    /// Does the word `import` at `i` begin an import, or is it a name?
    fn is_import(&self, i: usize) -> bool {
        let starts_item = self.after_statement() || matches!(self.previous(), Some(Token::Str(_)));
        self.stack.is_empty() && starts_item && !matches!(self.next(i), Some(Token::Arrow | Token::LBracket))
    }

    /// Can the keyword at `i` only be meant as a name?
    fn stands_as_name(&self, i: usize) -> bool {
        use Token::*;
        let (token, previous) = (self.input[i].token, self.previous());
        if previous == Some(Dot) {
            return true;
        }
        let declared = previous.is_some_and(|p| p.is_type_keyword());
        match token {
            // `portal<F>` is a type; `portal[2] p` and `portal p` lack something
            Portal if matches!(self.next(i), Some(Lt | LBracket)) => return false,
            Portal => {}
            // `float int = 1;`
            _ if token.is_type_keyword() => {
                return declared
                    && self.next(i).is_some_and(|n| n.is_assignment() || matches!(n, Semi | Comma | RParen));
            }
            Filter | Pipeline | SplitJoin | FeedbackLoop | Stateful | To | Handler | Iter | Add | Split | Join
            | Body | Loop | Enqueue | Init | Prework | Work | Struct | Native | Static | Helper | Switch | Case
            | Default | Template => {}
            _ => return false,
        }
        let Some(next) = self.next(i) else { return false };
        // `add A() to ;`
        let behind_stream = matches!(previous, Some(Ident(_) | RParen | Gt | RBrace));
        match next {
            // `enqueue -1;`, `case -1:`, `default:`
            Plus | Minus | Increment | Decrement if matches!(token, Enqueue | Case) => false,
            Increment | Decrement | Dot | LBracket | Question => true,
            next if next.is_assignment() || next.is_binary_operator() => true,
            Semi | Comma if token == To && behind_stream => false,
            Semi | Comma | RParen | RBracket | RBrace => !self.after_statement(),
            LParen => declared,
            _ => false,
        }
    }

    fn keyword_name(&mut self, at: Spanned<'s>) {
        let name = &self.text[at.start as usize..at.end as usize];
        if !self.named.contains(&at.token) {
            self.named.push(at.token);
            let title = format!("`{name}` is a keyword and cannot be a name");
            let function = self.text[..at.start as usize].trim_end().ends_with("void");
            let help = crate::stumble::head_of(name).filter(|_| function);
            let other = || format!("choose another name, such as `{name}_` or `my_{name}`");
            self.tell(
                Diagnostic::error("E0011", title, self.span(at.start, at.end), "a name is expected here")
                    .help(help.map_or_else(other, String::from)),
            );
        }
        self.emit(Token::Ident(name), at.start, at.end);
    }

    /// The indentation of the line on which byte `at` lies.
    fn indent(&self, at: u32) -> Option<usize> {
        let rest = &self.text[self.line_start(at)?..];
        Some(rest.len() - rest.trim_start_matches([' ', '\t']).len())
    }

    /// Where the line of byte `at` starts, unless it is so long that indentation says nothing.
    fn line_start(&self, at: u32) -> Option<usize> {
        const LONG_LINE: usize = 400;
        let at = at as usize;
        let window = at.saturating_sub(LONG_LINE);
        match self.text.as_bytes()[window..at].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => Some(window + end + 1),
            None => (window == 0).then_some(0),
        }
    }

    /// The indentation of byte `at`, if nothing stands before it on its line.
    fn first_on_line(&self, at: u32) -> Option<usize> {
        let before = &self.text[self.line_start(at)?..at as usize];
        before.chars().all(|c| matches!(c, ' ' | '\t')).then_some(before.len())
    }
}
