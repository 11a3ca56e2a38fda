//! Declarations: items, streams and their members.

use super::body::{Inside, MOST_ON_A_LINE, is_simple};
use super::document::Op;
use super::stmt::HEAD;
use super::writer::{Empty, Writer};
use crate::ast::*;
use crate::token::Token;

impl Writer<'_> {
    /// A whole file. Between declarations is an empty line, but not between imports; between two that take one line each only
    /// where there was one.
    pub fn program(&mut self, program: &Program) {
        let mut above = None;
        self.end_line(Empty::Keep);
        for item in &program.items {
            self.drop_top_semicolons();
            self.settle();
            let start = self.document.ops.len();
            self.item(item);
            let import = matches!(item, Item::Import { .. });
            let short = self.document.fits_on_line(start, &self.pieces);
            if above.is_some_and(|above| above != (import, true) || !short)
                && let Some(end) = self.item_end.filter(|_| !self.item_air)
                && let Op::End { empty_line, .. } = &mut self.document.ops[end]
            {
                *empty_line = true;
            }
            above = Some((import, short));
            self.end_line(Empty::Item);
            self.item_end = None;
            self.item_air = false;
        }
        self.drop_top_semicolons();
        self.end_line(Empty::Keep);
        self.comments();
    }

    fn drop_top_semicolons(&mut self) {
        while self.next() == Some(Token::SemiTop) {
            self.drop_token();
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Import { .. } => {
                self.token(Token::Import);
                self.space();
                self.any_token();
                self.token(Token::SemiTop);
            }
            Item::Struct(decl) => {
                self.keyword_and_name(Token::Struct);
                self.space();
                self.body(Inside::Members, decl.fields.len() <= MOST_ON_A_LINE, &decl.fields, Writer::field);
            }
            Item::Stream(stream) => self.stream(stream),
            Item::Static(block) => {
                self.token(Token::Static);
                self.space();
                self.static_parts(block);
            }
            Item::Native(group) => self.group(Token::Native, group),
            Item::Helper(group) => self.group(Token::Helper, group),
        }
    }

    fn keyword_and_name(&mut self, keyword: Token) {
        self.token(keyword);
        self.space();
        self.any_token();
    }

    fn group(&mut self, keyword: Token, group: &FunctionGroup) {
        self.keyword_and_name(keyword);
        self.space();
        let bodies: Vec<&Block> = group.functions.iter().filter_map(|function| function.body.as_ref()).collect();
        let simple = is_simple_body(group.functions.len() - bodies.len(), &bodies);
        self.body(Inside::Members, simple, &group.functions, Writer::function);
    }

    fn static_parts(&mut self, block: &StaticBlock) {
        enum Part<'b> {
            Field(&'b VarDecl),
            Init(&'b Block),
        }
        let mut parts: Vec<(u32, Part)> =
            block.fields.iter().map(|field| (field.at.0.start, Part::Field(field))).collect();
        parts.extend(block.init.iter().map(|init| (init.at.0.start, Part::Init(init))));
        parts.sort_by_key(|(start, _)| *start);
        let inits: Vec<&Block> = block.init.iter().collect();
        let simple = is_simple_body(block.fields.len(), &inits);
        self.body(Inside::Members, simple, &parts, |w, (_, part)| match part {
            Part::Field(field) => w.field(field),
            Part::Init(init) => w.init(init),
        });
    }

    fn field(&mut self, decl: &VarDecl) {
        self.var_decl(decl);
        self.token(Token::Semi);
    }

    fn init(&mut self, block: &Block) {
        self.token(Token::Init);
        self.space();
        self.block(block);
    }

    fn function(&mut self, function: &FnDecl) {
        self.ty(&function.ret);
        self.space();
        self.any_token();
        self.params(&function.params);
        self.rates(&function.rates);
        match &function.body {
            Some(body) => {
                self.space();
                self.block(body);
            }
            None => self.token(Token::Semi),
        }
    }

    fn params(&mut self, params: &[Param]) {
        self.token(Token::LParen);
        let param = |w: &mut Self, param: &Param| {
            w.ty(&param.ty);
            w.space();
            w.any_token();
        };
        self.push_line(HEAD);
        self.list(params, param);
        self.comments();
        self.pop();
        self.token(Token::RParen);
    }

    fn rates(&mut self, rates: &[RateSpec]) {
        self.push_line(HEAD);
        for rate in rates {
            let stretch = self.fill_break();
            self.any_token();
            self.space();
            match &rate.rate {
                Rate::Static(e) => self.expr(e),
                Rate::Dynamic { .. } if self.next() == Some(Token::Star) => self.any_token(),
                Rate::Dynamic { min, avg, max } => {
                    self.token(Token::LBracket);
                    self.inside(|w| w.bounds(min, avg, max), Token::RBracket);
                }
            }
            self.document.end(stretch);
            if self.next() == Some(Token::Comma) {
                self.drop_token();
            }
        }
        self.pop();
    }

    fn bounds(&mut self, min: &Option<Expr>, avg: &Option<Expr>, max: &Option<Expr>) {
        self.bound(min);
        self.token(Token::Comma);
        self.space();
        // The tree does not tell `[1, *, 3]` from `[1, 3]`.
        if avg.is_some() || self.next() == Some(Token::Star) && self.ahead(1) == Some(Token::Comma) {
            self.bound(avg);
            self.token(Token::Comma);
            self.space();
        }
        self.bound(max);
    }

    fn bound(&mut self, bound: &Option<Expr>) {
        match bound {
            Some(e) => self.expr(e),
            None => self.token(Token::Star),
        }
    }

    /// `IN->OUT stateful filter Name(params)` and the body.
    pub fn stream(&mut self, stream: &StreamDecl) {
        if let Some((from, to)) = &stream.io {
            self.ty(from);
            self.token(Token::Arrow);
            self.ty(to);
            self.space();
        }
        if stream.stateful.is_some() {
            self.token(Token::Stateful);
            self.space();
        }
        self.any_token();
        if stream.name.is_some() {
            self.space();
            self.any_token();
        }
        if self.next() == Some(Token::LParen) {
            self.params(&stream.params);
        }
        self.space();
        match &stream.body {
            StreamBody::Composite(block) => self.block(block),
            StreamBody::Filter(members) => {
                let bodies: Vec<&Block> = members.iter().filter_map(body_of_member).collect();
                let simple = is_simple_body(members.len() - bodies.len(), &bodies);
                self.body(Inside::Members, simple, members, Writer::member);
            }
        }
    }

    fn member(&mut self, member: &Member) {
        match member {
            Member::Field(decl) => self.field(decl),
            Member::Init(block) => self.init(block),
            Member::Prework(work) | Member::Work(work) => {
                self.any_token();
                self.rates(&work.rates);
                self.space();
                self.block(&work.body);
            }
            Member::Function(function) => self.function(function),
            Member::Handler(handler) => {
                self.keyword_and_name(Token::Handler);
                self.params(&handler.params);
                if let Some(body) = &handler.body {
                    self.space();
                    self.block(body);
                }
            }
        }
    }
}

fn body_of_member(member: &Member) -> Option<&Block> {
    match member {
        Member::Field(_) => None,
        Member::Init(block) => Some(block),
        Member::Prework(work) | Member::Work(work) => Some(&work.body),
        Member::Function(function) | Member::Handler(function) => function.body.as_ref(),
    }
}

/// May so many fields and these bodies stand on one line?
fn is_simple_body(fields: usize, bodies: &[&Block]) -> bool {
    let statements: usize = bodies.iter().map(|body| body.stmts.len()).sum();
    bodies.len() <= 1 && bodies.iter().all(|body| is_simple(&body.stmts)) && fields + statements <= MOST_ON_A_LINE
}
