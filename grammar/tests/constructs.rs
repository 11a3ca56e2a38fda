//! Every construct of the language parses, and to what it should.

mod common;

use common::*;
use sluice_grammar::ast::*;

#[track_caller]
fn one(body: &str) -> StmtKind {
    let mut stmts = work(body);
    assert_eq!(stmts.len(), 1, "{body}: {stmts:#?}");
    stmts.remove(0).kind
}

#[track_caller]
fn in_composite(body: &str) -> Vec<Stmt> {
    let program = good(&in_pipeline(body));
    composite(stream(&program, "P")).to_vec()
}

#[test]
fn empty_file() {
    assert_eq!(good("").items, []);
    assert_eq!(good("  \n").items, []);
    assert_eq!(good(";;").items, []);
}

#[test]
fn imports() {
    let program = good("import \"a b.str\";\nimport \"c\\\\d.str\";");
    let paths: Vec<&str> = program
        .items
        .iter()
        .map(|item| match item {
            Item::Import { path, .. } => &**path,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(paths, ["a b.str", "c\\d.str"]);
    // Elsewhere `import` is a name.
    good(&in_work("int import = 3; import = import + 1; f.import(import);"));
}

#[test]
fn structs() {
    let program = good("struct Pair { float a, b; int[4] ks; Other[2] o; };");
    let Item::Struct(decl) = &program.items[0] else { panic!() };
    assert_eq!(&*decl.name.name, "Pair");
    let names: Vec<usize> = decl.fields.iter().map(|field| field.vars.len()).collect();
    assert_eq!(names, [2, 1, 1]);
    assert_eq!(decl.fields[1].ty.dims.len(), 1);
    assert!(matches!(&decl.fields[2].ty.base, BaseType::Named(name) if &*name.name == "Other"));
    good("struct Empty { }");
}

#[test]
fn static_native_and_helper() {
    let program = good(
        "static { int N = 4; float[N] t; init { t[0] = 1; } }
         static { }
         native Lib { float f(float x, int n); void g(); };
         helper Util { int twice(int x) { return 2 * x; } void fill(float[4] a) { a[0] = 1; } };",
    );
    let Item::Static(block) = &program.items[0] else { panic!() };
    assert_eq!((block.fields.len(), block.init.is_some()), (2, true));
    let Item::Native(group) = &program.items[2] else { panic!() };
    assert_eq!(group.functions.len(), 2);
    assert!(group.functions.iter().all(|function| function.body.is_none()));
    let Item::Helper(group) = &program.items[3] else { panic!() };
    assert!(group.functions.iter().all(|function| function.body.is_some()));
}

#[test]
fn stream_headers() {
    let program = good(
        "float->float filter A { work { } }
         float[N]->int[2][M] filter B(int N, int M, float[N] a) { work { } };
         void->void pipeline C() { }
         Pair->complex stateful filter D { work { } }
         bit->boolean splitjoin E { split duplicate; join roundrobin; }
         float3->double feedbackloop F(portal<A> p) { }",
    );
    assert_eq!(program.items.len(), 6);
    let b = stream(&program, "B");
    assert_eq!(b.params.len(), 3);
    assert_eq!(b.params[2].ty.dims.len(), 1);
    let (from, to) = b.io.as_ref().unwrap();
    assert_eq!((from.dims.len(), to.dims.len()), (1, 2));
    assert!(stream(&program, "D").stateful.is_some() && stream(&program, "A").stateful.is_none());
    assert_eq!(stream(&program, "E").kind, StreamKind::SplitJoin);
    assert!(matches!(stream(&program, "F").params[0].ty.base, BaseType::Portal(_)));
    assert_eq!(stream(&program, "C"), stream(&good("void->void pipeline C { }"), "C"));
}

#[test]
fn filter_members() {
    let program = good(
        "int->float filter F(int N) {
            float x = 0.0, y;
            float[N] h = {1, 2};
            Pair p;
            portal<G> out;
            ;
            init { x = 1; };
            prework push 2 pop N*2 { push(1); push(2); }
            work peek N pop 1 push 1 { push(pop()); };
            float f(float[N] a, int b) push 1 pop 2 { return a[b]; }
            void g() { }
            Pair h(Pair q) { return q; }
            handler set(float a) { x = a; }
            handler reset() { }
        }",
    );
    let kinds: String = members(stream(&program, "F"))
        .iter()
        .map(|member| match member {
            Member::Field(_) => 'f',
            Member::Init(_) => 'i',
            Member::Prework(_) => 'p',
            Member::Work(_) => 'w',
            Member::Function(_) => 'F',
            Member::Handler(_) => 'h',
        })
        .collect();
    assert_eq!(kinds, "ffffipwFFFhh");
    let Member::Function(f) = &members(stream(&program, "F"))[7] else { panic!() };
    assert_eq!(f.rates.len(), 2);
}

#[test]
fn rates() {
    let program = good(
        "int->int filter A { work push 1 pop 2 peek 3 { } prework { } }
         int->int filter B { work peek N + 1, pop 2*N, push f(3) { } }
         int->int filter C { work push * pop [1, 2] peek [*, 3, N + 1] { } }",
    );
    let rates = |name: &str| match &members(stream(&program, name))[0] {
        Member::Work(work) => work.rates.clone(),
        other => panic!("{other:?}"),
    };
    let kinds: Vec<RateKind> = rates("A").iter().map(|rate| rate.kind).collect();
    assert_eq!(kinds, [RateKind::Push, RateKind::Pop, RateKind::Peek]);
    assert!(rates("B").iter().all(|rate| matches!(rate.rate, Rate::Static(_))));
    let c = rates("C");
    assert_eq!(c[0].rate, Rate::Dynamic { min: None, avg: None, max: None });
    assert!(matches!(&c[1].rate, Rate::Dynamic { min: Some(_), avg: None, max: Some(_) }));
    assert!(matches!(&c[2].rate, Rate::Dynamic { min: None, avg: Some(_), max: Some(_) }));
}

#[test]
fn added_streams() {
    let stmts = in_composite(
        "add A; add A(); add A(1, x) to p, q[i]; add Identity<int[4]>; add FileReader<float>(\"in\"); add A({1, 2});",
    );
    for (stmt, expected) in stmts.iter().zip([(0, 0, 0), (0, 0, 0), (0, 2, 2), (1, 0, 0), (1, 1, 0), (0, 1, 0)]) {
        let StmtKind::Add { stream: StreamRef::Named { type_args, args, .. }, portals } = &stmt.kind else {
            panic!("{stmt:?}")
        };
        assert_eq!((type_args.len(), args.len(), portals.len()), expected);
    }
}

#[test]
fn anonymous_streams() {
    // With and without types, with and without a semicolon.
    let stmts = in_composite(
        "add float->float filter { work push 1 pop 1 { push(pop()); } }
         add pipeline { add A; };
         add splitjoin { split duplicate; add A; join roundrobin; }
         add filter { work { } };
         add float[n]->int[n][m] stateful filter { work { } } to p;
         add S[2]->S feedbackloop { body filter { work { } } loop pipeline { add A; }; };",
    );
    assert_eq!(stmts.len(), 6);
    assert!(stmts.iter().all(|stmt| matches!(&stmt.kind, StmtKind::Add { stream: StreamRef::Anonymous(_), .. })));
    let StmtKind::Add { stream: StreamRef::Anonymous(last), .. } = &stmts[5].kind else { panic!() };
    assert_eq!(composite(last).len(), 2);
    // The semicolon does not end an `if` too early.
    let stmts = in_composite("if (n > 1) add pipeline { add A; }; else add B;");
    assert!(matches!(&stmts[0].kind, StmtKind::If { els: Some(_), .. }));
    let stmts = in_composite("if (n > 1) add pipeline { add A; } else add filter { work { } } add C;");
    assert_eq!(stmts.len(), 2);
    // The second semicolon is a statement of its own.
    assert_eq!(in_composite("add pipeline { };;").len(), 2);
}

#[test]
fn splitters_and_joiners() {
    let stmts = in_composite(
        "split duplicate; split duplicate(); split roundrobin; split roundrobin(); split roundrobin(2); split roundrobin(1, n);
         join roundrobin(0); join duplicate;",
    );
    let weights: Vec<Option<usize>> = stmts
        .iter()
        .map(|stmt| match &stmt.kind {
            StmtKind::Split(SplitKind::Duplicate) | StmtKind::Join(SplitKind::Duplicate) => None,
            StmtKind::Split(SplitKind::RoundRobin(weights)) | StmtKind::Join(SplitKind::RoundRobin(weights)) => {
                Some(weights.len())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(weights, [None, None, Some(0), Some(0), Some(1), Some(2), Some(1), None]);
}

#[test]
fn feedback_loops() {
    let stmts = in_composite(
        "join roundrobin(1, 1); body A(3); loop B; loop Identity<float>; split roundrobin; enqueue 0; enqueue(1 + i);
         enqueue -1; enqueue x; enqueue {1, 2};",
    );
    assert!(matches!(&stmts[1].kind, StmtKind::Body { .. }));
    assert!(matches!(&stmts[2].kind, StmtKind::Loop { .. }));
    assert!(stmts[5..].iter().all(|stmt| matches!(&stmt.kind, StmtKind::Enqueue(_))));
}

#[test]
fn declarations() {
    for (body, dims, vars) in [
        ("int x;", 0, 1),
        ("float[3] a;", 1, 1),
        ("float[N][M] a, b = c, d = {{1}, {2}};", 2, 3),
        ("Pair p;", 0, 1),
        ("Pair[3][n + 1] p, q;", 2, 2),
        ("float3 v = float3(1, 2, 3);", 0, 1),
        ("complex c = 3 + 4i;", 0, 1),
        ("portal<F> p;", 0, 1),
        ("float2[4] w;", 1, 1),
        ("int[0] none = {};", 1, 1),
        ("int[2] trailing = {1, 2,};", 1, 1),
    ] {
        let StmtKind::Decl(decl) = one(body) else { panic!("{body}") };
        assert_eq!((decl.ty.dims.len(), decl.vars.len()), (dims, vars), "{body}");
    }
    // Dimensions stay in order.
    let StmtKind::Decl(decl) = one("Pair[1][2][3] p;") else { panic!() };
    let sizes: Vec<String> = decl.ty.dims.iter().map(sluice_grammar::print::print_expr).collect();
    assert_eq!(sizes, ["1", "2", "3"]);
}

#[test]
fn assignments() {
    for (sign, op) in [
        ("=", None),
        ("+=", Some(BinaryOp::Add)),
        ("-=", Some(BinaryOp::Sub)),
        ("*=", Some(BinaryOp::Mul)),
        ("/=", Some(BinaryOp::Div)),
        ("%=", Some(BinaryOp::Rem)),
        ("<<=", Some(BinaryOp::Shl)),
        (">>=", Some(BinaryOp::Shr)),
        ("&=", Some(BinaryOp::BitAnd)),
        ("|=", Some(BinaryOp::BitOr)),
        ("^=", Some(BinaryOp::BitXor)),
    ] {
        for target in ["x", "a[i]", "p.q", "a[1][2].b[i + 1]", "c.real"] {
            let StmtKind::Assign { op: found, .. } = one(&format!("{target} {sign} 3;")) else { panic!("{sign}") };
            assert_eq!(found, op);
        }
    }
    one("a = {1, 2, 3};");
    // A declaration and an assignment begin alike.
    assert!(matches!(one("a[3] = b;"), StmtKind::Assign { .. }));
    assert!(matches!(one("a[3] b;"), StmtKind::Decl(_)));
}

#[test]
fn expression_statements() {
    for body in
        ["f();", "f(1, x);", "Lib.f(x);", "x++;", "--x;", "a[i]--;", "pop();", "peek(0);", "iter();", "x;", "f({1});"]
    {
        assert!(matches!(one(body), StmtKind::Expr(_)), "{body}");
    }
    assert!(matches!(one("push(pop());"), StmtKind::Push(_)));
    assert!(matches!(one("push({1, 2});"), StmtKind::Push(_)));
    assert!(matches!(one(";"), StmtKind::Empty));
    assert!(matches!(one("{ }"), StmtKind::Block(_)));
    assert!(matches!(one("return;"), StmtKind::Return(None)));
    assert!(matches!(one("return x + 1;"), StmtKind::Return(Some(_))));
    assert!(matches!(one("break;"), StmtKind::Break));
    assert!(matches!(one("continue;"), StmtKind::Continue));
}

#[test]
fn conditionals() {
    assert!(matches!(one("if (a) x = 1;"), StmtKind::If { els: None, .. }));
    assert!(matches!(one("if (a) { } else { }"), StmtKind::If { els: Some(_), .. }));
    // `else` belongs to the nearest `if`.
    let StmtKind::If { then, els: None, .. } = one("if (a) if (b) x = 1; else x = 2;") else { panic!() };
    assert!(matches!(then.kind, StmtKind::If { els: Some(_), .. }));
    let StmtKind::If { then, els: None, .. } = one("if (a) while (c) for (;;) if (b) ; else ;") else { panic!() };
    assert!(matches!(then.kind, StmtKind::While { .. }));
    let StmtKind::If { els: Some(els), .. } = one("if (a) ; else if (b) ; else if (c) ;") else { panic!() };
    assert!(matches!(els.kind, StmtKind::If { els: Some(_), .. }));
    assert!(matches!(one("if (a) do x = 1; while (b); else x = 2;"), StmtKind::If { els: Some(_), .. }));
}

#[test]
fn loops() {
    let heads = [
        ("for (;;) ;", 0, false, 0),
        ("for (int i = 0; i < 3; i++) ;", 1, true, 1),
        ("for (int i = 0, j = 0; i < 3; i++, j--) { }", 1, true, 2),
        ("for (i = 0, j = 3; ; i += 2) { }", 2, false, 1),
        ("for (T x; a && b; f(x), push(x)) { }", 1, true, 2),
        ("for (; i < f(1, 2); ) { }", 0, true, 0),
    ];
    for (body, inits, has_cond, steps) in heads {
        let StmtKind::For { init, cond, step, .. } = one(body) else { panic!("{body}") };
        assert_eq!((init.len(), cond.is_some(), step.len()), (inits, has_cond, steps), "{body}");
    }
    assert!(matches!(one("while (i < 3) i++;"), StmtKind::While { .. }));
    assert!(matches!(one("do { i++; } while (i < 3);"), StmtKind::DoWhile { .. }));
    assert!(matches!(one("do i++; while (i < 3);"), StmtKind::DoWhile { .. }));
    assert!(matches!(one("do while (a) b(); while (c);"), StmtKind::DoWhile { .. }));
}

#[test]
fn switches() {
    let StmtKind::Switch { cases, .. } = one(
        "switch (i + 1) { case 1: x = 1; break; case -2: case N + 1: default: x = 3; y = 4; case 'c': { } case a ? b : c: }",
    ) else {
        panic!()
    };
    let shape: Vec<(usize, usize)> = cases.iter().map(|case| (case.labels.len(), case.body.len())).collect();
    assert_eq!(shape, [(1, 2), (3, 2), (1, 1), (1, 0)]);
    assert!(cases[1].labels[2].0.is_none());
    let StmtKind::Switch { cases, .. } = one("switch (i) { }") else { panic!() };
    assert!(cases.is_empty());
    assert!(matches!(one("switch (i) { default: }"), StmtKind::Switch { .. }));
}

#[test]
fn messages() {
    assert!(matches!(one("p.h(1, x);"), StmtKind::Expr(_)));
    assert!(matches!(one("p.h() [1:2];"), StmtKind::Send { latency: Latency::Range(..), .. }));
    assert!(matches!(one("p.h(1)[-3:-1];"), StmtKind::Send { latency: Latency::Range(..), .. }));
    assert!(matches!(one("ps[i].h(x) [*];"), StmtKind::Send { latency: Latency::BestEffort, .. }));
    let StmtKind::Send { handler, args, .. } = one("p.h(a, b, c) [n ? 1 : 2:N*2];") else { panic!() };
    assert_eq!((&*handler.name, args.len()), ("h", 3));
    // With an index instead of a latency it is an expression.
    assert!(matches!(one("p.h(1)[2];"), StmtKind::Expr(_)));
}

#[test]
fn expressions() {
    assert!(matches!(expr("pi").kind, ExprKind::Pi));
    assert!(matches!(expr("true").kind, ExprKind::Bool(true)));
    assert!(matches!(expr("pop()").kind, ExprKind::Pop));
    assert!(matches!(expr("peek(i + 1)").kind, ExprKind::Peek(_)));
    assert!(matches!(expr("iter()").kind, ExprKind::Iter));
    assert!(matches!(expr("f(g(x), h())").kind, ExprKind::Call { .. }));
    assert!(matches!(expr("Lib.f(x)").kind, ExprKind::Call { .. }));
    assert!(matches!(expr("((x))").kind, ExprKind::Paren(_)));
    assert!(matches!(expr("\"a\" + x").kind, ExprKind::Binary(BinaryOp::Add, ..)));
    for name in ["float2", "float3", "float4", "complex"] {
        let ExprKind::Call { callee, args } = expr(&format!("{name}(a, b)")).kind else { panic!("{name}") };
        assert!(matches!(&callee.kind, ExprKind::Var(var) if &*var.name == name));
        assert_eq!(args.len(), 2);
    }
    // In a composite body, too, where types and expressions begin alike.
    in_composite("float3 v = float3(1, 2, 3); v = float3(1, 2, 3) * v; x = (float3)v; x = (float3(1, 2, 3));");
    assert!(matches!(expr("float3(1, 2, 3).x").kind, ExprKind::Member(..)));
}

#[test]
fn contextual_names() {
    good(&in_work("int print = 1, println = 2, min = 3, max = 4, real = 5, imag = 6, x = 7, abs = 8; print(print);"));
    good("void->void filter real(int imag) { work { } } void->void pipeline import2 { }");
}

#[test]
fn spans_cover_what_they_should() {
    let text = "// c\nfloat->float filter F(int n) {\n  float x = 1;\n  work push 1 { push(a + b * c); }\n} ;";
    let program = good(text);
    let at = |at: At| &text[at.0.start as usize..at.0.end as usize];
    let f = stream(&program, "F");
    assert_eq!(at(f.header), "float->float filter F(int n)");
    assert!(at(f.at).starts_with("float->float") && at(f.at).ends_with('}'));
    let Member::Field(field) = &members(f)[0] else { panic!() };
    assert_eq!((at(field.at), at(field.ty.at)), ("float x = 1;", "float"));
    let Member::Work(work) = &members(f)[1] else { panic!() };
    assert_eq!((at(work.keyword), at(work.rates[0].at)), ("work", "push 1"));
    assert_eq!(at(work.body.at), "{ push(a + b * c); }");
    let push = &work.body.stmts[0];
    assert_eq!(at(push.at), "push(a + b * c);");
    let StmtKind::Push(e) = &push.kind else { panic!() };
    assert_eq!(at(e.at), "a + b * c");
    let ExprKind::Binary(_, _, right) = &e.kind else { panic!() };
    assert_eq!(at(right.at), "b * c");

    let text = in_pipeline("add A(1) to p; if (a) { x[1].y = -(int)z++; } add pipeline { };");
    let program = good(&text);
    let at = |at: At| &text[at.0.start as usize..at.0.end as usize];
    let stmts = composite(stream(&program, "P"));
    assert_eq!(at(stmts[0].at), "add A(1) to p;");
    let StmtKind::Add { stream: StreamRef::Named { at: named, .. }, .. } = &stmts[0].kind else { panic!() };
    assert_eq!(at(*named), "A(1)");
    assert_eq!(at(stmts[1].at), "if (a) { x[1].y = -(int)z++; }");
    let StmtKind::If { then, .. } = &stmts[1].kind else { panic!() };
    let StmtKind::Block(block) = &then.kind else { panic!() };
    assert_eq!(at(block.at), "{ x[1].y = -(int)z++; }");
    let StmtKind::Assign { target, value, .. } = &block.stmts[0].kind else { panic!() };
    assert_eq!((at(target.at), at(value.at)), ("x[1].y", "-(int)z++"));
    assert_eq!(at(stmts[2].at), "add pipeline { };");
}
