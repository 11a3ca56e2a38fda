//! Programs that are large, deep or endless on purpose, each with what must be said of it.

use super::{LIMIT, dynamic, messages};
use libtest_mimic::{Failed, Trial};
use sluice_tests::message::Message;
use sluice_tests::pool::Pool;
use std::sync::Arc;

/// A program and the codes of its errors, in order; none where it is a program.
pub struct Case {
    name: &'static str,
    text: Vec<u8>,
    codes: &'static str,
    /// With a twentieth of the usual steps for constants: where there is another case with all of them.
    quick: bool,
}

pub fn case(name: &'static str, codes: &'static str, text: impl Into<Vec<u8>>) -> Case {
    let quick = name.starts_with("many_slow") || name.ends_with("doubles");
    Case { name, text: text.into(), codes, quick }
}

const ENDS: &str = "void->int filter A { int n; work push 1 { push(n++); } }\n\
     int->void filter Z { work pop 1 { println(pop()); } }\n";

/// A filter with this work, and these members.
fn work(body: &str, members: &str) -> String {
    format!("void->void filter F {{\n{members}\nwork {{\n{body}\n}}\n}}\n")
}

/// A pipeline of a source, this, and a sink; and declarations.
pub fn main_with(middle: &str, declarations: &str) -> String {
    format!("void->void pipeline Main {{ add A; {middle} add Z; }}\n{ENDS}{declarations}")
}

/// Something for each number.
pub fn each(n: usize, f: impl Fn(usize) -> String) -> String {
    (0..n).map(f).collect()
}

