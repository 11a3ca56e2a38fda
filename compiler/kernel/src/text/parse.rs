//! Reads kernel text back. Input: what [`super::print`] writes. Output: the kernel, or what is wrong and where.

mod body;

use crate::ir::*;
use crate::passes::intervals::Range;
use sluice_frontend::constant::Const;
use sluice_frontend::ids::*;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::{FileId, Span};

/// Reads a kernel.
pub fn parse(text: &str) -> Result<Kernel, String> {
    let mut p = Parser { text, at: 0, kernel: None, locals: Vec::new() };
    p.kernel().map_err(|e| {
        let line = text[..p.at.min(text.len())].matches('\n').count() + 1;
        format!("line {line}: {e}")
    })
}

type Parsed<T> = Result<T, String>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// What was read so far, for the types of state fields, tables and structs.
    kernel: Option<Kernel>,
    /// Of the function being read.
    locals: Vec<Local>,
}

impl<'a> Parser<'a> {
    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn looking_at(&mut self, s: &str) -> bool {
        self.skip();
        self.text[self.at..].starts_with(s)
    }

    fn accept(&mut self, s: &str) -> bool {
        let yes = self.looking_at(s);
        if yes {
            self.at += s.len();
        }
        yes
    }

    /// Accepts a whole word.
    fn word(&mut self, s: &str) -> bool {
        let before = self.at;
        if self.name() == s {
            return true;
        }
        self.at = before;
        false
    }

    fn expect(&mut self, s: &str) -> Parsed<()> {
        if self.accept(s) { Ok(()) } else { Err(format!("`{s}` is missing")) }
    }

