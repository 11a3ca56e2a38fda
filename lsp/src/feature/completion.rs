//! # completion
//!
//! Purpose: what can stand at the cursor. Input: a view, a byte. Output: items: streams with their signatures, variables, fields, functions, rates, keywords
//! by context. Documentation comes with [`resolve`], when an item is looked at.

use super::context::{Around, Context, Place, context};
use super::hover::{markup, signature};
use crate::world::view::View;
use serde_json::json;
use sluice_frontend::check::call::BUILTINS;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::SymbolKind;
use sluice_grammar::ast::{BaseType, StreamKind, Type};
use sluice_grammar::token::{Spanned, Token};
use tower_lsp::lsp_types::*;

/// Kinds of streams, behind their types.
const KINDS: &[&str] = &["filter", "pipeline", "splitjoin", "feedbackloop", "stateful"];

const TYPES: &[&str] = &["int", "float", "double", "boolean", "bit", "complex", "float2", "float3", "float4"];

/// The items at a byte; `snippets`: the client fills in arguments.
pub fn completion(view: &View, offset: u32, snippets: bool) -> Vec<CompletionItem> {
    let text = view.text().as_str();
    let c = context(text, offset);
    if c.verbatim || c.number {
        return Vec::new();
    }
    // arguments that are there already are not inserted again
    let mut items = Items { view, snippets: snippets && !c.called, all: Vec::new() };
    let offset = c.seen;
    let last = c.before.last().map(|t| t.token);
    match last {
        Some(Token::Dot) => items.members(&c, offset),
        Some(Token::Add | Token::Body | Token::Loop) => {
            items.streams();
            items.words(KINDS);
            items.types();
            items.words(&["void"]);
        }
        Some(Token::Stateful) => items.words(&["filter"]),
        _ if is_behind_types(&c.before) => items.words(KINDS),
        Some(Token::Split) => items.words(&["duplicate", "roundrobin"]),
        Some(Token::Join) => items.words(&["roundrobin"]),
        Some(Token::Arrow) => {
            items.types();
            items.words(&["void"]);
        }
        Some(Token::Lt) if is_portal(&c.before) => items.filters(),
        _ if c.rates => {
            items.words(&["pop", "push", "peek"]);
            items.visible(offset);
        }
        _ => items.general(&c, offset),
    }
    items.all
}

/// `float->float[2] `: is what stands last the second of a stream's two types?
fn is_behind_types(before: &[Spanned]) -> bool {
    let Some(mut at) = before.len().checked_sub(1) else { return false };
    while before[at].token == Token::RBracket {
        let open = before[..at].iter().rposition(|t| t.token == Token::LBracket);
        let Some(next) = open.and_then(|i| i.checked_sub(1)) else { return false };
        at = next;
    }
    let is_type =
        TYPES.contains(&before[at].token.spelling()) || matches!(before[at].token, Token::Ident(_) | Token::Void);
    is_type && at > 0 && before[at - 1].token == Token::Arrow
}

fn is_portal(before: &[Spanned]) -> bool {
    matches!(before, [.., a, _] if a.token == Token::Portal)
}

struct Items<'v> {
    view: &'v View,
    snippets: bool,
    all: Vec<CompletionItem>,
}

