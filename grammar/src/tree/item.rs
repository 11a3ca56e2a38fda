//! Top-level declarations, streams and their members.

use super::{H, Head, State};
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::literal;
use std::sync::Arc;

impl<'s> State<'s> {
    pub fn import(&mut self, l: u32, path: &'s str, r: u32) -> Item {
        let end = self.span(l, r);
        let start = end.end - path.len() as u32;
        Item::Import { path: literal::string_value(path).into(), at: self.at(start, r) }
    }

    pub fn struct_decl(&mut self, l: u32, name: Ident, fields: Vec<VarDecl>, r: u32) -> Item {
        for field in &fields {
            for (name, value) in &field.vars {
                if let Some(value) = value {
                    let place = value.span();
                    let diagnostic =
                        Diagnostic::error("E0020", "a struct's field has no initialiser", place, "not allowed here")
                            .help(format!("`{}` starts as zero; assign to it where the struct is used", name.name));
                    self.diagnostics.push(diagnostic);
                }
            }
        }
        Item::Struct(StructDecl { name, fields, at: self.at(l, r) })
    }

    pub fn static_block(&mut self, l: u32, parts: (Vec<VarDecl>, Vec<H<Block>>), r: u32) -> Item {
        let (fields, inits) = parts;
        let mut inits = inits.into_iter().map(|init| init.v);
        let init = inits.next();
        for second in inits {
            let diagnostic = Diagnostic::error("E0020", "a static block has one `init`", second.at.0, "a second one")
                .help("join the two, or write a second static block");
            self.diagnostics.push(diagnostic);
        }
        Item::Static(StaticBlock { fields, init, at: self.at(l, r) })
    }

    #[allow(clippy::too_many_arguments)] // the parts of one production
    pub fn function(
        &mut self,
        l: u32,
        ret: H<Type>,
        name: Ident,
        params: H<Vec<Param>>,
        rates: H<Vec<RateSpec>>,
        body: Option<H<Block>>,
        r: u32,
    ) -> Box<H<FnDecl>> {
        let h = ret.h.max(params.h).max(rates.h).max(body.as_ref().map_or(0, |body| body.h));
        let body = body.map(|body| body.v);
        let at = self.at(l, r);
        Box::new(H { v: FnDecl { ret: ret.v, name, params: params.v, rates: rates.v, body, at }, h })
    }

    /// A native function with a body, which belongs into a helper group.
    pub fn native_with_body(
        &mut self,
        l: u32,
        ret: H<Type>,
        name: Ident,
        params: H<Vec<Param>>,
        body: H<Block>,
        r: u32,
    ) -> Box<H<FnDecl>> {
        let diagnostic = Diagnostic::error("E0020", "a native function has no body", body.v.at.0, "not allowed here")
            .label(name.span(), format!("`{}` comes from a C library", name.name))
            .help("end the declaration with `;`, or move the function into a `helper` group");
        self.diagnostics.push(diagnostic);
        self.function(l, ret, name, params, H::leaf(Vec::new()), None, r)
    }

    pub fn work(&mut self, l: u32, keyword_end: u32, rates: H<Vec<RateSpec>>, body: H<Block>) -> H<Work> {
        let at = self.at(l, body.v.at.0.end);
        let h = rates.h.max(body.h);
        H { v: Work { rates: rates.v, body: body.v, keyword: self.at(l, keyword_end), at }, h }
    }

    pub fn add_rate(
        &mut self,
        rates: H<Vec<RateSpec>>,
        l: u32,
        kind: RateKind,
        rate: H<Rate>,
        r: u32,
    ) -> H<Vec<RateSpec>> {
        let at = self.at(l, r);
        if let Some(first) = rates.v.iter().find(|first| first.kind == kind) {
            let word = match kind {
                RateKind::Peek => "peek",
                RateKind::Pop => "pop",
                RateKind::Push => "push",
            };
            let diagnostic =
                Diagnostic::error("E0016", format!("the {word} rate is given twice"), at.0, "given again here")
                    .label(first.at.0, "first given here");
            self.diagnostics.push(diagnostic);
            return rates;
        }
        rates.and(rate.map(|rate| RateSpec { kind, rate, at }))
    }

