//! From tree to text, in one canonical style; comments are no part of the tree and are not printed.
//!
//! For a tree that was parsed without errors, `parse(print(p)) == p`. Trees made by programs need not hold parentheses: the
//! printer puts them where the grammar needs them. Literals are printed as written, or by value where nothing was written.

use crate::ast::*;

mod expr;
mod stmt;

use expr::TERNARY;

/// A whole file.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::default();
    for (i, item) in program.items.iter().enumerate() {
        // Imports stay together, all else gets air.
        let together = |item: Option<&Item>| matches!(item, Some(Item::Import { .. }));
        if i > 0 && !(together(Some(item)) && together(program.items.get(i - 1))) {
            printer.out.push('\n');
        }
        printer.item(item);
    }
    printer.out
}

/// An expression on one line, as far as its array literals fit.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expr(expr, TERNARY);
    printer.out
}

/// A type.
pub fn print_type(ty: &Type) -> String {
    let mut printer = Printer::default();
    printer.ty(ty);
    printer.out
}

/// A statement, with a line end.
pub fn print_stmt(stmt: &Stmt) -> String {
    let mut printer = Printer::default();
    printer.stmt(stmt, false);
    printer.out
}

/// The head of a stream, such as `float->float filter Fir(int N)`.
pub fn print_header(stream: &StreamDecl) -> String {
    let mut printer = Printer::default();
    printer.header(stream);
    printer.out
}

/// The head of a function, such as `float f(int x) push 1`.
pub fn print_signature(function: &FnDecl) -> String {
    let mut printer = Printer::default();
    printer.signature(function);
    printer.out
}

#[derive(Default)]
struct Printer {
    out: String,
    depth: usize,
    /// Array literals stay on one line, however long.
    flat: bool,
}

