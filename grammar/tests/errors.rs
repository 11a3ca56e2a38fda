//! What is told of faulty programs, where it points, and what survives in the tree.

mod common;

use common::*;
use sluice_grammar::ast::*;
use sluice_grammar::codes::CODES;
use sluice_grammar::diagnostic::Severity;

/// The text under the main label of the only diagnostic of this code.
#[track_caller]
fn marked<'t>(text: &'t str, code: &str) -> &'t str {
    let diagnostic = only(text);
    assert_eq!(diagnostic.code, code, "{text}\n{diagnostic:#?}");
    &text[diagnostic.span().start as usize..diagnostic.span().end as usize]
}

/// One sample for each code; the larger file is for the codes that need one.
fn samples() -> Vec<(&'static str, String)> {
    vec![
        ("E0001", in_work("x = 3 @;")),
        ("E0002", "/* open".into()),
        ("E0003", in_work("print(\"open\n);")),
        ("E0004", in_work(r#"print("\q");"#)),
        ("E0005", in_work("x = 1.;")),
        ("E0006", in_work("x = 99999999999;")),
        ("E0007", in_work("x = '';")),
        ("E0008", in_work("x = ;")),
        ("E0009", in_work("x = 3\n y = 4;")),
        ("E0010", in_work("x = f(3;")),
        ("E0011", in_work("int loop = 3;")),
        ("E0012", in_work("float a[3];")),
        ("E0013", in_work("if (a = b) x = 3;")),
        ("E0014", in_work(&format!("x = {}1{};", "(".repeat(300), ")".repeat(300)))),
        ("E0015", in_work("f(x) [1:2];")),
        ("E0016", "int->int filter F { work push 1 push 2 { } }".into()),
        ("E0017", in_work("else x = 3;")),
        ("E0018", in_work("x = int(y);")),
        ("E0019", "filter F { work { } }".into()),
        ("E0020", "native N { int f() { } }".into()),
        ("E0021", in_work("case 3: x = 4;")),
        ("E0029", in_work(&"x = ;".repeat(60))),
    ]
}

#[test]
fn every_code_has_a_sample() {
    let samples = samples();
    for (code, text) in &samples {
        let found = codes(text);
        assert!(found.contains(code), "{code}: {text}\n{found:?}");
        assert!(*code == "E0029" || found.len() == 1, "{code}: {text}\n{found:?}");
    }
    for (code, title) in CODES {
        // A file too large for the compiler is too large for a test.
        assert!(*code == "E0022" || samples.iter().any(|(sample, _)| sample == code), "{code} has no sample");
        assert!(!title.is_empty());
    }
    assert!(CODES.is_sorted());
}

#[test]
fn three_errors_and_everything_else_survives() {
    let text = "
float->float filter A(int n) {
    float[n] h;
    work push 1 pop 1 {
        x = 3 + ;
        y = f(1 2);
        push(pop());
    }
}
float->float filter B {
    float broken broken;
    init { }
    work push 1 pop 1 { push(pop()); }
}
void->void pipeline Main { add A(3); add B; }
";
    let (program, diagnostics) = parse(text);
    let found: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(found, ["E0008", "E0008", "E0009"], "{diagnostics:#?}");
    assert_eq!(program.items.len(), 3);
    let a = stream(&program, "A");
    assert_eq!(members(a).len(), 2);
    let stmts = work_of(a);
    assert_eq!(stmts.len(), 3);
    assert!(matches!(stmts[0].kind, StmtKind::Error));
    assert!(matches!(&stmts[1].kind, StmtKind::Assign { .. }));
    assert!(matches!(&stmts[2].kind, StmtKind::Push(_)));
    assert_eq!(members(stream(&program, "B")).len(), 3);
    assert_eq!(composite(stream(&program, "Main")).len(), 2);
}

#[test]
fn errors_at_every_level() {
    let text = "
import \"a.str\"
float->float filtr A(int n) { work push 1 { push(1); } }
struct S { int x y; float z; }
static { int N = ; int M = 3; }
native L { float f(float); int g(int x); }
helper H { int f(int x) { return ; + } int g() { return 3; } }
float->float filter B(int n m, int k) { work push { push(1); } init { x = (3; } }
void->void pipeline Main { add A(; add B(1); }
";
    let (program, diagnostics) = parse(text);
    assert!(diagnostics.len() >= 9, "{diagnostics:#?}");
    for line in 1..9 {
        let (start, end) = text
            .match_indices('\n')
            .map(|(at, _)| at)
            .zip(text.match_indices('\n').skip(1).map(|(at, _)| at))
            .nth(line - 1)
            .unwrap();
        let on_line = |diagnostic: &sluice_grammar::diagnostic::Diagnostic| {
            (start..=end).contains(&(diagnostic.span().start as usize))
        };
        assert!(diagnostics.iter().any(on_line), "nothing on line {line}: {diagnostics:#?}");
    }
    // Only the filter whose keyword is misspelt is lost.
    assert_eq!(program.items.len(), 7);
    let Item::Struct(decl) = &program.items[1] else { panic!() };
    assert_eq!(decl.fields.len(), 2);
    let Item::Static(block) = &program.items[2] else { panic!() };
    assert_eq!(block.fields.len(), 1);
    let Item::Helper(group) = &program.items[4] else { panic!() };
    assert_eq!(group.functions.len(), 2);
    assert_eq!(members(stream(&program, "B")).len(), 2);
    assert_eq!(composite(stream(&program, "Main")).len(), 2);
}

#[test]
fn missing_semicolons() {
    for (body, before) in [
        ("x = 3\n y = 4;", "x = 3"),
        ("int x = 3\n int y;", "int x = 3"),
        ("x = 3", "x = 3"),
        ("if (a) x = 3\n else x = 4;", "x = 3"),
        ("push(pop())\n push(1);", "push(pop())"),
        ("f(x)\n y = 3;", "f(x)"),
        ("x++\n while (a) { }", "x++"),
        ("return\n }", "return"),
    ] {
        let text = in_work(body);
        let diagnostic = parse(&text).1.remove(0);
        assert_eq!(diagnostic.code, "E0009", "{body}");
        let end = diagnostic.span().start as usize;
        assert_eq!(diagnostic.span().start, diagnostic.span().end);
        assert!(text[..end].ends_with(before), "{body}: {}", &text[..end]);
        if !body.contains("return") {
            assert!(codes(&mend(&text, &diagnostic)).is_empty(), "{body}");
        }
    }
    assert_eq!(codes(&in_pipeline("add A\n add B(3) to p\n add pipeline { }")), ["E0009", "E0009"]);
    assert_eq!(codes("import \"a.str\"\nvoid->void pipeline P { }"), ["E0009"]);
    assert_eq!(codes("void->void filter F { float x\n float y\n work { } }"), ["E0009", "E0009"]);
    let found = work_of(stream(&parse(&in_work("f(x) y = 3, z = 4;")).0, "F")).len();
    assert_eq!(found, 3);
}

#[test]
fn unbalanced_brackets() {
    assert_eq!(marked(&in_work("x = f(3;"), "E0010"), "(");
    assert_eq!(marked(&in_work("x = a[3;"), "E0010"), "[");
    assert_eq!(marked(&in_work("if (a > 3 { x = 4; }"), "E0010"), "(");
    assert_eq!(marked(&in_work("for (i = 0; i < f(3; i++) { x = 4; }"), "E0010"), "(");
    assert_eq!(marked(&in_work("x = 3);"), "E0010"), ")");
    assert_eq!(marked(&in_work("x = a[3);"), "E0010"), ")");
    assert_eq!(marked(&in_work("int[2] a = {1, 2;"), "E0010"), "{");
    assert_eq!(marked("void->void filter F { work { } } }", "E0010"), "}");
    for body in ["x = f(3;", "x = a[3;", "if (a > 3 { x = 4; }", "x = 3);", "x = a[3);", "int[2] a = {1, 2;"] {
        let text = in_work(body);
        assert!(codes(&mend(&text, &only(&text))).is_empty(), "{body}: {}", mend(&text, &only(&text)));
    }
}

#[test]
fn a_missing_brace_keeps_the_next_declaration() {
    let text = "
void->void filter A {
    work {
        if (x) {
            y = 3;
    }
}
float[3]->float stateful filter B { work { } }
struct S { int x; }
void->void pipeline P { add A; add B; }
";
    let (program, diagnostics) = parse(text);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
    let diagnostic = &diagnostics[0];
    assert_eq!(diagnostic.code, "E0010");
    // The indentation tells which brace it is; the other places are told, too.
    assert_eq!(diagnostic.span().start as usize, text.find("if (x) {").unwrap() + 7);
    assert_eq!(diagnostic.labels.len(), 3);
    assert_eq!(program.items.len(), 4);
    assert_eq!(work_of(stream(&program, "A")).len(), 1);

    let (program, diagnostics) = parse("void->void pipeline P { add A; add B(");
    assert_eq!(program.items.len(), 1);
    assert!(diagnostics.iter().all(|diagnostic| diagnostic.code == "E0010"), "{diagnostics:#?}");
}

#[test]
fn keywords_as_names() {
    // Told once for each keyword, however often it is used.
    let text = in_work("int loop = 3; loop = loop + body; int body; x.init = 4;");
    let found = codes(&text);
    assert_eq!(found, ["E0011"; 3], "{:#?}", parse(&text).1);
    assert_eq!(marked("void->void filter init { work { } }", "E0011"), "init");
    assert_eq!(marked("void->void filter F(int to) { work { } }", "E0011"), "to");
    assert_eq!(marked("void->void filter F { int work(int x) { return x; } }", "E0011"), "work");
    assert_eq!(marked("struct add { int x; }", "E0011"), "add");
    for (name, rest) in [("portal", "portal++; x = portal * 2;"), ("float", ""), ("int", "")] {
        let text = in_work(&format!("int {name} = 3, y; {rest}"));
        assert_eq!((codes(&text), marked(&text, "E0011")), (vec!["E0011"], name), "{:#?}", parse(&text).1);
    }
    // Where they belong they are no names.
    good("void->void pipeline F(portal<A> p) { portal<B> q; portal<B>[2] r; add A((int) x, (float) 1); }");
    good("void->void feedbackloop F { body A; loop B; enqueue -1; enqueue ++x; join roundrobin; split duplicate; }");
}

#[test]
fn array_dimensions_behind_the_name() {
    let text = in_work("float a[3][N];");
    let diagnostic = only(&text);
    assert!(diagnostic.title.contains("float[3][N] a"), "{}", diagnostic.title);
    assert_eq!(mend(&text, &diagnostic), in_work("float[3][N] a;"));
    assert_eq!(parse(&text).0, good(&in_work("float[3][N] a;")));
    // As in C, what is behind the name is outermost.
    let text = in_work("float[2] a[3] = b;");
    assert_eq!(parse(&text).0, good(&in_work("float[3][2] a = b;")));
    assert_eq!(mend(&text, &only(&text)), in_work("float[3][2] a = b;"));
    let text = in_work("Pair p[3];");
    assert_eq!(parse(&text).0, good(&in_work("Pair[3] p;")));
    let text = "void->void filter F(float a[N]) { work { } }";
    assert_eq!(parse(text).0, good("void->void filter F(float[N] a) { work { } }"));
    // Names of one type but different dimensions become several declarations.
    let text = "void->void filter F { int a, b[3], c[3], d = 4; work { int a, b[3]; } }";
    let split = "void->void filter F { int a; int[3] b, c; int d = 4; work { int a; int[3] b; } }";
    assert_eq!(parse(text).0, good(split));
    assert_eq!(codes(text), ["E0012"; 3]);
}

#[test]
fn assignments_as_values() {
    let text = in_work("if (a = b) x = 3;");
    assert_eq!(marked(&text, "E0013"), "=");
    assert_eq!(mend(&text, &only(&text)), in_work("if (a == b) x = 3;"));
    for body in
        ["while ((c = f()) > 3) ;", "x = y = 3;", "int x = y = 3;", "f(a = 3);", "return a = 3;", "while (a += 3) ;"]
    {
        assert_eq!(codes(&in_work(body)), ["E0013"], "{body}");
    }
}

#[test]
fn nonsense_operators() {
    for (body, shown) in [("x &&= y;", "&&="), ("x = a === b;", "==="), ("x = a !== b;", "!=="), ("x ||= y;", "||=")] {
        let text = in_work(body);
        assert_eq!(marked(&text, "E0008"), shown, "{body}");
    }
    assert_eq!(mend(&in_work("x = a === b;"), &only(&in_work("x = a === b;"))), in_work("x = a == b;"));
}

#[test]
fn else_without_if() {
    assert_eq!(marked(&in_work("x = 3; else x = 4;"), "E0017"), "else");
    assert_eq!(marked(&in_work("if (a) x = 3; y = 4; else { x = 4; }"), "E0017"), "else");
    // The fault is in the head here, not the `else`.
    assert_eq!(codes(&in_work("if x > 3 { y = 4; } else { y = 5; }")), ["E0008"]);
}

#[test]
fn latencies() {
    assert_eq!(marked(&in_work("f(x) [1:2];"), "E0015"), "[1:2]");
    assert_eq!(marked(&in_work("p.h [*];"), "E0015"), "[*]");
    assert_eq!(marked(&in_work("x = p.h(1) [1:2];"), "E0015"), ":");
    assert_eq!(marked(&in_work("x = a[*];"), "E0015"), "*");
}

#[test]
fn rates() {
    assert_eq!(codes("int->int filter F { work push 1 pop 1 push 2 { } }"), ["E0016"]);
    let (program, diagnostics) = parse("int->int filter F { work push pop 1 { push(1); } }");
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, "E0016");
    assert_eq!(work_of(stream(&program, "F")).len(), 1);
    let (program, diagnostics) = parse("int->int filter F { work push { push(1); } }");
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(work_of(stream(&program, "F")).len(), 1);
}

#[test]
fn wrong_places() {
    for (text, shown) in [
        ("void->void pipeline P { work { } add A; }", "work"),
        ("void->void filter F { add A; work { } }", "add"),
        ("void->void filter F { x = 3; for (;;) { } work { } }", ""),
        ("void->void filter F { for (;;) { } work { } }", "for"),
        ("void->void pipeline P { struct S { int x; } add A; }", ""),
        ("void->void pipeline P { pipeline { add A; } add B; }", "pipeline"),
        ("void->void filter F { work { case 1: x = 2; } }", "case"),
        ("work { }", "work"),
        ("static { for (;;) { } int x; }", "for"),
    ] {
        let (_, diagnostics) = parse(text);
        assert!(!diagnostics.is_empty(), "{text}");
        if !shown.is_empty() {
            assert_eq!(marked(text, "E0021"), shown, "{text}");
        }
    }
    assert_eq!(codes(&in_work("switch (x) { y = 3; case 1: break; }")), ["E0008"]);
}

#[test]
fn misspelt_keywords() {
    let text = "float->float filtr F { work { } }\nvoid->void pipeline P { add F; }";
    let diagnostic = only(text);
    assert!(diagnostic.help.as_ref().unwrap().contains("`filter`"));
    assert!(codes(&mend(text, &diagnostic)).is_empty());
    assert_eq!(parse(text).0.items.len(), 1);
    let text = "float->float filter F { wrk push 1 pop 1 { push(pop()); } }";
    let diagnostic = only(text);
    assert!(codes(&mend(text, &diagnostic)).is_empty(), "{diagnostic:#?}");
}

#[test]
fn stream_heads() {
    // A name that lacks is told by the checker.
    assert_eq!(good("void->void filter { work { } }").items.len(), 1);
    assert_eq!(marked("filter F { work { } }", "E0019"), "filter F");
    assert_eq!(marked(&in_pipeline("add int->int filter F(int x) { work { } }"), "E0019"), "F");
}

#[test]
fn messages_are_short_and_plain() {
    for (_, text) in samples() {
        for diagnostic in parse(&text).1 {
            assert!(diagnostic.title.len() < 120, "{}", diagnostic.title);
            assert!(!diagnostic.title.ends_with('.'), "{}", diagnostic.title);
            assert!(diagnostic.title.matches(", ").count() <= 5, "{}", diagnostic.title);
        }
    }
    assert_eq!(only(&in_work("x = ;")).title, "expected a value, found `;`");
    assert_eq!(only(&in_work("x = (3 4);")).title, "expected `)` or an operator, found `4`");
    assert_eq!(only(&in_work("x = f(3, );")).title, "expected a value, found `)`");
    assert_eq!(only("hello world").title, "expected `->`, found `world`");
    let kinds = "`filter`, `pipeline`, `splitjoin` or `feedbackloop`";
    assert_eq!(only("float->float F").title, format!("expected {kinds}, found `F`"));
    assert_eq!(
        only("float->float").title,
        format!("expected {}, found the end of the file", kinds.replace(" or", ",") + " or `[`")
    );
}

/// What people write who know other languages, or slip.
#[test]
fn messages_help() {
    let top = |text: &str| format!("{text}\nvoid->void pipeline Z {{ }}");
    for (text, title, help) in [
        (in_work("int[] a;"), "the array's size is missing", "int[8] a"),
        (in_work("while i < 3 { i++; }"), "expected `(`, found `i`", "parentheses"),
        (
            in_work("for (int i = 0, i < 3, i++) { }"),
            "expected `,`, `;` or `=`, found `<`",
            "for (start; condition; step)",
        ),
        (in_work("x = pop;"), "expected `(`, found `;`", "`pop()`"),
        (in_work("x = pop(3);"), "`pop()` takes no argument", "`peek(i)`"),
        (in_work("x = peek[0];"), "expected `(`, found `[`", "`peek(i)`"),
        (in_work("push x;"), "expected `(`, found `x`", "`push(value);`"),
        (in_work("x := 3;"), "`:=` is no operator", "`=`"),
        (in_work("x = a <> b;"), "`<>` is no operator", "`!=`"),
        (in_work("x = a ** 2;"), "`**` is no operator", "pow"),
        (in_pipeline("join round_robin;"), "expected `duplicate` or `roundrobin`, found `round_robin`", "`roundrobin`"),
        (in_pipeline("add 3;"), "expected a stream, found `3`", ""),
        (in_pipeline("enqueue;"), "expected a value, found `;`", ""),
        (top("int N = 3;"), "expected `->`, found `N`", "static"),
        (top("const int N = 3;"), "expected `->` or `[`, found `int`", "static"),
        (top("void main() { }"), "expected `->`, found `main`", "helper"),
        (top("static int N = 3;"), "expected `{`, found `int`", "braces"),
        (top("native float f(float x);"), "expected a name, found `float`", "group"),
        (top("float=>float filter F { }"), "`=>` is no operator", "`->`"),
        (top("filter float->float F { }"), "expected `(`, `{` or a name, found `float`", "types come first"),
        (top("void->void filter F { float f(); }"), "expected a body `{ ... }`, found `;`", ""),
        (top("void->void filter F { x = 3; }"), "an assignment cannot stand here", "`init`"),
    ] {
        let diagnostic = only(&text);
        assert_eq!(diagnostic.title, title, "{text}");
        assert!(diagnostic.help.unwrap_or_default().contains(help), "{text}");
    }
    // One fault, one message.
    for body in
        ["int 3x;", "do { x = 3; } until (x);", "push(pop() };", "int x y z;", "x = f(a b c);", "x = new int[3];"]
    {
        only(&in_work(body));
    }
}

#[test]
fn the_number_of_messages_is_limited() {
    let (_, diagnostics) = parse(&in_work(&"x = ;\n".repeat(5000)));
    assert_eq!(diagnostics.len(), sluice_grammar::parse::MAX_ERRORS + 1);
    let last = diagnostics.last().unwrap();
    assert_eq!((last.code, last.severity), ("E0029", Severity::Note));
    assert!(diagnostics[..50].is_sorted_by_key(|diagnostic| diagnostic.span().start));
}