    pub fn dynamic(&mut self, min: H<Option<Expr>>, avg: H<Option<Expr>>, max: H<Option<Expr>>) -> Box<H<Rate>> {
        let h = min.h.max(avg.h).max(max.h);
        Box::new(H { v: Rate::Dynamic { min: min.v, avg: avg.v, max: max.v }, h })
    }

    pub fn stream_ref(
        &mut self,
        name: Ident,
        types: H<Vec<Type>>,
        args: Option<(H<Vec<Expr>>, u32)>,
        r: u32,
    ) -> Box<H<StreamRef>> {
        let at = self.at(name.span().start, r);
        let args = args.map_or(H::leaf(Vec::new()), |args| args.0);
        let h = types.h.max(args.h);
        Box::new(H { v: StreamRef::Named { name, type_args: types.v, args: args.v, at }, h })
    }

    fn stream(&mut self, head: Head, body: StreamBody, r: u32) -> Arc<StreamDecl> {
        let Head { io, stateful, kind, name, params, span, h: _ } = head;
        let at = self.at(span.start, r);
        Arc::new(StreamDecl { io, stateful, kind, name, params, body, header: At(span), at })
    }

    pub fn anonymous(&mut self, head: Box<Head>, body: H<StreamBody>, r: u32) -> Box<H<StreamRef>> {
        if let Some(name) = &head.name {
            let diagnostic = Diagnostic::error(
                "E0019",
                "a stream declared inside another has no name",
                name.span(),
                "only top-level streams have names",
            )
            .help(format!("leave the name out, or declare `{}` at top level and add it by name", name.name));
            self.diagnostics.push(diagnostic);
        }
        let h = head.h.max(body.h) + 1;
        if self.is_too_high(h + 1, head.span) {
            let body = match body.v {
                StreamBody::Filter(_) => StreamBody::Filter(Vec::new()),
                StreamBody::Composite(_) => StreamBody::Composite(Block::default()),
            };
            let head = Head { io: None, params: Vec::new(), ..*head };
            return Box::new(H { v: StreamRef::Anonymous(self.stream(head, body, r)), h: 1 });
        }
        Box::new(H { v: StreamRef::Anonymous(self.stream(*head, body.v, r)), h })
    }

    pub fn anonymous_composite(&mut self, head: Box<Head>, l: u32, body: H<Block>) -> Box<H<StreamRef>> {
        let (head, body, r) = Self::composite_body(head, l, body);
        self.anonymous(head, body, r)
    }

    fn composite_body(head: Box<Head>, l: u32, mut body: H<Block>) -> (Box<Head>, H<StreamBody>, u32) {
        body.v.at.0.start = l;
        let r = body.v.at.0.end;
        (head, body.map(StreamBody::Composite), r)
    }

    /// A stream at top level. That it has a name is for the checker to say: the tree can tell.
    pub fn top_stream(&mut self, head: Box<Head>, body: H<StreamBody>, r: u32) -> Arc<StreamDecl> {
        if head.name.is_some() && head.io.is_none() {
            let word = head.kind.keyword();
            let title = format!("this {word} does not say its types");
            let diagnostic = Diagnostic::error("E0019", title, head.span, "its input and output types are missing").help(
                format!("such as `float->float {word}` or, without input and output, `void->void {word}`; only anonymous streams may leave them out"),
            );
            self.diagnostics.push(diagnostic);
        }
        self.stream(*head, body.v, r)
    }

    pub fn top_composite(&mut self, head: Box<Head>, l: u32, body: H<Block>) -> Arc<StreamDecl> {
        let (head, body, r) = Self::composite_body(head, l, body);
        self.top_stream(head, body, r)
    }

    #[allow(clippy::too_many_arguments)] // the parts of one production
    pub fn head(
        &mut self,
        l: u32,
        io: Option<Box<H<(Type, Type)>>>,
        stateful: Option<At>,
        kind: StreamKind,
        name: Option<Ident>,
        params: Option<H<Vec<Param>>>,
        r: u32,
    ) -> Box<Head> {
        let params = params.unwrap_or(H::leaf(Vec::new()));
        let h = params.h.max(io.as_ref().map_or(0, |io| io.h));
        Box::new(Head { io: io.map(|io| io.v), stateful, kind, name, params: params.v, span: self.span(l, r), h })
    }
}
