//! Reads graph text back. Input: what [`super::print()`] writes. Output: the graph, or what is wrong and in which line. The graph's
//! invariants are [`crate::graph_verify`]'s concern; here only references are checked.

use super::{is_word, short};
use crate::constant::Const;
use crate::graph::*;
use crate::ids::*;
use crate::ty::{Dim, Ty};
use crate::typed::Rates;
use sluice_grammar::ast::StreamKind;
use sluice_grammar::span::Span;
use std::sync::Arc;

type Parsed<T> = Result<T, String>;

/// Types and values within one another.
const DEPTH: usize = 100;

/// Reads a graph.
pub fn parse(text: &str) -> Result<SdfGraph, String> {
    let mut graph = SdfGraph::default();
    for (i, line) in text.lines().enumerate() {
        let at = |e: String| format!("line {}: {e}", i + 1);
        let tokens = tokens(line).map_err(at)?;
        if !tokens.is_empty() {
            Line { tokens: &tokens, next: 0 }.read(&mut graph).map_err(at)?;
        }
    }
    finish(&mut graph)?;
    Ok(graph)
}

/// Ports and children follow from what the lines say.
fn finish(graph: &mut SdfGraph) -> Parsed<()> {
    for id in graph.channel_ids() {
        let c = graph.channel(id);
        let ((from, output), (to, input)) = (c.from, c.to);
        for (node, port, gives) in [(from, output, true), (to, input, false)] {
            let Some(node) = graph.nodes.get_mut(node.index()) else { return Err(format!("{id}: there is no {node}")) };
            let ports = if gives { &mut node.outputs } else { &mut node.inputs };
            // channels stand in the order of their numbers, ports need not
            let port = port as usize;
            if port > 1 << 20 {
                return Err(format!("{id}: port {port} is too high"));
            }
            ports.resize(ports.len().max(port + 1), UNUSED);
            if ports[port] != UNUSED {
                return Err(format!("{id}: port {port} of {} has a channel already", node.path));
            }
            ports[port] = id;
        }
    }
    for id in graph.node_ids() {
        let node = graph.node(id);
        if node.inputs.iter().chain(&node.outputs).any(|c| *c == UNUSED) {
            return Err(format!("{id}: a port has no channel"));
        }
        let hier = node.hier;
        if let Some(h) = graph.hierarchy.get_mut(hier.index()) {
            h.nodes.push(id);
        } else if !graph.hierarchy.is_empty() || hier.0 != 0 {
            return Err(format!("{id}: there is no {hier}"));
        }
    }
    for i in 0..graph.hierarchy.len() {
        let Some(parent) = graph.hierarchy[i].parent else { continue };
        if parent.index() >= i {
            return Err(format!("h{i}: {parent} does not stand before it"));
        }
        graph.hierarchy[parent.index()].children.push(HierId::from(i));
    }
    Ok(())
}

/// No channel yet.
const UNUSED: ChannelId = ChannelId(u32::MAX);

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// Letters, digits and what else names are made of; `:` within values.
    Word(String),
    Text(String),
    Mark(char),
}

fn tokens(line: &str) -> Parsed<Vec<Token>> {
    let mut out = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {}
            '/' if chars.peek() == Some(&'/') => break,
            '-' if chars.peek() == Some(&'>') => {
                chars.next();
                out.push(Token::Word("->".into()));
            }
            '"' => out.push(Token::Text(text(&mut chars)?)),
            '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>' | ',' | '?' => out.push(Token::Mark(c)),
            c if is_word(c) => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| is_word(*c) || *c == ':') {
                    word.push(c);
                }
                out.push(Token::Word(word));
            }
            c => return Err(format!("`{c}` is not expected")),
        }
    }
    Ok(out)
}

/// The rest of a text in quotes.
fn text(chars: &mut std::iter::Peekable<std::str::Chars>) -> Parsed<String> {
    let mut out = String::new();
    loop {
        match chars.next().ok_or("a quote is missing")? {
            '"' => return Ok(out),
            '\\' => out.push(match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => {
                    let code: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).ok_or("a wrong escape")?
                }
                Some(c @ ('"' | '\\')) => c,
                _ => return Err("a wrong escape".into()),
            }),
            c => out.push(c),
        }
    }
}

struct Line<'a> {
    tokens: &'a [Token],
    next: usize,
}