    /// Letters, digits and underscores; empty where there are none.
    fn name(&mut self) -> &'a str {
        self.skip();
        let rest = &self.text[self.at..];
        let n = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += n;
        &rest[..n]
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        self.skip();
        let rest = &self.text[self.at..];
        let n = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        let v = rest[..n].parse().map_err(|_| "a number is missing".to_string())?;
        self.at += n;
        Ok(v)
    }

    fn string(&mut self) -> Parsed<String> {
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(out);
                }
                '\\' => out.push(match chars.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, c)) => c,
                    None => break,
                }),
                c => out.push(c),
            }
        }
        Err("a text without an end".into())
    }

    fn span(&mut self) -> Parsed<Span> {
        self.expect("@")?;
        let file = FileId(self.unsigned()?);
        self.expect(":")?;
        let start = self.unsigned()?;
        self.expect("-")?;
        Ok(Span { file, start, end: self.unsigned()? })
    }

    fn unsigned(&mut self) -> Parsed<u32> {
        self.skip();
        let rest = &self.text[self.at..];
        let n = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let v = rest[..n].parse().map_err(|_| "a number is missing".to_string())?;
        self.at += n;
        Ok(v)
    }

    fn ty(&mut self) -> Parsed<Ty> {
        let name = self.name();
        let id = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
        let mut ty = match name {
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
            _ => match (id("struct"), id("portal")) {
                (Some(n), _) => Ty::Struct(StructId(n)),
                (_, Some(n)) => Ty::Portal(DeclId(n)),
                _ => return Err(format!("`{name}` is no type")),
            },
        };
        while self.accept("[") {
            ty = ty.array(self.unsigned()?);
            self.expect("]")?;
        }
        Ok(ty)
    }

    /// Bounds, `"least..greatest …"`: of items taken, of those given, and of each local.
    fn narrow(&mut self) -> Parsed<Narrow> {
        let text = self.string()?;
        let range = |part: &str| {
            let (lo, hi) = part.split_once("..")?;
            Some(Range::new(lo.parse().ok()?, hi.parse().ok()?))
        };
        let all: Option<Vec<Range>> = text.split(' ').map(range).collect();
        match all.as_deref() {
            Some([taken, given, locals @ ..]) => Ok(Narrow { taken: *taken, given: *given, locals: locals.to_vec() }),
            _ => Err(format!("{text:?} are no bounds")),
        }
    }

    fn list<T>(&mut self, end: &str, item: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        while !self.accept(end) {
            if !out.is_empty() {
                self.expect(",")?;
            }
            out.push(item(self)?);
        }
        Ok(out)
    }

    fn constant(&mut self) -> Parsed<Const> {
        self.skip();
        if self.accept("[") {
            return Ok(Const::Array(self.list("]", Self::constant)?.into()));
        }
        if self.accept("{") {
            return Ok(Const::Struct(self.list("}", Self::constant)?.into()));
        }
        for (open, vector) in [("c(", false), ("v(", true)] {
            if self.accept(open) {
                let parts = self.list(")", Self::constant)?;
                let parts: Option<Vec<f32>> =
                    parts.iter().map(|c| if let Const::Float(x) = c { Some(*x) } else { None }).collect();
                let parts = parts.ok_or("a component that is no float")?;
                let mut v = [0.0; 4];
                if parts.len() > 4 || parts.len() < 2 {
                    return Err("2 to 4 components are wanted".into());
                }
                v[..parts.len()].copy_from_slice(&parts);
                return Ok(if vector { Const::Vec(parts.len() as u8, v) } else { Const::Complex(v[0], v[1]) });
            }
        }
        let rest = &self.text[self.at..];
        let n = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | ':')))
            .unwrap_or(rest.len());
        let word = &rest[..n];
        let c = read_scalar(word).ok_or_else(|| format!("`{word}` is no constant"))?;
        self.at += n;
        Ok(c)
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        self.expect("kernel")?;
        let (name, display, span) = (self.string()?, self.string()?, self.span()?);
        let input = self.ty()?;
        self.expect("->")?;
        let output = self.ty()?;
        let work = self.work("work")?;
        let prework = if self.looking_at("prework") { Some(self.work("prework")?) } else { None };
        let (mut structs, mut state, mut tables, mut natives, mut handlers) = (vec![], vec![], vec![], vec![], vec![]);
        let (mut free, mut lanes, mut steps, mut tapes, mut chosen) = (false, None, None, vec![], vec![]);
        let mut elsewhere = Vec::new();
        loop {
            if self.accept("struct") {
                self.unsigned()?;
                let name = self.string()?;
                self.expect("{")?;
                structs.push(StructType { name, fields: self.list("}", |p| Ok((p.string()?, p.ty()?)))? });
            } else if self.accept("state") {
                self.unsigned()?;
                let (name, ty) = (self.string()?, self.ty()?);
                self.expect("=")?;
                state.push(StateField { name, ty, initial: self.constant()? });
            } else if self.accept("table") {
                self.unsigned()?;
                let shared = if self.word("shared") { Some(StaticId(self.unsigned()?)) } else { None };
                let own = if self.word("own") { Some(self.unsigned()?) } else { None };
                let (name, ty) = (self.string()?, self.ty()?);
                self.expect("=")?;
                tables.push(Table { name, ty, value: self.constant()?, shared, own });
            } else if self.accept("native") {
                let id = NativeId(self.unsigned()?);
                let name = self.string()?;
                self.expect("(")?;
                let params = self.list(")", Self::ty)?;
                self.expect("->")?;
                natives.push(Native { id, name, params, ret: self.ty()? });
            } else if self.word("handler") {
                handlers.push((self.string()?, self.func()?));
            } else if self.word("free") {
                free = true;
            } else if self.word("lanes") {
                let function = self.func()?;
                let varying = self.string()?.chars().map(|c| c == 'v').collect();
                self.expect("unroll")?;
                let unroll = self.unsigned()?;
                let deep = if self.word("deep") { self.unsigned()? } else { unroll };
                let phases = self.word("phases");
                let strands = if self.word("strands") { self.unsigned()? } else { 1 };
                let parts = self.word("parts");
                let narrow = if self.word("narrow") { Some(self.narrow()?) } else { None };
                lanes = Some(Lanes { function, varying, unroll, deep, phases, strands, parts, narrow });
            } else if self.word("steps") {
                steps = Some(Steps { function: self.func()?, firings: self.unsigned()? });
            } else if self.word("elsewhere") {
                self.expect("(")?;
                elsewhere = self.list(")", |p| p.unsigned().map(StateId))?;
            } else if self.word("chosen") {
                self.expect("(")?;
                chosen = self.list(")", |p| p.expect("$").and_then(|()| p.unsigned()).map(LocalId))?;
            } else if self.word("tape") {
                let state = StateId(self.unsigned()?);
                let mut number = |name: &str| self.expect(name).and_then(|()| self.unsigned());
                let (step, stays, turns) = (number("step")?, number("stays")?, number("turns")?);
                tapes.push(Tape { state, step, stays, turns });
            } else {
                break;
            }
        }
        let structs = structs.into();
        let functions = Vec::new();
        self.kernel = Some(Kernel {
            name,
            display,
            span,
            input,
            output,
            structs,
            state,
            tables,
            natives,
            functions,
            work,
            prework,
            handlers,
            free,
            lanes,
            steps,
            tapes,
            chosen,
            elsewhere,
        });
        let mut functions = Vec::new();
        while self.looking_at("func") {
            functions.push(self.function()?);
        }
        self.skip();
        if self.at < self.text.len() {
            return Err("something follows the last function".into());
        }
        let mut k = self.kernel.take().ok_or("no kernel")?;
        k.functions = functions;
        Ok(k)
    }

    fn work(&mut self, word: &str) -> Parsed<Work> {
        self.expect(word)?;
        let function = self.func()?;
        self.expect("peek")?;
        let peek = self.unsigned()?;
        self.expect("pop")?;
        let pop = self.unsigned()?;
        self.expect("push")?;
        let rates = Rates { peek, pop, push: self.unsigned()? };
        if !self.looking_at("attempt") {
            return Ok(Work { function, rates, dynamic: None });
        }
        self.expect("attempt")?;
        let mut d = DynamicRates::default();
        for (word, rate) in [("dynamic_peek", &mut d.peek), ("dynamic_pop", &mut d.pop), ("dynamic_push", &mut d.push)]
        {
            if self.looking_at(word) {
                self.expect(word)?;
                let min = self.unsigned()?;
                let open = self.looking_at("*");
                let max = if open { None } else { Some(self.unsigned()?) };
                if open {
                    self.expect("*")?;
                }
                *rate = Some(DynamicRate { min, avg: None, max });
            }
        }
        Ok(Work { function, rates, dynamic: Some(d) })
    }

    fn func(&mut self) -> Parsed<FuncId> {
        self.expect("func")?;
        Ok(FuncId(self.unsigned()?))
    }

    fn function(&mut self) -> Parsed<Function> {
        self.func()?;
        let name = self.string()?;
        self.expect("(")?;
        let params = self.unsigned()?;
        self.expect(")")?;
        self.expect("->")?;
        let (ret, span) = (self.ty()?, self.span()?);
        self.expect("{")?;
        self.locals = Vec::new();
        while self.accept("local") {
            self.unsigned()?;
            let (name, ty) = (self.string()?, self.ty()?);
            let by_ref = self.word("ref");
            self.locals.push(Local { name, ty, by_ref });
        }
        let body = self.body()?;
        Ok(Function { name, params, locals: std::mem::take(&mut self.locals), ret, body, span })
    }
}

fn read_scalar(word: &str) -> Option<Const> {
    Some(match word {
        "true" => Const::Bool(true),
        "false" => Const::Bool(false),
        "1b" => Const::Bit(true),
        "0b" => Const::Bit(false),
        _ => {
            if let Some(hex) = word.strip_prefix("nanf:") {
                return Some(Const::Float(f32::from_bits(u32::from_str_radix(hex, 16).ok()?)));
            }
            if let Some(hex) = word.strip_prefix("nand:") {
                return Some(Const::Double(f64::from_bits(u64::from_str_radix(hex, 16).ok()?)));
            }
            if let Some(id) = word.strip_prefix("portal:") {
                return Some(Const::Portal(PortalId(id.parse().ok()?)));
            }
            let number = word.trim_start_matches('-');
            if !number.starts_with(|c: char| c.is_ascii_digit()) && !number.starts_with("inf") {
                return None;
            }
            if let Some(f) = word.strip_suffix('f').filter(|w| *w != "in" && *w != "-in") {
                Const::Float(f.parse().ok()?)
            } else if let Some(d) = word.strip_suffix('d') {
                Const::Double(d.parse().ok()?)
            } else {
                Const::Int(word.parse().ok()?)
            }
        }
    })
}