impl Items<'_> {
    fn words(&mut self, words: &[&str]) {
        self.all.extend(words.iter().map(|w| CompletionItem {
            label: (*w).into(),
            kind: Some(CompletionItemKind::KEYWORD),
            ..CompletionItem::default()
        }));
    }

    fn types(&mut self) {
        self.words(TYPES);
        for id in self.view.syntax.index().globals() {
            if self.view.syntax.index().symbol(id).kind == SymbolKind::Struct {
                self.symbol(id);
            }
        }
    }

    fn streams(&mut self) {
        for id in self.view.syntax.index().globals() {
            // building blocks of the library are its own
            let symbol = self.view.syntax.index().symbol(id);
            let internal = symbol.shipped && symbol.name.ends_with("Core");
            if matches!(symbol.kind, SymbolKind::Stream(_)) && !internal {
                self.symbol(id);
            }
        }
        for name in ["Identity", "FileReader", "FileWriter"] {
            let (insert, format) = match (self.snippets, name) {
                (false, _) => (name.to_string(), InsertTextFormat::PLAIN_TEXT),
                (true, "Identity") => ("Identity<${1:float}>".into(), InsertTextFormat::SNIPPET),
                (true, _) => (format!("{name}<${{1:float}}>(\"$2\")"), InsertTextFormat::SNIPPET),
            };
            self.all.push(CompletionItem {
                label: name.into(),
                kind: Some(CompletionItemKind::CLASS),
                detail: Some("built in".into()),
                insert_text: Some(insert),
                insert_text_format: Some(format),
                ..CompletionItem::default()
            });
        }
    }

    /// Filters by their names: a portal is to one of any arguments.
    fn filters(&mut self) {
        let index = self.view.syntax.index();
        for id in index.globals() {
            let symbol = index.symbol(id);
            if symbol.kind == SymbolKind::Stream(StreamKind::Filter) && !symbol.name.ends_with("Core") {
                self.symbol(id);
                if let Some(item) = self.all.last_mut() {
                    (item.insert_text, item.insert_text_format) = (None, None);
                }
            }
        }
    }

    /// In the brackets of a stream's parameter: the parameters before it.
    fn parameters(&mut self, c: &Context) -> bool {
        let Some(bracket) = c.open(c.before.len()).filter(|i| c.before[*i].token == Token::LBracket) else {
            return false;
        };
        let Some(paren) = c.open(bracket).filter(|i| c.before[*i].token == Token::LParen) else { return false };
        let names = c.before[paren..bracket].windows(2).filter_map(|two| match (two[0].token, two[1].token) {
            (Token::Ident(name), Token::Comma) => Some(name),
            _ => None,
        });
        self.all.extend(names.map(|name| CompletionItem {
            label: name.into(),
            kind: Some(CompletionItemKind::VARIABLE),
            sort_text: Some(format!("a{name}")),
            ..CompletionItem::default()
        }));
        for id in self.view.syntax.index().globals() {
            if self.view.syntax.index().symbol(id).kind == SymbolKind::Static {
                self.symbol(id);
            }
        }
        true
    }

    fn symbol(&mut self, id: SymbolId) {
        let symbol = self.view.syntax.index().symbol(id);
        let kind = match symbol.kind {
            SymbolKind::Stream(StreamKind::Filter) => CompletionItemKind::CLASS,
            SymbolKind::Stream(_) | SymbolKind::Helper | SymbolKind::Native => CompletionItemKind::MODULE,
            SymbolKind::Struct => CompletionItemKind::STRUCT,
            SymbolKind::Member | SymbolKind::Field => CompletionItemKind::FIELD,
            SymbolKind::Static => CompletionItemKind::CONSTANT,
            SymbolKind::Function | SymbolKind::GroupFunction => CompletionItemKind::FUNCTION,
            SymbolKind::Handler => CompletionItemKind::METHOD,
            SymbolKind::StreamParam | SymbolKind::Param | SymbolKind::Local => CompletionItemKind::VARIABLE,
        };
        let called = matches!(
            symbol.kind,
            SymbolKind::Stream(_) | SymbolKind::Function | SymbolKind::GroupFunction | SymbolKind::Handler
        );
        let (insert, format) = match called && self.snippets {
            true => {
                let params: Vec<String> = symbol
                    .params
                    .iter()
                    .enumerate()
                    .map(|(i, p)| format!("${{{}:{}}}", i + 1, self.view.syntax.index().symbol(*p).name))
                    .collect();
                let parens = !params.is_empty() || !matches!(symbol.kind, SymbolKind::Stream(_));
                let arguments = if parens { format!("({})", params.join(", ")) } else { String::new() };
                (Some(format!("{}{arguments}", symbol.name)), Some(InsertTextFormat::SNIPPET))
            }
            false => (None, None),
        };
        // what is the user's own comes first
        let rank = match symbol.kind {
            SymbolKind::StreamParam | SymbolKind::Param | SymbolKind::Local | SymbolKind::Field => 'a',
            _ if !symbol.shipped => 'b',
            _ => 'd',
        };
        self.all.push(CompletionItem {
            label: symbol.name.to_string(),
            kind: Some(kind),
            detail: Some(signature(self.view, id)),
            insert_text: insert,
            insert_text_format: format,
            sort_text: Some(format!("{rank}{}", symbol.name)),
            data: Some(
                json!({ "file": self.view.syntax.file(self.view.file).name, "name": &*symbol.name, "symbol": id.0 }),
            ),
            ..CompletionItem::default()
        });
    }

    fn visible(&mut self, offset: u32) {
        let index = self.view.syntax.index();
        for id in index.visible(self.view.file, offset) {
            self.symbol(id);
        }
        for id in index.globals() {
            if matches!(index.symbol(id).kind, SymbolKind::Static) {
                self.symbol(id);
            }
        }
    }

    fn expressions(&mut self, offset: u32) {
        self.visible(offset);
        for id in self.view.syntax.index().globals() {
            let symbol = self.view.syntax.index().symbol(id);
            let internal = symbol.shipped && symbol.name.ends_with("Core");
            if matches!(symbol.kind, SymbolKind::Helper | SymbolKind::Native) && !internal {
                self.symbol(id);
            }
        }
        for (name, _, arguments) in BUILTINS {
            let given = ["x", "y", "z"][..(*arguments).min(3)].join(", ");
            self.all.push(CompletionItem {
                label: (*name).into(),
                kind: Some(CompletionItemKind::FUNCTION),
                detail: Some(format!("{name}({given})")),
                sort_text: Some(format!("c{name}")),
                ..CompletionItem::default()
            });
        }
        self.words(&["pi", "true", "false"]);
    }

    fn general(&mut self, c: &Context, offset: u32) {
        let place = c.place();
        match c.around {
            Around::Top if self.parameters(c) => {}
            Around::Top => {
                self.types();
                self.words(&["void", "struct", "static", "helper", "native", "import"]);
                self.words(KINDS);
                self.words(&["portal"]);
            }
            Around::Struct => self.types(),
            Around::Group => {
                self.types();
                self.words(&["void"]);
            }
            Around::Filter if place == Place::Begins => {
                self.words(&["work", "prework", "init", "handler", "void"]);
                self.types();
            }
            _ if place != Place::Begins => {
                if matches!(c.around, Around::Composite(_)) && is_added(&c.before) {
                    self.words(&["to"]);
                }
                if c.around == Around::Work {
                    self.words(&["peek", "pop", "iter"]);
                }
                if place == Place::Cast {
                    self.types();
                }
                self.expressions(offset);
            }
            Around::Composite(kind) => {
                self.words(match kind {
                    StreamKind::SplitJoin => &["add", "split", "join"],
                    StreamKind::FeedbackLoop => &["join", "body", "loop", "split", "enqueue"],
                    StreamKind::Pipeline | StreamKind::Filter => &["add"],
                });
                self.words(&["if", "else", "for", "while", "portal"]);
                self.types();
                self.expressions(offset);
            }
            Around::Work | Around::Body | Around::Filter => {
                if c.around == Around::Work {
                    self.words(&["peek", "pop", "push", "iter"]);
                }
                self.words(&[
                    "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "return",
                ]);
                self.words(&["print", "println"]);
                self.types();
                self.expressions(offset);
            }
            Around::Static => {
                self.types();
                self.words(&["init"]);
                self.expressions(offset);
            }
        }
    }

    /// Behind a dot: what the chain of names before it leads to.
    fn members(&mut self, c: &Context, offset: u32) {
        let index = self.view.syntax.index();
        let Some((root, members, indices)) = chain(&c.before) else { return };
        let seen = index
            .visible(self.view.file, offset)
            .into_iter()
            .find(|s| *index.symbol(*s).name == *root && is_variable(index.symbol(*s).kind));
        let statics = || {
            index
                .globals()
                .into_iter()
                .find(|s| *index.symbol(*s).name == *root && index.symbol(*s).kind == SymbolKind::Static)
        };
        let Some(variable) = seen.or_else(statics) else {
            let Some(group) = index.group(root).filter(|_| members.is_empty()) else { return };
            let functions: Vec<SymbolId> = index.members(group).map(|(id, _)| id).collect();
            return functions.into_iter().for_each(|id| self.symbol(id));
        };
        let Some(mut ty) = index.symbol(variable).ty.clone() else { return };
        for m in members {
            let BaseType::Named(s) = &ty.base else { return };
            let Some(of) = index.structure(&s.name) else { return };
            let Some(next) = index.members(of).find(|(_, f)| *f.name == *m).and_then(|(_, f)| f.ty.clone()) else {
                return;
            };
            ty = next;
        }
        if ty.dims.len() > indices {
            return;
        }
        self.members_of(&ty);
    }

    fn members_of(&mut self, ty: &Type) {
        let index = self.view.syntax.index();
        match &ty.base {
            BaseType::Named(s) => {
                let Some(of) = index.structure(&s.name) else { return };
                let fields: Vec<SymbolId> = index.members(of).map(|(id, _)| id).collect();
                fields.into_iter().for_each(|id| self.symbol(id));
            }
            BaseType::Portal(s) => {
                let Some(of) = index.stream(&s.name) else { return };
                let handlers = index.members(of).filter(|(_, h)| h.kind == SymbolKind::Handler);
                let handlers: Vec<SymbolId> = handlers.map(|(id, _)| id).collect();
                handlers.into_iter().for_each(|id| self.symbol(id));
            }
            BaseType::Complex => self.fields(&["real", "imag"]),
            BaseType::Float2 => self.fields(&["x", "y"]),
            BaseType::Float3 => self.fields(&["x", "y", "z"]),
            BaseType::Float4 => self.fields(&["x", "y", "z", "w"]),
            _ => {}
        }
    }

    fn fields(&mut self, names: &[&str]) {
        self.all.extend(names.iter().map(|n| CompletionItem {
            label: (*n).into(),
            kind: Some(CompletionItemKind::FIELD),
            ..CompletionItem::default()
        }));
    }
}