impl Printer {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
    }

    /// `open`, what `inside` prints one level deeper, a closing brace.
    fn braces(&mut self, empty: bool, inside: impl FnOnce(&mut Printer)) {
        if empty {
            return self.text("{ }");
        }
        self.text("{\n");
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.indent();
        self.text("}");
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Printer, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            each(self, item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Import { path, .. } => {
                self.text("import ");
                self.quoted(path);
                self.text(";");
            }
            Item::Struct(decl) => {
                self.text("struct ");
                self.text(&decl.name.name);
                self.text(" ");
                self.braces(decl.fields.is_empty(), |p| decl.fields.iter().for_each(|field| p.field(field)));
            }
            Item::Stream(stream) => self.stream(stream),
            Item::Static(block) => {
                self.text("static ");
                self.braces(block.fields.is_empty() && block.init.is_none(), |p| {
                    block.fields.iter().for_each(|field| p.field(field));
                    if let Some(init) = &block.init {
                        p.indent();
                        p.text("init ");
                        p.block(init);
                        p.text("\n");
                    }
                });
            }
            Item::Native(group) => self.group("native ", group),
            Item::Helper(group) => self.group("helper ", group),
        }
        self.text("\n");
    }

    fn group(&mut self, keyword: &str, group: &FunctionGroup) {
        self.text(keyword);
        self.text(&group.name.name);
        self.text(" ");
        self.braces(group.functions.is_empty(), |p| {
            for (i, function) in group.functions.iter().enumerate() {
                if i > 0 && function.body.is_some() {
                    p.text("\n");
                }
                p.function(function);
            }
        });
    }

    fn field(&mut self, decl: &VarDecl) {
        self.indent();
        self.var_decl(decl);
        self.text(";\n");
    }

    fn function(&mut self, function: &FnDecl) {
        self.indent();
        self.signature(function);
        match &function.body {
            Some(body) => {
                self.text(" ");
                self.block(body);
            }
            None => self.text(";"),
        }
        self.text("\n");
    }

    fn signature(&mut self, function: &FnDecl) {
        self.ty(&function.ret);
        self.text(" ");
        self.text(&function.name.name);
        self.params(&function.params);
        self.rates(&function.rates);
    }

    fn params(&mut self, params: &[Param]) {
        self.text("(");
        self.list(params, |p, param| {
            p.ty(&param.ty);
            p.text(" ");
            p.text(&param.name.name);
        });
        self.text(")");
    }

    fn rates(&mut self, rates: &[RateSpec]) {
        for rate in rates {
            self.text(match rate.kind {
                RateKind::Peek => " peek ",
                RateKind::Pop => " pop ",
                RateKind::Push => " push ",
            });
            match &rate.rate {
                Rate::Static(e) => self.expr(e, TERNARY),
                Rate::Dynamic { min: None, avg: None, max: None } => self.text("*"),
                Rate::Dynamic { min, avg, max } => {
                    let bounds = match avg {
                        None => vec![min, max],
                        Some(_) => vec![min, avg, max],
                    };
                    self.text("[");
                    self.list(&bounds, |p, bound| match bound {
                        Some(e) => p.expr(e, TERNARY),
                        None => p.text("*"),
                    });
                    self.text("]");
                }
            }
        }
    }

    fn header(&mut self, stream: &StreamDecl) {
        if let Some((from, to)) = &stream.io {
            self.ty(from);
            self.text("->");
            self.ty(to);
            self.text(" ");
        }
        if stream.stateful.is_some() {
            self.text("stateful ");
        }
        self.text(stream.kind.keyword());
        if let Some(name) = &stream.name {
            self.text(" ");
            self.text(&name.name);
        }
        if !stream.params.is_empty() {
            self.params(&stream.params);
        }
    }

    fn stream(&mut self, stream: &StreamDecl) {
        self.header(stream);
        self.text(" ");
        match &stream.body {
            StreamBody::Composite(block) => self.block(block),
            StreamBody::Filter(members) => self.braces(members.is_empty(), |p| {
                let mut after_field = true;
                for (i, member) in members.iter().enumerate() {
                    let is_field = matches!(member, Member::Field(_));
                    if i > 0 && !(is_field && after_field) {
                        p.text("\n");
                    }
                    p.member(member);
                    after_field = is_field;
                }
            }),
        }
    }

    fn member(&mut self, member: &Member) {
        match member {
            Member::Field(decl) => return self.field(decl),
            Member::Function(function) => return self.function(function),
            Member::Init(block) => {
                self.indent();
                self.text("init ");
                self.block(block);
            }
            Member::Prework(work) => {
                self.indent();
                self.text("prework");
                self.work(work);
            }
            Member::Work(work) => {
                self.indent();
                self.text("work");
                self.work(work);
            }
            Member::Handler(handler) => {
                self.indent();
                self.text("handler ");
                self.text(&handler.name.name);
                self.params(&handler.params);
                if let Some(body) = &handler.body {
                    self.text(" ");
                    self.block(body);
                }
            }
        }
        self.text("\n");
    }

    fn work(&mut self, work: &Work) {
        self.rates(&work.rates);
        self.text(" ");
        self.block(&work.body);
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.base {
            BaseType::Void => self.text("void"),
            BaseType::Bit => self.text("bit"),
            BaseType::Boolean => self.text("boolean"),
            BaseType::Int => self.text("int"),
            BaseType::Float => self.text("float"),
            BaseType::Double => self.text("double"),
            BaseType::Complex => self.text("complex"),
            BaseType::Float2 => self.text("float2"),
            BaseType::Float3 => self.text("float3"),
            BaseType::Float4 => self.text("float4"),
            BaseType::Portal(name) => {
                self.text("portal<");
                self.text(&name.name);
                self.text(">");
            }
            BaseType::Named(name) => self.text(&name.name),
            BaseType::Error => self.text("?"),
        }
        for size in &ty.dims {
            self.text("[");
            self.expr(size, TERNARY);
            self.text("]");
        }
    }

    fn var_decl(&mut self, decl: &VarDecl) {
        self.ty(&decl.ty);
        self.text(" ");
        self.list(&decl.vars, |p, (name, value)| {
            p.text(&name.name);
            if let Some(value) = value {
                p.text(" = ");
                p.expr(value, TERNARY);
            }
        });
    }
}
