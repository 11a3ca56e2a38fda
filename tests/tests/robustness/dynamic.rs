//! Dynamic rates that make no sense, clash, or never come to anything.

use super::cases::{Case, around, case, each, main_with};

/// A filter with these rates in the middle.
fn rates(rates: &str, body: &str) -> String {
    main_with(
        "add M;",
        &format!("static {{ int K = 3; }} int->int filter M {{ int f = 2; work {rates} {{ {body} }} }}"),
    )
}

/// A loop with this body, into which something leads.
fn looped(body: &str, enqueues: usize) -> String {
    let enqueues = "enqueue 0; ".repeat(enqueues);
    let head = "add int->int feedbackloop { join roundrobin(1, 1);";
    main_with(&format!("{head} body int->int filter {{ {body} }} split roundrobin(1, 1); {enqueues} }};"), "")
}

pub fn cases() -> Vec<Case> {
    let one = "push(pop());";
    let range = |r: &str, body: &str| rates(&format!("pop 1 push {r}"), body);
    let branches = |inner: &str, n: usize| {
        main_with(&format!("add splitjoin {{ split duplicate; {} join roundrobin; }}", inner.repeat(n)), "")
    };
    let some = "add int->int filter { work pop 1 push [0, 1] { int n = pop(); if (n % 3 == 0) push(n); } }; ";
    vec![
        case("stars", "", rates("pop * push * peek *", one)),
        case("stars_in_ranges", "", rates("pop [*, *] push [*, *, *] peek [*, 5]", one)),
        case("star_of_nothing", "", rates("pop * push *", "")),
        case("range_reversed", "E0243", range("[3, 1]", one)),
        case("range_average_outside", "E0243", range("[1, 9, 3]", one)),
        case("range_negative", "E0234", range("[-1, 3]", one)),
        case("range_negative_most", "E0234", range("[*, -3]", one)),
        case("range_least_int", "E0234", range("[-2147483648, 2147483647]", one)),
        case("range_too_large", "E0210", range("[0, 2147483648]", one)),
        case("range_overflows", "E0234", range("[0, 2147483647 + 1]", one)),
        case("range_largest", "", range("[0, 2147483647]", one)),
        case("range_of_one", "", range("[1, 1]", one)),
        case("range_of_nothing", "", range("[0, 0]", "pop();")),
        case("range_empty", "E0008", range("[]", one)),
        case("range_of_four", "E0008", range("[1, 2, 3, 4]", one)),
        case("range_from_statics", "", range("[K - 3, K / 2, K * 7]", one)),
        case("range_from_a_constant_field", "", range("[0, f]", one)),
        case("range_from_a_changing_field", "E0233", range("[0, f]", "f++; push(pop());")),
        case("range_from_a_pop", "E0221 E0233", range("[0, pop()]", one)),
        case("range_from_a_division_by_zero", "E0403", range("[0, 1 / (K - 3)]", one)),
        case("range_of_floats", "E0201", range("[0.5, 1.5]", one)),
        case("range_of_arrays", "E0009 E0010", range("[{1}, 2]", one)),
        case("star_times", "E0008", range("* 2", one)),
        case("rates_twice", "E0016", rates("pop * pop [1, 2] push 1", one)),
        case("pushes_more_for_certain", "E0237", range("[0, 1]", "pop(); push(1); push(2);")),
        case("pushes_less_for_certain", "E0238", range("[2, 3]", one)),
        case("peeks_far", "", rates("pop * push 1", "push(peek(2147483647)); pop();")),
        case("peeks_negative", "E0226", rates("pop * push 1", "push(peek(-1)); pop();")),
        case("pops_for_ever", "", rates("pop * push *", "while (true) pop();")),
        case("pushes_for_ever", "", rates("pop 1 push *", "pop(); while (true) push(1);")),
        case("recursion_that_pops", "", {
            let f = "int f(int n) { if (n <= 0) return pop(); return f(n - 1) + f(n - 2); }";
            main_with("add M;", &format!("int->int filter M {{ {f} work pop * push 1 {{ push(f(pop())); }} }}"))
        }),
        case("recursion_without_end", "", {
            let f = "int f(int n) { return f(n + pop()); }";
            main_with("add M;", &format!("int->int filter M {{ {f} work pop * push 1 {{ push(f(1)); }} }}"))
        }),
        case("prework_alone", "", {
            let parts =
                "prework pop * push [0, 9] { while (peek(0) < 3) push(pop()); } work pop 1 push 1 { push(pop()); }";
            main_with("add M;", &format!("int->int filter M {{ {parts} }}"))
        }),
        case("loop", "", looped("work pop 2 push [1, 2] { push(pop()); if (pop() > 3) push(1); }", 1)),
        case("loop_without_items", "", looped("work pop 2 push [1, 2] { push(pop()); if (pop() > 3) push(1); }", 0)),
        case("loop_that_fills", "", looped("work pop 1 push * { int n = pop(); push(n); push(n); push(n); }", 1)),
        case("loop_in_a_loop", "", {
            let filter = "body int->int filter { work pop 2 push [1, 2] { push(pop()); push(pop()); } }";
            let head = "add int->int feedbackloop { join roundrobin(1, 1); body int->int feedbackloop { join roundrobin(1, 1);";
            let tail = "split roundrobin(1, 1); enqueue 0; } split roundrobin(1, 1); enqueue 0; };";
            main_with(&format!("{head} {filter} {tail}"), "")
        }),
        case("loops_of_their_own", "", {
            let body = "body int->int filter { work pop 1 push [2, 4] { int n = pop(); push(n); push(n); } }";
            let one = format!(
                "add pipeline {{ add void->int feedbackloop {{ join roundrobin(0, 1); {body} split roundrobin(1, 1); enqueue 0; }}; add Z; }}; "
            );
            main_with(
                "",
                &format!(
                    "void->void splitjoin Loops {{ split roundrobin(0); {} join roundrobin(0); }}",
                    one.repeat(50)
                ),
            )
            .replace("add A; ", "add Loops; ")
            .replace(" add Z; }\n", "}\n")
        }),
        case("branches", "", branches(some, 2)),
        case("many_branches", "", branches(some, 2000)),
        case("branches_within_branches", "", {
            let deep = around(30, "add splitjoin { split roundrobin; ", some, " join roundrobin; };");
            main_with(&deep, "")
        }),
        case("a_chain", "", main_with(&some.repeat(3000), "")),
        case(
            "a_chain_of_ranges",
            "",
            main_with(
                "for (int i = 0; i < 2000; i++) add G(i);",
                "int->int filter G(int n) { work pop [1, n + 1] push [1, n + 2] { push(pop()); } }",
            ),
        ),
        case(
            "islands_that_do_not_balance",
            "E0300",
            main_with(
                &format!("{some} add splitjoin {{ split duplicate; add D(2); add D(3); join roundrobin; }};"),
                "int->int filter D(int n) { work pop n push 1 { push(pop()); for (int i = 1; i < n; i++) pop(); } }",
            ),
        ),
        case(
            "islands_with_rates_that_multiply",
            "E0304",
            main_with(
                &format!("{some} for (int i = 0; i < 2000; i++) add G;"),
                "int->int filter G { work pop 2 push 3 { push(pop()); push(pop()); push(3); } }",
            ),
        ),
        case("many_shapes", "", {
            let some =
                each(500, |i| format!("add int->int filter {{ work pop [1, {}] push * {{ push(pop()); }} }}; ", i + 1));
            main_with(&some, "")
        }),
    ]
}
