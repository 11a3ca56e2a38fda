//! # completion
//!
//! Purpose: what can stand at the cursor. Input: a view, a byte. Output: items: streams with their signatures, variables, fields, functions, rates, keywords
//! by context. Documentation comes with [`resolve`], when an item is looked at.

use super::context::{Around, Context, context};
use super::hover::signature;
use crate::world::view::View;
use serde_json::json;
use sluice_frontend::check::call::BUILTINS;
use sluice_frontend::ids::SymbolId;
use sluice_frontend::resolve::SymbolKind;
use sluice_grammar::ast::{BaseType, StreamKind, Type};
use sluice_grammar::token::{Spanned, Token};
use tower_lsp::lsp_types::*;

const TYPES: &[&str] = &["int", "float", "double", "boolean", "bit", "complex", "float2", "float3", "float4"];

/// The items at a byte; `snippets`: the client fills in arguments.
pub fn completion(view: &View, offset: u32, snippets: bool) -> Vec<CompletionItem> {
    let text = view.text().as_str();
    let c = context(text, offset);
    if c.verbatim || c.number {
        return Vec::new();
    }
    let mut items = Items { view, snippets, all: Vec::new() };
    let last = c.before.last().map(|t| t.token);
    match last {
        Some(Token::Dot) => items.members(&c, offset),
        Some(Token::Add | Token::Body | Token::Loop) => {
            items.streams();
            items.words(&["filter", "pipeline", "splitjoin", "feedbackloop"]);
        }
        Some(Token::Split) => items.words(&["duplicate", "roundrobin"]),
        Some(Token::Join) => items.words(&["roundrobin"]),
        Some(Token::Arrow) => {
            items.types();
            items.words(&["void"]);
        }
        Some(Token::Lt) if is_portal(&c.before) => items.streams(),
        _ if c.rates => {
            items.words(&["pop", "push", "peek"]);
            items.visible(offset);
        }
        _ => items.general(&c, offset),
    }
    items.all
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
        let begins = matches!(
            c.before.last().map(|t| t.token),
            None | Some(Token::LBrace | Token::RBrace | Token::Semi | Token::RParen | Token::Else | Token::Do)
        );
        match c.around {
            Around::Top => {
                self.types();
                self.words(&["void", "struct", "static", "helper", "native", "import"]);
                self.words(&["filter", "pipeline", "splitjoin", "feedbackloop", "stateful", "portal"]);
            }
            Around::Filter => {
                self.words(&["work", "prework", "init", "handler", "void"]);
                self.types();
                if !begins {
                    self.expressions(offset);
                }
            }
            Around::Composite(kind) => {
                self.words(match kind {
                    StreamKind::SplitJoin => &["add", "split", "join", "duplicate", "roundrobin"],
                    StreamKind::FeedbackLoop => {
                        &["join", "body", "loop", "split", "enqueue", "roundrobin", "duplicate"]
                    }
                    _ => &["add", "to"],
                });
                self.words(&["if", "else", "for", "while", "portal"]);
                self.types();
                self.expressions(offset);
            }
            Around::Work | Around::Body => {
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
            Around::Struct => self.types(),
            Around::Static => {
                self.types();
                self.words(&["init"]);
                self.expressions(offset);
            }
            Around::Group => {
                self.types();
                self.words(&["void"]);
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

/// The documentation of an item.
pub fn resolve(view: &View, mut item: CompletionItem) -> CompletionItem {
    let index = view.syntax.index();
    let wanted = item.data.as_ref().and_then(|d| Some((d.get("symbol")?.as_u64()?, d.get("name")?.as_str()?)));
    // the program may have changed since
    let found = wanted.and_then(|(id, name)| index.symbols().nth(id as usize).filter(|(_, s)| *s.name == *name));
    if let Some((_, s)) = found
        && let Some(doc) = view.syntax.doc(s.whole)
    {
        let doc = MarkupContent { kind: MarkupKind::Markdown, value: doc };
        item.documentation = Some(Documentation::MarkupContent(doc));
    }
    item
}