pub fn around(n: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

fn nested() -> Vec<Case> {
    const N: usize = 10_000;
    let splitjoin = |n| around(n, "add splitjoin { split roundrobin; ", "add Identity<int>;", " join roundrobin; }");
    let feedback = |n| {
        let body = "int->int filter { work pop 2 push 2 { push(pop()); push(pop()); } }";
        let close = " split roundrobin(1, 1); enqueue 0; }";
        main_with(&around(n, "add int->int feedbackloop { join roundrobin(1, 1); body ", body, close), "")
    };
    vec![
        case("parentheses", "E0014", work(&format!("int x = {};", around(N, "(", "1", ")")), "")),
        case("pipelines", "E0014", main_with(&around(N, "add pipeline { ", "add Identity<int>;", " }"), "")),
        case("pipelines_within_bounds", "", main_with(&around(200, "add pipeline { ", "add Identity<int>;", " }"), "")),
        case("splitjoins", "E0014", main_with(&splitjoin(N), "")),
        case("splitjoins_within_bounds", "", main_with(&splitjoin(200), "")),
        case("feedbackloops", "E0011 E0014", feedback(N)),
        case("sum_of_100000", "E0014", work(&format!("int a; int x = a{};", " + a".repeat(100_000)), "")),
        case("sum_within_bounds", "", work(&format!("int a; int x = a{}; println(x);", " + a".repeat(900)), "")),
        case("else_ifs", "E0014", work(&format!("int a; {};", "if (a == 1) a = 2; else ".repeat(N)), "")),
        case(
            "else_ifs_within_bounds",
            "",
            work(&format!("int a; {} a = 3;", "if (a == 1) a = 2; else ".repeat(900)), ""),
        ),
        case("dimensions", "E0014", work(&format!("int{} x;", "[1]".repeat(N)), "")),
        case("dimensions_that_multiply", "E0209", work(&format!("int{} x;", "[2]".repeat(60)), "")),
        case(
            "structs_in_a_chain",
            "E0014",
            format!(
                "struct S0 {{ int a; }}\n{}{}",
                each(20_000, |i| format!("struct S{} {{ S{i} a; }}\n", i + 1)),
                work("S20000 s;", ""),
            ),
        ),
        case(
            "structs_that_double",
            "E0209",
            format!(
                "struct S0 {{ int a; }}\n{}{}",
                each(60, |i| format!("struct S{} {{ S{i} a; S{i} b; }}\n", i + 1)),
                work("S60 s;", ""),
            ),
        ),
        case(
            "structs_in_a_ring",
            "E0108",
            format!(
                "{}{}",
                each(5_000, |i| format!("struct S{i} {{ S{} a; S{} b; }}\n", (i + 1) % 5_000, (i + 7) % 5_000)),
                work("S19 s;", ""),
            ),
        ),
        case(
            "blocks_in_loops",
            "",
            main_with(
                "add G;",
                &format!(
                    "int->int filter G {{ work pop 1 push 1 {{ {} push(pop()); }} }}",
                    around(100, "for (int i = 0; i < 3; i++) { if (i == 2) { ", "int q = 0;", " } }"),
                ),
            ),
        ),
    ]
}

fn endless() -> Vec<Case> {
    let fib = "helper G { int f(int n) { if (n < 2) return 1; return G.f(n - 1) + G.f(n - 2); } }\n";
    let slow = "helper G { int f(int n) { int s = 0; for (int i = 0; i < 1000000; i++) s += 1; return n; } }\n";
    vec![
        case("composite_recursion", "E0402", main_with("add R(0);", "int->int pipeline R(int n) { add R(n + 1); }")),
        case(
            "composite_recursion_by_two",
            "E0402",
            main_with(
                "add R(0);",
                "int->int pipeline R(int n) { add Q(n + 1); } int->int pipeline Q(int n) { add R(n + 1); }",
            ),
        ),
        case(
            "composite_recursion_that_doubles",
            "E0400",
            main_with(
                "add R(30);",
                "int->int pipeline R(int n) { if (n > 0) { add R(n - 1); add R(n - 1); } else add Identity<int>; }",
            ),
        ),
        case(
            "helper_recursion",
            "E0403",
            format!("helper H {{ int f(int n) {{ return H.f(n + 1); }} }}\n{}", work("println(a);", "int a = H.f(0);")),
        ),
        case("helper_recursion_that_doubles", "E0403", format!("{fib}{}", work("println(a);", "int a = G.f(100);"))),
        case(
            "many_slow_constants",
            "E0403",
            format!("{slow}{}", work("println(1);", &each(300, |i| format!("int a{i} = G.f({i});\n")))),
        ),
        case(
            "many_slow_sizes",
            "E0403",
            format!("{slow}{}", work(&each(300, |i| format!("int[G.f({i})] a{i};\n")), "")),
        ),
        case("adds", "E0400", main_with("for (int i = 0; i < 1000000000; i++) add Identity<int>;", "")),
        case(
            "compile_time_loop",
            "E0401",
            main_with("int s = 0; for (int i = 0; i < 1000000000; i++) s += i; add Identity<int>;", ""),
        ),
        case("init_loop", "E0403", work("println(s);", "int s; init { for (int i = 0; i < 1000000000; i++) s += i; }")),
        case(
            "many_slow_inits",
            "E0403",
            main_with(
                "for (int i = 0; i < 2000; i++) add G(i);",
                "int->int filter G(int k) { int a; init { for (int i = 0; i < 1000000; i++) a += k; } \
             work pop 1 push 1 { push(pop() + a); } }",
            ),
        ),
        case(
            "init_that_prints",
            "E0403",
            work("", &format!("init {{ while (true) println(\"{}\"); }}", "a".repeat(1000))),
        ),
        case(
            "enqueues",
            "E0400",
            main_with(
                "add int->int feedbackloop { join roundrobin(1, 1); \
             body int->int filter { work pop 2 push 2 { push(pop()); push(pop()); } } \
             split roundrobin(1, 1); for (int i = 0; i < 2147483647; i++) enqueue 0; };",
                "",
            ),
        ),
    ]
}

fn large() -> Vec<Case> {
    const M: usize = 16_000_000;
    let arrays = |n: usize| each(n, |i| format!("int[{M}] x{i};\n"));
    let counts = each(200, |i| format!("x{i}[0]++;\n"));
    vec![
        case("array", "E0209", work("int[1000000000] x; println(x[0]);", "")),
        case("array_field", "E0209", work("x[0]++;", "int[1000000000] x;")),
        case("array_of_arrays", "E0209", work("x[1][1]++;", "int[100000][100000] x;")),
        case(
            "array_items",
            "E0209",
            "void->int[30000000] filter A { work push 1 { int[30000000] a; push(a); } }\n\
            int[30000000]->void filter Z { work pop 1 { pop(); } }\nvoid->void pipeline Main { add A; add Z; }",
        ),
        case(
            "array_identity",
            "E0209",
            "int[30000][30000]->int[30000][30000] pipeline Main { add Identity<int[30000][30000]>; }",
        ),
        case("many_fields", "E0209", work(&counts, &arrays(200))),
        case("many_locals", "E0209", work(&format!("{}{counts}", arrays(200)), "")),
        case("many_statics", "E0209", format!("static {{ {} }}\n{}", arrays(200), work("println(x3[1]);", ""))),
        case(
            "many_instances",
            "E0209",
            main_with(
                "for (int i = 0; i < 100; i++) add G(i);",
                &format!(
                    "int->int filter G(int k) {{ int[{M}] a; init {{ a[0] = k; }} work pop 1 push 1 {{ push(pop() + a[0]); }} }}"
                ),
            ),
        ),
        case(
            "state_of_many_instances",
            "E0400",
            main_with(
                "for (int i = 0; i < 1000; i++) add G;",
                "int->int filter G { int[1000000] a; work pop 1 push 1 { a[0] += pop(); push(a[0]); } }",
            ),
        ),
        case(
            "locals_of_a_recursion",
            "E0403",
            format!(
                "helper H {{ int f(int n) {{ int[{M}] a; a[0] = n; if (n > 0) return H.f(n - 1) + a[0]; return 0; }} }}\n{}",
                work("println(a);", "int a = H.f(500);")
            ),
        ),
        case(
            "large_items_enqueued",
            "E0403",
            "void->int[1000000] filter A { int[1000000] n; work push 1 { push(n); } }\n\
             int[1000000]->void filter Z { work pop 1 { pop(); } }\n\
             void->void pipeline Main { add A; add int[1000000]->int[1000000] feedbackloop { join roundrobin(1, 1); \
             body Identity<int[1000000]>; split roundrobin(1, 1); int[1000000] x; \
             for (int i = 0; i < 100000; i++) enqueue x; }; add Z; }",
        ),
        case("long_name", "", {
            let n = "a".repeat(1_000_000);
            format!(
                "void->void pipeline Main {{ add {n}; add Z; }}\nvoid->int filter {n} {{ work push 1 {{ push(1); }} }}\n\
                     int->void filter Z {{ work pop 1 {{ println(pop()); }} }}"
            )
        }),
        case("long_names_of_many", "E0400", {
            let n = "a".repeat(65_536);
            main_with(
                &format!("for (int i = 0; i < 100000; i++) add {n};"),
                &format!("int->int filter {n} {{ work push 1 pop 1 {{ push(pop()); }} }}"),
            )
        }),
        case("long_paths", "E0400", {
            let n = "x".repeat(60_000);
            main_with(
                &format!("add {n}(900);"),
                &format!("int->int pipeline {n}(int n) {{ if (n > 0) add {n}(n - 1); else add Identity<int>; }}"),
            )
        }),
        case("long_text", "", work(&format!("println(\"{}\");", "a".repeat(1_000_000)), "")),
        case("line_of_64_KiB", "E0102", work(&format!("int x = 0; {} println(y);", "x += 1; ".repeat(8192)), "")),
        case("million_lines", "E0102", format!("{}{}", "// a\n".repeat(1_000_000), work("println(x);", ""))),
        case(
            "hundred_thousand_statements",
            "",
            work(&format!("int x; {} println(x);", "x += 1;\n".repeat(100_000)), ""),
        ),
        case(
            "fifty_thousand_streams",
            "",
            main_with(
                "add F49999;",
                &each(50_000, |i| format!("int->int filter F{i} {{ work push 1 pop 1 {{ push(pop()); }} }}\n")),
            ),
        ),
        case(
            "unknown_streams",
            "E0103",
            format!("void->void pipeline Main {{ {} }}", each(20_000, |i| format!("add Zork{i};\n"))),
        ),
        case("unknown_variables", "E0102", work(&each(20_000, |i| format!("v{i} = v{};\n", i + 1)), "")),
        case(
            "unknown_names_near_others",
            "E0102",
            work(
                &format!(
                    "{}{}",
                    each(20_000, |i| format!("int aaaa{i};\n")),
                    each(20_000, |i| format!("aaab{i} = 1;\n"))
                ),
                "",
            ),
        ),
        case(
            "cases",
            "",
            work(
                &format!(
                    "int x = 1; switch (x) {{ {} }}",
                    each(20_000, |i| format!("case {i}: println({i}); break; "))
                ),
                "",
            ),
        ),
        case(
            "parameters",
            "",
            main_with(
                &format!("add G({}1);", "1, ".repeat(19_999)),
                &format!(
                    "int->int filter G({}int q) {{ work pop 1 push 1 {{ push(pop()); }} }}",
                    each(19_999, |i| format!("int p{i}, "))
                ),
            ),
        ),
        case(
            "functions_in_a_chain",
            "",
            format!(
                "helper H {{ {} int f5000(int x) {{ return x; }} }}\n{}",
                each(5_000, |i| format!("int f{i}(int x) {{ return H.f{0}(x) + H.f{0}(x); }}\n", i + 1)),
                work("println(H.f0(1));", "")
            ),
        ),
    ]
}

fn rates() -> Vec<Case> {
    let two = |split: &str, join: &str| {
        main_with(
            &format!("add splitjoin {{ split {split}; add Identity<int>; add Identity<int>; join {join}; }};"),
            "",
        )
    };
    let filter =
        |rates: &str, body: &str| main_with("add G;", &format!("int->int filter G {{ work {rates} {{ {body} }} }}"));
    let feedback = |join: &str, split: &str, body: &str| {
        main_with(
            &format!(
                "add int->int feedbackloop {{ join roundrobin({join}); body int->int filter {{ work {body} \
             {{ push(pop()); push(pop()); }} }} split roundrobin({split}); enqueue 0; }};"
            ),
            "",
        )
    };
    // different primes near 2^31 in every filter: the repetitions go beyond 2^64
    let primes = [2_147_483_647, 2_147_483_629, 2_147_483_587, 2_147_483_579, 2_147_483_563];
    let prime = |i: usize| {
        let p = primes[i];
        format!(
            "int->int filter G{i} {{ work pop {p} push 1 {{ int s; for (int i = 0; i < {p}; i++) s += pop(); push(s); }} }}\n"
        )
    };
    vec![
        case("weights_of_31_bits", "E0304", two("roundrobin(2147483647, 1)", "roundrobin(2147483647, 1)")),
        case("weight_of_31_bits_each", "E0304", two("roundrobin(2147483647)", "roundrobin(2147483647)")),
        case("weights_that_sum_to_31_bits", "", two("roundrobin(2147483646, 1)", "roundrobin(2147483646, 1)")),
        case("weight_of_63_bits", "E0006", two("roundrobin(9223372036854775807, 1)", "roundrobin")),
        case("negative_weight", "E0408", two("roundrobin(-2147483648, 1)", "roundrobin")),
        case("largest_peek", "", filter("pop 1 push 1 peek 2147483647", "push(peek(2147483646)); pop();")),
        case(
            "largest_pop",
            "",
            filter("pop 2147483647 push 1", "for (int i = 0; i < 2147483647; i++) pop(); push(1);"),
        ),
        case(
            "largest_push",
            "",
            filter("pop 1 push 2147483647", "for (int i = 0; i < 2147483647; i++) push(1); pop();"),
        ),
        case("rate_of_32_bits", "E0006", filter("pop 4294967296 push 1", "push(pop());")),
        case("rate_of_overflow", "E0234", filter("pop 2147483647 + 1 push 1", "push(pop());")),
        case("rates_beyond_64_bits", "E0304", main_with(&each(5, |i| format!("add G{i}; ")), &each(5, prime))),
        case(
            "peeks_that_multiply",
            "E0304",
            main_with(
                "for (int i = 0; i < 2000; i++) add G(i);",
                "int->int filter G(int k) { work pop 2 push 3 peek 100 { push(pop()); push(pop()); push(3); } }",
            ),
        ),
        case(
            "large_delays",
            "",
            main_with(
                "for (int i = 0; i < 2000; i++) add G(i);",
                "int->int filter G(int k) { work pop 1 push 1 peek 1000000 { push(pop()); } }",
            ),
        ),
        case("loop_weights", "E0303", feedback("1, 2147483646", "1, 2147483646", "pop 2 push 2")),
        case("loop_peek", "E0303", feedback("1, 1", "1, 1", "pop 2 push 2 peek 2147483647")),
        case(
            "recursive_loops",
            "E0304",
            main_with(
                "add R(300);",
                "int->int feedbackloop R(int n) { join roundrobin(1, 1); if (n > 0) body W(n - 1); else body W(0); \
             loop Identity<int>; split roundrobin(1, 1); enqueue 0; } \
             int->int pipeline W(int n) { if (n > 0) add R(n); else add Identity<int>; }",
            ),
        ),
        case(
            "loop_in_a_long_steady_state",
            "",
            main_with(
                "add int->int feedbackloop { join roundrobin(1, 1); \
             body int->int filter { work pop 2 push 2 { push(pop()); push(pop()); } } split roundrobin(1, 1); enqueue 0; }; \
             add int->int filter { work pop 1000000000 push 1 { for (int i = 0; i < 999999999; i++) pop(); push(pop()); } };",
                "",
            ),
        ),
        case("dynamic_rates", "", filter("pop * push [1, 2147483647]", "push(pop());")),
        case(
            "wide_splitjoin",
            "",
            main_with(
                "add splitjoin { split roundrobin(20000); for (int i = 0; i < 100000; i++) add Identity<int>; \
             join roundrobin(20000); };",
                "",
            ),
        ),
    ]
}

fn bytes() -> Vec<Case> {
    let with =
        |before: &[u8], inside: &[u8]| [before, b"void->void filter F { work { println(1", inside, b"); } }"].concat();
    let text = |inside: &[u8]| [b"void->void filter F { work { println(\"", inside, b"\"); } }"].concat();
    let utf16 = |to: fn(u16) -> [u8; 2]| work("println(1);", "").encode_utf16().flat_map(to).collect::<Vec<u8>>();
    vec![
        case("nothing", "E0111", ""),
        case("a_mark_alone", "E0111", &b"\xef\xbb\xbf"[..]),
        case("zero_byte", "E0001", with(b"", b"\0")),
        case("zero_byte_in_text", "", text(b"a\0b")),
        case("zero_byte_at_the_start", "E0001", with(b"\0", b"")),
        case("mark", "", with(b"\xef\xbb\xbf", b"")),
        case("mark_in_the_middle", "E0001", with(b"", b"\xef\xbb\xbf")),
        case("two_marks", "E0001", with(b"\xef\xbb\xbf\xef\xbb\xbf", b"")),
        case("mark_before_latin_1", "", with(b"\xef\xbb\xbf// \xff\n", b"")),
        case("no_utf_8", "E0001", with(b"", b"\xff")),
        case("no_utf_8_in_text", "", text(b"\xff\xfe")),
        case("lone_surrogate", "E0001", with(b"", b"\xed\xa0\x80")),
        case("lone_surrogate_in_text", "", text(b"\xed\xa0\x80")),
        case("utf_16_little", "E0001", [b"\xff\xfe".to_vec(), utf16(u16::to_le_bytes)].concat()),
        case("utf_16_big", "E0001", [b"\xfe\xff".to_vec(), utf16(u16::to_be_bytes)].concat()),
        case("crlf", "", "void->void filter F {\r\n// a\r\nwork {\r\nprintln(1); } }\r\n"),
        case("cr", "", "void->void filter F {\rwork {\rprintln(1); } }\r"),
    ]
}

fn check(pool: &Pool, case: &Case) -> Result<(), Failed> {
    let mut job = Message::new("examine").with("source", &case.text);
    if case.quick {
        job = job.with("constants", "5000000");
    }
    let answer = pool.ask(&job, LIMIT).map_err(|lost| lost.to_string())?;
    if answer.text("kind") == "fault" {
        return Err(answer.text("why").into());
    }
    let codes = answer.text("codes");
    if codes != case.codes || (answer.text("kind") == "accepted") != case.codes.is_empty() {
        return Err(format!("{} with [{codes}], not [{}]", answer.text("kind"), case.codes).into());
    }
    Ok(())
}

pub fn trials(pool: &Arc<Pool>) -> Vec<Trial> {
    let groups = [
        ("nested", nested()),
        ("endless", endless()),
        ("large", large()),
        ("rates", rates()),
        ("dynamic", dynamic::cases()),
        ("messages", messages::cases()),
        ("bytes", bytes()),
    ];
    let mut trials = Vec::new();
    for (group, cases) in groups {
        for case in cases {
            let pool = pool.clone();
            trials.push(Trial::test(format!("{group}::{}", case.name), move || check(&pool, &case)));
        }
    }
    trials
}