impl Line<'_> {
    fn read(&mut self, graph: &mut SdfGraph) -> Parsed<()> {
        let id = self.word()?;
        let expected = [("h", graph.hierarchy.len()), ("n", graph.nodes.len()), ("c", graph.channels.len())];
        let Some((what, _)) = expected.iter().find(|(prefix, n)| id == format!("{prefix}{n}")) else {
            let next: Vec<String> = expected.iter().map(|(p, n)| format!("{p}{n}")).collect();
            return Err(format!("`{id}` where {} may come", next.join(" or ")));
        };
        match *what {
            "h" => {
                let h = self.hier()?;
                graph.hierarchy.push(h);
            }
            "n" => {
                let n = self.node()?;
                graph.nodes.push(n);
            }
            _ => {
                let c = self.channel()?;
                graph.channels.push(c);
            }
        }
        match self.tokens.get(self.next) {
            None => Ok(()),
            Some(t) => Err(format!("{t:?} is too much")),
        }
    }

    fn hier(&mut self) -> Parsed<HierNode> {
        let kind = match self.word()?.as_str() {
            "filter" => StreamKind::Filter,
            "pipeline" => StreamKind::Pipeline,
            "splitjoin" => StreamKind::SplitJoin,
            "feedbackloop" => StreamKind::FeedbackLoop,
            other => return Err(format!("`{other}` is no kind of stream")),
        };
        let (name, display) = (self.name()?, self.name()?);
        let from = self.ty()?;
        self.expect("->")?;
        let io = (from, self.ty()?);
        let parent = if self.accept("in") { Some(HierId(self.id("h")?)) } else { None };
        let (decl, added) = (Span::default(), Span::default());
        Ok(HierNode { kind, display, name, decl, added, parent, children: Vec::new(), nodes: Vec::new(), io })
    }

    fn node(&mut self) -> Parsed<Node> {
        let path = self.name()?;
        let name = if self.accept("as") { self.name()? } else { short(&path).to_string() };
        let kind = match self.word()?.as_str() {
            "filter" => {
                let code = CodeId(self.id("code")?);
                let rates = self.rates()?;
                let prework = if self.accept("first") { Some(self.rates()?) } else { None };
                let stateful = self.accept("stateful");
                let prints = self.accept("prints");
                NodeKind::Filter { code, rates, prework, stateful, prints, dynamic: self.accept("dynamic") }
            }
            "identity" => NodeKind::Identity,
            "duplicate" => NodeKind::Duplicate,
            "split" => NodeKind::SplitRoundRobin(self.weights()),
            "join" => NodeKind::JoinRoundRobin(self.weights()),
            "reader" => NodeKind::Reader(self.end()?),
            "writer" => NodeKind::Writer(self.end()?),
            other => return Err(format!("`{other}` is no kind of node")),
        };
        let hier = if self.accept("in") { HierId(self.id("h")?) } else { HierId(0) };
        Ok(Node { path, name, kind, inputs: Vec::new(), outputs: Vec::new(), span: Span::default(), hier })
    }

    fn channel(&mut self) -> Parsed<Channel> {
        let from = self.port()?;
        self.expect("->")?;
        let to = self.port()?;
        let ty = self.ty()?;
        let Rates { push, pop, peek } = self.rates()?;
        let initial = if self.accept("initial") {
            self.mark('[')?;
            self.list(']', 0)?
        } else {
            Vec::new()
        };
        let feedback = self.accept("feedback");
        let dynamic = self.accept("dynamic");
        Ok(Channel { from, to, ty, produce: push, consume: pop, peek, initial, feedback, dynamic })
    }

    /// `n3.1`
    fn port(&mut self) -> Parsed<(NodeId, u32)> {
        let word = self.word()?;
        let parts = word.strip_prefix('n').and_then(|w| w.split_once('.'));
        let numbers = parts.and_then(|(n, p)| Some((n.parse().ok()?, p.parse().ok()?)));
        numbers.map(|(n, p)| (NodeId(n), p)).ok_or_else(|| format!("`{word}` is no port"))
    }

    fn rates(&mut self) -> Parsed<Rates> {
        let mut r = Rates::default();
        loop {
            if self.accept("push") {
                r.push = self.number()?;
            } else if self.accept("pop") {
                r.pop = self.number()?;
            } else if self.accept("peek") {
                r.peek = self.number()?;
            } else {
                r.peek = r.peek.max(r.pop);
                return Ok(r);
            }
        }
    }

    fn weights(&mut self) -> Vec<u32> {
        let mut out = Vec::new();
        while let Some(Token::Word(w)) = self.tokens.get(self.next) {
            let Ok(n) = w.parse() else { break };
            out.push(n);
            self.next += 1;
        }
        out
    }

    fn end(&mut self) -> Parsed<Endpoint> {
        if self.accept("open") { Ok(Endpoint::Open) } else { Ok(Endpoint::File(self.name()?)) }
    }

    fn ty(&mut self) -> Parsed<Ty> {
        let word = self.word()?;
        let numbered = |prefix: &str| word.strip_prefix(prefix).and_then(|n| n.parse().ok());
        let mut ty = match word.as_str() {
            "void" => Ty::Void,
            "bit" => Ty::Bit,
            "boolean" => Ty::Bool,
            "int" => Ty::Int,
            "float" => Ty::Float,
            "double" => Ty::Double,
            "complex" => Ty::Complex,
            "float2" => Ty::Vec(2),
            "float3" => Ty::Vec(3),
            "float4" => Ty::Vec(4),
            "string" => Ty::Str,
            "error" => Ty::Error,
            _ => match (numbered("struct"), numbered("portal-decl")) {
                (Some(n), _) => Ty::Struct(StructId(n)),
                (_, Some(n)) => Ty::Portal(DeclId(n)),
                _ => return Err(format!("`{word}` is no type")),
            },
        };
        let mut dims = Vec::new();
        while self.tokens.get(self.next) == Some(&Token::Mark('[')) && dims.len() < DEPTH {
            self.next += 1;
            if self.tokens.get(self.next) == Some(&Token::Mark('?')) {
                self.next += 1;
                dims.push(Dim::Unknown);
            } else {
                dims.push(Dim::Known(self.number()?));
            }
            self.mark(']')?;
        }
        for dim in dims.into_iter().rev() {
            ty = Ty::Array(Arc::new(ty), dim);
        }
        Ok(ty)
    }

    fn list(&mut self, end: char, depth: usize) -> Parsed<Vec<Const>> {
        let mut out = Vec::new();
        while self.tokens.get(self.next) != Some(&Token::Mark(end)) {
            if !out.is_empty() {
                self.mark(',')?;
            }
            out.push(self.constant(depth + 1)?);
        }
        self.next += 1;
        Ok(out)
    }

    fn constant(&mut self, depth: usize) -> Parsed<Const> {
        if depth > DEPTH {
            return Err("values are nested too deep".into());
        }
        let token = self.tokens.get(self.next).ok_or("a value is missing")?.clone();
        self.next += 1;
        let floats = |all: Vec<Const>| -> Parsed<Vec<f32>> {
            let float = |c| if let Const::Float(x) = c { Ok(x) } else { Err("a float is expected".to_string()) };
            all.into_iter().map(float).collect()
        };
        match token {
            Token::Text(s) => Ok(Const::Str(s.into())),
            Token::Mark('[') => Ok(Const::Array(self.list(']', depth)?.into())),
            Token::Mark('{') => Ok(Const::Struct(self.list('}', depth)?.into())),
            Token::Mark('(') => match floats(self.list(')', depth)?)?[..] {
                [re, im] => Ok(Const::Complex(re, im)),
                _ => Err("a complex value has two parts".into()),
            },
            Token::Mark('<') => {
                let parts = floats(self.list('>', depth)?)?;
                let mut v = [0.0; 4];
                let n = parts.len();
                v.get_mut(..n).ok_or("a vector has at most four parts")?.copy_from_slice(&parts);
                Ok(Const::Vec(n as u8, v))
            }
            Token::Word(w) => scalar(&w).ok_or_else(|| format!("`{w}` is no value")),
            t => Err(format!("{t:?} is no value")),
        }
    }

    fn word(&mut self) -> Parsed<String> {
        match self.tokens.get(self.next) {
            Some(Token::Word(w)) => {
                self.next += 1;
                Ok(w.clone())
            }
            other => Err(format!("a word is expected, not {other:?}")),
        }
    }

    /// A word, or a text in quotes.
    fn name(&mut self) -> Parsed<String> {
        if let Some(Token::Text(t)) = self.tokens.get(self.next) {
            self.next += 1;
            return Ok(t.clone());
        }
        self.word()
    }

    fn number(&mut self) -> Parsed<u32> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    }

    fn id(&mut self, prefix: &str) -> Parsed<u32> {
        let word = self.word()?;
        let number = word.strip_prefix(prefix).and_then(|n| n.parse().ok());
        number.ok_or_else(|| format!("`{word}` where {prefix} and a number is expected"))
    }

    fn accept(&mut self, word: &str) -> bool {
        let yes = matches!(self.tokens.get(self.next), Some(Token::Word(w)) if w == word);
        self.next += usize::from(yes);
        yes
    }

    fn expect(&mut self, word: &str) -> Parsed<()> {
        if self.accept(word) { Ok(()) } else { Err(format!("`{word}` is missing")) }
    }

    fn mark(&mut self, c: char) -> Parsed<()> {
        if self.tokens.get(self.next) != Some(&Token::Mark(c)) {
            return Err(format!("`{c}` is missing"));
        }
        self.next += 1;
        Ok(())
    }
}

fn scalar(word: &str) -> Option<Const> {
    let bits = |hex: &str| u32::from_str_radix(hex, 16).ok();
    Some(match word {
        "true" => Const::Bool(true),
        "false" => Const::Bool(false),
        "bit:0" => Const::Bit(false),
        "bit:1" => Const::Bit(true),
        _ => {
            if let Some(n) = word.strip_prefix("portal") {
                Const::Portal(PortalId(n.parse().ok()?))
            } else if let Some(hex) = word.strip_prefix("double:nan:") {
                Const::Double(f64::from_bits(u64::from_str_radix(hex, 16).ok()?))
            } else if let Some(x) = word.strip_prefix("double:") {
                Const::Double(x.parse().ok()?)
            } else if let Some(hex) = word.strip_prefix("nan:") {
                Const::Float(f32::from_bits(bits(hex)?))
            } else if let Ok(i) = word.parse() {
                Const::Int(i)
            } else {
                Const::Float(word.parse().ok()?)
            }
        }
    })
}