/// Has the statement added its stream, so that only a portal may follow?
fn is_added(before: &[Spanned]) -> bool {
    let mut head = before.iter().rev().take_while(|t| !matches!(t.token, Token::Semi | Token::LBrace | Token::RBrace));
    matches!(before.last().map(|t| t.token), Some(Token::Ident(_) | Token::RParen | Token::Gt))
        && head.any(|t| t.token == Token::Add)
}

fn is_variable(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::StreamParam | SymbolKind::Param | SymbolKind::Local | SymbolKind::Field)
}

/// `a[i].b.` as `a`, its members, and how many indices the last of them has.
fn chain<'t>(before: &[Spanned<'t>]) -> Option<(&'t str, Vec<&'t str>, usize)> {
    let mut names = Vec::new();
    let mut last_indices = None;
    let mut at = before.len();
    loop {
        at = at.checked_sub(1)?;
        if before[at].token != Token::Dot {
            return None;
        }
        let mut indices = 0;
        while at > 0 && before[at - 1].token == Token::RBracket {
            let mut depth = 0;
            loop {
                at = at.checked_sub(1)?;
                match before[at].token {
                    Token::RBracket => depth += 1,
                    Token::LBracket => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            indices += 1;
        }
        last_indices = last_indices.or(Some(indices));
        at = at.checked_sub(1)?;
        let Token::Ident(name) = before[at].token else { return None };
        names.push(name);
        if at == 0 || before[at - 1].token != Token::Dot {
            break;
        }
    }
    let root = names.pop()?;
    names.reverse();
    Some((root, names, last_indices.unwrap_or(0)))
}

/// The documentation of an item; `plain`: the client shows text as it is.
pub fn resolve(view: &View, mut item: CompletionItem, plain: bool) -> CompletionItem {
    let index = view.syntax.index();
    let wanted = item.data.as_ref().and_then(|d| Some((d.get("symbol")?.as_u64()?, d.get("name")?.as_str()?)));
    // the program may have changed since
    let found = wanted.and_then(|(id, name)| index.symbols().nth(id as usize).filter(|(_, s)| *s.name == *name));
    if let Some((_, s)) = found
        && let Some(doc) = view.syntax.doc(s.whole)
    {
        item.documentation = Some(Documentation::MarkupContent(markup(doc, plain)));
    }
    item
}
